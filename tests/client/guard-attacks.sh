#!/usr/bin/env bash
# Ways out of a guarded table, tried by a role that may read it. Two tables hold the same: patients has a policy,
# and locked has one that lets it be read by COPY TO only. @ stands for either. Every value starts with "secret".
source "$(dirname "$0")/lib.sh"

psql -qX -v ON_ERROR_STOP=1 -v database="$PGDATABASE" -v host="$PGHOST" -v port="$PGPORT" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE attacker LOGIN;
CREATE ROLE colleague;
GRANT colleague TO attacker;
CREATE ROLE outsider;
CREATE SCHEMA mine AUTHORIZATION attacker;
CREATE TABLE patients (id int PRIMARY KEY, name text, age int, zip text, diagnosis text, visits float8);
INSERT INTO patients
SELECT i, 'secret-name-' || i, 20 + i % 30, 'secret-zip-' || i, 'secret-diagnosis-' || i % 6, 1 + i * 1e-14
  FROM generate_series(1, 60) i;
CREATE TABLE locked (LIKE patients INCLUDING ALL);
INSERT INTO locked TABLE patients;
CREATE TABLE scored (LIKE patients);
INSERT INTO scored TABLE patients;
DO $$
DECLARE
  name regclass;
BEGIN
  FOREACH name IN ARRAY ARRAY['patients', 'locked', 'scored']::regclass[] LOOP
    PERFORM disclosure.label_column(name, 'id', 'ignore'), disclosure.label_column(name, 'name', 'identifier'),
            disclosure.label_column(name, 'age', 'quasi'), disclosure.label_column(name, 'zip', 'quasi'),
            disclosure.label_column(name, 'visits', 'quasi'), disclosure.label_column(name, 'diagnosis', 'sensitive');
    IF name <> 'scored'::regclass THEN
      PERFORM disclosure.protect(name, 'k_anonymity', at_least => 5, for_role => 'attacker',
                                 only_by_copy => name = 'locked'::regclass, max_refusals => 1000000);
    END IF;
  END LOOP;
END $$;
SELECT disclosure.protect('scored', 'privacy_score', at_most => 0.4, max_refusals => 1000000);
GRANT SELECT ON patients, locked, scored TO attacker, colleague, outsider;
ANALYZE patients, locked;
CREATE TABLE codes AS SELECT DISTINCT zip, 'code-' || md5(zip) AS code FROM patients;
GRANT SELECT ON codes TO attacker;
CREATE FUNCTION boss_makes(command text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
AS $$ BEGIN EXECUTE command; END $$;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host :'host', port :'port', dbname :'database');
GRANT USAGE ON FOREIGN SERVER loopback TO attacker;
GRANT EXECUTE ON FUNCTION dblink_connect_u(text) TO attacker;
CREATE USER MAPPING FOR attacker SERVER loopback OPTIONS (user 'attacker', password_required 'false');
SET ROLE attacker;
CREATE FUNCTION mine.plain_sql() RETURNS SETOF patients LANGUAGE sql STABLE AS 'SELECT * FROM patients';
CREATE FUNCTION mine.peek(i int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE
AS $$ BEGIN RETURN (SELECT p::text FROM public.patients p WHERE p.id = i); END $$;
CREATE FUNCTION mine.peek_locked(i int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE
AS $$ BEGIN RETURN (SELECT p::text FROM public.locked p WHERE p.id = i); END $$;
CREATE FUNCTION mine.peek_immutable(i int) RETURNS text LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN (SELECT p::text FROM public.patients p WHERE p.id = i); END $$;
CREATE FUNCTION mine.tell(x text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', x; RETURN 1; END $$;
CREATE FUNCTION mine.told(x text, y text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', x; RETURN true; END $$;
CREATE FUNCTION mine.fetched(c refcursor) RETURNS SETOF text LANGUAGE plpgsql
AS $$ DECLARE r record; BEGIN LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; RETURN NEXT r::text; END LOOP; END $$;
CREATE FUNCTION mine.makes(command text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; RETURN 1; END $$;
CREATE FUNCTION mine.makes_unseen(command text) RETURNS int LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN (SELECT mine.makes(command)); END $$;
CREATE FUNCTION mine.checks(x text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', x; RETURN true; END $$;
CREATE DOMAIN mine.checked AS text CHECK (mine.checks(VALUE));
CREATE OPERATOR mine.=== (FUNCTION = mine.told, LEFTARG = text, RIGHTARG = text);
CREATE TABLE mine.numbers AS SELECT i FROM generate_series(1, 60) i;
CREATE TABLE mine.rows (row text);
SQL

parallel="SET $(psql -qXAt -c "SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')") = on"
refusals() {
  psql -qXAt -c "SELECT count(*) FROM disclosure_internal.export_attempt WHERE outcome = 'refused' AND session_role = 'attacker'"
}
logged=$(refusals)

# attack SQL: as attacker; what is said is verbose, too.
attack() { attempt attacker "$1" -c '\set VERBOSITY verbose'; }
nothing_left() { # WHAT
  [[ ! -s $work/out ]] || fail "$1: $(head -c 300 "$work/out") left"
  ! grep -q secret "$work/said" || fail "$1: somebody said: $(grep -m1 secret "$work/said")"
}
# refused MESSAGE SQL: nothing leaves, it says why, and the log has it.
refused() {
  local now
  attack "$2"
  nothing_left "$2"
  grep -qE -- "$1" "$work/said" || fail "$2: expected $1, got $(cat "$work/said")"
  now=$(refusals)
  ((now > logged)) || fail "$2: not in the log"
  logged=$now
}
# unsafe SQL, by_shape SQL, hidden SQL: refused for what was measured, because it is not in the language of exports, or because
# something else than the export's own query would read the table. What was measured is for the owner alone.
unsafe() {
  refused 'export of public\.[a-z]+ refused: it does not satisfy its policies' "$1"
  ! grep -qE 'is [0-9.]+, at (least|most)|[0-9]+ rows' "$work/said" || fail "$1: it says what was measured: $(cat "$work/said")"
}
by_shape() { refused 'export of public\.[a-z]+ refused: [^:]* is not allowed in an export of a protected relation' "$1"; }
hidden() { refused 'export of public\.[a-z]+ refused: policy [0-9]+ cannot be judged for this query' "$1"; }
# closed SQL: refused because the table may be read by COPY TO only.
closed() {
  refused 'refused: (policy [0-9]+ allows reading by COPY TO only|policy [0-9]+ cannot be judged for this query)' "$1"
}
# denied MESSAGE SQL: Postgres itself refuses.
denied() {
  attack "$2"
  nothing_left "$2"
  grep -qE -- "$1" "$work/said" || fail "$2: expected $1, got $(cat "$work/said")"
}
# leaks SQL: not covered.
leaks() {
  attack "$1"
  grep -q secret "$work/out" "$work/said" || fail "$1: is covered, yet docs/guard.md says it is not: $(cat "$work/said")"
}
# only_locked SQL: not covered, unless the table may be read by COPY TO only.
only_locked() {
  leaks "${1//@/patients}"
  closed "${1//@/locked}"
}

# What COPY may send at all.
attack 'COPY (SELECT diagnosis FROM patients) TO STDOUT'
[[ $(wc -l <"$work/out") == 60 ]] || fail "a safe export was refused: $(cat "$work/said")"
attack 'COPY (SELECT diagnosis FROM locked) TO STDOUT'
[[ $(wc -l <"$work/out") == 60 ]] || fail "a safe export of locked was refused: $(cat "$work/said")"

# COPY, in every form.
unsafe 'COPY patients TO STDOUT'
unsafe 'COPY locked TO STDOUT'
unsafe 'COPY patients (zip) TO STDOUT'
unsafe 'COPY (TABLE patients) TO STDOUT'
unsafe 'COPY (SELECT * FROM patients) TO STDOUT (FORMAT csv, FORCE_QUOTE *)'
unsafe 'COPY (SELECT * FROM patients) TO STDOUT (FORMAT binary)'
unsafe '\copy patients to stdout'
unsafe 'BEGIN READ ONLY; COPY patients TO STDOUT; ROLLBACK'
by_shape 'BEGIN ISOLATION LEVEL SERIALIZABLE; COPY patients TO STDOUT; ROLLBACK'
denied 'to COPY to or from an external program' "COPY patients TO PROGRAM 'cat'"
denied 'to COPY to (or from )?a file' "COPY patients TO '/tmp/never'"

# Postgres sends the header before there are rows.
attack 'COPY patients TO STDOUT (FORMAT csv, HEADER)'
[[ $(cat "$work/out") == id,name,age,zip,diagnosis,visits ]] || fail "CSV with a header: $(head -c 300 "$work/out")"
logged=$(refusals)

# Into a table of one's own, and out of that.
got='SELECT * FROM mine.got; COPY mine.got TO STDOUT; DROP TABLE IF EXISTS mine.got;'
unsafe "CREATE TABLE mine.got AS TABLE patients; $got"
unsafe "CREATE TABLE mine.got AS SELECT zip FROM patients WITH NO DATA; CREATE TEMP TABLE got AS TABLE patients; $got"
unsafe "SELECT * INTO mine.got FROM patients; $got"
unsafe "SELECT * INTO TEMP got FROM patients; TABLE got;"
by_shape "CREATE TABLE mine.got AS WITH w AS (INSERT INTO mine.rows SELECT zip FROM patients RETURNING row) TABLE w; $got TABLE mine.rows"
hidden "PREPARE p AS TABLE patients; CREATE TABLE mine.got AS EXECUTE p; $got"
hidden "EXPLAIN (ANALYZE) CREATE TABLE mine.got AS TABLE patients; $got"
hidden "PREPARE p AS TABLE patients; EXPLAIN ANALYZE CREATE TABLE mine.got AS EXECUTE p; $got"
by_shape 'CREATE MATERIALIZED VIEW mine.kept AS TABLE patients WITH NO DATA; REFRESH MATERIALIZED VIEW mine.kept; COPY (TABLE mine.kept) TO STDOUT'
by_shape 'COPY (SELECT zip FROM mine.kept) TO STDOUT'
by_shape "CREATE TABLE mine.got AS TABLE mine.kept; $got"

# Views and functions.
unsafe 'CREATE VIEW mine.v AS TABLE patients; COPY (TABLE mine.v) TO STDOUT'
unsafe 'CREATE TEMP VIEW v AS SELECT zip AS harmless FROM mine.v; COPY (TABLE v) TO STDOUT'
hidden 'COPY (SELECT * FROM mine.plain_sql()) TO STDOUT'
by_shape 'COPY (SELECT p.diagnosis, f.zip FROM patients p, mine.plain_sql() f) TO STDOUT'
hidden 'COPY (SELECT mine.plain_sql()) TO STDOUT'
hidden 'COPY (SELECT mine.peek(1)) TO STDOUT'
hidden 'COPY (SELECT mine.peek_immutable(1)) TO STDOUT'
hidden 'COPY (SELECT mine.peek(i) FROM mine.numbers) TO STDOUT'
# A parallel worker cannot write the log, so the server's log has it.
denied 'policy [0-9]+ cannot be judged for this query' "$parallel; COPY (SELECT mine.peek(i) FROM mine.numbers) TO STDOUT"
hidden "COPY (SELECT query_to_xml('TABLE patients', true, true, '')) TO STDOUT"
hidden "COPY (SELECT table_to_xml('patients', true, true, '')) TO STDOUT"
hidden "COPY (SELECT word FROM ts_stat('SELECT to_tsvector(zip) FROM patients')) TO STDOUT"
hidden "BEGIN; DECLARE c CURSOR FOR TABLE patients; COPY (SELECT mine.fetched('c')) TO STDOUT; ROLLBACK"
unsafe "DO \$\$ BEGIN CREATE TABLE mine.got AS TABLE patients; END \$\$; $got"
unsafe "SELECT mine.makes('CREATE TABLE mine.got AS TABLE patients'); $got"
unsafe "SELECT boss_makes('CREATE TABLE mine.got AS TABLE patients'); $got"
unsafe "SELECT boss_makes('COPY patients TO PROGRAM ''cat >/dev/null''')"
hidden "COPY (SELECT mine.makes('EXPLAIN ANALYZE CREATE TABLE mine.got AS TABLE patients')) TO STDOUT; $got"
by_shape "COPY (SELECT diagnosis FROM patients WHERE mine.makes_unseen('EXPLAIN ANALYZE CREATE TABLE mine.got AS SELECT zip FROM patients') = 1) TO STDOUT; $got"
unsafe "DO \$\$ BEGIN CREATE TABLE mine.got AS TABLE patients; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; END \$\$; $got"
unsafe "BEGIN; SAVEPOINT s; COPY patients TO STDOUT; ROLLBACK TO s; COPY patients TO STDOUT; COMMIT"

# What is done to columns on the way.
for query in \
  'SELECT age + 0 FROM patients' 'SELECT round(1, age) FROM patients' 'SELECT md5(zip) FROM patients' 'SELECT (p).zip FROM patients p' \
  "SELECT CASE WHEN zip > 'x' THEN 1 ELSE age END FROM patients" 'SELECT code FROM patients JOIN codes USING (zip)' \
  'SELECT length(zip), id FROM patients WHERE id = 5' 'SELECT 1 FROM patients WHERE id = 5' \
  'SELECT zip FROM patients ORDER BY zip LIMIT 6'; do
  unsafe "COPY ($query) TO STDOUT"
done
for query in \
  'SELECT p FROM patients p' 'SELECT p::text FROM patients p' 'SELECT row_to_json(p) FROM patients p' \
  "SELECT to_jsonb(p) - 'id' FROM patients p" 'SELECT ROW(zip, age) FROM patients' 'SELECT ARRAY[zip] FROM patients' \
  'SELECT ctid FROM patients' 'SELECT code FROM codes WHERE zip IN (SELECT zip FROM patients)' \
  'SELECT c.code FROM patients p, LATERAL (SELECT code FROM codes WHERE codes.zip = p.zip) c' \
  'SELECT (SELECT code FROM codes WHERE codes.zip = p.zip) FROM patients p' \
  'SELECT x.* FROM patients p, jsonb_each_text(to_jsonb(p)) x' \
  "SELECT x.z FROM patients p, xmltable('.' PASSING xmlelement(name a, zip) COLUMNS z text PATH '.') x" \
  'SELECT zip FROM patients TABLESAMPLE SYSTEM (100)' 'SELECT diagnosis FROM patients ORDER BY zip' \
  'SELECT DISTINCT zip FROM patients' 'SELECT zip, count(*) FROM patients GROUP BY zip' \
  'SELECT row_number() OVER (ORDER BY zip) FROM patients' 'SELECT lag(zip) OVER () FROM patients' \
  "SELECT string_agg(zip, ',') FROM patients" 'SELECT ARRAY(SELECT zip FROM patients)' \
  "VALUES ((SELECT string_agg(zip, ',') FROM patients))"; do
  by_shape "COPY ($query) TO STDOUT"
done

# Many rows that are alike, of which no row is one person's.
for query in \
  'SELECT zip FROM patients CROSS JOIN mine.numbers' \
  'TABLE patients UNION ALL TABLE patients UNION ALL TABLE patients UNION ALL TABLE patients UNION ALL TABLE patients' \
  'SELECT p.diagnosis, q.zip, q.name FROM patients p, patients q' \
  'SELECT p.id, q.zip FROM patients p, patients q' \
  'WITH w AS (TABLE patients) SELECT p.id, q.zip FROM w p, w q' \
  'SELECT p.id, q.zip FROM mine.v p, mine.v q'; do
  unsafe "COPY ($query) TO STDOUT"
done
by_shape 'COPY (SELECT p.id, q.zip FROM (TABLE patients UNION ALL TABLE patients) p, (TABLE patients UNION ALL TABLE patients) q) TO STDOUT'
by_shape 'COPY (SELECT p.id, q.zip FROM patients p, patients q UNION ALL SELECT p.id, q.zip FROM patients p, patients q) TO STDOUT'
for query in \
  'SELECT zip FROM patients, generate_series(1, 9)' \
  'SELECT zip, generate_series(1, 9) FROM patients' 'SELECT unnest(array_fill(zip, ARRAY[9])) FROM patients' \
  'WITH RECURSIVE w(id, zip, n) AS (SELECT id, zip, 1 FROM patients UNION ALL SELECT p.id, w.zip, n + 1 FROM w, patients p WHERE n < 3) SELECT id, zip FROM w' \
  'SELECT p.id, l.zip FROM patients p, LATERAL (SELECT zip FROM patients q WHERE q.id > p.id) l' \
  "SELECT id, (SELECT string_agg(zip, ',') FROM patients) FROM patients" \
  'SELECT id, (SELECT zip FROM patients q WHERE q.id = 5) FROM patients p' \
  "SELECT id, EXISTS (SELECT FROM patients q WHERE q.zip = 'x') FROM patients p" \
  "SELECT id, s FROM patients, (SELECT string_agg(zip, ',') AS s FROM patients) q" \
  "SELECT q.diagnosis, string_agg(p.zip, ',') FROM patients p, patients q GROUP BY q.diagnosis" \
  "SELECT string_agg(zip, ',') OVER () FROM patients" "SELECT array_agg(p) OVER () FROM patients p" \
  'SELECT first_value(zip) OVER (ORDER BY id) FROM patients' \
  "SELECT count(*) FILTER (WHERE zip = 'x') OVER () FROM patients" \
  "SELECT s FROM (SELECT string_agg(zip, ',') OVER () AS s FROM patients) q" \
  "SELECT ('x' || repeat(' ', age))::bpchar FROM patients" \
  'SELECT to_jsonb(round(1, age)) FROM patients' "SELECT make_interval(months => age) - make_interval(days => 30 * age) FROM patients"; do
  by_shape "COPY ($query) TO STDOUT"
done
unsafe 'SET extra_float_digits = -15; COPY (SELECT id, visits FROM patients) TO STDOUT (FORMAT binary)'
unsafe 'SET extra_float_digits = -15; COPY (SELECT id, visits FROM patients, mine.numbers WHERE i < 3) TO STDOUT (FORMAT binary)'
by_shape "CREATE COLLATION mine.shifty (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false);
  COPY (SELECT translate(zip, '0123456789', '.,;:!?-_()') COLLATE mine.shifty FROM patients) TO STDOUT"

# Under privacy_score, which is about what columns tell about each other: several in one, and few rows.
for query in \
  'TABLE scored' 'SELECT zip, diagnosis FROM scored WHERE id = 5' 'SELECT zip || diagnosis FROM scored' \
  'SELECT zip, diagnosis FROM scored, mine.numbers' \
  'SELECT s.id, o.zip, o.diagnosis FROM scored s, (SELECT * FROM scored WHERE id = 5) o' \
  'SELECT s.id, o.zip || o.diagnosis FROM scored s, scored o WHERE o.id = 5'; do
  unsafe "COPY ($query) TO STDOUT"
done
for query in \
  'SELECT s FROM scored s' 'SELECT s::text FROM scored s' 'SELECT row_to_json(s) FROM scored s' \
  'SELECT ARRAY[zip, diagnosis] FROM scored' "SELECT string_agg(zip || diagnosis, ',') FROM scored" \
  "SELECT string_agg(zip || diagnosis, ',') OVER () FROM scored" 'SELECT zip, diagnosis FROM scored, generate_series(1, 9)' \
  "SELECT id, (SELECT string_agg(zip || diagnosis, ',') FROM scored) FROM scored"; do
  by_shape "COPY ($query) TO STDOUT"
done

# A code that stands for two columns at once. A row that a LEFT JOIN does not find tells its condition.
attack "CREATE TABLE mine.pairs AS SELECT 'secret-zip-' || i || 'secret-diagnosis-' || i % 6 AS pair, i AS code FROM mine.numbers;
  CREATE TABLE mine.coded AS SELECT i AS code, 'secret-zip-' || i AS word FROM mine.numbers; CREATE UNIQUE INDEX ON mine.coded (code)"
for query in \
  'SELECT code FROM @ JOIN mine.pairs ON pair = zip || diagnosis' \
  "SELECT name, i FROM @ LEFT JOIN mine.numbers ON i = 1 AND diagnosis = 'secret-diagnosis-1'" \
  "SELECT name, word FROM @ LEFT JOIN mine.coded ON code = age AND diagnosis = 'secret-diagnosis-1'" \
  "SELECT name, q.age FROM @ p LEFT JOIN (SELECT age FROM @) q ON diagnosis = 'secret-diagnosis-1'"; do
  unsafe "COPY (${query//@/scored}) TO STDOUT"
  unsafe "COPY (${query//@/patients}) TO STDOUT"
done
# A list is compared in the SELECT list, in a subquery, with a column that is ignored, or through another relation.
for query in \
  'SELECT code, zip = word, diagnosis FROM @, mine.coded' \
  'SELECT code, diagnosis FROM (SELECT code, zip = word AS same, diagnosis FROM @, mine.coded) q WHERE same' \
  'SELECT code, diagnosis FROM (SELECT code, word, zip, diagnosis FROM @, mine.coded) q WHERE zip = word' \
  'SELECT word, zip = word, diagnosis FROM @ JOIN mine.coded ON code = id' \
  "SELECT id, diagnosis FROM @ WHERE zip = 'secret-zip-' || id::text" \
  'SELECT q.diagnosis FROM @ p JOIN mine.coded ON code = p.id JOIN @ q ON q.zip = word' \
  'SELECT word, q.zip = word, q.diagnosis FROM @ p JOIN mine.coded ON code = p.id, @ q' \
  'SELECT p.zip, p.id, q.id, q.diagnosis FROM @ p, @ q' \
  'SELECT zip, NULL, id FROM @ UNION ALL SELECT NULL, diagnosis, id FROM @'; do
  unsafe "COPY (${query//@/scored}) TO STDOUT"
  unsafe "COPY (${query//@/patients}) TO STDOUT"
done
# Few WITH queries that refer to each other twice would be a query of any size.
many='WITH a0 AS (TABLE patients)'
for i in {1..30}; do many+=", a$i AS (SELECT p.zip FROM a$((i - 1)) p, a$((i - 1)) q)"; done
by_shape "COPY ($many SELECT zip FROM a30) TO STDOUT"
# A list of people of one's own, with labels and a policy.
psql -qX -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE people AS SELECT id AS person, diagnosis FROM patients;
SELECT disclosure.label_column('people', 'person', 'person'), disclosure.label_column('people', 'diagnosis', 'sensitive'),
       disclosure.protect('people', 'k_anonymity', at_least => 5, max_refusals => 1000000);
GRANT SELECT ON people TO attacker;
SQL
attack "SET client_min_messages = error; CREATE TABLE mine.people AS SELECT i AS person, 'secret-name-' || i AS name FROM mine.numbers;
  SELECT disclosure.label_column('mine.people', 'person', 'person'), disclosure.label_column('mine.people', 'name', 'ignore'),
         disclosure.protect('mine.people', 'k_anonymity', at_least => 1) \\g /dev/null"
[[ ! -s $work/said ]] || fail "$(cat "$work/said")"
by_shape 'COPY (SELECT name, diagnosis FROM people JOIN mine.people USING (person)) TO STDOUT'
by_shape 'COPY (SELECT name, diagnosis FROM people LEFT JOIN mine.people USING (person)) TO STDOUT'

# Names of one's own in the place of the guard's and of Postgres's.
attack "
  CREATE FUNCTION mine.class_size(VARIADIC text[]) RETURNS bigint LANGUAGE sql AS 'SELECT 99::bigint';
  CREATE FUNCTION mine.least(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 99::bigint';
  CREATE FUNCTION mine.always(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
  CREATE OPERATOR mine.= (FUNCTION = mine.always, LEFTARG = text, RIGHTARG = text);
  CREATE FUNCTION mine.never(bigint, float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
  CREATE OPERATOR mine.< (FUNCTION = mine.never, LEFTARG = bigint, RIGHTARG = float8);
  CREATE FUNCTION mine.most(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 99::bigint';
  CREATE AGGREGATE mine.min(bigint) (SFUNC = mine.most, STYPE = bigint, INITCOND = '99');
  CREATE TYPE mine.mood AS ENUM ('a', 'b', 'c');
  CREATE FUNCTION mine.same(mine.mood) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$SELECT 'same'\$\$;
  CREATE CAST (mine.mood AS text) WITH FUNCTION mine.same(mine.mood) AS IMPLICIT;
  CREATE TABLE mine.policy AS SELECT 1; CREATE TEMP TABLE policy AS SELECT 1"
[[ ! -s $work/said ]] || fail "$(cat "$work/said")"
for path in 'mine, pg_catalog, public' 'pg_temp, mine, pg_catalog, public'; do
  unsafe "SET search_path = $path; COPY patients TO STDOUT"
  unsafe "SET search_path = $path; COPY (SELECT p.zip FROM patients p, mine.numbers) TO STDOUT"
done
by_shape "COPY (SELECT (ARRAY['a', 'b', 'c']::mine.mood[])[age % 3 + 1] FROM patients WHERE id < 7) TO STDOUT"
unsafe "COPY (SELECT CASE age % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END::mine.mood FROM patients WHERE id < 7) TO STDOUT"
for schema in disclosure pg_catalog; do
  denied "permission denied for schema $schema" "CREATE FUNCTION $schema.export_freely(int) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
done

# Settings.
for setting in 'disclosure.max_memory = 64' "disclosure.budget = '1ms'" 'disclosure.threads = 1' "work_mem = '64kB'" \
  'row_security = off' 'default_transaction_read_only = on' 'standard_conforming_strings = off' \
  'transform_null_equals = on' "${parallel#SET }" "plan_cache_mode = 'force_generic_plan'"; do
  unsafe "SET $setting; COPY patients TO STDOUT"
done
attack "CREATE TABLE mine.much AS SELECT i FROM generate_series(1, 100000) i"
attack "SET statement_timeout = 20; COPY (SELECT p.zip FROM patients p, mine.much) TO STDOUT"
nothing_left 'statement_timeout'
# An error in the midst of judging leaves the guard as it was.
unsafe "SET statement_timeout = 20; COPY (SELECT p.zip FROM patients p, mine.much) TO STDOUT;
  RESET statement_timeout; COPY patients TO STDOUT"
unsafe 'DISCARD ALL; COPY patients TO STDOUT'
unsafe "RESET ALL; LOAD 'pg_disclosure'; COPY patients TO STDOUT"
denied 'permission denied to set parameter "session_replication_role"' 'SET session_replication_role = replica'
for role in CURRENT_USER 'CURRENT_USER IN DATABASE' ALL; do
  [[ $role != *DATABASE ]] || role+=" \"$PGDATABASE\""
  denied 'permission denied|must be superuser' "ALTER ROLE $role SET session_preload_libraries = ''"
done
denied 'must be owner of database' "ALTER DATABASE \"$PGDATABASE\" SET session_preload_libraries = ''"
PGOPTIONS='-c session_preload_libraries=' denied 'permission denied to set parameter' 'COPY patients TO STDOUT'

# Roles.
unsafe 'SET ROLE colleague; COPY patients TO STDOUT'
unsafe 'SET ROLE NONE; COPY patients TO STDOUT'
denied 'permission denied to set role' 'SET ROLE outsider'
denied 'permission denied to set session authorization' 'SET SESSION AUTHORIZATION outsider'
denied 'cannot set parameter "role" within security-definer function' "SELECT boss_makes('SET ROLE outsider')"
said=$(psql -qXAt -c 'SET ROLE attacker' -c 'COPY patients TO STDOUT' 2>&1 || true)
[[ $said == *'refused: it does not satisfy its policies'* ]] || fail "a superuser who became attacker: $said"
[[ $(psql -qXAt -c 'SET ROLE outsider' -c 'COPY patients TO STDOUT' | wc -l) == 60 ]] || fail 'a policy for others applied'

# The guard itself.
denied 'must be owner of extension' 'DROP EXTENSION pg_disclosure CASCADE'
denied 'must be owner of extension' 'ALTER EXTENSION pg_disclosure DROP TABLE disclosure_internal.policy'
denied 'must be owner of (schema|extension)' 'DROP SCHEMA disclosure CASCADE'
denied 'permission denied for table policy' 'DELETE FROM disclosure_internal.policy'
denied 'permission denied for table policy' 'UPDATE disclosure_internal.policy SET at_least = 1'
denied 'permission denied for table policy' 'TRUNCATE disclosure_internal.policy'
denied 'must be owner of table policy' 'ALTER TABLE disclosure_internal.policy DISABLE TRIGGER ALL'
denied 'must be owner of event trigger' 'ALTER EVENT TRIGGER disclosure_policies_hold DISABLE'
denied 'must be owner of relation public.patients' "SELECT disclosure.unprotect('patients'::regclass)"
denied 'must be owner of relation public.patients' "SELECT disclosure.unprotect_policy(policy) FROM disclosure.policies WHERE relation = 'patients'::regclass"
denied 'must be owner of relation public.patients' "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 1)"
denied 'permission denied for function export_freely' 'SELECT disclosure.export_freely()'
denied 'permission denied for table export_attempt' 'DELETE FROM disclosure_internal.export_attempt'
denied 'no such rows are being judged' "SELECT * FROM disclosure_internal.leaving('v0') AS leaving(c0 text)"
denied 'must be owner of (table|relation)' "SELECT disclosure.label_column('patients', 'zip', 'ignore')"
denied 'must be owner of table patients' 'CREATE TABLE mine.heir () INHERITS (patients)'

# pg_dump takes tables out by COPY, but rows for INSERT by a cursor.
dumped() { pg_dump -U attacker -t "$1" "${@:2}" >"$work/out" 2>"$work/said" || true; }
dumped patients --data-only
grep -q 'refused: it does not satisfy its policies' "$work/said" || fail "pg_dump: $(cat "$work/said")"
! grep -q secret "$work/out" || fail 'pg_dump has rows'
dumped patients --data-only --inserts
grep -q secret "$work/out" || fail 'pg_dump --inserts is covered, yet docs/guard.md says it is not'
dumped locked --data-only --inserts
grep -q 'allows reading by COPY TO only' "$work/said" || fail "pg_dump --inserts of locked: $(cat "$work/said")"
! grep -q secret "$work/out" || fail 'pg_dump --inserts of locked has rows'
logged=$(refusals)

# Not covered: whoever may SELECT sees rows, and can keep them. Closed by only_by_copy.
only_locked 'TABLE @'
only_locked 'BEGIN; DECLARE c CURSOR FOR TABLE @; FETCH 1 FROM c; ROLLBACK'
only_locked 'PREPARE p AS TABLE @; EXECUTE p'
only_locked 'DO $$ DECLARE r record; BEGIN FOR r IN TABLE @ LOOP RAISE NOTICE USING MESSAGE = r::text; END LOOP; END $$'
only_locked 'INSERT INTO mine.rows SELECT zip FROM @; COPY mine.rows TO STDOUT; TRUNCATE mine.rows'
only_locked "BEGIN; DECLARE c CURSOR WITH HOLD FOR TABLE @; COMMIT; COPY (SELECT mine.fetched('c')) TO STDOUT"
only_locked "SELECT set_config('mine.rows', string_agg(zip, ','), false) FROM @; COPY (SELECT current_setting('mine.rows')) TO STDOUT"
only_locked "SELECT lo_from_bytea(0, convert_to(string_agg(zip, ','), 'UTF8')) AS lo FROM @ \\gset
  SELECT convert_from(lo_get(:lo), 'UTF8')"
only_locked 'MERGE INTO mine.rows USING @ p ON false WHEN NOT MATCHED THEN INSERT VALUES (p.zip); TABLE mine.rows; TRUNCATE mine.rows'
only_locked 'SELECT zip FROM @ FOR UPDATE SKIP LOCKED; TABLE @'
only_locked 'CREATE TABLE mine.ruled (i int); CREATE RULE also AS ON INSERT TO mine.ruled DO ALSO SELECT zip FROM @;
  INSERT INTO mine.ruled VALUES (1); DROP TABLE mine.ruled'
leaks "$parallel; SELECT mine.peek(i) FROM mine.numbers"
closed 'SELECT mine.peek_locked(1)'
# A parallel worker cannot write the log, so the server's log has it.
denied 'policy [0-9]+ allows reading by COPY TO only' "$parallel; SELECT mine.peek_locked(i) FROM mine.numbers"
attack "
  CREATE TABLE mine.one (i int PRIMARY KEY); CREATE TABLE mine.many (i int REFERENCES mine.one ON DELETE CASCADE);
  CREATE FUNCTION mine.read_on() RETURNS trigger LANGUAGE plpgsql
  AS \$\$ BEGIN RAISE NOTICE '%', (SELECT min(zip) FROM public.locked); RETURN OLD; END \$\$;
  CREATE TRIGGER read_on BEFORE DELETE ON mine.many FOR EACH ROW EXECUTE FUNCTION mine.read_on();
  INSERT INTO mine.one VALUES (1); INSERT INTO mine.many VALUES (1)"
closed 'DELETE FROM mine.one'

# What an export does besides sending rows.
for table in patients locked; do
  for query in "INSERT INTO mine.rows SELECT zip FROM @ RETURNING 1" \
    "WITH w AS (INSERT INTO mine.rows SELECT zip FROM @) SELECT diagnosis FROM @" "SELECT mine.tell(zip) FROM @" \
    "SELECT diagnosis FROM @ WHERE zip OPERATOR(mine.===) 'x'" "SELECT diagnosis FROM @ ORDER BY mine.tell(zip)" \
    "SELECT set_config('mine.rows', max(diagnosis), false) FROM @ GROUP BY id" \
    "SELECT set_config('mine.rows', diagnosis, false) FROM @" "SELECT diagnosis FROM @ WHERE zip::mine.checked IS NOT NULL"; do
    by_shape "COPY (${query//@/$table}) TO STDOUT; TABLE mine.rows"
  done
  by_shape "SELECT * FROM disclosure.check_export('SELECT mine.tell(zip) FROM $table')"
  # Functions in a view of one's own.
  by_shape "CREATE OR REPLACE VIEW mine.keeps AS SELECT set_config('mine.kept', zip, false) AS kept, diagnosis FROM $table;
    COPY (SELECT diagnosis FROM mine.keeps WHERE kept IS NOT NULL) TO STDOUT"
done

# Not covered: another session, which only SELECTs.
only_locked "CREATE FOREIGN TABLE mine.far (zip text) SERVER loopback OPTIONS (schema_name 'public', table_name '@');
  COPY mine.far TO STDOUT; COPY (TABLE mine.far) TO STDOUT; DROP FOREIGN TABLE mine.far"
only_locked "SELECT dblink_connect_u('host=$PGHOST port=$PGPORT dbname=$PGDATABASE user=attacker') \\g /dev/null
  COPY (SELECT zip FROM dblink('SELECT zip FROM @') AS far(zip text)) TO STDOUT"
psql -qX -c 'REVOKE USAGE ON FOREIGN SERVER loopback FROM attacker'
denied 'permission denied for foreign server loopback' \
  "CREATE FOREIGN TABLE mine.far (zip text) SERVER loopback OPTIONS (schema_name 'public', table_name 'patients')"

# Messages of errors are withheld. An error is a refusal like any other.
for query in 'SELECT name::int FROM @' 'SELECT diagnosis FROM @ WHERE 1 / (age - 20) > 5' 'SELECT (name || age::text)::jsonb FROM @ WHERE id > 5'; do
  for table in patients locked; do
    unsafe "COPY (${query//@/$table}) TO STDOUT"
    ! grep -qE 'invalid input|division|CONTEXT' "$work/said" || fail "$query: $(cat "$work/said")"
    attack "SELECT verdict FROM disclosure.check_export('${query//@/$table}')"
    [[ $(cat "$work/out" "$work/said") == unsafe ]] || fail "check_export of $query: $(cat "$work/out" "$work/said")"
  done
done
for query in 'SELECT zip::regclass FROM @' 'SELECT (name || age)::json FROM @ WHERE id > 5'; do
  for table in patients locked; do
    by_shape "COPY (${query//@/$table}) TO STDOUT"
    by_shape "SELECT * FROM disclosure.check_export('${query//@/$table}')"
  done
done
denied '57014: the export was cancelled or timed out' \
  "SET statement_timeout = 20; COPY (SELECT l.diagnosis FROM locked l, mine.much) TO STDOUT"

# Not covered by any option: what Postgres itself tells.
leaks "SELECT most_common_vals FROM pg_stats WHERE tablename = 'locked'"
psql -qX -c 'REVOKE SELECT ON pg_stats FROM PUBLIC'
denied 'permission denied for view pg_stats' "SELECT most_common_vals FROM pg_stats WHERE tablename = 'locked'"
# What a condition tells: it is true for every row.
psql -qX -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
CREATE TABLE named AS SELECT name, diagnosis FROM patients;
SELECT disclosure.label_column('named', 'name', 'identifier'), disclosure.label_column('named', 'diagnosis', 'sensitive'),
       disclosure.protect('named', 'privacy_score', at_most => 0.4, for_role => 'attacker', max_refusals => 1000000);
GRANT SELECT ON named TO attacker;
SQL
unsafe "COPY (SELECT name FROM named WHERE diagnosis = 'secret-diagnosis-1') TO STDOUT"
psql -qX -c "SELECT disclosure.protect('named', 'k_anonymity', at_least => 5, for_role => 'attacker')" >/dev/null
unsafe "COPY (SELECT name FROM named WHERE diagnosis = 'secret-diagnosis-1') TO STDOUT"
# Rows leave in random order, and in none that tells a column.
by_shape 'COPY (SELECT diagnosis FROM locked ORDER BY zip) TO STDOUT'
by_shape 'COPY (SELECT diagnosis FROM (SELECT diagnosis FROM locked ORDER BY zip) q) TO STDOUT'
orders=$(for _ in {1..4}; do psql -qXAt -U attacker -c 'COPY (SELECT diagnosis FROM (SELECT diagnosis, zip FROM patients ORDER BY zip) q) TO STDOUT' | md5sum; done | sort -u | wc -l)
((orders > 1)) || fail 'rows leave in the same order each time'
psql -qX -c 'REVOKE SELECT ON locked FROM attacker, colleague' -c 'GRANT SELECT (id, diagnosis) ON locked TO attacker'
denied 'permission denied for table locked' 'COPY (SELECT diagnosis, zip FROM locked) TO STDOUT'

# Not covered: what several exports tell together, each of which is safe.
leaks 'COPY (SELECT diagnosis FROM patients WHERE id < 31) TO STDOUT; COPY (SELECT diagnosis FROM patients WHERE id < 32) TO STDOUT'
# An export of one person and an export of nobody are refused in the same words.
unsafe "COPY (SELECT 1 FROM patients WHERE id = 5 AND diagnosis LIKE '%5') TO STDOUT"
one=$(cat "$work/said")
unsafe "COPY (SELECT 1 FROM patients WHERE id = 5 AND diagnosis LIKE '%4') TO STDOUT"
[[ $(cat "$work/said") == "$one" ]] || fail "an export of nobody: $(cat "$work/said"), of one person: $one"
# Not covered: sessions without the library. The policies say so.
psql -qX -c "ALTER DATABASE \"$PGDATABASE\" RESET session_preload_libraries"
leaks 'COPY patients TO STDOUT'
[[ $(psql -qXAt -c 'SELECT DISTINCT enforcement FROM disclosure.policies') == off ]] || fail 'enforcement is wrong'
