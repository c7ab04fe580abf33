#!/usr/bin/env bash
# Holes of version 0.1.0, by which a role with SELECT took protected rows out: one after the other, and honest neighbours
# of each, which pass.
source "$(dirname "$0")/lib.sh"
attacker=burglar owner=householder
source "$(dirname "$0")/hostile.bash"

# What the honest may do.
passes 60 'COPY (SELECT age, zip, diagnosis FROM ward) TO STDOUT'
passes 60 'COPY (SELECT diagnosis FROM locked) TO STDOUT'
passes 60 'COPY (SELECT diagnosis, drug FROM ward ORDER BY diagnosis) TO STDOUT'
by_measure 'COPY locked TO STDOUT' 'COPY ward TO STDOUT' 'COPY patients TO STDOUT' 'COPY scored TO STDOUT'
closed 'TABLE locked' 'SELECT count(*) FROM ward'

# A measure function of one's own reads while the guard is at work, and sees rows before others refuse them.
prepare "
  CREATE TABLE mine.watched AS SELECT 1 AS x;
  CREATE FUNCTION mine.reads(query text) RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE r record; BEGIN
    FOR r IN SELECT name, diagnosis FROM public.locked LOOP RAISE WARNING 'read %', r; END LOOP; RETURN 1; END \$\$;
  SELECT disclosure.protect('mine.watched', 'mine.reads', at_least => 0) \\g /dev/null
  CREATE TABLE mine.seen AS SELECT 1 AS x;
  CREATE FUNCTION mine.sees(query text) RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE r record; BEGIN
    FOR r IN EXECUTE query LOOP RAISE WARNING 'saw %', r; END LOOP; RETURN 1; END \$\$;
  SELECT disclosure.protect('mine.seen', 'mine.sees', at_least => 0) \\g /dev/null"
no_secret 'a measure that reads' "SELECT verdict FROM disclosure.check_export('TABLE mine.watched'); COPY mine.watched TO STDOUT"
no_secret 'a measure that sees' "COPY (SELECT l.* FROM locked l, mine.seen) TO STDOUT;
  COPY (SELECT l.zip, s.x FROM locked l LEFT JOIN mine.seen s ON true) TO STDOUT;
  SELECT * FROM disclosure.check_export('SELECT w.zip, s.x FROM ward w CROSS JOIN mine.seen s')"
no_secret 'a temporary measure' "
  CREATE TEMP TABLE watched AS SELECT 1 AS x;
  CREATE FUNCTION pg_temp.reads(query text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
    RAISE WARNING 'read %', (SELECT min(name) FROM public.locked); RETURN 1; END \$\$;
  SELECT disclosure.protect('watched', 'pg_temp.reads', at_least => 0);
  SELECT verdict FROM disclosure.check_export('TABLE watched')"

# It keeps what others export, who join with a list of the attacker's.
ask <<'SQL' >/dev/null
CREATE ROLE passer_by LOGIN;
CREATE TABLE payroll AS SELECT 'secret-person-' || i AS person, i AS code, 100 * i AS salary FROM generate_series(1, 3) i;
GRANT SELECT ON payroll TO passer_by;
SQL
prepare "
  GRANT USAGE ON SCHEMA mine TO PUBLIC;
  CREATE TABLE mine.labels (code int PRIMARY KEY, label text);
  INSERT INTO mine.labels SELECT i, 'label ' || i FROM generate_series(1, 3) i;
  GRANT SELECT ON mine.labels TO PUBLIC;
  CREATE FUNCTION mine.keeps(query text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
    EXECUTE format('INSERT INTO mine.kept SELECT q::text FROM (%s) q', query); RETURN 1; END \$\$;
  SELECT disclosure.protect('mine.labels', 'mine.keeps', at_least => 0) \\g /dev/null"
joined='SELECT p.person, p.salary, l.label FROM payroll p JOIN mine.labels l USING (code)'
attempt passer_by "COPY ($joined) TO STDOUT; SELECT * FROM disclosure.check_export('$joined')"
psql -qXAt -c "SELECT verdict FROM disclosure.check_export('$joined')" >/dev/null 2>&1 || true
[[ $(ask -c 'SELECT count(*) FROM mine.kept') == 0 ]] || fail "a measure kept what others exported: $(ask -c 'TABLE mine.kept LIMIT 1')"

# A list of one's own, from which a subquery on the protected table chooses.
prepare "
  CREATE TABLE mine.codes AS SELECT i FROM generate_series(1, 70000) i;
  SELECT disclosure.label_column('mine.codes', 'i', 'ignore') \\g /dev/null
  CREATE TABLE mine.letters AS SELECT p || ':' || chr(c) AS k FROM generate_series(1, 18) p, generate_series(32, 126) c;
  SELECT disclosure.label_column('mine.letters', 'k', 'ignore') \\g /dev/null"
copies by_shape \
  'SELECT i FROM mine.codes WHERE i IN (SELECT id * 1000 + age FROM locked)' \
  'SELECT i FROM mine.codes WHERE EXISTS (SELECT FROM locked WHERE id * 1000 + age = i)' \
  'SELECT i FROM mine.codes WHERE i = ANY (ARRAY(SELECT age FROM locked))' \
  "SELECT k FROM mine.letters WHERE k IN (SELECT p || ':' || substr(diagnosis, p, 1) FROM locked, generate_series(1, 18) p)" \
  'SELECT oid FROM pg_proc WHERE oid::int - 1200 IN (SELECT id FROM patients)' \
  "SELECT 'x' FROM locked LIMIT (SELECT age FROM locked WHERE id = 7)"
by_shape "CREATE TEMP TABLE codes AS SELECT i FROM generate_series(1, 100) i;
  SET client_min_messages = error; SELECT disclosure.label_column('codes', 'i', 'ignore') \\g /dev/null
  RESET client_min_messages; COPY (SELECT i FROM codes WHERE i IN (SELECT age FROM locked)) TO STDOUT"
# The same by a join. The column that is compared leaves; conditions on identifiers are refused.
copies by_shape 'SELECT i FROM mine.codes JOIN locked ON i = id * 1000 + age' 'SELECT n.i FROM mine.list n JOIN locked l ON n.i = l.id' \
  'SELECT n.i FROM locked l LEFT JOIN mine.list n ON n.i = l.id'
copies by_measure 'SELECT i FROM mine.codes JOIN locked ON i = age' 'SELECT n.i FROM mine.list n JOIN locked l ON n.i = l.age' \
  'SELECT l.diagnosis FROM locked l JOIN mine.codes ON i = l.age' 'SELECT n.i FROM locked l LEFT JOIN mine.list n ON n.i = l.age'
passes 60 'COPY (SELECT n.i, w.diagnosis FROM ward w LEFT JOIN mine.list n ON n.i = w.age) TO STDOUT'

# The list is a catalogue, which the attacker neither owns nor writes.
copies by_shape 'SELECT p.oid FROM pg_proc p JOIN ward w ON p.oid::int - 1200 = w.id' \
  'SELECT p.oid FROM ward w LEFT JOIN pg_proc p ON p.oid = (w.id + 1200)::oid'
copies by_measure 'SELECT l.diagnosis FROM locked l JOIN pg_attribute a ON a.attnum = l.age - 10' \
  'SELECT a.attnum FROM locked l JOIN pg_attribute a ON a.attnum = l.age - 10'

# Messages that carry values.
for built_in in "xpath('/*', ('<a xmlns=\"' || name || zip || diagnosis || '\"/>')::xml) IS NOT NULL" \
  "xmlparse(document '<a xmlns=\"' || name || '\"/>') IS NOT NULL" "to_tsquery('simple', repeat(' ', age)) IS NOT NULL"; do
  copies by_shape "SELECT diagnosis FROM locked WHERE $built_in" "SELECT 'x' FROM patients WHERE $built_in"
  no_secret "check_export of $built_in" "SELECT * FROM disclosure.check_export(\$query\$SELECT diagnosis FROM locked WHERE $built_in\$query\$)"
  nothing_said "check_export of $built_in"
done

# Values that print alike and are sent differently, and the other way round.
operators=$(ask -c "SELECT array_agg(oid::oid ORDER BY oid) FROM pg_operator WHERE oprname = '=' AND oprnamespace = 'pg_catalog'::regnamespace")
by_shape "CREATE TABLE mine.taken AS SELECT ARRAY[('$operators'::oid[])[1 + age]]::regoper[] AS x FROM locked; TABLE mine.taken" \
  "CREATE TABLE mine.taken AS SELECT ('$operators'::oid[])[1 + age]::regoper AS x FROM locked; TABLE mine.taken" \
  'COPY (SELECT CASE age % 3 WHEN 0 THEN ROW(1::int2) WHEN 1 THEN ROW(1::int4) ELSE ROW(1::int8) END FROM locked) TO STDOUT (FORMAT binary)' \
  "CREATE TABLE mine.taken AS SELECT CASE WHEN age % 2 = 0 THEN tsquery_and('a', tsquery_and('b', 'c'))
     ELSE tsquery_and(tsquery_and('a', 'b'), 'c') END AS q FROM locked; TABLE mine.taken"
for pair in "-'NaN'::float8, 'NaN'::float8" "'-0'::float8, 0::float8" '1.0, 1.00' "interval '1 mon', interval '30 days'" \
  "'a'::bpchar, 'a  '::bpchar" "'{1,2}'::int[], '[2:3]={1,2}'::int[]"; do
  choice="CASE WHEN zip = 'secret-zip-7' THEN ${pair%, *} ELSE ${pair##*, } END"
  stopped "COPY (SELECT $choice FROM locked) TO STDOUT" "COPY (SELECT $choice FROM locked) TO STDOUT (FORMAT binary)" \
    "CREATE TABLE mine.taken AS SELECT $choice AS x FROM locked; TABLE mine.taken"
done
stopped 'SET extra_float_digits = -15; COPY (SELECT visits FROM locked) TO STDOUT (FORMAT binary)'

# A mixture makes one diagnosis look like two.
copies by_measure 'SELECT zip, diagnosis FROM pairs' 'SELECT zip, diagnosis || drug FROM pairs' \
  'SELECT zip, CASE WHEN nr / 2 % 2 = 0 THEN upper(diagnosis) ELSE diagnosis END FROM pairs' \
  "SELECT zip, CASE WHEN diagnosis LIKE '%0' THEN CASE WHEN nr / 2 % 2 = 0 THEN 1.0 ELSE 1.00 END ELSE CASE WHEN nr / 2 % 2 = 0 THEN 2.0 ELSE 2.00 END END FROM pairs" \
  "SELECT zip, coalesce(nullif(drug, 'secret-drug-0'), diagnosis) FROM pairs" 'SELECT zip || diagnosis || drug FROM pairs'
copies stopped 'SELECT q.zip, q.d FROM (SELECT zip, diagnosis || nr::text AS d FROM pairs) q'
passes 40 'COPY (SELECT diagnosis || drug FROM pairs) TO STDOUT'
passes 40 'COPY (SELECT zip, drug FROM pairs) TO STDOUT'

# The constant of a branch tells its condition.
copies by_measure \
  "SELECT 'x', diagnosis FROM ward WHERE age = 21 AND nr = 7 UNION ALL SELECT 'y', diagnosis FROM ward WHERE NOT (age = 21 AND nr = 7)" \
  'SELECT diagnosis FROM ward WHERE nr = 7 UNION ALL SELECT diagnosis FROM ward WHERE nr <> 7' \
  "SELECT 'x' FROM ward WHERE diagnosis = 'secret-diagnosis-1' UNION ALL SELECT 'y' FROM ward WHERE diagnosis <> 'secret-diagnosis-1'"
passes 60 "COPY (SELECT 'x', diagnosis FROM ward WHERE age = 20 UNION ALL SELECT 'y', diagnosis FROM ward WHERE age = 21) TO STDOUT"

# Names that mean something else by the time the query runs: another session renames schemas while COPY waits for a lock.
prepare "
  CREATE SCHEMA front; CREATE SCHEMA back;
  CREATE VIEW front.v AS SELECT ''::text AS c FROM public.locked;
  CREATE VIEW back.v AS SELECT name || zip || diagnosis AS c FROM public.locked;
  CREATE TABLE mine.blocker AS SELECT 1 AS x;
  CREATE VIEW mine.waits AS TABLE mine.blocker;
  SELECT disclosure.label_column('front.v', 'c', 'ignore') \\g /dev/null"
# swapped QUERY: runs it by COPY, swaps front and back while it waits, and swaps them back.
swapped() {
  local copier waits=0
  local swap='ALTER SCHEMA front RENAME TO middle; ALTER SCHEMA back RENAME TO front; ALTER SCHEMA middle RENAME TO back;'
  open_session -U "$attacker"
  in_session 'BEGIN; LOCK TABLE mine.blocker IN ACCESS EXCLUSIVE MODE;'
  PGAPPNAME=copier psql -qXAt -U "$attacker" -c "COPY ($1) TO STDOUT" >"$work/out" 2>"$work/said" &
  copier=$!
  until [[ $(ask -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'copier' AND wait_event_type = 'Lock'") == 1 ]]; do
    ((waits++ < 600)) || die "$1 does not wait"
    kill -0 "$copier" 2>/dev/null || break
    sleep 0.1
  done
  in_session "$swap COMMIT;"
  wait "$copier" || true
  in_session "$swap"
  close_session
  ! grep -q secret- "$work/out" "$work/said" || fail "$1: $(grep -hm1 secret- "$work/out" "$work/said") left"
}
swapped 'SELECT q.c FROM front.v q WHERE EXISTS (SELECT FROM back.v) AND EXISTS (SELECT FROM mine.waits)'
swapped 'SELECT q.c FROM front.v q LEFT JOIN mine.waits w ON w.x = 1'
swapped 'SELECT q.c FROM front.v q, mine.waits'

# Functions that Postgres calls unseen, also in parallel workers.
parallel="SET $(ask -c "SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')") = on"
workers='SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off'
prepare "
  CREATE TYPE mine.span AS RANGE (subtype = text);
  CREATE FUNCTION mine.to_json(mine.span) RETURNS json LANGUAGE plpgsql AS \$\$ BEGIN RAISE WARNING 'got %', lower(\$1); RETURN '1'; END \$\$;
  CREATE CAST (mine.span AS json) WITH FUNCTION mine.to_json(mine.span);
  CREATE VIEW mine.bit0 AS SELECT mine.say('0'); CREATE VIEW mine.bit1 AS SELECT mine.say('1')"
copies by_shape "SELECT 'x' FROM locked WHERE to_json(('[\"' || name || '\",]')::mine.span) IS NOT NULL" \
  "SELECT 'x' FROM locked WHERE json_build_object('a', ('[\"' || name || '\",]')::mine.span) IS NOT NULL" \
  "SELECT 'x' FROM locked WHERE table_to_xml(('mine.bit' || (age > 25)::int)::regclass, true, true, '') IS NOT NULL" \
  "SELECT 'x' FROM locked WHERE query_to_xml('SELECT mine.say(''' || zip || ''')', true, true, '') IS NOT NULL"
for table in locked patients; do
  prepare "
    CREATE OR REPLACE FUNCTION mine.to_json(mine.span) RETURNS json LANGUAGE plpgsql AS \$\$ BEGIN
      RETURN (SELECT json_agg(l) FROM (SELECT name, zip FROM public.$table) l); END \$\$;
    DROP TABLE IF EXISTS mine.base;
    CREATE TABLE mine.base AS SELECT '[a,]'::mine.span AS x FROM generate_series(1, 2000); ANALYZE mine.base"
  for settings in 'SET jit = off' "$parallel" "$workers"; do
    stopped "$settings; COPY (SELECT to_json(x) FROM mine.base) TO STDOUT"
    [[ $table == patients ]] || closed "$settings; SELECT to_json(x) FROM mine.base LIMIT 1"
  done
done
# Rows that are counted, multiplied and ordered by values.
copies by_shape 'SELECT s.name, count(*) FROM scored s, generate_series(1, right(s.diagnosis, 1)::int + 1) GROUP BY s.name' \
  'SELECT n.i, p.diagnosis FROM mine.numbers n, patients p, LATERAL generate_series(1, (SELECT age FROM patients WHERE id = n.i)) g' \
  'SELECT i FROM mine.numbers ORDER BY (SELECT zip FROM locked WHERE id = i) LIMIT 6' \
  'SELECT c FROM (SELECT count(*) OVER (ROWS (SELECT age FROM locked WHERE id = 7) PRECEDING) AS c FROM locked) q ORDER BY c DESC LIMIT 6' \
  'SELECT diagnosis FROM locked, generate_series(1, age)'

# The plan, which has estimates in it.
ask -v attacker="$attacker" -v owner="$owner" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
SET ROLE :"owner";
CREATE TABLE stored (id int, age int, diagnosis text, v text, other text);
INSERT INTO stored
SELECT i, 20 + i % 30, 'secret-diagnosis-' || i % 6, repeat('a', 1500), CASE WHEN i % 6 = 1 THEN repeat(md5(i::text), 40) END
  FROM generate_series(1, 600) i;
SELECT disclosure.label_column('stored', column_name, label)
  FROM (VALUES ('id', 'identifier'), ('age', 'quasi'), ('v', 'quasi'), ('diagnosis', 'sensitive'), ('other', 'sensitive')) l(column_name, label);
SELECT disclosure.protect('stored', 'k_anonymity', at_least => 5, for_role => :'attacker', only_by_copy => true :unlimited);
GRANT SELECT ON stored TO :"attacker";
ANALYZE stored;
SQL
for settings in 'SET debug_print_plan = on' 'SET trace_sort = on' 'SET debug_print_plan = on; SET debug_pretty_print = off'; do
  attack "$settings; SET client_min_messages = log; COPY (SELECT age FROM stored WHERE diagnosis = 'secret-diagnosis-1' ORDER BY age) TO STDOUT"
  nothing_said "$settings"
  [[ $(wc -l <"$work/out") == 100 ]] || fail "$settings: $(wc -l <"$work/out") rows"
  by_measure "$settings; SET client_min_messages = log; COPY (SELECT zip FROM locked ORDER BY zip) TO STDOUT"
done
# How a value is stored depends on the row that it comes from.
passes 0 'CREATE TABLE mine.equal AS SELECT v FROM stored'
[[ $(ask -c 'SELECT count(*), count(DISTINCT (v, pg_column_size(v), pg_column_compression(v))) FROM mine.equal') == '600|1' ]] ||
  fail 'equal values are stored in different ways'

# What a superuser's maintenance runs for the attacker: index functions and materialized views.
prepare "
  CREATE FUNCTION mine.keep() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO mine.kept SELECT l::text FROM public.locked l; RETURN 0; END \$\$;
  CREATE FUNCTION mine.indexed(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
    IF session_user <> '$attacker' THEN RETURN (SELECT mine.keep()) + i; END IF; RETURN i; END \$\$;
  CREATE TABLE mine.bait (i int) WITH (autovacuum_enabled = off);
  CREATE INDEX bait_index ON mine.bait (mine.indexed(i));
  INSERT INTO mine.bait VALUES (1), (2);
  CREATE MATERIALIZED VIEW mine.copied AS SELECT * FROM public.locked WITH NO DATA"
for command in 'ANALYZE mine.bait' 'REINDEX INDEX mine.bait_index' 'VACUUM (ANALYZE) mine.bait' 'REFRESH MATERIALIZED VIEW mine.copied'; do
  psql -qX -c "$command" >/dev/null 2>&1 || true
  no_secret "$command by a superuser" 'TABLE mine.kept; TABLE mine.copied; COPY mine.kept TO STDOUT; COPY (TABLE mine.copied) TO STDOUT;
    BEGIN; DECLARE c CURSOR FOR TABLE mine.copied; FETCH c; ROLLBACK'
done
psql -qX -c 'ANALYZE mine.copied' >/dev/null 2>&1 || true
no_secret 'statistics of a materialized view' "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE schemaname = 'mine'"

# Oracles: the dry run, errors, details.
copies by_shape 'SELECT FROM locked, generate_series(1, age) WHERE zip = '"'secret-zip-7'"
attack "SELECT * FROM disclosure.check_export('SELECT FROM locked, generate_series(1, age)')"
! grep -q "$(ask -c 'SELECT sum(age) FROM locked')" "$work/out" "$work/said" || fail "check_export counts rows: $(start_of "$work/out")"
raises="SELECT CASE diagnosis WHEN 'secret-diagnosis-1' THEN 1 / (age - age) WHEN 'secret-diagnosis-2' THEN sqrt(-age) ELSE 0 END FROM locked WHERE zip ="
logged=$(log_entries)
alike "COPY ($raises 'secret-zip-7') TO STDOUT" "COPY ($raises 'secret-zip-8') TO STDOUT"
alike "COPY ($raises 'secret-zip-9') TO STDOUT" "COPY ($raises 'secret-zip-7') TO STDOUT"
(($(log_entries) >= logged + 4)) || fail 'failed exports are not in the log'
for query in 'SELECT name::int FROM @' 'SELECT (name || age)::json FROM @' 'SELECT zip::date FROM @' 'SELECT 1 / (age - 27) FROM @'; do
  stopped "COPY (${query//@/locked}) TO STDOUT" "COPY (${query//@/patients}) TO STDOUT"
  no_secret "check_export of $query" "SELECT * FROM disclosure.check_export('${query//@/locked}')"
done
# A dry run is an attempt like any other, and tells what COPY tells.
logged=$(log_entries)
shown() { attack "SELECT * FROM disclosure.check_export(\$query\$$1\$query\$)"; grep -v LOCATION "$work/out" "$work/said" || true; }
first=$(shown "SELECT age FROM ward WHERE zip = 'secret-zip-1' AND nr < 4")
[[ $(shown "SELECT age FROM ward WHERE zip = 'secret-zip-1' AND nr < 10") == "$first" ]] || fail 'check_export shows counts'
[[ $(shown "SELECT age FROM ward WHERE zip = 'nowhere' AND nr < 10") == "$first" ]] || fail 'check_export tells nobody from few'
(($(log_entries) >= logged + 3)) || fail 'dry runs are not in the log'

# Statistics, shown by the planner to an operator of one's own.
prepare 'CREATE OPERATOR mine.<<< (FUNCTION = mine.says, LEFTARG = text, RIGHTARG = text, RESTRICT = scalarltsel)'
condition="WHERE zip OPERATOR(mine.<<<) 'x'"
closed "EXPLAIN SELECT 1 FROM locked $condition" "SELECT 1 FROM locked $condition" "EXPLAIN SELECT 1 FROM locked WHERE diagnosis = 'x'" \
  "EXPLAIN ANALYZE SELECT 1 FROM ward" "PREPARE p AS SELECT 1 FROM locked $condition; EXPLAIN EXECUTE p" \
  "BEGIN; DECLARE c CURSOR FOR SELECT 1 FROM locked $condition; FETCH c; ROLLBACK"
by_shape "COPY (SELECT 1 FROM locked $condition) TO STDOUT" "COPY (SELECT age FROM patients $condition) TO STDOUT" \
  "CREATE TABLE mine.never AS SELECT 1 AS x FROM locked $condition"

# The verdict as an oracle: padded conditions, empty exports.
for diagnosis in 0 1; do
  guess="diagnosis = 'secret-diagnosis-$diagnosis'"
  copies by_shape "SELECT 'x' FROM ward WHERE (id = 7 AND $guess) OR id IN (1, 2, 3, 4)" "SELECT 'x' FROM ward WHERE id = 7 AND $guess"
  copies by_measure "SELECT 'x' FROM ward WHERE (nr = 7 AND $guess) OR nr IN (1, 2, 3, 4)" "SELECT 'x' FROM ward WHERE nr = 7 AND $guess"
done
alike "COPY (SELECT age FROM ward WHERE nr = 7 AND diagnosis = 'secret-diagnosis-0') TO STDOUT" \
  "COPY (SELECT age FROM ward WHERE nr = 7 AND diagnosis = 'secret-diagnosis-1') TO STDOUT"
alike "COPY (SELECT age FROM ward WHERE nr = 7 AND zip = 'secret-zip-0') TO STDOUT" "COPY (SELECT age FROM ward WHERE nr = 7 AND zip = 'secret-zip-1') TO STDOUT"
alike 'COPY (SELECT age FROM ward WHERE nr < 0) TO STDOUT' 'COPY (SELECT age FROM ward WHERE nr < 3) TO STDOUT'
copies by_measure "SELECT age FROM scored WHERE diagnosis = 'secret-diagnosis-1'" "SELECT name FROM scored WHERE diagnosis = 'secret-diagnosis-1'" \
  "SELECT 1 FROM ward WHERE diagnosis = 'secret-diagnosis-1'"

# Counters: those of a right and of a wrong guess are the same.
counters="SELECT pg_stat_force_next_flush() \\g /dev/null
  SELECT relname, seq_tup_read, idx_tup_fetch, n_tup_ins, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = 'public' ORDER BY 1;
  SELECT indexrelname, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE schemaname = 'public' ORDER BY 1;
  SELECT relname, seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE schemaname = 'public' ORDER BY 1;"
for settings in 'SET enable_seqscan = off; SET enable_bitmapscan = off' 'SET enable_indexscan = off'; do
  for query in "SELECT age FROM ward WHERE nr = 7 AND diagnosis = 'secret-diagnosis-1'" "SELECT age FROM ward WHERE diagnosis = 'nothing'" \
    "SELECT age FROM ward WHERE id = 7 AND diagnosis = 'secret-diagnosis-1'" 'SELECT age FROM ward' \
    'CREATE TABLE mine.never AS SELECT nr FROM ward WHERE age = 20 AND nr < 3'; do
    statement="COPY ($query) TO STDOUT"
    [[ $query != CREATE* ]] || statement=$query
    attack "$settings; $counters \\o /dev/null
      $statement;
      \\o
      \\echo then
      $counters"
    sed '1,/^then$/d' "$work/out" >"$work/after"
    sed '/^then$/,$d' "$work/out" | grep -vE '^[0-9]+$' | diff - <(grep -vE '^[0-9]+$' "$work/after") >"$work/difference" || fail "$settings, $statement: counters tell: $(cat "$work/difference")"
  done
done

# Something absent tells as much as a value. In each age group of "mixed" there are two of four diagnoses, so that none is
# certain; but nobody may learn which two.
ask -v owner="$owner" -v attacker="$attacker" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
SET ROLE :"owner";
CREATE TABLE mixed (age int, diagnosis text, drugs text[]);
INSERT INTO mixed SELECT 20 + i % 2, 'secret-' || 1 + i % 4, CASE WHEN i % 5 > 0 THEN '{secret-a}'::text[] END FROM generate_series(1, 40) i;
SELECT disclosure.label_columns('mixed', quasi => '{age}', sensitive => '{diagnosis,drugs}'),
       disclosure.protect('mixed', 'privacy_score', at_most => 0.4, for_role => :'attacker' :unlimited);
GRANT SELECT ON mixed TO :"attacker";
SQL
prepare "
  CREATE TABLE mine.found AS SELECT x FROM (VALUES ('true'), ('secret-1'), ('secret-3')) given(x), generate_series(1, 2);
  CREATE TABLE mine.words AS SELECT 'secret-' || i AS word, i FROM generate_series(1, 4) i;
  ALTER TABLE mine.words ADD PRIMARY KEY (word);
  CREATE TABLE mine.odd AS SELECT word, CASE WHEN i % 2 = 1 THEN i END AS i FROM mine.words;
  ALTER TABLE mine.odd ADD PRIMARY KEY (word);
  CREATE DOMAIN mine.truth AS boolean; CREATE DOMAIN mine.names AS text[]"
passes 40 'COPY (SELECT age, diagnosis FROM mixed) TO STDOUT'
passes 40 "COPY (SELECT age, upper(diagnosis) FROM mixed) TO STDOUT"
passes 40 'COPY (SELECT m.age, w.i FROM mixed m LEFT JOIN mine.words w ON w.word = m.diagnosis) TO STDOUT'
odd="diagnosis IN ('secret-1', 'secret-3')"
copies by_measure "SELECT age, $odd FROM mixed" \
  "SELECT age, CASE WHEN NOT $odd THEN diagnosis END FROM mixed" \
  "SELECT age, nullif(diagnosis, CASE WHEN $odd THEN diagnosis END) FROM mixed" \
  "SELECT age, substring(diagnosis from 'secret-[13]') FROM mixed" \
  "SELECT age, d FROM (SELECT age, CASE WHEN NOT $odd THEN diagnosis END AS d FROM mixed) s" \
  "SELECT age, upper(d) FROM (SELECT age, CASE WHEN NOT $odd THEN diagnosis END AS d FROM mixed) s" \
  "SELECT age, CASE WHEN NOT $odd THEN drugs END FROM mixed" \
  "SELECT age, CASE WHEN $odd THEN '{}'::text[] ELSE ('{' || diagnosis || '}')::text[] END FROM mixed" \
  "SELECT age, CASE WHEN $odd THEN '{NULL}'::text[] ELSE ('{' || diagnosis || '}')::text[] END FROM mixed" \
  "SELECT m.age, o.i FROM mixed m LEFT JOIN mine.odd o ON o.word = m.diagnosis" \
  "SELECT m.age, upper(o.word) FROM mixed m LEFT JOIN mine.odd o ON o.word = m.diagnosis AND m.$odd" \
  "SELECT m.age, f.x FROM mixed m LEFT JOIN mine.found f ON f.x = (m.$odd)::text" \
  "SELECT m.age, f.x FROM mixed m LEFT JOIN mine.found f ON f.x = m.diagnosis" \
  "SELECT m.age FROM mixed m LEFT JOIN mine.found f ON f.x = m.diagnosis" \
  "SELECT m.age, f.x FROM mixed m LEFT JOIN mine.words w ON w.word = m.diagnosis LEFT JOIN mine.found f ON f.x = w.word" \
  "SELECT m.age, f.x FROM mixed m CROSS JOIN mine.list l LEFT JOIN mine.found f ON l.i = 1 AND f.x = m.diagnosis WHERE l.i < 3"
copies by_measure "SELECT age, ($odd)::mine.truth FROM mixed WHERE age = 21" "SELECT age, $odd FROM mixed WHERE age = 21" \
  "SELECT age, (CASE WHEN $odd THEN '{}' ELSE '{' || diagnosis || '}' END)::mine.names FROM mixed"
# Whether a row of a list is found tells as much if a known column takes part.
copies by_measure "SELECT m.age, l.i FROM mixed m LEFT JOIN mine.list l ON l.i = m.age AND m.$odd" \
  "SELECT l.i FROM mixed m LEFT JOIN mine.list l ON l.i = m.age AND m.$odd" \
  "SELECT age, CASE WHEN age > 1 AND $odd THEN 'x' END FROM mixed" \
  "SELECT m.age, CASE WHEN l.i = 1 THEN m.$odd ELSE l.i % 2 = 0 END FROM mixed m CROSS JOIN mine.list l WHERE l.i < 5" \
  "SELECT m.age, CASE WHEN l.i = 1 AND m.$odd THEN NULL ELSE m.diagnosis END FROM mixed m CROSS JOIN mine.list l WHERE l.i < 5" \
  "SELECT a.age, b.f FROM mixed a LEFT JOIN (SELECT age, 1 AS f FROM mixed WHERE $odd) b ON a.age = b.age"
