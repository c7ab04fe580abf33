-- The language of exports: the list of built-in functions, what counts as a type, and functions that superusers trust.
CREATE FUNCTION listed() RETURNS TABLE (oid oid, signature text, family text, constants int[])
LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_listed_wrapper';
CREATE FUNCTION advice(function oid) RETURNS text LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_advice_wrapper';
CREATE FUNCTION type_problem(type_oid oid) RETURNS text LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_type_problem_wrapper';
CREATE FUNCTION trusted() RETURNS oid[] LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_trusted_wrapper';
CREATE FUNCTION operator_function(operator oid) RETURNS oid
LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_operator_function_wrapper';
CREATE FUNCTION domain_checks(type_oid oid) RETURNS text[]
LANGUAGE c STRICT AS '$libdir/pg_disclosure', 'probe_domain_checks_wrapper';

-- On this server, each line is the function that was reviewed. A new major version shows its differences here.
CREATE TEMP TABLE list AS SELECT * FROM listed();
SET search_path = pg_catalog;
SELECT l.oid, l.signature, p.oid::regprocedure AS here
  FROM pg_temp.list l LEFT JOIN pg_proc p ON p.oid = l.oid
 WHERE p.oid::regprocedure::text IS DISTINCT FROM l.signature;
RESET search_path;
SELECT l.signature, p.provolatile, p.prokind, p.proretset, p.prosecdef, p.proconfig, p.provariadic
  FROM list l JOIN pg_proc p USING (oid)
 WHERE p.pronamespace <> 'pg_catalog'::regnamespace OR p.oid >= 10000 OR p.provolatile = 'v' OR p.prokind <> 'f' OR p.proretset
    OR p.prosecdef OR p.proconfig IS NOT NULL OR p.provariadic <> 0 OR NOT p.prolang IN (12, 14);
SELECT oid, count(*) FROM list GROUP BY oid HAVING count(*) > 1;
-- Constant arguments exist.
SELECT signature, constants FROM list JOIN pg_proc p USING (oid), unnest(constants) AS c(place) WHERE c.place NOT BETWEEN 1 AND p.pronargs;
-- All arguments and results are of types that exports may contain.
SELECT signature, t.oid::regtype FROM list JOIN pg_proc p USING (oid), unnest(p.proargtypes::oid[] || p.prorettype) AS t(oid)
 WHERE type_problem(t.oid) IS NOT NULL AND t.oid::regtype::text !~ '^any(array|enum|compatible|compatiblearray)$';
-- SQL functions were parsed when Postgres was made, and call only functions on the list.
SELECT l.signature, p.prosqlbody IS NOT NULL AS is_parsed, c.oid::regprocedure
  FROM list l JOIN pg_proc p USING (oid)
  LEFT JOIN LATERAL (SELECT m[1]::oid AS oid FROM regexp_matches(p.prosqlbody::text, ':funcid (\d+)', 'g') AS m
                     UNION SELECT o.oprcode FROM regexp_matches(p.prosqlbody::text, ':opno (\d+)', 'g') AS m JOIN pg_operator o ON o.oid = m[1]::oid) c ON true
 WHERE p.prolang = 14 AND (p.prosqlbody IS NULL OR c.oid IS NULL OR c.oid NOT IN (SELECT oid FROM list));
SELECT family, count(*), count(*) FILTER (WHERE constants <> '{}') AS with_constants FROM list GROUP BY family ORDER BY family COLLATE "C";

-- No call of a listed function raises a NOTICE or a WARNING, whatever the values; errors do not matter. Every second
-- call uses only the first four values of each type, which are harmless.
CREATE TYPE mood AS ENUM ('bad', 'so-so', 'good');
CREATE TEMP TABLE nasty (type text, literals text[]);
INSERT INTO nasty VALUES
  ('boolean', '{t,f}'), ('"char"', '{a,"",\\303}'), ('name', '{a,"","Odd \" name",pg_class}'), ('bytea', '{"",\\x00,\\xff00ff,abc}'),
  ('smallint', '{0,1,-1,32767,-32768}'), ('integer', '{1,3,0,2,-1,2147483647,-2147483648,1000000}'),
  ('bigint', '{0,1,-1,9223372036854775807,-9223372036854775808}'), ('oid', '{0,1,4294967295}'),
  ('real', '{0,-0,1e38,1e-45,NaN,Infinity,-Infinity,0.1}'), ('double precision', '{0,-0,1e308,5e-324,NaN,Infinity,-Infinity,0.1,1e20}'),
  ('numeric', '{0,1.00,-7.5,1e100,1e-100,NaN,Infinity,-Infinity,12345678901234567890.123456789}'), ('money', '{0,1.50,-92233720368547758.08}'),
  ('text', '{second,base64,Europe/Berlin,abcd,"",a,"Ä ß İ","''; DROP TABLE x","%_\\","(a*)*b","YYYY-MM-DD TZ","9G999D99S",year,century,hex,base64,"2024-02-30","x y  z","[","\\1",g}'),
  ('character', '{"","a  ","Äß"}'), ('character varying', '{"","a  ","Äß"}'),
  ('date', '{2024-02-29,infinity,-infinity,"4713-01-01 BC",5874897-12-31}'), ('time without time zone', '{00:00,24:00,12:34:56.789}'),
  ('time with time zone', '{00:00+00,24:00-12,12:34:56.789+05:30}'),
  ('timestamp without time zone', '{"2024-02-29 12:00",infinity,-infinity,"4713-01-01 00:00 BC","294276-12-31"}'),
  ('timestamp with time zone', '{"2024-02-29 12:00 Europe/Berlin",infinity,-infinity,"4713-01-01 00:00 BC","294276-12-31"}'),
  ('interval', '{0,"1 month -30 days","178000000 years","-1 us","1 day 25:00"}'),
  ('uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'),
  ('inet', '{0.0.0.0/0,192.168.1.5/24,::1,ffff::/16}'), ('cidr', '{10.0.0.0/8,::/0}'), ('macaddr', '{08:00:2b:01:02:03}'),
  ('jsonb', '{"null","{\"a\": 1.00}","[1, [2], {}]"}'), ('mood', '{bad,good}'), ('text[]', '{"{}","{a,NULL,\"b c\"}","[2:3]={x,y}","{{a,b},{c,d}}"}');
CREATE TEMP TABLE called (oid oid, calls int, errors int);
DO $$
DECLARE
  f record;
  number int;
  failed int;
BEGIN
  FOR f IN
    SELECT l.oid, l.signature, p.proname, p.pronargs,
           array(SELECT CASE format_type(a.type, NULL) WHEN 'anyenum' THEN 'mood' WHEN 'anyarray' THEN 'text[]'
                             WHEN 'anycompatiblearray' THEN 'text[]' WHEN 'anycompatible' THEN 'text' ELSE format_type(a.type, NULL) END
                   FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(type, place) ORDER BY a.place) AS types
      FROM list l JOIN pg_proc p USING (oid)
  LOOP
    failed := 0;
    FOR number IN 1..100 LOOP
      BEGIN
        EXECUTE 'SELECT pg_catalog.' || quote_ident(f.proname) || '('
             || coalesce((SELECT string_agg(quote_literal(n.literals[1 + abs(hashint4(number * 8 + a.place::int) / 2) %
                                                                  CASE number % 2 WHEN 0 THEN least(4, cardinality(n.literals)) ELSE cardinality(n.literals) END])
                                            || '::' || CASE n.type WHEN 'character' THEN 'bpchar' ELSE n.type END, ', ' ORDER BY a.place)
                            FROM unnest(f.types) WITH ORDINALITY AS a(type, place) JOIN nasty n USING (type)), '') || ')';
      EXCEPTION
        WHEN undefined_function OR ambiguous_function THEN RAISE;
        WHEN others THEN failed := failed + 1;
      END;
    END LOOP;
    INSERT INTO called VALUES (f.oid, 100, failed);
  END LOOP;
END
$$;
SELECT count(*) = (SELECT count(*) FROM list) AS all_were_called FROM called;
-- Each was called at least once without an error.
SELECT oid::regprocedure FROM called WHERE errors = calls ORDER BY oid;

-- Advice about functions that are not on the list.
SELECT advice('anytextcat(anynonarray, text)'::regprocedure);
SELECT advice('random()'::regprocedure);
SELECT advice('pg_advisory_unlock_all()'::regprocedure);
SELECT oid::regprocedure FROM list WHERE advice(oid) IS NOT NULL ORDER BY 1;
SELECT count(DISTINCT proname) FROM pg_proc WHERE advice(oid) IS NOT NULL;

-- Types.
CREATE TYPE pair AS (a int, b int);
CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 6) CHECK (VALUE <> 5);
CREATE DOMAIN good_grade AS grade CHECK (VALUE < 3);
CREATE DOMAIN plain AS text;
CREATE DOMAIN pairs AS pair[];
SELECT t AS type_name, type_problem(t::regtype)
  FROM unnest('{bool,bytea,"\"char\"",name,int2,int4,int8,oid,float4,float8,numeric,money,text,varchar,bpchar,date,time,timetz,timestamp,timestamptz,interval,uuid,inet,cidr,macaddr,jsonb,text[],mood,mood[],grade,good_grade[],plain,json,xml,bit,varbit,point,int4range,int4multirange,tsvector,tsquery,regclass,regclass[],regoper,record,pair,pair[],pairs,xid,tid,pg_lsn,jsonpath,macaddr8,pg_class}'::text[]) AS t;
SELECT domain_checks('good_grade'::regtype), domain_checks('plain'::regtype), domain_checks('int4'::regtype);

-- Trusted functions: what superusers have added.
CREATE ROLE pd_plain;
GRANT CREATE, USAGE ON SCHEMA public TO pd_plain;
CREATE FUNCTION decade(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 / 10;
CREATE FUNCTION dice(int) RETURNS int LANGUAGE sql VOLATILE RETURN $1;
CREATE FUNCTION numbers(int) RETURNS SETOF int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1; END;
INSERT INTO disclosure.trusted_functions (signature, reason) VALUES ('public.decade( integer )', 'rounds');
INSERT INTO disclosure.trusted_functions (signature) VALUES ('public.decade(int4)'), ('md5(text)');
INSERT INTO disclosure.trusted_functions (signature) VALUES ('public.dice(int)'), ('public.numbers(int)'), ('max(int)'), ('absent.f(text)'), ('public.f(absent.type)');
INSERT INTO disclosure.trusted_functions (signature) VALUES ('decade(int)');
INSERT INTO disclosure.trusted_functions (signature) VALUES ('not a signature');
UPDATE disclosure.trusted_functions SET signature = 'length(text)' WHERE signature = 'md5(text)';
SELECT signature, reason, added_by = current_user AS by_me FROM disclosure.trusted_functions ORDER BY signature COLLATE "C";
SELECT f::regprocedure FROM unnest(trusted()) AS f ORDER BY f::regprocedure::text;
-- A function counts while it belongs to a superuser.
ALTER FUNCTION decade(int) OWNER TO pd_plain;
SELECT f::regprocedure FROM unnest(trusted()) AS f;
ALTER FUNCTION decade(int) OWNER TO CURRENT_USER;
-- Only superusers may write, even with privileges; everyone may read.
GRANT ALL ON disclosure.trusted_functions TO pd_plain;
SET ROLE pd_plain;
SELECT count(*) FROM disclosure.trusted_functions;
INSERT INTO disclosure.trusted_functions (signature) VALUES ('pg_read_file(text)');
UPDATE disclosure.trusted_functions SET signature = 'pg_read_file(text)';
DELETE FROM disclosure.trusted_functions;
SET session_replication_role = replica;
RESET ROLE;
REVOKE ALL ON disclosure.trusted_functions FROM pd_plain;
SET session_replication_role = replica;
SET ROLE pd_plain;
INSERT INTO disclosure.trusted_functions (signature) VALUES ('pg_read_file(text)');
SELECT signature FROM disclosure.trusted_functions WHERE signature LIKE 'public.d%' ORDER BY 1;
RESET ROLE;
RESET session_replication_role;
-- A schema in front of pg_catalog does not change which function is meant.
CREATE SCHEMA planted;
CREATE FUNCTION planted.length(text) RETURNS int LANGUAGE sql IMMUTABLE RETURN 0;
SET search_path = planted, pg_catalog, public;
SELECT 'planted.length(text)'::regprocedure::oid = ANY (trusted()) AS planted, 'pg_catalog.length(text)'::regprocedure::oid = ANY (trusted()) AS built_in;
RESET search_path;
DROP SCHEMA planted CASCADE;

-- A type is trusted with its input function, and so are arrays of it and domains over it.
SET client_min_messages = warning;
CREATE EXTENSION citext;
RESET client_min_messages;
CREATE DOMAIN mail AS citext;
SELECT type_problem('citext'::regtype), type_problem('citext[]'::regtype), type_problem('mail'::regtype);
SET search_path = '';
INSERT INTO disclosure.trusted_functions (signature, reason)
  SELECT p.oid::regprocedure, 'citext'
    FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_proc p ON p.oid = d.objid
   WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'citext'
     AND p.prokind = 'f' AND NOT p.proretset AND p.provolatile <> 'v';
RESET search_path;
SELECT type_problem('citext'::regtype), type_problem('citext[]'::regtype), type_problem('mail'::regtype);
SELECT operator_function('=(citext, citext)'::regoperator)::regprocedure, operator_function('=(text, text)'::regoperator)::regprocedure;
-- An operator counts if it belongs to a superuser: otherwise its negator could be anything.
SET ROLE pd_plain;
CREATE OPERATOR public.=== (LEFTARG = citext, RIGHTARG = citext, FUNCTION = citext_eq);
RESET ROLE;
SELECT operator_function('public.===(citext, citext)'::regoperator), operator_function(0);
-- Without the extension, its functions stay in the table, as they would in a dump that is restored before it.
DROP EXTENSION citext CASCADE;
SELECT f::regprocedure FROM unnest(trusted()) AS f ORDER BY f::regprocedure::text;
SELECT count(*) > 20 AS are_kept FROM disclosure.trusted_functions WHERE reason = 'citext';
INSERT INTO disclosure.trusted_functions (signature) VALUES ('public.citext_hash(public.citext)');
DELETE FROM disclosure.trusted_functions;
-- The table is dumped.
SELECT 'disclosure.trusted_functions'::regclass = ANY (extconfig) AS is_dumped FROM pg_extension WHERE extname = 'pg_disclosure';
DROP OWNED BY pd_plain;
DROP ROLE pd_plain;
