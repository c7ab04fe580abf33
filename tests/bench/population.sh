#!/usr/bin/env bash
# individual_risk and household_risk against class_size, and against plain SQL that only counts.
set -euo pipefail
source tools/bench-lib.sh

psql -Xq -v ON_ERROR_STOP=1 -v rows="${BENCH_ROWS:-3000000}" -f tests/bench/everyday.sql
psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
SELECT disclosure.label_columns('everyday', weight => '{weight}', household => '{household}') \g /dev/null
SQL

serial='SET max_parallel_workers_per_gather = 0; SET work_mem = '"'256MB'"
over() { echo "SELECT max(x) FROM (SELECT $1 AS x FROM everyday t) q"; }
size=$(over 'disclosure.class_size(t) OVER ()')
counted=$(over 'count(*) OVER (PARTITION BY a, b, c, d, e, f)')

bench_header
for risk in individual_risk household_risk; do
    call=$(over "disclosure.$risk(t) OVER ()")
    compare "$risk(t) OVER (); class_size(t) OVER ()" 1.3 "$serial" "$call" "$size"
    compare "$risk(t) OVER (); count(*) OVER (PARTITION BY 6 columns)" 0.33 "$serial" "$call" "$counted"
done
BENCH_RUNS=3
compare "population_uniqueness; the plain GROUP BY that counts classes" - "$serial" \
    "SELECT count(*) FROM disclosure.population_uniqueness('everyday')" \
    "SELECT count(*) FROM (SELECT count(*) FROM everyday GROUP BY a, b, c, d, e, f) q"

echo "growth: individual_risk in ms, and the memory of the backend in MB"
for share in 30 10 3 1; do
    printf '1/%-2d of the rows ' "$share"
    psql -XAtq -v ON_ERROR_STOP=1 <<SQL | awk '$1 == "Time:" { ms = $2 } $1 == "memory" { mb = $2 } END { printf "%8.0f ms %6.0f MB\n", ms, mb }'
$serial;
CREATE TEMP TABLE part AS SELECT a, b, c, d, e, f, weight FROM everyday LIMIT (SELECT count(*) / $share FROM everyday);
\timing on
SELECT max(x) FROM (SELECT disclosure.individual_risk(t, columns => '{a,b,c,d,e,f}', labels => '{"weight": "weight"}') OVER () AS x FROM part t) q;
\timing off
SELECT 'memory ' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024;
SQL
done
