//! Measures rows for a policy: rows that a query returned and [`spool`] collected, or the rows of an export
//! table.
//!
//! [`source`] is what is judged. [`tallied`] computes `k_anonymity` and the figures of `risk_summary` and `diversity`
//! from a [`tally`](crate::guard::copy::tally) of the rows. So is the `privacy_score` of an export; other measures are
//! queries on `disclosure_internal.leaving`, or on an export table. Labels decide which columns count and with which weights; a column
//! of a query has the labels of the stored columns that it is made of. In an export, columns that an adversary
//! may know are compared by their stored bytes, because equal bytes are sent equally, and sensitive columns by
//! the equality of their type. If a query may return a stored row more than once, `k_anonymity` counts distinct
//! stored rows, and `privacy_score` scores each stored row once. Functions that users wrote are called by
//! `function`.

mod source;
mod tallied;

pub use source::{Column, Measured, Source};

use crate::error::{Change, Error};
use crate::guard::copy::spool::{self, Asked};
use crate::guard::copy::tally::Tally;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::measure_function::{Found, MeasureFunction};
use crate::guard::origin::Origin;
use crate::guard::policy::Policy;
use crate::guard::rule::{Measure, Statistic};
use crate::guard::shape::{Counted, Occurrence};
use crate::guard::{log, policy, rights, sandbox};
use crate::methods::inference::scores::scores_for_policy;
use crate::pg::catalog;
use crate::pg::catalog::with_heirs;
use crate::pg::query::{Answer, Parameters};
use disclosure::Weights;
use disclosure::classes::Unit;
use disclosure::figures::ColumnFigure;
use disclosure::inference;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Value, json};
use source::{Place, as_count, by_bytes};

impl Source {
    /// Returns whether two occurrences of the policy's relation have the same stored rows or none in common.
    /// Otherwise the recipient could subtract the rows of one occurrence from those of the other, and see the
    /// few that are left.
    pub fn is_uniform(&self, policy: &Policy) -> Result<bool, Error> {
        let Place::Spool { outputs, .. } = self.place else {
            return Ok(true);
        };
        let family = policy::family_of(&[policy.relation])?;
        let occurrences = self.occurrences_of(&family);
        if occurrences.len() < 2 {
            return Ok(true);
        }
        // A materialized view has copies of the stored rows, which cannot be compared with these.
        let read: Vec<Option<&Oid>> = occurrences
            .iter()
            .map(|(_, occurrence)| occurrence.relations.first())
            .collect();
        // SAFETY: any OID is accepted.
        let is_copy =
            |relation: &Oid| unsafe { pg_sys::get_rel_relkind(*relation) } as u8 == pg_sys::RELKIND_MATVIEW;
        if read.iter().flatten().any(|relation| is_copy(relation))
            && read.iter().any(|other| *other != read[0])
        {
            return Ok(false);
        }
        let mut parts = Vec::new();
        for (place, occurrence) in occurrences {
            let (Counted::Marked(columns) | Counted::Distinct(columns)) = &occurrence.counted else {
                return Ok(false);
            };
            let identity: Vec<&Column> = columns
                .iter()
                .map(|column| &self.columns[outputs + column])
                .collect();
            let [table, tid] = identity[..] else {
                return Ok(false); // rows of a foreign table cannot be told apart
            };
            parts.push(format!(
                "SELECT DISTINCT {place} AS occurrence, {table} AS \"table\", {tid} AS tid FROM {from} \
                  WHERE {tid} IS NOT NULL",
                table = table.sql,
                tid = tid.sql,
                from = self.from(&identity, Vec::new())
            ));
        }
        let query = format!(
            "SELECT NULL::float8, coalesce(max(sets), 0), NULL::int8 \
               FROM (SELECT occurrence, count(*) AS sets \
                       FROM (SELECT DISTINCT array_agg(occurrence ORDER BY occurrence) AS occurrences \
                               FROM ({}) AS stored GROUP BY \"table\", tid) AS signed, \
                            unnest(occurrences) AS occurrence \
                      GROUP BY occurrence) AS counted",
            parts.join(" UNION ALL ")
        );
        Ok(rights::under_own_settings(|| ask(&query))?.rows <= 1)
    }
}

/// Measures the source for a policy and returns the result.
pub fn measure(policy: &Policy, source: &Source) -> Result<Measured, Error> {
    measure_without(policy, source, None)
}

/// Returns the name of an output column without which the export would satisfy the policy, if there is one.
/// Only the first columns are tried.
pub fn spoiler(policy: &Policy, source: &Source) -> Result<Option<String>, Error> {
    /// Number of columns that are tried.
    const MAX_TRIED: usize = 12;
    let Place::Spool { outputs, .. } = source.place else {
        return Ok(None);
    };
    if policy.measure.is_function() {
        return Ok(None);
    }
    for number in 0..outputs.min(MAX_TRIED) {
        if measure_without(policy, source, Some(number))?.is_allowed(policy.limit) {
            return Ok(Some(source.columns[number].name.clone()));
        }
    }
    Ok(None)
}

fn measure_without(policy: &Policy, source: &Source, without: Option<usize>) -> Result<Measured, Error> {
    let family = policy::family_of(&[policy.relation])?;
    let counting = source.counting_without(policy, &family, without);
    rights::under_own_settings(|| match &policy.measure {
        Measure::KAnonymity => match &source.place {
            Place::Relation(_) if !source.counts_people() => k_anonymity(policy, source, &counting),
            _ => tallied::measure(policy, source, &counting, &family),
        },
        Measure::Risk(_) | Measure::Diversity(_) | Measure::Person(..) => {
            tallied::measure(policy, source, &counting, &family)
        }
        Measure::PrivacyScore(statistic) => privacy_score(policy, *statistic, source, &counting, &family),
        Measure::Columns(figure) => columns(*figure, source, &counting),
        Measure::ExpectedCracks => cracks(source, &counting, &family),
        Measure::Function(measure) => function(policy, measure, source, &family),
        Measure::Unusable { problem, .. } => Err(policy.unusable(problem)),
    })
}

/// Runs a query that returns one row with the value, the number of rows and the number of unsafe rows.
fn ask(query: &str) -> Result<Measured, Error> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected, and all queries in this file return float8, bigint and bigint.
        unsafe {
            let answer = Answer::to(query, &Parameters::default(), true)?;
            Ok(Measured {
                value: answer.get(0, 0),
                rows: answer.get(0, 1).unwrap_or(0),
                unsafe_rows: answer.get(0, 2),
            })
        }
    })
}

/// Measures k of a relation with the aggregate, which is much faster than the window function. Only if the
/// policy is broken, the window function counts the unsafe rows. Rows are compared by the equality of the
/// types, because rows that a statement inserts are compared in this way, too.
fn k_anonymity(policy: &Policy, source: &Source, quasi: &[&Column]) -> Result<Measured, Error> {
    let names: Vec<&str> = quasi.iter().map(|column| column.sql.as_str()).collect();
    let (names, from) = (names.join(", "), source.from(quasi, Vec::new()));
    let (smallest, size) = match quasi.is_empty() {
        true => ("nullif(count(*), 0)".into(), "count(*) OVER ()".into()),
        false => (
            format!("disclosure.k_anonymity({names})"),
            format!("disclosure.class_size({names}) OVER ()"),
        ),
    };
    let measured = ask(&format!(
        "SELECT {smallest}::float8, count(*), NULL::int8 FROM {from}"
    ))?;
    match measured.is_allowed(policy.limit) {
        true => Ok(Measured {
            unsafe_rows: Some(0),
            ..measured
        }),
        false => ask(&format!(
            "SELECT min(size)::float8, count(*), count(*) FILTER (WHERE size < {limit}) \
               FROM (SELECT {size} AS size FROM {from}) AS sized",
            limit = number(policy.limit.value()),
        )),
    }
}

/// Measures the privacy score of a relation or an export.
fn privacy_score(
    policy: &Policy,
    statistic: Statistic,
    source: &Source,
    counting: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let taking_part: Vec<&Column> = counting
        .iter()
        .copied()
        .filter(|column| column.weights.is_some())
        .collect();
    match &source.place {
        Place::Relation(_) => ask(&scores(
            policy,
            statistic,
            &score_of_rows(policy, source, &taking_part),
        )),
        Place::Spool { tally, scored, .. } => {
            let mut worst: Option<Measured> = None;
            for (unit, part) in units_to_score(source, tally, &taking_part, family)? {
                let places = tally.places(part.iter().filter_map(|column| column.scored_as()))?;
                let rows = tally.count_units(&places, &unit)?;
                let columns: Vec<inference::Column> = places
                    .iter()
                    .filter_map(|&place| scored.get(place)?.clone())
                    .collect();
                let scores = match columns.is_empty() {
                    true => rows.classes.sizes().iter().map(|&rows| (0.0, rows)).collect(),
                    false => scores_for_policy(&rows.classes, &columns, policy.min_confidence)?,
                };
                let measured = summary(policy, statistic, &scores);
                if worst.is_none_or(|worst| measured.value > worst.value) {
                    worst = Some(measured);
                }
            }
            worst.ok_or(Error::Internal("nothing was scored"))
        }
    }
}

/// Returns what is scored of an export: units and columns. If the query may return a stored row more than
/// once, copies would distort the shares of values. So the columns that come from each occurrence of the
/// relation are scored by themselves, one row for each stored row, and then all columns together, one row for
/// each combination of stored rows. The highest score counts.
fn units_to_score<'a>(
    source: &Source,
    tally: &Tally,
    taking_part: &[&'a Column],
    family: &[Oid],
) -> Result<Vec<(Unit, Vec<&'a Column>)>, Error> {
    let is_repeated = |occurrence: &Occurrence| matches!(occurrence.counted, Counted::Distinct(_));
    if !source.occurrences.iter().any(is_repeated) {
        return Ok(vec![(Unit::Row, taking_part.to_vec())]);
    }
    let mut units: Vec<Vec<usize>> = source
        .occurrences_of(family)
        .into_iter()
        .map(|(place, _)| vec![place])
        .collect();
    if source.occurrences.len() > 1 {
        units.push((0..source.occurrences.len()).collect());
    }
    let scored = |unit: Vec<usize>| {
        let identities = unit
            .iter()
            .flat_map(|&place| source.identity(&source.occurrences[place]));
        let identities = tally.places(identities.map(by_bytes))?;
        let part = taking_part
            .iter()
            .copied()
            .filter(|column| column.is_of(&unit))
            .collect();
        Ok(match identities.is_empty() {
            true => (Unit::Row, part),
            // Outer joins and branches of a UNION ALL leave some identities out, and that tells something, too.
            false => (Unit::Combination(identities), part),
        })
    };
    units.into_iter().map(scored).collect()
}

/// Returns the statistic of scores, which are given with the number of rows that have them.
fn summary(policy: &Policy, statistic: Statistic, scores: &[(f64, u64)]) -> Measured {
    let rows_with = |is_meant: &dyn Fn(f64) -> bool| -> u64 {
        let meant = scores.iter().filter(|(score, _)| is_meant(*score));
        meant.map(|(_, rows)| rows).sum()
    };
    let rows = rows_with(&|_| true);
    let (value, unsafe_rows) = match statistic {
        Statistic::Maximum => (
            scores.iter().map(|(score, _)| *score).fold(0.0, f64::max),
            Some(rows_with(&|score| score > policy.limit.value())),
        ),
        Statistic::Average => {
            let sum: f64 = scores.iter().map(|(score, rows)| score * *rows as f64).sum();
            (sum / rows as f64, None)
        }
        Statistic::Share { threshold } => {
            let reached = rows_with(&|score| score >= threshold);
            (reached as f64 / rows as f64, Some(reached))
        }
    };
    Measured {
        value: (rows > 0).then_some(value),
        rows: as_count(rows),
        unsafe_rows: unsafe_rows.map(as_count),
    }
}

/// Returns a query for the statistic of the scores. `score_of_rows` is a query that returns the column
/// `score`.
fn scores(policy: &Policy, statistic: Statistic, score_of_rows: &str) -> String {
    let (value, is_unsafe) = match statistic {
        Statistic::Maximum => (
            "max(score)".into(),
            format!("score > {}", number(policy.limit.value())),
        ),
        Statistic::Average => ("avg(score)".into(), "NULL".into()),
        Statistic::Share { threshold } => {
            let reached = format!("score >= {}", number(threshold));
            (format!("avg(({reached})::int)::float8"), reached)
        }
    };
    let unsafe_rows = match statistic {
        Statistic::Average => "NULL::int8".to_string(),
        _ => format!("count(*) FILTER (WHERE {is_unsafe})"),
    };
    format!("SELECT {value}, count(*), {unsafe_rows} FROM ({score_of_rows}) AS scored")
}

/// Returns a query for the scores of a relation's rows.
fn score_of_rows(policy: &Policy, source: &Source, columns: &[&Column]) -> String {
    let from = source.from(columns, Vec::new());
    if columns.is_empty() {
        return format!("SELECT 0::float8 AS score FROM {from}");
    }
    let (weighted, weights) = weighted(columns);
    format!(
        "SELECT {score} AS score FROM (SELECT {columns} FROM {from}) AS \"row\"",
        score = score_call(policy, &weights),
        columns = weighted.join(", "),
    )
}

/// Returns the call that scores the rows of the FROM item `"row"` for a policy. Values that are NULL are unknown,
/// and nearly certain inferences count.
pub fn score_call(policy: &Policy, weights: &Value) -> String {
    format!(
        "disclosure_internal.policy_score(\"row\", labels => '{weights}'::jsonb, min_confidence => {}) OVER ()",
        number(policy.min_confidence)
    )
}

/// Returns the entries of a SELECT list for the columns that take part in a score, and their weights as JSON.
/// The columns are named by position (c0, c1, …), because the names in the result of a query need not be
/// unique.
pub fn weighted(counting: &[&Column]) -> (Vec<String>, Value) {
    let mut columns = Vec::new();
    let mut weights = serde_json::Map::new();
    for (column, of_column) in counting
        .iter()
        .filter_map(|column| Some((column, column.weights?)))
    {
        let place = columns.len();
        columns.push(format!("{} AS c{place}", column.scored()));
        let mut of_column = as_json(of_column);
        if column.nulls_are_values {
            of_column["nulls"] = "value".into();
        }
        weights.insert(format!("c{place}"), of_column);
    }
    (columns, Value::Object(weights))
}

/// Returns weights in the form that the argument `labels` of scores expects.
pub fn as_json(weights: Weights) -> Value {
    json!({"likelihood": weights.likelihood, "danger": weights.danger})
}

/// Counts the columns that name people, or have no label.
fn columns(figure: ColumnFigure, source: &Source, counting: &[&Column]) -> Result<Measured, Error> {
    let is_meant = |column: &&&Column| match figure {
        ColumnFigure::Identifiers => column.names_people,
        ColumnFigure::Unlabelled => column.is_unlabelled,
    };
    let found = counting
        .iter()
        .filter(|column| column.is_value)
        .filter(is_meant)
        .count();
    let rows = match &source.place {
        Place::Spool { tally, .. } => as_count(tally.rows()),
        Place::Relation(_) => rows_of(source)?,
    };
    Ok(Measured {
        value: (rows > 0).then_some(found as f64),
        rows,
        unsafe_rows: None,
    })
}

/// Returns the number of rows.
fn rows_of(source: &Source) -> Result<i64, Error> {
    let query = format!(
        "SELECT NULL::float8, count(*), NULL::int8 FROM {}",
        source.from(&[], Vec::new())
    );
    Ok(ask(&query)?.rows)
}

/// Measures the highest number of expected cracks of a column of items, which is 0 if there is no such column.
/// Each stored row counts once.
fn cracks(source: &Source, counting: &[&Column], family: &[Oid]) -> Result<Measured, Error> {
    let identity = source
        .occurrences_of(family)
        .into_iter()
        .find(|(_, occurrence)| matches!(occurrence.counted, Counted::Distinct(_)))
        .map(|(_, occurrence)| Asked::Identity(source.identity(occurrence)));
    let (which, others) = match identity {
        Some(identity) => ("DISTINCT ON (id)", vec![("id".to_string(), identity)]),
        None => ("", Vec::new()),
    };
    let columns = counting.iter().filter(|column| column.is_value);
    let upper: Vec<String> = columns
        .map(|column| {
            let others = others
                .iter()
                .map(|(name, asked)| (name.clone(), asked.clone()))
                .collect();
            format!(
                "(SELECT upper FROM disclosure.crack_report_of((SELECT disclosure.count_items(item) \
                   FROM (SELECT {which} {} AS item FROM {}) AS items)))",
                column.sql,
                source.from(&[column], others)
            )
        })
        .collect();
    let value = match &upper[..] {
        [] => "0::float8".into(),
        upper => format!("greatest({})", upper.join(", ")),
    };
    ask(&format!(
        "SELECT {value}, count(*), NULL::int8 FROM {}",
        source.from(&[], Vec::new())
    ))
}

/// Measures with a function that a user wrote. The function sees only columns of the policy's relation, and
/// columns that the query computed from these. It neither uses the rights of the exporting role nor learns
/// what else that role exports.
fn function(
    policy: &Policy,
    measure: &MeasureFunction,
    source: &Source,
    family: &[Oid],
) -> Result<Measured, Error> {
    let found = measure
        .find(policy.relation)?
        .map_err(|problem| policy.unusable(problem))?;
    if sandbox::has_open_cursors()? {
        return Err(policy.unusable(format!(
            "{} is not called while the session has open cursors, which it could read",
            measure.name()
        )));
    }
    check_relations_seen(policy, measure, &found, source)?;
    let seen = columns_seen(policy, measure, &found, source, family)?;
    let columns: Vec<String> = seen
        .iter()
        .map(|column| format!("{} AS {}", column.sql, quote_identifier(&column.name)))
        .collect();
    let query = format!(
        "SELECT {} FROM {}",
        columns.join(", "),
        source.from(&seen, Vec::new())
    );
    let rows = rows_of(source)?;
    let (visible, measured) = match &source.place {
        Place::Relation(_) => (None, policy.own_tables()),
        Place::Spool { .. } => (
            Some(seen.iter().map(|column| column.number).collect()),
            Vec::new(),
        ),
    };
    let value = spool::show_only(visible, || {
        rights::while_measuring(measured, || found.call(&query))
    })?;
    match value {
        None if rows > 0 => Err(Error::NothingMeasured {
            measure: measure.name().into(),
            policy: policy.number,
        }),
        value => Ok(Measured {
            value: value.filter(|_| rows > 0),
            rows,
            unsafe_rows: None,
        }),
    }
}

/// Checks that the function may learn which rows leave. That may depend on all relations that the query
/// reads. So the role that the function runs as must have the rights of their owners, and a relation of
/// another owner must not be protected itself.
fn check_relations_seen(
    policy: &Policy,
    measure: &MeasureFunction,
    found: &Found,
    source: &Source,
) -> Result<(), Error> {
    let owner = catalog::owner_of(policy.relation);
    let protected = policy::all()?;
    let is_others = |relation: &Oid| {
        let other = catalog::owner_of(*relation);
        let may_be_seen =
            |other: Oid| holds_nothing(*relation) || rights::has_rights_of(found.runs_as, other);
        other != owner && (!other.is_some_and(may_be_seen) || !protected.of([*relation]).is_empty())
    };
    let mut relations = source.relations.iter().flat_map(|&relation| with_heirs(relation));
    match relations.find(is_others) {
        None => Ok(()),
        Some(other) => Err(policy.unusable(format!(
            "function {} must not learn which rows {} has, because that relation has another owner",
            measure.name(),
            catalog::name_of(other)
        ))),
    }
}

/// Returns the columns that a function sees: those that count and are made of columns of the policy's
/// relation. Returns an error if one of them is also made of something else.
fn columns_seen<'a>(
    policy: &Policy,
    measure: &MeasureFunction,
    found: &Found,
    source: &'a Source,
    family: &[Oid],
) -> Result<Vec<&'a Column>, Error> {
    let is_own = |origin: &Origin| family.contains(&origin.relation);
    // If the policy is on a view, a column is also made of columns of the relations under the view. These may
    // be seen if they have the view's owner.
    let owner = catalog::owner_of(policy.relation).filter(|_| catalog::is_view(policy.relation));
    let may_be_seen = |origin: &Origin| {
        is_own(origin)
            || holds_nothing(origin.relation)
            || owner.is_some() && catalog::owner_of(origin.relation) == owner
    };
    // The function sees neither hidden columns nor columns that are made of other relations only.
    let is_hidden = |column: &&Column| match source.place {
        Place::Relation(_) => false,
        Place::Spool { outputs, .. } => column.number >= outputs,
    };
    let counting = source.counting(policy, family);
    let seen = counting
        .into_iter()
        .filter(|column| !is_hidden(column) && column.origins.iter().any(is_own));
    let seen: Vec<&Column> = seen.collect();
    for column in &seen {
        let name = &column.name;
        if !column.origins.iter().all(may_be_seen) {
            return Err(policy.unusable(format!(
                "column \"{name}\" is not made only of columns of the relation, so {} must not see it",
                measure.name()
            )));
        }
        if !found.trusts_type(column.type_oid) {
            return Err(policy.unusable(format!(
                "column \"{name}\" has a type of another role, whose casts {} would run",
                measure.name()
            )));
        }
    }
    Ok(seen)
}

/// Returns whether a relation stores no rows itself because it is a view.
fn holds_nothing(relation: Oid) -> bool {
    // SAFETY: accepts any OID, and returns 0 if there is no such relation.
    unsafe { pg_sys::get_rel_relkind(relation) as u8 == pg_sys::RELKIND_VIEW }
}

/// Returns the result of a measure unchanged, and logs a refusal if the policy cannot be judged.
pub fn or_refused(kind: &str, policy: &Policy, measured: Result<Measured, Error>) -> Result<Measured, Error> {
    if let Err(Error::UnusablePolicy { .. }) = measured {
        record(kind, policy, None, Outcome::Refused, Lasting::Always)?;
    }
    measured
}

/// Returns a number as an SQL literal, which is valid for NaN and infinity, too.
pub fn number(value: f64) -> String {
    format!("'{value}'::float8")
}

/// Returns what was measured for a policy, as a text for the owner of its relation.
pub fn described(policy: &Policy, measured: Measured) -> String {
    let value = measured.value.map_or("unknown".into(), |value| value.to_string());
    let found = match measured.unsafe_rows {
        Some(unsafe_rows) => {
            let are = if unsafe_rows == 1 { "is" } else { "are" };
            format!("; {unsafe_rows} of {} rows {are} unsafe", measured.rows)
        }
        None => format!("; measured on {} rows", measured.rows),
    };
    format!("{} is {value}, {}{found}", policy.measure, policy.limit.rule())
}

/// Returns the error, or warning, for rows that break a policy.
pub fn refusal(policy: &Policy, measured: Measured, change: Change) -> Error {
    Error::Unsafe {
        relation: policy.relation_name(),
        policy: policy.number,
        measure: policy.measure.to_string(),
        limit: policy.limit.rule(),
        measured: measured.value,
        rows: measured.rows,
        unsafe_rows: measured.unsafe_rows,
        change,
    }
}

/// What the log says of a statement besides its outcome.
#[derive(Default)]
pub struct Remarks<'a> {
    /// Columns that counted, with their labels; empty if there are none.
    pub counted: &'a str,
    /// For the owner of the relation: what was measured, or the error of the query.
    pub reason: Option<&'a str>,
    /// Text of the whole statement.
    pub query: Option<&'a str>,
}

/// Logs the outcome of a statement under a policy.
pub fn record(
    kind: &str,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    lasting: Lasting,
) -> Result<(), Error> {
    record_with(kind, policy, measured, outcome, lasting, Remarks::default())
}

/// Logs the outcome of a statement under a policy, with remarks.
pub fn record_with(
    kind: &str,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    lasting: Lasting,
    remarks: Remarks,
) -> Result<(), Error> {
    let entry = log::Entry {
        kind,
        relation: policy.relation,
        policy: Some(policy.number),
        measure: &policy.measure.to_string(),
        limit: &policy.limit.to_string(),
        measured: measured.and_then(|measured| measured.value),
        rows: measured.map(|measured| measured.rows),
        unsafe_rows: measured.and_then(|measured| measured.unsafe_rows),
        outcome,
        counted: remarks.counted,
        reason: remarks.reason,
        details: policy.details,
        query: remarks.query,
    };
    log::write(&entry, lasting)
}
