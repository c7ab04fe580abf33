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
pub(super) const EXACT_SHARE: f64 = 0.25;

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
        let is_exact = which_are_exact(mappings, &parts, settings)?;
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

/// Returns which parts are computed exactly: the cheapest ones. It is an error if the method is exact and not
/// all can be.
fn which_are_exact(mappings: &Mappings, parts: &[(u32, Part)], settings: &Settings) -> Result<Vec<bool>> {
    let cost = |(number, part): &(u32, Part)| {
        let component = &mappings.components[*number as usize];
        let work = component.required_work(part.clone());
        match component.counting.bytes() <= settings.max_bytes {
            true => work
                .iter()
                .map(|work| component.steps(work))
                .fold(0.0, std::ops::Add::add),
            false => f64::INFINITY,
        }
    };
    exact_choice(&parts.iter().map(cost).collect::<Vec<f64>>(), 0.0, settings)
}

/// Returns which computations with these numbers of steps are exact; `common` is the number of further steps
/// that they need together. It is an error if the method is exact and not all of them can be.
pub(super) fn exact_choice(costs: &[f64], common: f64, settings: &Settings) -> Result<Vec<bool>> {
    let all = costs.iter().fold(common, |sum, cost| sum + cost);
    let mut is_exact = vec![all <= settings.max_steps; costs.len()];
    match settings.method {
        Method::Simulate => is_exact.fill(false),
        Method::Exact if all > settings.max_steps => return Err(too_expensive(all)),
        _ if all > settings.max_steps => {
            let mut by_cost: Vec<usize> = (0..costs.len()).collect();
            by_cost.sort_by(|&one, &other| costs[one].total_cmp(&costs[other]));
            let mut steps = common;
            for number in by_cost {
                steps += costs[number];
                is_exact[number] = steps <= EXACT_SHARE * settings.max_steps;
            }
        }
        _ => (),
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

pub(super) fn too_expensive(steps: f64) -> Error {
    let seconds = steps / Counting::STEPS_PER_SECOND;
    let problem = match seconds.is_finite() {
        true => format!("an exact answer would take about {seconds:.1e} s"),
        false => "an exact answer would take too much memory".to_owned(),
    };
    Error::invalid(
        "method",
        problem,
        "a method that can simulate, or higher limits for steps and bytes",
    )
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
