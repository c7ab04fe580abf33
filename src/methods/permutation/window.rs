//! The permutation paradigm over the rows of a window partition: `reverse_map`, `rank_shift`, and the maskers
//! `rank_swap`, `add_noise`, `microaggregate`.
//!
//! Each function computes the results of a whole partition at its first row, and then returns one result
//! after the other.

use crate::encode::sequence::Sequence;
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::run;
use disclosure::permutation::{
    self, MicroaggregationSettings, NoiseSettings, RankSwapSettings, SMALL_COLUMN,
};
use pgrx::AnyElement;
use pgrx::prelude::*;

/// Returns an argument that must not be NULL. Its value in the partition's first row counts.
fn setting<T: FromDatum>(call: &WindowCall, number: usize, argument: &'static str) -> Result<T, Error> {
    let value = call.argument(number);
    // SAFETY: the argument is declared with this type in sql/.
    value
        .and_then(|value| unsafe { T::from_datum(value, false) })
        .ok_or(Error::null(argument, "Give a number."))
}

/// Returns the argument `seed`, which has this number.
fn seed(call: &WindowCall, number: usize) -> Result<u64, Error> {
    setting::<i64>(call, number, "seed").map(|seed| seed as u64)
}

/// reverse_map(original anyelement, released "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn reverse_map(call: WindowCall) -> Option<AnyElement> {
    let mapped = call.partition_state(reverse_mapped).unwrap_or_else(Error::raise);
    mapped.value(call.position())
}

fn reverse_mapped(call: &WindowCall) -> Result<Sequence, Error> {
    let seed = seed(call, 2)?;
    let mut columns = call.sequences(["original", "released"])?;
    let [before, after] = Sequence::paired_orders(&mut columns, seed)?;
    let [original, _] = columns;
    original.arranged(&permutation::reverse_map(&before, &after))
}

/// rank_shift(original "any", released "any", seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn rank_shift(call: WindowCall) -> i64 {
    let shifts = call.partition_state(shifts).unwrap_or_else(Error::raise);
    i64::from(shifts[call.position()])
}

fn shifts(call: &WindowCall) -> Result<Vec<u32>, Error> {
    let seed = seed(call, 2)?;
    let mut columns = call.sequences(["original", "released"])?;
    let [before, after] = Sequence::paired_orders(&mut columns, seed)?;
    Ok(permutation::rank_shifts(&before, &after))
}

/// rank_swap(value anyelement, p float8, seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn rank_swap(call: WindowCall) -> Option<AnyElement> {
    let swapped = call.partition_state(rank_swapped).unwrap_or_else(Error::raise);
    swapped.value(call.position())
}

fn rank_swapped(call: &WindowCall) -> Result<Sequence, Error> {
    let settings = RankSwapSettings {
        p: setting(call, 1, "p")?,
        seed: seed(call, 2)?,
    };
    settings.check()?;
    let [mut values] = call.sequences(["value"])?;
    let dense_ranks = values.dense_ranks()?;
    let sources = run::sized("swapping", values.len(), SMALL_COLUMN, |control| {
        permutation::swap_records(&dense_ranks, &settings, control)
    })?;
    values.arranged(&sources)
}

/// add_noise(value float8, share float8, seed bigint) OVER (…)
#[pg_extern(sql = false)]
fn add_noise(call: WindowCall) -> Option<f64> {
    let noisy = call.partition_state(with_noise).unwrap_or_else(Error::raise);
    noisy[call.position()]
}

fn with_noise(call: &WindowCall) -> Result<Vec<Option<f64>>, Error> {
    let settings = NoiseSettings {
        share: setting(call, 1, "share")?,
        seed: seed(call, 2)?,
    };
    settings.check()?;
    let values = call.numbers()?;
    run::sized("adding noise", values.len(), SMALL_COLUMN, |_| {
        permutation::add_noise(&values, &settings)
    })
}

/// microaggregate(value float8, k int) OVER (…)
#[pg_extern(sql = false)]
fn microaggregate(call: WindowCall) -> Option<f64> {
    let means = call.partition_state(group_means).unwrap_or_else(Error::raise);
    means[call.position()]
}

fn group_means(call: &WindowCall) -> Result<Vec<Option<f64>>, Error> {
    let settings = MicroaggregationSettings {
        // A negative number becomes 0, which is refused.
        k: usize::try_from(setting::<i32>(call, 1, "k")?).unwrap_or(0),
    };
    settings.check()?;
    let values = call.numbers()?;
    run::sized("grouping", values.len(), SMALL_COLUMN, |control| {
        permutation::microaggregate(&values, &settings, control)
    })
}
