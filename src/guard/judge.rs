//! Measures rows for a policy: rows that a query returned and [`spool`] collected, or the rows of an export
//! table.
//!
//! Each measure is a query that calls the extension's own SQL functions on a FROM item, which is either the
//! table or `disclosure_internal.leaving`. Labels decide which columns count and with which weights; a column
//! of a query has the labels of the stored columns that it is made of. If a query may return a stored row
//! more than once, `k_anonymity` counts distinct stored values instead of rows, and `privacy_score` also
//! scores each part of the result by itself. Functions that users wrote are called by `function`.

use crate::encode::dictionary::equal_is_identical;
use crate::error::{Error, Way};
use crate::guard::copy::spool;
use crate::guard::lineage::{Lineage, Origin, OutputColumn};
use crate::guard::log::{Lasting, Outcome};
use crate::guard::measure_function::{Found, MeasureFunction};
use crate::guard::policy::Policy;
use crate::guard::rule::{Limit, Measure, Statistic};
use crate::guard::{log, policy, rights, sandbox};
use crate::input::relation::Relation;
use crate::label::labels_of;
use crate::pg::catalog;
use crate::pg::catalog::with_heirs;
use crate::pg::query::{Answer, Parameters};
use crate::pg::types::ColumnType;
use disclosure::{Label, Weights};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};

/// Rows to be judged.
pub struct Source {
    place: Place,
    columns: Vec<Column>,
    /// Whether each row of a stored relation occurs at most once.
    rows_once: bool,
    /// Relations that the query reads.
    relations: Vec<Oid>,
    /// Whether the query calls functions that do not come with Postgres, which may read anything.
    calls_functions: bool,
}

/// Location of the rows of a [`Source`].
enum Place {
    /// Relation with this quoted schema and name.
    Relation(String),
    /// Collected rows, which `disclosure_internal.leaving` returns.
    Spool,
}

/// Column of a [`Source`].
pub struct Column {
    /// Index among the columns of the source, from 0.
    number: usize,
    /// Quoted name in the source.
    pub sql: String,
    /// Lineage of the column.
    pub made: OutputColumn,
    /// Whether a value may combine a known attribute with another one that is dangerous to disclose.
    combined: bool,
    /// Weights of the column; `None` if it is ignored by all measures.
    pub weights: Option<Weights>,
}

/// Result of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Measured value; `None` if there are no rows. An empty table is safe.
    pub value: Option<f64>,
    pub rows: i64,
    /// Number of rows that break the policy by themselves; `None` if the measure has no value for single
    /// rows.
    pub unsafe_rows: Option<i64>,
}

impl Source {
    /// Returns the source for the collected rows of a query. They can be read only within
    /// [`spool::Spool::show`].
    pub fn of_query(lineage: Lineage, calls_functions: bool) -> Result<Self, Error> {
        let mut labels = Labels::default();
        let column = |(number, made): (usize, OutputColumn)| {
            Ok(Column {
                number,
                sql: spool::column_name(number),
                combined: made.plain.is_none() && labels.combines(&made.origins)?,
                weights: labels.weights(match &made.origins[..] {
                    [] => &made.paired_by,
                    origins => origins,
                })?,
                made,
            })
        };
        let columns = lineage.columns.into_iter().enumerate().map(column);
        Ok(Source {
            columns: columns.collect::<Result<_, Error>>()?,
            place: Place::Spool,
            rows_once: lineage.rows_once,
            relations: lineage.relations,
            calls_functions,
        })
    }

    /// Returns the source for all rows of a relation.
    pub fn of_relation(oid: Oid) -> Result<Self, Error> {
        let relation = Relation::whole("relation", Some(oid))?;
        let mut labels = Labels::default();
        let column = |(number, column): (usize, &ColumnType)| {
            let made = OutputColumn::stored(oid, column);
            Ok(Column {
                number,
                sql: quote_identifier(&column.name),
                combined: false,
                weights: labels.weights(&made.origins)?,
                made,
            })
        };
        let columns = relation.columns().iter().enumerate().map(column);
        Ok(Source {
            columns: columns.collect::<Result<_, Error>>()?,
            place: Place::Relation(relation.name().into()),
            rows_once: true,
            relations: vec![oid],
            calls_functions: false,
        })
    }

    /// Returns the columns that count for a policy's measure. `family` contains the relations that share the
    /// policy's columns.
    pub fn counting(&self, policy: &Policy, family: &[Oid]) -> Vec<&Column> {
        let only_quasi = policy.measure == Measure::KAnonymity && policy.columns.is_none();
        let counts =
            |column: &&Column| column.counts_for(policy, family) && (!only_quasi || column.is_quasi());
        self.columns.iter().filter(counts).collect()
    }

    /// Returns the FROM item for a query that reads only these columns.
    fn from(&self, columns: &[&Column]) -> String {
        match &self.place {
            Place::Relation(name) => name.clone(),
            Place::Spool => {
                let asked = columns.iter().map(|column| (column.number, &column.made));
                spool::from_item(&asked.collect::<Vec<_>>())
            }
        }
    }
}

impl Column {
    /// Returns whether the column counts for a policy. `family` contains the relations that share the
    /// policy's columns.
    fn counts_for(&self, policy: &Policy, family: &[Oid]) -> bool {
        let is_meant = |origin: &Origin| match &policy.columns {
            Some(columns) => family.contains(&origin.relation) && columns.contains(&origin.column),
            None => true,
        };
        let made = &self.made;
        made.unknown || made.origins.iter().chain(&made.paired_by).any(is_meant)
    }

    /// Returns the SQL expression by which values are compared. A value that a query computed is compared by
    /// its text, see [`sent`].
    fn compared(&self) -> String {
        let sql = &self.sql;
        match self.made.plain {
            Some(_) => sql.clone(),
            None => format!("CASE WHEN num_nonnulls({sql}) > 0 THEN ROW({sql})::text END"),
        }
    }

    /// Returns whether an adversary may know the values beforehand.
    fn is_quasi(&self) -> bool {
        self.weights.is_some_and(|weights| weights.likelihood > 0.0)
    }
}

/// Cache of labels, so that they are looked up once per relation.
#[derive(Default)]
struct Labels(HashMap<Oid, HashMap<String, Label>>);

impl Labels {
    /// Returns the label of a column. If it has none, returns that of a column of the same name in the
    /// relation's family.
    fn of(&mut self, origin: &Origin) -> Result<Option<Label>, Error> {
        let labels = match self.0.entry(origin.relation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(rights::as_guard(|| {
                let mut labels = HashMap::new();
                for relation in policy::family_of(&[origin.relation])? {
                    labels.extend(labels_of(relation)?);
                }
                labels.extend(labels_of(origin.relation)?);
                Ok(labels)
            })?),
        };
        Ok(labels.get(&origin.column).copied())
    }

    /// Returns whether an adversary who knows one of `origins` may learn another one from a value that is
    /// made of all of them.
    fn combines(&mut self, origins: &[Origin]) -> Result<bool, Error> {
        let stored = origins.iter().filter(|origin| !catalog::is_view(origin.relation));
        let weights = stored
            .map(|origin| self.weights(std::slice::from_ref(origin)))
            .collect::<Result<Vec<_>, Error>>()?;
        let weights: Vec<Weights> = weights.into_iter().flatten().collect();
        let tells = |(place, known): (usize, &Weights)| {
            let mut others = weights.iter().enumerate().filter(|(other, _)| *other != place);
            known.likelihood > 0.0 && others.any(|(_, learnt)| learnt.danger > 0.0)
        };
        Ok(weights.iter().enumerate().any(tells))
    }

    /// Returns the weights of a column that is made of `origins`: the maximum likelihood and the maximum
    /// danger of all, or `None` if all are labelled `ignore`. In an export an identifier counts as a
    /// quasi-identifier, because an adversary who knows it knows whose row it is.
    fn weights(&mut self, origins: &[Origin]) -> Result<Option<Weights>, Error> {
        let mut worst: Option<Weights> = None;
        let mut is_ignored = false;
        for origin in origins {
            let weights = match self.of(origin)? {
                Some(Label::Ignore) => {
                    is_ignored = true;
                    continue;
                }
                Some(label) if label.is_identifier() => Label::Quasi.weights(),
                Some(label) => label.weights(),
                // The columns that a view's column is made of are among the origins, too.
                None if catalog::is_view(origin.relation) => continue,
                None => Some(Weights::UNLABELLED),
            };
            let so_far = worst.get_or_insert(Weights {
                likelihood: 0.0,
                danger: 0.0,
            });
            if let Some(weights) = weights {
                so_far.likelihood = so_far.likelihood.max(weights.likelihood);
                so_far.danger = so_far.danger.max(weights.danger);
            }
        }
        Ok(worst.or((!is_ignored).then_some(Weights::UNLABELLED)))
    }
}

/// Measures the source for a policy and returns the result.
pub fn measure(policy: &Policy, source: &Source) -> Result<Measured, Error> {
    let family = policy::family_of(&[policy.relation])?;
    let counting = source.counting(policy, &family);
    rights::under_own_settings(|| match &policy.measure {
        Measure::KAnonymity if source.rows_once => k_anonymity(policy, source, &counting),
        Measure::KAnonymity => ask(&class_sizes_at_least(policy, source, &counting, &family)),
        Measure::PrivacyScore(statistic) => privacy_score(policy, *statistic, source, &counting),
        Measure::ExpectedCracks => ask(&cracks(source, &counting)),
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

fn list(columns: &[&Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.sql.as_str()).collect();
    names.join(", ")
}

/// Measures k with the aggregate, which is much faster than the window function. Only if the policy is
/// broken, the window function counts the unsafe rows.
fn k_anonymity(policy: &Policy, source: &Source, quasi: &[&Column]) -> Result<Measured, Error> {
    let measured = ask(&smallest_class(source, quasi))?;
    match measured.is_allowed(policy.limit) {
        true => Ok(Measured {
            unsafe_rows: Some(0),
            ..measured
        }),
        false => ask(&class_sizes(policy, source, quasi)),
    }
}

fn smallest_class(source: &Source, quasi: &[&Column]) -> String {
    let size = match alike(source, quasi) {
        Alike::All => "nullif(count(*), 0)".to_string(),
        Alike::None => "min(1)".into(),
        Alike::By(compared) => format!("disclosure.k_anonymity({compared})"),
    };
    format!(
        "SELECT {size}::float8, count(*), NULL::int8 FROM {}",
        source.from(quasi)
    )
}

fn class_sizes(policy: &Policy, source: &Source, quasi: &[&Column]) -> String {
    let size = match alike(source, quasi) {
        Alike::All => "count(*) OVER ()".to_string(),
        Alike::None => "1".into(),
        Alike::By(compared) => format!("disclosure.class_size({compared}) OVER ()"),
    };
    format!(
        "SELECT min(size)::float8, count(*), count(*) FILTER (WHERE size < {limit}) \
           FROM (SELECT {size} AS size FROM {from}) AS sized",
        limit = number(policy.limit.value()),
        from = source.from(quasi),
    )
}

/// Definition of the equivalence classes of rows.
enum Alike {
    /// All rows are in one class, because no column is known.
    All,
    /// Each row is a class of its own, because a window function may have put values of other rows into it.
    None,
    /// Rows that agree on these SQL expressions are in one class.
    By(String),
}

fn alike(source: &Source, quasi: &[&Column]) -> Alike {
    match (quasi, &source.place) {
        ([], _) => Alike::All,
        _ if quasi.iter().any(|column| column.made.windowed) => Alike::None,
        // By the types' equality, because rows that a statement inserts are compared in this way, too.
        (_, Place::Relation(_)) => Alike::By(list(quasi)),
        (_, Place::Spool) => Alike::By(sent_quickly(quasi)),
    }
}

/// Returns expressions that distinguish the same rows as [`sent`], but faster: a column is compared by its
/// type's equality if values that are equal are always sent alike.
fn sent_quickly(columns: &[&Column]) -> String {
    let is_exact = |column: &&Column| {
        let oid = column.made.type_oid;
        equal_is_identical(&ColumnType {
            name: String::new(),
            oid,
            // `disclosure_internal.leaving` returns columns with the default collation of their type.
            // SAFETY: accepts any OID, and returns InvalidOid if there is no such type.
            collation: unsafe { pg_sys::get_typcollation(oid) },
        })
    };
    let (exact, others): (Vec<&Column>, Vec<&Column>) = columns.iter().copied().partition(is_exact);
    match (&exact[..], &others[..]) {
        (_, []) => list(&exact),
        ([], _) => sent(&others),
        _ => format!("{}, {}", list(&exact), sent(&others)),
    }
}

/// Returns an expression for the text of these columns. Values that are equal by their type may be sent
/// differently: 1.0 and 1.00, or character(n) with more and fewer blanks. Users cannot replace the cast of an
/// anonymous row to text by one of their own.
fn sent(columns: &[&Column]) -> String {
    format!("ROW({})::text", list(columns))
}

/// Returns a query for lower bounds of the class sizes, for queries that may return a stored row more than
/// once. Rows of the result cannot be counted then. But results that differ in columns that are output as
/// stored come from different stored rows, so the number of distinct values is a lower bound. Only columns of
/// the FROM items that the quasi-identifiers come from are counted: in FROM patients p, patients q, each row
/// of p is combined with all rows of q.
fn class_sizes_at_least(policy: &Policy, source: &Source, quasi: &[&Column], family: &[Oid]) -> String {
    let is_stored = |column: &&Column| {
        column.made.stored_in.is_some()
            && column
                .made
                .plain
                .as_ref()
                .is_some_and(|origin| family.contains(&origin.relation))
    };
    let stored: Vec<&Column> = source.columns.iter().filter(is_stored).collect();
    let paths_of_quasi: BTreeSet<u64> = quasi
        .iter()
        .flat_map(|column| &column.made.places)
        .filter(|place| family.contains(&place.relation()))
        .map(|place| place.path)
        .collect();
    let sizes = |paths: BTreeSet<u64>| -> Vec<String> {
        let size = |path| {
            let here = stored.iter().filter(|column| column.made.stored_in == Some(path));
            format!("count(DISTINCT {})", sent(&here.copied().collect::<Vec<_>>()))
        };
        paths.into_iter().map(size).collect()
    };
    let size = if quasi
        .iter()
        .any(|column| column.made.windowed || column.made.unknown)
    {
        "1".to_string()
    } else if paths_of_quasi.is_empty() {
        let paths = stored.iter().filter_map(|column| column.made.stored_in).collect();
        format!(
            "greatest({})",
            [vec!["1".into()], sizes(paths)].concat().join(", ")
        )
    } else {
        format!("least({})", sizes(paths_of_quasi).join(", "))
    };
    let others = stored
        .iter()
        .filter(|column| !quasi.iter().any(|other| other.number == column.number));
    let asked: Vec<&Column> = quasi.iter().chain(others).copied().collect();
    format!(
        "SELECT min(size)::float8, sum(rows)::int8, coalesce(sum(rows) FILTER (WHERE size < {limit}), 0)::int8 \
           FROM (SELECT {size} AS size, count(*) AS rows FROM {from} GROUP BY {quasi}) AS sized",
        limit = number(policy.limit.value()),
        quasi = sent(quasi),
        from = source.from(&asked),
    )
}

/// Measures the privacy score. A value that all rows share scores nothing, because it tells nothing about
/// anybody. But a join may make rows share values, and so may a window function. So if the query may return a
/// stored row more than once, the columns that come from each FROM item are also scored by themselves, with
/// duplicates removed; and so is each column that a window function computed. The highest score counts.
fn privacy_score(
    policy: &Policy,
    statistic: Statistic,
    source: &Source,
    counting: &[&Column],
) -> Result<Measured, Error> {
    let taking_part = counting.iter().copied().filter(|column| column.weights.is_some());
    let taking_part: Vec<&Column> = taking_part.collect();
    let mut measured = ask(&scores(policy, statistic, &score_of_rows(source, counting, "")))?;
    let mut parts: BTreeSet<Vec<usize>> = BTreeSet::new();
    let numbers = |is_part: &dyn Fn(&Column) -> bool| {
        let part = taking_part.iter().filter(|column| is_part(column));
        part.map(|column| column.number).collect::<Vec<usize>>()
    };
    if !source.rows_once {
        let paths: BTreeSet<u64> = taking_part
            .iter()
            .flat_map(|column| &column.made.places)
            .map(|place| place.path)
            .collect();
        for path in paths {
            parts.insert(numbers(&|column| {
                column.made.places.iter().any(|place| place.path == path)
            }));
        }
    }
    for windowed in taking_part.iter().filter(|column| column.made.windowed) {
        parts.insert(vec![windowed.number]);
    }
    for part in parts {
        let part: Vec<&Column> = taking_part
            .iter()
            .copied()
            .filter(|column| part.contains(&column.number))
            .collect();
        let different = format!("DISTINCT ON ({})", sent(&part));
        let of_part = ask(&scores(
            policy,
            statistic,
            &score_of_rows(source, &part, &different),
        ))?;
        if of_part.value > measured.value {
            measured = Measured {
                rows: measured.rows,
                ..of_part
            };
        }
    }
    Ok(measured)
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

/// Returns a query for the scores of the source's rows. `which` is inserted after SELECT.
fn score_of_rows(source: &Source, counting: &[&Column], which: &str) -> String {
    let (weighted, weights) = weighted(counting);
    match weighted.is_empty() {
        true => format!("SELECT 0::float8 AS score FROM {}", source.from(&[])),
        false => format!(
            "SELECT disclosure.privacy_score(\"row\", labels => '{weights}'::jsonb) OVER () AS score \
               FROM (SELECT {which} {columns} FROM {from}) AS \"row\"",
            columns = weighted.join(", "),
            from = source.from(counting),
        ),
    }
}

/// Returns the entries of a SELECT list for the columns that take part in a score, and their weights as JSON.
/// The columns are named by position (c0, c1, …), because the names in the result of a query need not be
/// unique.
pub fn weighted(counting: &[&Column]) -> (Vec<String>, Value) {
    let taking_part = counting
        .iter()
        .filter_map(|column| Some((column, column.weights?)));
    let mut columns = Vec::new();
    let mut weights = serde_json::Map::new();
    let mut add = |column: &Column, of_column: Weights| {
        let place = columns.len();
        columns.push(format!("{} AS c{place}", column.compared()));
        weights.insert(format!("c{place}"), as_json(of_column));
    };
    for (column, of_column) in taking_part {
        if column.combined {
            // Twice: as a known column and as a dangerous one, because one part of the value tells the
            // others.
            add(
                column,
                Weights {
                    danger: 0.0,
                    ..of_column
                },
            );
            add(
                column,
                Weights {
                    likelihood: 0.0,
                    ..of_column
                },
            );
        } else {
            add(column, of_column);
        }
    }
    (columns, Value::Object(weights))
}

/// Returns weights in the form that the argument `labels` of `disclosure.privacy_score` expects.
pub fn as_json(weights: Weights) -> Value {
    json!({"likelihood": weights.likelihood, "danger": weights.danger})
}

/// Returns a query for the highest number of expected cracks of a column of items, which is 0 if there is no
/// such column.
fn cracks(source: &Source, counting: &[&Column]) -> String {
    let upper: Vec<String> = counting
        .iter()
        .map(|column| {
            format!(
                "(SELECT upper FROM disclosure.crack_report_of((SELECT disclosure.count_items({}) FROM {})))",
                column.sql,
                source.from(&[column])
            )
        })
        .collect();
    let value = match &upper[..] {
        [] => "0::float8".into(),
        upper => format!("greatest({})", upper.join(", ")),
    };
    format!("SELECT {value}, count(*), NULL::int8 FROM {}", source.from(&[]))
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
        .map(|column| format!("{} AS {}", column.sql, quote_identifier(&column.made.name)))
        .collect();
    let query = format!("SELECT {} FROM {}", columns.join(", "), source.from(&seen));
    let rows = ask(&format!(
        "SELECT NULL::float8, count(*), NULL::int8 FROM {}",
        source.from(&[])
    ))?
    .rows;
    let (visible, measured) = match &source.place {
        Place::Relation(_) => (None, policy.own_tables()),
        Place::Spool => (
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
    if source.calls_functions {
        return Err(policy.unusable(format!(
            "the query calls functions that do not come with Postgres, and {} must not see what they read",
            measure.name()
        )));
    }
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
    // The function does not see columns that are made of other relations only.
    let counting = source.counting(policy, family);
    let seen = counting
        .into_iter()
        .filter(|column| column.made.unknown || column.made.origins.iter().any(is_own));
    let seen: Vec<&Column> = seen.collect();
    for column in &seen {
        let name = &column.made.name;
        if column.made.unknown || !column.made.origins.iter().all(may_be_seen) {
            return Err(policy.unusable(format!(
                "column \"{name}\" is not made only of columns of the relation, so {} must not see it",
                measure.name()
            )));
        }
        if !found.trusts_type(column.made.type_oid) {
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

/// Returns the error, or warning, for rows that break a policy.
pub fn refusal(policy: &Policy, measured: Measured, way: Way) -> Error {
    Error::Unsafe {
        relation: policy.relation_name(),
        policy: policy.number,
        measure: policy.measure.to_string(),
        limit: policy.limit.rule(),
        measured: measured.value,
        rows: measured.rows,
        unsafe_rows: measured.unsafe_rows,
        way,
    }
}

/// Logs the outcome of a statement under a policy.
pub fn record(
    kind: &str,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    lasting: Lasting,
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
        counted: "",
        reason: None,
        details: policy.details,
        query: None,
    };
    log::write(&entry, lasting)
}

impl Measured {
    pub fn is_allowed(&self, limit: Limit) -> bool {
        self.value.is_none_or(|value| limit.allows(value))
    }
}
