-- Presets, and the assessment of a table by their criteria.

CREATE TABLE disclosure.presets (
  name      text NOT NULL,
  version   int NOT NULL DEFAULT 1,
  criterion text NOT NULL,
  measure   text NOT NULL,
  at_least  float8,
  at_most   float8,
  options   jsonb NOT NULL DEFAULT '{}',
  scope     text NOT NULL DEFAULT 'rows',
  source    text,
  clause    text,
  retrieved date,
  note      text,
  owner     disclosure_internal.role_reference DEFAULT disclosure_internal.caller(),
  shipped   boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE disclosure.presets IS
  'lists of criteria under a name, one row for each criterion; every role may add rows of its own; a role uses its own rows and those for everybody';
COMMENT ON COLUMN disclosure.presets.version IS 'version of the preset; the largest counts, unless a call names another, as in standard@1';
COMMENT ON COLUMN disclosure.presets.measure IS 'what is limited: the name of the output that has the figure';
COMMENT ON COLUMN disclosure.presets.options IS 'options of the measure, such as {"min_confidence": 0.9}';
COMMENT ON COLUMN disclosure.presets.scope IS 'rows, or aggregates if the criterion is about tables of counts and sums';
COMMENT ON COLUMN disclosure.presets.source IS 'document that the criterion comes from';
COMMENT ON COLUMN disclosure.presets.clause IS 'place in the document';
COMMENT ON COLUMN disclosure.presets.retrieved IS 'day on which the source was read; NULL if it was not seen';
COMMENT ON COLUMN disclosure.presets.owner IS 'role that added the row and alone uses it; NULL if it is for everybody';
COMMENT ON COLUMN disclosure.presets.shipped IS 'whether the row comes with the extension, so that nobody can change it';
CREATE INDEX presets_name ON disclosure.presets (name); -- not unique: a duplicate would make a restore fail
COMMENT ON INDEX disclosure.presets_name IS 'finds the criteria of a preset';

INSERT INTO disclosure.presets (name, criterion, measure, at_least, at_most, options, scope, source, clause, retrieved, note, owner, shipped)
SELECT p.name, p.criterion, p.measure, p.at_least, p.at_most, p.options::pg_catalog.jsonb, p.scope, p.source, p.clause,
       p.retrieved::pg_catalog.date, p.note, NULL, true
  FROM (VALUES
    ('standard', 'no identifier column', 'identifier_columns', NULL::pg_catalog.float8, 0::pg_catalog.float8, '{}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19', NULL),
    ('standard', 'no column without a label', 'unlabelled_columns', NULL, 0, '{}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19', 'is not known while there is such a column, and never fails'),
    ('standard', 'k at least 5', 'k_anonymity', 5, NULL, '{}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19', NULL),
    ('standard', 'l at least 2', 'l_distinct', 2, NULL, '{}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19', 'for every sensitive column'),
    ('standard', 'privacy score at most 0.47', 'privacy_score', NULL, 0.47, '{"min_confidence": 0.9}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19',
     'an inference with a confidence of 0.9 has a score of at least 0.9/1.9, which is more than 0.47'),
    ('standard', 'average risk of a match at most 0.2', 'prosecutor_average', NULL, 0.2, '{}', 'rows',
     'pg_disclosure', 'docs/assess.md', '2026-11-19', NULL),
    ('k3', 'k at least 3', 'k_anonymity', 3, NULL, '{}', 'rows',
     'Personal Data Protection Commission Singapore, Guide to Basic Anonymisation', 'step 4', '2026-11-19',
     'a copy of the guide was seen, which names 3 or 5 as the usual threshold'),
    ('k5', 'k at least 5', 'k_anonymity', 5, NULL, '{}', 'rows',
     'Personal Data Protection Commission Singapore, Guide to Basic Anonymisation', 'step 4', '2026-11-19',
     'a copy of the guide was seen, which names 3 or 5 as the usual threshold'),
    ('cms_11', 'no cell from 1 to 10', 'smallest_count', 11, NULL, '{}', 'aggregates',
     'Centers for Medicare & Medicaid Services, CMS Cell Size Suppression Policy', NULL, '2026-11-19',
     'nor may such a cell be derived from others; zero is allowed'),
    ('omop_5', 'no cell from 1 to 4', 'smallest_count', 5, NULL, '{}', 'aggregates',
     'omopgenerics, an R package of OHDSI', 'default of minCellCount in suppress()', '2026-11-19', NULL),
    ('sacro', 'at least 10 units in a cell', 'smallest_count', 10, NULL, '{}', 'aggregates',
     'ACRO 1.0.2', 'default of safe_threshold', '2026-11-19', NULL),
    ('sacro', 'two contributors at most 90 % of a sum', 'dominance', NULL, 0.9, '{"contributors": 2}', 'aggregates',
     'ACRO 1.0.2', 'defaults of safe_nk_n and safe_nk_k', '2026-11-19', NULL),
    ('sacro', 'p at least 10 %', 'p_percent', 0.1, NULL, '{}', 'aggregates',
     'ACRO 1.0.2', 'default of safe_pratio_p', '2026-11-19', NULL),
    ('nhs_hes', 'no cell from 1 to 7', 'smallest_count', 8, NULL, '{}', 'aggregates',
     'NHS Digital, Disclosure control methodology for Hospital Episode Statistics and Emergency Care Data Set', NULL, '2026-11-19',
     'for figures below the national level; only parts of the page were seen'),
    ('nhs_hes', 'rounded to multiples of 5', 'rounding', 5, NULL, '{}', 'aggregates',
     'NHS Digital, Disclosure control methodology for Hospital Episode Statistics and Emergency Care Data Set', NULL, '2026-11-19',
     'for figures below the national level; only parts of the page were seen'),
    ('opensafely', 'no count of 7 or fewer', 'smallest_count', 8, NULL, '{}', 'aggregates',
     'OpenSAFELY documentation, Applying statistical disclosure control', NULL, '2026-11-19', NULL),
    ('opensafely', 'rounded to multiples of 5', 'rounding', 5, NULL, '{}', 'aggregates',
     'OpenSAFELY documentation, Applying statistical disclosure control', NULL, '2026-11-19', NULL),
    ('ipc_2025_low', 'highest risk at most 0.09', 'prosecutor_highest', NULL, 0.09, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'low invasion of privacy', NULL, 'the guidelines were not seen, only summaries; 1/0.09 is more than 11, so 12 people keep to both limits'),
    ('ipc_2025_low', 'groups of at least 11', 'k_anonymity', 11, NULL, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'low invasion of privacy', NULL, 'the guidelines were not seen, only summaries'),
    ('ipc_2025_medium', 'highest risk at most 0.075', 'prosecutor_highest', NULL, 0.075, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'medium invasion of privacy', NULL, 'the guidelines were not seen, only summaries'),
    ('ipc_2025_medium', 'groups of at least 15', 'k_anonymity', 15, NULL, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'medium invasion of privacy', NULL, 'the guidelines were not seen, only summaries'),
    ('ipc_2025_high', 'highest risk at most 0.05', 'prosecutor_highest', NULL, 0.05, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'high invasion of privacy', NULL, 'the guidelines were not seen, only summaries'),
    ('ipc_2025_high', 'groups of at least 20', 'k_anonymity', 20, NULL, '{}', 'rows',
     'Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data (2025)',
     'high invasion of privacy', NULL, 'the guidelines were not seen, only summaries'),
    ('hipaa_safe_harbor', '(A) names', 'category_columns', NULL, 0, '{"categories": ["name"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(A)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(B) areas smaller than a state', 'category_columns', NULL, 0,
     '{"categories": ["geographic", "location"], "min_population": 20000}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(B)', '2026-11-19',
     'three digits of a ZIP code are allowed if more than 20,000 people live there, which needs a population'),
    ('hipaa_safe_harbor', '(C) dates other than years', 'category_columns', NULL, 0,
     '{"categories": ["date"], "years_are_allowed": true}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(C)', '2026-11-19', 'whole numbers are taken for years'),
    ('hipaa_safe_harbor', '(C) ages above 89', 'largest_value', NULL, 89, '{"column_names": ["age"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(C)', '2026-11-19', 'a single category of 90 or older is allowed'),
    ('hipaa_safe_harbor', '(D) telephone numbers', 'category_columns', NULL, 0, '{"categories": ["phone"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(D)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(E) fax numbers', 'category_columns', NULL, 0, '{"categories": ["fax"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(E)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(F) e-mail addresses', 'category_columns', NULL, 0, '{"categories": ["email"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(F)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(G) social security numbers', 'category_columns', NULL, 0, '{"categories": ["ssn"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(G)', '2026-11-19', 'and other national numbers'),
    ('hipaa_safe_harbor', '(H) medical record numbers', 'category_columns', NULL, 0, '{"categories": ["mrn"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(H)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(I) health plan beneficiary numbers', 'category_columns', NULL, 0, '{"categories": ["health_plan"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(I)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(J) account numbers', 'category_columns', NULL, 0, '{"categories": ["account"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(J)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(K) certificate and license numbers', 'category_columns', NULL, 0, '{"categories": ["licence"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(K)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(L) vehicle identifiers', 'category_columns', NULL, 0, '{"categories": ["vehicle"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(L)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(M) device identifiers', 'category_columns', NULL, 0, '{"categories": ["device"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(M)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(N) web addresses', 'category_columns', NULL, 0, '{"categories": ["url"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(N)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(O) network addresses', 'category_columns', NULL, 0, '{"categories": ["ip"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(O)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(P) biometric identifiers', 'category_columns', NULL, 0, '{"categories": ["biometric"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(P)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(Q) photographs', 'category_columns', NULL, 0, '{"categories": ["photo"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(Q)', '2026-11-19', NULL),
    ('hipaa_safe_harbor', '(R) other unique numbers and codes', 'category_columns', NULL, 0, '{"categories": ["other_id"]}', 'rows',
     '45 CFR 164.514', '(b)(2)(i)(R)', '2026-11-19', 'a code for re-identification by the sender is allowed under (c)'),
    ('wp216', 'singling out', 'uniques', NULL, NULL, '{}', 'rows',
     'Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216)', '2.2.2', NULL,
     'the opinion was not seen, only summaries; it gives no limits'),
    ('wp216', 'linkability', 'marketer', NULL, NULL, '{}', 'rows',
     'Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216)', '2.2.2', NULL,
     'the opinion was not seen, only summaries; it gives no limits'),
    ('wp216', 'inference', 'privacy_score', NULL, NULL, '{}', 'rows',
     'Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216)', '2.2.2', NULL,
     'the opinion was not seen, only summaries; it gives no limits'),
    ('ema_0070_style', 'highest risk at most 0.09', 'prosecutor_highest', NULL, 0.09, '{}', 'rows',
     'European Medicines Agency, Policy 0070', NULL, NULL, 'not verified: the source was not seen'),
    ('ema_0070_style', 'k-map at least 12', 'k_map', 12, NULL, '{}', 'rows',
     'European Medicines Agency, Policy 0070', NULL, NULL,
     'not verified: the source was not seen; 12 is the smallest number of people whose risk is at most 0.09')
  ) AS p (name, criterion, measure, at_least, at_most, options, scope, source, clause, retrieved, note);

CREATE FUNCTION disclosure_internal.check_criterion(
    measure  text,
    at_least float8,
    at_most  float8,
    options  jsonb,
    scope    text
  ) RETURNS void
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'check_criterion_wrapper';
COMMENT ON FUNCTION disclosure_internal.check_criterion(text, float8, float8, jsonb, text) IS
  'raises an error unless a preset can have a criterion with this measure, limit, options and scope';

CREATE FUNCTION disclosure_internal.check_preset() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.name !~ '^[a-z][a-z0-9_]{0,62}$' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'name: must be a short word in lower case',
      HINT = 'Use letters without accents, digits and underscores, and begin with a letter.';
  END IF;
  IF NEW.version < 1 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'version: must be 1 or more', HINT = 'Omit it to use the default.';
  END IF;
  IF NEW.criterion !~ '\S' OR length(NEW.criterion) > 200 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'criterion: must be a text of 1 to 200 characters', HINT = 'Say in a few words what is required.';
  END IF;
  PERFORM disclosure_internal.check_criterion(NEW.measure, NEW.at_least, NEW.at_most, NEW.options, NEW.scope);
  IF EXISTS (SELECT FROM disclosure.presets p WHERE p.name = NEW.name AND p.shipped) THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'name: a preset of this name comes with the extension', HINT = 'Choose another name.';
  END IF;
  IF (TG_OP = 'INSERT' OR (OLD.name, OLD.version, OLD.criterion) <> (NEW.name, NEW.version, NEW.criterion))
     AND EXISTS (SELECT FROM disclosure.presets p
                  WHERE (p.name, p.version, p.criterion) = (NEW.name, NEW.version, NEW.criterion)
                    AND p.owner::oid IS NOT DISTINCT FROM NEW.owner::oid) THEN
    RAISE unique_violation USING
      MESSAGE = 'criterion: the preset already has a criterion of this name',
      HINT = 'Change that row, or give another version.';
  END IF;
  RETURN NEW;
EXCEPTION WHEN invalid_parameter_value OR feature_not_supported OR unique_violation THEN
  -- A restore goes on, because an error would make COPY lose all rows. What is not valid is never judged as safe.
  IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    RAISE;
  END IF;
  RAISE WARNING 'a criterion of preset "%" is not valid: %', NEW.name, SQLERRM;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION disclosure_internal.check_preset() IS
  'trigger of disclosure.presets: checks that a criterion is valid, and that its name is not taken';
REVOKE EXECUTE ON FUNCTION disclosure_internal.check_preset() FROM PUBLIC;
-- It comes after keep_own_rows, because triggers fire in the order of their names.
CREATE TRIGGER validate_criterion BEFORE INSERT OR UPDATE ON disclosure.presets
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.check_preset();
ALTER TABLE disclosure.presets ENABLE ALWAYS TRIGGER validate_criterion;
COMMENT ON TRIGGER validate_criterion ON disclosure.presets IS 'checks that a criterion is valid, and that its name is not taken';
SELECT disclosure_internal.share_rows('disclosure.presets');

CREATE FUNCTION disclosure_internal.usable_presets() RETURNS SETOF disclosure.presets
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT p.* FROM disclosure.presets p
   WHERE disclosure_internal.is_usable(p.owner);
END;
COMMENT ON FUNCTION disclosure_internal.usable_presets() IS 'returns the criteria that are for everybody, and those of the caller';

CREATE FUNCTION disclosure_internal.criteria_of(name text, version int) RETURNS SETOF disclosure.presets
  LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH candidates AS (
    SELECT p.* FROM disclosure_internal.usable_presets() AS p
     WHERE p.name OPERATOR(pg_catalog.=) criteria_of.name
       AND (criteria_of.version IS NULL OR p.version OPERATOR(pg_catalog.=) criteria_of.version)),
  chosen AS (
    SELECT c.shipped, c.owner IS NULL AS is_for_everybody, c.version FROM candidates c
     ORDER BY c.shipped DESC, c.owner IS NULL, c.version DESC LIMIT 1)
  SELECT c.* FROM candidates c JOIN chosen
    ON c.shipped OPERATOR(pg_catalog.=) chosen.shipped
   AND (c.owner IS NULL) OPERATOR(pg_catalog.=) chosen.is_for_everybody
   AND c.version OPERATOR(pg_catalog.=) chosen.version;
END;
COMMENT ON FUNCTION disclosure_internal.criteria_of(text, int) IS
  'returns the criteria of a preset that the caller uses: those that come with the extension, otherwise its own, otherwise those for everybody; of the latest version, unless one is given';

CREATE FUNCTION disclosure.assess(
    relation   regclass,
    preset     text DEFAULT 'standard',
    population regclass DEFAULT NULL,
    labels     jsonb DEFAULT NULL,
    budget     interval DEFAULT NULL,
    OUT criterion text,
    OUT measure   text,
    OUT measured  float8,
    OUT at_least  float8,
    OUT at_most   float8,
    OUT verdict   text,
    OUT people    bigint,
    OUT why       text,
    OUT next_step text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'assess_wrapper';
COMMENT ON FUNCTION disclosure.assess(regclass, text, regclass, jsonb, interval) IS
  'judges a relation by the criteria of a preset, worst first: what was measured, the limit, whether that is safe, unsafe or unknown, how many people are concerned, why, and a statement that helps; columns without a label are left out of all figures';

CREATE FUNCTION disclosure.assess_summary(
    relation   regclass,
    preset     text DEFAULT 'standard',
    population regclass DEFAULT NULL,
    labels     jsonb DEFAULT NULL,
    budget     interval DEFAULT NULL,
    OUT version    int,
    OUT verdict    text,
    OUT criteria   bigint,
    OUT failed     bigint,
    OUT not_known  bigint,
    OUT not_judged bigint,
    OUT unlabelled text[],
    OUT people     bigint,
    OUT why        text,
    OUT next_step  text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1
  AS 'MODULE_PATHNAME', 'assess_summary_wrapper';
COMMENT ON FUNCTION disclosure.assess_summary(regclass, text, regclass, jsonb, interval) IS
  'returns the verdict on a relation by a preset: unsafe if any criterion fails, otherwise unknown if any is not known or a column has no label, otherwise safe; with the numbers of such criteria, and the worst finding';
