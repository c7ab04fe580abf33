//! Values that occur in classes, and how often: written down row by row, and sorted and added up later.
//!
//! Most pairs of a class and a value are rare, so a hash table of them would be nearly as large as the table, and each
//! row would wait for memory. Appending to a list and sorting it afterwards takes a fraction of that time. A list is
//! added up early if it grows long, so that memory is limited by the number of distinct pairs.

use super::pairs::Grouped;
use crate::{Control, Result};
use rayon::prelude::*;

/// Number of classes that share a list: so few that a list is sorted within the cache.
const CLASSES: usize = 1 << 11;

/// Number of new values at which a list is added up, if there were no more before.
const COMPACT_AT: usize = if cfg!(test) { 4 } else { 1 << 16 };

/// Values that occur in classes, and how often each occurs in each class.
#[derive(Debug, Clone)]
pub(crate) struct Tally<T> {
    /// One list for each range of classes.
    lists: Vec<List<T>>,
}

/// Values of some neighbouring classes, which are numbered from 0.
#[derive(Debug, Clone)]
struct List<T> {
    /// Classes and values that were added since the list was last added up.
    recent: Vec<(u32, T)>,
    /// All values before that.
    counted: Grouped<(T, u64)>,
    /// Number of recent values at which the list is added up.
    limit: usize,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Tally { lists: Vec::new() }
    }
}

impl<T: Copy + Default + Ord + Send + Sync> Tally<T> {
    /// Returns classes and values, each of which occurs so often.
    pub fn of_counted(values: impl Iterator<Item = (u32, T, u64)>) -> Self {
        let mut lists: Vec<Vec<(u32, (T, u64))>> = Vec::new();
        for (class, value, count) in values {
            let number = class as usize / CLASSES;
            if number >= lists.len() {
                lists.resize_with(number + 1, Vec::new);
            }
            lists[number].push((class % CLASSES as u32, (value, count)));
        }
        let list = |values: Vec<(u32, (T, u64))>| List {
            counted: Grouped::new(CLASSES, values.into_iter()).map(|values, all| {
                let start = all.len();
                all.extend_from_slice(values);
                add_up(all, start);
            }),
            ..List::default()
        };
        Tally {
            lists: lists.into_iter().map(list).collect(),
        }
    }

    /// Adds a value of a class.
    #[inline]
    pub fn push(&mut self, class: u32, value: T) {
        let number = class as usize / CLASSES;
        if number >= self.lists.len() {
            self.lists.resize_with(number + 1, List::default);
        }
        let list = &mut self.lists[number];
        list.recent.push((class % CLASSES as u32, value));
        if list.recent.len() >= list.limit {
            list.compact();
        }
    }

    /// Returns the values of each of the classes in ascending order, and how often each occurs.
    pub fn grouped(&self, classes: usize, control: &Control) -> Result<Grouped<(T, u64)>> {
        let lists = self.lists.par_iter().map(|list| {
            control.check()?;
            control.require::<(T, u64)>(2 * (list.recent.len() + list.counted.all().len()))?;
            Ok(list.added_up())
        });
        Ok(Grouped::concatenated(
            lists.collect::<Result<_>>()?,
            CLASSES,
            classes,
        ))
    }

    /// Calls `of_value` with each class and value that occur together, at least once.
    pub fn for_each(&self, mut of_value: impl FnMut(u32, T)) {
        for (number, list) in self.lists.iter().enumerate() {
            let first = (number * CLASSES) as u32;
            for &(class, value) in &list.recent {
                of_value(first + class, value);
            }
            for (class, values) in (first..).zip(list.counted.iter()) {
                values.iter().for_each(|&(value, _)| of_value(class, value));
            }
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List {
            recent: Vec::new(),
            counted: Grouped::default(),
            limit: COMPACT_AT,
        }
    }
}

impl<T: Copy + Default + Ord> List<T> {
    #[cold]
    fn compact(&mut self) {
        self.counted = self.added_up();
        self.recent.clear();
        self.limit = self.counted.all().len().max(COMPACT_AT);
    }

    /// Returns all values by class, each once.
    fn added_up(&self) -> Grouped<(T, u64)> {
        let mut of_class: Vec<T> = Vec::new();
        let mut class = 0;
        Grouped::new(CLASSES, self.recent.iter().copied()).map(|recent, all| {
            let start = all.len();
            of_class.clear();
            of_class.extend_from_slice(recent);
            of_class.sort_unstable();
            all.extend(
                of_class
                    .chunk_by(|a, b| a == b)
                    .map(|equal| (equal[0], equal.len() as u64)),
            );
            if !self.counted.is_empty() {
                all.extend_from_slice(self.counted.of(class));
                add_up(all, start);
            }
            class += 1;
        })
    }
}

/// Sorts the values from a position on, and adds up the counts of equal ones.
pub(super) fn add_up<T: Copy + Ord>(counts: &mut Vec<(T, u64)>, from: usize) {
    counts[from..].sort_unstable_by_key(|&(value, _)| value);
    let mut end = from;
    for next in from..counts.len() {
        if end > from && counts[next].0 == counts[end - 1].0 {
            counts[end - 1].1 += counts[next].1;
        } else {
            counts[end] = counts[next];
            end += 1;
        }
    }
    counts.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Values are added up early in these tests.
    #[test]
    fn counts_every_pair() {
        let (mut tally, mut expected) = (Tally::default(), BTreeMap::new());
        let pairs = (0..20_000u32).map(|i| (i.wrapping_mul(i) % 5003, i % 3));
        for (class, value) in pairs.clone() {
            tally.push(class, value);
            *expected.entry((class, value)).or_insert(0) += 1;
        }
        let flat = |grouped: &Grouped<(u32, u64)>| -> Vec<((u32, u32), u64)> {
            let of_class = |(class, values): (u32, &[(u32, u64)])| {
                let pair = |&(value, count)| ((class, value), count);
                values.iter().map(pair).collect::<Vec<_>>()
            };
            (0..).zip(grouped.iter()).flat_map(of_class).collect()
        };
        let grouped = tally.grouped(5003, Control::none()).unwrap();
        assert_eq!(grouped.len(), 5003);
        assert_eq!(flat(&grouped), expected.into_iter().collect::<Vec<_>>());
        let counted = Tally::of_counted(pairs.map(|(class, value)| (class, value, 1)));
        assert_eq!(
            flat(&counted.grouped(5003, Control::none()).unwrap()),
            flat(&grouped)
        );
        let mut seen = vec![0; 5003];
        tally.for_each(|class, _| seen[class as usize] += 1);
        assert!((0..5003).all(|class| (seen[class] > 0) != grouped.of(class).is_empty()));
    }

    #[test]
    fn classes_without_values_are_empty() {
        let tally: Tally<u32> = Tally::default();
        let grouped = tally.grouped(3, Control::none()).unwrap();
        assert_eq!((grouped.len(), grouped.of(2)), (3, &[][..]));
        assert!(tally.grouped(0, Control::none()).unwrap().is_empty());
    }
}
