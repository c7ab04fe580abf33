//! Scores of rows, and the inferences behind them: `privacy_score`, `privacy_inference`, `privacy_risk`,
//! `privacy_summary`.

use crate::args::{Args, warn_once};
use crate::error::Problem;
use crate::input::window::WindowCall;
use crate::methods::inference::new_row::RowLookup;
use crate::methods::inference::options::Options;
use crate::methods::inference::table::{AttributeTable, UNFINISHED};
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use disclosure::Control;
use disclosure::inference::{Explanations, Inference, RowScore, Scores, SummarySettings, score_row};
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use pgrx::{AllocatedByRust, PgTupleDesc};
use serde_json::json;

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
        let table = AttributeTable::of_partition(call, &options)?;
        Ok(ScoresOfPartition {
            upper: table.scores(&options)?.upper,
            distinct_of_row: table.distinct_of_row,
        })
    })?;
    Ok(partition.upper[partition.distinct_of_row[call.position()] as usize])
}

/// privacy_score(row record, relation regclass, weights jsonb, constant float8, budget interval)
#[pg_extern(sql = false)]
fn privacy_score_in(args: Args) -> Option<f64> {
    score_of_new_row(args).unwrap_or_else(Problem::raise)
}

fn score_of_new_row(mut args: Args) -> Result<Option<f64>, Problem> {
    let row = args.any("row");
    let relation = args.optional("relation");
    let options = Options::read_certain(&mut args)?.finish(args)?;
    let Some((row, _)) = row else {
        return Ok(None);
    };
    // SAFETY: an argument of type record, which lives as long as the call.
    let mut lookup = unsafe { RowLookup::new(row, relation, options.weights.as_ref())? };
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

/// privacy_inference(row record, weights jsonb, min_confidence float8, constant float8, budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_inference(call: WindowCall) -> Json {
    inference_of_row(&call).unwrap_or_else(Problem::raise)
}

/// The worst inferences about a partition's rows.
struct InferencesOfPartition {
    table: AttributeTable,
    scores: Scores,
    inferences: Explanations,
}

impl InferencesOfPartition {
    fn of_call(call: &WindowCall) -> Result<&Self, Problem> {
        call.partition_state(|call| {
            let options = Options::of_call(call)?;
            let table = AttributeTable::of_partition(call, &options)?;
            let scores = table.scores(&options)?;
            let inferences = table.explain(&options, &scores)?;
            Ok(InferencesOfPartition {
                table,
                scores,
                inferences,
            })
        })
    }

    /// The distinct row that the call is for, and the worst inference about it.
    fn of_row(&self, call: &WindowCall) -> (usize, &Inference) {
        let row = self.table.distinct_of_row[call.position()] as usize;
        (row, self.inferences.of(row))
    }
}

fn inference_of_row(call: &WindowCall) -> Result<Json, Problem> {
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

/// privacy_risk(row record, weights jsonb, min_confidence float8, constant float8, budget interval) OVER (…)
#[pg_extern(sql = false)]
fn privacy_risk(
    call: WindowCall,
    fcinfo: FunctionCallInfo,
) -> pgrx::composite_type!('static, "disclosure.row_risk") {
    // SAFETY: the pointers of the current call; a catalogue look-up of the function that is called.
    let result = unsafe { pg_sys::get_func_rettype((*(*fcinfo).flinfo).fn_oid) };
    risk_of_row(&call, result).unwrap_or_else(Problem::raise)
}

fn risk_of_row(
    call: &WindowCall,
    result: pg_sys::Oid,
) -> Result<PgHeapTuple<'static, AllocatedByRust>, Problem> {
    let partition = InferencesOfPartition::of_call(call)?;
    let (row, inference) = partition.of_row(call);
    let name = |attribute| partition.table.attributes.text(attribute);
    let values = [
        partition.scores.upper[row].into_datum(),
        inference.sentence(name).into_datum(),
    ];
    let not_declared = Problem::Internal("the result type is not the one that was declared");
    let Some(row_type) = PgTupleDesc::for_composite_type_by_oid(result) else {
        return Err(not_declared);
    };
    // SAFETY: float8 and text, as the type is declared in sql/.
    unsafe { PgHeapTuple::from_datums(row_type, values) }.map_err(|_| not_declared)
}

table_row! {
    /// The scores of a table.
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

/// privacy_summary(relation regclass, threshold float8, columns name[], weights jsonb, …)
#[pg_extern(sql = false)]
fn privacy_summary(args: Args) -> Table<Summary> {
    Table::once(summary(args))
}

fn summary(mut args: Args) -> Result<Summary, Problem> {
    let relation = args.optional("relation");
    let wanted = SummarySettings {
        threshold: args.required("threshold")?,
    };
    let columns = args.names("columns");
    let options = Options::read(&mut args)?.finish(args)?;
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
