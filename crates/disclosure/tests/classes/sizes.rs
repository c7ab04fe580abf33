//! Compares equivalence classes with their definitions.

use disclosure::classes::{Classes, SizeBuckets};
use disclosure::{Control, Error, NULL, Rows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::classes::{class_size, wildcard_size};

fn classes_of(rows: &[Vec<u32>], width: usize) -> (Classes, Vec<usize>) {
    let mut classes = Classes::new(width);
    let mut of_row = Vec::new();
    let columns: Vec<Vec<u32>> = (0..width)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect();
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    classes
        .extend(Rows::new(&columns, rows.len()), |class| {
            of_row.push(class as usize)
        })
        .unwrap();
    (classes, of_row)
}

/// Generates small tables with few values, so that rows collide, and with some NULLs.
fn tables() -> impl Strategy<Value = (usize, Vec<Vec<u32>>)> {
    (0usize..6).prop_flat_map(|width| {
        let row = prop::collection::vec(0u32..4, width);
        (Just(width), prop::collection::vec(row, 0..40))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sizes_meet_the_definition((width, rows) in tables()) {
        let (classes, of_row) = classes_of(&rows, width);
        for (i, &class) in of_row.iter().enumerate() {
            prop_assert_eq!(classes.sizes()[class], class_size(&rows, &rows[i]));
            prop_assert_eq!(classes.codes(class), &rows[i][..]);
        }
        let k = rows.iter().map(|row| class_size(&rows, row)).min();
        prop_assert_eq!(classes.k_anonymity(), k);
    }

    #[test]
    fn wildcard_sizes_meet_the_definition((width, rows) in tables()) {
        let (classes, of_row) = classes_of(&rows, width);
        let sizes = classes.wildcard_sizes(&Control::new()).unwrap();
        for (i, &class) in of_row.iter().enumerate() {
            prop_assert_eq!(sizes[class], wildcard_size(&rows, &rows[i]));
        }
    }

    /// Few patterns of NULLs are compared in another way than many.
    #[test]
    fn wildcard_sums_meet_the_definition(
        rows in prop::collection::vec((0u32..12, 0u32..12), 60..120),
        others in prop::collection::vec((0u32..12, 0u32..12), 0..120),
    ) {
        let table = |rows: &[(u32, u32)]| rows.iter().map(|&(a, b)| vec![a, b]).collect::<Vec<_>>();
        let (rows, others) = (table(&rows), table(&others));
        let ((classes, _), (there, _)) = (classes_of(&rows, 2), classes_of(&others, 2));
        let sums = classes.sum_agreeing(&there, there.sizes(), Control::none()).unwrap();
        for (class, &sum) in sums.iter().enumerate() {
            prop_assert_eq!(sum, wildcard_size(&others, classes.codes(class)));
        }
    }

    #[test]
    fn agreeing_classes_meet_the_definition((width, rows) in tables()) {
        let (classes, of_row) = classes_of(&rows, width);
        let sizes = |_: usize, agreeing: &[u32]| agreeing.iter().map(|&class| classes.sizes()[class as usize]).sum::<u64>();
        let sums = classes.map_agreeing(&Control::new(), sizes).unwrap();
        for (row, class) in rows.iter().zip(of_row) {
            prop_assert_eq!(sums[class], wildcard_size(&rows, row));
        }
    }

    #[test]
    fn parts_merge_into_the_whole((width, rows) in tables(), cut in 0usize..40) {
        let (left, right) = rows.split_at(cut.min(rows.len()));
        let (mut merged, _) = classes_of(left, width);
        // The right part was encoded separately: its code c is code 4 - c on the left (NULL stays NULL).
        let swap = |code: u32| if code == NULL { NULL } else { 4 - code };
        let foreign: Vec<Vec<u32>> = right
            .iter()
            .map(|row| row.iter().map(|&code| swap(code)).collect())
            .collect();
        let (other, _) = classes_of(&foreign, width);
        merged.merge(&other, &vec![(0..4).map(swap).collect(); width]).unwrap();
        let (whole, of_row) = classes_of(&rows, width);
        prop_assert_eq!(merged.len(), whole.len());
        for (row, class) in rows.iter().zip(of_row) {
            let there = (0..merged.len()).find(|&c| merged.codes(c) == &row[..]).unwrap();
            prop_assert_eq!(merged.sizes()[there], whole.sizes()[class]);
        }
    }

    #[test]
    fn size_groups_account_for_every_row(
        (width, rows) in tables(),
        starts in prop::collection::btree_set(2u64..9, 0..4),
        each in any::<bool>(),
    ) {
        let (classes, of_row) = classes_of(&rows, width);
        let starts = std::iter::once(1).chain(starts).collect();
        let buckets = if each { SizeBuckets::EachSize } else { SizeBuckets::StartingAt(starts) };
        prop_assert_eq!(buckets.check(), Ok(()));
        let groups = classes.size_groups(classes.sizes(), &buckets);
        prop_assert!(groups.windows(2).all(|pair| pair[0].up_to.is_some_and(|up_to| up_to < pair[1].from)));
        let sizes = classes.sizes();
        for group in &groups {
            let is_within = |size: u64| size >= group.from && group.up_to.is_none_or(|up_to| size <= up_to);
            prop_assert_eq!(group.classes, sizes.iter().filter(|&&size| is_within(size)).count() as u64);
            let held = of_row.iter().filter(|&&class| is_within(sizes[class]));
            prop_assert_eq!(group.rows, held.count() as u64);
            prop_assert!(group.classes > 0 && (!each || group.up_to == Some(group.from)));
        }
        prop_assert_eq!(groups.iter().map(|group| group.rows).sum::<u64>(), rows.len() as u64);
    }
}

#[test]
fn buckets_are_1_2_3_to_4_5_to_9_10_to_19_and_the_rest() {
    let mut classes = Classes::new(1);
    for (code, count) in (1..).zip([1, 2, 4, 5, 9, 19, 20, 400]) {
        classes.insert(&[code], count).unwrap();
    }
    let groups = classes.size_groups(classes.sizes(), &SizeBuckets::default());
    let groups: Vec<_> = groups
        .iter()
        .map(|group| (group.from, group.up_to, group.classes, group.rows))
        .collect();
    let expected = [
        (1, Some(1), 1, 1),
        (2, Some(2), 1, 2),
        (3, Some(4), 1, 4),
        (5, Some(9), 2, 14),
        (10, Some(19), 1, 19),
        (20, None, 2, 420),
    ];
    assert_eq!(groups, expected);
}

#[test]
fn buckets_have_to_ascend_from_1() {
    for starts in [vec![], vec![0, 1], vec![2], vec![1, 1], vec![1, 5, 3]] {
        assert!(SizeBuckets::StartingAt(starts).check().is_err());
    }
}

#[test]
fn a_table_without_columns_is_one_class() {
    let (classes, _) = classes_of(&[vec![], vec![], vec![]], 0);
    assert_eq!(classes.sizes(), [3]);
    assert_eq!(classes.wildcard_sizes(&Control::new()), Ok(vec![3]));
}

#[test]
fn empty_classes_have_no_k() {
    let classes = Classes::new(2);
    assert!(classes.is_empty());
    assert_eq!(classes.k_anonymity(), None);
    assert_eq!(classes.wildcard_sizes(&Control::new()), Ok(vec![]));
    assert_eq!(
        classes.size_groups(classes.sizes(), &SizeBuckets::EachSize),
        vec![]
    );
}

#[test]
fn a_suppressed_cell_hides_in_both_classes() {
    // (1,1) occurs twice, (1,2) once and (1,NULL) once. The last agrees with all four rows, and each other
    // row agrees with it.
    let (classes, _) = classes_of(&[vec![1, 1], vec![1, 1], vec![1, 2], vec![1, NULL]], 2);
    assert_eq!(classes.sizes(), [2, 1, 1]);
    assert_eq!(classes.wildcard_sizes(&Control::new()), Ok(vec![3, 2, 4]));
}

#[test]
fn cancel_stops_the_comparison() {
    let (classes, _) = classes_of(&[vec![1], vec![NULL]], 1);
    let control = Control::new();
    control.cancel();
    assert_eq!(classes.wildcard_sizes(&control), Err(Error::Cancelled));
}

#[test]
fn progress_reaches_one() {
    let (classes, _) = classes_of(&[vec![1, 1], vec![NULL, 1], vec![2, 2]], 2);
    let control = Control::new();
    classes.wildcard_sizes(&control).unwrap();
    assert_eq!(control.progress(), Some(1.0));
}
