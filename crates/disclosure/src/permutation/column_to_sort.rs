//! Columns that are to be sorted, and the orders of two columns of the same records with a common draw for
//! ties.

use super::rank::{FEW, Sorted, places, shuffled};
use crate::{Control, NULL, Result};

/// Column whose values can be sorted.
#[derive(Debug, Clone, Copy)]
pub enum Sortable<'a> {
    /// Numbers of any kind.
    Numbers {
        /// Bits of every record's value; any bits if the value is absent.
        bits: &'a [u64],
        /// Turns the bits of a value into its [sort key](super::sort_key).
        key: fn(u64) -> u64,
        /// Records whose value is absent, in ascending order.
        absent: &'a [u32],
    },
    /// Place of every record's value, [`NULL`] if it is absent, for values that were sorted before.
    Places(&'a [u32]),
}

impl Sortable<'_> {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        match self {
            Sortable::Numbers { bits, .. } => bits.len(),
            Sortable::Places(places) => places.len(),
        }
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the place of every record's value; [`NULL`] if it is absent.
    pub fn places(&self, control: &Control) -> Result<Vec<u32>> {
        match *self {
            Sortable::Numbers { bits, key, absent } => {
                let mut places = places(&keys(bits, key, absent), control)?;
                absent.iter().for_each(|&record| places[record as usize] = NULL);
                Ok(places)
            }
            Sortable::Places(places) => Ok(places.to_vec()),
        }
    }

    fn sorted(&self, control: &Control) -> Result<Sorted<'_>> {
        match *self {
            Sortable::Numbers { bits, key, absent } => {
                Sorted::by_keys(&keys(bits, key, absent), absent, control)
            }
            Sortable::Places(places) => Sorted::by_places(places, control),
        }
    }
}

/// Returns the records of two columns, each sorted by the values of its column, absent values last. Equal
/// values are in an order that is drawn once for both columns. Which values of the two columns have the same
/// rank depends only on the values and the seed, not on the order in which records are given.
pub fn orders(columns: [Sortable; 2], seed: u64, control: &Control) -> Result<[Vec<u32>; 2]> {
    let is_small = columns[0].len() <= FEW;
    let [one, other] = both(columns.each_ref(), is_small, |column| column.sorted(control))?;
    if !one.has_ties() && !other.has_ties() {
        return Ok([one.records, other.records]);
    }
    // Records that are equal in both columns keep their order; they cannot be told apart.
    let canonical = one.with_ties_in(&other.records, control)?;
    let mut turns = shuffled(canonical, seed, control)?;
    // As in `ranks`, the record that is drawn first gets the last rank.
    turns.reverse();
    both([one, other], is_small, |sorted| {
        sorted.with_ties_in(&turns, control)
    })
}

/// Applies an action to two things, on two threads unless they are small.
fn both<T: Send, U: Send>(
    [one, other]: [T; 2],
    is_small: bool,
    action: impl Fn(T) -> Result<U> + Sync,
) -> Result<[U; 2]> {
    let (one, other) = if is_small {
        (action(one), action(other))
    } else {
        rayon::join(|| action(one), || action(other))
    };
    Ok([one?, other?])
}

/// Returns the sort keys of all values. Absent values get the largest key, so that they do not change the
/// places of other values.
fn keys(bits: &[u64], key: fn(u64) -> u64, absent: &[u32]) -> Vec<u64> {
    let mut keys: Vec<u64> = bits.iter().map(|&bits| key(bits)).collect();
    absent.iter().for_each(|&record| keys[record as usize] = u64::MAX);
    keys
}

#[cfg(test)]
mod tests {
    use super::super::sort_key::of_integer;
    use super::*;

    #[test]
    fn numbers_and_their_places_have_the_same_order() {
        for records in [0, 1, 100, FEW + 1] {
            let bits: Vec<u64> = (0..records as u64).map(|record| record * 7919 % 1009).collect();
            let absent: Vec<u32> = (0..records as u32).filter(|record| record % 10 == 3).collect();
            let key = |bits: u64| of_integer(-(bits as i64));
            let numbers = Sortable::Numbers {
                bits: &bits,
                key,
                absent: &absent,
            };
            let control = Control::new();
            let places = numbers.places(&control).unwrap();
            assert_eq!(
                places.iter().filter(|&&place| place == NULL).count(),
                absent.len()
            );
            let [of_numbers, of_places] = orders([numbers, Sortable::Places(&places)], 1, &control).unwrap();
            assert!(of_numbers == of_places && of_numbers.len() == records);
        }
    }
}
