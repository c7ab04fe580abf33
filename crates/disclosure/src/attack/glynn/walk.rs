//! The walk through the high signs, those that are not in the tables, in Gray-code order.

use super::BLOCK;
use super::lanes::sign;
use super::signs::{Signs, gray};
use pulp::Simd;
use std::ops::Range;

/// Sums of the rows that are not in the tables, for the current step.
pub(super) struct Walk<'a> {
    pub signs: &'a Signs,
    /// Sums of first words, for every column.
    pub first: Vec<f64>,
    /// Sums of second words, for the columns that have them.
    pub second: Vec<f64>,
}

impl<'a> Walk<'a> {
    pub fn new(signs: &'a Signs, step: u64) -> Self {
        Walk {
            signs,
            first: signs.first.base(signs.high, step),
            second: signs.second.base(signs.high, step),
        }
    }

    /// Moves from a step to the next one.
    #[inline(always)]
    pub fn go_on(&mut self, step: u64) {
        let bit = (step + 1).trailing_zeros() as usize;
        if bit >= self.signs.high {
            return;
        }
        let change = 2.0 * sign(gray(step + 1) & 1 << bit);
        for (sum, weight) in self.first.iter_mut().zip(self.signs.first.high_row(bit)) {
            *sum += change * weight;
        }
        for (sum, weight) in self.second.iter_mut().zip(self.signs.second.high_row(bit)) {
            *sum += change * weight;
        }
    }

    /// Multiplies the products by the sums of some columns, in one block of patterns.
    #[inline(always)]
    pub fn multiply<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        block: usize,
        products: &mut [S::f64s; BLOCK],
    ) {
        let Signs {
            first,
            second,
            single,
            ..
        } = self.signs;
        let one_word = columns.start.min(*single)..columns.end.min(*single);
        for (&base, table) in self.first[one_word.clone()].iter().zip(&first.tables[one_word]) {
            let base = simd.splat_f64s(base);
            let low = table.block::<S>(block);
            for vector in 0..BLOCK {
                let sum = simd.add_f64s(base, low[vector]);
                products[vector] = simd.mul_f64s(products[vector], sum);
            }
        }
        for column in columns.start.max(*single)..columns.end {
            let base = simd.splat_f64s(self.first[column]);
            let small_base = simd.splat_f64s(self.second[column - single]);
            let low = first.tables[column].block::<S>(block);
            let small_low = second.tables[column - single].block::<S>(block);
            for vector in 0..BLOCK {
                let small = simd.add_f64s(small_base, small_low[vector]);
                let sum = simd.add_f64s(simd.add_f64s(base, low[vector]), small);
                products[vector] = simd.mul_f64s(products[vector], sum);
            }
        }
    }
}
