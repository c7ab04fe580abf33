use super::HalfRanks;
use crate::{Control, Result};

/// How distances are distributed: over records that were observed or drawn, or over all that could be.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The different distances, increasing.
    distances: Vec<HalfRanks>,
    /// The weight of this distance and all shorter ones.
    up_to: Vec<f64>,
    /// How many records there are; `None` where this is not a sample but the whole distribution.
    records: Option<u64>,
}

/// Whether one sample of distances is shorter than another: the one-sided test of Kolmogorov and Smirnov.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shorter {
    /// The largest difference of the shares that are at any distance or nearer, D⁺: so many of the records
    /// are nearer than the others explain.
    pub statistic: f64,
    /// How likely a statistic as large as this one is if both come from the same distribution.
    pub p_value: f64,
    /// What the p-value is worth.
    pub p_is: PValue,
}

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum PValue {
    /// The share of all ways to deal the distances, ties included, to the two samples.
    Exact,
    /// What the exact one approaches when there are many records and no ties: exp(−2 D² n m / (n + m)).
    Asymptotic,
    /// Not below the exact one, whatever the distribution: exp(−2 n D²), or 1 where this is above a half
    /// (Massart 1990). Needs one of the distributions to be known.
    Bound,
}

/// The shares at which quantiles are taken, in twentieths: 0, 5, 25, 50, 75, 95 and 100 %.
const TWENTIETHS: [u8; 7] = [0, 1, 5, 10, 15, 19, 20];

/// Quantiles of a distribution: see [`Sample::quantiles`].
pub type Quantiles = [HalfRanks; TWENTIETHS.len()];

/// Which of the quantiles is the median.
pub const MEDIAN: usize = 3;

/// The product of the numbers of records up to which the test is exact: some hundredths of a second.
const MOST_PAIRS: u64 = 20_000_000;

/// More bins say nothing more about an overlap.
const MOST_BINS: u64 = 20;

/// With so many records per bin, what chance alone takes from the overlap of two samples of the same
/// distribution stays about a tenth.
const RECORDS_PER_BIN: u64 = 20;

impl Sample {
    /// The distances of records, in any order.
    pub fn of_records(mut distances: Vec<HalfRanks>) -> Self {
        distances.sort_unstable();
        let alike = distances.chunk_by(|one, other| one == other);
        let counts = alike.map(|alike| (alike[0], alike.len() as f64));
        Self::new(counts, Some(distances.len() as u64))
    }

    /// `counts` has how many records are at each distance, from 0 on.
    pub fn of_counts(counts: &[f64]) -> Self {
        Self::new(Self::by_distance(counts), Some(counts.iter().sum::<f64>() as u64))
    }

    /// The distribution itself, not a sample of it: `weights` has how likely each distance is, from 0 on, up
    /// to a common factor.
    pub fn of_weights(weights: &[f64]) -> Self {
        Self::new(Self::by_distance(weights), None)
    }

    fn by_distance(weights: &[f64]) -> impl Iterator<Item = (HalfRanks, f64)> + '_ {
        (0..).zip(weights.iter().copied())
    }

    fn new(weights: impl Iterator<Item = (HalfRanks, f64)>, records: Option<u64>) -> Self {
        let mut sum = 0.0;
        let up_to = weights
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(distance, weight)| {
                sum += weight;
                (distance, sum)
            });
        let (distances, up_to) = up_to.unzip();
        Sample {
            distances,
            up_to,
            records,
        }
    }

    /// How many records there are; `None` for a distribution that is known as a whole.
    pub fn records(&self) -> Option<u64> {
        self.records
    }

    fn total(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// The shortest distance within which there are 0, 5, 25, 50, 75, 95 and 100 % of the records; for 0 %
    /// the shortest of all. `None` without records.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let (&longest, total) = (self.distances.last()?, self.total());
        // In twentieths, as counts then are compared exactly.
        let quantile = |part: u8| {
            let short = |&up_to: &f64| 20.0 * up_to < f64::from(part) * total;
            let first = self.up_to.partition_point(short);
            self.distances.get(first).copied().unwrap_or(longest)
        };
        Some(TWENTIETHS.map(quantile))
    }

    /// The part of both distributions that they have in common: the sum over bins of the smaller one of the
    /// two shares. 1 for equal distributions, 0 where one ends before the other begins; `None` where there
    /// are no records.
    ///
    /// The distances are cut into bins at quantiles of the even mixture of both, as hardly any two are equal
    /// where there are many; equal ones are never parted. There are up to 20 bins, as many as leave 20
    /// records of the smaller sample to each, but an even number, for the median of the mixture to be a
    /// cut.
    pub fn overlap(&self, other: &Sample) -> Option<f64> {
        if self.distances.is_empty() || other.distances.is_empty() {
            return None;
        }
        let fewest = self.records.into_iter().chain(other.records).min();
        let bins = fewest.map_or(MOST_BINS, |records| records / (2 * RECORDS_PER_BIN) * 2);
        let bins = bins.clamp(2, MOST_BINS) as f64;
        let (mut common, mut cut, mut before) = (0.0, 0.0, (0.0, 0.0));
        for shares in self.shares(other) {
            let full_bins = ((shares.0 + shares.1) / 2.0 * bins).floor();
            if full_bins > cut {
                common += f64::min(shares.0 - before.0, shares.1 - before.1);
                (cut, before) = (full_bins, shares);
            }
        }
        Some(common.clamp(0.0, 1.0))
    }

    /// Whether the distances are shorter than those of another sample, or of a distribution. `None` where
    /// there are no records.
    pub fn shorter_than(&self, other: &Sample, control: &Control) -> Result<Option<Shorter>> {
        if self.distances.is_empty() || other.distances.is_empty() {
            return Ok(None);
        }
        let lead = self.shares(other).map(|(here, there)| here - there);
        let statistic = lead.fold(0.0, f64::max);
        let (p_value, p_is) = match (self.records, other.records) {
            (Some(here), Some(there)) if here.saturating_mul(there) <= MOST_PAIRS => {
                (self.share_of_dealings(other, control)?, PValue::Exact)
            }
            (Some(here), Some(there)) => {
                let (here, there) = (here as f64, there as f64);
                let records = here / (here + there) * there;
                ((-2.0 * statistic * statistic * records).exp(), PValue::Asymptotic)
            }
            (Some(records), None) | (None, Some(records)) => {
                let bound = (-2.0 * statistic * statistic * records as f64).exp();
                (if bound <= 0.5 { bound } else { 1.0 }, PValue::Bound)
            }
            (None, None) => (if statistic > 0.0 { 0.0 } else { 1.0 }, PValue::Exact),
        };
        Ok(Some(Shorter {
            statistic,
            p_value,
            p_is,
        }))
    }

    /// Of all ways to deal the distances of both samples to samples of these sizes, the share in which the
    /// largest lead is at least what it is here.
    ///
    /// A way to deal them is a path over a lattice: a step to `here` or to `there` for every distance in
    /// increasing order. The share of the paths to a point that led by so much somewhere follows from the
    /// shares at the two points before it. Within equal distances the order of the steps means nothing, so
    /// that only the points after the last of them count.
    fn share_of_dealings(&self, other: &Sample, control: &Control) -> Result<f64> {
        let (all_here, all_there) = (self.total() as usize, other.total() as usize);
        let all = all_here + all_there;
        let mut last_of_equal = vec![false; all + 1];
        let mut largest_lead = 0;
        for (here, there) in self.weights(other) {
            let (here, there) = (here as usize, there as usize);
            last_of_equal[here + there] = true;
            largest_lead = largest_lead.max((here * all_there).saturating_sub(there * all_here));
        }
        if largest_lead == 0 {
            return Ok(1.0);
        }
        // By the number of steps to `here`, after so many steps in all.
        let steps_here: Vec<f64> = (0..=all_here).map(|here| here as f64).collect();
        let (mut before, mut share) = (vec![0.0; all_here + 1], vec![0.0; all_here + 1]);
        for (steps, &is_last) in last_of_equal.iter().enumerate().skip(1) {
            control.check()?;
            let (least, most) = (steps.saturating_sub(all_there), steps.min(all_here));
            share[0] = before[0];
            let first = least.max(1);
            let from = before[first - 1..most].iter().zip(&before[first..=most]);
            let points = share[first..=most].iter_mut().zip(&steps_here[first..=most]);
            for ((share, here), (from_here, from_there)) in points.zip(from) {
                *share = (here * from_here + (steps as f64 - here) * from_there) / steps as f64;
            }
            if is_last {
                let leading = (largest_lead + steps * all_here).div_ceil(all).max(least);
                share[leading.min(most + 1)..=most].fill(1.0);
            }
            std::mem::swap(&mut before, &mut share);
        }
        Ok(before[all_here])
    }

    /// The shares of both at every distance of either, or nearer.
    fn shares<'a>(&'a self, other: &'a Sample) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (here, there) = (self.total(), other.total());
        let share = move |(up_to_here, up_to_there)| (up_to_here / here, up_to_there / there);
        self.weights(other).map(share)
    }

    /// The weights of both at every distance of either, or nearer.
    fn weights<'a>(&'a self, other: &'a Sample) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (mut here, mut there) = (0, 0);
        std::iter::from_fn(move || {
            let next = [self.distances.get(here), other.distances.get(there)];
            let distance = *next.into_iter().flatten().min()?;
            here += usize::from(next[0] == Some(&distance));
            there += usize::from(next[1] == Some(&distance));
            let up_to =
                |sample: &Sample, steps: usize| steps.checked_sub(1).map_or(0.0, |last| sample.up_to[last]);
            Some((up_to(self, here), up_to(other, there)))
        })
    }
}
