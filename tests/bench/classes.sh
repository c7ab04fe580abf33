#!/usr/bin/env bash
# risk_summary, diversity and people against plain SQL that only counts; pyCANON on Adult.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-3000000}
psql -Xq -v ON_ERROR_STOP=1 -v rows="$rows" -f tests/bench/everyday.sql

serial='SET max_parallel_workers_per_gather = 0; SET work_mem = '"'256MB'"
people=$serial"; SET client_min_messages = error"
six='a, b, c, d, e, f'
group="SELECT count(*) FROM (SELECT count(*) FROM everyday GROUP BY $six) q"

bench_header
compare "risk_summary, 6 columns" 1.5 "$serial" "SELECT k FROM disclosure.risk_summary('everyday')" "$group"
compare "diversity, 6 columns, 1 sensitive" 1.5 "$serial" "SELECT l_distinct FROM disclosure.diversity('everyday')" "$group"
compare "risk_summary and diversity" 1.5 "$serial" \
    "SELECT k, l_distinct FROM disclosure.risk_summary('everyday'), disclosure.diversity('everyday')" "$group"
compare "class_diversity(t) OVER ()" - "$serial" \
    "SELECT max((x).alpha) FROM (SELECT disclosure.class_diversity(t) OVER () AS x FROM everyday t) q" "$group"
compare "people: risk_summary" 1.2 "$people" \
    "SELECT k FROM disclosure.risk_summary('everyday', labels => '{\"person\": \"person\"}')" \
    "SELECT min(people) FROM (SELECT count(DISTINCT person) AS people FROM everyday GROUP BY $six) q"
compare "people: count_people(person) GROUP BY 6 columns" 1.2 "$people" \
    "SELECT min(people) FROM (SELECT disclosure.count_people(person) AS people FROM everyday GROUP BY $six) q" \
    "SELECT min(people) FROM (SELECT count(DISTINCT person) AS people FROM everyday GROUP BY $six) q"

# The pairs of rows are compared for a part of the rows; the time for all is as many times as long.
part=100
pairs="SELECT count(*) FROM (SELECT * FROM holes LIMIT $((rows / 10 / part))) x, holes y
        WHERE (x.a = y.a OR x.a IS NULL OR y.a IS NULL) AND (x.b = y.b OR x.b IS NULL OR y.b IS NULL)
          AND (x.c = y.c OR x.c IS NULL OR y.c IS NULL) AND (x.d = y.d OR x.d IS NULL OR y.d IS NULL)
          AND (x.e = y.e OR x.e IS NULL OR y.e IS NULL) AND (x.f = y.f OR x.f IS NULL OR y.f IS NULL)"
time_of() { psql -XAtq -v ON_ERROR_STOP=1 <<<"$serial; "'\timing on'$'\n'"$1;" | awk '$1 == "Time:" { print $2 }'; }
ours=$(time_of "SELECT k FROM disclosure.risk_summary('holes', '{a,b,c,d,e,f}', nulls => 'wildcard')")
bench_line "NULL wildcards, $((rows / 10)) rows, 5 % NULLs; pairs of 1 % of the rows × $part" 0.02 "$ours" \
    "$(awk -v ms="$(time_of "$pairs")" -v part=$part 'BEGIN { print ms * part }')"

echo "growth: risk_summary in ms, and the memory of the backend in MB"
for share in 30 10 3 1; do
    printf '%9d rows ' $((rows / share))
    psql -XAtq -v ON_ERROR_STOP=1 <<SQL | awk '$1 == "Time:" { ms = $2 } $1 == "memory" { mb = $2 } END { printf "%8.0f ms %6.0f MB\n", ms, mb }'
$serial;
CREATE TEMP TABLE part AS SELECT $six FROM everyday LIMIT $((rows / share));
\timing on
SELECT k FROM disclosure.risk_summary('part', '{a,b,c,d,e,f}');
\timing off
SELECT 'memory ' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024;
SQL
done

adult=../shared/data/adult/adult_all.csv.gz
if [[ ! -e $adult ]] || ! python3 -c 'import pycanon' 2>/dev/null; then
    echo "pyCANON on Adult is skipped: it needs $adult and the Python package pycanon"
    exit 0
fi
python3 tests/bench/diversity.py "$adult" >"${TMPDIR:-/tmp}/pycanon.$$"
gunzip -c "$adult" | psql -Xq -v ON_ERROR_STOP=1 -c "DROP TABLE IF EXISTS adult" \
    -c "CREATE TABLE adult ($(gunzip -c "$adult" | head -n 1 | tr -d '"' | sed 's/[-.]/_/g; s/,/ text, /g; s/$/ text/'))" \
    -c "COPY adult FROM STDIN (FORMAT csv, HEADER)"
quasi='{age,education,occupation,relationship,sex,native_country}'
while read -r name ms; do
    ours=$(time_of "SELECT * FROM disclosure.diversity('adult', '$quasi', '{income}')")
    bench_line "diversity (all figures) of Adult; pyCANON: $name only" 0.01 "$ours" "$ms"
done <"${TMPDIR:-/tmp}/pycanon.$$"
rm -f "${TMPDIR:-/tmp}/pycanon.$$"
