-- Probabilistic attacks (Malik 2014): a matrix says how likely the attacker thinks it that each entry, a row, became
-- each code, a column. How many would he get right?

CREATE FUNCTION disclosure_lab.permanent(matrix float8[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'permanent_wrapper';
COMMENT ON FUNCTION disclosure_lab.permanent(float8[]) IS
  'the sum over all perfect matchings of the products of their weights, exactly: of a 0/1 matrix, how many there are; an error where a float8 cannot hold that';

CREATE FUNCTION disclosure_lab.degree_of_anonymity(matrix float8[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'degree_of_anonymity_wrapper';
COMMENT ON FUNCTION disclosure_lab.degree_of_anonymity(float8[]) IS
  'how much is left to guess, from 0 to 1: of a 0/1 matrix the logarithm of its permanent by that of n! (Edman et al. 2007), of weights the entropy of a random matching by that (Bagai et al. 2011)';

CREATE FUNCTION disclosure_lab.expected_cracks(matrix float8[], mapping int[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'expected_cracks_of_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.expected_cracks(float8[], int[]) IS
  'how many entries an attacker is expected to get right, exactly, where mapping has the number of every row''s true column';

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
  'how many entries an attacker is expected to get right: exact where the budget allows, else by random matchings or belief propagation, or as method says; beside it the heuristic H';

CREATE FUNCTION disclosure_lab.crack_heuristic(
    matrix    float8[],
    mapping   int[],
    normalise boolean DEFAULT false
  ) RETURNS float8
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100
  AS 'MODULE_PATHNAME', 'crack_heuristic_wrapper';
COMMENT ON FUNCTION disclosure_lab.crack_heuristic(float8[], int[], boolean) IS
  'the heuristic H for expected cracks: the sum of what the true edges weigh, each as a share of its row';

CREATE FUNCTION disclosure_lab.edge_probabilities(
    matrix float8[],
    method text DEFAULT 'exact',
    budget interval DEFAULT NULL
  ) RETURNS float8[]
  LANGUAGE c STABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'edge_probabilities_wrapper';
COMMENT ON FUNCTION disclosure_lab.edge_probabilities(float8[], text, interval) IS
  'how likely each entry goes with each code in a random matching: exact, by belief propagation where method is bethe, or by whichever the budget allows where it is auto';

CREATE FUNCTION disclosure_lab.flat_matrix(matrix float8[]) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'flat_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.flat_matrix(float8[]) IS
  'the one doubly stochastic matrix of the same edges under which all perfect matchings are equally likely; zero where an edge is in none';

CREATE FUNCTION disclosure_lab.normalised_matrix(matrix float8[]) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'normalised_matrix_wrapper';
COMMENT ON FUNCTION disclosure_lab.normalised_matrix(float8[]) IS
  'the matrix with rows and columns multiplied so that each sums to one (Sinkhorn and Knopp 1967); zero where an edge is in no perfect matching';

CREATE FUNCTION disclosure_lab.is_flat(matrix float8[]) RETURNS boolean
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'is_flat_wrapper';
COMMENT ON FUNCTION disclosure_lab.is_flat(float8[]) IS
  'whether all perfect matchings are equally likely, up to rounding';

CREATE FUNCTION disclosure_lab.matching_weight(matrix float8[], mapping int[]) RETURNS float8
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'matching_weight_wrapper';
COMMENT ON FUNCTION disclosure_lab.matching_weight(float8[], int[]) IS
  'how likely one perfect matching is: the product of its weights by the permanent';

CREATE FUNCTION disclosure_lab.nmape(matrix float8[], normalise boolean DEFAULT false) RETURNS float8
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'nmape_wrapper';
COMMENT ON FUNCTION disclosure_lab.nmape(float8[], boolean) IS
  'by how much the heuristic H is off on average over all true mappings, in percent of the number of entries';

CREATE FUNCTION disclosure_lab.random_attack(size int, seed bigint, unevenness float8 DEFAULT 1) RETURNS float8[]
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'random_attack_wrapper';
COMMENT ON FUNCTION disclosure_lab.random_attack(int, bigint, float8) IS
  'a random doubly stochastic matrix, the same for the same seed: the larger unevenness is, the more the attacker is sure of';

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
  'how many sets of entries an attacker is expected to map onto the set of their codes, in whatever order: one set of rows, or all of a size';

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
  'an attack from a table of edges, entry by entry: its true code, what that edge weighs as a share of the entry''s edges, how likely the attacker gets it right, and which code is the likeliest';

CREATE FUNCTION disclosure.attack_summary(
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
    OUT entries             bigint,
    OUT edges               bigint,
    OUT possible_edges      bigint,
    OUT blocks              bigint,
    OUT ln_permanent        float8,
    OUT degree_of_anonymity float8,
    OUT expected            float8,
    OUT lower               float8,
    OUT upper               float8,
    OUT method              text,
    OUT heuristic           float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 1
  AS 'MODULE_PATHNAME', 'attack_summary_wrapper';
COMMENT ON FUNCTION disclosure.attack_summary(regclass, name, name, name, regclass, text, float8, bigint, interval, boolean) IS
  'an attack from a table of edges in one row: its size, what is possible, how much is left to guess, and, where the truth is given, how many entries the attacker is expected to get right';
