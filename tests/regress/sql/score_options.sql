-- Options of the privacy score: NULL in sensitive columns, joint confidence, common values, parts of values, danger by value.
\pset null '(null)'
SET client_min_messages = warning;
CREATE TABLE patients (id int, zip text, sex text, email text, diagnosis text, smoker boolean);
INSERT INTO patients VALUES
  (1, '90210', 'f', 'ann@clinic.org', 'hiv', true), (2, '90210', 'f', 'bea@clinic.org', NULL, NULL),
  (3, '90211', 'm', 'cem@school.edu', 'flu', false), (4, '90211', 'm', 'dan@school.edu', 'flu', NULL),
  (5, '90212', 'm', 'eva@school.edu', NULL, true), (6, '80000', 'm', 'fay', NULL, false);
SELECT disclosure.label_columns('patients', identifier => '{id}', quasi => '{zip,sex}', sensitive => '{diagnosis}', ignore => '{email,smoker}');
RESET client_min_messages;

-- What NULL means, by each of the five measures.
CREATE VIEW by_meaning AS
  SELECT id, disclosure.privacy_score(p) OVER () AS by_default,
         disclosure.privacy_score(p, sensitive_nulls => 'absent') OVER () AS absent,
         disclosure.privacy_score(p, sensitive_nulls => 'value') OVER () AS value,
         disclosure.privacy_score(p, sensitive_nulls => 'unknown') OVER () AS unknown FROM patients p;
SELECT * FROM by_meaning ORDER BY id;
SELECT id, disclosure.privacy_inference(p, sensitive_nulls => 'value') OVER () ->> 'inference' AS value,
       disclosure.privacy_inference(p, sensitive_nulls => 'unknown') OVER () - 'score' - 'danger' - 'likelihood' AS unknown FROM patients p ORDER BY id;
SELECT id, (disclosure.privacy_risk(p, sensitive_nulls => 'unknown') OVER ()).* FROM patients p ORDER BY id;
SELECT meaning, s.average, s.at_or_above FROM unnest(enum_range(NULL::disclosure.sensitive_null_treatment)) meaning, disclosure.privacy_summary('patients', sensitive_nulls => meaning) s;
SELECT meaning, i.* FROM unnest(enum_range(NULL::disclosure.sensitive_null_treatment)) meaning, disclosure.inferences('patients', sensitive_nulls => meaning) i;
-- The share is taken over the rows whose value is known; the support over all.
SELECT known, inferred, support, confidence FROM disclosure.inferences('patients', columns => '{sex,diagnosis}', min_confidence => 0.4);
SELECT known, inferred, support, confidence FROM disclosure.inferences('patients', columns => '{sex,diagnosis}', min_confidence => 0.4, sensitive_nulls => 'unknown');
-- In a boolean column false is known, NULL is not.
SELECT known, inferred, support, confidence FROM disclosure.inferences('patients', columns => '{sex,smoker}', labels => '{"smoker": "sensitive"}', min_confidence => 0.3, sensitive_nulls => 'value');
SELECT known, inferred, support, confidence FROM disclosure.inferences('patients', columns => '{sex,smoker}', labels => '{"smoker": "sensitive"}', min_confidence => 0.3, sensitive_nulls => 'unknown');
-- The policy measures as 'unknown' does.
SELECT bool_and(policy = unknown) AS same
  FROM (SELECT id, disclosure_internal.policy_score(p, NULL, 0.6) OVER () AS policy,
               disclosure.privacy_score(p, min_confidence => 0.6, sensitive_nulls => 'unknown') OVER () AS unknown FROM patients p) s;
-- A label that says what NULL means takes precedence; so does the argument labels.
BEGIN;
SELECT disclosure.label_column('patients', 'diagnosis', 'sensitive nulls=value');
SELECT * FROM by_meaning ORDER BY id;
ROLLBACK;
SELECT id, disclosure.privacy_score(p, labels => '{"diagnosis": "sensitive nulls=value"}') OVER () AS by_label,
       disclosure.privacy_score(p, labels => '{"diagnosis": {"nulls": "value"}}') OVER () AS by_setting FROM patients p ORDER BY id;
-- NULL in a quasi-identifier stays absent.
SELECT id, disclosure.privacy_inference(q, sensitive_nulls => 'value', labels => '{"id": "ignore", "a": "quasi", "b": "sensitive"}') OVER () ->> 'inference' AS inference
  FROM (VALUES (1, NULL, 'x'), (2, 'v', 'y'), (3, 'v', 'y')) q (id, a, b) ORDER BY id;
-- A row against a table: NULL is a value if the label says so.
CREATE TABLE slim AS SELECT zip, diagnosis FROM patients;
SELECT disclosure.label_columns('slim', quasi => '{zip}', sensitive => '{diagnosis}');
SELECT disclosure.privacy_score(ROW('80000', NULL::text), relation => 'slim');
SELECT disclosure.label_column('slim', 'diagnosis', 'sensitive nulls=value');
SELECT disclosure.privacy_score(ROW('80000', NULL::text), relation => 'slim'), disclosure.privacy_score(ROW('90210', NULL::text), relation => 'slim');

-- Joint confidence. One attribute in 95 of 100 rows: 0.95 / 1.95 and 0.95 / 2.
CREATE TABLE wards AS SELECT 'w' AS ward, CASE WHEN i <= 95 THEN 'hiv' ELSE i::text END AS diagnosis, CASE WHEN i > 5 THEN 'yes' ELSE i::text END AS smoker FROM generate_series(1, 100) i;
SELECT disclosure.label_columns('wards', quasi => '{ward}', sensitive => '{diagnosis,smoker}');
SELECT joint, round(s.maximum::numeric, 4) AS maximum FROM unnest('{f,t}'::boolean[]) joint, disclosure.privacy_summary('wards', columns => '{ward,diagnosis}', min_confidence => 0.5, joint_confidence => joint) s;
SELECT joint, known, inferred, support, confidence, danger, weight FROM unnest('{f,t}'::boolean[]) joint, disclosure.inferences('wards', min_confidence => 0.5, joint_confidence => joint, max_rows => 1) s;
SELECT DISTINCT disclosure.privacy_inference(w, min_confidence => 0.5, joint_confidence => true) OVER () AS inference FROM wards w WHERE smoker = 'yes' AND diagnosis = 'hiv';
SELECT DISTINCT (disclosure.privacy_risk(w, min_confidence => 0.5, joint_confidence => true) OVER ()).* FROM wards w ORDER BY 1 DESC LIMIT 1;

-- What nearly everybody has tells little about anybody.
SELECT DISTINCT diagnosis, disclosure.privacy_score(w, labels => '{"smoker": "ignore"}', min_confidence => 0.5) OVER () AS plain,
       disclosure.privacy_score(w, labels => '{"smoker": "ignore"}', min_confidence => 0.5, discount_common => true) OVER () AS discounted FROM wards w ORDER BY 1 DESC LIMIT 1;
SELECT id, disclosure.privacy_score(p) OVER () AS plain, round(disclosure.privacy_score(p, discount_common => true) OVER ()::numeric, 6) AS discounted FROM patients p ORDER BY id;
SELECT known, inferred, danger FROM disclosure.inferences('patients', discount_common => true, sensitive_nulls => 'value');

-- Known attributes are as few as possible: c2=n without c1.
CREATE TABLE few (c0 boolean, c1 text, c2 text);
INSERT INTO few VALUES (true, NULL, NULL), (NULL, 'v0', 'p'), (false, 'v0', 'p'), (true, 'v0', 'p'), (true, 'v0', 'n'), (true, 'v0', 'n'),
  (true, 'v0', 'p'), (true, 'v0', NULL), (false, NULL, 'p'), (true, 'v0', NULL);
SELECT DISTINCT c2, disclosure.privacy_inference(t, labels => '{"c0": {"likelihood": 0.14, "danger": 0.18}, "c1": "quasi", "c2": {"danger": 1}}', min_confidence => 0.6) OVER () ->> 'inference' AS inference FROM few t ORDER BY 1, 2;
SELECT (risk).* FROM (SELECT disclosure.privacy_risk(p) OVER () AS risk FROM patients p) r ORDER BY (risk).privacy_score DESC, (risk).known_facts, (risk).support;
SELECT (disclosure.privacy_risk(p, budget => '0 s') OVER ()).privacy_score FROM patients p ORDER BY 1 DESC LIMIT 1;

-- Parts of values.
SELECT known, inferred, support FROM disclosure.inferences('patients', columns => '{zip,sex,diagnosis}', labels => '{"zip": {"prefixes": [3, 2, 2]}}', sensitive_nulls => 'unknown');
SELECT id, disclosure.privacy_inference(p, labels => '{"zip": "ignore", "sex": "ignore", "email": {"likelihood": {"*": 0.1, "clinic.org": 1, "school.edu": 0.9}, "danger": 0, "pattern": "@(.*)$"}}', sensitive_nulls => 'unknown') OVER () ->> 'inference' AS inference FROM patients p ORDER BY id;
SELECT known, inferred, weight FROM disclosure.inferences('patients', columns => '{zip,diagnosis}', labels => '{"diagnosis": {"prefixes": [1], "danger": {"*": 0, "h*": 0.5}}}', sensitive_nulls => 'unknown');
-- Without labels, whoever knows a value does not thereby infer its parts.
SELECT disclosure.privacy_score(q, labels => '{"a": {"prefixes": [1]}}') OVER () FROM (VALUES ('xy'), ('xz')) q (a);
-- The same as columns of their own.
SELECT id, disclosure.privacy_score(p, labels => '{"zip": {"prefixes": [2, 4], "likelihood": {"*": 0.5, "90*": 0.9, "9021*": 0.8}}}') OVER () AS by_parts,
       disclosure.privacy_score(ROW(zip, left(zip, 2), left(zip, 4), sex, diagnosis), labels => '{"1": {"likelihood": 0.5, "danger": 0}, "2": {"likelihood": {"*": 0.5, "90": 0.9}, "danger": 0}, "3": {"likelihood": {"*": 0.5, "9021": 0.8}, "danger": 0}, "4": "quasi", "5": "sensitive"}') OVER () AS by_columns
  FROM patients p ORDER BY id;
-- Characters, not bytes; values that are shorter have no such prefix; domains and other types of text.
CREATE DOMAIN code AS varchar(9);
SELECT n, disclosure.privacy_inference(q, labels => '{"n": "ignore", "a": {"prefixes": [2], "likelihood": {"*": 0.5, "äß*": 1}, "danger": 0}, "b": "sensitive"}') OVER () ->> 'inference' AS inference
  FROM (VALUES (1, 'äßc'::code, 'x'), (2, 'äßd', 'x'), (3, 'ä', 'y'), (4, '', 'z'), (5, NULL, 'z')) q (n, a, b) ORDER BY n;

-- Danger by value in a label.
SELECT disclosure.label_column('patients', 'diagnosis', 'Sensitive danger = {"hiv": 1, "*": 0.25}');
SELECT label, likelihood, danger FROM disclosure.labels WHERE relation = 'patients'::regclass AND column_name = 'diagnosis';
SELECT id, disclosure.privacy_score(p) OVER () AS by_label, disclosure.privacy_score(p, labels => '{"diagnosis": {"likelihood": 0, "danger": {"hiv": 1, "*": 0.25}}}') OVER () AS by_argument,
       disclosure.privacy_score(p, labels => '{"diagnosis": {"danger": {"flu": 0.5}}}') OVER () AS added FROM patients p ORDER BY id;
CREATE VIEW through AS SELECT zip, sex, diagnosis AS illness FROM patients;
SELECT average FROM disclosure.privacy_summary('through');
CREATE TABLE copied AS SELECT * FROM through;
SELECT disclosure.copy_labels('through', 'copied');
SELECT column_name, label FROM disclosure.labels WHERE relation = 'copied'::regclass ORDER BY 1;
SELECT disclosure.risk_view('patients', 'narrow_risk', columns => '{zip,diagnosis}', labels => '{"diagnosis": {"danger": {"flu": 0.5}}}');
SELECT id, privacy_score, known_facts, support FROM narrow_risk ORDER BY id;
-- To a policy, all values are as harmful as the worst.
SELECT id, disclosure_internal.policy_score(p, NULL, 1) OVER () AS policy FROM patients p ORDER BY id;

-- Errors name the argument, and no value.
SELECT disclosure.privacy_score(p, sensitive_nulls => NULL) OVER () FROM patients p;
SELECT disclosure.privacy_score(p, sensitive_nulls => 'none') OVER () FROM patients p;
SELECT disclosure.privacy_inference(p, joint_confidence => NULL) OVER () FROM patients p;
SELECT disclosure.privacy_risk(p, discount_common => NULL) OVER () FROM patients p;
SELECT * FROM disclosure.privacy_summary('patients', sensitive_nulls => NULL);
SELECT * FROM disclosure.inferences('patients', discount_common => NULL);
\set VERBOSITY terse
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"prefixes": []}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"prefixes": 2}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"prefixes": [1, 1001]}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"prefixes": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"smoker": {"prefixes": [1]}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"pattern": "(90"}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"pattern": 90}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"zip": {"prefix": [1]}}');
SELECT * FROM disclosure.privacy_summary('patients', labels => '{"diagnosis": {"nulls": "unknown"}}');
SELECT * FROM disclosure.remedies('patients', labels => '{"zip": {"prefixes": [1]}}');
SELECT disclosure.privacy_score(ROW('80000', 'flu'), relation => 'slim', labels => '{"zip": {"prefixes": [1]}}');
SELECT disclosure.label_column('patients', 'diagnosis', 'sensitive danger={"secret": 2}');
SELECT disclosure.label_column('patients', 'diagnosis', 'quasi danger={"secret": 1}');
