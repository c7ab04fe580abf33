-- Cracks (Lakshmanan, Ng, Ramesh 2008): how many anonymised items can be named by who knows roughly how often
-- each occurs.

-- Not called item_summary: Postgres would take item_summary(x) of a text x for a cast.
CREATE TYPE disclosure.item_counts;
CREATE FUNCTION disclosure.item_counts_in(cstring) RETURNS disclosure.item_counts
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_in_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_in(cstring) IS 'part of the type item_counts';
CREATE FUNCTION disclosure.item_counts_out(disclosure.item_counts) RETURNS cstring
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_out_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_out(disclosure.item_counts) IS 'part of the type item_counts';
-- Of the category of regclass, so that the string in f('table', 'column') decides between the functions below.
CREATE TYPE disclosure.item_counts (
  INPUT = disclosure.item_counts_in,
  OUTPUT = disclosure.item_counts_out,
  INTERNALLENGTH = VARIABLE,
  STORAGE = extended,
  CATEGORY = 'N'
);
COMMENT ON TYPE disclosure.item_counts IS
  'how many transactions there are and how many have each item: what item_summary makes and rollup merges';

CREATE FUNCTION disclosure.item_counts_transition(internal, anyelement) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_transition_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_transition(internal, anyelement) IS
  'part of the aggregates item_summary and expected_cracks';

CREATE FUNCTION disclosure.item_counts_rollup(internal, disclosure.item_counts) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_rollup_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_rollup(internal, disclosure.item_counts) IS 'part of the aggregate rollup';

CREATE FUNCTION disclosure.item_counts_combine(internal, internal) RETURNS internal
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_combine_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_combine(internal, internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure.item_counts_serialise(internal) RETURNS bytea
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_serialise_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_serialise(internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure.item_counts_deserialise(bytea, internal) RETURNS internal
  LANGUAGE c STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_deserialise_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_deserialise(bytea, internal) IS
  'part of the aggregates item_summary, rollup and expected_cracks';

CREATE FUNCTION disclosure.item_counts_final(internal) RETURNS disclosure.item_counts
  LANGUAGE c STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'item_counts_final_wrapper';
COMMENT ON FUNCTION disclosure.item_counts_final(internal) IS 'part of the aggregates item_summary and rollup';

CREATE AGGREGATE disclosure.item_summary(items anyelement) (
  SFUNC = disclosure.item_counts_transition,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure.item_counts_combine,
  SERIALFUNC = disclosure.item_counts_serialise,
  DESERIALFUNC = disclosure.item_counts_deserialise,
  FINALFUNC = disclosure.item_counts_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.item_summary(anyelement) IS
  'how many transactions have each item: an array is the set of its elements, any other value a single item';

CREATE AGGREGATE disclosure.rollup(summary disclosure.item_counts) (
  SFUNC = disclosure.item_counts_rollup,
  STYPE = internal,
  SSPACE = 65536,
  COMBINEFUNC = disclosure.item_counts_combine,
  SERIALFUNC = disclosure.item_counts_serialise,
  DESERIALFUNC = disclosure.item_counts_deserialise,
  FINALFUNC = disclosure.item_counts_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE disclosure.rollup(disclosure.item_counts) IS
  'the summary of all transactions from the summaries of parts of them';
