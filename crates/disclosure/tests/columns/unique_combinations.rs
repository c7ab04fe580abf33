//! Compares minimal unique column combinations with their definition.

use crate::tables::{config, records_of, tables};
use disclosure::Control;
use disclosure::columns::unique_combinations;
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn combinations_meet_the_definition(table in tables(7, 14)) {
        let found = unique_combinations(&table.records(), &Control::new()).unwrap();
        prop_assert_eq!(found, table.definition().unique_combinations());
    }
}

#[test]
fn any_two_of_twelve_columns_may_be_needed() {
    // Rows i and i + 1 differ in the columns i and i + 1 only.
    let rows: Vec<Vec<u32>> = (0..24_u32)
        .map(|row| {
            (0..12)
                .map(|column| 1 + row / 2 * 100 + u32::from(column / 2 == row / 2 % 6) * (row % 2))
                .collect()
        })
        .collect();
    let found = unique_combinations(&records_of(&rows, 12, None), &Control::new()).unwrap();
    assert_eq!(found.len(), 64);
    assert!(found.iter().all(|set| set.len() == 6));
}

#[test]
fn no_more_than_128_columns() {
    let row = vec![1; 129];
    assert!(unique_combinations(&records_of(&[row], 129, None), &Control::new()).is_err());
    let rows: Vec<Vec<u32>> = (0..128)
        .map(|row| (0..128).map(|column| 1 + u32::from(row == column)).collect())
        .collect();
    let found = unique_combinations(&records_of(&rows, 128, None), &Control::new()).unwrap();
    assert_eq!(found.len(), 128);
}
