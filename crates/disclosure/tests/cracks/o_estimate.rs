//! Compares the O-estimate, with and without propagation, with graphs of single nodes.

use crate::spaces::{big_mart, h, k};
use disclosure::cracks::{CrackSpace, Width, o_estimate, o_estimate_items, propagated};
use disclosure::matching::{Graph, ItemClass};
use proptest::prelude::*;
use reference::cracks::{Edges, mappings, propagate};

/// Returns the space in which codes and items with the same neighbours form classes.
fn space(edges: &Edges) -> CrackSpace {
    let items = edges.len();
    let column = |code: usize| edges.iter().map(|row| row[code]).collect::<Vec<_>>();
    let columns: Vec<Vec<bool>> = (0..items).map(column).collect();
    let mut kinds: Vec<&Vec<bool>> = columns.iter().collect();
    kinds.sort();
    kinds.dedup();
    let own: Vec<u32> = columns
        .iter()
        .map(|column| kinds.binary_search(&column).unwrap() as u32)
        .collect();
    let mut codes = vec![0; kinds.len()];
    own.iter().for_each(|&class| codes[class as usize] += 1);
    let mut classes: Vec<ItemClass> = Vec::new();
    let class_of = edges.iter().map(|row| {
        let mut candidates: Vec<u32> = (0..items)
            .filter(|&code| row[code])
            .map(|code| own[code])
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        let class = classes.iter().position(|class| class.candidates == candidates);
        let class = class.unwrap_or_else(|| {
            classes.push(ItemClass { size: 0, candidates });
            classes.len() - 1
        });
        classes[class].size += 1;
        class as u32
    });
    let class_of = class_of.collect();
    CrackSpace {
        graph: Graph {
            codes,
            items: classes,
        },
        class_of,
        own_code_class: own,
    }
}

fn graph_of_codes(neighbours: &[&[usize]]) -> Edges {
    let row = |codes: &&[usize]| (1..=neighbours.len()).map(|code| codes.contains(&code)).collect();
    neighbours.iter().map(row).collect()
}

fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
}

#[test]
fn the_examples_of_figure_6() {
    let a = space(&graph_of_codes(&[&[1], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4]]));
    assert_close(o_estimate(&a), 25.0 / 12.0);
    assert_close(propagated(&a), 4.0);
    let b = space(&graph_of_codes(&[&[1, 2], &[1, 2], &[2, 3, 4], &[3, 4]]));
    assert_close(o_estimate(&b), 1.0 + 1.0 / 3.0 + 0.5);
    assert_close(propagated(&b), o_estimate(&b));
}

#[test]
fn the_beliefs_of_bigmart() {
    let around = |width| crate::spaces::around(&big_mart(), width);
    assert_close(o_estimate(&around(Width::Share(0.0))), 3.0);
    assert_close(o_estimate(&around(Width::Ignorant)), 1.0);
    assert_close(o_estimate(&around(Width::Share(0.1))), 22.0 / 15.0);
    assert_close(o_estimate(&h()), 47.0 / 30.0);
    assert_close(o_estimate(&k()), 19.0 / 20.0);
    assert_eq!(o_estimate_items(&k())[..3], [0.0; 3]);
}

#[test]
fn items_competing_for_one_code_are_equally_likely() {
    // Items 1 and 2 can only have code 1, so codes 2 and 3 are left for item 3.
    let edges = graph_of_codes(&[&[1], &[1], &[1, 2, 3]]);
    assert_close(propagated(&space(&edges)), 0.5 + 0.5);
    // No item has a candidate.
    assert_eq!(
        propagated(&space(&graph_of_codes(&[&[], &[]]))).to_bits(),
        0.0f64.to_bits()
    );
    assert_eq!(o_estimate(&space(&Vec::new())).to_bits(), 0.0f64.to_bits());
}

fn edges() -> impl Strategy<Value = Edges> {
    // Each node gets a row or column of a coarse grid, so that nodes with the same neighbours are common.
    (1usize..=7, 1usize..=7, 0.1..0.9f64).prop_flat_map(|(nodes, kinds, density)| {
        let grid = proptest::collection::vec(proptest::bool::weighted(density), kinds * kinds);
        let kind = || proptest::collection::vec(0..kinds, nodes);
        (grid, kind(), kind(), proptest::bool::weighted(0.6)).prop_map(
            move |(grid, rows, columns, compliant)| {
                let edge = |x: usize, y: usize| grid[rows[x] * kinds + columns[y]] || (compliant && x == y);
                (0..nodes)
                    .map(|x| (0..nodes).map(|y| edge(x, y)).collect())
                    .collect()
            },
        )
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 3_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2008),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn estimates_are_as_defined(edges in edges()) {
        let space = space(&edges);
        let defined = |edges: &Edges| reference::cracks::o_estimate(edges).iter().sum();
        assert_close(o_estimate(&space), defined(&edges));
        let after = propagated(&space);
        prop_assert!((0.0..=edges.len() as f64 + 1e-9).contains(&after));
        if !mappings(&edges).is_empty() {
            assert_close(after, defined(&propagate(edges)));
        }
    }
}
