//! Negative correlation: what an adversary gains by knowing pairs of items that never occur together.
//!
//! The knowledge is a condition on whole mappings, so expected cracks can only be simulated. The chain moves
//! as in [`Walk::wander`] and rejects every move that breaks a condition.

use super::walk::{Held, Network, Walk};
use super::{Simulated, Simulation};
use crate::cracks::CrackSpace;
use crate::mcmc::{Move, Observe};
use crate::{Control, Error, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Pairs of items that the adversary knows never to occur together, and the pairs of codes that do. No single
/// code can be excluded for either item of a pair, only combinations of codes: a condition on whole mappings,
/// which section 7.3 leaves open.
pub struct Apart<'a> {
    /// Pairs of items that are known never to occur together.
    pub pairs: &'a [(u32, u32)],
    /// Returns whether two codes occur together in the released data. Codes have the numbers of the items
    /// that they stand for. The function must be symmetric.
    pub together: &'a (dyn Fn(u32, u32) -> bool + Sync),
}

/// Estimates the expected number of cracks over the mappings that keep the pairs apart; `None` if no mapping
/// is consistent with the belief even without this condition.
///
/// The walk makes small moves and takes back those that break a condition. It starts from the truth, or from
/// some perfect matching if the adversary is wrong about an item. If that start breaks a condition, another
/// one is searched for; it is an error if none is found.
pub fn simulate_apart(
    space: &CrackSpace,
    apart: &Apart,
    simulation: &Simulation,
    control: &Control,
) -> Result<Option<Simulated>> {
    let is_item = |item: u32| (item as usize) < space.items();
    if !apart
        .pairs
        .iter()
        .all(|&(one, other)| one != other && is_item(one) && is_item(other))
    {
        return Err(Error::invalid(
            "apart",
            "contains a pair that is not two different known items",
            "pairs of different items that occur or that the adversary knows of",
        ));
    }
    let network = Network::new(space)?;
    let Some(start) = network.start_matching(control)? else {
        return Ok(None);
    };
    let moves = KeepApart::new(apart, space.items());
    let start = moves.start(&network, start, simulation.seed, control)?;
    let outcome = simulation.run(&moves, &ObserveCodes(space), control, |seeds, _| {
        Walk::new(&network, start.clone(), seeds)
    })?;
    Ok(Some(Simulated {
        expected: outcome.mean,
        lower: outcome.lower,
        upper: outcome.upper,
        samples: outcome.samples,
        effective_samples: outcome.effective_samples,
        is_precise_enough: outcome.is_precise_enough,
        crack_probability: outcome.figures,
    }))
}

/// Moves that keep the pairs apart.
struct KeepApart<'a> {
    apart: &'a Apart<'a>,
    /// For every item, the items that it is known never to occur with.
    partners: Vec<Vec<u32>>,
}

/// Maximum number of pairs that are checked in the search for a start.
const MAX_PAIR_CHECKS: usize = 100_000_000;

impl<'a> KeepApart<'a> {
    fn new(apart: &'a Apart<'a>, items: usize) -> Self {
        let mut partners = vec![Vec::new(); items];
        for &(one, other) in apart.pairs {
            partners[one as usize].push(other);
            partners[other as usize].push(one);
        }
        KeepApart { apart, partners }
    }

    /// Returns whether two items hold codes that occur together.
    fn violates(&self, held: &[Held], one: u32, other: u32) -> bool {
        (self.apart.together)(held[one as usize].code, held[other as usize].code)
    }

    /// Returns the number of pairs that are not kept apart.
    fn violations(&self, held: &[Held]) -> usize {
        let pairs = self.apart.pairs.iter();
        pairs
            .filter(|&&(one, other)| self.violates(held, one, other))
            .count()
    }

    /// Searches for a mapping that breaks no condition. A move that breaks n more conditions is kept with
    /// probability exp(−2 n), so that the search can leave local minima.
    fn start(&self, network: &Network, held: Vec<Held>, seed: u64, control: &Control) -> Result<Vec<Held>> {
        let mut seeds = Pcg64Mcg::seed_from_u64(seed);
        let mut walk = Walk::new(network, held, &mut seeds);
        let mut violations = self.violations(&walk.held);
        for _ in 0..MAX_PAIR_CHECKS / self.apart.pairs.len().max(100) {
            if violations == 0 {
                break;
            }
            walk.wander(control)?;
            control.check()?;
            let now = self.violations(&walk.held);
            let more = now.saturating_sub(violations) as f64;
            match walk.random.random_bool((-2.0 * more).exp()) {
                true => violations = now,
                false => walk.undo(0),
            }
        }
        if violations > 0 {
            return Err(Error::invalid(
                "apart",
                "no mapping found that keeps all pairs apart",
                "pairs that never occur together",
            ));
        }
        Ok(walk.held)
    }
}

impl<'a> Move<Walk<'a>> for KeepApart<'_> {
    /// Rejecting a move is its own inverse, so the mappings that keep the pairs apart stay equally likely.
    /// Each of them is within one move of every other, even if all mappings in between break a condition.
    fn make(&self, walk: &mut Walk<'a>, control: &Control) -> Result<()> {
        walk.wander(control)?;
        let held = &walk.held;
        let is_violated = |&(item, _): &(u32, Held)| {
            let partners = &self.partners[item as usize];
            partners.iter().any(|&partner| self.violates(held, item, partner))
        };
        if walk.log.iter().any(is_violated) {
            walk.undo(0);
        }
        Ok(())
    }

    fn pace(&self, walk: &mut Walk<'a>, control: &Control) -> Result<u64> {
        walk.pace(|walk| self.make(walk, control))
    }
}

/// Observes cracks code by code, because here the codes of a group are not interchangeable.
struct ObserveCodes<'a>(&'a CrackSpace);

impl<'a> Observe<Walk<'a>> for ObserveCodes<'_> {
    fn figures(&self) -> usize {
        self.0.items()
    }

    fn observe(&self, walk: &Walk<'a>, tally: &mut [f64]) -> f64 {
        let mut cracks = 0.0;
        for (item, (held, tally)) in walk.held.iter().zip(tally).enumerate() {
            if held.code == item as u32 {
                *tally += 1.0;
                cracks += 1.0;
            }
        }
        cracks
    }

    fn upper_bound(&self) -> f64 {
        (0..self.0.items())
            .filter(|&item| self.0.is_compliant(item))
            .count() as f64
    }
}
