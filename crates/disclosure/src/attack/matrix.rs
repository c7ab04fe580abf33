//! The matrix of weights that describes an attack, stored sparsely: row by row, only the positive weights,
//! with their columns in ascending order. Each positive weight is an *edge* of the bipartite graph between
//! entries and codes, and its position in this order is the edge's *index* everywhere in `attack`.

use crate::matching::{Graph, ItemClass};
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayView2};

/// Result of a probabilistic attack (Malik 2014, section 3.1): for every entry (row) and code (column), the
/// weight of the adversary's belief that the entry became the code. A 0/1 matrix only says which pairs are
/// possible. Weights may have any unit: multiplying all of them by a positive number changes no probability of
/// a matching, nor does multiplying a row or a column that every matching uses.
///
/// There may be more codes than entries, or fewer. Then a matching matches everything on the smaller side:
/// every entry with a code of its own, or every code with an entry of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Start of every row in `columns` and `weights`, followed by the end of the last row.
    starts: Vec<usize>,
    /// Columns of the positive weights, ascending within a row.
    columns: Vec<u32>,
    weights: Vec<f64>,
    /// Number of columns.
    width: usize,
}

/// Number of edges processed between two checks for cancellation: less than a millisecond of work.
pub(super) const EDGES_PER_CHECK: usize = 1 << 14;

impl Matrix {
    /// Returns the matrix with these weights, given row by row with zeros included.
    pub fn dense(rows: usize, columns: usize, weights: &[f64]) -> Result<Self> {
        let view = ArrayView2::from_shape((rows, columns), weights).map_err(|_| {
            let problem = format!(
                "has {} weights for {rows} rows and {columns} columns",
                weights.len()
            );
            invalid(&problem, "one weight for every pair of a row and a column")
        })?;
        Matrix::from_dense(view, &Control::new())
    }

    /// Like [`dense`](Self::dense), for large matrices: checks for cancellation.
    pub fn from_dense(weights: ArrayView2<f64>, control: &Control) -> Result<Self> {
        check_size(weights.nrows(), weights.ncols())?;
        let rows = weights.rows().into_iter();
        let rows = rows.map(|row| (0..).zip(row.into_iter().copied()));
        Matrix::from_rows(weights.ncols(), rows, control)
    }

    /// Returns the matrix with these weights, given as (row, column, weight) in any order; all others are
    /// zero. It is an error if an edge occurs twice or lies outside of the rows and columns.
    pub fn sparse(rows: usize, columns: usize, edges: Vec<(u32, u32, f64)>) -> Result<Self> {
        Matrix::from_sparse(rows, columns, edges, &Control::new())
    }

    /// Like [`sparse`](Self::sparse), for large matrices: checks for cancellation.
    pub fn from_sparse(
        rows: usize,
        columns: usize,
        edges: Vec<(u32, u32, f64)>,
        control: &Control,
    ) -> Result<Self> {
        check_size(rows, columns)?;
        let mut by_row: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rows];
        for some in edges.chunks(EDGES_PER_CHECK) {
            control.check()?;
            for &(row, column, weight) in some {
                if row as usize >= rows || column as usize >= columns {
                    let allowed = format!("edges within {rows} rows and {columns} columns");
                    return Err(invalid("has an edge outside of its rows and columns", &allowed));
                }
                by_row[row as usize].push((column, weight));
            }
        }
        drop(edges);
        for row in &mut by_row {
            control.check()?;
            row.sort_unstable_by_key(|&(column, _)| column);
            if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(invalid("contains an edge twice", "one weight for every edge"));
            }
        }
        Matrix::from_rows(columns, by_row, control)
    }

    /// Returns the matrix with `width` columns and these rows, each given by its columns in ascending order
    /// and their weights.
    pub(super) fn from_rows<R: IntoIterator<Item = (u32, f64)>>(
        width: usize,
        rows: impl IntoIterator<Item = R>,
        control: &Control,
    ) -> Result<Self> {
        let mut matrix = Matrix::empty(width);
        for row in rows {
            control.check()?;
            matrix.push_row(row)?;
        }
        Ok(matrix)
    }

    fn empty(width: usize) -> Self {
        Matrix {
            width,
            starts: vec![0],
            columns: Vec::new(),
            weights: Vec::new(),
        }
    }

    fn push_row(&mut self, row: impl IntoIterator<Item = (u32, f64)>) -> Result<()> {
        for (column, weight) in row {
            if !(weight.is_finite() && weight >= 0.0) {
                let problem = "has a weight that is negative, NaN or infinite";
                return Err(invalid(problem, "finite weights of at least 0"));
            }
            if weight > 0.0 {
                self.columns.push(column);
                self.weights.push(weight);
            }
        }
        self.starts.push(self.columns.len());
        Ok(())
    }

    /// Returns the number of rows.
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns an error unless the matrix has as many rows as columns.
    pub(super) fn require_square(&self) -> Result<()> {
        if self.size() == self.width {
            return Ok(());
        }
        let problem = format!("has {} rows and {} columns", self.size(), self.width);
        Err(invalid(&problem, "a square matrix"))
    }

    /// Returns the matrix with rows and columns exchanged.
    pub(super) fn transposed(&self, control: &Control) -> Result<Self> {
        let mut by_column: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.width];
        for row in 0..self.size() {
            control.check()?;
            for (column, weight) in self.row(row) {
                by_column[column as usize].push((row as u32, weight));
            }
        }
        Matrix::from_rows(self.size(), by_column, control)
    }

    /// Returns the matrix, which must not have more rows than columns, with further rows of ones that make it
    /// square. Every matching of all rows becomes as many perfect matchings as these rows have permutations.
    pub(super) fn padded(&self, control: &Control) -> Result<Self> {
        let rows = (0..self.size()).map(|row| self.row(row).collect::<Vec<_>>());
        let ones: Vec<(u32, f64)> = (0..self.width as u32).map(|column| (column, 1.0)).collect();
        let further = (self.size()..self.width).map(|_| ones.clone());
        Matrix::from_rows(self.width, rows.chain(further), control)
    }

    /// Returns the number of positive weights.
    pub fn edge_count(&self) -> usize {
        self.columns.len()
    }

    /// Returns the positive weights of a row with their columns, in ascending order of columns.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + Clone + '_ {
        let range = self.edge_range(row);
        let columns = self.columns[range.clone()].iter().copied();
        columns.zip(self.weights[range].iter().copied())
    }

    /// Returns the indices of a row's edges.
    pub fn edge_range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Returns the index of an edge; `None` if its weight is zero.
    pub fn edge_index(&self, row: usize, column: u32) -> Option<usize> {
        let range = self.edge_range(row);
        let found = self.columns[range.clone()].binary_search(&column);
        found.ok().map(|position| range.start + position)
    }

    /// Returns the weight of an edge; zero if there is no such edge.
    pub fn weight(&self, row: usize, column: u32) -> f64 {
        self.edge_index(row, column)
            .map_or(0.0, |edge| self.weights[edge])
    }

    /// Returns the column of the edge with this index.
    pub(super) fn column(&self, edge: usize) -> u32 {
        self.columns[edge]
    }

    /// Returns all positive weights, row by row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns a table of `of_edge(index, weight)` for every positive weight, with default values
    /// elsewhere.
    pub(super) fn table<T: Clone + Default>(&self, of_edge: impl Fn(usize, f64) -> T) -> Array2<T> {
        let mut table = Array2::default((self.size(), self.width));
        for (row, mut cells) in table.rows_mut().into_iter().enumerate() {
            for ((column, weight), edge) in self.row(row).zip(self.edge_range(row)) {
                cells[column as usize] = of_edge(edge, weight);
            }
        }
        table
    }

    /// Returns a matrix with the same edges and other weights, which have to be positive.
    pub(super) fn with_weights(&self, weights: Vec<f64>) -> Self {
        debug_assert_eq!(weights.len(), self.weights.len());
        Matrix {
            starts: self.starts.clone(),
            columns: self.columns.clone(),
            weights,
            width: self.width,
        }
    }

    /// Like [`with_weights`](Self::with_weights), but consumes this matrix instead of copying its edges.
    pub(super) fn replace_weights(self, weights: Vec<f64>) -> Self {
        debug_assert_eq!(weights.len(), self.weights.len());
        Matrix { weights, ..self }
    }

    /// Returns the bipartite graph of the edges: columns are codes, rows are items, each in a class of its
    /// own. If there are more columns than rows, a last class of items takes the columns that are left over.
    pub(super) fn graph(&self) -> Graph {
        let item = |row| ItemClass {
            size: 1,
            candidates: self.columns[self.edge_range(row)].to_vec(),
        };
        let excess = self.width.saturating_sub(self.size()) as u32;
        let left = (excess > 0).then(|| ItemClass {
            size: excess,
            candidates: (0..self.width as u32).collect(),
        });
        Graph {
            codes: vec![1; self.width],
            items: (0..self.size()).map(item).chain(left).collect(),
        }
    }
}

fn check_size(rows: usize, columns: usize) -> Result<()> {
    for (what, count) in [("rows", rows), ("columns", columns)] {
        if count > i32::MAX as usize {
            return Err(Error::TooMany {
                what,
                limit: i32::MAX as u64,
            });
        }
    }
    Ok(())
}

pub(super) fn invalid(problem: &str, allowed: &str) -> Error {
    Error::invalid("matrix", problem, allowed)
}
