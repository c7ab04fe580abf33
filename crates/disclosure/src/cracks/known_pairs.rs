//! What an adversary gains by knowing pairs of items that often occur together (Lakshmanan et al. 2008,
//! section 7).
//!
//! Edge filtering (Fig. 22 and 23) removes candidates from the graph. Belief refinement (Fig. 24) narrows the
//! intervals of the belief.

use super::{Belief, CrackSpace, Frequencies, Pair};
use crate::matching::{Graph, ItemClass};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Default share of the transactions containing either of two items that must contain both for the items to
/// be *nearly always* together. It is 1, i.e. all of them, because with 0.95 an adversary's conclusions about
/// the CONNECT data set contradict each other, and a real risk goes unnoticed.
pub const NEARLY_ALWAYS: f64 = 1.0;

/// Filters edges (Lakshmanan et al., Fig. 22 and 23): the adversary knows that the items of each `known` pair
/// often occur together, and looks for them among the `frequent` pairs of codes. Returns the space in which a
/// known item keeps only the candidates that are in some frequent pair. A code has the number of the item
/// that it stands for.
///
/// Codes that are in a frequent pair now differ from the other codes of their class. Every class of codes is
/// therefore split in two, first the codes in a frequent pair, then the others; an empty half is dropped.
pub fn filter_edges(space: &CrackSpace, known: &[(u32, u32)], frequent: &[(u32, u32)]) -> CrackSpace {
    let is_known = members(known, space.items());
    let is_frequent = members(frequent, space.items());
    let codes = SplitCodes::new(space, &is_frequent);
    let mut items: Vec<ItemClass> = Vec::new();
    let mut by_candidates: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    // New class by old class, and by whether the items are known (index 1) or not (index 0).
    let mut class_by_old = vec![[None; 2]; space.graph.items.len()];
    let class_of = (0..space.items()).map(|item| {
        let old = space.class_of[item] as usize;
        let known = usize::from(is_known[item]);
        let class = *class_by_old[old][known].get_or_insert_with(|| {
            let candidates = codes.candidates(&space.graph.items[old].candidates, is_known[item]);
            *by_candidates.entry(candidates).or_insert_with_key(|candidates| {
                items.push(ItemClass {
                    size: 0,
                    candidates: candidates.clone(),
                });
                items.len() as u32 - 1
            })
        });
        items[class as usize].size += 1;
        class
    });
    let class_of = class_of.collect();
    let own = (0..space.items()).map(|item| codes.class(space.own_code_class[item], is_frequent[item]));
    CrackSpace {
        class_of,
        own_code_class: own.collect(),
        graph: Graph {
            codes: codes.sizes,
            items,
        },
    }
}

fn members(pairs: &[(u32, u32)], items: usize) -> BitVec {
    let mut is_member = bitvec![0; items];
    for item in pairs.iter().flat_map(|&(one, other)| [one, other]) {
        if let Some(mut is_member) = is_member.get_mut(item as usize) {
            is_member.set(true);
        }
    }
    is_member
}

/// Classes of codes, each split into the codes that are in a frequent pair and the others.
struct SplitCodes {
    sizes: Vec<u32>,
    /// The two new classes of every old class; `None` if a half is empty.
    halves: Vec<[Option<u32>; 2]>,
}

impl SplitCodes {
    fn new(space: &CrackSpace, is_frequent: &BitSlice) -> Self {
        let mut frequent = vec![0; space.graph.codes.len()];
        for item in is_frequent.iter_ones() {
            frequent[space.own_code_class[item] as usize] += 1;
        }
        let mut sizes = Vec::new();
        let mut add = |size: u32| {
            (size > 0).then(|| {
                sizes.push(size);
                sizes.len() as u32 - 1
            })
        };
        let classes = space.graph.codes.iter().zip(frequent);
        let halves = classes.map(|(&size, frequent)| [add(frequent), add(size - frequent)]);
        let halves = halves.collect();
        SplitCodes { sizes, halves }
    }

    fn class(&self, old: u32, is_frequent: bool) -> u32 {
        let halves = self.halves.get(old as usize);
        let class = halves.and_then(|&[frequent, other]| if is_frequent { frequent } else { other });
        class.unwrap_or(CrackSpace::NO_CODE)
    }

    fn candidates(&self, old: &[u32], only_frequent: bool) -> Vec<u32> {
        let new = old.iter().flat_map(|&class| {
            let [frequent, other] = self.halves[class as usize];
            [frequent, other.filter(|_| !only_frequent)]
        });
        new.flatten().collect()
    }
}

/// Refines beliefs (Lakshmanan et al., Fig. 24): of two items that are nearly always together, the adversary
/// believes both what they believe of either. A pair qualifies if at least a share `nearly_always` of the
/// transactions with either item have both. Pairs are processed in their order. Returns the number of pairs
/// that qualify.
///
/// The counts of two such items differ by at most 1 − `nearly_always` of the transactions with either. So
/// with 1, no true belief becomes false. With less, a belief that is narrower than that difference may become
/// false; then the adversary is wrong about the item, and it is not cracked.
pub fn refine_beliefs(
    belief: &mut Belief,
    frequencies: &Frequencies,
    known: &[Pair],
    nearly_always: f64,
) -> usize {
    let qualifies = |pair: &&Pair| pair.share(frequencies) >= nearly_always;
    let pairs = known.iter().filter(qualifies);
    pairs
        .map(|pair| belief.refine(pair.one as usize, pair.other as usize))
        .count()
}
