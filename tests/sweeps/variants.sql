-- The tables of tables.sql once more, in schemas of their own: in another order (sweep_shuffled), in partitions
-- (sweep_parted), and as foreign tables (sweep_foreign). Run by a superuser; the tables belong to the owner of the originals.
BEGIN;
CREATE EXTENSION postgres_fdw;
CREATE SCHEMA sweep_shuffled;
CREATE SCHEMA sweep_parted;
CREATE SCHEMA sweep_foreign;

DO $$
DECLARE
  source pg_class;
  role text := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'sweep.people'::regclass);
  key text;
BEGIN
  FOR source IN
    SELECT * FROM pg_class
     WHERE relnamespace = 'sweep'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND relname NOT LIKE 'large%' AND NOT relispartition
  LOOP
    EXECUTE format('CREATE TABLE sweep_shuffled.%1$I AS SELECT r.* FROM sweep.%1$I r ORDER BY md5(r::text), random()', source.relname);
    key := (SELECT attname FROM pg_attribute WHERE attrelid = source.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum LIMIT 1);
    EXECUTE format('CREATE TABLE sweep_parted.%1$I (LIKE sweep.%1$I)', source.relname)
            || CASE WHEN key IS NULL THEN '' ELSE format(' PARTITION BY HASH (%I)', key) END;
    IF key IS NOT NULL THEN
      FOR part IN 0..2 LOOP
        EXECUTE format('CREATE TABLE sweep_parted.%I PARTITION OF sweep_parted.%I FOR VALUES WITH (MODULUS 3, REMAINDER %s)',
                       source.relname || ' ' || part, source.relname, part);
      END LOOP;
    END IF;
    EXECUTE format('INSERT INTO sweep_parted.%1$I SELECT * FROM sweep_shuffled.%1$I', source.relname);
    EXECUTE format('ALTER TABLE sweep_shuffled.%1$I OWNER TO %2$I; ALTER TABLE sweep_parted.%1$I OWNER TO %2$I', source.relname, role);
  END LOOP;
  EXECUTE format('CREATE SERVER sweep_loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
                 split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
  EXECUTE format('CREATE USER MAPPING FOR %I SERVER sweep_loopback OPTIONS (user %L, password_required ''false'')', role, role);
  EXECUTE format('GRANT USAGE ON FOREIGN SERVER sweep_loopback TO %1$I; GRANT ALL ON SCHEMA sweep_shuffled, sweep_parted, sweep_foreign TO %1$I', role);
END $$;
COMMIT; -- because the foreign server is this one, and has to see them

DO $$
BEGIN
  EXECUTE format('SET LOCAL ROLE %I', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'sweep.people'::regclass));
  -- A foreign table needs columns.
  IMPORT FOREIGN SCHEMA sweep_shuffled EXCEPT (no_columns) FROM SERVER sweep_loopback INTO sweep_foreign;
  CREATE TABLE sweep_foreign.no_columns ();
  INSERT INTO sweep_foreign.no_columns SELECT FROM sweep.no_columns;
END $$;
ANALYZE;
