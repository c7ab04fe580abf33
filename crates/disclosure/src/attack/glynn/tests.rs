//! Tests of Glynn's formula: permanents, edge probabilities and their error bounds, against the definition
//! and against sums over sets of columns.

use super::prepared::PreparedBlock;
use super::*;
use crate::Error;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::ops::Range;

/// Returns the sum over all ways to give each row from `row` on a column of its own. Adds to every cell of
/// `through` the part of the sum that uses this cell.
fn definition(size: usize, weights: &[f64], row: usize, taken: u32, so_far: f64, through: &mut [f64]) -> f64 {
    if row == size {
        return so_far;
    }
    let mut sum = 0.0;
    for column in (0..size).filter(|column| taken & 1 << column == 0) {
        let cell = row * size + column;
        let part = definition(
            size,
            weights,
            row + 1,
            taken | 1 << column,
            so_far * weights[cell],
            through,
        );
        through[cell] += part;
        sum += part;
    }
    sum
}

/// Returns the same by dynamic programming over sets of columns. Only positive numbers are added, so that it
/// is exact up to rounding.
fn over_sets(size: usize, weights: &[f64]) -> (f64, Vec<f64>) {
    let all = (1_usize << size) - 1;
    let (mut before, mut after) = (vec![0.0; all + 1], vec![0.0; all + 1]);
    (before[0], after[all]) = (1.0, 1.0);
    let cells = |set: usize| {
        let row = set.count_ones() as usize;
        (0..size)
            .filter(move |column| set & 1 << column == 0)
            .map(move |column| (row * size + column, set | 1 << column))
    };
    for set in 0..all {
        cells(set).for_each(|(cell, next)| before[next] += before[set] * weights[cell]);
    }
    let mut through = vec![0.0; size * size];
    for set in (0..all).rev() {
        for (cell, next) in cells(set) {
            after[set] += weights[cell] * after[next];
            through[cell] += before[set] * weights[cell] * after[next];
        }
    }
    (before[all], through)
}

type Found = (Bounded, Bounded, Vec<f64>, f64);

fn found(matrix: &Matrix) -> Found {
    let control = Control::new();
    let (again, probability, error) = edges(matrix, &control).unwrap();
    (permanent(matrix, &control).unwrap(), again, probability, error)
}

/// Returns the largest relative error of the permanents and the largest absolute error of the probabilities.
/// Asserts that all errors are within their bounds.
fn off(weights: &[f64], truth: f64, through: &[f64], found: &Found) -> (f64, f64) {
    let (permanent, again, probability, error) = found;
    // The true value is rounded as well, and may be too small for a double.
    let rounding = 1e-13 * truth + f64::MIN_POSITIVE;
    for permanent in [permanent, again] {
        let off = (permanent.value - truth).abs();
        assert!(off <= permanent.error + rounding, "{permanent:?} is not {truth}");
    }
    let positive = weights.iter().zip(through).filter(|(weight, _)| **weight > 0.0);
    assert_eq!(probability.len(), positive.clone().count());
    let mut most = 0.0_f64;
    for (p, (_, through)) in probability.iter().zip(positive) {
        let off = (p - through / truth).abs();
        assert!(
            truth == 0.0 || off <= error + 1e-13,
            "{p} ± {error} is not {}",
            through / truth
        );
        most = most.max(off);
    }
    (
        (permanent.value - truth).abs().max((again.value - truth).abs()) / truth,
        most,
    )
}

/// Generates weights that are positive, uneven, very uneven, partly zero, or 0 and 1, with rows and columns
/// in different units or not.
fn weights(sizes: Range<usize>) -> impl Strategy<Value = (usize, Vec<f64>)> {
    let kind = prop_oneof![
        Just((1, 1.0)),
        Just((3, 1.0)),
        Just((20, 1.0)),
        Just((1, 0.6)),
        Just((20, 0.6)),
        Just((0, 0.5))
    ];
    (sizes, kind, any::<bool>()).prop_flat_map(|(size, (power, share), units)| {
        let weight = (0.0..1.0_f64, 0.0..1.0_f64)
            .prop_map(move |(weight, chance)| if chance < share { weight.powi(power) } else { 0.0 });
        let unit = prop::collection::vec(-40..40_i32, 2 * size);
        let scale = move |(mut weights, unit): (Vec<f64>, Vec<i32>)| {
            for (cell, weight) in weights.iter_mut().enumerate().filter(|_| units) {
                *weight *= 3_f64.powi(unit[cell / size] + unit[size + cell % size]);
            }
            (size, weights)
        };
        (prop::collection::vec(weight, size * size), unit).prop_map(scale)
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn sums_over_sets_are_as_defined((size, weights) in weights(1..6)) {
        let mut through = vec![0.0; size * size];
        let truth = definition(size, &weights, 0, 0, 1.0, &mut through);
        let (sum, of_cells) = over_sets(size, &weights);
        prop_assert!((sum - truth).abs() <= 1e-13 * truth);
        for (found, defined) in of_cells.iter().zip(through) {
            prop_assert!((found - defined).abs() <= 1e-13 * truth);
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn bounds_hold_whatever_the_weights((size, weights) in weights(7..12)) {
        let (truth, through) = over_sets(size, &weights);
        let matrix = Matrix::dense(size, size, &weights).unwrap();
        off(&weights, truth, &through, &found(&matrix));
    }

    #[test]
    fn even_weights_are_summed_well(weights in prop::collection::vec(0.0..1.0_f64, 100)) {
        let (truth, through) = over_sets(10, &weights);
        let found = found(&Matrix::dense(10, 10, &weights).unwrap());
        let (permanent, edges) = off(&weights, truth, &through, &found);
        prop_assert!(permanent < 1e-12 && edges < 1e-12);
        prop_assert!(found.0.error < 1e-11 * truth && found.3 < 1e-11);
    }
}

#[test]
fn tiny_weights_get_a_second_word() {
    // Next to ones, tiny weights become zero in one word, which no bound on the relative change could allow.
    for size in 8..12 {
        let weight = |cell: usize| match cell % (size + 1) {
            0 => 1.0,
            other => 1e-17 / other as f64,
        };
        let weights: Vec<f64> = (0..size * size).map(weight).collect();
        let matrix = Matrix::dense(size, size, &weights).unwrap();
        assert_eq!(PreparedBlock::new(&Scaled::new(&matrix)).one_word_columns, 0);
        let (truth, through) = over_sets(size, &weights);
        let found = found(&matrix);
        off(&weights, truth, &through, &found);
        assert!(found.0.error < 1e-14 * truth && found.3 < 1e-13);
    }
}

#[test]
fn larger_blocks_do_not_depend_on_the_number_of_threads() {
    let weights: Vec<f64> = (0..17 * 17)
        .map(|cell| f64::from(cell * 7919 % 1009) / 1009.0)
        .collect();
    let matrix = Matrix::dense(17, 17, &weights).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| found(&matrix))
    };
    let alone = with(1);
    assert_eq!(alone, with(3));
    let (truth, through) = over_sets(17, &weights);
    let (permanent, edges) = off(&weights, truth, &through, &alone);
    assert!(permanent < 1e-12 && edges < 1e-12);
}

#[test]
fn ones_are_counted() {
    for size in 7..15 {
        let matrix = Matrix::dense(size, size, &vec![1.0; size * size]).unwrap();
        let factorial: f64 = (1..=size).map(|number| number as f64).product();
        let found = permanent(&matrix, &Control::new()).unwrap();
        assert_eq!(found.value.round(), factorial);
        assert!((found.value - factorial).abs() <= found.error);
    }
}

#[test]
fn a_permanent_of_zero_is_within_its_bound() {
    for size in [7, 9, 13] {
        let mut weights = vec![1.0; size * size];
        weights.iter_mut().step_by(size).for_each(|weight| *weight = 0.0);
        let matrix = Matrix::dense(size, size, &weights).unwrap();
        let (permanent, again, probability, error) = found(&matrix);
        assert!(permanent.value <= permanent.error && again.value <= again.error);
        assert_eq!((probability.len(), error), (size * (size - 1), 1.0));
    }
}

#[test]
fn units_do_not_matter() {
    for unit in [1e-310, 1e-200, 1e200, 1e307] {
        let matrix = Matrix::dense(9, 9, &[unit; 81]).unwrap();
        let (permanent, _, probability, error) = found(&matrix);
        assert!(error < 1e-12 && probability.iter().all(|p| (p - 1.0 / 9.0).abs() <= error));
        assert_eq!(permanent.value, if unit < 1.0 { 0.0 } else { f64::INFINITY });
    }
}

#[test]
fn larger_blocks_can_be_cancelled() {
    let control = Control::new();
    control.cancel();
    let matrix = Matrix::dense(40, 40, &[1.0; 1600]).unwrap();
    assert_eq!(permanent(&matrix, &control), Err(Error::Cancelled));
    assert_eq!(edges(&matrix, &control), Err(Error::Cancelled));
    assert!(seconds(40) > 3600.0 && seconds(20) < 0.1);
}
