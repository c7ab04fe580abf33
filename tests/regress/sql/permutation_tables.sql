-- The permutation paradigm over tables: how much was permuted, what a subject can verify, what an intruder links.
\pset null '(null)'
SET extra_float_digits = -3;
CREATE FUNCTION pg_temp.rounded(float8[]) RETURNS numeric[] LANGUAGE sql
  AS 'SELECT array_agg(round(x::numeric, 4) ORDER BY n) FROM unnest($1) WITH ORDINALITY u(x, n)';
CREATE TABLE x (id int, salary int, age int);
CREATE TABLE y (id int, salary int, age int);
INSERT INTO x VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3), (4, 40, 4), (5, 50, 5);
INSERT INTO y VALUES (1, 33, 1), (2, 11, 2), (3, 58, 3), (4, 22, 4), (5, 47, 5);

-- Salaries are worked out by hand: Z = 30 10 50 20 40, ranks moved by 2 1 2 2 1. Ages are as they were.
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', columns => ARRAY['salary', 'age']) \gx
SELECT column_name, records, rank_correlation, max_shift, extent FROM disclosure.permutation_report('x', 'y', key => 'id');
-- Any strictly increasing transformation of Y leaves ranks as they are, whatever its type.
CREATE VIEW y_text AS SELECT id, to_char(salary, '000') AS salary, -1.0 / age AS age FROM y;
SELECT column_name, rank_correlation, mean_shift, median_shift, max_shift, residual_noise IS NULL AS no_noise
  FROM disclosure.permutation_report('x', 'y_text', key => 'id');

-- Rows that only one table has are counted and left out.
CREATE VIEW y_without_1 AS SELECT * FROM y WHERE id <> 1 UNION ALL SELECT 6, 60, 6 UNION ALL SELECT 7, 70, 7;
SELECT column_name, records, mean_shift, only_original, only_released FROM disclosure.permutation_report('x', 'y_without_1', key => 'id');

-- Record linkage in one column: rank distances to the ranks 3 1 5 2 4 of Y are all 0, and no match is the right one.
SELECT * FROM disclosure.record_linkage('x', 'y', ARRAY['salary'], key => 'id');
-- In both: record 1 has ranks (1, 1); those of Y are (3,1) (1,2) (5,3) (2,4) (4,5), of which (1,2) is nearest.
SELECT * FROM disclosure.record_linkage('x', 'y', columns => ARRAY['salary', 'age'], key => 'id');
-- Without a key it is not known who is right.
SELECT * FROM disclosure.record_linkage('x', 'y', columns => ARRAY['salary', 'age']);

-- Permuted privacy: 10 is closest to 11, the rank of which is 1; age 1 is 1. The nearest record is (11, 2).
SELECT key, original, d, pg_temp.rounded(v) AS v FROM disclosure.permuted_privacy('x', 'y', columns => ARRAY['salary', 'age']);
SELECT key, d FROM disclosure.permuted_privacy('x', 'y', columns => ARRAY['salary', 'age'], key => 'id');
SELECT * FROM disclosure.check_subject(ROW(10, 1), 'y', columns => ARRAY['salary', 'age']);
SELECT * FROM disclosure.check_subject(ROW(10, 1), 'y', columns => ARRAY['salary', 'age'], d => 1, v => ARRAY[30, 0.5]);
SELECT * FROM disclosure.check_subject(ROW(10, 1), 'y', columns => ARRAY['salary', 'age'], d => 2, v => ARRAY[30, 0.5]);
SELECT * FROM disclosure.check_subject(ROW(10, 1), 'y', columns => ARRAY['salary', 'age'], d => 1, v => ARRAY[NULL, 10]);
SELECT * FROM disclosure.check_subject(ROW(10, 1), 'y', columns => ARRAY['salary', 'age'], v => ARRAY[NULL, NULL]::float8[]);
-- Half-way between two values, both are the closest.
SELECT closest, largest_d FROM disclosure.check_subject(ROW(40, 3), 'y', columns => ARRAY['salary', 'age']);
-- A field may be an untyped literal, or of a type that becomes the column's.
SELECT largest_d, closest FROM disclosure.check_subject(ROW('10', 1::bigint), 'y', ARRAY['salary', 'age']);
SELECT largest_d, closest FROM disclosure.check_subject(ROW(10.4, NULL), 'y', ARRAY['salary', 'age']);

-- The subject finds what the owner of the data finds, whatever the types and the treatment of ties.
CREATE TYPE grade AS ENUM ('junior', 'senior', 'principal');
CREATE TABLE staff (id int, salary numeric, age int, born date, seen timestamptz, name text, grade grade, part boolean, share float8);
CREATE TABLE released (LIKE staff);
INSERT INTO staff
  SELECT i, i * 37 % 101 / 4.0, nullif(i % 9, 3), date '1970-01-01' + i * 97 % 500, timestamptz '2020-01-01 00:00+00' + i * 31 % 77 * interval '1 h',
         chr(97 + i * 7 % 26), (enum_range(NULL::grade))[1 + i % 3], i % 4 = 0, CASE i % 5 WHEN 0 THEN float8 'NaN' WHEN 1 THEN 'inf' ELSE i END
    FROM generate_series(1, 60) i;
INSERT INTO released
  SELECT id, salary + id % 3, nullif(age + id % 2, 8), born + id % 30, seen + id % 5 * interval '10 min', chr(97 + (ascii(name) - 96 + id % 3) % 26),
         CASE WHEN id % 7 = 0 THEN 'senior' ELSE grade END::grade, part AND id % 8 > 0, share * (1 + id % 2)
    FROM staff WHERE id % 10 > 0;
CREATE FUNCTION pg_temp.same(ties disclosure.tie_treatment, columns name[], orders jsonb DEFAULT NULL)
  RETURNS TABLE (records bigint, differ bigint) LANGUAGE plpgsql AS $$
DECLARE
  checked text := (SELECT string_agg(format('s.%I', c), ', ') FROM unnest(columns) c);
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT count(*), count(*) FILTER (WHERE (p.d, p.v) IS DISTINCT FROM (c.largest_d, c.variances))
       FROM disclosure.permuted_privacy(''staff'', ''released'', $1, key => ''id'', ties => $2, seed => 7, orders => $3) p
       JOIN staff s ON s.id = p.key::int,
       disclosure.check_subject(ROW(%s), ''released'', $1, ties => $2, seed => 7, orders => $3) c', checked)
    USING columns, ties, orders;
END $$;
SELECT * FROM pg_temp.same('shared', '{salary,age}');
SELECT * FROM pg_temp.same('random', '{salary,age}');
SELECT * FROM pg_temp.same('shared', '{born,seen,name}');
SELECT * FROM pg_temp.same('random', '{born,name,grade}');
SELECT * FROM pg_temp.same('shared', '{part,share,grade,salary,age,born,seen,name}');
SELECT * FROM pg_temp.same('random', '{grade,age}', '{"grade": ["senior", "junior", "principal"], "age": [8, 7, 6, 5, 4, 3, 2, 1, 0, 9]}');

-- Orders: by a list, and by marginality.
CREATE TABLE grade_distance (one text, other text, distance float8);
INSERT INTO grade_distance VALUES ('junior', 'senior', 1), ('principal', 'junior', 3), ('senior', 'principal', 2), ('guest', 'junior', 9);
SELECT * FROM disclosure.marginality('staff', 'grade', 'grade_distance');
SELECT * FROM pg_temp.same('shared', '{grade,age}', '{"grade": "grade_distance"}');
CREATE VIEW grade_similarity AS SELECT one AS a, other::grade AS b, 1 - distance / 10 AS similarity FROM grade_distance WHERE one <> 'guest';
SELECT value, records, round(marginality::numeric, 6) AS marginality, rank FROM disclosure.marginality('staff', 'grade', 'grade_similarity');
SELECT * FROM disclosure.marginality('staff', 'age', 'grade_distance');
SELECT column_name, rank_correlation, max_shift FROM disclosure.permutation_report('staff', 'released', ARRAY['grade'], 'id');
SELECT column_name, rank_correlation, max_shift FROM disclosure.permutation_report('staff', 'released', ARRAY['grade'], 'id', '{"grade": "grade_distance"}');
SELECT column_name, rank_correlation, max_shift FROM disclosure.permutation_report('staff', 'released', ARRAY['grade'], 'id', '{"grade": ["principal", "senior", "junior"]}');

-- NULLs come last on both sides, and are counted.
SELECT column_name, records, rank_correlation, nulls_original, nulls_released, extent, only_original FROM disclosure.permutation_report('staff', 'released', key => 'id');

-- Plausibility, and several releases side by side.
SELECT records, random_records, all_combinations, real_distances, random_distances, overlap, statistic, p_value, p_method, matches, unlinked, correct, expected_correct, correct_p_value, max_correct, holdout_bound, verdict
  FROM disclosure.linkage_plausibility('x', 'y', ARRAY['salary', 'age'], key => 'id') \gx
CREATE TABLE big AS SELECT i AS id, i * 7919 % 1009 AS a, i * 104729 % 1013 AS b, i * 1299709 % 1019 AS c FROM generate_series(1, 300) i;
CREATE TABLE noisy AS SELECT id, a + id % 5 AS a, b - id % 7 AS b, c + id % 3 AS c FROM big;
CREATE TABLE shuffled AS SELECT id, a * 31 % 1009 AS a, b * 17 % 1013 AS b, c * 29 % 1019 AS c FROM big;
SELECT verdict, correct, expected_correct, all_combinations, random_records FROM disclosure.linkage_plausibility('big', 'noisy', key => 'id', seed => 3);
SELECT verdict, correct, all_combinations FROM disclosure.linkage_plausibility('big', 'shuffled', key => 'id', seed => 3);
SELECT correct, expected_correct, verdict FROM disclosure.linkage_plausibility('big', 'noisy', ARRAY['a', 'b', 'c']);
SELECT released, records, round(rank_correlation::numeric, 3) AS rank_correlation, round(permutation::numeric, 3) AS permutation, correct, expected_correct, verdict
  FROM disclosure.compare_releases('big', ARRAY['big', 'noisy', 'shuffled']::regclass[], key => 'id');
SELECT released, rank_correlation, permutation, correct, expected_correct, verdict
  FROM disclosure.compare_releases('big', ARRAY['noisy', 'shuffled']::regclass[], columns => ARRAY['a', 'b', 'c']);
SELECT p, array_length(rank_correlations, 1) AS columns, verdict, chosen
  FROM disclosure.calibrate_permutation('big', ARRAY['a', 'b', 'c'], candidates => ARRAY[0, 1, 10, 50, 100]);

-- The verdict: correct links, not near ones. 200 people with three columns, as in crates/disclosure/tests/permutation/verdicts.rs.
CREATE FUNCTION pg_temp.normal(i int, seed bigint) RETURNS float8 LANGUAGE sql AS $$
  SELECT sqrt(-2 * ln(uniform[1])) * cos(2 * pi() * uniform[2])
    FROM (SELECT array_agg(((hashint8extended(i, 2 * seed + n) >> 12 & 4503599627370495) + 0.5) / 4503599627370496 ORDER BY n) AS uniform
            FROM generate_series(0, 1) n) u $$;
CREATE FUNCTION pg_temp.people(correlation float8, seed bigint, people int) RETURNS TABLE (id int, a float8, b float8, c float8)
  LANGUAGE sql AS $$
  SELECT i, sqrt(correlation) * common + sqrt(1 - correlation) * pg_temp.normal(i, seed + 1),
         sqrt(correlation) * common + sqrt(1 - correlation) * pg_temp.normal(i, seed + 2),
         sqrt(correlation) * common + sqrt(1 - correlation) * pg_temp.normal(i, seed + 3)
    FROM generate_series(1, people) i, pg_temp.normal(i, seed) common $$;
CREATE TABLE independent AS SELECT * FROM pg_temp.people(0, 10, 200);
CREATE TABLE half_noise AS SELECT id, disclosure.add_noise(a, 0.5, 1) OVER w AS a, disclosure.add_noise(b, 0.5, 2) OVER w AS b,
                                  disclosure.add_noise(c, 0.5, 3) OVER w AS c FROM independent WINDOW w AS (ORDER BY id);
CREATE TABLE correlated AS SELECT * FROM pg_temp.people(0.9, 20, 200);
CREATE TABLE fresh AS SELECT * FROM pg_temp.people(0.9, 30, 200);
CREATE TABLE outsiders AS SELECT * FROM pg_temp.people(0.9, 40, 1000);
CREATE TABLE shuffled_columns AS SELECT id, disclosure.rank_swap(a, 100, 1) OVER w AS a, disclosure.rank_swap(b, 100, 2) OVER w AS b,
                                        disclosure.rank_swap(c, 100, 3) OVER w AS c FROM correlated WINDOW w AS (ORDER BY id);
SELECT original, released, key, holdout, round(p_value::numeric, 4) AS p_value, round(statistic::numeric, 2) AS statistic,
       round(expected_correct::numeric, 1) AS expected_correct, round(correct_p_value::numeric, 4) AS correct_p_value, max_correct,
       holdout_bound, verdict
  FROM (VALUES ('independent'::regclass, 'half_noise'::regclass, 'id'::name, NULL::regclass), ('independent', 'half_noise', NULL, NULL),
               ('correlated', 'correlated', 'id', NULL), ('correlated', 'correlated', NULL, NULL),
               ('correlated', 'correlated', NULL, 'outsiders'),
               ('correlated', 'fresh', 'id', NULL), ('correlated', 'fresh', NULL, NULL), ('correlated', 'fresh', NULL, 'outsiders'),
               ('correlated', 'shuffled_columns', 'id', NULL), ('correlated', 'shuffled_columns', NULL, 'outsiders'))
       t(original, released, key, holdout),
       disclosure.linkage_plausibility(original, released, ARRAY['a', 'b', 'c'], key, holdout);
SELECT released, verdict FROM disclosure.compare_releases('correlated', ARRAY['correlated', 'fresh']::regclass[], ARRAY['a', 'b', 'c'], holdout => 'outsiders');
SELECT p, overlap > 0.8 AS overlaps, verdict, chosen
  FROM disclosure.calibrate_permutation('correlated', ARRAY['a', 'b', 'c'], ARRAY[0, 10, 20, 40], holdout => 'outsiders');
-- The order of rows of a hold-out does not matter, and its columns are found by name.
CREATE TABLE outsiders_in_another_order AS SELECT c::numeric::float8, b, a FROM outsiders ORDER BY b;
SELECT count(*) AS differ FROM (
  SELECT * FROM disclosure.linkage_plausibility('correlated', 'fresh', ARRAY['a', 'b', 'c'], holdout => 'outsiders', ties => 'random')
  EXCEPT SELECT * FROM disclosure.linkage_plausibility('correlated', 'fresh', ARRAY['a', 'b', 'c'], holdout => 'outsiders_in_another_order', ties => 'random')) d;
-- Many equal records are safe for any key. A hold-out may have other values, NULLs, and orders of its own.
CREATE TABLE coarse AS SELECT i AS id, nullif(i % 2, 1) AS a, (ARRAY['low', 'high'])[1 + i / 2 % 2] AS b FROM generate_series(1, 200) i;
CREATE TABLE coarse_outsiders AS SELECT nullif(i % 5, 3) AS a, (ARRAY['low', 'medium', 'high'])[1 + i % 3] AS b FROM generate_series(1, 50) i;
SELECT random_records, expected_correct, max_correct, verdict
  FROM disclosure.linkage_plausibility('coarse', 'coarse', ARRAY['a', 'b'], holdout => 'coarse_outsiders', orders => '{"b": ["low", "medium", "high"]}');
SELECT max_correct, verdict FROM disclosure.linkage_plausibility('coarse', 'coarse', ARRAY['a', 'b'], at_most => 0.01);
-- Without columns, the call says which it took: not those that are labelled to take no part.
SELECT verdict FROM disclosure.linkage_plausibility('coarse', 'coarse');
SELECT disclosure.label_column('coarse', 'id', 'identifier');
SELECT verdict FROM disclosure.linkage_plausibility('coarse', 'coarse');
SELECT released, verdict FROM disclosure.compare_releases('coarse', ARRAY['coarse', 'coarse']::regclass[]);
SELECT p, verdict FROM disclosure.calibrate_permutation('coarse', candidates => ARRAY[1]);

-- Ties: an intruder sees equal values as equal. By chance, seeds decide; the order of rows never does.
CREATE TABLE tied AS SELECT i AS id, i % 3 AS a, i % 4 AS b FROM generate_series(1, 48) i;
SELECT DISTINCT distance, matches, correct, probability FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], key => 'id');
CREATE TABLE results AS
  SELECT 'key' AS call, l.* FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], key => 'id', ties => 'random') l
  UNION ALL SELECT 'no key', l.* FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], ties => 'random') l;
SELECT call, max(distance) > 0 AS not_all_equal FROM results GROUP BY call ORDER BY call;
CREATE TABLE reports AS SELECT * FROM disclosure.permutation_report('big', 'tied', ARRAY['a', 'b'], 'id', seed => 5);
CREATE TABLE plausible AS SELECT * FROM disclosure.linkage_plausibility('tied', 'tied', ARRAY['a', 'b'], ties => 'random', draws => 2, seed => 5);
CREATE TABLE other_order AS SELECT * FROM tied ORDER BY id * 31 % 48;
BEGIN;
DROP TABLE tied;
ALTER TABLE other_order RENAME TO tied;
SELECT count(*) AS differ FROM (
  (SELECT 'key' AS call, l.* FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], key => 'id', ties => 'random') l
   UNION ALL SELECT 'no key', l.* FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], ties => 'random') l)
  EXCEPT ALL SELECT * FROM results) d;
SELECT count(*) AS differ FROM (
  SELECT * FROM disclosure.permutation_report('big', 'tied', ARRAY['a', 'b'], 'id', seed => 5) EXCEPT ALL SELECT * FROM reports) d;
SELECT count(*) AS differ FROM (
  SELECT * FROM disclosure.linkage_plausibility('tied', 'tied', ARRAY['a', 'b'], ties => 'random', draws => 2, seed => 5)
  EXCEPT ALL SELECT * FROM plausible) d;
SELECT count(*) > 0 AS seeds_matter FROM (
  SELECT 'key' AS call, l.* FROM disclosure.record_linkage('tied', 'tied', ARRAY['a', 'b'], key => 'id', ties => 'random', seed => 2) l
  EXCEPT ALL SELECT * FROM results) d;
COMMIT;

-- Text is ordered by its column's collation.
CREATE TABLE words (id int, w text COLLATE "C");
CREATE TABLE words_masked (id int, w text COLLATE "en-x-icu");
INSERT INTO words VALUES (1, 'B'), (2, 'a'), (3, 'C');
INSERT INTO words_masked VALUES (1, 'B'), (2, 'a'), (3, 'C');
SELECT column_name, max_shift FROM disclosure.permutation_report('words', 'words', key => 'id');
SELECT column_name, max_shift FROM disclosure.permutation_report('words', 'words_masked', key => 'id');

-- Where values are compared, it is by the collation of what was released.
SELECT original, d, v FROM disclosure.permuted_privacy('words', 'words_masked', ARRAY['w']);
SELECT closest, largest_d, variances FROM disclosure.check_subject(ROW('b'), 'words_masked', ARRAY['w'], d => 1);
SELECT closest, largest_d, variances FROM disclosure.check_subject(ROW('b'), 'words', ARRAY['w'], d => 1);

-- Odd names, partitions, labels, domains, keys of other types.
CREATE SCHEMA "Odd";
CREATE TABLE "Odd"."the ""original""" ("the id" text, "from" int, "Ünï" date) PARTITION BY HASH ("the id");
CREATE TABLE "Odd".p0 PARTITION OF "Odd"."the ""original""" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Odd".p1 PARTITION OF "Odd"."the ""original""" FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO "Odd"."the ""original""" SELECT i::text, i, date '2000-01-01' + i FROM generate_series(1, 9) i;
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE TABLE "Odd"."Masked" ("the id" varchar, "from" small, "Ünï" date, gone int);
INSERT INTO "Odd"."Masked" SELECT i::text, 10 - i, date '2000-01-01' + i FROM generate_series(1, 9) i;
ALTER TABLE "Odd"."Masked" DROP COLUMN gone;
SELECT column_name, rank_correlation FROM disclosure.permutation_report('"Odd"."the ""original"""', '"Odd"."Masked"', key => 'the id');
SELECT key, original, matched, distance FROM disclosure.record_linkage('"Odd"."the ""original"""', '"Odd"."Masked"', key => 'the id', orders => '{"from": [1,2,3,4,5,6,7,8,9]}') LIMIT 2;
SELECT disclosure.label_column('"Odd"."the ""original"""', 'from', 'ignore');
SELECT column_name, rank_correlation FROM disclosure.permutation_report('"Odd"."the ""original"""', '"Odd"."Masked"', key => 'the id');
SELECT d, original FROM disclosure.permuted_privacy('"Odd"."the ""original"""', '"Odd"."Masked"', key => 'the id') LIMIT 1;
CREATE VIEW numeric_keys AS SELECT id::numeric AS id, salary::float8, age::numeric FROM y;
SELECT column_name, max_shift, residual_noise FROM disclosure.permutation_report('x', 'numeric_keys', key => 'id');
SELECT d, original FROM disclosure.permuted_privacy('x', 'numeric_keys', ARRAY['salary', 'age']);

-- A subject's fields are cast as the columns of the original are: no blanks of char(n), no digit more or less of a float4.
CREATE TABLE padded (job char(9), share real, number bigint);
INSERT INTO padded VALUES ('cook', 1230000, 16777217), ('nurse', 1234567, 16777218), ('smith', 0.3, 16777219);
CREATE VIEW plain AS SELECT job::varchar, share::float8, number FROM padded;
SELECT p.original, p.d, c.largest_d, c.closest
  FROM padded s JOIN disclosure.permuted_privacy('padded', 'plain', key => 'number') p ON p.key::bigint = s.number,
       disclosure.check_subject(ROW(s.job, s.share), 'plain', ARRAY['job', 'share']) c;
-- Integers keep all their digits beside floats that have fewer.
CREATE VIEW singles AS SELECT job, number::real AS share, number::real FROM padded WHERE number % 2 = 0;
SELECT column_name, records, only_original, only_released FROM disclosure.permutation_report('padded', 'singles', ARRAY['job'], 'number');
SELECT original FROM disclosure.permuted_privacy('padded', 'singles', ARRAY['number']);
SELECT matched FROM disclosure.record_linkage('singles', 'singles');

-- Little to say: no rows, one row, nothing but NULL, constants.
CREATE TABLE nobody (LIKE x);
SELECT * FROM disclosure.permutation_report('nobody', 'nobody', key => 'id') \gx
SELECT * FROM disclosure.record_linkage('nobody', 'nobody');
SELECT * FROM disclosure.linkage_plausibility('nobody', 'nobody', key => 'id');
SELECT * FROM disclosure.compare_releases('nobody', ARRAY['nobody']::regclass[], key => 'id');
SELECT * FROM disclosure.calibrate_permutation('nobody');
SELECT * FROM disclosure.permuted_privacy('nobody', 'x');
SELECT * FROM disclosure.permuted_privacy('x', 'nobody', ARRAY['age']) LIMIT 1;
SELECT * FROM disclosure.check_subject(ROW(1), 'nobody', ARRAY['age']);
SELECT * FROM disclosure.marginality('nobody', 'age', 'grade_distance');
CREATE VIEW one AS SELECT * FROM x WHERE id = 1;
CREATE VIEW one_masked AS SELECT * FROM y WHERE id = 1;
SELECT column_name, records, rank_correlation, mean_shift, permutation, residual_noise, noise_share, extent FROM disclosure.permutation_report('one', 'one_masked', key => 'id');
SELECT * FROM disclosure.record_linkage('one', 'one_masked', key => 'id');
SELECT verdict, correct FROM disclosure.linkage_plausibility('one', 'one_masked', ARRAY['salary', 'age'], key => 'id');
SELECT * FROM disclosure.permuted_privacy('one', 'one_masked', key => 'id');
SELECT count(*) FROM disclosure.calibrate_permutation('one');
CREATE VIEW nulls AS SELECT id, NULL::int AS salary, 7 AS age FROM x;
SELECT column_name, rank_correlation, max_shift, nulls_original, extent FROM disclosure.permutation_report('nulls', 'nulls', key => 'id');
SELECT DISTINCT distance, matches, probability FROM disclosure.record_linkage('nulls', 'nulls', ARRAY['salary', 'age'], key => 'id');
SELECT DISTINCT d, v FROM disclosure.permuted_privacy('nulls', 'nulls', ARRAY['salary', 'age']);
SELECT * FROM disclosure.check_subject(ROW(1, NULL), 'nulls', ARRAY['salary', 'age'], d => 0, v => ARRAY[0, 0]);
SELECT verdict FROM disclosure.linkage_plausibility('nulls', 'nulls', ARRAY['salary', 'age']);

-- What is refused.
\set VERBOSITY default
SELECT * FROM disclosure.permutation_report(NULL, 'y', key => 'id');
SELECT * FROM disclosure.permutation_report('x', NULL, key => 'id');
SELECT * FROM disclosure.permutation_report('x', 'y', key => NULL);
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'nothing');
SELECT * FROM disclosure.permutation_report('x', 'y', '{}', 'id');
SELECT * FROM disclosure.permutation_report('x', 'y', ARRAY['age', NULL], 'id');
SELECT * FROM disclosure.permutation_report('x', 'y', ARRAY['age', 'age'], 'id');
SELECT * FROM disclosure.permutation_report('x', 'staff', ARRAY['nothing'], 'id');
SELECT * FROM disclosure.permutation_report('staff', 'x', ARRAY['name'], 'id');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', seed => NULL);
SELECT * FROM disclosure.permutation_report('x', 'words', key => 'id');
CREATE VIEW twice AS SELECT * FROM x UNION ALL SELECT * FROM x WHERE id = 3;
SELECT * FROM disclosure.permutation_report('twice', 'x', key => 'id');
SELECT * FROM disclosure.permutation_report('x', 'twice', key => 'id');
CREATE VIEW unknown AS SELECT nullif(id, 3) AS id, salary FROM x;
SELECT * FROM disclosure.permutation_report('unknown', 'x', key => 'id');
SELECT * FROM disclosure.permutation_report('x', 'unknown', key => 'id');
CREATE TABLE points (id int, salary point);
SELECT * FROM disclosure.permutation_report('x', 'points', key => 'id');
SELECT * FROM disclosure.permuted_privacy('x', 'points');
SELECT * FROM disclosure.record_linkage('x', 'twice');
SELECT * FROM disclosure.record_linkage('x', 'y', ties => NULL);
SELECT * FROM disclosure.record_linkage('x', 'y', ties => 'none');
SELECT * FROM disclosure.record_linkage('x', 'y_text', key => 'salary');
SELECT * FROM disclosure.linkage_plausibility('x', 'y', draws => 0);
SELECT * FROM disclosure.linkage_plausibility('x', 'y', draws => NULL);
SELECT * FROM disclosure.linkage_plausibility('x', 'y', at_most => 2);
SELECT * FROM disclosure.linkage_plausibility('x', 'y', at_most => NULL);
SELECT * FROM disclosure.linkage_plausibility('x', 'y', ARRAY['age'], holdout => 0);
SELECT * FROM disclosure.linkage_plausibility('x', 'y', ARRAY['age'], holdout => 'words');
SELECT * FROM disclosure.linkage_plausibility('x', 'y', ARRAY['id'], holdout => 'numeric_keys');
SELECT * FROM disclosure.linkage_plausibility('x', 'y', ARRAY['age'], holdout => 'nobody');
SELECT * FROM disclosure.linkage_plausibility('nobody', 'nobody', ARRAY['age'], holdout => 'x');
SELECT * FROM disclosure.compare_releases('x', NULL);
SELECT * FROM disclosure.compare_releases('x', '{}');
SELECT * FROM disclosure.compare_releases('x', ARRAY['y', NULL]::regclass[]);
SELECT * FROM disclosure.compare_releases('x', ARRAY[0]::regclass[]);
SELECT * FROM disclosure.compare_releases('x', ARRAY['y', 'pg_class_oid_index']::regclass[]);
SELECT * FROM disclosure.compare_releases('x', ARRAY['y', 'twice']::regclass[]);
SELECT * FROM disclosure.calibrate_permutation('x', candidates => ARRAY[101]);
SELECT * FROM disclosure.calibrate_permutation('x', candidates => ARRAY[1, NULL]);
SELECT * FROM disclosure.calibrate_permutation('x', candidates => NULL);
SELECT * FROM disclosure.calibrate_permutation('x', candidates => '{}');
SELECT * FROM disclosure.calibrate_permutation('x', at_most => 1.5);
SELECT * FROM disclosure.calibrate_permutation('x', at_most => NULL);
SELECT * FROM disclosure.calibrate_permutation('x', at_least => -1);
SELECT * FROM disclosure.calibrate_permutation('x', ARRAY['age'], holdout => 'nobody');
SELECT * FROM disclosure.check_subject(NULL, 'y', ARRAY['age']);
SELECT * FROM disclosure.check_subject(ROW(1), 'y', NULL);
SELECT * FROM disclosure.check_subject(ROW(1), 'y', ARRAY['salary', 'age']);
SELECT * FROM disclosure.check_subject(ROW(1, 2, 3), 'y', ARRAY['salary', 'age']);
SELECT * FROM disclosure.check_subject(ROW(now()), 'y', ARRAY['age']);
SELECT * FROM disclosure.check_subject(ROW('x'), 'y', ARRAY['age']);
SELECT * FROM disclosure.check_subject(ROW(1), 'y', ARRAY['age'], d => -1);
SELECT * FROM disclosure.check_subject(ROW(1), 'y', ARRAY['age'], v => ARRAY[1, 2]);
SELECT * FROM disclosure.check_subject(ROW(1), 'y', ARRAY['age'], v => ARRAY[-1]);
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '[]');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"name": ["a"]}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": 1}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": [1, null]}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": [1, 2, 3, 4]}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": [1, 2, 3, 4, 5, 1]}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": "nothing"}');
SELECT * FROM disclosure.permutation_report('x', 'y', key => 'id', orders => '{"age": "x"}');
SELECT * FROM disclosure.marginality(NULL, 'grade', 'grade_distance');
SELECT * FROM disclosure.marginality('staff', NULL, 'grade_distance');
SELECT * FROM disclosure.marginality('staff', 'grade', NULL);
SELECT * FROM disclosure.marginality('staff', 'nothing', 'grade_distance');
SELECT * FROM disclosure.marginality('staff', 'name', 'grade_distance');
CREATE FUNCTION pg_temp.distances(change text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE message text;
BEGIN
  EXECUTE change;
  BEGIN
    PERFORM * FROM disclosure.marginality('staff', 'grade', 'grade_distance');
  EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN NEXT message;
  END;
  RAISE check_violation;
EXCEPTION WHEN check_violation THEN
  -- What was changed is as it was.
END $$;
SELECT pg_temp.distances('UPDATE grade_distance SET distance = -1');
SELECT pg_temp.distances('UPDATE grade_distance SET distance = NULL');
SELECT pg_temp.distances('UPDATE grade_distance SET distance = ''inf''');
SELECT pg_temp.distances('UPDATE grade_distance SET other = NULL');
SELECT pg_temp.distances('DELETE FROM grade_distance WHERE distance = 2');
SELECT pg_temp.distances('INSERT INTO grade_distance VALUES (''senior'', ''junior'', 2)');
SELECT pg_temp.distances('INSERT INTO grade_distance VALUES (''senior'', ''senior'', 1)');
SELECT pg_temp.distances('INSERT INTO grade_distance VALUES (''senior'', ''junior'', 1), (''junior'', ''junior'', 0)');

-- Distances are numbers of any type.
CREATE VIEW of_text AS SELECT one, other, 'a secret'::text AS distance FROM grade_distance;
CREATE VIEW of_dates AS SELECT one, other, date '2026-01-01' AS distance FROM grade_distance;
CREATE VIEW too_far AS SELECT one, other, 1e400 AS distance FROM grade_distance;
CREATE VIEW negative AS SELECT one, other, (-distance)::smallint AS distance FROM grade_distance;
CREATE VIEW small_numbers AS SELECT one, other, distance::smallint AS distance FROM grade_distance;
CREATE VIEW single_floats AS SELECT one, other, distance::real AS distance FROM grade_distance;
CREATE VIEW numerics AS SELECT one, other, distance::numeric AS distance FROM grade_distance;
SELECT * FROM disclosure.marginality('staff', 'grade', 'of_text');
SELECT * FROM disclosure.marginality('staff', 'grade', 'of_dates');
SELECT * FROM disclosure.marginality('staff', 'grade', 'too_far');
SELECT * FROM disclosure.marginality('staff', 'grade', 'negative');
SELECT relation, array_agg(value || ' ' || marginality ORDER BY rank)
  FROM unnest(ARRAY['grade_distance', 'small_numbers', 'single_floats', 'numerics']::regclass[]) relation,
       disclosure.marginality('staff', 'grade', relation) GROUP BY relation ORDER BY relation::text;

-- Values in a table of distances are those of the column where they are equal, though they may be printed otherwise.
CREATE VIEW job_distance AS SELECT 'cook' AS one, unnest(ARRAY['nurse', 'smith']) AS other, 1 AS distance UNION ALL SELECT 'nurse', 'smith', 3;
SELECT * FROM disclosure.marginality('padded', 'job', 'job_distance');
CREATE VIEW whole_prices AS SELECT generate_series(1, 2)::numeric(9, 2) AS price;
CREATE VIEW whole_distance AS SELECT 1 AS one, 2 AS other, 5 AS distance;
SELECT * FROM disclosure.marginality('whole_prices', 'price', 'whole_distance');

-- Only what the caller may see.
CREATE ROLE pd_subject;
GRANT USAGE ON SCHEMA public TO pd_subject;
GRANT SELECT ON y TO pd_subject;
GRANT SELECT (id, age) ON x TO pd_subject;
SET ROLE pd_subject;
SELECT largest_d FROM disclosure.check_subject(ROW(10, 1), 'y', ARRAY['salary', 'age']);
SELECT count(*) FROM disclosure.record_linkage('x', 'y', ARRAY['age'], key => 'id');
SELECT count(*) FROM disclosure.record_linkage('x', 'y', ARRAY['salary', 'age'], key => 'id');
SELECT count(*) FROM disclosure.permuted_privacy('x', 'y');
SELECT * FROM disclosure.compare_releases('y', ARRAY['y', 'x']::regclass[]);
SELECT column_name FROM disclosure.permutation_report('y', 'y', key => 'id', orders => '{"age": "grade_distance"}');
RESET ROLE;
REVOKE ALL ON y, x FROM pd_subject;
REVOKE USAGE ON SCHEMA public FROM pd_subject;
DROP ROLE pd_subject;
