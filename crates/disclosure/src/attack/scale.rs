use super::blocks::blocks;
use super::exact::no_matching;
use super::Matrix;
use crate::{Control, Result};

/// The doubly stochastic matrix that rows and columns can be multiplied to (Sinkhorn and Knopp 1967), without the
/// edges that no perfect matching uses. The probabilities of matchings stay as they are. An error where there is no
/// perfect matching.
pub fn normalise(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    let blocks = blocks(matrix, control)?.ok_or_else(no_matching)?;
    let mut edges = Vec::new();
    for block in blocks {
        let mut weights = block.matrix.weights().to_vec();
        for _ in 0..1000 {
            control.check()?;
            let mut sums = vec![0.0; block.matrix.size()];
            for row in 0..block.matrix.size() {
                let sum: f64 = weights[block.matrix.range(row)].iter().sum();
                for ((column, _), weight) in block.matrix.row(row).zip(&mut weights[block.matrix.range(row)])
                {
                    *weight /= sum;
                    sums[column as usize] += *weight;
                }
            }
            for row in 0..block.matrix.size() {
                for ((column, _), weight) in block.matrix.row(row).zip(&mut weights[block.matrix.range(row)])
                {
                    *weight /= sums[column as usize];
                }
            }
        }
        let scaled = block.matrix.with_weights(weights);
        for (within, &row) in block.rows.iter().enumerate() {
            edges.extend(
                scaled
                    .row(within)
                    .map(|(column, weight)| (row, block.columns[column as usize], weight)),
            );
        }
    }
    Matrix::sparse(matrix.size(), matrix.size(), edges)
}

/// The unique flat doubly stochastic matrix with these edges, but for those that no perfect matching uses (Malik 2014,
/// section 3.3): every matching has the same probability. An error where there is no perfect matching.
pub fn flat_matrix(matrix: &Matrix, control: &Control) -> Result<Matrix> {
    normalise(&matrix.with_weights(vec![1.0; matrix.edges()]), control)
}
