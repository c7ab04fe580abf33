-- Labels: two ways to set them, one view that shows them.
\pset null '(null)'
LOAD 'pg_disclosure';
CREATE TABLE patients (id int, name text, age int, zip text, diagnosis text);
SELECT disclosure.label_column('patients', 'name', 'identifier');
SELECT disclosure.label_column('patients', 'age', 'likelihood=0.9 danger=0.1');
SELECT disclosure.label_column('patients', 'zip', 'quasi');
SELECT disclosure.label_column('patients', 'diagnosis', 'sensitive');
SELECT * FROM disclosure.labels ORDER BY column_name;
-- Again replaces, NULL removes.
SELECT disclosure.label_column('patients', 'zip', 'ignore');
SELECT disclosure.label_column('patients', 'name', NULL);
SELECT disclosure.label_column('patients', 'name', NULL);
SELECT * FROM disclosure.labels ORDER BY column_name;
-- The security label wins.
SET client_min_messages = warning;
SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS 'quasi';
SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS 'danger=0.5';
RESET client_min_messages;
SELECT * FROM disclosure.labels ORDER BY column_name;
SELECT disclosure.label_column('patients', 'zip', 'sensitive');
SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS NULL;
SELECT * FROM disclosure.labels WHERE column_name = 'zip';
-- Where the library is not preloaded, the one who labels is told.
SECURITY LABEL FOR disclosure ON COLUMN patients.id IS 'ignore';
-- Labels follow renames and go with their columns and tables.
ALTER TABLE patients RENAME COLUMN zip TO postcode;
ALTER TABLE patients RENAME COLUMN age TO zip;
ALTER TABLE patients RENAME TO persons;
SELECT relation, column_name, label, source FROM disclosure.labels ORDER BY column_name;
ALTER TABLE persons DROP COLUMN postcode;
SELECT relation, column_name, label, source FROM disclosure.labels ORDER BY column_name;
DROP TABLE persons;
SELECT * FROM disclosure.labels;
SELECT * FROM disclosure_internal.column_label;
CREATE VIEW a_view AS SELECT 1 AS age;
SELECT disclosure.label_column('a_view', 'age', 'quasi');
ALTER VIEW a_view RENAME COLUMN age TO years;
SELECT relation, column_name, label FROM disclosure.labels;
CREATE SCHEMA short_lived CREATE TABLE t (a int);
SELECT disclosure.label_column('short_lived.t', 'a', 'quasi');
SET client_min_messages = warning;
DROP SCHEMA short_lived CASCADE;
RESET client_min_messages;
SELECT relation, column_name, label FROM disclosure.labels;
-- Odd names.
CREATE TABLE "Odd Table" ("Odd Column" int, "größe" int);
SELECT disclosure.label_column('"Odd Table"', 'Odd Column', 'quasi'), disclosure.label_column('"Odd Table"', 'größe', 'quasi');
SELECT relation, column_name, label FROM disclosure.labels WHERE relation = '"Odd Table"'::regclass;
-- Nonsense is refused, and says why.
SELECT disclosure.label_column('"Odd Table"', 'größe', 'secret');
SELECT disclosure.label_column('"Odd Table"', 'größe', '');
SELECT disclosure.label_column('"Odd Table"', 'größe', 'danger=2');
SELECT disclosure.label_column('"Odd Table"', 'größe', 'quasi sensitive');
SELECT disclosure.label_column('"Odd Table"', 'nope', 'quasi');
SELECT disclosure.label_column('"Odd Table"', 'nope', NULL);
SELECT disclosure.label_column('"Odd Table"', 'ctid', 'quasi');
INSERT INTO disclosure_internal.column_label (relation, attribute, label) VALUES ('"Odd Table"', 'nope', 'quasi');
SELECT disclosure.label_column('nope', 'a', 'quasi');
SELECT disclosure.label_column(NULL, 'a', 'quasi');
SELECT disclosure.label_column('a_view', NULL, 'quasi');
UPDATE disclosure_internal.column_label SET relation = 'a_view';
SECURITY LABEL FOR disclosure ON COLUMN "Odd Table"."größe" IS 'secret';
SECURITY LABEL FOR disclosure ON TABLE "Odd Table" IS 'quasi';
SECURITY LABEL FOR disclosure ON SCHEMA public IS 'quasi';
SELECT disclosure_internal.label_weights('quasi'), disclosure_internal.label_weights('likelihood=0.25'), disclosure_internal.label_weights('ignore'), disclosure_internal.label_weights(NULL);
-- Dropping the extension takes its event triggers along; DDL goes on working.
DROP TABLE "Odd Table";
DROP EXTENSION pg_disclosure;
CREATE TABLE afterwards (a int);
ALTER TABLE afterwards RENAME COLUMN a TO b;
DROP TABLE afterwards;
CREATE EXTENSION pg_disclosure;
SELECT count(*) FROM disclosure.labels;
