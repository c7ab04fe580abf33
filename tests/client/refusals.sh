#!/usr/bin/env bash
# Refusals are counted and lock a role out: whatever becomes of the transaction, in many sessions at once, on a standby,
# after a restore. Changes of the guard's own tables are in the server's log. In a cluster of its own.
source "$(dirname "$0")/lib.sh"
source tools/common.sh
at_exit+=(remove_work) # its trap is in place of ours
use_postgres
source tools/cluster.sh
database=$PGDATABASE
cluster_temporary "$(extension_dir --probe)"
fresh_database "$database"
export PGDATABASE=$database

# expect VALUE QUERY WHAT
expect() {
  local got
  got=$(ask -c "$2")
  [[ $got == "$1" ]] || die "$3: $got instead of $1"
}
# try ROLE POLICY REFUSED [SQL]: an attempt of a role. What is said is in $work/said.
try() {
  psql -qXAt -U "$1" -c '\set VERBOSITY verbose' -c "${4:-SELECT} probe_attempt($2, $3)" >"$work/out" 2>"$work/said" || true
}
locked_out() {
  grep -qF -- "42501: export of public.patients refused: role \"$1\" is locked out of policy $2 after $3 refusals" "$work/said" ||
    die "$1 is not locked out: $(cat "$work/said")"
}
free() { [[ ! -s $work/said ]] || die "$1: $(cat "$work/said")"; }

ask <<'SQL'
CREATE ROLE re_owner LOGIN;
CREATE ROLE re_bob LOGIN;
CREATE ROLE "re_O'Neil" LOGIN;
CREATE ROLE re_officer LOGIN;
GRANT EXECUTE ON FUNCTION disclosure.administer_policies() TO re_officer;
GRANT CREATE ON SCHEMA public TO re_owner;
CREATE FUNCTION probe_attempt(policy int, refused boolean) RETURNS void
  LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS '$libdir/pg_disclosure', 'probe_attempt_wrapper';
SET client_min_messages = error;
SET ROLE re_owner;
CREATE TABLE patients AS SELECT x AS age FROM generate_series(1, 3) x;
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 2, max_refusals => 3) \g /dev/null
SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5, max_refusals => 1000) \g /dev/null
SQL

# Only refusals count. They survive a rollback, and count in a read-only transaction.
try re_bob 1 false
free 'an attempt that is allowed'
try re_bob 1 true 'BEGIN; SELECT'
free 'the first refusal'
try re_bob 1 true 'BEGIN READ ONLY; SELECT'
free 'the second refusal'
try re_bob 1 false
free 'before the third refusal'
try re_bob 1 true
try re_bob 1 false
locked_out re_bob 1 3
grep -qF "HINT:  Ask the owner of the relation, who can run SELECT disclosure.unlock(1, 're_bob')." "$work/said" || die 'no hint'
try re_bob 1 true 'SET ROLE re_bob; SELECT'
locked_out re_bob 1 3
# Of this policy, not of others; this role, not others.
try re_bob 2 false
free 'another policy'
try "re_O'Neil" 1 true
free 'another role'
# The session role counts, so SET ROLE does not help.
ask -c 'GRANT "re_O'"'"'Neil" TO re_bob'
try re_bob 1 false "SET ROLE \"re_O'Neil\"; SELECT"
locked_out re_bob 1 3

# Who sees it, and who ends it.
expect '1|patients|re_bob|3|t|t
1|patients|"re_O'"'"'Neil"|1|f|f' "SET ROLE re_owner;
  SELECT policy, relation, session_role, refusals, locked, locked_at IS NOT NULL FROM disclosure.refusals ORDER BY 4 DESC" 'refusals'
expect 2 'SET ROLE re_officer; SELECT count(*) FROM disclosure.refusals' 'what the officer sees'
expect 0 'SET ROLE re_bob; SELECT count(*) FROM disclosure.refusals' 'what bob sees'
got=$(ask -U re_bob -c "SELECT disclosure.unlock(1, 're_bob')" 2>&1 || true)
[[ $got == *'must be owner of relation public.patients'* ]] || die "bob unlocks himself: $got"
got=$(ask -U re_owner -c "SELECT disclosure.unlock(1, 'nobody')" 2>&1 || true)
[[ $got == *'role_name: role "nobody" does not exist'* ]] || die "an unknown role: $got"
got=$(ask -U re_owner -c "SELECT disclosure.unlock(7, 're_bob')" 2>&1 || true)
[[ $got == *'policy: policy 7 does not exist'* ]] || die "an unknown policy: $got"
ask -U re_owner -c "BEGIN; SELECT disclosure.unlock(1, 're_bob'); ROLLBACK" >/dev/null 2>&1
try re_bob 1 false
locked_out re_bob 1 3
[[ $(ask -U re_owner -c "SELECT disclosure.unlock(1, 're_bob')" 2>"$work/said") == 3 ]] || die 'unlock does not count'
grep -qF 'NOTICE:  pg_disclosure is not preloaded: COPY TO is not guarded though there are policies' "$work/said" ||
  die "no reminder: $(cat "$work/said")"
try re_bob 1 false
free 'after unlock'
expect 're_owner|unlock|1|changed|re_bob' \
  "SELECT session_role, kind, policy, outcome, counted FROM disclosure.export_log WHERE kind = 'unlock'" 'the log of unlock'

# Refusals of more than 24 hours ago do not count; a lock does.
ask -c "INSERT INTO disclosure_internal.refusal SELECT 1, 're_bob', now() - interval '25 hours', false FROM generate_series(1, 5)"
try re_bob 1 true
try re_bob 1 true
free 'old refusals'
try re_bob 1 true
try re_bob 1 true
locked_out re_bob 1 3
ask -c "UPDATE disclosure_internal.refusal SET at = at - interval '3 days'"
try re_bob 1 true
locked_out re_bob 1 3

# Many sessions of one role at once take turns, so that none of them sneaks through.
ask -U re_owner -c "SELECT disclosure.unlock(1, 're_bob')" >/dev/null 2>&1
hurry() { for _ in 1 2 3 4 5; do psql -qXAt -U re_bob -c 'SELECT probe_attempt(1, true)' 2>/dev/null || true; done; }
workers=()
for _ in 1 2 3 4; do
  hurry >/dev/null &
  workers+=("$!")
done
for worker in "${workers[@]}"; do wait "$worker"; done
expect '3|1' 'SELECT count(*) FILTER (WHERE NOT locked), count(*) FILTER (WHERE locked) FROM disclosure_internal.refusal
  WHERE policy = 1 AND session_role::regrole = '"'re_bob'::regrole" 'refusals of sessions in a hurry'

# The turn ends with the attempt, not with the transaction.
open_session -U re_bob
in_session 'BEGIN; SELECT probe_attempt(2, true);' >/dev/null
ask -U re_bob -c "SET lock_timeout = '10s'; SELECT probe_attempt(2, true)" >/dev/null
close_session

# During a parallel query nothing can be counted, so nothing leaves.
got=$(PGOPTIONS='-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0' \
  ask -c 'SELECT count(*) FROM patients WHERE probe_attempt(2, false) IS NOT NULL' 2>&1 || true)
[[ $got == *'export of public.patients refused: it cannot be logged during a parallel query'* ]] || die "parallel: $got"

# said TEXT: it is in the server's log. Nobody can do something about that by SQL.
said() { as_server_user grep -qF -- "$1" "$DISCLOSURE_CLUSTER/log" || die "the server's log does not say: $1"; }
said 'LOG:  disclosure: UPDATE of disclosure_internal.refusal'
ask <<'SQL'
BEGIN;
DELETE FROM disclosure_internal.export_attempt;
TRUNCATE disclosure_internal.refusal;
UPDATE disclosure_internal.policy SET at_least = 1 WHERE policy = 1;
DELETE FROM disclosure_internal.policy;
TRUNCATE disclosure_internal.policy;
ROLLBACK;
SQL
said 'LOG:  disclosure: DELETE of disclosure_internal.export_attempt'
said 'LOG:  disclosure: TRUNCATE of disclosure_internal.refusal'
said 'LOG:  disclosure: UPDATE of disclosure_internal.policy'
said 'LOG:  disclosure: DELETE of disclosure_internal.policy'
said 'LOG:  disclosure: TRUNCATE of disclosure_internal.policy'
said 'DETAIL:  session role postgres, role postgres'

# A lock survives a restore. So do policies of a version that had fewer settings.
dump=$(pg_dump)
ask -d postgres -c 'CREATE DATABASE restored TEMPLATE template0'
PGDATABASE=restored
ask <<<"$dump" >/dev/null 2>&1
try re_bob 1 false
locked_out re_bob 1 3
got=$(ask -c "SELECT disclosure.label_column('patients', 'age', 'quasi')" 2>&1)
[[ $got == *'NOTICE:  pg_disclosure is not preloaded: COPY TO is not guarded though there are policies'* ]] ||
  die "no reminder after a restore without -C: $got"
ask <<'SQL'
COPY disclosure_internal.policy (policy, relation, relation_name, measure, measure_owner, statistic, threshold, at_most, at_least,
  columns, attnums, for_role, on_rows, only_by_copy, made_by, made_at) FROM STDIN;
7	patients	public.patients	k_anonymity	\N	\N	\N	\N	4.5	\N	\N	\N	\N	f	re_owner	2024-01-01
\.
SQL
expect '5|0.9|20|f|f' 'SELECT min_people, min_confidence, max_refusals, details, locked FROM disclosure.policies WHERE policy = 7' \
  'a policy of an older version'

# Dropping the extension is in the server's log, too.
ask -c 'CREATE EXTENSION amcheck' -c 'DROP EXTENSION amcheck'
! as_server_user grep -qF 'LOG:  disclosure: DROP' "$DISCLOSURE_CLUSTER/log" || die 'another extension is reported'
ask -c 'DROP EXTENSION pg_disclosure CASCADE' 2>/dev/null
said 'LOG:  disclosure: DROP EXTENSION pg_disclosure begins, which removes policies, labels and the log'
PGDATABASE=$database
ask -c 'BEGIN; DROP OWNED BY postgres; ROLLBACK' 2>/dev/null || true
said 'LOG:  disclosure: DROP OWNED BY the owner of pg_disclosure begins'

# On a standby nothing can be counted.
standby=$DISCLOSURE_CLUSTER/standby
as_server_user mkdir -m 700 "$standby"
as_server_user "$PG_BINDIR/pg_basebackup" --host="$PGHOST" --username=postgres --pgdata="$standby/data" \
  --checkpoint=fast --write-recovery-conf
end_standby() { cluster_stop "$standby" immediate; }
at_exit+=(end_standby)
as_server_user "$PG_BINDIR/pg_ctl" start --silent --wait --pgdata="$standby/data" --log="$standby/log" \
  -o "-k '$standby'" -p "$DISCLOSURE_CLUSTER/root$PG_BINDIR/postgres"
PGHOST=$standby
try re_bob 2 false
grep -qF '42501: export of public.patients refused: it cannot be logged on a standby' "$work/said" ||
  die "on a standby: $(cat "$work/said")"

# enforced LEVEL SETTING…: what every role sees with these settings of the server.
PGHOST=$DISCLOSURE_CLUSTER
enforced() {
  ask -c "SET ROLE $2; SELECT DISTINCT enforcement FROM disclosure.policies" >"$work/out"
  [[ $(cat "$work/out") == "$1" ]] || die "enforcement for $2: $(cat "$work/out") instead of $1"
}
enforced off re_bob
ask -c "ALTER ROLE re_bob SET session_preload_libraries = 'pg_disclosure'"
enforced off re_bob
ask -c "ALTER ROLE re_bob RESET session_preload_libraries"
ask -c "ALTER DATABASE \"$PGDATABASE\" SET session_preload_libraries = 'pg_disclosure'"
enforced advisory re_bob
enforced advisory postgres
ask -c "ALTER ROLE ALL SET session_preload_libraries = 'pg_disclosure'" \
  -c "ALTER DATABASE \"$PGDATABASE\" SET session_preload_libraries = 'auto_explain'"
enforced off re_bob
ask -c "ALTER DATABASE \"$PGDATABASE\" RESET session_preload_libraries"
enforced advisory re_bob
ask -c 'ALTER ROLE ALL RESET session_preload_libraries' -c 'ALTER SYSTEM SET session_preload_libraries = auto_explain, pg_disclosure' \
  -c 'SELECT pg_reload_conf()' >/dev/null
enforced advisory re_bob
ask -c 'ALTER SYSTEM RESET session_preload_libraries' -c "ALTER SYSTEM SET shared_preload_libraries = 'pg_disclosure'"
cluster_stop "$DISCLOSURE_CLUSTER" fast
cluster_start "$DISCLOSURE_CLUSTER"
enforced enforced re_bob
enforced enforced re_owner
