//! Probabilistic attacks: see `disclosure::attack`.

mod estimates;
mod exact;
mod limits;

use disclosure::attack::Matrix;

fn dense(weights: &[f64]) -> Matrix {
    let size = weights.len().isqrt();
    Matrix::dense(size, size, weights).unwrap()
}
