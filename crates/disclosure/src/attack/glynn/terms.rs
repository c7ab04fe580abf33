//! The permanent as the sum of all terms of Glynn's formula.

use super::compensated::{Compensated, CompensatedLanes};
use super::lanes::{absolute, lanes, sign};
use super::prepared::{PreparedBlock, gray};
use super::scaled::Scaled;
use super::walk::Walk;
use super::{Bounded, PATTERNS, UNIT, VECTORS_PER_BATCH};
use crate::{Control, Result};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// Number of steps between two checks for cancellation: a fraction of a millisecond of work.
const STEPS_PER_CHECK: u64 = 1 << 10;

/// Computation of the sum of the terms of a range of steps.
struct SumOfTerms<'a> {
    prepared: &'a PreparedBlock,
    steps: Range<u64>,
    control: &'a Control,
}

struct PartOfTerms {
    terms: Compensated,
    /// Sum of the absolute values of the terms.
    absolute: f64,
    /// Number of roundings of a term while terms are added without compensation.
    roundings: f64,
}

impl WithSimd for SumOfTerms<'_> {
    type Output = Result<PartOfTerms>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let prepared = self.prepared;
        let batches = PATTERNS / S::F64_LANES / VECTORS_PER_BATCH;
        let mut terms = CompensatedLanes::zero(simd);
        let mut sizes = simd.splat_f64s(0.0);
        let mut walk = Walk::new(prepared, self.steps.start);
        for step in self.steps {
            if step % STEPS_PER_CHECK == 0 {
                self.control.check()?;
            }
            let mut of_step = simd.splat_f64s(0.0);
            for batch in 0..batches {
                let mut products = [simd.splat_f64s(1.0); VECTORS_PER_BATCH];
                walk.multiply(simd, 0..prepared.size, batch, &mut products);
                let [a, b, c, d, e, f, g, h] = products;
                // Subtract patterns with an odd number of bits. This covers the bits of the vector's number;
                // the signs of lanes are applied at the end.
                let left = simd.add_f64s(simd.sub_f64s(a, b), simd.sub_f64s(d, c));
                let right = simd.add_f64s(simd.sub_f64s(f, e), simd.sub_f64s(g, h));
                let of_batch = simd.add_f64s(left, right);
                let sign_of_batch = simd.splat_f64s(sign(batch as u64));
                of_step = simd.add_f64s(of_step, simd.mul_f64s(of_batch, sign_of_batch));
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
            roundings: 3.0 + batches as f64,
        })
    }
}

pub(super) fn permanent_by_signs(scaled: &Scaled, control: &Control) -> Result<Bounded> {
    if scaled.sums.contains(&0.0) {
        return Ok(scaled.unscale(0.0, 0.0));
    }
    let prepared = PreparedBlock::new(scaled);
    let parts = prepared.in_chunks(|steps| {
        Arch::new().dispatch(SumOfTerms {
            prepared: &prepared,
            steps,
            control,
        })
    })?;
    let mut terms = Compensated::default();
    let mut absolute = 0.0;
    let mut roundings = prepared.product_roundings() + prepared.carry_roundings();
    for part in &parts {
        terms.merge(part.terms);
        absolute += part.absolute;
    }
    roundings += parts.iter().map(|part| part.roundings).fold(0.0, f64::max);
    let value = prepared.mean(terms.total());
    let rounding = UNIT * (roundings * prepared.mean(absolute) + value.abs());
    let error =
        rounding + (value.abs() + rounding) * prepared.sum_of_epsilons.exp_m1() + prepared.two_word_error;
    // The permanent cannot be negative, so zero is closer to it than a negative value.
    Ok(scaled.unscale(value.max(0.0), error))
}
