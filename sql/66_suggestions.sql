-- Labels for columns that have none, and the dictionary that they are found with.

CREATE TABLE disclosure.dictionary (
  language text NOT NULL,
  term     text NOT NULL,
  matching text NOT NULL DEFAULT 'words',
  category text NOT NULL,
  label    text NOT NULL,
  owner    disclosure_internal.role_reference DEFAULT disclosure_internal.caller(),
  shipped  boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE disclosure.dictionary IS
  'terms that tell from its name or comment what a column is about; every role may add rows of its own; a role uses its own rows and those for everybody';
COMMENT ON COLUMN disclosure.dictionary.language IS 'language of the term, as an ISO 639-1 code';
COMMENT ON COLUMN disclosure.dictionary.term IS 'one or more words in lower case, separated by spaces';
COMMENT ON COLUMN disclosure.dictionary.matching IS
  'name if the term is the whole name of a column, words if its words occur in the name one after the other, part if it may also be within a word';
COMMENT ON COLUMN disclosure.dictionary.category IS 'what such a column is about';
COMMENT ON COLUMN disclosure.dictionary.label IS 'label that such a column should have';
COMMENT ON COLUMN disclosure.dictionary.owner IS 'role that added the row and alone uses it; NULL if it is for everybody';
COMMENT ON COLUMN disclosure.dictionary.shipped IS 'whether the row comes with the extension, so that nobody can change it';

CREATE INDEX dictionary_added ON disclosure.dictionary (language, term) WHERE NOT shipped; -- not unique: a duplicate would make a restore fail
COMMENT ON INDEX disclosure.dictionary_added IS 'finds the terms that were added to those of the extension';

CREATE FUNCTION disclosure_internal.shipped_terms()
  RETURNS TABLE (language text, term text, matching text, category text, label text)
  LANGUAGE c STABLE STRICT PARALLEL SAFE ROWS 2000
  AS 'MODULE_PATHNAME', 'shipped_terms_wrapper';
COMMENT ON FUNCTION disclosure_internal.shipped_terms() IS 'returns the terms that come with the extension';
INSERT INTO disclosure.dictionary (language, term, matching, category, label, owner, shipped)
SELECT t.language, t.term, t.matching, t.category, t.label, NULL, true FROM disclosure_internal.shipped_terms() AS t;

CREATE FUNCTION disclosure_internal.check_term(
    language text,
    term     text,
    matching text,
    category text,
    label    text
  ) RETURNS void
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'check_term_wrapper';
COMMENT ON FUNCTION disclosure_internal.check_term(text, text, text, text, text) IS
  'raises an error unless the dictionary can have a term with this language, matching, category and label';

CREATE FUNCTION disclosure_internal.check_dictionary() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM disclosure_internal.check_term(NEW.language, NEW.term, NEW.matching, NEW.category, NEW.label);
  IF (TG_OP = 'INSERT' OR (OLD.language, OLD.term, OLD.matching) <> (NEW.language, NEW.term, NEW.matching))
     AND EXISTS (SELECT FROM disclosure.dictionary d
                  WHERE (d.language, d.term, d.matching) = (NEW.language, NEW.term, NEW.matching) AND NOT d.shipped
                    AND d.owner::oid IS NOT DISTINCT FROM NEW.owner::oid) THEN
    RAISE unique_violation USING
      MESSAGE = 'term: the dictionary already has this term in this language, with this matching',
      HINT = 'Change that row.';
  END IF;
  RETURN NEW;
EXCEPTION WHEN invalid_parameter_value OR unique_violation THEN
  -- A restore goes on, because an error would make COPY lose all rows. What is not valid is not used.
  IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    RAISE;
  END IF;
  RAISE WARNING 'a term of the dictionary is not valid: %', SQLERRM;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_dictionary() IS
  'trigger of disclosure.dictionary: checks that a term is valid, and that its owner does not have it already';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_dictionary() FROM PUBLIC;
-- It comes after keep_own_rows, because triggers fire in the order of their names.
CREATE TRIGGER validate_term BEFORE INSERT OR UPDATE ON disclosure.dictionary
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_dictionary();
ALTER TABLE disclosure.dictionary ENABLE ALWAYS TRIGGER validate_term;
COMMENT ON TRIGGER validate_term ON disclosure.dictionary IS
  'checks that a term is valid, and that its owner does not have it already';
SELECT disclosure_internal.share_rows('disclosure.dictionary');

CREATE FUNCTION disclosure_internal.added_terms() RETURNS SETOF disclosure.dictionary
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT DISTINCT ON (d.language, d.term, d.matching) d.*
    FROM disclosure.dictionary d WHERE NOT d.shipped AND disclosure_internal.is_usable(d.owner)
   ORDER BY d.language, d.term, d.matching, d.owner IS NULL, d.category, d.label;
END;
COMMENT ON FUNCTION disclosure_internal.added_terms() IS
  'returns the terms of the caller, and those that were added for everybody, unless the caller has the same term';

CREATE FUNCTION disclosure.suggest_labels(
    relation  regclass,
    apply     boolean DEFAULT false,
    full_pass boolean DEFAULT false,
    OUT column_name   text,
    OUT label         text,
    OUT category      text,
    OUT confidence    float8,
    OUT evidence      text,
    OUT current_label text
  ) RETURNS SETOF record
  LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20
  AS 'MODULE_PATHNAME', 'suggest_labels_wrapper';
COMMENT ON FUNCTION disclosure.suggest_labels(regclass, boolean, boolean) IS
  'suggests a label for each column, from names, comments, types, keys, statistics and values; apply => true labels columns that have no label, if the confidence is at least 0.5; full_pass => true reads all rows instead of a sample';

CREATE FUNCTION disclosure.suggest_labels_in(
    schema_name name,
    apply       boolean DEFAULT false,
    full_pass   boolean DEFAULT false,
    OUT relation      regclass,
    OUT column_name   text,
    OUT label         text,
    OUT category      text,
    OUT confidence    float8,
    OUT evidence      text,
    OUT current_label text
  ) RETURNS SETOF record
  LANGUAGE c VOLATILE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'suggest_labels_in_wrapper';
COMMENT ON FUNCTION disclosure.suggest_labels_in(name, boolean, boolean) IS
  'suggests a label for each column of a schema''s tables and views that takes none from elsewhere, without reading rows; apply => true labels columns that have no label, if the confidence is at least 0.5; full_pass => true reads all rows';

CREATE FUNCTION disclosure_internal.labelled_columns(relation oid) RETURNS text[]
  LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'labelled_columns_wrapper';
COMMENT ON FUNCTION disclosure_internal.labelled_columns(oid) IS
  'returns the columns of a relation that have a label, of their own or from the columns that they come from';

CREATE VIEW disclosure.unlabelled AS
  SELECT c.oid::regclass AS relation,
         a.attname AS column_name,
         a.atttypid::regtype AS type,
         EXISTS (SELECT FROM disclosure_internal.policy p WHERE p.relation::oid = c.oid) AS protected
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   CROSS JOIN LATERAL (SELECT CASE WHEN c.relkind IN ('v', 'm')
                                     OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid)
                                   THEN disclosure_internal.labelled_columns(c.oid) END AS columns OFFSET 0) AS labelled
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND n.nspname NOT IN ('disclosure', 'disclosure_internal', 'disclosure_lab', 'information_schema')
     AND (n.nspname !~ '^pg_' OR n.oid = pg_catalog.pg_my_temp_schema())
     AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
     AND CASE WHEN labelled.columns IS NULL
              THEN NOT EXISTS (SELECT FROM disclosure.labels l WHERE l.relation = c.oid AND l.column_name = a.attname)
              ELSE a.attname::text <> ALL (labelled.columns) END;
COMMENT ON VIEW disclosure.unlabelled IS
  'columns that the caller may read and that have no label, neither of their own nor from the columns that they come from; partitions are left to their parents';
COMMENT ON COLUMN disclosure.unlabelled.protected IS 'whether the relation itself has a policy';
GRANT SELECT ON disclosure.unlabelled TO PUBLIC;
