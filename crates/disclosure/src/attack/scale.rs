//! Scaling of a matrix to doubly stochastic: every row and column sums to 1. Rounds of Sinkhorn and Knopp
//! (1967) alternate between columns and rows; if they converge slowly, Newton's method takes over. Weights
//! that differ by many orders of magnitude are approached step by step, from powers of them that differ less.

use super::Matrix;
use super::blocks::{Block, blocks};
use super::exact::no_matching;
use super::matrix::{EDGES_PER_CHECK, invalid};
use crate::{Control, Error, Result, parallel};
use std::ops::Range;

/// Returns the doubly stochastic matrix obtained by multiplying rows and columns (Sinkhorn and Knopp 1967),
/// without the edges that no perfect matching uses. The probabilities of matchings do not change. It is an
/// error if the matrix is not square, or if there is no perfect matching.
pub fn normalise(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    matrix.require_square()?;
    let blocks = blocks(matrix, control)?.ok_or_else(|| no_matching(matrix))?;
    let scaled = |block: &Block| scaled(&block.matrix, control);
    let weights = parallel::map_if(&blocks, matrix.edge_count() > MIN_EDGES_PER_PIECE, scaled)?;
    // Every row is in one block, and blocks keep the order of rows and columns of the whole matrix.
    let mut block_of_row = vec![(0, 0); matrix.size()];
    for (number, block) in blocks.iter().enumerate() {
        for (within, &row) in block.rows.iter().enumerate() {
            block_of_row[row as usize] = (number, within);
        }
    }
    let rows = block_of_row.into_iter().map(|(number, within)| {
        let block = &blocks[number];
        let columns = block
            .matrix
            .row(within)
            .map(|(column, _)| block.columns[column as usize]);
        columns.zip(weights[number][block.matrix.edge_range(within)].iter().copied())
    });
    Matrix::from_rows(matrix.width(), rows, control)
}

/// Returns the unique flat doubly stochastic matrix with these edges, except those that no perfect matching
/// uses (Malik 2014, section 3.3): all its matchings have the same probability. It is an error if there is no
/// perfect matching.
pub fn flat_matrix(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    normalise(&matrix.with_weights(vec![1.0; matrix.edge_count()]), control)
}

/// Deviation from 1 allowed for the sum of a row or column in a doubly stochastic matrix.
const TOLERANCE: f64 = 1e-13;

/// Returns the doubly stochastic weights of a block.
pub(super) fn scaled(block: &Matrix, control: &Control) -> Result<Vec<f64>> {
    scaled_from_logs(block, logarithms(block.weights(), control)?, control)
}

fn logarithms(weights: &[f64], control: &Control) -> Result<Vec<f64>> {
    let mut logs = Vec::with_capacity(weights.len());
    for some in weights.chunks(EDGES_PER_CHECK) {
        control.check()?;
        logs.extend(some.iter().map(|weight| weight.ln()));
    }
    Ok(logs)
}

/// Returns the doubly stochastic weights of a block, given the logarithms of its weights, which may be too
/// small for a double.
///
/// A result that is too small becomes the smallest normal number, so that its edge stays possible.
pub(super) fn scaled_from_logs(block: &Matrix, mut logs: Vec<f64>, control: &Control) -> Result<Vec<f64>> {
    let range = equilibrate(block, &mut logs, control)?;
    let mut scaling = Scaling::new(block);
    // Weights raised to the power of 1/temperature differ less, so that all of them matter. The factors for
    // one temperature are a good start for the next lower one: within a row, no share falls below the square
    // of its value before.
    let mut temperature = (range / MAX_DIRECT_RANGE).max(1.0);
    loop {
        scaling.start_from_logs(&logs, temperature, control)?;
        if temperature <= 1.0 {
            scaling.converge(TOLERANCE, control)?;
            break;
        }
        scaling.converge(0.1, control)?;
        let next = (temperature / 2.0).max(1.0);
        for potential in &mut scaling.potential {
            *potential *= temperature / next;
        }
        temperature = next;
    }
    let mut weights = scaling.weights;
    for some in weights.chunks_mut(EDGES_PER_CHECK) {
        control.check()?;
        for weight in some {
            *weight = weight.max(f64::MIN_POSITIVE);
        }
    }
    Ok(weights)
}

/// Weights that differ by at most e to this power are scaled directly.
const MAX_DIRECT_RANGE: f64 = 100.0;

/// Divides weights so that the largest of every row and column is 1. Returns the negative logarithm of the
/// smallest.
fn equilibrate(block: &Matrix, logs: &mut [f64], control: &Control) -> Result<f64> {
    let mut of_columns = vec![f64::NEG_INFINITY; block.size()];
    for row in 0..block.size() {
        control.check()?;
        let own = &mut logs[block.edge_range(row)];
        let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (log, (column, _)) in own.iter_mut().zip(block.row(row)) {
            *log -= largest;
            let of_column = &mut of_columns[column as usize];
            *of_column = of_column.max(*log);
        }
    }
    let mut range = 0.0;
    for row in 0..block.size() {
        control.check()?;
        for (log, (column, _)) in logs[block.edge_range(row)].iter_mut().zip(block.row(row)) {
            *log -= of_columns[column as usize];
            range = f64::max(range, -*log);
        }
    }
    Ok(range)
}

/// A block that is being scaled: its rows sum to 1 at any time.
///
/// With rows scaled, the logarithms y of the column factors remain to be found. They minimise the convex
/// function φ(y) = Σᵢ ln Σⱼ aᵢⱼ exp(yⱼ) − Σⱼ yⱼ, whose gradient is the columns' sums minus 1. The rounds of
/// Sinkhorn and Knopp descend one coordinate at a time. For a block that is a long band, the number of rounds
/// is quadratic in its length. In such cases Newton's method takes over (as in Knight and Ruiz 2013), with
/// each step computed by conjugate gradients.
#[derive(Debug)]
pub(super) struct Scaling<'a> {
    matrix: &'a Matrix,
    /// Ranges of rows that are distributed between threads. They do not depend on the number of threads, so
    /// neither do the sums.
    pieces: Vec<Range<usize>>,
    /// Logarithms of the column factors.
    pub potential: Vec<f64>,
    /// Weights, scaled so that rows sum to 1.
    pub weights: Vec<f64>,
    /// Sum of every column.
    sums: Vec<f64>,
    /// Sum of every column minus 1, which is more precise than `sums` if it is small.
    excess: Vec<f64>,
}

/// Least number of edges in a thread's piece.
pub(super) const MIN_EDGES_PER_PIECE: usize = 1 << 14;

/// Largest number of pieces. With more, the memory for their sums would outweigh the time saved.
const MAX_PIECES: usize = 16;

/// Sinkhorn and Knopp's rounds end after this many rounds, or earlier if more than this many would still be
/// needed.
const MAX_ROUNDS: usize = 100;

/// Limit on Newton steps. Each step roughly halves the residual or better, and squares it near the end.
const MAX_NEWTON_STEPS: usize = 500;

/// Least sum of a column after a step. A step that takes almost everything from a column is too long, because
/// the column could not recover.
const MIN_SUM: f64 = 1e-100;

/// Ratio of the regularisation μ to the largest entry of the gradient.
const REGULARISATION: f64 = 0.01;

impl<'a> Scaling<'a> {
    pub fn new(matrix: &'a Matrix) -> Self {
        Scaling {
            matrix,
            pieces: pieces(matrix),
            potential: vec![0.0; matrix.size()],
            weights: Vec::new(),
            sums: Vec::new(),
            excess: Vec::new(),
        }
    }

    /// Starts from the weights exp(log / temperature) and the current factors.
    pub fn start_from_logs(&mut self, logs: &[f64], temperature: f64, control: &Control) -> Result<()> {
        self.weights.resize(logs.len(), 0.0);
        let (matrix, potential) = (self.matrix, &self.potential);
        (self.sums, self.excess) = by_rows(
            &self.pieces,
            matrix,
            &mut self.weights,
            control,
            |row, weights| {
                let logs = &logs[matrix.edge_range(row)];
                let log =
                    |(log, (column, _)): (&f64, (u32, f64))| log / temperature + potential[column as usize];
                let exponents = || logs.iter().zip(matrix.row(row)).map(log);
                let largest = exponents().fold(f64::NEG_INFINITY, f64::max);
                for (weight, exponent) in weights.iter_mut().zip(exponents()) {
                    *weight = (exponent - largest).exp();
                }
                scale_to_one(weights);
            },
        )?;
        Ok(())
    }

    /// Starts from other weights and the current factors: `fill` gets the number of a row and its current
    /// weights, and replaces them.
    pub fn start_from_weights(
        &mut self,
        control: &Control,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<()> {
        let factors: Vec<f64> = self.potential.iter().map(|potential| potential.exp()).collect();
        self.multiply(&factors, control, fill)
    }

    /// Calls `fill` to change the weights, multiplies columns by these factors, and then scales rows to sum
    /// to 1.
    fn multiply(
        &mut self,
        factors: &[f64],
        control: &Control,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<()> {
        let matrix = self.matrix;
        (self.sums, self.excess) = by_rows(
            &self.pieces,
            matrix,
            &mut self.weights,
            control,
            |row, weights| {
                fill(row, weights);
                multiply(matrix, row, weights, factors);
                scale_to_one(weights);
            },
        )?;
        Ok(())
    }

    /// Returns the largest deviation of a column's sum from 1.
    fn residual(&self) -> f64 {
        let larger = |largest, excess: &f64| {
            if excess.abs() <= largest {
                largest
            } else {
                excess.abs()
            }
        };
        self.excess.iter().fold(0.0, larger)
    }

    /// Iterates until no column's sum deviates from 1 by more than the tolerance.
    pub fn converge(&mut self, tolerance: f64, control: &Control) -> Result<()> {
        let mut residual = self.residual();
        for round in 0.. {
            if residual <= tolerance {
                return Ok(());
            }
            self.round(control)?;
            let next = self.residual();
            let rounds_left = (residual / tolerance).ln() / (residual / next).ln();
            residual = next;
            let is_slow = !(0.0..=MAX_ROUNDS as f64).contains(&rounds_left);
            if round >= MAX_ROUNDS || round >= 10 && is_slow {
                break;
            }
        }
        for _ in 0..MAX_NEWTON_STEPS {
            if residual <= tolerance {
                return Ok(());
            }
            let is_better = self.step(control)? && self.residual() < residual;
            if !is_better {
                self.round(control)?;
            }
            residual = self.residual();
        }
        Err(does_not_converge())
    }

    /// Multiplies columns so that they sum to 1, then rows.
    fn round(&mut self, control: &Control) -> Result<()> {
        for (potential, sum) in self.potential.iter_mut().zip(&self.sums) {
            *potential -= sum.ln();
        }
        let factors: Vec<f64> = self.sums.iter().map(|sum| sum.recip()).collect();
        self.multiply(&factors, control, |_, _| ())
    }

    /// Makes a Newton step, halved until it is short enough. Returns whether there is such a step; if not,
    /// the weights are restored.
    fn step(&mut self, control: &Control) -> Result<bool> {
        let direction = self.direction(control)?;
        let slope = |excess: &[f64]| dot(excess, &direction);
        let first_slope = slope(&self.excess);
        if first_slope >= 0.0 {
            return Ok(false);
        }
        let logs = logarithms(&self.weights, control)?;
        let before = self.potential.clone();
        let mut length = 1.0;
        for _ in 0..40 {
            let steps = direction.iter().map(|along| along * length);
            self.potential = steps.collect();
            self.start_from_logs(&logs, 1.0, control)?;
            // Accept the step if φ, which is convex, rises at its end at most 0.3 times as steeply as it fell
            // at its start.
            let is_kept = self.sums.iter().all(|&sum| sum > MIN_SUM);
            if is_kept && slope(&self.excess) <= -0.3 * first_slope {
                for (potential, before) in self.potential.iter_mut().zip(&before) {
                    *potential += before;
                }
                return Ok(true);
            }
            length /= 2.0;
        }
        self.potential = vec![0.0; before.len()];
        self.start_from_logs(&logs, 1.0, control)?;
        self.potential = before;
        Ok(false)
    }

    /// Returns the solution d of (C − WᵀW + μ) d = 1 − c, where c are the columns' sums and C is the diagonal
    /// matrix of c. C − WᵀW is the second derivative of φ, and 1 − c its negative gradient. Without μ the
    /// system would be singular, because all factors may be multiplied by the same number. It would be nearly
    /// singular if parts of the block are hardly connected, and only rounding errors would remain. With μ
    /// proportional to the gradient it is regular, and steps still square the residual near the end (Li,
    /// Fukushima, Qi and Yamashita 2004).
    fn direction(&self, control: &Control) -> Result<Vec<f64>> {
        let size = self.matrix.size();
        let extra = REGULARISATION * self.residual();
        let mut diagonal = vec![extra; size];
        for row in 0..size {
            control.check()?;
            let weights = &self.weights[self.matrix.edge_range(row)];
            let dominant = dominant(weights);
            for (number, (weight, (column, _))) in weights.iter().zip(self.matrix.row(row)).enumerate() {
                let others = match dominant {
                    Some((dominant, rest)) if number == dominant => rest,
                    _ => 1.0 - weight,
                };
                diagonal[column as usize] += weight * others;
            }
        }
        let inverse: Vec<f64> = diagonal.iter().map(|diagonal| diagonal.recip()).collect();
        let mut solution = vec![0.0; size];
        let mut residual: Vec<f64> = self.excess.iter().map(|excess| -excess).collect();
        // The deviations of all columns sum to zero, except for rounding.
        let mean = sum(&residual) / size as f64;
        for residual in &mut residual {
            *residual -= mean;
        }
        let mut search: Vec<f64> = product(&residual, &inverse);
        let mut weighted = dot(&residual, &search);
        let first = weighted;
        // Far from the solution, a rough direction suffices. Near the end, a step squares the residual only
        // if its direction is correspondingly precise.
        let enough = first * self.residual().clamp(1e-6, 0.1).powi(2);
        for _ in 0..4 * size + 50 {
            if weighted <= enough {
                break;
            }
            let mut image = self.curvature(&search, control)?;
            add(&mut image, extra, &search);
            let along = dot(&search, &image);
            if along <= 0.0 {
                break;
            }
            let length = weighted / along;
            add(&mut solution, length, &search);
            add(&mut residual, -length, &image);
            let next: Vec<f64> = product(&residual, &inverse);
            let now = dot(&residual, &next);
            let share = now / weighted;
            for (search, next) in search.iter_mut().zip(next) {
                *search = next + share * *search;
            }
            weighted = now;
        }
        Ok(solution)
    }

    /// Returns (C − WᵀW) v: every row contributes wⱼ (vⱼ − Σₖ wₖ vₖ) to each of its columns j. The difference
    /// in brackets is computed relative to the v of the row's largest weight, so that it is precise even if
    /// it is small.
    fn curvature(&self, vector: &[f64], control: &Control) -> Result<Vec<f64>> {
        let of_piece = |piece: &Range<usize>| {
            let mut image = vec![0.0; vector.len()];
            for row in piece.clone() {
                control.check()?;
                let weights = &self.weights[self.matrix.edge_range(row)];
                let values = || self.matrix.row(row).map(|(column, _)| vector[column as usize]);
                let dominant = dominant(weights).map_or(0, |(dominant, _)| dominant);
                let reference =
                    vector[self.matrix.column(self.matrix.edge_range(row).start + dominant) as usize];
                let mean: f64 = weights
                    .iter()
                    .zip(values())
                    .map(|(weight, value)| weight * (value - reference))
                    .sum();
                for (weight, (column, _)) in weights.iter().zip(self.matrix.row(row)) {
                    image[column as usize] += weight * (vector[column as usize] - reference - mean);
                }
            }
            Ok(image)
        };
        let images = parallel::map_if(&self.pieces, self.pieces.len() > 1, of_piece)?;
        let mut whole = vec![0.0; vector.len()];
        for image in images {
            add(&mut whole, 1.0, &image);
        }
        Ok(whole)
    }
}

fn pieces(matrix: &Matrix) -> Vec<Range<usize>> {
    let count = (matrix.edge_count() / MIN_EDGES_PER_PIECE).clamp(1, MAX_PIECES);
    let size = matrix.size();
    (0..count)
        .map(|piece| size * piece / count..size * (piece + 1) / count)
        .collect()
}

/// Changes every row, which has to sum to 1 afterwards. Returns the sums of columns, and these sums minus 1.
///
/// A weight near 1 is represented as 1 minus the rest of its row. Then the deviation of its column is a sum
/// of small numbers, which keeps its digits.
fn by_rows(
    pieces: &[Range<usize>],
    matrix: &Matrix,
    weights: &mut [f64],
    control: &Control,
    change: impl Fn(usize, &mut [f64]) + Sync,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut rest = weights;
    let mut shares = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let edges = piece.clone().map(|row| matrix.edge_range(row).len()).sum();
        let (own, others) = rest.split_at_mut(edges);
        shares.push((piece.clone(), own));
        rest = others;
    }
    let of_piece = |(rows, mut weights): (Range<usize>, &mut [f64])| {
        let mut excess = vec![0.0; matrix.size()];
        let mut ones = vec![0; matrix.size()];
        for row in rows {
            control.check()?;
            let (own, others) = weights.split_at_mut(matrix.edge_range(row).len());
            change(row, own);
            match dominant(own) {
                None if own.len() == excess.len() => add(&mut excess, 1.0, own),
                None => add_sparse(&mut excess, matrix, row, own),
                Some((number, rest)) => {
                    let column = matrix.column(matrix.edge_range(row).start + number) as usize;
                    let weight = std::mem::replace(&mut own[number], -rest);
                    add_sparse(&mut excess, matrix, row, own);
                    own[number] = weight;
                    ones[column] += 1;
                }
            }
            weights = others;
        }
        Ok((excess, ones))
    };
    let of_pieces = parallel::map_if(shares, pieces.len() > 1, of_piece)?;
    let mut excess = vec![0.0; matrix.size()];
    let mut ones = vec![-1; matrix.size()];
    for (of_piece, ones_of_piece) in of_pieces {
        add(&mut excess, 1.0, &of_piece);
        for (ones, of_piece) in ones.iter_mut().zip(ones_of_piece) {
            *ones += of_piece;
        }
    }
    let mut sums = excess.clone();
    for ((excess, sum), ones) in excess.iter_mut().zip(&mut sums).zip(ones) {
        *excess += f64::from(ones);
        *sum += f64::from(ones + 1);
    }
    Ok((sums, excess))
}

fn add_sparse(to: &mut [f64], matrix: &Matrix, row: usize, weights: &[f64]) {
    for (weight, (column, _)) in weights.iter().zip(matrix.row(row)) {
        to[column as usize] += weight;
    }
}

/// Returns the position of the weight that is more than one half in a row that sums to 1, and the sum of the
/// other weights; `None` if there is no such weight.
pub(super) fn dominant(weights: &[f64]) -> Option<(usize, f64)> {
    // No branch per weight, so that this takes almost no time if there is none.
    let largest = weights.iter().fold(
        0.0,
        |largest, &weight| if weight > largest { weight } else { largest },
    );
    if largest <= 0.5 {
        return None;
    }
    let number = weights.iter().position(|&weight| weight == largest)?;
    let (before, after) = weights.split_at(number);
    Some((number, sum(before) + sum(&after[1..])))
}

/// Multiplies a row's weights by the factors of their columns. In a full row, both have the same order.
fn multiply(matrix: &Matrix, row: usize, weights: &mut [f64], factors: &[f64]) {
    if weights.len() == factors.len() {
        for (weight, factor) in weights.iter_mut().zip(factors) {
            *weight *= factor;
        }
    } else {
        for (weight, (column, _)) in weights.iter_mut().zip(matrix.row(row)) {
            *weight *= factors[column as usize];
        }
    }
}

fn scale_to_one(weights: &mut [f64]) {
    let factor = sum(weights).recip();
    for weight in weights {
        *weight *= factor;
    }
}

/// Returns the sum of the terms by eight partial sums, which a processor adds in parallel and which have a
/// smaller error.
fn sum(terms: &[f64]) -> f64 {
    let (eights, rest) = terms.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, term) in sums.iter_mut().zip(eight) {
            *sum += term;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn product(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one * other).collect()
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

pub(super) fn does_not_converge() -> Error {
    invalid(
        "cannot be scaled to a doubly stochastic matrix: its weights differ by too many orders of magnitude",
        "weights that differ by fewer orders of magnitude",
    )
}
