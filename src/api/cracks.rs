//! Cracks: `item_summary`, `rollup`, `expected_cracks`, `crack_report`, `item_risk`, `crack_probability`.

use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::input::items::{ItemAggregate, ItemCounts};
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use pgrx::Internal;
use std::ffi::{CStr, CString};

/// The type's input function.
#[pg_extern(sql = false)]
fn item_counts_in(text: &CStr) -> Vec<u8> {
    let counts = ItemCounts::of_text(&text.to_string_lossy());
    counts.unwrap_or_else(Problem::raise).stored()
}

/// The type's output function.
#[pg_extern(sql = false)]
fn item_counts_out(summary: &[u8]) -> CString {
    let text = ItemCounts::of_stored(summary).and_then(|counts| counts.text());
    CString::new(text.unwrap_or_else(Problem::raise)).unwrap_or_default() // JSON has no NUL
}

/// Transition function of item_summary(anyelement) and expected_cracks(anyelement)
#[pg_extern(sql = false)]
fn item_counts_transition(fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: declared with a first argument of type internal in sql/; so are those below.
    let call = unsafe { AggregateCall::new(fcinfo) };
    ItemAggregate::transition(&call).unwrap_or_else(Problem::raise)
}

/// Transition function of rollup(disclosure.item_counts)
#[pg_extern(sql = false)]
fn item_counts_rollup(fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: as above; the second argument is a varlena of ours.
    let (call, summary) = unsafe { (AggregateCall::new(fcinfo), pgrx::fcinfo::pg_getarg(fcinfo, 1)) };
    ItemAggregate::roll_up(&call, summary).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn item_counts_combine(fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: as above.
    let call = unsafe { AggregateCall::new(fcinfo) };
    ItemAggregate::combine(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn item_counts_serialise(mut state: Internal) -> Option<Vec<u8>> {
    ItemAggregate::so_far(&mut state).map(ItemCounts::stored)
}

#[pg_extern(sql = false)]
fn item_counts_deserialise(bytes: &[u8], fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: as above; here the state is the second argument and always NULL.
    let call = unsafe { AggregateCall::new(fcinfo) };
    ItemAggregate::deserialise(&call, bytes).unwrap_or_else(Problem::raise)
}

/// Final function of item_summary and rollup
#[pg_extern(sql = false)]
fn item_counts_final(mut state: Internal) -> Option<Vec<u8>> {
    ItemAggregate::so_far(&mut state).map(ItemCounts::stored)
}
