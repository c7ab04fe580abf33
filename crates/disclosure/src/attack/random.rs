use super::Matrix;
use super::scale::scaled_from_logs;
use crate::{Control, Error, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Largest size: a larger matrix would take more than a gigabyte during the computation.
const MAX_SIZE: usize = 5000;

/// Returns a random doubly stochastic matrix: independent weights, uniform between 0 and 1, are raised to the
/// power `unevenness` and normalised. The larger that power, the more certain the adversary.
pub fn random_attack(size: usize, unevenness: f64, seed: u64, control: &Control) -> Result<Matrix> {
    if !(1..=MAX_SIZE).contains(&size) {
        return Err(Error::invalid(
            "size",
            format!("must be between 1 and {MAX_SIZE}"),
            "a number of entries, such as 5",
        ));
    }
    if !(unevenness >= 0.0 && unevenness.is_finite()) {
        return Err(Error::invalid(
            "unevenness",
            "must be a finite number of at least 0",
            "the power to which uniform weights are raised, such as 1",
        ));
    }
    // Memory for the pattern, the logarithms and the scaled weights.
    control.require::<((u32, f64), f64, f64)>(size * size)?;
    let row = || (0..size as u32).map(|column| (column, 1.0));
    let pattern = Matrix::from_rows(size, (0..size).map(|_| row()), control)?;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut logs = Vec::with_capacity(size * size);
    for _ in 0..size {
        control.check()?;
        // Use logarithms, because powers may be too small for a double. No weight is zero.
        logs.extend((0..size).map(|_| unevenness * (1.0 - random.random::<f64>()).ln()));
    }
    let weights = scaled_from_logs(&pattern, logs, control)?;
    Ok(pattern.replace_weights(weights))
}
