//! Makes exports, honest and hostile, as a role that may read protected tables, in two databases that differ in
//! one person's row. If the verdict and the rows that leave are the same in both, then the role must not see any
//! other difference. What leaves must satisfy the policies by the definition in the crate `reference`, which
//! knows whose rows these are because the superuser asks for the same rows with their keys.

mod attempt;
mod expression;
mod query;
mod rows;

use crate::Plan;
use crate::client::{Client, Rows, Trouble, variable};
use crate::report::Report;
use crate::world::quote_name;
use attempt::{Attempt, Way};
use query::Mood;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reference::guard::{Objection, Value};
use rows::Format;
use std::collections::{BTreeMap, BTreeSet};

const ROLE: &str = "sweep_guard_hostile";
/// Number of cases between changes of the rows.
const ROUND: u64 = 20;
/// Number of times that an attempt is repeated if a difference was seen.
const REPETITIONS: usize = 3;

/// Row counters that the role can read, and the time. The rows that a database returned and fetched are the sums of
/// those of its tables, which are compared, and of catalogues, where dead rows of earlier statements count.
const COUNTERS: &str = "
SELECT '', pg_catalog.clock_timestamp()::text
UNION ALL
SELECT s.schemaname || '.' || s.relname || ' ' || c.name, c.value::text FROM pg_catalog.pg_stat_user_tables s,
       LATERAL (VALUES ('seq_tup_read', s.seq_tup_read), ('idx_tup_fetch', s.idx_tup_fetch), ('n_tup_ins', s.n_tup_ins),
                       ('n_tup_upd', s.n_tup_upd), ('n_tup_del', s.n_tup_del), ('n_live_tup', s.n_live_tup), ('n_dead_tup', s.n_dead_tup)) c(name, value)
UNION ALL
SELECT s.schemaname || '.' || s.indexrelname || ' ' || c.name, c.value::text FROM pg_catalog.pg_stat_user_indexes s,
       LATERAL (VALUES ('idx_tup_read', s.idx_tup_read), ('idx_tup_fetch', s.idx_tup_fetch)) c(name, value)
UNION ALL
SELECT 'database ' || c.name, c.value::text FROM pg_catalog.pg_stat_database s,
       LATERAL (VALUES ('tup_inserted', s.tup_inserted), ('tup_updated', s.tup_updated), ('tup_deleted', s.tup_deleted),
                       ('deadlocks', s.deadlocks), ('conflicts', s.conflicts)) c(name, value)
 WHERE s.datname = pg_catalog.current_database()";

/// Columns of the log without times and numbers of processes and transactions.
const LOG_COLUMNS: &str = "
SELECT pg_catalog.string_agg('l.' || pg_catalog.quote_ident(a.attname) || '::text', ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
 WHERE a.attrelid = 'disclosure.export_log'::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped
   AND a.atttypid <> ALL ('{timestamptz,xid,xid8}'::pg_catalog.regtype[]) AND a.attname <> ALL ('{pid,transaction}')";

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Allowed,
    Shape,
    Measured,
    Error,
}

/// What the role saw of an attempt.
struct Seen {
    outcome: Outcome,
    /// Rows that left, sorted.
    released: Vec<Vec<Value>>,
    /// Messages, command tags, and the rows of a dry run.
    said: Vec<String>,
    /// Its entries in the log.
    log: Rows,
    /// By how much the counters grew.
    counters: BTreeMap<String, i64>,
}

/// One of the two databases.
struct Side {
    database: String,
    superuser: Client,
    hostile: Client,
    log_columns: String,
}

impl Side {
    fn open(database: &str, superuser: &str) -> Result<Side, String> {
        let mut superuser = Client::connect_to(database, superuser, "")?;
        let log_columns = ask(&mut superuser, LOG_COLUMNS)?.swap_remove(0).swap_remove(0);
        Ok(Side {
            database: database.to_owned(),
            superuser,
            hostile: Client::connect_to(database, ROLE, "")?,
            log_columns,
        })
    }

    /// Makes the rows of a round.
    fn fill(&mut self, call: &str) -> Result<(), String> {
        ask(&mut self.superuser, call)?;
        ask(
            &mut self.superuser,
            "SELECT pg_catalog.pg_stat_force_next_flush()",
        )
        .map(drop)
    }

    fn counters(&mut self) -> Result<(String, BTreeMap<String, i64>), String> {
        ask(&mut self.hostile, "SELECT pg_catalog.pg_stat_force_next_flush()")?;
        let mut time = String::new();
        let mut counters = BTreeMap::new();
        for mut row in ask(&mut self.hostile, COUNTERS)? {
            let (value, name) = (row.swap_remove(1), row.swap_remove(0));
            match name.is_empty() {
                true => time = value,
                // A table without indexes has no counters of them.
                false => drop(counters.insert(name, value.parse().unwrap_or(0))),
            }
        }
        Ok((time, counters))
    }

    /// Ends what an attempt has left behind: a transaction, settings, prepared statements, locks.
    fn discard(&mut self) -> Result<(), String> {
        ask(&mut self.hostile, "ROLLBACK")?;
        ask(&mut self.hostile, "DISCARD ALL").map(drop)
    }

    /// Returns by how much the counters grow if there is no attempt. That depends on the catalogue, in which
    /// ANALYZE and exports have left rows behind.
    fn idle(&mut self) -> Result<BTreeMap<String, i64>, String> {
        let (_, before) = self.counters()?;
        self.discard()?;
        Ok(growth(&before, self.counters()?.1))
    }

    /// Makes an attempt.
    fn observe(&mut self, attempt: &Attempt) -> Result<Seen, String> {
        let (time, before) = self.counters()?;
        if !attempt.settings.is_empty() {
            ask(&mut self.hostile, &attempt.settings)?;
        }
        let answer = self.hostile.query(&attempt.statement);
        let mut heard = std::mem::take(&mut self.hostile.heard);
        if let Err(Trouble::Lost(_)) = answer {
            self.hostile = Client::connect_to(&self.database, ROLE, "")?;
            heard.messages.push("the connection was lost".to_owned());
        }
        self.discard()?;
        let counters = growth(&before, self.counters()?.1);
        let log = ask(
            &mut self.hostile,
            &format!(
                "SELECT {} FROM disclosure.export_log l WHERE l.at >= '{time}' ORDER BY l.at",
                self.log_columns
            ),
        )?;
        let mut released = self.released(attempt, &answer, &heard.copied)?;
        released.sort();
        let messages = heard.messages.iter().map(|message| without_oids(message));
        let mut said: Vec<String> = messages.collect();
        said.extend(heard.tags);
        if let (Way::DryRun, Ok(rows)) = (attempt.way, &answer) {
            said.extend(rows.iter().map(|row| row.join("|")));
        }
        Ok(Seen {
            outcome: outcome(attempt, &answer),
            released,
            said,
            log,
            counters,
        })
    }

    /// Returns the rows that left.
    fn released(
        &mut self,
        attempt: &Attempt,
        answer: &Result<Rows, Trouble>,
        copied: &[u8],
    ) -> Result<Vec<Vec<Value>>, String> {
        match (attempt.way, answer) {
            (Way::Table, Ok(_)) => {
                ask(&mut self.hostile, "COPY mine.got TO STDOUT (FORMAT binary)")?;
                let copied = std::mem::take(&mut self.hostile.heard.copied);
                ask(&mut self.hostile, "DROP TABLE mine.got")?;
                Format::Binary.rows(&copied)
            }
            (Way::Rows, Ok(rows)) => {
                let value = |field: &String| Some(field.clone().into_bytes());
                Ok(rows.iter().map(|row| row.iter().map(value).collect()).collect())
            }
            (Way::Copy, Ok(_)) => attempt.format.rows(copied),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the rows of an attempt's query with what the definition needs, a list for each branch; `None` if
    /// the query fails on these rows.
    fn truth(&mut self, attempt: &Attempt) -> Result<Option<Vec<Vec<Vec<Value>>>>, String> {
        let mut branches = Vec::new();
        let query = match &attempt.query {
            Some(query) => query,
            None => return Ok(None),
        };
        if !attempt.settings.is_empty() {
            ask(&mut self.superuser, &attempt.settings)?;
        }
        for branch in 0..query.branches.len() {
            let copy = format!(
                "COPY ({}) TO STDOUT {}",
                query.truth(branch),
                attempt.format.option()
            );
            match self.superuser.query(&copy) {
                Ok(_) => branches.push(attempt.format.rows(&self.superuser.heard.copied)?),
                // The generator is wrong.
                Err(Trouble::Server(error)) if error.code.starts_with("42") && attempt.outside.is_none() => {
                    return Err(format!("{copy}: {error}"));
                }
                Err(_) => break,
            }
        }
        ask(&mut self.superuser, "RESET ALL")?;
        Ok((branches.len() == query.branches.len()).then_some(branches))
    }
}

fn ask(client: &mut Client, sql: &str) -> Result<Rows, String> {
    client.query(sql).map_err(|trouble| format!("{sql}: {trouble}"))
}

/// Returns by how much counters have grown.
fn growth(before: &BTreeMap<String, i64>, mut after: BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    for (name, value) in &mut after {
        *value -= before.get(name).unwrap_or(&0);
    }
    after
}

/// Repeats an attempt in which a difference was seen. Returns what was seen in the two databases, with the
/// counters less what they grow by without an attempt.
fn repeat(mut sides: [&mut Side; 2], attempt: &Attempt) -> Result<[Vec<Seen>; 2], String> {
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..REPETITIONS {
        for (side, seen) in sides.iter_mut().zip(&mut seen) {
            let idle = side.idle()?;
            let mut now = side.observe(attempt)?;
            now.counters = growth(&idle, now.counters);
            seen.push(now);
        }
    }
    Ok(seen)
}

fn outcome(attempt: &Attempt, answer: &Result<Rows, Trouble>) -> Outcome {
    match answer {
        Ok(rows) if attempt.way == Way::DryRun && rows.iter().any(|row| row[0] != "safe") => {
            Outcome::Measured
        }
        Ok(_) => Outcome::Allowed,
        Err(Trouble::Server(error)) if error.code == "42501" => {
            let of_shape = [
                "is not allowed in an export",
                "cannot be judged",
                "by COPY TO only",
            ];
            match of_shape.iter().any(|words| error.message.contains(words)) {
                true => Outcome::Shape,
                false => Outcome::Measured,
            }
        }
        Err(_) => Outcome::Error,
    }
}

/// Returns a message without the OIDs in names of TOAST tables, which count up with every table in either database.
fn without_oids(message: &str) -> String {
    const NAME: &str = "pg_toast_";
    let mut parts = message.split(NAME);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + NAME + part.trim_start_matches(|digit: char| digit.is_ascii_digit())
    })
}

/// Returns whether the verdict and the rows that left are the same.
fn is_alike(one: &Seen, two: &Seen) -> bool {
    (one.outcome == Outcome::Allowed) == (two.outcome == Outcome::Allowed) && one.released == two.released
}

/// Returns what differs although verdict and rows are the same: its kind and a description. What was seen at the
/// same place in both lists was seen in the two databases. A difference that does not stay is chance.
fn difference(one: &[Seen], two: &[Seen]) -> Option<(&'static str, String)> {
    if one.iter().zip(two).any(|(one, two)| !is_alike(one, two)) {
        return None;
    }
    let always = |differ: fn(&Seen, &Seen) -> bool| one.iter().zip(two).all(|(one, two)| differ(one, two));
    if always(|one, two| one.said != two.said) {
        let text = format!("{} became {}", one[0].said.join("; "), two[0].said.join("; "));
        return Some(("what is said", text));
    }
    if always(|one, two| one.log != two.log) {
        return Some(("the log", format!("{:?} became {:?}", one[0].log, two[0].log)));
    }
    let values = |seen: &[Seen], name: &String| -> BTreeSet<i64> {
        seen.iter()
            .filter_map(|seen| seen.counters.get(name).copied())
            .collect()
    };
    let names = one[0].counters.keys();
    let mut differing = names.filter(|name| values(one, name).is_disjoint(&values(two, name)));
    differing.next().map(|name| {
        let text = format!("{name}: {:?} became {:?}", values(one, name), values(two, name));
        ("a counter", text)
    })
}

/// Numbers for the closing line.
#[derive(Default)]
struct Counts {
    /// Attempts by outcome, and those of them that were honest.
    outcomes: BTreeMap<Outcome, (u64, u64)>,
    /// Pairs of the same verdict and the same rows.
    alike: u64,
    honest: u64,
    /// Honest attempts that the definition calls safe.
    honest_safe: u64,
    /// Judged attempts that the definition calls safe, and those of them that were refused.
    safe: u64,
    stricter: u64,
}

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(plan: &Plan, superuser: &str) -> Result<bool, String> {
    let [mut one, mut two] = make_sides(superuser)?;
    check_forms(&mut one)?;
    let mut report = Report::new("guard", plan.seed);
    let mut counts = Counts::default();
    let mut filled = None;
    for case in plan.cases() {
        let number = plan.seed.wrapping_mul(1009).wrapping_add(case / ROUND) % 100_003;
        let fill = [
            format!("CALL guarded.fill({number})"),
            format!("CALL guarded.fill({number}, true)"),
        ];
        if filled != Some(number) {
            one.fill(&fill[0])?;
            two.fill(&fill[1])?;
            filled = Some(number);
        }
        let mut rng = Pcg64Mcg::seed_from_u64(plan.seed.wrapping_mul(1_000_003).wrapping_add(case));
        let attempt = Attempt::write(&mut rng);
        let mut fail = |fill: &str, kind: &str, problem: &str| {
            let settings = match attempt.settings.as_str() {
                "" => String::new(),
                settings => format!(" {settings};"),
            };
            let settings = format!("{fill}; SET SESSION AUTHORIZATION {ROLE};{settings}");
            report.fail(case, attempt.form, &settings, &attempt.statement, kind, problem);
        };
        let seen = [one.observe(&attempt)?, two.observe(&attempt)?];
        let is_alike = is_alike(&seen[0], &seen[1]);
        counts.alike += u64::from(is_alike);
        if is_alike && difference(&seen[..1], &seen[1..]).is_some() {
            let [seen_one, seen_two] = repeat([&mut one, &mut two], &attempt)?;
            if let Some((kind, text)) = difference(&seen_one, &seen_two) {
                let problem = format!("{kind} shows which of two tables it was: {text}");
                fail(&fill[1], kind, &problem);
            }
        }
        for (side, seen, fill) in [(&mut one, &seen[0], &fill[0]), (&mut two, &seen[1], &fill[1])] {
            if let Some((kind, problem)) = judge(side, &attempt, seen, &mut counts)? {
                fail(fill, &kind, &problem);
            }
        }
    }
    Ok(close(&report, &counts))
}

/// Applies the definition to an attempt. Returns what is wrong with its outcome: the kind and a description.
fn judge(
    side: &mut Side,
    attempt: &Attempt,
    seen: &Seen,
    counts: &mut Counts,
) -> Result<Option<(String, String)>, String> {
    let is_honest = attempt.mood == Mood::Honest;
    let count = counts.outcomes.entry(seen.outcome).or_default();
    *count = (count.0 + 1, count.1 + u64::from(is_honest));
    counts.honest += u64::from(is_honest);
    let is_released = seen.outcome == Outcome::Allowed && attempt.way != Way::DryRun;
    if let Some(why) = attempt.outside {
        let is_allowed = seen.outcome == Outcome::Allowed;
        return Ok(is_allowed.then(|| {
            (
                why.to_owned(),
                format!("allowed, although no export may contain {why}"),
            )
        }));
    }
    let Some(truth) = side.truth(attempt)? else {
        return Ok(None);
    };
    let Some(query) = &attempt.query else {
        return Ok(None);
    };
    if query.is_cut() {
        return Ok(None); // which rows a LIMIT leaves is random, so the superuser may get others
    }
    if is_released {
        let width = query.branches[0].outputs.len();
        let mut expected: Vec<Vec<Value>> = truth.iter().flatten().map(|row| row[..width].to_vec()).collect();
        expected.sort();
        if expected != seen.released {
            let problem = format!(
                "{} rows left, {} were asked for",
                seen.released.len(),
                expected.len()
            );
            return Ok(Some(("other rows".to_owned(), problem)));
        }
    }
    let branches = query.branches.iter().zip(&truth);
    let objection = branches
        .map(|(branch, truth)| rows::branch_objection(branch, truth))
        .find_map(|objection| objection);
    let Some(objection) = objection else {
        counts.safe += 1;
        counts.honest_safe += u64::from(is_honest);
        counts.stricter += u64::from(seen.outcome != Outcome::Allowed);
        return Ok(None);
    };
    let kind = match objection {
        Objection::People(_) => "too few people",
        Objection::Class(_) => "a class of too few people",
        Objection::Share(_) => "a sensitive value",
        Objection::Values(_) => "a class of too few values",
        Objection::Alpha(_) => "a frequent value",
        Objection::Small(_) => "too many small classes",
    };
    Ok((seen.outcome == Outcome::Allowed)
        .then(|| (kind.to_owned(), format!("allowed, although {objection:?}"))))
}

/// Prints the closing lines, and returns whether nothing failed.
fn close(report: &Report, counts: &Counts) -> bool {
    let count = |outcome| counts.outcomes.get(&outcome).copied().unwrap_or_default();
    let (allowed, allowed_honest) = count(Outcome::Allowed);
    let is_fine = report.close(&format!(
        "{} attempts, of which {} were alike in both databases; {allowed} allowed, {} refused by shape, {} refused by measure, {} errors; \
         {allowed_honest} of {} honest ones allowed, {} safe by the definition; stricter than the definition: {} of {}",
        counts.outcomes.values().map(|count| count.0).sum::<u64>(),
        2 * counts.alike,
        count(Outcome::Shape).0,
        count(Outcome::Measured).0,
        count(Outcome::Error).0,
        counts.honest,
        counts.honest_safe,
        counts.stricter,
        counts.safe,
    ));
    // A single case may well be refused.
    if counts.honest < 100 {
        return is_fine;
    }
    if allowed_honest == 0 {
        println!("no honest export was allowed");
    }
    if 4 * counts.honest_safe < counts.honest {
        println!("fewer than a quarter of the honest exports are safe");
    }
    is_fine && allowed_honest > 0 && 4 * counts.honest_safe >= counts.honest
}

/// Makes the two databases. The second one is a copy of the first, so that all objects have the same OIDs.
fn make_sides(superuser: &str) -> Result<[Side; 2], String> {
    let database = variable("PGDATABASE")?;
    let other = format!("{database}_other");
    ask(&mut Client::connect(superuser, "")?, include_str!("../guard.sql"))?;
    let mut client = Client::connect_to("postgres", superuser, "")?;
    let (one, two) = (quote_name(&database), quote_name(&other));
    ask(&mut client, &format!("CREATE DATABASE {two} TEMPLATE {one}"))?;
    // A copy has no settings.
    for setting in ["session_preload_libraries = 'pg_disclosure'", "jit = off"] {
        ask(&mut client, &format!("ALTER DATABASE {two} SET {setting}"))?;
    }
    for name in [one, two] {
        // The guard has no part in the truth, so the superuser loads another library instead.
        let without = format!(
            "ALTER ROLE {} IN DATABASE {name} SET session_preload_libraries = 'plpgsql'",
            quote_name(superuser)
        );
        ask(&mut client, &without)?;
    }
    Ok([Side::open(&database, superuser)?, Side::open(&other, superuser)?])
}

/// Checks that the queries which the guard must refuse are valid, because otherwise they would test nothing.
fn check_forms(side: &mut Side) -> Result<(), String> {
    for query in attempt::forms() {
        ask(&mut side.superuser, &format!("EXPLAIN {query}"))?;
    }
    Ok(())
}
