-- Names that somebody has planted: schema planted holds an operator, function, relation or type for each of pg_catalog
-- that can be stood in for. Using one raises SQLSTATE TRAP1 and says "planted". The schema is first in the search_path of some sessions of the
-- sweeps, whose own statements name the schema of everything. So only SQL inside the extension can be caught.
SET search_path = pg_catalog;
SET check_function_bodies = off;
CREATE SCHEMA planted;
CREATE FUNCTION planted.trap(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'TRAP1', MESSAGE = 'planted ' OPERATOR(pg_catalog.||) what;
END $$;
DO $$
DECLARE
  body text;
  it record;
BEGIN
  FOR it IN SELECT p.proname, p.prokind, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_identity_arguments(p.oid) AS identity,
                   CASE p.prokind WHEN 'a' THEN format_type(p.prorettype, NULL) ELSE pg_get_function_result(p.oid) END AS result,
                   row_number() OVER (ORDER BY p.oid) AS number
              FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w')
  LOOP
    body := format('BEGIN PERFORM planted.trap(%L); END', format('function %s(%s)', it.proname, it.identity));
    BEGIN
      IF it.prokind = 'a' THEN -- ends in the trap, even over no rows
        EXECUTE format('CREATE FUNCTION planted.step_%s(boolean%s) RETURNS boolean LANGUAGE sql AS %L', it.number, coalesce(', ' || nullif(it.arguments, ''), ''), 'SELECT true');
        EXECUTE format('CREATE FUNCTION planted.end_%s(boolean) RETURNS %s LANGUAGE plpgsql AS %L', it.number, it.result, body);
        EXECUTE format('CREATE AGGREGATE planted.%I(%s) (SFUNC = planted.step_%s, STYPE = boolean, FINALFUNC = planted.end_%3$s)', it.proname,
                       coalesce(nullif(it.arguments, ''), '*'), it.number);
      ELSE
        EXECUTE format('CREATE FUNCTION planted.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', it.proname, it.arguments, it.result, body);
      END IF;
    EXCEPTION WHEN OTHERS THEN NULL; -- types that plpgsql does not know
    END;
  END LOOP;
  FOR it IN SELECT o.oid, o.oprname, o.oprleft, o.oprright, o.oprresult, row_number() OVER (ORDER BY o.oid) AS number,
                   format_type(o.oprleft, NULL) AS l, format_type(o.oprright, NULL) AS r, format_type(o.oprresult, NULL) AS result
              FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprright <> 0
  LOOP
    BEGIN
      body := format('BEGIN PERFORM planted.trap(%L); END', 'operator ' || it.oid::regoperator);
      EXECUTE format('CREATE FUNCTION planted.operator_%s(%s) RETURNS %s LANGUAGE plpgsql AS %L', it.number,
                     CASE it.oprleft WHEN 0 THEN it.r ELSE it.l || ', ' || it.r END, it.result, body);
      EXECUTE format('CREATE OPERATOR planted.%s (FUNCTION = planted.operator_%s, %s RIGHTARG = %s)', it.oprname, it.number,
                     CASE it.oprleft WHEN 0 THEN '' ELSE 'LEFTARG = ' || it.l || ', ' END, it.r);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  FOR it IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') LOOP
    BEGIN
      EXECUTE format('CREATE VIEW planted.%I AS SELECT c.* FROM pg_catalog.%1$I c WHERE planted.trap(%L)', it.relname, 'relation ' || it.relname);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  FOR it IN SELECT t.typname FROM pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype IN ('b', 'r') AND t.typelem = 0 LOOP
    BEGIN
      EXECUTE format('CREATE DOMAIN planted.%I AS pg_catalog.%1$I CHECK (planted.trap(%L))', it.typname, 'type ' || it.typname);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  -- The trap itself must not be caught.
  BEGIN
    SET LOCAL search_path = planted, pg_catalog;
    PERFORM planted.lower('x'::pg_catalog.text);
    RAISE 'the trap does not spring';
  EXCEPTION WHEN SQLSTATE 'TRAP1' THEN
    SET LOCAL search_path = pg_catalog;
  END;
  -- So that nothing passes because nothing was planted.
  IF (SELECT count(*) FROM pg_proc WHERE pronamespace = 'planted'::regnamespace) < 2500
     OR (SELECT count(*) FROM pg_operator WHERE oprnamespace = 'planted'::regnamespace) < 700
     OR (SELECT count(*) FROM pg_class WHERE relnamespace = 'planted'::regnamespace) < 100
     OR (SELECT count(*) FROM pg_type WHERE typnamespace = 'planted'::regnamespace AND typtype = 'd') < 50
  THEN
    RAISE 'too few names could be planted';
  END IF;
END $$;
GRANT USAGE ON SCHEMA planted TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA planted TO PUBLIC;
RESET search_path;
RESET check_function_bodies;
