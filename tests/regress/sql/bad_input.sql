-- Input that is legal but makes no sense is refused by name, with a proper SQLSTATE.
LOAD 'pg_disclosure';
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate || ' ' || left(sqlerrm, 90);
END $$;
CREATE TABLE small (age int, zip text, diag text);
INSERT INTO small SELECT x, 'z' || x % 3, 'd' || x % 2 FROM generate_series(1, 12) x;
CREATE TABLE lists (id int, items jsonb);
INSERT INTO lists VALUES (1, '["a", "b"]'), (2, '["a", 1]'), (3, '["b", ["a", "c"]]');

-- Every function with a jsonb argument, and every jsonb value that a reader of trees or floats may stumble over.
CREATE TABLE odd_json (what text, value jsonb);
INSERT INTO odd_json VALUES
  ('large number', '{"age": {"likelihood": 1e400}}'), ('large number alone', '1e400'), ('small number', '1e-400'),
  ('many digits', ('{"age": ' || repeat('9', 5000) || '}')::jsonb), ('list of large numbers', '[1e400, [1e400]]'),
  ('deep list', (repeat('[', 200) || repeat(']', 200))::jsonb),
  ('very deep list', (repeat('[', 6000) || repeat(']', 6000))::jsonb),
  ('deep object', (repeat('{"a":', 200) || '1' || repeat('}', 200))::jsonb),
  ('deep enough', (repeat('[', 127) || repeat(']', 127))::jsonb),
  ('brackets in a string', to_jsonb(repeat('[{"\', 200))), ('null', 'null'), ('empty', '{}'), ('list', '[]'),
  ('key', '{"$serde_json::private::Number": "x"}');
CREATE TABLE calls AS
  SELECT p.oid::regprocedure::text AS signature, p.pronamespace::regnamespace AS schema_name, p.proname, a.position, a.name
    FROM pg_proc p, unnest(p.proargtypes::oid[], p.proargnames) WITH ORDINALITY AS a(type, name, position)
   WHERE p.pronamespace IN ('disclosure'::regnamespace, 'disclosure_lab'::regnamespace) AND a.type = 'jsonb'::regtype AND p.prokind IN ('f', 'w');
SELECT count(*) > 15 AS many_calls, count(DISTINCT name) AS arguments FROM calls;
-- Each is called with what it needs, and the jsonb value.
CREATE FUNCTION call_of(call calls, value jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT %s.%I(%s)%s FROM small s', call.schema_name, call.proname,
      string_agg(quote_ident(a.name) || ' => ' || CASE
        WHEN n = call.position THEN quote_literal(value) || '::jsonb'
        WHEN t = 'record'::regtype THEN 's'
        WHEN t = 'anyelement'::regtype THEN 's'
        WHEN t = 'regclass'::regtype THEN '''lists''::regclass'
        WHEN t = 'name'::regtype AND a.name = 'key' THEN '''id'''
        WHEN t = 'name'::regtype THEN '''items'''
        WHEN t = 'name[]'::regtype THEN 'ARRAY[''id'']::name[]'
        WHEN t = 'regclass[]'::regtype THEN 'ARRAY[''lists'']::regclass[]'
        WHEN t = 'text[]'::regtype THEN 'ARRAY[''a'', ''b'']'
        WHEN t IN ('int'::regtype, 'bigint'::regtype) THEN '2'
        WHEN t = 'float8'::regtype THEN '0.5'
        WHEN t = 'text'::regtype THEN '''a'''
        ELSE 'NULL' END, ', ' ORDER BY n),
      CASE p.prokind WHEN 'w' THEN ' OVER ()' ELSE '' END)
    FROM pg_proc p, unnest(p.proargtypes::oid[], p.proargnames) WITH ORDINALITY AS a(t, name, n)
   WHERE p.oid = call.signature::regprocedure AND (n <= p.pronargs - p.pronargdefaults OR n = call.position) GROUP BY p.prokind
$$;
SET client_min_messages = error;
-- It is read by all of them.
SELECT c.proname, c.name, s AS deep_list FROM calls c, odd_json o, state_of(call_of(c, o.value)) s WHERE o.what = 'deep list' ORDER BY 1, 2, c.signature;
SELECT o.what, count(*) AS calls, count(*) FILTER (WHERE s LIKE '54000%') AS "54000", count(*) FILTER (WHERE s LIKE 'XX%') AS internal
  FROM odd_json o, calls c, state_of(call_of(c, o.value)) s GROUP BY o.what ORDER BY o.what;
RESET client_min_messages;
SELECT state_of($$SELECT * FROM disclosure.inferences('small', labels => '{"age": {"likelihood": 1e400}}')$$);
SELECT state_of($$SELECT * FROM disclosure.inferences('small', labels => (repeat('[', 200) || repeat(']', 200))::jsonb)$$);
SELECT state_of($$SELECT disclosure.privacy_score(s, (repeat('[', 200) || repeat(']', 200))::jsonb) OVER () FROM small s$$);

-- jsonb data: whole numbers of any size are items.
INSERT INTO lists VALUES (4, '["a", 1e400]'), (5, '["a", 1e400]'), (6, '["a", 123456789012345678901234567890]');
SELECT id, left(terms::text, 40) AS terms, length(terms::text) FROM disclosure.mark_generalised('lists', 'items', 'id', 'together') AS m(id, terms) ORDER BY 1;
SELECT state_of($$SELECT * FROM disclosure.km_violations('lists', 'items', 2, 1)$$);
UPDATE lists SET items = '["a", 1.5e-300]' WHERE id = 4;
SELECT state_of($$SELECT * FROM disclosure.km_violations('lists', 'items', 2, 1)$$);
UPDATE lists SET items = (repeat('[', 200) || repeat(']', 200))::jsonb WHERE id = 4;
SELECT state_of($$SELECT * FROM disclosure.km_violations('lists', 'items', 2, 1)$$);
SELECT state_of($$SELECT * FROM disclosure.semantic_distances('lists', 'items', ARRAY['a', 'b'])$$);

-- Arrays.
SELECT state_of($$SELECT * FROM disclosure_internal.leaving('{NULL,1}') AS t(a int)$$);
SELECT state_of($$SELECT * FROM disclosure_internal.leaving('{-1}') AS t(a int)$$);
SELECT state_of($$SELECT * FROM disclosure_internal.leaving('{}') AS t(a int)$$);
SELECT columns, state_of(format('SELECT * FROM disclosure.equivalence_classes(''small'', %L)', columns))
  FROM unnest(ARRAY['{}', '{NULL}', '{age,NULL}', '{{age},{zip}}', '{age,age}', '{"' || repeat('x', 80) || '"}', '[5:5]={age}']) columns;
SELECT m AS matrix, state_of(format('SELECT disclosure_lab.permanent(%L::float8[])', m))
  FROM unnest(ARRAY['{}', '{1}', '{{1,NULL},{1,1}}', '{{NaN}}', '{{Infinity}}', '{{-1}}', '{{{1}}}', '[3:3][4:4]={{1}}']) m;
SELECT m AS mapping, state_of(format('SELECT disclosure_lab.expected_cracks(ARRAY[[0.5,0.5],[0.5,0.5]]::float8[], %L::int[])', m))
  FROM unnest(ARRAY['{}', '{NULL,1}', '{{1,2}}', '{1,1}', '{0,1}', '{-2147483648,2147483647}', '{1}']) m;

-- Numbers and intervals.
SELECT n, state_of(format('SELECT * FROM disclosure.privacy_summary(''small'', min_confidence => %L)', n)) AS min_confidence,
       state_of(format('SELECT * FROM disclosure.privacy_summary(''small'', constant => %L)', n)) AS constant
  FROM unnest('{NaN,Infinity,-Infinity,-1,1e308,5e-324}'::float8[]) n;
SELECT i, state_of(format('SELECT * FROM disclosure.privacy_summary(''small'', budget => %L)', i))
  FROM unnest(ARRAY['-1 s', '178000000 years', '-178000000 years', '2147483647 days', '0', '2562047788 hours']) i;

-- Odd relations and rows.
CREATE TABLE no_columns ();
CREATE TABLE dropped (a int, b int);
INSERT INTO dropped VALUES (1, 2);
ALTER TABLE dropped DROP COLUMN a;
CREATE TABLE all_dropped (a int);
INSERT INTO all_dropped VALUES (1);
ALTER TABLE all_dropped DROP COLUMN a;
SELECT t AS relation, f AS function, state_of(format('SELECT * FROM disclosure.%I(%L)', f, t))
  FROM unnest('{no_columns,dropped,all_dropped}'::text[]) t,
       unnest('{equivalence_classes,privacy_summary,column_profile,inferences}'::text[]) f ORDER BY 1, 2;
SELECT state_of($$SELECT disclosure.k_anonymity(d) FROM dropped d$$), state_of($$SELECT disclosure.k_anonymity(d) FROM all_dropped d$$),
       state_of($$SELECT disclosure.k_anonymity(CASE WHEN random() < 2 THEN ROW() END) FROM small$$), state_of($$SELECT disclosure.k_anonymity(CASE WHEN random() < 2 THEN ROW(1, NULL, 'x') END) FROM small$$);
SELECT state_of($$SELECT disclosure.count_items(ROW(x, 2)) FROM generate_series(1, 2) x$$), state_of($$SELECT disclosure.count_items(d) FROM all_dropped d$$);
SELECT s FROM (SELECT disclosure.count_items(d) s FROM dropped d) v;

-- privacy_score takes a row. Other calls are told what to write, and calls with a row are not ambiguous.
CREATE TABLE ages (age int, sex text, born date, tall boolean);
INSERT INTO ages VALUES (34, 'f', '1990-01-01', true);
SELECT disclosure.label_columns('ages', quasi => '{age, sex, born}', sensitive => '{tall}');
SELECT disclosure.privacy_score('ages');
SELECT disclosure.privacy_score(age, sex) OVER () FROM ages;
SELECT disclosure.privacy_score(sex, born, tall) OVER () FROM ages;
SELECT disclosure.privacy_score(a) OVER () AS row, disclosure.privacy_score(a, '{}'::jsonb) OVER () AS labels,
       disclosure.privacy_score(a, 'ages'::regclass) AS regclass, disclosure.privacy_score(a, 'ages'::text) AS text,
       disclosure.privacy_score(a, a.tableoid) AS oid, disclosure.privacy_score(a, relation => 'ages') AS relation
  FROM ages a;
