//! Products of all sums but one, for a group of columns: the innermost loop of the minors.

use super::PATTERNS;
use super::lanes::Patterns;
use super::walk::Walk;
use pulp::Simd;

/// Number of columns in a group whose products are computed by fused multiply-adds. The product is then
/// computed twice, which takes one more multiplication and two fewer additions. Processors have as many units
/// for multiplications as for additions, and this balances them.
const FUSED: usize = 1;

/// A group of columns in one step of the walk. Loops use indices although closures would read better:
/// closures in adapters of the standard library are not always inlined, and then they are compiled without
/// the vector instructions of the surrounding function.
pub(super) struct Group<'a, S: Simd, const COLUMNS: usize, const DOUBLE: bool, const LAST: bool> {
    simd: S,
    base: [S::f64s; COLUMNS],
    tables: [&'a [S::f64s]; COLUMNS],
    small_base: [S::f64s; COLUMNS],
    small_tables: [&'a [S::f64s]; COLUMNS],
}

impl<'a, S: Simd, const COLUMNS: usize, const DOUBLE: bool, const LAST: bool>
    Group<'a, S, COLUMNS, DOUBLE, LAST>
{
    #[inline(always)]
    pub fn new(simd: S, walk: &Walk<'a>, start: usize) -> Self {
        let zero = [simd.splat_f64s(0.0); COLUMNS];
        let mut group = Group {
            simd,
            base: zero,
            tables: [&[]; COLUMNS],
            small_base: zero,
            small_tables: [&[]; COLUMNS],
        };
        let prepared = walk.prepared;
        let columns = start..start + COLUMNS;
        let (base, tables) = (
            &walk.first[columns.clone()],
            &prepared.first_words.tables[columns],
        );
        for column in 0..COLUMNS {
            group.base[column] = simd.splat_f64s(base[column]);
            group.tables[column] = tables[column].vectors::<S>();
        }
        if DOUBLE {
            let columns = start - prepared.one_word_columns..start - prepared.one_word_columns + COLUMNS;
            let (base, tables) = (
                &walk.second[columns.clone()],
                &prepared.second_words.tables[columns],
            );
            for column in 0..COLUMNS {
                group.small_base[column] = simd.splat_f64s(base[column]);
                group.small_tables[column] = tables[column].vectors::<S>();
            }
        }
        group
    }

    #[inline(always)]
    fn sum(&self, column: usize, vector: usize) -> S::f64s {
        let simd = self.simd;
        let sum = simd.add_f64s(self.base[column], self.tables[column][vector]);
        if DOUBLE {
            let small = simd.add_f64s(self.small_base[column], self.small_tables[column][vector]);
            simd.add_f64s(sum, small)
        } else {
            sum
        }
    }

    /// Computes the products of all sums but one, for every column of the group. Adds them to `cells` for
    /// every pattern, and stores their sum over all patterns in `of_steps`. On entry, `behind` is the product
    /// of the sums behind the group, unless the group is the last. On return, it includes the sums of the
    /// group.
    #[inline(always)]
    pub fn products_without_one(
        &self,
        before: &[S::f64s],
        behind: &mut [S::f64s],
        cells: &mut [Patterns],
        of_steps: &mut [Patterns],
        step_in_run: usize,
    ) {
        let simd = self.simd;
        let cells = &mut cells[..COLUMNS];
        let one = simd.splat_f64s(1.0);
        let mut totals = [simd.splat_f64s(0.0); COLUMNS];
        for vector in 0..PATTERNS / S::F64_LANES {
            let mut sums = [one; COLUMNS];
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum = self.sum(column, vector);
            }
            let outside = match LAST {
                true => before[vector],
                false => simd.mul_f64s(before[vector], behind[vector]),
            };
            // Multiply columns in pairs, of which there are at most two. This takes as many multiplications
            // as going from column to column, but fewer of them depend on each other.
            let mut pairs = [one; 2];
            for column in 0..COLUMNS {
                pairs[column / 2] = match column % 2 {
                    0 => sums[column],
                    _ => simd.mul_f64s(pairs[column / 2], sums[column]),
                };
            }
            let outside_pairs = match COLUMNS {
                1 | 2 => [outside, one],
                _ => [simd.mul_f64s(outside, pairs[1]), simd.mul_f64s(outside, pairs[0])],
            };
            let product = match COLUMNS {
                1 | 2 => pairs[0],
                _ => simd.mul_f64s(pairs[0], pairs[1]),
            };
            behind[vector] = match LAST {
                true => product,
                false => simd.mul_f64s(behind[vector], product),
            };
            for column in 0..COLUMNS {
                let cell = &mut cells[column].vectors_mut::<S>()[vector];
                let without_pair = outside_pairs[column / 2];
                let partner = column ^ 1;
                if partner < COLUMNS && column < FUSED {
                    *cell = simd.mul_add_e_f64s(without_pair, sums[partner], *cell);
                    totals[column] = simd.mul_add_e_f64s(without_pair, sums[partner], totals[column]);
                } else {
                    let without = match partner < COLUMNS {
                        true => simd.mul_f64s(without_pair, sums[partner]),
                        false => without_pair,
                    };
                    *cell = simd.add_f64s(*cell, without);
                    totals[column] = simd.add_f64s(totals[column], without);
                }
            }
        }
        for (of_steps, total) in of_steps.iter_mut().zip(totals) {
            of_steps.0[step_in_run] = simd.reduce_sum_f64s(total);
        }
    }
}

/// Evaluates an expression for the group that begins at `start`. Only the last group can have fewer columns
/// than `GROUP`.
macro_rules! with_group {
    ($simd:expr, $walk:expr, $start:expr, |$group:ident| $body:expr) => {{
        let (walk, start) = ($walk, $start);
        match (walk.prepared.size - start, start >= walk.prepared.one_word_columns) {
            (1, false) => with_group!(@ $simd, walk, start, 1, false, true, |$group| $body),
            (2, false) => with_group!(@ $simd, walk, start, 2, false, true, |$group| $body),
            (3, false) => with_group!(@ $simd, walk, start, 3, false, true, |$group| $body),
            (GROUP, false) => with_group!(@ $simd, walk, start, GROUP, false, true, |$group| $body),
            (_, false) => with_group!(@ $simd, walk, start, GROUP, false, false, |$group| $body),
            (1, true) => with_group!(@ $simd, walk, start, 1, true, true, |$group| $body),
            (2, true) => with_group!(@ $simd, walk, start, 2, true, true, |$group| $body),
            (3, true) => with_group!(@ $simd, walk, start, 3, true, true, |$group| $body),
            (GROUP, true) => with_group!(@ $simd, walk, start, GROUP, true, true, |$group| $body),
            (_, true) => with_group!(@ $simd, walk, start, GROUP, true, false, |$group| $body),
        }
    }};
    (@ $simd:expr, $walk:expr, $start:expr, $columns:expr, $double:expr, $last:expr, |$group:ident| $body:expr) => {{
        let $group = Group::<_, { $columns }, { $double }, { $last }>::new($simd, $walk, $start);
        $body
    }};
}

pub(super) use with_group;
