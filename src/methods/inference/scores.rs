//! Privacy scores of rows, and the inferences behind them: `privacy_score`, `privacy_inference`,
//! `privacy_risk`, `privacy_summary`; and `policy_score`, which the guard calls.
//!
//! A window function scores all rows of a partition at its first row, and then returns one result after the
//! other. `privacy_score` of a record and a relation does not read the relation but queries it
//! (`new_row.rs`). The definitions and algorithms are in [`disclosure::inference`].

use crate::args::{Args, budget_of, warn_once};
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::methods::inference::new_row::RowLookup;
use crate::methods::inference::options::Options;
use crate::methods::inference::table::{AttributeTable, UNFINISHED};
use crate::pg::json::Json;
use crate::pg::table::{Table, composite, table_row};
use crate::run;
use disclosure::Control;
use disclosure::classes::Classes;
use disclosure::inference::{
    Column, Explanations, Inference, PackedTable, RowScore, Scores, Settings, SummarySettings, score_row,
    scores,
};
use pgrx::AllocatedByRust;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use serde_json::json;

/// privacy_score(record record, labels jsonb, min_confidence float8, joint_confidence boolean,
/// sensitive_nulls disclosure.sensitive_null_treatment, discount_common boolean, constant float8,
/// budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_score(call: WindowCall) -> f64 {
    score_of_row(&call, Options::of_call).unwrap_or_else(Error::raise)
}

/// policy_score(record record, labels jsonb, min_confidence float8) OVER (…)
#[pg_extern(sql = false)]
fn policy_score(call: WindowCall) -> f64 {
    score_of_row(&call, Options::of_policy_call).unwrap_or_else(Error::raise)
}

/// Scores of a partition's rows.
struct ScoresOfPartition {
    /// Distinct row of every row.
    distinct_of_row: Vec<u32>,
    /// Upper bound on the score of every distinct row. It is exact if the search was finished.
    upper: Vec<f64>,
}

fn score_of_row(
    call: &WindowCall,
    options_of: impl FnOnce(&WindowCall) -> Result<Options, Error>,
) -> Result<f64, Error> {
    let partition = call.partition_state(|call| {
        let options = options_of(call)?;
        let table = AttributeTable::of_partition(call, &options)?;
        Ok(ScoresOfPartition {
            upper: table.scores(&options)?.upper,
            distinct_of_row: table.distinct_of_row,
        })
    })?;
    Ok(partition.upper[partition.distinct_of_row[call.position()] as usize])
}

/// Scores counted rows for a policy. Returns an upper bound on the score of every distinct row, and how often
/// the row occurs. A bound is exact if the search was finished.
pub fn scores_for_policy(
    classes: &Classes,
    columns: &[Column],
    min_confidence: f64,
) -> Result<Vec<(f64, u64)>, Error> {
    let settings = Settings {
        min_confidence,
        budget: budget_of(None)?,
        ..Settings::default()
    };
    settings.check()?;
    run::long("scoring rows", |control| {
        let table = PackedTable::new(classes, columns, control)?;
        let scores = scores(&table, &settings, control)?.upper.into_iter().enumerate();
        Ok(scores
            .map(|(row, score)| (score, table.multiplicity(row)))
            .collect())
    })
}

/// privacy_score(record record, relation regclass, labels jsonb, constant float8, budget interval)
#[pg_extern(sql = false)]
fn privacy_score_in(args: Args) -> Option<f64> {
    score_of_new_row(args).unwrap_or_else(Error::raise)
}

fn score_of_new_row(mut args: Args) -> Result<Option<f64>, Error> {
    let row = args.any("record");
    let relation = args.optional("relation");
    let mut options = Options::labels(&mut args)?;
    options.constant(&mut args)?;
    let options = options.finish(args)?;
    let Some((row, _)) = row else {
        return Ok(None);
    };
    // SAFETY: the value is an argument of type record, which lives as long as the call.
    let mut lookup = unsafe { RowLookup::new(row, relation, options.labels.as_ref())? };
    lookup.notice_unlabelled(relation);
    let RowScore { lower, upper, .. } =
        score_row(&lookup.weights(), &options.settings, &mut lookup, Control::none())?;
    if let Some(problem) = lookup.problem() {
        return Err(problem);
    }
    if upper > lower {
        warn_once(UNFINISHED);
    }
    Ok(Some(upper))
}

/// privacy_inference(…) OVER (…), with the arguments of `privacy_score`
#[pg_extern(sql = false)]
fn privacy_inference(call: WindowCall) -> Json {
    inference_of_row(&call).unwrap_or_else(Error::raise)
}

/// Scores of a partition's rows, and the worst inference about each.
struct InferencesOfPartition {
    table: AttributeTable,
    scores: Scores,
    inferences: Explanations,
}

impl InferencesOfPartition {
    fn of_call(call: &WindowCall) -> Result<&Self, Error> {
        call.partition_state(|call| {
            let options = Options::of_call(call)?;
            let table = AttributeTable::of_partition(call, &options)?;
            let mut scores = table.scores(&options)?;
            let inferences = table.explain(&options, &mut scores)?;
            Ok(InferencesOfPartition {
                table,
                scores,
                inferences,
            })
        })
    }

    /// Returns the distinct row that the call is for, and the worst inference about it.
    fn of_row(&self, call: &WindowCall) -> (usize, &Inference) {
        let row = self.table.distinct_of_row[call.position()] as usize;
        (row, self.inferences.of(row))
    }
}

fn inference_of_row(call: &WindowCall) -> Result<Json, Error> {
    let partition = InferencesOfPartition::of_call(call)?;
    let InferencesOfPartition { table, scores, .. } = partition;
    let (row, inference) = partition.of_row(call);
    let mut told = json!({
        "score": scores.lower[row],
        "inference": table.formula(inference),
        "known": table.texts(&inference.known),
        "inferred": table.inferred(inference),
        "likelihood": inference.likelihood,
        "danger": inference.danger,
        "support": inference.support,
    });
    if let Some(confidence) = inference.confidence().filter(|&confidence| confidence < 1.0) {
        told["confidence"] = confidence.into();
    }
    if scores.upper[row] > scores.lower[row] {
        told["upper"] = scores.upper[row].into();
    }
    Ok(Json(told))
}

/// privacy_risk(…) OVER (…), with the arguments of `privacy_score`
#[pg_extern(sql = false)]
fn privacy_risk(
    call: WindowCall,
    fcinfo: FunctionCallInfo,
) -> pgrx::composite_type!('static, "disclosure.row_risk") {
    risk_of_row(&call, fcinfo).unwrap_or_else(Error::raise)
}

fn risk_of_row(
    call: &WindowCall,
    fcinfo: FunctionCallInfo,
) -> Result<PgHeapTuple<'static, AllocatedByRust>, Error> {
    let partition = InferencesOfPartition::of_call(call)?;
    let (row, inference) = partition.of_row(call);
    let name = |attribute| partition.table.attributes.text(attribute);
    let sentence = inference.sentence(name);
    let facts = sentence.as_ref().map(|_| inference.known.len() as i32);
    let support = sentence.as_ref().map(|_| inference.support as i64);
    let values = [
        partition.scores.upper[row].into_datum(),
        sentence.into_datum(),
        facts.into_datum(),
        support.into_datum(),
    ];
    // SAFETY: float8, text, int and bigint are the types of the columns, as declared in sql/.
    unsafe { composite(fcinfo, values) }
}

table_row! {
    /// Scores of a table.
    struct Summary {
        rows: i64,
        average: Option<f64>,
        maximum: Option<f64>,
        at_or_above: i64,
        share: Option<f64>,
        exact: bool,
        lower: Option<f64>,
        upper: Option<f64>,
    }
}

/// privacy_summary(relation regclass, columns name[], labels jsonb, threshold float8, min_confidence float8,
/// joint_confidence boolean, sensitive_nulls disclosure.sensitive_null_treatment, discount_common boolean,
/// constant float8, budget interval)
#[pg_extern(sql = false)]
fn privacy_summary(args: Args) -> Table<Summary> {
    Table::once(summary(args))
}

fn summary(mut args: Args) -> Result<Summary, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let wanted = SummarySettings {
        threshold: args.required("threshold")?,
    };
    options.measure(&mut args)?;
    let options = options.finish(args)?;
    wanted.check()?;
    let table = AttributeTable::of_relation(relation, columns, &options)?;
    let summary = table.scores(&options)?.summary(table.packed(), &wanted)?;
    Ok(Summary {
        rows: summary.rows as i64,
        average: summary.average,
        maximum: summary.maximum,
        at_or_above: summary.at_or_above as i64,
        share: summary.share,
        exact: summary.exact,
        lower: summary.lower_average,
        upper: summary.average,
    })
}
