use super::moments::Moments;
use crate::{Error, Result};

/// The power of two next to the largest magnitude, from below. Division by it changes no digit and leaves
/// numbers whose squares do not overflow.
pub(super) fn unit(values: &[f64]) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    let largest = values
        .iter()
        .fold(0.0, |largest, value| f64::max(largest, value.abs()));
    f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

/// The square root of the mean squared difference from the mean; 0 without values.
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    let unit = unit(values);
    let alone = values.iter().map(|value| Moments::equal(value / unit, 1));
    let variance = alone.fold(Moments::default(), Moments::and).variance();
    variance.map_or(0.0, |variance| variance.sqrt() * unit)
}

/// The square root of the mean square; there is a value at least.
pub(super) fn root_mean_square(values: &[f64]) -> f64 {
    let unit = unit(values);
    let squares = values.iter().map(|value| (value / unit) * (value / unit));
    (squares.sum::<f64>() / values.len() as f64).sqrt() * unit
}

/// The values that are present, which must be finite.
pub(super) fn finite(values: &[Option<f64>]) -> Result<Vec<f64>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    if present.iter().all(|value| value.is_finite()) {
        return Ok(present);
    }
    Err(Error::invalid(
        "value",
        "must not be infinite and must be numbers",
        "finite numbers, and absent values",
    ))
}
