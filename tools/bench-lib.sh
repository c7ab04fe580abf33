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

# bench_pairs NAME GOAL: prints one line of the table from pairs of times in ms on standard input, a line each, ours
# first: the medians, and the median of the pairs' ratios with a 95 % confidence interval. The goal is missed only if
# the interval does not contain 1 either.
bench_pairs() {
    local pairs sides ratio low high
    pairs=$(cat)
    sides="$(cut -d ' ' -f 1 <<<"$pairs" | bench_median) $(cut -d ' ' -f 2 <<<"$pairs" | bench_median)"
    read -r ratio low high < <(awk '{ print $1 / $2 }' <<<"$pairs" | sort -g | awk '
        { sorted[NR] = $1 }
        END {
            # A value is below the median with probability 1/2, so a binomial distribution says how likely fewer
            # than r values are. That may be 2.5 % at either end.
            term = below = 2 ^ -NR
            for (r = 1; below + (term *= (NR - r + 1) / r) <= 0.025; r++) below += term
            print (sorted[int((NR + 1) / 2)] + sorted[int(NR / 2) + 1]) / 2, sorted[r], sorted[NR + 1 - r]
        }')
    awk -v name="$1" -v goal="$2" -v sides="$sides" -v ratio="$ratio" -v low="$low" -v high="$high" '
        BEGIN {
            split(sides, ms, " ")
            missed = ratio > goal && !(low <= 1 && 1 <= high)
            printf "%-62s %10.0f %10.0f %7.3f %7s%s  %.3f to %.3f\n", name, ms[1], ms[2], ratio, "<= " goal,
                missed ? " missed" : "", low, high
        }'
}

bench_median() {
    sort -g | awk '{ sorted[NR] = $1 } END { print (sorted[int((NR + 1) / 2)] + sorted[int(NR / 2) + 1]) / 2 }'
}

# bench_load_adult FILE: loads 32,561 rows of 14 columns of Adult as table adult, unless it is there; income is left out.
# The procedures of tests/bench/privacy_score.sql must exist.
bench_load_adult() {
    local header
    local -a sql=(psql -XAtq -v ON_ERROR_STOP=1)
    [[ -z $("${sql[@]}" -c "SELECT to_regclass('adult')") ]] || return 0
    IFS=, read -ra header < <(zcat "$1" | head -1 | tr - _)
    "${sql[@]}" -c "CREATE TABLE adult_raw ($(printf ', %s text' "${header[@]}" | cut -c 3-))"
    # head would end zcat by a signal
    zcat "$1" | sed -n 2,32562p | "${sql[@]}" -c '\copy adult_raw FROM STDIN WITH (FORMAT csv)'
    "${sql[@]}" -c 'CALL make_adult()' -c 'VACUUM ANALYZE adult'
}

# bench_label TABLE: labels the first 70 % of the columns as quasi and the others as sensitive.
bench_label() {
    psql -XAtq -v ON_ERROR_STOP=1 -c "SELECT disclosure.label_column('$1', key, value #>> '{}')
        FROM jsonb_each(weights_of('quasi', columns_of('$1')))" >/dev/null
}
