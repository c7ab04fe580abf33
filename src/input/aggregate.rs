//! Input of aggregates: rows arrive one call at a time, perhaps in several processes.
//!
//! A method implements [`AggregateState`] and, if partial states can be merged, [`MergeableState`]. Its
//! support functions are the methods of [`AggregateCall`] of the same names; its final function starts with
//! [`so_far`].

use crate::encode::arguments::argument_types;
use crate::encode::wire;
use crate::error::Error;
use crate::memory;
use crate::pg::call::whole_call;
use crate::pg::expression::{OverColumns, arguments_of};
use crate::pg::types::ColumnType;
use crate::run::Meter;
use pgrx::Internal;
use pgrx::pg_sys::{self, FunctionCallInfo, NullableDatum};

whole_call!(AggregateCall);

/// One call of an aggregate's support function.
pub struct AggregateCall(FunctionCallInfo);

impl AggregateCall {
    /// Wraps the current call.
    ///
    /// # Safety
    /// `fcinfo` must be that of an aggregate's support function. Its first argument must be the state, of
    /// type internal, so that users cannot call the function.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        AggregateCall(fcinfo)
    }

    /// Returns the arguments after the state.
    pub fn arguments(&self) -> &[NullableDatum] {
        // SAFETY: Postgres fills `nargs` arguments.
        unsafe { &(*self.0).args.as_slice((*self.0).nargs as usize)[1..] }
    }

    /// Returns the state so far, which is not initialised before the first row.
    pub fn state(&self) -> Internal {
        // SAFETY: the first argument is the state, by the contract of `new`.
        let state = unsafe { (*self.0).args.as_slice(1)[0] };
        Internal::from((!state.isnull).then_some(state.value))
    }

    /// Returns the memory context that lives as long as the aggregate's state.
    pub fn context(&self) -> pg_sys::MemoryContext {
        let mut context = std::ptr::null_mut();
        // SAFETY: this is a call of a support function, by the contract of `new`.
        unsafe { pg_sys::AggCheckCallContext(self.0, &mut context) };
        context
    }

    /// Moves a new state to memory that lives as long as the aggregate needs it. The state's destructor runs
    /// when that memory is freed.
    pub fn keep<S>(&self, state: S) -> Internal {
        // SAFETY: the aggregate's context is live, and the current context is restored.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.context());
            let kept = Internal::new(state);
            pg_sys::MemoryContextSwitchTo(before);
            kept
        }
    }

    /// Returns the expressions of the arguments after the state: their list, and the index of the first one.
    fn expressions(&self) -> (*mut pg_sys::List, usize) {
        // SAFETY: the executor makes the call from these expression trees, so they are valid.
        unsafe {
            let aggregate = pg_sys::AggGetAggref(self.0);
            if aggregate.is_null() {
                // The aggregate is used as a window function. Only the call of the transition function is
                // known, whose first argument is the state.
                let call = (*(*self.0).flinfo).fn_expr.cast::<pg_sys::FuncExpr>();
                ((*call).args, 1)
            } else {
                ((*aggregate).args, 0)
            }
        }
    }

    /// Returns the types and collations of the arguments after the state.
    pub fn argument_types(&self) -> Vec<ColumnType> {
        let (list, skip) = self.expressions();
        // SAFETY: the executor makes the call from these expression trees, so they are valid.
        let mut types = unsafe { argument_types(list, skip) };
        // An ORDER BY within the aggregate appends columns to the arguments.
        types.truncate(self.arguments().len());
        types
    }

    /// Refuses a call that was meant for a relation, see [`OverColumns::check`]. The first `count` arguments should be
    /// columns.
    pub fn check_columns(&self, function: &OverColumns, count: usize) -> Result<(), Error> {
        let (list, skip) = self.expressions();
        // SAFETY: expressions of the current plan, of which there are as many as arguments, or more.
        unsafe { function.check(&arguments_of(list, skip)[..count]) }
    }
}

/// State of an aggregate.
pub trait AggregateState: Sized + 'static {
    /// Name of the reading of rows in progress messages.
    const PHASE: &'static str = "reading rows";

    /// Returns the state before the first row. `call` is the call with that row.
    fn new(call: &AggregateCall) -> Result<Self, Error>;

    /// Adds the arguments of one row.
    ///
    /// # Safety
    /// They must be valid Datums of the types that those of the first row had.
    unsafe fn push(&mut self, arguments: &[NullableDatum]) -> Result<(), Error>;
}

/// State of an aggregate that several processes can compute together, each from a part of the rows.
pub trait MergeableState: AggregateState {
    /// Returns the merged state of two parts.
    fn merge(self, other: Self) -> Result<Self, Error>;

    /// Appends the state in a form for another process of this server.
    fn write(self, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Reads a state that [`write`](Self::write) has written.
    fn read(input: &mut &[u8]) -> Result<Self, Error>;
}

/// State as Postgres keeps it between two calls.
struct Kept<S> {
    /// `None` after the state was merged into another one or written for another process.
    state: Option<S>,
    meter: Meter,
}

impl<S: AggregateState> Kept<S> {
    fn new(state: Option<S>) -> Self {
        let meter = Meter::new(S::PHASE);
        Kept { state, meter }
    }

    /// Returns the state behind a value of type internal.
    fn of(internal: &mut Internal) -> Option<&mut Self> {
        // SAFETY: `keep` made every state of type internal, and all states of one aggregate are of one type.
        unsafe { internal.get_mut() }
    }
}

impl AggregateCall {
    /// Implements the transition function.
    pub fn transition<S: AggregateState>(&self) -> Result<Internal, Error> {
        let mut state = self.state();
        if !state.initialized() {
            state = self.keep(Kept::new(Some(S::new(self)?)));
        }
        if let Some(Kept {
            state: Some(state),
            meter,
        }) = Kept::<S>::of(&mut state)
        {
            // SAFETY: the state was made above, in this call or in an earlier one with arguments of the same
            // types.
            unsafe { state.push(self.arguments())? };
            meter.row()?;
        }
        // The meter checks only every 1,024th row of a group. With many small groups that would be never.
        memory::check()?;
        Ok(state)
    }

    /// Implements the combine function.
    pub fn combine<S: MergeableState>(&self) -> Result<Internal, Error> {
        let mut state = self.state();
        let other = self.arguments()[0];
        let mut other = Internal::from((!other.isnull).then_some(other.value));
        let Some(other) = Kept::<S>::of(&mut other).and_then(|kept| kept.state.take()) else {
            return Ok(state);
        };
        match Kept::<S>::of(&mut state) {
            Some(this) => {
                this.state = Some(match this.state.take() {
                    Some(this) => this.merge(other)?,
                    None => other,
                })
            }
            None => state = self.keep(Kept::new(Some(other))),
        }
        memory::check()?;
        Ok(state)
    }

    /// Implements the serial function, which uses up the state.
    pub fn serialise<S: MergeableState>(&self) -> Result<Vec<u8>, Error> {
        let mut out = wire::local();
        let mut state = self.state();
        if let Some(state) = Kept::<S>::of(&mut state).and_then(|kept| kept.state.take()) {
            state.write(&mut out)?;
        }
        wire::finish("a part of an aggregate", out)
    }

    /// Implements the deserial function.
    pub fn deserialise<S: MergeableState>(&self, mut input: &[u8]) -> Result<Internal, Error> {
        wire::take_local(&mut input)?;
        let state = S::read(&mut input)?;
        Ok(self.keep(Kept::new(Some(state))))
    }
}

/// Returns the state for the final function; `None` if there were no rows. The final function may be called
/// again after more rows.
pub fn so_far<S: AggregateState>(internal: &mut Internal) -> Result<Option<&mut S>, Error> {
    memory::check()?;
    Ok(Kept::of(internal).and_then(|kept| kept.state.as_mut()))
}
