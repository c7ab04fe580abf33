//! NMAPE: the mean absolute error of the heuristic H, in percent (Malik 2014, formula 4.5).
//!
//! It is a mean over all n! true mappings. For small matrices, all mappings are enumerated. Larger matrices
//! are split in the middle: for every set of columns that the first half of the rows can take, the errors of
//! both halves are enumerated separately, sorted, and combined.

use super::cracks::row_shares;
use super::matrix::invalid;
use super::{Exact, Matrix};
use crate::{Control, Result, parallel};
use ndarray::Array2;

/// Returns the mean absolute error of H over all true mappings, in percent of the number of entries (Malik
/// 2014, formula 4.5). It is an error if there is no perfect matching, or if the matrix is too large to try
/// all mappings.
pub fn nmape(matrix: &Matrix, control: &Control) -> Result<f64> {
    const MAX_SIZE: usize = 16;
    const MAX_ENUMERATED: usize = 7;
    matrix.require_square()?;
    let size = matrix.size();
    if size == 0 {
        return Ok(0.0);
    }
    if size > MAX_SIZE {
        let problem = format!("has {size} rows, too many to try all mappings");
        return Err(invalid(&problem, &format!("at most {MAX_SIZE} rows")));
    }
    let errors = ErrorTable::new(matrix, control)?;
    let sum = if size <= MAX_ENUMERATED {
        errors.enumerate(0, 0, 0.0)
    } else {
        errors.meet_in_the_middle(control)?
    };
    let mappings: f64 = (1..=size).map(|row| row as f64).product();
    Ok(sum / mappings / size as f64 * 100.0)
}

/// For every row and column, the amount by which H exceeds Ψ if the column is the row's true one. For a whole
/// mapping, the difference between H and Ψ is the sum over its edges.
struct ErrorTable(Array2<f64>);

impl ErrorTable {
    fn new(matrix: &Matrix, control: &Control) -> Result<Self> {
        let edges = Exact::new(matrix, control)?.edge_probabilities(control)?;
        let shares = row_shares(matrix);
        Ok(ErrorTable(
            matrix.table(|edge, _| shares[edge] - edges.probability[edge]),
        ))
    }

    fn size(&self) -> usize {
        self.0.nrows()
    }

    /// Returns the sum of absolute differences over all ways to match the rows from `row` on with columns
    /// that are not taken.
    fn enumerate(&self, row: usize, taken: u32, so_far: f64) -> f64 {
        if row == self.size() {
            return so_far.abs();
        }
        let of_row = self.0.row(row).into_iter().enumerate();
        let free = of_row.filter(|(column, _)| taken & 1 << column == 0);
        free.map(|(column, error)| self.enumerate(row + 1, taken | 1 << column, so_far + error))
            .sum()
    }

    /// Returns the sum of absolute differences over all mappings. The first half of the rows takes some set
    /// of columns, and the other half takes the rest. Given the set, both halves are independent, and their
    /// sums can be combined quickly if they are sorted.
    fn meet_in_the_middle(&self, control: &Control) -> Result<f64> {
        const MIN_SIZE_FOR_THREADS: usize = 11;
        let size = self.size();
        let half = size / 2;
        let all = (1 << size) - 1;
        let sets: Vec<u32> = (0..=all)
            .filter(|set: &u32| set.count_ones() as usize == half)
            .collect();
        let of_set = |&set: &u32| {
            control.check()?;
            let (mut first, mut second) = (Vec::new(), Vec::new());
            self.sums(0..half, all & !set, 0.0, &mut first);
            self.sums(half..size, set, 0.0, &mut second);
            Ok(sum_of_distances(first, second))
        };
        let sums = parallel::map_if(&sets, size >= MIN_SIZE_FOR_THREADS, of_set)?;
        Ok(sums.into_iter().sum())
    }

    /// Appends the sum of differences for every way to match these rows with columns that are not taken.
    fn sums(&self, rows: std::ops::Range<usize>, taken: u32, so_far: f64, sums: &mut Vec<f64>) {
        if rows.is_empty() {
            return sums.push(so_far);
        }
        for (column, error) in self.0.row(rows.start).into_iter().enumerate() {
            if taken & 1 << column == 0 {
                self.sums(
                    rows.start + 1..rows.end,
                    taken | 1 << column,
                    so_far + error,
                    sums,
                );
            }
        }
    }
}

/// Returns the sum of |a + b| over all pairs.
fn sum_of_distances(mut first: Vec<f64>, mut second: Vec<f64>) -> f64 {
    first.sort_unstable_by(|a, b| b.total_cmp(a));
    second.sort_unstable_by(f64::total_cmp);
    let all: f64 = second.iter().sum();
    let (mut below, mut sum_below) = (0, 0.0);
    let mut sum = 0.0;
    for a in first {
        // As a decreases, more b are below -a.
        while below < second.len() && second[below] < -a {
            sum_below += second[below];
            below += 1;
        }
        let more_above = second.len() as f64 - 2.0 * below as f64;
        sum += a * more_above + (all - 2.0 * sum_below);
    }
    sum
}
