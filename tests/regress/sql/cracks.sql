-- Expected cracks: GOLDEN values of BigMart, all forms of a call, and what is refused.
\pset null '(null)'
-- The last digits depend on the order in which items come.
SET extra_float_digits = -3;
CREATE TABLE baskets (items text[]);
INSERT INTO baskets VALUES ('{1,2,3}'), ('{1,2,3,4}'), ('{4,6}'), ('{3,4,5,6}'), ('{5,6}'), ('{6}'), ('{1,2}'), ('{1,3,4}'), ('{1,3,5}'), ('{2,4,6}');
CREATE TABLE visits AS SELECT unnest(items) AS diagnosis FROM baskets;

-- The calls as they are written.
SELECT disclosure.count_items(items) FROM baskets;
SELECT disclosure.cracks_of(disclosure.count_items(items)) * 6 AS eleven FROM baskets;
SELECT disclosure.cracks_of(disclosure.count_items(diagnosis)) * 6 AS eleven FROM visits;
SELECT disclosure.expected_cracks('baskets', 'items', width => 0.01, method => 'exact');
SELECT disclosure.expected_cracks('baskets', 'items') * 6 AS eleven;
CREATE TABLE s AS SELECT cardinality(items) AS region, disclosure.count_items(items) AS s FROM baskets GROUP BY 1;
SELECT disclosure.cracks_of(disclosure.rollup(s)) * 6 AS eleven FROM s;
SELECT region, disclosure.cracks_of(s) FROM s ORDER BY region;
SELECT region, disclosure.cracks_of(s, width => 'ignorant', method => 'exact') FROM s ORDER BY region;

-- Fig 2: f point-valued, g ignorant, f ± 0.1; and every way to give a width.
SELECT disclosure.expected_cracks('baskets', 'items', width => 'point') AS f,
       disclosure.expected_cracks('baskets', 'items', width => 'ignorant') AS g,
       disclosure.expected_cracks('baskets', 'items', width => 0.1) * 6 AS eleven,
       disclosure.expected_cracks('baskets', 'items', width => 0.1::float8) * 6 AS eleven,
       disclosure.expected_cracks('baskets', 'items', width => '0.1', method => 'o_estimate') * 15 AS twenty_two,
       disclosure.expected_cracks('baskets', 'items', width => 0) AS f,
       disclosure.expected_cracks('baskets', 'items', width => 1) AS g,
       disclosure.expected_cracks('baskets', 'items', width => 'mean') * 6 AS eleven;
-- h and k are tables. Types need not be the same, only their texts; a missing end knows nothing.
CREATE TABLE h (item int, low numeric, high float4);
INSERT INTO h VALUES (1, 0, 1), (2, 0.4, 0.5), (3, 0.5, NULL), (4, 0.4, 0.6), (5, 0.1, 0.4), (6, 0.5, 0.5);
CREATE TABLE k (high float8, item text, note text, low float8);
INSERT INTO k (item, low, high) VALUES ('1', 0.1, 0.4), ('2', 0.5, 0.5), ('3', 0.1, 0.3), ('4', 0.4, 0.6), ('5', 0.1, 0.4), ('6', 0.5, 0.5);
SELECT * FROM disclosure.crack_report('baskets', 'items', belief => 'h') \gx
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'h') * 16 AS twenty_nine,
       disclosure.expected_cracks('baskets', 'items', belief => 'h', method => 'o_estimate') * 30 AS forty_seven,
       disclosure.cracks_of(disclosure.rollup(s), 'h') * 16 AS twenty_nine FROM s;
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'k') AS exact,
       disclosure.expected_cracks('baskets', 'items', belief => 'k', method => 'exact') AS exact,
       disclosure.expected_cracks('baskets', 'items', belief => 'k', method => 'o_estimate') * 20 AS nineteen;
SELECT * FROM disclosure.crack_report('baskets', 'items', belief => 'k') \gx
SELECT * FROM disclosure.item_risk('baskets', 'items', belief => 'k') ORDER BY item;

SELECT item, frequency, group_size, candidates, round(crack_probability::numeric, 12) AS crack_probability
  FROM disclosure.item_risk('baskets', 'items', belief => 'h') ORDER BY crack_probability DESC, item;
SELECT sum(r.crack_probability) * 16 AS twenty_nine FROM (SELECT disclosure.rollup(s) AS s FROM s) q, disclosure.item_risk_of(q.s, 'h') r;
-- Itemsets: h exactly, f, g, and the published estimates.
SELECT x AS itemset, 1 / disclosure.crack_probability('baskets', 'items', x, belief => 'h') AS one_in
  FROM (VALUES (ARRAY['1', '2']), ('{1,3}'), ('{1,4}'), ('{1,5}'), ('{1,6}'), ('{2,3}'), ('{3,2,3}')) v(x);
SELECT disclosure.crack_probability('baskets', 'items', ARRAY[1, 2], width => 'point') * 4 AS f_12,
       disclosure.crack_probability('baskets', 'items', ARRAY[1, 3], width => 'point') * 6 AS f_13,
       disclosure.crack_probability('baskets', 'items', ARRAY['2', '5'], width => 'ignorant') * 15 AS g_25,
       disclosure.crack_probability('baskets', 'items', ARRAY[[1, 2], [3, 4]], width => 'ignorant') * 15 AS g_1234;
SELECT method, disclosure.crack_probability_of(s, '{1,2}'::text[], 'h', method => method)
  FROM (SELECT disclosure.rollup(s) AS s FROM s) q, unnest(ARRAY['exact', 'os', 'os2']) method;
SELECT disclosure.crack_probability('baskets', 'items', ARRAY['1', '2'], belief => 'k') AS nothing_agrees;
SELECT disclosure.crack_probability('baskets', 'items', ARRAY['beer']);
SELECT disclosure.crack_probability('baskets', 'items', NULL::text[]);
SELECT disclosure.crack_probability('baskets', 'items', ARRAY['1'], method => 'auto');
SELECT disclosure.crack_probability('baskets', 'items', ARRAY['1'], method => NULL);

-- Every method, and what a report makes of it.
SELECT m AS method, round(disclosure.expected_cracks('baskets', 'items', width => 0.1, method => m)::numeric, 6) AS cracks, r.method, r.lower <= 11 / 6.0 AS low, r.upper >= 11 / 6.0 AS high
  FROM unnest(ARRAY['auto', 'exact', 'o_estimate', 'propagated', 'refined']) m, disclosure.crack_report('baskets', 'items', width => 0.1, method => m) r;
SELECT abs(expected - 11 / 6.0) < 0.1 AS near, lower < expected AND expected < upper AS within, method
  FROM disclosure.crack_report('baskets', 'items', width => 0.1, method => 'simulate', seed => 7, relative_error => 0.02);
SELECT disclosure.expected_cracks('baskets', 'items', width => 0.1, alpha => 0.5) * 12 AS eleven;
SELECT * FROM disclosure.crack_report('baskets', 'items') \gx
SELECT exp(ln_matchings)::numeric(9, 3) AS mappings, degree_of_anonymity FROM disclosure.crack_report('baskets', 'items', width => 'ignorant');
SELECT r.* FROM (SELECT disclosure.rollup(s) AS s FROM s) q, disclosure.crack_report_of(q.s, width => 'point') r \gx

-- Items that never occur: named in a belief, or just known to be.
CREATE TABLE adversary AS TABLE h;
INSERT INTO adversary VALUES (7, 0, 0), (8, 0, 0.3);
DELETE FROM adversary WHERE item = 6;
SELECT item, frequency, group_size, candidates, round(crack_probability::numeric, 9) AS crack_probability
  FROM disclosure.item_risk('baskets', 'items', belief => 'adversary', phantoms => 1) ORDER BY item;
SELECT items, groups, singletons, max_gap, width, o_estimate FROM disclosure.crack_report('baskets', 'items', phantoms => 2);
SELECT disclosure.expected_cracks('baskets', 'items', width => 'point', phantoms => 1) AS four;
SELECT disclosure.crack_probability('baskets', 'items', ARRAY[7, 8], belief => 'adversary') AS phantoms_are_cracked_too;

-- Nothing to crack, and one item.
CREATE TABLE none (item int, items date[]);
SELECT disclosure.expected_cracks('none', 'item'), disclosure.expected_cracks('none', 'items', phantoms => 3), disclosure.crack_probability('none', 'item', ARRAY[1]);
SELECT disclosure.cracks_of(disclosure.count_items(item)), disclosure.cracks_of(disclosure.count_items(items)) FROM none;
SELECT * FROM disclosure.crack_report('none', 'item') \gx
SELECT * FROM disclosure.item_risk('none', 'item');
SELECT disclosure.cracks_of(NULL::disclosure.item_counts), (SELECT count(*) FROM disclosure.crack_report_of(NULL::disclosure.item_counts)) AS reports,
       (SELECT count(*) FROM disclosure.item_risk_of(NULL::disclosure.item_counts)) AS risks, disclosure.crack_probability_of(NULL::disclosure.item_counts, ARRAY[1]);
INSERT INTO none VALUES (1, '{2026-01-01}'), (NULL, '{}');
SELECT disclosure.expected_cracks('none', 'item'), disclosure.expected_cracks('none', 'items'), disclosure.cracks_of(disclosure.count_items(items)) FROM none;
SELECT * FROM disclosure.crack_report('none', 'items') \gx
SELECT * FROM disclosure.item_risk('none', 'items');

-- Any relation, as a plain SELECT by the same user would read it.
CREATE VIEW "Ödd ""View" AS SELECT items AS "the ""items" FROM baskets WHERE cardinality(items) > 1;
SELECT disclosure.expected_cracks('"Ödd ""View"', 'the "items', width => 'point');
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.parted (region int, items varchar(3)[]) PARTITION BY LIST (region);
CREATE TABLE elsewhere.part_1 PARTITION OF elsewhere.parted FOR VALUES IN (1);
CREATE TABLE elsewhere.part_2 PARTITION OF elsewhere.parted DEFAULT;
INSERT INTO elsewhere.parted SELECT cardinality(items), items FROM baskets;
SELECT disclosure.expected_cracks('elsewhere.parted', 'items', belief => 'h') * 16 AS twenty_nine;
CREATE ROLE pd_cracks;
GRANT SELECT ON h TO pd_cracks;
SET ROLE pd_cracks;
SELECT disclosure.expected_cracks('baskets', 'items');
RESET ROLE;
GRANT SELECT (items) ON baskets TO pd_cracks;
ALTER TABLE baskets ENABLE ROW LEVEL SECURITY;
CREATE POLICY long_ones ON baskets FOR SELECT TO pd_cracks USING (cardinality(items) > 2);
SET ROLE pd_cracks;
SELECT items, transactions FROM disclosure.crack_report('baskets', 'items');
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'k');
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'h', method => 'o_estimate') IS NOT NULL AS allowed;
RESET ROLE;
ALTER TABLE baskets DISABLE ROW LEVEL SECURITY;

-- Types of items: a belief or an itemset is compared by the item's own equality.
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE size AS ENUM ('s', 'm', 'l');
CREATE TABLE kinds (n numeric, t text COLLATE no_case, e size, u uuid, c char(4));
INSERT INTO kinds VALUES (1.0, 'Beer', 's', '00000000-0000-0000-0000-000000000001', 'ale'), (1.00, 'BEER', 's', '00000000-0000-0000-0000-000000000001', 'ale'), (2, 'wine', 'm', '00000000-0000-0000-0000-000000000002', 'a');
CREATE TABLE belief_n AS SELECT 1.000 AS item, 0.5 AS low, 1 AS high;
CREATE TABLE belief_t AS SELECT 'beer' AS item, 0.5 AS low, 1 AS high;
CREATE TABLE belief_e AS SELECT 's' AS item, 0.5 AS low, 1 AS high;
CREATE TABLE belief_u AS SELECT '{00000000-0000-0000-0000-000000000001}' AS item, 0.5 AS low, 1 AS high;
CREATE TABLE belief_c AS SELECT 'ale' AS item, 0.5 AS low, 1 AS high;
SELECT * FROM disclosure.item_risk('kinds', 'n', 'belief_n') ORDER BY item;
SELECT * FROM disclosure.item_risk('kinds', 't', 'belief_t') ORDER BY item;
SELECT * FROM disclosure.item_risk('kinds', 'e', 'belief_e') ORDER BY item;
SELECT * FROM disclosure.item_risk('kinds', 'u', 'belief_u') ORDER BY item;
SELECT * FROM disclosure.item_risk('kinds', 'c', 'belief_c') ORDER BY item;
SELECT disclosure.crack_probability('kinds', 't', ARRAY['beer', 'WINE']), disclosure.crack_probability('kinds', 'e', ARRAY['s', 'm']::size[]), disclosure.crack_probability('kinds', 'n', ARRAY[1]);

-- Bad beliefs.
CREATE TABLE bad (item text, low float8, high float8);
INSERT INTO bad VALUES ('1', 0.5, 0.4);
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
UPDATE bad SET low = -0.1;
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
UPDATE bad SET low = 'NaN';
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
UPDATE bad SET low = 0, high = 1.1;
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
UPDATE bad SET high = NULL;
INSERT INTO bad VALUES ('1', NULL, NULL);
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
UPDATE bad SET item = NULL;
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'kinds');
ALTER TABLE bad DROP COLUMN high;
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'bad');
CREATE INDEX an_index ON baskets (items);
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'an_index');
SELECT disclosure.expected_cracks('baskets', 'items', belief => 'no_such_table');

-- Bad options.
SELECT disclosure.expected_cracks('baskets', 'no_such_column');
SELECT * FROM disclosure.item_risk('baskets', NULL);
SELECT disclosure.expected_cracks(NULL::regclass, 'items');
SELECT disclosure.expected_cracks('an_index', 'items');
SELECT disclosure.expected_cracks('baskets', 'items', width => 'wide');
SELECT disclosure.expected_cracks('baskets', 'items', width => 1.5);
SELECT disclosure.expected_cracks('baskets', 'items', width => -0.1);
SELECT disclosure.expected_cracks('baskets', 'items', width => 'NaN');
SELECT disclosure.expected_cracks('baskets', 'items', width => NULL);
SELECT disclosure.expected_cracks('baskets', 'items', method => 'guess');
SELECT disclosure.expected_cracks('baskets', 'items', method => NULL);
SELECT disclosure.expected_cracks('baskets', 'items', alpha => 1.1);
SELECT disclosure.expected_cracks('baskets', 'items', alpha => NULL);
SELECT disclosure.expected_cracks('baskets', 'items', phantoms => -1);
SELECT disclosure.expected_cracks('baskets', 'items', phantoms => 2000000);
SELECT disclosure.expected_cracks('baskets', 'items', relative_error => 0, method => 'simulate');
SELECT disclosure.expected_cracks('baskets', 'items', relative_error => -1, method => 'exact');
SELECT disclosure.expected_cracks('baskets', 'items', relative_error => NULL);
-- They are found before the table is read.
CREATE FUNCTION unread() RETURNS SETOF int[] LANGUAGE plpgsql AS $$BEGIN RAISE 'the table was read'; END$$;
CREATE VIEW unread AS SELECT items FROM unread() AS items;
SELECT disclosure.expected_cracks('unread', 'items', alpha => 2);
SELECT disclosure.expected_cracks('unread', alpha => 2);
SELECT disclosure.expected_cracks('unread', belief => 'h');
SELECT * FROM disclosure.crack_report('unread', method => 'guess');
SELECT disclosure.expected_cracks('unread', 'items', width => 2);
SELECT disclosure.expected_cracks('unread', 'items', phantoms => -1);
SELECT disclosure.crack_probability('unread', 'items', ARRAY[1], method => 'guess');
SELECT * FROM disclosure.assess_items('unread', 'items', tolerance => 2);
SELECT * FROM disclosure.assess_itemsets('unread', 'items', skip_top => 2);
SELECT * FROM disclosure.assess_itemsets('unread', 'items', size => -1);
SELECT * FROM disclosure.assess_correlations('unread', 'items', nearly_always => 2);
SELECT * FROM disclosure_lab.similarity_by_sampling('unread', 'items', samples => 0);
SELECT disclosure.expected_cracks('unread', 'items');
DROP VIEW unread;
DROP FUNCTION unread();
SELECT disclosure.expected_cracks('baskets', 'items', seed => NULL);
SELECT disclosure.expected_cracks('baskets', 'items', budget => '-1 s');
-- Over the budget: exact says so, auto simulates and says that.
SELECT disclosure.expected_cracks('baskets', 'items', method => 'exact', budget => '0');
SELECT disclosure.crack_probability('baskets', 'items', ARRAY['1', '2'], belief => 'h', method => 'exact', budget => '0');
SELECT disclosure.expected_cracks('baskets', 'items', budget => '0') BETWEEN 0 AND 6 AS said_to_be_simulated;
-- A whole table: the sum over its columns, as if the values of each had been replaced by codes.
SET client_min_messages = warning; -- not every column has a label here
CREATE TABLE patients (name text, age int, zip char(5), "Ödd ""Näme" date, tags text[], never int, raw json, diagnosis text);
INSERT INTO patients
SELECT 'person ' || i, 20 + sqrt(i)::int, (90210 + i * i % 7)::text, date '2026-01-01' + i * i % 11, ARRAY[i % 2, sqrt(i)::int]::text[], NULL, to_json(i * i % 5), CASE WHEN i % 6 > 0 THEN 'D' || sqrt(i * 3)::int END
  FROM generate_series(1, 60) i;
SELECT disclosure.expected_cracks('patients') = sum(disclosure.expected_cracks('patients', c)) AS is_sum, count(disclosure.expected_cracks('patients', c)) AS columns
  FROM (SELECT attname AS c FROM pg_attribute WHERE attrelid = 'patients'::regclass AND attnum > 0 ORDER BY attnum) columns;
SELECT column_name, items, transactions, groups, expected, lower, upper, method FROM disclosure.crack_report('patients');
SELECT sum(expected) = disclosure.expected_cracks('patients') AS is_sum FROM disclosure.crack_report('patients');
SELECT r.* FROM disclosure.crack_report('patients') WITH ORDINALITY AS r WHERE column_name IN ('never', 'age') \gx
-- Every option is for each column, and every form of a call finds the one function.
SELECT disclosure.expected_cracks('patients', width => 'point') = sum(groups) AS point, disclosure.expected_cracks('patients', width => 1) = count(*) FILTER (WHERE items > 0) AS ignorant,
       disclosure.expected_cracks('patients', alpha => 0.5) = disclosure.expected_cracks('patients') / 2 AS half,
       disclosure.expected_cracks('patients', NULL, NULL, 0.01) = disclosure.expected_cracks('patients'::regclass, width => '0.01') AS positions,
       disclosure.expected_cracks('patients', method => 'o_estimate') = sum(o_estimate) AS estimates, disclosure.expected_cracks('patients', phantoms => 1, width => 0) = sum(groups) + count(*) FILTER (WHERE items > 0) AS phantoms
  FROM disclosure.crack_report('patients');
-- Labels take columns out, weights do not.
SELECT disclosure.label_column('patients', 'name', 'identifier'), disclosure.label_column('patients', 'raw', 'ignore'), disclosure.label_column('patients', 'age', 'quasi'),
       disclosure.label_column('patients', 'diagnosis', 'sensitive'), disclosure.label_column('patients', 'zip', 'likelihood=0 danger=0') \g /dev/null
SELECT string_agg(column_name, ', ') AS columns, sum(expected) = disclosure.expected_cracks('patients') AS is_sum FROM disclosure.crack_report('patients');
-- A column that is left out can still be asked for, and need not be readable.
SELECT disclosure.expected_cracks('patients', 'name');
CREATE ROLE pd_whole;
GRANT SELECT (age, zip, "Ödd ""Näme", tags, never, diagnosis) ON patients TO pd_whole;
CREATE TABLE before AS SELECT disclosure.expected_cracks('patients') AS cracks;
GRANT SELECT ON before TO pd_whole;
SET ROLE pd_whole;
SELECT disclosure.expected_cracks('patients') = cracks AS allowed FROM before;
SELECT disclosure.expected_cracks('patients', 'name');
RESET ROLE;
DROP OWNED BY pd_whole;
DROP ROLE pd_whole;
-- The same for any order of rows, number of threads and plan, simulated too.
CREATE TABLE shuffled AS SELECT age, zip, "Ödd ""Näme", tags, never, diagnosis FROM patients ORDER BY md5(name);
SELECT disclosure.expected_cracks('shuffled') = cracks AS any_order, disclosure.expected_cracks('shuffled', method => 'simulate', relative_error => 0.1) = disclosure.expected_cracks('patients', method => 'simulate', relative_error => 0.1) AS simulated FROM before;
SET disclosure.threads = 1;
SELECT disclosure.expected_cracks('shuffled') = cracks AS one_thread FROM before;
RESET disclosure.threads;
BEGIN;
ALTER TABLE shuffled SET (parallel_workers = 2);
SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0;
SELECT disclosure.expected_cracks('shuffled') = cracks AS in_parallel FROM before;
COMMIT;
-- Nothing at all, one row, nothing but NULL, no columns, and none that take part.
CREATE TABLE bare ();
INSERT INTO bare DEFAULT VALUES;
CREATE TABLE blank (a int, b text[]);
SELECT disclosure.expected_cracks('bare') AS bare, (SELECT count(*) FROM disclosure.crack_report('bare')) AS reports, disclosure.expected_cracks('blank') AS blank;
SELECT column_name, items, transactions, expected FROM disclosure.crack_report('blank');
INSERT INTO blank VALUES (NULL, '{}');
SELECT disclosure.expected_cracks('blank') AS nothing_but_null;
UPDATE blank SET a = 1, b = '{x,y}';
SELECT disclosure.expected_cracks('blank') AS one_row, disclosure.expected_cracks('blank', 'b') AS b;
SELECT disclosure.label_column('blank', 'a', 'ignore'), disclosure.label_column('blank', 'b', 'identifier') \g /dev/null
SELECT disclosure.expected_cracks('blank') AS none_take_part, (SELECT count(*) FROM disclosure.crack_report('blank')) AS reports;
-- Views and partitions.
CREATE VIEW "A ""view" AS SELECT age AS "the age", tags FROM patients;
SELECT disclosure.expected_cracks('"A ""view"') = disclosure.expected_cracks('patients', 'age') + disclosure.expected_cracks('patients', 'tags') AS is_sum;
SELECT disclosure.expected_cracks('elsewhere.parted') = disclosure.expected_cracks('elsewhere.parted', 'region') + disclosure.expected_cracks('elsewhere.parted', 'items') AS is_sum;
-- One budget for all columns.
SELECT disclosure.expected_cracks('patients', method => 'exact', budget => '0');
SELECT disclosure.expected_cracks('patients', budget => '0') > 0 AS said_to_be_simulated;
SELECT DISTINCT method FROM disclosure.crack_report('patients', budget => '0');
-- A belief is about one column.
SELECT disclosure.expected_cracks('patients', belief => 'h');
SELECT * FROM disclosure.crack_report('patients', NULL, 'h');
SELECT disclosure.expected_cracks(NULL);
SELECT disclosure.expected_cracks('an_index');
SELECT disclosure.crack_probability('patients', NULL, ARRAY[1]);
SELECT disclosure.count_items('patients', NULL);
SELECT disclosure.count_items('baskets', 'items')::text = disclosure.count_items(items)::text AS same, disclosure.cracks_of(disclosure.count_items('baskets', 'items')) * 6 AS eleven FROM baskets;
SELECT disclosure.count_items('bare', 'a');
SELECT disclosure.count_items('none', 'item');
RESET client_min_messages;
DROP OWNED BY pd_cracks;
DROP ROLE pd_cracks;
