//! The permutation paradigm over the rows of a query: `reverse_map`, `rank_shift`, `rank_correlation`, and the
//! maskers `rank_swap`, `add_noise`, `microaggregate`.

use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::input::window::WindowCall;
use crate::input::{Codes, ColumnType, Dictionary, Ordered, Pairs};
use crate::run;
use disclosure::permutation::{self, Ties, FEW};
use disclosure::NULL;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use pgrx::{AnyElement, Internal};

/// The first arguments of every row of a partition; `columns` says what each is called, and how its values are
/// told apart.
fn read_partition<const WIDTH: usize>(
    call: &WindowCall,
    columns: [(&str, fn(ColumnType) -> Dictionary); WIDTH],
) -> Result<[Ordered; WIDTH], Problem> {
    let types = call.argument_types().into_iter().zip(columns);
    let dictionaries = types.map(|(column, (name, dictionary))| dictionary(column.named(name)));
    let read = call.read_columns(dictionaries.collect(), Codes::default())?;
    let columns = read.dictionaries.into_iter().zip(read.sink.0);
    let columns = columns.map(|(dictionary, codes)| Ordered { dictionary, codes });
    let columns: Vec<Ordered> = columns.collect();
    columns.try_into().map_err(|_| Problem::Lost)
}

/// An argument that counts as it is in the partition's first row, and must not be NULL.
fn setting<T: FromDatum>(call: &WindowCall, number: usize, argument: &'static str) -> Result<T, Problem> {
    let value = call.argument(number);
    // SAFETY: declared with an argument of this type in sql/.
    value
        .and_then(|value| unsafe { T::from_datum(value, false) })
        .ok_or(Problem::Argument {
            argument,
            problem: "must not be NULL".into(),
            hint: "Give a number.",
        })
}

/// The order of equal values, by the argument with this number.
fn random_ties(call: &WindowCall, seed_at: usize) -> Result<Ties, Problem> {
    let seed: i64 = setting(call, seed_at, "seed")?;
    Ok(Ties::Random { seed: seed as u64 })
}

/// A column of a partition whose values have found new rows.
struct Mapped {
    dictionary: Dictionary,
    /// What every row has now.
    codes: Vec<u32>,
}

impl Mapped {
    /// The value of the current row. It is copied, as the executor expects it in memory of its own.
    fn current(&self, call: &WindowCall) -> Option<AnyElement> {
        let code = self.codes[call.position()];
        let value = (code != NULL).then(|| self.dictionary.copy(code))?;
        // SAFETY: a value of the column's type.
        unsafe { AnyElement::from_polymorphic_datum(value, false, self.dictionary.column().oid) }
    }
}

/// reverse_map(original anyelement, anonymised "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn reverse_map(fcinfo: FunctionCallInfo) -> Option<AnyElement> {
    // SAFETY: declared WINDOW in sql/; so are those below.
    let call = unsafe { WindowCall::new(fcinfo) };
    let mapped = call.partition_state(reverse_mapped);
    mapped.unwrap_or_else(Problem::raise).current(&call)
}

/// Algorithm 1 of the paper: every row gets the original value that has the rank of its anonymised one.
fn reverse_mapped(call: &WindowCall) -> Result<Mapped, Problem> {
    let ties = random_ties(call, 2)?;
    let columns = [
        ("original", Dictionary::exact as fn(ColumnType) -> Dictionary),
        ("anonymised", Dictionary::new),
    ];
    let [mut original, mut anonymised] = read_partition(call, columns)?;
    let places = (original.places()?, anonymised.places()?);
    let codes = run::sized("reverse mapping", original.codes.len(), FEW, |control| {
        permutation::reverse_map(&original.codes, [&places.0, &places.1], ties, control)
    })?;
    Ok(Mapped {
        dictionary: original.dictionary,
        codes,
    })
}

/// rank_shift(original "any", anonymised "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn rank_shift(fcinfo: FunctionCallInfo) -> i64 {
    // SAFETY: as above.
    let call = unsafe { WindowCall::new(fcinfo) };
    let shifts = call.partition_state(shifts).unwrap_or_else(Problem::raise);
    i64::from(shifts[call.position()])
}

fn shifts(call: &WindowCall) -> Result<Vec<u32>, Problem> {
    let ties = random_ties(call, 2)?;
    let columns = [
        ("original", Dictionary::new as fn(ColumnType) -> Dictionary),
        ("anonymised", Dictionary::new),
    ];
    let [mut original, mut anonymised] = read_partition(call, columns)?;
    let (original, anonymised) = (original.places()?, anonymised.places()?);
    run::sized("comparing ranks", original.len(), FEW, |control| {
        permutation::rank_shifts(&original, &anonymised, ties, control)
    })
}

/// Transition function of rank_correlation("any", "any")
#[pg_extern(sql = false)]
fn rank_correlation_transition(fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: declared with a first argument of type internal in sql/.
    let call = unsafe { AggregateCall::new(fcinfo) };
    Pairs::transition(&call, ["first", "second"]).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn rank_correlation_final(mut state: Internal) -> Option<f64> {
    rank_correlation(&mut state).unwrap_or_else(Problem::raise)
}

fn rank_correlation(state: &mut Internal) -> Result<Option<f64>, Problem> {
    let Some(pairs) = Pairs::so_far(state) else {
        return Ok(None);
    };
    let [first, second] = &mut pairs.columns;
    let (first, second) = (first.places()?, second.places()?);
    run::sized("correlating ranks", first.len(), FEW, |control| {
        permutation::rank_correlation(&first, &second, control)
    })
}
