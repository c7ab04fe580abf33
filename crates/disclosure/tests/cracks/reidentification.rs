//! Compares re-identification with its definition: all ways to match people with released rows.

use Knowledge::{Among, Between, Code, Unknown};
use disclosure::cracks::{Knowledge, Method, Reidentification, Settings, Simulation, simulate};
use disclosure::matching::Counting;
use disclosure::{Control, Error, NULL, Rows};
use proptest::prelude::*;
use reference::matching::shares;

/// The knowledge about every person, column by column; the released rows; the own row of every person.
#[derive(Debug, Clone)]
struct Case {
    people: Vec<Vec<Knowledge>>,
    rows: Vec<Vec<u32>>,
    key: Vec<Option<u32>>,
}

fn can_be(known: &[Knowledge], row: &[u32]) -> bool {
    known.iter().zip(row).all(|(known, &code)| {
        code == NULL
            || match known {
                Unknown => true,
                Code(value) => code == *value,
                Among(values) => values.contains(&code),
                Between(low, high) => *low <= code && code <= *high,
            }
    })
}

impl Case {
    fn solve(&self, with_key: bool) -> Reidentification {
        let width = self.people.first().map_or(0, Vec::len);
        let column = |column: usize| self.rows.iter().map(|row| row[column]).collect::<Vec<u32>>();
        let columns: Vec<Vec<u32>> = (0..width).map(column).collect();
        let columns: Vec<&[u32]> = columns.iter().map(|column| &column[..]).collect();
        let released = Rows::new(&columns, self.rows.len());
        let key = with_key.then_some(&self.key[..]);
        Reidentification::new(&self.people, released, key, 1_000, &Control::new()).unwrap()
    }

    /// Returns all ways to match as many people as possible with different rows that they can be.
    fn largest_mappings(&self) -> Vec<Vec<Option<usize>>> {
        let mut mappings = vec![Vec::new()];
        for known in &self.people {
            let mut longer = Vec::new();
            for mapping in mappings {
                let free = |row: &usize| !mapping.contains(&Some(*row));
                let rows = (0..self.rows.len()).filter(|&row| can_be(known, &self.rows[row]));
                for row in rows.filter(free).map(Some).chain([None]) {
                    longer.push([&mapping[..], &[row]].concat());
                }
            }
            mappings = longer;
        }
        let size = |mapping: &Vec<Option<usize>>| mapping.iter().flatten().count();
        let largest = mappings.iter().map(size).max().unwrap_or(0);
        mappings.retain(|mapping| size(mapping) == largest);
        mappings
    }
}

fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

fn assert_as_defined(case: &Case) {
    let (keyed, unkeyed) = (case.solve(true), case.solve(false));
    assert_eq!(keyed.graph, unkeyed.graph);
    let graph = &keyed.graph;
    assert_eq!(graph.code_count(), graph.item_count());
    let mappings = case.largest_mappings();
    let released = mappings[0].iter().flatten().count();
    assert_eq!(keyed.max_released_people, released as u64);
    assert_eq!(keyed.not_released(), (case.people.len() - released) as u64);
    assert_eq!(keyed.strangers(), (case.rows.len() - released) as u64);

    let of_class = shares(graph).unwrap();
    let counted = Counting::new(graph, &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    for (counted, share) in counted.of_class.iter().flatten().zip(of_class.iter().flatten()) {
        assert_close(*counted, *share);
    }
    let (with_key, without_key) = (
        keyed.crack_probabilities(&of_class),
        unkeyed.crack_probabilities(&of_class),
    );
    let (mut sum_with, mut sum_without) = (0.0, 0.0);
    let (mut estimate_with, mut estimate_without) = (0.0, 0.0);
    for person in 0..case.people.len() {
        let chance = |row: usize| {
            let to_row = mappings.iter().filter(|mapping| mapping[person] == Some(row));
            to_row.count() as f64 / mappings.len() as f64
        };
        let own = case.key[person].map(|row| row as usize);
        let expected = own.filter(|&row| row < case.rows.len()).map_or(0.0, chance);
        assert_close(with_key[person], expected);
        sum_with += expected;
        let agreement = (0..case.rows.len())
            .map(|row| chance(row).powi(2))
            .fold(0.0, |a, b| a + b);
        assert_close(without_key[person], agreement);
        sum_without += agreement;
        let rows: Vec<usize> = (0..case.rows.len())
            .filter(|&row| can_be(&case.people[person], &case.rows[row]))
            .collect();
        if !rows.is_empty() {
            estimate_without += 1.0 / rows.len() as f64;
        }
        if own.is_some_and(|own| rows.contains(&own)) {
            estimate_with += 1.0 / rows.len() as f64;
        }
    }
    assert_close(keyed.expected_from_shares(&of_class), sum_with);
    assert_close(unkeyed.expected_from_shares(&of_class), sum_without);
    assert_close(keyed.o_estimate(), estimate_with);
    assert_close(unkeyed.o_estimate(), estimate_without);

    assert_eq!(unkeyed.space(), None);
    let space = keyed.space().unwrap();
    assert_eq!(space.items() as u64, graph.item_count());
    for person in 0..space.items() {
        let own = case.key.get(person).copied().flatten();
        let row = own.and_then(|row| case.rows.get(row as usize));
        let fits = row.is_some_and(|row| can_be(&case.people[person], row));
        assert_eq!(space.is_compliant(person), fits);
    }
}

fn knowledge() -> impl Strategy<Value = Knowledge> {
    prop_oneof![
        1 => Just(Unknown),
        4 => (1..5u32).prop_map(Code),
        1 => prop::collection::vec(1..5u32, 0..4).prop_map(Among),
        1 => (0..5u32, 0..6u32).prop_map(|(low, high)| Between(low, high)),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let code = prop_oneof![1 => Just(NULL), 6 => 1..4u32];
    (1..=3usize, prop::bool::weighted(0.3)).prop_flat_map(move |(width, only_codes)| {
        let known = if only_codes {
            (1..4u32).prop_map(Code).boxed()
        } else {
            knowledge().boxed()
        };
        let people = prop::collection::vec(prop::collection::vec(known, width), 0..6);
        let rows = prop::collection::vec(prop::collection::vec(code.clone(), width), 0..6);
        let key = prop::collection::vec(prop::option::weighted(0.8, 0..7u32), 6);
        (people, rows, key).prop_map(|(people, rows, mut key)| {
            key.truncate(people.len());
            // No two people have the same row.
            for person in 0..key.len() {
                if key[..person].contains(&key[person]) {
                    key[person] = None;
                }
            }
            Case { people, rows, key }
        })
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(81),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn reidentification_is_as_defined(case in cases()) {
        // The number of columns is taken from the people.
        if !case.people.is_empty() {
            assert_as_defined(&case);
        }
    }
}

/// John is a Chinese owner of a Toyota, Mary is 30 to 35 years old, and nothing is known about Bob.
#[test]
fn john_mary_and_bob() {
    let (age, chinese, toyota) = (|years: u32| years, 1, 1);
    let case = Case {
        people: vec![
            vec![Unknown, Code(chinese), Code(toyota)],
            vec![Between(age(30), age(35)), Unknown, Unknown],
            vec![Unknown; 3],
        ],
        rows: vec![
            vec![age(52), chinese, toyota],
            vec![age(33), 2, 2],
            vec![age(71), 3, 3],
        ],
        key: vec![Some(0), Some(1), Some(2)],
    };
    assert_as_defined(&case);
    let found = case.solve(true);
    assert_close(found.o_estimate(), 1.0 + 1.0 + 1.0 / 3.0);
    assert_close(found.expected_from_shares(&shares(&found.graph).unwrap()), 3.0);
}

/// One component has too many people, another too many rows: components stay separate, and each completes its
/// own surplus.
#[test]
fn each_part_has_its_own_left_over() {
    let case = Case {
        people: [1, 1, 2, 4].map(|code| vec![Code(code)]).to_vec(),
        rows: [1, 2, 2, 2, 3].map(|code| vec![code]).to_vec(),
        key: vec![Some(0), None, Some(1), None],
    };
    assert_as_defined(&case);
    let found = case.solve(true);
    assert_eq!((found.not_released(), found.strangers()), (2, 3));
    assert_close(
        found.expected_from_shares(&shares(&found.graph).unwrap()),
        0.5 + 1.0 / 3.0,
    );
}

/// The simulation must cope with strangers and with people who are not released, who have no code.
#[test]
fn simulation_agrees() {
    let case = Case {
        people: vec![
            vec![Among(vec![1, 2])],
            vec![Among(vec![2, 3])],
            vec![Code(3)],
            vec![Code(3)],
            vec![Code(7)],
        ],
        rows: [1, 2, 2, 3, 6].map(|code| vec![code]).to_vec(),
        key: vec![Some(0), Some(1), Some(3), None, Some(4)],
    };
    assert_as_defined(&case);
    let found = case.solve(true);
    let exact = found.expected_from_shares(&shares(&found.graph).unwrap());
    let space = found.space().unwrap();
    let simulated = simulate(&space, &Simulation::default(), &Control::new())
        .unwrap()
        .unwrap();
    assert!(
        (simulated.lower..=simulated.upper).contains(&exact),
        "{simulated:?} {exact}"
    );
}

#[test]
fn limits_are_obeyed() {
    let columns: [&[u32]; 1] = [&[1, 2, 3]];
    let released = Rows::new(&columns, 3);
    let people = [vec![Unknown], vec![Code(2)]];
    let solve = |most, control: &Control| Reidentification::new(&people, released, None, most, control);
    assert!(solve(4, &Control::new()).is_ok());
    let too_many = Error::TooMany {
        what: "candidate pairs of a person and a row",
        limit: 3,
    };
    assert_eq!(solve(3, &Control::new()), Err(too_many));
    let control = Control::new();
    control.cancel();
    assert_eq!(solve(4, &control), Err(Error::Cancelled));
    let same_row = [Some(1), Some(1)];
    let twice = Reidentification::new(&people, released, Some(&same_row), 4, &Control::new());
    assert!(matches!(
        twice,
        Err(Error::InvalidArgument { argument: "key", .. })
    ));
    let nobody = Reidentification::new(&[], released, None, 0, &Control::new()).unwrap();
    assert_eq!((nobody.max_released_people, nobody.strangers()), (0, 3));
    assert_eq!(nobody.o_estimate().to_bits(), 0.0f64.to_bits());
}

#[test]
fn without_a_key_only_exact_answers_and_estimates() {
    // Two people and two rows; each person can be either row.
    let case = Case {
        people: vec![vec![Unknown], vec![Unknown]],
        rows: vec![vec![1], vec![2]],
        key: vec![Some(0), Some(1)],
    };
    let settings = |method, max_steps| Settings {
        method,
        alpha: 1.0,
        relative_error: 0.01,
        seed: 1,
        max_steps,
        max_bytes: 1e9,
        budget: None,
    };
    let control = Control::new();
    for with_key in [true, false] {
        let solved = case.solve(with_key);
        for method in [Method::Auto, Method::Exact, Method::OEstimate] {
            let found = solved.cracks(&settings(method, 1e9), &control).unwrap();
            assert!((found.expected - 1.0).abs() < 1e-9, "{found:?}");
        }
    }
    let simulated = case
        .solve(true)
        .cracks(&settings(Method::Auto, 1.0), &control)
        .unwrap();
    assert_eq!(simulated.method, Method::Simulate);
    for method in [Method::Auto, Method::Exact, Method::Simulate] {
        let refused = case.solve(false).cracks(&settings(method, 1.0), &control);
        assert!(matches!(
            refused,
            Err(Error::InvalidArgument { argument: "key", .. })
        ));
    }
}
