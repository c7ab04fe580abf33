//! Scaling to doubly stochastic: Sinkhorn and Knopp's rounds, and Newton's method where these are slow.

use super::Matrix;
use super::blocks::{Block, blocks};
use super::exact::no_matching;
use super::matrix::{CHUNK, invalid};
use crate::{Control, Error, Result, threads};
use std::ops::Range;

/// The doubly stochastic matrix that rows and columns can be multiplied to (Sinkhorn and Knopp 1967), without the
/// edges that no perfect matching uses. The probabilities of matchings stay as they are. An error where there is no
/// perfect matching.
pub fn normalise(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    let blocks = blocks(matrix, control)?.ok_or_else(no_matching)?;
    let scaled = |block: &Block| scaled(&block.matrix, control);
    let weights = threads::map(&blocks, matrix.edges() > EDGES_PER_PIECE, scaled)?;
    // Every row is in one block, whose rows and columns are in the same order as those of the whole.
    let mut place_of = vec![(0, 0); matrix.size()];
    for (number, block) in blocks.iter().enumerate() {
        for (within, &row) in block.rows.iter().enumerate() {
            place_of[row as usize] = (number, within);
        }
    }
    let rows = place_of.into_iter().map(|(number, within)| {
        let block = &blocks[number];
        let columns = block
            .matrix
            .row(within)
            .map(|(column, _)| block.columns[column as usize]);
        columns.zip(weights[number][block.matrix.range(within)].iter().copied())
    });
    Matrix::from_rows(rows, control)
}

/// The unique flat doubly stochastic matrix with these edges, but for those that no perfect matching uses (Malik 2014,
/// section 3.3): every matching has the same probability. An error where there is no perfect matching.
pub fn flat_matrix(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    normalise(&matrix.with_weights(vec![1.0; matrix.edges()]), control)
}

/// No row or column of what is called doubly stochastic sums to something further away from 1.
const TOLERANCE: f64 = 1e-13;

/// The doubly stochastic weights of a block.
pub(super) fn scaled(block: &Matrix, control: &Control) -> Result<Vec<f64>> {
    scaled_from_logs(block, logarithms(block.weights(), control)?, control)
}

fn logarithms(weights: &[f64], control: &Control) -> Result<Vec<f64>> {
    let mut logs = Vec::with_capacity(weights.len());
    for some in weights.chunks(CHUNK) {
        control.check()?;
        logs.extend(some.iter().map(|weight| weight.ln()));
    }
    Ok(logs)
}

/// The same for weights of which the logarithms are given: they may be too small for a double.
///
/// A weight that is too small in the end becomes the smallest normal number: its edge stays possible.
pub(super) fn scaled_from_logs(block: &Matrix, mut logs: Vec<f64>, control: &Control) -> Result<Vec<f64>> {
    let range = equilibrate(block, &mut logs, control)?;
    let mut balance = Balance::new(block);
    // With weights to the power of 1/t, they differ less, and all matter. From the factors for one t those for the
    // next smaller one are not far: row by row, no share falls below the square of what it was.
    let mut t = (range / MODERATE).max(1.0);
    loop {
        balance.load(&logs, t, control)?;
        if t <= 1.0 {
            balance.settle(TOLERANCE, control)?;
            break;
        }
        balance.settle(0.1, control)?;
        let next = (t / 2.0).max(1.0);
        for potential in &mut balance.potential {
            *potential *= t / next;
        }
        t = next;
    }
    let mut weights = balance.weights;
    for some in weights.chunks_mut(CHUNK) {
        control.check()?;
        for weight in some {
            *weight = weight.max(f64::MIN_POSITIVE);
        }
    }
    Ok(weights)
}

/// Weights that differ by no more than this power of e are scaled as they are.
const MODERATE: f64 = 100.0;

/// Make the largest weight of every row and column 1; returns how many powers of e the smallest is below it.
fn equilibrate(block: &Matrix, logs: &mut [f64], control: &Control) -> Result<f64> {
    let mut of_columns = vec![f64::NEG_INFINITY; block.size()];
    for row in 0..block.size() {
        control.check()?;
        let own = &mut logs[block.range(row)];
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
        for (log, (column, _)) in logs[block.range(row)].iter_mut().zip(block.row(row)) {
            *log -= of_columns[column as usize];
            range = f64::max(range, -*log);
        }
    }
    Ok(range)
}

/// A block on its way to become doubly stochastic: rows sum to 1 at any time.
///
/// With rows scaled, what is left is to find the logarithms y of the columns' factors, where the convex function
/// φ(y) = Σᵢ ln Σⱼ aᵢⱼ exp(yⱼ) − Σⱼ yⱼ is least: its gradient is the columns' sums less 1. Sinkhorn and Knopp's
/// rounds go downhill one coordinate at a time, which takes as many rounds as the square of the length of a block
/// that is a long band. There, Newton's method goes on (as in Knight and Ruiz 2013), each step by conjugate gradients.
#[derive(Debug)]
pub(super) struct Balance<'a> {
    matrix: &'a Matrix,
    /// Rows, in pieces that threads take: always the same, and so are the sums.
    pieces: Vec<Range<usize>>,
    /// Logarithms of the factors of columns.
    pub potential: Vec<f64>,
    /// Scaled so that rows sum to 1.
    pub weights: Vec<f64>,
    /// Of every column.
    sums: Vec<f64>,
    /// By how much each of them is above 1, which is more exact where that is little.
    excess: Vec<f64>,
}

/// A thread's share has at least so many edges.
pub(super) const EDGES_PER_PIECE: usize = 1 << 14;

/// More pieces would take more memory for sums than they save time.
const MOST_PIECES: usize = 16;

/// Sinkhorn and Knopp's rounds end where so many more of them would not suffice.
const MOST_ROUNDS: usize = 100;

/// Each of Newton's steps about halves what is wrong at least, and squares it in the end.
const MOST_STEPS: usize = 500;

/// A step that takes almost all from a column is too long: there would be no way back.
const LEAST_SUM: f64 = 1e-100;

/// μ by the gradient.
const REGULARISATION: f64 = 0.01;

impl<'a> Balance<'a> {
    pub fn new(matrix: &'a Matrix) -> Self {
        Balance {
            matrix,
            pieces: pieces(matrix),
            potential: vec![0.0; matrix.size()],
            weights: Vec::new(),
            sums: Vec::new(),
            excess: Vec::new(),
        }
    }

    /// Begin with weights that are exp(log / t), and the factors that there are.
    pub fn load(&mut self, logs: &[f64], t: f64, control: &Control) -> Result<()> {
        self.weights.resize(logs.len(), 0.0);
        let (matrix, potential) = (self.matrix, &self.potential);
        (self.sums, self.excess) = by_rows(
            &self.pieces,
            matrix,
            &mut self.weights,
            control,
            |row, weights| {
                let logs = &logs[matrix.range(row)];
                let log = |(log, (column, _)): (&f64, (u32, f64))| log / t + potential[column as usize];
                let exponents = || logs.iter().zip(matrix.row(row)).map(log);
                let largest = exponents().fold(f64::NEG_INFINITY, f64::max);
                for (weight, exponent) in weights.iter_mut().zip(exponents()) {
                    *weight = (exponent - largest).exp();
                }
                to_one(weights);
            },
        )?;
        Ok(())
    }

    /// Begin with other weights, and the factors that there are: `fill` gets a row's number and its weights, which
    /// are those of before.
    pub fn reload(&mut self, control: &Control, fill: impl Fn(usize, &mut [f64]) + Sync) -> Result<()> {
        let factors: Vec<f64> = self.potential.iter().map(|potential| potential.exp()).collect();
        self.multiply(&factors, control, fill)
    }

    /// Multiply columns by these factors after `fill` has changed their weights, then rows so that they sum to 1.
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
                to_one(weights);
            },
        )?;
        Ok(())
    }

    /// By how much a column's sum is off.
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

    /// Go on until no column's sum is off by more than the tolerance.
    pub fn settle(&mut self, tolerance: f64, control: &Control) -> Result<()> {
        let mut residual = self.residual();
        for round in 0.. {
            if residual <= tolerance {
                return Ok(());
            }
            self.round(control)?;
            let next = self.residual();
            let rounds_left = (residual / tolerance).ln() / (residual / next).ln();
            residual = next;
            let is_slow = !(0.0..=MOST_ROUNDS as f64).contains(&rounds_left);
            if round >= MOST_ROUNDS || round >= 10 && is_slow {
                break;
            }
        }
        for _ in 0..MOST_STEPS {
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

    /// Multiply columns so that they sum to 1, then rows.
    fn round(&mut self, control: &Control) -> Result<()> {
        for (potential, sum) in self.potential.iter_mut().zip(&self.sums) {
            *potential -= sum.ln();
        }
        let factors: Vec<f64> = self.sums.iter().map(|sum| sum.recip()).collect();
        self.multiply(&factors, control, |_, _| ())
    }

    /// One of Newton's steps, or a part or a multiple of it: along it, φ falls all the way. Whether there is one.
    fn step(&mut self, control: &Control) -> Result<bool> {
        let direction = self.direction(control)?;
        let slope = |excess: &[f64]| dot(excess, &direction);
        let at_first = slope(&self.excess);
        if at_first >= 0.0 {
            return Ok(false);
        }
        let logs = logarithms(&self.weights, control)?;
        let before = self.potential.clone();
        let mut length = 1.0;
        for _ in 0..40 {
            let steps = direction.iter().map(|along| along * length);
            self.potential = steps.collect();
            self.load(&logs, 1.0, control)?;
            // Where a convex function rises no more steeply at the end than it fell at first, by a share, no more was
            // lost than won.
            let is_kept = self.sums.iter().all(|&sum| sum > LEAST_SUM);
            if is_kept && slope(&self.excess) <= -0.3 * at_first {
                for (potential, before) in self.potential.iter_mut().zip(&before) {
                    *potential += before;
                }
                return Ok(true);
            }
            length /= 2.0;
        }
        self.potential = vec![0.0; before.len()];
        self.load(&logs, 1.0, control)?;
        self.potential = before;
        Ok(false)
    }

    /// The solution d of (C − WᵀW + μ) d = 1 − c, where c are the columns' sums, and C has them on its diagonal: the
    /// second derivative of φ and its negative gradient. That is singular, as all factors may be multiplied by the same
    /// number, and nearly so where parts of the block hardly have to do with each other: rounding would be all that is
    /// left. With μ in proportion to the gradient, it is not, and steps still square what is wrong in the end (Li,
    /// Fukushima, Qi and Yamashita 2004).
    fn direction(&self, control: &Control) -> Result<Vec<f64>> {
        let size = self.matrix.size();
        let extra = REGULARISATION * self.residual();
        let mut diagonal = vec![extra; size];
        for row in 0..size {
            control.check()?;
            let weights = &self.weights[self.matrix.range(row)];
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
        // Nothing is wrong with all columns together, but for rounding.
        let mean = sum(&residual) / size as f64;
        for residual in &mut residual {
            *residual -= mean;
        }
        let mut search: Vec<f64> = product(&residual, &inverse);
        let mut weighted = dot(&residual, &search);
        let first = weighted;
        // Far away, a rough direction will do; near the end, each step squares what is wrong only if its direction
        // is as exact.
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

    /// (C − WᵀW) v: of every row, Σⱼ wⱼ (vⱼ − Σₖ wₖ vₖ) for its columns j. What is in the brackets is found from the
    /// differences to one of the v, that of the largest weight, so that it is right even where it is small.
    fn curvature(&self, vector: &[f64], control: &Control) -> Result<Vec<f64>> {
        let of_piece = |piece: &Range<usize>| {
            let mut image = vec![0.0; vector.len()];
            for row in piece.clone() {
                control.check()?;
                let weights = &self.weights[self.matrix.range(row)];
                let values = || self.matrix.row(row).map(|(column, _)| vector[column as usize]);
                let dominant = dominant(weights).map_or(0, |(dominant, _)| dominant);
                let reference = vector[self.matrix.column(self.matrix.range(row).start + dominant) as usize];
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
        let images = threads::map(&self.pieces, self.pieces.len() > 1, of_piece)?;
        let mut whole = vec![0.0; vector.len()];
        for image in images {
            add(&mut whole, 1.0, &image);
        }
        Ok(whole)
    }
}

fn pieces(matrix: &Matrix) -> Vec<Range<usize>> {
    let count = (matrix.edges() / EDGES_PER_PIECE).clamp(1, MOST_PIECES);
    let size = matrix.size();
    (0..count)
        .map(|piece| size * piece / count..size * (piece + 1) / count)
        .collect()
}

/// Change every row to one that sums to 1, and find the sums of columns, and by how much they are above 1.
///
/// Where a weight is near 1, what counts is what the rest of its row lacks to that, and the rest of its column: as the
/// sum of small numbers that keeps its digits.
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
        let edges = piece.clone().map(|row| matrix.range(row).len()).sum();
        let (own, others) = rest.split_at_mut(edges);
        shares.push((piece.clone(), own));
        rest = others;
    }
    let of_piece = |(rows, mut weights): (Range<usize>, &mut [f64])| {
        let mut excess = vec![0.0; matrix.size()];
        let mut ones = vec![0; matrix.size()];
        for row in rows {
            control.check()?;
            let (own, others) = weights.split_at_mut(matrix.range(row).len());
            change(row, own);
            match dominant(own) {
                None if own.len() == excess.len() => add(&mut excess, 1.0, own),
                None => add_sparse(&mut excess, matrix, row, own),
                Some((number, rest)) => {
                    let column = matrix.column(matrix.range(row).start + number) as usize;
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
    let of_pieces = threads::map(shares, pieces.len() > 1, of_piece)?;
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

/// Of a row that sums to 1, the weight that is more than a half, and the sum of the others, if there is one.
pub(super) fn dominant(weights: &[f64]) -> Option<(usize, f64)> {
    // Without a branch for each, so that it takes next to no time where there is none.
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

/// Multiply a row's weights by the factors of their columns. In full rows, these are in the same order.
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

fn to_one(weights: &mut [f64]) {
    let factor = sum(weights).recip();
    for weight in weights {
        *weight *= factor;
    }
}

/// Eight sums at a time, which a processor adds at once, and which are less in error.
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
        "cannot be scaled to doubly stochastic within rounding: its weights differ too much",
        "weights that differ by fewer powers of ten",
    )
}
