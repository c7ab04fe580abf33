//! Tests of decoys: compares their effect on all scores with the definition.

use crate::tables::{Table, a_table, assert_close, average, config, maximum};
use disclosure::Control;
use disclosure::inference::{Decoy, OriginalRowsSummary, Settings, decoys};
use proptest::prelude::*;
use std::time::Duration;

const QUASI: (f64, f64) = (1.0, 0.0);
const SENSITIVE: (f64, f64) = (0.0, 1.0);

fn found(table: &Table, settings: &Settings, max_rows: usize) -> Vec<Decoy> {
    decoys(&table.packed(), settings, max_rows, &Control::new()).unwrap()
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
    fn decoys_fill_holes_and_help(table in a_table(), constant in prop_oneof![Just(1.0), Just(0.1)]) {
        let settings = Settings { constant, ..Settings::default() };
        let mut with_decoys = table.clone();
        let mut before = table.scores(constant, 1.0);
        let found = found(&table, &settings, 3);
        prop_assert!(found.len() <= 3);
        for decoy in found {
            let hole = table.set(&decoy.attributes);
            prop_assert!(with_decoys.is_hole(hole));
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
