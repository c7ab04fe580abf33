-- Cracks (Lakshmanan, Ng, Ramesh 2008): how many anonymised items can be named by who knows roughly how often
-- each occurs.

-- Not called item_summary: Postgres would take item_summary(x) of a text x for a cast.
CREATE TYPE disclosure.item_counts;
CREATE FUNCTION disclosure_internal.item_counts_in(cstring) RETURNS disclosure.item_counts
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_in_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_in(cstring) IS 'part of the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_out(disclosure.item_counts) RETURNS cstring
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_out_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_out(disclosure.item_counts) IS 'part of the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_receive(internal) RETURNS disclosure.item_counts
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_receive_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_receive(internal) IS 'part of the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_send(disclosure.item_counts) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_send_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_send(disclosure.item_counts) IS 'part of the type item_counts';
-- Of the category of regclass, so that the string in f('table', 'column') decides between the functions below.
CREATE TYPE disclosure.item_counts (
  INPUT = disclosure_internal.item_counts_in,
  OUTPUT = disclosure_internal.item_counts_out,
  RECEIVE = disclosure_internal.item_counts_receive,
  SEND = disclosure_internal.item_counts_send,
  INTERNALLENGTH = VARIABLE,
  STORAGE = extended,
  CATEGORY = 'N'
);
COMMENT ON TYPE disclosure.item_counts IS
  'how many transactions there are and how many have each item: what item_summary makes and rollup merges';

CREATE FUNCTION disclosure_internal.item_counts_transition(internal, anyelement) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_transition(internal, anyelement) IS
  'part of the aggregates item_summary and expected_cracks';

CREATE FUNCTION disclosure_internal.item_counts_rollup(internal, disclosure.item_counts) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_rollup_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_rollup(internal, disclosure.item_counts) IS 'part of the aggregate rollup';

CREATE FUNCTION disclosure_internal.item_counts_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_combine(internal, internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure_internal.item_counts_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_serialise(internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure_internal.item_counts_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_deserialise(bytea, internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure_internal.item_counts_final(internal) RETURNS disclosure.item_counts
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_final(internal) IS 'part of the aggregates item_summary and rollup';

CREATE AGGREGATE disclosure.item_summary(items anyelement) (
  SFUNC = disclosure_internal.item_counts_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.item_counts_combine,
  SERIALFUNC = disclosure_internal.item_counts_serialise,
  DESERIALFUNC = disclosure_internal.item_counts_deserialise,
  FINALFUNC = disclosure_internal.item_counts_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.item_summary(anyelement) IS
  'how many transactions have each item: an array is the set of its elements, any other value a single item';

CREATE AGGREGATE disclosure.rollup(summary disclosure.item_counts) (
  SFUNC = disclosure_internal.item_counts_rollup,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.item_counts_combine,
  SERIALFUNC = disclosure_internal.item_counts_serialise,
  DESERIALFUNC = disclosure_internal.item_counts_deserialise,
  FINALFUNC = disclosure_internal.item_counts_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.rollup(disclosure.item_counts) IS
  'the summary of all transactions from the summaries of parts of them';

-- A number, or a word for one: so both width => 0.01 and width => 'median' can be said.
CREATE TYPE disclosure.belief_width;
CREATE FUNCTION disclosure_internal.belief_width_in(cstring) RETURNS disclosure.belief_width
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
COMMENT ON FUNCTION disclosure_internal.belief_width_in(cstring) IS 'part of the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_out(disclosure.belief_width) RETURNS cstring
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
COMMENT ON FUNCTION disclosure_internal.belief_width_out(disclosure.belief_width) IS 'part of the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_receive(internal) RETURNS disclosure.belief_width
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textrecv';
COMMENT ON FUNCTION disclosure_internal.belief_width_receive(internal) IS 'part of the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_send(disclosure.belief_width) RETURNS bytea
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textsend';
COMMENT ON FUNCTION disclosure_internal.belief_width_send(disclosure.belief_width) IS 'part of the type belief_width';
CREATE TYPE disclosure.belief_width (
  INPUT = disclosure_internal.belief_width_in,
  OUTPUT = disclosure_internal.belief_width_out,
  RECEIVE = disclosure_internal.belief_width_receive,
  SEND = disclosure_internal.belief_width_send,
  LIKE = pg_catalog.text,
  CATEGORY = 'N' -- as that of regclass, which is in the same place where a summary is asked
);
COMMENT ON TYPE disclosure.belief_width IS
  'how far a frequency may be from what is believed: a share of all transactions, median or mean (gap), point (0) or ignorant (1)';
CREATE CAST (numeric AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (numeric AS disclosure.belief_width) IS 'for width => 0.01';
CREATE CAST (float8 AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (float8 AS disclosure.belief_width) IS 'for a width that was computed';
CREATE CAST (int AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (int AS disclosure.belief_width) IS 'for width => 0';

CREATE FUNCTION disclosure_internal.expected_cracks_final(internal) RETURNS float8
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'expected_cracks_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.expected_cracks_final(internal) IS 'part of the aggregate expected_cracks';

CREATE AGGREGATE disclosure.expected_cracks(items anyelement) (
  SFUNC = disclosure_internal.item_counts_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.item_counts_combine,
  SERIALFUNC = disclosure_internal.item_counts_serialise,
  DESERIALFUNC = disclosure_internal.item_counts_deserialise,
  FINALFUNC = disclosure_internal.expected_cracks_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.expected_cracks(anyelement) IS
  'how many items a rival who knows every frequency give or take the median gap is expected to name; arrays are sets of items, other values single items';

-- Each of the following asks a column of a table, or a summary.

CREATE FUNCTION disclosure.expected_cracks(
    relation       regclass,
    column_name    name,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'expected_cracks_wrapper';
COMMENT ON FUNCTION disclosure.expected_cracks(regclass, name, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'how many items a rival is expected to name: exact where the budget allows, else simulated, or as method says; NULL where no mapping agrees with the belief';

CREATE FUNCTION disclosure.expected_cracks(
    summary        disclosure.item_counts,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'expected_cracks_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.expected_cracks(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'how many items a rival is expected to name: exact where the budget allows, else simulated, or as method says; NULL where no mapping agrees with the belief';

CREATE FUNCTION disclosure.crack_report(
    relation       regclass,
    column_name    name,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1,
    OUT items               bigint,
    OUT transactions        bigint,
    OUT groups              bigint,
    OUT singletons          bigint,
    OUT gap_mean            float8,
    OUT gap_median          float8,
    OUT gap_min             float8,
    OUT gap_max             float8,
    OUT width               float8,
    OUT ignorant            float8,
    OUT point_valued        float8,
    OUT o_estimate          float8,
    OUT propagated          float8,
    OUT refined             float8,
    OUT expected            float8,
    OUT lower               float8,
    OUT upper               float8,
    OUT method              text,
    OUT log_matchings       float8,
    OUT degree_of_anonymity float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'crack_report_wrapper';
COMMENT ON FUNCTION disclosure.crack_report(regclass, name, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'expected cracks and what they depend on: frequency groups and their gaps, the extremes, the published estimates beside the exact or simulated value';

CREATE FUNCTION disclosure.crack_report(
    summary        disclosure.item_counts,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1,
    OUT items               bigint,
    OUT transactions        bigint,
    OUT groups              bigint,
    OUT singletons          bigint,
    OUT gap_mean            float8,
    OUT gap_median          float8,
    OUT gap_min             float8,
    OUT gap_max             float8,
    OUT width               float8,
    OUT ignorant            float8,
    OUT point_valued        float8,
    OUT o_estimate          float8,
    OUT propagated          float8,
    OUT refined             float8,
    OUT expected            float8,
    OUT lower               float8,
    OUT upper               float8,
    OUT method              text,
    OUT log_matchings       float8,
    OUT degree_of_anonymity float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'crack_report_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.crack_report(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'expected cracks and what they depend on: frequency groups and their gaps, the extremes, the published estimates beside the exact or simulated value';

CREATE FUNCTION disclosure.item_risk(
    relation       regclass,
    column_name    name,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1,
    OUT item              text,
    OUT frequency         float8,
    OUT group_size        bigint,
    OUT candidates        bigint,
    OUT crack_probability float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'item_risk_wrapper';
COMMENT ON FUNCTION disclosure.item_risk(regclass, name, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'how likely each item is named, how many others are as frequent, and how many codes the rival takes for it';

CREATE FUNCTION disclosure.item_risk(
    summary        disclosure.item_counts,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1,
    OUT item              text,
    OUT frequency         float8,
    OUT group_size        bigint,
    OUT candidates        bigint,
    OUT crack_probability float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'item_risk_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.item_risk(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'how likely each item is named, how many others are as frequent, and how many codes the rival takes for it';

CREATE FUNCTION disclosure.crack_probability(
    relation       regclass,
    column_name    name,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'exact',
    phantoms       int DEFAULT 0,
    budget         interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'crack_probability_wrapper';
COMMENT ON FUNCTION disclosure.crack_probability(regclass, name, anyarray, regclass, disclosure.belief_width, text, int, interval) IS
  'how likely a rival finds the codes of an itemset, in whatever order: exact, or the published estimates os and os2';

CREATE FUNCTION disclosure.crack_probability(
    summary        disclosure.item_counts,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'exact',
    phantoms       int DEFAULT 0,
    budget         interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'crack_probability_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.crack_probability(disclosure.item_counts, anyarray, regclass, disclosure.belief_width, text, int, interval) IS
  'how likely a rival finds the codes of an itemset, in whatever order: exact, or the published estimates os and os2';

-- Recipes of Lakshmanan, Ng and Ramesh 2008: may the data be released?

CREATE FUNCTION disclosure.assess_risk(
    relation       regclass,
    column_name    name,
    tolerance      float8 DEFAULT 0.1,
    runs           int DEFAULT 100,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT stage        text,
    OUT items        bigint,
    OUT tolerated    float8,
    OUT point_valued float8,
    OUT width        float8,
    OUT o_estimate   float8,
    OUT expected     float8,
    OUT lower        float8,
    OUT upper        float8,
    OUT method       text,
    OUT alpha_max    float8,
    OUT decision     text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_risk_wrapper';
COMMENT ON FUNCTION disclosure.assess_risk(regclass, name, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'the recipe for items: disclose if no more than the tolerated share is cracked by who knows every frequency, or knows it roughly; else the share of items that a rival may be right about';

CREATE FUNCTION disclosure.assess_risk(
    summary        disclosure.item_counts,
    tolerance      float8 DEFAULT 0.1,
    runs           int DEFAULT 100,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT stage        text,
    OUT items        bigint,
    OUT tolerated    float8,
    OUT point_valued float8,
    OUT width        float8,
    OUT o_estimate   float8,
    OUT expected     float8,
    OUT lower        float8,
    OUT upper        float8,
    OUT method       text,
    OUT alpha_max    float8,
    OUT decision     text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_risk_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.assess_risk(disclosure.item_counts, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'the recipe for items: disclose if no more than the tolerated share is cracked by who knows every frequency, or knows it roughly; else the share of items that a rival may be right about';

CREATE FUNCTION disclosure.assess_itemset_risk(
    relation       regclass,
    column_name    name,
    sizes          int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    tolerance      float8 DEFAULT 0.1,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    sample         int DEFAULT 10000,
    runs           int DEFAULT 100,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT stage        text,
    OUT itemsets     float8,
    OUT sampled      boolean,
    OUT point_valued float8,
    OUT vulnerable   float8,
    OUT lower        float8,
    OUT upper        float8,
    OUT method       text,
    OUT alpha_max    float8,
    OUT decision     text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_itemset_risk_wrapper';
COMMENT ON FUNCTION disclosure.assess_itemset_risk(regclass, name, int, float8, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'the recipe for itemsets: which share of those of interest is cracked with at least the probability crack_danger, and is that tolerable';

CREATE FUNCTION disclosure.assess_itemset_risk(
    summary        disclosure.item_counts,
    sizes          int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    tolerance      float8 DEFAULT 0.1,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    sample         int DEFAULT 10000,
    runs           int DEFAULT 100,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT stage        text,
    OUT itemsets     float8,
    OUT sampled      boolean,
    OUT point_valued float8,
    OUT vulnerable   float8,
    OUT lower        float8,
    OUT upper        float8,
    OUT method       text,
    OUT alpha_max    float8,
    OUT decision     text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_itemset_risk_of_summary_wrapper';
COMMENT ON FUNCTION disclosure.assess_itemset_risk(disclosure.item_counts, int, float8, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'the recipe for itemsets: which share of those of interest is cracked with at least the probability crack_danger, and is that tolerable';

CREATE FUNCTION disclosure.assess_correlation_risk(
    relation       regclass,
    column_name    name,
    tolerance      float8 DEFAULT 0.1,
    pairs          int DEFAULT 50,
    among          int DEFAULT 100,
    apart          int DEFAULT 0,
    nearly_always  float8 DEFAULT 1,
    runs           int DEFAULT 100,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT knows            text,
    OUT pairs            bigint,
    OUT o_estimate       float8,
    OUT expected         float8,
    OUT lower            float8,
    OUT upper            float8,
    OUT method           text,
    OUT share            float8,
    OUT within_tolerance boolean,
    OUT alpha_max        float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 6
  AS 'MODULE_PATHNAME', 'assess_correlation_risk_wrapper';
COMMENT ON FUNCTION disclosure.assess_correlation_risk(regclass, name, float8, int, int, int, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'the recipe for a rival who knows which items occur together most, or never: expected cracks with each kind of knowledge';

CREATE FUNCTION disclosure_lab.similarity_by_sampling(
    relation       regclass,
    column_name    name,
    fractions      float8[] DEFAULT '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}',
    samples        int DEFAULT 10,
    seed           bigint DEFAULT 1,
    OUT fraction            float8,
    OUT transactions        bigint,
    OUT width               float8,
    OUT compliancy          float8,
    OUT lowest              float8,
    OUT highest             float8,
    OUT mean_gap            float8,
    OUT mean_gap_compliancy float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'similarity_by_sampling_wrapper';
COMMENT ON FUNCTION disclosure_lab.similarity_by_sampling(regclass, name, float8[], int, bigint) IS
  'the share of items that a rival is right about who has a random sample of the transactions and believes its frequencies give or take its median gap';

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
