//! Road (a): a window partition, read once at its first row.

use crate::encode::arguments::{ArgumentRows, OptionArgument, argument_types};
use crate::encode::encoder::Encoder;
use crate::encode::sequence::Sequence;
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::pg::call::whole_call;
use crate::pg::expression::{OverColumns, arguments_of};
use crate::pg::memory_context::Scratch;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use disclosure::Rows;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, NullableDatum};
use pgrx::prelude::*;
use std::ffi::{c_int, c_void};

/// The beginning of what nodeWindowAgg.c has under this name, the same in all majors.
#[repr(C)]
struct WindowObjectData {
    tag: pg_sys::NodeTag,
    node: *mut pg_sys::WindowAggState,
    /// The states of the arguments' expressions.
    arguments: *mut pg_sys::List,
    /// What `WinGetPartitionLocalMemory` returns, once it was asked.
    memory: *mut PartitionMemory,
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

whole_call!(WindowCall);

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
        // SAFETY: by the contract of the function.
        unsafe {
            WindowCall {
                fcinfo,
                window: (*fcinfo).context.cast(),
            }
        }
    }

    /// The current row's place in the partition, from 0.
    pub fn position(&self) -> usize {
        // SAFETY: a live window object, by the contract of `new`.
        unsafe { WinGetCurrentPosition(self.window) as usize }
    }

    /// The expressions of the arguments.
    fn expressions(&self) -> *mut pg_sys::List {
        // SAFETY: the expression that the window object was made from.
        unsafe { (*(*(*self.fcinfo).flinfo).fn_expr.cast::<pg_sys::WindowFunc>()).args }
    }

    /// Types and collations of the arguments.
    pub fn argument_types(&self) -> Vec<ColumnType> {
        // SAFETY: expressions of the current plan.
        unsafe { argument_types(self.expressions(), 0) }
    }

    /// Refuses a call that was meant for a relation, see [`OverColumns::check`]. The first `count` arguments should be
    /// columns.
    pub fn check_columns(&self, function: &OverColumns, count: usize) -> Result<(), Problem> {
        // SAFETY: expressions of the current plan, one for each argument.
        unsafe { function.check(&arguments_of(self.expressions(), 0)[..count]) }
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

    /// Read the first arguments of some row.
    ///
    /// Postgres itself reads one argument of a row at a time, and for another one of the same row it steps on and
    /// back, which from a file takes far longer than all the rest. So only the first argument is left to it; the
    /// others are then evaluated on the row that it has found, as it does itself.
    ///
    /// # Safety
    /// Within `pg_guard_ffi_boundary`, as it may raise an ERROR. What is passed by reference is valid until
    /// another row is read.
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
                            None => Datum::from(0), // it has been prepared when the query began
                        }
                    }
                };
            }
        }
    }

    /// Hand the first `width` arguments of every row of the partition to `on_row`, with scratch memory as the
    /// current one. Up to `at_once` rows are read before they are handed over: only one where values are
    /// passed by reference, as those are valid until another row is read.
    fn for_each_row(
        &self,
        width: usize,
        at_once: usize,
        mut on_row: impl FnMut(&[NullableDatum]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
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
                    // SAFETY: within the guard below.
                    unsafe { self.read_row(position, row) };
                }
            };
            // SAFETY: nothing in it has to be dropped.
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

    /// Encode the arguments that make up `columns`, the first ones, of every row of the partition. There
    /// are no dictionaries where all rows are NULL, so that the columns never became known.
    pub fn read<S: Sink>(&self, columns: Vec<ColumnType>, sink: S) -> Result<Encoded<S>, Problem> {
        let width = columns.len();
        // SAFETY: reads a variable of this backend.
        let context = unsafe { pg_sys::CurrentMemoryContext };
        let mut rows = ArgumentRows::new(columns, sink, Encoder::new, context)?;
        // SAFETY: values of the arguments' types, encoded before the next row is read.
        self.for_each_row(width, 1, |arguments| unsafe { rows.push(arguments) })?;
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
            // SAFETY: values of the arguments' types, kept before others are read.
            columns.try_for_each(|(column, &argument)| unsafe { column.push(argument) })
        })?;
        columns
            .try_into()
            .map_err(|_| Problem::Internal("the number of columns is not the one that was asked for"))
    }

    /// The first argument of every row of the partition, which is of type float8.
    pub fn numbers(&self) -> Result<Vec<Option<f64>>, Problem> {
        let mut numbers = Vec::new();
        self.for_each_row(1, AT_ONCE, |arguments| {
            // SAFETY: declared so in sql/.
            numbers.push(unsafe { f64::from_datum(arguments[0].value, arguments[0].isnull) });
            Ok(())
        })?;
        Ok(numbers)
    }
}

/// Rows that are read within one guard against ERRORs, which takes longer than reading one.
const AT_ONCE: usize = 256;

/// # Safety
/// `state` is what `partition_state` has made out of a box of `S`.
unsafe extern "C-unwind" fn drop_state<S>(state: *mut c_void) {
    // SAFETY: Postgres calls it with valid pointers.
    unsafe {
        drop(Box::from_raw(state.cast::<S>()));
    }
}
