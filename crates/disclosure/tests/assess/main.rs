//! Tests of criteria and verdicts: see `disclosure::assess`.

use disclosure::assess::{Criterion, Measure, Measured, Verdict, overall, severity};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn criterion(measure: &str, at_least: Option<f64>, at_most: Option<f64>) -> Criterion {
    Criterion {
        measure: Measure::named(measure).unwrap(),
        at_least,
        at_most,
    }
}

#[test]
fn every_measure_is_found_by_its_name() {
    let names: Vec<&str> = Measure::names().collect();
    assert!(names.len() > 30);
    for name in names {
        assert_eq!(Measure::named(name).map(Measure::name), Some(name));
    }
    assert_eq!(Measure::named("suda"), None);
    assert_eq!(Measure::named(""), None);
}

#[test]
fn limits_are_inclusive() {
    let k = criterion("k_anonymity", Some(5.0), None);
    assert_eq!(k.verdict(Measured::exactly(5.0)), Some(Verdict::Safe));
    assert_eq!(k.verdict(Measured::exactly(4.0)), Some(Verdict::Unsafe));
    let score = criterion("privacy_score", None, Some(0.47));
    assert_eq!(score.verdict(Measured::exactly(0.47)), Some(Verdict::Safe));
    assert_eq!(score.verdict(Measured::exactly(0.9 / 1.9)), Some(Verdict::Unsafe));
}

#[test]
fn bounds_on_both_sides_of_a_limit_are_not_known() {
    let score = criterion("privacy_score", None, Some(0.4));
    let between = |lower, upper| score.verdict(Measured::Between { lower, upper });
    assert_eq!(between(0.1, 0.4), Some(Verdict::Safe));
    assert_eq!(between(0.1, 0.5), Some(Verdict::Unknown));
    assert_eq!(between(0.41, 0.5), Some(Verdict::Unsafe));
    assert_eq!(score.verdict(Measured::Unknown), Some(Verdict::Unknown));
    assert_eq!(score.verdict(Measured::Nothing), Some(Verdict::Safe));
    assert_eq!(score.verdict(Measured::exactly(f64::NAN)), Some(Verdict::Unsafe));
}

#[test]
fn columns_without_a_label_never_fail() {
    let unlabelled = criterion("unlabelled_columns", None, Some(0.0));
    assert_eq!(unlabelled.verdict(Measured::exactly(3.0)), Some(Verdict::Unknown));
    assert_eq!(unlabelled.verdict(Measured::exactly(0.0)), Some(Verdict::Safe));
    let identifiers = criterion("identifier_columns", None, Some(0.0));
    assert_eq!(identifiers.verdict(Measured::exactly(3.0)), Some(Verdict::Unsafe));
}

#[test]
fn a_criterion_without_a_limit_is_not_judged() {
    let shown = criterion("uniques", None, None);
    assert_eq!(shown.check(), Ok(()));
    assert_eq!(shown.verdict(Measured::exactly(7.0)), None);
    assert!(!shown.can_be_enforced());
    assert_eq!(overall([None, Some(Verdict::Safe)]), Verdict::Safe);
    assert_eq!(overall([None]), Verdict::Unknown);
    assert_eq!(overall([]), Verdict::Unknown);
}

#[test]
fn limits_on_the_wrong_side_are_refused() {
    let argument = |measure, at_least, at_most| {
        let error = criterion(measure, at_least, at_most).check().unwrap_err();
        error
            .to_string()
            .split(' ')
            .next()
            .unwrap()
            .trim_end_matches(':')
            .to_string()
    };
    assert_eq!(argument("k_anonymity", None, Some(5.0)), "at_most");
    assert_eq!(argument("k_anonymity", Some(-1.0), None), "at_least");
    assert_eq!(argument("k_anonymity", Some(f64::NAN), None), "at_least");
    assert_eq!(argument("privacy_score", Some(0.5), None), "at_least");
    assert_eq!(argument("privacy_score", None, Some(1.5)), "at_most");
    assert_eq!(argument("uniques", None, Some(f64::INFINITY)), "at_most");
    assert_eq!(argument("dominance", Some(0.1), Some(0.9)), "at_least");
}

#[test]
fn aggregates_and_populations_are_not_enforced() {
    for name in [
        "smallest_count",
        "dominance",
        "rounding",
        "k_map",
        "journalist_highest",
        "category_columns",
        "largest_value",
    ] {
        let limits = [(Some(0.5), None), (None, Some(0.5))];
        let mut criteria = limits
            .map(|(at_least, at_most)| criterion(name, at_least, at_most))
            .into_iter();
        let valid = criteria.find(|criterion| criterion.check().is_ok()).unwrap();
        assert!(valid.is_judged() && !valid.can_be_enforced(), "{name}");
    }
    assert!(criterion("l_distinct", Some(2.0), None).can_be_enforced());
}

fn verdicts() -> impl Strategy<Value = Option<Verdict>> {
    prop::option::of(prop::sample::select(vec![
        Verdict::Unsafe,
        Verdict::Unknown,
        Verdict::Safe,
    ]))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(23),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn overall_verdict_meets_its_definition(verdicts in prop::collection::vec(verdicts(), 0..6)) {
        let expected = if verdicts.contains(&Some(Verdict::Unsafe)) {
            Verdict::Unsafe
        } else if verdicts.contains(&Some(Verdict::Unknown)) || verdicts.iter().all(Option::is_none) {
            Verdict::Unknown
        } else {
            Verdict::Safe
        };
        prop_assert_eq!(overall(verdicts.iter().copied()), expected);
        let worst = verdicts.iter().copied().min_by_key(|&verdict| severity(verdict));
        if expected == Verdict::Unsafe {
            prop_assert_eq!(worst, Some(Some(Verdict::Unsafe)));
        }
    }

    #[test]
    fn wider_bounds_never_change_the_verdict_to_its_opposite(
        lower in 0.0..1.0_f64, width in 0.0..0.5_f64, more in 0.0..0.5_f64, limit in 0.0..1.0_f64, protects in any::<bool>(),
    ) {
        let criterion = match protects {
            true => criterion("l_entropy", Some(limit), None),
            false => criterion("alpha", None, Some(limit)),
        };
        let narrow = criterion.verdict(Measured::Between { lower, upper: lower + width });
        let wide = criterion.verdict(Measured::Between { lower: lower - more, upper: lower + width + more });
        prop_assert!(wide == narrow || wide == Some(Verdict::Unknown));
    }
}
