//! Rank swapping (Moore 1996), a masker: every value changes places with another one of a similar rank.

use super::HalfRanks;
use super::rank::{MAX_RECORDS, RECORDS_PER_CHECK, Ties, ranks};
use crate::{Control, Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Settings of [`rank_swap`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSwapSettings {
    /// Largest distance that a value moves, in percent of the number of records.
    pub p: f64,
    /// The same seed draws the same swaps.
    pub seed: u64,
}

impl Default for RankSwapSettings {
    fn default() -> Self {
        RankSwapSettings { p: 10.0, seed: 1 }
    }
}

impl RankSwapSettings {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        if (0.0..=100.0).contains(&self.p) {
            return Ok(());
        }
        Err(Error::invalid(
            "p",
            "must be between 0 and 100",
            "the largest distance that a value may move, in percent of the number of records, such as 10",
        ))
    }
}

/// Swaps ranks at random (Moore 1996) and returns, for every rank, starting at 0, the rank whose value it gets.
///
/// In increasing order, every value that was not yet swapped changes places with a value drawn from those
/// that were not yet swapped and are at most `p` percent of all ranks above it. If there is none, the value
/// stays. So no value moves by more than `p` percent of the number of records. The same seed draws the same
/// swaps.
pub fn rank_swap(records: usize, settings: &RankSwapSettings, control: &Control) -> Result<Vec<u32>> {
    settings.check()?;
    if records > MAX_RECORDS {
        return Err(Error::TooMany {
            what: "records to swap",
            limit: MAX_RECORDS as u64,
        });
    }
    let mut random = Pcg64Mcg::seed_from_u64(settings.seed);
    let mut swapped: Vec<u32> = (0..records as u32).collect();
    let mut free = FreeRanks::new(records);
    for (rank, end) in (0..records).zip(1 + reach(records, settings.p)..) {
        if rank.is_multiple_of(RECORDS_PER_CHECK) {
            control.check()?;
        }
        free.add_up_to(end.min(records));
        if free.remove(rank as u32)
            && let Some(partner) = free.draw(&mut random)
        {
            swapped.swap(rank, partner as usize);
        }
    }
    Ok(swapped)
}

/// Swaps the values of records by rank swapping and returns, for every record, the record whose value it
/// gets. Equal values are ordered at random. Absent values come last and are swapped like others.
pub fn swap_records(dense_ranks: &[u32], settings: &RankSwapSettings, control: &Control) -> Result<Vec<u32>> {
    let mut seeds = Pcg64Mcg::seed_from_u64(settings.seed);
    let of_swaps = RankSwapSettings {
        seed: seeds.next_u64(),
        ..*settings
    };
    let swapped = rank_swap(dense_ranks.len(), &of_swaps, control)?;
    let of_ties = Ties::Random {
        seed: seeds.next_u64(),
    };
    let ranks = ranks(dense_ranks, of_ties, control)?;
    let index = |half_ranks: HalfRanks| half_ranks as usize / 2 - 1;
    let mut record_at = vec![0; dense_ranks.len()];
    for (record, &half_ranks) in (0..).zip(&ranks) {
        record_at[index(half_ranks)] = record;
    }
    let giver = |&half_ranks: &HalfRanks| record_at[swapped[index(half_ranks)] as usize];
    Ok(ranks.iter().map(giver).collect())
}

/// Returns the number of ranks that are `p` percent of all, rounded down. A number that is whole except for
/// rounding errors counts as whole.
fn reach(records: usize, p: f64) -> usize {
    (p / 100.0 * records as f64 * (1.0 + 4.0 * f64::EPSILON)).floor() as usize
}

/// Ranks that may still be swapped, in no order, and the position of each of them.
struct FreeRanks {
    ranks: Vec<u32>,
    position: Vec<u32>,
}

/// Position of a rank that is not free.
const TAKEN: u32 = u32::MAX;

impl FreeRanks {
    fn new(records: usize) -> Self {
        FreeRanks {
            ranks: Vec::new(),
            position: Vec::with_capacity(records),
        }
    }

    /// Adds the ranks below `end` that were not added before.
    fn add_up_to(&mut self, end: usize) {
        for rank in self.position.len()..end {
            self.position.push(self.ranks.len() as u32);
            self.ranks.push(rank as u32);
        }
    }

    /// Removes a rank and returns whether it was free.
    fn remove(&mut self, rank: u32) -> bool {
        let position = std::mem::replace(&mut self.position[rank as usize], TAKEN);
        if position == TAKEN {
            return false;
        }
        self.ranks.swap_remove(position as usize);
        if let Some(&moved) = self.ranks.get(position as usize) {
            self.position[moved as usize] = position;
        }
        true
    }

    /// Removes one of the free ranks, each with the same probability, and returns it; `None` if there is
    /// none.
    fn draw(&mut self, random: &mut impl Rng) -> Option<u32> {
        if self.ranks.is_empty() {
            return None;
        }
        let drawn = self.ranks[random.random_range(0..self.ranks.len())];
        self.remove(drawn).then_some(drawn)
    }
}
