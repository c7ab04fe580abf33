-- risk_view(): a view with the risk of every row.
LOAD 'pg_disclosure';
SET client_min_messages = warning;
CREATE TABLE patients (id int, name text, age int, zip text, sex text, diagnosis text);
INSERT INTO patients VALUES
  (1, 'Ann',  37, '13053', 'f', 'flu'),
  (2, 'Bea',  37, '13053', 'f', 'flu'),
  (3, 'Cem',  37, '13053', 'm', 'hiv'),
  (4, 'Dan',  52, '13068', 'm', 'flu'),
  (5, 'Eva',  52, '13068', 'm', 'asthma');
SECURITY LABEL FOR disclosure ON COLUMN patients.id IS 'ignore';
SECURITY LABEL FOR disclosure ON COLUMN patients.name IS 'identifier';
SECURITY LABEL FOR disclosure ON COLUMN patients.age IS 'quasi';
SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS 'likelihood=0.9 danger=0';
SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS 'sensitive';
SELECT disclosure.label_column('patients', 'sex', 'quasi');
SET client_min_messages = notice;

SELECT disclosure.risk_view('patients', 'patients_risk');
\d patients_risk
SELECT * FROM patients_risk WHERE privacy_score > 0.4;
SELECT id, privacy_score, class_size, worst_inference FROM patients_risk ORDER BY id;
-- The score is that of the window function, and the classes are those of the quasi-identifiers.
SELECT count(*) AS rows, bool_and(r.privacy_score = p.score) AS same_score, bool_and(r.class_size = p.size) AS same_size
  FROM patients_risk r
  JOIN (SELECT id, disclosure.privacy_score(p) OVER () AS score, disclosure.class_size(age, zip, sex) OVER () AS size
          FROM patients p) AS p USING (id);
-- New rows and labels count at once; which columns make the classes was fixed when the view was made.
BEGIN;
INSERT INTO patients VALUES (6, 'Fay', 37, '13053', 'f', 'hiv');
SELECT id, privacy_score, class_size, worst_inference FROM patients_risk ORDER BY id;
SECURITY LABEL FOR disclosure ON COLUMN patients.sex IS 'sensitive';
SELECT id, privacy_score, class_size, worst_inference FROM patients_risk ORDER BY id;
SELECT disclosure.risk_view('patients', 'patients_risk');
SELECT id, privacy_score, class_size FROM patients_risk ORDER BY id;
ROLLBACK;
-- Renamed, added and dropped columns.
BEGIN;
ALTER TABLE patients RENAME COLUMN zip TO "Post code";
ALTER TABLE patients ADD COLUMN smoker boolean;
SELECT id, zip, privacy_score, class_size, worst_inference FROM patients_risk WHERE id = 1;
SAVEPOINT s;
SELECT disclosure.risk_view('patients', 'patients_risk');
ROLLBACK TO s;
ALTER TABLE patients DROP COLUMN sex;
ROLLBACK;

-- Columns, labels.
SELECT disclosure.risk_view('patients', 'patients_narrow', ARRAY['diagnosis', 'zip', 'sex']);
SELECT id, name, age, privacy_score, class_size, worst_inference FROM patients_narrow ORDER BY id;
SELECT abs(s.average - (SELECT avg(privacy_score) FROM patients_narrow)) < 1e-12 AS same
  FROM disclosure.privacy_summary('patients', columns => ARRAY['zip', 'sex', 'diagnosis']) s;
ALTER TABLE patients RENAME COLUMN zip TO postcode;
ALTER TABLE patients ADD COLUMN smoker boolean DEFAULT true;
SELECT id, zip, privacy_score, class_size, worst_inference FROM patients_narrow ORDER BY id;
ALTER TABLE patients DROP COLUMN smoker;
ALTER TABLE patients RENAME COLUMN postcode TO zip;
SELECT disclosure.risk_view('patients', 'patients_weighed', labels => '{"zip": "sensitive", "sex": {"likelihood": 0}, "age": {"danger": 0.5}, "name": {"danger": 0}}');
SELECT id, privacy_score, class_size, worst_inference FROM patients_weighed ORDER BY id;
SELECT bool_and(r.privacy_score = p.score) AS same_score, bool_and(r.class_size = p.size) AS same_size
  FROM patients_weighed r
  JOIN (SELECT id, disclosure.privacy_score(p, '{"zip": "sensitive", "sex": {"likelihood": 0}, "age": {"danger": 0.5}, "name": {"danger": 0}}'::jsonb) OVER () AS score,
               disclosure.class_size(age, name) OVER () AS size FROM patients p) AS p USING (id);
-- Both: what is said of a column is added to its label, and what is said of others does not matter.
SELECT disclosure.risk_view('patients', 'patients_both', ARRAY['zip', 'diagnosis', 'name'],
                            '{"zip": {"danger": 0.5}, "age": "quasi", "diagnosis": {"danger": {"flu": 0.25}}, "name": {"likelihood": 0.25}}');
SELECT id, privacy_score, class_size, worst_inference FROM patients_both ORDER BY id;
SELECT abs(avg(score) - (SELECT avg(privacy_score) FROM patients_both)) < 1e-12 AS same
  FROM (SELECT disclosure.privacy_score(s, '{"zip": {"likelihood": 0.9, "danger": 0.5}, "diagnosis": {"likelihood": 0, "danger": {"flu": 0.25}},
                                             "name": {"likelihood": 0.25}}'::jsonb) OVER () AS score
          FROM (SELECT zip, diagnosis, name FROM patients) s) q;
-- A column that takes no part does not begin to because of its bins.
SELECT disclosure.risk_view('patients', 'patients_binned', ARRAY['id', 'age', 'diagnosis'], '{"id": {"bins": 2}, "age": {"bins": 1}}');
SELECT pg_get_viewdef('patients_binned') ~ '"id": "ignore"' AS id_is_ignored, pg_get_viewdef('patients_binned') ~ 'ROW\(t.age\)' AS age_is_known;
-- Nobody can be told apart by what nobody knows; what all share, anyone learns.
SELECT disclosure.risk_view('patients', 'patients_secret', ARRAY['diagnosis']);
SELECT DISTINCT privacy_score, class_size, worst_inference FROM patients_secret;
BEGIN;
UPDATE patients SET diagnosis = 'flu';
SELECT DISTINCT privacy_score, class_size, worst_inference FROM patients_secret;
ROLLBACK;
-- The function behind it takes the options of its sisters; what is only probable is called so.
SELECT id, (risk).* FROM (SELECT id, disclosure.privacy_risk(p, min_confidence => 0.5) OVER () AS risk FROM patients p) q ORDER BY id;
SELECT bool_and((risk).privacy_score = score) AS same
  FROM (SELECT disclosure.privacy_risk(p, budget => '0') OVER () AS risk,
               disclosure.privacy_score(p, budget => '0') OVER () AS score FROM patients p) q;
SELECT disclosure.privacy_risk(p) FROM patients p;

-- Names.
CREATE SCHEMA "Far Away";
CREATE TABLE "Far Away"."Ödd ""t" ("select" int, t text, risk text, "Größe" int[], "%s" json, row point);
INSERT INTO "Far Away"."Ödd ""t" VALUES (1, 'a', 'b', '{1,2}', '{}', '(1,2)'), (2, 'a', 'b', '{1}', '{}', '(1,2)');
SELECT disclosure.risk_view('"Far Away"."Ödd ""t"', 'Folded');
SELECT disclosure.risk_view('"Far Away"."Ödd ""t"', '"Far Away"."Ödd risk"', ARRAY['t', 'select', 'Größe']);
SELECT * FROM folded;
SELECT * FROM "Far Away"."Ödd risk";
BEGIN;
SET LOCAL search_path = "Far Away", public;
SELECT disclosure.risk_view('patients', 'here');
SHOW search_path;
SELECT 'here'::regclass::oid = '"Far Away".here'::regclass AS in_first_schema;
ROLLBACK;
BEGIN;
SET LOCAL search_path = nowhere;
SELECT disclosure.risk_view('public.patients', 'here');
ROLLBACK;
CREATE TEMPORARY TABLE passing AS SELECT 1 AS a;
SELECT disclosure.risk_view('passing', 'passing_risk') ;
SELECT disclosure.risk_view('patients', 'pg_temp.patients_passing');
SELECT disclosure.risk_view('passing', 'public.passing_risk');

-- Whatever has rows.
SET client_min_messages = warning;
CREATE VIEW elderly AS SELECT * FROM patients WHERE age > 40;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM patients;
CREATE TABLE parts (a int, b text) PARTITION BY LIST (a);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 (b text, a int);
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 'x'), (2, 'y'), (2, 'y');
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE foreign_patients (a int, b text) SERVER files OPTIONS (program 'printf "1,x\n2,y\n2,y\n"', format 'csv');
CREATE DOMAIN given AS text NOT NULL;
CREATE TABLE with_domain (a int, b given, c int);
INSERT INTO with_domain VALUES (1, 'x', 1), (1, 'y', 1);
SELECT disclosure.risk_view(r, r || '_risk') FROM unnest('{elderly, kept, parts, foreign_patients}'::regclass[]) r;
SELECT disclosure.risk_view('with_domain', 'with_domain_risk', ARRAY['a', 'c']);
SELECT id, privacy_score, class_size, worst_inference FROM elderly_risk;
SELECT count(*) FROM kept_risk;
SELECT * FROM parts_risk ORDER BY a;
SELECT * FROM foreign_patients_risk ORDER BY a;
SELECT * FROM with_domain_risk;
RESET client_min_messages;
-- Labels come from where the columns come from: a view, a materialized view and a partition need none of their own.
SET client_min_messages = warning;
SELECT disclosure.label_columns('parts', sensitive => '{b}', quasi => '{a}');
SELECT disclosure.risk_view(r, r || '_risk') FROM unnest('{elderly, kept, part_1, part_2, parts}'::regclass[]) r;
RESET client_min_messages;
SELECT count(*) FROM elderly_risk;
SELECT count(*), max(privacy_score) FROM kept_risk;
SELECT * FROM part_2_risk;
SELECT disclosure.risk_view('elderly', 'elderly_narrow', ARRAY['age', 'diagnosis']);
SELECT pg_get_viewdef('elderly_narrow') ~ '{"age": "quasi", "diagnosis": "sensitive"}' AS has_labels;
-- More columns than a function has arguments; no rows.
DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE wide (%s)', string_agg(format('c%s int', i), ', ')) FROM generate_series(1, 150) i); END $$;
SELECT disclosure.risk_view('wide', 'wide_risk');
SELECT privacy_score, class_size, worst_inference FROM wide_risk;
INSERT INTO wide (c1) VALUES (1);
SELECT privacy_score, class_size, worst_inference FROM wide_risk;

-- Refused.
SELECT disclosure.risk_view(NULL, 'x');
SELECT disclosure.risk_view('patients', NULL);
SELECT disclosure.risk_view('patients', 'x', security_invoker => NULL);
SELECT disclosure.risk_view(0, 'x');
CREATE INDEX an_index ON patients (age);
CREATE SEQUENCE a_sequence;
CREATE TABLE no_columns ();
CREATE TABLE colliding (a int, class_size int);
SELECT disclosure.risk_view('an_index', 'x');
SELECT disclosure.risk_view('a_sequence', 'x');
SELECT disclosure.risk_view('no_columns', 'x');
SELECT disclosure.risk_view('colliding', 'x');
SELECT disclosure.risk_view('patients_risk', 'x');
SELECT disclosure.risk_view('patients', 'patients');
SELECT disclosure.risk_view('patients', 'elderly');
SELECT disclosure.risk_view('patients', 'kept');
SELECT disclosure.risk_view('patients', '');
SELECT disclosure.risk_view('patients', 'a b');
SELECT disclosure.risk_view('patients', 'a.b.c');
SELECT disclosure.risk_view('patients', 'nowhere.x');
SELECT disclosure.risk_view('patients', 'x', '{}');
SELECT disclosure.risk_view('patients', 'x', ARRAY['age', NULL]);
SELECT disclosure.risk_view('patients', 'x', ARRAY['age', 'age']);
SELECT disclosure.risk_view('patients', 'x', ARRAY['age', 'Age']);
SELECT disclosure.risk_view('patients', 'x', labels => '{"nonsense": "quasi"}');
SELECT disclosure.risk_view('patients', 'x', labels => '{"age": "secret"}');
SELECT disclosure.risk_view('patients', 'x', labels => '{"age": "sensitiv"}');
SELECT disclosure.risk_view('patients', 'x', labels => '{"age": "count"}');
SELECT disclosure.risk_view('patients', 'x', labels => '[]');
SELECT to_regclass('x');

-- Rights: made as the caller, and read with the rights of its owner or, if asked for, of the reader.
CREATE ROLE pd_risk_maker;
CREATE ROLE pd_risk_reader;
GRANT CREATE, USAGE ON SCHEMA "Far Away" TO pd_risk_maker;
GRANT USAGE ON SCHEMA "Far Away" TO pd_risk_reader;
SET ROLE pd_risk_maker;
SELECT disclosure.risk_view('patients', 'public.made');
SELECT disclosure.risk_view('patients', '"Far Away".made');
SELECT count(*) FROM "Far Away".made;
SELECT disclosure.risk_view('patients', 'patients_risk');
RESET ROLE;
GRANT SELECT ON patients TO pd_risk_maker;
SET ROLE pd_risk_maker;
SELECT count(*) FROM "Far Away".made;
GRANT SELECT ON "Far Away".made TO pd_risk_reader;
SET ROLE pd_risk_reader;
SELECT count(*) FROM "Far Away".made;
SET ROLE pd_risk_maker;
SELECT current_setting('server_version_num')::int >= 150000 AS invoker \gset
\if :invoker
SELECT disclosure.risk_view('patients', '"Far Away".made', security_invoker => true);
SET ROLE pd_risk_reader;
SELECT count(*) FROM "Far Away".made;
\endif
RESET ROLE;
-- Names in the path that look like ours are not used.
CREATE SCHEMA trap;
CREATE FUNCTION trap.format(text, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
CREATE FUNCTION trap.trapped(name, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
CREATE OPERATOR trap.= (FUNCTION = trap.trapped, LEFTARG = name, RIGHTARG = text);
SET search_path = trap, pg_catalog, public;
SELECT disclosure.risk_view('patients', 'public.patients_risk');
-- The path stays as it is, also after an error.
SELECT disclosure.risk_view('patients', 'public.patients');
SHOW search_path;
RESET search_path;
-- A long name is cut as Postgres cuts it, and found again.
SELECT disclosure.risk_view('patients', repeat('x', 70)), disclosure.risk_view('patients', repeat('x', 70));
DROP SCHEMA "Far Away" CASCADE;
REVOKE ALL ON patients FROM pd_risk_maker;
DROP ROLE pd_risk_maker, pd_risk_reader;
