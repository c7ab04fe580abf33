//! The expected number of cracked itemsets of a table (Lakshmanan et al. 2008, Lemmas 3.2, 3.3, 3.5 and 3.6),
//! for any belief.
//!
//! Items fall into blocks that are mapped independently. In each block, the expected number of cracked
//! itemsets with 0, 1, 2, … items are the coefficients of a polynomial, and the product of the polynomials of
//! all blocks has the answer for every size. If any code of a block can stand for any of its items, the
//! coefficients have a closed form, which gives the lemmas. In other blocks, one itemset of each kind is
//! counted. The blocks for which that takes too long are simulated.

use super::blocks::Block;
use super::risk::{Cost, check_method, exact_choice};
use super::{ItemsetCracks, STEPS_OF_SHARES, checked_itemset};
use crate::cracks::o_estimate::kahan_sum;
use crate::cracks::recipe::{MAX_REPRESENTATIVES, Representatives};
use crate::cracks::simulate::{CycleCounting, Estimate, simulate_cycles, simulate_itemsets};
use crate::cracks::{CrackSpace, Method, Settings};
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Itemsets whose cracks are counted.
#[derive(Debug, Clone, PartialEq)]
pub enum CountedItemsets {
    /// All itemsets of a size.
    OfSize {
        /// Number of items in an itemset.
        size: usize,
        /// Only itemsets that consist of these items count; `None` means all items.
        interest: Option<Vec<u32>>,
    },
    /// These itemsets; duplicates count once.
    Listed(Vec<Vec<u32>>),
}

impl CountedItemsets {
    /// Checks the size. Whether items exist is checked later.
    pub fn check(&self) -> Result<()> {
        match self {
            CountedItemsets::OfSize { size: 0, .. } => Err(Error::invalid(
                "size",
                "must be at least 1",
                "the number of items in an itemset",
            )),
            _ => Ok(()),
        }
    }
}

/// Expected number of cracked itemsets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExpectedItemsetCracks {
    /// Number of itemsets that count; infinite if it is too large for `f64`.
    pub itemsets: f64,
    /// Mean number of them that a random crack mapping cracks; infinite if it is too large for `f64`.
    pub expected: f64,
    /// Lower end of the interval that contains the answer; equal to `expected` if that is exact.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// `expected` divided by `itemsets`, even if both are infinite; `None` if there are no itemsets.
    pub share: Option<f64>,
    /// Method that was used: [`Method::Exact`] or [`Method::Simulate`].
    pub method: Method,
    /// Whether a simulation reached the target precision; true for exact answers.
    pub is_precise_enough: bool,
}

impl ExpectedItemsetCracks {
    fn exact(itemsets: Wide, expected: Wide) -> Self {
        let number = |wide: Wide| wide.divided_by(Wide::from_f64(1.0));
        ExpectedItemsetCracks {
            share: (!itemsets.is_zero()).then(|| expected.divided_by(itemsets)),
            ..Self::estimated(number(itemsets), Estimate::exact(number(expected)))
        }
    }

    fn estimated(itemsets: f64, estimate: Estimate) -> Self {
        ExpectedItemsetCracks {
            itemsets,
            expected: estimate.value,
            lower: estimate.lower,
            upper: estimate.upper,
            share: (itemsets > 0.0).then_some(estimate.value / itemsets),
            method: match estimate.lower == estimate.upper {
                true => Method::Exact,
                false => Method::Simulate,
            },
            is_precise_enough: estimate.is_precise_enough,
        }
    }
}

/// Returns the expected number of itemsets that a random crack mapping cracks; `None` if no crack mapping is
/// consistent with the belief. An itemset is cracked if the codes of its items are mapped to these items, in
/// any order.
pub fn expected_itemset_cracks(
    space: &CrackSpace,
    counted: &CountedItemsets,
    settings: &Settings,
    control: &Control,
) -> Result<Option<ExpectedItemsetCracks>> {
    settings.check()?;
    counted.check()?;
    check_method(settings.method)?;
    match counted {
        CountedItemsets::Listed(itemsets) => of_list(space, itemsets, settings, control),
        CountedItemsets::OfSize { size, interest } => {
            let all = || (0..space.items() as u32).collect();
            let interest = match interest {
                Some(interest) => checked_itemset("interest", space.items(), interest)?,
                None => all(),
            };
            of_size(space, *size, &interest, settings, control)
        }
    }
}

/// Maximum number of listed itemsets that are simulated one by one.
const MAX_SINGLE_SIMULATIONS: usize = 16;

fn of_list(
    space: &CrackSpace,
    itemsets: &[Vec<u32>],
    settings: &Settings,
    control: &Control,
) -> Result<Option<ExpectedItemsetCracks>> {
    let listed = Representatives::listed(space.items(), itemsets)?;
    let cracks = ItemsetCracks::new(space);
    let Some(cost) = cracks.cost(&listed, control)? else {
        return Ok(None);
    };
    let count = listed.len() as f64;
    if cost.is_affordable(settings) && settings.method != Method::Simulate {
        let of_itemset = |number| {
            Ok(cracks
                .exact_unchecked(listed.get(number), control)?
                .unwrap_or(0.0))
        };
        let probabilities = (0..listed.len()).into_par_iter().map(of_itemset);
        let expected = kahan_sum(&probabilities.collect::<Result<Vec<f64>>>()?);
        let exact = ExpectedItemsetCracks::estimated(count, Estimate::exact(expected));
        return Ok(Some(exact));
    }
    if settings.method == Method::Exact {
        return Err(cost.too_high());
    }
    let estimate = match listed.len() <= MAX_SINGLE_SIMULATIONS {
        true => one_by_one(&cracks, &listed, settings, control)?,
        false => {
            let itemsets: Vec<Vec<u32>> = listed.iter().map(<[u32]>::to_vec).collect();
            let Some(simulated) = simulate_itemsets(space, &itemsets, &settings.simulation(), control)?
            else {
                return Ok(None);
            };
            Estimate {
                value: kahan_sum(&simulated.crack_probability),
                lower: simulated.lower,
                upper: simulated.upper,
                is_precise_enough: simulated.is_precise_enough,
            }
        }
    };
    Ok(Some(ExpectedItemsetCracks::estimated(count, estimate)))
}

/// Estimates the probability of each itemset in turn, and adds them up.
fn one_by_one(
    cracks: &ItemsetCracks,
    listed: &Representatives,
    settings: &Settings,
    control: &Control,
) -> Result<Estimate> {
    let deadline = settings
        .budget
        .and_then(|budget| Instant::now().checked_add(budget));
    let mut sum = Estimate::exact(0.0);
    for (number, itemset) in listed.iter().enumerate() {
        let left = (listed.len() - number) as u32;
        let settings = Settings {
            seed: settings.seed.wrapping_add(number as u64),
            max_steps: settings.max_steps / listed.len() as f64,
            budget: deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) / left),
            ..settings.clone()
        };
        if let Some(risk) = cracks.risk(itemset, &settings, control)? {
            sum = sum.plus(risk.estimate());
        }
    }
    Ok(sum)
}

impl ItemsetCracks<'_> {
    /// Returns the predicted cost of exact answers; `None` if no mapping is consistent with the belief.
    fn cost(&self, listed: &Representatives, control: &Control) -> Result<Option<Cost>> {
        let Some(blocks) = self.blocks(control)? else {
            return Ok(None);
        };
        Ok(Some(Cost {
            steps: self.steps(listed.iter(), control)?,
            bytes: blocks.iter().map(|block| block.bytes).fold(0.0, f64::max),
        }))
    }
}

fn of_size(
    space: &CrackSpace,
    size: usize,
    interest: &[u32],
    settings: &Settings,
    control: &Control,
) -> Result<Option<ExpectedItemsetCracks>> {
    let start = Instant::now();
    let cracks = ItemsetCracks::new(space);
    let Some(blocks) = cracks.blocks(control)? else {
        return Ok(None);
    };
    if size > interest.len() {
        let nothing = Wide::default();
        return Ok(Some(ExpectedItemsetCracks::exact(nothing, nothing)));
    }
    let itemsets = wide_binomial(interest.len(), size, control)?;
    // An itemset is cracked if and only if the other items are, too.
    let size = match interest.len() == space.items() {
        true => size.min(interest.len() - size),
        false => size,
    };
    let mut is_of_interest = vec![false; space.items()];
    interest
        .iter()
        .for_each(|&item| is_of_interest[item as usize] = true);
    let planned = blocks.iter().map(|block| {
        let planned = PlannedBlock::new(space, block, &is_of_interest, size, control);
        planned.map(|planned| (block, planned))
    });
    let planned = planned.collect::<Result<Vec<_>>>()?;
    let costs: Vec<Cost> = planned.iter().map(|(_, planned)| planned.cost).collect();
    let of_product = Cost {
        steps: product_steps(&planned, size),
        bytes: 0.0,
    };
    let is_exact = exact_choice(&costs, of_product, settings)?;
    let (mut product, mut simulated) = (vec![Wide::from_f64(1.0)], Vec::new());
    for ((block, planned), &is_exact) in planned.iter().zip(&is_exact) {
        match is_exact {
            true => product = times(&product, &planned.polynomial(&cracks, control)?, size, control)?,
            false => simulated.extend_from_slice(&block.items),
        }
    }
    product.resize(size + 1, Wide::default());
    if simulated.is_empty() {
        return Ok(Some(ExpectedItemsetCracks::exact(itemsets, product[size])));
    }
    simulated.sort_unstable();
    let of_others: Vec<f64> = product
        .iter()
        .map(|&wide| wide.divided_by(Wide::from_f64(1.0)))
        .collect();
    let counting = CycleCounting {
        is_of_interest: &simulated
            .iter()
            .map(|&item| is_of_interest[item as usize])
            .collect::<Vec<bool>>(),
        of_others: &of_others,
        itemsets: itemsets.divided_by(Wide::from_f64(1.0)),
    };
    let mut simulation = settings.simulation();
    simulation.budget = settings.budget.map(|budget| remaining(budget, start));
    let estimate = simulate_cycles(&space.part(&simulated), &counting, &simulation, control)?;
    Ok(estimate.map(|estimate| ExpectedItemsetCracks::estimated(counting.itemsets, estimate)))
}

fn remaining(budget: Duration, start: Instant) -> Duration {
    budget.saturating_sub(start.elapsed())
}

/// A block and how its polynomial is computed.
struct PlannedBlock<'a> {
    space: &'a CrackSpace,
    /// Items of interest.
    interest: Vec<u32>,
    /// Number of items.
    items: usize,
    is_complete: bool,
    /// Largest number of items of an itemset in this block.
    largest: usize,
    cost: Cost,
}

/// Number of steps that planning takes for each class and edge of a graph that is counted.
const PLAN_STEPS: f64 = 100.0;

impl<'a> PlannedBlock<'a> {
    fn new(
        space: &'a CrackSpace,
        block: &Block,
        is_of_interest: &[bool],
        size: usize,
        control: &Control,
    ) -> Result<Self> {
        let of_interest = block.items.iter().filter(|&&item| is_of_interest[item as usize]);
        let interest: Vec<u32> = of_interest.copied().collect();
        let mut planned = PlannedBlock {
            space,
            largest: size.min(interest.len()),
            interest,
            items: block.items.len(),
            is_complete: block.is_complete,
            cost: Cost::default(),
        };
        if planned.is_complete || planned.largest == 0 {
            return Ok(planned);
        }
        let kinds = planned.kind_sizes();
        let by_size = planned.kinds_of_itemsets(&kinds, control)?;
        let all = by_size.iter().fold(0.0, |sum, count| sum + count);
        let large = by_size.iter().skip(3).fold(0.0, |sum, count| sum + count);
        let planning = PLAN_STEPS * block.extent;
        // All pairs with the same first edge need the shares once.
        let steps = (kinds.len() + 1) as f64 * (STEPS_OF_SHARES * block.steps + planning)
            + large * (block.steps + planning);
        planned.cost = Cost {
            steps: match all <= MAX_REPRESENTATIVES as f64 {
                true => steps,
                false => f64::INFINITY,
            },
            bytes: block.bytes,
        };
        Ok(planned)
    }

    /// Returns the largest size that has to be counted. If all items are of interest, an itemset is cracked if
    /// and only if the other items of the block are, so sizes above half the items follow.
    fn largest_counted(&self) -> usize {
        match self.interest.len() == self.items {
            true => self.largest.min(self.items / 2),
            false => self.largest,
        }
    }

    /// Returns the number of items of interest of each kind: with the same class and the same class of their
    /// own codes.
    fn kind_sizes(&self) -> Vec<usize> {
        let mut kinds: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for &item in &self.interest {
            let kind = (
                self.space.class_of[item as usize],
                self.space.own_code_class[item as usize],
            );
            *kinds.entry(kind).or_default() += 1;
        }
        kinds.into_values().collect()
    }

    /// Returns the number of kinds of itemsets with 0, 1, 2, … items that have to be counted: the coefficients
    /// of the product of 1 + z + … + z^n over the kinds of n items.
    fn kinds_of_itemsets(&self, kinds: &[usize], control: &Control) -> Result<Vec<f64>> {
        let largest = self.largest_counted();
        let mut counts = vec![0.0; largest + 1];
        counts[0] = 1.0;
        for &size in kinds {
            control.check()?;
            let mut sums = 0.0;
            let before = counts.clone();
            for degree in 0..=largest {
                sums += before[degree];
                if degree > size {
                    sums -= before[degree - size - 1];
                }
                counts[degree] = sums;
            }
        }
        Ok(counts)
    }

    /// Returns the expected number of cracked itemsets with 0, 1, 2, … items of interest.
    fn polynomial(&self, cracks: &ItemsetCracks, control: &Control) -> Result<Vec<Wide>> {
        control.require::<Wide>(self.largest + 1)?;
        let mut polynomial = vec![Wide::from_f64(1.0); self.largest + 1];
        if self.is_complete {
            // C(c, x) / C(m, x), if c of m items are of interest (Lemmas 3.3 and 3.6).
            for x in 1..=self.largest {
                control.check()?;
                let ratio = (self.interest.len() + 1 - x) as f64 / (self.items + 1 - x) as f64;
                polynomial[x] = polynomial[x - 1].times(Wide::from_f64(ratio));
            }
            return Ok(polynomial);
        }
        let sizes: Vec<usize> = (1..=self.largest_counted()).collect();
        let representatives = Representatives::of_each_kind(self.space, &self.interest, &sizes, control)?;
        let representatives = representatives.unwrap_or_default();
        control.set_total(representatives.len() as u64);
        let of_kind = |number: usize| {
            control.check()?;
            let probability = cracks.exact_unchecked(representatives.get(number), control)?;
            control.advance(1);
            Ok(probability.unwrap_or(0.0))
        };
        let probabilities = (0..representatives.len()).into_par_iter().map(of_kind);
        let probabilities = probabilities.collect::<Result<Vec<f64>>>()?;
        polynomial[1..].fill(Wide::default());
        for (number, probability) in probabilities.into_iter().enumerate() {
            let cracked = Wide::from_f64(representatives.weight(number)).times(Wide::from_f64(probability));
            polynomial[representatives.get(number).len()].add(cracked);
        }
        for x in sizes.len() + 1..=self.largest {
            polynomial[x] = polynomial[self.items - x];
        }
        Ok(polynomial)
    }
}

/// Returns the number of steps of multiplying the polynomials of all blocks.
fn product_steps(planned: &[(&Block, PlannedBlock)], size: usize) -> f64 {
    const STEPS_PER_PRODUCT: f64 = 4.0;
    let mut degree = 0;
    let of_blocks = planned.iter().map(|(_, planned)| {
        let steps = (degree + 1) as f64 * (planned.largest + 1) as f64;
        degree = size.min(degree + planned.largest);
        steps * STEPS_PER_PRODUCT
    });
    of_blocks.fold(0.0, std::ops::Add::add)
}

/// Returns the product of two polynomials without powers above `size`.
fn times(one: &[Wide], other: &[Wide], size: usize, control: &Control) -> Result<Vec<Wide>> {
    let degree = size.min(one.len() + other.len() - 2);
    control.require::<Wide>(degree + 1)?;
    let mut product = vec![Wide::default(); degree + 1];
    for (at, &factor) in other.iter().enumerate() {
        control.check()?;
        for (sum, &term) in product[at..].iter_mut().zip(one) {
            sum.add(term.times(factor));
        }
    }
    Ok(product)
}

/// Returns the binomial coefficient.
fn wide_binomial(of: usize, size: usize, control: &Control) -> Result<Wide> {
    let fewer = size.min(of - size);
    let mut product = Wide::from_f64(1.0);
    for j in 1..=fewer {
        control.check()?;
        product = product.times(Wide::from_f64((of - fewer + j) as f64 / j as f64));
    }
    Ok(product)
}
