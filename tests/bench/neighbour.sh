#!/usr/bin/env bash
# What those pay who have nothing to do with us: the CPU time of a backend that selects rows by their primary key on a
# server that preloads the library, with policies on another table, against a server without the library. Both run side
# by side and take turns.
set -euo pipefail
source tools/common.sh
use_postgres
source tools/cluster.sh
source tools/bench-lib.sh

statements=${BENCH_STATEMENTS:-25000}
pairs=${BENCH_PAIRS:-15}
servers=$DISCLOSURE_CLUSTER/neighbour
scratch=$(mktemp -d)

clean_up() {
    cluster_destroy "$servers/with"
    cluster_destroy "$servers/without"
    rm -rf -- "$scratch"
}
at_exit+=(clean_up)

# on SIDE PROGRAM…: runs it, connected to the server with the library or to that without.
on() {
    cluster_run "$servers/$1" "${@:2}"
}
sql() { # SIDE
    on "$1" psql -XAtq -v ON_ERROR_STOP=1
}

# Their processes log what CPU time they have used.
export CPU_LOG_LIBRARY=$scratch/cpu-log.so
cc -O2 -shared -fPIC -o "$CPU_LOG_LIBRARY" tools/cpu-log.c
cluster_directory "$servers"
for side in with without; do
    dir=$servers/$side
    cluster_directory "$dir"
    cluster_create "$dir" "$(extension_dir)"
    echo 'autovacuum = off' >>"$dir/data/postgresql.conf"
    [[ $side == without ]] || echo "shared_preload_libraries = 'pg_disclosure'" >>"$dir/data/postgresql.conf"
    CPU_LOG=$dir/cpu cluster_start "$dir"
    sql "$side" <<'SQL'
CREATE TABLE accounts AS SELECT i AS id, i * 7 % 1000 AS balance FROM generate_series(1, 100000) i;
ALTER TABLE accounts ADD PRIMARY KEY (id);
CREATE TABLE other (c0 int, c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int, c10 int, c11 int);
VACUUM (FREEZE, ANALYZE) accounts, other;
SQL
done
sql with <<<'CREATE EXTENSION pg_disclosure'
cat >"$scratch/select.sql" <<'SQL'
\set id random(1, 100000)
SELECT balance FROM accounts WHERE id = :id;
SQL

# add_policies FROM TO: policies with these numbers, each for a set of columns of its own.
add_policies() {
    sql with <<SQL
SET client_min_messages = error;
DO \$\$
BEGIN
  FOR number IN $1..$2 LOOP
    PERFORM disclosure.protect('other', 'k_anonymity', at_least => 1, only_by_copy => true,
      columns => ARRAY(SELECT 'c' || bit FROM generate_series(0, 11) bit WHERE number >> bit & 1 = 1));
  END LOOP;
END \$\$;
SQL
}

# await_end SIDE: a backend that has disconnected may still be there.
await_end() {
    while (($(sql "$1" <<<"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") > 1)); do
        sleep 0.01
    done
}

# used SIDE PROTOCOL SEED: ms of CPU time that the backend uses for 100,000 statements.
used() {
    local dir=$servers/$1 logged
    await_end "$1"
    logged=$(stat -c %s "$dir/cpu")
    on "$1" pgbench --no-vacuum --client=1 --transactions="$statements" --protocol="$2" --random-seed="$3" \
        --file="$scratch/select.sql" >"$scratch/pgbench" 2>&1 || die "pgbench: $(cat "$scratch/pgbench")"
    await_end "$1"
    # The one of many small ones that has done the work.
    tail -c "+$((logged + 1))" "$dir/cpu" |
        awk -v statements="$statements" '$2 > most { most = $2 } END { print most * 1000 * 100000 / statements }'
}

# measure NAME PROTOCOL
measure() {
    local pair with without
    for ((pair = 1; pair <= pairs; pair++)); do
        # Whoever is first is the other one next time.
        if ((pair % 2)); then
            with=$(used with "$2" "$pair") without=$(used without "$2" "$pair")
        else
            without=$(used without "$2" "$pair") with=$(used with "$2" "$pair")
        fi
        echo "$with $without"
    done | bench_pairs "$1" 1.02
}

echo "CPU time for 100,000 statements, $pairs pairs of $statements; ratio with a 95 % confidence interval"
bench_header
policies=0
for count in 0 1 2500; do
    ((count == policies)) || add_policies "$((policies + 1))" "$count"
    policies=$count
    for protocol in prepared simple; do
        measure "SELECT by primary key, $protocol, $count policies elsewhere" "$protocol"
    done
done
