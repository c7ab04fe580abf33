//! The order of items in protected transactions. A generalised item that stands where the original stood
//! tells which of its members is original if the original lists were sorted. So protected transactions are
//! reordered by default, in a way that depends on nothing but their released items and a seed.

use super::coat::{Coat, Treatment};
use super::{Entry, Transactions};
use crate::{Control, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 12;

/// Order of the items in a protected transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemOrder {
    /// An order drawn from the seed and the released items of the transaction. Transactions with the same
    /// released items have the same order.
    #[default]
    Shuffled,
    /// Ascending by code. A generalised item has the place of its lowest member, whichever is original.
    Sorted,
    /// The original order. A generalised item has the place of the first of its members that the original
    /// transaction contains, which may tell the original.
    Kept,
}

impl Coat {
    /// Returns the protected transactions. A generalised item stands once in a transaction, however many of
    /// its members are original. Unless the order is [kept](ItemOrder::Kept), a protected transaction depends
    /// on its set of released items only, so its order tells nothing about the original.
    pub fn released(
        &self,
        transactions: &Transactions,
        order: ItemOrder,
        seed: u64,
        control: &Control,
    ) -> Result<Transactions> {
        let mut released = Transactions::new();
        for (number, entries) in transactions.iter().enumerate() {
            if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            released.begin()?;
            for entry in entries {
                let set = match *entry {
                    Entry::Generalised(number) => transactions.members(number).to_vec(),
                    Entry::Item(item) => match self
                        .treatments
                        .get(item as usize)
                        .unwrap_or(&Treatment::Unchanged)
                    {
                        Treatment::Unchanged => vec![item],
                        Treatment::Generalised(number) => self.generalised[*number as usize].members.clone(),
                        Treatment::Suppressed => continue,
                    },
                };
                released.push(set)?;
            }
        }
        match order {
            ItemOrder::Kept => Ok(released),
            ItemOrder::Sorted => reordered(&released, None, control),
            ItemOrder::Shuffled => reordered(&released, Some(seed), control),
        }
    }
}

/// Returns transactions with their entries sorted by their lowest items, then shuffled if there is a seed.
fn reordered(transactions: &Transactions, seed: Option<u64>, control: &Control) -> Result<Transactions> {
    let ranks = ranks_of_released(transactions, control)?;
    let mut reordered = Transactions::new();
    for (number, entries) in transactions.iter().enumerate() {
        if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        let mut sets: Vec<&[u32]> = entries
            .iter()
            .map(|entry| transactions.possible_items(entry))
            .collect();
        sets.sort_unstable();
        if let Some(seed) = seed {
            let of_set = |set: &&[u32]| {
                let ranks = set.iter().map(|&item| ranks[item as usize]);
                ranks.fold(mixed(set.len() as u64), |hash, rank| {
                    mixed(hash ^ u64::from(rank))
                })
            };
            let hash = sets
                .iter()
                .map(of_set)
                .fold(mixed(seed), |hash, set| mixed(hash ^ set));
            sets.shuffle(&mut Pcg64Mcg::seed_from_u64(hash));
        }
        reordered.begin()?;
        for set in sets {
            reordered.push(set.to_vec())?;
        }
    }
    Ok(reordered)
}

/// Returns the rank of each item among the items that are released. Codes would depend on suppressed items as
/// well, which the order must not tell.
fn ranks_of_released(transactions: &Transactions, control: &Control) -> Result<Vec<u32>> {
    let mut ranks = vec![0; transactions.items()];
    for (number, entries) in transactions.iter().enumerate() {
        if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        for item in entries.iter().filter_map(Entry::item) {
            ranks[item as usize] = 1;
        }
    }
    for number in 0..transactions.generalised() as u32 {
        for &member in transactions.members(number) {
            ranks[member as usize] = 1;
        }
    }
    let mut rank = 0;
    for is_released in &mut ranks {
        rank += *is_released;
        *is_released = rank;
    }
    Ok(ranks)
}

/// Returns a number whose bits all depend on all bits of the input: the finaliser of SplitMix64 (Steele, Lea
/// and Flood 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
