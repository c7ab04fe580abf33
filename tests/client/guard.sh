#!/usr/bin/env bash
# What the guard lets out and what not, where the library is preloaded. Ways around it are in guard-attacks.sh.
source "$(dirname "$0")/lib.sh"

psql -qX -v ON_ERROR_STOP=1 -v database="$PGDATABASE" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE guarded LOGIN;
CREATE ROLE guarded_group;
CREATE ROLE guarded_member LOGIN IN ROLE guarded_group;
CREATE ROLE guarded_free LOGIN;
CREATE ROLE guarded_owner LOGIN;
CREATE ROLE guarded_writer LOGIN IN ROLE guarded, pg_write_server_files, pg_execute_server_program;
GRANT guarded_free TO guarded_member;
GRANT EXECUTE ON FUNCTION disclosure.export_freely() TO guarded_free;
GRANT CREATE ON SCHEMA public TO PUBLIC;
GRANT SELECT ON disclosure_internal.export_attempt TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;

-- Ages 20…24 have six rows each, zips are unique.
CREATE TABLE patients (gone int, age int, zip text, diagnosis text, decade int GENERATED ALWAYS AS (age / 10) STORED);
ALTER TABLE patients DROP COLUMN gone;
INSERT INTO patients (age, zip, diagnosis) SELECT 20 + i % 5, 'zip' || i, 'flu' || i % 2 FROM generate_series(1, 30) i;
SELECT disclosure.label_column('patients', 'age', 'quasi'), disclosure.label_column('patients', 'zip', 'quasi'),
       disclosure.label_column('patients', 'diagnosis', 'sensitive'), disclosure.label_column('patients', 'decade', 'quasi');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, max_refusals => 1000);
SQL

role=guarded
boss() { ask -c "$1" >"$work/boss" 2>&1 || fail "$1: $(cat "$work/boss")"; }
last_of_log() {
  psql -qXAt -c "SELECT concat_ws(' ', outcome, kind, role, measured, rows, unsafe_rows)
                   FROM disclosure_internal.export_attempt ORDER BY at DESC LIMIT 1"
}
# explains TEXT SQL: the log tells the owner so.
explains() {
  local reason
  reason=$(ask -c 'SELECT reason FROM disclosure_internal.export_attempt ORDER BY at DESC LIMIT 1')
  [[ $reason == *"$1"* ]] || fail "$2: the log says $reason instead of $1"
}
# logs ENTRY SQL
logs() {
  local entry
  entry=$(last_of_log)
  [[ -z $1 || $entry == "$1"* ]] || fail "$2: the log says $entry instead of $1"
}
words='refused: it does not satisfy its policies'
# refused MESSAGE SQL [ENTRY]: MESSAGE is a part of what is said.
refused() {
  attempt "$role" "$2"
  [[ ! -s $work/out ]] || fail "$2: $(head -c 200 "$work/out") left"
  grep -qF -- "$1" "$work/said" || fail "$2: expected $1, got $(cat "$work/said")"
  logs "${3-refused}" "$2"
}
# passes SQL [ENTRY]: what it sends is what a superuser's sends, but for the order of the rows. passes_in_order SQL [ENTRY]: byte
# for byte; for rows that are all alike or that the query sorts.
passes() { sends 'sort' "$@"; }
passes_in_order() { sends 'cat' "$@"; }
sends() {
  attempt "$role" "$2"
  [[ ! -s $work/said ]] || fail "$2: $(cat "$work/said")"
  logs "${3-allowed}" "$2"
  psql -qXAt -f - <<<"$2" >"$work/superuser" 2>&1 || true
  cmp -s <("$1" "$work/out") <("$1" "$work/superuser") || fail "$2: sent something else than a superuser's: $(head -c 300 "$work/out" | tr -d '\0')"
}

# Forms of COPY.
refused "export of public.patients $words" 'COPY patients TO STDOUT' 'refused COPY TO guarded 1 30 30'
grep -qxF 'DETAIL:  Policies: 1 (k_anonymity at least 5). What counts: age (quasi), diagnosis (sensitive), zip (quasi).' "$work/said" || fail "$(cat "$work/said")"
grep -qF 'HINT:  ' "$work/said" || fail "$(cat "$work/said")"
refused "$words" 'COPY patients (zip) TO STDOUT'
passes 'COPY patients (age) TO STDOUT' 'allowed COPY TO guarded 6 30 0'
passes 'COPY patients (diagnosis, age) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)'
# In binary all rows have the same length.
attempt "$role" 'COPY patients (age, diagnosis) TO STDOUT (FORMAT binary)'
psql -qXAt -c 'COPY patients (age, diagnosis) TO STDOUT (FORMAT binary)' >"$work/superuser"
rows_of_binary() { tail -c +20 "$1" | head -c -2 | xxd -p -c 18 | sort; }
cmp -s <(rows_of_binary "$work/out") <(rows_of_binary "$work/superuser") || fail "FORMAT binary: $(cat "$work/said")"
passes "COPY patients (age) TO STDOUT (DELIMITER ';', NULL 'x', ENCODING 'LATIN1')"
passes 'COPY (SELECT decade FROM patients) TO STDOUT'
passes 'COPY (SELECT age AS x, age AS x, age AS "X ä", 1, NULL FROM patients) TO STDOUT (FORMAT csv, HEADER)'
passes 'COPY (SELECT FROM patients) TO STDOUT'
refused "$words" 'COPY (SELECT * FROM patients WHERE false) TO STDOUT' 'refused COPY TO guarded 0'
passes 'COPY (SELECT age FROM patients WHERE age = 20 LIMIT 5) TO STDOUT' 'allowed COPY TO guarded 5 5 0'
refused "$words" 'COPY (SELECT age FROM patients WHERE age = 20 LIMIT 4) TO STDOUT'
passes_in_order 'COPY (SELECT age FROM patients ORDER BY age DESC) TO STDOUT'
passes "COPY (SELECT 1) TO STDOUT" ''
refused 'column "nothing" of relation "patients" does not exist' 'COPY patients (nothing) TO STDOUT' ''
refused 'column "age" specified more than once' 'COPY patients (age, age) TO STDOUT' ''
refused 'column "decade" is a generated column' 'COPY patients (decade) TO STDOUT' ''
refused 'cannot copy from view' 'CREATE VIEW v AS SELECT 1 AS a; COPY v TO STDOUT' ''

# Into tables.
refused "$words" 'CREATE TABLE own AS TABLE patients' 'refused CREATE TABLE AS guarded 1 30 30'
refused "$words" 'SELECT zip INTO own FROM patients' 'refused CREATE TABLE AS'
attempt "$role" 'CREATE TABLE own AS SELECT age, diagnosis FROM patients; SELECT count(*), count(DISTINCT age) FROM own; DROP TABLE own'
[[ $(cat "$work/out" "$work/said") == '30|5' ]] || fail "CREATE TABLE AS: $(cat "$work/out" "$work/said")"
logs 'allowed CREATE TABLE AS guarded 6 30 0' 'CREATE TABLE AS'
attempt "$role" 'CREATE TABLE own AS TABLE patients WITH NO DATA; SELECT count(*) FROM own; DROP TABLE own'
[[ $(cat "$work/out" "$work/said") == 0 ]] || fail "WITH NO DATA: $(cat "$work/out" "$work/said")"

# As who asks: his rows, his columns.
boss "CREATE TABLE private (who name, age int, zip text);
      INSERT INTO private SELECT 'guarded', 20, 'x' FROM generate_series(1, 5);
      INSERT INTO private SELECT 'other', 30 + i, 'x' FROM generate_series(1, 5) i;
      ALTER TABLE private ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON private USING (who = session_user);
      REVOKE ALL ON private FROM PUBLIC;
      GRANT SELECT (who, age) ON private TO guarded;
      SELECT disclosure.protect('private', 'k_anonymity', at_least => 5)"
attempt "$role" 'COPY private (who, age) TO STDOUT'
[[ $(sort -u "$work/out") == $'guarded\t20' ]] || fail "row security: $(cat "$work/out" "$work/said")"
logs 'allowed COPY TO guarded 5 5 0' 'row security'
refused 'permission denied for table private' 'COPY private TO STDOUT' ''
refused 'permission denied for table private' 'COPY (SELECT zip FROM private) TO STDOUT' ''
refused 'permission denied for table private' 'COPY private (zip) TO STDOUT' ''
refused 'affected by row-level security policy' 'SET row_security = off; COPY private (age) TO STDOUT' ''

# Views, with and without a policy of their own; materialized views.
boss "CREATE VIEW ages AS SELECT age, zip FROM patients; CREATE VIEW older AS TABLE ages;
      CREATE MATERIALIZED VIEW kept AS SELECT age, zip FROM patients;
      CREATE TABLE plain AS SELECT i AS age, i AS shoe FROM generate_series(1, 10) i;
      CREATE VIEW shoes AS SELECT shoe FROM plain; SELECT disclosure.protect('shoes', 'k_anonymity', at_least => 2)"
refused 'export of public.patients refused' 'COPY (SELECT zip FROM older) TO STDOUT'
passes 'COPY (SELECT age FROM older) TO STDOUT'
refused 'export of public.patients refused' 'COPY (TABLE kept) TO STDOUT'
passes 'COPY (SELECT age FROM kept) TO STDOUT'
refused 'export of public.shoes refused' 'COPY (TABLE shoes) TO STDOUT'
passes 'COPY plain TO STDOUT' ''

# Partitions and inheritance.
boss "CREATE TABLE parts (age int, zip text) PARTITION BY RANGE (age);
      CREATE TABLE young PARTITION OF parts FOR VALUES FROM (0) TO (50);
      CREATE TABLE old PARTITION OF parts FOR VALUES FROM (50) TO (99);
      INSERT INTO parts SELECT 20 + i % 2 * 40, i FROM generate_series(1, 20) i;
      SELECT disclosure.protect('parts', 'k_anonymity', at_least => 5, columns => ARRAY['zip']);
      CREATE TABLE branch (zip text, age int) PARTITION BY RANGE (age);
      CREATE TABLE twig (age int, junk int, zip text); ALTER TABLE twig DROP COLUMN junk;
      ALTER TABLE branch ATTACH PARTITION twig FOR VALUES FROM (0) TO (99);
      INSERT INTO branch SELECT i, 20 FROM generate_series(1, 20) i;
      SELECT disclosure.protect('twig', 'k_anonymity', at_least => 5);
      CREATE TABLE parent (age int); CREATE TABLE heir (zip text) INHERITS (parent);
      INSERT INTO heir SELECT i, i FROM generate_series(1, 10) i;
      SELECT disclosure.protect('parent', 'k_anonymity', at_least => 5)"
refused 'export of public.parts refused' 'COPY young TO STDOUT'
refused 'export of public.parts refused' 'COPY (SELECT zip FROM parts) TO STDOUT'
refused 'cannot copy from partitioned table' 'COPY parts TO STDOUT' ''
passes 'COPY (SELECT age FROM parts) TO STDOUT'
passes 'COPY young (age) TO STDOUT'
refused 'export of public.twig refused' 'COPY (SELECT zip FROM branch) TO STDOUT'
refused 'export of public.twig refused' 'COPY twig TO STDOUT'
passes 'COPY (SELECT age FROM branch) TO STDOUT'
refused 'export of public.parent refused' 'COPY heir TO STDOUT'
refused 'export of public.parent refused' 'COPY (SELECT age FROM parent) TO STDOUT'
# The parent itself has no rows, and an export of nobody is refused.
refused "$words" 'COPY parent TO STDOUT' 'refused COPY TO guarded 0'
refused "$words" 'COPY (TABLE ONLY parent) TO STDOUT' 'refused COPY TO guarded 0'
boss "INSERT INTO parent SELECT 20 FROM generate_series(1, 5)"
passes 'COPY parent TO STDOUT' 'allowed COPY TO guarded 5 5 0'
passes 'COPY (TABLE ONLY parent) TO STDOUT'

# Odd names.
boss "CREATE SCHEMA \"Far Away\"; GRANT USAGE ON SCHEMA \"Far Away\" TO PUBLIC;
      CREATE TABLE \"Far Away\".\"Ödd \"\"T\" (\"select\" int, \"Größe ''\" int);
      INSERT INTO \"Far Away\".\"Ödd \"\"T\" SELECT i % 2, i FROM generate_series(1, 10) i;
      GRANT SELECT ON \"Far Away\".\"Ödd \"\"T\" TO PUBLIC;
      SELECT disclosure.protect('\"Far Away\".\"Ödd \"\"T\"', 'k_anonymity', at_least => 5)"
refused 'export of "Far Away"."Ödd ""T" refused' 'COPY "Far Away"."Ödd ""T" TO STDOUT'
passes 'COPY "Far Away"."Ödd ""T" ("select") TO STDOUT (FORMAT csv, HEADER)'
passes 'SET search_path = "Far Away"; COPY (SELECT "select" AS "a b", "select" FROM "Ödd ""T") TO STDOUT'

# All kinds of values arrive as they are.
boss "CREATE TYPE pair AS (a int, b text); CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN few AS int CHECK (VALUE < 9);
      CREATE TABLE kinds AS
      SELECT 1::int2 AS a, 1.50 AS b, 1e-300::float8 AS c, 'a\"b,;' || chr(9) || chr(10) || '\\\\' AS d, NULL::text AS e, ''::text AS f,
             '{1,NULL,3}'::int[] AS g, (1, 'x\"y')::pair AS h, ARRAY[(1, NULL)::pair] AS i, 'happy'::mood AS j, 3::few AS k,
             '{\"a\": [1, null]}'::jsonb AS l, '{\"a\" : 1}'::json AS m, xmlelement(name a, 'b') AS n, '2001-02-03'::date AS o,
             '2001-02-03 04:05:06.789+00'::timestamptz AS p, '1 month 2 days'::interval AS q, '\\\\x00ff'::bytea AS r,
             B'101' AS s, '10.0.0.1/8'::inet AS t, point(1, 2) AS u, '[1,2)'::int4range AS v, 'a:1 b'::tsvector AS w,
             md5('x')::uuid AS x, 'äöü€'::text AS y, repeat('long and toasted ', 50000) AS z, '12.34'::money AS aa,
             'x'::character(5) AS ab, 'patients'::regclass AS ac, '{[1,2],[5,6]}'::int4multirange AS ad, 'NaN'::float4 AS ae
        FROM generate_series(1, 6);
      ALTER TABLE kinds ALTER z SET STORAGE EXTERNAL;
      SELECT disclosure.protect('kinds', 'k_anonymity', at_least => 5)"
allowed='a, b, c, d, e, f, g, j, k, l, o, p, q, r, t, x, y, z, aa, ab, ae'
passes_in_order "COPY kinds ($allowed) TO STDOUT" 'allowed COPY TO guarded 6 6 0'
passes_in_order "COPY kinds ($allowed) TO STDOUT (FORMAT csv)"
passes_in_order "COPY kinds ($allowed) TO STDOUT (FORMAT binary)"
passes_in_order "COPY (SELECT $allowed, 'unknown', NULL FROM kinds) TO STDOUT"
passes_in_order 'SET extra_float_digits = -3; SET DateStyle = German; COPY kinds (c, o, p) TO STDOUT'
# Types that are not in the language of exports.
for column in 'h pair' 'i pair[]' 'm json' 'n xml' 's bit' 'u point' 'v int4range' 'w tsvector' 'ac regclass' 'ad int4multirange'; do
  refused "export of public.kinds refused: type ${column#* } is not allowed in an export of a protected relation" "COPY kinds (${column%% *}) TO STDOUT"
done
refused 'type pair is not allowed' 'COPY kinds TO STDOUT'
refused 'a whole row is not allowed' 'COPY (SELECT kinds FROM kinds) TO STDOUT'
refused 'a row is not allowed' 'COPY (SELECT ROW(1, a) FROM kinds) TO STDOUT'
refused 'function to_json(anyelement) is not allowed' 'COPY (SELECT to_json(kinds) FROM kinds) TO STDOUT'

# Parallel plans, forced; joins; data that is modified on the way out.
parallel="SET $(psql -qXAt -c "SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')") = on;
  SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;"
passes "$parallel COPY (SELECT age FROM patients) TO STDOUT"
refused "$words" "$parallel COPY (SELECT zip FROM patients) TO STDOUT"
boss "CREATE TABLE lists AS SELECT 'flu' || i AS diagnosis, 'list' AS list FROM generate_series(0, 1) i;
      CREATE TABLE written AS SELECT i % 2 AS age, i AS zip FROM generate_series(1, 12) i;
      GRANT ALL ON written TO guarded; SELECT disclosure.protect('written', 'k_anonymity', at_least => 5)"
refused "$words" 'COPY (SELECT zip, list FROM patients JOIN lists USING (diagnosis)) TO STDOUT'
for statement in 'UPDATE written SET age = age + 1 RETURNING age' 'DELETE FROM written RETURNING *' \
  'INSERT INTO written SELECT age, 1 FROM patients LIMIT 1 RETURNING age'; do
  refused 'a command other than SELECT is not allowed' "COPY ($statement) TO STDOUT"
done
refused 'a data-modifying WITH query is not allowed' 'COPY (WITH d AS (DELETE FROM written RETURNING age) TABLE d) TO STDOUT'
[[ $(psql -qXAt -c 'SELECT count(*), sum(zip), sum(age) FROM written') == '12|78|6' ]] || fail 'what was refused has changed rows'

# To files and programs.
role=guarded_writer
refused "$words" "COPY patients TO PROGRAM 'cat >&2'" 'refused COPY TO guarded_writer'
refused "$words" "COPY patients TO '$PGHOST/never'"
attempt "$role" "COPY patients (age) TO '$PGHOST/ages'; COPY patients (age) TO PROGRAM 'cat >$PGHOST/again'"
[[ ! -s $work/said ]] || fail "to a file: $(cat "$work/said")"
logs 'allowed COPY TO guarded_writer 6 30 0' 'to a program'
for file in ages again; do
  [[ $(psql -qXAt -c "SELECT count(*), string_agg(DISTINCT age, ' ' ORDER BY age) FROM string_to_table(rtrim(pg_read_file('$PGHOST/$file'), E'\\n'), E'\\n') age") == '30|20 21 22 23 24' ]] ||
    fail "file $file"
done

# Who has to keep to it.
role=guarded_free
passes 'COPY patients TO STDOUT' 'exempt COPY TO guarded_free'
[[ $(psql -qXAt -c "SELECT count(*) FROM disclosure_internal.export_attempt WHERE outcome = 'exempt' AND role = 'guarded_free'") == 1 ]] ||
  fail 'an exempt export is not in the log'
role=guarded_member
refused "$words" 'SET ROLE guarded_group; COPY patients TO STDOUT' 'refused COPY TO guarded_group'
attempt "$role" 'SET ROLE guarded_free; COPY patients TO STDOUT'
[[ $(wc -l <"$work/out") == 30 ]] || fail "SET ROLE to an exempt role: $(cat "$work/said")"
boss "REVOKE guarded_free FROM guarded_member;
      CREATE TABLE grouped AS SELECT i FROM generate_series(1, 9) i;
      SELECT disclosure.protect('grouped', 'k_anonymity', at_least => 5, for_role => 'guarded_group');
      CREATE FUNCTION as_boss() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
      AS 'BEGIN CREATE TABLE taken AS TABLE grouped; END'"
refused 'export of public.grouped refused' 'COPY grouped TO STDOUT' 'refused COPY TO guarded_member'
refused 'export of public.grouped refused' 'SELECT as_boss()' 'refused CREATE TABLE AS guarded_member'
role=guarded
passes 'COPY grouped TO STDOUT' ''

# Every measure. A function runs as the owner of the relation, and sees no more than the policy's columns.
boss "SET ROLE guarded_owner;
      CREATE TABLE measured (age int, zip text, diagnosis text, basket text[], secret text);
      INSERT INTO measured SELECT i / 5, 'z' || i / 5, 'd' || i / 5, ARRAY['x', 'y' || i % 4], 'secret' FROM generate_series(0, 19) i;
      CREATE TABLE seen (who name, query text);
      GRANT SELECT ON measured, seen TO PUBLIC;
      CREATE FUNCTION public.rows_of(query text) RETURNS int LANGUAGE plpgsql
      AS \$\$ DECLARE n int; BEGIN EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
              IF current_user <> 'guarded_owner' OR session_user <> 'guarded' AND session_user <> 'postgres' THEN
                RAISE 'run as %', current_user;
              END IF; RETURN n; END \$\$;
      CREATE FUNCTION public.curious(query text) RETURNS float8 LANGUAGE plpgsql
      AS \$\$ BEGIN PERFORM * FROM disclosure_internal.leaving('v4') AS leaving(secret text); RETURN 1; END \$\$;
      CREATE FUNCTION public.counting(query text) RETURNS float8 LANGUAGE plpgsql
      AS \$\$ BEGIN PERFORM * FROM disclosure_internal.leaving('c4') AS leaving(secret int8); RETURN 1; END \$\$;
      CREATE FUNCTION public.writing(query text) RETURNS int LANGUAGE plpgsql
      AS \$\$ BEGIN INSERT INTO public.seen VALUES (current_user, query); RETURN 1; END \$\$;
      CREATE FUNCTION public.silent(query text) RETURNS int LANGUAGE sql AS 'SELECT NULL::int';
      SELECT disclosure.label_column('measured', 'age', 'quasi'), disclosure.label_column('measured', 'zip', 'quasi'),
             disclosure.label_column('measured', 'diagnosis', 'sensitive')"
# measure NAME PASSES REFUSED REASON ARGUMENTS: exports of these columns under a policy with these arguments. Why one is refused
# is in the log, for the owner, and not in the message.
measure() {
  boss "SELECT disclosure.unprotect('measured'::regclass); SET ROLE guarded_owner; SELECT disclosure.protect('measured', '$1', $5)"
  [[ -z $2 ]] || passes "COPY measured ($2) TO STDOUT"
  refused "$words" "COPY measured ($3) TO STDOUT"
  explains "$4" "COPY measured ($3) TO STDOUT"
  ! grep -qF -- "$4" "$work/said" || fail "$1: $(cat "$work/said")"
  attempt "$role" "SELECT applies, verdict FROM disclosure.check_export('SELECT $3 FROM measured')"
  [[ $(cat "$work/out") == 't|unsafe' ]] || fail "check_export, $1: $(cat "$work/out" "$work/said")"
  [[ $(psql -qXAt -c "SELECT applies FROM disclosure.check_export('SELECT $3 FROM measured')") == f ]] ||
    fail "check_export, $1: applies to a superuser"
}
measure privacy_score age 'zip, diagnosis' 'privacy_score is 0.5, at most 0.4 is allowed' 'at_most => 0.4'
measure privacy_score age 'zip, diagnosis' 'average privacy_score is 0.5' "at_most => 0.4, statistic => 'average'"
measure privacy_score age 'zip, diagnosis' 'share of rows with a privacy_score of 0.3 or more is 1' "at_most => 0.5, statistic => 'share', threshold => 0.3"
measure k_anonymity 'age, zip' 'age, basket' 'k_anonymity is 1, at least 5 is required; 20 of 20 rows are unsafe' 'at_least => 5'
measure expected_cracks age basket 'expected_cracks is' "at_most => 0.5, columns => ARRAY['basket']"
measure public.rows_of '' age 'public.rows_of is 20, at most 19 is allowed' 'at_most => 19'
for curious in public.curious public.counting; do
  boss "SELECT disclosure.unprotect('measured'::regclass); SET ROLE guarded_owner;
        SELECT disclosure.protect('measured', '$curious', at_most => 5, columns => ARRAY['age'])"
  refused "$words" 'COPY measured TO STDOUT'
  explains 'no such rows are being judged' "$curious"
done
boss "SELECT disclosure.unprotect('measured'::regclass); SET ROLE guarded_owner; SELECT disclosure.protect('measured', 'public.silent', at_most => 5)"
refused "$words" 'COPY measured TO STDOUT'
explains 'measure public.silent returned NULL' 'COPY measured TO STDOUT'
refused "$words" 'COPY (SELECT * FROM measured WHERE false) TO STDOUT'
# The role is told what was measured if the policy says so.
boss "SELECT disclosure.unprotect('measured'::regclass); SET ROLE guarded_owner; SELECT disclosure.protect('measured', 'k_anonymity', at_least => 6, details => true)"
refused 'k_anonymity is 5, at least 6 is required; 20 of 20 rows are unsafe' 'COPY measured (age) TO STDOUT'
boss "SELECT disclosure.unprotect('measured'::regclass)"

# Reading by COPY only.
boss "CREATE TABLE locked AS TABLE patients; SELECT disclosure.label_column('locked', 'age', 'quasi');
      SELECT disclosure.protect('locked', 'k_anonymity', at_least => 5, for_role => 'guarded', only_by_copy => true)"
refused 'allows reading by COPY TO only' 'SELECT age FROM locked' 'refused SELECT guarded'
refused 'allows reading by COPY TO only' 'SELECT count(*) FROM locked'
passes 'COPY (SELECT age FROM locked) TO STDOUT'
passes 'COPY locked (age) TO STDOUT'
refused 'allows reading by COPY TO only' 'EXPLAIN (COSTS OFF) SELECT age FROM locked'
refused 'allows reading by COPY TO only' 'PREPARE p AS SELECT age FROM locked; EXECUTE p'
refused 'allows reading by COPY TO only' 'BEGIN; DECLARE c CURSOR FOR SELECT age FROM locked'
boss "CREATE TABLE visits (i int); ALTER TABLE locked ADD id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
      ALTER TABLE visits ADD FOREIGN KEY (i) REFERENCES locked; GRANT INSERT ON visits TO guarded"
attempt "$role" 'INSERT INTO visits VALUES (1)'
[[ ! -s $work/said ]] || fail "a foreign key to a table that is read by COPY only: $(cat "$work/said")"

# A change of policies counts from the next statement on, in sessions that are connected, and in transactions
# that see nothing else of it. So do DROP EXTENSION and CREATE EXTENSION.
boss "CREATE TABLE changing AS SELECT i FROM generate_series(1, 9) i"
open_session -U guarded
says() { # WHAT EXPECTED SQL
  local said
  said=$(in_session "$3")
  [[ $said == *"$2"* ]] || fail "$1: $said"
}
copy='COPY (SELECT i FROM changing) TO STDOUT;'
says 'before' 9 "$copy"
boss "SELECT disclosure.protect('changing', 'k_anonymity', at_least => 5)"
says 'after protect()' "$words" "$copy"
boss "SELECT disclosure.unprotect('changing'::regclass)"
says 'after unprotect()' 9 "$copy"
in_session "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;" >/dev/null
boss "SELECT disclosure.protect('changing', 'k_anonymity', at_least => 5)"
says 'in a transaction, after protect()' "$words" "SAVEPOINT s; $copy ROLLBACK TO s;"
boss "SELECT disclosure.unprotect('changing'::regclass)"
says 'in a transaction, after unprotect()' 9 "$copy"
in_session 'COMMIT;' >/dev/null
boss 'SET client_min_messages = warning; DROP EXTENSION pg_disclosure CASCADE'
says 'without the extension' 9 "$copy"
boss "CREATE EXTENSION pg_disclosure; SELECT disclosure.protect('changing', 'k_anonymity', at_least => 5)"
says 'with the extension again' "$words" "$copy"
close_session

# A database without the extension, where the library is preloaded nevertheless.
bare=${PGDATABASE}_bare
boss "CREATE DATABASE \"$bare\" TEMPLATE template0"
boss "ALTER DATABASE \"$bare\" SET session_preload_libraries = 'pg_disclosure'"
said=$(psql -qXAt -d "$bare" -c 'CREATE TABLE t AS SELECT 1 AS a' -c 'COPY t TO STDOUT' 2>&1)
[[ $said == 1 ]] || fail "without the extension: $said"
