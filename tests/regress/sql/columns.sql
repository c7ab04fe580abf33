-- suda, dis_suda, minimal_uniques, singling_out, unique_column_combinations, column_risk. The figures are those of
-- GOLDEN-MEASURES.md.
-- The table of sdcMicro's guide.
CREATE TABLE guide (n int, residence text, gender text, education text, labour text);
INSERT INTO guide VALUES (1, 'U', 'F', 'SI', 'E'), (2, 'U', 'F', 'SI', 'E'), (3, 'U', 'F', 'PI', 'N'), (4, 'U', 'M', 'SC', 'E'), (5, 'R', 'F', 'SC', 'U'),
  (6, 'U', 'M', 'SC', 'E'), (7, 'U', 'F', 'PC', 'N'), (8, 'U', 'M', 'PS', 'U'), (9, 'U', 'F', 'SI', 'N'), (10, 'U', 'F', 'SI', 'N');
SELECT disclosure.label_columns('guide', quasi => '{residence,gender,education,labour}', ignore => '{n}');
SELECT n, disclosure.suda(g) OVER () AS suda, round(disclosure.dis_suda(g, 0.01) OVER ()::numeric, 8) AS dis_01,
       round(disclosure.dis_suda(g, 0.1) OVER ()::numeric, 8) AS dis_1, disclosure.suda(g, max_columns => 1) OVER () AS single FROM guide g ORDER BY n;
SELECT * FROM disclosure.minimal_uniques('guide');
SELECT * FROM disclosure.minimal_uniques('guide', group_by => 'columns');
SELECT columns, rows, uniques, round(100 * contribution::numeric, 6) AS percent FROM disclosure.minimal_uniques('guide', group_by => 'column');
SELECT columns, combination, rows, uniques, round(100 * contribution::numeric, 6) AS percent FROM disclosure.minimal_uniques('guide', group_by => 'value');
SELECT * FROM disclosure.minimal_uniques('guide', max_columns => 1, columns => '{education,gender}');

-- The book's table.
CREATE TABLE book (n int, age text, gender text, income text, education text);
INSERT INTO book VALUES (1, '20s', 'm', '50k+', 'hs'), (2, '20s', 'm', '50k+', 'hs'), (3, '20s', 'm', '50k-', 'hs'), (4, '20s', 'm', '50k-', 'hs'),
  (5, '20s', 'f', '50k-', 'univ'), (6, '20s', 'f', '50k-', 'hs'), (7, '20s', 'f', '50k-', 'mid'), (8, '60s', 'm', '50k-', 'univ');
SELECT n, disclosure.suda(b, '{age,gender,income,education}') OVER w AS suda,
       round(disclosure.dis_suda(b, 0.01, columns => '{age,gender,income,education}') OVER w::numeric, 8) AS dis FROM book b WINDOW w AS () ORDER BY n;
SELECT disclosure.suda(ROW(a, b, c)) OVER () FROM (VALUES (2, 0, 0), (1, 3, 6), (1, 0, 0)) AS three(a, b, c);

-- Partitions of a window.
SELECT gender, n, disclosure.suda(g) OVER (PARTITION BY gender) AS suda FROM guide g ORDER BY gender, n;

-- Distinction and separation as in ARX.
CREATE TABLE ages (age int, sex text, state text);
INSERT INTO ages VALUES (20, 'F', 'CA'), (30, 'F', 'CA'), (40, 'F', 'TX'), (20, 'M', 'NY'), (40, 'M', 'CA');
SELECT disclosure.label_columns('ages', quasi => '{age,sex,state}');
SELECT * FROM disclosure.singling_out('ages', at_least => 1);
SELECT columns, share, minimal FROM disclosure.singling_out('ages', max_columns => 1, at_least => 0.2);
SELECT sum(contribution) FROM disclosure.singling_out('ages');
SELECT * FROM disclosure.unique_column_combinations('ages');
SELECT * FROM disclosure.column_risk('ages');

-- People instead of rows: a visit is not a person.
CREATE TABLE visits (name text, age int, zip text);
INSERT INTO visits VALUES ('a', 30, 'X'), ('a', 30, 'X'), ('a', 31, 'X'), ('b', 40, 'X'), ('c', 40, 'X'), ('c', 40, 'Y'), (NULL, 40, 'Y');
SELECT disclosure.label_columns('visits', person => '{name}', quasi => '{age,zip}');
SELECT name, age, zip, disclosure.suda(v) OVER () AS suda, disclosure.suda(v, unit => 'row') OVER () AS of_rows,
       disclosure.dis_suda(v, 0.5) OVER () AS dis FROM visits v ORDER BY 1, 2, 3;
SELECT * FROM disclosure.minimal_uniques('visits');
SELECT * FROM disclosure.minimal_uniques('visits', unit => 'row');
SELECT columns, classes, uniques, k, share, minimal FROM disclosure.singling_out('visits');
SELECT columns, classes, uniques, k, share, minimal FROM disclosure.singling_out('visits', unit => 'row');
SELECT * FROM disclosure.column_risk('visits');

-- NULL as a value, and as a wildcard.
CREATE TABLE holes (n int, a int, b text);
INSERT INTO holes VALUES (1, 1, 'x'), (2, 1, 'y'), (3, NULL, 'x'), (4, 2, 'x'), (5, 3, NULL);
SELECT disclosure.label_columns('holes', quasi => '{a,b}', ignore => '{n}');
SELECT n, disclosure.suda(h) OVER () AS as_value, disclosure.suda(h, nulls => 'wildcard') OVER () AS as_wildcard FROM holes h ORDER BY n;
SELECT * FROM disclosure.minimal_uniques('holes');
SELECT * FROM disclosure.minimal_uniques('holes', nulls => 'wildcard');
SELECT columns, classes, uniques, k, share, separation FROM disclosure.singling_out('holes', nulls => 'wildcard');
SELECT * FROM disclosure.column_risk('holes', nulls => 'wildcard');
SELECT columns, combination FROM disclosure.minimal_uniques('holes', group_by => 'value');

-- Values of all kinds, equal ones by their types; odd names.
CREATE TABLE "Odd" ("A b" numeric, "order" text COLLATE "C", d date, f float8, e int[]);
INSERT INTO "Odd" VALUES (1.0, 'x', '2020-01-01', 0, '{1}'), (1.00, 'x', '2020-01-01', '-0', '{1}'), (2, 'y', NULL, 'NaN', '{}'), (2, 'z', 'infinity', 'NaN', NULL);
SELECT columns, combination FROM disclosure.minimal_uniques('"Odd"');
SELECT * FROM disclosure.unique_column_combinations('"Odd"');
SELECT * FROM disclosure.unique_column_combinations('"Odd"', '{"A b",f}');

-- Views, partitions, and empty tables.
CREATE VIEW young AS SELECT * FROM ages WHERE age < 40;
SELECT columns, uniques FROM disclosure.singling_out('young', max_columns => 1);
CREATE TABLE nothing (a int, b int);
SELECT disclosure.label_columns('nothing', quasi => '{a,b}');
SELECT disclosure.suda(n) OVER () FROM nothing n;
SELECT * FROM disclosure.minimal_uniques('nothing');
SELECT * FROM disclosure.minimal_uniques('nothing', group_by => 'column');
SELECT * FROM disclosure.singling_out('nothing');
SELECT * FROM disclosure.unique_column_combinations('nothing');
SELECT * FROM disclosure.column_risk('nothing');
INSERT INTO nothing VALUES (NULL, NULL);
SELECT disclosure.suda(n) OVER (), disclosure.suda(n, nulls => 'wildcard') OVER () FROM nothing n;
SELECT * FROM disclosure.minimal_uniques('nothing');
SELECT * FROM disclosure.singling_out('nothing');
SELECT * FROM disclosure.column_risk('nothing', '{a}');
SELECT disclosure.suda(NULL::nothing) OVER ();

-- Without time, what was not examined is counted.
SELECT columns, uniques FROM disclosure.singling_out('ages', budget => '0 s');
SELECT * FROM disclosure.minimal_uniques('ages', budget => '0 s');
SET disclosure.budget = 0;
SELECT disclosure.suda(a) OVER () FROM ages a LIMIT 1;
RESET disclosure.budget;

-- Errors name the argument.
SELECT disclosure.suda(g, max_columns => 0) OVER () FROM guide g;
SELECT disclosure.suda(g, columns => '{nobody}') OVER () FROM guide g;
SELECT disclosure.suda(g, unit => 'household') OVER () FROM guide g;
SELECT disclosure.dis_suda(g, 0) OVER () FROM guide g;
SELECT disclosure.dis_suda(g, NULL) OVER () FROM guide g;
SELECT disclosure.dis_suda(g, 'NaN') OVER () FROM guide g;
SELECT * FROM disclosure.minimal_uniques(NULL);
SELECT * FROM disclosure.minimal_uniques('guide', max_columns => -1);
SELECT * FROM disclosure.minimal_uniques('guide', group_by => 'colum');
SELECT * FROM disclosure.minimal_uniques('guide', budget => '-1 s');
SELECT * FROM disclosure.singling_out('guide', at_least => 2);
SELECT * FROM disclosure.singling_out('guide', at_least => NULL);
SELECT * FROM disclosure.singling_out('guide', columns => '{}');
SELECT * FROM disclosure.column_risk('guide', nulls => NULL);
SELECT format('CREATE TABLE wide (%s)', string_agg('c' || i || ' int', ', ')) FROM generate_series(1, 130) i \gexec
SELECT count(*) FROM disclosure.singling_out('wide', ARRAY(SELECT 'c' || i FROM generate_series(1, 130) i)::name[], max_columns => 5);
SELECT count(*) FROM disclosure.unique_column_combinations('wide', ARRAY(SELECT 'c' || i FROM generate_series(1, 130) i)::name[]);
SELECT disclosure.suda('guide') OVER ();
