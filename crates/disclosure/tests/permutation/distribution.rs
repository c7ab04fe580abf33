//! Distributions of distances: quantiles, overlap, and the Kolmogorov–Smirnov test against its definition.

use disclosure::Control;
use disclosure::permutation::{Distribution, PValueMethod};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn sample(distances: &[u32]) -> Distribution {
    Distribution::from_records(distances.to_vec())
}

fn distances() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0u32..8, 1..8)
}

/// Counts the distances up to this one.
fn up_to(distances: &[u32], distance: u32) -> i64 {
    distances.iter().filter(|&&other| other <= distance).count() as i64
}

/// Returns D⁺ times both numbers of records.
fn largest_lead(here: &[u32], there: &[u32]) -> i64 {
    let (all_here, all_there) = (here.len() as i64, there.len() as i64);
    let lead = |&distance| up_to(here, distance) * all_there - up_to(there, distance) * all_here;
    here.iter().chain(there).map(lead).max().unwrap()
}

/// Returns the share of all ways to deal the distances in which the largest lead is at least the observed
/// one.
fn p_value_by_dealing(here: &[u32], there: &[u32]) -> f64 {
    let pooled = [here, there].concat();
    let observed = largest_lead(here, there);
    let (mut as_large, mut all) = (0, 0);
    for taken in 0u32..1 << pooled.len() {
        if taken.count_ones() as usize == here.len() {
            let dealt = |wanted: u32| -> Vec<u32> {
                let mine = |index: &usize| taken >> index & 1 == wanted;
                (0..pooled.len())
                    .filter(mine)
                    .map(|index| pooled[index])
                    .collect()
            };
            all += 1;
            as_large += usize::from(largest_lead(&dealt(1), &dealt(0)) >= observed);
        }
    }
    as_large as f64 / all as f64
}

/// Golden values of scipy 1.17.1, `ks_2samp(here, there, alternative='greater', method='exact')`.
#[test]
fn the_test_agrees_with_scipy() {
    let cases: [(Vec<u32>, Vec<u32>, f64, f64); 4] = [
        ((1..=5).collect(), (6..=12).collect(), 1.0, 0.0012626262626262627),
        (
            vec![1, 3, 4, 7, 9],
            vec![2, 5, 6, 8, 10, 11],
            0.43333333333333335,
            0.29653679653679654,
        ),
        (
            vec![1, 2, 5, 9, 12, 13, 20],
            vec![3, 4, 6, 7, 8, 10, 11, 14, 15, 16, 17],
            0.2857142857142857,
            0.4138386123680241,
        ),
        (
            vec![2, 3, 5, 8, 9, 11, 14, 17],
            vec![1, 4, 6, 7, 10, 12, 13, 15, 16, 18, 19, 20, 21],
            0.36538461538461536,
            0.21731289006830803,
        ),
    ];
    for (here, there, statistic, p_value) in cases {
        let found = sample(&here).shorter_than(&sample(&there), &Control::new());
        let found = found.unwrap().unwrap();
        assert!((found.statistic - statistic).abs() < 1e-15, "{found:?}");
        assert!((found.p_value - p_value).abs() < 1e-14, "{found:?}");
        assert_eq!(found.p_method, PValueMethod::Exact);
    }
}

#[test]
fn many_records_are_tested_by_the_limit() {
    let (here, there): (Vec<u32>, Vec<u32>) = (
        (0..5000).map(|at| at * 21).collect(),
        (0..5000).map(|at| at * 22).collect(),
    );
    let control = Control::new();
    let limit = sample(&here)
        .shorter_than(&sample(&there), &control)
        .unwrap()
        .unwrap();
    assert_eq!(limit.p_method, PValueMethod::Asymptotic);
    assert!((limit.p_value - (-2.0 * limit.statistic.powi(2) * 2500.0).exp()).abs() < 1e-15);
    // At sizes for which the test is still exact, it is close to the limit.
    let (here, there) = (&here[..4000], &there[..4000]);
    let exact = sample(here)
        .shorter_than(&sample(there), &control)
        .unwrap()
        .unwrap();
    assert_eq!(exact.p_method, PValueMethod::Exact);
    assert!(
        (exact.p_value / (-2.0 * exact.statistic.powi(2) * 2000.0).exp() - 1.0).abs() < 0.05,
        "{exact:?}"
    );
}

#[test]
fn a_known_distribution_bounds_the_p_value() {
    let known = Distribution::from_weights(&[1.0, 1.0, 1.0, 1.0]);
    let test = |here: &[u32]| {
        sample(here)
            .shorter_than(&known, &Control::new())
            .unwrap()
            .unwrap()
    };
    let near = test(&[0; 10]);
    assert_eq!((near.statistic, near.p_method), (0.75, PValueMethod::Bound));
    // The exact p-value is the probability that all ten are 0: 4⁻¹⁰.
    assert_eq!(near.p_value, (-2.0 * 10.0 * 0.75f64.powi(2)).exp());
    let far = test(&[3; 10]);
    assert_eq!((far.statistic, far.p_value), (0.0, 1.0));
    // Above one half, Massart's bound is not proven.
    assert_eq!(test(&[0, 1, 1, 2]).p_value, 1.0);
}

#[test]
fn quantiles_are_distances_that_occur() {
    let twenty: Vec<u32> = (1..=20).rev().collect();
    assert_eq!(sample(&twenty).quantiles(), Some([1, 1, 5, 10, 15, 19, 20]));
    assert_eq!(sample(&[7]).quantiles(), Some([7; 7]));
    let weighted = Distribution::from_weights(&[0.0, 0.5, 0.0, 0.25, 0.25]);
    assert_eq!(weighted.quantiles(), Some([1, 1, 1, 1, 3, 4, 4]));
    assert_eq!(Distribution::from_counts(&[0.0, 2.0, 1.0]), sample(&[1, 2, 1]));
}

#[test]
fn nothing_is_known_without_records() {
    let (none, one) = (sample(&[]), sample(&[1]));
    assert_eq!(none.quantiles(), None);
    assert_eq!(none.overlap(&one), None);
    assert_eq!(one.overlap(&none), None);
    assert_eq!(one.shorter_than(&none, &Control::new()), Ok(None));
}

#[test]
fn records_that_are_all_different_can_overlap() {
    let (even, odd): (Vec<u32>, Vec<u32>) = (
        (0..1000).map(|at| 2 * at).collect(),
        (0..1000).map(|at| 2 * at + 1).collect(),
    );
    assert!(sample(&even).overlap(&sample(&odd)).unwrap() > 0.98);
    let half_as_far: Vec<u32> = (0..1000).collect();
    let overlap = sample(&even).overlap(&sample(&half_as_far)).unwrap();
    assert!(
        (overlap - 0.5).abs() < 0.02,
        "the densities share a half: {overlap}"
    );
}

/// Compares the overlap with one computed by hand.
#[test]
fn few_records_make_two_bins() {
    // Half of the mixture is at distance 1 or nearer.
    let overlap = sample(&[0, 1, 1, 5]).overlap(&sample(&[1, 3, 5, 5])).unwrap();
    assert_eq!(overlap, 0.25 + 0.25);
}

#[test]
fn a_cancel_is_noticed() {
    let control = Control::new();
    control.cancel();
    assert!(sample(&[1, 2]).shorter_than(&sample(&[3]), &control).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn the_test_is_that_of_the_definition(here in distances(), there in distances()) {
        let found = sample(&here).shorter_than(&sample(&there), &Control::new()).unwrap().unwrap();
        let statistic = largest_lead(&here, &there) as f64 / (here.len() * there.len()) as f64;
        prop_assert!((found.statistic - statistic).abs() < 1e-12);
        prop_assert!((found.p_value - p_value_by_dealing(&here, &there)).abs() < 1e-12);
    }

    #[test]
    fn the_bound_holds(
        weights in prop::collection::vec((1u32..5).prop_map(f64::from), 1..4),
        here in prop::collection::vec(0u32..4, 1..6),
    ) {
        // Enumerate all samples of this size, weighted by their probability.
        let known = Distribution::from_weights(&weights);
        let here: Vec<u32> = here.into_iter().map(|distance| distance % weights.len() as u32).collect();
        let total: f64 = weights.iter().sum();
        let test = |here: &[u32]| sample(here).shorter_than(&known, &Control::new()).unwrap().unwrap();
        let found = test(&here);
        let mut exact = 0.0;
        for number in 0..weights.len().pow(here.len() as u32) {
            let digit = |index: u32| (number / weights.len().pow(index) % weights.len()) as u32;
            let other: Vec<u32> = (0..here.len() as u32).map(digit).collect();
            let chance: f64 = other.iter().map(|&at| weights[at as usize] / total).product();
            exact += chance * f64::from(u8::from(test(&other).statistic >= found.statistic - 1e-12));
        }
        prop_assert!(found.p_value >= exact - 1e-12, "{found:?} {exact}");
    }

    #[test]
    fn quantiles_are_those_of_the_definition(distances in distances()) {
        let mut sorted = distances.clone();
        sorted.sort_unstable();
        let by_counting = [0, 5, 25, 50, 75, 95, 100].map(|percent: usize| {
            sorted[(percent * sorted.len()).div_ceil(100).max(1) - 1]
        });
        prop_assert_eq!(sample(&distances).quantiles(), Some(by_counting));
    }

    #[test]
    fn overlaps_are_shares(
        here in prop::collection::vec(0u32..50, 1..150),
        there in prop::collection::vec(0u32..50, 1..150),
    ) {
        let (one, other) = (sample(&here), sample(&there));
        let overlap = one.overlap(&other).unwrap();
        prop_assert_eq!(Some(overlap), other.overlap(&one));
        prop_assert!((one.overlap(&one).unwrap() - 1.0).abs() < 1e-12);
        let share = |distances: &[u32], at: u32| {
            distances.iter().filter(|&&distance| distance == at).count() as f64 / distances.len() as f64
        };
        let in_points: f64 = (0..50).map(|at| share(&here, at).min(share(&there, at))).sum();
        prop_assert!(overlap >= in_points - 1e-12 && overlap <= 1.0, "bins only join distances");
        let beyond: Vec<u32> = there.iter().map(|distance| distance + 50).collect();
        prop_assert_eq!(one.overlap(&sample(&beyond)), Some(0.0));
        prop_assert_eq!(sample(&beyond).overlap(&one), Some(0.0));
    }
}
