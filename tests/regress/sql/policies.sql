-- Policies: what protect() takes and what it refuses, who may, and how policies keep to their relation.
SET client_min_messages = warning;
CREATE ROLE pd_keeper;
CREATE ROLE pd_stranger;
CREATE ROLE pd_analyst;
GRANT pd_keeper TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO pd_keeper;
SET ROLE pd_keeper;
CREATE TABLE patients (id int, age int, zip text, items text[], diagnosis text, "Odd name" int);
CREATE FUNCTION public.my_measure(query text) RETURNS numeric LANGUAGE sql AS 'SELECT 1.5';
CREATE FUNCTION public.my_text(query text) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
CREATE FUNCTION public.my_set(query text) RETURNS SETOF int LANGUAGE sql AS 'SELECT 1';
CREATE VIEW young AS SELECT age, zip FROM patients WHERE age < 20;

-- It works as soon as it is laid down, but not for sessions that do not have the library: it says so at once.
SELECT disclosure.protect('patients', measure => 'privacy_score', at_most => 0.5, for_role => 'pd_analyst');
SET client_min_messages = error;
SELECT disclosure.protect('patients', measure => 'privacy_score', statistic => 'average', at_most => 0.2);
SELECT disclosure.protect('patients', measure => 'privacy_score', statistic => 'share', threshold => 0.5, at_most => 0);
SELECT disclosure.protect('patients', measure => 'k_anonymity', at_least => 5, columns => ARRAY['age', 'zip']);
SELECT disclosure.protect('patients', measure => 'k_anonymity', at_least => 2, columns => ARRAY['Odd name'], only_by_copy => true);
SELECT disclosure.protect('patients', measure => 'expected_cracks', at_most => 1, columns => ARRAY['items']);
SELECT disclosure.protect('patients', measure => 'my_measure', at_most => 1);
SELECT disclosure.protect('patients', measure => 'public.my_measure(text)', at_least => -3, for_role => 'pd_analyst');
SELECT disclosure.protect('young', measure => 'k_anonymity', at_least => 5);
SELECT policy, relation, measure, statistic, threshold, at_most, at_least, columns, for_role, on_rows, only_by_copy,
       enforcement, guards_rows, made_by
  FROM disclosure.policies ORDER BY policy;

-- The same relation, measure, statistic, columns and role: the same policy, with what is new.
SELECT disclosure.protect('patients', measure => 'k_anonymity', at_least => 7, columns => ARRAY['age', 'zip']);
SELECT disclosure.protect('patients', measure => 'privacy_score', at_most => 0.4, for_role => 'pd_analyst');
SELECT disclosure.protect('patients', measure => 'privacy_score', at_most => 0.3);
SELECT policy, measure, at_most, at_least, for_role FROM disclosure.policies WHERE policy IN (1, 4) OR policy > 9 ORDER BY 1;

-- Settings that do not depend on the measure. The default of min_people is the limit of k_anonymity, rounded up.
SELECT policy, measure, min_people, min_confidence, max_refusals, details, locked FROM disclosure.policies WHERE policy IN (1, 4) ORDER BY 1;
BEGIN;
SELECT disclosure.protect('patients', measure => 'k_anonymity', at_least => 6.5, columns => ARRAY['age', 'zip'], min_confidence => NULL,
                          max_refusals => NULL, details => NULL, locked => NULL);
SELECT disclosure.protect('patients', measure => 'privacy_score', at_most => 0.4, for_role => 'pd_analyst', min_people => 10,
                          min_confidence => 1, max_refusals => 1, details => true);
SELECT policy, measure, min_people, min_confidence, max_refusals, details, locked FROM disclosure.policies WHERE policy IN (1, 4) ORDER BY 1;
SELECT disclosure.protect('patients', measure => 'k_anonymity', at_least => 1e300, columns => ARRAY['age', 'zip']);
SELECT min_people FROM disclosure.policies WHERE policy = 4;
ROLLBACK;
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, min_people => 0);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, max_refusals => 0);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, min_confidence => 0);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, min_confidence => 1.1);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, min_confidence => 'NaN');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, locked => true);

-- What makes no sense is refused by name, and changes nothing.
SELECT disclosure.protect(NULL, 'k_anonymity', at_least => 5);
SELECT disclosure.protect('patients', NULL, at_least => 5);
SELECT disclosure.protect('patients', 'risk', at_most => 5);
SELECT disclosure.protect('patients', 'no.such.thing(text)', at_most => 5);
SELECT disclosure.protect('patients', 'my_text', at_most => 5);
SELECT disclosure.protect('patients', 'my_set', at_most => 5);
SELECT disclosure.protect('patients', 'pg_catalog.max(int)', at_most => 5);
SELECT disclosure.protect('patients', 'k_anonymity');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, at_most => 6);
SELECT disclosure.protect('patients', 'k_anonymity', at_most => 6);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 0.5);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 'NaN');
SELECT disclosure.protect('patients', 'privacy_score', at_least => 0.5);
SELECT disclosure.protect('patients', 'privacy_score', at_most => 1.5);
SELECT disclosure.protect('patients', 'privacy_score', at_most => 'NaN');
SELECT disclosure.protect('patients', 'expected_cracks', at_most => 'infinity', columns => ARRAY['items']);
SELECT disclosure.protect('patients', 'expected_cracks', at_most => 1);
SELECT disclosure.protect('patients', 'expected_cracks', at_most => 1, columns => ARRAY['items', 'zip']);
SELECT disclosure.protect('patients', 'my_measure', at_most => 'NaN');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, columns => ARRAY['age', 'AGE']);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, columns => '{}');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, columns => ARRAY['age', NULL]);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, columns => ARRAY['age', 'age']);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, for_role => 'nobody_we_know');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, on_rows => 'refuse');
SELECT disclosure.protect('young', 'k_anonymity', at_least => 5, on_rows => 'block');
SELECT disclosure.protect('patients', 'privacy_score', statistic => 'average', at_most => 0.5, on_rows => 'drop');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, statistic => 'average');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, threshold => 0.5);
SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5, statistic => 'median');
SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5, threshold => 0.5);
SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5, statistic => 'share');
SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5, statistic => 'share', threshold => 2);
SELECT disclosure.protect('disclosure_internal.policy_policy_seq', 'k_anonymity', at_least => 5);
SELECT count(*) FROM disclosure.policies;

-- Only the owner decides, and only by these functions.
SET ROLE pd_stranger;
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5);
SELECT disclosure.unprotect_policy(1);
SELECT disclosure.unprotect('patients'::regclass);
SELECT count(*) FROM disclosure.policies;
INSERT INTO disclosure_internal.policy (relation, measure, at_most, only_by_copy, made_by, made_at)
  VALUES ('patients', 'privacy_score', 1, false, 'me', now());
UPDATE disclosure_internal.policy SET at_most = 1;
DELETE FROM disclosure_internal.policy;
TRUNCATE disclosure_internal.policy;
SET ROLE pd_keeper;
UPDATE disclosure_internal.policy SET at_most = 1;
DELETE FROM disclosure.policies;
SELECT disclosure.export_freely();

-- A policy follows its columns and holds on to them.
ALTER TABLE patients RENAME zip TO "Postal code";
ALTER TABLE patients DROP COLUMN "Postal code";
ALTER TABLE patients DROP COLUMN "Postal code" CASCADE;
ALTER TABLE patients DROP COLUMN diagnosis;
SELECT columns FROM disclosure.policies WHERE policy = 4;
SELECT disclosure.unprotect_policy(4);
ALTER TABLE patients DROP COLUMN "Postal code" CASCADE;
SELECT disclosure.unprotect_policy(4), disclosure.unprotect_policy(NULL::int), disclosure.unprotect('patients'::regclass);
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5);
DROP TABLE patients CASCADE;
SELECT count(*) FROM disclosure.policies;

-- What is rolled back was never there.
CREATE TABLE release AS SELECT 1 AS age;
BEGIN;
SELECT disclosure.protect('release', 'k_anonymity', at_least => 2) > 0;
SELECT verdict FROM disclosure.check_export('SELECT age FROM release');
ROLLBACK;
SELECT verdict FROM disclosure.check_export('SELECT age FROM release');

-- check_export takes one SELECT.
SELECT * FROM disclosure.check_export('SELECT 1; SELECT 2');
SELECT * FROM disclosure.check_export('DELETE FROM release');
SELECT * FROM disclosure.check_export('WITH gone AS (DELETE FROM release RETURNING age) SELECT * FROM gone');
SELECT * FROM disclosure.check_export('SELECT age INTO copy FROM release');
SELECT * FROM disclosure.check_export('SELECT nothing FROM release');
SELECT * FROM disclosure.check_export('');
SELECT * FROM disclosure.check_export(NULL);
SELECT * FROM disclosure_internal.leaving('{0}') AS (age int);

RESET ROLE;
DROP OWNED BY pd_keeper CASCADE;
DROP ROLE pd_keeper;
DROP ROLE pd_stranger;
DROP ROLE pd_analyst;

-- Measures and words in any usual spelling; the nearest one is offered for others.
CREATE TABLE spelt (age int, zip text);
SELECT count(*) FROM disclosure.protect('spelt', 'K-Anonymity', at_least => 2);
SELECT count(*) FROM disclosure.protect('spelt', 'privacy score', at_most => 0.5, statistic => 'Average');
SELECT measure, statistic, at_least, at_most FROM disclosure.policies WHERE relation = 'spelt'::regclass ORDER BY 1;
SELECT disclosure.protect('spelt', 'k_anonimity', at_least => 2);
SELECT disclosure.protect('spelt', 'risk', at_least => 2);
SELECT disclosure.unprotect('spelt');
SELECT disclosure.unprotect(1);
