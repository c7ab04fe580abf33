//! Comparison of a column with its released version: rank shifts, noise and extent.

use disclosure::permutation::{AverageShift, ColumnShift, ColumnSide, Extent, column_shift, dense_ranks};
use disclosure::{Control, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn report(x: &[f64], y: &[f64]) -> ColumnShift {
    let of = |values: &[f64]| {
        let keys: Vec<u64> = values.iter().map(|&value| value as u64).collect();
        let mut numbers = values.to_vec();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        (dense_ranks(&keys, &Control::new()).unwrap(), numbers)
    };
    let ((x, of_x), (y, of_y)) = (of(x), of(y));
    report_of((&x, Some(&of_x)), (&y, Some(&of_y)))
}

fn report_of(x: (&[u32], Option<&[f64]>), y: (&[u32], Option<&[f64]>)) -> ColumnShift {
    let side = |(dense_ranks, numbers)| ColumnSide { dense_ranks, numbers };
    column_shift(side(x), side(y), 1, &Control::new()).unwrap()
}

/// Column of GOLDEN.md: Z = 30 10 50 20 40, with rank shifts 2 1 2 2 1.
#[test]
fn golden_values() {
    let report = report(&[10., 20., 30., 40., 50.], &[33., 11., 58., 22., 47.]);
    assert_eq!(report.rank_correlation, Some(0.3));
    assert_eq!(
        (report.mean, report.median, report.max),
        (Some(1.6), Some(2.0), Some(2))
    );
    // A random permutation of 5 records moves a value by 24 / 15 ranks on average.
    assert_eq!(report.relative_shift, Some(1.0));
    // The noise is 3, 1, 8, 2 and 7.
    assert_eq!(report.residual_noise, Some((127.0_f64 / 5.0).sqrt()));
    assert_eq!(report.noise_share, Some((127.0_f64 / 5.0 / 200.0).sqrt()));
    assert_eq!(report.extent, Some(Extent::Unknown));
}

/// With n records, a correlation of 0.2 is significant if 0.2 √(n − 1) ≥ 1.96.
#[test]
fn few_records_do_not_decide() {
    let extent = |records: i64| {
        let original: Vec<f64> = (0..records).map(|record| record as f64).collect();
        // Alternately rising and falling values: hardly any correlation.
        let released: Vec<f64> = (0..records)
            .map(|record| (1000 + record * (-1i64).pow(record as u32 % 2)) as f64)
            .collect();
        report(&original, &released).extent
    };
    assert_eq!(extent(97), Some(Extent::Unknown));
    assert_eq!(extent(98), Some(Extent::AsGoodAsRandom));
}

#[test]
fn nothing_moved() {
    let report = report(
        &[1., 1., 2., 3., 3., 3., 9.],
        &[11., 11., 12., 13., 13., 13., 19.],
    );
    assert_eq!((report.mean, report.max), (Some(0.0), Some(0)));
    assert_eq!(report.residual_noise, Some(10.0));
    assert_eq!(report.extent, Some(Extent::NotPermuted));
}

#[test]
fn few_records_have_no_figures() {
    let none = report(&[], &[]);
    assert_eq!(
        (none.mean, none.median, none.max, none.extent),
        (None, None, None, None)
    );
    let one = report(&[7.], &[8.]);
    assert_eq!(
        (one.mean, one.relative_shift, one.extent),
        (Some(0.0), None, None)
    );
    assert_eq!((one.residual_noise, one.noise_share), (Some(1.0), None));
    let constant = report(&[7., 7., 7.], &[1., 2., 3.]);
    assert_eq!((constant.rank_correlation, constant.extent), (None, None));
}

/// A record has no noise if one of its two values is absent or infinite: its released value, or the original
/// value whose rank it took.
#[test]
fn absent_values() {
    let (x, y) = ([1, 2, NULL], [2, NULL, 1]);
    let infinite = [f64::NEG_INFINITY, 5.0];
    let report = report_of((&x, Some(&infinite)), (&y, Some(&[3.0, 8.0])));
    assert_eq!(report.residual_noise, Some(3.0));
    assert_eq!(report_of((&x, None), (&y, Some(&infinite))).residual_noise, None);
}

#[test]
fn noise_whose_square_overflows_or_underflows() {
    for unit in [1e200, 1e-200] {
        let (of_x, of_y) = ([0.0, unit], [3.0 * unit, 4.0 * unit]);
        let report = report_of((&[1, 2], Some(&of_x)), (&[2, 1], Some(&of_y)));
        assert_eq!(report.residual_noise, Some(3.0 * unit));
        assert_eq!(report.noise_share, Some(6.0));
    }
}

#[test]
fn the_weakest_column() {
    let ten: Vec<f64> = (0..10).map(f64::from).collect();
    let turned: Vec<f64> = (0..10).rev().map(f64::from).collect();
    let mut swapped = ten.clone();
    swapped.swap(0, 2);
    let columns = [
        report(&ten, &turned),
        report(&ten, &swapped),
        report(&[3.; 10], &[3.; 10]),
    ];
    let weakest = ColumnShift::weakest(&columns);
    assert_eq!(weakest.rank_correlation, Some(-1.0));
    assert_eq!((weakest.mean, weakest.max), (columns[1].mean, Some(2)));
    assert_eq!(weakest.extent, Some(Extent::PartlyPermuted));
    assert_eq!(ColumnShift::weakest(&[]).extent, None);
    let average = AverageShift::from_columns(&columns);
    let other = columns[1].rank_correlation.unwrap();
    assert_eq!(average.rank_correlation, Some((1.0 + other) / 2.0));
    assert_eq!(AverageShift::from_columns(&columns[2..]).relative_shift, None);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Only the order of values matters. In a column without ties, the shifts are the differences of two
    /// sorted orders.
    #[test]
    fn shifts_are_those_of_the_definition(y in Just((0..20).collect::<Vec<u32>>()).prop_shuffle()) {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        let moved: Vec<u64> = y.iter().zip(0u32..).map(|(&y, x)| u64::from(y.abs_diff(x))).collect();
        let y: Vec<f64> = y.into_iter().map(|y| f64::from(y * y)).collect();
        let report = report(&x, &y);
        prop_assert_eq!(report.mean, Some(moved.iter().sum::<u64>() as f64 / 20.0));
        prop_assert_eq!(report.max, moved.iter().max().copied());
    }
}
