-- Set-generalised transactions (Loukides et al. 2011; Ong 2015): COAT, k^m-anonymity, and what is not marked.
\pset null '(null)'
SET extra_float_digits = -3;
-- Figure 1.3: four visits.
CREATE TABLE visits (visit_id int PRIMARY KEY, terms jsonb);
INSERT INTO visits VALUES
  (1, '["heart disease", "blood pressure", "icd", "weakness", "dizziness"]'), (2, '["anesthesia", "icd", "pain", "diabetes"]'),
  (3, '["gangrene", "limbs", "injury"]'), (4, '["knee", "injury"]');
SELECT * FROM disclosure.coat('visits', 'terms', key => 'visit_id', privacy => '[["blood pressure"],["limbs","injury"]]', utility => NULL, k => 4, seed => 1, item_order => 'kept');
SELECT * FROM disclosure.coat_report('visits', 'terms', privacy => '[["blood pressure"],["limbs","injury"]]', k => 4);
-- By hand: what is added, and UL = (2^members - 1) / (2^12 - 1) * support / 4.
SELECT items, cover = support * cardinality(items) - originals AS same_cover, abs(utility_loss - (2 ^ cardinality(items) - 1) / (2 ^ 12 - 1) * support / 4) < 1e-12 AS same_loss
  FROM disclosure.coat_report('visits', 'terms', privacy => '[["blood pressure"],["limbs","injury"]]', k => 4) r,
  LATERAL (SELECT count(*) AS originals FROM visits, jsonb_array_elements_text(terms) item WHERE item = ANY (items)) o;
-- Figure 1.5, as the four items are one utility constraint.
CREATE TABLE released AS SELECT transaction::int AS visit_id, terms
  FROM disclosure.coat('visits', 'terms', '[["blood pressure"],["icd"],["limbs"],["injury"]]', 4, 'visit_id', '[["blood pressure","icd","limbs","injury"]]', item_order => 'kept');
SELECT * FROM released ORDER BY visit_id;
SELECT * FROM disclosure.coat_report('visits', 'terms', '[["blood pressure"],["icd"],["limbs"],["injury"]]', 4, '[["blood pressure","icd","limbs","injury"]]');

-- Figure 2.11; the same for every seed.
CREATE TABLE figure (t text, items text[]);
INSERT INTO figure VALUES ('t1', '{a,d}'), ('t2', '{a,b,g}'), ('t3', '{c,f}'), ('t4', '{e,h}');
SELECT * FROM disclosure.coat('figure', 'items', privacy => '[["a","b"],["e","f"]]', utility => '[["b","d","g"],["c","e","f"]]', k => 2, key => 't', item_order => 'kept');
SELECT * FROM disclosure.coat_report('figure', 'items', privacy => '[["a","b"],["e","f"]]', utility => '[["b","d","g"],["c","e","f"]]', k => 2);
SELECT count(DISTINCT terms) FROM generate_series(-3, 30) seed,
  LATERAL (SELECT jsonb_agg(terms ORDER BY transaction) AS terms FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[["b","d","g"],["c","e","f"]]', seed => seed, item_order => 'kept')) c;
-- Without utility all may be generalised, and with none nothing: then items are suppressed, if they may be.
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[]');
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[]', max_suppressed => 0.3);
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[]', max_suppressed => 0.375);
SELECT * FROM disclosure.coat_report('figure', 'items', '[["a","b"],["e","f"]]', 2, '[]', max_suppressed => 1);
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 5, 't', max_suppressed => 1);
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2147483647, 't');
-- Nothing to protect, or protected already.
SELECT * FROM disclosure.coat('figure', 'items', '[]', 2, 't');
SELECT * FROM disclosure.coat('figure', 'items', '[["a"]]', 2, 't');
SELECT * FROM disclosure.coat('figure', 'items', '[["a","b","c"]]', 1, 't');
SELECT count(*) FROM disclosure.coat_report('figure', 'items', '[["a"]]', 2);
-- Items that nobody has, and the same constraint twice.
SELECT * FROM disclosure.coat('figure', 'items', '[["z"], ["b", "b", "y"]]', 2, 't', '[["b","d","g","y"]]');
SELECT * FROM disclosure.coat('figure', 'items', '[["b"], ["b"], ["b", "b"]]', 2, 't', '[["b","d","g","g"]]');
-- The same seed draws the same, another may draw something else, and whatever is drawn is protected.
CREATE TABLE drawn AS SELECT i AS id, ARRAY['a' || i % 13, 'b' || i * i % 11, 'c' || i % 7] AS items FROM generate_series(1, 40) i;
SELECT count(DISTINCT terms) > 1 AS differ, count(DISTINCT terms) FILTER (WHERE seed IN (1, 21)) AS of_same_seed FROM generate_series(1, 21) seed,
  LATERAL (SELECT jsonb_agg(terms ORDER BY transaction) AS terms FROM disclosure.coat('drawn', 'items', '[["a1","b1"],["a2"],["b4","c3"]]', 5, 'id', seed => (seed - 1) % 20)) c;
CREATE TABLE protected AS SELECT seed, transaction, terms FROM generate_series(1, 10) seed, disclosure.coat('drawn', 'items', '[["a1","b1"],["a2"],["b4","c3"]]', 5, 'id', seed => seed);
WITH item AS (SELECT seed, transaction, CASE jsonb_typeof(e) WHEN 'array' THEN m ELSE e #>> '{}' END AS item
                FROM protected, jsonb_array_elements(terms) e LEFT JOIN LATERAL jsonb_array_elements_text(CASE jsonb_typeof(e) WHEN 'array' THEN e END) m ON true),
     part (items) AS (VALUES ('{a1}'::text[]), ('{b1}'), ('{a1,b1}'), ('{a2}'), ('{b4}'), ('{c3}'), ('{b4,c3}')),
     support AS (SELECT seed, items, count(*) FILTER (WHERE had @> items) AS support FROM part, (SELECT seed, transaction, array_agg(item) AS had FROM item GROUP BY 1, 2) h GROUP BY 1, 2)
SELECT bool_and(support >= 5 OR support = 0) AS is_protected FROM support;
-- Rows in another order, the same ids.
CREATE TABLE shuffled AS SELECT * FROM drawn ORDER BY id * 17 % 41 DESC;
SELECT count(*) FROM (TABLE drawn EXCEPT TABLE shuffled) d;
SELECT count(*) FROM (SELECT * FROM disclosure.coat('drawn', 'items', '[["a1","b1"],["a2"]]', 5, 'id') EXCEPT SELECT * FROM disclosure.coat('shuffled', 'items', '[["a1","b1"],["a2"]]', 5, 'id')) d;
SELECT string_agg(transaction, ' ') FROM disclosure.coat('shuffled', 'items', '[]', 1, 'id');
SELECT count(*) FROM (SELECT * FROM disclosure.coat_report('drawn', 'items', '[["a1","b1"],["a2"]]', 5) EXCEPT SELECT * FROM disclosure.coat_report('shuffled', 'items', '[["a1","b1"],["a2"]]', 5)) d;
-- What it reports is what it does.
SELECT r.items = g.items AS same FROM (SELECT array_agg(to_jsonb(items) ORDER BY to_jsonb(items)) AS items FROM disclosure.coat_report('drawn', 'items', '[["a1","b1"],["a2"]]', 5)) r,
  (SELECT array_agg(DISTINCT e) AS items FROM disclosure.coat('drawn', 'items', '[["a1","b1"],["a2"]]', 5), jsonb_array_elements(terms) e WHERE jsonb_typeof(e) = 'array') g;

-- The order of items: shuffled by default. Unless it is kept, it is the same whichever member is original, and wherever it stood.
SELECT item_order, jsonb_agg(terms ORDER BY transaction) FROM unnest(enum_range(NULL::disclosure.item_order)) item_order,
  disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[["b","d","g"],["c","e","f"]]', item_order => item_order) GROUP BY item_order ORDER BY item_order;
CREATE TABLE one_member (t text, items text[]);
INSERT INTO one_member VALUES ('1', '{m,n,b,p}'), ('2', '{m,q,d}'), ('3', '{n,d,p,b}'), ('4', '{z,b}'), ('5', '{y,d}');
CREATE TABLE other_member (t text, items text[]);
INSERT INTO other_member VALUES ('1', '{d,p,n,m}'), ('2', '{q,b,m}'), ('3', '{b,p,n}'), ('4', '{d,z}'), ('5', '{b,y}');
SELECT item_order, count(*) AS transactions, count(*) FILTER (WHERE one.terms = other.terms) AS same FROM unnest(enum_range(NULL::disclosure.item_order)) item_order,
  LATERAL (SELECT * FROM disclosure.coat('one_member', 'items', '[["b"],["d"]]', 4, 't', '[["b","d"]]', item_order => item_order)) one
  JOIN LATERAL (SELECT * FROM disclosure.coat('other_member', 'items', '[["b"],["d"]]', 4, 't', '[["b","d"]]', item_order => item_order)) other USING (transaction) GROUP BY item_order ORDER BY item_order;
SELECT count(DISTINCT terms) > 5 AS differ, count(DISTINCT terms) FILTER (WHERE seed IN (1, 21)) AS of_same_seed FROM generate_series(1, 21) seed,
  LATERAL (SELECT jsonb_agg(terms ORDER BY transaction) AS terms FROM disclosure.coat('one_member', 'items', '[["b"],["d"]]', 4, 't', '[["b","d"]]', seed => (seed - 1) % 20)) c;
-- What its place tells: lists of numbers, sorted as numbers, and of words that are sorted as in other lists.
CREATE TABLE sorted_lists AS SELECT i AS id, ARRAY(SELECT DISTINCT x FROM unnest(ARRAY[i % 7, 7 + i * i % 19, 26 + i * 7 % 31, 57 + i % 11, 68 + i * i % 23, 91 + i * 3 % 29]) x ORDER BY x) AS items FROM generate_series(1, 200) i;
CREATE TABLE word_lists AS SELECT id, ARRAY(SELECT left(md5(x::text), 6) FROM unnest(items) WITH ORDINALITY u(x, n) ORDER BY n) AS items FROM sorted_lists;
CREATE TABLE secrets AS SELECT jsonb_agg(jsonb_build_array(x)) AS numbers, jsonb_agg(jsonb_build_array(left(md5(x::text), 6))) AS words FROM (SELECT x FROM sorted_lists, unnest(items) x GROUP BY x HAVING count(*) < 8) s;
CREATE TABLE kept_lists AS SELECT transaction::int AS id, terms AS items FROM secrets, disclosure.coat('sorted_lists', 'items', numbers, 12, 'id', item_order => 'kept');
CREATE TABLE shuffled_lists AS SELECT transaction::int AS id, terms AS items FROM secrets, disclosure.coat('sorted_lists', 'items', numbers, 12, 'id');
CREATE TABLE resorted_lists AS SELECT transaction::int AS id, terms AS items FROM secrets, disclosure.coat('sorted_lists', 'items', numbers, 12, 'id', item_order => 'sorted');
CREATE TABLE kept_words AS SELECT transaction::int AS id, terms AS items FROM secrets, disclosure.coat('word_lists', 'items', words, 12, 'id', item_order => 'kept');
SELECT released, q.* FROM unnest('{kept_lists,shuffled_lists,resorted_lists}'::regclass[]) released, disclosure.attack_quality('sorted_lists', released, 'items', NULL, NULL, 'id', '{place}') q;
SELECT q.* FROM disclosure.attack_quality('word_lists', 'kept_words', 'items', NULL, NULL, 'id', '{place}') q;
SELECT q.* FROM disclosure.attack_quality('word_lists', 'kept_words', 'items', 'word_lists', 'items', 'id', '{place,mda,place}') q;
SELECT count(*), count(distance) AS distances, count(confidence) AS confidences, count(*) FILTER (WHERE eliminated) AS eliminated, count(step) AS steps FROM disclosure.semantic_attack('kept_lists', 'items', NULL, NULL, method => 'place');
-- Nobody loses all members.
SELECT bool_and(left_over > 0) FROM (SELECT count(*) FILTER (WHERE NOT eliminated) AS left_over FROM disclosure.semantic_attack('kept_lists', 'items', NULL, NULL, 'id', 'place') GROUP BY transaction, generalised UNION ALL
  SELECT count(*) FILTER (WHERE NOT eliminated) FROM disclosure.semantic_attack('kept_lists', 'items', NULL, NULL, 'id', 'place') GROUP BY generalised, item) l;
SELECT released, count(b) AS broken, jsonb_array_length(numbers) AS of, bool_and(held_before) AS held_before, min(support) AS support FROM secrets, unnest('{kept_lists,shuffled_lists}'::regclass[]) released
  LEFT JOIN LATERAL disclosure.broken_constraints(released, 'items', NULL, NULL, (SELECT numbers FROM secrets), 12, 'place') b ON true GROUP BY released, numbers ORDER BY released;
-- Rows in another order.
CREATE TABLE kept_reversed AS SELECT * FROM kept_lists ORDER BY id DESC;
SELECT count(*) FROM (SELECT * FROM disclosure.semantic_attack('kept_lists', 'items', NULL, NULL, 'id', 'place') EXCEPT SELECT * FROM disclosure.semantic_attack('kept_reversed', 'items', NULL, NULL, 'id', 'place')) d;

-- COAT's own steps suppress b at once; there is another way.
CREATE TABLE next_rarest (id int, t jsonb);
INSERT INTO next_rarest VALUES (1, '["b","a"]'), (2, '["a","b","c"]'), (3, '["c"]'), (4, '["c"]'), (5, '["d"]');
SELECT count(DISTINCT c.terms), min(c.terms::text) FROM generate_series(1, 100) seed, LATERAL (SELECT jsonb_agg(terms ORDER BY transaction) AS terms
  FROM disclosure.coat('next_rarest', 't', '[["d","b","a"],["b","d","c"]]', 2, 'id', '[["a","c","d"],["b"]]', item_order => 'sorted', seed => seed)) c;
-- There is no way, or none was found.
SELECT * FROM disclosure.coat('next_rarest', 't', '[["d"]]', 2, utility => '[["a","c"],["d"]]');
CREATE TABLE hard AS SELECT i AS id, ARRAY['w' || i / 2] AS items FROM generate_series(0, 59) i UNION ALL
  VALUES (60, '{a,b}'::text[]), (61, '{a}'), (62, '{a}'), (63, '{b}'), (64, '{b}'), (65, '{c}'), (66, '{d}');
SELECT count(*) FROM disclosure.coat('hard', 'items', (SELECT jsonb_agg(jsonb_build_array('w' || i)) || '[["a","b"]]' FROM generate_series(0, 29) i), 3,
  utility => (SELECT '[["a","c"],["b","d"]]' || jsonb_build_array(jsonb_agg('w' || i)) FROM generate_series(0, 29) i));
-- Generalised items that tell next to nothing.
CREATE TABLE rare_items AS SELECT i AS id, ARRAY['r' || i, 'common' || i % 3] AS items FROM generate_series(1, 60) i;
SELECT cardinality(items) AS members, support, cover FROM disclosure.coat_report('rare_items', 'items', '[["r1"],["r2"]]', 25);
SELECT cardinality(items) AS members FROM disclosure.coat_report('rare_items', 'items', '[["r1"],["r2"]]', 20, utility => (SELECT jsonb_build_array(jsonb_agg('r' || i)) FROM generate_series(1, 60) i));

-- k^m-anonymity: a generalised item is one item.
-- Figure 2.11(b), which the thesis calls 2^2-anonymous: every generalised item is in two transactions, but every pair in one.
CREATE TABLE figure_b (t text, items jsonb);
INSERT INTO figure_b VALUES ('t1', '[["a","b"],["c","d"]]'), ('t2', '[["a","b"],["g","h"]]'), ('t3', '[["c","d"],["e","f"]]'), ('t4', '[["e","f"],["g","h"]]');
SELECT disclosure.km_anonymity('figure_b', 'items', 1) AS of_one, disclosure.km_anonymity('figure_b', 'items', 2) AS of_two;
SELECT disclosure.km_anonymity('figure', 'items'), disclosure.km_anonymity('figure', 'items', 1), disclosure.km_anonymity('figure', 'items', m => 2147483647), disclosure.km_anonymity('released', 'terms');
CREATE TABLE twice AS SELECT * FROM (VALUES ('["a","b",["x","y"]]'::jsonb), ('["a",["y","x"],"b"]'), ('["a",["x","y","y"],"c"]'), ('["c",["x","y"],"a"]')) t (terms);
SELECT m, disclosure.km_anonymity('twice', 'terms', m) FROM generate_series(1, 4) m;
SELECT * FROM disclosure.km_violations('twice', 'terms', k => 4, m => 3);
SELECT * FROM disclosure.km_violations('twice', 'terms', k => 5, m => 1);
SELECT * FROM disclosure.km_violations('twice', 'terms', k => 2, m => 3);
SELECT * FROM disclosure.km_violations('twice', 'terms', k => 5, m => 1, max_rows => 2);
SELECT * FROM disclosure.km_violations('figure', 'items', 2);
-- Two items that all have, but never together: only the pair is rare.
CREATE TABLE pairs (items text[]);
INSERT INTO pairs VALUES ('{p,q}'), ('{p,r}'), ('{p,r}'), ('{q,r}'), ('{q,r}'), ('{p}'), ('{q}'), ('{}');
SELECT disclosure.km_anonymity('pairs', 'items', 1), disclosure.km_anonymity('pairs', 'items');
SELECT * FROM disclosure.km_violations('pairs', 'items', 2);
SELECT * FROM disclosure.km_violations('pairs', 'items', 3, m => 3);
-- By definition, with all sets of up to two items.
WITH item AS (SELECT id, unnest(items) AS item FROM drawn),
     support AS (SELECT count(DISTINCT a.id) AS support FROM item a JOIN item b USING (id) WHERE a.item <= b.item GROUP BY a.item, b.item)
SELECT min(support) = disclosure.km_anonymity('drawn', 'items') AS same, count(*) FILTER (WHERE support < 3) >= (SELECT count(*) FROM disclosure.km_violations('drawn', 'items', 3, max_rows => 1000)) AS no_more FROM support;
SELECT count(*) AS wrong FROM disclosure.km_violations('drawn', 'items', 3, max_rows => 1000) v
  WHERE support <> (SELECT count(*) FROM drawn WHERE to_jsonb(drawn.items) @> v.items);

-- Figure 3.7 has all members as plain items; it is Figure 1.5.
CREATE TABLE plain (visit_id int, terms text[]);
INSERT INTO plain VALUES
  (1, '{heart disease,blood pressure,icd,limbs,injury,weakness,dizziness}'), (2, '{anesthesia,blood pressure,icd,limbs,injury,pain,diabetes}'),
  (3, '{gangrene,blood pressure,icd,limbs,injury}'), (4, '{knee,blood pressure,icd,limbs,injury}');
SELECT * FROM disclosure.mark_generalised('plain', 'terms', 'visit_id');
SELECT rule, k, bool_and(m.terms = r.terms) AS is_figure_1_5, bool_and(m.terms = to_jsonb(p.terms)) AS as_it_was
  FROM unnest('{together,repeated}'::text[]) rule, unnest('{NULL,1,4,5,2147483647}'::int[]) k, disclosure.mark_generalised('plain', 'terms', 'visit_id', rule, k) m, released r, plain p
  WHERE r.visit_id = transaction::int AND p.visit_id = transaction::int GROUP BY rule, k ORDER BY rule, k;
-- What is known separates them.
CREATE TABLE unmarked (terms jsonb);
INSERT INTO unmarked VALUES ('["a","b","c","d","e"]'), ('["a","b","c","d"]'), ('["e",["x","y"]]');
SELECT rule, m.* FROM unnest('{repeated,together}'::text[]) rule, disclosure.mark_generalised('unmarked', 'terms', rule => rule) m;
SELECT rule, m.* FROM unnest('{repeated,together}'::text[]) rule, disclosure.mark_generalised('unmarked', 'terms', rule => rule, utility => '[["a","c"],["d","e"]]') m;
SELECT rule, m.* FROM unnest('{repeated,together}'::text[]) rule, disclosure.mark_generalised('unmarked', 'terms', rule => rule, utility => '[["a","c"],["b","d"]]', privacy => '[["d","e"]]') m;
SELECT * FROM disclosure.mark_generalised('unmarked', 'terms', utility => '[]');
SELECT * FROM disclosure.mark_generalised('unmarked', 'terms', privacy => '[]');
SELECT * FROM disclosure.mark_generalised('unmarked', 'terms', privacy => '[["z"]]');
-- COAT and back again.
CREATE TABLE flat AS SELECT transaction, array_agg(CASE jsonb_typeof(e) WHEN 'array' THEN m ELSE e #>> '{}' END ORDER BY n, o) AS items
  FROM disclosure.coat('figure', 'items', '[["a","b"],["e","f"]]', 2, 't', '[["b","d","g"],["c","e","f"]]'), jsonb_array_elements(terms) WITH ORDINALITY e (e, n)
  LEFT JOIN LATERAL jsonb_array_elements_text(CASE jsonb_typeof(e) WHEN 'array' THEN e END) WITH ORDINALITY m (m, o) ON true GROUP BY transaction;
SELECT * FROM disclosure.mark_generalised('flat', 'items', 'transaction', k => 2, utility => '[["b","d","g"],["c","e","f"]]', privacy => '[["a","b"],["e","f"]]');

-- Lists of all kinds: arrays of any type and dimension, json, domains; numbers are items, and the same as their texts.
CREATE DOMAIN basket AS text[];
CREATE TABLE kinds (id int, j json, b jsonb, i int[], n numeric[], d date[], v varchar(3)[], c char(2)[], two text[], m basket);
INSERT INTO kinds VALUES (1, '["a", 1, "a", ["b", "b"]]', '[1, "1", 25, ["x", 1, "x"]]', '{3,1,3}', '{1,25,1}', '{2020-01-01}', '{abc}', '{a,b}', '{{a,b},{c,b}}', '{a,b}'),
  (2, '[]', '[]', '{}', '{}', '{}', '{}', '{}', '{}', '{}');
INSERT INTO kinds VALUES (3);
SELECT kind, m.* FROM unnest('{j,b,i,n,d,v,c,two,m}'::text[]) kind, disclosure.mark_generalised('kinds', kind::name, 'id') m;
SELECT * FROM disclosure.coat('kinds', 'i', '[[1]]', 1, 'id');
-- Numbers with more digits than a float8 has: whole ones keep them all.
CREATE TABLE inexact (half numeric[], long jsonb);
INSERT INTO inexact VALUES ('{2.50}', '[12345678901234567890123, 12345678901234567890124]');
SELECT disclosure.km_anonymity('inexact', 'half');
SELECT disclosure.km_anonymity('inexact', 'long');
SELECT * FROM disclosure.coat('kinds', 'i', '[["1"]]', 2, 'id', max_suppressed => 0.5);
-- What is equal is what the type and the collation say, as for items that are counted.
CREATE COLLATION without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE same (folded text[] COLLATE without_case, n numeric[]);
INSERT INTO same VALUES ('{flu}', '{1.0}'), ('{Flu}', '{1.00}'), ('{FLU}', NULL);
SELECT disclosure.km_anonymity('same', 'folded', 1) AS three, disclosure.km_anonymity('same', 'n', 1) AS two;
CREATE TABLE equal (id int, folded text[] COLLATE without_case, n numeric[], d date[], u uuid[], f float8[], flags boolean[], listed jsonb, deep numeric[]);
INSERT INTO equal VALUES
  (1, '{flu,Flu,cold}', '{1.0,2.5}', '{2020-01-01}', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{0,NaN}', '{t}', '["FLU", "cold"]', '{{1,2},{1.0,1.00}}'),
  (2, '{Flu}', '{1.00}', '{2020-01-01,2021-01-01}', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}', '{-0,NaN}', '{t,f}', '["flu"]', '{{2.0,1.0},{3,NULL}}'),
  (3, '{FLU,NULL}', '{1}', '{2020-01-01}', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{0}', '{t}', '["Flu"]', '{{NULL,NULL}}');
SELECT kind, disclosure.km_anonymity('equal', kind::name, 1), (SELECT count(*) FROM disclosure.item_risk('equal', kind::name)) AS items FROM unnest('{folded,n,d,u,f,flags,deep}'::text[]) kind;
SELECT kind, v.* FROM unnest('{folded,n,d,u,f,flags,deep}'::text[]) kind, disclosure.km_violations('equal', kind::name, 3, 1) v;
SELECT kind, m.* FROM unnest('{folded,n,d,f,deep}'::text[]) kind, disclosure.mark_generalised('equal', kind::name, 'id') m;
-- Arguments name items by texts of their type.
SELECT * FROM disclosure.coat_report('equal', 'folded', '[["COLD"]]', 3);
SELECT * FROM disclosure.coat_report('equal', 'n', '[["2.500"]]', 2);
SELECT * FROM disclosure.coat_report('equal', 'd', '[["January 1, 2021"]]', 2);
SELECT * FROM disclosure.coat('equal', 'folded', '[["Cold", "measles"]]', 2, 'id', '[["COLD", "Flu"]]');
SELECT * FROM disclosure.coat('equal', 'n', '[["many"]]', 2);
SELECT * FROM disclosure_lab.distance_table('equal', 'deep', 'equal', 'listed', '{2.00,1.00}', key => 'id');
-- Neither the order of rows nor the session changes what stands for equal items.
CREATE TABLE equal_reversed AS SELECT * FROM equal ORDER BY id DESC;
SET DateStyle = 'German';
SELECT count(*) FROM unnest('{folded,n,d,f,deep}'::text[]) kind, LATERAL (SELECT * FROM disclosure.km_violations('equal', kind::name, 4, 2) EXCEPT SELECT * FROM disclosure.km_violations('equal_reversed', kind::name, 4, 2)) v;
RESET DateStyle;
-- Columns of different types are compared as texts, under the collation that one of them has.
CREATE TABLE had (id int, terms text[] COLLATE without_case);
INSERT INTO had VALUES (1, '{knee,Flu}'), (2, '{arm,COLD}');
CREATE TABLE hidden (id int, terms jsonb);
INSERT INTO hidden VALUES (1, '["KNEE", ["flu", "cold"]]'), (2, '["Arm", ["cold", "FLU"]]');
SELECT method, eliminations, correct, cover, density FROM disclosure.attack_quality('had', 'hidden', 'terms', 'had', 'terms', 'id', '{mda}');
-- Names that need quotes, views, and ids of several types.
CREATE TABLE "Odd ""table" ("Odd ""name" text[], "ID ö" uuid, "order" timestamp, real float8);
INSERT INTO "Odd ""table" VALUES ('{"it''s",b}', '00000000-0000-0000-0000-000000000002', '2020-01-02', 1.5), ('{"back\\slash"}', '00000000-0000-0000-0000-000000000001', '2020-01-03', '-Infinity');
SELECT * FROM disclosure.coat('"Odd ""table"', 'Odd "name', '[["it''s"]]', 1, 'ID ö');
SELECT * FROM disclosure.mark_generalised('"Odd ""table"', 'Odd "name', 'order');
SELECT * FROM disclosure.mark_generalised('"Odd ""table"', 'Odd "name', 'real');
CREATE VIEW of_figure AS SELECT items, t AS id, length(t) AS same, nullif(t, 't3') AS missing FROM figure WHERE t < 't4';
SELECT * FROM disclosure.mark_generalised('of_figure', 'items', 'id');
SELECT transaction FROM disclosure.mark_generalised('of_figure', 'items', 'same');
SELECT transaction FROM disclosure.mark_generalised('of_figure', 'items', 'missing');
CREATE VIEW by_missing AS SELECT * FROM of_figure WHERE missing IS NOT NULL OR items IS NULL;
SELECT transaction FROM disclosure.mark_generalised('by_missing', 'items', 'missing');

-- Nothing, one row, empty transactions, NULL.
CREATE TABLE empty (id int, terms jsonb);
SELECT * FROM disclosure.coat('empty', 'terms', '[["a"]]', 2, 'id');
SELECT * FROM disclosure.coat_report('empty', 'terms', '[["a"]]', 2);
SELECT disclosure.km_anonymity('empty', 'terms');
SELECT * FROM disclosure.km_violations('empty', 'terms', 2);
SELECT * FROM disclosure.mark_generalised('empty', 'terms', 'id', privacy => '[["a"]]');
INSERT INTO empty VALUES (NULL, NULL), (2, '[]'), (1, NULL), (3, '[]');
SELECT * FROM disclosure.coat('empty', 'terms', '[["a"]]', 2, 'id');
SELECT disclosure.km_anonymity('empty', 'terms');
SELECT * FROM disclosure.km_violations('empty', 'terms', 2);
SELECT * FROM disclosure.mark_generalised('empty', 'terms');
CREATE TABLE one_row AS SELECT '["a", "b", "a"]'::jsonb AS terms;
SELECT * FROM disclosure.coat('one_row', 'terms', '[["a"]]', 1);
SELECT * FROM disclosure.coat('one_row', 'terms', '[["a"]]', 2);
SELECT * FROM disclosure.coat('one_row', 'terms', '[["a"]]', 2, max_suppressed => 1);
SELECT disclosure.km_anonymity('one_row', 'terms', 3);
SELECT * FROM disclosure.km_violations('one_row', 'terms', 2);
SELECT * FROM disclosure.mark_generalised('one_row', 'terms');

-- What is refused.
SELECT * FROM disclosure.coat(NULL, 'terms', '[]', 2);
SELECT * FROM disclosure.coat('visits', NULL, '[]', 2);
SELECT * FROM disclosure.coat('visits', 'nothing', '[]', 2);
SELECT * FROM disclosure.coat('visits', 'visit_id', '[]', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '[]', 2, 'nothing');
SELECT * FROM disclosure.coat('visits', 'terms', NULL, 2);
SELECT * FROM disclosure.coat('visits', 'terms', 'null', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '{}', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '["a"]', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '[[]]', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '[[null]]', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '[[["a"]]]', 2);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', NULL);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 0);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', -2147483648);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, utility => '[["knee","icd"],["icd"]]');
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, utility => '[["x","y"],["y"]]');
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, utility => '["knee"]');
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, max_suppressed => NULL);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, max_suppressed => -0.1);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, max_suppressed => 1.1);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, max_suppressed => 'NaN');
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, seed => NULL);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, item_order => NULL);
SELECT * FROM disclosure.coat('visits', 'terms', '[["knee"]]', 2, item_order => 'random');
SELECT * FROM disclosure.attack_quality('visits', 'released', 'terms', NULL, NULL, 'visit_id', '{place,rba}');
SELECT * FROM disclosure.semantic_attack('released', 'terms', NULL, NULL);
SELECT * FROM disclosure.semantic_attack('released', 'terms', NULL, NULL, method => 'palce');
SELECT disclosure_lab.eliminate('{{1,2},{2,1}}', 'place');
SELECT * FROM disclosure_lab.attack_calibration('released', 'terms', 'visits', 'terms', method => 'place');
SELECT * FROM disclosure.coat('released', 'terms', '[["knee"]]', 2);
SELECT * FROM disclosure.coat_report('visits', 'terms', NULL, 2);
SELECT * FROM disclosure.coat_report('visits', 'terms', '[]', NULL);
SELECT disclosure.km_anonymity(NULL, 'terms');
SELECT disclosure.km_anonymity('visits', NULL);
SELECT disclosure.km_anonymity('visits', 'terms', 0);
SELECT disclosure.km_anonymity('visits', 'terms', NULL);
SELECT * FROM disclosure.km_violations('visits', 'terms', NULL);
SELECT * FROM disclosure.km_violations('visits', 'terms', 2, -1);
SELECT * FROM disclosure.km_violations('visits', 'terms', 2, max_rows => 0);
SELECT * FROM disclosure.km_violations('visits', 'terms', 2, max_rows => NULL);
SELECT * FROM disclosure.mark_generalised('visits', 'terms', rule => 'both');
SELECT * FROM disclosure.mark_generalised('visits', 'terms', rule => NULL);
SELECT * FROM disclosure.mark_generalised('visits', 'terms', k => 0);
SELECT * FROM disclosure.mark_generalised('visits', 'terms', utility => '[["knee","icd"],["icd"]]');
SELECT * FROM disclosure.mark_generalised('visits', 'terms', privacy => '{}');
-- Values that are no transactions.
CREATE TABLE wrong (terms jsonb, items text[], deep int[], flags boolean[]);
INSERT INTO wrong VALUES ('["a", null]', '{a,NULL}', '{{{1}}}', '{t}');
SELECT disclosure.km_anonymity('wrong', 'terms');
SELECT disclosure.km_anonymity('wrong', 'items');
SELECT disclosure.km_anonymity('wrong', 'deep');
SELECT disclosure.km_anonymity('wrong', 'flags');
SELECT disclosure.km_anonymity(relation => 'wrong', column_name => 'terms') FROM (SELECT) nothing;
UPDATE wrong SET terms = '["a", ["b", ["c"]]]';
SELECT disclosure.km_anonymity('wrong', 'terms');
UPDATE wrong SET terms = '["a", []]';
SELECT disclosure.km_anonymity('wrong', 'terms');
UPDATE wrong SET terms = '{"a": 1}';
SELECT disclosure.km_anonymity('wrong', 'terms');
UPDATE wrong SET terms = 'null';
SELECT disclosure.km_anonymity('wrong', 'terms');
UPDATE wrong SET terms = '[true]';
SELECT disclosure.km_anonymity('wrong', 'terms');
-- Too much to ask for.
CREATE VIEW many AS SELECT ARRAY[i, i + 1000000, i + 2000000] AS items FROM generate_series(1, 300000) i;
SET disclosure.max_memory = '1MB';
SELECT disclosure.km_anonymity('many', 'items', 3);
SELECT count(*) FROM disclosure.coat('many', 'items', '[[1]]', 2);
RESET disclosure.max_memory;

-- A caller sees what it may see, no more.
CREATE ROLE transactions_keeper;
CREATE ROLE transactions_reader;
GRANT CREATE ON SCHEMA public TO transactions_keeper;
SET ROLE transactions_keeper;
CREATE TABLE wards (id int, terms text[], ward text);
INSERT INTO wards VALUES (1, '{a,b}', 'A'), (2, '{a,b}', 'A'), (3, '{a,c}', 'B');
SET ROLE transactions_reader;
SELECT disclosure.km_anonymity('wards', 'terms');
SET ROLE transactions_keeper;
GRANT SELECT (terms) ON wards TO transactions_reader;
SET ROLE transactions_reader;
SELECT disclosure.km_anonymity('wards', 'terms');
SELECT * FROM disclosure.coat('wards', 'terms', '[]', 1, 'id');
SELECT * FROM disclosure.coat('wards', 'terms', '[]', 1);
SET ROLE transactions_keeper;
GRANT SELECT ON wards TO transactions_reader;
ALTER TABLE wards ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_ward ON wards FOR SELECT TO transactions_reader USING (ward = 'A');
SELECT disclosure.km_anonymity('wards', 'terms') AS of_keeper;
SET ROLE transactions_reader;
SELECT disclosure.km_anonymity('wards', 'terms') AS of_reader;
SELECT * FROM disclosure.mark_generalised('wards', 'terms', 'id');
SET row_security = off;
SELECT disclosure.km_anonymity('wards', 'terms');
RESET row_security;
RESET ROLE;
DROP OWNED BY transactions_keeper, transactions_reader;
DROP ROLE transactions_keeper, transactions_reader;
