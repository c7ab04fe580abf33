//! Estimates by outdegree: the O-estimate of Lakshmanan et al. 2008 (Fig. 4), and the O-estimate after
//! propagation (Fig. 5).
//!
//! Both look at one item at a time and need no crack mapping. Neither is a bound: they are usually lower than
//! the exact expectation, but can also be higher.

use super::CrackSpace;

/// Returns the O-estimate (Lakshmanan et al., Fig. 4): the sum of 1/O_x over the items x whose own code is
/// one of their O_x candidates. An item that the adversary is wrong about is never cracked.
pub fn o_estimate(space: &CrackSpace) -> f64 {
    kahan_sum(&o_estimate_items(space))
}

/// Returns the contribution of each item to the O-estimate: its probability of being cracked if its code were
/// drawn from its candidates independently of all other items.
pub fn o_estimate_items(space: &CrackSpace) -> Vec<f64> {
    let graph = &space.graph;
    let degrees: Vec<u64> = graph.items.iter().map(|class| graph.degree(class)).collect();
    let of_item = |item: usize| match space.is_compliant(item) {
        true => 1.0 / degrees[space.class_of[item] as usize] as f64,
        false => 0.0,
    };
    (0..space.items()).map(of_item).collect()
}

/// Returns the O-estimate after propagation (Lakshmanan et al., Fig. 5): as long as a code or an item has a
/// single edge, that edge is taken and both its ends are removed.
///
/// If no crack mapping exists, several codes may have the same item as their only neighbour, or several items
/// the same code. One of them gets it, each with the same probability; the others get nothing.
pub fn propagated(space: &CrackSpace) -> f64 {
    kahan_sum(&propagated_items(space))
}

/// Returns the contribution of each item to the O-estimate after propagation.
pub fn propagated_items(space: &CrackSpace) -> Vec<f64> {
    let mut propagation = Propagation::new(space);
    propagation.run();
    propagation.probabilities()
}

/// Returns the sum of any number of summands without accumulating rounding errors (Kahan 1965), so that two
/// million items of one frequency group add up to one crack.
pub(super) fn kahan_sum(probabilities: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for probability in probabilities {
        let next = probability - lost;
        let larger = sum + next;
        lost = (larger - sum) - next;
        sum = larger;
    }
    sum
}

/// State of the propagation. The nodes of a class have the same degree, so degrees are kept per class.
///
/// If a crack mapping exists, only classes of a single node ever reach degree 1, so a class is either
/// complete or empty. If none exists, a class may be partly used, but then its remaining nodes have no edges.
struct Propagation<'a> {
    space: &'a CrackSpace,
    /// For every class of codes, the classes of items that can take these codes.
    items_of: Vec<Vec<u32>>,
    codes_left: Vec<u32>,
    items_left: Vec<u32>,
    code_degrees: Vec<u64>,
    item_degrees: Vec<u64>,
    /// For every class of items whose only edge is taken: the class of codes at its other end, and the
    /// probability that the edge joins one particular code of that class to one particular item of this
    /// class.
    taken: Vec<Option<(u32, f64)>>,
    queue: Vec<Node>,
}

enum Node {
    Codes(u32),
    Items(u32),
}

impl<'a> Propagation<'a> {
    fn new(space: &'a CrackSpace) -> Self {
        let graph = &space.graph;
        let mut items_of = vec![Vec::new(); graph.codes.len()];
        let mut code_degrees = vec![0; graph.codes.len()];
        for (class, items) in graph.items.iter().enumerate() {
            for &codes in &items.candidates {
                items_of[codes as usize].push(class as u32);
                code_degrees[codes as usize] += u64::from(items.size);
            }
        }
        Propagation {
            space,
            items_of,
            codes_left: graph.codes.clone(),
            items_left: graph.items.iter().map(|items| items.size).collect(),
            code_degrees,
            item_degrees: graph.items.iter().map(|items| graph.degree(items)).collect(),
            taken: vec![None; graph.items.len()],
            queue: Vec::new(),
        }
    }

    fn run(&mut self) {
        for items in (0..self.item_degrees.len()).rev() {
            self.enqueue_items_if_forced(items as u32);
        }
        for codes in (0..self.code_degrees.len()).rev() {
            self.enqueue_codes_if_forced(codes as u32);
        }
        while let Some(node) = self.queue.pop() {
            if let Some((codes, items)) = self.only_edge(node) {
                self.take(codes, items);
            }
        }
    }

    /// Returns the class of codes and the class of items at the ends of a node's only edge; `None` if the
    /// edge has been taken or removed in the meantime.
    fn only_edge(&self, node: Node) -> Option<(u32, u32)> {
        match node {
            Node::Items(items) if self.item_degrees[items as usize] == 1 => {
                let candidates = &self.space.graph.items[items as usize].candidates;
                let codes = candidates
                    .iter()
                    .find(|&&codes| self.codes_left[codes as usize] > 0);
                (self.items_left[items as usize] > 0).then_some((*codes?, items))
            }
            Node::Codes(codes) if self.code_degrees[codes as usize] == 1 => {
                let mut neighbours = self.items_of[codes as usize].iter();
                let items = neighbours.find(|&&items| self.items_left[items as usize] > 0);
                (self.codes_left[codes as usize] > 0).then_some((codes, *items?))
            }
            _ => None,
        }
    }

    fn take(&mut self, codes: u32, items: u32) {
        let (codes_left, items_left) = (self.codes_left[codes as usize], self.items_left[items as usize]);
        let probability = 1.0 / (f64::from(codes_left) * f64::from(items_left));
        self.taken[items as usize] = Some((codes, probability));
        self.codes_left[codes as usize] -= 1;
        self.items_left[items as usize] -= 1;
        for neighbour in 0..self.items_of[codes as usize].len() {
            let neighbour = self.items_of[codes as usize][neighbour];
            self.item_degrees[neighbour as usize] -= 1;
            self.enqueue_items_if_forced(neighbour);
        }
        for &candidate in &self.space.graph.items[items as usize].candidates {
            self.code_degrees[candidate as usize] -= 1;
            self.enqueue_codes_if_forced(candidate);
        }
    }

    fn enqueue_items_if_forced(&mut self, items: u32) {
        if self.item_degrees[items as usize] == 1 {
            self.queue.push(Node::Items(items));
        }
    }

    fn enqueue_codes_if_forced(&mut self, codes: u32) {
        if self.code_degrees[codes as usize] == 1 {
            self.queue.push(Node::Codes(codes));
        }
    }

    fn probabilities(&self) -> Vec<f64> {
        let of_item = |item: usize| {
            let (class, own) = (
                self.space.class_of[item] as usize,
                self.space.own_code_class[item],
            );
            match self.taken[class] {
                Some((codes, probability)) if codes == own => probability,
                None if self.space.is_compliant(item) && self.codes_left[own as usize] > 0 => {
                    1.0 / self.item_degrees[class] as f64
                }
                _ => 0.0,
            }
        };
        (0..self.space.items()).map(of_item).collect()
    }
}
