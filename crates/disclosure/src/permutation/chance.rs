//! Comparison of an adversary's matches with chance (section 5 of the paper).
//!
//! Random records are made by drawing the value of each column independently from the original table, or are
//! those of a hold-out: people of the same population who are not in the released table. They are linked with
//! the released table like real records. If their matches are as near as those of the real records, a near
//! match proves nothing. The distances of both are compared by their [overlap](Distribution::overlap) and by a
//! one-sided [test](Distribution::shorter_than).

use super::kd_tree::QUERIES_PER_CHECK;
use super::linkage::link_trees;
use super::verdict::SIGNIFICANCE_LEVEL;
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
    /// Largest share of the records that an adversary may be expected to link correctly.
    pub at_most: f64,
    /// The same seed draws the same records.
    pub seed: u64,
}

impl Default for ChanceSettings {
    fn default() -> Self {
        ChanceSettings {
            draws: 10,
            at_most: 0.05,
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
        Error::check_unit_interval("at_most", self.at_most)
    }
}

/// Comparison of the matches of real records with those of random records.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plausibility {
    /// Number of original records.
    pub records: u64,
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
    /// Upper bound of the expected number of correct links, whichever records belong together: see
    /// [`Linkage::max_correct`].
    pub max_correct: f64,
    /// Upper bound of the expected number of correct links according to the test, if the random records are a
    /// hold-out: see [`unnoticed_share`].
    pub holdout_bound: Option<f64>,
}

/// Compares the matches of a maximum-knowledge adversary (the paper's intruder) with those of random records.
///
/// Without a `holdout`, each value of a random record comes from an original record drawn for this value alone,
/// as if the columns were independent. If there are at most 100,000 combinations, or at most as many as records
/// would be drawn, all combinations are used instead, each weighted by its probability. The points of a hold-out
/// are those of [`holdout_points`](super::holdout_points).
pub fn plausibility(
    original: &Points,
    released: &Points,
    holdout: Option<&Points>,
    chance: &ChanceSettings,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, holdout, chance)?;
    control.set_total(original.len() as u64 + random.number);
    let released = KdTree::new(released, control)?;
    let linkage = link_trees(&KdTree::new(original, control)?, &released, control)?;
    random.compare(&linkage, &released, control)
}

/// Compares matches with chance like [`plausibility`], for records that were [linked](super::link) before.
pub fn plausibility_of_linkage(
    linkage: &Linkage,
    [original, released]: [&Points; 2],
    holdout: Option<&Points>,
    chance: &ChanceSettings,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, holdout, chance)?;
    control.set_total(random.number);
    random.compare(linkage, &KdTree::new(released, control)?, control)
}

/// Random records with which the original ones are compared: set A of the paper.
pub(super) struct RandomRecords<'a> {
    original: &'a Points,
    chance: &'a ChanceSettings,
    source: Source<'a>,
    /// Number of random records.
    pub number: u64,
}

/// Where random records come from.
enum Source<'a> {
    /// All combinations of the original values.
    Combinations(Margins),
    /// Draws of the original values.
    Draws,
    /// People who are not in the released table.
    Holdout(&'a Points),
}

impl<'a> RandomRecords<'a> {
    pub fn new(
        original: &'a Points,
        holdout: Option<&'a Points>,
        chance: &'a ChanceSettings,
    ) -> Result<Self> {
        chance.check()?;
        let drawn = u64::from(chance.draws).saturating_mul(original.len() as u64);
        let (source, number) = match holdout {
            Some(holdout) => (Source::Holdout(holdout), holdout.len() as u64),
            None => {
                let margins = Margins::new(original);
                let combinations = margins.combinations();
                match combinations.filter(|&number| number <= drawn.max(ALWAYS_ALL)) {
                    Some(number) => (Source::Combinations(margins), number),
                    None => (Source::Draws, drawn),
                }
            }
        };
        Ok(RandomRecords {
            original,
            chance,
            source,
            number,
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
            return Err(self.no_records());
        };
        let records = matches.len() as u64;
        Ok(Plausibility {
            records,
            random_records: self.number,
            all_combinations: matches!(self.source, Source::Combinations(_)),
            real_distances,
            random_distances,
            overlap,
            shorter,
            mean_matches: matches.iter().map(|found| found.count as f64).sum::<f64>() / records as f64,
            unlinked: linkage.unlinked,
            max_correct: linkage.max_correct(),
            holdout_bound: matches!(self.source, Source::Holdout(_))
                .then(|| records as f64 * unnoticed_share(shorter.statistic, [records, self.number])),
        })
    }

    /// Returns the distances of the random records' matches.
    fn distances(&self, released: &KdTree, control: &Control) -> Result<Distribution> {
        match &self.source {
            Source::Combinations(margins) => {
                let weights = sum_by_distance(self.number, control, |from, records| {
                    margins.distances_of_combinations(released, from, records, control)
                });
                Ok(Distribution::from_weights(&weights?))
            }
            Source::Draws => {
                let seeds = Pcg64Mcg::seed_from_u64(self.chance.seed);
                let counts = sum_by_distance(self.number, control, |from, records| {
                    // There may be too many chunks to store a seed for each. Skipping ahead finds the seed of
                    // this chunk.
                    let mut seeds = seeds.clone();
                    seeds.advance(u128::from(from / CHUNK));
                    let mut random = Pcg64Mcg::seed_from_u64(seeds.next_u64());
                    distances_of_draws(self.original, released, records, &mut random, control)
                });
                Ok(Distribution::from_counts(&counts?))
            }
            Source::Holdout(holdout) => {
                let counts = sum_by_distance(self.number, control, |from, records| {
                    // There are no more records than a `u32` can count.
                    let chunk: Vec<u32> = (from as u32..(from + records) as u32).collect();
                    distances_of_points(&holdout.select(&chunk), released, control)
                });
                Ok(Distribution::from_counts(&counts?))
            }
        }
    }

    fn no_records(&self) -> Error {
        let argument = match self.source {
            _ if self.original.is_empty() => "original",
            Source::Holdout(holdout) if holdout.is_empty() => "holdout",
            _ => "released",
        };
        Error::invalid(argument, "has no records", "a table with at least one record")
    }
}

/// Returns the largest share of the records that may be linked correctly although the test has found no more
/// than `statistic`, with 95 % confidence. The two numbers are those of the original and of the hold-out records.
///
/// Let F be the distribution of the distance between a person outside the released table and its nearest
/// record, and G that of the distance between a person inside and their own record. If the two distances of a
/// person are independent, then the nearest record is within t with probability 1 − (1 − F)(1 − G), so that the
/// statistic estimates D = max (1 − F) G. A link is correct with probability ∫ (1 − F) dG = ∫ G dF. Because
/// G ≤ min(1, D / (1 − F)), this is at most ∫ min(1, D / v) dv = D (1 − ln D), v from 0 to 1. D exceeds the
/// statistic by at most the two margins of Dvoretzky, Kiefer, Wolfowitz and Massart (1990) at 2.5 % each.
pub fn unnoticed_share(statistic: f64, records: [u64; 2]) -> f64 {
    let margin = |records: u64| ((2.0 / SIGNIFICANCE_LEVEL).ln() / (2.0 * records as f64)).sqrt();
    let largest = (statistic + margin(records[0]) + margin(records[1])).min(1.0);
    largest * (1.0 - largest.ln())
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
    distances_of_points(&Points::new(&columns), tree, control)
}

/// Returns the distances of the matches of records.
fn distances_of_points(records: &Points, tree: &KdTree, control: &Control) -> Result<Vec<WeightedDistance>> {
    // Equal records are looked up only once in a tree, and neighbours, which need the same part of `tree`,
    // follow each other.
    let drawn = KdTree::new(records, control)?;
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
