-- Probabilistic attacks (Malik 2014): a matrix says how likely the adversary considers each code (column) for each
-- entry (row). The functions compute how many entries the adversary is expected to get right. There may be more codes
-- than entries, or fewer; then a matching matches everything on the smaller side.

CREATE FUNCTION disclosure_lab.permanent(matrix float8[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'permanent_wrapper';
COMMENT ON FUNCTION disclosure_lab.permanent(float8[]) IS
  'returns the exact sum over all perfect matchings of the product of their weights; for a 0/1 matrix, the number of perfect matchings; raises an error if the sum does not fit into a float8';

CREATE FUNCTION disclosure_lab.ln_permanent(matrix float8[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'ln_permanent_wrapper';
COMMENT ON FUNCTION disclosure_lab.ln_permanent(float8[]) IS
  'returns the natural logarithm of the permanent, which may be too large or too small for a float8; -Infinity if there is no perfect matching';

CREATE FUNCTION disclosure_lab.degree_of_anonymity(matrix float8[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'degree_of_anonymity_wrapper';
COMMENT ON FUNCTION disclosure_lab.degree_of_anonymity(float8[]) IS
  'returns the remaining uncertainty, from 0 to 1: for a 0/1 matrix, the logarithm of its permanent divided by that of n! (Edman et al. 2007); for weights, the entropy of a random matching divided by the logarithm of n! (Bagai et al. 2011); with unequal numbers of rows and columns, the number of all matchings takes the place of n!';

CREATE FUNCTION disclosure_lab.expected_cracks(matrix float8[], mapping int[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'expected_cracks_of_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.expected_cracks(float8[], int[]) IS
  'returns the exact expected number of entries that an adversary gets right; mapping has the number of every row''s true column, or NULL if it has none';

CREATE FUNCTION disclosure_lab.crack_estimate(
    matrix         float8[],
    mapping        int[],
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    normalise      boolean DEFAULT false,
    OUT expected  float8,
    OUT lower     float8,
    OUT upper     float8,
    OUT method    text,
    OUT heuristic float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 1
  AS 'MODULE_PATHNAME', 'crack_estimate_wrapper';
COMMENT ON FUNCTION disclosure_lab.crack_estimate(float8[], int[], text, float8, bigint, interval, boolean) IS
  'returns the expected number of entries that an adversary gets right, by the given method; auto is exact if the budget allows it, otherwise random matchings or belief propagation; also returns the heuristic H';

CREATE FUNCTION disclosure_lab.crack_heuristic(
    matrix    float8[],
    mapping   int[],
    normalise boolean DEFAULT false
  ) RETURNS float8
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100
  AS 'MODULE_PATHNAME', 'crack_heuristic_wrapper';
COMMENT ON FUNCTION disclosure_lab.crack_heuristic(float8[], int[], boolean) IS
  'returns the heuristic H for expected cracks: the sum of the weights of the true edges, each as a share of its row';

CREATE FUNCTION disclosure_lab.edge_probabilities(
    matrix float8[],
    method text DEFAULT 'exact',
    budget interval DEFAULT NULL
  ) RETURNS float8[]
  LANGUAGE c STABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'edge_probabilities_wrapper';
COMMENT ON FUNCTION disclosure_lab.edge_probabilities(float8[], text, interval) IS
  'returns the probability that each entry is matched with each code in a random matching: exact, by belief propagation (bethe), or by whichever of the two the budget allows (auto)';

CREATE FUNCTION disclosure_lab.flat_matrix(matrix float8[]) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'flat_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.flat_matrix(float8[]) IS
  'returns the unique doubly stochastic matrix with the same edges under which all perfect matchings are equally likely; edges that no perfect matching uses become zero';

CREATE FUNCTION disclosure_lab.normalised_matrix(matrix float8[]) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'normalised_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.normalised_matrix(float8[]) IS
  'returns the matrix with rows and columns scaled so that each sums to one (Sinkhorn and Knopp 1967); edges that no perfect matching uses become zero';

CREATE FUNCTION disclosure_lab.is_flat(matrix float8[]) RETURNS boolean
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'is_flat_wrapper';
COMMENT ON FUNCTION disclosure_lab.is_flat(float8[]) IS
  'tells whether all perfect matchings are equally likely, up to rounding';

CREATE FUNCTION disclosure_lab.matching_weight(matrix float8[], mapping int[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'matching_weight_wrapper';
COMMENT ON FUNCTION disclosure_lab.matching_weight(float8[], int[]) IS
  'returns the probability of one perfect matching: the product of its weights divided by the permanent';

CREATE FUNCTION disclosure_lab.nmape(matrix float8[], normalise boolean DEFAULT false) RETURNS float8
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'nmape_wrapper';
COMMENT ON FUNCTION disclosure_lab.nmape(float8[], boolean) IS
  'returns the mean absolute error of the heuristic H over all mappings that may be true, in percent of the number of entries';

CREATE FUNCTION disclosure_lab.random_attack(size int, seed bigint, unevenness float8 DEFAULT 1) RETURNS float8[]
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'random_attack_wrapper';
COMMENT ON FUNCTION disclosure_lab.random_attack(int, bigint, float8) IS
  'returns a random doubly stochastic matrix, the same for the same seed; the larger the unevenness, the more certain the adversary';

CREATE FUNCTION disclosure_lab.crack_distribution(
    matrix         float8[],
    mapping        int[],
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT cracks         bigint,
    OUT probability    float8,
    OUT lower          float8,
    OUT upper          float8,
    OUT at_least       float8,
    OUT at_least_lower float8,
    OUT at_least_upper float8,
    OUT method         text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 10
  AS 'MODULE_PATHNAME', 'crack_distribution_of_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.crack_distribution(float8[], int[], text, float8, bigint, interval) IS
  'returns the probability that an adversary gets exactly 0, 1, 2, … entries right, and at least so many: exact if the budget allows it, otherwise from random matchings, with a 95 % confidence interval for each probability';

CREATE FUNCTION disclosure_lab.subset_cracks(
    matrix         float8[],
    mapping        int[],
    subset         int[] DEFAULT NULL,
    size           int DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT expected float8,
    OUT lower    float8,
    OUT upper    float8,
    OUT method   text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 1
  AS 'MODULE_PATHNAME', 'subset_cracks_wrapper';
COMMENT ON FUNCTION disclosure_lab.subset_cracks(float8[], int[], int[], int, text, float8, bigint, interval) IS
  'returns the expected number of sets of entries that an adversary maps onto the set of their codes, in any order: for one set of rows (subset), or over all sets of a size';

CREATE FUNCTION disclosure.attack_report(
    relation       regclass,
    entry_column   name,
    code_column    name,
    weight_column  name DEFAULT NULL,
    truth          regclass DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    normalise      boolean DEFAULT false,
    OUT entry                 text,
    OUT code                  text,
    OUT weight                float8,
    OUT crack_probability     float8,
    OUT likeliest             text,
    OUT likeliest_probability float8,
    OUT method                text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'attack_report_wrapper';
COMMENT ON FUNCTION disclosure.attack_report(regclass, name, name, name, regclass, text, float8, bigint, interval, boolean) IS
  'reports an attack given as a table of edges, one row per entry: its true code, the weight of that edge as a share of the entry''s edges, the probability that the adversary gets it right, and the likeliest code';

CREATE FUNCTION disclosure.attack_summary(
    relation       regclass,
    entry_column   name,
    code_column    name,
    weight_column  name DEFAULT NULL,
    truth          regclass DEFAULT NULL,
    tolerance      float8 DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    normalise      boolean DEFAULT false,
    OUT entries             bigint,
    OUT codes               bigint,
    OUT edges               bigint,
    OUT possible_edges      bigint,
    OUT blocks              bigint,
    OUT ln_permanent        float8,
    OUT ln_permanent_lower  float8,
    OUT ln_permanent_upper  float8,
    OUT degree_of_anonymity float8,
    OUT expected            float8,
    OUT lower               float8,
    OUT upper               float8,
    OUT method              text,
    OUT heuristic           float8,
    OUT verdict             text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'attack_summary_wrapper';
COMMENT ON FUNCTION disclosure.attack_summary(regclass, name, name, name, regclass, float8, text, float8, bigint, interval, boolean) IS
  'summarises an attack given as a table of edges in one row: its size, its possible edges, the remaining uncertainty and, if the truth is given, the expected number of entries that the adversary gets right, with a verdict: whether that is at most the share tolerance of all entries';

CREATE FUNCTION disclosure.crack_distribution(
    relation       regclass,
    entry_column   name,
    code_column    name,
    weight_column  name DEFAULT NULL,
    truth          regclass DEFAULT NULL,
    method         text DEFAULT 'auto',
    relative_error float8 DEFAULT 0.01,
    seed           bigint DEFAULT 1,
    budget         interval DEFAULT NULL,
    OUT cracks         bigint,
    OUT probability    float8,
    OUT lower          float8,
    OUT upper          float8,
    OUT at_least       float8,
    OUT at_least_lower float8,
    OUT at_least_upper float8,
    OUT method         text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 100
  AS 'MODULE_PATHNAME', 'crack_distribution_wrapper';
COMMENT ON FUNCTION disclosure.crack_distribution(regclass, name, name, name, regclass, text, float8, bigint, interval) IS
  'returns the probability that an adversary gets exactly 0, 1, 2, … entries of a table of edges right, and at least so many: exact if the budget allows it, otherwise from random matchings, with a 95 % confidence interval for each probability';

CREATE FUNCTION disclosure.network_attack(
    relation           regclass,
    from_column        name,
    to_column          name,
    probability_column name DEFAULT NULL,
    OUT entry  text,
    OUT code   text,
    OUT weight float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'network_attack_wrapper';
COMMENT ON FUNCTION disclosure.network_attack(regclass, name, name, name) IS
  'returns the probability that each entry becomes each code in a network of randomising steps without cycles, given as a table of channels: what no channel leads to is an entry, and what no channel leads away from is a code; without probability_column, all channels of a node are equally likely';
