-- Cracks (Lakshmanan, Ng and Ramesh 2008): how many codes an adversary can identify from approximate frequencies.

-- The type is not called count_items: Postgres would take count_items(x) of a text x for a cast.
CREATE TYPE disclosure.item_counts;
CREATE FUNCTION disclosure_internal.item_counts_in(cstring) RETURNS disclosure.item_counts
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_in_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_in(cstring) IS 'supports the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_out(disclosure.item_counts) RETURNS cstring
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_out_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_out(disclosure.item_counts) IS 'supports the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_receive(internal) RETURNS disclosure.item_counts
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_receive_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_receive(internal) IS 'supports the type item_counts';
CREATE FUNCTION disclosure_internal.item_counts_send(disclosure.item_counts) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_send_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_send(disclosure.item_counts) IS 'supports the type item_counts';
CREATE TYPE disclosure.item_counts (
  INPUT = disclosure_internal.item_counts_in,
  OUTPUT = disclosure_internal.item_counts_out,
  RECEIVE = disclosure_internal.item_counts_receive,
  SEND = disclosure_internal.item_counts_send,
  INTERNALLENGTH = VARIABLE,
  STORAGE = extended
);
COMMENT ON TYPE disclosure.item_counts IS
  'number of transactions, and of those that contain each item; made by count_items, merged by rollup';

CREATE FUNCTION disclosure_internal.item_counts_transition(internal, "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_transition(internal, "any") IS
  'supports the aggregate count_items';

CREATE FUNCTION disclosure_internal.item_counts_rollup(internal, disclosure.item_counts) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_rollup_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_rollup(internal, disclosure.item_counts) IS 'supports the aggregate rollup';

CREATE FUNCTION disclosure_internal.item_counts_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_combine(internal, internal) IS
  'supports the aggregates count_items and rollup';

CREATE FUNCTION disclosure_internal.item_counts_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_serialise(internal) IS
  'supports the aggregates count_items and rollup';

CREATE FUNCTION disclosure_internal.item_counts_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_deserialise(bytea, internal) IS
  'supports the aggregates count_items and rollup';

CREATE FUNCTION disclosure_internal.item_counts_final(internal) RETURNS disclosure.item_counts
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.item_counts_final(internal) IS 'supports the aggregates count_items and rollup';

CREATE AGGREGATE disclosure.count_items(items "any") (
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
COMMENT ON AGGREGATE disclosure.count_items("any") IS
  'counts the transactions and how many of them contain each item; an array is the set of its elements, any other value is a single item';

CREATE AGGREGATE disclosure.rollup(counts disclosure.item_counts) (
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
  'merges the counts of several parts into the counts of all transactions';

-- A number or a word, so that both width => 0.01 and width => 'median' can be written.
CREATE TYPE disclosure.belief_width;
CREATE FUNCTION disclosure_internal.belief_width_in(cstring) RETURNS disclosure.belief_width
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
COMMENT ON FUNCTION disclosure_internal.belief_width_in(cstring) IS 'supports the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_out(disclosure.belief_width) RETURNS cstring
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
COMMENT ON FUNCTION disclosure_internal.belief_width_out(disclosure.belief_width) IS 'supports the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_receive(internal) RETURNS disclosure.belief_width
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textrecv';
COMMENT ON FUNCTION disclosure_internal.belief_width_receive(internal) IS 'supports the type belief_width';
CREATE FUNCTION disclosure_internal.belief_width_send(disclosure.belief_width) RETURNS bytea
  LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textsend';
COMMENT ON FUNCTION disclosure_internal.belief_width_send(disclosure.belief_width) IS 'supports the type belief_width';
CREATE TYPE disclosure.belief_width (
  INPUT = disclosure_internal.belief_width_in,
  OUTPUT = disclosure_internal.belief_width_out,
  RECEIVE = disclosure_internal.belief_width_receive,
  SEND = disclosure_internal.belief_width_send,
  LIKE = pg_catalog.text
);
COMMENT ON TYPE disclosure.belief_width IS
  'largest distance between a frequency and what the adversary believes: a share of all transactions, median or mean (the gap between frequencies), point (0) or ignorant (1)';
CREATE CAST (numeric AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (numeric AS disclosure.belief_width) IS 'allows width => 0.01';
CREATE CAST (float8 AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (float8 AS disclosure.belief_width) IS 'allows a width that is computed';
CREATE CAST (int AS disclosure.belief_width) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (int AS disclosure.belief_width) IS 'allows width => 0';

-- The forms over a relation and a column, and over stored counts. The names of the latter end in _of, so that a literal
-- in the first place always means a relation.

CREATE FUNCTION disclosure.count_items(relation regclass, column_name name) RETURNS disclosure.item_counts
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'count_items_wrapper';
COMMENT ON FUNCTION disclosure.count_items(regclass, name) IS
  'counts the transactions of a column and how many of them contain each item';

CREATE FUNCTION disclosure.expected_cracks(
    relation       regclass,
    column_name    name DEFAULT NULL,
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
  'returns the expected number of codes that an adversary can identify from approximate frequencies, if the values of the column were replaced by codes; without column_name, the sum over all columns that are not labelled identifier or ignore; NULL if there is nothing to identify, or if no mapping agrees with the belief';

CREATE FUNCTION disclosure.cracks_of(
    counts         disclosure.item_counts,
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
  AS 'MODULE_PATHNAME', 'cracks_of_wrapper';
COMMENT ON FUNCTION disclosure.cracks_of(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'returns the expected number of codes that an adversary can identify from approximate frequencies, given stored counts of the items';

CREATE FUNCTION disclosure.crack_report(
    relation       regclass,
    column_name    name DEFAULT NULL,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    alpha          float8 DEFAULT 1,
    OUT column_name         text,
    OUT items               bigint,
    OUT transactions        bigint,
    OUT groups              bigint,
    OUT singletons          bigint,
    OUT mean_gap            float8,
    OUT median_gap          float8,
    OUT min_gap             float8,
    OUT max_gap             float8,
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
    OUT ln_matchings       float8,
    OUT degree_of_anonymity float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'crack_report_wrapper';
COMMENT ON FUNCTION disclosure.crack_report(regclass, name, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'returns the expected cracks of a column, or of each column of the relation, with the figures that they depend on: frequency groups and the gaps between them, the two extremes, and the published estimates';

CREATE FUNCTION disclosure.crack_report_of(
    counts         disclosure.item_counts,
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
    OUT mean_gap            float8,
    OUT median_gap          float8,
    OUT min_gap             float8,
    OUT max_gap             float8,
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
    OUT ln_matchings       float8,
    OUT degree_of_anonymity float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'crack_report_of_wrapper';
COMMENT ON FUNCTION disclosure.crack_report_of(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'returns the expected cracks of stored counts, with the figures that they depend on: frequency groups and the gaps between them, the two extremes, and the published estimates';

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
  'returns for each item its frequency, the number of items that are as frequent, the number of codes that an adversary can take for it, and the probability that it is identified';

CREATE FUNCTION disclosure.item_risk_of(
    counts         disclosure.item_counts,
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
  AS 'MODULE_PATHNAME', 'item_risk_of_wrapper';
COMMENT ON FUNCTION disclosure.item_risk_of(disclosure.item_counts, regclass, disclosure.belief_width, text, int, float8, bigint, interval, float8) IS
  'returns for each item its frequency, the number of items that are as frequent, the number of codes that an adversary can take for it, and the probability that it is identified, given stored counts';

CREATE FUNCTION disclosure.crack_probability(
    relation       regclass,
    column_name    name,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'crack_probability_wrapper';
COMMENT ON FUNCTION disclosure.crack_probability(regclass, name, anyarray, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the probability that an adversary finds the codes of an itemset, in any order: exact if feasible, otherwise simulated, or one of the published estimates os and os2';

CREATE FUNCTION disclosure.crack_probability_of(
    counts         disclosure.item_counts,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'crack_probability_of_wrapper';
COMMENT ON FUNCTION disclosure.crack_probability_of(disclosure.item_counts, anyarray, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the probability that an adversary finds the codes of an itemset, in any order: exact if feasible, otherwise simulated, or one of the published estimates os and os2, given stored counts';

CREATE FUNCTION disclosure.itemset_risk(
    relation       regclass,
    column_name    name,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT crack_probability float8,
    OUT lower             float8,
    OUT upper             float8,
    OUT method            text,
    OUT os                float8,
    OUT os2               float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'itemset_risk_wrapper';
COMMENT ON FUNCTION disclosure.itemset_risk(regclass, name, anyarray, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the probability that an adversary finds the codes of an itemset, in any order, with its bounds, and the published estimates os and os2';

CREATE FUNCTION disclosure.itemset_risk_of(
    counts         disclosure.item_counts,
    itemset        anyarray,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT crack_probability float8,
    OUT lower             float8,
    OUT upper             float8,
    OUT method            text,
    OUT os                float8,
    OUT os2               float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'itemset_risk_of_wrapper';
COMMENT ON FUNCTION disclosure.itemset_risk_of(disclosure.item_counts, anyarray, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the probability that an adversary finds the codes of an itemset, in any order, with its bounds, and the published estimates os and os2, given stored counts';

CREATE FUNCTION disclosure.expected_itemset_cracks(
    relation       regclass,
    column_name    name,
    size           int DEFAULT 2,
    interest       text[] DEFAULT NULL,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT itemsets float8,
    OUT expected float8,
    OUT lower    float8,
    OUT upper    float8,
    OUT share    float8,
    OUT method   text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'expected_itemset_cracks_wrapper';
COMMENT ON FUNCTION disclosure.expected_itemset_cracks(regclass, name, int, text[], text[], regclass, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the expected number of itemsets whose codes an adversary finds, in any order: among all itemsets of a size, those that consist of items of interest, or those that are listed';

CREATE FUNCTION disclosure.expected_itemset_cracks_of(
    counts         disclosure.item_counts,
    size           int DEFAULT 2,
    interest       text[] DEFAULT NULL,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT itemsets float8,
    OUT expected float8,
    OUT lower    float8,
    OUT upper    float8,
    OUT share    float8,
    OUT method   text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'expected_itemset_cracks_of_wrapper';
COMMENT ON FUNCTION disclosure.expected_itemset_cracks_of(disclosure.item_counts, int, text[], text[], regclass, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'returns the expected number of itemsets whose codes an adversary finds, in any order: among all itemsets of a size, those that consist of items of interest, or those that are listed, given stored counts';

-- Recipes of Lakshmanan, Ng and Ramesh (2008): can the data be released?

CREATE FUNCTION disclosure.assess_items(
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
    OUT verdict      text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_items_wrapper';
COMMENT ON FUNCTION disclosure.assess_items(regclass, name, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'assesses whether items can be released: safe if no more than the tolerated share of items is cracked by an adversary who knows every frequency exactly or approximately; otherwise unknown, with the largest share of items that an adversary may be right about';

CREATE FUNCTION disclosure.assess_items_of(
    counts         disclosure.item_counts,
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
    OUT verdict      text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_items_of_wrapper';
COMMENT ON FUNCTION disclosure.assess_items_of(disclosure.item_counts, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'assesses whether items can be released: safe if no more than the tolerated share of items is cracked by an adversary who knows every frequency exactly or approximately; otherwise unknown, with the largest share of items that an adversary may be right about; for stored counts';

CREATE FUNCTION disclosure.assess_itemsets(
    relation       regclass,
    column_name    name,
    size           int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    tolerance      float8 DEFAULT 0.1,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    samples        int DEFAULT 10000,
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
    OUT verdict      text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_itemsets_wrapper';
COMMENT ON FUNCTION disclosure.assess_itemsets(regclass, name, int, float8, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'assesses whether itemsets can be released: returns the share of the itemsets of interest that are cracked with at least the probability crack_danger, and whether it is tolerable';

CREATE FUNCTION disclosure.assess_itemsets_of(
    counts         disclosure.item_counts,
    size           int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    tolerance      float8 DEFAULT 0.1,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    samples        int DEFAULT 10000,
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
    OUT verdict      text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'assess_itemsets_of_wrapper';
COMMENT ON FUNCTION disclosure.assess_itemsets_of(disclosure.item_counts, int, float8, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'assesses whether itemsets can be released: returns the share of the itemsets of interest that are cracked with at least the probability crack_danger, and whether it is tolerable; for stored counts';

CREATE FUNCTION disclosure.vulnerable_itemsets(
    relation       regclass,
    column_name    name,
    size           int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    samples        int DEFAULT 10000,
    max_rows       int DEFAULT 1000,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT itemset           text[],
    OUT crack_probability float8,
    OUT point_valued      float8,
    OUT method            text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'vulnerable_itemsets_wrapper';
COMMENT ON FUNCTION disclosure.vulnerable_itemsets(regclass, name, int, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'lists the itemsets of interest that are cracked with at least the probability crack_danger, worst first; at most max_rows of them';

CREATE FUNCTION disclosure.vulnerable_itemsets_of(
    counts         disclosure.item_counts,
    size           int DEFAULT 2,
    crack_danger   float8 DEFAULT 0.5,
    skip_top       float8 DEFAULT 0,
    itemsets       text[] DEFAULT NULL,
    itemset_table  regclass DEFAULT NULL,
    samples        int DEFAULT 10000,
    max_rows       int DEFAULT 1000,
    belief         regclass DEFAULT NULL,
    width          disclosure.belief_width DEFAULT 'median',
    method         text DEFAULT 'auto',
    phantoms       int DEFAULT 0,
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT itemset           text[],
    OUT crack_probability float8,
    OUT point_valued      float8,
    OUT method            text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'vulnerable_itemsets_of_wrapper';
COMMENT ON FUNCTION disclosure.vulnerable_itemsets_of(disclosure.item_counts, int, float8, float8, text[], regclass, int, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'lists the itemsets of interest that are cracked with at least the probability crack_danger, worst first; at most max_rows of them, given stored counts';

CREATE FUNCTION disclosure.assess_correlations(
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
    OUT knows      text,
    OUT pairs      bigint,
    OUT o_estimate float8,
    OUT expected   float8,
    OUT lower      float8,
    OUT upper      float8,
    OUT method     text,
    OUT share      float8,
    OUT verdict    text,
    OUT alpha_max  float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 6
  AS 'MODULE_PATHNAME', 'assess_correlations_wrapper';
COMMENT ON FUNCTION disclosure.assess_correlations(regclass, name, float8, int, int, int, float8, int, regclass, disclosure.belief_width, text, int, float8, bigint, interval) IS
  'assesses what an adversary gains who knows which items occur together most often, or never: returns the expected cracks for each kind of knowledge';

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
  'returns the share of items that an adversary is right about who has a random sample of the transactions and believes each of its frequencies within plus or minus the median gap of the sample';

-- People against released rows (Lakshmanan, Ng and Ramesh 2008, section 8.1).

CREATE FUNCTION disclosure.expected_reidentifications(
    known          regclass,
    released       regclass,
    columns        name[],
    key            name DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT people       bigint,
    OUT rows         bigint,
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
  'returns the expected number of people whose released rows an adversary can identify by what is known about them: a value, a range of values, or NULL if nothing is known';
