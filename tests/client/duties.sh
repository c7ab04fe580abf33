#!/usr/bin/env bash
# Separation of duties: an officer labels and protects without owning, and what is locked stays as it is.
source "$(dirname "$0")/lib.sh"

ask <<'SQL'
CREATE ROLE du_owner LOGIN;
CREATE ROLE du_officer LOGIN;
CREATE ROLE du_bob LOGIN;
GRANT EXECUTE ON FUNCTION disclosure.administer_policies() TO du_officer;
GRANT CREATE ON SCHEMA public TO du_owner, du_officer;
SQL
ask -c "ALTER DATABASE \"$PGDATABASE\" SET session_preload_libraries = 'pg_disclosure'"

# allowed ROLE SQL, refused TEXT ROLE SQL: with SQLSTATE 42501.
allowed() {
  attempt "$1" "$2"
  ! grep -q '^.*ERROR' "$work/said" || fail "$2 as $1: $(cat "$work/said")"
}
refused() {
  attempt "$2" '\set VERBOSITY verbose'$'\n'"$3"
  grep -qE -- "42501: .*$1" "$work/said" || fail "$3 as $2: $(cat "$work/out" "$work/said") instead of 42501 and $1"
}

allowed du_owner "CREATE TABLE patients (name text, age int, diagnosis text);
CREATE TABLE visits (day date) PARTITION BY RANGE (day);
CREATE TABLE visits_2024 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE released (age int);
CREATE FUNCTION owners(query text) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT disclosure.label_columns('patients', quasi => '{age}')"

# The owner can neither lock nor give the duty away; nor can anybody else who was not given it.
refused 'locked: is allowed only for roles that may execute' du_owner \
  "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, locked => true)"
refused 'permission denied for function administer_policies' du_owner 'SELECT disclosure.administer_policies()'
refused 'must be owner of relation public.patients' du_bob "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5)"
refused 'must be owner of relation public.patients' du_bob "SELECT disclosure.label_column('patients', 'age', 'ignore')"

# The officer does both, without reading a row.
allowed du_officer "SELECT disclosure.label_column('patients', 'diagnosis', 'sensitive');
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, locked => true);
SELECT disclosure.protect('visits', 'k_anonymity', at_least => 2, locked => true)"
refused 'permission denied for table patients' du_officer 'TABLE patients'
# A function of the officer's would see rows that the officer may not read, and triggers run as the owner.
allowed du_officer "CREATE FUNCTION peep(query text) RETURNS int LANGUAGE sql AS 'SELECT 1'"
refused 'measure: a measure function or on_rows can be given only by the owner' du_officer \
  "SELECT disclosure.protect('patients', 'peep', at_least => 5)"
refused 'measure: a measure function or on_rows can be given only by the owner' du_officer \
  "SELECT disclosure.protect('patients', 'owners', at_least => 5)"
refused 'on_rows: a measure function or on_rows can be given only by the owner' du_officer \
  "SELECT disclosure.protect('released', 'k_anonymity', at_least => 5, on_rows => 'block')"

# What is locked is not the owner's to change, by any way.
for change in \
  "SELECT disclosure.unprotect('patients')" \
  'SELECT disclosure.unprotect_policy(1)' \
  "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 1)" \
  "SELECT disclosure.unlock(1, 'du_bob')"; do
  refused 'change of public.patients refused: policy 1 is locked' du_owner "$change"
done
for change in \
  "SELECT disclosure.label_column('patients', 'diagnosis', 'ignore')" \
  "SELECT disclosure.label_column('patients', 'diagnosis', NULL)" \
  "SELECT disclosure.label_columns('patients', ignore => '{name}')" \
  "SELECT disclosure.copy_labels('released', 'patients'), disclosure.label_columns('patients', ignore => '{name}')" \
  "SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS 'ignore'" \
  "SECURITY LABEL FOR disclosure ON COLUMN patients.diagnosis IS NULL"; do
  refused 'labelling of public.patients refused: policy 1 is locked' du_owner "$change"
done
refused 'labelling of public.visits refused: policy 2 is locked' du_owner \
  "SECURITY LABEL FOR disclosure ON COLUMN visits_2024.day IS 'ignore'"
# Those who may write the tables themselves follow the same rules.
ask -c 'GRANT INSERT, UPDATE, DELETE ON disclosure_internal.policy, disclosure_internal.column_label TO du_owner'
refused 'change of public.patients refused: policy 1 is locked' du_owner \
  'UPDATE disclosure_internal.policy SET at_least = 1 WHERE policy = 1'
refused 'change of public.patients refused: policy 1 is locked' du_owner 'DELETE FROM disclosure_internal.policy'
refused 'change of public.released refused: policy [0-9]* is locked' du_owner "INSERT INTO disclosure_internal.policy
  (relation, measure, at_least, only_by_copy, made_by, made_at, locked)
  VALUES ('released', 'k_anonymity', 5, false, 'du_owner', now(), true)"
refused 'labelling of public.patients refused: policy 1 is locked' du_owner 'DELETE FROM disclosure_internal.column_label'
ask -c 'REVOKE ALL ON disclosure_internal.policy, disclosure_internal.column_label FROM du_owner'
# More protection is allowed, and so are changes that policies and labels follow.
allowed du_owner "SELECT disclosure.protect('patients', 'privacy_score', at_most => 0.5);
SELECT disclosure.unprotect_policy(max(policy)) FROM disclosure.policies;
ALTER TABLE patients RENAME COLUMN diagnosis TO finding"
[[ $(ask -c "SELECT label FROM disclosure.labels WHERE column_name = 'finding'") == sensitive ]] || fail 'a label did not follow'

# A security label of the owner's does not overrule the officer.
allowed du_owner "SECURITY LABEL FOR disclosure ON COLUMN released.age IS 'ignore'"
allowed du_officer "SELECT disclosure.label_column('released', 'age', 'quasi')"
[[ $(ask -c "SELECT label, source FROM disclosure.labels WHERE relation = 'released'::regclass") == 'quasi|label_column' ]] ||
  fail "the owner's security label overrules the officer"

# The triggers of an export table are locked with its policy.
ask -c "SELECT disclosure.protect('released', 'k_anonymity', at_least => 2, on_rows => 'block', locked => true)" >"$work/number"
for change in 'DROP TRIGGER disclosure_inserted ON released' \
  'ALTER TABLE released DISABLE TRIGGER disclosure_inserted' \
  'ALTER TABLE released DISABLE TRIGGER ALL' \
  'ALTER TRIGGER disclosure_inserted ON released RENAME TO other'; do
  refused "change of public.released refused: policy $(cat "$work/number") is locked" du_owner "$change"
done
allowed du_owner 'ALTER TABLE released ADD COLUMN zip int'

# The officer and a superuser may change it, and the owner may drop the table with it.
allowed du_officer "SELECT disclosure.protect('patients', 'k_anonymity', at_least => 3, locked => true)"
allowed du_officer "SELECT disclosure.unprotect('patients')"
allowed du_owner "SELECT disclosure.label_column('patients', 'finding', 'ignore')"
allowed du_owner 'DROP TABLE visits, released'
[[ $(ask -c 'SELECT count(*) FROM disclosure.policies') == 0 ]] || fail 'policies of dropped relations'

# All of it is in the log, which the officer reads.
got=$(ask -U du_officer -c "SELECT session_role, kind, relation_name, outcome, counted FROM disclosure.export_log
  WHERE session_role = 'du_officer' ORDER BY at")
want="du_officer|label|public.patients|changed|\"diagnosis\" sensitive
du_officer|protect|public.patients|changed|min_people 5; min_confidence 0.9; max_refusals 20; locked
du_officer|protect|public.visits|changed|min_people 2; min_confidence 0.9; max_refusals 20; locked
du_officer|label|public.released|changed|\"age\" quasi
du_officer|protect|public.patients|changed|min_people 3; min_confidence 0.9; max_refusals 20; locked
du_officer|unprotect|public.patients|changed|"
[[ $got == "$want" ]] || fail "the log of the officer: $got"
[[ $(ask -U du_officer -c "SELECT count(*) FROM disclosure.export_log WHERE session_role = 'du_owner'") -gt 0 ]] ||
  fail 'the officer does not see the entries of others'
[[ $(ask -U du_bob -c 'SELECT count(*) FROM disclosure.export_log') == 0 ]] || fail 'bob sees the entries of others'

ask -c 'DROP OWNED BY du_owner, du_officer, du_bob CASCADE' -c 'DROP ROLE du_owner, du_officer, du_bob'
