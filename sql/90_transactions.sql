-- Set-generalised transactions: how COAT makes them (Loukides et al. 2011), how well they are protected, and which items
-- are generalised where the release does not say so. A transaction is a JSON list of items, or an array; a list within it
-- is a generalised item: ["knee", ["limbs", "injury"]].

CREATE FUNCTION disclosure.coat(
    relation       regclass,
    column_name    name,
    privacy        jsonb,
    k              int,
    id             name DEFAULT NULL,
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
    most        int DEFAULT 100,
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
    id          name DEFAULT NULL,
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
