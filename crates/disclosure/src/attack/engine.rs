//! Algorithms that sum over the matchings of a block, behind one interface. Each is planned first, so that
//! its estimated time and memory are known before [`Exact`](super::Exact) chooses one. Bounds on errors are
//! known as well, except for [`Engine::Dense`].

use super::dense::Dense;
use super::exact::too_large;
use super::flat::Flat;
use super::frontier::{Frontier, roundings};
use super::{Matrix, subset_dp};
use crate::matching::{Weight, Wide};
use crate::{Control, Result};

/// One algorithm for a block, with its plan.
#[derive(Debug)]
pub(super) enum Engine {
    /// A block with a single edge.
    Single,
    /// Sum over all sets of columns, for blocks with few columns: see `subset_dp`.
    SubsetDp,
    /// Sum over sets of open columns, for blocks where few columns are open at a time: see `frontier`.
    Frontier(Frontier),
    /// Count of matchings, for blocks whose matchings all have the same weight: see `flat`.
    Flat(Flat),
    /// Sum over the signs of rows, by Glynn's formula: see `dense`. Its terms cancel, and the number of
    /// digits lost is only known afterwards.
    Dense(Dense),
    /// An algorithm for a block with more columns than rows, which is made square by rows of ones.
    Padded(Box<Padded>),
    /// No algorithm is feasible.
    Infeasible,
}

/// A block with more columns than rows, and further rows of ones that make it square.
#[derive(Debug)]
pub(super) struct Padded {
    matrix: Matrix,
    engine: Engine,
    /// Number of edges of the block, which come first in `matrix`.
    edges: usize,
    /// 1 divided by the number of permutations of the further rows.
    share: Wide,
    /// Bound on the relative error of `share`.
    share_error: f64,
}

/// Number of edges of further rows up to which a block is padded.
pub(super) const MAX_PADDING: usize = 1 << 22;

impl Padded {
    /// Returns the algorithms for the padded block, as far as they are feasible.
    fn all(block: &Matrix, control: &Control) -> Result<Vec<Engine>> {
        let further = block.width() - block.size();
        let edges = further.saturating_mul(block.width());
        // Small blocks are quick anyway, and Glynn's formula needs a few rows.
        let is_small = block.width() <= subset_dp::MAX_SIZE;
        if is_small || edges > MAX_PADDING || control.require::<(u32, f64)>(4 * edges).is_err() {
            return Ok(Vec::new());
        }
        let matrix = block.padded(control)?;
        let flat = Flat::new(&matrix, control)?.map(Engine::Flat);
        let dense = Dense::new(&matrix).map(Engine::Dense);
        let padded = |engine| {
            Engine::Padded(Box::new(Padded {
                matrix: matrix.clone(),
                engine,
                edges: block.edge_count(),
                share: (1..=further).fold(Wide::from_f64(1.0), |share, row| {
                    share.times(Wide::from_f64(1.0 / row as f64))
                }),
                share_error: roundings(2.0 * further as f64),
            }))
        };
        Ok(flat.into_iter().chain(dense).map(padded).collect())
    }

    fn unpadded(&self, sum: Sum) -> Sum {
        Sum {
            value: sum.value.times(self.share),
            relative_error: (sum.relative_error.ln_1p() + self.share_error.ln_1p()).exp_m1(),
        }
    }

    fn permanent(&self, control: &Control) -> Result<Sum> {
        Ok(self.unpadded(self.engine.permanent(&self.matrix, control)?))
    }

    fn edges(&self, control: &Control) -> Result<(Sum, Vec<f64>, f64)> {
        let (sum, mut probability, error) = self.engine.edges(&self.matrix, control)?;
        probability.truncate(self.edges);
        Ok((self.unpadded(sum), probability, error))
    }
}

/// Sum over a block's matchings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub value: Wide,
    /// Bound on the relative error of `value`.
    pub relative_error: f64,
}

/// A permanent, and the probability of every edge in the order of the block's edges.
pub(super) struct PermanentAndEdges {
    pub permanent: Wide,
    pub probability: Vec<f64>,
}

impl Engine {
    /// Returns all feasible engines, or only one if it is obviously the best.
    pub fn all(matrix: &Matrix, control: &Control) -> Result<Vec<Self>> {
        let size = matrix.size();
        if size < matrix.width() {
            let frontier = Frontier::new(matrix, control)?.map(Engine::Frontier);
            return Ok(frontier
                .into_iter()
                .chain(Padded::all(matrix, control)?)
                .collect());
        }
        if size == 1 {
            return Ok(vec![Engine::Single]);
        }
        if size <= subset_dp::MAX_SIZE {
            return Ok(vec![Engine::SubsetDp]);
        }
        let frontier = Frontier::new(matrix, control)?.map(Engine::Frontier);
        let flat = Flat::new(matrix, control)?.map(Engine::Flat);
        let dense = Dense::new(matrix).map(Engine::Dense);
        Ok(frontier.into_iter().chain(flat).chain(dense).collect())
    }

    /// Returns whether the engine can replace one that lost too many digits: nothing cancels in it, and it
    /// takes less than ten seconds and 300 MB.
    pub fn can_be_fallback(&self) -> bool {
        let cancels = matches!(self, Engine::Dense(_) | Engine::Flat(_) | Engine::Padded(_));
        !cancels && self.seconds() < 10.0 && self.bytes() < 3e8
    }

    /// Returns whether all sums are integers if all weights are; they are exact as long as a double can hold
    /// the permanent.
    pub fn keeps_integers(&self) -> bool {
        matches!(self, Engine::Single | Engine::SubsetDp | Engine::Frontier(_))
    }

    /// Returns a bound on the absolute error of every edge probability, as far as it is known beforehand.
    pub fn edge_error(&self) -> f64 {
        match self {
            Engine::Single | Engine::SubsetDp | Engine::Dense(_) => 0.0,
            Engine::Frontier(frontier) => frontier.edge_error(),
            Engine::Flat(flat) => flat.edge_error(),
            Engine::Padded(padded) => padded.engine.edge_error(),
            Engine::Infeasible => f64::INFINITY,
        }
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        match self {
            Engine::Single => 1e-8,
            Engine::SubsetDp => 1e-6,
            Engine::Frontier(frontier) => frontier.seconds(),
            Engine::Flat(flat) => flat.seconds(),
            Engine::Dense(dense) => dense.seconds(),
            Engine::Padded(padded) => padded.engine.seconds(),
            Engine::Infeasible => f64::INFINITY,
        }
    }

    /// Returns the estimated bytes that all edge probabilities take.
    pub fn bytes(&self) -> f64 {
        match self {
            Engine::Single | Engine::SubsetDp | Engine::Dense(_) => 0.0,
            Engine::Frontier(frontier) => frontier.bytes(),
            Engine::Flat(flat) => flat.bytes(),
            Engine::Padded(padded) => padded.engine.bytes(),
            Engine::Infeasible => f64::INFINITY,
        }
    }

    pub fn permanent(&self, matrix: &Matrix, control: &Control) -> Result<Sum> {
        let (value, relative_error) = match self {
            Engine::Single => single(matrix),
            Engine::SubsetDp => (
                subset_dp::permanent(matrix),
                subset_dp::permanent_error(matrix.size()),
            ),
            Engine::Frontier(frontier) => (frontier.permanent(control)?, frontier.permanent_error()),
            Engine::Flat(flat) => flat.permanent(control)?,
            Engine::Dense(dense) => dense.permanent(control)?,
            Engine::Padded(padded) => return padded.permanent(control),
            Engine::Infeasible => return Err(too_large()),
        };
        Ok(Sum {
            value,
            relative_error,
        })
    }

    /// Returns the permanent, the probability of every edge, and a bound on the absolute error of these
    /// probabilities.
    pub fn edges(&self, matrix: &Matrix, control: &Control) -> Result<(Sum, Vec<f64>, f64)> {
        let (found, relative_error, error) = match self {
            Engine::Single => {
                let (permanent, relative_error) = single(matrix);
                let found = PermanentAndEdges {
                    permanent,
                    probability: vec![1.0],
                };
                (found, relative_error, 0.0)
            }
            Engine::SubsetDp => (
                subset_dp::edges(matrix),
                subset_dp::permanent_error(matrix.size()),
                subset_dp::edge_error(matrix.size()),
            ),
            Engine::Frontier(frontier) => (
                frontier.edges(control)?,
                frontier.permanent_error(),
                frontier.edge_error(),
            ),
            Engine::Flat(flat) => flat.edges(matrix, control)?,
            Engine::Dense(dense) => dense.edges(control)?,
            Engine::Padded(padded) => return padded.edges(control),
            Engine::Infeasible => return Err(too_large()),
        };
        let sum = Sum {
            value: found.permanent,
            relative_error,
        };
        Ok((sum, found.probability, error))
    }
}

fn single(matrix: &Matrix) -> (Wide, f64) {
    (subset_dp::permanent(matrix), 0.0)
}
