//! Permanents of dense blocks, and all their minors at once.
//!
//! Glynn's formula (Glynn 2010, "The permanent of a square matrix", theorem 2.1) is a sum over signs δ, the first of
//! which stays +1:
//!
//! > perm(A) = 2^-(n-1) Σ_δ (Π_k δ_k) Π_j s_j, where s_j = Σ_k δ_k a_kj
//!
//! Its derivative by a_ij is the permanent of the minor without row i and column j, so that all minors follow from
//! the products of all sums but one, w_j: Σ_δ (Π_k δ_k) δ_i w_j.
//!
//! Of the signs, the last [`LOW`] that are left are looked up in a table of what their rows add to s_j, and the others
//! are walked through in Gray-code order. A sum is then one addition, a term one multiplication per column, and
//! nothing depends on the term before.
//!
//! **Errors.** u is 2^-53. Columns are scaled by powers of two, so that C_j = Σ_i a_ij is between ½ and 1.
//! - *Sums* are exact: weights are rounded to multiples of 2^-52, which can be added up to 2 without rounding. Where
//!   that changes no weight of column j by more than the share ε_j of what it is rounded to, the permanent, which is
//!   a sum of products of weights, changes by no more than the share Π(1+ε_j) - 1, and so do the minors. This is the
//!   advantage over rounded sums, whose errors cancellation would blow up. Columns where ε_j is large, as some weight
//!   is tiny, get a second word of multiples of 2^-100, and then s_j is rounded once. If even that leaves over ρ_j of a
//!   column in total, the permanent changes by Σ_j ρ_j Π_{k≠j} C_k at most.
//! - *Products* of n sums, m of them rounded, are off by γ_{n-1+m} of their size, where γ_k = ku/(1-ku) (Higham 2002,
//!   "Accuracy and stability of numerical algorithms", lemma 3.1).
//! - *Summing* k terms in any order is off by γ_{k-1} Σ|term| (the same, section 4.2); terms are first added in small
//!   groups, and groups with a compensated sum, which is off by u of its value and (Ku)² Σ|term| for K groups
//!   (Ogita, Rump and Oishi 2005, proposition 4.5).
//!
//! Σ|term| is summed up as well, so that the bound is that of the matrix at hand. For Σ|w_j| a bound has to do, as an
//! addition per column and term would cost a tenth of the time: |w_j| is the product of the sums in the other half of
//! the columns, the absolute value of which is summed up, by that of the other sums in j's half, none of which is more
//! than C_k. In the terms that matter |s_k| is not much less.
//!
//! **No linear algebra.** A permanent is no determinant: no elimination, factorisation or product of matrices computes
//! it, so no crate for these would help. The kernels work on tables of 64 numbers per column, in registers, and keep
//! plain slices for that. A permanent of 24 rows takes 27 ms on one core, 7·10⁹ columns of terms per second
//! (`benches/attack.rs`, vectors of four doubles). Elsewhere in `attack`, tables are `Array2`.
//!
//! | file | what it does |
//! |---|---|
//! | `mod.rs` | the entry points and the constants that several files share |
//! | `scaled.rs` | scales the columns by powers of two, and the results back |
//! | `signs.rs` | splits weights into words that add up exactly, and makes the tables of low signs |
//! | `walk.rs` | walks through the other signs and multiplies sums of columns |
//! | `terms.rs` | adds up all terms: the permanent |
//! | `group.rs` | the products of all sums but one, for four columns at a time |
//! | `minors.rs` | adds these up: all minors, and the probabilities of edges |
//! | `compensated.rs` | sums that keep what rounding takes away |
//! | `lanes.rs` | vectors and tables of the numbers of 64 patterns |

mod compensated;
mod group;
mod lanes;
mod minors;
mod scaled;
mod signs;
mod terms;
#[cfg(test)]
mod tests;
mod walk;

use super::Matrix;
use crate::{Control, Result};
use minors::edges_by_signs;
use scaled::Scaled;
use terms::permanent_by_signs;

/// A number, and by how much it is off at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    pub value: f64,
    /// Absolute.
    pub error: f64,
}

/// The permanent of a block of 7 to 63 rows. There are better ways for smaller ones: see `subset_dp`.
pub(super) fn permanent(matrix: &Matrix, control: &Control) -> Result<Bounded> {
    control.check()?;
    permanent_by_signs(&Scaled::new(matrix), control)
}

/// The permanent of a block, the probability of every positive weight's edge in a random matching, in the order of
/// [`Matrix::weights`], and by how much any of these is off at most.
pub(super) fn edges(matrix: &Matrix, control: &Control) -> Result<(Bounded, Vec<f64>, f64)> {
    control.check()?;
    let scaled = Scaled::new(matrix);
    let (permanent, cells, error) = edges_by_signs(&scaled, control)?;
    let of_row = |row| matrix.row(row).map(move |(column, _)| (row, column as usize));
    let probability = (0..scaled.size)
        .flat_map(of_row)
        .map(|(row, column)| cells[scaled.cell(row, column)])
        .collect();
    Ok((permanent, probability, error))
}

/// About how long [`edges`] takes on one core.
pub(super) fn seconds(size: usize) -> f64 {
    size as f64 * (size as f64 - 1.0).exp2() / COLUMNS_OF_TERMS_PER_SECOND
}

/// A column of a term is a sum, its part in the product and in all products but one. Measured where vectors have four
/// doubles, on an EPYC of 2021 at 2.4 GHz.
const COLUMNS_OF_TERMS_PER_SECOND: f64 = 3e9;

/// How many signs the tables know: as many as leave the tables of 30 columns, 512 bytes each, in a cache of 32 kB.
const LOW: usize = 6;
const PATTERNS: usize = 1 << LOW;

/// Columns whose sums are multiplied with each other before they meet those of other columns.
const GROUP: usize = 4;

/// Vectors of terms that are multiplied up at the same time, in registers.
const BLOCK: usize = 8;

/// A double is off by this share when it is rounded.
const UNIT: f64 = f64::EPSILON / 2.0;

/// For the errors of the bounds themselves: sums of at most 2^30 positive numbers, each rounded a hundred times.
const SLACK: f64 = 1.0 + 1e-6;

/// Weights times minors by the permanent, as probabilities: between 0 and 1, so that they cannot be off by more.
fn shares(mut cells: Vec<f64>, permanent: f64, error: f64) -> (Vec<f64>, f64) {
    if !(permanent > 0.0 && error < 1.0) {
        return (vec![0.0; cells.len()], 1.0);
    }
    for cell in &mut cells {
        *cell = (*cell / permanent).clamp(0.0, 1.0);
    }
    (cells, error)
}
