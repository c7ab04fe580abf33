//! The function `risk_summary`: the risk of re-identification of everybody in a relation. The definitions are in
//! [`disclosure::classes`].

use crate::args::Args;
use crate::error::Error;
use crate::methods::classes::by_of_args;
use crate::methods::classes::records::{Choice, ReadRecords, Unit, nulls_of_enum, with_population};
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::classes::{RiskSummary, risk_summary as summary_of};
use pgrx::prelude::*;

table_row! {
    /// Figures about the people, or rows, of a relation.
    struct RiskRow {
        rows: i64,
        people: Option<i64>,
        classes: i64,
        k: Option<i64>,
        uniques: i64,
        share_below_3: Option<f64>,
        share_below_5: Option<f64>,
        share_below_11: Option<f64>,
        share_below_20: Option<f64>,
        prosecutor_highest: Option<f64>,
        prosecutor_average: Option<f64>,
        prosecutor_above_5: Option<f64>,
        prosecutor_above_11: Option<f64>,
        prosecutor_above_20: Option<f64>,
        journalist_highest: Option<f64>,
        journalist_average: Option<f64>,
        journalist_above_5: Option<f64>,
        journalist_above_11: Option<f64>,
        journalist_above_20: Option<f64>,
        marketer: Option<f64>,
        k_map: Option<i64>,
        delta_presence_lowest: Option<f64>,
        delta_presence_highest: Option<f64>,
        not_in_population: Option<i64>,
    }
}

impl From<RiskSummary> for RiskRow {
    fn from(summary: RiskSummary) -> Self {
        let RiskSummary {
            prosecutor,
            journalist,
            population,
            ..
        } = summary;
        let share = |place: usize| summary.share_below.map(|shares| shares[place]);
        RiskRow {
            rows: summary.rows as i64,
            people: summary.people.map(|people| people as i64),
            classes: summary.classes as i64,
            k: summary.k.map(|k| k as i64),
            uniques: summary.uniques as i64,
            share_below_3: share(0),
            share_below_5: share(1),
            share_below_11: share(2),
            share_below_20: share(3),
            prosecutor_highest: prosecutor.map(|risk| risk.highest),
            prosecutor_average: prosecutor.map(|risk| risk.average),
            prosecutor_above_5: prosecutor.map(|risk| risk.above[0]),
            prosecutor_above_11: prosecutor.map(|risk| risk.above[1]),
            prosecutor_above_20: prosecutor.map(|risk| risk.above[2]),
            journalist_highest: journalist.map(|risk| risk.highest),
            journalist_average: journalist.map(|risk| risk.average),
            journalist_above_5: journalist.map(|risk| risk.above[0]),
            journalist_above_11: journalist.map(|risk| risk.above[1]),
            journalist_above_20: journalist.map(|risk| risk.above[2]),
            marketer: summary.marketer,
            k_map: population.and_then(|found| found.k_map).map(|k| k as i64),
            delta_presence_lowest: population.and_then(|found| found.presence_lowest),
            delta_presence_highest: population.and_then(|found| found.presence_highest),
            not_in_population: population.map(|found| found.not_in_population as i64),
        }
    }
}

/// risk_summary(relation regclass, columns name[], population regclass, labels jsonb,
/// nulls disclosure.null_treatment, unit text, by text)
#[pg_extern(sql = false)]
fn risk_summary(args: Args) -> Table<RiskRow> {
    Table::once(summary(args))
}

fn summary(mut args: Args) -> Result<RiskRow, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let population: Option<pg_sys::Oid> = args.optional("population");
    let labels = args.json("labels")?;
    let nulls = nulls_of_enum(args.optional("nulls"))?;
    let unit = Unit::of_args(&mut args)?;
    let by = by_of_args(&mut args)?;
    args.end()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        ..Choice::default()
    };
    let (records, everybody) = match population {
        Some(population) => {
            let (records, everybody) = with_population(oid, &choice, population)?;
            (records, Some(everybody))
        }
        None => (ReadRecords::of_relation(oid, &choice)?.records, None),
    };
    let found = run::long("measuring classes", |control| {
        summary_of(&records, everybody.as_ref(), nulls, by, control)
    })?;
    Ok(found.into())
}
