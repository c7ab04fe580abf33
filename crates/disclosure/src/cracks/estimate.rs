use super::CrackSpace;

/// The O-estimate (Lakshmanan et al., Fig. 4): the sum of 1/O_x over the items x whose own code is one of
/// their O_x candidates. An item that the adversary is wrong about is never cracked.
pub fn o_estimate(space: &CrackSpace) -> f64 {
    sum(&o_estimate_items(space))
}

/// What each item adds to the O-estimate: its chance of being cracked as though it were alone.
pub fn o_estimate_items(space: &CrackSpace) -> Vec<f64> {
    let graph = &space.graph;
    let degrees: Vec<u64> = graph.items.iter().map(|class| graph.degree(class)).collect();
    let of_item = |item: usize| match space.is_compliant(item) {
        true => 1.0 / degrees[space.class_of[item] as usize] as f64,
        false => 0.0,
    };
    (0..space.items()).map(of_item).collect()
}

/// The O-estimate after propagation (Lakshmanan et al., Fig. 5): as long as a code or an item has a single
/// edge, that edge is taken and both its ends are removed.
///
/// Where no crack mapping exists, several codes may have the same item as their only one, or the other way
/// round. One of them gets it, each with the same chance; the others are left with nothing.
pub fn propagated(space: &CrackSpace) -> f64 {
    sum(&propagated_items(space))
}

/// What each item adds to the O-estimate after propagation.
pub fn propagated_items(space: &CrackSpace) -> Vec<f64> {
    let mut propagation = Propagation::new(space);
    propagation.run();
    propagation.chances()
}

/// A sum that does not drift however many there are (Kahan 1965): two million items of one group are one crack.
pub(super) fn sum(chances: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for chance in chances {
        let next = chance - lost;
        let larger = sum + next;
        lost = (larger - sum) - next;
        sum = larger;
    }
    sum
}

/// Nodes of a class have the same degree, so degrees are kept per class. Where there is a crack mapping, only
/// classes of a single node ever have degree 1; hence a class is either whole or empty, or, where there is
/// none, what is left of it has no edges.
struct Propagation<'a> {
    space: &'a CrackSpace,
    /// For every class of codes, the classes of items that they are candidates of.
    items_of: Vec<Vec<u32>>,
    codes_left: Vec<u32>,
    items_left: Vec<u32>,
    code_degrees: Vec<u64>,
    item_degrees: Vec<u64>,
    /// For every class of items whose one edge is taken: the class of codes, and the chance that it is the
    /// edge between one given code of it and one given item of this class.
    taken: Vec<Option<(u32, f64)>>,
    due: Vec<Node>,
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
            due: Vec::new(),
        }
    }

    fn run(&mut self) {
        for items in (0..self.item_degrees.len()).rev() {
            self.items_changed(items as u32);
        }
        for codes in (0..self.code_degrees.len()).rev() {
            self.codes_changed(codes as u32);
        }
        while let Some(node) = self.due.pop() {
            if let Some((codes, items)) = self.only_edge(node) {
                self.take(codes, items);
            }
        }
    }

    /// `None` where the edge has been taken meanwhile, or lost.
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
        let chance = 1.0 / (f64::from(codes_left) * f64::from(items_left));
        self.taken[items as usize] = Some((codes, chance));
        self.codes_left[codes as usize] -= 1;
        self.items_left[items as usize] -= 1;
        for neighbour in 0..self.items_of[codes as usize].len() {
            let neighbour = self.items_of[codes as usize][neighbour];
            self.item_degrees[neighbour as usize] -= 1;
            self.items_changed(neighbour);
        }
        for &candidate in &self.space.graph.items[items as usize].candidates {
            self.code_degrees[candidate as usize] -= 1;
            self.codes_changed(candidate);
        }
    }

    fn items_changed(&mut self, items: u32) {
        if self.item_degrees[items as usize] == 1 {
            self.due.push(Node::Items(items));
        }
    }

    fn codes_changed(&mut self, codes: u32) {
        if self.code_degrees[codes as usize] == 1 {
            self.due.push(Node::Codes(codes));
        }
    }

    fn chances(&self) -> Vec<f64> {
        let of_item = |item: usize| {
            let (class, own) = (self.space.class_of[item] as usize, self.space.own[item]);
            match self.taken[class] {
                Some((codes, chance)) if codes == own => chance,
                None if self.space.is_compliant(item) && self.codes_left[own as usize] > 0 => {
                    1.0 / self.item_degrees[class] as f64
                }
                _ => 0.0,
            }
        };
        (0..self.space.items()).map(of_item).collect()
    }
}
