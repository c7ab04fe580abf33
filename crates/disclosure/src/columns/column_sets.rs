//! Numbers of sets of columns.

use crate::{Error, Result};

/// Largest number of sets that a search visits.
const MAX_SETS: u64 = 1 << 24;

/// Checks that sets may have at least one column.
pub fn check_max_columns(max_columns: Option<usize>) -> Result<()> {
    match max_columns {
        Some(0) => Err(Error::invalid(
            "max_columns",
            "must be at least 1",
            "the largest number of columns of a set, or none for sets of any size",
        )),
        _ => Ok(()),
    }
}

/// Sets of up to a number of columns. The sets of each size are numbered from 0 in lexicographic order.
#[derive(Debug, Clone)]
pub(super) struct ColumnSets {
    columns: usize,
    max_columns: usize,
    /// How many sets of `k` out of `n` columns there are, at `n * (max_columns + 1) + k`.
    binomials: Vec<u64>,
}

impl ColumnSets {
    /// Returns the sets of up to `max_columns` columns, or of any size if it is `None`.
    pub fn new(columns: usize, max_columns: Option<usize>) -> Result<Self> {
        check_max_columns(max_columns)?;
        let max_columns = max_columns.map_or(columns, |max| max.min(columns));
        let width = max_columns + 1;
        let mut binomials = vec![0_u64; (columns + 1) * width];
        for n in 0..=columns {
            binomials[n * width] = 1;
            for k in 1..=max_columns.min(n) {
                let without = binomials[(n - 1) * width + k];
                binomials[n * width + k] = without.saturating_add(binomials[(n - 1) * width + k - 1]);
            }
        }
        let sets = ColumnSets {
            columns,
            max_columns,
            binomials,
        };
        match sets.count() > MAX_SETS {
            true => Err(Error::invalid(
                "max_columns",
                format!("must be smaller for {columns} columns, which have too many sets"),
                format!("a number of columns so that there are at most {MAX_SETS} sets"),
            )),
            false => Ok(sets),
        }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the size of the largest sets.
    pub fn max_columns(&self) -> usize {
        self.max_columns
    }

    /// Returns the number of sets that are not empty.
    pub fn count(&self) -> u64 {
        let sizes = (1..=self.max_columns).map(|size| self.choose(self.columns, size));
        sizes.fold(0, u64::saturating_add)
    }

    /// Returns the number of sets of `size` columns.
    pub fn of_size(&self, size: usize) -> usize {
        self.choose(self.columns, size) as usize
    }

    /// Returns the number of sets of `size` columns that begin with these columns.
    pub fn beginning_with(&self, prefix: &[usize], size: usize) -> usize {
        let following = prefix.last().map_or(self.columns, |last| self.columns - 1 - last);
        self.choose(following, size - prefix.len()) as usize
    }

    /// Returns the number of a set, whose columns ascend.
    pub fn number(&self, set: impl ExactSizeIterator<Item = usize>) -> usize {
        let mut left = set.len();
        let mut after = 0;
        let all = self.choose(self.columns, left);
        for column in set {
            after += self.choose(self.columns - 1 - column, left);
            left -= 1;
        }
        (all - 1 - after) as usize
    }

    fn choose(&self, n: usize, k: usize) -> u64 {
        self.binomials[n * (self.max_columns + 1) + k]
    }
}

/// Returns the columns of a set without the one at a position.
pub(super) fn without(set: &[usize], position: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
    let kept = move |at: usize| if at < position { set[at] } else { set[at + 1] };
    (0..set.len() - 1).map(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets_of(columns: usize, size: usize, from: usize) -> Vec<Vec<usize>> {
        if size == 0 {
            return vec![vec![]];
        }
        let mut sets = Vec::new();
        for first in from..columns {
            for rest in sets_of(columns, size - 1, first + 1) {
                sets.push([vec![first], rest].concat());
            }
        }
        sets
    }

    #[test]
    fn sets_are_numbered_in_lexicographic_order() {
        for columns in 0..7 {
            let numbers = ColumnSets::new(columns, None).unwrap();
            for size in 0..=columns {
                let sets = sets_of(columns, size, 0);
                assert_eq!(sets.len(), numbers.of_size(size));
                for (number, set) in sets.iter().enumerate() {
                    assert_eq!(numbers.number(set.iter().copied()), number);
                }
                for prefix in sets.iter().map(|set| &set[..size / 2]) {
                    let beginning = sets.iter().filter(|set| set.starts_with(prefix)).count();
                    assert_eq!(numbers.beginning_with(prefix, size), beginning);
                }
            }
        }
    }
}
