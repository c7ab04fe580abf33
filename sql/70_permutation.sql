-- The permutation paradigm (Domingo-Ferrer and Muralidhar 2015) over the rows of a query.

CREATE FUNCTION disclosure.reverse_map(original anyelement, released "any", seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'reverse_map_wrapper';
COMMENT ON FUNCTION disclosure.reverse_map(anyelement, "any", bigint) IS
  'window function: the original value of the partition that has the rank of this row''s anonymised value; the anonymised column is this, plus noise that changes no rank';

CREATE FUNCTION disclosure.rank_shift(original "any", released "any", seed bigint DEFAULT 1) RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_shift_wrapper';
COMMENT ON FUNCTION disclosure.rank_shift("any", "any", bigint) IS
  'window function: how many ranks this row''s value has moved in the partition by anonymisation';

CREATE FUNCTION disclosure_internal.rank_correlation_transition(internal, "any", "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.rank_correlation_transition(internal, "any", "any") IS
  'part of the aggregate rank_correlation';

CREATE FUNCTION disclosure_internal.rank_correlation_final(internal) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.rank_correlation_final(internal) IS 'part of the aggregate rank_correlation';

CREATE AGGREGATE disclosure.rank_correlation(first "any", second "any") (
  SFUNC = disclosure_internal.rank_correlation_transition,
  STYPE = internal,
  SSPACE = 65536,
  FINALFUNC = disclosure_internal.rank_correlation_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE disclosure.rank_correlation("any", "any") IS
  'Spearman''s rank correlation of any two columns that have an order; between an original column and its anonymised form, the higher the more risk';

-- Reference maskers, to compare others with.

CREATE FUNCTION disclosure.rank_swap(value anyelement, p float8, seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_swap_wrapper';
COMMENT ON FUNCTION disclosure.rank_swap(anyelement, float8, bigint) IS
  'window function: rank swapping, i.e. values of the partition change places with others that are at most p percent of its rows away by rank';

CREATE FUNCTION disclosure.add_noise(value float8, share float8, seed bigint DEFAULT 1) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'add_noise_wrapper';
COMMENT ON FUNCTION disclosure.add_noise(float8, float8, bigint) IS
  'window function: the value plus normally distributed noise, whose standard deviation is this share of that of the partition''s values';

CREATE FUNCTION disclosure.microaggregate(value float8, k int) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'microaggregate_wrapper';
COMMENT ON FUNCTION disclosure.microaggregate(float8, int) IS
  'window function: the mean of the value''s group, where groups of at least k values are chosen such that the least is lost';

-- The permutation paradigm over tables (Domingo-Ferrer and Muralidhar 2015): how much was permuted, what a subject
-- can verify, and what an intruder with maximum knowledge can link.

CREATE TYPE disclosure.tie_treatment AS ENUM ('random', 'shared');
COMMENT ON TYPE disclosure.tie_treatment IS
  'what ranks equal values have: random = different ones in an order that a seed draws; shared = the mean of their ranks, as an intruder sees them as equal';

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
    OUT finding          text,
    OUT only_original    bigint,
    OUT only_released    bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'permutation_report_wrapper';
COMMENT ON FUNCTION disclosure.permutation_report(regclass, regclass, name[], name, jsonb, bigint) IS
  'how much an anonymised table is a permutation of the original one, column by column, and for the weakest column in a last row whose column is NULL: rank correlation, ranks moved, their mean in units of a random permutation''s, residual noise';

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
  '(d, v)-permuted privacy: for every original record the largest permutation distance d that holds, and per column the variance of the anonymised values within d ranks of the closest one';

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
  'what a subject can verify with nothing but her own record and the anonymised table: the largest permutation distance that holds for her, the variances around the values closest to hers, and whether d and v hold';

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
  'what an intruder who knows the whole original table makes of the anonymised one: for every original record the anonymised one at the shortest permutation distance, how many are as near, and, with a key, whether the right one is among them';

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
  'the order of a column whose values have none: by marginality, the sum of a value''s distances to those of all rows; the third relation has two columns of values, and their distance or similarity';

-- Whether an intruder's matches are more than luck (section 5 of the paper), in one release or several.

CREATE FUNCTION disclosure.linkage_plausibility(
    original   regclass,
    released   regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    draws      int DEFAULT 10,
    at_least   float8 DEFAULT 0.8,
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
    OUT p_is             text,
    OUT matches          float8,
    OUT unlinked         bigint,
    OUT correct          bigint,
    OUT expected_correct float8,
    OUT finding          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'linkage_plausibility_wrapper';
COMMENT ON FUNCTION disclosure.linkage_plausibility(regclass, regclass, name[], name, int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'whether an intruder''s matches are more than luck: distances of real matches and of matches of random records (quantiles 0, 5, 25, 50, 75, 95 and 100 %), how much they overlap, a one-sided Kolmogorov-Smirnov test, and a verdict';

CREATE FUNCTION disclosure.compare_releases(
    original regclass,
    released regclass[],
    columns  name[] DEFAULT NULL,
    key      name DEFAULT NULL,
    draws    int DEFAULT 10,
    at_least float8 DEFAULT 0.8,
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
    OUT finding          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'compare_releases_wrapper';
COMMENT ON FUNCTION disclosure.compare_releases(regclass, regclass[], name[], name, int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'several anonymised versions of a table side by side: how much each is permuted, and what an intruder can link in it';

CREATE FUNCTION disclosure.calibrate_permutation(
    original   regclass,
    columns    name[] DEFAULT NULL,
    candidates float8[] DEFAULT '{1,2,3,5,7,10,15,20,30,40,50,75,100}',
    draws      int DEFAULT 10,
    at_least   float8 DEFAULT 0.8,
    at_most    float8 DEFAULT 0.05,
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
    OUT finding           text,
    OUT chosen            boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 13
  AS 'MODULE_PATHNAME', 'calibrate_permutation_wrapper';
COMMENT ON FUNCTION disclosure.calibrate_permutation(regclass, name[], float8[], int, float8, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'how much permutation is enough: for each distance p of rank swapping, in per cent of the records, what stays of every column''s ranks and whether an intruder''s matches are plausibly random; the least p is chosen for which they are, and few of them correct';
