-- Whether an intruder's matches are more than luck (section 5 of the paper), in one release or several.

CREATE FUNCTION disclosure.linkage_plausibility(
    original   regclass,
    anonymised regclass,
    columns    name[] DEFAULT NULL,
    key        name DEFAULT NULL,
    draws      int DEFAULT 10,
    enough     float8 DEFAULT 0.8,
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
    OUT verdict          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'linkage_plausibility_wrapper';
COMMENT ON FUNCTION disclosure.linkage_plausibility(regclass, regclass, name[], name, int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'whether an intruder''s matches are more than luck: distances of real matches and of matches of random records (quantiles 0, 5, 25, 50, 75, 95 and 100 %), how much they overlap, a one-sided Kolmogorov-Smirnov test, and a verdict';

CREATE FUNCTION disclosure.compare_releases(
    original regclass,
    releases regclass[],
    key      name DEFAULT NULL,
    columns  name[] DEFAULT NULL,
    draws    int DEFAULT 10,
    enough   float8 DEFAULT 0.8,
    orders   jsonb DEFAULT NULL,
    ties     disclosure.tie_treatment DEFAULT 'shared',
    seed     bigint DEFAULT 1,
    OUT release          regclass,
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
    OUT verdict          text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'compare_releases_wrapper';
COMMENT ON FUNCTION disclosure.compare_releases(regclass, regclass[], name, name[], int, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'several anonymised versions of a table side by side: how much each is permuted, and what an intruder can link in it';

CREATE FUNCTION disclosure.calibrate_permutation(
    original   regclass,
    columns    name[] DEFAULT NULL,
    candidates float8[] DEFAULT '{1,2,3,5,7,10,15,20,30,40,50,75,100}',
    draws      int DEFAULT 10,
    enough     float8 DEFAULT 0.8,
    most_correct float8 DEFAULT 0.05,
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
COMMENT ON FUNCTION disclosure.calibrate_permutation(regclass, name[], float8[], int, float8, float8, jsonb, disclosure.tie_treatment, bigint) IS
  'how much permutation is enough: for each distance p of rank swapping, in per cent of the records, what stays of every column''s ranks and whether an intruder''s matches are plausibly random; the least p is chosen for which they are, and few of them correct';
