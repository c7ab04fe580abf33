//! Decomposition of a matrix into independent blocks. Sums over the matchings of the matrix are products of
//! sums over the matchings of its blocks.

use super::Matrix;
use crate::matching::{Components, admissible};
use crate::{Control, Result};

/// Independent part of a matrix: every matching of the matrix consists of one matching of each block. Each
/// edge of a block lies in some matching.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Whether the rows of the block are columns of the whole matrix, because that has more rows than columns.
    is_transposed: bool,
    /// Rows of the block in the whole matrix, ascending; columns, if the block is transposed.
    pub rows: Vec<u32>,
    /// Columns of the block in the whole matrix, ascending; rows, if the block is transposed.
    pub columns: Vec<u32>,
    /// Weights of the block, with rows and columns numbered within it. There are at least as many columns as
    /// rows, and every matching uses all rows.
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
        for within in 0..self.rows.len() {
            control.check()?;
            for (edge, (column, _)) in self.matrix.edge_range(within).zip(self.matrix.row(within)) {
                let (row, column) = self.in_whole(within, column);
                if let Some(in_whole) = whole.edge_index(row as usize, column) {
                    into[in_whole] = of_edges[edge];
                }
            }
        }
        Ok(())
    }

    /// Returns the row and the column in the whole matrix of an edge of the block.
    pub fn in_whole(&self, row: usize, column: u32) -> (u32, u32) {
        let (row, column) = (self.rows[row], self.columns[column as usize]);
        match self.is_transposed {
            true => (column, row),
            false => (row, column),
        }
    }
}

/// Removes the edges that no matching uses and returns the connected components that remain; `None` if no
/// matching uses everything on the smaller side.
///
/// A matching uses all rows, so that it leaves as many columns of a component as that has more columns than
/// rows. So components are independent of each other even if columns are left over.
pub(super) fn blocks(matrix: &Matrix, control: &Control) -> Result<Option<Vec<Block>>> {
    let is_transposed = matrix.size() > matrix.width();
    let transposed = is_transposed.then(|| matrix.transposed(control)).transpose()?;
    let matrix = transposed.as_ref().unwrap_or(matrix);
    if matrix.size() > 0 && matrix.edge_count() == matrix.size() * matrix.width() {
        // In a full matrix, every edge lies in some matching.
        control.require::<(u32, f64)>(matrix.edge_count())?;
        return Ok(Some(vec![Block {
            is_transposed,
            rows: (0..matrix.size() as u32).collect(),
            columns: (0..matrix.width() as u32).collect(),
            matrix: matrix.clone(),
        }]));
    }
    let Some(mut graph) = admissible(&matrix.graph(), control)? else {
        return Ok(None);
    };
    // What takes the columns that are left over connects nothing.
    graph.items.truncate(matrix.size());
    let components = Components::new(&graph, control)?;
    let mut within = vec![0; matrix.width()];
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
            is_transposed,
            matrix: Matrix::from_rows(columns.len(), numbered, control)?,
            rows,
            columns,
        })
    };
    let members = members.filter(|(rows, _)| !rows.is_empty());
    members.map(block).collect::<Result<_>>().map(Some)
}
