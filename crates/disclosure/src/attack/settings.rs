//! Settings of an attack: which method computes the expected cracks, how precise a sample has to be, and how
//! much time and memory a computation may use. An answer is refused, or another method is chosen, before a
//! computation that would exceed the limits begins.

use super::cracks::heuristic;
use super::{Exact, Matrix, Truth, sample};
use crate::mcmc::SamplingLimits;
use crate::{Error, Result};
use std::time::Duration;

/// Method that computes expected cracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Method {
    /// Exact if the time and memory limits allow it, otherwise sampling if they allow that, otherwise belief
    /// propagation.
    #[default]
    Auto,
    /// Exact sums over all matchings, that is, permanents.
    Exact,
    /// Belief propagation: the Bethe approximation.
    Bethe,
    /// Random matchings.
    Sample,
    /// The heuristic H of Malik 2014, formula 4.3.
    Heuristic,
    /// The weights are the probabilities of edges already, in any distribution over matchings. By linearity,
    /// the expected cracks are the sum over the true edges, whatever that distribution is.
    Marginals,
}

/// Method, precision and limits of a computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Method that computes the answer.
    pub method: Method,
    /// Precision of a sample: the half-width of the 95 % confidence interval as a share of the estimate.
    pub relative_error: f64,
    /// Seed of the sample.
    pub seed: u64,
    /// Time limit. The estimated time of an exact answer or of a sample on one core is checked against it, so
    /// that the choice of a method does not depend on the number of cores. A running sample stops after this
    /// much elapsed time. With `None`, [`Method::Exact`] is unlimited, and [`Method::Auto`] chooses another
    /// method if the estimate exceeds a day.
    pub budget: Option<Duration>,
    /// Memory limit, in bytes.
    pub max_bytes: f64,
    /// Share of the entries that may be cracked, inclusive, for the verdict of a summary.
    pub tolerance: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: Method::Auto,
            relative_error: 0.01,
            seed: 1,
            budget: None,
            max_bytes: f64::INFINITY,
            tolerance: None,
        }
    }
}

const MEGABYTE: f64 = 1048576.0;

/// Without a budget, seconds above which an exact answer or a sample is not chosen.
const MAX_SECONDS: f64 = 86_400.0;

impl Settings {
    /// Checks everything that does not depend on a matrix.
    pub fn check(&self) -> Result<()> {
        if let Some(tolerance) = self.tolerance {
            Error::check_unit_interval("tolerance", tolerance)?;
        }
        self.sampling_limits().check()
    }

    /// Returns the precision and the limits of a sample.
    pub(super) fn sampling_limits(&self) -> SamplingLimits {
        SamplingLimits {
            relative_error: self.relative_error,
            max_samples: sample::MAX_SAMPLES,
            seed: self.seed,
            budget: self.budget,
        }
    }

    /// Checks that the estimated time and memory of an exact answer are within the limits.
    pub fn check_cost(&self, exact: &Exact) -> Result<()> {
        self.check_estimated_cost(exact.seconds(), exact.bytes())
    }

    pub(super) fn check_estimated_cost(&self, seconds: f64, bytes: f64) -> Result<()> {
        let problem = if seconds == f64::INFINITY {
            "an exact answer is not feasible".to_owned()
        } else if seconds > self.max_seconds() {
            format!("an exact answer would take about {seconds:.1e} s")
        } else if bytes > self.max_bytes {
            format!("an exact answer would take about {:.1e} MB", bytes / MEGABYTE)
        } else {
            return Ok(());
        };
        let allowed = "a larger budget, more memory, or another method";
        Err(Error::invalid("method", problem, allowed))
    }

    fn max_seconds(&self) -> f64 {
        match (self.budget, self.method) {
            (Some(budget), _) => budget.as_secs_f64(),
            (None, Method::Exact) => f64::INFINITY,
            (None, _) => MAX_SECONDS,
        }
    }

    pub(super) fn can_afford(&self, exact: &Exact) -> bool {
        self.check_cost(exact).is_ok()
    }

    pub(super) fn can_afford_sample(&self, matrix: &Matrix, truth: &Truth) -> bool {
        let seconds = sample::seconds(matrix, heuristic(matrix, truth), self.relative_error);
        seconds <= self.max_seconds() && matrix.edge_count() as f64 * sample::BYTES_PER_EDGE <= self.max_bytes
    }
}
