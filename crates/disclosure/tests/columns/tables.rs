//! Small tables for tests.

use disclosure::classes::{Nulls, Records, Roles};
use disclosure::{Encoder, Rows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A table whose last column may be the person.
#[derive(Debug, Clone)]
pub struct TestTable {
    pub rows: Vec<Vec<u32>>,
    pub people: Option<Vec<u32>>,
    pub nulls: Nulls,
    pub width: usize,
}

impl TestTable {
    pub fn records(&self) -> Records {
        records_of(&self.rows, self.width, self.people.as_deref())
    }

    pub fn definition(&self) -> reference::columns::Table<'_> {
        reference::columns::Table {
            rows: &self.rows,
            people: self.people.as_deref(),
            nulls: self.nulls,
        }
    }
}

/// Returns the classes of rows.
pub fn records_of(rows: &[Vec<u32>], width: usize, people: Option<&[u32]>) -> Records {
    let mut columns: Vec<Vec<u32>> = (0..width)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect();
    columns.extend(people.map(<[u32]>::to_vec));
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let roles = Roles {
        quasi: (0..width).collect(),
        person: people.map(|_| width).into_iter().collect(),
        ..Roles::default()
    };
    let mut records = Records::new(roles, true);
    records.extend(Rows::new(&columns, rows.len())).unwrap();
    records
}

/// Returns the codes of a table of words, in lines.
pub fn codes_of(lines: &[&str]) -> Vec<Vec<u32>> {
    let mut encoders: Vec<Encoder<&str>> = Vec::new();
    let mut rows = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        encoders.resize_with(words.len(), Encoder::new);
        let coded = words.into_iter().zip(&mut encoders);
        rows.push(
            coded
                .map(|(word, encoder)| encoder.encode(Some(word).filter(|&word| word != "NA")).unwrap())
                .collect(),
        );
    }
    rows
}

/// Generates small tables with few values, so that rows collide, with some NULLs, and with people in a third of them.
pub fn tables(max_width: usize, max_rows: usize) -> impl Strategy<Value = TestTable> {
    (1..=max_width, 1u32..5).prop_flat_map(move |(width, codes)| {
        let row = prop::collection::vec(0..=codes, width);
        let rows = prop::collection::vec((row, 0u32..8), 0..max_rows);
        let nulls = prop_oneof![Just(Nulls::Value), Just(Nulls::Wildcard)];
        (rows, nulls, 0..3).prop_map(move |(rows, nulls, people)| TestTable {
            people: (people == 0).then(|| rows.iter().map(|(_, person)| *person).collect()),
            rows: rows.into_iter().map(|(row, _)| row).collect(),
            nulls,
            width,
        })
    })
}

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
