//! Cracks: the probabilities of edges and of true ones, by the method that the settings ask for.

use super::exact::no_matching;
use super::{Exact, Matrix, Method, Settings, bethe, sample};
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result};
use bitvec::bitvec;

/// Which code every entry has in truth: M₀ of Malik 2014, section 2.2. Where that is not known, an entry counts as
/// never cracked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Truth(Vec<Option<u32>>);

impl Truth {
    /// The number of every row's column; no column twice.
    pub fn new(matrix: &Matrix, columns: Vec<Option<u32>>) -> Result<Self> {
        let size = matrix.size();
        let problem = |problem: String| {
            Error::invalid("mapping", problem, format!("every number from 1 to {size} once"))
        };
        if columns.len() != size {
            return Err(problem(format!("has {} elements for {size} rows", columns.len())));
        }
        let mut taken = bitvec![0; size];
        for &column in columns.iter().flatten() {
            if column as usize >= size {
                return Err(problem("has an element that is no column".into()));
            }
            if taken.replace(column as usize, true) {
                return Err(problem("has the same column twice".into()));
            }
        }
        Ok(Truth(columns))
    }

    /// For every row, its column.
    pub fn columns(&self) -> &[Option<u32>] {
        &self.0
    }
}

/// The expected cracks of an attack.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Estimate {
    /// How many entries a random matching cracks on average: Ψ of Malik 2014, formula 4.2, or close to it.
    pub expected: f64,
    /// The answer lies between this, which is the answer itself where it is exact; `None` for approximations that
    /// say nothing about their error.
    pub lower: Option<f64>,
    /// … and this.
    pub upper: Option<f64>,
    /// How it was found; never [`Method::Auto`].
    pub method: Method,
    /// Whether a sample became as exact as it should.
    pub reached: bool,
    /// For every entry, its probability of being cracked.
    pub crack_probability: Vec<f64>,
}

/// H of Malik 2014, formula 4.3: every entry's chance to be given its own code where each chooses for itself. Rows are
/// distributions there, so weights are taken as shares of their row; of a 0/1 matrix it is the O-estimate.
pub fn heuristic(matrix: &Matrix, truth: &Truth) -> f64 {
    total(&of_entries(matrix, truth, &shares(matrix)))
}

/// Of what there is for every edge, what every entry's true one has; 0 where that is not possible, or not known.
pub(super) fn of_entries(matrix: &Matrix, truth: &Truth, of_edges: &[f64]) -> Vec<f64> {
    let of_row = |(row, column): (usize, &Option<u32>)| {
        let edge = column.and_then(|column| matrix.position(row, column));
        edge.map_or(0.0, |edge| of_edges[edge])
    };
    truth.columns().iter().enumerate().map(of_row).collect()
}

/// The sum, which of nothing is 0 and not -0.
fn total(of_entries: &[f64]) -> f64 {
    of_entries.iter().fold(0.0, |sum, of_entry| sum + of_entry)
}

/// The probability of one matching (Malik 2014, section 3.2), which has to be complete; an error where there is no
/// perfect matching.
pub fn matching_weight(matrix: &Matrix, truth: &Truth, control: &Control) -> Result<f64> {
    let permanent = Exact::new(matrix, control)?.permanent(control)?;
    if permanent.wide().is_zero() {
        return Err(no_matching());
    }
    let of_row =
        |(row, column): (usize, &Option<u32>)| column.map_or(0.0, |column| matrix.weight(row, column));
    let weights = truth.columns().iter().enumerate().map(of_row);
    let product = weights.fold(Wide::of(1.0), |product, weight| product.times(Wide::of(weight)));
    match product.per(permanent.wide()) {
        0.0 if !product.is_zero() => Err(Error::OutOfRange {
            what: "the probability of the matching",
            is_large: false,
        }),
        weight => Ok(weight),
    }
}

/// How much is left to guess, from 0 to 1: the entropy of a random matching as a share of what it would be if nothing
/// were known. Of a 0/1 matrix, the logarithm of the permanent by that of n! (Edman, Sivrikaya and Yener 2007); of
/// weights, the measure of Bagai, Lu, Li and Tang 2011. A single entry is never anonymous.
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

/// The expected cracks; an error where there is no perfect matching.
pub fn estimate(matrix: &Matrix, truth: &Truth, settings: &Settings, control: &Control) -> Result<Estimate> {
    settings.check()?;
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching());
    }
    let method = match settings.method {
        Method::Auto if settings.affords(&exact) => Method::Exact,
        Method::Auto if settings.affords_sample(matrix, truth) => Method::Sample,
        Method::Auto => Method::Bethe,
        method => method,
    };
    if method == Method::Sample {
        return sample::estimate(matrix, truth, settings, control);
    }
    let probability = probabilities(&exact, matrix, method, settings, control)?;
    let crack_probability = of_entries(matrix, truth, &probability);
    let expected = total(&crack_probability);
    let bound = (method == Method::Exact).then_some(expected);
    Ok(Estimate {
        expected,
        lower: bound,
        upper: bound,
        method,
        reached: true,
        crack_probability,
    })
}

/// The probability of every edge by the method that the settings ask for: exact ones where that is
/// [`Method::Exact`], and never a sample, which would say little of each of them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Edges {
    /// For every positive weight of the matrix, row by row.
    pub probability: Vec<f64>,
    /// How they were found; never [`Method::Auto`].
    pub method: Method,
}

/// The probability of every edge; an error where there is no perfect matching, or where a sample is asked for: that
/// would have to be as large as for a single edge, but for the rarest of all of them.
pub fn edge_probabilities(matrix: &Matrix, settings: &Settings, control: &Control) -> Result<Edges> {
    settings.check()?;
    let exact = Exact::new(matrix, control)?;
    if !exact.is_possible() {
        return Err(no_matching());
    }
    let method = match settings.method {
        Method::Auto if settings.affords(&exact) => Method::Exact,
        Method::Auto => Method::Bethe,
        method => method,
    };
    Ok(Edges {
        probability: probabilities(&exact, matrix, method, settings, control)?,
        method,
    })
}

/// For every positive weight of the matrix, row by row. One of these methods it is: exact, Bethe, heuristic.
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
        Method::Sample => Err(Error::invalid(
            "method",
            "a sample says little of every single edge",
            "another method than sampling",
        )),
    }
}

/// 2^-64: rows of weights so much smaller add up to a finite number.
const SMALLER: f64 = f64::from_bits((1023 - 64) << 52);

/// Every weight as a share of its row, row by row.
pub fn shares(matrix: &Matrix) -> Vec<f64> {
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
