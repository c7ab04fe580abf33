# shellcheck shell=bash
# Sourced after lib.sh by the tests of the guard in which a hostile role tries to get protected rows out. It needs $attacker
# and $owner, names of roles that no other test has. All secrets begin with "secret".
#   locked    every value of its known columns occurs once; k_anonymity and privacy_score, read only by COPY
#   ward      coarse enough that honest exports pass; the same policies
#   pairs     the zip tells the diagnosis, but not together with the drug; the same policies
#   patients  like locked, but with k_anonymity alone, and SELECT is allowed
#   scored    like locked, but with privacy_score alone, and SELECT is allowed

# The tests make more attempts than a role has.
# shellcheck disable=SC2034 # used by those who source this
unlimited=$(ask -c "SELECT ', max_refusals => 1000000' FROM pg_proc
  WHERE oid = 'disclosure.protect'::regproc AND 'max_refusals' = ANY (proargnames)")

ask -v database="$PGDATABASE" -v attacker="$attacker" -v owner="$owner" -v unlimited="$unlimited" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE :"owner";
CREATE ROLE :"attacker" LOGIN;
GRANT CREATE ON DATABASE :"database" TO :"attacker";
CREATE SCHEMA mine AUTHORIZATION :"attacker";
GRANT CREATE ON SCHEMA public TO :"owner";
SET ROLE :"owner";
CREATE TABLE locked (id int PRIMARY KEY, name text, age int, zip text, diagnosis text, visits float8, nr int);
INSERT INTO locked
SELECT i, 'secret-name-' || i, 20 + i % 30, 'secret-zip-' || i, 'secret-diagnosis-' || i % 6, 1 + i * 1e-14, i
  FROM generate_series(1, 60) i;
CREATE TABLE patients (LIKE locked INCLUDING ALL);
INSERT INTO patients TABLE locked;
CREATE TABLE scored (LIKE locked INCLUDING ALL);
INSERT INTO scored TABLE locked;
CREATE TABLE ward (id int PRIMARY KEY, age int, zip text, diagnosis text, drug text, nr int);
INSERT INTO ward
SELECT i, 20 + i % 2, 'secret-zip-' || i / 2 % 3, 'secret-diagnosis-' || i / 6 % 3, 'secret-drug-' || i / 6 % 2, i
  FROM generate_series(1, 60) i;
CREATE INDEX ON ward (diagnosis, id);
CREATE TABLE pairs (id int PRIMARY KEY, zip text, diagnosis text, drug text, nr int);
INSERT INTO pairs
SELECT i, 'secret-zip-' || i % 2, 'secret-diagnosis-' || i % 2, 'secret-drug-' || i / 2 % 2, i
  FROM generate_series(1, 40) i;
SELECT disclosure.label_column(attrelid, attname, CASE attname WHEN 'id' THEN 'identifier' WHEN 'name' THEN 'identifier'
                               WHEN 'diagnosis' THEN 'sensitive' WHEN 'drug' THEN 'sensitive' WHEN 'nr' THEN 'ignore' ELSE 'quasi' END)
  FROM pg_attribute WHERE attrelid = ANY ('{locked,ward,pairs,patients,scored}'::regclass[]) AND attnum > 0;
SELECT disclosure.protect(relation, 'k_anonymity', at_least => 5, for_role => :'attacker', only_by_copy => true :unlimited),
       disclosure.protect(relation, 'privacy_score', at_most => 0.4, for_role => :'attacker', only_by_copy => true :unlimited)
  FROM unnest('{locked,ward,pairs}'::regclass[]) relation;
SELECT disclosure.protect('patients', 'k_anonymity', at_least => 5, for_role => :'attacker' :unlimited),
       disclosure.protect('scored', 'privacy_score', at_most => 0.4, for_role => :'attacker' :unlimited);
GRANT SELECT ON locked, ward, pairs, patients, scored TO :"attacker";
ANALYZE locked, ward, pairs, patients, scored;
SET SESSION AUTHORIZATION :"attacker";
CREATE FUNCTION mine.say(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'say %', $1; RETURN $1; END $$;
CREATE FUNCTION mine.says(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RAISE WARNING 'says %', $1; RETURN true; END $$;
CREATE TABLE mine.numbers AS SELECT i FROM generate_series(1, 100) i;
CREATE TABLE mine.list (i int PRIMARY KEY);
INSERT INTO mine.list SELECT i FROM generate_series(1, 100) i;
CREATE TABLE mine.kept (line text);
SQL

log_entries() { ask -c "SELECT count(*) FROM disclosure_internal.export_attempt WHERE session_role = '$attacker'"; }

# start_of FILE: its first characters, in one line.
start_of() { head -c 240 "$1" | tr '\n\0' '  '; }

# prepare SQL: as the attacker, for a later attack; must not fail.
prepare() {
  attempt "$attacker" "SET client_min_messages = error; $1"
  [[ ! -s $work/said ]] || fail "$1: $(start_of "$work/said")"
}
# attack SQL: as the attacker, who is told everything that there is to tell.
attack() { attempt "$attacker" "$1" -c '\set VERBOSITY verbose'; }
# nothing_left WHAT: no row and no secret left, and nobody said anything but the refusal.
nothing_left() {
  [[ ! -s $work/out ]] || fail "$1: $(start_of "$work/out") left"
  nothing_said "$1"
}
# What was said, without the line of the query that Postgres quotes.
quoted_nothing() { grep -vE 'LINE [0-9]+:|^ *\^' "$work/said" || true; }
nothing_said() { # WHAT
  ! quoted_nothing | grep -q secret- || fail "$1: somebody said: $(quoted_nothing | grep -m1 secret-)"
  ! grep -qE '(NOTICE|WARNING|INFO|LOG|DEBUG[0-9]?):  ' "$work/said" || fail "$1: somebody said: $(start_of "$work/said")"
}
refused() { # MESSAGE SQL
  attack "$2"
  nothing_left "$2"
  grep -qE -- "ERROR:  42501: $1" "$work/said" || fail "$2: ${FUNCNAME[1]}? $(start_of "$work/said")"
}
words='it does not satisfy its policies'
shapes='[^:]* not allowed in an export of a protected relation'
closes='policy [0-9]+ allows reading by COPY TO only'
hides='policy [0-9]+ cannot be judged for this query'
# by_shape SQL…, by_measure SQL…, closed SQL…: refused because of its form, for what was measured, because the relation may be
# read by COPY TO only. stopped SQL…: one of these, or because a function would read the relation unseen.
by_shape() { local sql; for sql; do refused "export of public\.[a-z]+ refused: $shapes" "$sql"; done; }
by_measure() {
  local sql
  for sql; do
    refused "export of public\.[a-z]+ refused: $words" "$sql"
    ! grep -q 'CONTEXT:  ' "$work/said" || fail "$sql: $(start_of "$work/said")"
  done
}
closed() { local sql; for sql; do refused "(reading|export of) public\.[a-z]+ refused: $closes" "$sql"; done; }
stopped() { local sql; for sql; do refused "(reading|export of) (public|mine)\.[a-z]+ refused: ($shapes|$words|$closes|$hides)" "$sql"; done; }
# copies KIND QUERY…: each as COPY.
copies() { local query; for query in "${@:2}"; do "$1" "COPY ($query) TO STDOUT"; done; }
# passes ROWS SQL: an honest neighbour of the attacks. So many lines leave, and nothing is said.
passes() {
  attack "$2"
  [[ ! -s $work/said && $(wc -l <"$work/out") == "$1" ]] ||
    fail "$2: expected $1 rows, got $(wc -l <"$work/out"): $(start_of "$work/said")"
}
# no_secret WHAT SQL: whatever it does, nothing secret is shown; for attacks in which some statements are harmless.
no_secret() {
  attack "$2"
  ! cat "$work/out" <(quoted_nothing) | grep -q secret- || fail "$1: $(cat "$work/out" <(quoted_nothing) | grep -m1 secret-) left"
}
# alike SQL SQL: both are refused, and the client cannot tell them apart.
alike() {
  local first
  attack "$1"
  nothing_left "$1"
  first=$(quoted_nothing | grep -v LOCATION || true)
  [[ -n $first ]] || fail "$1: allowed"
  attack "$2"
  nothing_left "$2"
  [[ $(quoted_nothing | grep -v LOCATION || true) == "$first" ]] || fail "$2 says $(start_of "$work/said"), not what $1 says"
}
