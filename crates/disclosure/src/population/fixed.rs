//! Sums of floating-point numbers that do not depend on the order of their terms.

/// Bits of a sum, without its sign and one in reserve.
const BITS: i32 = 126;

/// Bounds of a unit's exponent, so that both powers of two are numbers. If all numbers are smaller than 2^-870, they lose
/// bits.
const EXPONENTS: (i32, i32) = (-1000, 1000);

/// Power of two of which all terms of a sum are taken as multiples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    per_one: f64,
    size: f64,
}

impl Unit {
    /// Returns the smallest unit in which `count` numbers add up without overflow, none of them greater than `largest`
    /// in absolute value. A term that has bits below the unit loses them. That is the case only if the term is 2^41
    /// times smaller than `largest` or there are more than 2^32 terms.
    pub fn new(largest: f64, count: u64) -> Self {
        let bits_of_count = (u64::BITS - count.leading_zeros()) as i32;
        Self::of_exponent(exponent(largest) + 1 + bits_of_count - BITS)
    }

    /// Returns the unit 2^exponent.
    pub fn of_exponent(exponent: i32) -> Self {
        let exponent = exponent.clamp(EXPONENTS.0, EXPONENTS.1);
        Unit {
            per_one: 2_f64.powi(-exponent),
            size: 2_f64.powi(exponent),
        }
    }

    /// Returns a number in units.
    #[inline]
    pub fn count(self, value: f64) -> i128 {
        (value * self.per_one) as i128
    }

    /// Returns the number that so many units make.
    pub fn value(self, units: i128) -> f64 {
        units as f64 * self.size
    }
}

/// Returns the sum of numbers, the same in any order. Its error is below 2^-60 of the largest of them.
pub(super) fn exact_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (mut largest, mut count) = (0.0_f64, 0);
    for value in values.clone() {
        largest = largest.max(value.abs());
        count += 1;
    }
    let unit = Unit::new(largest, count);
    unit.value(values.map(|value| unit.count(value)).sum())
}

/// Returns the e of the power of two 2^e that a number begins with.
fn exponent(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_exactly_in_any_order() {
        let mut values = [0.1, 1e9, -0.3, 12345.678, 1e-3, -1e9];
        let sum = exact_sum(values.iter().copied());
        assert!((sum - 12345.479).abs() < 1e-9);
        values.reverse();
        assert_eq!(exact_sum(values.iter().copied()), sum);
        assert_eq!(exact_sum(std::iter::empty()), 0.0);
    }

    #[test]
    fn large_and_small_numbers_neither_overflow_nor_vanish() {
        for value in [1e-250, 1.0, f64::MAX / 4.0] {
            let unit = Unit::new(value, 3);
            assert_eq!(unit.value(3 * unit.count(value)), 3.0 * value);
        }
    }
}
