//! Lists minimal uniques, and what columns and values contribute to them.

use super::suda::{UniqueSettings, Uniques, weight};
use super::uniques::Combination;
use crate::classes::Records;
use crate::{Control, Result};
use std::collections::BTreeMap;

/// Minimal uniques of a table: combinations of values that only one row or person has, while each part of the
/// combination is shared with others.
#[derive(Debug, Clone, PartialEq)]
pub struct MinimalUniques {
    /// Sets of columns that have minimal uniques, the smallest sets first.
    pub sets: Vec<UniqueSet>,
    /// Number of sets that were not examined because time ran out.
    pub not_examined: u64,
    /// Number of known columns.
    columns: usize,
    total: Amount,
}

/// Minimal uniques of a set of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueSet {
    /// Positions of the columns, in ascending order.
    pub columns: Vec<usize>,
    /// Minimal uniques.
    pub combinations: Vec<Combination>,
}

/// Minimal uniques of a set of columns, with a column, or with a value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Share {
    /// Number of rows that have these combinations. A row counts once for each.
    pub rows: u64,
    /// Number of minimal uniques.
    pub uniques: u64,
    /// Their share in the sum of all SUDA scores. Shares of single columns or values add up to more than 1, because
    /// they share the combinations.
    pub contribution: f64,
}

/// Numbers of minimal uniques.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Amount {
    rows: u64,
    /// Number of minimal uniques by their number of columns, from 0.
    by_size: Vec<u64>,
}

impl Amount {
    fn add(&mut self, size: usize, uniques: u64, rows: u64) {
        if self.by_size.len() <= size {
            self.by_size.resize(size + 1, 0);
        }
        self.by_size[size] += uniques;
        self.rows += rows;
    }

    /// Returns the sum of the weights.
    fn score(&self, columns: usize) -> f64 {
        let sizes = self
            .by_size
            .iter()
            .enumerate()
            .filter(|&(_, &uniques)| uniques > 0);
        sizes
            .map(|(size, &uniques)| uniques as f64 * weight(size, columns))
            .sum()
    }
}

/// Returns the minimal uniques of a table.
pub fn minimal_uniques(
    records: &Records,
    settings: &UniqueSettings,
    control: &Control,
) -> Result<MinimalUniques> {
    let found = Uniques::find(records, settings, true, control)?;
    let not_examined = found.not_examined();
    let mut sets = Vec::new();
    let mut total = Amount::default();
    for (level, size) in found.levels.into_iter().zip(1..) {
        let mut of_size = Vec::new();
        let mut set: Vec<usize> = (0..size).collect();
        for outcome in level.outcomes {
            if let Some(outcome) = outcome.filter(|found| found.count > 0) {
                let rows = outcome
                    .combinations
                    .iter()
                    .map(|combination| combination.rows)
                    .sum();
                total.add(size, outcome.count, rows);
                of_size.push(UniqueSet {
                    columns: found.table.positions(&set),
                    combinations: outcome.combinations,
                });
            }
            next_set(&mut set, found.sets.columns());
        }
        of_size.sort_unstable_by(|a, b| a.columns.cmp(&b.columns));
        sets.extend(of_size);
    }
    Ok(MinimalUniques {
        sets,
        not_examined,
        columns: found.sets.columns(),
        total,
    })
}

/// Advances to the next set of the same size in lexicographic order. The last one stays as it is.
pub(super) fn next_set(set: &mut [usize], columns: usize) {
    let size = set.len();
    let may_grow = |&at: &usize| set[at] + size - at < columns;
    let Some(at) = (0..size).rev().find(may_grow) else {
        return;
    };
    let start = set[at] + 1;
    for (column, place) in (start..).zip(&mut set[at..]) {
        *place = column;
    }
}

impl MinimalUniques {
    /// Returns the contribution of a single minimal unique of some number of columns.
    pub fn contribution(&self, size: usize) -> f64 {
        weight(size, self.columns) / self.total.score(self.columns)
    }

    /// Returns the figures of each set, in the order of `sets`.
    pub fn by_set(&self) -> Vec<Share> {
        let amount = |set: &UniqueSet| {
            let mut amount = Amount::default();
            amount.add(set.columns.len(), set.combinations.len() as u64, set.rows());
            self.share(&amount)
        };
        self.sets.iter().map(amount).collect()
    }

    /// Returns the figures of each column, by its position.
    pub fn by_column(&self) -> Vec<Share> {
        let mut amounts = vec![Amount::default(); self.columns];
        for set in &self.sets {
            for &column in &set.columns {
                amounts[column].add(set.columns.len(), set.combinations.len() as u64, set.rows());
            }
        }
        amounts.iter().map(|amount| self.share(amount)).collect()
    }

    /// Returns the figures of each value that is part of a minimal unique: the column's position, a class that has the
    /// value, and the figures.
    pub fn by_value(&self, records: &Records, control: &Control) -> Result<Vec<(usize, u32, Share)>> {
        let mut amounts: BTreeMap<(usize, u32), (u32, Amount)> = BTreeMap::new();
        for set in &self.sets {
            control.check()?;
            for combination in &set.combinations {
                let codes = records.classes().codes(combination.class as usize);
                for &column in &set.columns {
                    let new = || (combination.class, Amount::default());
                    let (_, amount) = amounts.entry((column, codes[column])).or_insert_with(new);
                    amount.add(set.columns.len(), 1, combination.rows);
                }
            }
        }
        let shares = amounts.into_iter();
        Ok(shares
            .map(|((column, _), (class, amount))| (column, class, self.share(&amount)))
            .collect())
    }

    fn share(&self, amount: &Amount) -> Share {
        let total = self.total.score(self.columns);
        Share {
            rows: amount.rows,
            uniques: amount.by_size.iter().sum(),
            contribution: if total > 0.0 {
                amount.score(self.columns) / total
            } else {
                0.0
            },
        }
    }
}

impl UniqueSet {
    /// Returns the number of rows that have the minimal uniques. A row counts once for each.
    pub fn rows(&self) -> u64 {
        self.combinations.iter().map(|combination| combination.rows).sum()
    }
}
