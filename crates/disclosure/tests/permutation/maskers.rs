//! The reference maskers: rank swapping, additive noise, microaggregation.

use disclosure::permutation::{self, MicroaggregationSettings, NoiseSettings, RankSwapSettings};
use disclosure::{Control, Error, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::HashMap;

type Outcome<T> = Result<Vec<T>, Error>;

fn rank_swap(records: usize, p: f64, seed: u64, control: &Control) -> Outcome<u32> {
    permutation::rank_swap(records, &RankSwapSettings { p, seed }, control)
}

fn swap_records(dense_ranks: &[u32], p: f64, seed: u64, control: &Control) -> Outcome<u32> {
    permutation::swap_records(dense_ranks, &RankSwapSettings { p, seed }, control)
}

fn add_noise(values: &[Option<f64>], share: f64, seed: u64) -> Outcome<Option<f64>> {
    permutation::add_noise(values, &NoiseSettings { share, seed })
}

fn microaggregate(values: &[Option<f64>], k: usize, control: &Control) -> Outcome<Option<f64>> {
    permutation::microaggregate(values, &MicroaggregationSettings { k }, control)
}

/// Adds every outcome of rank swapping, by its definition, to `found`, with its probability.
fn all_swaps(reach: usize, swapped: Vec<Option<usize>>, chance: f64, found: &mut HashMap<Vec<u32>, f64>) {
    let Some(rank) = swapped.iter().position(Option::is_none) else {
        let outcome = swapped.iter().flatten().map(|&rank| rank as u32).collect();
        *found.entry(outcome).or_default() += chance;
        return;
    };
    let last = (rank + reach).min(swapped.len() - 1);
    let partners: Vec<usize> = (rank + 1..=last)
        .filter(|&other| swapped[other].is_none())
        .collect();
    let mut exchange = |partner: usize, chance: f64| {
        let mut swapped = swapped.clone();
        (swapped[rank], swapped[partner]) = (Some(partner), Some(rank));
        all_swaps(reach, swapped, chance, found);
    };
    match partners.len() {
        0 => exchange(rank, chance),
        number => partners
            .iter()
            .for_each(|&partner| exchange(partner, chance / number as f64)),
    }
}

#[test]
fn swaps_are_as_likely_as_defined() {
    const SEEDS: u64 = 20_000;
    for (records, reach) in [(3, 2), (5, 2), (6, 3), (5, 5)] {
        let mut expected = HashMap::new();
        all_swaps(reach, vec![None; records], 1.0, &mut expected);
        let mut found: HashMap<Vec<u32>, f64> = HashMap::new();
        for seed in 0..SEEDS {
            let p = 100.0 * reach as f64 / records as f64;
            *found
                .entry(rank_swap(records, p, seed, &Control::new()).unwrap())
                .or_default() += 1.0;
        }
        assert!(found.keys().all(|swapped| expected.contains_key(swapped)));
        for (swapped, chance) in expected {
            let (mean, number) = (chance * SEEDS as f64, found.get(&swapped).copied().unwrap_or(0.0));
            let error = (mean * (1.0 - chance)).sqrt();
            assert!(
                (number - mean).abs() <= 5.0 * error,
                "{swapped:?}: {number} for {mean}"
            );
        }
    }
}

#[test]
fn swapping_by_nothing_changes_nothing() {
    let unchanged: Vec<u32> = (0..50).collect();
    assert_eq!(rank_swap(50, 0.0, 1, &Control::new()).unwrap(), unchanged);
    assert_eq!(rank_swap(50, 1.9, 1, &Control::new()).unwrap(), unchanged);
    assert_ne!(rank_swap(50, 2.0, 1, &Control::new()).unwrap(), unchanged);
    assert_eq!(rank_swap(0, 10.0, 1, &Control::new()).unwrap(), Vec::<u32>::new());
    assert_eq!(rank_swap(1, 100.0, 1, &Control::new()).unwrap(), [0]);
}

#[test]
fn a_percentage_that_rounding_shortens_still_counts() {
    // 0.57 · 10000 / 100 is 56.99999999999999 in floating point.
    let swapped = rank_swap(10_000, 0.57, 1, &Control::new()).unwrap();
    let shifts = (0u32..).zip(&swapped).map(|(rank, from)| rank.abs_diff(*from));
    assert_eq!(shifts.max(), Some(57));
}

#[test]
fn percentages_are_checked() {
    for p in [-1.0, 100.5, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            rank_swap(5, p, 1, &Control::new()),
            Err(Error::InvalidArgument { argument: "p", .. })
        ));
    }
}

#[test]
fn equal_values_are_ordered_at_random() {
    // Only the last of the equal values reaches the larger one.
    let partners = |seed| swap_records(&[1, 1, 1, 2], 25.0, seed, &Control::new()).unwrap();
    let mut of_the_larger: Vec<u32> = (0..100).map(|seed| partners(seed)[3]).collect();
    of_the_larger.sort_unstable();
    of_the_larger.dedup();
    assert_eq!(of_the_larger, [0, 1, 2]);
}

#[test]
fn noise_has_the_share_of_the_deviation() {
    // Values with a standard deviation of 5, far from zero.
    let values: Vec<Option<f64>> = (0..40_000)
        .map(|at| Some(1e9 + f64::from(at % 2) * 10.0))
        .collect();
    let noisy = add_noise(&values, 0.2, 7).unwrap();
    let noise: Vec<f64> = noisy
        .iter()
        .zip(&values)
        .map(|(y, x)| y.unwrap() - x.unwrap())
        .collect();
    let mean = |numbers: &[f64], power: i32| {
        numbers.iter().map(|x| x.powi(power)).sum::<f64>() / numbers.len() as f64
    };
    // The tolerances are five standard errors of the moments of a normal distribution with standard deviation
    // 1.
    assert!(mean(&noise, 1).abs() < 5.0 / 200.0);
    assert!((mean(&noise, 2) - 1.0).abs() < 5.0 * 2f64.sqrt() / 200.0);
    assert!(mean(&noise, 3).abs() < 5.0 * 15f64.sqrt() / 200.0);
    assert!((mean(&noise, 4) - 3.0).abs() < 5.0 * 96f64.sqrt() / 200.0);
    assert_eq!(noisy, add_noise(&values, 0.2, 7).unwrap());
    assert_ne!(noisy, add_noise(&values, 0.2, 8).unwrap());
}

#[test]
fn noise_leaves_absent_values_and_constants() {
    assert_eq!(
        add_noise(&[None, Some(3.0), None, Some(3.0)], 1.0, 1).unwrap(),
        [None, Some(3.0), None, Some(3.0)]
    );
    assert_eq!(
        add_noise(&[Some(1.0), Some(2.0)], 0.0, 1).unwrap(),
        [Some(1.0), Some(2.0)]
    );
    assert_eq!(add_noise(&[None], 1.0, 1).unwrap(), [None]);
    assert!(add_noise(&[], 1.0, 1).unwrap().is_empty());
}

#[test]
fn noise_of_extreme_values_is_finite() {
    let noisy = add_noise(&[Some(-1e300), Some(1e300), Some(5e-324)], 0.01, 1).unwrap();
    assert!(noisy.iter().flatten().all(|value| value.is_finite()), "{noisy:?}");
    assert_ne!(noisy[0], Some(-1e300));
}

#[test]
fn only_finite_numbers_are_masked() {
    for value in [f64::NAN, f64::INFINITY] {
        let refused = |answer| {
            matches!(
                answer,
                Err(Error::InvalidArgument {
                    argument: "value",
                    ..
                })
            )
        };
        assert!(refused(add_noise(&[Some(value)], 0.1, 1)));
        assert!(refused(microaggregate(&[Some(value)], 2, &Control::new())));
        assert!(add_noise(&[Some(1.0)], value, 1).is_err());
    }
    assert!(add_noise(&[Some(1.0)], -0.1, 1).is_err());
    assert!(microaggregate(&[Some(1.0)], 0, &Control::new()).is_err());
}

#[test]
fn groups_are_optimal_where_fixed_ones_are_not() {
    let values = [21.0, 1.0, 20.0, 2.0, 22.0, 3.0, 4.0].map(Some);
    let means = microaggregate(&values, 3, &Control::new()).unwrap();
    assert_eq!(means, [21.0, 2.5, 21.0, 2.5, 21.0, 2.5, 2.5].map(Some));
}

#[test]
fn few_values_make_one_group() {
    let control = Control::new();
    assert_eq!(
        microaggregate(&[Some(1.0), None, Some(2.0)], 3, &control).unwrap(),
        [Some(1.5), None, Some(1.5)]
    );
    assert_eq!(microaggregate(&[None], 3, &control).unwrap(), [None]);
    assert!(microaggregate(&[], usize::MAX, &control).unwrap().is_empty());
}

#[test]
fn extreme_values_are_grouped() {
    let values = [1e308, -1e308, 1.1e308, -1.1e308].map(Some);
    let means = microaggregate(&values, 2, &Control::new()).unwrap();
    assert_eq!(means[0], means[2]);
    assert!((means[0].unwrap() / 1.05e308 - 1.0).abs() < 1e-15 && means[1] == means[3]);
}

#[test]
fn microaggregation_can_be_cancelled() {
    let control = Control::new();
    control.cancel();
    assert_eq!(
        microaggregate(&[Some(1.0); 9], 3, &control),
        Err(Error::Cancelled)
    );
}

/// Returns the sum of squared differences from the mean.
fn squares(group: &[f64]) -> f64 {
    let mean = group.iter().sum::<f64>() / group.len() as f64;
    group.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the smallest sum of squares over all ways to cut the sorted values into groups of at least `k`.
fn least_squares(sorted: &[f64], k: usize) -> f64 {
    let first = |size| squares(&sorted[..size]) + least_squares(&sorted[size..], k);
    match sorted.len() {
        0 => 0.0,
        all if all < 2 * k => squares(sorted),
        all => (k..=all - k).map(first).fold(squares(sorted), f64::min),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn nobody_moves_further_than_allowed(records in 0usize..60, p in 0.0f64..=100.0, seed: u64) {
        let swapped = rank_swap(records, p, seed, &Control::new()).unwrap();
        let reach = p / 100.0 * records as f64 + 1e-9;
        let mut stays: Vec<usize> = Vec::new();
        for (rank, &from) in swapped.iter().enumerate() {
            prop_assert!(rank.abs_diff(from as usize) as f64 <= reach);
            prop_assert_eq!(swapped[from as usize] as usize, rank, "two values change places");
            if rank == from as usize {
                stays.push(rank);
            }
        }
        for pair in stays.windows(2) {
            prop_assert!((pair[1] - pair[0]) as f64 > reach - 1e-6, "these two could have been swapped");
        }
    }

    #[test]
    fn records_get_values_of_ranks_nearby(
        dense_ranks in prop::collection::vec(0u32..9, 0..40),
        p in 0.0f64..=100.0,
        seed: u64,
    ) {
        let from = swap_records(&dense_ranks, p, seed, &Control::new()).unwrap();
        let key = |dense_rank: u32| if dense_rank == NULL { u32::MAX } else { dense_rank };
        for (record, &giver) in from.iter().enumerate() {
            prop_assert_eq!(from[giver as usize] as usize, record);
            // Number of ranks that are certainly between the two values.
            let ends = [key(dense_ranks[record]), key(dense_ranks[giver as usize])];
            let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let between = dense_ranks.iter().filter(|&&dense_rank| key(dense_rank) > low && key(dense_rank) < high).count();
            prop_assert!(low == high || (between + 1) as f64 <= p / 100.0 * dense_ranks.len() as f64 + 1e-9);
        }
    }

    #[test]
    fn microaggregation_is_optimal(
        numbers in prop::collection::vec(prop::option::weighted(0.9, 0i32..30), 0..13),
        k in 1usize..6,
    ) {
        const FAR: f64 = 1e9;
        let value = |number: i32| FAR + f64::from(number) / 8.0;
        let values: Vec<Option<f64>> = numbers.iter().map(|number| number.map(value)).collect();
        let means = microaggregate(&values, k, &Control::new()).unwrap();
        let pairs = values.iter().zip(&means).filter_map(|(value, mean)| value.zip(*mean));
        let found: f64 = pairs.map(|(value, mean)| (value - mean).powi(2)).sum();
        let mut sorted: Vec<f64> = values.iter().flatten().map(|value| value - FAR).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let least = least_squares(&sorted, k);
        prop_assert!((found - least).abs() < 1e-5 * (1.0 + least), "{found} for {least}");
        let mut records: HashMap<u64, usize> = HashMap::new();
        means.iter().flatten().for_each(|mean| *records.entry(mean.to_bits()).or_default() += 1);
        prop_assert!(records.values().all(|&records| records >= k.min(sorted.len())));
        prop_assert!(values.iter().zip(&means).all(|(value, mean)| value.is_some() == mean.is_some()));
    }
}
