//! Reverse mapping (section 2 of the paper) and rank shifts, from the orders of the columns.

use super::rank::{Ties, ranks};
use crate::{Control, Result};

/// Returns the order of a column, given the dense ranks of its values. Equal values are in an order drawn
/// with the seed.
pub fn order_by_dense_ranks(dense_ranks: &[u32], seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut order = vec![0; dense_ranks.len()];
    for (record, rank) in (0..).zip(ranks(dense_ranks, Ties::Random { seed }, control)?) {
        order[rank as usize / 2 - 1] = record;
    }
    Ok(order)
}

/// Returns for every record the record whose original value has the rank of its released value. This is
/// Algorithm 1 of Domingo-Ferrer and Muralidhar.
pub fn reverse_map(original_order: &[u32], released_order: &[u32]) -> Vec<u32> {
    let mut sources = vec![0; original_order.len()];
    for (&source, &record) in original_order.iter().zip(released_order) {
        sources[record as usize] = source;
    }
    sources
}

/// Returns for every record how many ranks its value has moved.
pub fn rank_shifts(original_order: &[u32], released_order: &[u32]) -> Vec<u32> {
    let mut rank_before = vec![0u32; original_order.len()];
    for (rank, &record) in (0..).zip(original_order) {
        rank_before[record as usize] = rank;
    }
    let mut shifts = vec![0; original_order.len()];
    for (rank, &record) in (0..).zip(released_order) {
        shifts[record as usize] = rank_before[record as usize].abs_diff(rank);
    }
    shifts
}
