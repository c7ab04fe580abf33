//! The aggregate `count_people`: the number of distinct people. In contrast to `count(DISTINCT person)`, it can be
//! called as a window function.

use crate::error::Error;
use crate::input::aggregate::{AggregateCall, so_far};
use crate::methods::classes::counted_state::{CountedState, Measure};
use crate::methods::classes::records::roles_of_row;
use crate::pg::expression::OverColumns;
use crate::pg::types::ColumnType;
use disclosure::NULL;
use pgrx::Internal;
use pgrx::prelude::*;

const COUNT_PEOPLE: OverColumns = OverColumns {
    name: "count_people",
    hint: "Give the columns that identify people, as in SELECT disclosure.count_people(patient_id) FROM t.",
};

struct CountPeople;

impl Measure for CountPeople {
    fn of_call(
        call: &AggregateCall,
        columns: &mut Vec<ColumnType>,
    ) -> Result<(Self, Option<Vec<usize>>), Error> {
        call.check_columns(&COUNT_PEOPLE, columns.len())?;
        let person = roles_of_row(columns)?.map(|roles| roles.unit);
        if person.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::argument(
                COUNT_PEOPLE.name,
                "no column of the relation is labelled as person",
                COUNT_PEOPLE.hint,
            ));
        }
        Ok((CountPeople, person))
    }

    fn write(&self, _out: &mut Vec<u8>) {}

    fn read(_input: &mut &[u8]) -> Result<Self, Error> {
        Ok(CountPeople)
    }
}

/// Transition function of count_people(VARIADIC "any").
#[pg_extern(sql = false)]
fn count_people_transition(call: AggregateCall) -> Internal {
    call.transition::<CountedState<CountPeople>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn count_people_combine(call: AggregateCall) -> Internal {
    call.combine::<CountedState<CountPeople>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn count_people_serialise(call: AggregateCall) -> Vec<u8> {
    call.serialise::<CountedState<CountPeople>>()
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn count_people_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    call.deserialise::<CountedState<CountPeople>>(bytes)
        .unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn count_people_final(mut state: Internal) -> i64 {
    count_people(&mut state).unwrap_or_else(Error::raise)
}

fn count_people(state: &mut Internal) -> Result<i64, Error> {
    let Some(state) = so_far::<CountedState<CountPeople>>(state)? else {
        return Ok(0);
    };
    let (classes, _) = state.so_far()?;
    let people = classes.map_or(0, |people| {
        let nobody = vec![NULL; people.width()];
        people.len() - usize::from(people.find(&nobody).is_some())
    });
    Ok(people as i64)
}
