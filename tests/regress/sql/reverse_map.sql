-- Reverse mapping, rank shifts, rank correlation, and the reference maskers.
\pset null '(null)'
CREATE TABLE staff (id int, salary int, masked int);
INSERT INTO staff VALUES (1, 10, 33), (2, 20, 11), (3, 30, 58), (4, 40, 22), (5, 50, 47);

-- The example by hand.
SELECT id, disclosure.reverse_map(salary, masked) OVER () AS z, disclosure.rank_shift(salary, masked) OVER () AS shift FROM staff;
SELECT disclosure.rank_correlation(salary, masked) FROM staff;
SELECT disclosure.rank_correlation(salary, z) FROM (SELECT salary, disclosure.reverse_map(salary, masked) OVER () AS z FROM staff) s;
-- Its type is that of the original; the anonymised value may be of any type that has an order.
SELECT pg_typeof(disclosure.reverse_map(salary, masked::float8 / 7) OVER ()), disclosure.reverse_map(salary, masked::float8 / 7) OVER () FROM staff LIMIT 2;
SELECT id, disclosure.reverse_map('2026-01-01'::date + salary, chr(64 + masked)) OVER (ORDER BY id) FROM staff;
-- An unchanged column stays, and increasing transformations change nothing.
SELECT bool_and(salary = same AND z = stretched) FROM (
  SELECT salary, disclosure.reverse_map(salary, salary) OVER () AS same, disclosure.reverse_map(salary, masked) OVER () AS z,
         disclosure.reverse_map(salary, exp(masked / 10.0)) OVER () AS stretched FROM staff) s;
-- Partitions are mapped one by one.
SELECT id, disclosure.reverse_map(salary, masked) OVER (PARTITION BY id % 2 ORDER BY id) FROM staff;
SELECT count(*), count(DISTINCT z), sum(shift)
  FROM (SELECT disclosure.reverse_map(i, -i) OVER w AS z, disclosure.rank_shift(i, -i) OVER w AS shift FROM generate_series(1, 10000) i
        WINDOW w AS (PARTITION BY i % 2500)) s;

-- NULLs come last on both sides.
SELECT id, disclosure.reverse_map(x, y) OVER (ORDER BY id), disclosure.rank_shift(x, y) OVER (ORDER BY id)
  FROM (VALUES (1, 10, 3), (2, NULL, 1), (3, 30, NULL), (4, 20, 2)) t(id, x, y);
SELECT disclosure.reverse_map(NULL::int, NULL::text) OVER () FROM generate_series(1, 2);
SELECT disclosure.reverse_map(salary, masked) OVER () FROM staff WHERE false;
SELECT disclosure.rank_correlation(salary, masked) FROM staff WHERE false;
SELECT disclosure.rank_correlation(salary, masked), disclosure.rank_correlation(1, masked), disclosure.rank_correlation(salary, NULL::int) FROM staff WHERE id = 1;

-- Ties are broken at random, by the seed: Z is a permutation of X, whatever the seed, and equal rows do not move apart.
WITH t AS (SELECT i AS id, i % 4 AS x, i % 3 AS y FROM generate_series(1, 60) i),
     z AS (SELECT seed, id, x, y, disclosure.reverse_map(x, y, seed) OVER w AS z, disclosure.rank_shift(x, x, seed) OVER w AS unmoved
             FROM t, generate_series(1, 20) seed WINDOW w AS (PARTITION BY seed ORDER BY id))
SELECT count(DISTINCT zs) > 1 AS seeds_differ, bool_and(sorted = (SELECT array_agg(x ORDER BY x) FROM t)) AS permutes, sum(moved) AS moved
  FROM (SELECT seed, array_agg(z ORDER BY id) AS zs, array_agg(z ORDER BY z) AS sorted, sum(unmoved) AS moved FROM z GROUP BY seed) s;
SELECT count(*) FROM (SELECT disclosure.reverse_map(i % 4, i % 3, 7) OVER w = disclosure.reverse_map(i % 4, i % 3, seed => 7) OVER w AS same
                        FROM generate_series(1, 60) i WINDOW w AS (ORDER BY i)) s WHERE same;
-- Rows in any order: equal rows get the same results, as a multiset.
WITH t AS (SELECT i AS id, nullif(i % 4, 3) AS x, nullif(i * 7 % 5, 4) AS y FROM generate_series(1, 60) i),
     results AS (SELECT 1 AS way, x, y, disclosure.reverse_map(x, y, 5) OVER w AS z, disclosure.rank_shift(x, y, 5) OVER w AS shift FROM t WINDOW w AS (ORDER BY id)
                 UNION ALL
                 SELECT 2, x, y, disclosure.reverse_map(x, y, 5) OVER w, disclosure.rank_shift(x, y, 5) OVER w FROM t WINDOW w AS (ORDER BY id * 37 % 61))
SELECT count(DISTINCT all_of_it) AS answers FROM (SELECT array_agg((x, y, z, shift)::text ORDER BY (x, y, z, shift)::text) AS all_of_it FROM results GROUP BY way) s;
-- The mean rank of equal values counts in correlations.
SELECT round(disclosure.rank_correlation(x, y)::numeric, 6) FROM (VALUES (1, 2), (1, 1), (2, 3), (3, 3)) t(x, y);

-- Every kind of order: floats, enums, collations, composite types, arrays, domains.
SELECT x, disclosure.reverse_map(x, n) OVER (ORDER BY n) FROM (VALUES ('NaN'::float8, 1), ('-0', 2), ('-Infinity', 3), ('0', 4), ('1e300', 5), ('-1', 6)) t(x, n);
CREATE TYPE size AS ENUM ('small', 'large', 'huge');
SELECT x, disclosure.reverse_map(x, n) OVER (ORDER BY n) FROM (VALUES ('huge'::size, 1), ('small', 2), ('large', 3)) t(x, n);
SELECT x, disclosure.reverse_map(x COLLATE "C", n) OVER w AS c, disclosure.reverse_map(x COLLATE "und-x-icu", n) OVER w AS icu
  FROM (VALUES ('b', 1), ('B', 2), ('a', 3), ('Z', 4)) t(x, n) WINDOW w AS (ORDER BY n);
CREATE TYPE grade AS (level int, step text);
SELECT x, disclosure.reverse_map(x, n) OVER (ORDER BY n) FROM (VALUES (ROW(2, 'a')::grade, 1), (ROW(1, 'b')::grade, 2), (ROW(1, 'a')::grade, 3)) t(x, n);
SELECT x, disclosure.reverse_map(x, n) OVER (ORDER BY n) FROM (VALUES (ARRAY[2], 1), (ARRAY[1, 3], 2), (ARRAY[1], 3)) t(x, n);
CREATE DOMAIN euro AS numeric(10, 2) CHECK (value >= 0);
SELECT x, disclosure.reverse_map(x, n) OVER (ORDER BY n), pg_typeof(disclosure.reverse_map(x, n) OVER (ORDER BY n))
  FROM (VALUES (30::euro, 1), (10.5::euro, 2), (20::euro, 3)) t(x, n);
-- What is equal but not the same comes back as it was.
SELECT array_agg(z::text ORDER BY z::text) FROM (SELECT disclosure.reverse_map(x, n) OVER () AS z FROM (VALUES (1.0, 1), (1.00, 2), (1.000, 3)) t(x, n)) s;
-- Numerics of every size and sign, in the order of numbers; few of them fit into 64 bits.
WITH numbers(x) AS (VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (0), (0.00), (1), (-1), (10000), (9999.9999), (10000.0001), (-10000.0001), (1e-200),
       (-1e-200), (1e200), (-1e200), (12345678901234567890.123456789), (12345678901234567890.123456788), (0.0001), (0.00010001), (-0.0001), (1e240), (1e-243), (99999999999999.99)),
     small AS (SELECT (i * 7919 % 2001 - 1000)::numeric / (10 ^ (i % 7))::numeric AS x FROM generate_series(1, 2000) i)
SELECT bool_and(z = sorted) AS in_order, count(*)
  FROM (SELECT disclosure.reverse_map(x, n) OVER () AS z, row_number() OVER (ORDER BY x) AS n, x AS sorted
          FROM (SELECT x, row_number() OVER (ORDER BY x) AS n FROM numbers) s
        UNION ALL
        SELECT disclosure.reverse_map(x, n) OVER (), 0, sorted
          FROM (SELECT a.x, b.x AS sorted, b.n FROM (SELECT x, row_number() OVER () AS r FROM small) a
                  JOIN (SELECT x, row_number() OVER (ORDER BY x) AS n, row_number() OVER (ORDER BY x) AS r FROM small) b USING (r)) s) q;
-- What has no room in work_mem is sorted, and read back, from files.
SET work_mem = '64kB';
WITH texts AS (SELECT md5(i::text) AS x, i FROM generate_series(1, 10000) i),
     sorted AS (SELECT x, row_number() OVER (ORDER BY x) AS i FROM texts)
SELECT bool_and(z = sorted) AS in_order, count(*)
  FROM (SELECT disclosure.reverse_map(t.x, s.i) OVER () AS z, s.x AS sorted FROM texts t JOIN sorted s USING (i)) q;
RESET work_mem;
-- Values of an order of their own: not every type has one.
SELECT disclosure.reverse_map(point(1, 2), 1) OVER ();
SELECT disclosure.rank_shift(1, '{}'::json) OVER ();
SELECT disclosure.rank_correlation(point(1, i), i) FROM generate_series(1, 2) i;
SELECT disclosure.reverse_map(salary, masked, NULL) OVER () FROM staff;
-- Within a moving frame, as any aggregate.
SELECT id, disclosure.rank_correlation(salary, masked) OVER (ORDER BY id) FROM staff;

-- Rank swapping: a permutation, nobody farther than p percent of the rows.
SELECT count(DISTINCT z), max(abs(z - x)), count(*) FILTER (WHERE z <> x) > 900 AS most_move
  FROM (SELECT i AS x, disclosure.rank_swap(i, 5) OVER () AS z FROM generate_series(1, 1000) i) s;
SELECT bool_and(z = x) FROM (SELECT i AS x, disclosure.rank_swap(i, 0) OVER () AS z FROM generate_series(1, 10) i) s;
SELECT count(DISTINCT zs) > 1 FROM (SELECT seed, array_agg(z ORDER BY i) AS zs FROM (
  SELECT seed, i, disclosure.rank_swap(i::text, 50, seed) OVER (PARTITION BY seed ORDER BY i) AS z
    FROM generate_series(1, 10) i, generate_series(1, 9) seed) s GROUP BY seed) q;
SELECT disclosure.rank_swap(i, p) OVER () FROM generate_series(1, 2) i, (VALUES (101)) v(p);
SELECT disclosure.rank_swap(i, 'NaN') OVER () FROM generate_series(1, 2) i;
SELECT disclosure.rank_swap(i, NULL) OVER () FROM generate_series(1, 2) i;
-- Additive noise, in units of the standard deviation.
SELECT round(avg(z - x)::numeric, 1) AS mean, round((stddev_pop(z - x) / stddev_pop(x))::numeric, 2) AS share
  FROM (SELECT i AS x, disclosure.add_noise(i, 0.25) OVER () AS z FROM generate_series(1, 100000) i) s;
SELECT i, disclosure.add_noise(CASE i WHEN 2 THEN NULL ELSE i END, 0) OVER () FROM generate_series(1, 3) i;
SELECT disclosure.add_noise(i, -1) OVER () FROM generate_series(1, 2) i;
SELECT disclosure.add_noise('Infinity', 1) OVER ();
-- Microaggregation: the best groups of at least k.
SELECT x, disclosure.microaggregate(x, 2) OVER (ORDER BY x) FROM unnest(ARRAY[1, 2, 10, 11, 12, 30, NULL]) x;
SELECT x, disclosure.microaggregate(x, 9) OVER (ORDER BY x) FROM unnest(ARRAY[1, 2, 6]) x;
SELECT disclosure.microaggregate(i, 0) OVER () FROM generate_series(1, 2) i;
SELECT disclosure.microaggregate(i, NULL) OVER () FROM generate_series(1, 2) i;
DROP TABLE staff;
DROP TYPE size, grade;
DROP DOMAIN euro;

-- Against the definition in SQL, in types that are sorted in different ways: by keys, by their bytes where that is the order of
-- the type, and by Postgres. Some values are equal, and some are NULL.
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FUNCTION pg_temp.compared(x text) RETURNS TABLE (wrong bigint, lost bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    WITH v AS MATERIALIZED (SELECT i, %s AS x FROM generate_series(1, 2002) i, LATERAL (SELECT i * 7919 %% 1009 AS n) n),
         t AS MATERIALIZED (SELECT x.x, y.x AS y FROM v x JOIN v y ON y.i = x.i * 13 %% 2003),
         z AS MATERIALIZED (SELECT y, disclosure.reverse_map(x, y) OVER () AS z FROM t),
         a AS (SELECT x, row_number() OVER (ORDER BY x) AS r FROM t), b AS (SELECT z, row_number() OVER (ORDER BY y, z) AS r FROM z)
    SELECT count(*) FILTER (WHERE a.x IS DISTINCT FROM b.z),
           (SELECT count(*) FROM (SELECT x::text COLLATE "C" FROM t EXCEPT ALL SELECT z::text COLLATE "C" FROM z) d)
      FROM a FULL JOIN b USING (r)$q$, x);
END $$;
SELECT kind, wrong, lost
  FROM (VALUES ('numeric', $$nullif(n, 3)::numeric / 8$$), ('scales', $$round(n % 50, i % 4)$$), ('many digits', $$nullif(n, 3)::numeric / 7$$),
               ('one with many digits', $$CASE i WHEN 1500 THEN 1 / 3.0 ELSE nullif(n, 3) END$$),
               ('special', $$CASE n % 20 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN -1e-200 WHEN 2 THEN 1e200 ELSE n - 500 END$$),
               ('large', $$CASE i % 3 WHEN 0 THEN n ELSE (n || repeat('0', 5000))::numeric END$$),
               ('default', $$nullif(md5(n::text), md5('3'))$$), ('C', $$nullif(md5(n::text), md5('3')) COLLATE "C"$$),
               ('mixed case', $$CASE i % 2 WHEN 0 THEN upper(md5(n::text)) ELSE md5(n::text) END COLLATE "und-x-icu"$$),
               ('caseless', $$CASE i % 2 WHEN 0 THEN upper(md5((n % 90)::text)) ELSE md5((n % 90)::text) END COLLATE caseless$$),
               ('accents', $$((ARRAY['e', 'é', 'E', 'ê', 'f'])[1 + n % 5] || n % 9) COLLATE "und-x-icu"$$), ('short', $$repeat('a', n % 9)$$),
               ('char(n)', $$(n % 90)::text::char(9)$$), ('bpchar', $$rpad((n % 90)::text, 3 + i % 4)::bpchar$$),
               ('bytea', $$decode(md5(n::text), 'hex')$$), ('uuid', $$md5(n::text)::uuid$$), ('name', $$md5(n::text)::name$$),
               ('inet', $$'10.0.0.0'::inet + n * 7$$), ('interval', $$n * interval '7 h'$$), ('array', $$ARRAY[n % 30, n]$$),
               ('jsonb', $$jsonb_build_object('n', n % 90)$$)) kinds(kind, x), pg_temp.compared(x);
