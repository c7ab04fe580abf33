//! Reads the rows of a query where the executor delivers them, without a copy in between.

use super::memory_context::Scratch;
use super::row::columns_of;
use crate::error::Error;
use crate::run::Meter;
use pgrx::pg_sys::{self, Datum, DestReceiver, Oid, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use std::ffi::{CString, c_int};
use std::iter::{Copied, Zip};
use std::slice::Iter;

/// Passes every row of a query to `on_row`, in a scratch memory context. The columns of the query must have
/// exactly these types, or it is refused before its first row: a query finds its relations by name, and
/// another relation may have taken a name, or a column another type, since the types were looked up. The
/// callers read values by these types, so a difference would be a memory error.
pub fn for_each_row(
    query: &str,
    types: &[Oid],
    mut on_row: impl FnMut(Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut meter = Meter::new("reading the table");
    Spi::connect(|_| {
        let scratch = Scratch::new();
        execute(query, types, &mut |row| {
            let _entered = scratch.enter();
            on_row(row)?;
            if meter.row()? {
                scratch.reset();
            }
            Ok(())
        })
    })?;
    meter.finish();
    Ok(())
}

/// Values of a row, each with whether it is NULL.
pub type Row<'a> = Zip<Copied<Iter<'a, Datum>>, Copied<Iter<'a, bool>>>;

/// Destination to which the executor delivers rows. Each row is handled at once, without a copy.
#[repr(C)]
struct Receiver<'a> {
    /// First field, because Postgres passes the receiver around as a pointer to it.
    callbacks: DestReceiver,
    /// Types that the columns of the query must have.
    types: &'a [Oid],
    on_row: &'a mut dyn FnMut(Row) -> Result<(), Error>,
    /// First error; no row is handled after it.
    outcome: Result<(), Error>,
}

/// Runs a query within `Spi::connect` and passes every row to `on_row`, until that returns an error.
fn execute(
    query: &str,
    types: &[Oid],
    on_row: &mut dyn FnMut(Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let query = CString::new(query).map_err(|_| {
        Error::argument(
            "columns",
            "a name contains a NUL character",
            "Give the names as they are in the catalogue.",
        )
    })?;
    let mut receiver = Receiver {
        callbacks: DestReceiver {
            rStartup: Some(start),
            receiveSlot: Some(receive),
            rShutdown: Some(ignore),
            rDestroy: Some(ignore),
            mydest: pg_sys::CommandDest::DestNone,
        },
        types,
        on_row,
        // Replaced when the executor starts and its columns have the right types.
        outcome: Err(Error::ChangedWhileReading),
    };
    let options = pg_sys::SPIExecuteOptions {
        // Uses the snapshot of the calling statement: what that statement sees is what is measured.
        read_only: true,
        dest: &raw mut receiver.callbacks,
        ..Default::default()
    };
    // SAFETY: SPI is connected, and the query and the receiver outlive the call.
    unsafe { pg_sys::SPI_execute_extended(query.as_ptr(), &options) };
    receiver.outcome
}

/// Returns all values of a row, and which of them are NULL.
///
/// # Safety
/// `slot` must hold a row, and keep it as long as the slices are used.
pub unsafe fn values_of<'a>(slot: *mut TupleTableSlot) -> (&'a [Datum], &'a [bool]) {
    // SAFETY: by the contract of the function.
    unsafe {
        let width = (*(*slot).tts_tupleDescriptor).natts;
        if c_int::from((*slot).tts_nvalid) < width {
            pg_sys::slot_getsomeattrs_int(slot, width);
        }
        (
            std::slice::from_raw_parts((*slot).tts_values, width as usize),
            std::slice::from_raw_parts((*slot).tts_isnull, width as usize),
        )
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut TupleTableSlot, receiver: *mut DestReceiver) -> bool {
    // SAFETY: Postgres passes a slot that holds a row, and the receiver that `execute` has made.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        if receiver.outcome.is_err() {
            return false;
        }
        let (values, nulls) = values_of(slot);
        receiver.outcome = (receiver.on_row)(values.iter().copied().zip(nulls.iter().copied()));
        receiver.outcome.is_ok()
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start(receiver: *mut DestReceiver, _operation: c_int, descriptor: TupleDesc) {
    // SAFETY: Postgres passes the receiver that `execute` has made, and the descriptor of its rows.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        let columns = columns_of(descriptor);
        if columns
            .iter()
            .map(|column| column.oid)
            .eq(receiver.types.iter().copied())
        {
            receiver.outcome = Ok(());
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_receiver: *mut DestReceiver) {}
