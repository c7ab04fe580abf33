//! Compares holes with their definition, and checks White's theorems about them.

use crate::tables::{Table, a_constant, config};
use disclosure::inference::{Attribute, HoleSettings, Holes, Settings, holes, scores};
use disclosure::{Control, Weights};
use proptest::prelude::*;
use reference::inference::subsets;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
struct Expected {
    hole: u32,
    attributes: Vec<Attribute>,
    weight: f64,
}

/// Returns the holes that have to be reported, in order: those with a positive weight whose attributes all
/// have a positive likelihood or danger, and can all occur in one row.
fn expected_holes(table: &Table, constant: f64, max_size: usize) -> Vec<Expected> {
    let matters = |x: usize| table.weights[x].likelihood > 0.0 || table.weights[x].danger > 0.0;
    let is_possible = |set: u32| {
        let mut columns: Vec<u32> = table.attributes(set).map(|x| table.attribute(x).column).collect();
        columns.dedup();
        table.columns[0].1 || columns.len() == set.count_ones() as usize
    };
    let sets = (0..1u32 << table.weights.len())
        .filter(|set| (2..=max_size).contains(&(set.count_ones() as usize)))
        .filter(|&set| is_possible(set) && table.attributes(set).all(matters) && table.is_hole(set));
    let expected = sets.map(|hole| {
        let within = subsets(hole).filter(|&known| known != hole);
        Expected {
            hole,
            attributes: table.attributes(hole).map(|x| table.attribute(x)).collect(),
            weight: within
                .map(|known| table.weight(known, constant))
                .fold(0.0, f64::max),
        }
    });
    let mut holes: Vec<Expected> = expected.filter(|hole| hole.weight > 0.0).collect();
    let rounded = |hole: &Expected| (hole.weight * 1e11).round() as u64;
    holes.sort_by(|a, b| {
        let order = rounded(b).cmp(&rounded(a));
        order.then((a.attributes.len(), &a.attributes).cmp(&(b.attributes.len(), &b.attributes)))
    });
    holes
}

/// Returns the attributes and the score of every distinct row.
fn found_scores(table: &Table, constant: f64) -> Vec<(Vec<Attribute>, f64)> {
    let settings = Settings {
        constant,
        ..Settings::default()
    };
    let packed = table.packed();
    let found = scores(&packed, &settings, &Control::new()).unwrap();
    let of_row = |row: usize| {
        let mut attributes = packed.attributes(row);
        attributes.sort();
        (attributes, found.lower[row])
    };
    (0..packed.len()).map(of_row).collect()
}

fn find(table: &Table, constant: f64, max_size: usize, max_rows: usize) -> Holes {
    let settings = Settings {
        constant,
        ..Settings::default()
    };
    holes(
        &table.packed(),
        &settings,
        &HoleSettings { max_size, max_rows },
        &Control::new(),
    )
    .unwrap()
}

fn assert_same(table: &Table, found: &Holes, expected: &[Expected]) {
    assert!(found.complete);
    let attributes: Vec<_> = found.holes.iter().map(|hole| &hole.attributes).collect();
    assert_eq!(
        attributes,
        expected.iter().map(|hole| &hole.attributes).collect::<Vec<_>>()
    );
    for (found, expected) in found.holes.iter().zip(expected) {
        assert!((found.worst.weight() - expected.weight).abs() <= 1e-12);
        let known = table.set(&found.worst.known);
        assert!(known & !expected.hole == 0 && known != expected.hole);
        let harmful = |x: &usize| table.weights[*x].danger > 0.0;
        let inferred: Vec<_> = found.worst.inferred.iter().map(|y| y.attribute).collect();
        let expected = table.attributes(table.inferred(known)).filter(harmful);
        assert_eq!(table.set(&inferred), expected.fold(0, |set, x| set | 1 << x));
    }
}

fn words(holes: &Holes) -> Vec<String> {
    let letter = |x: &Attribute| char::from(b'a' + x.index as u8);
    holes
        .holes
        .iter()
        .map(|hole| hole.attributes.iter().map(letter).collect())
        .collect()
}

#[test]
fn three_triangles_around_a_hole() {
    // White, Examples 6.1 and 6.3. AE ⇒ C is an inference from the outer boundary. Pairs that no row has,
    // such as AF, are holes too.
    let table = Table::of_words(&["ace", "abd", "bcf"], &[(1.0, 1.0); 6]);
    let found = find(&table, 1.0, 3, 100);
    assert_eq!(words(&found), ["af", "be", "cd", "de", "df", "ef", "abc"]);
    let abc = &found.holes[6];
    assert_eq!((abc.worst.known.len(), abc.worst.inferred.len()), (2, 1));
    assert_eq!(abc.worst.weight(), 0.5);
    assert_eq!(words(&find(&table, 1.0, 2, 3)), ["af", "be", "cd"]);
}

#[test]
fn sizes_are_between_2_and_8() {
    let table = Table::of_words(&["ab"], &[(1.0, 1.0); 2]);
    for max_size in [0, 1, 9] {
        let settings = Settings::default();
        let error = holes(
            &table.packed(),
            &settings,
            &HoleSettings {
                max_size,
                max_rows: 5,
            },
            &Control::new(),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "max_size: must be between 2 and 8");
    }
    assert!(find(&table, 1.0, 8, 5).holes.is_empty());
}

#[test]
fn only_certain_inferences_have_holes_as_their_cause() {
    let table = Table::of_words(&["ab"], &[(1.0, 1.0); 2]);
    let settings = Settings {
        min_confidence: 0.9,
        ..Settings::default()
    };
    let error = holes(
        &table.packed(),
        &settings,
        &HoleSettings::default(),
        &Control::new(),
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "min_confidence: must be 1");
}

#[test]
fn without_time_it_says_so() {
    let table = Table::of_words(&["ace", "abd", "bcf"], &[(1.0, 1.0); 6]);
    let settings = Settings {
        budget: Some(Duration::ZERO),
        ..Settings::default()
    };
    let found = holes(
        &table.packed(),
        &settings,
        &HoleSettings::default(),
        &Control::new(),
    )
    .unwrap();
    assert!(!found.complete);
}

fn weights(attributes: usize) -> impl Strategy<Value = Vec<Weights>> {
    let weight = || prop_oneof![1 => Just(0.0), 3 => Just(1.0), 4 => (0u32..=20).prop_map(|weight| f64::from(weight) / 20.0)];
    let weights = (weight(), weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger });
    prop_oneof![
        Just(vec![Weights::UNLABELLED; attributes]),
        prop::collection::vec(weights, attributes)
    ]
}

fn a_table() -> impl Strategy<Value = Table> {
    let sets = (1usize..=8).prop_flat_map(|elements| {
        let row = prop_oneof![0u32..1 << elements, (0u32..1 << elements).prop_map(|row| row | 1)];
        (prop::collection::vec(row, 0..14), weights(elements))
            .prop_map(|(rows, weights)| Table::of_sets(reference::inference::Table { rows, weights }))
    });
    let columns = prop::collection::vec((1usize..=3, 0u32..=1), 1..=5).prop_flat_map(|columns| {
        let codes: Vec<_> = columns
            .iter()
            .map(|&(values, first)| first..=values as u32)
            .collect();
        let all = columns.iter().map(|column| column.0).sum();
        (prop::collection::vec(codes, 0..20), weights(all)).prop_map(move |(rows, weights)| {
            let mut left = &weights[..];
            let of_columns: Vec<Vec<Weights>> = columns
                .iter()
                .map(|&(values, _)| left.split_off(..values).unwrap_or_default().to_vec())
                .collect();
            Table::of_codes(&rows, &of_columns)
        })
    });
    prop_oneof![sets, columns]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn holes_are_as_defined(
        table in a_table(), constant in a_constant(), max_size in 2usize..=5,
        max_rows in prop_oneof![Just(usize::MAX), 1usize..20],
    ) {
        let expected = expected_holes(&table, constant, max_size);
        let found = find(&table, constant, max_size, max_rows);
        assert_same(&table, &found, &expected[..max_rows.min(expected.len())]);
    }

    /// White, Theorems 6.4 and 6.5 and Corollary 6.6.
    #[test]
    fn filling_a_hole_helps(table in a_table(), constant in a_constant()) {
        let before = found_scores(&table, constant);
        for hole in find(&table, constant, 4, 3).holes {
            let hole = table.set(&hole.attributes);
            for known in subsets(hole).filter(|&known| known != hole) {
                prop_assert_eq!(table.inferred(known) & hole, 0);
            }
            let mut filled = table.clone();
            filled.rows.push(hole);
            for known in subsets(hole) {
                prop_assert_eq!(filled.inferred(known), 0);
                prop_assert_eq!(filled.weight(known, constant), 0.0);
            }
            for (attributes, score) in found_scores(&filled, constant) {
                match before.iter().find(|row| row.0 == attributes) {
                    Some((_, before)) => prop_assert!(score <= before * (1.0 + 1e-12)),
                    None => {
                        prop_assert_eq!(filled.set(&attributes), hole);
                        prop_assert_eq!(score, 0.0);
                    }
                }
            }
        }
    }
}
