//! Input functions of the types `relation_reference` and `role_reference`. Tables that pg_dump dumps use
//! these types instead of regclass and regrole, because they read a name that does not exist as 0 instead of
//! raising an error.

use pgrx::fcinfo::pg_getarg;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid};
use pgrx::prelude::*;
use pgrx::{IntoDatum, direct_function_call};
use std::ffi::CStr;

/// Implements relation_reference_in(cstring).
#[pg_extern(sql = false)]
fn relation_reference_in(fcinfo: FunctionCallInfo) -> i32 {
    read(fcinfo, pg_sys::to_regclass)
}

/// Implements role_reference_in(cstring).
#[pg_extern(sql = false)]
fn role_reference_in(fcinfo: FunctionCallInfo) -> i32 {
    read(fcinfo, pg_sys::to_regrole)
}

/// Returns the OID that `look_up` finds for the name in the call's argument; 0 if there is no such object.
/// The result is an i32, because pgrx would return an OID of 0 as NULL. A number stands for an object that
/// had been dropped when the reference was printed, and `-` for none; both are read as 0.
fn read(fcinfo: FunctionCallInfo, look_up: unsafe fn(FunctionCallInfo) -> Datum) -> i32 {
    // SAFETY: sql/ declares the function STRICT with one argument, a cstring.
    let text: Option<&CStr> = unsafe { pg_getarg(fcinfo, 0) };
    let text = text.unwrap_or_default().to_string_lossy();
    if text == "-" || text.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    // SAFETY: both functions that are passed as `look_up` take a text and return an OID or NULL.
    let found: Option<Oid> = unsafe { direct_function_call(look_up, &[text.into_owned().into_datum()]) };
    found.map_or(0, |oid| oid.to_u32().cast_signed())
}
