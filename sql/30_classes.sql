-- Equivalence classes: rows that are equal on the given columns.

CREATE FUNCTION disclosure.class_size(VARIADIC "any") RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'class_size_wrapper';
COMMENT ON FUNCTION disclosure.class_size("any") IS
  'window function: returns the number of rows in the partition that are equal to this one on the given columns, or as whole rows; with a last argument ''wildcard'', NULL equals everything';

CREATE FUNCTION disclosure_internal.k_anonymity_transition(internal, VARIADIC "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_transition(internal, "any") IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_combine(internal, internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_serialise(internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_deserialise(bytea, internal) IS 'part of the aggregate k_anonymity';

CREATE FUNCTION disclosure_internal.k_anonymity_final(internal) RETURNS bigint
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'k_anonymity_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.k_anonymity_final(internal) IS 'part of the aggregate k_anonymity';

CREATE AGGREGATE disclosure.k_anonymity(VARIADIC "any") (
  SFUNC = disclosure_internal.k_anonymity_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.k_anonymity_combine,
  SERIALFUNC = disclosure_internal.k_anonymity_serialise,
  DESERIALFUNC = disclosure_internal.k_anonymity_deserialise,
  FINALFUNC = disclosure_internal.k_anonymity_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.k_anonymity("any") IS
  'returns the size of the smallest class of rows that are equal on the given columns, or as whole rows; NULL if there are no rows; with a last argument ''wildcard'', NULL equals everything';

CREATE FUNCTION disclosure.equivalence_classes(
    relation regclass,
    columns  name[] DEFAULT NULL,
    nulls    disclosure.null_treatment DEFAULT 'value',
    buckets  bigint[] DEFAULT '{1,2,3,5,10,20}',
    examples int DEFAULT 0,
    OUT size     bigint,
    OUT up_to    bigint,
    OUT classes  bigint,
    OUT rows     bigint,
    OUT examples jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'equivalence_classes_wrapper';
COMMENT ON FUNCTION disclosure.equivalence_classes(regclass, name[], disclosure.null_treatment, bigint[], int) IS
  'counts equivalence classes and their rows by class size, from size to up_to in each row; without columns, rows are compared by the columns that are known by their labels; buckets has the smallest size of each row, NULL for each size by itself; the argument examples is the number of classes, smallest first, whose values are shown';
