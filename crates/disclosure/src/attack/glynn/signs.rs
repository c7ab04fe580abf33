//! A matrix made ready for sums over signs: its weights in words that add up exactly, and tables of their sums.

use super::lanes::{Patterns, sign};
use super::scaled::{Scaled, power};
use super::{GROUP, LOW, PATTERNS, UNIT};
use crate::Result;
use rayon::prelude::*;
use std::ops::Range;

/// A chunk is one thread's work, at least so many steps (as a power of two), and there are at most so many chunks.
/// Neither depends on the number of threads, so neither does the answer.
const LEAST_CHUNK: usize = 9;
const MOST_CHUNKS: usize = 8;

/// One word of all weights of some columns: a multiple of some power of two, so that they add up exactly.
pub(super) struct Words {
    columns: usize,
    /// Row by row.
    rows: Vec<f64>,
    /// For every column, what its low rows sum up to.
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

    /// What the rows that no table knows sum up to, for the signs that a step of the walk has.
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

/// Neighbours differ in one bit, the lowest that is set in the greater number.
#[inline(always)]
pub(super) fn gray(step: u64) -> u64 {
    step ^ step >> 1
}

/// A matrix ready for sums over signs. Bit b of a pattern is set where row 1 + b is subtracted, bit b of a step's Gray
/// code where row 1 + [`LOW`] + b is.
pub(super) struct Signs {
    pub size: usize,
    /// How many signs no table knows.
    pub high: usize,
    /// Which columns of the matrix these are: those come last that have a second word.
    pub order: Vec<usize>,
    pub first: Words,
    /// How many columns have no second word.
    pub single: usize,
    pub second: Words,
    /// What no sum of a column is beyond.
    pub sums: Vec<f64>,
    /// By which share the permanent and its minors change as weights were rounded to one word.
    pub share: f64,
    /// By how much the permanent changes as weights were rounded to two words.
    pub left_over: f64,
}

impl Signs {
    pub fn new(scaled: &Scaled) -> Self {
        let size = scaled.size;
        // Sums of magnitude 2 and less.
        let first = |weight: f64| (weight + 1.0) - 1.0;
        // Remainders of 63 rows, each 2^-53 or less, sum up to less than 2^-47.
        let second = |rest: f64| (rest + 1.5 * power(-48)) - 1.5 * power(-48);
        let largest_share = |column: usize| {
            let share = |&weight: &f64| match weight - first(weight) {
                0.0 => 0.0,
                rest => rest.abs() / first(weight), // infinite if nothing is left
            };
            scaled.column(column).iter().map(share).fold(0.0, f64::max)
        };
        let mut order: Vec<(f64, usize)> = (0..size).map(|column| (largest_share(column), column)).collect();
        order.sort_by(|left, right| left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal));
        // The terms of a matrix of ones are together 2^0.59n times the permanent, and rounding products costs n·u of
        // that; half of the exponent leaves that the larger part.
        let bearable = size as f64 * UNIT * (size as f64 / 2.0).exp2();
        let mut share = 0.0;
        let mut single = 0;
        while single < size && share + order[single].0 <= bearable {
            share += order[single].0;
            single += 1;
        }
        if single < size {
            // A group has second words or it has none.
            single -= single % GROUP;
            share = order[..single].iter().map(|column| column.0).sum();
        }
        let order: Vec<usize> = order.into_iter().map(|(_, column)| column).collect();
        let words = |columns: &[usize], word: &dyn Fn(f64) -> f64| {
            let of_column =
                |&column: &usize| scaled.column(column).iter().map(|&weight| word(weight)).collect();
            let columns: Vec<Vec<f64>> = columns.iter().map(of_column).collect();
            Words::new(size, &columns)
        };
        let rest = |weight: f64| weight - first(weight);
        let sums: Vec<f64> = order.iter().map(|&column| scaled.sums[column]).collect();
        let left_over = |&column: &usize| {
            let left_over = |&weight: &f64| (rest(weight) - second(rest(weight))).abs();
            scaled.column(column).iter().map(left_over).sum::<f64>() / scaled.sums[column]
        };
        Signs {
            size,
            high: size - 1 - LOW,
            first: words(&order, &first),
            single,
            second: words(&order[single..], &|weight| second(rest(weight))),
            left_over: order[single..].iter().map(left_over).sum::<f64>() * sums.iter().product::<f64>(),
            order,
            sums,
            share,
        }
    }

    /// Do something for chunks of all steps, in parallel if there is more than one; what comes out has their order.
    pub fn in_chunks<T: Send>(&self, part: impl Fn(Range<u64>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let chunks = self.high.saturating_sub(LEAST_CHUNK).min(MOST_CHUNKS);
        let steps = 1 << (self.high - chunks);
        let chunk = |chunk: u64| part(chunk * steps..(chunk + 1) * steps);
        if chunks == 0 {
            return Ok(vec![chunk(0)?]);
        }
        (0..1 << chunks).into_par_iter().map(chunk).collect()
    }

    /// How often a product of all sums is rounded.
    pub fn product_roundings(&self) -> f64 {
        (self.size - 1 + self.size - self.single) as f64
    }

    /// What compensated sums of as many numbers as there are steps lose, in units of the sum of absolute values.
    pub fn carry_roundings(&self) -> f64 {
        let added = (self.high as f64).exp2() * 16.0;
        added * UNIT * added
    }

    /// By the number of all signs.
    pub fn mean(&self, sum: f64) -> f64 {
        sum * power(1 - self.size as i64)
    }
}
