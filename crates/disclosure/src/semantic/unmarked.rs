use super::constraints::{check_k, check_utility, utility_of};
use super::{Entry, Transactions};
use crate::{Control, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Transactions between two looks at the control: less than a millisecond.
const PIECE: usize = 1 << 12;

/// By what items are taken for members of a generalised item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Members of one generalised item stand in the same transactions, of which there are at least two: items that do
    /// make one.
    Together,
    /// All items of a transaction that are in any other as well make one (Ong 2015, section 3.5.2).
    Repeated,
}

/// What an adversary knows of how transactions were generalised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// In how many transactions a generalised item is at least.
    pub k: Option<u64>,
    /// A generalised item has items of one of these only, which do not overlap.
    pub utility: Option<Vec<Vec<u32>>>,
    /// A generalised item has an item of one of these at least: COAT generalises nothing else.
    pub privacy: Option<Vec<Vec<u32>>>,
}

impl Known {
    /// Whether it can be known.
    pub fn check(&self) -> Result<()> {
        self.k.map_or(Ok(()), check_k)?;
        check_utility(self.utility.as_deref())
    }
}

/// Marks what seems to be generalised in transactions that were released without marks, all members of generalised items
/// standing as items (Ong 2015, section 3.5.2). What is marked already stays. A marked set stands where its first
/// member stood.
pub fn mark_generalised(
    transactions: &Transactions,
    rule: Rule,
    known: &Known,
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
        Rule::Together => Some(numbered(&postings, control)?),
        Rule::Repeated => None,
    };
    let least = known.k.unwrap_or(2).max(2);
    // Items of a transaction with the same key make one set; those without are context.
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
        if number.is_multiple_of(PIECE) {
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
            // Nothing is left of a set when its second member comes.
            let set = entry.item().and_then(key).and_then(|key| sets.get_mut(&key));
            marked.push(set.map_or_else(|| transactions.may_be(entry).to_vec(), std::mem::take))?;
        }
    }
    Ok(marked)
}

/// The same number for the same transactions.
fn numbered(postings: &[Vec<u32>], control: &Control) -> Result<Vec<u32>> {
    let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
    let mut numbered = Vec::with_capacity(postings.len());
    for (item, posting) in postings.iter().enumerate() {
        if item.is_multiple_of(PIECE) {
            control.check()?;
        }
        let next = numbers.len() as u32;
        numbered.push(*numbers.entry(posting).or_insert(next));
    }
    Ok(numbered)
}
