use super::elimination::mean;
use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations, Threshold};
use crate::{Control, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Eliminates all cells that are further away than the threshold (Ong 2015, formulas 4.2 and 4.3). The
/// furthest comes first, because a later cell may then be the last of its row or column and has to stay. Ties
/// go to the first cell, row by row.
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    control: &Control,
) -> Result<Eliminations> {
    let distances = table.reliable().map(|(row, column)| table.distance(row, column));
    let threshold = threshold.resolve(|| mean(distances));
    // The bits of non-negative numbers are in the order of the numbers. Adding 0.0 turns -0.0 into 0.0.
    let order = |(row, column)| {
        (
            (table.distance(row, column) + 0.0).to_bits(),
            Reverse((row, column)),
        )
    };
    // A heap, because a sort of the standard library could not be cancelled.
    let mut beyond: BinaryHeap<_> = table
        .reliable()
        .filter(|&(row, column)| table.distance(row, column) > threshold)
        .map(order)
        .collect();
    let mut remaining = RemainingCounts::new(table);
    let mut cells = Vec::new();
    while let Some((_, Reverse((row, column)))) = beyond.pop() {
        control.check()?;
        if remaining.may_be_eliminated(row, column) {
            cells.push(remaining.eliminate(row, column, Some(table.distance(row, column))));
        }
    }
    Ok(Eliminations {
        threshold: Some(threshold),
        cells,
    })
}
