-- The privacy score: values by hand and from the thesis' examples, every kind of column, plain SQL as the judge.
\pset null '(null)'

CREATE TABLE patients (id int, zip text, sex text, smoker boolean, diagnosis text);
INSERT INTO patients VALUES
  (1, '90210', 'f', true, 'hiv'), (2, '90210', 'f', false, 'hiv'), (3, '90210', 'm', NULL, 'flu'),
  (4, '90211', 'm', true, 'flu'), (5, '90211', 'm', true, 'asthma'), (6, '90211', NULL, true, 'flu');

-- Without labels everything may be known and everything hurts; an id then gives everything away.
SELECT p.*, disclosure.privacy_score(p) OVER () FROM patients p ORDER BY id;
SELECT disclosure.label_column('patients', 'id', 'identifier'), disclosure.label_column('patients', 'diagnosis', 'sensitive');
SELECT disclosure.label_column('patients', column_name, 'quasi') FROM unnest(ARRAY['zip', 'sex', 'smoker']) AS column_name;
SELECT id, disclosure.privacy_score(p) OVER (), disclosure.privacy_inference(p) OVER () ->> 'inference' AS inference FROM patients p ORDER BY id;
SELECT jsonb_pretty(disclosure.privacy_inference(p) OVER ()) FROM patients p LIMIT 1;
SELECT id, disclosure.privacy_score(ROW(zip, sex, diagnosis)) OVER (PARTITION BY smoker) FROM patients ORDER BY id;
SELECT id, disclosure.privacy_score(p, labels => '{"zip": {"likelihood": 0.9, "danger": 0}, "diagnosis": {"likelihood": 0, "danger": {"hiv": 1, "*": 0.3}}}') OVER () FROM patients p ORDER BY id;
SELECT id, disclosure.privacy_inference(p, min_confidence => 0.6) OVER () ->> 'inference' AS inference, disclosure.privacy_inference(p, min_confidence => 0.6) OVER () ->> 'confidence' AS confidence FROM patients p ORDER BY id;
SELECT * FROM disclosure.privacy_summary('patients', threshold => 0.5);
SELECT * FROM disclosure.privacy_summary('patients', columns => ARRAY['zip', 'diagnosis']);
SELECT * FROM disclosure.privacy_summary('patients', constant => 0.1);
SELECT * FROM disclosure.inferences('patients', min_weight => 0.2, min_confidence => 0.6) ORDER BY weight DESC, known LIMIT 20;
SELECT * FROM disclosure.inferences('patients', max_rows => 2);
SELECT * FROM disclosure.holes('patients', max_size => 4);
SELECT * FROM disclosure.holes('patients', columns => ARRAY['zip', 'sex', 'diagnosis'], max_size => 2);

-- ROW(…) has no names: attributes and weights go by position.
SELECT id, disclosure.privacy_inference(ROW(sex, diagnosis), labels => '{"1": "quasi", "f2": "sensitive"}') OVER () ->> 'inference' AS inference FROM patients ORDER BY id;
SELECT DISTINCT disclosure.privacy_inference(q) OVER () -> 'known' AS known FROM (SELECT zip AS area FROM patients WHERE id = 4) q;

-- The examples of GOLDEN.md, sets as arrays and as booleans.
CREATE TABLE sets (n int, s text[]);
INSERT INTO sets VALUES (1, '{a,b,c,d}'), (2, '{a,b,c,e}'), (3, '{a,b,c,f}'), (4, '{a,b,d,e}'), (5, '{a,b}');
SELECT n, disclosure.privacy_score(ROW(s)) OVER () FROM sets ORDER BY n;
SELECT n, disclosure.privacy_inference(ROW(s)) OVER () ->> 'inference' AS inference FROM sets ORDER BY n;
TRUNCATE sets;
INSERT INTO sets VALUES (1, '{a,b,c,d}'), (2, '{e,a,b,c,a}'), (3, '{a,b,f,g,NULL}'), (4, '{{b,c},{f,g}}');
SELECT n, disclosure.privacy_score(ROW(s)) OVER () FROM sets ORDER BY n;
\set weights '{"s": {"likelihood": {"a": 0.9, "b": 0.5, "c": 0.8, "d": 0.2, "e": 0.7, "f": 0.3, "g": 0.6}, "danger": {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.9, "e": 0.5, "f": 0.8, "g": 0.3}}, "n": "ignore"}'
SELECT n, round(disclosure.privacy_score(t, labels => :'weights') OVER ()::numeric, 9) AS score, disclosure.privacy_inference(t, labels => :'weights') OVER () ->> 'inference' AS inference FROM sets t ORDER BY n;
CREATE VIEW flags AS SELECT n, 'a' = ANY (s) AS a, 'b' = ANY (s) AS b, 'c' = ANY (s) AS c, 'd' = ANY (s) AS d, 'e' = ANY (s) AS e, 'f' = ANY (s) AS f, 'g' = ANY (s) AS g FROM sets;
SELECT n, disclosure.privacy_score(t, labels => '{"n": "ignore"}') OVER () FROM flags t ORDER BY n;

-- Bins.
CREATE TABLE measured (age int, seen date, amount numeric);
INSERT INTO measured VALUES (21, '2026-01-01', 0.5), (24, '2026-01-03', 0.7), (29, '2026-02-01', 1.5), (35, '2026-02-02', 1.7), (NULL, NULL, 'NaN');
SELECT DISTINCT unnest(known || inferred) AS attribute FROM disclosure.inferences('measured', labels => '{"age": {"width": 10}, "seen": {"width": 31}, "amount": {"bins": 2}}') ORDER BY 1;
SELECT * FROM disclosure.privacy_summary('measured', labels => '{"age": {"width": 10, "danger": 0}, "seen": "ignore", "amount": {"bins": 1, "likelihood": 0}}');

-- Nothing, one row, only NULL, only equal rows, no column that takes part.
CREATE TABLE few (a int, b text);
SELECT disclosure.privacy_score(f) OVER () FROM few f;
SELECT * FROM disclosure.privacy_summary('few');
SELECT * FROM disclosure.inferences('few');
SELECT * FROM disclosure.holes('few');
INSERT INTO few VALUES (NULL, NULL), (NULL, NULL);
SELECT disclosure.privacy_score(f) OVER () FROM few f;
SELECT disclosure.privacy_score(NULL::few) OVER (), disclosure.privacy_score(NULL::record) OVER () FROM few;
SELECT disclosure.privacy_inference(f) OVER () FROM few f LIMIT 1;
INSERT INTO few VALUES (1, 'x');
SELECT disclosure.privacy_score(f) OVER (), disclosure.privacy_inference(f) OVER () ->> 'inference' AS inference FROM few f WHERE a = 1;
INSERT INTO few SELECT 1, 'x' FROM generate_series(1, 9);
SELECT DISTINCT disclosure.privacy_score(f) OVER (), disclosure.privacy_inference(f) OVER () -> 'support' AS support FROM few f WHERE a = 1;
SELECT * FROM disclosure.privacy_summary('few', labels => '{"a": "ignore", "b": "identifier"}');

-- Odd names.
CREATE TABLE "Odd ""Table""" ("Key Col" int, "sélect" text, "a=b" text);
INSERT INTO "Odd ""Table""" VALUES (1, 'é', 'x & y'), (2, 'é', 'z');
SELECT * FROM disclosure.inferences('"Odd ""Table"""', labels => '{"Key Col": "quasi", "a=b": "sensitive", "sélect": "sensitive"}');
SELECT disclosure.privacy_score(o, '"Odd ""Table"""'::regclass) FROM "Odd ""Table""" o;

-- Plain SQL as the judge: every subset of four columns of every row, by the definition.
SELECT setseed(0.2021);
CREATE TABLE drawn AS
SELECT i, (random() * 3)::int AS a, nullif((random() * 3)::int, 0)::text AS b, (random() * 2)::int AS c, (random() * 2)::numeric(2, 0) AS d
  FROM generate_series(1, 250) i;
CREATE VIEW judged AS
WITH weights (l, d) AS (VALUES (ARRAY[0.9, 0.5, 1, 0.3]::float8[], ARRAY[0.2, 0.6, 0, 0.9]::float8[])),
cells AS (SELECT i, ARRAY[a::text, b, c::text, d::text] AS v FROM drawn),
known AS (SELECT i, v, k FROM cells, LATERAL (SELECT array_agg(n) FILTER (WHERE m >> (n - 1) & 1 = 1) AS k FROM generate_series(0, 15) m, generate_series(1, 4) n GROUP BY m) s
           WHERE NOT EXISTS (SELECT FROM unnest(k) n WHERE v[n] IS NULL)),
weighed AS (
  SELECT i, (SELECT coalesce(exp(sum(ln(l[n]))), 1) FROM unnest(k) n) AS likelihood,
         (SELECT coalesce(sum(d[n]), 0) FROM generate_series(1, 4) n
           WHERE n <> ALL (coalesce(k, '{}')) AND v[n] IS NOT NULL
             AND NOT EXISTS (SELECT FROM cells o WHERE NOT EXISTS (SELECT FROM unnest(k) m WHERE o.v[m] IS DISTINCT FROM known.v[m]) AND o.v[n] IS DISTINCT FROM known.v[n])) AS danger
    FROM known, weights)
SELECT i, max(likelihood * danger / (1 + danger)) AS score FROM weighed GROUP BY i;
\set weights '{"i": "ignore", "a": "likelihood=0.9 danger=0.2", "b": "likelihood=0.5 danger=0.6", "c": "likelihood=1 danger=0", "d": "likelihood=0.3 danger=0.9"}'
WITH ours AS (SELECT i, disclosure.privacy_score(t, labels => :'weights') OVER () AS score FROM drawn t),
     one_by_one AS (SELECT i, disclosure.privacy_score(t, 'drawn'::regclass, labels => :'weights') AS score FROM drawn t)
SELECT count(*) AS rows, count(DISTINCT round(o.score::numeric, 9)) > 5 AS many_scores,
       count(*) FILTER (WHERE abs(o.score - j.score) < 1e-9) AS as_judged, count(*) FILTER (WHERE abs(o.score - b.score) < 1e-9) AS one_by_one
  FROM ours o JOIN judged j USING (i) JOIN one_by_one b USING (i);

-- A budget that is not enough gives bounds, and says so once.
SELECT count(*) > 0 AS some, bool_and(score BETWEEN 0 AND 1) AS in_range
  FROM (SELECT disclosure.privacy_score(t, budget => '0') OVER (PARTITION BY c) AS score FROM drawn t) w;
SELECT exact, lower < upper AS bounded, average = upper AS on_the_safe_side FROM disclosure.privacy_summary('drawn', budget => '0');
SET disclosure.budget = 0;
SELECT exact FROM disclosure.privacy_summary('drawn');
SELECT count(*) FROM disclosure.inferences('drawn', budget => '0');
RESET disclosure.budget;
SELECT exact FROM disclosure.privacy_summary('drawn');

-- The same with one thread and with several.
SET disclosure.threads = 1;
CREATE TEMP TABLE alone AS SELECT i, disclosure.privacy_score(t) OVER () AS score FROM drawn t;
SET disclosure.threads = 3;
SELECT count(*) AS differing FROM alone JOIN (SELECT i, disclosure.privacy_score(t) OVER () AS score FROM drawn t) t USING (i) WHERE alone.score <> t.score;
RESET disclosure.threads;

-- In policies NULL is unknown: the share is taken over the other rows. In each ward all 50 diagnoses are the same, but one is NULL.
CREATE TABLE wards AS
  SELECT i, 1 + i % 20 AS ward, CASE WHEN i / 20 <> 7 THEN (ARRAY['flu','hiv','asthma'])[1 + i % 20 % 3] END AS diagnosis
    FROM generate_series(0, 999) AS i;
CREATE FUNCTION scored(labels jsonb, min_confidence float8, OUT as_measure float8, OUT in_policy float8) LANGUAGE sql AS $$
  SELECT max(a), max(b)
    FROM (SELECT disclosure.privacy_score(w, labels => labels #- '{diagnosis,nulls}', min_confidence => min_confidence) OVER () AS a,
                 disclosure_internal.policy_score(w, labels, min_confidence) OVER () AS b
            FROM (SELECT ward, diagnosis FROM wards) AS w) AS scored
$$;
SELECT * FROM scored('{"ward": {"likelihood": 1, "danger": 0}, "diagnosis": {"likelihood": 0, "danger": 1}}', 1);
SELECT * FROM scored('{"ward": {"likelihood": 1, "danger": 0}, "diagnosis": {"likelihood": 0, "danger": 1}}', 0.9);
SELECT * FROM scored('{"ward": {"likelihood": 1, "danger": 0}, "diagnosis": {"likelihood": 0, "danger": 1, "nulls": "value"}}', 0.9);
SELECT * FROM scored('{"ward": "quasi", "diagnosis": "sensitive nulls=value"}', 0.8);
UPDATE wards SET diagnosis = NULL WHERE i / 20 % 2 = 0;
SELECT * FROM scored('{"ward": "quasi", "diagnosis": "sensitive"}', 0.9);
UPDATE wards SET diagnosis = NULL;
SELECT * FROM scored('{"ward": "quasi", "diagnosis": "sensitive"}', 0.9);
SELECT * FROM scored('{"ward": "quasi", "diagnosis": "sensitive nulls=value"}', 0.9);
-- A boolean that is false and an array without the element are known; NULL is not.
SELECT DISTINCT disclosure_internal.policy_score(t, '{"smoker": "sensitive"}', 0.9) OVER () AS smoker
  FROM (SELECT CASE WHEN i <= 8 THEN true END AS smoker FROM generate_series(1, 10) AS i) AS t ORDER BY 1;
SELECT DISTINCT disclosure_internal.policy_score(t, '{"smoker": "sensitive"}', 0.9) OVER () AS smoker
  FROM (SELECT i <= 8 AS smoker FROM generate_series(1, 10) AS i) AS t ORDER BY 1;
SELECT DISTINCT disclosure_internal.policy_score(t, '{"drugs": "sensitive"}', 0.9) OVER () AS drugs
  FROM (SELECT CASE WHEN i <= 8 THEN '{x}'::text[] END AS drugs FROM generate_series(1, 10) AS i) AS t ORDER BY 1;
SELECT DISTINCT disclosure_internal.policy_score(t, '{"drugs": "sensitive"}', 0.9) OVER () AS drugs
  FROM (SELECT CASE WHEN i <= 8 THEN '{x}'::text[] ELSE '{}' END AS drugs FROM generate_series(1, 10) AS i) AS t ORDER BY 1;
SELECT DISTINCT disclosure_internal.policy_score(t, '{"drugs": {"likelihood": 0, "danger": 1, "nulls": "value"}}', 0.9) OVER () AS drugs
  FROM (SELECT CASE WHEN i <= 8 THEN '{x}'::text[] END AS drugs FROM generate_series(1, 10) AS i) AS t ORDER BY 1;
-- The labels of a relation count. Nobody is told about columns without one, or about the budget.
SELECT disclosure.label_column('wards', 'i', 'ignore'), disclosure.label_column('wards', 'diagnosis', 'sensitive nulls=value');
SELECT DISTINCT disclosure_internal.policy_score(w, NULL, 0.9) OVER () FROM wards AS w;
SELECT DISTINCT disclosure.privacy_score(w, min_confidence => 0.9) OVER () FROM wards AS w;
SET disclosure.budget = 0;
SELECT max(score) FROM (SELECT disclosure_internal.policy_score(t, NULL, 0.9) OVER () AS score FROM drawn AS t) AS scored;
RESET disclosure.budget;
SELECT disclosure_internal.policy_score(w, NULL, 0) OVER () FROM wards AS w;
SELECT disclosure_internal.policy_score(w, '{"ward": {"nulls": "absent"}}', 0.9) OVER () FROM wards AS w;
SELECT disclosure.privacy_score(w, labels => '{"ward": {"nulls": "absent"}}') OVER () FROM wards AS w;

-- Inferences about most people: three visits of one person count once, two visits of nobody in particular twice.
CREATE TABLE visits (patient int, hospital int, zip text, city text, age int, diagnosis text);
INSERT INTO visits VALUES
  (1, 1, '1000', 'Bern', 40, 'flu'), (1, 1, '1000', 'Bern', 40, 'flu'), (1, 1, '1000', 'Bern', 41, 'flu'), (2, 1, '1000', 'Bern', 41, 'flu'),
  (1, 2, '2000', 'Biel', 40, 'flu'), (2, 2, '2000', 'Biel', 40, 'hiv'), (3, 2, '2000', 'Biel', 50, 'hiv'),
  (NULL, NULL, '2000', 'Biel', 50, 'hiv'), (NULL, NULL, '2000', 'Biel', 50, 'hiv'), (NULL, 2, '3000', 'Thun', 60, NULL);
SELECT disclosure.label_columns('visits', person => '{patient,hospital}', quasi => '{zip,city,age}', sensitive => '{diagnosis}');
SELECT known, inferred, support, people, weight FROM disclosure.inferences('visits', order_by => 'people');
SELECT known, inferred, support, people FROM disclosure.inferences('visits');
-- Rows are counted if there is no person; the person need not be among the columns.
SELECT known, support, people FROM disclosure.inferences('visits', labels => '{"patient": "ignore", "hospital": "ignore"}', order_by => 'people');
SELECT known, support, people FROM disclosure.inferences('visits', columns => '{city,diagnosis}', labels => '{"city": "quasi"}', order_by => 'people');
SELECT known, support, people FROM disclosure.inferences('visits', labels => '{"hospital": "ignore"}', order_by => 'people', max_rows => 1);
-- What is probable, too; a larger set of known attributes adds nothing but certainty.
SELECT known, inferred, support, people, confidence FROM disclosure.inferences('visits', min_confidence => 0.7, order_by => 'people');
SELECT known, inferred, support, people, confidence FROM disclosure.inferences('visits', min_confidence => 0.3, joint_confidence => true, sensitive_nulls => 'unknown', order_by => 'people');
-- A code beside its name is left out, unless it is harmful to learn, or the name is less likely to be known.
SELECT known, inferred, people FROM disclosure.inferences('visits', labels => '{"zip": {"likelihood": 1, "danger": 0.1}}', order_by => 'people', max_rows => 2);
SELECT known, inferred, people FROM disclosure.inferences('visits', labels => '{"zip": {"likelihood": 0.5, "danger": 0}}', order_by => 'people', max_rows => 2);
-- The weight is that of what is listed.
SELECT count(*), min(weight) FROM disclosure.inferences('visits', order_by => 'people', min_weight => 0.5);
SELECT count(*) FROM disclosure.inferences('visits', order_by => 'people', min_weight => 0.51);
SELECT count(*) FROM disclosure.inferences('drawn', order_by => 'people', budget => '0');
TRUNCATE visits;
SELECT * FROM disclosure.inferences('visits', order_by => 'people');

-- Bad input.
SELECT disclosure.privacy_score(p) FROM patients p;
SELECT disclosure.privacy_score(p, min_confidence => 0) OVER () FROM patients p;
SELECT disclosure.privacy_score(p, min_confidence => 1.1) OVER () FROM patients p;
SELECT disclosure.privacy_score(p, constant => -1) OVER () FROM patients p;
SELECT disclosure.privacy_score(p, constant => NULL) OVER () FROM patients p;
SELECT disclosure.privacy_score(p, budget => '-1 s') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '[]') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"zap": "quasi"}') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"zip": "quasy"}') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"zip": {"likelyhood": 1}}') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"zip": {"danger": {"90210": 2}}}') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"zip": {"bins": 2}}') OVER () FROM patients p;
SELECT disclosure.privacy_score(p, labels => '{"id": {"bins": 2, "width": 3}}') OVER () FROM patients p;
SELECT * FROM disclosure.privacy_summary('patients', threshold => 1.5);
SELECT * FROM disclosure.privacy_summary('patients', threshold => NULL);
SELECT * FROM disclosure.privacy_summary(NULL);
SELECT * FROM disclosure.privacy_summary('patients', columns => ARRAY['zap']);
SELECT * FROM disclosure.inferences('patients', min_weight => 2);
SELECT * FROM disclosure.inferences('patients', min_weight => NULL);
SELECT * FROM disclosure.inferences('patients', max_rows => 0);
SELECT * FROM disclosure.inferences('patients', order_by => 'peopel');
SELECT * FROM disclosure.inferences('patients', order_by => NULL);
SELECT * FROM disclosure.holes('patients', max_size => 1);
SELECT * FROM disclosure.holes('patients', max_size => NULL);
