//! Compares the inferences behind scores with their definition: how few attributes have to be known, and what follows
//! from them.

use crate::tables::{assert_close, config};
use crate::unknown::{Coded, a_confidence, a_table};
use disclosure::Control;
use disclosure::inference::{Explanations, Inference, Scores, Settings, explain, fewest_known, scores};
use proptest::prelude::*;
use reference::inference::{Definition, Inference as Expected, Table};

/// Table with its scores and the inferences behind them.
struct Explained {
    distinct_of_row: Vec<usize>,
    scores: Scores,
    explanations: Explanations,
}

fn explained(coded: &Coded, settings: &Settings, with_fewest: bool) -> Explained {
    let (packed, distinct_of_row) = coded.packed();
    let control = Control::new();
    let mut scores = scores(&packed, settings, &control).unwrap();
    if with_fewest {
        assert!(fewest_known(&packed, settings, &mut scores, &control).unwrap());
    }
    let rows: Vec<usize> = (0..packed.len()).collect();
    let explanations = explain(&packed, settings, &scores, &rows, &control).unwrap();
    Explained {
        distinct_of_row,
        scores,
        explanations,
    }
}

/// Returns the inference from the known attributes by the definition, to attributes of the row.
fn expected(
    coded: &Coded,
    table: &Table,
    definition: &Definition,
    row: u32,
    found: &Inference,
) -> (u32, Expected) {
    let known = found
        .known
        .iter()
        .fold(0, |set, &known| set | 1 << coded.place(known));
    assert_eq!(row & known, known);
    (known, table.inference_by(definition, known, row))
}

proptest! {
    #![proptest_config(config())]

    /// With fewer known attributes, no inference is as bad; with the same number, none has a smaller support.
    #[test]
    fn as_few_attributes_as_possible_have_to_be_known(
        coded in a_table(), min_confidence in a_confidence(), joint in any::<bool>(),
    ) {
        let settings = Settings { min_confidence, joint_confidence: joint, ..Settings::default() };
        let Explained { distinct_of_row, scores, explanations } = explained(&coded, &settings, true);
        let (table, unknown) = coded.table();
        let definition = Definition { constant: 1.0, min_confidence, joint, unknown: &unknown };
        let fewest = table.fewest_known_by(&definition);
        for ((&bits, row), fewest) in table.rows.iter().zip(distinct_of_row).zip(fewest) {
            let found = explanations.of(row);
            assert_close(found.weight(), scores.lower[row]);
            if let Some((size, support)) = fewest {
                prop_assert_eq!((found.known.len(), found.support), (size, support));
            } else {
                prop_assert!(found.inferred.is_empty());
            }
            let (_, expected) = expected(&coded, &table, &definition, bits, found);
            assert_close(found.weight(), expected.weight);
            prop_assert_eq!(found.support, expected.support);
            if !joint {
                let inferred = found.inferred.iter().map(|y| (coded.place(y.attribute), y.confidence));
                prop_assert_eq!(inferred.collect::<Vec<_>>(), expected.inferred);
            }
        }
    }

    /// Nothing that is known can be left out. If only certain inferences count and nothing is unknown, that is so even if
    /// nobody has looked for the fewest.
    #[test]
    fn everything_that_is_known_is_needed(
        coded in a_table(), min_confidence in a_confidence(), joint in any::<bool>(),
    ) {
        let (table, unknown) = coded.table();
        let is_certain = min_confidence == 1.0 && unknown.iter().all(|&unknown| unknown == 0);
        let settings = Settings { min_confidence, joint_confidence: joint, ..Settings::default() };
        let Explained { distinct_of_row, scores, explanations } = explained(&coded, &settings, !is_certain);
        let definition = Definition { constant: 1.0, min_confidence, joint, unknown: &unknown };
        for (&bits, row) in table.rows.iter().zip(distinct_of_row) {
            let (known, expected) = expected(&coded, &table, &definition, bits, explanations.of(row));
            assert_close(expected.weight, scores.lower[row]);
            for x in table.attributes(known) {
                let without = table.inference_by(&definition, known & !(1 << x), bits);
                prop_assert!(expected.weight == 0.0 || without.weight < expected.weight * (1.0 - 1e-13));
            }
        }
    }
}
