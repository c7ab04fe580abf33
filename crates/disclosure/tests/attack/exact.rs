//! Exact answers for probabilistic attacks, compared with the verified values of Malik 2014 and with the
//! definitions.

use crate::{dense, exactly, fig_2_4_b, fig_2_4_c, fig_3_4_a, zero_one};
use disclosure::attack::{
    Exact, Matrix, Subsets, Truth, degree_of_anonymity, estimate, heuristic, is_flat, matching_probability,
    nmape, row_shares, subset_cracks,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::attack::Attack;
use reference::matching::permutations;

/// Q of Fig. 3.4(b), with the value in the cell (Tuberculosis, y) that makes it doubly stochastic.
const Q: [f64; 25] = [
    0.0, 0.0, 0.57, 0.40, 0.03, //
    0.0, 0.0, 0.30, 0.23, 0.47, //
    0.34, 0.29, 0.03, 0.30, 0.04, //
    0.29, 0.52, 0.08, 0.05, 0.06, //
    0.37, 0.19, 0.02, 0.02, 0.40,
];

/// Returns the true mapping Flu–x, Viral Fever–y, Cold–z, Asthma–u, Tuberculosis–v.
fn m0(matrix: &Matrix) -> Truth {
    Truth::new(matrix, [2, 3, 4, 0, 1].map(Some).to_vec()).unwrap()
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Generates small matrices of every kind, each with a true mapping.
fn attacks() -> impl Strategy<Value = (Vec<f64>, Vec<usize>)> {
    let weights = |size: usize| {
        let cells = size * size;
        prop_oneof![
            prop::collection::vec(prop_oneof![Just(0.0), Just(1.0)], cells),
            prop::collection::vec((0..6u32).prop_map(f64::from), cells),
            prop::collection::vec(0.0..1.0f64, cells),
            // Uneven, with zeros.
            prop::collection::vec(
                prop_oneof![Just(0.0), (-40.0..40.0f64).prop_map(f64::exp2)],
                cells
            ),
            // Flat except for zeros.
            (
                prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(1.0)], cells),
                prop::collection::vec(0.01..1.0f64, 2 * size)
            )
                .prop_map(move |(possible, factors)| {
                    let cell = |(cell, possible): (usize, &f64)| {
                        possible * factors[cell / size] * factors[size + cell % size]
                    };
                    possible.iter().enumerate().map(cell).collect()
                }),
        ]
    };
    let truth = |size: usize| Just((0..size).collect::<Vec<_>>()).prop_shuffle();
    (1..=6usize).prop_flat_map(move |size| (weights(size), truth(size)))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn known(truth: &[usize]) -> Vec<Option<u32>> {
    truth.iter().map(|&column| Some(column as u32)).collect()
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn sums_are_those_of_the_definition((weights, truth) in attacks()) {
        let control = Control::new();
        let matrix = dense(&weights);
        let definition = Attack::new(&weights);
        let exact = Exact::new(&matrix, &control).unwrap();
        let permanent = exact.permanent(&control).unwrap();
        if definition.permanent == 0.0 {
            prop_assert!(!exact.is_possible());
            prop_assert_eq!(permanent.value(), 0.0);
            prop_assert!(exact.edge_probabilities(&control).is_err());
            return Ok(());
        }
        if weights.iter().all(|weight| weight.fract() == 0.0) {
            prop_assert_eq!(permanent.value(), definition.permanent);
            prop_assert_eq!(permanent.relative_error, 0.0);
        }
        prop_assert!(permanent.relative_error < 1e-13);
        // The definition is rounded as well.
        let off = (permanent.value() / definition.permanent - 1.0).abs();
        prop_assert!(off <= permanent.relative_error + 2e-13, "{}", off);
        prop_assert!((permanent.ln() - definition.permanent.ln()).abs() < 1e-12);

        let edges = exact.edge_probabilities(&control).unwrap();
        prop_assert_eq!(edges.permanent, permanent);
        prop_assert!(edges.error < 1e-12);
        for row in 0..matrix.size() {
            for ((column, _), edge) in matrix.row(row).zip(matrix.edge_range(row)) {
                let expected = definition.edge(row, column as usize);
                prop_assert!((edges.probability[edge] - expected).abs() <= edges.error + 2e-13);
            }
        }
        let mapping = Truth::new(&matrix, known(&truth)).unwrap();
        let found = estimate(&matrix, &mapping, &exactly(), &control).unwrap();
        prop_assert!((found.expected - definition.cracks(&truth)).abs() < 1e-11);
        if matrix.size() > 1 {
            let anonymity = degree_of_anonymity(&matrix, &control).unwrap();
            prop_assert!((anonymity - definition.anonymity()).abs() < 1e-9);
        }
        let flat = is_flat(&matrix, &control).unwrap();
        let possible = || definition.matchings.iter().map(|(_, weight)| *weight).filter(|weight| *weight > 0.0);
        let span = possible().fold(0.0, f64::max) / possible().fold(f64::INFINITY, f64::min);
        // Between these limits, the result depends on tolerances.
        if !(1.0 + 1e-10..1.0 + 1e-7).contains(&span) {
            prop_assert_eq!(flat, span < 1.0 + 1e-8);
        }
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn nmape_is_that_of_the_definition((weights, _) in attacks()) {
        let definition = Attack::new(&weights);
        let found = nmape(&dense(&weights), &Control::new());
        match definition.permanent {
            0.0 => prop_assert!(found.is_err()),
            _ => prop_assert!((found.unwrap() - definition.nmape()).abs() < 1e-9),
        }
    }

    #[test]
    fn subsets_are_those_of_the_definition((weights, truth) in attacks(), unknown in 0..8usize) {
        let control = Control::new();
        let matrix = dense(&weights);
        let definition = Attack::new(&weights);
        prop_assume!(definition.permanent > 0.0);
        let mut truth = known(&truth);
        if let Some(column) = truth.get_mut(unknown) {
            *column = None;
        }
        let mapping = Truth::new(&matrix, truth.clone()).unwrap();
        let crack = |subsets| subset_cracks(&matrix, &mapping, &subsets, &exactly(), &control);
        for size in 1..=matrix.size() {
            let found = crack(Subsets::OfSize(size)).unwrap();
            prop_assert!((found.expected - definition.subsets(&truth, size)).abs() < 1e-10);
        }
        for set in 1..1u32 << matrix.size() {
            let members: Vec<u32> = (0..32).filter(|entry| set & 1 << entry != 0).collect();
            let are_known = members.iter().all(|&entry| truth[entry as usize].is_some());
            match crack(Subsets::Only(members)) {
                Ok(found) => prop_assert!((found.expected - definition.subset(&truth, set)).abs() < 1e-11),
                Err(_) => prop_assert!(!are_known),
            }
        }
    }
}

/// Returns a generator of pseudo-random numbers, the same in every run (Knuth's MMIX generator).
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Larger matrices use other algorithms. Compares those of matrices with many zeros, whose rows are
/// reordered, with the expansion of the permanent along the first row, minor by minor.
#[test]
fn sparse_matrices_agree_with_expansion() {
    fn by_expansion(weights: &[Vec<f64>], columns: &[usize]) -> f64 {
        let Some((first, rest)) = weights.split_first() else {
            return 1.0;
        };
        let of_column = |(place, &column): (usize, &usize)| match first[column] {
            0.0 => 0.0,
            weight => weight * by_expansion(rest, &[&columns[..place], &columns[place + 1..]].concat()),
        };
        columns.iter().enumerate().map(of_column).sum()
    }
    let control = Control::new();
    let mut next = numbers(7);
    for round in 0..60 {
        let size = 9 + round % 3;
        let mut rows = vec![vec![0.0; size]; size];
        for (number, row) in rows.iter_mut().enumerate() {
            row[(number * 7 + 3) % size] = 1.0;
            for cell in row.iter_mut() {
                if next() < 0.35 {
                    *cell = match round % 4 {
                        0 => 1.0,
                        1 => (next() * 9.0).ceil(),
                        2 => next(),
                        _ => (next() * 60.0 - 30.0).exp2(),
                    };
                }
            }
        }
        let columns: Vec<usize> = (0..size).collect();
        let matrix = dense(&rows.concat());
        let expected = by_expansion(&rows, &columns);
        let exact = Exact::new(&matrix, &control).unwrap();
        let permanent = exact.permanent(&control).unwrap();
        if round % 4 < 2 {
            assert_eq!(permanent.value(), expected);
            assert_eq!(permanent.relative_error, 0.0);
        }
        assert_close(permanent.value() / expected, 1.0, 1e-12);
        let edges = exact.edge_probabilities(&control).unwrap();
        for row in 0..size {
            let others: Vec<Vec<f64>> = [&rows[..row], &rows[row + 1..]].concat();
            for ((column, weight), edge) in matrix.row(row).zip(matrix.edge_range(row)) {
                let columns: Vec<usize> = columns
                    .iter()
                    .copied()
                    .filter(|&other| other != column as usize)
                    .collect();
                let share = weight * by_expansion(&others, &columns) / expected;
                assert_close(edges.probability[edge], share, 1e-12);
            }
        }
    }
}

/// Dense matrices are summed over signs. The sums agree with a recursion over sets of columns, exactly for
/// integers.
#[test]
fn dense_matrices_agree_with_sums_over_sets() {
    let control = Control::new();
    let mut next = numbers(13);
    for round in 0..12 {
        let size = 10 + round / 2;
        let kind = round % 4;
        let weights: Vec<f64> = (0..size * size)
            .map(|_| match kind {
                0 => (next() * 4.0).ceil(),
                1 => next(),
                2 => (next() * 40.0 - 20.0).exp2(),
                // So uneven that too many digits cancel.
                _ => (next() * 120.0 - 60.0).exp2(),
            })
            .collect();
        let mut sums = vec![0.0; 1 << size];
        sums[0] = 1.0;
        for set in 1..1usize << size {
            let row = set.count_ones() as usize - 1;
            let own = (0..size).filter(|column| set & 1 << column != 0);
            sums[set] = own
                .map(|column| sums[set & !(1 << column)] * weights[row * size + column])
                .sum();
        }
        let expected = sums[(1 << size) - 1];
        let matrix = dense(&weights);
        let exact = Exact::new(&matrix, &control).unwrap();
        let found = exact.permanent(&control).unwrap();
        if kind == 0 && expected < (1u64 << 53) as f64 {
            assert_eq!((found.value(), found.relative_error), (expected, 0.0));
        }
        assert!(found.relative_error <= 1e-10);
        assert!((found.value() / expected - 1.0).abs() <= found.relative_error + 1e-12);
        let edges = exact.edge_probabilities(&control).unwrap();
        assert!(edges.error <= 1e-10);
        for row in 0..size {
            assert_close(edges.probability[matrix.edge_range(row)].iter().sum(), 1.0, 1e-9);
        }
        // Probabilities of the first row's edges: sum over the ways in which the other rows take the other
        // columns.
        let mut backwards = vec![0.0; 1 << size];
        backwards[0] = 1.0;
        for set in 1..1usize << size {
            let row = size - set.count_ones() as usize;
            let own = (0..size).filter(|column| set & 1 << column != 0);
            backwards[set] = own
                .map(|column| backwards[set & !(1 << column)] * weights[row * size + column])
                .sum();
        }
        for column in 0..size {
            let rest = backwards[((1 << size) - 1) & !(1 << column)];
            assert_close(
                edges.probability[column],
                weights[column] * rest / expected,
                1e-10,
            );
        }
    }
}

/// The permanent of a band of ones is a Fibonacci number; the probabilities of edges are products of such
/// numbers.
#[test]
fn bands_of_ones() {
    let control = Control::new();
    let band = |size: usize, reach: usize| {
        let edges = (0..size).flat_map(|row| {
            (row.saturating_sub(reach)..(row + reach + 1).min(size)).map(move |column| (row, column))
        });
        let edges = edges
            .map(|(row, column)| (row as u32, column as u32, 1.0))
            .collect();
        Matrix::sparse(size, size, edges).unwrap()
    };
    let mut fibonacci = vec![1.0, 1.0];
    for n in 2..=1000 {
        fibonacci.push(fibonacci[n - 1] + fibonacci[n - 2]);
    }
    for size in [10, 40, 77, 300, 1000] {
        let matrix = band(size, 1);
        let exact = Exact::new(&matrix, &control).unwrap();
        let edges = exact.edge_probabilities(&control).unwrap();
        if size <= 77 {
            assert_eq!(edges.permanent.value(), fibonacci[size]);
            assert_eq!(edges.permanent.relative_error, 0.0);
        }
        assert_close(edges.permanent.value() / fibonacci[size], 1.0, 1e-11);
        for row in [0, size / 3, size - 1] {
            let own = fibonacci[row] / fibonacci[size] * fibonacci[size - row - 1];
            let edge = matrix.edge_index(row, row as u32).unwrap();
            assert_close(edges.probability[edge], own, 1e-11);
        }
    }
    // A wider band with arbitrary weights, compared with a table of all sets of columns near the diagonal.
    let shape = band(300, 4);
    let mut next = numbers(3);
    let edges: Vec<(u32, u32, f64)> = (0..300)
        .flat_map(|row| shape.row(row).map(move |(column, _)| (row as u32, column)))
        .map(|(row, column)| (row, column, next() + 0.01))
        .collect();
    let matrix = Matrix::sparse(300, 300, edges.clone()).unwrap();
    let mut sums = vec![0.0; 512]; // bit b: column row - 4 + b is taken
    sums[0b1111] = 1.0; // columns before the first one
    let mut ln = 0.0;
    for row in 0..300 {
        let mut after = vec![0.0; 512];
        for (set, sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
            for (column, weight) in matrix.row(row) {
                let bit = 1 << (column as usize + 4 - row);
                if set & bit == 0 && (set | bit) & 1 == 1 {
                    after[(set | bit) >> 1] += sum * weight;
                }
            }
        }
        let largest = after.iter().copied().fold(0.0, f64::max);
        ln += largest.ln();
        sums = after.iter().map(|sum| sum / largest).collect();
    }
    ln += sums[0b1111].ln();
    let exact = Exact::new(&matrix, &control).unwrap();
    let found = exact.edge_probabilities(&control).unwrap();
    assert!((found.permanent.ln() / ln - 1.0).abs() < 1e-13);
    assert!(found.error < 2e-12 && found.permanent.relative_error < 1e-12);
    // Every row and every column is matched once.
    let mut of_columns = vec![0.0; 300];
    for row in 0..300 {
        let of_row = &found.probability[matrix.edge_range(row)];
        assert_close(of_row.iter().sum(), 1.0, 1e-12);
        matrix
            .row(row)
            .zip(of_row)
            .for_each(|((column, _), share)| of_columns[column as usize] += share);
    }
    of_columns
        .into_iter()
        .for_each(|sum| assert_close(sum, 1.0, 1e-11));
    // The permanent does not depend on the order of rows and columns.
    let shuffled = |(row, column, weight): &(u32, u32, f64)| (row * 7 % 300, column * 11 % 300, *weight);
    let shuffled = Matrix::sparse(300, 300, edges.iter().map(shuffled).collect()).unwrap();
    let exact = Exact::new(&shuffled, &control).unwrap();
    assert!(exact.seconds() < 1.0);
    let permanent = exact.permanent(&control).unwrap();
    assert!((permanent.ln() / ln - 1.0).abs() < 1e-13);
}

#[test]
fn blocks_have_nothing_to_do_with_each_other() {
    let control = Control::new();
    let mut next = numbers(11);
    let mut edges = Vec::new();
    let mut ln = 0.0;
    let mut of_edges = Vec::new();
    for block in 0..50 {
        let weights: Vec<f64> = (0..25).map(|_| next()).collect();
        let definition = Attack::new(&weights);
        ln += definition.permanent.ln();
        for (cell, weight) in weights.iter().enumerate() {
            let (row, column) = (cell / 5, cell % 5);
            edges.push((
                block * 5 + row as u32,
                (block * 5 + column as u32) * 3 % 250,
                *weight,
            ));
            of_edges.push(definition.edge(row, column));
        }
    }
    let edges: Vec<(u32, u32, f64)> = edges;
    // Columns are shuffled, because 3 and 250 have no common divisor.
    let matrix = Matrix::sparse(250, 250, edges.clone()).unwrap();
    let exact = Exact::new(&matrix, &control).unwrap();
    assert_eq!(exact.blocks(), 50);
    assert_eq!(exact.possible_edges(), 1250);
    let found = exact.edge_probabilities(&control).unwrap();
    assert_close(found.permanent.ln(), ln, 1e-10);
    for ((row, column, _), expected) in edges.into_iter().zip(of_edges) {
        let edge = matrix.edge_index(row as usize, column).unwrap();
        assert_close(found.probability[edge], expected, 1e-13);
    }
}

/// Large flat blocks with few kinds of rows are counted, both of ones and with row and column factors.
#[test]
fn flat_blocks_are_counted() {
    let control = Control::new();
    let size = 200;
    let factor = |line: usize| 0.5 + (line % 7) as f64;
    let weights: Vec<f64> = (0..size * size)
        .map(|cell| factor(cell / size) / factor(cell % size + 3))
        .collect();
    let matrix = dense(&weights);
    let exact = Exact::new(&matrix, &control).unwrap();
    assert!(exact.seconds() < 1.0);
    let found = exact.edge_probabilities(&control).unwrap();
    let expected: f64 = (0..size)
        .map(|line| ((line + 1) as f64).ln() + factor(line).ln() - factor(line + 3).ln())
        .sum();
    assert_close(found.permanent.ln(), expected, 1e-10);
    assert!(found.error < 1e-10 && found.permanent.relative_error < 1e-10);
    found
        .probability
        .iter()
        .for_each(|&share| assert_close(share, 1.0 / size as f64, 1e-12));
    assert!(is_flat(&matrix, &control).unwrap());
    // A block of ones is counted as well, and its permanent, 12!, is small enough to be exact. A change of
    // one weight makes the block uneven unless it is within the tolerance.
    let ones = dense(&[1.0; 144]);
    let permanent = Exact::new(&ones, &control).unwrap().permanent(&control).unwrap();
    assert_eq!((permanent.value(), permanent.relative_error), (479001600.0, 0.0));
    let mut weights = [1.0; 144];
    weights[5] = 1.0 + 1e-6;
    assert!(!is_flat(&dense(&weights), &control).unwrap());
    weights[5] = 1.0 + 1e-12;
    assert!(is_flat(&dense(&weights), &control).unwrap());
}

/// Weights whose products no double can hold.
#[test]
fn weights_of_any_size() {
    let control = Control::new();
    for size in [2, 8, 12] {
        let row_factor = |row: usize| [1e-300, 1e300, 1e250][row % 3];
        let mut weights: Vec<f64> = (0..size * size).map(|cell| row_factor(cell / size)).collect();
        weights[0] = 1e-308;
        let mut plain = vec![1.0; size * size];
        plain[0] = 1e-8;
        let found = dense(&weights);
        let found = Exact::new(&found, &control)
            .unwrap()
            .edge_probabilities(&control)
            .unwrap();
        let expected = dense(&plain);
        let expected = Exact::new(&expected, &control)
            .unwrap()
            .edge_probabilities(&control)
            .unwrap();
        let ln: f64 = (0..size).map(|row| row_factor(row).ln()).sum();
        assert_close(found.permanent.ln(), expected.permanent.ln() + ln, 1e-9);
        for (found, expected) in found.probability.iter().zip(&expected.probability) {
            assert_close(*found, *expected, 1e-12);
        }
        // Uneven within rows as well.
        let uneven = |cell: usize| if cell % size == cell / size { 1e300 } else { 1e-300 };
        let uneven = dense(&(0..size * size).map(uneven).collect::<Vec<_>>());
        let found = Exact::new(&uneven, &control)
            .unwrap()
            .edge_probabilities(&control)
            .unwrap();
        assert_close(found.permanent.ln() / size as f64, 1e300f64.ln(), 1e-9);
        assert_close(found.probability[0], 1.0, 1e-12);
    }
}

/// Compares the sum by halves with the enumeration of all mappings.
#[test]
fn nmape_of_more_rows() {
    let control = Control::new();
    let mut next = numbers(9);
    let weights: Vec<f64> = (0..64).map(|_| next()).collect();
    let definition = Attack::new(&weights);
    let edges: Vec<f64> = (0..64).map(|cell| definition.edge(cell / 8, cell % 8)).collect();
    let off = |(mapping, _): &(Vec<usize>, f64)| {
        let cracks: f64 = mapping
            .iter()
            .enumerate()
            .map(|(row, column)| edges[row * 8 + column])
            .sum();
        (definition.heuristic(mapping) - cracks).abs()
    };
    let mean = definition.matchings.iter().map(off).sum::<f64>() / definition.matchings.len() as f64;
    assert_close(
        nmape(&dense(&weights), &control).unwrap(),
        mean / 8.0 * 100.0,
        1e-10,
    );
    // H is exact if all weights are equal.
    assert_close(nmape(&dense(&[0.1; 81]), &control).unwrap(), 0.0, 1e-10);
    let error = nmape(&dense(&[1.0; 400]), &control).unwrap_err();
    assert!(matches!(
        error,
        Error::InvalidArgument {
            argument: "matrix",
            ..
        }
    ));
}

#[test]
fn flat_p_of_fig_3_3_and_3_1() {
    let control = Control::new();
    let (third, ninth) = (1.0 / 3.0, 1.0 / 9.0);
    let top = [0.0, 0.0, third, third, third];
    let bottom = [third, third, ninth, ninth, ninth];
    let p = dense(&[top, top, bottom, bottom, bottom].concat());
    let top = [0.0, 1.0 / 6.0, 1.0 / 6.0, third, third];
    let bottom = [third, 2.0 / 9.0, 2.0 / 9.0, ninth, ninth];
    let uneven = dense(&[top, top, bottom, bottom, bottom].concat());
    for (matrix, permanent, cracks, flat) in [
        (p, 4.0 / 81.0, 13.0 / 9.0, true),
        (uneven, 11.0 / 243.0, 7.0 / 6.0, false),
    ] {
        let found = Exact::new(&matrix, &control)
            .unwrap()
            .permanent(&control)
            .unwrap();
        assert_close(found.value(), permanent, 1e-15);
        let found = estimate(&matrix, &m0(&matrix), &exactly(), &control).unwrap();
        assert_close(found.expected, cracks, 1e-13);
        assert_eq!(is_flat(&matrix, &control).unwrap(), flat);
    }
}

#[test]
fn flat_f_of_fig_3_5() {
    let control = Control::new();
    let graph = dense(&zero_one(&["10110", "01010", "00101", "01010", "10101"]));
    let exact = Exact::new(&graph, &control).unwrap();
    assert_eq!(exact.permanent(&control).unwrap().value(), 6.0);
    // (Flu, y) lies in no perfect matching.
    assert_eq!(exact.possible_edges(), graph.edge_count() - 1);
    let edges = exact.edge_probabilities(&control).unwrap();
    assert_eq!(edges.probability[graph.edge_index(0, 3).unwrap()], 0.0);
    // F of the figure, except for that edge.
    let root = 5f64.sqrt();
    let (a, b, c) = ((root - 1.0) / 2.0, (3.0 - root) / 2.0, root - 2.0);
    let f = dense(&[
        a, 0.0, b, 0.0, 0.0, //
        0.0, 0.5, 0.0, 0.5, 0.0, //
        0.0, 0.0, b, 0.0, a, //
        0.0, 0.5, 0.0, 0.5, 0.0, //
        b, 0.0, c, 0.0, b,
    ]);
    assert!(is_flat(&f, &control).unwrap());
    let all = permutations(5)
        .into_iter()
        .map(|mapping| Truth::new(&f, known(&mapping)).unwrap());
    let weights: Vec<f64> = all
        .map(|truth| matching_probability(&f, &truth, &control).unwrap())
        .collect();
    assert_eq!(weights.iter().filter(|weight| **weight > 0.0).count(), 6);
    weights
        .iter()
        .filter(|weight| **weight > 0.0)
        .for_each(|&weight| assert_close(weight, 1.0 / 6.0, 1e-14));
}

/// Four entries have 4! matchings, of which one missing edge leaves 18; the fifth entry is a block of its
/// own.
#[test]
fn degree_of_anonymity_of_18_matchings() {
    let control = Control::new();
    let graph = dense(&zero_one(&["01110", "11110", "11110", "11110", "00001"]));
    let permanent = Exact::new(&graph, &control).unwrap().permanent(&control).unwrap();
    assert_eq!(permanent.value(), 18.0);
    assert_close(degree_of_anonymity(&graph, &control).unwrap(), 0.603734, 5e-7);
}

#[test]
fn sets_that_cannot_be_cracked() {
    let control = Control::new();
    let q = dense(&Q);
    let mut columns = [2, 3, 4, 0, 1].map(Some).to_vec();
    columns[4] = None;
    let truth = Truth::new(&q, columns).unwrap();
    for (subsets, named) in [
        (Subsets::Only(vec![]), "subset"),
        (Subsets::Only(vec![0, 5]), "subset"),
        (Subsets::Only(vec![1, 2, 1]), "subset"),
        (Subsets::Only(vec![3, 4]), "subset"),
        (Subsets::OfSize(0), "size"),
        (Subsets::OfSize(6), "size"),
    ] {
        match subset_cracks(&q, &truth, &subsets, &exactly(), &control) {
            Err(Error::InvalidArgument { argument, .. }) => assert_eq!(argument, named),
            other => panic!("{other:?}"),
        }
    }
    // A set with an entry whose code is unknown is never cracked.
    let all = subset_cracks(&q, &truth, &Subsets::OfSize(5), &exactly(), &control).unwrap();
    assert_eq!(all.expected, 0.0);
    let all = subset_cracks(&q, &m0(&q), &Subsets::OfSize(5), &exactly(), &control).unwrap();
    assert_eq!(all.expected, 1.0);
    let one = subset_cracks(&q, &m0(&q), &Subsets::OfSize(1), &exactly(), &control).unwrap();
    assert_close(one.expected, 1.347557217, 5e-10);
}

#[test]
fn the_empty_matrix_has_one_matching() {
    let control = Control::new();
    let empty = Matrix::dense(0, 0, &[]).unwrap();
    let exact = Exact::new(&empty, &control).unwrap();
    assert_eq!(exact.permanent(&control).unwrap().value(), 1.0);
    assert_eq!(exact.edge_probabilities(&control).unwrap().probability, vec![]);
}

#[test]
fn what_is_possible_counts_matchings() {
    let control = Control::new();
    for (rows, permanent, cracks, anonymity) in [
        (fig_2_4_b(), 4.0, 1.75, 0.289566),
        (fig_2_4_c(), 7.0, 3.0, 0.406457),
        (fig_3_4_a(), 36.0, 13.0 / 9.0, 0.748517),
    ] {
        let matrix = dense(&rows);
        let exact = Exact::new(&matrix, &control).unwrap();
        assert_eq!(exact.permanent(&control).unwrap().value(), permanent);
        let found = estimate(&matrix, &m0(&matrix), &exactly(), &control).unwrap();
        assert_close(found.expected, cracks, 1e-12);
        assert_close(degree_of_anonymity(&matrix, &control).unwrap(), anonymity, 5e-7);
    }
}

#[test]
fn q_of_fig_3_4() {
    let control = Control::new();
    let q = Matrix::dense(5, 5, &Q).unwrap();
    let permanent = Exact::new(&q, &control).unwrap().permanent(&control).unwrap();
    assert_close(permanent.value(), 0.0608095616, 1e-12);
    assert_close(
        estimate(&q, &m0(&q), &exactly(), &control).unwrap().expected,
        1.347557217,
        5e-10,
    );
    assert_close(heuristic(&q, &m0(&q)), 1.32, 1e-12);
    assert_close(nmape(&q, &control).unwrap(), 1.617318, 5e-7);
    assert!(!is_flat(&q, &control).unwrap());
    // The text's Ψ(Q) = 1369/4355 belongs to another mapping.
    let other = Truth::new(&q, [4, 0, 1, 2, 3].map(Some).to_vec()).unwrap();
    assert_close(
        estimate(&q, &other, &exactly(), &control).unwrap().expected,
        0.314351,
        5e-7,
    );
    // M₃ and M₅, the likeliest and the least likely of the 36 matchings.
    let likeliest = Truth::new(&q, [2, 4, 3, 1, 0].map(Some).to_vec()).unwrap();
    assert_close(
        matching_probability(&q, &likeliest, &control).unwrap(),
        0.254288760,
        5e-10,
    );
    let least = Truth::new(&q, [4, 3, 2, 0, 1].map(Some).to_vec()).unwrap();
    assert_close(
        matching_probability(&q, &least, &control).unwrap(),
        0.000187564,
        5e-10,
    );
}

/// A number as digits · 2^exponent, with the digits of a double and any exponent; zero has the digits 0.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    digits: f64,
    exponent: i64,
}

impl Scaled {
    fn new(mut digits: f64, mut exponent: i64) -> Self {
        while digits >= 2.0 {
            (digits, exponent) = (digits / 2.0, exponent + 1);
        }
        while digits > 0.0 && digits < 1.0 {
            (digits, exponent) = (digits * 2.0, exponent - 1);
        }
        Scaled { digits, exponent }
    }

    fn times(self, other: Self) -> Self {
        Scaled::new(self.digits * other.digits, self.exponent + other.exponent)
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) = match self.digits == 0.0 || other.digits > 0.0 && other.exponent > self.exponent
        {
            true => (other, self),
            false => (self, other),
        };
        let shift = (small.exponent - large.exponent).clamp(-200, 0) as i32;
        Scaled::new(large.digits + small.digits * 2f64.powi(shift), large.exponent)
    }

    /// Returns the number as a double; `None` if a double cannot hold it.
    fn value(self) -> Option<f64> {
        let half = self.exponent / 2;
        let value = self.digits * 2f64.powi(half as i32) * 2f64.powi((self.exponent - half) as i32);
        (value.is_finite() && (value > 0.0 || self.digits == 0.0)).then_some(value)
    }
}

/// Returns the permanent by its definition, for any range of weights.
fn scaled_permanent(weights: &[f64], size: usize) -> Scaled {
    let of_mapping = |mapping: &Vec<usize>| {
        let weights = mapping
            .iter()
            .enumerate()
            .map(|(row, column)| weights[row * size + column]);
        weights.fold(Scaled::new(1.0, 0), |product, weight| {
            product.times(Scaled::new(weight, 0))
        })
    };
    let products = permutations(size);
    products
        .iter()
        .map(of_mapping)
        .fold(Scaled::new(0.0, 0), Scaled::plus)
}

fn out_of_range(what: &'static str, is_large: bool) -> Error {
    Error::OutOfRange { what, is_large }
}

#[test]
fn permanents_reach_as_far_as_doubles() {
    let control = Control::new();
    let permanent = |weights: &[f64]| {
        let matrix = dense(weights);
        let exact = Exact::new(&matrix, &control).unwrap();
        exact.permanent(&control).unwrap().in_range()
    };
    let of = |weights: &[f64], expected: f64| {
        let found = permanent(weights).unwrap();
        assert!(
            (found / expected - 1.0).abs() < 1e-12,
            "{found} is not {expected}"
        );
    };
    of(&[1e308], 1e308);
    of(&[f64::MAX], f64::MAX);
    of(&[f64::MIN_POSITIVE], f64::MIN_POSITIVE);
    of(&[0.5, 1.0, 1.0, 1e308], 5e307);
    of(&[1e154, 1.0, 1.0, 1e153], 1e307);
    of(&[1e-200, 0.0, 0.0, 1e-100], 1e-300);
    assert_eq!(permanent(&[]), Ok(1.0));
    assert_eq!(permanent(&[0.0]), Ok(0.0));
    assert_eq!(permanent(&[1.0, 1.0, 0.0, 0.0]), Ok(0.0));
    let too = |is_large| Err(out_of_range("the permanent", is_large));
    assert_eq!(permanent(&[1e200, 0.0, 0.0, 1e200]), too(true));
    assert_eq!(permanent(&[1e308, 1e308, 1.0, 1.0]), too(true));
    assert_eq!(permanent(&[1e-200, 0.0, 0.0, 1e-200]), too(false));
    let factorial = vec![1.0; 171 * 171];
    assert_eq!(permanent(&factorial), too(true));
}

#[test]
fn probabilities_of_matchings_are_in_range_or_an_error() {
    let control = Control::new();
    let weight = |weights: &[f64], columns: &[u32]| {
        let matrix = dense(weights);
        let truth = Truth::new(&matrix, columns.iter().map(|&column| Some(column)).collect()).unwrap();
        matching_probability(&matrix, &truth, &control)
    };
    assert_eq!(weight(&[1e308], &[0]), Ok(1.0));
    assert_close(weight(&[1e308, 1e308, 1e308, 1e308], &[0, 1]).unwrap(), 0.5, 1e-9);
    let little = weight(&[1e150, 1.0, 1.0, 1e150], &[1, 0]).unwrap();
    assert!((little / 1e-300 - 1.0).abs() < 1e-9);
    assert_eq!(weight(&[1.0, 0.0, 1.0, 1.0], &[1, 0]), Ok(0.0));
    let too_small = weight(&[1e200, 1.0, 1.0, 1e200], &[1, 0]);
    assert_eq!(
        too_small,
        Err(out_of_range("the probability of the matching", false))
    );
}

#[test]
fn edges_outside_of_the_matrix_are_refused() {
    let edges = |edge| vec![(0, 0, 1.0), edge];
    for edge in [(2, 0, 1.0), (0, 2, 1.0), (u32::MAX, 1, 1.0), (1, u32::MAX, 0.0)] {
        let found = Matrix::sparse(2, 2, edges(edge));
        assert!(matches!(
            found,
            Err(Error::InvalidArgument {
                argument: "matrix",
                ..
            })
        ));
    }
    assert!(Matrix::sparse(0, 0, vec![(0, 0, 1.0)]).is_err());
    assert_eq!(Matrix::sparse(2, 2, edges((1, 1, 1.0))).unwrap().edge_count(), 2);
}

/// An incomplete mapping is no matching, so it has no probability; 0 would mean that it is impossible.
#[test]
fn an_incomplete_mapping_has_no_probability() {
    let matrix = dense(&[1.0; 4]);
    let truth = Truth::new(&matrix, vec![Some(0), None]).unwrap();
    let found = matching_probability(&matrix, &truth, &Control::new());
    assert!(matches!(
        found,
        Err(Error::InvalidArgument {
            argument: "mapping",
            ..
        })
    ));
}

#[test]
fn shares_of_rows_that_add_up_to_too_much() {
    let matrix = dense(&[1e308, 1e308, f64::MAX, f64::MAX]);
    assert_eq!(row_shares(&matrix), [0.5; 4]);
    let truth = Truth::new(&matrix, vec![Some(0), Some(1)]).unwrap();
    assert_eq!(heuristic(&matrix, &truth), 1.0);
    assert_close(degree_of_anonymity(&matrix, &Control::new()).unwrap(), 1.0, 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Weights from the whole range of doubles; some are zero.
    #[test]
    fn permanents_of_any_range_are_as_defined(
        size in 1usize..5,
        logs in prop::collection::vec(prop::option::weighted(0.8, -300.0..300.0f64), 16),
    ) {
        let weights: Vec<f64> = logs.iter().map(|log| log.map_or(0.0, |log| 10f64.powf(log))).collect();
        let weights = &weights[..size * size];
        let matrix = dense(weights);
        let control = Control::new();
        let found = Exact::new(&matrix, &control).unwrap().permanent(&control).unwrap().in_range();
        let expected = scaled_permanent(weights, size);
        match expected.value() {
            Some(0.0) => prop_assert_eq!(found, Ok(0.0)),
            // Smaller doubles have fewer digits.
            Some(value) if value < f64::MIN_POSITIVE => prop_assert!(found.unwrap() < 2.0 * f64::MIN_POSITIVE),
            Some(value) => prop_assert!((found.clone().unwrap() / value - 1.0).abs() < 1e-9, "{found:?} {value}"),
            None => prop_assert_eq!(found, Err(out_of_range("the permanent", expected.exponent > 0))),
        }
    }
}
