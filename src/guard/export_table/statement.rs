//! Measures an export table after a statement has changed it.
//!
//! If the measure allows it, only the rows that the statement may have made worse are measured, so that the
//! cost does not grow with the table. For `k_anonymity` these are the equivalence classes of the changed
//! rows, which are looked up one by one or found in one pass over the table, whichever the planner estimates
//! to be faster. For the maximum `privacy_score` after an INSERT these are the new rows, if the policy counts
//! certain inferences only. Otherwise the whole table is measured.

use crate::error::Error;
use crate::guard::judge::{Column, Measured, Source};
use crate::guard::labels::Labels;
use crate::guard::policy::Policy;
use crate::guard::rule::{Limit, Measure, Statistic};
use crate::guard::{judge, rights};
use crate::guc;
use crate::input::relation::Relation;
use crate::methods::inference::new_row::RowLookup;
use crate::pg::catalog::{self, with_heirs};
use crate::pg::query::{Answer, Parameters, estimate_of};
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
    /// Returns the name that is stored in the log.
    pub fn name(self) -> &'static str {
        match self {
            Event::Insert => "INSERT",
            Event::Update => "UPDATE",
            Event::Delete => "DELETE",
        }
    }

    /// Returns the names of the transition tables of the trigger.
    fn tables(self) -> &'static [&'static str] {
        match self {
            Event::Insert => &["disclosure_new"],
            Event::Update => &["disclosure_new", "disclosure_old"],
            Event::Delete => &["disclosure_old"],
        }
    }
}

/// Changes of a statement, available while its AFTER STATEMENT trigger runs.
pub struct Batch {
    trigger: *mut TriggerData,
    /// Table that the statement names.
    pub relation: Oid,
    pub event: Event,
    pub rows: i64,
    /// SELECT list that gives all columns of the table, if the transition tables lack some: see
    /// [`with_computed_columns`].
    columns: Option<String>,
}

/// Location of a row: its table and its tuple identifier.
pub type Place = (Oid, pg_sys::ItemPointerData);

impl Batch {
    /// Returns the changes of the statement, or `None` if the trigger is not one of those that the guard
    /// creates.
    ///
    /// # Safety
    /// `trigger` is the data of a running trigger, which keeps running as long as the returned value is used.
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

    /// Runs `job`, whose queries may name the transition tables, and returns its result.
    fn with_tables<R>(&self, job: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, and the trigger is running by the contract of `new`.
            match unsafe { pg_sys::SPI_register_trigger_data(self.trigger) } {
                status if status < 0 => Err(Error::Internal(
                    "the rows of a statement could not be made visible",
                )),
                _ => job(),
            }
        })
    }

    /// Returns the FROM item for a transition table with all columns of its table.
    fn transition(&self, table: &str) -> String {
        match &self.columns {
            Some(columns) => format!("(SELECT {columns} FROM {table}) AS {table}"),
            None => table.into(),
        }
    }

    /// Returns a query for these columns, named c0, c1, …, of all rows that the statement has added or
    /// removed.
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

    /// Returns the query with a comment appended that makes its text unique, so that it is planned again if a
    /// cached plan may not fit: for the transition tables of another table, which have the same names; and
    /// whenever the batch or the table has doubled, because the table may not have been analysed since.
    fn marked(&self, query: &str, table: Oid) -> String {
        let magnitude = |number: i64| number.max(1).ilog2();
        let (rows, pages) = (magnitude(self.rows), magnitude(pages_of(table)));
        format!("{query} /* {} {rows} {pages} */", self.relation.to_u32())
    }

    /// Returns whether the transition tables have all these columns. They may not if the policy's table is a
    /// child of the changed table: a child may have more columns, and may compute generated columns
    /// differently.
    fn has_columns(&self, policy: &Policy, names: &[&str]) -> Result<bool, Error> {
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

/// Returns the SELECT list that gives all columns of a table from its transition tables, or `None` if `*`
/// does. Postgres 18 introduced virtual generated columns, which transition tables lack. The list computes
/// them in the same way as a query on the table.
///
/// # Safety
/// `relation` is an open relation.
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
        // Under the safe path, because the queries that contain the list run under it, too.
        let columns: Vec<String> = rights::under_safe_path(|| numbers.filter(is_there).map(sql).collect());
        Some(columns.join(", "))
    }
}

/// Returns the number of pages of a table and its descendants.
fn pages_of(table: Oid) -> i64 {
    let own_pages = |table: Oid| {
        // SAFETY: `with_heirs` has locked the table, so it exists and can be opened without another lock.
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

/// Measures the policy's table and returns the result. Only rows that the statement may have made worse are
/// measured, unless `whole` is true or the measure needs all rows.
pub fn measure(batch: &Batch, policy: &Policy, whole: bool) -> Result<Measured, Error> {
    let measured = match &policy.measure {
        Measure::KAnonymity => match Classes::touched_by(batch, policy)? {
            Some(classes) => Some(classes.measure(batch)?),
            None => None,
        },
        // New rows can only lower the scores of the rows that were there before.
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

/// Returns the unsafe rows of the policy's table, at least all that the statement has made unsafe. Returns
/// `None` if the measure has no value for single rows.
pub fn unsafe_rows(batch: &Batch, policy: &Policy) -> Result<Option<Vec<Place>>, Error> {
    let marked = |query: String| batch.marked(&query, policy.relation);
    match &policy.measure {
        Measure::KAnonymity => {
            let Some(classes) = Classes::touched_by(batch, policy)? else {
                return match rows_with_few_people(policy)? {
                    Some(query) => batch.with_tables(|| places(&marked(query))),
                    None => Ok(None),
                };
            };
            let (one_by_one, in_one_pass) = classes.in_small_ones(batch);
            let (one_by_one, in_one_pass) = (marked(one_by_one), marked(in_one_pass));
            batch.with_tables(|| places(classes.faster(&one_by_one, &in_one_pass)?))
        }
        Measure::PrivacyScore(Statistic::Maximum) => {
            let query = marked(rows_with_scores(policy)?);
            batch.with_tables(|| places(&query))
        }
        _ => Ok(None),
    }
}

/// Returns the locations that a query returns, whose columns have the types oid and tid. SPI must be connected.
fn places(query: &str) -> Result<Option<Vec<Place>>, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let answer = Answer::to(query, &Parameters::default(), true)?;
        let place = |row| Some((answer.get(row, 0)?, answer.get(row, 1)?));
        Ok(Some((0..answer.rows()).filter_map(place).collect()))
    }
}

/// Equivalence classes whose size the statement has changed.
struct Classes {
    table: Oid,
    /// Quoted schema and name of the table.
    table_name: String,
    columns: Vec<ClassColumn>,
    /// Required size of a class that is not empty.
    least: u64,
    /// Distinct patterns of NULLs in the changed rows: for each column, whether it is NULL.
    null_patterns: Vec<Vec<bool>>,
}

struct ClassColumn {
    /// Quoted name of the column.
    sql: String,
    /// Equality operator of the column's type.
    equals: String,
}

/// Factor by which the planner overestimates the cost of looking up classes one by one: it assumes that every
/// look-up reads from disk, but after the first few the index is cached. It affects only the speed, not the
/// result. Without it, tests/bench/export_tables.sh with 10,000 rows inserted into 100,000 was slower.
const CACHED: f64 = 4.0;

/// Maximum number of NULL patterns for which classes are looked up. With more patterns, one pass over the
/// table is faster than a condition for each.
const MOST_PATTERNS: usize = 16;

impl Classes {
    /// Returns the classes that a statement has changed, or `None` if the transition tables cannot tell.
    fn touched_by(batch: &Batch, policy: &Policy) -> Result<Option<Self>, Error> {
        let Limit::AtLeast(least) = policy.limit else {
            return Ok(None);
        };
        if !Labels::of_relation(policy.relation)?
            .people(policy.relation)?
            .is_empty()
        {
            return Ok(None); // a person of a changed row may have rows in other classes
        }
        let names: Vec<String> = match &policy.columns {
            Some(names) => names.clone(),
            None => {
                let source = Source::of_relation(policy.relation)?;
                let quasi = source.counting(policy, &[policy.relation]);
                quasi.iter().map(|column| column.name.clone()).collect()
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

    /// Returns the names of the columns in the query made by [`Batch::touched`].
    fn places(&self) -> Vec<String> {
        (0..self.columns.len()).map(|place| format!("c{place}")).collect()
    }

    fn find_null_patterns(&self, batch: &Batch) -> Result<Vec<Vec<bool>>, Error> {
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
            // SAFETY: SPI is connected, and all columns have type boolean.
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

    fn measure(&self, batch: &Batch) -> Result<Measured, Error> {
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
            // SAFETY: SPI is connected, and the columns have the types float8 and bigint.
            unsafe {
                let query = self.faster(&one_by_one, &in_one_pass)?;
                let answer = Answer::to(query, &Parameters::default(), true)?;
                Ok(Measured {
                    value: answer.get(0, 0),
                    rows: batch.rows,
                    unsafe_rows: Some(answer.get(0, 1).unwrap_or(0)),
                })
            }
        })
    }

    /// Returns the query that is probably faster: the one that looks up classes one by one, or the one that
    /// reads the table once. SPI must be connected, with the transition tables.
    fn faster<'a>(&self, one_by_one: &'a str, in_one_pass: &'a str) -> Result<&'a str, Error> {
        // SAFETY: SPI is connected by the contract of the function.
        let is_few = self.null_patterns.len() <= MOST_PATTERNS
            && unsafe { estimate_of(one_by_one)?.cost <= estimate_of(in_one_pass)?.cost * CACHED };
        Ok(if is_few { one_by_one } else { in_one_pass })
    }

    /// Returns a query for the class sizes that looks up each class. An index on the columns can serve the
    /// conditions, and counting stops at the required size, so the cost per row does not depend on the size
    /// of the table.
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

    /// Returns a query for the class sizes that groups the whole table together with the changed rows, which
    /// mark the classes to be measured.
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

    /// Returns two queries for the locations of the rows in changed classes that are too small: one that looks up
    /// each class, and one that reads the table once.
    fn in_small_ones(&self, batch: &Batch) -> (String, String) {
        let found = "array_agg(few.tableoid) AS places, array_agg(few.ctid) AS tuples, count(*) AS size";
        let which = format!("WHERE size < {}", self.least);
        let one_by_one = format!(
            "SELECT place, tuple FROM ({}) AS small, unnest(small.places, small.tuples) AS row(place, tuple)",
            self.each_class(batch, found, &which)
        );
        let partition = match self.places() {
            places if places.is_empty() => String::new(),
            places => format!("PARTITION BY {}", places.join(", ")),
        };
        let in_one_pass = format!(
            "SELECT place, tuple FROM (SELECT place, tuple, is_stored, \
             count(*) FILTER (WHERE is_stored) OVER class AS size, bool_or(NOT is_stored) OVER class AS is_touched \
             FROM ({}) AS rows WINDOW class AS ({partition})) AS sized \
             WHERE is_stored AND is_touched AND size < {}",
            self.stored_and_touched(batch),
            self.least
        );
        (one_by_one, in_one_pass)
    }
}

/// Maximum number of new rows per thousand stored rows that are scored one by one if an index can serve the
/// look-ups. One by one, a new row takes about 0.06 ms; scoring the whole table takes about 1 µs per stored
/// row.
const ASKED_OF_THOUSAND: i64 = 15;
/// Maximum number of new rows that are scored one by one without an index. Each look-up then reads at least a
/// part of the table.
const ASKED_WITHOUT_INDEX: i64 = 4;

/// Returns the maximum score of the new rows, or `None` if the whole table must be measured.
fn measure_new_scores(batch: &Batch, policy: &Policy) -> Result<Option<Measured>, Error> {
    let source = Source::of_relation(policy.relation)?;
    let counting: Vec<&Column> = source.counting(policy, &[policy.relation]);
    let counting: Vec<&Column> = counting
        .into_iter()
        .filter(|column| column.weights.is_some())
        .collect();
    let names: Vec<&str> = counting.iter().map(|column| column.name.as_str()).collect();
    if counting.is_empty() || !counts_only_certain(policy, &counting) || !batch.has_columns(policy, &names)? {
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

/// Returns whether a row is unsafe only if a value of it is certain. Only then can new rows not make the rows
/// that were there before less safe: a share of nearly certain rows may rise, and so may one among the rows whose
/// value is not NULL.
fn counts_only_certain(policy: &Policy, counting: &[&Column]) -> bool {
    let is_known = |column: &&Column| {
        let is_dangerous = column.weights.is_some_and(|weights| weights.danger > 0.0);
        !is_dangerous || catalog::is_not_null(policy.relation, &column.name)
    };
    policy.min_confidence == 1.0 && counting.iter().all(is_known)
}

/// Returns the approximate number of rows up to which scoring them one by one is faster.
fn most_asked(table: Oid, counting: &[&Column]) -> Result<i64, Error> {
    let is_quasi = |column: &&&Column| column.weights.is_some_and(|weights| weights.likelihood > 0.0);
    let quasi: Vec<String> = counting
        .iter()
        .filter(is_quasi)
        .map(|column| column.name.clone())
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
            .ok_or(Error::Internal("an array of names could not be made"))?,
    );
    parameters.add(
        pg_sys::OIDARRAYOID,
        with_heirs(table)
            .into_datum()
            .ok_or(Error::Internal("an array of OIDs could not be made"))?,
    );
    Spi::connect(|_| {
        // SAFETY: SPI is connected, the parameters have the declared types, and the columns are boolean and
        // bigint.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            // The table may not have been analysed yet.
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

/// Approximate number of rows per page.
const ROWS_OF_PAGE: i64 = 100;

/// Returns the score of each distinct new row, and the number of its duplicates. Scores them one by one.
fn scores_by_asking(batch: &Batch, policy: &Policy, counting: &[&Column]) -> Result<Vec<(f64, i64)>, Error> {
    let names: Vec<&str> = counting.iter().map(|column| column.sql.as_str()).collect();
    let weights: serde_json::Map<String, Value> = counting
        .iter()
        .filter_map(|column| Some((column.name.clone(), judge::as_json(column.weights?))))
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
        // SAFETY: SPI is connected, and stays so while the rows are used; the columns are record and bigint.
        unsafe {
            let answer = Answer::to(&query, &Parameters::default(), true)?;
            let score = |row| {
                let value = answer.value(row, 0).ok_or(Error::Internal("a row is NULL"))?;
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

/// Returns the distinct scores of the new rows, and the number of rows with each. Scores the whole table
/// together with the new rows. These are in the table already, but duplicates of a row do not change any
/// score.
fn scores_of_all(
    batch: &Batch,
    policy: &Policy,
    table: &Relation,
    counting: &[&Column],
) -> Result<Vec<(f64, i64)>, Error> {
    let (columns, mut weights) = judge::weighted(counting);
    weights["is_new"] = json!("ignore");
    let columns = columns.join(", ");
    let query = format!(
        "SELECT score, count(*) FROM (\
           SELECT {score} AS score, \"row\".is_new \
             FROM (SELECT {columns}, false AS is_new FROM {stored} \
                   UNION ALL SELECT {columns}, true FROM {new}) AS \"row\") AS scored \
          WHERE is_new GROUP BY score",
        score = judge::score_call(policy, &weights),
        stored = table.name(),
        new = batch.transition("disclosure_new"),
    );
    let query = batch.marked(&query, policy.relation);
    batch.with_tables(|| {
        // SAFETY: SPI is connected, and the columns have the types float8 and bigint.
        unsafe {
            let answer = Answer::to(&query, &Parameters::default(), true)?;
            let score = |row| Some((answer.get(row, 0)?, answer.get(row, 1)?));
            Ok((0..answer.rows()).filter_map(score).collect())
        }
    })
}

/// Returns a query for the locations of the rows whose scores are too high.
fn rows_with_scores(policy: &Policy) -> Result<String, Error> {
    let source = Source::of_relation(policy.relation)?;
    let (columns, mut weights) = judge::weighted(&source.counting(policy, &[policy.relation]));
    weights["place"] = json!("ignore");
    weights["tuple"] = json!("ignore");
    let columns: Vec<String> = columns.into_iter().map(|column| format!("{column}, ")).collect();
    Ok(format!(
        "SELECT place, tuple FROM (\
           SELECT {score} AS score, \"row\".place, \"row\".tuple \
             FROM (SELECT {columns}tableoid AS place, ctid AS tuple FROM {stored}) AS \"row\") AS scored \
          WHERE score > {limit}",
        score = judge::score_call(policy, &weights),
        columns = columns.concat(),
        stored = Relation::whole("relation", Some(policy.relation))?.name(),
        limit = judge::number(policy.limit.value()),
    ))
}

/// Returns a query for the locations of the rows in classes of too few people; `None` if no column is labelled person.
fn rows_with_few_people(policy: &Policy) -> Result<Option<String>, Error> {
    let source = Source::of_relation(policy.relation)?;
    let quasi = source.counting(policy, &[policy.relation]);
    let classes: Vec<String> = (0..quasi.len()).map(|place| format!("c{place}, ")).collect();
    let quasi: Vec<String> = quasi
        .iter()
        .enumerate()
        .map(|(place, column)| format!("{} AS c{place}, ", column.sql))
        .collect();
    let stored = Relation::whole("relation", Some(policy.relation))?;
    let mut labels = Labels::of_relation(policy.relation)?;
    let queries = labels.people(policy.relation)?.iter().map(|names| {
        let person: Vec<String> = names.iter().map(quote_identifier).collect();
        // Rows of unknown people add nobody to a class, unless nobody else is in it.
        format!(
            "SELECT place, tuple FROM (\
               SELECT place, tuple, max(rank) OVER (PARTITION BY {classes}true) AS people FROM (\
                 SELECT place, tuple, {classes}\
                        CASE WHEN is_known THEN dense_rank() OVER (PARTITION BY {classes}is_known ORDER BY {person}) \
                             ELSE 1 END AS rank FROM (\
                   SELECT {quasi}{columns}, {columns_known} AS is_known, tableoid AS place, ctid AS tuple FROM {stored}\
                 ) AS stored) AS ranked) AS counted \
              WHERE people < {limit}",
            classes = classes.concat(),
            quasi = quasi.concat(),
            person = (0..person.len()).map(|place| format!("p{place}")).collect::<Vec<_>>().join(", "),
            columns = person
                .iter()
                .enumerate()
                .map(|(place, column)| format!("{column} AS p{place}"))
                .collect::<Vec<_>>()
                .join(", "),
            columns_known = person
                .iter()
                .map(|column| format!("{column} IS NOT NULL"))
                .collect::<Vec<_>>()
                .join(" OR "),
            stored = stored.name(),
            limit = judge::number(policy.limit.value()),
        )
    });
    let queries: Vec<String> = queries.collect();
    Ok((!queries.is_empty()).then(|| queries.join(" UNION ")))
}
