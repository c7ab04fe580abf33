#!/usr/bin/env bash
# Reverse mapping against plain SQL, and how record linkage grows with the number of records.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-1000000}
psql -Xq -v ON_ERROR_STOP=1 -v rows="$rows" <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS whole, float, decimal, word;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE whole AS SELECT i AS id, (random() * 1e9)::int AS x, (random() * 1e9)::int AS y FROM generate_series(1, :rows) i;
CREATE TABLE float AS SELECT i AS id, random() AS x, random() AS y FROM generate_series(1, :rows) i;
CREATE TABLE decimal AS SELECT id, x::numeric / 100 AS x, y::numeric / 100 AS y FROM whole;
CREATE TABLE word AS SELECT id, md5(x::text) AS x, md5(y::text) AS y FROM whole;
VACUUM ANALYZE whole;
VACUUM ANALYZE float;
VACUUM ANALYZE decimal;
VACUUM ANALYZE word;
SQL

serial='SET max_parallel_workers_per_gather = 0; SET work_mem = '"'256MB'"
echo "reverse_map over $rows rows"
bench_header
for table in whole float decimal word; do
    # One ORDER BY sorts only once, which is no goal for values that are passed by reference.
    case $table in whole | float) goals=(0.333 1) ;; decimal) goals=(0.4 -) ;; word) goals=(0.8 -) ;; esac
    ours="SELECT count(z) FROM (SELECT id, disclosure.reverse_map(x, y) OVER () AS z FROM $table) q"
    compare "$table: two row_number() windows and a join" "${goals[0]}" "$serial" "$ours" \
        "SELECT count(z) FROM (SELECT a.id, b.x AS z FROM (SELECT id, row_number() OVER (ORDER BY y) AS r FROM $table) a
         JOIN (SELECT x, row_number() OVER (ORDER BY x) AS r FROM $table) b USING (r)) q"
    compare "$table: one ORDER BY x, y" "${goals[1]}" "$serial" "$ours" \
        "SELECT count(x) FROM (SELECT id, x, y FROM $table ORDER BY x, y OFFSET 0) q"
done

# milliseconds SETTINGS QUERY: of the quickest of a few runs.
milliseconds() {
    local script
    script=$(printf '%s;\n\\timing on\n' "$1" && for ((i = 0; i < 3; i++)); do printf '%s;\n' "$2"; done)
    psql -XAtq -v ON_ERROR_STOP=1 <<<"$script" | awk '$1 == "Time:" && (!best || $2 < best) { best = $2 } END { print best }'
}

# Four columns that are correlated, as those of people are, and a release with noise of a tenth of the standard
# deviation.
records() {
    psql -Xq -v ON_ERROR_STOP=1 -v rows="$1" <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS people, released;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE people AS SELECT id, u + random() AS a, u + random() AS b, v + random() AS c, u + v + random() AS d
  FROM (SELECT i AS id, random() AS u, random() AS v FROM generate_series(1, :rows) i OFFSET 0) q;
CREATE TABLE released AS SELECT id, disclosure.add_noise(a, 0.1, 1) OVER w AS a, disclosure.add_noise(b, 0.1, 2) OVER w AS b,
       disclosure.add_noise(c, 0.1, 3) OVER w AS c, disclosure.add_noise(d, 0.1, 4) OVER w AS d FROM people WINDOW w AS (ORDER BY id);
VACUUM ANALYZE people;
VACUUM ANALYZE released;
SQL
}

echo
echo 'record_linkage of n with n records, 4 columns; brute force: a join of all with all in SQL'
printf '%10s %12s %22s %14s %8s\n' records 'ours ms' 'ns per n·log2(n)' 'brute force ms' ratio
for n in 1000 3000 10000 30000 100000 300000 1000000; do
    records "$n"
    ours=$(milliseconds "$serial" "SELECT count(correct) FROM disclosure.record_linkage('people', 'released',
        columns => ARRAY['a', 'b', 'c', 'd'], key => 'id')")
    brute=-
    if ((n <= 3000)); then
        ranks='row_number() OVER (ORDER BY a) AS a, row_number() OVER (ORDER BY b) AS b,
               row_number() OVER (ORDER BY c) AS c, row_number() OVER (ORDER BY d) AS d'
        brute=$(milliseconds "$serial" "WITH x AS MATERIALIZED (SELECT id, $ranks FROM people),
                                             z AS MATERIALIZED (SELECT id, $ranks FROM released)
            SELECT count(distance) FROM (SELECT x.id, min(greatest(abs(x.a - z.a), abs(x.b - z.b), abs(x.c - z.c), abs(x.d - z.d)))
                                         AS distance FROM x, z GROUP BY x.id) q")
    fi
    awk -v n="$n" -v ours="$ours" -v brute="$brute" 'BEGIN {
        printf "%10d %12.0f %22.0f %14s %8s\n", n, ours, 1e6 * ours / (n * log(n) / log(2)),
            brute == "-" ? "-" : sprintf("%.0f", brute), brute == "-" ? "-" : sprintf("%.4f", ours / brute) }'
done
