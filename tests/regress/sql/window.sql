-- Road (a): window partitions.
\pset null '(null)'
CREATE TABLE visits (clinic text, age int, zip text);
INSERT INTO visits VALUES ('A', 1, 'x'), ('A', 1, 'x'), ('A', 2, 'x'), ('B', 1, 'x'), ('B', 1, 'x'), ('B', 1, 'x'), ('C', 9, 'z');

SELECT v.*, disclosure.class_size(age, zip) OVER (PARTITION BY clinic) AS here,
       disclosure.class_size(age, zip) OVER () AS everywhere
  FROM visits v ORDER BY clinic, age;
-- The whole partition counts, whatever the frame.
SELECT v.*, disclosure.class_size(v) OVER (PARTITION BY clinic ORDER BY age ROWS 1 PRECEDING) FROM visits v;
SELECT DISTINCT disclosure.class_size(v) OVER w, count(*) OVER w FROM visits v WHERE clinic < 'C' WINDOW w AS (PARTITION BY clinic) ORDER BY 1, 2;
-- Expressions, volatile ones too, are evaluated once per row.
SELECT disclosure.class_size(age * 0, upper(zip)) OVER () FROM visits LIMIT 2;
-- Rows that are NULL as a whole, named and anonymous.
SELECT n, v.clinic, disclosure.class_size(v) OVER () FROM generate_series(1, 4) n LEFT JOIN visits v ON v.clinic = 'C' AND n = 4 ORDER BY n;
SELECT n, disclosure.class_size(CASE WHEN n > 2 THEN ROW(n % 2, 'x') END) OVER () FROM generate_series(1, 6) n ORDER BY n;
SELECT n, disclosure.class_size(CASE WHEN n > 9 THEN ROW(n) END) OVER () FROM generate_series(1, 3) n;
-- Anonymous rows may come from several places if they have the same columns.
SELECT disclosure.class_size(r) OVER () FROM (SELECT ROW(1, 'a') AS r UNION ALL SELECT ROW(1, 'a')) u;
SELECT disclosure.class_size(r) OVER () FROM (SELECT ROW(1, 'a') AS r UNION ALL SELECT ROW('a', 1)) u;
SELECT disclosure.class_size(r) OVER () FROM (SELECT ROW(1) AS r UNION ALL SELECT ROW(1, 2)) u;
-- A row without columns, an array, the VARIADIC form.
CREATE TABLE nothing ();
INSERT INTO nothing DEFAULT VALUES;
INSERT INTO nothing DEFAULT VALUES;
SELECT disclosure.class_size(n) OVER () FROM nothing n;
SELECT disclosure.class_size(VARIADIC ARRAY[age, 1]) OVER () FROM visits WHERE clinic = 'A';
-- Not without OVER, not as an aggregate's frame, not in WHERE: Postgres says so itself.
SELECT disclosure.class_size(v) FROM visits v;
-- The option: the last argument, a literal or of type null_treatment.
CREATE TABLE gaps (a int, b text);
INSERT INTO gaps VALUES (1, 'x'), (1, NULL), (NULL, 'y');
SELECT g.*, disclosure.class_size(g) OVER () AS plain, disclosure.class_size(g, 'value') OVER () AS value,
       disclosure.class_size(g, 'wildcard') OVER () AS wildcard, disclosure.class_size(a, b, 'wildcard') OVER () AS of_columns,
       disclosure.class_size(ROW(a, b), 'wildcard') OVER () AS of_row,
       disclosure.class_size(a, 'wildcard'::disclosure.null_treatment) OVER () AS typed
  FROM gaps g;
SELECT disclosure.class_size(g, NULL) OVER () FROM gaps g;
SELECT disclosure.class_size(g, 'ignore') OVER () FROM gaps g;
SELECT disclosure.class_size(g, NULL::disclosure.null_treatment) OVER () FROM gaps g;
SELECT disclosure.class_size('x', a) OVER () FROM gaps g;
SELECT disclosure.class_size('wildcard') OVER () FROM gaps g;
-- A text is a column, whatever it says.
SELECT disclosure.class_size(a, 'wildcard'::text) OVER () FROM gaps g;
-- Many partitions, LIMIT, rescans, cursors.
SELECT sum(s) FROM (SELECT disclosure.class_size(i % 3) OVER (PARTITION BY i % 1000) AS s FROM generate_series(1, 10000) i) q;
SELECT outer_number, (SELECT max(s) FROM (SELECT disclosure.class_size(i % outer_number) OVER () AS s FROM generate_series(1, 12) i) q)
  FROM generate_series(1, 4) outer_number;
BEGIN;
DECLARE c CURSOR FOR SELECT disclosure.class_size(i % 2) OVER () FROM generate_series(1, 5000) i;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
-- In a view, and after the table has changed.
CREATE VIEW with_risk AS SELECT v.*, disclosure.class_size(age, zip) OVER () FROM visits v;
SELECT * FROM with_risk WHERE class_size = 1 ORDER BY clinic;
INSERT INTO visits VALUES ('D', 9, 'z');
SELECT * FROM with_risk WHERE class_size = 1 ORDER BY clinic;
DROP VIEW with_risk;
ALTER TABLE visits DROP COLUMN zip;
ALTER TABLE visits ADD COLUMN weight numeric DEFAULT 1.0;
INSERT INTO visits VALUES ('A', 1, 1.00);
SELECT v.*, disclosure.class_size(v) OVER () FROM visits v WHERE clinic = 'A' ORDER BY age;
-- A subquery's row, a domain over a composite, rows within rows, a join's rows.
SELECT disclosure.class_size(q) OVER (), disclosure.k_anonymity(q) OVER () FROM (SELECT i % 2 AS a, 'x' AS b FROM generate_series(1, 3) i) q;
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN checked_pair AS pair CHECK ((VALUE).a > 0);
SELECT disclosure.class_size(p) OVER () FROM (VALUES (ROW(1, 'x')::checked_pair), (ROW(1, 'x')::checked_pair), (NULL)) v(p);
SELECT disclosure.class_size(p, 1) OVER (), disclosure.class_size(ROW(p, ROW(p, 1))) OVER () FROM (VALUES (ROW(1, 'x')::pair), (ROW(1, 'x')::pair), (ROW(1, NULL)::pair)) v(p);
SELECT disclosure.class_size(a) OVER (), disclosure.class_size(b) OVER (), disclosure.class_size(a, b) OVER ()
  FROM visits a JOIN visits b USING (clinic) WHERE clinic IN ('A', 'D') LIMIT 1;
