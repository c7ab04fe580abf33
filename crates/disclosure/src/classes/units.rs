//! Classes of some of the columns, in which people are counted instead of rows.

use super::Classes;
use crate::{NULL, Result};
use std::borrow::Cow;

/// What is counted in a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Rows.
    Row,
    /// Rows in which one of these columns is not NULL.
    Marked(Vec<usize>),
    /// Distinct combinations of values of these columns, in each class. Rows in which all of them are NULL do
    /// not count.
    Distinct(Vec<usize>),
    /// The first row with each combination of values of these columns, in all classes together. Rows in which
    /// all of them are NULL do not count.
    Combination(Vec<usize>),
}

/// Result of [`Classes::count_units`].
#[derive(Debug, Clone)]
pub struct UnitCounts<'a> {
    /// Classes of the chosen columns. Their sizes are the numbers of units, which are never 0.
    pub classes: Cow<'a, Classes>,
    /// Number of rows in each class.
    pub rows: Cow<'a, [u64]>,
}

impl Classes {
    /// Returns the classes of these columns, and how many units each contains. Classes without any unit are
    /// left out.
    pub fn count_units(&self, columns: &[usize], unit: &Unit) -> Result<UnitCounts<'_>> {
        if *unit == Unit::Row && columns.iter().copied().eq(0..self.width) {
            return Ok(UnitCounts {
                classes: Cow::Borrowed(self),
                rows: Cow::Borrowed(&self.sizes),
            });
        }
        let mut all = Classes::new(columns.len());
        let mut rows: Vec<u64> = Vec::new();
        let identifying: Vec<usize> = match unit {
            Unit::Distinct(identity) => columns.iter().chain(identity).copied().collect(),
            Unit::Combination(identity) => identity.clone(),
            _ => Vec::new(),
        };
        let mut seen = Classes::new(identifying.len());
        let (mut row, mut identity) = (Vec::new(), Vec::new());
        for (class, &size) in self.sizes.iter().enumerate() {
            let codes = self.codes(class);
            let is_present = |columns: &Vec<usize>| columns.iter().any(|&column| codes[column] != NULL);
            let units = match unit {
                Unit::Row => size,
                Unit::Marked(columns) if is_present(columns) => size,
                Unit::Distinct(columns) | Unit::Combination(columns) if is_present(columns) => {
                    identity.clear();
                    identity.extend(identifying.iter().map(|&column| codes[column]));
                    let before = seen.len();
                    seen.insert(&identity, 1)?;
                    u64::from(seen.len() > before)
                }
                _ => 0,
            };
            row.clear();
            row.extend(columns.iter().map(|&column| codes[column]));
            let class = all.insert(&row, units)? as usize;
            rows.resize(all.len(), 0);
            rows[class] += size;
        }
        if all.sizes.contains(&0) {
            (all, rows) = without_empty(&all, &rows)?;
        }
        Ok(UnitCounts {
            classes: Cow::Owned(all),
            rows: Cow::Owned(rows),
        })
    }
}

/// Returns the classes that contain a unit, and their numbers of rows.
fn without_empty(all: &Classes, rows: &[u64]) -> Result<(Classes, Vec<u64>)> {
    let mut kept = (Classes::new(all.width), Vec::new());
    for (class, (&units, &rows)) in all.sizes.iter().zip(rows).enumerate() {
        if units > 0 {
            kept.0.insert(all.codes(class), units)?;
            kept.1.push(rows);
        }
    }
    Ok(kept)
}
