//! The spool: rows of an export, collected instead of sent, so that they can be judged first.
//!
//! The export's query runs only once, so the rows that are judged are the rows that leave. They are kept in a
//! tuplestore, which spills to disk beyond `work_mem`. While they are judged, the set-returning function
//! `disclosure_internal.leaving` makes them readable to SQL; the FROM item that calls it is made by
//! [`from_item`].

use crate::error::Error;
use crate::guard::lineage::OutputColumn;
use crate::pg::receiver::values_of;
use crate::pg::row::columns_of;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, DestReceiver, Oid, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, c_int};

/// Collected rows. They are freed by [`Spool::end`], or with the transaction if the statement fails.
pub struct Spool {
    rows: *mut pg_sys::Tuplestorestate,
}

/// Destination that the executor sends rows to.
#[repr(C)]
struct Collector {
    /// First field, because Postgres refers to the collector by a pointer to it.
    callbacks: DestReceiver,
    rows: *mut pg_sys::Tuplestorestate,
    /// Descriptor of the rows; NULL until the executor starts.
    shape: TupleDesc,
}

impl Spool {
    pub fn new() -> Self {
        // Random access, because the rows are read more than once.
        // SAFETY: no preconditions but a current memory context.
        unsafe {
            let rows = pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem);
            Spool { rows }
        }
    }

    /// Calls `deliver` with a destination that collects the rows sent to it. Returns the row descriptor that
    /// the executor used, because names in the query may refer to other objects than when the query was
    /// analysed.
    pub fn collect(&self, deliver: impl FnOnce(*mut DestReceiver)) -> Option<TupleDesc> {
        let mut collector = Collector {
            callbacks: DestReceiver {
                rStartup: Some(start),
                receiveSlot: Some(receive),
                rShutdown: Some(ignore),
                rDestroy: Some(ignore),
                // The same as that of the destination it replaces: the guard recognises an export's own query
                // by it.
                mydest: pg_sys::CommandDest::DestCopyOut,
            },
            rows: self.rows,
            shape: std::ptr::null_mut(),
        };
        deliver(&raw mut collector.callbacks);
        (!collector.shape.is_null()).then_some(collector.shape)
    }

    /// Sends the rows to their original destination.
    ///
    /// # Safety
    /// The destination is valid, and `shape` is the descriptor of the rows.
    pub unsafe fn forward(&self, destination: *mut DestReceiver, operation: c_int, shape: TupleDesc) {
        // SAFETY: by the contract of the function.
        unsafe {
            if let Some(start) = (*destination).rStartup {
                pg_sys::ffi::pg_guard_ffi_boundary(|| start(destination, operation, shape));
            }
            self.for_each(shape, |slot| match (*destination).receiveSlot {
                Some(receive) => pg_sys::ffi::pg_guard_ffi_boundary(|| receive(slot, destination)),
                None => false,
            });
            if let Some(shutdown) = (*destination).rShutdown {
                pg_sys::ffi::pg_guard_ffi_boundary(|| shutdown(destination));
            }
        }
    }

    /// Calls `visit` with every row until it returns false.
    ///
    /// # Safety
    /// `shape` is the descriptor of the rows.
    unsafe fn for_each(&self, shape: TupleDesc, mut visit: impl FnMut(*mut TupleTableSlot) -> bool) {
        // SAFETY: by the contract of the function.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot(shape, &pg_sys::TTSOpsMinimalTuple);
            pg_sys::tuplestore_rescan(self.rows);
            while pg_sys::tuplestore_gettupleslot(self.rows, true, false, slot) && visit(slot) {
                pgrx::check_for_interrupts!();
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
    }

    pub fn end(self) {
        // SAFETY: the tuplestore is live, and consuming `self` ensures that it is not used again.
        unsafe { pg_sys::tuplestore_end(self.rows) };
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start(collector: *mut DestReceiver, _operation: c_int, shape: TupleDesc) {
    // SAFETY: Postgres calls it with valid pointers, the collector being the one made by `Spool::collect`.
    unsafe {
        // The descriptor must outlive the execution, as the rows do.
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::CurTransactionContext);
        (*collector.cast::<Collector>()).shape = pg_sys::CreateTupleDescCopy(shape);
        pg_sys::MemoryContextSwitchTo(before);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut TupleTableSlot, collector: *mut DestReceiver) -> bool {
    // SAFETY: Postgres calls it with valid pointers, the collector being the one made by `Spool::collect`.
    unsafe {
        pg_sys::tuplestore_puttupleslot((*collector.cast::<Collector>()).rows, slot);
        true
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_collector: *mut DestReceiver) {}

/// Rows that are being judged, as `disclosure_internal.leaving` returns them.
struct Shown {
    rows: *mut pg_sys::Tuplestorestate,
    shape: TupleDesc,
    /// Indexes, from 0, of the columns that the measure may see; `None` for all.
    columns: Option<Vec<usize>>,
}

thread_local! {
    /// Rows that are being judged, innermost last, because judging may itself run an export. `None` if a
    /// measure may see no rows.
    static SHOWN: RefCell<Vec<Option<Shown>>> = const { RefCell::new(Vec::new()) };
}

/// Removes the last entry of [`SHOWN`] when dropped.
struct Hide;

impl Drop for Hide {
    fn drop(&mut self) {
        SHOWN.with_borrow_mut(Vec::pop);
    }
}

impl Spool {
    /// Makes the rows readable to the queries that `judge` runs, and returns its result.
    ///
    /// # Safety
    /// `shape` is the descriptor of the rows.
    pub unsafe fn show<R>(&self, shape: TupleDesc, judge: impl FnOnce() -> R) -> R {
        let rows = self.rows;
        let shown = Shown {
            rows,
            shape,
            columns: None,
        };
        SHOWN.with_borrow_mut(|all| all.push(Some(shown)));
        let _hide = Hide;
        judge()
    }
}

/// Makes only the columns with these indexes, from 0, readable to the queries that `measure` runs, or no rows
/// at all if `columns` is `None`. Returns the result of `measure`.
pub fn show_only<R>(columns: Option<Vec<usize>>, measure: impl FnOnce() -> R) -> R {
    SHOWN.with_borrow_mut(|all| {
        let shown = all.last().and_then(Option::as_ref).zip(columns);
        let shown = shown.map(|(shown, columns)| Shown {
            rows: shown.rows,
            shape: shown.shape,
            columns: Some(columns),
        });
        all.push(shown);
    });
    let _hide = Hide;
    measure()
}

/// Returns the name of the column with this index, from 0, in the FROM item of `disclosure_internal.leaving`.
pub fn column_name(number: usize) -> String {
    format!("c{number}")
}

/// Returns the FROM item that reads the given columns with their indexes, from 0.
pub fn from_item(columns: &[(usize, &OutputColumn)]) -> String {
    let numbers: Vec<String> = columns.iter().map(|(number, _)| number.to_string()).collect();
    let definitions: Vec<String> = columns
        .iter()
        .map(|(number, column)| format!("{} {}", column_name(*number), type_of(column)))
        .collect();
    match columns {
        // A function in FROM must return at least one column.
        [] => "disclosure_internal.leaving('{}') AS leaving(nothing bool)".into(),
        _ => format!(
            "disclosure_internal.leaving('{{{}}}') AS leaving({})",
            numbers.join(","),
            definitions.join(", ")
        ),
    }
}

/// Returns the type that a column has in the FROM item. Pseudo-types such as anonymous rows are not allowed
/// there, so they become text.
fn shown_type(oid: Oid) -> Oid {
    // SAFETY: accepts any OID, and returns 0 if there is no such type.
    let kind = unsafe { pg_sys::get_typtype(oid) } as u8;
    match kind {
        pg_sys::TYPTYPE_PSEUDO => pg_sys::TEXTOID,
        _ => oid,
    }
}

/// Returns the qualified type of a column in the FROM item, without the column's collation. Under a collation
/// that treats different values as equal, the measure would not see the difference.
fn type_of(column: &OutputColumn) -> String {
    let shown = shown_type(column.type_oid);
    let modifier = if shown == column.type_oid {
        column.typmod
    } else {
        -1
    };
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: the type exists, and the returned C string is copied at once.
    unsafe {
        let name = pg_sys::format_type_extended(shown, modifier, flags as u16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// Makes a call of `disclosure_internal.leaving` return the given columns of the rows that are being judged.
///
/// # Safety
/// `fcinfo` is a call of a function that returns SETOF record.
pub unsafe fn show_in(fcinfo: pg_sys::FunctionCallInfo, columns: &[usize]) -> Result<(), Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let materialise = pg_sys::SetFunctionReturnMode::SFRM_Materialize;
        if result.is_null()
            || (*result).expectedDesc.is_null()
            || (*result).allowedModes as u32 & materialise == 0
        {
            return Err(Error::NotLeaving);
        }
        let (rows, shape) = SHOWN.with_borrow(|all| {
            let shown = all.last().and_then(Option::as_ref).ok_or(Error::NotLeaving)?;
            let may_be_seen = |&column: &usize| {
                column < (*shown.shape).natts as usize
                    && shown
                        .columns
                        .as_ref()
                        .is_none_or(|columns| columns.contains(&column))
            };
            match columns.iter().all(may_be_seen) {
                true => Ok((shown.rows, shown.shape)),
                false => Err(Error::NotLeaving),
            }
        })?;
        let before = pg_sys::MemoryContextSwitchTo((*(*result).econtext).ecxt_per_query_memory);
        let expected = pg_sys::CreateTupleDescCopy((*result).expectedDesc);
        let backward = pg_sys::SetFunctionReturnMode::SFRM_Materialize_Random;
        let is_random = (*result).allowedModes as u32 & backward != 0;
        let copy = pg_sys::tuplestore_begin_heap(is_random, false, pg_sys::work_mem);
        pg_sys::MemoryContextSwitchTo(before);
        let types = columns_of(shape);
        let converted = columns_of(expected);
        let width = columns.len().max(1);
        if converted.len() != width {
            return Err(Error::NotLeaving);
        }
        let converter = |(&column, to): (&usize, &ColumnType)| match types[column].oid {
            from if from == to.oid => Ok(None),
            from if shown_type(from) == to.oid => Ok(Some(from)),
            _ => Err(Error::NotLeaving),
        };
        let converters = columns.iter().zip(&converted).map(converter);
        let converters = converters.collect::<Result<Vec<Option<Oid>>, Error>>()?;
        let mut values = vec![Datum::from(true); width];
        let mut nulls = vec![false; width];
        Spool { rows }.for_each(shape, |slot| {
            let (all_values, all_nulls) = values_of(slot);
            for (place, (&column, converter)) in columns.iter().zip(&converters).enumerate() {
                let value = all_values[column];
                nulls[place] = all_nulls[column];
                values[place] = match converter {
                    Some(from) if !all_nulls[column] => text_of(*from, value),
                    _ => value,
                };
            }
            pg_sys::tuplestore_putvalues(copy, expected, values.as_mut_ptr(), nulls.as_mut_ptr());
            true
        });
        (*result).returnMode = materialise;
        (*result).setResult = copy;
        (*result).setDesc = expected;
        Ok(())
    }
}

/// Returns a value as a Datum of type text.
///
/// # Safety
/// `value` is a valid Datum of the type `oid`.
unsafe fn text_of(oid: Oid, value: Datum) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe {
        let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
        pg_sys::getTypeOutputInfo(oid, &mut output, &mut is_varlena);
        let text = pg_sys::OidOutputFunctionCall(output, value);
        pg_sys::cstring_to_text(text).into()
    }
}
