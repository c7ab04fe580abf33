-- The guard of COPY … TO. Its hooks work where the library is preloaded; what is here works everywhere.

CREATE FUNCTION disclosure.check_export(
    query text,
    OUT policy      int,
    OUT relation    regclass,
    OUT measure     text,
    OUT "limit"     text,
    OUT applies     boolean,
    OUT measured    float8,
    OUT "rows"      bigint,
    OUT unsafe_rows bigint,
    OUT verdict     text
  ) RETURNS SETOF record
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 3
  AS 'MODULE_PATHNAME', 'check_export_wrapper';
COMMENT ON FUNCTION disclosure.check_export(text) IS
  'what the policies of the relations that a SELECT reads say of what it returns, without exporting anything: measured value, verdict, and whether the caller has to keep to it';

CREATE FUNCTION disclosure.leaving(columns int[]) RETURNS SETOF record
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'leaving_wrapper';
COMMENT ON FUNCTION disclosure.leaving(int[]) IS
  'the rows that are being judged, for the queries that measures are given; an error at any other time';

CREATE FUNCTION disclosure.is_armed(relation regclass) RETURNS boolean
  LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH RECURSIVE family(member) AS (
    SELECT is_armed.relation::oid
    UNION
    SELECT i.inhrelid FROM pg_inherits i JOIN family f ON i.inhparent = f.member)
  SELECT bool_and(EXISTS (SELECT FROM pg_trigger t
                           WHERE t.tgrelid = f.member AND t.tgname = needed.name AND t.tgenabled = 'A'))
    FROM family f,
         unnest(ARRAY['disclosure_turn', 'disclosure_inserted', 'disclosure_updated', 'disclosure_deleted'])
           AS needed(name);
END;
COMMENT ON FUNCTION disclosure.is_armed(regclass) IS
  'whether the triggers of an export table, and of all that inherit from it, are there and enabled always';

CREATE VIEW disclosure.policies AS
  SELECT p.policy, p.relation::regclass AS relation, p.measure, p.statistic, p.threshold, p.at_most, p.at_least,
         p.columns, p.for_role::regrole AS for_role, p.on_rows, p.only_by_copy,
         disclosure.is_preloaded() AS guards_copy,
         CASE WHEN p.on_rows IS NOT NULL THEN disclosure.is_armed(p.relation::regclass) END AS guards_rows,
         disclosure.policy_problem(p) AS problem,
         p.made_by::regrole AS made_by, p.made_at
    FROM disclosure.policy p;
COMMENT ON VIEW disclosure.policies IS 'what may leave which relation, and whether that is being watched';
COMMENT ON COLUMN disclosure.policies.guards_copy IS
  'whether COPY TO is guarded in every new session; if not, see session_preload_libraries';
COMMENT ON COLUMN disclosure.policies.guards_rows IS
  'whether all triggers of the export table are there and enabled';
COMMENT ON COLUMN disclosure.policies.problem IS
  'why the policy cannot be judged, so that every export of the relation is refused; NULL if it can';
GRANT SELECT ON disclosure.policies TO PUBLIC;
