-- Views that show the risk of every row beside it.

CREATE TYPE disclosure.row_risk AS (privacy_score float8, worst_inference text);
COMMENT ON TYPE disclosure.row_risk IS
  'what disclosure.privacy_risk() says of a row: its privacy score, and the inference behind it in words; NULL if there is none';

CREATE FUNCTION disclosure.privacy_risk(
    "row"          record,
    weights        jsonb DEFAULT NULL,
    min_confidence float8 DEFAULT 1,
    constant       float8 DEFAULT 1,
    budget         interval DEFAULT NULL
  ) RETURNS disclosure.row_risk
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'privacy_risk_wrapper';
COMMENT ON FUNCTION disclosure.privacy_risk(record, jsonb, float8, float8, interval) IS
  'window function: privacy score and worst inference of this row of the partition by one search, for views';

CREATE FUNCTION disclosure.risk_view(
    relation         regclass,
    view_name        text,
    columns          name[]  DEFAULT NULL,
    weights          jsonb   DEFAULT NULL,
    security_invoker boolean DEFAULT false
  ) RETURNS regclass
  LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  -- The caller's path says where the view goes. What follows BEGIN goes by ours.
  callers_path pg_catalog.text := pg_catalog.current_setting('search_path');
  creation_schema pg_catalog.name := pg_catalog.current_schema();
  given record;
  parts pg_catalog.text[];
  view_schema pg_catalog.name;
  qualified_name pg_catalog.text;
  existing pg_catalog.regclass;
  problem pg_catalog.text;
  every_column pg_catalog.text[];
  known_columns pg_catalog.text[];
  chosen_columns pg_catalog.text[];
  considered pg_catalog.jsonb;
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

  SELECT argument INTO problem
    FROM (VALUES ('relation', risk_view.relation IS NULL), ('view_name', risk_view.view_name IS NULL),
                 ('security_invoker', risk_view.security_invoker IS NULL)) AS a(argument, is_null)
   WHERE is_null LIMIT 1;
  IF FOUND THEN
    RAISE invalid_parameter_value USING MESSAGE = format('%s: must not be NULL', problem);
  END IF;
  IF risk_view.security_invoker AND current_setting('server_version_num')::int < 150000 THEN
    RAISE feature_not_supported USING
      MESSAGE = 'security_invoker: Postgres has such views from version 15 on',
      HINT = 'Leave it out: the view then reads with the rights of its owner.';
  END IF;

  -- What it is a view of.
  SELECT c.relkind, c.relpersistence INTO given FROM pg_class c WHERE c.oid = risk_view.relation;
  IF NOT FOUND THEN
    RAISE undefined_table USING
      MESSAGE = format('relation: there is no relation with OID %s', risk_view.relation::oid);
  END IF;
  IF given.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN
    RAISE wrong_object_type USING
      MESSAGE = format('relation: "%s" has no rows to read', risk_view.relation),
      HINT = 'Give a table, view, materialized view or foreign table.';
  END IF;
  every_column := ARRAY(SELECT a.attname FROM pg_attribute a
                         WHERE a.attrelid = risk_view.relation AND a.attnum > 0 AND NOT a.attisdropped
                         ORDER BY a.attnum);
  IF cardinality(every_column) = 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = format('relation: "%s" has no columns', risk_view.relation);
  END IF;
  SELECT c INTO problem FROM unnest(every_column) c
   WHERE c IN ('privacy_score', 'class_size', 'worst_inference') LIMIT 1;
  IF FOUND THEN
    RAISE duplicate_column USING
      MESSAGE = format('relation: it has a column "%s" already', problem),
      HINT = 'Rename it, or give a view of the relation in which it has another name.';
  END IF;

  -- Which columns count.
  problem := CASE
    WHEN cardinality(risk_view.columns) = 0 THEN 'must not be empty'
    WHEN array_position(risk_view.columns, NULL) IS NOT NULL THEN 'must not contain NULL'
    ELSE (SELECT format('"%s" is given twice', c) FROM unnest(risk_view.columns) c
           GROUP BY c HAVING count(*) > 1 LIMIT 1)
  END;
  IF problem IS NOT NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('columns: %s', problem),
      HINT = 'Give an array of distinct column names, or NULL for all columns.';
  END IF;
  SELECT c INTO problem FROM unnest(risk_view.columns) c WHERE c <> ALL (every_column) LIMIT 1;
  IF FOUND THEN
    RAISE undefined_column USING
      MESSAGE = format('columns: column "%s" of relation "%s" does not exist', problem, risk_view.relation);
  END IF;

  -- What is wrong with the weights shows when they are used, be it on a row without values.
  EXECUTE format('SELECT disclosure.privacy_risk(nothing, $1) OVER () FROM (SELECT NULL::%s) AS source(nothing)',
                 risk_view.relation) USING risk_view.weights;

  -- Where the view goes.
  BEGIN
    parts := parse_ident(risk_view.view_name);
  EXCEPTION WHEN invalid_parameter_value THEN
    parts := NULL;
  END;
  IF parts IS NULL OR cardinality(parts) > 2 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'view_name: not the name of a view',
      HINT = 'Give a name, or schema.name, with double quotes around what is not in lower case.';
  END IF;
  view_schema := CASE
    WHEN cardinality(parts) = 2 THEN parts[1]
    WHEN given.relpersistence = 't' THEN 'pg_temp'
    ELSE creation_schema
  END;
  IF view_schema IS NULL THEN
    RAISE invalid_schema_name USING
      MESSAGE = 'view_name: no schema has been selected to create in',
      HINT = 'Give schema.name, or set search_path.';
  END IF;
  qualified_name := format('%I.%I', view_schema, parts[cardinality(parts)]::name);
  existing := to_regclass(qualified_name);
  IF existing IS NOT NULL THEN
    -- Replacing a view that somebody made for other reasons, say to hide something, would be a surprise.
    PERFORM FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.oid = existing AND c.relkind = 'v'
        AND a.attname IN ('privacy_score', 'class_size', 'worst_inference')
      HAVING count(*) = 3;
    IF NOT FOUND THEN
      RAISE duplicate_table USING
        MESSAGE = format('view_name: "%s" is there already, and not a risk view', existing),
        HINT = 'Give another name, or drop it first.';
    END IF;
  END IF;

  -- What tells people apart is what may be known beforehand: by the argument, else by the label, else it may.
  -- A row of the relation brings its labels along; one of chosen columns needs them as weights.
  WITH chosen AS (
    SELECT c.column_name, c.number, l.label, l.likelihood, l.danger, risk_view.weights -> c.column_name AS own
      FROM unnest(every_column) WITH ORDINALITY AS c(column_name, number)
      LEFT JOIN disclosure.labels l ON l.relation = risk_view.relation AND l.column_name = c.column_name
     WHERE risk_view.columns IS NULL OR c.column_name = ANY (risk_view.columns)
  )
  SELECT array_agg(format('t.%I', column_name) ORDER BY number),
         array_agg(format('t.%I', column_name) ORDER BY number) FILTER (WHERE CASE
           WHEN jsonb_typeof(own) = 'string' THEN (disclosure_internal.label_weights(own #>> '{}'))[1] > 0
           WHEN own ? 'likelihood' THEN own -> 'likelihood' <> '0'
           WHEN own ? 'danger' THEN coalesce(likelihood, 1) > 0
           ELSE label IS NULL OR likelihood > 0
         END),
         CASE WHEN risk_view.columns IS NULL THEN risk_view.weights
         ELSE jsonb_object_agg(column_name, CASE
           WHEN jsonb_typeof(own) = 'object' AND likelihood IS NOT NULL
             THEN jsonb_build_object('likelihood', likelihood, 'danger', danger) || own
           ELSE coalesce(own, to_jsonb(label))
         END) FILTER (WHERE own IS NOT NULL OR label IS NOT NULL) END
    INTO chosen_columns, known_columns, considered
    FROM chosen;
  IF risk_view.weights IS NULL
     AND NOT EXISTS (SELECT FROM disclosure.labels l WHERE l.relation = risk_view.relation) THEN
    RAISE NOTICE 'relation % has no labels: every column counts as known and as dangerous', risk_view.relation
      USING HINT = 'Label its columns first, then make the view again.';
  END IF;

  BEGIN
    EXECUTE format(
      'CREATE OR REPLACE VIEW %s %s AS
         SELECT %s,
                (risk.privacy_score).privacy_score,
                risk.class_size,
                (risk.privacy_score).worst_inference
           FROM (SELECT %s,
                        disclosure.privacy_risk(%s, %L::jsonb) OVER () AS privacy_score,
                        %s OVER () AS class_size
                   FROM %s) AS risk',
      qualified_name,
      CASE WHEN risk_view.security_invoker THEN 'WITH (security_invoker)' END,
      (SELECT string_agg(format('risk.%I', c), ', ' ORDER BY number) FROM unnest(every_column) WITH ORDINALITY AS c(c, number)),
      (SELECT string_agg(format('t.%I', c), ', ' ORDER BY number) FROM unnest(every_column) WITH ORDINALITY AS c(c, number)),
      CASE WHEN risk_view.columns IS NULL THEN 't.*' ELSE 'judged.*' END,
      considered,
      CASE WHEN known_columns IS NULL THEN 'count(*)'
           ELSE format('disclosure.class_size(ROW(%s))', array_to_string(known_columns, ', ')) END,
      CASE WHEN risk_view.columns IS NULL THEN format('%s AS t', risk_view.relation)
           ELSE format('%s AS t, LATERAL (SELECT %s) AS judged', risk_view.relation,
                       array_to_string(chosen_columns, ', ')) END);
  EXCEPTION WHEN invalid_table_definition THEN
    IF existing IS NULL THEN
      RAISE;
    END IF;
    RAISE invalid_table_definition USING
      MESSAGE = format('view_name: the columns of relation %s are not those that view %s was made for',
                       risk_view.relation, existing),
      HINT = 'Drop the view, then make it again.';
  END;
  existing := to_regclass(qualified_name);
  PERFORM set_config('search_path', callers_path, true);
  RETURN existing;
END
$$;
COMMENT ON FUNCTION disclosure.risk_view(regclass, text, name[], jsonb, boolean) IS
  'create or replace a view of a table with the risk of each row: its columns, privacy_score, class_size, and the worst inference in words';
