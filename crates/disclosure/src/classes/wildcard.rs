//! Class sizes with wildcards: an absent value agrees with any value, as in sdcMicro's frequency counts with
//! suppressed cells.
//!
//! Classes are grouped by *pattern*, the set of columns that have a value. Two patterns are compared on the
//! columns that they share, by hashing.

use super::{Classes, hash};
use crate::{Control, NULL, Result};
use hashbrown::HashMap;
use hashbrown::hash_table::HashTable;
use rayon::prelude::*;
use std::ops::AddAssign;

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
    /// What was gathered from these classes.
    gathered: T,
}

impl Classes {
    /// Returns for each class the number of rows that agree with it in every column in which both have a
    /// value. So an absent value is a wildcard, as in sdcMicro's frequency counts with suppressed cells.
    /// Every result is at least 1, and never less than in [`sizes`](Self::sizes).
    ///
    /// The cost is proportional to the number of classes times the number of *patterns*, the sets of columns
    /// that have a value, and not to the square of the number of classes.
    pub fn wildcard_sizes(&self, control: &Control) -> Result<Vec<u64>> {
        self.sum_agreeing(self, &self.sizes, control)
    }

    /// Returns for each class the sum of an amount over those classes of `other` that agree with it in every column
    /// in which both have a value. `amounts` has one number for each class of `other`, whose codes must have the same
    /// meaning as here.
    pub fn sum_agreeing<T>(&self, other: &Classes, amounts: &[T], control: &Control) -> Result<Vec<T>>
    where
        T: Copy + Default + AddAssign + Send + Sync,
    {
        let others = other.patterns();
        let patterns = self.patterns();
        control.set_total(patterns.len() as u64 * other.len() as u64);
        self.of_patterns(&patterns, |pattern| {
            let mut sums = vec![T::default(); pattern.classes.len()];
            for theirs in &others {
                let shared = pattern.shared(theirs);
                let add = |sum: &mut T, class: usize| *sum += amounts[class];
                let projections = other.project(&theirs.classes, &shared, add, control)?;
                for (sum, &class) in sums.iter_mut().zip(&pattern.classes) {
                    if let Some(found) = self.agreeing_with(class, other, &projections, &shared) {
                        *sum += found.gathered;
                    }
                }
                control.check()?;
                control.advance(theirs.classes.len() as u64);
            }
            Ok(sums)
        })
    }

    /// Returns what `of_class` makes of each class and the classes that agree with it in every column in which both
    /// have a value. Every class agrees with itself. In contrast to [`sum_agreeing`](Self::sum_agreeing), the cost is
    /// proportional to the number of pairs of classes that agree.
    pub fn map_agreeing<T: Send>(
        &self,
        control: &Control,
        of_class: impl Fn(usize, &[u32]) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        let patterns = self.patterns();
        control.set_total(self.len() as u64);
        self.of_patterns(&patterns, |pattern| {
            let mut projected = Vec::with_capacity(patterns.len());
            for theirs in &patterns {
                let shared = pattern.shared(theirs);
                let push = |classes: &mut Vec<u32>, class: usize| classes.push(class as u32);
                let projections = self.project(&theirs.classes, &shared, push, control)?;
                projected.push((shared, projections));
            }
            let mut results = Vec::with_capacity(pattern.classes.len());
            let mut agreeing: Vec<u32> = Vec::new();
            for &class in &pattern.classes {
                agreeing.clear();
                for (shared, projections) in &projected {
                    if let Some(found) = self.agreeing_with(class, self, projections, shared) {
                        agreeing.extend_from_slice(&found.gathered);
                    }
                }
                control.check()?;
                control.advance(1);
                results.push(of_class(class, &agreeing));
            }
            Ok(results)
        })
    }

    /// Returns the results of all classes, in their order. `of_pattern` returns those of one pattern's classes.
    fn of_patterns<T: Send>(
        &self,
        patterns: &[Pattern],
        of_pattern: impl Fn(&Pattern) -> Result<Vec<T>> + Send + Sync,
    ) -> Result<Vec<T>> {
        let found = patterns
            .par_iter()
            .map(|pattern| of_pattern(pattern))
            .collect::<Result<Vec<Vec<T>>>>()?;
        let mut results: Vec<Option<T>> = Vec::new();
        results.resize_with(self.len(), || None);
        for (pattern, found) in patterns.iter().zip(found) {
            for (&class, result) in pattern.classes.iter().zip(found) {
                results[class] = Some(result);
            }
        }
        Ok(results.into_iter().flatten().collect()) // every class is in one pattern
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

    /// Gathers something from these classes, separately for each combination of values that they have in the shared
    /// columns.
    fn project<T: Default>(
        &self,
        classes: &[usize],
        shared: &[usize],
        gather: impl Fn(&mut T, usize),
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
                    gathered: T::default(),
                });
            gather(&mut found.into_mut().gathered, class);
        }
        Ok(projections)
    }

    /// Returns what was gathered from those classes of `other` that agree with a class on the shared columns.
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
