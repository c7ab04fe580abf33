//! Compares the pairs of items that occur together most often, or never, with a count of every pair.

use disclosure::cracks::{CoOccurrence, Pair, Transactions, apart_pairs, top_pairs};
use disclosure::{Control, Error};
use proptest::prelude::*;

/// The items of every transaction.
type Sets = Vec<Vec<u32>>;

fn transactions(sets: &Sets, items: usize) -> Transactions {
    let mut transactions = Transactions::new(items);
    sets.iter().for_each(|set| transactions.push(set).unwrap());
    transactions
}

fn count(sets: &Sets, items: &[u32]) -> u64 {
    let all = |set: &&Vec<u32>| items.iter().all(|item| set.contains(item));
    sets.iter().filter(all).count() as u64
}

/// Returns the first `most` pairs that have a value, by descending value and then by ascending items.
fn ranked(sets: &Sets, items: u32, most: usize, value: impl Fn(u32, u32) -> Option<u64>) -> Vec<Pair> {
    let pairs = (0..items).flat_map(|one| (one + 1..items).map(move |other| (one, other)));
    let mut pairs: Vec<(u64, u32, u32)> = pairs
        .filter_map(|(one, other)| Some((value(one, other)?, one, other)))
        .collect();
    pairs.sort_by_key(|&(value, one, other)| (u64::MAX - value, one, other));
    let pair = |(_, one, other)| Pair {
        one,
        other,
        together: count(sets, &[one, other]),
    };
    pairs.into_iter().take(most).map(pair).collect()
}

fn sets() -> impl Strategy<Value = (Sets, u32)> {
    // A power of a uniform number makes items with small numbers frequent.
    (1u32..12, 0.0..1.0f64).prop_flat_map(|(items, skew)| {
        let item = (0.0..1.0f64).prop_map(move |x| (x.powf(1.0 + 2.0 * skew) * f64::from(items)) as u32);
        let sets = prop::collection::vec(prop::collection::vec(item, 0..8), 0..12);
        (sets, Just(items + 2))
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 3_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(23),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pairs_are_as_defined((sets, items) in sets(), most in 0usize..20) {
        let transactions = transactions(&sets, items as usize);
        let control = Control::new();
        let together = |one, other| Some(count(&sets, &[one, other])).filter(|&count| count > 0);
        prop_assert_eq!(
            top_pairs(&transactions, most, &control).unwrap(),
            ranked(&sets, items, most, together)
        );
        let apart = |one, other| {
            let product = count(&sets, &[one]) * count(&sets, &[other]);
            (product > 0 && together(one, other).is_none()).then_some(product)
        };
        prop_assert_eq!(
            apart_pairs(&transactions, most, &control).unwrap(),
            ranked(&sets, items, most, apart)
        );
    }

    #[test]
    fn co_occurrence_is_as_defined((sets, items) in sets(), every in 1usize..4) {
        let transactions = transactions(&sets, items as usize);
        let chosen: Vec<u32> = (0..items).rev().step_by(every).collect();
        let matrix = CoOccurrence::among(&transactions, &chosen, &Control::new()).unwrap();
        for one in 0..items + 1 {
            for other in 0..items + 1 {
                let asked = chosen.contains(&one) && chosen.contains(&other);
                let expected = asked.then(|| count(&sets, &[one, other]) > 0);
                prop_assert_eq!(matrix.together(one, other), expected);
            }
        }
    }
}

/// There are more items than rows in the first rounds, so later rounds and ties between rounds matter. Item x
/// occurs with item y often if x·y is small, and with some other items once.
#[test]
fn many_rounds_find_the_same() {
    let items = 900u32;
    let mut sets: Sets = Vec::new();
    for x in 1..items {
        for y in (x + 1..items).take_while(|y| x * y < 4_000) {
            (0..8_000 / (x * y)).for_each(|_| sets.push(vec![y, x]));
        }
        sets.push(vec![x, (x * 7) % items, (x * 31) % items]);
    }
    let transactions = transactions(&sets, items as usize);
    let mut together = vec![0u64; (items * items) as usize];
    for set in transactions.iter() {
        for (place, &one) in set.iter().enumerate() {
            set[place + 1..]
                .iter()
                .for_each(|&other| together[(one * items + other) as usize] += 1);
        }
    }
    let counts = transactions.frequencies();
    let counts = counts.counts();
    for most in [1, 50, 3_000, 200_000] {
        for apart in [false, true] {
            let control = Control::new();
            let found = match apart {
                false => top_pairs(&transactions, most, &control).unwrap(),
                true => apart_pairs(&transactions, most, &control).unwrap(),
            };
            let mut expected: Vec<(u64, Pair)> = Vec::new();
            for one in 0..items {
                for other in one + 1..items {
                    let together = together[(one * items + other) as usize];
                    let value = match apart {
                        false => together,
                        true if together > 0 => 0,
                        true => counts[one as usize] * counts[other as usize],
                    };
                    if value > 0 {
                        expected.push((value, Pair { one, other, together }));
                    }
                }
            }
            expected.sort_by_key(|(value, pair)| (u64::MAX - value, pair.one, pair.other));
            let expected: Vec<Pair> = expected.into_iter().map(|(_, pair)| pair).take(most).collect();
            assert!(found == expected, "{most} {apart}");
            let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let again = one_thread.install(|| match apart {
                false => top_pairs(&transactions, most, &control).unwrap(),
                true => apart_pairs(&transactions, most, &control).unwrap(),
            });
            assert!(again == expected, "{most} {apart}, one thread");
        }
    }
}

#[test]
fn cancel_is_obeyed() {
    let transactions = transactions(&vec![vec![0, 1]; 3], 2);
    let control = Control::new();
    control.cancel();
    assert_eq!(top_pairs(&transactions, 1, &control), Err(Error::Cancelled));
    assert_eq!(apart_pairs(&transactions, 1, &control), Err(Error::Cancelled));
    assert_eq!(
        CoOccurrence::among(&transactions, &[0], &control),
        Err(Error::Cancelled)
    );
}
