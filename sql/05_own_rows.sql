-- Tables with rows that come with the extension, to which every role may add rows of its own. They have the columns owner
-- (disclosure_internal.role_reference, NULL for everybody) and shipped (boolean). The installation script inserts the
-- shipped rows before it creates the triggers. Triggers and no row-level security, because pg_dump by a role that does not
-- bypass row-level security would fail.

CREATE FUNCTION disclosure_internal.keep_own_rows() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  max_rows  CONSTANT int := 1000;  -- of one role: nobody fills the disk, or makes others wait
  max_bytes CONSTANT int := 10000; -- of one row
  caller record;
  is_full boolean;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('table %I.%I cannot be truncated', TG_TABLE_SCHEMA, TG_TABLE_NAME),
      HINT = 'Delete the rows that you have added.';
  END IF;
  SELECT r.oid, r.rolsuper AS is_superuser, r.oid = e.extowner AS owns_extension INTO STRICT caller
    FROM pg_roles r JOIN pg_extension e ON e.extname = 'pg_disclosure' WHERE r.rolname = current_user;
  IF TG_OP <> 'INSERT' THEN
    IF OLD.shipped THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('rows of %I.%I that come with the extension cannot be changed or deleted', TG_TABLE_SCHEMA, TG_TABLE_NAME),
        HINT = 'Add a row of your own.';
    END IF;
    IF NOT caller.is_superuser AND OLD.owner IS NULL AND NOT caller.owns_extension THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('must be owner of the extension to change rows of %I.%I that are for everybody', TG_TABLE_SCHEMA, TG_TABLE_NAME);
    END IF;
    IF NOT caller.is_superuser AND OLD.owner::oid <> caller.oid THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('must be owner of a row of %I.%I to change it', TG_TABLE_SCHEMA, TG_TABLE_NAME),
        DETAIL = format('It belongs to role %s.', OLD.owner);
    END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  IF NEW.shipped THEN
    RAISE insufficient_privilege USING
      MESSAGE = 'shipped: must be false, because it marks rows that come with the extension', HINT = 'Omit it to use the default.';
  END IF;
  IF NOT caller.is_superuser AND NEW.owner IS NULL AND NOT caller.owns_extension THEN
    RAISE insufficient_privilege USING
      MESSAGE = 'owner: must not be NULL, because only the owner of the extension adds rows for everybody',
      HINT = 'Omit it to add a row of your own.';
  END IF;
  -- Superusers set any owner, because they restore dumps.
  IF NOT caller.is_superuser AND NEW.owner::oid <> caller.oid THEN
    RAISE insufficient_privilege USING
      MESSAGE = 'owner: must be the role that adds the row', HINT = 'Omit it to add a row of your own.';
  END IF;
  IF NOT caller.is_superuser AND octet_length(NEW::text) > max_bytes THEN
    RAISE program_limit_exceeded USING
      MESSAGE = format('a row of %I.%I cannot have more than %s bytes', TG_TABLE_SCHEMA, TG_TABLE_NAME, max_bytes);
  END IF;
  IF NOT caller.is_superuser AND TG_OP = 'INSERT' THEN
    EXECUTE format('SELECT count(*) >= $1 FROM (SELECT FROM %I.%I r WHERE r.owner::oid = $2 LIMIT $1) AS own', TG_TABLE_SCHEMA, TG_TABLE_NAME)
       INTO is_full USING max_rows, caller.oid;
    IF is_full THEN
      RAISE program_limit_exceeded USING
        MESSAGE = format('a role cannot have more than %s rows in %I.%I', max_rows, TG_TABLE_SCHEMA, TG_TABLE_NAME),
        HINT = 'Delete rows that you no longer need.';
    END IF;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.keep_own_rows() IS
  'trigger of tables with the columns owner and shipped: roles change only their own rows, only the owner of the extension changes those for everybody, and nobody changes those that come with the extension';
REVOKE EXECUTE ON FUNCTION disclosure_internal.keep_own_rows() FROM PUBLIC;

CREATE FUNCTION disclosure_internal.share_rows(relation regclass) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON %s
    FOR EACH ROW EXECUTE FUNCTION disclosure_internal.keep_own_rows()', relation);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER keep_own_rows', relation);
  EXECUTE format('COMMENT ON TRIGGER keep_own_rows ON %s IS %L', relation,
    'lets roles change only their own rows, and nobody those that come with the extension');
  EXECUTE format('CREATE TRIGGER keep_all_rows BEFORE TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.keep_own_rows()', relation);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER keep_all_rows', relation);
  EXECUTE format('COMMENT ON TRIGGER keep_all_rows ON %s IS %L', relation, 'refuses TRUNCATE');
  EXECUTE format('CREATE INDEX ON %s ((owner::oid))', relation); -- for the number of rows of a role
  PERFORM pg_extension_config_dump(relation, 'WHERE NOT shipped');
  -- Neither UPDATE nor DELETE: with them, any role could lock the table, and everybody would wait.
  EXECUTE format('GRANT SELECT, INSERT ON %s TO PUBLIC', relation);
END
$$;
COMMENT ON FUNCTION disclosure_internal.share_rows(regclass) IS
  'called by the installation script: lets every role add rows of its own to a table, and pg_dump dump them';
REVOKE EXECUTE ON FUNCTION disclosure_internal.share_rows(regclass) FROM PUBLIC;

CREATE FUNCTION disclosure_internal.caller() RETURNS disclosure_internal.role_reference
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT pg_catalog.quote_ident(current_user)::pg_catalog.regrole::disclosure_internal.role_reference;
END;
COMMENT ON FUNCTION disclosure_internal.caller() IS 'returns the role that calls';

CREATE FUNCTION disclosure_internal.is_usable(owner disclosure_internal.role_reference) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT is_usable.owner IS NULL
      OR is_usable.owner::pg_catalog.oid OPERATOR(pg_catalog.=) disclosure_internal.caller()::pg_catalog.oid;
END;
COMMENT ON FUNCTION disclosure_internal.is_usable(disclosure_internal.role_reference) IS
  'returns whether the caller uses a row with this owner: one of its own, or one for everybody';
