-- The privacy score (White 2021): what an attacker who knows some attributes of a row infers about the rest.

CREATE FUNCTION disclosure.privacy_score(
    "row"          record,
    weights        jsonb DEFAULT NULL,
    min_confidence float8 DEFAULT 1,
    constant       float8 DEFAULT 1,
    budget         interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_score_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(record, jsonb, float8, float8, interval) IS
  'window function: how much can be inferred about this row of the partition at worst, 0 (nothing) to 1; weights from labels or the argument';

CREATE FUNCTION disclosure.privacy_inference(
    "row"          record,
    weights        jsonb DEFAULT NULL,
    min_confidence float8 DEFAULT 1,
    constant       float8 DEFAULT 1,
    budget         interval DEFAULT NULL
  ) RETURNS jsonb
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_inference_wrapper';
COMMENT ON FUNCTION disclosure.privacy_inference(record, jsonb, float8, float8, interval) IS
  'window function: the worst inference about this row of the partition, i.e. what has to be known, what follows, and how likely and dangerous that is';

CREATE FUNCTION disclosure.privacy_summary(
    relation       regclass,
    threshold      float8 DEFAULT 0.5,
    columns        name[] DEFAULT NULL,
    weights        jsonb DEFAULT NULL,
    min_confidence float8 DEFAULT 1,
    constant       float8 DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT "rows"      bigint,
    OUT average     float8,
    OUT maximum     float8,
    OUT at_or_above bigint,
    OUT share       float8,
    OUT exact       boolean,
    OUT lower       float8,
    OUT upper       float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1
  AS 'MODULE_PATHNAME', 'privacy_summary_wrapper';
COMMENT ON FUNCTION disclosure.privacy_summary(regclass, float8, name[], jsonb, float8, float8, interval) IS
  'privacy scores of a table: average, maximum, how many rows reach the threshold; exact, or else bounds of the average';

CREATE FUNCTION disclosure.privacy_score(
    "row"      record,
    population regclass,
    weights    jsonb DEFAULT NULL,
    constant   float8 DEFAULT 1,
    budget     interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'privacy_score_in_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(record, regclass, jsonb, float8, interval) IS
  'the privacy score that a row has in a table, whether it is in it already or not; for triggers, as it asks the table instead of reading it';
