#!/usr/bin/env bash
# pg_dump and restore keep every label, set either way, after renames and dropped columns too, every summary, risk views,
# export tables, and trusted functions.
source "$(dirname "$0")/lib.sh"

psql -qX <<'SQL'
LOAD 'pg_disclosure';
SET client_min_messages = warning;
CREATE SCHEMA "Far Away";
CREATE TABLE patients (gone int, age int, zip text, diagnosis text, name text);
CREATE TABLE "Far Away"."Ödd" ("Größe" int);
CREATE TABLE dropped (a int);
DO $$
BEGIN
  PERFORM disclosure.label_column('patients', 'age', 'quasi');
  PERFORM disclosure.label_column('patients', 'zip', 'likelihood=0.9 danger=0.1');
  PERFORM disclosure.label_column('patients', 'name', 'identifier');
  PERFORM disclosure.label_column('"Far Away"."Ödd"', 'Größe', 'sensitive danger={"1 \"ü\" \\\\": 0.5, "*": 0.25}');
  PERFORM disclosure.label_column('dropped', 'a', 'quasi');
END $$;
SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS 'sensitive nulls=value danger={"it''s HIV": 1, "*": 0.3}';
SECURITY LABEL FOR disclosure ON COLUMN patients.name IS 'ignore';
-- After this, positions differ from those in the restored table, and names from those at labelling time.
ALTER TABLE patients DROP COLUMN gone;
ALTER TABLE patients RENAME COLUMN zip TO postcode;
ALTER TABLE patients RENAME COLUMN age TO zip;
DROP TABLE dropped;
-- Risk views of what has changed since.
CREATE TABLE guests (gone int, town text, ill text);
INSERT INTO guests VALUES (1, 'Aix', 'flu'), (2, 'Aix', 'flu'), (3, 'Bar', 'flu'), (4, 'Bar', NULL);
DO $$
BEGIN
  PERFORM disclosure.label_column('guests', 'town', 'quasi');
  ALTER TABLE guests DROP COLUMN gone;
  PERFORM disclosure.risk_view('guests', '"Far Away"."Risk"');
  PERFORM disclosure.risk_view('guests', 'guests_risk', ARRAY['ill', 'town'], '{"ill": {"danger": 0.5}}');
END $$;
ALTER TABLE guests RENAME COLUMN town TO place;
ALTER TABLE guests ADD COLUMN smoker boolean DEFAULT true;
-- Export tables, with constraints that are restored before and after their triggers.
CREATE TABLE outbox (gone int, id int, zip text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
ALTER TABLE outbox DROP COLUMN gone;
CREATE TABLE outbox_low PARTITION OF outbox FOR VALUES FROM (0) TO (10);
CREATE TABLE outbox_high PARTITION OF outbox FOR VALUES FROM (10) TO (20);
CREATE TABLE copies (id int REFERENCES outbox);
DO $$
BEGIN
  PERFORM disclosure.protect('outbox', measure => 'k_anonymity', at_least => 2, columns => ARRAY['zip'], on_rows => 'drop');
  PERFORM disclosure.protect('copies', measure => 'k_anonymity', at_least => 1, on_rows => 'warn');
END $$;
INSERT INTO outbox VALUES (1, 'a'), (11, 'a');
INSERT INTO copies VALUES (11);
-- Trusted functions: of the database, and of what is no longer there.
CREATE FUNCTION decade(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 / 10;
SET client_min_messages = error;
INSERT INTO disclosure.trusted_functions (signature, reason) VALUES ('public.decade(int)', 'rounds'), ('public.gone(public.gone)', NULL);
SET client_min_messages = warning;
-- Terms and presets, for everybody and of a role.
INSERT INTO disclosure.dictionary (language, term, category, label, owner) VALUES ('en', 'frobnication', 'health', 'sensitive', NULL);
INSERT INTO disclosure.dictionary (language, term, matching, category, label) VALUES ('de', 'größe', 'part', 'demographic', 'quasi');
INSERT INTO disclosure.presets (name, criterion, measure, at_least) VALUES ('ours', 'k at least 7', 'k_anonymity', 7);
-- Summaries of items of types that come with the dump.
CREATE TYPE "Far Away"."Größe" AS ENUM ('S', 'M');
CREATE TYPE pair AS (a int, b text);
CREATE COLLATION "Far Away".no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE summaries (name text, s disclosure.item_counts);
INSERT INTO summaries
SELECT 'enum', disclosure.count_items(x) FROM (VALUES ('S'::"Far Away"."Größe"), ('M'), ('S')) v(x) UNION ALL
SELECT 'pair', disclosure.count_items(x) FROM (VALUES ((1, 'a "b"')::pair), ((1, NULL)::pair)) v(x) UNION ALL
SELECT 'folded', disclosure.count_items(x) FROM (VALUES ('a'::text COLLATE "Far Away".no_case), ('A')) v(x) UNION ALL
SELECT 'numbers', disclosure.count_items(ARRAY[x, x % 7]) FROM generate_series(1, 5000) x;
-- And of what is gone or has changed.
CREATE TYPE gone AS ENUM ('a', 'b"', 'c');
CREATE TYPE gone_pair AS (a int, b gone);
CREATE TYPE renamed AS ENUM ('x', 'y');
CREATE TYPE altered AS (a int);
CREATE COLLATION gone_collation (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE gone_table ();
INSERT INTO summaries
SELECT 'gone', disclosure.count_items(x) FROM unnest('{a,"b\"",a}'::gone[]) x UNION ALL
SELECT 'gone pair', disclosure.count_items(x) FROM (VALUES ((1, 'a')::gone_pair), ((NULL, 'c')::gone_pair)) v(x) UNION ALL
SELECT 'renamed', disclosure.count_items(x) FROM unnest('{x,y,x}'::renamed[]) x UNION ALL
SELECT 'altered', disclosure.count_items(x) FROM unnest(ARRAY[ROW(1)::altered]) x UNION ALL
SELECT 'gone collation', disclosure.count_items(x) FROM (VALUES ('a'::text COLLATE gone_collation), ('A')) v(x) UNION ALL
SELECT 'gone table', disclosure.count_items(x) FROM unnest('{gone_table}'::regclass[]) x;
DROP TYPE gone_pair;
DROP TYPE gone;
DROP COLLATION gone_collation;
DROP TABLE gone_table;
ALTER TYPE renamed RENAME VALUE 'x' TO 'z';
ALTER TYPE altered ADD ATTRIBUTE b int;
SQL

labels() {
  psql -qXAt -d "$1" -c 'SELECT relation, column_name, label, likelihood, danger, source FROM disclosure.labels ORDER BY relation::text, column_name'
}

summaries() {
  psql -qXAt -d "$1" -c 'SELECT name, s FROM summaries ORDER BY name'
}

risks() {
  psql -qXAt -d "$1" -c 'SELECT * FROM "Far Away"."Risk" ORDER BY 1, 2' -c 'SELECT * FROM guests_risk ORDER BY 1, 2'
}

exports() {
  psql -qXAt -d "$1" -c "SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgname LIKE 'disclosure%' ORDER BY tgrelid::regclass::text, 2" \
    -c "SELECT policy, relation, measure, at_least, columns, attnums IS NULL, on_rows FROM disclosure_internal.policy ORDER BY policy" \
    -c "INSERT INTO outbox_low VALUES (2, 'a'), (3, 'b')" -c 'SELECT * FROM outbox ORDER BY id' -c 'DELETE FROM outbox WHERE id = 2' 2>&1
}

added() {
  psql -qXAt -d "$1" -c 'SELECT * FROM disclosure.dictionary WHERE NOT shipped ORDER BY term' \
    -c 'SELECT * FROM disclosure.presets WHERE NOT shipped ORDER BY name' \
    -c 'SELECT count(*), count(*) FILTER (WHERE shipped) FROM disclosure.dictionary' \
    -c "SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgrelid::regclass::text IN ('disclosure.dictionary', 'disclosure.presets') ORDER BY tgrelid::regclass::text, tgname"
}

trusted() {
  psql -qXAt -d "$1" -c 'SELECT * FROM disclosure.trusted_functions ORDER BY signature'
}

labels "$PGDATABASE" >"$work/before"
[ "$(wc -l <"$work/before")" = 6 ]
trusted "$PGDATABASE" >"$work/trusted"
[ "$(wc -l <"$work/trusted")" = 2 ]
added "$PGDATABASE" >"$work/added"
[ "$(wc -l <"$work/added")" = 10 ]
summaries "$PGDATABASE" >"$work/summaries"
[ "$(wc -l <"$work/summaries")" = 10 ]
risks "$PGDATABASE" >"$work/risks"
exports "$PGDATABASE" >"$work/exports"
[ "$(grep -c disclosure_ "$work/exports")" = 19 ]
grep -q '1 of 2 rows left out of public.outbox' "$work/exports"
grep -qx 'Aix|flu|0.3333333333333333|2|anyone who knows town=Aix learns ill=flu|1|2' "$work/risks"

pg_dump >"$work/plain.sql"
createdb -T template0 "${PGDATABASE}_plain"
psql -qX -v ON_ERROR_STOP=1 -d "${PGDATABASE}_plain" -f "$work/plain.sql" >/dev/null
labels "${PGDATABASE}_plain" | diff "$work/before" -
trusted "${PGDATABASE}_plain" | diff "$work/trusted" -
added "${PGDATABASE}_plain" | diff "$work/added" -
summaries "${PGDATABASE}_plain" | diff "$work/summaries" -
risks "${PGDATABASE}_plain" | diff "$work/risks" -
exports "${PGDATABASE}_plain" | diff "$work/exports" -

# In binary too, where a version comes first.
psql -qX -c 'COPY summaries TO STDOUT (FORMAT binary)' >"$work/binary"
psql -qX -d "${PGDATABASE}_plain" -c 'TRUNCATE summaries' -c '\copy summaries FROM '"'$work/binary'"' (FORMAT binary)'
summaries "${PGDATABASE}_plain" | diff "$work/summaries" -

# A binary file with one summary of these bytes, of which the first is the version.
sent() { # FORMAT, as printf has it
  local bytes
  printf "$1" >"$work/bytes"
  bytes=$(wc -c <"$work/bytes")
  printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1'
  printf "\\x$(printf %02x $((bytes >> 24)))\\x$(printf %02x $((bytes >> 16 & 255)))\\x$(printf %02x $((bytes >> 8 & 255)))\\x$(printf %02x $((bytes & 255)))"
  cat "$work/bytes"
  printf '\377\377'
}
psql -qX -c 'CREATE TABLE received (s disclosure.item_counts)'
valid='{"type": "integer", "transactions": 2, "items": [["1", 2]]}'
receive() { # FORMAT: the SQLSTATE, or 00000
  sent "$1" >"$work/sent"
  psql -qX -v VERBOSITY=sqlstate -c "\\copy received FROM '$work/sent' (FORMAT binary)" 2>"$work/error" && echo 00000 ||
    sed -n 's/.*ERROR:  //p' "$work/error"
}
[ "$(receive "\\x01$valid")" = 00000 ]
[ "$(receive "\\x00$valid")" = 22P03 ]
[ "$(receive "\\x02$valid")" = 22P03 ]
[ "$(receive "$valid")" = 22P03 ]
[ "$(receive '')" = 08P01 ]
[ "$(receive "\\x01")" = 22P02 ]
[ "$(receive "\\x01\\xff$valid")" = 22021 ]
for length in 1 7 20 33 50; do
  [ "$(receive "\\x01${valid:0:length}")" = 22P02 ]
done
[ "$(psql -qXAt -c 'SELECT s FROM received')" = "$valid" ]

pg_dump -Fc -f "$work/custom"
createdb -T template0 "${PGDATABASE}_custom"
pg_restore --exit-on-error -d "${PGDATABASE}_custom" "$work/custom"
labels "${PGDATABASE}_custom" | diff "$work/before" -
added "${PGDATABASE}_custom" | diff "$work/added" -
summaries "${PGDATABASE}_custom" | diff "$work/summaries" -
risks "${PGDATABASE}_custom" | diff "$work/risks" -
exports "${PGDATABASE}_custom" | diff "$work/exports" -

# A restored label is as good as a new one: it follows renames and can be changed.
psql -qXAt -d "${PGDATABASE}_custom" >/dev/null <<'SQL'
ALTER TABLE patients RENAME COLUMN postcode TO plz;
SELECT disclosure.label_column('patients', 'plz', 'ignore');
SQL
[ "$(psql -qXAt -d "${PGDATABASE}_custom" -c "SELECT label FROM disclosure.labels WHERE column_name = 'plz'")" = ignore ]
