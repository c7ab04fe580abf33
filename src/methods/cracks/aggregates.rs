//! The support functions of the type item_counts, and of `count_items` and `rollup`.
//!
//! Values are exchanged as JSON text, in binary format too, so that they mean the same in every database. The
//! aggregates can run in parallel workers; their state is an [`ItemAggregate`].

use crate::args::Args;
use crate::error::Error;
use crate::input::aggregate::AggregateCall;
use crate::methods::cracks::item_counts::{stored_of_text, text_of_stored};
use crate::methods::cracks::items::{ItemAggregate, read_counts};
use disclosure::cracks::{StoredCounts, StoredCountsError};
use pgrx::Internal;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// The type's input function.
#[pg_extern(sql = false)]
fn item_counts_in(text: &CStr) -> Vec<u8> {
    stored_of_text(&text.to_string_lossy()).unwrap_or_else(Error::raise)
}

/// The type's output function.
#[pg_extern(sql = false)]
fn item_counts_out(summary: &[u8]) -> CString {
    let text = text_of_stored(summary).unwrap_or_else(Error::raise);
    CString::new(text).unwrap_or_default() // JSON text does not contain NUL
}

/// The type's receive function. The message is a version byte and the text, as for jsonb.
#[pg_extern(sql = false)]
fn item_counts_receive(fcinfo: FunctionCallInfo) -> Vec<u8> {
    // SAFETY: the only argument is a message, by the declaration in sql/; the rest of it is one text.
    let (version, text) = unsafe {
        let message = (*fcinfo).args.as_slice(1)[0]
            .value
            .cast_mut_ptr::<pg_sys::StringInfoData>();
        let version = pg_sys::pq_getmsgbyte(message) as u8;
        let mut length = 0;
        let rest = (*message).len - (*message).cursor;
        let text = pg_sys::pq_getmsgtext(message, rest, &mut length);
        (version, CStr::from_ptr(text))
    };
    let stored = match version {
        StoredCounts::VERSION => stored_of_text(&text.to_string_lossy()),
        version => Err(StoredCountsError::Version(version).into()),
    };
    stored.unwrap_or_else(Error::raise)
}

/// The type's send function.
#[pg_extern(sql = false)]
fn item_counts_send(summary: &[u8]) -> Vec<u8> {
    let text = text_of_stored(summary).unwrap_or_else(Error::raise);
    // SAFETY: a message that is begun and ended here; the text is converted to the client's encoding.
    unsafe {
        let mut message = pg_sys::StringInfoData::default();
        pg_sys::pq_begintypsend(&mut message);
        let version = [StoredCounts::VERSION];
        pg_sys::pq_sendbytes(&mut message, version.as_ptr().cast(), version.len() as i32);
        pg_sys::pq_sendtext(&mut message, text.as_ptr().cast(), text.len() as i32);
        let sent = pg_sys::pq_endtypsend(&mut message);
        pgrx::varlena::varlena_to_byte_slice(sent).to_vec()
    }
}

/// count_items(relation regclass, column_name name)
#[pg_extern(sql = false)]
fn count_items(args: Args) -> Vec<u8> {
    count_column(args).unwrap_or_else(Error::raise)
}

fn count_column(mut args: Args) -> Result<Vec<u8>, Error> {
    let (relation, column_name) = (args.optional("relation"), args.name("column_name"));
    args.end()?;
    read_counts(relation, column_name)?.stored()
}

/// Transition function of count_items("any")
#[pg_extern(sql = false)]
fn item_counts_transition(call: AggregateCall) -> Internal {
    ItemAggregate::transition(&call).unwrap_or_else(Error::raise)
}

/// Transition function of rollup(disclosure.item_counts)
#[pg_extern(sql = false)]
fn item_counts_rollup(call: AggregateCall) -> Internal {
    let summary = call.arguments()[0];
    // SAFETY: a varlena of ours, by the declaration in sql/.
    let summary = unsafe { <&[u8]>::from_datum(summary.value, summary.isnull) };
    ItemAggregate::roll_up(&call, summary).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn item_counts_combine(call: AggregateCall) -> Internal {
    ItemAggregate::combine(&call).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn item_counts_serialise(mut state: Internal) -> Option<Vec<u8>> {
    let serial = ItemAggregate::so_far(&mut state).map(|counts| counts.serial());
    serial.transpose().unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn item_counts_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    ItemAggregate::deserialise(&call, bytes).unwrap_or_else(Error::raise)
}

/// Final function of count_items and rollup
#[pg_extern(sql = false)]
fn item_counts_final(mut state: Internal) -> Option<Vec<u8>> {
    let stored = ItemAggregate::so_far(&mut state).map(|counts| counts.stored());
    stored.transpose().unwrap_or_else(Error::raise)
}
