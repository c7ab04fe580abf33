-- What to do about high scores: decoys that fill holes, cells to suppress.
\pset null '(null)'
CREATE TABLE patients (id int, zip text, sex text, smoker boolean, tags text[], diagnosis text);
INSERT INTO patients VALUES
  (1, '90210', 'f', true, '{a}', 'hiv'), (2, '90210', 'f', false, '{a,b}', 'hiv'), (3, '90210', 'm', NULL, '{b}', 'flu'),
  (4, '90211', 'm', true, '{b}', 'flu'), (5, '90211', 'm', true, '{b}', 'asthma'), (6, '90211', NULL, true, NULL, 'flu');
SELECT disclosure.label_column('patients', 'id', 'identifier'), disclosure.label_column('patients', 'diagnosis', 'sensitive');
SELECT disclosure.label_column('patients', column_name, 'quasi') FROM unnest(ARRAY['zip', 'sex', 'smoker', 'tags']) AS column_name;
SELECT disclosure.privacy_inference(p) OVER () ->> 'inference' AS inference FROM patients p ORDER BY id;
SELECT * FROM disclosure.decoys('patients', max_rows => 3);
-- Example 6.3: three triangles around the hole ABC. A decoy is a row of the table, and does what it promises.
CREATE TABLE triangles (id int, s text[]);
SELECT disclosure.label_column('triangles', 'id', 'ignore');
INSERT INTO triangles VALUES (1, '{A,C,E}'), (2, '{A,B,D}'), (3, '{B,C,F}');
SELECT hole, size, inference FROM disclosure.holes('triangles') WHERE size = 3;
SELECT * FROM disclosure.decoys('triangles', max_rows => 3);
SELECT id, disclosure.privacy_score(t) OVER () FROM triangles t ORDER BY id;
CREATE TABLE two (id int, sex text, ill text);
SELECT disclosure.label_column('two', 'id', 'ignore'), disclosure.label_column('two', 'sex', 'quasi'), disclosure.label_column('two', 'ill', 'sensitive');
INSERT INTO two VALUES (1, 'f', 'hiv'), (2, 'f', 'hiv'), (3, 'm', 'flu'), (4, 'm', 'hiv');
SELECT * FROM disclosure.decoys('two');
INSERT INTO two SELECT (jsonb_populate_record(NULL::two, decoy)).* FROM disclosure.decoys('two');
SELECT *, disclosure.privacy_score(t) OVER () FROM two t ORDER BY id;
SELECT count(*) FROM disclosure.decoys('patients', max_rows => 0);
-- A combination that somebody has may be a decoy, too (Theorem 6.5): with a boolean, there is no other value.
CREATE TABLE flags (zip text, sex text, ill boolean);
INSERT INTO flags VALUES ('1', 'f', true), ('1', 'm', false), ('2', 'f', false);
SELECT decoy, record, average_before, average_after, maximum_after, rows_raised, rows_added, cells_changed, information_lost
  FROM disclosure.decoys('flags', labels => '{"zip": "quasi", "sex": "quasi", "ill": "sensitive"}');
-- Option 1 of Example 6.3: an existing row gets the attributes. It has to have only such attributes.
CREATE FUNCTION abc_known() RETURNS jsonb IMMUTABLE LANGUAGE sql AS
  $$ SELECT '{"s": {"likelihood": {"D": 0, "E": 0, "F": 0}, "danger": {"A": 0, "B": 0, "C": 0}}}'::jsonb $$;
SELECT decoy, average_before, average_after, rows_raised, rows_added, cells_changed FROM disclosure.decoys('triangles', labels => abc_known());
SELECT count(*) FROM disclosure.decoys('triangles', labels => abc_known(), method => 'complete');
INSERT INTO triangles VALUES (4, '{A}');
SELECT decoy, record, average_before, average_after, rows_raised, rows_added, cells_changed, round(information_lost::numeric, 4) AS information_lost
  FROM disclosure.decoys('triangles', labels => abc_known(), method => 'complete');
-- It may raise single scores.
CREATE TABLE raised (a boolean, b boolean, c boolean, d boolean);
INSERT INTO raised VALUES (true, true, false, false), (false, true, true, true), (false, true, false, true),
                          (false, false, true, true), (false, false, true, true), (true, false, true, true);
SELECT decoy, record, average_before, average_after, rows_raised, rows_added, cells_changed
  FROM disclosure.decoys('raised', method => 'complete', max_rows => 1);
-- A sensitive value is never NULL in a decoy: that would tell nothing.
CREATE TABLE needs_value (zip text, sex text, ill text);
INSERT INTO needs_value VALUES ('1', 'f', 'hiv'), ('1', 'm', 'flu'), ('2', 'f', 'hiv');
SELECT decoy FROM disclosure.decoys('needs_value', labels => '{"zip": "quasi", "sex": "quasi", "ill": "sensitive"}');
INSERT INTO needs_value VALUES ('2', 'f', 'flu');
SELECT decoy, average_before, average_after FROM disclosure.decoys('needs_value', labels => '{"zip": "quasi", "sex": "quasi", "ill": "sensitive"}');
-- Remedies end with a statement. Here it finds rows by their values, because there is no key.
SELECT step, round, record, column_name, value, at_or_above, maximum, average, exact FROM disclosure.remedies('patients', threshold => 0.5);
SELECT cells_changed, rows_changed, round(information_lost::numeric, 4) AS information_lost, ended_by, statement
  FROM disclosure.remedies('patients', threshold => 0.5) WHERE step IS NULL;
-- The table of the audit: rows abe, be, de, abc.
CREATE TABLE audit (id int PRIMARY KEY, a boolean, b boolean, c boolean, d boolean, e boolean);
INSERT INTO audit VALUES (1, true, true, false, false, true), (2, false, true, false, false, true),
                         (3, false, false, false, true, true), (4, true, true, true, false, false);
SELECT disclosure.label_column('audit', 'id', 'identifier');
SELECT disclosure.label_column('audit', column_name, 'likelihood=1 danger=1') FROM unnest(ARRAY['a', 'b', 'c', 'd', 'e']) AS column_name;
SELECT step, round, record, column_name, value, at_or_above, ended_by, statement FROM disclosure.remedies('audit');

-- Executed for many tables, after which the threshold holds: the score of policies, in which NULL is unknown.
CREATE FUNCTION mended(relation regclass, labels jsonb, threshold float8 DEFAULT 0.5, columns name[] DEFAULT NULL)
  RETURNS TABLE (cells bigint, ended_by text, left_over bigint, next bigint) LANGUAGE plpgsql AS $$
DECLARE
  statement text;
BEGIN
  SELECT r.cells_changed, r.ended_by, r.statement FROM disclosure.remedies(relation, columns, labels => labels, threshold => threshold) r
   WHERE r.step IS NULL INTO cells, ended_by, statement;
  IF statement IS NOT NULL THEN
    EXECUTE statement;
  END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT disclosure_internal.policy_score(t, %L, 0.9) OVER () AS score FROM (SELECT %s FROM %s) t) s WHERE score >= %L',
                 labels, coalesce((SELECT string_agg(quote_ident(c), ', ') FROM unnest(columns) c), '*'), relation, threshold) INTO left_over;
  SELECT r.cells_changed FROM disclosure.remedies(relation, columns, labels => labels, threshold => threshold) r WHERE r.step IS NULL INTO next;
  RETURN NEXT;
END $$;
SELECT * FROM mended('audit', '{"id": "ignore"}');
TABLE audit ORDER BY id;
SELECT * FROM mended('patients', '{"id": "ignore", "zip": "quasi", "sex": "quasi", "smoker": "quasi", "tags": "quasi", "diagnosis": "sensitive"}');
SELECT zip, sex, smoker, tags, diagnosis FROM patients ORDER BY id;
-- One blank is no remedy for fifty equal diagnoses.
CREATE TABLE equal AS SELECT n, n % 2 AS ward, CASE n % 2 WHEN 0 THEN 'flu' ELSE 'hiv' END AS diagnosis FROM generate_series(1, 100) n;
SELECT * FROM mended('equal', '{"n": "ignore", "ward": "quasi", "diagnosis": "sensitive"}');
-- Odd names and types: a key of two columns, duplicates without a key, arrays, bins, partitions, heirs.
CREATE SCHEMA "odd schema";
CREATE TABLE "odd schema"."odd ""table" ("the key" varchar(9), "part" date, "copy" text[], "at" numeric, note json, PRIMARY KEY ("the key", "part"));
INSERT INTO "odd schema"."odd ""table" SELECT 'k''"\' || n, date '2026-01-01' + n, CASE WHEN n % 3 = 0 THEN '{}' WHEN n % 3 = 1 THEN ARRAY['x''"\'] ELSE '{x,y}' END, n % 3 + 0.50, '{}'
  FROM generate_series(1, 40) n;
SELECT * FROM mended('"odd schema"."odd ""table"', '{"the key": "ignore", "part": "ignore", "note": "ignore", "at": {"likelihood": 1, "danger": 0, "width": 1}, "copy": "sensitive"}');
SELECT "copy", "at", count(*) FROM "odd schema"."odd ""table" GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TABLE keyless AS SELECT "copy", "at", note FROM "odd schema"."odd ""table";
UPDATE keyless SET "copy" = ARRAY['x''"\', 'z'] WHERE "at" < 2;
SELECT * FROM mended('keyless', '{"note": "ignore", "at": "quasi", "copy": "sensitive"}');
CREATE TABLE split (n int, zip int, ill text) PARTITION BY LIST (n);
CREATE TABLE split_1 PARTITION OF split FOR VALUES IN (1);
CREATE TABLE split_2 PARTITION OF split FOR VALUES IN (2);
INSERT INTO split SELECT 1 + n % 2, n % 5, 'ill ' || n % 5 FROM generate_series(1, 30) n;
SELECT * FROM mended('split', '{"n": "ignore", "zip": "quasi", "ill": "sensitive"}');
CREATE TABLE parent (id int PRIMARY KEY, zip int, ill text);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT n, n, 'ill' FROM generate_series(1, 3) n;
INSERT INTO child SELECT n, 1, 'well' FROM generate_series(1, 3) n;
SELECT * FROM mended('parent', '{"id": "ignore", "zip": "quasi", "ill": "sensitive"}');
-- A key need not be the primary one, but must be readable.
CREATE TABLE guarded (id uuid NOT NULL UNIQUE, zip int, ill text);
INSERT INTO guarded SELECT md5(n::text)::uuid, n % 4, 'ill ' || n % 3 FROM generate_series(1, 6) n;
SELECT statement FROM disclosure.remedies('guarded', labels => '{"id": "ignore", "zip": "quasi", "ill": "sensitive"}') WHERE step IS NULL;
CREATE ROLE reader_of_remedies;
GRANT SELECT (zip, ill) ON guarded TO reader_of_remedies;
GRANT USAGE ON SCHEMA disclosure TO reader_of_remedies;
SET ROLE reader_of_remedies;
SELECT statement FROM disclosure.remedies('guarded', '{zip,ill}', labels => '{"zip": "quasi", "ill": "sensitive"}') WHERE step IS NULL;
RESET ROLE;
SELECT * FROM mended('guarded', '{"zip": "quasi", "ill": "sensitive"}', columns => '{zip,ill}');
-- What is said: limits, columns in which NULL is a value, views, NOT NULL.
CREATE TABLE wards (ward int NOT NULL, diagnosis text);
INSERT INTO wards VALUES (1, 'flu'), (1, 'flu'), (2, 'hiv'), (2, 'flu'), (2, NULL);
SELECT step, at_or_above, ended_by, statement FROM disclosure.remedies('wards', labels => '{"ward": "quasi", "diagnosis": "sensitive"}', max_rows => 1);
SELECT step, column_name, at_or_above, ended_by, statement FROM disclosure.remedies('wards', labels => '{"ward": "quasi", "diagnosis": "sensitive nulls=value"}');
SELECT step, at_or_above, ended_by, statement FROM disclosure.remedies('wards', '{diagnosis}', labels => '{"diagnosis": "sensitive nulls=value"}', min_confidence => 0.6, threshold => 0.3);
SELECT ended_by, exact FROM disclosure.remedies('wards', labels => '{"ward": "quasi", "diagnosis": "sensitive"}', budget => '0 s');
CREATE VIEW wards_view AS TABLE wards;
SELECT step, column_name, ended_by, statement FROM disclosure.remedies('wards_view', labels => '{"ward": "quasi", "diagnosis": "sensitive"}');

-- Nothing to do.
CREATE TABLE none (a int);
SELECT * FROM disclosure.decoys('none');
SELECT step, at_or_above, maximum, average, cells_changed, information_lost, ended_by, statement FROM disclosure.remedies('none');

-- Bad input.
SELECT * FROM disclosure.decoys('patients', max_rows => -1);
SELECT * FROM disclosure.decoys('patients', max_rows => NULL);
SELECT * FROM disclosure.decoys('patients', method => 'compleet');
-- Literals of keys and of array elements do not depend on settings: the statement finds its rows in any session.
CREATE TABLE exact_keys (id float8 PRIMARY KEY, born date[], ill text);
INSERT INTO exact_keys VALUES (0.1::float8 + 0.2, '{2020-02-03}', 'hiv'), (0.3, '{2020-03-02}', 'flu');
CREATE TABLE dated_keys (id timestamptz PRIMARY KEY, zip text, ill text);
INSERT INTO dated_keys VALUES ('2020-02-03 04:05:06+00', '1', 'hiv'), ('2020-03-02 04:05:06+00', '2', 'hiv'), ('2020-03-03 04:05:06+00', '2', 'flu');
SET extra_float_digits = -15;
SET DateStyle = 'SQL, DMY';
SELECT statement FROM disclosure.remedies('exact_keys', labels => '{"id": "identifier", "born": "ignore", "ill": "sensitive"}', threshold => 0.01, min_confidence => 0.4) WHERE step IS NULL \gset
SELECT statement FROM disclosure.remedies('exact_keys', labels => '{"id": "identifier", "born": "sensitive", "ill": "ignore"}', threshold => 0.01, min_confidence => 0.4) WHERE step IS NULL;
SELECT statement AS dated FROM disclosure.remedies('dated_keys', labels => '{"id": "identifier", "zip": "quasi", "ill": "sensitive"}') WHERE step IS NULL \gset
RESET extra_float_digits;
RESET DateStyle;
\echo :statement
:statement
\echo :dated
:dated
SELECT count(ill) AS left_over FROM exact_keys;
SELECT zip, ill FROM dated_keys ORDER BY id;
-- An array that is NULL, where NULL is a value, is null in the record.
CREATE TABLE null_arrays (zip text, facts text[]);
INSERT INTO null_arrays VALUES ('1', NULL), ('2', '{p}'), ('2', NULL);
SELECT step, record, column_name, ended_by FROM disclosure.remedies('null_arrays', labels => '{"zip": "quasi", "facts": "sensitive nulls=value"}');
-- A generated column cannot be set.
CREATE TABLE computed (zip text, ill text GENERATED ALWAYS AS (zip || '!') STORED);
INSERT INTO computed VALUES ('1'), ('2');
SELECT ended_by FROM disclosure.remedies('computed', labels => '{"zip": "quasi", "ill": "sensitive"}') WHERE step IS NULL;
SELECT * FROM disclosure.remedies('patients', threshold => 0);
SELECT * FROM disclosure.remedies('patients', threshold => 1.1);
SELECT * FROM disclosure.remedies('patients', max_rows => 0);
SELECT * FROM disclosure.remedies('patients', min_confidence => 0);
