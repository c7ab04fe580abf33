//! Reverse mapping (section 2 of the paper) and rank shifts. Columns come in as their orders: lists of
//! records, sorted by value.

use super::rank::{Ties, ranks};
use crate::{Control, Result};

/// Returns the records sorted by the `places` of their values. Equal values are in an order drawn with the
/// seed.
pub fn order_of_places(places: &[u32], seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut order = vec![0; places.len()];
    for (record, rank) in (0..).zip(ranks(places, Ties::Random { seed }, control)?) {
        order[rank as usize / 2 - 1] = record;
    }
    Ok(order)
}

/// Returns for every record the record whose original value has the rank of its released value. This is
/// Algorithm 1 of Domingo-Ferrer and Muralidhar.
pub fn reverse_map(original: &[u32], anonymised: &[u32]) -> Vec<u32> {
    let mut sources = vec![0; original.len()];
    for (&source, &record) in original.iter().zip(anonymised) {
        sources[record as usize] = source;
    }
    sources
}

/// Returns for every record how many ranks its value has moved.
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
