# shellcheck shell=bash
# Sourced by the tests in this directory, which have PGDATABASE with the extension to themselves: what they share.
set -euo pipefail

# A directory of the test's own, which goes with it.
work=$(mktemp -d)
remove_work() { rm -rf -- "$work"; }

# fail MESSAGE: the test goes on, and has failed in the end. die MESSAGE: it ends here.
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
die() {
  echo "$*"
  exit 1
}
end_test() {
  local status=$?
  remove_work
  ((failures == 0)) || { echo "$failures failures"; exit 1; }
  exit "$status"
}
trap end_test EXIT

# ask OPTION…: the superuser's psql, which must not fail.
ask() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }

# attempt ROLE SQL [OPTION…]: may fail, but not crash. What is sent to the client is in $work/out, what is said in $work/said.
attempt() {
  psql -qXAt -U "$1" "${@:3}" -f - <<<"$2" >"$work/out" 2>"$work/said" || true
  ! grep -qi 'server closed the connection\|internal error' "$work/said" || fail "$2: $(cat "$work/said")"
}

# A session that goes on. open_session [OPTION…] begins it, in_session SQL runs SQL there and prints what it prints. The
# same in two steps: tell SQL does not wait, answer does.
open_session() { coproc SESSION { psql -qXAt "$@" 2>&1; }; }
tell() { printf '%s\n\\echo done\n' "$1" >&"${SESSION[1]}"; }
answer() {
  local line
  while read -r line <&"${SESSION[0]}" && [[ $line != 'done' ]]; do echo "$line"; done
}
in_session() {
  tell "$1"
  answer
}
close_session() {
  local pid=$SESSION_PID
  printf '\\q\n' >&"${SESSION[1]}"
  wait "$pid" || true
}
