//! Tests hierarchies of values.

use disclosure::classes::Hierarchy;

#[test]
fn a_group_of_all_values_is_added() {
    let hierarchy = |levels: &[Vec<u32>]| Hierarchy::new(4, levels).unwrap();
    assert_eq!(hierarchy(&[]).height(), 1);
    assert_eq!(hierarchy(&[vec![7, 7, 7, 7]]).height(), 1);
    assert_eq!(hierarchy(&[vec![1, 1, 2, 2]]).height(), 2);
    assert_eq!(hierarchy(&[vec![1, 1, 2, 2], vec![3, 3, 3, 3]]).height(), 2);
    assert_eq!(hierarchy(&[vec![1, 1, 2, 2], vec![1, 1, 2, 2]]).height(), 3);
    assert_eq!(Hierarchy::new(1, &[]).unwrap().height(), 0);
    assert_eq!(Hierarchy::new(0, &[]).unwrap().height(), 0);
}

#[test]
fn levels_have_to_nest_and_to_be_complete() {
    assert!(Hierarchy::new(3, &[vec![1, 1, 2], vec![1, 2, 2]]).is_err());
    assert!(Hierarchy::new(3, &[vec![1, 1]]).is_err());
    assert!(Hierarchy::new(3, &[vec![1, 1, 1, 1]]).is_err());
    assert!(Hierarchy::new(3, &[vec![5, 6, 5], vec![9, 9, 9]]).is_ok());
}
