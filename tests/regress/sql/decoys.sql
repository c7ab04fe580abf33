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

SELECT * FROM disclosure.remedies('patients', threshold => 0.5);
-- Applied one by one to a copy.
CREATE TABLE cleaned (LIKE patients);
INSERT INTO cleaned TABLE patients;
DO $$
DECLARE remedy record;
BEGIN
  FOR remedy IN SELECT * FROM disclosure.remedies('patients', threshold => 0.5) ORDER BY step LOOP
    EXECUTE format('UPDATE cleaned SET %I = NULL WHERE id = (SELECT min(id) FROM cleaned c WHERE jsonb_strip_nulls(to_jsonb(c) - ''id'' || jsonb_build_object(''smoker'', nullif(smoker, false))) = $1)', remedy.column_name) USING remedy.record;
  END LOOP;
END $$;
SELECT * FROM cleaned ORDER BY id;
SELECT maximum, at_or_above FROM disclosure.privacy_summary('cleaned', threshold => 0.5, labels => '{"id": "ignore", "zip": "quasi", "sex": "quasi", "smoker": "quasi", "tags": "quasi", "diagnosis": "sensitive"}');
SELECT count(*) FROM disclosure.remedies('patients', threshold => 0.6);
SELECT count(*) FROM disclosure.remedies('patients', threshold => 0.5, max_rows => 1);
SELECT count(*) FROM disclosure.remedies('patients', threshold => 0.3, min_confidence => 0.6);

-- Nothing to do.
CREATE TABLE none (a int);
SELECT * FROM disclosure.decoys('none');
SELECT * FROM disclosure.remedies('none');

-- Bad input.
SELECT * FROM disclosure.decoys('patients', max_rows => -1);
SELECT * FROM disclosure.decoys('patients', max_rows => NULL);
SELECT * FROM disclosure.remedies('patients', threshold => 0);
SELECT * FROM disclosure.remedies('patients', threshold => 1.1);
SELECT * FROM disclosure.remedies('patients', max_rows => 0);
