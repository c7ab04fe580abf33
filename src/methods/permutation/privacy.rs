//! (d, v)-permuted privacy, for whoever has the original and for the subject of a record: `permuted_privacy`,
//! `subject_check`.

use crate::args::{json, name, names};
use crate::error::Problem;
use crate::methods::permutation::linkage::TieTreatment;
use crate::methods::permutation::microdata::{Microdata, Wanted};
use crate::pg::json::{Json, JsonText};
use crate::run;
use disclosure::permutation::{Permuted, Release};
use pgrx::Array;
use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use serde_json::Value;
use std::ffi::CStr;

/// permuted_privacy(original regclass, anonymised regclass, columns name[], key name, orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn permuted_privacy(
    original: Option<pg_sys::Oid>,
    anonymised: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &CStr>>,
    key: Option<&CStr>,
    orders: Option<JsonText>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(record, Option<String>),
        name!(original, Json),
        name!(d, Option<i64>),
        name!(v, Option<Vec<Option<f64>>>),
    ),
> {
    let found = || {
        let ties = TieTreatment::new(ties, seed)?;
        let tables = Microdata::by_value(Wanted {
            original,
            anonymised,
            columns: columns.map(names),
            key: name(key),
            orders: json("orders", orders)?,
        })?;
        let (here, there) = (&tables.original.ordinals, &tables.anonymised.ordinals);
        let found = run::long("checking records", |control| {
            Release::new(there, ties.of_anonymised(), control)?.check_all(here, control)
        })?;
        Ok((tables, found))
    };
    let (tables, mut found): (Microdata, Vec<Permuted>) = found().unwrap_or_else(Problem::raise);
    TableIterator::new((0..tables.original.len()).map(move |record| {
        // Of nothing but absent records, there is nothing to say.
        let found = found.get_mut(record);
        (
            tables.original.key(record),
            Json(tables.original.json(record)),
            found.as_ref().map(|found| found.d as i64),
            found.map(|found| std::mem::take(&mut found.variances)),
        )
    }))
}

/// subject_check(subject record, anonymised regclass, columns name[], d bigint, v float8[], orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn subject_check(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(largest_d, Option<i64>),
        name!(closest, Option<Json>),
        name!(variances, Option<Vec<Option<f64>>>),
        name!(d_holds, Option<bool>),
        name!(v_holds, Option<Vec<Option<bool>>>),
        name!(holds, Option<bool>),
    ),
> {
    // SAFETY: the types are those of the declaration in sql/.
    let row = unsafe { check_of_subject(fcinfo) };
    TableIterator::once(row.unwrap_or_else(Problem::raise))
}

type CheckRow = (
    Option<i64>,
    Option<Json>,
    Option<Vec<Option<f64>>>,
    Option<bool>,
    Option<Vec<Option<bool>>>,
    Option<bool>,
);

/// # Safety
/// `fcinfo` has the arguments of subject_check.
unsafe fn check_of_subject(fcinfo: FunctionCallInfo) -> Result<CheckRow, Problem> {
    let subject = pg_getarg_datum(fcinfo, 0).ok_or(Problem::null(
        "subject",
        "Give a row with a value for every one of the columns: ROW(41000, 37).",
    ))?;
    let columns = pg_getarg::<Array<'_, &CStr>>(fcinfo, 2).map(names);
    let width = columns.as_ref().map_or(0, Vec::len);
    let d = distance(pg_getarg(fcinfo, 3))?;
    let v = variances(pg_getarg(fcinfo, 4), width)?;
    let ties = TieTreatment::new(pg_getarg(fcinfo, 6), pg_getarg(fcinfo, 7))?;
    let tables = Microdata::of_subject(
        subject,
        pg_getarg(fcinfo, 1),
        columns,
        json("orders", pg_getarg(fcinfo, 5))?,
    )?;
    check(&tables, d, v, ties)
}

/// The argument d.
fn distance(given: Option<i64>) -> Result<Option<u64>, Problem> {
    let invalid = |_| {
        Problem::argument(
            "d",
            "must not be negative",
            "Give a number of ranks, or NULL for the largest one that holds.",
        )
    };
    given.map(u64::try_from).transpose().map_err(invalid)
}

/// The argument v, of which elements may be NULL.
fn variances(given: Option<Vec<Option<f64>>>, columns: usize) -> Result<Option<Vec<Option<f64>>>, Problem> {
    let invalid = |problem: String| {
        Problem::argument(
            "v",
            problem,
            "Give a variance for every column, which is 0 or more, or NULL where it does not matter.",
        )
    };
    let Some(given) = given else {
        return Ok(None);
    };
    if given.len() != columns {
        return Err(invalid(format!(
            "the number of its elements is {}, that of the columns {columns}",
            given.len()
        )));
    }
    match given.iter().flatten().all(|&variance| variance >= 0.0) {
        true => Ok(Some(given)),
        false => Err(invalid("must not be negative".into())),
    }
}

fn check(
    tables: &Microdata,
    d: Option<u64>,
    v: Option<Vec<Option<f64>>>,
    ties: TieTreatment,
) -> Result<CheckRow, Problem> {
    let record: Vec<Option<f64>> = tables
        .original
        .ordinals
        .iter()
        .map(|column| column.value(0))
        .collect();
    let there = &tables.anonymised.ordinals;
    let found = run::long("checking the record", |control| {
        let release = Release::new(there, ties.of_anonymised(), control)?;
        Ok(release
            .check(&record)
            .zip(release.closest(&record))
            .map(|(found, closest)| {
                let variances = d.map(|d| release.variances(&record, d));
                (found.d, closest, variances.unwrap_or(found.variances))
            }))
    })?;
    let Some((largest_d, closest, variances)) = found else {
        // Nothing was released.
        return Ok((None, None, None, None, None, None));
    };
    let of_columns = tables.anonymised.columns.iter().zip(closest).enumerate();
    let closest = of_columns.map(|(number, (column, places))| {
        let mut values = tables
            .anonymised
            .values_between(number, places.first, places.last);
        let value = match values.len() {
            1 => values.remove(0),
            _ => Value::Array(values),
        };
        (column.name().to_string(), value)
    });
    let closest = Json(Value::Object(closest.collect()));
    let d_holds = d.map(|d| d <= largest_d);
    let v_holds = v.as_ref().map(|v| {
        let of_columns = v.iter().zip(&variances);
        let holds = |(wanted, variance): (&Option<f64>, &Option<f64>)| Some((*variance)? > (*wanted)?);
        of_columns.map(holds).collect::<Vec<Option<bool>>>()
    });
    let of_v = v.iter().flatten().zip(v_holds.iter().flatten());
    let of_v = of_v
        .filter(|(wanted, _)| wanted.is_some())
        .map(|(_, &holds)| holds);
    let holds = all(d.map(|_| d_holds).into_iter().chain(of_v));
    Ok((
        Some(largest_d as i64),
        Some(closest),
        Some(variances),
        d_holds,
        v_holds,
        holds,
    ))
}

/// Whether all of what was asked for holds, as SQL has it where some of it is not known; `None` where nothing was
/// asked for.
fn all(asked: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let and = |one: Option<bool>, other: Option<bool>| match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    asked.reduce(and).flatten()
}
