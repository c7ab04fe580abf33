-- Functions of extensions that exports of protected relations may use.

CREATE TABLE disclosure.trusted_functions (
  signature text        NOT NULL,
  reason    text,
  added_by  name        NOT NULL DEFAULT CURRENT_USER,
  added_at  timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE disclosure.trusted_functions IS
  'functions that the query of an export may call besides the built-in ones; only superusers may change it';
COMMENT ON COLUMN disclosure.trusted_functions.signature IS
  'name and argument types of the function, with its schema, for example public.citext_eq(public.citext,public.citext)';
COMMENT ON COLUMN disclosure.trusted_functions.reason IS 'why the function is trusted; for people only';
COMMENT ON COLUMN disclosure.trusted_functions.added_by IS 'role that added the function';
COMMENT ON COLUMN disclosure.trusted_functions.added_at IS 'time when the function was added';
SELECT pg_catalog.pg_extension_config_dump('disclosure.trusted_functions', '');
GRANT SELECT ON disclosure.trusted_functions TO PUBLIC;

-- Compares texts, because to_regprocedure() raises an error if a type in the signature does not exist.
CREATE FUNCTION disclosure_internal.trusted_function(signature text, OUT function oid, OUT problem text)
  LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT p.oid,
         CASE WHEN p.oid IS NULL THEN 'it does not exist'
              WHEN p.prokind <> 'f' THEN 'it is an aggregate, a window function or a procedure'
              WHEN p.proretset THEN 'it returns a set'
              WHEN p.provolatile = 'v' THEN 'it is volatile'
              WHEN NOT r.rolsuper THEN 'its owner is not a superuser'
         END
    FROM parse_ident(split_part(signature, '(', 1)) AS i(name)
    LEFT JOIN pg_proc p ON p.proname = i.name[cardinality(i.name)] AND p.oid::regprocedure::text = signature
    LEFT JOIN pg_roles r ON r.oid = p.proowner
$$;
COMMENT ON FUNCTION disclosure_internal.trusted_function(text) IS
  'returns a function in disclosure.trusted_functions, and why it does not count; the problem is NULL if it does';

CREATE FUNCTION disclosure_internal.check_trust() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem text;
BEGIN
  IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    RAISE insufficient_privilege USING MESSAGE = 'must be superuser to change disclosure.trusted_functions';
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  BEGIN
    -- Under this search_path, regprocedure names the schema of everything that is not built in.
    NEW.signature := coalesce(to_regprocedure(NEW.signature)::text, NEW.signature);
  EXCEPTION WHEN undefined_object OR invalid_schema_name THEN
    NULL; -- one of its types does not exist
  END;
  -- A dump may be restored into a database that trusts the function already.
  IF TG_OP = 'INSERT' AND EXISTS (SELECT FROM disclosure.trusted_functions t WHERE t.signature = NEW.signature) THEN
    RETURN NULL;
  END IF;
  -- Only a warning, because the extension that has the function may be restored later.
  problem := (disclosure_internal.trusted_function(NEW.signature)).problem;
  IF problem IS NOT NULL THEN
    RAISE WARNING 'function % is not trusted: %', NEW.signature, problem;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_trust() IS
  'trigger of disclosure.trusted_functions: allows only superusers to change it, and warns of functions that do not count';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_trust() FROM PUBLIC;
CREATE TRIGGER check_trust BEFORE INSERT OR UPDATE OR DELETE ON disclosure.trusted_functions
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_trust();
ALTER TABLE disclosure.trusted_functions ENABLE ALWAYS TRIGGER check_trust;
COMMENT ON TRIGGER check_trust ON disclosure.trusted_functions IS
  'allows only superusers to change the table, and warns of functions that do not count';
