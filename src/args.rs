//! Reads and checks the arguments of SQL functions.
//!
//! A function with few arguments of plain types takes them as Rust parameters and checks them with the
//! functions at the end of this file. Functions that share a list of options read them with [`Args`], a
//! cursor over the arguments in the order of their declaration in `sql/`.

use crate::error::{Error, did_you_mean};
use crate::guc;
use crate::pg::call::whole_call;
use crate::pg::json::JsonText;
use disclosure::spelling;
use pgrx::datum::Interval;
use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use pgrx::prelude::*;
use pgrx::{Array, FromDatum};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::CStr;
use std::time::Duration;

whole_call!(Args);

/// Hint for an argument that has a default.
const LEAVE_OUT: &str = "Omit it to use the default.";

/// Cursor over the arguments of one call. Test builds compare every name with the declared one.
pub struct Args {
    fcinfo: FunctionCallInfo,
    next: usize,
}

impl Args {
    /// Returns a cursor before the first argument.
    ///
    /// # Safety
    /// `fcinfo` must be that of the current call. `sql/` must declare the function with arguments of the
    /// names and types that are read, in this order.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        Args { fcinfo, next: 0 }
    }

    /// Moves past the next argument, which must have this name, and returns its position.
    fn advance(&mut self, name: &'static str) -> usize {
        let position = self.next;
        self.next += 1;
        if cfg!(feature = "probe") && self.declared_name(position).as_deref() != Some(name) {
            Error::Internal("the arguments differ from those that are declared").raise()
        }
        position
    }

    /// Returns the name of an argument in the catalogue.
    fn declared_name(&self, position: usize) -> Option<String> {
        // SAFETY: `fcinfo` is valid by the contract of `new`. The name is copied before the tuple is
        // released, and the arrays have `count` elements.
        unsafe {
            let function = Datum::from((*(*self.fcinfo).flinfo).fn_oid);
            let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, function);
            if tuple.is_null() {
                return None;
            }
            let (mut types, mut names, mut modes) =
                (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let count = pg_sys::get_func_arg_info(tuple, &mut types, &mut names, &mut modes);
            let name = (position < count as usize && !names.is_null()).then(|| {
                CStr::from_ptr(*names.add(position))
                    .to_string_lossy()
                    .into_owned()
            });
            pg_sys::ReleaseSysCache(tuple);
            name
        }
    }

    /// Returns the next argument; `None` if it is NULL.
    pub fn optional<T: FromDatum>(&mut self, name: &'static str) -> Option<T> {
        let position = self.advance(name);
        // SAFETY: by the contract of `new`, there is such an argument, and it is of this type.
        unsafe { pg_getarg(self.fcinfo, position) }
    }

    /// Returns the next argument, which has a default and must not be NULL.
    pub fn required<T: FromDatum>(&mut self, name: &'static str) -> Result<T, Error> {
        given(name, self.optional(name))
    }

    /// Returns the next argument and its type, which depends on the call; `None` if the argument is NULL.
    pub fn any(&mut self, name: &'static str) -> Option<(Datum, pg_sys::Oid)> {
        let position = self.advance(name);
        // SAFETY: by the contract of `new`, there is such an argument.
        unsafe {
            let value = pg_getarg_datum(self.fcinfo, position)?;
            let oid = pg_sys::get_fn_expr_argtype((*self.fcinfo).flinfo, position as i32);
            Some((value, oid))
        }
    }

    /// Returns the next argument, of type name.
    pub fn name(&mut self, argument: &'static str) -> Option<String> {
        name(self.optional(argument))
    }

    /// Returns the next argument, of type name[].
    pub fn names(&mut self, argument: &'static str) -> Option<Vec<Option<String>>> {
        self.optional::<Array<'_, &CStr>>(argument).map(names)
    }

    /// Returns the next argument, of type jsonb.
    pub fn json(&mut self, argument: &'static str) -> Result<Option<Value>, Error> {
        json(argument, self.optional(argument))
    }

    /// Returns the next argument, an integer that must be at least `least`.
    pub fn number(&mut self, argument: &'static str, least: i32) -> Result<usize, Error> {
        number(argument, least, self.optional(argument))
    }

    /// Returns the next argument, an integer whose bounds the algorithm crate checks. A negative number
    /// becomes 0, which the crate refuses as well.
    pub fn count(&mut self, argument: &'static str) -> Result<u32, Error> {
        let number: i32 = self.required(argument)?;
        Ok(u32::try_from(number).unwrap_or(0))
    }

    /// Returns the next argument, an array of numbers without NULL.
    pub fn numbers(&mut self, argument: &'static str) -> Result<Vec<f64>, Error> {
        let numbers: Vec<Option<f64>> = self.required(argument)?;
        numbers
            .into_iter()
            .map(|number| {
                number.ok_or_else(|| {
                    Error::argument(argument, "must not contain NULL", "Give an array of numbers.")
                })
            })
            .collect()
    }

    /// Returns the next argument, a seed.
    pub fn seed(&mut self) -> Result<u64, Error> {
        self.required::<i64>("seed").map(|seed| seed as u64)
    }

    /// Returns the next argument, the time limit of a search; `None` means no limit.
    pub fn budget(&mut self) -> Result<Option<Duration>, Error> {
        budget_of(self.optional("budget"))
    }

    /// Returns an error if not all arguments were read.
    pub fn end(self) -> Result<(), Error> {
        // SAFETY: by the contract of `new`.
        let declared = unsafe { (*self.fcinfo).nargs } as usize;
        if self.next != declared {
            return Err(Error::Internal("an argument was not read"));
        }
        Ok(())
    }
}

/// Returns the elements of a name[] argument.
pub fn names(array: Array<'_, &CStr>) -> Vec<Option<String>> {
    array.iter().map(name).collect()
}

/// Returns a name argument as a string.
pub fn name(given: Option<&CStr>) -> Option<String> {
    given.map(|name| name.to_string_lossy().into_owned())
}

/// Returns the value of a jsonb argument.
pub fn json(argument: &'static str, given: Option<JsonText>) -> Result<Option<Value>, Error> {
    given.map(|json| json.value(argument)).transpose()
}

/// Returns the value of an argument that has a default; an error if it is NULL.
pub fn given<T>(argument: &'static str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::null(argument, LEAVE_OUT))
}

/// Returns the value of an int argument; an error if it is NULL or less than `least`.
pub fn number(argument: &'static str, least: i32, value: Option<i32>) -> Result<usize, Error> {
    match value {
        Some(value) if value >= least => Ok(value as usize),
        _ => Err(Error::argument(
            argument,
            format!("must be {least} or more"),
            LEAVE_OUT,
        )),
    }
}

/// Reads a value of an SQL enum, whose labels `words` lists with their meanings.
pub fn enum_word<T: Copy>(
    argument: &'static str,
    value: Option<pg_sys::Oid>,
    words: &[(&'static str, T)],
) -> Result<T, Error> {
    let label = value.map(|oid| pgrx::enum_helper::lookup_enum_by_oid(oid).0);
    word(argument, label.as_deref(), words)
}

/// Reads one of several words, which `words` lists with their meanings. Case does not matter, and hyphens,
/// underscores and spaces are the same. An error offers the nearest word.
pub fn word<T: Copy>(
    argument: &'static str,
    value: Option<&str>,
    words: &[(&'static str, T)],
) -> Result<T, Error> {
    let value = given(argument, value)?;
    let found = words.iter().find(|(word, _)| spelling::is_same(word, value));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let hint = match quoted.split_last() {
            Some((last, [])) => format!("Give {last}."),
            Some((last, others)) => format!("Give {} or {last}.", others.join(", ")),
            None => String::new(),
        };
        let nearest = spelling::nearest(value, words.iter().map(|(word, _)| *word));
        Error::argument(
            argument,
            "is none of the words that are allowed",
            did_you_mean(nearest, &hint),
        )
    })
}

/// Returns the time limit of a search: the argument `budget`, or `disclosure.budget` if that is NULL. `None`
/// means no limit.
pub fn budget_of(given: Option<Interval>) -> Result<Option<Duration>, Error> {
    let Some(budget) = given else {
        return Ok(guc::budget());
    };
    // An interval longer than u64::MAX microseconds becomes that, which is more than 500,000 years.
    let micros = u128::try_from(budget.as_micros()).map_err(|_| {
        Error::argument(
            "budget",
            "must not be negative",
            "Give an interval such as '10 s', or NULL for disclosure.budget.",
        )
    })?;
    Ok(Some(Duration::from_micros(micros.try_into().unwrap_or(u64::MAX))))
}

/// Raises a warning, unless this statement has already raised the same one: it may have many partitions.
/// Warnings that differ only in their numbers are the same.
pub fn warn_once(message: &str) {
    let without_numbers = message.replace(|character: char| character.is_ascii_digit(), "");
    if is_first_in_statement(without_numbers) {
        warning!("{message}");
    }
}

/// Returns whether this is the first call with this text since the client sent its last statement. Statements
/// within functions belong to the statement that calls them.
pub fn is_first_in_statement(text: String) -> bool {
    thread_local! {
        static SAID: RefCell<(i64, HashSet<String>)> = RefCell::default();
    }
    // SAFETY: the function has no precondition; it reads a variable of this backend.
    let statement = unsafe { pg_sys::GetCurrentStatementStartTimestamp() };
    SAID.with_borrow_mut(|(last, said)| {
        if *last != statement {
            *last = statement;
            said.clear();
        }
        said.insert(text)
    })
}
