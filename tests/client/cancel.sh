#!/usr/bin/env bash
# A long call obeys cancel, statement_timeout and termination. All times are CPU times of the backend, with its
# threads, so that a busy machine changes nothing.
source "$(dirname "$0")/lib.sh"

# A call is stopped once it has used this many ms, and may use so many more until it ends.
begun_ms=300
limit_ms=1000

# 13 columns that are NULL half the time make thousands of patterns to compare: minutes of work.
psql -qX <<'SQL'
-- What a backend has used, in steps of 10 ms; NULL if it has ended.
CREATE FUNCTION cpu_ms(pid int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  fields text[];
BEGIN
  fields := string_to_array(regexp_replace(pg_read_file(format('/proc/%s/stat', pid), 0, 4096, true), '^.*\) ', ''), ' ');
  RETURN (fields[12]::int + fields[13]::int) * 10;
EXCEPTION WHEN OTHERS THEN -- it ended between being opened and being read
  RETURN NULL;
END $$;
-- The call that is to be stopped, once it has used this much.
CREATE FUNCTION victim(begun_ms int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  found int;
BEGIN
  LOOP
    PERFORM pg_stat_clear_snapshot();
    SELECT pid INTO found FROM pg_stat_activity
     WHERE application_name = 'victim' AND datname = current_database() AND state = 'active' AND cpu_ms(pid) >= begun_ms;
    IF found IS NOT NULL THEN
      RETURN found;
    END IF;
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT setseed(0.1);
CREATE TABLE holes AS
SELECT nullif((random() * 2)::int, 1) a, nullif((random() * 2)::int, 1) b, nullif((random() * 2)::int, 1) c,
       nullif((random() * 2)::int, 1) d, nullif((random() * 2)::int, 1) e, nullif((random() * 2)::int, 1) f,
       nullif((random() * 2)::int, 1) g, nullif((random() * 2)::int, 1) h, nullif((random() * 2)::int, 1) i,
       nullif((random() * 2)::int, 1) j, nullif((random() * 2)::int, 1) k, nullif((random() * 2)::int, 1) l,
       nullif((random() * 2)::int, 1) m
  FROM generate_series(1, 200000);
CREATE VIEW endless AS SELECT x FROM generate_series(1, 1000000000) x;
CREATE VIEW baskets AS SELECT ARRAY[x % 100, x % 77] AS x FROM endless;
-- A thousand items of nearly as many frequencies.
CREATE TABLE frequent AS
SELECT (SELECT array_agg(item) FROM generate_series(1, 1000) item WHERE item >= x * x / 4000) AS items FROM generate_series(1, 2000) x;
-- Too many columns to search all sets of them, with weights that no bound cuts short: minutes of work too.
DO $$
BEGIN
  EXECUTE 'CREATE TABLE wide AS SELECT '
    || (SELECT string_agg(format('(random() * 5)::int AS w%s', n), ', ') FROM generate_series(1, 40) n)
    || ' FROM generate_series(1, 30000)';
  PERFORM disclosure.label_column('wide', 'w' || n, format('likelihood=%s danger=%s', 0.5 + n / 100.0, 1 - n / 50.0))
    FROM generate_series(1, 40) n;
END $$;
CREATE TABLE many AS
SELECT (random() * 7)::int a, (random() * 7)::int b, (random() * 7)::int c, (random() * 7)::int d, (random() * 7)::int e,
       (random() * 7)::int f, (random() * 7)::int g, (random() * 7)::int h, (random() * 7)::int i, (random() * 7)::int j
  FROM generate_series(1, 600000);
CREATE TABLE records AS SELECT random() a, random() b, random() c, random() d, random() e, random() f, random() g, random() h
  FROM generate_series(1, 200000);
CREATE TABLE unrelated AS SELECT * FROM records LIMIT 0;
INSERT INTO unrelated SELECT random(), random(), random(), random(), random(), random(), random(), random() FROM records;
CREATE VIEW endless_edges AS SELECT entry, code FROM generate_series(1, 30000) entry, generate_series(1, 30000) code;
-- Documents without end, some with many terms, and a distance table of 3000 x 100.
CREATE VIEW endless_documents AS SELECT 'the knee, an injury ' || x AS body, 'knee:1 injury:2'::tsvector AS lexemes, '{}'::text[] AS nothing FROM endless;
CREATE TABLE wordy AS SELECT (SELECT array_agg('w' || i) FROM generate_series(1, 8000) i WHERE (i + x) % 17 > 0) AS words FROM generate_series(1, 400) x;
CREATE TABLE distances AS SELECT array_agg(r) AS d FROM (SELECT array_agg(random()) AS r FROM generate_series(1, 3000) i, generate_series(1, 100) j GROUP BY i) r;
SQL

# stop HOW CALL: starts CALL in a session of its own, and once it is at work, stops it with the function HOW.
stop() {
  local how=$1 call=$2 output expected used session
  output=$(mktemp)
  PGAPPNAME=victim psql -X -c "$call" >"$output" 2>&1 &
  session=$!
  psql -qXAt >"$output.used" <<SQL &
DO \$\$
DECLARE
  victim int := victim($begun_ms);
  asked int := cpu_ms(victim);
  ended int := asked;
BEGIN
  PERFORM $how(victim);
  LOOP
    ended := coalesce(cpu_ms(victim), ended);
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = victim AND state = 'active');
    PERFORM pg_sleep(0.005);
  END LOOP;
  PERFORM set_config('cancel.used', (ended - asked)::text, false);
END \$\$;
SELECT current_setting('cancel.used');
SQL
  wait "$session" || true
  case $how in
    pg_cancel_backend) expected='canceling statement due to user request' ;;
    pg_terminate_backend) expected='terminating connection' ;;
  esac
  # Also where the call was over before it was at work, and nobody would ever stop it.
  grep -q "$expected" "$output" || die "$call: $(cat "$output")"
  wait $!
  used=$(cat "$output.used")
  [ "$used" -lt "$limit_ms" ] || die "$how took $used ms: $call"
  rm -f "$output" "$output.used"
}

comparing="SELECT disclosure.k_anonymity(holes, 'wildcard') FROM holes"
stop pg_cancel_backend "$comparing"
stop pg_terminate_backend "$comparing"
stop pg_cancel_backend "SELECT * FROM disclosure.equivalence_classes('endless')"
stop pg_terminate_backend "SELECT * FROM disclosure.equivalence_classes('endless')"
stop pg_cancel_backend "SET disclosure.max_memory = '8GB'; SELECT disclosure.k_anonymity(x % 10) FROM endless"

# Scores, row by row and all together, with certain and with probable inferences, and what builds on them.
score() {
  echo "SET disclosure.budget = -1; SELECT count(s) FROM (SELECT disclosure.privacy_score($1) OVER () AS s FROM $2) t"
}
stop pg_cancel_backend "$(score w 'wide w')"
stop pg_terminate_backend "$(score w 'wide w')"
stop pg_cancel_backend "$(score 'w, min_confidence => 0.9' 'wide w')"
stop pg_cancel_backend "$(score 'w, min_confidence => 0.3, joint_confidence => true' 'wide w')"
stop pg_cancel_backend "$(score m 'many m')"
# The score is quick, but not the search for the fewest known attributes.
quasi="(SELECT jsonb_object_agg('w' || n, CASE n WHEN 40 THEN 'sensitive' ELSE 'quasi' END) FROM generate_series(1, 40) n)"
stop pg_cancel_backend "SET disclosure.budget = -1; SELECT count(i) FROM (SELECT disclosure.privacy_inference(w, labels => $quasi) OVER () AS i FROM wide w) t"
stop pg_cancel_backend "SET disclosure.budget = -1; SELECT * FROM disclosure.inferences('wide', max_rows => 1000000)"
stop pg_cancel_backend "SET disclosure.budget = -1; SELECT * FROM disclosure.inferences('wide', order_by => 'people')"
stop pg_cancel_backend "SET disclosure.budget = -1; SELECT * FROM disclosure.remedies('wide', threshold => 0.1)"
stop pg_cancel_backend "SELECT count(disclosure.privacy_score(t, 'holes'::regclass)) FROM holes t"

# Counting items, in one long aggregate and from a table.
stop pg_cancel_backend "SELECT disclosure.count_items(x % 10) FROM endless"
stop pg_cancel_backend "SELECT disclosure.expected_cracks('baskets', 'x')"
stop pg_cancel_backend "SELECT disclosure.expected_cracks('baskets')"
# Counting crack mappings, which would take minutes, and a simulation that is never exact enough.
cracks="disclosure.budget = -1; SET disclosure.max_memory = '8GB'; SELECT disclosure.expected_cracks('frequent', 'items', width => 0.005"
stop pg_cancel_backend "SET $cracks, method => 'exact')"
stop pg_terminate_backend "SET $cracks, method => 'simulate', relative_error => 1e-9)"

# All columns of a table within one budget.
stop pg_cancel_backend "SET disclosure.budget = -1; SELECT disclosure.expected_cracks('frequent', width => 0.005, method => 'simulate', relative_error => 1e-9)"

# The recipes, samples without end, and people against rows.
recipe="disclosure.budget = -1; SELECT * FROM disclosure.assess"
stop pg_cancel_backend "SET ${recipe}_itemsets('frequent', 'items', size => 3, width => 0.005)"
stop pg_cancel_backend "SET ${recipe}_correlations('frequent', 'items', apart => 9, method => 'o_estimate', relative_error => 1e-9)"
stop pg_cancel_backend "SELECT * FROM disclosure_lab.similarity_by_sampling('frequent', 'items', samples => 1000000)"
stop pg_cancel_backend "SELECT * FROM disclosure.expected_reidentifications('many', 'many', '{a,b,c,d,e,f,g,h,i,j}')"

# Records in rank space: unrelated ones in eight columns have to be compared with many others.
stop pg_cancel_backend "SELECT count(*) FROM disclosure.record_linkage('records', 'unrelated')"
stop pg_terminate_backend "SELECT * FROM disclosure.linkage_plausibility('records', 'records', draws => 100)"
stop pg_cancel_backend "SELECT count(*) FROM disclosure.permuted_privacy('records', 'unrelated')"
stop pg_cancel_backend "SELECT * FROM disclosure.calibrate_permutation('records', draws => 100)"
stop pg_cancel_backend "SELECT * FROM disclosure.permutation_report('endless', 'endless', key => 'x', columns => '{x}')"

# Matchings: an exact sum over 2^40 sets, a sample that is never exact enough, and edges without end.
attack="disclosure.budget = -1; SELECT disclosure_lab"
stop pg_cancel_backend "SET $attack.permanent(disclosure_lab.random_attack(40, 1))"
stop pg_terminate_backend "SET $attack.crack_estimate(disclosure_lab.random_attack(40, 1), ARRAY(SELECT generate_series(1, 40)), method => 'sample', relative_error => 1e-9)"
stop pg_cancel_backend "SET disclosure.max_memory = '8GB'; SELECT * FROM disclosure.attack_report('endless_edges', 'entry', 'code')"

# Semantic attack: reading documents, counting pairs of terms, eliminating items.
distance="SET disclosure.max_memory = '8GB'; SELECT disclosure.semantic_distance('endless_documents'"
stop pg_cancel_backend "$distance, 'body', 'knee', 'injury')"
stop pg_terminate_backend "$distance, 'lexemes', 'knee', 'injury')"
stop pg_cancel_backend "$distance, 'nothing', 'knee', 'injury')"
stop pg_cancel_backend "SELECT count(*) FROM disclosure.cooccurrence('wordy', 'words', ARRAY(SELECT 'w' || i FROM generate_series(1, 8000) i))"
stop pg_cancel_backend "SELECT disclosure_lab.eliminate(d, 'rba', 0) IS NULL FROM distances"
stop pg_terminate_backend "SELECT count(*) FROM distances, disclosure_lab.elimination_steps(d, 'gba', 0)"
# Transactions: COAT with many constraints, and sets of items.
stop pg_cancel_backend "SELECT count(*) FROM disclosure.coat('frequent', 'items', k => 1500, privacy => (SELECT jsonb_agg(jsonb_build_array(a, b)) FROM generate_series(1, 300) a, generate_series(a + 1, 300) b))"
stop pg_cancel_backend "SELECT disclosure.km_anonymity('frequent', 'items', 4)"
stop pg_terminate_backend "SELECT * FROM disclosure.km_violations('frequent', 'items', 10, 4)"

# An interrupt that asks for something else does not end the call.
disturb_and_cancel() {
  local output session
  output=$(mktemp)
  PGAPPNAME=victim psql -X -c "$comparing" >"$output" 2>&1 &
  session=$!
  for i in 1 2 3 4 5; do
    psql -qXAt -c "SELECT pg_log_backend_memory_contexts(victim($((i * 100))))" >/dev/null
  done
  psql -qXAt -c "SELECT pg_cancel_backend(victim(600))" >/dev/null
  wait "$session" || true
  grep -q 'canceling statement due to user request' "$output" || die "$(cat "$output")"
  rm -f "$output"
}
disturb_and_cancel

# statement_timeout fires by itself. Before it does, one thread cannot have used more than its time.
took=$(psql -qXAt 2>&1 <<SQL
SET disclosure.threads = 1;
SELECT cpu_ms(pg_backend_pid()) AS began \gset
SET statement_timeout = '300ms';
$comparing;
RESET statement_timeout;
SELECT cpu_ms(pg_backend_pid()) - :began - 300;
SQL
)
grep -q 'statement timeout' <<<"$took" || die "$took"
took=${took##*$'\n'}
[ "$took" -lt "$limit_ms" ] || die "statement_timeout was obeyed $took ms late"

# The server has not been restarted by any of this.
psql -qXAt -c 'SELECT count(*) FROM holes' | grep -qx 200000
