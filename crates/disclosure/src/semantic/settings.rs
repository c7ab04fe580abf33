//! Settings of an attack: how distances are measured and how cells are eliminated. The caller may leave
//! some of them open, to be [chosen](super::Choice) from twins.

use super::elimination::mean;
use super::{Cooccurrence, Method, Scoring, Strategy, Threshold, Vulnerability};
use crate::{Error, Result};

/// Way of combining the distances of a member from the items of a context into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// The mean: the items are one context (Ong 2015, formula 3.3).
    Mean,
    /// The least: every item is a context of its own, and a member has to fit only one of them. A transaction
    /// may have several contexts, for which a mean is wrong (Ong 2015, sections 3.3.1 and 6.2).
    Nearest,
}

impl Combination {
    /// Combines distances. Without any, the result is NaN, like an unknown distance.
    pub(super) fn of(self, distances: impl Iterator<Item = f64>) -> f64 {
        match self {
            Combination::Mean => mean(distances),
            Combination::Nearest => distances.reduce(f64::min).unwrap_or(f64::NAN),
        }
    }
}

/// How the distance of a member from a context is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceSettings {
    /// Maximum number of items in the context of a generalised item.
    pub context: usize,
    /// How the distances from these items are combined.
    pub combination: Combination,
    /// Number of documents that two terms are assumed to share if they never occur together; `None` for what
    /// the [source of distances](Scoring) assumes.
    pub unseen: Option<f64>,
}

impl Default for DistanceSettings {
    fn default() -> Self {
        DistanceSettings {
            context: CONTEXTS[0],
            combination: COMBINATIONS[0],
            unseen: Some(UNSEEN[0]),
        }
    }
}

impl DistanceSettings {
    /// Returns an error if `context` is 0.
    pub fn check(&self) -> Result<()> {
        check_context(self.context)
    }
}

/// All settings of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AttackSettings {
    /// How distances are measured.
    pub distances: DistanceSettings,
    /// How cells are eliminated.
    pub strategy: Strategy,
}

/// Settings of an attack, some of which may be open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenSettings {
    /// Maximum number of items in a context; `None` if it is open.
    pub context: Option<usize>,
    /// How the distances from the items of a context are combined; `None` if it is open.
    pub combination: Option<Combination>,
    /// Number of documents that two terms are assumed to share if they never occur together; `None` if it is
    /// open.
    pub unseen: Option<f64>,
    /// Threshold at which the attack ends; `None` if it is open.
    pub threshold: Option<Threshold>,
    /// Method of choosing cells.
    pub method: Method,
    /// Measure of vulnerability, for [`Method::Gba`] and [`Method::Rba`].
    pub vulnerability: Vulnerability,
    /// Seed, for [`Method::Random`].
    pub seed: u64,
}

/// Candidates for an open context. The first of all candidates are the defaults.
const CONTEXTS: [usize; 3] = [2, 5, 20];

/// Candidates for an open combination.
const COMBINATIONS: [Combination; 2] = [Combination::Mean, Combination::Nearest];

/// Candidates for an open number of shared documents. The smaller it is, the further apart are terms that
/// never occur together.
const UNSEEN: [f64; 4] = [0.5, 0.1, 0.01, 0.0001];

/// Candidates for an open threshold, as multiples of the mean.
const RATIOS: [f64; 5] = [1.0, 0.75, 0.5, LEAST_RATIO, 1.25];

/// Least of these multiples. It is a power of two, so that a threshold divided by it is exactly the mean.
pub(super) const LEAST_RATIO: f64 = 0.25;

impl Default for OpenSettings {
    fn default() -> Self {
        let Strategy {
            method,
            vulnerability,
            seed,
            ..
        } = Strategy::default();
        OpenSettings {
            context: None,
            combination: None,
            unseen: None,
            threshold: None,
            method,
            vulnerability,
            seed,
        }
    }
}

impl OpenSettings {
    /// Returns an error if a setting that is given is invalid.
    pub fn check(&self) -> Result<()> {
        self.context.map_or(Ok(()), check_context)?;
        self.unseen.map_or(Ok(()), Cooccurrence::check_unseen)?;
        self.strategy(self.thresholds()[0]).check()
    }

    /// Returns whether there is anything to choose.
    pub fn has_choice(&self) -> bool {
        let is_open = self.context.is_none() || self.combination.is_none() || self.unseen.is_none();
        !matches!(self.method, Method::Random | Method::Place) && (is_open || self.thresholds().len() > 1)
    }

    /// Returns the largest context that may be chosen.
    pub fn max_context(&self) -> usize {
        self.contexts().into_iter().fold(1, usize::max)
    }

    /// Returns the size of contexts if it cannot be chosen.
    pub fn default_context(&self) -> usize {
        self.contexts()[0]
    }

    /// Returns the settings with defaults for those that are open.
    pub fn with_defaults(&self, scoring: &dyn Scoring) -> AttackSettings {
        AttackSettings {
            distances: DistanceSettings {
                context: self.default_context(),
                combination: self.combinations()[0],
                unseen: self.unseen(scoring)[0],
            },
            strategy: self.strategy(self.thresholds()[0]),
        }
    }

    pub(super) fn contexts(&self) -> Vec<usize> {
        self.context.map_or(CONTEXTS.to_vec(), |given| vec![given])
    }

    pub(super) fn combinations(&self) -> Vec<Combination> {
        self.combination
            .map_or(COMBINATIONS.to_vec(), |given| vec![given])
    }

    /// Returns the candidates for `unseen`; only `None` if the source of distances makes no such assumption.
    pub(super) fn unseen(&self, scoring: &dyn Scoring) -> Vec<Option<f64>> {
        match self.unseen {
            _ if scoring.with_unseen(UNSEEN[0]).is_none() => vec![None],
            Some(given) => vec![Some(given)],
            None => UNSEEN.map(Some).to_vec(),
        }
    }

    /// Returns the candidates for the threshold. Methods without one have a single candidate.
    pub(super) fn thresholds(&self) -> Vec<Threshold> {
        match self.threshold {
            Some(given) => vec![given],
            None if self.method.has_threshold() => RATIOS.map(Threshold::Mean).to_vec(),
            None => vec![Threshold::Mean(RATIOS[0])],
        }
    }

    pub(super) fn strategy(&self, threshold: Threshold) -> Strategy {
        Strategy {
            method: self.method,
            threshold,
            vulnerability: self.vulnerability,
            seed: self.seed,
        }
    }
}

fn check_context(context: usize) -> Result<()> {
    if context == 0 {
        return Err(Error::invalid(
            "context",
            "must be at least 1",
            "the number of items around a generalised item that form its context, such as 2",
        ));
    }
    Ok(())
}
