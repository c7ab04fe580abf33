-- The export log: entries stay though the transaction does not, everyone sees what concerns him, and nobody but
-- the guard writes. The probe writes as the guard does.
CREATE FUNCTION log(kind text, relation regclass, outcome text, always boolean DEFAULT true) RETURNS void
  LANGUAGE c VOLATILE STRICT AS '$libdir/pg_disclosure', 'probe_log_wrapper';
CREATE ROLE pd_log_owner;
CREATE ROLE pd_log_analyst;
CREATE ROLE pd_log_stranger;
CREATE ROLE pd_log_auditor;
CREATE SCHEMA "Far Away";
CREATE TABLE patients (age int);
CREATE TABLE "Far Away"."Ödd.""x" (age int);
ALTER TABLE patients OWNER TO pd_log_owner;

-- Committed.
SELECT log('COPY TO', 'patients', 'refused');
SELECT log('COPY TO', '"Far Away"."Ödd.""x"', 'exempt');
SELECT now() - at BETWEEN '-1 minute' AND '1 minute' AS now, session_role, role, pid = pg_backend_pid() AS mine, kind, relation,
       relation_name, policy, measure, required, measured, rows, unsafe_rows, outcome
  FROM disclosure.export_log ORDER BY at;

-- The text of a query is in it only if a superuser wants that.
SELECT counted, reason, query_hash = hashtextextended('COPY patients TO STDOUT', 0) AS is_hash, query, application_name,
       client_address, transaction_id = pg_current_xact_id() AS of_this_transaction
  FROM disclosure.export_log LIMIT 1;
SET ROLE pd_log_owner;
SET disclosure.log_queries = on;
RESET ROLE;
SET disclosure.log_queries = on;
BEGIN;
SELECT log('with its query', 'patients', 'refused');
SELECT query, transaction_id = pg_current_xact_id() AS of_this_transaction FROM disclosure.export_log WHERE kind = 'with its query';
COMMIT;
RESET disclosure.log_queries;

-- What was measured is for those who know the data anyway, not for the role that exported.
SET ROLE pd_log_analyst;
SELECT log('seen by two', 'patients', 'refused');
SELECT measured, rows, unsafe_rows, reason, outcome, counted FROM disclosure.export_log WHERE kind = 'seen by two';
SET ROLE pd_log_owner;
SELECT measured, rows, unsafe_rows, reason, outcome, counted FROM disclosure.export_log WHERE kind = 'seen by two';
RESET ROLE;
UPDATE disclosure_internal.export_attempt SET details = true WHERE kind = 'seen by two';
SET ROLE pd_log_analyst;
SELECT measured, rows, unsafe_rows, reason, outcome, counted FROM disclosure.export_log WHERE kind = 'seen by two';
RESET ROLE;
DELETE FROM disclosure_internal.export_attempt WHERE kind IN ('seen by two', 'with its query');

-- Rolled back in every way.
BEGIN;
SELECT log('rollback', 'patients', 'refused');
SELECT count(*) AS at_once FROM disclosure.export_log WHERE kind = 'rollback';
ROLLBACK;
SELECT log('error', 'patients', 'refused'), 1 / (SELECT 0);
BEGIN;
SAVEPOINT s;
SELECT log('savepoint', 'patients', 'refused');
ROLLBACK TO s;
COMMIT;
BEGIN;
SAVEPOINT s;
SELECT log('savepoint within', 'patients', 'refused');
RELEASE s;
ROLLBACK;
DO $$
BEGIN
  PERFORM log('exception block', 'patients', 'refused');
  RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
BEGIN READ ONLY;
SELECT log('read only', 'patients', 'refused');
INSERT INTO patients VALUES (1);
ROLLBACK;
BEGIN READ ONLY;
SELECT log('read only, committed', 'patients', 'allowed');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM disclosure.export_log WHERE kind = 'serializable';
SELECT log('serializable', 'patients', 'refused');
SELECT log('serializable', 'patients', 'refused');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT log('deferrable', 'patients', 'refused');
ROLLBACK;
SELECT kind, count(*) FROM disclosure.export_log WHERE kind <> 'COPY TO' GROUP BY kind ORDER BY min(at);

-- What only counts if the transaction commits.
BEGIN;
SELECT log('INSERT', 'patients', 'dropped', always => false);
SELECT outcome, count(*) FROM disclosure.export_log WHERE kind = 'INSERT' GROUP BY outcome;
ROLLBACK;
SELECT outcome, count(*) FROM disclosure.export_log WHERE kind = 'INSERT' GROUP BY outcome;
SELECT log('INSERT', 'patients', 'warned', always => false);
SELECT outcome, count(*) FROM disclosure.export_log WHERE kind = 'INSERT' GROUP BY outcome;

-- Long texts are cut; a relation that is gone has no name.
SELECT log(repeat('ö', 1000), 0, 'refused');
SELECT length(kind), octet_length(kind), relation, relation_name FROM disclosure.export_log WHERE kind LIKE 'öö%';

-- In the midst of a parallel query nothing can be written: the server's log has it, see tests/client/export-log.sh.
CREATE FUNCTION log_in_parallel(kind text) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE
  AS 'BEGIN PERFORM log(kind, ''patients'', ''refused''); RETURN true; END';
CREATE TABLE few AS SELECT generate_series(1, 3) AS x;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM few WHERE log_in_parallel('parallel');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT count(*) FROM disclosure.export_log WHERE kind = 'parallel';

-- Who sees what.
DELETE FROM disclosure_internal.export_attempt;
CREATE TABLE others (age int);
SET SESSION AUTHORIZATION pd_log_analyst;
SELECT log('by analyst', 'patients', 'refused');
SELECT log('by analyst', 'others', 'allowed');
RESET SESSION AUTHORIZATION;
SELECT log('by superuser', 'others', 'exempt');
SET ROLE pd_log_analyst;
SELECT log('after SET ROLE', 'others', 'refused');
RESET ROLE;
CREATE FUNCTION log_as_definer() RETURNS void LANGUAGE sql SECURITY DEFINER
  AS $$ SELECT public.log('in SECURITY DEFINER', 'public.others', 'refused') $$;
SET SESSION AUTHORIZATION pd_log_analyst;
SELECT log_as_definer();
RESET SESSION AUTHORIZATION;
\set seen 'SELECT kind, session_role, role, relation_name, outcome FROM disclosure.export_log ORDER BY at;'
:seen
SET ROLE pd_log_analyst;
:seen
SET ROLE pd_log_owner;
:seen
SET ROLE pd_log_stranger;
:seen
SET ROLE pd_log_auditor;
:seen
RESET ROLE;
GRANT SELECT ON disclosure_internal.export_attempt TO pd_log_auditor;
SET ROLE pd_log_auditor;
SELECT count(*) FROM disclosure.export_log;
RESET ROLE;
GRANT pg_read_all_data TO pd_log_stranger;
GRANT pd_log_owner TO pd_log_stranger;
SET ROLE pd_log_stranger;
SELECT count(*) FROM disclosure.export_log;
RESET ROLE;
REVOKE pg_read_all_data FROM pd_log_stranger;
SET ROLE pd_log_stranger;
:seen
-- A function that tells what it is given sees no more rows than the view shows.
CREATE FUNCTION pg_temp.tell(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
  AS $$ BEGIN RAISE NOTICE 'told %', $1; RETURN true; END $$;
SELECT count(*) FROM disclosure.export_log WHERE pg_temp.tell(kind);
RESET ROLE;

-- Nobody writes.
CREATE PROCEDURE try_all() LANGUAGE plpgsql AS $$
DECLARE
  statement text;
BEGIN
  FOREACH statement IN ARRAY ARRAY[
    'INSERT INTO disclosure_internal.export_attempt DEFAULT VALUES',
    'UPDATE disclosure_internal.export_attempt SET role = CURRENT_USER',
    'DELETE FROM disclosure_internal.export_attempt',
    'TRUNCATE disclosure_internal.export_attempt',
    'SELECT FROM disclosure_internal.export_attempt FOR UPDATE',
    'LOCK TABLE disclosure_internal.export_attempt IN SHARE MODE',
    'LOCK TABLE disclosure.export_log IN SHARE MODE',
    'ALTER TABLE disclosure_internal.export_attempt ADD COLUMN x int',
    'CREATE INDEX ON disclosure_internal.export_attempt (at)',
    'DROP TABLE disclosure_internal.export_attempt',
    'INSERT INTO disclosure.export_log DEFAULT VALUES',
    'UPDATE disclosure.export_log SET measured = 0',
    'DELETE FROM disclosure.export_log',
    'CREATE TABLE disclosure.export_attempt_too ()'
  ] LOOP
    BEGIN
      EXECUTE statement;
      RAISE NOTICE 'done: %', statement;
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
END $$;
SET ROLE pd_log_owner;
CALL try_all();
\copy disclosure_internal.export_attempt FROM /dev/null
SET ROLE pd_log_auditor;
CALL try_all();
\copy disclosure_internal.export_attempt FROM /dev/null
RESET ROLE;
SELECT count(*) FROM disclosure.export_log;

-- Triggers and row level security on the table do not keep entries out; what would spoil it is an error.
CREATE FUNCTION no_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER no_row BEFORE INSERT ON disclosure_internal.export_attempt FOR EACH ROW EXECUTE FUNCTION no_row();
ALTER TABLE disclosure_internal.export_attempt ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT log('past a trigger', 'patients', 'refused');
SELECT count(*) FROM disclosure.export_log WHERE kind = 'past a trigger';
CREATE INDEX spoilt ON disclosure_internal.export_attempt (at);
SELECT log('with an index', 'patients', 'refused');
DROP INDEX disclosure_internal.spoilt;
BEGIN;
ALTER TABLE disclosure_internal.export_attempt ADD COLUMN more int;
SELECT log('with another column', 'patients', 'refused');
ROLLBACK;
BEGIN;
ALTER EXTENSION pg_disclosure DROP VIEW disclosure.export_log;
DROP VIEW disclosure.export_log;
ALTER TABLE disclosure_internal.export_attempt ALTER COLUMN pid TYPE bigint;
SELECT log('with another type', 'patients', 'refused');
ROLLBACK;
BEGIN;
ALTER EXTENSION pg_disclosure DROP TABLE disclosure_internal.export_attempt;
SELECT log('not of the extension', 'patients', 'refused');
ROLLBACK;
SELECT log('all undone', 'patients', 'refused');
SELECT kind FROM disclosure.export_log ORDER BY at DESC LIMIT 2;

-- Without the extension there is no log.
DROP EXTENSION pg_disclosure CASCADE;
SELECT log('after DROP EXTENSION', 'patients', 'refused');
DROP TABLE patients;
DROP OWNED BY pd_log_owner, pd_log_analyst, pd_log_stranger, pd_log_auditor;
DROP ROLE pd_log_owner, pd_log_analyst, pd_log_stranger, pd_log_auditor;
