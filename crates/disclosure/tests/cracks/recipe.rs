//! Compares the recipes with their definitions.

use crate::spaces::{around, assert_close, big_mart, config, edges, mappings};
use disclosure::cracks::{
    Belief, BoundedShare, ComplianceRuns, Frequencies, ItemSettings, ItemsetAssessment, ItemsetMethod,
    ItemsetSettings, ItemsetsOfInterest, Stage, Verdict, Width, alpha_curve, assess_items, assess_itemsets,
};
use disclosure::{Control, Error, Result};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use reference::cracks::{itemset_probability, itemsets, o_estimate, os};

/// Returns the orders in which items become compliant.
fn orders(items: usize, compliance: &ComplianceRuns) -> Vec<Vec<u32>> {
    let mut random = Pcg64::seed_from_u64(compliance.seed);
    let mut order = || {
        let mut order: Vec<u32> = (0..items as u32).collect();
        order.shuffle(&mut random);
        order
    };
    (0..compliance.runs).map(|_| order()).collect()
}

/// Returns the largest share of the items that may be compliant, by trying all numbers of items.
fn alpha_max(orders: &[Vec<u32>], risk: impl Fn(&[u32]) -> f64, tolerated: f64) -> f64 {
    let items = orders[0].len();
    let mean = |compliant: usize| {
        let risks = orders.iter().map(|order| risk(&order[..compliant]));
        risks.sum::<f64>() / orders.len() as f64
    };
    let largest = (0..=items)
        .filter(|&compliant| mean(compliant) <= tolerated + 1e-9)
        .max();
    largest.unwrap_or(0) as f64 / items as f64
}

fn pairs(crack_danger: f64, tolerance: f64) -> ItemsetSettings {
    ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes {
            sizes: vec![2],
            skip_top: 0.0,
        },
        crack_danger,
        tolerance,
        exact_steps: 0.0,
        sample: 10_000,
        compliance: ComplianceRuns::default(),
    }
}

fn assess(frequencies: &Frequencies, width: Width, settings: &ItemsetSettings) -> Result<ItemsetAssessment> {
    assess_itemsets(
        frequencies,
        &around(frequencies, width),
        settings,
        &Control::new(),
    )
}

fn assert_is(estimate: BoundedShare, value: f64) {
    assert_close(estimate.value, value);
    assert_eq!((estimate.lower, estimate.upper), (estimate.value, estimate.value));
}

fn choose(n: u64, k: u64) -> f64 {
    (0..k).map(|j| (n - j) as f64 / (j + 1) as f64).product()
}

#[test]
fn items_of_big_mart() {
    let cracks = o_estimate(&edges(&around(&big_mart(), Width::Median)));
    let assess = |tolerance| {
        assess_items(
            &big_mart(),
            &cracks,
            &ItemSettings {
                tolerance,
                compliance: ComplianceRuns::default(),
            },
            &Control::new(),
        )
        .unwrap()
    };
    let known = assess(0.5);
    assert_eq!((known.stage, known.verdict), (Stage::PointValued, Verdict::Safe));
    assert_eq!(
        (known.point_valued, known.tolerated, known.alpha_max),
        (3.0, 3.0, None)
    );
    assert_close(known.interval, 22.0 / 15.0);
    let roughly = assess(0.25);
    assert_eq!((roughly.stage, roughly.verdict), (Stage::Interval, Verdict::Safe));
    let wrong = assess(0.1);
    assert_eq!(
        (wrong.stage, wrong.verdict),
        (Stage::Compliance, Verdict::Unknown)
    );
    let sum = |compliant: &[u32]| compliant.iter().map(|&item| cracks[item as usize]).sum();
    let expected = alpha_max(&orders(6, &ComplianceRuns::default()), sum, 0.6);
    assert_eq!(wrong.alpha_max, Some(expected));
    assert!(expected > 0.0 && expected < 1.0);
}

#[test]
fn equal_items_need_no_luck() {
    let frequencies = Frequencies::new(100, (1..=100).collect());
    let assess = |tolerance, seed| {
        let compliance = ComplianceRuns { runs: 3, seed };
        assess_items(
            &frequencies,
            &[0.5; 100],
            &ItemSettings {
                tolerance,
                compliance,
            },
            &Control::new(),
        )
        .unwrap()
    };
    assert_eq!(assess(0.29, 7).alpha_max, Some(0.58));
    assert_eq!(assess(0.0, 8).alpha_max, Some(0.0));
    assert_eq!(assess(0.5, 9).stage, Stage::Interval);
    // In floating point, 0.29 · 100 is less than 29.
    let groups = Frequencies::new(29, (0..100).map(|item| item % 29).collect());
    let assessment = assess_items(
        &groups,
        &[1.0; 100],
        &ItemSettings {
            tolerance: 0.29,
            compliance: ComplianceRuns::default(),
        },
        &Control::new(),
    )
    .unwrap();
    assert_eq!(assessment.stage, Stage::PointValued);
}

#[test]
fn a_curve_of_big_mart() {
    let cracks = o_estimate(&edges(&around(&big_mart(), Width::Median)));
    let compliance = ComplianceRuns { runs: 20, seed: 3 };
    let curve = |alphas: &[f64]| alpha_curve(&cracks, alphas, &compliance, &Control::new());
    let points = curve(&[0.0, 0.5, 1.0]).unwrap();
    let [none, half, all] = &points[..] else {
        panic!("three points");
    };
    assert_eq!(
        (none.compliant, none.mean, none.min, none.max),
        (0, 0.0, 0.0, 0.0)
    );
    let sums = orders(6, &compliance)
        .into_iter()
        .map(|order| order[..3].iter().map(|&x| cracks[x as usize]).sum());
    let sums: Vec<f64> = sums.collect();
    assert_close(half.mean, sums.iter().sum::<f64>() / 20.0);
    assert_eq!(half.min, sums.iter().copied().fold(f64::INFINITY, f64::min));
    assert_eq!(half.max, sums.iter().copied().fold(0.0, f64::max));
    for figure in [all.mean, all.min, all.max] {
        assert_close(figure, 22.0 / 15.0);
    }
    for alpha in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            curve(&[alpha]),
            Err(Error::InvalidArgument {
                argument: "alpha",
                ..
            })
        ));
    }
}

#[test]
fn pairs_of_big_mart() {
    // Items 2 and 5 have unique frequencies: their pair is cracked with certainty, and a pair with one of
    // them with probability 1/4.
    let known = assess(&big_mart(), Width::Median, &pairs(0.5, 0.1)).unwrap();
    assert_is(known.point_valued, 1.0 / 15.0);
    assert_eq!(
        (known.stage, known.verdict, known.itemsets),
        (Stage::PointValued, Verdict::Safe, 15.0)
    );
    assert_eq!((known.method, known.sampled), (ItemsetMethod::Os, false));
    // OS is 1/3 for the pair of 2 and 5, and less for all other pairs.
    let roughly = assess(&big_mart(), Width::Median, &pairs(0.25, 0.1)).unwrap();
    assert_is(roughly.point_valued, 9.0 / 15.0);
    assert_is(roughly.interval, 1.0 / 15.0);
    assert_eq!((roughly.stage, roughly.verdict), (Stage::Interval, Verdict::Safe));
    let wrong = assess(&big_mart(), Width::Median, &pairs(0.25, 0.0)).unwrap();
    assert_eq!(
        (wrong.stage, wrong.verdict),
        (Stage::Compliance, Verdict::Unknown)
    );
    // In none of the runs may both items be compliant.
    let both = |compliant: &[u32]| f64::from(u8::from(compliant.contains(&1) && compliant.contains(&4)));
    assert_is(
        wrong.alpha_max.unwrap(),
        alpha_max(&orders(6, &ComplianceRuns::default()), both, 0.0),
    );
    // Without the first three of the most frequent items, 2, 5 and 6 are left.
    let mut settings = pairs(0.25, 1.0);
    settings.interest = ItemsetsOfInterest::Sizes {
        sizes: vec![2, 2],
        skip_top: 0.5,
    };
    let few = assess(&big_mart(), Width::Median, &settings).unwrap();
    assert_eq!(few.itemsets, 3.0);
    assert_is(few.interval, 1.0 / 3.0);
    settings.interest = ItemsetsOfInterest::Listed(vec![vec![4, 1], vec![1, 4], vec![0, 1]]);
    let listed = assess(&big_mart(), Width::Median, &settings).unwrap();
    assert_eq!(listed.itemsets, 2.0);
    assert_is(listed.interval, 0.5);
}

#[test]
fn a_vulnerable_itemset_may_be_so_by_a_hair() {
    // The probability, 1/25, equals the limit, 0.04.
    let frequencies = Frequencies::new(1, vec![1; 25]);
    let mut settings = pairs(0.04, 0.1);
    settings.interest = ItemsetsOfInterest::Sizes {
        sizes: vec![1],
        skip_top: 0.0,
    };
    assert_is(
        assess(&frequencies, Width::Median, &settings).unwrap().interval,
        1.0,
    );
}

#[test]
fn exact_if_that_is_not_too_much() {
    let settings = |exact_steps| ItemsetSettings {
        exact_steps,
        ..pairs(0.16, 0.0)
    };
    let exact = assess(&big_mart(), Width::Median, &settings(f64::INFINITY)).unwrap();
    assert_eq!(exact.method, ItemsetMethod::Exact);
    let mappings = mappings(&around(&big_mart(), Width::Median));
    let pairs = itemsets(6).filter(|itemset| itemset.len() == 2);
    let vulnerable = pairs
        .filter(|pair| itemset_probability(&mappings, pair).unwrap() >= 0.16)
        .count();
    assert_is(exact.interval, vulnerable as f64 / 15.0);
    let estimated = assess(&big_mart(), Width::Median, &settings(0.5)).unwrap();
    assert_eq!(estimated.method, ItemsetMethod::Os);
    assert_is(estimated.interval, 7.0 / 15.0);
}

#[test]
fn too_many_kinds_are_sampled() {
    // Forty items have unique frequencies and ten share one, so an itemset is vulnerable if it contains none
    // of the ten.
    let frequencies = Frequencies::new(100, (0..50u64).map(|item| item.min(40)).collect());
    let settings = |seed| ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes {
            sizes: vec![6],
            skip_top: 0.0,
        },
        compliance: ComplianceRuns { runs: 5, seed },
        ..pairs(0.5, 0.1)
    };
    let assessment = assess(&frequencies, Width::Share(0.0), &settings(1)).unwrap();
    let share = choose(40, 6) / choose(50, 6);
    for found in [assessment.point_valued, assessment.interval] {
        assert!(
            found.lower < share && share < found.upper,
            "{found:?} for {share}"
        );
        assert!(found.lower < found.value && found.value < found.upper && found.upper - found.lower < 0.02);
    }
    assert!(assessment.sampled);
    assert!((assessment.itemsets / choose(50, 6) - 1.0).abs() < 1e-9);
    let alpha = assessment.alpha_max.unwrap();
    assert!(
        alpha.lower <= alpha.value && alpha.value <= alpha.upper && alpha.upper < 1.0 && alpha.lower > 0.5
    );
    assert_eq!(
        assess(&frequencies, Width::Share(0.0), &settings(1)),
        Ok(assessment.clone())
    );
    assert_ne!(
        assess(&frequencies, Width::Share(0.0), &settings(2)),
        Ok(assessment)
    );
}

#[test]
fn too_many_vulnerable_itemsets_are_sampled() {
    // All itemsets are vulnerable; with p compliant items, C(p, 3) of them count.
    let frequencies = Frequencies::new(4, (0..400).map(|item| item % 4).collect());
    let mut settings = pairs(0.0, 0.1);
    settings.interest = ItemsetsOfInterest::Sizes {
        sizes: vec![3],
        skip_top: 0.0,
    };
    let assessment = assess(&frequencies, Width::Share(0.0), &settings).unwrap();
    assert!(!assessment.sampled);
    assert_is(assessment.interval, 1.0);
    let largest = (3..=400)
        .filter(|&p| choose(p, 3) <= 0.1 * choose(400, 3))
        .max()
        .unwrap();
    let (expected, found) = (largest as f64 / 400.0, assessment.alpha_max.unwrap());
    assert!(
        found.lower <= expected && expected <= found.upper,
        "{found:?} for {expected}"
    );
    assert!(found.lower < found.upper && found.upper - found.lower < 0.03);
}

#[test]
fn more_itemsets_than_any_number() {
    let frequencies = Frequencies::new(3000, (0..3000).collect());
    let mut settings = pairs(0.5, 0.1);
    settings.sample = 10;
    settings.interest = ItemsetsOfInterest::Sizes {
        sizes: vec![1, 1500],
        skip_top: 0.0,
    };
    let assessment = assess(&frequencies, Width::Share(0.0), &settings).unwrap();
    assert_eq!((assessment.itemsets, assessment.sampled), (f64::INFINITY, true));
    assert_eq!(assessment.interval.value, 1.0);
}

#[test]
fn nothing_and_one_item() {
    let none = Frequencies::new(0, vec![]);
    let assessment = assess_items(
        &none,
        &[],
        &ItemSettings {
            tolerance: 0.0,
            compliance: ComplianceRuns::default(),
        },
        &Control::new(),
    )
    .unwrap();
    assert_eq!((assessment.stage, assessment.interval), (Stage::PointValued, 0.0));
    assert!(assessment.interval.is_sign_positive());
    let of_none = assess(&none, Width::Median, &pairs(0.5, 0.0)).unwrap();
    assert_eq!((of_none.stage, of_none.itemsets), (Stage::PointValued, 0.0));
    let one = Frequencies::new(3, vec![2]);
    let assessment = assess_items(
        &one,
        &[1.0],
        &ItemSettings {
            tolerance: 0.5,
            compliance: ComplianceRuns::default(),
        },
        &Control::new(),
    )
    .unwrap();
    assert_eq!(
        (assessment.stage, assessment.alpha_max),
        (Stage::Compliance, Some(0.0))
    );
    assert_eq!(
        assess(&one, Width::Median, &pairs(0.5, 0.0)).unwrap().itemsets,
        0.0
    );
    let curve = alpha_curve(&[], &[0.5], &ComplianceRuns::default(), &Control::new()).unwrap();
    assert_eq!((curve[0].mean, curve[0].min, curve[0].max), (0.0, 0.0, 0.0));
}

#[test]
fn an_adversary_who_is_always_wrong() {
    let frequencies = Frequencies::new(4, vec![1, 3]);
    let wrong = [Some((0.6, 1.0)), Some((0.0, 0.3))];
    let space = Belief::from_intervals(&frequencies, &wrong).space(&frequencies);
    let cracks = o_estimate(&edges(&space));
    let assessment = assess_items(
        &frequencies,
        &cracks,
        &ItemSettings {
            tolerance: 0.0,
            compliance: ComplianceRuns::default(),
        },
        &Control::new(),
    )
    .unwrap();
    assert_eq!((assessment.stage, assessment.interval), (Stage::Interval, 0.0));
    // But the pair is cracked as a set.
    let of_pairs = assess_itemsets(&frequencies, &space, &pairs(0.5, 0.0), &Control::new()).unwrap();
    assert_is(of_pairs.interval, 1.0);
    // With this belief, no mapping is consistent.
    let impossible = Belief::from_intervals(&frequencies, &[Some((0.0, 0.0)); 2]).space(&frequencies);
    let mut settings = pairs(0.5, 0.0);
    assert_is(
        assess_itemsets(&frequencies, &impossible, &settings, &Control::new())
            .unwrap()
            .interval,
        0.0,
    );
    // Then there is nothing to count, and the method is OS.
    settings.exact_steps = 1e9;
    let answer = assess_itemsets(&frequencies, &impossible, &settings, &Control::new()).unwrap();
    assert_eq!(answer.method, ItemsetMethod::Os);
    assert_is(answer.interval, 0.0);
}

#[test]
fn arguments_are_named() {
    let named = |settings: ItemsetSettings| match assess(&big_mart(), Width::Median, &settings) {
        Err(Error::InvalidArgument { argument, .. }) => argument,
        answer => panic!("{answer:?}"),
    };
    let sizes = |sizes: &[usize], skip_top: f64| ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes {
            sizes: sizes.to_vec(),
            skip_top,
        },
        ..pairs(0.5, 0.1)
    };
    let listed = |itemset: &[u32]| ItemsetSettings {
        interest: ItemsetsOfInterest::Listed(vec![itemset.to_vec()]),
        ..pairs(0.5, 0.1)
    };
    assert_eq!(named(pairs(1.5, 0.1)), "crack_danger");
    assert_eq!(named(pairs(0.5, f64::NAN)), "tolerance");
    assert_eq!(named(sizes(&[], 0.1)), "size");
    assert_eq!(named(sizes(&[2, 0], 0.1)), "size");
    assert_eq!(named(sizes(&[2], -0.1)), "skip_top");
    assert_eq!(named(listed(&[1, 1])), "itemset");
    assert_eq!(named(listed(&[6])), "itemset");
    let no_sample = ItemsetSettings {
        sample: 0,
        ..pairs(0.5, 0.1)
    };
    assert_eq!(named(no_sample), "samples");
    let no_runs = ComplianceRuns { runs: 0, seed: 0 };
    let answer = assess_items(
        &big_mart(),
        &[0.0; 6],
        &ItemSettings {
            tolerance: 0.5,
            compliance: no_runs,
        },
        &Control::new(),
    );
    assert!(matches!(
        answer,
        Err(Error::InvalidArgument { argument: "runs", .. })
    ));
    let answer = assess_items(
        &big_mart(),
        &[0.0; 6],
        &ItemSettings {
            tolerance: 1.1,
            compliance: ComplianceRuns::default(),
        },
        &Control::new(),
    );
    assert!(matches!(
        answer,
        Err(Error::InvalidArgument {
            argument: "tolerance",
            ..
        })
    ));
}

#[test]
fn a_cancelled_assessment_stops() {
    let control = Control::new();
    control.cancel();
    let space = around(&big_mart(), Width::Median);
    let answer = assess_itemsets(&big_mart(), &space, &pairs(0.5, 0.1), &control);
    assert_eq!(answer, Err(Error::Cancelled));
}

fn any_compliance() -> impl Strategy<Value = ComplianceRuns> {
    (1..6u32, 0..9u64).prop_map(|(runs, seed)| ComplianceRuns { runs, seed })
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn alpha_by_trying_all(
        cracks in prop::collection::vec(0.0..=1.0f64, 1..12),
        tolerance in 0.0..=1.0f64,
        compliance in any_compliance(),
    ) {
        let frequencies = Frequencies::new(100, (0..cracks.len() as u64).collect());
        let found = assess_items(&frequencies, &cracks, &ItemSettings { tolerance, compliance }, &Control::new()).unwrap();
        let sum = |compliant: &[u32]| compliant.iter().map(|&item| cracks[item as usize]).sum();
        let tolerated = tolerance * cracks.len() as f64;
        let expected = alpha_max(&orders(cracks.len(), &compliance), sum, tolerated);
        prop_assert_eq!(found.alpha_max.unwrap_or(1.0), expected);
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn itemsets_by_trying_all(
        (counts, reach) in (1..=6usize).prop_flat_map(|n| {
            (prop::collection::vec(0..=6u64, n), prop::collection::vec((-2..3i32, 0..4i32), n))
        }),
        (first, second) in (1..4usize, 1..6usize),
        skip_top in 0.0..0.5f64,
        (crack_danger, tolerance) in (0.0..=1.0f64, 0.0..0.5f64),
        compliance in any_compliance(),
        is_exact in any::<bool>(),
    ) {
        let frequencies = Frequencies::new(6, counts.clone());
        let n = counts.len();
        let interval = |(&count, &(low, more)): (&u64, &(i32, i32))| {
            let low = count as f64 + f64::from(low);
            Some((low / 6.0, (low + f64::from(more)) / 6.0))
        };
        let intervals: Vec<_> = counts.iter().zip(&reach).map(interval).collect();
        let space = Belief::from_intervals(&frequencies, &intervals).space(&frequencies);
        let settings = ItemsetSettings {
            interest: ItemsetsOfInterest::Sizes { sizes: vec![first, second], skip_top },
            crack_danger,
            tolerance,
            exact_steps: if is_exact { f64::INFINITY } else { 0.0 },
            sample: 10,
            compliance,
        };
        let found = assess_itemsets(&frequencies, &space, &settings, &Control::new());
        let consistent = mappings(&space);
        prop_assume!(!is_exact || !consistent.is_empty());
        let found = found.unwrap();

        let mut by_frequency: Vec<u32> = (0..n as u32).collect();
        by_frequency.sort_by_key(|&item| (-(counts[item as usize] as i64), item));
        let skipped = &by_frequency[..(skip_top * n as f64) as usize];
        let is_of_interest = |itemset: &Vec<u32>| {
            [first, second].contains(&itemset.len()) && !itemset.iter().any(|item| skipped.contains(item))
        };
        let theta: Vec<Vec<u32>> = itemsets(n).filter(is_of_interest).collect();
        let known = mappings(&around(&frequencies, Width::Share(0.0)));
        let share = |risk: &dyn Fn(&[u32]) -> f64| {
            let vulnerable = theta.iter().filter(|itemset| risk(itemset) >= crack_danger - 1e-12).count();
            vulnerable as f64 / theta.len().max(1) as f64
        };
        let point_valued = share(&|itemset| itemset_probability(&known, itemset).unwrap());
        let risk = |itemset: &[u32]| match is_exact {
            true => itemset_probability(&consistent, itemset).unwrap(),
            false => os(&edges(&space), itemset),
        };
        assert_is(found.point_valued, point_valued);
        assert_is(found.interval, share(&risk));
        prop_assert_eq!(found.itemsets, theta.len() as f64);
        let stage = match (point_valued <= tolerance + 1e-9, share(&risk) <= tolerance + 1e-9) {
            (true, _) => Stage::PointValued,
            (_, true) => Stage::Interval,
            _ => Stage::Compliance,
        };
        prop_assert_eq!(found.stage, stage);
        if let Some(alpha) = found.alpha_max {
            let vulnerable = |compliant: &[u32]| {
                let is_compliant = |itemset: &[u32]| itemset.iter().all(|item| compliant.contains(item));
                share(&|itemset| if is_compliant(itemset) { risk(itemset) } else { -1.0 })
            };
            assert_is(alpha, alpha_max(&orders(n, &compliance), vulnerable, tolerance));
        }
    }
}
