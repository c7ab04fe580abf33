//! Scenarios: the frequencies of the items, the belief of an adversary about them, and the crack mappings
//! that follow.

use super::{Belief, CrackSpace, Frequencies, Width};
use crate::{Error, Result};
use std::iter::repeat_n;

/// Assumptions about an adversary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adversary {
    /// Distance of the adversary's beliefs from the true frequencies, unless the beliefs are listed.
    pub width: Width,
    /// Number of items that the adversary knows of although they never occur, in addition to those that are
    /// listed.
    pub phantoms: usize,
}

impl Default for Adversary {
    /// An adversary who knows every frequency ± the median gap.
    fn default() -> Self {
        Adversary {
            width: Width::Median,
            phantoms: 0,
        }
    }
}

impl Adversary {
    /// Maximum number of phantoms. There is a limit because each of them takes as much memory as an item.
    pub const MAX_PHANTOMS: usize = 1_000_000;

    /// Checks the bounds of all assumptions.
    pub fn check(&self) -> Result<()> {
        self.width.check()?;
        if self.phantoms <= Self::MAX_PHANTOMS {
            return Ok(());
        }
        Err(Error::invalid(
            "phantoms",
            format!("must be from 0 to {}", Self::MAX_PHANTOMS),
            "the number of items that the adversary knows of but that never occur",
        ))
    }
}

/// Frequencies, a belief about them, and the resulting space of crack mappings.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Frequency of every item; phantoms come last.
    pub frequencies: Frequencies,
    /// Belief of the adversary.
    pub belief: Belief,
    /// Crack mappings that are consistent with the belief.
    pub space: CrackSpace,
    /// Distance of the beliefs from the true frequencies as a share of all transactions; `None` if they were
    /// listed.
    pub width: Option<f64>,
}

impl Scenario {
    /// Builds the scenario from the number of transactions that contain each item (`counts`) and the beliefs
    /// about these items (`intervals`), if they are listed: see [`Belief::from_intervals`]. Nothing is believed
    /// about an item that the list does not reach.
    pub fn new(
        transactions: u64,
        counts: impl IntoIterator<Item = u64>,
        intervals: Option<Vec<Option<(f64, f64)>>>,
        adversary: &Adversary,
    ) -> Result<Self> {
        adversary.check()?;
        let counts = counts.into_iter().chain(repeat_n(0, adversary.phantoms));
        let frequencies = Frequencies::new(transactions, counts.collect());
        let (belief, width) = match intervals {
            None => (
                Belief::around(&frequencies, adversary.width)?,
                Some(adversary.width.share(&frequencies)?),
            ),
            Some(mut intervals) => {
                intervals.resize(frequencies.items(), None);
                (Belief::from_intervals(&frequencies, &intervals), None)
            }
        };
        Ok(Scenario {
            space: belief.space(&frequencies),
            belief,
            frequencies,
            width,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cracks::{Method, Settings};

    #[test]
    fn bounds_hold_whatever_the_method() {
        let argument = |result: Result<()>| match result {
            Err(Error::InvalidArgument { argument, .. }) => argument,
            other => panic!("{other:?}"),
        };
        for method in [Method::Auto, Method::Exact, Method::OEstimate] {
            let settings = Settings {
                method,
                ..Settings::default()
            };
            assert_eq!(settings.check(), Ok(()));
            for alpha in [-0.1, 1.1, f64::NAN] {
                let wrong = Settings {
                    alpha,
                    ..settings.clone()
                };
                assert_eq!(argument(wrong.check()), "alpha");
            }
            for relative_error in [-1.0, 0.0, f64::INFINITY, f64::NAN] {
                let wrong = Settings {
                    relative_error,
                    ..settings.clone()
                };
                assert_eq!(argument(wrong.check()), "relative_error");
            }
        }
        let width = Width::Share(1.5);
        let wrong = Adversary {
            width,
            ..Adversary::default()
        };
        assert_eq!(argument(wrong.check()), "width");
        let phantoms = Adversary::MAX_PHANTOMS + 1;
        let wrong = Adversary {
            phantoms,
            ..Adversary::default()
        };
        assert_eq!(argument(wrong.check()), "phantoms");
    }

    #[test]
    fn phantoms_come_last_and_nothing_is_believed_of_them() {
        let adversary = Adversary {
            phantoms: 2,
            ..Adversary::default()
        };
        let listed = Some(vec![Some((0.5, 0.5)), None]);
        let scenario = Scenario::new(4, [2, 1], listed, &adversary).unwrap();
        assert_eq!(scenario.frequencies.counts(), [2, 1, 0, 0]);
        assert_eq!(scenario.width, None);
        let degree = |item| scenario.space.graph.degree(scenario.space.class(item));
        assert_eq!([0, 1, 2, 3].map(degree), [1, 4, 4, 4]);
    }
}
