#!/usr/bin/env bash
# The privacy score: alone, as a query, with more rows and more columns, one row at a time, and as a list of inferences.
# Environment:
#   BENCH_PARTS    which of the parts below, by default "1 2 3 5 6 7 8 9"
#   BENCH_LARGE=1  part 4 too, with ten million rows: minutes, and gigabytes of memory and disk
#   BENCH_BUDGET   seconds after which part 5 is content with bounds, by default 10
#   BENCH_PATIENCE CPU seconds after which the rival of part 6 is stopped, by default 60
#   BENCH_SHARED   the directory with data/ and prototypes/, by default ../shared; without it, parts are skipped
set -euo pipefail
source tools/bench-lib.sh

parts=${BENCH_PARTS:-1 2 3 ${BENCH_LARGE:+4} 5 6 7 8 9}
budget=${BENCH_BUDGET:-10}
patience=${BENCH_PATIENCE:-60}
shared=$(realpath -m "${BENCH_SHARED:-../shared}")
adult=$shared/data/adult/adult_all.csv.gz
mushroom=$shared/data/fimi/mushroom.dat
prototype=$shared/prototypes/score
# The algorithm alone has no more threads than one per core, as in a backend.
threads=$(nproc)
kept=${CARGO_TARGET_DIR:-target}/bench # what need not be built again next time
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
mkdir -p "$kept"

skip() { echo "SKIPPED $*"; }
has() { [[ " $parts " == *" $1 "* ]]; }
query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

serial="SET max_parallel_workers_per_gather = 0; SET work_mem = '256MB'; SET synchronize_seqscans = off"

# field NAME LINE: the value of NAME=value in a line.
field() { sed "s/.*\b$1=\([^ ]*\).*/\1/" <<<"$2"; }

# smallest NUMBER…
smallest() { printf '%s\n' "$@" | sort -g | head -1; }

ms() { awk -v seconds="$1" 'BEGIN { print 1000 * seconds }'; }

# measure SETTINGS QUERY [RUNS]: runs it in a session of its own. Sets MS, the quickest time, MB, the most memory that the
# backend ever had, shared buffers included, CPU, its seconds per run, EXACT, yes or no, and ANSWER.
measure() {
    local script output
    script=$(
        printf '%s;\nSELECT pg_backend_pid() AS pid \\gset\n\\setenv BACKEND :pid\n\\timing on\n' "$1"
        for ((i = 0; i < ${3:-1}; i++)); do printf '%s;\n' "$2"; done
        # shellcheck disable=SC2016 # psql's shell is to expand it
        printf '\\timing off\n\\! cat /proc/$BACKEND/status; cut -d ")" -f 2 /proc/$BACKEND/stat | sed "s/^/STAT/"\n'
    )
    output=$(query 2>"$scratch/messages" <<<"$script") || {
        cat "$scratch/messages" >&2
        return 1
    }
    MS=$(awk '$1 == "Time:" && (best == "" || $2 < best) { best = $2 } END { print best }' <<<"$output")
    MB=$(awk '$1 == "VmHWM:" { printf "%.0f", $2 / 1024 }' <<<"$output")
    CPU=$(awk -v ticks="$(getconf CLK_TCK)" -v runs="${3:-1}" '$1 == "STAT" { printf "%.2f", ($13 + $14) / ticks / runs }' <<<"$output")
    ANSWER=$(head -1 <<<"$output")
    EXACT=yes
    grep -q 'not finished' "$scratch/messages" && EXACT=no
    return 0
}

# The algorithm, or its definition, without Postgres: prints a line per table.
alone() { cargo bench -q --locked -p disclosure --bench inference -- "$@"; }

# write_table TABLE COLUMNS STYLE FILE: the first COLUMNS of a table, whose values are numbers from 0, with weights of a STYLE
# (quasi or ones), as FILE.mat, FILE.w and FILE.g.
write_table() {
    local cards column value
    query -c "SELECT bits_of('$1', $2)" >"$4.mat"
    read -ra cards < <(query -c "SELECT array_to_string(cards_of('$1', $2), ' ')")
    : >"$4.w"
    : >"$4.g"
    for column in "${!cards[@]}"; do
        for ((value = 0; value < cards[column]; value++)); do
            echo "$column" >>"$4.g"
            if [[ $3 == ones ]]; then
                echo '1 1'
            elif ((column < (${#cards[@]} * 7 + 9) / 10)); then
                echo '1 0'
            else
                echo '0 1'
            fi >>"$4.w"
        done
    done
}

query <tests/bench/privacy_score.sql

# make_table NAME ROWS COLUMNS: synthetic, unless it is there.
make_table() {
    [[ -z $(query -c "SELECT to_regclass('$1')") ]] || return 0
    query -c "SET client_min_messages = warning" -c "CALL make_synthetic('$1', $2, $3)" -c "VACUUM ANALYZE $1"
}

score_query() { # TABLE WEIGHTS
    echo "SELECT count(s), avg(s)::numeric(10, 6) FROM (SELECT disclosure.privacy_score(a, labels => $2, budget => '10 min') OVER () s FROM $1 a) x"
}

size_query() { # TABLE
    echo "SELECT count(s) FROM (SELECT disclosure.class_size(a) OVER () s FROM $1 a) x"
}

# weights STYLE TABLE: settings after which :'weights' are the weights of all columns.
weights() { printf "SELECT weights_of('%s', columns_of('%s')) AS weights \\gset\n%s" "$1" "$2" "$serial"; }

part_1() {
    local table style ours theirs i line
    if [[ ! -d $prototype ]]; then
        skip "the algorithm alone: there is no $prototype"
        return
    fi
    if [[ ! -x $kept/score/target/release/score ]]; then
        mkdir -p "$kept/score/src"
        install -m 644 -t "$kept/score" "$prototype/Cargo.toml"
        install -m 644 -t "$kept/score/src" "$prototype"/*.rs
        (cd "$kept/score" && CARGO_TARGET_DIR=target cargo build --quiet --release >"$scratch/prototype" 2>&1) || {
            skip "the algorithm alone: $prototype does not build"
            cat "$scratch/prototype"
            return
        }
    fi
    [[ ! -f $adult ]] || zcat "$adult" | sed -n 2,32562p >"$scratch/adult.csv"
    for table in adult mushroom; do
        local -a source=(--csv="$scratch/adult.csv" --cols=0,1,2,3,4,5,6,7,8,9,10,11,12,13)
        [[ $table == adult ]] || source=(--dat="$mushroom")
        if [[ ! -f ${!table} ]]; then
            skip "the algorithm alone, $table: there is no ${!table}"
            continue
        fi
        for style in quasi random ones; do
            "$kept/score/target/release/score" gen "${source[@]}" --style="$style" --out="$scratch/$table-$style"
            ours=() theirs=()
            for ((i = 0; i < BENCH_RUNS; i++)); do
                line=$(alone --runs 3 "$scratch/$table-$style")
                ours+=("$(field seconds "$line")")
                # As many runs of either
                for _ in 1 2 3; do
                    line=$("$kept/score/target/release/score" hyb --threads="$threads" --mat="$scratch/$table-$style.mat" \
                        --w="$scratch/$table-$style.w" --g="$scratch/$table-$style.g")
                    theirs+=("$(field secs "$line")")
                done
            done
            bench_line "$table, $style: algorithm alone; prototype" 2 \
                "$(ms "$(smallest "${ours[@]}")")" "$(ms "$(smallest "${theirs[@]}")")"
        done
    done
}

part_2() {
    if [[ ! -f $adult ]]; then
        skip "Adult as a query: there is no $adult"
        return
    fi
    bench_load_adult "$adult"
    bench_label adult
    compare "adult, labels: privacy_score(a) OVER (); class_size(a)" 2 "$serial" "$(score_query adult NULL)" "$(size_query adult)"
    compare "adult, ones: the same" - "$(weights ones adult)" "$(score_query adult ":'weights'")" "$(size_query adult)"
    compare "adult, random: the same" - "$(weights random adult)" "$(score_query adult ":'weights'")" "$(size_query adult)"
}

# take_turns NAME RUNS SETTINGS OURS RIVAL: like compare, but every run is in a session of its own, for the memory; CPU seconds
# are beside the times because a run that takes long hardly ever has the machine for itself.
take_turns() {
    local ours=() rival=() ours_cpu=() rival_cpu=() ours_mb rival_mb exact i
    for ((i = 0; i < $2; i++)); do
        measure "$3" "$5"
        rival+=("$MS") rival_cpu+=("$CPU") rival_mb=$MB
        measure "$3" "$4"
        ours+=("$MS") ours_cpu+=("$CPU") ours_mb=$MB exact=$EXACT
    done
    bench_line "$1" - "$(smallest "${ours[@]}")" "$(smallest "${rival[@]}")" \
        "CPU $(smallest "${ours_cpu[@]}") s; $(smallest "${rival_cpu[@]}") s, memory $ours_mb MB; $rival_mb MB, exact: $exact"
}

part_3() {
    local style
    make_table million 1000000 10
    for style in quasi random ones; do
        take_turns "1000000 x 10, $style: privacy_score OVER (); class_size" "$([[ $style == quasi ]] && echo 5 || echo 1)" \
            "$(weights "$style" million)" "$(score_query million ":'weights'")" "$(size_query million)"
    done
}

part_4() {
    local settings
    make_table million10 10000000 10
    settings="$(weights quasi million10); SET disclosure.max_memory = '16GB'"
    take_turns "10000000 x 10, quasi: privacy_score OVER (); class_size" 3 "$settings" \
        "$(score_query million10 ":'weights'")" "$(size_query million10)"
    take_turns "10000000 x 10, quasi: privacy_summary; equivalence_classes" 3 "$settings" \
        "SELECT average, exact FROM disclosure.privacy_summary('million10', labels => :'weights', budget => '10 min')" \
        "SELECT sum(classes) FROM disclosure.equivalence_classes('million10')"
    query -c 'DROP TABLE million10'
}

# growth TABLE COLUMNS STYLE NAME: privacy_summary of the first columns beside the definition, as far as that can be waited for.
growth() {
    local rows settings line runs=3
    rows=$(query -c "SELECT count(*) FROM $1")
    if ((rows * $2 > 200000)); then runs=1; fi # takes long enough
    settings="SELECT weights_of('$3', columns_of('$1', $2)) AS weights \\gset"$'\n'"$serial"
    measure "$settings" "SELECT exact, average::numeric(10, 6), lower::numeric(10, 6), upper::numeric(10, 6) FROM disclosure.privacy_summary('$1',
        columns => columns_of('$1', $2)::name[], labels => :'weights', budget => '$budget s')" "$runs"
    local note="CPU $CPU s; exact, average, bounds: $ANSWER" definition=-
    if ((rows << $2 <= 50000000)); then
        write_table "$1" "$2" "$3" "$scratch/growth"
        line=$(alone --definition --runs 1 "$scratch/growth")
        definition=$(ms "$(field seconds "$line")")
        note+="; by definition: $(field average "$line")"
    fi
    bench_line "$4: privacy_summary; definition" - "$MS" "$definition" "$note"
}

part_5() {
    local rows columns style
    make_table million 1000000 10
    make_table wide 10000 30
    for rows in 10000 100000; do
        query -c "SET client_min_messages = warning; SET synchronize_seqscans = off" -c "DROP TABLE IF EXISTS rows$rows" \
            -c "CREATE TABLE rows$rows AS SELECT * FROM million LIMIT $rows" -c "VACUUM ANALYZE rows$rows"
    done
    for style in quasi ones; do
        growth rows10000 10 "$style" "10000 x 10, $style"
        growth rows100000 10 "$style" "100000 x 10, $style"
        growth million 10 "$style" "1000000 x 10, $style"
    done
    for style in quasi ones; do
        for columns in 4 8 12 16 20 25 30; do
            growth wide "$columns" "$style" "10000 x $columns, $style"
        done
    done
}

part_6() {
    local python=$kept/venv/bin/python columns line ours status
    if [[ ! -f $adult ]]; then
        skip "caspailleur: there is no $adult"
        return
    fi
    if ! "$python" -c 'import caspailleur' 2>/dev/null; then
        rm -rf "$kept/venv"
        if ! { python3 -m venv "$kept/venv" && "$python" -m pip install --quiet 'caspailleur==0.2.2' 'scikit-learn<1.6'; } >"$scratch/pip" 2>&1; then
            skip "caspailleur: python3 -m venv or pip install caspailleur==0.2.2 failed: $(tail -1 "$scratch/pip")"
            return
        fi
    fi
    bench_load_adult "$adult"
    for columns in 6 14; do
        write_table adult "$columns" ones "$scratch/adult-$columns"
        line=$(alone --runs 20 "$scratch/adult-$columns")
        ours=$(field cpu "$line")
        status=0
        (
            ulimit -t "$((patience + 5))" # it has to read the table first
            "$python" tests/bench/concepts.py "$scratch/adult-$columns.mat" || exit # and not exec: the shell would report the kill
        ) >"$scratch/concepts" 2>"$scratch/problem" || status=$?
        if ((status == 0)); then
            bench_line "adult, $columns columns, ones: CPU alone; caspailleur" 0.1 "$(ms "$ours")" \
                "$(ms "$(awk '$1 == "generators" { print $4 }' "$scratch/concepts")")" "$(paste -sd ' ' "$scratch/concepts")"
        elif ((status > 128)); then
            bench_line "adult, $columns columns, ones: CPU alone; caspailleur" 0.1 "$(ms "$ours")" "$(ms "$patience")" \
                "caspailleur was stopped after $patience s CPU, so the ratio is at most this; $(paste -sd ' ' "$scratch/concepts")"
        else
            skip "caspailleur: $(tail -1 "$scratch/problem")"
        fi
    done
}

# per_call NAME TABLE CALLS STYLE: what one call takes. For quasi weights, a query by hand is the rival; it asks only whether
# the one sensitive column follows from all others.
per_call() {
    local from="(SELECT * FROM sample LIMIT $3) s" ours rival=-
    local weights="weights_of('$4', columns_of('$2'))"
    # Of eight columns it would take six as quasi-identifiers.
    [[ $4 != quasi ]] || weights+=" || '{\"c7\": \"quasi\"}'"
    measure "SELECT $weights AS weights \gset"$'\n'"$serial" \
        "SELECT count(disclosure.privacy_score(s, '$2'::regclass, :'weights')) FROM $from" 2
    ours=$(awk "BEGIN { print $MS / $3 }")
    if [[ $4 == quasi ]]; then
        measure "$serial" "SELECT count(x.follows) FROM $from, LATERAL (SELECT count(DISTINCT t.c8) = 1 AS follows FROM $2 t WHERE
            t.c1 = s.c1 AND t.c2 = s.c2 AND t.c3 = s.c3 AND t.c4 = s.c4 AND t.c5 = s.c5 AND t.c6 = s.c6 AND t.c7 = s.c7) x" 2
        rival=$(awk "BEGIN { print $MS / $3 }")
    fi
    bench_line "$1" - "$ours" "$rival" "of $3 calls"
}

# Seven quasi-identifiers and one sensitive column.
part_7() {
    local rows index quasi random
    make_table million 1000000 10
    for rows in 10000 100000 1000000; do
        query -c "SET client_min_messages = warning; SET synchronize_seqscans = off" -c "DROP TABLE IF EXISTS patients, sample" \
            -c "CREATE UNLOGGED TABLE patients AS SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM million LIMIT $rows" \
            -c "CREATE UNLOGGED TABLE sample AS SELECT * FROM patients ORDER BY md5(patients::text) LIMIT 1000"
        for index in no an; do
            quasi=1000 random=100
            if [[ $index == an ]]; then
                query -c 'CREATE INDEX ON patients (c1, c2, c3, c4, c5, c6, c7)'
            else # the more rows, the fewer calls
                quasi=$((rows > 400000 ? 5 : 2000000 / rows)) random=$((rows > 100000 ? 5 : 500000 / rows))
            fi
            query -c 'VACUUM ANALYZE patients'
            per_call "a row in $rows, $index index, quasi: ms a call; by hand" patients "$quasi" quasi
            per_call "a row in $rows, $index index, random: ms a call" patients "$random" random
        done
    done
}

# Cells to blank in all 48,842 rows of Adult, so that nothing sensitive follows from eight quasi-identifiers.
part_8() {
    local header quasi sensitive labels
    if [[ ! -f $adult ]]; then
        skip "remedies: there is no $adult"
        return
    fi
    IFS=, read -ra header < <(zcat "$adult" | head -1 | tr - _)
    query -c "CREATE TABLE people ($(printf ', %s text' "${header[@]}" | cut -c 3-))"
    zcat "$adult" | query -c "\copy people FROM STDIN WITH (FORMAT csv, HEADER, NULL '?')"
    quasi='age workclass education marital_status race sex native_country hours_per_week'
    for sensitive in income 'income occupation'; do
        labels=$(query -c "SELECT jsonb_object_agg(c, CASE WHEN c = ANY (string_to_array('$quasi', ' ')) THEN 'quasi'
            WHEN c = ANY (string_to_array('$sensitive', ' ')) THEN 'sensitive' ELSE 'ignore' END)
            FROM unnest(string_to_array('${header[*]}', ' ')) c")
        measure "$serial" "SELECT ended_by, at_or_above || ' rows left', cells_changed || ' cells', rows_changed || ' rows'
            FROM disclosure.remedies('people', labels => '$labels', budget => '10 min') WHERE step IS NULL"
        bench_line "adult, remedies for $sensitive" - "$MS" - "$ANSWER"
    done
}

part_9() {
    if [[ ! -f $adult ]]; then
        skip "inferences about most people: there is no $adult"
        return
    fi
    bench_load_adult "$adult"
    bench_label adult
    local first="SELECT sum(people) FROM disclosure.inferences('adult', order_by => 'people', max_rows => 20, budget => '10 min'"
    local all="SELECT sum(people) FROM disclosure.inferences('adult', max_rows => 10000000, budget => '10 min'"
    BENCH_RUNS=3 compare "adult, labels: first 20 inferences by people; all by weight" 0.1 "$serial" "$first)" "$all)"
    BENCH_RUNS=3 compare "adult, labels: the same with min_confidence 0.9" 0.1 "$serial" "$first, min_confidence => 0.9)" "$all, min_confidence => 0.9)"
}

bench_header
for part in 1 2 3 4 5 6 7 8 9; do
    if has "$part"; then "part_$part"; fi
done
