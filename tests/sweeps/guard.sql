-- The world of the sweep guard. To repeat an export that the sweep has reported, in tools/psql:
--   \i tests/sweeps/guard.sql
-- then connect again, because the library is loaded at the start of a session. The reported line calls guarded.fill()
-- first, which makes the same rows for the same round, and changes or leaves out one of them if asked to.
DO $$
BEGIN
  CREATE ROLE sweep_guard_owner;
  CREATE ROLE sweep_guard_hostile LOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
CREATE SCHEMA guarded AUTHORIZATION sweep_guard_owner;
CREATE SCHEMA mine AUTHORIZATION sweep_guard_hostile;
GRANT USAGE ON SCHEMA guarded TO sweep_guard_hostile;

-- Three protected tables with the same columns, which differ in their policies. People have up to two rows in ward and
-- clinic, where some are unknown, and one in registry.
-- The last two may be read by COPY TO only.
SET ROLE sweep_guard_owner;
CREATE TABLE guarded.ward (
  id int PRIMARY KEY, person text, age int, zip text, sex text, weight numeric, admitted date, diagnosis text, severity int,
  extra int
) WITH (autovacuum_enabled = off);
CREATE INDEX ON guarded.ward (zip);
CREATE TABLE guarded.clinic (LIKE guarded.ward INCLUDING ALL) WITH (autovacuum_enabled = off);
CREATE TABLE guarded.registry (LIKE guarded.ward INCLUDING ALL) WITH (autovacuum_enabled = off);
CREATE TABLE guarded.regions (zip text PRIMARY KEY, region text);
INSERT INTO guarded.regions VALUES ('1010', 'city'), ('1020', 'city'), ('1030', 'land');
CREATE FUNCTION guarded.decade(age int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT age / 10';
CREATE VIEW guarded.ward_view AS
  SELECT age / 10 AS decade, left(zip, 2) AS area, sex, diagnosis FROM guarded.ward;
CREATE VIEW guarded.clinic_view AS
  SELECT guarded.decade(age) AS decade, left(zip, 2) AS area, sex, diagnosis FROM guarded.clinic WHERE age < 50;
CREATE VIEW guarded.registry_view AS
  SELECT age / 10 AS decade, left(zip, 2) AS area, sex, diagnosis FROM guarded.registry;
GRANT SELECT ON ALL TABLES IN SCHEMA guarded TO sweep_guard_hostile;

-- Makes the rows of a round. If differs, the rows of one person are not the same as otherwise, or are not there.
CREATE PROCEDURE guarded.fill(round int, differs boolean DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE
  name text;
  people int;
  chosen int;
  change int;
  row guarded.ward;
BEGIN
  PERFORM setseed(round % 100003 / 100003.0);
  chosen := 1 + floor(random() * 12);
  change := floor(random() * 10);
  FOREACH name IN ARRAY ARRAY['ward', 'clinic', 'registry'] LOOP
    EXECUTE format('TRUNCATE guarded.%I', name);
    people := 16 + floor(random() * 33);
    FOR i IN 1..people LOOP
      row := guarded.somebody(i);
      IF name = 'registry' THEN
        row.person := 'p' || i;
      END IF;
      IF differs AND coalesce(row.person = 'p' || chosen, i = chosen) THEN
        CONTINUE WHEN change = 0;
        row := guarded.changed(row, change);
      END IF;
      EXECUTE format('INSERT INTO guarded.%I SELECT ($1).*', name) USING row;
    END LOOP;
    EXECUTE format('ANALYZE guarded.%I', name);
  END LOOP;
  -- An export that should have been refused may have written there.
  DELETE FROM mine.bag WHERE code IS NULL;
END $$;
CREATE FUNCTION guarded.somebody(i int) RETURNS guarded.ward LANGUAGE sql VOLATILE AS $$
  SELECT i, CASE WHEN i % 13 > 0 THEN 'p' || i - i / 3 END, (ARRAY[20, 30, 30, 40, 50])[1 + floor(random() * 5)], (ARRAY['1010', '1010', '1020', '1030'])[1 + floor(random() * 4)],
         (ARRAY['f', 'm'])[1 + floor(random() * 2)], (ARRAY[60, 70.0, 70.00, 80.5])[1 + floor(random() * 4)],
         date '2024-01-01' + 100 * floor(random() * 4)::int,
         (ARRAY['flu', 'hiv', 'ulcer', 'asthma', 'cold', NULL])[1 + floor(random() * 6)], (1 + floor(random() * 4))::int,
         floor(random() * 3)::int
$$;
-- From 7 on, all columns change that are not identifiers.
CREATE FUNCTION guarded.changed(p guarded.ward, change int) RETURNS guarded.ward LANGUAGE sql IMMUTABLE AS $$
  SELECT p.id, p.person,
         CASE WHEN change IN (1, 7, 8, 9) THEN 70 - p.age ELSE p.age END,
         CASE WHEN change IN (2, 7, 8, 9) THEN translate(p.zip, '123', '231') ELSE p.zip END,
         CASE WHEN change IN (3, 7, 8, 9) THEN translate(p.sex, 'fm', 'mf') ELSE p.sex END,
         CASE WHEN change IN (4, 7, 8, 9) THEN 140.5 - p.weight ELSE p.weight END,
         p.admitted,
         CASE WHEN change IN (5, 7, 8, 9)
              THEN CASE p.diagnosis WHEN 'hiv' THEN 'flu' WHEN 'flu' THEN NULL ELSE 'hiv' END ELSE p.diagnosis END,
         CASE WHEN change IN (6, 7, 8, 9) THEN 5 - p.severity ELSE p.severity END,
         CASE WHEN change IN (7, 8, 9) THEN 2 - p.extra ELSE p.extra END
$$;
RESET ROLE;

-- How often a role may be refused depends on the version.
DO $$
DECLARE
  name text;
  label text[];
  patience text := '';
BEGIN
  IF EXISTS (SELECT FROM pg_proc WHERE oid::regproc::text = 'disclosure.protect' AND 'max_refusals' = ANY (proargnames)) THEN
    patience := ', max_refusals => 1000000';
  END IF;
  FOREACH name IN ARRAY ARRAY['ward', 'clinic', 'registry'] LOOP
    FOREACH label SLICE 1 IN ARRAY ARRAY[['id', 'identifier'], ['person', 'person'], ['age', 'quasi'], ['zip', 'quasi'], ['sex', 'quasi'],
                                         ['weight', 'quasi'], ['admitted', 'quasi'], ['diagnosis', 'sensitive'], ['severity', 'sensitive']] LOOP
      PERFORM disclosure.label_column(format('guarded.%I', name)::regclass, label[1], label[2]);
    END LOOP;
    IF name <> 'registry' THEN
      EXECUTE format('SELECT disclosure.protect(%L, ''k_anonymity'', at_least => %s, only_by_copy => %L%s)',
                     'guarded.' || name, CASE name WHEN 'ward' THEN 2 ELSE 3 END, name <> 'ward', patience);
    END IF;
    IF name <> 'ward' THEN
      EXECUTE format('SELECT disclosure.protect(%L, ''privacy_score'', at_most => 0.4, only_by_copy => true%s)', 'guarded.' || name, patience);
    END IF;
    EXECUTE format('SELECT disclosure.protect(%L, %L, %s => %s, min_people => 1, only_by_copy => %L%s)', 'guarded.' || name,
                   CASE name WHEN 'ward' THEN 'l_distinct' WHEN 'clinic' THEN 'share_below_5' ELSE 'alpha' END,
                   CASE name WHEN 'ward' THEN 'at_least' ELSE 'at_most' END, CASE name WHEN 'ward' THEN '2' ELSE '0.8' END, name <> 'ward', patience);
    -- The column extra has no label.
    IF name <> 'ward' THEN
      EXECUTE format('SELECT disclosure.protect(%L, %L, at_most => 0, min_people => 1, only_by_copy => true%s)', 'guarded.' || name,
                     CASE name WHEN 'clinic' THEN 'unlabelled_columns' ELSE 'identifier_columns' END, patience);
    END IF;
  END LOOP;
END $$;

-- What the hostile role has of its own: lists with and without a key, and code that passes on what it is given.
SET ROLE sweep_guard_hostile;
CREATE TABLE mine.numbers (n int PRIMARY KEY, word text) WITH (autovacuum_enabled = off);
INSERT INTO mine.numbers SELECT i, 'number ' || i FROM generate_series(0, 60) i;
CREATE TABLE mine.words (word text PRIMARY KEY, code int) WITH (autovacuum_enabled = off);
INSERT INTO mine.words
SELECT word, (row_number() OVER ())::int
  FROM unnest(ARRAY['1010', '1020', '1030', 'f', 'm', 'flu', 'hiv', 'ulcer', 'asthma', 'cold'] ||
              ARRAY(SELECT 'p' || i FROM generate_series(1, 50) i)) word;
-- As many copies of a word as its code says.
CREATE TABLE mine.bag (word text, code int) WITH (autovacuum_enabled = off);
INSERT INTO mine.bag SELECT w.word, i FROM mine.words w, generate_series(1, w.code % 4) i;
INSERT INTO mine.bag SELECT word, i FROM unnest('{true,h,a,b,low,x}'::text[]) word, generate_series(1, 2) i;
SELECT disclosure.label_column(t, c, 'ignore')
  FROM (VALUES ('mine.numbers'::regclass, 'n'), ('mine.numbers', 'word'), ('mine.words', 'word'), ('mine.words', 'code'),
               ('mine.bag', 'word'), ('mine.bag', 'code')) labels(t, c);
CREATE VIEW mine.ward_view AS SELECT age + 1 AS decade, zip || '' AS area, sex, diagnosis FROM guarded.ward;
CREATE VIEW mine.clinic_view AS SELECT age + 1 AS decade, zip || '' AS area, sex, diagnosis FROM guarded.clinic;
CREATE VIEW mine.registry_view AS SELECT age + 1 AS decade, zip || '' AS area, sex, diagnosis FROM guarded.registry;
CREATE SEQUENCE mine.counter;
CREATE FUNCTION mine.tell(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE
  AS $$ BEGIN RAISE NOTICE 'told %', x; RETURN x; END $$;
CREATE FUNCTION mine.same(x text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT x';
CREATE FUNCTION mine.told(x text, y text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
  AS $$ BEGIN RAISE NOTICE 'told %', x; RETURN x > y; END $$;
CREATE FUNCTION mine.fails(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE
  AS $$ BEGIN RAISE EXCEPTION 'failed at %', x; END $$;
CREATE FUNCTION mine.peek(i int) RETURNS text LANGUAGE plpgsql STABLE
  AS $$ BEGIN RETURN (SELECT diagnosis FROM guarded.ward WHERE id = i); END $$;
CREATE OPERATOR mine.>>> (FUNCTION = mine.told, LEFTARG = text, RIGHTARG = text, RESTRICT = scalargtsel);
CREATE DOMAIN mine.checked AS text CHECK (mine.told(VALUE, ''));
CREATE TYPE mine.span AS RANGE (SUBTYPE = text);
CREATE FUNCTION mine.span_json(mine.span) RETURNS json LANGUAGE plpgsql IMMUTABLE
  AS $$ BEGIN RAISE NOTICE 'told %', $1; RETURN '1'; END $$;
CREATE CAST (mine.span AS json) WITH FUNCTION mine.span_json(mine.span);
CREATE AGGREGATE mine.gather(text) (SFUNC = textcat, STYPE = text, INITCOND = '');
ANALYZE mine.numbers, mine.words, mine.bag;
RESET ROLE;
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = ''pg_disclosure''', current_database());
  -- Reading the log would be compiled each time.
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
END $$;
