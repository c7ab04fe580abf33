//! Privacy constraints of which an attack does not tell whether they hold, because it could not judge some
//! members of generalised items.

use super::BrokenConstraint;
use super::constraints::{as_set, postings_of, support_below};
use crate::{Control, Result};
use rustc_hash::FxHashSet;

/// Returns the privacy constraints that hold if nothing else is eliminated, but might not if some of the items
/// were eliminated that the attack could not judge. `remaining` holds for every transaction the items that it
/// may contain after the attack, ascending, and `judged` those of them that the attack could judge.
///
/// In the result, the itemset is the part of the constraint that the fewest transactions contain by items that
/// could be judged; of equal ones, the smallest, then the one with the lowest codes. Its support is that after
/// the attack, and `transactions` counts those with an item of the constraint that could not be judged.
///
/// A constraint that holds might not hold if fewer than `k` transactions contain some part of it by judged
/// items: then some of the others may be eliminated, until fewer than `k` are left. Only the parts have to be
/// examined that are all that a transaction with such an item may contain of the constraint, because
/// larger parts have smaller supports.
pub fn unknown_constraints(
    remaining: &[Vec<u32>],
    judged: &[Vec<u32>],
    privacy: &[Vec<u32>],
    k: u64,
    control: &Control,
) -> Result<Vec<BrokenConstraint>> {
    let unjudged = difference(remaining, judged, control)?;
    let unjudged = postings_of(&unjudged, privacy, control)?;
    if k < 2 || unjudged.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let of_remaining = postings_of(remaining, privacy, control)?;
    let of_judged = postings_of(judged, privacy, control)?;
    let mut unknown = Vec::new();
    for (constraint, items) in privacy.iter().enumerate() {
        control.check()?;
        let items = as_set(items);
        let transactions = items.iter().flat_map(|&item| &unjudged[item as usize]);
        let transactions: FxHashSet<u32> = transactions.copied().collect();
        let mut parts = FxHashSet::default();
        for &transaction in &transactions {
            control.check()?;
            let may_contain = |item: &&u32| remaining[transaction as usize].binary_search(item).is_ok();
            parts.insert(items.iter().filter(may_contain).copied().collect::<Vec<u32>>());
        }
        let mut worst: Option<(u64, usize, Vec<u32>)> = None;
        for part in parts {
            control.check()?;
            let mut postings: Vec<&[u32]> = part.iter().map(|&item| &of_judged[item as usize][..]).collect();
            if let Some(support) = support_below(&mut postings, k) {
                let next = (support, part.len(), part);
                worst = Some(worst.map_or(next.clone(), |worst| worst.min(next)));
            }
        }
        if let Some((_, _, itemset)) = worst {
            let mut postings: Vec<&[u32]> = itemset
                .iter()
                .map(|&item| &of_remaining[item as usize][..])
                .collect();
            unknown.push(BrokenConstraint {
                constraint,
                support: support_below(&mut postings, u64::MAX).unwrap_or(u64::MAX),
                itemset,
                transactions: transactions.len() as u64,
            });
        }
    }
    Ok(unknown)
}

/// Returns by transaction the items that are in `all` but not in `some`, both ascending.
fn difference(all: &[Vec<u32>], some: &[Vec<u32>], control: &Control) -> Result<Vec<Vec<u32>>> {
    let of_one = |(all, some): (&Vec<u32>, &Vec<u32>)| {
        control.check()?;
        let is_other = |item: &&u32| some.binary_search(item).is_err();
        Ok(all.iter().filter(is_other).copied().collect())
    };
    all.iter().zip(some).map(of_one).collect()
}
