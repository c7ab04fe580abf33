#!/usr/bin/env bash
# Export tables under several sessions: what is judged is what is there in the end, under every isolation level,
# and nobody waits for each other in a circle.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

psql -qX -v ON_ERROR_STOP=1 <<'SQL' >/dev/null
SET client_min_messages = error;
CREATE TABLE first (class int, number int);
CREATE TABLE second (class int, number int);
CREATE INDEX ON first (class);
SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block');
SELECT disclosure.protect('second', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block');
SQL

# A session that goes on: other SQL runs it there, and prints what it prints, if SQL is done.
coproc OTHER { psql -qXAt 2>&1; }
tell() { printf '%s\n\\echo done\n' "$1" >&"${OTHER[1]}"; }
answer() {
  local line
  while read -r line <&"${OTHER[0]}"; do
    [[ $line == done ]] && return
    echo "$line"
  done
}
other() {
  tell "$1"
  answer
}

# A session waits for its turn when Postgres says so.
until_waiting() {
  local i
  for ((i = 0; i < 600; i++)); do
    [[ $(psql -qXAtc "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'object'") == 0 ]] || return 0
    sleep 0.1
  done
  fail "$1: nobody waits for a turn"
}

for level in 'READ COMMITTED' 'REPEATABLE READ' 'SERIALIZABLE'; do
  psql -qX -c 'TRUNCATE first' -c 'INSERT INTO first SELECT 1, i FROM generate_series(1, 4) i'

  # Two deletions that are fine each, and not together
  other "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM first \\g /dev/null"
  psql -qX <<SQL >"$scratch/one" 2>&1 &
BEGIN ISOLATION LEVEL $level;
DELETE FROM first WHERE number = 1;
\! while [ ! -e $scratch/go ]; do sleep 0.05; done
COMMIT;
SQL
  one=$!
  while [[ $(psql -qXAtc "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND mode = 'ExclusiveLock' AND granted AND classid = 'disclosure.policy'::regclass") == 0 ]]; do
    kill -0 "$one" 2>/dev/null || fail "$level: the first deletion failed: $(cat "$scratch/one")"
    sleep 0.05
  done
  tell 'DELETE FROM first WHERE number = 2;'
  until_waiting "$level"
  touch "$scratch/go"
  wait "$one"
  got=$(answer)
  [[ $got == *"change of public.first refused"* || $got == *"could not serialize"* ]] ||
    fail "$level: the second deletion was not refused, but: $got"
  other 'ROLLBACK;' >/dev/null
  rm "$scratch/go"
  [[ $(psql -qXAtc 'SELECT count(*) FROM first') == 3 ]] || fail "$level: not three rows are left"

  # What another session has committed counts, also for a transaction that does not see it.
  other "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM first \\g /dev/null"
  psql -qX -c 'INSERT INTO first SELECT 2, i FROM generate_series(1, 3) i'
  got=$(other 'INSERT INTO first VALUES (2, 4);')
  [[ -z $got ]] || fail "$level: a row for a class that others have filled: $got"
  other 'COMMIT;'
  [[ $(psql -qXAtc 'SELECT count(*) FROM first WHERE class = 2') == 4 ]] || fail "$level: the row is not there"
done

# A policy that is changed holds for the next statement of a session that was there before.
psql -qX -c 'TRUNCATE first'
other 'INSERT INTO first SELECT 1, i FROM generate_series(1, 3) i;'
psql -qX -c "SET client_min_messages = error" \
  -c "SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 5, columns => ARRAY['class'], on_rows => 'block')" >/dev/null
got=$(other 'INSERT INTO first VALUES (1, 4);')
[[ $got == *"at least 5 is required"* ]] || fail "a policy that another session has changed does not hold: $got"
psql -qX -c "SET client_min_messages = error" -c "SELECT disclosure.unprotect('first'::regclass)" >/dev/null
got=$(other 'INSERT INTO first VALUES (1, 4);')
[[ -z $got ]] || fail "a policy that another session has taken away still holds: $got"
psql -qX -c "SET client_min_messages = error" \
  -c "SELECT disclosure.protect('first', measure => 'k_anonymity', at_least => 3, columns => ARRAY['class'], on_rows => 'block')" >/dev/null
got=$(other 'INSERT INTO first VALUES (9, 4);')
[[ $got == *"at least 3 is required"* ]] || fail "a policy that another session has made does not hold: $got"
exec {OTHER[1]}>&-

# Four sessions with fifty transactions each, on two tables in the same order: none fails, nothing unsafe is left.
psql -qX -c 'TRUNCATE first, second'
work() {
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
  work "$worker" | psql -qX >"$scratch/$worker" 2>&1 &
  workers+=($!)
done
for worker in "${workers[@]}"; do wait "$worker"; done
if grep -h 'ERROR' "$scratch"/[1-4] | grep -v 'current transaction is aborted'; then
  fail 'a session failed'
fi
for table in first second; do
  smallest=$(psql -qXAtc "SELECT min(n) >= 3 FROM (SELECT count(*) AS n FROM $table GROUP BY class) c")
  [[ $smallest == t ]] || fail "$table has classes that are too small"
done
