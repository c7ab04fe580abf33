# shellcheck shell=bash
# Sourced after common.sh and use_postgres: private Postgres clusters. One is a directory DIR of the
# server's user, with
#   root/  a shadow of the Postgres installation, in which our extension is installed
#   data/  the data directory
#   log    what the server says
# and the server's socket. Nobody else may enter DIR: whoever reaches the socket is a superuser.
#
# The shadow works because a server looks for its files relative to where its own binary is. That
# has to be a copy, as a symbolic link would be followed; everything else are links to the real thing.

TEMPORARY=$(realpath -- "${TMPDIR:-/tmp}")
# The clusters of tools/psql for this checkout are directories with this name, a hyphen and the major.
PERSISTENT=$TEMPORARY/pg_disclosure-$UID-$(sha256sum <<<"$ROOT" | head -c 8)

# cluster_directory DIR: prepares a new or existing, perhaps empty directory.
cluster_directory() {
    # A socket's path must fit into 107 bytes.
    ((${#1} <= 80)) || die "$1 is too long a name for a directory with a socket: set TMPDIR to a shorter one"
    mkdir -p -m 700 -- "$1"
    if ((EUID == 0)) && [[ -O $1 && ! -L $1 ]]; then
        chown -- "$SERVER_UID" "$1"
    fi
    # In a directory where everyone may write, it could be anyone's.
    [[ $(stat -c %u:%a -- "$1") == "$SERVER_UID:700" ]] || die "$1 is not a directory of user $SERVER_UID alone"
    as_server_user test -w "$1" || die "user $SERVER_UID cannot enter $1: set TMPDIR to a directory that everyone may enter"
}

# link_entries REAL SHADOW: fills SHADOW with links to the entries of REAL, but for those that differ.
link_entries() {
    local entry
    local -a entries=()
    mkdir -p -- "$2"
    for entry in "$1"/*; do
        case ${entry##*/} in
        extension | pg_disclosure*) ;;
        *) entries+=("$entry") ;;
        esac
    done
    ln -sfn -t "$2" -- "${entries[@]}"
}

# cluster_refresh DIR EXTENSION: makes the shadow installation what Postgres and EXTENSION are now.
cluster_refresh() (
    umask 022
    shadow=$1/root
    mkdir -p -- "$shadow$PG_BINDIR"
    put_file 755 "$PG_BINDIR/postgres" "$shadow$PG_BINDIR/postgres"
    link_entries "$PG_PKGLIBDIR" "$shadow$PG_PKGLIBDIR"
    link_entries "$PG_SHAREDIR" "$shadow$PG_SHAREDIR"
    link_entries "$PG_SHAREDIR/extension" "$shadow$PG_SHAREDIR/extension"
    put_file 755 "$2/pg_disclosure.so" "$shadow$PG_PKGLIBDIR/pg_disclosure.so"
    for file in "$2"/*.control "$2"/*.sql; do
        put_file 644 "$file" "$shadow$PG_SHAREDIR/extension/${file##*/}"
    done
    for file in "$shadow$PG_SHAREDIR"/extension/pg_disclosure*; do # those of a version before
        [[ -e $2/${file##*/} ]] || rm -f -- "$file"
    done
)

# cluster_create DIR EXTENSION: a new cluster, not started.
cluster_create() {
    local new=$1/data.new output
    cluster_refresh "$1" "$2"
    rm -rf -- "$new"
    output=$(as_server_user "$PG_BINDIR/initdb" --pgdata="$new" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions 2>&1) || die "initdb failed: $output"
    # Nothing here has to survive a crash of the machine.
    cat >>"$new/postgresql.conf" <<END
listen_addresses = ''
port = 5432
unix_socket_directories = '${1//\'/\'\'}'
fsync = off
full_page_writes = off
synchronous_commit = off
shared_buffers = 256MB
max_wal_size = 4GB
timezone = 'UTC'
END
    mv -- "$new" "$1/data" # so that a data directory that is there is a whole one
}

# cluster_environment DIR [DATABASE]: lets programs of Postgres that follow connect to the cluster.
cluster_environment() {
    unset PGHOSTADDR PGSERVICE
    export PGHOST=$1 PGPORT=5432 PGUSER=postgres PGDATABASE=${2:-postgres} PG_BINDIR PATH="$PG_BINDIR:$PATH"
}

# cluster_run DIR COMMAND…: runs it, connected to the cluster and without the session options of the caller.
cluster_run() (
    unset PGOPTIONS
    cluster_environment "$1"
    shift
    "$@"
)

# cluster_start DIR: does nothing if it runs. The server must not inherit locks, which would outlive us.
cluster_start() {
    local output sharedir
    local -a environment
    if ! "$PG_BINDIR/pg_isready" -q -h "$1" -p 5432; then
        # With RUST_BACKTRACE, so that every test shows that no error carries a backtrace.
        environment=(RUST_BACKTRACE=1)
        if [[ -n ${CPU_LOG_LIBRARY-} ]]; then # tools/test counts what servers use
            put_file 755 "$CPU_LOG_LIBRARY" "$1/cpu-log.so"
            environment+=("LD_PRELOAD=$1/cpu-log.so" "CPU_LOG=${CPU_LOG:-$1/cpu}")
        fi
        output=$(as_server_user "${environment[@]}" "$PG_BINDIR/pg_ctl" start --silent --wait --pgdata="$1/data" --log="$1/log" \
            -p "$1/root$PG_BINDIR/postgres" 2>&1 8>&- 9>&-) ||
            die "the server in $1 does not start: $output"$'\n'"$(tail -n 20 -- "$1/log" 2>&1)"
    fi
    sharedir=$(cluster_run "$1" psql -XAtqc "SELECT setting FROM pg_config WHERE name = 'SHAREDIR'")
    [[ $sharedir == "$1/root$PG_SHAREDIR" ]] ||
        die "this Postgres cannot be relocated: the server in $1 reads $sharedir, not $1/root$PG_SHAREDIR"
}

# cluster_stop DIR [MODE]: does nothing if it does not run.
cluster_stop() {
    [[ -f $1/data/postmaster.pid ]] || return 0
    as_server_user "$PG_BINDIR/pg_ctl" stop --silent --wait --mode="${2:-fast}" --pgdata="$1/data"
}

cluster_destroy() {
    cluster_stop "$1" immediate || true
    rm -rf -- "$1"
}

# cluster_temporary EXTENSION: a running cluster for as long as this script runs; DISCLOSURE_CLUSTER is
# its directory, and programs of Postgres that follow connect to it.
cluster_temporary() {
    stage "starting a private Postgres $PG_MAJOR…"
    DISCLOSURE_CLUSTER=$(mktemp -d "$TEMPORARY/pg_disclosure.XXXXXX")
    export DISCLOSURE_CLUSTER
    # In a session of its own, hence out of reach of whatever may kill us.
    setsid "$TOOLS/reap-cluster" "$$" "$DISCLOSURE_CLUSTER" </dev/null >/dev/null 2>&1 &
    cluster_reaper=$!
    at_exit+=(cluster_temporary_end)
    cluster_directory "$DISCLOSURE_CLUSTER"
    cluster_create "$DISCLOSURE_CLUSTER" "$1"
    cluster_start "$DISCLOSURE_CLUSTER"
    cluster_environment "$DISCLOSURE_CLUSTER"
}

cluster_temporary_end() {
    kill -- "-$cluster_reaper" 2>/dev/null || true
    cluster_destroy "$DISCLOSURE_CLUSTER"
}

# fresh_database NAME: a new database with the extension, in the temporary cluster.
fresh_database() (
    exec 7>>"$DISCLOSURE_CLUSTER/template.lock"
    flock 7
    psql() { PGOPTIONS="-c client_min_messages=warning" command psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
    if [[ -z $(psql -d postgres -c "SELECT 1 FROM pg_database WHERE datname = 'with_extension'") ]]; then
        psql -d postgres -c 'DROP DATABASE IF EXISTS creating_extension' -c 'CREATE DATABASE creating_extension'
        psql -d creating_extension -c 'CREATE EXTENSION pg_disclosure'
        psql -d postgres -c 'ALTER DATABASE creating_extension RENAME TO with_extension'
    fi
    psql -d postgres -c "CREATE DATABASE \"$1\" TEMPLATE with_extension"
)

# What psql prints must not depend on who runs it.
deterministic_environment() {
    unset PGOPTIONS PSQL_PAGER PAGER COLUMNS PG_COLOR
    export TZ=UTC PGTZ=UTC PGDATESTYLE='ISO, MDY' PGCLIENTENCODING=UTF8 LC_ALL=C.UTF-8
}
