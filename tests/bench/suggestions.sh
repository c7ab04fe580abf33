#!/usr/bin/env bash
# suggest_labels_in of a schema with 200 tables of 20 columns against one query over pg_stats for them, and suggest_labels of
# a large table against the plain SQL that reads as many rows.
set -euo pipefail
source tools/bench-lib.sh

psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS suggest_bench CASCADE;
CREATE SCHEMA suggest_bench;
DO $$
DECLARE
  names text[] := ARRAY['id', 'first_name', 'last_name', 'email', 'phone', 'birth_date', 'zip', 'city', 'sex', 'diagnosis',
                        'customer_id', 'price', 'quantity', 'status', 'created_at', 'notes', 'iban', 'sku', 'weight', 'geslacht'];
BEGIN
  FOR number IN 1..200 LOOP
    EXECUTE format('CREATE TABLE suggest_bench.t%s AS SELECT %s FROM generate_series(1, 100) i', number,
                   (SELECT string_agg(format('(i * %s)::text AS %I', place, name), ', ') FROM unnest(names) WITH ORDINALITY AS n(name, place)));
  END LOOP;
END $$;
ANALYZE;
SQL

bench_header
compare "suggest_labels_in, 200 tables of 20 columns; query over pg_stats" 10 'SET client_min_messages = error' \
    "SELECT count(evidence) FROM disclosure.suggest_labels_in('suggest_bench')" \
    "SELECT count(null_frac), count(n_distinct), count(most_common_freqs) FROM pg_stats WHERE schemaname = 'suggest_bench'"
compare "suggest_labels_in, full pass; count(*) of the same rows" - 'SET client_min_messages = error' \
    "SELECT count(evidence) FROM disclosure.suggest_labels_in('suggest_bench', full_pass => true)" \
    "SELECT $(seq -s + -f '(SELECT count(*) FROM suggest_bench.t%g)' 200)"

psql -Xq -v ON_ERROR_STOP=1 -v rows="${BENCH_ROWS:-1000000}" <<'SQL'
SET client_min_messages = warning;
CREATE TABLE suggest_bench.large AS
SELECT i AS id, 'person' || i || '@example.org' AS email, i % 90 AS age, lpad((i % 100000)::text, 5, '0') AS zip
  FROM generate_series(1, :rows) i;
ANALYZE suggest_bench.large;
SQL
compare "suggest_labels of a large table, sampled; count(*) of all rows" - 'SET max_parallel_workers_per_gather = 0' \
    "SELECT count(evidence) FROM disclosure.suggest_labels('suggest_bench.large')" \
    "SELECT count(*) FROM suggest_bench.large"
psql -Xq -c 'SET client_min_messages = warning' -c 'DROP SCHEMA suggest_bench CASCADE'
