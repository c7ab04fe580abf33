//! Compares the list of vulnerable itemsets with the definition, and with the share that the recipe returns.

use crate::spaces::{around, assert_close, big_mart, config, mappings};
use disclosure::cracks::{
    Frequencies, ItemsetMethod, ItemsetSettings, ItemsetsOfInterest, VulnerableItemsets, Width,
    assess_itemsets, vulnerable_itemsets,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use reference::cracks::itemsets;

fn of_size(size: usize, crack_danger: f64) -> ItemsetSettings {
    ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes {
            sizes: vec![size],
            skip_top: 0.0,
        },
        crack_danger,
        ..ItemsetSettings::default()
    }
}

fn list(
    frequencies: &Frequencies,
    width: Width,
    settings: &ItemsetSettings,
    max_rows: usize,
) -> VulnerableItemsets {
    let space = around(frequencies, width);
    vulnerable_itemsets(frequencies, &space, settings, max_rows, &Control::new()).unwrap()
}

#[test]
fn pairs_of_big_mart() {
    // An adversary who knows every frequency finds {2, 5} for sure, and each of them with another item in one of
    // four cases.
    let found = list(&big_mart(), Width::Share(0.0), &of_size(2, 0.25), 1000);
    let pairs: Vec<(&[u32], f64)> = found
        .itemsets
        .iter()
        .map(|itemset| (&itemset.items[..], itemset.crack_probability))
        .collect();
    let expected: [(&[u32], f64); 9] = [
        (&[1, 4], 1.0),
        (&[0, 1], 0.25),
        (&[0, 4], 0.25),
        (&[1, 2], 0.25),
        (&[1, 3], 0.25),
        (&[1, 5], 0.25),
        (&[2, 4], 0.25),
        (&[3, 4], 0.25),
        (&[4, 5], 0.25),
    ];
    assert_eq!(pairs, expected);
    assert_eq!(
        (found.vulnerable, found.of_interest, found.sampled),
        (9.0, 15.0, false)
    );
    // The list ends at max_rows, with the worst.
    let short = list(&big_mart(), Width::Share(0.0), &of_size(2, 0.25), 3);
    assert_eq!(short.itemsets[0], found.itemsets[0]);
    assert!(
        short
            .itemsets
            .iter()
            .all(|itemset| found.itemsets.contains(itemset))
    );
    assert_eq!(short.itemsets.len(), 3);
    assert_eq!(short.vulnerable, 9.0);
    let none = list(&big_mart(), Width::Ignorant, &of_size(2, 0.5), 3);
    assert_eq!((none.itemsets.len(), none.vulnerable), (0, 0.0));
}

#[test]
fn a_list_that_is_too_long_is_refused() {
    let space = around(&big_mart(), Width::Median);
    let found = vulnerable_itemsets(&big_mart(), &space, &of_size(2, 0.5), 0, &Control::new());
    assert!(matches!(
        found,
        Err(Error::InvalidArgument {
            argument: "max_rows",
            ..
        })
    ));
    let found = vulnerable_itemsets(&big_mart(), &space, &of_size(2, 1.5), 1, &Control::new());
    assert!(matches!(
        found,
        Err(Error::InvalidArgument {
            argument: "crack_danger",
            ..
        })
    ));
}

/// Many pairs of one kind are not written out beyond the limit.
#[test]
fn kinds_are_expanded_up_to_the_limit() {
    let frequencies = Frequencies::new(3, (0..3000).map(|item| item % 3).collect());
    let found = list(&frequencies, Width::Share(0.0), &of_size(2, 0.0), 5);
    assert_eq!(found.itemsets.len(), 5);
    assert_eq!(found.vulnerable, 2999.0 * 1500.0);
}

#[test]
fn a_sample_lists_each_itemset_once() {
    let frequencies = Frequencies::new(40, (0..40).collect());
    let settings = ItemsetSettings {
        sample: 2000,
        ..of_size(12, 0.5)
    };
    let found = list(&frequencies, Width::Share(0.0), &settings, 100_000);
    assert!(found.sampled);
    assert_eq!(found.method, ItemsetMethod::Exact);
    let mut once: Vec<&Vec<u32>> = found.itemsets.iter().map(|itemset| &itemset.items).collect();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.itemsets.len());
    assert!(once.len() > 1900);
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn as_defined(
        counts in prop::collection::vec(0..=5u64, 1..=6), width in 0..4u32, size in 1..=4usize, danger in 0..=10u32,
    ) {
        let frequencies = Frequencies::new(5, counts);
        let width = Width::Share(f64::from(width) * 0.2);
        let danger = f64::from(danger) / 10.0;
        let settings = of_size(size, danger);
        let space = around(&frequencies, width);
        let all = mappings(&space);
        let of_size = itemsets(frequencies.items()).filter(|itemset| itemset.len() == size);
        let expected = reference::cracks::vulnerable_itemsets(&all, of_size, danger);
        let found = list(&frequencies, width, &settings, 1000);
        prop_assert_eq!(found.itemsets.len(), expected.len());
        for itemset in &found.itemsets {
            let (_, probability) = expected.iter().find(|(items, _)| *items == itemset.items).unwrap();
            assert_close(itemset.crack_probability, *probability);
        }
        let in_order = found.itemsets.windows(2).all(|two| two[0].crack_probability >= two[1].crack_probability - 1e-9);
        prop_assert!(in_order);
        let assessed = assess_itemsets(&frequencies, &space, &settings, &Control::new()).unwrap();
        assert_close(assessed.interval.value * assessed.itemsets, found.vulnerable);
    }
}
