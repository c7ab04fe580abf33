#!/usr/bin/env bash
# What the guard costs: COPY of rows that are judged, against COPY without the guard and the same measure in plain
# SQL; and COPY where there is nothing to judge, against COPY without the library. See also export_tables.sh.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-1000000}
role=bench_guard_$$
run() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# Roles are not dropped with the database.
clean_up() {
    run -c 'SET client_min_messages = error' -c "DROP SCHEMA IF EXISTS guard_bench CASCADE" \
        -c "DROP OWNED BY $role" -c "DROP ROLE $role"
}
run -v rows="$rows" -v role="$role" <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP SCHEMA IF EXISTS guard_bench CASCADE;
CREATE SCHEMA guard_bench;
CREATE ROLE :role;
GRANT pg_write_server_files TO :role;
GRANT USAGE ON SCHEMA guard_bench TO :role;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE guard_bench.patients AS
SELECT (random() * 90)::int AS age, (10000 + (random() * 500)::int)::text AS zip, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
       random() < 0.3 AS smoker, date '2026-01-01' + (random() * 30)::int AS admitted,
       'diagnosis ' || (random() * random() * 200)::int AS diagnosis
  FROM generate_series(1, :rows) i;
CREATE TABLE guard_bench.other AS TABLE guard_bench.patients;
GRANT SELECT ON ALL TABLES IN SCHEMA guard_bench TO :role;
SELECT disclosure.label_column('guard_bench.patients', c,
                               CASE c WHEN 'diagnosis' THEN 'sensitive' ELSE 'quasi' END)
  FROM unnest(ARRAY['age', 'zip', 'sex', 'smoker', 'admitted', 'diagnosis']) c \g /dev/null
VACUUM ANALYZE guard_bench.patients, guard_bench.other;
SQL
trap clean_up EXIT

# Milliseconds of the quickest run so far, by name.
declare -A best

# quickest NAME LIBRARY SETTINGS SQL: one more run, in a new session with the library preloaded or without any.
quickest() {
    local took
    took=$(PGOPTIONS="-c session_preload_libraries=$2" run <<<"$3; "$'\n\\timing on\n'"$4;" |
        awk '$1 == "Time:" { print $2 }')
    best[$1]=$(awk -v so_far="${best[$1]-$took}" -v took="$took" 'BEGIN { print took < so_far ? took : so_far }')
}
sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }

as_role="SET ROLE $role"
copy="COPY guard_bench.patients TO '/dev/null'"

# guarded NAME MEASURE LIMIT SQL: a COPY that has to keep to a policy, which it does; the SQL measures the same.
guarded() {
    local i allowed
    best=()
    run -c "SET client_min_messages = error; SELECT disclosure.protect('guard_bench.patients', '$2', $3)" >/dev/null
    for ((i = 0; i < BENCH_RUNS; i++)); do
        quickest guarded pg_disclosure "$as_role" "$copy"
        quickest copy '' "$as_role" "$copy"
        quickest measure '' "$as_role" "$4"
    done
    allowed=$(run -c "SELECT count(*) FROM disclosure.export_log
                       WHERE role = '$role' AND measure = '$2' AND outcome = 'allowed'")
    [[ $allowed == "$BENCH_RUNS" ]] || {
        echo "only $allowed of $BENCH_RUNS exports were judged and allowed"
        exit 1
    }
    run -c "SELECT disclosure.unprotect('guard_bench.patients'::regclass)" >/dev/null
    printf -v note 'COPY %.0f, measure %.0f' "${best[copy]}" "${best[measure]}"
    bench_line "$1" - "${best[guarded]}" "$(sum "${best[copy]}" "${best[measure]}")" "$note"
}

# unjudged NAME TABLE: what having the library costs where no policy is met.
unjudged() {
    local i copy="COPY guard_bench.$2 TO '/dev/null'"
    best=()
    for ((i = 0; i < BENCH_RUNS; i++)); do
        quickest with pg_disclosure "$as_role" "$copy"
        quickest without '' "$as_role" "$copy"
    done
    bench_line "$1" 1.05 "${best[with]}" "${best[without]}"
}

echo "$rows rows of six columns"
bench_header
unjudged 'COPY with the library, no policies; without the library' patients
guarded 'COPY judged by k_anonymity; COPY and k_anonymity' k_anonymity 'at_least => 1' \
    'SELECT disclosure.k_anonymity(age, zip, sex, smoker, admitted) FROM guard_bench.patients'
guarded 'COPY judged by privacy_score; COPY and privacy_score' privacy_score 'at_most => 1' \
    'SELECT max(score) FROM (SELECT disclosure.privacy_score(p) OVER () AS score FROM guard_bench.patients p) s'
run -c "SET client_min_messages = error; SELECT disclosure.protect('guard_bench.patients', 'k_anonymity', at_least => 1)" \
    >/dev/null
unjudged 'COPY with the library, a policy on another table' other
