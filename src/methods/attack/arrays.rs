//! Matrices and mappings that come as arrays.

use crate::error::Problem;
use crate::{memory, run};
use disclosure::attack::{Matrix, Truth};
use disclosure::semantic::DistanceTable;
use pgrx::Array;
use pgrx::array::RawArray;

/// A float8[] of two dimensions; one of none is the matrix without rows.
pub fn matrix_of_array(array: Array<'_, f64>) -> Result<Matrix, Problem> {
    let invalid = |problem: &str| {
        Problem::argument(
            "matrix",
            problem,
            "Give a weight for every row and column: '{{0.5,0.5},{0,1}}'.",
        )
    };
    let given = Given::new(array);
    match (&given.dimensions[..], given.elements) {
        ([], _) => Ok(Matrix::dense(0, 0, &[])?),
        (&[rows, columns], Some(weights)) => {
            memory::require(weights.len() * BYTES_PER_WEIGHT)?;
            run::sized("reading the matrix", weights.len(), FEW_WEIGHTS, |control| {
                Matrix::from_dense(rows, columns, weights, control)
            })
        }
        (&[_, _], None) => Err(invalid("must not contain NULL")),
        (dimensions, _) => Err(invalid(&format!(
            "the number of its dimensions is {}, not 2",
            dimensions.len()
        ))),
    }
}

/// Weights that are read in less than a millisecond.
const FEW_WEIGHTS: usize = 1 << 16;

/// What a positive weight takes in a [`Matrix`]: itself and its column.
const BYTES_PER_WEIGHT: usize = size_of::<f64>() + size_of::<u32>();

/// The argument distances: a float8[] of two dimensions, in which NULL is a distance that is not known; one of no
/// dimensions is the table without rows.
pub fn distances_of_array(array: Array<'_, f64>) -> Result<DistanceTable, Problem> {
    let invalid = |problem: String| {
        Problem::argument(
            "distances",
            problem,
            "Give the distance of every row and column, or NULL: '{{0.5,0.7},{NULL,1}}'.",
        )
    };
    let distances: Vec<Option<f64>> = array.iter().collect();
    if distances.iter().flatten().any(|distance| distance.is_nan()) {
        return Err(invalid("a distance is NaN".into()));
    }
    let distances = distances.into_iter().map(|distance| distance.unwrap_or(f64::NAN));
    match Given::new(array).dimensions[..] {
        [] => Ok(DistanceTable::new(0, Vec::new())?),
        [_, columns] => Ok(DistanceTable::new(columns, distances.collect())?),
        ref dimensions => Err(invalid(format!(
            "the number of its dimensions is {}, not 2",
            dimensions.len()
        ))),
    }
}

/// The argument mapping: the number of every row's column, from 1.
pub fn mapping_of_array(matrix: &Matrix, array: Array<'_, i32>) -> Result<Truth, Problem> {
    let columns = numbers_of_array(
        "mapping",
        array,
        "Give the number of every row's column: ARRAY[2,1,3].",
    )?;
    Ok(Truth::new(matrix, columns.into_iter().map(Some).collect())?)
}

/// The argument subset: numbers of rows, from 1.
pub fn subset_of_array(matrix: &Matrix, array: Array<'_, i32>) -> Result<Vec<u32>, Problem> {
    let (argument, hint) = ("subset", "Give the numbers of rows of the matrix: ARRAY[1,3].");
    let invalid = |problem: &str| Problem::argument(argument, problem, hint);
    let mut rows = numbers_of_array(argument, array, hint)?;
    rows.sort_unstable();
    if rows.is_empty() {
        return Err(invalid("must not be empty"));
    }
    if rows.iter().any(|&row| row as usize >= matrix.size()) {
        return Err(invalid("has an element that is no row"));
    }
    if rows.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(invalid("has the same row twice"));
    }
    Ok(rows)
}

/// Numbers that are counted from 1, counted from 0. Those that were smaller become larger than any matrix is.
fn numbers_of_array(
    argument: &'static str,
    array: Array<'_, i32>,
    hint: &'static str,
) -> Result<Vec<u32>, Problem> {
    let invalid = |problem: String| Problem::argument(argument, problem, hint);
    let given = Given::new(array);
    match (&given.dimensions[..], given.elements) {
        ([], _) => Ok(Vec::new()),
        (&[_], Some(numbers)) => Ok(numbers
            .iter()
            .map(|&number| (number as u32).wrapping_sub(1))
            .collect()),
        (&[_], None) => Err(invalid("must not contain NULL".into())),
        (dimensions, _) => Err(invalid(format!(
            "the number of its dimensions is {}, not 1",
            dimensions.len()
        ))),
    }
}

/// An array as it lies in memory.
struct Given<'a, T> {
    dimensions: Vec<usize>,
    /// Row by row; `None` where one of them is NULL.
    elements: Option<&'a [T]>,
}

/// Types whose values lie in an array one after another as Rust has them.
trait Plain {}
impl Plain for f64 {}
impl Plain for i32 {}

impl<'a, T: Plain> Given<'a, T> {
    fn new(array: Array<'a, T>) -> Self {
        // SAFETY: an array that Postgres has passed is valid and unpacked. What was unpacked is left to the memory
        // context of the call, which outlives the argument. Elements without NULLs of a plain type are a slice.
        unsafe {
            let Some(mut array) = RawArray::from_array(array) else {
                return Given {
                    dimensions: Vec::new(),
                    elements: None,
                };
            };
            Given {
                dimensions: array.dims().iter().map(|&length| length as usize).collect(),
                elements: (!array.any_nulls()).then(|| array.data::<T>().as_ref()),
            }
        }
    }
}
