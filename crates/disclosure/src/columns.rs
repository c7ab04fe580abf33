use crate::{NULL, Rows};

/// How often each value occurs, column by column; built in one pass.
#[derive(Debug, Clone, Default)]
pub struct ColumnCounts {
    /// Per column and code, the rows that hold it.
    rows_of: Vec<Vec<u64>>,
}

/// What one column shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnProfile {
    /// Distinct values.
    pub values: u64,
    /// Rows without a value.
    pub nulls: u64,
    /// Values that occur in one row only: knowing such a value is knowing the row.
    pub unique_values: u64,
    /// Rows that hold the most frequent value; 0 where there is no value at all.
    pub most_frequent: u64,
}

impl ColumnCounts {
    /// No rows yet, and `width` columns.
    pub fn new(width: usize) -> Self {
        ColumnCounts {
            rows_of: vec![vec![0]; width],
        }
    }

    /// Add rows.
    pub fn extend(&mut self, rows: Rows) {
        for (rows_of, codes) in self.rows_of.iter_mut().zip(rows.columns()) {
            let highest = codes.iter().max().map_or(0, |&code| code as usize);
            if highest >= rows_of.len() {
                rows_of.resize((highest + 1).next_power_of_two(), 0);
            }
            for &code in *codes {
                rows_of[code as usize] += 1;
            }
        }
    }

    /// What `column` shows by itself.
    pub fn profile(&self, column: usize) -> ColumnProfile {
        let rows_of = &self.rows_of[column];
        let of_values = || rows_of[NULL as usize + 1..].iter().filter(|&&rows| rows > 0);
        ColumnProfile {
            values: of_values().count() as u64,
            nulls: rows_of[NULL as usize],
            unique_values: of_values().filter(|&&rows| rows == 1).count() as u64,
            most_frequent: of_values().max().copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        let mut counts = ColumnCounts::new(3);
        counts.extend(Rows::new(&[&[1, 1, 2], &[NULL; 3], &[1, 2, 3]], 3));
        counts.extend(Rows::new(&[&[3], &[NULL], &[NULL]], 1));
        let profile = |values, nulls, unique_values, most_frequent| ColumnProfile {
            values,
            nulls,
            unique_values,
            most_frequent,
        };
        assert_eq!(counts.profile(0), profile(3, 0, 2, 2));
        assert_eq!(counts.profile(1), profile(0, 4, 0, 0));
        assert_eq!(counts.profile(2), profile(3, 1, 3, 1));
        assert_eq!(ColumnCounts::new(1).profile(0), profile(0, 0, 0, 0));
    }
}
