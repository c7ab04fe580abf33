//! Ways to sum up over the matchings of a block.

use super::dense::Dense;
use super::exact::too_large;
use super::flat::Flat;
use super::frontier::{Frontier, Summed};
use super::{Matrix, subset_dp};
use crate::matching::Wide;
use crate::{Control, Result};

/// A way to sum up, with the plan that it made.
#[derive(Debug)]
pub(super) enum Engine {
    /// A single edge.
    Single,
    /// Over all sets of columns, where there are few.
    Table,
    /// Over sets of open columns, where these are few.
    Frontier(Frontier),
    /// Without weights, where they do not matter.
    Flat(Flat),
    /// Over signs of rows. Terms cancel there, and it is not known before how many digits that costs.
    Dense(Dense),
    /// None is feasible.
    Prohibitive,
}

/// The sum over a block's matchings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub value: Wide,
    /// It is off by no more than this share of it.
    pub relative_error: f64,
}

impl Engine {
    /// All that are feasible; only the best of them where that is obvious.
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

    /// Whether it takes over for more digits: nothing cancels, and it takes a few seconds and little memory.
    pub fn is_spare(&self) -> bool {
        let cancels = matches!(self, Engine::Dense(_) | Engine::Flat(_));
        !cancels && self.seconds() < 10.0 && self.bytes() < 3e8
    }

    /// Whether sums of integers are integers all the way, exactly as long as a double can hold the permanent.
    pub fn keeps_integers(&self) -> bool {
        matches!(self, Engine::Single | Engine::Table | Engine::Frontier(_))
    }

    /// No probability is off by more than this, as far as is known before.
    pub fn edge_error(&self) -> f64 {
        match self {
            Engine::Single | Engine::Table | Engine::Dense(_) => 0.0,
            Engine::Frontier(frontier) => frontier.edge_error(),
            Engine::Flat(flat) => flat.edge_error(),
            Engine::Prohibitive => f64::INFINITY,
        }
    }

    /// About how many seconds a core will take for all edges.
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

    /// About how much memory that will take.
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

    /// The permanent, the probability of every edge, and by how much any of these is off at most.
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
