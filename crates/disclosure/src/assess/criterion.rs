//! A limit of a measure, and whether what was measured keeps to it.

use super::measure::{Limits, Measure};
use crate::figures::ColumnFigure;
use crate::{Error, Result};

/// A measure and its limit. Without a limit, the measure is shown and not judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// What is measured.
    pub measure: Measure,
    /// Smallest value that is allowed.
    pub at_least: Option<f64>,
    /// Largest value that is allowed.
    pub at_most: Option<f64>,
}

/// What is known of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measured {
    /// The value lies between these two, which are equal if it is exact.
    Between {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// There is nothing that the criterion could protect, for example no row.
    Nothing,
    /// The value is not known.
    Unknown,
}

impl Measured {
    /// Returns an exact value.
    pub fn exactly(value: f64) -> Self {
        Measured::Between {
            lower: value,
            upper: value,
        }
    }
}

/// Whether a criterion is met. The worst verdict comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The criterion is not met.
    Unsafe,
    /// It is not known whether the criterion is met.
    Unknown,
    /// The criterion is met.
    Safe,
}

impl Criterion {
    /// Checks that the measure can have this limit.
    pub fn check(&self) -> Result<()> {
        let invalid = |argument, problem, allowed| Err(Error::invalid(argument, problem, allowed));
        let is_number = |limit: f64| limit.is_finite() && limit >= 0.0;
        match (self.measure.limits(), self.at_least, self.at_most) {
            (_, Some(_), Some(_)) => invalid(
                "at_least",
                "must be left out if at_most is given",
                "one of at_least and at_most",
            ),
            (Limits::Smallest, None, Some(_)) => invalid(
                "at_most",
                "must be left out, because a larger value of this measure is safer",
                "at_least",
            ),
            (Limits::LargestShare | Limits::Largest, Some(_), None) => invalid(
                "at_least",
                "must be left out, because a smaller value of this measure is safer",
                "at_most",
            ),
            (_, Some(limit), None) if !is_number(limit) => {
                invalid("at_least", "is not a valid limit", "a number of 0 or more")
            }
            (Limits::LargestShare, _, Some(limit)) if !(0.0..=1.0).contains(&limit) => invalid(
                "at_most",
                "is not a valid limit of this measure",
                "a number from 0 to 1",
            ),
            (_, _, Some(limit)) if !is_number(limit) => {
                invalid("at_most", "is not a valid limit", "a number of 0 or more")
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the criterion has a limit.
    pub fn is_judged(&self) -> bool {
        self.at_least.is_some() || self.at_most.is_some()
    }

    /// Returns whether an export can be refused by this criterion.
    pub fn can_be_enforced(&self) -> bool {
        let is_measured_of_exports = matches!(
            self.measure,
            Measure::Columns(_)
                | Measure::KAnonymity
                | Measure::Risk(_)
                | Measure::Diversity(_)
                | Measure::PrivacyScore
        );
        self.is_judged() && is_measured_of_exports
    }

    /// Returns whether a value keeps to the limit.
    pub fn allows(&self, value: f64) -> bool {
        self.at_least.is_none_or(|limit| value >= limit) && self.at_most.is_none_or(|limit| value <= limit)
    }

    /// Returns the verdict; `None` if the criterion has no limit. Columns without a label never make a table unsafe:
    /// while there are any, it is not known whether it is.
    pub fn verdict(&self, measured: Measured) -> Option<Verdict> {
        if !self.is_judged() {
            return None;
        }
        let verdict = match measured {
            Measured::Nothing => Verdict::Safe,
            Measured::Unknown => Verdict::Unknown,
            Measured::Between { lower, upper } => match (self.allows(lower), self.allows(upper)) {
                (true, true) => Verdict::Safe,
                (false, false) => Verdict::Unsafe,
                _ => Verdict::Unknown,
            },
        };
        Some(match (self.measure, verdict) {
            (Measure::Columns(ColumnFigure::Unlabelled), Verdict::Unsafe) => Verdict::Unknown,
            (_, verdict) => verdict,
        })
    }
}

/// Returns the verdict of several criteria: the worst of those that are judged. Without any, nothing is known.
pub fn overall(verdicts: impl IntoIterator<Item = Option<Verdict>>) -> Verdict {
    verdicts.into_iter().flatten().min().unwrap_or(Verdict::Unknown)
}

/// Returns a number by which verdicts are put in order, the worst first. What is shown and not judged comes before
/// what is safe, because somebody has to judge it.
pub fn severity(verdict: Option<Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Unsafe) => 0,
        Some(Verdict::Unknown) => 1,
        None => 2,
        Some(Verdict::Safe) => 3,
    }
}
