//! Distinct pairs of numbers and how often each occurs, for example a class and a value of a sensitive column.

use crate::{Error, Result, ShardedTable};
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Distinct pairs of numbers and how often each occurs. Pairs are numbered from 0 in the order in which they first
/// occur.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    keys: Vec<(u32, u32)>,
    counts: Vec<u64>,
    index: ShardedTable<PairEntry>,
}

#[derive(Debug, Clone, Copy)]
struct PairEntry {
    key: u64,
    number: u32,
}

impl PairEntry {
    fn hash(&self) -> u64 {
        hash(self.key)
    }
}

impl Pairs {
    /// Adds a pair that occurs `count` times more, and returns its number.
    #[inline]
    pub fn insert(&mut self, first: u32, second: u32, count: u64) -> Result<u32> {
        let key = u64::from(first) << 32 | u64::from(second);
        match self
            .index
            .entry(hash(key), |entry| entry.key == key, PairEntry::hash)
        {
            Entry::Occupied(entry) => {
                let number = entry.get().number;
                self.counts[number as usize] += count;
                Ok(number)
            }
            Entry::Vacant(vacant) => {
                let number = u32::try_from(self.keys.len()).map_err(|_| Error::TooMany {
                    what: "distinct pairs of a class and a value",
                    limit: 1 << 32,
                })?;
                vacant.insert(PairEntry { key, number });
                self.keys.push((first, second));
                self.counts.push(count);
                Ok(number)
            }
        }
    }

    /// Returns the number of distinct pairs.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether no pair was added.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the distinct pairs by their numbers.
    pub fn keys(&self) -> &[(u32, u32)] {
        &self.keys
    }

    /// Returns the first and the second number of each pair, and its count.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let entries = self.keys.iter().zip(&self.counts);
        entries.map(|(&(first, second), &count)| (first, second, count))
    }

    /// Returns the pairs by their first number, of which there are `firsts`. Each has its second number and its count.
    pub fn by_first(&self, firsts: usize) -> Grouped<(u32, u64)> {
        let entries = self.keys.iter().zip(&self.counts);
        Grouped::new(
            firsts,
            entries.map(|(&(first, second), &count)| (first, (second, count))),
        )
    }

    /// Returns the pairs by their second number, of which there are `seconds`. Each has its first number and its
    /// count.
    pub fn by_second(&self, seconds: usize) -> Grouped<(u32, u64)> {
        let entries = self.keys.iter().zip(&self.counts);
        Grouped::new(
            seconds,
            entries.map(|(&(first, second), &count)| (second, (first, count))),
        )
    }
}

fn hash(key: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(key);
    hasher.finish()
}

/// Values in groups, which are numbered from 0.
#[derive(Debug, Clone, Default)]
pub struct Grouped<T> {
    /// First value of each group, and the number of all values.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Copy + Default> Grouped<T> {
    /// Sorts values into groups. Values of a group keep their order.
    pub fn new(groups: usize, values: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0; groups + 1];
        for (group, _) in values.clone() {
            starts[group as usize + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut sorted = vec![T::default(); starts[groups]];
        for (group, value) in values {
            let place = &mut next[group as usize];
            sorted[*place] = value;
            *place += 1;
        }
        Grouped {
            starts,
            values: sorted,
        }
    }

    /// Returns the values of a group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.values[self.starts[group]..self.starts[group + 1]]
    }

    /// Returns the values of all groups.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.starts
            .windows(2)
            .map(|bounds| &self.values[bounds[0]..bounds[1]])
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
