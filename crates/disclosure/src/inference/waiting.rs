//! Parts of a table that wait to be searched, the one with the largest bound first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// All rows that have some known attributes.
pub(super) struct Part<K> {
    /// The known attributes.
    pub known: K,
    /// Number of known attributes.
    pub size: usize,
    pub rows: Vec<u32>,
    /// Upper bound on what is searched for, such as a weight, for every set that contains the known attributes and more.
    pub bound: f64,
}

impl<K> Ord for Part<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = self.bound.total_cmp(&other.bound);
        by_bound.then(other.size.cmp(&self.size))
    }
}

impl<K> PartialOrd for Part<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> PartialEq for Part<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K> Eq for Part<K> {}

/// Largest number of rows in all waiting parts together. Beyond it, parts are searched immediately, which
/// needs no room but is a worse order.
const MAX_ROWS: usize = 50_000_000;

/// Parts that wait to be searched.
pub(super) struct Waiting<K> {
    parts: BinaryHeap<Part<K>>,
    rows: usize,
}

impl<K> Waiting<K> {
    pub fn new() -> Self {
        Waiting {
            parts: BinaryHeap::new(),
            rows: 0,
        }
    }

    /// Adds a part, or returns it if there is no room.
    pub fn push(&mut self, part: Part<K>) -> Result<(), Part<K>> {
        if self.rows + part.rows.len() > MAX_ROWS {
            return Err(part);
        }
        self.rows += part.rows.len();
        self.parts.push(part);
        Ok(())
    }

    /// Removes the part with the largest bound and, of equal ones, with the fewest known attributes.
    pub fn pop(&mut self) -> Option<Part<K>> {
        let part = self.parts.pop()?;
        self.rows -= part.rows.len();
        Some(part)
    }
}
