//! Counts of perfect matchings, compared with their definition: all ways to give every item a code of its
//! own.

use disclosure::Control;
use disclosure::matching::{Counting, Graph, ItemClass, admissible};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::matching::{matchings, shares};

/// Generates small graphs with as many codes as items. Most have a perfect matching, because item `i` may
/// have code `i`.
fn graphs() -> impl Strategy<Value = Graph> {
    let codes = proptest::collection::vec(1u32..4, 1..5);
    codes
        .prop_filter("few", |codes| codes.iter().sum::<u32>() <= 7)
        .prop_flat_map(|codes| {
            let items = codes.iter().sum::<u32>() as usize;
            let edges = proptest::collection::vec(proptest::bits::u8::between(0, codes.len()), items);
            (Just(codes), edges, proptest::bool::weighted(0.8))
        })
        .prop_map(|(codes, edges, keep_own)| {
            let own = codes
                .iter()
                .enumerate()
                .flat_map(|(class, &size)| std::iter::repeat_n(class, size as usize));
            let mut items: Vec<ItemClass> = Vec::new();
            for (edges, own) in edges.into_iter().zip(own) {
                let edges = if keep_own { edges | 1 << own } else { edges };
                let candidates: Vec<u32> = (0..codes.len() as u32).filter(|c| edges >> c & 1 == 1).collect();
                match items.iter_mut().find(|items| items.candidates == candidates) {
                    Some(items) => items.size += 1,
                    None => items.push(ItemClass { size: 1, candidates }),
                }
            }
            Graph { codes, items }
        })
}

fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4000,
        rng_seed: RngSeed::Fixed(2008),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn counts_are_those_of_the_definition(graph in graphs()) {
        let number = matchings(&graph);
        let counting = Counting::new(&graph, &Control::new()).unwrap();
        let control = Control::new();
        let log = counting.ln_matchings(&control).unwrap();
        assert_close(log.exp(), number);
        match counting.shares(&control).unwrap() {
            None => prop_assert_eq!(number, 0.0),
            Some(found) => {
                assert_close(found.ln_matchings, number.ln());
                let expected = shares(&graph).unwrap();
                for (found, expected) in found.of_class.iter().flatten().zip(expected.iter().flatten()) {
                    assert_close(*found, *expected);
                }
            }
        }
    }

    #[test]
    fn admissible_edges_are_those_of_some_matching(graph in graphs()) {
        match admissible(&graph, &Control::new()).unwrap() {
            None => prop_assert_eq!(shares(&graph), None),
            Some(pruned) => {
                let shares = shares(&graph).unwrap();
                for ((before, after), shares) in graph.items.iter().zip(&pruned.items).zip(shares) {
                    let used = before.candidates.iter().zip(shares).filter(|(_, share)| *share > 0.0);
                    let used: Vec<u32> = used.map(|(code_class, _)| *code_class).collect();
                    prop_assert_eq!(&after.candidates, &used);
                }
            }
        }
    }
}

fn class(size: u32, candidates: &[u32]) -> ItemClass {
    ItemClass {
        size,
        candidates: candidates.to_vec(),
    }
}

fn log_factorial(n: u32) -> f64 {
    (1..=n).map(|k| f64::from(k).ln()).sum()
}

#[test]
fn large_classes_are_counted_too() {
    // The first class has 700 codes: for the 300 items that have no other candidate, and for 400 of the other
    // 900.
    let graph = Graph {
        codes: vec![700, 1000],
        items: vec![class(300, &[0]), class(900, &[0, 1]), class(500, &[1])],
    };
    let found = Counting::new(&graph, &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    let choices = log_factorial(900) - log_factorial(400) - log_factorial(500);
    let expected = log_factorial(700) + log_factorial(1000) + choices;
    assert!((found.ln_matchings - expected).abs() < 1e-7);
    let shares: Vec<f64> = found.of_class.into_iter().flatten().collect();
    for (found, expected) in shares.iter().zip([1.0, 4.0 / 9.0, 5.0 / 9.0, 1.0]) {
        assert_close(*found, expected);
    }
}

#[test]
fn derangements_are_counted() {
    // Derangements of 16 items: no order of the codes makes them cheap.
    let all_but = |own: u32| {
        (0..16)
            .filter(|&code_class| code_class != own)
            .collect::<Vec<u32>>()
    };
    let graph = Graph {
        codes: vec![1; 16],
        items: (0..16).map(|own| class(1, &all_but(own))).collect(),
    };
    let found = Counting::new(&graph, &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    assert_close(found.ln_matchings, 7_697_064_251_745_f64.ln());
    for &share in found.of_class.iter().flatten() {
        assert_close(share, 1.0 / 15.0);
    }
}

#[test]
fn infeasible_cost_is_known_in_advance() {
    let all_but = |own: u32| {
        (0..200)
            .filter(|&code_class| code_class != own)
            .collect::<Vec<u32>>()
    };
    let graph = Graph {
        codes: vec![1; 200],
        items: (0..200).map(|own| class(1, &all_but(own))).collect(),
    };
    assert!(Counting::new(&graph, &Control::new()).unwrap().steps() > 1e14);
}

#[test]
fn the_empty_graph_has_one_matching() {
    let found = Counting::new(&Graph::default(), &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(found.ln_matchings, 0.0);
    assert!(found.of_class.is_empty());
}

#[test]
fn counting_can_be_cancelled() {
    let graph = Graph {
        codes: vec![1],
        items: vec![class(1, &[0])],
    };
    let counting = Counting::new(&graph, &Control::new()).unwrap();
    let control = Control::new();
    control.cancel();
    assert!(Counting::new(&graph, &control).is_err());
    assert_eq!(counting.shares(&control), Err(disclosure::Error::Cancelled));
    assert_eq!(counting.ln_matchings(&control), Err(disclosure::Error::Cancelled));
}
