use super::cluster_attack::{self, Weighting};
use super::clusters::GroupCell;
use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};

/// Eliminates cells by grouping: all items left in a row share its weight equally, and so do those in a
/// column (Ong 2015, Algorithm 4.3).
pub(super) fn eliminate(
    table: &DistanceTable,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let remaining = RemainingCounts::new(table);
    let weights = Equal {
        rows: (0..table.rows()).map(|row| remaining.row_weight(row)).collect(),
        columns: (0..table.columns())
            .map(|column| remaining.column_weight(column))
            .collect(),
    };
    cluster_attack::eliminate(table, weights, threshold, vulnerability, control)
}

/// Equal weights: the same for all items left in a row, and for all items left in a column.
struct Equal {
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Weighting for Equal {
    const NEEDS_CLUSTERS: bool = false;

    fn row_weight(&self, row: usize, _: usize) -> f64 {
        self.rows[row]
    }

    fn column_weight(&self, _: usize, column: usize) -> f64 {
        self.columns[column]
    }

    fn redistribute(
        &mut self,
        (row, column): (usize, usize),
        remaining: &RemainingCounts,
        _: &[GroupCell],
        _: &[GroupCell],
    ) {
        self.rows[row] = remaining.row_weight(row);
        self.columns[column] = remaining.column_weight(column);
    }
}
