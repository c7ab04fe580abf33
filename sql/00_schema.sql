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

-- An existing schema may hold operators or functions that somebody has planted: then this fails.
CREATE SCHEMA disclosure;
COMMENT ON SCHEMA disclosure IS
  'pg_disclosure: how much a table gives away about the people or things in it';

-- Measures run with the rights of whoever calls them, so there is nothing to hide here.
GRANT USAGE ON SCHEMA disclosure TO PUBLIC;

CREATE TYPE disclosure.null_treatment AS ENUM ('value', 'wildcard');
COMMENT ON TYPE disclosure.null_treatment IS
  'what NULL is equal to: value = to NULL only, as in GROUP BY; wildcard = to everything, as a suppressed cell is';

-- References to relations and roles in the tables that pg_dump dumps. They are printed as regclass and regrole are. A name
-- that no longer exists is read as 0 instead of raising an error, because one such row would make COPY, and with it a
-- restore, lose all the others.
CREATE TYPE disclosure.relation_reference;
CREATE FUNCTION disclosure.relation_reference_in(cstring) RETURNS disclosure.relation_reference
  LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'relation_reference_in_wrapper';
COMMENT ON FUNCTION disclosure.relation_reference_in(cstring) IS 'part of the type relation_reference';
CREATE FUNCTION disclosure.relation_reference_out(disclosure.relation_reference) RETURNS cstring
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regclassout';
COMMENT ON FUNCTION disclosure.relation_reference_out(disclosure.relation_reference) IS
  'part of the type relation_reference';
CREATE FUNCTION disclosure.relation_reference_recv(internal) RETURNS disclosure.relation_reference
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidrecv';
COMMENT ON FUNCTION disclosure.relation_reference_recv(internal) IS 'part of the type relation_reference';
CREATE FUNCTION disclosure.relation_reference_send(disclosure.relation_reference) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidsend';
COMMENT ON FUNCTION disclosure.relation_reference_send(disclosure.relation_reference) IS
  'part of the type relation_reference';
CREATE TYPE disclosure.relation_reference (
  INPUT = disclosure.relation_reference_in, OUTPUT = disclosure.relation_reference_out,
  RECEIVE = disclosure.relation_reference_recv, SEND = disclosure.relation_reference_send, LIKE = oid
);
COMMENT ON TYPE disclosure.relation_reference IS
  'a relation, by its OID; printed and read by its name; 0 if there is no relation of that name';
CREATE CAST (disclosure.relation_reference AS oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (disclosure.relation_reference AS oid) IS 'the OID of the relation';
CREATE CAST (disclosure.relation_reference AS regclass) WITHOUT FUNCTION;
COMMENT ON CAST (disclosure.relation_reference AS regclass) IS 'the relation';
CREATE CAST (oid AS disclosure.relation_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (oid AS disclosure.relation_reference) IS 'the relation with that OID';
CREATE CAST (regclass AS disclosure.relation_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (regclass AS disclosure.relation_reference) IS 'the relation';

CREATE TYPE disclosure.role_reference;
CREATE FUNCTION disclosure.role_reference_in(cstring) RETURNS disclosure.role_reference
  LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'role_reference_in_wrapper';
COMMENT ON FUNCTION disclosure.role_reference_in(cstring) IS 'part of the type role_reference';
CREATE FUNCTION disclosure.role_reference_out(disclosure.role_reference) RETURNS cstring
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regroleout';
COMMENT ON FUNCTION disclosure.role_reference_out(disclosure.role_reference) IS 'part of the type role_reference';
CREATE FUNCTION disclosure.role_reference_recv(internal) RETURNS disclosure.role_reference
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidrecv';
COMMENT ON FUNCTION disclosure.role_reference_recv(internal) IS 'part of the type role_reference';
CREATE FUNCTION disclosure.role_reference_send(disclosure.role_reference) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidsend';
COMMENT ON FUNCTION disclosure.role_reference_send(disclosure.role_reference) IS 'part of the type role_reference';
CREATE TYPE disclosure.role_reference (
  INPUT = disclosure.role_reference_in, OUTPUT = disclosure.role_reference_out,
  RECEIVE = disclosure.role_reference_recv, SEND = disclosure.role_reference_send, LIKE = oid
);
COMMENT ON TYPE disclosure.role_reference IS
  'a role, by its OID; printed and read by its name; 0 if there is no role of that name';
CREATE CAST (disclosure.role_reference AS oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (disclosure.role_reference AS oid) IS 'the OID of the role';
CREATE CAST (disclosure.role_reference AS regrole) WITHOUT FUNCTION;
COMMENT ON CAST (disclosure.role_reference AS regrole) IS 'the role';
CREATE CAST (oid AS disclosure.role_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (oid AS disclosure.role_reference) IS 'the role with that OID';
CREATE CAST (regrole AS disclosure.role_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (regrole AS disclosure.role_reference) IS 'the role';
