//! Random tables for the everyday measures.

use disclosure::classes::{Classes, Nulls, Records, Roles};
use disclosure::{Control, Rows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::classes::Row;

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates rows with so many known columns and columns that identify people. Values are few, so that rows collide,
/// and some are NULL.
pub fn rows(known: usize, person: usize) -> impl Strategy<Value = Vec<Row>> {
    let codes = |largest: u32, width: usize| prop::collection::vec(0..=largest, width);
    let row = (codes(2, known), codes(3, person), 0u32..5);
    let row = row.prop_map(|(known, person, sensitive)| Row {
        known,
        person,
        sensitive,
    });
    prop::collection::vec(row, 0..25)
}

/// Generates rows with up to three known columns, and no, one or two columns that identify people.
pub fn tables() -> impl Strategy<Value = (Vec<Row>, Roles)> {
    (0usize..4, 0usize..3).prop_flat_map(|(known, person)| (rows(known, person), Just(roles(known, person))))
}

pub fn nulls() -> impl Strategy<Value = Nulls> {
    prop_oneof![Just(Nulls::Value), Just(Nulls::Wildcard)]
}

/// Roles of known columns, the sensitive one, and those that identify people. The first known column is kept.
pub fn roles(known: usize, person: usize) -> Roles {
    Roles {
        quasi: (0..known).collect(),
        sensitive: vec![known],
        person: (known + 1..known + 1 + person).collect(),
        kept: vec![known],
    }
}

fn codes(row: &Row) -> Vec<u32> {
    let sensitive = std::iter::once(&row.sensitive);
    row.known
        .iter()
        .chain(sensitive)
        .chain(&row.person)
        .copied()
        .collect()
}

/// Adds the rows in two batches.
pub fn records(rows: &[Row], roles: &Roles) -> Records {
    let mut records = Records::new(roles.clone(), true);
    let width = roles.quasi.len() + 1 + roles.person.len();
    for batch in rows.chunks(10) {
        let batch: Vec<Vec<u32>> = batch.iter().map(codes).collect();
        let column = |column: usize| batch.iter().map(|row| row[column]).collect();
        let columns: Vec<Vec<u32>> = (0..width).map(column).collect();
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        records.extend(Rows::new(&columns, batch.len())).unwrap();
    }
    records
}

/// Counts equal rows first.
pub fn counted_records(rows: &[Row], roles: &Roles) -> Records {
    let mut classes = Classes::new(roles.quasi.len() + 1 + roles.person.len());
    for row in rows {
        classes.insert(&codes(row), 1).unwrap();
    }
    Records::of_classes(&classes, roles.clone()).unwrap()
}

pub fn sizes(records: &Records, nulls: Nulls) -> Vec<u64> {
    records.sizes(nulls, Control::none()).unwrap()
}

/// Checks that two figures are equal except for rounding.
pub fn assert_close(a: f64, b: f64) {
    assert!(
        a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3),
        "{a} is not {b}"
    );
}
