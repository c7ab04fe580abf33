//! Distribution of the number of cracks: the probability that a random matching cracks exactly c entries, and
//! at least c.
//!
//! Let the weight of every true edge be multiplied by x. Then the permanent is a polynomial whose coefficient
//! of x^c is the sum over the matchings with c cracks. The polynomial of a matrix is the product of those of
//! its blocks. All coefficients are sums of products of positive numbers, so that nothing cancels, and small
//! probabilities are as precise as large ones. If this is too expensive, matchings are drawn at random.

use super::blocks::{Block, blocks};
use super::class_cracks::ClassCracks;
use super::exact::{no_matching, too_large};
use super::frontier::{Frontier, Layer, Merge, Number, STATES_PER_TASK, Step, power_of_two};
use super::{Matrix, Method, Settings, Truth, sample};
use crate::matching::Wide;
use crate::{Control, Error, Result, parallel};
use rayon::prelude::*;
use std::cell::RefCell;

/// Probabilities of a number of cracks. The ends of an interval are the probability itself if it is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CrackProbability {
    /// Probability of exactly this number of cracks.
    pub probability: f64,
    /// Lower end of the interval of `probability`.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// Probability of at least this number of cracks.
    pub at_least: f64,
    /// Lower end of the interval of `at_least`.
    pub at_least_lower: f64,
    /// Upper end of that interval.
    pub at_least_upper: f64,
}

/// Distribution of the number of cracks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CrackDistribution {
    /// Probabilities of 0, 1, 2, … cracks, up to the number of entries whose code is known. If they are
    /// sampled, each interval holds with a confidence of 95 % by itself, not all of them at once.
    pub cracks: Vec<CrackProbability>,
    /// Method that computed the distribution: [`Method::Exact`] or [`Method::Sample`].
    pub method: Method,
    /// Whether a sample reached its relative error, which is that of the expected number of cracks; true for
    /// the exact method.
    pub is_precise_enough: bool,
}

/// Returns the distribution of the number of cracks, or an error if there is no perfect matching.
pub fn crack_distribution(
    matrix: &Matrix,
    truth: &Truth,
    settings: &Settings,
    control: &Control,
) -> Result<CrackDistribution> {
    settings.check()?;
    let most = truth.columns().iter().flatten().count();
    match settings.method {
        Method::Auto | Method::Exact => (),
        Method::Sample => return sampled(matrix, truth, most, settings, control),
        Method::Bethe | Method::Heuristic | Method::Marginals => {
            return Err(Error::invalid(
                "method",
                "does not determine the distribution of cracks",
                "the exact method or sampling",
            ));
        }
    }
    let blocks = blocks(matrix, control)?.ok_or_else(|| no_matching(matrix))?;
    let plan = |block: &Block| PlannedPolynomial::new(block, truth, control);
    let planned: Vec<PlannedPolynomial> = blocks.iter().map(plan).collect::<Result<_>>()?;
    let seconds = planned.iter().map(PlannedPolynomial::seconds).sum::<f64>() + product_seconds(&planned);
    let bytes = planned.iter().map(PlannedPolynomial::bytes).fold(0.0, f64::max);
    if let Err(too_expensive) = settings.check_estimated_cost(seconds, bytes) {
        return match settings.method {
            Method::Auto => sampled(matrix, truth, most, settings, control),
            _ => Err(too_expensive),
        };
    }
    let product = product(&planned, seconds, control)?;
    Ok(CrackDistribution {
        cracks: with_tails(product, most),
        method: Method::Exact,
        is_precise_enough: true,
    })
}

/// Returns the exact distribution with the probabilities of at least each number of cracks, which are sums
/// from the largest number down.
fn with_tails(product: Polynomial, most: usize) -> Vec<CrackProbability> {
    let mut probability = vec![0.0; product.start];
    probability.extend(product.coefficients);
    probability.resize(most + 1, 0.0);
    let all: f64 = probability.iter().sum();
    let mut at_least = 0.0;
    let mut cracks: Vec<CrackProbability> = Vec::with_capacity(most + 1);
    for probability in probability.into_iter().rev().map(|probability| probability / all) {
        at_least = f64::min(at_least + probability, 1.0);
        cracks.push(CrackProbability {
            probability,
            lower: probability,
            upper: probability,
            at_least,
            at_least_lower: at_least,
            at_least_upper: at_least,
        });
    }
    cracks.reverse();
    // A matching always has at least as many cracks as every matching has.
    for certain in &mut cracks[..=product.start] {
        (certain.at_least, certain.at_least_lower, certain.at_least_upper) = (1.0, 1.0, 1.0);
    }
    cracks
}

fn sampled(
    matrix: &Matrix,
    truth: &Truth,
    most: usize,
    settings: &Settings,
    control: &Control,
) -> Result<CrackDistribution> {
    let found = sample::distribution(matrix, truth, most, settings, control)?;
    let both = found.exactly.iter().zip(&found.at_least);
    let row = |(exactly, at_least): (&sample::SampledShare, &sample::SampledShare)| CrackProbability {
        probability: exactly.share,
        lower: exactly.lower,
        upper: exactly.upper,
        at_least: at_least.share,
        at_least_lower: at_least.lower,
        at_least_upper: at_least.upper,
    };
    Ok(CrackDistribution {
        cracks: both.map(row).collect(),
        method: Method::Sample,
        is_precise_enough: found.is_precise_enough,
    })
}

/// Distribution of the number of cracks in a part of the matrix.
#[derive(Debug, Clone)]
struct Polynomial {
    /// Number of cracks of the first coefficient.
    start: usize,
    /// Probabilities of this number of cracks and of the following ones.
    coefficients: Vec<f64>,
}

/// Probabilities below this are dropped from both ends of a product.
const LEAST: f64 = 1e-300;

impl Polynomial {
    /// Multiplies by the polynomial of another part, which is independent of this one.
    fn multiply(&mut self, other: &Polynomial, control: &Control) -> Result<()> {
        self.start += other.start;
        let length = self.coefficients.len() + other.coefficients.len() - 1;
        let mut product = vec![0.0; length];
        for (at, factor) in other.coefficients.iter().enumerate() {
            control.check()?;
            for (sum, coefficient) in product[at..].iter_mut().zip(&self.coefficients) {
                *sum += coefficient * factor;
            }
        }
        let is_large = |coefficient: &f64| *coefficient >= LEAST;
        let end = product.iter().rposition(is_large).map_or(1, |last| last + 1);
        product.truncate(end);
        let first = product.iter().position(is_large).unwrap_or(0);
        product.drain(..first);
        self.start += first;
        self.coefficients = product;
        Ok(())
    }
}

/// Estimated seconds per product of two coefficients.
const SECONDS_PER_PRODUCT: f64 = 5e-10;

/// Returns the estimated seconds of the product of all polynomials. The sum of independent numbers of cracks
/// deviates from its mean by at most about forty standard deviations before its probability is dropped.
fn product_seconds(planned: &[PlannedPolynomial]) -> f64 {
    let degree: f64 = planned.iter().map(|planned| planned.degree() as f64).sum();
    let width = degree.min(40.0 * degree.sqrt());
    (degree + planned.len() as f64) * width * SECONDS_PER_PRODUCT
}

/// Returns the product of the polynomials of all blocks.
fn product(planned: &[PlannedPolynomial], seconds: f64, control: &Control) -> Result<Polynomial> {
    const MIN_SECONDS_FOR_THREADS: f64 = 1e-3;
    let is_worth_threads = planned.len() > 1 && seconds > MIN_SECONDS_FOR_THREADS;
    let mut product = Polynomial {
        start: 0,
        coefficients: vec![1.0],
    };
    // A few blocks at a time, because their states take memory.
    for some in planned.chunks(BLOCKS_AT_A_TIME) {
        let of_blocks = parallel::map_if(some, is_worth_threads && some.len() > 1, |planned| {
            planned.polynomial(control)
        })?;
        for of_block in &of_blocks {
            product.multiply(of_block, control)?;
        }
    }
    Ok(product)
}

/// Number of blocks whose polynomials are computed before they are multiplied.
const BLOCKS_AT_A_TIME: usize = 256;

/// How the polynomial of a block is computed.
enum PlannedPolynomial {
    /// No edge of the block is true.
    Nothing,
    /// The block consists of one edge, which is true.
    Certain,
    /// Count by classes, if all matchings are equally likely.
    Classes {
        classes: ClassCracks,
        /// Number of rows that can be cracked.
        marked: usize,
    },
    /// Sum over sets of open columns.
    Frontier {
        frontier: Frontier,
        /// For every edge of the block, whether it is true.
        is_true: Vec<bool>,
        /// Number of rows that can be cracked.
        marked: usize,
    },
    /// No algorithm is feasible.
    Infeasible,
}

impl PlannedPolynomial {
    fn new(block: &Block, truth: &Truth, control: &Control) -> Result<Self> {
        let matrix = &block.matrix;
        let mut is_true = Vec::with_capacity(matrix.edge_count());
        for within in 0..matrix.size() {
            control.check()?;
            is_true.extend(matrix.row(within).map(|(column, _)| {
                let (row, column) = block.in_whole(within, column);
                truth.columns()[row as usize] == Some(column)
            }));
        }
        let marked = is_true.iter().filter(|&&is_true| is_true).count();
        if marked == 0 {
            return Ok(PlannedPolynomial::Nothing);
        }
        if matrix.edge_count() == 1 {
            return Ok(PlannedPolynomial::Certain);
        }
        let classes = ClassCracks::new(matrix, &is_true, control)?;
        let classes = classes.map(|classes| PlannedPolynomial::Classes { classes, marked });
        let frontier = Frontier::new(matrix, control)?.map(|frontier| PlannedPolynomial::Frontier {
            frontier,
            is_true,
            marked,
        });
        let by_seconds = |a: &Self, b: &Self| a.seconds().total_cmp(&b.seconds());
        let quickest = classes.into_iter().chain(frontier).min_by(by_seconds);
        Ok(quickest.unwrap_or(PlannedPolynomial::Infeasible))
    }

    /// Returns the largest possible number of cracks.
    fn degree(&self) -> usize {
        match self {
            PlannedPolynomial::Nothing | PlannedPolynomial::Infeasible => 0,
            PlannedPolynomial::Certain => 1,
            PlannedPolynomial::Classes { marked, .. } | PlannedPolynomial::Frontier { marked, .. } => *marked,
        }
    }

    /// Returns the estimated seconds that one core takes.
    fn seconds(&self) -> f64 {
        match self {
            PlannedPolynomial::Nothing | PlannedPolynomial::Certain => 0.0,
            PlannedPolynomial::Classes { classes, .. } => classes.seconds(),
            // A polynomial has one coefficient more than its degree, which is half of the largest on average.
            PlannedPolynomial::Frontier { frontier, marked, .. } => {
                frontier.seconds() * (0.5 + *marked as f64 / 2.0 * SECONDS_PER_COEFFICIENT)
            }
            PlannedPolynomial::Infeasible => f64::INFINITY,
        }
    }

    /// Returns the estimated bytes.
    fn bytes(&self) -> f64 {
        match self {
            // The layers before and after a step, and the parts of the latter.
            PlannedPolynomial::Frontier { frontier, marked, .. } => {
                3.0 * 8.0 * (2.0 + *marked as f64) * frontier.largest_layer()
            }
            PlannedPolynomial::Classes { classes, .. } => classes.bytes(),
            PlannedPolynomial::Infeasible => f64::INFINITY,
            PlannedPolynomial::Nothing | PlannedPolynomial::Certain => 0.0,
        }
    }

    fn polynomial(&self, control: &Control) -> Result<Polynomial> {
        let coefficients = match self {
            PlannedPolynomial::Nothing => vec![1.0],
            PlannedPolynomial::Certain => {
                return Ok(Polynomial {
                    start: 1,
                    coefficients: vec![1.0],
                });
            }
            PlannedPolynomial::Classes { classes, .. } => classes.distribution(control)?,
            PlannedPolynomial::Frontier {
                frontier, is_true, ..
            } => match by_frontier::<f64>(frontier, is_true, control)? {
                Some(found) => found,
                None => by_frontier::<Wide>(frontier, is_true, control)?.ok_or_else(too_large)?,
            },
            PlannedPolynomial::Infeasible => return Err(too_large()),
        };
        Ok(Polynomial {
            start: 0,
            coefficients,
        })
    }
}

/// Seconds per coefficient of a polynomial, as a share of the seconds per step of a frontier.
const SECONDS_PER_COEFFICIENT: f64 = 0.06;

/// Returns the distribution of the number of fixed points among `marked` of the elements of a random
/// permutation of `size` elements.
///
/// Let f(u, t) be the number of permutations of u + t elements in which none of t marked elements is fixed. A
/// marked element goes to one of the u others, and then t − 1 marked elements remain; or to another marked
/// element, which is then not marked any more, and neither is what goes to the first. So f(u, t) =
/// u f(u, t−1) + (t−1) f(u+1, t−2), without a difference. With exactly c fixed, there are C(t, c) f(u, t−c)
/// permutations. The recurrence is for g(u, t) = f(u, t) / (u+t)!, which is a probability.
pub(super) fn uniform(size: usize, marked: usize, control: &Control) -> Result<Vec<f64>> {
    let others = size - marked;
    let mut following: Vec<f64> = Vec::new();
    for more in (0..=marked / 2).rev() {
        control.check()?;
        let others = (others + more) as f64;
        let mut row = Vec::with_capacity(marked - 2 * more + 1);
        row.push(1.0);
        for marked in 1..=marked - 2 * more {
            let to_other = others * row[marked - 1];
            let to_marked = match marked {
                1 => 0.0,
                _ => (marked - 1) as f64 * following[marked - 2],
            };
            row.push((to_other + to_marked) / (others + marked as f64));
        }
        following = row;
    }
    // C(t, c) (n−c)! / n!.
    let mut ways = 1.0;
    let of_count = |cracks: usize| {
        let probability = ways * following[marked - cracks];
        ways *= (marked - cracks) as f64 / ((cracks + 1) as f64 * (size - cracks).max(1) as f64);
        probability
    };
    Ok((0..=marked).map(of_count).collect())
}

/// Returns the coefficients of a block's polynomial, divided by their sum. Returns `None` if the range of the
/// number type does not suffice.
///
/// As in [`Frontier`], every state has a sum over the ways to reach it, here one for each number of cracks.
fn by_frontier<N: Number>(
    frontier: &Frontier,
    is_true: &[bool],
    control: &Control,
) -> Result<Option<Vec<f64>>> {
    let mut layer = PolynomialLayer {
        length: 1,
        layer: Layer {
            states: vec![0],
            sums: vec![N::from_f64(1.0)],
        },
    };
    for step in frontier.steps() {
        let Some((weights, _)) = N::scaled_weights(&step.edges) else {
            return Ok(None);
        };
        let is_true = |index: Option<usize>| index.is_some_and(|index| is_true[index]);
        let is_true: Vec<bool> = step.edges.iter().map(|edge| is_true(edge.index)).collect();
        layer = layer.after(step, &weights, &is_true, control)?;
        if !layer.rescale() {
            return Ok(None);
        }
    }
    let sums = &layer.layer.sums[..layer.length];
    let mut all = N::default();
    sums.iter().for_each(|&sum| all.add(sum));
    Ok(Some(sums.iter().map(|sum| sum.divided_by(all)).collect()))
}

/// All states with their polynomials, one after the other.
struct PolynomialLayer<N> {
    /// Number of coefficients of a polynomial.
    length: usize,
    layer: Layer<N>,
}

impl<N: Number> PolynomialLayer<N> {
    fn after(&self, step: &Step, weights: &[N], is_true: &[bool], control: &Control) -> Result<Self> {
        let length = self.length + usize::from(is_true.contains(&true));
        let before = &self.layer;
        let between = |low, high| {
            let mut states = Vec::new();
            // The polynomial of the next state is being summed up at the end.
            let sums = RefCell::new(vec![N::default(); length]);
            let merge = Merge::new(step, &before.states, low, high).with_sums(length);
            merge.run(
                control,
                |edge, position| {
                    let from = &before.sums[position * self.length..][..self.length];
                    let mut sums = sums.borrow_mut();
                    let start = sums.len() - length + usize::from(is_true[edge]);
                    for (sum, &coefficient) in sums[start..].iter_mut().zip(from) {
                        sum.add(coefficient.times(weights[edge]));
                    }
                },
                |state| {
                    states.push(state);
                    let mut sums = sums.borrow_mut();
                    let end = sums.len() + length;
                    sums.resize(end, N::default());
                },
            )?;
            let mut sums = sums.into_inner();
            sums.truncate(states.len() * length);
            Ok(Layer { states, sums })
        };
        let layer = match before.states.len() <= STATES_PER_TASK {
            true => between(i128::MIN, i128::MAX)?,
            false => before.in_parts(between)?,
        };
        Ok(PolynomialLayer { length, layer })
    }

    /// Multiplies all sums by a power of two so that the largest is near 1. Returns whether the range of the
    /// number type suffices. Only the totals of states count for that: a coefficient that is too small beside
    /// its state's total is so in the result.
    fn rescale(&mut self) -> bool {
        let total = |polynomial: &[N]| {
            let mut total = N::default();
            polynomial.iter().for_each(|&coefficient| total.add(coefficient));
            total
        };
        let mut totals: Vec<N> = self.layer.sums.chunks(self.length).map(total).collect();
        let Some(exponent) = N::rescale(&mut totals) else {
            return false;
        };
        if exponent != 0 {
            let factor = N::from_f64(power_of_two(-exponent));
            let scale = |sum: &mut N| *sum = sum.times(factor);
            match self.layer.states.len() <= STATES_PER_TASK {
                true => self.layer.sums.iter_mut().for_each(scale),
                false => self.layer.sums.par_iter_mut().for_each(scale),
            }
        }
        true
    }
}
