//! Compares figures about sensitive values with their definitions.

use crate::tables::{assert_close, config, counted_records, nulls, records, roles, tables};
use disclosure::classes::{
    Classes, Diversity, DiversitySettings, Hierarchy, Nulls, Records, Values, class_diversity, diversity,
};
use disclosure::{Control, Error, NULL};
use proptest::prelude::*;
use reference::classes::{Row, class, counts, holders, table_counts};
use reference::classes::{hierarchical_distance, ordered_distance};

/// A group on the finer level for each of the five values, and one on the coarser level for each of those.
type Groups = ([u32; 5], [u32; 4]);

/// Returns the value, its groups on both levels, and the group of all values.
fn path((fine, coarse): &Groups, value: u32) -> Vec<u32> {
    let group = fine[value as usize];
    vec![value, group, coarse[group as usize], 0]
}

fn hierarchy(groups: &Groups) -> Hierarchy {
    let level = |level: usize| (0..5).map(|value| path(groups, value)[level]).collect();
    Hierarchy::new(5, &[level(1), level(2), level(3)]).unwrap()
}

fn assert_same(found: &Diversity, expected: &Diversity) {
    assert_eq!(found.l_distinct, expected.l_distinct);
    assert_eq!(found.l_recursive, expected.l_recursive);
    assert_close(found.l_entropy, expected.l_entropy);
    assert_close(found.alpha, expected.alpha);
    assert_close(found.t_equal, expected.t_equal);
    for (found, expected) in [
        (found.t_ordered, expected.t_ordered),
        (found.t_hierarchical, expected.t_hierarchical),
    ] {
        assert_eq!(found.is_some(), expected.is_some());
        assert_close(found.unwrap_or(0.0), expected.unwrap_or(0.0));
    }
    assert_close(found.beta, expected.beta);
    assert_close(found.beta_enhanced, expected.beta_enhanced);
    assert_close(found.beta_enhanced_strict, expected.beta_enhanced_strict);
    assert_close(found.delta, expected.delta);
}

/// Returns the figures of the class of these known values by definition.
fn by_definition(
    rows: &[Row],
    known: &[u32],
    settings: &DiversitySettings,
    ranks: &[u32],
    groups: &Groups,
) -> Option<Diversity> {
    let members = class(rows, known, settings.nulls == Nulls::Wildcard);
    let holders = holders(&members, settings.nulls_are_values);
    let here = counts(members, settings.nulls_are_values);
    let table = table_counts(rows, settings.nulls_are_values);
    let figures = reference::classes::diversity(&here, holders, &table, settings.c)?;
    Some(Diversity {
        t_ordered: Some(ordered_distance(&here, &table, |value| ranks[value as usize])),
        t_hierarchical: Some(hierarchical_distance(&here, &table, |value| path(groups, value))),
        ..figures
    })
}

fn settings() -> impl Strategy<Value = DiversitySettings> {
    let c = prop_oneof![Just(9.0), Just(1.0), Just(0.5), Just(2.0)];
    (c, nulls(), any::<bool>()).prop_map(|(c, nulls, nulls_are_values)| DiversitySettings {
        c,
        nulls,
        nulls_are_values,
    })
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn figures_meet_the_definition(
        (rows, roles) in tables(),
        settings in settings(),
        ranks in Just((0..5).collect::<Vec<u32>>()).prop_shuffle(),
        groups in (prop::array::uniform5(0u32..4), prop::array::uniform4(0u32..3)),
    ) {
        let values = Values { ranks: Some(ranks.clone()), hierarchy: Some(hierarchy(&groups)) };
        let records = records(&rows, &roles);
        let of_classes = class_diversity(&records, 0, &values, &settings, Control::none()).unwrap();
        let counted = counted_records(&rows, &disclosure::classes::Roles { kept: vec![], ..roles });
        prop_assert_eq!(&of_classes, &class_diversity(&counted, 0, &values, &settings, Control::none()).unwrap());
        prop_assert_eq!(of_classes.len(), records.classes().len());
        for (number, found) in of_classes.iter().enumerate() {
            let expected = by_definition(&rows, records.classes().codes(number), &settings, &ranks, &groups);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                assert_same(found, &expected);
            }
        }
        let worst = of_classes.into_iter().flatten().reduce(Diversity::worst);
        prop_assert_eq!(diversity(&records, 0, &values, &settings, Control::none()).unwrap(), worst);
    }

    #[test]
    fn figures_do_not_depend_on_the_order_of_rows((mut rows, roles) in tables(), settings in settings()) {
        let values = Values { ranks: Some((0..5).collect()), hierarchy: None };
        let worst = |rows: &[Row]| diversity(&records(rows, &roles), 0, &values, &settings, Control::none()).unwrap();
        let before = worst(&rows);
        rows.reverse();
        prop_assert_eq!(before, worst(&rows));
    }
}

/// Returns the rows of a class each, with this many rows of each value.
fn table(classes: &[&[u64]]) -> Records {
    let mut counted = Classes::new(2);
    for (class, counts) in (1..).zip(classes) {
        for (value, &count) in (1..).zip(counts.iter()).filter(|&(_, &count)| count > 0) {
            counted.insert(&[class, value], count).unwrap();
        }
    }
    let roles = disclosure::classes::Roles {
        kept: vec![],
        ..roles(1, 0)
    };
    Records::of_classes(&counted, roles).unwrap()
}

fn worst(records: &Records, values: &Values, settings: &DiversitySettings) -> Option<Diversity> {
    diversity(records, 0, values, settings, Control::none()).unwrap()
}

#[test]
fn recursive_diversity_of_9_and_2_means_that_no_value_has_90_percent() {
    for (most_frequent, l) in [(89, 2), (90, 1), (91, 1), (100, 1)] {
        let records = table(&[&[most_frequent, 100 - most_frequent]]);
        let figures = worst(&records, &Values::default(), &DiversitySettings::default()).unwrap();
        assert_eq!(figures.l_recursive, l);
    }
}

#[test]
fn equally_frequent_values_count_exactly() {
    for number in 1..50_usize {
        let records = table(&[&vec![7; number]]);
        let figures = worst(&records, &Values::default(), &DiversitySettings::default()).unwrap();
        assert_eq!(figures.l_entropy, number as f64);
        assert_eq!((figures.t_equal, figures.beta, figures.delta), (0.0, 0.0, 0.0));
    }
}

#[test]
fn enhanced_beta_is_strict_about_frequent_values() {
    // The first value has 3/4 of the table, so its share cannot increase by more than 1/3, but -ln p is even less. The
    // rarest value allows more.
    let records = table(&[&[5, 0], &[1, 2]]);
    let figures = worst(&records, &Values::default(), &DiversitySettings::default()).unwrap();
    assert_close(figures.beta, (2.0 / 3.0) / 0.25 - 1.0);
    assert_close(figures.beta_enhanced, 4_f64.ln());
    assert_eq!(figures.beta_enhanced_strict, f64::INFINITY);
    let mild = table(&[&[11, 9], &[9, 11]]);
    let figures = worst(&mild, &Values::default(), &DiversitySettings::default()).unwrap();
    assert_close(figures.beta_enhanced_strict, 0.1);
}

#[test]
fn a_table_without_values_has_no_figures() {
    let settings = DiversitySettings {
        nulls_are_values: false,
        ..Default::default()
    };
    assert_eq!(worst(&table(&[]), &Values::default(), &settings), None);
    let row = Row {
        known: vec![1],
        person: vec![],
        sensitive: NULL,
    };
    let unknown = records(&[row], &roles(1, 0));
    assert_eq!(worst(&unknown, &Values::default(), &settings), None);
    assert!(worst(&unknown, &Values::default(), &DiversitySettings::default()).is_some());
}

#[test]
fn large_counts_do_not_overflow() {
    let settings = DiversitySettings::default();
    let values = Values {
        ranks: Some(vec![0, 1, 2]),
        hierarchy: Hierarchy::new(3, &[]).ok(),
    };
    let half = 1 << 45;
    let figures = worst(&table(&[&[half, 0], &[0, half]]), &values, &settings).unwrap();
    assert_eq!(
        (figures.t_equal, figures.t_ordered, figures.t_hierarchical),
        (0.5, Some(0.5), Some(0.5))
    );
    let too_many = table(&[&[1 << 62, 0], &[0, 1 << 62]]);
    let found = diversity(&too_many, 0, &values, &settings, Control::none());
    assert!(matches!(found, Err(Error::TooMany { .. })));
    let mut classes = Classes::new(1);
    classes.insert(&[1], u64::MAX).unwrap();
    assert!(matches!(classes.insert(&[2], 1), Err(Error::TooMany { .. })));
}

#[test]
fn every_value_needs_a_rank_and_a_group() {
    let records = table(&[&[1, 1]]);
    let found = |values: Values| {
        diversity(
            &records,
            0,
            &values,
            &DiversitySettings::default(),
            Control::none(),
        )
    };
    assert!(
        found(Values {
            ranks: Some(vec![0, 1]),
            hierarchy: None
        })
        .is_err()
    );
    assert!(
        found(Values {
            ranks: None,
            hierarchy: Hierarchy::new(2, &[]).ok()
        })
        .is_err()
    );
    assert!(
        found(Values {
            ranks: Some(vec![0, 1, 2]),
            hierarchy: Hierarchy::new(3, &[]).ok()
        })
        .is_ok()
    );
}

#[test]
fn c_must_be_positive() {
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            DiversitySettings {
                c,
                ..Default::default()
            }
            .check()
            .is_err()
        );
    }
}
