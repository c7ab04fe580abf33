//! Compares counts of units with their definition.

use disclosure::classes::{Classes, Unit};
use disclosure::{NULL, Rows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

const WIDTH: usize = 4;

fn chosen(row: &[u32], columns: &[usize]) -> Vec<u32> {
    columns.iter().map(|&column| row[column]).collect()
}

fn is_present(row: &[u32], columns: &[usize]) -> bool {
    columns.iter().any(|&column| row[column] != NULL)
}

/// Returns the units and rows of every class that contains a unit.
fn by_definition(rows: &[Vec<u32>], columns: &[usize], unit: &Unit) -> BTreeMap<Vec<u32>, (u64, u64)> {
    let mut members: BTreeMap<Vec<u32>, Vec<&Vec<u32>>> = BTreeMap::new();
    for row in rows {
        members.entry(chosen(row, columns)).or_default().push(row);
    }
    let counted = members.into_iter().map(|(class, members)| {
        let mut seen = BTreeSet::new();
        let units = match unit {
            Unit::Row => members.len(),
            Unit::Marked(marks) => members.iter().filter(|row| is_present(row, marks)).count(),
            Unit::Distinct(identity) => {
                let present = members.iter().filter(|row| is_present(row, identity));
                present
                    .map(|row| chosen(row, identity))
                    .collect::<BTreeSet<_>>()
                    .len()
            }
            Unit::Combination(identity) => {
                let present = rows.iter().filter(|row| is_present(row, identity));
                let is_first = |row: &&Vec<u32>| seen.insert(chosen(row, identity));
                let first = present.filter(is_first);
                first.filter(|row| chosen(row, columns) == class).count()
            }
        };
        (class, (units as u64, members.len() as u64))
    });
    counted.filter(|(_, (units, _))| *units > 0).collect()
}

fn units() -> impl Strategy<Value = Unit> {
    let columns = || prop::collection::vec(0..WIDTH, 1..3);
    prop_oneof![
        Just(Unit::Row),
        columns().prop_map(Unit::Marked),
        columns().prop_map(Unit::Distinct),
        columns().prop_map(Unit::Combination),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn units_meet_the_definition(
        rows in prop::collection::vec(prop::collection::vec(0u32..3, WIDTH), 0..40),
        columns in prop::sample::subsequence((0..WIDTH).collect::<Vec<_>>(), 0..=WIDTH),
        unit in units(),
    ) {
        let by_column: Vec<Vec<u32>> = (0..WIDTH).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
        let by_column: Vec<&[u32]> = by_column.iter().map(Vec::as_slice).collect();
        let mut classes = Classes::new(WIDTH);
        classes.extend(Rows::new(&by_column, rows.len()), |_| {}).unwrap();
        let counts = classes.count_units(&columns, &unit).unwrap();
        let found: BTreeMap<Vec<u32>, (u64, u64)> = (0..counts.classes.len())
            .map(|class| (counts.classes.codes(class).to_vec(), (counts.classes.sizes()[class], counts.rows[class])))
            .collect();
        prop_assert_eq!(found.len(), counts.rows.len());
        prop_assert_eq!(found, by_definition(&rows, &columns, &unit));
    }
}
