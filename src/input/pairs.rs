//! Two values per row, as an aggregate gets them.

use super::aggregate::AggregateCall;
use super::{ColumnType, Dictionary};
use crate::error::Problem;
use crate::memory;
use crate::run::Meter;
use disclosure::NULL;
use pgrx::Internal;

/// The pairs so far.
pub struct Pairs {
    pub columns: [Ordered; 2],
    meter: Meter,
}

/// A column whose values have an order: what they are, and the code of every row.
pub struct Ordered {
    pub dictionary: Dictionary,
    pub codes: Vec<u32>,
}

impl Ordered {
    /// The place of every row's value among the different ones, from 1; [`NULL`] where there is none.
    pub fn places(&mut self) -> Result<Vec<u32>, Problem> {
        let of_code = self.dictionary.order()?;
        let place = |&code: &u32| match code {
            NULL => NULL,
            code => of_code[code as usize - 1],
        };
        Ok(self.codes.iter().map(place).collect())
    }
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
                for (column, argument) in pairs.columns.iter_mut().zip(call.arguments()) {
                    column.codes.push(match argument.isnull {
                        true => NULL,
                        false => column.dictionary.encode(argument.value)?,
                    });
                }
                pairs.meter.row()?;
            }
        }
        // The meter looks now and then; with many groups of few rows each, that would be never.
        memory::check()?;
        Ok(state)
    }

    fn new(types: Vec<ColumnType>, names: [&str; 2]) -> Result<Self, Problem> {
        let columns = types.into_iter().zip(names).map(|(column, name)| Ordered {
            dictionary: Dictionary::new(column.named(name)),
            codes: Vec::new(),
        });
        let columns: Vec<Ordered> = columns.collect();
        Ok(Pairs {
            columns: columns.try_into().map_err(|_| Problem::Lost)?,
            meter: Meter::new("reading rows"),
        })
    }

    /// For the final function, which may be called again after more rows. `None`: there were no rows.
    pub fn so_far(state: &mut Internal) -> Option<&mut Self> {
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        unsafe { state.get_mut::<Self>() }
    }
}
