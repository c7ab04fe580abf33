//! One file per family of SQL functions: each reads input, calls the crate `disclosure`, writes rows.
//! The SQL declarations are in `sql/`, under the same names.

mod attack;
mod classes;
mod columns;
mod counted;
mod crack_recipes;
mod cracks;
mod grid;
mod guard;
mod inference;
mod labels;
mod linkage;
mod people;
mod permutation;
mod permuted;
mod policies;
mod references;
mod releases;
mod semantic;
mod shifts;
mod transactions;

use crate::error::Problem;
use crate::guc;
use crate::input::JsonText;
use pgrx::datum::Interval;
use pgrx::prelude::*;
use std::cell::Cell;
use std::time::Duration;

/// The elements of a name[] argument.
fn names(array: pgrx::Array<'_, &std::ffi::CStr>) -> Vec<Option<String>> {
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    array.iter().map(|name| name.map(text)).collect()
}

/// A name argument.
fn name(given: Option<&std::ffi::CStr>) -> Option<String> {
    given.map(|name| name.to_string_lossy().into_owned())
}

/// A jsonb argument.
fn json(argument: &'static str, given: Option<JsonText>) -> Result<Option<serde_json::Value>, Problem> {
    given.map(|json| json.value(argument)).transpose()
}

/// The argument budget: how long a search may go on; `None` means without limit.
fn budget_of(given: Option<Interval>) -> Result<Option<Duration>, Problem> {
    let Some(budget) = given else {
        return Ok(guc::budget());
    };
    let micros = budget.as_micros();
    if micros < 0 {
        return Err(Problem::Argument {
            argument: "budget",
            problem: "must not be negative".into(),
            hint: "Give an interval such as '10 s', or NULL for disclosure.budget.",
        });
    }
    // The longest intervals exceed it, and nobody sees the end of either.
    Ok(Some(Duration::from_micros(
        u64::try_from(micros).unwrap_or(u64::MAX),
    )))
}

/// A warning that a statement gives once, however many partitions it has.
fn warn_once(message: &str) {
    thread_local! {
        static WARNED_AT: Cell<i64> = const { Cell::new(0) };
    }
    // SAFETY: reads a variable of this backend.
    let statement = unsafe { pg_sys::GetCurrentStatementStartTimestamp() };
    if WARNED_AT.replace(statement) != statement {
        warning!("disclosure: {message}");
    }
}
