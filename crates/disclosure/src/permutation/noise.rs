use super::spread::{present_and_finite, standard_deviation};
use crate::{Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Settings of [`add_noise`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseSettings {
    /// Standard deviation of the noise as a share of that of the values.
    pub share: f64,
    /// The same seed draws the same noise.
    pub seed: u64,
}

impl Default for NoiseSettings {
    fn default() -> Self {
        NoiseSettings { share: 0.1, seed: 1 }
    }
}

impl NoiseSettings {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        if self.share >= 0.0 && self.share.is_finite() {
            return Ok(());
        }
        Err(Error::invalid(
            "share",
            "must be a finite number of 0 or more",
            "a share of the standard deviation of the values, such as 0.1",
        ))
    }
}

/// Adds a normally distributed number to every value. Its standard deviation is a share of that of the
/// values. Absent values stay absent. The same seed draws the same noise.
pub fn add_noise(values: &[Option<f64>], settings: &NoiseSettings) -> Result<Vec<Option<f64>>> {
    settings.check()?;
    let deviation = settings.share * standard_deviation(&present_and_finite(values)?);
    let mut random = Pcg64Mcg::seed_from_u64(settings.seed);
    let mut noisy = |value: f64| value + deviation * normal(&mut random);
    Ok(values.iter().map(|value| value.map(&mut noisy)).collect())
}

/// Draws from the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut impl Rng) -> f64 {
    let (above_zero, turn) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * above_zero.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}
