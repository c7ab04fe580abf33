//! What would leave, collected instead of sent, so that it can be judged first. One execution: the rows that
//! are judged are the rows that leave.

use crate::error::Problem;
use crate::guard::lineage::OutputColumn;
use crate::pg::receiver::values_of;
use crate::pg::row::columns_of;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, DestReceiver, Oid, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, c_int};

/// The collected rows. Those of a failed statement go with its transaction; others need [`Spool::end`].
pub struct Spool {
    rows: *mut pg_sys::Tuplestorestate,
}

/// Where the executor delivers rows to.
#[repr(C)]
struct Collector {
    /// First, because Postgres passes the collector around as a pointer to this.
    callbacks: DestReceiver,
    rows: *mut pg_sys::Tuplestorestate,
    /// Of the rows, once the executor has said it.
    shape: TupleDesc,
}

impl Spool {
    pub fn new() -> Self {
        // SAFETY: plain arguments. Read more than once, hence random access.
        unsafe {
            let rows = pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem);
            Spool { rows }
        }
    }

    /// Hand `deliver` a destination whose rows are collected. Returns the shape of the rows as the executor has them: names may
    /// lead elsewhere than when the query was looked at.
    pub fn collect(&self, deliver: impl FnOnce(*mut DestReceiver)) -> Option<TupleDesc> {
        let mut collector = Collector {
            callbacks: DestReceiver {
                rStartup: Some(start),
                receiveSlot: Some(receive),
                rShutdown: Some(ignore),
                rDestroy: Some(ignore),
                // As what it stands in for, so that the guard knows an export's own query by it.
                mydest: pg_sys::CommandDest::DestCopyOut,
            },
            rows: self.rows,
            shape: std::ptr::null_mut(),
        };
        deliver(&raw mut collector.callbacks);
        (!collector.shape.is_null()).then_some(collector.shape)
    }

    /// Send the rows, of the given shape, to where they were meant to go.
    ///
    /// # Safety
    /// A valid destination; `shape` is that of the rows.
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

    /// Every row, until `visit` has seen enough.
    ///
    /// # Safety
    /// `shape` is that of the rows.
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
        // SAFETY: not used any more.
        unsafe { pg_sys::tuplestore_end(self.rows) };
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start(collector: *mut DestReceiver, _operation: c_int, shape: TupleDesc) {
    // SAFETY: Postgres calls it with valid pointers.
    unsafe {
        // It has to outlive the execution, as the rows do.
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::CurTransactionContext);
        (*collector.cast::<Collector>()).shape = pg_sys::CreateTupleDescCopy(shape);
        pg_sys::MemoryContextSwitchTo(before);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut TupleTableSlot, collector: *mut DestReceiver) -> bool {
    // SAFETY: Postgres calls it with valid pointers.
    unsafe {
        pg_sys::tuplestore_puttupleslot((*collector.cast::<Collector>()).rows, slot);
        true
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_collector: *mut DestReceiver) {}

/// Rows that are being judged: what `disclosure_internal.leaving` shows.
struct Shown {
    rows: *mut pg_sys::Tuplestorestate,
    shape: TupleDesc,
    /// Columns, from 0, that whoever measures may see; `None`: all.
    columns: Option<Vec<usize>>,
}

thread_local! {
    /// The innermost last: what is judged may itself contain an export. `None` while nothing is shown.
    static SHOWN: RefCell<Vec<Option<Shown>>> = const { RefCell::new(Vec::new()) };
}

/// Takes the last of [`SHOWN`] away again.
struct Hide;

impl Drop for Hide {
    fn drop(&mut self) {
        SHOWN.with_borrow_mut(Vec::pop);
    }
}

impl Spool {
    /// Show the rows to the queries that `judge` runs.
    ///
    /// # Safety
    /// `shape` is that of the rows.
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

/// Show only these columns, from 0, to the queries that `measure` runs; `None`: nothing.
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

/// What the FROM item of `disclosure_internal.leaving` calls a column, from 0.
pub fn column_name(number: usize) -> String {
    format!("c{number}")
}

/// The FROM item that shows the given columns, from 0.
pub fn from_item(columns: &[(usize, &OutputColumn)]) -> String {
    let numbers: Vec<String> = columns.iter().map(|(number, _)| number.to_string()).collect();
    let definitions: Vec<String> = columns
        .iter()
        .map(|(number, column)| format!("{} {}", column_name(*number), type_of(column)))
        .collect();
    match columns {
        // A function has to return something.
        [] => "disclosure_internal.leaving('{}') AS leaving(nothing bool)".into(),
        _ => format!(
            "disclosure_internal.leaving('{{{}}}') AS leaving({})",
            numbers.join(","),
            definitions.join(", ")
        ),
    }
}

/// Anonymous rows and the like cannot be columns of a FROM item: their text can.
fn shown_type(oid: Oid) -> Oid {
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_typtype(oid) } as u8;
    match kind {
        pg_sys::TYPTYPE_PSEUDO => pg_sys::TEXTOID,
        _ => oid,
    }
}

/// The type of a column that is shown, with its schema. Not its collation: one that calls everything equal must not
/// hide what is different.
fn type_of(column: &OutputColumn) -> String {
    let shown = shown_type(column.type_oid);
    let modifier = if shown == column.type_oid {
        column.typmod
    } else {
        -1
    };
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: a type that exists; the text lives until the current memory context is reset.
    unsafe {
        let name = pg_sys::format_type_extended(shown, modifier, flags as u16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// Let a call of `disclosure_internal.leaving` return the given columns of the rows that are being judged.
///
/// # Safety
/// The call of a function that returns a set of records.
pub unsafe fn show_in(fcinfo: pg_sys::FunctionCallInfo, columns: &[usize]) -> Result<(), Problem> {
    // SAFETY: by the contract of the function.
    unsafe {
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let materialise = pg_sys::SetFunctionReturnMode::SFRM_Materialize;
        if result.is_null()
            || (*result).expectedDesc.is_null()
            || (*result).allowedModes as u32 & materialise == 0
        {
            return Err(Problem::NotLeaving);
        }
        let (rows, shape) = SHOWN.with_borrow(|all| {
            let shown = all.last().and_then(Option::as_ref).ok_or(Problem::NotLeaving)?;
            let may_be_seen = |&column: &usize| {
                column < (*shown.shape).natts as usize
                    && shown
                        .columns
                        .as_ref()
                        .is_none_or(|columns| columns.contains(&column))
            };
            match columns.iter().all(may_be_seen) {
                true => Ok((shown.rows, shown.shape)),
                false => Err(Problem::NotLeaving),
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
            return Err(Problem::NotLeaving);
        }
        let converter = |(&column, to): (&usize, &ColumnType)| match types[column].oid {
            from if from == to.oid => Ok(None),
            from if shown_type(from) == to.oid => Ok(Some(from)),
            _ => Err(Problem::NotLeaving),
        };
        let converters = columns.iter().zip(&converted).map(converter);
        let converters = converters.collect::<Result<Vec<Option<Oid>>, Problem>>()?;
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

/// # Safety
/// A valid Datum of the type.
unsafe fn text_of(oid: Oid, value: Datum) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe {
        let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
        pg_sys::getTypeOutputInfo(oid, &mut output, &mut is_varlena);
        let text = pg_sys::OidOutputFunctionCall(output, value);
        pg_sys::cstring_to_text(text).into()
    }
}
