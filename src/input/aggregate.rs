//! Road (c): an aggregate, whose rows arrive one call at a time, perhaps in several processes.

use crate::encode::arguments::{ArgumentRows, Finished, OptionArgument, argument_types};
use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::wire::{put, take};
use crate::encode::{Sink, wire};
use crate::error::Problem;
use crate::memory;
use crate::pg::call::whole_call;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use disclosure::{NULL, Rows};
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
    fn context(&self) -> pg_sys::MemoryContext {
        let mut context = std::ptr::null_mut();
        // SAFETY: called as a support function, by the contract of `new`.
        unsafe { pg_sys::AggCheckCallContext(self.0, &mut context) };
        context
    }

    /// Put a new state in memory that lives as long as the aggregate needs it; its destructor runs when
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

    /// Types and collations of the arguments after the state.
    pub fn argument_types(&self) -> Vec<ColumnType> {
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

/// What a method makes of encoded rows, in one process or in parts that are merged.
pub trait RowMethod: Sink + Sized {
    /// `option` is the last argument if that is an option, as it is at the first row.
    fn new(option: Option<OptionArgument>) -> Result<Self, Problem>;
    /// Take in the rows of `other`, whose codes `translation` translates column by column.
    fn merge(&mut self, other: &Self, translation: &[Vec<u32>]) -> Result<(), Problem>;
    fn write(&self, out: &mut Vec<u8>);
    fn read(input: &mut &[u8]) -> Result<Self, Problem>;
}

/// The state of any aggregate over rows.
#[expect(
    clippy::large_enum_variant,
    reason = "one per group, and never moved while rows come in"
)]
pub enum RowAggregate<M: RowMethod> {
    /// Rows are coming in.
    Reading { rows: ArgumentRows<M>, meter: Meter },
    /// Parts are coming in, each read by a process of its own.
    Merging(Finished<M>),
    /// What was read or merged is on its way to another process.
    Sent,
}

impl<M: RowMethod> RowAggregate<M> {
    /// The transition function.
    pub fn transition(call: &AggregateCall) -> Result<Internal, Problem> {
        let arguments = call.arguments();
        let mut state = call.state();
        if !state.initialized() {
            let mut columns = call.argument_types();
            // SAFETY: the argument that belongs to the last of the types.
            let option = unsafe { OptionArgument::take(&mut columns, |last| arguments[last]) };
            // Without a thread: there may be thousands of groups, and parallel workers already.
            let rows = ArgumentRows::new(columns, M::new(option)?, Encoder::alone, call.context())?;
            let meter = Meter::new("reading rows");
            state = call.keep(Self::Reading { rows, meter });
        }
        // SAFETY: the state was made above, in this or an earlier call; the arguments are of the types
        // that it was made for.
        unsafe {
            if let Some(Self::Reading { rows, meter }) = state.get_mut::<Self>() {
                rows.push(arguments)?;
                meter.row()?;
            }
        }
        // The meter looks now and then; with many groups of few rows each, that would be never.
        memory::check()?;
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
        let (this, other) = unsafe { (state.get_mut::<Self>(), other.get_mut::<Self>()) };
        let other = other.map_or(Ok(None), Self::take_finished)?;
        let merged = match (this.map_or(Ok(None), Self::take_finished)?, other) {
            (Some(this), Some(other)) => merge(this, other)?,
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Ok(state),
        };
        // SAFETY: as above.
        match unsafe { state.get_mut::<Self>() } {
            Some(this) => *this = Self::Merging(merged),
            None => state = call.keep(Self::Merging(merged)),
        }
        Ok(state)
    }

    /// The serial function. The state has done its work then.
    pub fn serialise(call: &AggregateCall) -> Result<Vec<u8>, Problem> {
        let mut state = call.state();
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        let this = unsafe { state.get_mut::<Self>() };
        let mut out = wire::local();
        if let Some(finished) = this.map_or(Ok(None), Self::take_finished)? {
            put(&mut out, finished.nulls);
            put(&mut out, u64::from(finished.dictionaries.is_some()));
            if let Some(dictionaries) = &finished.dictionaries {
                put(&mut out, dictionaries.len() as u64);
                dictionaries
                    .iter()
                    .for_each(|dictionary| dictionary.write(&mut out));
            }
            finished.sink.write(&mut out);
        }
        wire::finish("a part of an aggregate", out)
    }

    /// The deserial function.
    pub fn deserialise(call: &AggregateCall, mut input: &[u8]) -> Result<Internal, Problem> {
        let input = &mut input;
        wire::take_local(input)?;
        let nulls = take(input)?;
        let dictionaries = match take(input)? {
            0 => None,
            _ => Some(
                (0..take(input)?)
                    .map(|_| Dictionary::read(input))
                    .collect::<Result<_, _>>()?,
            ),
        };
        let sink = M::read(input)?;
        Ok(call.keep(Self::Merging(Finished {
            dictionaries,
            sink,
            nulls,
        })))
    }

    /// For the final function, which may be called again after more rows: what the method has, and how
    /// many more rows there were of which nothing but NULL is known.
    pub fn so_far(state: &mut Internal) -> Result<(Option<&M>, u64), Problem> {
        memory::check()?;
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        match unsafe { state.get_mut::<Self>() } {
            Some(Self::Reading { rows, .. }) => rows.so_far(),
            Some(Self::Merging(finished)) => Ok((Some(&finished.sink), finished.nulls)),
            Some(Self::Sent) | None => Ok((None, 0)),
        }
    }

    fn take_finished(&mut self) -> Result<Option<Finished<M>>, Problem> {
        match std::mem::replace(self, Self::Sent) {
            Self::Reading { rows, .. } => rows.finish().map(Some),
            Self::Merging(finished) => Ok(Some(finished)),
            Self::Sent => Ok(None),
        }
    }
}

fn merge<M: RowMethod>(this: Finished<M>, other: Finished<M>) -> Result<Finished<M>, Problem> {
    // The one that knows its columns, if either does, takes in the other.
    let (mut this, other) = match this.dictionaries {
        Some(_) => (this, other),
        None => (other, this),
    };
    let Some(here) = &mut this.dictionaries else {
        this.nulls += other.nulls;
        return Ok(this);
    };
    if let Some(there) = &other.dictionaries {
        let pairs = here.iter_mut().zip(there);
        let translation = pairs
            .map(|(here, there)| here.adopt(there))
            .collect::<Result<Vec<_>, _>>()?;
        this.sink.merge(&other.sink, &translation)?;
    }
    let nulls = vec![NULL; other.nulls as usize];
    this.sink
        .rows(Rows::new(&vec![&nulls[..]; here.len()], nulls.len()))?;
    Ok(this)
}
