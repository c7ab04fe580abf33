//! Ranks and their correlation: the definitions, golden values, and properties.

use disclosure::permutation::{self, Ties};
use disclosure::{Control, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::permutation::shared_half_ranks;

fn places(values: &[i64]) -> Vec<u32> {
    let keys: Vec<u64> = values.iter().map(|&value| value as u64 ^ 1 << 63).collect();
    permutation::places(&keys, &Control::new()).unwrap()
}

fn ranks(places: &[u32], ties: Ties) -> Vec<u32> {
    permutation::ranks(places, ties, &Control::new()).unwrap()
}

fn rank_correlation(first: &[u32], second: &[u32]) -> Option<f64> {
    permutation::rank_correlation(first, second, &Control::new()).unwrap()
}

fn order(values: &[i64], seed: u64) -> Vec<u32> {
    permutation::order_of_places(&places(values), seed, &Control::new()).unwrap()
}

fn reverse_map(original: &[i64], anonymised: &[i64], seed: u64) -> Vec<i64> {
    let sources = permutation::reverse_map(&order(original, seed), &order(anonymised, seed));
    sources.iter().map(|&source| original[source as usize]).collect()
}

const X: [i64; 5] = [10, 20, 30, 40, 50];
const Y: [i64; 5] = [33, 11, 58, 22, 47];

#[test]
fn the_example_by_hand() {
    let z = reverse_map(&X, &Y, 1);
    assert_eq!(z, [30, 10, 50, 20, 40]);
    assert_eq!(rank_correlation(&places(&X), &places(&z)), Some(0.3));
    let shifts = permutation::rank_shifts(&order(&X, 1), &order(&Y, 1));
    assert_eq!(shifts, [2, 1, 2, 2, 1]);
}

#[test]
fn places_are_those_of_the_different_values() {
    let values: Vec<i64> = (0..50_000)
        .map(|number: i64| number * 7919 % 4096 - 2048)
        .collect();
    let found = places(&values);
    for (&value, &place) in values.iter().zip(&found) {
        assert_eq!(i64::from(place), value + 2048 + 1);
    }
    assert_eq!(places(&[i64::MAX, -5, i64::MIN, -5]), [3, 2, 1, 2]);
}

#[test]
fn many_keys_are_ordered_as_places_are() {
    let control = Control::new();
    // Keys near each other and far apart, two, few and many different ones.
    for (different, stretch) in [(2, 1), (500, 1), (1 << 20, 1), (500, 1 << 50), (1 << 14, 1 << 49)] {
        let key = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % different * stretch;
        let mut keys: Vec<u64> = (0..40_000).map(key).collect();
        let mut places = permutation::places(&keys, &control).unwrap();
        for seed in [1, 2] {
            let found = permutation::order(&keys, &[], seed, &control).unwrap();
            assert!(found == permutation::order_of_places(&places, seed, &control).unwrap());
        }
        let absent = [3, 17, 39_999];
        for record in absent {
            (keys[record as usize], places[record as usize]) = (u64::MAX, NULL);
        }
        let found = permutation::order(&keys, &absent, 1, &control).unwrap();
        assert!(found == permutation::order_of_places(&places, 1, &control).unwrap());
    }
}

#[test]
fn absent_values_come_last() {
    assert_eq!(ranks(&[2, NULL, 1], Ties::Shared), [4, 6, 2]);
    assert_eq!(ranks(&[NULL, NULL, 1], Ties::Shared), [5, 5, 2]);
    assert_eq!(ranks(&[NULL], Ties::Random { seed: 3 }), [2]);
    assert!(ranks(&[], Ties::Shared).is_empty());
}

#[test]
fn ties_are_broken_by_the_seed_in_every_way() {
    let orders = |seed| ranks(&[1, 1, 1], Ties::Random { seed });
    let mut seen: Vec<_> = (0..200).map(orders).collect();
    assert_eq!(orders(7), orders(7));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_constant_column_correlates_with_nothing() {
    assert_eq!(rank_correlation(&[1, 1, 1], &[1, 2, 3]), None);
    assert_eq!(rank_correlation(&[1], &[1]), None);
    assert_eq!(rank_correlation(&[], &[]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn ranks_are_those_of_the_definition(places in prop::collection::vec(0u32..6, 0..30), seed: u64) {
        let shared = ranks(&places, Ties::Shared);
        prop_assert_eq!(&shared, &shared_half_ranks(&places));
        let random = ranks(&places, Ties::Random { seed });
        let mut all = random.clone();
        all.sort_unstable();
        prop_assert_eq!(all, (1..=places.len() as u32).map(|rank| 2 * rank).collect::<Vec<_>>());
        for (a, b) in random.iter().zip(&shared).flat_map(|a| random.iter().zip(&shared).map(move |b| (a, b))) {
            prop_assert!(a.1 >= b.1 || a.0 < b.0, "a larger value has the larger rank");
        }
    }

    #[test]
    fn keys_are_ordered_as_places_are(
        keys in prop::collection::vec(prop::option::of(prop::sample::select(vec![0u64, 1, 7, u64::MAX])), 0..30),
        seed: u64,
    ) {
        let absent: Vec<u32> = (0..).zip(&keys).filter(|(_, key)| key.is_none()).map(|(record, _)| record).collect();
        let places: Vec<u32> = keys.iter().map(|key| key.map_or(NULL, |key| 1 + key.min(8) as u32)).collect();
        let keys: Vec<u64> = keys.iter().map(|key| key.unwrap_or(u64::MAX)).collect();
        prop_assert_eq!(
            permutation::order(&keys, &absent, seed, &Control::new()).unwrap(),
            permutation::order_of_places(&places, seed, &Control::new()).unwrap()
        );
    }

    #[test]
    fn reverse_mapping_permutes(pairs in prop::collection::vec((-5i64..5, -5i64..5), 1..30), seed: u64) {
        let (x, y): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
        let z = reverse_map(&x, &y, seed);
        let sorted = |values: &[i64]| { let mut values = values.to_vec(); values.sort_unstable(); values };
        prop_assert_eq!(sorted(&z), sorted(&x));
        prop_assert_eq!(reverse_map(&x, &x, seed), x.clone());
        let stretched: Vec<i64> = y.iter().map(|y| y * y * y - 7).collect();
        prop_assert_eq!(reverse_map(&x, &stretched, seed), z);
    }

    #[test]
    fn reverse_mapping_is_that_of_the_definition(
        x in prop::collection::btree_set(-99i64..99, 12),
        y in prop::collection::btree_set(-99i64..99, 12),
        seed: u64,
    ) {
        // Sets come sorted; a seeded order of their values makes columns of them.
        let order = ranks(&[1; 12], Ties::Random { seed });
        let column = |set: &std::collections::BTreeSet<i64>, step: usize| -> Vec<i64> {
            let values: Vec<i64> = set.iter().copied().collect();
            (0..12).map(|row| values[order[row * step % 12] as usize / 2 - 1]).collect()
        };
        let (x, y) = (column(&x, 1), column(&y, 5));
        prop_assert_eq!(reverse_map(&x, &y, seed), reference::permutation::reverse_map(&x, &y));
    }

    #[test]
    fn correlation_is_that_of_the_ranks(pairs in prop::collection::vec((0u32..6, 0u32..6), 0..30)) {
        let (first, second): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let number = first.len() as f64;
        let centred = |places: &[u32]| -> Vec<f64> {
            shared_half_ranks(places).iter().map(|&twice| f64::from(twice) / 2.0 - (number + 1.0) / 2.0).collect()
        };
        let (a, b) = (centred(&first), centred(&second));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (aa, bb) = (product(&a, &a), product(&b, &b));
        match rank_correlation(&first, &second) {
            None => prop_assert!(aa == 0.0 || bb == 0.0),
            Some(found) => prop_assert!((found - product(&a, &b) / (aa * bb).sqrt()).abs() < 1e-12),
        }
        prop_assert!(matches!(rank_correlation(&first, &first), None | Some(1.0)));
    }
}
