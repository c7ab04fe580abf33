//! Compares the expected number of cracked itemsets, and the probability of an itemset with its interval, with
//! all mappings of a few codes.

use crate::spaces::{any_space, around, assert_close, big_mart, config, h, k, mappings};
use disclosure::cracks::{
    CountedItemsets, CrackSpace, ExpectedItemsetCracks, Frequencies, ItemsetCracks, Method, Settings, Width,
    expected_cracks, expected_itemset_cracks,
};
use disclosure::matching::{Graph, ItemClass};
use disclosure::{Control, Error};
use proptest::prelude::*;
use reference::cracks::{itemset_probability, itemsets};

fn by(method: Method) -> Settings {
    Settings {
        method,
        relative_error: 0.05,
        ..Settings::default()
    }
}

fn of_size(size: usize) -> CountedItemsets {
    CountedItemsets::OfSize { size, interest: None }
}

fn exactly(space: &CrackSpace, counted: &CountedItemsets) -> ExpectedItemsetCracks {
    let found = expected_itemset_cracks(space, counted, &by(Method::Exact), &Control::new());
    let found = found.unwrap().unwrap();
    assert_eq!(found.method, Method::Exact);
    assert_eq!((found.lower, found.upper), (found.expected, found.expected));
    found
}

/// A hundred items in four groups of 25 (section 3.2).
fn four_groups() -> Frequencies {
    Frequencies::new(10, (0..100).map(|item| item % 4 + 1).collect())
}

#[test]
fn the_lemmas() {
    // Lemma 3.5: 4 + C(4,2) C(2,1) + C(4,3) C(2,2).
    let point_valued = around(&four_groups(), Width::Share(0.0));
    let found = exactly(&point_valued, &of_size(3));
    assert_close(found.expected, 20.0);
    assert_eq!(found.itemsets, 161_700.0);
    assert_close(found.share.unwrap(), 20.0 / 161_700.0);
    // Lemma 3.2, for any size.
    let ignorant = around(&four_groups(), Width::Ignorant);
    for size in [1, 2, 3, 50, 99, 100] {
        assert_close(exactly(&ignorant, &of_size(size)).expected, 1.0);
    }
    // Lemma 3.3 (1) and 3.6: ten items of interest of each group.
    let interest: Vec<u32> = (0..40).collect();
    let counted = CountedItemsets::OfSize {
        size: 2,
        interest: Some(interest),
    };
    let found = exactly(&ignorant, &counted);
    assert_eq!(found.itemsets, 780.0);
    assert_close(found.expected, 780.0 / 4950.0);
    let within = 45.0 / 300.0; // C(10,2) / C(25,2)
    let between = 0.4 * 0.4; // one of ten of each of two groups
    assert_close(
        exactly(&point_valued, &counted).expected,
        4.0 * within + 6.0 * between,
    );
    // Lemma 3.3 (2): a list. Duplicates count once.
    let listed = CountedItemsets::Listed(vec![vec![0, 1], vec![1, 0], vec![2, 50], vec![3, 7]]);
    let found = exactly(&ignorant, &listed);
    assert_eq!(found.itemsets, 3.0);
    assert_close(found.expected, 3.0 / 4950.0);
}

/// The pairs of GOLDEN.md for belief h, and their sum.
#[test]
fn pairs_of_big_mart() {
    let h = h();
    let golden: [([u32; 2], f64); 6] = [
        ([0, 1], 8.0),
        ([0, 2], 12.0),
        ([0, 3], 24.0),
        ([0, 4], 8.0),
        ([0, 5], 12.0),
        ([1, 2], 16.0),
    ];
    let listed = golden.iter().map(|(pair, _)| pair.to_vec()).collect();
    let sum: f64 = golden.iter().map(|(_, one_in)| 1.0 / one_in).sum();
    assert_close(exactly(&h, &CountedItemsets::Listed(listed)).expected, sum);
    let pairs = itemsets(6).filter(|pair| pair.len() == 2);
    let all = reference::cracks::expected_itemset_cracks(&mappings(&h), pairs).unwrap();
    assert_close(exactly(&h, &of_size(2)).expected, all);
    // f ± 0.1: an item of one is an itemset of size 1.
    let around = around(&big_mart(), Width::Share(0.1));
    assert_close(exactly(&around, &of_size(1)).expected, 11.0 / 6.0);
    // All items together are always cracked.
    assert_close(exactly(&around, &of_size(6)).expected, 1.0);
}

#[test]
fn numbers_of_itemsets_beyond_any_type() {
    // 5,000 items in one group: one of more than 10^1500 itemsets.
    let ignorant = around(&Frequencies::new(1, vec![1; 5000]), Width::Ignorant);
    let found = exactly(&ignorant, &of_size(2500));
    assert_eq!((found.itemsets, found.share), (f64::INFINITY, Some(0.0)));
    assert_close(found.expected, 1.0);
    // Every item has a frequency of its own: all itemsets are cracked.
    let different = around(&Frequencies::new(5000, (0..5000).collect()), Width::Share(0.0));
    let found = exactly(&different, &of_size(2500));
    assert_eq!((found.itemsets, found.expected), (f64::INFINITY, f64::INFINITY));
    assert_close(found.share.unwrap(), 1.0);
}

#[test]
fn nothing_to_count() {
    let h = h();
    for counted in [of_size(7), CountedItemsets::Listed(vec![])] {
        let found = exactly(&h, &counted);
        assert_eq!((found.itemsets, found.expected, found.share), (0.0, 0.0, None));
    }
    let none = around(&Frequencies::new(0, vec![]), Width::Median);
    assert_eq!(exactly(&none, &of_size(1)).itemsets, 0.0);
    for method in [Method::Auto, Method::Exact, Method::Simulate] {
        for counted in [of_size(2), CountedItemsets::Listed(vec![vec![3, 5]])] {
            let found = expected_itemset_cracks(&k(), &counted, &by(method), &Control::new());
            assert_eq!(found, Ok(None));
        }
        let risk = ItemsetCracks::new(&k()).risk(&[3, 5], &by(method), &Control::new());
        assert_eq!(risk, Ok(None));
    }
}

#[test]
fn what_is_refused() {
    let space = h();
    let refused = |counted: &CountedItemsets, method| match expected_itemset_cracks(
        &space,
        counted,
        &by(method),
        &Control::new(),
    ) {
        Err(Error::InvalidArgument { argument, .. }) => argument,
        other => panic!("{other:?}"),
    };
    let interest = |items: &[u32]| CountedItemsets::OfSize {
        size: 1,
        interest: Some(items.to_vec()),
    };
    assert_eq!(refused(&of_size(0), Method::Auto), "size");
    assert_eq!(refused(&interest(&[6]), Method::Auto), "interest");
    assert_eq!(refused(&interest(&[1, 1]), Method::Auto), "interest");
    assert_eq!(
        refused(&CountedItemsets::Listed(vec![vec![6]]), Method::Auto),
        "itemset"
    );
    assert_eq!(refused(&of_size(2), Method::OEstimate), "method");
    let no_steps = Settings {
        max_steps: 0.0,
        ..by(Method::Exact)
    };
    let found = expected_itemset_cracks(&space, &of_size(2), &no_steps, &Control::new());
    assert!(
        matches!(
            found,
            Err(Error::InvalidArgument {
                argument: "method",
                ..
            })
        ),
        "{found:?}"
    );
    let risk = ItemsetCracks::new(&space).risk(&[0, 1], &no_steps, &Control::new());
    assert!(
        matches!(
            risk,
            Err(Error::InvalidArgument {
                argument: "method",
                ..
            })
        ),
        "{risk:?}"
    );
    let control = Control::new();
    control.cancel();
    let cancelled = expected_itemset_cracks(&space, &of_size(2), &by(Method::Exact), &control);
    assert_eq!(cancelled, Err(Error::Cancelled));
}

/// Forty items with frequencies of their own: too many mappings to list, but few enough to count.
fn forty() -> CrackSpace {
    around(
        &Frequencies::new(400, (0..40u64).map(|item| 10 * item).collect()),
        Width::Share(0.1),
    )
}

/// If exact counting exceeds its limits, the answer is simulated, and the interval contains the exact answer.
#[test]
fn too_expensive_is_simulated() {
    let space = forty();
    for counted in [
        of_size(1),
        of_size(2),
        CountedItemsets::OfSize {
            size: 2,
            interest: Some((5..20).collect()),
        },
        CountedItemsets::Listed(vec![vec![0, 1], vec![7, 9, 12]]),
        CountedItemsets::Listed((0..20).map(|item| vec![item, item + 1]).collect()),
    ] {
        let exact = exactly(&space, &counted);
        let no_steps = Settings {
            max_steps: 0.0,
            ..by(Method::Auto)
        };
        let simulated = expected_itemset_cracks(&space, &counted, &no_steps, &Control::new());
        let simulated = simulated.unwrap().unwrap();
        assert_eq!(simulated.method, Method::Simulate);
        assert!(simulated.is_precise_enough);
        assert_eq!(simulated.itemsets, exact.itemsets);
        assert!(
            simulated.lower <= exact.expected && exact.expected <= simulated.upper,
            "{simulated:?} {exact:?}"
        );
    }
    let cracks = expected_cracks(&space, &by(Method::Exact), &Control::new())
        .unwrap()
        .unwrap();
    assert_close(exactly(&space, &of_size(1)).expected, cracks.expected);
}

/// Components that are cheap to count stay exact if another one is simulated.
#[test]
fn cheap_parts_stay_exact() {
    // Forty items that are hard to tell apart, and two groups of three that are not.
    let counts = (0..40u64)
        .map(|item| 10 * item)
        .chain([800, 800, 800, 900, 900, 900]);
    let space = around(&Frequencies::new(1000, counts.collect()), Width::Share(0.04));
    let counted = CountedItemsets::OfSize {
        size: 3,
        interest: Some((40..46).collect()),
    };
    let no_steps = Settings {
        max_steps: 1e4,
        ..by(Method::Auto)
    };
    let found = expected_itemset_cracks(&space, &counted, &no_steps, &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(found.method, Method::Exact);
    assert_close(found.expected, 4.0); // 3 and 0 items, 2 and 1, 1 and 2, 0 and 3
}

/// An itemset that is cracked once in a million mappings: counting samples would find it in none.
#[test]
fn rare_itemsets_have_a_sensible_interval() {
    let counts = (0..24u64).map(|item| 10 * item);
    let space = around(&Frequencies::new(240, counts.collect()), Width::Share(0.6));
    let cracks = ItemsetCracks::new(&space);
    let itemset: Vec<u32> = (0..24).step_by(3).collect();
    let exact = cracks
        .risk(&itemset, &by(Method::Exact), &Control::new())
        .unwrap()
        .unwrap();
    assert!(exact.crack_probability < 2e-5, "{exact:?}");
    let simulated = cracks
        .risk(&itemset, &by(Method::Simulate), &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(simulated.method, Method::Simulate);
    assert!(simulated.is_precise_enough);
    assert!(
        0.0 < simulated.lower
            && simulated.lower <= exact.crack_probability
            && exact.crack_probability <= simulated.upper
            && simulated.upper < 1.2 * exact.crack_probability,
        "{simulated:?} {exact:?}"
    );
}

/// A chain of items that can swap codes with their neighbours. The last item can also have the first code, but
/// only in the one mapping in which all others move on by one.
fn rare_edge() -> CrackSpace {
    let items = 26u32;
    let candidates = |item: u32| match item {
        0 => vec![0, 1],
        _ if item == items - 1 => vec![0, item - 1, item],
        _ => vec![item - 1, item, item + 1],
    };
    let class = |item| ItemClass {
        size: 1,
        candidates: candidates(item),
    };
    CrackSpace {
        graph: Graph {
            codes: vec![1; items as usize],
            items: (0..items).map(class).collect(),
        },
        class_of: (0..items).collect(),
        // The own code of every item is the next one, and that of the last item is the first.
        own_code_class: (0..items).map(|item| (item + 1) % items).collect(),
    }
}

/// If a simulation never sees the event, its interval still contains the exact probability.
#[test]
fn what_was_never_seen_has_an_upper_bound() {
    let space = rare_edge();
    let cracks = ItemsetCracks::new(&space);
    let itemset = [25];
    let exact = cracks
        .risk(&itemset, &by(Method::Exact), &Control::new())
        .unwrap()
        .unwrap();
    assert!(
        exact.crack_probability < 1e-5 && exact.crack_probability > 0.0,
        "{exact:?}"
    );
    let simulated = cracks
        .risk(&itemset, &by(Method::Simulate), &Control::new())
        .unwrap()
        .unwrap();
    assert!(
        simulated.lower <= exact.crack_probability && exact.crack_probability <= simulated.upper,
        "{simulated:?} {exact:?}"
    );
    assert!(simulated.upper < 0.01, "{simulated:?}");
    assert!(!simulated.is_precise_enough);
}

/// Of the 95 % intervals of many seeds, nearly as many contain the exact value.
#[test]
fn intervals_cover() {
    let space = forty();
    let cracks = ItemsetCracks::new(&space);
    let cases: [&[u32]; 4] = [&[3], &[0, 39], &[4, 5, 6], &[1, 9, 17, 30]];
    let (mut covered, mut all) = (0, 0);
    for itemset in cases {
        let exact = cracks
            .risk(itemset, &by(Method::Exact), &Control::new())
            .unwrap()
            .unwrap();
        for seed in 0..25 {
            let settings = Settings {
                seed: 1000 * seed,
                relative_error: 0.1,
                ..by(Method::Simulate)
            };
            let simulated = cracks.risk(itemset, &settings, &Control::new()).unwrap().unwrap();
            covered += u32::from((simulated.lower..=simulated.upper).contains(&exact.crack_probability));
            all += 1;
        }
    }
    let exact = exactly(&space, &of_size(2));
    for seed in 0..25 {
        let settings = Settings {
            seed,
            relative_error: 0.1,
            ..by(Method::Simulate)
        };
        let simulated = expected_itemset_cracks(&space, &of_size(2), &settings, &Control::new());
        let simulated = simulated.unwrap().unwrap();
        covered += u32::from((simulated.lower..=simulated.upper).contains(&exact.expected));
        all += 1;
    }
    assert!(f64::from(covered) >= 0.9 * f64::from(all), "{covered} of {all}");
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let space = forty();
    let cracks = ItemsetCracks::new(&space);
    let once = || cracks.risk(&[0, 1, 2], &by(Method::Simulate), &Control::new());
    assert_eq!(once(), once());
    let once = || expected_itemset_cracks(&space, &of_size(3), &by(Method::Simulate), &Control::new());
    assert_eq!(once(), once());
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn any_graph_and_any_interest(space in any_space(), interest in 0u32..64) {
        let n = space.items();
        let mappings = mappings(&space);
        let interest: Vec<u32> = (0..n as u32).filter(|item| interest >> item & 1 == 1).collect();
        for size in 1..=n + 1 {
            for interest in [None, Some(interest.clone())] {
                let is_counted = |itemset: &Vec<u32>| {
                    let all_of_interest = |items: &Vec<u32>| itemset.iter().all(|item| items.contains(item));
                    itemset.len() == size && interest.as_ref().is_none_or(all_of_interest)
                };
                let itemsets: Vec<Vec<u32>> = itemsets(n).filter(is_counted).collect();
                let counted = CountedItemsets::OfSize { size, interest: interest.clone() };
                let listed = CountedItemsets::Listed(itemsets.clone());
                let count = itemsets.len() as f64;
                let expected = reference::cracks::expected_itemset_cracks(&mappings, itemsets);
                for counted in [counted, listed] {
                    let found =
                        expected_itemset_cracks(&space, &counted, &by(Method::Exact), &Control::new()).unwrap();
                    match found {
                        None => prop_assert!(mappings.is_empty()),
                        Some(found) => {
                            prop_assert_eq!(found.itemsets, count);
                            assert_close(found.expected, expected.unwrap_or(0.0));
                        }
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Intervals of 95 %, three times as wide, contain the exact value in all cases.
    #[test]
    fn simulations_of_any_graph(space in any_space(), number in 0usize..64) {
        let mappings = mappings(&space);
        let all: Vec<Vec<u32>> = itemsets(space.items()).collect();
        let itemset = &all[number % all.len()];
        let size = itemset.len().max(1);
        let settings = Settings { relative_error: 0.1, ..by(Method::Simulate) };
        let is_near = |value: f64, lower: f64, upper: f64, exact: f64| {
            let reach = 3.0 * (upper - value).max(value - lower) + 1e-9;
            (value - exact).abs() <= reach
        };
        let risk = ItemsetCracks::new(&space).risk(itemset, &settings, &Control::new()).unwrap();
        match (risk, itemset_probability(&mappings, itemset)) {
            (None, None) => (),
            (Some(risk), Some(exact)) => prop_assert!(
                is_near(risk.crack_probability, risk.lower, risk.upper, exact), "{:?} {}", risk, exact
            ),
            other => prop_assert!(false, "{:?}", other),
        }
        let counted = of_size(size);
        let of_size = all.iter().filter(|itemset| itemset.len() == size).cloned();
        let exact = reference::cracks::expected_itemset_cracks(&mappings, of_size);
        let found = expected_itemset_cracks(&space, &counted, &settings, &Control::new()).unwrap();
        if let Some(found) = found {
            let exact = exact.unwrap_or(0.0);
            prop_assert!(is_near(found.expected, found.lower, found.upper, exact), "{:?} {}", found, exact);
        } else {
            prop_assert!(mappings.is_empty());
        }
    }
}
