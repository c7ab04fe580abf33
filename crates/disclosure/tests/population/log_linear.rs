//! Compares log-linear models with their definition, and with sdcMicro's figures.

use crate::{cases, is_close};
use disclosure::classes::Classes;
use disclosure::population::{Fit, Interactions, LogLinear, log_linear};
use disclosure::{Control, Error, MemoryBudget, Rows};
use proptest::prelude::*;
use reference::population::Table;

fn classes_of(rows: &[Vec<u32>]) -> Classes {
    let width = rows.first().map_or(0, Vec::len);
    let columns: Vec<Vec<u32>> = (0..width)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect();
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let mut classes = Classes::new(width);
    classes.extend(Rows::new(&columns, rows.len()), |_| {}).unwrap();
    classes
}

fn fitted(rows: &[Vec<u32>], fraction: f64, interactions: Interactions) -> LogLinear {
    let classes = classes_of(rows);
    match log_linear(&classes, classes.sizes(), fraction, interactions, Control::none()).unwrap() {
        Fit::Fitted(model) => model,
        reason => panic!("{reason:?}"),
    }
}

fn margins(width: usize, interactions: Interactions) -> Vec<Vec<usize>> {
    match interactions {
        Interactions::None => (0..width).map(|column| vec![column]).collect(),
        Interactions::Pairs => (0..width).flat_map(|b| (0..b).map(move |a| vec![a, b])).collect(),
    }
}

/// Returns a number from 0 to 1.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn main_effects_meet_the_definition(
        rows in prop::collection::vec(prop::collection::vec(0_u32..4, 3), 1..40),
        fraction in 0.01_f64..0.99,
    ) {
        let model = fitted(&rows, fraction, Interactions::None);
        let table = Table::fit(&rows, &margins(3, Interactions::None), 2);
        prop_assert!(is_close(model.unique, table.unique(fraction), 1e-11));
        prop_assert!(is_close(model.matches, table.matches(fraction), 1e-11));
        let scale = model.unique_bias.unwrap().standard_error;
        let bias = model.unique_bias.unwrap().estimate;
        prop_assert!((bias - table.unique_bias(fraction)).abs() <= 1e-9 * (1.0 + bias.abs() + scale));
    }

    #[test]
    fn order_of_rows_and_codes_does_not_matter(
        rows in prop::collection::vec(prop::collection::vec(0_u32..4, 3), 1..40),
        rotation in 0_usize..40,
    ) {
        let mut other: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|code| 3 - code).collect()).collect();
        other.rotate_left(rotation % rows.len());
        let classes = (classes_of(&rows), classes_of(&other));
        for interactions in [Interactions::None, Interactions::Pairs] {
            let fit = |classes: &Classes| log_linear(classes, classes.sizes(), 0.2, interactions, Control::none());
            prop_assert_eq!(fit(&classes.0), fit(&classes.1));
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn pairs_meet_the_definition(
        rows in prop::collection::vec(prop::collection::vec(0_u32..3, 3), 60..120),
        fraction in 0.05_f64..0.95,
    ) {
        let classes = classes_of(&rows);
        let fit = log_linear(&classes, classes.sizes(), fraction, Interactions::Pairs, Control::none()).unwrap();
        if let Fit::Fitted(model) = fit {
            let table = Table::fit(&rows, &margins(3, Interactions::Pairs), 60);
            prop_assert!(is_close(model.unique, table.unique(fraction), 1e-4));
            prop_assert!(is_close(model.matches, table.matches(fraction), 1e-4));
        }
    }
}

#[test]
fn sdcmicro_has_these_figures() {
    let columns = [
        [2, 3, 2, 3, 3, 1, 2, 3, 2, 2],
        [2, 1, 2, 2, 1, 2, 1, 1, 1, 2],
        [5, 4, 4, 5, 4, 4, 3, 3, 2, 2],
    ];
    let rows: Vec<Vec<u32>> = (0..10)
        .map(|row| columns.iter().map(|column| column[row]).collect())
        .collect();
    let model = fitted(&rows, 0.01, Interactions::None);
    assert!((model.sdcmicro_gr1 - 0.55291595).abs() < 5e-9);
    assert!((model.sdcmicro_gr2 - 0.70538421).abs() < 5e-9);
    assert_eq!(model.sample_uniques, 8);
}

#[test]
fn two_columns_with_their_pair_are_saturated() {
    let rows: Vec<Vec<u32>> = [[1, 1], [1, 1], [1, 2], [2, 2], [3, 1]]
        .map(|row| row.to_vec())
        .to_vec();
    let model = fitted(&rows, 0.25, Interactions::Pairs);
    // Every sample unique has μ = 1, so that λ(1 − π) = 3.
    assert!(is_close(model.unique, 3.0 * f64::exp(-3.0), 1e-7));
}

#[test]
fn tables_without_rows_or_columns_are_no_problem() {
    for interactions in [Interactions::None, Interactions::Pairs] {
        for rows in [
            vec![],
            vec![vec![]],
            vec![vec![], vec![]],
            vec![vec![1, 1]],
            vec![vec![0, 0]; 3],
        ] {
            let model = fitted(&rows, 0.5, interactions);
            assert!(model.unique.is_finite() && model.matches.is_finite());
        }
    }
}

#[test]
fn whole_populations_have_no_uncertainty() {
    let rows: Vec<Vec<u32>> = [[1, 1], [1, 2], [2, 2], [2, 2]].map(|row| row.to_vec()).to_vec();
    for interactions in [Interactions::None, Interactions::Pairs] {
        let model = fitted(&rows, 1.0, interactions);
        assert_eq!(
            (model.unique, model.matches, model.unique_error),
            (2.0, 2.0, Some(0.0))
        );
        assert_eq!(model.unique_bias.unwrap().standardised(), None);
    }
}

/// Draws samples of a population with independent columns. The standard error is that of the predicted number of
/// population uniques among sample uniques, and the test of the model accepts it as often as it should.
#[test]
fn standard_errors_are_those_of_simulations() {
    let (fraction, runs) = (0.3, 150);
    let mut state = 7;
    let shares: [&[f64]; 3] = [
        &[0.4, 0.25, 0.15, 0.1, 0.06, 0.04],
        &[0.5, 0.3, 0.15, 0.05],
        &[0.6, 0.2, 0.1, 0.07, 0.03],
    ];
    let mut draw = |shares: &[f64]| {
        let (mut left, mut value) = (random(&mut state), 0);
        while value + 1 < shares.len() && left >= shares[value] {
            left -= shares[value];
            value += 1;
        }
        value as u32 + 1
    };
    let (mut squares, mut variances, mut pair_variances, mut extreme) = (0.0, 0.0, 0.0, 0);
    for _ in 0..runs {
        let population: Vec<Vec<u32>> = (0..400)
            .map(|_| shares.iter().map(|shares| draw(shares)).collect())
            .collect();
        let sample: Vec<Vec<u32>> = population
            .iter()
            .filter(|_| draw(&[fraction, 1.0 - fraction]) == 1)
            .cloned()
            .collect();
        let all = classes_of(&population);
        let in_sample = classes_of(&sample);
        let both = (0..in_sample.len()).filter(|&class| {
            let there = all.find(in_sample.codes(class)).unwrap() as usize;
            in_sample.sizes()[class] == 1 && all.sizes()[there] == 1
        });
        let model = fitted(&sample, fraction, Interactions::None);
        squares += (model.unique - both.count() as f64).powi(2);
        variances += model.unique_error.unwrap().powi(2);
        extreme += usize::from(model.unique_bias.unwrap().standardised().unwrap().abs() > 1.96);
        if let Fit::Fitted(pairs) = log_linear(
            &in_sample,
            in_sample.sizes(),
            fraction,
            Interactions::Pairs,
            Control::none(),
        )
        .unwrap()
        {
            pair_variances += pairs.unique_error.unwrap().powi(2);
        }
    }
    assert!(is_close(variances, squares, 0.3), "{variances} is not {squares}");
    assert!(pair_variances > 0.0);
    assert!(extreme < runs / 5, "{extreme} of {runs}");
}

#[test]
fn dependent_columns_are_noticed() {
    // The second column repeats the first, up to a little noise: independence is too simple a model.
    let rows: Vec<Vec<u32>> = (0..2000_u32)
        .map(|row| {
            let value = row * row % 97 % 40;
            vec![
                value + 1,
                (value + u32::from(row % 11 == 0)) % 40 + 1,
                row % 3 + 1,
            ]
        })
        .collect();
    let independent = fitted(&rows, 0.1, Interactions::None).unique_bias.unwrap();
    assert!(independent.standardised().unwrap() > 3.0);
}

#[test]
fn too_many_combinations_are_reported() {
    // Three columns with 3000 values each: nine million pairs of values.
    let rows: Vec<Vec<u32>> = (1..3000)
        .map(|value| vec![value, value % 2900 + 1, value])
        .collect();
    let classes = classes_of(&rows);
    let fit = |interactions| log_linear(&classes, classes.sizes(), 0.1, interactions, Control::none());
    assert_eq!(fit(Interactions::Pairs), Ok(Fit::TooManyCombinations));
    let Ok(Fit::Fitted(model)) = fit(Interactions::None) else {
        panic!("main effects are fitted to any table");
    };
    assert_eq!(model.unique_bias, None);
}

#[test]
fn memory_is_limited() {
    let rows: Vec<Vec<u32>> = (1..300)
        .map(|value| vec![value, value * 7 % 300 + 1, value % 10])
        .collect();
    let classes = classes_of(&rows);
    let control = Control::with_memory(MemoryBudget {
        limit: 1 << 20,
        in_use: || 0,
    });
    let fit = log_linear(&classes, classes.sizes(), 0.1, Interactions::Pairs, &control);
    assert_eq!(fit, Err(Error::OutOfMemory { limit: 1 << 20 }));
}

#[test]
fn cancel_stops_the_fit() {
    let classes = classes_of(&[vec![1, 2], vec![2, 1], vec![1, 1]]);
    let control = Control::new();
    control.cancel();
    let fit = log_linear(&classes, classes.sizes(), 0.1, Interactions::Pairs, &control);
    assert_eq!(fit, Err(Error::Cancelled));
}
