//! Small blocks: sums over sets of columns, without cancellation.

use super::scaled::Scaled;
use super::{Bounded, SLACK, UNIT, shares};

/// Up to so many rows, sums over sets of columns are as quick as those over signs, and free of cancellation.
pub(super) const LARGEST_SMALL: usize = 7;

/// The permanents of the first rows, in any set of as many columns: every one is a sum of products of the weight in
/// its last row and a permanent that is known already. As nothing is subtracted, every product has been rounded twice
/// per row, and that is the error.
fn small_permanents(scaled: &Scaled) -> [f64; 1 << LARGEST_SMALL] {
    let mut permanents = [0.0; 1 << LARGEST_SMALL];
    permanents[0] = 1.0;
    for columns in 1..1_usize << scaled.size {
        let row = columns.count_ones() as usize - 1;
        let mut left = columns;
        while left != 0 {
            let column = left.trailing_zeros() as usize;
            left &= left - 1;
            permanents[columns] +=
                permanents[columns ^ 1 << column] * scaled.weights[scaled.cell(row, column)];
        }
    }
    permanents
}

pub(super) fn small_permanent(scaled: &Scaled) -> Bounded {
    let value = small_permanents(scaled)[(1 << scaled.size) - 1];
    scaled.back(value, 2.0 * scaled.size as f64 * UNIT * value)
}

pub(super) fn small_edges(scaled: &Scaled) -> (Bounded, Vec<f64>, f64) {
    let before = small_permanents(scaled);
    let all = (1_usize << scaled.size) - 1;
    let permanent = before[all];
    let mut cells = vec![0.0; scaled.weights.len()];
    // The permanents of the last rows, in all columns but some.
    let mut after = [0.0; 1 << LARGEST_SMALL];
    after[all] = 1.0;
    for columns in (0..all).rev() {
        let row = columns.count_ones() as usize;
        let mut left = all ^ columns;
        while left != 0 {
            let column = left.trailing_zeros() as usize;
            left &= left - 1;
            let cell = scaled.cell(row, column);
            let through = scaled.weights[cell] * after[columns | 1 << column];
            after[columns] += through;
            cells[cell] += before[columns] * through;
        }
    }
    let known = scaled.back(permanent, 2.0 * scaled.size as f64 * UNIT * permanent);
    // Those of the permanent, those of the products, and those of adding no more than 2^(n-1) of them.
    let roundings = 4.0 * scaled.size as f64 + (scaled.size as f64 - 1.0).exp2() + 3.0;
    let error = (roundings * UNIT + 2.0 * scaled.underflow() / permanent) * SLACK;
    let (cells, error) = shares(cells, permanent, error);
    (known, cells, error)
}
