#!/usr/bin/env bash
# What else a hostile role could hear of a guarded query or break with one: locks, counters, temporary files, failed dry runs, queries that
# explode. And what a neighbour notices of an export that reads nothing protected: nothing.
source "$(dirname "$0")/lib.sh"
attacker=eavesdropper owner=archive
source "$(dirname "$0")/hostile.bash"

ask -v attacker="$attacker" -v owner="$owner" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
SET ROLE :"owner";
CREATE INDEX ON locked (zip);
CREATE FUNCTION band(age int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN age / 2; END $$;
CREATE VIEW banded AS SELECT band(age) AS band, diagnosis FROM ward;
CREATE TABLE long (id int, nr int, zip text);
INSERT INTO long SELECT i, i, 'secret-zip-' || i FROM generate_series(1, 20000) i;
SELECT disclosure.label_column('long', 'id', 'identifier'), disclosure.label_column('long', 'nr', 'quasi'), disclosure.label_column('long', 'zip', 'quasi'),
       disclosure.protect('long', 'k_anonymity', at_least => 5, for_role => :'attacker' :unlimited);
GRANT SELECT ON banded, long TO :"attacker";
GRANT EXECUTE ON FUNCTION band(int) TO :"attacker";
SQL

# pg_locks shows the rows that a serializable transaction has found by an index.
by_shape 'BEGIN ISOLATION LEVEL SERIALIZABLE; COPY (SELECT diagnosis FROM ward) TO STDOUT'
attack "SET enable_seqscan = off; SET enable_bitmapscan = off; BEGIN ISOLATION LEVEL SERIALIZABLE; SAVEPOINT s;
  COPY (SELECT age FROM locked WHERE zip = 'secret-zip-7') TO STDOUT; ROLLBACK TO s;
  SELECT relation::regclass, page, tuple FROM pg_locks WHERE mode = 'SIReadLock' AND relation::regclass::text LIKE 'locked%'"
nothing_left 'predicate locks'
attack "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM disclosure.check_export('SELECT diagnosis FROM ward')"
grep -q 'a serializable transaction is not allowed' "$work/said" || fail "a serializable dry run: $(start_of "$work/said")"
passes 60 'BEGIN ISOLATION LEVEL REPEATABLE READ; COPY (SELECT diagnosis FROM ward) TO STDOUT'

# The size of temporary files tells the number of rows. The session hears messages again afterwards.
ask -v database="$PGDATABASE" <<<'ALTER DATABASE :"database" SET log_temp_files = 0; ALTER DATABASE :"database" SET track_functions = '"'all'"
spills="SET work_mem = '64kB'; SET client_min_messages = log;"
by_measure "$spills COPY (SELECT nr, zip FROM long) TO STDOUT" "$spills COPY (SELECT nr, zip FROM long WHERE nr > 10000 ORDER BY zip) TO STDOUT" \
  "$spills COPY (SELECT a.nr, b.zip FROM long a JOIN mine.numbers n ON n.i = a.nr JOIN long b ON b.nr = a.nr) TO STDOUT" \
  "$spills CREATE TABLE mine.got AS SELECT nr, zip FROM long"
stopped "$spills DO \$\$ BEGIN CREATE TABLE mine.got AS SELECT nr, zip FROM public.long; END \$\$"
# shown WHAT SQL: SQL is hostile, and the session still hears messages afterwards, with the level that it has set.
shown() {
  attack "$2; SHOW client_min_messages; DO \$\$ BEGIN RAISE LOG 'heard'; END \$\$"
  [[ $(tail -n 1 "$work/out") == log ]] || fail "$1: client_min_messages is $(tail -n 1 "$work/out")"
  grep -q 'LOG:  00000: heard' "$work/said" || fail "$1: the session hears nothing afterwards"
  ! grep -q 'temporary file' "$work/said" || fail "$1: $(grep -m1 'temporary file' "$work/said")"
}
shown 'a refusal' "$spills COPY (SELECT nr, zip FROM long) TO STDOUT"
shown 'a refusal in a subtransaction' "$spills BEGIN; SAVEPOINT s; COPY (SELECT nr, zip FROM long) TO STDOUT; ROLLBACK TO s; COMMIT"
shown 'a refusal after SET in the same transaction' "SET client_min_messages = log; BEGIN; SET LOCAL client_min_messages = debug1; SET work_mem = '64kB'; COPY (SELECT nr, zip FROM long) TO STDOUT; ROLLBACK"
shown 'a refusal in an exception block' "$spills DO \$\$ BEGIN CREATE TABLE mine.got AS SELECT nr, zip FROM public.long; EXCEPTION WHEN insufficient_privilege THEN NULL; END \$\$"
shown 'a timeout' "$spills SET statement_timeout = '50ms'; COPY (SELECT a.nr, b.zip FROM long a, long b) TO STDOUT; SET statement_timeout = 0"

# Calls of functions are not counted, either.
by_measure "COPY (SELECT band FROM banded WHERE diagnosis = 'secret-diagnosis-1') TO STDOUT"
attack "SELECT pg_stat_force_next_flush(); SELECT calls FROM pg_stat_user_functions WHERE funcname = 'band'"
[[ -z $(tr -d '\n' <"$work/out") ]] || fail "calls of a function were counted: $(start_of "$work/out")"

# A dry run that fails says no more than one that is refused, and leaves nothing behind.
for query in 'SELECT nr, zip FROM long' 'SELECT nr / (nr - 19999), zip FROM long' 'SELECT a.nr / (a.nr - 19999), b.zip FROM long a JOIN long b ON b.nr = a.nr ORDER BY 2'; do
  attack "$spills BEGIN; SELECT verdict FROM disclosure.check_export('$query'); SELECT verdict FROM disclosure.check_export('$query'); COMMIT"
  [[ ! -s $work/said && $(sort -u "$work/out") == unsafe && $(wc -l <"$work/out") == 2 ]] || fail "check_export('$query'): $(start_of "$work/out") $(start_of "$work/said")"
done
prepare "CREATE FUNCTION mine.writes() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO mine.kept VALUES (1); SELECT 1'"
attack "SELECT * FROM disclosure.check_export('SELECT mine.writes()')"
[[ $(ask -c 'SELECT count(*) FROM mine.kept') == 0 ]] || fail 'a dry run has written something'

# Queries that explode or do not fit are refused by their form, at once.
ctes='c0 AS (SELECT age FROM ward)'
for ((i = 1; i <= 30; i++)); do ctes+=", c$i AS (SELECT age FROM c$((i - 1)) UNION ALL SELECT age FROM c$((i - 1)))"; done
by_shape "SET statement_timeout = '10s'; COPY (WITH $ctes SELECT age FROM c30) TO STDOUT"
passes 240 'COPY (WITH a AS (SELECT age FROM ward), b AS (SELECT age FROM a UNION ALL SELECT age FROM a) SELECT age FROM b UNION ALL SELECT age FROM b) TO STDOUT'
by_shape "COPY (SELECT age$(printf ', age%.0s' {1..1663}) FROM ward) TO STDOUT"

# An hooks_officer protects what belongs to users, not catalogues or the guard's own tables: everybody reads those.
ask <<<'CREATE ROLE hooks_officer LOGIN; GRANT EXECUTE ON FUNCTION disclosure.administer_policies() TO hooks_officer'
for relation in pg_catalog.pg_class information_schema.tables disclosure_internal.policy disclosure_internal.column_label disclosure.export_log; do
  attempt hooks_officer "SELECT disclosure.protect('$relation', 'k_anonymity', at_least => 2, only_by_copy => true)"
  grep -q 'relation: must not be a system catalogue' "$work/said" || fail "an hooks_officer protects $relation: $(start_of "$work/said") $(start_of "$work/out")"
done

# Errors of exports that read nothing protected are those of Postgres, with context, position and constraint.
neighbour="
  \\set VERBOSITY verbose
  CREATE TABLE mine.checked (a int CONSTRAINT positive CHECK (a > 0));
  CREATE FUNCTION mine.insert(i int) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO mine.checked VALUES (i); RETURN i; END \$\$;
  CREATE FUNCTION mine.divide(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1 / i';
  CREATE FUNCTION mine.told() RETURNS text LANGUAGE plpgsql AS \$\$ DECLARE a text; b text; c text; BEGIN CREATE TABLE mine.got AS SELECT mine.insert(-1);
    EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS a = CONSTRAINT_NAME, b = TABLE_NAME, c = PG_EXCEPTION_CONTEXT; RETURN a || b || c; END \$\$;
  COPY (SELECT mine.insert(-1)) TO STDOUT;
  COPY (SELECT nowhere FROM mine.checked) TO STDOUT;
  COPY (SELECT mine.divide(0)) TO STDOUT;
  COPY (SELECT 1 + 'x') TO STDOUT;
  CREATE TABLE mine.got AS SELECT mine.insert(-1);
  CREATE TABLE mine.got AS SELECT nowhere FROM mine.checked;
  SELECT mine.insert(-1) INTO mine.got;
  DO \$\$ BEGIN CREATE TABLE mine.got AS SELECT mine.insert(-1); END \$\$;
  SELECT mine.told();
  COPY (SELECT i, mine.divide(2 - i) FROM generate_series(1, 3) i) TO STDOUT;
  BEGIN; SAVEPOINT s; COPY (SELECT mine.insert(-1)) TO STDOUT; ROLLBACK TO s; COPY (SELECT 1) TO STDOUT; COMMIT;
  DROP FUNCTION mine.insert(int), mine.divide(int), mine.told(); DROP TABLE mine.checked"
attempt "$attacker" "$neighbour"
cat "$work/out" "$work/said" >"$work/guarded"
grep -q 'CONSTRAINT NAME:  positive' "$work/guarded" || fail "errors of an export without a constraint: $(start_of "$work/guarded")"
# The same without the library.
psql -qX -v database="$PGDATABASE" <<<'ALTER DATABASE :"database" RESET session_preload_libraries'
attempt "$attacker" "$neighbour"
cat "$work/out" "$work/said" >"$work/free"
diff "$work/free" "$work/guarded" >"$work/difference" || fail "a neighbour's errors: $(cat "$work/difference")"
