#!/usr/bin/env bash
# Counting the items of transactions, against what plain SQL does with the same arrays. Environment:
#   BENCH_SHARED   the directory with data/, by default ../shared
set -euo pipefail
source tools/bench-lib.sh

retail=$(realpath -m "${BENCH_SHARED:-../shared}")/data/fimi/retail.dat.gz
if [[ ! -r $retail ]]; then
    echo "SKIPPED without $retail"
    exit
fi
psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS retail_numbers, retail_texts;
CREATE TABLE retail_numbers (items int[]);
SQL
# Numbers that a blank separates become an array.
gzip -dc "$retail" | sed 's/ *$//; s/ /,/g; s/.*/{&}/' | psql -Xq -c "COPY retail_numbers FROM STDIN (DELIMITER '|')"
psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
CREATE TABLE retail_texts AS SELECT items::text[] AS items FROM retail_numbers;
VACUUM ANALYZE retail_numbers;
VACUUM ANALYZE retail_texts;
SQL

common="SET work_mem = '256MB'; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
bench_header
for table in retail_numbers retail_texts; do
    for workers in 0 2; do
        compare "item_summary(items) of $table, $workers workers; GROUP BY" 0.5 \
            "$common; SET max_parallel_workers_per_gather = $workers" \
            "SELECT pg_column_size(disclosure.item_summary(items)) FROM $table" \
            "SELECT count(*) FROM (SELECT item, count(*) FROM $table, unnest(items) item GROUP BY 1 OFFSET 0) q"
    done
    compare "expected_cracks of $table; reading it with GROUP BY" - "$common; SET max_parallel_workers_per_gather = 0" \
        "SELECT disclosure.expected_cracks('$table', 'items', method => 'exact')" \
        "SELECT count(*) FROM (SELECT item, count(*) FROM $table, unnest(items) item GROUP BY 1 OFFSET 0) q"
done
