//! How much a table was permuted: `permutation_report`; and the order of nominal values: `marginality`.

use crate::args::{given, json, name, names};
use crate::error::Problem;
use crate::methods::permutation::microdata::{Microdata, Records, Wanted, marginal_values};
use crate::pg::json::JsonText;
use crate::run;
use disclosure::permutation::{Extent, Shift, Side, shift};
use pgrx::Array;
use pgrx::prelude::*;
use std::ffi::CStr;

type ReportRow = (
    Option<String>,
    i64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<i64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    i64,
    i64,
    Option<&'static str>,
    i64,
    i64,
);

/// permutation_report(original regclass, anonymised regclass, key name, columns name[], orders jsonb, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn permutation_report(
    original: Option<pg_sys::Oid>,
    anonymised: Option<pg_sys::Oid>,
    key: Option<&CStr>,
    columns: Option<Array<'_, &CStr>>,
    orders: Option<JsonText>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(column, Option<String>),
        name!(records, i64),
        name!(rank_correlation, Option<f64>),
        name!(mean_shift, Option<f64>),
        name!(median_shift, Option<f64>),
        name!(max_shift, Option<i64>),
        name!(permutation, Option<f64>),
        name!(residual_noise, Option<f64>),
        name!(noise_share, Option<f64>),
        name!(nulls_original, i64),
        name!(nulls_anonymised, i64),
        name!(verdict, Option<&'static str>),
        name!(only_original, i64),
        name!(only_anonymised, i64),
    ),
> {
    let rows = || {
        let seed = given("seed", seed)?;
        let key = name(key).ok_or(Problem::null(
            "key",
            "Give the column of both tables that tells which rows belong together.",
        ))?;
        let tables = Microdata::by_rank(Wanted {
            original,
            anonymised,
            columns: columns.map(names),
            key: Some(key),
            orders: json("orders", orders)?,
        })?;
        report(&tables, seed as u64)
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

fn report(tables: &Microdata, seed: u64) -> Result<Vec<ReportRow>, Problem> {
    let shifts = shifts(tables, seed)?;
    let pairs = || tables.original.columns.iter().zip(&tables.anonymised.columns);
    let row = |column: Option<&str>, shift: &Shift, nulls: (usize, usize)| {
        (
            column.map(Into::into),
            tables.original.len() as i64,
            shift.rank_correlation,
            shift.mean,
            shift.median,
            shift.max.map(|max| max as i64),
            shift.permutation,
            shift.residual_noise,
            shift.noise_share,
            nulls.0 as i64,
            nulls.1 as i64,
            shift.verdict.map(verdict_name),
            tables.only_original as i64,
            tables.only_anonymised as i64,
        )
    };
    let of_columns = pairs().zip(&shifts);
    let mut rows: Vec<ReportRow> = of_columns
        .map(|((here, there), shift)| row(Some(here.name()), shift, (here.nulls(), there.nulls())))
        .collect();
    let nulls = pairs().map(|(here, there)| (here.nulls(), there.nulls()));
    let nulls = nulls.fold((0, 0), |sum, nulls| (sum.0 + nulls.0, sum.1 + nulls.1));
    rows.push(row(None, &Shift::weakest(&shifts), nulls));
    Ok(rows)
}

/// How far the values of every column have moved.
pub(super) fn shifts(tables: &Microdata, seed: u64) -> Result<Vec<Shift>, Problem> {
    let sides: Vec<(Side, Side)> = sides(&tables.original).zip(sides(&tables.anonymised)).collect();
    run::long("comparing ranks", |control| {
        let shifts = sides
            .iter()
            .map(|&(here, there)| shift(here, there, seed, control));
        shifts.collect()
    })
}

fn sides(records: &Records) -> impl Iterator<Item = Side<'_>> {
    let columns = records.columns.iter().zip(&records.ordinals);
    columns.map(|(column, ordinal)| Side {
        places: &ordinal.places,
        numbers: column.is_number.then_some(&ordinal.scale),
    })
}

fn verdict_name(verdict: Extent) -> &'static str {
    match verdict {
        Extent::NotPermuted => "not permuted",
        Extent::PartlyPermuted => "partly permuted",
        Extent::Undecided => "undecided",
        Extent::AsGoodAsRandom => "as good as random",
    }
}

/// marginality(relation regclass, "column" name, distances regclass)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn marginality(
    relation: Option<pg_sys::Oid>,
    column: Option<&CStr>,
    distances: Option<pg_sys::Oid>,
) -> TableIterator<
    'static,
    (
        name!(value, Option<String>),
        name!(records, i64),
        name!(marginality, f64),
        name!(place, i64),
    ),
> {
    let values = marginal_values(relation, name(column), distances).unwrap_or_else(Problem::raise);
    TableIterator::new(values.into_iter().map(|value| {
        (
            value.text,
            value.records as i64,
            value.marginality,
            i64::from(value.place),
        )
    }))
}
