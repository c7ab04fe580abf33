//! Decomposition of a matrix into independent blocks. Sums over the matchings of the matrix are products of
//! sums over the matchings of its blocks.

use super::Matrix;
use crate::matching::{Components, admissible};
use crate::{Control, Result};

/// Independent part of a matrix: every perfect matching of the matrix consists of one perfect matching of
/// each block. Each edge of a block lies in some perfect matching.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Rows of the block in the whole matrix, ascending.
    pub rows: Vec<u32>,
    /// Columns of the block in the whole matrix, ascending.
    pub columns: Vec<u32>,
    /// Weights of the block, with rows and columns numbered within it.
    pub matrix: Matrix,
}

impl Block {
    /// Copies a value per edge of the block to the indices of these edges in the whole matrix.
    pub fn scatter(
        &self,
        of_edges: &[f64],
        whole: &Matrix,
        into: &mut [f64],
        control: &Control,
    ) -> Result<()> {
        for (within, &row) in self.rows.iter().enumerate() {
            control.check()?;
            for (edge, (column, _)) in self.matrix.edge_range(within).zip(self.matrix.row(within)) {
                let column = self.columns[column as usize];
                if let Some(in_whole) = whole.edge_index(row as usize, column) {
                    into[in_whole] = of_edges[edge];
                }
            }
        }
        Ok(())
    }
}

/// Removes the edges that no perfect matching uses and returns the connected components that remain; `None`
/// if there is no perfect matching.
pub(super) fn blocks(matrix: &Matrix, control: &Control) -> Result<Option<Vec<Block>>> {
    let size = matrix.size() as u32;
    if size > 0 && matrix.edge_count() == matrix.size() * matrix.size() {
        // In a full matrix, every edge lies in some perfect matching.
        control.require::<(u32, f64)>(matrix.edge_count())?;
        return Ok(Some(vec![Block {
            rows: (0..size).collect(),
            columns: (0..size).collect(),
            matrix: matrix.clone(),
        }]));
    }
    let Some(graph) = admissible(&matrix.graph(), control)? else {
        return Ok(None);
    };
    let components = Components::new(&graph, control)?;
    let mut within = vec![0; matrix.size()];
    for columns in &components.codes {
        for (number, &column) in columns.iter().enumerate() {
            within[column as usize] = number as u32;
        }
    }
    let members = components.items.into_iter().zip(components.codes);
    let block = |(rows, columns): (Vec<u32>, Vec<u32>)| {
        // Numbering within the block keeps the order of rows and columns in the whole matrix.
        let of_rows = rows.iter().map(|&row| {
            let candidates = graph.items[row as usize].candidates.iter();
            candidates.map(move |&column| (column, matrix.weight(row as usize, column)))
        });
        let numbered = of_rows.map(|row| row.map(|(column, weight)| (within[column as usize], weight)));
        Ok(Block {
            matrix: Matrix::from_rows(numbered, control)?,
            rows,
            columns,
        })
    };
    members.map(block).collect::<Result<_>>().map(Some)
}
