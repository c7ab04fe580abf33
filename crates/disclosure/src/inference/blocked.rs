//! Blocked attributes, which cannot be inferred. If two rows differ in one slot only, their attributes in
//! that slot do not follow from their other attributes.

use super::bitset::Words;
use super::score::SearchInput;
use crate::parallel_sort::parallel_sort;
use rayon::prelude::*;

/// Returns for every row the slots of its blocked attributes: those that are in no closure of other
/// attributes. Finds only attributes that are blocked by a row with a single difference. A row that has all
/// other attributes and more would block too, but is not found. Missing some makes a search longer, not
/// wrong.
pub(super) fn find<const P: usize>(input: &SearchInput<P>) -> Vec<[u64; P]> {
    let rows = input.rows;
    let mut blocked = vec![[0; P]; rows.len()];
    let mut masked: Vec<([u64; P], u32)> = Vec::with_capacity(rows.len());
    for slot in input
        .table
        .slots
        .iter()
        .filter(|slot| slot.danger.iter().any(|&danger| danger > 0.0))
    {
        if input.limits.reached() {
            return blocked;
        }
        let field = slot.field();
        masked.clear();
        masked.par_extend(
            rows.par_iter()
                .zip(0..rows.len() as u32)
                .map(|(bits, row)| (bits.without(&field), row)),
        );
        if parallel_sort(&mut masked, input.limits.control).is_err() {
            return blocked;
        }
        for alike in masked.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            for &(_, row) in alike {
                let row = row as usize;
                if slot.slot_code(&rows[row]) > 0 {
                    blocked[row] = blocked[row].or(&Words::single(slot.bit));
                }
            }
        }
    }
    blocked
}
