//! Probability of an itemset with an interval: exact if feasible, otherwise by simulation.
//!
//! Counting the samples in which an itemset is cracked, as published (section 6.3, Fig. 16), fails for
//! probabilities of less than one in a million: it is cracked in no sample. Instead, the items are given their
//! codes one after the other. The probability that all of them get these codes is the product of the
//! probabilities that each does, given those before it (Jerrum, Valiant and Vazirani 1986), and none of these
//! is small. All orders of the codes within the itemset are equally likely, and their number is counted.

use super::{Component, Edge, ItemsetCracks, Mappings, Part};
use crate::cracks::simulate::{Estimate, Simulation, simulate_edge};
use crate::cracks::{Method, Settings};
use crate::matching::{Counting, Graph, admissible, perfect_matching};
use crate::{Control, Error, Result};
use std::time::Instant;

/// Probability that an itemset is cracked.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemsetRisk {
    /// Probability that the codes of the itemset's items are mapped to these items, in any order.
    pub crack_probability: f64,
    /// Lower end of the interval that contains the answer; equal to `crack_probability` if that is exact.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// Method that was used: [`Method::Exact`] or [`Method::Simulate`].
    pub method: Method,
    /// Whether a simulation reached the target precision; true for exact answers.
    pub is_precise_enough: bool,
}

/// Share of the steps that may be spent on exact parts of an answer if other parts have to be simulated.
const EXACT_SHARE: f64 = 0.25;

impl ItemsetCracks<'_> {
    /// Returns the probability that an itemset is cracked; `None` if no mapping is consistent with the belief.
    /// The method is exact, simulated, or either ([`Method::Auto`]).
    pub fn risk(
        &self,
        itemset: &[u32],
        settings: &Settings,
        control: &Control,
    ) -> Result<Option<ItemsetRisk>> {
        settings.check()?;
        check_method(settings.method)?;
        let itemset = self.checked_itemset(itemset)?;
        let Some(mappings) = self.mappings(control)? else {
            return Ok(None);
        };
        let parts: Vec<(u32, Part)> = self.parts(mappings, &itemset).into_iter().collect();
        if parts.iter().any(|(_, part)| part.items.len() != part.codes.len()) {
            return Ok(Some(ItemsetRisk::new(Estimate::exact(0.0), Method::Exact)));
        }
        let is_exact = exact_choice(&costs(mappings, &parts), Cost::default(), settings)?;
        let simulated = parts.iter().zip(&is_exact).filter(|(_, is_exact)| !**is_exact);
        let mut stages = Stages {
            settings,
            deadline: settings
                .budget
                .and_then(|budget| Instant::now().checked_add(budget)),
            all: simulated.map(|((_, part), _)| part.items.len()).sum(),
            done: 0,
        };
        let mut estimate = Estimate::exact(1.0);
        for ((number, part), &is_exact) in parts.into_iter().zip(&is_exact) {
            let component = &mappings.components[number as usize];
            let of_part = match is_exact {
                true => Estimate::exact(component.probability(part, control)?),
                false => component.simulated(&part, &mut stages, control)?,
            };
            estimate = estimate.times(of_part);
            if estimate.upper == 0.0 {
                return Ok(Some(ItemsetRisk::new(Estimate::exact(0.0), Method::Exact)));
            }
        }
        // Some probabilities are found to be certain without any sample.
        let method = match estimate.lower == estimate.upper {
            true => Method::Exact,
            false => Method::Simulate,
        };
        Ok(Some(ItemsetRisk::new(estimate.at_most(1.0), method)))
    }
}

/// Number of steps within an itemset that are always affordable.
const MIN_STEPS: f64 = 1e7;

/// Predicted cost of an exact computation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Cost {
    /// Number of steps: see [`Counting::steps`]. Infinite if the computation is not possible.
    pub steps: f64,
    /// Number of bytes at a time.
    pub bytes: f64,
}

impl Cost {
    /// Returns the cost of this computation and another one after it.
    pub fn and(self, other: Cost) -> Self {
        Cost {
            steps: self.steps + other.steps,
            bytes: self.bytes.max(other.bytes),
        }
    }

    pub fn is_affordable(self, settings: &Settings) -> bool {
        self.steps <= settings.max_steps && self.bytes <= settings.max_bytes
    }

    /// Returns the error that an exact answer costs too much.
    pub fn too_high(self) -> Error {
        let seconds = self.steps / Counting::STEPS_PER_SECOND;
        let megabytes = self.bytes / f64::from(1 << 20);
        let problem = match seconds.is_finite() {
            true => format!("an exact answer would take about {seconds:.1e} s and {megabytes:.1e} MB"),
            false => "there are too many kinds of itemsets for an exact answer".to_owned(),
        };
        Error::invalid(
            "method",
            problem,
            "a method that can simulate, or higher limits for steps and bytes",
        )
    }
}

/// Returns the cost of the exact probability of each part.
fn costs(mappings: &Mappings, parts: &[(u32, Part)]) -> Vec<Cost> {
    let cost = |(number, part): &(u32, Part)| {
        let component = &mappings.components[*number as usize];
        let work = component.required_work(part.clone());
        Cost {
            steps: work
                .iter()
                .map(|work| component.steps(work))
                .fold(0.0, std::ops::Add::add),
            bytes: component.counting.bytes(),
        }
    };
    parts.iter().map(cost).collect()
}

/// Returns which of these computations are exact: all of them, or the cheapest ones; `common` is the cost of
/// what all of them need. It is an error if the method is exact and not all of them can be.
pub(super) fn exact_choice(costs: &[Cost], common: Cost, settings: &Settings) -> Result<Vec<bool>> {
    let all = costs.iter().fold(common, |sum, &cost| sum.and(cost));
    match (settings.method, all.is_affordable(settings)) {
        (Method::Simulate, _) => return Ok(vec![false; costs.len()]),
        (_, true) => return Ok(vec![true; costs.len()]),
        (Method::Exact, false) => return Err(all.too_high()),
        (_, false) => (),
    }
    let limited = Settings {
        max_steps: EXACT_SHARE * settings.max_steps,
        ..settings.clone()
    };
    let mut by_steps: Vec<usize> = (0..costs.len()).collect();
    by_steps.sort_by(|&one, &other| costs[one].steps.total_cmp(&costs[other].steps));
    let mut is_exact = vec![false; costs.len()];
    let mut so_far = common;
    for number in by_steps {
        let with_this = so_far.and(costs[number]);
        is_exact[number] = with_this.is_affordable(&limited);
        if is_exact[number] {
            so_far = with_this;
        }
    }
    Ok(is_exact)
}

/// Checks that a method is one of those for itemsets.
pub(super) fn check_method(method: Method) -> Result<()> {
    match method {
        Method::Auto | Method::Exact | Method::Simulate => Ok(()),
        Method::Refined | Method::Propagated | Method::OEstimate => Err(Error::invalid(
            "method",
            "is not a method for itemsets",
            "exact, by simulation, or either",
        )),
    }
}

/// The simulations of one answer, which share its budget and its relative error.
struct Stages<'a> {
    settings: &'a Settings,
    deadline: Option<Instant>,
    all: usize,
    done: usize,
}

impl Stages<'_> {
    fn next(&mut self) -> Simulation {
        let left = (self.all - self.done).max(1) as u32;
        let stage = self.done as u64;
        self.done += 1;
        Simulation {
            relative_error: self.settings.relative_error / (self.all as f64).sqrt(),
            seed: self.settings.seed.wrapping_add(stage),
            budget: self
                .deadline
                .map(|deadline| deadline.saturating_duration_since(Instant::now()) / left),
            ..self.settings.simulation()
        }
    }
}

impl ItemsetRisk {
    fn new(estimate: Estimate, method: Method) -> Self {
        ItemsetRisk {
            crack_probability: estimate.value,
            lower: estimate.lower,
            upper: estimate.upper,
            method,
            is_precise_enough: estimate.is_precise_enough,
        }
    }

    pub(super) fn estimate(&self) -> Estimate {
        Estimate {
            value: self.crack_probability,
            lower: self.lower,
            upper: self.upper,
            is_precise_enough: self.is_precise_enough,
        }
    }
}

impl Component {
    /// Estimates the probability that these items and these codes are mapped to each other.
    fn simulated(&self, part: &Part, stages: &mut Stages, control: &Control) -> Result<Estimate> {
        let induced = self.induced(part);
        let within = Counting::new(&induced, control)?;
        if within.steps() > stages.settings.max_steps.max(MIN_STEPS) {
            return Err(Error::invalid(
                "itemset",
                "has too many items for a simulation",
                "fewer items, or one of the estimates OS and OS2",
            ));
        }
        let within = within.ln_matchings(control)?;
        if within == f64::NEG_INFINITY {
            return Ok(Estimate::exact(0.0));
        }
        let edges = self.edges_within(part, &induced, control)?;
        // The number of orders is divided among the stages, because it may be too large for `f64`.
        let orders = (within / edges.len() as f64).exp();
        let mut estimate = Estimate::exact(1.0);
        for (number, &edge) in edges.iter().enumerate() {
            let given = self.probability_given(&edges[..number], edge, stages, control)?;
            estimate = estimate.times(given.scaled(orders));
            if estimate.upper == 0.0 {
                break;
            }
        }
        Ok(estimate)
    }

    /// Estimates the probability of an edge, given that other edges are in the mapping.
    fn probability_given(
        &self,
        given: &[Edge],
        edge: Edge,
        stages: &mut Stages,
        control: &Control,
    ) -> Result<Estimate> {
        let rest = self.without(&Part {
            items: given.iter().map(|edge| edge.item).collect(),
            codes: given.iter().map(|edge| edge.code).collect(),
        });
        let (item, code) = (rest.items[edge.item as usize], rest.codes[edge.code as usize]);
        let (Some(item), Some(code), Some(graph)) = (item, code, admissible(&rest.graph, control)?) else {
            return Ok(Estimate::exact(0.0));
        };
        let mut mappings = Mappings::new(&graph, control)?;
        let (item, code) = (mappings.items[item as usize], mappings.codes[code as usize]);
        if item.component != code.component {
            return Ok(Estimate::exact(0.0));
        }
        let graph = std::mem::take(&mut mappings.components[item.component as usize].graph);
        simulate_edge(graph, item.class, code.class, &stages.next(), control)
    }

    /// Returns one way to give the items of a part its codes: every item its own code if possible.
    fn edges_within(&self, part: &Part, induced: &Graph, control: &Control) -> Result<Vec<Edge>> {
        let own: Vec<Edge> = (0..part.items.len()).map(|at| part.edge(at, at)).collect();
        if own.iter().all(|edge| self.is_edge(edge.item, edge.code)) {
            return Ok(own);
        }
        let items: Vec<u32> = super::multiplicities(&part.items)
            .into_iter()
            .map(|(class, _)| class)
            .collect();
        let codes: Vec<u32> = super::multiplicities(&part.codes)
            .into_iter()
            .map(|(class, _)| class)
            .collect();
        let matching = perfect_matching(induced, control)?.unwrap_or_default();
        let mut edges = Vec::with_capacity(part.items.len());
        for ((class, &item), given) in induced.items.iter().zip(&items).zip(matching) {
            for (&code, count) in class.candidates.iter().zip(given) {
                let code = codes[code as usize];
                edges.extend((0..count).map(|_| Edge { item, code }));
            }
        }
        Ok(edges)
    }
}
