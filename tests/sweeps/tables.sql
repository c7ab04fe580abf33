-- The tables of the sweeps. To repeat a call that a sweep has reported, in tools/psql:
--   \i tests/sweeps/tables.sql
-- Everything is the same in each run. The owner is whoever runs this.
CREATE SCHEMA sweep;

CREATE TYPE sweep.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE sweep.place AS (town text, number int);
CREATE DOMAIN sweep.positive AS int CHECK (VALUE > 0);

-- All sorts of types.
CREATE TABLE sweep.people AS
SELECT i AS id, 'name ' || i AS name, nullif((i * 7) % 5, 3) AS age, i % 3 = 0 AS smoker,
       (ARRAY['knee', 'icd', NULL, 'injury'])[i % 3 + 1:i % 4 + 1] AS tags,
       (ARRAY['flu', 'hiv', NULL, 'ulcer'])[i % 4 + 1] AS diagnosis, (i % 6)::numeric / 3 AS amount,
       (ARRAY['NaN', 'Infinity', '-0', '0', '1.5', '1e-300'])[i % 6 + 1]::float8 AS score, i::real AS share,
       date '2020-01-01' + i % 7 AS born, timestamptz '2020-01-01 00:00Z' + i * interval '1 hour' AS seen,
       make_interval(days => i % 3) AS stay, lpad(i::text, 32, '0')::uuid AS code,
       (ARRAY['sad', 'ok', 'happy', NULL])[i % 4 + 1]::sweep.mood AS mood, ROW('town ' || i % 2, i % 3)::sweep.place AS place,
       (i % 4 + 1)::sweep.positive AS rank, jsonb_build_object('a', i % 2) AS doc, '{"a": 1}'::json AS plain,
       int4range(i % 3, i % 3 + 4) AS span, ARRAY[ARRAY[i % 2, 1], ARRAY[2, 3]] AS grid, decode(lpad(i::text, 4, '0'), 'hex') AS bytes,
       point(i, 1) AS spot, NULL::text AS missing, i AS gone
  FROM generate_series(1, 30) i;
ALTER TABLE sweep.people DROP COLUMN gone;
CREATE TABLE sweep.released AS SELECT * FROM sweep.people ORDER BY id % 7, id LIMIT 28;
CREATE TABLE sweep.nothing (LIKE sweep.people);
CREATE TABLE sweep.single AS SELECT * FROM sweep.people LIMIT 1;
CREATE TABLE sweep.duplicates AS SELECT id / 10 AS id, smoker, diagnosis FROM sweep.people, generate_series(1, 3);
CREATE TABLE sweep.no_columns ();
INSERT INTO sweep.no_columns SELECT FROM sweep.people;
CREATE TABLE sweep."Weird ""name" ("select" int, "a=b" text, "é 'x' \" boolean, "Id" int);
INSERT INTO sweep."Weird ""name" SELECT i % 3, 'a' || i % 4, i % 2 = 0, i FROM generate_series(1, 12) i;
CREATE TABLE sweep.parted (id int, zip text, diagnosis text) PARTITION BY LIST (zip);
CREATE TABLE sweep.parted_a PARTITION OF sweep.parted FOR VALUES IN ('a', 'b');
CREATE TABLE sweep.parted_b PARTITION OF sweep.parted DEFAULT;
INSERT INTO sweep.parted SELECT i, chr(97 + i % 4), (ARRAY['flu', 'hiv', NULL])[i % 3 + 1] FROM generate_series(1, 20) i;
CREATE VIEW sweep.seen AS SELECT id, age, diagnosis, lower(name) AS name FROM sweep.people WHERE age IS NOT NULL;
CREATE MATERIALIZED VIEW sweep.kept AS SELECT id, age, diagnosis FROM sweep.people;
CREATE SEQUENCE sweep.counter;
-- jsonb may hold numbers and depths that few programs can.
CREATE TABLE sweep.nasty AS
SELECT i AS id, (ARRAY['["knee", 1e400]', '["icd", -1e-400]', repeat('[', 200) || repeat(']', 200), '{"a": null}', '"knee"', 'null'])[i]::jsonb AS terms
  FROM generate_series(1, 6) i;
CREATE TABLE sweep.guarded AS SELECT id, age, diagnosis FROM sweep.people;
CREATE TABLE sweep.exported (id int, zip text);

-- A table before and after permutation.
CREATE TABLE sweep.numbers AS
SELECT i AS id, (i * 37 % 40)::float8 AS a, i * 11 % 7 AS b, nullif(i * 13 % 25, 4)::numeric AS c, date '2020-01-01' + i * 17 % 40 AS d
  FROM generate_series(1, 40) i;
CREATE TABLE sweep.numbers_released AS SELECT id, a + id % 3 AS a, (b + 1) % 7 AS b, c, d - id % 2 AS d FROM sweep.numbers ORDER BY b, id;
CREATE TABLE sweep.distances (one text, other text, distance float8);
INSERT INTO sweep.distances VALUES ('flu', 'hiv', 0.3), ('flu', 'ulcer', 0.8), ('hiv', 'ulcer', 0.5);
CREATE TABLE sweep.odd_distances AS SELECT one, other, -1 / distance AS distance FROM sweep.distances;

-- Transactions, their corpora, and beliefs about them.
CREATE TABLE sweep.visits (id int, terms jsonb);
INSERT INTO sweep.visits VALUES (1, '["heart disease", "blood pressure", "icd", "weakness"]'), (2, '["anesthesia", "icd", "pain"]'),
  (3, '["gangrene", "limbs", "injury"]'), (4, '["knee", "injury"]'), (5, '[]'), (6, NULL), (7, '["knee", "knee"]');
CREATE TABLE sweep.marked (id int, terms jsonb);
INSERT INTO sweep.marked VALUES (1, '["heart disease", ["blood pressure", "icd", "limbs", "injury"], "weakness"]'),
  (2, '["anesthesia", ["blood pressure", "icd", "limbs", "injury"], "pain"]'), (3, '["gangrene", ["blood pressure", "icd", "limbs", "injury"]]'),
  (4, '["knee", ["blood pressure", "icd", "limbs", "injury"]]'), (5, '[]'), (7, '["knee"]');
CREATE TABLE sweep.baskets AS
SELECT i AS id, (ARRAY['knee', 'injury', 'icd', 'limbs', 'pain'])[i % 3 + 1:i % 3 + 1 + i % 4] AS items, ARRAY[i % 2, i % 3, i % 5] AS codes,
       (ARRAY['knee', 'icd', NULL])[i % 3 + 1] AS item, (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::sweep.mood AS mood
  FROM generate_series(1, 24) i;
CREATE TABLE sweep.corpus (body text, words text[], lexemes tsvector);
INSERT INTO sweep.corpus SELECT b, string_to_array(lower(b), ' '), to_tsvector('english', b)
  FROM unnest(ARRAY['High blood pressure is a cause of heart disease', 'heart disease with weakness needs an ICD', 'knee injury and pain',
    'the limbs and the knee', 'gangrene of limbs after injury', 'anesthesia for an ICD', 'pain', '', NULL, 'blood pressure']) b;
CREATE TABLE sweep.counts (term text, other text, documents bigint);
INSERT INTO sweep.counts VALUES (NULL, NULL, 10000), ('knee', NULL, 100), ('injury', NULL, 80), ('knee', 'injury', 120), ('icd', NULL, 9223372036854775807);
CREATE TABLE sweep.vectors (term text, vector real[]);
INSERT INTO sweep.vectors VALUES ('knee', '{.9, .1, .2}'), ('injury', '{.7, .3, .1}'), ('icd', '{0, 0, 0}'), ('limbs', '{NaN, 1, Infinity}');
CREATE TABLE sweep.beliefs (item text, low float8, high float8);
INSERT INTO sweep.beliefs VALUES ('knee', 0.1, 0.5), ('injury', 0, 1), ('icd', 0.2, 0.9), ('limbs', 0, 0.5), ('pain', 0.3, 0.4), ('caviar', 0, 0.1);
CREATE TABLE sweep.itemsets (itemset text[]);
INSERT INTO sweep.itemsets VALUES ('{knee,injury}'), ('{icd}'), ('{}'), (NULL), ('{knee,NULL}');
CREATE TABLE sweep.edges AS SELECT 'e' || e AS entry, 'c' || c AS code, ((e * c) % 5)::float8 / 4 AS p FROM generate_series(1, 7) e, generate_series(1, 7) c WHERE (e + c) % 3 > 0 OR e = c;
CREATE TABLE sweep.levels (value text, level_1 text, level_2 text);
INSERT INTO sweep.levels VALUES ('flu', 'virus', '*'), ('hiv', 'virus', '*'), ('ulcer', 'other', '*'), ('0', 'low', '*'), ('1', 'low', '*'), ('2', 'low', '*'), ('4', 'high', '*');
CREATE TABLE sweep.truth AS SELECT 'e' || i AS entry, 'c' || i AS code FROM generate_series(1, 7) i;

-- Enough work to be cancelled.
CREATE TABLE sweep.large AS
SELECT i AS id, i % 10 AS a, i * 7919 % 101 AS b, i::int8 * 104729 % 1009 AS c, 'text ' || i * 31 % 5003 AS t FROM generate_series(1, 150000) i;
CREATE TABLE sweep.large_released AS SELECT id, (a + id % 3) % 10 AS a, (b + 7) % 101 AS b, c + id % 5 AS c, t FROM sweep.large;
CREATE TABLE sweep.large_holes AS
SELECT i AS id, nullif(i * 7919 % 3, 1) AS a, nullif(i * 7 % 5 % 3, 1) AS b, nullif(i * 11 % 7 % 3, 1) AS c, nullif(i * 13 % 11 % 3, 1) AS d,
       nullif(i * 17 % 13 % 3, 1) AS e, nullif(i * 19 % 17 % 3, 1) AS f, nullif(i * 23 % 19 % 3, 1) AS g, nullif(i * 29 % 23 % 3, 1) AS h
  FROM generate_series(1, 20000) i;
CREATE TABLE sweep.large_baskets AS
SELECT i AS id, ARRAY(SELECT 'w' || (i * j * 7919 + j * j) % (10 * j + i % 300) FROM generate_series(1, 12) j) AS items FROM generate_series(1, 5000) i;
CREATE TABLE sweep.large_visits AS SELECT id, to_jsonb(items) AS terms FROM sweep.large_baskets;
CREATE TABLE sweep.large_marked AS
SELECT id, jsonb_build_array(items[1], items[2], jsonb_build_array(items[3], 'w1', 'w2', 'w3'), items[5]) AS terms FROM sweep.large_baskets WHERE id <= 500;
CREATE TABLE sweep.large_corpus AS SELECT array_to_string(items, ' and the ') AS body, items AS words, array_to_tsvector(ARRAY(SELECT DISTINCT x FROM unnest(items) x)) AS lexemes FROM sweep.large_baskets;
CREATE TABLE sweep.large_edges AS SELECT 'e' || e AS entry, 'c' || c AS code, 0.1 + (e * c % 13)::float8 / 13 AS p FROM generate_series(1, 200) e, generate_series(1, 200) c;
CREATE TABLE sweep.large_truth AS SELECT 'e' || i AS entry, 'c' || i AS code FROM generate_series(1, 200) i;
ANALYZE;
