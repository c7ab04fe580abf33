-- The recipes about cracks: what they decide for BigMart, all their options, and what is refused.
\pset null '(null)'
SET extra_float_digits = -3;
CREATE TABLE baskets (items text[]);
INSERT INTO baskets VALUES ('{1,2,3}'), ('{1,2,3,4}'), ('{4,6}'), ('{3,4,5,6}'), ('{5,6}'), ('{6}'), ('{1,2}'), ('{1,3,4}'), ('{1,3,5}'), ('{2,4,6}');
CREATE TABLE summary AS SELECT disclosure.count_items(items) AS s FROM baskets;

-- Fig. 8: three groups among six items; 11/6 cracks within the median gap.
SELECT tolerance, r.stage, r.tolerated, r.point_valued, r.width, r.o_estimate, r.expected * 6 AS eleven, r.method, r.alpha_max, r.verdict
  FROM unnest(ARRAY[0.1, 0.31, 0.5]) tolerance, disclosure.assess_items('baskets', 'items', tolerance) r;
SELECT r.stage, r.alpha_max, r.verdict FROM summary, disclosure.assess_items_of(s, 0.1) r;
SELECT r.stage, r.expected, r.lower, r.method, r.alpha_max FROM disclosure.assess_items('baskets', 'items', method => 'o_estimate', runs => 5) r;
SELECT r.method, r.lower < r.expected AND r.expected < r.upper AS has_bounds, r.verdict
  FROM disclosure.assess_items('baskets', 'items', tolerance => 0.5, method => 'simulate') r;
-- The same seed gives the same subsets.
SELECT count(DISTINCT r.alpha_max) FROM generate_series(1, 3), disclosure.assess_items('baskets', 'items', seed => 7) r;
-- A belief that no mapping agrees with: the O-estimate decides, as published.
CREATE TABLE k (item text, low float8, high float8);
INSERT INTO k VALUES ('1', 0.1, 0.4), ('2', 0.5, 0.5), ('3', 0.1, 0.3), ('4', 0.4, 0.6), ('5', 0.1, 0.4), ('6', 0.5, 0.5);
SELECT r.stage, r.o_estimate, r.expected, r.method, r.verdict FROM disclosure.assess_items('baskets', 'items', 0.1, belief => 'k') r;

-- Fig. 9: of 15 pairs, {2,5} is known to who knows all frequencies, and with 2 or 5 a quarter of others.
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', size => 2, crack_danger => 0.5, tolerance => 0.1, skip_top => 0.1);
SELECT danger, r.stage, r.point_valued * 15 AS vulnerable, r.vulnerable, r.alpha_max, r.verdict
  FROM unnest(ARRAY[0.01, 0.1, 0.2]) danger, disclosure.assess_itemsets('baskets', 'items', crack_danger => danger) r;
SELECT r.itemsets, r.point_valued, r.vulnerable FROM disclosure.assess_itemsets('baskets', 'items', size => 2, skip_top => 0.5, crack_danger => 0.1) r;
SELECT r.itemsets, r.method, r.vulnerable FROM disclosure.assess_itemsets('baskets', 'items', crack_danger => 0.13, method => 'o_estimate') r;
SELECT size, r.itemsets FROM generate_series(1, 7) size, disclosure.assess_itemsets('baskets', 'items', size => size) r;
-- Where no mapping agrees with the belief, the published estimate decides.
SELECT r.method, r.point_valued, r.verdict FROM disclosure.assess_itemsets('baskets', 'items', belief => 'k') r;
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', belief => 'k', method => 'exact');
-- Itemsets of interest by name.
SELECT r.itemsets, r.point_valued FROM disclosure.assess_itemsets('baskets', 'items', itemsets => ARRAY[['2', '5'], ['1', '2']]) r;
SELECT r.itemsets, r.point_valued FROM disclosure.assess_itemsets('baskets', 'items', itemsets => ARRAY[['2', '5', NULL], ['1', '2', '3']]) r;
CREATE TABLE interesting (itemset int[]);
INSERT INTO interesting VALUES ('{2,5}'), ('{5,2}'), ('{1,2,3}'), (NULL);
SELECT r.itemsets, r.point_valued FROM disclosure.assess_itemsets('baskets', 'items', itemset_table => 'interesting') r;
SELECT r.itemsets, r.point_valued FROM summary, disclosure.assess_itemsets_of(s, itemset_table => 'interesting') r;

-- Fig. 25.
SELECT knows, pairs, o_estimate, expected, method, verdict, alpha_max IS NOT NULL AS has_alpha
  FROM disclosure.assess_correlations('baskets', 'items', tolerance => 0.4, pairs => 3);
SELECT knows, pairs, abs(expected - 3) < 0.1 AS is_three, lower < 3 AND 3 < upper AS has_three, method
  FROM disclosure.assess_correlations('baskets', 'items', pairs => 1, among => 1, apart => 2) WHERE knows = 'apart';
SELECT knows FROM disclosure.assess_correlations('baskets', 'items', pairs => 0, among => 0);
-- Two items that are always together are believed to be equally frequent.
CREATE TABLE twins AS SELECT items || CASE WHEN '1' = ANY (items) THEN ARRAY['one'] ELSE '{}' END AS items FROM baskets;
SELECT knows, pairs FROM disclosure.assess_correlations('twins', 'items', pairs => 1) WHERE knows = 'refined beliefs';

-- Fig. 15.
SELECT fraction, transactions, compliancy BETWEEN lowest AND highest AS ordered, mean_gap_compliancy
  FROM disclosure_lab.similarity_by_sampling('baskets', 'items', fractions => ARRAY[0.1, 0.5, 1]);
SELECT count(*), count(DISTINCT r) FROM generate_series(1, 3), disclosure_lab.similarity_by_sampling('baskets', 'items', ARRAY[0.5], seed => 3) r;

-- Nothing, or nothing but NULL, is no transaction.
CREATE TABLE empty (items int[]);
INSERT INTO empty VALUES (NULL), ('{}'), ('{NULL}');
SELECT * FROM disclosure.assess_items('empty', 'items');
SELECT * FROM disclosure.assess_itemsets('empty', 'items');
SELECT * FROM disclosure.assess_correlations('empty', 'items');
SELECT * FROM disclosure_lab.similarity_by_sampling('empty', 'items');
SELECT * FROM disclosure.assess_items_of(NULL::disclosure.item_counts);
INSERT INTO empty VALUES ('{7}');
SELECT stage, items, expected, alpha_max, verdict FROM disclosure.assess_items('empty', 'items');
SELECT itemsets, point_valued FROM disclosure.assess_itemsets('empty', 'items', size => 1);
SELECT knows, expected FROM disclosure.assess_correlations('empty', 'items', apart => 3);

-- What is refused.
SELECT * FROM disclosure.assess_items('baskets', 'items', tolerance => 1.5);
SELECT * FROM disclosure.assess_items('baskets', 'items', tolerance => NULL);
SELECT * FROM disclosure.assess_items('baskets', 'items', runs => 0);
SELECT * FROM disclosure.assess_items('baskets', 'nothing');
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', size => 0);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', crack_danger => -1);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', skip_top => 2);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', method => 'simulate');
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', samples => 0);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', itemsets => ARRAY['2', '5']);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', itemsets => ARRAY[['2', 'beer']]);
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', itemsets => ARRAY[['2']], itemset_table => 'interesting');
SELECT * FROM disclosure.assess_itemsets('baskets', 'items', itemset_table => 'baskets');
SELECT * FROM disclosure.assess_correlations('baskets', 'items', pairs => -1);
SELECT * FROM disclosure.assess_correlations('baskets', 'items', nearly_always => NULL);
SELECT * FROM disclosure.assess_correlations('baskets', 'items', nearly_always => 2);
SELECT * FROM disclosure_lab.similarity_by_sampling('baskets', 'items', fractions => ARRAY[0.5, NULL]);
SELECT * FROM disclosure_lab.similarity_by_sampling('baskets', 'items', fractions => '{0.5,1.5}');
SELECT * FROM disclosure_lab.similarity_by_sampling('baskets', 'items', samples => 0);
