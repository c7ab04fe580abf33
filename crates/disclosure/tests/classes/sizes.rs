//! Compares equivalence classes with their definitions.

use disclosure::classes::{Classes, SizeGroup};
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
        cases: 4000,
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
    fn size_groups_account_for_every_row((width, rows) in tables()) {
        let (classes, of_row) = classes_of(&rows, width);
        let groups = classes.size_groups(classes.sizes());
        prop_assert!(groups.windows(2).all(|pair| pair[0].size < pair[1].size));
        for SizeGroup { size, classes: count, rows: held } in groups {
            let alike = of_row.iter().filter(|&&class| classes.sizes()[class] == size).count() as u64;
            prop_assert_eq!(held, alike);
            prop_assert_eq!(count * size, held);
        }
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
    assert_eq!(classes.size_groups(classes.sizes()), vec![]);
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
