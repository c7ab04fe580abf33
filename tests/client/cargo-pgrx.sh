#!/usr/bin/env bash
# cargo-pgrx makes the same extension as tools/build: from the same build, with the same control file and the same SQL.
source "$(dirname "$0")/lib.sh"
source tools/common.sh
at_exit+=(remove_work) # its trap is in place of ours
use_postgres

pgrx=$(sed -n 's/^pgrx = .*"=\([0-9.]*\)".*/\1/p' Cargo.toml)
if [[ $(cargo pgrx --version 2>/dev/null) != "cargo-pgrx $pgrx" ]]; then
  echo "cargo-pgrx $pgrx is not installed: cargo install --locked --version =$pgrx cargo-pgrx"
  exit 77
fi

# build.rs has what cargo-pgrx would tell the linker, at the price of compiling everything again.
export PGRX_PG_CONFIG_PATH=$PG_CONFIG CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1
cargo pgrx package --profile "$TEST_PROFILE" --no-default-features --features "pg$PG_MAJOR,probe" \
  --pg-config "$PG_CONFIG" --out-dir "$work/package" >"$work/said" 2>&1 || die "$(cat "$work/said")"

# A file's statements: without comments, blank lines, and what keeps psql from running it.
statements() { sed '/^\/\*$/,/^\*\/$/d' "$1" | grep -vE '^\s*(--.*|/\*.*\*/|\\echo .*)?$'; }
packaged=$work/package$PG_SHAREDIR/extension built=$(extension_dir --probe)
[[ -e $work/package$PG_PKGLIBDIR/pg_disclosure.so ]] || die "there is no library: $(find "$work/package")"
diff -u "$built/pg_disclosure.control" "$packaged/pg_disclosure.control"
diff -u <(cd "$built" && ls -- *.sql) <(cd "$packaged" && ls -- *.sql)
for file in "$built"/*.sql; do
  diff -u <(statements "$file") <(statements "$packaged/${file##*/}")
done
