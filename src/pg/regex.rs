//! Regular expressions of Postgres. They stop when the query is cancelled.

use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::{FromDatum, IntoDatum, PgTryBuilder};

/// Returns whether a text is a regular expression.
pub fn is_valid(pattern: &str) -> bool {
    // After an error that is caught here, only an error of our own follows.
    let compile = || substring("", pattern).is_none_or(|_| true);
    PgTryBuilder::new(compile)
        .catch_when(PgSqlErrorCode::ERRCODE_INVALID_REGULAR_EXPRESSION, |_| false)
        .execute()
}

/// Returns what `substring(text from pattern)` returns: what the first pair of parentheses in the pattern captures or,
/// if there is none, what the whole pattern matches; `None` if it does not match. Case and character classes are those
/// of the database's default collation. Memory that it leaves behind is in the current memory context.
pub fn substring(text: &str, pattern: &str) -> Option<String> {
    const ARGUMENTS: usize = 2;
    let size = size_of::<pg_sys::FunctionCallInfoBaseData>() + ARGUMENTS * size_of::<pg_sys::NullableDatum>();
    // SAFETY: the memory is zeroed and has room for both arguments, which are of type text, as the function expects. It
    // returns a text, unless it says that the result is NULL.
    unsafe {
        let fcinfo = pg_sys::palloc0(size).cast::<pg_sys::FunctionCallInfoBaseData>();
        (*fcinfo).nargs = ARGUMENTS as i16;
        (*fcinfo).fncollation = pg_sys::DEFAULT_COLLATION_OID;
        let arguments: [Option<Datum>; ARGUMENTS] = [text.into_datum(), pattern.into_datum()];
        let places = (*fcinfo).args.as_mut_slice(ARGUMENTS);
        for (place, argument) in places.iter_mut().zip(arguments) {
            place.value = argument?;
            place.isnull = false;
        }
        let found = pg_sys::textregexsubstr(fcinfo);
        String::from_datum(found, (*fcinfo).isnull)
    }
}
