-- Equivalence classes: rows that are equal on the given columns.

CREATE FUNCTION disclosure.class_size(VARIADIC "any") RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'class_size_wrapper';
COMMENT ON FUNCTION disclosure.class_size("any") IS
  'window function: returns the number of rows in the partition that are equal to this one on the given columns; given a whole row of a labelled relation, compares the columns that are known by their labels, and counts people if there is a column labelled person; with a last argument ''wildcard'', NULL equals everything';

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
  'returns the number of rows in the smallest class of rows that are equal on the given columns; given a whole row of a labelled relation, compares the columns that are known by their labels, and counts people if there is a column labelled person; NULL if there are no rows; with a last argument ''wildcard'', NULL equals everything';

CREATE FUNCTION disclosure_internal.count_people_transition(internal, VARIADIC "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_transition_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_transition(internal, "any") IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_combine_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_combine(internal, internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_serialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_serialise(internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_deserialise_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_deserialise(bytea, internal) IS 'part of the aggregate count_people';

CREATE FUNCTION disclosure_internal.count_people_final(internal) RETURNS bigint
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'count_people_final_wrapper';
COMMENT ON FUNCTION disclosure_internal.count_people_final(internal) IS 'part of the aggregate count_people';

CREATE AGGREGATE disclosure.count_people(VARIADIC "any") (
  SFUNC = disclosure_internal.count_people_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure_internal.count_people_combine,
  SERIALFUNC = disclosure_internal.count_people_serialise,
  DESERIALFUNC = disclosure_internal.count_people_deserialise,
  FINALFUNC = disclosure_internal.count_people_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.count_people("any") IS
  'returns the number of distinct people: of distinct combinations of values of the given columns that are not all NULL; given a whole row of a labelled relation, counts by the columns labelled person; in contrast to count(DISTINCT …), can be called with OVER';

CREATE FUNCTION disclosure.equivalence_classes(
    relation regclass,
    columns  name[] DEFAULT NULL,
    nulls    disclosure.null_treatment DEFAULT 'value',
    buckets  bigint[] DEFAULT '{1,2,3,5,10,20}',
    examples int DEFAULT 0,
    unit     text DEFAULT 'person',
    by       text DEFAULT 'row',
    labels   jsonb DEFAULT NULL,
    OUT size     bigint,
    OUT up_to    bigint,
    OUT classes  bigint,
    OUT rows     bigint,
    OUT people   bigint,
    OUT examples jsonb
  ) RETURNS SETOF record
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'equivalence_classes_wrapper';
COMMENT ON FUNCTION disclosure.equivalence_classes(regclass, name[], disclosure.null_treatment, bigint[], int, text, text, jsonb) IS
  'counts equivalence classes, their rows and their people by class size, from size to up_to in each row; without columns, rows are compared by the columns that are known by their labels; buckets has the smallest size of each row, NULL for each size by itself; the argument examples is the number of classes, smallest first, whose values are shown; sizes count people if a column is labelled person, households with unit => ''household'', and rows with unit => ''row''; with by => ''person'', two people are in a class if all their rows together are equal';
