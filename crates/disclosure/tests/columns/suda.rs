//! Compares minimal uniques and SUDA scores with their definitions, and with sdcMicro's values.

use crate::tables::{codes_of, config, records_of, tables};
use disclosure::Control;
use disclosure::classes::{Nulls, Records};
use disclosure::columns::{UniqueSettings, dis_suda, minimal_uniques, suda};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn scores(records: &Records, max_columns: Option<usize>, nulls: Nulls) -> Vec<f64> {
    let settings = UniqueSettings {
        max_columns,
        nulls,
        budget: None,
    };
    let suda = suda(records, &settings, &Control::new()).unwrap();
    assert_eq!(suda.not_examined, 0);
    suda.scores
}

fn by_row(records: &Records, of_class: &[f64]) -> Vec<f64> {
    let classes = records.class_of_row().iter();
    classes.map(|&class| of_class[class as usize]).collect()
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn minimal_uniques_meet_the_definition(table in tables(5, 14), max_columns in 1usize..6) {
        let records = table.records();
        let settings = UniqueSettings { max_columns: Some(max_columns), nulls: table.nulls, budget: None };
        let found = minimal_uniques(&records, &settings, &Control::new()).unwrap();
        let mut combinations = BTreeMap::new();
        for set in &found.sets {
            for combination in &set.combinations {
                let codes = records.classes().codes(combination.class as usize);
                let values = set.columns.iter().map(|&column| codes[column]).collect::<Vec<u32>>();
                prop_assert_eq!(combinations.insert((set.columns.clone(), values), combination.rows), None);
            }
        }
        prop_assert!(found.sets.is_sorted_by_key(|set| (set.columns.len(), set.columns.clone())));
        prop_assert_eq!(combinations, table.definition().combinations(max_columns));

        let rows = table.definition();
        let expected: Vec<f64> = (0..table.rows.len()).map(|row| rows.suda(row, max_columns)).collect();
        prop_assert_eq!(by_row(&records, &scores(&records, Some(max_columns), table.nulls)), expected);
    }
}

fn guide() -> Vec<Vec<u32>> {
    codes_of(&[
        "U F SI E", "U F SI E", "U F PI N", "U M SC E", "R F SC U", "U M SC E", "U F PC N", "U M PS U",
        "U F SI N", "U F SI N",
    ])
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        // sdcMicro computes some of it in single precision.
        assert!((found - expected).abs() <= 2e-7 * expected, "{found} {expected}");
    }
}

#[test]
fn the_guides_table_scores_as_in_sdcmicro() {
    let records = records_of(&guide(), 4, None);
    let suda = scores(&records, None, Nulls::Value);
    assert_eq!(
        by_row(&records, &suda),
        [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0]
    );
    let dis = |fraction| {
        let dis = dis_suda(&records, &suda, fraction, Nulls::Value, &Control::new());
        by_row(&records, &dis.unwrap())
    };
    let (a, b, c) = (0.0049867977, 0.0113830065, 0.0091666789);
    assert_close(&dis(0.01), &[0.0, 0.0, a, 0.0, b, 0.0, a, c, 0.0, 0.0]);
    let (a, b, c) = (0.052249219, 0.112416688, 0.092366537);
    assert_close(&dis(0.1), &[0.0, 0.0, a, 0.0, b, 0.0, a, c, 0.0, 0.0]);
    let uniques = minimal_uniques(&records, &UniqueSettings::default(), &Control::new()).unwrap();
    let of_columns: Vec<f64> = uniques
        .by_column()
        .iter()
        .map(|share| share.contribution)
        .collect();
    assert_close(&of_columns, &[0.23529412, 0.17647059, 0.64705882, 0.23529412]);
    let of_values = uniques.by_value(&records, &Control::new()).unwrap();
    let education: f64 = of_values
        .iter()
        .filter(|value| value.0 == 2)
        .map(|value| value.2.contribution)
        .sum();
    assert_close(&[education], &[0.64705882]);
    let of_sets: f64 = uniques.by_set().iter().map(|share| share.contribution).sum();
    assert_close(&[of_sets], &[1.0]);
}

#[test]
fn the_books_table_scores_as_in_sdcmicro() {
    let rows = codes_of(&[
        "20s m 50k+ hs",
        "20s m 50k+ hs",
        "20s m 50k- hs",
        "20s m 50k- hs",
        "20s f 50k- univ",
        "20s f 50k- hs",
        "20s f 50k- mid",
        "60s m 50k- univ",
    ]);
    let records = records_of(&rows, 4, None);
    let suda = scores(&records, None, Nulls::Value);
    assert_eq!(by_row(&records, &suda), [0.0, 0.0, 0.0, 0.0, 4.0, 2.0, 6.0, 8.0]);
    let dis = dis_suda(&records, &suda, 0.01, Nulls::Value, &Control::new()).unwrap();
    let expected = [
        0.0,
        0.0,
        0.0,
        0.0,
        0.0108590952,
        0.0047558604,
        0.0175451704,
        0.0246010571,
    ];
    assert_close(&by_row(&records, &dis), &expected);
}

#[test]
fn three_rows_score_2_4_2() {
    let records = records_of(&codes_of(&["2 0 0", "1 3 6", "1 0 0"]), 3, None);
    let suda = scores(&records, None, Nulls::Value);
    assert_eq!(by_row(&records, &suda), [2.0, 4.0, 2.0]);
    let uniques = minimal_uniques(&records, &UniqueSettings::default(), &Control::new()).unwrap();
    let of_columns: Vec<f64> = uniques
        .by_column()
        .iter()
        .map(|share| share.contribution)
        .collect();
    assert_eq!(of_columns, [0.5, 0.375, 0.375]);
}

#[test]
fn without_time_nothing_is_examined() {
    let records = records_of(&guide(), 4, None);
    let settings = UniqueSettings {
        budget: Some(std::time::Duration::ZERO),
        ..UniqueSettings::default()
    };
    let suda = suda(&records, &settings, &Control::new()).unwrap();
    assert_eq!((suda.not_examined, suda.scores.iter().sum::<f64>()), (15, 0.0));
}

#[test]
fn a_fraction_is_above_0_and_up_to_1() {
    let records = records_of(&guide(), 4, None);
    let suda = scores(&records, None, Nulls::Value);
    for fraction in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(dis_suda(&records, &suda, fraction, Nulls::Value, &Control::new()).is_err());
    }
    let certain = dis_suda(&records, &suda, 1.0, Nulls::Value, &Control::new()).unwrap();
    assert!(
        certain
            .iter()
            .zip(&suda)
            .all(|(&dis, &score)| dis == f64::from(score > 0.0))
    );
}
