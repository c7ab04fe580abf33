//! Attributes that cannot be inferred: where a row agrees with another one on everything else, what tells
//! them apart follows from nothing.

use super::bitset::Words;
use super::score::SearchInput;
use crate::sort::sort;
use rayon::prelude::*;

/// For every row the slots of attributes that are in no closure without themselves, as far as rows with
/// one difference show. There may be more in rows that are contained in others; knowing fewer makes a
/// search longer, not wrong.
pub(super) fn blocked<const P: usize>(input: &SearchInput<P>) -> Vec<[u64; P]> {
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
                .map(|(row, number)| (row.without(&field), number)),
        );
        if sort(&mut masked, input.limits.control).is_err() {
            return blocked;
        }
        for alike in masked.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            for &(_, row) in alike {
                let row = row as usize;
                if slot.code(&rows[row]) > 0 {
                    blocked[row] = blocked[row].or(&Words::single(slot.bit));
                }
            }
        }
    }
    blocked
}
