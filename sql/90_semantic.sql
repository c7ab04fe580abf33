-- Transactions with generalised items: anonymisation by COAT (Loukides et al. 2011), k^m-anonymity, and generalised items
-- that were released without marks. A transaction is a JSON list of items, or an array. A list within the list is a
-- generalised item: ["knee", ["limbs", "injury"]].

CREATE TYPE disclosure.item_order AS ENUM ('shuffled', 'sorted', 'kept');
COMMENT ON TYPE disclosure.item_order IS
  'order of items in protected transactions: shuffled = drawn from a seed and the released items; sorted = by text, a generalised item by its first member; kept = as in the original, which may tell which member of a generalised item is original';

CREATE FUNCTION disclosure.coat(
    relation       regclass,
    column_name    name,
    privacy        jsonb,
    k              int,
    key            name DEFAULT NULL,
    utility        jsonb DEFAULT NULL,
    max_suppressed float8 DEFAULT 0,
    item_order     disclosure.item_order DEFAULT 'shuffled',
    seed           bigint DEFAULT 1,
    OUT transaction text,
    OUT terms       jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'coat_wrapper';
COMMENT ON FUNCTION disclosure.coat(regclass, name, jsonb, int, name, jsonb, float8, disclosure.item_order, bigint) IS
  'returns transactions anonymised by COAT: generalises items to sets, within the utility constraints, until every part of every privacy constraint is in at least k transactions or in none; shuffles the items of each transaction';

CREATE FUNCTION disclosure.coat_report(
    relation       regclass,
    column_name    name,
    privacy        jsonb,
    k              int,
    utility        jsonb DEFAULT NULL,
    max_suppressed float8 DEFAULT 0,
    seed           bigint DEFAULT 1,
    OUT items        text[],
    OUT suppressed   boolean,
    OUT support      bigint,
    OUT cover        bigint,
    OUT utility_loss float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'coat_report_wrapper';
COMMENT ON FUNCTION disclosure.coat_report(regclass, name, jsonb, int, jsonb, float8, bigint) IS
  'lists the items that COAT generalises or suppresses: how many transactions contain each, how many cover items are added, and how much utility is lost; warns of very large generalised items';

CREATE FUNCTION disclosure.km_anonymity(
    relation    regclass,
    column_name name,
    m           int DEFAULT 2
  ) RETURNS bigint
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'km_anonymity_wrapper';
COMMENT ON FUNCTION disclosure.km_anonymity(regclass, name, int) IS
  'returns the largest k for which transactions are k^m-anonymous: every set of up to m items that occurs in a transaction occurs in at least k';

CREATE FUNCTION disclosure.km_violations(
    relation    regclass,
    column_name name,
    k           int,
    m           int DEFAULT 2,
    max_rows    int DEFAULT 100,
    OUT items   jsonb,
    OUT support bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'km_violations_wrapper';
COMMENT ON FUNCTION disclosure.km_violations(regclass, name, int, int, int) IS
  'lists the smallest sets of up to m items that at least one transaction, but fewer than k, contain; at most max_rows of them';

CREATE FUNCTION disclosure.mark_generalised(
    relation    regclass,
    column_name name,
    key         name DEFAULT NULL,
    rule        text DEFAULT 'together',
    k           int DEFAULT NULL,
    utility     jsonb DEFAULT NULL,
    privacy     jsonb DEFAULT NULL,
    OUT transaction text,
    OUT terms       jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'mark_generalised_wrapper';
COMMENT ON FUNCTION disclosure.mark_generalised(regclass, name, name, text, int, jsonb, jsonb) IS
  'returns transactions that were released without marks, with the items that seem to be generalised grouped into sets: items that always occur together or, by the rule repeated, all items that occur in more than one transaction';

-- Semantic attack (Ong 2015): which members of generalised items do not fit the other items of the transaction? Distances
-- between terms come from a table of documents, counts of documents, or vectors; the type of its column decides.

CREATE FUNCTION disclosure.semantic_distance(
    corpus        regclass,
    corpus_column name,
    term          text,
    other         text,
    scoring       jsonb DEFAULT NULL
  ) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'semantic_distance_wrapper';
COMMENT ON FUNCTION disclosure.semantic_distance(regclass, name, text, text, jsonb) IS
  'returns the distance between two terms: the normalised Google distance by the documents of a table, or the cosine distance of vectors; NULL if a term is unknown';

CREATE FUNCTION disclosure.semantic_distances(
    corpus        regclass,
    corpus_column name,
    pairs         text[],
    scoring       jsonb DEFAULT NULL
  ) RETURNS float8[]
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'semantic_distances_wrapper';
COMMENT ON FUNCTION disclosure.semantic_distances(regclass, name, text[], jsonb) IS
  'returns the distance between the two terms of each pair, ARRAY[[''knee'', ''injury''], …], with one pass over the corpus';

CREATE FUNCTION disclosure.cooccurrence(
    corpus        regclass,
    corpus_column name,
    terms         text[],
    scoring       jsonb DEFAULT NULL,
    OUT term      text,
    OUT other     text,
    OUT documents bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'cooccurrence_wrapper';
COMMENT ON FUNCTION disclosure.cooccurrence(regclass, name, text[], jsonb) IS
  'counts the documents that contain each term and each pair of terms, and all documents (NULL terms); the result can be stored and used as a corpus';

CREATE FUNCTION disclosure.term_report(
    relation      regclass,
    column_name   name,
    corpus        regclass,
    corpus_column name,
    scoring       jsonb DEFAULT NULL,
    OUT term      text,
    OUT is_known  boolean,
    OUT documents bigint
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'term_report_wrapper';
COMMENT ON FUNCTION disclosure.term_report(regclass, name, regclass, name, jsonb) IS
  'lists the items of transactions, whether the corpus knows each, and how many documents contain it';

CREATE FUNCTION disclosure_lab.distance_table(
    relation      regclass,
    column_name   name,
    corpus        regclass,
    corpus_column name,
    generalised   text[],
    key           name DEFAULT NULL,
    context       int DEFAULT 2,
    combine       text DEFAULT 'mean',
    scoring       jsonb DEFAULT NULL,
    OUT transaction text,
    OUT context     text[],
    OUT distances   float8[]
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'distance_table_wrapper';
COMMENT ON FUNCTION disclosure_lab.distance_table(regclass, name, regclass, name, text[], name, int, text, jsonb) IS
  'returns the distances between the members of a generalised item, in the order given, and its context, for each transaction that contains it';

CREATE FUNCTION disclosure_lab.eliminate(
    distances       float8[],
    method          text DEFAULT 'rba',
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1
  ) RETURNS boolean[]
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'eliminate_wrapper';
COMMENT ON FUNCTION disclosure_lab.eliminate(float8[], text, float8, float8, text, bigint) IS
  'returns which cells of a distance table an attack eliminates as cover; NULL and negative distances are never eliminated, nor is the last item of a row or column';

CREATE FUNCTION disclosure_lab.elimination_steps(
    distances       float8[],
    method          text DEFAULT 'rba',
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    OUT step          int,
    OUT row_number    int,
    OUT column_number int,
    OUT score         float8,
    OUT threshold     float8
  ) RETURNS SETOF record
  LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000
  AS 'MODULE_PATHNAME', 'elimination_steps_wrapper';
COMMENT ON FUNCTION disclosure_lab.elimination_steps(float8[], text, float8, float8, text, bigint) IS
  'lists the cells of a distance table that an attack eliminates as cover, in this order, with the score that exceeded the threshold';

CREATE FUNCTION disclosure.semantic_attack(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name DEFAULT NULL,
    method          text DEFAULT 'rba',
    context         int DEFAULT NULL,
    combine         text DEFAULT NULL,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT NULL,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    calibration     int DEFAULT 200,
    scoring         jsonb DEFAULT NULL,
    OUT transaction text,
    OUT generalised text[],
    OUT item        text,
    OUT distance    float8,
    OUT eliminated  boolean,
    OUT step        int,
    OUT confidence  float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'semantic_attack_wrapper';
COMMENT ON FUNCTION disclosure.semantic_attack(regclass, name, regclass, name, name, text, int, text, float8, float8, text, bigint, int, jsonb) IS
  'attacks every generalised item: lists each member in each transaction that has a context, its distance from the context, whether it was eliminated as cover, at which step, and with what confidence';

CREATE FUNCTION disclosure_lab.attack_settings(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name DEFAULT NULL,
    method          text DEFAULT 'rba',
    context         int DEFAULT NULL,
    combine         text DEFAULT NULL,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT NULL,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    scoring         jsonb DEFAULT NULL,
    OUT context         int,
    OUT combine         text,
    OUT threshold_ratio float8,
    OUT unseen          float8,
    OUT eliminations    bigint,
    OUT correct         bigint,
    OUT cover           bigint,
    OUT precision_score float8,
    OUT recall_score    float8,
    OUT f_score         float8,
    OUT chosen          boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 120
  AS 'MODULE_PATHNAME', 'attack_settings_wrapper';
COMMENT ON FUNCTION disclosure_lab.attack_settings(regclass, name, regclass, name, name, text, int, text, float8, float8, text, bigint, jsonb) IS
  'lists the settings from which semantic_attack chooses those that are NULL, how well each does against artificial generalised items, and which one is chosen';

CREATE FUNCTION disclosure_lab.attack_calibration(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name DEFAULT NULL,
    original        regclass DEFAULT NULL,
    method          text DEFAULT 'rba',
    context         int DEFAULT NULL,
    combine         text DEFAULT NULL,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT NULL,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    calibration     int DEFAULT 200,
    scoring         jsonb DEFAULT NULL,
    OUT bin          int,
    OUT eliminations bigint,
    OUT predicted    float8,
    OUT observed     float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
  AS 'MODULE_PATHNAME', 'attack_calibration_wrapper';
COMMENT ON FUNCTION disclosure_lab.attack_calibration(regclass, name, regclass, name, name, regclass, text, int, text, float8, float8, text, bigint, int, jsonb) IS
  'compares the confidence of semantic_attack with the share of eliminations that are right, in ten bins: for artificial generalised items or, if the original is given, for the released ones';

CREATE FUNCTION disclosure.attack_quality(
    original        regclass,
    released        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name,
    methods         text[] DEFAULT ARRAY['random', 'mda', 'tba', 'wba', 'gba', 'rba', 'place'],
    contexts        int[] DEFAULT NULL,
    context         int DEFAULT NULL,
    combine         text DEFAULT NULL,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT NULL,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    density_bounds  float8[] DEFAULT NULL,
    scoring         jsonb DEFAULT NULL,
    OUT method          text,
    OUT eliminations    bigint,
    OUT correct         bigint,
    OUT cover           bigint,
    OUT precision_score float8,
    OUT recall_score    float8,
    OUT f_score         float8,
    OUT density         float8,
    OUT density_from    float8,
    OUT density_to      float8,
    OUT generalised_items bigint,
    OUT context         int,
    OUT combine         text,
    OUT threshold_ratio float8,
    OUT unseen          float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 6
  AS 'MODULE_PATHNAME', 'attack_quality_wrapper';
COMMENT ON FUNCTION disclosure.attack_quality(regclass, regclass, name, regclass, name, name, text[], int[], int, text, float8, float8, text, bigint, float8[], jsonb) IS
  'returns the precision, recall and F score of each attack method if the original is known, for each context size and by density, which is the share of original items, if wanted';

CREATE FUNCTION disclosure.broken_constraints(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    privacy         jsonb,
    k               int,
    method          text DEFAULT 'rba',
    context         int DEFAULT NULL,
    combine         text DEFAULT NULL,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT NULL,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    scoring         jsonb DEFAULT NULL,
    OUT verdict            text,
    OUT privacy_constraint text[],
    OUT items              text[],
    OUT support            bigint,
    OUT transactions       bigint,
    OUT held_before        boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'broken_constraints_wrapper';
COMMENT ON FUNCTION disclosure.broken_constraints(regclass, name, regclass, name, jsonb, int, text, int, text, float8, float8, text, bigint, jsonb) IS
  'lists the privacy constraints that do not hold after an attack (verdict unsafe), or of which the attack does not tell (unknown): the part of each that the fewest transactions may still contain, and the number of exposed transactions';
