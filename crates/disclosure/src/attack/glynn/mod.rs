//! Permanents of dense blocks, and all their minors at once.
//!
//! Glynn's formula (Glynn 2010, "The permanent of a square matrix", theorem 2.1) is a sum over signs δ, the
//! first of which is always +1:
//!
//! > perm(A) = 2^-(n-1) Σ_δ (Π_k δ_k) Π_j s_j, where s_j = Σ_k δ_k a_kj
//!
//! Its derivative with respect to a_ij is the permanent of the minor without row i and column j. So all
//! minors follow from the products w_j of all sums but s_j: Σ_δ (Π_k δ_k) δ_i w_j.
//!
//! The signs of rows 1 to [`LOW`], the *low* signs, are looked up: for every column, a table has the sums of
//! these rows for every pattern of low signs. The *high* signs of the rows after them are walked through in
//! Gray-code order. A sum is then one addition, a term is one multiplication per column, and nothing depends
//! on the term before.
//!
//! **Errors.** u is 2^-53. Columns are scaled by powers of two, so that C_j = Σ_i a_ij is between ½ and 1.
//! - *Sums* are exact: weights are rounded to multiples of 2^-52, which can be added up to 2 without
//!   rounding. If that changes no weight of column j by more than the share ε_j of its rounded value, the
//!   permanent, which is a sum of products of weights, changes by at most the share Π(1+ε_j) - 1, and so do
//!   the minors. This is the advantage over rounded sums, whose errors would be amplified by cancellation.
//!   Columns with a large ε_j, because some weight is tiny, get a second word of multiples of 2^-100, and
//!   then s_j is rounded once. If even that leaves a remainder of ρ_j in total for a column, the permanent
//!   changes by at most Σ_j ρ_j Π_{k≠j} C_k.
//! - *Products* of n sums, m of them rounded, have the relative error γ_{n-1+m}, where γ_k = ku/(1-ku)
//!   (Higham 2002, "Accuracy and stability of numerical algorithms", lemma 3.1).
//! - *Summing* k terms in any order has the error γ_{k-1} Σ|term| (Higham 2002, section 4.2). Terms are first
//!   added in small groups, and the groups by a compensated sum, whose error for K groups is u times its
//!   value plus (Ku)² Σ|term| (Ogita, Rump and Oishi 2005, proposition 4.5).
//!
//! Σ|term| is summed up as well, so that the bound is that of the matrix at hand. Σ|w_j| is only bounded,
//! because one more addition per column and term would cost a tenth of the time. |w_j| is a product of two
//! factors. One is the product of the sums in the half of the columns without j, whose absolute value is
//! summed up. The other is the product of the other sums in j's half, each of which is at most C_k. In the
//! terms that matter, |s_k| is not much less than C_k.
//!
//! **No linear algebra.** A permanent is not a determinant: no elimination, factorisation or product of
//! matrices computes it, so no linear algebra crate would help. The kernels work on tables of 64 numbers per
//! column, in registers, and use plain slices for that. A permanent of 24 rows takes 27 ms on one core, 7·10⁹
//! columns of terms per second (`benches/attack.rs`, vectors of four doubles). Elsewhere in `attack`, tables
//! are `Array2`.
//!
//! | file | what it does |
//! |---|---|
//! | `mod.rs` | entry points, and constants that several files share |
//! | `scaled.rs` | scales the columns by powers of two, and the results back |
//! | `prepared.rs` | splits weights into words that add up exactly, and makes the tables of low signs |
//! | `walk.rs` | walks through the high signs and multiplies sums of columns |
//! | `terms.rs` | adds up all terms: the permanent |
//! | `group.rs` | computes the products of all sums but one, for four columns at a time |
//! | `minors.rs` | adds these up: all minors, and the probabilities of edges |
//! | `compensated.rs` | sums that keep track of their rounding errors |
//! | `lanes.rs` | vectors, and tables with a number for each of the 64 patterns |

mod compensated;
mod group;
mod lanes;
mod minors;
mod prepared;
mod scaled;
mod terms;
#[cfg(test)]
mod tests;
mod walk;

use super::Matrix;
use crate::{Control, Result};
use minors::edges_by_signs;
use scaled::Scaled;
use terms::permanent_by_signs;

/// A number and a bound on its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    pub value: f64,
    /// Bound on the absolute error.
    pub error: f64,
}

/// Returns the permanent of a block of 7 to 63 rows. For smaller blocks, `subset_dp` is better.
pub(super) fn permanent(matrix: &Matrix, control: &Control) -> Result<Bounded> {
    control.check()?;
    permanent_by_signs(&Scaled::new(matrix), control)
}

/// Returns the permanent of a block, the probability of every positive weight's edge in a random matching, in
/// the order of [`Matrix::weights`], and a bound on the absolute error of these probabilities.
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

/// Returns the estimated seconds that [`edges`] takes on one core.
pub(super) fn seconds(size: usize) -> f64 {
    size as f64 * (size as f64 - 1.0).exp2() / COLUMNS_OF_TERMS_PER_SECOND
}

/// Columns of terms that one core processes per second. A column of a term is one sum, with its part in the
/// product and in the products of all sums but one. Measured with vectors of four doubles, on an EPYC
/// processor of 2021 at 2.4 GHz.
const COLUMNS_OF_TERMS_PER_SECOND: f64 = 3e9;

/// Number of low signs: small enough for the tables of 30 columns, 512 bytes each, to stay in a cache of 32
/// kB.
const LOW: usize = 6;
const PATTERNS: usize = 1 << LOW;

/// Number of columns whose sums are multiplied with each other before they are combined with those of other
/// columns.
const GROUP: usize = 4;

/// Number of vectors of terms in a batch, which are multiplied at the same time, in registers.
const VECTORS_PER_BATCH: usize = 8;

/// Unit roundoff: the largest relative error of rounding to a double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Factor for the rounding errors of the bounds themselves, which are sums of at most 2^30 positive numbers,
/// each rounded a hundred times.
const SLACK: f64 = 1.0 + 1e-6;

/// Divides weights times minors by the permanent. Returns the probabilities and a bound on their absolute
/// error, which is at most 1 because probabilities are between 0 and 1.
fn divide_by_permanent(mut cells: Vec<f64>, permanent: f64, error: f64) -> (Vec<f64>, f64) {
    if !(permanent > 0.0 && error < 1.0) {
        return (vec![0.0; cells.len()], 1.0);
    }
    for cell in &mut cells {
        *cell = (*cell / permanent).clamp(0.0, 1.0);
    }
    (cells, error)
}
