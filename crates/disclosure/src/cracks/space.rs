use super::Frequencies;
use crate::matching::{Graph, ItemClass};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The space of crack mappings (section 2.2.1): the graph whose perfect matchings they are, with codes in
/// classes by frequency, and where every item and its own code are in it.
#[derive(Debug, Clone, PartialEq)]
pub struct CrackSpace {
    /// Which codes can be which items.
    pub graph: Graph,
    /// For every item, its class in the graph.
    pub class_of: Vec<u32>,
    /// For every item, the class of its own code. Not always a candidate: the adversary may be wrong.
    /// [`NO_CODE`](Self::NO_CODE) where it has none.
    pub own: Vec<u32>,
}

impl CrackSpace {
    /// Instead of the class of its own code, for an item that has none and so cannot be cracked.
    pub const NO_CODE: u32 = u32::MAX;

    /// `candidates` are, for every item, the frequency groups that its belief holds.
    pub fn new(frequencies: &Frequencies, candidates: impl Iterator<Item = Range<u32>>) -> Self {
        let mut items: Vec<ItemClass> = Vec::new();
        let mut class_by_candidates: FxHashMap<Range<u32>, u32> = FxHashMap::default();
        let class_of = candidates
            .map(|range| {
                let class = *class_by_candidates.entry(range.clone()).or_insert_with(|| {
                    items.push(ItemClass {
                        size: 0,
                        candidates: range.collect(),
                    });
                    items.len() as u32 - 1
                });
                items[class as usize].size += 1;
                class
            })
            .collect();
        CrackSpace {
            graph: Graph {
                codes: frequencies.group_sizes().to_vec(),
                items,
            },
            class_of,
            own: frequencies.group_of().to_vec(),
        }
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.class_of.len()
    }

    /// The class of an item.
    pub fn class(&self, item: usize) -> &ItemClass {
        &self.graph.items[self.class_of[item] as usize]
    }

    /// Whether an item's own code is one of its candidates.
    pub fn is_compliant(&self, item: usize) -> bool {
        self.class(item).candidates.binary_search(&self.own[item]).is_ok()
    }
}
