//! Sums over the matchings of a dense block by Glynn's formula, for which weights should be of similar size:
//! scales the block first, and the results back.

use super::engine::PermanentAndEdges;
use super::{Matrix, glynn};
use crate::matching::{Weight, Wide};
use crate::{Control, Result};

/// A block whose rows and columns are multiplied by powers of two, so that it is doubly stochastic up to a
/// factor of about two. The multiplication is exact and changes no probability, and the terms of Glynn's
/// formula cancel least in such a block.
#[derive(Debug)]
pub(super) struct Dense {
    matrix: Matrix,
    /// Exponent of the power of two by which the scaled permanent has to be multiplied.
    exponent: i64,
}

impl Dense {
    /// Returns `None` if there are too many rows for any computer, or if weights are too small to be scaled
    /// exactly.
    pub fn new(matrix: &Matrix) -> Option<Self> {
        const MAX_SIZE: usize = 60;
        const ROUNDS: usize = 4;
        let size = matrix.size();
        if size > MAX_SIZE {
            return None;
        }
        let logarithms: Vec<f64> = matrix.weights().iter().map(|weight| weight.log2()).collect();
        let mut of_row = vec![0.0; size];
        let mut of_column = vec![0.0; size];
        for _ in 0..ROUNDS {
            let mut columns = vec![Vec::new(); size];
            for row in 0..size {
                let edges = || matrix.row(row).zip(&logarithms[matrix.edge_range(row)]);
                let scaled = edges().map(|((column, _), log)| log + of_column[column as usize]);
                of_row[row] = -log2_of_sum(&scaled.collect::<Vec<f64>>());
                for ((column, _), log) in edges() {
                    columns[column as usize].push(log + of_row[row]);
                }
            }
            for (of_column, column) in of_column.iter_mut().zip(columns) {
                *of_column = -log2_of_sum(&column);
            }
        }
        let mut weights = Vec::with_capacity(matrix.edge_count());
        for (row, of_row) in of_row.iter().enumerate() {
            for (column, weight) in matrix.row(row) {
                let exponent = of_row.round() + of_column[column as usize].round();
                let scaled = Wide::from_f64(weight).times_power_of_two(exponent as i64);
                weights.push(scaled.divided_by(Wide::from_f64(1.0)));
            }
        }
        let exponents = of_row.iter().chain(&of_column).map(|log| log.round() as i64);
        weights.iter().all(|weight| weight.is_normal()).then(|| Dense {
            matrix: matrix.with_weights(weights),
            exponent: -exponents.sum::<i64>(),
        })
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        glynn::seconds(self.matrix.size())
    }

    /// Returns the permanent and a bound on its relative error.
    pub fn permanent(&self, control: &Control) -> Result<(Wide, f64)> {
        Ok(self.unscaled(glynn::permanent(&self.matrix, control)?))
    }

    /// Returns the permanent and the probability of every edge, a bound on the relative error of the
    /// permanent, and a bound on the absolute error of the probabilities.
    pub fn edges(&self, control: &Control) -> Result<(PermanentAndEdges, f64, f64)> {
        let (permanent, probability, error) = glynn::edges(&self.matrix, control)?;
        let (permanent, relative_error) = self.unscaled(permanent);
        let found = PermanentAndEdges {
            permanent,
            probability,
        };
        Ok((found, relative_error, error))
    }

    fn unscaled(&self, permanent: glynn::Bounded) -> (Wide, f64) {
        let least = permanent.value - permanent.error;
        let relative_error = if least > 0.0 {
            permanent.error / least
        } else {
            f64::INFINITY
        };
        let value = Wide::from_f64(permanent.value.max(0.0)).times_power_of_two(self.exponent);
        (value, relative_error)
    }
}

/// Returns the binary logarithm of a sum, given the binary logarithms of its terms.
fn log2_of_sum(logarithms: &[f64]) -> f64 {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logarithms.iter().map(|log| (log - largest).exp2()).sum();
    largest + sum.log2()
}
