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
-- Spelling: case does not matter, and hyphens, underscores and spaces are the same. What is stored and shown is canonical.
CREATE TABLE spelt (a int, b int, c int, d int, e int, f int, g int, h int);
SELECT disclosure.label_column('spelt', 'a', 'QUASI'), disclosure.label_column('spelt', 'b', 'Quasi-Identifier'),
       disclosure.label_column('spelt', 'c', 'sensitive_attribute'), disclosure.label_column('spelt', 'd', ' direct  identifier '),
       disclosure.label_column('spelt', 'e', 'Person'), disclosure.label_column('spelt', 'f', 'HOUSEHOLD'),
       disclosure.label_column('spelt', 'g', 'Danger = 0.50'), disclosure.label_column('spelt', 'h', 'Sensitive NULLS = value');
SET client_min_messages = warning;
SECURITY LABEL FOR disclosure ON COLUMN spelt.a IS 'Sensitive Attribute';
RESET client_min_messages;
SELECT column_name, label, likelihood, danger, source FROM disclosure.labels WHERE relation = 'spelt'::regclass ORDER BY 1;
SELECT attribute, label FROM disclosure_internal.column_label WHERE relation::regclass = 'spelt'::regclass ORDER BY 1;
-- The nearest word is offered, of options too. What comes later is refused by name.
SELECT disclosure.label_column('spelt', 'a', 'sensetive');
SELECT disclosure.label_column('spelt', 'a', 'quasi-identifer');
SELECT disclosure.label_column('spelt', 'a', 'likelyhood=1');
SELECT disclosure.label_column('spelt', 'a', 'quasi danger=1');
DO $$
DECLARE label text;
BEGIN
  FOREACH label IN ARRAY '{count,Count,weight=2,quasi nulls=value}'::text[] LOOP
    BEGIN
      PERFORM disclosure.label_column('spelt', 'a', label);
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE '% %', SQLSTATE, SQLERRM;
    END;
  END LOOP;
END
$$;
SELECT disclosure.class_size(a, 'WILDCARD') OVER () FROM (VALUES (1), (NULL)) AS t(a);
SELECT * FROM disclosure_lab.edge_probabilities(ARRAY[[1, 1], [1, 1]]::float8[], method => 'EXACT');
SELECT * FROM disclosure_lab.edge_probabilities(ARRAY[[1, 1], [1, 1]]::float8[], method => 'exakt');
SELECT * FROM disclosure_lab.edge_probabilities(ARRAY[[1, 1], [1, 1]]::float8[], method => 'something');

-- Several columns at once.
CREATE TABLE people (id int, name text, home int, age int, zip text, sex text, diagnosis text, note text);
SELECT disclosure.label_columns('people', quasi => '{age,zip,sex}', sensitive => '{diagnosis}');
SELECT disclosure.label_columns('people', identifier => '{name}', person => '{id}', household => '{home}', ignore => '{note}', sensitive => '{}');
SELECT column_name, label, likelihood, danger FROM disclosure.labels WHERE relation = 'people'::regclass ORDER BY 1;
-- Again replaces; columns that are not named keep their labels.
SELECT disclosure.label_columns('people', sensitive => '{sex}', ignore => NULL);
SELECT column_name, label FROM disclosure.labels WHERE relation = 'people'::regclass ORDER BY 1;
SET client_min_messages = warning;
SECURITY LABEL FOR disclosure ON COLUMN people.sex IS 'quasi';
SECURITY LABEL FOR disclosure ON COLUMN people.age IS 'quasi';
RESET client_min_messages;
SELECT disclosure.label_columns('people', quasi => '{sex,age,zip}');
-- All or nothing.
SELECT disclosure.label_columns('people', quasi => '{note}', sensitive => '{diagnoses}');
SELECT disclosure.label_columns('people', quasi => '{note}', sensitive => '{diagnosis,note}');
SELECT disclosure.label_columns('people', quasi => '{note,note}');
SELECT disclosure.label_columns('people', quasi => '{note}', ignore => '{id,NULL}');
SELECT disclosure.label_columns('people', quasi => '{note}', household => '{ctid}');
SELECT disclosure.label_columns('people');
SELECT disclosure.label_columns('people', quasi => '{}');
SELECT disclosure.label_columns(NULL, quasi => '{note}');
SELECT label FROM disclosure.labels WHERE relation = 'people'::regclass AND column_name = 'note';

-- Copies.
CREATE TABLE copied (extra1 int, extra2 int, extra3 int, extra4 int, extra5 int, diagnosis text, zip int, extra6 int);
SELECT disclosure.label_column('copied', 'extra1', 'ignore');
SELECT disclosure.copy_labels('people', 'copied');
SELECT column_name, label, source FROM disclosure.labels WHERE relation = 'copied'::regclass ORDER BY 1;
CREATE TABLE narrow (sex text);
SELECT disclosure.copy_labels('people', 'narrow');
SELECT disclosure.copy_labels('narrow', 'people');
SELECT disclosure.copy_labels('copied', NULL);
SELECT disclosure.copy_labels(NULL, 'copied');
CREATE SEQUENCE numbers;
SELECT disclosure.copy_labels('numbers', 'copied');
-- Only owners.
CREATE ROLE pd_label_other;
GRANT SELECT ON people, copied TO pd_label_other;
SET ROLE pd_label_other;
SELECT disclosure.label_columns('people', quasi => '{note}');
SELECT disclosure.copy_labels('people', 'copied');
CREATE TEMP TABLE own (sex text, age int);
SELECT disclosure.copy_labels('people', 'own');
SELECT relation, column_name, label FROM disclosure.labels WHERE relation = 'own'::regclass ORDER BY 2;
DROP TABLE own;
RESET ROLE;

-- Labels follow plain references through views, materialized views, partitions and inheritance children.
CREATE FUNCTION labels_used(relation regclass) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(column_name || ' ' || label, ', ' ORDER BY number)
    FROM (SELECT l.column_name, l.label, a.attnum AS number
            FROM disclosure.labels l JOIN pg_attribute a ON a.attrelid = l.relation AND a.attname = l.column_name
           WHERE l.relation = labels_used.relation) AS used $$;
-- Labels are copied as they are used, so that a copy shows them.
CREATE PROCEDURE show_labels(relation regclass) LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL client_min_messages = warning;
  EXECUTE format('CREATE TEMP TABLE shown AS SELECT * FROM %s LIMIT 0', relation);
  PERFORM disclosure.copy_labels(relation, 'shown');
  SET LOCAL client_min_messages = notice;
  RAISE NOTICE '%: %', relation, labels_used('shown');
  DROP TABLE shown;
END
$$;
SET client_min_messages = warning;
CREATE VIEW plain AS SELECT diagnosis AS illness, age, zip || '' AS zip, id + 1 AS id, home FROM people;
CREATE MATERIALIZED VIEW kept AS SELECT illness, age AS years, home FROM plain;
CREATE VIEW through AS WITH c AS (SELECT years, home FROM kept) SELECT s.diagnosis, c.years, people.name
  FROM people JOIN (SELECT id, diagnosis FROM people) s USING (id), c;
CREATE VIEW united AS SELECT age, zip FROM people UNION ALL SELECT age, zip FROM people;
CREATE VIEW grouped AS SELECT zip, count(*) AS people, max(age) AS age, (ARRAY[sex])[1] AS sex FROM people GROUP BY zip, sex;
CREATE VIEW whole_rows AS SELECT people, people.tableoid AS relation, people.diagnosis FROM people;
RESET client_min_messages;
CALL show_labels('plain');
CALL show_labels('kept');
CALL show_labels('through');
CALL show_labels('united');
CALL show_labels('grouped');
CALL show_labels('whole_rows');
-- A label of one's own wins, on the way too, whatever the columns are called.
SELECT disclosure.label_column('plain', 'illness', 'danger=0.5');
ALTER TABLE people RENAME COLUMN age TO "Age";
ALTER VIEW plain RENAME COLUMN age TO "How old";
CALL show_labels('plain');
CALL show_labels('kept');
-- Views that refer to each other, which Postgres refuses to read.
CREATE VIEW round AS SELECT 1 AS a, 2 AS b;
CREATE VIEW and_round AS SELECT a, b FROM round;
SELECT disclosure.label_column('and_round', 'b', 'quasi');
CREATE OR REPLACE VIEW round AS SELECT a, b FROM and_round;
SELECT disclosure.copy_labels('round', 'round');
SELECT labels_used('round');
DROP VIEW round CASCADE;
-- Dropped and reordered columns, several levels, several parents: the first one that has a label.
CREATE TABLE parted (gone int, a int, b int, c int) PARTITION BY LIST (a);
ALTER TABLE parted DROP COLUMN gone;
CREATE TABLE part (c int, b int, gone int, a int) PARTITION BY LIST (b);
ALTER TABLE part DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION part FOR VALUES IN (1);
CREATE TABLE leaf PARTITION OF part FOR VALUES IN (1);
SELECT disclosure.label_columns('parted', quasi => '{a,b}', sensitive => '{c}');
SELECT disclosure.label_columns('part', ignore => '{b}');
CALL show_labels('part');
CALL show_labels('leaf');
CALL show_labels('parted');
CREATE TABLE father (a int, b int);
CREATE TABLE mother (b int, c int);
CREATE TABLE child (d int) INHERITS (father, mother);
SELECT disclosure.label_columns('father', quasi => '{a}'), disclosure.label_columns('mother', sensitive => '{b}', ignore => '{c}');
CALL show_labels('child');
SELECT disclosure.label_columns('father', ignore => '{b}');
CALL show_labels('child');
ALTER TABLE child NO INHERIT father;
CALL show_labels('child');
-- No privilege on the tables below is needed.
CREATE VIEW over_child AS SELECT b, c FROM child;
GRANT SELECT ON over_child TO pd_label_other;
SET ROLE pd_label_other;
CREATE TEMP TABLE own (b int, c int);
SELECT disclosure.copy_labels('over_child', 'own');
DROP TABLE own;
RESET ROLE;
DROP OWNED BY pd_label_other;
DROP ROLE pd_label_other;
-- Measures use them.
INSERT INTO people VALUES (1, 'Ann', 1, 37, '13053', 'f', 'flu', 'x'), (2, 'Bea', 1, 37, '13053', 'f', 'flu', 'y');
CREATE VIEW patients_view AS SELECT * FROM people;
CREATE MATERIALIZED VIEW patients_kept AS SELECT * FROM patients_view;
SELECT p.score AS of_table, v.score AS of_view, m.score AS of_materialized_view
  FROM (SELECT id, disclosure.privacy_score(p) OVER () AS score FROM people p) p
  JOIN (SELECT id, disclosure.privacy_score(p) OVER () AS score FROM patients_view p) v USING (id)
  JOIN (SELECT id, disclosure.privacy_score(p) OVER () AS score FROM patients_kept p) m USING (id);
SELECT average FROM disclosure.privacy_summary('patients_kept');

-- One notice per statement about columns without a label that take part.
CREATE TABLE unlabelled (a int, b int, c int, d int, e int, f int, g int);
INSERT INTO unlabelled SELECT i, i, 1, 1, 1, i, i FROM generate_series(1, 4) i;
SELECT average FROM disclosure.privacy_summary('unlabelled');
SELECT a, disclosure.privacy_score(u) OVER (PARTITION BY a % 2) > 0 AS some_risk, disclosure.privacy_score(u) OVER () > 0 AS risk FROM unlabelled u ORDER BY 1;
SELECT disclosure.label_columns('unlabelled', quasi => '{a,b,c,d,e}');
SELECT average FROM disclosure.privacy_summary('unlabelled');
SELECT disclosure.privacy_score(u, 'unlabelled'::regclass) AS score FROM unlabelled u;
SELECT disclosure.privacy_score(u, 'unlabelled'::regclass) AS score FROM (SELECT a, b FROM unlabelled) u LIMIT 1;
SELECT disclosure.privacy_score(u, '{"f": "ignore"}'::jsonb) OVER () AS score FROM unlabelled u LIMIT 1;
-- None for columns that take no part, nor where no label can be set.
SELECT average FROM disclosure.privacy_summary('unlabelled', columns => '{a,b}');
SELECT disclosure.privacy_score(u, '{"f": "ignore", "g": {"danger": 0}}'::jsonb) OVER () AS score FROM unlabelled u LIMIT 1;
SELECT disclosure.privacy_score(u) OVER () AS score FROM (SELECT f, g FROM unlabelled) u LIMIT 1;
CREATE TYPE pair AS (a int, b int);
SELECT disclosure.privacy_score(ROW(1, 2)::pair) OVER () AS score;
-- In the guard, people and households count as known. It says nothing about labels to those who export.
SELECT disclosure.protect('people', 'k_anonymity', at_least => 2) > 0 AS is_protected;
SELECT query, measured FROM unnest(ARRAY['SELECT id FROM people', 'SELECT home FROM people', 'SELECT note FROM people', 'SELECT name FROM patients_view']) AS query,
       disclosure.check_export(query);
SELECT disclosure.protect('unlabelled', 'privacy_score', at_most => 0.9) > 0 AS is_protected;
SELECT measured FROM disclosure.check_export('SELECT * FROM unlabelled');
-- Dropping the extension takes its event triggers along; DDL goes on working.
DROP TABLE "Odd Table";
SET client_min_messages = warning;
DROP TABLE people, spelt CASCADE;
RESET client_min_messages;
DROP EXTENSION pg_disclosure;
CREATE TABLE afterwards (a int);
ALTER TABLE afterwards RENAME COLUMN a TO b;
DROP TABLE afterwards;
CREATE EXTENSION pg_disclosure;
SELECT count(*) FROM disclosure.labels;
