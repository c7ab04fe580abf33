# shellcheck shell=bash
# Sourced by tests/bench/*.sh, which run with a cluster to connect to: queries against their rivals.

# How often each side runs. The quickest run counts: a noisy machine only ever makes it slower.
BENCH_RUNS=${BENCH_RUNS:-7}

bench_header() {
    printf '%-62s %10s %10s %7s %7s\n' measure 'ours ms' 'rival ms' ratio goal
}

# compare NAME GOAL SETTINGS OURS RIVAL: runs both in turn, in one session, and prints the ratio of the
# quickest times. SETTINGS is SQL that comes before; GOAL is a ratio that is not to be exceeded, or - for none.
compare() {
    local script
    script=$(
        printf '%s;\n\\timing on\n' "$3"
        for ((i = 0; i < BENCH_RUNS; i++)); do
            printf '\\echo ours\n%s;\n\\echo rival\n%s;\n' "$4" "$5"
        done
    )
    psql -XAtq -v ON_ERROR_STOP=1 <<<"$script" | awk -v name="$1" -v goal="$2" '
        $1 == "ours" || $1 == "rival" { side = $1 }
        $1 == "Time:" && (!(side in best) || $2 < best[side]) { best[side] = $2 }
        END {
            ratio = best["ours"] / best["rival"]
            missed = goal != "-" && ratio > goal
            printf "%-62s %10.0f %10.0f %7.2f %7s%s\n", name, best["ours"], best["rival"], ratio,
                goal == "-" ? goal : "<= " goal, missed ? " missed" : ""
        }'
}
