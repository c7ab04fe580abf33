//! A hierarchy of values, for distances between them: each value belongs to ever coarser groups.

use crate::{Error, Result};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Hierarchy of values. Level 0 has the values themselves, and the last level has one group of all values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    values: usize,
    /// For each level below the last, the group that each group is part of on the next level.
    parents: Vec<Vec<u32>>,
}

impl Hierarchy {
    /// Returns a hierarchy in which value v belongs to group `levels[i][v]` on level i + 1. Groups of a level must be
    /// part of one group of the next level each. A group of all values is added if the last level has several groups.
    /// NULL, which is value 0, needs groups as well.
    pub fn new(values: usize, levels: &[Vec<u32>]) -> Result<Self> {
        let mut parents: Vec<Vec<u32>> = Vec::new();
        let mut group_of_value: Vec<u32> = (0..values as u32).collect();
        let mut groups = values;
        for level in levels {
            if level.len() != values {
                return Err(missing_value());
            }
            let mut number_of: HashMap<u32, u32, FxBuildHasher> = HashMap::default();
            let mut parent_of: Vec<Option<u32>> = vec![None; groups];
            for (group, name) in group_of_value.iter_mut().zip(level) {
                let next = number_of.len() as u32;
                let parent = *number_of.entry(*name).or_insert(next);
                match parent_of[*group as usize].replace(parent) {
                    Some(other) if other != parent => return Err(not_nested()),
                    _ => *group = parent,
                }
            }
            groups = number_of.len();
            parents.push(parent_of.into_iter().flatten().collect()); // every group has a value
        }
        if groups > 1 {
            parents.push(vec![0; groups]);
        }
        Ok(Hierarchy { values, parents })
    }

    /// Returns the number of levels above the values.
    pub fn height(&self) -> usize {
        self.parents.len()
    }

    /// Returns how many are in each group of each level, given how many have each value.
    pub(super) fn sums(&self, counts: &[u64]) -> Result<Vec<Vec<u64>>> {
        if counts.len() > self.values {
            return Err(missing_value());
        }
        let mut groups = counts.to_vec();
        groups.resize(self.values, 0);
        let mut levels = vec![groups];
        for (level, parents) in self.parents.iter().enumerate() {
            let mut coarser = vec![0; parents.iter().max().map_or(0, |&last| last as usize + 1)];
            for (&count, &parent) in levels[level].iter().zip(parents) {
                coarser[parent as usize] += count;
            }
            levels.push(coarser);
        }
        Ok(levels)
    }

    /// Returns for each group of a level the group that it is part of on the next level.
    pub(super) fn parents(&self, level: usize) -> &[u32] {
        &self.parents[level]
    }
}

fn not_nested() -> Error {
    Error::invalid(
        "hierarchies",
        "two values share a group on one level, but not on the next coarser one",
        "levels that nest: each level joins whole groups of the level before it",
    )
}

fn missing_value() -> Error {
    Error::invalid(
        "hierarchies",
        "a value is missing in its hierarchy",
        "a hierarchy that has a group for every value on every level",
    )
}
