-- Equivalence classes: rows that are equal on the given columns.

CREATE FUNCTION disclosure.class_size(VARIADIC "any") RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'class_size_wrapper';
COMMENT ON FUNCTION disclosure.class_size("any") IS
  'window function: returns the number of rows in the partition that are equal to this one on the given columns; given a whole row of a labelled relation, compares the columns that are known by their labels, and counts people if there is a column labelled person; with a last argument ''wildcard'', NULL equals everything';

CREATE FUNCTION disclosure_internal.class_size_of_record(
    record  record,
    columns name[],
    labels  jsonb
  ) RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'class_size_of_record_wrapper';
COMMENT ON FUNCTION disclosure_internal.class_size_of_record(record, name[], jsonb) IS
  'window function: returns the number of people in the class of this row, as risk views show it; columns form the classes, and labels say which columns identify people';

CREATE FUNCTION disclosure_internal.k_anonymity_transition(internal, VARIADIC "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_transition(internal, "any") IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_combine(internal, internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_serialise(internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_deserialise(bytea, internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_final(internal) RETURNS bigint
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_final(internal) IS 'part of the aggregate k_anonymity';

CREATE AGGREGATE disclosure.k_anonymity(VARIADIC "any") (
  SFUNC = disclosure_internal.k_anonymity_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.k_anonymity_combine,
  SERIALFUNC = disclosure_internal.k_anonymity_serialise,
  DESERIALFUNC = disclosure_internal.k_anonymity_deserialise,
  FINALFUNC = disclosure_internal.k_anonymity_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.k_anonymity("any") IS
  'returns the number of rows in the smallest class of rows that are equal on the given columns; given a whole row of a labelled relation, compares the columns that are known by their labels, and counts people if there is a column labelled person; NULL if there are no rows; with a last argument ''wildcard'', NULL equals everything';

CREATE FUNCTION disclosure_internal.count_people_transition(internal, VARIADIC "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_transition(internal, "any") IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_combine(internal, internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_serialise(internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_deserialise(bytea, internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_final(internal) RETURNS bigint
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_final(internal) IS 'part of the aggregate count_people';

CREATE AGGREGATE disclosure.count_people(VARIADIC "any") (
  SFUNC = disclosure_internal.count_people_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.count_people_combine,
  SERIALFUNC = disclosure_internal.count_people_serialise,
  DESERIALFUNC = disclosure_internal.count_people_deserialise,
  FINALFUNC = disclosure_internal.count_people_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.count_people("any") IS
  'returns the number of distinct people: of distinct combinations of values of the given columns that are not all NULL; given a whole row of a labelled relation, counts by the columns labelled person; in contrast to count(DISTINCT …), can be called with OVER';

CREATE FUNCTION disclosure.equivalence_classes(
    relation regclass,
    columns  name[] DEFAULT NULL,
    nulls    disclosure.null_treatment DEFAULT 'value',
    buckets  bigint[] DEFAULT '{1,2,3,5,10,20}',
    examples int DEFAULT 0,
    unit     text DEFAULT 'person',
    by       text DEFAULT 'row',
    labels   jsonb DEFAULT NULL,
    OUT size     bigint,
    OUT up_to    bigint,
    OUT classes  bigint,
    OUT rows     bigint,
    OUT people   bigint,
    OUT examples jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'equivalence_classes_wrapper';
COMMENT ON FUNCTION disclosure.equivalence_classes(regclass, name[], disclosure.null_treatment, bigint[], int, text, text, jsonb) IS
  'counts equivalence classes, their rows and their people by class size, from size to up_to in each row; without columns, rows are compared by the columns that are known by their labels; buckets has the smallest size of each row, NULL for each size by itself; the argument examples is the number of classes, smallest first, whose values are shown; sizes count people if a column is labelled person, households with unit => ''household'', and rows with unit => ''row''; with by => ''person'', two people are in a class if all their rows together are equal';

CREATE FUNCTION disclosure.risk_summary(
    relation   regclass,
    columns    name[] DEFAULT NULL,
    population regclass DEFAULT NULL,
    labels     jsonb DEFAULT NULL,
    nulls      disclosure.null_treatment DEFAULT 'value',
    unit       text DEFAULT 'person',
    by         text DEFAULT 'row',
    OUT rows                   bigint,
    OUT people                 bigint,
    OUT classes                bigint,
    OUT k                      bigint,
    OUT uniques                bigint,
    OUT share_below_3          float8,
    OUT share_below_5          float8,
    OUT share_below_11         float8,
    OUT share_below_20         float8,
    OUT prosecutor_highest     float8,
    OUT prosecutor_average     float8,
    OUT prosecutor_above_5     float8,
    OUT prosecutor_above_11    float8,
    OUT prosecutor_above_20    float8,
    OUT journalist_highest     float8,
    OUT journalist_average     float8,
    OUT journalist_above_5     float8,
    OUT journalist_above_11    float8,
    OUT journalist_above_20    float8,
    OUT marketer               float8,
    OUT k_map                  bigint,
    OUT delta_presence_lowest  float8,
    OUT delta_presence_highest float8,
    OUT not_in_population      bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1
  AS 'MODULE_PATHNAME', 'risk_summary_wrapper';
COMMENT ON FUNCTION disclosure.risk_summary(regclass, name[], regclass, jsonb, disclosure.null_treatment, text, text) IS
  'returns the risk of re-identification in a relation: classes, k, uniques, shares in small classes, and the risk by a prosecutor, a journalist and a marketer (El Emam); with a population, also k-map and δ-presence; counts people if a column is labelled person, otherwise rows';

CREATE TYPE disclosure.diversity_figures AS (
  column_name    text,
  l_distinct     bigint,
  l_entropy      float8,
  l_recursive    bigint,
  alpha          float8,
  t_equal        float8,
  t_ordered      float8,
  t_hierarchical float8,
  beta           float8,
  beta_enhanced  float8,
  beta_enhanced_strict float8,
  delta          float8
);
COMMENT ON TYPE disclosure.diversity_figures IS
  'how well a class hides the values of a sensitive column: l-diversity, the share of the most frequent value, t-closeness, β-likeness and δ-disclosure; all figures are NULL if no value is known';

CREATE FUNCTION disclosure.diversity(
    relation        regclass,
    columns         name[] DEFAULT NULL,
    sensitive       name[] DEFAULT NULL,
    hierarchies     jsonb DEFAULT NULL,
    c               float8 DEFAULT 9,
    labels          jsonb DEFAULT NULL,
    nulls           disclosure.null_treatment DEFAULT 'value',
    sensitive_nulls disclosure.sensitive_null_treatment DEFAULT 'value',
    unit            text DEFAULT 'person',
    OUT column_name    text,
    OUT l_distinct     bigint,
    OUT l_entropy      float8,
    OUT l_recursive    bigint,
    OUT alpha          float8,
    OUT t_equal        float8,
    OUT t_ordered      float8,
    OUT t_hierarchical float8,
    OUT beta           float8,
    OUT beta_enhanced  float8,
    OUT beta_enhanced_strict float8,
    OUT delta          float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'diversity_wrapper';
COMMENT ON FUNCTION disclosure.diversity(regclass, name[], name[], jsonb, float8, jsonb, disclosure.null_treatment, disclosure.sensitive_null_treatment, text) IS
  'returns, for each sensitive column, the worst figures of any class: l-diversity (distinct, entropy, recursive by c), the share of the most frequent value, t-closeness by equal, ordered and hierarchical distance, basic and enhanced β-likeness, and δ-disclosure; hierarchies has a table of groups by column name';

CREATE FUNCTION disclosure.class_diversity(
    record          record,
    columns         name[] DEFAULT NULL,
    sensitive       name[] DEFAULT NULL,
    hierarchies     jsonb DEFAULT NULL,
    c               float8 DEFAULT 9,
    labels          jsonb DEFAULT NULL,
    nulls           disclosure.null_treatment DEFAULT 'value',
    sensitive_nulls disclosure.sensitive_null_treatment DEFAULT 'value',
    unit            text DEFAULT 'person'
  ) RETURNS disclosure.diversity_figures
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'class_diversity_wrapper';
COMMENT ON FUNCTION disclosure.class_diversity(record, name[], name[], jsonb, float8, jsonb, disclosure.null_treatment, disclosure.sensitive_null_treatment, text) IS
  'window function: returns the figures of diversity for the class of this row, about one sensitive column; which one must be given only if several columns are labelled as sensitive';
