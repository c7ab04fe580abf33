use super::cluster_attack::{self, Weighting};
use super::clusters::Member;
use super::remaining::Left;
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
    let left = Left::new(table);
    let weights = Equal {
        rows: (0..table.rows()).map(|row| left.row_weight(row)).collect(),
        columns: (0..table.columns())
            .map(|column| left.column_weight(column))
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
    const BY_CLUSTERS: bool = false;

    fn row_weight(&self, row: usize, _: usize) -> f64 {
        self.rows[row]
    }

    fn column_weight(&self, _: usize, column: usize) -> f64 {
        self.columns[column]
    }

    fn pass_on(&mut self, (row, column): (usize, usize), left: &Left, _: &[Member], _: &[Member]) {
        self.rows[row] = left.row_weight(row);
        self.columns[column] = left.column_weight(column);
    }
}
