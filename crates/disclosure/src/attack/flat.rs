//! Flat matrices: all perfect matchings have the same weight (Malik 2014, section 3.3).
//!
//! A block is flat if and only if every weight is the product of a row factor and a column factor. Then every
//! matching weighs the product of all factors, and the permanent is that product times the number of
//! matchings. [`Counting`] counts them; it groups rows with the same edges, and columns likewise, so that
//! large blocks with few kinds of rows are cheap.

use super::Matrix;
use super::blocks::blocks;
use super::engine::PermanentAndEdges;
use super::exact::no_matching;
use super::frontier::{ROUNDING, roundings};
use crate::matching::{Counting, Graph, ItemClass, Wide};
use crate::{Control, Result};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// Returns whether all possible matchings are equally likely (Malik 2014, section 3.3), or an error if the
/// matrix is not square or there is no perfect matching.
///
/// This holds if and only if there are row factors and column factors whose products are the weights of all
/// edges that lie in some perfect matching. Weights may deviate from these products by a share of 10⁻⁹,
/// because numbers that were divided or read from decimals are rounded.
pub fn is_flat(matrix: &Matrix, control: &Control) -> Result<bool> {
    matrix.require_square()?;
    const TOLERANCE: f64 = 1e-9;
    let blocks = blocks(matrix, control)?.ok_or_else(|| no_matching(matrix))?;
    for block in blocks {
        if Factors::new(&block.matrix, control)?.deviation > TOLERANCE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether all matchings of a block are equally likely, up to rounding. If there are more columns than
/// rows, that is so if every row weighs all its columns the same.
pub(super) fn is_flat_enough(block: &Matrix, control: &Control) -> Result<bool> {
    if block.size() == block.width() {
        let deviation = Factors::new(block, control)?.deviation;
        return Ok(deviation * block.size() as f64 <= TOLERANCE_IF_EXACT);
    }
    let is_constant = |row: usize| {
        let weights = &block.weights()[block.edge_range(row)];
        weights.iter().all(|weight| *weight == weights[0])
    };
    Ok((0..block.size()).all(is_constant))
}

/// Relative deviation of a block's matchings from each other up to which they count as equal in exact answers.
const TOLERANCE_IF_EXACT: f64 = 1e-11;

/// Row factors and column factors of a block, whose products are the weights if the block is flat.
#[derive(Debug)]
struct Factors {
    /// Sum of the natural logarithms of all row and column factors.
    ln_product: f64,
    /// Bound on the absolute error of `ln_product`.
    sum_error: f64,
    /// Bound on the relative deviation of the products from the weights.
    deviation: f64,
}

impl Factors {
    /// Finds the factors by a breadth-first search from the first row, whose factor is 1: every edge to a row
    /// or column without a factor determines that factor, and every other edge is compared with its product.
    fn new(matrix: &Matrix, control: &Control) -> Result<Self> {
        let size = matrix.size();
        let mut by_column = vec![Vec::new(); size];
        for row in 0..size {
            control.check()?;
            for (column, weight) in matrix.row(row) {
                by_column[column as usize].push((row, weight.ln()));
            }
        }
        let mut of_rows = vec![None; size];
        let mut of_columns = vec![None; size];
        let mut deviation = 0.0f64;
        let mut waiting = VecDeque::from_iter((size > 0).then_some(0));
        if let Some(first) = of_rows.first_mut() {
            *first = Some(0.0);
        }
        while let Some(row) = waiting.pop_front() {
            control.check()?;
            let of_row = of_rows[row].unwrap_or(0.0);
            for (column, weight) in matrix.row(row) {
                let ln = weight.ln();
                if let Some(of_column) = of_columns[column as usize] {
                    let off: f64 = ln - of_row - of_column;
                    deviation = deviation.max(off.abs());
                    continue;
                }
                let of_column = ln - of_row;
                of_columns[column as usize] = Some(of_column);
                for &(other, ln) in &by_column[column as usize] {
                    if of_rows[other].is_none() {
                        of_rows[other] = Some(ln - of_column);
                        waiting.push_back(other);
                    }
                }
            }
        }
        let (mut sum, mut error, mut magnitude) = (0.0, 0.0, 0.0f64);
        let mut largest = 0.0f64;
        for &ln in of_rows.iter().chain(&of_columns).flatten() {
            // Add the rounding errors of all additions at the end (Ogita, Rump and Oishi 2005, algorithm
            // 4.1).
            let next: f64 = sum + ln;
            let added = next - sum;
            error += (sum - (next - added)) + (ln - added);
            sum = next;
            magnitude += ln.abs();
            largest = largest.max(ln.abs());
        }
        // The logarithms of weights are rounded, and so are the differences from which deviations are
        // computed.
        deviation += 16.0 * ROUNDING * if largest > 0.0 { largest.max(1.0) } else { 0.0 };
        Ok(Factors {
            ln_product: sum + error,
            sum_error: roundings(2.0 * size as f64).powi(2) * magnitude,
            deviation: deviation.exp_m1(),
        })
    }
}

/// Plan for a flat block, whose matchings are counted without weights. Rows with the same edges are counted
/// together, and so are columns, so that large blocks with few kinds of rows are cheap.
#[derive(Debug)]
pub(super) struct Flat {
    counting: Counting,
    /// Class of every row.
    of_row: Vec<u32>,
    /// Class of every column.
    of_column: Vec<u32>,
    /// Number of columns in every class.
    columns: Vec<u32>,
    /// Classes of columns that are candidates of every class of rows.
    candidates: Vec<Vec<u32>>,
    factors: Factors,
}

impl Flat {
    /// Returns `None` if the block is not flat enough for an exact answer.
    pub fn new(matrix: &Matrix, control: &Control) -> Result<Option<Self>> {
        let size = matrix.size();
        let factors = Factors::new(matrix, control)?;
        if factors.deviation * size as f64 > TOLERANCE_IF_EXACT {
            return Ok(None);
        }
        let mut by_column = vec![Vec::new(); size];
        for row in 0..size {
            control.check()?;
            for (column, _) in matrix.row(row) {
                by_column[column as usize].push(row as u32);
            }
        }
        let (of_column, columns, _) = twins(by_column);
        let by_row = (0..size).map(|row| {
            let mut classes: Vec<u32> = matrix
                .row(row)
                .map(|(column, _)| of_column[column as usize])
                .collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        });
        let (of_row, rows, candidates) = twins(by_row);
        control.check()?;
        let class = |(&size, candidates): (&u32, &Vec<u32>)| ItemClass {
            size,
            candidates: candidates.clone(),
        };
        let graph = Graph {
            codes: columns.clone(),
            items: rows.iter().zip(&candidates).map(class).collect(),
        };
        Ok(Some(Flat {
            counting: Counting::new(&graph, control)?,
            of_row,
            of_column,
            columns,
            candidates,
            factors,
        }))
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        self.counting.steps() / Counting::STEPS_PER_SECOND
    }

    /// Returns the estimated bytes that this takes.
    pub fn bytes(&self) -> f64 {
        self.counting.bytes()
    }

    /// Returns a bound on the number of roundings in a count. For every class of codes, each class of items
    /// that can take some of them adds up at most as many terms as there are codes, and multiplies a few
    /// times. Then items are merged, with factorials of at most the number of all items, and sums are divided
    /// by the largest.
    fn count_roundings(&self) -> f64 {
        let items = self.of_row.len() as f64;
        let edges = self.candidates.iter().flatten();
        let terms: f64 = edges
            .map(|&class| f64::from(self.columns[class as usize]) + 5.0)
            .sum();
        terms + (self.columns.len() + 1) as f64 * (3.0 * items + 2.0)
    }

    /// Returns the permanent for a count of matchings, and a bound on its relative error, which is the
    /// absolute error of its logarithm. This error has three parts: the count, which is put together from the
    /// counts of all classes, is rounded; weights are not exactly products of factors; and logarithms are
    /// rounded.
    fn by_count(&self, ln_matchings: f64) -> (Wide, f64) {
        let ln = ln_matchings + self.factors.ln_product;
        let of_count = roundings(self.count_roundings());
        let of_logarithms = roundings(2.0 * self.columns.len() as f64 + 8.0) * ln_matchings.abs()
            + roundings(8.0) * (self.factors.ln_product.abs() + ln.abs())
            + self.factors.sum_error;
        let of_weights = self.of_row.len() as f64 * self.factors.deviation;
        (Wide::exp(ln), of_count + of_logarithms + of_weights)
    }

    /// Returns a bound on the absolute error of every edge probability, which is a difference of two shares
    /// of matchings.
    pub fn edge_error(&self) -> f64 {
        4.0 * roundings(self.count_roundings()) + 2.0 * self.of_row.len() as f64 * self.factors.deviation
    }

    /// Returns the permanent and a bound on its relative error.
    pub fn permanent(&self, control: &Control) -> Result<(Wide, f64)> {
        Ok(self.by_count(self.counting.ln_matchings(control)?))
    }

    /// Returns the permanent and the probability of every edge, a bound on the relative error of the
    /// permanent, and a bound on the absolute error of the probabilities.
    pub fn edges(&self, matrix: &Matrix, control: &Control) -> Result<(PermanentAndEdges, f64, f64)> {
        let shares = self
            .counting
            .shares(control)?
            .ok_or_else(|| no_matching(matrix))?;
        let mut probability = Vec::with_capacity(matrix.edge_count());
        for (row, &class) in self.of_row.iter().enumerate() {
            let of_class = self.candidates[class as usize]
                .iter()
                .zip(&shares.of_class[class as usize]);
            // All columns of a class are equally likely.
            let of_column: FxHashMap<u32, f64> = of_class
                .map(|(&class, share)| (class, share / f64::from(self.columns[class as usize])))
                .collect();
            let edges = matrix
                .row(row)
                .map(|(column, _)| of_column[&self.of_column[column as usize]]);
            probability.extend(edges);
        }
        let (permanent, relative_error) = self.by_count(shares.ln_matchings);
        let found = PermanentAndEdges {
            permanent,
            probability,
        };
        Ok((found, relative_error, self.edge_error()))
    }
}

/// Groups equal values into classes, in order of first occurrence. Returns the class of every value, the size
/// of every class, and the value of every class.
pub(super) fn twins<T: Hash + Eq + Clone>(all: impl IntoIterator<Item = T>) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    let mut classes: FxHashMap<T, u32> = FxHashMap::default();
    let (mut sizes, mut common) = (Vec::new(), Vec::new());
    let of = all.into_iter().map(|one| {
        let class = *classes.entry(one).or_insert_with_key(|one| {
            sizes.push(0);
            common.push(one.clone());
            sizes.len() as u32 - 1
        });
        sizes[class as usize] += 1;
        class
    });
    (of.collect(), sizes, common)
}
