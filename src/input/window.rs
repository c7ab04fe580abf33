//! Road (a): a window partition, read once at its first row.

use super::arguments::{argument_types, ArgumentRows, OptionArgument};
use super::encoder::Encoder;
use super::scratch::Scratch;
use super::{ColumnType, Encoded, Sequence, Sink};
use crate::error::Problem;
use crate::run::Meter;
use disclosure::Rows;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, NullableDatum};
use pgrx::prelude::*;
use std::ffi::{c_int, c_void};

#[repr(C)]
struct WindowObjectData {
    opaque: [u8; 0],
}

/// windowapi.h, which is not part of pgrx' bindings.
#[allow(non_snake_case)] // the names are those of Postgres
mod windowapi {
    use super::*;

    // Not guarded one by one, which for every row would take longer than what they do.
    unsafe extern "C-unwind" {
        /// Raises no ERROR.
        pub fn WinGetCurrentPosition(window: *mut WindowObjectData) -> i64;
        /// To be called within `pg_guard_ffi_boundary`.
        pub fn WinGetFuncArgInPartition(
            window: *mut WindowObjectData,
            argument: c_int,
            position: c_int,
            seek_type: c_int,
            set_mark: bool,
            is_null: *mut bool,
            is_out: *mut bool,
        ) -> Datum;
    }

    #[pg_guard]
    unsafe extern "C-unwind" {
        pub fn WinGetPartitionLocalMemory(window: *mut WindowObjectData, size: pg_sys::Size) -> *mut c_void;
        pub fn WinGetPartitionRowCount(window: *mut WindowObjectData) -> i64;
        pub fn WinGetFuncArgCurrent(
            window: *mut WindowObjectData,
            argument: c_int,
            is_null: *mut bool,
        ) -> Datum;
    }
}
use windowapi::*;

const WINDOW_SEEK_HEAD: c_int = 1;

/// One call of a window function, that is, one row of a partition.
pub struct WindowCall {
    fcinfo: FunctionCallInfo,
    window: *mut WindowObjectData,
}

/// Memory of the executor that belongs to a partition, zeroed at its start.
#[repr(C)]
struct PartitionMemory {
    state: *mut c_void,
    on_reset: pg_sys::MemoryContextCallback,
}

impl WindowCall {
    /// # Safety
    /// `fcinfo` is that of a function declared WINDOW, so Postgres calls it with a window object only.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        WindowCall {
            fcinfo,
            window: (*fcinfo).context.cast(),
        }
    }

    /// The current row's place in the partition, from 0.
    pub fn position(&self) -> usize {
        // SAFETY: a live window object, by the contract of `new`.
        unsafe { WinGetCurrentPosition(self.window) as usize }
    }

    /// Types and collations of the arguments.
    pub fn argument_types(&self) -> Vec<ColumnType> {
        // SAFETY: the expression that the window object was made from.
        unsafe {
            let call = (*(*self.fcinfo).flinfo).fn_expr.cast::<pg_sys::WindowFunc>();
            argument_types((*call).args, 0)
        }
    }

    /// The last argument of the current row, if that is an option; then its type is taken away.
    pub fn take_option(&self, types: &mut Vec<ColumnType>) -> Option<OptionArgument> {
        // SAFETY: a live window object, by the contract of `new`.
        unsafe { OptionArgument::take(types, |last| self.current(last)) }
    }

    /// An argument of the current row, by its number from 0: for an option that is the same in all rows of
    /// a partition. It is valid until another row is read.
    pub fn argument(&self, number: usize) -> Option<Datum> {
        let argument = self.current(number);
        (!argument.isnull).then_some(argument.value)
    }

    fn current(&self, number: usize) -> NullableDatum {
        let mut isnull = false;
        // SAFETY: a live window object, by the contract of `new`.
        let value = unsafe { WinGetFuncArgCurrent(self.window, number as c_int, &mut isnull) };
        NullableDatum { value, isnull }
    }

    /// What `build` made of the partition at its first row. It is freed at the partition's end, on error
    /// and when the query stops early.
    pub fn partition_state<S>(&self, build: impl FnOnce(&Self) -> Result<S, Problem>) -> Result<&S, Problem> {
        // SAFETY: the memory is zeroed and lives until the partition's end. Its context calls
        // `on_reset` exactly once, after which nobody can reach the state.
        unsafe {
            let memory = WinGetPartitionLocalMemory(self.window, size_of::<PartitionMemory>())
                .cast::<PartitionMemory>();
            if (*memory).state.is_null() {
                let state = Box::into_raw(Box::new(build(self)?));
                (*memory).state = state.cast();
                (*memory).on_reset.func = Some(drop_state::<S>);
                (*memory).on_reset.arg = state.cast();
                let context = pg_sys::GetMemoryChunkContext(memory.cast());
                pg_sys::MemoryContextRegisterResetCallback(context, &mut (*memory).on_reset);
            }
            Ok(&*(*memory).state.cast::<S>())
        }
    }

    /// Postgres numbers the rows of a partition by integers of 32 bits when it is asked for one of them.
    fn partition_rows(&self) -> Result<c_int, Problem> {
        // SAFETY: a live window object, by the contract of `new`.
        let rows = unsafe { WinGetPartitionRowCount(self.window) };
        c_int::try_from(rows).map_err(|_| {
            let limit = c_int::MAX as u64;
            Problem::from(disclosure::Error::TooMany {
                what: "rows in a window partition",
                limit,
            })
        })
    }

    /// An argument of some row.
    ///
    /// # Safety
    /// Within `pg_guard_ffi_boundary`, as it may raise an ERROR. What is passed by reference is valid until
    /// another row is read.
    unsafe fn in_partition(&self, number: usize, position: c_int) -> NullableDatum {
        let mut argument = NullableDatum::default();
        let mut is_out = false;
        argument.value = WinGetFuncArgInPartition(
            self.window,
            number as c_int,
            position,
            WINDOW_SEEK_HEAD,
            false,
            &mut argument.isnull,
            &mut is_out,
        );
        argument
    }

    /// Encode the arguments that make up `columns`, the first ones, of every row of the partition. There
    /// are no dictionaries where all rows are NULL, so that the columns never became known.
    pub fn read<S: Sink>(&self, columns: Vec<ColumnType>, sink: S) -> Result<Encoded<S>, Problem> {
        let width = columns.len();
        // SAFETY: reads a variable of this backend.
        let context = unsafe { pg_sys::CurrentMemoryContext };
        let mut rows = ArgumentRows::new(columns, sink, Encoder::new, context)?;
        let mut arguments = vec![NullableDatum::default(); width];
        let scratch = Scratch::new();
        let _entered = scratch.enter();
        let mut meter = Meter::new("reading the partition");
        for position in 0..self.partition_rows()? {
            let read = || {
                for (number, argument) in arguments.iter_mut().enumerate() {
                    // SAFETY: within the guard below.
                    *argument = unsafe { self.in_partition(number, position) };
                }
            };
            // SAFETY: nothing in it has to be dropped. The values are of the arguments' types, and encoded before
            // the next row is read.
            unsafe {
                pg_sys::ffi::pg_guard_ffi_boundary(read);
                rows.push(&arguments)?;
            }
            if meter.row()? {
                scratch.reset();
            }
        }
        meter.finish();
        let mut finished = rows.finish()?;
        if finished.dictionaries.is_none() {
            finished.sink.rows(Rows::new(&[], finished.nulls as usize))?;
        }
        Ok(Encoded {
            dictionaries: finished.dictionaries.unwrap_or_default(),
            sink: finished.sink,
        })
    }

    /// The first arguments of every row of the partition, each as one column; `names` are what errors call them.
    pub fn sequences<const WIDTH: usize>(&self, names: [&str; WIDTH]) -> Result<[Sequence; WIDTH], Problem> {
        let types = self.argument_types().into_iter().zip(names);
        let columns = types.enumerate().map(|(number, (column, name))| {
            let mut column = Sequence::new(column.named(name));
            let at_once = if column.is_by_value() { AT_ONCE } else { 1 };
            // SAFETY: values of the argument's type, kept before others are read.
            self.for_each_value(number, at_once, |value| unsafe { column.push(value) })?;
            Ok(column)
        });
        let columns: Vec<Sequence> = columns.collect::<Result<_, Problem>>()?;
        columns.try_into().map_err(|_| Problem::Lost)
    }

    /// The first argument of every row of the partition, which is of type float8.
    pub fn numbers(&self) -> Result<Vec<Option<f64>>, Problem> {
        let mut numbers = Vec::new();
        self.for_each_value(0, AT_ONCE, |value| {
            // SAFETY: declared so in sql/.
            numbers.push(unsafe { f64::from_datum(value.value, value.isnull) });
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Hand an argument of every row of the partition to `on_value`, with scratch memory as the current one.
    /// Postgres takes less time to go through the rows for every argument anew than to read a second argument
    /// of the same row, for which it steps on and back. Up to [`AT_ONCE`] values are read before they are
    /// handed over: only one where they are passed by reference.
    fn for_each_value(
        &self,
        number: usize,
        at_once: c_int,
        mut on_value: impl FnMut(NullableDatum) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let rows = self.partition_rows()?;
        let mut values = [NullableDatum::default(); AT_ONCE as usize];
        let scratch = Scratch::new();
        let _entered = scratch.enter();
        let mut meter = Meter::new("reading the partition");
        for start in (0..rows).step_by(at_once as usize) {
            let values = &mut values[..at_once.min(rows - start) as usize];
            let read = || {
                for (value, position) in values.iter_mut().zip(start..) {
                    // SAFETY: within the guard below.
                    *value = unsafe { self.in_partition(number, position) };
                }
            };
            // SAFETY: nothing in it has to be dropped.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(read) };
            for &value in &*values {
                on_value(value)?;
                if meter.row()? {
                    scratch.reset();
                }
            }
        }
        meter.finish();
        Ok(())
    }
}

/// Values that are read at once.
const AT_ONCE: c_int = 256;

/// # Safety
/// `state` is what `partition_state` has made out of a box of `S`.
unsafe extern "C-unwind" fn drop_state<S>(state: *mut c_void) {
    drop(Box::from_raw(state.cast::<S>()));
}
