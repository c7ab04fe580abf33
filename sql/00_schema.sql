COMMENT ON SCHEMA disclosure IS
  'pg_disclosure: how much a table gives away about the people or things in it';

-- Measures run with the rights of whoever calls them, so there is nothing to hide here.
GRANT USAGE ON SCHEMA disclosure TO PUBLIC;

CREATE TYPE disclosure.null_treatment AS ENUM ('value', 'wildcard');
COMMENT ON TYPE disclosure.null_treatment IS
  'what NULL is equal to: value = to NULL only, as in GROUP BY; wildcard = to everything, as a suppressed cell is';
