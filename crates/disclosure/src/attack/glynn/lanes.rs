//! Vectors of numbers, and tables with a number for every pattern of low signs.

use super::{PATTERNS, VECTORS_PER_BATCH};
use pulp::Simd;

#[inline(always)]
pub(super) fn lanes<S: Simd>(vector: S::f64s) -> [f64; PATTERNS] {
    let mut lanes = [0.0; PATTERNS];
    S::as_mut_simd_f64s(&mut lanes).0[0] = vector;
    lanes
}

#[inline(always)]
pub(super) fn absolute<S: Simd>(simd: S, vector: S::f64s) -> S::f64s {
    simd.and_f64s(vector, simd.splat_f64s(f64::from_bits(u64::MAX >> 1)))
}

/// Returns the product of signs, of which those are negative whose bit in `minus` is set.
#[inline(always)]
pub(super) fn sign(minus: u64) -> f64 {
    if minus.count_ones().is_multiple_of(2) {
        1.0
    } else {
        -1.0
    }
}

/// One number for every pattern of low signs, aligned to a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Patterns(pub [f64; PATTERNS]);

impl Patterns {
    pub const ZERO: Patterns = Patterns([0.0; PATTERNS]);

    #[inline(always)]
    pub fn vectors<S: Simd>(&self) -> &[S::f64s] {
        S::as_simd_f64s(&self.0).0
    }

    #[inline(always)]
    pub fn batch<S: Simd>(&self, batch: usize) -> &[S::f64s; VECTORS_PER_BATCH] {
        &self.vectors::<S>().as_chunks().0[batch]
    }

    #[inline(always)]
    pub fn vectors_mut<S: Simd>(&mut self) -> &mut [S::f64s] {
        S::as_mut_simd_f64s(&mut self.0).0
    }
}

/// Adds the absolute values of some vectors to a sum.
#[inline(always)]
pub(super) fn add_absolute<S: Simd>(simd: S, vectors: &[S::f64s], sum: &mut S::f64s) {
    for &vector in vectors {
        *sum = simd.add_f64s(*sum, absolute(simd, vector));
    }
}
