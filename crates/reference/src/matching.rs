//! Perfect matchings by enumeration.

use disclosure::matching::Graph;
use std::collections::HashMap;

/// Returns all permutations of the numbers below `n`.
pub fn permutations(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else {
        return vec![vec![]];
    };
    let extend = |shorter: Vec<usize>| {
        (0..n).map(move |place| {
            let mut longer = shorter.clone();
            longer.insert(place, last);
            longer
        })
    };
    permutations(last).into_iter().flat_map(extend).collect()
}

/// Returns the number of ways to give every item a code of its own that can stand for it.
pub fn matchings(graph: &Graph) -> f64 {
    count(
        graph,
        &items(graph),
        &mut graph.codes.clone(),
        &mut HashMap::new(),
    )
}

/// Returns for every class of items and each of its candidates the share of perfect matchings that give one
/// particular item of the class a code of the candidate; `None` if there is no perfect matching.
pub fn shares(graph: &Graph) -> Option<Vec<Vec<f64>>> {
    let all = matchings(graph);
    let of_class = |class: usize| {
        let mut others = items(graph);
        others.remove(others.iter().position(|&other| other == class)?);
        let share = |&code_class: &u32| {
            let mut left = graph.codes.clone();
            left[code_class as usize] -= 1;
            let with = count(graph, &others, &mut left, &mut HashMap::new());
            f64::from(graph.codes[code_class as usize]) * with / all
        };
        Some(graph.items[class].candidates.iter().map(share).collect())
    };
    (all > 0.0).then(|| (0..graph.items.len()).filter_map(of_class).collect())
}

/// Returns the class of every item.
fn items(graph: &Graph) -> Vec<usize> {
    (0..graph.items.len())
        .flat_map(|class| vec![class; graph.items[class].size as usize])
        .collect()
}

/// Returns the number of ways to give the items of these classes the codes that are left: the first item gets
/// any of them, then the others. `known` caches counts.
fn count(
    graph: &Graph,
    items: &[usize],
    left: &mut Vec<u32>,
    known: &mut HashMap<(usize, Vec<u32>), f64>,
) -> f64 {
    let Some((&class, rest)) = items.split_first() else {
        return 1.0;
    };
    if let Some(&count) = known.get(&(items.len(), left.clone())) {
        return count;
    }
    let mut sum = 0.0;
    for &code_class in &graph.items[class].candidates {
        let choices = left[code_class as usize];
        if choices > 0 {
            left[code_class as usize] -= 1;
            sum += f64::from(choices) * count(graph, rest, left, known);
            left[code_class as usize] += 1;
        }
    }
    known.insert((items.len(), left.clone()), sum);
    sum
}
