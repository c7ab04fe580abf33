//! Edge probabilities by belief propagation: the Bethe approximation, where sums over all matchings take too long.
//!
//! The probabilities b of edges make the Bethe free energy Σ b ln(b/a) − Σ (1−b) ln(1−b) least among doubly stochastic
//! matrices (Huang and Jebara 2009; Vontobel 2013, who shows that it is convex there), which means
//! b (1−b) = a · row factor · column factor. Chertkov and Yedidia 2013 count the second sum g times (their γ is −g):
//! b (1−b)^g = a · row factor · column factor. As that is a mean of the Bethe free energy and of a strictly convex
//! function, it is strictly convex for 0 ≤ g < 1, and b is unique. With g = 0 it is the doubly stochastic matrix itself:
//! H of Malik 2014, formula 4.3.
//!
//! Which g? Three cases can be solved for a block of n rows, and g = 1 − 1/n is right in all of them:
//! - *A cycle*, two edges per row and column, has two matchings, of weights A and B. All of one's edges have the same
//!   b, so that (b/(1−b))^(n(1−g)) = A/B; exact is b/(1−b) = A/B. Two rows are such a cycle.
//! - *All edges the same, almost*: a = (1+ε)/n with rows and columns of ε that sum to zero. The truth is
//!   b = (1 + ε n/(n−1))/n to the first order (the covariance of edges in a random permutation), and this here
//!   b = (1 + ε/(1 − g/(n−1)))/n. Plain Bethe, g = 1, has (n−1)/(n−2) instead of n/(n−1), H has 1: so with three rows
//!   Bethe is as wrong as H, and with four half as wrong.
//! - *All edges the same*: any g will do.
//!
//! Where the adversary is rather sure, a row has to do with few others, and g should be that of a smaller block: of as many
//! rows as e to the entropy of a row, and one more, at the other extreme. By experiment, the geometric mean of this
//! number and n does well: random matrices with 3 to 12 rows, on which 1 − 1/n alone came up to a third of H's error. The
//! three cases stay as they are, and large blocks have g near 1, as theory asks for where cycles are long.

use super::Matrix;
use super::blocks::{Block, blocks};
use super::exact::no_matching;
use super::matrix::CHUNK;
use super::scale::{Balance, EDGES_PER_PIECE, does_not_converge, dominant, scaled};
use crate::{Control, Result, threads};

/// Beliefs do not change by more than this in all the rounds that are not made.
const TOLERANCE: f64 = 1e-7;

/// The probability of every edge of a matrix, about, row by row; an error where there is no perfect matching.
pub(super) fn edge_probabilities(matrix: &Matrix, control: &Control) -> Result<Vec<f64>> {
    let blocks = blocks(matrix, control)?.ok_or_else(no_matching)?;
    let of_block = |block: &Block| beliefs(&block.matrix, control);
    let of_blocks = threads::map(&blocks, matrix.edges() > EDGES_PER_PIECE, of_block)?;
    let mut probability = vec![0.0; matrix.edges()];
    for (block, beliefs) in blocks.iter().zip(of_blocks) {
        block.put(&beliefs, matrix, &mut probability, control)?;
    }
    Ok(probability)
}

/// The probability of every edge of a block, about; rows and columns sum to 1. Exact where there is one row, or a single
/// cycle.
fn beliefs(block: &Matrix, control: &Control) -> Result<Vec<f64>> {
    let size = block.size();
    if size == 1 {
        return Ok(vec![1.0]);
    }
    // Every edge lies in some matching, so that no row or column has less than two.
    if block.edges() == 2 * size {
        return Ok(of_cycle(block));
    }
    Propagation::new(block, control)?.beliefs(control)
}

/// Of two matchings, each of which has one of every row's edges, and one of every column's.
fn of_cycle(block: &Matrix) -> Vec<f64> {
    let size = block.size();
    let mut of_column = vec![Vec::with_capacity(2); size];
    for row in 0..size {
        for (edge, (column, _)) in block.range(row).zip(block.row(row)) {
            of_column[column as usize].push((row, edge));
        }
    }
    // Along the cycle: of each row, the edge by which it is left belongs to the first matching.
    let mut is_first = vec![false; 2 * size];
    let mut odds = 0.0;
    let (mut row, mut edge) = (0, block.range(0).start);
    for _ in 0..size {
        let range = block.range(row);
        let other = range.start + range.end - 1 - edge;
        is_first[edge] = true;
        odds += block.weights()[edge].ln() - block.weights()[other].ln();
        let column = block.column(edge);
        let next = of_column[column as usize].iter().find(|next| next.0 != row);
        if let Some(&(taker, by)) = next {
            let range = block.range(taker);
            (row, edge) = (taker, range.start + range.end - 1 - by);
        }
    }
    let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    is_first
        .iter()
        .map(|&is_first| share(if is_first { odds } else { -odds }))
        .collect()
}

struct Propagation<'a> {
    /// Doubly stochastic.
    weights: Vec<f64>,
    balance: Balance<'a>,
    block: &'a Matrix,
    g: f64,
}

impl<'a> Propagation<'a> {
    fn new(block: &'a Matrix, control: &Control) -> Result<Self> {
        let weights = scaled(block, control)?;
        let mut balance = Balance::new(block);
        balance.weights = weights.clone();
        Ok(Propagation {
            g: 1.0 - 1.0 / effective_size(block.size(), &weights, control)?,
            weights,
            balance,
            block,
        })
    }

    /// Where (1−b)^g is taken for known, b is a matter of scaling: what is least then touches the free energy from
    /// above, as the second sum is concave. So each round brings the free energy down, from wherever it begins. The
    /// last rounds change beliefs by a share, the rate, of the round before: no more than 1 − 1/n.
    fn beliefs(mut self, control: &Control) -> Result<Vec<f64>> {
        let mut before = self.balance.weights.clone();
        let mut last = 1.0;
        let mut leaps = Leaps::new();
        for round in 1..=MOST_ROUNDS {
            self.round(0.01 * last, control)?;
            let beliefs = &mut self.balance.weights;
            let change = largest_change(&before, beliefs, control)?;
            let rate = change / last;
            last = change;
            let is_over = rate < 1.0 && change / (1.0 - rate) <= TOLERANCE && !leaps.was_last(round);
            if is_over || change <= TOLERANCE * 1e-3 {
                self.balance.settle(FINAL_TOLERANCE, control)?;
                return Ok(self.balance.weights);
            }
            if leaps.is_next(round, change) && (0.5..1.0).contains(&rate) {
                let factor = (rate / (1.0 - rate)).min(LONGEST_LEAP);
                leap(self.block, &before, beliefs, factor, control)?;
            }
            before.copy_from_slice(&self.balance.weights);
        }
        Err(does_not_converge())
    }

    fn round(&mut self, tolerance: f64, control: &Control) -> Result<()> {
        let (weights, block, g) = (&self.weights, self.block, self.g);
        self.balance.reload(control, |row, beliefs| {
            raise(&weights[block.range(row)], beliefs, g);
        })?;
        self.balance.settle(tolerance.max(FINAL_TOLERANCE), control)
    }
}

/// Of how many rows the block is as good as.
fn effective_size(size: usize, weights: &[f64], control: &Control) -> Result<f64> {
    let size = size as f64;
    let mut entropy = -0.0;
    for some in weights.chunks(CHUNK) {
        control.check()?;
        entropy = some
            .iter()
            .fold(entropy, |sum, weight| sum - weight * weight.ln());
    }
    let met = ((entropy / size).exp() + 1.0).clamp(2.0, size);
    Ok((size * met).sqrt())
}

/// Of rows and columns, to be called doubly stochastic.
const FINAL_TOLERANCE: f64 = 1e-13;

/// Far more than were ever needed.
const MOST_ROUNDS: usize = 100_000;

/// Now and then, beliefs go to where the next rounds would lead if all went on at the same rate (Aitken's
/// extrapolation, of their logarithms). Where that leads astray, rounds lead back from there; so that they can, leaps
/// become rarer if nothing was won since the last one.
struct Leaps {
    /// In rounds.
    between: usize,
    last: usize,
    change: f64,
}

impl Leaps {
    fn new() -> Self {
        Leaps {
            between: 6,
            last: 0,
            change: f64::INFINITY,
        }
    }

    /// Whether there was one right before this round.
    fn was_last(&self, round: usize) -> bool {
        round == self.last + 1
    }

    fn is_next(&mut self, round: usize, change: f64) -> bool {
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

/// As many rounds at once, at most.
const LONGEST_LEAP: f64 = 100.0;

fn largest_change(before: &[f64], now: &[f64], control: &Control) -> Result<f64> {
    let mut largest = 0.0;
    for (before, now) in before.chunks(CHUNK).zip(now.chunks(CHUNK)) {
        control.check()?;
        for (before, now) in before.iter().zip(now) {
            let change = (now - before).abs();
            largest = if change <= largest { largest } else { change };
        }
    }
    Ok(largest)
}

/// Change beliefs as much as in the last round, times a factor.
fn leap(block: &Matrix, before: &[f64], beliefs: &mut [f64], factor: f64, control: &Control) -> Result<()> {
    for row in 0..block.size() {
        control.check()?;
        let beliefs = &mut beliefs[block.range(row)];
        for (belief, before) in beliefs.iter_mut().zip(&before[block.range(row)]) {
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

/// No belief comes nearer to 1.
const LEAST_REST: f64 = 1e-100;

/// a (1−b)^(−g) for a row.
fn raise(weights: &[f64], beliefs: &mut [f64], g: f64) {
    let largest = beliefs.iter().copied().fold(0.0, f64::max);
    if largest < 1.0 / 32.0 {
        for (belief, weight) in beliefs.iter_mut().zip(weights) {
            *belief = weight * small_power(*belief, g);
        }
        return;
    }
    // 1−b loses all its digits where b is near 1: there, it is the sum of the others.
    let dominant = dominant(beliefs);
    for (belief, weight) in beliefs.iter_mut().zip(weights) {
        *belief = weight * (-g * (-*belief).ln_1p()).exp();
    }
    if let Some((edge, rest)) = dominant {
        beliefs[edge] = weights[edge] * rest.max(LEAST_REST).powf(-g);
    }
}

/// (1−b)^(−g) for a small b, by the binomial series.
fn small_power(belief: f64, g: f64) -> f64 {
    const TERMS: i32 = 9;
    let mut power = 1.0;
    for k in (1..=TERMS).rev() {
        let k = f64::from(k);
        power = 1.0 + power * belief * (g + k - 1.0) / k;
    }
    power
}
