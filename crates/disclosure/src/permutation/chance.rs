use super::linkage::link_trees;
use super::nearest::QUESTIONS;
use super::{HalfRanks, Linkage, Points, Quantiles, Sample, Shorter, Tree};
use crate::{Control, Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// How an adversary's matches are compared with those of chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// How many random records are drawn for each original one, where all combinations are too many.
    pub draws: u32,
    /// The overlap of real and random distances that is enough for matches to be plausibly random.
    pub at_least: f64,
    /// The same seed draws the same records.
    pub seed: u64,
}

impl Default for Chance {
    fn default() -> Self {
        Chance {
            draws: 10,
            at_least: 0.8,
            seed: 1,
        }
    }
}

impl Chance {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        if self.draws == 0 {
            return Err(Error::invalid(
                "draws",
                "must be at least 1",
                "a number of random records for each original one, such as 10",
            ));
        }
        Error::check_share("at_least", self.at_least)
    }
}

/// Whether an adversary's matches are more than luck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Finding {
    /// The distances of real and random matches overlap at_least, and at none of them the real ones lead by more
    /// than that leaves: the adversary has nothing to boast of.
    PlausiblyRandom,
    /// They overlap too little, but chance alone could have made the real ones as near as they are: there
    /// are too few records to tell, or the real ones are rather farther. Also where less than two columns
    /// have different values: their combinations are the original records, and say nothing about chance.
    Undecided,
    /// Real matches are nearer than chance explains.
    BetterThanChance,
}

/// A p-value below this one is no accident.
const SIGNIFICANT: f64 = 0.05;

/// The matches of real records, beside those of random ones.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plausibility {
    /// How many random records there are.
    pub random_records: u64,
    /// Whether they are all combinations of the original values, each as often as it is likely.
    pub all_combinations: bool,
    /// Quantiles of the distances at which original records have their matches.
    pub real_distances: Quantiles,
    /// The same of random records.
    pub random_distances: Quantiles,
    /// What the distributions of both have in common: see [`Sample::overlap`].
    pub overlap: f64,
    /// Whether the distances of original records are the shorter ones.
    pub shorter: Shorter,
    /// The mean number of released records that are the match of an original one.
    pub ties: f64,
    /// How many released records are nobody's match.
    pub unlinked: u64,
    /// What follows.
    pub finding: Finding,
}

/// Compares the matches of a maximum-knowledge adversary (the paper's intruder) with those of random records (section 5
/// of the paper).
///
/// The random records have their value in each column from an original record of its own, as if the columns
/// had nothing to do with each other. They are all combinations, weighted by how likely each one is, if these
/// are not more than the records that would be drawn, or than 100,000.
pub fn plausibility(
    original: &Points,
    released: &Points,
    chance: &Chance,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, chance)?;
    control.set_total(original.len() as u64 + random.number);
    let released = Tree::new(released, control)?;
    let linkage = link_trees(&Tree::new(original, control)?, &released, control)?;
    random.compare(&linkage, &released, control)
}

/// The same for records that were [linked](super::link) before.
pub fn plausibility_of(
    linkage: &Linkage,
    original: &Points,
    released: &Points,
    chance: &Chance,
    control: &Control,
) -> Result<Plausibility> {
    let random = RandomRecords::new(original, chance)?;
    control.set_total(random.number);
    random.compare(linkage, &Tree::new(released, control)?, control)
}

/// The random records of an original: set A of the paper.
pub(super) struct RandomRecords<'a> {
    original: &'a Points,
    chance: &'a Chance,
    margins: Margins,
    /// How many they are.
    pub number: u64,
    all_combinations: bool,
}

impl<'a> RandomRecords<'a> {
    pub fn new(original: &'a Points, chance: &'a Chance) -> Result<Self> {
        chance.check()?;
        let margins = Margins::of(original);
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

    /// Compares their matches with those of the original records.
    pub fn compare(&self, linkage: &Linkage, released: &Tree, control: &Control) -> Result<Plausibility> {
        let matches = &linkage.matches;
        let real = Sample::of_records(matches.iter().map(|found| found.distance).collect());
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
            ties: matches.iter().map(|found| found.ties as f64).sum::<f64>() / matches.len() as f64,
            unlinked: linkage.unlinked,
            finding: self.finding(overlap, shorter),
        })
    }

    fn finding(&self, overlap: f64, shorter: Shorter) -> Finding {
        // Where records are few, bins are wide, and may join exact matches with what is far from exact. But two
        // distributions have no more in common than the largest difference of their shares leaves.
        let in_common = overlap.min(1.0 - shorter.statistic);
        if self.margins.columns_that_vary() < 2 {
            Finding::Undecided
        } else if in_common >= self.chance.at_least {
            Finding::PlausiblyRandom
        } else if shorter.p_value >= SIGNIFICANT {
            Finding::Undecided
        } else {
            Finding::BetterThanChance
        }
    }

    /// The distances of their matches.
    fn distances(&self, released: &Tree, control: &Control) -> Result<Sample> {
        if self.all_combinations {
            let weights = by_distance(self.number, control, |from, records| {
                self.margins
                    .distances_of_combinations(released, from, records, control)
            });
            return Ok(Sample::of_weights(&weights?));
        }
        let seeds = Pcg64Mcg::seed_from_u64(self.chance.seed);
        let counts = by_distance(self.number, control, |from, records| {
            // There may be too many chunks to keep a seed for each.
            let mut seeds = seeds.clone();
            seeds.advance(u128::from(from / CHUNK));
            let mut random = Pcg64Mcg::seed_from_u64(seeds.next_u64());
            distances_of_draws(self.original, released, records, &mut random, control)
        });
        Ok(Sample::of_counts(&counts?))
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

/// So many combinations are always taken all.
const ALWAYS_ALL: u64 = 100_000;

/// Random records that one thread looks at in one go: some milliseconds. Part of what a seed means.
const CHUNK: u64 = 1 << 12;

/// Chunks whose results are kept until they are added up, in their order, so that the sums do not depend on
/// who was first.
const WAVE: u64 = 1 << 8;

/// A distance, and how often it occurs.
type Weighted = (HalfRanks, f64);

/// The weight of every distance, from 0 on, of the matches of so many random records. `distances` finds those
/// of a chunk, given its first record and the number of its records.
fn by_distance(
    records: u64,
    control: &Control,
    distances: impl Fn(u64, u64) -> Result<Vec<Weighted>> + Sync,
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

/// The distances of the matches of records that have each of their values from an original record drawn for
/// it.
fn distances_of_draws(
    original: &Points,
    tree: &Tree,
    records: u64,
    random: &mut impl Rng,
    control: &Control,
) -> Result<Vec<Weighted>> {
    let mut column = |column: usize| -> Vec<HalfRanks> {
        let mut draw = || original.point(random.random_range(0..original.len()))[column];
        (0..records).map(|_| draw()).collect()
    };
    let columns: Vec<Vec<HalfRanks>> = (0..original.width()).map(&mut column).collect();
    // Equal records have equal matches, and neighbours need the same part of the other tree.
    let drawn = Tree::new(&Points::new(&columns), control)?;
    let mut found = Vec::with_capacity(drawn.points());
    for number in 0..drawn.points() {
        if number.is_multiple_of(QUESTIONS) {
            control.check()?;
        }
        let (place, times) = (drawn.point(number), drawn.records(number).len() as f64);
        found.extend(tree.nearest(place, place).map(|distance| (distance, times)));
    }
    Ok(found)
}

/// The different values of every column of the original, and how many records have each.
struct Margins(Vec<Vec<(HalfRanks, u32)>>);

impl Margins {
    fn of(original: &Points) -> Self {
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

    /// How many combinations there are; `None` where this is too large for a number.
    fn combinations(&self) -> Option<u64> {
        self.0
            .iter()
            .try_fold(1u64, |product, values| product.checked_mul(values.len() as u64))
    }

    /// The distances of the matches of some of the combinations, numbered so that the last column changes
    /// first, each as often as the combination occurs when every value is drawn on its own.
    fn distances_of_combinations(
        &self,
        tree: &Tree,
        from: u64,
        combinations: u64,
        control: &Control,
    ) -> Result<Vec<Weighted>> {
        let mut at: Vec<usize> = self.0.iter().map(|_| 0).collect();
        let mut rest = from;
        for (at, values) in at.iter_mut().zip(&self.0).rev() {
            *at = (rest % values.len() as u64) as usize;
            rest /= values.len() as u64;
        }
        let mut place: Vec<HalfRanks> = vec![0; at.len()];
        let mut found = Vec::with_capacity(combinations as usize);
        for number in 0..combinations as usize {
            if number.is_multiple_of(QUESTIONS) {
                control.check()?;
            }
            let mut weight = 1.0;
            for ((place, values), &at) in place.iter_mut().zip(&self.0).zip(&at) {
                let (value, records) = values[at];
                *place = value;
                // A column that has one value would only make weights too large.
                weight *= if values.len() > 1 { f64::from(records) } else { 1.0 };
            }
            found.extend(tree.nearest(&place, &place).map(|distance| (distance, weight)));
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
