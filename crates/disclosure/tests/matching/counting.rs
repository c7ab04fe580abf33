//! Perfect matchings against their definition: all ways to give every item a code of its own.

use disclosure::Control;
use disclosure::matching::{Counting, Graph, ItemClass, admissible};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// For every perfect matching, the class of codes that each item gets; items in the order of their classes.
/// A matching of classes stands for as many as there are ways to choose codes within them.
fn matchings(graph: &Graph) -> Vec<(Vec<u32>, f64)> {
    fn extend(
        items: &[&ItemClass],
        free: &mut [u32],
        ways: f64,
        given: &mut Vec<u32>,
        all: &mut Vec<(Vec<u32>, f64)>,
    ) {
        let Some(item) = items.get(given.len()) else {
            all.push((given.clone(), ways));
            return;
        };
        for &codes in &item.candidates {
            let choices = free[codes as usize];
            if choices > 0 {
                free[codes as usize] -= 1;
                given.push(codes);
                extend(items, free, ways * f64::from(choices), given, all);
                given.pop();
                free[codes as usize] += 1;
            }
        }
    }
    let each = |class: &'_ _| std::iter::repeat_n(*class, (*class as &ItemClass).size as usize);
    let classes: Vec<&ItemClass> = graph.items.iter().collect();
    let items: Vec<&ItemClass> = classes.iter().flat_map(each).collect();
    let mut all = Vec::new();
    if graph.code_count() == items.len() as u64 {
        extend(&items, &mut graph.codes.clone(), 1.0, &mut Vec::new(), &mut all);
    }
    all
}

/// Of how many matchings each edge is part, for one item of each class and any code of a candidate class.
fn shares(graph: &Graph, matchings: &[(Vec<u32>, f64)]) -> Vec<Vec<f64>> {
    let all: f64 = matchings.iter().map(|(_, ways)| ways).sum();
    let mut first = 0;
    let of_class = graph.items.iter().map(|items| {
        let item = first;
        first += items.size as usize;
        let of_candidate = items.candidates.iter().map(|codes| {
            let with = matchings.iter().filter(|(given, _)| given[item] == *codes);
            with.map(|(_, ways)| ways).sum::<f64>() / all
        });
        of_candidate.collect()
    });
    of_class.collect()
}

/// Any small graph of as many codes as items, most often with a perfect matching: item `i` may have code `i`.
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
        let matchings = matchings(&graph);
        let number: f64 = matchings.iter().map(|(_, ways)| ways).fold(0.0, std::ops::Add::add);
        let counting = Counting::new(&graph, &Control::new()).unwrap();
        let control = Control::new();
        let log = counting.log_matchings(&control).unwrap();
        assert_close(log.exp(), number);
        match counting.shares(&control).unwrap() {
            None => prop_assert!(matchings.is_empty()),
            Some(found) => {
                assert_close(found.log_matchings, number.ln());
                let expected = shares(&graph, &matchings);
                for (found, expected) in found.of_class.iter().flatten().zip(expected.iter().flatten()) {
                    assert_close(*found, *expected);
                }
            }
        }
    }

    #[test]
    fn admissible_edges_are_those_of_some_matching(graph in graphs()) {
        let matchings = matchings(&graph);
        match admissible(&graph, &Control::new()).unwrap() {
            None => prop_assert!(matchings.is_empty()),
            Some(pruned) => {
                let shares = shares(&graph, &matchings);
                for ((before, after), shares) in graph.items.iter().zip(&pruned.items).zip(shares) {
                    let used = before.candidates.iter().zip(shares).filter(|(_, share)| *share > 0.0);
                    let used: Vec<u32> = used.map(|(codes, _)| *codes).collect();
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
    // 700 codes for 300 items that can have nothing else and for 400 of 900 others.
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
    assert!((found.log_matchings - expected).abs() < 1e-7);
    let shares: Vec<f64> = found.of_class.into_iter().flatten().collect();
    for (found, expected) in shares.iter().zip([1.0, 4.0 / 9.0, 5.0 / 9.0, 1.0]) {
        assert_close(*found, expected);
    }
}

#[test]
fn nobody_gets_his_own_code() {
    // Derangements of 16 items, which no order of the codes makes cheap.
    let all_but = |own: u32| (0..16).filter(|&codes| codes != own).collect::<Vec<u32>>();
    let graph = Graph {
        codes: vec![1; 16],
        items: (0..16).map(|own| class(1, &all_but(own))).collect(),
    };
    let found = Counting::new(&graph, &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    assert_close(found.log_matchings, 7_697_064_251_745_f64.ln());
    for &share in found.of_class.iter().flatten() {
        assert_close(share, 1.0 / 15.0);
    }
}

#[test]
fn what_nobody_can_count_is_known_before() {
    let all_but = |own: u32| (0..200).filter(|&codes| codes != own).collect::<Vec<u32>>();
    let graph = Graph {
        codes: vec![1; 200],
        items: (0..200).map(|own| class(1, &all_but(own))).collect(),
    };
    assert!(Counting::new(&graph, &Control::new()).unwrap().steps() > 1e14);
}

#[test]
fn nothing_has_one_matching() {
    let found = Counting::new(&Graph::default(), &Control::new())
        .unwrap()
        .shares(&Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(found.log_matchings, 0.0);
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
    assert_eq!(
        counting.log_matchings(&control),
        Err(disclosure::Error::Cancelled)
    );
}
