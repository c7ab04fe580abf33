#!/usr/bin/env bash
# After a long computation, a session gives its memory back to the operating system when the transaction ends.
source "$(dirname "$0")/lib.sh"

ask -c "CREATE TABLE many AS SELECT i, i % 10 AS t FROM generate_series(1, 1500000) i" \
  -c "SELECT disclosure.label_columns('many', quasi => '{i}', sensitive => '{t}')" >/dev/null
open_session
session=$(in_session 'SELECT pg_backend_pid();')
# in_memory: the megabytes that the session has, without shared memory.
in_memory() { awk '/^RssAnon/ { print int($2 / 1024) }' "/proc/$session/status"; }

in_session 'BEGIN;'
in_session "SELECT average FROM disclosure.privacy_summary('many');" >/dev/null
during=$(in_memory)
in_session 'COMMIT;'
after=$(in_memory)
# Each of the two worker threads may keep the end of its heap.
((after * 2 < during)) || fail "the session has $after MB after the transaction, and had $during MB"
close_session
