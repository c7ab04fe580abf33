#!/usr/bin/env bash
# The types that the SQL declares for a C function are those that its Rust code reads and returns. Functions
# that read their arguments raw (window functions, aggregates) say nothing about types and are not compared.
source "$(dirname "$0")/lib.sh"

library=$(psql -qXAtc "SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'")/pg_disclosure.so
objcopy -O binary --only-section=.pgrxsc "$library" "$work/section"
cargo run --profile fast --locked --quiet -p signatures -- "$work/section" >"$work/rust"

# Types that Rust does not tell apart, because they are the same Datum, have one name here.
psql -qXAt -F $'\t' >"$work/sql" <<'SQL'
CREATE FUNCTION pg_temp.name_in_rust(declared oid) RETURNS text LANGUAGE sql AS $$
  SELECT CASE
    WHEN declared IN ('oid'::regtype, 'regclass'::regtype, 'regtype'::regtype) OR t.typtype = 'e' THEN 'oid'
    WHEN declared = 'void'::regtype THEN ''
    WHEN declared = 'name'::regtype THEN 'cstring'
    WHEN declared = 'name[]'::regtype THEN 'cstring[]'
    WHEN declared = 'regclass[]'::regtype THEN 'oid[]'
    WHEN declared = 'disclosure.item_counts'::regtype THEN 'bytea'
    WHEN declared = 'integer'::regtype THEN 'int'
    WHEN declared = 'integer[]'::regtype THEN 'int[]'
    WHEN declared = 'boolean'::regtype THEN 'bool'
    WHEN declared = 'boolean[]'::regtype THEN 'bool[]'
    ELSE format_type(declared, NULL)
  END FROM pg_type t WHERE t.oid = declared $$;
SELECT p.prosrc,
       (SELECT string_agg(pg_temp.name_in_rust(argument), ',' ORDER BY number)
          FROM unnest(p.proargtypes) WITH ORDINALITY AS a(argument, number)),
       coalesce((SELECT string_agg(pg_temp.name_in_rust(result), ',' ORDER BY number)
                   FROM unnest(p.proallargtypes, p.proargmodes) WITH ORDINALITY AS r(result, mode, number)
                  WHERE mode IN ('o', 't')),
                pg_temp.name_in_rust(p.prorettype))
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
 WHERE p.pronamespace IN ('disclosure'::regnamespace, 'disclosure_lab'::regnamespace, 'disclosure_internal'::regnamespace)
   AND l.lanname = 'c';
SQL

# Those that both know.
compared() { # FILE OTHER
  awk -F '\t' 'NR == FNR { known[$1]; next } $1 in known' "$2" "$1" | LC_ALL=C sort
}
compared "$work/sql" "$work/rust" >"$work/declared"
compared "$work/rust" "$work/sql" >"$work/implemented"
[ -s "$work/declared" ] || { echo "nothing to compare"; exit 1; }
diff -u --label "declared in SQL" --label "implemented in Rust" "$work/declared" "$work/implemented"
