use crate::{Error, Result};

/// How far each member of a generalised item, a column, is from the context in each of the transactions that have it,
/// a row (Ong 2015, section 3.5.1).
///
/// A distance that is not known, or negative, is *unreliable*: such a cell is never eliminated and takes no part in
/// means and clusters, but it is there: its row and its column have one item more left.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceTable {
    columns: usize,
    /// Row by row; NaN where a distance is not known.
    distances: Vec<f64>,
}

impl DistanceTable {
    /// Distances row by row, NaN where one is not known.
    pub fn new(columns: usize, distances: Vec<f64>) -> Result<Self> {
        let invalid = |problem: &str| {
            Error::invalid(
                "distances",
                problem,
                "finite numbers, as many in every row, and none for a distance that is not known",
            )
        };
        if columns == 0 && !distances.is_empty() || columns > 0 && !distances.len().is_multiple_of(columns) {
            return Err(invalid("the rows differ in length"));
        }
        if distances.iter().any(|distance| distance.is_infinite()) {
            return Err(invalid("a distance is infinite"));
        }
        if distances.len() > u32::MAX as usize {
            return Err(Error::TooMany {
                what: "cells of a distance table",
                limit: u32::MAX.into(),
            });
        }
        Ok(DistanceTable { columns, distances })
    }

    /// How many transactions have the generalised item.
    pub fn rows(&self) -> usize {
        self.distances.len().checked_div(self.columns).unwrap_or(0)
    }

    /// How many members the generalised item has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All distances, row by row; NaN where one is not known.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// NaN where it is not known.
    pub fn distance(&self, row: usize, column: usize) -> f64 {
        self.distances[row * self.columns + column]
    }

    /// Whether a cell may be eliminated, and counts in means and clusters.
    pub fn is_reliable(&self, row: usize, column: usize) -> bool {
        self.distance(row, column) >= 0.0
    }

    /// The cells that are reliable, row by row.
    pub(super) fn reliable(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let cells = (0..self.rows()).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        cells.filter(|&(row, column)| self.is_reliable(row, column))
    }
}
