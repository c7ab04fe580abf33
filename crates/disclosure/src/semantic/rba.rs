use super::cluster_attack::{self, Weighting};
use super::clusters::Member;
use super::remaining::Left;
use super::{DistanceTable, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};
use ndarray::{Array2, ArrayViewMut1};

/// Grouping, with weights passed on to the near cluster alone (Ong 2015, Algorithms 4.4 and 4.5).
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let left = Left::new(table);
    let shape = (table.rows(), table.columns());
    let weights = Redistributed {
        row_weights: Array2::from_elem(shape, left.row_weight(0)),
        column_weights: Array2::from_elem(shape, left.column_weight(0)),
    };
    cluster_attack::eliminate(table, weights, threshold, vulnerability, control)
}

/// Every cell has weights of its own.
struct Redistributed {
    row_weights: Array2<f64>,
    column_weights: Array2<f64>,
}

impl Weighting for Redistributed {
    const BY_CLUSTERS: bool = true;

    fn row_weight(&self, row: usize, column: usize) -> f64 {
        self.row_weights[(row, column)]
    }

    fn column_weight(&self, row: usize, column: usize) -> f64 {
        self.column_weights[(row, column)]
    }

    fn pass_on(&mut self, (row, column): (usize, usize), _: &Left, in_row: &[Member], in_column: &[Member]) {
        let in_row = in_row.iter().map(|member| member.number as usize);
        share(self.row_weights.row_mut(row), column, in_row);
        let in_column = in_column.iter().map(|member| member.number as usize);
        share(self.column_weights.column_mut(column), row, in_column);
    }
}

/// Shares the weight of an eliminated cell of a row or column equally among a cluster; if that is the cell alone, it is
/// lost.
fn share(mut weights: ArrayViewMut1<f64>, eliminated: usize, cluster: impl Iterator<Item = usize> + Clone) {
    let receivers = cluster.filter(|&cell| cell != eliminated);
    let share = weights[eliminated] / receivers.clone().count() as f64;
    for cell in receivers {
        // Weights of a row sum to 1, but for rounding, by which no distance shall become negative.
        weights[cell] = (weights[cell] + share).min(1.0);
    }
}
