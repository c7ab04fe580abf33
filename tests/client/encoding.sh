#!/usr/bin/env bash
# A database that is not UTF8 is refused when the extension is created, not when names go wrong.
source "$(dirname "$0")/lib.sh"

createdb -T template0 -E LATIN1 --locale=C "${PGDATABASE}_latin1"
said=$(psql -qX -d "${PGDATABASE}_latin1" -c 'CREATE EXTENSION pg_disclosure' 2>&1 || true)
grep -q 'pg_disclosure needs a database with encoding UTF8' <<<"$said" || die "$said"
! grep -q CONTEXT <<<"$said" || die "the error has a context: $said"
[ "$(psql -qXAt -d "${PGDATABASE}_latin1" -c 'SELECT count(*) FROM pg_extension WHERE extname = $$pg_disclosure$$')" = 0 ]
