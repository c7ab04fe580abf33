use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// Distances of the members of a generalised item, in columns, from the contexts in the transactions that
/// contain it, in rows (Ong 2015, section 3.5.1).
///
/// A distance that is unknown or negative is *unreliable*. Such a cell is never eliminated and takes no part
/// in means and clusters, but it still counts as an item left in its row and its column.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceTable {
    /// Distances, NaN if unknown.
    distances: Array2<f64>,
}

impl DistanceTable {
    /// Creates a table from distances row by row, NaN if unknown.
    pub fn new(columns: usize, distances: Vec<f64>) -> Result<Self> {
        let rows = distances.len().checked_div(columns).unwrap_or(0);
        let distances = Array2::from_shape_vec((rows, columns), distances);
        distances.map_or_else(|_| Err(invalid("the rows differ in length")), Self::try_from)
    }

    /// Returns the number of transactions that contain the generalised item.
    pub fn rows(&self) -> usize {
        self.distances.nrows()
    }

    /// Returns the number of members of the generalised item.
    pub fn columns(&self) -> usize {
        self.distances.ncols()
    }

    /// Returns all distances, NaN if unknown.
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.distances.view()
    }

    /// Returns all distances row by row, NaN if unknown.
    pub fn distances(&self) -> &[f64] {
        self.distances.as_slice().unwrap_or_default()
    }

    /// Returns a distance, NaN if unknown.
    pub fn distance(&self, row: usize, column: usize) -> f64 {
        self.distances[(row, column)]
    }

    /// Returns whether a cell may be eliminated and counts in means and clusters: its distance is known and
    /// not negative.
    pub fn is_reliable(&self, row: usize, column: usize) -> bool {
        self.distance(row, column) >= 0.0
    }

    /// Returns the reliable cells, row by row.
    pub(super) fn reliable(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let cells = self.distances.indexed_iter();
        cells
            .filter(|&(_, &distance)| distance >= 0.0)
            .map(|(cell, _)| cell)
    }
}

impl TryFrom<Array2<f64>> for DistanceTable {
    type Error = Error;

    /// Creates a table with a row for every transaction, NaN if a distance is unknown.
    fn try_from(distances: Array2<f64>) -> Result<Self> {
        if distances.iter().any(|distance| distance.is_infinite()) {
            return Err(invalid("a distance is infinite"));
        }
        if distances.len() > u32::MAX as usize {
            return Err(Error::TooMany {
                what: "cells of a distance table",
                limit: u32::MAX.into(),
            });
        }
        let distances = if distances.is_standard_layout() {
            distances
        } else {
            distances.as_standard_layout().into_owned()
        };
        Ok(DistanceTable { distances })
    }
}

fn invalid(problem: &str) -> Error {
    Error::invalid(
        "distances",
        problem,
        "finite numbers in rows of equal length; unknown distances may be missing",
    )
}
