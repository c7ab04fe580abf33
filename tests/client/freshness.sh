#!/usr/bin/env bash
# privacy_score(row, table) keeps nothing of the table: what others commit counts from the next call on, within
# a transaction that goes on as well, and what they do not commit never does.
source "$(dirname "$0")/lib.sh"

psql -qX <<'SQL'
CREATE TABLE queue (sex text, ill text);
SELECT disclosure.label_column('queue', 'sex', 'quasi'), disclosure.label_column('queue', 'ill', 'sensitive') \g /dev/null
INSERT INTO queue VALUES ('f', 'hiv'), ('m', 'flu');
SQL

open_session

score="SELECT disclosure.privacy_score(ROW('f', 'hiv'), 'queue'::regclass);"
expect() {
  local got
  got=$(in_session "$score")
  [ "$got" = "$1" ] || die "$2: scored $got instead of $1"
}

in_session 'BEGIN;'
expect 0.5 'alone with the diagnosis'
psql -qX -c "INSERT INTO queue VALUES ('f', 'flu')"
expect 0 'after another session has committed another diagnosis'
psql -qX -c "DELETE FROM queue WHERE sex = 'f' AND ill = 'flu'"
expect 0.5 'after another session has deleted it'
in_session "INSERT INTO queue VALUES ('f', 'flu');"
expect 0 'after an insert of its own'
in_session 'ROLLBACK;'
expect 0.5 'after it was rolled back'
psql -qX -c "UPDATE queue SET sex = 'f' WHERE sex = 'm'"
expect 0 'after an update'
psql -qX -c 'TRUNCATE queue'
expect 0.5 'after a truncate: the row itself is there'
psql -qX -c 'ALTER TABLE queue ADD COLUMN town text' -c "INSERT INTO queue VALUES ('f', 'flu', 'Aix')"
expect 0 'after the table got another column'
psql -qX -c "BEGIN" -c "INSERT INTO queue SELECT 'f', 'hiv' FROM generate_series(1, 10)" -c 'ROLLBACK'
expect 0 'what was rolled back elsewhere'
in_session "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 \\g /dev/null"
psql -qX -c 'DELETE FROM queue'
expect 0 'under a snapshot that is older'
in_session 'COMMIT;'
expect 0.5 'and after it'
