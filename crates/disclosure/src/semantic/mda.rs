use super::remaining::Left;
use super::{DistanceTable, Eliminations};

/// Eliminates the reliable cell that is furthest away (Ong 2015, formula 4.1). Ties go to the first cell, row
/// by row.
pub(super) fn eliminate(table: &DistanceTable) -> Eliminations {
    let mut left = Left::new(table);
    let furthest = table
        .reliable()
        .filter(|&(row, column)| left.may_be_eliminated(row, column))
        .map(|(row, column)| (row, column, table.distance(row, column)))
        .reduce(|furthest, cell| if cell.2 > furthest.2 { cell } else { furthest });
    let eliminate = |(row, column, distance)| left.eliminate(row, column, Some(distance));
    Eliminations {
        threshold: None,
        cells: furthest.map(eliminate).into_iter().collect(),
    }
}
