//! The aggregate `rank_correlation`.

use crate::encode::sequence::Sequence;
use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::memory;
use crate::pg::types::ColumnType;
use crate::run::{self, Meter};
use disclosure::permutation::{self, SMALL_COLUMN};
use pgrx::Internal;
use pgrx::prelude::*;

/// Transition function of rank_correlation(first "any", second "any")
#[pg_extern(sql = false)]
fn rank_correlation_transition(call: AggregateCall) -> Internal {
    Pairs::transition(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn rank_correlation_final(mut state: Internal) -> Option<f64> {
    rank_correlation(&mut state).unwrap_or_else(Problem::raise)
}

/// May be called again after more rows.
fn rank_correlation(state: &mut Internal) -> Result<Option<f64>, Problem> {
    // SAFETY: the state is of this type, by the declaration of the aggregate.
    let Some(pairs) = (unsafe { state.get_mut::<Pairs>() }) else {
        return Ok(None); // there were no rows
    };
    let [first, second] = &mut pairs.columns;
    let (first, second) = (first.dense_ranks()?, second.dense_ranks()?);
    run::sized("correlating ranks", first.len(), SMALL_COLUMN, |control| {
        permutation::rank_correlation(&first, &second, control)
    })
}

/// The pairs of values so far.
struct Pairs {
    columns: [Sequence; 2],
    meter: Meter,
}

impl Pairs {
    fn transition(call: &AggregateCall) -> Result<Internal, Problem> {
        let mut state = call.state();
        if !state.initialized() {
            state = call.keep(Self::new(call.argument_types())?);
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

    fn new(types: Vec<ColumnType>) -> Result<Self, Problem> {
        let columns = types.into_iter().zip(["first", "second"]);
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
}
