//! The attack on a network of randomising steps (Malik 2014, sections 3.1 and 3.3): the adversary knows with
//! which probability each node passes what it gets on to which other node, but not what it did.

use crate::{Control, Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network of nodes and channels without a cycle. Nodes without a channel that leads there are *entries*,
/// nodes without a channel that leads away are *codes*, and all others are randomising steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// For every node, where its channels lead and their probabilities, in ascending order.
    channels: Vec<Vec<(u32, f64)>>,
    /// For every node, whether no channel leads there.
    is_entry: Vec<bool>,
    /// Position of every node in an order in which all channels lead forward.
    position: Vec<u32>,
}

/// Amount by which the probabilities of a node's channels may exceed 1, because of rounding.
const TOLERANCE: f64 = 1e-9;

impl Network {
    /// Returns the network with these channels, given as (from, to, probability) in any order. The
    /// probabilities of a node's channels sum to at most 1; the rest is the probability that nothing is
    /// passed on. It is an error if there is a cycle.
    pub fn new(nodes: usize, channels: &[(u32, u32, f64)], control: &Control) -> Result<Self> {
        let invalid = |problem: &str| {
            let allowed =
                "probabilities from 0 to 1, with a sum of at most 1 over the channels of every node";
            Err(Error::invalid("probability", problem, allowed))
        };
        let mut network = Network::unordered(nodes, channels, control)?;
        if channels.iter().any(|channel| !(0.0..=1.0).contains(&channel.2)) {
            return invalid("is not between 0 and 1");
        }
        let sum = |channels: &Vec<(u32, f64)>| channels.iter().map(|channel| channel.1).sum::<f64>();
        if network
            .channels
            .iter()
            .any(|channels| sum(channels) > 1.0 + TOLERANCE)
        {
            return invalid("sums to more than 1 over the channels of a node");
        }
        network.put_in_order(control)?;
        Ok(network)
    }

    /// Returns the network in which every node chooses each of its channels with the same probability, given
    /// as (from, to). It is an error if there is a cycle.
    pub fn of_equal_channels(nodes: usize, channels: &[(u32, u32)], control: &Control) -> Result<Self> {
        let channels: Vec<(u32, u32, f64)> = channels.iter().map(|&(from, to)| (from, to, 1.0)).collect();
        let mut network = Network::unordered(nodes, &channels, control)?;
        for channels in &mut network.channels {
            let share = 1.0 / channels.len().max(1) as f64;
            channels.iter_mut().for_each(|channel| channel.1 = share);
        }
        network.put_in_order(control)?;
        Ok(network)
    }

    fn unordered(nodes: usize, channels: &[(u32, u32, f64)], control: &Control) -> Result<Self> {
        let mut network = Network {
            channels: vec![Vec::new(); nodes],
            is_entry: vec![true; nodes],
            position: vec![u32::MAX; nodes],
        };
        for &(from, to, probability) in channels {
            if from.max(to) as usize >= nodes {
                return Err(Error::invalid(
                    "network",
                    "has a channel to or from a node that does not exist",
                    format!("channels between {nodes} nodes"),
                ));
            }
            network.channels[from as usize].push((to, probability));
            network.is_entry[to as usize] = false;
        }
        for channels in &mut network.channels {
            control.check()?;
            channels.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
        Ok(network)
    }

    /// Numbers the nodes so that all channels lead forward (Kahn 1962). Of several possible nodes, the one
    /// with the lowest number comes first, so that sums do not depend on the order of channels.
    fn put_in_order(&mut self, control: &Control) -> Result<()> {
        let mut before = vec![0u32; self.channels.len()];
        for &(to, _) in self.channels.iter().flatten() {
            before[to as usize] += 1;
        }
        let ready = (0..self.channels.len() as u32).filter(|&node| before[node as usize] == 0);
        let mut ready: BinaryHeap<Reverse<u32>> = ready.map(Reverse).collect();
        let mut next = 0;
        while let Some(Reverse(node)) = ready.pop() {
            control.check()?;
            self.position[node as usize] = next;
            next += 1;
            for &(to, _) in &self.channels[node as usize] {
                before[to as usize] -= 1;
                if before[to as usize] == 0 {
                    ready.push(Reverse(to));
                }
            }
        }
        if (next as usize) < self.channels.len() {
            return Err(Error::invalid(
                "network",
                "has a cycle: a channel leads back to a node before it",
                "channels that lead from entries through randomising steps to codes",
            ));
        }
        Ok(())
    }

    /// Returns the probability that each entry becomes each code, as (entry, code, probability) in ascending
    /// order: the sum, over all paths from the entry to the code, of the products of their channels'
    /// probabilities. Pairs without a path are left out. Pairs whose paths all have the probability 0 are
    /// not, so that every entry and every code is in some pair.
    pub fn attack(&self, control: &Control) -> Result<Vec<(u32, u32, f64)>> {
        let entries = || (0..self.channels.len() as u32).filter(|&node| self.is_entry[node as usize]);
        control.set_total(entries().count() as u64);
        let mut found: Vec<(u32, u32, f64)> = Vec::new();
        let mut arriving = vec![0.0; self.channels.len()];
        let mut is_reached = vec![false; self.channels.len()];
        for entry in entries() {
            let mut reached = self.reached(entry, &mut is_reached, control)?;
            reached.sort_unstable_by_key(|&node| self.position[node as usize]);
            arriving[entry as usize] = 1.0;
            let of_entry = found.len();
            for &node in &reached {
                let probability = std::mem::take(&mut arriving[node as usize]);
                is_reached[node as usize] = false;
                let channels = &self.channels[node as usize];
                for &(to, share) in channels {
                    arriving[to as usize] += probability * share;
                }
                if channels.is_empty() {
                    if found.len() == found.capacity() {
                        control.require::<(u32, u32, f64)>(2 * found.len())?;
                    }
                    found.push((entry, node, probability.min(1.0)));
                }
            }
            found[of_entry..].sort_unstable_by_key(|&(_, code, _)| code);
            control.advance(1);
        }
        Ok(found)
    }

    /// Returns the nodes that can be reached from a node, itself included, and marks them.
    fn reached(&self, from: u32, is_reached: &mut [bool], control: &Control) -> Result<Vec<u32>> {
        let mut reached = vec![from];
        is_reached[from as usize] = true;
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            control.check()?;
            next += 1;
            for &(to, _) in &self.channels[node as usize] {
                if !std::mem::replace(&mut is_reached[to as usize], true) {
                    reached.push(to);
                }
            }
        }
        Ok(reached)
    }
}
