//! Two values per row, as an aggregate gets them.

use crate::encode::sequence::Sequence;
use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::memory;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use pgrx::Internal;

/// The pairs so far.
pub struct Pairs {
    pub columns: [Sequence; 2],
    meter: Meter,
}

impl Pairs {
    /// The transition function; errors name the two arguments as given.
    pub fn transition(call: &AggregateCall, names: [&str; 2]) -> Result<Internal, Problem> {
        let mut state = call.state();
        if !state.initialized() {
            state = call.keep(Self::new(call.argument_types(), names)?);
        }
        // SAFETY: the state was made above, in this or an earlier call, for values of the arguments' types.
        unsafe {
            if let Some(pairs) = state.get_mut::<Self>() {
                for (column, &argument) in pairs.columns.iter_mut().zip(call.arguments()) {
                    column.push(argument)?;
                }
                pairs.meter.row()?;
            }
        }
        // The meter looks now and then; with many groups of few rows each, that would be never.
        memory::check()?;
        Ok(state)
    }

    fn new(types: Vec<ColumnType>, names: [&str; 2]) -> Result<Self, Problem> {
        let columns = types.into_iter().zip(names);
        let columns: Vec<Sequence> = columns
            .map(|(column, name)| Sequence::new(column.named(name), 0))
            .collect();
        Ok(Pairs {
            columns: columns
                .try_into()
                .map_err(|_| Problem::Internal("the number of columns is not the one that was asked for"))?,
            meter: Meter::new("reading rows"),
        })
    }

    /// For the final function, which may be called again after more rows. `None`: there were no rows.
    pub fn so_far(state: &mut Internal) -> Option<&mut Self> {
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        unsafe { state.get_mut::<Self>() }
    }
}
