#!/usr/bin/env bash
# A restore loses no policy and no label over a row that no longer makes sense, and leaves nothing unguarded.
source "$(dirname "$0")/lib.sh"


ask >/dev/null 2>&1 <<'SQL'
CREATE ROLE restored_owner;
CREATE ROLE restored_gone;
CREATE SCHEMA excluded;
CREATE TABLE excluded.t (a int);
CREATE TABLE kept (a int, b int);
INSERT INTO kept VALUES (1, 1), (2, 2);
ALTER TABLE kept OWNER TO restored_owner;
GRANT ALL ON SCHEMA public TO restored_owner;
CREATE FUNCTION measure(q text) RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER FUNCTION measure OWNER TO restored_owner;
SELECT disclosure.label_column('kept', 'a', 'quasi'), disclosure.label_column('excluded.t', 'a', 'quasi');
SELECT disclosure.protect('excluded.t', 'k_anonymity', at_least => 1);
SELECT disclosure.protect('kept', 'k_anonymity', at_least => 1, for_role => 'restored_gone');
SET ROLE restored_owner;
SELECT disclosure.protect('kept', 'k_anonymity', at_least => 1);
SELECT disclosure.protect('kept', 'public.measure', at_least => 0);
SQL
shown='SELECT policy, relation, measure, columns, for_role, problem, made_by FROM disclosure.policies ORDER BY policy'

# The schema belongs to the extension: a dump does not create it, and a restore does not find it there already.
pg_dump >"$work/whole"
! grep -qE '^CREATE SCHEMA disclosure' "$work/whole" || fail 'pg_dump creates the schema itself'
createdb -T template0 "${PGDATABASE}_whole"
ask -d "${PGDATABASE}_whole" -f "$work/whole" >/dev/null
diff <(ask -c "$shown") <(ask -d "${PGDATABASE}_whole" -c "$shown") || fail 'policies differ after a restore'

# A schema and a function are left out, a role is gone.
pg_dump --exclude-schema=excluded --schema-only >"$work/part"
pg_dump --exclude-schema=excluded --data-only >"$work/data"
sed -i '/^CREATE FUNCTION public.measure/,/;$/d; /ALTER FUNCTION public.measure/d' "$work/part"
ask -c 'ALTER ROLE restored_gone RENAME TO restored_other'
createdb -T template0 "${PGDATABASE}_part"
ask -d "${PGDATABASE}_part" -f "$work/part" >/dev/null
ask -d "${PGDATABASE}_part" -f "$work/data" >/dev/null 2>"$work/said" || fail "the restore stopped: $(cat "$work/said")"
[[ $(grep -c 'WARNING.*cannot be judged' "$work/said") == 3 ]] || fail "warnings: $(cat "$work/said")"
grep -q 'WARNING.*a label has no effect: column a of relation excluded.t does not exist' "$work/said" || fail "labels: $(cat "$work/said")"
cat >"$work/expected" <<'END'
1|-|k_anonymity|||the relation does not exist|postgres
2|kept|k_anonymity||-|the role in for_role does not exist|postgres
3|kept|k_anonymity||||restored_owner
4|kept|public.measure(text)|||function public.measure(text) does not exist|restored_owner
END
sed -i "s/postgres/$(ask -c 'SELECT current_user')/" "$work/expected"
diff "$work/expected" <(ask -d "${PGDATABASE}_part" -c "$shown") || fail 'policies after a partial restore'
[[ $(ask -d "${PGDATABASE}_part" -c 'SELECT column_name, label FROM disclosure.labels') == 'a|quasi' ]] || fail 'labels after a partial restore'
# What cannot be judged refuses exports.
said=$(psql -qXAt -d "${PGDATABASE}_part" -c "LOAD 'pg_disclosure'" -c 'SET ROLE restored_owner' -c 'COPY kept TO STDOUT' 2>&1 || true)
[[ $said == *'cannot be judged, so exports are refused'* ]] || fail "exported: $said"
[[ $said != *$'1\t1'* ]] || fail "rows left: $said"

# Triggers that fire always stay so: --disable-triggers would leave ordinary ones behind, and rows unchecked.
pg_dump --data-only --disable-triggers >"$work/unchecked"
grep -q 'ALTER TABLE disclosure_internal.policy DISABLE TRIGGER ALL' "$work/unchecked" || fail 'pg_dump disables no triggers'
createdb -T template0 "${PGDATABASE}_unchecked"
ask -d "${PGDATABASE}_unchecked" -f "$work/part" >/dev/null
ask -d "${PGDATABASE}_unchecked" -c 'CREATE SCHEMA excluded; CREATE TABLE excluded.t (a int)'
ask -d "${PGDATABASE}_unchecked" -f "$work/unchecked" >/dev/null 2>"$work/said" || fail "the restore stopped: $(cat "$work/said")"
grep -q 'WARNING.*cannot be judged' "$work/said" || fail "rows were not checked: $(cat "$work/said")"
found=$(ask -d "${PGDATABASE}_unchecked" -c "SELECT string_agg(tgname, ', ') FROM pg_trigger
  WHERE tgrelid IN ('disclosure_internal.policy'::regclass, 'disclosure_internal.column_label'::regclass, 'disclosure_internal.export_attempt'::regclass)
    AND tgenabled <> 'A'")
[[ -z $found ]] || fail "triggers that do not fire always: $found"
found=$(ask -c "SELECT string_agg(evtname, ', ') FROM pg_event_trigger WHERE evtname LIKE 'disclosure%' AND evtenabled <> 'A'")
[[ -z $found ]] || fail "event triggers that do not fire always: $found"

# Numbers are not unique where two dumps meet. Policies stay what they are, and removing one's own leaves others' alone.
createdb -T template0 "${PGDATABASE}_twice"
ask -d "${PGDATABASE}_twice" >/dev/null 2>&1 <<'SQL'
CREATE EXTENSION pg_disclosure;
CREATE ROLE restored_eve;
CREATE TABLE one (a int);
CREATE TABLE two (b int);
ALTER TABLE one OWNER TO restored_eve;
SELECT disclosure.protect('one', 'k_anonymity', at_least => 1, columns => '{a}');
INSERT INTO disclosure_internal.policy (policy, relation, measure, at_least, columns, only_by_copy, made_by, made_at) OVERRIDING SYSTEM VALUE
  VALUES (1, 'two', 'k_anonymity', 1, '{b}', false, 'restored_owner', now());
ALTER TABLE two ADD c int;
SQL
[[ $(ask -d "${PGDATABASE}_twice" -c 'SELECT string_agg(columns::text, $$ $$ ORDER BY columns) FROM disclosure.policies') == '{a} {b}' ]] ||
  fail "columns of policies of one number: $(ask -d "${PGDATABASE}_twice" -c 'SELECT relation, columns, problem FROM disclosure.policies')"
ask -d "${PGDATABASE}_twice" -c 'SET ROLE restored_eve' -c "SELECT disclosure.unprotect('one'::regclass)" >/dev/null
[[ $(ask -d "${PGDATABASE}_twice" -c 'SELECT string_agg(relation::text, $$ $$) FROM disclosure.policies') == two ]] || fail "a policy of somebody else's is gone"
# A label that is there already does not lose the others.
ask -d "${PGDATABASE}_part" -f "$work/data" >/dev/null 2>"$work/said" || fail "a second restore stopped: $(grep ERROR "$work/said")"
# A measure that is no name of a function, as of a later version, is kept and marked.
ask -d "${PGDATABASE}_twice" -c "INSERT INTO disclosure_internal.policy (relation, measure, at_least, only_by_copy, made_by, made_at)
  VALUES ('two', 'l_diversity', 1, false, 'restored_owner', now()), ('two', '((', 1, false, 'restored_owner', now()), ('two', 'a.b.c.d(text)', 1, false, 'restored_owner', now())" 2>"$work/said" ||
  fail "a policy with a strange measure: $(cat "$work/said")"
[[ $(ask -d "${PGDATABASE}_twice" -c 'SELECT count(problem) FROM disclosure.policies') == 3 ]] || fail 'strange measures have no problem'

# pg_upgrade refuses a cluster whose tables have columns of some types.
found=$(ask -c "SELECT string_agg(format('%s.%s', a.attrelid::regclass, a.attname), ', ') FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace IN ('disclosure'::regnamespace, 'disclosure_internal'::regnamespace) AND c.relkind IN ('r', 'm', 'i') AND a.attnum > 0
    AND a.atttypid IN ('regproc'::regtype, 'regprocedure'::regtype, 'regoper'::regtype, 'regoperator'::regtype, 'regconfig'::regtype,
                       'regdictionary'::regtype, 'regnamespace'::regtype, 'regcollation'::regtype, 'aclitem'::regtype)")
[[ -z $found ]] || fail "pg_upgrade refuses $found"
