//! Road (c): an aggregate, whose rows arrive one call at a time, perhaps in several processes.
//!
//! A method implements [`AggregateState`] and, if parts can be put together, [`MergeableState`]. Its support functions
//! are the methods of [`AggregateCall`] of the same names; its final function starts with [`so_far`].

use crate::encode::arguments::argument_types;
use crate::encode::wire;
use crate::error::Problem;
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
    /// # Safety
    /// `fcinfo` is that of an aggregate's support function; its first argument is the state, of type
    /// internal, so that no user can call it.
    pub unsafe fn new(fcinfo: FunctionCallInfo) -> Self {
        AggregateCall(fcinfo)
    }

    /// The arguments after the state.
    pub fn arguments(&self) -> &[NullableDatum] {
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
    pub fn context(&self) -> pg_sys::MemoryContext {
        let mut context = std::ptr::null_mut();
        // SAFETY: called as a support function, by the contract of `new`.
        unsafe { pg_sys::AggCheckCallContext(self.0, &mut context) };
        context
    }

    /// Puts a new state in memory that lives as long as the aggregate needs it; its destructor runs when
    /// that memory is freed.
    pub fn keep<S>(&self, state: S) -> Internal {
        // SAFETY: the current context is put back.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.context());
            let kept = Internal::new(state);
            pg_sys::MemoryContextSwitchTo(before);
            kept
        }
    }

    /// The expressions of the arguments after the state: their list, and the place in it of the first one.
    fn expressions(&self) -> (*mut pg_sys::List, usize) {
        // SAFETY: the expression trees that the executor calls us for.
        unsafe {
            let aggregate = pg_sys::AggGetAggref(self.0);
            if aggregate.is_null() {
                // As a window function: only the call of the transition function is known, whose first
                // argument is the state.
                let call = (*(*self.0).flinfo).fn_expr.cast::<pg_sys::FuncExpr>();
                ((*call).args, 1)
            } else {
                ((*aggregate).args, 0)
            }
        }
    }

    /// Types and collations of the arguments after the state.
    pub fn argument_types(&self) -> Vec<ColumnType> {
        let (list, skip) = self.expressions();
        // SAFETY: expressions of the current plan.
        let mut types = unsafe { argument_types(list, skip) };
        // An ORDER BY within the aggregate adds columns behind the arguments.
        types.truncate(self.arguments().len());
        types
    }

    /// Refuses a call that was meant for a relation, see [`OverColumns::check`]. The first `count` arguments should be
    /// columns.
    pub fn check_columns(&self, function: &OverColumns, count: usize) -> Result<(), Problem> {
        let (list, skip) = self.expressions();
        // SAFETY: expressions of the current plan, of which there are as many as arguments, or more.
        unsafe { function.check(&arguments_of(list, skip)[..count]) }
    }
}

/// The state of an aggregate.
pub trait AggregateState: Sized + 'static {
    /// What progress messages call the reading of rows.
    const PHASE: &'static str = "reading rows";

    /// The state before the first row, which `call` is for.
    fn new(call: &AggregateCall) -> Result<Self, Problem>;

    /// Takes in the arguments of one row.
    ///
    /// # Safety
    /// They are valid Datums of the types that those of the first row had.
    unsafe fn push(&mut self, arguments: &[NullableDatum]) -> Result<(), Problem>;
}

/// The state of an aggregate that several processes can compute together, each with a part of the rows.
pub trait MergeableState: AggregateState {
    /// Puts two parts together.
    fn merge(self, other: Self) -> Result<Self, Problem>;

    /// Appends the state in a form for another process of this server.
    fn write(self, out: &mut Vec<u8>) -> Result<(), Problem>;

    /// Reads what [`write`](Self::write) has written.
    fn read(input: &mut &[u8]) -> Result<Self, Problem>;
}

/// A state as Postgres keeps it between two calls.
struct Kept<S> {
    /// `None` after it was moved to another part or process.
    state: Option<S>,
    meter: Meter,
}

impl<S: AggregateState> Kept<S> {
    fn new(state: Option<S>) -> Self {
        let meter = Meter::new(S::PHASE);
        Kept { state, meter }
    }

    /// The state behind a value of type internal.
    fn of(internal: &mut Internal) -> Option<&mut Self> {
        // SAFETY: every state of type internal was made by `keep`, and those of one aggregate are of one type.
        unsafe { internal.get_mut() }
    }
}

impl AggregateCall {
    /// The transition function.
    pub fn transition<S: AggregateState>(&self) -> Result<Internal, Problem> {
        let mut state = self.state();
        if !state.initialized() {
            state = self.keep(Kept::new(Some(S::new(self)?)));
        }
        if let Some(Kept {
            state: Some(state),
            meter,
        }) = Kept::<S>::of(&mut state)
        {
            // SAFETY: the state was made above, in this or an earlier call with arguments of the same types.
            unsafe { state.push(self.arguments())? };
            meter.row()?;
        }
        // The meter looks now and then; with many groups of few rows each, that would be never.
        memory::check()?;
        Ok(state)
    }

    /// The combine function.
    pub fn combine<S: MergeableState>(&self) -> Result<Internal, Problem> {
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

    /// The serial function. The state has done its work then.
    pub fn serialise<S: MergeableState>(&self) -> Result<Vec<u8>, Problem> {
        let mut out = wire::local();
        let mut state = self.state();
        if let Some(state) = Kept::<S>::of(&mut state).and_then(|kept| kept.state.take()) {
            state.write(&mut out)?;
        }
        wire::finish("a part of an aggregate", out)
    }

    /// The deserial function.
    pub fn deserialise<S: MergeableState>(&self, mut input: &[u8]) -> Result<Internal, Problem> {
        wire::take_local(&mut input)?;
        let state = S::read(&mut input)?;
        Ok(self.keep(Kept::new(Some(state))))
    }
}

/// For the final function, which may be called again after more rows: the state, and `None` without rows.
pub fn so_far<S: AggregateState>(internal: &mut Internal) -> Result<Option<&mut S>, Problem> {
    memory::check()?;
    Ok(Kept::of(internal).and_then(|kept| kept.state.as_mut()))
}
