#!/usr/bin/env bash
# What only newer majors of Postgres can do, as far as the guard has to know of it. Where a major cannot, there is
# nothing to test.
source "$(dirname "$0")/lib.sh"

psql -qX -v ON_ERROR_STOP=1 -v database="$PGDATABASE" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE newer LOGIN;
CREATE SCHEMA newer AUTHORIZATION newer;
CREATE TABLE patients (id int, zip text, diagnosis text);
INSERT INTO patients SELECT i, 'zip' || i, 'flu' || i % 2 FROM generate_series(1, 20) i;
SELECT disclosure.label_column('patients', 'id', 'ignore'), disclosure.label_column('patients', 'zip', 'quasi'),
       disclosure.label_column('patients', 'diagnosis', 'sensitive'),
       disclosure.protect('patients', 'k_anonymity', at_least => 5);
CREATE TABLE locked AS TABLE patients;
SELECT disclosure.protect('locked', 'k_anonymity', at_least => 5, only_by_copy => true);
GRANT SELECT ON patients, locked TO newer;
CREATE TABLE newer.own (id int, zip text);
INSERT INTO newer.own SELECT i, 'none' FROM generate_series(1, 20) i;
ALTER TABLE newer.own OWNER TO newer;
SQL

# refused MESSAGE SQL: to a role that has to keep to the policies.
refused() {
  attempt newer "$2"
  [[ ! -s $work/out ]] || fail "$2: $(head -c 200 "$work/out") left"
  grep -qF -- "$1" "$work/said" || fail "$2: expected $1, got $(cat "$work/said")"
}
# outside SQL: not in the language of exports.
outside() { refused 'is not allowed in an export of a protected relation' "$1"; }
# prints OUTPUT ROLE SQL
prints() {
  attempt "$2" "$3"
  [[ $(cat "$work/out" "$work/said") == "$1" ]] || fail "$3: expected $1, got $(cat "$work/out" "$work/said")"
}
version=$(psql -qXAtc 'SHOW server_version_num')

# A materialized view is filled in one way up to 16 and in another from 17 on.
prints 20 newer 'CREATE MATERIALIZED VIEW newer.kept AS TABLE patients; SELECT count(*) FROM newer.kept'
outside 'COPY (TABLE newer.kept) TO STDOUT'
outside 'CREATE TABLE newer.copied AS TABLE newer.kept'
refused 'public.locked refused' 'EXPLAIN ANALYZE CREATE MATERIALIZED VIEW newer.locked AS TABLE locked'
refused 'reading public.locked refused: policy 2 allows reading by COPY TO only' \
  'CREATE MATERIALIZED VIEW newer.locked AS TABLE locked'

if ((version >= 160000)); then
  outside "COPY (SELECT JSON_OBJECT('a': zip) FROM patients) TO STDOUT"
  outside 'COPY (SELECT JSON_ARRAY(SELECT zip FROM patients)) TO STDOUT'
  outside 'COPY (SELECT any_value(zip) FROM patients GROUP BY id) TO STDOUT'
fi

if ((version >= 170000)); then
  outside "COPY (SELECT j.z FROM patients p, JSON_TABLE(to_jsonb(p), '\$' COLUMNS (z text PATH '\$.zip')) j) TO STDOUT"
  outside "COPY (SELECT JSON_VALUE(to_jsonb(p), '\$.zip') FROM patients p) TO STDOUT"
  merge='MERGE INTO newer.own o USING patients p ON o.id = p.id WHEN MATCHED THEN UPDATE SET zip = p.zip RETURNING'
  outside "COPY ($merge o.zip) TO STDOUT"
  outside "COPY ($merge merge_action(), o) TO STDOUT"
  prints none newer 'SELECT DISTINCT zip FROM newer.own'
  refused 'reading public.locked refused' 'EXPLAIN (ANALYZE, SERIALIZE) SELECT zip FROM locked'
fi

if ((version >= 180000)); then
  outside 'COPY newer.kept TO STDOUT'
  outside 'COPY newer.kept (zip) TO STDOUT'
  update='UPDATE newer.own o SET zip = p.zip FROM patients p WHERE p.id = o.id RETURNING'
  outside "COPY ($update new.zip) TO STDOUT"
  outside "COPY ($update WITH (OLD AS was, NEW AS now) now) TO STDOUT"

  # Generated columns that are not stored: nobody has them but the table.
  attempt postgres "
    CREATE TABLE virtual (gone int, zip text, \"Area\" text GENERATED ALWAYS AS (left(zip, 1) || '…') VIRTUAL, diagnosis text);
    ALTER TABLE virtual DROP COLUMN gone;
    INSERT INTO virtual VALUES ('a1', DEFAULT, 'flu'), ('b1', DEFAULT, 'flu'), ('b2', DEFAULT, 'flu');
    SELECT disclosure.label_column('virtual', 'zip', 'quasi'), disclosure.label_column('virtual', 'Area', 'ignore');
    SELECT disclosure.protect('virtual', 'k_anonymity', at_least => 2);
    GRANT SELECT ON virtual TO newer"
  refused 'export of public.virtual refused: it does not satisfy its policies' 'COPY (SELECT "Area" FROM virtual) TO STDOUT'
  for measure in "'k_anonymity', at_least => 2" "'privacy_score', at_most => 0.4"; do
    for on_rows in block drop; do
      attempt postgres "
        DROP TABLE IF EXISTS exported;
        CREATE TABLE exported (LIKE virtual INCLUDING GENERATED);
        SELECT disclosure.label_column('exported', 'Area', 'quasi'), disclosure.label_column('exported', 'zip', 'ignore'),
               disclosure.label_column('exported', 'diagnosis', 'sensitive');
        SELECT disclosure.protect('exported', $measure, on_rows => '$on_rows')"
      exported='TABLE exported ORDER BY zip'
      safe="('a1', DEFAULT, 'flu'), ('a2', DEFAULT, 'cold')"
      said=$'a1|a…|flu\na2|a…|cold'
      prints "$said" postgres "INSERT INTO exported VALUES $safe; $exported"
      attempt postgres "SET client_min_messages = error; INSERT INTO exported VALUES ('b1', DEFAULT, 'flu')"
      [[ $on_rows == drop ]] || grep -q 'change of public.exported refused' "$work/said" ||
        fail "$measure, $on_rows: $(cat "$work/said")"
      prints "$said" postgres "$exported"
      attempt postgres "UPDATE exported SET zip = 'b1' WHERE zip = 'a1'"
      grep -q 'change of public.exported refused' "$work/said" || fail "UPDATE, $measure, $on_rows: $(cat "$work/said")"
      attempt postgres "INSERT INTO exported VALUES ('b1', DEFAULT, 'flu'), ('b2', DEFAULT, 'cold')"
      prints "$said"$'\nb1|b…|flu\nb2|b…|cold' postgres "$exported"
    done
  done

  # A child may compute it otherwise. What counts is what the table of the policy shows.
  attempt postgres "
    CREATE TABLE tree (zip text, area text GENERATED ALWAYS AS (left(zip, 1)) VIRTUAL);
    CREATE TABLE twig (zip text, area text GENERATED ALWAYS AS ('all') VIRTUAL) INHERITS (tree);
    SELECT disclosure.protect('tree', 'k_anonymity', at_least => 2, columns => '{area}', on_rows => 'block')"
  prints $'a1|a\na2|a' postgres "INSERT INTO twig VALUES ('a1'), ('a2'); TABLE tree ORDER BY zip"
  attempt postgres "INSERT INTO twig VALUES ('b1')"
  grep -q 'change of public.tree refused: its k_anonymity is 1' "$work/said" || fail "a child: $(cat "$work/said")"
fi
