//! Numbers of classes by size, from which uniqueness in the population is estimated.

use std::collections::BTreeMap;

/// Number of classes of each size in a sample, ascending by size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassSizes(BTreeMap<u64, u64>);

impl ClassSizes {
    /// Adds classes of a size. Empty classes do not count.
    pub fn add(&mut self, size: u64, classes: u64) {
        if size > 0 && classes > 0 {
            *self.0.entry(size).or_insert(0) += classes;
        }
    }

    /// Returns the number of rows or people in all classes.
    pub fn units(&self) -> u64 {
        self.0.iter().map(|(size, classes)| size * classes).sum()
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of classes of a size.
    pub fn of_size(&self, size: u64) -> u64 {
        self.0.get(&size).copied().unwrap_or(0)
    }

    /// Returns the sizes in ascending order, each with its number of classes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        self.0.iter().map(|(&size, &classes)| (size, classes))
    }
}

impl FromIterator<u64> for ClassSizes {
    fn from_iter<I: IntoIterator<Item = u64>>(sizes: I) -> Self {
        let mut all = ClassSizes::default();
        sizes.into_iter().for_each(|size| all.add(size, 1));
        all
    }
}
