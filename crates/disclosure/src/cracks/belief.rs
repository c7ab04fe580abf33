use super::{CrackSpace, Frequencies};
use crate::{Error, Result};

/// What the adversary believes: for every item an interval that its frequency lies in.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief {
    intervals: Vec<Interval>,
}

/// Counts of transactions, both ends included. They are what is compared, so that a belief of ± 0.1 about
/// 0.3 holds the frequency 0.4, whatever floating point makes of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

/// How far the frequency may be from what the adversary believes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// A share of all transactions; 0 is the point-valued belief.
    Share(f64),
    /// The median gap between successive frequency groups.
    Median,
    /// The mean gap.
    Mean,
    /// Nothing is known: the ignorant belief.
    Ignorant,
}

impl Width {
    /// Checks that a share is one.
    pub fn check(self) -> Result<()> {
        match self {
            Width::Share(share) => Error::check_share("width", share),
            Width::Median | Width::Mean | Width::Ignorant => Ok(()),
        }
    }

    /// As a share of all transactions. Where a single group has no gaps, 0.
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

/// Shares become counts by a multiplication, which may miss a whole number by this much.
const ROUNDING: f64 = 1e-6;

impl Belief {
    /// The true frequency of every item, give or take `width`.
    pub fn around(frequencies: &Frequencies, width: Width) -> Result<Self> {
        let reach = width.share(frequencies)? * frequencies.transactions() as f64;
        let around = |&count: &u64| Interval::new(count as f64 - reach, count as f64 + reach);
        Ok(Belief {
            intervals: frequencies.counts().iter().map(around).collect(),
        })
    }

    /// For every item an interval of frequencies, low and high; `None` where the adversary knows nothing.
    pub fn of_intervals(frequencies: &Frequencies, intervals: &[Option<(f64, f64)>]) -> Self {
        let transactions = frequencies.transactions() as f64;
        let of_item = |interval: &Option<(f64, f64)>| {
            let (low, high) = interval.unwrap_or((0.0, 1.0));
            Interval::new(low * transactions, high * transactions)
        };
        Belief {
            intervals: intervals.iter().map(of_item).collect(),
        }
    }

    /// Whether the belief about an item is true.
    pub fn holds(&self, frequencies: &Frequencies, item: usize) -> bool {
        self.intervals[item].holds(frequencies.counts()[item])
    }

    /// Knowing that two items nearly always occur together, believe of both what is believed of either
    /// (Fig. 24); where that contradicts, nothing changes.
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

    /// The crack mappings that are consistent with the belief.
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
            low: low - ROUNDING,
            high: high + ROUNDING,
        }
    }

    fn holds(&self, count: u64) -> bool {
        (self.low..=self.high).contains(&(count as f64))
    }
}
