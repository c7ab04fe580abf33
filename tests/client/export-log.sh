#!/usr/bin/env bash
# The export log where no single session reaches: a crash, a standby, many writers at once, VACUUM, pg_dump. In a
# cluster of its own, which it may crash.
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

# Nothing but the entry itself sees to it that it gets to disk.
ask <<'SQL'
ALTER SYSTEM SET wal_writer_delay = '10s';
SELECT pg_reload_conf() \g /dev/null
CREATE FUNCTION log(kind text, relation regclass, outcome text, always boolean) RETURNS void
  LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS '$libdir/pg_disclosure', 'probe_log_wrapper';
CREATE TABLE patients AS SELECT x AS age FROM generate_series(1, 3) x;
CREATE EXTENSION amcheck;
CHECKPOINT;
SQL

# A crash while the transaction goes on.
coproc CRASHED { psql -qXAt 2>/dev/null; }
printf '%s\n' BEGIN\; "SELECT log('lasting', 'patients', 'refused', true);" \
  "SELECT log('fleeting', 'patients', 'refused', false);" '\echo logged' >&"${CRASHED[1]}"
while read -r line <&"${CRASHED[0]}" && [[ $line != logged ]]; do :; done
cluster_stop "$DISCLOSURE_CLUSTER" immediate
cluster_start "$DISCLOSURE_CLUSTER"
expect lasting "SELECT string_agg(kind, ',') FROM disclosure.export_log" 'after a crash'

# Many writers at once, of whom half roll back, while the log is vacuumed.
write() {
  printf "BEGIN; SELECT log('many', 'patients', 'refused', true) \\\\g /dev/null\n%s;\n" "$1" |
    awk '{ text = text $0 "\n" } END { for (i = 0; i < 250; i++) printf "%s", text }' | ask
}
writers=()
for end in COMMIT ROLLBACK COMMIT ROLLBACK; do
  write "$end" &
  writers+=("$!")
done
for _ in 1 2 3; do
  ask -c 'VACUUM (FREEZE) disclosure_internal.export_attempt'
done
for writer in "${writers[@]}"; do
  wait "$writer" || die 'a writer failed'
done
expect 1000 "SELECT count(*) FROM disclosure.export_log WHERE kind = 'many'" 'entries of many writers'

# The table is as sound as any: before, between and after vacuuming.
for command in VACUUM 'VACUUM (FREEZE, DISABLE_PAGE_SKIPPING)' 'VACUUM FULL'; do
  expect 0 "SELECT count(*) FROM verify_heapam('disclosure_internal.export_attempt')" "corruption before $command"
  ask -c "$command disclosure_internal.export_attempt"
  ask -c "BEGIN; SELECT log('after vacuum', 'patients', 'refused', true); ROLLBACK" >/dev/null
done
expect 0 "SELECT count(*) FROM verify_heapam('disclosure_internal.export_attempt')" 'corruption'
expect 0 "SELECT reltoastrelid FROM pg_class WHERE oid = 'disclosure_internal.export_attempt'::regclass" 'a place to store bytes elsewhere'
expect 1004 'SELECT count(*) FROM disclosure.export_log' 'entries in all'

# said TEXT LOG: it is in the server's log.
said() {
  as_server_user grep -qF -- "$1" "$2" || die "the server's log does not say: $1"
}
facts='DETAIL:  session role postgres, role postgres, policy 1, measure k_anonymity, limit at least 5, measured 2, rows 10'

# In the midst of a parallel query.
PGOPTIONS='-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0' \
  ask -c "SELECT count(*) FROM patients WHERE log('parallel', 'patients', 'refused', true) IS NOT NULL" >/dev/null
expect 0 "SELECT count(*) FROM disclosure.export_log WHERE kind = 'parallel'" 'entries of a parallel query'
said 'LOG:  disclosure: parallel of public.patients: refused' "$DISCLOSURE_CLUSTER/log"
said "$facts" "$DISCLOSURE_CLUSTER/log"

# On a standby, which has the entries of the primary though their transactions were rolled back.
standby=$DISCLOSURE_CLUSTER/standby
as_server_user mkdir -m 700 "$standby"
as_server_user "$PG_BINDIR/pg_basebackup" --host="$PGHOST" --username=postgres --pgdata="$standby/data" \
  --checkpoint=fast --write-recovery-conf
end_standby() { cluster_stop "$standby" immediate; }
at_exit+=(end_standby)
as_server_user "$PG_BINDIR/pg_ctl" start --silent --wait --pgdata="$standby/data" --log="$standby/log" \
  -o "-k '$standby'" -p "$DISCLOSURE_CLUSTER/root$PG_BINDIR/postgres"
ask -c "BEGIN; SELECT log('replicated', 'patients', 'refused', true); ROLLBACK" >/dev/null
position=$(ask -c 'SELECT pg_current_wal_flush_lsn()')
PGHOST=$standby
while [[ $(ask -c "SELECT pg_last_wal_replay_lsn() >= '$position'") == f ]]; do
  sleep 0.1
done
expect 1005 'SELECT count(*) FROM disclosure.export_log' 'entries on the standby'
ask -c "SELECT log('standby', 'patients', 'refused', true)" >/dev/null
expect 1005 'SELECT count(*) FROM disclosure.export_log' 'entries on the standby after another attempt'
said 'LOG:  disclosure: standby of public.patients: refused' "$standby/log"
said "$facts" "$standby/log"
PGHOST=$DISCLOSURE_CLUSTER

# Defining a policy on a standby fails as writing does.
PGHOST=$standby
got=$(ask -c "\set VERBOSITY sqlstate" -c "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 2)" 2>&1 || true)
[[ $got == *25006* ]] || die "protect() on a standby: $got"
PGHOST=$DISCLOSURE_CLUSTER

# The owner of a database can neither install the extension nor write to the log. Restored entries find their relation
# again, and say who has restored them.
ask -c 'CREATE ROLE keeper LOGIN CREATEDB' -c 'CREATE DATABASE kept OWNER keeper'
if ask -d kept -U keeper -c 'CREATE EXTENSION pg_disclosure' 2>/dev/null; then
  die "the owner of a database may install the extension"
fi
ask -d kept <<'SQL'
CREATE EXTENSION pg_disclosure;
CREATE FUNCTION log(kind text, relation regclass, outcome text, always boolean) RETURNS void
  LANGUAGE c VOLATILE STRICT AS '$libdir/pg_disclosure', 'probe_log_wrapper';
SET ROLE keeper;
CREATE SCHEMA mine;
CREATE TABLE mine.patients (age int);
CREATE TABLE mine.gone (age int);
RESET ROLE;
SELECT log('COPY TO', 'mine.patients', 'refused', true), log('COPY TO', 'mine.gone', 'refused', true) \g /dev/null
DROP TABLE mine.gone;
DROP FUNCTION log(text, regclass, text, boolean);
SQL
for command in 'INSERT INTO' 'DELETE FROM' 'TRUNCATE' 'UPDATE'; do
  rest=
  [[ $command != INSERT* ]] || rest='SELECT * FROM disclosure_internal.export_attempt'
  [[ $command != UPDATE ]] || rest='SET measured = 0'
  if ask -d kept -U keeper -c "$command disclosure_internal.export_attempt $rest" 2>/dev/null; then
    die "the owner of a database may $command"
  fi
done
if ask -d kept -U keeper -c 'DROP EXTENSION pg_disclosure' 2>/dev/null; then
  die "the owner of a database may drop the log with the extension"
fi
seen='SELECT at, session_role, kind, relation_name, outcome FROM disclosure.export_log ORDER BY at'
export PGDATABASE=kept
before=$(ask -c "$seen")
expect 0 'SELECT count(inserted_by) FROM disclosure.export_log' 'entries that the guard did not write'
dump=$(pg_dump)
ask -d postgres -c 'CREATE DATABASE restored TEMPLATE template0'
PGDATABASE=restored
superuser=$(ask -c 'SELECT current_user')
ask <<<"$dump" >/dev/null
expect "$before" "$seen" 'the restored log'
expect mine.patients "SELECT relation FROM disclosure.export_log WHERE relation_name = 'mine.patients'" \
  'the relation of a restored entry'
expect "$superuser|t" 'SELECT DISTINCT inserted_by, inserted_at > at FROM disclosure.export_log' 'who restored the entries'
# Nobody can pass an entry off as the guard's own.
ask -c "INSERT INTO disclosure_internal.export_attempt (at, session_role, role, pid, kind, relation, measure, required, outcome)
        VALUES (now(), 'bob', 'bob', 1, 'COPY TO', 'mine.patients', 'k_anonymity', 'at least 5', 'refused')"
expect 0 'SELECT count(*) FROM disclosure.export_log WHERE inserted_by IS NULL' 'entries without a stamp'
