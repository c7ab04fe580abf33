//! Expected cracks and the probabilities of edges, by the method of the settings.
//!
//! The number of cracks is the number of entries that a random matching assigns their true code. Its expected
//! value is the sum of the probabilities of the true edges, which come from exact sums, belief propagation,
//! sampling or the heuristic of Malik 2014.

use super::exact::no_matching;
use super::{Exact, Matrix, Method, Settings, bethe, sample};
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result};
use bitvec::bitvec;

/// True code of every entry: M₀ of Malik 2014, section 2.2. An entry whose code is unknown counts as never
/// cracked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Truth(Vec<Option<u32>>);

impl Truth {
    /// Creates a true mapping from the column of every row; no column may occur twice.
    pub fn new(matrix: &Matrix, columns: Vec<Option<u32>>) -> Result<Self> {
        let (size, width) = (matrix.size(), matrix.width());
        let problem = |problem: String| {
            Error::invalid(
                "mapping",
                problem,
                format!("each number from 1 to {width} at most once, one element per row"),
            )
        };
        if columns.len() != size {
            return Err(problem(format!("has {} elements for {size} rows", columns.len())));
        }
        let mut taken = bitvec![0; width];
        for &column in columns.iter().flatten() {
            if column as usize >= width {
                return Err(problem("has an element that is not a column number".into()));
            }
            if taken.replace(column as usize, true) {
                return Err(problem("contains a column twice".into()));
            }
        }
        Ok(Truth(columns))
    }

    /// Returns the true row of every column: the true mapping of the transposed matrix.
    pub(super) fn transposed(&self, matrix: &Matrix) -> Self {
        let mut rows = vec![None; matrix.width()];
        for (row, column) in (0..).zip(&self.0) {
            if let Some(column) = *column {
                rows[column as usize] = Some(row);
            }
        }
        Truth(rows)
    }

    /// Returns the true column of every row; `None` where it is unknown.
    pub fn columns(&self) -> &[Option<u32>] {
        &self.0
    }
}

/// Expected cracks of an attack.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Estimate {
    /// Expected number of entries that a random matching cracks: Ψ of Malik 2014, formula 4.2, or an
    /// approximation of it.
    pub expected: f64,
    /// Lower end of the interval that contains the answer: the answer itself if it is exact, `None` for
    /// approximations without an error bound.
    pub lower: Option<f64>,
    /// Upper end of that interval.
    pub upper: Option<f64>,
    /// Method that computed the answer; never [`Method::Auto`].
    pub method: Method,
    /// Whether a sample reached its relative error; true for other methods.
    pub is_precise_enough: bool,
    /// Probability of every entry to be cracked.
    pub crack_probability: Vec<f64>,
}

/// Returns H of Malik 2014, formula 4.3: the expected number of entries that get their true code if every
/// entry chooses its code independently of the others. Rows are distributions in that formula, so weights are
/// taken as shares of their row. For a 0/1 matrix, H is the O-estimate. If there are fewer codes than
/// entries, every code chooses its entry.
pub fn heuristic(matrix: &Matrix, truth: &Truth) -> f64 {
    total(&values_of_true_edges(matrix, truth, &shares(matrix)))
}

/// Returns for every entry the value of its true edge; 0 if that edge is impossible or unknown.
pub(super) fn values_of_true_edges(matrix: &Matrix, truth: &Truth, of_edges: &[f64]) -> Vec<f64> {
    let of_row = |(row, column): (usize, &Option<u32>)| {
        let edge = column.and_then(|column| matrix.edge_index(row, column));
        edge.map_or(0.0, |edge| of_edges[edge])
    };
    truth.columns().iter().enumerate().map(of_row).collect()
}

/// Returns the sum; unlike `Iterator::sum`, it is 0 and not -0 for an empty slice.
fn total(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

/// Returns the probability of one complete matching (Malik 2014, section 3.2), or an error if the code of an
/// entry is unknown or if there is no perfect matching. If there are fewer codes than entries, every code has
/// to have an entry.
pub fn matching_probability(matrix: &Matrix, truth: &Truth, control: &Control) -> Result<f64> {
    let known = || {
        let rows = truth.columns().iter().enumerate();
        rows.filter_map(|(row, column)| column.map(|column| (row, column)))
    };
    if known().count() < matrix.size().min(matrix.width()) {
        let (problem, allowed) = match matrix.size() > matrix.width() {
            true => ("has a code without an entry", "an entry for every code"),
            false => ("has an entry whose code is unknown", "a code for every entry"),
        };
        return Err(Error::invalid("mapping", problem, allowed));
    }
    let permanent = Exact::new(matrix, control)?.permanent(control)?;
    if permanent.wide().is_zero() {
        return Err(no_matching(matrix));
    }
    let weights = known().map(|(row, column)| matrix.weight(row, column));
    let product = weights.fold(Wide::from_f64(1.0), |product, weight| {
        product.times(Wide::from_f64(weight))
    });
    match product.divided_by(permanent.wide()) {
        0.0 if !product.is_zero() => Err(Error::OutOfRange {
            what: "the probability of the matching",
            is_large: false,
        }),
        probability => Ok(probability),
    }
}

/// Returns the degree of anonymity, from 0 to 1: the entropy of a random matching divided by its largest
/// possible value, ln n!. For a 0/1 matrix, this is the logarithm of the permanent divided by ln n! (Edman,
/// Sivrikaya and Yener 2007); for weights, it is the measure of Bagai, Lu, Li and Tang 2011. For a single
/// entry, it is 0. With n entries and m > n codes, or the other way round, there are m!/(m−n)! matchings in
/// place of n!.
pub fn degree_of_anonymity(matrix: &Matrix, control: &Control) -> Result<f64> {
    let edges = Exact::new(matrix, control)?.edge_probabilities(control)?;
    let surprise = edges
        .probability
        .iter()
        .zip(matrix.weights())
        .map(|(probability, weight)| probability * weight.ln());
    let entropy = edges.permanent.ln() - surprise.sum::<f64>();
    let (rows, columns) = (matrix.size(), matrix.width());
    let matchings = rows.abs_diff(columns) + 1..=rows.max(columns);
    let all: f64 = matchings.map(|choices| (choices as f64).ln()).sum();
    Ok(if all > 0.0 {
        (entropy / all).clamp(0.0, 1.0)
    } else {
        0.0
    })
}

/// Returns the expected cracks, or an error if there is no perfect matching.
pub fn estimate(matrix: &Matrix, truth: &Truth, settings: &Settings, control: &Control) -> Result<Estimate> {
    settings.check()?;
    if settings.method == Method::Marginals {
        check_marginals(matrix, control)?;
        return Ok(of_true_edges(matrix, truth, matrix.weights(), Method::Marginals));
    }
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching(matrix));
    }
    let method = match settings.method {
        Method::Auto if settings.can_afford(&exact) => Method::Exact,
        Method::Auto if settings.can_afford_sample(matrix, truth) => Method::Sample,
        Method::Auto => Method::Bethe,
        method => method,
    };
    if method == Method::Sample {
        return sample::estimate(matrix, truth, settings, control);
    }
    let probability = probabilities(&exact, matrix, method, settings, control)?;
    Ok(of_true_edges(matrix, truth, &probability, method))
}

/// Returns the sum of the true edges' probabilities, which are exact or approximations without an error bound.
fn of_true_edges(matrix: &Matrix, truth: &Truth, probability: &[f64], method: Method) -> Estimate {
    let crack_probability = values_of_true_edges(matrix, truth, probability);
    let expected = total(&crack_probability);
    let is_exact = matches!(method, Method::Exact | Method::Marginals);
    let bound = is_exact.then_some(expected);
    Estimate {
        expected,
        lower: bound,
        upper: bound,
        method,
        is_precise_enough: true,
        crack_probability,
    }
}

/// Checks that the weights can be the probabilities of edges in a random matching: no row and no column sums
/// to more than 1. Every such matrix is a mean of matchings, of which some may leave rows and columns out
/// (Birkhoff 1946).
fn check_marginals(matrix: &Matrix, control: &Control) -> Result<()> {
    const TOLERANCE: f64 = 1e-6;
    let mut of_columns = vec![0.0; matrix.width()];
    let mut largest = 0.0f64;
    for row in 0..matrix.size() {
        control.check()?;
        let mut sum = 0.0;
        for (column, weight) in matrix.row(row) {
            sum += weight;
            of_columns[column as usize] += weight;
        }
        largest = largest.max(sum);
    }
    if of_columns.into_iter().fold(largest, f64::max) > 1.0 + TOLERANCE {
        return Err(super::matrix::invalid(
            "has an entry or a code whose probabilities sum to more than 1",
            "the probability of every pair in a random matching, or a method other than marginals",
        ));
    }
    Ok(())
}

/// Probabilities of all edges by the method of the settings. Sampling is never used, because a sample says
/// little about single edges.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EdgeEstimates {
    /// Probability of every positive weight's edge, row by row.
    pub probability: Vec<f64>,
    /// Method that computed the probabilities; never [`Method::Auto`].
    pub method: Method,
}

/// Returns the probability of every edge. It is an error if there is no perfect matching, or if the settings
/// ask for sampling: the sample would have to be large enough for the rarest of all edges.
pub fn edge_probabilities(matrix: &Matrix, settings: &Settings, control: &Control) -> Result<EdgeEstimates> {
    settings.check()?;
    if settings.method == Method::Marginals {
        check_marginals(matrix, control)?;
        return Ok(EdgeEstimates {
            probability: matrix.weights().to_vec(),
            method: Method::Marginals,
        });
    }
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching(matrix));
    }
    let method = match settings.method {
        Method::Auto if settings.can_afford(&exact) => Method::Exact,
        Method::Auto => Method::Bethe,
        method => method,
    };
    Ok(EdgeEstimates {
        probability: probabilities(&exact, matrix, method, settings, control)?,
        method,
    })
}

/// Returns the probability of every positive weight's edge, row by row, by an exact sum, belief propagation
/// or the heuristic.
fn probabilities(
    exact: &Exact,
    matrix: &Matrix,
    method: Method,
    settings: &Settings,
    control: &Control,
) -> Result<Vec<f64>> {
    match method {
        Method::Auto | Method::Exact => {
            settings.check_cost(exact)?;
            Ok(exact.edge_probabilities(control)?.probability)
        }
        Method::Bethe => bethe::edge_probabilities(matrix, control),
        Method::Heuristic => Ok(shares(matrix)),
        Method::Marginals => Ok(matrix.weights().to_vec()),
        Method::Sample => Err(Error::invalid(
            "method",
            "sampling is not precise enough for single edges",
            "a method other than sampling",
        )),
    }
}

/// 2^-64. Weights multiplied by this have a finite sum in every row.
const SMALLER: f64 = f64::from_bits((1023 - 64) << 52);

/// Returns every weight as a share of its entry's total or, if there are fewer codes than entries, of its
/// code's total. All weights are in the order of edges.
pub fn shares(matrix: &Matrix) -> Vec<f64> {
    if matrix.size() <= matrix.width() {
        return row_shares(matrix);
    }
    // Divide by the largest weight of the column first, because the sum may be too large for a double.
    let mut largest = vec![0.0f64; matrix.width()];
    let mut sums = vec![0.0; matrix.width()];
    let edges = || (0..matrix.size()).flat_map(|row| matrix.row(row));
    for (column, weight) in edges() {
        largest[column as usize] = largest[column as usize].max(weight);
    }
    for (column, weight) in edges() {
        sums[column as usize] += weight / largest[column as usize];
    }
    let share = |(column, weight): (u32, f64)| weight / largest[column as usize] / sums[column as usize];
    edges().map(share).collect()
}

/// Returns every weight as a share of its row's total, row by row.
pub fn row_shares(matrix: &Matrix) -> Vec<f64> {
    let of_row = |row| {
        let weights = move |factor| matrix.row(row).map(move |(_, weight)| weight * factor);
        let factor = match weights(1.0).sum::<f64>() {
            f64::INFINITY => SMALLER,
            _ => 1.0,
        };
        let all: f64 = weights(factor).sum();
        weights(factor).map(move |weight| weight / all)
    };
    (0..matrix.size()).flat_map(of_row).collect()
}
