//! Certified bounds on permanents that are too expensive to compute.
//!
//! Let B be the doubly stochastic scaling of A, and let D be the product of all row and column factors, so
//! that per A = per B / D. Since rows and columns of B sum to 1, ln D = Σ b ln(b/a).
//! - *Lower bound*: ln per B ≥ Σ (1−b) ln(1−b) (Gurvits 2011; Schrijver 1998 for the main case). It is the Bethe
//!   free energy at B. Its maximum over all doubly stochastic matrices, the Bethe permanent, is a lower bound
//!   for the same reason.
//! - *Upper bound*: a row is a positive combination of 0/1 rows, nested in each other: of its largest k
//!   weights for every k, with the difference between the k-th largest weight and the next as factor. The
//!   permanent is linear in each row, and that of 0/1 rows with k ones is at most the product of (k!)^(1/k)
//!   (Brègman 1973). So per B is at most the product, over all rows, of the sums of (k!)^(1/k) times these
//!   factors. The same holds for columns; the lower of both counts.

use super::Matrix;
use super::blocks::blocks;
use super::engine::MAX_PADDING;
use super::scale::scaled;
use crate::{Control, Result};

/// Returns a lower and an upper bound of the natural logarithm of the permanent; negative infinity if there
/// is no perfect matching, and `None` if there are too many more columns than rows, or the other way round.
pub fn ln_permanent_bounds(matrix: &Matrix, control: &Control) -> Result<Option<(f64, f64)>> {
    let Some(blocks) = blocks(matrix, control)? else {
        return Ok(Some((f64::NEG_INFINITY, f64::NEG_INFINITY)));
    };
    let (mut lower, mut upper) = (0.0, 0.0);
    for block in &blocks {
        let further = block.matrix.width() - block.matrix.size();
        let (least, most) = match further {
            0 => of_block(&block.matrix, control)?,
            _ if further.saturating_mul(block.matrix.width()) > MAX_PADDING => return Ok(None),
            _ => of_block(&block.matrix.padded(control)?, control)?,
        };
        let permutations: f64 = (2..=further).map(|row| (row as f64).ln()).sum();
        lower += least - permutations;
        upper += most - permutations;
    }
    // Scaling is precise to about 13 digits.
    let margin = |bound: f64| 1e-9 * (1.0 + bound.abs());
    Ok(Some((lower - margin(lower), upper + margin(upper))))
}

/// Returns bounds of the logarithm of the permanent of a square block.
fn of_block(block: &Matrix, control: &Control) -> Result<(f64, f64)> {
    if block.size() == 1 {
        let exactly = block.weights()[0].ln();
        return Ok((exactly, exactly));
    }
    let weights = scaled(block, control)?;
    let mut of_columns = vec![Vec::new(); block.width()];
    let (mut ln_factors, mut least, mut by_rows) = (0.0, 0.0, 0.0);
    for row in 0..block.size() {
        control.check()?;
        let scaled = &weights[block.edge_range(row)];
        for ((column, original), &weight) in block.row(row).zip(scaled) {
            ln_factors += weight * (weight.ln() - original.ln());
            least += if weight < 1.0 {
                (1.0 - weight) * (-weight).ln_1p()
            } else {
                0.0
            };
            of_columns[column as usize].push(weight);
        }
        by_rows += ln_most(scaled.to_vec());
    }
    let mut by_columns = 0.0;
    for column in of_columns {
        control.check()?;
        by_columns += ln_most(column);
    }
    // A doubly stochastic matrix has a permanent of at most 1.
    let most = f64::min(by_rows, by_columns).min(0.0);
    Ok((least - ln_factors, most - ln_factors))
}

/// Returns the logarithm of a line's factor in the upper bound.
fn ln_most(mut line: Vec<f64>) -> f64 {
    line.sort_unstable_by(|a, b| b.total_cmp(a));
    line.push(0.0);
    let (mut ln_factorial, mut sum) = (0.0, 0.0);
    for (before, pair) in line.windows(2).enumerate() {
        let count = (before + 1) as f64;
        ln_factorial += count.ln();
        sum += (pair[0] - pair[1]) * (ln_factorial / count).exp();
    }
    sum.ln()
}
