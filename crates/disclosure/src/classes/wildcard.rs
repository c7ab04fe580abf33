//! Class sizes with wildcards: an absent value agrees with any value, as in sdcMicro's frequency counts with
//! suppressed cells.
//!
//! Classes are grouped by *pattern*, the set of columns that have a value. Two patterns are compared on the
//! columns that they share, by hashing.

use super::{Classes, hash};
use crate::{Control, NULL, Result};
use hashbrown::HashMap;
use hashbrown::hash_table::{Entry, HashTable};
use rayon::prelude::*;

/// Classes that have values in the same columns, and these columns.
struct Pattern {
    present: Vec<usize>,
    classes: Vec<usize>,
}

/// Rows of one pattern that agree on the columns that it shares with another pattern.
struct Projection {
    hash: u64,
    /// Any class of these rows; its codes stand for all of them.
    class: usize,
    rows: u64,
}

impl Classes {
    /// Returns for each class the number of rows that agree with it in every column in which both have a
    /// value. So an absent value is a wildcard, as in sdcMicro's frequency counts with suppressed cells.
    /// Every result is at least 1, and never less than in [`sizes`](Self::sizes).
    ///
    /// The cost is proportional to the number of classes times the number of *patterns*, the sets of columns
    /// that have a value, and not to the square of the number of classes.
    pub fn wildcard_sizes(&self, control: &Control) -> Result<Vec<u64>> {
        let patterns = self.patterns();
        control.set_total(patterns.len() as u64 * self.len() as u64);
        let of_patterns = patterns
            .par_iter()
            .map(|pattern| self.sizes_within(pattern, &patterns, control))
            .collect::<Result<Vec<Vec<u64>>>>()?;
        let mut sizes = vec![0; self.len()];
        for (pattern, counted) in patterns.iter().zip(of_patterns) {
            for (&class, size) in pattern.classes.iter().zip(counted) {
                sizes[class] = size;
            }
        }
        Ok(sizes)
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

    /// Returns the wildcard sizes of one pattern's classes, in their order.
    fn sizes_within(&self, pattern: &Pattern, all: &[Pattern], control: &Control) -> Result<Vec<u64>> {
        let mut sizes = vec![0; pattern.classes.len()];
        for other in all {
            let shared: Vec<usize> = pattern
                .present
                .iter()
                .copied()
                .filter(|column| other.present.binary_search(column).is_ok())
                .collect();
            let projections = self.project(&other.classes, &shared, control)?;
            for (size, &class) in sizes.iter_mut().zip(&pattern.classes) {
                let hash = self.projected_hash(class, &shared);
                if let Some(found) =
                    projections.find(hash, |p| p.hash == hash && self.agree(p.class, class, &shared))
                {
                    *size += found.rows;
                }
            }
            control.check()?;
            control.advance(other.classes.len() as u64);
        }
        Ok(sizes)
    }

    fn project(
        &self,
        classes: &[usize],
        shared: &[usize],
        control: &Control,
    ) -> Result<HashTable<Projection>> {
        let mut projections: HashTable<Projection> = HashTable::new();
        for (done, &class) in classes.iter().enumerate() {
            if done % 65_536 == 0 {
                control.check()?;
            }
            let hash = self.projected_hash(class, shared);
            let rows = self.sizes[class];
            match projections.entry(
                hash,
                |p| p.hash == hash && self.agree(p.class, class, shared),
                |p| p.hash,
            ) {
                Entry::Occupied(mut found) => found.get_mut().rows += rows,
                Entry::Vacant(place) => {
                    place.insert(Projection { hash, class, rows });
                }
            }
        }
        Ok(projections)
    }

    fn projected_hash(&self, class: usize, shared: &[usize]) -> u64 {
        let codes = self.codes(class);
        hash(shared.iter().map(|&column| codes[column]))
    }

    fn agree(&self, a: usize, b: usize, shared: &[usize]) -> bool {
        let (a, b) = (self.codes(a), self.codes(b));
        shared.iter().all(|&column| a[column] == b[column])
    }
}
