-- People against released rows (Lakshmanan, Ng and Ramesh 2008, section 8.1).

CREATE FUNCTION disclosure.expected_reidentifications(
    known          regclass,
    released       regclass,
    on_columns     name[],
    key            name DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT people       bigint,
    OUT "rows"       bigint,
    OUT not_released bigint,
    OUT strangers    bigint,
    OUT o_estimate   float8,
    OUT expected     float8,
    OUT lower        float8,
    OUT upper        float8,
    OUT method       text,
    OUT share        float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'expected_reidentifications_wrapper';
COMMENT ON FUNCTION disclosure.expected_reidentifications(regclass, regclass, name[], name, text, float8, bigint, interval) IS
  'how many people a rival is expected to find in a release by what is known of them: a value, a range of values, or NULL for nothing';
