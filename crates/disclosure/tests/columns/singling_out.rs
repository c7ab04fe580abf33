//! Compares figures about sets of columns with their definitions, and with ARX's values.

use crate::tables::{codes_of, config, records_of, tables};
use disclosure::Control;
use disclosure::columns::{SinglingOutSettings, column_risk, singling_out};
use proptest::prelude::*;
use std::time::Duration;

fn is_close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-12,
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn figures_meet_the_definition(table in tables(4, 12), max_columns in 1usize..5, at_least in 0.0..1.0) {
        let settings =
            SinglingOutSettings { max_columns: Some(max_columns), at_least, nulls: table.nulls, budget: None };
        let found = singling_out(&table.records(), &settings, &Control::new()).unwrap();
        let mut expected = reference::columns::column_sets(table.width, max_columns);
        expected.sort_by_key(|set| (set.len(), set.clone()));
        prop_assert_eq!(found.sets.iter().map(|set| set.columns.clone()).collect::<Vec<_>>(), expected);
        prop_assert_eq!((found.not_examined, found.bounds), (0, None));
        let rows = table.rows.len() as f64;
        let is_enough = |columns: &[usize]| {
            table.definition().figures(columns).share().is_some_and(|share| share >= at_least)
        };
        for set in &found.sets {
            let figures = table.definition().figures(&set.columns);
            prop_assert_eq!((set.classes, set.k, set.uniques), (figures.classes, figures.k, figures.uniques));
            prop_assert_eq!(set.share, figures.share());
            let distinction = (rows > 0.0).then(|| figures.classes as f64 / rows);
            let separation = (rows > 1.0).then(|| figures.separated as f64 / (rows * (rows - 1.0)));
            prop_assert_eq!((set.distinction, set.separation), (distinction, separation));
            let parts = |left_out| set.columns.iter().copied().filter(|&column| column != left_out).collect::<Vec<_>>();
            let is_minimal =
                is_enough(&set.columns) && set.columns.iter().all(|&column| !is_enough(&parts(column)));
            prop_assert_eq!(set.is_minimal, is_minimal);
        }
        if !table.rows.is_empty() {
            for (column, &contribution) in found.contributions.iter().enumerate() {
                let expected = table.definition().contribution(column, max_columns);
                prop_assert!(is_close(contribution, expected), "{contribution:?} {expected:?}");
            }
        }
    }

    #[test]
    fn risks_meet_the_definition(table in tables(4, 12)) {
        let found = column_risk(&table.records(), table.nulls, &Control::new()).unwrap();
        let all: Vec<usize> = (0..table.width).collect();
        for left_out in 0..=table.width {
            let known: Vec<usize> = all.iter().copied().filter(|&column| column != left_out).collect();
            let risk = *found.without.get(left_out).unwrap_or(&found.of_all);
            let figures = table.definition().figures(&known);
            prop_assert_eq!((risk.k, risk.uniques), (figures.k, figures.uniques));
            if table.people.is_none() {
                let sizes = (0..table.rows.len()).map(|row| table.definition().size(row, &known) as f64);
                let average = sizes.map(|size| 1.0 / size).sum::<f64>() / table.rows.len() as f64;
                prop_assert!(is_close(risk.average, Some(average).filter(|average| !average.is_nan())));
            }
        }
    }
}

#[test]
fn distinction_and_separation_are_those_of_arx() {
    let rows = codes_of(&["20 F CA", "30 F CA", "40 F TX", "20 M NY", "40 M CA"]);
    let settings = SinglingOutSettings {
        at_least: 1.0,
        ..SinglingOutSettings::default()
    };
    let found = singling_out(&records_of(&rows, 3, None), &settings, &Control::new()).unwrap();
    let figures: Vec<_> = found
        .sets
        .iter()
        .map(|set| {
            (
                &set.columns[..],
                set.distinction.unwrap(),
                set.separation.unwrap(),
                set.is_minimal,
            )
        })
        .collect();
    let expected = [
        (&[0][..], 0.6, 0.8, false),
        (&[1], 0.4, 0.6, false),
        (&[2], 0.6, 0.7, false),
        (&[0, 1], 1.0, 1.0, true),
        (&[0, 2], 1.0, 1.0, true),
        (&[1, 2], 0.8, 0.9, false),
        (&[0, 1, 2], 1.0, 1.0, false),
    ];
    assert_eq!(figures, expected);
    let sum: f64 = found.contributions.iter().flatten().sum();
    assert!((sum - 1.0).abs() < 1e-12);
}

#[test]
fn without_time_bounds_remain() {
    let rows = codes_of(&["20 F CA", "30 F CA", "40 F TX", "20 M NY", "20 M NY"]);
    let settings = SinglingOutSettings {
        budget: Some(Duration::ZERO),
        ..SinglingOutSettings::default()
    };
    let found = singling_out(&records_of(&rows, 3, None), &settings, &Control::new()).unwrap();
    assert_eq!((found.sets.len(), found.not_examined), (0, 7));
    assert_eq!(found.bounds, Some((0.0, 0.6)));
    assert_eq!(found.contributions, [None; 3]);
}

#[test]
fn arguments_have_limits() {
    let records = records_of(&[vec![1; 40]], 40, None);
    let with = |max_columns, at_least| {
        let settings = SinglingOutSettings {
            max_columns,
            at_least,
            ..SinglingOutSettings::default()
        };
        singling_out(&records, &settings, &Control::new()).map(|found| found.sets.len())
    };
    assert_eq!(with(Some(3), 0.5), Ok(40 + 780 + 9880));
    for (max_columns, at_least) in [
        (Some(0), 0.5),
        (None, 0.5),
        (Some(20), 0.5),
        (Some(1), 1.5),
        (Some(1), f64::NAN),
    ] {
        assert!(with(max_columns, at_least).is_err());
    }
}

#[test]
fn a_cancel_stops_the_search() {
    let control = Control::new();
    control.cancel();
    let records = records_of(&[vec![1, 1], vec![1, 2]], 2, None);
    assert!(singling_out(&records, &SinglingOutSettings::default(), &control).is_err());
    assert!(column_risk(&records, Default::default(), &control).is_err());
}
