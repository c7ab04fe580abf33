use crate::sort::sort;
use crate::{Control, Error, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Steps between two looks at the control: less than a millisecond.
const PIECE: usize = 1 << 14;

/// A privacy constraint that is not satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Broken {
    /// Its number, from 0.
    pub constraint: usize,
    /// The part of it with the least support that is all that some transaction may have of it; of equal ones the
    /// smallest, then the one with the lowest codes.
    pub itemset: Vec<u32>,
    /// How many transactions may have all of that part.
    pub support: u64,
    /// How many transactions are exposed: less than k may have all that such a one may have of the constraint.
    pub transactions: u64,
}

/// The privacy constraints that are not satisfied: those with a part that some transactions, but less than `k`, may
/// have (Loukides et al. 2011; Ong 2015, Definitions 13 and 15 for every part).
///
/// `visible` has for every transaction the items that it may have, ascending: those that stand for themselves, and
/// the members of generalised ones.
pub fn broken_constraints(
    visible: &[Vec<u32>],
    privacy: &[Vec<u32>],
    k: u64,
    control: &Control,
) -> Result<Vec<Broken>> {
    check_k(k)?;
    let postings = postings_of(visible, privacy, control)?;
    let mut projections = Projections::new(visible.len());
    let mut broken = Vec::new();
    for (number, constraint) in privacy.iter().enumerate() {
        let constraint = as_set(constraint);
        let of_items: Vec<(u32, &[u32])> = constraint
            .iter()
            .map(|&item| (item, &postings[item as usize][..]))
            .collect();
        let mut worst: Option<Broken> = None;
        projections.violated(&of_items, k, control, |projection| {
            let Projection { items, support, .. } = projection;
            let worst = worst.get_or_insert_with(|| Broken {
                constraint: number,
                itemset: items.to_vec(),
                support,
                transactions: 0,
            });
            worst.transactions += projection.transactions;
            if (support, items.len(), items) < (worst.support, worst.itemset.len(), &worst.itemset[..]) {
                worst.support = support;
                worst.itemset = items.to_vec();
            }
        })?;
        broken.extend(worst);
    }
    Ok(broken)
}

/// The transactions of every item of a privacy constraint; those of others are not looked for.
fn postings_of(visible: &[Vec<u32>], privacy: &[Vec<u32>], control: &Control) -> Result<Vec<Vec<u32>>> {
    let items = privacy
        .iter()
        .flatten()
        .max()
        .map_or(0, |&most| most as usize + 1);
    let mut is_private = bitvec![0; items];
    for &item in privacy.iter().flatten() {
        is_private.set(item as usize, true);
    }
    let mut postings = vec![Vec::new(); items];
    for (transaction, items) in visible.iter().enumerate() {
        if transaction.is_multiple_of(1 << 10) {
            control.check()?;
        }
        for &item in items {
            if is_private
                .get(item as usize)
                .is_some_and(|is_private| *is_private)
            {
                postings[item as usize].push(transaction as u32);
            }
        }
    }
    Ok(postings)
}

/// All that some transactions have of a set of items.
pub(super) struct Projection<'a> {
    /// Ascending.
    pub items: &'a [u32],
    /// How many transactions have all of it.
    pub support: u64,
    /// How many transactions have all of it and nothing more of the set.
    pub transactions: u64,
}

/// Sets of no more items may be looked at by a table of all their parts. At most 16, a bit for each.
const NARROW: usize = 13;

/// Finds what transactions have of sets of items.
pub(super) struct Projections {
    /// By transaction, which items of the set it has; nothing between two sets.
    had: Vec<u16>,
}

impl Projections {
    pub fn new(transactions: usize) -> Self {
        Projections {
            had: vec![0; transactions],
        }
    }

    /// Find the projections of transactions on a set of items that less than `k` transactions support, each once and in
    /// no order. There are none if and only if every part of the set has support of at least `k`, or none: a part with
    /// less, but some, lies within the projection of a transaction that supports it, and whatever supports that
    /// projection supports the part.
    ///
    /// The items come ascending, each with its transactions, ascending.
    pub fn violated(
        &mut self,
        postings: &[(u32, &[u32])],
        k: u64,
        control: &Control,
        found: impl FnMut(Projection),
    ) -> Result<()> {
        let held: usize = postings.iter().map(|(_, posting)| posting.len()).sum();
        // A table that is larger than what goes into it does not pay.
        match postings.len() <= NARROW && 1 << postings.len() <= held {
            true => self.violated_narrow(postings, k, control, found),
            false => violated_wide(postings, k, control, found),
        }
    }

    fn violated_narrow(
        &mut self,
        postings: &[(u32, &[u32])],
        k: u64,
        control: &Control,
        mut found: impl FnMut(Projection),
    ) -> Result<()> {
        control.check()?;
        for (place, (_, posting)) in postings.iter().enumerate() {
            for &transaction in *posting {
                self.had[transaction as usize] |= 1 << place;
            }
        }
        let mut counts = vec![0u64; 1 << postings.len()];
        for (_, posting) in postings {
            for &transaction in *posting {
                counts[std::mem::take(&mut self.had[transaction as usize]) as usize] += 1;
            }
        }
        // Those that were counted before.
        counts[0] = 0;
        let mut supports = counts.clone();
        for place in 0..postings.len() {
            for part in (0..supports.len()).filter(|part| part & 1 << place == 0) {
                supports[part] += supports[part | 1 << place];
            }
        }
        for (part, (&transactions, &support)) in counts.iter().zip(&supports).enumerate() {
            if transactions > 0 && support < k {
                let places = postings
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| part & 1 << place != 0);
                let items: Vec<u32> = places.map(|(_, (item, _))| *item).collect();
                found(Projection {
                    items: &items,
                    support,
                    transactions,
                });
            }
        }
        Ok(())
    }
}

/// As [`Projections::violated`], for sets with too many parts to list them.
fn violated_wide(
    postings: &[(u32, &[u32])],
    k: u64,
    control: &Control,
    mut found: impl FnMut(Projection),
) -> Result<()> {
    let mut held: Vec<u64> = Vec::with_capacity(postings.iter().map(|(_, posting)| posting.len()).sum());
    for (place, (_, posting)) in (0u64..).zip(postings) {
        held.extend(
            posting
                .iter()
                .map(|&transaction| u64::from(transaction) << 32 | place),
        );
    }
    match held.len() <= PIECE {
        true => held.sort_unstable(),
        false => sort(&mut held, control)?,
    }
    let places: Vec<u32> = held.iter().map(|&pair| pair as u32).collect();
    let mut counts: FxHashMap<&[u32], u64> = FxHashMap::default();
    let mut start = 0;
    for (step, of_one) in held.chunk_by(|a, b| a >> 32 == b >> 32).enumerate() {
        if step.is_multiple_of(PIECE) {
            control.check()?;
        }
        *counts.entry(&places[start..start + of_one.len()]).or_default() += 1;
        start += of_one.len();
    }
    let mut steps = 0;
    let mut items = Vec::new();
    for (places, transactions) in counts.into_iter().filter(|&(_, count)| count < k) {
        let mut of_places: Vec<&[u32]> = places.iter().map(|&place| postings[place as usize].1).collect();
        steps += of_places.iter().map(|posting| posting.len()).min().unwrap_or(0) + 1;
        if steps >= PIECE {
            control.check()?;
            steps = 0;
        }
        let Some(support) = support_below(&mut of_places, k) else {
            continue;
        };
        items.clear();
        items.extend(places.iter().map(|&place| postings[place as usize].0));
        found(Projection {
            items: &items,
            support,
            transactions,
        });
    }
    Ok(())
}

/// How many transactions are in all of these postings, if less than `limit`; in none of no postings.
pub(super) fn support_below(postings: &mut [&[u32]], limit: u64) -> Option<u64> {
    postings.sort_unstable_by_key(|posting| posting.len());
    let support = match postings {
        [] => 0,
        [one] => one.len() as u64,
        [least, others @ ..] => {
            let in_all = least.iter().filter(|transaction| {
                others
                    .iter()
                    .all(|other| other.binary_search(transaction).is_ok())
            });
            in_all.take(usize::try_from(limit).unwrap_or(usize::MAX)).count() as u64
        }
    };
    (support < limit).then_some(support)
}

/// Whether no two utility constraints have an item in common.
pub(super) fn check_utility(utility: Option<&[Vec<u32>]>) -> Result<()> {
    let mut constraint_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (number, constraint) in utility.unwrap_or_default().iter().enumerate() {
        for &item in constraint {
            if *constraint_of.entry(item).or_insert(number) != number {
                return Err(Error::invalid(
                    "utility",
                    "two utility constraints have an item in common",
                    "sets of items of which no two overlap",
                ));
            }
        }
    }
    Ok(())
}

/// Which utility constraint every item below `items` is in; no two of them have one in common.
pub(super) fn utility_of(utility: &[Vec<u32>], items: usize) -> Vec<Option<u32>> {
    let mut constraint_of = vec![None; items];
    for (number, constraint) in (0..).zip(utility) {
        for &item in constraint {
            if let Some(of_item) = constraint_of.get_mut(item as usize) {
                *of_item = Some(number);
            }
        }
    }
    constraint_of
}

/// Whether so many transactions can be asked to share what is protected.
pub fn check_k(k: u64) -> Result<()> {
    if k == 0 {
        return Err(Error::invalid(
            "k",
            "must be at least 1",
            "how many transactions have to share what is protected, such as 5",
        ));
    }
    Ok(())
}

pub(super) fn as_set(items: &[u32]) -> Vec<u32> {
    let mut set = items.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}
