-- risk_summary, diversity and class_diversity. The figures are those of GOLDEN-MEASURES.md.
-- Hospital (pyCANON 1.3.5).
CREATE TABLE hospital (age text, gender text, city text, disease text);
INSERT INTO hospital SELECT '[17,30[', gender, city, disease FROM (VALUES
  ('F', 'Kerala', '{Viral,Heart}'), ('F', 'TN', '{Cancer,TB}'), ('M', 'Karnataka', '{None,TB,Heart}'),
  ('M', 'Kerala', '{Cancer,Heart,Viral}'), ('M', 'TN', '{Cancer,Cancer,Cancer}')) AS h(gender, city, diseases),
  unnest(diseases::text[]) AS disease;
SELECT disclosure.label_columns('hospital', quasi => '{age,gender,city}', sensitive => '{disease}');
SELECT rows, people, classes, k, uniques, prosecutor_highest, prosecutor_average FROM disclosure.risk_summary('hospital');
SELECT l_distinct, round(l_entropy::numeric, 6) AS l_entropy, l_recursive, alpha, round(t_equal::numeric, 10) AS t_equal, t_ordered,
       round(beta::numeric, 7) AS beta, round(beta_enhanced::numeric, 13) AS beta_enhanced, round(delta::numeric, 10) AS delta
  FROM disclosure.diversity('hospital');
SELECT DISTINCT h.gender, h.city, (d).l_distinct, (d).alpha, (d).l_recursive
  FROM (SELECT h, disclosure.class_diversity(h) OVER () AS d FROM hospital h) AS h0, LATERAL (SELECT (h0.h).*) AS h ORDER BY 1, 2;

-- Salaries: ordered distance (Li et al. 2007, tables 3 and 5).
CREATE TABLE salaries (class int, other int, salary int);
INSERT INTO salaries VALUES (1, 1, 3), (1, 2, 5), (1, 3, 9), (2, 1, 6), (2, 2, 11), (2, 3, 8), (3, 2, 4), (3, 3, 7), (3, 3, 10);
SELECT round(t_ordered::numeric, 7) AS t_ordered FROM disclosure.diversity('salaries', columns => '{class}', sensitive => '{salary}');
UPDATE salaries SET class = CASE WHEN salary IN (3, 4, 5) THEN 1 WHEN salary IN (6, 11, 8) THEN 2 ELSE 3 END;
SELECT round(t_ordered::numeric, 7) AS t_ordered FROM disclosure.diversity('salaries', columns => '{class}', sensitive => '{salary}');

-- NULL as a wildcard (sdcMicro): distinct l.
CREATE TABLE occupations (n int, sex text, occ text, eth text, s int);
INSERT INTO occupations VALUES (1, 'f', NULL, 'o', 1), (2, 'f', NULL, 'o', 0), (3, 'f', NULL, 'o', 2), (4, 'm', 't', 'o', 1), (5, 'm', 't', 'o', 0),
  (6, 'f', 'n', 'maj', 0), (7, 'f', 'n', 'maj', 1);
SELECT disclosure.label_columns('occupations', quasi => '{sex,occ,eth}', sensitive => '{s}', ignore => '{n}');
SELECT n, (disclosure.class_diversity(o, nulls => 'wildcard') OVER ()).l_distinct FROM occupations o ORDER BY n;

-- A hierarchy as in ARX: the first column has the value, the others ever coarser groups.
CREATE TABLE illnesses (class int, illness text);
INSERT INTO illnesses VALUES (1, 'gastric ulcer'), (1, 'gastritis'), (1, 'stomach cancer'), (2, 'gastritis'), (2, 'flu'), (2, 'bronchitis'),
  (3, 'bronchitis'), (3, 'pneumonia'), (3, 'stomach cancer');
CREATE TABLE "illness levels" (value text, organ text, system text);
INSERT INTO "illness levels" VALUES ('gastric ulcer', 'stomach', '*'), ('gastritis', 'stomach', '*'), ('stomach cancer', 'stomach', '*'),
  ('flu', 'lung', '*'), ('bronchitis', 'lung', '*'), ('pneumonia', 'lung', '*'), ('never seen', 'heart', '*');
SELECT round(t_equal::numeric, 7) AS t_equal, round(t_hierarchical::numeric, 7) AS t_hierarchical
  FROM disclosure.diversity('illnesses', columns => '{class}', sensitive => '{illness}', hierarchies => '{"illness": "\"illness levels\""}');
-- NULL and values by other types.
CREATE TABLE numbers (class int, n numeric(5, 2), c char(5), d date);
INSERT INTO numbers VALUES (1, 1.00, 'a', '2020-01-01'), (1, 2.50, NULL, '2020-02-01'), (2, NULL, 'b', NULL);
CREATE TABLE number_levels (value text, half text);
INSERT INTO number_levels VALUES ('1.00', 'low'), ('2.50', 'high');
CREATE TABLE letter_levels (value text, half text);
INSERT INTO letter_levels VALUES ('a', 'low'), ('b', 'high'), (NULL, 'high');
SELECT column_name, l_distinct, t_ordered, t_hierarchical FROM disclosure.diversity('numbers', columns => '{class}', sensitive => '{n,c,d}',
  hierarchies => '{"n": "number_levels", "c": "letter_levels"}');
SELECT column_name, l_distinct, alpha FROM disclosure.diversity('numbers', columns => '{class}', sensitive => '{n,c}', sensitive_nulls => 'unknown');

-- Population (k-map, journalist risk, δ-presence).
CREATE TABLE register (name text, age bigint, zip varchar);
INSERT INTO register VALUES ('a', 30, 'X'), ('b', 30, 'X'), ('c', 30, 'X'), ('d', 40, 'X'), ('e', 40, 'Y'), ('f', 40, 'Y'), ('g', NULL, 'Y');
CREATE TABLE sample (age int, zip text);
INSERT INTO sample VALUES (30, 'X'), (40, 'X'), (40, 'Y'), (99, 'Z');
\x on
SELECT * FROM disclosure.risk_summary('sample', columns => '{age,zip}', population => 'register');
SELECT k_map, journalist_average, not_in_population FROM disclosure.risk_summary('sample', columns => '{age,zip}', population => 'register', nulls => 'wildcard');
\x off

-- Empty tables, single rows, all NULL.
CREATE TABLE nothing (a int, s text);
SELECT rows, people, classes, k, uniques, share_below_5, prosecutor_average, marketer FROM disclosure.risk_summary('nothing', columns => '{a}');
SELECT * FROM disclosure.diversity('nothing', columns => '{a}', sensitive => '{s}');
INSERT INTO nothing VALUES (NULL, NULL);
SELECT rows, people, classes, k, uniques, share_below_5, prosecutor_average, marketer FROM disclosure.risk_summary('nothing', columns => '{a}');
SELECT column_name, l_distinct, alpha, t_equal FROM disclosure.diversity('nothing', columns => '{a}', sensitive => '{s}');
SELECT column_name, l_distinct, alpha, t_equal FROM disclosure.diversity('nothing', columns => '{a}', sensitive => '{s}', sensitive_nulls => 'unknown');
SELECT disclosure.class_diversity(n) OVER () FROM nothing n;
SELECT disclosure.class_diversity(NULL::nothing, sensitive => '{s}') OVER ();
SELECT disclosure.class_diversity(r, sensitive => '{2}') OVER () FROM (VALUES (ROW(1, 2)), (NULL)) AS t(r);

-- The label of a column says that NULL is a value.
SELECT column_name, l_distinct FROM disclosure.diversity('nothing', columns => '{a}', labels => '{"s": "sensitive nulls=value"}', sensitive_nulls => 'unknown');

-- Errors name the argument.
SELECT * FROM disclosure.risk_summary(NULL);
SELECT * FROM disclosure.risk_summary('hospital', columns => '{}');
SELECT * FROM disclosure.risk_summary('hospital', columns => '{age,NULL}');
SELECT * FROM disclosure.risk_summary('hospital', columns => '{age,age}');
SELECT * FROM disclosure.risk_summary('hospital', columns => '{agee}');
SELECT * FROM disclosure.risk_summary('hospital', population => 'register');
SELECT * FROM disclosure.risk_summary('register', columns => '{age}', population => 'hospital');
SELECT * FROM disclosure.risk_summary('hospital', by => 'person');
SELECT * FROM disclosure.risk_summary('hospital', labels => '{"age": "quasy"}');
SELECT * FROM disclosure.risk_summary('hospital', labels => '{"age": {"bins": 3}}');
SELECT * FROM disclosure.risk_summary('salaries', labels => '{"class": "weight", "other": "ignore", "salary": "ignore"}');
SELECT * FROM disclosure.diversity('salaries', columns => '{class}');
SELECT * FROM disclosure.diversity('hospital', columns => '{disease}', sensitive => '{disease}');
SELECT * FROM disclosure.diversity('hospital', c => 0);
SELECT * FROM disclosure.diversity('hospital', c => 'NaN');
SELECT * FROM disclosure.diversity('hospital', c => NULL);
SELECT * FROM disclosure.diversity('hospital', hierarchies => '[]');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"age": "illnesses"}');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "no_such_table"}');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "a b"}');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": 7}');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "\"illness levels\""}');
CREATE TABLE not_nested (value text, a text, b text);
INSERT INTO not_nested SELECT DISTINCT disease, 'one', CASE disease WHEN 'TB' THEN 'x' ELSE 'y' END FROM hospital;
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "not_nested"}');
INSERT INTO not_nested VALUES ('TB', 'two', 'x');
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "not_nested"}');
CREATE TABLE no_groups (value text);
SELECT * FROM disclosure.diversity('hospital', hierarchies => '{"disease": "no_groups"}');
SELECT disclosure.class_diversity(s) OVER () FROM salaries s;
SELECT disclosure.class_diversity(s, sensitive => '{nothing}') OVER () FROM salaries s;
SELECT disclosure.class_diversity(h, sensitive => '{city}') OVER () FROM hospital h LIMIT 1;
SELECT disclosure.class_diversity('hospital');
