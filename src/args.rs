//! The arguments of SQL functions.

use crate::error::Problem;
use crate::guc;
use crate::pg::json::JsonText;
use pgrx::datum::Interval;
use pgrx::prelude::*;
use std::cell::Cell;
use std::time::Duration;

/// The elements of a name[] argument.
pub fn names(array: pgrx::Array<'_, &std::ffi::CStr>) -> Vec<Option<String>> {
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    array.iter().map(|name| name.map(text)).collect()
}

/// A name argument.
pub fn name(given: Option<&std::ffi::CStr>) -> Option<String> {
    given.map(|name| name.to_string_lossy().into_owned())
}

/// A jsonb argument.
pub fn json(argument: &'static str, given: Option<JsonText>) -> Result<Option<serde_json::Value>, Problem> {
    given.map(|json| json.value(argument)).transpose()
}

/// The argument budget: how long a search may go on; `None` means without limit.
pub fn budget_of(given: Option<Interval>) -> Result<Option<Duration>, Problem> {
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
pub fn warn_once(message: &str) {
    thread_local! {
        static WARNED_AT: Cell<i64> = const { Cell::new(0) };
    }
    // SAFETY: reads a variable of this backend.
    let statement = unsafe { pg_sys::GetCurrentStatementStartTimestamp() };
    if WARNED_AT.replace(statement) != statement {
        warning!("disclosure: {message}");
    }
}

/// An argument that must not be NULL.
pub fn given<T>(argument: &'static str, value: Option<T>) -> Result<T, Problem> {
    value.ok_or(Problem::Argument {
        argument,
        problem: "must not be NULL".into(),
        hint: "Leave it out for the default.",
    })
}

/// A number of something, from an int argument.
pub fn number(argument: &'static str, least: i32, value: Option<i32>) -> Result<usize, Problem> {
    value
        .filter(|&value| value >= least)
        .map(|value| value as usize)
        .ok_or_else(|| Problem::Argument {
            argument,
            problem: format!("must be {least} or more"),
            hint: "Leave it out for the default.",
        })
}
