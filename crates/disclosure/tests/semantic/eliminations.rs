//! Tests of eliminations against the figures of Ong 2015, as verified, and against the definitions.

use disclosure::semantic::{
    DistanceTable, Eliminations, Method, Strategy as AttackStrategy, Threshold, Vulnerability, eliminate,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::semantic::attack;

/// Returns the table of Fig. 3.6: contexts C1 to C4 in rows; blood pressure, icd, limbs and injury in
/// columns.
fn fig_3_6() -> DistanceTable {
    let distances = [
        0.56, 0.78, 1.57, 2.19, //
        1.75, 0.58, 1.74, 1.53, //
        2.60, 2.93, 1.78, 1.49, //
        1.60, 1.51, 1.89, 1.03,
    ];
    DistanceTable::new(4, distances.to_vec()).unwrap()
}

fn strategy(method: Method, threshold: Threshold) -> AttackStrategy {
    AttackStrategy {
        method,
        threshold,
        vulnerability: Vulnerability::Gap,
        seed: 1,
    }
}

fn run(table: &DistanceTable, strategy: &AttackStrategy) -> Eliminations {
    eliminate(table, strategy, &Control::new()).unwrap()
}

/// Eliminates, and checks that the definition gives the same result.
fn run_both(table: &DistanceTable, strategy: &AttackStrategy) -> Eliminations {
    let found = run(table, strategy);
    assert_eq!(found, attack(table, strategy).found);
    found
}

/// Returns the eliminated cells in order, such as "3 icd".
fn names(found: &Eliminations) -> Vec<String> {
    let name = |column: u32| ["bp", "icd", "limbs", "injury"][column as usize];
    let cells = found.cells.iter();
    cells
        .map(|cell| format!("{} {}", cell.row + 1, name(cell.column)))
        .collect()
}

fn scores(found: &Eliminations) -> Vec<f64> {
    let rounded = |score: f64| (score * 1000.0).round() / 1000.0;
    found
        .cells
        .iter()
        .map(|cell| rounded(cell.score.unwrap()))
        .collect()
}

fn is_close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 5e-5)
}

#[test]
fn mda_of_fig_4_1() {
    let found = run_both(&fig_3_6(), &strategy(Method::Mda, Threshold::Mean(1.0)));
    assert_eq!(names(&found), ["3 icd"]);
    assert_eq!(found.threshold, None);
    assert_eq!(scores(&found), [2.93]);
}

#[test]
fn tba_of_fig_4_3() {
    let found = run_both(&fig_3_6(), &strategy(Method::Tba, Threshold::Absolute(1.6)));
    let expected = [
        "3 icd", "3 bp", "1 injury", "4 limbs", "3 limbs", "2 bp", "2 limbs",
    ];
    assert_eq!(names(&found), expected);
    assert_eq!(found.threshold, Some(1.6));
    let mean = run_both(&fig_3_6(), &strategy(Method::Tba, Threshold::Mean(1.0)));
    assert!(is_close(mean.threshold, 1.595625));
    assert_eq!(mean.cells.len(), 8);
}

#[test]
fn wba_of_section_4_3() {
    let found = run_both(&fig_3_6(), &strategy(Method::Wba, Threshold::Mean(1.0)));
    assert!(is_close(found.threshold, 0.8975));
    assert_eq!(names(&found), ["3 icd", "3 bp", "1 injury", "4 limbs"]);
}

#[test]
fn gba_of_figs_4_11_and_4_12() {
    let found = run_both(&fig_3_6(), &strategy(Method::Gba, Threshold::Mean(1.0)));
    assert!(is_close(found.threshold, 0.4451));
    assert_eq!(names(&found), ["3 icd", "3 bp", "2 limbs", "2 bp", "1 injury"]);
    assert_eq!(scores(&found), [0.799, 0.585, 0.571, 0.507, 0.653]);
}

#[test]
fn rba_of_figs_4_15_to_4_17() {
    let table = fig_3_6();
    let strategy = strategy(Method::Rba, Threshold::Mean(1.0));
    let found = run_both(&table, &strategy);
    assert!(is_close(found.threshold, 0.4451));
    let expected = [
        "3 icd", "3 bp", "2 bp", "4 bp", "2 limbs", "2 injury", "1 injury", "1 limbs", "4 limbs", "4 icd",
    ];
    assert_eq!(names(&found), expected);
    let left = [
        ((0, 0), 0.0),
        ((0, 1), 0.2),
        ((1, 1), 0.0),
        ((2, 2), 0.0),
        ((2, 3), 0.37),
        ((3, 3), 0.0),
    ];
    let attack = attack(&table, &strategy);
    for (cell, expected) in left {
        let weighted = attack.weighted_by_cell(cell);
        assert!(
            (weighted - expected).abs() < 0.006,
            "{cell:?}: {weighted} is not {expected}"
        );
    }
}

#[test]
fn normalised_vulnerability_of_section_4_4() {
    // Row C1 alone: 0.44 / (1.23 - 0.32) in Fig. 4.7(c), because in a table of equal rows, no column has a
    // gap.
    let row = [0.56, 0.78, 1.57, 2.19];
    let table = DistanceTable::new(4, row.repeat(4)).unwrap();
    let normalised = AttackStrategy {
        vulnerability: Vulnerability::Normalised,
        ..strategy(Method::Gba, Threshold::Absolute(0.45))
    };
    assert!(is_close(
        run_both(&table, &normalised).cells[0].score,
        0.79 / 1.63
    ));
}

#[test]
fn no_cell_may_be_eliminated() {
    let tables = [
        (0, vec![]),
        (3, vec![]),
        (1, vec![1.0]),
        (1, vec![1.0, 2.0]),
        (2, vec![1.0, 2.0]),
        (2, vec![-1.0, f64::NAN, -0.5, -2.0]),
    ];
    for (columns, distances) in tables {
        let table = DistanceTable::new(columns, distances).unwrap();
        for method in ALL {
            let found = run(&table, &strategy(method, Threshold::Absolute(-1.0)));
            assert_eq!(
                found,
                Eliminations {
                    threshold: None,
                    cells: vec![]
                }
            );
        }
    }
}

#[test]
fn thresholds_are_numbers() {
    let of = |threshold| match eliminate(&fig_3_6(), &strategy(Method::Tba, threshold), &Control::new()) {
        Err(Error::InvalidArgument { argument, .. }) => Some(argument),
        _ => None,
    };
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(of(Threshold::Absolute(wrong)), Some("threshold"));
        assert_eq!(of(Threshold::Mean(wrong)), Some("threshold_ratio"));
    }
    assert_eq!(of(Threshold::Mean(-0.5)), Some("threshold_ratio"));
    assert_eq!(of(Threshold::Mean(0.0)), None);
    assert_eq!(of(Threshold::Absolute(-0.5)), None);
}

#[test]
fn a_cancel_is_noticed() {
    let control = Control::new();
    control.cancel();
    for method in [Method::Tba, Method::Wba, Method::Gba, Method::Rba] {
        let found = eliminate(&fig_3_6(), &strategy(method, Threshold::Mean(1.0)), &control);
        assert_eq!(found, Err(Error::Cancelled));
    }
}

#[test]
fn random_attacks_eliminate_as_many_as_coins_say() {
    let distances = (0..400).map(f64::from).collect();
    let table = DistanceTable::new(20, distances).unwrap();
    let eliminated = |seed| {
        let found = run(
            &table,
            &AttackStrategy {
                seed,
                ..strategy(Method::Random, Threshold::Mean(1.0))
            },
        );
        found.cells.len() as f64
    };
    // The number of attempts is uniform between 0 and the number of cells, and half of the coins say yes.
    // Hardly any cell is the last of its row or column.
    let mean = (0..1000).map(eliminated).sum::<f64>() / 1000.0;
    assert!((90.0..110.0).contains(&mean), "{mean}");
}

const ALL: [Method; 6] = [
    Method::Random,
    Method::Mda,
    Method::Tba,
    Method::Wba,
    Method::Gba,
    Method::Rba,
];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates tables of few values, so that there are ties; of any values; of negative and unknown ones among
/// others; and of equal rows.
fn distances() -> impl Strategy<Value = DistanceTable> {
    let ties = prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(2.0), Just(0.1), Just(2.5)];
    let any = prop_oneof![3 => 0.0..3.0f64, 1 => 0.999..1.001f64];
    let unreliable = prop_oneof![8 => 0.0..3.0f64, 1 => -1.0..0.0f64, 1 => Just(f64::NAN)];
    let unreliable_ties = prop_oneof![Just(1.0), Just(2.0), Just(-1.0), Just(f64::NAN)];
    (1..=9usize, 1..=9usize).prop_flat_map(move |(rows, columns)| {
        let cells = rows * columns;
        let kinds = prop_oneof![
            prop::collection::vec(ties.clone(), cells),
            prop::collection::vec(any.clone(), cells),
            prop::collection::vec(unreliable.clone(), cells),
            prop::collection::vec(unreliable_ties.clone(), cells),
            // Equal rows.
            prop::collection::vec(0.0..3.0f64, columns).prop_map(move |row| row.repeat(rows)),
        ];
        kinds.prop_map(move |distances| DistanceTable::new(columns, distances).unwrap())
    })
}

fn strategies() -> impl Strategy<Value = AttackStrategy> {
    let threshold = prop_oneof![
        (0.0..2.0).prop_map(Threshold::Mean),
        Just(Threshold::Mean(0.0)),
        (-1.0..2.0).prop_map(Threshold::Absolute),
        Just(Threshold::Absolute(0.0)),
    ];
    let vulnerability = prop_oneof![Just(Vulnerability::Gap), Just(Vulnerability::Normalised)];
    (
        prop::sample::select(&ALL[..]),
        threshold,
        vulnerability,
        any::<u64>(),
    )
        .prop_map(|(method, threshold, vulnerability, seed)| AttackStrategy {
            method,
            threshold,
            vulnerability,
            seed,
        })
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn eliminations_are_those_of_the_definition(table in distances(), strategy in strategies()) {
        if strategy.method != Method::Random {
            prop_assert_eq!(run(&table, &strategy), attack(&table, &strategy).found);
        }
    }

    #[test]
    fn every_row_and_column_keeps_an_item(table in distances(), strategy in strategies()) {
        let found = run(&table, &strategy);
        let mut left = vec![vec![true; table.columns()]; table.rows()];
        for cell in &found.cells {
            let (row, column) = (cell.row as usize, cell.column as usize);
            prop_assert!(table.is_reliable(row, column));
            prop_assert!(std::mem::take(&mut left[row][column]), "eliminated twice");
            if let (Some(score), Some(threshold)) = (cell.score, found.threshold) {
                prop_assert!(score > threshold);
            }
        }
        prop_assert!(left.iter().all(|row| row.contains(&true)));
        prop_assert!((0..table.columns()).all(|column| left.iter().any(|row| row[column])));
        prop_assert_eq!(run(&table, &strategy), found);
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn large_tables_are_as_small_ones(
        distances in prop::collection::vec(0.0..3.0f64, 480),
        columns in prop::sample::select(&[4, 12, 40, 120][..]),
        strategy in strategies(),
    ) {
        let table = DistanceTable::new(columns, distances).unwrap();
        if strategy.method != Method::Random {
            prop_assert_eq!(run(&table, &strategy), attack(&table, &strategy).found);
        }
    }
}
