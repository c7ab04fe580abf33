-- What tests/bench/privacy_score.sh needs in its database.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;

-- Weights in three styles: quasi (the first 70 % of the columns quasi-identifiers, the others sensitive),
-- random (two weights of its own for every value), ones.
CREATE OR REPLACE FUNCTION weights_of(style text, columns text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(c, CASE style
           WHEN 'quasi' THEN to_jsonb(CASE WHEN number <= (cardinality(columns) * 7 + 9) / 10 THEN 'quasi' ELSE 'sensitive' END)
           WHEN 'ones' THEN '{"likelihood": 1, "danger": 1}'
           WHEN 'random' THEN (SELECT jsonb_object_agg(weight, (
               SELECT jsonb_object_agg(v, ('x' || substr(md5(format('%s %s %s', c, v, weight)), 1, 6))::bit(24)::int % 1001 / 1000.0)
                 FROM generate_series(0, 12) v)) FROM unnest(ARRAY['likelihood', 'danger']) weight)
         END)
    FROM unnest(columns) WITH ORDINALITY u (c, number) $$;

-- The names of a table's first columns.
CREATE OR REPLACE FUNCTION columns_of(relation regclass, columns int DEFAULT 1600) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
   WHERE attrelid = relation AND attnum BETWEEN 1 AND columns AND NOT attisdropped $$;

-- A table of columns c1, c2, … with 8 values each, 0 being the most frequent (Zipf). Rows are of eight kinds, and a
-- value is that of its kind with a probability of 0.4.
CREATE OR REPLACE PROCEDURE make_synthetic(name text, number_of_rows int, columns int) LANGUAGE plpgsql AS $$
DECLARE
  thresholds float8[];
  profiles int[];
BEGIN
  PERFORM setseed(0.5);
  SELECT array_agg(threshold ORDER BY threshold) INTO thresholds
    FROM (SELECT sum(1.0 / v) OVER (ORDER BY v) / sum(1.0 / v) OVER () FROM generate_series(1, 8) v) q (threshold)
   WHERE threshold < 1;
  SELECT array_agg(width_bucket(random(), thresholds)) INTO profiles FROM generate_series(1, 8 * columns);
  EXECUTE format('DROP TABLE IF EXISTS %I', name);
  EXECUTE (
    SELECT format('CREATE UNLOGGED TABLE %I AS SELECT %s FROM (SELECT %s * floor(random() * 8)::int AS kind FROM generate_series(1, %s) OFFSET 0) q',
                  name,
                  string_agg(format('CASE WHEN random() < 0.4 THEN (%L::int[])[kind + %s] ELSE width_bucket(random(), %L::float8[]) END AS c%s',
                                    profiles, c, thresholds, c), ', '),
                  columns, number_of_rows)
      FROM generate_series(1, columns) c);
END $$;

-- The table adult out of adult_raw, whose columns are all text: numbers in five bins with as many rows each, of other
-- values the eleven most frequent and one for all others.
CREATE OR REPLACE PROCEDURE make_adult() LANGUAGE plpgsql AS $$
DECLARE
  name text;
  cuts numeric[];
  ranked text[];
  expressions text[];
BEGIN
  FOREACH name IN ARRAY columns_of('adult_raw', 14) LOOP
    EXECUTE format('SELECT array_agg(v ORDER BY n DESC, v COLLATE "C") FROM (SELECT %I v, count(*) n FROM adult_raw GROUP BY 1) q', name)
      INTO ranked;
    IF cardinality(ranked) > 5 AND (SELECT bool_and(v ~ '^[0-9.]+$') FROM unnest(ranked) v) THEN
      EXECUTE format('SELECT array_agg(DISTINCT sorted[b * cardinality(sorted) / 5 + 1]) FROM generate_series(1, 4) b,
                        (SELECT array_agg(%1$I::numeric ORDER BY %1$I::numeric) sorted FROM adult_raw) q', name)
        INTO cuts;
      expressions := expressions || format('width_bucket(%1$I::numeric, %2$L::numeric[]) AS %1$I', name, cuts);
    ELSE
      expressions := expressions || format('least(array_position(%2$L::text[], %1$I) - 1, 11) AS %1$I', name, ranked);
    END IF;
  END LOOP;
  EXECUTE format('CREATE TABLE adult AS SELECT %s FROM adult_raw', array_to_string(expressions, ', '));
END $$;

-- How many values from 0 the first columns of a table have.
CREATE OR REPLACE FUNCTION cards_of(relation regclass, columns int) RETURNS int[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  cards int[];
BEGIN
  EXECUTE (SELECT format('SELECT ARRAY[%s] FROM %s', string_agg(format('max(%I) + 1', c), ', '), relation)
             FROM unnest(columns_of(relation, columns)) c)
    INTO cards;
  RETURN cards;
END $$;

-- The first columns of a table as 0s and 1s: whether a row has each of the values.
CREATE OR REPLACE FUNCTION bits_of(relation regclass, columns int) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY EXECUTE (
    SELECT format('SELECT concat(%s) FROM %s',
                  string_agg(format('overlay(repeat(''0'', %s) PLACING ''1'' FROM %I + 1)', card, c), ', ' ORDER BY n), relation)
      FROM ROWS FROM (unnest(columns_of(relation, columns)), unnest(cards_of(relation, columns))) WITH ORDINALITY u (c, card, n));
END $$;
