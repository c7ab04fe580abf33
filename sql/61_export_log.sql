-- The export log. Entries are written by the guard itself, past privileges and triggers, and stay even if the
-- transaction is rolled back: see src/guard/log.rs, which also has the columns' types in their order.

CREATE TABLE disclosure.export_attempt (
  at            timestamptz NOT NULL,
  session_role  name        NOT NULL,
  role          name        NOT NULL,
  pid           int         NOT NULL,
  kind          text        NOT NULL,
  relation      regclass    NOT NULL,
  relation_name text,
  policy        int,
  measure       text        NOT NULL,
  "limit"       text        NOT NULL,
  measured      float8,
  "rows"        bigint,
  unsafe_rows   bigint,
  verdict       text        NOT NULL
) USING heap;
COMMENT ON TABLE disclosure.export_attempt IS
  'the export log itself; whoever may read it sees all of disclosure.export_log, and nobody else needs it; must not get indexes';
SELECT pg_catalog.pg_extension_config_dump('disclosure.export_attempt', '');

-- A trusted extension's tables belong to a superuser. Its own owner, who could drop it with all that is in it,
-- must be able to dump the database and to restore it.
DO $$
BEGIN
  EXECUTE (SELECT pg_catalog.format('GRANT SELECT, INSERT ON disclosure.export_attempt TO %I', r.rolname)
             FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_roles r ON r.oid = e.extowner
            WHERE e.extname = 'pg_disclosure');
END
$$;

CREATE VIEW disclosure.export_log WITH (security_barrier) AS
  SELECT at, session_role, role, pid, kind, relation, relation_name, policy, measure, "limit", measured, "rows",
         unsafe_rows, verdict
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
GRANT SELECT ON disclosure.export_log TO PUBLIC;
