use super::{DistanceTable, Elimination};

/// Numbers of items left in each row and each column, including unreliable ones.
#[derive(Debug)]
pub(super) struct RemainingCounts {
    rows: Vec<u32>,
    columns: Vec<u32>,
}

impl RemainingCounts {
    /// Creates the counts of a table from which nothing is eliminated yet.
    pub(super) fn new(table: &DistanceTable) -> Self {
        RemainingCounts {
            rows: vec![table.columns() as u32; table.rows()],
            columns: vec![table.rows() as u32; table.columns()],
        }
    }

    /// Returns whether a cell may be eliminated. Every row and every column contains an original item (Ong
    /// 2015, Observation 1), so none may lose its last item.
    pub(super) fn may_be_eliminated(&self, row: usize, column: usize) -> bool {
        self.rows[row] >= 2 && self.columns[column] >= 2
    }

    pub(super) fn eliminate(&mut self, row: usize, column: usize, score: Option<f64>) -> Elimination {
        self.rows[row] -= 1;
        self.columns[column] -= 1;
        Elimination {
            row: row as u32,
            column: column as u32,
            score,
        }
    }

    /// Returns the weight of every item in a row: all that are left are equally likely to be original (Ong
    /// 2015, Figure 4.6a).
    pub(super) fn row_weight(&self, row: usize) -> f64 {
        1.0 / f64::from(self.rows[row])
    }

    /// Returns the weight of every item in a column (Ong 2015, Figure 4.6b).
    pub(super) fn column_weight(&self, column: usize) -> f64 {
        1.0 / f64::from(self.columns[column])
    }
}
