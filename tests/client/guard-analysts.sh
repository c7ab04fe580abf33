#!/usr/bin/env bash
# Exports that analysts make, with the verdict that each must get. The verdicts were written before the code. Adult and
# eu-silc gave the columns; the rows are generated: in every class of known columns that is coarse enough, each sensitive
# value has the same share.
source "$(dirname "$0")/lib.sh"

ask -v database="$PGDATABASE" >/dev/null <<'SQL'
SET client_min_messages = warning;
ALTER DATABASE :"database" SET session_preload_libraries = 'pg_disclosure';
LOAD 'pg_disclosure';
CREATE ROLE census_owner;
CREATE ROLE census_analyst LOGIN;
CREATE SCHEMA study AUTHORIZATION census_analyst;
GRANT CREATE ON SCHEMA public TO census_owner;
SET ROLE census_owner;

-- Adult: 2,160 people. All known columns are made of i / 4, income of i % 4.
CREATE TYPE education AS ENUM ('primary', 'secondary', 'bachelor', 'master', 'doctorate');
CREATE TABLE regions (code int PRIMARY KEY, name text, part text);
INSERT INTO regions VALUES (1, 'north', 'outer'), (2, 'south', 'outer'), (3, 'middle', 'inner');
CREATE TABLE occupations (code int PRIMARY KEY, title text, sector text);
INSERT INTO occupations SELECT i, 'occupation ' || i, CASE WHEN i < 4 THEN 'services' ELSE 'industry' END FROM generate_series(0, 6) i;
CREATE TABLE adult (id int PRIMARY KEY, name text, age int, born date, sex text, education education, region int, zip text,
                    occupation int, hours int, income text);
INSERT INTO adult
SELECT i, 'person ' || i, 20 + i / 40, date '2024-01-01' - (20 + i / 40) * 365 - i * 11 % 365,
       CASE i / 4 % 2 WHEN 0 THEN 'f' ELSE 'm' END,
       (enum_range(NULL::education))[1 + i / 24 % 5], 1 + i / 8 % 3, '1' || 1 + i / 8 % 3 || lpad((i / 4 % 50)::text, 3, '0'),
       i / 4 % 7, 20 + i / 4 % 41, (ARRAY['<=20K', '20-40K', '40-60K', '>60K'])[1 + i % 4]
  FROM generate_series(0, 2159) i;
SELECT disclosure.label_column('adult', column_name, label)
  FROM (VALUES ('id', 'identifier'), ('name', 'identifier'), ('age', 'quasi'), ('born', 'quasi'), ('sex', 'quasi'),
               ('education', 'quasi'), ('region', 'quasi'), ('zip', 'quasi'), ('occupation', 'quasi'), ('hours', 'quasi'),
               ('income', 'sensitive')) l(column_name, label);
CREATE FUNCTION decade(age int) RETURNS text LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN (age / 10 * 10)::text || 's'; END $$;
CREATE VIEW working_age AS SELECT decade(age) AS decade, sex, hours, income FROM adult WHERE age BETWEEN 25 AND 64;

-- eu-silc: 1,000 people in two years. Who is unable to work is in bad health.
CREATE TABLE silc (person int, year int, region text, sex text, born int, citizenship text, status text, interviewed date,
                   health text, income numeric) PARTITION BY LIST (year);
CREATE TABLE silc_2022 PARTITION OF silc FOR VALUES IN (2022);
CREATE TABLE silc_2023 PARTITION OF silc FOR VALUES IN (2023);
INSERT INTO silc
SELECT j, year, (ARRAY['north', 'south', 'east', 'west'])[1 + j / 4 % 4], CASE j / 16 % 2 WHEN 0 THEN 'f' ELSE 'm' END,
       1950 + j / 32, CASE WHEN j / 4 % 5 > 0 THEN 'national' END,
       CASE WHEN (j + year) % 4 = 0 THEN 'unable to work' ELSE 'at work' END, make_date(year, 1 + j / 4 % 12, 1 + j % 28),
       (ARRAY['bad', 'fair', 'good', 'very good'])[1 + (j + year) % 4], 10000 + 10000 * (j % 4) + j * 7 % 1000
  FROM generate_series(0, 999) j, generate_series(2022, 2023) year;
CREATE TABLE silc_jobs (person int PRIMARY KEY, sector text, contract text);
INSERT INTO silc_jobs
SELECT j, (ARRAY['farming', 'industry', 'services'])[1 + j / 4 % 3], CASE j / 12 % 2 WHEN 0 THEN 'permanent' ELSE 'temporary' END
  FROM generate_series(0, 999) j;
SELECT disclosure.label_column('silc', column_name, label)
  FROM (VALUES ('person', 'person'), ('year', 'quasi'), ('region', 'quasi'), ('sex', 'quasi'), ('born', 'quasi'),
               ('citizenship', 'quasi'), ('status', 'quasi'), ('interviewed', 'quasi'), ('health', 'sensitive'),
               ('income', 'sensitive')) l(column_name, label);
SELECT disclosure.label_column('silc_jobs', 'person', 'person'), disclosure.label_column('silc_jobs', 'sector', 'quasi'),
       disclosure.label_column('silc_jobs', 'contract', 'quasi');
SELECT disclosure.protect(relation, 'k_anonymity', at_least => 5), disclosure.protect(relation, 'privacy_score', at_most => 0.4)
  FROM unnest(ARRAY['adult', 'silc', 'silc_jobs']::regclass[]) relation;
GRANT SELECT ON regions, occupations, adult, working_age, silc, silc_2022, silc_2023, silc_jobs TO census_analyst;
ANALYZE adult, silc, silc_jobs, regions, occupations;
SQL

# dry_run QUERY: prints t if check_export calls it safe under every policy that applies. It may refuse instead.
dry_run() {
  psql -qXAt -U census_analyst -v query="$1" 2>/dev/null <<<"SELECT bool_and(verdict = 'safe') FROM disclosure.check_export(:'query') WHERE applies" || true
}
copy() { attempt census_analyst "COPY ($1) TO STDOUT" -c '\set VERBOSITY verbose'; }
# Numbers of the exports that passed, and those that were refused after measuring.
passed=0
# passes ROWS QUERY: safe in the dry run, and so many rows leave.
passes() {
  local verdict
  verdict=$(dry_run "$2")
  [[ $verdict == t ]] || fail "$2: check_export does not call it safe: $verdict"
  copy "$2"
  if [[ ! -s $work/said && $(wc -l <"$work/out") == "$1" ]]; then
    passed=$((passed + 1))
  else
    fail "$2: expected $1 rows, got $(wc -l <"$work/out"); $(cat "$work/said")"
  fi
}
# not_safe QUERY: the dry run does not call it safe, and no row leaves.
not_safe() {
  [[ $(dry_run "$1") != t ]] || fail "$1: check_export calls it safe"
  copy "$1"
  [[ ! -s $work/out ]] || fail "$1: $(wc -l <"$work/out") rows left"
}
# refused_by_shape WHAT QUERY: it says what is not allowed, and what to change.
refused_by_shape() {
  not_safe "$2"
  grep -qE "ERROR:  42501: export of public\.[a-z_]+ refused: .*$1.* not allowed in an export of a protected relation" "$work/said" ||
    fail "$2: expected a refusal of $1, got $(cat "$work/said")"
  grep -q 'HINT:  .' "$work/said" || fail "$2: no HINT says what to change: $(cat "$work/said")"
}
# refused_by_measure QUERY: always in the same words; the owner's log has the reason.
refused_by_measure() {
  local reason
  not_safe "$1"
  grep -qE 'ERROR:  42501: export of public\.[a-z_]+ refused: it does not satisfy its policies' "$work/said" ||
    fail "$1: expected a refusal by measure, got $(cat "$work/said")"
  reason=$(psql -qXAt -c 'SET ROLE census_owner' \
    -c "SELECT reason FROM disclosure.export_log WHERE outcome = 'refused' ORDER BY at DESC LIMIT 1" 2>&1)
  [[ -n $reason && $reason != ERROR* ]] || fail "$1: the owner's log does not say why: $reason"
}

# Adult.
# 1. Plain columns. Ten classes of 216 people.
passes 2160 'SELECT sex, education, income FROM adult'
# 2. Bands by CASE.
passes 2160 "SELECT CASE WHEN age < 35 THEN 'below 35' WHEN age < 55 THEN '35 to 54' ELSE '55 and above' END AS band, sex, income FROM adult"
# 3. The beginning of a zip code.
passes 2160 'SELECT left(zip, 2) AS area, sex, income FROM adult'
# 4. Arithmetic and a comparison as a column.
passes 2160 'SELECT age / 10 * 10 AS decade, hours >= 35 AS full_time, income FROM adult'
# 5. A lookup by primary key: its columns are functions of the region.
passes 2160 'SELECT r.name, r.part, a.sex, a.income FROM adult a LEFT JOIN regions r ON r.code = a.region'
# 6. The same as an inner join, which is also a condition on a known column.
passes 2160 'SELECT o.sector, a.sex, a.income FROM adult a JOIN occupations o ON o.code = a.occupation'
# 7. A view of the owner, with a function of the owner inside.
passes 1600 'SELECT decade, sex, income FROM working_age'
# 8. Conditions on known columns.
passes 720 "SELECT education, income FROM adult WHERE sex = 'f' AND region IN (1, 2)"
# 9. Dates, truncated.
passes 2160 "SELECT date_trunc('decade', born)::date AS born, sex, income FROM adult"
# 10. A plain CTE, and a condition above it.
passes 1360 'WITH adults AS (SELECT sex, age / 20 AS band, income FROM adult) SELECT band, sex, income FROM adults WHERE band > 1'
# 11. A sample by LIMIT.
passes 400 'SELECT sex, income FROM adult LIMIT 400'

# eu-silc.
# 12. Two years, a branch each.
passes 2000 "SELECT 2022 AS year, region, health FROM silc WHERE year = 2022 UNION ALL SELECT 2023, region, health FROM silc WHERE year = 2023"
# 13. In order.
passes 2000 'SELECT region, sex, health FROM silc ORDER BY region, sex'
[[ $(cut -f 1,2 "$work/out" | uniq | wc -l) == 8 ]] || fail 'the rows did not leave in the order of ORDER BY'
# 14. NULL replaced.
passes 2000 "SELECT coalesce(citizenship, 'unknown') AS citizenship, sex, health FROM silc"
# 15. One partition, by its own name.
passes 1000 'SELECT region, born / 20 * 20 AS born, health FROM silc_2023'
# 16. Two protected tables joined by person.
passes 1000 'SELECT s.region, j.sector, s.health FROM silc s JOIN silc_jobs j ON j.person = s.person WHERE s.year = 2023'
# 17. A sensitive number, rounded.
passes 2000 'SELECT region, round(income, -4) AS income FROM silc'
# 18. Quarters of the year.
passes 2000 "SELECT year, extract(quarter FROM interviewed) AS quarter, health FROM silc"

# What has to be written otherwise.
# 19. Aggregates come later.
refused_by_shape 'GROUP BY|aggregate' 'SELECT region, sex, count(*) FROM silc GROUP BY region, sex'
# 20. Window functions.
refused_by_shape 'window function' 'SELECT sex, rank() OVER (PARTITION BY sex ORDER BY hours) FROM adult'
# 21. A condition on an identifier: the first thousand.
refused_by_shape 'identifier' 'SELECT sex, income FROM adult WHERE id < 1000'
# 22. A subquery in WHERE; 5 and 6 show the join that replaces it.
refused_by_shape 'subquery|sublink' "SELECT sex, income FROM adult WHERE region IN (SELECT code FROM regions WHERE part = 'outer')"

# What is not safe.
# 23. Everybody who leaves earns more than 60K.
refused_by_measure "SELECT sex, education FROM adult WHERE income = '>60K'"
# 24. Birth dates.
refused_by_measure 'SELECT born, income FROM adult'
# 25. Too few people.
refused_by_measure "SELECT sex, income FROM adult WHERE age = 44 AND sex = 'f' AND region = 2 AND occupation = 3"
# 26. Who is unable to work is in bad health.
refused_by_measure 'SELECT sex, status, health FROM silc'

((passed >= 14)) || fail "only $passed of the exports pass"

# An export into a table of one's own gets the same verdict as COPY.
attempt census_analyst 'CREATE TABLE study.extract AS SELECT age / 10 * 10 AS decade, sex, income FROM adult'
[[ ! -s $work/said && $(ask -c 'SELECT count(*) FROM study.extract') == 2160 ]] || fail "CREATE TABLE AS: $(cat "$work/said")"
attempt census_analyst 'CREATE TABLE study.dates AS SELECT born, income FROM adult' -c '\set VERBOSITY verbose'
grep -q '42501: export of public.adult refused: it does not satisfy its policies' "$work/said" || fail "CREATE TABLE AS: $(cat "$work/said")"
[[ -z $(ask -c "SELECT to_regclass('study.dates')") ]] || fail 'the refused table exists'
