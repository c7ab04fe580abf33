//! Vulnerable itemsets: which of the itemsets of interest are cracked with a high probability (Lakshmanan et
//! al. 2008, Definition 2.1).
//!
//! A share of vulnerable itemsets does not tell the owner which ones to protect (section 2.3).

use super::recipe::{AssessedItemsets, for_each_combination};
use super::{CrackSpace, Frequencies, ItemsetMethod, ItemsetSettings};
use crate::{Control, Error, Result};
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// An itemset that is vulnerable.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct VulnerableItemset {
    /// Items, in ascending order.
    pub items: Vec<u32>,
    /// Probability that the itemset is cracked under the belief.
    pub crack_probability: f64,
    /// Probability that an adversary who knows every frequency cracks it (Lemma 3.4).
    pub point_valued: f64,
}

/// The vulnerable itemsets among those of interest.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct VulnerableItemsets {
    /// The most vulnerable itemsets, worst first, and those of equal probability in the order of their items. If
    /// not all itemsets of the last probability fit into the list, it has some of them, always the same.
    pub itemsets: Vec<VulnerableItemset>,
    /// Number of vulnerable itemsets, whether listed or not. If only a sample was assessed, the number in it.
    pub vulnerable: f64,
    /// Number of itemsets of interest.
    pub of_interest: f64,
    /// Whether only a random sample of the itemsets of interest was assessed.
    pub sampled: bool,
    /// How probabilities under the belief were computed.
    pub method: ItemsetMethod,
}

/// Probabilities that differ by less count as equal in the order of the list.
const EQUAL: f64 = 1e-12;

/// Lists the itemsets of interest that are vulnerable under the belief, at most `max_rows` of them. The
/// tolerance and the compliance runs of the settings have no effect.
pub fn vulnerable_itemsets(
    frequencies: &Frequencies,
    space: &CrackSpace,
    settings: &ItemsetSettings,
    max_rows: usize,
    control: &Control,
) -> Result<VulnerableItemsets> {
    settings.check()?;
    if max_rows == 0 {
        return Err(Error::invalid(
            "max_rows",
            "must be at least 1",
            "the largest number of itemsets to list",
        ));
    }
    let assessed = AssessedItemsets::new(frequencies, space, settings, control)?;
    let representatives = &assessed.representatives;
    let mut worst: Vec<usize> = assessed.vulnerable().collect();
    let rank = |number: usize| (assessed.probabilities[number].under_belief / EQUAL).round() as u64;
    worst.sort_by_key(|&number| (Reverse(rank(number)), number));
    if representatives.is_sampled {
        // The same itemset may have been drawn twice.
        worst.sort_by_key(|&number| (Reverse(rank(number)), sorted(representatives.get(number))));
        worst.dedup_by_key(|&mut number| sorted(representatives.get(number)));
    }
    let vulnerable = worst
        .iter()
        .fold(0.0, |sum, &number| sum + representatives.weight(number));
    let largest = worst
        .iter()
        .map(|&number| representatives.get(number).len())
        .max();
    let bytes = size_of::<VulnerableItemset>() + largest.unwrap_or(0) * size_of::<u32>();
    control.require::<u8>((vulnerable.min(max_rows as f64) as usize).saturating_mul(bytes))?;
    let mut rows: Vec<(u64, VulnerableItemset)> = Vec::new();
    for number in worst {
        if rows.len() == max_rows {
            break;
        }
        let probabilities = assessed.probabilities[number];
        for_each_combination(&representatives.parts(representatives.get(number)), |items| {
            control.check()?;
            let row = VulnerableItemset {
                items: sorted(items),
                crack_probability: probabilities.under_belief,
                point_valued: probabilities.point_valued,
            };
            rows.push((rank(number), row));
            Ok(match rows.len() < max_rows {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        })?;
    }
    rows.sort_by(|(rank, row), (other_rank, other)| (other_rank, &row.items).cmp(&(rank, &other.items)));
    Ok(VulnerableItemsets {
        itemsets: rows.into_iter().map(|(_, row)| row).collect(),
        vulnerable,
        of_interest: representatives.total,
        sampled: representatives.is_sampled,
        method: assessed.method,
    })
}

fn sorted(items: &[u32]) -> Vec<u32> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items
}
