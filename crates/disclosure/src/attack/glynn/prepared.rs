//! Preparation of a matrix for sums over signs: its weights in words that add up exactly, and tables of their
//! sums for all patterns of low signs.
//!
//! Columns come in a new order: those with one word per weight first, then those that need a second word. See
//! the module documentation of `glynn` for the error bounds.

use super::lanes::{Patterns, sign};
use super::scaled::{Scaled, power};
use super::{GROUP, LOW, PATTERNS, UNIT};
use crate::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Binary logarithm of the least number of steps in a chunk, which is one thread's work.
const LOG2_MIN_STEPS_PER_CHUNK: usize = 9;

/// Binary logarithm of the largest number of chunks. Neither this nor [`LOG2_MIN_STEPS_PER_CHUNK`] depends on
/// the number of threads, so neither does the answer.
const LOG2_MAX_CHUNKS: usize = 8;

/// One word of every weight in some columns: multiples of one power of two, so that they add up exactly.
pub(super) struct Words {
    columns: usize,
    /// Words, row by row.
    rows: Vec<f64>,
    /// For every column, the sums of its low rows for all patterns of signs.
    pub tables: Vec<Patterns>,
}

impl Words {
    fn new(size: usize, columns: &[Vec<f64>]) -> Self {
        let rows = (0..size)
            .flat_map(|row| columns.iter().map(move |column| column[row]))
            .collect();
        let table = |column: &Vec<f64>| {
            let low = &column[1..=LOW];
            let mut table = Patterns::ZERO;
            table.0[0] = low.iter().sum();
            for pattern in 1..PATTERNS {
                let lowest = pattern.trailing_zeros() as usize;
                table.0[pattern] = table.0[pattern & (pattern - 1)] - 2.0 * low[lowest];
            }
            table
        };
        Words {
            columns: columns.len(),
            rows,
            tables: columns.iter().map(table).collect(),
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.columns..][..self.columns]
    }

    pub fn high_row(&self, bit: usize) -> &[f64] {
        self.row(1 + LOW + bit)
    }

    /// Returns for every column the sum of the rows that are not in the tables, with the high signs of a step
    /// of the walk.
    pub fn base(&self, high: usize, step: u64) -> Vec<f64> {
        let mut base = self.row(0).to_vec();
        for bit in 0..high {
            let sign = sign(gray(step) & 1 << bit);
            for (sum, weight) in base.iter_mut().zip(self.high_row(bit)) {
                *sum += sign * weight;
            }
        }
        base
    }
}

/// Returns the Gray code of a step. The codes of consecutive steps differ in one bit, the lowest that is set
/// in the greater step number.
#[inline(always)]
pub(super) fn gray(step: u64) -> u64 {
    step ^ step >> 1
}

/// A matrix prepared for sums over signs. Bit b of a pattern is set if row 1 + b is subtracted; bit b of a
/// step's Gray code is set if row 1 + [`LOW`] + b is subtracted.
pub(super) struct PreparedBlock {
    pub size: usize,
    /// Number of high signs.
    pub high: usize,
    /// Columns of the matrix in the order used here: columns with a second word come last.
    pub order: Vec<usize>,
    pub first_words: Words,
    /// Number of columns without a second word.
    pub one_word_columns: usize,
    pub second_words: Words,
    /// For every column, a bound on the absolute value of its sums.
    pub sum_bounds: Vec<f64>,
    /// Sum of ε_j over the columns with one word. Rounding their weights changes the permanent and its minors
    /// by at most the share exp(sum) - 1.
    pub sum_of_epsilons: f64,
    /// Bound on the absolute change of the permanent by rounding weights to two words.
    pub two_word_error: f64,
}

impl PreparedBlock {
    pub fn new(scaled: &Scaled) -> Self {
        let size = scaled.size;
        // Rounds to a multiple of 2^-52: sums of magnitude 2 and less are exact.
        let first = |weight: f64| (weight + 1.0) - 1.0;
        // Rounds to a multiple of 2^-100: remainders of 63 rows, each 2^-53 or less, sum up to less than
        // 2^-47.
        let second = |rest: f64| (rest + 1.5 * power(-48)) - 1.5 * power(-48);
        let epsilon = |column: usize| {
            let change = |&weight: &f64| match weight - first(weight) {
                0.0 => 0.0,
                rest => rest.abs() / first(weight), // infinite if the weight becomes zero
            };
            scaled.column(column).iter().map(change).fold(0.0, f64::max)
        };
        let mut order: Vec<(f64, usize)> = (0..size).map(|column| (epsilon(column), column)).collect();
        order.sort_by(|left, right| left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal));
        // For a matrix of ones, the absolute values of the terms sum up to 2^0.59n times the permanent, and
        // rounding products costs n·u of that. An exponent of n/2 here keeps that the larger part.
        let max_sum_of_epsilons = size as f64 * UNIT * (size as f64 / 2.0).exp2();
        let mut sum_of_epsilons = 0.0;
        let mut one_word_columns = 0;
        while one_word_columns < size && sum_of_epsilons + order[one_word_columns].0 <= max_sum_of_epsilons {
            sum_of_epsilons += order[one_word_columns].0;
            one_word_columns += 1;
        }
        if one_word_columns < size {
            // Within a group, either all columns have second words or none has.
            one_word_columns -= one_word_columns % GROUP;
            sum_of_epsilons = order[..one_word_columns].iter().map(|column| column.0).sum();
        }
        let order: Vec<usize> = order.into_iter().map(|(_, column)| column).collect();
        let words = |columns: &[usize], word: &dyn Fn(f64) -> f64| {
            let of_column =
                |&column: &usize| scaled.column(column).iter().map(|&weight| word(weight)).collect();
            let columns: Vec<Vec<f64>> = columns.iter().map(of_column).collect();
            Words::new(size, &columns)
        };
        let rest = |weight: f64| weight - first(weight);
        let sum_bounds: Vec<f64> = order.iter().map(|&column| scaled.sums[column]).collect();
        let remainder = |&column: &usize| {
            let remainder = |&weight: &f64| (rest(weight) - second(rest(weight))).abs();
            scaled.column(column).iter().map(remainder).sum::<f64>() / scaled.sums[column]
        };
        PreparedBlock {
            size,
            high: size - 1 - LOW,
            first_words: words(&order, &first),
            one_word_columns,
            second_words: words(&order[one_word_columns..], &|weight| second(rest(weight))),
            two_word_error: order[one_word_columns..].iter().map(remainder).sum::<f64>()
                * sum_bounds.iter().product::<f64>(),
            order,
            sum_bounds,
            sum_of_epsilons,
        }
    }

    /// Calls a function for chunks of all steps, in parallel if there is more than one chunk, and returns the
    /// results in order.
    pub fn in_chunks<T: Send>(&self, part: impl Fn(Range<u64>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let chunks = self
            .high
            .saturating_sub(LOG2_MIN_STEPS_PER_CHUNK)
            .min(LOG2_MAX_CHUNKS);
        let steps = 1 << (self.high - chunks);
        let chunk = |chunk: u64| part(chunk * steps..(chunk + 1) * steps);
        if chunks == 0 {
            return Ok(vec![chunk(0)?]);
        }
        (0..1 << chunks).into_par_iter().map(chunk).collect()
    }

    /// Returns the number of roundings in a product of all sums.
    pub fn product_roundings(&self) -> f64 {
        (self.size - 1 + self.size - self.one_word_columns) as f64
    }

    /// Returns a bound on the error of compensated sums over all steps, in units of the unit roundoff times
    /// the sum of absolute values.
    pub fn carry_roundings(&self) -> f64 {
        let added = (self.high as f64).exp2() * 16.0;
        added * UNIT * added
    }

    /// Divides a sum over all signs by their number, 2^(n-1).
    pub fn mean(&self, sum: f64) -> f64 {
        sum * power(1 - self.size as i64)
    }
}
