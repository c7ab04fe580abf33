-- individual_risk, household_risk and population_uniqueness. The figures are those of GOLDEN-MEASURES.md.
-- Table S of sdcMicro's tests.
CREATE TABLE s (n int, a int, b int, c int, w numeric);
INSERT INTO s VALUES (1, 2, 3, 1, 18), (2, 3, 3, 3, 45.5), (3, 2, 3, 1, 39), (4, 2, 3, 2, 17), (5, 3, 3, 1, 92), (6, 3, 3, 1, 8), (7, 1, 4, 1, 123.5), (8, 2, 3, 1, 51);
SELECT disclosure.label_columns('s', quasi => '{a,b,c}', weight => '{w}', ignore => '{n}');
SELECT n, round((disclosure.individual_risk(s) OVER ())::numeric, 8) AS exact,
       round((disclosure.individual_risk(s, method => 'sdcmicro') OVER ())::numeric, 8) AS sdcmicro FROM s ORDER BY n;
-- The weight is a label; without one, the table is the whole population.
SELECT n, disclosure.individual_risk(s, labels => '{"w": "ignore"}') OVER () AS risk FROM s ORDER BY n;
SELECT n, round((disclosure.individual_risk(s, columns => '{a}') OVER (ORDER BY n ROWS CURRENT ROW))::numeric, 8) AS risk FROM s ORDER BY n;
SELECT n, round((disclosure.individual_risk(s) OVER (PARTITION BY a))::numeric, 8) AS risk FROM s ORDER BY n;
-- NULL as a value, and as a wildcard (fk = 3 1 4 2 2 2 1 3, Fk = 108 45.5 125 56 100 100 123.5 108).
UPDATE s SET c = NULL WHERE n IN (3, 7);
SELECT n, round((disclosure.individual_risk(s) OVER ())::numeric, 8) AS value,
       round((disclosure.individual_risk(s, nulls => 'wildcard') OVER ())::numeric, 8) AS wildcard FROM s ORDER BY n;

-- francdat: individual and global risk.
CREATE TABLE francdat (n int, key1 int, key2 int, key3 int, key4 int, w float8, h int);
INSERT INTO francdat VALUES (1, 1, 2, 5, 1, 18, 1), (2, 1, 2, 1, 1, 45.5, 1), (3, 1, 2, 1, 1, 39, 2), (4, 3, 3, 1, 5, 17, 2), (5, 4, 3, 1, 4, 541, 2),
  (6, 4, 3, 1, 1, 8, NULL), (7, 6, 2, 1, 5, 5, NULL), (8, 1, 2, 5, 1, 92, 3);
SELECT disclosure.label_columns('francdat', quasi => '{key1,key2,key3,key4}', weight => '{w}', household => '{h}', ignore => '{n}');
SELECT n, round((disclosure.individual_risk(f) OVER ())::numeric, 9) AS risk, round((disclosure.household_risk(f) OVER ())::numeric, 9) AS household FROM francdat f ORDER BY n;
SELECT round(sum(risk)::numeric, 8) AS expected, round(avg(risk)::numeric, 8) AS global FROM (SELECT disclosure.individual_risk(f) OVER () AS risk FROM francdat f) AS r;
-- The order of rows does not matter, to the last bit. Anonymous rows have no labels but those of the call.
SELECT count(DISTINCT risk), count(*) FROM (
  SELECT f.n, disclosure.household_risk(f, labels => '{"n": "ignore", "w": "weight", "h": "household"}') OVER () FROM (SELECT * FROM francdat ORDER BY n) f
  UNION ALL
  SELECT f.n, disclosure.household_risk(f, labels => '{"n": "ignore", "w": "weight", "h": "household"}') OVER () FROM (SELECT * FROM francdat ORDER BY n DESC) f)
  AS r(n, risk) WHERE n = 4;

-- People: a person weighs the smallest weight of their rows, and counts once in a household.
CREATE TABLE visits (n int, person int, h text, age int, w real);
INSERT INTO visits VALUES (1, 1, 'x', 30, 10), (2, 1, 'x', 30, 20), (3, 2, 'x', 30, 50), (4, 3, 'y', 40, 7), (5, 3, 'y', 30, 7), (6, NULL, 'y', 40, 1);
SELECT disclosure.label_columns('visits', quasi => '{age}', weight => '{w}', person => '{person}', household => '{h}', ignore => '{n}');
SELECT n, round((disclosure.individual_risk(v) OVER ())::numeric, 8) AS people, round((disclosure.individual_risk(v, unit => 'row') OVER ())::numeric, 8) AS rows,
       round((disclosure.household_risk(v) OVER ())::numeric, 8) AS household FROM visits v ORDER BY n;
-- Three people with 10, 50 and 7 in one class, and one with 7 in the other.
SELECT round((disclosure.individual_risk(r, labels => '{"w": "weight"}') OVER ())::numeric, 8) AS risk
  FROM (VALUES (1, 10.0), (1, 50.0), (1, 7.0), (2, 7.0)) AS r(a, w);

-- Weights.
SELECT disclosure.individual_risk(s, labels => '{"n": "weight"}') OVER () FROM s;
SELECT disclosure.individual_risk(v, labels => '{"w": "quasi", "h": "weight"}') OVER () FROM visits v;
UPDATE s SET w = 0 WHERE n = 5;
SELECT disclosure.individual_risk(s) OVER () FROM s;
UPDATE s SET w = 'NaN' WHERE n = 5;
SELECT disclosure.individual_risk(s) OVER () FROM s;
UPDATE s SET w = NULL WHERE n = 5;
SELECT disclosure.individual_risk(s) OVER () FROM s;
SELECT disclosure.household_risk(s) OVER () FROM s;
SELECT disclosure.individual_risk(s, method => 'exakt') OVER () FROM s;
SELECT disclosure.individual_risk(s, columns => '{nix}') OVER () FROM s;
-- A population that is smaller than the sample.
UPDATE s SET w = 0.001;
SELECT DISTINCT disclosure.individual_risk(s, columns => '{b}') OVER () AS risk FROM s ORDER BY 1;
-- Empty tables, one row, NULL rows.
TRUNCATE s;
SELECT disclosure.individual_risk(s) OVER () FROM s;
INSERT INTO s VALUES (1, NULL, NULL, NULL, 4);
SELECT disclosure.individual_risk(s) OVER () FROM s;
SELECT disclosure.individual_risk(NULL::s) OVER () FROM s;
SELECT disclosure.individual_risk(NULL::record) OVER () FROM s;

-- Log-linear models (sdcMicro modRisk: gr1 .55291595, gr2 .70538421).
CREATE TABLE sample_data (var1 int, var2 int, var3 int, w int);
INSERT INTO sample_data VALUES (2, 2, 5, 100), (3, 1, 4, 100), (2, 2, 4, 100), (3, 2, 5, 100), (3, 1, 4, 100), (1, 2, 4, 100), (2, 1, 3, 100), (3, 1, 3, 100), (2, 1, 2, 100), (2, 2, 2, 100);
SELECT disclosure.label_columns('sample_data', quasi => '{var1,var2,var3}', weight => '{w}');
SELECT model, round(gr1::numeric, 8) AS gr1, round(gr2::numeric, 8) AS gr2, round(tau1::numeric, 8) AS tau1, round(tau2::numeric, 8) AS tau2, applies
  FROM disclosure.population_uniqueness('sample_data') WHERE gr1 IS NOT NULL;
-- Without weights, the fraction has to be given.
SELECT * FROM disclosure.population_uniqueness('sample_data', labels => '{"w": "ignore"}');
SELECT model, round(uniques::numeric, 6) AS uniques, round(share::numeric, 6) AS share, round(standard_error::numeric, 6) AS standard_error, applies, reason
  FROM disclosure.population_uniqueness('sample_data', fraction => 0.5);
SELECT model, uniques, applies FROM disclosure.population_uniqueness('sample_data', fraction => 1);
SELECT * FROM disclosure.population_uniqueness('sample_data', fraction => 0);
SELECT * FROM disclosure.population_uniqueness('sample_data', fraction => 'NaN');
SELECT * FROM disclosure.population_uniqueness('sample_data', fraction => 1e-300);
UPDATE sample_data SET w = 0;
SELECT * FROM disclosure.population_uniqueness('sample_data');
TRUNCATE sample_data;
SELECT * FROM disclosure.population_uniqueness('sample_data');
SELECT model, uniques, share FROM disclosure.population_uniqueness('sample_data', fraction => 0.1);

-- Classes of the sizes of ARX's Adult: Pitman .2768499, Zayatz .3207402; Dankar .3577099 at .2 (by ARX), .1446084 at .01.
CREATE TABLE adult (class int);
INSERT INTO adult
SELECT dense_rank() OVER (ORDER BY size, number) FROM
  (VALUES (1, 15512), (2, 2098), (3, 754), (4, 375), (5, 189), (6, 155), (7, 97), (8, 73), (9, 39), (10, 37), (11, 29), (12, 18), (13, 23),
          (14, 14), (15, 15), (16, 9), (17, 11), (18, 10), (19, 10), (20, 5), (21, 3), (22, 4), (23, 3), (24, 2), (25, 1), (26, 3), (27, 5),
          (29, 1), (30, 2), (32, 1), (34, 1), (35, 1), (36, 1), (45, 1)) AS sizes(size, classes),
  generate_series(1, classes) AS number, generate_series(1, size);
SELECT fraction, model, round(share::numeric, 7) AS share, round(standard_error::numeric, 1) AS standard_error, applies, reason
  FROM unnest('{0.01,0.1,0.2,1}'::float8[]) AS fraction, disclosure.population_uniqueness('adult', columns => '{class}', fraction => fraction)
 WHERE tau1 IS NULL;
DROP TABLE s, francdat, visits, sample_data, adult;
