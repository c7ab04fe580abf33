#!/usr/bin/env bash
# A session that calls none of our functions and reads nothing that is protected notices nothing, whatever others do.
source "$(dirname "$0")/lib.sh"


ask -v database="$PGDATABASE" <<'SQL'
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
CREATE ROLE neighbour LOGIN;
CREATE TABLE big AS SELECT i AS id, i % 5 AS a FROM generate_series(1, 20000) i;
CREATE TABLE other AS SELECT 1 AS x;
ANALYZE big;
GRANT SELECT ON big, other TO neighbour;
CREATE TABLE turns (n int);
CREATE EXTENSION dblink;
-- Lets another session change something in the midst of a parallel query, then reads.
CREATE FUNCTION looks(i int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
BEGIN
  IF i = 8 THEN
    PERFORM dblink_exec(current_setting('test.connection'), current_setting('test.command'));
  END IF;
  PERFORM count(*) FROM other;
  RETURN i;
END $$;
SQL
parallel="SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
plan=$(ask -c "$parallel" -c 'EXPLAIN SELECT count(looks(id)) FROM big WHERE a = 3 AND id < 50')
[[ $plan == *Gather* ]] || fail "no parallel plan: $plan"

# meanwhile COMMAND: a parallel query goes on while somebody else runs it.
meanwhile() {
  local got
  got=$(psql -qXAt -c "$parallel" -c "SET test.connection = 'host=$PGHOST port=$PGPORT dbname=$PGDATABASE'" -c "SET test.command = \$test\$$1\$test\$" \
    -c 'SELECT count(looks(id)) FROM big WHERE a = 3 AND id < 50' 2>&1 || true)
  [[ $got == 10 ]] || fail "while somebody runs $1: $got"
}
meanwhile 'CREATE TEMP TABLE tt (x int); DROP TABLE tt;'
meanwhile 'ALTER TABLE turns ADD COLUMN m int; ALTER TABLE turns DROP COLUMN m;'
meanwhile 'VACUUM disclosure_internal.policy'
meanwhile "DO \$\$ BEGIN PERFORM disclosure.protect('turns', 'k_anonymity', at_least => 1); END \$\$"
meanwhile "DO \$\$ BEGIN PERFORM disclosure.unprotect('turns'); END \$\$"

# DDL of others makes nobody read the policies again: nothing is announced if no policy changes. Nor does a change of a table that
# somebody has protected, whose policies may be thousands. A change of policies is noticed. Whoever reads the policies while they
# are locked fails.
ask -c "SELECT disclosure.protect('turns', 'k_anonymity', at_least => 1, only_by_copy => true)" >/dev/null 2>&1
got=$(ask -v neighbour="host=$PGHOST port=$PGPORT dbname=$PGDATABASE user=neighbour options=-clock_timeout=10ms" <<'SQL'
SELECT dblink_connect('neighbour', :'neighbour') \g /dev/null
CREATE FUNCTION pg_temp.reads() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE disclosure_internal.policy;
  PERFORM * FROM public.dblink('neighbour', 'SELECT x FROM public.other') AS other(x int);
  RETURN 'no';
EXCEPTION WHEN lock_not_available THEN RETURN 'yes';
END $$;
SELECT 'at first', pg_temp.reads();
SELECT * FROM dblink('neighbour', 'SELECT x FROM public.other') AS other(x int) \g /dev/null
SELECT 'again', pg_temp.reads();
CREATE TABLE gone (x int);
ALTER TABLE gone ADD y int;
DROP TABLE gone;
SELECT 'DDL', pg_temp.reads();
GRANT SELECT ON turns TO neighbour;
REVOKE SELECT ON turns FROM neighbour;
SELECT 'a protected table', pg_temp.reads();
SELECT disclosure.unprotect('turns') \g /dev/null
SELECT 'policies', pg_temp.reads();
SQL
)
[[ $got == $'at first|yes\nagain|no\nDDL|no\na protected table|no\npolicies|yes' ]] || fail "policies are read: $got"

# Somebody who has defined a policy or a label and does not end the transaction keeps nobody else from changing tables.
ask -c 'CREATE TABLE kept (a int)' -c 'ALTER TABLE kept OWNER TO neighbour'
coproc IDLE { psql -qXAt -U neighbour 2>&1; }
idle=$IDLE_PID
printf '%s\n' '\set ON_ERROR_ROLLBACK on' 'BEGIN;' "SELECT disclosure.label_column('kept', 'a', 'quasi');" \
  "SELECT disclosure.protect('kept', 'k_anonymity', at_least => 1);" 'LOCK TABLE disclosure_internal.column_label;' '\echo held' >&"${IDLE[1]}"
while read -r line <&"${IDLE[0]}" && [[ $line != held ]]; do :; done
for statement in 'ALTER TABLE turns ADD COLUMN o int' 'DROP TABLE IF EXISTS scratch' 'ALTER TABLE turns DROP COLUMN o'; do
  ask -c "CREATE TABLE IF NOT EXISTS scratch (x int)" -c "SET lock_timeout = '1s'" -c "$statement" >"$work/said" 2>&1 || fail "$statement waits for a policy: $(grep -m 1 ERROR "$work/said")"
done
printf '%s\n' 'ROLLBACK;' '\q' >&"${IDLE[1]}"
wait "$idle" || true

# A change of a protected table, which comes while an export of another one is planned, does not stop that.
ask -c "SELECT disclosure.protect('other', 'k_anonymity', at_least => 1)" >/dev/null 2>&1
ask <<'SQL'
CREATE FUNCTION alters() RETURNS void LANGUAGE plpgsql AS $$ BEGIN GRANT SELECT ON public.kept TO PUBLIC; END $$;
CREATE FUNCTION alters(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.alters(); RETURN i; END $$;
CREATE VIEW altering AS SELECT x FROM other WHERE x = alters(1);
GRANT SELECT ON altering TO neighbour;
SQL
psql -qXAt -U neighbour >"$work/said" 2>&1 <<'SQL' || true
SET client_min_messages = error;
SELECT disclosure.protect('kept', 'k_anonymity', at_least => 1) \g /dev/null
COPY (SELECT x FROM public.altering) TO STDOUT;
SQL
[[ $(<"$work/said") == 1 ]] || fail "an export while a protected table changes: $(<"$work/said")"
[[ $(ask -c "SELECT relacl FROM pg_class WHERE oid = 'kept'::regclass") == *'=r/neighbour'* ]] || fail 'the protected table did not change'
ask -c "SELECT disclosure.unprotect('other'), disclosure.unprotect('kept')" >/dev/null
# Whoever may not read a table does not get a lock on it either.
ask -c 'CREATE TABLE above (a int)' -c 'CREATE TABLE below () INHERITS (above)'
got=$(ask -U neighbour <<'SQL'
BEGIN;
SELECT disclosure_internal.policy_problem(jsonb_populate_record(NULL::disclosure_internal.policy, jsonb_build_object('relation', 'above',
         'measure', 'k_anonymity', 'at_least', 1, 'on_rows', 'block', 'made_by', relowner::regrole)))
  FROM pg_class WHERE oid = 'above'::regclass \g /dev/null
SELECT count(*) FROM pg_locks WHERE relation IN ('above'::regclass, 'below'::regclass);
SQL
)
[[ $got == 0 ]] || fail "locks on a table that one may not read: $got"

# A row that makes no sense stops nobody but those who export that relation.
ask -c "INSERT INTO disclosure_internal.policy (relation, measure, only_by_copy, made_by, made_at)
        VALUES ('pg_am', 'k_anonymity', false, 'neighbour', now()), ('turns', 'nonsense', true, 'nobody_at_all', now())" 2>"$work/said"
grep -q 'WARNING.*policy [0-9]* of relation pg_catalog.pg_am cannot be judged' "$work/said" || fail "no warning: $(cat "$work/said")"
[[ $(ask -U neighbour -c 'SELECT count(*) FROM other') == 1 ]] || fail 'an invalid policy stops others'
[[ $(ask -c 'SELECT 1') == 1 ]] || fail 'an invalid policy stops superusers'
[[ $(ask -U neighbour -c 'COPY other TO STDOUT') == 1 ]] || fail 'an invalid policy stops other exports'
ask -U neighbour -c 'COPY (SELECT amname FROM pg_am) TO STDOUT' >"$work/said" 2>&1 || true
grep -q 'policy [0-9]* of pg_catalog.pg_am cannot be judged, so exports are refused: at_most, at_least' "$work/said" ||
  fail "an invalid policy lets rows leave: $(cat "$work/said")"
[[ $(ask -c "SELECT reason FROM disclosure.export_log WHERE relation_name = 'pg_catalog.pg_am' ORDER BY at DESC LIMIT 1") == \
  *'at_most, at_least'* ]] || fail 'the log does not say why an invalid policy refuses'
[[ $(ask -c "SELECT count(problem) FROM disclosure.policies") == 2 ]] || fail 'problems are not shown'
ask -c "SELECT disclosure.unprotect_policy(policy) FROM disclosure.policies" >/dev/null
[[ -n $(ask -U neighbour -c 'COPY (SELECT amname FROM pg_am) TO STDOUT') ]] || fail 'a removed policy still holds'

# An error that passes through our hooks is Postgres' own, even if the server was started with RUST_BACKTRACE.
said=$(psql -qX -U neighbour -c '\set VERBOSITY verbose' -c "COPY (SELECT 1 / (x - 1) FROM other) TO STDOUT" 2>&1 || true)
[[ $said == *'division by zero'* && $said != *DETAIL* ]] || fail "an error in an export: $said"
