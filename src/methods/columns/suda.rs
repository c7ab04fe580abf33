//! SUDA scores of rows: `suda`, `dis_suda`. The definitions are in [`disclosure::columns`].

use crate::args::{budget_of, json, warn_once};
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::methods::classes::records::{Choice, ReadRecords, Unit, nulls_of_enum};
use crate::methods::columns::max_columns_of;
use crate::run;
use disclosure::Control;
use disclosure::classes::Records;
use disclosure::columns::{UniqueSettings, dis_suda as dis_suda_of_classes, suda as suda_of_classes};
use pgrx::prelude::*;

/// suda(record record, columns name[], labels jsonb, max_columns int, nulls disclosure.null_treatment,
/// unit text) OVER (…)
#[pg_extern(sql = false)]
fn suda(call: WindowCall) -> f64 {
    score_of_row(&call, None).unwrap_or_else(Error::raise)
}

/// dis_suda(record record, fraction float8, columns name[], labels jsonb, max_columns int,
/// nulls disclosure.null_treatment, unit text) OVER (…)
#[pg_extern(sql = false)]
fn dis_suda(call: WindowCall) -> f64 {
    score_of_row(&call, Some(1)).unwrap_or_else(Error::raise)
}

/// Scores of a partition's classes, and the class of each of its rows.
struct ScoresOfPartition {
    class_of_row: Vec<u32>,
    scores: Vec<f64>,
}

/// Returns the score of the current row: DIS-SUDA if the number of the argument `fraction` is given, otherwise SUDA.
fn score_of_row(call: &WindowCall, fraction: Option<usize>) -> Result<f64, Error> {
    let partition = call.partition_state(|call| of_partition(call, fraction))?;
    let class = partition.class_of_row[call.position()];
    Ok(partition.scores[class as usize])
}

fn of_partition(call: &WindowCall, fraction: Option<usize>) -> Result<ScoresOfPartition, Error> {
    // SAFETY: sql/ declares both functions with these options.
    let options = unsafe { call.options() };
    let first = 1 + fraction.unwrap_or(0); // the first option
    let missing = || {
        Error::null(
            "fraction",
            "Give the share of the population that is in the table.",
        )
    };
    let fraction: Option<f64> = match fraction {
        Some(number) => Some(options.get(number).ok_or_else(missing)?),
        None => None,
    };
    let settings = UniqueSettings {
        max_columns: max_columns_of(options.get(first + 2))?,
        nulls: nulls_of_enum(options.get(first + 3))?,
        budget: budget_of(None)?,
    };
    let choice = Choice {
        columns: options.names(first),
        labels: json("labels", options.get(first + 1))?,
        unit: Unit::of_word(options.get(first + 4))?,
        ..Choice::default()
    };
    if let Some(fraction) = fraction {
        disclosure::columns::check_fraction(fraction)?;
    }
    let records = ReadRecords::of_partition(call, choice)?.records;
    let (scores, not_examined) = run::long("looking for minimal uniques", |control| {
        scores(&records, &settings, fraction, control)
    })?;
    if not_examined > 0 {
        warn_once("the search was not finished within the budget: scores are lower bounds");
    }
    Ok(ScoresOfPartition {
        class_of_row: records.into_class_of_row(),
        scores,
    })
}

/// Returns the score of each class, and the number of sets of columns that were not examined.
fn scores(
    records: &Records,
    settings: &UniqueSettings,
    fraction: Option<f64>,
    control: &Control,
) -> disclosure::Result<(Vec<f64>, u64)> {
    let suda = suda_of_classes(records, settings, control)?;
    let scores = match fraction {
        None => suda.scores,
        Some(fraction) => dis_suda_of_classes(records, &suda.scores, fraction, settings.nulls, control)?,
    };
    Ok((scores, suda.not_examined))
}
