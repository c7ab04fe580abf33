//! Compares classes of rows and people with their definitions.

use crate::tables::{config, counted_records, nulls, records, rows, sizes, tables};
use disclosure::Control;
use disclosure::classes::{Exposure, Nulls, Records, Roles};
use proptest::prelude::*;
use reference::classes::{Row, by_person, class, counts, exposure, size};

/// Returns the size of the class of each unit.
fn of_units(exposure: &Exposure) -> Vec<u64> {
    let units = exposure
        .iter()
        .flat_map(|(size, units)| std::iter::repeat_n(size, units as usize));
    units.collect()
}

fn check_row(rows: &[Row], records: &Records, row: usize, nulls: Nulls) {
    let known = &rows[row].known;
    let class = records.class_of_row()[row] as usize;
    assert_eq!(records.classes().codes(class), &known[..]);
    let size = size(rows, known, nulls == Nulls::Wildcard);
    assert_eq!(sizes(records, nulls)[class], size);
    assert_eq!(records.kept(0)[row], rows[row].sensitive);
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn sizes_and_values_meet_the_definition((rows, roles) in tables(), nulls in nulls()) {
        let records = records(&rows, &roles);
        (0..rows.len()).for_each(|row| check_row(&rows, &records, row, nulls));
        let values = records.values(0, Control::none()).unwrap();
        prop_assert_eq!(values.len(), records.classes().len());
        for number in 0..values.len() {
            let class = class(&rows, records.classes().codes(number), false);
            let expected: Vec<(u32, u64)> = counts(class, true).into_iter().collect();
            prop_assert_eq!(values.of(number), &expected[..]);
        }
        prop_assert_eq!(records.rows(), rows.len() as u64);
    }

    #[test]
    fn exposure_meets_the_definition((rows, roles) in tables(), nulls in nulls()) {
        let records = records(&rows, &roles);
        let sizes = sizes(&records, nulls);
        let found = records.exposure(&sizes);
        let expected = exposure(&rows, |known| size(&rows, known, nulls == Nulls::Wildcard));
        prop_assert_eq!(found.units(), expected.len() as u64);
        prop_assert_eq!(found.smallest(), expected.first().copied());
        for limit in [0, 1, 2, 5] {
            let below = expected.iter().filter(|&&size| size < limit).count();
            prop_assert_eq!(found.below(limit), below as u64);
        }
        prop_assert_eq!(of_units(&found), expected);
        if records.counts_people() {
            prop_assert_eq!(records.people(), found.units());
        }
    }

    #[test]
    fn classes_of_people_meet_the_definition(rows in rows(1, 1)) {
        let roles = crate::tables::roles(1, 1);
        let (expected, classes) = by_person(&rows);
        for records in [records(&rows, &roles), counted_records(&rows, &roles)] {
            let found = records.classes_by_person(Control::none()).unwrap();
            prop_assert_eq!(&of_units(&found.0), &expected);
            prop_assert_eq!(found.1, classes as u64);
        }
    }

    #[test]
    fn counted_rows_are_the_same_rows((rows, roles) in tables(), nulls in nulls()) {
        let roles = Roles { kept: vec![], ..roles };
        let (one, other) = (records(&rows, &Roles { kept: vec![roles.sensitive[0]], ..roles.clone() }), counted_records(&rows, &roles));
        prop_assert_eq!(one.rows(), other.rows());
        prop_assert_eq!(one.classes().sizes(), other.classes().sizes());
        prop_assert_eq!(one.people(), other.people());
        let sizes = sizes(&one, nulls);
        prop_assert_eq!(&sizes, &crate::tables::sizes(&other, nulls));
        prop_assert_eq!(one.exposure(&sizes), other.exposure(&sizes));
        let values = |records: &Records| {
            let values = records.values(0, Control::none()).unwrap();
            values.iter().map(<[_]>::to_vec).collect::<Vec<_>>()
        };
        prop_assert_eq!(values(&one), values(&other));
    }
}

#[test]
fn a_person_with_several_rows_counts_once() {
    let row = |known: u32, person: u32| Row {
        known: vec![known],
        person: vec![person],
        sensitive: 1,
    };
    // Person 1 comes three times, and once to another class; person 2 once; two rows are nobody's.
    let rows = [
        row(1, 1),
        row(1, 1),
        row(1, 1),
        row(2, 1),
        row(1, 2),
        row(1, 0),
        row(3, 0),
    ];
    let records = records(&rows, &crate::tables::roles(1, 1));
    assert_eq!(sizes(&records, Nulls::Value), [2, 1, 1]);
    assert_eq!(records.people(), 3);
    assert_eq!(of_units(&records.exposure(&[2, 1, 1])), [1, 1, 2]);
}
