//! Privacy constraints: which of them transactions break (Loukides et al. 2011; Ong 2015, Definitions 13 and
//! 15).
//!
//! The *projection* of a transaction on a constraint is the set of the constraint's items that the
//! transaction may contain. A constraint is broken if and only if fewer than k transactions support some
//! projection, so not all of its subsets have to be examined. For a small constraint, supports are summed in
//! a table of all subsets; for a large one, posting lists are intersected.

use crate::parallel_sort::parallel_sort;
use crate::{Control, Error, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Number of steps between two checks for cancellation: less than a millisecond.
const STEPS_PER_CHECK: usize = 1 << 14;

/// A privacy constraint that is not satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BrokenConstraint {
    /// Number of the constraint, from 0.
    pub constraint: usize,
    /// The least supported part of the constraint, among the parts that are all that some transaction may
    /// contain of it. Of equal ones, the smallest, then the one with the lowest codes.
    pub itemset: Vec<u32>,
    /// Number of transactions that may contain all of that part.
    pub support: u64,
    /// Number of exposed transactions: fewer than k transactions may contain all that an exposed one may
    /// contain of the constraint.
    pub transactions: u64,
}

/// Returns the privacy constraints that are not satisfied: those with a part that at least one transaction,
/// but fewer than `k`, may contain (Loukides et al. 2011; Ong 2015, Definitions 13 and 15 for every part).
///
/// `visible` holds for every transaction the items that it may contain, ascending: the items that are not
/// generalised, and the members of generalised items.
pub fn broken_constraints(
    visible: &[Vec<u32>],
    privacy: &[Vec<u32>],
    k: u64,
    control: &Control,
) -> Result<Vec<BrokenConstraint>> {
    check_k(k)?;
    let postings = postings_of(visible, privacy, control)?;
    let mut finder = ProjectionFinder::new(visible.len());
    let mut broken = Vec::new();
    for (number, constraint) in privacy.iter().enumerate() {
        let constraint = as_set(constraint);
        let of_items: Vec<(u32, &[u32])> = constraint
            .iter()
            .map(|&item| (item, &postings[item as usize][..]))
            .collect();
        let mut worst: Option<BrokenConstraint> = None;
        finder.find_violated(&of_items, k, control, |projection| {
            let Projection { items, support, .. } = projection;
            let worst = worst.get_or_insert_with(|| BrokenConstraint {
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

/// Returns the posting list of every item in a privacy constraint. Those of other items are empty.
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

/// A projection: all items of a set that some transactions contain.
pub(super) struct Projection<'a> {
    /// Items of the projection, ascending.
    pub items: &'a [u32],
    /// Number of transactions that contain all of these items.
    pub support: u64,
    /// Number of transactions that contain all of these items and no other item of the set.
    pub transactions: u64,
}

/// Maximum size of a set for which a table of all subsets may be used. It cannot exceed 16, the number of
/// bits of a mask.
const MAX_NARROW: usize = 13;

/// Finder of the projections of transactions on sets of items.
pub(super) struct ProjectionFinder {
    /// By transaction, a mask of the items of the current set that it contains; all 0 between two sets.
    masks: Vec<u16>,
}

impl ProjectionFinder {
    pub fn new(transactions: usize) -> Self {
        ProjectionFinder {
            masks: vec![0; transactions],
        }
    }

    /// Calls `found` for each projection of transactions on a set of items that fewer than `k` transactions
    /// support, once each and in no order. There are none if and only if every part of the set has a support
    /// of 0 or of at least `k`: any other part lies within the projection of a transaction that supports it,
    /// and every transaction that supports this projection supports the part.
    ///
    /// `postings` holds the items, ascending, each with its posting list, ascending.
    pub fn find_violated(
        &mut self,
        postings: &[(u32, &[u32])],
        k: u64,
        control: &Control,
        found: impl FnMut(Projection),
    ) -> Result<()> {
        let total_postings: usize = postings.iter().map(|(_, posting)| posting.len()).sum();
        // A table that is larger than its input does not pay off.
        match postings.len() <= MAX_NARROW && 1 << postings.len() <= total_postings {
            true => self.find_violated_narrow(postings, k, control, found),
            false => find_violated_wide(postings, k, control, found),
        }
    }

    fn find_violated_narrow(
        &mut self,
        postings: &[(u32, &[u32])],
        k: u64,
        control: &Control,
        mut found: impl FnMut(Projection),
    ) -> Result<()> {
        control.check()?;
        for (place, (_, posting)) in postings.iter().enumerate() {
            for &transaction in *posting {
                self.masks[transaction as usize] |= 1 << place;
            }
        }
        let mut counts = vec![0u64; 1 << postings.len()];
        for (_, posting) in postings {
            for &transaction in *posting {
                counts[std::mem::take(&mut self.masks[transaction as usize]) as usize] += 1;
            }
        }
        // Every transaction is counted at its first posting. Later postings find an empty mask and end up
        // here.
        counts[0] = 0;
        let mut supports = counts.clone();
        // Superset sums: every transaction whose projection contains a part supports that part.
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

/// Does the same as [`ProjectionFinder::find_violated`] for sets with too many subsets for a table.
fn find_violated_wide(
    postings: &[(u32, &[u32])],
    k: u64,
    control: &Control,
    mut found: impl FnMut(Projection),
) -> Result<()> {
    let mut pairs: Vec<u64> = Vec::with_capacity(postings.iter().map(|(_, posting)| posting.len()).sum());
    for (place, (_, posting)) in (0u64..).zip(postings) {
        pairs.extend(
            posting
                .iter()
                .map(|&transaction| u64::from(transaction) << 32 | place),
        );
    }
    match pairs.len() <= STEPS_PER_CHECK {
        true => pairs.sort_unstable(),
        false => parallel_sort(&mut pairs, control)?,
    }
    let places: Vec<u32> = pairs.iter().map(|&pair| pair as u32).collect();
    let mut counts: FxHashMap<&[u32], u64> = FxHashMap::default();
    let mut start = 0;
    for (step, of_one) in pairs.chunk_by(|a, b| a >> 32 == b >> 32).enumerate() {
        if step.is_multiple_of(STEPS_PER_CHECK) {
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
        if steps >= STEPS_PER_CHECK {
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

/// Returns the number of transactions that are in all of these posting lists, if it is less than `limit`.
/// Without any posting lists, it is 0.
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

/// Returns an error if two utility constraints have an item in common.
pub(super) fn check_utility(utility: Option<&[Vec<u32>]>) -> Result<()> {
    let mut constraint_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (number, constraint) in utility.unwrap_or_default().iter().enumerate() {
        for &item in constraint {
            if *constraint_of.entry(item).or_insert(number) != number {
                return Err(Error::invalid(
                    "utility",
                    "two utility constraints have an item in common",
                    "sets of items that do not overlap",
                ));
            }
        }
    }
    Ok(())
}

/// Returns the utility constraint of every item below `items`, `None` if it is in none. Constraints must not
/// overlap.
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

/// Returns an error if `k` is 0.
pub fn check_k(k: u64) -> Result<()> {
    if k == 0 {
        return Err(Error::invalid(
            "k",
            "must be at least 1",
            "the minimum number of transactions that must share each protected set of items, such as 5",
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
