-- Risk in a population of which a relation is a sample.

CREATE FUNCTION disclosure.individual_risk(
    record  record,
    columns name[] DEFAULT NULL,
    labels  jsonb DEFAULT NULL,
    nulls   disclosure.null_treatment DEFAULT 'value',
    unit    text DEFAULT 'person',
    method  text DEFAULT 'exact'
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'individual_risk_wrapper';
COMMENT ON FUNCTION disclosure.individual_risk(record, name[], jsonb, disclosure.null_treatment, text, text) IS
  'window function: returns the risk that an adversary finds the right person of the population for this row (Benedetti and Franconi), given the sampling weights in the column that is labelled as weight; without one, 1 divided by the size of the class; method ''sdcmicro'' approximates as sdcMicro does';

CREATE FUNCTION disclosure.household_risk(
    record  record,
    columns name[] DEFAULT NULL,
    labels  jsonb DEFAULT NULL,
    nulls   disclosure.null_treatment DEFAULT 'value',
    unit    text DEFAULT 'person',
    method  text DEFAULT 'exact'
  ) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'household_risk_wrapper';
COMMENT ON FUNCTION disclosure.household_risk(record, name[], jsonb, disclosure.null_treatment, text, text) IS
  'window function: returns the risk that an adversary finds at least one member of the household of this row, from their individual risks; households are identified by the columns labelled household';

CREATE FUNCTION disclosure.population_uniqueness(
    relation regclass,
    columns  name[] DEFAULT NULL,
    fraction float8 DEFAULT NULL,
    labels   jsonb DEFAULT NULL,
    unit     text DEFAULT 'person',
    OUT model          text,
    OUT uniques        float8,
    OUT share          float8,
    OUT standard_error float8,
    OUT tau1           float8,
    OUT tau2           float8,
    OUT gr1            float8,
    OUT gr2            float8,
    OUT applies        boolean,
    OUT reason         text
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 9
  AS 'MODULE_PATHNAME', 'population_uniqueness_wrapper';
COMMENT ON FUNCTION disclosure.population_uniqueness(regclass, name[], float8, jsonb, text) IS
  'estimates how many people are unique in the population of which this share (fraction) is in the relation: by the models of Pitman, Zayatz, the negative binomial and Dankar''s rule from the sizes of classes, and by log-linear models with main effects and with pairs of columns, which also give the expected number of sample uniques that are unique in the population (tau1) and of correct matches (tau2); without fraction, it follows from the sampling weights';
