-- Each of these fails if the schema exists already, because somebody may have planted operators or functions in it.
CREATE SCHEMA disclosure;
COMMENT ON SCHEMA disclosure IS
  'pg_disclosure: measures how much a table reveals about the people in it';
CREATE SCHEMA disclosure_lab;
COMMENT ON SCHEMA disclosure_lab IS
  'pg_disclosure: building blocks for research, such as permanents, flat matrices and single elimination steps';
CREATE SCHEMA disclosure_internal;
COMMENT ON SCHEMA disclosure_internal IS
  'pg_disclosure: support functions, triggers, and the tables behind views; not meant to be called directly';

-- Names and texts pass through Rust, whose strings are UTF-8.
CREATE FUNCTION disclosure_internal.check_encoding() RETURNS void
  LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'check_encoding_wrapper';
COMMENT ON FUNCTION disclosure_internal.check_encoding() IS 'raises an error if the encoding of the database is not UTF8';
SELECT disclosure_internal.check_encoding();

-- Everyone may use the schemas, because measures run with the privileges of the caller.
GRANT USAGE ON SCHEMA disclosure, disclosure_lab, disclosure_internal TO PUBLIC;

CREATE TYPE disclosure.null_treatment AS ENUM ('value', 'wildcard');
COMMENT ON TYPE disclosure.null_treatment IS
  'treatment of NULL in comparisons: value (equals only NULL, as in GROUP BY) or wildcard (equals everything, like a suppressed cell)';

CREATE TYPE disclosure.sensitive_null_treatment AS ENUM ('absent', 'value', 'unknown');
COMMENT ON TYPE disclosure.sensitive_null_treatment IS
  'meaning of NULL in a column that must not be learnt: absent (the row has no value), value (a value of its own that must not be learnt either) or unknown (the row may have any value)';

-- References to relations and roles in the tables that pg_dump dumps. They are printed like regclass and regrole. A name
-- that no longer exists is read as 0 instead of raising an error, because one such row would make COPY fail, and a restore
-- would lose all other rows.
CREATE TYPE disclosure_internal.relation_reference;
CREATE FUNCTION disclosure_internal.relation_reference_in(cstring) RETURNS disclosure_internal.relation_reference
  LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'relation_reference_in_wrapper';
COMMENT ON FUNCTION disclosure_internal.relation_reference_in(cstring) IS 'part of the type relation_reference';
CREATE FUNCTION disclosure_internal.relation_reference_out(disclosure_internal.relation_reference) RETURNS cstring
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regclassout';
COMMENT ON FUNCTION disclosure_internal.relation_reference_out(disclosure_internal.relation_reference) IS
  'part of the type relation_reference';
CREATE FUNCTION disclosure_internal.relation_reference_recv(internal) RETURNS disclosure_internal.relation_reference
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidrecv';
COMMENT ON FUNCTION disclosure_internal.relation_reference_recv(internal) IS 'part of the type relation_reference';
CREATE FUNCTION disclosure_internal.relation_reference_send(disclosure_internal.relation_reference) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidsend';
COMMENT ON FUNCTION disclosure_internal.relation_reference_send(disclosure_internal.relation_reference) IS
  'part of the type relation_reference';
CREATE TYPE disclosure_internal.relation_reference (
  INPUT = disclosure_internal.relation_reference_in, OUTPUT = disclosure_internal.relation_reference_out,
  RECEIVE = disclosure_internal.relation_reference_recv, SEND = disclosure_internal.relation_reference_send, LIKE = oid
);
COMMENT ON TYPE disclosure_internal.relation_reference IS
  'OID of a relation, printed and read as its name; 0 if no relation has that name';
CREATE CAST (disclosure_internal.relation_reference AS oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (disclosure_internal.relation_reference AS oid) IS 'the OID of the relation';
CREATE CAST (disclosure_internal.relation_reference AS regclass) WITHOUT FUNCTION;
COMMENT ON CAST (disclosure_internal.relation_reference AS regclass) IS 'the relation';
CREATE CAST (oid AS disclosure_internal.relation_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (oid AS disclosure_internal.relation_reference) IS 'the relation with that OID';
CREATE CAST (regclass AS disclosure_internal.relation_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (regclass AS disclosure_internal.relation_reference) IS 'the relation';

CREATE TYPE disclosure_internal.role_reference;
CREATE FUNCTION disclosure_internal.role_reference_in(cstring) RETURNS disclosure_internal.role_reference
  LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'role_reference_in_wrapper';
COMMENT ON FUNCTION disclosure_internal.role_reference_in(cstring) IS 'part of the type role_reference';
CREATE FUNCTION disclosure_internal.role_reference_out(disclosure_internal.role_reference) RETURNS cstring
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regroleout';
COMMENT ON FUNCTION disclosure_internal.role_reference_out(disclosure_internal.role_reference) IS 'part of the type role_reference';
CREATE FUNCTION disclosure_internal.role_reference_recv(internal) RETURNS disclosure_internal.role_reference
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidrecv';
COMMENT ON FUNCTION disclosure_internal.role_reference_recv(internal) IS 'part of the type role_reference';
CREATE FUNCTION disclosure_internal.role_reference_send(disclosure_internal.role_reference) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidsend';
COMMENT ON FUNCTION disclosure_internal.role_reference_send(disclosure_internal.role_reference) IS 'part of the type role_reference';
CREATE TYPE disclosure_internal.role_reference (
  INPUT = disclosure_internal.role_reference_in, OUTPUT = disclosure_internal.role_reference_out,
  RECEIVE = disclosure_internal.role_reference_recv, SEND = disclosure_internal.role_reference_send, LIKE = oid
);
COMMENT ON TYPE disclosure_internal.role_reference IS
  'OID of a role, printed and read as its name; 0 if no role has that name';
CREATE CAST (disclosure_internal.role_reference AS oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (disclosure_internal.role_reference AS oid) IS 'the OID of the role';
CREATE CAST (disclosure_internal.role_reference AS regrole) WITHOUT FUNCTION;
COMMENT ON CAST (disclosure_internal.role_reference AS regrole) IS 'the role';
CREATE CAST (oid AS disclosure_internal.role_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (oid AS disclosure_internal.role_reference) IS 'the role with that OID';
CREATE CAST (regrole AS disclosure_internal.role_reference) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (regrole AS disclosure_internal.role_reference) IS 'the role';
