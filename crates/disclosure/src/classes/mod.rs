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

mod units;
mod wildcard;

pub use units::{Unit, UnitCounts};

use crate::{Error, NULL, Result, Rows, ShardedTable};
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Distinct rows of a table and how often each occurs. They are counted row by row in one pass. Two such
/// values can be merged, so that parts of a table can be counted separately.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    width: usize,
    /// `width` codes per class, classes in the order of their first row.
    codes: Vec<u32>,
    sizes: Vec<u64>,
    index: ShardedTable<IndexEntry>,
}

#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    /// Stored so that growing the index does not hash every class again.
    hash: u64,
    class: u32,
}

/// Classes of one size, and their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeGroup {
    /// Size of these classes.
    pub size: u64,
    /// Number of classes of this size.
    pub classes: u64,
    /// Number of rows in these classes.
    pub rows: u64,
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
    pub fn extend(&mut self, rows: Rows, mut on_class: impl FnMut(u32)) -> Result<()> {
        let mut row = vec![NULL; self.width];
        for number in 0..rows.len() {
            for (code, column) in row.iter_mut().zip(rows.columns()) {
                *code = column[number];
            }
            on_class(self.insert(&row, 1)?);
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
            index,
        } = self;
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

    /// Returns the number of classes and rows of each size, smallest size first. `sizes` is the result of
    /// [`sizes`](Self::sizes) or [`wildcard_sizes`](Self::wildcard_sizes).
    pub fn size_groups(&self, sizes: &[u64]) -> Vec<SizeGroup> {
        let mut pairs: Vec<(u64, u64)> = sizes.iter().copied().zip(self.sizes.iter().copied()).collect();
        pairs.sort_unstable_by_key(|pair| pair.0);
        pairs
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| SizeGroup {
                size: group[0].0,
                classes: group.len() as u64,
                rows: group.iter().map(|pair| pair.1).sum(),
            })
            .collect()
    }
}

fn hash(codes: impl Iterator<Item = u32>) -> u64 {
    let mut hasher = FxHasher::default();
    codes.for_each(|code| hasher.write_u32(code));
    hasher.finish()
}
