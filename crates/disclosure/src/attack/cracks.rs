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
        let size = matrix.size();
        let problem = |problem: String| {
            Error::invalid(
                "mapping",
                problem,
                format!("each number from 1 to {size} at most once, one element per row"),
            )
        };
        if columns.len() != size {
            return Err(problem(format!("has {} elements for {size} rows", columns.len())));
        }
        let mut taken = bitvec![0; size];
        for &column in columns.iter().flatten() {
            if column as usize >= size {
                return Err(problem("has an element that is not a column number".into()));
            }
            if taken.replace(column as usize, true) {
                return Err(problem("contains a column twice".into()));
            }
        }
        Ok(Truth(columns))
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
/// taken as shares of their row. For a 0/1 matrix, H is the O-estimate.
pub fn heuristic(matrix: &Matrix, truth: &Truth) -> f64 {
    total(&values_of_true_edges(matrix, truth, &row_shares(matrix)))
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
/// entry is unknown or if there is no perfect matching.
pub fn matching_probability(matrix: &Matrix, truth: &Truth, control: &Control) -> Result<f64> {
    let columns: Option<Vec<u32>> = truth.columns().iter().copied().collect();
    let columns = columns.ok_or_else(|| {
        Error::invalid(
            "mapping",
            "has an entry whose code is unknown",
            "a code for every entry",
        )
    })?;
    let permanent = Exact::new(matrix, control)?.permanent(control)?;
    if permanent.wide().is_zero() {
        return Err(no_matching());
    }
    let weights = columns
        .iter()
        .enumerate()
        .map(|(row, &column)| matrix.weight(row, column));
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
/// entry, it is 0.
pub fn degree_of_anonymity(matrix: &Matrix, control: &Control) -> Result<f64> {
    let edges = Exact::new(matrix, control)?.edge_probabilities(control)?;
    let surprise = edges
        .probability
        .iter()
        .zip(matrix.weights())
        .map(|(probability, weight)| probability * weight.ln());
    let entropy = edges.permanent.ln() - surprise.sum::<f64>();
    let all: f64 = (2..=matrix.size()).map(|row| (row as f64).ln()).sum();
    Ok(if all > 0.0 {
        (entropy / all).clamp(0.0, 1.0)
    } else {
        0.0
    })
}

/// Returns the expected cracks, or an error if there is no perfect matching.
pub fn estimate(matrix: &Matrix, truth: &Truth, settings: &Settings, control: &Control) -> Result<Estimate> {
    settings.check()?;
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching());
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
    let crack_probability = values_of_true_edges(matrix, truth, &probability);
    let expected = total(&crack_probability);
    let bound = (method == Method::Exact).then_some(expected);
    Ok(Estimate {
        expected,
        lower: bound,
        upper: bound,
        method,
        is_precise_enough: true,
        crack_probability,
    })
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
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching());
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
        Method::Heuristic => Ok(row_shares(matrix)),
        Method::Sample => Err(Error::invalid(
            "method",
            "sampling is not precise enough for single edges",
            "a method other than sampling",
        )),
    }
}

/// 2^-64. Weights multiplied by this have a finite sum in every row.
const SMALLER: f64 = f64::from_bits((1023 - 64) << 52);

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
