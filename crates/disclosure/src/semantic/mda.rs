use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations};

/// Eliminates the reliable cell that is furthest away (Ong 2015, formula 4.1). Ties go to the first cell, row
/// by row.
pub(super) fn eliminate(table: &DistanceTable) -> Eliminations {
    let mut remaining = RemainingCounts::new(table);
    let furthest = table
        .reliable()
        .filter(|&(row, column)| remaining.may_be_eliminated(row, column))
        .map(|(row, column)| (row, column, table.distance(row, column)))
        .reduce(|furthest, cell| if cell.2 > furthest.2 { cell } else { furthest });
    let eliminate = |(row, column, distance)| remaining.eliminate(row, column, Some(distance));
    Eliminations {
        threshold: None,
        cells: furthest.map(eliminate).into_iter().collect(),
    }
}
