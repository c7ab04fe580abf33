//! Cracks of anonymised items (Lakshmanan, Ng and Ramesh 2008), by listing all mappings of a few items to
//! codes.
//!
//! These are the definitions as slow, obviously correct code, for tests of the fast algorithms of
//! `disclosure::cracks`.

/// For every item, whether each code can stand for it. The own code of item i is code i.
pub type Edges = Vec<Vec<bool>>;

/// Returns all crack mappings (section 2.2.1): for every item, the code that it gets.
pub fn mappings(edges: &Edges) -> Vec<Vec<u32>> {
    let mut mappings = vec![vec![]];
    for codes in edges {
        let extend = |mapping: Vec<u32>| {
            let is_possible = |code: &u32| codes[*code as usize] && !mapping.contains(code);
            let codes = (0..codes.len() as u32).filter(is_possible);
            codes
                .map(|code| [&mapping[..], &[code]].concat())
                .collect::<Vec<_>>()
        };
        mappings = mappings.into_iter().flat_map(extend).collect();
    }
    mappings
}

/// Returns the share of the mappings that crack each item. The sum is the expected number of cracks.
pub fn crack_probabilities(mappings: &[Vec<u32>]) -> Vec<f64> {
    let items = mappings.first().map_or(0, Vec::len);
    let cracking = |item: usize| {
        mappings
            .iter()
            .filter(|mapping| mapping[item] as usize == item)
            .count()
    };
    (0..items)
        .map(|item| cracking(item) as f64 / mappings.len() as f64)
        .collect()
}

/// Returns the share of the mappings that assign the codes of these items to these items, in any order;
/// `None` if there is no mapping.
pub fn itemset_probability(mappings: &[Vec<u32>], itemset: &[u32]) -> Option<f64> {
    let is_cracked = |mapping: &&Vec<u32>| {
        itemset
            .iter()
            .all(|&item| itemset.contains(&mapping[item as usize]))
    };
    let cracking = mappings.iter().filter(is_cracked).count();
    (!mappings.is_empty()).then(|| cracking as f64 / mappings.len() as f64)
}

/// Returns the expected number of these itemsets that a mapping cracks; `None` if there is no mapping.
pub fn expected_itemset_cracks(
    mappings: &[Vec<u32>],
    itemsets: impl IntoIterator<Item = Vec<u32>>,
) -> Option<f64> {
    let probability = |itemset: Vec<u32>| itemset_probability(mappings, &itemset);
    itemsets.into_iter().map(probability).sum()
}

/// Returns the itemsets that are cracked with at least the probability `crack_danger` (Definition 2.1), and
/// that probability.
pub fn vulnerable_itemsets(
    mappings: &[Vec<u32>],
    itemsets: impl IntoIterator<Item = Vec<u32>>,
    crack_danger: f64,
) -> Vec<(Vec<u32>, f64)> {
    let with_probability = |itemset: Vec<u32>| {
        let probability = itemset_probability(mappings, &itemset)?;
        Some((itemset, probability))
    };
    let is_vulnerable = |(_, probability): &(Vec<u32>, f64)| *probability >= crack_danger - 1e-12;
    itemsets
        .into_iter()
        .filter_map(with_probability)
        .filter(is_vulnerable)
        .collect()
}

/// Returns all itemsets of n items, including the empty one.
pub fn itemsets(n: usize) -> impl Iterator<Item = Vec<u32>> {
    (0u32..1 << n).map(move |set| (0..n as u32).filter(|item| set >> item & 1 == 1).collect())
}

/// Returns the codes that can stand for an item.
fn neighbours(edges: &Edges, item: u32) -> Vec<u32> {
    let codes = &edges[item as usize];
    (0..codes.len() as u32)
        .filter(|&code| codes[code as usize])
        .collect()
}

/// Returns the O-estimate of every item: 1/O_x if its own code can stand for it, otherwise 0.
pub fn o_estimate(edges: &Edges) -> Vec<f64> {
    let of_item = |item: u32| {
        let neighbours = neighbours(edges, item);
        if neighbours.contains(&item) {
            1.0 / neighbours.len() as f64
        } else {
            0.0
        }
    };
    (0..edges.len() as u32).map(of_item).collect()
}

/// Returns the OS estimate of an itemset: the probability that every item gets a code of the itemset, as if
/// items were independent.
pub fn os(edges: &Edges, itemset: &[u32]) -> f64 {
    let of_item = |&item: &u32| {
        let neighbours = neighbours(edges, item);
        let within = neighbours.iter().filter(|code| itemset.contains(code)).count();
        within as f64 / neighbours.len().max(1) as f64
    };
    itemset.iter().map(of_item).product()
}

/// Returns the OS2 estimate of an itemset, from the number of codes that can stand for any of its items.
pub fn os2(edges: &Edges, itemset: &[u32]) -> f64 {
    let mut union: Vec<u32> = itemset.iter().flat_map(|&item| neighbours(edges, item)).collect();
    union.sort_unstable();
    union.dedup();
    if itemset.iter().all(|code| union.contains(code)) {
        1.0 / (union.len() - itemset.len() + 1) as f64
    } else {
        0.0
    }
}

/// Propagates certain edges until nothing changes: if an edge is the only one of a node, all other edges at
/// its other end are removed.
pub fn propagate(mut edges: Edges) -> Edges {
    let nodes = 0..edges.len();
    loop {
        let before = edges.clone();
        for x in nodes.clone() {
            for y in nodes.clone() {
                let only_code = nodes.clone().all(|other| edges[x][other] == (other == y));
                let only_item = nodes.clone().all(|other| edges[other][y] == (other == x));
                for other in nodes.clone() {
                    edges[other][y] &= !only_code || other == x;
                    edges[x][other] &= !only_item || other == y;
                }
            }
        }
        if edges == before {
            return edges;
        }
    }
}

/// Filters edges as in Fig. 23, which calls Fig. 22 for every known pair: an item of a known pair can only
/// have a code of a frequent pair.
pub fn filter_edges(mut edges: Edges, known: &[(u32, u32)], frequent: &[(u32, u32)]) -> Edges {
    let is_frequent = |code: usize| {
        frequent
            .iter()
            .any(|&(a, b)| [a as usize, b as usize].contains(&code))
    };
    for item in known.iter().flat_map(|&(i, j)| [i, j]) {
        for (code, edge) in edges[item as usize].iter_mut().enumerate() {
            *edge &= is_frequent(code);
        }
    }
    edges
}
