//! The permutation paradigm over the rows of a query: `reverse_map`, `rank_shift`, `rank_correlation`, and the
//! maskers `rank_swap`, `add_noise`, `microaggregate`.

use crate::encode::sequence::Sequence;
use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::input::window::WindowCall;
use crate::methods::permutation::correlation::Pairs;
use crate::run;
use disclosure::permutation::{self, FEW};
use pgrx::prelude::*;
use pgrx::{AnyElement, Internal};

/// An argument that counts as it is in the partition's first row, and must not be NULL.
fn setting<T: FromDatum>(call: &WindowCall, number: usize, argument: &'static str) -> Result<T, Problem> {
    let value = call.argument(number);
    // SAFETY: declared with an argument of this type in sql/.
    value
        .and_then(|value| unsafe { T::from_datum(value, false) })
        .ok_or(Problem::null(argument, "Give a number."))
}

/// The argument `seed`, which is the one with this number.
fn seed(call: &WindowCall, number: usize) -> Result<u64, Problem> {
    setting::<i64>(call, number, "seed").map(|seed| seed as u64)
}

/// reverse_map(original anyelement, anonymised "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn reverse_map(call: WindowCall) -> Option<AnyElement> {
    let mapped = call
        .partition_state(reverse_mapped)
        .unwrap_or_else(Problem::raise);
    mapped.value(call.position())
}

fn reverse_mapped(call: &WindowCall) -> Result<Sequence, Problem> {
    let seed = seed(call, 2)?;
    let [mut original, mut anonymised] = call.sequences(["original", "anonymised"])?;
    let orders = Sequence::orders(&mut original, &mut anonymised, seed)?;
    Ok(original.arranged(&permutation::reverse_map(&orders.0, &orders.1)))
}

/// rank_shift(original "any", anonymised "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn rank_shift(call: WindowCall) -> i64 {
    let shifts = call.partition_state(shifts).unwrap_or_else(Problem::raise);
    i64::from(shifts[call.position()])
}

fn shifts(call: &WindowCall) -> Result<Vec<u32>, Problem> {
    let seed = seed(call, 2)?;
    let [mut original, mut anonymised] = call.sequences(["original", "anonymised"])?;
    let orders = Sequence::orders(&mut original, &mut anonymised, seed)?;
    Ok(permutation::rank_shifts(&orders.0, &orders.1))
}

/// rank_swap(value anyelement, p float8, seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn rank_swap(call: WindowCall) -> Option<AnyElement> {
    let swapped = call.partition_state(rank_swapped).unwrap_or_else(Problem::raise);
    swapped.value(call.position())
}

fn rank_swapped(call: &WindowCall) -> Result<Sequence, Problem> {
    let (p, seed) = (setting(call, 1, "p")?, seed(call, 2)?);
    let [mut values] = call.sequences(["value"])?;
    let places = values.places()?;
    let sources = run::sized("swapping", values.len(), FEW, |control| {
        permutation::swap_records(&places, p, seed, control)
    })?;
    Ok(values.arranged(&sources))
}

/// add_noise(value float8, share float8, seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn add_noise(call: WindowCall) -> Option<f64> {
    let noisy = call.partition_state(with_noise).unwrap_or_else(Problem::raise);
    noisy[call.position()]
}

fn with_noise(call: &WindowCall) -> Result<Vec<Option<f64>>, Problem> {
    let (share, seed) = (setting(call, 1, "share")?, seed(call, 2)?);
    let values = call.numbers()?;
    run::sized("adding noise", values.len(), FEW, |_| {
        permutation::add_noise(&values, share, seed)
    })
}

/// microaggregate(value float8, k int) OVER (…)
#[pg_extern(sql = false)]
fn microaggregate(call: WindowCall) -> Option<f64> {
    let means = call.partition_state(group_means).unwrap_or_else(Problem::raise);
    means[call.position()]
}

fn group_means(call: &WindowCall) -> Result<Vec<Option<f64>>, Problem> {
    let k: i32 = setting(call, 1, "k")?;
    let values = call.numbers()?;
    run::sized("grouping", values.len(), FEW, |control| {
        // What is negative is refused as zero is.
        permutation::microaggregate(&values, usize::try_from(k).unwrap_or(0), control)
    })
}

/// Transition function of rank_correlation("any", "any")
#[pg_extern(sql = false)]
fn rank_correlation_transition(call: AggregateCall) -> Internal {
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
