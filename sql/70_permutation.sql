-- The permutation paradigm (Domingo-Ferrer and Muralidhar 2015) on the rows of a query.

CREATE FUNCTION disclosure.reverse_map(original anyelement, released "any", seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'reverse_map_wrapper';
COMMENT ON FUNCTION disclosure.reverse_map(anyelement, "any", bigint) IS
  'window function: returns the original value of the partition that has the rank of this row''s released value; the released column is this value plus noise that changes no rank';

CREATE FUNCTION disclosure.rank_shift(original "any", released "any", seed bigint DEFAULT 1) RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_shift_wrapper';
COMMENT ON FUNCTION disclosure.rank_shift("any", "any", bigint) IS
  'window function: returns the number of ranks by which masking moved this row''s value within the partition';

CREATE FUNCTION disclosure_internal.rank_correlation_transition(internal, "any", "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.rank_correlation_transition(internal, "any", "any") IS
  'transition function of the aggregate rank_correlation';

CREATE FUNCTION disclosure_internal.rank_correlation_final(internal) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.rank_correlation_final(internal) IS
  'final function of the aggregate rank_correlation';

CREATE AGGREGATE disclosure.rank_correlation(first "any", second "any") (
  SFUNC = disclosure_internal.rank_correlation_transition,
  STYPE = internal,
  SSPACE = 65536,
  FINALFUNC = disclosure_internal.rank_correlation_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE disclosure.rank_correlation("any", "any") IS
  'returns Spearman''s rank correlation of two columns of any types that have an order; between an original and a released column, values near 1 or -1 mean high risk';

-- Reference maskers, for comparison with other masking methods.

CREATE FUNCTION disclosure.rank_swap(value anyelement, p float8, seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_swap_wrapper';
COMMENT ON FUNCTION disclosure.rank_swap(anyelement, float8, bigint) IS
  'window function: masks the value by rank swapping; values of the partition change places with others whose ranks differ by at most p percent of its rows';

CREATE FUNCTION disclosure.add_noise(value float8, share float8, seed bigint DEFAULT 1) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'add_noise_wrapper';
COMMENT ON FUNCTION disclosure.add_noise(float8, float8, bigint) IS
  'window function: returns the value plus normally distributed noise whose standard deviation is share times that of the partition''s values';

CREATE FUNCTION disclosure.microaggregate(value float8, k int) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'microaggregate_wrapper';
COMMENT ON FUNCTION disclosure.microaggregate(float8, int) IS
  'window function: returns the mean of the value''s group; every group has at least k values, and the groups minimise the sum of squared differences';

-- The permutation paradigm on tables (Domingo-Ferrer and Muralidhar 2015): how much was permuted, what the subject of
-- a record can verify, and what an adversary with maximum knowledge can link.

CREATE TYPE disclosure.tie_treatment AS ENUM ('random', 'shared');
COMMENT ON TYPE disclosure.tie_treatment IS
  'ranks of equal values: random = different ranks in an order drawn from a seed; shared = the mean of their ranks, because to an adversary they are equal';

CREATE FUNCTION disclosure.permutation_report(
    original   regclass,
    released   regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    seed       bigint DEFAULT 1,
    OUT column_name      text,
    OUT records          bigint,
    OUT rank_correlation float8,
    OUT mean_shift       float8,
    OUT median_shift     float8,
    OUT max_shift        bigint,
    OUT permutation      float8,
    OUT residual_noise   float8,
    OUT noise_share      float8,
    OUT nulls_original   bigint,
    OUT nulls_released   bigint,
    OUT extent           text,
    OUT only_original    bigint,
    OUT only_released    bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'permutation_report_wrapper';
COMMENT ON FUNCTION disclosure.permutation_report(regclass, regclass, name[], name, jsonb, bigint) IS
  'reports how much a released table is a permutation of the original one, one row per column and a last row for the weakest, with a NULL column_name: rank correlation, shift of ranks, mean shift in units of that of a random permutation, residual noise';

CREATE FUNCTION disclosure.permuted_privacy(
    original   regclass,
    released   regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT key      text,
    OUT original jsonb,
    OUT d        bigint,
    OUT v        float8[]
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'permuted_privacy_wrapper';
COMMENT ON FUNCTION disclosure.permuted_privacy(regclass, regclass, name[], name, jsonb, disclosure.tie_treatment, bigint) IS
  'returns (d, v)-permuted privacy: for every original record the largest permutation distance d that holds, and per column the variance of the released values within d ranks of the closest one';

CREATE FUNCTION disclosure.check_subject(
    record     record,
    released   regclass,
    columns    name[],
    d          bigint DEFAULT NULL,
    v          float8[] DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT largest_d bigint,
    OUT closest   jsonb,
    OUT variances float8[],
    OUT d_met     boolean,
    OUT v_met     boolean[],
    OUT verdict   text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'check_subject_wrapper';
COMMENT ON FUNCTION disclosure.check_subject(record, regclass, name[], bigint, float8[], jsonb, disclosure.tie_treatment, bigint) IS
  'verifies permuted privacy for the subject of one record, who needs only this record and the released table: returns the largest permutation distance that holds, the variances around the closest released values, and whether d and v hold';

CREATE FUNCTION disclosure.record_linkage(
    original   regclass,
    released   regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT key         text,
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
  'links every original record with the released record at the shortest permutation distance, as an adversary who knows the whole original table would do; counts the released records at this distance and, with a key, tells whether the right one is among them';

CREATE FUNCTION disclosure.marginality(
    relation  regclass,
    column_name name,
    distances regclass,
    OUT value       text,
    OUT records     bigint,
    OUT marginality float8,
    OUT rank        bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 100
  AS 'MODULE_PATHNAME', 'marginality_wrapper';
COMMENT ON FUNCTION disclosure.marginality(regclass, name, regclass) IS
  'lists the values of a column that has no order, ordered by marginality, the sum of a value''s distances to the values of all rows; the relation distances has two columns of values and their distance or similarity';

-- Whether an adversary's matches are better than chance (section 5 of the paper), in one or several released tables.

CREATE FUNCTION disclosure.linkage_plausibility(
    original   regclass,
    released   regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    holdout    regclass DEFAULT NULL,
    draws      int DEFAULT 10,
    at_most    float8 DEFAULT 0.05,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT records          bigint,
    OUT random_records   bigint,
    OUT all_combinations boolean,
    OUT real_distances   float8[],
    OUT random_distances float8[],
    OUT overlap          float8,
    OUT statistic        float8,
    OUT p_value          float8,
    OUT p_method         text,
    OUT matches          float8,
    OUT unlinked         bigint,
    OUT correct          bigint,
    OUT expected_correct float8,
    OUT correct_p_value  float8,
    OUT max_correct      float8,
    OUT holdout_bound    float8,
    OUT verdict          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'linkage_plausibility_wrapper';
COMMENT ON FUNCTION disclosure.linkage_plausibility(regclass, regclass, name[], name, regclass, int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'tells whether an adversary''s matches are better than chance: returns the distances of the matches of real and of random records (quantiles 0, 5, 25, 50, 75, 95 and 100 %), their overlap and a one-sided Kolmogorov-Smirnov test; the verdict is whether at most the share at_most of the records can be expected to be linked correctly, which a key tells, a hold-out may tell, and which is unknown otherwise unless matches are many';

CREATE FUNCTION disclosure.compare_releases(
    original regclass,
    released regclass[],
    columns  name[] DEFAULT NULL,
    key      name DEFAULT NULL,
    holdout  regclass DEFAULT NULL,
    draws    int DEFAULT 10,
    at_most  float8 DEFAULT 0.05,
    orders   jsonb DEFAULT NULL,
    ties     disclosure.tie_treatment DEFAULT 'shared',
    seed     bigint DEFAULT 1,
    OUT released         regclass,
    OUT records          bigint,
    OUT rank_correlation float8,
    OUT permutation      float8,
    OUT median_distance  float8,
    OUT matches          float8,
    OUT unlinked         bigint,
    OUT correct          bigint,
    OUT expected_correct float8,
    OUT overlap          float8,
    OUT statistic        float8,
    OUT p_value          float8,
    OUT correct_p_value  float8,
    OUT verdict          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'compare_releases_wrapper';
COMMENT ON FUNCTION disclosure.compare_releases(regclass, regclass[], name[], name, regclass, int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'compares several released versions of a table: how much each one is permuted, and what an adversary can link in it';

CREATE FUNCTION disclosure.calibrate_permutation(
    original   regclass,
    columns    name[] DEFAULT NULL,
    candidates float8[] DEFAULT '{1,2,3,5,7,10,15,20,30,40,50,75,100}',
    holdout    regclass DEFAULT NULL,
    draws      int DEFAULT 10,
    at_most    float8 DEFAULT 0.05,
    at_least   float8 DEFAULT 0.8,
    orders     jsonb DEFAULT NULL,
    ties       disclosure.tie_treatment DEFAULT 'shared',
    seed       bigint DEFAULT 1,
    OUT p                 float8,
    OUT rank_correlations float8[],
    OUT overlap           float8,
    OUT statistic         float8,
    OUT p_value           float8,
    OUT correct           bigint,
    OUT expected_correct  float8,
    OUT verdict           text,
    OUT chosen            boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 13
  AS 'MODULE_PATHNAME', 'calibrate_permutation_wrapper';
COMMENT ON FUNCTION disclosure.calibrate_permutation(regclass, name[], float8[], regclass, int, float8, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'finds how much permutation is sufficient: for each distance p of rank swapping, in percent of the records, returns the remaining rank correlation of every column and whether at most the share at_most of the records is expected to be linked correctly; chooses the smallest p for which this is so and the distances of real and random matches overlap by at least at_least';
