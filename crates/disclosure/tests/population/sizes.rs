//! Compares sums of sampling weights, and the risk of every class, with their definitions and sdcMicro's figures.

use crate::{cases, is_close};
use disclosure::classes::{Nulls, Records, Roles};
use disclosure::population::{Method, PopulationSizes, class_risks, individual_risk};
use disclosure::{Control, Rows};
use proptest::prelude::*;
use reference::population::{people_and_population, population_size};

const NA: u32 = 0;

fn records_of(rows: &[Vec<u32>], people: Option<&[u32]>) -> Records {
    let width = rows.first().map_or(0, Vec::len);
    let columns = (0..width).map(|column| rows.iter().map(|row| row[column]).collect());
    let columns: Vec<Vec<u32>> = columns.chain(people.map(<[u32]>::to_vec)).collect();
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

fn sizes_of(records: &Records, weights: &[f64]) -> PopulationSizes {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    PopulationSizes::of_records(records, largest, |row| weights[row], Control::none()).unwrap()
}

/// Returns by row the size of the class and its estimated size in the population, with NULL as a wildcard or not.
fn sizes_by_row(rows: &[Vec<u32>], weights: &[f64], nulls: Nulls) -> (Vec<u64>, Vec<f64>) {
    let records = records_of(rows, None);
    let sample = records.sizes(nulls, Control::none()).unwrap();
    let population = sizes_of(&records, weights)
        .estimates(&records, nulls, Control::none())
        .unwrap();
    let classes = || records.class_of_row().iter().map(|&class| class as usize);
    (
        classes().map(|class| sample[class]).collect(),
        classes().map(|class| population[class]).collect(),
    )
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn sums_meet_the_definition(
        rows in prop::collection::vec((prop::collection::vec(0_u32..3, 3), 0_u32..4, 1_u32..50_000), 1..20),
        is_wildcard in any::<bool>(),
        counts_people in any::<bool>(),
    ) {
        let nulls = if is_wildcard { Nulls::Wildcard } else { Nulls::Value };
        let values: Vec<Vec<u32>> = rows.iter().map(|row| row.0.clone()).collect();
        let people: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.2) / 1000.0).collect();
        let records = records_of(&values, counts_people.then_some(&people));
        let sizes = sizes_of(&records, &weights);
        let found = sizes.estimates(&records, nulls, Control::none()).unwrap();
        let risks = class_risks(&records, Some(&sizes), nulls, Method::Exact, Control::none()).unwrap();
        for (row, &class) in values.iter().zip(records.class_of_row()) {
            let (f, expected) = if counts_people {
                people_and_population(&values, &people, &weights, row, is_wildcard)
            } else {
                let ones = vec![1.0; values.len()];
                let f = population_size(&values, &ones, row, is_wildcard);
                (f as u64, population_size(&values, &weights, row, is_wildcard))
            };
            prop_assert!(is_close(found[class as usize], expected, 1e-14));
            prop_assert!(is_close(risks[class as usize], individual_risk(f, expected), 1e-12));
        }
    }

    #[test]
    fn sums_are_exact_in_any_order(mut weights in prop::collection::vec(1e-3_f64..1e9, 1..50)) {
        let sum = |weights: &[f64]| {
            let records = records_of(&vec![vec![]; weights.len()], None);
            sizes_of(&records, weights).estimates(&records, Nulls::Value, Control::none()).unwrap()[0]
        };
        let found = sum(&weights);
        weights.reverse();
        prop_assert_eq!(sum(&weights), found);
        weights.sort_by(f64::total_cmp);
        prop_assert_eq!(sum(&weights), found);
        prop_assert!(is_close(found, weights.iter().sum(), 1e-13));
    }
}

#[test]
fn sdcmicro_has_these_sizes() {
    let weights = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0];
    let table = |column: [u32; 8]| -> Vec<Vec<u32>> {
        let (a, b) = ([2, 3, 2, 2, 3, 3, 1, 2], [3, 3, 3, 3, 3, 3, 4, 3]);
        (0..8).map(|row| vec![a[row], b[row], column[row]]).collect()
    };
    let complete = table([1, 3, 1, 2, 1, 1, 1, 1]);
    let expected = (
        vec![3, 1, 3, 1, 2, 2, 1, 3],
        vec![108.0, 45.5, 108.0, 17.0, 100.0, 100.0, 123.5, 108.0],
    );
    assert_eq!(sizes_by_row(&complete, &weights, Nulls::Value), expected);

    let gaps = table([1, 3, NA, 2, 1, 1, NA, 1]);
    let expected = (
        vec![3, 1, 4, 2, 2, 2, 1, 3],
        vec![108.0, 45.5, 125.0, 56.0, 100.0, 100.0, 123.5, 108.0],
    );
    assert_eq!(sizes_by_row(&gaps, &weights, Nulls::Wildcard), expected);

    let mut no_c = table([NA; 8]);
    no_c[2] = vec![NA, NA, NA];
    let expected = (
        vec![4, 4, 8, 4, 4, 4, 2, 4],
        vec![125.0, 184.5, 394.0, 125.0, 184.5, 184.5, 162.5, 125.0],
    );
    assert_eq!(sizes_by_row(&no_c, &weights, Nulls::Wildcard), expected);

    let one_column: Vec<Vec<u32>> = [2, 3, NA, 2, 1, NA, 1, 2].map(|a| vec![a]).to_vec();
    let expected = (
        vec![5, 3, 8, 5, 4, 8, 4, 5],
        vec![133.0, 92.5, 394.0, 133.0, 262.5, 394.0, 262.5, 133.0],
    );
    assert_eq!(sizes_by_row(&one_column, &weights, Nulls::Wildcard), expected);
}

#[test]
fn sdcmicro_has_these_risks() {
    let francdat = [
        ([1, 2, 5, 1], 18.0, 0.017144262),
        ([1, 2, 1, 1], 45.5, 0.022042326),
        ([1, 2, 1, 1], 39.0, 0.022042326),
        ([3, 3, 1, 5], 17.0, 0.177075834),
        ([4, 3, 1, 4], 541.0, 0.011654480),
        ([4, 3, 1, 1], 8.0, 0.297063077),
        ([6, 2, 1, 5], 5.0, 0.402359478),
        ([1, 2, 5, 1], 92.0, 0.017144262),
    ];
    let rows: Vec<Vec<u32>> = francdat.iter().map(|row| row.0.to_vec()).collect();
    let weights: Vec<f64> = francdat.iter().map(|row| row.1).collect();
    let records = records_of(&rows, None);
    let sizes = sizes_of(&records, &weights);
    let mut sum = 0.0;
    for method in [Method::Exact, Method::SdcMicro] {
        let risks = class_risks(&records, Some(&sizes), Nulls::Value, method, Control::none()).unwrap();
        for (row, &class) in francdat.iter().zip(records.class_of_row()) {
            assert!((risks[class as usize] - row.2).abs() < 6e-10);
            sum += risks[class as usize];
        }
    }
    assert!((sum / 2.0 - 0.96652605).abs() < 5e-9);
    let alone = class_risks(&records, None, Nulls::Value, Method::Exact, Control::none()).unwrap();
    assert_eq!(alone, [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn weights_have_to_be_positive_numbers() {
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(PopulationSizes::check_weight(weight).is_err());
    }
    for weight in [5e-324, 0.5, 1.0, f64::MAX] {
        assert_eq!(PopulationSizes::check_weight(weight), Ok(()));
    }
}

#[test]
fn counted_rows_weigh_as_often_as_they_count() {
    let records = records_of(&[vec![1], vec![2]], None);
    let mut sizes = PopulationSizes::new(&records, 2.5, 7);
    sizes.add(0, NA, 2.5, 4).unwrap();
    sizes.add(1, NA, 0.5, 3).unwrap();
    let found = sizes.estimates(&records, Nulls::Value, Control::none());
    assert_eq!(found, Ok(vec![10.0, 1.5]));
}

#[test]
fn an_empty_table_has_no_risks() {
    let records = records_of(&[], None);
    let sizes = sizes_of(&records, &[]);
    for nulls in [Nulls::Value, Nulls::Wildcard] {
        let risks = class_risks(&records, Some(&sizes), nulls, Method::Exact, Control::none());
        assert_eq!(risks, Ok(vec![]));
    }
}
