//! Distributions of distances: their quantiles, their overlap, and the one-sided Kolmogorov–Smirnov test.
//!
//! The test tells whether one sample of distances is shorter than another. Its p-value is exact for small
//! samples, asymptotic for large ones, and an upper bound (Massart 1990) if one of the distributions is
//! known: see [`PValueMethod`].

use super::HalfRanks;
use crate::{Control, Result};

/// Distribution of distances, either of records that were observed or drawn, or of all records that are
/// possible.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Distinct distances, in increasing order.
    distances: Vec<HalfRanks>,
    /// Cumulative weight of each distance: its own weight and that of all shorter distances.
    up_to: Vec<f64>,
    /// Number of records; `None` if this is not a sample but the whole distribution.
    records: Option<u64>,
}

/// Result of the one-sided Kolmogorov–Smirnov test of whether one sample of distances is shorter than
/// another.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ShorterTest {
    /// D⁺: the largest lead in cumulative share over all distances. This share of the records is nearer than
    /// the other distribution explains.
    pub statistic: f64,
    /// Probability of a statistic at least as large if both come from the same distribution.
    pub p_value: f64,
    /// Method by which the p-value was found.
    pub p_method: PValueMethod,
}

/// Method by which a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum PValueMethod {
    /// Share of the ways to deal the distances, ties included, to the two samples in which the statistic is
    /// at least as large.
    Exact,
    /// Limit of the exact p-value for many records without ties: exp(−2 D² n m / (n + m)).
    Asymptotic,
    /// Upper bound of the exact p-value for any distribution: exp(−2 n D²), or 1 if this is above one half
    /// (Massart 1990). One of the distributions must be known.
    Bound,
}

/// Shares at which quantiles are taken, in twentieths: 0, 5, 25, 50, 75, 95 and 100 %.
const TWENTIETHS: [u8; 7] = [0, 1, 5, 10, 15, 19, 20];

/// Quantiles of a distribution: see [`Distribution::quantiles`].
pub type Quantiles = [HalfRanks; TWENTIETHS.len()];

/// Index of the median in [`Quantiles`].
pub const MEDIAN: usize = 3;

/// Largest product of the two numbers of records for which the test is exact: some hundredths of a second.
const MAX_PAIRS: u64 = 20_000_000;

/// Largest number of bins. More bins say nothing more about an overlap.
const MAX_BINS: u64 = 20;

/// Number of records per bin. It limits what chance alone takes from the overlap of two samples of the same
/// distribution to about a tenth.
const RECORDS_PER_BIN: u64 = 20;

impl Distribution {
    /// Creates a sample from the distances of records, in any order.
    pub fn from_records(mut distances: Vec<HalfRanks>) -> Self {
        distances.sort_unstable();
        let alike = distances.chunk_by(|one, other| one == other);
        let counts = alike.map(|alike| (alike[0], alike.len() as f64));
        Self::new(counts, Some(distances.len() as u64))
    }

    /// Creates a sample from the number of records at each distance, starting at 0.
    pub fn from_counts(counts: &[f64]) -> Self {
        Self::new(Self::by_distance(counts), Some(counts.iter().sum::<f64>() as u64))
    }

    /// Creates a whole distribution, not a sample of it. `weights` has the probability of each distance, from
    /// 0 on, up to a common factor.
    pub fn from_weights(weights: &[f64]) -> Self {
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
        Distribution {
            distances,
            up_to,
            records,
        }
    }

    /// Returns the number of records; `None` for a whole distribution.
    pub fn records(&self) -> Option<u64> {
        self.records
    }

    fn total(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// Returns the shortest distances within which 0, 5, 25, 50, 75, 95 and 100 % of the records lie; for 0 %
    /// the shortest distance of all. Returns `None` without records.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let (&longest, total) = (self.distances.last()?, self.total());
        // Twentieths are whole numbers, so that counts are compared exactly.
        let quantile = |part: u8| {
            let short = |&up_to: &f64| 20.0 * up_to < f64::from(part) * total;
            let first = self.up_to.partition_point(short);
            self.distances.get(first).copied().unwrap_or(longest)
        };
        Some(TWENTIETHS.map(quantile))
    }

    /// Returns the part that both distributions have in common: the sum over bins of the smaller of the two
    /// shares. It is 1 for equal distributions and 0 if one ends before the other begins. Returns `None` if
    /// there are no records.
    ///
    /// Distances are grouped into bins because hardly any two are equal if there are many. Bins are cut at
    /// quantiles of the even mixture of both distributions, and equal distances are never separated. There
    /// are up to 20 bins, as many as leave 20 records of the smaller sample to each, but at least 2. Their
    /// number is even, so that the median of the mixture is a cut.
    pub fn overlap(&self, other: &Distribution) -> Option<f64> {
        if self.distances.is_empty() || other.distances.is_empty() {
            return None;
        }
        let fewest = self.records.into_iter().chain(other.records).min();
        let bins = fewest.map_or(MAX_BINS, |records| records / (2 * RECORDS_PER_BIN) * 2);
        let bins = bins.clamp(2, MAX_BINS) as f64;
        let (mut common, mut cut, mut before) = (0.0, 0.0, (0.0, 0.0));
        for shares in self.cumulative_shares(other) {
            let full_bins = ((shares.0 + shares.1) / 2.0 * bins).floor();
            if full_bins > cut {
                common += f64::min(shares.0 - before.0, shares.1 - before.1);
                (cut, before) = (full_bins, shares);
            }
        }
        Some(common.clamp(0.0, 1.0))
    }

    /// Tests whether the distances are shorter than those of another sample or distribution. Returns `None`
    /// if there are no records.
    pub fn shorter_than(&self, other: &Distribution, control: &Control) -> Result<Option<ShorterTest>> {
        if self.distances.is_empty() || other.distances.is_empty() {
            return Ok(None);
        }
        let lead = self.cumulative_shares(other).map(|(here, there)| here - there);
        let statistic = lead.fold(0.0, f64::max);
        let (p_value, p_method) = match (self.records, other.records) {
            (Some(here), Some(there)) if here.saturating_mul(there) <= MAX_PAIRS => {
                (self.exact_p_value(other, control)?, PValueMethod::Exact)
            }
            (Some(here), Some(there)) => {
                let (here, there) = (here as f64, there as f64);
                let records = here / (here + there) * there;
                (
                    (-2.0 * statistic * statistic * records).exp(),
                    PValueMethod::Asymptotic,
                )
            }
            (Some(records), None) | (None, Some(records)) => {
                let bound = (-2.0 * statistic * statistic * records as f64).exp();
                (if bound <= 0.5 { bound } else { 1.0 }, PValueMethod::Bound)
            }
            (None, None) => (if statistic > 0.0 { 0.0 } else { 1.0 }, PValueMethod::Exact),
        };
        Ok(Some(ShorterTest {
            statistic,
            p_value,
            p_method,
        }))
    }

    /// Returns the exact p-value: among all ways to deal the distances of both samples to two samples of the
    /// same sizes, the share in which the largest lead is at least the observed one.
    ///
    /// A way to deal the distances is a path over a lattice: one step, to `here` or to `there`, for each
    /// distance in increasing order. The share of the paths to a lattice point that had such a lead anywhere
    /// follows from the shares at the two points before it. The order of the steps within equal distances
    /// means nothing, so that only the points after the last of them count.
    fn exact_p_value(&self, other: &Distribution, control: &Control) -> Result<f64> {
        let (all_here, all_there) = (self.total() as usize, other.total() as usize);
        let all = all_here + all_there;
        let mut last_of_equal = vec![false; all + 1];
        let mut largest_lead = 0;
        for (here, there) in self.cumulative_weights(other) {
            let (here, there) = (here as usize, there as usize);
            last_of_equal[here + there] = true;
            largest_lead = largest_lead.max((here * all_there).saturating_sub(there * all_here));
        }
        if largest_lead == 0 {
            return Ok(1.0);
        }
        // All three are indexed by the number of steps to `here`. `before` is the share after one step less.
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

    /// Returns the cumulative shares of both at each distance that occurs in either.
    fn cumulative_shares<'a>(&'a self, other: &'a Distribution) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (here, there) = (self.total(), other.total());
        let share = move |(up_to_here, up_to_there)| (up_to_here / here, up_to_there / there);
        self.cumulative_weights(other).map(share)
    }

    /// Returns the cumulative weights of both at each distance that occurs in either.
    fn cumulative_weights<'a>(&'a self, other: &'a Distribution) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (mut here, mut there) = (0, 0);
        std::iter::from_fn(move || {
            let next = [self.distances.get(here), other.distances.get(there)];
            let distance = *next.into_iter().flatten().min()?;
            here += usize::from(next[0] == Some(&distance));
            there += usize::from(next[1] == Some(&distance));
            let up_to = |distribution: &Distribution, steps: usize| {
                steps.checked_sub(1).map_or(0.0, |last| distribution.up_to[last])
            };
            Some((up_to(self, here), up_to(other, there)))
        })
    }
}
