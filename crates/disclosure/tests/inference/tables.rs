//! Tables of attributes in columns, for tests that compare results with their definition.

use disclosure::classes::Classes;
use disclosure::inference::{Attribute, AttributesOfValue, Column, Nulls, PackedTable};
use disclosure::{Control, NULL, Weights};
use proptest::prelude::*;
use std::ops::{Deref, DerefMut};

/// Table whose attributes are in columns.
#[derive(Debug, Clone)]
pub struct Table {
    pub sets: reference::inference::Table,
    /// Per column, its first attribute, and whether a row can have several of its attributes.
    pub columns: Vec<(u32, bool)>,
}

impl Deref for Table {
    type Target = reference::inference::Table;

    fn deref(&self) -> &Self::Target {
        &self.sets
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.sets
    }
}

impl Table {
    /// Returns a table whose rows are given as words, all in one array column. Each letter is an attribute,
    /// `a` is attribute 0. A weight is a likelihood and a danger.
    pub fn of_words(rows: &[&str], weights: &[(f64, f64)]) -> Self {
        Self::of_sets(reference::inference::Table::of_words(rows, weights))
    }

    /// Returns a table with all attributes in one array column.
    pub fn of_sets(sets: reference::inference::Table) -> Self {
        Table {
            sets,
            columns: vec![(0, true)],
        }
    }

    /// Returns a table whose rows are given as codes, 0 for an absent value. Every code of a column is an
    /// attribute with these weights.
    pub fn of_codes(rows: &[Vec<u32>], weights: &[Vec<Weights>]) -> Self {
        let start = |end: &mut u32, weights: &Vec<Weights>| {
            Some((std::mem::replace(end, *end + weights.len() as u32), false))
        };
        let columns: Vec<(u32, bool)> = weights.iter().scan(0, start).collect();
        let set = |row: &Vec<u32>| {
            let present = row.iter().zip(&columns).filter(|&(&code, _)| code > 0);
            present.fold(0, |set, (code, (start, _))| set | 1 << (start + code - 1))
        };
        let sets = reference::inference::Table {
            rows: rows.iter().map(set).collect(),
            weights: weights.concat(),
        };
        Table { sets, columns }
    }

    /// Returns the attribute at a position of the sets.
    pub fn attribute(&self, place: usize) -> Attribute {
        let starts = self
            .columns
            .iter()
            .take_while(|(start, _)| *start as usize <= place);
        let column = starts.count() - 1;
        Attribute {
            column: column as u32,
            index: place as u32 - self.columns[column].0,
        }
    }

    /// Returns the set of some attributes.
    pub fn set(&self, attributes: &[Attribute]) -> u32 {
        let bit = |attribute: &Attribute| self.columns[attribute.column as usize].0 + attribute.index;
        attributes
            .iter()
            .fold(0, |set, attribute| set | 1 << bit(attribute))
    }

    /// Returns the table in the form that the algorithms use. In every other column, an absent value is NULL;
    /// in the others, it is a value without an attribute.
    pub fn packed(&self) -> PackedTable {
        let (classes, columns) = self.encoded();
        PackedTable::new(&classes, &columns, &Control::new()).unwrap()
    }

    pub fn encoded(&self) -> (Classes, Vec<Column>) {
        let ends = self.columns.iter().skip(1).map(|column| column.0);
        let ends = ends.chain([self.weights.len() as u32]);
        let mut columns = Vec::new();
        let mut codes = vec![Vec::new(); self.rows.len()];
        for (&(start, is_set), end) in self.columns.iter().zip(ends) {
            let has_nulls = !is_set && columns.len() % 2 == 1;
            let mut values: Vec<Vec<u32>> = Vec::new();
            for (row, codes) in self.rows.iter().zip(&mut codes) {
                let value: Vec<u32> = (0..end - start).filter(|x| row >> (start + x) & 1 == 1).collect();
                if has_nulls && value.is_empty() {
                    codes.push(NULL);
                    continue;
                }
                let place = values.iter().position(|other| *other == value);
                codes.push(1 + place.unwrap_or(values.len()) as u32);
                if place.is_none() {
                    values.push(value);
                }
            }
            columns.push(Column {
                attributes: self.weights[start as usize..end as usize].to_vec(),
                attributes_of_value: if is_set {
                    AttributesOfValue::Set(values)
                } else {
                    AttributesOfValue::One(values.iter().map(|value| value.first().copied()).collect())
                },
                nulls: Nulls::Absent,
            });
        }
        let mut classes = Classes::new(columns.len());
        for row in &codes {
            classes.insert(row, 1).unwrap();
        }
        (classes, columns)
    }
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

pub fn a_weight() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0.0), 3 => Just(1.0), 4 => (0u32..=1000).prop_map(|weight| f64::from(weight) / 1000.0)]
}

/// Generates tables with columns of up to four attributes. The last one is sometimes an array column.
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
            sets: reference::inference::Table {
                rows,
                weights: weights.concat(),
            },
            columns: columns.clone(),
        })
    })
}

pub fn a_constant() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(1.0), 1 => Just(0.1), 1 => Just(7.5)]
}

pub fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 3_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2021),
        ..ProptestConfig::default()
    }
}
