//! Maximum and perfect matchings of a graph of classes.
//!
//! A greedy sweep finds most of the matching, and all of it if candidates are intervals. Shortest augmenting
//! paths find the rest.

use super::Graph;
use crate::{Control, Result};

/// Returns a perfect matching of the graph: for every class of items, how many of them get a code of each
/// candidate class. Returns `None` if there is no perfect matching.
pub(crate) fn perfect_matching(graph: &Graph, control: &Control) -> Result<Option<Vec<Vec<u32>>>> {
    if graph.code_count() != graph.item_count() {
        return Ok(None);
    }
    let matching = maximum_matching(graph, control)?;
    let assigned = matching.iter().flatten().copied().map(u64::from).sum::<u64>();
    Ok((assigned == graph.item_count()).then_some(matching))
}

/// Returns a matching of as many items as possible, in the same form as [`perfect_matching`]. There may be
/// more codes than items, or fewer.
///
/// A sweep over the codes serves those items first whose last candidate is the earliest. That is optimal if
/// candidates are intervals (Glover 1967). In other cases, shortest augmenting paths complete the matching
/// (Dinic 1970).
pub(crate) fn maximum_matching(graph: &Graph, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut matching = Partial::new(graph, control)?;
    matching.sweep(control)?;
    while matching.augment(control)? {}
    Ok(matching.assigned)
}

/// A matching in which some items are still without a code.
struct Partial<'a> {
    graph: &'a Graph,
    /// For every class of items and every candidate, the number of items that have a code of it.
    assigned: Vec<Vec<u32>>,
    /// Number of items without a code, by class.
    waiting: Vec<u32>,
    /// Number of codes without an item, by class.
    free: Vec<u32>,
    /// For every class of codes, the classes of items that have it as a candidate, and its index among their
    /// candidates.
    holders: Vec<Vec<(u32, u32)>>,
}

impl<'a> Partial<'a> {
    fn new(graph: &'a Graph, control: &Control) -> Result<Self> {
        let mut holders = vec![Vec::new(); graph.codes.len()];
        for (class, items) in graph.items.iter().enumerate() {
            control.check()?;
            for (index, &code_class) in items.candidates.iter().enumerate() {
                holders[code_class as usize].push((class as u32, index as u32));
            }
        }
        Ok(Partial {
            graph,
            assigned: graph
                .items
                .iter()
                .map(|items| vec![0; items.candidates.len()])
                .collect(),
            waiting: graph.items.iter().map(|items| items.size).collect(),
            free: graph.codes.clone(),
            holders,
        })
    }

    fn sweep(&mut self, control: &Control) -> Result<()> {
        for code_class in 0..self.free.len() {
            control.check()?;
            let mut in_turn = self.holders[code_class].clone();
            in_turn.sort_by_key(|&(class, _)| self.graph.items[class as usize].candidates.last());
            for (class, index) in in_turn {
                let more = self.waiting[class as usize].min(self.free[code_class]);
                self.assigned[class as usize][index as usize] += more;
                self.waiting[class as usize] -= more;
                self.free[code_class] -= more;
            }
        }
        Ok(())
    }

    /// Serves waiting items along all shortest augmenting paths. Returns false if there are none.
    fn augment(&mut self, control: &Control) -> Result<bool> {
        let level = self.levels(control)?;
        // Classes of items are nodes 0, 1, …; those of codes follow. Arcs that lead nowhere are not tried
        // again.
        let mut next_arc = vec![0; level.len()];
        let mut any = false;
        for start in 0..self.waiting.len() {
            control.check()?;
            while self.waiting[start] > 0 && self.augment_from(start, &level, &mut next_arc) {
                any = true;
            }
        }
        Ok(any)
    }

    /// Returns the distance of every node from a waiting item.
    fn levels(&self, control: &Control) -> Result<Vec<u32>> {
        let items = self.waiting.len();
        let mut level = vec![u32::MAX; items + self.free.len()];
        let mut queue: Vec<usize> = (0..items).filter(|&class| self.waiting[class] > 0).collect();
        for &class in &queue {
            level[class] = 0;
        }
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            control.check()?;
            done += 1;
            for arc in 0..self.arcs(node) {
                if let Some(to) = self.follow(node, arc).filter(|&to| level[to] == u32::MAX) {
                    level[to] = level[node] + 1;
                    queue.push(to);
                }
            }
        }
        Ok(level)
    }

    fn arcs(&self, node: usize) -> usize {
        match node.checked_sub(self.waiting.len()) {
            None => self.graph.items[node].candidates.len(),
            Some(code_class) => self.holders[code_class].len(),
        }
    }

    /// Returns the node that an arc leads to. An item can take any candidate; a code can be taken from a
    /// class of items only if that class has some, otherwise the result is `None`.
    fn follow(&self, node: usize, arc: usize) -> Option<usize> {
        let items = self.waiting.len();
        match node.checked_sub(items) {
            None => Some(items + self.graph.items[node].candidates[arc] as usize),
            Some(code_class) => {
                let (class, index) = self.holders[code_class][arc];
                (self.assigned[class as usize][index as usize] > 0).then_some(class as usize)
            }
        }
    }

    fn augment_from(&mut self, start: usize, level: &[u32], next_arc: &mut [usize]) -> bool {
        let items = self.waiting.len();
        let mut path = vec![start];
        while let Some(&node) = path.last() {
            if node >= items && self.free[node - items] > 0 {
                self.shift(&path, next_arc);
                return true;
            }
            let arcs = next_arc[node]..self.arcs(node);
            let leads_on = |&arc: &usize| {
                self.follow(node, arc)
                    .is_some_and(|to| level[to] == level[node] + 1)
            };
            let arc = arcs.clone().find(leads_on);
            next_arc[node] = arc.unwrap_or(arcs.end);
            match arc.and_then(|arc| self.follow(node, arc)) {
                Some(to) => path.push(to),
                None => {
                    path.pop();
                    if let Some(&before) = path.last() {
                        next_arc[before] += 1;
                    }
                }
            }
        }
        false
    }

    /// Moves codes along the path: every class of items on it takes codes of the next node, which the class
    /// of items after that node gives up.
    fn shift(&mut self, path: &[usize], arcs: &[usize]) {
        let items = self.waiting.len();
        let (start, end) = (path[0], path[path.len() - 1] - items);
        let mut amount = self.waiting[start].min(self.free[end]);
        let taken_from = |node: &usize| self.holders[node - items][arcs[*node]];
        let inner = || path[..path.len() - 1].iter().skip(1).step_by(2);
        for (class, index) in inner().map(taken_from) {
            amount = amount.min(self.assigned[class as usize][index as usize]);
        }
        for (class, index) in inner().map(taken_from).collect::<Vec<_>>() {
            self.assigned[class as usize][index as usize] -= amount;
        }
        for &class in path.iter().step_by(2) {
            self.assigned[class][arcs[class]] += amount;
        }
        self.waiting[start] -= amount;
        self.free[end] -= amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::ItemClass;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// Returns whether all these items can be given one of the free codes, trying all ways.
    fn has_perfect(items: &[ItemClass], free: &mut [u32]) -> bool {
        let Some(class) = items.iter().position(|items| items.size > 0) else {
            return true;
        };
        let mut fewer = items.to_vec();
        fewer[class].size -= 1;
        items[class].candidates.iter().any(|&code_class| {
            if free[code_class as usize] == 0 {
                return false;
            }
            free[code_class as usize] -= 1;
            let found = has_perfect(&fewer, free);
            free[code_class as usize] += 1;
            found
        })
    }

    fn assert_perfect(graph: &Graph, assigned: &[Vec<u32>]) {
        let mut used = vec![0; graph.codes.len()];
        for (items, assigned) in graph.items.iter().zip(assigned) {
            assert_eq!(assigned.len(), items.candidates.len());
            assert_eq!(assigned.iter().sum::<u32>(), items.size);
            for (&code_class, &assigned) in items.candidates.iter().zip(assigned) {
                used[code_class as usize] += assigned;
            }
        }
        assert_eq!(used, graph.codes);
    }

    /// Generates up to five classes of up to three codes or items each, usually with as many codes as items.
    fn graphs() -> impl Strategy<Value = Graph> {
        let codes = prop::collection::vec(1..4u32, 0..6);
        let items = prop::collection::vec((1..4u32, prop::collection::vec(any::<bool>(), 5)), 0..6);
        (codes, items, prop::bool::weighted(0.9)).prop_map(|(mut codes, items, even)| {
            let mut items: Vec<ItemClass> = items
                .into_iter()
                .map(|(size, holds)| ItemClass {
                    size,
                    candidates: (0..codes.len() as u32)
                        .filter(|&code_class| holds[code_class as usize])
                        .collect(),
                })
                .collect();
            let item_count: u32 = items.iter().map(|items| items.size).sum();
            let code_count: u32 = codes.iter().sum();
            if even {
                match (codes.last_mut(), items.last_mut()) {
                    (Some(last), _) if code_count < item_count => *last += item_count - code_count,
                    (_, Some(last)) if item_count < code_count => last.size += code_count - item_count,
                    _ => {}
                }
            }
            Graph { codes, items }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 3000,
            rng_seed: RngSeed::Fixed(4),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_perfect_matching_is_found_where_there_is_one(graph in graphs()) {
            let even = graph.code_count() == graph.item_count();
            let exists = even && has_perfect(&graph.items, &mut graph.codes.clone());
            match perfect_matching(&graph, &Control::new()).unwrap() {
                None => prop_assert!(!exists),
                Some(assigned) => assert_perfect(&graph, &assigned),
            }
        }
    }

    #[test]
    fn an_empty_graph_has_the_empty_matching() {
        assert_eq!(
            perfect_matching(&Graph::default(), &Control::new()),
            Ok(Some(Vec::new()))
        );
    }

    /// The sweep gives code i to item i. Then two items need the code after them, and one path has to move
    /// all items on to the code that is still free.
    #[test]
    fn a_long_path_is_found() {
        let length = 3000;
        let mut candidates: Vec<Vec<u32>> = (0..length).map(|item| vec![item, item + 1]).collect();
        candidates[length as usize - 1] = vec![length - 1, length + 1];
        candidates.extend([vec![0, length], vec![length]]);
        let graph = Graph {
            codes: vec![1; length as usize + 2],
            items: candidates
                .into_iter()
                .map(|candidates| ItemClass { size: 1, candidates })
                .collect(),
        };
        let assigned = perfect_matching(&graph, &Control::new())
            .unwrap()
            .expect("a perfect matching");
        assert_perfect(&graph, &assigned);
    }
}
