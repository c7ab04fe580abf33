//! Compares edge filtering and belief refinement with graphs of single nodes.

use crate::spaces::{big_mart, edges};
use disclosure::Control;
use disclosure::cracks::{
    Belief, CrackSpace, Frequencies, NEARLY_ALWAYS, Pair, Transactions, Width, filter_edges, o_estimate,
    propagated, refine_beliefs, top_pairs,
};
use proptest::prelude::*;

/// Asserts that candidates are in ascending order, that no two classes of items have the same candidates,
/// that no class of codes is empty, and that the sizes of all classes are right.
fn assert_sound(space: &CrackSpace) {
    let count = |of: &[u32], class: usize| of.iter().filter(|&&other| other as usize == class).count();
    for (class, &size) in space.graph.codes.iter().enumerate() {
        assert_eq!(count(&space.own_code_class, class), size as usize);
        assert!(size > 0);
    }
    for (class, items) in space.graph.items.iter().enumerate() {
        assert_eq!(count(&space.class_of, class), items.size as usize);
        assert!(items.candidates.windows(2).all(|pair| pair[0] < pair[1]));
        let twins = space
            .graph
            .items
            .iter()
            .filter(|other| other.candidates == items.candidates);
        assert_eq!(twins.count(), 1);
    }
}

fn pairs(items: u32) -> impl Strategy<Value = Vec<(u32, u32)>> {
    let pair = (0..items, 0..items).prop_filter("two items", |(a, b)| a != b);
    prop::collection::vec(pair, 0..5)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 3_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(22),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn filtering_is_as_defined(
        (counts, known, frequent) in (2u32..9).prop_flat_map(|items| {
            (prop::collection::vec(0..8u64, items as usize), pairs(items), pairs(items))
        }),
        width in 0.0..0.5f64,
    ) {
        let frequencies = Frequencies::new(8, counts);
        let space = Belief::around(&frequencies, Width::Share(width)).unwrap().space(&frequencies);
        let found = filter_edges(&space, &known, &frequent);
        assert_sound(&found);
        prop_assert_eq!(edges(&found), reference::cracks::filter_edges(edges(&space), &known, &frequent));
    }
}

/// Items 1 and 2 of BigMart and their codes, as in the example of section 7.1.
#[test]
fn one_pair_of_bigmart() {
    let frequencies = big_mart();
    let point_valued = Belief::around(&frequencies, Width::Share(0.0)).unwrap();
    let space = point_valued.space(&frequencies);
    let pair = [(0, 1)];
    let adjusted = filter_edges(&space, &pair, &pair);
    // Item 1 has one candidate instead of four.
    assert!((o_estimate(&adjusted) - 3.75).abs() < 1e-12);
    // Propagation removes its code from the candidates of the three others.
    assert!((propagated(&adjusted) - 4.0).abs() < 1e-12);
    assert_eq!(edges(&filter_edges(&space, &[], &pair)), edges(&space));
}

#[test]
fn beliefs_are_refined_for_pairs_nearly_always_together() {
    let mut transactions = Transactions::new(4);
    (0..19).for_each(|_| transactions.push(&[0, 1, 2]).unwrap());
    transactions.push(&[0, 2]).unwrap();
    (0..4).for_each(|_| transactions.push(&[2, 3]).unwrap());
    let frequencies = transactions.frequencies();
    let known = top_pairs(&transactions, 10, &Control::new()).unwrap();
    let share = |one, other| {
        let pair = known.iter().find(|pair| pair.items() == (one, other)).unwrap();
        pair.share(&frequencies)
    };
    assert_eq!(
        [share(0, 1), share(0, 2), share(2, 3)],
        [0.95, 20.0 / 24.0, 4.0 / 24.0]
    );
    let intervals = [Some((0.5, 0.9)), Some((0.7, 1.0)), None, None];
    let mut belief = Belief::from_intervals(&frequencies, &intervals);
    assert_eq!(
        refine_beliefs(&mut belief, &frequencies, &known, NEARLY_ALWAYS),
        0
    );
    assert_eq!(refine_beliefs(&mut belief, &frequencies, &known, 0.95), 1);
    let refined = [Some((0.7, 0.9)), Some((0.7, 0.9)), None, None];
    assert_eq!(belief, Belief::from_intervals(&frequencies, &refined));
    let phantom = Pair {
        one: 0,
        other: 1,
        together: 0,
    };
    assert_eq!(phantom.share(&Frequencies::new(0, vec![0, 0])), 0.0);
}
