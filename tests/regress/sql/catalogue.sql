-- What the extension has put into the catalogue gives nobody more rights, and looks names up where nobody can plant any.
CREATE TEMP VIEW own AS
  SELECT p.* FROM pg_proc p JOIN pg_depend d
    ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_disclosure';
-- Functions that run with the rights of their owner: event triggers only.
SELECT oid::regprocedure, prorettype::regtype, proconfig FROM own WHERE prosecdef ORDER BY 1;
-- SQL and PL/pgSQL is bound when it is created, or has a search_path of its own.
SELECT p.oid::regprocedure, p.proconfig FROM own p JOIN pg_language l ON l.oid = p.prolang
 WHERE l.lanname IN ('sql', 'plpgsql') AND p.prosqlbody IS NULL
   AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) ORDER BY 1;
-- risk_view makes views by a statement of its own, in which every name has a schema: a path with planted names changes
-- nothing about the view.
CREATE SCHEMA planted;
CREATE TABLE public.read_by_view (a int, b text);
SET client_min_messages = warning;
SELECT disclosure.risk_view('public.read_by_view', 'public.plain_view', labels => '{"a": "sensitive", "b": "sensitive"}');
SET search_path = public;
SELECT pg_get_viewdef('public.plain_view') AS plain \gset
RESET search_path;
CREATE FUNCTION planted.privacy_risk(anyelement, pg_catalog.jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$;
CREATE FUNCTION planted.class_size(anyelement) RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$;
CREATE AGGREGATE planted.count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0');
CREATE DOMAIN planted.jsonb AS text;
CREATE TABLE planted.read_by_view (a int, b text);
SET search_path = planted, pg_catalog;
SELECT disclosure.risk_view('public.read_by_view', 'plain_view', labels => '{"a": "sensitive", "b": "sensitive"}');
SET search_path = public;
SELECT pg_get_viewdef('planted.plain_view') = :'plain' AS is_the_same;
RESET search_path;
DROP SCHEMA planted CASCADE;
DROP TABLE public.read_by_view CASCADE;
RESET client_min_messages;
-- No dependence on anything that did not come with Postgres or with the extension.
SELECT pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
  FROM pg_depend d JOIN own p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE d.refobjid >= 16384 AND d.deptype = 'n'
   AND NOT EXISTS (SELECT FROM pg_depend m WHERE m.classid = d.refclassid AND m.objid = d.refobjid AND m.deptype = 'e')
   AND NOT EXISTS (SELECT FROM pg_type t JOIN pg_class c ON c.reltype = t.oid OR t.typelem = c.reltype
                    WHERE d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid AND c.relnamespace IN ('disclosure'::regnamespace, 'disclosure_internal'::regnamespace));
-- All belongs to a superuser, the schema too, and to the extension.
SELECT DISTINCT r.rolsuper FROM own p JOIN pg_roles r ON r.oid = p.proowner;
SELECT r.rolsuper, d.deptype FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
  JOIN pg_depend d ON d.classid = 'pg_namespace'::regclass AND d.objid = n.oid WHERE n.nspname LIKE 'disclosure%';
SELECT nspname, has_schema_privilege('pg_monitor', oid, 'USAGE') AS may_use, has_schema_privilege('pg_monitor', oid, 'CREATE') AS may_create
  FROM pg_namespace WHERE nspname LIKE 'disclosure%' ORDER BY 1;
-- Who may do what with the tables.
SELECT c.relname, c.relkind, a.grantee = 0 AS everyone, string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type)
  FROM pg_class c, aclexplode(c.relacl) a
 WHERE c.relnamespace IN ('disclosure'::regnamespace, 'disclosure_internal'::regnamespace) AND a.grantee <> c.relowner GROUP BY 1, 2, 3 ORDER BY 1;
-- Functions that are not for everyone.
SELECT oid::regprocedure FROM own WHERE NOT has_function_privilege('pg_monitor', oid, 'EXECUTE') ORDER BY 1;
-- Triggers that every session fires.
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
 WHERE c.relnamespace IN ('disclosure'::regnamespace, 'disclosure_internal'::regnamespace) ORDER BY 1, 2;
SELECT evtname, evtenabled FROM pg_event_trigger WHERE evtname LIKE 'disclosure%' ORDER BY 1;
