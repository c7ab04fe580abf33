//! Compares the probabilities of cracked itemsets with their definition: all mappings of a few codes, one by
//! one.

use crate::spaces::{any_space, around, assert_close, big_mart, config, edges, h, k, mappings, space};
use disclosure::cracks::{
    CrackSpace, Frequencies, ItemsetCracks, Width, ignorant_itemset_cracks, ignorant_itemset_probability,
    point_valued_itemset_cracks, point_valued_itemset_probability,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use rayon::prelude::*;
use reference::cracks::{itemset_probability, itemsets, os, os2};

fn of_size(n: usize, size: usize) -> impl Iterator<Item = Vec<u32>> {
    itemsets(n).filter(move |itemset| itemset.len() == size)
}

/// The graph of Fig. 6(b), in which every code is a class: N(1) = N(2) = {1', 2'}, N(3) = {2', 3', 4'}, N(4)
/// = {3', 4'}.
fn figure_6b() -> CrackSpace {
    space(&[0, 1, 2, 3], &[0b0011, 0b0011, 0b1110, 0b1100])
}

fn exact(space: &CrackSpace, itemset: &[u32]) -> Option<f64> {
    ItemsetCracks::new(space).exact(itemset, &Control::new()).unwrap()
}

#[test]
fn pairs_of_big_mart() {
    let h = h();
    let golden = [
        ([0, 1], 8.0),
        ([0, 2], 12.0),
        ([0, 3], 24.0),
        ([0, 4], 8.0),
        ([0, 5], 12.0),
        ([1, 2], 16.0),
    ];
    for (pair, one_in) in golden {
        assert_close(exact(&h, &pair).unwrap(), 1.0 / one_in);
        assert_close(itemset_probability(&mappings(&h), &pair).unwrap(), 1.0 / one_in);
    }
    let f = around(&big_mart(), Width::Share(0.0));
    for (pair, one_in) in [([0, 1], 4.0), ([0, 2], 6.0)] {
        assert_close(exact(&f, &pair).unwrap(), 1.0 / one_in);
        assert_close(
            point_valued_itemset_probability(&big_mart(), &pair).unwrap(),
            1.0 / one_in,
        );
    }
    let g = around(&big_mart(), Width::Ignorant);
    for pair in of_size(6, 2) {
        assert_close(exact(&g, &pair).unwrap(), 1.0 / 15.0);
    }
    assert_close(ignorant_itemset_probability(6, 2), 1.0 / 15.0);
}

#[test]
fn estimates_of_figure_6b() {
    let space = figure_6b();
    let cracks = ItemsetCracks::new(&space);
    for (pair, probability, estimate) in [
        ([0, 1], 1.0, 1.0),
        ([0, 2], 0.25, 1.0 / 6.0),
        ([1, 2], 0.25, 1.0 / 3.0),
    ] {
        assert_close(exact(&space, &pair).unwrap(), probability);
        assert_close(cracks.os(&pair).unwrap(), estimate);
    }
}

#[test]
fn a_mapping_that_does_not_exist_cracks_nothing_for_sure() {
    let space = k();
    assert_eq!(exact(&space, &[3, 5]), None);
    assert_close(
        ItemsetCracks::new(&space).os(&[3, 5]).unwrap(),
        os(&edges(&space), &[3, 5]),
    );
}

#[test]
fn groups_of_25() {
    let frequencies = Frequencies::new(10, (0..100).map(|item| item % 4 + 1).collect());
    let all: Vec<u32> = (0..100).collect();
    let cracks =
        |items: &[u32], size| point_valued_itemset_cracks(&frequencies, items, size, &Control::new());
    assert_close(cracks(&all, 3).unwrap(), 20.0);
    assert_close(cracks(&all, 1).unwrap(), 4.0);
    assert_close(cracks(&all[..50], 1).unwrap(), 2.0);
    assert_eq!(cracks(&all, 101), Ok(0.0));
}

#[test]
fn numbers_of_itemsets_beyond_any_type() {
    let frequencies = Frequencies::new(1, vec![1; 5000]);
    let all: Vec<u32> = (0..5000).collect();
    assert_close(
        point_valued_itemset_cracks(&frequencies, &all, 2500, &Control::new()).unwrap(),
        1.0,
    );
    assert_eq!(ignorant_itemset_probability(5000, 2500), 0.0);
    assert_close(ignorant_itemset_probability(5000, 4999), 1.0 / 5000.0);
    assert_close(ignorant_itemset_cracks(5000, 4999, 2500), 0.5);
    let different = Frequencies::new(5000, (0..5000).collect());
    let cracks = point_valued_itemset_cracks(&different, &all, 2500, &Control::new());
    assert_eq!(cracks, Ok(f64::INFINITY));
}

#[test]
fn nothing_and_one_item() {
    let none = Frequencies::new(0, vec![]);
    let space = around(&none, Width::Median);
    assert_eq!(exact(&space, &[]), Some(1.0));
    assert_eq!(ItemsetCracks::new(&space).os(&[]), Ok(1.0));
    assert_eq!(ItemsetCracks::new(&space).os2(&[]), Ok(1.0));
    assert_eq!(ignorant_itemset_probability(0, 0), 1.0);
    assert_eq!(ignorant_itemset_probability(0, 1), 0.0);
    assert_eq!(ignorant_itemset_cracks(0, 0, 1), 0.0);
    let one = around(&Frequencies::new(3, vec![2]), Width::Median);
    assert_eq!(exact(&one, &[0]), Some(1.0));
}

#[test]
fn an_itemset_has_different_known_items() {
    let space = h();
    let cracks = ItemsetCracks::new(&space);
    for itemset in [[0, 0], [0, 6]] {
        let exact = cracks.exact(&itemset, &Control::new()).map(|_| 0.0);
        let point = point_valued_itemset_probability(&big_mart(), &itemset);
        let steps = cracks.steps([&itemset[..]], &Control::new());
        for answer in [exact, point, steps, cracks.os(&itemset), cracks.os2(&itemset)] {
            let is_named = matches!(
                &answer,
                Err(Error::InvalidArgument {
                    argument: "itemset",
                    ..
                })
            );
            assert!(is_named, "{answer:?}");
        }
    }
}

#[test]
fn a_cancelled_answer_is_none() {
    let control = Control::new();
    control.cancel();
    let space = h();
    assert_eq!(
        ItemsetCracks::new(&space).exact(&[0, 1, 2], &control),
        Err(Error::Cancelled)
    );
}

#[test]
fn threads_find_the_same() {
    let frequencies = Frequencies::new(200, (0..40u64).map(|item| item * item / 9).collect());
    let space = around(&frequencies, Width::Share(0.03));
    let triple = |number: u32| [number % 40, (number * 7 + 1) % 40, (number * 3 + 2) % 40];
    let is_itemset = |[a, b, c]: &[u32; 3]| a != b && b != c && a != c;
    let itemsets: Vec<[u32; 3]> = (0..200).map(triple).filter(is_itemset).collect();
    let together = ItemsetCracks::new(&space);
    let of_threads: Vec<Option<f64>> = itemsets
        .par_iter()
        .map(|itemset| together.exact(itemset, &Control::new()).unwrap())
        .collect();
    let one_by_one: Vec<Option<f64>> = itemsets.iter().map(|itemset| exact(&space, itemset)).collect();
    assert_eq!(of_threads, one_by_one);
}

#[test]
fn steps_are_counted_once() {
    let space = h();
    let cracks = ItemsetCracks::new(&space);
    let steps = |itemsets: &[&[u32]]| cracks.steps(itemsets.iter().copied(), &Control::new()).unwrap();
    assert!(steps(&[&[0, 1, 2]]) > 0.0);
    assert_eq!(steps(&[&[0, 1, 2], &[2, 1, 0], &[0, 1, 5]]), steps(&[&[0, 1, 2]]));
    assert_eq!(steps(&[&[0, 1], &[0, 1]]), steps(&[&[0, 1]]));
    assert!(steps(&[&[0, 1, 2], &[0, 1, 3]]) > steps(&[&[0, 1, 2]]));
}

fn any_frequencies() -> impl Strategy<Value = Frequencies> {
    (0..=7usize)
        .prop_flat_map(|n| prop::collection::vec(0..=5u64, n))
        .prop_map(|counts| Frequencies::new(5, counts))
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn itemsets_of_any_graph(space in any_space()) {
        let (mappings, edges) = (mappings(&space), edges(&space));
        let cracks = ItemsetCracks::new(&space);
        for itemset in itemsets(space.items()) {
            let exact = cracks.exact(&itemset, &Control::new()).unwrap();
            match (exact, itemset_probability(&mappings, &itemset)) {
                (Some(exact), Some(expected)) => assert_close(exact, expected),
                (exact, expected) => prop_assert_eq!(exact, expected),
            }
            assert_close(cracks.os(&itemset).unwrap(), os(&edges, &itemset));
            assert_close(cracks.os2(&itemset).unwrap(), os2(&edges, &itemset));
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn extreme_beliefs(frequencies in any_frequencies(), interest in 0u32..128) {
        let n = frequencies.items();
        let items: Vec<u32> = (0..n as u32).filter(|item| interest >> item & 1 == 1).collect();
        let known = mappings(&around(&frequencies, Width::Share(0.0)));
        let unknown = mappings(&around(&frequencies, Width::Ignorant));
        for size in 0..=n {
            let (mut of_known, mut of_unknown) = (0.0, 0.0);
            for itemset in of_size(n, size) {
                let [point, ignorant] =
                    [&known, &unknown].map(|mappings| itemset_probability(mappings, &itemset).unwrap());
                assert_close(point_valued_itemset_probability(&frequencies, &itemset).unwrap(), point);
                assert_close(ignorant_itemset_probability(n as u64, size as u64), ignorant);
                if itemset.iter().all(|item| items.contains(item)) {
                    of_known += point;
                    of_unknown += ignorant;
                }
            }
            let point = point_valued_itemset_cracks(&frequencies, &items, size, &Control::new()).unwrap();
            assert_close(point, of_known);
            assert_close(ignorant_itemset_cracks(n as u64, items.len() as u64, size as u64), of_unknown);
        }
    }
}
