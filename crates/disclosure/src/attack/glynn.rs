//! Permanents of dense blocks, and all their minors at once.
//!
//! Glynn's formula (Glynn 2010, "The permanent of a square matrix", theorem 2.1) is a sum over signs δ, the first of
//! which stays +1:
//!
//! > perm(A) = 2^-(n-1) Σ_δ (Π_k δ_k) Π_j s_j, where s_j = Σ_k δ_k a_kj
//!
//! Its derivative by a_ij is the permanent of the minor without row i and column j, so that all minors follow from
//! the products of all sums but one, w_j: Σ_δ (Π_k δ_k) δ_i w_j.
//!
//! Of the signs, the last [`LOW`] that are left are looked up in a table of what their rows add to s_j, and the others
//! are walked through in Gray-code order. A sum is then one addition, a term one multiplication per column, and
//! nothing depends on the term before.
//!
//! **Errors.** u is 2^-53. Columns are scaled by powers of two, so that C_j = Σ_i a_ij is between ½ and 1.
//! - *Sums* are exact: weights are rounded to multiples of 2^-52, which can be added up to 2 without rounding. Where
//!   that changes no weight of column j by more than the share ε_j of what it is rounded to, the permanent, which is
//!   a sum of products of weights, changes by no more than the share Π(1+ε_j) - 1, and so do the minors. This is the
//!   advantage over rounded sums, whose errors cancellation would blow up. Columns where ε_j is large, as some weight
//!   is tiny, get a second word of multiples of 2^-100, and then s_j is rounded once. If even that leaves over ρ_j of a
//!   column in total, the permanent changes by Σ_j ρ_j Π_{k≠j} C_k at most.
//! - *Products* of n sums, m of them rounded, are off by γ_{n-1+m} of their size, where γ_k = ku/(1-ku) (Higham 2002,
//!   "Accuracy and stability of numerical algorithms", lemma 3.1).
//! - *Summing* k terms in any order is off by γ_{k-1} Σ|term| (the same, section 4.2); terms are first added in small
//!   groups, and groups with a compensated sum, which is off by u of its value and (Ku)² Σ|term| for K groups
//!   (Ogita, Rump and Oishi 2005, proposition 4.5).
//!
//! Σ|term| is summed up as well, so that the bound is that of the matrix at hand. For Σ|w_j| a bound has to do, as an
//! addition per column and term would cost a tenth of the time: |w_j| is the product of the sums in the other half of
//! the columns, the absolute value of which is summed up, by that of the other sums in j's half, none of which is more
//! than C_k. In the terms that matter |s_k| is not much less.

use super::Matrix;
use crate::{Control, Result};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// A number, and by how much it is off at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    pub value: f64,
    /// Absolute.
    pub error: f64,
}

/// The permanent of a block of at most 63 rows.
pub(super) fn permanent(matrix: &Matrix, control: &Control) -> Result<Bounded> {
    control.check()?;
    let scaled = Scaled::new(matrix);
    if scaled.size <= LARGEST_SMALL {
        return Ok(small_permanent(&scaled));
    }
    permanent_by_signs(&scaled, control)
}

/// The permanent of a block, the probability of every positive weight's edge in a random matching, in the order of
/// [`Matrix::weights`], and by how much any of these is off at most.
pub(super) fn edges(matrix: &Matrix, control: &Control) -> Result<(Bounded, Vec<f64>, f64)> {
    control.check()?;
    let scaled = Scaled::new(matrix);
    let (permanent, cells, error) = if scaled.size <= LARGEST_SMALL {
        small_edges(&scaled)
    } else {
        edges_by_signs(&scaled, control)?
    };
    let of_row = |row| matrix.row(row).map(move |(column, _)| (row, column as usize));
    let probability = (0..scaled.size)
        .flat_map(of_row)
        .map(|(row, column)| cells[scaled.cell(row, column)])
        .collect();
    Ok((permanent, probability, error))
}

/// About how long [`edges`] takes on one core.
pub(super) fn seconds(size: usize) -> f64 {
    size as f64 * (size as f64 - 1.0).exp2() / COLUMNS_OF_TERMS_PER_SECOND
}

/// A column of a term is a sum, its part in the product and in all products but one. Measured where vectors have four
/// doubles, on an EPYC of 2021 at 2.4 GHz.
const COLUMNS_OF_TERMS_PER_SECOND: f64 = 3e9;

/// Up to so many rows, sums over sets of columns are as quick as those over signs, and free of cancellation.
const LARGEST_SMALL: usize = 7;

/// How many signs the tables know: as many as leave the tables of 30 columns, 512 bytes each, in a cache of 32 kB.
const LOW: usize = 6;
const PATTERNS: usize = 1 << LOW;

/// How many of the other signs may change while the minors of a run of steps are added plainly: no more than [`LOW`].
const RUN: usize = 6;

/// Columns whose sums are multiplied with each other before they meet those of other columns.
const GROUP: usize = 4;

/// In so many columns of a group, products are multiplied and added in one go: twice, which is one multiplication more
/// and two additions less. Processors have as many units for one as for the other, and this balances them.
const FUSED: usize = 1;

/// Vectors of terms that are multiplied up at the same time, in registers.
const BLOCK: usize = 8;

/// A chunk is one thread's work, at least so many steps (as a power of two), and there are at most so many chunks.
/// Neither depends on the number of threads, so neither does the answer.
const LEAST_CHUNK: usize = 9;
const MOST_CHUNKS: usize = 8;

/// Steps between two checks for a cancellation: a fraction of a millisecond.
const CHECK: u64 = 1 << 10;

/// A double is off by this share when it is rounded.
const UNIT: f64 = f64::EPSILON / 2.0;

/// For the errors of the bounds themselves: sums of at most 2^30 positive numbers, each rounded a hundred times.
const SLACK: f64 = 1.0 + 1e-6;

/// 2 to the power, between -1022 and 1023.
fn power(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The power of two above a positive number; of numbers less than 2^-1022, and of those from 2^1023 on, not above but
/// the nearest that can be inverted.
fn exponent(value: f64) -> i64 {
    ((value.to_bits() >> 52) as i64 - 1022).clamp(-1022, 1022)
}

fn times_power(mut value: f64, mut exponent: i64) -> f64 {
    while exponent > 1023 {
        value *= power(1023);
        exponent -= 1023;
    }
    while exponent < -1022 {
        value *= power(-1022);
        exponent += 1022;
    }
    value * power(exponent)
}

/// A block the columns of which are multiplied by powers of two, so that they sum up to something between ½ and 1.
struct Scaled {
    size: usize,
    /// Column by column.
    weights: Vec<f64>,
    /// Of every column: 0 where it is empty.
    sums: Vec<f64>,
    /// By which power of two the permanent has become smaller.
    exponent: i64,
}

impl Scaled {
    fn new(matrix: &Matrix) -> Self {
        let size = matrix.size();
        let mut weights = vec![0.0; size * size];
        for row in 0..size {
            for (column, weight) in matrix.row(row) {
                weights[column as usize * size + row] = weight;
            }
        }
        let mut whole = 0;
        let mut scale = |column: &mut [f64]| {
            // By the largest first: the sum might be too large for a double.
            let largest = column.iter().copied().fold(0.0, f64::max);
            if largest == 0.0 {
                return 0.0;
            }
            let by_largest = exponent(largest);
            let sum: f64 = column.iter().map(|weight| weight * power(-by_largest)).sum();
            let by_sum = exponent(sum);
            for weight in column {
                *weight = *weight * power(-by_largest) * power(-by_sum);
            }
            whole += by_largest + by_sum;
            sum * power(-by_sum)
        };
        let sums = weights.chunks_mut(size.max(1)).map(&mut scale).collect();
        Scaled {
            size,
            weights,
            sums,
            exponent: whole,
        }
    }

    fn cell(&self, row: usize, column: usize) -> usize {
        column * self.size + row
    }

    fn column(&self, column: usize) -> &[f64] {
        &self.weights[column * self.size..][..self.size]
    }

    /// What is too small for a double at any place of a calculation in which no number is more than 1.
    fn underflow(&self) -> f64 {
        let operations =
            2.0 * (self.size * self.size) as f64 * (self.size as f64).exp2().min(PATTERNS as f64 * 2.0);
        operations * f64::MIN_POSITIVE
    }

    /// In the units of the matrix.
    fn back(&self, value: f64, error: f64) -> Bounded {
        let smallest = f64::from_bits(1);
        Bounded {
            value: times_power(value, self.exponent),
            error: times_power((error + self.underflow()) * SLACK, self.exponent) + 2.0 * smallest,
        }
    }
}

/// The permanents of the first rows, in any set of as many columns: every one is a sum of products of the weight in
/// its last row and a permanent that is known already. As nothing is subtracted, every product has been rounded twice
/// per row, and that is the error.
fn small_permanents(scaled: &Scaled) -> [f64; 1 << LARGEST_SMALL] {
    let mut permanents = [0.0; 1 << LARGEST_SMALL];
    permanents[0] = 1.0;
    for columns in 1..1_usize << scaled.size {
        let row = columns.count_ones() as usize - 1;
        let mut left = columns;
        while left != 0 {
            let column = left.trailing_zeros() as usize;
            left &= left - 1;
            permanents[columns] +=
                permanents[columns ^ 1 << column] * scaled.weights[scaled.cell(row, column)];
        }
    }
    permanents
}

fn small_permanent(scaled: &Scaled) -> Bounded {
    let value = small_permanents(scaled)[(1 << scaled.size) - 1];
    scaled.back(value, 2.0 * scaled.size as f64 * UNIT * value)
}

fn small_edges(scaled: &Scaled) -> (Bounded, Vec<f64>, f64) {
    let before = small_permanents(scaled);
    let all = (1_usize << scaled.size) - 1;
    let permanent = before[all];
    let mut cells = vec![0.0; scaled.weights.len()];
    // The permanents of the last rows, in all columns but some.
    let mut after = [0.0; 1 << LARGEST_SMALL];
    after[all] = 1.0;
    for columns in (0..all).rev() {
        let row = columns.count_ones() as usize;
        let mut left = all ^ columns;
        while left != 0 {
            let column = left.trailing_zeros() as usize;
            left &= left - 1;
            let cell = scaled.cell(row, column);
            let through = scaled.weights[cell] * after[columns | 1 << column];
            after[columns] += through;
            cells[cell] += before[columns] * through;
        }
    }
    let known = scaled.back(permanent, 2.0 * scaled.size as f64 * UNIT * permanent);
    // Those of the permanent, those of the products, and those of adding no more than 2^(n-1) of them.
    let roundings = 4.0 * scaled.size as f64 + (scaled.size as f64 - 1.0).exp2() + 3.0;
    let error = (roundings * UNIT + 2.0 * scaled.underflow() / permanent) * SLACK;
    let (cells, error) = shares(cells, permanent, error);
    (known, cells, error)
}

/// Weights times minors by the permanent, as probabilities: between 0 and 1, so that they cannot be off by more.
fn shares(mut cells: Vec<f64>, permanent: f64, error: f64) -> (Vec<f64>, f64) {
    if !(permanent > 0.0 && error < 1.0) {
        return (vec![0.0; cells.len()], 1.0);
    }
    for cell in &mut cells {
        *cell = (*cell / permanent).clamp(0.0, 1.0);
    }
    (cells, error)
}

/// A sum that keeps what rounding takes away: two-sum (Knuth 1969, section 4.2.2).
#[derive(Clone, Copy, Default)]
struct Compensated {
    value: f64,
    carry: f64,
}

impl Compensated {
    #[inline(always)]
    fn add(&mut self, other: f64) {
        let sum = self.value + other;
        let added = sum - self.value;
        self.carry += (self.value - (sum - added)) + (other - added);
        self.value = sum;
    }

    fn merge(&mut self, other: Compensated) {
        self.add(other.value);
        self.carry += other.carry;
    }

    fn total(self) -> f64 {
        self.value + self.carry
    }
}

/// The same in every lane.
#[derive(Clone, Copy)]
struct CompensatedLanes<V> {
    value: V,
    carry: V,
}

impl<V: Copy> CompensatedLanes<V> {
    #[inline(always)]
    fn zero<S: Simd<f64s = V>>(simd: S) -> Self {
        let zero = simd.splat_f64s(0.0);
        CompensatedLanes {
            value: zero,
            carry: zero,
        }
    }

    #[inline(always)]
    fn add<S: Simd<f64s = V>>(&mut self, simd: S, other: V) {
        let sum = simd.add_f64s(self.value, other);
        let added = simd.sub_f64s(sum, self.value);
        let lost = simd.add_f64s(
            simd.sub_f64s(self.value, simd.sub_f64s(sum, added)),
            simd.sub_f64s(other, added),
        );
        self.carry = simd.add_f64s(self.carry, lost);
        self.value = sum;
    }

    /// The sum of all lanes, those that are odd in the bits of `mask` subtracted.
    #[inline(always)]
    fn across<S: Simd<f64s = V>>(self, mask: usize) -> Compensated {
        let (values, carries) = (lanes::<S>(self.value), lanes::<S>(self.carry));
        let mut sum = Compensated::default();
        for lane in 0..S::F64_LANES {
            let sign = sign((lane & mask) as u64);
            sum.merge(Compensated {
                value: sign * values[lane],
                carry: sign * carries[lane],
            });
        }
        sum
    }
}

/// The same for one number per column.
#[derive(Clone)]
struct CompensatedRow {
    values: Vec<f64>,
    carries: Vec<f64>,
}

impl CompensatedRow {
    fn new(columns: usize) -> Self {
        CompensatedRow {
            values: vec![0.0; columns],
            carries: vec![0.0; columns],
        }
    }

    #[inline(always)]
    fn add_times(&mut self, others: &[f64], sign: f64) {
        for ((value, carry), other) in self.values.iter_mut().zip(&mut self.carries).zip(others) {
            let mut sum = Compensated {
                value: *value,
                carry: *carry,
            };
            sum.add(sign * other);
            (*value, *carry) = (sum.value, sum.carry);
        }
    }

    fn column(&self, column: usize) -> Compensated {
        Compensated {
            value: self.values[column],
            carry: self.carries[column],
        }
    }
}

/// Add the sum of some vectors to the first sum, and to the one after bit b's place the sum in which those are subtracted
/// that have bit b in their number. Leaves the plain sum in the first vector, and nothing sensible in the others.
#[inline(always)]
fn add_signed<S: Simd>(simd: S, vectors: &mut [S::f64s], sums: &mut [CompensatedLanes<S::f64s>]) {
    let mut left = vectors.len();
    for sum in &mut sums[1..] {
        left /= 2;
        let mut signed = simd.splat_f64s(0.0);
        for vector in 0..left {
            let (plus, minus) = (vectors[2 * vector], vectors[2 * vector + 1]);
            signed = simd.add_f64s(signed, simd.sub_f64s(plus, minus));
            vectors[vector] = simd.add_f64s(plus, minus);
        }
        sum.add(simd, signed);
    }
    sums[0].add(simd, vectors[0]);
}

#[inline(always)]
fn lanes<S: Simd>(vector: S::f64s) -> [f64; PATTERNS] {
    let mut lanes = [0.0; PATTERNS];
    S::as_mut_simd_f64s(&mut lanes).0[0] = vector;
    lanes
}

#[inline(always)]
fn absolute<S: Simd>(simd: S, vector: S::f64s) -> S::f64s {
    simd.and_f64s(vector, simd.splat_f64s(f64::from_bits(u64::MAX >> 1)))
}

/// The product of the signs that are minus where a bit is set.
#[inline(always)]
fn sign(minus: u64) -> f64 {
    if minus.count_ones().is_multiple_of(2) {
        1.0
    } else {
        -1.0
    }
}

/// One number for every pattern of low signs, on a cache line's boundary.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Patterns([f64; PATTERNS]);

impl Patterns {
    const ZERO: Patterns = Patterns([0.0; PATTERNS]);

    #[inline(always)]
    fn vectors<S: Simd>(&self) -> &[S::f64s] {
        S::as_simd_f64s(&self.0).0
    }

    #[inline(always)]
    fn block<S: Simd>(&self, block: usize) -> &[S::f64s; BLOCK] {
        &self.vectors::<S>().as_chunks().0[block]
    }

    #[inline(always)]
    fn vectors_mut<S: Simd>(&mut self) -> &mut [S::f64s] {
        S::as_mut_simd_f64s(&mut self.0).0
    }
}

/// One word of all weights of some columns: a multiple of some power of two, so that they add up exactly.
struct Words {
    columns: usize,
    /// Row by row.
    rows: Vec<f64>,
    /// For every column, what its low rows sum up to.
    tables: Vec<Patterns>,
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

    fn high_row(&self, bit: usize) -> &[f64] {
        self.row(1 + LOW + bit)
    }

    /// What the rows that no table knows sum up to, for the signs that a step of the walk has.
    fn base(&self, high: usize, step: u64) -> Vec<f64> {
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
fn gray(step: u64) -> u64 {
    step ^ step >> 1
}

/// A matrix ready for sums over signs. Bit b of a pattern is set where row 1 + b is subtracted, bit b of a step's Gray
/// code where row 1 + [`LOW`] + b is.
struct Signs {
    size: usize,
    /// How many signs no table knows.
    high: usize,
    /// Which columns of the matrix these are: those come last that have a second word.
    order: Vec<usize>,
    first: Words,
    /// How many columns have no second word.
    single: usize,
    second: Words,
    /// What no sum of a column is beyond.
    sums: Vec<f64>,
    /// By which share the permanent and its minors change as weights were rounded to one word.
    share: f64,
    /// By how much the permanent changes as weights were rounded to two words.
    left_over: f64,
}

impl Signs {
    fn new(scaled: &Scaled) -> Self {
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
    fn in_chunks<T: Send>(&self, part: impl Fn(Range<u64>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let chunks = self.high.saturating_sub(LEAST_CHUNK).min(MOST_CHUNKS);
        let steps = 1 << (self.high - chunks);
        let chunk = |chunk: u64| part(chunk * steps..(chunk + 1) * steps);
        if chunks == 0 {
            return Ok(vec![chunk(0)?]);
        }
        (0..1 << chunks).into_par_iter().map(chunk).collect()
    }

    /// How often a product of all sums is rounded.
    fn product_roundings(&self) -> f64 {
        (self.size - 1 + self.size - self.single) as f64
    }

    /// What compensated sums of as many numbers as there are steps lose, in units of the sum of absolute values.
    fn carry_roundings(&self) -> f64 {
        let added = (self.high as f64).exp2() * 16.0;
        added * UNIT * added
    }

    /// By the number of all signs.
    fn mean(&self, sum: f64) -> f64 {
        sum * power(1 - self.size as i64)
    }
}

/// The sums of the rows that no table knows, step by step.
struct Walk<'a> {
    signs: &'a Signs,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl<'a> Walk<'a> {
    fn new(signs: &'a Signs, step: u64) -> Self {
        Walk {
            signs,
            first: signs.first.base(signs.high, step),
            second: signs.second.base(signs.high, step),
        }
    }

    /// From a step to the one after it.
    #[inline(always)]
    fn go_on(&mut self, step: u64) {
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

    /// Multiply by the sums of some columns, in one block of patterns.
    #[inline(always)]
    fn multiply<S: Simd>(
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

/// The sum of the terms of some steps.
struct SumOfTerms<'a> {
    signs: &'a Signs,
    steps: Range<u64>,
    control: &'a Control,
}

struct PartOfTerms {
    terms: Compensated,
    /// The sum of their absolute values.
    absolute: f64,
    /// How often terms were rounded when they were added without compensation.
    roundings: f64,
}

impl WithSimd for SumOfTerms<'_> {
    type Output = Result<PartOfTerms>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let signs = self.signs;
        let blocks = PATTERNS / S::F64_LANES / BLOCK;
        let mut terms = CompensatedLanes::zero(simd);
        let mut sizes = simd.splat_f64s(0.0);
        let mut walk = Walk::new(signs, self.steps.start);
        for step in self.steps {
            if step % CHECK == 0 {
                self.control.check()?;
            }
            let mut of_step = simd.splat_f64s(0.0);
            for block in 0..blocks {
                let mut products = [simd.splat_f64s(1.0); BLOCK];
                walk.multiply(simd, 0..signs.size, block, &mut products);
                let [a, b, c, d, e, f, g, h] = products;
                // Patterns with an odd number of bits are subtracted; those of the lane's number remain to be done.
                let left = simd.add_f64s(simd.sub_f64s(a, b), simd.sub_f64s(d, c));
                let right = simd.add_f64s(simd.sub_f64s(f, e), simd.sub_f64s(g, h));
                let of_block = simd.add_f64s(left, right);
                let sign_of_block = simd.splat_f64s(sign(block as u64));
                of_step = simd.add_f64s(of_step, simd.mul_f64s(of_block, sign_of_block));
                for product in &mut products {
                    *product = absolute(simd, *product);
                }
                let [a, b, c, d, e, f, g, h] = products;
                let left = simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d));
                let right = simd.add_f64s(simd.add_f64s(e, f), simd.add_f64s(g, h));
                sizes = simd.add_f64s(sizes, simd.add_f64s(left, right));
            }
            terms.add(simd, simd.mul_f64s(of_step, simd.splat_f64s(sign(gray(step)))));
            walk.go_on(step);
        }
        Ok(PartOfTerms {
            terms: terms.across::<S>(usize::MAX),
            absolute: lanes::<S>(sizes).iter().sum(),
            roundings: 3.0 + blocks as f64,
        })
    }
}

fn permanent_by_signs(scaled: &Scaled, control: &Control) -> Result<Bounded> {
    if scaled.sums.contains(&0.0) {
        return Ok(scaled.back(0.0, 0.0));
    }
    let signs = Signs::new(scaled);
    let parts = signs.in_chunks(|steps| {
        Arch::new().dispatch(SumOfTerms {
            signs: &signs,
            steps,
            control,
        })
    })?;
    let mut terms = Compensated::default();
    let mut absolute = 0.0;
    let mut roundings = signs.product_roundings() + signs.carry_roundings();
    for part in &parts {
        terms.merge(part.terms);
        absolute += part.absolute;
    }
    roundings += parts.iter().map(|part| part.roundings).fold(0.0, f64::max);
    let value = signs.mean(terms.total());
    let rounding = UNIT * (roundings * signs.mean(absolute) + value.abs());
    let error = rounding + (value.abs() + rounding) * signs.share.exp_m1() + signs.left_over;
    // It cannot be negative, so zero is nearer.
    Ok(scaled.back(value.max(0.0), error))
}

/// The sums of the terms of some steps without one of their factors.
struct SumOfMinors<'a> {
    signs: &'a Signs,
    steps: Range<u64>,
    control: &'a Control,
}

struct PartOfMinors {
    /// Column by column.
    minors: Vec<Compensated>,
    /// For either half of the columns, the sum of the absolute values of the products of all sums in the other.
    absolute: [f64; 2],
    /// How often products were rounded when they were added without compensation.
    roundings: f64,
}

/// A group of columns in one step. Loops count here where closures would read better: those of the standard library's
/// adapters are not always inlined, and then they are compiled without the vectors of the function around them.
struct Group<'a, S: Simd, const COLUMNS: usize, const DOUBLE: bool, const LAST: bool> {
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
    fn new(simd: S, walk: &Walk<'a>, start: usize) -> Self {
        let zero = [simd.splat_f64s(0.0); COLUMNS];
        let mut group = Group {
            simd,
            base: zero,
            tables: [&[]; COLUMNS],
            small_base: zero,
            small_tables: [&[]; COLUMNS],
        };
        let signs = walk.signs;
        let columns = start..start + COLUMNS;
        let (base, tables) = (&walk.first[columns.clone()], &signs.first.tables[columns]);
        for column in 0..COLUMNS {
            group.base[column] = simd.splat_f64s(base[column]);
            group.tables[column] = tables[column].vectors::<S>();
        }
        if DOUBLE {
            let columns = start - signs.single..start - signs.single + COLUMNS;
            let (base, tables) = (&walk.second[columns.clone()], &signs.second.tables[columns]);
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

    /// Products of all sums but one, for every column of the group: added to `cells` for every pattern, and summed up
    /// in `of_steps`. `behind` is the product of the sums behind the group, if it is not
    /// the last, and then with it.
    #[inline(always)]
    fn back(
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
            // Columns go in pairs, of which there are two at most: fewer steps one after the other than from column
            // to column, in as many multiplications.
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

/// Call a function of the group that begins at `start`. Fewer columns than [`GROUP`] can only be the last.
macro_rules! with_group {
    ($simd:expr, $walk:expr, $start:expr, |$group:ident| $body:expr) => {{
        let (walk, start) = ($walk, $start);
        match (walk.signs.size - start, start >= walk.signs.single) {
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

/// How many columns the first half has: whole groups.
fn first_half(size: usize) -> usize {
    size.div_ceil(GROUP) / 2 * GROUP
}

/// Add the absolute values of some vectors to a sum.
#[inline(always)]
fn add_absolute<S: Simd>(simd: S, vectors: &[S::f64s], sum: &mut S::f64s) {
    for &vector in vectors {
        *sum = simd.add_f64s(*sum, absolute(simd, vector));
    }
}

impl WithSimd for SumOfMinors<'_> {
    type Output = Result<PartOfMinors>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Signs { size, high, .. } = *self.signs;
        let zero = simd.splat_f64s(0.0);
        let vectors = PATTERNS / S::F64_LANES;
        // Rows 1 to LOW: their signs differ between the lanes of a vector, or between vectors.
        let in_lanes = S::F64_LANES.trailing_zeros() as usize;
        let in_vectors = LOW - in_lanes;
        // Of the others, those that differ within a run.
        let in_run = high.min(RUN);
        let mut low_sums = vec![CompensatedLanes::zero(simd); size * (1 + in_vectors)];
        let mut run_sums = vec![CompensatedLanes::zero(simd); size * (1 + in_vectors)];
        let mut high_sums = vec![CompensatedRow::new(size); high - in_run];
        let mut totals = vec![0.0; size];
        let groups = size.div_ceil(GROUP);
        let half = first_half(size) / GROUP;
        let mut absolute = [zero; 2];
        // The products of the sums of the first group, of the first two, and so on.
        let mut before = vec![Patterns::ZERO; groups - 1];
        let mut behind = Patterns::ZERO;
        let mut cells = vec![Patterns::ZERO; size];
        // The same for every step of a run, as if the signs that change in it were those of a pattern.
        let mut of_steps = cells.clone();
        // A Gray code has an odd number of bits in every other step.
        let mut even = Patterns::ZERO;
        for (pattern, product) in even.0.iter_mut().enumerate() {
            *product = sign(pattern as u64);
        }
        let odd = Patterns(even.0.map(|product| -product));
        let mut walk = Walk::new(self.signs, self.steps.start);
        for run in self.steps.step_by(1 << in_run) {
            self.control.check()?;
            cells.fill(Patterns::ZERO);
            for step in run..run + (1 << in_run) {
                let outset = if step % 2 == 0 { &even } else { &odd };
                for block in 0..vectors / BLOCK {
                    let of_block = block * BLOCK..(block + 1) * BLOCK;
                    let mut products = [zero; BLOCK];
                    products.copy_from_slice(&outset.vectors::<S>()[of_block.clone()]);
                    for (group, before) in before.iter_mut().enumerate() {
                        let columns = group * GROUP..(group + 1) * GROUP;
                        walk.multiply(simd, columns, block, &mut products);
                        before.vectors_mut::<S>()[of_block.clone()].copy_from_slice(&products);
                    }
                }
                add_absolute(simd, before[half - 1].vectors::<S>(), &mut absolute[1]);
                for group in (0..groups).rev() {
                    let start = group * GROUP;
                    let known = before[..group].last().unwrap_or(outset).vectors::<S>();
                    let cells = &mut cells[start..];
                    let behind = behind.vectors_mut::<S>();
                    let of_steps = &mut of_steps[start..];
                    let step_in_run = (gray(step) % (1 << in_run)) as usize;
                    with_group!(simd, &walk, start, |group| {
                        group.back(known, behind, cells, of_steps, step_in_run)
                    });
                    if group == half {
                        add_absolute(simd, behind, &mut absolute[0]);
                    }
                }
                walk.go_on(step);
            }
            for column in 0..size {
                let sums = column * (1 + in_vectors)..(column + 1) * (1 + in_vectors);
                let cells = cells[column].vectors_mut::<S>();
                add_signed(simd, cells, &mut low_sums[sums.clone()]);
                totals[column] = simd.reduce_sum_f64s(cells[0]);
                let vectors_of_run = (1 << in_run).max(S::F64_LANES) / S::F64_LANES;
                let of_steps = &mut of_steps[column].vectors_mut::<S>()[..vectors_of_run];
                add_signed(simd, of_steps, &mut run_sums[sums]);
            }
            for (bit, sums) in (in_run..).zip(&mut high_sums) {
                sums.add_times(&totals, sign(gray(run) & 1 << bit));
            }
        }
        let mut minors = Vec::with_capacity(size * size);
        for column in 0..size {
            let sums = column * (1 + in_vectors)..(column + 1) * (1 + in_vectors);
            let of_rows = |sums: &[CompensatedLanes<S::f64s>], row: usize| match row < in_lanes {
                true => sums[0].across::<S>(1 << row),
                false => sums[1 + row - in_lanes].across::<S>(0),
            };
            minors.push(low_sums[sums.start].across::<S>(0));
            minors.extend((0..LOW).map(|row| of_rows(&low_sums[sums.clone()], row)));
            minors.extend((0..in_run).map(|row| of_rows(&run_sums[sums.clone()], row)));
            minors.extend(high_sums.iter().map(|sums| sums.column(column)));
        }
        Ok(PartOfMinors {
            minors,
            absolute: [
                lanes::<S>(absolute[0]).iter().sum(),
                lanes::<S>(absolute[1]).iter().sum(),
            ],
            roundings: ((1 << in_run) + vectors + in_lanes) as f64,
        })
    }
}

fn edges_by_signs(scaled: &Scaled, control: &Control) -> Result<(Bounded, Vec<f64>, f64)> {
    let nothing = || vec![0.0; scaled.weights.len()];
    if scaled.sums.contains(&0.0) {
        return Ok((scaled.back(0.0, 0.0), nothing(), 1.0));
    }
    let signs = Signs::new(scaled);
    let parts = signs.in_chunks(|steps| {
        Arch::new().dispatch(SumOfMinors {
            signs: &signs,
            steps,
            control,
        })
    })?;
    let mut minors = vec![Compensated::default(); scaled.weights.len()];
    let mut absolute = [0.0; 2];
    let mut roundings = signs.product_roundings() + signs.carry_roundings();
    for part in &parts {
        for (sum, &minor) in minors.iter_mut().zip(&part.minors) {
            sum.merge(minor);
        }
        for (sum, size) in absolute.iter_mut().zip(&part.absolute) {
            *sum += size;
        }
    }
    roundings += parts.iter().map(|part| part.roundings).fold(0.0, f64::max);

    let mut cells = nothing();
    // By how much a weight times its minor is off at most; and the permanent, as the column that knows it best has it.
    let mut off = 0.0_f64;
    let (mut value, mut error) = (0.0, f64::INFINITY);
    for (place, &column) in signs.order.iter().enumerate() {
        let sum = signs.sums[place];
        let first = first_half(signs.size);
        let (half, of_half) = if place < first {
            (0, 0..first)
        } else {
            (1, first..signs.size)
        };
        let others = of_half
            .filter(|&other| other != place)
            .map(|other| signs.sums[other]);
        let at_most = signs.mean(absolute[half]) * others.product::<f64>();
        let rounding = roundings * UNIT * at_most;
        let (mut of_column, mut of_column_error) = (0.0, 0.0);
        for (row, weight) in scaled.column(column).iter().enumerate() {
            let minor = signs.mean(minors[place * signs.size + row].total());
            let rounding = rounding + UNIT * minor.abs();
            let minor_error =
                rounding + (minor.abs() + rounding) * signs.share.exp_m1() + signs.left_over / sum;
            let minor = minor.max(0.0);
            let through = weight * minor;
            cells[scaled.cell(row, column)] = through;
            of_column += through;
            let through_error = weight * minor_error + UNIT * through;
            off = off.max(through_error);
            of_column_error += through_error + signs.size as f64 * UNIT * through;
        }
        if of_column_error < error {
            (value, error) = (of_column, of_column_error);
        }
    }
    let known = scaled.back(value, error);
    // p' - p, where p' = x'/y' and p = x/y, is (x' - x - p(y' - y)) / y', and p is no more than 1.
    let share_error = ((off + error + 2.0 * scaled.underflow()) / value + 2.0 * UNIT) * SLACK;
    let (cells, error) = shares(cells, value, share_error);
    Ok((known, cells, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// The sum over all ways to give the rows from `row` on a column of their own; `through` gets for every cell the
    /// part of those that use it.
    fn definition(
        size: usize,
        weights: &[f64],
        row: usize,
        taken: u32,
        so_far: f64,
        through: &mut [f64],
    ) -> f64 {
        if row == size {
            return so_far;
        }
        let mut sum = 0.0;
        for column in (0..size).filter(|column| taken & 1 << column == 0) {
            let cell = row * size + column;
            let part = definition(
                size,
                weights,
                row + 1,
                taken | 1 << column,
                so_far * weights[cell],
                through,
            );
            through[cell] += part;
            sum += part;
        }
        sum
    }

    /// The same, set of columns by set of columns. Only positive numbers are added, so that it is exact up to rounding.
    fn over_sets(size: usize, weights: &[f64]) -> (f64, Vec<f64>) {
        let all = (1_usize << size) - 1;
        let (mut before, mut after) = (vec![0.0; all + 1], vec![0.0; all + 1]);
        (before[0], after[all]) = (1.0, 1.0);
        let cells = |set: usize| {
            let row = set.count_ones() as usize;
            (0..size)
                .filter(move |column| set & 1 << column == 0)
                .map(move |column| (row * size + column, set | 1 << column))
        };
        for set in 0..all {
            cells(set).for_each(|(cell, next)| before[next] += before[set] * weights[cell]);
        }
        let mut through = vec![0.0; size * size];
        for set in (0..all).rev() {
            for (cell, next) in cells(set) {
                after[set] += weights[cell] * after[next];
                through[cell] += before[set] * weights[cell] * after[next];
            }
        }
        (before[all], through)
    }

    type Found = (Bounded, Bounded, Vec<f64>, f64);

    fn found(matrix: &Matrix) -> Found {
        let control = Control::new();
        let (again, probability, error) = edges(matrix, &control).unwrap();
        (permanent(matrix, &control).unwrap(), again, probability, error)
    }

    /// By signs even where sets would be quicker.
    fn found_by_signs(matrix: &Matrix) -> Found {
        let control = Control::new();
        let scaled = Scaled::new(matrix);
        let (again, cells, error) = edges_by_signs(&scaled, &control).unwrap();
        let probability = (0..matrix.size())
            .flat_map(|row| matrix.row(row).map(move |(column, _)| (row, column as usize)))
            .map(|(row, column)| cells[scaled.cell(row, column)])
            .collect();
        (
            permanent_by_signs(&scaled, &control).unwrap(),
            again,
            probability,
            error,
        )
    }

    /// How far the permanents are off, as shares, and the probabilities. None is off by more than it says.
    fn off(weights: &[f64], truth: f64, through: &[f64], found: &Found) -> (f64, f64) {
        let (permanent, again, probability, error) = found;
        // The truth is rounded as well, and may be too small for a double.
        let rounding = 1e-13 * truth + f64::MIN_POSITIVE;
        for permanent in [permanent, again] {
            let off = (permanent.value - truth).abs();
            assert!(off <= permanent.error + rounding, "{permanent:?} is not {truth}");
        }
        let positive = weights.iter().zip(through).filter(|(weight, _)| **weight > 0.0);
        assert_eq!(probability.len(), positive.clone().count());
        let mut most = 0.0_f64;
        for (p, (_, through)) in probability.iter().zip(positive) {
            let off = (p - through / truth).abs();
            assert!(
                truth == 0.0 || off <= error + 1e-13,
                "{p} ± {error} is not {}",
                through / truth
            );
            most = most.max(off);
        }
        (
            (permanent.value - truth).abs().max((again.value - truth).abs()) / truth,
            most,
        )
    }

    /// Weights that are positive, uneven, very uneven, partly zero, 0 or 1; rows and columns in different units.
    fn weights(sizes: Range<usize>) -> impl Strategy<Value = (usize, Vec<f64>)> {
        let kind = prop_oneof![
            Just((1, 1.0)),
            Just((3, 1.0)),
            Just((20, 1.0)),
            Just((1, 0.6)),
            Just((20, 0.6)),
            Just((0, 0.5))
        ];
        (sizes, kind, any::<bool>()).prop_flat_map(|(size, (power, share), units)| {
            let weight = (0.0..1.0_f64, 0.0..1.0_f64)
                .prop_map(move |(weight, chance)| if chance < share { weight.powi(power) } else { 0.0 });
            let unit = prop::collection::vec(-40..40_i32, 2 * size);
            let scale = move |(mut weights, unit): (Vec<f64>, Vec<i32>)| {
                for (cell, weight) in weights.iter_mut().enumerate().filter(|_| units) {
                    *weight *= 3_f64.powi(unit[cell / size] + unit[size + cell % size]);
                }
                (size, weights)
            };
            (prop::collection::vec(weight, size * size), unit).prop_map(scale)
        })
    }

    fn config(cases: u32) -> ProptestConfig {
        ProptestConfig {
            cases,
            rng_seed: RngSeed::Fixed(17),
            failure_persistence: None,
            ..ProptestConfig::default()
        }
    }

    proptest! {
        #![proptest_config(config(3000))]

        #[test]
        fn small_blocks_are_as_defined((size, weights) in weights(1..6)) {
            let mut through = vec![0.0; size * size];
            let truth = definition(size, &weights, 0, 0, 1.0, &mut through);
            let (sum, of_cells) = over_sets(size, &weights);
            prop_assert!((sum - truth).abs() <= 1e-13 * truth);
            let matrix = Matrix::dense(size, size, &weights).unwrap();
            let (permanent, edges) = off(&weights, truth, &of_cells, &found(&matrix));
            prop_assert!(truth < 1e-290 || permanent < 1e-14 && edges < 1e-14);
        }
    }

    proptest! {
        #![proptest_config(config(300))]

        #[test]
        fn bounds_hold_whatever_the_weights((size, weights) in weights(7..12)) {
            let (truth, through) = over_sets(size, &weights);
            let matrix = Matrix::dense(size, size, &weights).unwrap();
            off(&weights, truth, &through, &found(&matrix));
            off(&weights, truth, &through, &found_by_signs(&matrix));
        }

        #[test]
        fn even_weights_are_summed_well(weights in prop::collection::vec(0.0..1.0_f64, 100)) {
            let (truth, through) = over_sets(10, &weights);
            let found = found(&Matrix::dense(10, 10, &weights).unwrap());
            let (permanent, edges) = off(&weights, truth, &through, &found);
            prop_assert!(permanent < 1e-12 && edges < 1e-12);
            prop_assert!(found.0.error < 1e-11 * truth && found.3 < 1e-11);
        }
    }

    #[test]
    fn tiny_weights_get_a_second_word() {
        // Next to ones, they are nothing in one word: a share that no bound could bear.
        for size in 8..12 {
            let weight = |cell: usize| match cell % (size + 1) {
                0 => 1.0,
                other => 1e-17 / other as f64,
            };
            let weights: Vec<f64> = (0..size * size).map(weight).collect();
            let matrix = Matrix::dense(size, size, &weights).unwrap();
            assert_eq!(Signs::new(&Scaled::new(&matrix)).single, 0);
            let (truth, through) = over_sets(size, &weights);
            let found = found(&matrix);
            off(&weights, truth, &through, &found);
            assert!(found.0.error < 1e-14 * truth && found.3 < 1e-13);
        }
    }

    #[test]
    fn larger_blocks_do_not_depend_on_the_number_of_threads() {
        let weights: Vec<f64> = (0..17 * 17)
            .map(|cell| f64::from(cell * 7919 % 1009) / 1009.0)
            .collect();
        let matrix = Matrix::dense(17, 17, &weights).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| found(&matrix))
        };
        let alone = with(1);
        assert_eq!(alone, with(3));
        let (truth, through) = over_sets(17, &weights);
        let (permanent, edges) = off(&weights, truth, &through, &alone);
        assert!(permanent < 1e-12 && edges < 1e-12);
    }

    #[test]
    fn ones_are_counted() {
        for size in 0..15 {
            let matrix = Matrix::dense(size, size, &vec![1.0; size * size]).unwrap();
            let factorial: f64 = (1..=size).map(|number| number as f64).product();
            let found = permanent(&matrix, &Control::new()).unwrap();
            assert_eq!(found.value.round(), factorial);
            assert!((found.value - factorial).abs() <= found.error);
        }
    }

    #[test]
    fn no_matching_is_no_weight() {
        for size in [2, 5, 9, 13] {
            let mut weights = vec![1.0; size * size];
            weights.iter_mut().step_by(size).for_each(|weight| *weight = 0.0);
            let matrix = Matrix::dense(size, size, &weights).unwrap();
            let (permanent, again, probability, error) = found(&matrix);
            assert!(permanent.value <= permanent.error && again.value <= again.error);
            assert_eq!((probability.len(), error), (size * (size - 1), 1.0));
        }
    }

    #[test]
    fn any_unit_will_do() {
        for unit in [1e-310, 1e-200, 1e200, 1e307] {
            let matrix = Matrix::dense(9, 9, &[unit; 81]).unwrap();
            let (permanent, _, probability, error) = found(&matrix);
            assert!(error < 1e-12 && probability.iter().all(|p| (p - 1.0 / 9.0).abs() <= error));
            assert_eq!(permanent.value, if unit < 1.0 { 0.0 } else { f64::INFINITY });
        }
    }

    #[test]
    fn larger_blocks_can_be_cancelled() {
        let control = Control::new();
        control.cancel();
        let matrix = Matrix::dense(40, 40, &[1.0; 1600]).unwrap();
        assert_eq!(permanent(&matrix, &control), Err(Error::Cancelled));
        assert_eq!(edges(&matrix, &control), Err(Error::Cancelled));
        assert!(seconds(40) > 3600.0 && seconds(20) < 0.1);
    }
}
