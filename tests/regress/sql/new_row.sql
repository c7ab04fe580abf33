-- One row against a table: for triggers, always fresh, never more than the caller may see.
\pset null '(null)'
CREATE TABLE patients (id int PRIMARY KEY, age int, items text[], smoker boolean, diagnosis text);
INSERT INTO patients VALUES
  (1, 34, '{a,b}', true, 'hiv'), (2, 34, '{a}', false, 'hiv'), (3, 51, '{b}', NULL, 'flu'), (4, 51, '{}', true, 'asthma');
SELECT disclosure.label_column('patients', 'id', 'identifier'), disclosure.label_column('patients', 'diagnosis', 'sensitive');
SELECT disclosure.label_column('patients', column_name, 'quasi') FROM unnest(ARRAY['age', 'items', 'smoker']) AS column_name;

-- A row of the table scores as it does among the others, on both roads.
SELECT id, disclosure.privacy_score(p) OVER (), disclosure.privacy_score(p, 'patients'::regclass) AS asked FROM patients p ORDER BY id;
-- Rows that are not in it: named, by position, partly NULL, all NULL.
SELECT disclosure.privacy_score(ROW(9, 51, ARRAY['b'], NULL, 'hiv')::patients, 'patients'::regclass);
SELECT disclosure.privacy_score(ROW(9, 51, ARRAY['b'], NULL::boolean, 'hiv'), 'patients'::regclass);
SELECT disclosure.privacy_score(q, 'patients'::regclass) FROM (SELECT 'hiv' AS diagnosis, 51 AS age) q;
SELECT disclosure.privacy_score(ROW(NULL, NULL, NULL, NULL, NULL)::patients, 'patients'::regclass);
SELECT disclosure.privacy_score(NULL::patients, 'patients'::regclass);
SELECT disclosure.privacy_score(p, 'patients'::regclass, labels => '{"age": {"likelihood": 0.5, "danger": {"34": 0.2, "*": 0}}, "diagnosis": {"danger": {"hiv": 0.9, "*": 0.1}}}') FROM patients p ORDER BY id;

-- In a trigger: every row sees those before it, of the same statement too.
CREATE TABLE queue (age int, diagnosis text);
SELECT disclosure.label_column('queue', 'age', 'quasi'), disclosure.label_column('queue', 'diagnosis', 'sensitive');
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE 'age % diagnosis %: %', NEW.age, NEW.diagnosis, disclosure.privacy_score(NEW, 'queue'::regclass);
  RETURN NEW;
END $$;
CREATE TRIGGER tell BEFORE INSERT OR UPDATE ON queue FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO queue VALUES (30, 'flu'), (30, 'flu'), (30, 'hiv'), (40, 'hiv'), (40, 'flu');
DELETE FROM queue WHERE diagnosis = 'hiv';
INSERT INTO queue VALUES (30, 'flu');
TRUNCATE queue;
INSERT INTO queue VALUES (30, 'flu');
-- The table may change its shape between two calls.
ALTER TABLE queue ADD COLUMN town text;
INSERT INTO queue VALUES (30, 'flu', 'Aix');
ALTER TABLE queue ALTER age TYPE bigint;
SELECT disclosure.privacy_score(q, 'queue'::regclass) FROM queue q;
DROP TRIGGER tell ON queue;

-- Types whose equality is not in pg_catalog, and one that has none.
CREATE SCHEMA other;
CREATE TYPE other.colour AS ENUM ('red', 'green');
CREATE DOMAIN other.code AS varchar(5);
CREATE TABLE typed (c other.colour, d other.code, r int4range, n numeric, s timestamptz, f char(3));
INSERT INTO typed VALUES ('red', 'x', '[1,2]', 1.0, '2026-01-01 00:00+00', 'a'), ('red', 'y', '[1,3)', 1.00, '2026-01-01 01:00+01', 'a  '), ('green', 'x', NULL, 2, NULL, 'b');
SELECT disclosure.privacy_score(t) OVER () = disclosure.privacy_score(t, 'typed'::regclass) AS same FROM typed t;
ALTER TABLE typed ADD COLUMN j json;
UPDATE typed SET j = '{}';
SELECT disclosure.privacy_score(t, 'typed'::regclass) FROM typed t LIMIT 1;
SELECT disclosure.privacy_score(t, 'typed'::regclass, labels => '{"j": "ignore"}') FROM typed t LIMIT 1;

-- Views, and what the caller may see.
CREATE VIEW elderly AS SELECT age, diagnosis FROM patients WHERE age > 50;
SELECT disclosure.privacy_score(ROW(51, 'flu'), 'elderly'::regclass, labels => '{"age": "quasi", "diagnosis": "sensitive"}');
CREATE ROLE new_row_reader;
SET ROLE new_row_reader;
SELECT disclosure.privacy_score(ROW(51::bigint, 'flu'), 'queue'::regclass);
RESET ROLE;
GRANT SELECT (age, diagnosis) ON queue TO new_row_reader;
SET ROLE new_row_reader;
SELECT disclosure.privacy_score(ROW(51::bigint, 'flu'), 'queue'::regclass);
RESET ROLE;

-- Nothing is changed, not even a transaction number taken, and parallel plans will do.
CREATE TABLE keys (k uuid, v money);
INSERT INTO keys VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 5);
BEGIN;
SELECT disclosure.privacy_score(t, 'keys'::regclass) FROM keys t;
SELECT pg_current_xact_id_if_assigned() IS NULL AS changed_nothing;
COMMIT;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT disclosure.privacy_score(t, 'typed'::regclass, labels => '{"j": "ignore"}') FROM typed t;
SELECT max(score) FROM (SELECT disclosure.privacy_score(t, 'typed'::regclass, labels => '{"j": "ignore"}') AS score FROM typed t OFFSET 0) t;
RESET ALL;

-- Bad input.
SELECT disclosure.privacy_score(ROW(1, 2, 3), 'queue'::regclass);
SELECT disclosure.privacy_score(q, 'queue'::regclass) FROM (SELECT 1 AS town, 2 AS street) q;
SELECT disclosure.privacy_score(ROW(1::bigint), NULL::regclass);
SELECT disclosure.privacy_score(ROW(1::bigint), 'queue'::regclass, labels => '{"age": {"width": 10}}');
SELECT disclosure.privacy_score(ROW(1::bigint), 'queue'::regclass, constant => 0);
SELECT disclosure.privacy_score(ROW(1::bigint), 'patients_pkey'::regclass);
DROP OWNED BY new_row_reader;
DROP ROLE new_row_reader;
