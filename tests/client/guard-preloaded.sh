#!/usr/bin/env bash
# The guard by shared_preload_libraries, in a cluster of its own: sessions that session_preload_libraries does not reach, and
# neighbours in the same server that would tell a client about a guarded query.
source "$(dirname "$0")/lib.sh"
source tools/common.sh
at_exit+=(remove_work) # its trap is in place of ours
use_postgres
source tools/cluster.sh
database=$PGDATABASE
cluster_temporary "$(extension_dir --probe)"
fresh_database "$database"
export PGDATABASE=$database
attacker=stowaway owner=captain
source "$(dirname "$0")/hostile.bash"
ask -c "ALTER DATABASE \"$PGDATABASE\" RESET session_preload_libraries" -c "ALTER ROLE $attacker REPLICATION"

# preload LIBRARIES [SESSION]: restarts the server with these.
preload() {
  ask -c "ALTER SYSTEM SET shared_preload_libraries = $1" -c "ALTER SYSTEM SET session_preload_libraries = ${2:-DEFAULT}"
  cluster_stop "$DISCLOSURE_CLUSTER"
  cluster_start "$DISCLOSURE_CLUSTER"
}
# by_replication SQL: as the attacker in a walsender. By simple queries, one at a time.
by_replication() {
  psql -qXAt -d "dbname=$PGDATABASE user=$attacker replication=database" -c '\set VERBOSITY verbose' -c "$1" >"$work/out" 2>"$work/said" || true
}

preload pg_disclosure
for role in "$attacker" "$owner" postgres; do
  got=$(psql -qXAt -c "SET ROLE $role" -c 'SELECT DISTINCT enforcement FROM disclosure.policies' 2>&1 || true)
  [[ $got == enforced ]] || fail "$role is told that the guard is $got"
done

# A walsender.
by_replication 'COPY (SELECT diagnosis FROM ward) TO STDOUT'
[[ $(wc -l <"$work/out") == 60 ]] || fail "an honest export by a walsender: $(start_of "$work/said")"
for table in locked patients; do
  by_replication "COPY $table TO STDOUT"
  nothing_left "COPY $table by a walsender"
  grep -qE "ERROR:  42501: export of public.$table refused: $words" "$work/said" || fail "COPY by a walsender: $(start_of "$work/said")"
done
for query in 'SELECT * FROM locked' 'EXPLAIN SELECT * FROM locked' 'SELECT count(*) FROM ward'; do
  by_replication "$query"
  nothing_left "$query by a walsender"
  grep -qE "ERROR:  42501: .* refused: $closes" "$work/said" || fail "$query by a walsender: $(start_of "$work/said")"
done
PGOPTIONS='-c session_preload_libraries=' attack 'COPY locked TO STDOUT'
nothing_left 'a session with other libraries'

# Parallel workers, and maintenance by a superuser.
prepare "
  CREATE FUNCTION mine.reads(i int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS \$\$ BEGIN RETURN (SELECT zip FROM public.locked WHERE nr = i); END \$\$;
  CREATE FUNCTION mine.indexed(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
    IF session_user <> '$attacker' THEN INSERT INTO mine.kept SELECT l::text FROM public.locked l; END IF; RETURN i; END \$\$;
  CREATE TABLE mine.bait (i int) WITH (autovacuum_enabled = off); CREATE INDEX ON mine.bait (mine.indexed(i)); INSERT INTO mine.bait VALUES (1), (2);
  CREATE MATERIALIZED VIEW mine.copied AS SELECT * FROM public.locked WITH NO DATA"
parallel="SET $(ask -c "SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')") = on"
closed "$parallel; SELECT mine.reads(i) FROM mine.numbers" 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
  SET parallel_leader_participation = off; SELECT mine.reads(i) FROM mine.numbers'
for command in 'ANALYZE mine.bait' 'REINDEX TABLE mine.bait' 'REFRESH MATERIALIZED VIEW mine.copied'; do
  psql -qX -c "$command" >/dev/null 2>&1 || true
  no_secret "$command by a superuser" 'TABLE mine.kept; TABLE mine.copied; COPY (TABLE mine.copied) TO STDOUT'
done

# auto_explain, loaded before the guard and after it, for a client that asks for LOG.
cat <<'END' | as_server_user tee -a "$DISCLOSURE_CLUSTER/data/postgresql.conf" >/dev/null
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_nested_statements = on
END
# not_explained WHAT: neither the plan of the query nor that of a measure was shown. How policies are read tells nothing.
not_explained() {
  ! grep -qE ' on (public\.)?ward|WindowAgg|Aggregate|Rows Removed|leaving' "$work/said" ||
    fail "$1: auto_explain shows $(grep -m1 -E ' on (public\.)?ward|WindowAgg|Aggregate|Rows Removed|leaving' "$work/said")"
}
for libraries in 'pg_disclosure, auto_explain' 'auto_explain, pg_disclosure' 'pg_disclosure'; do
  session=
  [[ $libraries == *,* ]] || session=auto_explain
  preload "$libraries" "$session"
  attack 'SET client_min_messages = log; SELECT i FROM mine.list WHERE i = 1'
  grep -q 'LOG:  ' "$work/said" || fail "$libraries: auto_explain is not at work"
  attack "SET client_min_messages = log; COPY (SELECT age FROM ward WHERE zip = 'secret-zip-1') TO STDOUT"
  not_explained "$libraries, an export"
  [[ $(wc -l <"$work/out") == 20 ]] || fail "$libraries: $(wc -l <"$work/out") rows"
  attack "SET client_min_messages = log; COPY (SELECT age FROM ward WHERE zip = 'secret-zip-1' AND nr < 9) TO STDOUT"
  not_explained "$libraries, a refused export"
  grep -q "refused: $words" "$work/said" || fail "$libraries: $(start_of "$work/said")"
  attack "SET client_min_messages = log; SELECT * FROM disclosure.check_export('SELECT age FROM ward WHERE nr < 9')"
  not_explained "$libraries, a dry run"
done
((failures == 0)) || die "$failures failures"
