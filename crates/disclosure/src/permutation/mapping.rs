use super::rank::{ranks, Ties};
use super::HalfRanks;
use crate::{Control, Result};

/// Algorithm 1 of Domingo-Ferrer and Muralidhar: every record gets the original value that has the rank of its
/// anonymised one. `values` may be anything that stands for the original values; `places` are those of the
/// original and the anonymised column.
pub fn reverse_map<V: Copy + Default>(
    values: &[V],
    places: [&[u32]; 2],
    ties: Ties,
    control: &Control,
) -> Result<Vec<V>> {
    let [original, anonymised] = places;
    let mut by_rank = vec![V::default(); values.len()];
    for (&value, rank) in values.iter().zip(ranks(original, ties, control)?) {
        by_rank[index(rank)] = value;
    }
    let ranks = ranks(anonymised, ties, control)?;
    Ok(ranks.into_iter().map(|rank| by_rank[index(rank)]).collect())
}

/// Where a value of this rank, of which there is only one, is in the sorted column.
fn index(rank: HalfRanks) -> usize {
    rank as usize / 2 - 1
}

/// How many ranks every record's value has moved.
pub fn rank_shifts(original: &[u32], anonymised: &[u32], ties: Ties, control: &Control) -> Result<Vec<u32>> {
    let (before, after) = (ranks(original, ties, control)?, ranks(anonymised, ties, control)?);
    let pairs = before.into_iter().zip(after);
    Ok(pairs.map(|(before, after)| before.abs_diff(after) / 2).collect())
}
