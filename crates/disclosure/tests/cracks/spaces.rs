//! Spaces of crack mappings for several tests: beliefs about BigMart, and conversion to graphs of single
//! nodes.

use disclosure::cracks::{Belief, CrackSpace, Frequencies, Width};
use disclosure::matching::{Graph, ItemClass};
use proptest::prelude::*;
use reference::cracks::Edges;

/// Returns, for every item, whether each code can stand for it.
pub fn edges(space: &CrackSpace) -> Edges {
    let edge = |item: usize, code: usize| space.class(item).candidates.contains(&space.own_code_class[code]);
    let codes = |item| (0..space.items()).map(|code| edge(item, code)).collect();
    (0..space.items()).map(codes).collect()
}

/// Returns all crack mappings: for every item, the code that it gets.
pub fn mappings(space: &CrackSpace) -> Vec<Vec<u32>> {
    reference::cracks::mappings(&edges(space))
}

/// The frequencies of BigMart (Fig. 1).
pub fn big_mart() -> Frequencies {
    Frequencies::new(10, vec![5, 4, 5, 5, 3, 5])
}

pub fn around(frequencies: &Frequencies, width: Width) -> CrackSpace {
    Belief::around(frequencies, width).unwrap().space(frequencies)
}

fn intervals(of_items: [(f64, f64); 6]) -> CrackSpace {
    let frequencies = big_mart();
    Belief::from_intervals(&frequencies, &of_items.map(Some)).space(&frequencies)
}

/// Belief h of Fig. 2.
pub fn h() -> CrackSpace {
    intervals([
        (0.0, 1.0),
        (0.4, 0.5),
        (0.5, 0.5),
        (0.4, 0.6),
        (0.1, 0.4),
        (0.5, 0.5),
    ])
}

/// Belief k of Fig. 2, which is wrong about the first three items.
pub fn k() -> CrackSpace {
    intervals([
        (0.1, 0.4),
        (0.5, 0.5),
        (0.1, 0.3),
        (0.4, 0.6),
        (0.1, 0.4),
        (0.5, 0.5),
    ])
}

/// Returns the space given by the class of every item's own code, and for every item a bit set of the classes
/// of codes that can stand for it.
pub fn space(own: &[u32], candidates: &[u32]) -> CrackSpace {
    let mut present = own.to_vec();
    present.sort_unstable();
    present.dedup();
    let number = |class: &u32| {
        present
            .iter()
            .position(|other| other == class)
            .map_or(0, |at| at as u32)
    };
    let own: Vec<u32> = own.iter().map(number).collect();
    let mut items: Vec<ItemClass> = Vec::new();
    let mut class_of = Vec::new();
    for set in candidates {
        let candidates: Vec<u32> = (0..present.len() as u32)
            .filter(|code| set >> code & 1 == 1)
            .collect();
        let known = items.iter().position(|class| class.candidates == candidates);
        let class = known.unwrap_or(items.len());
        if class == items.len() {
            items.push(ItemClass { size: 0, candidates });
        }
        items[class].size += 1;
        class_of.push(class as u32);
    }
    let size = |class: usize| own.iter().filter(|&&other| other as usize == class).count() as u32;
    let codes = (0..present.len()).map(size).collect();
    CrackSpace {
        graph: Graph { codes, items },
        class_of,
        own_code_class: own,
    }
}

/// Generates any graph, with half of all possible edges or most of them.
pub fn any_space() -> impl Strategy<Value = CrackSpace> {
    (0..=6usize, 1..=6u32)
        .prop_flat_map(|(n, classes)| {
            let own = prop::collection::vec(0..classes, n);
            let set = prop_oneof![0u32..64, (0u32..64, 0u32..64).prop_map(|(a, b)| a | b)];
            (own, prop::collection::vec(set, n), any::<bool>())
        })
        .prop_map(|(own, mut candidates, is_compliant)| {
            let built = space(&own, &candidates);
            if is_compliant {
                for (set, own) in candidates.iter_mut().zip(&built.own_code_class) {
                    *set |= 1 << own;
                }
            }
            space(&own, &candidates)
        })
}

pub fn assert_close(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() <= 1e-9 * expected.max(1.0),
        "{value} is not {expected}"
    );
}

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: prop::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}
