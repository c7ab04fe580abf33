-- Views that show the risk of every row beside it.

CREATE TYPE disclosure.row_risk AS (privacy_score float8, worst_inference text, known_facts int, support bigint);
COMMENT ON TYPE disclosure.row_risk IS
  'the privacy score of a row, and the inference behind it: in words, how many attributes have to be known, and how many rows have these; all but the score are NULL if nothing can be inferred';

CREATE FUNCTION disclosure.privacy_risk(
    record           record,
    labels           jsonb DEFAULT NULL,
    min_confidence   float8 DEFAULT 1,
    joint_confidence boolean DEFAULT false,
    sensitive_nulls  disclosure.sensitive_null_treatment DEFAULT 'absent',
    discount_common  boolean DEFAULT false,
    constant         float8 DEFAULT 1,
    budget           interval DEFAULT NULL
  ) RETURNS disclosure.row_risk
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_risk_wrapper';
COMMENT ON FUNCTION disclosure.privacy_risk(record, jsonb, float8, boolean, disclosure.sensitive_null_treatment, boolean, float8, interval) IS
  'window function: returns the privacy score and the worst inference of a row, with the fewest known attributes and the smallest support of all that are as bad, for views';

CREATE FUNCTION disclosure.risk_view(
    relation         regclass,
    view_name        text,
    columns          name[]  DEFAULT NULL,
    labels           jsonb   DEFAULT NULL,
    security_invoker boolean DEFAULT false
  ) RETURNS regclass
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'risk_view_wrapper';
COMMENT ON FUNCTION disclosure.risk_view(regclass, text, name[], jsonb, boolean) IS
  'creates or replaces a view that adds the risk of each row: privacy_score, class_size, worst_inference, known_facts and support';
