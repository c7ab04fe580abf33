-- Probabilistic attacks (Malik 2014): matrices of weights, from arrays and from tables.
\pset null '(null)'
SET extra_float_digits = -3;
-- Rows Flu, Viral Fever, Cold, Asthma, Tuberculosis; columns u v x y z. M0 is 3 4 5 1 2.
CREATE TABLE figure (name text, m float8[]);
INSERT INTO figure VALUES
  ('2.4 b', '{{0,0,1,1,1},{0,1,0,1,1},{0,1,0,0,1},{1,0,1,0,0},{1,1,0,0,0}}'),
  ('2.4 c', '{{1,1,1,1,0},{1,0,0,1,0},{1,0,0,0,1},{1,1,1,1,1},{1,1,0,0,0}}'),
  ('3.1 b', ARRAY[[0,1/6.,1/6.,1/3.,1/3.],[0,1/6.,1/6.,1/3.,1/3.],[1/3.,2/9.,2/9.,1/9.,1/9.],[1/3.,2/9.,2/9.,1/9.,1/9.],[1/3.,2/9.,2/9.,1/9.,1/9.]]),
  ('3.3 b', ARRAY[[0,0,1/3.,1/3.,1/3.],[0,0,1/3.,1/3.,1/3.],[1/3.,1/3.,1/9.,1/9.,1/9.],[1/3.,1/3.,1/9.,1/9.,1/9.],[1/3.,1/3.,1/9.,1/9.,1/9.]]),
  ('3.4 a', '{{0,0,1,1,1},{0,0,1,1,1},{1,1,1,1,1},{1,1,1,1,1},{1,1,1,1,1}}'),
  ('3.4 b', '{{0,0,.57,.4,.03},{0,0,.3,.23,.47},{.34,.29,.03,.3,.04},{.29,.52,.08,.05,.06},{.37,.19,.02,.02,.4}}'),
  ('3.5', '{{1,0,1,1,0},{0,1,0,1,0},{0,0,1,0,1},{0,1,0,1,0},{1,0,1,0,1}}');
SELECT name, disclosure_lab.permanent(m), disclosure_lab.expected_cracks(m, mapping => ARRAY[3,4,5,1,2]), disclosure_lab.degree_of_anonymity(m), disclosure_lab.is_flat(m)
  FROM figure ORDER BY name;
SELECT disclosure_lab.permanent('{{0,0,1,1,1},{0,1,0,1,1},{0,1,0,0,1},{1,0,1,0,0},{1,1,0,0,0}}');
SELECT disclosure_lab.permanent(m) * 81 AS four FROM figure WHERE name = '3.3 b';
SELECT disclosure_lab.permanent(m) * 243 AS eleven FROM figure WHERE name = '3.1 b';
-- The thesis' value for Q belongs to another mapping; H of M0, and by how much it is off over all mappings.
SELECT disclosure_lab.expected_cracks(m, '{5,1,2,3,4}') AS of_thesis, 1369 / 4355. AS fraction, disclosure_lab.crack_heuristic(m, '{3,4,5,1,2}') AS h, disclosure_lab.nmape(m)
  FROM figure WHERE name = '3.4 b';
SELECT name, e.* FROM figure, disclosure_lab.crack_estimate(m, '{3,4,5,1,2}') e ORDER BY name;
-- H takes weights as shares of their row; matchings do not mind a factor.
SELECT disclosure_lab.crack_heuristic('{{2,2},{3,1}}', '{1,2}'), disclosure_lab.crack_heuristic('{{2,2},{3,1}}', '{1,2}', normalise => true),
       disclosure_lab.expected_cracks('{{2,2},{3,1}}', mapping => '{1,2}'), disclosure_lab.expected_cracks('{{.5,.5},{.75,.25}}', mapping => '{1,2}');
-- The flat matrix of Figure 3.5, and the weight that every matching has under it.
SELECT disclosure_lab.flat_matrix(m) FROM figure WHERE name = '3.5';
SELECT (sqrt(5) - 1) / 2 AS a, (3 - sqrt(5)) / 2 AS b, sqrt(5) - 2 AS c;
SELECT disclosure_lab.is_flat(disclosure_lab.flat_matrix(m)), disclosure_lab.matching_weight(disclosure_lab.flat_matrix(m), '{1,2,5,4,3}'), disclosure_lab.matching_weight(m, '{4,2,3,1,5}') AS impossible
  FROM figure WHERE name = '3.5';
SELECT disclosure_lab.normalised_matrix('{{2,2},{3,1}}'), disclosure_lab.normalised_matrix('{{1,1},{0,1}}');
SELECT disclosure_lab.edge_probabilities(m) FROM figure WHERE name = '2.4 b';
SELECT disclosure_lab.edge_probabilities('{{1,2},{3,4}}'), disclosure_lab.edge_probabilities('{{1,2},{3,4}}', method => 'auto');
-- Sets: each alone is an entry, and all together are always cracked.
SELECT s.* FROM figure, disclosure_lab.subset_cracks(m, '{3,4,5,1,2}', size => 1) s WHERE name = '3.4 a';
SELECT s.* FROM figure, disclosure_lab.subset_cracks(m, '{3,4,5,1,2}', size => 5) s WHERE name = '3.4 a';
SELECT s.* FROM figure, disclosure_lab.subset_cracks(m, '{3,4,5,1,2}', subset => '{1,2}') s WHERE name = '3.4 a';
SELECT s.method, s.lower <= e.expected AND e.expected <= s.upper AS has_exact
  FROM figure, disclosure_lab.subset_cracks(m, '{3,4,5,1,2}', size => 2) e, disclosure_lab.subset_cracks(m, '{3,4,5,1,2}', size => 2, method => 'sample') s WHERE name = '3.4 a';
-- Random attacks: the same for the same seed, and doubly stochastic.
SELECT disclosure_lab.random_attack(3, 7) = disclosure_lab.random_attack(3, 7) AS same, disclosure_lab.random_attack(3, 7) <> disclosure_lab.random_attack(3, 8) AS other;
SELECT bool_and(abs(sum - 1) < 1e-9) FROM (SELECT sum(a[i][j]) FROM (SELECT disclosure_lab.random_attack(6, 1, unevenness => 3) a) a, generate_series(1, 6) i, generate_series(1, 6) j GROUP BY i) s;
SELECT disclosure_lab.random_attack(0, 1), disclosure_lab.random_attack(1, 1);

-- Larger than what is done on the spot: a block of twelve and eight certain entries.
SELECT disclosure_lab.permanent(m), disclosure_lab.degree_of_anonymity(m), disclosure_lab.expected_cracks(m, n)
  FROM (SELECT (SELECT array_agg(r ORDER BY i) FROM (SELECT i, array_agg((i = j OR i <= 12 AND j <= 12)::int ORDER BY j) r FROM generate_series(1, 20) i, generate_series(1, 20) j GROUP BY i) r)::float8[] m,
               ARRAY(SELECT generate_series(1, 20)) n) t;
SELECT e.method, abs(e.expected - x) < 1e-9 AS is_exact FROM (SELECT disclosure_lab.random_attack(14, 3) m, ARRAY(SELECT generate_series(1, 14)) n) t,
  disclosure_lab.crack_estimate(m, n) e, disclosure_lab.expected_cracks(m, n) x;
SELECT e.method, abs(e.expected - x) < 0.1 * x AS is_close, e.lower IS NULL OR e.lower <= e.expected AS is_below FROM (SELECT disclosure_lab.random_attack(14, 3) m, ARRAY(SELECT generate_series(1, 14)) n) t,
  unnest('{exact,bethe,sample,heuristic}'::text[]) method, disclosure_lab.crack_estimate(m, n, method) e, disclosure_lab.expected_cracks(m, n) x;

-- Of all kinds of arrays of numbers, and beside the functions of the same name.
SELECT disclosure_lab.expected_cracks(ARRAY[[0,1],[1,1]], mapping => ARRAY[2,1]) AS of_int, disclosure_lab.expected_cracks(ARRAY[[0,1],[1,1]]::bigint[], ARRAY[2,1]) AS of_bigint,
       disclosure_lab.expected_cracks(ARRAY[[.5,.5],[.5,.5]], ARRAY[2,1]) AS of_numeric, disclosure_lab.expected_cracks(ARRAY[[.5,.5],[.5,.5]]::float4[], ARRAY[2,1]) AS of_real,
       disclosure_lab.expected_cracks(ARRAY[[.5,.5],[.5,.5]]::float8[], '{2,1}') AS of_float8, disclosure_lab.expected_cracks('{{0,1},{1,1}}', mapping => ARRAY[2,1]) AS of_literal,
       disclosure_lab.expected_cracks('{{0,1},{1,1}}', ARRAY[2,1]) AS by_position, disclosure_lab.expected_cracks('{{0,1},{1,1}}', mapping => '{2,1}') AS of_literals;
SELECT disclosure_lab.permanent(ARRAY[[1,2],[3,4]]), disclosure_lab.permanent(ARRAY[[1.5,2],[3,4]]), disclosure_lab.permanent('[0:1][5:6]={{1,2},{3,4}}'::float8[]) AS other_bounds;
SELECT disclosure_lab.expected_cracks('[0:1][5:6]={{0,1},{1,1}}', mapping => '[3:4]={2,1}');
-- Values that were compressed and moved out of the row.
CREATE TABLE large AS SELECT array_agg(r ORDER BY i) AS m FROM (SELECT i, array_agg((i = j)::int::float8 ORDER BY j) r FROM generate_series(1, 200) i, generate_series(1, 200) j GROUP BY i) r;
SELECT disclosure_lab.permanent(m), disclosure_lab.expected_cracks(m, ARRAY(SELECT generate_series(1, 200))), array_dims(disclosure_lab.flat_matrix(m)) FROM large;

-- Nothing, one entry, and NULL.
SELECT disclosure_lab.permanent('{}'), disclosure_lab.degree_of_anonymity('{}'), disclosure_lab.expected_cracks('{}', mapping => '{}'), disclosure_lab.flat_matrix('{}'), disclosure_lab.is_flat('{}'),
       disclosure_lab.crack_heuristic('{}', '{}'), disclosure_lab.matching_weight('{}', '{}'), disclosure_lab.edge_probabilities('{}'), disclosure_lab.normalised_matrix('{}');
SELECT * FROM disclosure_lab.crack_estimate('{}', '{}');
SELECT disclosure_lab.permanent('{{2.5}}'), disclosure_lab.degree_of_anonymity('{{2.5}}'), disclosure_lab.expected_cracks('{{2.5}}', mapping => '{1}'), disclosure_lab.flat_matrix('{{2.5}}'), disclosure_lab.is_flat('{{2.5}}'),
       disclosure_lab.crack_heuristic('{{2.5}}', '{1}'), disclosure_lab.matching_weight('{{2.5}}', '{1}'), disclosure_lab.edge_probabilities('{{2.5}}'), disclosure_lab.nmape('{{2.5}}');
SELECT disclosure_lab.permanent(NULL), disclosure_lab.degree_of_anonymity(NULL), disclosure_lab.expected_cracks(NULL, mapping => '{1}'), disclosure_lab.expected_cracks('{{1}}', mapping => NULL), disclosure_lab.flat_matrix(NULL),
       disclosure_lab.is_flat(NULL), disclosure_lab.crack_heuristic(NULL, '{1}'), disclosure_lab.crack_heuristic('{{1}}', NULL), disclosure_lab.matching_weight('{{1}}', NULL), disclosure_lab.edge_probabilities(NULL),
       disclosure_lab.nmape(NULL), disclosure_lab.random_attack(NULL, 1), disclosure_lab.random_attack(1, NULL);
SELECT * FROM disclosure_lab.crack_estimate(NULL, '{1}');
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', NULL);
SELECT * FROM disclosure_lab.subset_cracks(NULL, '{1}', size => 1);
-- No perfect matching.
SELECT disclosure_lab.permanent('{{1,1},{0,0}}'), disclosure_lab.permanent('{{0}}');
SELECT disclosure_lab.expected_cracks('{{1,1},{0,0}}', mapping => '{1,2}');
SELECT disclosure_lab.degree_of_anonymity('{{1,1},{0,0}}');
SELECT disclosure_lab.flat_matrix('{{1,1},{0,0}}');
SELECT disclosure_lab.edge_probabilities('{{1,1},{0,0}}');

-- What is refused.
SELECT disclosure_lab.permanent('{1,2}');
SELECT disclosure_lab.permanent('{{{1}}}');
SELECT disclosure_lab.permanent('{{1,NULL},{1,1}}');
SELECT disclosure_lab.flat_matrix('{{1,2,3},{4,5,6}}');
SELECT disclosure_lab.normalised_matrix('{{1,2},{3,4},{5,6}}');
SELECT disclosure_lab.is_flat('{{1,2,3}}');
SELECT disclosure_lab.nmape('{{1,2,3}}');
SELECT disclosure_lab.crack_heuristic('{{1,2,3}}', '{1}', normalise => true);
SELECT * FROM disclosure_lab.subset_cracks('{{1,2,3}}', '{1}', size => 1);
SELECT disclosure_lab.expected_cracks('{{1,0},{1,0},{1,0}}', mapping => '{1,NULL,NULL}');
SELECT disclosure_lab.expected_cracks('{{1,0,0},{1,0,0}}', mapping => '{1,NULL}');
SELECT disclosure_lab.permanent('{{1,-1},{1,1}}');
SELECT disclosure_lab.permanent('{{1,NaN},{1,1}}');
SELECT disclosure_lab.permanent('{{1,Infinity},{1,1}}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{{1,2}}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{1}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{1,1}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{0,1}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{-2147483648,1}');
SELECT disclosure_lab.expected_cracks('{{1,1},{1,1}}', mapping => '{1,3}');
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', method => 'guess');
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', method => NULL);
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', relative_error => NULL);
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', seed => NULL);
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', normalise => NULL);
SELECT * FROM disclosure_lab.crack_estimate('{{1}}', '{1}', budget => '-1 s');
SELECT disclosure_lab.crack_heuristic('{{1}}', '{1}', NULL);
SELECT disclosure_lab.nmape('{{1}}', NULL);
SELECT disclosure_lab.random_attack(-1, 1);
SELECT disclosure_lab.random_attack(1000000, 1);
SELECT disclosure_lab.random_attack(2, 1, 'NaN');
SELECT disclosure_lab.random_attack(2, 1, NULL);
SELECT disclosure_lab.edge_probabilities('{{1}}', method => 'sample');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', subset => '{1}', size => 1);
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', subset => '{}');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', subset => '{2}');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', subset => '{1,1}');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', subset => '{NULL}');
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', size => 2);
SELECT * FROM disclosure_lab.subset_cracks('{{1}}', '{1}', size => 1, method => 'bethe');
-- Too much to ask for.
SELECT disclosure_lab.permanent(disclosure_lab.random_attack(60, 1));
SELECT * FROM disclosure_lab.crack_estimate(disclosure_lab.random_attack(60, 1), ARRAY(SELECT generate_series(1, 60)), method => 'exact', budget => '1 s');
SET disclosure.max_memory = '1MB';
SELECT disclosure_lab.permanent(array_agg(r)) FROM (SELECT array_agg(1.0::float8) r FROM generate_series(1, 500) i, generate_series(1, 500) j GROUP BY i) r;
RESET disclosure.max_memory;

-- Tables: labels of any type, in the order of their type.
CREATE TABLE attack_edges (real text, code char, p numeric);
INSERT INTO attack_edges SELECT (ARRAY['Flu', 'Viral Fever', 'Cold', 'Asthma', 'Tuberculosis'])[i], (ARRAY['u', 'v', 'x', 'y', 'z'])[j], m[i][j]::numeric
  FROM figure, generate_series(5, 1, -1) j, generate_series(1, 5) i WHERE name = '3.4 b' AND m[i][j] > 0;
CREATE TABLE true_pairs (code char, "when" date, real text);
INSERT INTO true_pairs (real, code) VALUES ('Flu', 'x'), ('Viral Fever', 'y'), ('Cold', 'z'), ('Asthma', 'u'), ('Tuberculosis', 'v');
SELECT * FROM disclosure.attack_report('attack_edges', entry_column => 'real', code_column => 'code', weight_column => 'p', truth => 'true_pairs');
SELECT * FROM disclosure.attack_summary('attack_edges', entry_column => 'real', code_column => 'code', weight_column => 'p', truth => 'true_pairs');
-- Every edge weighs one: matrix A.
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', truth => 'true_pairs');
SELECT * FROM disclosure.attack_summary('attack_edges', 'real', 'code', truth => 'true_pairs');
-- Without the truth, and with some of it.
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p');
SELECT * FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p');
CREATE VIEW some_pairs AS SELECT * FROM true_pairs WHERE real < 'E';
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'some_pairs');
SELECT entries, expected, heuristic FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p', 'some_pairs');
-- Cracks sum up to what is expected, however they are found.
SELECT asked, r.method = max(s.method) AS same_method, abs(sum(r.crack_probability) - max(s.expected)) < 1e-9 AS same FROM unnest('{auto,exact,bethe,sample,heuristic}'::text[]) asked,
  disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'true_pairs', asked) r, disclosure.attack_summary('attack_edges', 'real', 'code', 'p', 'true_pairs', method => asked) s
  GROUP BY asked, r.method ORDER BY asked;
-- Weights in any unit, and what becomes of them where rows and columns are made to sum to one.
CREATE VIEW in_percent AS SELECT real, code, (p * 100)::int AS p FROM attack_edges;
SELECT a.entry, a.weight = b.weight AS same_weight, abs(a.crack_probability - b.crack_probability) < 1e-12 AS same_probability, abs(a.weight - c.weight) < 1e-6 AS as_normalised
  FROM disclosure.attack_report('in_percent', 'real', 'code', 'p', 'true_pairs') a JOIN disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'true_pairs') b USING (entry)
  JOIN disclosure.attack_report('in_percent', 'real', 'code', 'p', 'true_pairs', normalise => true) c USING (entry);
-- Edges that no perfect matching uses, and blocks.
CREATE TABLE steps AS SELECT i AS a, j AS b FROM generate_series(1, 4) i, generate_series(1, i) j;
SELECT entries, edges, possible_edges, blocks, ln_permanent, degree_of_anonymity FROM disclosure.attack_summary('steps', 'a', 'b');
SELECT * FROM disclosure.attack_report('steps', 'a', 'b');
-- Numbers are in the order of numbers and dates in that of dates; equal is what their type says; truth in another type.
CREATE SCHEMA "Other Place";
CREATE TABLE "Other Place"."Edges!" ("the row" numeric, "select" date, dropped int, "w""" real) PARTITION BY RANGE ("select");
CREATE TABLE "Other Place".early PARTITION OF "Other Place"."Edges!" FOR VALUES FROM (MINVALUE) TO ('2000-01-01');
CREATE TABLE "Other Place".late PARTITION OF "Other Place"."Edges!" FOR VALUES FROM ('2000-01-01') TO (MAXVALUE);
ALTER TABLE "Other Place"."Edges!" DROP COLUMN dropped;
INSERT INTO "Other Place"."Edges!" VALUES (10, '2001-02-03', 1), (9.0, '2001-02-03', 2), (9.00, '1999-12-31', 1), (10.0, '1999-12-31', 0), (100, '2020-01-01', 4);
CREATE VIEW "Other Place"."The Truth" AS SELECT 9 AS "the row", date '1999-12-31' AS "select" UNION ALL SELECT 100, '2020-01-01';
SELECT * FROM disclosure.attack_report('"Other Place"."Edges!"', 'the row', 'select', 'w"', '"Other Place"."The Truth"');
SELECT * FROM disclosure.attack_summary('"Other Place"."Edges!"', 'the row', 'select', 'w"', '"Other Place"."The Truth"');
-- Labels whose type has no order, or whose equality is not that of bytes.
CREATE TABLE points AS SELECT point(i, 0) AS p, (j || ' days')::interval AS d FROM generate_series(1, 2) i, generate_series(1, 2) j;
UPDATE points SET d = '24 hours' WHERE d = '1 day' AND p ~= '(2,0)';
SELECT * FROM disclosure.attack_report('points', 'p', 'd');
-- Nothing.
CREATE TABLE nothing (LIKE attack_edges);
SELECT * FROM disclosure.attack_report('nothing', 'real', 'code', 'p');
SELECT * FROM disclosure.attack_report('nothing', 'real', 'code', 'p', 'nothing');
SELECT * FROM disclosure.attack_summary('nothing', 'real', 'code', 'p', 'nothing');
SELECT * FROM disclosure.attack_summary('nothing', 'real', 'code');
-- An edge of weight zero names what no edge has.
CREATE TABLE one_way (a text, b text, w int);
INSERT INTO one_way VALUES ('p', 'x', 1), ('q', 'y', 1), ('q', 'z', 1), ('r', 'x', 0), ('r', 'y', 2);
SELECT * FROM disclosure.attack_report('one_way', 'a', 'b', 'w');

-- What is refused, without a value of the tables.
SELECT * FROM disclosure.attack_report(NULL, 'real', 'code');
SELECT * FROM disclosure.attack_report('attack_edges', NULL, 'code');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', NULL);
SELECT * FROM disclosure.attack_report('attack_edges', 'nowhere', 'code');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'nowhere');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'nowhere');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'p', 'code');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', truth => 'figure');
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'true_pairs', method => 'guess');
SELECT * FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p', 'true_pairs', normalise => NULL);
CREATE SEQUENCE numbers;
SELECT * FROM disclosure.attack_report('numbers', 'real', 'code');
CREATE VIEW twice AS SELECT * FROM attack_edges UNION ALL SELECT * FROM attack_edges;
SELECT * FROM disclosure.attack_report('twice', 'real', 'code', 'p');
CREATE VIEW unnamed AS SELECT nullif(real, 'Flu') AS real, code, p FROM attack_edges;
SELECT * FROM disclosure.attack_report('unnamed', 'real', 'code', 'p');
CREATE VIEW weightless AS SELECT real, code, nullif(p, 0.4) AS p FROM attack_edges;
SELECT * FROM disclosure.attack_report('weightless', 'real', 'code', 'p');
CREATE VIEW negative AS SELECT real, code, -p AS p FROM attack_edges;
SELECT * FROM disclosure.attack_report('negative', 'real', 'code', 'p');
CREATE VIEW not_numbers AS SELECT real, code, 'NaN'::numeric AS p FROM attack_edges;
SELECT * FROM disclosure.attack_report('not_numbers', 'real', 'code', 'p');
CREATE VIEW fewer_codes AS SELECT * FROM attack_edges WHERE code <> 'u';
SELECT * FROM disclosure.attack_report('fewer_codes', 'real', 'code', 'p');
CREATE VIEW impossible AS SELECT i AS a, j AS b FROM generate_series(1, 3) i, generate_series(1, 3) j WHERE i = 1 OR j = 1;
SELECT * FROM disclosure.attack_report('impossible', 'a', 'b');
SELECT * FROM disclosure.attack_summary('impossible', 'a', 'b');
CREATE VIEW same_code AS SELECT real, 'x'::char AS code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'same_code');
CREATE VIEW same_entry AS SELECT 'Flu' AS real, code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'same_entry');
CREATE VIEW no_entry AS SELECT 'Cancer' AS real, code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'no_entry');
CREATE VIEW no_code AS SELECT real, 'w'::char AS code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'no_code');
CREATE VIEW null_code AS SELECT real, NULL::char AS code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'null_code');
CREATE VIEW other_type AS SELECT 1 AS real, code FROM true_pairs;
SELECT * FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'other_type');

-- Distribution of cracks: figures of the thesis, by enumeration 1 2 0 0 0 1 of 4, 0 0 2 4 0 1 of 7 and 8 13 8 6 0 1 of 36.
SELECT name, d.cracks, d.probability * disclosure_lab.permanent(m) AS matchings, d.at_least FROM figure, disclosure_lab.crack_distribution(m, '{3,4,5,1,2}') d
  WHERE name IN ('2.4 b', '2.4 c', '3.4 a') ORDER BY name, cracks;
SELECT d.* FROM figure, disclosure_lab.crack_distribution(m, '{3,4,5,1,2}') d WHERE name = '3.4 b';
SELECT name, abs(sum(d.cracks * d.probability) - e) < 1e-12 AS is_mean, abs(sum(d.probability) - 1) < 1e-12 AS is_one
  FROM figure, disclosure_lab.expected_cracks(m, '{3,4,5,1,2}') e, disclosure_lab.crack_distribution(m, '{3,4,5,1,2}') d GROUP BY name, e ORDER BY name;
SELECT * FROM disclosure.crack_distribution('attack_edges', entry_column => 'real', code_column => 'code', weight_column => 'p', truth => 'true_pairs');
SELECT d.cracks, d.probability, e.probability BETWEEN d.lower AND d.upper AND e.at_least BETWEEN d.at_least_lower AND d.at_least_upper AS holds, d.upper > d.lower AS has_interval, d.method
  FROM disclosure.crack_distribution('attack_edges', 'real', 'code', 'p', 'true_pairs', method => 'sample') d
  JOIN disclosure.crack_distribution('attack_edges', 'real', 'code', 'p', 'true_pairs') e USING (cracks);
SELECT * FROM disclosure_lab.crack_distribution('{{1,1},{1,1}}', '{1,NULL}');
SELECT * FROM disclosure_lab.crack_distribution('{}', '{}');
SELECT * FROM disclosure_lab.crack_distribution(NULL, '{}');
SELECT * FROM disclosure.crack_distribution('attack_edges', 'real', 'code', 'p', 'some_pairs');
-- A random permutation of a hundred: 1/e, and the Poisson distribution. As a sample if it is too large.
SELECT d.cracks, d.probability, d.method FROM disclosure_lab.crack_distribution(array_fill(1.0::float8, ARRAY[100,100]), ARRAY(SELECT generate_series(1, 100))) d WHERE d.cracks < 4;
SELECT count(*), max(d.method) AS method, abs(sum(d.cracks * d.probability) - 1) < 0.2 AS is_near FROM disclosure_lab.crack_distribution(disclosure_lab.random_attack(50, 1), ARRAY(SELECT generate_series(1, 50)), relative_error => 0.05) d;
SELECT * FROM disclosure_lab.crack_distribution(disclosure_lab.random_attack(50, 1), ARRAY(SELECT generate_series(1, 50)), method => 'exact', budget => '1 s');
SELECT * FROM disclosure_lab.crack_distribution('{{1}}', '{1}', method => 'bethe');
SELECT * FROM disclosure.crack_distribution('attack_edges', 'real', 'code', 'p');

-- Tolerance: a share of the entries, inclusive.
CREATE VIEW steps_truth AS SELECT 1 AS a, 1 AS b UNION ALL SELECT 2, 2;
SELECT tolerance, s.expected, s.method, s.verdict FROM (VALUES ('exact', 0.2), ('exact', 0.27), ('bethe', 0.9), ('heuristic', 0.9), ('sample', 0.2), ('sample', 0.9), ('exact', NULL)) t(asked, tolerance),
  disclosure.attack_summary('attack_edges', 'real', 'code', 'p', 'true_pairs', method => asked, tolerance => tolerance) s;
SELECT verdict FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p', tolerance => 0.5);
SELECT entries, expected, verdict FROM disclosure.attack_summary('steps', 'a', 'b', truth => 'steps_truth', tolerance => 0.5);
SELECT verdict FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p', tolerance => 1.5);
SELECT verdict FROM disclosure.attack_summary('attack_edges', 'real', 'code', 'p', tolerance => 'NaN');

-- More codes than entries, and the other way round.
CREATE TABLE sampled (person text, code int, w float8);
INSERT INTO sampled VALUES ('ann', 1, 1), ('ann', 2, 1), ('ann', 3, 1), ('bob', 1, 1), ('bob', 2, 1), ('bob', 3, 1);
CREATE TABLE sampled_truth AS SELECT 'ann' AS person, 1 AS code UNION ALL SELECT 'bob', 2;
SELECT * FROM disclosure.attack_report('sampled', 'person', 'code', 'w', 'sampled_truth');
SELECT entries, codes, edges, possible_edges, blocks, exp(ln_permanent) AS matchings, degree_of_anonymity, expected, lower, upper, method, heuristic FROM disclosure.attack_summary('sampled', 'person', 'code', 'w', 'sampled_truth');
SELECT cracks, probability, at_least FROM disclosure.crack_distribution('sampled', 'person', 'code', 'w', 'sampled_truth');
-- The same with the roles exchanged.
SELECT * FROM disclosure.attack_report('sampled', 'code', 'person', 'w', 'sampled_truth');
SELECT entries, codes, exp(ln_permanent) AS matchings, degree_of_anonymity, expected, heuristic FROM disclosure.attack_summary('sampled', 'code', 'person', 'w', 'sampled_truth');
SELECT cracks, probability, at_least FROM disclosure.crack_distribution('sampled', 'code', 'person', 'w', 'sampled_truth');
SELECT asked, abs(s.expected - 2 / 3.) < 0.02 AS is_near FROM unnest('{exact,bethe,sample,heuristic}'::text[]) asked, disclosure.attack_summary('sampled', 'code', 'person', 'w', 'sampled_truth', method => asked) s;
SELECT disclosure_lab.permanent('{{1,2,3},{4,5,6}}'), disclosure_lab.permanent('{{1,4},{2,5},{3,6}}'), disclosure_lab.ln_permanent('{{1,2,3}}') = ln(6::float8) AS of_one_row,
       disclosure_lab.expected_cracks('{{1,2,3},{4,5,6}}', '{1,2}'), disclosure_lab.expected_cracks('{{1,4},{2,5},{3,6}}', '{1,2,NULL}');
SELECT disclosure_lab.edge_probabilities('{{1,3},{0,0},{1,1}}'), disclosure_lab.edge_probabilities('{{1,1,2}}'), disclosure_lab.matching_weight('{{1,1,2}}', '{3}');
SELECT disclosure_lab.matching_weight('{{1},{2}}', '{NULL,NULL}');
SELECT * FROM disclosure_lab.crack_distribution('{{1,1,1},{1,1,1}}', '{1,2}');
SELECT * FROM disclosure.attack_summary('sampled', 'person', 'code', normalise => true);

-- The logarithm where the permanent itself does not fit.
SELECT disclosure_lab.ln_permanent('{{1e-300,1e-300},{1e-300,1e-300}}'), disclosure_lab.ln_permanent('{{1e300,1e300},{1e300,1e300}}'), disclosure_lab.ln_permanent('{{1,1},{0,0}}'), disclosure_lab.ln_permanent('{}'), disclosure_lab.ln_permanent(NULL);
SELECT disclosure_lab.permanent('{{1e300,1e300},{1e300,1e300}}');
SELECT disclosure_lab.ln_permanent(disclosure_lab.random_attack(60, 1));
CREATE TABLE too_many AS SELECT i, j, 1 + (i * 7 + j * 11) % 13 AS w FROM generate_series(1, 40) i, generate_series(1, 40) j;
SELECT ln_permanent, ln_permanent_lower < ln_permanent_upper AS are_bounds, ln_permanent_upper - ln_permanent_lower < 20 AS are_near, method FROM disclosure.attack_summary('too_many', 'i', 'j', 'w', method => 'bethe');

-- Marginals of any distribution over matchings: all three right, or none, with the same probability.
CREATE TABLE marginals (a int, b int, p float8);
INSERT INTO marginals VALUES (1, 1, .5), (2, 2, .5), (3, 3, .5), (1, 2, .5), (2, 3, .5), (3, 1, .5);
CREATE VIEW diagonal AS SELECT DISTINCT a, a AS b FROM marginals;
SELECT * FROM disclosure.attack_summary('marginals', 'a', 'b', 'p', 'diagonal', method => 'marginals', tolerance => 0.5);
SELECT * FROM disclosure.attack_report('marginals', 'a', 'b', 'p', 'diagonal', method => 'marginals');
SELECT * FROM disclosure_lab.crack_estimate('{{.5,.5,0},{0,.5,.5},{.5,0,.5}}', '{1,2,3}', method => 'marginals');
SELECT * FROM disclosure.attack_summary('marginals', 'a', 'b', truth => 'diagonal', method => 'marginals');
SELECT * FROM disclosure.attack_summary('marginals', 'a', 'b', 'p', method => 'marginals', normalise => true);
SELECT * FROM disclosure_lab.crack_estimate('{{1,1},{0,0}}', '{1,2}', method => 'marginals');
SELECT * FROM disclosure.crack_distribution('marginals', 'a', 'b', 'p', 'diagonal', method => 'marginals');

-- A network of randomising steps: Fig. 3.1 of the thesis.
CREATE TABLE network ("from" text, "to" varchar, p numeric);
INSERT INTO network ("from", "to") VALUES ('Flu', 'step 1'), ('Viral Fever', 'step 1'), ('Cold', 'step 2'), ('Asthma', 'step 2'), ('Tuberculosis', 'step 2'), ('step 2', 'u'), ('step 2', 'step 1'),
  ('step 2', 'step 3'), ('step 1', 'y'), ('step 1', 'z'), ('step 1', 'step 3'), ('step 3', 'v'), ('step 3', 'x');
SELECT * FROM disclosure.network_attack('network', 'from', 'to');
CREATE TABLE of_network AS SELECT * FROM disclosure.network_attack('network', 'from', 'to');
CREATE VIEW network_truth AS SELECT real AS entry, code::text FROM true_pairs;
SELECT expected, exp(ln_permanent) * 243 AS eleven FROM disclosure.attack_summary('of_network', 'entry', 'code', 'weight', 'network_truth');
UPDATE network n SET p = 1. / (SELECT count(*) FROM network m WHERE m."from" = n."from");
SELECT count(*), bool_and(abs(a.weight - b.weight) < 1e-9) AS same FROM disclosure.network_attack('network', 'from', 'to', 'p') a JOIN of_network b USING (entry, code);
SELECT * FROM disclosure.network_attack('nothing', 'real', 'code');
SELECT * FROM disclosure.network_attack(NULL, 'from', 'to');
SELECT * FROM disclosure.network_attack('network', NULL, 'to');
SELECT * FROM disclosure.network_attack('network', 'from', 'nowhere');
SELECT * FROM disclosure.network_attack('network', 'from', 'p');
SELECT * FROM disclosure.network_attack('network', 'from', 'to', 'to');
-- Nothing reaches code 4, and nothing of entry 3 arrives: both are still in the attack.
CREATE VIEW lossy AS SELECT 1 AS a, 2 AS b, 0.5 AS p UNION ALL SELECT 1, 4, 0 UNION ALL SELECT 3, 2, 0;
SELECT * FROM disclosure.network_attack('lossy', 'a', 'b', 'p');
CREATE TABLE of_lossy AS SELECT * FROM disclosure.network_attack('lossy', 'a', 'b', 'p');
SELECT * FROM disclosure.attack_summary('of_lossy', 'entry', 'code', 'weight');
CREATE VIEW around AS SELECT 1 AS a, 2 AS b, 1 AS p UNION ALL SELECT 2, 3, 1 UNION ALL SELECT 3, 1, 1;
SELECT * FROM disclosure.network_attack('around', 'a', 'b');
CREATE VIEW too_likely AS SELECT 1 AS a, 2 AS b, 0.7 AS p UNION ALL SELECT 1, 3, 0.7;
SELECT * FROM disclosure.network_attack('too_likely', 'a', 'b', 'p');
CREATE VIEW unlikely AS SELECT 1 AS a, 2 AS b, -0.1 AS p;
SELECT * FROM disclosure.network_attack('unlikely', 'a', 'b', 'p');
CREATE VIEW no_likelihood AS SELECT 1 AS a, 2 AS b, NULL::float8 AS p;
SELECT * FROM disclosure.network_attack('no_likelihood', 'a', 'b', 'p');
CREATE VIEW no_node AS SELECT 1 AS a, NULL::int AS b;
SELECT * FROM disclosure.network_attack('no_node', 'a', 'b');

-- As whoever asks may read: both tables, and of each the rows that are visible.
CREATE ROLE attack_stranger;
GRANT USAGE ON SCHEMA disclosure TO attack_stranger;
GRANT SELECT ON attack_edges TO attack_stranger;
SET ROLE attack_stranger;
SELECT count(*) FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p');
SELECT count(*) FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'true_pairs');
SELECT * FROM disclosure.attack_summary('steps', 'a', 'b');
RESET ROLE;
GRANT SELECT (real, code) ON true_pairs TO attack_stranger;
ALTER TABLE true_pairs ENABLE ROW LEVEL SECURITY;
CREATE POLICY short ON true_pairs TO attack_stranger USING (real = 'Flu');
SET ROLE attack_stranger;
SELECT entry, code, crack_probability FROM disclosure.attack_report('attack_edges', 'real', 'code', 'p', 'true_pairs') ORDER BY code;
RESET ROLE;
DROP OWNED BY attack_stranger;
DROP ROLE attack_stranger;

-- In parallel workers, and once for many small matrices.
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT name, disclosure_lab.permanent(m) FROM figure ORDER BY name;
SELECT count(*), avg(disclosure_lab.nmape(disclosure_lab.random_attack(5, seed))) BETWEEN 0 AND 10 AS is_small FROM generate_series(1, 1000) seed;

-- Small attacks start no threads, which would live as long as the session.
\c
SELECT disclosure_lab.permanent(m), disclosure_lab.nmape(m), disclosure_lab.is_flat(disclosure_lab.flat_matrix(m)), disclosure_lab.expected_cracks(m, mapping => '{3,1,2}')
  FROM disclosure_lab.random_attack(3, 1, unevenness => 0) m;
SELECT count(*) AS threads FROM pg_ls_dir('/proc/self/task');
