//! Changes to a table that lower its privacy scores: `decoys`, `remedies`.
//!
//! A decoy is a row to add, a remedy is a cell to set to NULL. [`disclosure::inference`] finds both; this
//! file reads the table and returns them with the values of its columns.

use crate::args::{Args, warn_once};
use crate::error::Error;
use crate::methods::inference::options::Options;
use crate::methods::inference::table::AttributeTable;
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use disclosure::inference::{self, Remedies, RemedySettings, Suppression};
use pgrx::prelude::*;

table_row! {
    /// A row to add, and the scores of the table's own rows before and after.
    struct Decoy {
        step: i32,
        decoy: Json,
        average_before: f64,
        average_after: f64,
        maximum_before: f64,
        maximum_after: f64,
        exact: bool,
    }
}

/// decoys(relation regclass, columns name[], labels jsonb, max_rows int, constant float8, budget interval)
#[pg_extern(sql = false)]
fn decoys(args: Args) -> Table<Decoy> {
    Table::new(decoys_for(args))
}

fn decoys_for(mut args: Args) -> Result<Vec<Decoy>, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let wanted = args.number("max_rows", 0)?;
    options.constant(&mut args)?;
    let options = options.finish(args)?;
    let table = AttributeTable::of_relation(relation, columns, &options)?;
    let decoys = table.compute("looking for decoys", |table, control| {
        inference::decoys(table, &options.settings, wanted, control)
    })?;
    let row = |(step, decoy): (i32, &inference::Decoy)| Decoy {
        step,
        decoy: table.row(&decoy.attributes),
        average_before: decoy.before.average,
        average_after: decoy.after.average,
        maximum_before: decoy.before.maximum,
        maximum_after: decoy.after.maximum,
        exact: decoy.before.exact && decoy.after.exact,
    };
    Ok((1..).zip(&decoys).map(row).collect())
}

table_row! {
    /// A cell to set to NULL, and the scores afterwards.
    struct Remedy {
        step: i32,
        record: Json,
        column_name: String,
        value: String,
        at_or_above: i64,
        maximum: f64,
        average: f64,
        exact: bool,
    }
}

/// remedies(relation regclass, columns name[], labels jsonb, threshold float8, min_confidence float8,
/// constant float8, max_rows int, budget interval)
#[pg_extern(sql = false)]
fn remedies(args: Args) -> Table<Remedy> {
    Table::new(remedies_for(args))
}

fn remedies_for(mut args: Args) -> Result<Vec<Remedy>, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let threshold = args.required("threshold")?;
    options.min_confidence(&mut args)?;
    options.constant(&mut args)?;
    let wanted = RemedySettings {
        threshold,
        max_rows: args.number("max_rows", 1)?,
    };
    let options = options.finish(args)?;
    wanted.check()?;
    let table = AttributeTable::of_relation(relation, columns, &options)?;
    let Remedies {
        suppressions, done, ..
    } = table.compute("looking for remedies", |table, control| {
        inference::remedies(table, &options.settings, &wanted, control)
    })?;
    if !done {
        warn_once(
            "rows at or above the threshold remain; raise max_rows or the budget, or suppress more by hand",
        );
    }
    let row = |(step, suppression): (i32, &Suppression)| Remedy {
        step,
        record: table.row(&suppression.row),
        column_name: table.attributes.column_name(suppression.attribute.column).into(),
        value: table.attributes.value(suppression.attribute),
        at_or_above: suppression.after.at_or_above as i64,
        maximum: suppression.after.maximum,
        average: suppression.after.average,
        exact: suppression.after.exact,
    };
    Ok((1..).zip(&suppressions).map(row).collect())
}
