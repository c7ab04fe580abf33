//! Probability of a single edge of a graph, by simulation.

use super::estimate::effective_samples;
use super::table::{ExchangesAndRotations, LogFactorials, Table};
use super::walk::Network;
use super::{Estimate, Simulation, group_starts};
use crate::cracks::CrackSpace;
use crate::matching::{Graph, ItemClass, perfect_matching};
use crate::mcmc::Observe;
use crate::{Control, Result};
use std::time::Instant;

/// Estimates the probability that one particular item of a class gets one particular code of a class. `graph`
/// has only edges that are in some perfect matching. Returns 0 if this edge is not one of them.
pub(in crate::cracks) fn simulate_edge(
    graph: Graph,
    items: u32,
    codes: u32,
    simulation: &Simulation,
    control: &Control,
) -> Result<Estimate> {
    let class = &graph.items[items as usize];
    let (item_count, code_count) = (f64::from(class.size), f64::from(graph.codes[codes as usize]));
    if class.candidates.binary_search(&codes).is_err() {
        return Ok(Estimate::exact(0.0));
    }
    // All items of the class get one of these codes, or all these codes are for the class.
    let takers = graph
        .items
        .iter()
        .filter(|class| class.candidates.binary_search(&codes).is_ok());
    if class.candidates.len() == 1 {
        return Ok(Estimate::exact(1.0 / code_count));
    }
    if takers.count() == 1 {
        return Ok(Estimate::exact(1.0 / item_count));
    }
    let deadline = simulation
        .budget
        .and_then(|budget| Instant::now().checked_add(budget));
    let Some(space) = space_of(graph, control)? else {
        return Ok(Estimate::exact(0.0));
    };
    let network = Network::new(&space)?;
    let (Some(arc), Some(matching)) = (network.arc_of_class(items, codes), network.matching(control)?) else {
        return Ok(Estimate::exact(0.0));
    };
    let starts = group_starts(&network, matching);
    let factorials = LogFactorials::up_to(space.items());
    let observed = ObserveEdge::new(&network, items, codes, arc);
    let outcome = simulation.run(&ExchangesAndRotations, &observed, control, |seeds, chain| {
        Table::new(&network, &factorials, starts[chain % starts.len()].clone(), seeds)
    })?;
    let effective = effective_samples(&space, simulation, &outcome, deadline, control)?;
    let bound = 1.0 / item_count.max(code_count);
    Ok(Estimate::of_outcome(&outcome, bound, effective).at_most(bound))
}

/// Returns the space of a graph without known owners of codes. The owners are those of some perfect matching.
/// It is found with classes in reverse order, so that chains that start from it and from that of
/// [`Network::matching`] begin far from each other.
fn space_of(graph: Graph, control: &Control) -> Result<Option<CrackSpace>> {
    let last = graph.codes.len().saturating_sub(1) as u32;
    let reversed = Graph {
        codes: graph.codes.iter().rev().copied().collect(),
        items: graph
            .items
            .iter()
            .rev()
            .map(|class| ItemClass {
                size: class.size,
                candidates: class.candidates.iter().rev().map(|codes| last - codes).collect(),
            })
            .collect(),
    };
    let Some(matching) = perfect_matching(&reversed, control)? else {
        return Ok(None);
    };
    let mut space = CrackSpace {
        class_of: Vec::new(),
        own_code_class: Vec::new(),
        graph,
    };
    for (number, (class, given)) in (0..).zip(space.graph.items.iter().zip(matching.iter().rev())) {
        for (&codes, &items) in class.candidates.iter().rev().zip(given) {
            for _ in 0..items {
                space.class_of.push(number);
                space.own_code_class.push(codes);
            }
        }
    }
    Ok(Some(space))
}

/// Observes the probability of the edge between an item and a code, over all arrangements of items within their
/// classes and of codes within theirs.
///
/// How often the edge is in the mapping would be known imprecisely, because it is rare. More mappings are one
/// swap away from having it: those in which the item and the holder of the code can swap their codes. A mapping
/// with the edge is one swap away from d of them, if d other items can take the code and hold a code that the
/// item can take. So each of them counts 1/d. A mapping with the edge counts itself only if d is 0.
struct ObserveEdge {
    /// Arc of the edge.
    arc: u32,
    /// Arcs of the items that count for d, and of the item itself.
    around: Vec<u32>,
    /// Every arc by which the item may hold a code, with the arcs by which those hold the code that can take
    /// the item's.
    swaps: Vec<(u32, Vec<u32>)>,
    /// 1 / (s m), if there are s items and m codes in the classes of the edge.
    share: f64,
}

impl ObserveEdge {
    fn new(network: &Network, items: u32, codes: u32, arc: u32) -> Self {
        let graph = &network.space.graph;
        let own = &graph.items[items as usize];
        let takers =
            (0..network.classes()).filter_map(|class| Some((class, network.arc_of_class(class, codes)?)));
        let takers: Vec<(u32, u32)> = takers.collect();
        let around = takers.iter().flat_map(|&(class, _)| {
            let arcs = own.candidates.iter();
            arcs.filter_map(move |&codes| network.arc_of_class(class, codes))
        });
        let swaps = own.candidates.iter().filter_map(|&given_up| {
            let can_take = |(class, _): &&(u32, u32)| network.arc_of_class(*class, given_up).is_some();
            let holders = takers.iter().filter(can_take).map(|&(_, arc)| arc);
            Some((network.arc_of_class(items, given_up)?, holders.collect()))
        });
        ObserveEdge {
            arc,
            around: around.collect(),
            swaps: swaps.collect(),
            share: 1.0 / (f64::from(own.size) * f64::from(graph.codes[codes as usize])),
        }
    }
}

impl<'a> Observe<Table<'a>> for ObserveEdge {
    fn figures(&self) -> usize {
        0
    }

    fn observe(&self, table: &Table<'a>, _: &mut [f64]) -> f64 {
        let sum = |arcs: &[u32]| arcs.iter().map(|&arc| f64::from(table.count(arc))).sum::<f64>();
        let others = sum(&self.around) - 1.0;
        // Number of pairs of an item of the class and a code of the class that are joined.
        let joined = f64::from(table.count(self.arc));
        if others == 0.0 {
            return joined * self.share;
        }
        let swaps = self.swaps.iter().map(|(arc, holders)| match table.count(*arc) {
            0 => 0.0,
            items => f64::from(items) * sum(holders),
        });
        (swaps.sum::<f64>() - joined) * self.share / others
    }

    fn upper_bound(&self) -> f64 {
        1.0
    }
}
