//! Search for tables in which only quasi-identifiers can be known, the case of k-anonymity (White, section
//! 5.1): everything that can be known is known for certain and harmless. Then nothing is lost by knowing all
//! of it. Rows that agree on it are adjacent, because packed rows are sorted by their searchable slots first.

use super::bitset::Words;
use super::score::{SearchInput, WorstSoFar};
use rayon::prelude::*;

/// Scores the rows that have all costless attributes, because there is no choice for them. A row that lacks
/// one is left open: rows that have an attribute in that slot may agree with it on all others, and they may
/// be anywhere in the table.
pub(super) fn search<const P: usize>(input: &SearchInput<P>, worst_so_far: &WorstSoFar, open: &mut [bool]) {
    let slots = &input.table.slots;
    let costless = &slots[..input.table.searchable];
    if !costless.iter().all(|slot| slot.is_costless()) {
        return;
    }
    let known: [u64; P] = costless
        .iter()
        .fold([0; P], |set, slot| set.or(&Words::single(slot.bit)));
    let complete = |row: &[u64; P]| known.without(&input.fields.occupied(row)).is_none();
    input.equal_in(costless).into_par_iter().for_each(|run| {
        let first = input.rows[run.start];
        if complete(&first) {
            let differing = input.rows[run.clone()]
                .iter()
                .fold([0; P], |bits: [u64; P], row| bits.or(&row.xor(&first)));
            let occupied = input.fields.occupied(&first);
            let inferred = occupied
                .without(&input.fields.occupied(&differing))
                .without(&known);
            let weight = input.danger_function.of_sum(input.danger_of(&first, &inferred));
            run.for_each(|row| worst_so_far.improve(row, weight, &known));
        }
    });
    for (row, open) in input.rows.iter().zip(open) {
        *open &= !complete(row);
    }
}
