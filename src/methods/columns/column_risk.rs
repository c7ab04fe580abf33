//! The function `column_risk`: what each column adds to the risk of re-identification.

use crate::args::Args;
use crate::error::Error;
use crate::methods::classes::records::{Choice, ReadRecords, Unit, nulls_of_enum};
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::columns::{KnownRisk, column_risk as risk_of};
use pgrx::prelude::*;

table_row! {
    /// Risk with all columns, and without one of them.
    struct ColumnRow {
        column_name: String,
        k: Option<i64>,
        uniques: i64,
        prosecutor_average: Option<f64>,
        k_without: Option<i64>,
        uniques_without: i64,
        prosecutor_average_without: Option<f64>,
    }
}

/// column_risk(relation regclass, columns name[], labels jsonb, nulls disclosure.null_treatment, unit text)
#[pg_extern(sql = false)]
fn column_risk(args: Args) -> Table<ColumnRow> {
    Table::new(column_rows(args))
}

fn column_rows(mut args: Args) -> Result<Vec<ColumnRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let labels = args.json("labels")?;
    let nulls = nulls_of_enum(args.optional("nulls"))?;
    let unit = Unit::of_args(&mut args)?;
    args.end()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        ..Choice::default()
    };
    let read = ReadRecords::of_relation(oid, &choice)?;
    let found = run::long("leaving out columns", |control| {
        risk_of(&read.records, nulls, control)
    })?;
    let row = |(&column, without): (&usize, &KnownRisk)| ColumnRow {
        column_name: read.dictionaries[column].column().name.clone(),
        k: found.of_all.k.map(|k| k as i64),
        uniques: found.of_all.uniques as i64,
        prosecutor_average: found.of_all.average,
        k_without: without.k.map(|k| k as i64),
        uniques_without: without.uniques as i64,
        prosecutor_average_without: without.average,
    };
    Ok(read.roles.quasi.iter().zip(&found.without).map(row).collect())
}
