#!/usr/bin/env bash
# SUDA, minimal uniques and sets of columns against plain SQL that only counts; Desbordante on Adult.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-3000000}
psql -Xq -v ON_ERROR_STOP=1 -v rows="$rows" -f tests/bench/everyday.sql
# The same classes, and a thousand rows that are unique by two of eight more values.
psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS with_uniques;
CREATE TABLE with_uniques AS SELECT a, b, c, d, e, f FROM everyday
 UNION ALL SELECT 10 + i % 8, i, 'north', '1960-01-01', '9', 7 FROM generate_series(1, 1000) i;
VACUUM ANALYZE with_uniques;
SQL

serial='SET max_parallel_workers_per_gather = 0; SET work_mem = '"'256MB'"'; SET client_min_messages = error'
six='a, b, c, d, e, f'
columns="'{a,b,c,d,e,f}'"
for table in everyday with_uniques; do
    [[ $table == with_uniques ]] && echo "with a thousand uniques" || bench_header
    group="SELECT count(*) FROM (SELECT count(*) FROM $table GROUP BY $six) q"
    compare "minimal_uniques, 6 columns" 3 "$serial" "SELECT count(*) FROM disclosure.minimal_uniques('$table', $columns)" "$group"
    compare "suda(t) OVER (), 6 columns" 3 "$serial" "SELECT max(s) FROM (SELECT disclosure.suda(t, $columns) OVER () AS s FROM $table t) q" "$group"
    compare "singling_out, all 63 sets of 6 columns" 10 "$serial" \
        "SELECT count(*) FROM disclosure.singling_out('$table', $columns, max_columns => NULL)" "$group"
    compare "column_risk, 6 columns" - "$serial" "SELECT count(*) FROM disclosure.column_risk('$table', $columns)" "$group"
done

time_of() { psql -XAtq -v ON_ERROR_STOP=1 <<<"$serial; "'\timing on'$'\n'"$1;" | awk '$1 == "Time:" { print $2 }'; }
echo "growth: 15 columns with up to 20 values, of which half depend on the first one"
printf '%9s %7s %7s %12s %12s\n' rows columns 'sets of' 'suda ms' 'singling ms'
for size in 3000:15:3 10000:15:3 30000:15:3 100000:15:3 50000:10:4 50000:20:3 50000:30:3; do
    IFS=: read -r n width max <<<"$size"
    list=$(seq -s , -f 'c%g' "$width")
    psql -Xq -v ON_ERROR_STOP=1 <<SQL
SET client_min_messages = warning;
DROP TABLE IF EXISTS growing;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE growing AS SELECT $(for ((i = 1; i <= width; i++)); do
        ((i == 1)) || printf ', '
        printf '((%s) * 20)::int AS c%d' "$( ((i % 2)) && echo 'random()' || echo 'u * random()')" "$i"
    done)
  FROM (SELECT random() AS u FROM generate_series(1, $n) OFFSET 0) q;
SQL
    printf '%9d %7d %7d %12.0f %12.0f\n' "$n" "$width" "$max" \
        "$(time_of "SELECT count(*) FROM (SELECT disclosure.suda(t, '{$list}', max_columns => $max) OVER () FROM growing t) q")" \
        "$(time_of "SELECT count(*) FROM disclosure.singling_out('growing', '{$list}', max_columns => $max)")"
done

adult=../shared/data/adult/adult_all.csv.gz
if [[ ! -e $adult ]] || ! python3 -c 'import desbordante' 2>/dev/null; then
    echo "Desbordante on Adult is skipped: it needs $adult and the Python package desbordante"
    exit 0
fi
# Only the search is measured on both sides, not reading the table.
file=${TMPDIR:-/tmp}/adult.$$
gunzip -c "$adult" >"$file"
ours=$(cargo bench -q -p disclosure --bench columns -- "$file" | awk '{ print $(NF - 1); exit }')
python3 tests/bench/combinations.py "$file" | while read -r name ms; do
    bench_line "minimal unique column combinations of Adult; $name" "$([[ $name == HPIValid ]] && echo 0.333 || echo -)" "$ours" "$ms"
done
rm -f "$file"
