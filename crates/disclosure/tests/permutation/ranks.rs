//! Ranks, reverse mapping and rank correlation: the definitions, golden values, and properties.

use disclosure::permutation::{self, ColumnToSort, Ties, sort_key};
use disclosure::{Control, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::permutation::shared_half_ranks;

fn dense_ranks(values: &[i64]) -> Vec<u32> {
    let keys: Vec<u64> = values.iter().map(|&value| value as u64 ^ 1 << 63).collect();
    permutation::dense_ranks(&keys, &Control::new()).unwrap()
}

fn ranks(dense_ranks: &[u32], ties: Ties) -> Vec<u32> {
    permutation::ranks(dense_ranks, ties, &Control::new()).unwrap()
}

fn rank_correlation(first: &[u32], second: &[u32]) -> Option<f64> {
    permutation::rank_correlation(first, second, &Control::new()).unwrap()
}

/// Returns the orders of two columns, and asserts that they are the same for numbers and for dense ranks.
fn orders(columns: [&[Option<i64>]; 2], seed: u64) -> [Vec<u32>; 2] {
    let control = Control::new();
    let bits = columns.map(|column| column.iter().map(|value| value.unwrap_or(7) as u64).collect());
    let absent = columns.map(|column| {
        let records = (0..).zip(column).filter(|(_, value)| value.is_none());
        records.map(|(record, _)| record).collect()
    });
    let bits: &[Vec<u64>; 2] = &bits;
    let absent: &[Vec<u32>; 2] = &absent;
    let numbers = [0, 1].map(|side| ColumnToSort::Numbers {
        bits: &bits[side],
        key: |bits| sort_key::of_integer(bits as i64),
        absent: &absent[side],
    });
    let dense_ranks = numbers.map(|column| column.dense_ranks(&control).unwrap());
    let [one, other] = &dense_ranks;
    let orders = |columns| permutation::paired_orders(columns, seed, &control).unwrap();
    let of_numbers = orders(numbers);
    assert!(of_numbers == orders([ColumnToSort::DenseRanks(one), ColumnToSort::DenseRanks(other)]));
    assert!(of_numbers == orders([numbers[0], ColumnToSort::DenseRanks(other)]));
    of_numbers
}

fn present(values: &[i64]) -> Vec<Option<i64>> {
    values.iter().copied().map(Some).collect()
}

fn reverse_map(original: &[i64], released: &[i64], seed: u64) -> Vec<i64> {
    let [before, after] = orders([&present(original), &present(released)], seed);
    let sources = permutation::reverse_map(&before, &after);
    sources.iter().map(|&source| original[source as usize]).collect()
}

/// Sorts values, absent ones last.
fn sort_values(values: &mut [Option<i64>]) {
    values.sort_by_key(|value| (value.is_none(), *value));
}

const X: [i64; 5] = [10, 20, 30, 40, 50];
const Y: [i64; 5] = [33, 11, 58, 22, 47];

#[test]
fn the_example_by_hand() {
    let z = reverse_map(&X, &Y, 1);
    assert_eq!(z, [30, 10, 50, 20, 40]);
    assert_eq!(rank_correlation(&dense_ranks(&X), &dense_ranks(&z)), Some(0.3));
    let [before, after] = orders([&present(&X), &present(&Y)], 1);
    assert_eq!(permutation::rank_shifts(&before, &after), [2, 1, 2, 2, 1]);
}

#[test]
fn dense_ranks_number_the_distinct_values() {
    let values: Vec<i64> = (0..50_000)
        .map(|number: i64| number * 7919 % 4096 - 2048)
        .collect();
    let found = dense_ranks(&values);
    for (&value, &dense_rank) in values.iter().zip(&found) {
        assert_eq!(i64::from(dense_rank), value + 2048 + 1);
    }
    assert_eq!(dense_ranks(&[i64::MAX, -5, i64::MIN, -5]), [3, 2, 1, 2]);
}

/// Asserts that records are sorted by their values, and that records equal in both columns have the same
/// order in both.
fn assert_in_order(columns: [&[Option<i64>]; 2], orders: &[Vec<u32>; 2]) {
    let mut rank_of = [vec![0; columns[0].len()], vec![0; columns[1].len()]];
    for ((column, order), rank_of) in columns.iter().zip(orders).zip(&mut rank_of) {
        let found: Vec<_> = order.iter().map(|&record| column[record as usize]).collect();
        let mut expected = column.to_vec();
        sort_values(&mut expected);
        assert!(found == expected);
        for (rank, &record) in order.iter().enumerate() {
            rank_of[record as usize] = rank;
        }
        let mut records = order.clone();
        records.sort_unstable();
        assert!(records.into_iter().eq(0..column.len() as u32));
    }
    let both = |record: u32| columns.map(|column| column[record as usize]);
    let mut equal: Vec<u32> = orders[0].clone();
    equal.sort_by_key(|&record| both(record));
    for group in equal.chunk_by(|&one, &other| both(one) == both(other)) {
        let after = group.iter().map(|&record| rank_of[1][record as usize]);
        assert!(after.is_sorted());
    }
}

#[test]
fn many_records_are_in_order() {
    // Values close together and far apart; two, few and many distinct values.
    for (different, stretch) in [(2, 1), (500, 1), (1 << 20, 1), (500, 1 << 50), (1 << 14, 1 << 49)] {
        let value = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % different * stretch;
        let mut column: Vec<Option<i64>> = (0..40_000).map(|number| Some(value(number) as i64)).collect();
        let other: Vec<Option<i64>> = (0..40_000).map(|number| Some(number * 7919 % 300)).collect();
        for seed in [1, 2] {
            assert_in_order([&column, &other], &orders([&column, &other], seed));
        }
        for record in [3, 17, 39_999] {
            column[record] = None;
        }
        assert_in_order([&column, &other], &orders([&column, &other], 1));
        let [before, after] = orders([&column, &column], 1);
        assert!(before == after);
    }
}

#[test]
fn absent_values_come_last() {
    assert_eq!(ranks(&[2, NULL, 1], Ties::Shared), [4, 6, 2]);
    assert_eq!(ranks(&[NULL, NULL, 1], Ties::Shared), [5, 5, 2]);
    assert_eq!(ranks(&[NULL], Ties::Random { seed: 3 }), [2]);
    assert!(ranks(&[], Ties::Shared).is_empty());
}

#[test]
fn ties_are_broken_by_the_seed_in_every_way() {
    let drawn = |seed| ranks(&[1, 1, 1], Ties::Random { seed });
    let mut seen: Vec<_> = (0..200).map(drawn).collect();
    assert_eq!(drawn(7), drawn(7));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6);
    // The ties of two columns are broken in every way, too, and in each way about equally often.
    let mut found = std::collections::BTreeMap::new();
    for seed in 0..6000 {
        let [tied, _] = orders([&present(&[1, 1, 1]), &present(&[3, 1, 2])], seed);
        *found.entry(tied).or_insert(0) += 1;
    }
    assert!(found.len() == 6 && found.values().all(|times| (850..1150).contains(times)));
}

#[test]
fn a_constant_column_correlates_with_nothing() {
    assert_eq!(rank_correlation(&[1, 1, 1], &[1, 2, 3]), None);
    assert_eq!(rank_correlation(&[1], &[1]), None);
    assert_eq!(rank_correlation(&[], &[]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn ranks_are_those_of_the_definition(dense_ranks in prop::collection::vec(0u32..6, 0..30), seed: u64) {
        let shared = ranks(&dense_ranks, Ties::Shared);
        prop_assert_eq!(&shared, &shared_half_ranks(&dense_ranks));
        let random = ranks(&dense_ranks, Ties::Random { seed });
        let mut all = random.clone();
        all.sort_unstable();
        prop_assert_eq!(all, (1..=dense_ranks.len() as u32).map(|rank| 2 * rank).collect::<Vec<_>>());
        for (a, b) in random.iter().zip(&shared).flat_map(|a| random.iter().zip(&shared).map(move |b| (a, b))) {
            prop_assert!(a.1 >= b.1 || a.0 < b.0, "a larger value has the larger rank");
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(
        (rows, shuffled) in prop::collection::vec((prop::option::of(-2i64..3), prop::option::of(-2i64..3)), 0..30)
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        seed: u64,
    ) {
        let results = |rows: &[(Option<i64>, Option<i64>)]| {
            let (original, released): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
            let columns = [&original[..], &released[..]];
            let [before, after] = orders(columns, seed);
            let mapped = permutation::reverse_map(&before, &after).into_iter().map(|source| original[source as usize]);
            let shifts = permutation::rank_shifts(&before, &after);
            assert_in_order(columns, &[before, after]);
            let mut results: Vec<_> = rows.iter().copied().zip(mapped).zip(shifts).collect();
            results.sort_unstable();
            results
        };
        let found = results(&rows);
        prop_assert_eq!(&found, &results(&shuffled));

        // Records with equal released values get, in some order, the original values that have their ranks.
        let mut by_released: Vec<_> = found.iter().map(|(((_, y), z), _)| (y.is_none(), *y, z.is_none(), *z)).collect();
        by_released.sort_unstable();
        let mapped: Vec<_> = by_released.iter().map(|found| found.3).collect();
        let mut sorted: Vec<_> = rows.iter().map(|row| row.0).collect();
        sort_values(&mut sorted);
        prop_assert_eq!(mapped, sorted);
    }

    #[test]
    fn reverse_mapping_permutes(pairs in prop::collection::vec((-5i64..5, -5i64..5), 1..30), seed: u64) {
        let (x, y): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
        let z = reverse_map(&x, &y, seed);
        let sorted = |values: &[i64]| { let mut values = values.to_vec(); values.sort_unstable(); values };
        prop_assert_eq!(sorted(&z), sorted(&x));
        prop_assert_eq!(reverse_map(&x, &x, seed), x.clone());
        let stretched: Vec<i64> = y.iter().map(|y| y * y * y - 7).collect();
        prop_assert_eq!(reverse_map(&x, &stretched, seed), z);
    }

    #[test]
    fn reverse_mapping_is_that_of_the_definition(
        x in prop::collection::btree_set(-99i64..99, 12),
        y in prop::collection::btree_set(-99i64..99, 12),
        seed: u64,
    ) {
        // Sets are sorted; an order drawn with the seed turns their values into columns.
        let order = ranks(&[1; 12], Ties::Random { seed });
        let column = |set: &std::collections::BTreeSet<i64>, step: usize| -> Vec<i64> {
            let values: Vec<i64> = set.iter().copied().collect();
            (0..12).map(|row| values[order[row * step % 12] as usize / 2 - 1]).collect()
        };
        let (x, y) = (column(&x, 1), column(&y, 5));
        prop_assert_eq!(reverse_map(&x, &y, seed), reference::permutation::reverse_map(&x, &y));
    }

    #[test]
    fn correlation_is_that_of_the_ranks(pairs in prop::collection::vec((0u32..6, 0u32..6), 0..30)) {
        let (first, second): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let number = first.len() as f64;
        let centred = |dense_ranks: &[u32]| -> Vec<f64> {
            shared_half_ranks(dense_ranks).iter().map(|&half_ranks| f64::from(half_ranks) / 2.0 - (number + 1.0) / 2.0).collect()
        };
        let (a, b) = (centred(&first), centred(&second));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (aa, bb) = (product(&a, &a), product(&b, &b));
        match rank_correlation(&first, &second) {
            None => prop_assert!(aa == 0.0 || bb == 0.0),
            Some(found) => prop_assert!((found - product(&a, &b) / (aa * bb).sqrt()).abs() < 1e-12),
        }
        prop_assert!(matches!(rank_correlation(&first, &first), None | Some(1.0)));
    }
}
