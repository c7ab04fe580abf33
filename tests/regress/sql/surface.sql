-- The public surface: a change here is a change for users. Every object has a comment. (Postgres 17 lists
-- the row and array types that come with tables and types too; they depend on these internally.)
SELECT pg_catalog.pg_describe_object(classid, objid, objsubid) AS object
  FROM pg_catalog.pg_depend d
 WHERE NOT EXISTS (SELECT FROM pg_depend i WHERE (i.classid, i.objid, i.deptype) = (d.classid, d.objid, 'i'))
   AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_disclosure')
   AND deptype = 'e'
 ORDER BY pg_catalog.pg_describe_object(classid, objid, objsubid) COLLATE "C";
SELECT pg_catalog.pg_describe_object(classid, objid, objsubid) AS without_comment
  FROM pg_catalog.pg_depend d
 WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_disclosure')
   AND deptype = 'e'
   AND NOT EXISTS (SELECT FROM pg_description c WHERE c.classoid = d.classid AND c.objoid = d.objid AND c.objsubid = 0)
   AND classid <> 'pg_type'::regclass
 ORDER BY 1;
-- What a caller sees.
\pset format unaligned
SELECT pronamespace::regnamespace AS schema_name, proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result, provolatile, proparallel, prosecdef
  FROM pg_proc WHERE pronamespace IN ('disclosure'::regnamespace, 'disclosure_lab'::regnamespace) ORDER BY 1, proname COLLATE "C", pg_get_function_arguments(oid) COLLATE "C";
\pset format aligned
-- Nothing reads tables under a stronger user than the caller, and nothing claims to be immutable that is not.
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace::regnamespace::text LIKE 'disclosure%' AND prosecdef AND prorettype <> 'event_trigger'::regtype;
SELECT extversion, nspname AS schema, extrelocatable FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pg_disclosure';
