//! Search for the worst inference about one row, by branch and bound over sets of known attributes.
//!
//! Every other row j has a *mask*: the attributes of our row that j lacks. K excludes j if K contains an
//! attribute of j's mask. K infers every attribute that is in no mask of the remaining rows. So the search is
//! for a set that hits masks, as in White's algorithm 7. But it weighs the cost and the gain of each hit, and
//! so it never lists all such sets. It relies on three observations:
//!
//! - An attribute x that is known for certain (l = 1) costs nothing. If some remaining row lacks x, then x is
//!   not inferred, and knowing it can only help. So every mask with a certain attribute may be assumed to be
//!   hit.
//! - A mask that K does not hit can still be hit only by attributes that are left to choose from. If it
//!   contains none of these, all its attributes are *blocked*: they are never inferred.
//! - Of several disjoint masks, each costs at least the factor of its likeliest attribute if it is hit, and
//!   all its danger if it is not.

use super::bitset::Words;
use super::score::{DangerFunction, Limits, NEARLY_EQUAL};
use crate::Weights;

/// Source of the masks of other rows.
pub(super) trait MaskSource<const P: usize> {
    /// Whether the search starts with the masks of all rows.
    const COMPLETE: bool;

    /// Begins a look for rows that have the attributes in `known`.
    fn begin(&mut self, known: &[u64; P]);

    /// Adds the masks of some rows that have the known attributes but lack some of `inferred`. Returns
    /// whether there may be more such rows, or `None` if that is unknown and the search has to end.
    fn find(&mut self, inferred: &[u64; P], masks: &mut Vec<[u64; P]>) -> Option<bool>;
}

/// Empty source, for searches that start with the masks of all rows.
pub(super) struct NoMoreMasks;

impl<const P: usize> MaskSource<P> for NoMoreMasks {
    const COMPLETE: bool = true;

    fn begin(&mut self, _known: &[u64; P]) {}

    fn find(&mut self, _inferred: &[u64; P], _masks: &mut Vec<[u64; P]>) -> Option<bool> {
        Some(false)
    }
}

/// Buffers of a search, reused for the next row.
pub(super) struct Workspace<const P: usize> {
    /// Per depth of the search, the masks that are not hit.
    masks: Vec<Vec<[u64; P]>>,
    found: Vec<[u64; P]>,
    /// Likelihoods of the row's attributes, by the bits of their slots.
    likelihood: Vec<f64>,
    /// Dangers of the row's attributes, by the bits of their slots.
    danger: Vec<f64>,
}

impl<const P: usize> Default for Workspace<P> {
    fn default() -> Self {
        Workspace {
            masks: vec![Vec::new()],
            found: Vec::new(),
            likelihood: vec![0.0; 64 * P],
            danger: vec![0.0; 64 * P],
        }
    }
}

impl<const P: usize> Workspace<P> {
    /// Returns the masks that the search starts with.
    pub fn masks(&mut self) -> &mut Vec<[u64; P]> {
        &mut self.masks[0]
    }

    /// Stores the weights of a row's attributes, given by the bits of their slots. Returns the kinds of the
    /// attributes.
    pub fn load_weights(&mut self, attributes: impl Iterator<Item = (usize, Weights)>) -> AttributeKinds<P> {
        let mut kinds = AttributeKinds {
            all: [0; P],
            certain: [0; P],
            costless: [0; P],
            choice: [0; P],
        };
        for (bit, Weights { likelihood, danger }) in attributes {
            self.likelihood[bit] = likelihood;
            self.danger[bit] = danger;
            let single = Words::single(bit);
            kinds.all = kinds.all.or(&single);
            if likelihood == 1.0 {
                kinds.certain = kinds.certain.or(&single);
            }
            if likelihood == 1.0 && danger == 0.0 {
                kinds.costless = kinds.costless.or(&single);
            } else if likelihood > 0.0 {
                kinds.choice = kinds.choice.or(&single);
            }
        }
        kinds
    }
}

/// Slots of a row's attributes, by the consequences of knowing them.
pub(super) struct AttributeKinds<const P: usize> {
    pub all: [u64; P],
    /// Attributes that are known for certain.
    pub certain: [u64; P],
    /// Attributes that are known for certain and harmless: nothing is lost by knowing them.
    pub costless: [u64; P],
    /// All other attributes that may be known.
    pub choice: [u64; P],
}

/// Search for the worst inference about a row, and its outcome.
pub(super) struct RowSearch<'a, const P: usize, M> {
    pub workspace: &'a mut Workspace<P>,
    pub mask_source: M,
    pub danger_function: DangerFunction,
    pub limits: &'a Limits<'a>,
    /// Slots in which the row has an attribute.
    pub all: [u64; P],
    /// Slots whose attribute is known for certain.
    pub certain: [u64; P],
    /// Weight of the worst inference so far.
    pub weight: f64,
    /// Known slots of that inference, if this search found it.
    pub known: Option<[u64; P]>,
    /// Number of sets that may still be searched.
    pub sets_left: u64,
    /// Upper bound on the weights of the sets that were not searched, 0 if all were.
    pub bound_on_rest: f64,
    /// Whether the search ended before it was complete.
    pub stopped_early: bool,
}

/// Number of masks that a look always keeps. All others are kept only if they show that something is not
/// inferred. Near misses help later.
const ALWAYS_KEPT: usize = 2;

/// Inferences that are still possible if more attributes become known.
struct Outlook<const P: usize> {
    /// Attributes that will not be inferred, whatever else becomes known.
    blocked: [u64; P],
    /// Sum of the dangers of all other attributes that are not known.
    danger: f64,
    next: Step<P>,
}

enum Step<const P: usize> {
    /// All of these must become known.
    Take([u64; P]),
    /// One of these may become known. If `mandatory`, one of them must.
    Choose { among: [u64; P], mandatory: bool },
}

impl<const P: usize, M: MaskSource<P>> RowSearch<'_, P, M> {
    /// Searches all sets that contain `known` and any attributes of `choice`.
    pub fn run(&mut self, known: [u64; P], likelihood: f64, choice: [u64; P]) {
        self.node(0, known, likelihood, choice);
    }

    fn danger_of(&self, attributes: &[u64; P]) -> f64 {
        let mut sum = 0.0;
        attributes.for_each(|bit| sum += self.workspace.danger[bit]);
        sum
    }

    fn improves(&self, weight: f64) -> bool {
        weight > self.weight * NEARLY_EQUAL
    }

    /// Searches one node of the tree: `known`, and all sets that extend it by attributes of `choice`.
    fn node(&mut self, depth: usize, known: [u64; P], likelihood: f64, mut choice: [u64; P]) {
        self.sets_left = self.sets_left.saturating_sub(1);
        if self.sets_left == 0 || (self.sets_left.is_multiple_of(128) && self.limits.reached()) {
            self.stop_early(
                likelihood
                    * self
                        .danger_function
                        .of_sum(self.danger_of(&self.all.without(&known))),
            );
            return;
        }
        let masks = &self.workspace.masks[depth];
        let missing = masks.iter().fold([0; P], |union: [u64; P], mask| union.or(mask));
        let inferred = self.all.without(&missing).without(&known);
        if self.improves(likelihood * self.danger_function.of_sum(self.danger_of(&inferred))) {
            self.verify(depth, &known, likelihood, inferred, &choice);
        }
        if M::COMPLETE {
            choice = choice.and(&missing);
        }
        while !self.stopped_early && !choice.is_none() {
            let Some(outlook) = self.outlook(depth, &known, likelihood, &mut choice) else {
                return;
            };
            match outlook.next {
                Step::Take(forced) => {
                    let mut likelihood = likelihood;
                    forced.for_each(|bit| likelihood *= self.workspace.likelihood[bit]);
                    let bound = likelihood * self.danger_function.of_sum(outlook.danger);
                    if self.improves(bound) {
                        self.descend(depth, known, forced, likelihood, choice);
                        self.raise_bound_on_rest(bound);
                    }
                    return;
                }
                Step::Choose { among, mandatory } => {
                    let bound = likelihood * self.bound(depth, &outlook, &choice, among, mandatory);
                    if !self.improves(bound) {
                        return;
                    }
                    let bit = self.pick(depth, &outlook, &among);
                    let single = Words::single(bit);
                    choice = choice.without(&single);
                    let likelihood = likelihood * self.workspace.likelihood[bit];
                    self.descend(depth, known, single, likelihood, choice);
                    self.raise_bound_on_rest(bound);
                }
            }
        }
    }

    /// Ends the search at this node. No set below the node has a larger weight than `bound`.
    fn stop_early(&mut self, bound: f64) {
        self.stopped_early = true;
        self.bound_on_rest = self.bound_on_rest.max(bound);
    }

    /// Raises the bound on the sets that were not searched, if there are any.
    fn raise_bound_on_rest(&mut self, bound: f64) {
        if self.stopped_early {
            self.bound_on_rest = self.bound_on_rest.max(bound);
        }
    }

    fn descend(&mut self, depth: usize, known: [u64; P], more: [u64; P], likelihood: f64, choice: [u64; P]) {
        if self.workspace.masks.len() < depth + 2 {
            self.workspace.masks.push(Vec::new());
        }
        let (above, below) = self.workspace.masks.split_at_mut(depth + 1);
        below[0].clear();
        below[0].extend(above[depth].iter().filter(|mask| !mask.meets(&more)));
        self.node(depth + 1, known.or(&more), likelihood, choice.without(&more));
    }

    /// Checks whether all rows that have the known attributes share those that seem to be inferred. Adds the
    /// masks of rows that do not. If the rest is still the worst inference so far, stores it.
    fn verify(
        &mut self,
        depth: usize,
        known: &[u64; P],
        likelihood: f64,
        mut inferred: [u64; P],
        choice: &[u64; P],
    ) {
        self.mask_source.begin(known);
        loop {
            let mut found = std::mem::take(&mut self.workspace.found);
            found.clear();
            let Some(more) = self.mask_source.find(&inferred, &mut found) else {
                self.stop_early(f64::INFINITY);
                return;
            };
            // Masks with few choices give the best bounds.
            found.sort_unstable_by_key(|mask| (mask.and(choice).count(), mask.count(), *mask));
            found.dedup();
            let mut kept = 0;
            for mask in &found {
                if mask.meets(&inferred) || kept < ALWAYS_KEPT {
                    inferred = inferred.without(mask);
                    kept += 1;
                    self.workspace.masks[..=depth]
                        .iter_mut()
                        .for_each(|masks| masks.push(*mask));
                }
            }
            self.workspace.found = found;
            let weight = likelihood * self.danger_function.of_sum(self.danger_of(&inferred));
            if !self.improves(weight) {
                return;
            }
            if !more {
                self.weight = weight;
                self.known = Some(*known);
                return;
            }
        }
    }

    /// Narrows `choice` to attributes that can still lead to a worse inference. Returns `None` if there are
    /// none.
    fn outlook(
        &self,
        depth: usize,
        known: &[u64; P],
        likelihood: f64,
        choice: &mut [u64; P],
    ) -> Option<Outlook<P>> {
        loop {
            let mut blocked = [0; P];
            let mut forced: [u64; P] = [0; P];
            let (mut among, mut mandatory, mut fewest) = ([0; P], false, u32::MAX);
            for mask in &self.workspace.masks[depth] {
                let hits = mask.and(choice);
                let must_be_hit = mask.meets(&self.certain);
                let count = hits.count();
                if count == 0 {
                    if must_be_hit {
                        return None;
                    }
                    blocked = blocked.or(mask);
                    continue;
                }
                if count == 1 {
                    // This attribute becomes known or is not inferred, because the row that lacks it remains.
                    blocked = blocked.or(&hits);
                    if must_be_hit {
                        forced = forced.or(&hits);
                    }
                }
                if count < fewest || (count == fewest && must_be_hit && !mandatory) {
                    (among, mandatory, fewest) = (hits, must_be_hit, count);
                }
            }
            let danger = self.danger_of(&self.all.without(known).without(&blocked));
            let outlook = |next| Outlook {
                blocked,
                danger,
                next,
            };
            if !forced.is_none() {
                return Some(outlook(Step::Take(forced)));
            }
            let mut worthwhile = [0; P];
            choice.for_each(|bit| {
                let lost = self.danger_lost_by_knowing(&blocked, bit);
                let bound =
                    likelihood * self.workspace.likelihood[bit] * self.danger_function.of_sum(danger - lost);
                if self.improves(bound) {
                    worthwhile = worthwhile.or(&Words::single(bit));
                }
            });
            if worthwhile == *choice {
                return (!among.is_none()).then(|| outlook(Step::Choose { among, mandatory }));
            }
            *choice = worthwhile;
            if choice.is_none() {
                return None;
            }
        }
    }

    /// Returns the danger that is lost by knowing an attribute instead of inferring it.
    #[inline(always)]
    fn danger_lost_by_knowing(&self, blocked: &[u64; P], bit: usize) -> f64 {
        if blocked.has(bit) {
            0.0
        } else {
            self.workspace.danger[bit]
        }
    }

    /// Returns the attribute to decide on: the one with the largest bound and, of about equal ones, the one
    /// that excludes the most rows.
    fn pick(&self, depth: usize, outlook: &Outlook<P>, among: &[u64; P]) -> usize {
        const ABOUT_EQUAL: f64 = 1.0 + 1e-9;
        let masks = &self.workspace.masks[depth];
        let (mut picked, mut value, mut hits) = (0, -1.0, 0);
        among.for_each(|bit| {
            let lost = self.danger_lost_by_knowing(&outlook.blocked, bit);
            let this = self.workspace.likelihood[bit] * self.danger_function.of_sum(outlook.danger - lost);
            if this * ABOUT_EQUAL >= value {
                let count = masks.iter().filter(|mask| mask.has(bit)).count();
                if this > value * ABOUT_EQUAL || count > hits {
                    (picked, value, hits) = (bit, this, count);
                }
            }
        });
        picked
    }

    /// Returns a bound on the weight of every set with at least one more attribute, relative to the
    /// likelihood so far. Of disjoint masks, each is either hit or never hit. If it is hit, the factor of its
    /// likeliest attribute applies, and at least its smallest danger is known instead of inferred. If it is
    /// never hit, all its attributes are lost.
    fn bound(
        &self,
        depth: usize,
        outlook: &Outlook<P>,
        choice: &[u64; P],
        first: [u64; P],
        first_mandatory: bool,
    ) -> f64 {
        /// Number of masks for which both cases are tried, out of those that need not be hit.
        const TRIED: usize = 4;
        let (mut factor, mut danger) = (1.0, outlook.danger);
        let mut tried = [(0.0, 0.0, 0.0); TRIED];
        let mut optional = 0;
        let mut used = [0; P];
        let mut masks = self.workspace.masks[depth].iter();
        let mut next = Some((first, first_mandatory));
        while let Some((hits, mandatory)) = next {
            used = used.or(&hits);
            let (mut likeliest, mut smallest, mut all) = (0f64, f64::INFINITY, 0.0);
            hits.for_each(|bit| {
                let lost = self.danger_lost_by_knowing(&outlook.blocked, bit);
                likeliest = likeliest.max(self.workspace.likelihood[bit]);
                smallest = smallest.min(lost);
                all += lost;
            });
            if mandatory {
                factor *= likeliest;
                danger -= smallest;
            } else if optional < TRIED {
                tried[optional] = (likeliest, smallest, all);
                optional += 1;
            } else {
                danger -= smallest;
            }
            next = masks.find_map(|mask| {
                let hits = mask.and(choice);
                (!hits.is_none() && !hits.meets(&used)).then(|| (hits, mask.meets(&self.certain)))
            });
        }
        let mut likeliest = 0f64;
        choice.for_each(|bit| likeliest = likeliest.max(self.workspace.likelihood[bit]));
        let mut bound = 0f64;
        for hit in 0..1usize << optional {
            let (mut factor, mut danger) = (factor, danger);
            for (number, &(likelihood, smallest, all)) in tried[..optional].iter().enumerate() {
                if hit >> number & 1 == 1 {
                    factor *= likelihood;
                    danger -= smallest;
                } else {
                    danger -= all;
                }
            }
            if danger > 0.0 {
                bound = bound.max(factor.min(likeliest) * self.danger_function.of_sum(danger));
            }
        }
        bound
    }
}
