use super::HalfRanks;

/// Records as points in rank space, one coordinate per column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    width: usize,
    coordinates: Vec<HalfRanks>,
}

impl Points {
    /// `columns` has the rank of every record in each column, of which there is at least one.
    pub fn new(columns: &[Vec<HalfRanks>]) -> Self {
        let records = columns.first().map_or(0, Vec::len);
        debug_assert!(columns.iter().all(|column| column.len() == records));
        let of_record = |record| columns.iter().map(move |column| column[record]);
        Points {
            width: columns.len(),
            coordinates: (0..records).flat_map(of_record).collect(),
        }
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.width.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// The ranks of a record.
    pub fn point(&self, record: usize) -> &[HalfRanks] {
        &self.coordinates[record * self.width..(record + 1) * self.width]
    }

    /// These records only, in this order.
    pub(super) fn of(&self, records: &[u32]) -> Points {
        let mut coordinates = Vec::with_capacity(records.len() * self.width);
        for &record in records {
            coordinates.extend_from_slice(self.point(record as usize));
        }
        Points {
            width: self.width,
            coordinates,
        }
    }

    /// The ranks of all records, one after another.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, HalfRanks> {
        self.coordinates.chunks_exact(self.width.max(1))
    }
}

/// The permutation distance of two records: the largest difference of their ranks in any column.
pub fn distance(here: &[HalfRanks], there: &[HalfRanks]) -> HalfRanks {
    let differences = here.iter().zip(there).map(|(here, there)| here.abs_diff(*there));
    differences.max().unwrap_or(0)
}
