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
}

fn hash(key: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(key);
    hasher.finish()
}

/// Values in groups, which are numbered from 0.
#[derive(Debug, Clone)]
pub struct Grouped<T> {
    /// First value of each group, and the number of all values.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T> Default for Grouped<T> {
    fn default() -> Self {
        Grouped {
            starts: vec![0],
            values: Vec::new(),
        }
    }
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

    /// Joins groups of values. Each part has `size` groups, of which `groups` are needed in all.
    pub(super) fn concatenated(parts: Vec<Self>, size: usize, groups: usize) -> Self {
        let mut all = Grouped {
            starts: Vec::with_capacity(groups + 1),
            values: Vec::with_capacity(parts.iter().map(|part| part.values.len()).sum()),
        };
        for part in parts {
            let start = all.values.len();
            let needed = (groups - all.starts.len()).min(size);
            all.starts
                .extend(part.starts.iter().take(needed).map(|from| start + from));
            all.values.extend_from_slice(&part.values);
        }
        all.starts.resize(groups + 1, all.values.len());
        all
    }

    /// Returns other values of each group, which `of_group` adds to a list.
    pub(super) fn map<U>(&self, mut of_group: impl FnMut(&[T], &mut Vec<U>)) -> Grouped<U> {
        let mut mapped = Grouped {
            starts: Vec::with_capacity(self.starts.len()),
            values: Vec::with_capacity(self.values.len()),
        };
        for values in self.iter() {
            mapped.starts.push(mapped.values.len());
            of_group(values, &mut mapped.values);
        }
        mapped.starts.push(mapped.values.len());
        mapped
    }

    /// Returns the values of all groups, one after the other.
    pub(super) fn all(&self) -> &[T] {
        &self.values
    }

    /// Returns the values of a group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.values[self.starts[group]..self.starts[group + 1]]
    }

    /// Returns the values of all groups.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
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
