//! The walk through the high signs, those that are not in the tables, in Gray-code order.

use super::VECTORS_PER_BATCH;
use super::lanes::sign;
use super::prepared::{PreparedBlock, gray};
use pulp::Simd;
use std::ops::Range;

/// Sums of the rows that are not in the tables, for the current step.
pub(super) struct Walk<'a> {
    pub prepared: &'a PreparedBlock,
    /// Sums of first words, for every column.
    pub first: Vec<f64>,
    /// Sums of second words, for the columns that have them.
    pub second: Vec<f64>,
}

impl<'a> Walk<'a> {
    pub fn new(prepared: &'a PreparedBlock, step: u64) -> Self {
        Walk {
            prepared,
            first: prepared.first_words.base(prepared.high, step),
            second: prepared.second_words.base(prepared.high, step),
        }
    }

    /// Moves from a step to the next one.
    #[inline(always)]
    pub fn go_on(&mut self, step: u64) {
        let bit = (step + 1).trailing_zeros() as usize;
        if bit >= self.prepared.high {
            return;
        }
        let change = 2.0 * sign(gray(step + 1) & 1 << bit);
        for (sum, weight) in self.first.iter_mut().zip(self.prepared.first_words.high_row(bit)) {
            *sum += change * weight;
        }
        for (sum, weight) in self
            .second
            .iter_mut()
            .zip(self.prepared.second_words.high_row(bit))
        {
            *sum += change * weight;
        }
    }

    /// Multiplies the products by the sums of some columns, in one batch of vectors.
    #[inline(always)]
    pub fn multiply<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        batch: usize,
        products: &mut [S::f64s; VECTORS_PER_BATCH],
    ) {
        let PreparedBlock {
            first_words: first,
            second_words: second,
            one_word_columns,
            ..
        } = self.prepared;
        let one_word = columns.start.min(*one_word_columns)..columns.end.min(*one_word_columns);
        for (&base, table) in self.first[one_word.clone()].iter().zip(&first.tables[one_word]) {
            let base = simd.splat_f64s(base);
            let low = table.batch::<S>(batch);
            for vector in 0..VECTORS_PER_BATCH {
                let sum = simd.add_f64s(base, low[vector]);
                products[vector] = simd.mul_f64s(products[vector], sum);
            }
        }
        for column in columns.start.max(*one_word_columns)..columns.end {
            let base = simd.splat_f64s(self.first[column]);
            let small_base = simd.splat_f64s(self.second[column - one_word_columns]);
            let low = first.tables[column].batch::<S>(batch);
            let small_low = second.tables[column - one_word_columns].batch::<S>(batch);
            for vector in 0..VECTORS_PER_BATCH {
                let small = simd.add_f64s(small_base, small_low[vector]);
                let sum = simd.add_f64s(simd.add_f64s(base, low[vector]), small);
                products[vector] = simd.mul_f64s(products[vector], sum);
            }
        }
    }
}
