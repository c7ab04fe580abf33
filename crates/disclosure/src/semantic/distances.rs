use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// How far each member of a generalised item, a column, is from the context in each of the transactions that have it,
/// a row (Ong 2015, section 3.5.1).
///
/// A distance that is not known, or negative, is *unreliable*: such a cell is never eliminated and takes no part in
/// means and clusters, but it is there: its row and its column have one item more left.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceTable {
    /// NaN where a distance is not known.
    distances: Array2<f64>,
}

impl DistanceTable {
    /// Distances row by row, NaN where one is not known.
    pub fn new(columns: usize, distances: Vec<f64>) -> Result<Self> {
        let rows = distances.len().checked_div(columns).unwrap_or(0);
        let distances = Array2::from_shape_vec((rows, columns), distances);
        distances.map_or_else(|_| Err(invalid("the rows differ in length")), Self::try_from)
    }

    /// How many transactions have the generalised item.
    pub fn rows(&self) -> usize {
        self.distances.nrows()
    }

    /// How many members the generalised item has.
    pub fn columns(&self) -> usize {
        self.distances.ncols()
    }

    /// All distances; NaN where one is not known.
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.distances.view()
    }

    /// All distances, row by row; NaN where one is not known.
    pub fn distances(&self) -> &[f64] {
        self.distances.as_slice().unwrap_or_default()
    }

    /// NaN where it is not known.
    pub fn distance(&self, row: usize, column: usize) -> f64 {
        self.distances[(row, column)]
    }

    /// Whether a cell may be eliminated, and counts in means and clusters.
    pub fn is_reliable(&self, row: usize, column: usize) -> bool {
        self.distance(row, column) >= 0.0
    }

    /// The cells that are reliable, row by row.
    pub(super) fn reliable(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let cells = self.distances.indexed_iter();
        cells
            .filter(|&(_, &distance)| distance >= 0.0)
            .map(|(cell, _)| cell)
    }
}

impl TryFrom<Array2<f64>> for DistanceTable {
    type Error = Error;

    /// A row for every transaction, NaN where a distance is not known.
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
        "finite numbers, as many in every row, and none for a distance that is not known",
    )
}
