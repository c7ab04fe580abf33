//! What one statement has changed in an export table, and what a policy's measure says of the table since.
//!
//! Only what the statement may have made worse is looked at, where the measure allows for that, so that the
//! cost does not grow with the table.

use crate::error::Problem;
use crate::guard::judge::{Column, Measured, Source};
use crate::guard::policy::Policy;
use crate::guard::rule::{Limit, Measure, Statistic};
use crate::guard::{judge, rights};
use crate::guc;
use crate::input::relation::Relation;
use crate::methods::inference::new_row::RowLookup;
use crate::pg::catalog::with_heirs;
use crate::pg::query::{Answer, Parameters, cost_of};
use crate::pg::types::equality_operator;
use disclosure::Control;
use disclosure::inference::{Settings, score_row};
use pgrx::pg_sys::{self, Oid, TriggerData};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Value, json};
use std::ffi::CStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Insert,
    Update,
    Delete,
}

impl Event {
    /// As it is in the log.
    pub fn name(self) -> &'static str {
        match self {
            Event::Insert => "INSERT",
            Event::Update => "UPDATE",
            Event::Delete => "DELETE",
        }
    }

    /// The names of the transition tables that the triggers have.
    fn tables(self) -> &'static [&'static str] {
        match self {
            Event::Insert => &["disclosure_new"],
            Event::Update => &["disclosure_new", "disclosure_old"],
            Event::Delete => &["disclosure_old"],
        }
    }
}

/// What a statement has changed, while its AFTER STATEMENT trigger runs.
pub struct Batch {
    trigger: *mut TriggerData,
    /// The table that the statement was about.
    pub relation: Oid,
    pub event: Event,
    pub rows: i64,
    /// What to select from the transition tables to have all columns, where they lack some: see
    /// [`with_computed_columns`].
    columns: Option<String>,
}

/// Where a row is.
pub type Place = (Oid, pg_sys::ItemPointerData);

impl Batch {
    /// `None` where the trigger is none of ours.
    ///
    /// # Safety
    /// The data of a trigger that is running, and runs as long as the value that is returned is used.
    pub unsafe fn new(trigger: *mut TriggerData) -> Option<Self> {
        // SAFETY: by the contract of the function.
        unsafe {
            let event = (*trigger).tg_event;
            if event & (pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_BEFORE) != 0 {
                return None;
            }
            let (event, changed) = match event & pg_sys::TRIGGER_EVENT_OPMASK {
                pg_sys::TRIGGER_EVENT_INSERT => (Event::Insert, (*trigger).tg_newtable),
                pg_sys::TRIGGER_EVENT_UPDATE => (Event::Update, (*trigger).tg_newtable),
                pg_sys::TRIGGER_EVENT_DELETE => (Event::Delete, (*trigger).tg_oldtable),
                _ => return None,
            };
            if changed.is_null() {
                return None;
            }
            Some(Batch {
                trigger,
                relation: (*(*trigger).tg_relation).rd_id,
                event,
                rows: pg_sys::tuplestore_tuple_count(changed),
                columns: with_computed_columns((*trigger).tg_relation),
            })
        }
    }

    /// Run `job`, whose queries may name the transition tables.
    fn with_tables<R>(&self, job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
        Spi::connect(|_| {
            // SAFETY: SPI is connected; the trigger is running, by the contract of `new`.
            match unsafe { pg_sys::SPI_register_trigger_data(self.trigger) } {
                status if status < 0 => Err(Problem::Internal(
                    "the rows of a statement could not be made visible",
                )),
                _ => job(),
            }
        })
    }

    /// A transition table as a FROM item, with all columns of its table.
    fn transition(&self, table: &str) -> String {
        match &self.columns {
            Some(columns) => format!("(SELECT {columns} FROM {table}) AS {table}"),
            None => table.into(),
        }
    }

    /// Rows with these columns, called c0, c1, …, that the statement has made or done away with.
    fn touched(&self, columns: &[&str]) -> String {
        let listed: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| format!("{column} AS c{place}"))
            .collect();
        let listed = if listed.is_empty() {
            "true".into()
        } else {
            listed.join(", ")
        };
        let tables = self.event.tables().iter();
        let selects: Vec<String> = tables
            .map(|table| format!("SELECT {listed} FROM {}", self.transition(table)))
            .collect();
        selects.join(" UNION ALL ")
    }

    /// A query with a mark, so that it is planned anew where its plan may no longer do: for the transition
    /// tables of another table, which have the same names; and with every doubling of the batch or of the
    /// table, since nobody may have analysed that meanwhile.
    fn marked(&self, query: &str, table: Oid) -> String {
        let magnitude = |number: i64| number.max(1).ilog2();
        let (rows, pages) = (magnitude(self.rows), magnitude(pages_of(table)));
        format!("{query} /* {} {rows} {pages} */", self.relation.to_u32())
    }

    /// Whether the transition tables have all of the columns: the table of the policy may be a child that has
    /// more of them; and what is computed may be computed otherwise there.
    fn has_columns(&self, policy: &Policy, names: &[&str]) -> Result<bool, Problem> {
        if self.relation == policy.relation {
            return Ok(true);
        }
        if self.columns.is_some() {
            return Ok(false);
        }
        let own = Relation::whole("relation", Some(self.relation))?;
        let has = |name: &&str| own.columns().iter().any(|column| column.name == *name);
        Ok(names.iter().all(has))
    }
}

/// All columns of a table, as a SELECT from its transition tables lists them; `None` where `*` does. From
/// Postgres 18 on there are generated columns that are not stored: those are computed here as reading the table
/// would, since transition tables do not have them.
///
/// # Safety
/// An open relation.
unsafe fn with_computed_columns(relation: pg_sys::Relation) -> Option<String> {
    // SAFETY: by the contract of the function.
    unsafe {
        const VIRTUAL: u8 = b'v';
        let table = (*relation).rd_id;
        let numbers = 1..=(*(*relation).rd_att).natts as pg_sys::AttrNumber;
        let is_virtual = |column| pg_sys::get_attgenerated(table, column) as u8 == VIRTUAL;
        if !numbers.clone().any(is_virtual) {
            return None;
        }
        let context = pg_sys::deparse_context_for(pg_sys::get_rel_name(table), table);
        let sql = |column| {
            let name = CStr::from_ptr(pg_sys::get_attname(table, column, false)).to_string_lossy();
            let name = quote_identifier(name);
            if !is_virtual(column) {
                return name;
            }
            let expression = pg_sys::build_column_default(relation, column.into());
            let expression = pg_sys::deparse_expression(expression, context, false, false);
            format!("({}) AS {name}", CStr::from_ptr(expression).to_string_lossy())
        };
        let is_there =
            |column: &pg_sys::AttrNumber| pg_sys::get_atttype(table, *column) != pg_sys::InvalidOid;
        // The queries that it becomes a part of run under this path, too.
        let columns: Vec<String> = rights::under_safe_path(|| numbers.filter(is_there).map(sql).collect());
        Some(columns.join(", "))
    }
}

/// How long a table is, with all that inherits from it.
fn pages_of(table: Oid) -> i64 {
    let own_pages = |table: Oid| {
        // SAFETY: `with_heirs` has locked it.
        unsafe {
            let relation = pg_sys::relation_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
            let is_stored = (*(*relation).rd_rel).relkind as u8 == pg_sys::RELKIND_RELATION;
            let pages = match is_stored {
                true => pg_sys::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM),
                false => 0,
            };
            pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            i64::from(pages)
        }
    };
    with_heirs(table).into_iter().map(own_pages).sum()
}

/// What the policy's measure says of its table, as far as the statement may have made it worse. `whole`: of
/// all of it in any case.
pub fn measure(batch: &Batch, policy: &Policy, whole: bool) -> Result<Measured, Problem> {
    let measured = match &policy.measure {
        Measure::KAnonymity => match Classes::touched_by(batch, policy)? {
            Some(classes) => Some(classes.measure(batch)?),
            None => None,
        },
        // Further rows can only lower the scores of those that are there.
        Measure::PrivacyScore(Statistic::Maximum) if batch.event == Event::Insert && !whole => {
            measure_new_scores(batch, policy)?
        }
        _ => None,
    };
    let measured = match measured {
        Some(measured) => measured,
        None => judge::measure(policy, &Source::of_relation(policy.relation)?)?,
    };
    Ok(Measured {
        rows: batch.rows,
        ..measured
    })
}

/// Rows of the policy's table, among them all that the statement has made unsafe; `None` where single rows
/// cannot be told.
pub fn unsafe_rows(batch: &Batch, policy: &Policy) -> Result<Option<Vec<Place>>, Problem> {
    let query = match &policy.measure {
        Measure::KAnonymity => {
            Classes::touched_by(batch, policy)?.map(|classes| classes.in_small_ones(batch))
        }
        Measure::PrivacyScore(Statistic::Maximum) => Some(rows_with_scores(policy)?),
        _ => None,
    };
    let Some(query) = query else {
        return Ok(None);
    };
    let query = batch.marked(&query, policy.relation);
    batch.with_tables(|| {
        // SAFETY: SPI is connected; the columns are of types oid and tid.
        unsafe {
            let answer = Answer::to(&query, &Parameters::default(), true)?;
            let place = |row| Some((answer.get(row, 0)?, answer.get(row, 1)?));
            Ok(Some((0..answer.rows()).filter_map(place).collect()))
        }
    })
}

/// The classes of rows, alike in some columns, whose size the statement has changed.
struct Classes {
    table: Oid,
    /// Schema and name, quoted.
    table_name: String,
    columns: Vec<ClassColumn>,
    /// What a class has at least, unless it is empty.
    least: u64,
    /// Which columns are NULL, for each combination of these that occurs.
    null_patterns: Vec<Vec<bool>>,
}

struct ClassColumn {
    /// Its name, quoted.
    sql: String,
    /// The operator that says whether two values are equal.
    equals: String,
}

/// The planner prices every look-up as if it came from disk; after the first few, the index is in memory. Either way
/// of counting is right, this only decides which is taken to be quicker: tests/bench/export_tables.sh, 10,000 rows
/// into 100,000, was slower without it.
const CACHED: f64 = 4.0;

/// With more combinations of NULLs, one pass over the table is better than a condition for each.
const MOST_PATTERNS: usize = 16;

impl Classes {
    /// `None` where they cannot be told from the transition tables.
    fn touched_by(batch: &Batch, policy: &Policy) -> Result<Option<Self>, Problem> {
        let Limit::AtLeast(least) = policy.limit else {
            return Ok(None);
        };
        let names: Vec<String> = match &policy.columns {
            Some(names) => names.clone(),
            None => {
                let source = Source::of_relation(policy.relation)?;
                let quasi = source.counting(policy, &[policy.relation]);
                quasi.iter().map(|column| column.made.name.clone()).collect()
            }
        };
        if !batch.has_columns(policy, &names.iter().map(String::as_str).collect::<Vec<_>>())? {
            return Ok(None);
        }
        let table = Relation::whole("relation", Some(policy.relation))?;
        let mut columns = Vec::with_capacity(names.len());
        for name in &names {
            let column = table.column("columns", name)?;
            let Some(equals) = equality_operator(column) else {
                return Ok(None);
            };
            columns.push(ClassColumn {
                sql: quote_identifier(name),
                equals,
            });
        }
        let mut classes = Classes {
            table: policy.relation,
            table_name: table.name().into(),
            columns,
            least: least.ceil() as u64,
            null_patterns: Vec::new(),
        };
        classes.null_patterns = classes.find_null_patterns(batch)?;
        Ok(Some(classes))
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.sql.as_str()).collect()
    }

    /// What the columns are called in the rows that the statement has touched.
    fn places(&self) -> Vec<String> {
        (0..self.columns.len()).map(|place| format!("c{place}")).collect()
    }

    fn find_null_patterns(&self, batch: &Batch) -> Result<Vec<Vec<bool>>, Problem> {
        if self.columns.is_empty() {
            return Ok(vec![Vec::new()]);
        }
        let are_null: Vec<String> = self
            .places()
            .iter()
            .map(|place| format!("{place} IS NULL"))
            .collect();
        let touched = batch.touched(&self.names());
        let query = format!(
            "SELECT DISTINCT {} FROM ({touched}) AS touched",
            are_null.join(", ")
        );
        let query = batch.marked(&query, self.table);
        batch.with_tables(|| {
            // SAFETY: SPI is connected; all columns are booleans.
            unsafe {
                let answer = Answer::to(&query, &Parameters::default(), true)?;
                let is_null = |row, column| answer.get(row, column).unwrap_or(true);
                let pattern = |row| {
                    (0..self.columns.len())
                        .map(|column| is_null(row, column))
                        .collect()
                };
                Ok((0..answer.rows()).map(pattern).collect())
            }
        })
    }

    fn measure(&self, batch: &Batch) -> Result<Measured, Problem> {
        let measured = |sizes: String| {
            let query = format!(
                "SELECT min(least(size, {least}))::float8, (sum(size) FILTER (WHERE size < {least}))::int8 \
                   FROM ({sizes}) AS sized",
                least = self.least,
            );
            batch.marked(&query, self.table)
        };
        let one_by_one = measured(self.sizes_one_by_one(batch));
        let in_one_pass = measured(self.sizes_in_one_pass(batch));
        batch.with_tables(|| {
            // SAFETY: SPI is connected; the columns are float8 and bigint.
            unsafe {
                let query = match self.null_patterns.len() <= MOST_PATTERNS
                    && cost_of(&one_by_one)? <= cost_of(&in_one_pass)? * CACHED
                {
                    true => &one_by_one,
                    false => &in_one_pass,
                };
                let answer = Answer::to(query, &Parameters::default(), true)?;
                Ok(Measured {
                    value: answer.get(0, 0),
                    rows: batch.rows,
                    unsafe_rows: Some(answer.get(0, 1).unwrap_or(0)),
                })
            }
        })
    }

    /// Look up every class, with conditions that an index on the columns can serve, and count no further than
    /// necessary: what a row costs does not depend on how many there are.
    fn sizes_one_by_one(&self, batch: &Batch) -> String {
        self.each_class(batch, "count(*) AS size", "WHERE size > 0")
    }

    fn each_class(&self, batch: &Batch, found: &str, which: &str) -> String {
        let touched = batch.touched(&self.names());
        let branch = |pattern: &Vec<bool>| {
            let mut conditions = vec!["true".to_string()];
            let mut has_pattern = vec!["true".to_string()];
            for (place, (column, is_null)) in self.columns.iter().zip(pattern).enumerate() {
                let ClassColumn { sql, equals } = column;
                conditions.push(match is_null {
                    true => format!("stored.{sql} IS NULL"),
                    false => format!("stored.{sql} {equals} class.c{place}"),
                });
                has_pattern.push(format!("c{place} IS {}NULL", if *is_null { "" } else { "NOT " }));
            }
            let places = match self.places() {
                places if places.is_empty() => "true".into(),
                places => places.join(", "),
            };
            format!(
                "SELECT found.* FROM (SELECT DISTINCT {places} FROM ({touched}) AS touched WHERE {has_pattern}) AS class, \
                 LATERAL (SELECT {found} FROM (SELECT stored.tableoid, stored.ctid FROM {table} AS stored \
                 WHERE {conditions} LIMIT {least}) AS few) AS found {which}",
                table = self.table_name,
                has_pattern = has_pattern.join(" AND "),
                conditions = conditions.join(" AND "),
                least = self.least,
            )
        };
        let branches: Vec<String> = self.null_patterns.iter().map(branch).collect();
        branches.join(" UNION ALL ")
    }

    /// Group all of the table, together with the touched rows, which say what classes are meant.
    fn sizes_in_one_pass(&self, batch: &Batch) -> String {
        let groups = match self.places() {
            places if places.is_empty() => String::new(),
            places => format!("GROUP BY {}", places.join(", ")),
        };
        format!(
            "SELECT count(*) FILTER (WHERE is_stored) AS size FROM ({}) AS rows {groups} \
             HAVING bool_or(NOT is_stored) AND bool_or(is_stored)",
            self.stored_and_touched(batch)
        )
    }

    fn stored_and_touched(&self, batch: &Batch) -> String {
        let stored: Vec<String> = self
            .columns
            .iter()
            .zip(self.places())
            .map(|(column, place)| format!("stored.{} AS {place}, ", column.sql))
            .collect();
        let places: Vec<String> = self.places().iter().map(|place| format!("{place}, ")).collect();
        format!(
            "SELECT {stored}stored.tableoid AS place, stored.ctid AS tuple, true AS is_stored FROM {table} AS stored \
             UNION ALL SELECT {places}NULL, NULL, false FROM ({touched}) AS touched",
            stored = stored.concat(),
            table = self.table_name,
            places = places.concat(),
            touched = batch.touched(&self.names()),
        )
    }

    /// A query of where the rows of touched classes are that are too small.
    fn in_small_ones(&self, batch: &Batch) -> String {
        if self.null_patterns.len() > MOST_PATTERNS {
            let partition = match self.places() {
                places if places.is_empty() => String::new(),
                places => format!("PARTITION BY {}", places.join(", ")),
            };
            return format!(
                "SELECT place, tuple FROM (SELECT place, tuple, is_stored, \
                 count(*) FILTER (WHERE is_stored) OVER class AS size, bool_or(NOT is_stored) OVER class AS is_touched \
                 FROM ({}) AS rows WINDOW class AS ({partition})) AS sized \
                 WHERE is_stored AND is_touched AND size < {}",
                self.stored_and_touched(batch),
                self.least
            );
        }
        let found = "array_agg(few.tableoid) AS places, array_agg(few.ctid) AS tuples, count(*) AS size";
        let which = format!("WHERE size < {}", self.least);
        format!(
            "SELECT place, tuple FROM ({}) AS small, unnest(small.places, small.tuples) AS row(place, tuple)",
            self.each_class(batch, found, &which)
        )
    }
}

/// With an index that a question can start from, so many new rows for every thousand stored ones are asked
/// about one by one: about 0.06 ms each, against about 1 µs for every row of the table where all of it is
/// read.
const ASKED_OF_THOUSAND: i64 = 15;
/// Without, every question reads the table, if only in part.
const ASKED_WITHOUT_INDEX: i64 = 4;

/// The greatest score of the new rows; `None` where the whole table has to tell.
fn measure_new_scores(batch: &Batch, policy: &Policy) -> Result<Option<Measured>, Problem> {
    let source = Source::of_relation(policy.relation)?;
    let counting: Vec<&Column> = source.counting(policy, &[policy.relation]);
    let counting: Vec<&Column> = counting
        .into_iter()
        .filter(|column| column.weights.is_some())
        .collect();
    let names: Vec<&str> = counting.iter().map(|column| column.made.name.as_str()).collect();
    if counting.is_empty() || !batch.has_columns(policy, &names)? {
        return Ok(None);
    }
    let table = Relation::whole("relation", Some(policy.relation))?;
    for name in &names {
        if equality_operator(table.column("columns", name)?).is_none() {
            return Ok(None);
        }
    }
    let scores = match batch.rows <= most_asked(policy.relation, &counting)? {
        true => scores_by_asking(batch, policy, &counting)?,
        false => scores_of_all(batch, policy, &table, &counting)?,
    };
    let limit = policy.limit;
    Ok(Some(Measured {
        value: scores.iter().map(|&(score, _)| score).reduce(f64::max),
        rows: batch.rows,
        unsafe_rows: Some(
            scores
                .iter()
                .filter(|&&(score, _)| !limit.allows(score))
                .map(|&(_, rows)| rows)
                .sum(),
        ),
    }))
}

/// About how many rows it pays to be asked about one by one.
fn most_asked(table: Oid, counting: &[&Column]) -> Result<i64, Problem> {
    let is_quasi = |column: &&&Column| column.weights.is_some_and(|weights| weights.likelihood > 0.0);
    let quasi: Vec<String> = counting
        .iter()
        .filter(is_quasi)
        .map(|column| column.made.name.clone())
        .collect();
    const QUERY: &str = "
        SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                        WHERE i.indrelid = $1 AND i.indisvalid AND i.indpred IS NULL AND a.attname = ANY ($2)),
               (SELECT sum(greatest(c.reltuples, 0))::int8 FROM pg_class c WHERE c.oid = ANY ($3))";
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::OIDOID, table.into());
    parameters.add(
        pg_sys::TEXTARRAYOID,
        quasi
            .into_datum()
            .ok_or(Problem::Internal("an array of names could not be made"))?,
    );
    parameters.add(
        pg_sys::OIDARRAYOID,
        with_heirs(table)
            .into_datum()
            .ok_or(Problem::Internal("an array of OIDs could not be made"))?,
    );
    Spi::connect(|_| {
        // SAFETY: SPI is connected; the parameters are of their types, the columns boolean and bigint.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            // Nobody may have counted them yet.
            let rows = answer
                .get::<i64>(0, 1)
                .unwrap_or(0)
                .max(pages_of(table) * ROWS_OF_PAGE);
            Ok(match answer.get(0, 0) {
                Some(true) => (rows * ASKED_OF_THOUSAND / 1_000).max(ASKED_WITHOUT_INDEX),
                _ => ASKED_WITHOUT_INDEX,
            })
        }
    })
}

/// About how many rows a page has.
const ROWS_OF_PAGE: i64 = 100;

/// Scores of the distinct new rows, and how many rows have each.
fn scores_by_asking(
    batch: &Batch,
    policy: &Policy,
    counting: &[&Column],
) -> Result<Vec<(f64, i64)>, Problem> {
    let names: Vec<&str> = counting.iter().map(|column| column.sql.as_str()).collect();
    let weights: serde_json::Map<String, Value> = counting
        .iter()
        .filter_map(|column| Some((column.made.name.clone(), judge::as_json(column.weights?))))
        .collect();
    let weights = Value::Object(weights);
    let names = names.join(", ");
    let query = format!(
        "SELECT \"row\", count(*) FROM (SELECT {names} FROM {new}) AS \"row\" GROUP BY \"row\"",
        new = batch.transition("disclosure_new"),
    );
    let query = batch.marked(&query, policy.relation);
    let settings = Settings {
        budget: guc::budget(),
        ..Settings::default()
    };
    batch.with_tables(|| {
        // SAFETY: SPI is connected, and stays so while the rows are used; the columns are a record and a
        // bigint.
        unsafe {
            let answer = Answer::to(&query, &Parameters::default(), true)?;
            let score = |row| {
                let value = answer.value(row, 0).ok_or(Problem::Internal("a count is NULL"))?;
                let mut lookup = RowLookup::new(value, Some(policy.relation), Some(&weights))?.in_snapshot();
                let score = score_row(&lookup.weights(), &settings, &mut lookup, &Control::new())?;
                match lookup.problem() {
                    Some(problem) => Err(problem),
                    None => Ok((score.upper, answer.get(row, 1).unwrap_or(0))),
                }
            };
            (0..answer.rows()).map(score).collect()
        }
    })
}

/// Those of the new rows, from the scores of all: what is in the table twice changes no score.
fn scores_of_all(
    batch: &Batch,
    policy: &Policy,
    table: &Relation,
    counting: &[&Column],
) -> Result<Vec<(f64, i64)>, Problem> {
    let (columns, mut weights) = judge::weighted(counting);
    weights["is_new"] = json!("ignore");
    let columns = columns.join(", ");
    let query = format!(
        "SELECT score, count(*) FROM (\
           SELECT disclosure.privacy_score(\"row\", labels => '{weights}'::jsonb) OVER () AS score, \"row\".is_new \
             FROM (SELECT {columns}, false AS is_new FROM {stored} \
                   UNION ALL SELECT {columns}, true FROM {new}) AS \"row\") AS scored \
          WHERE is_new GROUP BY score",
        stored = table.name(),
        new = batch.transition("disclosure_new"),
    );
    let query = batch.marked(&query, policy.relation);
    batch.with_tables(|| {
        // SAFETY: SPI is connected; the columns are float8 and bigint.
        unsafe {
            let answer = Answer::to(&query, &Parameters::default(), true)?;
            let score = |row| Some((answer.get(row, 0)?, answer.get(row, 1)?));
            Ok((0..answer.rows()).filter_map(score).collect())
        }
    })
}

/// A query of where the rows of the table are whose scores are too high.
fn rows_with_scores(policy: &Policy) -> Result<String, Problem> {
    let source = Source::of_relation(policy.relation)?;
    let (columns, mut weights) = judge::weighted(&source.counting(policy, &[policy.relation]));
    weights["place"] = json!("ignore");
    weights["tuple"] = json!("ignore");
    let columns: Vec<String> = columns.into_iter().map(|column| format!("{column}, ")).collect();
    Ok(format!(
        "SELECT place, tuple FROM (\
           SELECT disclosure.privacy_score(\"row\", labels => '{weights}'::jsonb) OVER () AS score, \"row\".place, \"row\".tuple \
             FROM (SELECT {columns}tableoid AS place, ctid AS tuple FROM {stored}) AS \"row\") AS scored \
          WHERE score > {limit}",
        columns = columns.concat(),
        stored = Relation::whole("relation", Some(policy.relation))?.name(),
        limit = judge::number(policy.limit.value()),
    ))
}
