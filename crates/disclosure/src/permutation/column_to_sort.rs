//! Columns that are to be sorted, and the orders of two columns of the same records with one draw for ties.

use super::rank::{SMALL_COLUMN, SortedRecords, dense_ranks, shuffled};
use crate::{Control, NULL, Result};

/// Column whose records are to be sorted by value.
#[derive(Debug, Clone, Copy)]
pub enum ColumnToSort<'a> {
    /// Numbers of any kind.
    Numbers {
        /// Bits of every record's value; any bits if the value is absent.
        bits: &'a [u64],
        /// Turns the bits of a value into its [sort key](super::sort_key).
        key: fn(u64) -> u64,
        /// Records whose value is absent, in ascending order.
        absent: &'a [u32],
    },
    /// Dense rank of every record's value, [`NULL`] if it is absent, for values that were sorted before.
    DenseRanks(&'a [u32]),
}

impl ColumnToSort<'_> {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        match self {
            ColumnToSort::Numbers { bits, .. } => bits.len(),
            ColumnToSort::DenseRanks(dense_ranks) => dense_ranks.len(),
        }
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dense rank of every record's value; [`NULL`] if it is absent.
    pub fn dense_ranks(&self, control: &Control) -> Result<Vec<u32>> {
        match *self {
            ColumnToSort::Numbers { bits, key, absent } => {
                let mut dense_ranks = dense_ranks(&keys(bits, key, absent), control)?;
                absent
                    .iter()
                    .for_each(|&record| dense_ranks[record as usize] = NULL);
                Ok(dense_ranks)
            }
            ColumnToSort::DenseRanks(dense_ranks) => Ok(dense_ranks.to_vec()),
        }
    }

    fn sorted(&self, control: &Control) -> Result<SortedRecords<'_>> {
        match *self {
            ColumnToSort::Numbers { bits, key, absent } => {
                SortedRecords::from_keys(&keys(bits, key, absent), absent, control)
            }
            ColumnToSort::DenseRanks(dense_ranks) => SortedRecords::from_dense_ranks(dense_ranks, control),
        }
    }
}

/// Returns the orders of two columns. Equal values are in an order that is drawn once for both columns. Which
/// values of the two columns have the same rank depends only on the values and the seed, not on the order in
/// which records are given.
pub fn paired_orders(columns: [ColumnToSort; 2], seed: u64, control: &Control) -> Result<[Vec<u32>; 2]> {
    let is_small = columns[0].len() <= SMALL_COLUMN;
    let [one, other] = both(columns.each_ref(), is_small, |column| column.sorted(control))?;
    if !one.has_ties() && !other.has_ties() {
        return Ok([one.order, other.order]);
    }
    // Records that are equal in both columns keep their order; they cannot be told apart.
    let canonical = one.order_with_ties_in(&other.order, control)?;
    let mut turns = shuffled(canonical, seed, control)?;
    // As in `ranks`, the record that is drawn first gets the last rank.
    turns.reverse();
    both([one, other], is_small, |sorted| {
        sorted.order_with_ties_in(&turns, control)
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
/// dense ranks of other values.
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
    fn numbers_and_their_dense_ranks_have_the_same_order() {
        for records in [0, 1, 100, SMALL_COLUMN + 1] {
            let bits: Vec<u64> = (0..records as u64).map(|record| record * 7919 % 1009).collect();
            let absent: Vec<u32> = (0..records as u32).filter(|record| record % 10 == 3).collect();
            let key = |bits: u64| of_integer(-(bits as i64));
            let numbers = ColumnToSort::Numbers {
                bits: &bits,
                key,
                absent: &absent,
            };
            let control = Control::new();
            let dense_ranks = numbers.dense_ranks(&control).unwrap();
            assert_eq!(
                dense_ranks
                    .iter()
                    .filter(|&&dense_rank| dense_rank == NULL)
                    .count(),
                absent.len()
            );
            let [of_numbers, of_dense_ranks] =
                paired_orders([numbers, ColumnToSort::DenseRanks(&dense_ranks)], 1, &control).unwrap();
            assert!(of_numbers == of_dense_ranks && of_numbers.len() == records);
        }
    }
}
