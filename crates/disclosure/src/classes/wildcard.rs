//! Class sizes with wildcards: an absent value agrees with any value, as in sdcMicro's frequency counts with
//! suppressed cells.
//!
//! Classes are grouped by *pattern*, the set of columns that have a value. Two patterns are compared on the
//! columns that they share, by hashing. If there are many patterns, that does not pay, and
//! `agreeing.rs` finds the pairs of classes that agree.

use super::{Classes, hash};
use crate::{Control, NULL, Result};
use hashbrown::HashMap;
use hashbrown::hash_table::HashTable;
use rayon::prelude::*;
use std::ops::AddAssign;

/// Number of patterns up to which they are compared with each other, if there are at least eight times as many classes.
const MAX_PATTERNS: usize = 256;

/// Classes that have values in the same columns, and these columns.
struct Pattern {
    present: Vec<usize>,
    classes: Vec<usize>,
}

/// Classes of one pattern that agree on the columns that it shares with another pattern.
struct Projection<T> {
    hash: u64,
    /// Any of these classes; its codes stand for all of them.
    class: usize,
    /// Sum of the amounts of these classes.
    sum: T,
}

impl Classes {
    /// Returns for each class the number of rows that agree with it in every column in which both have a
    /// value. So an absent value is a wildcard, as in sdcMicro's frequency counts with suppressed cells.
    /// Every result is at least 1, and never less than in [`sizes`](Self::sizes).
    ///
    /// The cost is proportional to the number of classes times the number of *patterns*, the sets of columns
    /// that have a value, and not to the square of the number of classes. If there are too many patterns, pairs of
    /// classes that agree are searched for: see [`map_agreeing`](Self::map_agreeing).
    pub fn wildcard_sizes(&self, control: &Control) -> Result<Vec<u64>> {
        self.sum_agreeing(self, &self.sizes, control)
    }

    /// Returns for each class the sum of an amount over those classes of `other` that agree with it in every column
    /// in which both have a value. `amounts` has one number for each class of `other`, whose codes must have the same
    /// meaning as here. They are added in an order that depends on that of the classes, so they should be whole numbers.
    pub fn sum_agreeing<T>(&self, other: &Classes, amounts: &[T], control: &Control) -> Result<Vec<T>>
    where
        T: Copy + Default + AddAssign + Send + Sync,
    {
        let patterns = (self.patterns(), other.patterns());
        let few = (self.len().min(other.len()) / 8).min(MAX_PATTERNS);
        if patterns.0.len().max(patterns.1.len()) > few {
            return self.map_agreeing_of(other, control, |_, agreeing| {
                let mut sum = T::default();
                agreeing.iter().for_each(|&class| sum += amounts[class as usize]);
                sum
            });
        }
        control.set_total(patterns.0.len() as u64 * other.len() as u64);
        let found = patterns.0.par_iter().map(|pattern| {
            let mut sums = vec![T::default(); pattern.classes.len()];
            for theirs in &patterns.1 {
                let shared = pattern.shared(theirs);
                let projections = other.project(&theirs.classes, &shared, amounts, control)?;
                for (sum, &class) in sums.iter_mut().zip(&pattern.classes) {
                    if let Some(found) = self.agreeing_with(class, other, &projections, &shared) {
                        *sum += found.sum;
                    }
                }
                control.check()?;
                control.advance(theirs.classes.len() as u64);
            }
            Ok(sums)
        });
        let found: Vec<Vec<T>> = found.collect::<Result<_>>()?;
        let mut sums = vec![T::default(); self.len()];
        for (pattern, found) in patterns.0.iter().zip(found) {
            for (&class, sum) in pattern.classes.iter().zip(found) {
                sums[class] = sum;
            }
        }
        Ok(sums)
    }

    fn patterns(&self) -> Vec<Pattern> {
        let mut number_of: HashMap<Vec<usize>, usize, rustc_hash::FxBuildHasher> = HashMap::default();
        let mut patterns: Vec<Pattern> = Vec::new();
        let mut present = Vec::with_capacity(self.width);
        for class in 0..self.len() {
            present.clear();
            present.extend((0..self.width).filter(|&column| self.codes(class)[column] != NULL));
            let number = match number_of.get(&present) {
                Some(&number) => number,
                None => {
                    number_of.insert(present.clone(), patterns.len());
                    patterns.push(Pattern {
                        present: present.clone(),
                        classes: Vec::new(),
                    });
                    patterns.len() - 1
                }
            };
            patterns[number].classes.push(class);
        }
        patterns
    }

    /// Adds up the amounts of these classes, separately for each combination of values that they have in the shared
    /// columns.
    fn project<T: Copy + Default + AddAssign>(
        &self,
        classes: &[usize],
        shared: &[usize],
        amounts: &[T],
        control: &Control,
    ) -> Result<HashTable<Projection<T>>> {
        let mut projections: HashTable<Projection<T>> = HashTable::new();
        for (done, &class) in classes.iter().enumerate() {
            if done % 65_536 == 0 {
                control.check()?;
            }
            let hash = self.projected_hash(class, shared);
            let found = projections
                .entry(
                    hash,
                    |p| p.hash == hash && self.agrees(p.class, self, class, shared),
                    |p| p.hash,
                )
                .or_insert_with(|| Projection {
                    hash,
                    class,
                    sum: T::default(),
                });
            found.into_mut().sum += amounts[class];
        }
        Ok(projections)
    }

    /// Returns the sum of those classes of `other` that agree with a class on the shared columns.
    fn agreeing_with<'a, T>(
        &self,
        class: usize,
        other: &Classes,
        projections: &'a HashTable<Projection<T>>,
        shared: &[usize],
    ) -> Option<&'a Projection<T>> {
        let hash = self.projected_hash(class, shared);
        projections.find(hash, |p| {
            p.hash == hash && other.agrees(p.class, self, class, shared)
        })
    }

    fn projected_hash(&self, class: usize, shared: &[usize]) -> u64 {
        let codes = self.codes(class);
        hash(shared.iter().map(|&column| codes[column]))
    }

    /// Returns whether a class has the same values in the shared columns as a class of `other`.
    fn agrees(&self, class: usize, other: &Classes, theirs: usize, shared: &[usize]) -> bool {
        let (a, b) = (self.codes(class), other.codes(theirs));
        shared.iter().all(|&column| a[column] == b[column])
    }
}

impl Pattern {
    /// Returns the columns in which both patterns have values.
    fn shared(&self, other: &Pattern) -> Vec<usize> {
        let present = self.present.iter().copied();
        present
            .filter(|column| other.present.binary_search(column).is_ok())
            .collect()
    }
}
