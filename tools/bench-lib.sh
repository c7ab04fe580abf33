# shellcheck shell=bash
# Sourced by tests/bench/*.sh, which run with a cluster to connect to: queries against their rivals.

# How often each side runs. The quickest run counts: a noisy machine only ever makes it slower.
BENCH_RUNS=${BENCH_RUNS:-7}

bench_header() {
    printf '%-62s %10s %10s %7s %7s\n' measure 'ours ms' 'rival ms' ratio goal
}

# bench_line NAME GOAL OURS RIVAL [NOTE]: prints one line of the table. The times are in ms, RIVAL is - if there is
# none; GOAL is a ratio that is not to be exceeded, or - for none.
bench_line() {
    awk -v name="$1" -v goal="$2" -v ours="$3" -v rival="$4" -v note="${5-}" '
        function short(number) { return sprintf(number < 0.1 ? "%.4f" : number < 10 ? "%.2f" : "%.0f", number) }
        BEGIN {
            ratio = rival == "-" ? "-" : ours / rival
            missed = goal != "-" && ratio > goal
            printf "%-62s %10s %10s %7s %7s%s%s\n", name, short(ours), rival == "-" ? "-" : short(rival),
                ratio == "-" ? "-" : sprintf(ratio < 0.1 ? "%.4f" : "%.2f", ratio),
                goal == "-" ? goal : "<= " goal, missed ? " missed" : "", note == "" ? "" : "  " note
        }'
}

# compare NAME GOAL SETTINGS OURS RIVAL: runs both in turn, in one session, and prints the ratio of the
# quickest times. SETTINGS is SQL that comes before.
compare() {
    local script times
    script=$(
        printf '%s;\n\\timing on\n' "$3"
        for ((i = 0; i < BENCH_RUNS; i++)); do
            printf '\\echo ours\n%s;\n\\echo rival\n%s;\n' "$4" "$5"
        done
    )
    times=$(psql -XAtq -v ON_ERROR_STOP=1 <<<"$script" | awk '
        $1 == "ours" || $1 == "rival" { side = $1 }
        $1 == "Time:" && (!(side in best) || $2 < best[side]) { best[side] = $2 }
        END { print best["ours"], best["rival"] }')
    bench_line "$1" "$2" "${times% *}" "${times#* }"
}
