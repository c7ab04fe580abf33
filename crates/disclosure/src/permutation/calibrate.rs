//! Calibration: finds how much rank swapping is enough to protect a table.
//!
//! Every candidate distance is tried on the table. The paper (section 5) requires only that the distances of an
//! adversary's matches overlap with those of random records. Here the expected number of correct matches is
//! limited as well.

use super::chance::RandomRecords;
use super::linkage::link_trees;
use super::{
    Assessment, ChanceSettings, HalfRanks, KdTree, Plausibility, Points, RankSwapSettings, Ties,
    holdout_points, rank_correlation, ranks, swap_records,
};
use crate::{Control, Error, Result};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Effect of swapping ranks by up to `p` percent on risk and on utility.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Candidate {
    /// Largest distance of a swap, in percent of the number of records.
    pub p: f64,
    /// Rank correlation of each column before and after swapping; `None` for a column with a single value.
    pub correlations: Vec<Option<f64>>,
    /// What an adversary's links are worth. The correct ones are known.
    pub assessment: Assessment,
    /// Whether this is the smallest `p` with which few enough links are expected to be correct, and with which
    /// the distances of real and random matches overlap enough.
    pub chosen: bool,
}

/// Settings of [`calibrate`]: the distances to try, and the limits that make one enough.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationSettings {
    /// Largest distances of swaps, in percent of the number of records. Each of them is tried once.
    pub candidates: Vec<f64>,
    /// Settings of the comparison with chance.
    pub chance: ChanceSettings,
    /// Smallest overlap of the distances of real and random matches. At no distance may the cumulative share
    /// of real matches be ahead by more than 1 − `at_least` either.
    pub at_least: f64,
}

impl Default for CalibrationSettings {
    fn default() -> Self {
        CalibrationSettings {
            candidates: [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 75, 100]
                .map(f64::from)
                .into(),
            chance: ChanceSettings::default(),
            at_least: 0.8,
        }
    }
}

impl CalibrationSettings {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        let is_valid = |p: &f64| (0.0..=100.0).contains(p);
        let problem = match self.candidates.as_slice() {
            [] => Some("must not be empty"),
            candidates if !candidates.iter().all(is_valid) => {
                Some("every candidate must be between 0 and 100")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(Error::invalid(
                "candidates",
                problem,
                "distances in percent of the number of records, such as 1, 5 and 10",
            ));
        }
        self.chance.check()?;
        Error::check_unit_interval("at_least", self.at_least)
    }
}

/// Swaps the ranks of every column by up to each of the candidate distances and returns the effect of each
/// one. Marks as chosen the smallest distance for which matches overlap with those of random records and not too
/// many of them are expected to be correct. Both conditions matter because matches that look random may be
/// right: the first limits what an adversary can prove, the second limits what they get right.
///
/// Swaps of different columns are independent, and those of one candidate do not depend on the other
/// candidates. If ties are broken at random, every column of every table gets its own draw: the same order on
/// both sides would reveal which records belong together. The `holdout`, if there is one, serves as the random
/// records: see [`holdout_points`].
pub fn calibrate(
    columns: &[Vec<u32>],
    holdout: Option<&[Vec<u32>]>,
    ties: Ties,
    settings: &CalibrationSettings,
    control: &Control,
) -> Result<Vec<Candidate>> {
    settings.check()?;
    let CalibrationSettings {
        candidates,
        chance,
        at_least,
    } = settings;
    let original = Points::new(&ranks_of(columns, ties, ORIGINAL_SIDE, control)?);
    let holdout = holdout.map(|holdout| holdout_points(columns, holdout, ties, chance.seed, control));
    let holdout = holdout.transpose()?;
    let random = RandomRecords::new(&original, holdout.as_ref(), chance)?;
    control.set_total((candidates.len() as u64).saturating_mul(original.len() as u64 + random.number));
    let tree = KdTree::new(&original, control)?;
    let counterparts: Vec<u32> = (0..original.len() as u32).collect();
    let evaluate = |&p: &f64| {
        let swapped = swap(columns, p, chance.seed, control)?;
        let pairs = columns.iter().zip(&swapped);
        let correlations = pairs.map(|(column, swapped)| rank_correlation(column, swapped, control));
        let correlations = correlations.collect::<Result<_>>()?;
        let released = Points::new(&ranks_of(&swapped, ties, p.to_bits(), control)?);
        let released_tree = KdTree::new(&released, control)?;
        let linkage = link_trees(&tree, &released_tree, control)?;
        let links = linkage.count_correct(&linkage.correct(&original, &released, &counterparts));
        let plausibility = random.compare(&linkage, &released_tree, control)?;
        Ok(Candidate {
            p,
            correlations,
            assessment: Assessment {
                plausibility,
                links: Some(links),
                is_safe: plausibility.is_safe(Some(&links), chance.at_most),
            },
            chosen: false,
        })
    };
    let mut candidates: Vec<Candidate> = candidates.iter().map(evaluate).collect::<Result<_>>()?;
    let enough = candidates.iter_mut().filter(|Candidate { assessment, .. }| {
        assessment.is_safe == Some(true) && in_common(&assessment.plausibility) >= *at_least
    });
    if let Some(least) = enough.min_by(|one, other| one.p.total_cmp(&other.p)) {
        least.chosen = true;
    }
    Ok(candidates)
}

/// Returns what the distances of real and random matches have in common. If there are few records, bins are
/// wide and may hold both exact matches and distant ones. But two distributions have no more in common than 1
/// minus the largest difference of their cumulative shares.
fn in_common(found: &Plausibility) -> f64 {
    found.overlap.min(1.0 - found.shorter.statistic)
}

/// Value of `side` for the original, from which the seeds of its ties are derived. A swapped table uses the
/// bits of its `p`, and no percentage has these bits.
const ORIGINAL_SIDE: u64 = u64::MAX;

/// Returns the columns with their ranks swapped.
fn swap(columns: &[Vec<u32>], p: f64, seed: u64, control: &Control) -> Result<Vec<Vec<u32>>> {
    let swapped = |(number, column): (u64, &Vec<u32>)| {
        let seed = derive_seed(seed, [p.to_bits(), number]);
        let givers = swap_records(column, &RankSwapSettings { p, seed }, control)?;
        Ok(givers.iter().map(|&giver| column[giver as usize]).collect())
    };
    (0..).zip(columns).map(swapped).collect()
}

/// Returns the ranks of every column. If ties are broken at random, the seed of each draw is derived from
/// `side` and the number of the column.
fn ranks_of(columns: &[Vec<u32>], ties: Ties, side: u64, control: &Control) -> Result<Vec<Vec<HalfRanks>>> {
    let of_column = |(number, column): (u64, &Vec<u32>)| match ties {
        Ties::Shared => ranks(column, ties, control),
        Ties::Random { seed } => ranks(
            column,
            Ties::Random {
                seed: derive_seed(seed, [side, number]),
            },
            control,
        ),
    };
    (0..).zip(columns).map(of_column).collect()
}

/// Derives a seed for one of many purposes.
fn derive_seed(seed: u64, purpose: [u64; 2]) -> u64 {
    let mix = |seed, part| Pcg64Mcg::seed_from_u64(seed).next_u64() ^ part;
    purpose.into_iter().fold(seed, mix)
}
