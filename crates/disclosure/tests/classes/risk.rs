//! Compares risks of re-identification with their definitions.

use crate::tables::{assert_close, config, nulls, records, roles, rows, tables};
use disclosure::classes::{By, Nulls, Risk, RiskSummary, SMALL_SIZES, check_by_person, risk_summary};
use disclosure::{Control, Error};
use proptest::prelude::*;
use reference::classes::{Row, by_person, exposure, presence, risk, size, summed_size};
use std::collections::BTreeSet;

fn assert_same(found: Option<Risk>, expected: Option<Risk>) {
    assert_eq!(found.is_some(), expected.is_some());
    if let (Some(found), Some(expected)) = (found, expected) {
        assert_close(found.highest, expected.highest);
        assert_close(found.average, expected.average);
        assert_eq!(found.above, expected.above);
    }
}

fn check_sizes(found: &RiskSummary, sizes: &[u64]) {
    assert_eq!(found.k, sizes.first().copied());
    assert_eq!(
        found.uniques,
        sizes.iter().filter(|&&size| size == 1).count() as u64
    );
    let below = |limit| sizes.iter().filter(|&&size| size < limit).count() as f64 / sizes.len() as f64;
    assert_eq!(
        found.share_below,
        (!sizes.is_empty()).then(|| SMALL_SIZES.map(below))
    );
    assert_same(found.prosecutor, risk(sizes));
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn summaries_meet_the_definition((rows, roles) in tables(), nulls in nulls()) {
        let records = records(&rows, &roles);
        let found = risk_summary(&records, None, nulls, By::Row, Control::none()).unwrap();
        let wildcard = nulls == Nulls::Wildcard;
        let sizes = exposure(&rows, |known| size(&rows, known, wildcard));
        check_sizes(&found, &sizes);
        let classes: BTreeSet<&[u32]> = rows.iter().map(|row| &row.known[..]).collect();
        prop_assert_eq!(found.classes, classes.len() as u64);
        prop_assert_eq!(found.rows, rows.len() as u64);
        prop_assert_eq!(found.people, records.counts_people().then_some(sizes.len() as u64));
        prop_assert_eq!((found.journalist, found.population), (None, None));
        prop_assert_eq!(found.marketer, found.prosecutor.map(|risk| risk.average));
    }

    #[test]
    fn summaries_by_person_meet_the_definition(rows in rows(1, 1)) {
        let records = records(&rows, &roles(1, 1));
        let found = risk_summary(&records, None, Nulls::Value, By::Person, Control::none()).unwrap();
        let (sizes, classes) = by_person(&rows);
        check_sizes(&found, &sizes);
        prop_assert_eq!(found.classes, classes as u64);
    }

    #[test]
    fn populations_meet_the_definition(
        (sample, people) in (0usize..3).prop_flat_map(|person| (rows(2, person), Just(person))),
        (population, people_there) in (0usize..2).prop_flat_map(|person| (rows(2, person), Just(person))),
        nulls in nulls(),
    ) {
        let wildcard = nulls == Nulls::Wildcard;
        let there = records(&population, &roles(2, people_there));
        let found = risk_summary(&records(&sample, &roles(2, people)), Some(&there), nulls, By::Row, Control::none());
        if wildcard && people_there > 0 {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let found = found.unwrap();
        let figures = found.population.unwrap();
        let sizes = exposure(&sample, |known| summed_size(&population, known, wildcard));
        assert_same(found.journalist, risk(&sizes));
        prop_assert_eq!(found.marketer, found.journalist.map(|risk| risk.average));
        prop_assert_eq!(figures.k_map, sizes.iter().copied().find(|&size| size > 0));
        prop_assert_eq!(figures.not_in_population, sizes.iter().filter(|&&size| size == 0).count() as u64);
        let presence = presence(&sample, &population, wildcard);
        prop_assert_eq!(figures.presence_lowest, presence.iter().copied().reduce(f64::min));
        prop_assert_eq!(figures.presence_highest, presence.into_iter().reduce(f64::max));
    }
}

#[test]
fn k_map_counts_the_population() {
    let rows = |known: &[u32]| -> Vec<Row> {
        let row = |&known: &u32| Row {
            known: vec![known],
            person: vec![],
            sensitive: 1,
        };
        known.iter().map(row).collect()
    };
    let sample = records(&rows(&[1, 1, 2]), &roles(1, 0));
    let population = records(&rows(&[1, 1, 1, 1, 2, 2, 3]), &roles(1, 0));
    let found = risk_summary(&sample, Some(&population), Nulls::Value, By::Row, Control::none()).unwrap();
    assert_eq!((found.k, found.uniques), (Some(1), 1));
    let figures = found.population.unwrap();
    assert_eq!(figures.k_map, Some(2));
    assert_eq!(
        (figures.presence_lowest, figures.presence_highest),
        (Some(0.0), Some(0.5))
    );
    assert_eq!(found.journalist.map(|risk| risk.highest), Some(0.5));
    assert_close(found.marketer.unwrap(), (0.25 + 0.25 + 0.5) / 3.0);
}

#[test]
fn classes_of_people_need_people() {
    let rows = records(&[], &roles(1, 0));
    assert!(check_by_person(&rows, None, Nulls::Value).is_err());
    let people = records(&[], &roles(1, 1));
    assert_eq!(check_by_person(&people, None, Nulls::Value), Ok(()));
    assert!(check_by_person(&people, None, Nulls::Wildcard).is_err());
    assert!(check_by_person(&people, Some(&rows), Nulls::Value).is_err());
}

#[test]
fn cancel_stops_the_summary() {
    let row = |known: u32| Row {
        known: vec![known],
        person: vec![1],
        sensitive: 1,
    };
    let records = records(&[row(1), row(0)], &roles(1, 1));
    let control = Control::new();
    control.cancel();
    for nulls in [Nulls::Value, Nulls::Wildcard] {
        let found = risk_summary(&records, None, nulls, By::Row, &control);
        assert_eq!(found, Err(Error::Cancelled));
    }
}
