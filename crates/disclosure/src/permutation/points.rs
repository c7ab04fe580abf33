use super::HalfRanks;
use super::rank::{Ties, ranks};
use crate::{Control, Result};

/// Records as points in rank space, with one coordinate per column.
///
/// The coordinates are a flat vector because the search compares slices whose width is known at compile time.
/// In a loop over a million points of four columns, one distance took 3.4 ns with slices, 3.3 to 3.7 ns with
/// the rows of an `Array2` as slices, and 2.5 ns with iterators over its rows. The search itself was not
/// measured with an `Array2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    width: usize,
    coordinates: Vec<HalfRanks>,
}

impl Points {
    /// Creates points from the rank of every record in each column. There is at least one column.
    pub fn new(columns: &[Vec<HalfRanks>]) -> Self {
        let records = columns.first().map_or(0, Vec::len);
        debug_assert!(columns.iter().all(|column| column.len() == records));
        let of_record = |record| columns.iter().map(move |column| column[record]);
        Points {
            width: columns.len(),
            coordinates: (0..records).flat_map(of_record).collect(),
        }
    }

    /// Creates points from the dense rank of every record's value in each column. There is at least one
    /// column. If ties are broken at random, every column gets its own draw.
    pub fn from_dense_ranks(columns: &[&[u32]], ties: Ties, control: &Control) -> Result<Self> {
        let of_columns = columns.iter().zip(0..);
        let ranks =
            of_columns.map(|(dense_ranks, column)| ranks(dense_ranks, ties.of_column(column), control));
        Ok(Points::new(&ranks.collect::<Result<Vec<_>>>()?))
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.width.max(1)
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// Returns the ranks of a record.
    pub fn point(&self, record: usize) -> &[HalfRanks] {
        &self.coordinates[record * self.width..(record + 1) * self.width]
    }

    /// Returns the points of these records only, in this order.
    pub(super) fn select(&self, records: &[u32]) -> Points {
        let mut coordinates = Vec::with_capacity(records.len() * self.width);
        for &record in records {
            coordinates.extend_from_slice(self.point(record as usize));
        }
        Points {
            width: self.width,
            coordinates,
        }
    }

    /// Returns an iterator over the ranks of each record.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, HalfRanks> {
        self.coordinates.chunks_exact(self.width.max(1))
    }
}

/// Returns the permutation distance of two records: the largest difference of their ranks in any column.
pub fn distance(here: &[HalfRanks], there: &[HalfRanks]) -> HalfRanks {
    let differences = here.iter().zip(there).map(|(here, there)| here.abs_diff(*there));
    differences.max().unwrap_or(0)
}
