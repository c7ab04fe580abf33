//! Edge probabilities by belief propagation, the Bethe approximation, for blocks whose exact sums over all
//! matchings would take too long.
//!
//! The edge probabilities b minimise the Bethe free energy Σ b ln(b/a) − Σ (1−b) ln(1−b) over doubly
//! stochastic matrices (Huang and Jebara 2009; Vontobel 2013 shows that it is convex there). At the minimum,
//! b (1−b) = a · row factor · column factor. Chertkov and Yedidia 2013 multiply the second sum by g (their γ
//! is −g), so that b (1−b)^g = a · row factor · column factor. This is a mean of the Bethe free energy and a
//! strictly convex function. Therefore it is strictly convex for 0 ≤ g < 1, and b is unique. With g = 0, b is
//! the doubly stochastic matrix itself: H of Malik 2014, formula 4.3.
//!
//! The choice of g: three cases can be solved for a block of n rows, and g = 1 − 1/n is right in all of them.
//! - *A cycle*, with two edges per row and column, has two matchings, of weights A and B. All edges of a
//!   matching have the same b, so that (b/(1−b))^(n(1−g)) = A/B; the exact solution is b/(1−b) = A/B. A block
//!   of two rows is such a cycle.
//! - *Almost equal edges*: a = (1+ε)/n, where the ε of every row and column sum to zero. To first order, the
//!   exact solution is b = (1 + ε n/(n−1))/n (the covariance of edges in a random permutation), and the
//!   approximation is b = (1 + ε/(1 − g/(n−1)))/n. The plain Bethe approximation, g = 1, has the factor
//!   (n−1)/(n−2) instead of n/(n−1), and H has 1. So with three rows the error of plain Bethe is as large as
//!   that of H, and with four rows half as large.
//! - *Equal edges*: any g is right.
//!
//! If the adversary is rather certain, a row interacts with few others, and g should be that of a smaller
//! block. At this extreme, the block has e^h + 1 rows, where h is the mean entropy of a row. In experiments
//! with random matrices of 3 to 12 rows, the geometric mean of this number and n works well; with 1 − 1/n
//! alone, the error reached up to a third of that of H. The three cases above are not affected. For large
//! blocks, g is near 1, as the theory requires if cycles are long.

use super::Matrix;
use super::blocks::{Block, blocks};
use super::exact::no_matching;
use super::matrix::EDGES_PER_CHECK;
use super::scale::{MIN_EDGES_PER_PIECE, Scaling, does_not_converge, dominant, scaled};
use crate::{Control, Result, parallel};

/// Bound on the change of beliefs in all remaining rounds, at which the iteration stops.
const TOLERANCE: f64 = 1e-7;

/// Returns the approximate probability of every edge of a matrix, row by row, or an error if there is no
/// perfect matching.
pub(super) fn edge_probabilities(matrix: &Matrix, control: &Control) -> Result<Vec<f64>> {
    let blocks = blocks(matrix, control)?.ok_or_else(|| no_matching(matrix))?;
    let of_block = |block: &Block| match block.matrix.size() == block.matrix.width() {
        true => beliefs(&block.matrix, control),
        false => {
            let mut found = beliefs(&padded(&block.matrix, control)?, control)?;
            found.truncate(block.matrix.edge_count());
            Ok(found)
        }
    };
    let of_blocks = parallel::map_if(&blocks, matrix.edge_count() > MIN_EDGES_PER_PIECE, of_block)?;
    let mut probability = vec![0.0; matrix.edge_count()];
    for (block, beliefs) in blocks.iter().zip(of_blocks) {
        block.scatter(&beliefs, matrix, &mut probability, control)?;
    }
    Ok(probability)
}

/// Returns a block with more columns than rows together with rows of ones that make it square, or an error if
/// these would be too many.
fn padded(block: &Matrix, control: &Control) -> Result<Matrix> {
    let edges = (block.width() - block.size()).saturating_mul(block.width());
    control.require::<[f64; 8]>(edges)?;
    block.padded(control)
}

/// Returns the approximate probability of every edge of a block; rows and columns sum to 1. It is exact for a
/// single row and for a single cycle.
fn beliefs(block: &Matrix, control: &Control) -> Result<Vec<f64>> {
    let size = block.size();
    if size == 1 {
        return Ok(vec![1.0]);
    }
    // Every edge lies in some perfect matching, so every row and column has at least two edges.
    if block.edge_count() == 2 * size {
        return Ok(of_cycle(block));
    }
    Propagation::new(block, control)?.beliefs(control)
}

/// Returns the probability of every edge of a cycle. A cycle has two matchings, and each has one of the two
/// edges of every row and of every column.
fn of_cycle(block: &Matrix) -> Vec<f64> {
    let size = block.size();
    let mut of_column = vec![Vec::with_capacity(2); size];
    for row in 0..size {
        for (edge, (column, _)) in block.edge_range(row).zip(block.row(row)) {
            of_column[column as usize].push((row, edge));
        }
    }
    // Follow the cycle: the edge by which it leaves a row belongs to the first matching.
    let mut is_first = vec![false; 2 * size];
    let mut log_odds = 0.0;
    let (mut row, mut edge) = (0, block.edge_range(0).start);
    for _ in 0..size {
        let range = block.edge_range(row);
        let other = range.start + range.end - 1 - edge;
        is_first[edge] = true;
        log_odds += block.weights()[edge].ln() - block.weights()[other].ln();
        let column = block.column(edge);
        let next = of_column[column as usize].iter().find(|next| next.0 != row);
        if let Some(&(taker, by)) = next {
            let range = block.edge_range(taker);
            (row, edge) = (taker, range.start + range.end - 1 - by);
        }
    }
    let share = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
    is_first
        .iter()
        .map(|&is_first| share(if is_first { log_odds } else { -log_odds }))
        .collect()
}

struct Propagation<'a> {
    /// Weights of the block, scaled to doubly stochastic.
    weights: Vec<f64>,
    scaling: Scaling<'a>,
    block: &'a Matrix,
    g: f64,
}

impl<'a> Propagation<'a> {
    fn new(block: &'a Matrix, control: &Control) -> Result<Self> {
        let weights = scaled(block, control)?;
        let mut scaling = Scaling::new(block);
        scaling.weights = weights.clone();
        Ok(Propagation {
            g: 1.0 - 1.0 / effective_size(block.size(), &weights, control)?,
            weights,
            scaling,
            block,
        })
    }

    /// Iterates until the beliefs converge. The second sum of the free energy is concave, so replacing it by
    /// its tangent at the current beliefs gives a function that touches the free energy from above. Its
    /// minimum is found by scaling, with (1−b)^g as a known factor. So every round lowers the free energy,
    /// from any start. Near the end, the change in each round is about the same share of the change in the
    /// round before. This share, the rate, is at most 1 − 1/n.
    fn beliefs(mut self, control: &Control) -> Result<Vec<f64>> {
        let mut before = self.scaling.weights.clone();
        let mut last = 1.0;
        let mut extrapolations = ExtrapolationSchedule::new();
        for round in 1..=MAX_ROUNDS {
            self.round(0.01 * last, control)?;
            let beliefs = &mut self.scaling.weights;
            let change = largest_change(&before, beliefs, control)?;
            let rate = change / last;
            last = change;
            let is_over =
                rate < 1.0 && change / (1.0 - rate) <= TOLERANCE && !extrapolations.was_just_made(round);
            if is_over || change <= TOLERANCE * 1e-3 {
                self.scaling.converge(FINAL_TOLERANCE, control)?;
                return Ok(self.scaling.weights);
            }
            if extrapolations.is_due(round, change) && (0.5..1.0).contains(&rate) {
                let factor = (rate / (1.0 - rate)).min(MAX_EXTRAPOLATED_ROUNDS);
                extrapolate(self.block, &before, beliefs, factor, control)?;
            }
            before.copy_from_slice(&self.scaling.weights);
        }
        Err(does_not_converge())
    }

    fn round(&mut self, tolerance: f64, control: &Control) -> Result<()> {
        let (weights, block, g) = (&self.weights, self.block, self.g);
        self.scaling.start_from_weights(control, |row, beliefs| {
            reweight(&weights[block.edge_range(row)], beliefs, g);
        })?;
        self.scaling.converge(tolerance.max(FINAL_TOLERANCE), control)
    }
}

/// Returns the effective number of rows, from which g follows: the geometric mean described in the module
/// documentation.
fn effective_size(size: usize, weights: &[f64], control: &Control) -> Result<f64> {
    let size = size as f64;
    let mut entropy = -0.0;
    for some in weights.chunks(EDGES_PER_CHECK) {
        control.check()?;
        entropy = some
            .iter()
            .fold(entropy, |sum, weight| sum - weight * weight.ln());
    }
    let local_size = ((entropy / size).exp() + 1.0).clamp(2.0, size);
    Ok((size * local_size).sqrt())
}

/// Deviation from 1 allowed for the sum of a row or column in a doubly stochastic matrix.
const FINAL_TOLERANCE: f64 = 1e-13;

/// Limit on rounds, far more than were ever needed.
const MAX_ROUNDS: usize = 100_000;

/// Schedule of extrapolations. Occasionally beliefs jump to the limit of the next rounds, extrapolated on the
/// assumption that the rate stays constant (Aitken's extrapolation, applied to their logarithms). If one goes
/// astray, the following rounds lead back. To leave them enough rounds for that, extrapolations become rarer
/// if nothing was gained since the last one.
struct ExtrapolationSchedule {
    /// Least number of rounds between two extrapolations.
    between: usize,
    last: usize,
    change: f64,
}

impl ExtrapolationSchedule {
    fn new() -> Self {
        ExtrapolationSchedule {
            between: 6,
            last: 0,
            change: f64::INFINITY,
        }
    }

    /// Returns whether the last extrapolation was made right before this round.
    fn was_just_made(&self, round: usize) -> bool {
        round == self.last + 1
    }

    fn is_due(&mut self, round: usize, change: f64) -> bool {
        if round < self.last + self.between {
            return false;
        }
        if change > 0.5 * self.change {
            self.between *= 2;
        }
        self.last = round;
        self.change = change;
        true
    }
}

/// Largest number of rounds that an extrapolation may stand for.
const MAX_EXTRAPOLATED_ROUNDS: f64 = 100.0;

fn largest_change(before: &[f64], now: &[f64], control: &Control) -> Result<f64> {
    let mut largest = 0.0;
    for (before, now) in before.chunks(EDGES_PER_CHECK).zip(now.chunks(EDGES_PER_CHECK)) {
        control.check()?;
        for (before, now) in before.iter().zip(now) {
            let change = (now - before).abs();
            largest = if change <= largest { largest } else { change };
        }
    }
    Ok(largest)
}

/// Repeats the last round's change of the beliefs' logarithms, multiplied by a factor, and scales rows to sum
/// to 1.
fn extrapolate(
    block: &Matrix,
    before: &[f64],
    beliefs: &mut [f64],
    factor: f64,
    control: &Control,
) -> Result<()> {
    for row in 0..block.size() {
        control.check()?;
        let beliefs = &mut beliefs[block.edge_range(row)];
        for (belief, before) in beliefs.iter_mut().zip(&before[block.edge_range(row)]) {
            if *belief > 0.0 && *before > 0.0 {
                *belief *= (factor * (*belief / before).ln()).clamp(-10.0, 10.0).exp();
            }
        }
        let sum: f64 = beliefs.iter().sum();
        for belief in beliefs {
            *belief /= sum;
        }
    }
    Ok(())
}

/// Smallest value used for 1−b.
const MIN_REST: f64 = 1e-100;

/// Replaces the beliefs b of a row by a (1−b)^(−g).
fn reweight(weights: &[f64], beliefs: &mut [f64], g: f64) {
    let largest = beliefs.iter().copied().fold(0.0, f64::max);
    if largest < 1.0 / 32.0 {
        for (belief, weight) in beliefs.iter_mut().zip(weights) {
            *belief = weight * small_power(*belief, g);
        }
        return;
    }
    // 1−b loses all its digits if b is near 1. In that case, use the sum of the row's other beliefs.
    let dominant = dominant(beliefs);
    for (belief, weight) in beliefs.iter_mut().zip(weights) {
        *belief = weight * (-g * (-*belief).ln_1p()).exp();
    }
    if let Some((edge, rest)) = dominant {
        beliefs[edge] = weights[edge] * rest.max(MIN_REST).powf(-g);
    }
}

/// Returns (1−b)^(−g) for a small b, by the binomial series.
fn small_power(belief: f64, g: f64) -> f64 {
    const TERMS: i32 = 9;
    let mut power = 1.0;
    for k in (1..=TERMS).rev() {
        let k = f64::from(k);
        power = 1.0 + power * belief * (g + k - 1.0) / k;
    }
    power
}
