#!/usr/bin/env bash
# Every form of statement by which a hostile role could read what is protected or make it leave, class by class: what is not
# in the language of exports is refused because of its form, whatever the rows are.
source "$(dirname "$0")/lib.sh"
attacker=smuggler owner=harbour
source "$(dirname "$0")/hostile.bash"

ask -v attacker="$attacker" -v owner="$owner" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
GRANT USAGE ON SCHEMA mine TO :"owner";
SET ROLE :"owner";
CREATE FUNCTION band(age int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN age / 2; END $$;
CREATE VIEW banded AS SELECT band(age) AS band, zip, diagnosis FROM ward;
CREATE VIEW careless AS SELECT mine.say(zip) AS zip, diagnosis FROM ward;
CREATE VIEW trusting WITH (security_barrier) AS SELECT age, zip, diagnosis FROM ward WHERE age > 0;
CREATE MATERIALIZED VIEW summary AS SELECT zip, diagnosis FROM locked;
CREATE MATERIALIZED VIEW published AS SELECT diagnosis FROM locked;
SELECT disclosure.label_column('published', 'diagnosis', 'sensitive'),
       disclosure.protect('published', 'k_anonymity', at_least => 1, for_role => :'attacker');
-- Row security: by a function of the owner, and by one of the attacker.
CREATE FUNCTION visible(age int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN age > 0; END $$;
CREATE TABLE rows (LIKE ward INCLUDING ALL);
INSERT INTO rows TABLE ward;
CREATE TABLE leaky (LIKE ward INCLUDING ALL);
INSERT INTO leaky TABLE ward;
ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE leaky ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON rows USING (visible(age));
CREATE POLICY visible ON leaky USING (mine.says(zip, 'x'));
-- A table that is protected later, partitions, a domain.
CREATE TABLE later (LIKE ward INCLUDING ALL);
INSERT INTO later TABLE ward;
CREATE TABLE parts (LIKE ward) PARTITION BY LIST (age);
CREATE TABLE part20 PARTITION OF parts FOR VALUES IN (20);
CREATE TABLE part21 PARTITION OF parts FOR VALUES IN (21);
INSERT INTO parts TABLE ward;
SELECT disclosure.label_column(attrelid, attname, CASE attname WHEN 'id' THEN 'identifier' WHEN 'diagnosis' THEN 'sensitive'
                               WHEN 'drug' THEN 'sensitive' WHEN 'nr' THEN 'ignore' ELSE 'quasi' END)
  FROM pg_attribute WHERE attrelid = ANY ('{rows,leaky,later,parts}'::regclass[]) AND attnum > 0;
SELECT disclosure.protect(relation, 'k_anonymity', at_least => 5, for_role => :'attacker', only_by_copy => true :unlimited)
  FROM unnest('{rows,leaky,parts}'::regclass[]) relation;
GRANT SELECT ON banded, careless, trusting, summary, published, rows, leaky, later, parts, part20, part21 TO :"attacker";
GRANT EXECUTE ON FUNCTION band(int), visible(int) TO :"attacker";
SQL

# The language.
for query in 'SELECT age, diagnosis FROM ward' 'SELECT * FROM (SELECT age, zip FROM ward) q' 'WITH w AS (SELECT age FROM ward) SELECT * FROM w' \
  'SELECT age + 1, upper(zip) FROM ward ORDER BY 1, 2' "SELECT CASE WHEN age > 20 THEN 'old' ELSE 'young' END, coalesce(zip, '') FROM ward" \
  'SELECT age FROM ward WHERE zip IS NOT NULL AND NOT age = 0 OR age IN (20, 21)' 'SELECT band, zip, diagnosis FROM banded' \
  'SELECT age, zip FROM trusting' 'SELECT age, zip FROM rows' 'SELECT age, zip FROM parts' 'SELECT zip, diagnosis FROM ward LIMIT 60' \
  'SELECT age FROM ward WHERE age = 20 UNION ALL SELECT age FROM ward WHERE age = 21'; do
  passes 60 "COPY ($query) TO STDOUT"
done
passes 30 'COPY (SELECT zip, diagnosis FROM part20) TO STDOUT'

# What is not in it.
copies by_shape \
  'SELECT age, count(*) FROM ward GROUP BY age' 'SELECT count(*) FROM ward' 'SELECT DISTINCT age FROM ward' \
  'SELECT DISTINCT ON (age) age, zip FROM ward' 'SELECT age FROM ward GROUP BY age HAVING count(*) > 1' \
  'SELECT age, zip, GROUPING(age) FROM ward GROUP BY CUBE (age, zip)' 'SELECT age FROM ward GROUP BY GROUPING SETS ((age), ())' \
  'SELECT string_agg(zip, NULL) FROM ward' 'SELECT age, row_number() OVER () FROM ward' 'SELECT lag(diagnosis) OVER (ORDER BY id) FROM ward' \
  'SELECT w FROM ward w' 'SELECT w.* IS NULL FROM ward w' 'SELECT w::text FROM ward w' 'SELECT to_jsonb(w) FROM ward w' 'SELECT (w).age FROM (SELECT w FROM ward w) q' \
  'SELECT ROW(age, zip) FROM ward' 'SELECT ctid FROM ward' 'SELECT tableoid FROM parts' 'SELECT xmin FROM ward' 'SELECT age FROM ward WHERE ctid = '"'(0,1)'" \
  'SELECT age FROM ward OFFSET 1' 'SELECT age FROM ward ORDER BY age FETCH FIRST 10 ROWS WITH TIES' 'SELECT age FROM ward LIMIT length(current_user)' \
  'SELECT age FROM ward TABLESAMPLE SYSTEM (50)' 'SELECT age FROM ward TABLESAMPLE BERNOULLI (50) REPEATABLE (1)' \
  'SELECT age FROM ward WHERE age = (SELECT 20)' 'SELECT age FROM ward WHERE EXISTS (SELECT)' 'SELECT (SELECT 1), age FROM ward' \
  'SELECT w.age, l.x FROM ward w, LATERAL (SELECT w.age + 1 AS x) l' 'SELECT w.age, n FROM ward w, generate_series(1, 2) n' \
  'SELECT age, generate_series(1, 2) FROM ward' 'SELECT unnest(ARRAY[age, age]) FROM ward' 'SELECT age FROM ROWS FROM (generate_series(1, 2)) n, ward' \
  'SELECT age FROM ward INTERSECT SELECT age FROM ward' 'SELECT age FROM ward EXCEPT SELECT age FROM ward' 'SELECT age FROM ward INTERSECT ALL SELECT i FROM mine.list' \
  'SELECT age FROM ward EXCEPT ALL SELECT i FROM mine.list' 'SELECT age FROM ward UNION SELECT age FROM ward' 'SELECT i FROM mine.list EXCEPT SELECT id FROM ward' \
  'WITH RECURSIVE r(a) AS (SELECT age FROM ward UNION ALL SELECT a + 1 FROM r WHERE a < 22) SELECT a FROM r' \
  'SELECT a.zip FROM ward a FULL JOIN mine.list n ON n.i = a.age' 'SELECT a.zip FROM mine.list n RIGHT JOIN ward a ON n.i = a.age' \
  'SELECT age FROM ward ORDER BY diagnosis' 'SELECT diagnosis FROM locked ORDER BY zip' 'SELECT age FROM ward ORDER BY diagnosis LIMIT 10' \
  "SELECT x.* FROM ward w, xmltable('.' PASSING xmlelement(name a, w.zip) COLUMNS z text PATH '.') x" \
  'SELECT random() < 0.5, age FROM ward' 'SELECT age FROM ward WHERE random() < 0.5' 'SELECT pg_sleep(0), age FROM ward' \
  "SELECT set_config('mine.x', zip, false) FROM ward" "SELECT current_setting('mine.x', true), age FROM ward" 'SELECT pg_column_size(zip) FROM ward' \
  "SELECT pg_advisory_lock(age) FROM ward" 'SELECT pg_notify(zip, zip) FROM ward' 'SELECT lo_create(age) FROM ward' "SELECT regexp_replace(zip, zip, '') FROM ward" \
  "SELECT to_regclass(zip) FROM ward" 'SELECT zip::regclass FROM ward' 'SELECT format(zip, age) FROM ward' 'SELECT (ARRAY[age, nr])[1] FROM ward' \
  'SELECT mine.say(zip) FROM ward' "SELECT age FROM ward WHERE mine.says(zip, 'x')" 'SELECT age FROM ward ORDER BY mine.say(zip)' \
  'SELECT disclosure.privacy_inference(l) OVER () FROM locked l' 'SELECT disclosure.class_size(zip) OVER () FROM locked'
prepare 'CREATE SEQUENCE mine.turns'
copies by_shape "SELECT nextval('mine.turns'), age FROM ward" "SELECT age FROM ward WHERE nextval('mine.turns') > 0"
attack 'COPY (WITH w AS (INSERT INTO mine.kept SELECT zip FROM ward RETURNING line) SELECT age FROM ward) TO STDOUT;
  COPY (INSERT INTO mine.kept SELECT zip FROM ward RETURNING line) TO STDOUT; COPY (SELECT age FROM ward FOR UPDATE) TO STDOUT;
  COPY (DELETE FROM mine.kept USING ward RETURNING zip) TO STDOUT; COPY (UPDATE mine.kept SET line = zip FROM ward RETURNING line) TO STDOUT'
nothing_left 'COPY of a statement that writes'
[[ $(ask -c 'SELECT count(*) FROM mine.kept') == 0 ]] || fail 'a statement that writes has kept something'
stopped 'COPY (SELECT v.i FROM (VALUES (1), (2)) v(i), locked WHERE v.i = locked.age) TO STDOUT' \
  'COPY (SELECT v.z FROM (VALUES ('"'secret-zip-1'"')) v(z) JOIN locked ON z = zip) TO STDOUT'

# Own lists: what is compared leaves, and a list is a condition.
prepare "
  CREATE TABLE mine.zips (zip text PRIMARY KEY, code text);
  INSERT INTO mine.zips SELECT 'secret-zip-' || i, 'code-' || i FROM generate_series(0, 99) i;
  CREATE TABLE mine.one (zip text PRIMARY KEY); INSERT INTO mine.one VALUES ('secret-zip-7');
  CREATE TABLE mine.many (zip text, n int); INSERT INTO mine.many SELECT zip, n FROM mine.zips, generate_series(1, 20) n;
  CREATE TABLE mine.partial (zip text, code text); CREATE UNIQUE INDEX ON mine.partial (zip) WHERE code > '';
  INSERT INTO mine.partial SELECT zip, '' FROM mine.zips; INSERT INTO mine.partial SELECT zip, '' FROM mine.zips;
  CREATE TABLE mine.deferred (zip text UNIQUE DEFERRABLE INITIALLY DEFERRED, code text); INSERT INTO mine.deferred TABLE mine.zips;
  CREATE TABLE mine.wider (zip text, n int, code text, UNIQUE (zip, n)); INSERT INTO mine.wider SELECT zip, n, code FROM mine.zips, generate_series(1, 9) n;
  CREATE TABLE mine.folded (zip text, code text); CREATE UNIQUE INDEX ON mine.folded (lower(zip)); INSERT INTO mine.folded TABLE mine.zips;
  CREATE TABLE mine.pair (pair text PRIMARY KEY, code int);
  INSERT INTO mine.pair SELECT 'secret-zip-' || i || 'secret-diagnosis-' || j, 10 * i + j FROM generate_series(0, 60) i, generate_series(0, 9) j;
  SELECT disclosure.label_column('mine.zips', 'code', 'ignore'), disclosure.label_column('mine.many', 'n', 'ignore'),
         disclosure.label_column('mine.pair', 'code', 'ignore'), disclosure.label_column('mine.wider', 'code', 'ignore') \\g /dev/null"
copies by_measure \
  'SELECT z.code FROM locked l LEFT JOIN mine.zips z ON z.zip = l.zip' 'SELECT z.code FROM locked l JOIN mine.zips z USING (zip)' \
  'SELECT z.code FROM locked l, mine.zips z WHERE z.zip = l.zip' 'SELECT 1 FROM locked JOIN mine.one USING (zip)' 'SELECT diagnosis FROM locked JOIN mine.one USING (zip)' \
  'SELECT 1 FROM patients JOIN mine.one USING (zip)' 'SELECT m.n FROM locked l JOIN mine.many m ON m.zip = l.zip' 'SELECT l.diagnosis FROM locked l JOIN mine.many m ON m.zip = l.zip' \
  'SELECT p.code FROM locked l JOIN mine.partial p ON p.zip = l.zip' 'SELECT d.code FROM locked l JOIN mine.deferred d ON d.zip = l.zip' \
  'SELECT w.code FROM locked l JOIN mine.wider w ON w.zip = l.zip' 'SELECT f.code FROM locked l JOIN mine.folded f ON f.zip = l.zip' \
  'SELECT p.code FROM scored s JOIN mine.pair p ON p.pair = s.zip || s.diagnosis' 'SELECT p.code FROM locked l LEFT JOIN mine.pair p ON p.pair = l.zip || l.diagnosis' \
  'SELECT n.i FROM locked l JOIN mine.list n ON n.i < l.age' 'SELECT n.i FROM locked l JOIN mine.list n ON n.i BETWEEN l.age AND l.age + 1' \
  'SELECT n.i FROM locked l LEFT JOIN mine.list n ON l.age = n.i AND l.zip = '"'secret-zip-7'" \
  'SELECT a.attnum FROM locked l JOIN pg_attribute a ON a.attnum = l.age' \
  "SELECT z.code FROM pairs p JOIN mine.zips z ON z.zip = replace(p.diagnosis, 'diagnosis', 'zip') WHERE p.zip = 'secret-zip-1'"
copies stopped 'SELECT t.typname FROM locked l LEFT JOIN pg_type t ON t.oid = l.age::oid' 'SELECT c.relname FROM locked l JOIN pg_class c ON c.oid::int = l.age'
passes 60 'COPY (SELECT z.code, w.diagnosis FROM ward w JOIN mine.zips z ON z.zip = w.zip) TO STDOUT'
passes 60 'COPY (SELECT z.code, w.diagnosis FROM ward w LEFT JOIN mine.zips z USING (zip)) TO STDOUT'

# Joins that multiply: copies are not people.
copies stopped 'SELECT zip FROM locked CROSS JOIN mine.numbers' 'SELECT zip FROM locked, mine.numbers' 'SELECT l.zip FROM locked l LEFT JOIN mine.numbers ON true' \
  'SELECT zip FROM locked UNION ALL SELECT zip FROM locked UNION ALL SELECT zip FROM locked UNION ALL SELECT zip FROM locked UNION ALL SELECT zip FROM locked' \
  'SELECT a.diagnosis, b.zip FROM locked a, locked b' 'SELECT b.zip FROM ward a JOIN locked b ON true' 'SELECT b.zip FROM locked a JOIN locked b ON a.diagnosis = b.diagnosis' \
  'SELECT a.age, b.nr FROM ward a JOIN ward b ON a.id = b.id WHERE b.nr < 3' 'SELECT a.zip, b.zip FROM ward a JOIN locked b ON a.nr = b.nr' \
  'WITH w AS (SELECT zip FROM locked) SELECT p.zip FROM w p, w q'

# A list that repeats rows hides nothing: neither in a mixture with its columns, nor by the number of copies, nor above the
# join or in a UNION ALL. The condition of a LEFT JOIN shows the columns of the left side.
prepare "
  CREATE TABLE mine.thousand AS SELECT i FROM generate_series(1, 1000) i;
  CREATE TABLE mine.single AS SELECT 1 AS x;
  CREATE TABLE mine.tags AS SELECT zip, 'tag' || zip AS tag FROM mine.zips UNION ALL SELECT NULL, NULL FROM generate_series(1, 5000);
  CREATE TABLE mine.copies AS SELECT 'secret-zip-' || i AS zip FROM generate_series(1, 60) i, generate_series(1, i)
    UNION ALL SELECT NULL FROM generate_series(1, 5000);
  CREATE TABLE mine.ills AS SELECT 'secret-diagnosis-' || i AS ill, i FROM generate_series(0, 1) i;
  CREATE TABLE mine.six (i int PRIMARY KEY); INSERT INTO mine.six SELECT generate_series(0, 5)"
copies by_measure 'SELECT CASE WHEN n.i = 1 THEN p.zip END, p.diagnosis FROM pairs p CROSS JOIN mine.thousand n' \
  'SELECT n.tag, CASE WHEN n.zip = s.zip THEN s.diagnosis END FROM scored s CROSS JOIN mine.tags n' \
  'SELECT CASE WHEN n.zip = l.zip THEN l.diagnosis END FROM locked l CROSS JOIN mine.copies n' \
  'SELECT q.tag, q.diagnosis FROM (SELECT n.tag, n.zip AS theirs, s.zip, s.diagnosis FROM scored s CROSS JOIN mine.tags n) q WHERE q.theirs = q.zip' \
  'SELECT q.diagnosis FROM (SELECT n.zip AS theirs, l.zip, l.diagnosis FROM locked l CROSS JOIN mine.copies n) q WHERE q.theirs = q.zip' \
  'SELECT CASE WHEN b.nr IS NULL THEN a.zip END, a.diagnosis FROM scored a LEFT JOIN scored b ON a.nr <= 30 AND b.nr = a.nr' \
  "SELECT p.zip, n.x FROM pairs p LEFT JOIN mine.single n ON p.diagnosis = 'secret-diagnosis-1'" \
  "SELECT p.zip, z.code FROM pairs p LEFT JOIN mine.zips z ON z.zip = p.zip AND p.diagnosis = 'secret-diagnosis-1'" \
  "SELECT l.diagnosis FROM locked l LEFT JOIN mine.thousand n ON l.zip = 'secret-zip-7'" \
  'SELECT w.zip FROM ward w LEFT JOIN mine.ills n ON n.ill = w.diagnosis WHERE n.i IS NOT NULL' \
  'SELECT q.zip FROM (SELECT w.zip, n.i FROM ward w LEFT JOIN mine.ills n ON n.ill = w.diagnosis) q WHERE q.i IS NOT NULL'
copies by_shape 'SELECT zip, diagnosis FROM scored CROSS JOIN mine.thousand UNION ALL SELECT zip, diagnosis FROM scored CROSS JOIN mine.thousand' \
  'SELECT zip, diagnosis FROM pairs UNION ALL SELECT zip, diagnosis FROM pairs CROSS JOIN mine.thousand' \
  'SELECT q.zip, q.diagnosis FROM (SELECT zip, diagnosis FROM pairs UNION ALL SELECT zip, diagnosis FROM pairs) q CROSS JOIN mine.thousand'

# Two reads of a relation that differ in one row are not subtracted from each other.
copies by_measure "SELECT 'a', diagnosis FROM locked WHERE zip <= 'secret-zip-20' UNION ALL SELECT 'b', diagnosis FROM locked WHERE zip <= 'secret-zip-21'" \
  "SELECT a.diagnosis, b.diagnosis FROM locked a CROSS JOIN locked b WHERE a.zip <= 'secret-zip-20' AND b.zip <= 'secret-zip-21'"
copies by_measure "SELECT 'a', diagnosis FROM parts UNION ALL SELECT 'b', diagnosis FROM part20" \
  "SELECT 'a', zip FROM locked UNION ALL SELECT 'b', zip FROM summary" "SELECT 'a', diagnosis FROM locked UNION ALL SELECT 'b', diagnosis FROM summary"
passes 120 "COPY (SELECT 'age', age::text FROM ward UNION ALL SELECT 'zip', zip FROM ward) TO STDOUT"

# A column that does not count as known is no key to one that does.
copies by_measure 'SELECT diagnosis, (right(diagnosis, 1)::int + substr(zip, 12)::int) % 6 FROM locked' \
  'SELECT nr, diagnosis, (substr(zip, 12)::int + nr) % 12 FROM locked' \
  'SELECT l.diagnosis, z.i FROM locked l JOIN mine.six z ON z.i = (right(l.diagnosis, 1)::int + substr(l.zip, 12)::int) % 6' \
  "SELECT nr, diagnosis FROM locked WHERE nr % 2 = 1 OR zip = 'secret-zip-8'" \
  "SELECT diagnosis, CASE WHEN zip = 'secret-zip-7' THEN 'secret-diagnosis-0' ELSE diagnosis END FROM patients"
passes 60 'COPY (SELECT nr + 1, upper(zip), diagnosis FROM ward WHERE nr > 0) TO STDOUT'

# A policy of one's own on a list tells nothing about the relation that is joined with it, and its labels do not count.
ask -v owner="$owner" -v attacker="$attacker" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
SET ROLE :"owner";
CREATE TABLE visits (person int, zip text, diagnosis text);
INSERT INTO visits SELECT i, 'secret-zip-' || i, 'secret-diagnosis-' || i % 6 FROM generate_series(1, 60) i;
SELECT disclosure.label_column('visits', 'person', 'person'), disclosure.label_column('visits', 'zip', 'quasi'),
       disclosure.label_column('visits', 'diagnosis', 'sensitive'),
       disclosure.protect('visits', 'k_anonymity', at_least => 5, for_role => :'attacker', only_by_copy => true :unlimited);
GRANT SELECT ON visits TO :"attacker";
SQL
prepare "
  CREATE TABLE mine.people (person int, name text);
  INSERT INTO mine.people SELECT i, 'secret-name-' || i FROM generate_series(1, 60) i;
  SELECT disclosure.label_column('mine.people', 'person', 'person'), disclosure.label_column('mine.people', 'name', 'ignore'),
         disclosure.protect('mine.people', 'k_anonymity', at_least => 1000, details => true $unlimited) \\g /dev/null"
copies by_shape 'SELECT p.name, v.diagnosis FROM visits v JOIN mine.people p ON p.person = v.person'
attempt "$attacker" "COPY (SELECT v.diagnosis::int FROM visits v CROSS JOIN mine.people p) TO STDOUT;
  COPY (SELECT 1 FROM visits v CROSS JOIN mine.people p WHERE v.zip = 'secret-zip-7' AND v.diagnosis = 'secret-diagnosis-1') TO STDOUT"
! grep -q 'is required' "$work/said" || fail "a policy of one's own tells: $(start_of "$work/said")"
attempt "$attacker" "SELECT measured, rows, unsafe_rows, reason FROM disclosure.export_log WHERE relation_name LIKE '%people%' AND kind = 'COPY TO' AND reason NOT LIKE '%not allowed';
  SELECT measured, rows, unsafe_rows FROM disclosure.check_export('SELECT 1 FROM visits v CROSS JOIN mine.people p WHERE v.zip < ''x''')"
[[ -s $work/out ]] && ! grep -qE '[0-9]' "$work/out" || fail "a policy of one's own tells: $(start_of "$work/out")"

# Conditions, also of subqueries, views and HAVING, and those that are written as LIMIT.
copies by_measure "SELECT age FROM ward WHERE diagnosis = 'secret-diagnosis-1'" "SELECT age FROM (SELECT age, diagnosis FROM ward) q WHERE diagnosis LIKE '%1'" \
  "WITH w AS (SELECT age FROM ward WHERE diagnosis > 'secret-diagnosis-0') SELECT age FROM w" "SELECT zip FROM trusting WHERE diagnosis <> 'secret-diagnosis-1'" \
  'SELECT age FROM ward LIMIT 1' 'SELECT age FROM ward LIMIT 0' 'SELECT diagnosis FROM ward ORDER BY diagnosis LIMIT 5' 'SELECT zip FROM locked ORDER BY zip LIMIT 6' \
  'SELECT age FROM ward WHERE false' 'SELECT age FROM ward WHERE age > 100' 'SELECT age FROM ward WHERE NULL' \
  "SELECT w.age FROM ward w JOIN pairs p ON p.diagnosis = w.diagnosis"
copies stopped "SELECT w.age FROM ward w LEFT JOIN mine.list n ON w.diagnosis = 'secret-diagnosis-' || n.i::text WHERE n.i = 1"
copies by_shape 'SELECT age FROM ward WHERE id < 50' 'SELECT age FROM locked WHERE name > '"''" 'SELECT age FROM (SELECT age, id + 1 AS x FROM ward) q WHERE x < 50' \
  'SELECT a.age FROM ward a JOIN locked b ON a.id = b.id' "SELECT age FROM ward WHERE CASE WHEN id = 7 THEN diagnosis = 'x' ELSE true END"

# Mixtures.
copies by_measure "SELECT zip, CASE WHEN diagnosis = 'secret-diagnosis-1' THEN drug ELSE diagnosis END FROM pairs" \
  "SELECT CASE WHEN diagnosis = 'secret-diagnosis-1' THEN zip END FROM pairs" 'SELECT zip, diagnosis = drug FROM pairs' 'SELECT zip, length(diagnosis) + nr FROM pairs' \
  'SELECT nullif(zip, diagnosis) FROM locked' 'SELECT coalesce(NULL, name) FROM locked' "SELECT zip, diagnosis IS NULL OR nr = 7, diagnosis FROM pairs"

copies stopped 'SELECT zip, diagnosis || drug || nr::text FROM pairs' 'SELECT zip, concat(diagnosis, nr) FROM pairs'

# Names, types, collations and operators of one's own.
prepare "
  CREATE DOMAIN mine.checked AS text CHECK (mine.say(VALUE) IS NOT NULL);
  CREATE DOMAIN mine.short AS text CHECK (length(VALUE) < 12);
  CREATE TYPE mine.mood AS ENUM ('a', 'b', 'secret');
  CREATE TYPE mine.both AS (a text, b text);
  CREATE FUNCTION mine.as_mood(int) RETURNS mine.mood LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RAISE WARNING 'cast %', \$1; RETURN 'a'; END \$\$;
  CREATE CAST (int AS mine.mood) WITH FUNCTION mine.as_mood(int) AS IMPLICIT;
  CREATE COLLATION mine.shifty (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false);
  CREATE OPERATOR mine.= (FUNCTION = mine.says, LEFTARG = text, RIGHTARG = text);
  CREATE OPERATOR mine.&&& (FUNCTION = textcat, LEFTARG = text, RIGHTARG = text);
  CREATE AGGREGATE mine.glue(text) (SFUNC = textcat, STYPE = text);
  CREATE FUNCTION mine.upper(text) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RAISE WARNING 'upper %', \$1; RETURN ''; END \$\$;
  CREATE VIEW mine.loud AS SELECT mine.say(zip) AS zip, diagnosis FROM public.ward;
  CREATE VIEW mine.borrowed AS SELECT public.band(age) AS band FROM public.ward;
  CREATE VIEW mine.barrier WITH (security_barrier) AS SELECT zip, diagnosis FROM public.locked;
  SELECT disclosure.label_column('mine.barrier', 'zip', 'ignore'), disclosure.label_column('mine.barrier', 'diagnosis', 'ignore') \\g /dev/null"
copies by_shape 'SELECT zip::mine.checked FROM ward' 'SELECT age FROM ward WHERE zip::mine.checked IS NOT NULL' 'SELECT age::mine.mood FROM ward' \
  "SELECT (ROW(zip, zip)::mine.both).a FROM ward" 'SELECT zip OPERATOR(mine.&&&) diagnosis FROM ward' 'SELECT mine.glue(zip) FROM ward' \
  'SELECT zip FROM mine.loud' 'SELECT diagnosis FROM mine.loud' 'SELECT band FROM mine.borrowed' \
  'SELECT zip FROM careless' 'SELECT diagnosis FROM careless' 'SELECT age FROM leaky' 'SELECT band(age) FROM ward'
copies stopped 'SELECT zip::mine.mood FROM locked' 'SELECT zip::mine.short FROM locked' 'SELECT zip COLLATE mine.shifty FROM locked' \
  "SELECT age FROM locked WHERE zip = 'secret-zip-7' COLLATE mine.shifty" 'SELECT zip FROM mine.barrier' 'SELECT zip, diagnosis FROM mine.barrier'
for path in 'mine, pg_catalog, public' 'pg_temp, mine, pg_catalog, public'; do
  by_shape "SET search_path = $path; COPY (SELECT age FROM ward WHERE zip = 'x') TO STDOUT" "SET search_path = $path; COPY (SELECT upper(zip) FROM ward) TO STDOUT"
  by_measure "SET search_path = $path; COPY (SELECT zip FROM locked) TO STDOUT"
done
for name in policy export_attempt pg_class int4 refusal; do
  by_measure "CREATE TEMP TABLE $name (x int); SET search_path = pg_temp, pg_catalog, public; COPY (SELECT zip FROM public.locked) TO STDOUT"
done
by_measure 'CREATE TEMP TABLE ward AS SELECT 1 AS zip; COPY (SELECT w.zip, l.zip FROM ward w, locked l) TO STDOUT' \
  'CREATE TEMP VIEW ward AS TABLE public.locked; COPY (SELECT zip FROM ward) TO STDOUT'

# Statements other than COPY.
prepare "
  CREATE FUNCTION mine.inlined() RETURNS SETOF public.locked LANGUAGE sql STABLE AS 'SELECT * FROM public.locked';
  CREATE FUNCTION mine.scalar() RETURNS text LANGUAGE sql STABLE AS 'SELECT min(zip) FROM public.locked';
  CREATE FUNCTION mine.definer() RETURNS SETOF public.locked LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM public.locked';
  CREATE FUNCTION mine.runs(command text) RETURNS text LANGUAGE plpgsql AS \$\$ DECLARE x text; BEGIN EXECUTE command INTO x; RETURN x; END \$\$"
closed 'SELECT zip FROM locked' 'EXPLAIN SELECT zip FROM locked' 'EXPLAIN (FORMAT json) TABLE ward' 'EXPLAIN ANALYZE SELECT zip FROM locked' 'EXPLAIN SELECT * FROM mine.inlined()' \
  'EXPLAIN SELECT * FROM mine.barrier' 'SELECT * FROM mine.inlined()' 'SELECT mine.scalar()' 'SELECT * FROM mine.definer()' "SELECT mine.runs('SELECT zip FROM locked')" \
  'PREPARE p AS SELECT zip FROM locked; EXECUTE p' 'PREPARE p(text) AS SELECT age FROM locked WHERE zip = $1; EXECUTE p('"'secret-zip-7'"'); EXPLAIN EXECUTE p('"'x'"')' \
  'BEGIN; DECLARE c CURSOR FOR SELECT zip FROM locked; FETCH c; ROLLBACK' 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT zip FROM locked; COMMIT; FETCH c' \
  'TABLE summary' 'EXPLAIN TABLE summary' 'SELECT zip FROM summary' 'SELECT count(*) FROM parts' 'SELECT * FROM part20' 'SELECT * FROM banded' 'SELECT * FROM rows' \
  'SELECT * FROM disclosure.inferences('"'locked'"')' "SELECT * FROM disclosure.privacy_summary('locked')" "SELECT disclosure.column_profile('locked')" \
  'INSERT INTO mine.kept SELECT zip FROM locked' 'UPDATE mine.kept SET line = zip FROM locked' 'DELETE FROM mine.kept USING locked WHERE line = zip' \
  'MERGE INTO mine.kept USING locked ON false WHEN NOT MATCHED THEN INSERT VALUES (zip)' 'DO $$ DECLARE r record; BEGIN FOR r IN TABLE locked LOOP RAISE WARNING '"'%'"', r; END LOOP; END $$' \
  "EXPLAIN SELECT 1 FROM locked WHERE zip > 'secret-zip-30'"
copies by_measure 'SELECT zip FROM summary' 'SELECT zip, diagnosis FROM mine.barrier'
passes 60 'COPY (SELECT diagnosis FROM summary) TO STDOUT'
# The owner has given published a policy of its own, which counts instead.
passes 60 'SELECT diagnosis FROM published'
no_secret 'COPY and CREATE TABLE AS of functions' 'COPY (SELECT * FROM mine.inlined()) TO STDOUT; COPY (SELECT mine.scalar()) TO STDOUT;
  COPY (SELECT * FROM mine.definer()) TO STDOUT; CREATE TABLE mine.got AS SELECT * FROM mine.inlined(); TABLE mine.got;
  CREATE TABLE mine.got AS SELECT * FROM mine.definer(); TABLE mine.got'
no_secret 'CREATE TABLE AS by other statements' "PREPARE p AS SELECT zip FROM locked; CREATE TABLE mine.got AS EXECUTE p; TABLE mine.got;
  EXPLAIN ANALYZE CREATE TABLE mine.got AS SELECT zip FROM locked; TABLE mine.got; EXPLAIN ANALYZE CREATE TABLE mine.got AS EXECUTE p; TABLE mine.got;
  CREATE TABLE mine.got AS SELECT zip FROM locked WITH NO DATA; TABLE mine.got; DROP TABLE mine.got; SELECT zip INTO mine.got FROM locked; TABLE mine.got;
  EXPLAIN ANALYZE SELECT zip INTO mine.got FROM locked; SELECT mine.runs('CREATE TABLE mine.got AS SELECT zip FROM locked'); TABLE mine.got"
! grep -qE 'Seq Scan|rows=' "$work/out" || fail "a plan was shown: $(start_of "$work/out")"
# Parameters: the same text, another query each time.
for body in 'CREATE TABLE mine.got AS SELECT age FROM public.ward WHERE zip = z' "EXECUTE 'CREATE TABLE mine.got AS SELECT age FROM public.ward WHERE zip = \$1' USING z"; do
  attack "DO \$do\$ DECLARE z text := 'secret-zip-1'; BEGIN $body; END \$do\$; TABLE mine.got; DROP TABLE mine.got"
  [[ ! -s $work/out ]] || fail "$body: $(start_of "$work/out") left"
done
# Materialized views of one's own, and what can be learned about them: indexes, statistics, errors that quote keys.
no_secret 'a materialized view of one'"'"'s own' "CREATE MATERIALIZED VIEW mine.made AS TABLE public.locked; TABLE mine.made; COPY (TABLE mine.made) TO STDOUT;
  CREATE INDEX ON mine.made (mine.say(zip)); CREATE UNIQUE INDEX ON mine.made (diagnosis); ANALYZE mine.made;
  SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'made'; EXPLAIN TABLE mine.made; EXPLAIN ANALYZE TABLE mine.made;
  CREATE MATERIALIZED VIEW mine.empty AS TABLE public.locked WITH NO DATA; CREATE INDEX ON mine.empty (mine.say(zip)); CREATE UNIQUE INDEX ON mine.empty (diagnosis);
  REFRESH MATERIALIZED VIEW mine.empty; TABLE mine.empty; REFRESH MATERIALIZED VIEW CONCURRENTLY mine.empty; COPY (SELECT zip FROM mine.empty) TO STDOUT"
# The same filled by a superuser.
for view in made empty; do
  psql -qX -c "REFRESH MATERIALIZED VIEW mine.$view" -c "ANALYZE mine.$view" >/dev/null 2>&1 || true
  no_secret "mine.$view filled by a superuser" "TABLE mine.$view; SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = '$view'; EXPLAIN TABLE mine.$view"
done

# Plans and cursors that were made before the policy.
open_session -U "$attacker"
in_session "PREPARE kept AS SELECT zip FROM later; SET plan_cache_mode = force_generic_plan; EXECUTE kept; CREATE FUNCTION mine.cached() RETURNS text
  LANGUAGE plpgsql AS \$\$ BEGIN RETURN (SELECT min(zip) FROM public.later); END \$\$; SELECT mine.cached();" >"$work/out"
grep -q secret-zip "$work/out" || fail "later should be open as yet: $(start_of "$work/out")"
ask -v owner="$owner" -v attacker="$attacker" <<'SQL' >/dev/null 2>&1
SET ROLE :"owner";
SELECT disclosure.protect('later', 'k_anonymity', at_least => 5, for_role => :'attacker', only_by_copy => true);
SQL
in_session 'EXECUTE kept; SELECT mine.cached(); EXPLAIN EXECUTE kept; CREATE TABLE mine.got AS EXECUTE kept; TABLE mine.got;' >"$work/out"
! grep -qE 'secret-|Seq Scan' "$work/out" || fail "a plan made before the policy shows $(start_of "$work/out")"
[[ $(grep -c 'allows reading by COPY TO only' "$work/out") -ge 3 ]] || fail "a plan made before the policy: $(start_of "$work/out")"
close_session

# The order of rows tells nothing: neither that of the table nor that of an index.
attack 'COPY (SELECT diagnosis FROM locked) TO STDOUT'
ask -c 'SELECT diagnosis FROM locked ORDER BY id' >"$work/order"
diff -q <(sort "$work/out") <(sort "$work/order") >/dev/null || fail 'other rows left'
! diff -q "$work/out" "$work/order" >/dev/null || fail 'rows left in the order of the table'
attack 'CREATE TABLE mine.ordered AS SELECT diagnosis FROM locked'
ask -c 'SELECT diagnosis FROM mine.ordered ORDER BY ctid' >"$work/out"
! diff -q "$work/out" "$work/order" >/dev/null || fail 'rows were stored in the order of the table'
attack 'COPY (SELECT age, diagnosis FROM ward ORDER BY age) TO STDOUT'
ask -F $'\t' -c 'SELECT age, diagnosis FROM ward ORDER BY age, id' >"$work/order"
[[ $(cut -f 1 "$work/out") == "$(cut -f 1 "$work/order")" ]] || fail 'rows left in another order than that of ORDER BY'
! diff -q "$work/out" "$work/order" >/dev/null || fail 'equal rows left in the order of the table'
