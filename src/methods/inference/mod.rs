//! The privacy score: `privacy_score`, `privacy_inference`, `privacy_summary`, `inferences`, and chapter 6:
//! `holes`, `decoys`, `remedies`.

mod attributes;
pub mod bins;
pub mod column_settings;
pub mod new_row;

use crate::args::{budget_of, json, warn_once};
use crate::encode::Encoded;
use crate::encode::dictionary::Dictionary;
use crate::error::Problem;
use crate::input::relation::Relation;
use crate::input::window::WindowCall;
use crate::methods::classes::counted::{Counted, CountedRows};
use crate::methods::inference::attributes::Attributes;
use crate::methods::inference::column_settings::{ColumnSettings, column_settings};
use crate::methods::inference::new_row::RowLookup;
use crate::pg::json::{Json, JsonText};
use crate::pg::types::ColumnType;
use crate::run;
use disclosure::Control;
use disclosure::classes::Classes;
use disclosure::inference::{
    self, Attribute, Decoy, Explanations, Hole, Holes, Inference, Meaning, PackedTable, Remedies, RowScore,
    RuleSettings, Rules, Scores, Settings, Suppression, explain, rules, score_row, scores,
};
use pgrx::datum::Interval;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use pgrx::{AllocatedByRust, Array, PgTupleDesc};
use serde_json::{Value, json};
use std::ffi::CStr;

/// What a caller may set in every call of the family.
struct Options {
    weights: Option<Value>,
    settings: Settings,
}

impl Options {
    fn new(
        weights: Option<JsonText>,
        min_confidence: Option<f64>,
        constant: Option<f64>,
        budget: Option<Interval>,
    ) -> Result<Self, Problem> {
        let given = |argument, value: Option<f64>| {
            value.ok_or(Problem::null(argument, "Leave it out for the default, 1."))
        };
        Ok(Options {
            weights: json("weights", weights)?,
            settings: Settings {
                constant: given("constant", constant)?,
                min_confidence: given("min_confidence", min_confidence)?,
                budget: budget_of(budget)?,
                ..Settings::default()
            },
        })
    }

    /// The arguments of the window functions after the row.
    fn of_call(call: &WindowCall) -> Result<Self, Problem> {
        // SAFETY: the types are those of the declarations in sql/.
        unsafe {
            let weights = call
                .argument(1)
                .and_then(|value| JsonText::from_datum(value, false));
            let min_confidence = call.argument(2).and_then(|value| f64::from_datum(value, false));
            let constant = call.argument(3).and_then(|value| f64::from_datum(value, false));
            let budget = call
                .argument(4)
                .and_then(|value| Interval::from_datum(value, false));
            Options::new(weights, min_confidence, constant, budget)
        }
    }
}

/// A table as attributes, in distinct rows.
struct Table {
    attributes: Attributes,
    population: PackedTable,
    /// The distinct row of every row of a partition; nobody asks for those of a relation.
    distinct_of_row: Vec<u32>,
}

impl Table {
    fn new(
        dictionaries: Vec<Dictionary>,
        settings: &[ColumnSettings],
        counted: Counted,
        class_of_row: Vec<u32>,
    ) -> Result<Self, Problem> {
        let classes = counted.classes();
        let attributes = Attributes::new(dictionaries, settings, |column| rows_of_codes(&classes, column))?;
        let columns = &attributes.columns; // their names stay on this thread
        let population = run::long("packing rows", |control| {
            PackedTable::new(&classes, columns, control)
        })?;
        let distinct_of_row = class_of_row
            .into_iter()
            .map(|class| population.row_of_class(class as usize) as u32);
        Ok(Table {
            distinct_of_row: distinct_of_row.collect(),
            attributes,
            population,
        })
    }

    /// The rows of a window call's partition.
    fn of_partition(call: &WindowCall, options: &Options) -> Result<Self, Problem> {
        let mut types = call.argument_types();
        types.truncate(1);
        let relation = types[0].relation();
        let Encoded { dictionaries, sink } = call.read(types, CountedRows::default())?;
        let columns: Vec<ColumnType> = dictionaries
            .iter()
            .map(|dictionary| dictionary.column().clone())
            .collect();
        let settings = column_settings(&columns, relation, options.weights.as_ref())?;
        Table::new(dictionaries, &settings, sink.counted, sink.class_of_row)
    }

    /// The rows of a relation. Columns that take no part are not even read.
    fn of_relation(
        oid: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        options: &Options,
    ) -> Result<Self, Problem> {
        let mut relation = Relation::new(oid, columns)?;
        let mut settings = column_settings(relation.columns(), oid, options.weights.as_ref())?;
        let taking_part = |(column, settings): (&ColumnType, &ColumnSettings)| {
            settings.weights.is_some().then(|| Some(column.name.clone()))
        };
        let names: Vec<Option<String>> = relation
            .columns()
            .iter()
            .zip(&settings)
            .filter_map(taking_part)
            .collect();
        if !names.is_empty() {
            settings.retain(|column| column.weights.is_some());
            relation = Relation::new(oid, Some(names))?;
        }
        let Encoded { dictionaries, sink } = relation.read(Counted::default())?;
        Table::new(dictionaries, &settings, sink, Vec::new())
    }

    fn scores(&self, options: &Options) -> Result<Scores, Problem> {
        let population = &self.population;
        let found = run::long("scoring rows", |control| {
            scores(population, &options.settings, control)
        })?;
        if !found.exact() {
            warn_once(UNFINISHED);
        }
        Ok(found)
    }

    fn explain(&self, options: &Options, scores: &Scores) -> Result<Explanations, Problem> {
        let population = &self.population;
        let rows: Vec<usize> = (0..population.len()).collect();
        run::long("explaining scores", |control| {
            explain(population, &options.settings, scores, &rows, control)
        })
    }

    /// A row with these attributes, as jsonb_populate_record takes it.
    fn row(&self, attributes: &[Attribute]) -> Json {
        let mut row = serde_json::Map::new();
        for &attribute in attributes {
            let value = self.attributes.json(attribute);
            let name = self.attributes.column_name(attribute.column);
            match &self.attributes.columns[attribute.column as usize].meaning {
                Meaning::One(_) => {
                    row.insert(name.into(), value);
                }
                Meaning::Set(_) => {
                    let elements = row.entry(name).or_insert_with(|| json!([]));
                    elements
                        .as_array_mut()
                        .into_iter()
                        .for_each(|elements| elements.push(value.clone()));
                }
            }
        }
        Json(row.into())
    }

    fn texts(&self, attributes: impl IntoIterator<Item = Attribute>) -> Vec<String> {
        attributes
            .into_iter()
            .map(|attribute| self.attributes.text(attribute))
            .collect()
    }
}

/// How many rows hold each value of a column, codes in order from 1.
fn rows_of_codes(classes: &Classes, column: usize) -> Vec<u64> {
    let mut rows = Vec::new();
    for (class, &size) in classes.sizes().iter().enumerate() {
        let code = classes.codes(class)[column] as usize;
        if rows.len() < code {
            rows.resize(code, 0);
        }
        if code > 0 {
            rows[code - 1] += size;
        }
    }
    rows
}

const UNFINISHED: &str = "the search was not finished within the budget: scores are upper bounds";

/// privacy_score(row record, weights jsonb, min_confidence float8, constant float8, budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_score(call: WindowCall) -> f64 {
    score_of_row(&call).unwrap_or_else(Problem::raise)
}

/// The scores of a partition's rows.
struct ScoresOfPartition {
    distinct_of_row: Vec<u32>,
    upper: Vec<f64>,
}

fn score_of_row(call: &WindowCall) -> Result<f64, Problem> {
    let partition = call.partition_state(|call| {
        let options = Options::of_call(call)?;
        let table = Table::of_partition(call, &options)?;
        Ok(ScoresOfPartition {
            upper: table.scores(&options)?.upper,
            distinct_of_row: table.distinct_of_row,
        })
    })?;
    Ok(partition.upper[partition.distinct_of_row[call.position()] as usize])
}

/// privacy_score(row record, relation regclass, weights jsonb, constant float8, budget interval)
#[pg_extern(sql = false)]
fn privacy_score_in(fcinfo: FunctionCallInfo) -> Option<f64> {
    // SAFETY: the types are those of the declaration in sql/.
    unsafe {
        let row = pgrx::fcinfo::pg_getarg_datum(fcinfo, 0)?;
        let relation = pgrx::fcinfo::pg_getarg(fcinfo, 1);
        let weights = pgrx::fcinfo::pg_getarg(fcinfo, 2);
        let constant = pgrx::fcinfo::pg_getarg(fcinfo, 3);
        let budget = pgrx::fcinfo::pg_getarg(fcinfo, 4);
        let score = Options::new(weights, Some(1.0), constant, budget)
            .and_then(|options| score_of_new_row(row, relation, &options));
        Some(score.unwrap_or_else(Problem::raise))
    }
}

/// # Safety
/// A valid composite Datum.
unsafe fn score_of_new_row(
    row: pg_sys::Datum,
    relation: Option<pg_sys::Oid>,
    options: &Options,
) -> Result<f64, Problem> {
    let mut lookup = RowLookup::new(row, relation, options.weights.as_ref())?;
    let RowScore { lower, upper, .. } =
        score_row(&lookup.weights(), &options.settings, &mut lookup, &Control::new())?;
    if let Some(problem) = lookup.problem() {
        return Err(problem);
    }
    if upper > lower {
        warn_once(UNFINISHED);
    }
    Ok(upper)
}

/// privacy_inference(row record, weights jsonb, min_confidence float8, constant float8, budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_inference(call: WindowCall) -> Json {
    inference_of_row(&call).unwrap_or_else(Problem::raise)
}

/// The worst inferences about a partition's rows.
struct InferencesOfPartition {
    table: Table,
    scores: Scores,
    inferences: Explanations,
}

impl InferencesOfPartition {
    fn of_call(call: &WindowCall) -> Result<&Self, Problem> {
        call.partition_state(|call| {
            let options = Options::of_call(call)?;
            let table = Table::of_partition(call, &options)?;
            let scores = table.scores(&options)?;
            let inferences = table.explain(&options, &scores)?;
            Ok(InferencesOfPartition {
                table,
                scores,
                inferences,
            })
        })
    }

    /// What has to be known, and what follows.
    fn texts(&self, inference: &Inference) -> (Vec<String>, Vec<String>) {
        let inferred = inference.inferred.iter().map(|inferred| inferred.attribute);
        (
            self.table.texts(inference.known.iter().copied()),
            self.table.texts(inferred),
        )
    }
}

fn inference_of_row(call: &WindowCall) -> Result<Json, Problem> {
    let partition = InferencesOfPartition::of_call(call)?;
    let row = partition.table.distinct_of_row[call.position()] as usize;
    let inference = partition.inferences.of(row);
    let (known, inferred) = partition.texts(inference);
    let mut told = json!({
        "score": partition.scores.lower[row],
        "inference": in_symbols(&known, &inferred),
        "known": known,
        "inferred": inferred,
        "likelihood": inference.likelihood,
        "danger": inference.danger,
        "support": inference.support,
    });
    if let Some(confidence) = least_confidence(inference).filter(|&confidence| confidence < 1.0) {
        told["confidence"] = confidence.into();
    }
    if partition.scores.upper[row] > partition.scores.lower[row] {
        told["upper"] = partition.scores.upper[row].into();
    }
    Ok(Json(told))
}

/// `zip=90210 & sex=f ⇒ diagnosis=hiv`; what everybody shares follows from nothing, `⇒ country=fr`.
fn in_symbols(known: &[String], inferred: &[String]) -> Option<String> {
    (!inferred.is_empty()).then(|| {
        let sentence = format!("{} ⇒ {}", known.join(" & "), inferred.join(" & "));
        sentence.trim_start().into()
    })
}

/// privacy_risk(row record, weights jsonb, min_confidence float8, constant float8, budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_risk(fcinfo: FunctionCallInfo) -> pgrx::composite_type!('static, "disclosure.row_risk") {
    // SAFETY: declared WINDOW in sql/, with a composite type as its result.
    let (call, result) = unsafe {
        let function = (*(*fcinfo).flinfo).fn_oid;
        (WindowCall::new(fcinfo), pg_sys::get_func_rettype(function))
    };
    risk_of_row(&call, result).unwrap_or_else(Problem::raise)
}

fn risk_of_row(
    call: &WindowCall,
    result: pg_sys::Oid,
) -> Result<PgHeapTuple<'static, AllocatedByRust>, Problem> {
    let partition = InferencesOfPartition::of_call(call)?;
    let row = partition.table.distinct_of_row[call.position()] as usize;
    let inference = partition.inferences.of(row);
    let values = [
        partition.scores.upper[row].into_datum(),
        in_words(partition, inference).into_datum(),
    ];
    let row_type = PgTupleDesc::for_composite_type_by_oid(result).ok_or(Problem::Internal(
        "the result type is not the one that was declared",
    ))?;
    // SAFETY: float8 and text, as the type is declared in sql/.
    unsafe { PgHeapTuple::from_datums(row_type, values) }
        .map_err(|_| Problem::Internal("the result type is not the one that was declared"))
}

/// `who knows zip=90210 & sex=f learns diagnosis=hiv`, for people who do not read formulas.
fn in_words(partition: &InferencesOfPartition, inference: &Inference) -> Option<String> {
    let confidence = least_confidence(inference)?;
    let (known, inferred) = partition.texts(inference);
    let who = match &known[..] {
        [] => "everybody".into(),
        known => format!("who knows {}", known.join(" & ")),
    };
    let certainty = if confidence < 1.0 { "probably " } else { "" };
    Some(format!("{who} {certainty}learns {}", inferred.join(" & ")))
}

/// That of the least certain attribute that is inferred.
fn least_confidence(inference: &Inference) -> Option<f64> {
    let confidences = inference.inferred.iter().map(|inferred| inferred.confidence);
    confidences.min_by(f64::total_cmp)
}

type SummaryRow = (
    i64,
    Option<f64>,
    Option<f64>,
    i64,
    Option<f64>,
    bool,
    Option<f64>,
    Option<f64>,
);

/// privacy_summary(relation regclass, threshold float8, columns name[], weights jsonb, …)
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)] // they are those of the SQL function
fn privacy_summary(
    relation: Option<pg_sys::Oid>,
    threshold: Option<f64>,
    columns: Option<Array<'_, &CStr>>,
    weights: Option<JsonText>,
    min_confidence: Option<f64>,
    constant: Option<f64>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(rows, i64),
        name!(average, Option<f64>),
        name!(maximum, Option<f64>),
        name!(at_or_above, i64),
        name!(share, Option<f64>),
        name!(exact, bool),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
    ),
> {
    let options = Options::new(weights, min_confidence, constant, budget);
    let summary =
        options.and_then(|options| summary(relation, threshold, columns.map(crate::args::names), &options));
    TableIterator::once(summary.unwrap_or_else(Problem::raise))
}

fn summary(
    relation: Option<pg_sys::Oid>,
    threshold: Option<f64>,
    columns: Option<Vec<Option<String>>>,
    options: &Options,
) -> Result<SummaryRow, Problem> {
    let threshold = threshold_of(threshold)?;
    let table = Table::of_relation(relation, columns, options)?;
    let scores = table.scores(options)?;
    let rows = table.population.total();
    let sizes = || (0..table.population.len()).map(|row| table.population.multiplicity(row));
    let average = |scores: &[f64]| {
        let sum: f64 = scores
            .iter()
            .zip(sizes())
            .map(|(score, rows)| score * rows as f64)
            .sum();
        (rows > 0).then(|| sum / rows as f64)
    };
    let reaching = scores
        .upper
        .iter()
        .zip(sizes())
        .filter(|&(&score, _)| score >= threshold);
    let at_or_above: u64 = reaching.map(|(_, rows)| rows).sum();
    Ok((
        rows as i64,
        average(&scores.upper),
        scores.upper.iter().copied().max_by(f64::total_cmp),
        at_or_above as i64,
        (rows > 0).then(|| at_or_above as f64 / rows as f64),
        scores.exact(),
        average(&scores.lower),
        average(&scores.upper),
    ))
}

fn threshold_of(given: Option<f64>) -> Result<f64, Problem> {
    given
        .filter(|threshold| (0.0..=1.0).contains(threshold))
        .ok_or(Problem::argument(
            "threshold",
            "must be a number from 0 to 1",
            "It is a score: 0 is harmless, 1 as bad as it gets.",
        ))
}

/// inferences(relation regclass, min_weight float8, min_confidence float8, columns name[], …)
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)] // they are those of the SQL function
fn inferences(
    relation: Option<pg_sys::Oid>,
    min_weight: Option<f64>,
    min_confidence: Option<f64>,
    columns: Option<Array<'_, &CStr>>,
    weights: Option<JsonText>,
    constant: Option<f64>,
    most: Option<i32>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(known, Vec<String>),
        name!(inferred, Vec<String>),
        name!(support, i64),
        name!(confidence, f64),
        name!(likelihood, f64),
        name!(danger, f64),
        name!(weight, f64),
    ),
> {
    let columns = columns.map(crate::args::names);
    let rows = Options::new(weights, min_confidence, constant, budget)
        .and_then(|options| rules_of(relation, columns, min_weight, most, &options));
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type RuleRow = (Vec<String>, Vec<String>, i64, f64, f64, f64, f64);

fn rules_of(
    relation: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
    min_weight: Option<f64>,
    most: Option<i32>,
    options: &Options,
) -> Result<Vec<RuleRow>, Problem> {
    let wanted = RuleSettings {
        min_weight: min_weight.ok_or(Problem::null("min_weight", "Leave it out for the default, 0."))?,
        most: at_most(most)?,
    };
    let table = Table::of_relation(relation, columns, options)?;
    let population = &table.population;
    let Rules { rules, complete } = run::long("looking for inferences", |control| {
        rules(population, &options.settings, &wanted, control)
    })?;
    if !complete {
        warn_once("the search was not finished within the budget: there may be other inferences");
    }
    let row = |rule: &Inference| {
        (
            table.texts(rule.known.iter().copied()),
            table.texts(rule.inferred.iter().map(|inferred| inferred.attribute)),
            rule.support as i64,
            least_confidence(rule).unwrap_or(1.0),
            rule.likelihood,
            rule.danger,
            rule.weight(),
        )
    };
    Ok(rules.iter().map(row).collect())
}

/// How many answers the caller wants at most.
fn at_most(most: Option<i32>) -> Result<usize, Problem> {
    let most = most.and_then(|most| usize::try_from(most).ok());
    most.filter(|&most| most > 0).ok_or(Problem::argument(
        "most",
        "must be 1 or more",
        "It is the largest number of answers; the worst come first.",
    ))
}

/// holes(relation regclass, columns name[], max_size int, weights jsonb, constant float8, most int, …)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn holes(
    relation: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &CStr>>,
    max_size: Option<i32>,
    weights: Option<JsonText>,
    constant: Option<f64>,
    most: Option<i32>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(hole, Vec<String>),
        name!(size, i32),
        name!(weight, f64),
        name!(inference, Option<String>),
        name!(support, i64),
    ),
> {
    let columns = columns.map(crate::args::names);
    let rows = Options::new(weights, Some(1.0), constant, budget)
        .and_then(|options| holes_of(relation, columns, max_size, most, &options));
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type HoleRow = (Vec<String>, i32, f64, Option<String>, i64);

fn holes_of(
    relation: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
    max_size: Option<i32>,
    most: Option<i32>,
    options: &Options,
) -> Result<Vec<HoleRow>, Problem> {
    let most = at_most(most)?;
    // What is not a size is as wrong as a size of 0, for which the crate has the words.
    let max_size = max_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let table = Table::of_relation(relation, columns, options)?;
    let population = &table.population;
    let Holes { holes, complete } = run::long("looking for holes", |control| {
        inference::holes(population, &options.settings, max_size, most, control)
    })?;
    if !complete {
        warn_once("the search was not finished within the budget: there may be other holes");
    }
    let row = |hole: &Hole| {
        let known = table.texts(hole.worst.known.iter().copied());
        let inferred = table.texts(hole.worst.inferred.iter().map(|inferred| inferred.attribute));
        (
            table.texts(hole.attributes.iter().copied()),
            hole.attributes.len() as i32,
            hole.worst.weight(),
            in_symbols(&known, &inferred),
            hole.worst.support as i64,
        )
    };
    Ok(holes.iter().map(row).collect())
}

/// decoys(relation regclass, rows int, columns name[], weights jsonb, constant float8, budget interval)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn decoys(
    relation: Option<pg_sys::Oid>,
    rows: Option<i32>,
    columns: Option<Array<'_, &CStr>>,
    weights: Option<JsonText>,
    constant: Option<f64>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(step, i32),
        name!(decoy, Json),
        name!(average_before, f64),
        name!(average_after, f64),
        name!(maximum_before, f64),
        name!(maximum_after, f64),
        name!(exact, bool),
    ),
> {
    let columns = columns.map(crate::args::names);
    let rows = Options::new(weights, Some(1.0), constant, budget)
        .and_then(|options| decoys_for(relation, rows, columns, &options));
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type DecoyRow = (i32, Json, f64, f64, f64, f64, bool);

fn decoys_for(
    relation: Option<pg_sys::Oid>,
    rows: Option<i32>,
    columns: Option<Vec<Option<String>>>,
    options: &Options,
) -> Result<Vec<DecoyRow>, Problem> {
    let wanted = rows
        .and_then(|rows| usize::try_from(rows).ok())
        .ok_or(Problem::argument(
            "rows",
            "must be 0 or more",
            "It is how many decoy rows you would add at most.",
        ))?;
    let table = Table::of_relation(relation, columns, options)?;
    let population = &table.population;
    let decoys = run::long("looking for decoys", |control| {
        inference::decoys(population, &options.settings, wanted, control)
    })?;
    let row = |(step, decoy): (i32, &Decoy)| {
        (
            step,
            table.row(&decoy.attributes),
            decoy.before.average,
            decoy.after.average,
            decoy.before.maximum,
            decoy.after.maximum,
            decoy.before.exact && decoy.after.exact,
        )
    };
    Ok((1..).zip(&decoys).map(row).collect())
}

/// remedies(relation regclass, threshold float8, columns name[], weights jsonb, min_confidence float8, …)
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)] // they are those of the SQL function
fn remedies(
    relation: Option<pg_sys::Oid>,
    threshold: Option<f64>,
    columns: Option<Array<'_, &CStr>>,
    weights: Option<JsonText>,
    min_confidence: Option<f64>,
    constant: Option<f64>,
    most: Option<i32>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(step, i32),
        name!(row, Json),
        name!(column_name, String),
        name!(value, String),
        name!(at_or_above, i64),
        name!(maximum, f64),
        name!(average, f64),
        name!(exact, bool),
    ),
> {
    let columns = columns.map(crate::args::names);
    let rows = Options::new(weights, min_confidence, constant, budget)
        .and_then(|options| remedies_for(relation, threshold, columns, most, &options));
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type RemedyRow = (i32, Json, String, String, i64, f64, f64, bool);

fn remedies_for(
    relation: Option<pg_sys::Oid>,
    threshold: Option<f64>,
    columns: Option<Vec<Option<String>>>,
    most: Option<i32>,
    options: &Options,
) -> Result<Vec<RemedyRow>, Problem> {
    let (threshold, most) = (threshold_of(threshold)?, at_most(most)?);
    let table = Table::of_relation(relation, columns, options)?;
    let population = &table.population;
    let Remedies {
        suppressions, done, ..
    } = run::long("looking for remedies", |control| {
        inference::remedies(population, &options.settings, threshold, most, control)
    })?;
    if !done {
        warn_once(
            "rows at or above the threshold remain; raise most or the budget, or suppress more by hand",
        );
    }
    let row = |(step, suppression): (i32, &Suppression)| {
        (
            step,
            table.row(&suppression.row),
            table.attributes.column_name(suppression.attribute.column).into(),
            table.attributes.value(suppression.attribute),
            suppression.after.at_or_above as i64,
            suppression.after.maximum,
            suppression.after.average,
            suppression.after.exact,
        )
    };
    Ok((1..).zip(&suppressions).map(row).collect())
}
