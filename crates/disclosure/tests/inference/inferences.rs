//! Compares the inferences of a table with their definition.

use crate::tables::Table;
use disclosure::inference::{
    Algorithm, Attribute, Inference, InferenceListSettings, Inferences, Settings, inferences,
};
use disclosure::{Control, Weights};
use proptest::prelude::*;
use reference::inference::Inference as Expected;
use std::time::Duration;

fn find(table: &Table, settings: &Settings, min_weight: f64, max_rows: usize) -> Inferences {
    let wanted = InferenceListSettings {
        min_weight,
        max_rows,
        ..InferenceListSettings::default()
    };
    inferences(&table.packed(), settings, &wanted, None, &Control::new()).unwrap()
}

fn assert_same(table: &Table, found: &Inferences, expected: &[Expected]) {
    assert!(found.complete);
    let known = |inference: &Expected| inference.known.iter().map(|&x| table.attribute(x)).collect();
    let found_known: Vec<_> = found
        .inferences
        .iter()
        .map(|inference| inference.known.clone())
        .collect();
    assert_eq!(found_known, expected.iter().map(known).collect::<Vec<Vec<_>>>());
    for (found, expected) in found.inferences.iter().zip(expected) {
        assert!((found.weight() - expected.weight).abs() <= 1e-12);
        assert_eq!(found.support, expected.support);
        let inferred: Vec<_> = found
            .inferred
            .iter()
            .map(|y| (y.attribute, y.confidence))
            .collect();
        let expected = expected
            .inferred
            .iter()
            .map(|&(x, confidence)| (table.attribute(x), confidence));
        assert_eq!(inferred, expected.collect::<Vec<_>>());
    }
}

fn words(inferences: &Inferences) -> Vec<String> {
    let letter = |x: &Attribute| char::from(b'a' + x.index as u8);
    let inference = |inference: &Inference| {
        let known: String = inference.known.iter().map(letter).collect();
        let inferred: String = inference.inferred.iter().map(|y| letter(&y.attribute)).collect();
        format!("{known}>{inferred}")
    };
    inferences.inferences.iter().map(inference).collect()
}

const CERTAIN: Settings = Settings {
    constant: 1.0,
    min_confidence: 1.0,
    joint_confidence: false,
    budget: None,
    algorithm: Algorithm::Automatic,
};

#[test]
fn an_intersection_infers_itself() {
    // White, Example 6.2: A ⇒ B and B ⇒ A. Here all rows have both.
    let table = Table::of_words(&["abc", "abd"], &[(1.0, 1.0); 4]);
    assert_eq!(words(&find(&table, &CERTAIN, 0.0, 10)), [">ab", "c>ab", "d>ab"]);
    assert_eq!(words(&find(&table, &CERTAIN, 0.0, 2)), [">ab", "c>ab"]);
    assert_eq!(words(&find(&table, &CERTAIN, 2.0 / 3.0, 10)).len(), 3);
    assert!(find(&table, &CERTAIN, 0.7, 10).inferences.is_empty());
    // If another row has only B, there is an inference from A, and A is no longer inferred from nothing.
    let table = Table::of_words(&["abc", "abd", "b"], &[(1.0, 1.0); 4]);
    assert_eq!(
        words(&find(&table, &CERTAIN, 0.0, 10)),
        ["c>ab", "d>ab", ">b", "a>b"]
    );
}

/// White, Example 4.13: the other rows lack ab, bc, bdf and ef of the first row. Everything about the first
/// row is inferred from the minimal sets that meet each of these.
#[test]
fn minimal_sets_that_infer_everything() {
    let table = Table::of_words(&["abcdef", "cdef", "adef", "ace", "abcd"], &[(1.0, 1.0); 6]);
    let inferences = find(&table, &CERTAIN, 0.0, 100);
    let everything = |inference: &&String| inference.len() == "abcdef>".len();
    let mut known: Vec<String> = words(&inferences).iter().filter(everything).cloned().collect();
    known.sort();
    assert_eq!(known, ["acde>bf", "acf>bde", "be>acdf", "bf>acde"]);
}

#[test]
fn shares_of_rows_count_where_they_suffice() {
    let table = Table::of_words(&["ab", "ac", "ab"], &[(1.0, 1.0); 3]);
    let settings = Settings {
        min_confidence: 0.3,
        ..CERTAIN
    };
    let found = find(&table, &settings, 0.0, 1);
    assert_eq!(words(&found), [">abc"]);
    assert!((found.inferences[0].weight() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn nothing_asked_for_and_nothing_there() {
    let table = Table::of_words(&["ab"], &[(1.0, 1.0); 2]);
    assert_eq!(find(&table, &CERTAIN, 0.0, 0).inferences, []);
    let empty = Table::of_words(&[], &[(1.0, 1.0); 2]);
    assert!(find(&empty, &CERTAIN, 0.0, 5).complete);
}

#[test]
fn weights_are_between_0_and_1() {
    let table = Table::of_words(&["ab"], &[(1.0, 1.0); 2]);
    for min_weight in [-0.1, 1.1, f64::NAN] {
        let wanted = InferenceListSettings {
            min_weight,
            ..InferenceListSettings::default()
        };
        let error = inferences(&table.packed(), &CERTAIN, &wanted, None, &Control::new()).unwrap_err();
        assert_eq!(error.to_string(), "min_weight: must be a number from 0 to 1");
    }
}

#[test]
fn without_time_it_says_so_and_cancelling_is_an_error() {
    let table = Table::of_words(&["abc", "abd", "b"], &[(1.0, 1.0); 4]);
    let settings = Settings {
        budget: Some(Duration::ZERO),
        ..CERTAIN
    };
    assert!(!find(&table, &settings, 0.0, 10).complete);
    let control = Control::new();
    control.cancel();
    let wanted = InferenceListSettings::default();
    assert!(inferences(&table.packed(), &CERTAIN, &wanted, None, &control).is_err());
}

fn weights() -> impl Strategy<Value = Weights> {
    let weight = || prop_oneof![2 => Just(0.0), 3 => Just(1.0), 4 => (0u32..=20).prop_map(|weight| f64::from(weight) / 20.0)];
    (weight(), weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger })
}

fn of_column(values: usize) -> impl Strategy<Value = Vec<Weights>> {
    let quasi_identifier = Weights {
        likelihood: 1.0,
        danger: 0.0,
    };
    let sensitive = Weights {
        likelihood: 0.0,
        danger: 1.0,
    };
    prop_oneof![
        Just(vec![quasi_identifier; values]),
        Just(vec![sensitive; values]),
        Just(vec![Weights::UNLABELLED; values]),
        prop::collection::vec(weights(), values)
    ]
}

pub fn a_table() -> impl Strategy<Value = Table> {
    let sets = (1usize..=7).prop_flat_map(|elements| {
        let rows = prop::collection::vec(0u32..1 << elements, 0..12);
        (rows, of_column(elements))
            .prop_map(|(rows, weights)| Table::of_sets(reference::inference::Table { rows, weights }))
    });
    let columns = prop::collection::vec((1u32..=4, 0u32..=1), 1..=5).prop_flat_map(|columns| {
        let codes: Vec<_> = columns.iter().map(|&(values, first)| first..=values).collect();
        let weights: Vec<_> = columns
            .iter()
            .map(|&(values, _)| of_column(values as usize))
            .collect();
        (prop::collection::vec(codes, 0..25), weights)
            .prop_map(|(rows, weights)| Table::of_codes(&rows, &weights))
    });
    prop_oneof![sets, columns]
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2021),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn inferences_are_as_defined(
        table in a_table(),
        constant in prop_oneof![Just(1.0), Just(0.1), Just(7.5)],
        min_confidence in prop_oneof![3 => Just(1.0), 1 => Just(0.9), 1 => Just(0.6), 1 => Just(0.3), 1 => Just(0.01)],
        max_rows in prop_oneof![Just(usize::MAX), 1usize..30],
        threshold in any::<prop::sample::Index>(),
    ) {
        let settings = Settings { constant, min_confidence, ..CERTAIN };
        let all = table.inferences(constant, min_confidence, 0.0);
        assert_same(&table, &find(&table, &settings, 0.0, max_rows), &all[..max_rows.min(all.len())]);
        if !all.is_empty() {
            // `min_weight` is exactly the weight of an inference, which has to be included.
            let min_weight = threshold.get(&all).weight;
            let heavy = table.inferences(constant, min_confidence, min_weight);
            assert_same(&table, &find(&table, &settings, min_weight, max_rows), &heavy[..max_rows.min(heavy.len())]);
        }
    }
}
