//! Transactions: sets of items, stored as one flat array of item numbers with the end of each set.

use super::Frequencies;
use crate::parallel_sort::parallel_sort;
use crate::{Control, Error, Result};

/// Transactions as sets of item numbers, stored one after the other in one array. The numbers of transactions
/// and of items fit in 32 bits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transactions {
    /// Items of all transactions; within each transaction ascending and without duplicates.
    items: Vec<u32>,
    /// End of each transaction in `items`.
    ends: Vec<u64>,
    item_count: usize,
}

impl Transactions {
    /// Returns an empty list of transactions. Items are numbered from 0 to `items` − 1; larger numbers may be
    /// added later.
    pub fn new(items: usize) -> Self {
        Transactions {
            item_count: items,
            ..Self::default()
        }
    }

    /// Adds a transaction. Its items may come in any order; duplicates count once.
    pub fn push(&mut self, transaction: &[u32]) -> Result<()> {
        if self.ends.len() == u32::MAX as usize {
            return Err(Error::TooMany {
                what: "transactions",
                limit: u32::MAX.into(),
            });
        }
        self.items.extend_from_slice(transaction);
        if transaction.windows(2).any(|pair| pair[0] >= pair[1]) {
            let start = self.items.len() - transaction.len();
            self.items[start..].sort_unstable();
            let mut kept = start;
            for next in start + 1..self.items.len() {
                if self.items[next] != self.items[kept] {
                    kept += 1;
                    self.items[kept] = self.items[next];
                }
            }
            self.items.truncate(kept + 1);
        }
        if let Some(&largest) = transaction.iter().max() {
            self.item_count = self.item_count.max(largest as usize + 1);
        }
        self.ends.push(self.items.len() as u64);
        Ok(())
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of items, including those that do not occur.
    pub fn items(&self) -> usize {
        self.item_count
    }

    /// Returns the total number of items in all transactions, without duplicates within a transaction.
    pub fn occurrences(&self) -> usize {
        self.items.len()
    }

    /// Returns the items of a transaction in ascending order.
    pub fn get(&self, transaction: usize) -> &[u32] {
        let start = transaction.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[transaction] as usize]
    }

    /// Returns the items of every transaction.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|transaction| self.get(transaction))
    }

    /// Counts the transactions that contain each item.
    pub fn frequencies(&self) -> Frequencies {
        let mut counts = vec![0; self.item_count];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        Frequencies::new(self.len() as u64, counts)
    }

    /// Returns the same transactions with items renumbered and transactions sorted, so that the result does
    /// not depend on their original order. `items` contains every item once: the first becomes 0, the second
    /// 1, and so on.
    pub fn in_order(&self, items: impl Iterator<Item = u32>, control: &Control) -> Result<Self> {
        let items: Vec<u32> = items.collect();
        control.require::<u32>(self.items.len() + items.len())?;
        control.require::<u64>(3 * self.len())?;
        let mut number_of = vec![0; items.len().max(self.item_count)];
        for (number, &item) in (0..).zip(&items) {
            number_of[item as usize] = number;
        }
        let mut renumbered = Transactions::new(items.len());
        let mut transaction = Vec::new();
        for items in self.iter() {
            transaction.clear();
            transaction.extend(items.iter().map(|&item| number_of[item as usize]));
            renumbered.push(&transaction)?;
        }
        let mut in_order: Vec<&[u32]> = renumbered.iter().collect();
        parallel_sort(&mut in_order, control)?;
        let mut sorted = Transactions::new(items.len());
        in_order
            .into_iter()
            .try_for_each(|transaction| sorted.push(transaction))?;
        Ok(sorted)
    }

    /// Returns the number of bytes allocated for the transactions.
    pub fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<u32>() + self.ends.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_a_set() {
        let mut transactions = Transactions::new(5);
        for transaction in [&[3, 1, 3, 1][..], &[], &[0, 1], &[2, 2], &[7]] {
            transactions.push(transaction).unwrap();
        }
        let sets: Vec<&[u32]> = transactions.iter().collect();
        assert_eq!(sets, [&[1, 3][..], &[], &[0, 1], &[2], &[7]]);
        assert_eq!(transactions.items(), 8);
        assert_eq!(transactions.occurrences(), 6);
        let frequencies = transactions.frequencies();
        assert_eq!(frequencies.transactions(), 5);
        assert_eq!(frequencies.counts(), [1, 2, 1, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn the_order_is_that_of_the_items() {
        let of = |all: &[&[u32]]| {
            let mut transactions = Transactions::new(3);
            all.iter()
                .for_each(|transaction| transactions.push(transaction).unwrap());
            transactions
        };
        // The same transactions, with items 0 and 2 swapped.
        let one = of(&[&[0, 1], &[2], &[1]]).in_order([2, 1, 0].into_iter(), &Control::new());
        let other = of(&[&[1], &[1, 2], &[0]]).in_order(0..3, &Control::new());
        assert_eq!(one.unwrap(), other.unwrap());
    }

    #[test]
    fn none_are_none() {
        let transactions = Transactions::new(2);
        assert!(transactions.is_empty());
        assert_eq!(transactions.frequencies().counts(), [0, 0]);
    }
}
