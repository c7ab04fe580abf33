//! Compares scores with joint confidence with their definition.

use crate::tables::{Table, a_constant, assert_close, config};
use crate::unknown::{a_confidence, a_table};
use disclosure::Control;
use disclosure::inference::{
    Inference, InferenceListSettings, Settings, explain, fewest_known, inferences, scores,
};
use proptest::prelude::*;
use reference::inference::Definition;
use std::time::Duration;

const JOINT: Settings = Settings {
    constant: 1.0,
    min_confidence: 0.5,
    joint_confidence: true,
    budget: None,
    algorithm: disclosure::inference::Algorithm::Automatic,
};

/// White, section 3.4: conf(I|K) · dg(I). In 95 of 100 rows, it is 0.95 · 1/2; with the share in the danger, it is
/// 0.95 / 1.95.
#[test]
fn one_attribute_that_95_percent_have() {
    let rows: Vec<&str> = (0..100).map(|row| if row < 95 { "ab" } else { "a" }).collect();
    let packed = Table::of_words(&rows, &[(1.0, 0.0), (0.0, 1.0)]).packed();
    let worst = |settings: &Settings| {
        let found = scores(&packed, settings, &Control::new()).unwrap();
        found.upper.into_iter().fold(0.0, f64::max)
    };
    let separate = Settings {
        joint_confidence: false,
        ..JOINT
    };
    assert_close(worst(&JOINT), 0.475);
    assert_close(worst(&separate), 0.95 / 1.95);
    assert_eq!(
        worst(&Settings {
            min_confidence: 1.0,
            ..JOINT
        }),
        0.0
    );
}

/// Half of the rows have one of two attributes and half have the other, so no row has both, and together they have no
/// confidence at all.
#[test]
fn the_share_is_that_of_all_together() {
    let packed = Table::of_words(&["ab", "ac"], &[(1.0, 0.0), (0.0, 1.0), (0.0, 1.0)]).packed();
    let found = |joint_confidence: bool| {
        let settings = Settings {
            joint_confidence,
            ..JOINT
        };
        let wanted = InferenceListSettings::default();
        inferences(&packed, &settings, &wanted, None, &Control::new())
            .unwrap()
            .inferences
    };
    let shown = |inference: &Inference| {
        (
            inference.inferred.len(),
            inference.confidence(),
            inference.weight(),
        )
    };
    assert_eq!(shown(&found(false)[0]), (2, Some(0.5), 0.5));
    assert_eq!(shown(&found(true)[0]), (1, Some(0.5), 0.25));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn joint_confidence_scores_as_defined(
        coded in a_table(), constant in a_constant(), min_confidence in a_confidence(),
    ) {
        let found = coded.scores(&Settings { constant, min_confidence, ..JOINT });
        let (table, unknown) = coded.table();
        let joint = Definition { constant, min_confidence, joint: true, unknown: &unknown };
        let separate = table.scores_by(&Definition { joint: false, ..joint });
        for ((found, expected), separate) in found.into_iter().zip(table.scores_by(&joint)).zip(separate) {
            assert_close(found, expected);
            prop_assert!(expected <= separate + 1e-9);
        }
    }

    #[test]
    fn the_list_of_inferences_is_as_defined(
        coded in a_table(), min_confidence in a_confidence(), joint in any::<bool>(),
    ) {
        let settings = Settings { min_confidence, joint_confidence: joint, ..JOINT };
        let (packed, _) = coded.packed();
        let wanted = InferenceListSettings { max_rows: 100_000, ..InferenceListSettings::default() };
        let found = inferences(&packed, &settings, &wanted, None, &Control::new()).unwrap();
        prop_assert!(found.complete);
        let (table, unknown) = coded.table();
        let definition = Definition { constant: 1.0, min_confidence, joint, unknown: &unknown };
        let expected = table.inferences_by(&definition, 0.0);
        prop_assert_eq!(found.inferences.len(), expected.len());
        for (found, expected) in found.inferences.iter().zip(&expected) {
            let known: Vec<usize> = found.known.iter().map(|&known| coded.place(known)).collect();
            prop_assert_eq!(&known, &expected.known);
            prop_assert_eq!(found.support, expected.support);
            assert_close(found.weight(), expected.weight);
            let inferred = found.inferred.iter().map(|y| (coded.place(y.attribute), y.confidence));
            let inferred: Vec<(usize, f64)> = inferred.collect();
            if joint {
                // Another set may be as bad.
                let set = inferred.iter().fold(0, |set, (x, _)| set | 1 << x);
                let known = known.iter().fold(0, |set, x| set | 1 << x);
                let confidence = table.confidence(known, set, &unknown);
                assert_close(found.confidence().unwrap(), confidence);
            } else {
                prop_assert_eq!(&inferred, &expected.inferred);
            }
        }
    }

    /// The bounds contain the score whenever the search ends.
    #[test]
    fn an_unfinished_search_gives_bounds(coded in a_table(), min_confidence in a_confidence(), micros in 0u64..40) {
        let settings = Settings { min_confidence, budget: Some(Duration::from_micros(micros)), ..JOINT };
        let (packed, distinct_of_row) = coded.packed();
        let mut bounds = scores(&packed, &settings, &Control::new()).unwrap();
        let (table, unknown) = coded.table();
        let definition = Definition { constant: 1.0, min_confidence, joint: true, unknown: &unknown };
        for (row, score) in distinct_of_row.into_iter().zip(table.scores_by(&definition)) {
            prop_assert!(bounds.lower[row] <= score + 1e-9 && bounds.upper[row] >= score - 1e-9);
        }
        // What was found is explained.
        fewest_known(&packed, &settings, &mut bounds, &Control::new()).unwrap();
        let rows: Vec<usize> = (0..packed.len()).collect();
        let explained = explain(&packed, &settings, &bounds, &rows, &Control::new()).unwrap();
        for row in rows {
            prop_assert!(explained.of(row).weight() >= bounds.lower[row] - 1e-9);
        }
    }
}
