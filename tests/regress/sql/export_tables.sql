-- Export tables: what comes in is judged together with what is there.
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = pg_disclosure', current_database()); END $$;
\c -
\pset null '(null)'
CREATE VIEW log AS
  SELECT kind, relation::text, measure, required, measured, rows, unsafe_rows, outcome
    FROM disclosure.export_log WHERE outcome <> 'changed' ORDER BY at;
CREATE VIEW triggers AS
  SELECT tgrelid::regclass::text AS "table", string_agg(tgname || CASE tgenabled WHEN 'A' THEN '' ELSE format(' (%s)', tgenabled) END, ', '
         ORDER BY tgname) AS triggers
    FROM pg_trigger WHERE tgname LIKE 'disclosure%' GROUP BY tgrelid ORDER BY tgrelid::regclass::text COLLATE "C";

-- block, with classes of three
CREATE TABLE queue (age int, zip text, ill text);
CREATE INDEX ON queue (age, zip);
SELECT disclosure.protect('queue', measure => 'k_anonymity', at_least => 3, columns => ARRAY['age', 'zip'], on_rows => 'block');
TABLE triggers;
INSERT INTO queue SELECT 30, '13053', 'flu' FROM generate_series(1, 2);
INSERT INTO queue SELECT 30, '13053', 'flu' FROM generate_series(1, 3);
INSERT INTO queue VALUES (30, '13053', 'hiv');
INSERT INTO queue VALUES (30, '13053', 'flu'), (31, '13053', 'flu');
INSERT INTO queue SELECT * FROM queue WHERE false;
-- NULLs are alike.
INSERT INTO queue SELECT 30, NULL, 'flu' FROM generate_series(1, 3);
INSERT INTO queue VALUES (30, NULL, 'flu');
INSERT INTO queue VALUES (NULL, NULL, 'flu');
INSERT INTO queue VALUES (NULL, '13053', 'flu'), (NULL, '13053', 'hiv'), (NULL, '13053', 'flu');
-- COPY FROM, CTEs, ON CONFLICT
COPY queue FROM STDIN;
40	1	flu
40	1	flu
\.
COPY queue FROM STDIN;
40	1	flu
40	1	flu
40	1	flu
\.
WITH more AS (INSERT INTO queue VALUES (40, '2', 'flu'), (40, '2', 'flu') RETURNING *) INSERT INTO queue SELECT * FROM more LIMIT 1;
WITH gone AS (DELETE FROM queue WHERE zip = '2' RETURNING *) INSERT INTO queue SELECT age, '2', 'hiv' FROM gone LIMIT 2;
WITH gone AS (DELETE FROM queue WHERE zip = '2' RETURNING *) INSERT INTO queue SELECT age, '2', 'hiv' FROM gone;
-- UPDATE and DELETE: the classes that rows leave count as well
UPDATE queue SET age = 41 WHERE zip = '1' AND ctid = (SELECT min(ctid) FROM queue WHERE zip = '1');
UPDATE queue SET age = 41 WHERE zip = '1';
UPDATE queue SET ill = 'cold' WHERE zip = '1';
UPDATE queue SET age = 99 WHERE false;
DELETE FROM queue WHERE ctid = (SELECT min(ctid) FROM queue WHERE zip = '1');
DELETE FROM queue WHERE zip = '1';
MERGE INTO queue q USING (VALUES (50), (50)) v(age) ON q.zip = '2' AND q.age = v.age
  WHEN NOT MATCHED THEN INSERT VALUES (v.age, '50', 'flu');
MERGE INTO queue q USING (VALUES ('2')) v(zip) ON q.zip = v.zip
  WHEN MATCHED AND ill = 'hiv' THEN UPDATE SET ill = 'cold';
MERGE INTO queue q USING (VALUES ('2')) v(zip) ON q.zip = v.zip AND q.ctid = (SELECT min(ctid) FROM queue WHERE zip = '2')
  WHEN MATCHED THEN DELETE;
SELECT age, zip, count(*) FROM queue GROUP BY 1, 2 ORDER BY 1, 2;
-- An error in a block of its own leaves the rest as it was; what was refused stays on record.
DO $$ BEGIN
  INSERT INTO queue VALUES (60, '60', 'flu');
EXCEPTION WHEN check_violation THEN RAISE NOTICE 'refused';
END $$;
BEGIN;
INSERT INTO queue SELECT 60, '60', 'flu' FROM generate_series(1, 3);
SAVEPOINT s;
DELETE FROM queue WHERE age = 60 AND ctid <> (SELECT min(ctid) FROM queue WHERE age = 60);
ROLLBACK TO s;
INSERT INTO queue VALUES (60, '60', 'flu');
ROLLBACK;
TRUNCATE queue;
TABLE log;

-- Replaying changes does not switch the triggers off; their owner can, and protect switches them on again.
SET session_replication_role = replica;
INSERT INTO queue VALUES (1, '1', 'flu');
RESET session_replication_role;
ALTER TABLE queue DISABLE TRIGGER disclosure_inserted;
INSERT INTO queue VALUES (1, '1', 'flu');
TABLE triggers;
SELECT disclosure.protect('queue', measure => 'k_anonymity', at_least => 3, columns => ARRAY['age', 'zip'], on_rows => 'warn') > 0 AS replaced;
TABLE triggers;
-- warn; what is unsafe already is not touched by other rows
INSERT INTO queue VALUES (1, '1', 'flu');
INSERT INTO queue VALUES (1, '1', 'flu');
INSERT INTO queue VALUES (2, '1', 'flu');
SELECT disclosure.protect('queue', measure => 'k_anonymity', at_least => 3, columns => ARRAY['age', 'zip'], on_rows => 'block') > 0 AS replaced;
INSERT INTO queue SELECT 3, '1', 'flu' FROM generate_series(1, 3);
INSERT INTO queue SELECT 2, '1', 'flu' FROM generate_series(1, 2);
-- Without on_rows the triggers go.
SELECT disclosure.protect('queue', measure => 'k_anonymity', at_least => 3, columns => ARRAY['age', 'zip']) > 0 AS replaced;
TABLE triggers;
INSERT INTO queue VALUES (4, '1', 'flu');

-- drop: of this statement's rows
TRUNCATE queue;
SELECT disclosure.protect('queue', measure => 'k_anonymity', at_least => 3, columns => ARRAY['age', 'zip'], on_rows => 'drop') > 0 AS replaced;
TABLE triggers;
INSERT INTO queue SELECT i / 3, '1', i FROM generate_series(1, 10) i;
COPY queue FROM STDIN;
1	1	copied
7	7	copied
\N	7	copied
\.
INSERT INTO queue VALUES (8, '8', 'a'), (8, '8', 'b') RETURNING *;
UPDATE queue SET age = 9 WHERE ill = '3';
DELETE FROM queue WHERE ill IN ('3', '4');
SELECT * FROM queue ORDER BY age, ill;
-- Rows that were there before, unsafe or not, stay.
ALTER TABLE queue DISABLE TRIGGER disclosure_inserted;
INSERT INTO queue VALUES (20, '20', 'old');
ALTER TABLE queue ENABLE ALWAYS TRIGGER disclosure_inserted;
INSERT INTO queue VALUES (20, '20', 'new'), (1, '1', 'new');
SELECT * FROM queue WHERE age = 20;
-- Where new rows cannot be told from others, the statement is refused.
ALTER TABLE queue DISABLE TRIGGER disclosure_collect;
INSERT INTO queue VALUES (20, '20', 'new'), (1, '1', 'new');
ALTER TABLE queue ENABLE ALWAYS TRIGGER disclosure_collect;
-- A trigger that could keep a row: then the statement is refused. A trigger after the deletion runs as after an INSERT.
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'kept'; RETURN NULL; END $$;
CREATE TRIGGER keep BEFORE DELETE ON queue FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO queue VALUES (20, '20', 'new'), (1, '1', 'new');
DROP TRIGGER keep ON queue;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE NOTICE '% % with path %', TG_OP, OLD, current_setting('search_path');
  RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER DELETE ON queue FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO queue VALUES (20, '20', 'new'), (1, '1', 'new');
DROP TRIGGER tell ON queue;
-- An insert within an insert: each has its own rows.
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO queue SELECT NEW.age + 100, NEW.zip, 'again' FROM generate_series(1, NEW.age);
  RETURN NULL;
END $$;
CREATE TRIGGER again AFTER INSERT ON queue FOR EACH ROW WHEN (NEW.ill = 'nest') EXECUTE FUNCTION again();
INSERT INTO queue VALUES (2, '1', 'nest'), (3, '1', 'nest');
SELECT * FROM queue WHERE ill IN ('nest', 'again') ORDER BY age;
DROP TABLE queue;
SELECT count(*) FROM disclosure_internal.policy;

-- ON CONFLICT, foreign keys that cascade, deferred constraints
CREATE TABLE people (id int PRIMARY KEY);
INSERT INTO people SELECT generate_series(1, 9);
CREATE TABLE visits (id int PRIMARY KEY, person int REFERENCES people ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED, zip text);
SELECT disclosure.protect('visits', measure => 'k_anonymity', at_least => 2, columns => ARRAY['zip'], on_rows => 'block') > 0 AS made;
INSERT INTO visits SELECT i, i, (i / 2)::text FROM generate_series(2, 7) i;
INSERT INTO visits VALUES (2, 2, '9') ON CONFLICT (id) DO UPDATE SET zip = EXCLUDED.zip;
INSERT INTO visits VALUES (2, 2, '3'), (3, 3, '3') ON CONFLICT (id) DO UPDATE SET zip = EXCLUDED.zip;
INSERT INTO visits VALUES (2, 2, '9') ON CONFLICT (id) DO NOTHING;
DELETE FROM people WHERE id = 4;
DELETE FROM people WHERE id IN (4, 5);
BEGIN;
INSERT INTO visits VALUES (10, 10, '3');
COMMIT;
SELECT * FROM visits ORDER BY id;
DROP TABLE visits, people;

-- Other measures
CREATE TABLE scored (zip text, sex text, ill text, note text, town text);
SELECT disclosure.label_column('scored', 'zip', 'quasi'), disclosure.label_column('scored', 'sex', 'identifier'),
       disclosure.label_column('scored', 'ill', 'sensitive'), disclosure.label_column('scored', 'town', 'quasi'), disclosure.label_column('scored', 'note', 'ignore') \g /dev/null
SELECT disclosure.protect('scored', measure => 'privacy_score', at_most => 0.3, on_rows => 'block') > 0 AS made;
INSERT INTO scored VALUES ('1', 'f', 'flu', 'a');
INSERT INTO scored VALUES ('1', 'f', 'flu', 'a'), ('1', 'f', 'hiv', 'b'), ('1', 'm', 'flu', 'c'), ('1', 'm', 'hiv', 'd');
INSERT INTO scored VALUES ('1', 'f', 'cold', 'e');
INSERT INTO scored VALUES ('1', 'x', 'cold', 'e');
INSERT INTO scored SELECT '2', 'f', (i % 2)::text FROM generate_series(1, 200) i;
INSERT INTO scored SELECT '3', 'f', 'only' FROM generate_series(1, 200) i;
DELETE FROM scored WHERE ill = 'hiv';
UPDATE scored SET ill = 'flu' WHERE ill = 'hiv';
UPDATE scored SET ill = 'flue' WHERE ill = 'flu';
SELECT disclosure.protect('scored', measure => 'privacy_score', at_most => 0.3, on_rows => 'drop') > 0 AS replaced;
INSERT INTO scored VALUES ('1', 'f', 'new', 'e'), ('4', 'f', 'flu', 'f'), ('5', 'f', 'hiv', 'g');
INSERT INTO scored SELECT '6', 'm', i FROM generate_series(1, 2) i;
-- Aix gives hiv away; without that row, the other one is alone with its diagnosis.
INSERT INTO scored VALUES ('7', 'f', 'flu', 'h', NULL), ('7', 'f', 'hiv', 'i', 'Aix');
SELECT zip, sex, ill, count(*) FROM scored WHERE zip <> '2' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT disclosure.unprotect('scored'::regclass);
CREATE FUNCTION how_many(query text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE found bigint;
BEGIN EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO found; RETURN found; END $$;
TRUNCATE scored;
SELECT disclosure.protect('scored', measure => 'privacy_score', statistic => 'average', at_most => 0.2, on_rows => 'block') > 0 AS average,
       disclosure.protect('scored', measure => 'privacy_score', statistic => 'share', threshold => 0.5, at_most => 0.5, on_rows => 'block') > 0 AS share,
       disclosure.protect('scored', measure => 'expected_cracks', at_most => 2, columns => ARRAY['note'], on_rows => 'block') > 0 AS cracks,
       disclosure.protect('scored', measure => 'how_many', at_most => 4, on_rows => 'warn') > 0 AS function;
INSERT INTO scored VALUES ('1', 'f', 'flu', 'a');
INSERT INTO scored VALUES ('1', 'f', 'flu', 'a'), ('1', 'f', 'hiv', 'a'), ('1', 'm', 'hiv', 'a'), ('1', 'm', 'flu', 'a');
INSERT INTO scored VALUES ('1', 'f', 'flu', 'b');
INSERT INTO scored VALUES ('1', 'f', 'flu', 'b'), ('1', 'f', 'flu', 'c'), ('1', 'f', 'flu', 'c'), ('1', 'f', 'flu', 'd'), ('1', 'f', 'flu', 'd'), ('1', 'f', 'flu', 'd');
SELECT * FROM log WHERE relation = 'scored' ORDER BY measure, outcome, rows, kind;
DROP TABLE scored;

-- Partitions: a statement on one is judged with the whole.
CREATE SCHEMA "Out";
CREATE TABLE "Out"."Rows" (dropped int, "Zip code" text NOT NULL, "from" int, twice int GENERATED ALWAYS AS ("from" * 2) STORED) PARTITION BY LIST ("from");
ALTER TABLE "Out"."Rows" DROP COLUMN dropped;
CREATE TABLE "Out".one PARTITION OF "Out"."Rows" FOR VALUES IN (1);
SELECT disclosure.protect('"Out"."Rows"', measure => 'k_anonymity', at_least => 2, columns => ARRAY['Zip code'], on_rows => 'block') > 0 AS made;
CREATE TABLE "Out".two PARTITION OF "Out"."Rows" FOR VALUES IN (2) PARTITION BY HASH ("Zip code");
CREATE TABLE "Out".two_0 PARTITION OF "Out".two FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE "Out"."3rd" (extra int, "from" int, "Zip code" text NOT NULL, twice int GENERATED ALWAYS AS ("from" * 2) STORED);
ALTER TABLE "Out"."3rd" DROP COLUMN extra;
ALTER TABLE "Out"."Rows" ATTACH PARTITION "Out"."3rd" FOR VALUES IN (3);
TABLE triggers;
INSERT INTO "Out".one VALUES ('a', 1);
INSERT INTO "Out"."Rows" VALUES ('a', 1), ('a', 2);
INSERT INTO "Out"."3rd" ("Zip code", "from") VALUES ('a', 3);
INSERT INTO "Out"."3rd" ("Zip code", "from") VALUES ('b', 3);
INSERT INTO "Out".two_0 VALUES ('b', 2);
INSERT INTO "Out".two VALUES ('b', 2), ('b', 2);
UPDATE "Out"."Rows" SET "from" = 1 WHERE "from" = 2;
DELETE FROM "Out"."3rd";
DELETE FROM "Out".one WHERE "Zip code" = 'a';
SELECT tableoid::regclass, * FROM "Out"."Rows" ORDER BY 1, 2, 3;
SELECT disclosure.protect('"Out"."Rows"', measure => 'k_anonymity', at_least => 2, columns => ARRAY['Zip code'], on_rows => 'drop') > 0 AS replaced;
TABLE triggers;
INSERT INTO "Out"."Rows" VALUES ('c', 1), ('c', 2), ('d', 3), ('b', 3);
INSERT INTO "Out".two VALUES ('c', 2), ('e', 2);
SELECT tableoid::regclass, * FROM "Out"."Rows" ORDER BY 1, 2, 3;
ALTER TABLE "Out"."Rows" DETACH PARTITION "Out"."3rd";
INSERT INTO "Out"."3rd" ("Zip code", "from") VALUES ('alone', 3);
-- A policy on a partition only
SELECT disclosure.unprotect('"Out"."Rows"'::regclass);
SELECT disclosure.protect('"Out".one', measure => 'k_anonymity', at_least => 2, columns => ARRAY['Zip code'], on_rows => 'block') > 0 AS made;
TABLE triggers;
INSERT INTO "Out"."Rows" VALUES ('z', 2);
INSERT INTO "Out"."Rows" VALUES ('z', 1);
DROP SCHEMA "Out" CASCADE;

-- Inheritance: children with columns of their own
CREATE TABLE parent (zip text, "drop" text);
CREATE TABLE child (more int) INHERITS (parent);
SELECT disclosure.protect('parent', measure => 'k_anonymity', at_least => 2, columns => ARRAY['zip'], on_rows => 'drop') > 0 AS made;
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE adopted (zip text, "drop" text);
ALTER TABLE adopted INHERIT parent;
TABLE triggers;
INSERT INTO grandchild VALUES ('a'), ('b'), ('b');
INSERT INTO adopted VALUES ('a'), ('b');
INSERT INTO parent VALUES ('b'), ('c');
SELECT tableoid::regclass, * FROM parent ORDER BY 1, 2;
SELECT disclosure.protect('child', measure => 'k_anonymity', at_least => 2, columns => ARRAY['more'], on_rows => 'block') > 0 AS made;
INSERT INTO child VALUES ('b', '', 1);
INSERT INTO parent VALUES ('b', '');
DELETE FROM parent WHERE tableoid = 'grandchild'::regclass;
DELETE FROM parent;
DROP TABLE parent CASCADE;

-- Who is meant, and with whose rights it is judged
CREATE ROLE export_analyst;
CREATE ROLE export_clerk IN ROLE export_analyst;
CREATE ROLE export_owner;
GRANT CREATE ON SCHEMA public TO export_owner;
SET ROLE export_owner;
CREATE TABLE outbox (zip text, ill text);
CREATE TABLE others (zip text);
SELECT disclosure.protect('outbox', measure => 'k_anonymity', at_least => 2, columns => ARRAY['zip'], for_role => 'export_analyst', on_rows => 'drop') > 0 AS made;
GRANT INSERT ON outbox TO export_analyst;
-- It sees all rows of its table, also where its owner does not.
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY writes ON outbox FOR INSERT WITH CHECK (true);
INSERT INTO outbox VALUES ('owner', 'not meant');
SET ROLE export_clerk;
INSERT INTO outbox VALUES ('a', 'clerk'), ('b', 'clerk'), ('b', 'clerk');
INSERT INTO outbox VALUES ('b', 'clerk'), ('owner', 'clerk');
SELECT * FROM outbox;
SELECT disclosure.protect('outbox', measure => 'k_anonymity', at_least => 1, on_rows => 'block');
CREATE TABLE mine PARTITION OF outbox DEFAULT;
RESET ROLE;
SELECT * FROM outbox ORDER BY zip;
INSERT INTO outbox VALUES ('root', 'not meant');
SELECT disclosure.protect('outbox', measure => 'k_anonymity', at_least => 2, columns => ARRAY['zip'], on_rows => 'block') > 0 AS for_everyone;
INSERT INTO outbox VALUES ('superuser', 'judged');
-- Nobody's path or settings count.
CREATE SCHEMA trap;
CREATE FUNCTION trap.never(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.never);
SET search_path = trap, public, pg_catalog;
INSERT INTO outbox VALUES ('trapped', 'judged');
RESET search_path;
DROP TABLE outbox, others;

-- The functions are for the triggers.
SELECT disclosure_internal.export_judge();
CREATE TABLE stray (i int);
CREATE TRIGGER stray BEFORE INSERT ON stray FOR EACH ROW EXECUTE FUNCTION disclosure_internal.export_judge();
INSERT INTO stray VALUES (1);
DROP TRIGGER stray ON stray;
CREATE TRIGGER stray AFTER INSERT ON stray FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_collect();
INSERT INTO stray VALUES (1);
DROP TRIGGER stray ON stray;
-- Types without equality are judged too, by the whole table; no columns at all: all rows are alike.
CREATE TABLE odd (j json, p point);
SELECT disclosure.protect('odd', measure => 'k_anonymity', at_least => 2, on_rows => 'block') > 0 AS made;
INSERT INTO odd VALUES ('1', '(1,1)');
INSERT INTO odd VALUES ('1', '(1,1)'), ('1', '(1,1)');
SELECT disclosure.label_column('odd', 'j', 'sensitive'), disclosure.label_column('odd', 'p', 'ignore') \g /dev/null
DELETE FROM odd WHERE ctid = (SELECT min(ctid) FROM odd);
DELETE FROM odd;
-- More combinations of NULLs than are looked up one by one
CREATE TABLE gaps (a int, b int, c int, d int, e int);
SELECT disclosure.protect('gaps', measure => 'k_anonymity', at_least => 2, columns => '{a,b,c,d,e}', on_rows => 'drop') > 0 AS made;
CREATE VIEW patterns AS
  SELECT nullif(i & 1, 0) AS a, nullif(i & 2, 0) AS b, nullif(i & 4, 0) AS c, nullif(i & 8, 0) AS d, nullif(i & 16, 0) AS e
    FROM generate_series(0, 31) i;
INSERT INTO gaps TABLE patterns;
INSERT INTO gaps SELECT p.* FROM patterns p, generate_series(1, 1 + coalesce(p.a, 0));
SELECT count(*), count(a) FROM gaps;
SELECT disclosure.protect('gaps', measure => 'k_anonymity', at_least => 2, columns => '{a,b,c,d,e}', on_rows => 'block') > 0 AS replaced;
INSERT INTO gaps SELECT p.* FROM patterns p WHERE p.a > 0;
INSERT INTO gaps TABLE patterns;
DELETE FROM gaps WHERE ctid IN (SELECT min(ctid) FROM gaps GROUP BY a, b, c, d, e);
DELETE FROM gaps WHERE ctid IN (SELECT min(ctid) FROM gaps GROUP BY a, b, c, d, e);
-- A table that changes its shape between two statements of a session
CREATE TABLE moving (a int, b int);
SELECT disclosure.protect('moving', measure => 'k_anonymity', at_least => 2, columns => ARRAY['b'], on_rows => 'block') > 0 AS made;
INSERT INTO moving VALUES (1, 1), (2, 1);
ALTER TABLE moving DROP COLUMN a;
INSERT INTO moving VALUES (1);
INSERT INTO moving VALUES (2);
ALTER TABLE moving ADD COLUMN c text, ALTER COLUMN b TYPE text;
INSERT INTO moving VALUES ('1', 'c');
INSERT INTO moving VALUES ('2', 'c');
ALTER TABLE moving RENAME COLUMN b TO bb;
INSERT INTO moving VALUES ('1', 'c');
INSERT INTO moving VALUES ('2', 'c');
DROP VIEW patterns;
DROP TABLE moving, odd, stray, gaps;
DROP SCHEMA trap CASCADE;
REVOKE CREATE ON SCHEMA public FROM export_owner;
DROP ROLE export_clerk, export_analyst, export_owner;

-- A row that one policy drops does not protect the others from a second policy.
CREATE TABLE two_drops (region text, zip text, ill text);
SELECT disclosure.label_column('two_drops', 'region', 'ignore'), disclosure.label_column('two_drops', 'zip', 'quasi'), disclosure.label_column('two_drops', 'ill', 'sensitive') \g /dev/null
SELECT count(*) AS policies FROM disclosure.protect('two_drops', 'k_anonymity', columns => '{region}', at_least => 2, on_rows => 'drop');
SELECT count(*) AS policies FROM disclosure.protect('two_drops', 'privacy_score', at_most => 0.2, on_rows => 'drop');
INSERT INTO two_drops SELECT 'a', '1', 'flu' FROM generate_series(1, 40) UNION ALL VALUES ('b', '1', 'hiv');
SELECT count(*) AS none_is_left FROM two_drops;
DROP TABLE two_drops;

-- drop, block and warn side by side: rows are dropped first, by all policies that drop; then what is left is judged by those
-- that block, and then by those that warn, whatever their numbers are.
CREATE TABLE side_by_side (region text, zip text, street text);
SELECT disclosure.protect('side_by_side', 'k_anonymity', columns => '{street}', at_least => 2, on_rows => 'warn') > 0 AS warn,
       disclosure.protect('side_by_side', 'k_anonymity', columns => '{zip}', at_least => 2, on_rows => 'block') > 0 AS block,
       disclosure.protect('side_by_side', 'k_anonymity', columns => '{region}', at_least => 2, on_rows => 'drop') > 0 AS drop;
-- The dropped row is the only one that breaks the others.
INSERT INTO side_by_side VALUES ('a', '1', 'x'), ('a', '1', 'x'), ('b', '2', 'y');
-- Without the dropped row, zip 1 of region a is safe, and its street is not.
INSERT INTO side_by_side VALUES ('a', '1', 'y'), ('b', '2', 'y');
-- The dropped row would have made zip 2 safe; without it the whole statement is refused, and nobody hears of dropped rows.
INSERT INTO side_by_side VALUES ('a', '2', 'z'), ('b', '2', 'z');
-- What blocks comes before what warns.
INSERT INTO side_by_side VALUES ('a', '3', 'q');
-- UPDATE and DELETE are refused by policies that drop.
UPDATE side_by_side SET region = 'c' WHERE street = 'y';
DELETE FROM side_by_side WHERE street = 'x';
TABLE side_by_side;
SELECT required, rows, unsafe_rows, outcome, measure FROM log WHERE relation = 'side_by_side';
DROP TABLE side_by_side;

-- Rows that are unsafe in the end and cannot be dropped, because they are not where the statement has put them
CREATE TABLE moved (id int PRIMARY KEY, region text, zip text);
SELECT disclosure.protect('moved', 'k_anonymity', columns => '{region}', at_least => 2, on_rows => 'drop') > 0 AS region,
       disclosure.protect('moved', 'k_anonymity', columns => '{zip}', at_least => 3, on_rows => 'drop') > 0 AS zip;
INSERT INTO moved SELECT i, 'old', 'old' FROM generate_series(1, 4) i;
-- An ON CONFLICT moves an old row to new ones, one of which is dropped.
INSERT INTO moved VALUES (4, '', ''), (11, 'a', '1'), (12, 'b', '1')
  ON CONFLICT (id) DO UPDATE SET region = 'a', zip = '1';
-- A trigger writes new rows again.
CREATE FUNCTION rewrite() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE moved SET zip = zip WHERE region = 'a'; RETURN NULL;
END $$;
CREATE TRIGGER a_rewrite AFTER INSERT ON moved FOR EACH STATEMENT EXECUTE FUNCTION rewrite();
INSERT INTO moved VALUES (21, 'a', '1'), (22, 'a', '1'), (23, 'b', '1');
SELECT zip, count(*) FROM moved GROUP BY zip;
DROP TRIGGER a_rewrite ON moved;
-- Rows of an earlier statement of the same transaction stay.
BEGIN;
INSERT INTO moved SELECT i, 'old', 'old' FROM generate_series(31, 33) i;
INSERT INTO moved VALUES (34, 'old', 'new'), (35, 'old', 'old');
COMMIT;
SELECT zip, count(*) FROM moved GROUP BY zip;
DROP TABLE moved;
DROP FUNCTION rewrite;
