//! What an adversary believes about the frequencies of the items (Lakshmanan et al. 2008).
//!
//! A belief has one interval of transaction counts per item. It is either centred on the true frequencies,
//! with a [`Width`], or given as a list of intervals. [`Belief::space`] turns it into the space of the crack
//! mappings that are consistent with it.

use super::{CrackSpace, Frequencies};
use crate::{Error, Result};

/// An adversary's belief: for every item, an interval that contains its frequency if the adversary is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief {
    intervals: Vec<Interval>,
}

/// Interval of transaction counts, both ends included. Counts are compared instead of frequencies, with a
/// margin of [`COUNT_MARGIN`], so that a belief of 0.3 ± 0.1 contains the frequency 0.4 despite floating-point
/// rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

/// Half the width of a belief: the distance from the true frequency to either end of the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// A share of all transactions; 0 is the point-valued belief.
    Share(f64),
    /// The median gap between successive frequency groups.
    Median,
    /// The mean gap between successive frequency groups.
    Mean,
    /// The whole range, because the adversary knows nothing: the ignorant belief.
    Ignorant,
}

impl Width {
    /// Checks that a share is between 0 and 1.
    pub fn check(self) -> Result<()> {
        match self {
            Width::Share(share) => Error::check_unit_interval("width", share),
            Width::Median | Width::Mean | Width::Ignorant => Ok(()),
        }
    }

    /// Returns the width as a share of all transactions; 0 for a gap if there is only one frequency group.
    pub fn share(self, frequencies: &Frequencies) -> Result<f64> {
        self.check()?;
        let gaps = frequencies.gaps();
        Ok(match self {
            Width::Share(share) => share,
            Width::Median => gaps.map_or(0.0, |gaps| gaps.median),
            Width::Mean => gaps.map_or(0.0, |gaps| gaps.mean),
            Width::Ignorant => 1.0,
        })
    }
}

/// Margin added to both ends of an interval, because a share times the number of transactions may miss a
/// whole number by rounding.
const COUNT_MARGIN: f64 = 1e-6;

impl Belief {
    /// Returns the belief that contains the true frequency of every item ± `width`.
    pub fn around(frequencies: &Frequencies, width: Width) -> Result<Self> {
        let reach = width.share(frequencies)? * frequencies.transactions() as f64;
        let around = |&count: &u64| Interval::new(count as f64 - reach, count as f64 + reach);
        Ok(Belief {
            intervals: frequencies.counts().iter().map(around).collect(),
        })
    }

    /// Returns the belief with these intervals of frequencies, low and high, one per item; `None` if the
    /// adversary knows nothing about the item.
    pub fn from_intervals(frequencies: &Frequencies, intervals: &[Option<(f64, f64)>]) -> Self {
        let transactions = frequencies.transactions() as f64;
        let of_item = |interval: &Option<(f64, f64)>| {
            let (low, high) = interval.unwrap_or((0.0, 1.0));
            Interval::new(low * transactions, high * transactions)
        };
        Belief {
            intervals: intervals.iter().map(of_item).collect(),
        }
    }

    /// Returns whether the belief about an item is true.
    pub fn holds(&self, frequencies: &Frequencies, item: usize) -> bool {
        self.intervals[item].holds(frequencies.counts()[item])
    }

    /// Intersects the beliefs about two items that are known to occur together nearly always (Fig. 24).
    /// Changes nothing if the intersection is empty.
    pub fn refine(&mut self, one: usize, other: usize) {
        let (a, b) = (self.intervals[one], self.intervals[other]);
        let common = Interval {
            low: a.low.max(b.low),
            high: a.high.min(b.high),
        };
        if common.low <= common.high {
            self.intervals[one] = common;
            self.intervals[other] = common;
        }
    }

    /// Returns the space of the crack mappings that are consistent with the belief.
    pub fn space(&self, frequencies: &Frequencies) -> CrackSpace {
        let counts = frequencies.group_counts();
        let candidates = self.intervals.iter().map(|interval| {
            let first = counts.partition_point(|&count| (count as f64) < interval.low);
            let end = counts.partition_point(|&count| count as f64 <= interval.high);
            first as u32..end.max(first) as u32
        });
        CrackSpace::new(frequencies, candidates)
    }
}

impl Interval {
    fn new(low: f64, high: f64) -> Self {
        Interval {
            low: low - COUNT_MARGIN,
            high: high + COUNT_MARGIN,
        }
    }

    fn holds(&self, count: u64) -> bool {
        (self.low..=self.high).contains(&(count as f64))
    }
}
