//! Tests of recoding transactions: their items get other codes.

use disclosure::Control;
use disclosure::semantic::{Entry, Transactions};

/// Builds transactions from lists of sets; each set stands in one place.
fn transactions(lists: &[&[&[u32]]]) -> Transactions {
    let mut transactions = Transactions::new();
    for list in lists {
        transactions.begin().unwrap();
        for set in *list {
            transactions.push(set.to_vec()).unwrap();
        }
    }
    transactions
}

/// Returns the items that every entry may stand for.
fn lists(transactions: &Transactions) -> Vec<Vec<Vec<u32>>> {
    let sets = |entries: &[Entry]| {
        let sets = entries
            .iter()
            .map(|entry| transactions.possible_items(entry).to_vec());
        sets.collect()
    };
    transactions.iter().map(sets).collect()
}

#[test]
fn an_item_is_a_set_of_one() {
    let mut by_item = Transactions::new();
    by_item.push_item(3).unwrap(); // no transaction has begun
    for items in [[2, 0, 2], [0, 0, 1]] {
        by_item.begin().unwrap();
        for item in items {
            by_item.push_item(item).unwrap();
        }
    }
    let by_set = transactions(&[&[&[2], &[0], &[2, 2]], &[&[0], &[0], &[1]]]);
    assert_eq!(lists(&by_item), lists(&by_set));
    assert_eq!(lists(&by_item), [[[2], [0]], [[0], [1]]]);
}

#[test]
fn other_codes_change_items_and_members() {
    let before = transactions(&[&[&[0], &[1, 2], &[3]], &[&[2, 1], &[2]], &[]]);
    let mut after = before.recoded(&[7, 5, 1, 0], &Control::new()).unwrap();
    assert_eq!(
        lists(&after),
        [
            vec![vec![7], vec![1, 5], vec![0]],
            vec![vec![1, 5], vec![1]],
            vec![]
        ]
    );
    assert_eq!((after.items(), after.generalised()), (8, 1));
    assert_eq!(after.find(vec![5, 1]), Some(0));
    assert_eq!(after.find(vec![1, 2]), None);
    // An entry that the last transaction already contains is still not added again.
    after.push(vec![1, 5]).unwrap();
    after.push(vec![5, 1]).unwrap();
    assert_eq!(lists(&after)[2], [[1, 5]]);
}

#[test]
fn items_with_the_same_code_become_one() {
    let before = transactions(&[&[&[0], &[1], &[2]], &[&[0, 1], &[2]], &[&[1, 2], &[0, 2]]]);
    let after = before.recoded(&[1, 1, 0], &Control::new()).unwrap();
    assert_eq!(
        lists(&after),
        [vec![vec![1], vec![0]], vec![vec![1], vec![0]], vec![vec![0, 1]]]
    );
    assert_eq!(after.generalised(), 1);
}

#[test]
fn nothing_is_recoded() {
    let after = Transactions::new().recoded(&[], &Control::new()).unwrap();
    assert!(after.is_empty());
    assert_eq!(after.items(), 0);
}

#[test]
fn recoding_can_be_cancelled() {
    let control = Control::new();
    control.cancel();
    for codes in [[0, 1], [0, 0]] {
        let before = transactions(&[&[&[0], &[1]]]);
        assert!(before.recoded(&codes, &control).is_err());
    }
}
