-- The privacy score (White 2021): what an adversary who knows some attributes of a row can infer about the others.

CREATE FUNCTION disclosure.privacy_score(
    record           record,
    labels           jsonb DEFAULT NULL,
    min_confidence   float8 DEFAULT 1,
    joint_confidence boolean DEFAULT false,
    sensitive_nulls  disclosure.sensitive_null_treatment DEFAULT 'absent',
    discount_common  boolean DEFAULT false,
    constant         float8 DEFAULT 1,
    budget           interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_score_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(record, jsonb, float8, boolean, disclosure.sensitive_null_treatment, boolean, float8, interval) IS
  'window function: returns how much an adversary can infer about this row of the partition at worst, from 0 (nothing) to less than 1; weights come from the labels of the columns or from the argument labels';

CREATE FUNCTION disclosure_internal.policy_score(
    record         record,
    labels         jsonb,
    min_confidence float8
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'policy_score_wrapper';
COMMENT ON FUNCTION disclosure_internal.policy_score(record, jsonb, float8) IS
  'window function: returns the privacy score of this row of the partition as policies take it: the share of a value is taken over the rows whose value is not NULL, unless labels say "nulls": "value"; an upper bound if the budget ran out';

CREATE FUNCTION disclosure.privacy_inference(
    record           record,
    labels           jsonb DEFAULT NULL,
    min_confidence   float8 DEFAULT 1,
    joint_confidence boolean DEFAULT false,
    sensitive_nulls  disclosure.sensitive_null_treatment DEFAULT 'absent',
    discount_common  boolean DEFAULT false,
    constant         float8 DEFAULT 1,
    budget           interval DEFAULT NULL
  ) RETURNS jsonb
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_inference_wrapper';
COMMENT ON FUNCTION disclosure.privacy_inference(record, jsonb, float8, boolean, disclosure.sensitive_null_treatment, boolean, float8, interval) IS
  'window function: returns the worst inference about this row of the partition: what has to be known, what follows, and how likely and dangerous that is';

CREATE FUNCTION disclosure.privacy_summary(
    relation         regclass,
    columns          name[] DEFAULT NULL,
    labels           jsonb DEFAULT NULL,
    threshold        float8 DEFAULT 0.5,
    min_confidence   float8 DEFAULT 1,
    joint_confidence boolean DEFAULT false,
    sensitive_nulls  disclosure.sensitive_null_treatment DEFAULT 'absent',
    discount_common  boolean DEFAULT false,
    constant         float8 DEFAULT 1,
    budget           interval DEFAULT NULL,
    OUT rows        bigint,
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
COMMENT ON FUNCTION disclosure.privacy_summary(regclass, name[], jsonb, float8, float8, boolean, disclosure.sensitive_null_treatment, boolean, float8, interval) IS
  'returns the average and maximum privacy score of a table, the number and share of rows at or above the threshold, and bounds of the average if it is not exact';

CREATE FUNCTION disclosure.privacy_score(
    record     record,
    relation   regclass,
    labels     jsonb DEFAULT NULL,
    constant   float8 DEFAULT 1,
    budget     interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'privacy_score_in_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(record, regclass, jsonb, float8, interval) IS
  'returns the privacy score that a row has, or would have, in a table; suits triggers, because it does not read the whole table';

-- For calls that do not give a row. Their first arguments have types that no row can be cast to, so that calls with a
-- row are not ambiguous.
CREATE FUNCTION disclosure.privacy_score(relation text) RETURNS float8
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'privacy_score_of_name_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(text) IS
  'raises an error that says what to write: privacy_score takes a row of a query, privacy_summary takes the name of a relation';

CREATE FUNCTION disclosure.privacy_score(text, VARIADIC "any") RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'privacy_score_of_columns_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(text, "any") IS
  'raises an error that says what to write: privacy_score takes a whole row, not single columns';

CREATE FUNCTION disclosure.privacy_score(float8, VARIADIC "any") RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'privacy_score_of_columns_wrapper';
COMMENT ON FUNCTION disclosure.privacy_score(float8, "any") IS
  'raises an error that says what to write: privacy_score takes a whole row, not single columns';

CREATE FUNCTION disclosure.inferences(
    relation         regclass,
    columns          name[] DEFAULT NULL,
    labels           jsonb DEFAULT NULL,
    min_weight       float8 DEFAULT 0,
    min_confidence   float8 DEFAULT 1,
    joint_confidence boolean DEFAULT false,
    sensitive_nulls  disclosure.sensitive_null_treatment DEFAULT 'absent',
    discount_common  boolean DEFAULT false,
    constant         float8 DEFAULT 1,
    order_by         text DEFAULT 'weight',
    max_rows         int DEFAULT 1000,
    budget           interval DEFAULT NULL,
    OUT known      text[],
    OUT inferred   text[],
    OUT support    bigint,
    OUT people     bigint,
    OUT confidence float8,
    OUT likelihood float8,
    OUT danger     float8,
    OUT weight     float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'inferences_wrapper';
COMMENT ON FUNCTION disclosure.inferences(regclass, name[], jsonb, float8, float8, boolean, disclosure.sensitive_null_treatment, boolean, float8, text, int, interval) IS
  'lists the inferences that a table allows: what has to be known, what follows, and how many people (rows if no column is labelled as person) that is right about; at most max_rows of them; order_by is ''weight'', the worst first, or ''people'', those about most people first and without what follows from fewer known attributes';

CREATE FUNCTION disclosure.holes(
    relation regclass,
    columns  name[] DEFAULT NULL,
    labels   jsonb DEFAULT NULL,
    max_size int DEFAULT 4,
    constant float8 DEFAULT 1,
    max_rows int DEFAULT 1000,
    budget   interval DEFAULT NULL,
    OUT hole      text[],
    OUT size      int,
    OUT weight    float8,
    OUT inference text,
    OUT support   bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'holes_wrapper';
COMMENT ON FUNCTION disclosure.holes(regclass, name[], jsonb, int, float8, int, interval) IS
  'lists combinations of attributes that no row has although rows have each smaller part, with the worst inference that a decoy row with the combination would remove';

CREATE FUNCTION disclosure.decoys(
    relation regclass,
    columns  name[] DEFAULT NULL,
    labels   jsonb DEFAULT NULL,
    method   text DEFAULT 'add',
    max_rows int DEFAULT 3,
    constant float8 DEFAULT 1,
    budget   interval DEFAULT NULL,
    OUT step             int,
    OUT decoy            jsonb,
    OUT record           jsonb,
    OUT average_before   float8,
    OUT average_after    float8,
    OUT maximum_before   float8,
    OUT maximum_after    float8,
    OUT rows_raised      bigint,
    OUT rows_added       bigint,
    OUT cells_changed    bigint,
    OUT information_lost float8,
    OUT exact            boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'decoys_wrapper';
COMMENT ON FUNCTION disclosure.decoys(regclass, name[], jsonb, text, int, float8, interval) IS
  'lists made-up rows to add, best first, with the scores of the table''s own rows before and after each; no added row raises a score; with method ''complete'', existing rows get the attributes instead, which may raise scores';

CREATE FUNCTION disclosure.remedies(
    relation       regclass,
    columns        name[] DEFAULT NULL,
    labels         jsonb DEFAULT NULL,
    threshold      float8 DEFAULT 0.5,
    min_confidence float8 DEFAULT 0.9,
    constant       float8 DEFAULT 1,
    max_rows       int DEFAULT NULL,
    budget         interval DEFAULT NULL,
    OUT step             bigint,
    OUT round            int,
    OUT record           jsonb,
    OUT column_name      text,
    OUT value            text,
    OUT at_or_above      bigint,
    OUT maximum          float8,
    OUT average          float8,
    OUT exact            boolean,
    OUT cells_changed    bigint,
    OUT rows_changed     bigint,
    OUT information_lost float8,
    OUT ended_by         text,
    OUT statement        text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'remedies_wrapper';
COMMENT ON FUNCTION disclosure.remedies(regclass, name[], jsonb, float8, float8, float8, int, interval) IS
  'lists a small number of cells to blank until every score is below the threshold, with the scores after each round; a blank counts as unknown; the last row says why the list ends and has a statement that blanks all cells';
