//! Comparison of real matches with chance, against the definition and on data whose answer is known.

use disclosure::permutation::{
    CalibrationSettings, Candidate, ChanceSettings, Distribution, PValueMethod, Plausibility, Points,
    RankSwapSettings, Ties, calibrate, link, plausibility, rank_swap, ranks,
};
use disclosure::{Control, Error, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::permutation::nearest;

fn points(columns: &[Vec<u32>]) -> Points {
    let ranks = columns
        .iter()
        .map(|column| ranks(column, Ties::Shared, &Control::new()).unwrap());
    Points::new(&ranks.collect::<Vec<_>>())
}

fn compared(original: &Points, released: &Points, chance: &ChanceSettings) -> Plausibility {
    plausibility(original, released, None, chance, &Control::new()).unwrap()
}

/// Returns a permutation of the dense ranks 1 to `records`: ranks swapped across the whole column.
fn shuffled(records: usize, seed: u64) -> Vec<u32> {
    let swapped = rank_swap(records, &RankSwapSettings { p: 100.0, seed }, &Control::new()).unwrap();
    swapped.into_iter().map(|rank| rank + 1).collect()
}

/// Returns three independent columns.
fn independent(records: usize, seed: u64) -> Vec<Vec<u32>> {
    (0..3)
        .map(|column| shuffled(records, 10 * seed + column))
        .collect()
}

/// Returns the distances of all random records by definition: each of their values may come from any record.
fn distances_of_all(original: &Points, released: &Points) -> Vec<u32> {
    let records = original.len();
    let number_of = original.width() as u32;
    let random = (0..records.pow(number_of)).map(|number| {
        let record = |column: u32| number / records.pow(column) % records;
        let value = |column: u32| original.point(record(column))[column as usize];
        (0..number_of).map(value).collect::<Vec<u32>>()
    });
    random.map(|random| nearest(&random, released.iter()).0).collect()
}

/// Counts the random records at each distance.
fn weights(distances: &[u32]) -> Vec<f64> {
    let mut weights = vec![0.0; 1 + *distances.iter().max().unwrap() as usize];
    distances
        .iter()
        .for_each(|&distance| weights[distance as usize] += 1.0);
    weights
}

#[test]
fn an_unchanged_release_is_nearer_than_chance() {
    let original = points(&independent(200, 1));
    let found = compared(&original, &original, &ChanceSettings::default());
    assert_eq!(found.real_distances, [0; 7]);
    assert_eq!((found.all_combinations, found.random_records), (false, 2000));
    assert_eq!((found.mean_matches, found.unlinked), (1.0, 0));
    assert!(
        found.overlap < 0.01 && found.shorter.statistic > 0.99 && found.shorter.p_value < 1e-9,
        "{found:?}"
    );
}

#[test]
fn an_independent_release_is_no_nearer_than_chance() {
    let (original, released) = (points(&independent(400, 1)), points(&independent(400, 2)));
    let found = compared(&original, &released, &ChanceSettings::default());
    assert_eq!(found.shorter.p_method, PValueMethod::Exact);
    assert!(
        found.overlap > 0.8 && found.shorter.p_value > 0.05 && found.unlinked > 100,
        "{found:?}"
    );
    // All 400³ combinations are too many, so 10 records are drawn for each original one.
    assert_eq!(found.random_records, 4000);
}

#[test]
fn few_records_prove_nothing() {
    let original = points(&[vec![1, 2, 3], vec![2, 3, 1]]);
    let found = compared(&original, &original, &ChanceSettings::default());
    assert_eq!(found.shorter.p_method, PValueMethod::Bound);
    assert!(found.overlap < 0.8 && found.shorter.p_value >= 0.05);
}

#[test]
fn one_column_says_nothing() {
    let column = shuffled(100, 1);
    for columns in [vec![column.clone()], vec![column, vec![1; 100]]] {
        let original = points(&columns);
        let found = compared(&original, &original, &ChanceSettings::default());
        assert_eq!((found.overlap, found.is_safe(None, 0.05)), (1.0, None));
    }
}

#[test]
fn matches_that_are_farther_than_chance_are_not_called_better() {
    // Columns that rise together in the original run against each other in the released table.
    let up: Vec<u32> = (1..=200).collect();
    let down: Vec<u32> = (1..=200).rev().collect();
    let found = compared(
        &points(&[up.clone(), up.clone()]),
        &points(&[up, down]),
        &ChanceSettings::default(),
    );
    assert!(found.overlap < 0.8 && found.shorter.p_value > 0.05, "{found:?}");
}

#[test]
fn wide_bins_do_not_hide_exact_matches() {
    // One half of the records is released unchanged, along the diagonal. The other half is as far from it as
    // possible, and random records are in between.
    let along = |at: u32| 100 * at;
    let first = (0..30).map(along).chain((0..30).map(|at| along(29 * (at % 2))));
    let second = (0..30)
        .map(along)
        .chain((0..30).map(|at| along(29 * (1 - at % 2))));
    let original = Points::new(&[first.collect(), second.collect()]);
    let released = Points::new(&[(0..30).map(along).collect(), (0..30).map(along).collect()]);
    let found = compared(&original, &released, &ChanceSettings::default());
    assert!(found.overlap > 0.8 && found.shorter.statistic > 0.3, "{found:?}");
    assert!(found.shorter.p_value < 0.05);
}

#[test]
fn draws_come_from_the_distribution_of_all_combinations() {
    let (original, released) = (points(&independent(50, 1)), points(&independent(50, 2)));
    // 125,000 combinations are more than 100,000 and more than 50 · 2,000.
    let found = compared(
        &original,
        &released,
        &ChanceSettings {
            draws: 2000,
            ..ChanceSettings::default()
        },
    );
    assert_eq!((found.all_combinations, found.random_records), (false, 100_000));
    let all = distances_of_all(&original, &released);
    let share = |keep: &dyn Fn(u32) -> bool| {
        all.iter().filter(|&&distance| keep(distance)).count() as f64 / all.len() as f64
    };
    let levels = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];
    for (level, quantile) in levels.into_iter().zip(found.random_distances) {
        assert!(share(&|distance| distance < quantile) < level + 0.01, "{level}");
        assert!(share(&|distance| distance <= quantile) > level - 0.01, "{level}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (original, released) = (points(&independent(300, 1)), points(&independent(300, 2)));
    let tied = |seed| {
        points(
            &independent(300, seed)
                .iter()
                .map(|column| column.iter().map(|dense_rank| dense_rank % 40).collect())
                .collect::<Vec<_>>(),
        )
    };
    let (tied_original, tied_release) = (tied(3), tied(4));
    let run = |threads: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let chance = ChanceSettings {
            draws: 50,
            seed,
            ..ChanceSettings::default()
        };
        pool.install(|| {
            (
                compared(&original, &released, &chance),
                compared(&tied_original, &tied_release, &chance),
            )
        })
    };
    let one = run(1, 1);
    assert!(!one.0.all_combinations && one.1.all_combinations);
    assert_eq!(one, run(2, 1));
    assert_eq!(one, run(5, 1));
    assert_ne!(one.0, run(1, 2).0);
    assert_eq!(one.1, run(1, 2).1);
}

#[test]
fn arguments_are_checked() {
    let (some, none) = (points(&[vec![1, 2], vec![1, 2]]), points(&[vec![], vec![]]));
    let argument = |original: &Points, released: &Points, draws, at_most| match plausibility(
        original,
        released,
        None,
        &ChanceSettings {
            draws,
            at_most,
            seed: 1,
        },
        &Control::new(),
    ) {
        Err(Error::InvalidArgument { argument, .. }) => argument,
        answer => panic!("{answer:?}"),
    };
    assert_eq!(argument(&some, &some, 0, 0.8), "draws");
    assert_eq!(argument(&some, &some, 1, 1.1), "at_most");
    assert_eq!(argument(&some, &some, 1, f64::NAN), "at_most");
    assert_eq!(argument(&none, &some, 1, 0.8), "original");
    assert_eq!(argument(&some, &none, 1, 0.8), "released");
    let control = Control::new();
    control.cancel();
    assert_eq!(
        plausibility(&some, &some, None, &ChanceSettings::default(), &control),
        Err(Error::Cancelled)
    );
}

#[test]
fn draws_without_end_need_no_memory_and_can_be_cancelled() {
    // So many draws that a seed for every 4096 of them would not fit into memory. There are even more
    // combinations, so that these are not used instead.
    const RECORDS: usize = 70_000;
    let original = points(&independent(RECORDS, 1));
    let chance = ChanceSettings {
        draws: u32::MAX,
        ..ChanceSettings::default()
    };
    let all = RECORDS as f64 * (1.0 + f64::from(u32::MAX));
    let control = Control::new();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| plausibility(&original, &original, None, &chance, &control));
        // Wait until the first random records have been linked.
        while !answer.is_finished() && control.progress().unwrap_or(0.0) * all < RECORDS as f64 + 1000.0 {
            std::thread::yield_now();
        }
        control.cancel();
        assert_eq!(answer.join().unwrap(), Err(Error::Cancelled));
    });
}

fn calibration(candidates: &[f64], chance: ChanceSettings, at_most: f64) -> CalibrationSettings {
    CalibrationSettings {
        candidates: candidates.to_vec(),
        chance: ChanceSettings { at_most, ..chance },
        ..CalibrationSettings::default()
    }
}

fn calibrated(columns: &[Vec<u32>], ties: Ties, candidates: &[f64]) -> Vec<Candidate> {
    let settings = calibration(candidates, ChanceSettings::default(), 1.0);
    calibrate(columns, None, ties, &settings, &Control::new()).unwrap()
}

/// Returns the number of correct links and the expected number.
fn correct(candidate: &Candidate) -> (u64, f64) {
    let links = candidate.assessment.links.unwrap();
    (links.correct, links.expected_correct)
}

#[test]
fn the_least_swapping_that_is_enough_is_chosen() {
    let columns = independent(300, 1);
    let found = calibrated(&columns, Ties::Shared, &[60.0, 0.0, 1.0, 80.0, 5.0]);
    assert_eq!(
        found.iter().map(|candidate| candidate.p).collect::<Vec<_>>(),
        [60.0, 0.0, 1.0, 80.0, 5.0]
    );
    let overlaps = found
        .iter()
        .map(|candidate| candidate.assessment.plausibility.overlap >= 0.8);
    assert_eq!(overlaps.collect::<Vec<_>>(), [true, false, false, true, false]);
    // With at_most 1, everything is safe, and only the overlap decides.
    assert!(
        found
            .iter()
            .all(|candidate| candidate.assessment.is_safe == Some(true))
    );
    assert_eq!(
        found.iter().map(|candidate| candidate.chosen).collect::<Vec<_>>(),
        [true, false, false, false, false]
    );
    let unchanged = &found[1];
    assert_eq!(unchanged.correlations, [Some(1.0); 3]);
    assert_eq!(correct(unchanged), (300, 300.0));
    assert!(
        found[4]
            .correlations
            .iter()
            .all(|correlation| correlation.unwrap() > 0.95)
    );
    assert!(correct(&found[4]).0 > correct(&found[0]).0);
    assert!(correct(&found[0]).1 <= correct(&found[0]).0 as f64);
    let nobody = calibrated(&[vec![1, 2], vec![1, 2]], Ties::Shared, &[50.0]).remove(0);
    let (correct, expected_correct) = correct(&nobody);
    assert_eq!((correct, expected_correct.to_bits()), (0, 0.0f64.to_bits()));
}

#[test]
fn matches_that_look_random_may_still_be_right() {
    let columns = independent(300, 1);
    let candidates: Vec<f64> = (0..30).map(f64::from).collect();
    let chosen = |at_most: f64| {
        let settings = calibration(&candidates, ChanceSettings::default(), at_most);
        let found = calibrate(&columns, None, Ties::Shared, &settings, &Control::new()).unwrap();
        found.into_iter().find(|candidate| candidate.chosen).unwrap()
    };
    let (lenient, strict) = (chosen(1.0), chosen(0.02));
    assert!(correct(&lenient).1 > 6.0 && correct(&strict).1 <= 6.0);
    assert!(lenient.p < strict.p);
    for at_most in [-0.1, 1.1, f64::NAN] {
        let settings = calibration(&candidates, ChanceSettings::default(), at_most);
        let answer = calibrate(&columns, None, Ties::Shared, &settings, &Control::new());
        assert!(matches!(
            answer,
            Err(Error::InvalidArgument {
                argument: "at_most",
                ..
            })
        ));
    }
}

#[test]
fn candidates_do_not_depend_on_each_other() {
    let columns = independent(100, 1);
    let ties = Ties::Random { seed: 4 };
    let both = calibrated(&columns, ties, &[10.0, 20.0]);
    assert_eq!(both[..1], calibrated(&columns, ties, &[10.0]));
    let other_seed = ChanceSettings {
        seed: 2,
        ..ChanceSettings::default()
    };
    let settings = calibration(&[10.0], other_seed, 1.0);
    let swapped_by_other_seed = calibrate(&columns, None, ties, &settings, &Control::new());
    assert_ne!(both[..1], swapped_by_other_seed.unwrap());
}

#[test]
fn equal_records_are_told_apart_by_luck_only() {
    // Two columns of two values: 25 records with each combination.
    let columns: Vec<Vec<u32>> = vec![
        (0..100).map(|at| 1 + at % 2).collect(),
        (0..100).map(|at| 1 + at / 2 % 2).collect(),
    ];
    let found = &calibrated(&columns, Ties::Shared, &[0.0])[0];
    assert_eq!(correct(found).0, 100);
    assert!((correct(found).1 - 4.0).abs() < 1e-9);
    // Ties broken at random hide the records from the adversary, because the order that was drawn means
    // nothing.
    let found = &calibrated(&columns, Ties::Random { seed: 1 }, &[0.0])[0];
    assert!(correct(found).0 < 20, "{found:?}");
}

#[test]
fn absent_values_are_swapped_too() {
    let columns = vec![vec![NULL, 1, 2, 3, 4, NULL], vec![1, 2, 3, NULL, 4, 5]];
    let found = calibrated(&columns, Ties::Shared, &[0.0, 100.0]);
    assert_eq!(found[0].correlations, [Some(1.0); 2]);
    assert!(
        found[1]
            .correlations
            .iter()
            .all(|correlation| correlation.unwrap() < 1.0)
    );
}

#[test]
fn candidates_are_checked() {
    for candidates in [&[][..], &[1.0, -1.0], &[1.0, 101.0], &[1.0, f64::NAN]] {
        let settings = calibration(candidates, ChanceSettings::default(), 1.0);
        let answer = calibrate(&independent(5, 1), None, Ties::Shared, &settings, &Control::new());
        assert!(matches!(
            answer,
            Err(Error::InvalidArgument {
                argument: "candidates",
                ..
            })
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn all_combinations_are_those_of_the_definition(
        rows in prop::collection::vec(prop::array::uniform6(0u32..4), 1..7),
        width in 1usize..4,
    ) {
        let column = |number: usize| rows.iter().map(|row| row[number]).collect();
        let columns = |first: usize| -> Vec<Vec<u32>> { (first..first + width).map(column).collect() };
        let (original, released) = (points(&columns(0)), points(&columns(3)));
        let found = compared(&original, &released, &ChanceSettings::default());
        let random = Distribution::from_weights(&weights(&distances_of_all(&original, &released)));
        let linked = link(&original, &released, &Control::new()).unwrap();
        let real = Distribution::from_records(linked.matches.iter().map(|found| found.distance).collect());
        prop_assert!(found.all_combinations);
        prop_assert_eq!(Some(found.real_distances), real.quantiles());
        prop_assert_eq!(Some(found.random_distances), random.quantiles());
        prop_assert!((found.overlap - real.overlap(&random).unwrap()).abs() < 1e-12);
        let expected = real.shorter_than(&random, &Control::new()).unwrap().unwrap();
        prop_assert!((found.shorter.statistic - expected.statistic).abs() < 1e-12);
        prop_assert!((found.shorter.p_value - expected.p_value).abs() < 1e-9);
        prop_assert_eq!(found.unlinked, linked.unlinked);
    }
}
