//! Sets of columns, by comparing every row with every other.

use disclosure::NULL;
use disclosure::classes::Nulls;
use std::collections::{BTreeMap, BTreeSet};

/// A table, and the person that each row is about if people are counted. Person 0 is not known.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// Codes of the known columns of each row.
    pub rows: &'a [Vec<u32>],
    /// Person of each row, if people are counted.
    pub people: Option<&'a [u32]>,
    /// How absent values are compared.
    pub nulls: Nulls,
}

/// Returns all sets of up to `max_columns` of `columns` columns that are not empty, as ascending lists.
pub fn column_sets(columns: usize, max_columns: usize) -> Vec<Vec<usize>> {
    let sets =
        (1..1_u32 << columns).map(|bits| (0..columns).filter(|column| bits >> column & 1 == 1).collect());
    sets.filter(|set: &Vec<usize>| set.len() <= max_columns).collect()
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    fn agree(&self, a: usize, b: usize, set: &[usize]) -> bool {
        set.iter().all(|&column| {
            let (a, b) = (self.rows[a][column], self.rows[b][column]);
            a == b || (self.nulls == Nulls::Wildcard && (a == NULL || b == NULL))
        })
    }

    /// Returns the number of units who agree with a row on a set of columns.
    pub fn size(&self, row: usize, set: &[usize]) -> u64 {
        let agreeing = (0..self.rows.len()).filter(|&other| self.agree(row, other, set));
        match self.people {
            None => agreeing.count() as u64,
            Some(people) => {
                let known = agreeing.map(|row| people[row]).filter(|&person| person != 0);
                known.collect::<BTreeSet<u32>>().len().max(1) as u64
            }
        }
    }

    /// Returns the minimal uniques of a row, as sets of columns: those on which nobody else agrees with it, unlike on
    /// any part of them.
    pub fn minimal_uniques(&self, row: usize, max_columns: usize) -> Vec<Vec<usize>> {
        let is_unique = |set: &Vec<usize>| self.size(row, set) == 1;
        let is_minimal = |set: &Vec<usize>| {
            let part = |column| {
                set.iter()
                    .copied()
                    .filter(|other| other != column)
                    .collect::<Vec<usize>>()
            };
            set.len() == 1 || set.iter().all(|column| !is_unique(&part(column)))
        };
        let sets = column_sets(self.width(), max_columns);
        sets.into_iter()
            .filter(|set| is_unique(set) && is_minimal(set))
            .collect()
    }

    /// Returns the SUDA score of a row (sdcMicro's guide): a minimal unique of s columns out of m weighs
    /// ∏_{i=s}^{m−1} (m − i).
    pub fn suda(&self, row: usize, max_columns: usize) -> f64 {
        let m = self.width();
        let weight = |set: Vec<usize>| (set.len()..m).map(|i| (m - i) as f64).product::<f64>();
        self.minimal_uniques(row, max_columns)
            .into_iter()
            .map(weight)
            .sum()
    }

    /// Returns all minimal uniques: the columns and the values, and the number of rows that have them.
    pub fn combinations(&self, max_columns: usize) -> BTreeMap<(Vec<usize>, Vec<u32>), u64> {
        let mut found = BTreeMap::new();
        for row in 0..self.rows.len() {
            for set in self.minimal_uniques(row, max_columns) {
                let values = set.iter().map(|&column| self.rows[row][column]).collect();
                *found.entry((set, values)).or_insert(0) += 1;
            }
        }
        found
    }
}
