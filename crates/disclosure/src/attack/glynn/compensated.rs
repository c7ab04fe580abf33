//! Compensated sums, which keep track of their rounding errors: of single numbers, of every lane of a vector,
//! and of every column.

use super::lanes::{lanes, sign};
use pulp::Simd;

/// Compensated sum: the rounding error of every addition goes into `carry`, by two-sum (Knuth 1969, section
/// 4.2.2).
#[derive(Clone, Copy, Default)]
pub(super) struct Compensated {
    pub value: f64,
    pub carry: f64,
}

impl Compensated {
    #[inline(always)]
    pub fn add(&mut self, other: f64) {
        let sum = self.value + other;
        let added = sum - self.value;
        self.carry += (self.value - (sum - added)) + (other - added);
        self.value = sum;
    }

    pub fn merge(&mut self, other: Compensated) {
        self.add(other.value);
        self.carry += other.carry;
    }

    pub fn total(self) -> f64 {
        self.value + self.carry
    }
}

/// Compensated sum in every lane of a vector.
#[derive(Clone, Copy)]
pub(super) struct CompensatedLanes<V> {
    value: V,
    carry: V,
}

impl<V: Copy> CompensatedLanes<V> {
    #[inline(always)]
    pub fn zero<S: Simd<f64s = V>>(simd: S) -> Self {
        let zero = simd.splat_f64s(0.0);
        CompensatedLanes {
            value: zero,
            carry: zero,
        }
    }

    #[inline(always)]
    pub fn add<S: Simd<f64s = V>>(&mut self, simd: S, other: V) {
        let sum = simd.add_f64s(self.value, other);
        let added = simd.sub_f64s(sum, self.value);
        let lost = simd.add_f64s(
            simd.sub_f64s(self.value, simd.sub_f64s(sum, added)),
            simd.sub_f64s(other, added),
        );
        self.carry = simd.add_f64s(self.carry, lost);
        self.value = sum;
    }

    /// Returns the sum of all lanes, with the lanes subtracted whose number has an odd number of bits in
    /// `mask`.
    #[inline(always)]
    pub fn across<S: Simd<f64s = V>>(self, mask: usize) -> Compensated {
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

/// Compensated sum for every column.
#[derive(Clone)]
pub(super) struct CompensatedRow {
    values: Vec<f64>,
    carries: Vec<f64>,
}

impl CompensatedRow {
    pub fn new(columns: usize) -> Self {
        CompensatedRow {
            values: vec![0.0; columns],
            carries: vec![0.0; columns],
        }
    }

    #[inline(always)]
    pub fn add_times(&mut self, others: &[f64], sign: f64) {
        for ((value, carry), other) in self.values.iter_mut().zip(&mut self.carries).zip(others) {
            let mut sum = Compensated {
                value: *value,
                carry: *carry,
            };
            sum.add(sign * other);
            (*value, *carry) = (sum.value, sum.carry);
        }
    }

    pub fn column(&self, column: usize) -> Compensated {
        Compensated {
            value: self.values[column],
            carry: self.carries[column],
        }
    }
}

/// Adds the sum of the vectors to `sums[0]`, and to `sums[1 + b]` the sum in which the vectors with bit b in
/// their number are subtracted. Leaves the plain sum in the first vector, and meaningless values in the
/// others.
#[inline(always)]
pub(super) fn add_signed<S: Simd>(simd: S, vectors: &mut [S::f64s], sums: &mut [CompensatedLanes<S::f64s>]) {
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
