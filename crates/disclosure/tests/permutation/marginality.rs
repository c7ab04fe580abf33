//! Marginality of nominal values.

use disclosure::permutation::marginality;
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Distances between flu, cold and gangrene: flu and cold are both diseases of the lungs, gangrene is far
/// from both.
const DISTANCE: [[f64; 3]; 3] = [[0.0, 0.1, 0.9], [0.1, 0.0, 0.8], [0.9, 0.8, 0.0]];

#[test]
fn the_frequent_and_near_are_central() {
    let found = marginality(&[5, 1, 2], |a, b| DISTANCE[a][b], &Control::new()).unwrap();
    // 0.1 + 2 · 0.9, 5 · 0.1 + 2 · 0.8, 5 · 0.9 + 0.8
    for (value, expected) in [1.9, 2.1, 5.3].into_iter().enumerate() {
        assert!((found.of_value(value) - expected).abs() < 1e-12);
    }
    assert_eq!(found.dense_ranks, [1, 2, 3]);
    let found = marginality(&[1, 5, 2], |a, b| DISTANCE[a][b], &Control::new()).unwrap();
    assert_eq!(found.dense_ranks, [2, 1, 3]);
}

#[test]
fn equally_marginal_values_share_a_dense_rank() {
    // The floating-point sum of 0.1, 0.2 and 0.3 depends on their order.
    let ring = [
        [0.0, 0.1, 0.2, 0.3],
        [0.1, 0.0, 0.3, 0.2],
        [0.2, 0.3, 0.0, 0.1],
        [0.3, 0.2, 0.1, 0.0],
    ];
    let found = marginality(&[1; 4], |a, b| ring[a][b], &Control::new()).unwrap();
    assert_eq!(found.dense_ranks, [1; 4]);
    assert_eq!(found.scale.len(), 1);
    let nowhere = marginality(&[3, 4], |_, _| 0.0, &Control::new()).unwrap();
    assert_eq!((nowhere.dense_ranks, nowhere.scale), (vec![1, 1], vec![0.0]));
    assert!(
        marginality(&[], |_, _| 1.0, &Control::new())
            .unwrap()
            .dense_ranks
            .is_empty()
    );
}

#[test]
fn distances_are_checked() {
    for distance in [-1.0, f64::NAN, f64::INFINITY] {
        let found = marginality(&[1, 1], |_, _| distance, &Control::new());
        assert!(matches!(
            found,
            Err(Error::InvalidArgument {
                argument: "distance",
                ..
            })
        ));
    }
    let control = Control::new();
    control.cancel();
    assert_eq!(marginality(&[1], |_, _| 1.0, &control), Err(Error::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn dense_ranks_follow_the_sum_over_records(
        records in prop::collection::vec(0usize..6, 0..20),
        seed in 1usize..1000,
    ) {
        let apart = |a: usize, b: usize| ((a + 1) * (b + 1) * seed % 17) as f64;
        let distance = |a: usize, b: usize| if a == b { 0.0 } else { apart(a, b) };
        let count = |value: usize| records.iter().filter(|&&other| other == value).count() as u64;
        let counts: Vec<u64> = (0..6).map(count).collect();
        let found = marginality(&counts, distance, &Control::new()).unwrap();
        let sum = |value: usize| records.iter().map(|&other| distance(value, other)).sum();
        let sums: Vec<f64> = (0..6).map(sum).collect();
        for (value, sum) in sums.iter().enumerate() {
            prop_assert_eq!(found.of_value(value), *sum);
            let less = sums.iter().filter(|other| *other < sum);
            let mut nearer: Vec<u64> = less.map(|sum| sum.to_bits()).collect();
            nearer.sort_unstable();
            nearer.dedup();
            prop_assert_eq!(found.dense_ranks[value] as usize, nearer.len() + 1);
        }
    }
}
