use super::CrackSpace;
use super::estimate::{o_estimate_items, propagated_items, sum};
use super::simulate::{Simulated, Simulation, simulate};
use crate::matching::{Counting, admissible};
use crate::{Control, Error, Result};
use std::time::Duration;

/// How expected cracks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Method {
    /// Exactly if that takes no more than is allowed, else by simulation.
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

/// What is asked for, and at what price.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How to find the answer.
    pub method: Method,
    /// The share of items that the adversary is right about, nobody knows which.
    pub alpha: f64,
    /// How exact a simulation has to be: the reach of the 95 % confidence interval to either side, as a share.
    pub relative_error: f64,
    /// Of the simulation.
    pub seed: u64,
    /// How many elementary steps counting may take: see [`Counting::steps`].
    pub steps: f64,
    /// How much memory counting may take.
    pub bytes: f64,
    /// How long a simulation may take.
    pub budget: Option<Duration>,
}

impl Default for Settings {
    /// Any answer, whatever it takes.
    fn default() -> Self {
        Settings {
            method: Method::Auto,
            alpha: 1.0,
            relative_error: 0.01,
            seed: 1,
            steps: f64::INFINITY,
            bytes: f64::INFINITY,
            budget: None,
        }
    }
}

impl Settings {
    /// Returns the default settings, for an answer within this time; `None` means without limit.
    pub fn within(budget: Option<Duration>) -> Self {
        let steps = budget.map(|budget| budget.as_secs_f64() * Counting::STEPS_PER_SECOND);
        Settings {
            steps: steps.unwrap_or(f64::INFINITY),
            budget,
            ..Settings::default()
        }
    }

    /// Checks what must hold whatever the method.
    pub fn check(&self) -> Result<()> {
        Error::check_share("alpha", self.alpha)?;
        self.simulation().check()
    }

    pub(super) fn afford(&self, counting: &Counting) -> bool {
        counting.steps() <= self.steps && counting.bytes() <= self.bytes
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
pub struct Expected {
    /// How many items a random crack mapping cracks on average.
    pub expected: f64,
    /// The answer lies between this, which is the answer itself where it is exact; `None` for estimates, which say
    /// nothing about their error.
    pub lower: Option<f64>,
    /// … and this.
    pub upper: Option<f64>,
    /// How it was found; never [`Method::Auto`].
    pub method: Method,
    /// Whether a simulation became as exact as it should.
    pub reached: bool,
    /// The natural logarithm of the number of crack mappings; only of [`Method::Exact`].
    pub log_matchings: Option<f64>,
    /// For every item, its probability of being cracked, if the adversary is right about it.
    pub crack_probability: Vec<f64>,
}

/// The expected cracks; `None` where no crack mapping is consistent with the belief. Estimates by outdegree ask only
/// for single items, so there is one even then.
pub fn expected(space: &CrackSpace, settings: &Settings, control: &Control) -> Result<Option<Expected>> {
    settings.check()?;
    let whole = match settings.method {
        Method::OEstimate => Some(Expected::estimate(Method::OEstimate, o_estimate_items(space))),
        Method::Propagated => Some(Expected::estimate(Method::Propagated, propagated_items(space))),
        Method::Refined => refined(space, control)?,
        Method::Simulate => simulated(space, settings, control)?,
        Method::Auto | Method::Exact => {
            let counting = Counting::new(&space.graph, control)?;
            match (settings.afford(&counting), settings.method) {
                (true, _) => counted(space, &counting, control)?,
                (false, Method::Auto) => simulated(space, settings, control)?,
                (false, _) => return Err(too_expensive(&counting)),
            }
        }
    };
    Ok(whole.map(|whole| whole.of_compliant(settings.alpha)))
}

impl Expected {
    /// The logarithm of the number of crack mappings, as a share of what it would be if nothing were known; a single
    /// item is never anonymous. Only of [`Method::Exact`].
    pub fn degree_of_anonymity(&self) -> Option<f64> {
        let items = self.crack_probability.len();
        let all = (2..=items).fold(0.0, |sum, item| sum + (item as f64).ln());
        let matchings = self.log_matchings?;
        Some(if all > 0.0 { matchings / all } else { 0.0 })
    }

    pub(super) fn estimate(method: Method, crack_probability: Vec<f64>) -> Self {
        Expected {
            expected: sum(&crack_probability),
            lower: None,
            upper: None,
            method,
            reached: true,
            log_matchings: None,
            crack_probability,
        }
    }

    pub(super) fn exact(crack_probability: Vec<f64>, log_matchings: f64) -> Self {
        let expected = sum(&crack_probability);
        Expected {
            expected,
            lower: Some(expected),
            upper: Some(expected),
            method: Method::Exact,
            reached: true,
            log_matchings: Some(log_matchings),
            crack_probability,
        }
    }

    pub(super) fn of_simulation(simulated: Simulated) -> Self {
        Expected {
            expected: simulated.expected,
            lower: Some(simulated.lower),
            upper: Some(simulated.upper),
            method: Method::Simulate,
            reached: simulated.reached,
            log_matchings: None,
            crack_probability: simulated.crack_probability,
        }
    }

    /// What is left on average if the adversary is right about a random share of the items only. He cracks no other
    /// (section 4.2), and every item is as likely as any other to be one of them.
    fn of_compliant(mut self, alpha: f64) -> Self {
        self.expected *= alpha;
        self.lower = self.lower.map(|lower| lower * alpha);
        self.upper = self.upper.map(|upper| upper * alpha);
        self
    }
}

/// Every item's probability of being cracked, for a decision: as high as all of them together may be, so that it does
/// not rest on a simulation that came out low by chance. Where no mapping agrees with the belief, the adversary is wrong
/// about something, but may be right about the rest; then it is the O-estimate, as published (section 4.2).
pub fn cautious(space: &CrackSpace, found: Option<&Expected>) -> Vec<f64> {
    let Some(found) = found else {
        return o_estimate_items(space);
    };
    let factor = match found.upper {
        Some(upper) if found.expected > 0.0 => upper / found.expected,
        _ => 1.0,
    };
    let raised = |probability: &f64| (probability * factor).min(1.0);
    found.crack_probability.iter().map(raised).collect()
}

fn too_expensive(counting: &Counting) -> Error {
    let seconds = counting.steps() / Counting::STEPS_PER_SECOND;
    let megabytes = counting.bytes() / f64::from(1 << 20);
    Error::invalid(
        "method",
        format!("exact would take about {seconds:.1e} s and {megabytes:.1e} MB"),
        "a method that may simulate, or more steps and bytes",
    )
}

fn refined(space: &CrackSpace, control: &Control) -> Result<Option<Expected>> {
    let refined = admissible(&space.graph, control)?.map(|graph| CrackSpace {
        graph,
        ..space.clone()
    });
    Ok(refined.map(|refined| Expected::estimate(Method::Refined, o_estimate_items(&refined))))
}

fn counted(space: &CrackSpace, counting: &Counting, control: &Control) -> Result<Option<Expected>> {
    let Some(shares) = counting.shares(control)? else {
        return Ok(None);
    };
    let of_item = |item: usize| {
        let own = space.own[item];
        match space.class(item).candidates.binary_search(&own) {
            Ok(candidate) => {
                let share = shares.of_class[space.class_of[item] as usize][candidate];
                share / f64::from(space.graph.codes[own as usize])
            }
            Err(_) => 0.0,
        }
    };
    let crack_probability = (0..space.items()).map(of_item).collect();
    Ok(Some(Expected::exact(crack_probability, shares.log_matchings)))
}

fn simulated(space: &CrackSpace, settings: &Settings, control: &Control) -> Result<Option<Expected>> {
    let simulated = simulate(space, &settings.simulation(), control)?;
    Ok(simulated.map(Expected::of_simulation))
}
