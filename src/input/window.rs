//! Input of window functions: reads a whole partition once, at its first row.
//!
//! The state that a method makes of a partition is kept in the executor's memory for that partition and
//! returned for all its rows. Rows are read with the functions of windowapi.h, which pgrx does not bind.

use crate::args::names;
use crate::encode::arguments::{ArgumentRows, OptionArgument, argument_types};
use crate::encode::encoder::Encoder;
use crate::encode::sequence::Sequence;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::pg::call::whole_call;
use crate::pg::expression::{OverColumns, arguments_of};
use crate::pg::memory_context::Scratch;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use disclosure::Rows;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, NullableDatum};
use pgrx::prelude::*;
use pgrx::{Array, FromDatum};
use std::ffi::{CStr, c_int, c_void};

/// Beginning of the struct of this name in nodeWindowAgg.c, which is the same in all supported major
/// versions.
#[repr(C)]
struct WindowObjectData {
    tag: pg_sys::NodeTag,
    node: *mut pg_sys::WindowAggState,
    /// States of the arguments' expressions.
    arguments: *mut pg_sys::List,
    /// Result of `WinGetPartitionLocalMemory`; null before its first call for a partition.
    memory: *mut PartitionMemory,
}

/// Functions of windowapi.h, which pgrx does not bind.
#[allow(non_snake_case)] // the names are those of Postgres
mod windowapi {
    use super::*;

    // Without #[pg_guard], because a guard for every row would take longer than the functions themselves.
    unsafe extern "C-unwind" {
        /// Never raises an ERROR.
        pub fn WinGetCurrentPosition(window: *mut WindowObjectData) -> i64;
        /// Must be called within `pg_guard_ffi_boundary`.
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

whole_call!(WindowCall);

/// One call of a window function, that is, one row of a partition.
pub struct WindowCall {
    fcinfo: FunctionCallInfo,
    window: *mut WindowObjectData,
}

/// Options of a window function, by the number of the argument, from 0.
pub struct WindowOptions<'a>(&'a WindowCall);

impl WindowOptions<'_> {
    /// Returns an option; `None` if it is NULL.
    pub fn get<T: FromDatum>(&self, number: usize) -> Option<T> {
        // SAFETY: by the contract of `WindowCall::options`.
        unsafe { T::from_datum(self.0.argument(number)?, false) }
    }

    /// Returns an option of type name[]; `None` if it is NULL.
    pub fn names(&self, number: usize) -> Option<Vec<Option<String>>> {
        self.get::<Array<'_, &CStr>>(number).map(names)
    }
}

/// Memory of the executor that belongs to one partition. It is zeroed when the partition begins.
#[repr(C)]
struct PartitionMemory {
    state: *mut c_void,
    on_reset: pg_sys::MemoryContextCallback,
}

impl WindowCall {
    /// Wraps the current call.
    ///
    /// # Safety
    /// `fcinfo` must be that of a function declared WINDOW, which Postgres calls only with a window object.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            WindowCall {
                fcinfo,
                window: (*fcinfo).context.cast(),
            }
        }
    }

    /// Returns the current row's position in the partition, from 0.
    pub fn position(&self) -> usize {
        // SAFETY: the window object is live, by the contract of `new`.
        unsafe { WinGetCurrentPosition(self.window) as usize }
    }

    /// Returns the expressions of the arguments.
    fn expressions(&self) -> *mut pg_sys::List {
        // SAFETY: the expression of a function declared WINDOW is a WindowFunc.
        unsafe { (*(*(*self.fcinfo).flinfo).fn_expr.cast::<pg_sys::WindowFunc>()).args }
    }

    /// Returns the types and collations of the arguments.
    pub fn argument_types(&self) -> Vec<ColumnType> {
        // SAFETY: these expressions are part of the current plan.
        unsafe { argument_types(self.expressions(), 0) }
    }

    /// Refuses a call that was meant for a relation, see [`OverColumns::check`]. The first `count` arguments should be
    /// columns.
    pub fn check_columns(&self, function: &OverColumns, count: usize) -> Result<(), Error> {
        // SAFETY: these expressions are part of the current plan, one for each argument.
        unsafe { function.check(&arguments_of(self.expressions(), 0)[..count]) }
    }

    /// Returns the last argument of the current row if it is an option, and then removes its type from
    /// `types`.
    pub fn take_option(&self, types: &mut Vec<ColumnType>) -> Option<OptionArgument> {
        // SAFETY: `current` returns the argument with that number, which has the type with that number.
        unsafe { OptionArgument::take(types, |last| self.current(last)) }
    }

    /// Returns an argument of the current row by its number, from 0; `None` if it is NULL. It is meant for an
    /// option that is the same in all rows of a partition. The value is valid until another row is read.
    pub fn argument(&self, number: usize) -> Option<Datum> {
        let argument = self.current(number);
        (!argument.isnull).then_some(argument.value)
    }

    /// Returns a reader of the options, which are the same in all rows of a partition.
    ///
    /// # Safety
    /// `sql/` must declare every option with a type that it is read as.
    pub unsafe fn options(&self) -> WindowOptions<'_> {
        WindowOptions(self)
    }

    fn current(&self, number: usize) -> NullableDatum {
        let mut isnull = false;
        // SAFETY: the window object is live, by the contract of `new`.
        let value = unsafe { WinGetFuncArgCurrent(self.window, number as c_int, &mut isnull) };
        NullableDatum { value, isnull }
    }

    /// Returns the state that `build` makes of the partition at its first row. The state is freed at the end
    /// of the partition, after an error, and when the query stops early.
    pub fn partition_state<S>(&self, build: impl FnOnce(&Self) -> Result<S, Error>) -> Result<&S, Error> {
        // SAFETY: the memory is zeroed and lives until the end of the partition. Its context calls `on_reset`
        // exactly once, and the state cannot be reached afterwards.
        unsafe {
            let mut memory = (*self.window).memory;
            if memory.is_null() {
                memory = WinGetPartitionLocalMemory(self.window, size_of::<PartitionMemory>()).cast();
            }
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

    /// Returns the number of rows in the partition; an error if it exceeds a C int, because Postgres takes
    /// the position of a row to be read as a C int.
    fn partition_rows(&self) -> Result<c_int, Error> {
        // SAFETY: the window object is live, by the contract of `new`.
        let rows = unsafe { WinGetPartitionRowCount(self.window) };
        c_int::try_from(rows).map_err(|_| {
            let limit = c_int::MAX as u64;
            Error::from(disclosure::Error::TooMany {
                what: "rows in a window partition",
                limit,
            })
        })
    }

    /// Reads the first arguments of the row at a position.
    ///
    /// Postgres reads one argument of one row at a time. For another argument of the same row it steps
    /// forward and back, which takes far longer than everything else if the rows are in a file. Postgres
    /// therefore reads only the first argument. The others are evaluated here on the row that it has found,
    /// as Postgres does itself.
    ///
    /// # Safety
    /// Must be called within `pg_guard_ffi_boundary`, because it may raise an ERROR. Values that are passed
    /// by reference are valid until another row is read.
    unsafe fn read_row(&self, position: c_int, arguments: &mut [NullableDatum]) {
        // SAFETY: by the contract of the function.
        unsafe {
            let states = (*(*self.window).arguments).elements;
            let context = (*(*self.window).node).ss.ps.ps_ExprContext;
            for (number, argument) in arguments.iter_mut().enumerate() {
                let mut is_out = false;
                argument.value = match number {
                    0 => WinGetFuncArgInPartition(
                        self.window,
                        0,
                        position,
                        WINDOW_SEEK_HEAD,
                        false,
                        &mut argument.isnull,
                        &mut is_out,
                    ),
                    _ => {
                        let state = (*states.add(number)).ptr_value.cast::<pg_sys::ExprState>();
                        match (*state).evalfunc {
                            Some(evaluate) => evaluate(state, context, &mut argument.isnull),
                            None => Datum::from(0), // never happens: it was prepared when the query began
                        }
                    }
                };
            }
        }
    }

    /// Passes the first `width` arguments of every row of the partition to `on_row`, in a scratch memory
    /// context. Up to `at_once` rows are read before they are passed on. It must be 1 if values are passed by
    /// reference, because those are valid only until another row is read.
    fn for_each_row(
        &self,
        width: usize,
        at_once: usize,
        mut on_row: impl FnMut(&[NullableDatum]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut arguments = vec![NullableDatum::default(); width * at_once];
        let scratch = Scratch::new();
        let _entered = scratch.enter();
        let mut meter = Meter::new("reading the partition");
        let rows = self.partition_rows()?;
        for start in (0..rows).step_by(at_once) {
            let number = at_once.min((rows - start) as usize);
            let arguments = &mut arguments[..width * number];
            let read = || {
                for (position, row) in (start..).zip(arguments.chunks_exact_mut(width)) {
                    // SAFETY: the guard below surrounds the call.
                    unsafe { self.read_row(position, row) };
                }
            };
            // SAFETY: nothing in `read` has to be dropped if an ERROR leaves it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(read) };
            for row in arguments.chunks_exact(width) {
                on_row(row)?;
                if meter.row()? {
                    scratch.reset();
                }
            }
        }
        meter.finish();
        Ok(())
    }

    /// Encodes the first arguments of every row of the partition, those that make up `columns`. There are no
    /// dictionaries if the only column is an anonymous row that is NULL in all rows, because its columns
    /// never became known.
    pub fn read<S: Sink + Default>(&self, columns: Vec<ColumnType>) -> Result<Encoded<S>, Error> {
        self.read_by(
            columns,
            |columns| Ok(Encoder::new(columns, S::default())),
            S::default,
        )
    }

    /// Encodes the first arguments like [`read`](Self::read). `new_encoder` makes the encoder once the columns are known.
    /// If they never are, the sink is `sink_without_columns`.
    pub fn read_by<S: Sink>(
        &self,
        columns: Vec<ColumnType>,
        new_encoder: impl FnOnce(Vec<ColumnType>) -> Result<Encoder<S>, Error> + 'static,
        sink_without_columns: impl FnOnce() -> S,
    ) -> Result<Encoded<S>, Error> {
        let width = columns.len();
        // SAFETY: only this thread uses the variable.
        let context = unsafe { pg_sys::CurrentMemoryContext };
        let mut rows = ArgumentRows::new(columns, new_encoder, context)?;
        // SAFETY: the values have the arguments' types and are encoded before the next row is read.
        self.for_each_row(width, 1, |arguments| unsafe { rows.push(arguments) })?;
        let finished = rows.finish()?;
        match finished.encoded {
            Some(encoded) => Ok(encoded),
            None => {
                let mut sink = sink_without_columns();
                sink.rows(Rows::new(&[], finished.nulls as usize))?;
                Ok(Encoded {
                    dictionaries: Vec::new(),
                    sink,
                })
            }
        }
    }

    /// Returns the first arguments of every row of the partition, each as one column. Errors call the columns
    /// by `names`.
    pub fn sequences<const WIDTH: usize>(&self, names: [&str; WIDTH]) -> Result<[Sequence; WIDTH], Error> {
        let types = self.argument_types().into_iter().zip(names);
        let rows = self.partition_rows()? as usize;
        let mut columns: Vec<Sequence> = types
            .map(|(column, name)| Sequence::new(column.named(name), rows))
            .collect();
        let at_once = match columns.iter().all(Sequence::is_by_value) {
            true => AT_ONCE,
            false => 1,
        };
        self.for_each_row(WIDTH, at_once, |arguments| {
            let mut columns = columns.iter_mut().zip(arguments);
            // SAFETY: the values have the arguments' types and are kept before others are read.
            columns.try_for_each(|(column, &argument)| unsafe { column.push(argument) })
        })?;
        columns
            .try_into()
            .map_err(|_| Error::Internal("the number of columns differs from the number requested"))
    }

    /// Returns the first argument, of type float8, of every row of the partition.
    pub fn numbers(&self) -> Result<Vec<Option<f64>>, Error> {
        let mut numbers = Vec::new();
        self.for_each_row(1, AT_ONCE, |arguments| {
            // SAFETY: sql/ declares the argument as float8.
            numbers.push(unsafe { f64::from_datum(arguments[0].value, arguments[0].isnull) });
            Ok(())
        })?;
        Ok(numbers)
    }
}

/// Number of rows that are read within one guard against ERRORs. A guard takes longer than reading a row.
const AT_ONCE: usize = 256;

/// Drops the state of a partition.
///
/// # Safety
/// `state` must be a pointer that `partition_state` has made from a box of `S`, and must not be used again.
unsafe extern "C-unwind" fn drop_state<S>(state: *mut c_void) {
    // SAFETY: by the contract of the function.
    unsafe {
        drop(Box::from_raw(state.cast::<S>()));
    }
}
