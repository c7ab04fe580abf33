-- Labels say what a column is to an adversary. There are two ways to set them: SECURITY LABEL FOR disclosure ON COLUMN … IS
-- '…', if the library is loaded, and label_column(…) and label_columns(…), which always work.

CREATE FUNCTION disclosure_internal.label_weights(label text) RETURNS float8[]
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'label_weights_wrapper';
COMMENT ON FUNCTION disclosure_internal.label_weights(text) IS
  'returns the likelihood and the danger that a label stands for; NULL if columns with the label take no part in measures';

CREATE FUNCTION disclosure_internal.canonical_label(label text) RETURNS text
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'canonical_label_wrapper';
COMMENT ON FUNCTION disclosure_internal.canonical_label(text) IS
  'returns the canonical spelling of a label';

CREATE TABLE disclosure_internal.column_label (
  relation      disclosure_internal.relation_reference NOT NULL,
  relation_name text,
  attribute     name NOT NULL,
  attnum        int2 NOT NULL,
  label         text NOT NULL,
  problem       text
);
COMMENT ON TABLE disclosure_internal.column_label IS
  'labels set by disclosure.label_column() and its kin; a table so that pg_dump dumps it; read disclosure.labels instead';
COMMENT ON COLUMN disclosure_internal.column_label.relation_name IS
  'name of the relation when the row was last written';
COMMENT ON COLUMN disclosure_internal.column_label.attnum IS
  'number of the column; looked up by name at every insert, because a restored table may number its columns differently';
COMMENT ON COLUMN disclosure_internal.column_label.problem IS
  'reason why the label has no effect: a restore brought a label that is unknown, or one for a column that does not exist';
CREATE UNIQUE INDEX column_label_column ON disclosure_internal.column_label (relation, attnum) WHERE problem IS NULL;
COMMENT ON INDEX disclosure_internal.column_label_column IS 'one label per column';
SELECT pg_catalog.pg_extension_config_dump('disclosure_internal.column_label', '');
GRANT SELECT ON disclosure_internal.column_label TO PUBLIC; -- only functions write it

CREATE FUNCTION disclosure_internal.check_may_label(relation oid) RETURNS void
  LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'check_may_label_wrapper';
COMMENT ON FUNCTION disclosure_internal.check_may_label(oid) IS
  'raises an error unless the caller may change the labels of a relation';

CREATE FUNCTION disclosure_internal.check_column_label() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  target oid := CASE TG_OP WHEN 'INSERT' THEN NEW.relation ELSE OLD.relation END;
BEGIN
  -- A relation that no longer exists has no owner, so anyone may remove its labels.
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = target) THEN
    PERFORM disclosure_internal.check_may_label(target);
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
  EXCEPTION WHEN invalid_parameter_value OR feature_not_supported OR undefined_column THEN
    -- A restore goes on, because an error would make COPY lose all labels.
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
      RAISE;
    END IF;
    NEW.problem := SQLERRM;
    RAISE WARNING 'a label has no effect: %', SQLERRM;
  END;
  IF TG_OP = 'INSERT' AND NEW.problem IS NULL THEN
    -- A second restore replaces labels, because a duplicate would make COPY lose all of them.
    DELETE FROM disclosure_internal.column_label l WHERE l.relation::oid = NEW.relation AND l.attnum = NEW.attnum AND l.problem IS NULL;
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_column_label() IS
  'trigger of disclosure_internal.column_label: only roles that may change the labels of a relation do so, and only to valid ones';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_column_label() FROM PUBLIC;
CREATE TRIGGER check_column_label BEFORE INSERT OR UPDATE OR DELETE ON disclosure_internal.column_label
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_column_label();
ALTER TABLE disclosure_internal.column_label ENABLE ALWAYS TRIGGER check_column_label;
COMMENT ON TRIGGER check_column_label ON disclosure_internal.column_label IS
  'only roles that may change the labels of a relation do so, and only to valid ones';

CREATE FUNCTION disclosure.label_column(relation regclass, column_name name, label text) RETURNS void
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'label_column_wrapper';
COMMENT ON FUNCTION disclosure.label_column(regclass, name, text) IS
  'labels a column: quasi, sensitive, sensitive nulls=value, identifier, person, household, weight, ignore, likelihood=… danger=…, or sensitive danger={"…": …, "*": …}; NULL removes the label';

CREATE FUNCTION disclosure.label_columns(
    relation   regclass,
    quasi      name[] DEFAULT NULL,
    sensitive  name[] DEFAULT NULL,
    identifier name[] DEFAULT NULL,
    person     name[] DEFAULT NULL,
    household  name[] DEFAULT NULL,
    ignore     name[] DEFAULT NULL,
    weight     name[] DEFAULT NULL
  ) RETURNS int
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'label_columns_wrapper';
COMMENT ON FUNCTION disclosure.label_columns(regclass, name[], name[], name[], name[], name[], name[], name[]) IS
  'labels several columns, all or none, and returns how many';

CREATE FUNCTION disclosure.copy_labels(source regclass, target regclass) RETURNS int
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'copy_labels_wrapper';
COMMENT ON FUNCTION disclosure.copy_labels(regclass, regclass) IS
  'gives the columns of target the labels that columns of the same name have in source, and returns how many';

CREATE VIEW disclosure.labels AS
  SELECT label.relation,
         a.attname AS column_name,
         disclosure_internal.canonical_label(label.label) AS label,
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
  'every column with a label of its own; a security label takes precedence over one set by label_column';
COMMENT ON COLUMN disclosure.labels.label IS 'the label in its canonical spelling';
COMMENT ON COLUMN disclosure.labels.likelihood IS 'how likely it is that an adversary knows the value beforehand, from 0 to 1';
COMMENT ON COLUMN disclosure.labels.danger IS 'how harmful it is if an adversary infers the value, from 0 to 1; if that depends on the value, the largest danger of any';
COMMENT ON COLUMN disclosure.labels.source IS '''security label'' or ''label_column''';
GRANT SELECT ON disclosure.labels TO PUBLIC;

-- A security label follows its column through renames and is dropped with it. So are the labels in our table.
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
  'for event triggers: returns the relations that a command has altered, their descendants, and tables of an altered type';
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
COMMENT ON FUNCTION disclosure_internal.follow_drops() IS 'event trigger: labels are dropped with their columns and tables';
CREATE EVENT TRIGGER disclosure_follow_drops ON sql_drop EXECUTE FUNCTION disclosure_internal.follow_drops();
ALTER EVENT TRIGGER disclosure_follow_drops ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_follow_drops IS 'labels are dropped with their columns and tables';
