#!/usr/bin/env bash
# Policies from a preset, in sessions of their own: columns that are added cannot leave, refusals because of columns are not
# counted and tell nothing about rows, and dump and restore keep the policies.
source "$(dirname "$0")/lib.sh"

ask <<'SQL' >/dev/null
SET client_min_messages = error;
SELECT format('ALTER DATABASE %I SET session_preload_libraries = ''pg_disclosure''', current_database()) \gexec
LOAD 'pg_disclosure';
CREATE ROLE preset_owner LOGIN;
CREATE ROLE preset_reader LOGIN;
GRANT CREATE ON SCHEMA public TO preset_owner;
GRANT CREATE ON SCHEMA public TO preset_reader;
SET ROLE preset_owner;
CREATE TABLE wards (nr int, age int, diagnosis text);
INSERT INTO wards SELECT i, 30 + i % 2, 'secret-' || i % 4 FROM generate_series(1, 40) i;
SELECT disclosure.label_columns('wards', identifier => '{nr}', quasi => '{age}', sensitive => '{diagnosis}');
CREATE VIEW ages AS SELECT age FROM wards;
GRANT SELECT ON wards, ages TO preset_reader;
INSERT INTO disclosure.presets (name, criterion, measure, at_least, at_most, options)
VALUES ('house', 'k at least 4', 'k_anonymity', 4, NULL, '{}'), ('house', 'every column has a label', 'unlabelled_columns', NULL, 0, '{}'),
       ('house', 'score', 'privacy_score', NULL, 0.4, '{"min_confidence": 0.8}');
SELECT disclosure.protect('wards', preset => 'house', for_role => 'preset_reader', only_by_copy => true, max_refusals => 2);
SQL

# refused_for COLUMN SQL: before the query is run, because of this column.
refused_for() {
  attempt preset_reader "$2"
  [[ ! -s $work/out ]] || fail "$2: $(head -c 200 "$work/out") left"
  grep -qE "ERROR:  export of public.wards refused: column \"$1\", which (has no label|is labelled [a-z]+), is not allowed" "$work/said" ||
    fail "$2: $(cat "$work/said")"
}
# passes LINES SQL
passes() {
  attempt preset_reader "$2"
  [[ ! -s $work/said && $(wc -l <"$work/out") == "$1" ]] || fail "$2: $(cat "$work/said")"
}

# A session that has exported before notices a column that is added while it waits.
open_session -U preset_reader
in_session 'COPY (SELECT age, diagnosis FROM wards) TO STDOUT;' >"$work/said"
[[ $(wc -l <"$work/said") == 40 ]] || fail "a safe export: $(cat "$work/said")"
ask -U preset_owner -c "ALTER TABLE wards ADD COLUMN pets int DEFAULT 1" -c 'CREATE OR REPLACE VIEW ages AS SELECT age, pets * 2 AS twice FROM wards'
in_session 'COPY (SELECT age, pets FROM wards) TO STDOUT;' >"$work/said"
grep -q 'column "pets", which has no label, is not allowed' "$work/said" || fail "a new column: $(cat "$work/said")"
in_session 'COPY (SELECT age FROM ages) TO STDOUT;' >"$work/said"
[[ $(wc -l <"$work/said") == 40 ]] || fail "a view without its new column: $(cat "$work/said")"
close_session

# However it is written, as often as it is tried: this is not counted. With no rows the words are the same.
for sql in 'COPY wards TO STDOUT' 'COPY (SELECT twice FROM ages) TO STDOUT' 'COPY (SELECT age FROM wards WHERE pets = 1) TO STDOUT' \
  'COPY (SELECT age FROM ages WHERE twice > 0) TO STDOUT' "COPY (SELECT age::text || pets::text FROM wards) TO STDOUT (FORMAT csv)" \
  'CREATE TABLE taken AS SELECT age, pets FROM wards' "SELECT verdict FROM disclosure.check_export('SELECT pets FROM wards')" \
  'COPY (SELECT pets FROM wards WHERE age < 0) TO STDOUT'; do
  refused_for pets "$sql"
done
attempt preset_reader 'COPY (SELECT pets FROM wards) TO STDOUT'
cp "$work/said" "$work/with_rows"
attempt preset_reader 'COPY (SELECT pets FROM wards WHERE age < 0) TO STDOUT'
diff "$work/with_rows" "$work/said" || fail 'the refusal depends on rows'
[[ $(ask -c 'SELECT count(*) FROM disclosure_internal.refusal') == 0 ]] || fail 'refusals because of columns are counted'
[[ $(ask -c "SELECT bool_and(outcome = 'refused') FROM disclosure.export_log WHERE reason ~ 'has no label'") == t ]] || fail 'they are not logged'
passes 40 'COPY (SELECT age, diagnosis FROM wards) TO STDOUT'
# Labels that others set do not help.
attempt preset_reader "CREATE VIEW mine AS SELECT pets FROM wards; SELECT disclosure.label_column('mine', 'pets', 'ignore'); COPY (SELECT pets FROM mine) TO STDOUT"
grep -q 'column "pets", which has no label' "$work/said" || fail "a label of the reader's own: $(cat "$work/said")"

# Dump and restore keep the policies, the name of the preset and the preset, and the guard reads them.
policies() {
  psql -qXAt -d "$1" -c "SELECT policy, relation, measure, at_least, at_most, for_role, only_by_copy, min_people, min_confidence, max_refusals, preset, problem
    FROM disclosure.policies ORDER BY 1" -c "SELECT name, version, criterion, measure, owner FROM disclosure.presets WHERE NOT shipped ORDER BY 3"
}
policies "$PGDATABASE" >"$work/policies"
[[ $(grep -c 'house@1' "$work/policies") == 3 && $(wc -l <"$work/policies") == 6 ]] || fail "the policies: $(cat "$work/policies")"
pg_dump >"$work/plain.sql"
other=${PGDATABASE}_restored
createdb -T template0 "$other"
psql -qX -v ON_ERROR_STOP=1 -d "$other" -f "$work/plain.sql" >/dev/null
policies "$other" | diff "$work/policies" - || fail 'the restored policies differ'
export PGDATABASE=$other PGOPTIONS='-c client_min_messages=warning'
ask -c "ALTER DATABASE \"$other\" SET session_preload_libraries = 'pg_disclosure'"
refused_for pets 'COPY (SELECT age, pets FROM wards) TO STDOUT'
passes 40 'COPY (SELECT age, diagnosis FROM wards) TO STDOUT'
# A dump of an older version has no presets.
ask -c "INSERT INTO disclosure_internal.policy (relation, measure, at_least, only_by_copy, made_by, made_at)
        SELECT relation, 'k_anonymity', 3, false, made_by, made_at FROM disclosure_internal.policy WHERE policy = 1"
[[ $(ask -c 'SELECT preset IS NULL AND problem IS NULL FROM disclosure.policies WHERE at_least = 3') == t ]] || fail 'a policy of an older dump'
# Once the column has a label, it leaves.
ask -U preset_owner -c "SELECT disclosure.label_column('wards', 'pets', 'quasi')" >/dev/null
passes 40 'COPY (SELECT age, pets FROM wards) TO STDOUT'
