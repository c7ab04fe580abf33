//! Tests of decoys: compares their effect on all scores with the definition.

use crate::tables::{Table, a_table, assert_close, average, config, maximum};
use disclosure::Control;
use disclosure::inference::{Decoy, DecoyMethod, DecoySettings, OriginalRowsSummary, Settings, decoys};
use proptest::prelude::*;
use std::time::Duration;

const QUASI: (f64, f64) = (1.0, 0.0);
const SENSITIVE: (f64, f64) = (0.0, 1.0);

fn found(table: &Table, settings: &Settings, max_rows: usize) -> Vec<Decoy> {
    let wanted = DecoySettings {
        method: DecoyMethod::Add,
        max_rows,
        columns_to_fill: Vec::new(),
    };
    decoys(&table.packed(), settings, &wanted, &Control::new()).unwrap()
}

fn completed(table: &Table, settings: &Settings, max_rows: usize) -> Vec<Decoy> {
    let wanted = DecoySettings {
        method: DecoyMethod::Complete,
        max_rows,
        columns_to_fill: Vec::new(),
    };
    decoys(&table.packed(), settings, &wanted, &Control::new()).unwrap()
}

fn assert_summary(summary: &OriginalRowsSummary, scores: &[f64]) {
    assert!(summary.exact);
    assert_eq!(summary.rows, scores.len() as u64);
    assert_close(summary.average, average(scores));
    assert_close(summary.maximum, maximum(scores));
}

/// White, Example 6.3: three triangles surround the hole ABC.
#[test]
fn a_hole_between_three_rows() {
    let weights = [QUASI, QUASI, QUASI, SENSITIVE, SENSITIVE, SENSITIVE];
    let table = Table::of_words(&["abd", "ace", "bcf"], &weights);
    let found = found(&table, &Settings::default(), 5);
    assert_eq!(found.len(), 1);
    assert_eq!(table.set(&found[0].attributes), 0b111);
    assert_summary(&found[0].before, &[0.5; 3]);
    assert_summary(&found[0].after, &[0.0; 3]);
}

/// ab ⟹ e can be broken by the decoy abf, because af and bf occur in other rows. These score 0 already.
#[test]
fn the_other_diagnosis() {
    let weights = [QUASI, QUASI, QUASI, QUASI, SENSITIVE, SENSITIVE];
    let table = Table::of_words(&["abe", "abe", "adf", "ade", "cbf", "cbe"], &weights);
    let found = found(&table, &Settings::default(), 5);
    assert_eq!(found.len(), 1);
    assert_eq!(table.set(&found[0].attributes), 0b100011);
    assert_summary(&found[0].before, &[0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_summary(&found[0].after, &[0.0; 6]);
}

/// Somebody has zip 1 and is f, but the combination is still a decoy: (1, f, ill), (1, m), (2, f).
#[test]
fn a_combination_that_somebody_has() {
    let weights = [QUASI, QUASI, QUASI, QUASI, SENSITIVE];
    let mut table = Table::of_words(&["ace", "ad", "bc"], &weights);
    table.columns = vec![(0, false), (2, false), (4, false)];
    let found = found(&table, &Settings::default(), 5);
    assert_eq!(found.len(), 1);
    assert_eq!(table.set(&found[0].attributes), 0b101);
    assert_summary(&found[0].before, &[0.5, 0.0, 0.0]);
    assert_summary(&found[0].after, &[0.0; 3]);
}

/// The same with values instead of booleans: (1, f, e), (1, m, f) and (2, f, e). The row (1, f) without a diagnosis
/// would be a decoy, but NULL tells nothing. With (2, f, f), the row (1, f, f) is one.
#[test]
fn a_decoy_has_sensitive_values() {
    let weights = [QUASI, QUASI, QUASI, QUASI, SENSITIVE, SENSITIVE];
    let found = |rows: &[&str], columns_to_fill: &[u32]| -> Vec<u32> {
        let mut table = Table::of_words(rows, &weights);
        table.columns = vec![(0, false), (2, false), (4, false)];
        let wanted = DecoySettings {
            method: DecoyMethod::Add,
            max_rows: 1,
            columns_to_fill: columns_to_fill.to_vec(),
        };
        let found = decoys(&table.packed(), &Settings::default(), &wanted, &Control::new()).unwrap();
        found.iter().map(|decoy| table.set(&decoy.attributes)).collect()
    };
    assert_eq!(found(&["ace", "adf", "bce"], &[]), [0b000101]);
    assert!(found(&["ace", "adf", "bce"], &[0, 1, 2]).is_empty());
    assert_eq!(found(&["ace", "adf", "bcf"], &[0, 1, 2]), [0b100101]);
}

/// White, Example 6.3, option 1: one of the three gets the attributes A, B and C. The row has to lie within the
/// hole, so there is one more with A only. The rows DAB and so on then tell nothing about D any more.
#[test]
fn a_row_is_completed() {
    let weights = [QUASI, QUASI, QUASI, SENSITIVE, SENSITIVE, SENSITIVE];
    let table = Table::of_words(&["abd", "ace", "bcf", "a"], &weights);
    let found = completed(&table, &Settings::default(), 5);
    assert_eq!(found.len(), 1);
    assert_eq!(table.set(&found[0].attributes), 0b111);
    assert_eq!(table.set(found[0].completes.as_ref().unwrap()), 0b1);
    assert_summary(&found[0].before, &[0.5, 0.5, 0.5, 0.0]);
    assert_summary(&found[0].after, &[0.0; 4]);
    assert_eq!(found[0].rows_raised, 0);
    // Nobody's attributes lie within the hole.
    let without = Table::of_words(&["abd", "ace", "bcf"], &weights);
    assert!(completed(&without, &Settings::default(), 5).is_empty());
}

/// The best average that one decoy can leave, by trying all sets of attributes.
fn best_average(table: &Table) -> f64 {
    let all = (1 << table.weights.len()) - 1;
    let averages = reference::inference::subsets(all)
        .filter(|&set| table.is_decoy(set))
        .map(|set| {
            let mut with = table.clone();
            with.rows.push(set);
            average(&with.scores(1.0, 1.0)[..table.rows.len()])
        });
    averages.fold(f64::INFINITY, f64::min)
}

/// On random tables of booleans, decoys are offered wherever one helps. They were not in 83 % of these tables.
#[test]
fn a_decoy_is_offered_if_one_helps() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let label = || prop_oneof![Just(QUASI), Just(SENSITIVE), Just((1.0, 1.0)), Just((0.5, 0.5))];
    let weights = prop_oneof![Just(vec![(1.0, 1.0); 5]), prop::collection::vec(label(), 5)];
    let tables = (prop::collection::vec(0_u32..32, 2..=7), weights);
    let (mut helped, mut missed, mut best, mut offered) = (0, 0, 0.0, 0.0);
    for _ in 0..3_000 {
        let (rows, weights) = tables.new_tree(&mut runner).unwrap().current();
        let mut table = Table::of_words(&[], &weights);
        table.rows = rows;
        table.columns = (0..5).map(|column| (column, false)).collect();
        let before = average(&table.scores(1.0, 1.0));
        let least = best_average(&table);
        let found = found(&table, &Settings::default(), 1);
        if least < before - 1e-9 {
            helped += 1;
            missed += usize::from(found.is_empty());
            best += before - least;
            offered += before - found.first().map_or(before, |decoy| decoy.after.average);
        }
    }
    println!("a decoy helps in {helped} tables, and is missed in {missed}; {offered} instead of {best}");
    assert!(helped > 500 && missed == 0 && offered > 0.95 * best);
}

#[test]
fn nothing_to_fill() {
    assert!(found(&Table::of_words(&[], &[QUASI]), &Settings::default(), 5).is_empty());
    // There is only one row, so there are no holes.
    let alone = Table::of_words(&["ab"], &[QUASI, SENSITIVE]);
    assert!(found(&alone, &Settings::default(), 5).is_empty());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn decoys_help_and_raise_no_score(table in a_table(), constant in prop_oneof![Just(1.0), Just(0.1)]) {
        let settings = Settings { constant, ..Settings::default() };
        let mut with_decoys = table.clone();
        let mut before = table.scores(constant, 1.0);
        let found = found(&table, &settings, 3);
        prop_assert!(found.len() <= 3);
        for decoy in found {
            let hole = table.set(&decoy.attributes);
            prop_assert!(with_decoys.is_decoy(hole) && !with_decoys.rows.contains(&hole));
            prop_assert!(decoy.completes.is_none());
            prop_assert_eq!(decoy.rows_raised, 0);
            for &(start, is_set) in &table.columns {
                let end = table.columns.iter().map(|column| column.0).find(|&other| other > start);
                let column = !0 << start & !(!0u32).checked_shl(end.unwrap_or(32)).unwrap_or(0);
                prop_assert!(is_set || (hole & column).count_ones() <= 1);
            }
            with_decoys.rows.push(hole);
            let mut after = with_decoys.scores(constant, 1.0);
            // White, Theorem 6.5: decoys score 0, and no other score rises.
            prop_assert!(after.drain(table.rows.len()..).all(|score| score == 0.0));
            prop_assert!(after.iter().zip(&before).all(|(after, before)| *after <= before + 1e-9));
            assert_summary(&decoy.before, &before);
            assert_summary(&decoy.after, &after);
            prop_assert!(decoy.after.average < decoy.before.average);
            before = after;
        }
    }

    #[test]
    fn completed_rows_help(table in a_table(), constant in prop_oneof![Just(1.0), Just(0.1)]) {
        let settings = Settings { constant, ..Settings::default() };
        let mut edited = table.clone();
        let mut before = table.scores(constant, 1.0);
        for decoy in completed(&table, &settings, 3) {
            let (set, completes) = (table.set(&decoy.attributes), table.set(&decoy.completes.unwrap()));
            prop_assert!(edited.is_decoy(set) && completes & !set == 0 && completes != set);
            let matters = |x: &usize| table.weights[*x].likelihood > 0.0 || table.weights[*x].danger > 0.0;
            let relevant = table.attributes(u32::MAX).filter(matters).fold(0, |set, x| set | 1 << x);
            let place = edited.rows.iter().position(|row| row & relevant == completes).unwrap();
            edited.rows[place] |= set;
            let after = edited.scores(constant, 1.0);
            assert_summary(&decoy.before, &before);
            assert_summary(&decoy.after, &after);
            prop_assert!(decoy.after.average < decoy.before.average);
            let raised = after.iter().zip(&before).filter(|(after, before)| **after > **before + 1e-9).count();
            prop_assert_eq!(decoy.rows_raised, raised as u64);
            before = after;
        }
    }

    #[test]
    fn figures_are_true_for_shares_too(table in a_table(), min_confidence in prop_oneof![Just(0.75), Just(0.4)]) {
        let settings = Settings { min_confidence, ..Settings::default() };
        let mut with_decoys = table.clone();
        for decoy in found(&table, &settings, 2) {
            let scores = with_decoys.scores(1.0, min_confidence);
            assert_summary(&decoy.before, &scores[..table.rows.len()]);
            with_decoys.rows.push(table.set(&decoy.attributes));
            let scores = with_decoys.scores(1.0, min_confidence);
            assert_summary(&decoy.after, &scores[..table.rows.len()]);
        }
    }

    #[test]
    fn without_time_figures_are_bounds(table in a_table()) {
        let settings = Settings { budget: Some(Duration::ZERO), ..Settings::default() };
        let mut with_decoys = table.clone();
        for decoy in found(&table, &settings, 3) {
            with_decoys.rows.push(table.set(&decoy.attributes));
            let scores = with_decoys.scores(1.0, 1.0);
            let scores = &scores[..table.rows.len()];
            prop_assert!(decoy.after.average >= average(scores) - 1e-9);
            prop_assert!(decoy.after.maximum >= maximum(scores) - 1e-9);
            if decoy.after.exact {
                assert_summary(&decoy.after, scores);
            }
        }
    }

    #[test]
    fn threads_change_nothing(table in a_table()) {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| found(&table, &Settings::default(), 3))
        };
        prop_assert_eq!(with(1), with(4));
    }
}
