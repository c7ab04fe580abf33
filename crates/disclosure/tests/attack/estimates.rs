//! Approximations for attacks that are too large for exact answers: scaling, belief propagation and sampling,
//! compared with the definitions.

use crate::dense;
use disclosure::attack::{
    Estimate, Exact, Matrix, Method, Settings, Subsets, Truth, edge_probabilities, estimate, flat_matrix,
    heuristic, normalise, random_attack, subset_cracks,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::attack::Attack;
use std::time::Duration;

fn settings(method: Method) -> Settings {
    Settings {
        method,
        relative_error: 0.02,
        seed: 1,
        ..Settings::default()
    }
}

fn truth(matrix: &Matrix, columns: &[u32]) -> Truth {
    Truth::new(matrix, columns.iter().copied().map(Some).collect()).unwrap()
}

fn identity(matrix: &Matrix) -> Truth {
    truth(matrix, &(0..matrix.size() as u32).collect::<Vec<_>>())
}

/// Returns the attack by its definition.
fn definition(matrix: &Matrix) -> Attack {
    let size = matrix.size();
    let weights: Vec<f64> = (0..size * size)
        .map(|cell| matrix.weight(cell / size, (cell % size) as u32))
        .collect();
    Attack::new(&weights)
}

fn edges_by_definition(matrix: &Matrix) -> Vec<f64> {
    let definition = definition(matrix);
    let edges = (0..matrix.size()).flat_map(|row| matrix.row(row).map(move |(column, _)| (row, column)));
    edges
        .map(|(row, column)| definition.edge(row, column as usize))
        .collect()
}

fn bethe(matrix: &Matrix) -> Vec<f64> {
    edge_probabilities(matrix, &settings(Method::Bethe), &Control::new())
        .unwrap()
        .probability
}

fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }
}

fn assert_doubly_stochastic(matrix: &Matrix, tolerance: f64) {
    let mut sums = vec![0.0; matrix.size()];
    for row in 0..matrix.size() {
        let mut sum = 0.0;
        for (column, weight) in matrix.row(row) {
            sum += weight;
            sums[column as usize] += weight;
        }
        assert!((sum - 1.0).abs() <= tolerance, "row {row}: {sum}");
    }
    assert_all_close(&sums, &vec![1.0; matrix.size()], tolerance);
}

/// Returns a matrix of pseudo-random weights between 10 to the power of −`decades` and 1, with the edges of
/// `pattern`.
fn weighted(size: usize, decades: f64, pattern: impl Fn(usize, usize) -> bool) -> Matrix {
    let random = random_attack(size, 1.0, 7, &Control::new()).unwrap();
    let mut edges = Vec::new();
    for row in 0..size {
        for (column, weight) in random.row(row) {
            if pattern(row, column as usize) {
                let share = (weight * 1e6).fract();
                edges.push((row as u32, column, 10f64.powf((share - 1.0) * decades)));
            }
        }
    }
    Matrix::sparse(size, size, edges).unwrap()
}

#[test]
fn flat_matrix_of_fig_3_5() {
    let graph = dense(&[
        1., 0., 1., 1., 0., //
        0., 1., 0., 1., 0., //
        0., 0., 1., 0., 1., //
        0., 1., 0., 1., 0., //
        1., 0., 1., 0., 1.,
    ]);
    let flat = flat_matrix(&graph, &Control::new()).unwrap();
    assert_doubly_stochastic(&flat, 1e-13);
    let root = 5f64.sqrt();
    let (large, small, least) = ((root - 1.0) / 2.0, (3.0 - root) / 2.0, root - 2.0);
    let expected = [
        large, 0.0, small, 0.0, 0.0, //
        0.0, 0.5, 0.0, 0.5, 0.0, //
        0.0, 0.0, small, 0.0, large, //
        0.0, 0.5, 0.0, 0.5, 0.0, //
        small, 0.0, least, 0.0, small,
    ];
    for (place, expected) in expected.into_iter().enumerate() {
        let found = flat.weight(place / 5, (place % 5) as u32);
        assert!((found - expected).abs() < 1e-12, "{place}: {found}");
    }
    assert_eq!(flat.edge_count(), 11);
}

#[test]
fn any_block_is_scaled() {
    let control = Control::new();
    let near = |row: usize, column: usize| row.abs_diff(column) <= 1;
    let band = |row: usize, column: usize| [0, 1, 5].contains(&((column + 100 - row) % 100));
    for matrix in [
        weighted(400, 0.0, near),
        weighted(100, 3.0, near),
        weighted(100, 300.0, band),
        weighted(30, 300.0, |_, _| true),
        dense(&[1e-150, 1e150, 1e150, 1e150]),
        dense(&[1.0, 1.0, 1e-20, 1.0]),
        dense(&[7.0]),
    ] {
        assert_doubly_stochastic(&normalise(&matrix, &control).unwrap(), 1.1e-13);
    }
    assert_eq!(normalise(&dense(&[]), &control).unwrap().size(), 0);
}

#[test]
fn blocks_without_a_choice_are_exact() {
    for matrix in [
        dense(&[3.0]),
        dense(&[1.0, 2.0, 3.0, 4.0]),
        dense(&[1e-150, 1e150, 1e-100, 1.0]),
        // Triangular: one matching.
        dense(&[1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 0.0, 6.0]),
        // A cycle of four rows: two matchings.
        dense(&[
            2.0, 3.0, 0.0, 0.0, 0.0, 5.0, 7.0, 0.0, 0.0, 0.0, 1.0, 4.0, 6.0, 0.0, 0.0, 0.5,
        ]),
        // Two blocks, joined by an edge that no matching uses.
        dense(&[
            1.0, 2.0, 9.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 0.0, 2.0, 1.0,
        ]),
        dense(&[0.3; 36]),
    ] {
        assert_all_close(&bethe(&matrix), &edges_by_definition(&matrix), 1e-9);
    }
}

/// Returns the absolute errors of H and of the Bethe approximation, each summed over all true mappings with
/// equal weights, and with their probabilities in the attack.
fn errors(size: usize, unevenness: f64, attacks: u64) -> [[f64; 2]; 2] {
    let control = Control::new();
    let mut errors = [[0.0; 2]; 2];
    for seed in 0..attacks {
        let matrix = random_attack(size, unevenness, seed, &control).unwrap();
        let exact = Exact::new(&matrix, &control)
            .unwrap()
            .edge_probabilities(&control)
            .unwrap();
        let bethe = bethe(&matrix);
        for (mapping, weight) in definition(&matrix).matchings {
            let off = |found: &[f64]| -> f64 {
                let of_row = |row| found[row * size + mapping[row]];
                let truth = |row| exact.probability[row * size + mapping[row]];
                (0..size).map(|row| of_row(row) - truth(row)).sum::<f64>().abs()
            };
            let chance = weight / exact.permanent.value();
            for (errors, off) in errors.iter_mut().zip([off(matrix.weights()), off(&bethe)]) {
                errors[0] += off;
                errors[1] += off * chance;
            }
        }
    }
    errors
}

#[test]
fn bethe_is_at_least_three_times_better_than_h() {
    // If the adversary is certain, a few attacks with large errors dominate the mean, so many attacks are
    // needed.
    for (size, attacks) in [(3, 300), (4, 150), (5, 60), (6, 20)] {
        for unevenness in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
            let [heuristic, bethe] = errors(size, unevenness, attacks);
            for (heuristic, bethe) in heuristic.into_iter().zip(bethe) {
                assert!(
                    3.0 * bethe <= heuristic,
                    "{size} rows, unevenness {unevenness}: {bethe} against {heuristic}"
                );
            }
        }
    }
}

#[test]
fn beliefs_are_doubly_stochastic() {
    let control = Control::new();
    let ring = |row: usize, column: usize| [0, 1, 7].contains(&((column + 60 - row) % 60));
    for matrix in [
        random_attack(50, 4.0, 1, &control).unwrap(),
        random_attack(40, 100.0, 1, &control).unwrap(),
        weighted(60, 2.0, ring),
        weighted(60, 300.0, ring),
    ] {
        // Pair the beliefs with all edges, because a belief may be zero.
        let beliefs = bethe(&matrix).into_iter();
        let edges = (0..matrix.size() as u32)
            .flat_map(|row| matrix.row(row as usize).map(move |(column, _)| (row, column)))
            .zip(beliefs)
            .map(|((row, column), belief)| (row, column, belief));
        let size = matrix.size();
        assert_doubly_stochastic(&Matrix::sparse(size, size, edges.collect()).unwrap(), 1e-12);
    }
}

#[test]
fn samples_reach_all_matchings_where_swaps_get_stuck() {
    // A cycle of three rows and three columns: matchings of weight 1 and 8.
    let matrix = dense(&[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0]);
    let found = estimate(
        &matrix,
        &identity(&matrix),
        &settings(Method::Sample),
        &Control::new(),
    )
    .unwrap();
    assert!(found.is_precise_enough);
    assert!((found.expected - 3.0 / 9.0).abs() < 0.02, "{}", found.expected);
}

#[test]
fn intervals_hold_what_they_promise() {
    let control = Control::new();
    let (mut held, mut all) = (0, 0);
    for seed in 0..60 {
        let matrix = random_attack(5, [0.5, 2.0, 6.0, 20.0][seed as usize % 4], seed, &control).unwrap();
        let truth = identity(&matrix);
        let exact = estimate(&matrix, &truth, &settings(Method::Exact), &control).unwrap();
        // Rarer cracks would take a large sample.
        if exact.expected < 0.1 {
            continue;
        }
        let settings = Settings {
            seed,
            relative_error: 0.05,
            ..settings(Method::Sample)
        };
        let found = estimate(&matrix, &truth, &settings, &control).unwrap();
        assert_eq!(found.method, Method::Sample);
        let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
        assert!(found.is_precise_enough && upper - lower <= 0.1 * found.expected + 1e-12);
        held += usize::from((lower - 1e-9..=upper + 1e-9).contains(&exact.expected));
        all += 1;
        let sum: f64 = found.crack_probability.iter().sum();
        assert!((sum - found.expected).abs() < 1e-9);
    }
    assert!(all >= 25 && held * 100 >= 90 * all, "{held} of {all}");
}

/// Returns a ring: the columns of a row are those with its own number, with the next one, and with the
/// seventh after it.
fn ring(size: usize) -> Matrix {
    let is_near = |row: usize, column: usize| [0, 1, 7].contains(&((column + size - row) % size));
    normalise(&weighted(size, 2.0, is_near), &Control::new()).unwrap()
}

/// Returns the expected number of rows of a ring that have the column with their own number. Row by row, it
/// computes for every set of taken columns, among the next eight, the total weight of all ways to reach it,
/// and the same weighted by the number of cracks.
fn cracks_of_ring(ring: &Matrix) -> f64 {
    let size = ring.size();
    let (mut all, mut cracked) = (0.0, 0.0);
    for taken_at_first in 0..1 << 7 {
        let mut ways = vec![(0.0, 0.0); 1 << 8];
        ways[taken_at_first] = (1.0, 0.0);
        for row in 0..size {
            let mut next = vec![(0.0, 0.0); 1 << 8];
            for (taken, &(weight, cracks)) in ways.iter().enumerate().filter(|(_, way)| way.0 > 0.0) {
                for step in [0, 1, 7].into_iter().filter(|step| taken >> step & 1 == 0) {
                    let taken = taken | 1 << step;
                    let own = ring.weight(row, ((row + step) % size) as u32);
                    // The first of the eight columns has to be taken, because no later row could take it.
                    if taken & 1 == 1 {
                        let is_crack = f64::from(u8::from(step == 0));
                        next[taken >> 1].0 += weight * own;
                        next[taken >> 1].1 += (cracks + weight * is_crack) * own;
                    }
                }
            }
            ways = next;
        }
        all += ways[taken_at_first].0;
        cracked += ways[taken_at_first].1;
    }
    cracked / all
}

#[test]
fn rings_are_counted_right() {
    let matrix = ring(8);
    let expected = definition(&matrix).cracks(&[0, 1, 2, 3, 4, 5, 6, 7]);
    assert!((cracks_of_ring(&matrix) - expected).abs() < 1e-12);
}

#[test]
fn intervals_hold_where_loops_are_long() {
    let control = Control::new();
    for size in [50, 100] {
        let matrix = ring(size);
        let exact = cracks_of_ring(&matrix);
        let holds = |seed: &u64| {
            let settings = Settings {
                seed: *seed,
                relative_error: 0.03,
                ..settings(Method::Sample)
            };
            let found = estimate(&matrix, &identity(&matrix), &settings, &control).unwrap();
            (found.lower.unwrap()..=found.upper.unwrap()).contains(&exact)
        };
        let held = (0..40).filter(holds).count();
        assert!(held >= 34, "{size} rows: {held} of 40");
    }
}

#[test]
fn the_same_for_any_number_of_threads() {
    let control = Control::new();
    let matrix = random_attack(300, 3.0, 5, &control).unwrap();
    let small = random_attack(30, 3.0, 5, &control).unwrap();
    let found = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let sample = Settings {
                relative_error: 0.1,
                ..settings(Method::Sample)
            };
            (
                random_attack(300, 3.0, 5, &control).unwrap(),
                bethe(&matrix),
                estimate(&small, &identity(&small), &sample, &control).unwrap(),
            )
        })
    };
    assert_eq!(found(1), found(2));
}

#[test]
fn sampled_sets_are_those_of_the_definition() {
    let control = Control::new();
    let matrix = random_attack(5, 1.5, 3, &control).unwrap();
    let definition = definition(&matrix);
    let known = truth(&matrix, &[1, 2, 0, 4, 3]);
    let partly = Truth::new(&matrix, vec![Some(1), None, Some(0), Some(4), Some(3)]).unwrap();
    for truth in [&known, &partly] {
        for subsets in [
            Subsets::Only(vec![0, 3]),
            Subsets::Only(vec![4]),
            Subsets::OfSize(1),
            Subsets::OfSize(2),
            Subsets::OfSize(3),
            Subsets::OfSize(5),
        ] {
            let expected = match &subsets {
                Subsets::Only(rows) => {
                    definition.subset(truth.columns(), rows.iter().fold(0, |set, row| set | 1 << row))
                }
                Subsets::OfSize(size) => definition.subsets(truth.columns(), *size),
            };
            let found = subset_cracks(&matrix, truth, &subsets, &settings(Method::Sample), &control).unwrap();
            assert!(found.is_precise_enough);
            assert!(
                (found.expected - expected).abs() <= 0.03 * expected,
                "{subsets:?}: {} is not {expected}",
                found.expected
            );
        }
    }
}

#[test]
fn auto_chooses_what_it_can_afford() {
    let control = Control::new();
    let chosen = |size, budget: Option<f64>, bytes: f64, relative_error| {
        let matrix = random_attack(size, 3.0, 1, &control).unwrap();
        let settings = Settings {
            method: Method::Auto,
            budget: budget.map(Duration::from_secs_f64),
            max_bytes: bytes,
            relative_error,
            ..Settings::default()
        };
        let edges = edge_probabilities(&matrix, &settings, &control).unwrap().method;
        let found = estimate(&matrix, &identity(&matrix), &settings, &control).unwrap();
        assert_eq!(found.lower.is_some(), found.method != Method::Bethe);
        (found.method, edges)
    };
    let plenty = f64::INFINITY;
    assert_eq!(chosen(6, None, plenty, 0.1), (Method::Exact, Method::Exact));
    assert_eq!(chosen(6, Some(1.0), plenty, 0.1), (Method::Exact, Method::Exact));
    assert_eq!(chosen(60, None, plenty, 0.1), (Method::Sample, Method::Bethe));
    assert_eq!(
        chosen(60, Some(5.0), plenty, 0.1),
        (Method::Sample, Method::Bethe)
    );
    assert_eq!(
        chosen(60, Some(0.001), plenty, 0.001),
        (Method::Bethe, Method::Bethe)
    );
    assert_eq!(chosen(60, None, 1000.0, 0.1), (Method::Bethe, Method::Bethe));
}

#[test]
fn every_method_answers() {
    let control = Control::new();
    let matrix = dense(&[2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 3.0, 2.0]);
    let partly = Truth::new(&matrix, vec![Some(0), None, Some(2)]).unwrap();
    let found = |method| -> Estimate { estimate(&matrix, &partly, &settings(method), &control).unwrap() };
    let exact = found(Method::Exact);
    for method in [Method::Exact, Method::Bethe, Method::Sample, Method::Heuristic] {
        let found = found(method);
        assert_eq!(found.method, method);
        assert_eq!(found.crack_probability[1], 0.0);
        if method != Method::Heuristic {
            assert!(
                (found.expected - exact.expected).abs() < 0.05,
                "{method:?}: {}",
                found.expected
            );
        }
    }
    let by_rows = found(Method::Heuristic);
    assert!((by_rows.expected - heuristic(&matrix, &partly)).abs() < 1e-15);
    assert_eq!((by_rows.lower, by_rows.upper), (None, None));
    assert_eq!(exact.lower, Some(exact.expected));
}

fn names<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::InvalidArgument { argument, .. }) => argument,
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_name_the_argument() {
    let control = Control::new();
    let matrix = random_attack(3, 1.0, 1, &control).unwrap();
    let large = random_attack(64, 1.0, 1, &control).unwrap();
    for relative_error in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = Settings {
            relative_error,
            ..settings(Method::Sample)
        };
        let found = estimate(&matrix, &identity(&matrix), &settings, &control);
        assert_eq!(names(found), "relative_error");
    }
    let hasty = Settings {
        budget: Some(Duration::from_millis(1)),
        ..settings(Method::Exact)
    };
    assert_eq!(
        names(estimate(&large, &identity(&large), &hasty, &control)),
        "method"
    );
    assert_eq!(names(edge_probabilities(&large, &hasty, &control)), "method");
    let sample = settings(Method::Sample);
    assert_eq!(names(edge_probabilities(&matrix, &sample, &control)), "method");
    for unevenness in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(names(random_attack(3, unevenness, 1, &control)), "unevenness");
    }
    for size in [0, 1_000_000] {
        assert_eq!(names(random_attack(size, 1.0, 1, &control)), "size");
    }
    let impossible = dense(&[1.0, 0.0, 1.0, 0.0]);
    let truth = identity(&impossible);
    for method in [
        Method::Auto,
        Method::Exact,
        Method::Bethe,
        Method::Sample,
        Method::Heuristic,
    ] {
        assert_eq!(
            names(estimate(&impossible, &truth, &settings(method), &control)),
            "matrix"
        );
    }
    assert_eq!(names(normalise(&impossible, &control)), "matrix");
    assert_eq!(names(flat_matrix(&impossible, &control)), "matrix");
    let cancelled = Control::new();
    cancelled.cancel();
    for method in [Method::Bethe, Method::Sample] {
        let found = estimate(&large, &identity(&large), &settings(method), &cancelled);
        assert_eq!(found, Err(Error::Cancelled));
    }
}

#[test]
fn random_attacks_are_what_they_say() {
    let control = Control::new();
    for (size, unevenness) in [(1, 1.0), (2, 0.0), (5, 1.0), (20, 100.0), (20, 1000.0)] {
        let matrix = random_attack(size, unevenness, 3, &control).unwrap();
        assert_eq!((matrix.size(), matrix.edge_count()), (size, size * size));
        assert_doubly_stochastic(&matrix, 1.1e-13);
        assert_eq!(matrix, random_attack(size, unevenness, 3, &control).unwrap());
    }
    // A matrix for which rounding can keep Newton's method from reaching the last digit.
    assert_doubly_stochastic(&random_attack(3, 4.0, 1154, &control).unwrap(), 1.1e-13);
    assert_eq!(bethe(&random_attack(3, 4.0, 1154, &control).unwrap()).len(), 9);
    assert_ne!(
        random_attack(5, 1.0, 1, &control).unwrap(),
        random_attack(5, 1.0, 2, &control).unwrap()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn scaling_keeps_matchings_as_likely(weights in prop::collection::vec(0.0_f64..1.0, 25), zeros in any::<u32>()) {
        let control = Control::new();
        let weight = |(place, &weight): (usize, &f64)| if zeros >> place & 1 == 1 && place % 6 > 0 { 0.0 } else { weight + 1e-3 };
        let matrix = dense(&weights.iter().enumerate().map(weight).collect::<Vec<_>>());
        let scaled = normalise(&matrix, &control).unwrap();
        assert_doubly_stochastic(&scaled, 1.1e-13);
        let (before, after) = (definition(&matrix), definition(&scaled));
        let truth = [0, 1, 2, 3, 4];
        prop_assert!((after.cracks(&truth) - before.cracks(&truth)).abs() < 1e-12);
        // Edges that no matching uses are gone.
        for row in 0..5 {
            for (column, _) in scaled.row(row) {
                prop_assert!(before.edge(row, column as usize) > 0.0);
            }
        }
    }
}
