-- Semantic attack (Ong 2015): distances, eliminations, and what is left of the protection.
\pset null '(null)'
SET extra_float_digits = -3;
-- Figure 3.6: rows heart disease, anesthesia, gangrene, knee; columns blood pressure, icd, limbs, injury.
CREATE TABLE figure AS SELECT '{{.56,.78,1.57,2.19},{1.75,.58,1.74,1.53},{2.60,2.93,1.78,1.49},{1.60,1.51,1.89,1.03}}'::float8[] AS d;
SELECT disclosure_lab.eliminate(distances => '{{.56,.78,1.57,2.19},{1.75,.58,1.74,1.53},{2.60,2.93,1.78,1.49},{1.60,1.51,1.89,1.03}}', method => 'rba');
SELECT disclosure_lab.eliminate(d) AS rba, disclosure_lab.eliminate(d, 'mda') AS mda FROM figure;
SELECT disclosure_lab.eliminate(d, 'tba', 1.60) AS tba, disclosure_lab.eliminate(d, 'wba') AS wba FROM figure;
SELECT disclosure_lab.eliminate(d, 'gba') AS gba, disclosure_lab.eliminate(d, 'random') AS random FROM figure;
-- In their order: thresholds .8975 (WBA) and .4451 (GBA, RBA); TBA's own mean is that of the rounded table.
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'mda') s;
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'tba', threshold => 1.60) s;
SELECT (SELECT avg(x) FROM unnest(d) x) AS mean, s.* FROM figure, disclosure_lab.elimination_steps(d, 'tba') s;
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'wba') s;
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'gba') s;
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d) s;
-- WBA starts from distance * (1 - 1/4) * (1 - 1/4).
SELECT (SELECT avg(x) FROM unnest(d) x) * 9 / 16 AS mean, 2.93 * 9 / 16 AS first FROM figure;
-- Definition 20: the gap by the distance of the furthest from the nearest.
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'gba', vulnerability => 'normalised') s;
SELECT s.* FROM figure, disclosure_lab.elimination_steps(d, 'rba', vulnerability => 'normalised') s;
SELECT max(r) AS first_of_rows FROM (SELECT max(gap) / (max(x) - min(x)) AS r FROM (SELECT i, d[i][j] x, d[i][j] - lag(d[i][j]) OVER (PARTITION BY i ORDER BY d[i][j]) gap FROM figure, generate_series(1, 4) i, generate_series(1, 4) j) g GROUP BY i) r;
-- Thresholds that are given.
SELECT method, given, count(s.step), bool_and(s.score > given) AS above, min(s.threshold) = given AS is_given FROM unnest('{tba,wba,gba,rba}'::text[]) method, unnest('{-1,0,0.3,1.5,100}'::float8[]) given
  LEFT JOIN LATERAL disclosure_lab.elimination_steps((SELECT d FROM figure), method, given) s ON true GROUP BY 1, 2 ORDER BY 1, 2;
SELECT method, ratio, count(s.step) FROM unnest('{tba,wba,gba,rba}'::text[]) method, unnest('{0,0.5,1.5,1e308}'::float8[]) ratio
  LEFT JOIN LATERAL disclosure_lab.elimination_steps((SELECT d FROM figure), method, threshold_ratio => ratio) s ON true GROUP BY 1, 2 ORDER BY 1, 2;
-- Never the last of a row or column, however low the threshold; steps and cells are the same.
SELECT method, bool_and(left_in_rows > 0) AS rows, bool_and(left_in_columns > 0) AS columns FROM (
  SELECT method, (SELECT count(*) FROM generate_series(1, 4) j WHERE NOT e[i][j]) AS left_in_rows, (SELECT count(*) FROM generate_series(1, 4) j WHERE NOT e[j][i]) AS left_in_columns
    FROM figure, unnest('{random,mda,tba,wba,gba,rba}'::text[]) method, disclosure_lab.eliminate(d, method, -1) e, generate_series(1, 4) i) l GROUP BY method ORDER BY method;
SELECT method, count(*) AS steps, bool_and(e[row_number][column_number]) AS same, count(*) = (SELECT count(*) FROM unnest(e) x WHERE x) AS all
  FROM figure, unnest('{random,tba,wba,gba,rba}'::text[]) method, disclosure_lab.eliminate(d, method) e, disclosure_lab.elimination_steps(d, method) s GROUP BY method, e ORDER BY method;
-- Only the baseline is random; the same seed draws the same.
SELECT method, count(DISTINCT disclosure_lab.eliminate(d, method, seed => seed)) > 1 AS differ FROM figure, unnest('{random,mda,tba,wba,gba,rba}'::text[]) method, generate_series(-5, 5) seed GROUP BY method ORDER BY method;
SELECT disclosure_lab.eliminate(d, 'random', seed => 9223372036854775807) = disclosure_lab.eliminate(d, 'random', seed => 9223372036854775807) AS same FROM figure;
-- Unknown and negative distances are not reliable: they are not eliminated, but they are there.
SELECT disclosure_lab.eliminate('{{9,NULL},{-9,1}}', 'tba', 0), disclosure_lab.eliminate('{{NULL,NULL},{-1,-2}}', 'tba', -5), disclosure_lab.eliminate('{{-0.0,1},{1,0}}', 'mda');
SELECT method, disclosure_lab.eliminate('{{9,-1,3},{NULL,8,2},{1,1,-0.5}}', method, 0) FROM unnest('{mda,tba,wba,gba,rba}'::text[]) method;
SELECT * FROM disclosure_lab.elimination_steps('{{NULL,NULL},{NULL,NULL}}', 'rba');
-- One row, one column, nothing, NULL; other bounds, other numbers.
SELECT disclosure_lab.eliminate('{{1,2,3}}'), disclosure_lab.eliminate('{{1},{2}}'), disclosure_lab.eliminate('{{5}}', 'mda'), disclosure_lab.eliminate('{}'), disclosure_lab.eliminate(NULL), disclosure_lab.eliminate('[0:1][5:6]={{1,2},{3,9}}', 'mda');
SELECT disclosure_lab.eliminate(ARRAY[[1,2],[3,9]], 'mda') AS of_int, disclosure_lab.eliminate(ARRAY[[1,2],[3,9]]::numeric[], 'mda') AS of_numeric, disclosure_lab.eliminate(ARRAY[[1,2],[3,9]]::float4[], 'mda') AS of_real;
SELECT count(*) FROM disclosure_lab.elimination_steps(NULL);
SELECT count(*) FROM disclosure_lab.elimination_steps('{}');
SELECT disclosure_lab.eliminate('{{1,1},{1,1}}', method, 0) FROM unnest('{mda,tba,wba,gba,rba}'::text[]) method;

-- Figures 1.3 and 1.5, and some documents.
CREATE TABLE original (visit_id int PRIMARY KEY, terms jsonb);
INSERT INTO original VALUES
  (1, '["heart disease", "blood pressure", "icd", "weakness", "dizziness"]'), (2, '["anesthesia", "icd", "pain", "diabetes"]'),
  (3, '["gangrene", "limbs", "injury"]'), (4, '["knee", "injury"]');
CREATE TABLE released (visit_id int PRIMARY KEY, terms jsonb);
INSERT INTO released VALUES
  (1, '["heart disease", ["blood pressure","icd","limbs","injury"], "weakness", "dizziness"]'), (2, '["anesthesia", ["blood pressure","icd","limbs","injury"], "pain", "diabetes"]'),
  (3, '["gangrene", ["blood pressure","icd","limbs","injury"]]'), (4, '["knee", ["blood pressure","icd","limbs","injury"]]');
CREATE TABLE corpus (n int, body text);
INSERT INTO corpus VALUES (1, 'Heart disease and high blood-pressure'), (2, 'HEART   DISEASE needs an ICD.'), (3, 'knee injury'), (4, 'Knee injuries hurt'), (5, 'gangrene of the limbs; an injury'), (6, 'Anesthesia for an icd'),
  (7, 'blood pressure'), (8, 'an injury of the knee'), (9, 'nothing'), (10, ''), (11, NULL), (12, 'the knee''s limbs, heart and disease'), (13, 'anesthesia: knee');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury');
-- By hand: 12 documents, knee in 5, injury in 3, both in 2.
SELECT (ln(5) - ln(2)) / (ln(12) - ln(3)) AS knee_injury, (ln(3) - ln(1)) / (ln(12) - ln(2)) AS limbs_injury;
SELECT disclosure.semantic_distances('corpus', 'body', ARRAY[['knee','injury'],['injury','knee'],['limbs','injury'],['heart disease','blood pressure'],['heart disease','disease'],['knee','knee'],['gangrene','icd'],['knee','nowhere'],['knee',NULL],['','knee']]);
SELECT disclosure.semantic_distances('corpus', 'body', '{knee,injury}'), disclosure.semantic_distances('corpus', 'body', '{}'), disclosure.semantic_distances('corpus', 'body', NULL::text[]), disclosure.semantic_distance('corpus', 'body', NULL, 'knee') AS one_null,
       disclosure.semantic_distance('corpus', 'body', 'knee', NULL) AS other_null, disclosure.semantic_distance('corpus', 'body', 'knee', 'knee') AS same;
-- Plurals, if wanted; case, accents and signs always.
SELECT disclosure.semantic_distance('corpus', 'body', 'Knees', 'INJURY', '{"plurals": true}'), disclosure.semantic_distance('corpus', 'body', 'Knees', 'injury'), disclosure.semantic_distance('corpus', 'body', 'KNÉE', 'Ínjury') AS accents, disclosure.semantic_distance('corpus', 'body', '(blood pressure)', 'heart-disease') AS signs;
SELECT (ln(5) - ln(3)) / (ln(12) - ln(4)) AS with_plurals;
-- Never together: infinitely far, or as if in less than a document.
SELECT disclosure.semantic_distance('corpus', 'body', 'gangrene', 'icd', '{"unseen": 0.5}'), (ln(2) - ln(0.5)) / (ln(12) - ln(1)) AS by_hand, disclosure.semantic_distance('corpus', 'body', 'gangrene', 'icd', '{"unseen": 0}');
SELECT * FROM disclosure.cooccurrence('corpus', 'body', ARRAY['knee','injury','icd','knee',NULL,'nowhere','Knee']);
SELECT * FROM disclosure.cooccurrence('corpus', 'body', '{}');
SELECT * FROM disclosure.term_report('released', 'terms', 'corpus', 'body');
SELECT * FROM disclosure.term_report('released', 'terms', 'corpus', 'body', '{"plurals": true}') WHERE term IN ('injury', 'knee');

-- Documents of other types; a list has whole terms, a text has words.
CREATE TABLE kinds (body varchar(40), c char(40), list text[], v varchar(10)[], j jsonb, js json);
INSERT INTO kinds SELECT body, body, string_to_array(body, ' '), string_to_array(left(body, 9), ' '), to_jsonb(string_to_array(body, ' ')), to_json(string_to_array(body, ' ')) FROM corpus;
SELECT kind, disclosure.semantic_distances('kinds', kind::name, ARRAY[['knee','injury'],['heart','disease'],['heart disease','disease'],['an','icd'],['icd.','of']]) FROM unnest('{body,c,list,v,j,js}'::text[]) kind;
CREATE TABLE lists (l text[], j jsonb);
INSERT INTO lists VALUES ('{Blood Pressure,NULL,knee,knee}', '["Blood Pressure", null, "knee", ["limbs"], 3, true]'), ('{{blood},{pressure}}', '["blood", "pressure", {"knee": 1}]'), ('{}', '[]'), (NULL, NULL), ('{knee}', '["knee"]');
SELECT * FROM disclosure.cooccurrence('lists', 'l', '{blood pressure,blood,knee,3,limbs}');
SELECT * FROM disclosure.cooccurrence('lists', 'j', '{blood pressure,blood,knee,3,limbs}');
-- Documents as lexemes: terms become such by the same configuration.
CREATE TABLE vectors AS SELECT n, to_tsvector('english', body) AS english, to_tsvector('simple', body) AS simple, strip(to_tsvector('english', body)) AS stripped, setweight(to_tsvector('english', body), 'A') AS weighted FROM corpus;
SELECT kind, disclosure.semantic_distances('vectors', kind::name, ARRAY[['knees','injuries'],['heart diseases','blood pressure'],['heart disease','heart'],['gangrene of the limb','injury'],['the','knee']], '{"config": "english"}') FROM unnest('{english,weighted,stripped}'::text[]) kind;
SELECT (ln(5) - ln(3)) / (ln(12) - ln(4)) AS knees, (ln(2) - ln(1)) / (ln(12) - ln(2)) AS heart_diseases, (ln(3) - ln(2)) / (ln(12) - ln(2)) AS heart, (ln(4) - ln(1)) / (ln(12) - ln(1)) AS gangrene;
SELECT disclosure.semantic_distances('vectors', 'simple', ARRAY[['knee','injury'],['blood pressure','heart'],['the limbs','gangrene']], '{"config": "simple"}');
SELECT abs(disclosure.semantic_distance('vectors', 'simple', 'knee', 'injury', '{"config": "pg_catalog.simple"}') - (ln(5) - ln(2)) / (ln(12) - ln(3))) < 1e-12 AS same;
SET default_text_search_config = 'pg_catalog.english';
SELECT disclosure.semantic_distance('vectors', 'english', 'knees', 'injuries') AS of_session;
SET default_text_search_config = 'pg_catalog.simple';
SELECT disclosure.semantic_distance('vectors', 'english', 'knees', 'injuries') AS of_session;
RESET default_text_search_config;
-- Stop words within a phrase leave a gap, in which any word may be.
SELECT * FROM disclosure.cooccurrence('vectors', 'english', ARRAY['gangrene of the limbs', 'gangrene limbs', 'gangrene in all limbs', 'limbs gangrene'], '{"config": "english"}');
-- Quotes, backslashes and signs in lexemes.
CREATE TABLE quoted AS SELECT $$'o''neil':1,7A 'back\\slash':2B 'a:1':3 'x':4,5,6$$::tsvector AS v UNION ALL SELECT 'plain';
SELECT v FROM quoted;
SELECT * FROM disclosure.cooccurrence('quoted', 'v', ARRAY['x', 'x x', 'x x x', 'x x x x', 'plain', 'slash'], '{"config": "simple"}');
-- Pathological phrases.
CREATE TABLE repeated (body text);
INSERT INTO repeated VALUES ('a a a'), ('a a a a a'), ('a, A. á'), ('b a b a b'), ('ab');
SELECT * FROM disclosure.cooccurrence('repeated', 'body', ARRAY['a', 'a a', 'a a a a a', 'b a b', 'a b a', '...']);

-- Counts: made by cooccurrence() they give the same distances.
CREATE TABLE counts AS SELECT * FROM disclosure.cooccurrence('corpus', 'body', ARRAY(SELECT term FROM disclosure.term_report('released', 'terms', 'corpus', 'body')));
SELECT count(*) AS pairs, count(*) FILTER (WHERE disclosure.semantic_distance('corpus', 'body', a.term, b.term) IS DISTINCT FROM disclosure.semantic_distance('counts', 'documents', a.term, b.term)) AS different
  FROM disclosure.term_report('released', 'terms', 'corpus', 'body') a, disclosure.term_report('released', 'terms', 'corpus', 'body') b;
-- Two spellings of one term, what contradicts itself, sums of counts, and documents that are arrays of numbers.
CREATE TABLE odd_counts (term text, other text, documents numeric);
INSERT INTO odd_counts VALUES (NULL, NULL, 100), ('knee', NULL, 10), ('injury', 'injury', 20), ('injury', 'knee', 5);
SELECT disclosure.semantic_distance('odd_counts', 'documents', 'knee', 'Knee') AS same, abs(disclosure.semantic_distance('odd_counts', 'documents', 'KNEE', 'injury') - (ln(20) - ln(5)) / (ln(100) - ln(10))) < 1e-12 AS by_hand;
INSERT INTO odd_counts VALUES ('KNEE', 'knee', 10), ('knee', 'injury', 5);
SELECT disclosure.semantic_distance('odd_counts', 'documents', 'knee', 'Knee') AS same;
INSERT INTO odd_counts VALUES ('Knee', NULL, 11);
SELECT disclosure.semantic_distance('odd_counts', 'documents', 'knee', 'injury');
UPDATE odd_counts SET documents = 10 WHERE documents = 11;
INSERT INTO odd_counts VALUES (NULL, NULL, 99);
SELECT disclosure.semantic_distance('odd_counts', 'documents', 'knee', 'injury');
CREATE TABLE number_documents AS SELECT ARRAY[x % 2, x % 3] AS numbers FROM generate_series(1, 12) x;
SELECT abs(disclosure.semantic_distance('number_documents', 'numbers', '0', '1') - (ln(8) - ln(4)) / (ln(12) - ln(8))) < 1e-12 AS by_hand,
       (SELECT count(*) FILTER (WHERE 0 = ANY (numbers)) = 8 AND count(*) FILTER (WHERE 1 = ANY (numbers)) = 8 FROM number_documents) AS counted;
-- Too many terms for all pairs.
SELECT count(*) FROM disclosure.cooccurrence('corpus', 'body', ARRAY(SELECT 'w' || i FROM generate_series(1, 8193) i));
SELECT count(*) AS different FROM (SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', calibration => 0) EXCEPT SELECT * FROM disclosure.semantic_attack('released', 'terms', 'counts', 'documents', calibration => 0)) d;
SELECT * FROM disclosure.term_report('released', 'terms', 'counts', 'documents') EXCEPT SELECT * FROM disclosure.term_report('released', 'terms', 'corpus', 'body');
-- Under other names, with the number of documents said, either way round, as any integer.
CREATE TABLE hits (one text, two text, n smallint);
INSERT INTO hits VALUES ('Knee', 'knee', 100), (NULL, 'injury', 50), ('injury', 'knee', 20), ('KNEE', 'Injury', 20), ('x', NULL, 10), ('y', NULL, 10), ('x', 'y', 40), ('knee', NULL, 100);
SELECT disclosure.semantic_distances('hits', 'n', ARRAY[['knee','injury'],['x','y'],['x','knee'],['x','z']], '{"documents": 1000, "term_column": "one", "other_column": "two"}');
SELECT (ln(100) - ln(20)) / (ln(1000) - ln(50)) AS knee_injury, (ln(10) - ln(40)) / (ln(1000) - ln(10)) AS negative;
SELECT disclosure.semantic_distance('hits', 'n', 'knee', 'injury', '{"term_column": "one", "other_column": "two"}');
SELECT disclosure.semantic_distance('hits', 'n', 'knee', 'injury', '{"documents": 99, "term_column": "one", "other_column": "two"}');
SELECT disclosure.semantic_distance('hits', 'n', 'knee', 'injury', '{"documents": 1000}');
SELECT disclosure.semantic_distance('hits', 'n', 'knee', 'injury', '{"documents": 1000, "term_column": "one"}');
-- Counts that contradict each other.
INSERT INTO hits VALUES ('knee', 'injury', 21);
SELECT disclosure.semantic_distance('hits', 'n', 'knee', 'injury', '{"documents": 1000, "term_column": "one", "other_column": "two"}');
SELECT disclosure.semantic_distance('hits', 'n', 'x', 'y', '{"documents": 1000, "term_column": "one", "other_column": "two"}') AS of_others;
UPDATE hits SET n = -1 WHERE n = 21;
SELECT disclosure.semantic_distance('hits', 'n', 'x', 'y', '{"documents": 1000, "term_column": "one", "other_column": "two"}');
UPDATE hits SET n = NULL WHERE n = -1;
SELECT disclosure.semantic_distance('hits', 'n', 'x', 'y', '{"documents": 1000, "term_column": "one", "other_column": "two"}');
-- A negative distance, f(x, y) > f(x), is never eliminated.
CREATE TABLE web (term text, other text, documents bigint);
INSERT INTO web VALUES (NULL, NULL, 1000), ('c', NULL, 10), ('d', NULL, 20), ('p', NULL, 10), ('q', NULL, 10), ('r', NULL, 10), ('c', 'p', 40), ('c', 'q', 1), ('c', 'r', 9), ('d', 'p', 1), ('d', 'q', 1);
CREATE TABLE letters (id text, terms jsonb);
INSERT INTO letters VALUES ('A', '["c", ["p","q","r"]]'), ('B', '["d", ["p","q","r"]]');
SELECT * FROM disclosure_lab.distance_table('letters', 'terms', 'web', 'documents', '{p,q,r}', key => 'id');
SELECT transaction, item, distance, eliminated, step FROM disclosure.semantic_attack('letters', 'terms', 'web', 'documents', 'id', method => 'tba', threshold => -10, calibration => 0);

-- Vectors: cosine distance.
CREATE TABLE embedding (term text, v float4[], w float8[], n float8[]);
INSERT INTO embedding VALUES ('Knee', '{1,0}', '{1,0}', '{1}'), ('injury', '{1,1}', '{1e-30,1e-30}', '{1,2}'), ('limbs', '{-2,0}', '{-2e30,0}', '{1,NULL}'), ('zero', '{0,0}', '{0,0}', '{NaN}'), (NULL, '{5}', '{5}', '{5}'), ('none', NULL, NULL, NULL), ('knee', '{1,0}', '{1,0}', '{1}'), ('blood pressure', '{0,3}', '{0,3}', '{1}');
SELECT kind, disclosure.semantic_distances('embedding', kind::name, ARRAY[['knee','injury'],['knee','limbs'],['blood pressure','knee'],['knee','knee'],['knee','zero'],['zero','zero'],['none','knee'],['nowhere','knee']]) FROM unnest('{v,w}'::text[]) kind;
SELECT 1 - 1 / sqrt(2) AS knee_injury;
SELECT disclosure.semantic_distance('embedding', 'n', 'knee', 'blood pressure') AS one_length, disclosure.semantic_distance('embedding', 'v', 'KNEES', 'blood pressure', '{"plurals": true}') AS plural;
SELECT disclosure.semantic_distance('embedding', 'n', 'knee', 'injury');
SELECT disclosure.semantic_distance('embedding', 'n', 'knee', 'zero');
SELECT disclosure.semantic_distance('embedding', 'n', 'limbs', 'limbs');
SELECT * FROM disclosure.term_report('released', 'terms', 'embedding', 'v') WHERE is_known;
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'embedding', 'v', '{injury,limbs,blood pressure,icd}', key => 'visit_id');
SELECT * FROM disclosure.cooccurrence('embedding', 'v', '{knee}');
INSERT INTO embedding VALUES ('KNEE', '{1,2}');
SELECT disclosure.semantic_distance('embedding', 'v', 'knee', 'injury');
SELECT disclosure.semantic_distance('embedding', 'v', 'limbs', 'injury');

-- The distance table of Figure 3.6's generalised item: means over up to so many of the nearest items.
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', generalised => ARRAY['blood pressure','icd','limbs','injury'], context => 2);
SELECT transaction, context FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', ARRAY['injury','icd','limbs','blood pressure'], 'visit_id', 2147483647);
-- By hand, from single distances.
SELECT bool_and(abs(d.distances[j] - mean) < 1e-12) AS same, count(mean) FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{injury,limbs,icd,blood pressure}', context => 3) d, generate_series(1, 4) j,
  LATERAL (SELECT avg(disclosure.semantic_distance('corpus', 'body', c, ('{injury,limbs,icd,blood pressure}'::text[])[j], '{"unseen": 0.5}')) AS mean FROM unnest(context) c) m;
-- Items in several places; nearest first, in front before behind; generalised ones are no context.
CREATE TABLE places (terms jsonb);
INSERT INTO places VALUES ('["a", "b", ["x","y"], "c", "d", ["y","x"], "e"]'), ('[["x","y"]]'), ('["a", "x", ["x","y"], ["x","z"], "d", "a"]'), ('["a", "b"]'), ('[]'), (NULL), ('[["z","x"], ["x","x"], "f"]');
SELECT transaction, context FROM disclosure_lab.distance_table('places', 'terms', 'corpus', 'body', '{x,y,x}', context => 3);
SELECT transaction, context FROM disclosure_lab.distance_table('places', 'terms', 'corpus', 'body', '{z,x}', context => 1);

-- The attack.
SELECT * FROM disclosure.semantic_attack('released', 'terms', key => 'visit_id', corpus => 'corpus', corpus_column => 'body', method => 'rba', context => 2);
-- It is what the eliminations make of the distance table.
SELECT method, bool_and(a.eliminated = e.eliminated[a.row][a.col] AND a.distance = e.distances[a.row][a.col]) AS same FROM unnest('{mda,tba,wba,gba,rba,random}'::text[]) method,
  LATERAL (SELECT distances, disclosure_lab.eliminate(distances, method, seed => 3) AS eliminated FROM (SELECT array_agg(distances ORDER BY transaction) AS distances FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{blood pressure,icd,injury,limbs}')) t) e,
  LATERAL (SELECT *, transaction::int AS row, array_position(generalised, item) AS col FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', 'visit_id', method, seed => 3, calibration => 0)) a GROUP BY method ORDER BY method;
SELECT * FROM disclosure.semantic_attack('places', 'terms', 'corpus', 'body', calibration => 0);
-- How well it does: as counted by hand.
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', methods => ARRAY['random','mda','tba','wba','gba','rba']);
SELECT q.method, q.eliminations = a.eliminations AND q.correct = a.correct AND q.cover = a.cover AND q.density = 6 / 16.0 AS same, abs(q.precision_score - a.correct::float8 / a.eliminations) < 1e-12 AS precision_score, abs(q.recall_score - a.correct::float8 / a.cover) < 1e-12 AS recall_score,
       abs(q.f_score - 2 / (1 / q.precision_score + 1 / q.recall_score)) < 1e-12 AS f_score
  FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{random,mda,tba,wba,gba,rba}') q,
  LATERAL (SELECT count(*) FILTER (WHERE eliminated) AS eliminations, count(*) FILTER (WHERE eliminated AND NOT o.terms ? item) AS correct, count(*) FILTER (WHERE NOT o.terms ? item) AS cover
             FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', 'visit_id', q.method, calibration => 0) s JOIN original o ON o.visit_id = s.transaction::int) a;
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba,rba}', threshold => 100);
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{}');
SELECT * FROM disclosure.attack_quality('original', 'original', 'terms', 'corpus', 'body', 'visit_id', '{rba}');
-- What is left of the protection.
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', privacy => '[["blood pressure"],["icd"],["limbs"],["injury"]]', k => 4);
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', privacy => '[["blood pressure","icd"],["limbs","injury","limbs"],["heart disease"],["nowhere"],["icd"]]', k => 4, threshold => 100);
SELECT b.privacy_constraint, b.support = left_over AS same FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', privacy => '[["blood pressure"],["icd"],["limbs"],["injury"]]', k => 4) b,
  LATERAL (SELECT count(*) AS left_over FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', 'visit_id', calibration => 0) WHERE item = privacy_constraint[1] AND NOT eliminated) l;
SELECT count(*) FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', '[["icd"]]', 1);
SELECT count(*) FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', '[]', 4);
-- Terms that the corpus does not have.
CREATE TABLE unknown (terms jsonb);
INSERT INTO unknown VALUES ('["qwx", ["injury","limbs"]]'), ('["knee", ["injury","limbs"]]'), ('[["injury","limbs"]]'), ('["knee", ["zzz","limbs"]]'), ('["icd", ["zzz","limbs"]]');
SELECT transaction, item, distance, eliminated, step FROM disclosure.semantic_attack('unknown', 'terms', 'corpus', 'body', method => 'tba', threshold => 0, calibration => 0);

-- Confidence: learnt from items that are generalised again.
CREATE TABLE citations AS SELECT i AS id, to_jsonb(ARRAY['topic' || i % 7, 'word' || i % 7 || '_' || i % 11, 'word' || i % 7 || '_' || i * i % 13, 'other' || i % 17]) AS terms FROM generate_series(1, 600) i;
CREATE TABLE abstracts AS SELECT terms FROM citations WHERE id % 2 = 0;
CREATE TABLE papers AS SELECT * FROM citations WHERE id % 2 = 1;
CREATE TABLE protected AS SELECT transaction::int AS id, terms FROM disclosure.coat('papers', 'terms', '[["topic1"],["topic2"],["word3_1"],["word4_2"]]', 60, 'id', item_order => 'kept');
SELECT count(*), count(confidence) = count(*) FILTER (WHERE eliminated) AS each_elimination, min(confidence) >= 0 AND max(confidence) <= 1 AS are_shares FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id');
SELECT count(confidence) FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', calibration => 0);
SELECT count(*) AS bins, bool_and(eliminations > 0 AND predicted BETWEEN 0 AND 1 AND observed BETWEEN 0 AND 1) AS are_shares, bool_and(predicted >= before) AS rises
  FROM (SELECT *, lag(predicted, 1, 0) OVER (ORDER BY bin) AS before FROM disclosure_lab.attack_calibration('protected', 'terms', 'abstracts', 'terms')) b;
SELECT count(*) AS bins, sum(eliminations) = (SELECT count(*) FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id') WHERE eliminated) AS all,
       abs(sum(eliminations * observed) - (SELECT correct FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', '{rba}'))) < 1e-9 AS as_right
  FROM disclosure_lab.attack_calibration('protected', 'terms', 'abstracts', 'terms', original => 'papers', key => 'id');
SELECT * FROM disclosure_lab.attack_calibration('protected', 'terms', 'abstracts', 'terms', calibration => 0);
SELECT * FROM disclosure_lab.attack_calibration('released', 'terms', 'corpus', 'body');
-- The same for the same seed, and in whatever order rows are.
CREATE TABLE shuffled AS SELECT * FROM protected ORDER BY id * 7919 % 601 DESC;
SELECT method, count(*) AS different FROM unnest('{random,rba}'::text[]) method,
  LATERAL (SELECT * FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', method, seed => 7) EXCEPT SELECT * FROM disclosure.semantic_attack('shuffled', 'terms', 'abstracts', 'terms', 'id', method, seed => 7)) d GROUP BY method;
SELECT * FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', context => 2) EXCEPT SELECT * FROM disclosure.attack_quality('papers', 'shuffled', 'terms', 'abstracts', 'terms', 'id', context => 2);
SELECT count(*) > 0 AS other_seed FROM (SELECT * FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', 'random', seed => 7) EXCEPT SELECT * FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', 'random', seed => 8)) d;

-- Settings that are not given are chosen without the original: what semantic_attack does by default is what it does with
-- the chosen ones, and these are the best of the candidates against artificial generalised items.
CREATE TABLE settings AS SELECT * FROM disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id');
SELECT count(*), count(DISTINCT context) AS contexts, count(DISTINCT combine) AS combines, count(DISTINCT threshold_ratio) AS ratios, count(DISTINCT unseen) AS unseen, count(*) FILTER (WHERE chosen) AS chosen,
       max(f_score) FILTER (WHERE chosen) = max(f_score) AS is_best, bool_and(abs(f_score - 2.0 * correct / (eliminations + cover)) < 1e-12) AS by_hand FROM settings;
SELECT context, combine, threshold_ratio, unseen FROM settings WHERE chosen;
SELECT count(*) FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', calibration => 0);
SELECT count(*) AS different FROM settings s, LATERAL (SELECT * FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id')
  EXCEPT SELECT * FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', context => s.context, combine => s.combine, threshold_ratio => s.threshold_ratio, scoring => jsonb_build_object('unseen', s.unseen))) d WHERE chosen;
SELECT * FROM settings EXCEPT SELECT * FROM disclosure_lab.attack_settings('shuffled', 'terms', 'abstracts', 'terms', 'id');
SELECT method, q.context = s.context AND q.combine = s.combine AND q.threshold_ratio IS NOT DISTINCT FROM s.threshold_ratio AND q.unseen = s.unseen AS as_chosen
  FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', '{mda,tba,rba}') q, LATERAL disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id', q.method) s WHERE s.chosen;
-- Only what is not given is chosen.
SELECT count(*), count(DISTINCT unseen) FROM disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id', 'gba', context => 3, combine => 'nearest', threshold_ratio => 0.5);
SELECT count(*), count(threshold_ratio) AS ratios FROM disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id', threshold => 0.1, scoring => '{"unseen": 0.2}');
SELECT count(*) FROM disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id', context => 3, combine => 'nearest', threshold_ratio => 0.5, scoring => '{"unseen": 0.2}');
SELECT count(*) FROM disclosure_lab.attack_settings('protected', 'terms', 'abstracts', 'terms', 'id', 'random');
SELECT count(*) FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', context => 3, combine => 'mean', threshold_ratio => 0.5, scoring => '{"unseen": 0.2}', calibration => 0);
CREATE TABLE word_vectors AS SELECT DISTINCT term, ARRAY[length(term), ascii(substr(term, 6)), 1]::float4[] AS v FROM papers, jsonb_array_elements_text(terms) term;
SELECT count(*), count(unseen) AS unseen FROM disclosure_lab.attack_settings('protected', 'terms', 'word_vectors', 'v', 'id');
SELECT count(*) FROM disclosure.semantic_attack('protected', 'terms', 'word_vectors', 'v', 'id', context => 3, combine => 'mean', threshold_ratio => 0.5, calibration => 0);
SELECT * FROM disclosure_lab.attack_settings('released', 'terms', 'corpus', 'body', 'visit_id');
-- Several contexts: one row for each size; as one context, or each item as one of its own.
SELECT count(*) AS different FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', '{rba}', contexts => '{1,5}', threshold_ratio => 1) q
  LEFT JOIN LATERAL disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', ARRAY[q.method], context => q.context, threshold_ratio => 1) one ON one = q WHERE one IS NULL;
SELECT method, context FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', '{rba,mda}', '{5,1,5}', combine => 'mean', threshold_ratio => 1, scoring => '{"unseen": 0.1}');
SELECT count(*) FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', contexts => '{}');
CREATE TABLE one_item AS SELECT generalised FROM disclosure.semantic_attack('protected', 'terms', 'abstracts', 'terms', 'id', 'mda', context => 3, combine => 'mean', calibration => 0, scoring => '{"unseen": 0.5}') ORDER BY cardinality(generalised), generalised LIMIT 1;
SELECT bool_and(n.distances[j] = least) AS same, bool_and(n.distances[j] <= m.distances[j]) AS nearer, bool_or(n.distances[j] < m.distances[j]) AS not_always
  FROM one_item, LATERAL (SELECT * FROM disclosure_lab.distance_table('protected', 'terms', 'abstracts', 'terms', generalised, 'id', context => 3, combine => 'nearest') ORDER BY transaction LIMIT 5) n
  JOIN LATERAL disclosure_lab.distance_table('protected', 'terms', 'abstracts', 'terms', generalised, 'id', context => 3) m USING (transaction), generate_subscripts(n.distances, 1) j,
  LATERAL (SELECT min(disclosure.semantic_distance('abstracts', 'terms', c, generalised[j], '{"unseen": 0.5}')) AS least FROM unnest(n.context) c) l;
-- By density: the bins make up the whole, and each generalised item is in its own.
SELECT q.method, q.generalised_items = b.generalised_items AND q.eliminations = b.eliminations AND q.correct = b.correct AND q.cover = b.cover AS make_up, bins > 1 AS several, in_bin
  FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', '{tba,rba}', context => 2, combine => 'mean') q,
  LATERAL (SELECT count(*) AS bins, sum(generalised_items) AS generalised_items, sum(eliminations) AS eliminations, sum(correct) AS correct, sum(cover) AS cover, bool_and(density >= density_from AND density < density_to) AS in_bin
             FROM disclosure.attack_quality('papers', 'protected', 'terms', 'abstracts', 'terms', 'id', ARRAY[q.method], context => 2, combine => 'mean', density_bounds => '{0.1,0.2,0.3,0.4,0.5,0.6,0.7}')) b;
SELECT method, correct, density, density_from, density_to, generalised_items FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{gba,rba}', density_bounds => '{0.375, 0.5}');
SELECT count(*) FROM disclosure.attack_quality('original', 'original', 'terms', 'corpus', 'body', 'visit_id', density_bounds => '{0.5}');

-- Without a context there is no attack, and nobody shall think that all is well.
CREATE TABLE contextless (id int, terms jsonb);
INSERT INTO contextless VALUES (1, '[["p","q","r"]]'), (2, '[["p","q","r"]]');
SELECT * FROM disclosure.semantic_attack('contextless', 'terms', 'web', 'documents', 'id');
SELECT * FROM disclosure.broken_constraints('contextless', 'terms', 'web', 'documents', '[["p"],["q","r"],["nowhere"]]', 2);
SELECT * FROM disclosure.broken_constraints('contextless', 'terms', 'web', 'documents', '[["p"],["q","r"]]', 1);
CREATE VIEW contextless_original AS SELECT id, '["p","q"]'::jsonb AS terms FROM contextless;
SELECT eliminations, cover FROM disclosure.attack_quality('contextless_original', 'contextless', 'terms', 'web', 'documents', 'id', '{rba}');
SELECT * FROM disclosure_lab.attack_calibration('contextless', 'terms', 'web', 'documents');
SELECT * FROM disclosure_lab.attack_settings('contextless', 'terms', 'web', 'documents');
INSERT INTO contextless VALUES (3, '["c", ["p","q","r"]]'), (4, '["unheard", ["p","q","r"]]'), (5, '["d", ["p","q","r"]]');
SELECT * FROM disclosure.semantic_attack('contextless', 'terms', 'web', 'documents', 'id', 'tba', context => 2, combine => 'mean', threshold => 0.5, calibration => 0, scoring => '{"unseen": 0.5}');
SELECT * FROM disclosure.broken_constraints('contextless', 'terms', 'web', 'documents', '[["p"],["q"],["r"],["q","r"],["c"]]', 3, 'tba', context => 2, combine => 'mean', threshold => 0.5, scoring => '{"unseen": 0.5}');
SELECT verdict, privacy_constraint, support FROM disclosure.broken_constraints('contextless', 'terms', 'web', 'documents', '[["p"],["q"],["r"]]', 2, 'tba', context => 2, combine => 'mean', threshold => 0.5, scoring => '{"unseen": 0.5}');
-- Many members in many transactions, and nothing to attack: no rows, and quickly.
CREATE TABLE large_sets AS SELECT i AS id, jsonb_build_array(members) AS terms FROM generate_series(1, 600) i, (SELECT jsonb_agg('member ' || m) AS members FROM generate_series(1, 250) m) one;
SELECT count(*) FROM disclosure.semantic_attack('large_sets', 'terms', 'corpus', 'body', 'id');
SELECT verdict, count(*), sum(transactions) FROM disclosure.broken_constraints('large_sets', 'terms', 'corpus', 'body', '[["member 1"], ["member 2", "member 3"]]', 5) GROUP BY verdict;

-- Nothing to attack, nothing to know.
CREATE TABLE empty (id int, terms jsonb, body text, counts int, vectors float4[]);
SELECT * FROM disclosure.semantic_attack('empty', 'terms', 'corpus', 'body', 'id', calibration => 0);
SELECT * FROM disclosure.term_report('empty', 'terms', 'corpus', 'body');
SELECT * FROM disclosure.broken_constraints('empty', 'terms', 'corpus', 'body', '[["icd"]]', 2);
SELECT * FROM disclosure.attack_quality('empty', 'empty', 'terms', 'corpus', 'body', 'id', '{rba}');
SELECT disclosure.semantic_distance('empty', 'body', 'knee', 'injury'), disclosure.semantic_distance('empty', 'terms', 'knee', 'injury'), disclosure.semantic_distance('empty', 'vectors', 'knee', 'injury', '{"term_column": "body"}');
SELECT * FROM disclosure.cooccurrence('empty', 'body', '{knee}');
SELECT disclosure.semantic_distance('empty', 'counts', 'knee', 'injury', '{"documents": 0, "term_column": "body", "other_column": "body"}');
SELECT transaction, item, distance, eliminated FROM disclosure.semantic_attack('letters', 'terms', 'empty', 'body', 'id', calibration => 0);
-- Names that need quotes, and views.
CREATE TABLE "Odd ""corpus" ("Bo""dy" text[], "Te""rm" text, "Oth er" text, "#" int);
INSERT INTO "Odd ""corpus" VALUES ('{knee,injury}', 'knee', NULL, 2), ('{knee}', 'injury', NULL, 1), ('{}', 'knee', 'injury', 1);
SELECT disclosure.semantic_distance('"Odd ""corpus"', 'Bo"dy', 'knee', 'injury'), disclosure.semantic_distance('"Odd ""corpus"', '#', 'knee', 'injury', '{"documents": 3, "term_column": "Te\"rm", "other_column": "Oth er"}');
CREATE VIEW "Odd view" AS SELECT visit_id AS "I""D", terms AS "T erms" FROM released WHERE visit_id > 2;
SELECT transaction, item, eliminated FROM disclosure.semantic_attack('"Odd view"', 'T erms', '"Odd ""corpus"', 'Bo"dy', 'I"D', calibration => 0);

-- What is refused.
SELECT disclosure_lab.eliminate('{1,2}');
SELECT disclosure_lab.eliminate('{{{1}}}');
SELECT disclosure_lab.eliminate('{{1,Infinity},{1,1}}');
SELECT disclosure_lab.eliminate('{{1,NaN},{1,1}}');
SELECT disclosure_lab.eliminate('{{1}}', 'guess');
SELECT disclosure_lab.eliminate('{{1}}', NULL);
SELECT disclosure_lab.eliminate('{{1}}', threshold => 'NaN');
SELECT disclosure_lab.eliminate('{{1}}', threshold => 'Infinity');
SELECT disclosure_lab.eliminate('{{1}}', threshold_ratio => -1);
SELECT disclosure_lab.eliminate('{{1}}', threshold_ratio => NULL);
SELECT disclosure_lab.eliminate('{{1}}', threshold_ratio => 'NaN');
SELECT disclosure_lab.eliminate('{{1}}', vulnerability => 'other');
SELECT disclosure_lab.eliminate('{{1}}', vulnerability => NULL);
SELECT disclosure_lab.eliminate('{{1}}', seed => NULL);
SELECT * FROM disclosure_lab.elimination_steps('{{1}}', 'guess');
SELECT disclosure.semantic_distance(NULL, 'body', 'knee', 'injury');
SELECT disclosure.semantic_distance('corpus', NULL, 'knee', 'injury');
SELECT disclosure.semantic_distance('corpus', 'nothing', 'knee', 'injury');
CREATE TABLE dates (d date);
SELECT disclosure.semantic_distance('dates', 'd', 'knee', 'injury');
SELECT disclosure.semantic_distance('corpus', 'n', 'knee', 'injury');
SELECT disclosure.semantic_distances('corpus', 'body', '{knee,injury,icd}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '[]');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"plural": true}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"plurals": 1}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"unseen": 1}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"unseen": -0.1}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"documents": -1}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', '{"config": null}');
SELECT disclosure.semantic_distance('vectors', 'english', 'knee', 'injury', '{"config": "klingon"}');
SELECT disclosure.semantic_distance('corpus', 'body', 'knee', 'injury', 'null') IS NOT NULL AS as_default;
CREATE TABLE no_lists AS SELECT '{"a": 1}'::jsonb AS j;
SELECT disclosure.semantic_distance('no_lists', 'j', 'a', 'b');
SELECT * FROM disclosure.cooccurrence('corpus', 'body', NULL);
SELECT * FROM disclosure.term_report(NULL, 'terms', 'corpus', 'body');
SELECT * FROM disclosure.term_report('released', NULL, 'corpus', 'body');
SELECT * FROM disclosure.term_report('released', 'visit_id', 'corpus', 'body');
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', NULL);
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,NULL}');
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,limbs}');
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{}');
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,limbs,injury,blood pressure}', context => 0);
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,limbs,injury,blood pressure}', context => NULL);
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,limbs,injury,blood pressure}', scoring => '{"unseen": 0}');
SELECT * FROM disclosure.semantic_attack(NULL, 'terms', 'corpus', 'body');
SELECT * FROM disclosure.semantic_attack('released', 'terms', NULL, 'body');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', 'nothing');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', method => 'abc');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', context => -1);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', threshold => 'NaN');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', threshold_ratio => -1);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', threshold => 1, threshold_ratio => 1);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', combine => 'middle');
SELECT * FROM disclosure_lab.distance_table('released', 'terms', 'corpus', 'body', '{icd,limbs,injury,blood pressure}', combine => NULL);
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', contexts => '{1,0}');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', contexts => '{1,NULL}');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', contexts => '{1,2}', context => 2);
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', density_bounds => '{0.5,0.4}');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', density_bounds => '{0.5,NULL}');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', density_bounds => '{0}');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', vulnerability => '');
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', seed => NULL);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', calibration => -1);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', calibration => NULL);
SELECT * FROM disclosure.semantic_attack('released', 'terms', 'corpus', 'body', scoring => '{"unseen": 0}');
SELECT * FROM disclosure.attack_quality(NULL, 'released', 'terms', 'corpus', 'body', 'visit_id');
SELECT * FROM disclosure.attack_quality('original', NULL, 'terms', 'corpus', 'body', 'visit_id');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', NULL);
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', NULL);
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba,NULL}');
SELECT * FROM disclosure.attack_quality('original', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba,abc}');
SELECT * FROM disclosure.attack_quality('released', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba}');
CREATE VIEW of_two AS SELECT visit_id / 2 AS visit_id, terms FROM original;
SELECT * FROM disclosure.attack_quality('of_two', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba}');
CREATE VIEW of_some AS SELECT * FROM original WHERE visit_id < 4;
SELECT * FROM disclosure.attack_quality('of_some', 'released', 'terms', 'corpus', 'body', 'visit_id', '{rba}');
CREATE VIEW released_twice AS SELECT * FROM released UNION ALL SELECT * FROM released;
SELECT * FROM disclosure.attack_quality('original', 'released_twice', 'terms', 'corpus', 'body', 'visit_id', '{rba}');
SELECT * FROM disclosure_lab.attack_calibration('released', 'terms', 'corpus', 'body', original => 'original');
SELECT * FROM disclosure_lab.attack_calibration('released', 'terms', 'corpus', 'body', calibration => -1);
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', NULL, 4);
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', '["icd"]', 4);
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', '[["icd"]]', 0);
SELECT * FROM disclosure.broken_constraints('released', 'terms', 'corpus', 'body', '[["icd"]]', NULL);
-- Too much to ask for.
CREATE VIEW long_corpus AS SELECT ARRAY['a', 'b', 'c'] AS list FROM generate_series(1, 2000000);
SET disclosure.max_memory = '1MB';
SELECT disclosure.semantic_distances('long_corpus', 'list', ARRAY['a','b','a','c']);
RESET disclosure.max_memory;

-- A caller sees what it may see, no more.
CREATE ROLE semantic_keeper;
CREATE ROLE semantic_reader;
GRANT CREATE ON SCHEMA public TO semantic_keeper;
SET ROLE semantic_keeper;
CREATE TABLE notes (body text, ward text, terms text[]);
INSERT INTO notes VALUES ('knee injury', 'A', '{knee}'), ('knee', 'A', '{knee}'), ('nothing', 'A', '{}'), ('injury', 'B', '{injury}');
SET ROLE semantic_reader;
SELECT disclosure.semantic_distance('notes', 'body', 'knee', 'injury');
SET ROLE semantic_keeper;
GRANT SELECT (body) ON notes TO semantic_reader;
SET ROLE semantic_reader;
SELECT * FROM disclosure.cooccurrence('notes', 'body', '{knee,injury}');
SELECT * FROM disclosure.term_report('notes', 'terms', 'notes', 'body');
SET ROLE semantic_keeper;
GRANT SELECT ON notes TO semantic_reader;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_ward ON notes FOR SELECT TO semantic_reader USING (ward = 'A');
SET ROLE semantic_reader;
SELECT * FROM disclosure.cooccurrence('notes', 'body', '{knee,injury}');
SELECT * FROM disclosure.term_report('notes', 'terms', 'notes', 'body');
SET row_security = off;
SELECT * FROM disclosure.cooccurrence('notes', 'body', '{knee}');
RESET row_security;
RESET ROLE;
DROP OWNED BY semantic_keeper, semantic_reader;
DROP ROLE semantic_keeper, semantic_reader;
