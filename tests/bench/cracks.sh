#!/usr/bin/env bash
# Expected cracks, on the data sets of Lakshmanan et al. that are at hand. Environment:
#   BENCH_PARTS    which of the parts below, by default "1 2 3 4 5"
#   BENCH_BUDGET   seconds for each simulation of ours, by default 10; part 5 leaves out what would count for longer
#   BENCH_SHARED   the directory with data/, by default ../shared; without it, all is skipped
set -euo pipefail
source tools/bench-lib.sh

parts=${BENCH_PARTS:-1 2 3 4 5}
budget=${BENCH_BUDGET:-10}
fimi=$(realpath -m "${BENCH_SHARED:-../shared}")/data/fimi
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
has() { [[ " $parts " == *" $1 "* ]]; }

# field NAME LINE: the value of NAME=value in a line.
field() { sed "s/.*\b$1=\([^ ]*\).*/\1/" <<<"$2"; }

ms() { awk -v seconds="$1" 'BEGIN { print 1000 * seconds }'; }

# The algorithm without Postgres: prints a line.
alone() { cargo bench -q --locked -p disclosure --bench cracks -- "$@"; }

# A transaction per line, the numbers of its items separated by blanks.
names=()
for name in chess connect mushroom retail; do
    if [[ -r $fimi/$name.dat ]]; then
        cp "$fimi/$name.dat" "$scratch"
    elif [[ -r $fimi/$name.dat.gz ]]; then
        gzip -dc "$fimi/$name.dat.gz" >"$scratch/$name.dat"
    else
        echo "SKIPPED $name: there is no $fimi/$name.dat or $name.dat.gz"
        continue
    fi
    names+=("$name")
done

query -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION IF NOT EXISTS pg_disclosure'

# load NAME: a table of arrays of numbers, NAME_texts of texts, and NAME_counts, unless they exist.
load() {
    [[ -z $(query -c "SELECT to_regclass('$1')") ]] || return 0
    query -c "CREATE TABLE $1 (items int[])"
    sed 's/ *$//; s/ /,/g; s/.*/{&}/' "$scratch/$1.dat" | query -c "COPY $1 FROM STDIN (DELIMITER '|')"
    query -c "CREATE TABLE $1_texts AS SELECT items::text[] AS items FROM $1" \
        -c "CREATE TABLE $1_counts AS SELECT disclosure.count_items(items) AS s FROM $1" \
        -c "VACUUM ANALYZE $1" -c "VACUUM ANALYZE $1_texts" -c "VACUUM ANALYZE $1_counts"
}

workers() {
    echo "SET work_mem = '256MB'; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0;
        SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = $1"
}

group_by() { echo "SELECT count(*) FROM (SELECT item, count(*) FROM $1, unnest(items) item GROUP BY 1 OFFSET 0) q"; }
counting() { echo "SELECT pg_column_size(disclosure.count_items(items)) FROM $1"; }

# Counting all crack mappings of stored counts against reading the transactions.
part_1() {
    local name ours
    for name in "${names[@]}"; do
        load "$name"
        ours="SELECT disclosure.cracks_of(s, method => 'exact') FROM ${name}_counts"
        compare "$name: exact; reading (count(*) of unnest)" 1 "$(workers 0)" "$ours" \
            "SELECT count(*) FROM $name, unnest(items)"
        compare "$name: exact; reading by GROUP BY" - "$(workers 0)" "$ours" "$(group_by "$name")"
        compare "$name: exact; reading by count_items" - "$(workers 0)" "$ours" "$(counting "$name")"
    done
}

# Counting against the simulation as published: 5,000 samples.
part_2() {
    local name ours theirs
    for name in "${names[@]}"; do
        ours=$(alone --exact --runs "$BENCH_RUNS" "$scratch/$name.dat")
        theirs=$(alone --published "$scratch/$name.dat")
        bench_line "$name: exact, alone; simulation as published" 0.01 "$(ms "$(field seconds "$ours")")" \
            "$(ms "$(field seconds "$theirs")")" "extrapolated from $(field measured "$theirs") s for $(field iterations \
                "$theirs") of $(field of "$theirs") iterations, as if on $(field threads "$theirs") threads"
    done
}

# Our simulation to 1 %, against counting, and its moves against swaps, by what an effective sample takes.
part_3() {
    local name exact groups swaps each
    each='BEGIN { if (effective == 0) effective = 1; print 1000 * seconds / effective }'
    for name in "${names[@]}"; do
        exact=$(alone --exact --runs "$BENCH_RUNS" "$scratch/$name.dat")
        groups=$(alone --groups --budget "$budget" "$scratch/$name.dat")
        swaps=$(alone --swaps --runs 1 --budget "$budget" "$scratch/$name.dat")
        bench_line "$name: exact; our simulation to 1 %" - "$(ms "$(field seconds "$exact")")" \
            "$(ms "$(field seconds "$groups")")" "1 % reached: $(field reached "$groups")"
        bench_line "$name: an effective sample by groups; by swaps" - \
            "$(awk -v seconds="$(field seconds "$groups")" -v effective="$(field effective "$groups")" "$each")" \
            "$(awk -v seconds="$(field seconds "$swaps")" -v effective="$(field effective "$swaps")" "$each")" \
            "effective: $(field effective "$groups"); $(field effective "$swaps"), 1 % reached: $(field reached \
                "$groups"); $(field reached "$swaps")"
    done
}

# Counting the items, with the same number of workers on both sides.
part_4() {
    local name table count
    for name in "${names[@]}"; do
        load "$name"
        for table in "$name" "${name}_texts"; do
            for count in 0 2; do
                compare "count_items(items) of $table, $count workers; GROUP BY" 0.5 "$(workers "$count")" \
                    "$(counting "$table")" "$(group_by "$table")"
            done
        done
    done
}

# Wider beliefs: what counting takes, and what was predicted.
part_5() {
    local name width line predicted
    for name in "${names[@]}"; do
        for width in 1 2 4 8; do
            line=$(alone --exact --width "$width" --budget "$budget" "$scratch/$name.dat")
            predicted=$(ms "$(field predicted "$line")")
            if [[ $(field seconds "$line") == - ]]; then
                echo "$name, $width median gaps: exact would take $(field predicted "$line") s and $(field megabytes "$line") MB"
            else
                bench_line "$name, $width median gaps: exact, alone; predicted" - "$(ms "$(field seconds "$line")")" \
                    "$predicted" "expected cracks: $(field expected "$line")"
            fi
        done
    done
}

bench_header
for part in 1 2 3 4 5; do
    if has "$part"; then "part_$part"; fi
done
