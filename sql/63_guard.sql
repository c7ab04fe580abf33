-- The guard of COPY … TO. Its hooks work where the library is preloaded; what is here works everywhere.

CREATE FUNCTION disclosure.check_export(
    query text,
    OUT policy      int,
    OUT relation    regclass,
    OUT measure     text,
    OUT "limit"     text,
    OUT applies     boolean,
    OUT measured    float8,
    OUT "rows"      bigint,
    OUT unsafe_rows bigint,
    OUT verdict     text
  ) RETURNS SETOF record
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 3
  AS 'MODULE_PATHNAME', 'check_export_wrapper';
COMMENT ON FUNCTION disclosure.check_export(text) IS
  'what the policies of the relations that a SELECT reads say of what it returns, without exporting anything: measured value, verdict, and whether the caller has to keep to it';

CREATE FUNCTION disclosure.leaving(columns int[]) RETURNS SETOF record
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'leaving_wrapper';
COMMENT ON FUNCTION disclosure.leaving(int[]) IS
  'the rows that are being judged, for the queries that measures are given; an error at any other time';
