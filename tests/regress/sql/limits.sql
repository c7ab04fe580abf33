-- Arguments that ask for more than there is room or time for.
CREATE FUNCTION outcome(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE call;
  RETURN 'done';
EXCEPTION
  WHEN query_canceled THEN
    RETURN 'cancelled';
  WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ': ' || SQLERRM || ' ' || hint;
END $$;

CREATE TABLE visits AS SELECT i AS patient, chr(65 + j) AS diag FROM generate_series(1, 43) i, generate_series(0, 2) j WHERE i % (j + 1) = 0;
SET disclosure.max_memory = '16MB';

-- Any number of samples and of runs takes little memory, and ends when it is told to.
SELECT outcome('SELECT 1');
SET statement_timeout = '1s';
SELECT outcome($$SELECT * FROM disclosure_lab.similarity_by_sampling('visits', 'diag', samples => 2147483647)$$);
SELECT outcome($$SELECT * FROM disclosure_lab.similarity_by_sampling('visits', 'diag', fractions => array_fill(0.5::float8, ARRAY[4900]), samples => 2147483647)$$);
SELECT outcome($$SELECT * FROM disclosure.assess_itemsets('visits', 'diag', width => 'point', tolerance => 0, runs => 2147483647)$$);
SELECT outcome($$SELECT * FROM disclosure.assess_items('visits', 'diag', width => 'point', tolerance => 0, runs => 2147483647)$$);
SELECT outcome($$SELECT * FROM disclosure.assess_correlations('visits', 'diag', width => 'point', tolerance => 0, runs => 2147483647)$$);
RESET statement_timeout;

-- What has to be kept is asked for first.
SELECT outcome($$SELECT disclosure_lab.random_attack(1000, 1)$$);
CREATE TABLE baskets AS SELECT i AS id, ARRAY(SELECT generate_series(1, i)) AS items FROM generate_series(1, 40) i; -- no item is as frequent as another
SELECT outcome($$SELECT * FROM disclosure.assess_itemsets('baskets', 'items', size => 20, samples => 2147483647)$$);

-- The same answers as with fewer samples at a time: more than are drawn at once.
RESET disclosure.max_memory;
SELECT fraction, transactions, round(compliancy::numeric, 6) AS compliancy, round(mean_gap_compliancy::numeric, 6) AS mean_gap_compliancy
  FROM disclosure_lab.similarity_by_sampling('visits', 'diag', fractions => '{0.3,0.6}', samples => 3000);

-- One bound for the size of a random attack.
SELECT outcome(format('SELECT disclosure_lab.random_attack(%s, 1)', size)) FROM unnest('{-1,0,5001,10000,2147483647}'::int[]) size;
SELECT outcome($$SELECT disclosure_lab.random_attack(2, 1, unevenness => 'NaN')$$);

-- What is as large or small as a double can be, and what is more.
SELECT disclosure_lab.permanent('{{1e308}}') AS one, disclosure_lab.permanent('{{0.5,1},{1,1e308}}') AS two, disclosure_lab.permanent('{{1e154,1},{1,1e153}}') AS three,
       disclosure_lab.permanent('{{1e-200,0},{0,1e-100}}') AS small, disclosure_lab.permanent('{{0,0},{1,1}}') AS none;
SELECT outcome($$SELECT disclosure_lab.permanent('{{1e200,0},{0,1e200}}')$$);
SELECT outcome($$SELECT disclosure_lab.permanent('{{1e-200,0},{0,1e-200}}')$$);
SELECT outcome($$SELECT disclosure_lab.matching_weight('{{1e200,1},{1,1e200}}', '{2,1}')$$);
SELECT disclosure_lab.matching_weight('{{1e308,1e308},{1e308,1e308}}', '{2,1}') AS half, disclosure_lab.matching_weight('{{1,0},{1,1}}', '{2,1}') AS impossible;
SELECT disclosure_lab.crack_heuristic('{{1e308,1e308},{1e308,1e308}}', '{1,2}') AS heuristic, disclosure_lab.expected_cracks('{{1e308,1e308},{1e308,1e308}}'::float8[], '{1,2}') AS expected,
       round(disclosure_lab.degree_of_anonymity('{{1e308,1e308},{1e308,1e308}}')::numeric, 9) AS degree, disclosure_lab.edge_probabilities('{{1e308,1},{1,1e308}}') AS edges;

-- Without a budget, counting may need more room than any machine has.
CREATE TABLE holes AS SELECT nullif(i * 11 % 7 % 3, 1) AS c, nullif(i * 29 % 23 % 3, 1) AS h FROM generate_series(1, 20000) i;
SET disclosure.budget = -1;
SELECT outcome($$SELECT * FROM disclosure.expected_reidentifications('holes', 'holes', ARRAY['c', 'h'])$$);
RESET disclosure.budget;
DROP TABLE holes;
