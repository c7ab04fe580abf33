//! The recipes of Lakshmanan, Ng and Ramesh (2008) for items (Fig. 8) and for itemsets (Fig. 9): may the data
//! be disclosed?
//!
//! Both recipes go through the same stages: an adversary who knows every frequency, one who knows it
//! approximately, and one who is wrong about some items. The first stage that is within tolerance decides.
//!
//! The number of itemsets grows too fast to look at all of them. Itemsets whose items have the same
//! candidates and the same own frequency groups are therefore represented by one of them, with a weight
//! ([`Representatives`]). If there are too many such kinds, a random sample of itemsets represents all.

use super::itemsets::{checked_itemset, point_valued_unchecked};
use super::{CrackSpace, Frequencies, ItemsetCracks};
use crate::{Control, Error, Result};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How an adversary who is wrong about some items is modelled. It is unknown which items these are, so nested
/// random sets of items are tried (section 5.1): in every run, items become compliant one after the other in
/// a random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComplianceRuns {
    /// Number of runs, i.e. of random orders, to average over.
    pub runs: u32,
    /// Seed of the orders; the same seed gives the same orders.
    pub seed: u64,
}

impl Default for ComplianceRuns {
    /// Five runs, as published.
    fn default() -> Self {
        ComplianceRuns { runs: 5, seed: 1 }
    }
}

impl ComplianceRuns {
    /// Checks that there is at least one run.
    pub fn check(&self) -> Result<()> {
        if self.runs > 0 {
            return Ok(());
        }
        Err(Error::invalid(
            "runs",
            "must be at least 1",
            "the number of random orders of the items to average over",
        ))
    }
}

/// Settings of Assess-Risk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemSettings {
    /// Share of items that may be cracked.
    pub tolerance: f64,
    /// How α_max is found.
    pub compliance: ComplianceRuns,
}

impl Default for ItemSettings {
    fn default() -> Self {
        ItemSettings {
            tolerance: 0.1,
            compliance: ComplianceRuns::default(),
        }
    }
}

impl ItemSettings {
    /// Checks the bounds of all settings.
    pub fn check(&self) -> Result<()> {
        Error::check_unit_interval("tolerance", self.tolerance)?;
        self.compliance.check()
    }
}

/// The stage at which the recipe stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Stage {
    /// Even an adversary who knows every frequency is within tolerance.
    PointValued,
    /// An adversary who knows every frequency to within the width is within tolerance.
    Interval,
    /// Only an adversary who is wrong about some items is within tolerance.
    Compliance,
}

/// Verdict of a recipe. It is never unsafe, because the recipes leave that judgement to the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Verdict {
    /// The risk is within tolerance.
    Safe,
    /// The owner has to judge whether an adversary can be right about more than α_max of the items.
    Unknown,
}

impl Stage {
    fn of(point_valued_is_within: bool, interval_is_within: bool) -> Self {
        match (point_valued_is_within, interval_is_within) {
            (true, _) => Stage::PointValued,
            (false, true) => Stage::Interval,
            (false, false) => Stage::Compliance,
        }
    }

    fn verdict(self) -> Verdict {
        match self {
            Stage::PointValued | Stage::Interval => Verdict::Safe,
            Stage::Compliance => Verdict::Unknown,
        }
    }
}

/// Result of Assess-Risk (Fig. 8).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemAssessment {
    /// Stage that decided.
    pub stage: Stage,
    /// Verdict of that stage.
    pub verdict: Verdict,
    /// Number of cracked items that are tolerated.
    pub tolerated: f64,
    /// Expected cracks of an adversary who knows every frequency: the number of frequency groups.
    pub point_valued: f64,
    /// Expected cracks under the belief.
    pub interval: f64,
    /// Largest share of items that the adversary may be right about; only for [`Stage::Compliance`].
    pub alpha_max: Option<f64>,
}

/// Expected cracks of an adversary who is right about a share of the items.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AlphaPoint {
    /// Share of items, as given.
    pub alpha: f64,
    /// Number of items nearest to that share.
    pub compliant: usize,
    /// Mean expected cracks over the runs.
    pub mean: f64,
    /// Expected cracks of the run with the fewest.
    pub min: f64,
    /// Expected cracks of the run with the most.
    pub max: f64,
}

/// Margin for rounding in comparisons, so that 29 of 100 items are within a tolerance of 0.29.
pub(super) const COMPARISON_MARGIN: f64 = 1e-9;

/// Runs Assess-Risk (Fig. 8): may the data be disclosed if a share of the items may be cracked?
///
/// `cracks` is the probability that each item is cracked under the belief: 1/O_x for the O-estimate, or the
/// exact probability; 0 for an item that the belief is wrong about. The published binary search for α_max
/// halves nested random sets of items. Expected cracks only grow with such a set, so this implementation
/// finds the limit by adding one item after the other.
pub fn assess_items(
    frequencies: &Frequencies,
    cracks: &[f64],
    settings: &ItemSettings,
    control: &Control,
) -> Result<ItemAssessment> {
    settings.check()?;
    let orders = Orders::new(cracks.len(), &settings.compliance);
    let tolerated = settings.tolerance * frequencies.items() as f64;
    let is_within = |expected: f64| expected <= tolerated + COMPARISON_MARGIN;
    let point_valued = frequencies.group_counts().len() as f64;
    let interval = cracks.iter().fold(0.0, |sum, probability| sum + probability);
    let stage = Stage::of(is_within(point_valued), is_within(interval));
    let alpha_max = match stage {
        Stage::Compliance => {
            let mut sums = vec![0.0; cracks.len() + 1];
            for order in orders {
                control.check()?;
                for (all, sum) in sums.iter_mut().zip(prefix_sums(&order, cracks)) {
                    *all += sum;
                }
            }
            let runs = f64::from(settings.compliance.runs);
            Some(largest_share(&sums, |&sum| is_within(sum / runs)))
        }
        _ => None,
    };
    Ok(ItemAssessment {
        stage,
        verdict: stage.verdict(),
        tolerated,
        point_valued,
        interval,
        alpha_max,
    })
}

/// Returns the expected cracks of an adversary who is right about these shares of the items (Fig. 13).
/// `cracks` is as in [`assess_items`].
pub fn alpha_curve(
    cracks: &[f64],
    alphas: &[f64],
    compliance: &ComplianceRuns,
    control: &Control,
) -> Result<Vec<AlphaPoint>> {
    compliance.check()?;
    control.require::<AlphaPoint>(alphas.len())?;
    let mut points = Vec::with_capacity(alphas.len());
    for &alpha in alphas {
        Error::check_unit_interval("alpha", alpha)?;
        points.push(AlphaPoint {
            alpha,
            compliant: (alpha * cracks.len() as f64).round() as usize,
            mean: 0.0,
            min: f64::INFINITY,
            max: 0.0,
        });
    }
    for order in Orders::new(cracks.len(), compliance) {
        control.check()?;
        let sums: Vec<f64> = prefix_sums(&order, cracks).collect();
        for point in &mut points {
            let expected = sums[point.compliant];
            point.mean += expected / f64::from(compliance.runs);
            point.min = point.min.min(expected);
            point.max = point.max.max(expected);
        }
    }
    Ok(points)
}

/// Itemsets that the owner wants to protect: Θ in section 2.3.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemsetsOfInterest {
    /// All itemsets of these sizes without the most frequent items, which competitors know anyway.
    Sizes {
        /// Sizes of the itemsets; duplicates count once.
        sizes: Vec<usize>,
        /// Share of the items that is left out, rounded down to a number of items. Of equally frequent items,
        /// those with the smallest numbers are left out first.
        skip_top: f64,
    },
    /// These itemsets; duplicates count once.
    Listed(Vec<Vec<u32>>),
}

/// Settings of Assess-Risk-Itemsets.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemsetSettings {
    /// Itemsets to protect.
    pub interest: ItemsetsOfInterest,
    /// An itemset that is cracked with at least this probability is vulnerable: σ in Definition 2.1.
    pub crack_danger: f64,
    /// Share of the itemsets that may be vulnerable: τ in Definition 2.1.
    pub tolerance: f64,
    /// Maximum number of steps for exact probabilities under the belief (see
    /// [`Counting::steps`](crate::matching::Counting::steps)). If more are needed, or if no mapping is
    /// consistent with the belief, OS estimates are used instead. 0 means always estimates.
    pub exact_steps: f64,
    /// Number of random itemsets that represent all itemsets if there are too many.
    pub sample: usize,
    /// Runs and seed for α_max. The sample of itemsets uses the same seed.
    pub compliance: ComplianceRuns,
}

impl Default for ItemsetSettings {
    /// Settings for all pairs of items.
    fn default() -> Self {
        ItemsetSettings {
            interest: ItemsetsOfInterest::Sizes {
                sizes: vec![2],
                skip_top: 0.0,
            },
            crack_danger: 0.5,
            tolerance: 0.1,
            exact_steps: f64::INFINITY,
            sample: 10_000,
            compliance: ComplianceRuns::default(),
        }
    }
}

impl ItemsetSettings {
    /// Checks the bounds of all settings. Whether listed items exist is checked later.
    pub fn check(&self) -> Result<()> {
        if let ItemsetsOfInterest::Sizes { sizes, skip_top } = &self.interest {
            if sizes.is_empty() || sizes.contains(&0) {
                return Err(Error::invalid(
                    "size",
                    "must be at least 1",
                    "the number of items in an itemset",
                ));
            }
            Error::check_unit_interval("skip_top", *skip_top)?;
        }
        Error::check_unit_interval("crack_danger", self.crack_danger)?;
        Error::check_unit_interval("tolerance", self.tolerance)?;
        if self.sample == 0 {
            return Err(Error::invalid(
                "samples",
                "must be at least 1",
                "the number of random itemsets to assess if there are too many",
            ));
        }
        self.compliance.check()
    }
}

/// How probabilities under the belief were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ItemsetMethod {
    /// By counting crack mappings.
    Exact,
    /// By the OS estimate.
    Os,
}

/// A share and its 95 % confidence interval if it was estimated from a random sample; otherwise all three
/// fields are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BoundedShare {
    /// Best estimate of the share.
    pub value: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}

/// Result of Assess-Risk-Itemsets (Fig. 9).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemsetAssessment {
    /// Stage that decided.
    pub stage: Stage,
    /// Verdict of that stage. A sampled share is within tolerance only if its whole confidence interval is.
    pub verdict: Verdict,
    /// Number of itemsets of interest; infinite if it is too large for `f64`.
    pub itemsets: f64,
    /// Whether a random sample represents all itemsets.
    pub sampled: bool,
    /// How probabilities under the belief were computed.
    pub method: ItemsetMethod,
    /// Share of itemsets that are vulnerable to an adversary who knows every frequency.
    pub point_valued: BoundedShare,
    /// Share of itemsets that are vulnerable under the belief.
    pub interval: BoundedShare,
    /// Largest share of items that the adversary may be right about; only for [`Stage::Compliance`].
    pub alpha_max: Option<BoundedShare>,
}

/// Maximum number of kinds of itemsets. Itemsets of one kind have items of the same classes and with the same
/// own groups, so one representative of them is assessed.
pub(super) const MAX_REPRESENTATIVES: usize = 1_000_000;
/// Maximum total number of items in the representatives.
const MAX_REPRESENTATIVE_ITEMS: usize = 10_000_000;
/// Maximum total number of items in the vulnerable itemsets up to which α_max is computed by listing all of
/// them.
const MAX_LISTED_ITEMS: f64 = 2e7;
/// Margin for rounding in the comparison with σ.
const DANGER_MARGIN: f64 = 1e-12;

/// Runs Assess-Risk-Itemsets (Fig. 9): may the data be disclosed if a share of the itemsets of interest may
/// be vulnerable?
///
/// `space` is the space of the belief of the interval stage. For α_max, a vulnerable itemset counts only if
/// the adversary is right about all its items.
pub fn assess_itemsets(
    frequencies: &Frequencies,
    space: &CrackSpace,
    settings: &ItemsetSettings,
    control: &Control,
) -> Result<ItemsetAssessment> {
    settings.check()?;
    let assessed = AssessedItemsets::new(frequencies, space, settings, control)?;
    let AssessedItemsets {
        representatives,
        probabilities,
        ..
    } = &assessed;
    let of_all = |probability: fn(&ItemsetProbabilities) -> f64| {
        let is_vulnerable = |of_itemset| assessed.is_dangerous(probability(of_itemset));
        representatives.share(probabilities.iter().map(is_vulnerable))
    };
    let point_valued = of_all(|of_itemset| of_itemset.point_valued);
    let interval = of_all(|of_itemset| of_itemset.under_belief);
    let is_within = |share: f64| share <= settings.tolerance + COMPARISON_MARGIN;
    let stage = Stage::of(is_within(point_valued.upper), is_within(interval.upper));
    let alpha_max = match stage {
        Stage::Compliance => {
            let vulnerable: Vec<usize> = assessed.vulnerable().collect();
            let orders = assessed.orders.clone();
            let shares = vulnerable_shares(representatives, &vulnerable, settings.sample, orders, control)?;
            let limit =
                |bound: fn(&BoundedShare) -> f64| largest_share(&shares, |share| is_within(bound(share)));
            Some(BoundedShare {
                value: limit(|share| share.value),
                lower: limit(|share| share.upper),
                upper: limit(|share| share.lower),
            })
        }
        _ => None,
    };
    Ok(ItemsetAssessment {
        stage,
        verdict: stage.verdict(),
        itemsets: representatives.total,
        sampled: representatives.is_sampled,
        method: assessed.method,
        point_valued,
        interval,
        alpha_max,
    })
}

/// Probabilities that an itemset is cracked by different adversaries.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemsetProbabilities {
    /// By one who knows every frequency.
    pub point_valued: f64,
    /// By one with the belief.
    pub under_belief: f64,
}

/// The itemsets of interest, and the probabilities that they are cracked.
pub(super) struct AssessedItemsets {
    pub representatives: Representatives,
    pub probabilities: Vec<ItemsetProbabilities>,
    pub method: ItemsetMethod,
    crack_danger: f64,
    /// Orders of the items, after the random numbers for the representatives.
    orders: Orders,
}

impl AssessedItemsets {
    pub fn new(
        frequencies: &Frequencies,
        space: &CrackSpace,
        settings: &ItemsetSettings,
        control: &Control,
    ) -> Result<Self> {
        let mut orders = Orders::new(space.items(), &settings.compliance);
        let representatives =
            Representatives::new(frequencies, space, settings, &mut orders.random, control)?;
        let cracks = ItemsetCracks::new(space);
        let is_exact = settings.exact_steps > 0.0
            && cracks.has_mapping(control)?
            && cracks.steps(representatives.iter(), control)? <= settings.exact_steps;
        let method = match is_exact {
            true => ItemsetMethod::Exact,
            false => ItemsetMethod::Os,
        };
        control.set_total(representatives.len() as u64);
        let of_itemset = |number: usize| {
            control.check()?;
            let itemset = representatives.get(number);
            let under_belief = match method {
                ItemsetMethod::Exact => cracks.exact_unchecked(itemset, control)?.unwrap_or(0.0),
                ItemsetMethod::Os => cracks.os_unchecked(itemset),
            };
            control.advance(1);
            Ok(ItemsetProbabilities {
                point_valued: point_valued_unchecked(frequencies, itemset),
                under_belief,
            })
        };
        let probabilities = (0..representatives.len()).into_par_iter().map(of_itemset);
        Ok(AssessedItemsets {
            probabilities: probabilities.collect::<Result<_>>()?,
            representatives,
            method,
            crack_danger: settings.crack_danger,
            orders,
        })
    }

    /// Returns whether this probability makes an itemset vulnerable.
    fn is_dangerous(&self, probability: f64) -> bool {
        probability >= self.crack_danger - DANGER_MARGIN
    }

    /// Returns the representatives that are vulnerable under the belief.
    pub fn vulnerable(&self) -> impl Iterator<Item = usize> + '_ {
        let under_belief = |&number: &usize| self.is_dangerous(self.probabilities[number].under_belief);
        (0..self.representatives.len()).filter(under_belief)
    }
}

/// Iterator over the random orders in which items become compliant.
#[derive(Clone)]
struct Orders {
    items: usize,
    remaining_runs: u32,
    random: Pcg64,
}

impl Orders {
    fn new(items: usize, compliance: &ComplianceRuns) -> Self {
        Orders {
            items,
            remaining_runs: compliance.runs,
            random: Pcg64::seed_from_u64(compliance.seed),
        }
    }
}

impl Iterator for Orders {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        self.remaining_runs = self.remaining_runs.checked_sub(1)?;
        let mut order: Vec<u32> = (0..self.items as u32).collect();
        order.shuffle(&mut self.random);
        Some(order)
    }
}

/// Returns the sums of the first 0, 1, 2, … summands in the given order.
fn prefix_sums<'a>(order: &'a [u32], summands: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let sums = order.iter().scan(0.0, |sum, &item| {
        *sum += summands[item as usize];
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums)
}

/// Returns the largest share of items that is within tolerance. `figures` are the risks with 0, 1, 2, …
/// compliant items, which never decrease.
fn largest_share<T>(figures: &[T], is_within: impl FnMut(&T) -> bool) -> f64 {
    let within = figures.partition_point(is_within).saturating_sub(1);
    within as f64 / (figures.len() - 1).max(1) as f64
}

/// Itemsets that represent all itemsets of interest (Θ), each with a weight.
///
/// The *kind* of an item is its class and the class of its own code. Items of one kind are interchangeable,
/// so one itemset represents all itemsets with the same number of items of each kind.
#[derive(Default)]
pub(super) struct Representatives {
    items: Vec<u32>,
    ends: Vec<usize>,
    /// Number of itemsets that each representative stands for.
    weights: Vec<f64>,
    /// Number of itemsets of interest.
    pub total: f64,
    pub is_sampled: bool,
    /// Items of each kind; empty if every itemset represents only itself.
    kinds: Vec<Vec<u32>>,
    /// Kind of each item.
    kind_of: Vec<u32>,
}

impl Representatives {
    fn new(
        frequencies: &Frequencies,
        space: &CrackSpace,
        settings: &ItemsetSettings,
        random: &mut Pcg64,
        control: &Control,
    ) -> Result<Self> {
        match &settings.interest {
            ItemsetsOfInterest::Listed(itemsets) => Representatives::listed(space.items(), itemsets),
            ItemsetsOfInterest::Sizes { sizes, skip_top } => {
                let mut sizes = sizes.clone();
                sizes.sort_unstable();
                sizes.dedup();
                let items = without_top(frequencies, *skip_top);
                match Representatives::of_each_kind(space, &items, &sizes, control)? {
                    Some(representatives) => Ok(representatives),
                    None => Representatives::sampled(&items, &sizes, settings.sample, random, control),
                }
            }
        }
    }

    pub fn listed(items: usize, itemsets: &[Vec<u32>]) -> Result<Self> {
        let itemsets = itemsets
            .iter()
            .map(|itemset| checked_itemset("itemset", items, itemset));
        let mut itemsets = itemsets.collect::<Result<Vec<_>>>()?;
        itemsets.sort_unstable();
        itemsets.dedup();
        let mut representatives = Representatives::default();
        for itemset in itemsets {
            representatives.items.extend(itemset);
            representatives.finish_itemset(1.0);
        }
        representatives.total = representatives.len() as f64;
        Ok(representatives)
    }

    /// Returns one itemset for every combination of kinds, or `None` if there are too many combinations.
    pub fn of_each_kind(
        space: &CrackSpace,
        items: &[u32],
        sizes: &[usize],
        control: &Control,
    ) -> Result<Option<Self>> {
        let mut by_signature: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for &item in items {
            let signature = (space.class_of[item as usize], space.own_code_class[item as usize]);
            by_signature.entry(signature).or_default().push(item);
        }
        let mut representatives = Representatives {
            kinds: by_signature.into_values().collect(),
            kind_of: vec![0; space.items()],
            ..Representatives::default()
        };
        for (kind, items) in representatives.kinds.iter().enumerate() {
            for &item in items {
                representatives.kind_of[item as usize] = kind as u32;
            }
        }
        // `left[kind]`: the number of items of this kind and all later marked.
        let mut left: Vec<usize> = representatives.kinds.iter().rev().map(Vec::len).collect();
        left.iter_mut().fold(0, |sum, size| {
            *size += sum;
            *size
        });
        left.reverse();
        left.push(0);
        for &size in sizes {
            if size <= items.len() && !representatives.add_representatives(size, &left, control)? {
                return Ok(None);
            }
        }
        representatives.total = representatives
            .weights
            .iter()
            .fold(0.0, |sum, weight| sum + weight);
        Ok(representatives.total.is_finite().then_some(representatives))
    }

    /// Adds a representative for every multiset of kinds of this size, in lexicographic order. Returns
    /// whether they stay within the limits.
    fn add_representatives(&mut self, size: usize, left: &[usize], control: &Control) -> Result<bool> {
        // The kinds in the current itemset and the number of items of each: as many as possible of the first
        // kind, then fewer.
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut missing = size;
        let mut next = 0;
        loop {
            while missing > 0 {
                let most = missing.min(self.kinds[next].len());
                taken.push((next, most));
                missing -= most;
                next += 1;
            }
            if self.ends.len() == MAX_REPRESENTATIVES || self.items.len() + size > MAX_REPRESENTATIVE_ITEMS {
                return Ok(false);
            }
            control.check()?;
            let mut weight = 1.0;
            for &(kind, taken) in &taken {
                self.items.extend(&self.kinds[kind][..taken]);
                weight *= binomial(self.kinds[kind].len(), taken);
            }
            self.finish_itemset(weight);
            // Take one item less of the last kind that later kinds can compensate for.
            loop {
                let Some((kind, most)) = taken.pop() else {
                    return Ok(true);
                };
                if left[kind + 1] > missing {
                    taken.extend((most > 1).then(|| (kind, most - 1)));
                    missing += 1;
                    next = kind + 1;
                    break;
                }
                missing += most;
            }
        }
    }

    /// Draws random itemsets, all itemsets of these sizes being equally likely.
    fn sampled(
        items: &[u32],
        sizes: &[usize],
        sample: usize,
        random: &mut Pcg64,
        control: &Control,
    ) -> Result<Self> {
        let sizes: Vec<usize> = sizes
            .iter()
            .copied()
            .filter(|&size| size <= items.len())
            .collect();
        let logs: Vec<f64> = sizes.iter().map(|&size| ln_binomial(items.len(), size)).collect();
        let most = logs.iter().copied().fold(0.0, f64::max);
        // Relative to the largest number of itemsets, which may be beyond `f64`.
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let mut representatives = Representatives {
            total: sizes
                .iter()
                .fold(0.0, |sum, &size| sum + binomial(items.len(), size)),
            is_sampled: true,
            ..Representatives::default()
        };
        let weights = cumulative(&weights);
        let largest = sizes.last().copied().unwrap_or(0);
        let bytes = size_of::<(usize, f64, ItemsetProbabilities)>() + largest * size_of::<u32>();
        control.require::<u8>(sample.saturating_mul(bytes))?;
        for _ in 0..sample {
            control.check()?;
            let size = sizes[weighted_index(&weights, random)];
            push_random_combination(items, size, random, &mut representatives.items);
            representatives.finish_itemset(1.0);
        }
        Ok(representatives)
    }

    /// Completes the itemset whose items were just added to `items`; `weight` is the number of itemsets
    /// that it represents.
    fn finish_itemset(&mut self, weight: f64) {
        self.ends.push(self.items.len());
        self.weights.push(weight);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of itemsets that a representative stands for.
    pub fn weight(&self, number: usize) -> f64 {
        self.weights[number]
    }

    pub fn get(&self, number: usize) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[number]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Returns the share of all itemsets of interest that the marked representatives stand for.
    fn share(&self, is_marked: impl Iterator<Item = bool>) -> BoundedShare {
        let marked = self
            .weights
            .iter()
            .zip(is_marked)
            .filter(|(_, is_marked)| *is_marked);
        let count = marked.fold(0.0, |sum, (weight, _)| sum + weight);
        match self.is_sampled {
            true => wilson(count, self.len() as f64),
            false => BoundedShare::exact(count / self.total.max(1.0)),
        }
    }

    /// Returns the kinds of the items of an itemset and the number of items of each kind. If every itemset
    /// represents only itself, each item is a kind of its own.
    pub fn parts<'a>(&'a self, itemset: &'a [u32]) -> Vec<(&'a [u32], usize)> {
        if self.kinds.is_empty() {
            return itemset.chunks(1).map(|item| (item, 1)).collect();
        }
        let kind = |item: &u32| self.kind_of[*item as usize];
        let runs = itemset.chunk_by(|one, other| kind(one) == kind(other));
        runs.map(|run| (&self.kinds[kind(&run[0]) as usize][..], run.len()))
            .collect()
    }
}

impl BoundedShare {
    fn exact(value: f64) -> Self {
        BoundedShare {
            value,
            lower: value,
            upper: value,
        }
    }

    fn times(self, factor: f64) -> Self {
        BoundedShare {
            value: self.value * factor,
            lower: self.lower * factor,
            upper: self.upper * factor,
        }
    }
}

/// Returns the share of the itemsets of interest that are vulnerable with 0, 1, 2, … compliant items.
fn vulnerable_shares(
    representatives: &Representatives,
    vulnerable: &[usize],
    sample: usize,
    orders: Orders,
    control: &Control,
) -> Result<Vec<BoundedShare>> {
    let runs = f64::from(orders.remaining_runs);
    let weights: Vec<f64> = vulnerable
        .iter()
        .map(|&number| representatives.weights[number])
        .collect();
    let weights = cumulative(&weights);
    let count = weights.last().copied().unwrap_or(0.0);
    let longest = vulnerable
        .iter()
        .map(|&number| representatives.get(number).len())
        .max();
    let is_listed =
        representatives.kinds.is_empty() || count * longest.unwrap_or(0) as f64 <= MAX_LISTED_ITEMS;
    // Skip the random numbers of all orders, so that the sample is independent of them.
    let mut after_all_orders = orders.clone();
    if !is_listed {
        after_all_orders.by_ref().try_for_each(|_| control.check())?;
    }
    let at_a_time = MAX_POSITIONS / orders.items.max(8);
    let entries = entries_by_step(orders, at_a_time, control, |visit| {
        if is_listed {
            for &number in vulnerable {
                for_each_combination(&representatives.parts(representatives.get(number)), |itemset| {
                    visit(itemset).map(ControlFlow::Continue)
                })?;
            }
            return Ok(());
        }
        let mut random = after_all_orders.random.clone();
        let mut itemset = Vec::new();
        for _ in 0..sample {
            itemset.clear();
            let number = vulnerable[weighted_index(&weights, &mut random)];
            for (kind, taken) in representatives.parts(representatives.get(number)) {
                push_random_combination(kind, taken, &mut random, &mut itemset);
            }
            visit(&itemset)?;
        }
        Ok(())
    })?;
    let mut entered = 0;
    let shares = entries.iter().map(|&more| {
        entered += more;
        let entered = entered as f64 / runs;
        match (representatives.is_sampled, is_listed) {
            (true, _) => wilson(entered, representatives.len() as f64),
            (false, true) => BoundedShare::exact(entered / representatives.total.max(1.0)),
            (false, false) => wilson(entered, sample as f64).times(count / representatives.total),
        }
    });
    Ok(shares.collect())
}

/// Maximum number of item positions in memory at a time, however many orders there are.
const MAX_POSITIONS: usize = 1 << 17;

/// Counts, for each step, the itemsets whose last item becomes compliant at that step, summed over all
/// orders. `for_each_itemset` is called once per batch of orders, and must call its argument with every
/// itemset.
fn entries_by_step(
    mut orders: Orders,
    at_a_time: usize,
    control: &Control,
    for_each_itemset: impl Fn(&mut dyn FnMut(&[u32]) -> Result<()>) -> Result<()>,
) -> Result<Vec<u64>> {
    let mut entries = vec![0u64; orders.items + 1];
    let at_a_time = at_a_time.clamp(1, orders.remaining_runs as usize);
    control.require::<u32>(at_a_time * orders.items.max(8))?;
    loop {
        let some = orders.by_ref().take(at_a_time);
        let positions: Vec<Vec<u32>> = some.map(|order| inverse_permutation(&order)).collect();
        if positions.is_empty() {
            return Ok(entries);
        }
        for_each_itemset(&mut |itemset| {
            control.check()?;
            for position in &positions {
                let last = itemset.iter().map(|&item| position[item as usize] + 1).max();
                entries[last.unwrap_or(0) as usize] += 1;
            }
            Ok(())
        })?;
    }
}

/// Returns, for each item, its position in the order.
fn inverse_permutation(order: &[u32]) -> Vec<u32> {
    let mut positions = vec![0; order.len()];
    for (position, &item) in order.iter().enumerate() {
        positions[item as usize] = position as u32;
    }
    positions
}

/// Returns all items except a share of the most frequent marked.
fn without_top(frequencies: &Frequencies, skip_top: f64) -> Vec<u32> {
    let mut items: Vec<u32> = (0..frequencies.items() as u32).collect();
    items.sort_by_key(|&item| std::cmp::Reverse(frequencies.counts()[item as usize]));
    let skipped = (skip_top * items.len() as f64 + COMPARISON_MARGIN).floor() as usize;
    items.drain(..skipped.min(items.len()));
    items.sort_unstable();
    items
}

/// Returns the binomial coefficient; infinite if it is too large for `f64`.
fn binomial(of: usize, size: usize) -> f64 {
    let fewer = size.min(of - size);
    let product = (1..=fewer).fold(1.0, |product, j| product * (of - fewer + j) as f64 / j as f64);
    product.round()
}

/// Returns the natural logarithm of the binomial coefficient.
fn ln_binomial(of: usize, size: usize) -> f64 {
    let fewer = size.min(of - size);
    (1..=fewer).fold(0.0, |sum, j| sum + ((of - fewer + j) as f64 / j as f64).ln())
}

/// Returns the prefix sums of the weights.
fn cumulative(weights: &[f64]) -> Vec<f64> {
    let sums = weights.iter().scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    sums.collect()
}

/// Draws an index with a probability proportional to its weight.
fn weighted_index(cumulative: &[f64], random: &mut Pcg64) -> usize {
    let last = cumulative.len() - 1;
    let point = random.random::<f64>() * cumulative[last];
    cumulative.partition_point(|&sum| sum <= point).min(last)
}

/// Adds `size` random items to the itemset, all choices being equally likely (Floyd's algorithm).
fn push_random_combination(items: &[u32], size: usize, random: &mut Pcg64, itemset: &mut Vec<u32>) {
    let mut chosen: FxHashSet<usize> = FxHashSet::default();
    for last in items.len() - size..items.len() {
        let one = random.random_range(0..=last);
        let one = if chosen.insert(one) { one } else { last };
        chosen.insert(one);
        itemset.push(items[one]);
    }
}

/// Visits every itemset that has the given number of items of each part, until the visitor breaks off.
pub(super) fn for_each_combination(
    parts: &[(&[u32], usize)],
    mut visit: impl FnMut(&[u32]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let first = |taken: usize| (0..taken).collect::<Vec<usize>>();
    let mut chosen: Vec<Vec<usize>> = parts.iter().map(|&(_, taken)| first(taken)).collect();
    let mut itemset: Vec<u32> = Vec::new();
    loop {
        itemset.clear();
        for ((items, _), chosen) in parts.iter().zip(&chosen) {
            itemset.extend(chosen.iter().map(|&at| items[at]));
        }
        if visit(&itemset)?.is_break() {
            return Ok(());
        }
        let mut part = parts.len();
        loop {
            let Some(last) = part.checked_sub(1) else {
                return Ok(());
            };
            part = last;
            if next_combination(&mut chosen[part], parts[part].0.len()) {
                break;
            }
            chosen[part] = first(parts[part].1);
        }
    }
}

/// Advances to the next combination in lexicographic order. Returns false if there is none.
fn next_combination(chosen: &mut [usize], of: usize) -> bool {
    let taken = chosen.len();
    let Some(at) = (0..taken).rev().find(|&at| chosen[at] < of - taken + at) else {
        return false;
    };
    let start = chosen[at] + 1;
    for (offset, one) in chosen[at..].iter_mut().enumerate() {
        *one = start + offset;
    }
    true
}

/// Returns a share in a sample with Wilson's 95 % confidence interval. `count` of `sample` elements have the
/// property.
fn wilson(count: f64, sample: f64) -> BoundedShare {
    const Z: f64 = 1.959_963_984_540_054;
    let share = count / sample;
    let scale = 1.0 + Z * Z / sample;
    let centre = (share + Z * Z / (2.0 * sample)) / scale;
    let reach = Z / scale * (share * (1.0 - share) / sample + Z * Z / (4.0 * sample * sample)).sqrt();
    BoundedShare {
        value: share,
        lower: (centre - reach).clamp(0.0, share),
        upper: (centre + reach).clamp(share, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_in_batches_say_the_same() {
        let compliance = ComplianceRuns { runs: 37, seed: 4 };
        let itemsets: [&[u32]; 4] = [&[0, 3], &[2], &[1, 2, 4], &[]];
        let by_batches_of = |at_a_time| {
            let orders = Orders::new(5, &compliance);
            entries_by_step(orders, at_a_time, &Control::new(), |visit| {
                itemsets.iter().try_for_each(|itemset| visit(itemset))
            })
            .unwrap()
        };
        // By the definition, one order at a time.
        let mut expected = vec![0; 6];
        for order in Orders::new(5, &compliance) {
            for itemset in itemsets {
                let is_in = |size: &usize| itemset.iter().all(|item| order[..*size].contains(item));
                expected[(0..6).find(is_in).unwrap()] += 1;
            }
        }
        for at_a_time in [0, 1, 5, 36, 37, 1000] {
            assert_eq!(by_batches_of(at_a_time), expected, "{at_a_time} at a time");
        }
    }
}
