//! Nearest neighbours in rank space, against the definition.

use disclosure::permutation::{FoundRecords, HalfRanks, KdTree, Points};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn points(records: &[Vec<HalfRanks>], width: usize) -> Points {
    let column = |column| records.iter().map(|record| record[column]).collect();
    Points::new(&(0..width).map(column).collect::<Vec<_>>())
}

/// Returns the distance of a point from a box by looking at every column.
fn gap(point: &[HalfRanks], low: &[HalfRanks], high: &[HalfRanks]) -> HalfRanks {
    let columns = 0..point.len();
    let gap = |column: usize| point[column].abs_diff(point[column].clamp(low[column], high[column]));
    columns.map(gap).max().unwrap()
}

/// Returns for every record whether it is near, by looking at all of them.
fn near(records: &[Vec<HalfRanks>], low: &[HalfRanks], high: &[HalfRanks], distance: HalfRanks) -> Vec<bool> {
    records
        .iter()
        .map(|point| gap(point, low, high) <= distance)
        .collect()
}

fn found(near: &[bool]) -> FoundRecords {
    FoundRecords {
        records: near.iter().filter(|&&near| near).count() as u64,
        first: near
            .iter()
            .position(|&near| near)
            .map_or(u32::MAX, |first| first as u32),
    }
}

/// Queries the tree with every box and compares the results with the definition.
fn compare(records: &[Vec<HalfRanks>], width: usize, boxes: &[Corners]) {
    let tree = KdTree::new(&points(records, width), &Control::new()).unwrap();
    let marks = tree.marks();
    let mut marked = vec![false; records.len()];
    assert_eq!(tree.unmarked(&marks), records.len() as u64);
    for (low, high) in boxes {
        let nearest = records.iter().map(|point| gap(point, low, high)).min();
        assert_eq!(tree.nearest(low, high), nearest);
        for distance in [0, nearest.unwrap_or(7), nearest.unwrap_or(7) + 3, 40] {
            let expected = found(&near(records, low, high, distance));
            assert_eq!(tree.within(low, high, distance), expected);
        }
        let distance = nearest.unwrap_or(0);
        let near = near(records, low, high, distance);
        assert_eq!(tree.mark_within(low, high, distance, &marks), found(&near));
        marked
            .iter_mut()
            .zip(near)
            .for_each(|(marked, near)| *marked |= near);
        let unmarked = marked.iter().filter(|&&marked| !marked).count() as u64;
        assert_eq!(tree.unmarked(&marks), unmarked);
    }
    let mut seen = vec![false; records.len()];
    for point in 0..tree.points() {
        assert!(tree.records(point).is_sorted());
        for &record in tree.records(point) {
            assert_eq!(records[record as usize], tree.point(point));
            assert!(!std::mem::replace(&mut seen[record as usize], true));
        }
    }
    assert!(seen.iter().all(|&seen| seen));
    let mut different = records.to_vec();
    different.sort_unstable();
    different.dedup();
    assert_eq!(tree.points(), different.len());
}

/// Lowest and highest corner of a box.
type Corners = (Vec<HalfRanks>, Vec<HalfRanks>);

/// Generates points with few and with many different coordinates, and boxes that are often points.
fn cases() -> impl Strategy<Value = (Vec<Vec<HalfRanks>>, usize, Vec<Corners>)> {
    (1usize..=14, prop::sample::select(vec![1u32, 2, 4, 30])).prop_flat_map(|(width, values)| {
        let point = || prop::collection::vec(2..2 + values, width);
        let sides = (point(), prop::collection::vec(0u32..3, width), any::<bool>());
        let boxed = sides.prop_map(|(low, sizes, is_point)| {
            let high = low
                .iter()
                .zip(sizes)
                .map(|(low, size)| low + if is_point { 0 } else { size });
            let high = high.collect();
            (low, high)
        });
        let records = prop::collection::vec(point(), 0..120);
        (records, Just(width), prop::collection::vec(boxed, 1..6))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn answers_are_those_of_the_definition((records, width, boxes) in cases()) {
        compare(&records, width, &boxes);
    }
}

/// Returns a number below `limit` that looks random.
fn scattered(number: usize, limit: u32) -> u32 {
    ((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as u32 % limit
}

/// Number of records that is large enough for several threads.
const MANY: usize = 30_000;

#[test]
fn pieces_of_many_threads_fit_together() {
    let of_values = |values: [u32; 3]| -> Vec<Vec<HalfRanks>> {
        (0..MANY)
            .map(|record| {
                (0..3)
                    .map(|column| scattered(3 * record + column, values[column]))
                    .collect()
            })
            .collect()
    };
    for values in [
        [1, 1, 1],
        [2, 1, 3],
        [10, 10, 10],
        [60_000, 60_000, 60_000],
        [3, 60_000, 1],
    ] {
        let records = of_values(values);
        let boxes: Vec<_> = (0..20)
            .map(|number| {
                let low: Vec<_> = (0..3)
                    .map(|column| scattered(7 * number + column, 60_000))
                    .collect();
                let high = low.iter().map(|low| low + number as u32 % 2 * 500).collect();
                (low, high)
            })
            .collect();
        compare(&records, 3, &boxes);
    }
}

#[test]
fn the_largest_ranks_do_not_overflow() {
    let records = vec![vec![2, u32::MAX - 1], vec![u32::MAX - 1, 2]];
    let ask = |point: [u32; 2]| (point.to_vec(), point.to_vec());
    compare(&records, 2, &[ask([2, 2]), ask([u32::MAX - 1, u32::MAX - 1])]);
    let tree = KdTree::new(&points(&records[..1], 2), &Control::new()).unwrap();
    let far = [u32::MAX, 2];
    assert_eq!(tree.within(&far, &far, u32::MAX).records, 1);
    assert_eq!(tree.nearest(&far, &far), Some(u32::MAX - 2));
}

#[test]
fn a_cancel_is_noticed() {
    let control = Control::new();
    control.cancel();
    let one = points(&[vec![2]], 1);
    assert_eq!(KdTree::new(&one, &control).err(), Some(Error::Cancelled));
}
