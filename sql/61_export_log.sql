-- The export log. Entries are written by the guard itself, past privileges and triggers, and stay even if the
-- transaction is rolled back: see src/guard/log.rs, which also has the columns' types in their order.

CREATE TABLE disclosure.export_attempt (
  at            timestamptz NOT NULL,
  session_role  name        NOT NULL,
  role          name        NOT NULL,
  pid           int         NOT NULL,
  kind          text        NOT NULL,
  relation      disclosure.relation_reference NOT NULL,
  relation_name text,
  policy        int,
  measure       text        NOT NULL,
  "limit"       text        NOT NULL,
  measured      float8,
  "rows"        bigint,
  unsafe_rows   bigint,
  verdict       text        NOT NULL,
  inserted_by   name,
  inserted_at   timestamptz
) USING heap;
COMMENT ON TABLE disclosure.export_attempt IS
  'the export log itself; whoever may read it sees all of disclosure.export_log, and nobody else needs it; must not get indexes';
SELECT pg_catalog.pg_extension_config_dump('disclosure.export_attempt', '');

-- The guard writes past this trigger, so what passes through it was written by somebody else.
CREATE FUNCTION disclosure.stamp_export_attempt() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.inserted_by := session_user;
  NEW.inserted_at := clock_timestamp();
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure.stamp_export_attempt() IS
  'trigger of disclosure.export_attempt: an entry that the guard has not written says who inserted or changed it, and when';
REVOKE EXECUTE ON FUNCTION disclosure.stamp_export_attempt() FROM PUBLIC;
CREATE TRIGGER stamp_export_attempt BEFORE INSERT OR UPDATE ON disclosure.export_attempt
  FOR EACH ROW EXECUTE FUNCTION disclosure.stamp_export_attempt();
ALTER TABLE disclosure.export_attempt ENABLE ALWAYS TRIGGER stamp_export_attempt;
COMMENT ON TRIGGER stamp_export_attempt ON disclosure.export_attempt IS
  'an entry that the guard has not written says who inserted or changed it, and when';

CREATE VIEW disclosure.export_log WITH (security_barrier) AS
  SELECT at, session_role, role, pid, kind, relation::regclass, relation_name, policy, measure, "limit", measured, "rows",
         unsafe_rows, verdict, inserted_by, inserted_at
    FROM disclosure.export_attempt a
   WHERE CURRENT_USER IN (a.session_role, a.role)
      OR pg_catalog.has_table_privilege('disclosure.export_attempt'::pg_catalog.regclass, 'SELECT')
      OR EXISTS (SELECT FROM pg_catalog.pg_class c
                  WHERE c.oid = a.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE'));
COMMENT ON VIEW disclosure.export_log IS
  'who tried to take data out, what was measured, what became of it: one''s own attempts, those on relations that one owns, and all for whoever may read disclosure.export_attempt';
COMMENT ON COLUMN disclosure.export_log.at IS 'by the clock, not the beginning of the transaction';
COMMENT ON COLUMN disclosure.export_log.session_role IS 'who had logged in';
COMMENT ON COLUMN disclosure.export_log.role IS 'who asked, that is, after SET ROLE';
COMMENT ON COLUMN disclosure.export_log.kind IS 'the command';
COMMENT ON COLUMN disclosure.export_log.relation_name IS 'what the relation was called at the time';
COMMENT ON COLUMN disclosure.export_log.verdict IS 'allowed, refused, dropped (rows were left out), warned, or exempt';
COMMENT ON COLUMN disclosure.export_log.inserted_by IS
  'NULL if the guard wrote the entry itself; else who inserted or changed it, for example by restoring a dump';
COMMENT ON COLUMN disclosure.export_log.inserted_at IS 'when that was';
GRANT SELECT ON disclosure.export_log TO PUBLIC;

-- pg_restore --disable-triggers turns triggers that fire always into ordinary ones, which some sessions do not fire.
CREATE FUNCTION disclosure.keep_triggers() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT t.tgrelid::regclass AS on_table, t.tgname
      FROM pg_trigger t
     WHERE t.tgrelid IN ('disclosure.column_label'::regclass, 'disclosure.policy'::regclass,
                         'disclosure.export_attempt'::regclass)
       AND NOT t.tgisinternal AND t.tgenabled <> 'A' AND t.tgfoid IN
           (SELECT d.objid FROM pg_depend d
             WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
               AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'pg_disclosure'))
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', found.on_table, found.tgname);
  END LOOP;
END
$$;
COMMENT ON FUNCTION disclosure.keep_triggers() IS
  'event trigger: the triggers of the extension''s own tables fire always';
CREATE EVENT TRIGGER disclosure_keep_triggers ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION disclosure.keep_triggers();
ALTER EVENT TRIGGER disclosure_keep_triggers ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_keep_triggers IS 'the triggers of the extension''s own tables fire always';
