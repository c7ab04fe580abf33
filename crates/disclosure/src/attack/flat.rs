use super::blocks::blocks;
use super::exact::no_matching;
use super::Matrix;
use crate::{Control, Result};

/// Whether all matchings that are possible are equally likely (Malik 2014, section 3.3), up to rounding; an error
/// where there is no perfect matching.
pub fn is_flat(matrix: &Matrix, control: &Control) -> Result<bool> {
    let blocks = blocks(matrix, control)?.ok_or_else(no_matching)?;
    Ok(blocks.iter().all(|block| {
        let first = block.matrix.weights()[0];
        block.matrix.weights().iter().all(|&weight| weight == first)
    }))
}
