//! The aggregate `k_anonymity`: the size of the smallest class of rows that are equal on the given columns.

use crate::encode::arguments::OptionArgument;
use crate::encode::wire::{put_varint, take_varint};
use crate::error::Error;
use crate::input::aggregate::{AggregateCall, so_far};
use crate::methods::classes::counted_state::{CountedState, Measure};
use crate::methods::classes::records::roles_of_row;
use crate::methods::classes::{nulls_of_option, sizes_of, sizes_of_records};
use crate::pg::expression::OverColumns;
use crate::pg::types::ColumnType;
use disclosure::classes::{Nulls, Records, Roles};
use pgrx::Internal;
use pgrx::prelude::*;

const K_ANONYMITY: OverColumns = OverColumns {
    name: "k_anonymity",
    hint: "Give columns, as in SELECT disclosure.k_anonymity(age, zip) FROM t; for a whole relation see \
           disclosure.equivalence_classes('t').",
};

struct KAnonymity {
    nulls: Nulls,
    /// Roles of the columns if the argument is a row of a labelled relation.
    roles: Option<Roles>,
}

impl Measure for KAnonymity {
    fn of_call(
        call: &AggregateCall,
        columns: &mut Vec<ColumnType>,
    ) -> Result<(Self, Option<Vec<usize>>), Error> {
        // SAFETY: every argument has the type at its position.
        let option = unsafe { OptionArgument::take(columns, |last| call.arguments()[last]) };
        call.check_columns(&K_ANONYMITY, columns.len())?;
        let nulls = nulls_of_option(option)?;
        let roles = roles_of_row(columns)?;
        let read = roles.as_ref().map(|roles| roles.positions());
        let roles = roles.map(|roles| roles.for_records());
        Ok((KAnonymity { nulls, roles }, read))
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.nulls == Nulls::Wildcard));
        put_varint(out, u64::from(self.roles.is_some()));
        if let Some(roles) = &self.roles {
            for positions in [&roles.quasi, &roles.person] {
                put_varint(out, positions.len() as u64);
                positions
                    .iter()
                    .for_each(|&position| put_varint(out, position as u64));
            }
        }
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let nulls = match take_varint(input)? {
            0 => Nulls::Value,
            _ => Nulls::Wildcard,
        };
        let roles = match take_varint(input)? {
            0 => None,
            _ => Some(Roles {
                quasi: take_positions(input)?,
                person: take_positions(input)?,
                ..Roles::default()
            }),
        };
        Ok(KAnonymity { nulls, roles })
    }
}

fn take_positions(input: &mut &[u8]) -> Result<Vec<usize>, Error> {
    let number = take_varint(input)?;
    (0..number).map(|_| Ok(take_varint(input)? as usize)).collect()
}

/// Transition function of k_anonymity(VARIADIC "any").
#[pg_extern(sql = false)]
fn k_anonymity_transition(call: AggregateCall) -> Internal {
    call.transition::<CountedState<KAnonymity>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_combine(call: AggregateCall) -> Internal {
    call.combine::<CountedState<KAnonymity>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_serialise(call: AggregateCall) -> Vec<u8> {
    call.serialise::<CountedState<KAnonymity>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    call.deserialise::<CountedState<KAnonymity>>(bytes)
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_final(mut state: Internal) -> Option<i64> {
    k_anonymity(&mut state).unwrap_or_else(Error::raise)
}

fn k_anonymity(state: &mut Internal) -> Result<Option<i64>, Error> {
    let Some(state) = so_far::<CountedState<KAnonymity>>(state)? else {
        return Ok(None);
    };
    let (nulls, roles) = (state.measure.nulls, state.measure.roles.clone());
    let (classes, null_rows) = state.so_far()?;
    let k = match (classes, roles) {
        (Some(classes), None) => sizes_of(classes, nulls)?.iter().min().copied(),
        (Some(classes), Some(roles)) => {
            let records = Records::of_classes(classes, roles)?;
            sizes_of_records(&records, nulls)?.iter().min().copied()
        }
        (None, _) => Some(null_rows).filter(|&rows| rows > 0),
    };
    Ok(k.map(|k| k as i64))
}
