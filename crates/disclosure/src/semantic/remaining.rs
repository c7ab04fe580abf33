use super::{DistanceTable, Elimination};

/// How many items each row and each column has left, unreliable ones among them.
#[derive(Debug)]
pub(super) struct Left {
    rows: Vec<u32>,
    columns: Vec<u32>,
}

impl Left {
    /// All of them.
    pub(super) fn new(table: &DistanceTable) -> Self {
        Left {
            rows: vec![table.columns() as u32; table.rows()],
            columns: vec![table.rows() as u32; table.columns()],
        }
    }

    /// There is an original item in every row and every column (Ong 2015, Observation 1), so none may lose its last.
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

    /// The weight of every item in a row: all that are left are as likely to be original (Ong 2015, Figure 4.6a).
    pub(super) fn row_weight(&self, row: usize) -> f64 {
        1.0 / f64::from(self.rows[row])
    }

    /// The weight of every item in a column (Ong 2015, Figure 4.6b).
    pub(super) fn column_weight(&self, column: usize) -> f64 {
        1.0 / f64::from(self.columns[column])
    }
}
