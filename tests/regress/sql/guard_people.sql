-- Policies count people where columns are labelled person: in exports, whatever the query does, and in export tables.
SET client_min_messages = error;
CREATE ROLE people_owner;
CREATE ROLE people_reader;
GRANT CREATE ON SCHEMA public TO people_owner, people_reader;
SET ROLE people_owner;
-- North: patient 1 five times, patients 2 and 3 once. South: patients 4 and 5 and two rows of unknown people. West: unknown people.
CREATE TABLE visits (visit int PRIMARY KEY, patient int, ward text, age int, diagnosis text);
INSERT INTO visits
SELECT i, CASE WHEN i <= 5 THEN 1 WHEN i <= 9 THEN i - 4 END, CASE WHEN i <= 7 THEN 'north' WHEN i <= 11 THEN 'south' ELSE 'west' END,
       20 + i % 2, CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END
  FROM generate_series(1, 15) i;
GRANT SELECT ON visits TO people_reader;
SELECT disclosure.label_columns('visits', quasi => '{ward, age}', sensitive => '{diagnosis}', identifier => '{visit}', person => '{patient}');
SELECT disclosure.protect('visits', 'k', at_least => 2), disclosure.protect('visits', 'k_anonymity', at_least => 3),
       disclosure.protect('visits', 'privacy_score', at_most => 1, min_people => 5);
CREATE FUNCTION judge(query text) RETURNS TABLE (measure text, measured float8, rows bigint, unsafe_rows bigint, verdict text)
  LANGUAGE sql AS 'SELECT measure, measured, rows, unsafe_rows, verdict::text FROM disclosure.check_export(query)';
-- What the owner is told.
CREATE FUNCTION told() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT reason FROM disclosure.export_log WHERE at = (SELECT max(at) FROM disclosure.export_log) ORDER BY policy $$;

\echo '# Rows without people, then people'
SELECT disclosure.label_column('visits', 'patient', 'identifier');
SELECT * FROM judge('SELECT ward FROM visits');
SELECT disclosure.label_column('visits', 'patient', 'person');
SELECT * FROM judge('SELECT ward FROM visits');
SELECT * FROM judge($$SELECT ward FROM visits WHERE ward <> 'west'$$);
SELECT * FROM judge('SELECT diagnosis FROM visits');
-- A person in the SELECT list says whose row it is.
SELECT * FROM judge('SELECT patient FROM visits');
-- Unknown people are one at most.
SELECT * FROM judge($$SELECT ward FROM visits WHERE ward = 'west'$$);
SELECT * FROM judge($$SELECT ward FROM visits WHERE ward = 'south'$$);
SELECT * FROM told();
SELECT * FROM judge('SELECT ward FROM visits WHERE false');

\echo '# Copies, joins, branches and limits'
CREATE TABLE wards (ward text PRIMARY KEY, town text);
INSERT INTO wards VALUES ('north', 'here'), ('south', 'here'), ('west', 'here');
CREATE TABLE numbers (n int);
INSERT INTO numbers SELECT generate_series(1, 3);
CREATE TABLE people (patient int, sex text);
INSERT INTO people SELECT i, CASE WHEN i < 4 THEN 'f' ELSE 'm' END FROM generate_series(1, 8) i;
SELECT disclosure.label_columns('people', quasi => '{sex}', person => '{patient}');
SELECT disclosure.protect('people', 'k', at_least => 3);
SELECT * FROM judge('SELECT town FROM visits JOIN wards USING (ward)');
SELECT * FROM judge('SELECT ward FROM visits, numbers');
SELECT * FROM judge('SELECT n FROM visits, numbers');
SELECT * FROM judge('SELECT ward FROM visits UNION ALL SELECT ward FROM visits');
SELECT * FROM judge($$SELECT 1 FROM visits WHERE ward = 'north' UNION ALL SELECT 1 FROM visits WHERE ward <> 'north'$$);
SELECT * FROM judge('SELECT 1 FROM visits UNION ALL SELECT 1 FROM people');
SELECT * FROM judge('SELECT sex FROM people p LEFT JOIN visits v ON v.patient = p.patient');
SELECT * FROM judge('SELECT ward FROM people p JOIN visits v ON v.patient = p.patient');
SELECT * FROM judge('SELECT a.ward FROM visits a JOIN visits b ON a.patient = b.patient');
SELECT * FROM judge('SELECT ward FROM visits ORDER BY ward LIMIT 3');
SELECT disclosure.unprotect('people');

\echo '# Views, materialized views, partitions'
CREATE VIEW named AS SELECT patient AS who, ward, diagnosis FROM visits;
CREATE VIEW nameless AS SELECT ward, diagnosis FROM visits;
CREATE VIEW counted AS SELECT patient, ward, count(*) AS visits FROM visits GROUP BY patient, ward;
CREATE MATERIALIZED VIEW stored AS SELECT patient AS who, ward FROM visits;
CREATE MATERIALIZED VIEW unnamed AS SELECT ward FROM visits;
SELECT * FROM judge('SELECT ward FROM named');
SELECT * FROM judge('SELECT ward FROM nameless');
SELECT * FROM judge('SELECT ward FROM stored');
SELECT * FROM judge('SELECT ward FROM unnamed');
-- A view whose own columns say who somebody is, with a policy of its own.
CREATE TABLE raw (patient int, ward text);
INSERT INTO raw SELECT patient, ward FROM visits;
CREATE VIEW labelled AS SELECT patient % 2 AS parity, ward FROM raw;
SELECT disclosure.label_columns('labelled', quasi => '{ward}', person => '{parity}');
SELECT disclosure.protect('labelled', 'k', at_least => 2);
SELECT * FROM judge('SELECT ward FROM labelled');
SELECT disclosure.protect('raw', 'k', at_least => 2, columns => '{ward}');
SELECT * FROM judge('SELECT ward FROM labelled');
SELECT * FROM judge('SELECT ward FROM raw');
-- An opaque view follows the labels below it.
CREATE TABLE plain (patient int, ward text);
INSERT INTO plain TABLE raw;
SELECT disclosure.label_columns('plain', quasi => '{ward}', person => '{patient}');
CREATE VIEW over AS SELECT ward, patient FROM plain;
SELECT disclosure.protect('over', 'k', at_least => 2);
SELECT * FROM judge('SELECT ward FROM over');
CREATE TABLE parent (patient int, ward text) PARTITION BY LIST (ward);
CREATE TABLE north PARTITION OF parent FOR VALUES IN ('north');
CREATE TABLE others PARTITION OF parent DEFAULT;
INSERT INTO parent SELECT patient, ward FROM visits;
SELECT disclosure.label_columns('parent', quasi => '{ward}', person => '{patient}');
SELECT disclosure.protect('parent', 'k', at_least => 2);
SELECT * FROM judge('SELECT ward FROM parent');
SELECT * FROM judge('SELECT ward FROM north');
-- Only a partition is labelled.
SELECT disclosure.label_column('parent', 'patient', NULL), disclosure.label_column('north', 'patient', 'person');
SELECT * FROM judge('SELECT ward FROM parent');
SELECT * FROM judge('SELECT ward FROM others');
CREATE TABLE base (ward text);
CREATE TABLE child (patient int) INHERITS (base);
SELECT disclosure.label_columns('child', quasi => '{ward}', person => '{patient}');
SELECT disclosure.protect('base', 'k', at_least => 2);
INSERT INTO child SELECT ward, patient FROM visits;
SELECT * FROM judge('SELECT ward FROM child');
SELECT * FROM judge('SELECT ward FROM base');

\echo '# Two columns identify a person, and people may be equal in spite of their bytes'
CREATE TABLE stays (hospital int, nr numeric, ward text);
INSERT INTO stays VALUES (1, 1, 'a'), (1, 1.0, 'a'), (1, 1.00, 'a'), (2, 1, 'a'), (1, NULL, 'b'), (NULL, 1, 'b'), (NULL, NULL, 'b'), (NULL, NULL, 'c');
SELECT disclosure.label_columns('stays', quasi => '{ward}', person => '{hospital, nr}');
SELECT disclosure.protect('stays', 'k', at_least => 2);
SELECT * FROM judge($$SELECT ward FROM stays$$);
SELECT * FROM judge($$SELECT ward FROM stays WHERE ward < 'c'$$);
-- A join by half of a person does not link people.
SELECT * FROM judge('SELECT a.ward FROM stays a JOIN stays b ON a.hospital = b.hospital');
SELECT * FROM judge('SELECT a.ward FROM stays a JOIN stays b ON a.hospital = b.nr AND a.nr = b.hospital');
SELECT * FROM judge('SELECT a.ward FROM stays a JOIN stays b ON a.hospital = b.hospital AND b.nr = a.nr');
CREATE COLLATION nobody_cares (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE guests (name text COLLATE nobody_cares, ward text);
INSERT INTO guests VALUES ('Ann', 'a'), ('ann', 'a'), ('ANN', 'a');
SELECT disclosure.label_columns('guests', quasi => '{ward}', person => '{name}');
SELECT disclosure.protect('guests', 'k', at_least => 1);
SELECT * FROM judge('SELECT ward FROM guests');

\echo '# A reader may count people by columns that it may not read'
SELECT disclosure.unprotect('visits');
SELECT disclosure.protect('visits', 'k', at_least => 2, for_role => 'people_reader', details => true);
REVOKE SELECT ON visits FROM people_reader;
GRANT SELECT (ward, diagnosis) ON visits TO people_reader;
RESET ROLE;
SET SESSION AUTHORIZATION people_reader;
SELECT measured, rows, verdict FROM disclosure.check_export('SELECT ward FROM visits');
SELECT measured, rows, verdict FROM disclosure.check_export('SELECT patient FROM visits');
-- Labels of one's own make nothing safer.
CREATE VIEW mine AS SELECT ward, diagnosis, 1 AS nobody FROM visits;
SELECT disclosure.label_columns('mine', ignore => '{ward}', person => '{diagnosis}');
SELECT measured, rows, verdict FROM disclosure.check_export('SELECT ward FROM mine');
RESET SESSION AUTHORIZATION;

\echo '# Export tables'
SET ROLE people_owner;
CREATE TABLE released (patient int, ward text);
SELECT disclosure.label_columns('released', quasi => '{ward}', person => '{patient}');
SELECT disclosure.protect('released', 'k', at_least => 2, columns => '{ward}', on_rows => 'block');
INSERT INTO released VALUES (1, 'a'), (1, 'a');
INSERT INTO released VALUES (1, 'a'), (2, 'a'), (NULL, 'a');
INSERT INTO released VALUES (1, 'a'), (NULL, 'b'), (NULL, 'b');
DELETE FROM released WHERE patient = 2;
UPDATE released SET patient = 2;
UPDATE released SET patient = 3 WHERE patient = 1;
SELECT disclosure.protect('released', 'k', at_least => 2, columns => '{ward}', on_rows => 'drop');
INSERT INTO released VALUES (3, 'a'), (NULL, 'a'), (4, 'b'), (4, 'b'), (NULL, 'c'), (5, 'd'), (6, 'd');
TABLE released ORDER BY ward, patient;
SELECT disclosure.protect('released', 'k', at_least => 2, columns => '{ward}', on_rows => 'warn');
SET client_min_messages = warning;
INSERT INTO released VALUES (7, 'e');
SET client_min_messages = error;
SELECT measured, rows, unsafe_rows, verdict FROM disclosure.check_export('TABLE released');
RESET ROLE;
DROP OWNED BY people_owner, people_reader CASCADE;
DROP ROLE people_owner, people_reader;
