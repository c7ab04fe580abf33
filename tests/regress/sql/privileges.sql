-- A measure sees what its caller may see, no more.
CREATE ROLE pp_owner;
CREATE ROLE pp_analyst;
GRANT CREATE ON SCHEMA public TO pp_owner;
SET ROLE pp_owner;
CREATE TABLE staff (name text, age int, clinic text);
INSERT INTO staff VALUES ('a', 30, 'A'), ('b', 30, 'A'), ('c', 40, 'A'), ('d', 50, 'B');
SELECT size, classes FROM disclosure.equivalence_classes('staff', ARRAY['age']);

SET ROLE pp_analyst;
SELECT * FROM disclosure.equivalence_classes('staff', ARRAY['age']);
SELECT disclosure.k_anonymity(age) FROM staff;
SET ROLE pp_owner;
GRANT SELECT (age, clinic) ON staff TO pp_analyst;
SET ROLE pp_analyst;
SELECT size, classes FROM disclosure.equivalence_classes('staff', ARRAY['age']);
SELECT * FROM disclosure.equivalence_classes('staff', ARRAY['age', 'name']);
SELECT * FROM disclosure.equivalence_classes('staff');
SELECT * FROM disclosure.column_profile('staff', ARRAY['clinic']);

-- Row level security.
SET ROLE pp_owner;
ALTER TABLE staff ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_clinic ON staff FOR SELECT TO pp_analyst USING (clinic = 'A');
SELECT sum(rows) AS rows_of_owner FROM disclosure.equivalence_classes('staff');
SET ROLE pp_analyst;
SELECT sum(rows) AS rows_of_analyst FROM disclosure.equivalence_classes('staff', ARRAY['age']);
SELECT count(*) AS rows_of_analyst FROM (SELECT disclosure.class_size(age) OVER () FROM staff) w;
SET row_security = off;
SELECT * FROM disclosure.equivalence_classes('staff', ARRAY['age']);
RESET row_security;

-- Labels belong to the owner of the table.
SELECT disclosure.label_column('staff', 'age', 'quasi');
INSERT INTO disclosure_internal.column_label (relation, attribute, label) VALUES ('staff', 'age', 'quasi');
SET ROLE pp_owner;
SELECT disclosure.label_column('staff', 'age', 'quasi');
SET ROLE pp_analyst;
SELECT disclosure.label_column('staff', 'age', NULL);
DELETE FROM disclosure_internal.column_label;
UPDATE disclosure_internal.column_label SET label = 'ignore';
TRUNCATE disclosure_internal.column_label;
SELECT relation, column_name, label FROM disclosure.labels;
SET ROLE pp_owner;
SELECT disclosure.label_column('staff', 'age', NULL);
SELECT count(*) FROM disclosure.labels;
RESET ROLE;
DROP TABLE staff;
REVOKE CREATE ON SCHEMA public FROM pp_owner;
DROP ROLE pp_owner, pp_analyst;
