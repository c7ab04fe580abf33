-- Long work: settings, panics, memory, progress. The probes are compiled into test builds only.
CREATE FUNCTION memory_in_use() RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_memory_in_use_wrapper';
CREATE FUNCTION panic() RETURNS void LANGUAGE c AS '$libdir/pg_disclosure', 'probe_panic_wrapper';
CREATE FUNCTION panic_in_worker() RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_panic_in_worker_wrapper';
CREATE FUNCTION allocate(megabytes bigint) RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_allocate_wrapper';
CREATE FUNCTION unblocked_signals_in_worker() RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_unblocked_signals_in_worker_wrapper';

-- Settings.
SELECT name, setting, unit, context FROM pg_settings WHERE name LIKE 'disclosure.%' ORDER BY name;
SET disclosure.max_memory = '2GB';
SHOW disclosure.max_memory;
SET disclosure.threads = -1;
SET disclosure.misspelt = 1;
RESET disclosure.max_memory;

-- A panic is an ERROR, and the session goes on.
SELECT panic();
SELECT panic_in_worker();
SELECT unblocked_signals_in_worker();
SELECT allocate(3);

-- Any number of threads, the same answer; NULLs in many patterns make it work for it.
CREATE TABLE holes AS
SELECT nullif(i % 4, 0) AS a, nullif(i % 5, 0) AS b, nullif(i % 7, 0) AS c, nullif(i % 11, 0) AS d FROM generate_series(1, 5000) i;
SET disclosure.threads = 1;
SELECT disclosure.k_anonymity(h, 'wildcard') FROM holes h;
SET disclosure.threads = 7;
SELECT disclosure.k_anonymity(h, 'wildcard') FROM holes h;
RESET disclosure.threads;

-- The memory budget: an error that says what to do, on every road, and nothing is left behind.
CREATE VIEW hundred_thousand AS SELECT i, i::text AS t FROM generate_series(1, 100000) i;
SELECT allocate(1); -- so that the thread pool, which stays, has its default size
CREATE TEMP TABLE before AS SELECT memory_in_use() AS bytes;
SET disclosure.max_memory = '1MB';
DO $$
DECLARE
  call text;
  hint text;
BEGIN
  FOREACH call IN ARRAY ARRAY[
    'SELECT disclosure.k_anonymity(i, i::text) FROM generate_series(1, 100000) i',
    'SELECT disclosure.class_size(i, i::text) OVER () FROM generate_series(1, 100000) i',
    'SELECT disclosure.equivalence_classes(''hundred_thousand'')',
    'SELECT allocate(1000)']
  LOOP
    BEGIN
      EXECUTE call;
      RAISE NOTICE 'no error';
    EXCEPTION WHEN out_of_memory THEN
      GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
      RAISE NOTICE '%: % %', SQLSTATE, SQLERRM, hint;
    END;
  END LOOP;
END $$;
RESET disclosure.max_memory;
SELECT size, classes FROM disclosure.equivalence_classes('hundred_thousand');
-- Errors in the middle, LIMIT and cursors leave nothing behind either; the thread pool stays.
SELECT disclosure.class_size(1 / (i - 5000)) OVER () FROM generate_series(1, 10000) i;
SELECT disclosure.k_anonymity(1 / (i - 5000)) FROM generate_series(1, 10000) i;
SELECT disclosure.class_size(i) OVER () FROM generate_series(1, 10000) i LIMIT 1;
SELECT memory_in_use() - bytes < 200000 AS nothing_left FROM before;
-- What a partition holds is freed at its end: the peak of twenty is not twenty times that of one.
SELECT max(bytes) - min(bytes) < 4000000 AS freed
  FROM (SELECT disclosure.class_size(i) OVER (PARTITION BY i % 20), memory_in_use() AS bytes FROM generate_series(1, 1000000) i) p;
-- Many groups of few rows each stay small together, and the budget holds for all of them together.
SET enable_sort = off;
SET work_mem = '1GB';
SET disclosure.max_memory = '64MB';
SELECT count(*) AS groups, min(k), max(k)
  FROM (SELECT i % 2000 AS g, disclosure.k_anonymity(i % 7, i % 3) AS k FROM generate_series(1, 200000) i GROUP BY 1) q;
SET disclosure.max_memory = '4MB';
SELECT max(k) FROM (SELECT i % 20000 AS g, disclosure.k_anonymity(i, i::text) AS k FROM generate_series(1, 200000) i GROUP BY 1) q;
RESET disclosure.max_memory;

-- Progress. Reading fewer than 1,024 rows never speaks in between, however slow the machine.
CREATE VIEW few AS SELECT * FROM holes LIMIT 1000;
SET disclosure.progress_notices = on;
SELECT count(*) FROM disclosure.equivalence_classes('few');
SELECT max(s) FROM (SELECT disclosure.class_size(h) OVER () AS s FROM few h) w;
