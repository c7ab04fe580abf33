-- Policies from presets, and exports of identifiers and of columns without a label.
LOAD 'pg_disclosure';
SET client_min_messages = error;
CREATE ROLE pd_preset_owner;
CREATE ROLE pd_preset_reader;
GRANT pd_preset_owner, pd_preset_reader TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO pd_preset_owner, pd_preset_reader;
SET ROLE pd_preset_owner;
CREATE TABLE admissions (id int, patient int, family int, age int, zip text, diagnosis text, nr int);
INSERT INTO admissions SELECT i, i, i, 30 + i % 2, '1010', 'diagnosis ' || i % 4, i FROM generate_series(1, 40) i;
SELECT disclosure.label_columns('admissions', identifier => '{id,patient}', quasi => '{age,zip}', sensitive => '{diagnosis}', ignore => '{nr}'),
       disclosure.label_column('admissions', 'patient', 'person'), disclosure.label_column('admissions', 'family', 'household');
GRANT SELECT ON admissions TO pd_preset_reader;

-- Exactly one of measure and preset.
SELECT disclosure.protect('admissions');
SELECT disclosure.protect('admissions', 'k', preset => 'k5');
SELECT disclosure.protect('admissions', NULL, preset => NULL);
SELECT disclosure.protect('admissions', preset => 'k7');
SELECT disclosure.protect('admissions', preset => 'k5@9');
SELECT disclosure.protect('admissions', preset => 'k5@x');
SELECT disclosure.protect('admissions', preset => 'k5', at_least => 3);
SELECT disclosure.protect('admissions', preset => 'k5', columns => '{age}');
SELECT disclosure.protect('admissions', preset => 'k5', statistic => 'average');
SELECT disclosure.protect('admissions', 'k', at_least => 3, unlabelled => 'drop');
-- Criteria that no export can be judged by, criteria without a limit, and criteria about tables of counts.
SELECT disclosure.protect('admissions', preset => 'hipaa_safe_harbor');
SELECT disclosure.protect('admissions', preset => 'wp216');
SELECT disclosure.protect('admissions', preset => 'sacro');
SELECT disclosure.protect('admissions', preset => 'ema_0070_style');
SELECT count(*) FROM disclosure.policies;

-- All policies at once, with what else is given.
SELECT disclosure.protect('admissions', preset => 'Standard', for_role => 'pd_preset_reader', only_by_copy => true, max_refusals => 100);
SELECT policy, measure, at_least, at_most, for_role, only_by_copy, min_people, min_confidence, max_refusals, preset FROM disclosure.policies ORDER BY 1;
-- None of them if one is not possible.
SELECT disclosure.protect('admissions', preset => 'standard', on_rows => 'drop');
SELECT disclosure.protect('admissions', preset => 'standard', locked => true);
SELECT count(*) FROM disclosure.policies;

-- A policy with the same measure, columns and role is changed, and keeps its number. Others stay.
SELECT disclosure.protect('admissions', 'k', at_least => 11, for_role => 'pd_preset_reader');
SELECT policy, at_least, min_people, only_by_copy, preset FROM disclosure.policies WHERE measure = 'k_anonymity';
SELECT disclosure.protect('admissions', preset => 'k3', for_role => 'pd_preset_reader');
SELECT policy, at_least, min_people, only_by_copy, preset FROM disclosure.policies WHERE measure = 'k_anonymity';
SELECT count(*) FROM disclosure.policies;

-- A preset of one's own. Of two criteria with one measure the stricter counts. Changing the preset changes no policy.
INSERT INTO disclosure.presets (name, criterion, measure, at_least, at_most, options)
VALUES ('ours', 'k at least 2', 'k_anonymity', 2, NULL, '{}'), ('ours', 'k at least 3.5', 'k_anonymity', 3.5, NULL, '{}'),
       ('ours', 'score', 'privacy_score', NULL, 0.4, '{"min_confidence": 0.8}'), ('ours', 'lower score', 'privacy_score', NULL, 0.3, '{"min_confidence": 0.8}'),
       ('ours', 'few identifiers', 'identifier_columns', NULL, 1, '{}');
CREATE TABLE visits (ward text, illness text, code text, name text);
INSERT INTO visits SELECT 'north', 'illness ' || i % 4, 'c', 'n' FROM generate_series(1, 8) i;
SELECT disclosure.label_columns('visits', quasi => '{ward}', sensitive => '{illness}', identifier => '{code,name}');
SELECT disclosure.protect('visits', preset => 'ours');
RESET ROLE;
UPDATE disclosure.presets SET at_most = 0.9 WHERE name = 'ours' AND measure = 'privacy_score';
DELETE FROM disclosure.presets WHERE name = 'ours' AND measure = 'k_anonymity';
SET ROLE pd_preset_owner;
SELECT policy, measure, at_least, at_most, min_people, min_confidence, preset FROM disclosure.policies WHERE relation = 'visits'::regclass ORDER BY 1;
-- A limit that allows some of them.
SELECT policy, measured, verdict FROM disclosure.check_export('SELECT ward, illness, code FROM visits');
SELECT policy, measured, verdict FROM disclosure.check_export('SELECT ward, illness, code, upper(code), name FROM visits');
GRANT SELECT ON visits TO pd_preset_reader;
SET ROLE pd_preset_reader;
SELECT policy, verdict FROM disclosure.check_export('SELECT ward, illness, code FROM visits');
SELECT policy, verdict FROM disclosure.check_export('SELECT ward, illness, code, name FROM visits');
-- Another role's preset does not exist for others.
CREATE TABLE own (x int);
SELECT disclosure.protect('own', preset => 'ours');
SET ROLE pd_preset_owner;
INSERT INTO disclosure.presets (name, criterion, measure, at_most, options)
VALUES ('two', 'a', 'privacy_score', 0.4, '{"min_confidence": 0.8}'), ('two', 'b', 'privacy_score', 0.3, '{}');
SELECT disclosure.protect('visits', preset => 'two');

-- The identifiers of a standard policy, however they are written.
SET ROLE pd_preset_reader;
COPY (SELECT age, zip, diagnosis FROM admissions WHERE nr < 3) TO STDOUT;
COPY (SELECT age, id FROM admissions) TO STDOUT;
COPY (SELECT age, md5(patient::text) FROM admissions) TO STDOUT;
COPY (SELECT age, x FROM (SELECT age, family % 2 AS x FROM admissions) s) TO STDOUT;
COPY admissions TO STDOUT;
SELECT policy, verdict FROM disclosure.check_export('SELECT age, diagnosis FROM admissions');
SELECT policy, verdict FROM disclosure.check_export('SELECT age, diagnosis, id FROM admissions');
SET ROLE pd_preset_owner;
-- The owner sees each verdict. What the query alone decides is not counted.
SELECT measure, measured, verdict FROM disclosure.check_export('SELECT age, diagnosis, id FROM admissions') ORDER BY 1;
SELECT measure, measured, verdict FROM disclosure.check_export('SELECT age, diagnosis, id FROM admissions WHERE false') ORDER BY 1;
SELECT policy, refusals FROM disclosure.refusals ORDER BY policy;

-- Columns without a label. unlabelled adds a policy, or makes that of the call stricter.
SELECT disclosure.unprotect('admissions') > 0, disclosure.unprotect('visits') > 0;
SELECT disclosure.protect('admissions', 'k', at_least => 2, unlabelled => 'refuse', for_role => 'pd_preset_reader');
SELECT disclosure.protect('visits', 'Unlabelled Columns', at_most => 3, unlabelled => 'refuse');
SELECT disclosure.protect('visits', preset => 'standard', unlabelled => 'refuse', for_role => 'pd_preset_reader');
SELECT relation, measure, at_least, at_most, columns, min_people, preset FROM disclosure.policies ORDER BY policy;
SELECT disclosure.unprotect('visits') > 0;
ALTER TABLE admissions ADD COLUMN smokes boolean DEFAULT true, ADD COLUMN pets int DEFAULT 0;
CREATE VIEW adults AS SELECT age, zip, diagnosis FROM admissions;
GRANT SELECT ON adults TO pd_preset_reader;
SET ROLE pd_preset_reader;
CREATE TABLE list AS SELECT i AS n FROM generate_series(0, 3) i;
CREATE TABLE keyed (n int PRIMARY KEY, word text);
INSERT INTO keyed SELECT i, 'word' FROM generate_series(0, 3) i;
CREATE VIEW mine AS SELECT age, pets + 1 AS n FROM admissions;
SELECT disclosure.label_column('mine', 'n', 'ignore');
CREATE FUNCTION pg_temp.trial(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  RETURN (SELECT string_agg(DISTINCT verdict, ', ') FROM disclosure.check_export(query));
EXCEPTION WHEN insufficient_privilege THEN
  RETURN regexp_replace(regexp_replace(SQLERRM, '^.*refused: ', ''), ' is not allowed in an export.*', '');
END $$;
CREATE TABLE trials (nr int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO trials (query) VALUES
  ('SELECT age, diagnosis FROM admissions'), ('SELECT 1 FROM admissions'), ('SELECT age, diagnosis FROM adults'),
  ('SELECT age FROM admissions ORDER BY age'), ('SELECT age FROM admissions WHERE zip > ''1'''),
  ('TABLE admissions'), ('SELECT age, pets FROM admissions'), ('SELECT age, pets * 0 FROM admissions'), ('SELECT coalesce(NULL::int, 1, pets) FROM admissions'),
  ('SELECT age FROM admissions WHERE pets > 5'), ('SELECT age FROM admissions WHERE pets IS NULL OR true'), ('SELECT age FROM admissions WHERE smokes'),
  ('SELECT a.age FROM admissions a JOIN list l ON l.n = a.pets'), ('SELECT l.n FROM admissions a LEFT JOIN list l ON l.n = a.pets'),
  ('SELECT a.age FROM admissions a LEFT JOIN list l ON l.n = a.pets'), ('SELECT a.age FROM admissions a JOIN keyed k ON k.n = a.pets'),
  ('SELECT k.word FROM admissions a LEFT JOIN keyed k ON k.n = a.pets'), ('SELECT a.age FROM admissions a LEFT JOIN keyed k ON k.n = a.pets'),
  ('SELECT a.age FROM admissions a CROSS JOIN keyed k WHERE k.n = 1'),
  ('SELECT age FROM (SELECT age, pets FROM admissions) s'), ('SELECT age FROM (SELECT age FROM admissions WHERE pets = 0) s'),
  ('WITH s AS (SELECT age, pets AS p FROM admissions) SELECT p FROM s'),
  ('SELECT age FROM admissions UNION ALL SELECT pets FROM admissions'),
  ('SELECT age, pets FROM admissions ORDER BY pets LIMIT 1000'), ('SELECT age, CASE WHEN smokes THEN 1 END FROM admissions'),
  ('SELECT age FROM mine'), ('SELECT n FROM mine'), ('SELECT admissions FROM admissions'), ('SELECT ctid FROM admissions'),
  ('SELECT a.age FROM admissions a JOIN admissions b ON a.patient = b.patient AND b.pets = 0'),
  ('SELECT a.age FROM admissions a JOIN admissions b USING (patient)'), ('SELECT count(*) FROM admissions');
SELECT nr, query, pg_temp.trial(query) FROM trials ORDER BY nr;
-- Once it is labelled, it counts as its label says.
SET ROLE pd_preset_owner;
SELECT disclosure.label_column('admissions', 'pets', 'ignore'), disclosure.label_column('admissions', 'smokes', 'sensitive');
SET ROLE pd_preset_reader;
SELECT nr, query, pg_temp.trial(query) FROM trials WHERE query ~ 'pets|smokes|TABLE' ORDER BY nr;

-- Views without labels have those of what they are made of, and also need these for what they add. So do partitions,
-- children, and materialized views.
SET ROLE pd_preset_owner;
CREATE TABLE notes (nr int, note text);
INSERT INTO notes SELECT i, 'note' FROM generate_series(1, 40) i;
CREATE OR REPLACE VIEW adults AS SELECT age, zip, diagnosis, nr AS position, 'constant' AS fixed FROM admissions;
CREATE VIEW elders AS SELECT age, position AS place, fixed FROM adults;
CREATE VIEW both_ways AS SELECT age, nr FROM admissions UNION ALL SELECT age, pets FROM admissions;
ALTER TABLE admissions ADD COLUMN town text;
CREATE VIEW towns AS SELECT age, town, left(town, 1) AS t, town AS labelled FROM admissions;
SELECT disclosure.label_column('towns', 'labelled', 'ignore');
CREATE MATERIALIZED VIEW stored AS SELECT age, zip, patient FROM admissions;
CREATE TABLE child (extra int) INHERITS (admissions);
-- A view with a policy of its own, over a relation that has none, is taken as one relation.
CREATE VIEW whole AS SELECT a, a AS b, 'x' || a AS c, 'n' AS known FROM (SELECT nr % 4 AS a FROM notes) n;
SELECT disclosure.label_columns('whole', ignore => '{a}', quasi => '{known}');
SELECT disclosure.protect('whole', 'privacy_score', at_most => 0.4, unlabelled => 'refuse', for_role => 'pd_preset_reader');
-- A view with a policy of its own over protected and other relations.
CREATE VIEW wide AS SELECT a.age, n.note, n.note AS labelled FROM admissions a JOIN notes n ON n.nr = a.nr;
SELECT disclosure.label_column('wide', 'labelled', 'ignore');
SELECT disclosure.protect('wide', 'k', at_least => 1, unlabelled => 'refuse', for_role => 'pd_preset_reader');
GRANT SELECT ON adults, elders, both_ways, towns, stored, child, whole, wide TO pd_preset_reader;
SET ROLE pd_preset_reader;
TRUNCATE trials;
INSERT INTO trials (query) VALUES
  ('TABLE adults'), ('TABLE elders'), ('SELECT place FROM elders'), ('TABLE both_ways'), ('SELECT age, town FROM towns'),
  ('SELECT t FROM towns'), ('SELECT labelled FROM towns'), ('SELECT age FROM towns WHERE labelled IS NOT NULL'),
  ('SELECT age FROM stored'), ('SELECT age, zip, diagnosis FROM child'), ('SELECT extra FROM child'), ('SELECT age FROM child WHERE extra = 0'),
  ('SELECT known, a FROM whole'), ('SELECT known, b FROM whole'), ('SELECT known, a::text || c FROM whole'), ('SELECT known FROM whole WHERE known || c IS NOT NULL'),
  ('SELECT known FROM whole WHERE a::text || c IS NOT NULL'), ('SELECT known, x FROM (SELECT known, a + b AS x FROM whole) w'),
  ('SELECT age FROM wide'), ('SELECT age, note FROM wide'), ('SELECT age, labelled FROM wide'), ('SELECT age, labelled || note FROM wide'),
  ('SELECT age FROM wide WHERE note IS NOT NULL');
SELECT query, pg_temp.trial(query) FROM trials ORDER BY nr;
SET ROLE pd_preset_owner;
SELECT disclosure.unprotect_policy(policy) FROM disclosure.policies WHERE relation = 'whole'::regclass AND measure = 'unlabelled_columns';
SET ROLE pd_preset_reader;
-- The policy on the score judges the same columns as known and dangerous, also in one expression with others.
SELECT query, pg_temp.trial(query) FROM trials WHERE query LIKE '%whole%' ORDER BY nr;
-- The query alone decides: with and without rows the words are the same.
SELECT pg_temp.trial('SELECT pets, town FROM admissions WHERE false') = pg_temp.trial('SELECT pets, town FROM admissions');

-- Partitions have the columns of their parent, and a policy on one of them also applies to the other. Composite values are
-- not in the language.
SET ROLE pd_preset_owner;
CREATE TYPE pair AS (a int, b int);
CREATE TABLE regions (region int, age int) PARTITION BY LIST (region);
CREATE TABLE region_1 PARTITION OF regions FOR VALUES IN (1);
INSERT INTO regions SELECT 1, 30 FROM generate_series(1, 10);
SELECT disclosure.label_columns('regions', quasi => '{region,age}');
SELECT disclosure.protect('region_1', 'k', at_least => 2, unlabelled => 'refuse', for_role => 'pd_preset_reader');
ALTER TABLE regions ADD COLUMN late int, ADD COLUMN two pair;
GRANT SELECT ON regions, region_1 TO pd_preset_reader;
SET ROLE pd_preset_reader;
TRUNCATE trials;
INSERT INTO trials (query) VALUES ('SELECT age FROM regions'), ('SELECT age FROM region_1'), ('TABLE regions'), ('SELECT late FROM regions'),
  ('SELECT late FROM region_1'), ('SELECT two FROM regions'), ('SELECT (two).a FROM regions'), ('SELECT age FROM regions WHERE two IS NULL');
SELECT query, pg_temp.trial(query) FROM trials ORDER BY nr;

-- Export tables. An empty one shows nothing.
SET ROLE pd_preset_owner;
CREATE TABLE outbox (ward text, extra int);
SELECT disclosure.label_column('outbox', 'ward', 'quasi'), disclosure.protect('outbox', 'k', at_least => 2, columns => '{ward}', on_rows => 'block', unlabelled => 'refuse');
SELECT measure, on_rows, guards_rows FROM disclosure.policies WHERE relation = 'outbox'::regclass ORDER BY policy;
INSERT INTO outbox VALUES ('north', 1), ('north', 2);
DELETE FROM outbox;
SELECT disclosure.protect('outbox', 'k', at_least => 2, on_rows => 'drop', unlabelled => 'refuse');
SELECT disclosure.label_column('outbox', 'extra', 'ignore');
INSERT INTO outbox VALUES ('north', 1), ('north', 2);
SELECT count(*) FROM outbox;
