#!/usr/bin/env bash
# Nothing that one role has written runs with the rights of another: ways by which version 0.1.0 handed out superuser
# rights, showed protected rows to a measure function, or crashed the server.
source "$(dirname "$0")/lib.sh"

# The superuser's own statements must not fall for what is planted below.
ask() { PGOPTIONS='-c search_path=pg_catalog' psql -qXAt -v ON_ERROR_STOP=1 "$@"; }
# as ROLE DATABASE SQL: what is said and sent is in $work/said.
as() { psql -qXAt -U "$1" -d "$2" -c '\set VERBOSITY verbose' -f - <<<"$3" >"$work/said" 2>&1 || true; }
# expect TEXT: it was said.
expect() { grep -qE -- "$1" "$work/said" || fail "expected $1, got $(cat "$work/said")"; }
never() { ! grep -qE -- "$1" "$work/said" || fail "said $1: $(cat "$work/said")"; }
# Clients hear nothing of a measure function, so the log tells whether it ran.
# logged DATABASE TEXT: the last entry says so to the owner of the relation. measured DATABASE VALUE: it has this value; none if
# VALUE is empty.
logged() {
  local reason
  reason=$(ask -d "$1" -c 'SELECT reason FROM disclosure_internal.export_attempt ORDER BY at DESC LIMIT 1')
  [[ $reason =~ $2 ]] || fail "the log says $reason, not $2"
}
measured() {
  local value
  value=$(ask -d "$1" -c 'SELECT measured FROM disclosure_internal.export_attempt ORDER BY at DESC LIMIT 1')
  [[ $value == "$2" ]] || fail "the log says that $value was measured, not $2"
}
words='42501: export of [a-z0-9_.]+ refused: it does not satisfy its policies'
unjudged='42501: policy [0-9]+ of [a-z0-9_.]+ cannot be judged, so exports are refused'
still_no_superuser() {
  local found
  found=$(ask -c "SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper AND rolname LIKE 'esc\_%'")
  [[ -n $found ]] || return 0
  fail "$1: superuser now: $found"
  ask -c "ALTER ROLE ${found// */} NOSUPERUSER" # each way is tried by itself
}
# After a crash the postmaster is the same; its other processes are not.
servant() { ask -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"; }
still_there() { [[ $(servant) == "$started" ]] || fail "$1: the server restarted"; }
started=$(servant)

ask <<'SQL'
CREATE ROLE esc_owner LOGIN;
CREATE ROLE esc_attacker LOGIN;
CREATE ROLE esc_bob LOGIN;
CREATE DATABASE esc_owned OWNER esc_owner TEMPLATE template0;
SQL

# Whoever owns a database cannot install the extension, nor write policies where a superuser has installed it.
as esc_owner esc_owned 'CREATE EXTENSION pg_disclosure'
expect '42501.*permission denied to create extension'
# An operator that is planted where the extension will be keeps it from being installed, by whomever.
as esc_owner esc_owned "CREATE SCHEMA disclosure;
CREATE FUNCTION disclosure.eq(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE esc_owner SUPERUSER'; END IF;
  RETURN \$1 = \$2::oid; END \$\$;
CREATE OPERATOR disclosure.= (FUNCTION = disclosure.eq, LEFTARG = oid, RIGHTARG = regclass);
CREATE OPERATOR public.= (FUNCTION = disclosure.eq, LEFTARG = oid, RIGHTARG = regclass);"
if ask -d esc_owned -c 'CREATE EXTENSION pg_disclosure' 2>"$work/said"; then fail "installed into a prepared schema"; fi
expect 'schema "disclosure" already exists'
for schema in disclosure_lab disclosure_internal; do
  ask -d esc_owned -c "ALTER SCHEMA disclosure RENAME TO $schema"
  if ask -d esc_owned -c 'CREATE EXTENSION pg_disclosure' 2>"$work/said"; then fail "installed beside a prepared schema $schema"; fi
  expect "schema \"$schema\" already exists"
  ask -d esc_owned -c "ALTER SCHEMA $schema RENAME TO disclosure"
done
# Elsewhere it does not matter what lies in the installing superuser's path.
ask -d esc_owned -c 'DROP OPERATOR disclosure.= (oid, regclass)' -c 'ALTER SCHEMA disclosure RENAME TO prepared' \
  -c 'SET search_path = public, prepared; CREATE EXTENSION pg_disclosure'
ask -d esc_owned -c 'SELECT count(*) FROM disclosure.labels' -c 'SELECT count(*) FROM disclosure.policies' >/dev/null
found=$(ask -d esc_owned -c "
  SELECT string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') FROM pg_depend d
   WHERE d.refclassid = 'pg_operator'::regclass AND d.refobjid >= 16384")
[[ -z $found ]] || fail "somebody's operators are bound into $found"
ask -d esc_owned -c 'ALTER DATABASE esc_owned SET session_preload_libraries = pg_disclosure'
still_no_superuser 'planted operators'

# A row of disclosure_internal.policy, by which the function of somebody else ran as the owner of the relation.
takeover="CREATE SCHEMA IF NOT EXISTS evil;
CREATE OR REPLACE FUNCTION evil.m(q text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
  RAISE NOTICE 'running as %', current_user;
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE esc_owner SUPERUSER'; END IF;
  RETURN CASE current_user WHEN 'esc_owner' THEN 7 ELSE 8 END; END \$\$;"
row="INSERT INTO disclosure_internal.policy (relation, measure, measure_owner, at_least, only_by_copy, made_by, made_at)
VALUES ('pg_catalog.pg_am', 'evil.m(text)', 'esc_owner', 0, false, 'esc_owner', now());"
as esc_owner esc_owned "$takeover $row"
expect '42501.*permission denied for table policy'
# Even where a superuser lets them, they have to own the relation.
ask -d esc_owned -c 'GRANT INSERT, UPDATE, DELETE ON disclosure_internal.policy TO esc_owner'
as esc_owner esc_owned "$row"
expect '42501.*must be owner of relation pg_catalog.pg_am'
# Even where a superuser writes it for them, the function does not run.
ask -d esc_owned -c "$row" 2>"$work/said"
expect 'cannot be judged.*no longer owns the relation'
as esc_owner esc_owned "COPY (SELECT amname FROM pg_am LIMIT 1) TO STDOUT; SELECT verdict FROM disclosure.check_export('SELECT amname FROM pg_am')"
expect "$unjudged"
never '^safe$'
logged esc_owned 'no longer owns the relation'
measured esc_owned ''
never 'running as'
ask -d esc_owned -c "SELECT verdict FROM disclosure.check_export('SELECT amname FROM pg_am')" >"$work/said" 2>&1 || true
never 'running as'
# Somebody's policy for one's own relation cannot be forged either.
as esc_owner esc_owned "CREATE TABLE own (a int); INSERT INTO disclosure_internal.policy (relation, measure, at_least, only_by_copy, made_by, made_at)
VALUES ('own', 'k_anonymity', 1, false, 'esc_bob', now()) RETURNING made_by"
expect '^esc_owner$'
still_no_superuser 'a row of disclosure_internal.policy'

# One's own table and function, which a superuser is given afterwards.
as esc_owner esc_owned "CREATE TABLE gift (a int); INSERT INTO gift SELECT 1 FROM generate_series(1, 5); GRANT SELECT ON gift TO esc_bob;
SET client_min_messages = error; SELECT disclosure.protect('gift', 'evil.m', at_least => 0)"
as esc_bob esc_owned 'COPY gift TO STDOUT'
expect '^1$'
never 'running as'
measured esc_owned 7
ask -d esc_owned -c 'ALTER TABLE public.gift OWNER TO CURRENT_USER'
as esc_bob esc_owned 'COPY gift TO STDOUT'
expect "$unjudged"
logged esc_owned 'the role that defined the policy no longer owns the relation'
measured esc_owned ''
ask -d esc_owned -c "SELECT verdict FROM disclosure.check_export('TABLE public.gift')" >"$work/said" 2>&1 || true
never 'running as'
[[ $(ask -d esc_owned -c "SELECT problem FROM disclosure.policies WHERE relation = 'public.gift'::regclass") == 'the role that defined the policy no longer owns the relation' ]] ||
  fail 'disclosure.policies does not show the problem'
# A function that changes hands, is replaced by another role's, or goes.
ask -d esc_owned -c 'ALTER TABLE public.gift OWNER TO esc_owner' -c 'ALTER FUNCTION evil.m(text) OWNER TO esc_bob'
as esc_bob esc_owned 'COPY gift TO STDOUT'
expect "$unjudged"
logged esc_owned 'function evil.m\(text\) has changed its owner since the policy was defined'
measured esc_owned ''
ask -d esc_owned -c 'ALTER FUNCTION evil.m(text) OWNER TO CURRENT_USER'
as esc_bob esc_owned 'COPY gift TO STDOUT'
expect "$unjudged"
logged esc_owned 'has changed its owner'
measured esc_owned ''
ask -d esc_owned -c 'DROP FUNCTION evil.m(text)'
as esc_bob esc_owned 'COPY gift TO STDOUT'
expect "$unjudged"
logged esc_owned 'function evil.m\(text\) does not exist'
# Somebody else's function cannot be chosen in the first place.
ask -d esc_owned -c 'GRANT CREATE ON SCHEMA public TO PUBLIC'
as esc_bob esc_owned 'CREATE FUNCTION public.bobs(q text) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'
as esc_owner esc_owned "SELECT disclosure.protect('own', 'public.bobs', at_least => 0)"
expect 'measure: function public.bobs\(text\) belongs neither to the role that defined the policy nor to a superuser'
# A superuser's function lends nobody a superuser's rights.
ask -d esc_owned -c 'CREATE FUNCTION public.trusted(q text) RETURNS int LANGUAGE plpgsql AS $$
  DECLARE n int; BEGIN EXECUTE format($f$ SELECT count(DISTINCT e::text) FROM (%s) q $f$, q) INTO n; RETURN n; END $$'
as esc_owner esc_owned "CREATE TYPE evil.mood AS ENUM ('ok');
CREATE FUNCTION evil.cast(evil.mood) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN
  IF current_user <> 'esc_owner' THEN RAISE 'running as %', current_user; END IF; RETURN 'x'; END \$\$;
CREATE CAST (evil.mood AS text) WITH FUNCTION evil.cast(evil.mood);
CREATE TABLE moods (e evil.mood); INSERT INTO moods SELECT 'ok' FROM generate_series(1, 5); GRANT SELECT ON moods TO esc_bob;
SET client_min_messages = error; SELECT disclosure.protect('moods', 'public.trusted', at_least => 0)"
as esc_bob esc_owned 'COPY moods TO STDOUT'
expect '^ok$'
measured esc_owned 1
# Nor is a function shown types for which whoever exports has written casts.
as esc_owner esc_owned "CREATE FUNCTION evil.counts(q text) RETURNS int LANGUAGE plpgsql AS \$\$
  DECLARE n int; BEGIN EXECUTE format('SELECT count(DISTINCT e::text) FROM (%s) q', q) INTO n; RETURN n; END \$\$;
CREATE TABLE words (w text); INSERT INTO words SELECT 'ok' FROM generate_series(1, 5); GRANT SELECT ON words TO esc_bob;
SET client_min_messages = error; SELECT disclosure.protect('words', 'evil.counts', at_least => 0)"
as esc_bob esc_owned "CREATE TYPE public.mood AS ENUM ('ok');
CREATE FUNCTION public.cast_mood(public.mood) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE 'running as %', current_user; RETURN 'x'; END \$\$;
CREATE CAST (public.mood AS text) WITH FUNCTION public.cast_mood(public.mood);
COPY (SELECT w::public.mood AS e FROM words) TO STDOUT"
expect "$words"
logged esc_owned 'column "e" has a type of another role'
measured esc_owned ''
never 'running as'
# The functions of the extension itself are no measures.
as esc_owner esc_owned "SELECT disclosure.protect('words', 'disclosure.check_export', at_least => 0)"
expect 'measure: function disclosure.check_export must take a text and return a number'
still_no_superuser 'measure functions'

# What is bound to one's own table runs when somebody plans a query of it. So nobody's function and no measure of ours may
# read it with a superuser's rights, whoever owns it by now.
ask -d esc_owned -c 'CREATE FUNCTION public.row_count(q text) RETURNS int LANGUAGE plpgsql AS $$
  DECLARE n int; BEGIN EXECUTE format($f$ SELECT count(*) FROM (%s) q $f$, q) INTO n; RETURN n; END $$' \
  -c 'CREATE TABLE public.listed (a int)' -c 'GRANT SELECT ON public.listed TO PUBLIC' \
  -c 'CREATE FUNCTION public.listed(q text) RETURNS bigint LANGUAGE sql SET search_path = public AS $$ SELECT count(*) FROM listed $$'
as esc_owner esc_owned "SET client_min_messages = error;
CREATE FUNCTION evil.rise() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE 'ALTER ROLE esc_owner SUPERUSER'; END \$\$;
CREATE FUNCTION evil.planned(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN PERFORM evil.rise(); END IF; RETURN i; END \$\$;
CREATE TABLE counted (a int); CREATE STATISTICS counted_planned ON (a + evil.planned(1)) FROM counted;
SELECT disclosure.protect('counted', 'public.row_count', at_least => 0, on_rows => 'block'); INSERT INTO counted VALUES (1)"
still_no_superuser "a superuser's function that reads one's own table"
as esc_owner esc_owned "SET client_min_messages = error; CREATE TABLE plain (a int); INSERT INTO plain VALUES (1);
CREATE TEMP VIEW listed AS SELECT a FROM (SELECT random()::int AS r OFFSET 0) x, LATERAL (SELECT evil.planned(x.r) AS a OFFSET 0) y WHERE a IS NOT NULL;
SELECT disclosure.protect('plain', 'public.listed', at_least => 0); COPY plain TO STDOUT"
still_no_superuser "one's own view in the way of a superuser's function"
as esc_owner esc_owned "SET client_min_messages = error; CREATE TABLE given (a int); CREATE STATISTICS given_planned ON (a + evil.planned(1)) FROM given;
GRANT INSERT ON given TO PUBLIC; SELECT disclosure.protect('given', 'k_anonymity', at_least => 1, on_rows => 'block')"
ask -d esc_owned -c 'ALTER TABLE public.given OWNER TO CURRENT_USER'
as esc_owner esc_owned 'INSERT INTO given VALUES (1)'
still_no_superuser 'an export table that was given to a superuser'
# Settings that a measure function leaves behind would lead whoever exports to somebody's operators.
as esc_owner esc_owned "SET client_min_messages = error;
CREATE FUNCTION evil.sets(q text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
  PERFORM set_config('search_path', 'evil, pg_catalog', false), set_config('work_mem', '64kB', true); RETURN 1; END \$\$;
CREATE TABLE settings (a int); INSERT INTO settings SELECT 1 FROM generate_series(1, 5); GRANT SELECT ON settings TO PUBLIC;
SELECT disclosure.protect('settings', 'evil.sets', at_least => 0)"
as esc_bob esc_owned 'BEGIN; COPY settings TO STDOUT; SHOW search_path; SHOW work_mem'
measured esc_owned 1
never 'evil|64kB|ERROR'
ask -d esc_owned -c "SELECT verdict FROM disclosure.check_export('TABLE public.settings')" -c 'SHOW search_path' >"$work/said"
never evil
still_no_superuser 'planned and set'

# What is bound to a partitioned table is bound to its partitions too, also to those that a superuser has made. So the guard
# deletes from no partition, and plans no query of it, with the rights of its owner, if somebody else may bind code to it.
as esc_owner esc_owned "SET client_min_messages = error;
CREATE FUNCTION evil.deleted() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN PERFORM evil.rise(); END IF; RETURN OLD; END \$\$;
CREATE TABLE parted (a int, k int) PARTITION BY LIST (k); CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TRIGGER deleted BEFORE DELETE ON parted FOR EACH ROW EXECUTE FUNCTION evil.deleted();
SELECT disclosure.protect('parted', 'k_anonymity', at_least => 2, columns => '{a}', on_rows => 'drop')"
ask -d esc_owned -c 'CREATE TABLE public.parted_1 PARTITION OF public.parted FOR VALUES IN (1)'
as esc_owner esc_owned 'INSERT INTO parted VALUES (1, 1)'
still_no_superuser "a superuser's partition of an export table"
ask -d esc_owned -c 'ALTER TABLE public.parted_0 OWNER TO CURRENT_USER'
as esc_owner esc_owned 'INSERT INTO parted VALUES (1, 0)'
still_no_superuser 'a partition that was given to a superuser'
as esc_owner esc_owned "SELECT disclosure.unprotect('parted')"
ask -d esc_owned -c "SET client_min_messages = error; SELECT disclosure.protect('public.parted_1', 'k_anonymity', at_least => 2, columns => '{a}', on_rows => 'drop')" >/dev/null 2>&1 || true
as esc_owner esc_owned 'INSERT INTO parted VALUES (1, 1)'
still_no_superuser "a superuser's export table that is a partition of somebody's table"
# A superuser's measure of somebody's export table plans a query of it.
as esc_owner esc_owned 'CREATE TABLE judged (a int)'
ask -d esc_owned -c "SET client_min_messages = error; SELECT disclosure.protect('public.judged', 'public.row_count', at_least => 0, on_rows => 'block')" >/dev/null 2>&1 || true
as esc_owner esc_owned 'CREATE STATISTICS judged_planned ON (a + evil.planned(1)) FROM judged; INSERT INTO judged VALUES (1)'
still_no_superuser "a superuser's policy for somebody's table"
# So does that of one member of the role that owns the table; another member must not get the first one's rights.
ask -d esc_owned -c 'CREATE ROLE esc_group' -c 'GRANT esc_group TO esc_owner, esc_bob' -c 'GRANT CREATE ON SCHEMA public TO esc_group'
as esc_bob esc_owned "SET client_min_messages = error; SET ROLE esc_group; CREATE TABLE common (a int); RESET ROLE;
CREATE FUNCTION public.bobs_count(q text) RETURNS int LANGUAGE plpgsql AS \$\$
  DECLARE n int; BEGIN EXECUTE format('SELECT count(*) FROM (%s) q', q) INTO n; RETURN n; END \$\$;
SELECT disclosure.protect('common', 'public.bobs_count', at_least => 0, on_rows => 'block')"
as esc_owner esc_owned "GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE FUNCTION evil.tells(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RAISE NOTICE 'running as %', current_user; RETURN i; END \$\$;
SET ROLE esc_group; CREATE STATISTICS common_planned ON (a + evil.tells(1)) FROM common; RESET ROLE; INSERT INTO common VALUES (1)"
never 'running as esc_bob'
# COPY of a table plans nothing in Postgres. That the table is protected must not make it run what is bound to it.
as esc_owner esc_owned "SET client_min_messages = error; CREATE TABLE copied (a int); INSERT INTO copied VALUES (1); GRANT SELECT ON copied TO esc_bob;
CREATE STATISTICS copied_planned ON (a + evil.tells(1)) FROM copied; SELECT disclosure.protect('copied', 'k_anonymity', at_least => 1)"
as esc_bob esc_owned 'COPY copied TO STDOUT'
never 'running as esc_bob'
# A temporary view of whoever exports, in the way of a table that the measure function names.
ask -d esc_owned -c 'CREATE TABLE public.measured (a int)' -c 'GRANT SELECT ON public.measured TO PUBLIC' \
  -c "SET client_min_messages = error; SELECT disclosure.protect('public.measured', 'public.listed', at_least => 0)" >/dev/null
as esc_owner esc_owned 'CREATE TEMP VIEW listed AS SELECT a FROM (SELECT random()::int AS r OFFSET 0) x, LATERAL (SELECT evil.planned(x.r) AS a OFFSET 0) y WHERE a IS NOT NULL;
GRANT SELECT ON listed TO PUBLIC; COPY measured TO STDOUT'
still_no_superuser "a temporary view in the way of a superuser's measure"
# Cursors of whoever exports: a measure function neither reads them nor puts others in their place.
as esc_owner esc_owned "SET client_min_messages = error;
CREATE FUNCTION evil.cursors(q text) RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE c refcursor := 'open'; r record; BEGIN
  FETCH c INTO r; RAISE WARNING 'seen %', r; CLOSE c; OPEN c FOR SELECT evil.planned(i) FROM generate_series(1, 3) i; RETURN 1; END \$\$;
CREATE TABLE cursed (a int); INSERT INTO cursed VALUES (1); SELECT disclosure.protect('cursed', 'evil.cursors', at_least => 0)"
psql -qXAt -d esc_owned >"$work/said" 2>&1 <<'SQL' || true
BEGIN;
DECLARE open CURSOR FOR SELECT 'secret';
SELECT verdict FROM disclosure.check_export('TABLE public.cursed');
FETCH open;
COMMIT;
SQL
never 'seen .secret'
still_no_superuser 'a cursor that a measure function has left behind'

# What a measure function may see. The table locked may be read by COPY TO only.
ask <<'SQL'
ALTER DATABASE client_escalation SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
SET client_min_messages = error;
SET search_path = public;
CREATE SCHEMA mine AUTHORIZATION esc_attacker;
CREATE ROLE esc_clinic;
GRANT CREATE ON SCHEMA public TO esc_clinic;
SET ROLE esc_clinic;
CREATE TABLE locked (id int, name text, diagnosis text);
INSERT INTO locked SELECT i, 'secret-name-' || i, 'secret-diagnosis-' || i % 6 FROM generate_series(1, 60) i;
SELECT disclosure.label_column('locked', 'id', 'identifier'), disclosure.label_column('locked', 'name', 'identifier'),
       disclosure.label_column('locked', 'diagnosis', 'sensitive') \g /dev/null
SELECT disclosure.protect('locked', 'k_anonymity', at_least => 5, only_by_copy => true) \g /dev/null
GRANT SELECT ON locked TO esc_attacker;
CREATE TABLE payroll (person text, code int, salary int);
INSERT INTO payroll SELECT 'secret-Ann', 1 + i % 2, 100 * i FROM generate_series(1, 20) i;
GRANT SELECT ON payroll TO esc_bob;
SQL
d=$PGDATABASE
as esc_attacker "$d" "SET client_min_messages = error;
CREATE TABLE mine.t AS SELECT 1 AS x FROM generate_series(1, 5);
CREATE FUNCTION mine.reads(q text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE r record; BEGIN FOR r IN SELECT * FROM public.locked LIMIT 3 LOOP RAISE NOTICE 'leak %', r; END LOOP; RETURN 1; END \$\$;
SELECT disclosure.protect('mine.t', 'mine.reads', at_least => 0);
CREATE FUNCTION mine.tells(q text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE r record; BEGIN FOR r IN EXECUTE q LOOP RAISE NOTICE 'seen %', r; END LOOP; RETURN 1; END \$\$;
CREATE TABLE mine.t2 AS SELECT 1 AS x FROM generate_series(1, 5);
SELECT disclosure.protect('mine.t2', 'mine.tells', at_least => 0);
CREATE TABLE mine.lookup (code int, label text); INSERT INTO mine.lookup SELECT 1 + i % 2, 'sales' FROM generate_series(1, 10) i;
CREATE TABLE mine.stolen (who text, line text);
CREATE FUNCTION mine.spy(q text) RETURNS int LANGUAGE plpgsql AS \$\$
BEGIN EXECUTE format('INSERT INTO mine.stolen SELECT session_user, s::text FROM (%s) s', q); RAISE WARNING 'spied'; RETURN 1; END \$\$;
SELECT disclosure.protect('mine.lookup', 'mine.spy', at_least => 0);
GRANT USAGE ON SCHEMA mine TO PUBLIC; GRANT SELECT ON mine.lookup, mine.t TO PUBLIC;"
never ERROR
as esc_attacker "$d" "SELECT verdict FROM disclosure.check_export('TABLE mine.t')"
never secret
expect '^unsafe$'
logged "$d" 'public.locked refused'
as esc_attacker "$d" 'COPY mine.t TO STDOUT'
never secret
expect "$words"
logged "$d" 'public.locked refused'
measured "$d" ''
# Nor for a superuser who tries the export out: the function's owner still must not.
ask -c "SELECT verdict FROM disclosure.check_export('TABLE mine.t')" >"$work/said" 2>&1 || true
never secret
as esc_attacker "$d" 'COPY (SELECT l.* FROM locked l, mine.t2 WHERE l.id < 4) TO STDOUT'
expect 'a condition on or a join by column "id", which is labelled identifier, is not allowed'
as esc_attacker "$d" 'COPY (SELECT l.* FROM locked l, mine.t2) TO STDOUT'
expect "$words"
never seen
as esc_attacker "$d" "SELECT policy, verdict FROM disclosure.check_export('SELECT l.* FROM locked l, mine.t2')"
never seen
expect '^1\|unsafe$'
expect '^3\|unsafe$'
[[ $(ask -c 'SELECT count(measured) FROM disclosure_internal.export_attempt WHERE policy = 3') == 0 ]] || fail 'mine.tells was called'
for query in 'SELECT p.person, p.salary, l.label FROM payroll p JOIN mine.lookup l USING (code)' \
  'SELECT l.label FROM payroll p JOIN mine.lookup l USING (code)' \
  "SELECT p.person || l.label FROM payroll p, mine.lookup l" \
  "SELECT label FROM mine.lookup WHERE code IN (SELECT code FROM payroll)"; do
  as esc_bob "$d" "COPY ($query) TO STDOUT"
  case $query in
  *IN*SELECT*) expect 'a subquery in an expression is not allowed' ;;
  *)
    expect "$words"
    logged "$d" 'function mine.spy must not learn which rows public.payroll has'
    ;;
  esac
  measured "$d" ''
  never spied
  ask -c "SELECT verdict FROM disclosure.check_export('$query')" >/dev/null 2>&1 || true
done
[[ $(ask -c 'SELECT count(*) FROM mine.stolen') == 0 ]] || fail "stolen: $(ask -c 'TABLE mine.stolen')"
# Its own table's rows are its business, but nothing that it writes stays.
as esc_bob "$d" 'COPY mine.lookup TO STDOUT'
expect sales
measured "$d" 1
never spied
[[ $(ask -c 'SELECT count(*) FROM mine.stolen') == 0 ]] || fail 'what a measure function writes stays'
# What the function tries is not put down to whoever exports.
as esc_bob "$d" 'COPY mine.t TO STDOUT'
never secret
found=$(ask -c "SELECT count(*) FROM disclosure.export_log WHERE role = 'esc_bob' AND relation_name = 'public.locked'")
[[ $found == 0 ]] || fail "$found entries of the log say that esc_bob has tried to read public.locked"
# Maintenance by a superuser lends nobody an exemption.
as esc_attacker "$d" "CREATE FUNCTION mine.f(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$
BEGIN IF session_user <> 'esc_attacker' THEN RAISE NOTICE 'leak %', (SELECT name FROM public.locked LIMIT 1); END IF; RETURN i; END \$\$;
CREATE TABLE mine.indexed AS SELECT 1 AS i; CREATE INDEX ON mine.indexed (mine.f(i));"
ask -c 'ANALYZE mine.indexed' >"$work/said" 2>&1 || true
never secret

# What a function makes of a column may come from anywhere, and so may which rows it lets pass.
ask <<'SQL'
SET client_min_messages = error;
SET search_path = public;
GRANT CREATE ON SCHEMA public TO esc_bob;
SET ROLE esc_bob;
CREATE FUNCTION salary_of(int) RETURNS text LANGUAGE plpgsql STABLE AS
  $$ BEGIN RETURN (SELECT p.person || p.salary FROM public.payroll p WHERE p.code = $1); END $$;
SQL
for query in 'SELECT public.salary_of(code) FROM mine.lookup' "SELECT code FROM mine.lookup WHERE public.salary_of(code) LIKE '%Ann%'"; do
  as esc_bob "$d" "COPY ($query) TO STDOUT"
  expect 'function salary_of\(integer\) is not allowed in an export of a protected relation'
  measured "$d" ''
  never spied
done
# Nor does it come from a function that is called only while the query is planned, or by a function of Postgres.
ask <<'SQL'
SET client_min_messages = error;
SET search_path = public;
SET ROLE esc_bob;
CREATE FUNCTION rich() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN (SELECT p.code FROM public.payroll p WHERE p.salary > 150); END $$;
SQL
for query in 'SELECT label FROM mine.lookup WHERE code = public.rich()' 'SELECT label || public.rich() FROM mine.lookup' \
  "SELECT label || query_to_xml(\$\$SELECT person FROM public.payroll\$\$, true, true, \$\$\$\$)::text FROM mine.lookup"; do
  as esc_bob "$d" "COPY ($query) TO STDOUT"
  expect 'is not allowed in an export of a protected relation'
  measured "$d" ''
  never spied
done
# A policy for the owner of a measure function holds for it, whoever exports and whoever lends it rights.
ask <<'SQL'
SET client_min_messages = error;
SET search_path = public;
SET ROLE esc_clinic;
CREATE TABLE hidden (name text);
INSERT INTO hidden VALUES ('secret-hidden');
SELECT disclosure.protect('hidden', 'k_anonymity', at_least => 5, only_by_copy => true, for_role => 'esc_attacker') \g /dev/null
CREATE FUNCTION lends() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN QUERY SELECT h.name FROM public.hidden h; END';
SQL
as esc_attacker "$d" "SET client_min_messages = error; CREATE TABLE mine.t4 AS SELECT 1 AS x FROM generate_series(1, 5); GRANT SELECT ON mine.t4 TO esc_bob;
CREATE FUNCTION mine.borrows(q text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN RAISE WARNING 'leak %', (SELECT pg_catalog.string_agg(l, ' ') FROM public.lends() l); RETURN 1; END \$\$;
SELECT disclosure.protect('mine.t4', 'mine.borrows', at_least => 0)"
as esc_attacker "$d" 'SELECT * FROM public.lends()'
never secret
as esc_bob "$d" 'COPY mine.t4 TO STDOUT'
never secret
expect "$words"
logged "$d" 'public.hidden refused'
# Triggers that wait for the end of the transaction do not run in a measure function, which chooses what their names mean.
ask <<'SQL'
SET client_min_messages = error;
SET search_path = public;
CREATE FUNCTION noted(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
SET ROLE esc_bob;
CREATE TABLE inbox (line text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM noted(NEW.line); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
SQL
as esc_attacker "$d" "SET client_min_messages = error; CREATE TABLE mine.t5 AS SELECT 1 AS x FROM generate_series(1, 5); GRANT SELECT ON mine.t5 TO esc_bob;
CREATE FUNCTION mine.noted(t text) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RAISE WARNING 'seen %', t; RETURN t; END \$\$;
CREATE FUNCTION mine.at_once(q text) RETURNS int LANGUAGE plpgsql SET search_path = mine, pg_catalog AS \$\$ BEGIN SET CONSTRAINTS ALL IMMEDIATE; RETURN 1; END \$\$;
SELECT disclosure.protect('mine.t5', 'mine.at_once', at_least => 0)"
as esc_bob "$d" "BEGIN; INSERT INTO public.inbox VALUES ('secret'); COPY mine.t5 TO STDOUT; COMMIT"
never seen
expect "$words"
logged "$d" 'a measure function must not run SET CONSTRAINTS'
# A measure within a measure is shown no more than that one.
as esc_attacker "$d" "SET client_min_messages = error; CREATE TABLE mine.wide (a int, b int, c int);
CREATE FUNCTION mine.within(q text) RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE r record; BEGIN
  FOR r IN SELECT * FROM disclosure_internal.leaving('v1') l(x text) LOOP RAISE NOTICE 'seen %', r; END LOOP; RETURN 1; EXCEPTION WHEN OTHERS THEN RETURN 1; END \$\$;
SELECT disclosure.protect('mine.wide', 'mine.within', at_least => 0, on_rows => 'block');
CREATE TABLE mine.narrow AS SELECT 1 AS x; GRANT SELECT ON mine.narrow TO esc_bob;
CREATE FUNCTION mine.around(q text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO mine.wide VALUES (1, 2, 3); RETURN 1; END \$\$;
SELECT disclosure.protect('mine.narrow', 'mine.around', at_least => 0)"
as esc_bob "$d" "COPY (SELECT x, 'secret'::text FROM mine.narrow) TO STDOUT"
never seen
# Nor is what somebody else owns below or above one's own table.
ask <<'SQL'
SET client_min_messages = error;
CREATE TABLE mine.parent (id int, name text);
CREATE TABLE public.child () INHERITS (mine.parent);
INSERT INTO public.child VALUES (1, 'secret-child');
CREATE TABLE public.whole (id int, name text) PARTITION BY LIST (id);
CREATE TABLE mine.part PARTITION OF public.whole FOR VALUES IN (1);
CREATE TABLE public.part PARTITION OF public.whole FOR VALUES IN (2);
INSERT INTO public.whole VALUES (2, 'secret-part');
ALTER TABLE mine.parent OWNER TO esc_attacker;
ALTER TABLE mine.part OWNER TO esc_attacker;
ALTER TABLE public.child OWNER TO esc_clinic;
GRANT SELECT ON mine.parent TO esc_bob;
GRANT SELECT ON public.child, public.whole TO esc_attacker;
SELECT disclosure.protect('public.child', 'k_anonymity', at_least => 5, only_by_copy => true, for_role => 'esc_attacker') \g /dev/null
SELECT disclosure.protect('public.whole', 'k_anonymity', at_least => 1, only_by_copy => true, on_rows => 'block') \g /dev/null
SQL
as esc_attacker "$d" "SET client_min_messages = error; SELECT disclosure.protect('mine.parent', 'mine.tells', at_least => 0)"
as esc_bob "$d" 'COPY (SELECT * FROM mine.parent) TO STDOUT'
never seen
as esc_attacker "$d" "CREATE FUNCTION mine.reads_whole(q text) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
  RAISE NOTICE 'leak %', (SELECT string_agg(name, ' ') FROM public.whole); RETURN 1; END \$\$;
SELECT disclosure.protect('mine.part', 'mine.reads_whole', at_least => 0, on_rows => 'block'); INSERT INTO mine.part VALUES (1, 'x')"
never secret
# What is bound to an export table runs while the guard plans its own query, and is guarded like anything else.
as esc_attacker "$d" "CREATE FUNCTION mine.peek(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
  RAISE NOTICE 'leak %', (SELECT name FROM public.locked LIMIT 1); RETURN i; EXCEPTION WHEN OTHERS THEN RETURN i; END \$\$;
CREATE TABLE mine.planned (a int); CREATE STATISTICS mine.planned ON (a + mine.peek(1)) FROM mine.planned;
SELECT disclosure.protect('mine.planned', 'k_anonymity', at_least => 1, on_rows => 'block'); INSERT INTO mine.planned VALUES (1)"
never secret
# A policy follows a column that is renamed by way of its type.
as esc_attacker "$d" "SET client_min_messages = error; CREATE TYPE mine.typed AS (a int); CREATE TABLE mine.of_type OF mine.typed; INSERT INTO mine.of_type VALUES (1), (2);
SELECT disclosure.protect('mine.of_type', 'k_anonymity', at_least => 2, columns => '{a}'); ALTER TYPE mine.typed RENAME ATTRIBUTE a TO b CASCADE; COPY mine.of_type TO STDOUT"
expect 'export of mine.of_type refused'

# More plans than are kept, made while one of them runs.
as esc_attacker "$d" "SET client_min_messages = error;
CREATE TABLE mine.k AS SELECT 'a'::text AS x FROM generate_series(1, 3);
SELECT disclosure.protect('mine.k', 'k_anonymity', at_least => 2);
CREATE TABLE mine.t3 AS SELECT 1 AS x FROM generate_series(1, 5);
CREATE FUNCTION mine.fill(n int, w int) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE a text := repeat('z', w); b text := repeat('z', w/2); c text := repeat('z', 300); d text := repeat('z', 900);
BEGIN IF n > 0 THEN RETURN mine.fill(n - 1, w) + length(a) - length(a); END IF; RETURN 1; END \$\$;
CREATE FUNCTION mine.m3(q text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE x text[]; BEGIN
  FOR i IN 1..1400 LOOP PERFORM disclosure.check_export(format('SELECT x::varchar(%s) FROM mine.k', i)); END LOOP;
  FOR i IN 1..20 LOOP PERFORM mine.fill(100, 100 + i * 190); END LOOP;
  FOR i IN 1..1000 LOOP x := x || repeat('z', 1 + i % 1000); END LOOP;
  RETURN 1; END \$\$;
SELECT disclosure.protect('mine.t3', 'mine.m3', at_least => 0);
SELECT 'answer', verdict FROM disclosure.check_export('TABLE mine.t3');
SELECT 'answer', verdict FROM disclosure.check_export('TABLE mine.t3');"
[[ $(grep -c '^answer|safe$' "$work/said") == 2 ]] || fail "kept plans: $(tail -n 3 "$work/said")"
still_there 'kept plans'
# Names that lead elsewhere when check_export() looks them up again: the rows have other types than it first saw. The attacker
# has a lock in between.
as esc_attacker "$d" "SET client_min_messages = error; CREATE TABLE mine.between AS SELECT 1 AS one; CREATE TABLE mine.words AS SELECT 'a'::varchar AS word;
CREATE FUNCTION mine.same(text) RETURNS text LANGUAGE sql AS 'SELECT \$1'; SELECT disclosure.protect('mine.words', 'k_anonymity', at_least => 1)"
# meanwhile QUERY COMMAND: the command is run before the query's names are looked up for the second time.
meanwhile() {
  coproc HOLDER { psql -qXAt -U esc_attacker -d "$d" 2>&1; }
  local holder=$HOLDER_PID checker line
  printf '%s\n' 'BEGIN; LOCK TABLE mine.between;' '\echo held' >&"${HOLDER[1]}"
  while read -r line <&"${HOLDER[0]}" && [[ $line != held ]]; do :; done
  as esc_attacker "$d" "SET search_path = mine, public; SELECT verdict FROM disclosure.check_export('$1')" &
  checker=$!
  until [[ $(ask -c "SELECT count(*) FROM pg_locks WHERE relation = 'mine.between'::regclass AND NOT granted") == 1 ]] || ! kill -0 "$checker" 2>/dev/null; do
    sleep 0.05
  done
  printf '%s\n' "$2; COMMIT;" '\q' >&"${HOLDER[1]}"
  wait "$checker" "$holder" || true
  never 'connection to server was lost|terminated abnormally'
}
meanwhile 'SELECT l.name FROM locked l, mine.between' 'CREATE VIEW mine.locked AS SELECT 2147483644 AS name'
until ask -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.1; done # after a crash
meanwhile 'SELECT mine.same(word), (SELECT count(*) FROM mine.between) FROM mine.words' \
  "CREATE FUNCTION mine.same(varchar) RETURNS int LANGUAGE sql AS 'SELECT 2147483644'"
until ask -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.1; done
still_there 'rows of other types'
still_no_superuser 'at the end'

# A relation that takes the name of another while a call is under way is not read with the types of the other.
ask -c "CREATE SCHEMA swapping AUTHORIZATION esc_attacker"
as esc_attacker "$d" "CREATE TABLE swapping.rel (id int, a text); INSERT INTO swapping.rel VALUES (1, 'x'), (2, 'y');
CREATE TABLE swapping.other (id int, a int8); INSERT INTO swapping.other VALUES (1, 4097), (2, 4098);
CREATE FUNCTION swapping.swap() RETURNS text LANGUAGE plpgsql VOLATILE AS \$\$ BEGIN
  IF to_regclass('swapping.other') IS NOT NULL THEN
    ALTER TABLE swapping.rel RENAME TO rel_old; ALTER TABLE swapping.other RENAME TO rel;
  END IF; RETURN 'x'; END \$\$;
CREATE VIEW swapping.known AS SELECT i AS id, swapping.swap() AS a FROM generate_series(1, 2) i"
as esc_attacker "$d" "SELECT disclosure.expected_reidentifications('swapping.known', 'swapping.rel', columns => '{a}')"
expect 'a relation was changed while it was read'
