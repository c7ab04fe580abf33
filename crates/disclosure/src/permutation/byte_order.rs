//! Order of byte strings, such as texts as they are stored.

use super::rank::{Keyed, Pair, RECORDS_PER_CHECK, SMALL_COLUMN, sort_by_keys};
use crate::{Control, Result, parallel_sort};

/// Returns the numbers of byte strings in the order of their bytes. Equal strings are in the order of their
/// numbers.
///
/// Most strings differ in their first eight bytes beyond what all have in common. Strings are sorted by these as
/// numbers, and compared only if they are equal in them.
pub fn byte_order(strings: &[&[u8]], control: &Control) -> Result<Vec<u32>> {
    let common = common_prefix(strings, control)?;
    let mut keys = Vec::with_capacity(strings.len());
    for piece in strings.chunks(RECORDS_PER_CHECK) {
        control.check()?;
        keys.extend(piece.iter().map(|string| first_bytes(&string[common..])));
    }
    let sorted = sort_by_keys(Pair::all(&keys), control)?;
    let mut order = Vec::with_capacity(sorted.len());
    let mut until_check = RECORDS_PER_CHECK;
    for equal in sorted.chunk_by(|one, other| one.key() == other.key()) {
        if let [alone] = equal {
            order.push(alone.record());
        } else {
            let rest = |pair: &Pair| (&strings[pair.record() as usize][common..], pair.record());
            let mut strings: Vec<(&[u8], u32)> = equal.iter().map(rest).collect();
            match strings.len() {
                0..=SMALL_COLUMN => strings.sort_unstable(),
                _ => parallel_sort(&mut strings, control)?,
            }
            order.extend(strings.iter().map(|(_, number)| number));
        }
        if equal.len() >= until_check {
            control.check()?;
            until_check = RECORDS_PER_CHECK;
        } else {
            until_check -= equal.len();
        }
    }
    Ok(order)
}

/// Returns the number of bytes with which all strings begin.
fn common_prefix(strings: &[&[u8]], control: &Control) -> Result<usize> {
    let Some(first) = strings.first() else {
        return Ok(0);
    };
    let mut common = first.len();
    for piece in strings.chunks(RECORDS_PER_CHECK) {
        control.check()?;
        for other in piece {
            let pairs = first[..common].iter().zip(*other);
            common = pairs.take_while(|(one, other)| one == other).count();
        }
    }
    Ok(common)
}

/// Returns the first eight bytes as a number that has their order. Missing bytes count as 0.
fn first_bytes(string: &[u8]) -> u64 {
    match string.first_chunk() {
        Some(&bytes) => u64::from_be_bytes(bytes),
        None => {
            let number = string
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte));
            // A shift by all 64 bits is not defined, but then the number is 0.
            number << (8 * (7 - string.len())) << 8
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn expected(strings: &[&[u8]]) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..strings.len() as u32).collect();
        numbers.sort_by_key(|&number| strings[number as usize]);
        numbers
    }

    #[test]
    fn long_columns_are_in_order() {
        // Some strings are equal, some begin alike, and some are equal in their first bytes only.
        let texts: Vec<String> = (0..3 * SMALL_COLUMN as u64)
            .map(|number| match number % 3 {
                0 => format!("prefix {}", number * 7919 % 10_007),
                1 => format!("prefix and much more {}", number * 104_729 % 1_009),
                _ => "prefix".into(),
            })
            .collect();
        let strings: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(byte_order(&strings, &Control::new()).unwrap(), expected(&strings));
        let control = Control::new();
        control.cancel();
        assert!(byte_order(&strings, &control).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn strings_are_in_the_order_of_their_bytes(
            prefix in prop::collection::vec(0u8..3, 0..4),
            rests in prop::collection::vec(prop::collection::vec(prop_oneof![0u8..3, 254u8..=255], 0..12), 0..20),
        ) {
            let strings: Vec<Vec<u8>> = rests.into_iter().map(|rest| [&prefix[..], &rest].concat()).collect();
            let strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(byte_order(&strings, &Control::new()).unwrap(), expected(&strings));
        }
    }
}
