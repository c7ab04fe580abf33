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
//! addition per column and term would cost a tenth of the time: |w_j| is the product of the sums outside j's group of
//! columns, the absolute value of which is summed up, by that of the other sums of the group, none of which is more
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

/// The permanent of a block.
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

/// Measured where vectors have four doubles, on an EPYC of 2021.
const COLUMNS_OF_TERMS_PER_SECOND: f64 = 4e9;

/// Up to so many rows, sums over sets of columns are as quick as those over signs, and free of cancellation.
const LARGEST_SMALL: usize = 7;

/// How many signs the tables know: as many as leave the tables of 30 columns, 512 bytes each, in a cache of 32 kB.
const LOW: usize = 6;
const PATTERNS: usize = 1 << LOW;

/// How many of the other signs may change while the minors of a run of steps are added plainly.
const RUN: usize = 5;

/// Columns whose sums are multiplied with each other before they meet those of other columns.
const GROUP: usize = 4;

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
    if minus.count_ones() % 2 == 0 {
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
                let range = block * BLOCK..(block + 1) * BLOCK;
                let mut products = [simd.splat_f64s(1.0); BLOCK];
                for (base, table) in walk.first.iter().zip(&signs.first.tables).take(signs.single) {
                    let base = simd.splat_f64s(*base);
                    for (product, &low) in products.iter_mut().zip(&table.vectors::<S>()[range.clone()]) {
                        *product = simd.mul_f64s(*product, simd.add_f64s(base, low));
                    }
                }
                let first = walk.first.iter().zip(&signs.first.tables).skip(signs.single);
                let second = walk.second.iter().zip(&signs.second.tables);
                for ((base, table), (small_base, small_table)) in first.zip(second) {
                    let (base, small_base) = (simd.splat_f64s(*base), simd.splat_f64s(*small_base));
                    let low = &table.vectors::<S>()[range.clone()];
                    let small_low = &small_table.vectors::<S>()[range.clone()];
                    for ((product, &low), &small_low) in products.iter_mut().zip(low).zip(small_low) {
                        let small = simd.add_f64s(small_base, small_low);
                        let sum = simd.add_f64s(simd.add_f64s(base, low), small);
                        *product = simd.mul_f64s(*product, sum);
                    }
                }
                let [a, b, c, d, e, f, g, h] = products;
                // Patterns with an odd number of bits are subtracted; those of the lane's number remain to be done.
                let left = simd.add_f64s(simd.sub_f64s(a, b), simd.sub_f64s(d, c));
                let right = simd.add_f64s(simd.sub_f64s(f, e), simd.sub_f64s(g, h));
                let of_block = simd.add_f64s(left, right);
                let sign_of_block = simd.splat_f64s(sign(block as u64));
                of_step = simd.add_f64s(of_step, simd.mul_f64s(of_block, sign_of_block));
                let [a, b, c, d, e, f, g, h] = products.map(|product| absolute(simd, product));
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
    /// For every group of columns, the sum of the absolute values of the products of all sums outside the group.
    absolute: Vec<f64>,
    /// How often products were rounded when they were added without compensation.
    roundings: f64,
}

/// A group of columns in one step. Loops count here where closures would read better: those of the standard library's
/// adapters are not always inlined, and then they are compiled without the vectors of the function around them.
struct Group<'a, S: Simd, const COLUMNS: usize, const DOUBLE: bool> {
    simd: S,
    base: [S::f64s; COLUMNS],
    tables: [&'a [S::f64s]; COLUMNS],
    small_base: [S::f64s; COLUMNS],
    small_tables: [&'a [S::f64s]; COLUMNS],
}

impl<'a, S: Simd, const COLUMNS: usize, const DOUBLE: bool> Group<'a, S, COLUMNS, DOUBLE> {
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
        for column in 0..COLUMNS {
            group.base[column] = simd.splat_f64s(walk.first[start + column]);
            group.tables[column] = signs.first.tables[start + column].vectors::<S>();
            if DOUBLE {
                let column_of_seconds = start + column - signs.single;
                group.small_base[column] = simd.splat_f64s(walk.second[column_of_seconds]);
                group.small_tables[column] = signs.second.tables[column_of_seconds].vectors::<S>();
            }
        }
        group
    }

    #[inline(always)]
    fn sums(&self, vector: usize) -> [S::f64s; COLUMNS] {
        let simd = self.simd;
        let mut sums = self.base;
        for column in 0..COLUMNS {
            sums[column] = simd.add_f64s(sums[column], self.tables[column][vector]);
            if DOUBLE {
                let small = simd.add_f64s(self.small_base[column], self.small_tables[column][vector]);
                sums[column] = simd.add_f64s(sums[column], small);
            }
        }
        sums
    }

    /// The product of the sums so far and those of this group.
    #[inline(always)]
    fn forth(&self, before: &[S::f64s], after: &mut [S::f64s]) {
        for vector in 0..PATTERNS / S::F64_LANES {
            let sums = self.sums(vector);
            let mut product = sums[0];
            for column in 1..COLUMNS {
                product = self.simd.mul_f64s(product, sums[column]);
            }
            after[vector] = self.simd.mul_f64s(before[vector], product);
        }
    }

    /// Products of all sums but one, for every column of the group: added to `cells` for every pattern, and summed up
    /// in `totals_of_columns`. `behind` is the product of the sums behind the group, and then with it.
    #[inline(always)]
    fn back(
        &self,
        before: &[S::f64s],
        behind: &mut [S::f64s],
        cells: &mut [Patterns],
        totals_of_columns: &mut [S::f64s],
        sizes: &mut S::f64s,
    ) {
        let simd = self.simd;
        let cells = &mut cells[..COLUMNS];
        let one = simd.splat_f64s(1.0);
        let mut totals = [simd.splat_f64s(0.0); COLUMNS];
        let mut size = *sizes;
        for vector in 0..PATTERNS / S::F64_LANES {
            let sums = self.sums(vector);
            let outside = simd.mul_f64s(before[vector], behind[vector]);
            size = simd.add_f64s(size, absolute(simd, outside));
            // Columns go in pairs, of which there are two at most: fewer steps one after the other than from column
            // to column, in as many multiplications.
            let mut pairs = [one; 2];
            for column in 0..COLUMNS {
                pairs[column / 2] = match column % 2 {
                    0 => sums[column],
                    _ => simd.mul_f64s(pairs[column / 2], sums[column]),
                };
            }
            let mut without = [outside; COLUMNS];
            for column in 0..COLUMNS {
                if COLUMNS > 2 {
                    without[column] = simd.mul_f64s(outside, pairs[1 - column / 2]);
                }
                let partner = column ^ 1;
                if partner < COLUMNS {
                    without[column] = simd.mul_f64s(without[column], sums[partner]);
                }
            }
            let product = match COLUMNS {
                1 | 2 => pairs[0],
                _ => simd.mul_f64s(pairs[0], pairs[1]),
            };
            behind[vector] = simd.mul_f64s(behind[vector], product);
            for column in 0..COLUMNS {
                let cell = &mut cells[column].vectors_mut::<S>()[vector];
                *cell = simd.add_f64s(*cell, without[column]);
                totals[column] = simd.add_f64s(totals[column], without[column]);
            }
        }
        *sizes = size;
        totals_of_columns[..COLUMNS].copy_from_slice(&totals);
    }
}

/// Call a function of a group with as many columns as there are from `start` on.
macro_rules! with_group {
    ($simd:expr, $walk:expr, $start:expr, |$group:ident| $body:expr) => {{
        let (walk, start) = ($walk, $start);
        let double = start >= walk.signs.single;
        match (walk.signs.size - start, double) {
            (1, false) => with_group!(@ $simd, walk, start, 1, false, |$group| $body),
            (2, false) => with_group!(@ $simd, walk, start, 2, false, |$group| $body),
            (3, false) => with_group!(@ $simd, walk, start, 3, false, |$group| $body),
            (_, false) => with_group!(@ $simd, walk, start, GROUP, false, |$group| $body),
            (1, true) => with_group!(@ $simd, walk, start, 1, true, |$group| $body),
            (2, true) => with_group!(@ $simd, walk, start, 2, true, |$group| $body),
            (3, true) => with_group!(@ $simd, walk, start, 3, true, |$group| $body),
            (_, true) => with_group!(@ $simd, walk, start, GROUP, true, |$group| $body),
        }
    }};
    (@ $simd:expr, $walk:expr, $start:expr, $columns:expr, $double:expr, |$group:ident| $body:expr) => {{
        let $group = Group::<_, { $columns }, { $double }>::new($simd, $walk, $start);
        $body
    }};
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
        let kept = 1 + in_vectors + high;
        let mut sums = vec![CompensatedLanes::zero(simd); size * kept];
        let mut sizes = vec![zero; size.div_ceil(GROUP)];
        // The products of the sums of the first group, of the first two, and so on.
        let mut before = vec![Patterns::ZERO; sizes.len() - 1];
        let mut behind;
        let mut cells = vec![Patterns::ZERO; size];
        let mut totals = vec![zero; size];
        let mut run_sums = vec![zero; size * in_run];
        let mut pending = run_sums.clone();
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
            run_sums.fill(zero);
            for step in run..run + (1 << in_run) {
                let outset = if step % 2 == 0 { &even } else { &odd };
                behind = Patterns([1.0; PATTERNS]);
                for group in 0..sizes.len() - 1 {
                    let (known, next) = before.split_at_mut(group);
                    let known = known.last().unwrap_or(outset).vectors::<S>();
                    let next = next[0].vectors_mut::<S>();
                    with_group!(simd, &walk, group * GROUP, |group| group.forth(known, next));
                }
                for group in (0..sizes.len()).rev() {
                    let start = group * GROUP;
                    let known = before[..group].last().unwrap_or(outset).vectors::<S>();
                    let cells = &mut cells[start..];
                    let size_of_group = &mut sizes[group];
                    let behind = behind.vectors_mut::<S>();
                    let totals = &mut totals[start..];
                    with_group!(simd, &walk, start, |group| {
                        group.back(known, behind, cells, totals, size_of_group)
                    });
                }
                // Bit b of the Gray code stays in 2^b steps, so that their sum will do. The last of them knows it.
                for bit in 0..in_run {
                    let sign = simd.splat_f64s(sign(gray(step) & 1 << bit));
                    let complete = step & 1 << bit != 0;
                    let sums = &mut run_sums[bit * size..][..size];
                    let pending = &mut pending[bit * size..][..size];
                    for column in 0..size {
                        let total = totals[column];
                        sums[column] = simd.add_f64s(sums[column], simd.mul_f64s(sign, total));
                        if complete {
                            totals[column] = simd.add_f64s(pending[column], total);
                        } else {
                            pending[column] = total;
                        }
                    }
                    if !complete {
                        break;
                    }
                }
                walk.go_on(step);
            }
            for column in 0..size {
                let sums = &mut sums[column * kept..][..kept];
                let cells = cells[column].vectors_mut::<S>();
                for (bit, sum) in sums[1..][..in_vectors].iter_mut().enumerate() {
                    let mut of_run = zero;
                    for vector in 0..vectors >> (bit + 1) {
                        let (plus, minus) = (cells[2 * vector], cells[2 * vector + 1]);
                        of_run = simd.add_f64s(of_run, simd.sub_f64s(plus, minus));
                        cells[vector] = simd.add_f64s(plus, minus);
                    }
                    sum.add(simd, of_run);
                }
                let total = cells[0];
                sums[0].add(simd, total);
                for (bit, sum) in sums[1 + in_vectors..].iter_mut().enumerate() {
                    let of_run = if bit < in_run {
                        run_sums[bit * size + column]
                    } else {
                        simd.mul_f64s(simd.splat_f64s(sign(gray(run) & 1 << bit)), total)
                    };
                    sum.add(simd, of_run);
                }
            }
        }
        let mut minors = Vec::with_capacity(size * size);
        for sums in sums.chunks(kept) {
            minors.push(sums[0].across::<S>(0));
            minors.extend((0..in_lanes).map(|bit| sums[0].across::<S>(1 << bit)));
            minors.extend(sums[1..].iter().map(|sum| sum.across::<S>(0)));
        }
        Ok(PartOfMinors {
            minors,
            absolute: sizes.iter().map(|&size| lanes::<S>(size).iter().sum()).collect(),
            roundings: ((1 << in_run) + vectors) as f64,
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
    let mut absolute = vec![0.0; signs.size.div_ceil(GROUP)];
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
        let group = place / GROUP;
        let others = (group * GROUP..((group + 1) * GROUP).min(signs.size)).filter(|&other| other != place);
        let at_most = signs.mean(absolute[group]) * others.map(|other| signs.sums[other]).product::<f64>();
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
    // p' - p, where p' = x'/y' and p = x/y, is (x' - x - p'(y' - y)) / y, and p' is no more than 1.
    let tiny = scaled.underflow();
    let share_error = ((off + error + 2.0 * tiny) / (value - error - tiny) + 2.0 * UNIT) * SLACK;
    let share_error = if value > error + tiny { share_error } else { 1.0 };
    let (cells, error) = shares(cells, value, share_error);
    Ok((known, cells, error))
}
