//! Compares models of population uniqueness with their definitions and with ARX's figures.

use crate::{cases, is_close};
use disclosure::Control;
use disclosure::population::{ClassSizes, Equations, Model, NegativeBinomial, Pitman, Uniqueness, zayatz};
use proptest::prelude::*;
use reference::population as definition;

/// Numbers of classes by size of ARX's Adult, 30,162 rows with all nine columns.
const ADULT: [(u64, u64); 34] = [
    (1, 15_512),
    (2, 2098),
    (3, 754),
    (4, 375),
    (5, 189),
    (6, 155),
    (7, 97),
    (8, 73),
    (9, 39),
    (10, 37),
    (11, 29),
    (12, 18),
    (13, 23),
    (14, 14),
    (15, 15),
    (16, 9),
    (17, 11),
    (18, 10),
    (19, 10),
    (20, 5),
    (21, 3),
    (22, 4),
    (23, 3),
    (24, 2),
    (25, 1),
    (26, 3),
    (27, 5),
    (29, 1),
    (30, 2),
    (32, 1),
    (34, 1),
    (35, 1),
    (36, 1),
    (45, 1),
];

fn adult() -> ClassSizes {
    let mut sizes = ClassSizes::default();
    ADULT.iter().for_each(|&(size, classes)| sizes.add(size, classes));
    sizes
}

/// Generates sizes of classes with many uniques and few large classes.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    (0_usize..60, 0_usize..30, prop::collection::vec(3_u64..30, 0..20))
        .prop_map(|(ones, twos, others)| [vec![1; ones], vec![2; twos], others].concat())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn pitman_is_the_most_likely(sizes in samples()) {
        let sample: ClassSizes = sizes.iter().copied().collect();
        let Some(model) = Pitman::fit(&sample, Control::none()).unwrap() else {
            return Ok(());
        };
        let likelihood = |theta: f64, alpha: f64| definition::pitman_likelihood(&sizes, theta, alpha);
        let best = likelihood(model.theta, model.alpha);
        for (factor, difference) in [(1.01, 0.0), (0.99, 0.0), (1.0, 1e-3), (1.0, -1e-3), (1.1, -0.01), (0.9, 0.01)] {
            let (theta, alpha) = (model.theta * factor, (model.alpha + difference).clamp(1e-9, 1.0 - 1e-9));
            prop_assert!(likelihood(theta, alpha) <= best + 1e-9);
        }
        for population in [100, 5000] {
            let expected = population as f64 * definition::pitman_alone(population, model.theta, model.alpha);
            let found = model.expected_uniques(population as f64).unwrap();
            prop_assert!(is_close(found.uniques, expected, 1e-10));
        }
        // The limit is approached.
        if let (Some(limit), Some(exact)) = (model.uniques(1e13), model.expected_uniques(1e13)) {
            prop_assert!(is_close(limit.uniques, exact.uniques, 1e-6));
            prop_assert!(is_close(limit.standard_error.unwrap(), exact.standard_error.unwrap(), 1e-4));
        }
    }

    #[test]
    fn zayatz_meets_the_definition(sizes in samples(), factor in 1_u64..20) {
        let sample: ClassSizes = sizes.iter().copied().collect();
        if sizes.contains(&1) {
            let population = sample.units() * factor;
            let found = zayatz(&sample, population as f64, Control::none()).unwrap().unwrap();
            prop_assert!(is_close(found.uniques, definition::zayatz(&sizes, population), 1e-9));
        }
    }

    #[test]
    fn negative_binomial_equations_are_solved(classes in 100_u64..5000, alpha in 0.1_f64..3.0, beta in 0.1_f64..0.9, fraction in 0.05_f64..0.9) {
        // The expected sample of a population with this distribution, rounded.
        let expected = |members| {
            let terms = 60 + (40.0 / beta) as u64;
            definition::negative_binomial_expected(classes as f64, (alpha, beta), fraction, members, terms).round() as u64
        };
        let mut sample = ClassSizes::default();
        (1..15).for_each(|members| sample.add(members, expected(members)));
        if let Some(found) = NegativeBinomial::fit(&sample, fraction, Equations::Published) {
            let sizes: Vec<u64> = sample.iter().flat_map(|(size, classes)| vec![size; classes as usize]).collect();
            prop_assert!(is_close(found.classes, definition::shlosser(&sizes, fraction), 1e-9));
            let terms = 100 + (60.0 / found.beta) as u64;
            let parameters = (found.alpha, found.beta);
            for members in [1, 2] {
                let expected = definition::negative_binomial_expected(found.classes, parameters, fraction, members, terms);
                prop_assert!(is_close(expected, sample.of_size(members) as f64, 1e-8));
            }
            let uniques = found.classes * found.beta.powf(found.alpha);
            prop_assert!(is_close(found.uniques.uniques, uniques, 1e-12));
            prop_assert!(found.uniques.standard_error.is_some_and(|error| error > 0.0));
        }
    }

    #[test]
    fn nothing_fails(sizes in prop::collection::vec(1_u64..1_000_000, 0..10), fraction in 1e-9_f64..=1.0) {
        let sample: ClassSizes = sizes.into_iter().collect();
        let estimates = Uniqueness::new(&sample, fraction, Control::none()).unwrap();
        let all = [
            estimates.pitman,
            estimates.pitman_expected,
            estimates.zayatz,
            estimates.negative_binomial,
            estimates.negative_binomial_arx,
        ];
        for estimate in all.into_iter().flatten() {
            prop_assert!(estimate.uniques >= 0.0 && estimate.uniques.is_finite());
        }
    }
}

#[test]
fn arx_has_these_figures() {
    let sample = adult();
    assert_eq!(
        (sample.units(), sample.classes(), sample.of_size(1)),
        (30_162, 19_502, 15_512)
    );
    let at = |fraction| Uniqueness::new(&sample, fraction, Control::none()).unwrap();
    let share = |estimates: &Uniqueness, fraction, equations| {
        let (model, estimate) = estimates.dankar(fraction, equations);
        (model, estimate.unwrap().uniques / estimates.population)
    };
    let tenth = at(0.1);
    let shares =
        |estimate: Option<disclosure::population::Estimate>| estimate.map(|e| e.uniques / tenth.population);
    assert!(is_close(
        shares(tenth.pitman).unwrap(),
        0.276_849_938_836_535_97,
        1e-8
    ));
    assert!(is_close(
        shares(tenth.zayatz).unwrap(),
        0.320_740_239_346_618_9,
        1e-12
    ));
    assert_eq!(tenth.negative_binomial_arx, None);
    for equations in [Equations::Arx, Equations::Published] {
        assert_eq!(share(&tenth, 0.1, equations).0, Model::Pitman);
        let (model, hundredth) = share(&at(0.01), 0.01, equations);
        assert_eq!(model, Model::Pitman);
        assert!(is_close(hundredth, 0.144_608_353_116_738_4, 1e-8));
        assert!(is_close(
            share(&at(1.0), 1.0, equations).1,
            0.514_289_503_348_584_4,
            1e-15
        ));
    }
    let (model, fifth) = share(&at(0.2), 0.2, Equations::Arx);
    assert_eq!(model, Model::Zayatz);
    assert!(is_close(fifth, 0.357_709_923_482_912_5, 1e-12));
    // By mpmath, with 30 digits: the published equations have a solution.
    let (model, fifth) = share(&at(0.2), 0.2, Equations::Published);
    assert_eq!(model, Model::NegativeBinomial);
    assert!(is_close(fifth, 0.319_459_375_4, 1e-9));
    assert!(is_close(
        shares(tenth.negative_binomial).unwrap(),
        0.249_976_937_6,
        1e-9
    ));
    assert!(is_close(
        shares(tenth.pitman_expected).unwrap(),
        0.276_033_320_318_872_99,
        1e-10
    ));
}

#[test]
fn samples_without_uniques_come_from_populations_without() {
    let sample: ClassSizes = [2, 2, 7].into_iter().collect();
    let estimates = Uniqueness::new(&sample, 0.1, Control::none()).unwrap();
    let (_, estimate) = estimates.dankar(0.1, Equations::Published);
    assert_eq!(estimate.map(|estimate| estimate.uniques), Some(0.0));
}

#[test]
fn models_without_a_solution_have_no_estimate() {
    let sample: ClassSizes = vec![1; 50].into_iter().collect();
    let estimates = Uniqueness::new(&sample, 0.1, Control::none()).unwrap();
    assert_eq!((estimates.pitman, estimates.negative_binomial), (None, None));
    assert_eq!(estimates.dankar(0.1, Equations::Published).0, Model::Zayatz);
    let empty = Uniqueness::new(&ClassSizes::default(), 0.5, Control::none()).unwrap();
    assert_eq!(empty.zayatz.map(|estimate| estimate.uniques), Some(0.0));
}

#[test]
fn fractions_are_above_0_and_at_most_1() {
    for fraction in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(Uniqueness::new(&adult(), fraction, Control::none()).is_err());
    }
}

#[test]
fn zayatz_has_the_standard_error_of_simulations() {
    // Poisson numbers of classes of each size, with the means of a small sample.
    let means = [(1_u64, 60.0_f64), (2, 25.0), (3, 10.0), (8, 4.0)];
    let mut sample = ClassSizes::default();
    means
        .iter()
        .for_each(|&(size, mean)| sample.add(size, mean as u64));
    let error = zayatz(&sample, 1720.0, Control::none())
        .unwrap()
        .unwrap()
        .standard_error
        .unwrap();
    let (mut sum, mut squares, mut state) = (0.0, 0.0, 1_u64);
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let runs = 4000;
    for _ in 0..runs {
        let mut drawn = ClassSizes::default();
        for &(size, mean) in &means {
            let (mut count, mut product) = (0, random());
            while product > (-mean).exp() {
                count += 1;
                product *= random();
            }
            drawn.add(size, count);
        }
        let population = drawn.units() as f64 * 10.0;
        let estimate = zayatz(&drawn, population, Control::none())
            .unwrap()
            .unwrap()
            .uniques;
        sum += estimate;
        squares += estimate * estimate;
    }
    let mean = sum / f64::from(runs);
    let deviation = (squares / f64::from(runs) - mean * mean).sqrt();
    assert!(is_close(error, deviation, 0.1), "{error} is not {deviation}");
}
