-- What `make demo` shows: a small table and the first questions to ask about it.
\set QUIET on
\pset footer off
\pset linestyle unicode
\pset border 1
CREATE EXTENSION pg_disclosure;

CREATE TABLE patients (name text, age int, zip text, sex text, diagnosis text);
INSERT INTO patients VALUES
  ('Ada',   34, '90210', 'f', 'flu'),    ('Bea',  34, '90210', 'f', 'asthma'), ('Cleo', 34, '90210', 'f', 'flu'),
  ('Dan',   51, '90211', 'm', 'hiv'),    ('Egon', 51, '90211', 'm', 'hiv'),    ('Fred', 29, '90211', 'm', 'flu'),
  ('Gina',  29, '90210', 'f', 'asthma'), ('Hal',  29, '90211', 'm', 'flu'),    ('Ida',  77, '90212', 'f', 'angina');

\echo
\echo A table of patients. The names will not be exported. Is the rest safe? Labels say what an adversary may know (quasi)
\echo and what must not be inferred (sensitive).
\echo
\echo SELECT disclosure.label_columns('\''patients'\'', identifier => '\''{name}'\'', quasi => '\''{age, zip, sex}'\'', sensitive => '\''{diagnosis}'\'');
\echo
SELECT disclosure.label_columns('patients', identifier => '{name}', quasi => '{age, zip, sex}', sensitive => '{diagnosis}') \g /dev/null
\echo SELECT age, zip, sex, diagnosis, disclosure.class_size(age, zip, sex) OVER () FROM patients ORDER BY class_size, age, name;
\echo
SELECT age, zip, sex, diagnosis, disclosure.class_size(age, zip, sex) OVER () FROM patients ORDER BY class_size, age, name;
\echo Two people share their age, zip and sex with nobody. Anyone who knows these three values knows the diagnosis.
\echo
\echo SELECT disclosure.k_anonymity(age, zip, sex) FROM patients;
\echo
SELECT disclosure.k_anonymity(age, zip, sex) FROM patients;
\echo SELECT * FROM disclosure.equivalence_classes('\''patients'\'', ARRAY['\''age'\'', '\''zip'\'', '\''sex'\''], examples => 2);
\echo
SELECT * FROM disclosure.equivalence_classes('patients', ARRAY['age', 'zip', 'sex'], examples => 2);
\echo SELECT column_name, distinct_values, unique_values FROM disclosure.column_profile('\''patients'\'');
\echo
SELECT column_name, distinct_values, unique_values FROM disclosure.column_profile('patients');
\echo SELECT name, score, inference FROM (SELECT *, disclosure.privacy_score(p) OVER () AS score,
\echo '  disclosure.privacy_inference(p) OVER () ->>' '\''inference'\'' AS inference FROM patients p) q WHERE score > 0 ORDER BY score DESC, name;
\echo
SELECT name, score, inference
  FROM (SELECT *, disclosure.privacy_score(p) OVER () AS score,
               disclosure.privacy_inference(p) OVER () ->> 'inference' AS inference FROM patients p) q
 WHERE score > 0 ORDER BY score DESC, name;
\echo A privacy score of 0.5 means that the diagnosis follows with certainty. Four of these people are not alone, but share a diagnosis.
\echo
\echo SELECT step, record, column_name, at_or_above, ended_by FROM disclosure.remedies('\''patients'\'', threshold => 0.5);
\echo
SELECT step, record, column_name, at_or_above, ended_by FROM disclosure.remedies('patients', threshold => 0.5);
\echo If these cells are blanked, no diagnosis follows any more. The last row also has a statement that blanks them.
\echo
\echo Where to start with a table that nobody has labelled? Suggested labels come with their reasons, and without any value of the data.
\echo
CREATE TABLE admissions (patient_name text, birth_year int, zip text, sex text, diagnosis text);
INSERT INTO admissions
  SELECT 'Patient ' || n, 1950 + n % 50, 90210 + n % 2, CASE WHEN n % 4 < 2 THEN 'f' ELSE 'm' END,
         (ARRAY['flu', 'asthma', 'angina', 'diabetes', 'gout'])[1 + n / 20 % 5]
    FROM generate_series(0, 199) n;
\echo SELECT column_name, label, evidence FROM disclosure.suggest_labels('\''admissions'\'', apply => true);
\echo
SELECT column_name, label, evidence FROM disclosure.suggest_labels('admissions', apply => true);
\echo May this table be released?
\echo
\echo SELECT criterion, measured, verdict, people FROM disclosure.assess('\''admissions'\'', preset => '\''standard'\'');
\echo
SELECT criterion, measured, verdict, people FROM disclosure.assess('admissions', preset => 'standard');
\echo No. Why not, and what helps first?
\echo
\echo SELECT why, next_step FROM disclosure.assess_summary('\''admissions'\'');
\echo
SELECT why, next_step FROM disclosure.assess_summary('admissions') \gx
\echo And with decades instead of years of birth? A view takes its labels from the table; only the computed column needs one.
\echo
\echo CREATE VIEW decades AS SELECT birth_year / 10 * 10 AS decade, zip, sex, diagnosis FROM admissions;
\echo SELECT disclosure.label_columns('\''decades'\'', quasi => '\''{decade}'\'');
\echo SELECT criterion, measured, verdict FROM disclosure.assess('\''decades'\'');
\echo
CREATE VIEW decades AS SELECT birth_year / 10 * 10 AS decade, zip, sex, diagnosis FROM admissions;
SELECT disclosure.label_columns('decades', quasi => '{decade}') \g /dev/null
SELECT criterion, measured, verdict FROM disclosure.assess('decades');
\echo SELECT verdict, why, next_step FROM disclosure.assess_summary('\''decades'\'');
\echo
SELECT verdict, why, next_step FROM disclosure.assess_summary('decades');
\echo It meets the thresholds. The last step keeps it so: exports of the view that break one of the criteria are refused, once the
\echo library is loaded in every session.
\echo
SET client_min_messages = error;
\echo SELECT count(*) AS policies FROM disclosure.protect('\''decades'\'', preset => '\''standard'\'');
\echo
SELECT count(*) AS policies FROM disclosure.protect('decades', preset => 'standard');
\echo What do the policies say to an export of three rows? A dry run tells. At least 5 people must leave together (min_people), so
\echo every policy refuses.
\echo
\echo SELECT policy, measure, required, verdict FROM disclosure.check_export('\''SELECT * FROM decades LIMIT 3'\'');
\echo
SELECT policy, measure, required, verdict FROM disclosure.check_export('SELECT * FROM decades LIMIT 3');
\echo To try it on your own table, run make psql. README.md and docs/ describe everything else.
