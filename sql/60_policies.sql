-- What may leave: policies, and who may change them.

CREATE TABLE disclosure.policy (
  policy       int GENERATED ALWAYS AS IDENTITY,
  relation     regclass NOT NULL,
  measure      text NOT NULL,
  statistic    text,
  threshold    float8,
  at_most      float8,
  at_least     float8,
  columns      name[],
  attnums      int2[],
  for_role     regrole,
  on_rows      text,
  only_by_copy boolean NOT NULL,
  made_by      name NOT NULL,
  made_at      timestamptz NOT NULL
);
COMMENT ON TABLE disclosure.policy IS
  'what disclosure.protect() has laid down; a table, so that pg_dump dumps it; read disclosure.policies instead';
COMMENT ON COLUMN disclosure.policy.measure IS
  'privacy_score, k_anonymity, expected_cracks, or schema and name of a function of a query';
COMMENT ON COLUMN disclosure.policy.attnums IS
  'found anew from the names at every insert, since a restored table may number its columns differently';
SELECT pg_catalog.pg_extension_config_dump('disclosure.policy', '');
SELECT pg_catalog.pg_extension_config_dump('disclosure.policy_policy_seq', '');
GRANT SELECT ON disclosure.policy TO PUBLIC; -- what is forbidden is no secret; only functions write it
-- The tables of a trusted extension belong to a superuser. Who owns the extension has to be able to dump and restore.
DO $$
DECLARE
  keeper name := (SELECT r.rolname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_roles r ON r.oid = e.extowner
                   WHERE e.extname = 'pg_disclosure');
BEGIN
  EXECUTE pg_catalog.format('GRANT INSERT ON disclosure.policy TO %I', keeper);
  EXECUTE pg_catalog.format('GRANT SELECT, UPDATE ON SEQUENCE disclosure.policy_policy_seq TO %I', keeper);
END
$$;

CREATE FUNCTION disclosure.number_policy_columns() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.attnums := (SELECT array_agg(a.attnum ORDER BY c.place)
                    FROM unnest(NEW.columns) WITH ORDINALITY AS c(name, place)
                    JOIN pg_attribute a
                      ON a.attrelid = NEW.relation AND a.attname = c.name AND NOT a.attisdropped);
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure.number_policy_columns() IS
  'trigger of disclosure.policy: by their numbers, columns are found again after they were renamed';
CREATE TRIGGER number_policy_columns BEFORE INSERT ON disclosure.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure.number_policy_columns();
COMMENT ON TRIGGER number_policy_columns ON disclosure.policy IS
  'by their numbers, columns are found again after they were renamed';

CREATE FUNCTION disclosure.announce_policies() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'announce_policies_wrapper';
COMMENT ON FUNCTION disclosure.announce_policies() IS
  'trigger of disclosure.policy: every session forgets the policies that it remembers';
CREATE TRIGGER announce_policies AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON disclosure.policy
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure.announce_policies();
COMMENT ON TRIGGER announce_policies ON disclosure.policy IS
  'every session forgets the policies that it remembers';

CREATE FUNCTION disclosure.protect(
    relation     regclass,
    measure      text,
    at_most      float8 DEFAULT NULL,
    at_least     float8 DEFAULT NULL,
    columns      name[] DEFAULT NULL,
    for_role     regrole DEFAULT NULL,
    on_rows      text DEFAULT NULL,
    statistic    text DEFAULT NULL,
    threshold    float8 DEFAULT NULL,
    only_by_copy boolean DEFAULT false
  ) RETURNS int
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'protect_wrapper';
COMMENT ON FUNCTION disclosure.protect(regclass, text, float8, float8, name[], regrole, text, text, float8, boolean) IS
  'lay down what may leave a relation: a measure and its limit, for everyone or for a role; exports that break it are refused; returns the number of the policy';

CREATE FUNCTION disclosure.unprotect(policy int) RETURNS boolean
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'unprotect_policy_wrapper';
COMMENT ON FUNCTION disclosure.unprotect(int) IS
  'take a policy away, by its number in disclosure.policies; false where there is none';

CREATE FUNCTION disclosure.unprotect(relation regclass) RETURNS int
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'unprotect_relation_wrapper';
COMMENT ON FUNCTION disclosure.unprotect(regclass) IS
  'take all policies of a relation away; returns how many there were';

-- Without it, Postgres would not know which of the two unprotect('patients') means.
CREATE FUNCTION disclosure.unprotect(relation text) RETURNS int
  LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
  AS 'SELECT disclosure.unprotect(relation::pg_catalog.regclass)';
COMMENT ON FUNCTION disclosure.unprotect(text) IS
  'take all policies of a relation away, which is given by its name; returns how many there were';

CREATE FUNCTION disclosure.export_freely() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT true';
COMMENT ON FUNCTION disclosure.export_freely() IS
  'whoever may execute this may export by COPY TO whatever the policies say, and is logged';
REVOKE EXECUTE ON FUNCTION disclosure.export_freely() FROM PUBLIC;

CREATE FUNCTION disclosure.is_preloaded() RETURNS boolean
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT EXISTS (SELECT FROM pg_settings s
                  WHERE s.name IN ('shared_preload_libraries', 'session_preload_libraries')
                    AND s.source IN ('configuration file', 'command line', 'database', 'global')
                    AND s.setting ~ '\mpg_disclosure\M')
      OR EXISTS (SELECT FROM pg_db_role_setting d, unnest(d.setconfig) AS c(setting)
                  WHERE d.setrole = 0
                    AND d.setdatabase IN (0, (SELECT b.oid FROM pg_database b WHERE b.datname = current_database()))
                    AND c.setting ~ '^session_preload_libraries=.*\mpg_disclosure\M');
END;
COMMENT ON FUNCTION disclosure.is_preloaded() IS
  'whether every new session of this database, whoever starts it, has the library before its first statement';

-- Policies go with their relation, follow its columns, and hold on to them.
CREATE FUNCTION disclosure.policies_follow() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE disclosure.policy p SET columns = now.columns
    FROM (SELECT o.policy, array_agg(a.attname ORDER BY n.place) AS columns
            FROM disclosure.policy o, unnest(o.attnums) WITH ORDINALITY AS n(attnum, place), pg_attribute a
           WHERE a.attrelid = o.relation AND a.attnum = n.attnum AND NOT a.attisdropped
           GROUP BY o.policy) AS now
   WHERE now.policy = p.policy AND now.columns <> p.columns;
END
$$;
COMMENT ON FUNCTION disclosure.policies_follow() IS 'event trigger: policies follow renamed columns';
CREATE EVENT TRIGGER disclosure_policies_follow ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE')
  EXECUTE FUNCTION disclosure.policies_follow();
COMMENT ON EVENT TRIGGER disclosure_policies_follow IS 'policies follow renamed columns';

CREATE FUNCTION disclosure.policies_hold() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  held record;
BEGIN
  DELETE FROM disclosure.policy p
   USING pg_event_trigger_dropped_objects() d
   WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
  SELECT p.policy, d.object_identity INTO held
    FROM disclosure.policy p, pg_event_trigger_dropped_objects() d
   WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = ANY (p.attnums)
   LIMIT 1;
  IF FOUND THEN
    RAISE dependent_objects_still_exist USING
      MESSAGE = format('cannot drop column %s: policy %s needs it', held.object_identity, held.policy),
      HINT = format('SELECT disclosure.unprotect(%s) first.', held.policy);
  END IF;
END
$$;
COMMENT ON FUNCTION disclosure.policies_hold() IS
  'event trigger: policies go with their relations; a column that a policy needs is not dropped';
CREATE EVENT TRIGGER disclosure_policies_hold ON sql_drop EXECUTE FUNCTION disclosure.policies_hold();
COMMENT ON EVENT TRIGGER disclosure_policies_hold IS
  'policies go with their relations; a column that a policy needs is not dropped';
