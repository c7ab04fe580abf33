-- One word for one thing: the names of functions, arguments, outputs and columns of views are those of DESIGN.md.
CREATE TEMP VIEW surface AS
  SELECT p.oid, p.pronamespace::regnamespace::text AS schema_name, p.proname, a.position,
         CASE WHEN a.mode IN ('o', 't') THEN 'output' ELSE 'argument' END AS role,
         a.name, format_type(a.type, NULL) AS type,
         a.position > p.pronargs - p.pronargdefaults AND a.mode NOT IN ('o', 't') AS is_optional
    FROM pg_proc p,
         unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargnames,
                coalesce(p.proargmodes, array_fill('i'::"char", ARRAY[p.pronargs]))) WITH ORDINALITY AS a(type, name, mode, position)
   WHERE p.pronamespace IN ('disclosure'::regnamespace, 'disclosure_lab'::regnamespace) AND a.name <> '';
CREATE TEMP VIEW names AS
  SELECT 'function' AS role, proname::text AS name FROM pg_proc WHERE pronamespace IN ('disclosure'::regnamespace, 'disclosure_lab'::regnamespace)
  UNION SELECT role, name FROM surface
  UNION SELECT 'column', attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
         WHERE relnamespace = 'disclosure'::regnamespace AND relkind IN ('v', 'c') AND attnum > 0
  UNION SELECT 'setting', substr(name, 12) FROM pg_settings WHERE name LIKE 'disclosure.%';

-- Words that have another one in their place. Part of a word counts, too: weight_column is fine, weights is not.
SELECT n.role, n.name, w.instead
  FROM names n JOIN (VALUES
         ('rival|attacker|intruder|hacker', 'adversary'), ('anonymi[sz]ed|releases', 'released'), ('id', 'key'), ('on_columns', 'columns'),
         ('weights', 'labels'), ('most', 'max_rows'), ('most_correct|limit', 'at_most'), ('enough', 'at_least'), ('subject|row', 'record'),
         ('decision|holds|within_tolerance|finding', 'verdict'), ('item_summary', 'item_counts'), ('entity', 'person'), ('place', 'rank'))
       AS w(word, instead) ON n.name ~ ('^(' || w.word || ')$')
 ORDER BY 1, 2;
-- Reserved words.
SELECT n.role, n.name FROM names n JOIN pg_get_keywords() k ON k.word = n.name AND k.catcode <> 'U' ORDER BY 1, 2;
-- What is read comes first, then columns, then key, then what may be left out; budget is last, but for alpha. The measure of
-- protect() says what the columns are for, so it stays in front of them although a preset may take its place.
SELECT DISTINCT s.oid::regprocedure AS columns_after_options FROM surface s JOIN surface o USING (oid)
 WHERE s.name IN ('columns', 'column_name') AND s.role = 'argument' AND o.is_optional AND o.position < s.position AND o.name <> 'measure';
SELECT DISTINCT s.oid::regprocedure AS key_after_options FROM surface s JOIN surface o USING (oid)
 WHERE s.name = 'key' AND s.role = 'argument' AND o.is_optional AND o.position < s.position AND o.name <> 'columns';
SELECT DISTINCT s.oid::regprocedure AS something_after_budget FROM surface s JOIN surface o USING (oid)
 WHERE s.name = 'budget' AND o.role = 'argument' AND o.position > s.position AND o.name NOT IN ('alpha', 'normalise');
-- A bare literal in the first position means a relation: a function whose first argument is a regclass has no namesake with
-- the same number of required arguments.
SELECT p.oid::regprocedure, o.oid::regprocedure FROM pg_proc p JOIN pg_proc o USING (proname, pronamespace)
 WHERE p.pronamespace = 'disclosure'::regnamespace AND p.proargtypes[0] = 'regclass'::regtype AND o.oid <> p.oid
   AND p.pronargs - p.pronargdefaults <= o.pronargs AND o.pronargs - o.pronargdefaults <= p.pronargs ORDER BY 1;
-- A form over a stored value ends in _of, and nothing else does.
SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'disclosure'::regnamespace AND p.prokind = 'f'
   AND (p.proargtypes[0] = 'disclosure.item_counts'::regtype) <> (p.proname ~ '_of$') ORDER BY 1;
-- The vocabulary: every name of an argument or output, with its types. A new line here is a new word.
\pset format unaligned
SELECT role, name, string_agg(DISTINCT type, ', ' ORDER BY type) AS types, count(DISTINCT proname) AS functions
  FROM surface GROUP BY role, name ORDER BY role, name COLLATE "C";
SELECT proname AS function FROM pg_proc WHERE pronamespace = 'disclosure'::regnamespace GROUP BY 1 ORDER BY proname COLLATE "C";
