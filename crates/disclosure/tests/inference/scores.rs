//! Compares the privacy score with its definition.

use crate::tables::{self, a_constant, a_weight, config};
use disclosure::classes::Classes;
use disclosure::inference::{
    Algorithm, AttributesOfValue, Column, Lookup, Nulls, PackedTable, Scores, Settings, explain, score_row,
    scores,
};
use disclosure::{Control, Weights};
use proptest::prelude::*;
use reference::inference::{Table, subsets};
use std::time::Duration;

/// Rows of codes. Every value of a column is an attribute of its own.
#[derive(Debug, Clone)]
struct Coded {
    rows: Vec<Vec<u32>>,
    weights: Vec<Vec<Weights>>,
}

impl Coded {
    fn classes(&self) -> Classes {
        let mut classes = Classes::new(self.weights.len());
        for row in &self.rows {
            classes.insert(row, 1).unwrap();
        }
        classes
    }

    fn columns(&self) -> Vec<Column> {
        let column = |weights: &Vec<Weights>| Column {
            attributes: weights.clone(),
            attributes_of_value: AttributesOfValue::One((0..weights.len() as u32).map(Some).collect()),
            nulls: Nulls::Absent,
        };
        self.weights.iter().map(column).collect()
    }

    fn table(&self) -> Table {
        tables::Table::of_codes(&self.rows, &self.weights).sets
    }
}

/// Returns lower and upper bounds of the score of each row, given the class of each row.
fn bounds_of_rows(
    classes: &Classes,
    columns: &[Column],
    settings: &Settings,
    class_of_row: &[u32],
) -> (Vec<f64>, Vec<f64>) {
    let packed = PackedTable::new(classes, columns, &Control::new()).unwrap();
    let Scores { lower, upper, .. } = scores(&packed, settings, &Control::new()).unwrap();
    class_of_row
        .iter()
        .map(|&class| packed.row_of_class(class as usize))
        .map(|row| (lower[row], upper[row]))
        .unzip()
}

fn class_of_row<T: PartialEq>(rows: &[T]) -> Vec<u32> {
    let mut distinct: Vec<&T> = Vec::new();
    let class = |row| {
        distinct
            .iter()
            .position(|other| *other == row)
            .unwrap_or_else(|| {
                distinct.push(row);
                distinct.len() - 1
            }) as u32
    };
    rows.iter().map(class).collect()
}

const ALGORITHMS: [Algorithm; 3] = [Algorithm::Automatic, Algorithm::Together, Algorithm::RowByRow];

/// Returns the exact score of each row, which must not depend on the algorithm.
fn exact_scores_of_rows(
    classes: &Classes,
    columns: &[Column],
    constant: f64,
    class_of_row: &[u32],
) -> Vec<f64> {
    let [automatic, together, row_by_row] = ALGORITHMS.map(|algorithm| {
        let settings = Settings {
            constant,
            algorithm,
            ..Settings::default()
        };
        let (lower, upper) = bounds_of_rows(classes, columns, &settings, class_of_row);
        assert_eq!(lower, upper);
        lower
    });
    assert_close(&automatic, &together);
    assert_close(&automatic, &row_by_row);
    automatic
}

fn exact_scores(table: &Table, constant: f64) -> Vec<f64> {
    let (classes, columns) = tables::Table::of_sets(table.clone()).encoded();
    exact_scores_of_rows(&classes, &columns, constant, &class_of_row(&table.rows))
}

fn assert_close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= 1e-9, "{got} instead of {expected}");
    }
}

#[test]
fn rows_contained_in_others_count() {
    let table = Table::of_words(&["abcd", "abce", "abcf", "abde", "ab"], &[(1.0, 1.0); 6]);
    let expected = [2.0 / 3.0, 2.0 / 3.0, 3.0 / 4.0, 2.0 / 3.0, 2.0 / 3.0];
    assert_close(&table.scores(1.0, 1.0), &expected);
    assert_close(&exact_scores(&table, 1.0), &expected);
}

#[test]
fn certain_knowledge_of_everything() {
    let table = Table::of_words(&["abcd", "abce", "abfg", "bcfg"], &[(1.0, 1.0); 7]);
    let expected = [3.0 / 4.0, 3.0 / 4.0, 2.0 / 3.0, 2.0 / 3.0];
    assert_close(&table.scores(1.0, 1.0), &expected);
    assert_close(&exact_scores(&table, 1.0), &expected);
}

#[test]
fn weights_per_attribute() {
    let likelihood = [0.9, 0.5, 0.8, 0.2, 0.7, 0.3, 0.6];
    let danger = [0.1, 0.4, 0.2, 0.9, 0.5, 0.8, 0.3];
    let weights: Vec<(f64, f64)> = likelihood.into_iter().zip(danger).collect();
    let table = Table::of_words(&["abcd", "abce", "abfg", "bcfg"], &weights);
    let expected = [0.285714286, 0.288235294, 0.327272727, 0.327272727];
    assert_close(&table.scores(1.0, 1.0), &expected);
    assert_close(&exact_scores(&table, 1.0), &expected);
}

#[test]
fn no_rows_and_rows_without_attributes() {
    let nothing = Table::of_words(&[], &[(1.0, 1.0)]);
    assert!(exact_scores(&nothing, 1.0).is_empty());
    let empty = Table::of_words(&["", ""], &[(1.0, 1.0)]);
    assert_close(&exact_scores(&empty, 1.0), &[0.0, 0.0]);
    let alone = Table::of_words(&["abc"], &[(0.0, 1.0), (0.0, 0.5), (0.0, 0.0)]);
    assert_close(&exact_scores(&alone, 1.0), &[1.5 / 2.5]);
}

#[test]
fn the_constant_must_be_positive() {
    let packed = tables::Table::of_words(&["ab"], &[(1.0, 1.0); 2]).packed();
    for constant in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = Settings {
            constant,
            ..Settings::default()
        };
        let error = scores(&packed, &settings, &Control::new()).unwrap_err();
        assert_eq!(error.to_string(), "constant: must be finite and more than 0");
    }
}

#[test]
fn a_budget_may_be_longer_than_any_deadline() {
    let packed = tables::Table::of_words(&["ab", "ac"], &[(1.0, 1.0); 3]).packed();
    let settings = Settings {
        budget: Some(Duration::MAX),
        ..Settings::default()
    };
    let found = scores(&packed, &settings, &Control::new()).unwrap();
    assert!(found.exact());
    let unlimited = scores(&packed, &Settings::default(), &Control::new()).unwrap();
    assert_eq!(found.lower, unlimited.lower);
}

fn a_confidence() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(0.9), Just(0.75), Just(0.5), Just(0.3), Just(0.01)]
}

fn a_table() -> impl Strategy<Value = Table> {
    (1usize..=9).prop_flat_map(|attributes| {
        let rows = prop::collection::vec(0u32..1 << attributes, 0..14);
        let weights = || prop::collection::vec(a_weight(), attributes);
        (rows, weights(), weights()).prop_map(|(rows, likelihood, danger)| {
            let weights = likelihood.into_iter().zip(danger);
            let weights = weights.map(|(likelihood, danger)| Weights { likelihood, danger });
            Table {
                rows,
                weights: weights.collect(),
            }
        })
    })
}

fn a_coded_table() -> impl Strategy<Value = Coded> {
    prop::collection::vec((1usize..=4, 0u32..3), 1..=6).prop_flat_map(|columns| {
        let codes: Vec<_> = columns
            .iter()
            .map(|&(values, nulls)| {
                if nulls == 0 {
                    0..=values as u32
                } else {
                    1..=values as u32
                }
            })
            .collect();
        let weights: Vec<_> = columns
            .iter()
            .map(|&(values, _)| {
                let weights =
                    (a_weight(), a_weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger });
                prop_oneof![
                    Just(vec![
                        Weights {
                            likelihood: 1.0,
                            danger: 0.0
                        };
                        values
                    ]),
                    Just(vec![
                        Weights {
                            likelihood: 0.0,
                            danger: 1.0
                        };
                        values
                    ]),
                    Just(vec![Weights::UNLABELLED; values]),
                    prop::collection::vec(weights, values)
                ]
            })
            .collect();
        let rows = prop::collection::vec(codes, 0..40);
        (rows, weights).prop_map(|(rows, weights)| Coded { rows, weights })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sets_score_as_defined(table in a_table(), constant in a_constant()) {
        assert_close(&exact_scores(&table, constant), &table.scores(constant, 1.0));
    }

    #[test]
    fn probable_inferences_score_as_defined(
        coded in a_coded_table(), constant in a_constant(), min_confidence in a_confidence(),
    ) {
        let settings = Settings { constant, min_confidence, ..Settings::default() };
        let (lower, upper) = bounds_of_rows(&coded.classes(), &coded.columns(), &settings, &class_of_row(&coded.rows));
        prop_assert_eq!(&lower, &upper);
        assert_close(&lower, &coded.table().scores(constant, min_confidence));
    }

    #[test]
    fn explanations_explain(coded in a_coded_table(), min_confidence in a_confidence()) {
        let settings = Settings { min_confidence, ..Settings::default() };
        let packed = PackedTable::new(&coded.classes(), &coded.columns(), &Control::new()).unwrap();
        let found = scores(&packed, &settings, &Control::new()).unwrap();
        let rows: Vec<usize> = (0..packed.len()).collect();
        let explained = explain(&packed, &settings, &found, &rows, &Control::new()).unwrap();
        for row in 0..packed.len() {
            let inference = explained.of(row);
            assert_close(&[inference.weight()], &[found.lower[row]]);
            let attributes = packed.attributes(row);
            prop_assert!(inference.known.iter().all(|known| attributes.contains(known)));
            prop_assert!(inference.inferred.iter().all(|inferred| attributes.contains(&inferred.attribute)));
        }
    }

    #[test]
    fn columns_score_as_defined(coded in a_coded_table(), constant in a_constant()) {
        let scores =
            exact_scores_of_rows(&coded.classes(), &coded.columns(), constant, &class_of_row(&coded.rows));
        assert_close(&scores, &coded.table().scores(constant, 1.0));
    }
}

/// Lookup in a table of sets. It returns a few rows at a time, so that the search has to ask again.
struct InTable<'a> {
    table: &'a Table,
    /// Attribute of the table for each attribute of the row.
    attributes: Vec<usize>,
}

impl Lookup for InTable<'_> {
    fn missing_attributes(&mut self, known: &[usize], inferred: &[usize]) -> Option<(Vec<Vec<usize>>, bool)> {
        let has = |row: u32, attribute: usize| row >> self.attributes[attribute] & 1 == 1;
        let all = |row: u32, of: &[usize]| of.iter().all(|&attribute| has(row, attribute));
        let rows = self.table.rows.iter().copied();
        let found: Vec<u32> = rows
            .filter(|&row| all(row, known) && !all(row, inferred))
            .collect();
        let lacking = |row: &u32| {
            (0..self.attributes.len())
                .filter(|&attribute| !has(*row, attribute))
                .collect()
        };
        Some((found.iter().take(2).map(lacking).collect(), found.len() > 2))
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_single_row_scores_as_if_it_were_in_the_table(table in a_table(), row in any::<u32>(), constant in a_constant()) {
        let row = row & ((1 << table.weights.len()) - 1);
        let attributes: Vec<usize> = table.attributes(row).collect();
        let weights: Vec<Weights> = attributes.iter().map(|&x| table.weights[x]).collect();
        let settings = Settings { constant, ..Settings::default() };
        let mut lookup = InTable { table: &table, attributes };
        let score = score_row(&weights, &settings, &mut lookup, &Control::new()).unwrap();
        let mut together = table.clone();
        together.rows.push(row);
        prop_assert_eq!(score.lower, score.upper);
        assert_close(&[score.lower], &together.scores(constant, 1.0)[table.rows.len()..]);
    }
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    /// Returns rows with this many values per column. Smaller codes are more frequent.
    fn rows(&mut self, rows: usize, values: &[u64]) -> Vec<Vec<u32>> {
        let mut code = |values: u64| 1 + self.below(values).min(self.below(values)) as u32;
        (0..rows)
            .map(|_| values.iter().map(|&values| code(values)).collect())
            .collect()
    }

    fn weights(&mut self, values: &[u64]) -> Vec<Vec<Weights>> {
        let mut weight = || self.below(1001) as f64 / 1000.0;
        let mut column = |&values: &u64| {
            let weights = |_| Weights {
                likelihood: weight(),
                danger: weight(),
            };
            (0..values).map(weights).collect()
        };
        values.iter().map(&mut column).collect()
    }
}

/// The tables have more rows than one thread takes at once, and rows of several words.
#[test]
fn large_tables_score_the_same_however_they_are_searched() {
    let mut random = Random(7);
    for values in [vec![4, 5, 6, 7, 8], vec![3000, 3000, 3000, 900, 900, 900, 2, 2]] {
        let rows = random.rows(12_000, &values);
        let ones: Vec<Vec<Weights>> = values
            .iter()
            .map(|&v| vec![Weights::UNLABELLED; v as usize])
            .collect();
        for weights in [random.weights(&values), ones] {
            let coded = Coded {
                rows: rows.clone(),
                weights,
            };
            let classes = coded.classes();
            let identity: Vec<u32> = (0..classes.len() as u32).collect();
            let packed = PackedTable::new(&classes, &coded.columns(), &Control::new()).unwrap();
            exact_scores_of_rows(&classes, &coded.columns(), 1.0, &identity);
            let [one, three] = [1, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| scores(&packed, &Settings::default(), &Control::new()).unwrap())
            });
            assert_eq!(one.lower, three.lower, "with one thread and with three");
        }
    }
}

#[test]
fn a_cancelled_search_ends() {
    let mut random = Random(1);
    let values = [9; 20];
    let coded = Coded {
        rows: random.rows(3_000, &values),
        weights: random.weights(&values),
    };
    let packed = PackedTable::new(&coded.classes(), &coded.columns(), &Control::new()).unwrap();
    for (algorithm, min_confidence) in [
        (Algorithm::Together, 1.0),
        (Algorithm::RowByRow, 1.0),
        (Algorithm::Automatic, 0.5),
    ] {
        let control = Control::new();
        control.cancel();
        let settings = Settings {
            algorithm,
            min_confidence,
            ..Settings::default()
        };
        assert_eq!(
            scores(&packed, &settings, &control).unwrap_err(),
            disclosure::Error::Cancelled
        );
    }
}

/// The bounds contain the exact score whenever the search ends, and some searches do end early.
#[test]
fn an_unfinished_search_gives_bounds() {
    let mut random = Random(2);
    let values = [3; 12];
    let coded = Coded {
        rows: random.rows(400, &values),
        weights: random.weights(&values),
    };
    let packed = PackedTable::new(&coded.classes(), &coded.columns(), &Control::new()).unwrap();
    for min_confidence in [1.0, 0.7] {
        let settings = Settings {
            min_confidence,
            ..Settings::default()
        };
        let exact = scores(&packed, &settings, &Control::new()).unwrap();
        assert!(exact.exact());
        let mut unfinished = 0;
        for algorithm in ALGORITHMS {
            for micros in [0, 100, 1_000, 5_000, 20_000] {
                let budget = Some(Duration::from_micros(micros));
                let bounds = scores(
                    &packed,
                    &Settings {
                        budget,
                        algorithm,
                        ..settings
                    },
                    &Control::new(),
                )
                .unwrap();
                unfinished += u32::from(!bounds.exact());
                for row in 0..packed.len() {
                    assert!(bounds.lower[row] <= exact.lower[row] + 1e-9);
                    assert!(bounds.upper[row] >= exact.lower[row] - 1e-9);
                }
            }
        }
        assert!(unfinished > 0);
    }
}

proptest! {
    #![proptest_config(config())]

    /// White, section 3.1: a row that has all attributes of another row has at least its score.
    #[test]
    fn more_attributes_never_score_less(table in a_table()) {
        let scores = exact_scores(&table, 1.0);
        for (i, less) in table.rows.iter().enumerate() {
            for (j, more) in table.rows.iter().enumerate() {
                prop_assert!(less & more != *less || scores[i] <= scores[j] + 1e-9);
            }
        }
    }

    /// White, section 3.1: without inference, the score is 0. The converse holds if everything is known and
    /// everything is harmful.
    #[test]
    fn no_inference_no_score(table in a_table()) {
        let weights = vec![Weights::UNLABELLED; table.weights.len()];
        let table = Table { weights, ..table };
        for (row, score) in table.rows.iter().zip(exact_scores(&table, 1.0)) {
            let inferred = subsets(*row).any(|known| table.inferred(known) != 0);
            prop_assert_eq!(inferred, score > 0.0);
        }
    }

    /// White, Theorem 5.2, as far as it holds: adding harmless quasi-identifiers to rows, as k-anonymity by
    /// generalisation does, does not make any inference worse if some row had its known attributes before.
    #[test]
    fn added_quasi_identifiers_make_no_inference_worse(
        table in a_table(), harmless in any::<u32>(), added in prop::collection::vec(any::<u32>(), 14),
    ) {
        let mut table = table;
        for (attribute, weights) in table.weights.iter_mut().enumerate() {
            if harmless >> attribute & 1 == 1 {
                weights.danger = 0.0;
            }
        }
        let before = exact_scores(&table, 1.0);
        let mut generalised = table.clone();
        let all = (1 << table.weights.len()) - 1;
        for (row, added) in generalised.rows.iter_mut().zip(added) {
            *row |= added & harmless & all;
        }
        for (row, after) in generalised.rows.iter().zip(exact_scores(&generalised, 1.0)) {
            for known in subsets(*row).filter(|&known| generalised.weight(known, 1.0) >= after - 1e-9) {
                let having = table.rows.iter().zip(&before).filter(|(row, _)| *row & known == known);
                let worst_before = having.map(|(_, &before)| before).max_by(f64::total_cmp);
                prop_assert!(worst_before.is_none_or(|before| after <= before + 1e-9));
            }
        }
    }
}

/// White's Theorem 5.3 says that no score rises at all. Its proof assumes that what follows from K also
/// follows from K without its quasi-identifiers. A combination that no row had before shows that this is not
/// always true.
#[test]
fn a_new_quasi_identifier_can_raise_a_score() {
    let weights = [(1.0, 0.0), (0.0, 1.0)];
    let before = Table::of_words(&["", "", "b"], &weights);
    let after = Table::of_words(&["", "", "ab"], &weights);
    assert_close(&exact_scores(&before, 1.0), &[0.0, 0.0, 0.0]);
    assert_close(&exact_scores(&after, 1.0), &[0.0, 0.0, 0.5]);
}
