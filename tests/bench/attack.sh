#!/usr/bin/env bash
# Probabilistic attacks: permanents against The Walrus, all edge probabilities against one permanent, and what belief
# propagation and samples take as attacks grow. Environment:
#   BENCH_PARTS    which of the parts below, by default "1 2 3 4"
set -euo pipefail
source tools/bench-lib.sh

parts=${BENCH_PARTS:-1 2 3 4}
kept=${CARGO_TARGET_DIR:-target}/bench # what need not be built again next time
python=$kept/walrus/bin/python
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
mkdir -p "$kept"

query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
query -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION IF NOT EXISTS pg_disclosure' \
    -c 'DROP TABLE IF EXISTS attack' -c 'CREATE TABLE attack (name text, m float8[])'

has_walrus() {
    "$python" -c 'import thewalrus' 2>/dev/null && return
    rm -rf "$kept/walrus"
    { python3 -m venv "$kept/walrus" && "$python" -m pip install --quiet 'thewalrus==0.22.0'; } >"$scratch/pip" 2>&1 && return
    echo "SKIPPED thewalrus: python3 -m venv or pip install thewalrus==0.22.0 failed: $(tail -1 "$scratch/pip")"
    return 1
}

# milliseconds RUNS QUERY: of the quickest run.
milliseconds() {
    local script
    script=$(printf 'SET disclosure.budget = -1;\n\\timing on\n' && for ((i = 0; i < $1; i++)); do printf '%s;\n' "$2"; done)
    query <<<"$script" | awk '$1 == "Time:" && (!best || $2 < best) { best = $2 } END { print best }'
}

# store NAME < ARRAY
store() {
    { printf 'COPY attack FROM STDIN;\n%s\t' "$1" && cat && printf '\\.\n'; } | query
}

of() { echo "SELECT count($1) FROM attack WHERE name = '$2'"; }

# Dense matrices of uniform weights. Both sides are asked in turn, on the same machine; the rival has one thread, as it comes.
part_1() {
    local size runs ours
    has_walrus || return 0
    for size in 20 24 26 28; do
        runs=$((size < 26 ? 5 : 2))
        "$python" tests/bench/permanents.py random "$size" "$runs" >"$scratch/rival"
        head -1 "$scratch/rival" | store "random $size"
        ours=$(milliseconds "$BENCH_RUNS" "$(of 'disclosure_lab.permanent(m)' "random $size")")
        bench_line "permanent, n = $size; thewalrus.perm, bbfg" 0.5 "$ours" "$(awk 'NR == 2 { print 1000 * $1 }' "$scratch/rival")"
    done
}

# How far a permanent is off that is known: n! times what rows and columns were multiplied by.
part_2() {
    local size
    has_walrus || return 0
    for size in 12 20 24; do
        "$python" tests/bench/permanents.py known "$size" >"$scratch/rival"
        head -1 "$scratch/rival" | store "known $size"
        query -v known="$(sed -n 2p "$scratch/rival")" -v name="known $size" <<<"SELECT 'permanent, n = ' || $size ||
            ', off by a share of ' || to_char(abs(disclosure_lab.permanent(m) / :known - 1), '9.9EEEE') FROM attack WHERE name = :'name'"
        sed -n '3,$s/^/    thewalrus.perm, /p' "$scratch/rival"
    done
}

part_3() {
    local size
    for size in 12 16 20 24; do
        query -c "INSERT INTO attack SELECT 'even $size', disclosure_lab.random_attack($size, 1)"
        compare "all edge probabilities, n = $size; one permanent" "$( ((size == 20)) && echo 4 || echo -)" 'SET disclosure.budget = -1' \
            "$(of 'disclosure_lab.edge_probabilities(m)' "even $size")" "$(of 'disclosure_lab.permanent(m)' "even $size")"
    done
}

# What approximations take, as attacks grow; of two kinds, nearly even ones and such of which much is sure.
part_4() {
    local size unevenness mapping name
    printf '%8s %12s %12s %12s %14s\n' n unevenness 'bethe ms' 'sample ms' 'exact ms'
    for size in 10 20 30 100 300 1000 3000; do
        mapping="(SELECT array_agg(i) FROM generate_series(1, $size) i)"
        for unevenness in 1 10; do
            name="$unevenness $size"
            query -c "INSERT INTO attack SELECT '$name', disclosure_lab.random_attack($size, 1, $unevenness)"
            printf '%8d %12d %12s %12s %14s\n' "$size" "$unevenness" \
                "$(milliseconds 1 "$(of "disclosure_lab.edge_probabilities(m, method => 'bethe')" "$name")")" \
                "$( ((size > 1000)) && echo - || milliseconds 1 "SELECT e.* FROM attack,
                    disclosure_lab.crack_estimate(m, $mapping, method => 'sample') e WHERE name = '$name'")" \
                "$( ((size > 24)) && echo - || milliseconds 1 "$(of 'disclosure_lab.edge_probabilities(m)' "$name")")"
        done
    done
}

bench_header
for part in $parts; do
    "part_$part"
done
