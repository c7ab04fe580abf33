//! Hold-out: records of people who are known not to be in the released table, ranked like original records.

use super::rank::{RECORDS_PER_CHECK, cumulative_counts};
use super::{HalfRanks, Points, Ties};
use crate::{Control, Error, NULL, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Ranks hold-out records among the original ones. The values of both are given by their dense ranks, column by
/// column, among the distinct values of both together.
///
/// Each record takes the place of an original record that is drawn at random, and gets the ranks that it has
/// there. So if the people of both tables come from the same population, its ranks have the same distribution
/// as those of an original record. If ties are broken at random, its rank is drawn from those of equal values.
pub fn holdout_points(
    original: &[impl AsRef<[u32]>],
    holdout: &[impl AsRef<[u32]>],
    ties: Ties,
    seed: u64,
    control: &Control,
) -> Result<Points> {
    let length = |column: Option<&[u32]>| column.map_or(0, <[u32]>::len);
    let records = length(original.first().map(AsRef::as_ref));
    if records == 0 {
        return Err(Error::invalid(
            "original",
            "has no records",
            "a table with at least one record",
        ));
    }
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ PURPOSE);
    let number = length(holdout.first().map(AsRef::as_ref));
    let replaced: Vec<usize> = (0..number).map(|_| random.random_range(0..records)).collect();
    let columns = original.iter().zip(holdout).map(|(original, holdout)| {
        let (original, holdout) = (original.as_ref(), holdout.as_ref());
        let counts = RankCounts::new(original, control)?;
        let mut half_ranks = Vec::with_capacity(number);
        for (record, (&dense_rank, &replaced)) in holdout.iter().zip(&replaced).enumerate() {
            if record.is_multiple_of(RECORDS_PER_CHECK) {
                control.check()?;
            }
            let (lower, equal) = counts.without(original[replaced], dense_rank);
            half_ranks.push(match ties {
                Ties::Shared => 2 * lower + equal + 2,
                Ties::Random { .. } => 2 * (lower + 1 + random.random_range(0..=equal)),
            });
        }
        Ok(half_ranks)
    });
    Ok(Points::new(&columns.collect::<Result<Vec<Vec<HalfRanks>>>>()?))
}

/// Makes the seed of these draws differ from that of other draws with the same seed.
const PURPOSE: u64 = 0x6865_6c64_206f_7574;

/// Number of records of a column that have each dense rank or a lower one.
struct RankCounts(Vec<u32>);

impl RankCounts {
    fn new(dense_ranks: &[u32], control: &Control) -> Result<Self> {
        cumulative_counts(dense_ranks, control).map(RankCounts)
    }

    /// Returns the number of records with a lower and with an equal value, not counting a record whose dense
    /// rank is `removed`.
    fn without(&self, removed: u32, dense_rank: u32) -> (u32, u32) {
        // The last count is for absent values, which are above all others.
        let highest = self.0.len() - 1;
        let up_to = |count: usize| count.checked_sub(1).map_or(0, |last| self.0[last]);
        let (lower, upper) = match dense_rank {
            NULL => (up_to(highest), up_to(highest + 1)),
            dense_rank => {
                let dense_rank = dense_rank as usize;
                (up_to(highest.min(dense_rank - 1)), up_to(highest.min(dense_rank)))
            }
        };
        let order = |dense_rank: u32| if dense_rank == NULL { u32::MAX } else { dense_rank };
        let is_lower = order(removed) < order(dense_rank);
        (
            lower - u32::from(is_lower),
            upper - lower - u32::from(removed == dense_rank),
        )
    }
}
