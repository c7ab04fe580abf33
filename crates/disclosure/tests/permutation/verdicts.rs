//! Verdicts on an adversary's links: the bounds against their definitions, and the verdict itself on data of which
//! it is known how many people can be found.

use disclosure::Control;
use disclosure::permutation::{
    Assessment, ChanceSettings, CorrectLinks, Linkage, Matches, Points, RankedTables, Ties, dense_ranks,
    holdout_points, link, sort_key, unnoticed_share,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reference::permutation::{expected_correct, expected_correct_of_all, half_rank_in_place_of, nearest};

/// Columns of numbers.
type Table = Vec<Vec<f64>>;

const RECORDS: usize = 200;
const DRAWS: u64 = 8;

/// Returns a number from the standard normal distribution (Box and Muller).
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (radius, angle): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Returns a sample of three normally distributed columns with the same correlation between any two of them.
fn sample(records: usize, correlation: f64, random: &mut Pcg64Mcg) -> Table {
    let mut columns = vec![Vec::new(); 3];
    for _ in 0..records {
        let common = normal(random);
        for column in &mut columns {
            column.push(correlation.sqrt() * common + (1.0 - correlation).sqrt() * normal(random));
        }
    }
    columns
}

fn with_noise(table: &Table, deviation: f64, random: &mut Pcg64Mcg) -> Table {
    let noisy = |column: &Vec<f64>| {
        column
            .iter()
            .map(|value| value + deviation * normal(random))
            .collect()
    };
    table.iter().map(noisy).collect()
}

/// Shuffles every column by itself.
fn with_columns_shuffled(table: &Table, random: &mut Pcg64Mcg) -> Table {
    let mut shuffled = table.clone();
    for column in &mut shuffled {
        for last in (1..column.len()).rev() {
            column.swap(last, random.random_range(0..=last));
        }
    }
    shuffled
}

/// Returns the dense ranks of the values of a table, or of several tables together.
fn dense(tables: &[&Table]) -> Vec<Vec<Vec<u32>>> {
    let mut dense_tables = vec![Vec::new(); tables.len()];
    for column in 0..tables[0].len() {
        let keys = tables.iter().flat_map(|table| &table[column]);
        let keys: Vec<u64> = keys.map(|&value| sort_key::of_float(value)).collect();
        let mut ranked = &dense_ranks(&keys, &Control::new()).unwrap()[..];
        for (dense, table) in dense_tables.iter_mut().zip(tables) {
            let (of_table, rest) = ranked.split_at(table[column].len());
            dense.push(of_table.to_vec());
            ranked = rest;
        }
    }
    dense_tables
}

fn slices(columns: &[Vec<u32>]) -> Vec<&[u32]> {
    columns.iter().map(Vec::as_slice).collect()
}

fn assess(original: &Table, released: &Table, holdout: Option<&Table>, has_key: bool) -> Assessment {
    let (control, chance) = (Control::new(), ChanceSettings::default());
    let released = dense(&[released]).remove(0);
    let together = match holdout {
        None => dense(&[original]),
        Some(holdout) => dense(&[original, holdout]),
    };
    let original = slices(&together[0]);
    let mut tables =
        RankedTables::new(&original, &slices(&released), has_key, Ties::Shared, &control).unwrap();
    if let Some(holdout) = together.get(1) {
        let holdout = holdout_points(&original, holdout, Ties::Shared, chance.seed, &control).unwrap();
        tables = tables.with_holdout(holdout);
    }
    tables.assess(&chance, &control).unwrap().unwrap()
}

/// Verdicts on several releases made in the same way.
#[derive(Debug, Default)]
struct Verdicts {
    with_key: Vec<Option<bool>>,
    without_key: Vec<Option<bool>>,
    with_holdout: Vec<Option<bool>>,
    /// Mean of the expected number of correct links.
    correct: f64,
    /// Number of releases in which real records are nearer than draws by the test of the paper (5 %).
    nearer_than_draws: usize,
}

/// Assesses several releases of tables with this correlation.
fn verdicts(correlation: f64, release: impl Fn(&Table, &mut Pcg64Mcg) -> Table) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for draw in 0..DRAWS {
        let mut random = Pcg64Mcg::seed_from_u64(draw);
        let original = sample(RECORDS, correlation, &mut random);
        let holdout = sample(10 * RECORDS, correlation, &mut random);
        let released = release(&original, &mut random);
        let with_key = assess(&original, &released, None, true);
        verdicts.with_key.push(with_key.is_safe);
        verdicts.correct += with_key.links.unwrap().expected_correct / DRAWS as f64;
        verdicts.nearer_than_draws += usize::from(with_key.plausibility.shorter.p_value < 0.05);
        verdicts
            .without_key
            .push(assess(&original, &released, None, false).is_safe);
        let with_holdout = assess(&original, &released, Some(&holdout), false);
        assert_eq!(with_holdout.plausibility.random_records, 10 * RECORDS as u64);
        verdicts.with_holdout.push(with_holdout.is_safe);
    }
    verdicts
}

fn all(verdict: Option<bool>) -> Vec<Option<bool>> {
    vec![verdict; DRAWS as usize]
}

#[test]
fn an_unmasked_table_is_unsafe() {
    for correlation in [0.0, 0.5, 0.9] {
        for deviation in [0.0, 0.02, 0.1] {
            let found = verdicts(correlation, |table, random| with_noise(table, deviation, random));
            assert!(found.correct > 0.5 * RECORDS as f64, "{found:?}");
            assert_eq!(found.with_key, all(Some(false)));
            assert_eq!(found.with_holdout, all(Some(false)), "{correlation} {deviation}");
            // Without either it is not known: a table drawn from the same people's neighbours is near, too.
            assert_eq!(found.without_key, all(None));
        }
    }
}

#[test]
fn links_that_look_random_but_are_correct_are_unsafe() {
    // A sixth of the people is linked correctly, though the distances are much like those of draws.
    let found = verdicts(0.0, |table, random| with_noise(table, 0.5, random));
    assert!((20.0..35.0).contains(&found.correct), "{found:?}");
    assert_eq!(found.with_key, all(Some(false)));
    assert_eq!(found.without_key, all(None));
    // A hold-out must not call them safe, whether it notices them or not.
    assert!(!found.with_holdout.contains(&Some(true)));
}

#[test]
fn a_table_that_contains_nobody_is_not_unsafe() {
    for correlation in [0.5, 0.9] {
        let found = verdicts(correlation, |_, random| sample(RECORDS, correlation, random));
        assert!(found.correct < 2.0, "{found:?}");
        // Draws ignore the correlation, so that real records are always nearer.
        assert_eq!(found.nearer_than_draws, DRAWS as usize);
        assert_eq!(found.with_key, all(Some(true)));
        assert_eq!(found.without_key, all(None));
        assert_eq!(found.with_holdout, all(None));
    }
}

#[test]
fn shuffled_columns_are_safe() {
    for correlation in [0.0, 0.5, 0.9] {
        let found = verdicts(correlation, with_columns_shuffled);
        assert!(found.correct < 2.0, "{found:?}");
        assert_eq!(found.with_key, all(Some(true)));
        assert_eq!(found.without_key, all(None));
        assert_eq!(found.with_holdout, all(None));
    }
}

#[test]
fn a_large_hold_out_that_is_as_near_makes_a_table_safe() {
    let chance = 0.2;
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let [original, released, holdout] = [(); 3].map(|()| sample(20_000, 0.5, &mut random));
    let found = assess(&original, &released, Some(&holdout), false).plausibility;
    // The test would have noticed if more people had been linked.
    assert!(found.holdout_bound.unwrap() < chance * 20_000.0, "{found:?}");
    assert_eq!(found.is_safe(None, chance), Some(true));
    assert_eq!(found.is_safe(None, 0.01), None);
}

#[test]
fn what_the_test_does_not_notice_is_bounded() {
    // The share linked correctly stays below the bound for noise of any size, if noise is independent of where
    // people are.
    for (seed, deviation) in [0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0].into_iter().enumerate() {
        let mut random = Pcg64Mcg::seed_from_u64(seed as u64);
        let [original, holdout] = [(); 2].map(|()| sample(2_000, 0.5, &mut random));
        let released = with_noise(&original, deviation, &mut random);
        let found = assess(&original, &released, Some(&holdout), true);
        let (links, bound) = (found.links.unwrap(), found.plausibility.holdout_bound.unwrap());
        assert!(links.expected_correct <= bound, "{deviation}: {found:?}");
    }
    assert_eq!(unnoticed_share(1.0, [10, 10]), 1.0);
    assert_eq!(unnoticed_share(0.0, [1, 1]), 1.0);
    assert!((unnoticed_share(0.0087, [u64::MAX; 2]) - 0.05).abs() < 1e-4);
}

#[test]
fn equal_records_are_safe_without_a_key() {
    // Four groups of fifty equal records: each is drawn with a probability of 1/50.
    let column = |period: u32| (0..200).map(|record| f64::from(record / period % 2)).collect();
    let table: Table = vec![column(1), column(2)];
    let found = assess(&table, &table, None, false);
    assert!((found.plausibility.max_correct - 4.0).abs() < 1e-9);
    assert_eq!(found.is_safe, Some(true));
    assert_eq!(found.plausibility.is_safe(None, 0.01), None);
}

#[test]
fn one_lucky_link_of_few_is_not_known_to_be_unsafe() {
    let table: Table = vec![vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 1.0]];
    // All three are linked correctly, which a random assignment does in one of six cases.
    let found = assess(&table, &table, None, true);
    assert_eq!(found.links.unwrap().p_value, 1.0 / 6.0);
    assert_eq!(found.is_safe, None);
    let table: Table = vec![vec![1.0, 2.0, 3.0, 4.0], vec![2.0, 3.0, 1.0, 4.0]];
    let found = assess(&table, &table, None, true);
    assert_eq!(found.links.unwrap().p_value, 1.0 / 24.0);
    assert_eq!(found.is_safe, Some(false));
}

#[test]
fn links_at_the_limit_are_safe_whatever_the_rounding() {
    // 0.29 × 100 is less than 29 in floating point.
    let table: Table = vec![(0..100).map(f64::from).collect()];
    let found = assess(&table, &table, None, true).plausibility;
    let links = |expected_correct| CorrectLinks {
        correct: 30,
        expected_correct,
        p_value: 0.0,
    };
    for (of_hundred, at_most) in [(29, 0.29), (57, 0.57), (58, 0.58)] {
        let of_hundred = f64::from(of_hundred);
        assert_eq!(found.is_safe(Some(&links(of_hundred)), at_most), Some(true));
        assert_eq!(
            found.is_safe(Some(&links(of_hundred + 0.001)), at_most),
            Some(false)
        );
    }
}

#[test]
fn expected_links_do_not_depend_on_the_order_of_records() {
    let expected = |counts: &[u64]| {
        let matches = counts.iter().map(|&count| Matches {
            distance: 0,
            count,
            first: 0,
        });
        let linkage = Linkage {
            matches: matches.collect(),
            linked: 100,
            unlinked: 0,
        };
        let correct = vec![true; counts.len()];
        (
            linkage.count_correct(&correct).expected_correct,
            linkage.max_correct(),
        )
    };
    assert_eq!(expected(&[1, 1, 3, 3, 3, 3, 3, 3]), (4.0, 4.0));
    assert_eq!(expected(&[3, 3, 1, 3, 3, 1, 3, 3]), (4.0, 4.0));
    assert_eq!(expected(&[7, 3, 5, 7, 3]), expected(&[3, 3, 5, 7, 7]));
}

#[test]
fn a_hold_out_without_records_is_refused() {
    let control = Control::new();
    let points = Points::new(&[vec![2, 4], vec![2, 4]]);
    let none = Points::new(&[vec![], vec![]]);
    let chance = ChanceSettings::default();
    let answer = disclosure::permutation::plausibility(&points, &points, Some(&none), &chance, &control);
    assert!(matches!(
        answer,
        Err(disclosure::Error::InvalidArgument {
            argument: "holdout",
            ..
        })
    ));
    let columns: [&[u32]; 1] = [&[]];
    assert!(holdout_points(&columns, &columns, Ties::Shared, 1, &control).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_for_all_assignments(
        rows in prop::collection::vec(prop::array::uniform4(0u32..5), 1..7),
    ) {
        let column = |number: usize| rows.iter().map(|row| 2 * row[number] + 2).collect::<Vec<u32>>();
        let original = Points::new(&[column(0), column(1)]);
        let released = Points::new(&[column(2), column(3)]);
        let matches: Vec<Vec<usize>> =
            original.iter().map(|record| nearest(record, released.iter()).1).collect();
        let of_all = expected_correct_of_all(&matches);
        let linkage = link(&original, &released, &Control::new()).unwrap();
        for &expected in &of_all {
            prop_assert!(expected <= linkage.max_correct() + 1e-9);
        }
        let counterparts: Vec<u32> = (0..rows.len() as u32).collect();
        let links = linkage.count_correct(&linkage.correct(&original, &released, &counterparts));
        let counterparts: Vec<usize> = (0..rows.len()).collect();
        let expected = expected_correct(&matches, &counterparts);
        prop_assert!((links.expected_correct - expected).abs() < 1e-9);
        let as_many = of_all.iter().filter(|&&other| other >= expected - 1e-9).count();
        prop_assert!(as_many as f64 / of_all.len() as f64 <= links.p_value + 1e-9);
        // A random assignment has one correct link on average.
        prop_assert!((of_all.iter().sum::<f64>() / of_all.len() as f64 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_hold_out_record_has_the_rank_of_a_record_that_it_replaces(
        original in prop::collection::vec(0u32..6, 1..8),
        holdout in prop::collection::vec(0u32..8, 1..8),
    ) {
        let control = Control::new();
        let shared = holdout_points(&[&original], &[&holdout], Ties::Shared, 1, &control).unwrap();
        let random = holdout_points(&[&original], &[&holdout], Ties::Random { seed: 1 }, 1, &control).unwrap();
        for (record, &dense_rank) in holdout.iter().enumerate() {
            let ranks: Vec<u32> = (0..original.len())
                .map(|replaced| half_rank_in_place_of(&original, replaced, dense_rank))
                .collect();
            prop_assert!(ranks.contains(&shared.point(record)[0]));
            // Breaking ties at random moves a rank by no more than the number of equal values.
            let equal = original.iter().filter(|&&other| other == dense_rank).count() as u32;
            let rank = random.point(record)[0];
            prop_assert!(rank % 2 == 0 && rank.abs_diff(shared.point(record)[0]) <= equal);
        }
    }
}
