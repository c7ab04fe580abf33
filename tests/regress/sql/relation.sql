-- Road (b): tables and views by name, whatever they are called and wherever they are.
\pset null '(null)'
CREATE TABLE "Mixed Case" ("Age" int, "select" text, "größe ü" int, "with""quote" int);
INSERT INTO "Mixed Case" VALUES (1, 'a', 1, 1), (1, 'a', 1, 1), (2, 'b', 2, 2);
SELECT * FROM disclosure.equivalence_classes('"Mixed Case"', ARRAY['Age', 'select', 'größe ü', 'with"quote'], examples => 9);
SELECT * FROM disclosure.column_profile('"Mixed Case"');
SELECT m.*, disclosure.class_size(m) OVER () FROM "Mixed Case" m;
SELECT disclosure.k_anonymity("Age", "select") FROM "Mixed Case";

CREATE SCHEMA "far away";
CREATE TABLE "far away".patients (age int, zip text);
INSERT INTO "far away".patients VALUES (1, 'x'), (1, 'x'), (2, 'y');
SELECT size, classes FROM disclosure.equivalence_classes('"far away".patients');
-- A table of the same name nearer by does not get in the way, nor does a hostile search_path.
CREATE TABLE patients (nothing int);
SELECT size, classes FROM disclosure.equivalence_classes('"far away".patients');
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.label_weights(text) RETURNS float8[] LANGUAGE sql AS 'SELECT NULL::float8[]';
SET search_path = hostile, public;
SELECT size, classes FROM disclosure.equivalence_classes('"far away".patients');
RESET search_path;

-- Dropped and added columns.
CREATE TABLE changed (gone int, age int, gone_too text, zip text);
INSERT INTO changed VALUES (1, 1, 'a', 'x'), (2, 1, 'b', 'x');
ALTER TABLE changed DROP COLUMN gone, DROP COLUMN gone_too, ADD COLUMN added int DEFAULT 7;
INSERT INTO changed VALUES (1, 'x', 7);
SELECT * FROM disclosure.equivalence_classes('changed', examples => 1);
SELECT * FROM disclosure.column_profile('changed');
SELECT disclosure.k_anonymity(c) FROM changed c;
SELECT * FROM disclosure.equivalence_classes('changed', ARRAY['gone']);

-- Views, materialized views, partitions, inheritance, foreign tables, temporary tables.
CREATE VIEW a_view AS SELECT age, upper(zip) AS zip FROM "far away".patients;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM a_view;
CREATE TEMP TABLE a_temp AS SELECT * FROM a_view;
CREATE TABLE parent (age int);
CREATE TABLE child (extra int) INHERITS (parent);
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (1, 1), (2, 2);
CREATE TABLE partitioned (age int, zip text) PARTITION BY LIST (age);
CREATE TABLE partition_1 (zip text, age int);
ALTER TABLE partitioned ATTACH PARTITION partition_1 FOR VALUES IN (1);
CREATE TABLE partition_rest PARTITION OF partitioned DEFAULT;
INSERT INTO partitioned VALUES (1, 'x'), (1, 'x'), (2, 'y'), (NULL, 'y');
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE a_foreign_table (age int, zip text) SERVER files OPTIONS (program 'printf "1,x\n1,x\n2,y\n"', format 'csv');
SELECT 'view' AS kind, * FROM disclosure.equivalence_classes('a_view')
UNION ALL SELECT 'matview', * FROM disclosure.equivalence_classes('a_matview')
UNION ALL SELECT 'temp', * FROM disclosure.equivalence_classes('a_temp')
UNION ALL SELECT 'parent', * FROM disclosure.equivalence_classes('parent')
UNION ALL SELECT 'partitioned', * FROM disclosure.equivalence_classes('partitioned')
UNION ALL SELECT 'foreign table', * FROM disclosure.equivalence_classes('a_foreign_table')
UNION ALL SELECT 'partition', * FROM disclosure.equivalence_classes('partition_1');
SELECT disclosure.k_anonymity(p), disclosure.k_anonymity(age, zip) FROM partitioned p;
SELECT p.*, disclosure.class_size(p) OVER () FROM partitioned p ORDER BY age, zip;

-- What cannot be read, and arguments that make no sense.
CREATE SEQUENCE a_sequence;
CREATE INDEX an_index ON changed (age);
CREATE TYPE a_type AS (x int);
SELECT * FROM disclosure.equivalence_classes('an_index');
SELECT * FROM disclosure.equivalence_classes('a_sequence');
SELECT * FROM disclosure.equivalence_classes(NULL);
SELECT * FROM disclosure.equivalence_classes(4294967295::oid::regclass);
SELECT * FROM disclosure.equivalence_classes('no_such_table');
SELECT * FROM disclosure.equivalence_classes('changed', '{}');
SELECT * FROM disclosure.equivalence_classes('changed', ARRAY['age', NULL]);
SELECT * FROM disclosure.equivalence_classes('changed', ARRAY['age', 'zip', 'age']);
SELECT * FROM disclosure.equivalence_classes('changed', ARRAY['age', 'Zip']);
SELECT * FROM disclosure.equivalence_classes('changed', ARRAY['ctid']);
SELECT * FROM disclosure.equivalence_classes('changed', nulls => NULL);
SELECT * FROM disclosure.equivalence_classes('changed', examples => -1);
SELECT * FROM disclosure.equivalence_classes('changed', examples => NULL);
SELECT * FROM disclosure.column_profile('changed', ARRAY['nope']);
SELECT * FROM disclosure.column_profile(NULL);
-- A table without columns.
CREATE TABLE no_columns ();
INSERT INTO no_columns DEFAULT VALUES;
SELECT * FROM disclosure.equivalence_classes('no_columns', examples => 1);
SELECT * FROM disclosure.column_profile('no_columns');
-- An error in the middle of the read is the reader's error, and the next call works.
CREATE VIEW broken AS SELECT 1 / (3 - i) AS x FROM generate_series(1, 5) i;
SELECT * FROM disclosure.equivalence_classes('broken');
SELECT * FROM disclosure.equivalence_classes('parent');
-- Rows that the statement itself has just changed are seen as a SELECT would see them.
BEGIN;
DELETE FROM parent;
SELECT * FROM disclosure.equivalence_classes('parent');
ROLLBACK;
SELECT * FROM disclosure.equivalence_classes('parent');
