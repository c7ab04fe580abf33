#!/usr/bin/env bash
# What judging costs: INSERT into an export table, against the same INSERT into a table without policy, for tables
# and batches of several sizes. Every insert is rolled back, so that the table keeps its size. Then what dropping unsafe
# rows costs a row, in batches of several sizes. Environment:
#   BENCH_SIZES    rows in the tables, by default "1000 10000 100000 1000000"
#   BENCH_BATCHES  rows of an INSERT, by default "1 100 10000"
set -euo pipefail
source tools/bench-lib.sh

sizes=${BENCH_SIZES:-1000 10000 100000 1000000}
batches=${BENCH_BATCHES:-1 100 10000}

query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

query <<'SQL' >/dev/null
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS pg_disclosure;
DROP TABLE IF EXISTS guarded, free, sample;
-- The quickest of several inserts, in ms.
CREATE OR REPLACE PROCEDURE insert_sample(target text, batch int, times int, INOUT best float8 DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
  command text := format('INSERT INTO %I SELECT age, zip, sex, ill FROM sample WHERE number > $1 AND number <= $1 + $2', target);
  began timestamptz;
  took float8;
BEGIN
  FOR i IN 0 .. times - 1 LOOP
    began := clock_timestamp();
    EXECUTE command USING (i * batch) % 10000, batch;
    took := extract(epoch FROM clock_timestamp() - began) * 1000;
    ROLLBACK;
    best := least(best, took);
  END LOOP;
END $$;
SQL

# make_tables ROWS: classes of about 20, whose rows have different diagnoses.
make_tables() {
    query <<SQL
SET client_min_messages = error;
DROP TABLE IF EXISTS guarded, free, sample;
CREATE UNLOGGED TABLE free AS
  SELECT (i / 20) % 90 AS age, i / 1800 AS zip, CASE i / 20 % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex, 'ill ' || i % 5 AS ill
    FROM generate_series(0, $1 - 1) i;
CREATE UNLOGGED TABLE guarded AS TABLE free;
CREATE INDEX ON free (age, zip, sex);
CREATE INDEX ON guarded (age, zip, sex);
CREATE UNLOGGED TABLE sample AS
  SELECT row_number() OVER () AS number, s.* FROM (
    SELECT f.* FROM free f, generate_series(1, greatest(1, 10000 / $1)) ORDER BY md5(f::text) LIMIT 10000) s;
CREATE INDEX ON sample (number);
SELECT disclosure.label_column('guarded', c, CASE c WHEN 'ill' THEN 'sensitive' ELSE 'quasi' END)
  FROM unnest('{age,zip,sex,ill}'::name[]) c \g /dev/null
VACUUM ANALYZE free, guarded, sample;
SQL
}

# quickest TABLE BATCH: µs a row.
quickest() {
    local times=$(($2 == 1 ? 300 : $2 <= 100 ? 50 : BENCH_RUNS))
    query -c "CALL insert_sample('$1', $2, $times)" | awk -v rows="$2" '{ print $1 * 1000 / rows }'
}

bench_policy() { # NAME PROTECT
    local rows batch ours theirs
    declare -A cost=()
    for rows in $sizes; do
        make_tables "$rows"
        query -c 'SET client_min_messages = error' -c "SELECT disclosure.protect('guarded', $2, on_rows => 'block')" >/dev/null
        for batch in $batches; do
            theirs=$(quickest free "$batch")
            ours=$(quickest guarded "$batch")
            cost[$rows/$batch]=$ours
            bench_line "$1, $rows rows, $batch at once: µs a row; unguarded" - "$ours" "$theirs"
        done
    done
    for batch in $batches; do
        if [[ -n ${cost[1000000/$batch]-} && -n ${cost[10000/$batch]-} ]]; then
            bench_line "$1, $batch at once: µs a row at 1000000; at 10000" "$3" "${cost[1000000/$batch]}" "${cost[10000/$batch]}"
        fi
    done
}

# bench_drop GOAL: one INSERT into an empty table without index. Half of the rows are unsafe and are dropped.
bench_drop() {
    local rows first= cost
    query <<'SQL'
SET client_min_messages = error;
DROP TABLE IF EXISTS dropping;
CREATE UNLOGGED TABLE dropping (age int, zip int);
SELECT disclosure.protect('dropping', 'k_anonymity', at_least => 3, columns => '{age,zip}', on_rows => 'drop') \g /dev/null
-- The quickest of several inserts, in µs a row.
CREATE OR REPLACE PROCEDURE insert_unsafe(many int, times int, INOUT best float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz;
  took float8;
BEGIN
  FOR run IN 1 .. times LOOP
    began := clock_timestamp();
    INSERT INTO dropping SELECT CASE WHEN i % 8 < 4 THEN i / 8 ELSE -i END, 1 FROM generate_series(1, many) i;
    took := extract(epoch FROM clock_timestamp() - began) * 1000000 / many;
    ROLLBACK;
    best := least(best, took);
  END LOOP;
END $$;
SQL
    for rows in 6000 12000 24000 48000; do
        cost=$(query -c 'SET client_min_messages = error' -c "CALL insert_unsafe($rows, $BENCH_RUNS)")
        bench_line "drop, $rows rows at once, no index: µs a row; 6000 rows" "$1" "$cost" "${first:=$cost}"
    done
    query -c 'DROP TABLE dropping' -c 'DROP PROCEDURE insert_unsafe'
}

bench_header
bench_policy k_anonymity "measure => 'k_anonymity', at_least => 5, columns => '{age,zip,sex}'" 2
bench_policy privacy_score "measure => 'privacy_score', at_most => 1" -
bench_drop 1.5
query -c 'DROP TABLE guarded, free, sample' -c 'DROP PROCEDURE insert_sample'
