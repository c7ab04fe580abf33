use super::spread::{finite, standard_deviation};
use crate::{Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Additive noise: every value plus a normally distributed number, whose standard deviation is a share of
/// that of the values. Absent values stay absent. The same seed draws the same noise.
pub fn add_noise(values: &[Option<f64>], share: f64, seed: u64) -> Result<Vec<Option<f64>>> {
    if !(share >= 0.0 && share.is_finite()) {
        return Err(Error::invalid(
            "share",
            "must not be negative or infinite",
            "a share of the standard deviation of the values, such as 0.1",
        ));
    }
    let deviation = share * standard_deviation(&finite(values)?);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut noisy = |value: f64| value + deviation * normal(&mut random);
    Ok(values.iter().map(|value| value.map(&mut noisy)).collect())
}

/// A draw from the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut impl Rng) -> f64 {
    let (above_zero, turn) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * above_zero.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}
