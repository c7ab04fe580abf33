-- assess, assess_summary and presets.
\pset null -
CREATE ROLE pd_assessor;
CREATE ROLE "pd Assessor";
CREATE SCHEMA "Odd Schema";
GRANT ALL ON SCHEMA public, "Odd Schema" TO pd_assessor, "pd Assessor";

-- What the extension brings. Nothing is called compliant.
SELECT name, version, count(*) AS criteria, count(at_least) + count(at_most) AS limits, string_agg(DISTINCT scope, ', ') AS scope,
       bool_and(source IS NOT NULL) AS has_source, bool_and(retrieved IS NOT NULL) AS was_seen, bool_and(shipped) AS shipped
  FROM disclosure.presets GROUP BY name, version ORDER BY name, version;
SELECT criterion, measure, at_least, at_most, options FROM disclosure.presets WHERE name = 'standard' ORDER BY criterion COLLATE "C";
SELECT count(*) AS compliant FROM disclosure.presets p WHERE p::text ~* 'complian';
SELECT name, criterion FROM disclosure.presets WHERE retrieved IS NULL AND note IS NULL;
-- Every measure of a preset can be read.
SELECT count(*) FROM disclosure.presets p, disclosure_internal.check_criterion(p.measure, p.at_least, p.at_most, p.options, p.scope);

-- A table that keeps to all criteria.
CREATE TABLE stays AS
  SELECT n % 4 AS age_group, n % 2 AS sex, (ARRAY['flu', 'asthma', 'angina'])[1 + n / 4 % 3] AS diagnosis FROM generate_series(0, 47) n;
SELECT disclosure.label_columns('stays', quasi => '{age_group, sex}', sensitive => '{diagnosis}');
SELECT criterion, measure, measured, at_least, at_most, verdict, people FROM disclosure.assess('stays');
\x
SELECT why, next_step FROM disclosure.assess('stays') WHERE why IS NOT NULL;
SELECT * FROM disclosure.assess_summary('stays');
\x

-- Its next step works.
SELECT next_step FROM disclosure.assess('stays') WHERE next_step IS NOT NULL \gexec
SELECT count(*) AS policies FROM disclosure.policies WHERE relation = 'stays'::regclass;

-- One that does not: names, somebody alone, one diagnosis in a class. The worst comes first.
CREATE TABLE patients (name text, age int, zip text, sex text, diagnosis text);
INSERT INTO patients SELECT 'n' || n, 30 + n % 3, '9000' || n % 2, 'f', CASE WHEN n % 3 = 0 THEN 'flu' ELSE 'd' || n % 5 END
  FROM generate_series(1, 60) n;
INSERT INTO patients VALUES ('alone', 99, '90009', 'm', 'hiv');
SELECT disclosure.label_columns('patients', identifier => '{name}', quasi => '{age, zip, sex}', sensitive => '{diagnosis}');
\x
SELECT * FROM disclosure.assess('patients');
SELECT * FROM disclosure.assess_summary('patients');
\x
-- The next steps are statements that work, and lead to something better.
SELECT DISTINCT next_step FROM disclosure.assess('patients') WHERE next_step IS NOT NULL ORDER BY 1 \gexec
SELECT relname FROM pg_class WHERE relname LIKE 'patients\_%' ORDER BY 1;
SELECT criterion, verdict FROM disclosure.assess('patients_without_name');
-- If the name of a view is taken, the next one is used.
SELECT next_step FROM disclosure.assess('patients', preset => 'k5');

-- The figures are those of the calls that it stands for, except that NULL is unknown.
SELECT s.k, s.prosecutor_average, d.l_distinct, p.maximum
  FROM disclosure.risk_summary('patients') s, disclosure.diversity('patients') d,
       disclosure.privacy_summary('patients', min_confidence => 0.9, sensitive_nulls => 'unknown') p;
SELECT measure, measured FROM disclosure.assess('patients') WHERE measured > 0 AND measure <> 'identifier_columns' ORDER BY 1;

-- Columns without a label are left out, are named, and nothing is safe any more, whatever the preset.
ALTER TABLE stays ADD COLUMN note text, ADD COLUMN "Other Note" text;
SELECT criterion, verdict, measured, why FROM disclosure.assess('stays');
SELECT verdict, unlabelled, why FROM disclosure.assess_summary('stays', preset => 'k5');
SELECT criterion, verdict, why, next_step FROM disclosure.assess('stays', preset => 'k5');
-- Labels of the call count, and those that are stored stay.
SELECT verdict, unlabelled FROM disclosure.assess_summary('stays', labels => '{"note": "ignore", "Other Note": "ignore"}');
SELECT verdict, unlabelled FROM disclosure.assess_summary('stays', labels => '{"note": "sensitive", "Other Note": "quasi"}');

-- NULL in a sensitive column is unknown, and never protection.
CREATE TABLE blanks AS SELECT 1 AS age, CASE WHEN n < 10 THEN 'hiv' END AS diagnosis FROM generate_series(1, 20) n;
SELECT disclosure.label_columns('blanks', quasi => '{age}', sensitive => '{diagnosis}');
SELECT measure, measured, verdict, people FROM disclosure.assess('blanks');
SELECT l_distinct FROM disclosure.diversity('blanks');
-- Unless the label says that it is a value.
SELECT disclosure.label_column('blanks', 'diagnosis', 'sensitive nulls=value');
SELECT measure, measured, verdict, people FROM disclosure.assess('blanks');

-- People are counted: three people with many rows are not many people.
CREATE TABLE visits AS SELECT n % 3 AS patient, 40 AS age, 'd' || n % 4 AS diagnosis FROM generate_series(1, 30) n;
SELECT disclosure.label_columns('visits', person => '{patient}', quasi => '{age}', sensitive => '{diagnosis}');
SELECT criterion, measured, verdict, people, why FROM disclosure.assess('visits');
-- A view without the person counts rows, and says so.
CREATE VIEW visits_without_patient AS SELECT age, diagnosis FROM visits;
CREATE VIEW over_it AS SELECT age AS a, diagnosis AS d FROM visits_without_patient;
SELECT criterion, measured, verdict, people FROM disclosure.assess('over_it', preset => 'k5');

-- No rows, no columns, one row, nothing known, nothing sensitive.
CREATE TABLE empty (age int, diagnosis text);
SELECT disclosure.label_columns('empty', quasi => '{age}', sensitive => '{diagnosis}');
SELECT measure, measured, verdict, people, why FROM disclosure.assess('empty');
CREATE TABLE no_columns ();
INSERT INTO no_columns DEFAULT VALUES;
SELECT measure, measured, verdict, people, why FROM disclosure.assess('no_columns');
INSERT INTO empty VALUES (1, 'flu');
SELECT measure, measured, verdict, people FROM disclosure.assess('empty');
SELECT disclosure.label_columns('empty', ignore => '{age, diagnosis}');
SELECT measure, measured, verdict, people, why FROM disclosure.assess('empty');

-- Odd names, partitions, materialized views.
CREATE TABLE "Odd Schema"."Odd ""Table" ("Älter" int, "a b" text, "select" text) PARTITION BY LIST ("Älter");
CREATE TABLE "Odd Schema"."Part" PARTITION OF "Odd Schema"."Odd ""Table" DEFAULT;
INSERT INTO "Odd Schema"."Odd ""Table" SELECT n % 2, 'x', 'y' || n % 3 FROM generate_series(1, 12) n;
SELECT disclosure.label_columns('"Odd Schema"."Odd ""Table"', quasi => '{"Älter"}', identifier => '{"a b"}', sensitive => '{"select"}');
SELECT measure, measured, verdict, next_step FROM disclosure.assess('"Odd Schema"."Odd ""Table"');
SELECT measure, measured, verdict, next_step FROM disclosure.assess('"Odd Schema"."Part"', preset => 'k3');
SELECT next_step FROM disclosure.assess('"Odd Schema"."Odd ""Table"') WHERE measure = 'identifier_columns' \gexec
CREATE MATERIALIZED VIEW kept AS SELECT * FROM "Odd Schema"."Odd ""Table";
SELECT verdict, unlabelled FROM disclosure.assess_summary('kept');

-- Populations.
CREATE TABLE register AS SELECT 30 + n % 3 AS age, '9000' || n % 2 AS zip, 'f' AS sex FROM generate_series(1, 600) n;
SELECT measure, measured, verdict FROM disclosure.assess('patients', preset => 'ema_0070_style', population => 'register');
SELECT measure, measured, verdict, why FROM disclosure.assess('patients', preset => 'ema_0070_style');
DELETE FROM patients WHERE name = 'alone';
SELECT measure, measured, verdict FROM disclosure.assess('patients', preset => 'ema_0070_style', population => 'register');

-- What has no limit is shown and not judged; what is about aggregates is not known.
SELECT * FROM disclosure.assess('patients', preset => 'wp216');
SELECT verdict, failed, not_known, not_judged, why FROM disclosure.assess_summary('patients', preset => 'wp216');
SELECT measure, verdict, why FROM disclosure.assess('patients', preset => 'sacro');

-- The safe harbor of HIPAA: columns are found by name and values. Years are allowed, and areas with more than 20,000 people.
CREATE TABLE harbor (patient_name text, mrn text, contact text, zip text, birth_year int, admitted date, age int, diagnosis text);
INSERT INTO harbor SELECT 'Anna Schmidt', 'M' || 10000 + n, 'a' || n || '@example.org', '90' || n % 3, 1950 + n % 30, date '2024-01-01' + n, 20 + n % 72, 'flu'
  FROM generate_series(1, 100) n;
SELECT disclosure.label_columns('harbor', identifier => '{patient_name, mrn, contact}', quasi => '{zip, birth_year, admitted, age}', sensitive => '{diagnosis}');
SELECT criterion, measured, verdict, why FROM disclosure.assess('harbor', preset => 'hipaa_safe_harbor') WHERE verdict <> 'safe' ORDER BY 1;
-- One area of the population is small, so the column is no safe one. A weight says how many people a row stands for.
CREATE TABLE areas (zip text, people int);
INSERT INTO areas VALUES ('900', 30000), ('901', 20000), ('902', 50000);
SELECT disclosure.label_columns('areas', weight => '{people}', quasi => '{zip}');
SELECT measured, verdict, why FROM disclosure.assess('harbor', preset => 'hipaa_safe_harbor', population => 'areas') WHERE criterion LIKE '(B)%';
UPDATE areas SET people = 20001 WHERE zip = '901';
SELECT measured, verdict, why FROM disclosure.assess('harbor', preset => 'hipaa_safe_harbor', population => 'areas') WHERE criterion LIKE '(B)%';
INSERT INTO harbor (zip) VALUES ('903');
SELECT measured, verdict FROM disclosure.assess('harbor', preset => 'hipaa_safe_harbor', population => 'areas') WHERE criterion LIKE '(B)%';
-- What is left after the next steps is safe, but for what nobody can find by name.
CREATE VIEW harbored AS SELECT left(zip, 2) AS region, birth_year, least(age, 89) AS age, diagnosis FROM harbor;
SELECT disclosure.label_columns('harbored', quasi => '{region, age}');
SELECT criterion, verdict, why FROM disclosure.assess('harbored', preset => 'hipaa_safe_harbor') WHERE verdict <> 'safe';

-- Presets of roles. Everybody adds rows of their own and uses nobody else's.
SET ROLE "pd Assessor";
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('ours', 'k at least 2', 'k_anonymity', 2);
INSERT INTO disclosure.presets (name, version, criterion, measure, at_least) VALUES ('ours', 2, 'k at least 10', 'k_anonymity', 10);
SELECT name, version, owner, shipped FROM disclosure.presets WHERE NOT shipped ORDER BY 1, 2;
RESET ROLE;
GRANT SELECT ON stays TO "pd Assessor", pd_assessor;
SET ROLE "pd Assessor";
SELECT version, criteria FROM disclosure.assess_summary('stays', preset => 'ours');
SELECT version, criteria FROM disclosure.assess_summary('stays', preset => 'OURS@1');
SET ROLE pd_assessor;
SELECT * FROM disclosure.assess('stays', preset => 'ours');
INSERT INTO disclosure.presets (name, criterion, measure, at_most) VALUES ('ours', 'no uniques', 'uniques', 0);
SELECT measure, verdict FROM disclosure.assess('stays', preset => 'ours');
-- Nobody but the owner of the extension changes or deletes rows.
UPDATE disclosure.presets SET at_least = 1 WHERE name = 'standard' AND measure = 'k_anonymity';
DELETE FROM disclosure.presets WHERE name = 'k5';
UPDATE disclosure.presets SET at_least = 1 WHERE name = 'ours' AND measure = 'k_anonymity';
DELETE FROM disclosure.presets WHERE owner::text ~ 'Assessor"';
TRUNCATE disclosure.presets;
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('standard', 'k at least 1', 'k_anonymity', 1);
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('weak', 'k at least 1', 'k_anonymity', 1, NULL);
INSERT INTO disclosure.presets (name, criterion, measure, at_least, shipped) VALUES ('weak', 'k at least 1', 'k_anonymity', 1, true);
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('weak', 'k at least 1', 'k_anonymity', 1, '"pd Assessor"');
-- Criteria that make no sense.
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('Bad Name', 'k', 'k_anonymity', 1);
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('bad', ' ', 'k_anonymity', 1);
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('bad', 'k', 'k_anonimity', 1);
INSERT INTO disclosure.presets (name, criterion, measure, at_most) VALUES ('bad', 'k', 'k_anonymity', 1);
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('bad', 'k', 'privacy_score', 0.5);
INSERT INTO disclosure.presets (name, criterion, measure, at_most) VALUES ('bad', 'k', 'privacy_score', 'NaN');
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options) VALUES ('bad', 'k', 'privacy_score', 0.5, '{"min_confidence": 2}');
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options) VALUES ('bad', 'k', 'uniques', 0, '{"min_confidence": 0.9}');
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options) VALUES ('bad', 'k', 'uniques', 0, '{"nonsense": 1}');
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options) VALUES ('bad', 'k', 'uniques', 0, '[]');
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options) VALUES ('bad', 'k', 'category_columns', 0, '{"categories": ["nonsense"]}');
INSERT INTO disclosure.presets (name, criterion, measure, at_most) VALUES ('bad', 'k', 'largest_value', 0);
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('bad', 'k', 'smallest_count', 5);
INSERT INTO disclosure.presets (name, version, criterion, measure, at_most) VALUES ('bad', 0, 'k', 'uniques', 0);
INSERT INTO disclosure.presets (name, criterion, measure, at_most) VALUES ('ours', 'no uniques', 'uniques', 1);
RESET ROLE;
DELETE FROM disclosure.presets WHERE name = 'k5';
DELETE FROM disclosure.presets WHERE name = 'ours' AND owner::text = 'pd_assessor';
-- The extension's owner adds rows for everybody; a role's own preset comes first.
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('ours', 'k at least 3', 'k_anonymity', 3, NULL);
SET ROLE pd_assessor;
SELECT criterion FROM disclosure.assess('stays', preset => 'ours');
SET ROLE "pd Assessor";
SELECT criterion FROM disclosure.assess('stays', preset => 'ours');
RESET ROLE;
-- A superuser may be restoring a dump of another version: what is not valid is kept and never safe.
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('future', 'better', 'a_measure_of_tomorrow', 3, NULL);
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('future', 'wrong side', 'privacy_score', 0, NULL);
INSERT INTO disclosure.presets (name, criterion, measure, at_least, owner) VALUES ('standard', 'weaker', 'k_anonymity', 1, NULL);
SELECT criterion, measure, verdict, why FROM disclosure.assess('stays', preset => 'future', labels => '{"note": "ignore", "Other Note": "ignore"}');
SELECT criteria FROM disclosure.assess_summary('stays', labels => '{"note": "ignore", "Other Note": "ignore"}');

-- Privileges and row-level security are those of a plain SELECT.
SET ROLE pd_assessor;
SELECT * FROM disclosure.assess('patients');
RESET ROLE;
ALTER TABLE stays ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_ones ON stays USING (age_group = 1);
SET ROLE pd_assessor;
SELECT measured FROM disclosure.assess('stays', preset => 'k5') WHERE measure = 'k_anonymity';
RESET ROLE;
REVOKE ALL ON stays FROM pd_assessor;
GRANT SELECT (age_group, sex) ON stays TO pd_assessor;
SET ROLE pd_assessor;
SELECT * FROM disclosure.assess('stays');
RESET ROLE;

-- Errors name the argument.
SELECT * FROM disclosure.assess(NULL);
SELECT * FROM disclosure.assess('stays', preset => NULL);
SELECT * FROM disclosure.assess('stays', preset => 'standrad');
SELECT * FROM disclosure.assess('stays', preset => 'standard@9');
SELECT * FROM disclosure.assess('stays', preset => 'standard@');
SELECT * FROM disclosure.assess('stays', labels => '{"nonsense": "quasi"}');
SELECT * FROM disclosure.assess('stays', labels => '[]');
SELECT * FROM disclosure.assess('stays', budget => '-1 s');
SELECT * FROM disclosure.assess('patients', preset => 'ema_0070_style', population => 'empty');
SELECT * FROM disclosure.assess('stays_age');

-- The name of a proposed view is free, however long the names are, and the search ends.
CREATE TABLE t (a int, full_name_of_the_attending_doctor text);
INSERT INTO t SELECT 1, 'x' || n FROM generate_series(1, 20) n;
SELECT disclosure.label_columns('t', quasi => '{a}', identifier => '{full_name_of_the_attending_doctor}') \g /dev/null
SELECT next_step FROM disclosure.assess_summary('t') \gexec
SELECT next_step FROM disclosure.assess_summary('t') \gexec
SELECT next_step FROM disclosure.assess_summary('t');
-- No code of the owner of a type is called.
SET ROLE pd_assessor;
CREATE TYPE area AS RANGE (subtype = int4);
CREATE FUNCTION noticed(area) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'runs as %', current_user; RETURN 'x'; END $$;
CREATE CAST (area AS text) WITH FUNCTION noticed(area);
CREATE TABLE journeys (zip text, region area, city area);
INSERT INTO journeys SELECT 'a' || n, area(n, n + 5), area(n, n + 5) FROM generate_series(1, 20) n;
RESET ROLE;
SELECT criterion, verdict FROM disclosure.assess('journeys', 'hipaa_safe_harbor', population => 'journeys', labels => '{"zip": "quasi", "region": "quasi", "city": "quasi"}')
 WHERE criterion LIKE '(B)%';
-- Large numbers, other types, other spellings, and people who are not known.
CREATE TABLE old (age numeric, p int);
INSERT INTO old VALUES (1.7654321e400, 1), (3, 2), (95, NULL);
SELECT criterion, measured, verdict, people, why FROM disclosure.assess('old', 'hipaa_safe_harbor', labels => '{"age": "quasi", "p": "person"}') WHERE criterion LIKE '%89';
CREATE TABLE spelt AS SELECT '95'::text AS age, 95 AS "patientAge", 95 AS x;
SELECT verdict, why FROM disclosure.assess('spelt', 'hipaa_safe_harbor', labels => '{"age": "ignore", "patientAge": "quasi", "x": "quasi"}') WHERE criterion LIKE '%89';
SELECT verdict, why FROM disclosure.assess('spelt', 'hipaa_safe_harbor', labels => '{"age": "quasi", "patientAge": "quasi", "x": "quasi"}') WHERE criterion LIKE '%89';
SELECT verdict, why FROM disclosure.assess('spelt', 'hipaa_safe_harbor', labels => '{"age": "ignore", "x": "quasi"}') WHERE criterion LIKE '%89';
-- Nobody but the owner of the extension can lock the presets against others.
SET ROLE pd_assessor;
BEGIN;
LOCK TABLE disclosure.presets IN ACCESS EXCLUSIVE MODE;
ROLLBACK;
BEGIN;
LOCK TABLE disclosure.dictionary IN SHARE ROW EXCLUSIVE MODE;
ROLLBACK;
RESET ROLE;
