-- Transactions of any type become counts of items, which are stored, merged and read again.
\pset null '(null)'
SET client_min_messages = warning;

-- An array is the set of its elements, whatever its dimensions; NULL and arrays without elements are no transactions.
SELECT disclosure.count_items(x) FROM (VALUES ('{1,2,2,NULL}'::int[]), ('{}'), (NULL), ('{NULL,NULL}'), ('{{3,1},{2,-5}}'), ('[7:8]={1,9}')) t(x);
SELECT disclosure.count_items(x)
  FROM (VALUES ('{a,b,a,NULL}'::text[]), ('{}'), (NULL), ('{NULL}'), ('{{c,a},{"longer than seven",""}}'), (ARRAY[repeat('x', 3), repeat('long ', 60)])) t(x);
-- No rows at all, and none that is a transaction.
SELECT disclosure.count_items(x) FROM (VALUES (1)) t(x) WHERE false;
SELECT disclosure.count_items(x), disclosure.cracks_of(disclosure.count_items(x)) FROM (VALUES (NULL::int[]), ('{}')) t(x);
-- A single value is a single item.
SELECT disclosure.count_items(x) FROM (VALUES ('flu'), ('hiv'), (NULL), ('flu')) t(x);

-- Any type, alone and in arrays; what is equal is what the type says.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN code AS int CHECK (VALUE > 0);
CREATE DOMAIN basket AS int[] CHECK (cardinality(VALUE) < 9);
CREATE COLLATION ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE types (
  i2 int2, i8 int8, n numeric, f4 float4, f8 float8, b boolean, d date, ts timestamptz, u uuid, m mood, p pair, c code, bs basket,
  t text, v varchar(5), ch char(3), na name, by bytea, j jsonb, x xml, pt point, ig text COLLATE ignoring_case, one "char", iv int4range
);
INSERT INTO types VALUES
  (1, 1 << 30, 1.0, 0, 0, true, '2026-01-01', '2026-01-01', '6b29fc40-ca47-1067-b31d-00dd010662da', 'sad', (1, 'a'), 1, '{1,2}', 'é', 'v', 'a', 'n', '\x00ff', '{"a": 1}', '<a/>', '(1,2)', 'Beer', 'q', '[1,3)'),
  (-1, -1, 1.00, -0.0, 'NaN', false, '2026-01-02', '2026-01-01 01:00+01', '6B29FC40CA471067B31D00DD010662DA', 'ok', (1, 'a'), 2, '{2,2}', '"', 'v', 'a', 'n', '\x00ff', '{"a": 1.0}', '<b/>', '(1,2)', 'BEER', 'q', '[1,2]'),
  (NULL, 1 << 30, 2, 0, '-NaN', true, '2026-01-01', NULL, '00000000-0000-0000-0000-000000000000', 'sad', (NULL, 'b'), 1, NULL, E'tab\t', 'w', 'abc', 'n', '\x', '1', '<a/>', '(2,1)', 'wine', 'r', 'empty');
DO $$
DECLARE
  of_column text;
  one disclosure.item_counts;
  in_arrays disclosure.item_counts;
BEGIN
  FOR of_column IN SELECT attname FROM pg_attribute WHERE attrelid = 'types'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'bs' ORDER BY attnum LOOP
    EXECUTE format('SELECT disclosure.count_items(%1$I), disclosure.count_items(ARRAY[%1$I, NULL, %1$I]) FROM types', of_column) INTO one, in_arrays;
    RAISE WARNING '%: %', of_column, one;
    IF one::text <> in_arrays::text THEN
      RAISE WARNING '  in arrays %', in_arrays;
    END IF;
    IF (one::text::disclosure.item_counts)::text <> one::text THEN
      RAISE WARNING '  as text and back %', one::text::disclosure.item_counts;
    END IF;
  END LOOP;
END $$;
SELECT disclosure.count_items(bs) FROM types;
SELECT disclosure.count_items(t) FROM types t;
SELECT disclosure.count_items(ROW(i2, t)) FROM types;
SELECT disclosure.count_items(ARRAY[ROW(i2, t)]) FROM types;

-- Toasted, compressed and expanded arrays.
CREATE TABLE wide (plain int[], packed text[]);
ALTER TABLE wide ALTER plain SET STORAGE external;
INSERT INTO wide SELECT array_agg(i % 1500), array_agg((i % 1500)::text || repeat('-', 20)) FROM generate_series(1, 3000) i, generate_series(1, 5) row GROUP BY row;
SELECT length(disclosure.count_items(plain)::text), disclosure.count_items(plain)::text LIKE '{"type": "integer", "transactions": 5, "items": [["0", 5], ["1", 5], %' AS begins,
       length(disclosure.count_items(packed)::text) FROM wide;
CREATE FUNCTION expanded() RETURNS int[] LANGUAGE plpgsql AS $$ DECLARE a int[] := '{}'; BEGIN a[3] := 5; a[1] := 4; RETURN a; END $$;
SELECT disclosure.count_items(expanded()) FROM generate_series(1, 2);

-- Plain SQL is the judge: serial, in parallel, merged, and from a table.
SELECT setseed(0.5);
CREATE TABLE baskets AS
SELECT id, id % 7 AS region, array_agg(item) AS items, array_agg('item ' || item) AS named
  FROM (SELECT i % 2000 AS id, (200 * random() ^ 3)::int AS item FROM generate_series(1, 20000) i) drawn GROUP BY id;
INSERT INTO baskets VALUES (-1, 0, NULL, NULL), (-2, 0, '{}', '{}'), (-3, 1, '{NULL}', '{NULL}');
ANALYZE baskets;
CREATE FUNCTION by_sql(of_column text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE format($q$
    SELECT '{"type": %2$s, "transactions": ' || (SELECT count(*) FROM baskets WHERE EXISTS (SELECT FROM unnest(%1$I) x WHERE x IS NOT NULL)) || ', "items": ['
           || string_agg(format('["%%s", %%s]', item, n), ', ' ORDER BY n DESC, item::text COLLATE "C") || ']}'
      FROM (SELECT item, count(DISTINCT id) AS n FROM baskets, unnest(%1$I) item WHERE item IS NOT NULL GROUP BY item) q $q$, of_column, kind)
     INTO answer;
  RETURN answer;
END $$;
CREATE VIEW measured AS
SELECT disclosure.count_items(items)::text AS items, disclosure.count_items(named)::text AS named,
       disclosure.count_items(region)::text AS region, disclosure.count_items(items) FILTER (WHERE id < 0)::text AS none,
       disclosure.count_items(items) FILTER (WHERE id = 5)::text AS one,
       round(disclosure.cracks_of((SELECT disclosure.count_items(items) FROM baskets))::numeric, 9) AS cracks FROM baskets;
SELECT items = by_sql('items', '"integer"') AS items, named = by_sql('named', '"pg_catalog.text"') AS named, none FROM measured;
CREATE TEMP TABLE serial AS TABLE measured;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
ALTER TABLE baskets SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT disclosure.count_items(items) FROM baskets;
EXPLAIN (COSTS OFF) SELECT disclosure.cracks_of(counts) FROM (SELECT disclosure.count_items(items) AS counts FROM baskets) q;
SELECT count(*) AS plans_that_agree FROM (TABLE serial INTERSECT TABLE measured) q;

CREATE TABLE by_region AS SELECT region, disclosure.count_items(items) AS s, disclosure.count_items(named) AS n FROM baskets GROUP BY region;
INSERT INTO by_region VALUES (99, NULL, NULL);
ANALYZE by_region;
SELECT disclosure.rollup(s)::text = (SELECT items FROM serial) AS items, disclosure.rollup(n)::text = (SELECT named FROM serial) AS named FROM by_region;
ALTER TABLE by_region SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT disclosure.rollup(s) FROM by_region;
SET max_parallel_workers_per_gather = 0;
SELECT disclosure.rollup(s)::text = (SELECT items FROM serial) AS items, round(disclosure.cracks_of(disclosure.rollup(s))::numeric, 9) = (SELECT cracks FROM serial) AS cracks FROM by_region;
SELECT region, disclosure.rollup(s)::text = (SELECT disclosure.count_items(items)::text FROM baskets b WHERE b.region = r.region) AS same FROM by_region r WHERE region < 3 GROUP BY region ORDER BY region;
SELECT disclosure.rollup(s) FROM by_region WHERE region = 99;
SELECT disclosure.rollup(s) FROM by_region WHERE false;
-- As a window, the summary grows.
SELECT disclosure.count_items(x) OVER (ORDER BY x) FROM generate_series(1, 3) x;
SELECT disclosure.count_items(DISTINCT x ORDER BY x) FROM (VALUES ('{1,2}'::int[]), ('{1,2}'), ('{3}')) t(x);
-- Thousands of groups.
SELECT count(*), count(DISTINCT s::text) FROM (SELECT disclosure.count_items(i % 3) AS s FROM generate_series(1, 20000) i GROUP BY i % 5000) q;
-- Partition by partition.
CREATE TABLE parted (region int, items int[]) PARTITION BY LIST (region);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0, 1, 2);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT region, items FROM baskets;
SET enable_partitionwise_aggregate = on;
SELECT disclosure.count_items(items)::text = (SELECT items FROM serial) AS partitioned FROM parted;

-- Items of different types do not merge; equal texts under a collation do.
CREATE TABLE one AS SELECT 1 AS x, 'a'::text AS a;
SELECT disclosure.rollup(s) FROM (SELECT disclosure.count_items(x) FROM one UNION ALL SELECT disclosure.count_items(x::bigint) FROM one) q(s);
SELECT disclosure.rollup(s) FROM (SELECT disclosure.count_items(a COLLATE ignoring_case) FROM one UNION ALL SELECT disclosure.count_items(upper(a) COLLATE "C") FROM one) q(s);
SELECT disclosure.rollup(s) FROM (SELECT disclosure.count_items(a COLLATE ignoring_case) FROM one UNION ALL SELECT disclosure.count_items(upper(a) COLLATE ignoring_case) FROM one) q(s);
SELECT disclosure.rollup(s) FROM (SELECT disclosure.count_items(a COLLATE "C") FROM one UNION ALL SELECT disclosure.count_items(a COLLATE "default") FROM one) q(s);
SELECT disclosure.rollup(s) FROM (SELECT disclosure.count_items(x * 1.0) FROM one UNION ALL SELECT disclosure.count_items(x * 1.00) FROM one) q(s);

-- As text: what is not a summary is refused.
SELECT '{"type": "text", "transactions": 2, "items": [["beer", 2], ["wine", 1]]}'::disclosure.item_counts;
SELECT '{"type": "int", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 2'::disclosure.item_counts;
SELECT '[]'::disclosure.item_counts;
SELECT '{"type": 1, "transactions": 1, "items": []}'::disclosure.item_counts;
SELECT '{"type": "no_such_type", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "int[]", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "record", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "anyelement", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "text", "collation": "no_such", "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "text", "collation": 1, "transactions": 0, "items": []}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": -1, "items": []}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": {}}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a"]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a", 2]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a", 0]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a", 1.5]]}'::disclosure.item_counts;
SELECT '{"type": "numeric", "transactions": 1, "items": [["1.0", 1], ["1.00", 1]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 2, "items": [["a", 1]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a\u0000", 1]]}'::disclosure.item_counts;
SELECT '{"type": "text", "transactions": 1, "items": [["a", 1]], "more": 1}'::disclosure.item_counts;

-- What is kept is not harmed by what happens to types.
CREATE TYPE changing AS (a int, b text);
CREATE TABLE kept AS SELECT disclosure.count_items((x, 'b')::changing) AS s FROM generate_series(1, 2) x;
ALTER TYPE changing ALTER ATTRIBUTE a TYPE text, ADD ATTRIBUTE c int;
SELECT s FROM kept;
ALTER TYPE changing DROP ATTRIBUTE c;
SELECT s FROM kept;
CREATE TYPE gone AS ENUM ('a', 'b');
CREATE TABLE of_gone AS SELECT disclosure.count_items(x) AS s FROM unnest('{a}'::gone[]) x;
DROP TYPE gone;
SELECT count(*) FROM of_gone;

-- Memory is bounded, and nothing stays behind.
SET disclosure.max_memory = '1MB';
SELECT disclosure.count_items(i) FROM generate_series(1, 1000000) i;
SET enable_sort = off;
SELECT count(s) FROM (SELECT disclosure.count_items(i) AS s FROM generate_series(1, 100000) i GROUP BY i) q;
RESET enable_sort;
RESET disclosure.max_memory;
CREATE FUNCTION probe_memory_in_use() RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_memory_in_use_wrapper';
SELECT probe_memory_in_use() < 1 << 20 AS little;
