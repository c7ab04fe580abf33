//! Compares the inferences about most people, and the numbers of people, with their definition.

use crate::tables::{a_constant, assert_close, config};
use crate::unknown::{Coded, CodedColumn, Kind, a_confidence, a_table};
use disclosure::inference::{
    Inference, InferenceListSettings, InferenceOrder, Inferences, People, Settings, inferences,
};
use disclosure::{Control, MemoryBudget, NULL};
use proptest::prelude::*;
use reference::inference::{Definition, Inference as Expected};
use std::time::Duration;

const BY_PEOPLE: InferenceListSettings = InferenceListSettings {
    order: InferenceOrder::People,
    min_weight: 0.0,
    max_rows: 1_000_000,
};

/// Table, and the person of each row; NULL for somebody else than in all other rows.
#[derive(Debug, Clone)]
struct Peopled {
    coded: Coded,
    /// `None` if rows are counted.
    person_of_row: Option<Vec<u32>>,
}

impl Peopled {
    fn find(&self, settings: &Settings, wanted: &InferenceListSettings, control: &Control) -> Inferences {
        let (packed, distinct_of_row) = self.coded.packed();
        let distinct_of_row: Vec<u32> = distinct_of_row.into_iter().map(|row| row as u32).collect();
        let people = self.person_of_row.as_ref().map(|person_of_row| {
            People::new(&packed, &distinct_of_row, person_of_row, &Control::new()).unwrap()
        });
        inferences(&packed, settings, wanted, people.as_ref(), control).unwrap()
    }

    fn people(&self) -> Vec<Option<u32>> {
        let person = |&person: &u32| (person != NULL).then_some(person);
        match &self.person_of_row {
            Some(person_of_row) => person_of_row.iter().map(person).collect(),
            None => vec![None; self.coded.rows.len()],
        }
    }

    /// Returns the list of the definition.
    fn expected(&self, definition: &Definition, min_weight: f64) -> Vec<(Expected, u64)> {
        let (table, _) = self.coded.table();
        let starts = self.coded.columns.iter().scan(0, |end, column| {
            let start = *end;
            *end += column.weights.len();
            Some((start, column))
        });
        let single = starts.filter(|(_, column)| column.kind != Kind::Sets);
        let set = |(start, column): (usize, &CodedColumn)| ((1 << column.weights.len()) - 1) << start;
        let columns: Vec<u32> = single.map(set).collect();
        table.inferences_by_people(definition, min_weight, table.redundant(&columns), &self.people())
    }

    fn known(&self, inference: &Inference) -> Vec<usize> {
        inference.known.iter().map(|&x| self.coded.place(x)).collect()
    }

    fn inferred(&self, inference: &Inference) -> Vec<(usize, f64)> {
        let inferred = inference.inferred.iter();
        inferred
            .map(|y| (self.coded.place(y.attribute), y.confidence))
            .collect()
    }

    /// Checks that exactly the first of the expected inferences were found.
    fn assert_same(&self, found: &Inferences, expected: &[(Expected, u64)], max_rows: usize) {
        assert!(found.complete);
        assert_eq!(found.inferences.len(), expected.len().min(max_rows));
        for ((found, people), (expected, expected_people)) in
            found.inferences.iter().zip(&found.people).zip(expected)
        {
            assert_eq!(self.known(found), expected.known);
            assert_eq!(self.inferred(found), expected.inferred);
            assert_eq!((found.support, people), (expected.support, expected_people));
            assert_close(found.weight(), expected.weight);
        }
    }
}

/// Copies some columns, so that they are redundant or nearly so: with other codes, and perhaps one row that differs.
fn with_copies() -> impl Strategy<Value = Coded> {
    let copies = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<bool>()), 0..2);
    (a_table(), copies, any::<prop::sample::Index>()).prop_map(|(mut coded, copies, differing)| {
        for (column, turned, differs) in copies {
            let place = column.index(coded.columns.len());
            let column = coded.columns[place].clone();
            let codes = column.codes();
            for row in &mut coded.rows {
                let code = row[place];
                row.push(if turned && code != NULL {
                    codes + 1 - code
                } else {
                    code
                });
            }
            if differs && !coded.rows.is_empty() {
                let row = differing.index(coded.rows.len());
                coded.rows[row].pop();
                coded.rows[row].push(NULL);
            }
            coded.columns.push(column);
        }
        coded
    })
}

fn with_people() -> impl Strategy<Value = Peopled> {
    with_copies().prop_flat_map(|coded| {
        let people = prop::collection::vec(NULL..=6, coded.rows.len());
        prop::option::of(people).prop_map(move |person_of_row| Peopled {
            coded: coded.clone(),
            person_of_row,
        })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_list_by_people_is_as_defined(
        peopled in with_people(), constant in a_constant(), min_confidence in a_confidence(),
        max_rows in prop_oneof![Just(usize::MAX), 1usize..8], threshold in any::<prop::sample::Index>(),
        forgets in any::<bool>(),
    ) {
        let settings = Settings { constant, min_confidence, ..Settings::default() };
        let (_, unknown) = peopled.coded.table();
        let definition = Definition { constant, min_confidence, joint: false, unknown: &unknown };
        // Without memory, what follows from a set is computed again whenever it is needed.
        let control = match forgets {
            true => Control::with_memory(MemoryBudget { limit: 0, in_use: || 0 }),
            false => Control::new(),
        };
        let all = peopled.expected(&definition, 0.0);
        let wanted = InferenceListSettings { max_rows, ..BY_PEOPLE };
        peopled.assert_same(&peopled.find(&settings, &wanted, &control), &all, max_rows);
        if !all.is_empty() {
            // `min_weight` is exactly the weight of an inference, which has to be included.
            let min_weight = threshold.get(&all).0.weight;
            let heavy = peopled.expected(&definition, min_weight);
            let wanted = InferenceListSettings { min_weight, ..wanted };
            peopled.assert_same(&peopled.find(&settings, &wanted, &control), &heavy, max_rows);
        }
    }

    /// Several sets may be equally bad together, so it is checked that what is listed is one of them.
    #[test]
    fn with_joint_confidence_too(peopled in with_people(), min_confidence in a_confidence()) {
        let settings = Settings { min_confidence, joint_confidence: true, ..Settings::default() };
        let (table, unknown) = peopled.coded.table();
        let definition = Definition { constant: 1.0, min_confidence, joint: true, unknown: &unknown };
        let people = peopled.people();
        let expected = peopled.expected(&definition, 0.0);
        let found = peopled.find(&settings, &BY_PEOPLE, &Control::new());
        prop_assert!(found.people.is_sorted_by(|a, b| a >= b));
        prop_assert_eq!(found.inferences.len(), expected.len());
        for (found, concerned) in found.inferences.iter().zip(&found.people) {
            let known = peopled.known(found);
            let (expected, _) = expected.iter().find(|(expected, _)| expected.known == known).unwrap();
            assert_close(found.weight(), expected.weight);
            let found = Expected { inferred: peopled.inferred(found), ..expected.clone() };
            prop_assert_eq!(table.people(&definition, &found, &people), *concerned);
        }
    }

    /// The list by weight counts the same people.
    #[test]
    fn people_are_as_defined_in_any_order(
        peopled in with_people(), min_confidence in a_confidence(), joint in any::<bool>(),
    ) {
        let settings = Settings { min_confidence, joint_confidence: joint, ..Settings::default() };
        let (table, unknown) = peopled.coded.table();
        let definition = Definition { constant: 1.0, min_confidence, joint, unknown: &unknown };
        let wanted = InferenceListSettings { order: InferenceOrder::Weight, ..BY_PEOPLE };
        let found = peopled.find(&settings, &wanted, &Control::new());
        for (inference, concerned) in found.inferences.iter().zip(&found.people) {
            let found = Expected {
                known: peopled.known(inference),
                inferred: peopled.inferred(inference),
                support: inference.support,
                weight: inference.weight(),
            };
            prop_assert_eq!(table.people(&definition, &found, &peopled.people()), *concerned);
        }
    }

    #[test]
    fn an_unfinished_search_lists_some_of_the_inferences(
        peopled in with_people(), min_confidence in a_confidence(), micros in 0u64..40,
    ) {
        let settings = Settings { min_confidence, ..Settings::default() };
        let all = peopled.find(&settings, &BY_PEOPLE, &Control::new());
        let hurried = Settings { budget: Some(Duration::from_micros(micros)), ..settings };
        let some = peopled.find(&hurried, &BY_PEOPLE, &Control::new());
        for inference in some.inferences.iter().zip(&some.people) {
            prop_assert!(all.inferences.iter().zip(&all.people).any(|other| other == inference));
        }
        prop_assert!(!some.complete || some == all);
    }
    /// Larger sets have to be known if rows are sets of seven attributes, or have five columns.
    #[test]
    fn parts_of_larger_sets_are_enough(
        table in crate::inferences::a_table(), min_confidence in a_confidence(), max_rows in prop_oneof![Just(usize::MAX), 1usize..8],
    ) {
        let unknown = vec![0; table.rows.len()];
        let definition = Definition { constant: 1.0, min_confidence, joint: false, unknown: &unknown };
        let ends = table.columns.iter().skip(1).map(|column| column.0).chain([table.weights.len() as u32]);
        let columns = table.columns.iter().zip(ends).filter(|((_, is_set), _)| !is_set);
        let columns: Vec<u32> = columns.map(|(&(start, _), end)| ((1 << (end - start)) - 1) << start).collect();
        let nobody = vec![None; table.rows.len()];
        let expected = table.inferences_by_people(&definition, 0.0, table.redundant(&columns), &nobody);
        let settings = Settings { min_confidence, ..Settings::default() };
        let wanted = InferenceListSettings { max_rows, ..BY_PEOPLE };
        let found = inferences(&table.packed(), &settings, &wanted, None, &Control::new()).unwrap();
        prop_assert_eq!(found.inferences.len(), expected.len().min(max_rows));
        for ((found, people), (expected, expected_people)) in found.inferences.iter().zip(&found.people).zip(&expected) {
            let known: Vec<_> = expected.known.iter().map(|&x| table.attribute(x)).collect();
            prop_assert_eq!((&found.known, people), (&known, expected_people));
            let inferred: Vec<_> = found.inferred.iter().map(|y| (y.attribute, y.confidence)).collect();
            let expected_inferred: Vec<_> = expected.inferred.iter().map(|&(x, share)| (table.attribute(x), share)).collect();
            prop_assert_eq!(inferred, expected_inferred);
            assert_close(found.weight(), expected.weight);
        }
    }
}
