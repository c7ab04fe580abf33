//! Spaces of crack mappings for several tests: beliefs about BigMart, and conversion to graphs of single
//! nodes.

use disclosure::cracks::{Belief, CrackSpace, Frequencies, Width};
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
