-- Names and texts pass through Rust, whose strings are UTF-8.
DO $$
BEGIN
  IF pg_catalog.current_setting('server_encoding') <> 'UTF8' THEN
    RAISE feature_not_supported USING
      MESSAGE = 'pg_disclosure needs a database with encoding UTF8',
      DETAIL = pg_catalog.format('The encoding of this database is %s.', pg_catalog.current_setting('server_encoding')),
      HINT = 'CREATE DATABASE … ENCODING ''UTF8'' TEMPLATE template0';
  END IF;
END
$$;

COMMENT ON SCHEMA disclosure IS
  'pg_disclosure: how much a table gives away about the people or things in it';

-- Measures run with the rights of whoever calls them, so there is nothing to hide here.
GRANT USAGE ON SCHEMA disclosure TO PUBLIC;

CREATE TYPE disclosure.null_treatment AS ENUM ('value', 'wildcard');
COMMENT ON TYPE disclosure.null_treatment IS
  'what NULL is equal to: value = to NULL only, as in GROUP BY; wildcard = to everything, as a suppressed cell is';
