//! Tests of suppressions: compares their effect on all scores with the definition.

use crate::tables::{Table, a_table, assert_close, average, config, maximum};
use disclosure::Control;
use disclosure::inference::{
    Algorithm, Attribute, Remedies, RemedySettings, Settings, ThresholdSummary, remedies,
};
use proptest::prelude::*;
use std::time::Duration;

const QUASI: (f64, f64) = (1.0, 0.0);
const SENSITIVE: (f64, f64) = (0.0, 1.0);

fn found(table: &Table, settings: &Settings, threshold: f64, max_rows: usize) -> Remedies {
    let wanted = RemedySettings { threshold, max_rows };
    remedies(&table.packed(), settings, &wanted, &Control::new()).unwrap()
}

fn at_or_above(scores: &[f64], threshold: f64) -> u64 {
    let is_at_or_above = |score: &&f64| **score >= threshold * (1.0 - 1e-11);
    scores.iter().filter(is_at_or_above).count() as u64
}

fn assert_summary(summary: &ThresholdSummary, scores: &[f64], threshold: f64) {
    assert!(summary.exact);
    assert_eq!(summary.at_or_above, at_or_above(scores, threshold));
    assert_close(summary.average, average(scores));
    assert_close(summary.maximum, maximum(scores));
}

/// Suppresses a cell of a table. `row` does not mention attributes that change no score.
fn suppress(table: &mut Table, row: &[Attribute], attribute: Attribute) {
    let (set, cell) = (table.set(row), table.set(&[attribute]));
    assert_eq!(set & cell, cell);
    let matters = |x: &usize| table.weights[*x].likelihood > 0.0 || table.weights[*x].danger > 0.0;
    let relevant = table
        .attributes(u32::MAX)
        .filter(matters)
        .fold(0, |set, x| set | 1 << x);
    let place = table.rows.iter().position(|other| other & relevant == set);
    table.rows[place.unwrap()] &= !cell;
}

/// Three rows with ZIP code a have disease c. It is enough to suppress it in one of them.
#[test]
fn one_cell_helps_a_whole_group() {
    let weights = [QUASI, QUASI, SENSITIVE, SENSITIVE];
    let table = Table::of_words(&["ac", "ac", "ac", "bc", "bd"], &weights);
    let found = found(&table, &Settings::default(), 0.5, 10);
    assert_summary(&found.before, &[0.5, 0.5, 0.5, 0.0, 0.0], 0.5);
    assert!(found.done);
    assert_eq!(found.suppressions.len(), 1);
    assert_eq!(table.set(&found.suppressions[0].row), 0b101);
    assert_eq!(table.set(&[found.suppressions[0].attribute]), 0b100);
    assert_summary(&found.suppressions[0].after, &[0.0; 5], 0.5);
}

/// The larger group comes first. The other one needs another suppression.
#[test]
fn the_larger_group_comes_first() {
    let weights = [QUASI, QUASI, SENSITIVE, SENSITIVE];
    let table = Table::of_words(&["ac", "ac", "bd", "bd", "bd"], &weights);
    let one = found(&table, &Settings::default(), 0.5, 1);
    assert!(!one.done);
    assert_eq!(table.set(&[one.suppressions[0].attribute]), 0b1000);
    assert_summary(&one.suppressions[0].after, &[0.5, 0.5, 0.0, 0.0, 0.0], 0.5);
    let all = found(&table, &Settings::default(), 0.5, 2);
    assert!(all.done);
    assert_eq!(all.suppressions[0], one.suppressions[0]);
    assert_summary(&all.suppressions[1].after, &[0.0; 5], 0.5);
}

/// All rows have a, and it is known for certain. Once the first row lacks it, c of the other row follows from
/// a, so a second cell has to be suppressed.
#[test]
fn a_suppressed_cell_may_make_others_stand_out() {
    let table = Table::of_words(&["ab", "ac"], &[(1.0, 1.0); 3]);
    let found = found(&table, &Settings::default(), 0.5, 10);
    assert_summary(&found.before, &[0.5, 0.5], 0.5);
    assert_eq!(found.suppressions.len(), 2);
    assert_summary(&found.suppressions[0].after, &[0.0, 0.5], 0.5);
    assert_summary(&found.suppressions[1].after, &[0.0, 0.0], 0.5);
    assert!(found.done);
}

#[test]
fn tables_below_the_threshold_need_nothing() {
    let table = Table::of_words(&["ab", "ab"], &[QUASI, SENSITIVE]);
    let below = found(&table, &Settings::default(), 0.6, 10);
    assert!(below.done && below.suppressions.is_empty());
    assert_summary(&below.before, &[0.5, 0.5], 0.6);
    let empty = found(&Table::of_words(&[], &[QUASI]), &Settings::default(), 0.5, 10);
    assert!(empty.done && empty.suppressions.is_empty());
    let without_suppressions = found(&table, &Settings::default(), 0.5, 0);
    assert!(!without_suppressions.done && without_suppressions.suppressions.is_empty());
}

#[test]
fn the_threshold_is_a_score() {
    let packed = Table::of_words(&["a"], &[QUASI]).packed();
    for threshold in [0.0, -0.5, 1.1, f64::NAN] {
        let wanted = RemedySettings {
            threshold,
            max_rows: 1,
        };
        let error = remedies(&packed, &Settings::default(), &wanted, &Control::new()).unwrap_err();
        assert_eq!(error.to_string(), "threshold: must be more than 0 and at most 1");
    }
}

#[test]
fn cancelling_ends_it() {
    let control = Control::new();
    control.cancel();
    let packed = Table::of_words(&["ab", "ac"], &[(1.0, 1.0); 3]).packed();
    let wanted = RemedySettings::default();
    assert!(remedies(&packed, &Settings::default(), &wanted, &control).is_err());
}

/// Makes all proposed suppressions, one by one, and compares every summary with the definition.
fn check(table: &Table, settings: &Settings, threshold: f64, max_rows: usize) {
    let found = found(table, settings, threshold, max_rows);
    let mut table = table.clone();
    let mut scores = table.scores(settings.constant, settings.min_confidence);
    assert_summary(&found.before, &scores, threshold);
    assert!(found.suppressions.len() <= max_rows);
    if found.before.at_or_above == 0 {
        assert!(found.suppressions.is_empty());
    }
    let mut before = found.before;
    for suppression in &found.suppressions {
        suppress(&mut table, &suppression.row, suppression.attribute);
        scores = table.scores(settings.constant, settings.min_confidence);
        let after = suppression.after;
        assert_summary(&after, &scores, threshold);
        assert!((after.at_or_above, after.average) < (before.at_or_above, before.average));
        before = after;
    }
    assert_eq!(found.done, at_or_above(&scores, threshold) == 0);
}

fn a_threshold() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.5), Just(0.25), Just(0.1), Just(0.01), Just(0.7)]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn summaries_are_as_defined(
        table in a_table(), threshold in a_threshold(), max_rows in prop_oneof![Just(100), 0usize..4],
        constant in prop_oneof![Just(1.0), Just(0.1)],
        algorithm in prop_oneof![Just(Algorithm::Automatic), Just(Algorithm::Together), Just(Algorithm::RowByRow)],
    ) {
        check(&table, &Settings { constant, algorithm, ..Settings::default() }, threshold, max_rows);
    }

    #[test]
    fn summaries_are_as_defined_for_shares(
        table in a_table(), threshold in a_threshold(), min_confidence in prop_oneof![Just(0.75), Just(0.4)],
    ) {
        check(&table, &Settings { min_confidence, ..Settings::default() }, threshold, 100);
    }

    #[test]
    fn without_time_summaries_are_bounds(table in a_table(), threshold in a_threshold()) {
        let settings = Settings { budget: Some(Duration::ZERO), ..Settings::default() };
        let mut edited = table.clone();
        for suppression in found(&table, &settings, threshold, 100).suppressions {
            suppress(&mut edited, &suppression.row, suppression.attribute);
            let scores = edited.scores(1.0, 1.0);
            prop_assert!(suppression.after.at_or_above >= at_or_above(&scores, threshold));
            prop_assert!(suppression.after.average >= average(&scores) - 1e-9);
            prop_assert!(suppression.after.maximum >= maximum(&scores) - 1e-9);
            if suppression.after.exact {
                assert_summary(&suppression.after, &scores, threshold);
            }
        }
    }

    #[test]
    fn threads_change_nothing(table in a_table(), threshold in a_threshold()) {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| found(&table, &Settings::default(), threshold, 100))
        };
        prop_assert_eq!(with(1), with(4));
    }
}
