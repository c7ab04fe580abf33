//! Road (c): an aggregate, whose rows arrive one call at a time, perhaps in several processes.

use super::{argument_types, put, take, ArgumentRows, ColumnType, Encoder, OptionArgument};
use crate::error::Problem;
use crate::run::Meter;
use disclosure::Rows;
use pgrx::pg_sys::{self, FunctionCallInfo, NullableDatum};
use pgrx::Internal;

/// One call of an aggregate's support function.
pub struct AggregateCall(FunctionCallInfo);

impl AggregateCall {
    /// # Safety
    /// `fcinfo` is that of an aggregate's support function; its first argument is the state, of type
    /// internal, so that no user can call it.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        AggregateCall(fcinfo)
    }

    /// The arguments after the state.
    fn arguments(&self) -> &[NullableDatum] {
        // SAFETY: Postgres fills as many arguments as it says.
        unsafe { &(*self.0).args.as_slice((*self.0).nargs as usize)[1..] }
    }

    /// The state so far, and `None` before the first row.
    pub fn state(&self) -> Internal {
        // SAFETY: the first argument is the state, by the contract of `new`.
        let state = unsafe { (*self.0).args.as_slice(1)[0] };
        Internal::from((!state.isnull).then_some(state.value))
    }

    /// Memory that lives as long as the aggregate's state.
    fn context(&self) -> pg_sys::MemoryContext {
        let mut context = std::ptr::null_mut();
        // SAFETY: called as a support function, by the contract of `new`.
        unsafe { pg_sys::AggCheckCallContext(self.0, &mut context) };
        context
    }

    /// Put a new state in memory that lives as long as the aggregate needs it; its destructor runs when
    /// that memory is freed.
    fn keep<S>(&self, state: S) -> Internal {
        // SAFETY: the current context is put back.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.context());
            let kept = Internal::new(state);
            pg_sys::MemoryContextSwitchTo(before);
            kept
        }
    }

    /// Types and collations of the arguments after the state.
    fn argument_types(&self) -> Vec<ColumnType> {
        let wanted = self.arguments().len();
        // SAFETY: the expression trees that the executor calls us for.
        let mut types = unsafe {
            let aggregate = pg_sys::AggGetAggref(self.0);
            if aggregate.is_null() {
                // As a window function: only the call of the transition function is known, whose first
                // argument is the state.
                let call = (*(*self.0).flinfo).fn_expr.cast::<pg_sys::FuncExpr>();
                argument_types((*call).args, 1)
            } else {
                argument_types((*aggregate).args, 0)
            }
        };
        // An ORDER BY within the aggregate adds columns behind the arguments.
        types.truncate(wanted);
        types
    }
}

/// What a method does with encoded rows.
pub trait RowMethod: Sized {
    /// `option` is the last argument if that is an option, as it is at the first row.
    fn new(option: Option<OptionArgument>) -> Result<Self, Problem>;
    fn rows(&mut self, rows: Rows) -> Result<(), Problem>;
    /// Take in the rows of `other`, whose codes `translation` translates column by column.
    fn merge(&mut self, other: &Self, translation: &[Vec<u32>]) -> Result<(), Problem>;
    fn write(&self, out: &mut Vec<u8>);
    fn read(input: &mut &[u8]) -> Result<Self, Problem>;
}

/// The state of any aggregate over rows: the encoder, and what a method makes of the rows.
pub struct RowAggregate<M> {
    rows: ArgumentRows,
    meter: Meter,
    method: M,
}

impl<M: RowMethod> RowAggregate<M> {
    fn new(rows: ArgumentRows, method: M) -> Self {
        RowAggregate {
            rows,
            meter: Meter::new("reading rows"),
            method,
        }
    }

    /// The transition function.
    pub fn transition(call: &AggregateCall) -> Result<Internal, Problem> {
        let arguments = call.arguments();
        let mut state = call.state();
        if !state.initialized() {
            let mut columns = call.argument_types();
            // SAFETY: the argument that belongs to the last of the types.
            let option = unsafe { OptionArgument::take(&mut columns, |last| arguments[last]) };
            let rows = ArgumentRows::new(columns, call.context())?;
            state = call.keep(Self::new(rows, M::new(option)?));
        }
        // SAFETY: the state was made above, in this or an earlier call; the arguments are of the types
        // that it was made for.
        unsafe {
            if let Some(this) = state.get_mut::<Self>() {
                let method = &mut this.method;
                this.rows.push(arguments, |rows: Rows| method.rows(rows))?;
                this.meter.row()?;
            }
        }
        Ok(state)
    }

    /// The combine function.
    pub fn combine(call: &AggregateCall) -> Result<Internal, Problem> {
        let mut state = call.state();
        let other = call.arguments()[0];
        if other.isnull {
            return Ok(state);
        }
        let mut other = Internal::from(Some(other.value));
        // SAFETY: both states are of this type, by the declaration of the aggregate.
        unsafe {
            match (state.get_mut::<Self>(), other.get_mut::<Self>()) {
                (Some(this), Some(other)) => this.merge(other)?,
                (None, Some(other)) => {
                    let empty = Self::new(ArgumentRows::new(vec![], call.context())?, M::new(None)?);
                    state = call.keep(std::mem::replace(other, empty));
                }
                _ => {}
            }
        }
        Ok(state)
    }

    fn merge(&mut self, other: &mut Self) -> Result<(), Problem> {
        if self.rows.encoder.is_none() {
            std::mem::swap(self, other);
        }
        let method = &mut self.method;
        let Some(here) = &mut self.rows.encoder else {
            self.rows.early_nulls += other.rows.early_nulls;
            return Ok(());
        };
        if let Some(there) = &other.rows.encoder {
            let translation = here.adopt(there)?;
            method.merge(&other.method, &translation)?;
        }
        (0..other.rows.early_nulls).try_for_each(|_| here.push_null(|rows: Rows| method.rows(rows)))
    }

    /// The serial function.
    pub fn serialise(call: &AggregateCall) -> Result<Vec<u8>, Problem> {
        let mut out = Vec::new();
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        if let Some(this) = unsafe { call.state().get_mut::<Self>() } {
            this.settle()?;
            put(&mut out, this.rows.early_nulls);
            put(&mut out, u64::from(this.rows.encoder.is_some()));
            if let Some(encoder) = &this.rows.encoder {
                encoder.write(&mut out);
            }
            this.method.write(&mut out);
        }
        Ok(out)
    }

    /// Hand over to the method what waits for its batch to be full.
    fn settle(&mut self) -> Result<(), Problem> {
        match &mut self.rows.encoder {
            Some(encoder) => encoder.flush(|rows: Rows| self.method.rows(rows)),
            None => Ok(()),
        }
    }

    /// The deserial function.
    pub fn deserialise(call: &AggregateCall, mut input: &[u8]) -> Result<Internal, Problem> {
        let input = &mut input;
        let early_nulls = take(input);
        let encoder = match take(input) {
            0 => None,
            _ => Some(Encoder::read(input)?),
        };
        let rows = ArgumentRows {
            context: call.context(),
            shape: None,
            encoder,
            early_nulls,
        };
        Ok(call.keep(Self::new(rows, M::read(input)?)))
    }

    /// For the final function, which may be called again after more rows: what the method has, and how
    /// many more rows there were of which nothing but NULL is known.
    pub fn so_far(state: &mut Internal) -> Result<Option<(&M, u64)>, Problem> {
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        let Some(this) = (unsafe { state.get_mut::<Self>() }) else {
            return Ok(None);
        };
        this.settle()?;
        Ok(Some((&this.method, this.rows.early_nulls)))
    }
}
