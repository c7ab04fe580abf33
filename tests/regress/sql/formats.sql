-- Stored summaries: what is stored does not depend on the session, and can be read whatever becomes of types.
LOAD 'pg_disclosure';
CREATE FUNCTION stored(disclosure.item_counts) RETURNS text LANGUAGE sql AS
  $$SELECT pg_catalog.encode(disclosure_internal.item_counts_send($1), 'escape')$$;
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate || ' ' || sqlerrm;
END $$;

-- The first byte is a version.
SELECT stored(disclosure.count_items(x)) FROM (VALUES (1), (2), (1)) v(x);
-- Settings of the session have no influence.
CREATE TYPE part AS (at timestamptz, price money, share float8, step interval, bytes bytea, kind regclass, day date);
CREATE TABLE things AS
  SELECT ('2026-02-01 12:00+00', '1234.5'::numeric::money, 0.1::float8 + 0.2, '1 day 02:03:04'::interval, '\x00ff',
          'pg_catalog.pg_class', '2026-02-01')::part AS p;
CREATE TABLE kept (what text, style text, s disclosure.item_counts);
CREATE FUNCTION keep(style text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO kept
  SELECT 'part', style, disclosure.count_items(p) FROM things UNION ALL
  SELECT 'at', style, disclosure.count_items((p).at) FROM things UNION ALL
  SELECT 'share', style, disclosure.count_items((p).share) FROM things UNION ALL
  SELECT 'step', style, disclosure.count_items((p).step) FROM things UNION ALL
  SELECT 'bytes', style, disclosure.count_items((p).bytes) FROM things UNION ALL
  SELECT 'kind', style, disclosure.count_items((p).kind) FROM things UNION ALL
  SELECT 'day', style, disclosure.count_items((p).day) FROM things
$$;
SELECT keep('plain');
BEGIN;
SET LOCAL DateStyle = 'German, DMY';
SET LOCAL IntervalStyle = 'iso_8601';
SET LOCAL extra_float_digits = -5;
SET LOCAL bytea_output = 'escape';
SET LOCAL TimeZone = 'Asia/Tokyo';
SET LOCAL quote_all_identifiers = on;
SELECT keep('odd');
-- They are as they were.
SELECT current_setting('DateStyle'), current_setting('TimeZone'), current_setting('bytea_output'), current_setting('search_path');
SELECT disclosure.rollup(s) FROM kept WHERE what = 'day';
SELECT '{"type": "date", "transactions": 1, "items": [["2026-02-01", 1]]}'::disclosure.item_counts;
COMMIT;
SELECT a.what, a.s::text = b.s::text AS the_same, a.s FROM kept a JOIN kept b USING (what) WHERE a.style = 'plain' AND b.style = 'odd' ORDER BY 1;

-- Neither has the order of rows, nor the plan.
CREATE TABLE many AS SELECT x % 100 AS item FROM generate_series(1, 20000) x;
ALTER TABLE many SET (parallel_workers = 2);
SELECT disclosure.count_items(item ORDER BY item DESC)::text = disclosure.count_items(item)::text AS any_order FROM many;
BEGIN;
SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT disclosure.count_items(item) FROM many;
CREATE TEMP TABLE in_parallel ON COMMIT DROP AS SELECT disclosure.count_items(item) s FROM many;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT s::text = (SELECT disclosure.count_items(item)::text FROM many) AS any_plan FROM in_parallel;
COMMIT;

-- Types and collations that are dropped, renamed or changed.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE span AS RANGE (subtype = float8);
CREATE COLLATION ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE stale (name text, s disclosure.item_counts);
INSERT INTO stale
SELECT 'enum', disclosure.count_items(x) FROM (VALUES ('sad'::mood), ('ok'), ('sad')) v(x) UNION ALL
SELECT 'enum', disclosure.count_items(x) FROM (VALUES ('sad'::mood), ('happy')) v(x) UNION ALL
SELECT 'pair', disclosure.count_items(x) FROM (VALUES ((1, 'a')::pair), ((2, 'b')::pair)) v(x) UNION ALL
SELECT 'pair', disclosure.count_items(x) FROM unnest(ARRAY[(1, 'a')::pair]) x UNION ALL
SELECT 'span', disclosure.count_items(x) FROM unnest(ARRAY['[1,2]'::span]) x UNION ALL
SELECT 'folded', disclosure.count_items(x) FROM (VALUES ('a'::text COLLATE ignoring_case), ('A'), ('b')) v(x) UNION ALL
SELECT 'folded', disclosure.count_items(x) FROM unnest(ARRAY['A'::text COLLATE ignoring_case]) x;
ALTER TYPE mood RENAME VALUE 'sad' TO 'gloomy';
SELECT name, disclosure.rollup(s) FROM stale GROUP BY name ORDER BY name;
DROP TYPE mood; DROP TYPE pair; DROP TYPE span; DROP COLLATION ignoring_case;
SELECT name, s FROM stale ORDER BY name, s::text;
SELECT name, length(disclosure_internal.item_counts_send(s)) > 0 AS sent FROM stale GROUP BY 1, 2 ORDER BY 1;
SELECT name, disclosure.rollup(s) FROM stale GROUP BY name ORDER BY name;
-- Their texts read back, here and elsewhere.
SELECT name, bool_and(s::text = s::text::disclosure.item_counts::text) AS reads_back FROM stale GROUP BY name ORDER BY name;
-- What only needs texts and counts still works.
SELECT transactions, items, expected FROM stale, disclosure.crack_report_of(s, width => 'point') WHERE name = 'enum' ORDER BY 1;
SELECT item, frequency FROM stale, disclosure.item_risk_of(s) WHERE name = 'span';
SELECT state_of($$SELECT disclosure.rollup(s) FROM stale$$);
-- The name is used again, for something else.
CREATE TYPE mood AS (x int);
SELECT state_of($$SELECT disclosure.rollup(s) FROM stale WHERE name = 'enum'$$);
SELECT s FROM stale WHERE name = 'enum' ORDER BY s::text;
DROP TYPE mood;
CREATE DOMAIN mood AS int[];
SELECT disclosure.rollup(s) FROM stale WHERE name = 'enum';
DROP DOMAIN mood;
-- In parallel.
CREATE TABLE spread AS SELECT s.s FROM stale s, generate_series(1, 2000) WHERE s.name = 'enum';
ALTER TABLE spread SET (parallel_workers = 2);
BEGIN;
SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT disclosure.rollup(s) FROM spread;
SELECT disclosure.rollup(s) FROM spread;
COMMIT;
-- Workers that have items of different types.
CREATE TABLE mixed AS
  SELECT CASE WHEN x < 3000 THEN a ELSE b END AS s
    FROM generate_series(1, 6000) x,
         (SELECT disclosure.count_items(x::text) a, disclosure.count_items(x * 1.0) b FROM generate_series(1, 1) x) v;
ALTER TABLE mixed SET (parallel_workers = 2);
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT state_of($$SELECT disclosure.rollup(s) FROM mixed$$);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

-- A table or role that items name.
CREATE TABLE named ();
CREATE TABLE of_names AS SELECT disclosure.count_items(x) s FROM (VALUES ('named'::regclass), ('pg_class')) v(x);
DROP TABLE named;
SELECT s, s::text::disclosure.item_counts::text = s::text AS reads_back FROM of_names;

-- Counts stay within bigint.
SELECT '{"type": "int", "transactions": 9223372036854775807, "items": [["1", 9223372036854775807]]}'::disclosure.item_counts;
SELECT state_of($$SELECT '{"type": "int", "transactions": 9223372036854775808, "items": [["1", 1]]}'::disclosure.item_counts$$);
SELECT state_of($$SELECT '{"type": "int", "transactions": 18446744073709551615, "items": [["1", 18446744073709551615]]}'::disclosure.item_counts$$);
CREATE TABLE large AS
  SELECT '{"type": "int", "transactions": 9223372036854775807, "items": [["1", 9223372036854775807]]}'::disclosure.item_counts s;
SELECT transactions FROM large, disclosure.crack_report_of(s);
SELECT state_of($$SELECT disclosure.rollup(s) FROM (SELECT s FROM large UNION ALL SELECT disclosure.count_items(x) FROM generate_series(1, 1) x) v$$);

-- Names of types and collations.
SELECT t AS type, state_of(format($$SELECT %L::disclosure.item_counts$$, json_build_object('type', t, 'transactions', 0, 'items', '[]'::json)))
  FROM unnest('{-,0,999999,"",text,TEXT,public.gone,gone,int[],record,public.gone.gone,"public.",select,anyelement,"timestamp with time zone","\"char\"",pg_catalog.int4,disclosure.item_counts}'::text[]) t;
SELECT c AS collation, state_of(format($$SELECT %L::disclosure.item_counts$$, json_build_object('type', 'text', 'collation', c, 'transactions', 0, 'items', '[]'::json)))
  FROM unnest('{-,99999,"",C,public.gone,gone}'::text[]) c;

-- Too large to be printed, or for the memory that is allowed.
SET disclosure.max_memory = '1MB';
SELECT state_of($$SELECT format('{"type": "text", "transactions": 1, "items": [["%s", 1]]}', repeat('x', 6000000))::disclosure.item_counts$$);
RESET disclosure.max_memory;
SELECT state_of($$SELECT disclosure.count_items(repeat(E'\x01', 50000000 * x)) FROM generate_series(1, 1) x$$);

-- Damaged texts are refused with a proper SQLSTATE, or print and read back as themselves.
CREATE TABLE seeds AS
  SELECT s::text AS text FROM kept WHERE style = 'plain' UNION ALL SELECT s::text FROM stale UNION ALL
  SELECT disclosure.count_items(item)::text FROM many WHERE item < 3;
CREATE FUNCTION mutated(text text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  at int;
  likely text := '"\[]{},: 019-.eEu' || E'\x01\x7f\u00e9';
BEGIN
  FOR i IN 1..1 + floor(random() * 3)::int LOOP
    at := 1 + floor(random() * (length(text) + 1))::int;
    text := CASE floor(random() * 6)::int
      WHEN 0 THEN left(text, at - 1)
      WHEN 1 THEN overlay(text PLACING '' FROM at FOR 1)
      WHEN 2 THEN overlay(text PLACING substr(likely, 1 + floor(random() * length(likely))::int, 1) FROM at FOR 0)
      WHEN 3 THEN overlay(text PLACING substr(text, 1 + floor(random() * length(text))::int, 5) FROM at FOR 2)
      ELSE overlay(text PLACING substr(likely, 1 + floor(random() * length(likely))::int, 1) FROM at FOR 1) END;
  END LOOP;
  RETURN text;
END $$;
CREATE FUNCTION reads_back(given text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  read disclosure.item_counts;
BEGIN
  read := given;
  RETURN CASE WHEN read::text::disclosure.item_counts::text = read::text THEN 'reads back' ELSE 'changes' END;
EXCEPTION WHEN OTHERS THEN
  RETURN left(sqlstate, 2);
END $$;
SELECT setseed(0.5);
CREATE TABLE fuzzed AS
  SELECT t AS text, reads_back(t) AS outcome FROM seeds, generate_series(1, 200), LATERAL mutated(text || left(generate_series::text, 0)) t;
SELECT outcome, count(*) > 50 AS often FROM fuzzed WHERE outcome NOT IN ('22', '42') GROUP BY 1;
SELECT count(*) FILTER (WHERE outcome IN ('22', '42')) > 500 AS refused FROM fuzzed;
