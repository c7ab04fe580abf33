//! The block, its columns multiplied by powers of two, and the arithmetic of these.

use super::super::Matrix;
use super::{Bounded, PATTERNS, SLACK};

/// 2 to the power, between -1022 and 1023.
pub(super) fn power(exponent: i64) -> f64 {
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
pub(super) struct Scaled {
    pub size: usize,
    /// Column by column.
    pub weights: Vec<f64>,
    /// Of every column: 0 where it is empty.
    pub sums: Vec<f64>,
    /// By which power of two the permanent has become smaller.
    exponent: i64,
}

impl Scaled {
    pub fn new(matrix: &Matrix) -> Self {
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

    pub fn cell(&self, row: usize, column: usize) -> usize {
        column * self.size + row
    }

    pub fn column(&self, column: usize) -> &[f64] {
        &self.weights[column * self.size..][..self.size]
    }

    /// What is too small for a double at any place of a calculation in which no number is more than 1.
    pub fn underflow(&self) -> f64 {
        let operations =
            2.0 * (self.size * self.size) as f64 * (self.size as f64).exp2().min(PATTERNS as f64 * 2.0);
        operations * f64::MIN_POSITIVE
    }

    /// In the units of the matrix.
    pub fn back(&self, value: f64, error: f64) -> Bounded {
        let smallest = f64::from_bits(1);
        Bounded {
            value: times_power(value, self.exponent),
            error: times_power((error + self.underflow()) * SLACK, self.exponent) + 2.0 * smallest,
        }
    }
}
