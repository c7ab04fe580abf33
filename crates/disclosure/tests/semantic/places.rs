//! Tests of the attack by place against its definition.

use disclosure::Control;
use disclosure::semantic::{Entry, LearntOrder, ListOrder, Transactions, place_attack, text_rankings};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::RngSeed;

fn from_sets(lists: &[Vec<Vec<u32>>]) -> Transactions {
    let mut transactions = Transactions::new();
    for list in lists {
        transactions.begin().unwrap();
        for set in list {
            transactions.push(set.clone()).unwrap();
        }
    }
    transactions
}

/// Returns the transaction and the item of every elimination.
fn eliminated(transactions: &Transactions, order: &ListOrder) -> Vec<(usize, u32)> {
    let found = place_attack(transactions, order, &Control::new()).unwrap();
    let mut cells = vec![];
    for (number, of_target) in (0..).zip(found) {
        let holds = |&transaction: &usize| {
            transactions
                .entries(transaction)
                .contains(&Entry::Generalised(number))
        };
        let rows: Vec<usize> = (0..transactions.len()).filter(holds).collect();
        assert_eq!(of_target.threshold, None);
        cells.extend(of_target.cells.iter().map(|cell| {
            assert_eq!(cell.score, None);
            (
                rows[cell.row as usize],
                transactions.members(number)[cell.column as usize],
            )
        }));
    }
    cells
}

fn ranks(texts: &[&str]) -> Vec<Vec<u32>> {
    let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
    text_rankings(&texts, &Control::new()).unwrap()
}

#[test]
fn texts_are_ranked_in_several_ways() {
    assert_eq!(
        ranks(&["b", "B c", "a-d", "a b"]),
        [vec![3, 0, 2, 1], vec![2, 3, 1, 0], vec![3, 0, 2, 1]]
    );
    assert_eq!(ranks(&["10", "9", "-3", "x10", "x9"])[2], [2, 1, 0, 4, 3]);
    let equal = ranks(&["Flu", "flu", "zz"]);
    assert_eq!((&equal[0][..], &equal[1][..]), (&[0, 1, 2][..], &[0, 0, 1][..]));
    assert_eq!(ranks(&[]), [vec![], vec![], vec![]]);
    let digits = "9".repeat(60);
    assert_eq!(ranks(&[&digits, "8"])[2], [1, 0]);
}

/// Lists 0 to 9 with the member that stood there originally replaced by a generalised item of 20, 5 and 11,
/// by a ranking in which these stand at 2.5, 5 and 7.5.
fn kept() -> Transactions {
    let plain = |items: std::ops::Range<u32>| items.map(|item| vec![item]);
    let list = |start: u32, place: u32, end: u32| -> Vec<Vec<u32>> {
        let generalised = [vec![20, 21, 22]];
        plain(start..place)
            .chain(generalised)
            .chain(plain(place..end))
            .collect()
    };
    from_sets(&[list(0, 3, 8), list(2, 6, 9), list(4, 8, 10), list(0, 3, 3)])
}

/// Returns a ranking of items 0 to 9, with items 20, 21 and 22 just before 3, 6 and 8.
fn ranking() -> Vec<u32> {
    let mut ranks: Vec<u32> = (0..23).map(|item| 10 * item).collect();
    ranks[20..].copy_from_slice(&[25, 55, 75]);
    ranks
}

#[test]
fn a_place_tells_the_original() {
    let transactions = kept();
    let control = Control::new();
    let order = ListOrder::detect(&transactions, vec![vec![0; 23], ranking()], &control).unwrap();
    let order = order.unwrap();
    assert_eq!(order, ListOrder::Ascending(ranking()));
    // Nothing follows in the last list, so all members fit there.
    assert_eq!(
        eliminated(&transactions, &order),
        [(0, 21), (0, 22), (1, 20), (1, 22), (2, 20), (2, 21)]
    );
    let reversed: Vec<u32> = ranking().iter().map(|rank| 1000 - rank).collect();
    let descending = ListOrder::detect(&transactions, vec![reversed.clone()], &control).unwrap();
    assert_eq!(descending, Some(ListOrder::Descending(reversed)));
    assert_eq!(
        eliminated(&transactions, &descending.unwrap()),
        eliminated(&transactions, &order)
    );
}

#[test]
fn unsorted_or_few_items_tell_no_order() {
    let control = Control::new();
    let detect = |lists: &[Vec<Vec<u32>>]| {
        let transactions = from_sets(lists);
        let ranks = (0..transactions.items() as u32).collect();
        ListOrder::detect(&transactions, vec![ranks], &control)
            .unwrap()
            .is_some()
    };
    let pairs = |up: usize, down: usize| {
        let up = std::iter::repeat_n(vec![vec![0], vec![1, 2], vec![3]], up);
        let down = std::iter::repeat_n(vec![vec![3], vec![0]], down);
        up.chain(down).collect::<Vec<_>>()
    };
    assert!(!detect(&pairs(9, 0)));
    assert!(detect(&pairs(10, 0)) && detect(&pairs(0, 10)));
    assert!(detect(&pairs(18, 2)) && !detect(&pairs(17, 3)) && !detect(&pairs(10, 10)));
    assert!(!detect(&[]));
}

#[test]
fn the_order_is_learnt_from_other_lists() {
    let (transactions, control) = (kept(), Control::new());
    // Alone, the release tells nothing about members.
    let alone = ListOrder::learn(&transactions, &Transactions::new(), &control).unwrap();
    assert_eq!(alone, None);
    let full: Vec<Vec<u32>> = [0, 1, 2, 20, 3, 4, 5, 21, 6, 7, 22, 8, 9]
        .map(|item| vec![item])
        .to_vec();
    let learnt = ListOrder::learn(&transactions, &from_sets(std::slice::from_ref(&full)), &control)
        .unwrap()
        .unwrap();
    assert_eq!(learnt.is_before(20, 1), Some(false));
    assert_eq!(
        eliminated(&transactions, &learnt),
        eliminated(&transactions, &ListOrder::Ascending(ranking()))
    );
    // Chains of lists are as good as one list.
    let chain = [
        [0, 1, 2],
        [2, 20, 3],
        [3, 4, 5],
        [5, 21, 6],
        [6, 7, 22],
        [22, 8, 9],
    ];
    let chain: Vec<Vec<Vec<u32>>> = chain
        .iter()
        .map(|list| list.iter().map(|&item| vec![item]).collect())
        .collect();
    let chained = ListOrder::learn(&transactions, &from_sets(&chain), &control).unwrap();
    assert_eq!(
        eliminated(&transactions, &chained.unwrap()),
        eliminated(&transactions, &learnt)
    );
    // Lists in both directions tell nothing.
    let backwards = full.iter().rev().cloned().collect();
    let both = from_sets(&[full, backwards]);
    assert_eq!(ListOrder::learn(&transactions, &both, &control).unwrap(), None);
}

#[test]
fn a_generalised_item_that_stands_by_its_lowest_member_is_left_alone() {
    // As if sorted: always before 3, whichever member is original.
    let list = |from: u32, to: u32| -> Vec<Vec<u32>> {
        let sets = (from..3).map(|item| vec![item]).chain([vec![20, 21, 22]]);
        sets.chain((3..to).map(|item| vec![item])).collect()
    };
    let transactions = from_sets(&[list(0, 9), list(1, 9), list(2, 10)]);
    assert_eq!(eliminated(&transactions, &ListOrder::Ascending(ranking())), []);
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn orders_are_learnt_as_defined(
        lists in prop::collection::vec(subsequence((0..9).collect::<Vec<u32>>(), 0..=4), 0..9),
        odd in prop::collection::vec(subsequence((0..9).collect::<Vec<u32>>(), 0..=3).prop_shuffle(), 0..2),
    ) {
        let lists: Vec<Vec<u32>> = lists.into_iter().chain(odd).collect();
        let sets: Vec<Vec<Vec<u32>>> =
            lists.iter().map(|list| list.iter().map(|&item| vec![item]).collect()).collect();
        let order = LearntOrder::new(&from_sets(&sets), &Control::new()).unwrap();
        let is_before = reference::semantic::learnt_order(&lists);
        for one in 0..10 {
            for other in 0..10 {
                prop_assert_eq!(order.is_before(one, other), is_before(one, other));
            }
        }
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn places_are_attacked_as_defined(
        lists in prop::collection::vec((subsequence((0..8).collect::<Vec<u32>>(), 0..=6), 0..7usize, 0..3usize), 0..9),
        ranks in prop::collection::vec(0..12u32, 16), descending in any::<bool>(),
    ) {
        let generalised = [vec![8, 9, 10], vec![11, 12], vec![13, 14, 15]];
        let list = |(items, place, number): &(Vec<u32>, usize, usize)| {
            let mut sets: Vec<Vec<u32>> = items.iter().map(|&item| vec![item]).collect();
            sets.insert((*place).min(items.len()), generalised[*number].clone());
            if number % 2 == 0 {
                sets.insert((*place + 3) % (sets.len() + 1), generalised[*number + 1 - number / 2 * 2].clone());
            }
            sets
        };
        let transactions = from_sets(&lists.iter().map(list).collect::<Vec<_>>());
        let order = match descending {
            true => ListOrder::Descending(ranks),
            false => ListOrder::Ascending(ranks),
        };
        let mut expected = reference::semantic::place_attack(&transactions, |one, other| order.is_before(one, other));
        let mut found = eliminated(&transactions, &order);
        expected.sort();
        found.sort();
        prop_assert_eq!(&found, &expected);
        // No transaction loses all members of a generalised item, and no member all transactions.
        for number in 0..transactions.generalised() as u32 {
            let is_left = |transaction: usize, member: u32| !found.contains(&(transaction, member));
            let holds = |&row: &usize| transactions.entries(row).contains(&Entry::Generalised(number));
            let rows: Vec<usize> = (0..transactions.len()).filter(holds).collect();
            let members = transactions.members(number);
            for &row in &rows {
                prop_assert!(members.iter().any(|&member| is_left(row, member)));
            }
            for &member in members {
                prop_assert!(rows.iter().any(|&row| is_left(row, member)));
            }
        }
    }
}
