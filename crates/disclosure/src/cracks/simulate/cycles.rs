//! Expected number of cracked itemsets of a size, by simulation.
//!
//! A mapping is a permutation of the items: every item is taken for the item whose code it gets. An itemset is
//! cracked if the permutation maps it onto itself, so if it is a union of cycles. The number of cracked
//! itemsets of size k that consist of items of interest is therefore the coefficient of z^k in the product of
//! 1 + z^length over the cycles of such items.

use super::estimate::effective_samples;
use super::table::{ExchangesAndRotations, LogFactorials, Table};
use super::walk::Network;
use super::{Estimate, Simulation, group_starts};
use crate::cracks::CrackSpace;
use crate::mcmc::{CHAINS, Move, Observe, State};
use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::cell::RefCell;
use std::time::Instant;

/// Which itemsets are counted.
pub(in crate::cracks) struct CycleCounting<'a> {
    /// For each item, whether it is of interest.
    pub is_of_interest: &'a [bool],
    /// Expected number of cracked itemsets with 0, 1, … items among the items that are not simulated. The
    /// last number is for the size in question.
    pub of_others: &'a [f64],
    /// Upper bound of the answer: the number of itemsets.
    pub itemsets: f64,
}

/// Estimates the expected number of cracked itemsets of a size; `None` if no mapping is consistent with the
/// belief.
pub(in crate::cracks) fn simulate_cycles(
    space: &CrackSpace,
    counting: &CycleCounting,
    simulation: &Simulation,
    control: &Control,
) -> Result<Option<Estimate>> {
    let deadline = simulation
        .budget
        .and_then(|budget| Instant::now().checked_add(budget));
    let network = Network::new(space)?;
    let Some(matching) = network.matching(control)? else {
        return Ok(None);
    };
    let starts = group_starts(&network, matching);
    let factorials = LogFactorials::up_to(space.items());
    // Every chain has four numbers for each item, and a polynomial and the number of cycles for each size.
    let per_chain = 4 * space.items() + 3 * counting.of_others.len();
    control.require::<u32>(CHAINS as usize * per_chain)?;
    let observed = ObserveCycles {
        codes_by_class: codes_by_class(&network),
        network: &network,
        counting,
        control,
    };
    let outcome = simulation.run(&ArrangedMoves, &observed, control, |seeds, chain| Arranged {
        table: Table::new(&network, &factorials, starts[chain % starts.len()].clone(), seeds),
        scratch: RefCell::new(Scratch::new(seeds)),
    })?;
    if !outcome.mean.is_finite() {
        return Err(Error::invalid(
            "size",
            "the number of cracked itemsets is too large to be simulated",
            "a smaller size, or fewer items of interest",
        ));
    }
    let effective = effective_samples(space, simulation, &outcome, deadline, control)?;
    Ok(Some(Estimate::of_outcome(&outcome, counting.itemsets, effective)))
}

/// A table, and room for a matching with that table.
struct Arranged<'a> {
    table: Table<'a>,
    /// Observing does not change the table. But it draws random numbers.
    scratch: RefCell<Scratch>,
}

struct Scratch {
    random: Pcg64Mcg,
    members: Vec<u32>,
    codes: Vec<u32>,
    /// Place of the next code of every class in `codes`.
    next: Vec<usize>,
    /// Item that each item is taken for; `TAKEN` after its cycle was counted.
    taken_for: Vec<u32>,
    /// Number of cycles of each length.
    cycles: Vec<u32>,
    polynomial: Vec<f64>,
}

const TAKEN: u32 = u32::MAX;

impl Scratch {
    fn new(seeds: &mut Pcg64Mcg) -> Self {
        Scratch {
            random: Pcg64Mcg::from_rng(seeds),
            members: Vec::new(),
            codes: Vec::new(),
            next: Vec::new(),
            taken_for: Vec::new(),
            cycles: Vec::new(),
            polynomial: Vec::new(),
        }
    }
}

impl State for Arranged<'_> {
    fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

/// The moves of the table.
struct ArrangedMoves;

impl<'a> Move<Arranged<'a>> for ArrangedMoves {
    fn make(&self, arranged: &mut Arranged<'a>, control: &Control) -> Result<()> {
        ExchangesAndRotations.make(&mut arranged.table, control)
    }

    fn pace(&self, arranged: &mut Arranged<'a>, control: &Control) -> Result<u64> {
        ExchangesAndRotations.pace(&mut arranged.table, control)
    }
}

/// Codes, sorted by class, with the place of the first code of every class.
struct CodesByClass {
    codes: Vec<u32>,
    first: Vec<usize>,
}

fn codes_by_class(network: &Network) -> CodesByClass {
    let classes = network.code_classes();
    let mut codes: Vec<u32> = (0..classes.len() as u32).collect();
    codes.sort_by_key(|&code| classes[code as usize]);
    let sizes = network.space.graph.codes.iter();
    let first = sizes.scan(0, |next, &size| {
        let first = *next;
        *next += size as usize;
        Some(first)
    });
    CodesByClass {
        first: first.collect(),
        codes,
    }
}

/// Observes the number of cracked itemsets in a random matching that has the table of the chain. All such
/// matchings are equally likely.
struct ObserveCycles<'a> {
    network: &'a Network<'a>,
    counting: &'a CycleCounting<'a>,
    codes_by_class: CodesByClass,
    control: &'a Control,
}

impl ObserveCycles<'_> {
    /// Draws a matching with the given table.
    fn arrange(&self, table: &Table, scratch: &mut Scratch) {
        let (members, classes) = self.network.members();
        let CodesByClass { codes, first } = &self.codes_by_class;
        scratch.members.clear();
        scratch.members.extend_from_slice(members);
        scratch.codes.clear();
        scratch.codes.extend_from_slice(codes);
        scratch.next.clear();
        scratch.next.extend_from_slice(first);
        scratch.taken_for.resize(members.len(), TAKEN);
        for (&first, &size) in first.iter().zip(&self.network.space.graph.codes) {
            scratch.codes[first..first + size as usize].shuffle(&mut scratch.random);
        }
        for (class, range) in (0..).zip(classes) {
            scratch.members[range.clone()].shuffle(&mut scratch.random);
            let mut next_member = range.start;
            for arc in self.network.arcs_of(class) {
                let next_code = &mut scratch.next[self.network.codes(arc) as usize];
                for _ in 0..table.count(arc) {
                    let item = scratch.members[next_member];
                    scratch.taken_for[item as usize] = scratch.codes[*next_code];
                    next_member += 1;
                    *next_code += 1;
                }
            }
        }
    }

    /// Counts the cycles of items of interest by their length, up to the size of the itemsets.
    fn count_cycles(&self, scratch: &mut Scratch) {
        let size = self.counting.of_others.len() - 1;
        scratch.cycles.clear();
        scratch.cycles.resize(size + 1, 0);
        for first in 0..scratch.taken_for.len() {
            let (mut item, mut length, mut is_of_interest) = (first, 0, true);
            while scratch.taken_for[item] != TAKEN {
                let next = std::mem::replace(&mut scratch.taken_for[item], TAKEN);
                is_of_interest &= self.counting.is_of_interest[item];
                length += 1;
                item = next as usize;
            }
            if (1..=size).contains(&length) && is_of_interest {
                scratch.cycles[length] += 1;
            }
        }
    }

    /// Returns the number of cracked itemsets: a coefficient of a product of polynomials.
    fn coefficient(&self, scratch: &mut Scratch) -> f64 {
        let Scratch {
            cycles, polynomial, ..
        } = scratch;
        let of_others = self.counting.of_others;
        polynomial.clear();
        polynomial.extend_from_slice(of_others);
        for (length, &count) in cycles.iter().enumerate().filter(|&(_, &count)| count > 0) {
            // Once cancelled, the number does not matter.
            if multiply_by_cycles(polynomial, length, count, self.control).is_err() {
                return 0.0;
            }
        }
        polynomial.last().copied().unwrap_or(0.0)
    }
}

/// Multiplies a polynomial by (1 + z^length)^count.
fn multiply_by_cycles(polynomial: &mut [f64], length: usize, count: u32, control: &Control) -> Result<()> {
    for degree in (length..polynomial.len()).rev() {
        control.check()?;
        let (mut sum, mut ways) = (polynomial[degree], 1.0);
        for taken in 1..=(degree / length).min(count as usize) {
            ways *= f64::from(count + 1 - taken as u32) / taken as f64;
            sum += ways * polynomial[degree - taken * length];
        }
        polynomial[degree] = sum;
    }
    Ok(())
}

impl<'a> Observe<Arranged<'a>> for ObserveCycles<'_> {
    fn figures(&self) -> usize {
        0
    }

    fn observe(&self, arranged: &Arranged<'a>, _: &mut [f64]) -> f64 {
        let scratch = &mut *arranged.scratch.borrow_mut();
        self.arrange(&arranged.table, scratch);
        self.count_cycles(scratch);
        self.coefficient(scratch)
    }

    fn upper_bound(&self) -> f64 {
        self.counting.itemsets
    }
}
