use super::{Belief, CrackSpace, Frequencies, Width};
use crate::{Error, Result};
use std::iter::repeat_n;

/// What is assumed of an adversary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adversary {
    /// How far his beliefs may be from the true frequencies, unless they are listed.
    pub width: Width,
    /// How many items he knows of that never occur, besides those that are listed.
    pub phantoms: usize,
}

impl Default for Adversary {
    /// One who knows every frequency, give or take the median gap.
    fn default() -> Self {
        Adversary {
            width: Width::Median,
            phantoms: 0,
        }
    }
}

impl Adversary {
    /// How many phantoms there may be: each takes as much room as an item.
    pub const MOST_PHANTOMS: usize = 1_000_000;

    /// Checks the bounds of all assumptions.
    pub fn check(&self) -> Result<()> {
        self.width.check()?;
        if self.phantoms <= Self::MOST_PHANTOMS {
            return Ok(());
        }
        Err(Error::invalid(
            "phantoms",
            format!("must be from 0 to {}", Self::MOST_PHANTOMS),
            "how many items the adversary knows of that never occur",
        ))
    }
}

/// Items, and what an adversary can make of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// How often every item occurs; phantoms come last.
    pub frequencies: Frequencies,
    /// What the adversary believes.
    pub belief: Belief,
    /// The crack mappings that agree with it.
    pub space: CrackSpace,
    /// How far beliefs are from the true frequencies; `None` if they were listed.
    pub width: Option<f64>,
}

impl Scenario {
    /// `counts` says in how many of the transactions every item is. `intervals` are beliefs about these items, if they
    /// are listed: see [`Belief::of_intervals`].
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
                (Belief::of_intervals(&frequencies, &intervals), None)
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
        let phantoms = Adversary::MOST_PHANTOMS + 1;
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
