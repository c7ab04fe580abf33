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
  made_at       timestamptz NOT NULL,
  -- Older dumps lack these columns, so they have defaults.
  min_people    int,
  min_confidence float8 NOT NULL DEFAULT 0.9,
  max_refusals  int NOT NULL DEFAULT 20,
  details       boolean NOT NULL DEFAULT false,
  locked        boolean NOT NULL DEFAULT false,
  preset        text
);
COMMENT ON TABLE disclosure_internal.policy IS
  'policies defined by disclosure.protect(); a table, so that pg_dump dumps it; read disclosure.policies instead';
COMMENT ON COLUMN disclosure_internal.policy.relation_name IS 'name of the relation when the row was last written';
COMMENT ON COLUMN disclosure_internal.policy.measure IS
  'privacy_score, k_anonymity, expected_cracks, or the full signature of a function that takes a query';
COMMENT ON COLUMN disclosure_internal.policy.measure_owner IS
  'owner of the function when the policy was defined; if the owner changes, exports are refused';
COMMENT ON COLUMN disclosure_internal.policy.min_people IS 'NULL means the default, which depends on the limit';
COMMENT ON COLUMN disclosure_internal.policy.preset IS 'name and version of the preset that the policy was copied from';
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

CREATE FUNCTION disclosure_internal.policy_min_people(disclosure_internal.policy) RETURNS bigint
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'policy_min_people_wrapper';
COMMENT ON FUNCTION disclosure_internal.policy_min_people(disclosure_internal.policy) IS
  'returns the smallest number of people that may leave under a policy';

CREATE FUNCTION disclosure_internal.check_may_change(disclosure_internal.policy) RETURNS void
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'check_may_change_wrapper';
COMMENT ON FUNCTION disclosure_internal.check_may_change(disclosure_internal.policy) IS
  'raises an error unless the caller may define, change or remove a policy';

CREATE FUNCTION disclosure_internal.check_policy() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem text;
BEGIN
  IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    IF TG_OP <> 'INSERT' AND EXISTS (SELECT FROM pg_class c WHERE c.oid = OLD.relation) THEN
      PERFORM disclosure_internal.check_may_change(OLD);
    END IF;
    IF TG_OP <> 'DELETE' THEN
      PERFORM disclosure_internal.check_may_change(NEW);
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
  'trigger of disclosure_internal.policy: allows only roles that may change a policy to do so, and warns of policies that cannot be judged';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_policy() FROM PUBLIC;
CREATE TRIGGER check_policy BEFORE INSERT OR UPDATE OR DELETE ON disclosure_internal.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_policy();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER check_policy;
COMMENT ON TRIGGER check_policy ON disclosure_internal.policy IS
  'allows only roles that may change a policy to do so, and warns of policies that cannot be judged';

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
    relation       regclass,
    measure        text DEFAULT NULL,
    columns        name[] DEFAULT NULL,
    at_most        float8 DEFAULT NULL,
    at_least       float8 DEFAULT NULL,
    for_role       regrole DEFAULT NULL,
    on_rows        text DEFAULT NULL,
    statistic      text DEFAULT NULL,
    threshold      float8 DEFAULT NULL,
    only_by_copy   boolean DEFAULT false,
    min_people     int DEFAULT NULL,
    min_confidence float8 DEFAULT 0.9,
    max_refusals   int DEFAULT 20,
    details        boolean DEFAULT false,
    locked         boolean DEFAULT false,
    preset         text DEFAULT NULL,
    unlabelled     text DEFAULT 'judge'
  ) RETURNS SETOF int
  LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1
  AS 'MODULE_PATHNAME', 'protect_wrapper';
COMMENT ON FUNCTION disclosure.protect(regclass, text, name[], float8, float8, regrole, text, text, float8, boolean, int, float8,
                                       int, boolean, boolean, text, text) IS
  'defines a policy: a measure of a relation and its limit, or all criteria of a preset, for everyone or for a role; exports that break it are refused; returns the numbers of the policies';

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

CREATE FUNCTION disclosure.administer_policies() RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT true;
END;
COMMENT ON FUNCTION disclosure.administer_policies() IS
  'lets the roles that may execute it define policies and labels of relations that they do not own, also locked ones; the call itself does nothing';
REVOKE EXECUTE ON FUNCTION disclosure.administer_policies() FROM PUBLIC;

CREATE FUNCTION disclosure_internal.may_oversee(relation oid) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT pg_catalog.has_function_privilege('disclosure.administer_policies()'::pg_catalog.regprocedure::pg_catalog.oid, 'EXECUTE')
      OR EXISTS (SELECT FROM pg_catalog.pg_class c
                  WHERE c.oid OPERATOR(pg_catalog.=) may_oversee.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE'));
END;
COMMENT ON FUNCTION disclosure_internal.may_oversee(oid) IS
  'returns whether the caller owns a relation or may administer policies, and so sees what was measured of it';

CREATE FUNCTION disclosure_internal.enforcement() RETURNS text
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'enforcement_wrapper';
COMMENT ON FUNCTION disclosure_internal.enforcement() IS
  'returns enforced, advisory or off: whether all new sessions load the library, at least those of this database, or not even those';

-- While a policy is locked, the triggers of its export table are locked, too.
CREATE FUNCTION disclosure_internal.locks_hold() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  asking name := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role') END;
  touched oid[];
  held record;
BEGIN
  IF has_function_privilege(asking, 'disclosure.administer_policies()', 'EXECUTE')
     OR NOT EXISTS (SELECT FROM disclosure_internal.policy p WHERE p.locked AND p.on_rows IS NOT NULL) THEN
    RETURN;
  END IF;
  IF TG_EVENT = 'sql_drop' THEN
    touched := ARRAY(SELECT to_regclass(format('%I.%I', d.address_names[1], d.address_names[2]))::oid
                       FROM pg_event_trigger_dropped_objects() d WHERE d.classid = 'pg_trigger'::regclass);
  ELSE
    touched := ARRAY(SELECT coalesce(t.tgrelid, d.objid)
                       FROM pg_event_trigger_ddl_commands() d
                       LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid);
  END IF;
  WITH RECURSIVE family(policy, relation, member) AS (
    SELECT p.policy, p.relation::oid, p.relation::oid
      FROM disclosure_internal.policy p WHERE p.locked AND p.on_rows IS NOT NULL
    UNION
    SELECT f.policy, f.relation, i.inhrelid FROM family f JOIN pg_inherits i ON i.inhparent = f.member)
  SELECT f.policy, f.relation::regclass AS relation INTO held
    FROM family f
   WHERE f.member = ANY (touched) AND NOT disclosure_internal.is_armed(f.relation::regclass)
   ORDER BY f.policy LIMIT 1;
  IF FOUND THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('change of %s refused: policy %s is locked', held.relation, held.policy),
      DETAIL = 'The export table would lose a trigger of the policy.',
      HINT = 'It can be changed by a role that may execute disclosure.administer_policies().';
  END IF;
END
$$;
COMMENT ON FUNCTION disclosure_internal.locks_hold() IS
  'event trigger: refuses to drop, disable, rename or replace the triggers of an export table whose policy is locked';
CREATE EVENT TRIGGER disclosure_locks_hold_drops ON sql_drop EXECUTE FUNCTION disclosure_internal.locks_hold();
ALTER EVENT TRIGGER disclosure_locks_hold_drops ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_locks_hold_drops IS
  'refuses to drop the triggers of an export table whose policy is locked';
CREATE EVENT TRIGGER disclosure_locks_hold ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER TRIGGER', 'CREATE TRIGGER') EXECUTE FUNCTION disclosure_internal.locks_hold();
ALTER EVENT TRIGGER disclosure_locks_hold ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_locks_hold IS
  'refuses to disable, rename or replace the triggers of an export table whose policy is locked';

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
  measure       text,
  required      text,
  measured      float8,
  rows          bigint,
  unsafe_rows   bigint,
  outcome       text        NOT NULL,
  counted       text,
  reason        text,
  details       boolean,
  query_hash    bigint,
  query         text,
  application_name text,
  client_address inet,
  transaction_id xid8,
  inserted_by   name,
  inserted_at   timestamptz
) USING heap;
-- No row is stored anywhere else than on its page.
ALTER TABLE disclosure_internal.export_attempt
  ALTER kind SET STORAGE PLAIN, ALTER relation_name SET STORAGE PLAIN, ALTER measure SET STORAGE PLAIN,
  ALTER required SET STORAGE PLAIN, ALTER outcome SET STORAGE PLAIN, ALTER counted SET STORAGE PLAIN,
  ALTER reason SET STORAGE PLAIN, ALTER query SET STORAGE PLAIN, ALTER application_name SET STORAGE PLAIN,
  ALTER client_address SET STORAGE PLAIN;
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

-- What was measured, and why an export was refused, is for those who know the data anyway.
CREATE VIEW disclosure.export_log WITH (security_barrier) AS
  SELECT a.at, a.session_role, a.role, a.pid, a.kind, a.relation::regclass, a.relation_name, a.policy, a.measure, a.required,
         CASE WHEN a.details OR seen.whole THEN a.measured END AS measured,
         CASE WHEN a.details OR seen.whole THEN a.rows END AS rows,
         CASE WHEN a.details OR seen.whole THEN a.unsafe_rows END AS unsafe_rows,
         a.outcome, a.counted,
         CASE WHEN a.details OR seen.whole THEN a.reason END AS reason,
         a.query_hash, a.query, a.application_name, a.client_address, a.transaction_id, a.inserted_by, a.inserted_at
    FROM disclosure_internal.export_attempt a,
         LATERAL (SELECT disclosure_internal.may_oversee(a.relation)
                      OR pg_catalog.has_table_privilege('disclosure_internal.export_attempt'::pg_catalog.regclass, 'SELECT')
                 ) AS seen(whole)
   WHERE CURRENT_USER IN (a.session_role, a.role) OR seen.whole;
COMMENT ON VIEW disclosure.export_log IS
  'attempts to export data, with the measured value and the outcome: your own attempts and those on relations that you own; all attempts if you may read disclosure_internal.export_attempt';
COMMENT ON COLUMN disclosure.export_log.at IS 'time of the attempt by the clock, not the start of the transaction';
COMMENT ON COLUMN disclosure.export_log.session_role IS 'role that logged in';
COMMENT ON COLUMN disclosure.export_log.role IS 'session role, or the role set by SET ROLE; while a measure of a user''s own runs, the role that defined its policy';
COMMENT ON COLUMN disclosure.export_log.kind IS 'command, such as COPY TO';
COMMENT ON COLUMN disclosure.export_log.relation_name IS 'name of the relation at the time';
COMMENT ON COLUMN disclosure.export_log.measured IS
  'for those who may change the policies of the relation, or everyone if the policy says details: the measured value';
COMMENT ON COLUMN disclosure.export_log.rows IS 'number of rows that were measured; shown to the same roles as measured';
COMMENT ON COLUMN disclosure.export_log.unsafe_rows IS 'number of unsafe rows; shown to the same roles as measured';
COMMENT ON COLUMN disclosure.export_log.outcome IS
  'allowed, refused, dropped (unsafe rows were removed), warned, or exempt; changed if a policy or label was changed';
COMMENT ON COLUMN disclosure.export_log.counted IS 'columns that counted, with their labels; or what was changed';
COMMENT ON COLUMN disclosure.export_log.reason IS
  'what was measured, or the error of the query; shown to the same roles as measured';
COMMENT ON COLUMN disclosure.export_log.query_hash IS 'hashtextextended(query, 0) of the text of the query';
COMMENT ON COLUMN disclosure.export_log.query IS
  'text of the query, at most 2,000 bytes; NULL if the setting disclosure.log_queries was off';
COMMENT ON COLUMN disclosure.export_log.client_address IS 'NULL if the client connected through a socket of the server';
COMMENT ON COLUMN disclosure.export_log.transaction_id IS 'transaction of the attempt, which may have been rolled back';
COMMENT ON COLUMN disclosure.export_log.inserted_by IS
  'NULL if the guard wrote the entry; otherwise the role that inserted or changed it, for example by restoring a dump';
COMMENT ON COLUMN disclosure.export_log.inserted_at IS 'time when inserted_by wrote the entry; NULL if the guard wrote it';
GRANT SELECT ON disclosure.export_log TO PUBLIC;

-- Refusals, which are counted because each tells one bit about the data. The guard writes them as it writes the log.
-- src/guard/refusals.rs lists the column types in the same order.

CREATE TABLE disclosure_internal.refusal (
  policy       int NOT NULL,
  session_role disclosure_internal.role_reference NOT NULL,
  at           timestamptz NOT NULL,
  locked       boolean NOT NULL
) USING heap;
COMMENT ON TABLE disclosure_internal.refusal IS
  'the table behind disclosure.refusals: refusals after measuring, and lock-outs; must not have indexes';
COMMENT ON COLUMN disclosure_internal.refusal.locked IS 'true if the row locks the role out, false if it is a refusal';
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.refusal', '');

CREATE VIEW disclosure.refusals WITH (security_barrier) AS
  SELECT r.policy, p.relation::regclass AS relation, r.session_role::regrole AS session_role,
         pg_catalog.count(*) FILTER (WHERE NOT r.locked AND r.at > pg_catalog.clock_timestamp() - interval '24 hours') AS refusals,
         pg_catalog.bool_or(r.locked) AS locked,
         pg_catalog.min(r.at) FILTER (WHERE r.locked) AS locked_at
    FROM disclosure_internal.refusal r
    JOIN disclosure_internal.policy p ON p.policy = r.policy
   WHERE disclosure_internal.may_oversee(p.relation)
   GROUP BY r.policy, p.relation::oid, r.session_role::oid, p.relation::regclass, r.session_role::regrole;
COMMENT ON VIEW disclosure.refusals IS
  'roles that were refused exports under policies that you may change, and whether they are locked out';
COMMENT ON COLUMN disclosure.refusals.refusals IS 'number of refusals after measuring in the last 24 hours';
COMMENT ON COLUMN disclosure.refusals.locked IS
  'whether the role is locked out of the policy until disclosure.unlock() is called';
COMMENT ON COLUMN disclosure.refusals.locked_at IS 'since when the role is locked out; NULL if it is not';
GRANT SELECT ON disclosure.refusals TO PUBLIC;

CREATE FUNCTION disclosure.unlock(policy int, role_name name) RETURNS int
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'unlock_wrapper';
COMMENT ON FUNCTION disclosure.unlock(int, name) IS
  'forgets the refusals of a role under a policy, so that it is no longer locked out, and returns how many there were';

-- What anybody else than the guard does to its tables goes to the server's log.
CREATE FUNCTION disclosure_internal.report_change() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'report_change_wrapper';
COMMENT ON FUNCTION disclosure_internal.report_change() IS
  'trigger of the extension''s own tables: writes to the server''s log who has changed or removed rows';
REVOKE EXECUTE ON FUNCTION disclosure_internal.report_change() FROM PUBLIC;
CREATE TRIGGER report_change AFTER UPDATE OR DELETE OR TRUNCATE ON disclosure_internal.export_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.report_change();
ALTER TABLE disclosure_internal.export_attempt ENABLE ALWAYS TRIGGER report_change;
COMMENT ON TRIGGER report_change ON disclosure_internal.export_attempt IS
  'writes to the server''s log who has changed or removed entries';
-- Row triggers, because event triggers run statements on these two tables that mostly change no row.
CREATE TRIGGER report_change AFTER UPDATE OR DELETE ON disclosure_internal.refusal
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.report_change();
ALTER TABLE disclosure_internal.refusal ENABLE ALWAYS TRIGGER report_change;
COMMENT ON TRIGGER report_change ON disclosure_internal.refusal IS
  'writes to the server''s log who has changed or removed refusals';
CREATE TRIGGER report_truncation AFTER TRUNCATE ON disclosure_internal.refusal
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.report_change();
ALTER TABLE disclosure_internal.refusal ENABLE ALWAYS TRIGGER report_truncation;
COMMENT ON TRIGGER report_truncation ON disclosure_internal.refusal IS
  'writes to the server''s log who has removed all refusals';
CREATE TRIGGER report_change AFTER UPDATE OR DELETE ON disclosure_internal.policy
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.report_change();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER report_change;
COMMENT ON TRIGGER report_change ON disclosure_internal.policy IS
  'writes to the server''s log who has changed or removed policies';
CREATE TRIGGER report_truncation AFTER TRUNCATE ON disclosure_internal.policy
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.report_change();
ALTER TABLE disclosure_internal.policy ENABLE ALWAYS TRIGGER report_truncation;
COMMENT ON TRIGGER report_truncation ON disclosure_internal.policy IS
  'writes to the server''s log who has removed all policies';

CREATE FUNCTION disclosure_internal.report_removal() RETURNS event_trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'report_removal_wrapper';
COMMENT ON FUNCTION disclosure_internal.report_removal() IS
  'event trigger: writes to the server''s log who drops the extension';
CREATE EVENT TRIGGER disclosure_report_removal ON ddl_command_start
  WHEN TAG IN ('DROP EXTENSION', 'DROP OWNED') EXECUTE FUNCTION disclosure_internal.report_removal();
ALTER EVENT TRIGGER disclosure_report_removal ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_report_removal IS 'writes to the server''s log who drops the extension';

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
     WHERE t.tgrelid IN
           (SELECT d.objid FROM pg_depend d
             WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
               AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'pg_disclosure'))
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
  'returns the verdict of each policy of the relations that a SELECT reads, and whether the policy applies to the caller; what was measured is shown to those who may see it; exports nothing, but is logged and counted like an export';

CREATE FUNCTION disclosure_internal.leaving(columns text) RETURNS SETOF record
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'leaving_wrapper';
COMMENT ON FUNCTION disclosure_internal.leaving(text) IS
  'returns the rows that are being judged, for queries given to measures; raises an error at any other time';

CREATE FUNCTION disclosure_internal.is_armed(relation regclass) RETURNS boolean
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'is_armed_wrapper';
COMMENT ON FUNCTION disclosure_internal.is_armed(regclass) IS
  'returns whether an export table, and all tables above and below it in inheritance and partition trees, have the triggers that protect() creates, in the state ENABLE ALWAYS';

CREATE VIEW disclosure.policies AS
  SELECT p.policy, p.relation::regclass AS relation, p.measure, p.statistic, p.threshold, p.at_most, p.at_least,
         p.columns, p.for_role::regrole AS for_role, p.on_rows, p.only_by_copy,
         disclosure_internal.policy_min_people(p) AS min_people, p.min_confidence, p.max_refusals, p.details, p.locked, p.preset,
         (SELECT disclosure_internal.enforcement()) AS enforcement,
         CASE WHEN p.on_rows IS NOT NULL THEN disclosure_internal.is_armed(p.relation::regclass) END AS guards_rows,
         disclosure_internal.policy_problem(p) AS problem,
         p.made_by::regrole AS made_by, p.made_at
    FROM disclosure_internal.policy p;
COMMENT ON VIEW disclosure.policies IS 'all policies, and whether the guard is active for them';
COMMENT ON COLUMN disclosure.policies.min_people IS 'smallest number of people that may leave';
COMMENT ON COLUMN disclosure.policies.min_confidence IS
  'share of the rows with a known value from which on that value counts as certain';
COMMENT ON COLUMN disclosure.policies.max_refusals IS
  'number of refusals within 24 hours after which a role is locked out of the policy';
COMMENT ON COLUMN disclosure.policies.details IS 'whether a refusal says what was measured';
COMMENT ON COLUMN disclosure.policies.locked IS
  'whether only roles that may execute disclosure.administer_policies() can change the policy and the labels of its relation';
COMMENT ON COLUMN disclosure.policies.preset IS
  'name and version of the preset that the policy was copied from; later changes of the preset do not change the policy';
COMMENT ON COLUMN disclosure.policies.enforcement IS
  'enforced (shared_preload_libraries: stops hostile users), advisory (session_preload_libraries: protects honest users from mistakes), or off';
COMMENT ON COLUMN disclosure.policies.guards_rows IS
  'whether the export table has all triggers that protect() creates, unchanged and enabled; NULL if the policy has no on_rows';
COMMENT ON COLUMN disclosure.policies.problem IS
  'why the policy cannot be judged, in which case every export of the relation is refused; NULL if it can';
GRANT SELECT ON disclosure.policies TO PUBLIC;
