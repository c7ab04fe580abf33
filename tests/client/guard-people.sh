#!/usr/bin/env bash
# Policies count people: what leaves, and what a user can see of the columns that identify them.
source "$(dirname "$0")/lib.sh"

psql -qX -v ON_ERROR_STOP=1 -v database="$PGDATABASE" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE people_clinic LOGIN;
CREATE ROLE people_user LOGIN;
GRANT CREATE ON SCHEMA public TO people_clinic, people_user;
SET ROLE people_clinic;
-- The north has three patients with ten visits each, the south one with thirty, the west thirty visits of nobody known.
CREATE TABLE visits (patient text, ward text, illness text);
INSERT INTO visits SELECT 'p' || i % 3, 'north', 'x' || i % 5 FROM generate_series(1, 30) i
         UNION ALL SELECT 'p9', 'south', 'x' || i % 5 FROM generate_series(1, 30) i
         UNION ALL SELECT NULL, 'west', 'x' || i % 5 FROM generate_series(1, 30) i;
SELECT disclosure.label_columns('visits', quasi => '{ward}', sensitive => '{illness}', person => '{patient}');
SELECT disclosure.protect('visits', 'k', at_least => 3, max_refusals => 1000),
       disclosure.protect('visits', 'l_distinct', at_least => 3, min_people => 3, max_refusals => 1000);
GRANT SELECT (ward, illness) ON visits TO people_user;
SQL

words='refused: it does not satisfy its policies'
# leaves LINES SQL; stays SQL
leaves() {
  attempt people_user "$2"
  [[ ! -s $work/said && $(wc -l <"$work/out") == "$1" ]] || fail "$2: $(wc -l <"$work/out") lines and $(cat "$work/said")"
}
stays() {
  attempt people_user "$1"
  [[ ! -s $work/out ]] || fail "$1: $(head -c 200 "$work/out") left"
  grep -qF -- "${2-$words}" "$work/said" || fail "$1: $(cat "$work/said")"
  ! grep -q 'p[0-9]' "$work/said" || fail "$1: a person is named in $(cat "$work/said")"
}
leaves 30 "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT"
leaves 31 "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT (FORMAT csv, HEADER)"
# No hidden column is sent.
! grep -q 'p[0-9]\|,.*,' "$work/out" || fail "a hidden column left: $(head -3 "$work/out")"
leaves 90 'COPY (SELECT illness FROM visits) TO STDOUT'
for ward in south west; do
  stays "COPY (SELECT ward, illness FROM visits WHERE ward = '$ward') TO STDOUT"
  stays "CREATE TABLE got AS SELECT ward, illness FROM visits WHERE ward = '$ward'"
done
stays 'COPY (SELECT ward FROM visits) TO STDOUT'
stays 'COPY visits (ward, illness) TO STDOUT'
stays 'COPY visits TO STDOUT' 'permission denied'
stays 'COPY (SELECT patient FROM visits) TO STDOUT' 'permission denied'
stays "COPY (SELECT ward FROM visits WHERE ward = 'north' UNION ALL SELECT ward FROM visits WHERE ward = 'south') TO STDOUT"
stays 'COPY (SELECT v.ward, n FROM visits v, generate_series(1, 9) n) TO STDOUT' 'is not allowed'
stays "COPY (SELECT ward FROM visits WHERE ward = 'north' LIMIT 2) TO STDOUT"
leaves 0 "CREATE TABLE got AS SELECT ward, illness FROM visits WHERE ward = 'north'"
[[ $(ask -c "SELECT count(*), string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'got'::regclass AND attnum > 0") == '2|ward illness' ]] ||
  fail 'CREATE TABLE AS made other columns'

# Labels and rows change between two exports of one session.
open_session -U people_user
in_session "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT;" >"$work/first"
ask -c "UPDATE visits SET patient = 'p1' WHERE patient = 'p2'"
in_session "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT;" >"$work/second"
ask -c "SELECT disclosure.label_column('visits', 'patient', 'identifier')" >/dev/null
in_session "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT;" >"$work/third"
ask -c "SELECT disclosure.label_column('visits', 'patient', 'person')" >/dev/null
in_session "COPY (SELECT ward, illness FROM visits WHERE ward = 'north') TO STDOUT;" >"$work/fourth"
close_session
for part in first third; do [[ $(wc -l <"$work/$part") == 30 ]] || fail "$part: $(head -3 "$work/$part")"; done
for part in second fourth; do grep -qF "$words" "$work/$part" || fail "$part: $(head -3 "$work/$part")"; done

# Policies are dumped and restored.
ask >/dev/null <<'SQL'
SET client_min_messages = error;
SET ROLE people_clinic;
CREATE TABLE kept (zip text, illness text);
SELECT disclosure.protect('kept', 't_equal', at_most => 0.5), disclosure.protect('kept', 'suda', at_most => 3, statistic => 'average'),
       disclosure.protect('kept', 'individual_risk', at_most => 0.1, statistic => 'share', threshold => 0.2),
       disclosure.protect('kept', 'share_below_5', at_most => 0.05);
SQL
policies="SELECT measure, statistic, threshold, at_most, at_least, min_people, problem FROM disclosure.policies ORDER BY 1"
ask -c "$policies" >"$work/before"
pg_dump -Fc "$PGDATABASE" >"$work/dump"
createdb "${PGDATABASE}_copy"
pg_restore -d "${PGDATABASE}_copy" "$work/dump" 2>"$work/restoring" || true
PGDATABASE=${PGDATABASE}_copy ask -c "$policies" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "restored policies: $(diff "$work/before" "$work/after")"
dropdb "${PGDATABASE}_copy"
