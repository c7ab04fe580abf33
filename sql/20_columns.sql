CREATE FUNCTION disclosure.column_profile(
    relation regclass,
    columns  name[] DEFAULT NULL,
    OUT column_name     text,
    OUT type            regtype,
    OUT distinct_values bigint,
    OUT unique_values   bigint,
    OUT null_values     bigint,
    OUT most_frequent   bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'column_profile_wrapper';
COMMENT ON FUNCTION disclosure.column_profile(regclass, name[]) IS
  'counts, for each column, its distinct values, the values that occur in one row only, its NULLs, and the rows with the most frequent value';
