//! Comparison of an adversary's matches with chance (section 5 of the paper).
//!
//! Random records are made by drawing the value of each column independently from the original table. They
//! are linked with the released table like real records. If their matches are as near as those of the real
//! records, a near match proves nothing. The distances of both are compared by their
//! [overlap](Distribution::overlap) and by a one-sided [test](Distribution::shorter_than).

use super::kd_tree::QUERIES_PER_CHECK;
use super::linkage::link_trees;
use super::{Distribution, HalfRanks, KdTree, Linkage, Points, Quantiles, ShorterTest};
use crate::{Control, Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// Settings of the comparison of an adversary's matches with chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChanceSettings {
    /// Number of random records drawn for each original one, if there are too many combinations to use them
    /// all.
    pub draws: u32,
    /// Smallest overlap of real and random distances that makes matches plausibly random.
    pub at_least: f64,
    /// The same seed draws the same records.
    pub seed: u64,
}

impl Default for ChanceSettings {
    fn default() -> Self {
        ChanceSettings {
            draws: 10,
            at_least: 0.8,
            seed: 1,
        }
    }
}

impl ChanceSettings {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        if self.draws == 0 {
            return Err(Error::invalid(
                "draws",
                "must be at least 1",
                "the number of random records per original record, such as 10",
            ));
        }
        Error::check_unit_interval("at_least", self.at_least)
    }
}

/// Conclusion on whether an adversary's matches are better than chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Finding {
    /// The distances of real and random matches overlap by at least [`ChanceSettings::at_least`], and at no
    /// distance is the cumulative share of real matches ahead by more than 1 − `at_least`. A near match
    /// proves nothing.
    PlausiblyRandom,
    /// The distances overlap too little, but chance alone could have made the real ones as short as they are:
    /// there are too few records to tell, or the real matches are even farther away than the random ones.
    /// Also the finding if fewer than two columns have different values: the combinations are then the
    /// original records themselves and say nothing about chance.
    Undecided,
    /// Real matches are nearer than chance explains.
    BetterThanChance,
}

/// Significance level: p-values below it are not explained by chance.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// Comparison of the matches of real records with those of random records.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plausibility {
    /// Number of random records.
    pub random_records: u64,
    /// Whether the random records are all combinations of the original values, each weighted by its
    /// probability.
    pub all_combinations: bool,
    /// Quantiles of the distances between original records and their matches.
    pub real_distances: Quantiles,
    /// Quantiles of the distances between random records and their matches.
    pub random_distances: Quantiles,
    /// Common part of both distributions of distances: see [`Distribution::overlap`].
    pub overlap: f64,
    /// Test of whether the distances of original records are shorter.
    pub shorter: ShorterTest,
    /// Mean number of matches of an original record.
    pub mean_matches: f64,
    /// Number of released records that are not the match of any original record.
    pub unlinked: u64,
    /// Conclusion from the overlap and the test.
    pub finding: Finding,
}

/// Compares the matches of a maximum-knowledge adversary (the paper's intruder) with those of random records.
///
/// Each value of a random record comes from an original record drawn for this value alone, as if the columns
/// were independent. If there are at most 100,000 combinations, or at most as many as records would be drawn,
/// all combinations are used instead, each weighted by its probability.
pub fn plausibility(
    original: &Points,
    released: &Points,
    chance: &ChanceSettings,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, chance)?;
    control.set_total(original.len() as u64 + random.number);
    let released = KdTree::new(released, control)?;
    let linkage = link_trees(&KdTree::new(original, control)?, &released, control)?;
    random.compare(&linkage, &released, control)
}

/// Compares matches with chance like [`plausibility`], for records that were [linked](super::link) before.
pub fn plausibility_of_linkage(
    linkage: &Linkage,
    original: &Points,
    released: &Points,
    chance: &ChanceSettings,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, chance)?;
    control.set_total(random.number);
    random.compare(linkage, &KdTree::new(released, control)?, control)
}

/// Random records made from the values of an original table: set A of the paper.
pub(super) struct RandomRecords<'a> {
    original: &'a Points,
    chance: &'a ChanceSettings,
    margins: Margins,
    /// Number of random records.
    pub number: u64,
    all_combinations: bool,
}

impl<'a> RandomRecords<'a> {
    pub fn new(original: &'a Points, chance: &'a ChanceSettings) -> Result<Self> {
        chance.check()?;
        let margins = Margins::new(original);
        let drawn = u64::from(chance.draws).saturating_mul(original.len() as u64);
        let combinations = margins.combinations();
        let all = combinations.filter(|&number| number <= drawn.max(ALWAYS_ALL));
        Ok(RandomRecords {
            original,
            chance,
            margins,
            number: all.unwrap_or(drawn),
            all_combinations: all.is_some(),
        })
    }

    /// Compares the matches of the random records with those of the original records.
    pub fn compare(&self, linkage: &Linkage, released: &KdTree, control: &Control) -> Result<Plausibility> {
        let matches = &linkage.matches;
        let real = Distribution::from_records(matches.iter().map(|found| found.distance).collect());
        let random = self.distances(released, control)?;
        let compared = (real.quantiles(), random.quantiles(), real.overlap(&random));
        let shorter = real.shorter_than(&random, control)?;
        let ((Some(real_distances), Some(random_distances), Some(overlap)), Some(shorter)) =
            (compared, shorter)
        else {
            return Err(no_records(self.original));
        };
        Ok(Plausibility {
            random_records: self.number,
            all_combinations: self.all_combinations,
            real_distances,
            random_distances,
            overlap,
            shorter,
            mean_matches: matches.iter().map(|found| found.count as f64).sum::<f64>() / matches.len() as f64,
            unlinked: linkage.unlinked,
            finding: self.finding(overlap, shorter),
        })
    }

    fn finding(&self, overlap: f64, shorter: ShorterTest) -> Finding {
        // If there are few records, bins are wide and may hold both exact matches and distant ones. But two
        // distributions have no more in common than 1 minus the largest difference of their cumulative
        // shares.
        let in_common = overlap.min(1.0 - shorter.statistic);
        if self.margins.columns_that_vary() < 2 {
            Finding::Undecided
        } else if in_common >= self.chance.at_least {
            Finding::PlausiblyRandom
        } else if shorter.p_value >= SIGNIFICANCE_LEVEL {
            Finding::Undecided
        } else {
            Finding::BetterThanChance
        }
    }

    /// Returns the distances of the random records' matches.
    fn distances(&self, released: &KdTree, control: &Control) -> Result<Distribution> {
        if self.all_combinations {
            let weights = sum_by_distance(self.number, control, |from, records| {
                self.margins
                    .distances_of_combinations(released, from, records, control)
            });
            return Ok(Distribution::from_weights(&weights?));
        }
        let seeds = Pcg64Mcg::seed_from_u64(self.chance.seed);
        let counts = sum_by_distance(self.number, control, |from, records| {
            // There may be too many chunks to store a seed for each. Skipping ahead finds the seed of this
            // chunk.
            let mut seeds = seeds.clone();
            seeds.advance(u128::from(from / CHUNK));
            let mut random = Pcg64Mcg::seed_from_u64(seeds.next_u64());
            distances_of_draws(self.original, released, records, &mut random, control)
        });
        Ok(Distribution::from_counts(&counts?))
    }
}

fn no_records(original: &Points) -> Error {
    Error::invalid(
        if original.is_empty() {
            "original"
        } else {
            "released"
        },
        "has no records",
        "a table with at least one record",
    )
}

/// Number of combinations up to which all of them are always used.
const ALWAYS_ALL: u64 = 100_000;

/// Number of random records that one thread handles at a time: some milliseconds of work. The records that a
/// seed draws depend on this number.
const CHUNK: u64 = 1 << 12;

/// Number of chunks whose results are kept until they are added up. They are added in order, so that the sums
/// do not depend on which thread finishes first.
const WAVE: u64 = 1 << 8;

/// A distance and how often it occurs.
type WeightedDistance = (HalfRanks, f64);

/// Returns the weight of every distance, starting at 0, over the matches of `records` random records. `distances`
/// returns the distances of one chunk, given the number of its first record and its number of records.
fn sum_by_distance(
    records: u64,
    control: &Control,
    distances: impl Fn(u64, u64) -> Result<Vec<WeightedDistance>> + Sync,
) -> Result<Vec<f64>> {
    let chunks = records.div_ceil(CHUNK);
    let mut weights: Vec<f64> = Vec::new();
    for wave in (0..chunks).step_by(WAVE as usize) {
        let found = (wave..chunks.min(wave + WAVE)).into_par_iter().map(|chunk| {
            let start = chunk * CHUNK;
            let of_chunk = CHUNK.min(records - start);
            let found = distances(start, of_chunk);
            control.advance(of_chunk);
            found
        });
        for (distance, weight) in found.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            let distance = distance as usize;
            if distance >= weights.len() {
                weights.resize(distance + 1, 0.0);
            }
            weights[distance] += weight;
        }
    }
    Ok(weights)
}

/// Returns the distances of the matches of random records. Each value of a random record comes from an
/// original record drawn for this value alone.
fn distances_of_draws(
    original: &Points,
    tree: &KdTree,
    records: u64,
    random: &mut impl Rng,
    control: &Control,
) -> Result<Vec<WeightedDistance>> {
    let mut column = |column: usize| -> Vec<HalfRanks> {
        let mut draw = || original.point(random.random_range(0..original.len()))[column];
        (0..records).map(|_| draw()).collect()
    };
    let columns: Vec<Vec<HalfRanks>> = (0..original.width()).map(&mut column).collect();
    // Equal records are looked up only once in a tree, and neighbours, which need the same part of `tree`,
    // follow each other.
    let drawn = KdTree::new(&Points::new(&columns), control)?;
    let mut found = Vec::with_capacity(drawn.points());
    for number in 0..drawn.points() {
        if number.is_multiple_of(QUERIES_PER_CHECK) {
            control.check()?;
        }
        let (point, times) = (drawn.point(number), drawn.records(number).len() as f64);
        found.extend(tree.nearest(point, point).map(|distance| (distance, times)));
    }
    Ok(found)
}

/// Distinct values of every column of the original, each with the number of records that have it.
struct Margins(Vec<Vec<(HalfRanks, u32)>>);

impl Margins {
    fn new(original: &Points) -> Self {
        let of_column = |column: usize| {
            let mut values: Vec<HalfRanks> = original.iter().map(|point| point[column]).collect();
            values.sort_unstable();
            let equal = values.chunk_by(|one, other| one == other);
            equal.map(|equal| (equal[0], equal.len() as u32)).collect()
        };
        Margins((0..original.width()).into_par_iter().map(of_column).collect())
    }

    fn columns_that_vary(&self) -> usize {
        self.0.iter().filter(|values| values.len() > 1).count()
    }

    /// Returns the number of combinations; `None` if it does not fit into a `u64`.
    fn combinations(&self) -> Option<u64> {
        self.0
            .iter()
            .try_fold(1u64, |product, values| product.checked_mul(values.len() as u64))
    }

    /// Returns the distances of the matches of some combinations. The combinations are numbered so that the
    /// last column changes fastest. Each distance is weighted by how often its combination occurs if every
    /// value is drawn independently.
    fn distances_of_combinations(
        &self,
        tree: &KdTree,
        from: u64,
        combinations: u64,
        control: &Control,
    ) -> Result<Vec<WeightedDistance>> {
        let mut at: Vec<usize> = self.0.iter().map(|_| 0).collect();
        let mut rest = from;
        for (at, values) in at.iter_mut().zip(&self.0).rev() {
            *at = (rest % values.len() as u64) as usize;
            rest /= values.len() as u64;
        }
        let mut point: Vec<HalfRanks> = vec![0; at.len()];
        let mut found = Vec::with_capacity(combinations as usize);
        for number in 0..combinations as usize {
            if number.is_multiple_of(QUERIES_PER_CHECK) {
                control.check()?;
            }
            let mut weight = 1.0;
            for ((coordinate, values), &at) in point.iter_mut().zip(&self.0).zip(&at) {
                let (value, records) = values[at];
                *coordinate = value;
                // A column with a single value would only make the weights unnecessarily large.
                weight *= if values.len() > 1 { f64::from(records) } else { 1.0 };
            }
            found.extend(tree.nearest(&point, &point).map(|distance| (distance, weight)));
            for (at, values) in at.iter_mut().zip(&self.0).rev() {
                *at = (*at + 1) % values.len();
                if *at > 0 {
                    break;
                }
            }
        }
        Ok(found)
    }
}
