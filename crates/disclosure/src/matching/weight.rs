//! Number types for counts of matchings and sums over them: doubles while their range suffices, and otherwise
//! [`Wide`], a double with an extended exponent.

/// A non-negative number for sums of products that may span hundreds of thousands of powers of ten: sixteen
/// thousand items have more than 10^38000 matchings.
pub(crate) trait Weight: Copy + Default + Send + Sync {
    fn from_f64(value: f64) -> Self;
    fn times(self, other: Self) -> Self;
    fn add(&mut self, other: Self);
    fn is_zero(self) -> bool;
    fn ln(self) -> f64;
    /// Largest pool whose factorials the type can hold.
    const MAX_POOL: u32;
    /// Returns whether numbers between `smallest` and 1 can be multiplied with each other and added without
    /// loss.
    fn can_hold(smallest: Self) -> bool;
    /// Returns 1 divided by this number, which must not be zero.
    fn inverse(self) -> Self;
    fn is_less(self, other: Self) -> bool;
    /// Returns this number divided by `other`, which must not be zero; infinite or zero only if a double
    /// cannot hold the result.
    fn divided_by(self, other: Self) -> f64;
}

/// Fast, and sufficient as long as nothing comes near the ends of its range.
impl Weight for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline]
    fn add(&mut self, other: Self) {
        *self += other;
    }

    #[inline]
    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn ln(self) -> f64 {
        f64::ln(self)
    }

    const MAX_POOL: u32 = 100;

    fn can_hold(smallest: Self) -> bool {
        // Below 1e-307 a double loses digits. At most two such numbers are multiplied, and one step divides
        // by the factorials of what the pools take. Together these are at most the largest pool's 100! <
        // 1e158.
        smallest > 1e-120
    }

    fn inverse(self) -> Self {
        1.0 / self
    }

    fn is_less(self, other: Self) -> bool {
        self < other
    }

    fn divided_by(self, other: Self) -> f64 {
        self / other
    }
}

/// A double with an extended exponent, for any range: `mantissa` · 2^(512·`power`).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Wide {
    /// 0, or between 2^-256 and 2^256, so that the product of two does not leave the range of a double.
    mantissa: f64,
    power: i32,
}

/// 2^256, exactly.
const LARGE: f64 = f64::from_bits((1023 + 256) << 52);

/// 2^512, exactly.
const STEP: f64 = f64::from_bits((1023 + 512) << 52);

impl Wide {
    #[inline]
    fn normalised(mut self) -> Self {
        if self.mantissa >= LARGE {
            self.mantissa /= STEP;
            self.power += 1;
        } else if self.mantissa < 1.0 / LARGE {
            if self.mantissa == 0.0 {
                return Wide::default();
            }
            self.mantissa *= STEP;
            self.power -= 1;
        }
        self
    }

    /// Returns this number times 2^`exponent`, without rounding.
    pub fn times_power_of_two(self, exponent: i64) -> Self {
        if self.mantissa == 0.0 {
            return self;
        }
        // The remainder is below 512, so that adding 1023 gives a valid exponent of a double.
        let within = f64::from_bits((exponent.rem_euclid(512) as u64 + 1023) << 52);
        Wide {
            mantissa: self.mantissa * within,
            power: self.power + exponent.div_euclid(512) as i32,
        }
        .normalised()
    }

    /// Returns e^`ln`.
    pub fn exp(ln: f64) -> Self {
        if ln == f64::NEG_INFINITY {
            return Wide::default();
        }
        let exponent = (ln / std::f64::consts::LN_2).round();
        let mantissa = (ln - exponent * std::f64::consts::LN_2).exp();
        Wide::from_f64(mantissa).times_power_of_two(exponent as i64)
    }
}

impl Weight for Wide {
    fn from_f64(value: f64) -> Self {
        let mut wide = Wide {
            mantissa: value,
            power: 0,
        };
        // Normalise twice, because the exponents of doubles reach from -1074 to 1023.
        for _ in 0..2 {
            wide = wide.normalised();
        }
        wide
    }

    #[inline]
    fn times(self, other: Self) -> Self {
        Wide {
            mantissa: self.mantissa * other.mantissa,
            power: self.power + other.power,
        }
        .normalised()
    }

    #[inline]
    fn add(&mut self, other: Self) {
        let (small, large) = match self.power.cmp(&other.power) {
            std::cmp::Ordering::Equal => {
                self.mantissa += other.mantissa;
                *self = self.normalised();
                return;
            }
            // The power of 0 has no meaning.
            _ if self.mantissa == 0.0 => return *self = other,
            _ if other.mantissa == 0.0 => return,
            std::cmp::Ordering::Less => (*self, other),
            std::cmp::Ordering::Greater => (other, *self),
        };
        *self = large;
        if large.power - small.power == 1 {
            self.mantissa += small.mantissa / STEP;
            *self = self.normalised();
        }
    }

    #[inline]
    fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    fn ln(self) -> f64 {
        self.mantissa.ln() + f64::from(self.power) * STEP.ln()
    }

    const MAX_POOL: u32 = u32::MAX;

    fn can_hold(_: Self) -> bool {
        true
    }

    fn inverse(self) -> Self {
        Wide {
            mantissa: 1.0 / self.mantissa,
            power: -self.power,
        }
        .normalised()
    }

    fn is_less(self, other: Self) -> bool {
        match (self.is_zero(), other.is_zero()) {
            (true, _) | (_, true) => self.mantissa < other.mantissa,
            _ => (self.power, self.mantissa) < (other.power, other.mantissa),
        }
    }

    fn divided_by(self, other: Self) -> f64 {
        let quotient = self.mantissa / other.mantissa;
        // Multiply one factor at a time, because a power of `STEP` may be out of range even if the result is
        // not.
        match self.power - other.power {
            0 => quotient,
            1 => quotient * STEP,
            2 => quotient * STEP * STEP,
            3 => quotient * STEP * STEP * STEP,
            -1 => quotient / STEP,
            -2 => quotient / STEP / STEP,
            -3 => quotient / STEP / STEP / STEP,
            positive if positive > 0 && !self.is_zero() => f64::INFINITY,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_hold_what_doubles_cannot() {
        // 2000! by multiplication, compared with Stirling's series.
        let mut factorial = Wide::from_f64(1.0);
        for n in 1..=2000 {
            factorial = factorial.times(Wide::from_f64(f64::from(n)));
        }
        assert!((factorial.ln() - 13206.524350513806).abs() < 1e-8);
        // Divide by the same factors again.
        for n in 1..=2000 {
            factorial = factorial.times(Wide::from_f64(1.0 / f64::from(n)));
        }
        assert!((factorial.divided_by(Wide::from_f64(1.0)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in [-700, -1, 0, 511, 512, 900] {
            let there = Wide::from_f64(0.3).times_power_of_two(exponent);
            assert_eq!(there.times_power_of_two(-exponent), Wide::from_f64(0.3));
        }
        assert_eq!(Wide::from_f64(3.0).times_power_of_two(4), Wide::from_f64(48.0));
        assert!((Wide::exp(13206.5).ln() - 13206.5).abs() < 1e-11);
    }

    #[test]
    fn doubles_of_any_size_come_back_as_they_were() {
        let ends = [f64::MAX, 1e308, 1e-300, f64::MIN_POSITIVE, 5e-324, 0.0];
        for value in ends
            .into_iter()
            .chain([1.0, LARGE, 1.0 / LARGE, STEP, 1.0 / STEP])
        {
            assert_eq!(Wide::from_f64(value).divided_by(Wide::from_f64(1.0)), value);
        }
        assert_eq!(
            Wide::from_f64(1e300)
                .times(Wide::from_f64(1e300))
                .divided_by(Wide::from_f64(1e299)),
            1e301
        );
        assert_eq!(
            Wide::from_f64(f64::MAX)
                .times(Wide::from_f64(2.0))
                .divided_by(Wide::from_f64(1.0)),
            f64::INFINITY
        );
        assert_eq!(
            Wide::from_f64(5e-324)
                .times(Wide::from_f64(0.1))
                .divided_by(Wide::from_f64(1.0)),
            0.0
        );
        assert_eq!(
            Wide::from_f64(f64::MAX).divided_by(Wide::from_f64(5e-324)),
            f64::INFINITY
        );
    }

    #[test]
    fn wide_numbers_add_across_powers() {
        let (small, large) = (Wide::from_f64(LARGE / 2.0), Wide::from_f64(LARGE * 2.0));
        for (mut a, b) in [(small, large), (large, small)] {
            a.add(b);
            assert_eq!(a.divided_by(small), 5.0);
        }
        let mut zero = Wide::default();
        zero.add(Wide::from_f64(1e-300));
        assert_eq!(zero, Wide::from_f64(1e-300));
        assert!(zero.is_less(small) && Wide::default().is_less(zero));
    }
}
