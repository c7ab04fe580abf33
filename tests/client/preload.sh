#!/usr/bin/env bash
# What works if the library is not preloaded, and what users are told who try the rest.
source "$(dirname "$0")/lib.sh"

# expect TEXT SQL: a new session that runs SQL says TEXT.
expect() {
  local said
  said=$(psql -qX -c "$2" 2>&1 || true)
  grep -qF -- "$1" <<<"$said" || die "expected: $1, got: $said"
}

psql -qX -c 'CREATE TABLE patients (age int, zip text)'
label="SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS 'quasi'"

# A new session does not know the provider; label_column needs none.
expect 'security label provider "disclosure" is not loaded' "$label"
expect '' "SELECT disclosure.label_column('patients', 'age', 'quasi')"
expect '1 row' "SELECT * FROM disclosure.labels WHERE column_name = 'age' AND label = 'quasi'"

# Once any function has loaded the library, this session can label, and is told about the others.
expect "session_preload_libraries = 'pg_disclosure'" "SELECT disclosure_internal.label_weights('quasi'); $label"

# Preloaded, it is silent and valid from the first statement on.
psql -qX -c "ALTER DATABASE \"$PGDATABASE\" SET session_preload_libraries = 'pg_disclosure'"
[ -z "$(psql -qX -c "$label" 2>&1)" ]
expect 'label: "sensetive" is not a label' "SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS 'sensetive'"
expect 'Did you mean "sensitive"?' "SECURITY LABEL FOR disclosure ON COLUMN patients.zip IS 'sensetive'"
