-- Equivalence classes: values by hand, the three roads, and plain SQL as the judge.
\pset null '(null)'

CREATE TABLE patients (id int, age int, zip text, diagnosis text);
INSERT INTO patients VALUES
  (1, 34, '90210', 'flu'), (2, 34, '90210', 'hiv'), (3, 34, '90211', 'flu'),
  (4, 51, '90211', 'flu'), (5, 51, '90211', 'asthma'), (6, 51, NULL, 'flu'), (7, NULL, NULL, 'flu');

SELECT id, age, zip, disclosure.class_size(age, zip) OVER () FROM patients ORDER BY id;
SELECT disclosure.k_anonymity(age, zip), disclosure.k_anonymity(age), disclosure.k_anonymity(p) FROM patients p;
SELECT * FROM disclosure.equivalence_classes('patients', ARRAY['age', 'zip']);
SELECT * FROM disclosure.equivalence_classes('patients', ARRAY['age', 'zip'], examples => 3);
SELECT * FROM disclosure.equivalence_classes('patients', ARRAY['age'], examples => 100);

-- Without columns, those that are known by their labels. A column without a label is known.
SELECT * FROM disclosure.equivalence_classes('patients');
SELECT disclosure.label_columns('patients', quasi => '{age}', sensitive => '{diagnosis}', identifier => '{id}');
SELECT * FROM disclosure.equivalence_classes('patients', examples => 9);
SELECT disclosure.label_column('patients', 'zip', 'likelihood=0.5 danger=1');
SELECT * FROM disclosure.equivalence_classes('patients', examples => 1);
SELECT disclosure.label_columns('patients', ignore => '{age, zip}');
SELECT * FROM disclosure.equivalence_classes('patients');

-- Buckets of sizes, or each size by itself.
CREATE TABLE sizes AS SELECT size, i FROM unnest('{1,2,3,4,5,9,10,19,20,400}'::int[]) size, generate_series(1, size) i;
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', examples => 4);
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => NULL, examples => 4);
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{1, 11, 9223372036854775807}');
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{}');
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{2,3}');
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{1,5,5}');
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{-1,5}');
SELECT * FROM disclosure.equivalence_classes('sizes', '{size}', buckets => '{1,NULL}');

-- NULL as a wildcard: 6 agrees with every 51-year-old, 7 with everybody.
SELECT id, age, zip, disclosure.class_size(ROW(age, zip), 'wildcard') OVER () FROM patients ORDER BY id;
SELECT disclosure.k_anonymity(ROW(age, zip), 'wildcard'), disclosure.k_anonymity(ROW(age, zip), 'value') FROM patients;
SELECT * FROM disclosure.equivalence_classes('patients', ARRAY['age', 'zip'], nulls => 'wildcard', examples => 1);

-- Empty table, one row, all NULL, all equal.
CREATE TABLE none (a int, b text);
SELECT disclosure.k_anonymity(a, b), disclosure.k_anonymity(n), disclosure.k_anonymity(ROW(a), 'wildcard') FROM none n;
SELECT disclosure.class_size(a) OVER () FROM none;
SELECT * FROM disclosure.equivalence_classes('none');
SELECT * FROM disclosure.column_profile('none');
INSERT INTO none VALUES (1, 'x');
SELECT disclosure.k_anonymity(a, b) FROM none;
SELECT * FROM disclosure.equivalence_classes('none', examples => 5);
UPDATE none SET a = NULL, b = NULL;
INSERT INTO none SELECT NULL, NULL FROM generate_series(1, 1999);
SELECT disclosure.k_anonymity(a, b), disclosure.k_anonymity(ROW(a, b), 'wildcard') FROM none;
SELECT * FROM disclosure.equivalence_classes('none', examples => 1);
SELECT * FROM disclosure.column_profile('none');

-- Random data against plain SQL, on all roads; 3,000 rows are several batches.
SELECT setseed(0.42);
CREATE TABLE drawn AS
SELECT (random() * 5)::int AS a, nullif((random() * 3)::int, 0)::text AS b, nullif((random() * 4)::int, 1)::numeric / 4 AS c
  FROM generate_series(1, 3000);
WITH by_sql AS (SELECT a, b, c, count(*) AS size FROM drawn GROUP BY a, b, c),
     roads AS (
       SELECT 'GROUP BY' AS road, size, count(*) AS classes, sum(size) AS rows FROM by_sql GROUP BY size
       UNION ALL SELECT 'table', size, classes, rows FROM disclosure.equivalence_classes('drawn', buckets => NULL)
       UNION ALL SELECT 'window', size, count(*) / size, count(*)
         FROM (SELECT disclosure.class_size(a, b, c) OVER () AS size FROM drawn) w GROUP BY size
       UNION ALL SELECT 'window, row', size, count(*) / size, count(*)
         FROM (SELECT disclosure.class_size(d) OVER () AS size FROM drawn d) w GROUP BY size)
SELECT road, count(*) AS sizes, sum(classes) AS classes, sum(rows) AS rows,
       md5(string_agg(format('%s %s %s', size, classes, rows), ',' ORDER BY size)) AS all_of_it
  FROM roads GROUP BY road ORDER BY road;
SELECT disclosure.k_anonymity(a, b, c) = (SELECT min(n) FROM (SELECT count(*) AS n FROM drawn GROUP BY a, b, c) q) AS as_sql
  FROM drawn;

-- The definition of the wildcard, as a join.
CREATE TABLE fewer AS SELECT row_number() OVER () AS id, d.* FROM drawn d LIMIT 400;
SELECT count(*) AS rows, count(*) FILTER (WHERE fast <> slow) AS wrong
  FROM (SELECT id, disclosure.class_size(ROW(a, b, c), 'wildcard') OVER () AS fast FROM fewer) f
  JOIN (SELECT x.id, count(*) AS slow FROM fewer x JOIN fewer y
            ON coalesce(x.a = y.a, true) AND coalesce(x.b = y.b, true) AND coalesce(x.c = y.c, true)
         GROUP BY x.id) s USING (id);
SELECT sum(rows) AS rows, sum(classes) AS classes, min(size) AS k,
       min(size) = (SELECT disclosure.k_anonymity(ROW(a, b, c), 'wildcard') FROM drawn) AS as_aggregate
  FROM disclosure.equivalence_classes('drawn', nulls => 'wildcard', buckets => NULL);
