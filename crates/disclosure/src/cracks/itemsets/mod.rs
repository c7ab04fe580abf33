//! Probabilities that itemsets are cracked (Lakshmanan et al. 2008, sections 3 and 4.3).
//!
//! An itemset is cracked if the codes of its items are mapped to these items, in any order. For an adversary
//! who knows nothing or every frequency, there are closed formulas (Lemmas 3.1 to 3.6). For other beliefs,
//! [`ItemsetCracks`] has the published estimates OS and OS2, and exact probabilities.
//!
//! [`ItemsetCracks::risk`] simulates what cannot be counted, and [`expected_itemset_cracks`] returns the
//! expected number of cracked itemsets of a table for any belief.
//!
//! Exact probabilities come from counting perfect matchings. The graph is split into connected components,
//! which are mapped independently. In each component, the probability is the number of matchings within the
//! itemset, times the number of matchings of the rest, divided by the number of all matchings. Intermediate
//! results are cached.

mod blocks;
mod expected;
mod risk;

pub use expected::{CountedItemsets, ExpectedItemsetCracks, expected_itemset_cracks};
pub use risk::ItemsetRisk;

use super::{CrackSpace, Frequencies};
use crate::matching::{Components, Counting, Graph, ItemClass, Shares, admissible};
use crate::{Control, Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Returns the probability that an adversary who knows nothing cracks an itemset of `size` out of `items`
/// items: one of all combinations is right (Lakshmanan et al., Lemma 3.1). 0 if there is no itemset of that
/// size.
pub fn ignorant_itemset_probability(items: u64, size: u64) -> f64 {
    let Some(rest) = items.checked_sub(size) else {
        return 0.0;
    };
    let fewer = size.min(rest);
    (1..=fewer).fold(1.0, |product, j| product * j as f64 / (items - fewer + j) as f64)
}

/// Returns the expected number of itemsets of `size` that an adversary who knows nothing cracks, among those
/// that contain only items of interest (Lemma 3.3): 1 if all items are of interest (Lemma 3.2).
pub fn ignorant_itemset_cracks(items: u64, of_interest: u64, size: u64) -> f64 {
    binomial_ratio(of_interest.min(items), items, size)
}

/// Returns the probability that an adversary who knows every frequency cracks an itemset: the right items
/// must have been chosen from every frequency group (Lemma 3.4).
pub fn point_valued_itemset_probability(frequencies: &Frequencies, itemset: &[u32]) -> Result<f64> {
    let itemset = checked_itemset("itemset", frequencies.items(), itemset)?;
    Ok(point_valued_unchecked(frequencies, &itemset))
}

/// Returns [`point_valued_itemset_probability`] of an itemset that was checked before.
pub(super) fn point_valued_unchecked(frequencies: &Frequencies, itemset: &[u32]) -> f64 {
    let mut groups: Vec<u32> = itemset
        .iter()
        .map(|&item| frequencies.group_of()[item as usize])
        .collect();
    groups.sort_unstable();
    let of_group = |run: &[u32]| {
        let size = frequencies.group_sizes()[run[0] as usize];
        ignorant_itemset_probability(size.into(), run.len() as u64)
    };
    groups.chunk_by(u32::eq).map(of_group).product()
}

/// Returns the expected number of itemsets of `size` that an adversary who knows every frequency cracks,
/// among those that contain only items of interest.
///
/// Lemmas 3.5 and 3.6 assume that every frequency group has at least `size` items. This formula holds for all
/// groups. Let a group have m items, c of them of interest. A choice of x of its items is the right one with
/// probability 1/C(m, x), and C(c, x) choices are of interest. So the answer is the coefficient of z^size in
/// the product over the groups of Σ C(c, x)/C(m, x) z^x. It is infinite if a number is too large for `f64`.
pub fn point_valued_itemset_cracks(
    frequencies: &Frequencies,
    of_interest: &[u32],
    size: usize,
    control: &Control,
) -> Result<f64> {
    let of_interest = checked_itemset("items", frequencies.items(), of_interest)?;
    if size > of_interest.len() {
        return Ok(0.0);
    }
    let mut of_interest_by_group = vec![0u64; frequencies.group_sizes().len()];
    for &item in &of_interest {
        of_interest_by_group[frequencies.group_of()[item as usize] as usize] += 1;
    }
    // cracked[x]: expected number of cracked itemsets with x items, all from the groups so far.
    let mut cracked = vec![0.0; size + 1];
    cracked[0] = 1.0;
    let mut so_far = 0;
    for (&group_size, &of_interest) in frequencies.group_sizes().iter().zip(&of_interest_by_group) {
        let most = size.min(of_interest as usize);
        let mut of_group = vec![1.0; most + 1];
        for x in 1..=most {
            of_group[x] = of_group[x - 1] * (of_interest + 1 - x as u64) as f64
                / (u64::from(group_size) + 1 - x as u64) as f64;
        }
        so_far += of_interest as usize;
        for total in (1..=size.min(so_far)).rev() {
            control.check()?;
            let ways = of_group.iter().take(total + 1).enumerate();
            let ways = ways.filter(|(_, share)| **share > 0.0);
            cracked[total] = ways.fold(0.0, |sum, (x, share)| sum + share * cracked[total - x]);
        }
    }
    Ok(cracked[size])
}

/// Returns C(part, size) / C(whole, size), even if both are far too large for any number type.
fn binomial_ratio(part: u64, whole: u64, size: u64) -> f64 {
    if size > part {
        return 0.0;
    }
    (0..size).fold(1.0, |product, j| product * (part - j) as f64 / (whole - j) as f64)
}

/// Returns the itemset in ascending order; an error if it contains an item twice or an unknown item.
pub(super) fn checked_itemset(argument: &'static str, items: usize, itemset: &[u32]) -> Result<Vec<u32>> {
    let invalid = |problem: &str| Error::invalid(argument, problem, "distinct items that occur in the data");
    let mut itemset = itemset.to_vec();
    itemset.sort_unstable();
    match itemset.last() {
        Some(&last) if last as usize >= items => Err(invalid("contains an item that is not in the data")),
        _ if itemset.windows(2).any(|pair| pair[0] == pair[1]) => Err(invalid("contains an item twice")),
        _ => Ok(itemset),
    }
}

/// Computes the probability that itemsets are cracked: that the codes of an itemset's items are mapped to
/// these items, in any order. One value serves many itemsets, and caches the results that several of them
/// need.
pub struct ItemsetCracks<'a> {
    space: &'a CrackSpace,
    /// Number of codes that can stand for an item of each class.
    degrees: Vec<u64>,
    /// Needed for exact answers only. `None` if no mapping is consistent with the belief.
    mappings: OnceLock<Option<Mappings>>,
}

/// The edges that are in some mapping, split into connected components, which are mapped independently.
struct Mappings {
    /// Component of every class of items, and its number there.
    items: Vec<ClassInComponent>,
    /// Component of every class of codes, and its number there.
    codes: Vec<ClassInComponent>,
    components: Vec<Component>,
}

/// Component of a class, and the number of the class within the component.
#[derive(Debug, Clone, Copy)]
struct ClassInComponent {
    component: u32,
    class: u32,
}

struct Component {
    graph: Graph,
    counting: Counting,
    ln_matchings: OnceLock<f64>,
    /// Cached probabilities of parts of three or more items.
    probabilities: Cache<Part, f64>,
    /// Cached shares of the component (`None`), or of what remains of it without an edge; they serve all
    /// parts of one or two items.
    shares: Cache<Option<Edge>, Option<Arc<Rest>>>,
}

/// The part of an itemset that lies in one component: the classes of its items and the classes of its codes.
/// An item and its own code are at the same position, unless some item of the itemset and its own code are in
/// different components.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Part {
    items: Vec<u32>,
    codes: Vec<u32>,
}

/// A class of items and a class of codes that can stand for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Edge {
    item: u32,
    code: u32,
}

/// An expensive computation on a component.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Work {
    /// Finding the shares of the component, or of what remains of it without an edge.
    Shares(Option<Edge>),
    /// Counting the mappings of the component without a part.
    Matchings(Part),
}

/// What remains of a component, and its shares.
struct Rest {
    graph: Reduced,
    shares: Shares,
}

/// A graph without some items and codes. Empty classes are removed, so classes are renumbered.
struct Reduced {
    graph: Graph,
    /// New number of every class of items; `None` if it is empty.
    items: Vec<Option<u32>>,
    /// New number of every class of codes; `None` if it is empty.
    codes: Vec<Option<u32>>,
}

/// Cache of results. Two threads may compute the same result at the same time; it does not matter which one
/// is kept.
struct Cache<K, V>(Mutex<FxHashMap<K, V>>);

/// Cost of finding the shares of all edges, relative to that of counting the mappings.
const STEPS_OF_SHARES: f64 = 3.0;

impl<'a> ItemsetCracks<'a> {
    /// Prepares the probabilities of the itemsets of a space.
    pub fn new(space: &'a CrackSpace) -> Self {
        let graph = &space.graph;
        ItemsetCracks {
            space,
            degrees: graph.items.iter().map(|items| graph.degree(items)).collect(),
            mappings: OnceLock::new(),
        }
    }

    /// Returns the published estimate OS (section 4.3): the probability that every item is mapped to one of
    /// the itemset's codes, as if items were independent. 0 if no code can stand for some item.
    pub fn os(&self, itemset: &[u32]) -> Result<f64> {
        Ok(self.os_unchecked(&self.checked_itemset(itemset)?))
    }

    /// Returns the published estimate OS2 (section 4.3): the itemset is treated as a single item that has all
    /// candidates of its items. 0 if one of the itemset's codes is not a candidate of any of its items.
    pub fn os2(&self, itemset: &[u32]) -> Result<f64> {
        let itemset = self.checked_itemset(itemset)?;
        let classes: FxHashSet<u32> = itemset.iter().map(|&item| self.class_of(item)).collect();
        let candidates = |class: u32| &self.space.graph.items[class as usize].candidates;
        let union: FxHashSet<u32> = classes.into_iter().flat_map(candidates).copied().collect();
        if !itemset
            .iter()
            .all(|&item| union.contains(&self.own_code_class(item)))
        {
            return Ok(0.0);
        }
        let sizes = union.iter().map(|&class| self.space.graph.codes[class as usize]);
        let size: u64 = sizes.map(u64::from).sum();
        Ok(1.0 / (size - itemset.len() as u64 + 1) as f64)
    }

    /// Returns the share of all mappings that crack the itemset; `None` if there is no mapping.
    pub fn exact(&self, itemset: &[u32], control: &Control) -> Result<Option<f64>> {
        self.exact_unchecked(&self.checked_itemset(itemset)?, control)
    }

    /// Returns the predicted number of steps (see [`Counting::steps`]) of exact answers for all these
    /// itemsets together, if nothing is cached yet. Callers should ask before [`exact`](Self::exact), which
    /// has no limit of its own.
    pub fn steps<'i>(&self, itemsets: impl IntoIterator<Item = &'i [u32]>, control: &Control) -> Result<f64> {
        let Some(mappings) = self.mappings(control)? else {
            return Ok(0.0);
        };
        let mut planned: FxHashSet<(u32, Work)> = FxHashSet::default();
        let mut steps = 0.0;
        for itemset in itemsets {
            control.check()?;
            for (number, part) in self.parts(mappings, &self.checked_itemset(itemset)?) {
                let component = &mappings.components[number as usize];
                for work in component.required_work(part) {
                    let of_work = component.steps(&work);
                    steps += if planned.insert((number, work)) {
                        of_work
                    } else {
                        0.0
                    };
                }
            }
        }
        Ok(steps)
    }

    fn checked_itemset(&self, itemset: &[u32]) -> Result<Vec<u32>> {
        checked_itemset("itemset", self.space.items(), itemset)
    }

    fn class_of(&self, item: u32) -> u32 {
        self.space.class_of[item as usize]
    }

    fn own_code_class(&self, item: u32) -> u32 {
        self.space.own_code_class[item as usize]
    }

    /// Returns [`os`](Self::os) of an itemset that was checked before.
    pub(super) fn os_unchecked(&self, itemset: &[u32]) -> f64 {
        let mut codes: Vec<u32> = itemset.iter().map(|&item| self.own_code_class(item)).collect();
        codes.sort_unstable();
        let mut classes: Vec<u32> = itemset.iter().map(|&item| self.class_of(item)).collect();
        classes.sort_unstable();
        let of_class = |run: &[u32]| {
            let class = run[0] as usize;
            if self.degrees[class] == 0 {
                return 0.0;
            }
            let candidates = &self.space.graph.items[class].candidates;
            let is_candidate = |codes: &&[u32]| candidates.binary_search(&codes[0]).is_ok();
            let within: usize = codes
                .chunk_by(u32::eq)
                .filter(is_candidate)
                .map(<[u32]>::len)
                .sum();
            (within as f64 / self.degrees[class] as f64).powi(run.len() as i32)
        };
        classes.chunk_by(u32::eq).map(of_class).product()
    }

    /// Returns [`exact`](Self::exact) of an itemset that was checked before.
    pub(super) fn exact_unchecked(&self, itemset: &[u32], control: &Control) -> Result<Option<f64>> {
        let Some(mappings) = self.mappings(control)? else {
            return Ok(None);
        };
        let mut probability = 1.0;
        for (component, part) in self.parts(mappings, itemset) {
            probability *= mappings.components[component as usize].probability(part, control)?;
            if probability == 0.0 {
                break;
            }
        }
        Ok(Some(probability))
    }

    /// Returns whether any mapping is consistent with the belief.
    pub(super) fn has_mapping(&self, control: &Control) -> Result<bool> {
        Ok(self.mappings(control)?.is_some())
    }

    /// Returns the mappings, which are computed on first use. They are computed outside of the lock, because
    /// the computation is parallel and its threads may ask for them too.
    fn mappings(&self, control: &Control) -> Result<Option<&Mappings>> {
        if let Some(known) = self.mappings.get() {
            return Ok(known.as_ref());
        }
        let admissible = admissible(&self.space.graph, control)?;
        let found = admissible
            .map(|graph| Mappings::new(&graph, control))
            .transpose()?;
        Ok(self.mappings.get_or_init(|| found).as_ref())
    }

    /// Splits an itemset into its parts in the components.
    fn parts(&self, mappings: &Mappings, itemset: &[u32]) -> BTreeMap<u32, Part> {
        let signature = |&item: &u32| (self.class_of(item), self.own_code_class(item));
        let mut signatures: Vec<(u32, u32)> = itemset.iter().map(signature).collect();
        signatures.sort_unstable();
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        for (class, own) in signatures {
            let (item, code) = (mappings.items[class as usize], mappings.codes[own as usize]);
            parts.entry(item.component).or_default().items.push(item.class);
            parts.entry(code.component).or_default().codes.push(code.class);
        }
        parts
    }
}

impl Mappings {
    fn new(graph: &Graph, control: &Control) -> Result<Self> {
        let parts = Components::new(graph, control)?;
        let places = |of_classes: &[u32], members: &[Vec<u32>]| {
            let place = |(class, &component): (usize, &u32)| {
                let members = &members[component as usize];
                let number = members.partition_point(|&other| (other as usize) < class);
                ClassInComponent {
                    component,
                    class: number as u32,
                }
            };
            of_classes
                .iter()
                .enumerate()
                .map(place)
                .collect::<Vec<ClassInComponent>>()
        };
        let items = places(&parts.of_items, &parts.items);
        let codes = places(&parts.of_codes, &parts.codes);
        let here = |candidates: &[u32]| {
            candidates
                .iter()
                .map(|&class| codes[class as usize].class)
                .collect()
        };
        let of_part = |(code_classes, item_classes): (&Vec<u32>, &Vec<u32>)| {
            let sizes = code_classes.iter().map(|&class| graph.codes[class as usize]);
            let items = item_classes.iter().map(|&class| {
                let ItemClass { size, candidates } = &graph.items[class as usize];
                ItemClass {
                    size: *size,
                    candidates: here(candidates),
                }
            });
            let graph = Graph {
                codes: sizes.collect(),
                items: items.collect(),
            };
            Component::new(graph, control)
        };
        let components = parts.codes.iter().zip(&parts.items).map(of_part);
        let components = components.collect::<Result<_>>()?;
        Ok(Mappings {
            items,
            codes,
            components,
        })
    }
}

impl Component {
    fn new(graph: Graph, control: &Control) -> Result<Self> {
        Ok(Component {
            counting: Counting::new(&graph, control)?,
            graph,
            ln_matchings: OnceLock::new(),
            probabilities: Cache::new(),
            shares: Cache::new(),
        })
    }

    fn is_edge(&self, item: u32, code: u32) -> bool {
        let candidates = &self.graph.items[item as usize].candidates;
        candidates.binary_search(&code).is_ok()
    }

    /// Returns the probability that these items and these codes are mapped to each other.
    fn probability(&self, part: Part, control: &Control) -> Result<f64> {
        if part.items.len() != part.codes.len() {
            return Ok(0.0);
        }
        control.check()?;
        match part.items.len() {
            1 => self.probability_of_edge(None, part.edge(0, 0), control),
            2 => self.probability_of_pair(&part, control),
            _ => match self.probabilities.get(&part) {
                Some(probability) => Ok(probability),
                None => {
                    let probability = self.probability_by_counting(&part, control)?;
                    self.probabilities.insert(part, probability);
                    Ok(probability)
                }
            },
        }
    }

    /// Returns the number of matchings of the items with the codes, times the number of matchings of all
    /// others, divided by the number of all matchings.
    fn probability_by_counting(&self, part: &Part, control: &Control) -> Result<f64> {
        let within = Counting::new(&self.induced(part), control)?.ln_matchings(control)?;
        if within == f64::NEG_INFINITY {
            return Ok(0.0);
        }
        let rest = self.without(part).graph;
        let rest = Counting::new(&rest, control)?.ln_matchings(control)?;
        Ok((within + rest - self.ln_matchings(control)?).exp().min(1.0))
    }

    /// Returns the same probability for a part of two items. All pairs with the same first edge share what
    /// remains of the component without that edge, so its shares are computed once for all of them.
    fn probability_of_pair(&self, pair: &Part, control: &Control) -> Result<f64> {
        let ways = self.ways(pair);
        let Some(&[first, second]) = ways.first() else {
            return Ok(0.0);
        };
        let of_first = self.probability_of_edge(None, first, control)?;
        let of_second = self.probability_of_edge(Some(first), second, control)?;
        Ok((ways.len() as f64 * of_first * of_second).min(1.0))
    }

    /// Returns the ways to match two items with two codes, first the one that matches equal positions.
    fn ways(&self, pair: &Part) -> Vec<[Edge; 2]> {
        let straight = [pair.edge(0, 0), pair.edge(1, 1)];
        let crossed = [pair.edge(0, 1), pair.edge(1, 0)];
        let mut ways = vec![straight, crossed];
        ways.retain(|way| way.iter().all(|edge| self.is_edge(edge.item, edge.code)));
        ways
    }

    /// Returns the probability that a particular code of the class is mapped to a particular item, given that
    /// another edge of the component is in the mapping.
    fn probability_of_edge(&self, given: Option<Edge>, edge: Edge, control: &Control) -> Result<f64> {
        let rest = match self.shares.get(&given) {
            Some(rest) => rest,
            None => {
                let graph = self.without(&Part::of_edge(given));
                let shares = Counting::new(&graph.graph, control)?.shares(control)?;
                let rest = shares.map(|shares| Arc::new(Rest { graph, shares }));
                self.shares.insert(given, rest.clone());
                rest
            }
        };
        Ok(rest.map_or(0.0, |rest| rest.probability(edge)))
    }

    /// Returns the logarithm of the number of matchings, which is computed on first use.
    fn ln_matchings(&self, control: &Control) -> Result<f64> {
        if let Some(&known) = self.ln_matchings.get() {
            return Ok(known);
        }
        let found = self.counting.ln_matchings(control)?;
        Ok(*self.ln_matchings.get_or_init(|| found))
    }

    /// Returns the computations that the probability of a part requires.
    fn required_work(&self, part: Part) -> Vec<Work> {
        match part.items.len() {
            size if size != part.codes.len() => vec![],
            1 => vec![Work::Shares(None)],
            2 => match self.ways(&part).first() {
                Some(&[first, _]) => vec![Work::Shares(None), Work::Shares(Some(first))],
                None => vec![],
            },
            _ => vec![Work::Matchings(part)],
        }
    }

    fn steps(&self, work: &Work) -> f64 {
        match work {
            Work::Shares(_) => STEPS_OF_SHARES * self.counting.steps(),
            Work::Matchings(_) => self.counting.steps(),
        }
    }

    /// Returns the graph induced by a part.
    fn induced(&self, part: &Part) -> Graph {
        let codes = multiplicities(&part.codes);
        let items = multiplicities(&part.items).into_iter().map(|(class, size)| {
            let is_candidate = |&code: &u32| self.is_edge(class, codes[code as usize].0);
            ItemClass {
                size,
                candidates: (0..codes.len() as u32).filter(is_candidate).collect(),
            }
        });
        Graph {
            items: items.collect(),
            codes: codes.iter().map(|&(_, size)| size).collect(),
        }
    }

    /// Returns the graph without a part.
    fn without(&self, part: &Part) -> Reduced {
        let mut sizes_of_items: Vec<u32> = self.graph.items.iter().map(|items| items.size).collect();
        let mut sizes_of_codes = self.graph.codes.clone();
        for (class, taken) in multiplicities(&part.items) {
            sizes_of_items[class as usize] -= taken;
        }
        for (class, taken) in multiplicities(&part.codes) {
            sizes_of_codes[class as usize] -= taken;
        }
        let items = renumber_nonempty(&sizes_of_items);
        let codes = renumber_nonempty(&sizes_of_codes);
        let classes = self.graph.items.iter().zip(&sizes_of_items);
        let rest_of_items = classes
            .filter(|&(_, &size)| size > 0)
            .map(|(class, &size)| ItemClass {
                size,
                candidates: class
                    .candidates
                    .iter()
                    .filter_map(|&code| codes[code as usize])
                    .collect(),
            });
        Reduced {
            graph: Graph {
                items: rest_of_items.collect(),
                codes: sizes_of_codes.iter().copied().filter(|&size| size > 0).collect(),
            },
            items,
            codes,
        }
    }
}

impl Part {
    fn of_edge(edge: Option<Edge>) -> Self {
        Part {
            items: edge.iter().map(|edge| edge.item).collect(),
            codes: edge.iter().map(|edge| edge.code).collect(),
        }
    }

    fn edge(&self, item: usize, code: usize) -> Edge {
        Edge {
            item: self.items[item],
            code: self.codes[code],
        }
    }
}

impl Rest {
    /// Returns the probability that a particular code of the class is mapped to a particular item.
    fn probability(&self, edge: Edge) -> f64 {
        let item = self.graph.items[edge.item as usize];
        let code = self.graph.codes[edge.code as usize];
        let (Some(item), Some(code)) = (item, code) else {
            return 0.0;
        };
        let graph = &self.graph.graph;
        match graph.items[item as usize].candidates.binary_search(&code) {
            Ok(i) => self.shares.of_class[item as usize][i] / f64::from(graph.codes[code as usize]),
            Err(_) => 0.0,
        }
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    fn new() -> Self {
        Cache(Mutex::default())
    }

    fn get(&self, key: &K) -> Option<V> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).cloned()
    }

    fn insert(&self, key: K, value: V) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, value);
    }
}

/// Returns every distinct class in ascending order, with its number of occurrences.
fn multiplicities(classes: &[u32]) -> Vec<(u32, u32)> {
    let mut classes = classes.to_vec();
    classes.sort_unstable();
    let runs = classes.chunk_by(u32::eq);
    runs.map(|run| (run[0], run.len() as u32)).collect()
}

/// Returns the new number of every class after empty classes are removed; `None` for an empty class.
fn renumber_nonempty(sizes: &[u32]) -> Vec<Option<u32>> {
    let mut next = 0;
    let number = |&size: &u32| {
        (size > 0).then(|| {
            next += 1;
            next - 1
        })
    };
    sizes.iter().map(number).collect()
}
