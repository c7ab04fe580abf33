//! Record linkage in rank space, against the definition.

use disclosure::permutation::{Matches, Points, Ties, link, ranks};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::permutation::nearest;

fn points(columns: &[Vec<u32>], ties: Ties) -> Points {
    let ranks = columns
        .iter()
        .map(|dense_ranks| ranks(dense_ranks, ties, &Control::new()).unwrap());
    Points::new(&ranks.collect::<Vec<_>>())
}

/// Dense ranks of a table, column by column.
type Table = Vec<Vec<u32>>;

/// Generates a table with few or many different values.
fn table(records: usize, width: usize, values: u32) -> impl Strategy<Value = Table> {
    prop::collection::vec(prop::collection::vec(0..=values, records), width)
}

fn cases() -> impl Strategy<Value = (Table, Table, Vec<u32>, Ties)> {
    let sizes = (1usize..=5, 0usize..40, 1usize..40, 1u32..30);
    let tables = sizes.prop_flat_map(|(width, original, released, values)| {
        let counterparts = prop::collection::vec(0..released as u32 + 2, original);
        (
            table(original, width, values),
            table(released, width, values),
            counterparts,
        )
    });
    let ties = prop_oneof![
        Just(Ties::Shared),
        any::<u64>().prop_map(|seed| Ties::Random { seed })
    ];
    (tables, ties)
        .prop_map(|((original, released, counterparts), ties)| (original, released, counterparts, ties))
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn matches_are_those_of_the_definition((original, released, counterparts, ties) in cases()) {
        let (original, released) = (points(&original, ties), points(&released, ties));
        let control = Control::new();
        let linkage = link(&original, &released, &control).unwrap();
        let correct = linkage.correct(&original, &released, &counterparts);
        prop_assert_eq!(linkage.matches.len(), original.len());
        prop_assert_eq!(correct.len(), original.len());
        let mut unlinked = vec![true; released.len()];
        for (record, x) in original.iter().enumerate() {
            let (distance, matches) = nearest(x, released.iter());
            prop_assert_eq!(linkage.matches[record], Matches {
                distance,
                count: matches.len() as u64,
                first: matches[0] as u32,
            });
            prop_assert_eq!(correct[record], matches.contains(&(counterparts[record] as usize)));
            matches.iter().for_each(|&y| unlinked[y] = false);
        }
        prop_assert_eq!(linkage.unlinked, unlinked.iter().filter(|&&unlinked| unlinked).count() as u64);
        prop_assert!(original.is_empty() || control.progress() == Some(1.0));
    }
}

#[test]
fn nobody_is_linked_with_an_empty_release() {
    let (some, none) = (
        points(&[vec![1, 2]], Ties::Shared),
        points(&[vec![]], Ties::Shared),
    );
    let linkage = link(&some, &none, &Control::new()).unwrap();
    assert!(linkage.matches.is_empty());
    assert_eq!(linkage.unlinked, 0);
    assert_eq!(link(&none, &some, &Control::new()).unwrap().unlinked, 2);
}

#[test]
fn a_cancel_is_noticed() {
    let control = Control::new();
    control.cancel();
    let some = points(&[vec![1, 2]], Ties::Shared);
    assert_eq!(link(&some, &some, &control), Err(Error::Cancelled));
}
