//! Elimination by weight: the furthest cell by weighted distance, one at a time (Ong 2015, section 4.3).
//!
//! The furthest cell of each row is remembered. An elimination decreases distances only in its row and its
//! column, so only that row, and rows whose furthest cell is in that column, have to be searched again.

use super::elimination::{mean, weighted};
use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations, Threshold};
use crate::{Control, Result};
use ndarray::Array2;

/// Number of rows searched between two checks for cancellation.
const ROWS_PER_CHECK: usize = 1 << 12;

/// Eliminates the furthest cell that may be eliminated until none is above the threshold. Distances are
/// weighted by how many items are left (Ong 2015, Definition 17 and Algorithm 4.1). Ties go to the first
/// cell, row by row.
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    control: &Control,
) -> Result<Eliminations> {
    let mut weights = Weights::new(table);
    let threshold = threshold.resolve(|| {
        mean(
            table
                .reliable()
                .map(|(row, column)| weights.weighted(row, column)),
        )
    });
    let furthest = (0..table.rows()).map(|row| control.check().map(|()| weights.furthest(row)));
    let mut furthest: Vec<Furthest> = furthest.collect::<Result<_>>()?;
    let mut remaining = RemainingCounts::new(table);
    let mut cells = Vec::new();
    loop {
        control.check()?;
        let first = (0, furthest[0].distance);
        let (row, distance) = (1..furthest.len()).fold(first, |best, row| match furthest[row].distance {
            distance if distance > best.1 => (row, distance),
            _ => best,
        });
        let is_above = distance > threshold;
        if !is_above {
            break;
        }
        let column = furthest[row].column;
        cells.push(remaining.eliminate(row, column, Some(distance)));
        weights.eliminate(row, column, &remaining);
        furthest[row] = weights.furthest(row);
        // Distances in the column have decreased, so another cell can be the furthest only in rows whose
        // furthest cell was in this column.
        for (piece, rows) in furthest.chunks_mut(ROWS_PER_CHECK).enumerate() {
            control.check()?;
            for (row, furthest) in rows.iter_mut().enumerate() {
                if furthest.column == column {
                    *furthest = weights.furthest(piece * ROWS_PER_CHECK + row);
                }
            }
        }
    }
    Ok(Eliminations {
        threshold: Some(threshold),
        cells,
    })
}

/// The furthest cell of a row that may be eliminated.
#[derive(Debug, Clone, Copy)]
struct Furthest {
    column: usize,
    /// Weighted distance, minus infinity if there is no such cell.
    distance: f64,
}

/// Distances and weights. NaN marks cells, rows and columns in which nothing may be eliminated, and is not
/// greater than anything.
struct Weights {
    distances: Array2<f64>,
    row_weights: Vec<f64>,
    column_weights: Vec<f64>,
}

impl Weights {
    fn new(table: &DistanceTable) -> Self {
        let remaining = RemainingCounts::new(table);
        let or_nan = |&distance: &f64| if distance >= 0.0 { distance } else { f64::NAN };
        Weights {
            distances: table.view().map(or_nan),
            row_weights: (0..table.rows()).map(|row| remaining.row_weight(row)).collect(),
            column_weights: (0..table.columns())
                .map(|column| remaining.column_weight(column))
                .collect(),
        }
    }

    fn weighted(&self, row: usize, column: usize) -> f64 {
        let distance = self.distances[(row, column)];
        weighted(distance, self.row_weights[row], self.column_weights[column])
    }

    fn eliminate(&mut self, row: usize, column: usize, remaining: &RemainingCounts) {
        self.distances[(row, column)] = f64::NAN;
        let or_nan = |weight: f64| if weight < 1.0 { weight } else { f64::NAN };
        self.row_weights[row] = or_nan(remaining.row_weight(row));
        self.column_weights[column] = or_nan(remaining.column_weight(column));
    }

    fn furthest(&self, row: usize) -> Furthest {
        // A slice, because with the iterator of ndarray, the whole attack takes 9 % longer
        // (benches/semantic.rs, 200 × 20).
        let distances = self.distances.row(row).to_slice().unwrap_or_default();
        let row_weight = self.row_weights[row];
        let none = Furthest {
            column: usize::MAX,
            distance: f64::NEG_INFINITY,
        };
        let cells = distances.iter().zip(&self.column_weights).enumerate();
        cells.fold(
            none,
            |furthest, (column, (&distance, &column_weight))| match weighted(
                distance,
                row_weight,
                column_weight,
            ) {
                distance if distance > furthest.distance => Furthest { column, distance },
                _ => furthest,
            },
        )
    }
}
