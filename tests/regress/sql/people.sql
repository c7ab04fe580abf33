-- People against released rows: what is known may be a value, a range or nothing.
\pset null '(null)'
SET extra_float_digits = -3;
CREATE TABLE voters (name text, age int4range, zip text);
CREATE TABLE patients (name text, age int, zip text, diagnosis text);
INSERT INTO voters VALUES ('Ann', '[30,35]', '1'), ('Bob', NULL, '1'), ('Cat', '[40,40]', '2'), ('Dan', '[20,50]', NULL);
INSERT INTO patients VALUES ('Ann', 31, '1', 'flu'), ('Bob', 60, '1', 'cold'), ('Cat', 40, '2', 'flu'), ('Dan', 33, '3', 'burn');
-- Only Dan can be the third zip code, so everybody is found.
SELECT * FROM disclosure.expected_reidentifications(known => 'voters', released => 'patients', columns => ARRAY['age', 'zip']);
SELECT * FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age', 'zip'], key => 'name');
-- By age alone, Ann and Dan could be each other.
SELECT people, o_estimate, expected, method, share FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age'], key => 'name');
SELECT people, o_estimate, expected, method FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age']);
SELECT r.method, abs(r.expected - 3) < 0.1 AS is_three, r.lower <= 3 AND 3 <= r.upper AS has_three
  FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age'], key => 'name', method => 'simulate') r;
SELECT expected, lower, method FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age'], method => 'o_estimate');

-- One person for every row of a class: a group of n is one expected find, with or without a key.
CREATE TABLE crowd AS SELECT x AS id, x % 3 AS a, x % 2 AS b FROM generate_series(1, 60) x;
SELECT people, rows, expected, o_estimate FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['a', 'b']);
SELECT people, rows, expected, o_estimate FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['a', 'b'], 'id');
SELECT expected FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['id']);
-- More people than rows, and more rows than people.
CREATE VIEW few AS SELECT * FROM crowd WHERE id <= 30;
SELECT people, rows, not_released, strangers, expected FROM disclosure.expected_reidentifications('crowd', 'few', ARRAY['a', 'b'], 'id');
SELECT people, rows, not_released, strangers, expected FROM disclosure.expected_reidentifications('few', 'crowd', ARRAY['a', 'b'], 'id');
-- A suppressed value can be anybody's; a value that is not released is nobody's.
CREATE TABLE suppressed AS SELECT id, CASE WHEN id > 6 THEN a END AS a FROM crowd WHERE id <= 12;
SELECT rows, expected < 3 AS fewer FROM disclosure.expected_reidentifications('suppressed', 'suppressed', ARRAY['a'], 'id');
CREATE TABLE elsewhere AS SELECT id, a + 100 AS a FROM crowd;
SELECT people, not_released, strangers, expected FROM disclosure.expected_reidentifications('elsewhere', 'crowd', ARRAY['a'], 'id');
-- Types that Postgres can compare; ranges of dates; odd names.
CREATE TABLE "Known To" ("the age" bigint, born daterange, who varchar);
CREATE TABLE "Released" ("the age" smallint, born date, who text);
INSERT INTO "Known To" VALUES (30, '[2000-01-01,2001-01-01)', 'a'), (40, '[1990-01-01,2000-01-01)', 'b'), (40, '(,)', 'c'), (40, 'empty', 'd');
INSERT INTO "Released" VALUES (30, '2000-06-01', 'a'), (40, '1995-06-01', 'b'), (40, '1980-06-01', 'c'), (40, '2000-06-01', 'd');
SELECT people, not_released, strangers, expected FROM disclosure.expected_reidentifications('"Known To"', '"Released"', ARRAY['the age', 'born'], 'who');
SELECT people, expected FROM disclosure.expected_reidentifications('"Known To"', '"Released"', ARRAY['born'], 'who');
-- Integers against numerics, and a key of another type; ranges with and without their ends.
CREATE TABLE ages (id bigint, age numeric, span int4range);
INSERT INTO ages VALUES (1, 30, '[30,31)'), (2, 30.0, '(,30)'), (3, 40.5, '(30,)'), (4, NULL, '[20,30)');
CREATE TABLE released_ages (id int, age int, span int);
INSERT INTO released_ages VALUES (1, 30, 30), (2, 30, 20), (3, 40, 40), (4, 40, NULL);
SELECT people, not_released, strangers, expected FROM disclosure.expected_reidentifications('ages', 'released_ages', ARRAY['age'], 'id');
SELECT people, not_released, strangers, expected FROM disclosure.expected_reidentifications('ages', 'released_ages', ARRAY['span'], 'id');
SELECT people, not_released, strangers, expected FROM disclosure.expected_reidentifications('released_ages', 'released_ages', ARRAY['age', 'span'], 'id');

-- Workers read the rows in any order; the answer is the same.
CREATE TABLE census AS SELECT i AS id, hashint4(i) & 127 AS a, hashint4(i + 7) & 127 AS b FROM generate_series(1, 20000) i;
CREATE TABLE neighbours AS SELECT * FROM census WHERE id % 40 = 0;
ALTER TABLE census SET (parallel_workers = 2);
ALTER TABLE neighbours SET (parallel_workers = 2);
ANALYZE census, neighbours;
CREATE TEMP VIEW found AS SELECT people, rows, not_released, strangers, round(o_estimate::numeric, 6) AS o_estimate, round(expected::numeric, 6) AS expected, method
  FROM disclosure.expected_reidentifications('neighbours', 'census', ARRAY['a', 'b'], key => 'id');
CREATE TEMP VIEW simulated AS SELECT expected, lower, upper
  FROM disclosure.expected_reidentifications('neighbours', 'census', ARRAY['a'], key => 'id', method => 'simulate', relative_error => 0.1);
SET max_parallel_workers_per_gather = 0;
SELECT * FROM found;
CREATE TEMP TABLE alone AS SELECT * FROM simulated;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT a, b, id FROM census;
SELECT * FROM found;
SELECT * FROM found;
SELECT s.expected = a.expected AND s.lower = a.lower AND s.upper = a.upper AS is_same FROM simulated s, alone a;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Nobody, and no rows.
CREATE TABLE nobody (LIKE crowd);
SELECT * FROM disclosure.expected_reidentifications('nobody', 'crowd', ARRAY['a']);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'nobody', ARRAY['a'], 'id');
SELECT * FROM disclosure.expected_reidentifications('nobody', 'nobody', ARRAY['a', 'b']);

-- What is refused.
SELECT * FROM disclosure.expected_reidentifications(NULL, 'crowd', ARRAY['a']);
SELECT * FROM disclosure.expected_reidentifications('crowd', NULL, ARRAY['a']);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', NULL);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', '{}');
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['a', NULL]);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['a', 'a']);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['nothing']);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'patients', ARRAY['zip']);
CREATE VIEW zips AS SELECT 1 AS zip, 1 AS name;
SELECT * FROM disclosure.expected_reidentifications('zips', 'patients', ARRAY['zip']);
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['b'], key => 'a');
SELECT * FROM disclosure.expected_reidentifications('zips', 'patients', ARRAY['zip'], key => 'name');
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['b'], key => 'nothing');
SELECT * FROM disclosure.expected_reidentifications('crowd', 'crowd', ARRAY['b'], method => 'guess');
SELECT * FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age'], method => 'simulate');
SELECT * FROM disclosure.expected_reidentifications('voters', 'patients', ARRAY['age'], method => 'exact', relative_error => -1);

-- Nor for types that have no order.
CREATE TABLE points AS
SELECT i AS id, CASE WHEN i % 4 > 0 THEN point(i % 7, 0) END AS spot, (i % 3)::text::xid AS x FROM generate_series(1, 50) i;
CREATE TABLE shuffled_points AS SELECT * FROM points ORDER BY md5(id::text);
SELECT one.expected = other.expected AS same
  FROM disclosure.expected_reidentifications('points', 'points', '{spot,x}', 'id', method => 'simulate') one,
       disclosure.expected_reidentifications('shuffled_points', 'shuffled_points', '{spot,x}', 'id', method => 'simulate') other;
