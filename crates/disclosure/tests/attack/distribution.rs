//! Distribution of the number of cracks, compared with the definition and with the expected number.

use crate::{dense, exactly, fig_2_4_b, fig_2_4_c, fig_3_4_a, truth};
use disclosure::attack::{
    CrackDistribution, CrackProbability, Exact, Matrix, Method, Settings, crack_distribution, estimate,
    random_attack,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::attack::Attack;
use std::time::Duration;

const M0: [Option<u32>; 5] = [Some(2), Some(3), Some(4), Some(0), Some(1)];

fn probabilities(found: &CrackDistribution) -> Vec<f64> {
    found.cracks.iter().map(|cracks| cracks.probability).collect()
}

fn exact(matrix: &Matrix, columns: &[Option<u32>]) -> CrackDistribution {
    crack_distribution(matrix, &truth(matrix, columns), &exactly(), &Control::new()).unwrap()
}

fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }
}

/// The matchings of Figures 2.4 and 3.4(a) by their number of cracks, as counted by an independent program.
#[test]
fn distributions_of_the_thesis() {
    for (weights, counts) in [
        (fig_2_4_b(), [1.0, 2.0, 0.0, 0.0, 0.0, 1.0]),
        (fig_2_4_c(), [0.0, 0.0, 2.0, 4.0, 0.0, 1.0]),
        (fig_3_4_a(), [8.0, 13.0, 8.0, 6.0, 0.0, 1.0]),
    ] {
        let matchings: f64 = counts.iter().sum();
        let expected = counts.map(|count| count / matchings);
        assert_all_close(&Attack::new(&weights).crack_distribution(&M0), &expected, 1e-15);
        let found = exact(&dense(&weights), &M0);
        assert_eq!(found.method, Method::Exact);
        assert_all_close(&probabilities(&found), &expected, 1e-14);
    }
}

/// A random permutation of n elements has no fixed point with a probability of about 1/e.
#[test]
fn fixed_points_of_permutations() {
    let size = 300;
    let matrix = Matrix::dense(size, size, &vec![0.2; size * size]).unwrap();
    let all: Vec<Option<u32>> = (0..size as u32).map(Some).collect();
    let found = exact(&matrix, &all);
    let mut poisson = (-1f64).exp();
    for (cracks, found) in found.cracks.iter().enumerate().take(20) {
        assert!((found.probability / poisson - 1.0).abs() < 1e-12, "{cracks}");
        poisson /= (cracks + 1) as f64;
    }
    // All but one cannot be fixed; all are with a probability of 1/n!, which is too small for a double.
    assert_eq!(found.cracks[size - 1].probability, 0.0);
    assert_eq!(found.cracks[0].at_least, 1.0);
}

#[test]
fn small_probabilities_are_precise() {
    // Every entry is right with odds of 1 to 10^9, in 20 independent pairs.
    let pairs = 20;
    let edges = (0..pairs).flat_map(|pair| {
        let (a, b) = (2 * pair, 2 * pair + 1);
        [(a, a, 1e-9), (a, b, 1.0), (b, a, 1.0), (b, b, 1.0)]
    });
    let size = 2 * pairs as usize;
    let matrix = Matrix::sparse(size, size, edges.collect()).unwrap();
    let all: Vec<Option<u32>> = (0..size as u32).map(Some).collect();
    let found = exact(&matrix, &all);
    let odd = 1e-9 / (1.0 + 1e-9);
    let all_of_them = f64::powi(odd, pairs as i32);
    assert!((found.cracks[size].at_least / all_of_them - 1.0).abs() < 1e-12);
    let any_of_them = -(f64::from(pairs) * (-odd).ln_1p()).exp_m1();
    assert!((found.cracks[2].at_least / any_of_them - 1.0).abs() < 1e-12);
}

#[test]
fn weights_of_any_range() {
    let weights = [1e300, 1e-300, 1.0, 1e-300, 1e300, 1e-200, 1.0, 1.0, 1e250];
    let found = exact(&dense(&weights), &[Some(1), Some(0), Some(2)]);
    // The two other matchings of any weight are 1e-900 and 1e-1000 times the one without a crack.
    assert_all_close(&probabilities(&found), &[0.0, 1.0, 0.0, 0.0], 1e-15);
}

#[test]
fn what_is_certain_and_what_is_unknown() {
    // Two certain entries, and a block of two of which the code of one is unknown.
    let weights = [
        1.0, 0.0, 0.0, 0.0, //
        1.0, 2.0, 0.0, 0.0, //
        1.0, 1.0, 3.0, 1.0, //
        1.0, 1.0, 1.0, 1.0,
    ];
    let found = exact(&dense(&weights), &[Some(0), Some(1), Some(2), None]);
    assert_all_close(&probabilities(&found), &[0.0, 0.0, 0.25, 0.75], 1e-15);
    let at_least: Vec<f64> = found.cracks.iter().map(|cracks| cracks.at_least).collect();
    assert_eq!(at_least, [1.0, 1.0, 1.0, 0.75]);
    let nothing = exact(&dense(&weights), &[None; 4]);
    assert_eq!(probabilities(&nothing), [1.0]);
    assert_eq!(probabilities(&exact(&dense(&[]), &[])), [1.0]);
}

/// Figure 3.4(a), with twelve copies of every row and column: too dense to go through row by row, but there are
/// only two kinds of rows and of columns. The same with some more columns.
#[test]
fn flat_blocks_are_counted_by_classes() {
    let copies = 12;
    for further in [0, 9] {
        let (rows, columns) = (5 * copies, 5 * copies + further);
        let is_edge = |row: usize, column: usize| row >= 2 * copies || column >= 2 * copies;
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| f64::from(is_edge(row, column))));
        let matrix = Matrix::dense(rows, columns, &cells.collect::<Vec<f64>>()).unwrap();
        let m0 = |row: usize| (M0[row / copies].unwrap() as usize * copies + row % copies) as u32;
        let all: Vec<Option<u32>> = (0..rows).map(|row| (row % 7 > 0).then(|| m0(row))).collect();
        let found = exact(&matrix, &all);
        assert_mean(&matrix, &all, &found, 1e-9);
        let settings = Settings {
            method: Method::Sample,
            relative_error: 0.02,
            ..Settings::default()
        };
        let sampled = crack_distribution(&matrix, &truth(&matrix, &all), &settings, &Control::new()).unwrap();
        for (found, sampled) in found.cracks.iter().zip(&sampled.cracks).take(8) {
            assert!((found.probability - sampled.probability).abs() < 0.02);
        }
    }
}

#[test]
fn large_layers_are_the_same_for_any_number_of_threads() {
    let control = Control::new();
    let matrix = random_attack(17, 3.0, 1, &control).unwrap();
    let all: Vec<Option<u32>> = (0..17).map(Some).collect();
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| exact(&matrix, &all))
    };
    let (one, three) = (with_threads(1), with_threads(3));
    assert_eq!(one, three);
    assert_mean(&matrix, &all, &one, 1e-11);
}

/// The mean of the distribution is the expected number of cracks.
fn assert_mean(matrix: &Matrix, columns: &[Option<u32>], found: &CrackDistribution, tolerance: f64) {
    let mean: f64 = (0..)
        .zip(&found.cracks)
        .map(|(cracks, found)| f64::from(cracks) * found.probability)
        .sum();
    let tails: f64 = found.cracks.iter().skip(1).map(|found| found.at_least).sum();
    let expected = estimate(matrix, &truth(matrix, columns), &exactly(), &Control::new())
        .unwrap()
        .expected;
    assert!(
        (mean - expected).abs() <= tolerance && (tails - expected).abs() <= tolerance,
        "{mean} {expected}"
    );
}

#[test]
fn a_thousand_entries() {
    let edges = (0..1000)
        .flat_map(|row| (0..5).map(move |step| (row, (row + step) % 1000, 1.0 / f64::from(1 + step))));
    let ring = Matrix::sparse(1000, 1000, edges.collect()).unwrap();
    let all: Vec<Option<u32>> = (0..1000).map(Some).collect();
    let found = exact(&ring, &all);
    assert_mean(&ring, &all, &found, 1e-7);
}

#[test]
fn samples_have_intervals_that_hold() {
    let control = Control::new();
    let (mut held, mut all) = (0, 0);
    for seed in 0..20 {
        let matrix = random_attack(6, 2.0, seed, &control).unwrap();
        let columns: Vec<Option<u32>> = (0..6).map(Some).collect();
        let settings = Settings {
            method: Method::Sample,
            relative_error: 0.05,
            seed,
            ..Settings::default()
        };
        let found = crack_distribution(&matrix, &truth(&matrix, &columns), &settings, &control).unwrap();
        assert_eq!(found.method, Method::Sample);
        for (found, exact) in found.cracks.iter().zip(exact(&matrix, &columns).cracks) {
            let CrackProbability {
                lower,
                upper,
                at_least_lower,
                at_least_upper,
                ..
            } = *found;
            held += usize::from((lower..=upper).contains(&exact.probability));
            held += usize::from((at_least_lower..=at_least_upper).contains(&exact.at_least));
            all += 2;
            assert!(upper > lower && upper - lower < 0.2);
        }
    }
    assert!(held as f64 >= 0.93 * f64::from(all), "{held} of {all}");
}

#[test]
fn what_is_too_expensive_is_sampled_or_refused() {
    let control = Control::new();
    let matrix = random_attack(40, 1.0, 1, &control).unwrap();
    let columns: Vec<Option<u32>> = (0..40).map(Some).collect();
    let with = |method| Settings {
        method,
        relative_error: 0.1,
        budget: Some(Duration::from_secs(30)),
        ..Settings::default()
    };
    let found = |method| crack_distribution(&matrix, &truth(&matrix, &columns), &with(method), &control);
    assert_eq!(found(Method::Auto).unwrap().method, Method::Sample);
    for method in [Method::Exact, Method::Bethe, Method::Heuristic, Method::Marginals] {
        assert!(matches!(
            found(method),
            Err(Error::InvalidArgument {
                argument: "method",
                ..
            })
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(23),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn distributions_are_those_of_the_definition(
        (rows, columns) in (1usize..6, 1usize..6),
        cells in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..3.0f64, (-30.0..30.0f64).prop_map(f64::exp2)], 25),
        mapping in Just((0..5u32).collect::<Vec<_>>()).prop_shuffle(),
        known in prop::collection::vec(prop::bool::weighted(0.9), 5),
    ) {
        let cells = &cells[..rows * columns];
        let definition = Attack::rectangular(rows, columns, cells);
        let matrix = Matrix::dense(rows, columns, cells).unwrap();
        let mapping: Vec<Option<u32>> = (0..rows)
            .map(|row| Some(mapping[row]).filter(|&column| known[row] && (column as usize) < columns))
            .collect();
        let control = Control::new();
        let found = crack_distribution(&matrix, &truth(&matrix, &mapping), &exactly(), &control);
        if definition.permanent == 0.0 {
            prop_assert!(found.is_err());
            prop_assert!(!Exact::new(&matrix, &control).unwrap().is_possible());
            return Ok(());
        }
        let found = found.unwrap();
        let expected = definition.crack_distribution(&mapping);
        for (cracks, expected) in expected.iter().enumerate() {
            let found = found.cracks.get(cracks).map_or(0.0, |found| found.probability);
            prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
        }
        assert_mean(&matrix, &mapping, &found, 1e-11);
    }
}
