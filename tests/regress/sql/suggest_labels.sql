-- Suggested labels: which columns are judged by what, and whose rights count. How good the suggestions are is measured in
-- crates/disclosure/tests/columns/suggestions.rs.
CREATE ROLE "pd Suggest";
CREATE SCHEMA planted;
GRANT USAGE ON SCHEMA planted TO "pd Suggest";
SET search_path = planted;

-- A table that nobody labelled.
CREATE TABLE patients (
  patient_id int PRIMARY KEY,
  first_name text NOT NULL,
  email varchar(80),
  birth_date date,
  zip char(5),
  sex char(1),
  diagnosis text,
  created_at timestamptz
);
INSERT INTO patients
SELECT i, (ARRAY['Ann', 'Bea', 'Cem', 'Dan'])[1 + i % 4] || i, 'person' || i || '@example.org', date '1950-01-01' + i * 97,
       lpad((i * 131 % 100000)::text, 5, '0'), (ARRAY['f', 'm'])[1 + i % 2], (ARRAY['flu', 'hiv', 'cancer'])[1 + i % 3],
       timestamptz '2026-01-01 00:00+00' + i * interval '1 hour'
  FROM generate_series(7001, 7120) i;
SELECT column_name, label, category, confidence BETWEEN 0 AND 1 AS has_confidence, evidence <> '' AS has_evidence, current_label
  FROM disclosure.suggest_labels('patients');

-- Identifiers in odd columns, wrong names, other languages, odd names.
CREATE TABLE "Odd ""Tables""" (
  "c 1" text, "Größe/cm" int, notes text, geburtsdatum date, prenom text, "apellido 1" text, geslacht text, kind text[]);
INSERT INTO "Odd ""Tables"""
SELECT 'odd' || i || '@example.com', 150 + i % 50, '+49 30 ' || 1000000 + i * 7919, date '1960-01-01' + i * 53, 'Prénom' || i,
       'Garcia' || i, (ARRAY['m', 'v'])[1 + i % 2], ARRAY['a' || i || '@example.net', NULL]
  FROM generate_series(1, 60) i;
SELECT column_name, label, category FROM disclosure.suggest_labels('"Odd ""Tables"""');

-- No value in any evidence, whether a sample, all rows or no row is read. Values of one or two letters occur in words.
CREATE FUNCTION leaked(relation regclass, evidence text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  EXECUTE format('SELECT value FROM %s r, jsonb_each_text(to_jsonb(r)) WHERE length(value) > 2 AND position(lower(value) IN lower($1)) > 0 LIMIT 1', relation)
    INTO found USING evidence;
  RETURN found;
END $$;
SELECT s.relation, s.column_name, leaked(s.relation, s.evidence)
  FROM (SELECT 'patients'::regclass AS relation, l.* FROM disclosure.suggest_labels('patients') l
        UNION ALL SELECT 'patients', l.* FROM disclosure.suggest_labels('patients', full_pass => true) l
        UNION ALL SELECT '"Odd ""Tables"""', l.* FROM disclosure.suggest_labels('"Odd ""Tables"""') l
        UNION ALL SELECT * FROM disclosure.suggest_labels_in('planted')
        UNION ALL SELECT * FROM disclosure.suggest_labels_in('planted', full_pass => true)) AS s
 WHERE leaked(s.relation, s.evidence) IS NOT NULL;

-- The answer depends neither on the order of the rows nor on statistics.
CREATE SCHEMA reversed;
CREATE TABLE reversed.patients (LIKE patients INCLUDING ALL);
INSERT INTO reversed.patients SELECT * FROM patients ORDER BY patient_id DESC;
ANALYZE reversed.patients;
SELECT count(*) AS differences FROM disclosure.suggest_labels('patients') p
  FULL JOIN disclosure.suggest_labels('reversed.patients') r USING (column_name, label, category, confidence, evidence)
 WHERE p.column_name IS NULL OR r.column_name IS NULL;
SET client_min_messages = warning;
DROP SCHEMA reversed CASCADE;
RESET client_min_messages;

-- A large table is sampled, and says so; the sample is always the same. All rows on request.
CREATE TABLE large AS
SELECT i AS patient_id, 'large' || i || '@example.org' AS email, i % 90 AS age FROM generate_series(1, 60000) i;
ANALYZE large;
SELECT column_name, substring(evidence FROM 'A sample of') AS sample FROM disclosure.suggest_labels('large');
SELECT count(*) AS differences FROM disclosure.suggest_labels('large') a
  FULL JOIN disclosure.suggest_labels('large') b USING (column_name, label, category, confidence, evidence)
 WHERE a.column_name IS NULL OR b.column_name IS NULL;
SELECT column_name, substring(evidence FROM 'sample|the first') AS part FROM disclosure.suggest_labels('large', full_pass => true);
-- A view has no pages to sample.
CREATE VIEW large_view AS SELECT * FROM large;
SELECT column_name, substring(evidence FROM 'Only the first .*') AS part FROM disclosure.suggest_labels('large_view');
DROP VIEW large_view;
DROP TABLE large;

-- Any relation: no columns, no rows, dropped columns, domains, enums, partitions, views, materialized and foreign tables.
CREATE TABLE nothing ();
SELECT * FROM disclosure.suggest_labels('nothing');
CREATE DOMAIN mail AS text;
CREATE TYPE blood AS ENUM ('A', 'B', 'AB', '0');
CREATE TABLE parts (gone int, contact mail, blood_group blood, place point, document jsonb, picture bytea, embedding float4[])
  PARTITION BY LIST (blood_group);
ALTER TABLE parts DROP COLUMN gone;
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('A');
CREATE TABLE parts_other PARTITION OF parts DEFAULT;
SELECT column_name, label, category FROM disclosure.suggest_labels('parts');
INSERT INTO parts SELECT 'part' || i || '@example.org', (ARRAY['A', 'B'])[1 + i % 2]::blood, point(i, i), '{}', '\x00', '{1,2}'
  FROM generate_series(1, 40) i;
SELECT column_name, label, category FROM disclosure.suggest_labels('parts');
SELECT column_name, label, category FROM disclosure.suggest_labels('parts_a') LIMIT 1;
CREATE VIEW adults AS SELECT patient_id, email AS field, diagnosis, extract(year FROM birth_date)::int AS birth_year FROM patients;
SELECT column_name, label, category FROM disclosure.suggest_labels('adults');
CREATE MATERIALIZED VIEW stored AS SELECT email AS field, upper(first_name) AS first_name FROM patients WITH NO DATA;
SELECT column_name, label FROM disclosure.suggest_labels('stored');
REFRESH MATERIALIZED VIEW stored;
SELECT column_name, label FROM disclosure.suggest_labels('stored');
CREATE TABLE children (nickname text) INHERITS (patients);

-- Columns that the caller may not read are judged by name and type, and rows by row-level security.
GRANT SELECT (email, sex) ON patients TO "pd Suggest";
CREATE TABLE hidden (field text);
INSERT INTO hidden SELECT 'hidden' || i || '@example.org' FROM generate_series(1, 50) i;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY none ON hidden USING (false);
GRANT SELECT ON hidden TO "pd Suggest";
SELECT column_name, label, category FROM disclosure.suggest_labels('hidden');
SET ROLE "pd Suggest";
SELECT column_name, label, category FROM disclosure.suggest_labels('patients');
SELECT column_name, label, category FROM disclosure.suggest_labels('hidden');
SELECT * FROM disclosure.suggest_labels('patients', apply => true);
SELECT * FROM disclosure.suggest_labels_in('planted', apply => true);
RESET ROLE;

-- Labels of postgresql_anonymizer are taken over. Its providers are not loaded here, so the labels are written by hand.
CREATE TABLE masked (a int, b text, c text, d text, e text);
SET allow_system_table_mods = on;
INSERT INTO pg_catalog.pg_seclabel (objoid, classoid, objsubid, provider, label)
VALUES ('masked'::regclass, 'pg_class'::regclass, 1, 'anon', 'MASKED WITH VALUE NULL'),
       ('masked'::regclass, 'pg_class'::regclass, 2, 'k_anonymity', 'INDIRECT IDENTIFIER'),
       ('masked'::regclass, 'pg_class'::regclass, 3, 'anon', 'NOT MASKED'),
       ('masked'::regclass, 'pg_class'::regclass, 4, 'anon', 'MASKED WITH FUNCTION anon.fake_email()'),
       ('masked'::regclass, 'pg_class'::regclass, 4, 'k_anonymity', 'quasi identifier');
RESET allow_system_table_mods;
SELECT column_name, label, category, confidence, substring(evidence FROM 'postgresql_anonymizer[^.]*') AS evidence
  FROM disclosure.suggest_labels('masked');
DROP TABLE masked;

-- A whole schema: without partitions, and without columns that take their labels from elsewhere. No row is read.
SELECT relation, count(*) AS columns FROM disclosure.suggest_labels_in('planted') GROUP BY relation ORDER BY relation::text COLLATE "C";
SELECT relation, column_name FROM disclosure.suggest_labels_in('planted') WHERE relation IN ('adults'::regclass, 'stored', 'children');
SELECT relation, column_name, label FROM disclosure.suggest_labels_in('planted') WHERE relation = 'hidden'::regclass;
SELECT relation, column_name, label FROM disclosure.suggest_labels_in('planted', full_pass => true) WHERE relation = 'hidden'::regclass;
SELECT * FROM disclosure.suggest_labels_in('no such schema');
SELECT * FROM disclosure.suggest_labels_in('disclosure');
SELECT * FROM disclosure.suggest_labels_in('pg_catalog');
SELECT * FROM disclosure.suggest_labels_in(NULL);
SELECT * FROM disclosure.suggest_labels(NULL);
SELECT * FROM disclosure.suggest_labels('patients', apply => NULL);
SELECT * FROM disclosure.suggest_labels('patients_pkey');
CREATE SCHEMA bare;
SELECT * FROM disclosure.suggest_labels_in('bare');
DROP SCHEMA bare;

-- What has no label: neither of its own, nor from elsewhere.
SELECT * FROM disclosure.unlabelled WHERE relation::text ~ '^(planted\.)?(patients|adults|children|parts|stored)' ORDER BY relation::text, column_name;
SELECT disclosure.label_columns('patients', identifier => '{email}', ignore => '{created_at}');
SELECT disclosure.label_columns('parts', quasi => '{blood_group}');
SET client_min_messages = error;
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 2) \g /dev/null
RESET client_min_messages;
SELECT relation, column_name, protected FROM disclosure.unlabelled
 WHERE relation::text ~ '^(planted\.)?(patients|adults|children|parts)' ORDER BY relation::text, column_name;
SET ROLE "pd Suggest";
SELECT * FROM disclosure.unlabelled ORDER BY relation::text, column_name;
RESET ROLE;
SELECT count(*) FROM disclosure.unlabelled WHERE relation::text LIKE 'disclosure%' OR relation::text LIKE 'pg_%';

SELECT disclosure.unprotect('patients'::regclass);

-- Applying: what has a label keeps it. What is not likely stays without one, and so does a column that would be ignored
-- although none of its values was read.
SELECT column_name, label, current_label FROM disclosure.suggest_labels('patients', apply => true);
SELECT column_name, label, source FROM disclosure.labels WHERE relation = 'patients'::regclass ORDER BY column_name;
SELECT column_name, label, current_label FROM disclosure.suggest_labels('patients', apply => true) WHERE label <> current_label;
CREATE TABLE sums (weight float8, sampling_weight float8, row_count int, x int);
SELECT column_name, label, current_label FROM disclosure.suggest_labels('sums', apply => true);
SELECT relation, column_name, label, current_label FROM disclosure.suggest_labels_in('planted', apply => true)
 WHERE relation = '"Odd ""Tables"""'::regclass;
SELECT relation, column_name, label, current_label FROM disclosure.suggest_labels_in('planted', apply => true, full_pass => true)
 WHERE relation = '"Odd ""Tables"""'::regclass;
CREATE TABLE late (email text);
BEGIN READ ONLY;
SELECT count(*) FROM disclosure.suggest_labels('late');
SELECT count(*) FROM disclosure.suggest_labels('late', apply => true);
ROLLBACK;

-- The dictionary: every role adds terms of its own, and uses no others.
SELECT count(*) > 100 AS has_terms, count(DISTINCT language) > 3 AS has_languages, bool_and(shipped AND owner IS NULL) AS is_shipped
  FROM disclosure.dictionary;
CREATE TABLE terms (frobnication text, zip text);
GRANT SELECT ON terms TO "pd Suggest";
SET ROLE "pd Suggest";
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'frobnication', 'health', 'sensitive');
SELECT column_name, label, category FROM disclosure.suggest_labels('terms');
RESET ROLE;
SELECT column_name, label, category FROM disclosure.suggest_labels('terms') WHERE label = 'sensitive';
SET ROLE "pd Suggest";
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'frobnication', 'health', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label, owner) VALUES ('en', 'for all', 'health', 'quasi', NULL);
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('eng', 'a', 'health', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', '', 'health', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'Upper', 'health', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'two  spaces', 'health', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'a', 'helth', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'a', 'free text', 'quasi');
INSERT INTO disclosure.dictionary (language, term, category, label) VALUES ('en', 'a', 'health', 'quasy');
INSERT INTO disclosure.dictionary (language, term, matching, category, label) VALUES ('en', 'a', 'prefix', 'health', 'quasi');
UPDATE disclosure.dictionary SET label = 'ignore' WHERE shipped;
DELETE FROM disclosure.dictionary WHERE shipped;
UPDATE disclosure.dictionary SET term = 'größe', label = 'quasi' WHERE term = 'frobnication';
SELECT language, term, matching, category, label, owner FROM disclosure.dictionary WHERE NOT shipped;
DELETE FROM disclosure.dictionary WHERE term = 'größe';
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA planted CASCADE;
DROP ROLE "pd Suggest";

-- A call for a whole schema reads no views of other roles, because they may call any function.
CREATE ROLE pd_viewer;
CREATE SCHEMA shared;
GRANT ALL ON SCHEMA shared TO pd_viewer;
SET ROLE pd_viewer;
CREATE FUNCTION shared.noticed() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'runs as %', current_user; RETURN 'x'; END $$;
CREATE VIEW shared.harmless AS SELECT shared.noticed() AS x;
CREATE TABLE shared.plain (note text);
RESET ROLE;
CREATE VIEW shared.own AS SELECT 'a@example.org'::text AS y;
SELECT relation, column_name FROM disclosure.suggest_labels_in('shared', full_pass => true);
DROP SCHEMA shared CASCADE;
DROP ROLE pd_viewer;
