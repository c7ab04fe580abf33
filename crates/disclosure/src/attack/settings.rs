//! What is asked for, and at what price.

use super::cracks::heuristic;
use super::{Exact, Matrix, Truth, sample};
use crate::mcmc::Effort;
use crate::{Error, Result};
use std::time::Duration;

/// How expected cracks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Method {
    /// Exactly if that takes no more than is allowed; else by sampling if that does not; else by belief propagation.
    #[default]
    Auto,
    /// By permanents.
    Exact,
    /// By belief propagation: the Bethe approximation.
    Bethe,
    /// By random matchings.
    Sample,
    /// H of Malik 2014, formula 4.3.
    Heuristic,
}

/// What is asked for, and at what price.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How to find the answer.
    pub method: Method,
    /// How exact a sample has to be: the reach of the 95 % confidence interval to either side, as a share.
    pub relative_error: f64,
    /// Of the sample.
    pub seed: u64,
    /// How long it may take, in the time of one core, so that the answer does not depend on how many there are. `None`
    /// is without limit for [`Method::Exact`], and a day before [`Method::Auto`] prefers another method.
    pub budget: Option<Duration>,
    /// How much memory it may take.
    pub bytes: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: Method::Auto,
            relative_error: 0.01,
            seed: 1,
            budget: None,
            bytes: f64::INFINITY,
        }
    }
}

const MEGABYTE: f64 = 1048576.0;

/// Without a budget, an exact answer or a sample that takes longer is not chosen, in seconds.
const LONGEST: f64 = 86_400.0;

impl Settings {
    /// Checks all that does not depend on a matrix.
    pub fn check(&self) -> Result<()> {
        self.effort().check()
    }

    /// What a sample may cost.
    pub(super) fn effort(&self) -> Effort {
        Effort {
            relative_error: self.relative_error,
            max_samples: sample::MOST_SAMPLES,
            seed: self.seed,
            budget: self.budget,
        }
    }

    /// Checks that an exact answer takes no more time and memory than is allowed.
    pub fn check_cost(&self, exact: &Exact) -> Result<()> {
        self.check_price(exact.seconds(), exact.bytes())
    }

    pub(super) fn check_price(&self, seconds: f64, bytes: f64) -> Result<()> {
        let problem = if seconds > self.seconds() {
            format!("an exact answer would take about {seconds:.1e} s")
        } else if bytes > self.bytes {
            format!("an exact answer would take about {:.1e} MB", bytes / MEGABYTE)
        } else {
            return Ok(());
        };
        let allowed = "more time and memory, or another method";
        Err(Error::invalid("method", problem, allowed))
    }

    fn seconds(&self) -> f64 {
        match (self.budget, self.method) {
            (Some(budget), _) => budget.as_secs_f64(),
            (None, Method::Exact) => f64::INFINITY,
            (None, _) => LONGEST,
        }
    }

    pub(super) fn affords(&self, exact: &Exact) -> bool {
        self.check_cost(exact).is_ok()
    }

    pub(super) fn affords_sample(&self, matrix: &Matrix, truth: &Truth) -> bool {
        let seconds = sample::seconds(matrix, heuristic(matrix, truth), self.relative_error);
        seconds <= self.seconds() && matrix.edges() as f64 * sample::BYTES_PER_EDGE <= self.bytes
    }
}
