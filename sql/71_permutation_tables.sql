-- The permutation paradigm over tables (Domingo-Ferrer and Muralidhar 2015): how much was permuted, what a subject
-- can verify, and what an intruder with maximum knowledge can link.

CREATE TYPE disclosure.tie_treatment AS ENUM ('random', 'shared');
COMMENT ON TYPE disclosure.tie_treatment IS
  'what ranks equal values have: random = different ones in an order that a seed draws; shared = the mean of their ranks, as an intruder sees them as equal';

CREATE FUNCTION disclosure.permutation_report(
    original   regclass,
    anonymised regclass,
    key        name,
    columns    name[] DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    seed       bigint DEFAULT 1,
    OUT "column"         text,
    OUT records          bigint,
    OUT rank_correlation float8,
    OUT mean_shift       float8,
    OUT median_shift     float8,
    OUT max_shift        bigint,
    OUT permutation      float8,
    OUT residual_noise   float8,
    OUT noise_share      float8,
    OUT nulls_original   bigint,
    OUT nulls_anonymised bigint,
    OUT verdict          text,
    OUT only_original    bigint,
    OUT only_anonymised  bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'permutation_report_wrapper';
COMMENT ON FUNCTION disclosure.permutation_report(regclass, regclass, name, name[], jsonb, bigint) IS
  'how much an anonymised table is a permutation of the original one, column by column, and for the weakest column in a last row whose column is NULL: rank correlation, ranks moved, their mean in units of a random permutation''s, residual noise';

CREATE FUNCTION disclosure.permuted_privacy(
    original   regclass,
    anonymised regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT record   text,
    OUT original jsonb,
    OUT d        bigint,
    OUT v        float8[]
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'permuted_privacy_wrapper';
COMMENT ON FUNCTION disclosure.permuted_privacy(regclass, regclass, name[], name, jsonb, disclosure.tie_treatment, bigint) IS
  '(d, v)-permuted privacy: for every original record the largest permutation distance d that holds, and per column the variance of the anonymised values within d ranks of the closest one';

CREATE FUNCTION disclosure.subject_check(
    subject    record,
    anonymised regclass,
    columns    name[],
    d          bigint DEFAULT NULL,
    v          float8[] DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT largest_d bigint,
    OUT closest   jsonb,
    OUT variances float8[],
    OUT d_holds   boolean,
    OUT v_holds   boolean[],
    OUT holds     boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'subject_check_wrapper';
COMMENT ON FUNCTION disclosure.subject_check(record, regclass, name[], bigint, float8[], jsonb, disclosure.tie_treatment, bigint) IS
  'what a subject can verify with nothing but her own record and the anonymised table: the largest permutation distance that holds for her, the variances around the values closest to hers, and whether d and v hold';

CREATE FUNCTION disclosure.record_linkage(
    original   regclass,
    anonymised regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT record      text,
    OUT original    jsonb,
    OUT matched     jsonb,
    OUT distance    float8,
    OUT matches     bigint,
    OUT correct     boolean,
    OUT probability float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'record_linkage_wrapper';
COMMENT ON FUNCTION disclosure.record_linkage(regclass, regclass, name[], name, jsonb, disclosure.tie_treatment, bigint) IS
  'what an intruder who knows the whole original table makes of the anonymised one: for every original record the anonymised one at the shortest permutation distance, how many are as near, and, with a key, whether the right one is among them';

CREATE FUNCTION disclosure.marginality(
    relation  regclass,
    "column"  name,
    distances regclass,
    OUT value       text,
    OUT records     bigint,
    OUT marginality float8,
    OUT place       bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 100
  AS 'MODULE_PATHNAME', 'marginality_wrapper';
COMMENT ON FUNCTION disclosure.marginality(regclass, name, regclass) IS
  'the order of a column whose values have none: by marginality, the sum of a value''s distances to those of all rows; the third relation has two columns of values, and their distance or similarity';
