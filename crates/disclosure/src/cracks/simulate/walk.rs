//! A random walk on the perfect matchings of a graph, on the level of single items and codes.
//!
//! The walk makes swaps between two items and rotations along longer cycles. Both preserve the uniform
//! distribution over the perfect matchings, and rotations make the walk irreducible on every graph: see
//! [`Walk::rotate`].

use crate::cracks::CrackSpace;
use crate::matching::perfect_matching;
use crate::mcmc::State;
use crate::{Control, Error, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::ops::Range;

/// A crack space, laid out so that a random neighbour of a code is found quickly.
///
/// An *arc* is a class of items together with one of its candidates, a class of codes. An item *holds* a code
/// by the arc that joins their classes.
pub(super) struct Network<'a> {
    pub space: &'a CrackSpace,
    /// Items, sorted by class.
    members: Vec<u32>,
    /// Position of the first item of every class in `members`.
    first_member: Vec<u32>,
    /// For every number of an item, the class of the code with the same number. This is the item's own code,
    /// if it has one.
    code_class: Vec<u32>,
    /// First arc of every class of items; the others follow in the order of candidates.
    first_arc: Vec<u32>,
    /// Class of codes of every arc.
    codes: Vec<u32>,
    /// For every class of codes, the classes of items that it can stand for.
    takers: Vec<Vec<TakingClass>>,
    /// Number of items that a code of each class can stand for.
    degree: Vec<u32>,
}

/// A class of items that a code can stand for.
struct TakingClass {
    class: u32,
    arc: u32,
    /// Number of items in the classes before this one.
    before: u32,
}

/// The code that an item holds in a matching.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Held {
    pub arc: u32,
    /// Number of the code: that of the item whose own code it is, if there is one.
    pub code: u32,
}

impl<'a> Network<'a> {
    pub fn new(space: &'a CrackSpace) -> Result<Self> {
        let graph = &space.graph;
        let code_class = code_classes(space).ok_or_else(codes_do_not_match_items)?;
        let mut members: Vec<u32> = (0..space.items() as u32).collect();
        members.sort_by_key(|&item| space.class_of[item as usize]);
        let mut network = Network {
            space,
            members,
            code_class,
            first_member: Vec::new(),
            first_arc: Vec::new(),
            codes: Vec::new(),
            takers: graph.codes.iter().map(|_| Vec::new()).collect(),
            degree: vec![0; graph.codes.len()],
        };
        let mut first_member = 0;
        for (class, items) in graph.items.iter().enumerate() {
            network.first_member.push(first_member);
            network.first_arc.push(network.codes.len() as u32);
            for &codes in &items.candidates {
                network.takers[codes as usize].push(TakingClass {
                    class: class as u32,
                    arc: network.codes.len() as u32,
                    before: network.degree[codes as usize],
                });
                network.degree[codes as usize] += items.size;
                network.codes.push(codes);
            }
            first_member += items.size;
        }
        Ok(network)
    }

    pub fn arcs(&self) -> usize {
        self.codes.len()
    }

    /// Returns the class of the codes that are held by this arc.
    pub fn codes(&self, arc: u32) -> u32 {
        self.codes[arc as usize]
    }

    /// Returns the number of classes of items.
    pub fn classes(&self) -> u32 {
        self.space.graph.items.len() as u32
    }

    /// Returns the arcs of a class of items.
    pub fn arcs_of(&self, class: u32) -> Range<u32> {
        let first = self.first_arc[class as usize];
        first..first + self.space.graph.items[class as usize].candidates.len() as u32
    }

    /// Returns the arc by which an item would hold a code of this class; `None` if it cannot.
    pub fn arc(&self, item: u32, codes: u32) -> Option<u32> {
        self.arc_of_class(self.space.class_of[item as usize], codes)
    }

    /// Returns the arc by which items of a class would hold codes of a class; `None` if they cannot.
    pub fn arc_of_class(&self, items: u32, codes: u32) -> Option<u32> {
        let candidates = &self.space.graph.items[items as usize].candidates;
        let (&first, &last) = (candidates.first()?, candidates.last()?);
        // Candidates without gaps, as in interval beliefs, need no search.
        let index = if !(first..=last).contains(&codes) {
            None
        } else if (last - first) as usize + 1 == candidates.len() {
            Some((codes - first) as usize)
        } else {
            candidates.binary_search(&codes).ok()
        };
        Some(self.first_arc[items as usize] + index? as u32)
    }

    /// Draws one of the classes of items that a code of this class can stand for, uniformly. Returns the
    /// class and the arc.
    pub fn random_taking_class(&self, codes: u32, random: &mut Pcg64Mcg) -> (u32, u32) {
        let takers = &self.takers[codes as usize];
        let takers = &takers[random.random_range(0..takers.len())];
        (takers.class, takers.arc)
    }

    /// Draws one of the items that a code of this class can stand for, uniformly. Returns the class of the
    /// item, the arc, and the position of the item within its class.
    pub fn random_taking_member(&self, codes: u32, random: &mut Pcg64Mcg) -> (u32, u32, u32) {
        let drawn = random.random_range(0..self.degree[codes as usize]);
        let takers = &self.takers[codes as usize];
        let takers = &takers[takers.partition_point(|takers| takers.before <= drawn) - 1];
        (takers.class, takers.arc, drawn - takers.before)
    }

    /// Draws an item as [`random_taking_member`](Self::random_taking_member) does. Returns the item and the
    /// arc.
    fn random_taker(&self, codes: u32, random: &mut Pcg64Mcg) -> (u32, u32) {
        let (class, arc, member) = self.random_taking_member(codes, random);
        (
            self.members[(self.first_member[class as usize] + member) as usize],
            arc,
        )
    }

    /// Returns the matching in which every item holds its own code; `None` if the adversary is wrong about an
    /// item.
    pub fn truth(&self) -> Option<Vec<Held>> {
        let own = |(item, &codes): (usize, &u32)| {
            Some(Held {
                arc: self.arc(item as u32, codes)?,
                code: item as u32,
            })
        };
        self.space.own_code_class.iter().enumerate().map(own).collect()
    }

    /// Returns the truth if possible, otherwise some perfect matching; `None` if there is none.
    pub fn start_matching(&self, control: &Control) -> Result<Option<Vec<Held>>> {
        match self.truth() {
            Some(truth) => Ok(Some(truth)),
            None => Ok(self.matching(control)?.map(|matching| self.arrange(&matching))),
        }
    }

    /// Returns the number of items that hold a code by each arc in some perfect matching; `None` if there is
    /// none.
    pub fn matching(&self, control: &Control) -> Result<Option<Vec<u32>>> {
        Ok(perfect_matching(&self.space.graph, control)?.map(|given| given.concat()))
    }

    /// Counts the items that hold a code by each arc.
    pub fn count(&self, held: &[Held]) -> Vec<u32> {
        let mut counts = vec![0; self.arcs()];
        for held in held {
            counts[held.arc as usize] += 1;
        }
        counts
    }

    /// Returns the items by class, and the range of every class.
    pub fn members(&self) -> (&[u32], impl Iterator<Item = Range<usize>> + '_) {
        let sizes = self.space.graph.items.iter().map(|items| items.size as usize);
        let ranges = self.first_member.iter().zip(sizes);
        let range = |(&first, size): (&u32, usize)| first as usize..first as usize + size;
        (&self.members, ranges.map(range))
    }

    /// Returns the class of every code, in the order of the items that own them.
    pub fn code_classes(&self) -> &[u32] {
        &self.code_class
    }

    /// Returns a matching in which the given number of items hold a code by each arc.
    pub fn arrange(&self, counts: &[u32]) -> Vec<Held> {
        let mut codes_of_class = vec![Vec::new(); self.space.graph.codes.len()];
        for (code, &class) in self.code_class.iter().enumerate() {
            codes_of_class[class as usize].push(code as u32);
        }
        let arcs = (0..)
            .zip(counts)
            .flat_map(|(arc, &items)| (0..items).map(move |_| arc));
        let mut held = vec![Held { arc: 0, code: 0 }; self.members.len()];
        for (&item, arc) in self.members.iter().zip(arcs) {
            if let Some(code) = codes_of_class[self.codes(arc) as usize].pop() {
                held[item as usize] = Held { arc, code };
            }
        }
        held
    }
}

/// Returns the class of every item's own code; items without one get the remaining codes. `None` if a class
/// has too few codes for the items that own them, or if the total numbers of codes and items differ.
fn code_classes(space: &CrackSpace) -> Option<Vec<u32>> {
    let mut left = space.graph.codes.clone();
    for &own in space
        .own_code_class
        .iter()
        .filter(|&&own| own != CrackSpace::NO_CODE)
    {
        let left = left.get_mut(own as usize)?;
        *left = left.checked_sub(1)?;
    }
    let mut unowned = (0..)
        .zip(left)
        .flat_map(|(class, left)| (0..left).map(move |_| class));
    let class = |&own: &u32| match own {
        CrackSpace::NO_CODE => unowned.next(),
        own => Some(own),
    };
    let classes = space
        .own_code_class
        .iter()
        .map(class)
        .collect::<Option<Vec<u32>>>()?;
    unowned.next().is_none().then_some(classes)
}

fn codes_do_not_match_items() -> Error {
    Error::invalid(
        "space",
        "the items' own codes do not match the codes of the graph",
        "a space in which each class has as many codes as items that own them",
    )
}

/// A perfect matching that changes at random.
pub(super) struct Walk<'a> {
    pub network: &'a Network<'a>,
    pub random: Pcg64Mcg,
    /// Code that each item holds.
    pub held: Vec<Held>,
    /// Changes since the log was last cleared, as items and the codes that they held before, to be undone if
    /// necessary.
    pub log: Vec<(u32, Held)>,
    /// Buffer for a random permutation of the items.
    pub permutation: Vec<u32>,
    /// Number of attempts so far to move a code.
    pub steps: u64,
}

/// A state that can count how many items hold a code by each arc.
pub(super) trait Counted {
    /// Calls `see` with arcs and numbers of items; the numbers of an arc that comes several times add up.
    fn counted(&self, see: impl FnMut(u32, u32));
}

impl Counted for Walk<'_> {
    fn counted(&self, mut see: impl FnMut(u32, u32)) {
        for held in &self.held {
            see(held.arc, 1);
        }
    }
}

impl State for Walk<'_> {
    fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// Share of rotations in [`Walk::wander`]; the other moves are swaps, which are shorter.
const ROTATION_SHARE: f64 = 0.25;

/// Probability that [`Walk::wander`] continues with another swap or rotation.
const CONTINUE_PROBABILITY: f64 = 0.25;

/// Number of steps between two checks of the control within a long move.
pub(super) const STEPS_BETWEEN_CHECKS: u64 = 1 << 14;

impl<'a> Walk<'a> {
    pub fn new(network: &'a Network<'a>, held: Vec<Held>, seeds: &mut Pcg64Mcg) -> Self {
        Walk {
            network,
            random: Pcg64Mcg::from_rng(seeds),
            held,
            log: Vec::new(),
            permutation: Vec::new(),
            steps: 0,
        }
    }

    /// Makes a few swaps and rotations, usually a single swap.
    ///
    /// Each swap or rotation is as likely as its inverse, and so is any sequence of them. The limits of
    /// rotations are drawn up to at least the number of items, and any number of rotations is possible. So
    /// every matching is within one such move of every other.
    pub fn wander(&mut self, control: &Control) -> Result<()> {
        self.log.clear();
        loop {
            if self.random.random_bool(ROTATION_SHARE) {
                let doublings = (self.held.len() as u64).next_power_of_two().ilog2();
                let limit = 4 << self.random.random_range(0..=doublings);
                self.rotate(limit, control)?;
            } else {
                self.swap_neighbours();
            }
            if !self.random.random_bool(CONTINUE_PROBABILITY) {
                return Ok(());
            }
        }
    }

    /// Returns how many moves take about as many steps as there are items. Makes some moves to measure this.
    pub fn pace(&mut self, mut make: impl FnMut(&mut Self) -> Result<()>) -> Result<u64> {
        let items = self.held.len() as u64;
        let mut moves = 0;
        while moves < 64 || self.steps < 4 * items {
            make(self)?;
            moves += 1;
        }
        Ok(items * moves / self.steps.max(1))
    }

    fn random_item(&mut self) -> u32 {
        self.random.random_range(0..self.held.len() as u32)
    }

    /// Makes a *rotation*: an item gives up its code; one of the items that the free code can stand for,
    /// drawn at random, takes it and gives up its own; and so on, until the first item takes the free code.
    /// If this takes more than `limit` steps, everything is undone.
    ///
    /// *Uniform*: let the codes v0, v1, …, vk become free in this order. The rotation has probability 1/n · Π
    /// 1/degree(vi). Its inverse frees the same codes in the opposite order, so it is equally likely, with or
    /// without the limit. A chain of such moves therefore preserves the uniform distribution.
    ///
    /// *Irreducible*: two perfect matchings differ by disjoint cycles in which their edges alternate. A
    /// rotation that starts anywhere in a cycle and happens to follow it takes at most as many steps as there
    /// are items. So one rotation per cycle leads from any matching to any other, if the limit is at least
    /// that number. Swaps can only follow cycles of two items.
    fn rotate(&mut self, limit: u64, control: &Control) -> Result<()> {
        let start = self.log.len();
        let first = self.random_item();
        let mut free = self.held[first as usize];
        self.log.push((first, free));
        for step in 1..=limit {
            let (item, arc) = self
                .network
                .random_taker(self.network.codes(free.arc), &mut self.random);
            let taken = Held { arc, code: free.code };
            let given_up = std::mem::replace(&mut self.held[item as usize], taken);
            if item == first {
                self.steps += step;
                return Ok(());
            }
            self.log.push((item, given_up));
            free = given_up;
            if step.is_multiple_of(STEPS_BETWEEN_CHECKS) {
                control.check()?;
            }
        }
        self.steps += limit;
        self.undo(start);
        Ok(())
    }

    /// Draws two items, the second from those that the code of the first can stand for, and swaps their codes
    /// if the first can have the code of the second.
    ///
    /// The items may be drawn in either order. So the swap of codes v and w has probability 1/n ·
    /// (1/degree(v) + 1/degree(w)), and so has its inverse.
    fn swap_neighbours(&mut self) {
        let one = self.random_item();
        let codes = self.network.codes(self.held[one as usize].arc);
        let (other, _) = self.network.random_taker(codes, &mut self.random);
        let before = [(one, self.held[one as usize]), (other, self.held[other as usize])];
        if one != other && self.swap(one, other) {
            self.log.extend(before);
        }
        self.steps += 1;
    }

    /// Swaps the codes of two items if each can have the code of the other. Returns whether it did.
    pub fn swap(&mut self, one: u32, other: u32) -> bool {
        let (mine, yours) = (self.held[one as usize], self.held[other as usize]);
        let arcs = (
            self.network.arc(one, self.network.codes(yours.arc)),
            self.network.arc(other, self.network.codes(mine.arc)),
        );
        let (Some(to_mine), Some(to_yours)) = arcs else {
            return false;
        };
        self.held[one as usize] = Held {
            arc: to_mine,
            code: yours.code,
        };
        self.held[other as usize] = Held {
            arc: to_yours,
            code: mine.code,
        };
        true
    }

    /// Undoes the changes in the log from `start` on and removes them from it.
    pub fn undo(&mut self, start: usize) {
        for (item, held) in self.log.drain(start..).rev() {
            self.held[item as usize] = held;
        }
    }
}
