-- The permutation paradigm (Domingo-Ferrer and Muralidhar 2015) over the rows of a query.

CREATE FUNCTION disclosure.reverse_map(original anyelement, anonymised "any", seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'reverse_map_wrapper';
COMMENT ON FUNCTION disclosure.reverse_map(anyelement, "any", bigint) IS
  'window function: the original value of the partition that has the rank of this row''s anonymised value; the anonymised column is this, plus noise that changes no rank';

CREATE FUNCTION disclosure.rank_shift(original "any", anonymised "any", seed bigint DEFAULT 1) RETURNS bigint
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_shift_wrapper';
COMMENT ON FUNCTION disclosure.rank_shift("any", "any", bigint) IS
  'window function: how many ranks this row''s value has moved in the partition by anonymisation';

CREATE FUNCTION disclosure.rank_correlation_transition(internal, "any", "any") RETURNS internal
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_transition_wrapper';
COMMENT ON FUNCTION disclosure.rank_correlation_transition(internal, "any", "any") IS
  'part of the aggregate rank_correlation';

CREATE FUNCTION disclosure.rank_correlation_final(internal) RETURNS float8
  LANGUAGE c STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_correlation_final_wrapper';
COMMENT ON FUNCTION disclosure.rank_correlation_final(internal) IS 'part of the aggregate rank_correlation';

CREATE AGGREGATE disclosure.rank_correlation(first "any", second "any") (
  SFUNC = disclosure.rank_correlation_transition,
  STYPE = internal,
  SSPACE = 65536,
  FINALFUNC = disclosure.rank_correlation_final,
  FINALFUNC_MODIFY = READ_ONLY,
  PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE disclosure.rank_correlation("any", "any") IS
  'Spearman''s rank correlation of any two columns that have an order; between an original column and its anonymised form, the higher the more risk';

-- Reference maskers, to compare others with.

CREATE FUNCTION disclosure.rank_swap(value anyelement, p float8, seed bigint DEFAULT 1) RETURNS anyelement
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'rank_swap_wrapper';
COMMENT ON FUNCTION disclosure.rank_swap(anyelement, float8, bigint) IS
  'window function: rank swapping, i.e. values of the partition change places with others that are at most p percent of its rows away by rank';

CREATE FUNCTION disclosure.add_noise(value float8, share float8, seed bigint DEFAULT 1) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'add_noise_wrapper';
COMMENT ON FUNCTION disclosure.add_noise(float8, float8, bigint) IS
  'window function: the value plus normally distributed noise, whose standard deviation is this share of that of the partition''s values';

CREATE FUNCTION disclosure.microaggregate(value float8, k int) RETURNS float8
  LANGUAGE c WINDOW STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'microaggregate_wrapper';
COMMENT ON FUNCTION disclosure.microaggregate(float8, int) IS
  'window function: the mean of the value''s group, where groups of at least k values are chosen such that the least is lost';
