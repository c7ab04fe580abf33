//! Expected cracks by simulation (Markov chain Monte Carlo), for graphs on which counting would take too
//! long.
//!
//! A chain is a random walk on the consistent mappings. Lakshmanan et al. (section 6.1) swap the codes of two
//! items. On some graphs such a chain gets stuck, e.g. on a cycle of three items and three codes, and it is
//! slow if groups are large. [`Moves::Groups`] avoids both problems.
//!
//! A sample only determines from which frequency group the code of each item comes. Within a group all codes
//! are equally likely, and so are all items with the same candidates, so the expectation over these is
//! computed exactly.

mod apart;
mod cycles;
mod edge;
mod estimate;
mod table;
mod walk;

pub use apart::{Apart, simulate_apart};
pub(super) use cycles::{CycleCounting, simulate_cycles};
pub(super) use edge::simulate_edge;
pub(super) use estimate::Estimate;

use super::CrackSpace;
use crate::mcmc::{Move, Observe, Outcome, Pace, Sampler, SamplingLimits, State};
use crate::{Control, Error, Result};
use estimate::effective_samples;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::time::{Duration, Instant};
use table::{ExchangesAndRotations, LogFactorials, Table};
use walk::{Counted, Network, STEPS_BETWEEN_CHECKS, Walk};

/// How a chain moves from one mapping to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// The published chain (Lakshmanan, Ng and Ramesh 2008): every item in turn swaps its code with that of
    /// another item, drawn at random, if the belief allows the new code of each.
    Swaps,
    /// Two kinds of moves. Exchanges change whole groups at once: it is drawn anew which items of two classes
    /// hold which codes of two groups. Rotations reach every mapping on every graph: an item gives up its
    /// code, another item that can have the code takes it and gives up its own, and so on, until the first
    /// item takes a code.
    Groups,
}

/// Settings of a simulation. Equal settings give equal answers, unless the budget runs out.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Kind of moves.
    pub moves: Moves,
    /// Target precision: the simulation stops when half the width of the 95 % confidence interval is at most
    /// this share of the estimate.
    pub relative_error: f64,
    /// Approximate maximum number of samples; at least a few hundred are taken.
    pub max_samples: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Maximum time.
    pub budget: Option<Duration>,
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation {
            moves: Moves::Groups,
            relative_error: 0.01,
            max_samples: 1_000_000,
            seed: 0,
            budget: None,
        }
    }
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Simulated {
    /// Expected number of cracks.
    pub expected: f64,
    /// Lower end of the 95 % confidence interval.
    pub lower: f64,
    /// Upper end of the 95 % confidence interval.
    pub upper: f64,
    /// Number of samples that the result is based on.
    pub samples: u64,
    /// Number of independent samples that would be equally informative.
    pub effective_samples: f64,
    /// Whether the target precision was reached. If not, the interval is wider. With too few effective
    /// samples, it contains all possible values.
    pub is_precise_enough: bool,
    /// Probability that each item is cracked.
    pub crack_probability: Vec<f64>,
}

/// Probabilities that itemsets are cracked as sets, by simulation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimulatedItemsets {
    /// Probability of each itemset.
    pub crack_probability: Vec<f64>,
    /// Lower end of the 95 % confidence interval of the sum of the probabilities.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// Number of samples that the result is based on.
    pub samples: u64,
    /// Whether the target precision was reached, on average over the itemsets.
    pub is_precise_enough: bool,
}

/// Estimates the expected number of cracks and the crack probability of every item; `None` if no mapping is
/// consistent with the belief.
pub fn simulate(space: &CrackSpace, simulation: &Simulation, control: &Control) -> Result<Option<Simulated>> {
    let network = Network::new(space)?;
    let cracks = ObserveCracks::new(&network);
    let Some(matching) = network.matching(control)? else {
        return Ok(None);
    };
    // Chains start from different mappings, so that a chain that does not forget its start shows up as
    // disagreement.
    let outcome = match simulation.moves {
        Moves::Swaps => {
            let starts = [network.truth(), Some(network.arrange(&matching))];
            let starts: Vec<_> = starts.into_iter().flatten().collect();
            simulation.run(&PublishedSwaps, &cracks, control, |seeds, chain| {
                Walk::new(&network, starts[chain % starts.len()].clone(), seeds)
            })
        }
        Moves::Groups => {
            let starts = group_starts(&network, matching);
            let factorials = LogFactorials::up_to(space.items());
            simulation.run(&ExchangesAndRotations, &cracks, control, |seeds, chain| {
                Table::new(&network, &factorials, starts[chain % starts.len()].clone(), seeds)
            })
        }
    };
    Ok(Some(cracks.simulated(outcome?)))
}

/// Returns the tables that chains start from: the truth, unless the adversary is wrong about an item, and
/// another perfect matching.
fn group_starts(network: &Network, matching: Vec<u32>) -> Vec<Vec<u32>> {
    let truth = network.truth().map(|truth| network.count(&truth));
    truth.into_iter().chain([matching]).collect()
}

/// Estimates the expected number of cracks as published (section 6.1): with swaps, 100,000 iterations before
/// the first sample of a seed matching, 10,000 between two samples, and a new seed matching after 250
/// samples. The paper took 5,000 samples. If `samples` is more than 250, it is rounded up to a multiple of
/// 250.
pub fn simulate_as_published(
    space: &CrackSpace,
    samples: u64,
    seed: u64,
    control: &Control,
) -> Result<Option<Simulated>> {
    const PER_SEED_MATCHING: u64 = 250;
    let network = Network::new(space)?;
    let cracks = ObserveCracks::new(&network);
    let sampler = Sampler {
        moves: &PublishedSwaps,
        observed: &cracks,
        pace: Pace::Fixed {
            before: 100_000,
            between: 10_000,
        },
        first_round: samples.clamp(1, PER_SEED_MATCHING),
        rounds: 1,
        relative_error: 0.0,
        deadline: None,
    };
    let Some(start) = network.start_matching(control)? else {
        return Ok(None);
    };
    let mut seeds = Pcg64Mcg::seed_from_u64(seed);
    let chains = samples.div_ceil(PER_SEED_MATCHING).max(1);
    let walks = (0..chains).map(|_| Walk::new(&network, start.clone(), &mut seeds));
    let outcome = sampler.run(walks.collect(), control)?;
    Ok(Some(cracks.simulated(outcome)))
}

/// Estimates, for every itemset, the probability that its items hold the codes of the itemset, in any order
/// (Fig. 16). `None` if no mapping is consistent with the belief.
pub fn simulate_itemsets(
    space: &CrackSpace,
    itemsets: &[Vec<u32>],
    simulation: &Simulation,
    control: &Control,
) -> Result<Option<SimulatedItemsets>> {
    if itemsets
        .iter()
        .flatten()
        .any(|&item| item as usize >= space.items())
    {
        return Err(Error::invalid(
            "itemsets",
            "contains an unknown item",
            "items that occur or that the adversary knows of",
        ));
    }
    let network = Network::new(space)?;
    let observed = ObserveItemsets::new(&network, itemsets);
    let Some(start) = network.start_matching(control)? else {
        return Ok(None);
    };
    let moves: &dyn Move<Walk> = match simulation.moves {
        Moves::Swaps => &PublishedSwaps,
        Moves::Groups => &SwapsAndRotations,
    };
    let deadline = simulation
        .budget
        .and_then(|budget| Instant::now().checked_add(budget));
    let outcome = simulation.run(moves, &observed, control, |seeds, _| {
        Walk::new(&network, start.clone(), seeds)
    })?;
    let effective = effective_samples(space, simulation, &outcome, deadline, control)?;
    let sum = Estimate::of_outcome(&outcome, itemsets.len() as f64, effective);
    Ok(Some(SimulatedItemsets {
        crack_probability: outcome.figures,
        lower: sum.lower,
        upper: sum.upper,
        samples: outcome.samples,
        is_precise_enough: sum.is_precise_enough,
    }))
}

impl Simulation {
    /// Checks that the relative error is positive and finite.
    pub fn check(&self) -> Result<()> {
        self.sampling_limits().check()
    }

    fn sampling_limits(&self) -> SamplingLimits {
        SamplingLimits {
            relative_error: self.relative_error,
            max_samples: self.max_samples,
            seed: self.seed,
            budget: self.budget,
        }
    }

    /// Runs chains until the result is precise enough, each from its own start.
    fn run<S: State>(
        &self,
        moves: &dyn Move<S>,
        observed: &dyn Observe<S>,
        control: &Control,
        start: impl Fn(&mut Pcg64Mcg, usize) -> S,
    ) -> Result<Outcome> {
        self.sampling_limits().run(moves, observed, control, start)
    }
}

/// One iteration of the published chain.
struct PublishedSwaps;

impl<'a> Move<Walk<'a>> for PublishedSwaps {
    /// Every swap is its own inverse, so any sequence of swaps that does not depend on the matching preserves
    /// the uniform distribution.
    fn make(&self, walk: &mut Walk<'a>, control: &Control) -> Result<()> {
        let mut partners = std::mem::take(&mut walk.permutation);
        if partners.is_empty() {
            partners = (0..walk.held.len() as u32).collect();
        }
        partners.shuffle(&mut walk.random);
        for (item, &partner) in partners.iter().enumerate() {
            walk.swap(item as u32, partner);
            if (item as u64).is_multiple_of(STEPS_BETWEEN_CHECKS) {
                control.check()?;
            }
        }
        walk.permutation = partners;
        Ok(())
    }

    fn pace(&self, _: &mut Walk<'a>, _: &Control) -> Result<u64> {
        Ok(1)
    }
}

/// Swaps between neighbours and rotations, for observations that depend on which item holds which code.
struct SwapsAndRotations;

impl<'a> Move<Walk<'a>> for SwapsAndRotations {
    fn make(&self, walk: &mut Walk<'a>, control: &Control) -> Result<()> {
        walk.wander(control)
    }

    fn pace(&self, walk: &mut Walk<'a>, control: &Control) -> Result<u64> {
        walk.pace(|walk| self.make(walk, control))
    }
}

/// Observes the expected number of cracks over all arrangements of codes within their frequency groups and of
/// items within their classes. If k of the s items of a class hold one of the m codes of a group, an item of
/// the class whose own code is in that group holds it with probability k / (s m).
struct ObserveCracks {
    /// Slot of every arc in the tally; `NO_SLOT` if the arc does not lead any item to the group of its own
    /// code.
    slot: Vec<u32>,
    /// Expected number of cracks per item that holds a code by an arc of this slot.
    weight: Vec<f64>,
    /// For every item that can be cracked, its slot and the factor 1 / (s m) that turns the mean tally of the
    /// slot into the crack probability of the item.
    of_item: Vec<Option<(u32, f64)>>,
}

const NO_SLOT: u32 = u32::MAX;

impl ObserveCracks {
    fn new(network: &Network) -> Self {
        let space = network.space;
        let mut slot = vec![NO_SLOT; network.arcs()];
        let mut weight: Vec<f64> = Vec::new();
        let of_item = (0..space.items()).map(|item| {
            let arc = network.arc(item as u32, space.own_code_class[item])?;
            let slot = &mut slot[arc as usize];
            if *slot == NO_SLOT {
                *slot = weight.len() as u32;
                weight.push(0.0);
            }
            let share = f64::from(space.class(item).size)
                * f64::from(space.graph.codes[space.own_code_class[item] as usize]);
            weight[*slot as usize] += 1.0 / share;
            Some((*slot, 1.0 / share))
        });
        ObserveCracks {
            of_item: of_item.collect(),
            slot,
            weight,
        }
    }

    fn simulated(&self, outcome: Outcome) -> Simulated {
        let of_item = |&of_item: &Option<(u32, f64)>| {
            of_item.map_or(0.0, |(slot, share)| outcome.figures[slot as usize] * share)
        };
        Simulated {
            expected: outcome.mean,
            lower: outcome.lower,
            upper: outcome.upper,
            samples: outcome.samples,
            effective_samples: outcome.effective_samples,
            is_precise_enough: outcome.is_precise_enough,
            crack_probability: self.of_item.iter().map(of_item).collect(),
        }
    }
}

impl<S: State + Counted> Observe<S> for ObserveCracks {
    fn figures(&self) -> usize {
        self.weight.len()
    }

    fn observe(&self, state: &S, tally: &mut [f64]) -> f64 {
        let mut cracks = 0.0;
        state.counted(|arc, items| {
            let slot = self.slot[arc as usize];
            if slot != NO_SLOT {
                tally[slot as usize] += f64::from(items);
                cracks += f64::from(items) * self.weight[slot as usize];
            }
        });
        cracks
    }

    fn upper_bound(&self) -> f64 {
        self.of_item.iter().flatten().count() as f64
    }
}

/// Observes the itemsets that are cracked as sets, in expectation over all arrangements of codes within their
/// frequency groups.
struct ObserveItemsets<'a> {
    network: &'a Network<'a>,
    itemsets: Vec<Itemset>,
}

struct Itemset {
    items: Vec<u32>,
    /// Groups of the items' own codes, sorted.
    own: Vec<u32>,
    /// Probability that the items hold the right codes, given that the groups of their codes are right.
    share: f64,
}

impl<'a> ObserveItemsets<'a> {
    fn new(network: &'a Network<'a>, itemsets: &[Vec<u32>]) -> Self {
        let itemset = |items: &Vec<u32>| {
            let mut items = items.clone();
            items.sort_unstable();
            items.dedup();
            let mut own: Vec<u32> = items
                .iter()
                .map(|&item| network.space.own_code_class[item as usize])
                .collect();
            own.sort_unstable();
            // Of the m codes of a group, the k right ones are one of C(m, k) combinations.
            let of_group = own.chunk_by(|a, b| a == b).map(|same| {
                let Some(&codes) = network.space.graph.codes.get(same[0] as usize) else {
                    return 0.0;
                };
                (0..same.len()).fold(1.0, |share, k| {
                    share * (k + 1) as f64 / f64::from(codes - k as u32)
                })
            });
            Itemset {
                share: of_group.product(),
                items,
                own,
            }
        };
        ObserveItemsets {
            network,
            itemsets: itemsets.iter().map(itemset).collect(),
        }
    }
}

impl<'a> Observe<Walk<'a>> for ObserveItemsets<'_> {
    fn figures(&self) -> usize {
        self.itemsets.len()
    }

    fn observe(&self, walk: &Walk<'a>, tally: &mut [f64]) -> f64 {
        let mut cracked = 0.0;
        let mut groups = Vec::new();
        for (itemset, tally) in self.itemsets.iter().zip(tally) {
            groups.clear();
            let group = |&item: &u32| self.network.codes(walk.held[item as usize].arc);
            groups.extend(itemset.items.iter().map(group));
            groups.sort_unstable();
            if groups == itemset.own {
                *tally += itemset.share;
                cracked += itemset.share;
            }
        }
        cracked
    }

    fn upper_bound(&self) -> f64 {
        self.itemsets.len() as f64
    }

    fn needs_every_figure(&self) -> bool {
        true
    }
}
