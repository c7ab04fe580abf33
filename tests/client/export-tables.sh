#!/usr/bin/env bash
# Export tables against a role that may write to them and has the TRIGGER privilege: its triggers are not taken for the
# guard's, and nothing that it has made runs with the rights of the table's owner. Then foreign tables in the tree.
source "$(dirname "$0")/lib.sh"

ask -v host="$PGHOST" -v port="$PGPORT" -v database="$PGDATABASE" >/dev/null <<'SQL'
SET client_min_messages = error;
CREATE ROLE xt_owner LOGIN;
CREATE ROLE xt_other LOGIN;
CREATE SCHEMA own AUTHORIZATION xt_owner;
GRANT USAGE ON SCHEMA own TO xt_other;
CREATE SCHEMA mine AUTHORIZATION xt_other;
GRANT USAGE ON SCHEMA mine TO PUBLIC;
CREATE EXTENSION postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'host', port :'port', dbname :'database');
GRANT USAGE ON FOREIGN SERVER elsewhere TO xt_owner;
CREATE USER MAPPING FOR xt_owner SERVER elsewhere OPTIONS (user 'xt_owner', password_required 'false');
CREATE TABLE own.over_there (age int, ill text);
ALTER TABLE own.over_there OWNER TO xt_owner;
SQL
owner() { attempt xt_owner "SET client_min_messages = error; SET search_path = own; $1"; }
other() { attempt xt_other "SET search_path = own; $1"; }
said() { grep -q -- "$1" "$work/said" || fail "$2, but: $(cat "$work/said" "$work/out")"; }
silent() { [[ ! -s $work/said ]] || fail "$1, but: $(cat "$work/said")"; }
# is VALUE QUERY WHAT
is() { [[ $(ask -c "SET search_path = own" -c "$2") == "$1" ]] || fail "$3: $(ask -c "SET search_path = own" -c "$2")"; }
protect() { # TABLE ON_ROWS [ARGUMENTS]
  owner "SELECT disclosure.protect('$1', 'k_anonymity', at_least => 3, columns => '{age}', on_rows => '$2'${3-})"
}
guards() { is "$2" "SELECT DISTINCT guards_rows FROM disclosure.policies WHERE relation = '$1'::regclass" "guards_rows of $1"; }
table() { # NAME [REST]
  owner "CREATE TABLE $1 (age int, ill text) ${2-}; GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON $1 TO xt_other"
  silent "$1 is created"
}

# --- Forged before the table is protected: protect() replaces it by its own.
forged=(
  'disclosure_inserted AFTER INSERT ON @ REFERENCING NEW TABLE AS disclosure_new FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION disclosure_internal.export_judge()'
  'disclosure_inserted AFTER INSERT ON @ REFERENCING NEW TABLE AS other FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_judge()'
  'disclosure_inserted AFTER DELETE ON @ REFERENCING OLD TABLE AS disclosure_old FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_judge()'
  'disclosure_inserted BEFORE INSERT ON @ FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_turn()'
  'disclosure_inserted AFTER INSERT ON @ FOR EACH STATEMENT EXECUTE FUNCTION mine.nothing()'
  'disclosure_turn BEFORE INSERT OR DELETE OR UPDATE OF ill ON @ FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_turn()'
  "disclosure_turn BEFORE INSERT OR DELETE OR UPDATE ON @ FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_turn('x')"
  'disclosure_collect AFTER INSERT ON @ FOR EACH ROW WHEN (false) EXECUTE FUNCTION disclosure_internal.export_collect()'
  '"A judge" AFTER INSERT ON @ REFERENCING NEW TABLE AS disclosure_new FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_judge()'
)
other 'CREATE FUNCTION mine.nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$'
forged+=('CONSTRAINT disclosure_collect AFTER INSERT ON @ DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION disclosure_internal.export_collect()')
create() { # TRIGGER TABLE [REPLACE]
  local trigger=${1//@/$2}
  case $trigger in
  CONSTRAINT*) echo "CREATE CONSTRAINT TRIGGER ${trigger#CONSTRAINT }" ;;
  *) echo "CREATE ${3-} TRIGGER $trigger" ;;
  esac
}
for number in "${!forged[@]}"; do
  trigger=${forged[number]}
  table "before_$number"
  other "$(create "$trigger" "before_$number")"
  silent "$trigger is created"
  protect "before_$number" drop
  silent "a table with $trigger is protected"
  guards "before_$number" t
  other "INSERT INTO before_$number VALUES (1, 'hiv')"
  said '1 of 1 rows left out' "a row is dropped in spite of $trigger"
  is 0 "SELECT count(*) FROM before_$number" "rows in spite of $trigger"
done

# --- On a partition, above which there are none yet; and on a parent whose trigger is cloned.
owner "CREATE TABLE parted (age int, ill text) PARTITION BY LIST (age); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
  CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2); GRANT ALL ON parted, parted_1, parted_2 TO xt_other"
other "CREATE TRIGGER disclosure_collect AFTER INSERT ON parted_1 FOR EACH ROW WHEN (false) EXECUTE FUNCTION disclosure_internal.export_collect()"
protect parted drop
silent 'a tree with a forged trigger on a partition is protected'
guards parted t
owner "SELECT disclosure.unprotect('parted')"
is 0 "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'disclosure%' AND tgrelid::regclass::text LIKE '%parted%'" 'triggers of a table without policy'
other "CREATE TRIGGER disclosure_collect AFTER INSERT ON parted FOR EACH ROW WHEN (false) EXECUTE FUNCTION disclosure_internal.export_collect()"
protect parted drop
silent 'a tree with a forged trigger on its top is protected'
guards parted t
other "INSERT INTO parted VALUES (1, 'hiv')"
said '1 of 1 rows left out' 'a row of a partition is dropped'

# --- Afterwards: CREATE OR REPLACE TRIGGER needs only the TRIGGER privilege, so the event trigger refuses it.
table after
protect after drop
for trigger in "${forged[@]}"; do
  other "$(create "$trigger" after 'OR REPLACE')"
  said 'ERROR' "$trigger is refused"
  guards after t
done
other "CREATE OR REPLACE TRIGGER disclosure_inserted AFTER INSERT ON after FOR EACH STATEMENT EXECUTE FUNCTION mine.nothing()"
said 'trigger disclosure_inserted on own.after is not the one that disclosure.protect() creates' 'the refusal names the trigger'
for change in 'ALTER TABLE after DISABLE TRIGGER disclosure_inserted' 'ALTER TRIGGER disclosure_inserted ON after RENAME TO x' \
  'DROP TRIGGER disclosure_inserted ON after' 'ALTER TABLE after DISABLE TRIGGER ALL' 'ALTER TRIGGER disclosure_turn ON after DEPENDS ON EXTENSION plpgsql'; do
  other "$change"
  said 'must be owner' "$change is refused"
done
other "INSERT INTO after VALUES (1, 'hiv')"
said '1 of 1 rows left out' 'a row is still dropped'
# Other triggers are nobody's business, and so are tables without policy.
other "CREATE TRIGGER nothing AFTER INSERT ON after FOR EACH STATEMENT EXECUTE FUNCTION mine.nothing()"
silent 'a trigger with another name and function is created'

# --- Without the guard's consent: guards_rows says so, statements do not pass unjudged, and protect() repairs it.
owner "ALTER TRIGGER disclosure_inserted ON after RENAME TO x"
guards after f
other "INSERT INTO after VALUES (1, 'hiv')"
said 'ERROR:  trigger x on own.after is not the one' 'a renamed trigger refuses the statement'
protect after drop
guards after t
other "INSERT INTO after VALUES (1, 'hiv')"
said '1 of 1 rows left out' 'a row is dropped again'
for trigger in disclosure_turn disclosure_inserted disclosure_updated disclosure_deleted disclosure_collect; do
  for state in 'DISABLE' 'ENABLE' 'ENABLE REPLICA'; do
    owner "ALTER TABLE after $state TRIGGER $trigger"
    guards after f
  done
  protect after drop
  guards after t
done
# The tables above count too: a statement that names them fires their triggers only.
owner "SELECT disclosure.unprotect('parted')"
protect parted_1 block
guards parted_1 t
owner 'ALTER TABLE parted DISABLE TRIGGER disclosure_inserted'
guards parted_1 f

# --- drop runs nobody's trigger with the owner's rights.
owner "CREATE TABLE secret AS SELECT 'only the owner reads this'::text AS line"
other 'CREATE FUNCTION mine.as_whom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE NOTICE $a$% % runs as %$a$, TG_NAME, TG_OP, current_user;
  IF TG_OP = $a$DELETE$a$ THEN RETURN OLD; END IF; RETURN NEW; END $$;
  CREATE FUNCTION mine.whose(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  RAISE NOTICE $a$condition runs as %$a$, current_user; RETURN true; END $$'
owner 'CREATE FUNCTION as_whom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE NOTICE $a$the function of the owner runs as %$a$, current_user; RETURN OLD; END $$'
table rows
protect rows drop
for trigger in 'a AFTER DELETE ON rows FOR EACH ROW EXECUTE FUNCTION mine.as_whom()' \
  'b AFTER DELETE ON rows FOR EACH ROW WHEN (mine.whose(OLD.age)) EXECUTE FUNCTION mine.as_whom()' \
  'c AFTER DELETE ON rows FOR EACH ROW EXECUTE FUNCTION own.as_whom()'; do
  other "CREATE TRIGGER $trigger"
  silent "$trigger is created"
done
other 'CREATE CONSTRAINT TRIGGER d AFTER DELETE ON rows DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mine.as_whom()'
silent 'a deferred trigger is created'
attempt xt_other "REVOKE DELETE ON own.rows FROM xt_other; INSERT INTO own.rows VALUES (1, 'hiv')"
said 'a DELETE runs as xt_other' 'a trigger of another role runs with the rights of the role that inserts'
said 'condition runs as xt_other' 'a condition runs with the rights of the role that inserts'
said 'the function of the owner runs as xt_other' "the owner's function in another role's trigger, too"
said 'd DELETE runs as xt_other' 'a deferred trigger, too'
said '1 of 1 rows left out' 'the row is dropped'
! grep -q 'xt_owner' "$work/said" || fail "something runs as the owner: $(cat "$work/said")"
is 0 'SELECT count(*) FROM rows' 'rows that were dropped'
# A role that may only insert, and sees nothing
owner 'REVOKE SELECT, UPDATE, DELETE ON rows FROM xt_other; ALTER TABLE rows ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY insert_only ON rows FOR INSERT WITH CHECK (true)'
other "INSERT INTO rows VALUES (1, 'hiv'), (2, 'flu'), (2, 'flu'), (2, 'flu')"
said '1 of 4 rows left out' 'the row of a role that may only insert is dropped'
is 3 'SELECT count(*) FROM rows' 'rows of a role that may only insert'

# What would not see the deletion, or would run with the rights of a third role, is refused.
table referenced
owner 'ALTER TABLE referenced ADD id int PRIMARY KEY; CREATE TABLE referring (id int REFERENCES referenced ON DELETE CASCADE);
  GRANT INSERT, TRIGGER ON referring TO xt_other'
protect referenced drop
said 'on_rows.*a foreign key of own.referring' 'protect() refuses a foreign key that cascades'
protect referenced block
silent 'block does not delete'
owner 'DROP TABLE referring'
protect referenced drop
silent 'without the foreign key it is allowed'
owner 'CREATE TABLE referring (id int REFERENCES referenced ON DELETE CASCADE); GRANT INSERT, TRIGGER ON referring TO xt_other'
other 'CREATE TRIGGER a BEFORE DELETE ON referring FOR EACH ROW EXECUTE FUNCTION mine.as_whom()'
other "WITH new AS (INSERT INTO referenced VALUES (1, 'hiv', 1) RETURNING id) INSERT INTO referring SELECT id FROM new"
said 'cannot be judged.*a foreign key of own.referring' 'a foreign key that was added later makes statements fail'
! grep -q 'runs as' "$work/said" || fail "a trigger of a referring table ran: $(cat "$work/said")"
is t "SELECT problem LIKE '%a foreign key of own.referring%' FROM disclosure.policies WHERE relation = 'referenced'::regclass" 'problem of a foreign key'
table counted
other 'CREATE TRIGGER a AFTER DELETE ON counted FOR EACH STATEMENT EXECUTE FUNCTION mine.nothing()'
protect counted drop
said 'on_rows.*trigger a on own.counted' 'protect() refuses a statement trigger that would not see the deletion'
for trigger in 'BEFORE DELETE' 'BEFORE INSERT OR DELETE'; do
  owner 'DROP TABLE counted'
  table counted
  protect counted drop
  silent 'a table without triggers is protected'
  other "CREATE TRIGGER a $trigger ON counted FOR EACH ROW EXECUTE FUNCTION mine.as_whom()"
  other "INSERT INTO counted VALUES (1, 'hiv')"
  said 'cannot be judged.*trigger a on own.counted' "$trigger FOR EACH ROW makes statements fail"
  protect counted drop
  said 'on_rows.*trigger a on own.counted' "protect() refuses $trigger FOR EACH ROW"
done
table ruled
owner 'CREATE RULE kept AS ON DELETE TO ruled DO INSTEAD NOTHING'
protect ruled drop
said 'on_rows.*rule kept on own.ruled' 'protect() refuses a rule that would not see the deletion'

# --- Foreign tables in the tree have no transition tables.
owner 'CREATE TABLE far (age int, ill text) PARTITION BY LIST (age);
  CREATE TABLE far_1 PARTITION OF far FOR VALUES IN (1);
  CREATE FOREIGN TABLE far_2 PARTITION OF far FOR VALUES IN (2) SERVER elsewhere OPTIONS (table_name $$over_there$$, schema_name $$own$$)'
silent 'a tree with a foreign table'
for what in drop block warn; do
  protect far "$what"
  said 'on_rows.*own.far_2 is a foreign table' "protect() refuses $what on a foreign partition"
done
protect far_1 block
said 'on_rows.*own.far_2 is a foreign table' 'protect() refuses a foreign table beside it, which statements on the parent reach'
owner 'ALTER TABLE far DETACH PARTITION far_2'
protect far block
silent 'without the foreign table it is allowed'
owner 'ALTER TABLE far ATTACH PARTITION far_2 FOR VALUES IN (2)'
said 'own.far_2 is a foreign table' 'attaching it later is refused'
owner 'CREATE FOREIGN TABLE far_3 PARTITION OF far FOR VALUES IN (3) SERVER elsewhere'
said 'own.far_3 is a foreign table' 'creating one later is refused'
owner 'CREATE FOREIGN TABLE far_4 (age int, ill text) SERVER elsewhere; CREATE TABLE plain (age int, ill text)'
protect plain block
owner 'ALTER FOREIGN TABLE far_4 INHERIT plain'
said 'own.far_4 is a foreign table' 'letting one inherit later is refused'
owner "INSERT INTO far SELECT 1, 'flu' FROM generate_series(1, 3)"
silent 'rows still come in'
# As after a restore, which writes policies in its own way
ask -c "ALTER EVENT TRIGGER disclosure_arm_relatives DISABLE" -c 'ALTER TABLE own.far ATTACH PARTITION own.far_2 FOR VALUES IN (2)' \
  -c "ALTER EVENT TRIGGER disclosure_arm_relatives ENABLE ALWAYS"
for statement in "INSERT INTO far VALUES (1, 'flu')" "UPDATE far SET ill = 'cold'" 'DELETE FROM far'; do
  owner "$statement"
  said 'cannot be judged.*own.far_2 is a foreign table' "$statement says why it is refused"
done
is t "SELECT problem LIKE '%own.far_2 is a foreign table%' FROM disclosure.policies WHERE relation = 'far'::regclass" 'problem of a foreign table'
guards far f
