use super::Frequencies;
use crate::matching::{Graph, ItemClass};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The space of crack mappings (section 2.2.1): a bipartite graph whose perfect matchings are the crack
/// mappings, the class of every item in it, and the class of every item's own code. Codes are in classes by
/// frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct CrackSpace {
    /// The codes that can stand for each item.
    pub graph: Graph,
    /// Class of every item in the graph.
    pub class_of: Vec<u32>,
    /// Class of every item's own code, or [`NO_CODE`](Self::NO_CODE). It is not always a candidate of the
    /// item, because the adversary may be wrong.
    pub own_code_class: Vec<u32>,
}

impl CrackSpace {
    /// Value of [`own_code_class`](Self::own_code_class) for an item that has no code of its own and
    /// therefore cannot be cracked.
    pub const NO_CODE: u32 = u32::MAX;

    /// Returns the space in which the candidates of every item are the frequency groups within its belief.
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
            own_code_class: frequencies.group_of().to_vec(),
        }
    }

    /// Returns the part of the space that consists of these items and their own codes. No mapping may give
    /// any of them another code.
    pub(super) fn part(&self, items: &[u32]) -> Self {
        let mut new_codes: FxHashMap<u32, u32> = FxHashMap::default();
        let mut own: Vec<u32> = items
            .iter()
            .map(|&item| self.own_code_class[item as usize])
            .collect();
        own.sort_unstable();
        let mut codes = Vec::new();
        for same in own.chunk_by(u32::eq) {
            new_codes.insert(same[0], codes.len() as u32);
            codes.push(same.len() as u32);
        }
        let mut part = CrackSpace {
            graph: Graph {
                codes,
                items: Vec::new(),
            },
            class_of: Vec::with_capacity(items.len()),
            own_code_class: Vec::with_capacity(items.len()),
        };
        let mut new_classes: FxHashMap<u32, u32> = FxHashMap::default();
        for &item in items {
            let class = *new_classes
                .entry(self.class_of[item as usize])
                .or_insert_with(|| {
                    let candidates = self.class(item as usize).candidates.iter();
                    part.graph.items.push(ItemClass {
                        size: 0,
                        candidates: candidates
                            .filter_map(|codes| new_codes.get(codes))
                            .copied()
                            .collect(),
                    });
                    part.graph.items.len() as u32 - 1
                });
            part.graph.items[class as usize].size += 1;
            part.class_of.push(class);
            part.own_code_class
                .push(new_codes[&self.own_code_class[item as usize]]);
        }
        part
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.class_of.len()
    }

    /// Returns the class of an item.
    pub fn class(&self, item: usize) -> &ItemClass {
        &self.graph.items[self.class_of[item] as usize]
    }

    /// Returns whether an item's own code is one of its candidates.
    pub fn is_compliant(&self, item: usize) -> bool {
        self.class(item)
            .candidates
            .binary_search(&self.own_code_class[item])
            .is_ok()
    }
}
