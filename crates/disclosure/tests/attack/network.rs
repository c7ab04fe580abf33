//! Attacks from networks of randomising steps, and attacks by marginals.

use crate::{dense, exactly, truth};
use disclosure::attack::{
    Exact, Matrix, Method, Network, Settings, estimate, ln_permanent_bounds, random_attack, report, summary,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

/// Network of Fig. 3.1(a): every step shuffles what it gets.
const FIG_3_1: [(&str, &str); 13] = [
    ("Flu", "step 1"),
    ("Viral Fever", "step 1"),
    ("Cold", "step 2"),
    ("Asthma", "step 2"),
    ("Tuberculosis", "step 2"),
    ("step 2", "u"),
    ("step 2", "step 1"),
    ("step 2", "step 3"),
    ("step 1", "y"),
    ("step 1", "z"),
    ("step 1", "step 3"),
    ("step 3", "v"),
    ("step 3", "x"),
];

/// Returns the numbers of the nodes in the order of their names, and the names.
fn numbered<'a>(channels: &[(&'a str, &'a str)]) -> (Vec<(u32, u32)>, Vec<&'a str>) {
    let names: BTreeSet<&str> = channels.iter().flat_map(|&(from, to)| [from, to]).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let number = |name| names.iter().position(|other| *other == name).unwrap() as u32;
    let numbers = channels
        .iter()
        .map(|&(from, to)| (number(from), number(to)))
        .collect();
    (numbers, names)
}

#[test]
fn fig_3_1() {
    let control = Control::new();
    let (channels, names) = numbered(&FIG_3_1);
    let network = Network::of_equal_channels(names.len(), &channels, &control).unwrap();
    let found = network.attack(&control).unwrap();
    let of = |entry: &str, code: &str| {
        let edge = found
            .iter()
            .find(|edge| (names[edge.0 as usize], names[edge.1 as usize]) == (entry, code));
        edge.map_or(0.0, |edge| edge.2)
    };
    let (third, sixth, ninth) = (1.0 / 3.0, 1.0 / 6.0, 1.0 / 9.0);
    let mut cells = Vec::new();
    for (entry, expected) in [
        ("Flu", [0.0, sixth, sixth, third, third]),
        ("Viral Fever", [0.0, sixth, sixth, third, third]),
        ("Cold", [third, 2.0 * ninth, 2.0 * ninth, ninth, ninth]),
        ("Asthma", [third, 2.0 * ninth, 2.0 * ninth, ninth, ninth]),
        ("Tuberculosis", [third, 2.0 * ninth, 2.0 * ninth, ninth, ninth]),
    ] {
        for (code, expected) in ["u", "v", "x", "y", "z"].into_iter().zip(expected) {
            assert!((of(entry, code) - expected).abs() < 1e-15, "{entry} {code}");
            cells.push(of(entry, code));
        }
    }
    let matrix = dense(&cells);
    let permanent = Exact::new(&matrix, &control)
        .unwrap()
        .permanent(&control)
        .unwrap()
        .value();
    assert!((permanent - 11.0 / 243.0).abs() < 1e-15);
    let m0 = truth(&matrix, &[2, 3, 4, 0, 1].map(Some));
    let cracks = estimate(&matrix, &m0, &exactly(), &control).unwrap();
    assert!((cracks.expected - 7.0 / 6.0).abs() < 1e-14);
}

#[test]
fn networks_that_are_refused() {
    let control = Control::new();
    let argument = |found: disclosure::Result<Network>| match found {
        Err(Error::InvalidArgument { argument, .. }) => argument,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        argument(Network::of_equal_channels(2, &[(0, 1), (1, 0)], &control)),
        "network"
    );
    assert_eq!(
        argument(Network::of_equal_channels(1, &[(0, 0)], &control)),
        "network"
    );
    assert_eq!(
        argument(Network::of_equal_channels(2, &[(0, 2)], &control)),
        "network"
    );
    for channels in [
        vec![(0, 1, 0.6), (0, 2, 0.6)],
        vec![(0, 1, -0.1)],
        vec![(0, 1, f64::NAN)],
        vec![(0, 1, 1.5)],
    ] {
        assert_eq!(argument(Network::new(3, &channels, &control)), "probability");
    }
    // What is not passed on is lost, and parallel channels add up. A code that nothing reaches is still a code.
    let network = Network::new(3, &[(0, 1, 0.25), (0, 1, 0.25), (0, 2, 0.0)], &control).unwrap();
    assert_eq!(network.attack(&control).unwrap(), [(0, 1, 0.5), (0, 2, 0.0)]);
    assert_eq!(
        Network::new(0, &[], &control).unwrap().attack(&control).unwrap(),
        []
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: RngSeed::Fixed(31),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn networks_are_as_defined(pairs in prop::collection::vec((0usize..9, 0usize..9, prop_oneof![0.0..0.2f64, Just(0.0)]), 1..16)) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        // Channels lead from lower to higher numbers, so that there is no cycle.
        let channels: Vec<(usize, usize, f64)> = pairs
            .into_iter()
            .filter(|(from, to, _)| from != to)
            .map(|(from, to, share)| (from.min(to), from.max(to), share))
            .collect();
        let mut of_nodes = [0.0; 9];
        channels.iter().for_each(|channel| of_nodes[channel.0] += channel.2);
        prop_assume!(of_nodes.iter().all(|sum| *sum <= 1.0));
        let named: Vec<(&str, &str, f64)> = channels.iter().map(|&(from, to, share)| (names[from], names[to], share)).collect();
        let expected = reference::attack::Network { channels: &named }.attack();
        let control = Control::new();
        let numbers: Vec<(u32, u32, f64)> = channels.iter().map(|&(from, to, share)| (from as u32, to as u32, share)).collect();
        let found = Network::new(9, &numbers, &control).unwrap().attack(&control).unwrap();
        let mut reversed = numbers.clone();
        reversed.reverse();
        prop_assert_eq!(&found, &Network::new(9, &reversed, &control).unwrap().attack(&control).unwrap());
        // A node without any channel is not in the definition; it is an entry and a code here.
        let found: BTreeMap<(String, String), f64> = found
            .into_iter()
            .filter(|edge| edge.0 != edge.1)
            .map(|(entry, code, share)| ((names[entry as usize].into(), names[code as usize].into()), share))
            .collect();
        for (edge, expected) in &expected {
            prop_assert!((found.get(edge).copied().unwrap_or(f64::NAN) - expected).abs() < 1e-14);
        }
        prop_assert!(found.keys().eq(expected.keys()));
    }
}

/// Half of the time all entries are cracked, and half of the time none: no matrix of weights has this
/// distribution, but its marginals are enough for the mean.
#[test]
fn marginals_are_enough_for_the_mean() {
    let control = Control::new();
    let matrix = dense(&[0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.5]);
    let known = truth(&matrix, &[Some(0), Some(1), Some(2)]);
    let settings = Settings {
        method: Method::Marginals,
        tolerance: Some(0.5),
        ..Settings::default()
    };
    let found = summary(&matrix, Some(&known), &settings, &control).unwrap();
    let cracks = found.cracks.unwrap();
    assert_eq!(
        (cracks.expected, cracks.lower, cracks.upper),
        (1.5, Some(1.5), Some(1.5))
    );
    assert_eq!(
        (found.ln_permanent, found.blocks, found.is_within),
        (None, None, Some(true))
    );
    let entries = report(&matrix, Some(&known), &settings, &control).unwrap();
    assert_eq!(entries.method, Method::Marginals);
    assert_eq!(entries.entries[0].crack_probability, Some(0.5));
    for weights in [vec![0.6, 0.6, 0.0, 0.4], vec![0.6, 0.0, 0.6, 0.4]] {
        let matrix = dense(&weights);
        let refused = estimate(&matrix, &truth(&matrix, &[None, None]), &settings, &control);
        assert!(matches!(
            refused,
            Err(Error::InvalidArgument {
                argument: "matrix",
                ..
            })
        ));
    }
}

#[test]
fn verdicts_follow_the_interval() {
    let control = Control::new();
    let matrix = dense(&[0.9, 0.1, 0.2, 0.8]);
    let known = truth(&matrix, &[Some(0), Some(1)]);
    let verdict = |method, tolerance| {
        let settings = Settings {
            method,
            tolerance,
            seed: 2,
            ..Settings::default()
        };
        summary(&matrix, Some(&known), &settings, &control)
            .unwrap()
            .is_within
    };
    let share = 0.72 / 0.74;
    assert_eq!(verdict(Method::Exact, Some(share)), Some(true));
    assert_eq!(verdict(Method::Exact, Some(share - 1e-6)), Some(false));
    assert_eq!(verdict(Method::Exact, None), None);
    assert_eq!(verdict(Method::Bethe, Some(1.0)), None);
    assert_eq!(verdict(Method::Sample, Some(share)), None);
    assert_eq!(verdict(Method::Sample, Some(0.5)), Some(false));
    // An entry whose code is unknown might be cracked.
    let part = truth(&matrix, &[Some(0), None]);
    let settings = |tolerance| Settings {
        tolerance: Some(tolerance),
        ..exactly()
    };
    for (tolerance, expected) in [(0.4, Some(false)), (0.6, None), (1.0, Some(true))] {
        let found = summary(&matrix, Some(&part), &settings(tolerance), &control).unwrap();
        assert_eq!(found.is_within, expected);
    }
    let settings = Settings {
        tolerance: Some(1.1),
        ..Settings::default()
    };
    assert!(matches!(
        settings.check(),
        Err(Error::InvalidArgument {
            argument: "tolerance",
            ..
        })
    ));
}

#[test]
fn bounds_of_permanents() {
    let control = Control::new();
    for (size, unevenness) in [(5, 1.0), (12, 0.0), (15, 4.0), (18, 16.0)] {
        let matrix = random_attack(size, unevenness, 3, &control).unwrap();
        let ln = Exact::new(&matrix, &control)
            .unwrap()
            .permanent(&control)
            .unwrap()
            .ln();
        let (lower, upper) = ln_permanent_bounds(&matrix, &control).unwrap().unwrap();
        assert!(lower <= ln && ln <= upper, "{lower} {ln} {upper}");
        assert!(upper - lower < 0.5 * size as f64, "{lower} {ln} {upper}");
    }
    let far = Matrix::dense(2, 2, &[1e-300, 1e-300, 1e-300, 1e-300]).unwrap();
    let (lower, upper) = ln_permanent_bounds(&far, &control).unwrap().unwrap();
    let ln = 2.0 * 1e-300f64.ln() + 2f64.ln();
    assert!(lower <= ln && ln <= upper);
    assert!(
        (Exact::new(&far, &control)
            .unwrap()
            .permanent(&control)
            .unwrap()
            .ln()
            - ln)
            .abs()
            < 1e-9
    );
}
