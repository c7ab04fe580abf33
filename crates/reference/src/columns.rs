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

/// Figures about a set of columns, and about the pairs of rows that agree on it.
#[derive(Debug, Clone, PartialEq)]
pub struct SetFigures {
    /// Number of different combinations of values.
    pub classes: u64,
    /// Smallest number of units who agree with a row.
    pub k: Option<u64>,
    /// Number of units with a row on which nobody else agrees with them.
    pub uniques: u64,
    /// Number of all units. All people who are not known are one.
    pub units: u64,
    /// Number of ordered pairs of different rows that do not agree.
    pub separated: u64,
}

impl SetFigures {
    /// Returns the share of the units that are singled out.
    pub fn share(&self) -> Option<f64> {
        (self.units > 0).then(|| self.uniques as f64 / self.units as f64)
    }
}

impl Table<'_> {
    /// Returns the figures of a set of columns.
    pub fn figures(&self, set: &[usize]) -> SetFigures {
        let all = 0..self.rows.len();
        let unit = |row: usize| self.people.map_or(row as u32, |people| people[row]);
        let values = |row: usize| {
            set.iter()
                .map(|&column| self.rows[row][column])
                .collect::<Vec<u32>>()
        };
        let alone = all.clone().filter(|&row| self.size(row, set) == 1);
        let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
        SetFigures {
            classes: all.clone().map(values).collect::<BTreeSet<_>>().len() as u64,
            k: all.clone().map(|row| self.size(row, set)).min(),
            uniques: alone.map(unit).collect::<BTreeSet<_>>().len() as u64,
            units: all.clone().map(unit).collect::<BTreeSet<_>>().len() as u64,
            separated: pairs.filter(|&(a, b)| !self.agree(a, b, set)).count() as u64,
        }
    }

    /// Returns the contribution of a column to the share singled out: the average increase when the column is added to
    /// a set of a given size, averaged over the sizes. With sets of all sizes it is the Shapley value.
    pub fn contribution(&self, column: usize, max_columns: usize) -> Option<f64> {
        let max_columns = max_columns.min(self.width());
        let share = |set: &[usize]| self.figures(set).share();
        let mut sum = 0.0;
        for size in 0..max_columns {
            let mut sets = column_sets(self.width(), max_columns);
            sets.push(vec![]);
            sets.retain(|set| set.len() == size && !set.contains(&column));
            let increase = |set: &Vec<usize>| {
                let with = [&set[..], &[column]].concat();
                Some(share(&with)? - share(set)?)
            };
            let increases: Option<Vec<f64>> = sets.iter().map(increase).collect();
            sum += increases?.iter().sum::<f64>() / sets.len() as f64;
        }
        Some(sum / max_columns as f64)
    }

    /// Returns the minimal sets of columns on which no two different rows are equal.
    pub fn unique_combinations(&self) -> Vec<Vec<usize>> {
        let rows: BTreeSet<&Vec<u32>> = self.rows.iter().collect();
        let is_unique = |set: &Vec<usize>| {
            let values = |row: &Vec<u32>| set.iter().map(|&column| row[column]).collect::<Vec<u32>>();
            rows.iter().map(|row| values(row)).collect::<BTreeSet<_>>().len() == rows.len()
        };
        let mut sets = vec![vec![]];
        sets.extend(column_sets(self.width(), self.width()));
        sets.sort_by_key(|set| (set.len(), set.clone()));
        let mut minimal: Vec<Vec<usize>> = Vec::new();
        for set in sets.into_iter().filter(is_unique) {
            if !minimal
                .iter()
                .any(|part| part.iter().all(|column| set.contains(column)))
            {
                minimal.push(set);
            }
        }
        minimal
    }

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
