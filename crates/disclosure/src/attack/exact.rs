use super::blocks::{blocks, Block};
use super::frontier::Frontier;
use super::matrix::invalid;
use super::Matrix;
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Permanents and what follows from them, exactly. Made at little cost, it knows what the answer will cost.
#[derive(Debug)]
pub struct Exact<'a> {
    matrix: &'a Matrix,
    /// `None` where there is no perfect matching.
    blocks: Option<Vec<Block>>,
}

/// The sum over all matchings of the products of their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permanent {
    value: Wide,
    /// The permanent is off by no more than this share of it.
    pub relative_error: f64,
}

impl Permanent {
    /// As a double: infinite or zero where it is too large or too small for one.
    pub fn value(&self) -> f64 {
        self.value.per(Wide::of(1.0))
    }

    /// Its natural logarithm; negative infinity where there is no matching.
    pub fn ln(&self) -> f64 {
        self.value.ln()
    }
}

/// How likely each edge is in a random matching.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeProbabilities {
    /// For every positive weight of the matrix, row by row.
    pub probability: Vec<f64>,
    /// None of them is off by more than this.
    pub error: f64,
    /// The permanent of the matrix.
    pub permanent: Permanent,
}

impl<'a> Exact<'a> {
    /// Take away edges that no matching uses, and plan how to sum up in each block that is left.
    pub fn new(matrix: &'a Matrix, control: &Control) -> Result<Self> {
        Ok(Exact {
            matrix,
            blocks: blocks(matrix, control)?,
        })
    }

    /// About how many seconds a core will take for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        let of_block = |block: &Block| {
            let size = block.matrix.size() as f64;
            size * size.exp2() * 1e-8
        };
        self.blocks.iter().flatten().map(of_block).sum()
    }

    /// About how much memory it will take.
    pub fn bytes(&self) -> f64 {
        0.0
    }

    /// How many blocks there are: parts that have nothing to do with each other.
    pub fn blocks(&self) -> usize {
        self.blocks.as_ref().map_or(0, Vec::len)
    }

    /// How many edges lie in some perfect matching.
    pub fn possible_edges(&self) -> usize {
        self.blocks
            .iter()
            .flatten()
            .map(|block| block.matrix.edges())
            .sum()
    }

    /// Whether there is a perfect matching.
    pub fn is_possible(&self) -> bool {
        self.blocks.is_some()
    }

    /// The permanent; zero where there is no perfect matching.
    pub fn permanent(&self, control: &Control) -> Result<Permanent> {
        let Some(blocks) = &self.blocks else {
            return Ok(Permanent {
                value: Wide::default(),
                relative_error: 0.0,
            });
        };
        let of_blocks = blocks
            .par_iter()
            .map(|block| Frontier::new(&block.matrix).permanent(control))
            .collect::<Result<Vec<Wide>>>()?;
        Ok(Permanent {
            value: of_blocks.into_iter().fold(Wide::of(1.0), Wide::times),
            relative_error: 1e-13,
        })
    }

    /// The probability of every edge; an error where there is no perfect matching.
    pub fn edge_probabilities(&self, control: &Control) -> Result<EdgeProbabilities> {
        let blocks = self.blocks.as_ref().ok_or_else(no_matching)?;
        let of_blocks = blocks
            .par_iter()
            .map(|block| Frontier::new(&block.matrix).edges(control))
            .collect::<Result<Vec<_>>>()?;
        let mut probability = vec![0.0; self.matrix.edges()];
        let mut value = Wide::of(1.0);
        for (block, (permanent, edges)) in blocks.iter().zip(of_blocks) {
            value = value.times(permanent);
            for (within, &row) in block.rows.iter().enumerate() {
                for (edge, (column, _)) in block.matrix.range(within).zip(block.matrix.row(within)) {
                    let column = block.columns[column as usize];
                    if let Some(position) = self.matrix.position(row as usize, column) {
                        probability[position] = edges[edge];
                    }
                }
            }
        }
        Ok(EdgeProbabilities {
            probability,
            error: 1e-13,
            permanent: Permanent {
                value,
                relative_error: 1e-13,
            },
        })
    }
}

pub(super) fn no_matching() -> Error {
    invalid(
        "has no perfect matching: the attacker rules out every way to give all entries different codes",
        "a matrix in which some choice of one positive weight per row and column exists",
    )
}
