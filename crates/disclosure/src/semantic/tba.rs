use super::elimination::mean;
use super::remaining::Left;
use super::{DistanceTable, Eliminations, Threshold};
use crate::{Control, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All cells further away than the threshold (Ong 2015, formulas 4.2 and 4.3), the furthest first, as another may be the
/// last of its row or column by then; of equal ones the first, row by row.
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    control: &Control,
) -> Result<Eliminations> {
    let distances = table.reliable().map(|(row, column)| table.distance(row, column));
    let threshold = threshold.resolve(|| mean(distances));
    // Bits of numbers that are not negative are in their order; the sum is 0 also of -0.
    let order = |(row, column)| {
        (
            (table.distance(row, column) + 0.0).to_bits(),
            Reverse((row, column)),
        )
    };
    // A heap, as a sort would not notice a cancel.
    let mut beyond: BinaryHeap<_> = table
        .reliable()
        .filter(|&(row, column)| table.distance(row, column) > threshold)
        .map(order)
        .collect();
    let mut left = Left::new(table);
    let mut cells = Vec::new();
    while let Some((_, Reverse((row, column)))) = beyond.pop() {
        control.check()?;
        if left.may_be_eliminated(row, column) {
            cells.push(left.eliminate(row, column, Some(table.distance(row, column))));
        }
    }
    Ok(Eliminations {
        threshold: Some(threshold),
        cells,
    })
}
