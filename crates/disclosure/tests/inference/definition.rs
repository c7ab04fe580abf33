//! The privacy score as White defines it, for tables that tests edit.

use disclosure::classes::Classes;
use disclosure::inference::{Attribute, Column, Meaning, PackedTable};
use disclosure::{Control, Weights};
use proptest::prelude::*;

/// Rows as sets of attributes; columns are ranges of them.
#[derive(Debug, Clone)]
pub struct Table {
    pub rows: Vec<u32>,
    pub weights: Vec<Weights>,
    /// Per column its first attribute, and whether a row can have several of its attributes.
    pub columns: Vec<(u32, bool)>,
}

impl Table {
    /// Rows as words of letters, a for attribute 0, all of one array column. Weights are likelihood and danger.
    pub fn of_words(rows: &[&str], weights: &[(f64, f64)]) -> Self {
        let set = |word: &&str| word.bytes().fold(0, |set, letter| set | 1 << (letter - b'a'));
        let weights = weights
            .iter()
            .map(|&(likelihood, danger)| Weights { likelihood, danger });
        Table {
            rows: rows.iter().map(set).collect(),
            weights: weights.collect(),
            columns: vec![(0, true)],
        }
    }

    pub fn attributes(&self, set: u32) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.weights.len()).filter(move |x| set >> x & 1 == 1)
    }

    /// How many rows have these attributes.
    pub fn support(&self, set: u32) -> f64 {
        self.rows.iter().filter(|&row| row & set == set).count() as f64
    }

    fn weight(&self, row: u32, known: u32, constant: f64, min_confidence: f64) -> f64 {
        let likelihood: f64 = self
            .attributes(known)
            .map(|x| self.weights[x].likelihood)
            .product();
        let danger: f64 = self
            .attributes(row & !known)
            .map(|x| (x, self.support(known | 1 << x) / self.support(known)))
            .filter(|&(_, confidence)| confidence >= min_confidence)
            .map(|(x, confidence)| confidence * self.weights[x].danger)
            .sum();
        likelihood * danger / (constant + danger)
    }

    /// White, Definition 3.1, with shares of rows as in section 3.4: the worst of all subsets of each row.
    pub fn scores(&self, constant: f64, min_confidence: f64) -> Vec<f64> {
        let worst = |&row: &u32| {
            subsets(row)
                .map(|known| self.weight(row, known, constant, min_confidence))
                .fold(0.0, f64::max)
        };
        self.rows.iter().map(worst).collect()
    }

    pub fn set(&self, attributes: &[Attribute]) -> u32 {
        let bit = |attribute: &Attribute| self.columns[attribute.column as usize].0 + attribute.index;
        attributes
            .iter()
            .fold(0, |set, attribute| set | 1 << bit(attribute))
    }

    pub fn population(&self) -> PackedTable {
        let ends = self.columns.iter().skip(1).map(|column| column.0);
        let ends = ends.chain([self.weights.len() as u32]);
        let mut columns = Vec::new();
        let mut codes = vec![Vec::new(); self.rows.len()];
        for (&(start, is_set), end) in self.columns.iter().zip(ends) {
            let mut values: Vec<Vec<u32>> = Vec::new();
            for (row, codes) in self.rows.iter().zip(&mut codes) {
                let value: Vec<u32> = (0..end - start).filter(|x| row >> (start + x) & 1 == 1).collect();
                let place = values.iter().position(|other| *other == value);
                codes.push(1 + place.unwrap_or(values.len()) as u32);
                if place.is_none() {
                    values.push(value);
                }
            }
            columns.push(Column {
                attributes: self.weights[start as usize..end as usize].to_vec(),
                meaning: match is_set {
                    true => Meaning::Set(values),
                    false => Meaning::One(values.iter().map(|value| value.first().copied()).collect()),
                },
            });
        }
        let mut classes = Classes::new(columns.len());
        for row in &codes {
            classes.insert_many(row, 1).unwrap();
        }
        PackedTable::new(&classes, &columns, &Control::new()).unwrap()
    }
}

/// All subsets of a set of attributes.
fn subsets(set: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(set), move |subset| {
        subset.checked_sub(1).map(|next| next & set)
    })
}

pub fn average(scores: &[f64]) -> f64 {
    match scores.len() {
        0 => 0.0,
        rows => scores.iter().sum::<f64>() / rows as f64,
    }
}

pub fn maximum(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(0.0, f64::max)
}

pub fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9, "{got} instead of {expected}");
}

fn a_weight() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0.0), 3 => Just(1.0), 4 => (0u32..=1000).prop_map(|weight| f64::from(weight) / 1000.0)]
}

/// Columns of up to four attributes, the last of them an array column at times.
pub fn a_table() -> impl Strategy<Value = Table> {
    (prop::collection::vec(1u32..=4, 1..=4), any::<bool>()).prop_flat_map(|(sizes, with_array)| {
        let last = sizes.len() - 1;
        let columns: Vec<(u32, bool)> = sizes
            .iter()
            .enumerate()
            .scan(0, |end, (column, &size)| {
                Some((std::mem::replace(end, *end + size), with_array && column == last))
            })
            .collect();
        let cells: Vec<_> = columns
            .iter()
            .zip(&sizes)
            .map(|(&(start, is_set), &size)| {
                (0u32..32).prop_map(move |cell| match (is_set, cell) {
                    (true, _) => (cell % (1 << size)) << start,
                    (false, 0..3) => 0,
                    (false, _) => 1 << (start + cell % size),
                })
            })
            .collect();
        let weights: Vec<_> = sizes
            .iter()
            .map(|&size| {
                let any =
                    (a_weight(), a_weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger });
                let all = |likelihood, danger| Just(vec![Weights { likelihood, danger }; size as usize]);
                prop_oneof![
                    2 => all(1.0, 0.0),
                    2 => all(0.0, 1.0),
                    1 => all(1.0, 1.0),
                    1 => all(0.5, 0.5),
                    2 => prop::collection::vec(any, size as usize),
                ]
            })
            .collect();
        let row = cells.prop_map(|cells| cells.into_iter().fold(0, |row, cell| row | cell));
        (prop::collection::vec(row, 0..16), weights).prop_map(move |(rows, weights)| Table {
            rows,
            weights: weights.concat(),
            columns: columns.clone(),
        })
    })
}

pub fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 3_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2021),
        ..ProptestConfig::default()
    }
}
