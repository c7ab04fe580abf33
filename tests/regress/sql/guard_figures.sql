-- The figures of risk_summary and diversity as measures of policies.
SET client_min_messages = error;
CREATE ROLE figures_owner;
GRANT CREATE ON SCHEMA public TO figures_owner;
SET ROLE figures_owner;
CREATE TABLE patients (id int PRIMARY KEY, age text, gender text, city text, disease text, pay int);

\echo '# What protect() takes'
CREATE FUNCTION protect_all(relation regclass, measures text[], at_most float8 DEFAULT NULL, at_least float8 DEFAULT NULL, min_people int DEFAULT 1)
  RETURNS int LANGUAGE sql AS $$
  SELECT count(*)::int FROM unnest(measures) m, disclosure.protect(relation, m, at_most => at_most, at_least => at_least, min_people => min_people) p $$;
SELECT protect_all('patients', '{prosecutor_highest,prosecutor_average,prosecutor_above_5,prosecutor_above_11,prosecutor_above_20,marketer,share_below_3,
                                 share_below_5,share_below_11,share_below_20,uniques,alpha,t_equal,t_ordered,beta,beta_enhanced,delta,T-Equal}', at_most => 0.5);
SELECT protect_all('patients', '{k,l_distinct,l_entropy,l_recursive,L Distinct}', at_least => 2, min_people => NULL);
SELECT policy, measure, statistic, at_most, at_least, min_people FROM disclosure.policies ORDER BY policy;
SELECT disclosure.unprotect('patients');
-- Limits that make no sense, and names that are none.
SET client_min_messages = warning;
DO $$
DECLARE
  measure text;
  problem text;
  hint text;
BEGIN
  FOREACH measure IN ARRAY '{k,l_distinct,l_entropy,l_recursive,alpha,t_equal,t_ordered,beta,beta_enhanced,delta,uniques,marketer,share_below_5,
                             prosecutor_average,l_diversity,t_closeness,T-Closeness,t_hierarchical,journalist_average,share_below_6,
                             l_distinkt,prosecutor,suda,individual_risk,dis_suda,household_risk}'::text[] LOOP
    FOR i IN 1..2 LOOP
      BEGIN
        PERFORM disclosure.protect('patients', measure, at_most => CASE WHEN i = 1 THEN -0.5 END, at_least => CASE WHEN i = 2 THEN 0.5 END);
      EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
        RAISE WARNING '% %: % % %', measure, i, SQLSTATE, problem, hint;
      END;
    END LOOP;
  END LOOP;
END $$;
SET client_min_messages = error;
SELECT disclosure.protect('patients', 'alpha', at_most => 0.5, statistic => 'maximum');
SELECT disclosure.protect('patients', 'l_distinct', at_least => 2, on_rows => 'drop');
SELECT disclosure.protect('patients', 'suda', at_most => 2, on_rows => 'drop');
SELECT disclosure.protect('patients', 'suda', at_most => 2, statistic => 'median');
SELECT disclosure.protect('patients', 'suda', at_most => 2, statistic => 'share', threshold => 1);
SELECT disclosure.protect('patients', 'suda', at_most => 0.2, statistic => 'share', threshold => -1);
SELECT disclosure.protect('patients', 'individual_risk', at_most => 0.2, statistic => 'share', threshold => 2);

\echo '# Verified values'
-- pyCANON's table of a hospital.
INSERT INTO patients
SELECT row_number() OVER (), '[17, 30[', g, c, d, 0
  FROM (VALUES ('F', 'Kerala', '{Viral,Heart}'::text[]), ('F', 'TN', '{Cancer,TB}'), ('M', 'Karnataka', '{None,TB,Heart}'),
               ('M', 'Kerala', '{Cancer,Heart,Viral}'), ('M', 'TN', '{Cancer,Cancer,Cancer}')) classes (g, c, diseases), unnest(diseases) d;
SELECT disclosure.label_columns('patients', identifier => '{id}', quasi => '{age, gender, city}', sensitive => '{disease}', ignore => '{pay}');
SELECT protect_all('patients', '{prosecutor_highest,prosecutor_average,prosecutor_above_5,marketer,share_below_3,share_below_5,uniques,alpha,t_equal,t_ordered,beta,beta_enhanced,delta}', at_most => 0.5);
SELECT protect_all('patients', '{k,l_distinct,l_entropy,l_recursive}', at_least => 2);
CREATE FUNCTION judge(query text) RETURNS TABLE (measure text, required text, measured numeric, verdict text)
  LANGUAGE sql AS 'SELECT measure, required, round(measured::numeric, 9), verdict::text FROM disclosure.check_export(query)
                    WHERE measured < ''infinity'' OR measured IS NULL
                    UNION ALL SELECT measure, required, 999, verdict::text FROM disclosure.check_export(query) WHERE measured = ''infinity''';
SELECT * FROM judge('SELECT age, gender, city, disease FROM patients');
-- The same as of the whole table, and as of the rows of an export table.
SELECT k, uniques, share_below_3, share_below_5, prosecutor_highest, prosecutor_average, prosecutor_above_5, marketer FROM disclosure.risk_summary('patients');
SELECT l_distinct, l_entropy, l_recursive, alpha, round(t_equal::numeric, 9) AS t, t_ordered, round(beta::numeric, 9) AS beta,
       round(beta_enhanced::numeric, 9) AS enhanced, round(delta::numeric, 9) AS delta FROM disclosure.diversity('patients');

\echo '# Salaries have an order (Li et al.)'
CREATE TABLE pay (class int, salary int);
INSERT INTO pay SELECT n, s FROM (VALUES (1, '{3,5,9}'::int[]), (2, '{6,11,8}'), (3, '{4,7,10}')) t (n, salaries), unnest(salaries) s;
SELECT disclosure.label_columns('pay', quasi => '{class}', sensitive => '{salary}');
SELECT protect_all('pay', '{t_equal,t_ordered}', at_most => 0.2);
SELECT * FROM judge('TABLE pay');
SELECT * FROM judge('SELECT class, salary::text FROM pay');
-- A condition on the salary shows something about everybody, and hides how frequent it is.
SELECT * FROM judge('SELECT class, salary FROM pay WHERE salary > 3');
SELECT * FROM judge('SELECT class FROM pay');
SELECT * FROM judge('SELECT class, salary FROM pay ORDER BY salary LIMIT 8');
-- Without labels, a salary may be known, and the class dangerous.
SELECT disclosure.label_column('pay', 'class', NULL), disclosure.label_column('pay', 'salary', NULL);
SELECT * FROM judge('TABLE pay');
SELECT * FROM judge('SELECT 1 FROM pay');

\echo '# NULL is unknown and never protects'
CREATE TABLE tests (ward text, result text);
SELECT disclosure.label_columns('tests', quasi => '{ward}', sensitive => '{result}');
SELECT protect_all('tests', '{alpha,t_equal,beta,beta_enhanced,delta}', at_most => 0.6);
SELECT protect_all('tests', '{l_distinct,l_entropy,l_recursive}', at_least => 2);
INSERT INTO tests SELECT 'north', (ARRAY['a', 'b', 'c'])[1 + i % 3] FROM generate_series(1, 9) i;
SELECT * FROM judge('TABLE tests');
INSERT INTO tests SELECT 'north', NULL FROM generate_series(1, 3);
SELECT * FROM judge('TABLE tests');
SELECT disclosure.label_column('tests', 'result', 'sensitive nulls=value');
SELECT * FROM judge('TABLE tests');
SELECT disclosure.label_column('tests', 'result', 'sensitive');
INSERT INTO tests SELECT 'south', NULL FROM generate_series(1, 3);
SELECT * FROM judge($$SELECT * FROM tests WHERE ward = 'south'$$);
SELECT * FROM judge('SELECT ward FROM tests');
SELECT * FROM judge('SELECT result FROM tests');
-- In a known column it is a value.
SELECT * FROM judge($$SELECT nullif(ward, 'south') AS ward FROM tests$$);

\echo '# Copies of rows hide nothing'
CREATE TABLE stays (stay int PRIMARY KEY, room int, illness text);
INSERT INTO stays SELECT i, i, CASE WHEN i = 10 THEN 'flu' ELSE 'hiv' END FROM generate_series(1, 10) i;
CREATE TABLE pairs (room int, n int);
INSERT INTO pairs SELECT i, i FROM generate_series(1, 9) i UNION ALL SELECT 10, i FROM generate_series(1, 9) i;
SELECT disclosure.label_columns('stays', identifier => '{stay}', quasi => '{room}', sensitive => '{illness}');
SELECT disclosure.protect('stays', 'alpha', at_most => 0.6, columns => '{illness}', min_people => 1);
-- Each n has one hiv and one flu, but nine of ten rows have hiv.
SELECT * FROM judge('SELECT n, illness FROM stays JOIN pairs USING (room)');
SELECT disclosure.protect('stays', 'share_below_3', at_most => 0.3, min_people => 1);
CREATE TABLE many AS SELECT CASE WHEN i = 1 THEN 1 ELSE 2 END AS room, i FROM generate_series(1, 30) i;
UPDATE stays SET room = CASE WHEN stay <= 4 THEN 1 ELSE 2 END;
-- Four people are in small classes, however often the others are repeated.
SELECT * FROM judge('SELECT CASE WHEN s.room = 1 THEN s.stay / 2 END AS part, m.i FROM stays s JOIN many m USING (room)');

\echo '# People'
CREATE TABLE visits (patient int, ward text, illness text);
INSERT INTO visits SELECT i % 6, 'north', CASE WHEN i < 12 THEN 'hiv' ELSE 'x' || i END FROM generate_series(0, 29) i;
SELECT disclosure.label_columns('visits', person => '{patient}', quasi => '{ward}', sensitive => '{illness}');
SELECT protect_all('visits', '{alpha,t_equal,prosecutor_average,uniques,marketer,share_below_5}', at_most => 0.6);
SELECT protect_all('visits', '{l_distinct,l_entropy,l_recursive,k}', at_least => 2);
-- Every patient has hiv, and three other illnesses.
SELECT * FROM judge('SELECT ward, illness FROM visits');
-- Unknown people add risk, and nobody to a class.
INSERT INTO visits SELECT NULL, 'south', 'x' || i FROM generate_series(1, 3) i;
SELECT * FROM judge('SELECT ward, illness FROM visits');
UPDATE visits SET ward = 'north';
SELECT * FROM judge('SELECT ward, illness FROM visits');

\echo '# Statistics of everybody: SUDA (Elliot et al.) and individual risk (Benedetti and Franconi)'
CREATE TABLE guide (residence text, gender text, education text, labour text);
INSERT INTO guide VALUES ('U', 'F', 'SI', 'E'), ('U', 'F', 'SI', 'E'), ('U', 'F', 'PI', 'N'), ('U', 'M', 'SC', 'E'), ('R', 'F', 'SC', 'U'),
                         ('U', 'M', 'SC', 'E'), ('U', 'F', 'PC', 'N'), ('U', 'M', 'PS', 'U'), ('U', 'F', 'SI', 'N'), ('U', 'F', 'SI', 'N');
SELECT disclosure.label_columns('guide', quasi => '{residence, gender, education, labour}');
SELECT disclosure.protect('guide', 'suda', at_most => 12), disclosure.protect('guide', 'suda', at_most => 3, statistic => 'average'),
       disclosure.protect('guide', 'suda', at_most => 0.4, statistic => 'share', threshold => 6);
SELECT * FROM judge('TABLE guide');
SELECT * FROM judge('SELECT education, labour FROM guide');
CREATE TABLE sample (id int, sex int, age int, job int, weight numeric);
INSERT INTO sample VALUES (1, 2, 3, 1, 18), (2, 3, 3, 3, 45.5), (3, 2, 3, 1, 39), (4, 2, 3, 2, 17), (5, 3, 3, 1, 92), (6, 3, 3, 1, 8), (7, 1, 4, 1, 123.5),
                          (8, 2, 3, 1, 51);
SELECT disclosure.label_columns('sample', identifier => '{id}', quasi => '{sex, age, job}', weight => '{weight}');
SELECT disclosure.protect('sample', 'individual_risk', at_most => 0.2), disclosure.protect('sample', 'individual_risk', at_most => 0.05, statistic => 'average'),
       disclosure.protect('sample', 'individual_risk', at_most => 0.25, statistic => 'share', threshold => 0.05), disclosure.protect('sample', 'prosecutor_highest', at_most => 1);
SELECT * FROM judge('SELECT sex, age, job FROM sample');
-- Weights that are no positive numbers count as 1, and without weights the risk is 1/f.
UPDATE sample SET weight = CASE id WHEN 2 THEN NULL WHEN 4 THEN -3 WHEN 7 THEN 'NaN' ELSE weight END;
SELECT * FROM judge('SELECT sex, age, job FROM sample');
SELECT disclosure.label_column('sample', 'weight', 'ignore');
SELECT * FROM judge('SELECT sex, age, job FROM sample');
-- People, of whom one is not known.
SELECT disclosure.label_column('sample', 'weight', 'weight'), disclosure.label_column('sample', 'id', 'person');
UPDATE sample SET weight = 10, id = CASE WHEN id = 8 THEN NULL WHEN id < 7 THEN 1 ELSE id END;
SELECT * FROM judge('SELECT age FROM sample');
UPDATE sample SET id = 9 WHERE id IS NULL;
SELECT * FROM judge('SELECT age FROM sample');

\echo '# Export tables'
CREATE TABLE released (ward text, illness text, patient int);
SELECT disclosure.label_columns('released', quasi => '{ward}', sensitive => '{illness}', person => '{patient}');
SELECT disclosure.protect('released', 'l_distinct', at_least => 2, columns => '{ward, illness}', on_rows => 'block');
SELECT disclosure.protect('released', 'share_below_3', at_most => 0.5, columns => '{ward}', on_rows => 'warn');
INSERT INTO released VALUES ('a', 'flu', 1), ('a', 'flu', 2);
SET client_min_messages = warning;
INSERT INTO released VALUES ('a', 'flu', 1), ('a', 'cold', 1);
INSERT INTO released VALUES ('a', 'flu', 2), ('a', 'cold', 3);
INSERT INTO released VALUES ('a', NULL, 2), ('b', NULL, 3);
DELETE FROM released WHERE illness = 'flu';
SELECT disclosure.protect('guide', 'suda', at_most => 12, on_rows => 'block'), disclosure.protect('sample', 'individual_risk', at_most => 0.2, columns => '{sex}', on_rows => 'block');
INSERT INTO guide VALUES ('R', 'F', 'SC', 'U');
INSERT INTO guide VALUES ('X', 'X', 'X', 'X');
INSERT INTO sample VALUES (10, 3, 3, 3, 200);
INSERT INTO sample VALUES (11, 4, 3, 3, 2);
SELECT policy, kind, measured, rows, outcome FROM disclosure.export_log WHERE relation = 'released'::regclass AND kind IN ('INSERT', 'DELETE')
 ORDER BY at, policy;
RESET ROLE;
DROP OWNED BY figures_owner CASCADE;
DROP ROLE figures_owner;
