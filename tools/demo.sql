-- What `make demo` shows: a small table and the first questions to ask of it.
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
\echo A table of patients. Names will be left out of the export; are the rest safe?
\echo
SELECT disclosure.label_column('patients', 'name', 'identifier'), disclosure.label_column('patients', 'age', 'quasi'),
       disclosure.label_column('patients', 'zip', 'quasi'), disclosure.label_column('patients', 'sex', 'quasi'),
       disclosure.label_column('patients', 'diagnosis', 'sensitive') \g /dev/null
\echo SELECT age, zip, sex, diagnosis, disclosure.class_size(age, zip, sex) OVER () FROM patients ORDER BY class_size;
\echo
SELECT age, zip, sex, diagnosis, disclosure.class_size(age, zip, sex) OVER () FROM patients ORDER BY class_size, age, name;
\echo Two people are alone with their age, zip and sex: whoever knows these knows the diagnosis.
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
\echo Try your own: make psql. What else there is: README.md and docs/.
