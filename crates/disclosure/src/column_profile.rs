use crate::{NULL, Rows};

/// Number of rows that hold each value, column by column; counted in one pass.
#[derive(Debug, Clone, Default)]
pub struct ColumnCounts {
    /// Numbers of rows, by column and code.
    counts: Vec<Vec<u64>>,
}

/// Statistics of a single column, independent of all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnProfile {
    /// Number of distinct values.
    pub distinct_values: u64,
    /// Number of rows without a value.
    pub nulls: u64,
    /// Number of values that occur in exactly one row. Such a value identifies its row.
    pub unique_values: u64,
    /// Number of rows that hold the most frequent value; 0 if there are no values.
    pub most_frequent: u64,
}

impl ColumnCounts {
    /// Creates the counts of `width` columns, without any rows.
    pub fn new(width: usize) -> Self {
        ColumnCounts {
            counts: vec![vec![0]; width],
        }
    }

    /// Adds rows.
    pub fn extend(&mut self, rows: Rows) {
        for (counts, codes) in self.counts.iter_mut().zip(rows.columns()) {
            let highest = codes.iter().max().map_or(0, |&code| code as usize);
            if highest >= counts.len() {
                counts.resize((highest + 1).next_power_of_two(), 0);
            }
            for &code in *codes {
                counts[code as usize] += 1;
            }
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.first().map_or(0, |counts| counts.iter().sum())
    }

    /// Returns the number of rows that hold each value of `column`, by its code; codes beyond the end occur in no row.
    pub fn by_code(&self, column: usize) -> &[u64] {
        &self.counts[column]
    }

    /// Returns the statistics of `column`.
    pub fn profile(&self, column: usize) -> ColumnProfile {
        let counts = &self.counts[column];
        let of_present = || counts[NULL as usize + 1..].iter().filter(|&&rows| rows > 0);
        ColumnProfile {
            distinct_values: of_present().count() as u64,
            nulls: counts[NULL as usize],
            unique_values: of_present().filter(|&&rows| rows == 1).count() as u64,
            most_frequent: of_present().max().copied().unwrap_or(0),
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
        let profile = |distinct_values, nulls, unique_values, most_frequent| ColumnProfile {
            distinct_values,
            nulls,
            unique_values,
            most_frequent,
        };
        assert_eq!(counts.profile(0), profile(3, 0, 2, 2));
        assert_eq!(counts.profile(1), profile(0, 4, 0, 0));
        assert_eq!(counts.profile(2), profile(3, 1, 3, 1));
        assert_eq!(counts.rows(), 4);
        assert_eq!(ColumnCounts::new(1).profile(0), profile(0, 0, 0, 0));
    }
}
