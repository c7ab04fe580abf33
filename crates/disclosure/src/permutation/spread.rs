use super::moments::Moments;
use crate::{Error, Result};

/// Returns the largest power of two that is not above the largest magnitude, but at least the smallest normal
/// number. Dividing by it changes no digit and leaves numbers whose squares do not overflow.
pub(super) fn power_of_two_below(values: &[f64]) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    let largest = values
        .iter()
        .fold(0.0, |largest, value| f64::max(largest, value.abs()));
    f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

/// Returns the square root of the mean squared difference from the mean; 0 without values.
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    let unit = power_of_two_below(values);
    let alone = values.iter().map(|value| Moments::of_equal(value / unit, 1));
    let variance = alone.fold(Moments::default(), Moments::merge).variance();
    variance.map_or(0.0, |variance| variance.sqrt() * unit)
}

/// Returns the square root of the mean square. There is at least one value.
pub(super) fn root_mean_square(values: &[f64]) -> f64 {
    let unit = power_of_two_below(values);
    let squares = values.iter().map(|value| (value / unit) * (value / unit));
    (squares.sum::<f64>() / values.len() as f64).sqrt() * unit
}

/// Returns the values that are present, or an error if one of them is not finite.
pub(super) fn present_and_finite(values: &[Option<f64>]) -> Result<Vec<f64>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    if present.iter().all(|value| value.is_finite()) {
        return Ok(present);
    }
    Err(Error::invalid(
        "value",
        "must be finite: infinity and NaN are not allowed",
        "finite numbers or NULL",
    ))
}
