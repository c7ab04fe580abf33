//! Compares the risk from known pairs of items with the definition: the mean over all mappings.

use crate::spaces::{assert_close, big_mart, mappings};
use disclosure::cracks::{
    Belief, ComplianceRuns, CorrelationRisk, CorrelationSettings, CrackSpace, KnownPairs, Method, Pair,
    Settings, Transactions, Width, apart_pairs, assess_correlations, filter_edges, top_pairs,
};
use disclosure::{Control, Error};
use reference::cracks::crack_probabilities;

/// The transactions of BigMart (Fig. 1).
fn transactions() -> Transactions {
    let mut transactions = Transactions::new(6);
    for items in [
        &[0, 1, 2][..],
        &[0, 1, 2, 3],
        &[3, 5],
        &[2, 3, 4, 5],
        &[4, 5],
        &[5],
        &[0, 1],
        &[0, 2, 3],
        &[0, 2, 4],
        &[1, 3, 5],
    ] {
        transactions.push(items).unwrap();
    }
    transactions
}

fn settings() -> CorrelationSettings {
    CorrelationSettings {
        tolerance: 0.4,
        pairs: 3,
        among: 100,
        apart: 2,
        nearly_always: 1.0,
        compliance: ComplianceRuns { runs: 5, seed: 1 },
        settings: Settings {
            method: Method::Auto,
            alpha: 1.0,
            relative_error: 0.005,
            seed: 1,
            max_steps: 1e9,
            max_bytes: 1e9,
            budget: None,
        },
    }
}

fn assess(settings: &CorrelationSettings) -> Result<Vec<CorrelationRisk>, Error> {
    let belief = Belief::around(&big_mart(), Width::Median).unwrap();
    assess_correlations(&transactions(), &big_mart(), &belief, settings, &Control::new())
}

fn risk(risks: &[CorrelationRisk], knows: KnownPairs) -> &CorrelationRisk {
    risks.iter().find(|risk| risk.knows == knows).unwrap()
}

fn mean_cracks(mappings: &[Vec<u32>]) -> f64 {
    crack_probabilities(mappings).iter().sum()
}

fn space() -> CrackSpace {
    let belief = Belief::around(&big_mart(), Width::Median).unwrap();
    belief.space(&big_mart())
}

#[test]
fn every_kind_of_knowledge_is_as_defined() {
    let risks = assess(&settings()).unwrap();
    let expected = |knows| risk(&risks, knows).expected.as_ref().unwrap();
    assert_close(expected(KnownPairs::PointValued).expected, 3.0);
    assert_close(expected(KnownPairs::NoPairs).expected, 11.0 / 6.0);
    assert!(risk(&risks, KnownPairs::NoPairs).is_within);
    assert_eq!(risk(&risks, KnownPairs::NoPairs).alpha_max, None);

    let top = top_pairs(&transactions(), 3, &Control::new()).unwrap();
    let pairs: Vec<(u32, u32)> = top.iter().map(Pair::items).collect();
    let filtered = mappings(&filter_edges(&space(), &pairs, &pairs));
    assert_close(expected(KnownPairs::Adjusted).expected, mean_cracks(&filtered));
    assert!(!risk(&risks, KnownPairs::Adjusted).is_within);
    // There are fewer than 100 pairs, so looking among 100 pairs of codes excludes nothing.
    assert_close(expected(KnownPairs::AdjustedAmong).expected, 11.0 / 6.0);
}

#[test]
fn pairs_that_are_apart_exclude_whole_mappings() {
    let transactions = transactions();
    let together = |a: u32, b: u32| {
        transactions
            .iter()
            .any(|items| items.contains(&a) && items.contains(&b))
    };
    let apart = apart_pairs(&transactions, 2, &Control::new()).unwrap();
    let keeps_apart = |mapping: &Vec<u32>| {
        let code_of = |item: u32| mapping[item as usize];
        apart
            .iter()
            .all(|pair| !together(code_of(pair.one), code_of(pair.other)))
    };
    let mut possible = mappings(&space());
    possible.retain(keeps_apart);

    let risks = assess(&settings()).unwrap();
    let found = risk(&risks, KnownPairs::Apart);
    assert_eq!(found.pairs, 2);
    let found = found.expected.as_ref().unwrap();
    let exact = mean_cracks(&possible);
    assert!(
        found.is_precise_enough && (found.expected - exact).abs() < 0.02 * exact,
        "{found:?}, {exact}"
    );
}

#[test]
fn more_than_is_tolerated_has_an_alpha() {
    let strict = CorrelationSettings {
        tolerance: 0.1,
        ..settings()
    };
    let risks = assess(&strict).unwrap();
    assert!(risks.iter().all(|risk| !risk.is_within));
    assert!(risk(&risks, KnownPairs::NoPairs).alpha_max.is_some());
}

#[test]
fn shares_are_checked() {
    for (argument, wrong) in [
        (
            "tolerance",
            CorrelationSettings {
                tolerance: -0.1,
                ..settings()
            },
        ),
        (
            "nearly_always",
            CorrelationSettings {
                nearly_always: 2.0,
                ..settings()
            },
        ),
    ] {
        match assess(&wrong) {
            Err(Error::InvalidArgument { argument: named, .. }) => assert_eq!(named, argument),
            other => panic!("{other:?}"),
        }
    }
}
