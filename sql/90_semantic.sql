-- Set-generalised transactions: how COAT makes them (Loukides et al. 2011), how well they are protected, and which items
-- are generalised where the release does not say so. A transaction is a JSON list of items, or an array; a list within it
-- is a generalised item: ["knee", ["limbs", "injury"]].

CREATE FUNCTION disclosure.coat(
    relation       regclass,
    column_name    name,
    privacy        jsonb,
    k              int,
    key            name DEFAULT NULL,
    utility        jsonb DEFAULT NULL,
    max_suppressed float8 DEFAULT 0,
    seed           bigint DEFAULT 1,
    OUT transaction text,
    OUT terms       jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'coat_wrapper';
COMMENT ON FUNCTION disclosure.coat(regclass, name, jsonb, int, name, jsonb, float8, bigint) IS
  'transactions protected by COAT: items are generalised to sets, within what utility allows, until every part of every privacy constraint is in at least k transactions or in none';

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
  'what COAT would do to items: each generalised or suppressed one, how many transactions have it, how many of its members are added to them as cover, and the utility that is lost';

CREATE FUNCTION disclosure.km_anonymity(
    relation    regclass,
    column_name name,
    m           int DEFAULT 2
  ) RETURNS bigint
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'km_anonymity_wrapper';
COMMENT ON FUNCTION disclosure.km_anonymity(regclass, name, int) IS
  'the largest k for which transactions are k^m-anonymous: whoever knows up to m items of a transaction finds at least k that have them';

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
  'the smallest sets of up to m items that fewer than k transactions have, but at least one; of them at most so many';

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
  'transactions with their generalised items marked, where the release has all members as plain items: those that always occur together, or, with the rule repeated, all that occur more than once';

-- Semantic attack (Ong 2015): which members of generalised items do not fit the words around them? What words mean is
-- taken from a table: documents, counts of documents, or vectors, as the type of its column says.

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
  'how far two terms are from each other: the normalised Google distance by the documents of a table, or the cosine distance of their vectors; NULL where the table does not have a term';

CREATE FUNCTION disclosure.semantic_distances(
    corpus        regclass,
    corpus_column name,
    pairs         text[],
    scoring       jsonb DEFAULT NULL
  ) RETURNS float8[]
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'semantic_distances_wrapper';
COMMENT ON FUNCTION disclosure.semantic_distances(regclass, name, text[], jsonb) IS
  'the same for an array of pairs, ARRAY[[''knee'', ''injury''], …], by one pass over the table';

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
  'in how many documents terms occur, and pairs of them; without any term, how many documents there are. Stored in a table, it stands for the documents';

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
  'every item of some transactions: whether the corpus knows it, and in how many documents it is';

CREATE FUNCTION disclosure_lab.distance_table(
    relation      regclass,
    column_name   name,
    corpus        regclass,
    corpus_column name,
    generalised   text[],
    key           name DEFAULT NULL,
    context       int DEFAULT 2,
    scoring       jsonb DEFAULT NULL,
    OUT transaction text,
    OUT context     text[],
    OUT distances   float8[]
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'distance_table_wrapper';
COMMENT ON FUNCTION disclosure_lab.distance_table(regclass, name, regclass, name, text[], name, int, jsonb) IS
  'how far the members of a generalised item, in the order given, are from the items that stand closest to it in each transaction that has it';

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
  'which cells of a distance table an attack takes for cover; NULL or negative distances are never eliminated, nor is the last item of a row or column';

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
  'the cells of a distance table that an attack takes for cover, in the order in which it does, with the score that was above the threshold';

CREATE FUNCTION disclosure.semantic_attack(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name DEFAULT NULL,
    method          text DEFAULT 'rba',
    context         int DEFAULT 2,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
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
COMMENT ON FUNCTION disclosure.semantic_attack(regclass, name, regclass, name, name, text, int, float8, float8, text, bigint, int, jsonb) IS
  'attack every generalised item of a release: each of its members in each transaction, how far it is from the context, whether it was eliminated as cover, at which step of its generalised item, and with what confidence';

CREATE FUNCTION disclosure_lab.attack_calibration(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name DEFAULT NULL,
    original        regclass DEFAULT NULL,
    method          text DEFAULT 'rba',
    context         int DEFAULT 2,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
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
COMMENT ON FUNCTION disclosure_lab.attack_calibration(regclass, name, regclass, name, name, regclass, text, int, float8, float8, text, bigint, int, jsonb) IS
  'how far the confidence of semantic_attack can be trusted: eliminations in ten bins of rising confidence, and the share of each that is right; of items that were generalised again or, where the original is given, of those of the release';

CREATE FUNCTION disclosure.attack_quality(
    original        regclass,
    released        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    key             name,
    methods         text[] DEFAULT ARRAY['random', 'mda', 'tba', 'wba', 'gba', 'rba'],
    context         int DEFAULT 2,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    scoring         jsonb DEFAULT NULL,
    OUT method       text,
    OUT eliminations bigint,
    OUT correct      bigint,
    OUT cover        bigint,
    OUT precision_score float8,
    OUT recall_score float8,
    OUT f_score      float8,
    OUT density      float8
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 ROWS 6
  AS 'MODULE_PATHNAME', 'attack_quality_wrapper';
COMMENT ON FUNCTION disclosure.attack_quality(regclass, regclass, name, regclass, name, name, text[], int, float8, float8, text, bigint, jsonb) IS
  'how well attacks tell cover from original items, where the original transactions are known: precision, recall and F score of each method, and the density, which is the share of original items';

CREATE FUNCTION disclosure.broken_constraints(
    relation        regclass,
    column_name     name,
    corpus          regclass,
    corpus_column   name,
    privacy         jsonb,
    k               int,
    method          text DEFAULT 'rba',
    context         int DEFAULT 2,
    threshold       float8 DEFAULT NULL,
    threshold_ratio float8 DEFAULT 1,
    vulnerability   text DEFAULT 'gap',
    seed            bigint DEFAULT 1,
    scoring         jsonb DEFAULT NULL,
    OUT privacy_constraint text[],
    OUT items              text[],
    OUT support            bigint,
    OUT transactions       bigint,
    OUT held_before        boolean
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000
  AS 'MODULE_PATHNAME', 'broken_constraints_wrapper';
COMMENT ON FUNCTION disclosure.broken_constraints(regclass, name, regclass, name, jsonb, int, text, int, float8, float8, text, bigint, jsonb) IS
  'the privacy constraints that do not hold any more when an attack is over: the part of each that fewest transactions may still have, and how many transactions are found by such parts';
