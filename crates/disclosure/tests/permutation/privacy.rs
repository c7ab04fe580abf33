//! Permuted privacy, against the definition.

use disclosure::permutation::{ClosestValues, PermutedPrivacy, RankedColumn, ReleasedTable, Ties, ranks};
use disclosure::{Control, Error, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Value = Option<f64>;

/// Returns the distinct values of `values` and `others`, in order.
fn different(values: &[Value], others: &[Value]) -> Vec<f64> {
    let mut different: Vec<f64> = values.iter().chain(others).copied().flatten().collect();
    different.sort_by(f64::total_cmp);
    different.dedup_by(|a, b| a.total_cmp(b).is_eq());
    different
}

/// Returns a column of these values, whose dense ranks are those of `scale`.
fn ranked_column(values: &[Value], scale: Vec<f64>) -> RankedColumn {
    let dense_rank = |value: f64| scale.iter().position(|other| other.total_cmp(&value).is_eq());
    let dense_ranks = values.iter().map(|value| match value {
        None => NULL,
        Some(value) => dense_rank(*value).unwrap() as u32 + 1,
    });
    RankedColumn {
        dense_ranks: dense_ranks.collect(),
        scale,
    }
}

fn distance(first: f64, second: f64) -> f64 {
    match first.total_cmp(&second).is_eq() {
        true => 0.0,
        false => Some((first - second).abs())
            .filter(|distance| !distance.is_nan())
            .unwrap_or(f64::INFINITY),
    }
}

/// Returns the records of a released column that are closest to a value, by looking at all of them.
fn closest(value: Value, released: &[Value]) -> Vec<usize> {
    let all = || 0..released.len();
    let present: Vec<f64> = released.iter().copied().flatten().collect();
    let nulls: Vec<usize> = all().filter(|&record| released[record].is_none()).collect();
    let with = |keep: &dyn Fn(f64) -> bool| {
        all()
            .filter(|&record| released[record].is_some_and(keep))
            .collect()
    };
    let Some(value) = value else {
        let last = present.iter().copied().max_by(f64::total_cmp);
        return match (nulls.is_empty(), last) {
            (true, Some(last)) => with(&|other| other.total_cmp(&last).is_eq()),
            _ => nulls,
        };
    };
    if present.is_empty() {
        return nulls;
    }
    let shortest = present
        .iter()
        .map(|&other| distance(other, value))
        .min_by(f64::total_cmp)
        .unwrap();
    if shortest.is_finite() {
        return with(&|other| distance(other, value) == shortest);
    }
    // All values are infinitely far away; the next ones in order are closest.
    let below = present
        .iter()
        .copied()
        .filter(|other| other.total_cmp(&value).is_lt())
        .max_by(f64::total_cmp);
    let above = present
        .iter()
        .copied()
        .filter(|other| other.total_cmp(&value).is_gt())
        .min_by(f64::total_cmp);
    with(&|other| {
        [below, above]
            .iter()
            .flatten()
            .any(|next| next.total_cmp(&other).is_eq())
    })
}

/// Returns the population variance, computed in two passes.
fn variance(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / number)
}

struct Definition {
    released: Vec<Vec<Value>>,
    ranks: Vec<Vec<u32>>,
    /// Lowest and highest rank of the closest values, column by column.
    closest_ranks: Vec<(u32, u32)>,
}

impl Definition {
    fn new(record: &[Value], released: &[Vec<Value>], ties: Ties) -> Definition {
        let ranks: Vec<Vec<u32>> = released
            .iter()
            .enumerate()
            .map(|(number, column)| {
                ranks(
                    &ranked_column(column, different(column, &[])).dense_ranks,
                    ties.of_column(number),
                    &Control::new(),
                )
                .unwrap()
            })
            .collect();
        let columns = record.iter().zip(released).zip(&ranks);
        let closest_ranks = columns.map(|((&value, column), ranks)| {
            let closest: Vec<u32> = closest(value, column).iter().map(|&other| ranks[other]).collect();
            (*closest.iter().min().unwrap(), *closest.iter().max().unwrap())
        });
        Definition {
            closest_ranks: closest_ranks.collect(),
            released: released.to_vec(),
            ranks,
        }
    }

    /// Returns how many ranks a released record is away from the closest values in a column.
    fn away(&self, column: usize, record: usize) -> f64 {
        let (rank, (low, high)) = (self.ranks[column][record], self.closest_ranks[column]);
        f64::from(rank.abs_diff(rank.clamp(low, high))) / 2.0
    }

    fn largest_d(&self) -> u64 {
        let columns = || 0..self.released.len();
        let records = 0..self.released[0].len();
        let holds = |d: &u64| {
            !records
                .clone()
                .any(|record| columns().all(|column| self.away(column, record) < *d as f64))
        };
        (0..=records.len() as u64).take_while(holds).last().unwrap()
    }

    fn variances(&self, d: u64) -> Vec<Option<f64>> {
        let near = |column: usize| {
            let records =
                (0..self.released[0].len()).filter(move |&record| self.away(column, record) <= d as f64);
            records
                .filter_map(|record| self.released[column][record])
                .collect::<Vec<_>>()
        };
        (0..self.released.len())
            .map(|column| variance(&near(column)))
            .collect()
    }
}

fn same(found: &[Option<f64>], expected: &[Option<f64>]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|pair| match pair {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12 * expected.max(1e-3),
            (found, expected) => found == expected,
        })
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        20 => (0i32..12).prop_map(|number| Some(f64::from(number) / 2.0)),
        10 => (0i32..1000).prop_map(|number| Some(f64::from(number))),
        2 => Just(None),
        1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]).prop_map(Some),
    ]
}

fn columns(width: usize, records: usize) -> impl Strategy<Value = Vec<Vec<Value>>> {
    let column = prop_oneof![
        4 => prop::collection::vec(values(), records),
        1 => prop::collection::vec((0..60i32).prop_map(|number| Some(f64::from(number))), records),
        1 => Just(vec![None; records]),
    ];
    prop::collection::vec(column, width)
}

fn ties() -> impl Strategy<Value = Ties> {
    prop_oneof![
        Just(Ties::Shared),
        any::<u64>().prop_map(|seed| Ties::Random { seed })
    ]
}

type Case = (Vec<Vec<Value>>, Vec<Vec<Value>>, Ties, bool);

fn cases() -> impl Strategy<Value = Case> {
    let tables = (1usize..=5, 1usize..8, 1usize..50)
        .prop_flat_map(|(width, original, released)| (columns(width, original), columns(width, released)));
    (tables, ties(), any::<bool>())
        .prop_map(|((original, released), ties, common)| (original, released, ties, common))
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn answers_are_those_of_the_definition((original, released, ties, common) in cases()) {
        let pairs = || original.iter().zip(&released);
        // The released table may have dense ranks that none of its records has.
        let own = |values: &[Value], other: &[Value]| {
            ranked_column(values, different(values, if common { other } else { &[] }))
        };
        let columns: Vec<_> = pairs().map(|(original, released)| own(released, original)).collect();
        let release = ReleasedTable::new(&columns, ties, &Control::new()).unwrap();
        let originals: Vec<_> = pairs().map(|(original, released)| own(original, released)).collect();
        let control = Control::new();
        let all = release.privacy_of_all(&originals, &control).unwrap();
        prop_assert_eq!(all.len(), original[0].len());
        prop_assert_eq!(control.progress(), Some(1.0));
        for (number, in_batch) in all.iter().enumerate() {
            let record: Vec<Value> = original.iter().map(|column| column[number]).collect();
            let definition = Definition::new(&record, &released, ties);
            let found = release.privacy_of(&record).unwrap();
            prop_assert_eq!(&found, in_batch);
            prop_assert_eq!(found.d, definition.largest_d());
            prop_assert!(same(&found.variances, &definition.variances(found.d)), "{:?}", found);
            for d in [0, 1, 3, u64::MAX] {
                let (found, expected) = (release.variances(&record, d), definition.variances(d));
                prop_assert!(same(&found, &expected), "{} {:?} {:?}", d, found, expected);
            }
            for (column, dense_ranks) in release.closest(&record).unwrap().into_iter().enumerate() {
                let closest = closest(record[column], &released[column]);
                let closest = || closest.iter().map(|&record| columns[column].dense_ranks[record]);
                let expected = ClosestValues { first: closest().min().unwrap(), last: closest().max().unwrap() };
                prop_assert_eq!(dense_ranks, expected);
            }
        }
    }
}

fn numbers(values: &[f64]) -> RankedColumn {
    let values: Vec<Value> = values.iter().map(|&value| Some(value)).collect();
    ranked_column(&values, different(&values, &[]))
}

fn release(columns: &[&[f64]]) -> ReleasedTable {
    let columns: Vec<_> = columns.iter().map(|values| numbers(values)).collect();
    ReleasedTable::new(&columns, Ties::Shared, &Control::new()).unwrap()
}

#[test]
fn an_example_by_hand() {
    // The closest values of (11, 95) are 10, of rank 1, and 90, of rank 4. The records are
    // (1, 1), (2, 4), (3, 3), (4, 2) in ranks: the second one differs by 1 and 0, the others by more.
    let release = release(&[&[10.0, 20.0, 30.0, 40.0], &[60.0, 90.0, 80.0, 70.0]]);
    let record = [Some(11.0), Some(95.0)];
    let expected = PermutedPrivacy {
        d: 1,
        variances: vec![Some(25.0), Some(25.0)],
    };
    assert_eq!(release.privacy_of(&record), Some(expected));
    assert_eq!(release.variances(&record, 0), [Some(0.0), Some(0.0)]);
    assert_eq!(release.variances(&record, 3), [Some(125.0), Some(125.0)]);
}

#[test]
fn values_equally_near_below_and_above_are_both_closest() {
    // 20 is half-way between 10 and 30. If 10 alone were the closest value, the record (30, 3) would be 1
    // rank away.
    let release = release(&[&[10.0, 30.0, 50.0], &[1.0, 3.0, 5.0]]);
    assert_eq!(release.privacy_of(&[Some(20.0), Some(3.0)]).unwrap().d, 0);
    assert_eq!(release.privacy_of(&[Some(19.9), Some(3.0)]).unwrap().d, 1);
    assert_eq!(
        release.closest(&[Some(20.0), None]).unwrap()[0],
        ClosestValues { first: 1, last: 2 }
    );
}

#[test]
fn rounding_errors_do_not_break_ties() {
    let release = release(&[&[0.2, 0.4]]);
    assert_eq!(
        release.closest(&[Some(0.3)]),
        Some(vec![ClosestValues { first: 1, last: 2 }])
    );
    assert_eq!(
        release.closest(&[Some(0.3000001)]),
        Some(vec![ClosestValues { first: 2, last: 2 }])
    );
}

#[test]
fn variances_do_not_cancel() {
    // A variance of about 1e-6, among values near 0 or 1e9, in a column that begins at -1e6.
    let small = [0.0, 0.001, 0.002, 0.003];
    for (base, tolerance) in [(0.0, 1e-12), (1e9, 1e-4)] {
        let mut values: Vec<f64> = (0..1000).map(f64::from).map(|number| number - 1e6).collect();
        values.extend(small.iter().map(|offset| base + offset));
        let near: Vec<f64> = values[1000..].iter().map(|value| value - base).collect();
        let found = release(&[&values]).variances(&[Some(base + 0.003)], 3)[0].unwrap();
        let expected = variance(&near).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        assert!((expected / 1.25e-6 - 1.0).abs() < tolerance, "what was put in");
    }
}

#[test]
fn variances_of_windows_of_any_size() {
    let values: Vec<f64> = (0..1003).map(|number| f64::from(number).powf(1.5)).collect();
    let release = release(&[&values]);
    for middle in [0, 1, 15, 16, 17, 500, 511, 990, 1002] {
        for d in [0, 1, 14, 15, 16, 31, 33, 64, 129, 400, 700, 2000] {
            let window = &values[middle.max(d) - d..values.len().min(middle + d + 1)];
            let found = release.variances(&[Some(values[middle])], d as u64);
            assert!(
                same(&found, &[variance(window)]),
                "{d} ranks around {middle}: {found:?}"
            );
        }
    }
}

#[test]
fn a_variance_too_large_for_a_number_is_infinite() {
    let release = release(&[&[-1e308, 0.0, 1e308]]);
    assert_eq!(release.variances(&[Some(0.0)], 1), [Some(f64::INFINITY)]);
    assert_eq!(release.variances(&[Some(0.0)], 0), [Some(0.0)]);
}

#[test]
fn nothing_is_said_without_records() {
    let release = release(&[&[], &[]]);
    assert_eq!(release.privacy_of(&[Some(1.0), None]), None);
    assert_eq!(release.closest(&[Some(1.0), None]), None);
    assert_eq!(release.variances(&[Some(1.0), None], 2), [None, None]);
    assert!(
        release
            .privacy_of_all(&[numbers(&[1.0]), numbers(&[1.0])], &Control::new())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_cancel_is_noticed() {
    let control = Control::new();
    control.cancel();
    let columns = [numbers(&[1.0, 2.0])];
    assert_eq!(
        ReleasedTable::new(&columns, Ties::Shared, &control).err(),
        Some(Error::Cancelled)
    );
    let release = release(&[&[1.0, 2.0]]);
    assert_eq!(release.privacy_of_all(&columns, &control), Err(Error::Cancelled));
}
