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
  AS 'MODULE_PATHNAME', 'assess_risk_wrapper';
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
  AS 'MODULE_PATHNAME', 'assess_itemset_risk_wrapper';
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

CREATE FUNCTION disclosure.similarity_by_sampling(
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
COMMENT ON FUNCTION disclosure.similarity_by_sampling(regclass, name, float8[], int, bigint) IS
  'the share of items that a rival is right about who has a random sample of the transactions and believes its frequencies give or take its median gap';
