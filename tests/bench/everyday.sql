-- Data of tests/bench/{classes,population,columns}.sh: 3 million rows × 6 known columns with 10⁵ classes, a sensitive
-- column, people and households, and sampling weights; and the same with 5 % NULLs, a tenth of the rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS everyday, holes;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE everyday AS
SELECT c % 10 AS a, c / 10 % 10 AS b, (ARRAY['north', 'east', 'south', 'west'])[1 + c / 100 % 4] AS c,
       date '1950-01-01' + c / 400 % 10 AS d, (c / 4000 % 5)::text AS e, c / 20000 AS f,
       (floor(random() ^ 2 * 50))::int AS diagnosis, (random() * :rows / 6)::int AS person, (random() * :rows / 15)::int AS household,
       round((1 + random() * 9)::numeric, 1)::float8 AS weight
  FROM (SELECT least(floor(random() * 100000), 99999)::int AS c FROM generate_series(1, :rows)) AS classes;
CREATE TABLE holes AS
SELECT CASE WHEN random() >= 0.05 THEN a END AS a, CASE WHEN random() >= 0.05 THEN b END AS b, CASE WHEN random() >= 0.05 THEN c END AS c,
       CASE WHEN random() >= 0.05 THEN d END AS d, CASE WHEN random() >= 0.05 THEN e END AS e, CASE WHEN random() >= 0.05 THEN f END AS f
  FROM everyday LIMIT :rows / 10;
VACUUM ANALYZE everyday;
VACUUM ANALYZE holes;
SELECT disclosure.label_columns('everyday', quasi => '{a,b,c,d,e,f}', sensitive => '{diagnosis}', ignore => '{person,household,weight}') \g /dev/null
SELECT format('%s rows, %s classes', :rows, (SELECT classes FROM disclosure.risk_summary('everyday'))) AS data \gset
\echo :data
