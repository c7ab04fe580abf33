//! More codes than entries, and the other way round, compared with the definitions.

use crate::{exactly, truth};
use disclosure::attack::{
    Exact, Matrix, Method, Settings, Truth, degree_of_anonymity, edge_probabilities, estimate, flat_matrix,
    heuristic, is_flat, ln_permanent_bounds, matching_probability, nmape, normalise, report, shares,
    subset_cracks,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::attack::Attack;

fn with(method: Method) -> Settings {
    Settings {
        method,
        relative_error: 0.02,
        ..Settings::default()
    }
}

/// Two people, and three codes of which one belongs to nobody.
#[test]
fn two_entries_and_three_codes() {
    let control = Control::new();
    let ones = Matrix::dense(2, 3, &[1.0; 6]).unwrap();
    assert_eq!(
        Exact::new(&ones, &control)
            .unwrap()
            .permanent(&control)
            .unwrap()
            .value(),
        6.0
    );
    let known = truth(&ones, &[Some(0), Some(1)]);
    let found = estimate(&ones, &known, &exactly(), &control).unwrap();
    assert!((found.expected - 2.0 / 3.0).abs() < 1e-15);
    assert!((degree_of_anonymity(&ones, &control).unwrap() - 1.0).abs() < 1e-12);
    assert!((matching_probability(&ones, &known, &control).unwrap() - 1.0 / 6.0).abs() < 1e-15);
    assert!((heuristic(&ones, &known) - 2.0 / 3.0).abs() < 1e-15);
    // The factor of a column matters, because the column may be left out.
    let weighted = Matrix::dense(1, 2, &[1.0, 3.0]).unwrap();
    let found = estimate(&weighted, &truth(&weighted, &[Some(1)]), &exactly(), &control).unwrap();
    assert!((found.expected - 0.75).abs() < 1e-15);
}

/// A sparse attack of which every entry has few candidates, and a third of the codes belong to nobody.
#[test]
fn many_entries_and_more_codes() {
    let control = Control::new();
    let (rows, columns) = (600u32, 900u32);
    let edges = (0..rows).flat_map(|row| {
        (0..4).map(move |step| (row, (row / 2 * 3 + step) % columns, 1.0 / f64::from(1 + step)))
    });
    let matrix = Matrix::sparse(rows as usize, columns as usize, edges.collect()).unwrap();
    let known: Vec<Option<u32>> = (0..rows)
        .map(|row| Some((row / 2 * 3 + row % 2) % columns))
        .collect();
    let exact = Exact::new(&matrix, &control).unwrap();
    assert!(
        exact.is_possible() && exact.seconds() < 0.1,
        "{}",
        exact.seconds()
    );
    let truth = truth(&matrix, &known);
    let found = estimate(&matrix, &truth, &exactly(), &control).unwrap();
    let sampled = estimate(&matrix, &truth, &with(Method::Sample), &control).unwrap();
    assert!(sampled.lower.unwrap() < found.expected && found.expected < sampled.upper.unwrap());
    let bethe = estimate(&matrix, &truth, &with(Method::Bethe), &control).unwrap();
    assert!(
        (bethe.expected / found.expected - 1.0).abs() < 0.1,
        "{} {}",
        bethe.expected,
        found.expected
    );
    // Transposed, everything is the same.
    let edges = (0..rows as usize).flat_map(|row| {
        matrix
            .row(row)
            .map(move |(column, weight)| (column, row as u32, weight))
    });
    let other = Matrix::sparse(columns as usize, rows as usize, edges.collect()).unwrap();
    let mut inverse = vec![None; columns as usize];
    for (row, column) in (0..).zip(&known) {
        inverse[column.unwrap() as usize] = Some(row);
    }
    let other_truth = Truth::new(&other, inverse).unwrap();
    let transposed = estimate(&other, &other_truth, &exactly(), &control).unwrap();
    assert!((transposed.expected - found.expected).abs() < 1e-9);
    assert!((heuristic(&other, &other_truth) - heuristic(&matrix, &truth)).abs() < 1e-9);
    let sampled = estimate(&other, &other_truth, &with(Method::Sample), &control).unwrap();
    assert!((sampled.crack_probability.iter().sum::<f64>() - sampled.expected).abs() < 1e-9);
}

/// A dense attack with many more codes than entries costs 2 to the power of the entries, not of the codes.
#[test]
fn few_entries_and_many_codes() {
    let control = Control::new();
    let (rows, columns) = (12, 500);
    let weights: Vec<f64> = (0..rows * columns)
        .map(|cell| 1.0 + (cell * 7919 % 101) as f64)
        .collect();
    let matrix = Matrix::dense(rows, columns, &weights).unwrap();
    let exact = Exact::new(&matrix, &control).unwrap();
    assert!(exact.seconds() < 5.0, "{}", exact.seconds());
    let edges = exact.edge_probabilities(&control).unwrap();
    for row in 0..rows {
        let sum: f64 = edges.probability[matrix.edge_range(row)].iter().sum();
        assert!((sum - 1.0).abs() < 1e-11);
    }
    // Thousands of interchangeable entries and codes are counted by class.
    let ones = Matrix::dense(300, 1000, &vec![1.0; 300_000]).unwrap();
    let all: Vec<Option<u32>> = (0..300).map(Some).collect();
    let found = estimate(&ones, &truth(&ones, &all), &exactly(), &control).unwrap();
    assert!((found.expected - 0.3).abs() < 1e-9, "{}", found.expected);
}

#[test]
fn what_needs_a_square_matrix_says_so() {
    let control = Control::new();
    let matrix = Matrix::dense(2, 3, &[1.0; 6]).unwrap();
    let known = truth(&matrix, &[Some(0), Some(1)]);
    let sets = subset_cracks(
        &matrix,
        &known,
        &disclosure::attack::Subsets::OfSize(1),
        &exactly(),
        &control,
    );
    for refused in [
        normalise(&matrix, &control).unwrap_err(),
        flat_matrix(&matrix, &control).unwrap_err(),
        is_flat(&matrix, &control).unwrap_err(),
        nmape(&matrix, &control).unwrap_err(),
        sets.unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), "matrix: has 2 rows and 3 columns");
    }
    let impossible = Matrix::dense(3, 2, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]).unwrap();
    let problem = estimate(&impossible, &truth(&impossible, &[None; 3]), &exactly(), &control).unwrap_err();
    assert!(
        problem
            .to_string()
            .contains("every way to give all codes different entries"),
        "{problem}"
    );
    let part = truth(&matrix, &[Some(0), None]);
    assert!(matches!(
        matching_probability(&matrix, &part, &control),
        Err(Error::InvalidArgument {
            argument: "mapping",
            ..
        })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(29),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sums_are_those_of_the_definition(
        (rows, columns) in (1usize..6, 1usize..7),
        cells in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), (0..5u32).prop_map(f64::from), 0.0..1.0f64], 30),
    ) {
        let cells = &cells[..rows * columns];
        let control = Control::new();
        let matrix = Matrix::dense(rows, columns, cells).unwrap();
        let definition = Attack::rectangular(rows, columns, cells);
        let exact = Exact::new(&matrix, &control).unwrap();
        let permanent = exact.permanent(&control).unwrap();
        let bounds = ln_permanent_bounds(&matrix, &control).unwrap().unwrap();
        if definition.permanent == 0.0 {
            prop_assert!(!exact.is_possible());
            prop_assert_eq!(bounds, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            return Ok(());
        }
        let ln = definition.permanent.ln();
        prop_assert!((permanent.ln() - ln).abs() < 1e-11);
        prop_assert!(bounds.0 <= ln && ln <= bounds.1, "{:?} {}", bounds, ln);
        if cells.iter().all(|weight| weight.fract() == 0.0) {
            prop_assert_eq!(permanent.value(), definition.permanent);
        }
        let edges = exact.edge_probabilities(&control).unwrap();
        let bethe = edge_probabilities(&matrix, &with(Method::Bethe), &control).unwrap();
        let h = shares(&matrix);
        for row in 0..rows {
            for ((column, weight), edge) in matrix.row(row).zip(matrix.edge_range(row)) {
                let expected = definition.edge(row, column as usize);
                prop_assert!((edges.probability[edge] - expected).abs() <= edges.error + 1e-12);
                prop_assert!((0.0..=1.0 + 1e-9).contains(&bethe.probability[edge]));
                let total: f64 = match rows <= columns {
                    true => matrix.row(row).map(|(_, weight)| weight).sum(),
                    false => (0..rows).map(|row| matrix.weight(row, column)).sum(),
                };
                prop_assert!((h[edge] - weight / total).abs() < 1e-12);
            }
        }
        if definition.matchings.len() > 1 {
            let anonymity = degree_of_anonymity(&matrix, &control).unwrap();
            prop_assert!((anonymity - definition.anonymity()).abs() < 1e-9);
        }
        let unknown = vec![None; rows];
        let found = report(&matrix, Some(&truth(&matrix, &unknown)), &exactly(), &control).unwrap();
        prop_assert_eq!(found.entries.len(), rows);
    }
}

/// Random matchings have the distribution of the definition, also if columns or rows are left out.
#[test]
fn samples_are_those_of_the_definition() {
    for seed in 0..40 {
        let (rows, columns) = [(2, 4), (4, 2), (3, 4), (4, 3), (1, 3)][seed as usize % 5];
        let cells: Vec<f64> = (0..rows * columns)
            .map(|cell| ((cell * 31 + seed * 17) % 7) as f64)
            .collect();
        let (rows, columns) = (rows as usize, columns as usize);
        let definition = Attack::rectangular(rows, columns, &cells);
        if definition.permanent == 0.0 {
            continue;
        }
        let matrix = Matrix::dense(rows, columns, &cells).unwrap();
        let mapping = (0..rows as u32).map(|row| (row < columns as u32).then_some(row));
        let mapping: Vec<Option<u32>> = mapping.collect();
        let shares = (0..).zip(definition.crack_distribution(&mapping));
        let expected: f64 = shares.map(|(cracks, share)| f64::from(cracks) * share).sum();
        let settings = Settings {
            seed,
            ..with(Method::Sample)
        };
        let found = estimate(&matrix, &truth(&matrix, &mapping), &settings, &Control::new()).unwrap();
        assert!(
            (found.expected - expected).abs() <= 0.05 * expected.max(0.01),
            "{} {expected}",
            found.expected
        );
    }
}
