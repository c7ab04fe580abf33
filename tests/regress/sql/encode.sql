-- One encoder for every type: what the type's own equality calls equal is one value.
\pset null '(null)'

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN percent AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE TYPE address AS (street text, zip int);
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

CREATE TABLE every_type (
  a_bool bool, an_int2 int2, an_int4 int4, an_int8 int8, a_float4 float4, a_float8 float8, a_numeric numeric,
  a_text text, a_varchar varchar(10), a_char char(5), a_bare_char bpchar, a_name name, one_byte "char",
  no_case text COLLATE ignore_case,
  a_date date, a_time time, a_timetz timetz, a_timestamp timestamp, a_timestamptz timestamptz, an_interval interval,
  a_uuid uuid, an_oid oid, a_regclass regclass, some_bytea bytea, an_inet inet, a_macaddr macaddr, a_money money,
  some_bits bit(4), a_varbit varbit,
  an_enum mood, a_domain percent, a_composite address,
  int_array int[], text_array text[], numeric_array numeric[], composite_array address[],
  a_range numrange, a_multirange int4multirange,
  a_json json, a_jsonb jsonb, an_xml xml, a_point point, a_tsvector tsvector
);

-- Two images of one value in every column that can have them, then a different value, then NULL.
INSERT INTO every_type VALUES
 (true, 1, 1, 1, 0, 0, 1.0, 'a', 'a', 'a', 'a', 'a', 'a', 'strasse',
  '2020-01-01', '12:00', '12:00+00', '2020-01-01', '2020-01-01 00:00+00', '1 day',
  'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, 'pg_class', '\x00ff', '10.0.0.1', '08:00:2b:01:02:03', '1.00',
  '1010', '1010',
  'sad', 1.0, ROW('a', 1), '{1,2}', '{a,b}', '{1.0,2}', ARRAY[ROW('a', 1)::address],
  '[1.0,2)', '{[1,2)}', '{"a": 1}', '{"a": 1.0}', '<a/>', '(1,2)', 'a b'),
 (true, 1, 1, 1, '-0', '-0', 1.00, 'a', 'a', 'a    ', 'a  ', 'a', 'a', 'STRASSE',
  '2020-01-01', '12:00', '12:00+00', '2020-01-01', '2020-01-01 01:00+01', '24 hours',
  'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 1, 'pg_class', '\x00ff', '10.0.0.1', '08002b010203', '1.00',
  '1010', '1010',
  'sad', 1.00, ROW('a', 1), '{1,2}', '{a,b}', '{1.00,2.0}', ARRAY[ROW('a', 1)::address],
  '[1.00,2.0)', '{[1,1]}', '{"a": 1}', '{"a": 1.00}', '<a/>', '(1,2)', 'b a'),
 (false, 2, 2, 2, 'NaN', 'NaN', 'NaN', 'A', 'A', 'A', 'A', 'A', 'A', 'strasze',
  '2020-01-02', '12:01', '13:00+01', '2020-01-02', '2020-01-02 00:00+00', '2 days',
  'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 2, 'pg_type', '\x00fe', '10.0.0.2', '08:00:2b:01:02:04', '2.00',
  '1011', '101',
  'ok', 2.0, ROW('a', 2), '{2,1}', '{b,a}', '{2.0,1}', ARRAY[ROW('b', 1)::address],
  '[1.0,3)', '{[1,3)}', '{"a": 2}', '{"a": 2}', '<b/>', '(2,1)', 'a c');
INSERT INTO every_type (a_bool) VALUES (NULL);

SELECT * FROM disclosure.column_profile('every_type');

-- The same rows as a window partition, whole and column by column, and as aggregates.
SELECT a_numeric, disclosure.class_size(a_numeric) OVER (), disclosure.class_size(no_case) OVER (),
       disclosure.class_size(ROW(an_interval, a_bare_char, a_composite)) OVER ()
  FROM every_type ORDER BY ctid;
SELECT disclosure.k_anonymity(a_numeric), disclosure.k_anonymity(no_case), disclosure.k_anonymity(numeric_array),
       disclosure.k_anonymity(a_numeric) FILTER (WHERE a_bool) AS the_two_equal_ones
  FROM every_type;

-- Long values, compressed and stored out of line, are the same value as the short road to them.
CREATE TABLE long_values AS SELECT repeat('x', 100000) AS packed, i FROM generate_series(1, 2) i;
ALTER TABLE long_values ALTER packed SET STORAGE EXTERNAL;
INSERT INTO long_values SELECT repeat('x', 100000), 3;
INSERT INTO long_values SELECT repeat('x', 99999) || 'y', 4;
SELECT * FROM disclosure.column_profile('long_values');
SELECT i, disclosure.class_size(packed) OVER (), disclosure.class_size(ROW(packed)) OVER () FROM long_values ORDER BY i;

-- Values come back as texts.
SELECT examples FROM disclosure.equivalence_classes('every_type',
  ARRAY['a_float8', 'a_numeric', 'an_interval', 'an_enum', 'a_composite', 'int_array', 'a_timestamptz', 'a_uuid', 'a_name', 'a_char', 'no_case'],
  examples => 2) WHERE size = 1;

-- Many distinct values of every layout, against what Postgres counts.
CREATE TABLE many AS
SELECT i % 7919 AS by_value, (i % 7919)::text AS by_reference, (i % 7919)::numeric / 8 AS numbers,
       md5((i % 7919)::text)::uuid AS fixed, ((i % 7919) / 8.0)::float4 AS singles,
       ARRAY[i % 7919, 1] AS arrays, ('x' || i % 7919)::name AS names, (i % 7919)::bit(16)::varbit AS bits
  FROM generate_series(1, 20000) i;
SELECT column_name, distinct_values, unique_values, most_frequent FROM disclosure.column_profile('many');
SELECT disclosure.k_anonymity(m) = (SELECT min(n) FROM (SELECT count(*) n FROM many GROUP BY many) q) AS as_sql FROM many m;

-- Numbers near the first one and far from it, negative, ascending, scattered; texts around the length where
-- they are packed into a number. On one thread and on two, batches and batches of them.
CREATE TABLE spread AS
SELECT i AS ascending, -i AS descending, (i * 7919) % 100003 - 50000 AS scattered, i::bigint * i * i * 1000003 AS far,
       ((i % 100) - 50)::int2 AS small, CASE WHEN i % 2 = 0 THEN i END AS with_nulls, i * 1e300::float8 AS huge,
       timestamptz '2000-01-01' + i * interval '1 day 1 hour' AS days, left(md5(i::text), i % 12) AS texts,
       decode(left(md5(i::text), 2 * (i % 9)), 'hex') AS bytes, (i % 1000 * 1000)::numeric AS thousands
  FROM generate_series(1, 20000) i;
SET disclosure.threads = 2;
SELECT p.*, (xpath('//n/text()', query_to_xml(format('SELECT count(DISTINCT %I) AS n FROM spread', column_name), true, true, '')))[1]::text::bigint
            = distinct_values AS as_sql
  FROM disclosure.column_profile('spread') p;
SET disclosure.threads = 1;
SELECT distinct_values FROM disclosure.column_profile('spread');
SELECT disclosure.k_anonymity(scattered, texts), disclosure.k_anonymity(small), disclosure.k_anonymity(with_nulls, texts) FROM spread;
