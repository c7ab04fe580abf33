//! Permanents of all minors, and the probabilities of edges that follow from them.
//!
//! For every term of Glynn's formula, `group` computes the products of all sums but one. They are added up
//! with the sign of each row: those of rows 1 to [`LOW`] differ between patterns, those of the next rows
//! between the steps of a run, and those of the others between runs.

use super::compensated::{Compensated, CompensatedLanes, CompensatedRow, add_signed};
use super::group::{Group, with_group};
use super::lanes::{Patterns, add_absolute, lanes, sign};
use super::prepared::{PreparedBlock, gray};
use super::scaled::Scaled;
use super::walk::Walk;
use super::{Bounded, GROUP, LOW, PATTERNS, SLACK, UNIT, VECTORS_PER_BATCH, divide_by_permanent};
use crate::{Control, Result};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// Number of high signs that change within a run of steps, whose minors are added without compensation; at
/// most [`LOW`].
const RUN: usize = 6;

/// Computation of the sums of terms without one of their factors, over a range of steps.
struct SumOfMinors<'a> {
    prepared: &'a PreparedBlock,
    steps: Range<u64>,
    control: &'a Control,
}

struct PartOfMinors {
    /// Sum for every row, column by column.
    minors: Vec<Compensated>,
    /// For either half of the columns, the sum of the absolute products of all sums in the other half.
    absolute: [f64; 2],
    /// Number of roundings of a product while products are added without compensation.
    roundings: f64,
}

/// Returns the number of columns in the first half, which consists of whole groups.
fn first_half(size: usize) -> usize {
    size.div_ceil(GROUP) / 2 * GROUP
}

impl WithSimd for SumOfMinors<'_> {
    type Output = Result<PartOfMinors>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let PreparedBlock { size, high, .. } = *self.prepared;
        let zero = simd.splat_f64s(0.0);
        let vectors = PATTERNS / S::F64_LANES;
        // The signs of rows 1 to LOW differ between the lanes of a vector, or between vectors.
        let in_lanes = S::F64_LANES.trailing_zeros() as usize;
        let in_vectors = LOW - in_lanes;
        // Number of high signs that change within a run.
        let in_run = high.min(RUN);
        let mut low_sums = vec![CompensatedLanes::zero(simd); size * (1 + in_vectors)];
        let mut run_sums = vec![CompensatedLanes::zero(simd); size * (1 + in_vectors)];
        let mut high_sums = vec![CompensatedRow::new(size); high - in_run];
        let mut totals = vec![0.0; size];
        let groups = size.div_ceil(GROUP);
        let half = first_half(size) / GROUP;
        let mut absolute = [zero; 2];
        // Products of the sums of the first group, of the first two groups, and so on.
        let mut before = vec![Patterns::ZERO; groups - 1];
        let mut behind = Patterns::ZERO;
        let mut cells = vec![Patterns::ZERO; size];
        // For every column and step of a run, the sum over all patterns, as if the signs that change within
        // the run were those of a pattern.
        let mut of_steps = cells.clone();
        // The number of bits in a Gray code is odd in every other step.
        let mut even = Patterns::ZERO;
        for (pattern, product) in even.0.iter_mut().enumerate() {
            *product = sign(pattern as u64);
        }
        let odd = Patterns(even.0.map(|product| -product));
        let mut walk = Walk::new(self.prepared, self.steps.start);
        for run in self.steps.step_by(1 << in_run) {
            self.control.check()?;
            cells.fill(Patterns::ZERO);
            for step in run..run + (1 << in_run) {
                let pattern_signs = if step % 2 == 0 { &even } else { &odd };
                for batch in 0..vectors / VECTORS_PER_BATCH {
                    let of_batch = batch * VECTORS_PER_BATCH..(batch + 1) * VECTORS_PER_BATCH;
                    let mut products = [zero; VECTORS_PER_BATCH];
                    products.copy_from_slice(&pattern_signs.vectors::<S>()[of_batch.clone()]);
                    for (group, before) in before.iter_mut().enumerate() {
                        let columns = group * GROUP..(group + 1) * GROUP;
                        walk.multiply(simd, columns, batch, &mut products);
                        before.vectors_mut::<S>()[of_batch.clone()].copy_from_slice(&products);
                    }
                }
                add_absolute(simd, before[half - 1].vectors::<S>(), &mut absolute[1]);
                for group in (0..groups).rev() {
                    let start = group * GROUP;
                    let known = before[..group].last().unwrap_or(pattern_signs).vectors::<S>();
                    let cells = &mut cells[start..];
                    let behind = behind.vectors_mut::<S>();
                    let of_steps = &mut of_steps[start..];
                    let step_in_run = (gray(step) % (1 << in_run)) as usize;
                    with_group!(simd, &walk, start, |group| {
                        group.products_without_one(known, behind, cells, of_steps, step_in_run)
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

pub(super) fn edges_by_signs(scaled: &Scaled, control: &Control) -> Result<(Bounded, Vec<f64>, f64)> {
    let nothing = || vec![0.0; scaled.weights.len()];
    if scaled.sums.contains(&0.0) {
        return Ok((scaled.unscale(0.0, 0.0), nothing(), 1.0));
    }
    let prepared = PreparedBlock::new(scaled);
    let parts = prepared.in_chunks(|steps| {
        Arch::new().dispatch(SumOfMinors {
            prepared: &prepared,
            steps,
            control,
        })
    })?;
    let mut minors = vec![Compensated::default(); scaled.weights.len()];
    let mut absolute = [0.0; 2];
    let mut roundings = prepared.product_roundings() + prepared.carry_roundings();
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
    // Bound on the error of a weight times its minor; and the permanent, from the column with the smallest
    // error bound.
    let mut largest_error = 0.0_f64;
    let (mut value, mut error) = (0.0, f64::INFINITY);
    for (place, &column) in prepared.order.iter().enumerate() {
        let sum = prepared.sum_bounds[place];
        let first = first_half(prepared.size);
        let (half, of_half) = if place < first {
            (0, 0..first)
        } else {
            (1, first..prepared.size)
        };
        let others = of_half
            .filter(|&other| other != place)
            .map(|other| prepared.sum_bounds[other]);
        let at_most = prepared.mean(absolute[half]) * others.product::<f64>();
        let rounding = roundings * UNIT * at_most;
        let (mut of_column, mut of_column_error) = (0.0, 0.0);
        for (row, weight) in scaled.column(column).iter().enumerate() {
            let minor = prepared.mean(minors[place * prepared.size + row].total());
            let rounding = rounding + UNIT * minor.abs();
            let minor_error = rounding
                + (minor.abs() + rounding) * prepared.sum_of_epsilons.exp_m1()
                + prepared.two_word_error / sum;
            let minor = minor.max(0.0);
            let through = weight * minor;
            cells[scaled.cell(row, column)] = through;
            of_column += through;
            let through_error = weight * minor_error + UNIT * through;
            largest_error = largest_error.max(through_error);
            of_column_error += through_error + prepared.size as f64 * UNIT * through;
        }
        if of_column_error < error {
            (value, error) = (of_column, of_column_error);
        }
    }
    let known = scaled.unscale(value, error);
    // p' - p, where p' = x'/y' and p = x/y, is (x' - x - p(y' - y)) / y', and p is at most 1.
    let share_error = ((largest_error + error + 2.0 * scaled.underflow()) / value + 2.0 * UNIT) * SLACK;
    let (cells, error) = divide_by_permanent(cells, value, share_error);
    Ok((known, cells, error))
}
