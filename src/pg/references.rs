//! The types `relation_reference` and `role_reference`: what the tables that pg_dump dumps have instead of regclass and
//! regrole. A name that does not exist is read as 0, where those raise an error.

use pgrx::fcinfo::pg_getarg;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid};
use pgrx::prelude::*;
use pgrx::{IntoDatum, direct_function_call};
use std::ffi::CStr;

/// relation_reference_in(cstring)
#[pg_extern(sql = false)]
fn relation_reference_in(fcinfo: FunctionCallInfo) -> i32 {
    read(fcinfo, pg_sys::to_regclass)
}

/// role_reference_in(cstring)
#[pg_extern(sql = false)]
fn role_reference_in(fcinfo: FunctionCallInfo) -> i32 {
    read(fcinfo, pg_sys::to_regrole)
}

/// What `look_up` finds by the name that a call is given, as the bytes of an OID: pgrx would return an OID of 0 as NULL. A number
/// stands for an object that was gone already when it was printed, `-` for none.
fn read(fcinfo: FunctionCallInfo, look_up: unsafe fn(FunctionCallInfo) -> Datum) -> i32 {
    // SAFETY: declared STRICT with a cstring in sql/.
    let text: Option<&CStr> = unsafe { pg_getarg(fcinfo, 0) };
    let text = text.unwrap_or_default().to_string_lossy();
    if text == "-" || text.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    // SAFETY: both functions take a text and return an OID or NULL.
    let found: Option<Oid> = unsafe { direct_function_call(look_up, &[text.into_owned().into_datum()]) };
    found.map_or(0, |oid| oid.to_u32().cast_signed())
}
