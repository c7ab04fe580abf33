-- What may leave: policies, and who may change them.

CREATE TABLE disclosure.policy (
  policy        int GENERATED ALWAYS AS IDENTITY,
  relation      disclosure.relation_reference NOT NULL,
  relation_name text,
  measure       text NOT NULL,
  measure_owner disclosure.role_reference,
  statistic     text,
  threshold     float8,
  at_most       float8,
  at_least      float8,
  columns       name[],
  attnums       int2[],
  for_role      disclosure.role_reference,
  on_rows       text,
  only_by_copy  boolean NOT NULL,
  made_by       disclosure.role_reference NOT NULL,
  made_at       timestamptz NOT NULL
);
COMMENT ON TABLE disclosure.policy IS
  'policies defined by disclosure.protect(); a table, so that pg_dump dumps it; read disclosure.policies instead';
COMMENT ON COLUMN disclosure.policy.relation_name IS 'what the relation was called when the row was last written';
COMMENT ON COLUMN disclosure.policy.measure IS
  'privacy_score, k_anonymity, expected_cracks, or the full signature of a function of a query';
COMMENT ON COLUMN disclosure.policy.measure_owner IS
  'who owned the function when the policy was defined; the policy stops if that changes';
COMMENT ON COLUMN disclosure.policy.attnums IS
  'found again from the names at every insert, because a restored table may number its columns differently';
CREATE INDEX policy_number ON disclosure.policy (policy); -- not unique: one duplicate would make COPY lose all policies
COMMENT ON INDEX disclosure.policy_number IS 'for the trigger that gives a policy another number if its own is taken';
CREATE INDEX policy_relation ON disclosure.policy (relation);
COMMENT ON INDEX disclosure.policy_relation IS 'whoever alters a table pays only for its own policies';
SELECT pg_catalog.pg_extension_config_dump('disclosure.policy', '');
SELECT pg_catalog.pg_extension_config_dump('disclosure.policy_policy_seq', '');
GRANT SELECT ON disclosure.policy TO PUBLIC; -- what is forbidden is no secret; only functions write it

CREATE FUNCTION disclosure.policy_problem(disclosure.policy) RETURNS text
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'policy_problem_wrapper';
COMMENT ON FUNCTION disclosure.policy_problem(disclosure.policy) IS
  'why a policy cannot be judged, for example because its function is gone; NULL if it can';

CREATE FUNCTION disclosure.check_policy() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem text;
BEGIN
  IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    IF TG_OP <> 'INSERT' AND
       EXISTS (SELECT FROM pg_class c WHERE c.oid = OLD.relation AND NOT pg_has_role(c.relowner, 'USAGE')) THEN
      RAISE insufficient_privilege USING MESSAGE = format('must be owner of relation %s', OLD.relation::regclass);
    END IF;
    IF TG_OP <> 'DELETE' THEN
      IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = NEW.relation AND pg_has_role(c.relowner, 'USAGE')) THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of relation %s', NEW.relation::regclass);
      END IF;
      NEW.made_by := current_user::regrole;
      NEW.made_at := now();
    END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  NEW.relation_name := coalesce((SELECT format('%I.%I', n.nspname, c.relname)
                                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                                  WHERE c.oid = NEW.relation), NEW.relation_name);
  IF TG_OP = 'INSERT' THEN
    -- Where a dump meets policies that are there already, a number may be taken.
    WHILE EXISTS (SELECT FROM disclosure.policy p WHERE p.policy = NEW.policy) LOOP
      NEW.policy := nextval('disclosure.policy_policy_seq');
    END LOOP;
    NEW.attnums := (SELECT array_agg(a.attnum ORDER BY c.place)
                      FROM unnest(NEW.columns) WITH ORDINALITY AS c(name, place)
                      JOIN pg_attribute a
                        ON a.attrelid = NEW.relation AND a.attname = c.name AND a.attnum > 0 AND NOT a.attisdropped);
  END IF;
  -- A restore goes on: without this row, COPY would lose all policies.
  problem := disclosure.policy_problem(NEW);
  IF problem IS NOT NULL THEN
    RAISE WARNING 'policy % of relation % cannot be judged, so that exports are refused: %',
      NEW.policy, NEW.relation_name, problem;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure.check_policy() IS
  'trigger of disclosure.policy: only a relation''s owner changes its policies; warns of those that cannot be judged';
REVOKE EXECUTE ON FUNCTION disclosure.check_policy() FROM PUBLIC;
CREATE TRIGGER check_policy BEFORE INSERT OR UPDATE OR DELETE ON disclosure.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure.check_policy();
ALTER TABLE disclosure.policy ENABLE ALWAYS TRIGGER check_policy;
COMMENT ON TRIGGER check_policy ON disclosure.policy IS
  'only a relation''s owner changes its policies; warns of those that cannot be judged';

CREATE FUNCTION disclosure.announce_policies() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'announce_policies_wrapper';
COMMENT ON FUNCTION disclosure.announce_policies() IS
  'trigger of disclosure.policy: every session reads the policies again';
REVOKE EXECUTE ON FUNCTION disclosure.announce_policies() FROM PUBLIC;
-- For each row, because event triggers run statements that mostly change none.
CREATE TRIGGER announce_policies AFTER INSERT OR UPDATE OR DELETE ON disclosure.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure.announce_policies();
ALTER TABLE disclosure.policy ENABLE ALWAYS TRIGGER announce_policies;
COMMENT ON TRIGGER announce_policies ON disclosure.policy IS 'every session reads the policies again';
CREATE TRIGGER announce_truncation AFTER TRUNCATE ON disclosure.policy
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure.announce_policies();
ALTER TABLE disclosure.policy ENABLE ALWAYS TRIGGER announce_truncation;
COMMENT ON TRIGGER announce_truncation ON disclosure.policy IS 'every session reads the policies again';

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
BEGIN ATOMIC
  SELECT disclosure.unprotect(relation::regclass);
END;
COMMENT ON FUNCTION disclosure.unprotect(text) IS
  'take all policies of a relation away, which is given by its name; returns how many there were';

CREATE FUNCTION disclosure.export_freely() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT true;
END;
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
            FROM disclosure.altered_relations() r, disclosure.policy o, unnest(o.attnums) WITH ORDINALITY AS n(attnum, place),
                 pg_attribute a
           WHERE o.relation::oid = r.relation AND a.attrelid = r.relation AND a.attnum = n.attnum AND NOT a.attisdropped
           GROUP BY o.policy) AS now
   WHERE now.policy = p.policy AND now.columns <> p.columns;
END
$$;
COMMENT ON FUNCTION disclosure.policies_follow() IS 'event trigger: policies follow renamed columns';
CREATE EVENT TRIGGER disclosure_policies_follow ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
  EXECUTE FUNCTION disclosure.policies_follow();
ALTER EVENT TRIGGER disclosure_policies_follow ENABLE ALWAYS;
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
ALTER EVENT TRIGGER disclosure_policies_hold ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_policies_hold IS
  'policies go with their relations; a column that a policy needs is not dropped';
