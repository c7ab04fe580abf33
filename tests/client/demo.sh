#!/usr/bin/env bash
# The SQL of make demo runs without an error. It creates the extension itself.
source "$(dirname "$0")/lib.sh"

ask -c 'DROP EXTENSION pg_disclosure CASCADE'
psql -qX -v ON_ERROR_STOP=1 -f "$(dirname "$0")/../../tools/demo.sql" >"$work/said" 2>&1 || fail "the demo failed: $(grep -m 1 ERROR "$work/said")"
grep -q 'age=77 ⇒ diagnosis=angina' "$work/said" || fail "the demo shows no inference"
