-- Where the columns of a query come from, and which relations it reads: what the guard judges by.
CREATE FUNCTION probe_lineage(query text)
RETURNS TABLE (column_name text, column_type text, origins text[], paired_by text[], plain text, unknown boolean)
LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_lineage_wrapper';
CREATE FUNCTION probe_relations(query text) RETURNS TABLE (relations text[], rows_once boolean)
LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_relations_wrapper';
-- One line per column: name: origins, / what it is paired by, = plain column, ? may be made of anything.
CREATE FUNCTION made(query text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT format('%s: %s%s%s%s', column_name, array_to_string(origins, ' '), ' / ' || nullif(array_to_string(paired_by, ' '), ''),
                ' = ' || plain, CASE WHEN unknown THEN ' ?' END)
  FROM probe_lineage(query)
$$;
-- And one for what is read.
CREATE FUNCTION reads(query text) RETURNS text LANGUAGE sql AS $$
  SELECT array_to_string(relations, ' ') || CASE WHEN rows_once THEN ' (rows once)' ELSE '' END FROM probe_relations(query)
$$;

CREATE TABLE patients (id int PRIMARY KEY, gone int, age int, zip varchar(5) COLLATE "C", diagnosis text, tags text[]);
ALTER TABLE patients DROP COLUMN gone;
CREATE TABLE zips (zip varchar(5) PRIMARY KEY, region text);
CREATE TABLE visits (patient int, day date, cost numeric(8, 2), note jsonb);

\pset tuples_only
\echo '# Plain, renamed, computed'
SELECT * FROM probe_lineage('SELECT id, zip AS "PLZ", 1 AS one, diagnosis || ''!'' AS loud, 1.5::numeric(4, 2) AS n FROM patients');
SELECT reads('SELECT id FROM patients');
SELECT made('TABLE patients');
SELECT made('SELECT age / 10 * 10 + length(zip) AS mix, zip::text AS cast, coalesce(age, 0) AS c, nullif(zip, diagnosis) AS n FROM patients');
SELECT made($$SELECT CASE WHEN zip = '1' THEN 'a' ELSE diagnosis END AS c, age IN (1, 2) AS i, age IS NULL AS z FROM patients$$);
SELECT made('SELECT now() AS now, generate_series(1, 5) AS g, random() AS r, NULL AS n, current_user AS u FROM patients');
SELECT reads('SELECT now() FROM patients'), reads('SELECT generate_series(1, 5) FROM patients'), reads('SELECT 1');

\echo '# Whole rows and fields of them'
SELECT made('SELECT p FROM patients p');
SELECT made('SELECT row_to_json(p) AS j, (p).age, p.zip, p IS NULL AS n FROM patients p');
SELECT made('SELECT (s.p).age FROM (SELECT p FROM patients p) s');
SELECT made('SELECT s FROM (SELECT age, zip FROM patients) s');
SELECT made('SELECT ROW(age, zip) AS r, ARRAY[age, id] AS a, to_jsonb(p) - ''zip'' AS j FROM patients p');
SELECT made('SELECT ctid, tableoid::regclass AS t, xmin FROM patients');

\echo '# Joins'
SELECT made('SELECT * FROM patients JOIN zips USING (zip)');
SELECT made('SELECT zip, region, age FROM patients NATURAL LEFT JOIN zips');
SELECT made('SELECT zip, p.zip AS pz, z.zip AS zz FROM patients p FULL JOIN zips z USING (zip)');
SELECT made('SELECT j FROM (patients JOIN zips USING (zip)) AS j (a, b, c, d, e, f)');
SELECT made('SELECT u.zip FROM patients p JOIN zips z USING (zip) AS u');
SELECT made('SELECT a.age AS x, b.age AS y FROM patients a, patients b');
SELECT reads('SELECT 1 FROM patients JOIN zips USING (zip)'), reads('SELECT 1 FROM patients a, patients b');
SELECT reads('SELECT p.* FROM patients p, generate_series(1, 10)');

\echo '# Subqueries, LATERAL'
SELECT made('SELECT x AS y, two FROM (SELECT age AS x, age * 2 AS two FROM (SELECT * FROM patients OFFSET 0) a) b WHERE x > 3');
SELECT reads('SELECT x FROM (SELECT age AS x FROM (SELECT * FROM patients OFFSET 0) a) b WHERE x > 3');
SELECT made('SELECT p.id, l.* FROM patients p, LATERAL (SELECT p.age + 1 AS older, day FROM visits WHERE patient = p.id) l');
SELECT made('SELECT l.c FROM patients p CROSS JOIN LATERAL (SELECT c FROM (VALUES (p.zip), (p.diagnosis)) v (c)) l');

\echo '# CTEs'
SELECT made('WITH c AS (SELECT age AS a, zip FROM patients) SELECT a, zip FROM c');
SELECT made('WITH c (x, y) AS MATERIALIZED (SELECT age, zip FROM patients) SELECT l.x, r.y, l FROM c l, c r');
SELECT made('WITH a AS (SELECT age FROM patients), b AS (SELECT age + 1 AS b FROM a) SELECT (SELECT max(b) FROM b) AS m, c.age FROM (SELECT * FROM a) c');
SELECT made('WITH a AS (SELECT age AS v FROM patients) SELECT v FROM (WITH a AS (SELECT region AS v FROM zips) SELECT v FROM a) s');
SELECT reads('WITH c AS (SELECT age FROM patients) SELECT * FROM c'), reads('WITH c AS (SELECT age FROM patients) SELECT 1 FROM c a, c b');
SELECT reads('WITH unused AS (SELECT * FROM visits) SELECT id FROM patients');
SELECT made('WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n');
SELECT made($$WITH RECURSIVE r (a, b, c, d) AS (
    SELECT id, age, zip::text, 0 FROM patients UNION ALL SELECT b, a, region, d + 1 FROM r JOIN zips ON zip = c
  ) SELECT * FROM r$$);
SELECT made($$WITH RECURSIVE r (a, b) AS (
    SELECT id, age FROM patients UNION ALL
    SELECT * FROM (WITH RECURSIVE i (x, y) AS (SELECT a, b FROM r UNION ALL SELECT y, x FROM i) SELECT x, 0 FROM i) s
  ) SELECT * FROM r$$);
SELECT made($$WITH RECURSIVE r (a, b) AS (SELECT id, age FROM patients UNION ALL SELECT a, 1 FROM r)
  SEARCH DEPTH FIRST BY a SET seq CYCLE a SET looped USING path SELECT * FROM r$$);
SELECT reads('WITH RECURSIVE r AS (SELECT id FROM patients UNION ALL SELECT id + 1 FROM r) SELECT id FROM r');
SELECT made('WITH d AS (DELETE FROM patients RETURNING age, zip AS z) SELECT z, age FROM d');
SELECT reads('WITH d AS (DELETE FROM patients RETURNING age, zip AS z) SELECT z, age FROM d');

\echo '# Set operations'
SELECT made('SELECT age AS n, zip FROM patients UNION ALL SELECT patient, note::varchar FROM visits EXCEPT SELECT 1, region FROM zips ORDER BY n');
SELECT made('(SELECT age FROM patients INTERSECT SELECT age FROM patients) UNION SELECT age FROM patients LIMIT 3');
SELECT made('SELECT * FROM (SELECT id, age FROM patients UNION SELECT age, 7 FROM patients) u');
SELECT reads('SELECT age FROM patients UNION ALL SELECT age FROM patients');

\echo '# Queries within expressions: their conditions count'
SELECT made('SELECT (SELECT region FROM zips z WHERE z.zip = p.zip) AS region FROM patients p');
SELECT made('SELECT ARRAY(SELECT cost FROM visits) AS a, id IN (SELECT patient FROM visits) AS i FROM patients');
SELECT made($$SELECT EXISTS (SELECT FROM visits WHERE p.diagnosis = 'flu') AS e, EXISTS (SELECT FROM zips) AS none FROM patients p$$);
SELECT made('SELECT (SELECT (SELECT p.age + v.patient FROM zips LIMIT 1) FROM visits v LIMIT 1) AS s FROM patients p');
SELECT made('SELECT id FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.age)');
SELECT reads('SELECT id FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.age)');
SELECT reads('SELECT (SELECT age FROM patients LIMIT 1) FROM visits');

\echo '# What decides which value stands in which row'
SELECT made($$SELECT p.id, code FROM patients p JOIN (VALUES ('flu', 'F'), ('cold', 'C')) v (d, code) ON p.diagnosis = v.d$$);
SELECT made($$SELECT p.id, code FROM patients p, (VALUES ('flu', 'F')) v (d, code), zips WHERE v.d = zips.region AND zips.zip = p.diagnosis$$);
SELECT made($$SELECT p.id, x FROM patients p LEFT JOIN (VALUES (1)) v (x) ON p.diagnosis = 'flu'$$);
SELECT made($$SELECT p.id, l.x FROM patients p LEFT JOIN LATERAL (SELECT 1 AS x WHERE p.diagnosis = 'flu') l ON true$$);
SELECT made($$SELECT code, w FROM (SELECT code FROM patients JOIN (VALUES ('flu', 'F')) v (d, code) ON diagnosis = d) s
  JOIN (VALUES ('F', 1)) v (c, w) ON c = code$$);
SELECT made($$SELECT id, 'flu' AS d FROM patients WHERE diagnosis = 'flu' UNION ALL SELECT id, 'other' FROM patients WHERE age > 3$$);
SELECT made($$SELECT zip, 'many' AS n FROM patients GROUP BY zip HAVING max(age) > 5 UNION SELECT zip, 'few' FROM zips$$);
SELECT made($$WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r JOIN patients ON n < age) SELECT n FROM r$$);

\echo '# Aggregates, windows'
SELECT made($$SELECT zip, count(*) AS n, sum(age) FILTER (WHERE diagnosis = 'flu') AS s, string_agg(tags[1], ',' ORDER BY id) AS o,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS p FROM patients GROUP BY zip HAVING max(id) > 1$$);
SELECT made('SELECT zip, age / 10 AS decade, grouping(zip) AS g FROM patients GROUP BY ROLLUP (zip, age / 10)');
SELECT reads('SELECT zip, count(*) FROM patients GROUP BY zip'), reads('SELECT zip FROM patients GROUP BY ROLLUP (zip)');
SELECT made($$SELECT row_number() OVER () AS r, dense_rank() OVER (ORDER BY diagnosis) AS d, lag(age) OVER w AS l, id FROM patients
  WINDOW w AS (PARTITION BY zip ORDER BY id)$$);
SELECT made('SELECT DISTINCT ON (zip) id, age FROM patients ORDER BY zip, diagnosis LIMIT 5');

\echo '# VALUES and functions in FROM'
SELECT made($$VALUES (1, 'a'), (2, 'b')$$);
SELECT made('SELECT t, n FROM patients, unnest(tags) WITH ORDINALITY AS u (t, n)');
SELECT made('SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY[3])) AS f (a, b)');
SELECT made('SELECT a, b, o FROM patients, ROWS FROM (generate_series(1, age), unnest(tags)) WITH ORDINALITY AS f (a, b, o)');
SELECT made($$SELECT x.* FROM visits, jsonb_to_record(note) AS x (k text, v int)$$);
SELECT made($$SELECT x.* FROM visits, XMLTABLE('/a' PASSING (note::text::xml) COLUMNS b text PATH 'b' DEFAULT day::text, n FOR ORDINALITY) x$$);
CREATE FUNCTION everyone() RETURNS SETOF patients STABLE LANGUAGE sql AS 'SELECT * FROM patients';
CREATE FUNCTION anyone(a int) RETURNS TABLE (x int, y text) STABLE LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT age, zip::text FROM patients; END';
SELECT made('SELECT e.age, e FROM everyone() e');
SELECT made('SELECT x, p.id FROM patients p, anyone(p.age) a');
SELECT made('SELECT x FROM (SELECT x FROM anyone(1) UNION SELECT 1) s');
SELECT made('SELECT EXISTS (SELECT FROM anyone(1)) AS e');
SELECT made('SELECT n FROM generate_series(1, 3) n, everyone()');
SELECT reads('SELECT * FROM everyone()');

\echo '# Views, materialized views'
CREATE VIEW adults AS SELECT id, age AS years, zip, diagnosis || '' AS d FROM patients WHERE age > 17;
CREATE VIEW older AS SELECT years, zip AS place, d FROM adults WHERE EXISTS (SELECT FROM visits);
CREATE MATERIALIZED VIEW kept AS SELECT place, years + 1 AS next FROM older;
CREATE VIEW twice AS SELECT a.years FROM adults a, adults b;
SELECT made('SELECT * FROM older');
SELECT made('SELECT o, kept.* FROM older o, kept');
SELECT made('TABLE twice');
SELECT reads('SELECT d FROM older'), reads('SELECT 1 FROM kept'), reads('TABLE twice');
CREATE VIEW of_function AS SELECT age FROM everyone();
SELECT made('TABLE of_function');

\echo '# Writing statements'
SELECT made('INSERT INTO zips SELECT zip, diagnosis FROM patients RETURNING zip AS z, region, 1 AS one');
SELECT made($$INSERT INTO zips VALUES ('1', 'x') RETURNING *$$);
SELECT made($$INSERT INTO zips AS z SELECT zip, diagnosis FROM patients
  ON CONFLICT (zip) DO UPDATE SET region = excluded.region || z.region || (SELECT max(note::text) FROM visits) RETURNING region, zip$$);
SELECT made('UPDATE patients SET age = age + 1 RETURNING id, age, patients');
SELECT made('UPDATE zips SET region = p.diagnosis FROM patients p WHERE p.zip = zips.zip RETURNING zips.*, p.age');
SELECT made('UPDATE zips SET (zip, region) = (SELECT zip, diagnosis FROM patients LIMIT 1) RETURNING region');
SELECT made('DELETE FROM patients USING zips WHERE patients.zip = zips.zip RETURNING age, region');
SELECT made('UPDATE adults SET years = 3 RETURNING years, d');
SELECT reads('DELETE FROM patients RETURNING age'), reads('UPDATE zips SET region = age FROM patients RETURNING zips.zip');
SELECT reads('INSERT INTO zips SELECT zip, diagnosis FROM patients RETURNING *');
SELECT reads('INSERT INTO zips SELECT zip, diagnosis FROM patients, visits RETURNING *');
CREATE TABLE decoy (a int);
CREATE RULE swap AS ON DELETE TO decoy DO INSTEAD SELECT age, diagnosis FROM patients;
CREATE RULE swap_update AS ON UPDATE TO decoy DO INSTEAD DELETE FROM patients RETURNING age;
SELECT made('DELETE FROM decoy'), reads('DELETE FROM decoy');
SELECT made('UPDATE decoy SET a = 1 RETURNING a'), reads('UPDATE decoy SET a = 1 RETURNING a');
SELECT made('WITH d AS (UPDATE decoy SET a = 1 RETURNING a) SELECT a FROM d');

\echo '# Generated columns, odd names, inheritance, samples, locks'
CREATE TABLE "Odd ""Name" ("Älter" int, "select" text, bmi int GENERATED ALWAYS AS ("Älter" * 2) STORED);
SELECT made('SELECT "Älter", "select" AS "SELECT", bmi FROM "Odd ""Name"');
CREATE TABLE inpatients (ward int) INHERITS (patients);
SELECT made('SELECT ward, age FROM inpatients'), reads('SELECT age FROM patients TABLESAMPLE SYSTEM (10) FOR UPDATE LIMIT 3');
SELECT made('SELECT age FROM ONLY patients TABLESAMPLE SYSTEM (10) FOR UPDATE LIMIT 3');

\echo '# Row security'
CREATE TABLE grants (who name, zip varchar(5));
CREATE TABLE grant_log (who name);
CREATE VIEW granted AS SELECT zip FROM grants WHERE who = current_user AND who IN (SELECT who FROM grant_log);
CREATE POLICY mine ON patients USING (zip IN (SELECT zip FROM granted));
ALTER TABLE patients ENABLE ROW LEVEL SECURITY;
SELECT reads('SELECT age FROM patients');
CREATE ROLE lineage_reader;
GRANT SELECT ON patients, older, adults TO lineage_reader;
SET ROLE lineage_reader;
SELECT reads('SELECT age FROM patients'), reads('SELECT 1 FROM zips WHERE EXISTS (SELECT FROM patients)');
RESET ROLE;
ALTER TABLE patients FORCE ROW LEVEL SECURITY;
ALTER VIEW older OWNER TO lineage_reader;
ALTER VIEW adults OWNER TO lineage_reader;
SELECT reads('SELECT d FROM older');
ALTER VIEW older OWNER TO CURRENT_USER;
ALTER VIEW adults OWNER TO CURRENT_USER;
DROP OWNED BY lineage_reader;
DROP ROLE lineage_reader;

\echo '# What is used again and again is followed once, however deep'
SELECT made('SELECT c' || repeat(' FROM (SELECT c + c AS c', 60) || ' FROM (SELECT age AS c FROM patients) s' || repeat(') s', 60));
SELECT made('SELECT ' || repeat('(SELECT ', 200) || 'age' || repeat(')', 200) || ' AS deep FROM patients');
SELECT made('SELECT age' || repeat(' + age', 500) || ' AS sum FROM patients');
SELECT made('CREATE TABLE copied AS TABLE patients'), reads('CREATE TABLE copied AS TABLE patients');
\set VERBOSITY terse
SELECT made('SELECT nothing FROM patients');
