//! Report on how much the columns of a table were permuted: `permutation_report`.

use super::microdata::{Microdata, Wanted};
use super::orders::Orders;
use crate::args::Args;
use crate::error::Error;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::permutation::{ColumnShift, ColumnSide, Extent, column_shift};
use pgrx::prelude::*;

table_row! {
    /// Permutation of a column or, if it has no name, the weakest permutation of all columns.
    struct PermutedColumn {
        column_name: Option<String>,
        records: i64,
        rank_correlation: Option<f64>,
        mean_shift: Option<f64>,
        median_shift: Option<f64>,
        max_shift: Option<i64>,
        permutation: Option<f64>,
        residual_noise: Option<f64>,
        noise_share: Option<f64>,
        nulls_original: i64,
        nulls_released: i64,
        extent: Option<&'static str>,
        only_original: i64,
        only_released: i64,
    }
}

/// permutation_report(original regclass, released regclass, columns name[], key name, orders jsonb,
/// seed bigint)
#[pg_extern(sql = false)]
fn permutation_report(args: Args) -> Table<PermutedColumn> {
    Table::new(report(args))
}

fn report(mut args: Args) -> Result<Vec<PermutedColumn>, Error> {
    let wanted = Wanted::read(&mut args);
    let orders = Orders::read(&mut args)?;
    let seed = args.seed()?;
    args.end()?;
    if wanted.key.is_none() {
        return Err(Error::null(
            "key",
            "Give a column of both tables that identifies the records.",
        ));
    }
    let tables = Microdata::by_rank(&wanted, &orders)?;
    let shifts = shifts(&tables, seed)?;
    let row = |column: Option<&str>, shift: &ColumnShift, nulls: [usize; 2]| PermutedColumn {
        column_name: column.map(Into::into),
        records: tables.original.len() as i64,
        rank_correlation: shift.rank_correlation,
        mean_shift: shift.mean,
        median_shift: shift.median,
        max_shift: shift.max.map(|max| max as i64),
        permutation: shift.relative_shift,
        residual_noise: shift.residual_noise,
        noise_share: shift.noise_share,
        nulls_original: nulls[0] as i64,
        nulls_released: nulls[1] as i64,
        extent: shift.extent.map(extent_name),
        only_original: tables.only_original as i64,
        only_released: tables.only_released as i64,
    };
    let mut all_nulls = [0; 2];
    let mut rows = Vec::with_capacity(shifts.len() + 1);
    for (number, (column, shift)) in tables.original.columns.iter().zip(&shifts).enumerate() {
        let nulls = [&tables.original, &tables.released].map(|records| records.nulls(number));
        all_nulls = [all_nulls[0] + nulls[0], all_nulls[1] + nulls[1]];
        rows.push(row(Some(column.name()), shift, nulls));
    }
    rows.push(row(None, &ColumnShift::weakest(&shifts), all_nulls));
    Ok(rows)
}

/// Returns how far the values of every column have moved.
pub fn shifts(tables: &Microdata, seed: u64) -> Result<Vec<ColumnShift>, Error> {
    let sides: Vec<(ColumnSide, ColumnSide)> = tables
        .original
        .column_sides()
        .zip(tables.released.column_sides())
        .collect();
    run::long("comparing ranks", |control| {
        let shifts = sides
            .iter()
            .map(|&(here, there)| column_shift(here, there, seed, control));
        shifts.collect()
    })
}

fn extent_name(extent: Extent) -> &'static str {
    match extent {
        Extent::NotPermuted => "not permuted",
        Extent::PartlyPermuted => "partly permuted",
        Extent::Unknown => "unknown",
        Extent::AsGoodAsRandom => "as good as random",
    }
}
