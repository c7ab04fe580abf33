#!/usr/bin/env bash
# pg_dump and restore keep every label, set either way, after renames and dropped columns too.
set -euo pipefail

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
  PERFORM disclosure.label_column('"Far Away"."Ödd"', 'Größe', 'sensitive');
  PERFORM disclosure.label_column('dropped', 'a', 'quasi');
END $$;
SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS 'sensitive';
SECURITY LABEL FOR disclosure ON COLUMN patients.name IS 'ignore';
-- After this, positions differ from those in the restored table, and names from those at labelling time.
ALTER TABLE patients DROP COLUMN gone;
ALTER TABLE patients RENAME COLUMN zip TO postcode;
ALTER TABLE patients RENAME COLUMN age TO zip;
DROP TABLE dropped;
SQL

labels() {
  psql -qXAt -d "$1" -c 'SELECT relation, column_name, label, likelihood, danger, source FROM disclosure.labels ORDER BY relation::text, column_name'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
labels "$PGDATABASE" >"$work/before"
[ "$(wc -l <"$work/before")" = 5 ]

pg_dump >"$work/plain.sql"
createdb -T template0 "${PGDATABASE}_plain"
psql -qX -v ON_ERROR_STOP=1 -d "${PGDATABASE}_plain" -f "$work/plain.sql" >/dev/null
labels "${PGDATABASE}_plain" | diff "$work/before" -

pg_dump -Fc -f "$work/custom"
createdb -T template0 "${PGDATABASE}_custom"
pg_restore --exit-on-error -d "${PGDATABASE}_custom" "$work/custom"
labels "${PGDATABASE}_custom" | diff "$work/before" -

# A restored label is as good as a new one: it follows renames and can be changed.
psql -qXAt -d "${PGDATABASE}_custom" >/dev/null <<'SQL'
ALTER TABLE patients RENAME COLUMN postcode TO plz;
SELECT disclosure.label_column('patients', 'plz', 'ignore');
SQL
[ "$(psql -qXAt -d "${PGDATABASE}_custom" -c "SELECT label FROM disclosure.labels WHERE column_name = 'plz'")" = ignore ]
