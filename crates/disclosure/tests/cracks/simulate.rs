//! Compares simulated cracks with all mappings, counted one by one.

use crate::spaces::{around, big_mart, h, k, mappings};
use disclosure::cracks::{
    Apart, Belief, CrackSpace, Frequencies, Moves, Simulated, Simulation, Width, simulate, simulate_apart,
    simulate_as_published, simulate_itemsets,
};
use disclosure::matching::{Graph, ItemClass};
use disclosure::{Control, Error};
use proptest::prelude::*;
use reference::cracks::{crack_probabilities, itemset_probability, itemsets};
use std::time::Duration;

/// Returns the space given by the group of every item's own code, and the groups that are its candidates.
fn space_of(items: &[(u32, Vec<u32>)]) -> CrackSpace {
    let groups = items.iter().map(|(own, _)| own + 1).max().unwrap_or(0);
    let mut classes: Vec<ItemClass> = Vec::new();
    let class_of = items.iter().map(|(_, candidates)| {
        let known = classes.iter().position(|class| class.candidates == *candidates);
        let class = known.unwrap_or_else(|| {
            classes.push(ItemClass {
                size: 0,
                candidates: candidates.clone(),
            });
            classes.len() - 1
        });
        classes[class].size += 1;
        class as u32
    });
    let class_of = class_of.collect();
    let size = |group| items.iter().filter(|(own, _)| *own == group).count() as u32;
    CrackSpace {
        graph: Graph {
            codes: (0..groups).map(size).collect(),
            items: classes,
        },
        class_of,
        own_code_class: items.iter().map(|(own, _)| *own).collect(),
    }
}

/// Generates up to six items in up to six groups, with any candidates; the own group is usually one of them.
fn a_space() -> impl Strategy<Value = CrackSpace> {
    let item = (0..6u32, 0..64u32, prop::bool::weighted(0.8));
    prop::collection::vec(item, 0..=6).prop_map(|items| {
        let mut used: Vec<u32> = items.iter().map(|&(own, _, _)| own).collect();
        used.sort_unstable();
        used.dedup();
        let items: Vec<(u32, Vec<u32>)> = items
            .iter()
            .map(|&(own, holds, is_compliant)| {
                let own = used.partition_point(|&group| group < own) as u32;
                let holds = if is_compliant { holds | 1 << own } else { holds };
                let candidates = (0..used.len() as u32).filter(|group| holds >> group & 1 == 1);
                (own, candidates.collect())
            })
            .collect();
        space_of(&items)
    })
}

/// Returns settings that take the maximum number of samples, however precise the estimate is.
fn all_samples(moves: Moves, max_samples: u64) -> Simulation {
    Simulation {
        moves,
        relative_error: 1e-9,
        max_samples,
        seed: 1,
        budget: None,
    }
}

fn check(simulated: &Simulated, exact: &[f64]) {
    let expected = exact.iter().fold(0.0, |sum, p| sum + p);
    // The interval is 2.13 standard errors to either side, unless it is cut off at an end of the possible
    // range.
    let half_width = (simulated.upper - simulated.expected).max(simulated.expected - simulated.lower);
    let tolerance = 5.0 / 2.13 * half_width + 1e-9;
    assert!(
        (simulated.expected - expected).abs() <= tolerance,
        "{simulated:?}, exactly {expected}"
    );
    assert_eq!(simulated.crack_probability.len(), exact.len());
    let tolerance = 6.0 * (0.25 / simulated.effective_samples).sqrt() + 0.01;
    for (simulated, exact) in simulated.crack_probability.iter().zip(exact) {
        assert!(
            (simulated - exact).abs() < tolerance,
            "{simulated}, exactly {exact}"
        );
    }
    let sum = simulated.crack_probability.iter().fold(0.0, |sum, p| sum + p);
    assert!((sum - simulated.expected).abs() < 1e-9);
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2008),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn cracks_are_as_frequent_as_among_all_mappings(space in a_space()) {
        let mappings = mappings(&space);
        let simulation = all_samples(Moves::Groups, 8192);
        match simulate(&space, &simulation, &Control::new()).unwrap() {
            None => prop_assert!(mappings.is_empty()),
            Some(simulated) => {
                prop_assert!(simulated.effective_samples > 100.0);
                check(&simulated, &crack_probabilities(&mappings));
            }
        }
    }

    /// Bit 6 i + j of `together` says whether codes i and j occur together.
    #[test]
    fn pairs_are_kept_apart(
        space in a_space(), together in any::<u64>(),
        pairs in prop::collection::vec((0..6u32, 0..6u32), 0..5),
    ) {
        let items = space.items() as u32;
        let together = |one: u32, other: u32| together >> (6 * one.min(other) + one.max(other)) & 1 == 1;
        let pairs: Vec<(u32, u32)> =
            pairs.into_iter().filter(|&(one, other)| one != other && one.max(other) < items).collect();
        let all = mappings(&space);
        let keeps_apart = |mapping: &Vec<u32>| {
            pairs.iter().all(|&(one, other)| !together(mapping[one as usize], mapping[other as usize]))
        };
        let apart = Apart { pairs: &pairs, together: &together };
        let possible: Vec<Vec<u32>> = all.iter().filter(|mapping| keeps_apart(mapping)).cloned().collect();
        // A search for a mapping that does not exist takes long, and has a test of its own.
        prop_assume!(all.is_empty() || !possible.is_empty());
        match simulate_apart(&space, &apart, &all_samples(Moves::Groups, 4096), &Control::new()).unwrap() {
            None => prop_assert!(all.is_empty()),
            Some(simulated) => check(&simulated, &crack_probabilities(&possible)),
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn itemsets_are_cracked_as_often_as_among_all_mappings(space in a_space()) {
        let mappings = mappings(&space);
        let itemsets: Vec<Vec<u32>> = itemsets(space.items()).collect();
        let simulation = all_samples(Moves::Groups, 16_384);
        match simulate_itemsets(&space, &itemsets, &simulation, &Control::new()).unwrap() {
            None => prop_assert!(mappings.is_empty()),
            Some(simulated) => for (itemset, simulated) in itemsets.iter().zip(simulated.crack_probability) {
                let exact = itemset_probability(&mappings, itemset).unwrap();
                prop_assert!((simulated - exact).abs() < 0.1, "{itemset:?}: {simulated}, exactly {exact}");
            }
        }
    }

    /// Swaps reach every mapping of an interval belief.
    #[test]
    fn swaps_find_the_same_for_intervals(
        items in prop::collection::vec((1..5u64, 0..5u64, 0..5u64), 1..=6),
    ) {
        let counts: Vec<u64> = items.iter().map(|&(count, _, _)| count).collect();
        let frequencies = Frequencies::new(8, counts);
        let share = |count: u64| count as f64 / 8.0;
        let intervals: Vec<Option<(f64, f64)>> = items
            .iter()
            .map(|&(count, below, above)| Some((share(count.saturating_sub(below)), share(count + above))))
            .collect();
        let space = Belief::from_intervals(&frequencies, &intervals).space(&frequencies);
        let exact = crack_probabilities(&mappings(&space));
        for moves in [Moves::Swaps, Moves::Groups] {
            let simulated = simulate(&space, &all_samples(moves, 8192), &Control::new()).unwrap();
            check(&simulated.expect("the truth is consistent"), &exact);
        }
    }
}

#[test]
fn the_beliefs_of_bigmart() {
    let around = |width| around(&big_mart(), width);
    let cases = [
        (h(), 29.0 / 16.0),
        (around(Width::Share(0.1)), 11.0 / 6.0),
        (around(Width::Ignorant), 1.0),
        (around(Width::Share(0.0)), 3.0),
    ];
    for (space, expected) in cases {
        let simulation = Simulation {
            relative_error: 0.005,
            ..Simulation::default()
        };
        let simulated = simulate(&space, &simulation, &Control::new()).unwrap().unwrap();
        assert!(simulated.is_precise_enough);
        assert!(
            (simulated.expected / expected - 1.0).abs() < 0.01,
            "{simulated:?}, exactly {expected}"
        );
        assert!(simulated.upper - simulated.lower <= 0.01 * simulated.expected + 1e-12);
        assert!(simulated.effective_samples <= simulated.samples as f64);
    }
}

#[test]
fn pairs_of_bigmart() {
    let itemsets = [
        vec![0, 1],
        vec![0, 2],
        vec![0, 3],
        vec![0, 4],
        vec![0, 5],
        vec![1, 2],
    ];
    let exact = [
        1.0 / 8.0,
        1.0 / 12.0,
        1.0 / 24.0,
        1.0 / 8.0,
        1.0 / 12.0,
        1.0 / 16.0,
    ];
    let simulation = all_samples(Moves::Groups, 100_000);
    let simulated = simulate_itemsets(&h(), &itemsets, &simulation, &Control::new());
    for (simulated, exact) in simulated.unwrap().unwrap().crack_probability.iter().zip(exact) {
        assert!((simulated - exact).abs() < 0.005, "{simulated}, exactly {exact}");
    }
}

#[test]
fn without_a_consistent_mapping_there_is_no_answer() {
    let k = k();
    let control = Control::new();
    let simulation = Simulation::default();
    assert_eq!(simulate(&k, &simulation, &control), Ok(None));
    assert_eq!(simulate_as_published(&k, 1, 0, &control), Ok(None));
    assert_eq!(simulate_itemsets(&k, &[], &simulation, &control), Ok(None));
}

#[test]
fn the_published_chain_finds_about_the_same() {
    let simulated = simulate_as_published(&h(), 250, 1, &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(simulated.samples, 250);
    assert!((simulated.expected - 29.0 / 16.0).abs() < 0.3, "{simulated:?}");
    // Neither one seed matching nor one sample tells anything about the error.
    assert_eq!((simulated.lower, simulated.upper), (0.0, 6.0));
    let simulated = simulate_as_published(&h(), 1, 1, &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(
        (simulated.samples, simulated.lower, simulated.upper),
        (1, 0.0, 6.0)
    );
}

/// Three items, each with its own code and the next item's as candidates: a mapping cracks all of them or
/// none.
fn six_cycle() -> CrackSpace {
    space_of(&[(0, vec![0, 1]), (1, vec![1, 2]), (2, vec![0, 2])])
}

#[test]
fn swaps_get_stuck_on_a_cycle_and_rotations_do_not() {
    let of = |moves| {
        simulate(&six_cycle(), &all_samples(moves, 10_000), &Control::new())
            .unwrap()
            .unwrap()
    };
    assert_eq!(of(Moves::Swaps).expected, 3.0);
    assert!((of(Moves::Groups).expected - 1.5).abs() < 0.05);
    let itemsets = [vec![0], vec![0, 1]];
    let of = simulate_itemsets(
        &six_cycle(),
        &itemsets,
        &all_samples(Moves::Groups, 10_000),
        &Control::new(),
    );
    for probability in of.unwrap().unwrap().crack_probability {
        assert!((probability - 0.5).abs() < 0.02);
    }
}

#[test]
fn rotations_follow_long_cycles() {
    let items: Vec<(u32, Vec<u32>)> = (0..12)
        .map(|item| {
            (
                item,
                if item < 11 {
                    vec![item, item + 1]
                } else {
                    vec![0, 11]
                },
            )
        })
        .collect();
    let simulated = simulate(
        &space_of(&items),
        &all_samples(Moves::Groups, 20_000),
        &Control::new(),
    );
    let simulated = simulated.unwrap().unwrap();
    assert!((simulated.expected - 6.0).abs() < 0.6, "{simulated:?}");
    assert!(simulated.lower < 6.0 && 6.0 < simulated.upper);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let on_threads = |threads: usize, moves| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let simulation = Simulation {
            moves,
            seed: 5,
            ..Simulation::default()
        };
        pool.install(|| simulate(&h(), &simulation, &Control::new()).unwrap())
    };
    for moves in [Moves::Swaps, Moves::Groups] {
        assert_eq!(on_threads(1, moves), on_threads(2, moves));
    }
}

#[test]
fn nothing_and_a_single_item() {
    let control = Control::new();
    let nothing = simulate(&space_of(&[]), &Simulation::default(), &control)
        .unwrap()
        .unwrap();
    assert_eq!((nothing.expected, nothing.lower, nothing.upper), (0.0, 0.0, 0.0));
    assert!(nothing.is_precise_enough && nothing.crack_probability.is_empty());
    let one = simulate(&space_of(&[(0, vec![0])]), &Simulation::default(), &control)
        .unwrap()
        .unwrap();
    assert_eq!((one.expected, one.lower, one.upper), (1.0, 1.0, 1.0));
    assert!(one.is_precise_enough);
    let wrong = simulate(&space_of(&[(0, vec![])]), &Simulation::default(), &control);
    assert_eq!(wrong, Ok(None));
}

#[test]
fn without_time_anything_is_possible() {
    let simulation = Simulation {
        budget: Some(Duration::ZERO),
        ..Simulation::default()
    };
    let simulated = simulate(&h(), &simulation, &Control::new()).unwrap().unwrap();
    assert!(!simulated.is_precise_enough);
    assert_eq!((simulated.lower, simulated.upper), (0.0, 6.0));
}

#[test]
fn an_unseen_crack_is_not_excluded() {
    // The only mapping gives each item the other's code, although the first item's own code is one of its
    // candidates.
    let space = space_of(&[(0, vec![0, 1]), (1, vec![0])]);
    let simulated = simulate(&space, &all_samples(Moves::Groups, 10_000), &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!((simulated.expected, simulated.lower), (0.0, 0.0));
    assert!(simulated.upper > 0.0 && !simulated.is_precise_enough);
}

#[test]
fn cancel_is_obeyed() {
    let control = Control::new();
    control.cancel();
    let cancelled = Err(Error::Cancelled);
    assert_eq!(simulate(&h(), &Simulation::default(), &control), cancelled);
    assert_eq!(simulate_as_published(&h(), 5000, 0, &control), cancelled);
}

#[test]
fn arguments_are_checked() {
    let control = Control::new();
    let argument = |error| match error {
        Error::InvalidArgument { argument, .. } => argument,
        _ => "",
    };
    for relative_error in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let simulation = Simulation {
            relative_error,
            ..Simulation::default()
        };
        let refused = simulate(&h(), &simulation, &control).unwrap_err();
        assert_eq!(argument(refused), "relative_error");
    }
    let refused = simulate_itemsets(&h(), &[vec![6]], &Simulation::default(), &control).unwrap_err();
    assert_eq!(argument(refused), "itemsets");
    for pairs in [[(0, 0)], [(0, 6)]] {
        let apart = Apart {
            pairs: &pairs,
            together: &|_, _| false,
        };
        let refused = simulate_apart(&h(), &apart, &Simulation::default(), &control).unwrap_err();
        assert_eq!(argument(refused), "apart");
    }
    let mut space = h();
    space.own_code_class[0] = 0;
    assert_eq!(
        argument(simulate(&space, &Simulation::default(), &control).unwrap_err()),
        "space"
    );
}

#[test]
fn pairs_that_cannot_be_kept_apart_are_refused() {
    let apart = Apart {
        pairs: &[(0, 1)],
        together: &|_, _| true,
    };
    let refused = simulate_apart(&h(), &apart, &Simulation::default(), &Control::new()).unwrap_err();
    assert!(matches!(
        refused,
        Error::InvalidArgument {
            argument: "apart",
            ..
        }
    ));
}
