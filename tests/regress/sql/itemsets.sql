-- Itemsets: the expected number of cracked ones (Lemmas 3.2 to 3.6), the probability of one with its bounds, and which are vulnerable.
\pset null '(null)'
SET extra_float_digits = -3;
CREATE TABLE baskets (items text[]);
INSERT INTO baskets VALUES ('{1,2,3}'), ('{1,2,3,4}'), ('{4,6}'), ('{3,4,5,6}'), ('{5,6}'), ('{6}'), ('{1,2}'), ('{1,3,4}'), ('{1,3,5}'), ('{2,4,6}');
CREATE TABLE summary AS SELECT disclosure.count_items(items) AS s FROM baskets;
CREATE TABLE h (item text, low float8, high float8);
INSERT INTO h VALUES ('2', 0.4, 0.5), ('3', 0.5, 0.5), ('4', 0.4, 0.6), ('5', 0.1, 0.4), ('6', 0.5, 0.5);
CREATE TABLE k (item text, low float8, high float8);
INSERT INTO k VALUES ('1', 0.1, 0.4), ('2', 0.5, 0.5), ('3', 0.1, 0.3), ('4', 0.4, 0.6), ('5', 0.1, 0.4), ('6', 0.5, 0.5);

-- The example of section 3.2: a hundred items in four groups of 25.
CREATE TABLE hundred AS SELECT item, item % 4 AS times FROM generate_series(1, 100) item, generate_series(0, item % 4);
SELECT * FROM disclosure.expected_itemset_cracks('hundred', 'item', 3, width => 'point');
SELECT size, r.itemsets, r.expected FROM unnest(ARRAY[1, 2, 3, 50, 100, 101]) size, disclosure.expected_itemset_cracks('hundred', 'item', size, width => 'ignorant') r;
-- Lemma 3.3 (1) and 3.6: items of interest, ten of each group; (2): a list.
SELECT width, r.itemsets, r.expected, r.expected * 4950 AS of_ignorant
  FROM unnest('{ignorant,point}'::disclosure.belief_width[]) width,
       disclosure.expected_itemset_cracks('hundred', 'item', interest => (SELECT array_agg(i::text) FROM generate_series(1, 40) i), width => width) r;
SELECT r.itemsets, r.expected * 4950 AS three FROM disclosure.expected_itemset_cracks('hundred', 'item', itemsets => '{{1,2},{2,1},{3,4},{5,99}}', width => 'ignorant') r;
-- Numbers that no type holds.
CREATE TABLE many AS SELECT i AS item FROM generate_series(1, 2000) i;
SELECT * FROM disclosure.expected_itemset_cracks('many', 'item', 1000);
CREATE TABLE many_more AS SELECT i AS item FROM generate_series(1, 1100) i, generate_series(1, i);
SELECT * FROM disclosure.expected_itemset_cracks('many_more', 'item', 550, width => 'point');

-- BigMart: f, g, h of Fig. 2, and within the median gap. The number of cracked pairs is the sum of their probabilities.
CREATE VIEW pairs AS SELECT ARRAY[a::text, b::text] AS itemset FROM generate_series(1, 6) a, generate_series(1, 6) b WHERE a < b;
SELECT r.itemsets, r.expected, (SELECT sum(disclosure.crack_probability('baskets', 'items', itemset, belief => 'h')) FROM pairs) AS sum, r.method
  FROM disclosure.expected_itemset_cracks('baskets', 'items', belief => 'h') r;
SELECT r.expected, l.expected AS listed, l.itemsets FROM disclosure.expected_itemset_cracks('baskets', 'items', belief => 'h', itemset_table => 'pairs') l, disclosure.expected_itemset_cracks('baskets', 'items', belief => 'h') r;
SELECT r.itemsets, r.expected * 24 AS eleven FROM disclosure.expected_itemset_cracks('baskets', 'items', itemsets => '{{1,2},{1,3},{1,4},{1,5},{1,6}}', belief => 'h') r;
SELECT size, f.expected AS f, g.expected AS g, h.expected AS h, m.expected AS median
  FROM generate_series(1, 6) size, disclosure.expected_itemset_cracks('baskets', 'items', size, width => 'point') f,
       disclosure.expected_itemset_cracks('baskets', 'items', size, width => 'ignorant') g,
       disclosure.expected_itemset_cracks('baskets', 'items', size, belief => 'h') h, disclosure.expected_itemset_cracks('baskets', 'items', size) m;
-- Items one by one are the expected cracks. The same as in the matrix of edges, over stored counts, and by simulation.
SELECT r.expected = disclosure.expected_cracks('baskets', 'items') AS same FROM disclosure.expected_itemset_cracks('baskets', 'items', 1) r;
SELECT round(s.expected::numeric, 9) AS by_matrix, round(r.expected::numeric, 9) AS by_table, r.method
  FROM summary, disclosure_lab.subset_cracks((SELECT array_agg(edges) FROM (SELECT array_agg((abs(a.f - b.f) < 1.5)::int::float8 ORDER BY b.i) AS edges
         FROM unnest(ARRAY[5, 4, 5, 5, 3, 5]) WITH ORDINALITY a (f, i), unnest(ARRAY[5, 4, 5, 5, 3, 5]) WITH ORDINALITY b (f, i) GROUP BY a.i ORDER BY a.i) q), '{1,2,3,4,5,6}', size => 3) s,
       disclosure.expected_itemset_cracks_of(s, 3) r;
SELECT size, r.method, r.lower <= e.expected AND e.expected <= r.upper AS contains, abs(r.expected / e.expected - 1) < 0.05 AS near
  FROM generate_series(1, 5) size, disclosure.expected_itemset_cracks('baskets', 'items', size, method => 'simulate') r, disclosure.expected_itemset_cracks('baskets', 'items', size) e;

-- The probability of one itemset, exact, simulated and estimated.
SELECT asked, r.* FROM unnest('{auto,exact}'::text[]) asked, disclosure.itemset_risk('baskets', 'items', ARRAY['1', '2'], belief => 'h', method => asked) r;
SELECT r.method, r.lower < 1 / 9.0 AND 1 / 9.0 < r.upper AS contains, r.lower > 0.1 AND r.upper < 0.12 AS narrow, r.os, r.os2 FROM summary, disclosure.itemset_risk_of(s, ARRAY[1, 4], method => 'simulate') r;
SELECT count(DISTINCT r) AS same FROM generate_series(1, 3), disclosure.itemset_risk('baskets', 'items', ARRAY[1, 4], method => 'simulate', seed => 7) r;
SELECT abs(disclosure.crack_probability('baskets', 'items', ARRAY[1, 4], method => 'simulate') * 9 - 1) < 0.05 AS near, disclosure.crack_probability('baskets', 'items', ARRAY[1, 4]) * 9 AS one;
-- Too expensive to count: auto simulates and says so. One in several thousand million is no problem.
CREATE TABLE visits AS SELECT d AS diagnosis FROM generate_series(1, 60) d, generate_series(1, d);
SELECT r.method, r.crack_probability BETWEEN r.lower AND r.upper AS inside, r.crack_probability < 1e-8 AS rare, r.lower > 0.6 * r.upper AS narrow
  FROM disclosure.itemset_risk('visits', 'diagnosis', ARRAY[1, 10, 20, 30, 40, 50, 60], width => 0.01, relative_error => 0.1) r;
SELECT disclosure.crack_probability('visits', 'diagnosis', ARRAY[1, 2], width => 0.01, relative_error => 0.1) BETWEEN 0.008 AND 0.012 AS as_before;
SELECT disclosure.crack_probability('visits', 'diagnosis', ARRAY[1, 2], width => 0.01, method => 'exact');
SELECT r.itemsets, r.method, r.lower < r.expected AND r.expected < r.upper AS has_bounds FROM disclosure.expected_itemset_cracks('visits', 'diagnosis', width => 0.01, relative_error => 0.1) r;
SELECT * FROM disclosure.expected_itemset_cracks('visits', 'diagnosis', width => 0.01, method => 'exact');

-- Which itemsets are vulnerable: as many as assess_itemsets counts.
SELECT * FROM disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => 0.25, width => 'point');
SELECT danger, count(itemset), round(max(a.vulnerable * a.itemsets)) AS assessed FROM unnest(ARRAY[0.05, 0.1, 0.2]) danger, disclosure.assess_itemsets('baskets', 'items', crack_danger => danger) a,
  disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => danger) GROUP BY danger ORDER BY danger;
SELECT itemset, method FROM summary, disclosure.vulnerable_itemsets_of(s, 3, 0.1, max_rows => 2);
SELECT * FROM disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => 0.1, itemsets => '{{1,2},{2,5},{3,NULL}}');
SELECT count(*) FROM disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => 0.1, itemset_table => 'pairs', skip_top => 1);
SELECT * FROM disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => 0.2, belief => 'k');
SELECT itemset FROM disclosure.vulnerable_itemsets('baskets', 'items', crack_danger => 1, phantoms => 1, width => 'point', size => 2);
SELECT count(*), bool_and(cardinality(itemset) = 12) FROM disclosure.vulnerable_itemsets('visits', 'diagnosis', 12, width => 'point', samples => 50);

-- No mapping, no transactions, nothing.
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', belief => 'k');
SELECT * FROM disclosure.itemset_risk('baskets', 'items', ARRAY['4', '6'], belief => 'k');
CREATE TABLE empty (items int[]);
INSERT INTO empty VALUES (NULL), ('{}'), ('{NULL}');
SELECT * FROM disclosure.expected_itemset_cracks('empty', 'items');
SELECT * FROM disclosure.itemset_risk('empty', 'items', ARRAY[1]);
SELECT * FROM disclosure.vulnerable_itemsets('empty', 'items');
SELECT count(*) FROM disclosure.expected_itemset_cracks_of(NULL), disclosure.itemset_risk_of(NULL, ARRAY[1]), disclosure.vulnerable_itemsets_of(NULL);
SELECT * FROM disclosure.itemset_risk('baskets', 'items', '{}'::int[]);
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', interest => '{}');
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', itemsets => '{}');

-- What is refused, before the first row is read.
CREATE VIEW unread AS SELECT 1 / 0 AS items;
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', 0);
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', NULL);
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', method => 'o_estimate');
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', interest => '{1}', itemsets => '{{1}}');
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', itemsets => '{{1}}', itemset_table => 'pairs');
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', relative_error => 0);
SELECT * FROM disclosure.expected_itemset_cracks('unread', 'items', phantoms => -1);
SELECT * FROM disclosure.itemset_risk('unread', 'items', NULL::int[]);
SELECT * FROM disclosure.itemset_risk('unread', 'items', ARRAY[1], method => 'os');
SELECT * FROM disclosure.itemset_risk('unread', 'items', ARRAY[1], budget => '-1 s');
SELECT * FROM disclosure.vulnerable_itemsets('unread', 'items', max_rows => 0);
SELECT * FROM disclosure.vulnerable_itemsets('unread', 'items', crack_danger => 2);
SELECT * FROM disclosure.vulnerable_itemsets('unread', 'items', method => 'simulate');
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', interest => '{beer}');
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', itemsets => '{{1,beer}}');
CREATE TEMP TABLE strange (itemset text[]);
INSERT INTO strange VALUES ('{1,beer}');
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', itemset_table => 'strange');
SELECT * FROM disclosure.vulnerable_itemsets('baskets', 'items', itemset_table => 'strange');
UPDATE strange SET itemset = '{}';
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', itemset_table => 'strange');
SELECT * FROM disclosure.expected_itemset_cracks('baskets', 'items', itemsets => '{1,2}');
SELECT * FROM disclosure.vulnerable_itemsets('baskets', 'items', belief => 'k', method => 'exact');
