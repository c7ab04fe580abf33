# shellcheck shell=bash
# Sourced by the other tools: what they agree on. Sets
#   ROOT              the checkout
#   TOOLS             its tools/
#   VERSION           the extension's version
#   PG_CONFIG         which Postgres: given, or found in pgrx.toml under PG_MAJOR
#   PG_MAJOR          its major version
#   CARGO_TARGET_DIR  where things are built
# and, once use_postgres has been called, PG_BINDIR, PG_SHAREDIR, PG_PKGLIBDIR, and
# SERVER_UID, the user that servers run as.

TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=${TOOLS%/*}
CARGO_TARGET_DIR=$(realpath -m -- "${CARGO_TARGET_DIR:-$ROOT/target}")
VERSION=$(awk -F'"' '/^\[/ { section = $0 } section == "[workspace.package]" && /^version/ { print $2; exit }' \
    "$ROOT/Cargo.toml")

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Says what a step that may take a while is doing.
stage() {
    [[ -n ${DISCLOSURE_QUIET-} ]] || printf '%s\n' "$*" >&2
}

if [[ -z ${PG_CONFIG-} ]]; then
    unset PG_CONFIG # should it be exported: tools that we call take one that is given for the user's choice
    PG_MAJOR=${PG_MAJOR:-15}
    PG_CONFIG=$(sed -n "s/^pg$PG_MAJOR *= *\"\(.*\)\"/\1/p" "$ROOT/pgrx.toml")
    [[ -n $PG_CONFIG ]] || die "pgrx.toml has no pg_config for Postgres $PG_MAJOR"
elif [[ -x $PG_CONFIG ]]; then
    PG_MAJOR=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
else
    die "PG_CONFIG=$PG_CONFIG is not a program"
fi
export CARGO_TARGET_DIR PG_MAJOR

# Separate from the settings above because tools/setup may have to install Postgres first, and its user.
use_postgres() {
    local paths
    mapfile -t paths < <("$PG_CONFIG" --bindir --sharedir --pkglibdir)
    PG_BINDIR=${paths[0]-} PG_SHAREDIR=${paths[1]-} PG_PKGLIBDIR=${paths[2]-}
    [[ -n $PG_PKGLIBDIR ]] || die "$PG_CONFIG does not say where Postgres is"
    SERVER_UID=$EUID
    if ((EUID == 0)); then
        SERVER_UID=$(id -u postgres 2>/dev/null || id -u nobody)
    fi
}

# extension_dir [--probe]: where tools/build puts what is to be installed.
extension_dir() {
    printf '%s\n' "$CARGO_TARGET_DIR/extension/pg$PG_MAJOR${1:+-probe}"
}

# The profile in Cargo.toml of everything that only tests use: build scripts, dependencies and the crates are then
# compiled once for all of it.
# shellcheck disable=SC2034 # for those who source this
TEST_PROFILE=fast

# put_file MODE FROM TO: makes TO a copy of FROM. Never writes into an existing file, which a running
# server may have mapped, but beside it, and renames.
put_file() {
    cmp -s -- "$2" "$3" && return
    install -m "$1" -- "$2" "$3.$$"
    mv -f -- "$3.$$" "$3"
}

# The Markdown files whose SQL is tested, relative to the checkout.
docs_files() {
    (cd "$ROOT" && find README.md docs -name '*.md' -exec grep -lE '^ *```sql *$' {} + 2>/dev/null | LC_ALL=C sort)
}

# The sweeps of tests/sweeps, and the program that runs one: build_sweeps makes it.
# shellcheck disable=SC2034 # for those who source this
SWEEPS=(limits cancel random plans guard)
build_sweeps() {
    (cd "$ROOT" && cargo build --quiet --locked --profile "$TEST_PROFILE" -p sweeps)
}
sweeps_program() {
    printf '%s\n' "$CARGO_TARGET_DIR/$TEST_PROFILE/sweeps"
}

# A signal to a shell waits until the program it is running ends, which may be minutes for cargo and
# never for psql. So long-running programs go through run_child, which passes signals on at once.
child=
on_signal() {
    if [[ -z $child ]]; then
        exit "$((128 + $2))"
    elif [[ $1 != INT || ! -t 0 ]]; then # a terminal's Ctrl-C reaches the child without our help
        kill -s "$1" "$child" 2>/dev/null || true
    fi
}
trap 'on_signal HUP 1' HUP
trap 'on_signal INT 2' INT
trap 'on_signal TERM 15' TERM

# Functions to call when the script ends, last one first; once begun, they are not interrupted.
at_exit=()
run_at_exit() {
    local i
    trap '' HUP INT TERM
    for ((i = ${#at_exit[@]} - 1; i >= 0; i--)); do
        "${at_exit[i]}" || true
    done
}
trap run_at_exit EXIT

# run_child PROGRAM…: runs it to its end and returns its status; when a signal ended it, so are we.
run_child() {
    local status
    # bash makes background programs ignore Ctrl-C: undo that.
    env --default-signal=INT,QUIT -- "$@" <&0 &
    child=$!
    while
        status=0
        wait "$child" || status=$?
        kill -0 "$child" 2>/dev/null # still there: only the wait was interrupted
    do :; done
    child=
    ((status <= 128)) || exit "$status"
    return "$status"
}

# as_server_user COMMAND…: Postgres refuses to run as root, and nothing of the caller's environment should
# reach it.
as_server_user() {
    local -a become=()
    if ((EUID == 0)); then
        become=(setpriv "--reuid=$SERVER_UID" "--regid=$(id -g "$SERVER_UID")" --init-groups --)
    fi
    # The caller's directory may be one that the server's user cannot enter.
    (cd / && exec "${become[@]}" env -i PATH="$PG_BINDIR:/usr/local/bin:/usr/bin:/bin" HOME=/ LANG=C.UTF-8 "$@")
}
