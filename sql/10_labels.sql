-- What a column is to an attacker. Two ways to say it: SECURITY LABEL FOR disclosure ON COLUMN … IS '…',
-- where the library is loaded, and label_column(…), which works everywhere.

CREATE FUNCTION disclosure_internal.label_weights(label text) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'label_weights_wrapper';
COMMENT ON FUNCTION disclosure_internal.label_weights(text) IS
  'likelihood and danger that a label stands for; NULL for identifier and ignore; an error for anything that is not a label';

CREATE TABLE disclosure_internal.column_label (
  relation      disclosure_internal.relation_reference NOT NULL,
  relation_name text,
  attribute     name NOT NULL,
  attnum        int2 NOT NULL,
  label         text NOT NULL,
  problem       text
);
COMMENT ON TABLE disclosure_internal.column_label IS
  'labels set by disclosure.label_column(); a table, so that pg_dump dumps it; read disclosure.labels instead';
COMMENT ON COLUMN disclosure_internal.column_label.relation_name IS
  'what the relation was called when the row was last written';
COMMENT ON COLUMN disclosure_internal.column_label.attnum IS
  'found again from the name at every insert, because a restored table may number its columns differently';
COMMENT ON COLUMN disclosure_internal.column_label.problem IS
  'why the label has no effect, if a restore brought one for which there is no column; the column then counts as unlabelled';
CREATE UNIQUE INDEX column_label_column ON disclosure_internal.column_label (relation, attnum) WHERE problem IS NULL;
COMMENT ON INDEX disclosure_internal.column_label_column IS 'one label per column';
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.column_label', '');
GRANT SELECT ON disclosure_internal.column_label TO PUBLIC; -- only functions write it

CREATE FUNCTION disclosure_internal.check_column_label() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  target oid := CASE TG_OP WHEN 'INSERT' THEN NEW.relation ELSE OLD.relation END;
BEGIN
  -- A relation that no longer exists has no owner: anyone may remove its labels.
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = target AND NOT pg_has_role(c.relowner, 'USAGE')) THEN
    RAISE insufficient_privilege USING MESSAGE = format('must be owner of relation %s', target::regclass);
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.relation::oid <> OLD.relation::oid THEN
    RAISE feature_not_supported USING MESSAGE = 'a label cannot move to another relation';
  END IF;
  NEW.relation_name := coalesce((SELECT format('%I.%I', n.nspname, c.relname)
                                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                                  WHERE c.oid = NEW.relation), NEW.relation_name);
  NEW.attnum := coalesce((SELECT a.attnum FROM pg_attribute a
                           WHERE a.attrelid = NEW.relation AND a.attname = NEW.attribute
                             AND a.attnum > 0 AND NOT a.attisdropped), 0);
  NEW.problem := NULL;
  BEGIN
    PERFORM disclosure_internal.label_weights(NEW.label);
    IF NEW.attnum = 0 THEN
      RAISE undefined_column USING
        MESSAGE = format('column %I of relation %s does not exist', NEW.attribute, NEW.relation_name);
    END IF;
  EXCEPTION WHEN invalid_parameter_value OR undefined_column THEN
    -- A restore goes on: without this row, COPY would lose all labels.
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
      RAISE;
    END IF;
    NEW.problem := SQLERRM;
    RAISE WARNING 'a label has no effect: %', SQLERRM;
  END;
  IF TG_OP = 'INSERT' AND NEW.problem IS NULL THEN
    -- A second restore replaces labels; a duplicate would make COPY lose all of them.
    DELETE FROM disclosure_internal.column_label l WHERE l.relation::oid = NEW.relation AND l.attnum = NEW.attnum AND l.problem IS NULL;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_column_label() IS
  'trigger of disclosure_internal.column_label: only a relation''s owner changes its labels, and only to valid ones';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_column_label() FROM PUBLIC;
CREATE TRIGGER check_column_label BEFORE INSERT OR UPDATE OR DELETE ON disclosure_internal.column_label
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_column_label();
ALTER TABLE disclosure_internal.column_label ENABLE ALWAYS TRIGGER check_column_label;
COMMENT ON TRIGGER check_column_label ON disclosure_internal.column_label IS
  'only a relation''s owner changes its labels, and only to valid ones';

CREATE FUNCTION disclosure.label_column(relation regclass, column_name name, label text) RETURNS void
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'label_column_wrapper';
COMMENT ON FUNCTION disclosure.label_column(regclass, name, text) IS
  'label a column: quasi, sensitive, identifier, ignore, or likelihood=… danger=…; NULL takes the label away';

CREATE VIEW disclosure.labels AS
  SELECT label.relation,
         a.attname AS column_name,
         label.label,
         (disclosure_internal.label_weights(label.label))[1] AS likelihood,
         (disclosure_internal.label_weights(label.label))[2] AS danger,
         label.source
    FROM (SELECT DISTINCT ON (relation, attnum) *
            FROM (SELECT s.objoid::regclass AS relation, s.objsubid AS attnum, s.label,
                         'security label' AS source, 1 AS precedence
                    FROM pg_catalog.pg_seclabel s
                   WHERE s.provider = 'disclosure' AND s.classoid = 'pg_catalog.pg_class'::regclass::oid
                     AND s.objsubid > 0
                  UNION ALL
                  SELECT l.relation::regclass, l.attnum, l.label, 'label_column', 2
                    FROM disclosure_internal.column_label l WHERE l.problem IS NULL) AS every_label
           ORDER BY relation, attnum, precedence) AS label
    JOIN pg_catalog.pg_attribute a
      ON a.attrelid = label.relation AND a.attnum = label.attnum AND NOT a.attisdropped;
COMMENT ON VIEW disclosure.labels IS
  'every labelled column with its weights; where a column has both, the security label wins';
COMMENT ON COLUMN disclosure.labels.likelihood IS 'how likely an attacker knows the value beforehand';
COMMENT ON COLUMN disclosure.labels.danger IS 'how much it hurts if he infers it';
COMMENT ON COLUMN disclosure.labels.source IS '''security label'' or ''label_column''';
GRANT SELECT ON disclosure.labels TO PUBLIC;

-- A security label follows its column through renames and goes with it; so does ours.
CREATE FUNCTION disclosure_internal.altered_relations() RETURNS TABLE (relation oid)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH RECURSIVE altered(relation) AS (
    SELECT d.objid FROM pg_event_trigger_ddl_commands() d WHERE d.classid = 'pg_class'::regclass::oid
    UNION
    SELECT c.oid FROM pg_event_trigger_ddl_commands() d JOIN pg_class t ON t.oid = d.objid AND t.relkind = 'c'
      JOIN pg_class c ON c.reloftype = t.reltype
     WHERE d.classid = 'pg_class'::regclass::oid
    UNION
    SELECT i.inhrelid FROM pg_inherits i JOIN altered a ON i.inhparent = a.relation)
  SELECT a.relation FROM altered a;
END;
COMMENT ON FUNCTION disclosure_internal.altered_relations() IS
  'for event triggers: the relations that a command has altered, with all that inherit from them or are made of a type';
REVOKE EXECUTE ON FUNCTION disclosure_internal.altered_relations() FROM PUBLIC;
CREATE FUNCTION disclosure_internal.follow_renames() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE disclosure_internal.column_label l SET attribute = a.attname
    FROM disclosure_internal.altered_relations() r, pg_attribute a
   WHERE l.relation::oid = r.relation AND a.attrelid = r.relation AND a.attnum = l.attnum AND a.attname <> l.attribute
     AND NOT a.attisdropped AND l.problem IS NULL;
END
$$;
COMMENT ON FUNCTION disclosure_internal.follow_renames() IS 'event trigger: labels follow renamed columns';
CREATE EVENT TRIGGER disclosure_follow_renames ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
  EXECUTE FUNCTION disclosure_internal.follow_renames();
ALTER EVENT TRIGGER disclosure_follow_renames ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_follow_renames IS 'labels follow renamed columns';

CREATE FUNCTION disclosure_internal.follow_drops() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  DELETE FROM disclosure_internal.column_label l
   USING pg_event_trigger_dropped_objects() d
   WHERE d.classid = 'pg_class'::regclass AND d.objid = l.relation AND d.objsubid IN (0, l.attnum) AND l.problem IS NULL;
END
$$;
COMMENT ON FUNCTION disclosure_internal.follow_drops() IS 'event trigger: labels go with their columns and tables';
CREATE EVENT TRIGGER disclosure_follow_drops ON sql_drop EXECUTE FUNCTION disclosure_internal.follow_drops();
ALTER EVENT TRIGGER disclosure_follow_drops ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_follow_drops IS 'labels go with their columns and tables';
