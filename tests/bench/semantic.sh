#!/usr/bin/env bash
# Semantic attacks: counts of documents with two terms against one indexed full-text query per pair, and eliminations
# against reading their distance table. Environment:
#   BENCH_PARTS    which of the parts below, by default "1 2"
set -euo pipefail
source tools/bench-lib.sh

parts=${BENCH_PARTS:-1 2}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# 30,000 documents of 100 words, of 20,000 that are as frequent as those of a language; the terms are 1,000 words and
# 1,000 pairs of words that follow each other somewhere. All pairs of terms are 1,999,000: of the rival's queries some
# are asked, and the time is scaled to all.
part_1() {
    local asked=300 all=1999000 ours rival
    query <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS document, term;
SELECT setseed(0.5);
CREATE TABLE document AS
  SELECT id, string_agg('w' || trunc(exp(ln(20000.0) * random()))::int, ' ') AS body
    FROM generate_series(1, 30000) id, generate_series(1, 100) GROUP BY id;
ALTER TABLE document ADD words tsvector;
UPDATE document SET words = to_tsvector('simple', body);
CREATE INDEX ON document USING gin (words);
VACUUM ANALYZE document;
CREATE TABLE term AS SELECT 'w' || n * 20 AS term FROM generate_series(1, 1000) n
  UNION ALL (SELECT DISTINCT split_part(body, ' ', 5) || ' ' || split_part(body, ' ', 6) FROM document LIMIT 1000);
SQL
    ours=$(
        for ((i = 0; i < BENCH_RUNS; i++)); do
            query -c '\timing on' -c "SELECT count(*) FROM disclosure.cooccurrence('document', 'body', (SELECT array_agg(term) FROM term))"
        done | awk '$1 == "Time:" && (!best || $2 < best) { best = $2 } END { print best }'
    )
    # Each pair is a query of its own, planned and executed as one; the session is the same.
    query -o "$scratch/queries" -c "SELECT setseed(0.25)" -c "SELECT format('SELECT count(*) FROM document WHERE words @@ (phraseto_tsquery(%L, %L) && phraseto_tsquery(%L, %L));',
        'simple', a.term, 'simple', b.term) FROM (SELECT term, row_number() OVER (ORDER BY random()) n FROM term) a
        JOIN (SELECT term, row_number() OVER (ORDER BY random()) n FROM term) b USING (n) WHERE a.term <> b.term ORDER BY n LIMIT $asked"
    rival=$(
        for ((i = 0; i < 3; i++)); do
            { echo '\timing on' && sed -n '/^SELECT count/p' "$scratch/queries"; } | query |
                awk '$1 == "Time:" { sum += $2 } END { print sum }'
        done | sort -g | awk -v asked=$asked -v all=$all 'NR == 1 { print $1 / asked * all }'
    )
    bench_line '2,000 terms, all pairs; a query per pair' 0.05 "$ours" "$rival" "$asked queries, scaled"
}

# Ratios to reading the table once for every elimination, and of the definition, which computes everything anew.
part_2() {
    cargo bench -q --locked -p disclosure --bench semantic
}

bench_header
for part in $parts; do
    "part_$part"
done
