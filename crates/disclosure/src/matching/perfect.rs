use super::Graph;
use crate::{Control, Result};

/// A perfect matching of the graph: for every class of items, how many of them get a code of each candidate
/// class. `None` where there is no perfect matching.
pub(crate) fn perfect(graph: &Graph, control: &Control) -> Result<Option<Vec<Vec<u32>>>> {
    if graph.code_count() != graph.item_count() {
        return Ok(None);
    }
    let matching = maximum(graph, control)?;
    let given = matching.iter().flatten().copied().map(u64::from).sum::<u64>();
    Ok((given == graph.item_count()).then_some(matching))
}

/// A matching of as many items as possible, in the same form. There may be more codes than items, or fewer.
///
/// A sweep over the codes serves first the items whose last candidate comes first. That is the best there is
/// where candidates are intervals (Glover 1967); elsewhere shortest augmenting paths (Dinic 1970) do the rest.
pub(crate) fn maximum(graph: &Graph, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut matching = Partial::new(graph, control)?;
    matching.sweep(control)?;
    while matching.augment(control)? {}
    Ok(matching.given)
}

/// A matching in which some items still wait for a code.
struct Partial<'a> {
    graph: &'a Graph,
    /// For every class of items and every candidate, how many of them have a code of it.
    given: Vec<Vec<u32>>,
    /// Items without a code, by class.
    waiting: Vec<u32>,
    /// Codes without an item, by class.
    free: Vec<u32>,
    /// For every class of codes, the classes of items that it is a candidate of, and which of theirs.
    holders: Vec<Vec<(u32, u32)>>,
}

impl<'a> Partial<'a> {
    fn new(graph: &'a Graph, control: &Control) -> Result<Self> {
        let mut holders = vec![Vec::new(); graph.codes.len()];
        for (class, items) in graph.items.iter().enumerate() {
            control.check()?;
            for (index, &codes) in items.candidates.iter().enumerate() {
                holders[codes as usize].push((class as u32, index as u32));
            }
        }
        Ok(Partial {
            graph,
            given: graph
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
        for codes in 0..self.free.len() {
            control.check()?;
            let mut in_turn = self.holders[codes].clone();
            in_turn.sort_by_key(|&(class, _)| self.graph.items[class as usize].candidates.last());
            for (class, index) in in_turn {
                let more = self.waiting[class as usize].min(self.free[codes]);
                self.given[class as usize][index as usize] += more;
                self.waiting[class as usize] -= more;
                self.free[codes] -= more;
            }
        }
        Ok(())
    }

    /// Serve waiting items along as many shortest augmenting paths as there are. False: there are none.
    fn augment(&mut self, control: &Control) -> Result<bool> {
        let level = self.levels(control)?;
        // Classes of items are nodes 0, 1, …; those of codes follow. Arcs that led nowhere are not tried again.
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

    /// How far every node is from a waiting item.
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
            Some(codes) => self.holders[codes].len(),
        }
    }

    /// An item can take any candidate; a code can be taken from those who have it.
    fn follow(&self, node: usize, arc: usize) -> Option<usize> {
        let items = self.waiting.len();
        match node.checked_sub(items) {
            None => Some(items + self.graph.items[node].candidates[arc] as usize),
            Some(codes) => {
                let (class, index) = self.holders[codes][arc];
                (self.given[class as usize][index as usize] > 0).then_some(class as usize)
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

    /// Every item on the path takes a code of the class that follows it, from the class after that.
    fn shift(&mut self, path: &[usize], arcs: &[usize]) {
        let items = self.waiting.len();
        let (start, end) = (path[0], path[path.len() - 1] - items);
        let mut amount = self.waiting[start].min(self.free[end]);
        let taken_from = |node: &usize| self.holders[node - items][arcs[*node]];
        let inner = || path[..path.len() - 1].iter().skip(1).step_by(2);
        for (class, index) in inner().map(taken_from) {
            amount = amount.min(self.given[class as usize][index as usize]);
        }
        for (class, index) in inner().map(taken_from).collect::<Vec<_>>() {
            self.given[class as usize][index as usize] -= amount;
        }
        for &class in path.iter().step_by(2) {
            self.given[class][arcs[class]] += amount;
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

    /// Whether the items from this class on can all be given one of the free codes, tried one by one.
    fn has_perfect(items: &[ItemClass], free: &mut [u32]) -> bool {
        let Some(class) = items.iter().position(|items| items.size > 0) else {
            return true;
        };
        let mut fewer = items.to_vec();
        fewer[class].size -= 1;
        items[class].candidates.iter().any(|&codes| {
            if free[codes as usize] == 0 {
                return false;
            }
            free[codes as usize] -= 1;
            let found = has_perfect(&fewer, free);
            free[codes as usize] += 1;
            found
        })
    }

    fn assert_perfect(graph: &Graph, given: &[Vec<u32>]) {
        let mut used = vec![0; graph.codes.len()];
        for (items, given) in graph.items.iter().zip(given) {
            assert_eq!(given.len(), items.candidates.len());
            assert_eq!(given.iter().sum::<u32>(), items.size);
            for (&codes, &given) in items.candidates.iter().zip(given) {
                used[codes as usize] += given;
            }
        }
        assert_eq!(used, graph.codes);
    }

    /// Up to five classes of up to three twins each; as many codes as items more often than by chance.
    fn graphs() -> impl Strategy<Value = Graph> {
        let codes = prop::collection::vec(1..4u32, 0..6);
        let items = prop::collection::vec((1..4u32, prop::collection::vec(any::<bool>(), 5)), 0..6);
        (codes, items, prop::bool::weighted(0.9)).prop_map(|(mut codes, items, even)| {
            let mut items: Vec<ItemClass> = items
                .into_iter()
                .map(|(size, holds)| ItemClass {
                    size,
                    candidates: (0..codes.len() as u32)
                        .filter(|&codes| holds[codes as usize])
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
            match perfect(&graph, &Control::new()).unwrap() {
                None => prop_assert!(!exists),
                Some(given) => assert_perfect(&graph, &given),
            }
        }
    }

    #[test]
    fn an_empty_graph_has_the_empty_matching() {
        assert_eq!(perfect(&Graph::default(), &Control::new()), Ok(Some(Vec::new())));
    }

    /// The sweep gives code i to item i; then two items want the code after them, and one path has to move
    /// everybody on to the code that nobody took.
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
        let given = perfect(&graph, &Control::new())
            .unwrap()
            .expect("a perfect matching");
        assert_perfect(&graph, &given);
    }
}
