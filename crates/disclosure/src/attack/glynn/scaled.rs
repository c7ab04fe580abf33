//! A block with its columns multiplied by powers of two, and arithmetic with powers of two.

use super::super::Matrix;
use super::{Bounded, PATTERNS, SLACK};

/// Returns 2^`exponent`, for an exponent from -1022 to 1023.
pub(super) fn power(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Returns the exponent of the smallest power of two above a positive number, but at least -1022 and at most
/// 1022, so that the power can be inverted. So for numbers from 2^1022 on, the power is not above the number.
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

/// A block whose columns are multiplied by powers of two, so that each sums to a number between ½ and 1.
pub(super) struct Scaled {
    pub size: usize,
    /// All weights, column by column.
    pub weights: Vec<f64>,
    /// Sum of every column; 0 if the column is empty.
    pub sums: Vec<f64>,
    /// Exponent of the power of two by which scaling divided the permanent.
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
            // Scale by the largest weight first, because the sum might be too large for a double.
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

    /// Returns a bound on the total error by underflow in a calculation in which no number is more than 1.
    pub fn underflow(&self) -> f64 {
        let operations =
            2.0 * (self.size * self.size) as f64 * (self.size as f64).exp2().min(PATTERNS as f64 * 2.0);
        operations * f64::MIN_POSITIVE
    }

    /// Returns a scaled permanent and a bound on its error in the units of the matrix.
    pub fn unscale(&self, value: f64, error: f64) -> Bounded {
        let smallest = f64::from_bits(1);
        Bounded {
            value: times_power(value, self.exponent),
            error: times_power((error + self.underflow()) * SLACK, self.exponent) + 2.0 * smallest,
        }
    }
}
