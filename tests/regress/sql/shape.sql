-- The language of exports: what a query's output is made of, which hidden columns count, how stored rows are counted, and
-- what is refused. Hidden columns are not sent.
CREATE FUNCTION probe_shape(query text) RETURNS SETOF text LANGUAGE c STRICT
AS '$libdir/pg_disclosure', 'probe_shape_wrapper';
SET client_min_messages = error;
CREATE ROLE shape_owner;
CREATE ROLE shape_reader;
CREATE ROLE shape_other;
CREATE SCHEMA mine AUTHORIZATION shape_reader;
GRANT CREATE ON SCHEMA public TO shape_owner, shape_other;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
GRANT USAGE ON FOREIGN SERVER files TO shape_owner;
CREATE FOREIGN TABLE far (a int, b text) SERVER files OPTIONS (filename '/dev/null');
ALTER FOREIGN TABLE far OWNER TO shape_owner;

RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN adult AS int CHECK (VALUE > 17 AND VALUE IS NOT NULL);
CREATE TABLE patients (id int PRIMARY KEY, gone int, person int, age int, zip varchar(5) COLLATE "C", diagnosis text, drug text,
                       tags text[], feels mood, nr int, note text);
ALTER TABLE patients DROP COLUMN gone;
CREATE TABLE visits (person int, day date, cost numeric(8, 2), drug text);
CREATE TABLE zips (zip varchar(5) COLLATE "C" PRIMARY KEY, region text);
CREATE TABLE regions (region text PRIMARY KEY, country text);
CREATE TABLE drugs (drug text UNIQUE, maker text);
SELECT disclosure.label_column(relation, name, label) FROM (VALUES
  ('patients'::regclass, 'id'::name, 'identifier'), ('patients', 'person', 'person'), ('patients', 'age', 'quasi'),
  ('patients', 'zip', 'quasi'), ('patients', 'diagnosis', 'sensitive'), ('patients', 'drug', 'sensitive'),
  ('patients', 'tags', 'quasi'), ('patients', 'feels', 'quasi'), ('patients', 'nr', 'ignore'),
  ('visits', 'person', 'person'), ('visits', 'day', 'quasi'), ('visits', 'cost', 'quasi'), ('visits', 'drug', 'sensitive'))
  AS labels (relation, name, label) \g /dev/null
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5), disclosure.protect('visits', 'k_anonymity', at_least => 5) \g /dev/null
GRANT SELECT ON patients, visits, zips, regions, drugs TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
CREATE TABLE mine.list (i int PRIMARY KEY, word text UNIQUE, code text);
CREATE TABLE mine.bag (i int, word text);

\pset tuples_only
\pset format unaligned
\echo '# Plain, renamed, computed'
SELECT probe_shape('SELECT id, zip AS "PLZ", 1 AS one, note FROM patients');
SELECT probe_shape('TABLE patients');
SELECT probe_shape('SELECT FROM patients');
SELECT probe_shape('SELECT age / 10 * 10 + length(zip) AS mix, zip::text AS cast, coalesce(age, 0) AS c, nullif(zip, note) AS n FROM patients');
SELECT probe_shape('SELECT greatest(age, nr) AS g, zip LIKE ''1%'' AS l, -age AS m, zip IS NOT DISTINCT FROM note AS d FROM patients');
SELECT probe_shape('SELECT now() AS now, current_date AS today, NULL AS n, TIMESTAMP ''2020-01-01'' AS t FROM patients');
-- A sensitive column in an expression also counts with its stored value, once for each column.
SELECT probe_shape('SELECT diagnosis || ''!'' AS loud FROM patients');
SELECT probe_shape('SELECT diagnosis || drug || zip AS mixture, diagnosis FROM patients');
SELECT probe_shape('SELECT note || age::text AS unlabelled FROM patients');
SELECT probe_shape('SELECT upper(d) AS d FROM (SELECT lower(diagnosis) AS d FROM patients) s');

\echo '# CASE, casts, IN, domains, enums, arrays'
SELECT probe_shape($$SELECT CASE WHEN zip = '1' THEN 'a' WHEN age > 3 THEN 'b' ELSE note END AS c, CASE age WHEN 1 THEN 2 END AS d FROM patients$$);
SELECT probe_shape($$SELECT CASE WHEN diagnosis = 'flu' THEN 1 ELSE age END AS c FROM patients$$);
SELECT probe_shape('SELECT age IN (1, 2) AS i, age NOT IN (3, 4) AS n, zip IN (''1'', ''2'') AS z, age = ANY (''{1,2}'') AS a FROM patients');
SELECT probe_shape('SELECT age::text AS t, age::numeric(4, 1) AS n, zip::char(3) AS c, ''x''::text AS x, day::timestamptz AS d FROM patients, visits');
SELECT probe_shape('SELECT age::adult AS a, ''20''::adult AS c FROM patients');
SELECT probe_shape('SELECT feels, feels = ''sad'' AS s, feels::text AS t, ''happy''::mood AS h, zip::mood AS m FROM patients');
SELECT probe_shape('SELECT tags, array_length(tags, 1) AS l, ''{1,2}''::int[] AS c, tags::varchar(3)[] AS v FROM patients');
SELECT probe_shape('SELECT age IN (1, nr) AS i FROM patients');
SELECT probe_shape('SELECT age = ANY (ARRAY[1, nr]) AS i FROM patients');
SELECT probe_shape('SELECT zip = ANY (tags) AS i FROM patients');
SELECT probe_shape('SELECT ARRAY[age] AS a FROM patients');
SELECT probe_shape('SELECT tags[1] AS t FROM patients');
SELECT probe_shape('SELECT tags[1:2] AS t FROM patients');
CREATE FUNCTION mine.says(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END';
CREATE DOMAIN mine.checked AS int CHECK (mine.says(VALUE));
CREATE DOMAIN mine.twice AS mine.checked;
SELECT probe_shape('SELECT age::mine.checked FROM patients');
SELECT probe_shape('SELECT age::mine.twice FROM patients');
SELECT probe_shape('SELECT age::text::mine.checked FROM patients');
SELECT probe_shape('SELECT ARRAY[1]::mine.checked[] FROM patients');
SELECT probe_shape('SELECT tags::mine.checked[] FROM patients');

\echo '# Conditions'
SELECT probe_shape('SELECT age FROM patients WHERE zip = ''1'' AND (age > 3 OR NOT age < 2) AND note IS NULL');
SELECT probe_shape('SELECT age FROM patients WHERE diagnosis = ''flu'' AND drug <> ''x''');
SELECT probe_shape('SELECT age FROM patients WHERE diagnosis = ''flu'' OR age > 3');
SELECT probe_shape('SELECT age FROM patients WHERE true');
SELECT probe_shape('SELECT age FROM patients WHERE nr < 10');
SELECT probe_shape('SELECT age FROM patients WHERE id = 1');
SELECT probe_shape('SELECT age FROM patients WHERE person + 1 = 2');
SELECT probe_shape('SELECT a FROM (SELECT age AS a, diagnosis AS d, person AS p FROM patients) s WHERE d = ''flu''');
SELECT probe_shape('SELECT a FROM (SELECT age AS a, person AS p FROM patients) s WHERE p > 5');

\echo '# Joins that are functions: a valid, immediate unique index on the columns of the join'
SELECT probe_shape('SELECT age, region FROM patients JOIN zips USING (zip)');
SELECT probe_shape('SELECT age, region, zip FROM patients NATURAL JOIN zips');
SELECT probe_shape('SELECT age, region FROM patients p LEFT JOIN zips z ON z.zip = p.zip');
SELECT probe_shape('SELECT age, region FROM patients p, zips z WHERE p.zip = z.zip');
SELECT probe_shape('SELECT age, country FROM patients JOIN zips USING (zip) JOIN regions USING (region)');
SELECT probe_shape('SELECT age, country FROM patients LEFT JOIN zips USING (zip) LEFT JOIN regions USING (region)');
SELECT probe_shape('SELECT age, country FROM patients p LEFT JOIN (zips z JOIN regions r USING (region)) ON z.zip = p.zip');
SELECT probe_shape('SELECT age, maker FROM patients JOIN drugs USING (drug)');
SELECT probe_shape('SELECT age, code FROM patients JOIN mine.list ON word = note || diagnosis');
SELECT probe_shape('SELECT age, code FROM patients JOIN mine.list ON i = age AND word = diagnosis');
SELECT probe_shape('SELECT age, z.zip AS theirs FROM patients p JOIN zips z ON z.zip = p.zip WHERE region = ''north''');
SELECT probe_shape('SELECT l.code, z.region FROM patients p JOIN mine.list l ON l.i = p.age JOIN zips z ON z.zip = l.word');
-- What else the match depends on is part of the function.
SELECT probe_shape('SELECT age, region FROM patients p LEFT JOIN zips z ON z.zip = p.zip AND p.diagnosis = ''flu''');
SELECT probe_shape('SELECT age, region FROM patients p LEFT JOIN zips z ON z.zip = p.zip AND z.region <> p.note');
SELECT probe_shape('SELECT age, country FROM patients p LEFT JOIN (zips z JOIN regions r USING (region)) ON z.zip = p.zip AND p.diagnosis = ''flu''');

\echo '# Joins that show the column'
SELECT probe_shape('SELECT p.age, b.i FROM patients p JOIN mine.bag b ON b.i = p.age');
SELECT probe_shape('SELECT p.age, b.i FROM patients p LEFT JOIN mine.bag b ON b.i = p.age AND b.word = p.diagnosis');
SELECT probe_shape('SELECT p.zip FROM patients p JOIN mine.list l ON l.i > p.age');
SELECT probe_shape('SELECT p.zip FROM patients p JOIN mine.list l ON l.i + 1 = p.age');
SELECT probe_shape('SELECT p.zip FROM patients p JOIN mine.list l ON l.i = p.age OR l.i = 7');
SELECT probe_shape('SELECT p.zip, l.i FROM patients p CROSS JOIN mine.list l');
SELECT probe_shape('SELECT p.zip, b.i FROM patients p LEFT JOIN mine.bag b ON p.diagnosis = ''flu''');
SELECT probe_shape('SELECT p.zip, b.i FROM patients p LEFT JOIN mine.bag b ON b.i = 1 AND p.diagnosis = ''flu''');
SELECT probe_shape('SELECT p.zip, b.i FROM mine.bag b LEFT JOIN patients p ON p.age = b.i');
SELECT probe_shape('SELECT p.zip, b.i FROM mine.bag b LEFT JOIN patients p ON p.diagnosis = ''flu''');
SELECT probe_shape('SELECT p.zip, s.region FROM patients p JOIN (SELECT * FROM zips) s ON s.zip = p.zip');
-- Wherever they are compared: in the SELECT list, in a subquery, with an ignored column, through another list.
SELECT probe_shape('SELECT b.i, p.age = b.i AS same FROM patients p, mine.bag b');
SELECT probe_shape('SELECT i FROM (SELECT b.i, p.age = b.i AS same FROM patients p, mine.bag b) s WHERE same');
SELECT probe_shape('SELECT i FROM (SELECT b.i, p.age FROM patients p, mine.bag b) s WHERE age = i');
SELECT probe_shape('SELECT i, age FROM (SELECT b.i, p.age FROM patients p, mine.bag b) s WHERE i > 3');
SELECT probe_shape('SELECT nr, age = nr AS same FROM patients');
SELECT probe_shape('SELECT nr FROM patients WHERE age = nr');
SELECT probe_shape('SELECT l.word FROM patients p JOIN mine.list l ON l.i = p.nr WHERE p.note = ''x''');
SELECT probe_shape('SELECT l.word, l.word = p.note AS same FROM patients p JOIN mine.list l ON l.i = p.nr');
SELECT probe_shape('SELECT l.code FROM patients p JOIN mine.list l ON l.i = p.nr, patients q WHERE q.note = l.word');
SELECT probe_shape('SELECT p.zip, q.zip AS other, p.age = q.age AS same FROM patients p, patients q');
SELECT probe_shape('SELECT zip FROM (SELECT p.zip, p.age = q.age AS same FROM patients p, patients q) s WHERE same');
SELECT probe_shape('SELECT oid FROM pg_proc JOIN patients ON oid::int - 1200 = age');
SELECT probe_shape('SELECT p.age FROM patients p JOIN mine.list l ON l.i = p.id');
SELECT probe_shape('SELECT p.age FROM patients p LEFT JOIN mine.list l ON l.i = p.person');
RESET SESSION AUTHORIZATION;
CREATE TABLE partial (i int, j int);
CREATE UNIQUE INDEX ON partial (i) WHERE j > 0;
CREATE TABLE deferred (i int UNIQUE DEFERRABLE, j int);
CREATE TABLE computed (i int, j int);
CREATE UNIQUE INDEX ON computed ((i + 0));
CREATE TABLE wider (i int, j int, UNIQUE (i, j));
CREATE TABLE covering (i int, j int, UNIQUE (i) INCLUDE (j));
CREATE TABLE invalid (i int, j int);
CREATE UNIQUE INDEX invalid_i ON invalid (i);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'invalid_i'::regclass;
CREATE TABLE parent (i int PRIMARY KEY, j int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE parted (i int PRIMARY KEY, j int) PARTITION BY RANGE (i);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE collated (word text COLLATE "C" UNIQUE, j int);
GRANT SELECT ON partial, deferred, computed, wider, covering, invalid, parent, parted, collated TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT j FROM patients p JOIN partial x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN deferred x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN computed x ON x.i + 0 = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN wider x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN wider x ON x.i = p.age AND x.j = length(p.zip)');
SELECT probe_shape('SELECT j FROM patients p JOIN wider x ON x.i = p.age AND x.j = 1');
SELECT probe_shape('SELECT j FROM patients p JOIN covering x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN invalid x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN parent x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN ONLY parent x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN parted x ON x.i = p.age');
SELECT probe_shape('SELECT j FROM patients p JOIN collated x ON x.word = p.note');
SELECT probe_shape('SELECT j FROM patients p JOIN collated x ON x.word = p.note COLLATE "C"');
SELECT probe_shape('SELECT j FROM patients p JOIN collated x ON x.word = p.zip');
SELECT probe_shape('SELECT j FROM patients p JOIN covering x ON x.i = p.age::bigint');
SELECT probe_shape('SELECT j FROM patients p JOIN covering x ON x.i::bigint = p.age');

\echo '# Protected relations with each other'
SELECT probe_shape('SELECT p.age, v.cost FROM patients p JOIN visits v USING (person)');
SELECT probe_shape('SELECT p.age, v.cost FROM patients p LEFT JOIN visits v ON v.person = p.person');
SELECT probe_shape('SELECT p.age, v.cost FROM patients p LEFT JOIN visits v ON v.person = p.person AND p.diagnosis = ''flu''');
SELECT probe_shape('SELECT p.age, v.cost FROM patients p LEFT JOIN visits v ON v.person = p.person AND v.drug = ''x''');
SELECT probe_shape('SELECT v.cost / p.age AS share FROM patients p JOIN visits v USING (person)');
SELECT probe_shape('SELECT v.cost / p.age AS share FROM patients p, visits v');
SELECT probe_shape('SELECT p.age, v.cost, b.i FROM patients p CROSS JOIN visits v LEFT JOIN mine.bag b ON v.person = p.person');
SELECT probe_shape('SELECT p.age, v.drug FROM patients p JOIN visits v ON v.person = p.person AND v.drug = p.drug');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.person = p.person');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p, patients q');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.age = p.age');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.id = p.id');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.person <> p.person');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.person = p.person + 1');
SELECT probe_shape('SELECT p.age, q.zip FROM patients p JOIN patients q ON q.person = p.age');
SELECT probe_shape('SELECT s.age, v.cost FROM (SELECT person AS x, age FROM patients) s JOIN visits v ON v.person = s.x');
SELECT probe_shape('SELECT s.age, v.cost FROM (SELECT person + 0 AS x, age FROM patients) s JOIN visits v ON v.person = s.x');
SELECT probe_shape('SELECT p.age, v.cost, z.region FROM patients p JOIN visits v USING (person) JOIN zips z USING (zip)');

\echo '# Subqueries and CTEs'
SELECT probe_shape('SELECT x AS y, two FROM (SELECT age AS x, age * 2 AS two FROM (SELECT * FROM patients) a) b WHERE x > 3');
SELECT probe_shape('WITH c AS (SELECT age AS a, zip FROM patients) SELECT a, zip FROM c');
SELECT probe_shape('WITH c (x, y) AS MATERIALIZED (SELECT age, zip FROM patients) SELECT l.x, r.y FROM c l, c r');
SELECT probe_shape('WITH a AS (SELECT age FROM patients), b AS (SELECT age + 1 AS b FROM a) SELECT b, c.age FROM b, (SELECT * FROM a) c');
SELECT probe_shape('WITH a AS (SELECT age AS v FROM patients) SELECT v FROM (WITH a AS (SELECT zip AS v FROM patients) SELECT v FROM a) s');
SELECT probe_shape('WITH unused AS (SELECT * FROM visits) SELECT age FROM patients');
SELECT probe_shape('WITH unused AS (SELECT count(*) FROM visits) SELECT age FROM patients');
SELECT probe_shape('WITH RECURSIVE r AS (SELECT age FROM patients UNION ALL SELECT age + 1 FROM r) SELECT age FROM r');
SELECT probe_shape('WITH RECURSIVE r AS (SELECT age FROM patients) SELECT age FROM r');
SELECT probe_shape('WITH d AS (DELETE FROM mine.list RETURNING i) SELECT age FROM patients, d');
SELECT probe_shape('WITH d AS (INSERT INTO mine.bag SELECT age FROM patients) SELECT age FROM patients');
SELECT probe_shape('WITH a AS (SELECT age FROM patients)' ||
  (SELECT string_agg(format(', a%s AS (SELECT x.age FROM %s x, %2$s y)', i, CASE i WHEN 1 THEN 'a' ELSE 'a' || i - 1 END), '') FROM generate_series(1, 30) i) ||
  ' SELECT age FROM a30');

\echo '# UNION ALL'
SELECT probe_shape('SELECT age AS n, zip FROM patients UNION ALL SELECT nr, note FROM patients');
SELECT probe_shape('SELECT age FROM patients UNION ALL SELECT cost FROM visits WHERE drug = ''x'' UNION ALL SELECT 1');
SELECT probe_shape('SELECT age FROM patients UNION ALL (SELECT age FROM patients UNION ALL SELECT nr FROM patients) ORDER BY age');
SELECT probe_shape('SELECT x FROM (SELECT age AS x FROM patients UNION ALL SELECT i FROM mine.bag) u WHERE x > 3');
SELECT probe_shape('SELECT diagnosis || '''' AS d FROM patients UNION ALL SELECT drug FROM visits');
SELECT probe_shape('SELECT u.age, v.cost FROM (SELECT age, person FROM patients UNION ALL SELECT nr, person FROM patients) u JOIN visits v USING (person)');
SELECT probe_shape('SELECT age FROM patients UNION SELECT age FROM patients');
SELECT probe_shape('SELECT age FROM patients INTERSECT SELECT age FROM patients');
SELECT probe_shape('SELECT age FROM patients EXCEPT ALL SELECT age FROM patients');
SELECT probe_shape('SELECT age FROM patients UNION ALL (SELECT age FROM patients INTERSECT SELECT 1)');
SELECT probe_shape('SELECT age FROM patients UNION ALL (SELECT age FROM patients LIMIT 5)');

\echo '# ORDER BY and LIMIT'
SELECT probe_shape('SELECT age, zip FROM patients ORDER BY zip DESC NULLS LAST, 1');
SELECT probe_shape('SELECT age + 1 AS next FROM patients ORDER BY age + 1');
SELECT probe_shape('SELECT age FROM patients LIMIT 10');
SELECT probe_shape('SELECT diagnosis FROM patients ORDER BY diagnosis LIMIT 10');
SELECT probe_shape('SELECT id FROM patients ORDER BY id LIMIT 10');
SELECT probe_shape('SELECT age FROM patients LIMIT ALL');
SELECT probe_shape('SELECT age FROM patients FETCH FIRST 5 ROWS ONLY');
SELECT probe_shape('SELECT age FROM patients ORDER BY zip');
SELECT probe_shape('SELECT age FROM patients ORDER BY age FETCH FIRST 5 ROWS WITH TIES');
SELECT probe_shape('SELECT age FROM patients LIMIT 2 + 3');
SELECT probe_shape('SELECT age FROM patients LIMIT (SELECT max(age) FROM patients)');
SELECT probe_shape('SELECT age FROM patients LIMIT 5 OFFSET 5');
SELECT probe_shape('SELECT age FROM (SELECT age FROM patients LIMIT 5) s');
SELECT probe_shape('SELECT age FROM (SELECT age FROM patients ORDER BY diagnosis) s');
SELECT probe_shape('SELECT age FROM (SELECT age, diagnosis FROM patients ORDER BY diagnosis) s');

\echo '# Views'
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE FUNCTION owners(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE VIEW adults AS SELECT id, age AS years, zip, diagnosis || '' AS d FROM patients WHERE age > 17;
CREATE VIEW calling AS SELECT owners(age) AS older, zip FROM patients WHERE owners(nr) > 0 AND current_user <> 'nobody';
CREATE VIEW counting AS SELECT zip, count(*) AS n FROM patients GROUP BY zip;
CREATE VIEW risky AS SELECT age, zip FROM patients;
SELECT disclosure.label_column('risky', 'age', 'sensitive'), disclosure.protect('risky', 'privacy_score', at_most => 0.5) \g /dev/null
CREATE VIEW regional AS SELECT region, count(*) AS n FROM zips GROUP BY region;
SELECT disclosure.protect('regional', 'k_anonymity', at_least => 2) \g /dev/null
GRANT SELECT ON adults, calling, counting, risky, regional TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_other;
CREATE FUNCTION others(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE VIEW of_other AS SELECT others(age) AS x, zip FROM patients;
CREATE VIEW of_owner AS SELECT owners(age) AS x, zip FROM patients;
GRANT SELECT ON of_other, of_owner TO PUBLIC;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION bosses(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE VIEW of_boss AS SELECT bosses(age) AS x, owners(nr) AS y FROM patients;
CREATE VIEW boss_of_other AS SELECT others(age) AS x FROM patients;
GRANT SELECT ON of_boss, boss_of_other TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
CREATE VIEW mine.v AS SELECT years AS place, zip AS y, d FROM adults;
SELECT probe_shape('TABLE adults');
SELECT probe_shape('SELECT place, d FROM mine.v WHERE d = ''flu''');
SELECT probe_shape('SELECT years FROM adults WHERE id = 1');
SELECT probe_shape('TABLE calling');
SELECT probe_shape('SELECT zip FROM calling');
SELECT probe_shape('SELECT owners(age) FROM patients');
SELECT probe_shape('SELECT owners(older) FROM calling');
SELECT probe_shape('SELECT n FROM counting');
SELECT probe_shape('SELECT zip FROM of_other');
SELECT probe_shape('SELECT zip FROM of_owner');
SELECT probe_shape('TABLE of_boss');
SELECT probe_shape('TABLE boss_of_other');
SELECT probe_shape('SELECT age + 1 AS next FROM risky');
-- A view with a policy whose relations have none is taken as one relation.
SELECT probe_shape('TABLE regional');
SELECT probe_shape('SELECT region FROM regional WHERE n > 3');
SELECT probe_shape('SELECT n, country FROM regional JOIN regions USING (region)');
SELECT probe_shape('SELECT n, i FROM regional, mine.list');
SELECT probe_shape('SELECT n FROM regional UNION ALL SELECT 1');
SELECT probe_shape('SELECT n, age FROM regional, patients');

\echo '# Materialized views'
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE MATERIALIZED VIEW kept AS SELECT zip, age + 1 AS next, diagnosis, person FROM patients;
CREATE MATERIALIZED VIEW nameless AS SELECT zip FROM patients;
CREATE MATERIALIZED VIEW released AS SELECT zip, age FROM patients;
SELECT disclosure.label_column('released', 'zip', 'ignore'), disclosure.label_column('released', 'age', 'quasi'),
       disclosure.protect('released', 'k_anonymity', at_least => 2) \g /dev/null
GRANT SELECT ON kept, nameless, released TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
CREATE MATERIALIZED VIEW mine.kept AS SELECT zip, age FROM patients;
CREATE MATERIALIZED VIEW mine.protected AS SELECT zip, age, diagnosis FROM patients;
SELECT disclosure.protect('mine.protected', 'k_anonymity', at_least => 1),
       disclosure.label_column('mine.protected', 'zip', 'ignore'), disclosure.label_column('mine.protected', 'age', 'ignore') \g /dev/null
SELECT probe_shape('TABLE kept');
SELECT probe_shape('TABLE nameless');
SELECT probe_shape('SELECT zip || diagnosis AS mix FROM kept WHERE next > 3');
SELECT probe_shape('TABLE released');
SELECT probe_shape('TABLE mine.kept');
SELECT probe_shape('TABLE mine.protected');

\echo '# Partitions, inheritance, foreign tables'
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE TABLE parts (a int, b int, c int) PARTITION BY RANGE (a);
CREATE TABLE part_1 (c int, a int, b int);
ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (0) TO (10);
CREATE TABLE above (a int, b int);
CREATE TABLE beneath (c int) INHERITS (above);
SELECT disclosure.label_column('parts', 'a', 'quasi'), disclosure.label_column('parts', 'b', 'identifier'), disclosure.label_column('parts', 'c', 'sensitive'),
       disclosure.protect('parts', 'k_anonymity', at_least => 5), disclosure.protect('above', 'k_anonymity', at_least => 5),
       disclosure.label_column('far', 'a', 'quasi'), disclosure.protect('far', 'k_anonymity', at_least => 5) \g /dev/null
GRANT SELECT ON parts, part_1, above, beneath, far TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT a, c + 1 AS next FROM parts');
SELECT probe_shape('SELECT a, c + 1 AS next FROM part_1 WHERE a > 3');
SELECT probe_shape('SELECT a FROM part_1 WHERE b = 3');
SELECT probe_shape('SELECT x.a, y.a FROM parts x, part_1 y');
SELECT probe_shape('TABLE above');
SELECT probe_shape('TABLE ONLY above');
SELECT probe_shape('SELECT c FROM beneath');
SELECT probe_shape('SELECT a, b || ''x'' AS b FROM far');
SELECT probe_shape('SELECT f.a, l.code FROM far f JOIN mine.list l ON l.i = f.a');
SELECT probe_shape('SELECT f.a, p.age FROM patients p LEFT JOIN far f ON f.a = p.age');
SELECT probe_shape('SELECT a FROM far UNION ALL SELECT age FROM patients');
SELECT probe_shape('SELECT f.a FROM far f, mine.bag');

\echo '# Row security'
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE TABLE wards (ward int, zip text, diagnosis text);
CREATE FUNCTION may_see(int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 < 5';
SELECT disclosure.label_column('wards', 'ward', 'quasi'), disclosure.label_column('wards', 'zip', 'quasi'), disclosure.label_column('wards', 'diagnosis', 'sensitive'),
       disclosure.protect('wards', 'k_anonymity', at_least => 5) \g /dev/null
GRANT SELECT ON wards TO PUBLIC;
CREATE POLICY seen ON wards USING (may_see(ward) AND zip <> session_user);
ALTER TABLE wards ENABLE ROW LEVEL SECURITY;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT zip FROM wards');
SELECT probe_shape('SELECT zip FROM wards WHERE may_see(ward)');
RESET SESSION AUTHORIZATION;
ALTER FUNCTION may_see OWNER TO shape_other;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT zip FROM wards');
RESET SESSION AUTHORIZATION;
DROP POLICY seen ON wards;
CREATE POLICY seen ON wards USING (diagnosis <> 'hiv');
CREATE POLICY also ON wards AS RESTRICTIVE USING (ward IN (SELECT i FROM mine.list));
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT zip FROM wards');
RESET SESSION AUTHORIZATION;
DROP POLICY also ON wards;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT zip FROM wards');

\echo '# Labels of the reader'
-- Labels and policies of the asking role neither hide a column nor make a list of people.
CREATE TABLE mine.people (person int, code int, diagnosis text);
SELECT disclosure.label_column('mine.people', 'person', 'person'), disclosure.label_column('mine.people', 'code', 'ignore'),
       disclosure.label_column('mine.list', 'code', 'ignore') \g /dev/null
SELECT probe_shape('SELECT m.code, p.diagnosis FROM patients p JOIN mine.people m USING (person)');
SELECT disclosure.protect('mine.people', 'k_anonymity', at_least => 1) \g /dev/null
SELECT probe_shape('SELECT code FROM mine.people');
SELECT probe_shape('SELECT m.code, p.diagnosis FROM patients p JOIN mine.people m USING (person)');
SELECT probe_shape('SELECT age, code FROM patients p JOIN mine.list ON i = age');

\echo '# What is refused'
SELECT probe_shape('SELECT (SELECT max(age) FROM patients) AS m FROM zips');
SELECT probe_shape('SELECT region FROM zips WHERE zip IN (SELECT zip FROM patients)');
SELECT probe_shape('SELECT region FROM zips z WHERE EXISTS (SELECT FROM patients p WHERE p.zip = z.zip)');
SELECT probe_shape('SELECT ARRAY(SELECT age FROM patients)');
SELECT probe_shape('SELECT p.age, l.i FROM patients p, LATERAL (SELECT i FROM mine.list WHERE i = p.age) l');
SELECT probe_shape('SELECT p.age, l.x FROM patients p CROSS JOIN LATERAL unnest(p.tags) l (x)');
SELECT probe_shape('SELECT age, generate_series(1, 3) FROM patients');
SELECT probe_shape('SELECT age, i FROM patients, generate_series(1, 3) i');
SELECT probe_shape('SELECT age, i FROM patients, (VALUES (1), (2)) v (i)');
SELECT probe_shape('SELECT age, x FROM patients, XMLTABLE(''/a'' PASSING (''<a/>''::xml) COLUMNS x text PATH ''b'') t');
SELECT probe_shape('SELECT age, x FROM patients, ROWS FROM (generate_series(1, 2), unnest(ARRAY[3])) AS f (x, y)');
SELECT probe_shape('SELECT row_number() OVER () FROM patients');
SELECT probe_shape('SELECT lag(age) OVER w FROM patients WINDOW w AS (PARTITION BY zip)');
SELECT probe_shape('SELECT zip FROM patients GROUP BY zip');
SELECT probe_shape('SELECT zip FROM patients GROUP BY ROLLUP (zip)');
SELECT probe_shape('SELECT zip, count(*) FROM patients GROUP BY zip HAVING count(*) > 5');
SELECT probe_shape('SELECT 1 AS one FROM patients HAVING true');
SELECT probe_shape('SELECT count(*) FROM patients');
SELECT probe_shape('SELECT DISTINCT zip FROM patients');
SELECT probe_shape('SELECT DISTINCT ON (zip) zip, age FROM patients');
SELECT probe_shape('SELECT p FROM patients p');
SELECT probe_shape('SELECT p::text FROM patients p');
SELECT probe_shape('SELECT s FROM (SELECT age, zip FROM patients) s');
SELECT probe_shape('SELECT (p).age FROM patients p');
SELECT probe_shape('SELECT (s.p).age FROM (SELECT p FROM patients p) s');
SELECT probe_shape('SELECT ROW(age, zip) FROM patients');
SELECT probe_shape('SELECT age FROM patients WHERE (age, zip) < (1, ''a'')');
SELECT probe_shape('SELECT age FROM patients p WHERE p IS NULL');
SELECT probe_shape('SELECT age FROM patients p WHERE p = p');
SELECT probe_shape('SELECT ctid FROM patients');
SELECT probe_shape('SELECT tableoid FROM patients');
SELECT probe_shape('SELECT age FROM patients WHERE xmin::text = ''7''');
SELECT probe_shape('SELECT age FROM patients TABLESAMPLE SYSTEM (10)');
SELECT probe_shape('SELECT age FROM patients FOR UPDATE');
SELECT probe_shape('SELECT age FROM patients FOR KEY SHARE SKIP LOCKED');
SELECT probe_shape('SELECT age FROM (SELECT age FROM patients FOR SHARE) s');
SELECT probe_shape('SELECT p.age FROM zips z RIGHT JOIN patients p USING (zip)');
SELECT probe_shape('SELECT p.age FROM zips z FULL JOIN patients p USING (zip)');
SELECT probe_shape('SELECT random() FROM patients');
SELECT probe_shape('SELECT current_user FROM patients');
SELECT probe_shape('SELECT current_setting(''work_mem'') FROM patients');
SELECT probe_shape('SELECT zip::regclass FROM patients');
SELECT probe_shape('SELECT to_jsonb(p) FROM patients p');
SELECT probe_shape('SELECT row_to_json(p) FROM patients p');
SELECT probe_shape('SELECT zip::xml FROM patients');
SELECT probe_shape('SELECT xmlelement(name a, zip)::text FROM patients');
SELECT probe_shape('SELECT repeat(''x'', age) FROM patients');
SELECT probe_shape('SELECT age FROM patients WHERE zip ~ note');
SELECT probe_shape('SELECT mine.says(age) FROM patients');
SELECT probe_shape('SELECT concat(VARIADIC tags) FROM patients');
SELECT probe_shape('SELECT nextval(''pg_class''::regclass), age FROM patients');
SELECT probe_shape('UPDATE mine.bag SET i = age FROM patients RETURNING i');
SELECT probe_shape('INSERT INTO mine.bag SELECT age FROM patients RETURNING i');
SELECT probe_shape('DELETE FROM mine.bag USING patients RETURNING age');
CREATE OPERATOR mine.= (FUNCTION = pg_catalog.int4eq, LEFTARG = int, RIGHTARG = int);
SELECT probe_shape('SELECT age OPERATOR(mine.=) 3 FROM patients');
SELECT probe_shape('SELECT zip COLLATE "und-x-icu" < ''a'' AS c FROM patients');
CREATE COLLATION mine.vague (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
SELECT probe_shape('SELECT zip COLLATE mine.vague AS z FROM patients');
SELECT probe_shape('SELECT age FROM patients WHERE zip = ''x'' COLLATE mine.vague');

\echo '# Odd names, generated columns, depth'
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_owner;
CREATE TABLE "Odd ""Name" ("Älter" int, "select" text, bmi int GENERATED ALWAYS AS ("Älter" * 2) STORED);
SELECT disclosure.protect('"Odd ""Name"', 'k_anonymity', at_least => 5) \g /dev/null
GRANT SELECT ON "Odd ""Name" TO PUBLIC;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION shape_reader;
SELECT probe_shape('SELECT "Älter", "select" AS "SELECT", bmi FROM "Odd ""Name"');
SELECT probe_shape('SELECT c' || repeat(' FROM (SELECT c + c AS c', 60) || ' FROM (SELECT age AS c FROM patients) s' || repeat(') s', 60));
SELECT probe_shape('SELECT age' || repeat(' + age', 500) || ' AS sum FROM patients');
SELECT probe_shape('SELECT region FROM zips');
\set VERBOSITY terse
SELECT probe_shape('SELECT nothing FROM patients');

RESET SESSION AUTHORIZATION;
DROP OWNED BY shape_reader, shape_other, shape_owner CASCADE;
DROP ROLE shape_reader, shape_other, shape_owner;
