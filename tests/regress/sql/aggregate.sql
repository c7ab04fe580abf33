-- Road (c): aggregates, serial and parallel.
\pset null '(null)'
CREATE TABLE people AS
SELECT i AS id, i % 10 AS region, (i * 7) % 91 AS age, (i % 13)::text AS zip, ((i % 5)::numeric / 2) AS dose,
       nullif(i % 3, 0) AS maybe, ARRAY[i % 2, 1] AS codes
  FROM generate_series(1, 30000) i;
ANALYZE people;

SELECT disclosure.k_anonymity(age, zip), disclosure.k_anonymity(ROW(age, zip)), disclosure.k_anonymity(codes) FROM people;
SELECT region, disclosure.k_anonymity(zip, dose) FROM people WHERE region < 3 GROUP BY region ORDER BY region;
-- A FILTER that empties a group leaves NULL, others stay.
SELECT region, disclosure.k_anonymity(zip) FILTER (WHERE region <> 1) FROM people WHERE region < 3 GROUP BY region ORDER BY region;
SELECT disclosure.k_anonymity(zip) FILTER (WHERE false) FROM people;
SELECT disclosure.k_anonymity(zip) FROM people HAVING disclosure.k_anonymity(zip) > 2000;
-- DISTINCT and ORDER BY inside, several aggregates of one kind, GROUPING SETS.
SELECT disclosure.k_anonymity(DISTINCT zip, dose), disclosure.k_anonymity(zip, dose ORDER BY id), disclosure.k_anonymity(dose ORDER BY zip DESC) FROM people;
SELECT region, age, disclosure.k_anonymity(zip) FROM people WHERE region < 2 AND age < 2 GROUP BY GROUPING SETS ((region), (age), ()) ORDER BY 1, 2;
-- As a window aggregate: frames grow, and the final function is asked after every row.
SELECT i, disclosure.k_anonymity(i % 2) OVER (ORDER BY i) FROM generate_series(1, 6) i;
SELECT i, disclosure.k_anonymity(ROW(i % 2), 'wildcard') OVER (ORDER BY i ROWS 2 PRECEDING) FROM generate_series(1, 5) i;
SELECT i, disclosure.k_anonymity(CASE WHEN i > 2 THEN ROW(i % 2) END) OVER (ORDER BY i) FROM generate_series(1, 6) i;
-- Rows that are NULL as a whole.
SELECT disclosure.k_anonymity(r), disclosure.k_anonymity(r, 'wildcard') FROM (VALUES (NULL::people), (NULL), (NULL)) v(r);
SELECT disclosure.k_anonymity(CASE WHEN i > 3 THEN ROW(1, i % 2) END) FROM generate_series(1, 7) i;
SELECT disclosure.k_anonymity(CASE WHEN i > 99 THEN ROW(1, i % 2) END) FROM generate_series(1, 7) i;
-- Each column keeps its own collation.
CREATE COLLATION no_case_here (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT disclosure.k_anonymity(folded, exact) FROM (VALUES ('a' COLLATE no_case_here, 'x'), ('A', 'x'), ('b', 'y'), ('B', 'y')) v(folded, exact);

-- A forced parallel plan gives what the serial one gives.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
ALTER TABLE people SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT disclosure.k_anonymity(age, zip) FROM people;
CREATE VIEW measured AS
SELECT disclosure.k_anonymity(age, zip) AS columns, disclosure.k_anonymity(dose, codes) AS arrays,
       disclosure.k_anonymity(ROW(zip, maybe)) AS rows, disclosure.k_anonymity(ROW(zip, maybe, dose), 'wildcard') AS wildcard,
       disclosure.k_anonymity(p) AS whole_rows, disclosure.k_anonymity(zip) FILTER (WHERE id < 100) AS filtered
  FROM people p;
EXPLAIN (COSTS OFF) SELECT * FROM measured;
CREATE TEMP TABLE in_parallel AS TABLE measured;
SET max_parallel_workers_per_gather = 0;
SELECT 'serial' AS plan, * FROM measured UNION ALL SELECT 'parallel', * FROM in_parallel;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT region, disclosure.k_anonymity(zip, dose) FROM people GROUP BY region ORDER BY region;
SELECT region, disclosure.k_anonymity(zip, dose) FROM people GROUP BY region ORDER BY region LIMIT 3;
-- Partial states without rows, and with nothing but NULL rows.
SELECT disclosure.k_anonymity(zip) FILTER (WHERE id = 1), disclosure.k_anonymity(zip) FILTER (WHERE id < 0),
       disclosure.k_anonymity(CASE WHEN id = 30000 THEN ROW(1, 'x') END),
       disclosure.k_anonymity(CASE WHEN id < 0 THEN ROW(1, 'x') END) FROM people;
-- Partition by partition.
CREATE TABLE parted (region int, zip text) PARTITION BY LIST (region);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT i % 2, (i % 7)::text FROM generate_series(1, 1000) i;
ANALYZE parted;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT disclosure.k_anonymity(zip) FROM parted;
SELECT disclosure.k_anonymity(zip) = (SELECT min(n) FROM (SELECT count(*) n FROM parted GROUP BY zip) q) AS as_sql FROM parted;
SELECT region, disclosure.k_anonymity(zip) FROM parted GROUP BY region ORDER BY region;

-- What was meant for a relation is refused, not taken for one value.
SELECT disclosure.k_anonymity('people');
SELECT disclosure.k_anonymity('people'::regclass);
SELECT disclosure.k_anonymity('people'::text::regclass);
SELECT disclosure.k_anonymity('people', 'wildcard');
SELECT disclosure.k_anonymity('people', 'wildcard'::disclosure.null_treatment);
SELECT disclosure.k_anonymity('people', 'zip'), count(*) FROM people;
SELECT disclosure.k_anonymity('people', ARRAY['age', 'zip']);
SELECT disclosure.k_anonymity(age, 'people'::regclass) FROM people;
SELECT disclosure.k_anonymity('people') OVER ();
SELECT disclosure.k_anonymity('people'::regclass) OVER ();
SELECT disclosure.class_size('people') OVER ();
SELECT disclosure.class_size('people'::regclass) OVER ();
SELECT disclosure.class_size('people'::name, 1, 'value') OVER () FROM people LIMIT 1;
SELECT disclosure.rank_correlation('a', 'b');
SELECT disclosure.rank_correlation('people'::regclass, 1);
SELECT disclosure.count_items('people');
SELECT disclosure.count_items('people'::regclass);
SELECT disclosure.count_items(NULL);
SELECT disclosure.count_items(ARRAY['age']) FROM people GROUP BY region;
-- Constants beside a column, columns of type regclass, and volatile functions are not.
SELECT disclosure.k_anonymity(one, zip), disclosure.k_anonymity(zip, NULL::int) FROM (SELECT 1 AS one, zip FROM people) q;
SELECT disclosure.k_anonymity(tableoid::regclass), disclosure.count_items(tableoid::regclass) FROM parted_0;
SELECT DISTINCT disclosure.class_size(1, region) OVER () FROM parted;
CREATE SEQUENCE drawn;
SELECT disclosure.count_items(nextval('drawn') > 0) FROM people WHERE id < 4;
-- There is nothing to refuse without rows.
SELECT disclosure.k_anonymity('people') WHERE false;
-- In prepared statements, whatever their plan; in workers.
PREPARE measured(text) AS SELECT disclosure.k_anonymity($1) FROM parted;
SET plan_cache_mode = force_custom_plan;
EXECUTE measured('people');
SET plan_cache_mode = force_generic_plan;
EXECUTE measured('people');
RESET plan_cache_mode;
CREATE FUNCTION state_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT disclosure.k_anonymity('people'::text), disclosure.count_items(1) FROM people;
SELECT state_of('SELECT disclosure.k_anonymity(''people''::text) FROM people'), state_of('SELECT disclosure.count_items(1) FROM people'),
       state_of('SELECT disclosure.k_anonymity(1, zip), disclosure.count_items(zip) FROM people');

-- A column of type regclass is a column, also in a window and from an outer query.
CREATE TABLE of_relations (r regclass, x int);
INSERT INTO of_relations SELECT 'pg_class', i % 3 FROM generate_series(1, 9) i;
SELECT disclosure.k_anonymity(r, x) FROM of_relations;
SELECT DISTINCT disclosure.k_anonymity(r, x) OVER () FROM of_relations;
SELECT k FROM (SELECT DISTINCT r FROM of_relations) c, LATERAL (SELECT disclosure.k_anonymity(c.r, x) k FROM of_relations) s;
SELECT disclosure.k_anonymity('pg_class'::regclass, x) FROM of_relations;
