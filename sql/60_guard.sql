-- Policies, which say what may leave a relation, and who may change them.

CREATE TABLE disclosure_internal.policy (
  policy        int GENERATED ALWAYS AS IDENTITY,
  relation      disclosure_internal.relation_reference NOT NULL,
  relation_name text,
  measure       text NOT NULL,
  measure_owner disclosure_internal.role_reference,
  statistic     text,
  threshold     float8,
  at_most       float8,
  at_least      float8,
  columns       name[],
  attnums       int2[],
  for_role      disclosure_internal.role_reference,
  on_rows       text,
  only_by_copy  boolean NOT NULL,
  made_by       disclosure_internal.role_reference NOT NULL,
  made_at       timestamptz NOT NULL
);
COMMENT ON TABLE disclosure_internal.policy IS
  'policies defined by disclosure.protect(); a table, so that pg_dump dumps it; read disclosure.policies instead';
COMMENT ON COLUMN disclosure_internal.policy.relation_name IS 'name of the relation when the row was last written';
COMMENT ON COLUMN disclosure_internal.policy.measure IS
  'privacy_score, k_anonymity, expected_cracks, or the full signature of a function that takes a query';
COMMENT ON COLUMN disclosure_internal.policy.measure_owner IS
  'owner of the function when the policy was defined; if the owner changes, exports are refused';
COMMENT ON COLUMN disclosure_internal.policy.attnums IS
  'numbers of the columns, looked up by name at every insert, because a restored table may number its columns differently';
CREATE INDEX policy_number ON disclosure_internal.policy (policy); -- not unique: a duplicate would make a restore fail
COMMENT ON INDEX disclosure_internal.policy_number IS 'used by the trigger that gives a policy another number if its own is taken';
CREATE INDEX policy_relation ON disclosure_internal.policy (relation);
COMMENT ON INDEX disclosure_internal.policy_relation IS 'finds the policies of one relation, so that ALTER TABLE does not read all policies';
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.policy', '');
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.policy_policy_seq', '');
GRANT SELECT ON disclosure_internal.policy TO PUBLIC; -- policies are not secret; only functions write them

CREATE FUNCTION disclosure_internal.policy_problem(disclosure_internal.policy) RETURNS text
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'policy_problem_wrapper';
COMMENT ON FUNCTION disclosure_internal.policy_problem(disclosure_internal.policy) IS
  'returns why a policy cannot be judged, for example because its function was dropped; NULL if it can';

CREATE FUNCTION disclosure_internal.check_policy() RETURNS trigger
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
    -- If a dump is restored into a database that already has policies, a number may be taken.
    WHILE EXISTS (SELECT FROM disclosure_internal.policy p WHERE p.policy = NEW.policy) LOOP
      NEW.policy := nextval('disclosure_internal.policy_policy_seq');
    END LOOP;
    NEW.attnums := (SELECT array_agg(a.attnum ORDER BY c.place)
                      FROM unnest(NEW.columns) WITH ORDINALITY AS c(name, place)
                      JOIN pg_attribute a
                        ON a.attrelid = NEW.relation AND a.attname = c.name AND a.attnum > 0 AND NOT a.attisdropped);
  END IF;
  -- Only a warning, because an error would make COPY fail, and a restore would lose all policies.
  problem := disclosure_internal.policy_problem(NEW);
  IF problem IS NOT NULL THEN
    RAISE WARNING 'policy % of relation % cannot be judged, so that exports are refused: %',
      NEW.policy, NEW.relation_name, problem;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_policy() IS
  'trigger of disclosure_internal.policy: allows only the owner of a relation to change its policies, and warns of policies that cannot be judged';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_policy() FROM PUBLIC;
CREATE TRIGGER check_policy BEFORE INSERT OR UPDATE OR DELETE ON disclosure_internal.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_policy();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER check_policy;
COMMENT ON TRIGGER check_policy ON disclosure_internal.policy IS
  'allows only the owner of a relation to change its policies, and warns of policies that cannot be judged';

CREATE FUNCTION disclosure_internal.announce_policies() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'announce_policies_wrapper';
COMMENT ON FUNCTION disclosure_internal.announce_policies() IS
  'trigger of disclosure_internal.policy: makes every session read the policies again';
REVOKE EXECUTE ON FUNCTION disclosure_internal.announce_policies() FROM PUBLIC;
-- A row trigger, because event triggers run statements on this table that mostly change no row.
CREATE TRIGGER announce_policies AFTER INSERT OR UPDATE OR DELETE ON disclosure_internal.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.announce_policies();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER announce_policies;
COMMENT ON TRIGGER announce_policies ON disclosure_internal.policy IS 'makes every session read the policies again';
CREATE TRIGGER announce_truncation AFTER TRUNCATE ON disclosure_internal.policy
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.announce_policies();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER announce_truncation;
COMMENT ON TRIGGER announce_truncation ON disclosure_internal.policy IS 'makes every session read the policies again';

CREATE FUNCTION disclosure.protect(
    relation     regclass,
    measure      text,
    columns      name[] DEFAULT NULL,
    at_most      float8 DEFAULT NULL,
    at_least     float8 DEFAULT NULL,
    for_role     regrole DEFAULT NULL,
    on_rows      text DEFAULT NULL,
    statistic    text DEFAULT NULL,
    threshold    float8 DEFAULT NULL,
    only_by_copy boolean DEFAULT false
  ) RETURNS SETOF int
  LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1
  AS 'MODULE_PATHNAME', 'protect_wrapper';
COMMENT ON FUNCTION disclosure.protect(regclass, text, name[], float8, float8, regrole, text, text, float8, boolean) IS
  'defines a policy: a measure of a relation and its limit, for everyone or for a role; exports that break it are refused; returns the number of the policy';

CREATE FUNCTION disclosure.unprotect(relation regclass) RETURNS int
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'unprotect_wrapper';
COMMENT ON FUNCTION disclosure.unprotect(regclass) IS
  'removes all policies of a relation, and returns how many there were';

CREATE FUNCTION disclosure.unprotect_policy(policy int) RETURNS boolean
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'unprotect_policy_wrapper';
COMMENT ON FUNCTION disclosure.unprotect_policy(int) IS
  'removes one policy, given by its number in disclosure.policies; false if there is none';

CREATE FUNCTION disclosure.export_freely() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT true;
END;
COMMENT ON FUNCTION disclosure.export_freely() IS
  'exempts the roles that may execute it from all policies on COPY TO; their exports are logged; the call itself does nothing';
REVOKE EXECUTE ON FUNCTION disclosure.export_freely() FROM PUBLIC;

CREATE FUNCTION disclosure_internal.is_preloaded() RETURNS boolean
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
COMMENT ON FUNCTION disclosure_internal.is_preloaded() IS
  'returns whether every new session of this database loads the library before its first statement';

-- Policies are dropped with their relation, follow renamed columns, and prevent the dropping of columns that they need.
CREATE FUNCTION disclosure_internal.policies_follow() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE disclosure_internal.policy p SET columns = now.columns
    FROM (SELECT o.policy, array_agg(a.attname ORDER BY n.place) AS columns
            FROM disclosure_internal.altered_relations() r, disclosure_internal.policy o, unnest(o.attnums) WITH ORDINALITY AS n(attnum, place),
                 pg_attribute a
           WHERE o.relation::oid = r.relation AND a.attrelid = r.relation AND a.attnum = n.attnum AND NOT a.attisdropped
           GROUP BY o.policy) AS now
   WHERE now.policy = p.policy AND now.columns <> p.columns;
END
$$;
COMMENT ON FUNCTION disclosure_internal.policies_follow() IS 'event trigger: updates the column names of policies when columns are renamed';
CREATE EVENT TRIGGER disclosure_policies_follow ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
  EXECUTE FUNCTION disclosure_internal.policies_follow();
ALTER EVENT TRIGGER disclosure_policies_follow ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_policies_follow IS 'updates the column names of policies when columns are renamed';

CREATE FUNCTION disclosure_internal.policies_hold() RETURNS event_trigger
  LANGUAGE c SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'MODULE_PATHNAME', 'policies_hold_wrapper';
COMMENT ON FUNCTION disclosure_internal.policies_hold() IS
  'event trigger: removes the policies of dropped relations, and refuses to drop a column that a policy needs';
CREATE EVENT TRIGGER disclosure_policies_hold ON sql_drop EXECUTE FUNCTION disclosure_internal.policies_hold();
ALTER EVENT TRIGGER disclosure_policies_hold ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_policies_hold IS
  'removes the policies of dropped relations, and refuses to drop a column that a policy needs';

-- The export log. The guard writes its entries directly, without checking privileges or firing triggers. Entries
-- of exports and refusals stay even if the transaction is rolled back. src/guard/log.rs lists the column types in the same
-- order.

CREATE TABLE disclosure_internal.export_attempt (
  at            timestamptz NOT NULL,
  session_role  name        NOT NULL,
  role          name        NOT NULL,
  pid           int         NOT NULL,
  kind          text        NOT NULL,
  relation      disclosure_internal.relation_reference NOT NULL,
  relation_name text,
  policy        int,
  measure       text        NOT NULL,
  required      text        NOT NULL,
  measured      float8,
  rows          bigint,
  unsafe_rows   bigint,
  outcome       text        NOT NULL,
  inserted_by   name,
  inserted_at   timestamptz
) USING heap;
COMMENT ON TABLE disclosure_internal.export_attempt IS
  'the table behind disclosure.export_log; a role that may read it sees all entries of that view; must not have indexes';
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.export_attempt', '');

-- The guard does not fire this trigger, so it sees only rows that somebody else writes.
CREATE FUNCTION disclosure_internal.stamp_export_attempt() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.inserted_by := session_user;
  NEW.inserted_at := clock_timestamp();
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.stamp_export_attempt() IS
  'trigger of disclosure_internal.export_attempt: records who inserted or changed an entry that the guard did not write, and when';
REVOKE EXECUTE ON FUNCTION disclosure_internal.stamp_export_attempt() FROM PUBLIC;
CREATE TRIGGER stamp_export_attempt BEFORE INSERT OR UPDATE ON disclosure_internal.export_attempt
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.stamp_export_attempt();
ALTER TABLE disclosure_internal.export_attempt ENABLE ALWAYS TRIGGER stamp_export_attempt;
COMMENT ON TRIGGER stamp_export_attempt ON disclosure_internal.export_attempt IS
  'records who inserted or changed an entry that the guard did not write, and when';

CREATE VIEW disclosure.export_log WITH (security_barrier) AS
  SELECT at, session_role, role, pid, kind, relation::regclass, relation_name, policy, measure, required, measured, rows,
         unsafe_rows, outcome, inserted_by, inserted_at
    FROM disclosure_internal.export_attempt a
   WHERE CURRENT_USER IN (a.session_role, a.role)
      OR pg_catalog.has_table_privilege('disclosure_internal.export_attempt'::pg_catalog.regclass, 'SELECT')
      OR EXISTS (SELECT FROM pg_catalog.pg_class c
                  WHERE c.oid = a.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE'));
COMMENT ON VIEW disclosure.export_log IS
  'attempts to export data, with the measured value and the outcome: your own attempts and those on relations that you own; all attempts if you may read disclosure_internal.export_attempt';
COMMENT ON COLUMN disclosure.export_log.at IS 'time of the attempt by the clock, not the start of the transaction';
COMMENT ON COLUMN disclosure.export_log.session_role IS 'role that logged in';
COMMENT ON COLUMN disclosure.export_log.role IS 'session role, or the role set by SET ROLE; while a measure of a user''s own runs, the role that defined its policy';
COMMENT ON COLUMN disclosure.export_log.kind IS 'command, such as COPY TO';
COMMENT ON COLUMN disclosure.export_log.relation_name IS 'name of the relation at the time';
COMMENT ON COLUMN disclosure.export_log.outcome IS 'allowed, refused, dropped (unsafe rows were removed), warned, or exempt';
COMMENT ON COLUMN disclosure.export_log.inserted_by IS
  'NULL if the guard wrote the entry; otherwise the role that inserted or changed it, for example by restoring a dump';
COMMENT ON COLUMN disclosure.export_log.inserted_at IS 'time when inserted_by wrote the entry; NULL if the guard wrote it';
GRANT SELECT ON disclosure.export_log TO PUBLIC;

-- pg_restore --disable-triggers turns ENABLE ALWAYS triggers into ordinary ones, which do not fire in replica sessions.
CREATE FUNCTION disclosure_internal.keep_triggers() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT t.tgrelid::regclass AS on_table, t.tgname
      FROM pg_trigger t
     WHERE t.tgrelid IN ('disclosure_internal.column_label'::regclass, 'disclosure_internal.policy'::regclass,
                         'disclosure_internal.export_attempt'::regclass)
       AND NOT t.tgisinternal AND t.tgenabled <> 'A' AND t.tgfoid IN
           (SELECT d.objid FROM pg_depend d
             WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
               AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'pg_disclosure'))
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', found.on_table, found.tgname);
  END LOOP;
END
$$;
COMMENT ON FUNCTION disclosure_internal.keep_triggers() IS
  'event trigger: keeps the triggers of the extension''s own tables in the state ENABLE ALWAYS';
CREATE EVENT TRIGGER disclosure_keep_triggers ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION disclosure_internal.keep_triggers();
ALTER EVENT TRIGGER disclosure_keep_triggers ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_keep_triggers IS
  'keeps the triggers of the extension''s own tables in the state ENABLE ALWAYS';

-- Trigger functions of export tables; disclosure.protect(…, on_rows => …) creates the triggers.

CREATE FUNCTION disclosure_internal.export_turn() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_turn_wrapper';
COMMENT ON FUNCTION disclosure_internal.export_turn() IS
  'trigger of export tables: waits until no other open transaction has changed the table';

CREATE FUNCTION disclosure_internal.export_collect() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_collect_wrapper';
COMMENT ON FUNCTION disclosure_internal.export_collect() IS
  'trigger of export tables: remembers the location of a new row, which may have to be removed again';

CREATE FUNCTION disclosure_internal.export_judge() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_judge_wrapper';
COMMENT ON FUNCTION disclosure_internal.export_judge() IS
  'trigger of export tables: judges the table after a statement; refuses the statement, removes unsafe rows, or warns';

CREATE FUNCTION disclosure_internal.arm_relatives() RETURNS event_trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'arm_relatives_wrapper';
COMMENT ON FUNCTION disclosure_internal.arm_relatives() IS
  'event trigger: creates the triggers on new partitions and children of export tables, and refuses foreign tables and triggers that would replace them';
CREATE EVENT TRIGGER disclosure_arm_relatives ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE FOREIGN TABLE', 'CREATE SCHEMA', 'CREATE TRIGGER', 'ALTER TABLE', 'ALTER FOREIGN TABLE')
  EXECUTE FUNCTION disclosure_internal.arm_relatives();
ALTER EVENT TRIGGER disclosure_arm_relatives ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_arm_relatives IS
  'creates the triggers on new partitions and children of export tables, and refuses foreign tables and triggers that would replace them';

-- The guard of COPY … TO. Its hooks need preloading; the functions and views below do not.

CREATE FUNCTION disclosure.check_export(
    query text,
    OUT policy      int,
    OUT relation    regclass,
    OUT measure     text,
    OUT required    text,
    OUT applies     boolean,
    OUT measured    float8,
    OUT rows        bigint,
    OUT unsafe_rows bigint,
    OUT verdict     text
  ) RETURNS SETOF record
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 3
  AS 'MODULE_PATHNAME', 'check_export_wrapper';
COMMENT ON FUNCTION disclosure.check_export(text) IS
  'returns the measured value and the verdict of each policy of the relations that a SELECT reads, and whether the policy applies to the caller; exports nothing';

CREATE FUNCTION disclosure_internal.leaving(columns int[]) RETURNS SETOF record
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'leaving_wrapper';
COMMENT ON FUNCTION disclosure_internal.leaving(int[]) IS
  'returns the rows that are being judged, for queries given to measures; raises an error at any other time';

CREATE FUNCTION disclosure_internal.is_armed(relation regclass) RETURNS boolean
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'is_armed_wrapper';
COMMENT ON FUNCTION disclosure_internal.is_armed(regclass) IS
  'returns whether an export table, and all tables above and below it in inheritance and partition trees, have the triggers that protect() creates, in the state ENABLE ALWAYS';

CREATE VIEW disclosure.policies AS
  SELECT p.policy, p.relation::regclass AS relation, p.measure, p.statistic, p.threshold, p.at_most, p.at_least,
         p.columns, p.for_role::regrole AS for_role, p.on_rows, p.only_by_copy,
         disclosure_internal.is_preloaded() AS guards_copy,
         CASE WHEN p.on_rows IS NOT NULL THEN disclosure_internal.is_armed(p.relation::regclass) END AS guards_rows,
         disclosure_internal.policy_problem(p) AS problem,
         p.made_by::regrole AS made_by, p.made_at
    FROM disclosure_internal.policy p;
COMMENT ON VIEW disclosure.policies IS 'all policies, and whether the guard is active for them';
COMMENT ON COLUMN disclosure.policies.guards_copy IS
  'whether COPY TO is guarded in every new session; if not, set session_preload_libraries';
COMMENT ON COLUMN disclosure.policies.guards_rows IS
  'whether the export table has all triggers that protect() creates, unchanged and enabled; NULL if the policy has no on_rows';
COMMENT ON COLUMN disclosure.policies.problem IS
  'why the policy cannot be judged, in which case every export of the relation is refused; NULL if it can';
GRANT SELECT ON disclosure.policies TO PUBLIC;
