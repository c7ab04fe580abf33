#!/usr/bin/env bash
# Export tables under several sessions: what is judged is what is there in the end, under every isolation level,
# and nobody waits for each other in a circle.
source "$(dirname "$0")/lib.sh"

psql -qX -v ON_ERROR_STOP=1 <<'SQL' >/dev/null
SET client_min_messages = error;
CREATE TABLE first (class int, number int);
CREATE TABLE second (class int, number int);
CREATE INDEX ON first (class);
SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block');
SELECT disclosure.protect('second', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block');
SQL

open_session

# A session waits for its turn when Postgres says so.
until_waiting() {
  local i
  for ((i = 0; i < 600; i++)); do
    [[ $(psql -qXAtc "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'object'") == 0 ]] || return 0
    sleep 0.1
  done
  die "$1: nobody waits for a turn"
}

for level in 'READ COMMITTED' 'REPEATABLE READ' 'SERIALIZABLE'; do
  psql -qX -c 'TRUNCATE first' -c 'INSERT INTO first SELECT 1, i FROM generate_series(1, 4) i'

  # Two deletions that are fine each, and not together
  in_session "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM first \\g /dev/null"
  psql -qX <<SQL >"$work/one" 2>&1 &
BEGIN ISOLATION LEVEL $level;
DELETE FROM first WHERE number = 1;
\! while [ ! -e $work/go ]; do sleep 0.05; done
COMMIT;
SQL
  one=$!
  while [[ $(psql -qXAtc "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND mode = 'ExclusiveLock' AND granted AND classid = 'disclosure_internal.policy'::regclass") == 0 ]]; do
    kill -0 "$one" 2>/dev/null || die "$level: the first deletion failed: $(cat "$work/one")"
    sleep 0.05
  done
  tell 'DELETE FROM first WHERE number = 2;'
  until_waiting "$level"
  touch "$work/go"
  wait "$one"
  got=$(answer)
  [[ $got == *"change of public.first refused"* || $got == *"could not serialize"* ]] ||
    die "$level: the second deletion was not refused, but: $got"
  in_session 'ROLLBACK;' >/dev/null
  rm "$work/go"
  [[ $(psql -qXAtc 'SELECT count(*) FROM first') == 3 ]] || die "$level: not three rows are left"

  # What another session has committed counts, also for a transaction that does not see it.
  in_session "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM first \\g /dev/null"
  psql -qX -c 'INSERT INTO first SELECT 2, i FROM generate_series(1, 3) i'
  got=$(in_session 'INSERT INTO first VALUES (2, 4);')
  [[ -z $got ]] || die "$level: a row for a class that others have filled: $got"
  in_session 'COMMIT;'
  [[ $(psql -qXAtc 'SELECT count(*) FROM first WHERE class = 2') == 4 ]] || die "$level: the row is not there"
done

# A policy that is changed holds for the next statement of a session that was there before.
psql -qX -c 'TRUNCATE first'
in_session 'INSERT INTO first SELECT 1, i FROM generate_series(1, 3) i;'
psql -qX -c "SET client_min_messages = error" \
  -c "SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 5, columns => ARRAY['class'], on_rows => 'block')" >/dev/null
got=$(in_session 'INSERT INTO first VALUES (1, 4);')
[[ $got == *"at least 5 is required"* ]] || die "a policy that another session has changed does not hold: $got"
psql -qX -c "SET client_min_messages = error" -c "SELECT disclosure.unprotect('first'::regclass)" >/dev/null
got=$(in_session 'INSERT INTO first VALUES (1, 4);')
[[ -z $got ]] || die "a policy that another session has taken away still holds: $got"
psql -qX -c "SET client_min_messages = error" \
  -c "SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block')" >/dev/null
got=$(in_session 'INSERT INTO first VALUES (9, 4);')
[[ $got == *"at least 3 is required"* ]] || die "a policy that another session has made does not hold: $got"
close_session

# Four sessions with fifty transactions each, on two tables in the same order: none fails, nothing unsafe is left.
psql -qX -c 'TRUNCATE first, second'
changes() {
  local i
  for ((i = 0; i < 50; i++)); do
    cat <<SQL
BEGIN;
INSERT INTO first SELECT $((i % 5)), $1 FROM generate_series(1, 4);
INSERT INTO second SELECT $((i % 7)), $1 FROM generate_series(1, 4);
COMMIT;
BEGIN;
DELETE FROM first WHERE ctid = (SELECT min(ctid) FROM first WHERE class = $((i % 5)));
DELETE FROM second WHERE ctid = (SELECT min(ctid) FROM second WHERE class = $((i % 7)));
COMMIT;
SQL
  done
}
workers=()
for worker in 1 2 3 4; do
  changes "$worker" | psql -qX >"$work/$worker" 2>&1 &
  workers+=($!)
done
for worker in "${workers[@]}"; do wait "$worker"; done
if grep -h 'ERROR' "$work"/[1-4] | grep -v 'current transaction is aborted'; then
  die 'a session failed'
fi
for table in first second; do
  smallest=$(psql -qXAtc "SELECT min(n) >= 3 FROM (SELECT count(*) AS n FROM $table GROUP BY class) c")
  [[ $smallest == t ]] || die "$table has classes that are too small"
done
