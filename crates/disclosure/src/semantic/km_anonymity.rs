use super::constraints::{check_k, support_below};
use super::{Entry, Transactions};
use crate::{Control, Error, Result};

/// Steps between two looks at the control: less than a millisecond.
const PIECE: usize = 1 << 14;

/// A set of items that too few transactions have, though enough have each of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Violation {
    /// Items by code, then generalised items by number.
    pub set: Vec<Entry>,
    /// How many transactions have it.
    pub support: u64,
}

/// The largest k for which transactions are k^m-anonymous (Terrovitis et al. 2008; Ong 2015, Definition 6): how many
/// have a set of at most `m` items if any has it. A generalised item is one item. `None` where no transaction has
/// any.
pub fn km_anonymity(transactions: &Transactions, m: usize, control: &Control) -> Result<Option<u64>> {
    check_m(m)?;
    // What is rare comes first, to meet a set that only one transaction has as early as possible.
    let index = Index::new(transactions, true, control)?;
    let mut least: Option<u64> = None;
    let mut meet = |support: u64| {
        least = Some(least.map_or(support, |least| least.min(support)));
        support == 1
    };
    // The more items, the fewer transactions: only the whole of a shorter transaction, and sets of m of others count.
    let (short, long): (Vec<u32>, Vec<u32>) =
        (0..index.sets.len() as u32).partition(|&transaction| index.sets[transaction as usize].len() < m);
    for transaction in short {
        control.check()?;
        let set = &index.sets[transaction as usize];
        if !set.is_empty() && meet(index.support(set.iter().copied())) {
            return Ok(Some(1));
        }
    }
    index.walk(&long, m, control, |set, support| {
        Ok(match set.len() == m && meet(support) {
            true => Next::Stop,
            false => Next::Larger,
        })
    })?;
    Ok(least)
}

/// Why transactions are not k^m-anonymous: the sets of at most `m` items that less than `k` of them have, but some, and
/// no part of which is one; the smallest first, then by items, at most so many.
pub fn km_violations(
    transactions: &Transactions,
    k: u64,
    m: usize,
    most: usize,
    control: &Control,
) -> Result<Vec<Violation>> {
    check_k(k)?;
    check_m(m)?;
    let mut index = Index::new(transactions, false, control)?;
    let mut violations = Vec::new();
    let longest = index.sets.iter().map(Vec::len).max().unwrap_or(0);
    for size in 1..=m.min(longest) {
        let all: Vec<u32> = (0..index.sets.len() as u32).collect();
        let mut larger_ones = false;
        index.walk(&all, size, control, |set, support| {
            if violations.len() >= most {
                return Ok(Next::Stop);
            }
            if support >= k {
                larger_ones |= set.len() == size;
                return Ok(Next::Larger);
            }
            if set.len() < size {
                return Ok(Next::Other);
            }
            control.check()?;
            // Without its last item it is known to have enough.
            let without = |left_out: usize| {
                let others = set
                    .iter()
                    .enumerate()
                    .filter(move |(place, _)| *place != left_out);
                others.map(|(_, &number)| number)
            };
            if (0..size - 1).all(|left_out| index.support(without(left_out)) >= k) {
                violations.push(Violation {
                    set: set.iter().map(|&number| index.entries[number as usize]).collect(),
                    support,
                });
            }
            Ok(Next::Other)
        })?;
        if !larger_ones || violations.len() >= most {
            break;
        }
        if size == 1 {
            index.keep_shared_by(k);
        }
    }
    Ok(violations)
}

/// Whether somebody may know so many items of a transaction.
pub fn check_m(m: usize) -> Result<()> {
    if m == 0 {
        return Err(Error::invalid(
            "m",
            "must be at least 1",
            "how many items of a transaction somebody may know, such as 2",
        ));
    }
    Ok(())
}

/// Where to go from a set.
enum Next {
    /// To larger sets that begin with it.
    Larger,
    /// To the next one that does not.
    Other,
    Stop,
}

/// Entries by number, and where they are.
struct Index {
    entries: Vec<Entry>,
    /// The numbers of every transaction's entries, ascending.
    sets: Vec<Vec<u32>>,
    postings: Vec<Vec<u32>>,
}

/// A transaction that has a set: the next item to add to it, the transaction, and the place of what follows that item.
type Holder = (u32, u32, u32);

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
            if (transaction as usize).is_multiple_of(PIECE) {
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

    /// Leave out what less than `k` transactions have.
    fn keep_shared_by(&mut self, k: u64) {
        for set in &mut self.sets {
            set.retain(|&number| self.postings[number as usize].len() as u64 >= k);
        }
    }

    fn support(&self, set: impl Iterator<Item = u32>) -> u64 {
        let mut postings: Vec<&[u32]> = set.map(|number| &self.postings[number as usize][..]).collect();
        support_below(&mut postings, u64::MAX).unwrap_or(u64::MAX)
    }

    /// Visit the sets of up to `size` items that any of some transactions has, ascending, with the number of those that
    /// have it.
    fn walk(
        &self,
        transactions: &[u32],
        size: usize,
        control: &Control,
        mut visit: impl FnMut(&[u32], u64) -> Result<Next>,
    ) -> Result<()> {
        let all = transactions.iter().map(|&transaction| (transaction, 0));
        let mut set = Vec::new();
        // What is left to be visited, by size; not recursive, as m may be large.
        let mut open: Vec<(Vec<Holder>, usize)> = vec![(self.extensions(all, control)?, 0)];
        while let Some((holders, start)) = open.last_mut() {
            let rest = &holders[*start..];
            let Some(&(number, ..)) = rest.first() else {
                open.pop();
                set.pop();
                continue;
            };
            let with = rest.partition_point(|holder| holder.0 == number);
            let of_set = &rest[..with];
            *start += with;
            set.push(number);
            match visit(&set, with as u64)? {
                Next::Stop => return Ok(()),
                Next::Larger if set.len() < size => {
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

    /// What follows in transactions, each from a place on, by item.
    fn extensions(
        &self,
        suffixes: impl Iterator<Item = (u32, u32)>,
        control: &Control,
    ) -> Result<Vec<Holder>> {
        let mut extensions = Vec::new();
        for (number, (transaction, start)) in suffixes.enumerate() {
            if number.is_multiple_of(PIECE) {
                control.check()?;
            }
            let following = (start..).zip(&self.sets[transaction as usize][start as usize..]);
            extensions.extend(following.map(|(place, &number)| (number, transaction, place + 1)));
        }
        match extensions.len() <= PIECE {
            true => extensions.sort_unstable(),
            false => crate::sort::sort(&mut extensions, control)?,
        }
        Ok(extensions)
    }
}
