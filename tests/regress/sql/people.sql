-- People instead of rows: labels person and household.
CREATE TABLE visits (patient int, family int, age text, zip text, diagnosis text);
INSERT INTO visits SELECT 1, 1, '20s', 'A', 'flu' FROM generate_series(1, 20);
INSERT INTO visits VALUES (2, 1, '20s', 'B', 'flu'), (3, 2, '20s', 'B', 'asthma'), (3, 2, '20s', 'B', 'flu'),
                          (4, 3, '30s', NULL, 'flu'), (NULL, NULL, '40s', 'C', 'flu'), (NULL, NULL, '40s', 'C', 'flu'), (NULL, NULL, '20s', 'B', 'flu');
-- Without labels, whole rows are compared and counted.
SELECT disclosure.k_anonymity(v), disclosure.k_anonymity(age, zip) FROM visits v;
SELECT disclosure.label_columns('visits', person => '{patient}', household => '{family}', quasi => '{age,zip}', sensitive => '{diagnosis}');
-- The patient with 20 visits is alone. Rows of unknown people add nobody to a class, unless nobody else is in it.
SELECT DISTINCT age, zip, disclosure.class_size(v) OVER () AS people, disclosure.class_size(v, 'wildcard') OVER () AS wildcard,
       disclosure.class_size(age, zip) OVER () AS rows
  FROM visits v ORDER BY age, zip;
SELECT disclosure.k_anonymity(v), disclosure.k_anonymity(v, 'wildcard'), disclosure.k_anonymity(age, zip) FROM visits v;
SELECT age, disclosure.k_anonymity(v), disclosure.count_people(v) FROM visits v GROUP BY age ORDER BY age;
SELECT disclosure.k_anonymity(v) FILTER (WHERE age = '30s'), disclosure.k_anonymity(v) FILTER (WHERE false) FROM visits v;
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('visits');
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('visits', unit => 'row');
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('visits', unit => 'household');
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('visits', nulls => 'wildcard');
-- Two people are in a class if all their rows together are equal, each as often.
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('visits', by => 'person');
CREATE TABLE lists (patient int, item text);
INSERT INTO lists VALUES (1, 'a'), (1, 'b'), (2, 'b'), (2, 'a'), (3, 'a'), (3, 'a'), (3, 'b'), (4, 'a');
SELECT disclosure.label_columns('lists', person => '{patient}', quasi => '{item}');
SELECT size, up_to, classes, rows, people FROM disclosure.equivalence_classes('lists', by => 'person');
SELECT k, uniques, people, classes FROM disclosure.risk_summary('lists', by => 'person');
SELECT k, uniques, people, classes FROM disclosure.risk_summary('lists');
-- Several columns may identify a person.
SELECT disclosure.label_column('visits', 'family', 'person');
SELECT people FROM disclosure.risk_summary('visits');
SELECT disclosure.label_column('visits', 'family', 'household');
-- Labels of a call, and labels that follow a view and partitions.
SELECT people, k FROM disclosure.risk_summary('visits', labels => '{"patient": "ignore"}');
SELECT people, k FROM disclosure.risk_summary('visits', labels => '{"patient": "identifier", "family": "person"}');
CREATE VIEW renamed AS SELECT patient AS who, age AS how_old, zip FROM visits;
SELECT people, k FROM disclosure.risk_summary('renamed');
SELECT min(size) FROM (SELECT disclosure.class_size(r) OVER () AS size FROM renamed r) AS sizes;

-- count_people is count(DISTINCT …), with FILTER, OVER and any frame, in parallel and with partial states.
SELECT disclosure.count_people(patient) = count(DISTINCT patient) AS one, disclosure.count_people(patient, family) AS two,
       disclosure.count_people(NULLIF(patient, patient)) AS nobody, disclosure.count_people(patient) FILTER (WHERE age = '20s') AS filtered FROM visits;
SELECT disclosure.count_people(patient) FROM visits WHERE false;
SELECT DISTINCT age, disclosure.count_people(patient) OVER (PARTITION BY age) FROM visits ORDER BY age;
SELECT x, disclosure.count_people(x) OVER (ORDER BY n), disclosure.count_people(x) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  FROM (VALUES (1, 'a'), (2, 'b'), (3, 'a'), (4, NULL), (5, 'c')) AS t(n, x) ORDER BY n;
CREATE TABLE many AS SELECT n % 1000 AS person, n % 7 AS a, n % 11 AS b FROM generate_series(1, 20000) AS n;
SELECT disclosure.label_columns('many', person => '{person}', quasi => '{a,b}');
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT disclosure.count_people(person), disclosure.k_anonymity(m) FROM many m;
SELECT disclosure.count_people(person), disclosure.count_people(m), disclosure.k_anonymity(m),
       (SELECT min(people) FROM (SELECT count(DISTINCT person) AS people FROM many GROUP BY a, b) AS s) AS k FROM many m;
RESET ALL;

-- Errors name the argument.
SELECT disclosure.count_people('visits');
SELECT disclosure.count_people(l) FROM (VALUES (1), (2), (1)) AS l(n);
SELECT disclosure.count_people(m) FROM disclosure.labels m LIMIT 0;
SELECT disclosure.label_column('lists', 'patient', 'ignore');
SELECT disclosure.count_people(l) FROM lists l;
SELECT * FROM disclosure.equivalence_classes('lists', unit => 'household');
SELECT * FROM disclosure.equivalence_classes('lists', unit => 'persons');
SELECT * FROM disclosure.equivalence_classes('lists', by => 'person');
SELECT * FROM disclosure.equivalence_classes('visits', by => 'person', nulls => 'wildcard');
SELECT * FROM disclosure.equivalence_classes('visits', by => 'person', examples => 1);
SELECT * FROM disclosure.risk_summary('visits', by => NULL);

-- Risk views count people.
SELECT disclosure.risk_view('visits', 'visits_risk');
SELECT DISTINCT age, zip, class_size FROM visits_risk ORDER BY age, zip;
SELECT disclosure.risk_view('visits', 'visits_by_age', columns => '{age,diagnosis}');
SELECT DISTINCT age, class_size FROM visits_by_age ORDER BY age;
SELECT pg_get_viewdef('visits_by_age', true);
SELECT disclosure.risk_view('visits', 'visits_known', labels => '{"age": "ignore", "zip": "ignore"}');
SELECT DISTINCT class_size FROM visits_known;
