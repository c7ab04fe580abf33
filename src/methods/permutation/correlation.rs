//! The aggregate `rank_correlation`.

use crate::encode::sequence::Sequence;
use crate::error::Error;
use crate::input::aggregate::AggregateCall;
use crate::memory;
use crate::pg::expression::OverColumns;
use crate::pg::types::ColumnType;
use crate::run::{self, Meter};
use disclosure::permutation::{self, SMALL_COLUMN};
use pgrx::Internal;
use pgrx::prelude::*;

const RANK_CORRELATION: OverColumns = OverColumns {
    name: "rank_correlation",
    hint: "Give two columns, as in SELECT disclosure.rank_correlation(income, masked_income) FROM t.",
};

/// Transition function of rank_correlation(first "any", second "any").
#[pg_extern(sql = false)]
fn rank_correlation_transition(call: AggregateCall) -> Internal {
    Pairs::transition(&call).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn rank_correlation_final(mut state: Internal) -> Option<f64> {
    rank_correlation(&mut state).unwrap_or_else(Error::raise)
}

/// Returns the correlation of the rows so far. More rows may follow.
fn rank_correlation(state: &mut Internal) -> Result<Option<f64>, Error> {
    // SAFETY: the aggregate is declared with this transition function, which creates states of this type.
    let Some(pairs) = (unsafe { state.get_mut::<Pairs>() }) else {
        return Ok(None); // there were no rows
    };
    let [first, second] = &mut pairs.columns;
    let (first, second) = (first.dense_ranks()?, second.dense_ranks()?);
    run::sized("correlating ranks", first.len(), SMALL_COLUMN, |control| {
        permutation::rank_correlation(&first, &second, control)
    })
}

/// Pairs of values that were read so far.
struct Pairs {
    columns: [Sequence; 2],
    meter: Meter,
}

impl Pairs {
    fn transition(call: &AggregateCall) -> Result<Internal, Error> {
        let mut state = call.state();
        if !state.initialized() {
            let types = call.argument_types();
            call.check_columns(&RANK_CORRELATION, types.len())?;
            state = call.keep(Self::new(types)?);
        }
        // SAFETY: the state was created above, in this or an earlier call, for values of the arguments'
        // types.
        unsafe {
            if let Some(pairs) = state.get_mut::<Self>() {
                for (column, &argument) in pairs.columns.iter_mut().zip(call.arguments()) {
                    column.push(argument)?;
                }
                pairs.meter.row()?;
            }
        }
        // The meter checks memory every 1,024 rows, which small groups never reach, however many there are.
        memory::check()?;
        Ok(state)
    }

    fn new(types: Vec<ColumnType>) -> Result<Self, Error> {
        let columns = types.into_iter().zip(["first", "second"]);
        let columns: Vec<Sequence> = columns
            .map(|(column, name)| Sequence::new(column.named(name), 0))
            .collect();
        Ok(Pairs {
            columns: columns
                .try_into()
                .map_err(|_| Error::Internal("the number of columns is not the one that was asked for"))?,
            meter: Meter::new("reading rows"),
        })
    }
}
