#!/usr/bin/env bash
# The figures of Lakshmanan, Ng and Ramesh that docs/methods/cracks.md shows, as Markdown tables. Environment:
#   BENCH_SHARED   the directory with data/, by default ../shared
#   FIGURE_SAMPLE  how many random itemsets of each size Fig. 18 takes, by default 10000 as published
set -euo pipefail

fimi=$(realpath -m "${BENCH_SHARED:-../shared}")/data/fimi
files=(chess.dat connect.dat.gz mushroom.dat retail.dat.gz)
for file in "${files[@]}"; do
    if [[ ! -r $fimi/$file ]]; then
        echo "SKIPPED without $fimi/$file"
        exit
    fi
done

run() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# figure TITLE HEADER SQL: the SQL selects what the columns of the header hold; NULL is a dash.
figure() {
    local columns=${2//[^|]/}
    printf '\n### %s\n\n|%s|\n|%s---|\n' "$1" "$2" "${columns//|/---|}"
    run -P null=– -F ' | ' <<<"SET client_min_messages = error; SET search_path = figures; $3" | sed 's/.*/| & |/'
}

run <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP SCHEMA IF EXISTS figures CASCADE;
CREATE SCHEMA figures;
CREATE TABLE figures.summaries (number int GENERATED ALWAYS AS IDENTITY, data text, phantoms int, s disclosure.item_counts);
SQL
for file in "${files[@]}"; do
    name=${file%%.*}
    run -c "CREATE TABLE figures.$name (items int[])"
    # Numbers that a blank separates become an array.
    gzip -dcf "$fimi/$file" | sed 's/ *$//; s/ /,/g; s/.*/{&}/' |
        run -c "COPY figures.$name FROM STDIN (DELIMITER '|')"
    run -c "INSERT INTO figures.summaries (data, phantoms, s)
            SELECT upper('$name'), 0, disclosure.count_items(items) FROM figures.$name"
done
run <<'SQL'
SET search_path = figures;
-- As published, with an item of frequency 0.
CREATE VIEW variants AS
SELECT number, data, phantoms, s FROM summaries UNION ALL
SELECT number, data || ' + phantom', 1, s FROM summaries WHERE data IN ('CONNECT', 'MUSHROOM');
CREATE VIEW items AS SELECT number, data, s, item::int FROM summaries, disclosure.item_risk_of(s, method => 'o_estimate');

-- Milliseconds, the quickest of three runs.
CREATE FUNCTION milliseconds(query text, argument disclosure.item_counts, width float8) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  start timestamptz;
  best float8 := 'infinity';
BEGIN
  FOR run IN 1 .. 3 LOOP
    start := clock_timestamp();
    EXECUTE query USING argument, width;
    best := least(best, extract(epoch FROM clock_timestamp() - start) * 1000);
  END LOOP;
  RETURN CASE WHEN best < 10 THEN round(best::numeric, 1) ELSE round(best::numeric) END;
END $$;
-- What the exact answer would take, if that is refused.
CREATE FUNCTION refusal(argument disclosure.item_counts, width float8) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM disclosure.cracks_of(argument, width => width, method => 'exact');
  RETURN NULL;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN substring(SQLERRM FROM 'about (.*)');
END $$;
SQL

figure 'Fig. 10' ' data | items | transactions | groups | size 1 | gap mean | median | min | max ' "
    SELECT data, items, transactions, groups, singletons, round(mean_gap::numeric, 6), round(median_gap::numeric, 7),
           round(min_gap::numeric, 7), round(max_gap::numeric, 6)
      FROM variants v, disclosure.crack_report_of(s, phantoms => v.phantoms) ORDER BY number, v.phantoms DESC"

figure 'Fig. 11 to 13' ' data | items | O-estimate | exact | O-estimate too low by | exact share of items | α_max, O-estimate | α_max, exact ' "
    SELECT data, e.items, round(e.o_estimate::numeric, 2), round(e.expected::numeric, 2),
           round(100 * (1 - e.o_estimate / e.expected)::numeric, 1) || ' %', round((e.expected / e.items)::numeric, 3),
           round(o.alpha_max::numeric, 2), round(e.alpha_max::numeric, 2)
      FROM variants v, disclosure.assess_items_of(s, 0.1, runs => 100, phantoms => v.phantoms) e,
           disclosure.assess_items_of(s, 0.1, runs => 100, phantoms => v.phantoms, method => 'o_estimate') o
     ORDER BY number, v.phantoms DESC"

figure 'Widths' ' data | width / median gap | O-estimate | auto | method | 95 % | auto, ms | exact would take ' "
    SELECT data, f, round(r.o_estimate::numeric, 2), round(r.expected::numeric, 2), r.method,
           CASE r.method WHEN 'simulate' THEN '± ' || round(((r.upper - r.lower) / 2)::numeric, 2) END,
           milliseconds('SELECT disclosure.cracks_of(\$1, width => \$2)', s, f * g.median_gap),
           refusal(s, f * g.median_gap)
      FROM summaries, disclosure.crack_report_of(s, method => 'o_estimate') g, unnest(ARRAY[1, 2, 4, 8]) f,
           disclosure.crack_report_of(s, width => f * g.median_gap) r ORDER BY number, f"

figure 'Fig. 14, RETAIL' ' sample | transactions | width | compliancy | lowest | highest | with the mean gap ' "
    SELECT fraction, transactions, round(width::numeric, 6), round(compliancy::numeric, 3), round(lowest::numeric, 3),
           round(highest::numeric, 3), round(mean_gap_compliancy::numeric, 4)
      FROM disclosure_lab.similarity_by_sampling('retail', 'items', samples => 10, seed => 1)"

figure 'Fig. 17' ' data | pairs | OS | OS2 | exact ' "
    SELECT a.data, count(*),
           round(avg(disclosure.crack_probability_of(a.s, ARRAY[a.item, b.item], method => 'os'))::numeric, 4),
           round(avg(disclosure.crack_probability_of(a.s, ARRAY[a.item, b.item], method => 'os2'))::numeric, 4),
           round(avg(disclosure.crack_probability_of(a.s, ARRAY[a.item, b.item], method => 'exact'))::numeric, 4)
      FROM items a JOIN items b USING (data) WHERE a.item < b.item AND a.data <> 'RETAIL'
     GROUP BY a.data, a.number ORDER BY a.number"

# With the phantom, as published: only a belief can name it. The order of the digests is as good as random, and the
# same everywhere.
run <<'SQL'
SET search_path = figures;
CREATE TABLE mushroom_belief AS
SELECT coalesce(item::int, 0) AS item, greatest(frequency - median_gap, 0) AS low, least(frequency + median_gap, 1) AS high
  FROM summaries, disclosure.crack_report_of(s, phantoms => 1, method => 'o_estimate'),
       disclosure.item_risk_of(s, phantoms => 1, method => 'o_estimate')
 WHERE data = 'MUSHROOM';
SQL
figure 'Fig. 18, MUSHROOM + phantom' ' size | itemsets | OS | exact | standard error of exact ' "
    WITH itemsets AS MATERIALIZED (
      SELECT size, s, ARRAY(SELECT item FROM mushroom_belief ORDER BY md5(concat_ws(' ', size, draw, item)) LIMIT size) AS itemset
        FROM summaries, unnest(ARRAY[4, 5, 6]) size, generate_series(1, ${FIGURE_SAMPLE:-10000}) draw
       WHERE data = 'MUSHROOM'),
    chances AS MATERIALIZED (
      SELECT size, disclosure.crack_probability_of(s, itemset, 'mushroom_belief', method => 'os') AS os,
             disclosure.crack_probability_of(s, itemset, 'mushroom_belief', method => 'exact') AS exact FROM itemsets)
    SELECT size, count(*), round(avg(os)::numeric, 5), round(avg(exact)::numeric, 5),
           round((stddev(exact) / sqrt(count(*)))::numeric, 5)
      FROM chances GROUP BY size ORDER BY size"

figure 'Fig. 19 to 21' ' data | pairs | vulnerable, OS | exact | α_max, OS | exact ' "
    SELECT data, CASE skip WHEN 0 THEN 'all' ELSE 'without the top ' || 100 * skip || ' %' END,
           round(o.vulnerable::numeric, 3), round(e.vulnerable::numeric, 3), round(o.alpha_max::numeric, 2), round(e.alpha_max::numeric, 2)
      FROM summaries, unnest(ARRAY[0, 0.1, 0.2]) skip,
           disclosure.assess_itemsets_of(s, 2, 0.5, 0.1, skip_top => skip, runs => 20) e,
           disclosure.assess_itemsets_of(s, 2, 0.5, 0.1, skip_top => skip, runs => 20, method => 'o_estimate') o
     WHERE data <> 'RETAIL' ORDER BY number, skip"

for name in MUSHROOM CONNECT; do
    figure "Fig. 26, $name" ' w | adjusted: O-estimate | exact | adjusted 100: O-estimate | exact ' "
        SELECT w, round(max(o_estimate) FILTER (WHERE knows = 'adjusted')::numeric, 2),
               round(max(expected) FILTER (WHERE knows = 'adjusted')::numeric, 2),
               round(max(o_estimate) FILTER (WHERE knows = 'adjusted 100')::numeric, 2),
               round(max(expected) FILTER (WHERE knows = 'adjusted 100')::numeric, 2)
          FROM unnest(ARRAY[0, 1, 5, 10, 20, 25, 50]) w,
               disclosure.assess_correlations('${name,,}', 'items', pairs => w, phantoms => 1) GROUP BY w ORDER BY w"
    # However pairs are used, no more can be gained than to name all their items for sure, which leaves the others
    # without their codes.
    figure "Fig. 26, $name + phantom: all items of the top 50 pairs named for sure" ' items in these pairs | O-estimate ' "
        WITH pairs AS (
          SELECT a, b FROM ${name,,}, unnest(items) a, unnest(items) b WHERE a < b
           GROUP BY a, b ORDER BY count(*) DESC, a, b LIMIT 50),
        risks AS (
          SELECT r.*, median_gap, item::int IN (SELECT unnest(ARRAY[a, b]) FROM pairs) AS named
            FROM summaries, disclosure.crack_report_of(s, phantoms => 1, method => 'o_estimate'),
                 disclosure.item_risk_of(s, phantoms => 1, method => 'o_estimate') r
           WHERE data = '$name'),
        left_over AS (
          SELECT named, candidates - (SELECT count(*) FROM risks taken
                                       WHERE taken.named AND abs(taken.frequency - risk.frequency) <= median_gap + 1e-9) AS candidates
            FROM risks risk)
        SELECT count(*) FILTER (WHERE named),
               round(sum(CASE WHEN named THEN 1 ELSE 1.0 / candidates END), 2)
          FROM left_over"
done
figure 'Expected number of cracked itemsets' ' data | size | itemsets | point-valued | ± the median gap | method | 95 % | share ' "
    SELECT data, size, m.itemsets::float4, p.expected::float4, m.expected::float4, m.method,
           CASE WHEN m.lower < m.upper THEN m.lower::float4 || ' to ' || m.upper::float4 END, m.share::float4
      FROM summaries, unnest(ARRAY[2, 3]) size, disclosure.expected_itemset_cracks_of(s, size, width => 'point') p,
           disclosure.expected_itemset_cracks_of(s, size) m
     ORDER BY number, size"

figure 'Pairs that never occur together, MUSHROOM' ' known pairs | expected | 95 % ' "
    SELECT apart, round(expected::numeric, 1), '± ' || round(((upper - lower) / 2)::numeric, 1)
      FROM unnest(ARRAY[10, 50, 200, 1000]) apart,
           disclosure.assess_correlations('mushroom', 'items', pairs => 0, among => 0, apart => apart, relative_error => 0.005)
     WHERE knows = 'apart' ORDER BY apart"
run -c 'SET client_min_messages = error; DROP SCHEMA figures CASCADE'
