#!/usr/bin/env bash
# Reading, encoding and counting equal rows, against what plain SQL does with the same rows.
set -euo pipefail
source tools/bench-lib.sh

rows=${BENCH_ROWS:-1000000}
psql -Xq -v ON_ERROR_STOP=1 -v rows="$rows" <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS six, ten;
DROP TYPE IF EXISTS mood;
SELECT setseed(0.5) \g /dev/null
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE ten AS
SELECT i AS id, (random() * 90)::int AS age, (10000 + (random() * 500)::int)::text AS zip, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
       (random() * 2000)::int::numeric / 2 AS income, date '1930-01-01' + (random() * 30000)::int AS born,
       timestamptz '2026-01-01' + (random() * 43200)::int * interval '1 minute' AS admitted, random() < 0.3 AS smoker,
       (random() * 100)::int::float8 / 10 AS score, (ARRAY['sad', 'ok', 'happy'])[1 + (random() * 2)::int]::mood AS mood
  FROM generate_series(1, :rows) i;
CREATE TABLE six AS SELECT age, zip, sex, (income / 100)::int::numeric / 2 AS dose, born - (born - date '1930-01-01') % 365 AS year, smoker FROM ten;
VACUUM ANALYZE six;
VACUUM ANALYZE ten;
SET max_parallel_workers_per_gather = 0;
SELECT format('%s rows; six columns make %s classes, four of them %s', :rows,
              (SELECT sum(classes) FROM disclosure.equivalence_classes('six')),
              (SELECT sum(classes) FROM disclosure.equivalence_classes('six', ARRAY['age', 'sex', 'dose', 'smoker']))) AS data \gset
\echo :data
SQL

serial='SET max_parallel_workers_per_gather = 0; SET work_mem = '"'256MB'"
parallel='SET max_parallel_workers_per_gather = 2; SET work_mem = '"'256MB'"
six='age, zip, sex, dose, year, smoker'
four='age, sex, dose, smoker'

bench_header
for columns in "$six" "$four"; do
    group="SELECT min(n) FROM (SELECT count(*) n FROM six GROUP BY $columns) q"
    compare "k_anonymity($columns), serial" 1 "$serial" "SELECT disclosure.k_anonymity($columns) FROM six" "$group"
    compare "k_anonymity($columns), 2 workers" 1 "$parallel" "SELECT disclosure.k_anonymity($columns) FROM six" "$group"
    compare "class_size($columns) OVER ()" 1 "$serial" \
        "SELECT max(n) FROM (SELECT disclosure.class_size($columns) OVER () n FROM six) q" \
        "SELECT max(n) FROM (SELECT count(*) OVER (PARTITION BY $columns) n FROM six) q"
done
compare "read and encode ten columns; count(*) of the subquery" 2.5 "$serial" \
    "SELECT count(*) FROM disclosure.column_profile('ten')" \
    "SELECT count(*) FROM (SELECT * FROM ten OFFSET 0) q"
compare "the same on one thread" - "$serial; SET disclosure.threads = 1" \
    "SELECT count(*) FROM disclosure.column_profile('ten')" \
    "SELECT count(*) FROM (SELECT * FROM ten OFFSET 0) q"
compare "the same; count(q), which looks at the columns" - "$serial" \
    "SELECT count(*) FROM disclosure.column_profile('ten')" \
    "SELECT count(q) FROM (SELECT * FROM ten OFFSET 0) q"
