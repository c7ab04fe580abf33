//! Spaces of crack mappings that several tests look at: beliefs about BigMart, and graphs of single nodes.

use disclosure::cracks::{Belief, CrackSpace, Frequencies, Width};
use proptest::prelude::*;
use reference::cracks::Edges;

/// For every item, whether each code can stand for it.
pub fn edges(space: &CrackSpace) -> Edges {
    let edge = |item: usize, code: usize| space.class(item).candidates.contains(&space.own[code]);
    let codes = |item| (0..space.items()).map(|code| edge(item, code)).collect();
    (0..space.items()).map(codes).collect()
}

/// All crack mappings: for every item, the code that it gets.
pub fn mappings(space: &CrackSpace) -> Vec<Vec<u32>> {
    reference::cracks::mappings(&edges(space))
}

/// Fig. 1.
pub fn big_mart() -> Frequencies {
    Frequencies::new(10, vec![5, 4, 5, 5, 3, 5])
}

pub fn around(frequencies: &Frequencies, width: Width) -> CrackSpace {
    Belief::around(frequencies, width).unwrap().space(frequencies)
}

fn intervals(of_items: [(f64, f64); 6]) -> CrackSpace {
    let frequencies = big_mart();
    Belief::of_intervals(&frequencies, &of_items.map(Some)).space(&frequencies)
}

/// Fig. 2.
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

/// Fig. 2: wrong about the first three items.
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
