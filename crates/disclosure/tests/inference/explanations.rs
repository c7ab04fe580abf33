//! Compares the inferences behind scores with their definition: how few attributes have to be known, and what follows
//! from them.

use crate::tables::{assert_close, config};
use crate::unknown::{Coded, CodedColumn, Kind, a_confidence, a_table};
use disclosure::inference::{
    Explanations, Inference, Nulls, Scores, Settings, explain, fewest_known, scores,
};
use disclosure::{Control, NULL, Weights};
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

/// Returns a table with more rows than are searched at once, whose columns have three values each.
fn large_table(seed: u64, weights: &[(f64, f64)]) -> Coded {
    let mut state = seed;
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % limit
    };
    let columns = weights.iter().map(|&(likelihood, danger)| CodedColumn {
        kind: Kind::Values,
        weights: vec![Weights { likelihood, danger }; 3],
        nulls: Nulls::Absent,
    });
    let mut code = || if below(20) == 0 { NULL } else { 1 + below(3) as u32 };
    let row = |_| weights.iter().map(|_| code()).collect();
    Coded {
        columns: columns.collect(),
        rows: (0..150).map(row).collect(),
    }
}

#[test]
fn the_fewest_are_found_among_many_rows() {
    let quasi = [(1.0, 0.0); 6];
    let labelled: Vec<(f64, f64)> = quasi.into_iter().chain([(0.0, 1.0), (0.0, 0.5)]).collect();
    let weighed = [
        (0.9, 0.1),
        (1.0, 0.5),
        (0.5, 0.5),
        (1.0, 0.0),
        (0.3, 1.0),
        (1.0, 1.0),
        (0.0, 1.0),
    ];
    let mut sizes = [0; 8];
    for seed in 1..4 {
        for weights in [&labelled[..], &weighed[..]] {
            let coded = large_table(seed, weights);
            let settings = Settings::default();
            let Explained {
                distinct_of_row,
                explanations,
                ..
            } = explained(&coded, &settings, true);
            let (table, unknown) = coded.table();
            let definition = Definition {
                constant: 1.0,
                min_confidence: 1.0,
                joint: false,
                unknown: &unknown,
            };
            let fewest = table.fewest_known_by(&definition);
            for (row, fewest) in distinct_of_row.into_iter().zip(fewest) {
                let found = explanations.of(row);
                let found = (!found.inferred.is_empty()).then_some((found.known.len(), found.support));
                assert_eq!(found, fewest);
                sizes[fewest.map_or(0, |(size, _)| size)] += 1;
            }
        }
    }
    assert!(
        sizes[1..].iter().filter(|&&rows| rows > 30).count() > 1,
        "{sizes:?}"
    );
}
