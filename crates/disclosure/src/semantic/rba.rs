use super::cluster_attack::{self, Weighting};
use super::clusters::GroupCell;
use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};

/// Eliminates cells by grouping, with weights passed on to the near cluster only (Ong 2015, Algorithms 4.4
/// and 4.5).
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let remaining = RemainingCounts::new(table);
    let weights = Redistributed {
        columns: table.columns(),
        row_weights: vec![remaining.row_weight(0); table.distances().len()],
        column_weights: vec![remaining.column_weight(0); table.distances().len()],
    };
    cluster_attack::eliminate(table, weights, threshold, vulnerability, control)
}

/// Weights of each cell, row by row. They are vectors because with an `Array2` of ndarray, the whole attack
/// takes 6 to 9 % longer (benches/semantic.rs, 100 × 20 and 200 × 20).
struct Redistributed {
    columns: usize,
    row_weights: Vec<f64>,
    column_weights: Vec<f64>,
}

impl Weighting for Redistributed {
    const NEEDS_CLUSTERS: bool = true;

    fn row_weight(&self, row: usize, column: usize) -> f64 {
        self.row_weights[row * self.columns + column]
    }

    fn column_weight(&self, row: usize, column: usize) -> f64 {
        self.column_weights[row * self.columns + column]
    }

    fn redistribute(
        &mut self,
        (row, column): (usize, usize),
        _: &RemainingCounts,
        in_row: &[GroupCell],
        in_column: &[GroupCell],
    ) {
        let cell = row * self.columns + column;
        let in_row = in_row
            .iter()
            .map(|member| row * self.columns + member.number as usize);
        share(&mut self.row_weights, cell, in_row);
        let in_column = in_column
            .iter()
            .map(|member| member.number as usize * self.columns + column);
        share(&mut self.column_weights, cell, in_column);
    }
}

/// Shares the weight of an eliminated cell equally among the other cells of a cluster. If there are none, the
/// weight is lost.
fn share(weights: &mut [f64], eliminated: usize, cluster: impl Iterator<Item = usize> + Clone) {
    let receivers = cluster.filter(|&cell| cell != eliminated);
    let share = weights[eliminated] / receivers.clone().count() as f64;
    for cell in receivers {
        // Weights of a row or column sum to at most 1, except for rounding, which must not make a distance
        // negative.
        weights[cell] = (weights[cell] + share).min(1.0);
    }
}
