//! Sort keys: `u64` numbers in the order of integers, floats or decimals, so that columns of any kind of
//! number are sorted by the same code. Keys of different kinds cannot be compared.

/// Key of zero; the keys of negative numbers are below it.
const ZERO: u64 = 1 << 63;

/// Returns the key of an integer.
pub fn of_integer(number: i64) -> u64 {
    number as u64 ^ ZERO
}

/// Returns the key of a float. All zeros are equal. All NaNs are equal and above all numbers.
pub fn of_float(number: f64) -> u64 {
    let bits = number.to_bits();
    match number {
        0.0 => ZERO,
        number if number.is_nan() => u64::MAX,
        number if number.is_sign_negative() => !bits,
        _ => bits | ZERO,
    }
}

/// Key of a decimal number that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Special {
    /// Below all numbers.
    NegativeInfinity = 0,
    /// Above all numbers.
    Infinity = u64::MAX - 1,
    /// Above infinity.
    NaN = u64::MAX,
}

/// Returns the key of a decimal number; `None` if it has too many digits for a key, or too large or small a
/// power. The number is given by its digits in base 10,000 and by the power of 10,000 of the first digit. The
/// first and the last digit are not 0; zero has no digits.
///
/// The key has one bit for the sign, seven for the power and 56 for four digits.
pub fn of_decimal(is_negative: bool, power: i16, digits: impl ExactSizeIterator<Item = u16>) -> Option<u64> {
    const DIGITS: usize = 4;
    const POWERS: std::ops::RangeInclusive<i16> = -60..=60;
    if digits.len() == 0 {
        return Some(ZERO);
    }
    if digits.len() > DIGITS || !POWERS.contains(&power) {
        return None;
    }
    let digits = digits.chain(std::iter::repeat(0)).take(DIGITS);
    let above_lowest = u64::try_from(power - POWERS.start() + 1).ok()?;
    let magnitude = digits.fold(above_lowest, |key, digit| key << 14 | u64::from(digit));
    Some(if is_negative {
        !(ZERO | magnitude)
    } else {
        ZERO | magnitude
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use std::cmp::Ordering;

    /// Returns the key of a number given in ten-thousandths.
    fn of_ten_thousandths(number: i64) -> Option<u64> {
        let (mut digits, mut rest) = (Vec::new(), number.unsigned_abs());
        while rest > 0 {
            digits.push((rest % 10_000) as u16);
            rest /= 10_000;
        }
        let power = digits.len() as i16 - 2;
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        of_decimal(number < 0, power, digits[zeros..].iter().rev().copied())
    }

    #[test]
    fn special_values_are_at_the_ends() {
        let lowest = of_decimal(true, 60, [9_999; 4].into_iter()).unwrap();
        let highest = of_decimal(false, 60, [9_999; 4].into_iter()).unwrap();
        assert!((Special::NegativeInfinity as u64) < lowest && lowest < highest);
        assert!(highest < Special::Infinity as u64 && Special::Infinity as u64 + 1 == Special::NaN as u64);
        assert!(of_float(f64::INFINITY) < of_float(f64::NAN));
        assert!(of_float(f64::NEG_INFINITY) < of_float(f64::MIN));
        assert_eq!(of_float(-f64::NAN), of_float(f64::NAN));
        assert_eq!(of_float(-0.0), of_float(0.0));
    }

    #[test]
    fn decimals_that_do_not_fit_have_no_key() {
        assert_eq!(of_decimal(false, 0, [1; 5].into_iter()), None);
        assert_eq!(of_decimal(false, 61, [1].into_iter()), None);
        assert_eq!(of_decimal(true, -61, [1].into_iter()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn integers_are_in_order(one: i64, other: i64) {
            prop_assert_eq!(of_integer(one).cmp(&of_integer(other)), one.cmp(&other));
        }

        #[test]
        fn floats_are_in_order(one: f64, other: f64) {
            let order = one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()));
            prop_assert_eq!(of_float(one).cmp(&of_float(other)), order);
        }

        #[test]
        fn decimals_are_in_order(
            one in -1_000_000_000_000i64..1_000_000_000_000, divisor in 1i64..1_000_000_000_000, other: i32,
        ) {
            let numbers = [one, one / divisor, i64::from(other), i64::from(other) * 10_000];
            for (one, other) in numbers.iter().flat_map(|one| numbers.iter().map(move |other| (*one, *other))) {
                let keys = (of_ten_thousandths(one).unwrap(), of_ten_thousandths(other).unwrap());
                prop_assert_eq!(keys.0.cmp(&keys.1), one.cmp(&other));
            }
            let zero = of_ten_thousandths(0).unwrap().cmp(&of_ten_thousandths(one).unwrap());
            prop_assert_eq!(zero == Ordering::Equal, one == 0);
        }
    }
}
