//! The export guard: `check_export`, and `leaving`, which shows a measure the rows that it is to judge.

use crate::error::Problem;
use crate::guard::copy::hooks::Trial;
use crate::guard::copy::{hooks, spool};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;

/// leaving(columns int[]): the rows that are being judged
#[pg_extern(sql = false)]
fn leaving(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: declared with an int[] in sql/, and as returning a set of records.
    unsafe {
        let columns: Option<Vec<Option<i32>>> = pgrx::fcinfo::pg_getarg(fcinfo, 0);
        let columns: Vec<usize> = columns
            .unwrap_or_default()
            .into_iter()
            .map(|column| column.and_then(|column| usize::try_from(column).ok()))
            .map(|column| column.unwrap_or(i32::MAX as usize)) // which no row has
            .collect();
        spool::show_in(fcinfo, &columns).unwrap_or_else(Problem::raise);
    }
}

/// check_export(query text)
#[allow(clippy::type_complexity)] // the columns of the declaration in sql/
#[pg_extern(sql = false)]
fn check_export(
    query: &str,
) -> TableIterator<
    'static,
    (
        name!(policy, i32),
        name!(relation, Oid),
        name!(measure, String),
        name!(limit, String),
        name!(applies, bool),
        name!(measured, Option<f64>),
        name!(rows, Option<i64>),
        name!(unsafe_rows, Option<i64>),
        name!(verdict, &'static str),
    ),
> {
    let outcome = hooks::try_out(query).unwrap_or_else(Problem::raise);
    TableIterator::new(outcome.into_iter().map(|trial| {
        let Trial {
            policy,
            applies,
            measured,
        } = trial;
        let verdict = match measured.map(|measured| measured.is_allowed(policy.limit)) {
            Some(true) => "safe",
            Some(false) => "unsafe",
            None => "unknown",
        };
        (
            policy.number,
            policy.relation,
            policy.measure.to_string(),
            policy.limit.to_string(),
            applies,
            measured.and_then(|measured| measured.value),
            measured.map(|measured| measured.rows),
            measured.and_then(|measured| measured.unsafe_rows),
            verdict,
        )
    }))
}
