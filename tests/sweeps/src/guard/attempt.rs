//! Generates attempts to take rows out: a query, the statement that it is in, and the settings around it.

use super::expression::pick;
use super::query::{Mood, Query, TABLES};
use super::rows::Format;
use crate::world::quote_text;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// How rows that leave reach the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// COPY TO STDOUT.
    Copy,
    /// A table, which is then read.
    Table,
    /// As rows of the statement itself, which an `only_by_copy` relation does not allow.
    Rows,
    /// None: a dry run returns verdicts.
    DryRun,
}

/// An attempt.
pub struct Attempt {
    /// Name of its form, for reports.
    pub form: &'static str,
    /// Settings that come before it.
    pub settings: String,
    /// The statement.
    pub statement: String,
    /// How its rows reach the client.
    pub way: Way,
    /// Format in which they do.
    pub format: Format,
    /// Its query, if the definition can be applied to what it releases.
    pub query: Option<Query>,
    /// Why it must be refused whatever it would release, if so.
    pub outside: Option<&'static str>,
    /// Intentions of its author.
    pub mood: Mood,
}

/// Queries that are not exports of the language. `@` is a protected table, `#` another one.
const FORMS: [(&str, &str); 52] = [
    ("an aggregate", "SELECT count(*) FROM @ WHERE zip = '1010'"),
    (
        "an aggregate",
        "SELECT string_agg(diagnosis, ',' ORDER BY id) FROM @",
    ),
    ("an aggregate", "SELECT mine.gather(diagnosis) FROM @"),
    ("GROUP BY", "SELECT zip, count(*) FROM @ GROUP BY zip"),
    ("GROUP BY", "SELECT sex FROM @ GROUP BY sex"),
    ("HAVING", "SELECT 1 FROM @ HAVING max(age) > 40"),
    ("DISTINCT", "SELECT DISTINCT zip FROM @"),
    ("DISTINCT ON", "SELECT DISTINCT ON (sex) sex, zip FROM @"),
    (
        "a window function",
        "SELECT row_number() OVER (ORDER BY age) FROM @",
    ),
    (
        "a window function",
        "SELECT sex, lag(diagnosis) OVER (ORDER BY id) FROM @",
    ),
    (
        "a window function",
        "SELECT sex, count(*) OVER (PARTITION BY zip) FROM @",
    ),
    (
        "a window function",
        "SELECT c FROM (SELECT count(*) OVER (ROWS (SELECT age FROM @ WHERE id = 7) PRECEDING) AS c FROM @) q ORDER BY c DESC LIMIT 6",
    ),
    (
        "a sublink",
        "SELECT n FROM mine.numbers WHERE n IN (SELECT id + age FROM @)",
    ),
    (
        "a sublink",
        "SELECT sex, (SELECT max(diagnosis) FROM @ b WHERE b.zip = a.zip) FROM @ a",
    ),
    (
        "a sublink",
        "SELECT sex FROM @ a WHERE EXISTS (SELECT FROM # b WHERE b.person = a.person)",
    ),
    (
        "a sublink",
        "SELECT word FROM mine.words WHERE word = ANY (ARRAY(SELECT diagnosis FROM @))",
    ),
    ("a sublink", "VALUES ((SELECT string_agg(zip, ',') FROM @))"),
    (
        "a sublink",
        "SELECT oid FROM pg_catalog.pg_proc WHERE oid::int - 1200 IN (SELECT id FROM @)",
    ),
    (
        "LATERAL",
        "SELECT a.sex, l.diagnosis FROM @ a, LATERAL (SELECT diagnosis FROM # b WHERE b.zip = a.zip) l",
    ),
    (
        "LATERAL",
        "SELECT n.n FROM mine.numbers n, LATERAL (SELECT 1 FROM @ a WHERE a.id = n.n) l",
    ),
    (
        "a set-returning function",
        "SELECT sex, generate_series(1, severity) FROM @",
    ),
    (
        "a set-returning function",
        "SELECT sex FROM @, generate_series(1, age)",
    ),
    (
        "a set-returning function",
        "SELECT unnest(ARRAY[sex, diagnosis]) FROM @",
    ),
    (
        "a set-returning function",
        "SELECT a.sex FROM @ a, regexp_split_to_table(a.zip, '0') z",
    ),
    ("a system column", "SELECT ctid FROM @"),
    ("a system column", "SELECT sex, tableoid::regclass FROM @"),
    ("a system column", "SELECT xmin FROM @"),
    ("a whole row", "SELECT a FROM @ a"),
    ("a whole row", "SELECT a::text FROM @ a"),
    ("a whole row", "SELECT row_to_json(a) FROM @ a"),
    ("a whole row", "SELECT ROW(a.sex, a.zip) FROM @ a"),
    ("OFFSET", "SELECT zip FROM @ ORDER BY zip OFFSET 3"),
    (
        "a computed LIMIT",
        "SELECT 'x' FROM @ LIMIT (SELECT age FROM @ WHERE id = 7)",
    ),
    (
        "FETCH WITH TIES",
        "SELECT sex FROM @ ORDER BY sex FETCH FIRST 1 ROW WITH TIES",
    ),
    ("TABLESAMPLE", "SELECT sex FROM @ TABLESAMPLE BERNOULLI (100)"),
    ("FOR UPDATE", "SELECT sex FROM @ FOR SHARE"),
    (
        "a recursive CTE",
        "WITH RECURSIVE w(n, d) AS (SELECT 1, diagnosis FROM @ UNION ALL SELECT n + 1, d FROM w WHERE n < 3) SELECT d FROM w",
    ),
    (
        "a CTE that writes",
        "WITH w AS (INSERT INTO mine.bag SELECT zip, age FROM @ RETURNING code) SELECT code FROM w",
    ),
    ("UNION", "SELECT zip FROM @ UNION SELECT zip FROM #"),
    (
        "INTERSECT",
        "SELECT word FROM mine.words INTERSECT SELECT diagnosis FROM @",
    ),
    ("EXCEPT", "SELECT word FROM mine.words EXCEPT SELECT zip FROM @"),
    (
        "a full join",
        "SELECT n.n, a.sex FROM mine.numbers n FULL JOIN @ a ON a.id = n.n",
    ),
    ("a function of one's own", "SELECT mine.peek(n) FROM mine.numbers"),
    (
        "a function of one's own",
        "SELECT sex FROM @ ORDER BY mine.tell(zip)",
    ),
    (
        "a function of one's own",
        "SELECT sex FROM @ WHERE mine.told(diagnosis, 'h')",
    ),
    (
        "a function of one's own",
        "SELECT a.sex FROM @ a JOIN mine.words w ON mine.told(a.zip, w.word)",
    ),
    (
        "an operator of one's own",
        "SELECT sex FROM @ WHERE zip OPERATOR(mine.>>>) '1010'",
    ),
    (
        "a function that runs SQL",
        "SELECT query_to_xml('SELECT zip FROM @', true, true, '')",
    ),
    (
        "a function that runs SQL",
        "SELECT table_to_xml('@'::regclass, true, true, '')",
    ),
    (
        "a function that runs SQL",
        "SELECT word FROM ts_stat('SELECT to_tsvector(diagnosis) FROM @')",
    ),
    (
        "a condition on an identifier",
        "SELECT sex FROM @ WHERE person IN ('p1', 'p2', 'p3')",
    ),
    (
        "a join by an identifier",
        "SELECT w.code, a.sex FROM @ a JOIN mine.words w ON w.word = a.person",
    ),
];

/// Statements other than exports, none of which may read an `only_by_copy` relation. `@` is a query.
const READERS: [(&str, &str); 9] = [
    ("SELECT", "@"),
    ("EXPLAIN", "EXPLAIN @"),
    ("EXPLAIN ANALYZE", "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) @"),
    (
        "EXPLAIN CREATE TABLE AS",
        "EXPLAIN CREATE TABLE mine.explained AS @",
    ),
    ("PREPARE", "PREPARE taken AS @; EXECUTE taken"),
    ("EXPLAIN EXECUTE", "PREPARE taken AS @; EXPLAIN EXECUTE taken"),
    (
        "a cursor",
        "BEGIN; DECLARE taken CURSOR FOR @; FETCH ALL FROM taken; COMMIT",
    ),
    (
        "INSERT",
        "INSERT INTO mine.bag (word) SELECT CAST(q.* AS text) FROM (@) q RETURNING word",
    ),
    (
        "DO",
        "DO $do$ DECLARE r record; BEGIN FOR r IN @ LOOP RAISE NOTICE '%', r; END LOOP; END $do$",
    ),
];

/// Settings that show more than usual or lead to other plans.
const SETTINGS: [&str; 14] = [
    "SET client_min_messages = debug1",
    "SET client_min_messages = log; SET debug_print_plan = on",
    "SET client_min_messages = log; SET debug_print_rewritten = on",
    "SET client_min_messages = log; SET trace_sort = on",
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off; SET enable_mergejoin = off",
    "SET enable_nestloop = off; SET enable_sort = off",
    "SET work_mem = '64kB'",
    "SET extra_float_digits = -10; SET DateStyle = 'German'",
    "SET default_transaction_isolation = serializable",
    "SET row_security = off",
    "SET plan_cache_mode = force_generic_plan",
    "SET search_path = mine, guarded",
    "SELECT pg_catalog.set_config(name, 'on', false) FROM pg_catalog.pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); \
     SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0",
];

impl Attempt {
    /// Writes an attempt.
    pub fn write(rng: &mut Pcg64Mcg) -> Attempt {
        let settings = match rng.random_bool(0.25) {
            true => (*pick(rng, &SETTINGS)).to_owned(),
            false => String::new(),
        };
        let mut attempt = match rng.random_range(0..20) {
            0..9 => Attempt::export(rng, Mood::Honest),
            9..14 => Attempt::export(rng, Mood::Curious),
            14..16 => Attempt::export(rng, Mood::Hostile),
            16..19 => Attempt::form(rng),
            _ => Attempt::reader(rng),
        };
        attempt.settings = settings;
        attempt
    }

    /// Exports a generated query.
    fn export(rng: &mut Pcg64Mcg, mood: Mood) -> Attempt {
        let query = Query::write(rng, mood);
        let outside = query.outside();
        let mut attempt = Attempt::statement(rng, &query.export());
        attempt.query = Some(query);
        attempt.outside = outside;
        attempt.mood = mood;
        attempt
    }

    /// Exports a query that is not of the language.
    fn form(rng: &mut Pcg64Mcg) -> Attempt {
        let (form, query) = *pick(rng, &FORMS);
        let query = with_tables(rng, query, &TABLES);
        let mut attempt = Attempt::statement(rng, &query);
        attempt.outside = Some(form);
        attempt
    }

    /// Reads an `only_by_copy` relation by another statement than an export.
    fn reader(rng: &mut Pcg64Mcg) -> Attempt {
        // A CTE that writes must be at the top, and EXPLAIN does not call the functions that read a table.
        let fits = |form: &str| {
            ![
                "a CTE that writes",
                "a function that runs SQL",
                "a function of one's own",
            ]
            .contains(&form)
        };
        let forms: Vec<_> = FORMS.iter().filter(|(form, _)| fits(form)).collect();
        let query = match rng.random_bool(0.5) {
            true => "SELECT sex, diagnosis FROM @ WHERE zip = '1010'",
            false => pick(rng, &forms).1,
        };
        let query = with_tables(rng, query, &TABLES[1..]);
        let (form, statement) = *pick(rng, &READERS);
        Attempt {
            form,
            settings: String::new(),
            statement: statement.replace('@', &query),
            way: Way::Rows,
            format: Format::Text,
            query: None,
            outside: Some("reading by anything but COPY TO"),
            mood: Mood::Hostile,
        }
    }

    /// Returns an export or a dry run of a query.
    fn statement(rng: &mut Pcg64Mcg, query: &str) -> Attempt {
        let (form, way, format, statement) = match rng.random_range(0..10) {
            0..4 => (
                "COPY",
                Way::Copy,
                Format::Text,
                format!("COPY ({query}) TO STDOUT"),
            ),
            4 => (
                "COPY CSV",
                Way::Copy,
                Format::Csv,
                format!("COPY ({query}) TO STDOUT (FORMAT csv)"),
            ),
            5..7 => (
                "COPY BINARY",
                Way::Copy,
                Format::Binary,
                format!("COPY ({query}) TO STDOUT (FORMAT binary)"),
            ),
            7..9 => (
                "CREATE TABLE AS",
                Way::Table,
                Format::Binary,
                format!("CREATE TABLE mine.got AS {query}"),
            ),
            _ => (
                "check_export",
                Way::DryRun,
                Format::Text,
                format!(
                    "SELECT c.verdict, c.* FROM disclosure.check_export({}) c",
                    quote_text(query)
                ),
            ),
        };
        Attempt {
            form,
            settings: String::new(),
            statement,
            way,
            format,
            query: None,
            outside: None,
            mood: Mood::Hostile,
        }
    }
}

/// Returns the queries that are not of the language, over one of the tables.
pub fn forms() -> impl Iterator<Item = String> {
    let fill = |query: &str| query.replace(['@', '#'], "guarded.ward");
    FORMS.iter().map(move |(_, query)| fill(query))
}

fn with_tables(rng: &mut Pcg64Mcg, query: &str, tables: &[&str]) -> String {
    let mut table = || format!("guarded.{}", pick(rng, tables));
    let (one, other) = (table(), table());
    query.replace('@', &one).replace('#', &other)
}
