//! Compares expected cracks with their definition: the mean over all crack mappings.

use crate::spaces::{around, assert_close, big_mart, config, h, k, mappings};
use disclosure::cracks::{
    Belief, CrackSpace, ExpectedCracks, Frequencies, Method, Settings, Width, cautious_probabilities,
    expected_cracks,
};
use disclosure::matching::{Graph, ItemClass};
use disclosure::{Control, Error};
use proptest::prelude::*;
use reference::cracks::crack_probabilities;

fn settings(method: Method) -> Settings {
    Settings {
        method,
        alpha: 1.0,
        relative_error: 0.01,
        seed: 1,
        max_steps: 1e9,
        max_bytes: 1e9,
        budget: None,
    }
}

fn by(method: Method, space: &CrackSpace) -> Option<ExpectedCracks> {
    expected_cracks(space, &settings(method), &Control::new()).unwrap()
}

fn within(width: Width) -> CrackSpace {
    around(&big_mart(), width)
}

#[test]
fn big_mart_has_the_published_estimates_and_the_exact_values() {
    for (space, estimate, mappings, exact) in [
        (within(Width::Share(0.0)), 3.0, 24.0, 3.0),
        (within(Width::Ignorant), 1.0, 720.0, 1.0),
        (h(), 47.0 / 30.0, 96.0, 29.0 / 16.0),
        (within(Width::Share(0.1)), 22.0 / 15.0, 144.0, 11.0 / 6.0),
    ] {
        assert_close(by(Method::OEstimate, &space).unwrap().expected, estimate);
        let found = by(Method::Auto, &space).unwrap();
        assert_eq!(found.method, Method::Exact);
        assert_close(found.expected, exact);
        assert_close(found.ln_matchings.unwrap().exp(), mappings);
        assert_close(found.degree_of_anonymity().unwrap(), mappings.ln() / 720_f64.ln());
        let simulated = by(Method::Simulate, &space).unwrap();
        assert!(simulated.is_precise_enough);
        assert!((simulated.expected - exact).abs() < 0.03 * exact, "{simulated:?}");
    }
}

#[test]
fn a_wrong_belief_may_have_no_mapping() {
    assert_close(by(Method::OEstimate, &k()).unwrap().expected, 19.0 / 20.0);
    for method in [Method::Auto, Method::Exact, Method::Refined, Method::Simulate] {
        assert_eq!(by(method, &k()), None);
    }
}

#[test]
fn edges_in_no_mapping_mislead_the_estimate() {
    // Fig. 6(a): the first item has one candidate, the second two, and so on. There is a single mapping,
    // which cracks all items.
    let space = CrackSpace {
        graph: Graph {
            codes: vec![1; 4],
            items: (1..5)
                .map(|end| ItemClass {
                    size: 1,
                    candidates: (0..end).collect(),
                })
                .collect(),
        },
        class_of: (0..4).collect(),
        own_code_class: (0..4).collect(),
    };
    assert_close(by(Method::OEstimate, &space).unwrap().expected, 25.0 / 12.0);
    for method in [Method::Propagated, Method::Refined, Method::Exact] {
        assert_close(by(method, &space).unwrap().expected, 4.0);
    }
}

#[test]
fn what_is_not_affordable_is_simulated_or_refused() {
    let frugal = |method| Settings {
        max_steps: 1.0,
        ..settings(method)
    };
    let found = expected_cracks(&h(), &frugal(Method::Auto), &Control::new())
        .unwrap()
        .unwrap();
    assert_eq!(found.method, Method::Simulate);
    assert!(found.lower < found.upper);
    let refused = expected_cracks(&h(), &frugal(Method::Exact), &Control::new());
    assert!(matches!(
        refused,
        Err(Error::InvalidArgument {
            argument: "method",
            ..
        })
    ));
}

#[test]
fn alpha_scales_expected_cracks() {
    let half = Settings {
        alpha: 0.5,
        ..settings(Method::Exact)
    };
    let found = expected_cracks(&h(), &half, &Control::new()).unwrap().unwrap();
    assert_close(found.expected, 29.0 / 32.0);
    for alpha in [-0.1, 1.1, f64::NAN] {
        let wrong = Settings {
            alpha,
            ..settings(Method::Exact)
        };
        let refused = expected_cracks(&h(), &wrong, &Control::new());
        assert!(matches!(
            refused,
            Err(Error::InvalidArgument {
                argument: "alpha",
                ..
            })
        ));
    }
}

#[test]
fn verdicts_are_cautious() {
    let found = by(Method::Simulate, &h()).unwrap();
    let sum: f64 = cautious_probabilities(&h(), Some(&found)).iter().sum();
    assert_close(sum, found.upper.unwrap());
    // A simulation that ended early: some items were always cracked, or none was ever seen to be.
    for crack_probability in [vec![1.0, 0.0, 0.0, 0.5, 0.0, 0.0], vec![0.0; 6]] {
        let early = ExpectedCracks {
            expected: crack_probability.iter().sum(),
            upper: Some(4.5),
            crack_probability,
            ..found.clone()
        };
        let raised = cautious_probabilities(&h(), Some(&early));
        assert_close(raised.iter().sum(), 4.5);
        assert!(raised.iter().all(|probability| (0.0..=1.0).contains(probability)));
    }
    let sum: f64 = cautious_probabilities(&k(), None).iter().sum();
    assert_close(sum, 19.0 / 20.0);
}

#[test]
fn nothing_and_one_item() {
    for (counts, exact) in [(vec![], 0.0), (vec![3], 1.0)] {
        let frequencies = Frequencies::new(5, counts);
        let space = Belief::around(&frequencies, Width::Median)
            .unwrap()
            .space(&frequencies);
        for method in [
            Method::Auto,
            Method::Exact,
            Method::Simulate,
            Method::Refined,
            Method::Propagated,
            Method::OEstimate,
        ] {
            assert_eq!(by(method, &space).unwrap().expected, exact);
        }
    }
}

/// Generates few items in few transactions, with beliefs that are mostly right.
fn beliefs() -> impl Strategy<Value = CrackSpace> {
    let item = (0u64..6, 0u64..3, 0u64..3, proptest::bool::weighted(0.9));
    proptest::collection::vec(item, 1..7).prop_map(|items| {
        let frequencies = Frequencies::new(6, items.iter().map(|item| item.0).collect());
        let interval = |&(count, below, above, is_right): &(u64, u64, u64, bool)| {
            let low = if is_right {
                count.saturating_sub(below)
            } else {
                count + 1
            };
            Some((low as f64 / 6.0, (count + above + 1).min(6) as f64 / 6.0))
        };
        let intervals: Vec<_> = items.iter().map(interval).collect();
        Belief::from_intervals(&frequencies, &intervals).space(&frequencies)
    })
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn exact_is_the_mean_over_all_mappings(space in beliefs()) {
        let mappings = mappings(&space);
        match by(Method::Exact, &space) {
            None => prop_assert!(mappings.is_empty()),
            Some(found) => {
                let cracks = crack_probabilities(&mappings);
                assert_close(found.expected, cracks.iter().sum());
                for (found, expected) in found.crack_probability.iter().zip(cracks) {
                    assert_close(*found, expected);
                }
            }
        }
    }
}
