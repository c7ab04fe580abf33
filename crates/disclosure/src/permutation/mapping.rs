//! Reverse mapping and rank shifts. Columns come in as their records, in the order of the values.

use super::rank::{Ties, ranks};
use crate::{Control, Result};

/// The records in the order of their values, which `places` has; equal ones in an order that the seed draws.
pub fn order_of_places(places: &[u32], seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut order = vec![0; places.len()];
    for (record, rank) in (0..).zip(ranks(places, Ties::Random { seed }, control)?) {
        order[rank as usize / 2 - 1] = record;
    }
    Ok(order)
}

/// Algorithm 1 of Domingo-Ferrer and Muralidhar: for every record, the one whose original value has the rank of
/// its anonymised value.
pub fn reverse_map(original: &[u32], anonymised: &[u32]) -> Vec<u32> {
    let mut sources = vec![0; original.len()];
    for (&source, &record) in original.iter().zip(anonymised) {
        sources[record as usize] = source;
    }
    sources
}

/// How many ranks every record's value has moved.
pub fn rank_shifts(original: &[u32], anonymised: &[u32]) -> Vec<u32> {
    let mut rank_before = vec![0u32; original.len()];
    for (rank, &record) in (0..).zip(original) {
        rank_before[record as usize] = rank;
    }
    let mut shifts = vec![0; original.len()];
    for (rank, &record) in (0..).zip(anonymised) {
        shifts[record as usize] = rank_before[record as usize].abs_diff(rank);
    }
    shifts
}
