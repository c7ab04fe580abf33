//! Equivalence classes: sets of rows that agree on every given column, so that an adversary who knows only
//! these columns cannot tell them apart. The smallest class size is the k of k-anonymity.
//!
//! An absent value counts as a value of its own ([`Classes::sizes`]), or as a wildcard that agrees with any
//! value ([`Classes::wildcard_sizes`]), for example after cell suppression.
//!
//! ```
//! use disclosure::{Control, Encoder, Rows, classes::Classes};
//!
//! let (mut age, mut zip) = (Encoder::new(), Encoder::new());
//! let ages = age.encode_all([Some("30-39"), Some("30-39"), None])?;
//! let zips = zip.encode_all([Some(90210), Some(90210), Some(90210)])?;
//! let mut classes = Classes::new(2);
//! classes.extend(Rows::new(&[&ages, &zips], 3), |_| {})?;
//! assert_eq!(classes.k_anonymity(), Some(1));
//! assert_eq!(classes.wildcard_sizes(Control::none())?, [3, 3]); // two classes; NULL may be 30-39
//! # Ok::<(), disclosure::Error>(())
//! ```
//!
//! [`Records`] has more than sizes: the people in each class and the sensitive values there. [`risk_summary`] and
//! [`diversity`](fn@diversity) are computed from it.

mod agreeing;
mod cautious;
mod diversity;
mod hierarchy;
mod pairs;
mod records;
mod risk;
mod tally;
mod units;
mod wildcard;

pub use cautious::{
    Limit, LimitedDiversity, RisksOfPeople, cautious_diversity, cautious_risk_summary, limited_diversity,
};
pub use diversity::{Diversity, Settings as DiversitySettings, Values, class_diversity, diversity};
pub use hierarchy::Hierarchy;
pub use pairs::{Grouped, Pairs};
pub(crate) use records::UNKNOWN_PERSON;
pub use records::{By, Exposure, Nulls, Records, Roles};
pub use risk::{
    HIGH_RISKS, PopulationSummary, Risk, RiskSummary, SMALL_SIZES, check_by_person, risk_summary,
};
pub use units::{Unit, UnitCounts};

use crate::{Error, NULL, Result, Rows, ShardedTable};
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// Distinct rows of a table and how often each occurs. They are counted row by row in one pass. Two such
/// values can be merged, so that parts of a table can be counted separately.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    width: usize,
    /// `width` codes per class, classes in the order of their first row.
    codes: Vec<u32>,
    sizes: Vec<u64>,
    /// Sum of the sizes.
    rows: u64,
    index: ShardedTable<IndexEntry>,
}

#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    /// Stored so that growing the index does not hash every class again.
    hash: u64,
    class: u32,
}

/// Classes whose sizes are in one bucket, and their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeGroup {
    /// Smallest size in the bucket.
    pub from: u64,
    /// Largest size in the bucket, `None` if it has no upper limit.
    pub up_to: Option<u64>,
    /// Number of classes of these sizes.
    pub classes: u64,
    /// Number of rows in these classes.
    pub rows: u64,
    /// Number of people whose smallest class is one of these; 0 if rows are counted.
    pub people: u64,
}

/// Buckets into which sizes of classes are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeBuckets {
    /// A bucket for each size.
    EachSize,
    /// Buckets that start at these sizes, which ascend from 1. Each ends before the next one starts.
    StartingAt(Vec<u64>),
}

impl Default for SizeBuckets {
    fn default() -> Self {
        SizeBuckets::StartingAt(vec![1, 2, 3, 5, 10, 20])
    }
}

impl SizeBuckets {
    /// Checks that every size is in one bucket.
    pub fn check(&self) -> Result<()> {
        match self {
            SizeBuckets::StartingAt(starts)
                if starts.first() != Some(&1) || !starts.is_sorted_by(|a, b| a < b) =>
            {
                Err(Error::invalid(
                    "buckets",
                    "must ascend from 1",
                    "the smallest size of each bucket, such as {1,2,3,5,10,20}, or NULL for each size by itself",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the smallest and the largest size of the bucket that a size is in.
    fn bucket_of(&self, size: u64) -> (u64, Option<u64>) {
        match self {
            SizeBuckets::EachSize => (size, Some(size)),
            SizeBuckets::StartingAt(starts) => {
                let next = starts.partition_point(|&start| start <= size);
                let from = next.checked_sub(1).map_or(0, |bucket| starts[bucket]);
                (from, starts.get(next).map(|start| start - 1))
            }
        }
    }
}

impl Classes {
    /// Returns an empty set of classes for rows of `width` codes.
    pub fn new(width: usize) -> Self {
        Classes {
            width,
            ..Self::default()
        }
    }

    /// Adds rows and calls `on_class` with the class of each.
    ///
    /// Rows are looked up in batches and in steps, so that waits for memory overlap.
    pub fn extend(&mut self, rows: Rows, mut on_class: impl FnMut(u32)) -> Result<()> {
        const BATCH: usize = 512;
        const NONE: u32 = u32::MAX;
        let mut hashers = Vec::new();
        let mut candidates = [NONE; BATCH];
        let mut row = vec![NULL; self.width];
        for start in (0..rows.len()).step_by(BATCH) {
            let batch = start..rows.len().min(start + BATCH);
            hashers.clear();
            hashers.resize(batch.len(), FxHasher::default());
            for column in rows.columns() {
                for (hasher, &code) in hashers.iter_mut().zip(&column[batch.clone()]) {
                    hasher.write_u32(code);
                }
            }
            for (candidate, hasher) in candidates.iter_mut().zip(&hashers) {
                let hash = hasher.finish();
                let found = self.index.find(hash, |entry| entry.hash == hash);
                *candidate = found.map_or(NONE, |entry| entry.class);
            }
            for (number, &candidate) in batch.zip(&candidates) {
                let is_equal = |class: u32| {
                    let mut codes = self.codes(class as usize).iter().zip(rows.columns());
                    codes.all(|(&code, column)| column[number] == code)
                };
                if candidate != NONE && is_equal(candidate) {
                    self.sizes[candidate as usize] += 1;
                    self.rows += 1;
                    on_class(candidate);
                } else {
                    for (code, column) in row.iter_mut().zip(rows.columns()) {
                        *code = column[number];
                    }
                    on_class(self.insert(&row, 1)?);
                }
            }
        }
        Ok(())
    }

    /// Adds `count` equal rows and returns their class.
    pub fn insert(&mut self, row: &[u32], count: u64) -> Result<u32> {
        debug_assert_eq!(row.len(), self.width);
        let Classes {
            width,
            codes,
            sizes,
            rows,
            index,
        } = self;
        *rows = rows.checked_add(count).ok_or(Error::TooMany {
            what: "rows",
            limit: u64::MAX,
        })?;
        let hash = hash(row.iter().copied());
        let same = |entry: &IndexEntry| {
            let start = entry.class as usize * *width;
            entry.hash == hash && codes[start..start + *width] == *row
        };
        match index.entry(hash, same, |entry| entry.hash) {
            Entry::Occupied(entry) => {
                let class = entry.get().class;
                sizes[class as usize] += count;
                Ok(class)
            }
            Entry::Vacant(vacant) => {
                let class = u32::try_from(sizes.len()).map_err(|_| Error::TooMany {
                    what: "equivalence classes",
                    limit: 1 << 32,
                })?;
                vacant.insert(IndexEntry { hash, class });
                codes.extend_from_slice(row);
                sizes.push(count);
                Ok(class)
            }
        }
    }

    /// Returns the class of rows with these codes, if there are any.
    pub fn find(&self, row: &[u32]) -> Option<u32> {
        let hash = hash(row.iter().copied());
        let same = |entry: &IndexEntry| entry.hash == hash && self.codes(entry.class as usize) == row;
        self.index.find(hash, same).map(|entry| entry.class)
    }

    /// Adds the rows of `other`. Code `c` in its column `i` becomes `translation[i][c]` here.
    pub fn merge(&mut self, other: &Classes, translation: &[Vec<u32>]) -> Result<()> {
        let mut row = vec![0; self.width];
        for class in 0..other.len() {
            for ((here, there), codes) in row.iter_mut().zip(other.codes(class)).zip(translation) {
                *here = codes[*there as usize];
            }
            self.insert(&row, other.sizes[class])?;
        }
        Ok(())
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the codes that the rows of a class share.
    pub fn codes(&self, class: usize) -> &[u32] {
        &self.codes[class * self.width..(class + 1) * self.width]
    }

    /// Returns the number of rows in each class.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Returns the number of all rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns how many rows hold each value of a column. That of code `c` is at index `c - 1`.
    pub fn rows_of_codes(&self, column: usize) -> Vec<u64> {
        let mut rows = Vec::new();
        for (class, &size) in self.sizes.iter().enumerate() {
            let code = self.codes(class)[column] as usize;
            if rows.len() < code {
                rows.resize(code, 0);
            }
            if code > 0 {
                rows[code - 1] += size;
            }
        }
        rows
    }

    /// Returns the size of the smallest class, the k of k-anonymity (Samarati), or `None` if there are no
    /// rows.
    pub fn k_anonymity(&self) -> Option<u64> {
        self.sizes.iter().min().copied()
    }

    /// Returns the number of classes and rows in each bucket that is not empty, smallest sizes first. `sizes` is
    /// the result of [`sizes`](Self::sizes) or [`wildcard_sizes`](Self::wildcard_sizes).
    pub fn size_groups(&self, sizes: &[u64], buckets: &SizeBuckets) -> Vec<SizeGroup> {
        let mut groups = SizeGroups::new(buckets);
        for (&size, &rows) in sizes.iter().zip(&self.sizes) {
            let group = groups.of(size);
            group.classes += 1;
            group.rows += rows;
        }
        groups.into_vec()
    }
}

/// Groups of classes, by bucket.
struct SizeGroups<'a> {
    buckets: &'a SizeBuckets,
    groups: BTreeMap<(u64, Option<u64>), SizeGroup>,
}

impl<'a> SizeGroups<'a> {
    fn new(buckets: &'a SizeBuckets) -> Self {
        SizeGroups {
            buckets,
            groups: BTreeMap::new(),
        }
    }

    /// Returns the group of classes of a size.
    fn of(&mut self, size: u64) -> &mut SizeGroup {
        let (from, up_to) = self.buckets.bucket_of(size);
        self.groups.entry((from, up_to)).or_insert(SizeGroup {
            from,
            up_to,
            classes: 0,
            rows: 0,
            people: 0,
        })
    }

    fn into_vec(self) -> Vec<SizeGroup> {
        self.groups.into_values().collect()
    }
}

fn hash(codes: impl Iterator<Item = u32>) -> u64 {
    let mut hasher = FxHasher::default();
    codes.for_each(|code| hasher.write_u32(code));
    hasher.finish()
}
