//! Algorithms that sum over the matchings of a block, behind one interface. Each is planned first, so that
//! its estimated time and memory are known before [`Exact`](super::Exact) chooses one. Bounds on errors are
//! known as well, except for [`Engine::Dense`].

use super::dense::Dense;
use super::exact::too_large;
use super::flat::Flat;
use super::frontier::{Frontier, Summed};
use super::{Matrix, subset_dp};
use crate::matching::Wide;
use crate::{Control, Result};

/// One algorithm for a block, with its plan.
#[derive(Debug)]
pub(super) enum Engine {
    /// A block with a single edge.
    Single,
    /// Sum over all sets of columns, for blocks with few columns: see `subset_dp`.
    Table,
    /// Sum over sets of open columns, for blocks where few columns are open at a time: see `frontier`.
    Frontier(Frontier),
    /// Count of matchings, for blocks whose matchings all have the same weight: see `flat`.
    Flat(Flat),
    /// Sum over the signs of rows, by Glynn's formula: see `dense`. Its terms cancel, and the number of
    /// digits lost is only known afterwards.
    Dense(Dense),
    /// No algorithm is feasible.
    Prohibitive,
}

/// Sum over a block's matchings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub value: Wide,
    /// Bound on the relative error of `value`.
    pub relative_error: f64,
}

impl Engine {
    /// Returns all feasible engines, or only one if it is obviously the best.
    pub fn all(matrix: &Matrix, control: &Control) -> Result<Vec<Self>> {
        let size = matrix.size();
        if size == 1 {
            return Ok(vec![Engine::Single]);
        }
        if size <= subset_dp::LARGEST {
            return Ok(vec![Engine::Table]);
        }
        let frontier = Frontier::new(matrix, control)?.map(Engine::Frontier);
        let flat = Flat::new(matrix, control)?.map(Engine::Flat);
        let dense = Dense::new(matrix).map(Engine::Dense);
        Ok(frontier.into_iter().chain(flat).chain(dense).collect())
    }

    /// Returns whether the engine can replace one that lost too many digits: nothing cancels in it, and it
    /// takes less than ten seconds and 300 MB.
    pub fn is_spare(&self) -> bool {
        let cancels = matches!(self, Engine::Dense(_) | Engine::Flat(_));
        !cancels && self.seconds() < 10.0 && self.bytes() < 3e8
    }

    /// Returns whether all sums are integers if all weights are; they are exact as long as a double can hold
    /// the permanent.
    pub fn keeps_integers(&self) -> bool {
        matches!(self, Engine::Single | Engine::Table | Engine::Frontier(_))
    }

    /// Returns a bound on the absolute error of every edge probability, as far as it is known beforehand.
    pub fn edge_error(&self) -> f64 {
        match self {
            Engine::Single | Engine::Table | Engine::Dense(_) => 0.0,
            Engine::Frontier(frontier) => frontier.edge_error(),
            Engine::Flat(flat) => flat.edge_error(),
            Engine::Prohibitive => f64::INFINITY,
        }
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        match self {
            Engine::Single => 1e-8,
            Engine::Table => 1e-6,
            Engine::Frontier(frontier) => frontier.seconds(),
            Engine::Flat(flat) => flat.seconds(),
            Engine::Dense(dense) => dense.seconds(),
            Engine::Prohibitive => f64::INFINITY,
        }
    }

    /// Returns the estimated bytes that all edge probabilities take.
    pub fn bytes(&self) -> f64 {
        match self {
            Engine::Single | Engine::Table | Engine::Dense(_) => 0.0,
            Engine::Frontier(frontier) => frontier.bytes(),
            Engine::Flat(flat) => flat.bytes(),
            Engine::Prohibitive => f64::INFINITY,
        }
    }

    pub fn permanent(&self, matrix: &Matrix, control: &Control) -> Result<Sum> {
        let (value, relative_error) = match self {
            Engine::Single => single(matrix),
            Engine::Table => (
                subset_dp::permanent(matrix),
                subset_dp::permanent_error(matrix.size()),
            ),
            Engine::Frontier(frontier) => (frontier.permanent(control)?, frontier.permanent_error()),
            Engine::Flat(flat) => flat.permanent(control)?,
            Engine::Dense(dense) => dense.permanent(control)?,
            Engine::Prohibitive => return Err(too_large()),
        };
        Ok(Sum {
            value,
            relative_error,
        })
    }

    /// Returns the permanent, the probability of every edge, and a bound on the absolute error of these
    /// probabilities.
    pub fn edges(&self, matrix: &Matrix, control: &Control) -> Result<(Sum, Vec<f64>, f64)> {
        let (summed, relative_error, error) = match self {
            Engine::Single => {
                let (permanent, relative_error) = single(matrix);
                let summed = Summed {
                    permanent,
                    probability: vec![1.0],
                };
                (summed, relative_error, 0.0)
            }
            Engine::Table => (
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
            Engine::Prohibitive => return Err(too_large()),
        };
        let sum = Sum {
            value: summed.permanent,
            relative_error,
        };
        Ok((sum, summed.probability, error))
    }
}

fn single(matrix: &Matrix) -> (Wide, f64) {
    (subset_dp::permanent(matrix), 0.0)
}
