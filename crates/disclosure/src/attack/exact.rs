//! Exact permanents and edge probabilities.
//!
//! The matrix is split into independent blocks. Each block gets the quickest of the feasible algorithms (see
//! `engine`), and a fallback if the first might lose digits to cancellation. The permanent of the matrix is
//! the product of those of its blocks; the probability of an edge is that within its block. Every result
//! comes with a bound on its rounding error.

use super::Matrix;
use super::blocks::{Block, blocks};
use super::engine::{Engine, Sum};
use super::frontier::roundings;
use super::matrix::invalid;
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result, parallel};

/// Exact permanents and the probabilities that follow from them. Creating a value is cheap, and it can
/// estimate the cost of the answer.
#[derive(Debug)]
pub struct Exact<'a> {
    matrix: &'a Matrix,
    /// Blocks with their engines; `None` if there is no perfect matching.
    planned_blocks: Option<Vec<PlannedBlock>>,
}

/// Permanent of a matrix: the sum, over all matchings, of the products of their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permanent {
    value: Wide,
    /// Bound on the relative error of the permanent.
    pub relative_error: f64,
}

impl Permanent {
    /// Returns the permanent as a double: infinite if it is too large for one, zero if it is too small.
    pub fn value(&self) -> f64 {
        self.value.divided_by(Wide::from_f64(1.0))
    }

    /// Returns the permanent as a double, or an error if it is too large or too small for one. Zero means
    /// that there is no perfect matching.
    pub fn in_range(&self) -> Result<f64> {
        let value = self.value();
        let is_out = value.is_infinite() || value == 0.0 && !self.value.is_zero();
        match is_out {
            true => Err(Error::OutOfRange {
                what: "the permanent",
                is_large: value > 0.0,
            }),
            false => Ok(value),
        }
    }

    pub(super) fn wide(&self) -> Wide {
        self.value
    }

    /// Returns the natural logarithm of the permanent; negative infinity if there is no perfect matching.
    pub fn ln(&self) -> f64 {
        self.value.ln()
    }
}

/// Probabilities of edges in a random matching.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeProbabilities {
    /// Probability of every positive weight's edge, row by row.
    pub probability: Vec<f64>,
    /// Bound on the absolute error of every probability.
    pub error: f64,
    /// Permanent of the matrix.
    pub permanent: Permanent,
}

/// A block and the engines that sum over its matchings.
#[derive(Debug)]
struct PlannedBlock {
    block: Block,
    engine: Engine,
    /// Replacement if `engine` loses too many digits, which is only known afterwards.
    fallback: Option<Engine>,
    /// Whether all weights are integers, so that the permanent is an integer as well.
    is_integral: bool,
}

/// Relative error below which a permanent is exact enough. If an engine cannot guarantee it, the fallback
/// is tried.
const SMALL_ERROR: f64 = 1e-10;

/// Absolute error below which edge probabilities are exact enough. It is larger than [`SMALL_ERROR`], because
/// probabilities are shown with fewer digits and their bounds are looser.
const SMALL_EDGE_ERROR: f64 = 1e-8;

/// Seconds of work below which starting threads takes longer than it saves.
const MIN_SECONDS_FOR_THREADS: f64 = 1e-3;

/// Limit below which all integers are exact as doubles.
const MAX_EXACT_INTEGER: f64 = (1u64 << 53) as f64;

impl PlannedBlock {
    /// Chooses the quickest of the engines that guarantee a small error or, if there is none, of all engines.
    fn new(block: Block, control: &Control) -> Result<Self> {
        let mut engines = Engine::all(&block.matrix, control)?;
        let merit = |engine: &Engine| (engine.edge_error() > SMALL_EDGE_ERROR, engine.seconds());
        let by_merit = |a: &Engine, b: &Engine| {
            let ((a_errs, a_seconds), (b_errs, b_seconds)) = (merit(a), merit(b));
            a_errs.cmp(&b_errs).then(a_seconds.total_cmp(&b_seconds))
        };
        engines.sort_by(by_merit);
        let mut engines = engines.into_iter();
        Ok(PlannedBlock {
            engine: engines.next().unwrap_or(Engine::Infeasible),
            fallback: engines.find(Engine::can_be_fallback),
            is_integral: block.matrix.weights().iter().all(|weight| weight.fract() == 0.0),
            block,
        })
    }

    fn permanent(&self, control: &Control) -> Result<Sum> {
        let with = |engine: &Engine| {
            let sum = engine.permanent(&self.block.matrix, control)?;
            Ok(self.exact_if_integer(sum, engine))
        };
        let found = with(&self.engine)?;
        match &self.fallback {
            Some(fallback) if !self.is_exact_enough(&found) => with(fallback),
            _ => Ok(found),
        }
    }

    /// Returns the permanent, the probability of every edge, and a bound on the absolute error of these
    /// probabilities.
    fn edges(&self, control: &Control) -> Result<(Sum, Vec<f64>, f64)> {
        let with = |engine: &Engine| {
            let (sum, probability, error) = engine.edges(&self.block.matrix, control)?;
            Ok((self.exact_if_integer(sum, engine), probability, error))
        };
        let found = with(&self.engine)?;
        match &self.fallback {
            Some(fallback) if found.2 > SMALL_EDGE_ERROR || !self.is_exact_enough(&found.0) => with(fallback),
            _ => Ok(found),
        }
    }

    /// Returns the exact integer if the sum has to be an integer and its error bound leaves only one;
    /// otherwise the sum itself.
    fn exact_if_integer(&self, sum: Sum, engine: &Engine) -> Sum {
        let found = sum.value.divided_by(Wide::from_f64(1.0));
        let max_error = found * sum.relative_error;
        if !self.is_integral || found + max_error >= MAX_EXACT_INTEGER {
            return sum;
        }
        let value = match engine.keeps_integers() {
            true => sum.value,
            false if max_error < 0.25 => Wide::from_f64(found.round()),
            false => return sum,
        };
        Sum {
            value,
            relative_error: 0.0,
        }
    }

    /// Returns whether the sum is exact, for integers below [`MAX_EXACT_INTEGER`], or has a small error, for
    /// other numbers.
    fn is_exact_enough(&self, sum: &Sum) -> bool {
        let fits = sum.value.divided_by(Wide::from_f64(1.0)) < MAX_EXACT_INTEGER;
        sum.relative_error
            <= if self.is_integral && fits {
                0.0
            } else {
                SMALL_ERROR
            }
    }
}

impl<'a> Exact<'a> {
    /// Removes the edges that no perfect matching uses and plans the sums of each remaining block.
    pub fn new(matrix: &'a Matrix, control: &Control) -> Result<Self> {
        let plan = |block| PlannedBlock::new(block, control);
        let planned = blocks(matrix, control)?.map(|blocks| blocks.into_iter().map(plan).collect());
        Ok(Exact {
            matrix,
            planned_blocks: planned.transpose()?,
        })
    }

    fn planned_blocks(&self) -> &[PlannedBlock] {
        self.planned_blocks.as_deref().unwrap_or_default()
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities; infinite if that is
    /// infeasible.
    pub fn seconds(&self) -> f64 {
        self.planned_blocks()
            .iter()
            .fold(0.0, |sum, planned| sum + planned.engine.seconds())
    }

    /// Returns the estimated bytes that all edge probabilities take.
    pub fn bytes(&self) -> f64 {
        let mut bytes_of_blocks: Vec<f64> = self
            .planned_blocks()
            .iter()
            .map(|planned| planned.engine.bytes())
            .collect();
        bytes_of_blocks.sort_unstable_by(|a, b| b.total_cmp(a));
        let at_a_time = if self.is_worth_threads() {
            rayon::current_num_threads()
        } else {
            1
        };
        bytes_of_blocks
            .into_iter()
            .take(at_a_time)
            .fold(0.0, |sum, bytes| sum + bytes)
    }

    /// Returns the number of independent blocks.
    pub fn blocks(&self) -> usize {
        self.planned_blocks().len()
    }

    /// Returns the number of edges that lie in some perfect matching.
    pub fn possible_edges(&self) -> usize {
        self.planned_blocks()
            .iter()
            .map(|planned| planned.block.matrix.edge_count())
            .sum()
    }

    /// Returns whether there is a perfect matching.
    pub fn is_possible(&self) -> bool {
        self.planned_blocks.is_some()
    }

    fn is_worth_threads(&self) -> bool {
        self.planned_blocks().len() > 1 && self.seconds() > MIN_SECONDS_FOR_THREADS
    }

    /// Calls a function for every block, on several threads if there is enough work, and returns the results
    /// in order.
    fn for_blocks<T: Send>(
        &self,
        of_block: impl Fn(&PlannedBlock) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        parallel::map_if(self.planned_blocks(), self.is_worth_threads(), of_block)
    }

    /// Returns the permanent; zero if there is no perfect matching.
    pub fn permanent(&self, control: &Control) -> Result<Permanent> {
        if !self.is_possible() {
            return Ok(Permanent {
                value: Wide::default(),
                relative_error: 0.0,
            });
        }
        let sums = self.for_blocks(|planned| planned.permanent(control))?;
        Ok(self.product(&sums))
    }

    /// Returns the probability of every edge, or an error if there is no perfect matching.
    pub fn edge_probabilities(&self, control: &Control) -> Result<EdgeProbabilities> {
        if !self.is_possible() {
            return Err(no_matching(self.matrix));
        }
        let of_blocks = self.for_blocks(|planned| planned.edges(control))?;
        let mut probability = vec![0.0; self.matrix.edge_count()];
        let mut sums = Vec::with_capacity(of_blocks.len());
        let mut largest_error = 0.0f64;
        for (planned, (sum, edges, error)) in self.planned_blocks().iter().zip(of_blocks) {
            sums.push(sum);
            largest_error = largest_error.max(error);
            planned
                .block
                .scatter(&edges, self.matrix, &mut probability, control)?;
        }
        Ok(EdgeProbabilities {
            probability,
            error: largest_error,
            permanent: self.product(&sums),
        })
    }

    /// Returns the product of the permanents of all blocks.
    fn product(&self, sums: &[Sum]) -> Permanent {
        let value = sums
            .iter()
            .fold(Wide::from_f64(1.0), |product, sum| product.times(sum.value));
        let of_blocks: f64 = sums.iter().map(|sum| sum.relative_error.ln_1p()).sum();
        let integers = self.planned_blocks().iter().all(|planned| planned.is_integral);
        let of_product = match sums.len() {
            0 | 1 => 0.0,
            _ if integers
                && of_blocks == 0.0
                && value.divided_by(Wide::from_f64(1.0)) < MAX_EXACT_INTEGER =>
            {
                0.0
            }
            blocks => roundings(blocks as f64),
        };
        Permanent {
            value,
            relative_error: (of_blocks + of_product).exp_m1(),
        }
    }
}

pub(super) fn too_large() -> Error {
    invalid(
        "is too large and too dense for an exact answer",
        "a smaller or sparser matrix, or another method",
    )
}

/// Returns the error that nothing matches everything on the smaller side of the matrix.
pub(super) fn no_matching(matrix: &Matrix) -> Error {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let (smaller, larger, allowed) = match matrix.size().cmp(&matrix.width()) {
        Equal => ("entries", "codes", "one in every row and column"),
        Less => ("entries", "codes", "one in every row, in different columns"),
        Greater => ("codes", "entries", "one in every column, in different rows"),
    };
    invalid(
        &format!(
            "has no perfect matching: the adversary rules out every way to give all {smaller} different {larger}"
        ),
        &format!("a matrix with at least one choice of positive weights, {allowed}"),
    )
}
