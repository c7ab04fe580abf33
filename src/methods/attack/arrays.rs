//! Conversion of SQL arrays to matrices, distance tables, mappings and sets of rows, and of matrices back to
//! arrays.

use crate::error::Error;
use crate::pg::array_in::PlainArray;
use crate::pg::array_out::Grid;
use crate::{memory, run};
use disclosure::attack::{Matrix, Subsets, Truth};
use disclosure::semantic::DistanceTable;
use pgrx::Array;

/// Returns the argument `matrix`, a float8[] with two dimensions. An empty array is the matrix without rows.
pub fn matrix_of_array(array: Array<'_, f64>) -> Result<Matrix, Error> {
    let hint = "Give a weight for every row and column: '{{0.5,0.5},{0,1}}'.";
    let weights = PlainArray::new(array).table("matrix", hint)?;
    memory::require(weights.len() * BYTES_PER_WEIGHT)?;
    run::sized("reading the matrix", weights.len(), FEW_WEIGHTS, |control| {
        Matrix::from_dense(weights, control)
    })
}

/// Number of weights that are read in less than a millisecond.
const FEW_WEIGHTS: usize = 1 << 16;

/// Bytes that a positive weight takes in a [`Matrix`]: the weight and its column.
const BYTES_PER_WEIGHT: usize = size_of::<f64>() + size_of::<u32>();

/// Returns a matrix as an array.
pub fn array_of_matrix(matrix: &Matrix) -> Grid<f64> {
    array_of_edges(matrix, matrix.weights())
}

/// Returns an array with `values` at the positive weights of a matrix, row by row, and zeros elsewhere.
pub fn array_of_edges(matrix: &Matrix, values: &[f64]) -> Grid<f64> {
    let width = matrix.width();
    Grid::new(matrix.size(), width, |elements| {
        for (row, elements) in elements.chunks_exact_mut(width).enumerate() {
            pgrx::check_for_interrupts!();
            for ((column, _), &value) in matrix.row(row).zip(&values[matrix.edge_range(row)]) {
                elements[column as usize] = value;
            }
        }
    })
}

/// Returns the argument `distances`, a float8[] with two dimensions in which NULL is an unknown distance. An
/// array without dimensions is the table without rows.
pub fn distances_of_array(array: Array<'_, f64>) -> Result<DistanceTable, Error> {
    let (argument, hint) = (
        "distances",
        "Give a distance for every row and column, or NULL if it is unknown: '{{0.5,0.7},{NULL,1}}'.",
    );
    let distances: Vec<Option<f64>> = array.iter().collect();
    if distances.iter().flatten().any(|distance| distance.is_nan()) {
        return Err(Error::argument(argument, "a distance is NaN", hint));
    }
    let distances = distances.into_iter().map(|distance| distance.unwrap_or(f64::NAN));
    let [_, columns] = PlainArray::new(array).shape(argument, hint)?;
    Ok(DistanceTable::new(columns, distances.collect())?)
}

/// Returns the argument `mapping`, the column number of every row, from 1. NULL means that the row has none,
/// or that it is unknown.
pub fn mapping_of_array(matrix: &Matrix, array: Array<'_, i32>) -> Result<Truth, Error> {
    let hint = "Give the column number of every row, or NULL if it has none: ARRAY[2,1,3].";
    let columns = array.iter().map(|number| number.map(from_zero)).collect();
    let [_] = PlainArray::new(array).shape("mapping", hint)?;
    Ok(Truth::new(matrix, columns)?)
}

/// Returns the sets of rows that the arguments `subset` (row numbers from 1) or `size` describe. Exactly one
/// of the two must be given.
pub fn subsets_of(subset: Option<Array<'_, i32>>, size: Option<i32>) -> Result<Subsets, Error> {
    let problem = match (subset, size) {
        (Some(subset), None) => {
            let hint = "Give row numbers of the matrix: ARRAY[1,3].";
            return Ok(Subsets::Only(numbers_of_array("subset", subset, hint)?));
        }
        (None, Some(size)) => return Ok(Subsets::OfSize(usize::try_from(size).unwrap_or(0))),
        (Some(_), Some(_)) => "must not be given together with size",
        (None, None) => "must be given unless size is given",
    };
    let hint = "Give either one set of rows, or a size to count all sets of that size.";
    Err(Error::argument("subset", problem, hint))
}

/// Converts a number that counts from 1 to a number that counts from 0. A number below 1 becomes `u32::MAX`,
/// which the crate refuses because it is out of range for every matrix.
fn from_zero(number: i32) -> u32 {
    u32::try_from(i64::from(number) - 1).unwrap_or(u32::MAX)
}

fn numbers_of_array(
    argument: &'static str,
    array: Array<'_, i32>,
    hint: &'static str,
) -> Result<Vec<u32>, Error> {
    let numbers = PlainArray::new(array).list(argument, hint)?;
    Ok(numbers.iter().copied().map(from_zero).collect())
}
