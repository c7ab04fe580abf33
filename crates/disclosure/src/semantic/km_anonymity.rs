//! k^m-anonymity of transactions (Terrovitis et al. 2008; Ong 2015, Definition 6): every set of at most m
//! items that any transaction contains is contained in at least k transactions.
//!
//! Sets are searched depth first, in ascending order of their items. Each set keeps the list of the
//! transactions that contain it, so that its extensions and their supports follow from the rest of these
//! transactions.

use super::constraints::{check_k, support_below};
use super::{Entry, Transactions};
use crate::{Control, Error, Result};

/// Number of steps between two checks for cancellation: less than a millisecond.
const STEPS_PER_CHECK: usize = 1 << 14;

/// A minimal violation: a set of items that too few transactions contain, although enough contain each of its
/// parts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Violation {
    /// Items by code, followed by generalised items by number.
    pub itemset: Vec<Entry>,
    /// Number of transactions that contain the set.
    pub support: u64,
}

/// Returns the largest k for which transactions are k^m-anonymous (Terrovitis et al. 2008; Ong 2015,
/// Definition 6): the least support of any set of at most `m` items that a transaction contains. A
/// generalised item counts as one item. Returns `None` if no transaction contains an item.
pub fn km_anonymity(transactions: &Transactions, m: usize, control: &Control) -> Result<Option<u64>> {
    check_m(m)?;
    // Rare items come first, to find a set that only one transaction contains as early as possible.
    let index = Index::new(transactions, true, control)?;
    let mut least: Option<u64> = None;
    let mut record = |support: u64| {
        least = Some(least.map_or(support, |least| least.min(support)));
        support == 1
    };
    // The more items, the smaller the support. So it suffices to look at sets of exactly m items, and at the
    // whole of each shorter transaction.
    let (short, long): (Vec<u32>, Vec<u32>) =
        (0..index.sets.len() as u32).partition(|&transaction| index.sets[transaction as usize].len() < m);
    for transaction in short {
        control.check()?;
        let set = &index.sets[transaction as usize];
        if !set.is_empty() && record(index.support(set.iter().copied())) {
            return Ok(Some(1));
        }
    }
    index.walk(&long, m, control, |set, support| {
        Ok(match set.len() == m && record(support) {
            true => Continuation::Stop,
            false => Continuation::Larger,
        })
    })?;
    Ok(least)
}

/// Returns why transactions are not k^m-anonymous: the minimal sets of at most `m` items that at least one of
/// them, but fewer than `k`, contain. Smaller sets come first, then sets of lower items. Returns at most
/// `max_sets` sets.
pub fn km_violations(
    transactions: &Transactions,
    k: u64,
    m: usize,
    max_sets: usize,
    control: &Control,
) -> Result<Vec<Violation>> {
    check_k(k)?;
    check_m(m)?;
    let mut index = Index::new(transactions, false, control)?;
    let mut violations = Vec::new();
    let longest = index.sets.iter().map(Vec::len).max().unwrap_or(0);
    for size in 1..=m.min(longest) {
        let all: Vec<u32> = (0..index.sets.len() as u32).collect();
        let mut has_larger_sets = false;
        index.walk(&all, size, control, |set, support| {
            if violations.len() >= max_sets {
                return Ok(Continuation::Stop);
            }
            if support >= k {
                has_larger_sets |= set.len() == size;
                return Ok(Continuation::Larger);
            }
            if set.len() < size {
                return Ok(Continuation::Other);
            }
            control.check()?;
            // Without its last item, the set is known to have enough support: otherwise the search would not
            // have reached it.
            let without = |left_out: usize| {
                let others = set
                    .iter()
                    .enumerate()
                    .filter(move |(place, _)| *place != left_out);
                others.map(|(_, &number)| number)
            };
            if (0..size - 1).all(|left_out| index.support(without(left_out)) >= k) {
                violations.push(Violation {
                    itemset: set.iter().map(|&number| index.entries[number as usize]).collect(),
                    support,
                });
            }
            Ok(Continuation::Other)
        })?;
        if !has_larger_sets || violations.len() >= max_sets {
            break;
        }
        if size == 1 {
            index.remove_rare(k);
        }
    }
    Ok(violations)
}

/// Returns an error if `m` is 0.
pub fn check_m(m: usize) -> Result<()> {
    if m == 0 {
        return Err(Error::invalid(
            "m",
            "must be at least 1",
            "the number of items of a transaction that an adversary may know, such as 2",
        ));
    }
    Ok(())
}

/// Continuation of the search after a set.
enum Continuation {
    /// Go on to larger sets that begin with this one.
    Larger,
    /// Go on to the next set that does not begin with this one.
    Other,
    Stop,
}

/// Entries that occur, by number, and the transactions that contain them.
struct Index {
    entries: Vec<Entry>,
    /// Numbers of the entries of each transaction, ascending.
    sets: Vec<Vec<u32>>,
    /// Transactions that contain each entry, ascending.
    postings: Vec<Vec<u32>>,
}

/// A transaction that contains a set and an item to add to it: the item, the transaction, and the place after
/// that item in the transaction.
type Extension = (u32, u32, u32);

impl Index {
    fn new(transactions: &Transactions, rare_first: bool, control: &Control) -> Result<Self> {
        let place = |entry: &Entry| match *entry {
            Entry::Item(item) => item as usize,
            Entry::Generalised(number) => transactions.items() + number as usize,
        };
        let mut postings: Vec<(Option<Entry>, Vec<u32>)> =
            vec![(None, Vec::new()); transactions.items() + transactions.generalised()];
        for (transaction, entries) in (0..).zip(transactions.iter()) {
            for entry in entries {
                let (of_place, holders) = &mut postings[place(entry)];
                *of_place = Some(*entry);
                holders.push(transaction);
            }
            if (transaction as usize).is_multiple_of(STEPS_PER_CHECK) {
                control.check()?;
            }
        }
        if rare_first {
            postings.sort_by_key(|(_, holders)| holders.len());
        }
        let occurring = postings
            .into_iter()
            .filter_map(|(entry, holders)| Some((entry?, holders)));
        let (entries, postings): (Vec<Entry>, Vec<Vec<u32>>) = occurring.unzip();
        let mut sets = vec![Vec::new(); transactions.len()];
        for (number, holders) in (0..).zip(&postings) {
            control.check()?;
            for &transaction in holders {
                sets[transaction as usize].push(number);
            }
        }
        Ok(Index {
            entries,
            sets,
            postings,
        })
    }

    /// Removes the entries that fewer than `k` transactions contain.
    fn remove_rare(&mut self, k: u64) {
        for set in &mut self.sets {
            set.retain(|&number| self.postings[number as usize].len() as u64 >= k);
        }
    }

    fn support(&self, set: impl Iterator<Item = u32>) -> u64 {
        let mut postings: Vec<&[u32]> = set.map(|number| &self.postings[number as usize][..]).collect();
        support_below(&mut postings, u64::MAX).unwrap_or(u64::MAX)
    }

    /// Visits the sets of up to `size` items that any of `transactions` contains, in ascending order, with
    /// the number of those that contain it.
    fn walk(
        &self,
        transactions: &[u32],
        size: usize,
        control: &Control,
        mut visit: impl FnMut(&[u32], u64) -> Result<Continuation>,
    ) -> Result<()> {
        let all = transactions.iter().map(|&transaction| (transaction, 0));
        let mut set = Vec::new();
        // Extensions that are left to be visited, by the size of the set. This is a stack instead of a
        // recursion because m may be large.
        let mut open: Vec<(Vec<Extension>, usize)> = vec![(self.extensions(all, control)?, 0)];
        while let Some((extensions, start)) = open.last_mut() {
            let rest = &extensions[*start..];
            let Some(&(number, ..)) = rest.first() else {
                open.pop();
                set.pop();
                continue;
            };
            let with = rest.partition_point(|extension| extension.0 == number);
            let of_set = &rest[..with];
            *start += with;
            set.push(number);
            match visit(&set, with as u64)? {
                Continuation::Stop => return Ok(()),
                Continuation::Larger if set.len() < size => {
                    let suffixes = of_set.iter().map(|&(_, transaction, next)| (transaction, next));
                    let larger = self.extensions(suffixes, control)?;
                    open.push((larger, 0));
                }
                _ => {
                    set.pop();
                }
            }
        }
        Ok(())
    }

    /// Returns all items that follow in transactions, each from a given place on, sorted by item.
    fn extensions(
        &self,
        suffixes: impl Iterator<Item = (u32, u32)>,
        control: &Control,
    ) -> Result<Vec<Extension>> {
        let mut extensions = Vec::new();
        for (number, (transaction, start)) in suffixes.enumerate() {
            if number.is_multiple_of(STEPS_PER_CHECK) {
                control.check()?;
            }
            let following = (start..).zip(&self.sets[transaction as usize][start as usize..]);
            extensions.extend(following.map(|(place, &number)| (number, transaction, place + 1)));
        }
        match extensions.len() <= STEPS_PER_CHECK {
            true => extensions.sort_unstable(),
            false => crate::parallel_sort::parallel_sort(&mut extensions, control)?,
        }
        Ok(extensions)
    }
}
