#!/usr/bin/env bash
# The assessment of a table by the preset standard against the calls that it stands for: the CPU time of a backend that
# takes turns between them. Environment:
#   BENCH_PAIRS   how many pairs of times are measured, by default 9
#   BENCH_ROWS    how many rows the generated table has, by default 1000000
#   BENCH_SHARED  the directory with data/, by default ../shared; without it, Adult is skipped
set -euo pipefail
source tools/bench-lib.sh

pairs=${BENCH_PAIRS:-9}
rows=${BENCH_ROWS:-1000000}
adult=$(realpath -m "${BENCH_SHARED:-../shared}")/data/adult/adult_all.csv.gz
serial="SET max_parallel_workers_per_gather = 0; SET work_mem = '256MB'; SET synchronize_seqscans = off; SET disclosure.budget = '10min'"

query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

query -c 'CREATE EXTENSION IF NOT EXISTS pg_disclosure'
query <tests/bench/privacy_score.sql

# calls TABLE: the calls that an assessment stands for.
calls() {
    cat <<SQL
SELECT count(*) FROM disclosure.risk_summary('$1');
SELECT count(*) FROM disclosure.diversity('$1');
SELECT count(*) FROM disclosure.privacy_summary('$1', min_confidence => 0.9, sensitive_nulls => 'unknown');
SQL
}

# take_turns TABLE RUNS: prints pairs of CPU times in ms, each for RUNS runs: of the assessment, and of the calls.
take_turns() {
    local ticks i j
    ticks=$(getconf CLK_TCK)
    {
        printf '%s;\nSELECT pg_backend_pid() AS pid \\gset\n\\setenv BACKEND :pid\n' "$serial"
        for ((i = 0; i < pairs; i++)); do
            stat_line
            for ((j = 0; j < $2; j++)); do echo "SELECT count(*) FROM disclosure.assess('$1', preset => 'standard');"; done
            stat_line
            for ((j = 0; j < $2; j++)); do calls "$1"; done
            stat_line
        done
    } | query | awk -v ticks="$ticks" '
        $1 == "STAT" { time[++n % 3] = ($13 + $14) * 1000 / ticks }
        $1 == "STAT" && n % 3 == 0 { print time[2] - time[1], time[0] - time[2] }'
}

# stat_line: makes psql print the CPU time of its backend so far.
stat_line() {
    # shellcheck disable=SC2016 # psql's shell is to expand it
    printf '%s\n' '\! cut -d ")" -f 2 /proc/$BACKEND/stat | sed "s/^/STAT/"'
}

bench_header
if [[ -f $adult ]]; then
    bench_load_adult "$adult"
    bench_label adult
    take_turns adult 5 | bench_pairs "adult: CPU of assess; of the calls it stands for" 1.2
else
    echo "SKIPPED Adult: there is no $adult"
fi
query -c "SET client_min_messages = warning" -c "CALL make_synthetic('generated', $rows, 10)" -c 'VACUUM ANALYZE generated'
bench_label generated
take_turns generated 1 | bench_pairs "$rows x 10: CPU of assess; of the calls it stands for" 1.2
