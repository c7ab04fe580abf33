//! Generalised items in transactions that were released without marks, so that all members of generalised
//! items stand as plain items (Ong 2015, section 3.5.2). An adversary guesses which items belong together, by
//! a [`MarkingRule`] and by [`GeneralisationKnowledge`].

use super::constraints::{check_k, check_utility, utility_of};
use super::{Entry, Transactions};
use crate::{Control, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 12;

/// Rule by which items are taken for members of one generalised item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkingRule {
    /// Items that are in exactly the same transactions, at least two, form a generalised item, because its
    /// members always stand together.
    Together,
    /// All items of a transaction that are also in another transaction form a generalised item (Ong 2015,
    /// section 3.5.2).
    Repeated,
}

/// Knowledge of an adversary about how transactions were generalised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneralisationKnowledge {
    /// Minimum number of transactions that contain a generalised item.
    pub k: Option<u64>,
    /// Disjoint sets of items. All members of a generalised item are in the same set.
    pub utility: Option<Vec<Vec<u32>>>,
    /// Sets of items. At least one member of a generalised item is in one of them, because COAT generalises
    /// nothing else.
    pub privacy: Option<Vec<Vec<u32>>>,
}

impl GeneralisationKnowledge {
    /// Returns an error if `k` is 0 or if utility constraints overlap.
    pub fn check(&self) -> Result<()> {
        self.k.map_or(Ok(()), check_k)?;
        check_utility(self.utility.as_deref())
    }
}

/// Marks the items that seem to be members of generalised items, in transactions that were released without
/// marks (Ong 2015, section 3.5.2). Generalised items that are already marked stay as they are. A new one
/// stands where its first member stood.
pub fn mark_generalised(
    transactions: &Transactions,
    rule: MarkingRule,
    known: &GeneralisationKnowledge,
    control: &Control,
) -> Result<Transactions> {
    let items = transactions.items();
    known.check()?;
    let utility_of = known.utility.as_ref().map(|utility| utility_of(utility, items));
    let is_private = known.privacy.as_ref().map(|privacy| {
        let mut is_private = bitvec![0; items];
        for &item in privacy.iter().flatten().filter(|&&item| (item as usize) < items) {
            is_private.set(item as usize, true);
        }
        is_private
    });
    let postings = transactions.postings(control)?;
    let sets_of_postings = match rule {
        MarkingRule::Together => Some(numbered(&postings, control)?),
        MarkingRule::Repeated => None,
    };
    let least = known.k.unwrap_or(2).max(2);
    // Items of a transaction with the same key form one set. Items without a key are context.
    let key = |item: u32| {
        let utility = match &utility_of {
            Some(utility_of) => utility_of[item as usize]?,
            None => 0,
        };
        let set = sets_of_postings.as_ref().map_or(0, |sets| sets[item as usize]);
        (postings[item as usize].len() as u64 >= least).then_some((utility, set))
    };

    let mut marked = Transactions::new();
    let mut sets: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
    for (number, entries) in transactions.iter().enumerate() {
        if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        sets.clear();
        for item in entries.iter().filter_map(Entry::item) {
            if let Some(key) = key(item) {
                sets.entry(key).or_default().push(item);
            }
        }
        if let Some(is_private) = &is_private {
            sets.retain(|_, set| set.iter().any(|&item| is_private[item as usize]));
        }
        marked.begin()?;
        for entry in entries {
            // The first member takes its set away, so that the other members add only an empty set, which is
            // ignored.
            let set = entry.item().and_then(key).and_then(|key| sets.get_mut(&key));
            marked.push(set.map_or_else(|| transactions.possible_items(entry).to_vec(), std::mem::take))?;
        }
    }
    Ok(marked)
}

/// Returns a number for each posting list, the same for equal lists.
fn numbered(postings: &[Vec<u32>], control: &Control) -> Result<Vec<u32>> {
    let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
    let mut numbered = Vec::with_capacity(postings.len());
    for (item, posting) in postings.iter().enumerate() {
        if item.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        let next = numbers.len() as u32;
        numbered.push(*numbers.entry(posting).or_insert(next));
    }
    Ok(numbered)
}
