#!/usr/bin/env bash
# What the guard costs, in CPU time of the backend: COPY of rows that are judged, against serial COPY without the
# library and the same measures by hand; how long it takes to decide the shape of large queries; and COPY where there is
# nothing to judge, against COPY without the library. See also export_tables.sh.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-100000 1000000}
role=bench_guard_$$
run() { PGOPTIONS="-c client_min_messages=error ${PGOPTIONS-}" psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# Roles are not dropped with the database.
clean_up() {
    run -c 'SET client_min_messages = error' -c "DROP SCHEMA IF EXISTS guard_bench CASCADE" \
        -c "DROP OWNED BY $role" -c "DROP ROLE $role"
}
trap clean_up EXIT
run -v role="$role" <<'SQL'
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP SCHEMA IF EXISTS guard_bench CASCADE;
CREATE SCHEMA guard_bench;
CREATE ROLE :role;
GRANT pg_write_server_files TO :role;
GRANT USAGE ON SCHEMA guard_bench TO :role;
GRANT USAGE ON SCHEMA disclosure_internal TO :role;
GRANT EXECUTE ON FUNCTION disclosure_internal.policy_score(record, jsonb, float8) TO :role;
SQL

# Columns of the tables; the last one is sensitive.
declare -A columns=(
    [5]='age zip sex admitted diagnosis'
    [10]='age zip sex admitted smoker dose ward nation weight diagnosis'
)

# create_tables ROWS: tables five and ten with their labels, and an unlabelled copy of the first.
create_tables() {
    local width
    run -v rows="$1" -v role="$role" <<'SQL'
DROP TABLE IF EXISTS guard_bench.t5, guard_bench.t10, guard_bench.other;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE guard_bench.t10 AS
SELECT (random() * 90)::int AS age, (10000 + (random() * 500)::int)::text AS zip, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
       date '2026-01-01' + (random() * 30)::int AS admitted, random() < 0.3 AS smoker,
       (random() * 5)::int::numeric AS dose, (random() * 3)::int AS ward, 'nation ' || (random() * 10)::int AS nation,
       (random() * 20)::float8 AS weight, 'diagnosis ' || (random() * random() * 200)::int AS diagnosis
  FROM generate_series(1, :rows) i;
CREATE TABLE guard_bench.t5 AS SELECT age, zip, sex, admitted, diagnosis FROM guard_bench.t10;
CREATE TABLE guard_bench.other AS TABLE guard_bench.t5;
GRANT SELECT ON ALL TABLES IN SCHEMA guard_bench TO :role;
VACUUM ANALYZE guard_bench.t5, guard_bench.t10, guard_bench.other;
SQL
    for width in 5 10; do
        run >/dev/null <<SQL
SELECT disclosure.label_column('guard_bench.t$width', c, CASE c WHEN 'diagnosis' THEN 'sensitive' ELSE 'quasi' END)
  FROM regexp_split_to_table('${columns[$width]}', ' ') c;
SQL
    done
}

# protect TABLE MEASURE LIMIT
protect() {
    run -c "SELECT disclosure.protect('guard_bench.$1', '$2', $3, min_people => 1)" \
        >/dev/null
}
unprotect() { # TABLE
    run -c "SELECT disclosure.unprotect('guard_bench.$1'::regclass)" >/dev/null
}

# Milliseconds of CPU time of the quickest run so far, by name.
declare -A best

# quickest NAME LIBRARY SETTINGS SQL [TIMES]: one more run, in a new session with the library preloaded or without any.
# With TIMES, the statement is executed once to warm up and then so many times; the time is that of one execution.
quickest() {
    local times=${5:-1} used
    local cpu='\! awk '\''{ print "cpu", $14 + $15 }'\'' "/proc/$BACKEND/stat"'
    used=$(
        {
            printf '%s;\n' "SET ROLE $role" \
                'SET max_parallel_workers_per_gather = 0' "$3"
            printf '%s\n' 'SELECT pg_backend_pid() AS backend \gset' '\setenv BACKEND :backend'
            [[ $times == 1 ]] || printf '%s;\n' "$4"
            printf '%s\n' "$cpu"
            for ((i = 0; i < times; i++)); do printf '%s;\n' "$4"; done
            printf '%s\n' "$cpu"
        } | PGOPTIONS="-c session_preload_libraries=$2" run |
            awk -v times="$times" -v tick="$(getconf CLK_TCK)" \
                '$1 == "cpu" { used = $2 - used } END { print used * 1000 / tick / times }'
    )
    best[$1]=$(awk -v so_far="${best[$1]-$used}" -v used="$used" 'BEGIN { print used < so_far ? used : so_far }')
}
sum() { awk 'BEGIN { for (i = 1; i < ARGC; i++) total += ARGV[i]; print total }' "$@"; }

# judged ROWS WIDTH MEASURES…: a COPY that has to keep to policies, which it does, while the collected rows fit into
# work_mem, and beyond.
judged() {
    local count=$1 width=$2 table=t$2 i measure memory allowed note name
    local copy="COPY guard_bench.$table TO '/dev/null'" known labels
    shift 2
    read -ra known <<<"${columns[$width]}"
    labels=$(printf '"%s": "quasi", ' "${known[@]::width-1}")
    local -A by_hand=(
        [k_anonymity]="SELECT disclosure.k_anonymity($(IFS=,; echo "${known[*]::width-1}")) FROM guard_bench.$table"
        [privacy_score]="SELECT max(score) FROM (SELECT disclosure_internal.policy_score(p, labels =>
            '{$labels \"diagnosis\": \"sensitive\"}', min_confidence => 0.9) OVER () AS score FROM guard_bench.$table p) s"
    )
    local -A limit=([k_anonymity]='at_least => 1' [privacy_score]='at_most => 1')
    best=()
    for measure; do protect "$table" "$measure" "${limit[$measure]}"; done
    local before
    before=$(run -c "SELECT count(*) FROM disclosure.export_log WHERE role = '$role' AND outcome = 'allowed'")
    for ((i = 0; i < BENCH_RUNS; i++)); do
        quickest 1GB pg_disclosure "SET work_mem = '1GB'" "$copy"
        quickest 4MB pg_disclosure "SET work_mem = '4MB'" "$copy"
        quickest copy '' 'SELECT' "$copy"
        for measure; do quickest "$measure" '' "SET work_mem = '1GB'" "${by_hand[$measure]} \\g /dev/null"; done
    done
    allowed=$(run -c "SELECT count(*) FROM disclosure.export_log WHERE role = '$role' AND outcome = 'allowed'")
    ((allowed - before == 2 * $# * BENCH_RUNS)) || {
        echo "only $((allowed - before)) of $((2 * $# * BENCH_RUNS)) verdicts were logged as allowed"
        exit 1
    }
    unprotect "$table"
    printf -v note 'COPY %.0f' "${best[copy]}"
    for measure; do printf -v note '%s, %s %.0f' "$note" "$measure" "${best[$measure]}"; done
    local -a rival=("${best[copy]}")
    for measure; do rival+=("${best[$measure]}"); done
    name="$count rows, $width columns, $(IFS=+; echo "$*")"
    bench_line "$name, in work_mem" 1.3 "${best[1GB]}" "$(sum "${rival[@]}")" "$note"
    bench_line "$name, beyond" 1.8 "${best[4MB]}" "$(sum "${rival[@]}")"
}

# unjudged NAME TABLE: what having the library costs where no policy is met.
unjudged() {
    local i copy="COPY guard_bench.$2 TO '/dev/null'"
    best=()
    for ((i = 0; i < BENCH_RUNS; i++)); do
        quickest with pg_disclosure 'SELECT' "$copy"
        quickest without '' 'SELECT' "$copy"
    done
    bench_line "$1" 1.05 "${best[with]}" "${best[without]}"
}

# shape NAME QUERY: what a judged COPY of ten rows takes longer than an unguarded one. That is an upper bound on the time
# for deciding its shape, because the rows are judged and the verdict is logged, too.
shape() {
    local i copy="COPY ($2) TO '/dev/null'"
    best=()
    for ((i = 0; i < BENCH_RUNS; i++)); do
        quickest with pg_disclosure 'SELECT' "$copy" 10
        quickest without '' 'SELECT' "$copy" 10
    done
    bench_line "$1; 50 ms" 1 "$(sum "${best[with]}" "-${best[without]}")" 50
}

# repeat COUNT SEPARATOR TEXT: the text with @ replaced by 1, 2, …
repeat() {
    local i all=
    for ((i = 1; i <= $1; i++)); do all+=${all:+$2}${3//@/$i}; done
    echo "$all"
}

bench_header
for count in $rows; do
    create_tables "$count"
    for width in 5 10; do
        judged "$count" "$width" k_anonymity
        judged "$count" "$width" privacy_score
        judged "$count" "$width" k_anonymity privacy_score
    done
done
unjudged 'COPY with the library, no policies; without the library' t5
protect t5 k_anonymity 'at_least => 1'
unjudged 'COPY with the library, a policy on another table' other
unprotect t5

run >/dev/null <<SQL
CREATE TABLE guard_bench.wide AS SELECT $(repeat 400 ', ' 'i % 2 AS c@') FROM generate_series(1, 10) i;
GRANT SELECT ON guard_bench.wide TO $role;
SQL
protect wide k_anonymity 'at_least => 1'
shape '400 columns' "SELECT $(repeat 400 ', ' c@) FROM guard_bench.wide"
shape '400 CASE expressions' \
    "SELECT $(repeat 400 ', ' 'CASE WHEN c@ > 0 THEN c@ + 1 ELSE 0 END AS c@') FROM guard_bench.wide"
shape '400 branches of UNION ALL' "$(repeat 400 ' UNION ALL ' 'SELECT c1, c@ FROM guard_bench.wide')"
nested='SELECT c1, c2, c3 FROM guard_bench.wide'
for ((i = 0; i < 60; i++)); do nested="SELECT * FROM ($nested) s$i"; done
shape '60 nested subqueries' "$nested"
