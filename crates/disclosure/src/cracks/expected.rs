//! Expected cracks: the mean number of items that a crack mapping cracks, over all crack mappings.
//!
//! [`expected_cracks`] counts the mappings exactly if that is affordable, and otherwise simulates. On request
//! it returns one of the O-estimates of Lakshmanan et al. 2008 instead. [`cautious_probabilities`] turns the
//! result into the probabilities that a verdict should rest on.

use super::CrackSpace;
use super::o_estimate::{kahan_sum, o_estimate_items, propagated_items};
use super::simulate::{Simulated, Simulation, simulate};
use crate::matching::{Counting, admissible};
use crate::{Control, Error, Result};
use std::time::Duration;

/// How expected cracks are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Method {
    /// Exact if the predicted cost is within the limits, otherwise by simulation.
    Auto,
    /// By counting all crack mappings.
    Exact,
    /// By random crack mappings.
    Simulate,
    /// The O-estimate on edges that lie in some crack mapping.
    Refined,
    /// The O-estimate after propagation (Fig. 5).
    Propagated,
    /// The O-estimate (Fig. 4).
    OEstimate,
}

/// Method and limits of the computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Method of the computation.
    pub method: Method,
    /// Share of the items that the adversary is right about. It is unknown which items these are.
    pub alpha: f64,
    /// Target precision of a simulation: half the width of the 95 % confidence interval, as a share of the
    /// estimate.
    pub relative_error: f64,
    /// Seed of the simulation.
    pub seed: u64,
    /// Maximum number of elementary steps for counting: see [`Counting::steps`].
    pub max_steps: f64,
    /// Maximum number of bytes for counting.
    pub max_bytes: f64,
    /// Maximum time for a simulation.
    pub budget: Option<Duration>,
}

impl Default for Settings {
    /// Settings without any limit on time, steps or memory.
    fn default() -> Self {
        Settings {
            method: Method::Auto,
            alpha: 1.0,
            relative_error: 0.01,
            seed: 1,
            max_steps: f64::INFINITY,
            max_bytes: f64::INFINITY,
            budget: None,
        }
    }
}

impl Settings {
    /// Returns the default settings with a time limit; `None` means no limit.
    pub fn within(budget: Option<Duration>) -> Self {
        let max_steps = budget.map(|budget| budget.as_secs_f64() * Counting::STEPS_PER_SECOND);
        Settings {
            max_steps: max_steps.unwrap_or(f64::INFINITY),
            budget,
            ..Settings::default()
        }
    }

    /// Checks the bounds of all settings that do not depend on the method.
    pub fn check(&self) -> Result<()> {
        Error::check_unit_interval("alpha", self.alpha)?;
        self.simulation().check()
    }

    pub(super) fn can_afford(&self, counting: &Counting) -> bool {
        counting.steps() <= self.max_steps && counting.bytes() <= self.max_bytes
    }

    pub(super) fn simulation(&self) -> Simulation {
        Simulation {
            relative_error: self.relative_error,
            seed: self.seed,
            budget: self.budget,
            ..Simulation::default()
        }
    }
}

/// The expected cracks of a space of crack mappings.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExpectedCracks {
    /// Mean number of items cracked by a random crack mapping.
    pub expected: f64,
    /// Lower end of the interval that contains the answer; equal to `expected` if that is exact, `None` for
    /// estimates, which have no error bound.
    pub lower: Option<f64>,
    /// Upper end of that interval.
    pub upper: Option<f64>,
    /// Method that was used; never [`Method::Auto`].
    pub method: Method,
    /// Whether a simulation reached the target precision; true for all other methods.
    pub is_precise_enough: bool,
    /// Natural logarithm of the number of crack mappings; only for [`Method::Exact`].
    pub ln_matchings: Option<f64>,
    /// Probability that each item is cracked, given that the adversary is right about it.
    pub crack_probability: Vec<f64>,
}

/// Computes the expected cracks; `None` if no crack mapping is consistent with the belief.
/// [`Method::OEstimate`] and [`Method::Propagated`] look at one item at a time, so they return an estimate
/// even then.
pub fn expected_cracks(
    space: &CrackSpace,
    settings: &Settings,
    control: &Control,
) -> Result<Option<ExpectedCracks>> {
    settings.check()?;
    let of_all_items = match settings.method {
        Method::OEstimate => Some(ExpectedCracks::estimate(
            Method::OEstimate,
            o_estimate_items(space),
        )),
        Method::Propagated => Some(ExpectedCracks::estimate(
            Method::Propagated,
            propagated_items(space),
        )),
        Method::Refined => refined(space, control)?,
        Method::Simulate => simulated(space, settings, control)?,
        Method::Auto | Method::Exact => {
            let counting = Counting::new(&space.graph, control)?;
            match (settings.can_afford(&counting), settings.method) {
                (true, _) => counted(space, &counting, control)?,
                (false, Method::Auto) => simulated(space, settings, control)?,
                (false, _) => return Err(too_expensive(&counting)),
            }
        }
    };
    Ok(of_all_items.map(|of_all_items| of_all_items.of_compliant(settings.alpha)))
}

impl ExpectedCracks {
    /// Returns ln m / ln n!, where m is the number of crack mappings and n! what it would be if nothing were
    /// known; 0 for a single item, which is never anonymous. Only for [`Method::Exact`].
    pub fn degree_of_anonymity(&self) -> Option<f64> {
        let items = self.crack_probability.len();
        let all = (2..=items).fold(0.0, |sum, item| sum + (item as f64).ln());
        let matchings = self.ln_matchings?;
        Some(if all > 0.0 { matchings / all } else { 0.0 })
    }

    pub(super) fn estimate(method: Method, crack_probability: Vec<f64>) -> Self {
        ExpectedCracks {
            expected: kahan_sum(&crack_probability),
            lower: None,
            upper: None,
            method,
            is_precise_enough: true,
            ln_matchings: None,
            crack_probability,
        }
    }

    pub(super) fn exact(crack_probability: Vec<f64>, ln_matchings: f64) -> Self {
        let expected = kahan_sum(&crack_probability);
        ExpectedCracks {
            expected,
            lower: Some(expected),
            upper: Some(expected),
            method: Method::Exact,
            is_precise_enough: true,
            ln_matchings: Some(ln_matchings),
            crack_probability,
        }
    }

    pub(super) fn of_simulation(simulated: Simulated) -> Self {
        ExpectedCracks {
            expected: simulated.expected,
            lower: Some(simulated.lower),
            upper: Some(simulated.upper),
            method: Method::Simulate,
            is_precise_enough: simulated.is_precise_enough,
            ln_matchings: None,
            crack_probability: simulated.crack_probability,
        }
    }

    /// Scales the result to an adversary who is right about a random share of the items. They crack no other
    /// item (section 4.2), and every item is equally likely to be in that share.
    fn of_compliant(mut self, alpha: f64) -> Self {
        self.expected *= alpha;
        self.lower = self.lower.map(|lower| lower * alpha);
        self.upper = self.upper.map(|upper| upper * alpha);
        self
    }
}

/// Returns the crack probability of every item for use in a verdict. The probabilities add up to the upper
/// end of the interval, so that the verdict does not rest on a simulation that came out low by chance: each
/// one is raised by the same share of its distance to 1, which also raises those that are 0. If no mapping is
/// consistent with the belief, the adversary is wrong about something but may be right about the rest; then
/// the probabilities are those of the O-estimate, as published (section 4.2).
pub fn cautious_probabilities(space: &CrackSpace, found: Option<&ExpectedCracks>) -> Vec<f64> {
    let Some(found) = found else {
        return o_estimate_items(space);
    };
    let sum: f64 = found.crack_probability.iter().sum();
    let room = found.crack_probability.len() as f64 - sum;
    let share = match found.upper {
        Some(upper) if upper > sum && room > 0.0 => ((upper - sum) / room).min(1.0),
        _ => 0.0,
    };
    let raised = |probability: &f64| probability + (1.0 - probability) * share;
    found.crack_probability.iter().map(raised).collect()
}

fn too_expensive(counting: &Counting) -> Error {
    let seconds = counting.steps() / Counting::STEPS_PER_SECOND;
    let megabytes = counting.bytes() / f64::from(1 << 20);
    Error::invalid(
        "method",
        format!("an exact answer would take about {seconds:.1e} s and {megabytes:.1e} MB"),
        "a method that can simulate, or higher limits for steps and bytes",
    )
}

fn refined(space: &CrackSpace, control: &Control) -> Result<Option<ExpectedCracks>> {
    let refined = admissible(&space.graph, control)?.map(|graph| CrackSpace {
        graph,
        ..space.clone()
    });
    Ok(refined.map(|refined| ExpectedCracks::estimate(Method::Refined, o_estimate_items(&refined))))
}

fn counted(space: &CrackSpace, counting: &Counting, control: &Control) -> Result<Option<ExpectedCracks>> {
    let Some(shares) = counting.shares(control)? else {
        return Ok(None);
    };
    let of_item = |item: usize| {
        let own = space.own_code_class[item];
        match space.class(item).candidates.binary_search(&own) {
            Ok(candidate) => {
                let share = shares.of_class[space.class_of[item] as usize][candidate];
                share / f64::from(space.graph.codes[own as usize])
            }
            Err(_) => 0.0,
        }
    };
    let crack_probability = (0..space.items()).map(of_item).collect();
    Ok(Some(ExpectedCracks::exact(
        crack_probability,
        shares.ln_matchings,
    )))
}

fn simulated(space: &CrackSpace, settings: &Settings, control: &Control) -> Result<Option<ExpectedCracks>> {
    let simulated = simulate(space, &settings.simulation(), control)?;
    Ok(simulated.map(ExpectedCracks::of_simulation))
}
