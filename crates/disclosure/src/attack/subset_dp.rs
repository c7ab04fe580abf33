//! Sums over the matchings of a small block by dynamic programming over all subsets of columns.
//!
//! For every set of k columns, a forward pass computes the sum over all ways in which the first k rows take
//! these columns, and a backward pass the sum over all ways in which the other rows take the other columns.

use super::Matrix;
use super::engine::PermanentAndEdges;
use super::frontier::{rescale, roundings};
use crate::matching::{Weight, Wide};
use ndarray::Array2;

/// Largest size. Up to it, nothing is quicker, and the time is too short for a plan to pay.
pub(super) const MAX_SIZE: usize = 8;

/// Returns a bound on the relative error of the permanent. As in [`Frontier`](super::frontier::Frontier),
/// every row multiplies once and adds once for every column but one.
pub(super) fn permanent_error(size: usize) -> f64 {
    roundings((size * size) as f64)
}

/// Returns a bound on the absolute error of every edge probability. A sum over sets has the roundings of all
/// rows, of two more products, and of one addition per set; there are at most 70 sets of any size. It is
/// divided by the total of its row.
pub(super) fn edge_error(size: usize) -> f64 {
    2.0 * roundings((size * size + 4 + 70) as f64)
}

pub(super) fn permanent(matrix: &Matrix) -> Wide {
    match narrow(matrix) {
        Some((weights, exponent)) => {
            let sums = forward(&weights);
            last(&sums).times_power_of_two(exponent)
        }
        None => forward(&wide(matrix)).pop().unwrap_or_default(),
    }
}

/// Returns the permanent and the probability of every edge.
pub(super) fn edges(matrix: &Matrix) -> PermanentAndEdges {
    match narrow(matrix) {
        Some((weights, exponent)) => {
            let (sums, probability) = forward_backward(matrix, &weights);
            PermanentAndEdges {
                permanent: last(&sums).times_power_of_two(exponent),
                probability,
            }
        }
        None => {
            let (mut sums, probability) = forward_backward(matrix, &wide(matrix));
            PermanentAndEdges {
                permanent: sums.pop().unwrap_or_default(),
                probability,
            }
        }
    }
}

fn last(sums: &[f64]) -> Wide {
    sums.last().map_or(Wide::default(), |&sum| Wide::from_f64(sum))
}

/// Returns all weights, with every row divided by a power of two, and the sum of the exponents of these
/// powers. Returns `None` if products of weights might leave the range of a double.
fn narrow(matrix: &Matrix) -> Option<(Array2<f64>, i64)> {
    let mut weights = matrix.table(|_, weight| weight);
    let mut exponent = 0;
    for mut row in weights.rows_mut() {
        // The product of eight such weights is still above 2^-1000.
        exponent += rescale(row.as_slice_mut()?, 100)?;
    }
    Some((weights, exponent))
}

fn wide(matrix: &Matrix) -> Array2<Wide> {
    matrix.table(|_, weight| Wide::from_f64(weight))
}

/// Returns for every set of columns the sum over the ways in which the first rows take them.
fn forward<W: Weight>(weights: &Array2<W>) -> Vec<W> {
    let mut sums = vec![W::default(); 1 << weights.nrows()];
    sums[0] = W::from_f64(1.0);
    for set in 1..sums.len() {
        let row = weights.row(set.count_ones() as usize - 1);
        let mut sum = W::default();
        for column in bits(set) {
            sum.add(sums[set & !(1 << column)].times(row[column]));
        }
        sums[set] = sum;
    }
    sums
}

fn forward_backward<W: Weight>(matrix: &Matrix, weights: &Array2<W>) -> (Vec<W>, Vec<f64>) {
    let sums = forward(weights);
    // For every set of columns, the sum over the ways in which the later rows take the other columns; and for
    // every edge, the sum over the matchings that contain it.
    let mut after = vec![W::default(); sums.len()];
    after[sums.len() - 1] = W::from_f64(1.0);
    let mut of_edges = Array2::<W>::default(weights.raw_dim());
    for set in (0..sums.len() - 1).rev() {
        let row = set.count_ones() as usize;
        let mut sum = W::default();
        for column in bits(!set & (sums.len() - 1)) {
            let through = after[set | 1 << column].times(weights[[row, column]]);
            sum.add(through);
            of_edges[[row, column]].add(through.times(sums[set]));
        }
        after[set] = sum;
    }
    let mut probability = Vec::with_capacity(matrix.edge_count());
    for (row, of_row) in of_edges.rows().into_iter().enumerate() {
        let mut all = W::default();
        of_row.iter().for_each(|&of_edge| all.add(of_edge));
        probability.extend(
            matrix
                .row(row)
                .map(|(column, _)| of_row[column as usize].divided_by(all)),
        );
    }
    (sums, probability)
}

/// Returns the positions of the bits that are set.
fn bits(mut set: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < usize::BITS as usize).then_some(bit)
    })
}
