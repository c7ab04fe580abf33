use super::{Belief, CrackSpace, Frequencies, Pair};
use crate::matching::{Graph, ItemClass};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Two items are *nearly always* together where at least this share of the transactions with either has
/// both, if nobody says otherwise. All of them: with 0.95, what an adversary concludes about CONNECT contradicts
/// itself, and a risk that is there is not seen.
pub const NEARLY_ALWAYS: f64 = 1.0;

/// Edge filtering (Lakshmanan et al., Fig. 22 and 23): the adversary knows that the items of each of the `known`
/// pairs often occur together and looks for them among the `frequent` pairs of codes. A known item keeps
/// only those candidates that are in some frequent pair. A code has the number of the item it stands for.
///
/// Codes of a class that are in a frequent pair differ from the others now, so every class of codes becomes
/// two, first those in a frequent pair, then the others; where one of both is empty, one.
pub fn filter_edges(space: &CrackSpace, known: &[(u32, u32)], frequent: &[(u32, u32)]) -> CrackSpace {
    let is_known = members(known, space.items());
    let is_frequent = members(frequent, space.items());
    let codes = SplitCodes::new(space, &is_frequent);
    let mut items: Vec<ItemClass> = Vec::new();
    let mut by_candidates: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    // By old class, of items that are known and of those that are not: the new class.
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
    let own = (0..space.items()).map(|item| codes.class(space.own[item], is_frequent[item]));
    CrackSpace {
        class_of,
        own: own.collect(),
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

/// Every class of codes in two: those in a frequent pair, and the others.
struct SplitCodes {
    sizes: Vec<u32>,
    /// For every old class its two new ones; `None` where there is no such code.
    new: Vec<[Option<u32>; 2]>,
}

impl SplitCodes {
    fn new(space: &CrackSpace, is_frequent: &BitSlice) -> Self {
        let mut frequent = vec![0; space.graph.codes.len()];
        for item in is_frequent.iter_ones() {
            frequent[space.own[item] as usize] += 1;
        }
        let mut sizes = Vec::new();
        let mut add = |size: u32| {
            (size > 0).then(|| {
                sizes.push(size);
                sizes.len() as u32 - 1
            })
        };
        let classes = space.graph.codes.iter().zip(frequent);
        let new = classes.map(|(&size, frequent)| [add(frequent), add(size - frequent)]);
        let new = new.collect();
        SplitCodes { sizes, new }
    }

    fn class(&self, old: u32, is_frequent: bool) -> u32 {
        let new = self.new.get(old as usize);
        let class = new.and_then(|&[frequent, other]| if is_frequent { frequent } else { other });
        class.unwrap_or(CrackSpace::NO_CODE)
    }

    fn candidates(&self, old: &[u32], only_frequent: bool) -> Vec<u32> {
        let new = old.iter().flat_map(|&class| {
            let [frequent, other] = self.new[class as usize];
            [frequent, other.filter(|_| !only_frequent)]
        });
        new.flatten().collect()
    }
}

/// Belief refinement (Lakshmanan et al., Fig. 24): of two items that are nearly always together the adversary
/// believes both what he believes of either. Pairs are taken in their order; those count of which at least
/// `nearly_always` of the transactions with either item have both. Says how many did.
///
/// The frequencies of such items differ by at most 1 − `nearly_always` of the transactions with either. So
/// with 1, no true belief becomes false; with less, one narrower than that difference may: then the adversary is
/// wrong about the item, and it is not cracked.
pub fn refine_beliefs(
    belief: &mut Belief,
    frequencies: &Frequencies,
    known: &[Pair],
    nearly_always: f64,
) -> usize {
    let counts = |pair: &&Pair| pair.share(frequencies) >= nearly_always;
    let pairs = known.iter().filter(counts);
    pairs
        .map(|pair| belief.refine(pair.one as usize, pair.other as usize))
        .count()
}
