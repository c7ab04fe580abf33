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

CREATE FUNCTION disclosure.suda(
    record      record,
    columns     name[] DEFAULT NULL,
    labels      jsonb DEFAULT NULL,
    max_columns int DEFAULT NULL,
    nulls       disclosure.null_treatment DEFAULT 'value',
    unit        text DEFAULT 'person'
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'suda_wrapper';
COMMENT ON FUNCTION disclosure.suda(record, name[], jsonb, int, disclosure.null_treatment, text) IS
  'window function: returns the SUDA2 score of this row (Elliot et al.; sdcMicro''s default weights): the more and the smaller its minimal uniques, the higher; 0 if nothing is unique; max_columns limits their size';

CREATE FUNCTION disclosure.dis_suda(
    record      record,
    fraction    float8,
    columns     name[] DEFAULT NULL,
    labels      jsonb DEFAULT NULL,
    max_columns int DEFAULT NULL,
    nulls       disclosure.null_treatment DEFAULT 'value',
    unit        text DEFAULT 'person'
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dis_suda_wrapper';
COMMENT ON FUNCTION disclosure.dis_suda(record, float8, name[], jsonb, int, disclosure.null_treatment, text) IS
  'window function: returns the DIS-SUDA score of this row as sdcMicro computes it: an estimate of the probability that a match with a unique row is correct, if the rows are a sample of this fraction of the population';

CREATE FUNCTION disclosure.minimal_uniques(
    relation    regclass,
    columns     name[] DEFAULT NULL,
    max_columns int DEFAULT NULL,
    group_by    text DEFAULT 'combination',
    labels      jsonb DEFAULT NULL,
    nulls       disclosure.null_treatment DEFAULT 'value',
    unit        text DEFAULT 'person',
    budget      interval DEFAULT NULL,
    OUT columns      text[],
    OUT combination  jsonb,
    OUT rows         bigint,
    OUT uniques      bigint,
    OUT contribution float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'minimal_uniques_wrapper';
COMMENT ON FUNCTION disclosure.minimal_uniques(regclass, name[], int, text, jsonb, disclosure.null_treatment, text, interval) IS
  'returns the combinations of values that only one row or person has, while each part of the combination is shared: the columns, the values, the number of rows, and the contribution to the sum of all SUDA scores; group_by is ''combination'', or ''columns'', ''column'' or ''value'' for the sums by set of columns, by column and by value';

CREATE FUNCTION disclosure.singling_out(
    relation    regclass,
    columns     name[] DEFAULT NULL,
    max_columns int DEFAULT 3,
    at_least    float8 DEFAULT 0.05,
    labels      jsonb DEFAULT NULL,
    nulls       disclosure.null_treatment DEFAULT 'value',
    unit        text DEFAULT 'person',
    budget      interval DEFAULT NULL,
    OUT columns      text[],
    OUT classes      bigint,
    OUT uniques      bigint,
    OUT k            bigint,
    OUT share        float8,
    OUT distinction  float8,
    OUT separation   float8,
    OUT minimal      boolean,
    OUT contribution float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'singling_out_wrapper';
COMMENT ON FUNCTION disclosure.singling_out(regclass, name[], int, float8, jsonb, disclosure.null_treatment, text, interval) IS
  'returns a row for every set of up to max_columns columns: its classes, how many rows or people are alone in one, k, the share of them, distinction and separation (as in ARX), and whether the set is minimal, that is, singles out a share of at_least while no part of it does; contribution of a single column is the average increase of the share when the column is added to others';

CREATE FUNCTION disclosure.unique_column_combinations(
    relation regclass,
    columns  name[] DEFAULT NULL,
    labels   jsonb DEFAULT NULL,
    OUT columns text[],
    OUT size    int
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'unique_column_combinations_wrapper';
COMMENT ON FUNCTION disclosure.unique_column_combinations(regclass, name[], jsonb) IS
  'returns the minimal sets of columns, whatever their size, on which no two distinct rows are equal, and their numbers of columns; equal rows count as one';

CREATE FUNCTION disclosure.column_risk(
    relation regclass,
    columns  name[] DEFAULT NULL,
    labels   jsonb DEFAULT NULL,
    nulls    disclosure.null_treatment DEFAULT 'value',
    unit     text DEFAULT 'person',
    OUT column_name                text,
    OUT k                          bigint,
    OUT uniques                    bigint,
    OUT prosecutor_average         float8,
    OUT k_without                  bigint,
    OUT uniques_without            bigint,
    OUT prosecutor_average_without float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'column_risk_wrapper';
COMMENT ON FUNCTION disclosure.column_risk(regclass, name[], jsonb, disclosure.null_treatment, text) IS
  'returns, for each column, the risk of re-identification with all columns and without this one: the size of the smallest class, the number of rows or people who are alone in a class, and the average prosecutor risk';
