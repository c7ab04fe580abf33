//! Array arguments of numbers, read in place.

use crate::error::Error;
use disclosure::ndarray::ArrayView2;
use pgrx::Array;
use pgrx::array::RawArray;

/// Array argument, as it lies in memory.
pub struct PlainArray<'a, T> {
    dimensions: Vec<usize>,
    /// Elements row by row; `None` if one of them is NULL.
    elements: Option<&'a [T]>,
}

/// Type with the same memory layout in a Postgres array as in a Rust slice.
pub trait Plain {}
impl Plain for f64 {}
impl Plain for i32 {}

impl<'a, T: Plain> PlainArray<'a, T> {
    pub fn new(array: Array<'a, T>) -> Self {
        // SAFETY: an array that Postgres has passed is valid, and pgrx has detoasted it. The detoasted copy
        // belongs to the memory context of the call, which outlives the argument. Elements of a plain type
        // without NULLs are a slice.
        unsafe {
            let Some(mut array) = RawArray::from_array(array) else {
                return PlainArray {
                    dimensions: Vec::new(),
                    elements: None,
                };
            };
            PlainArray {
                dimensions: array.dims().iter().map(|&length| length as usize).collect(),
                elements: (!array.any_nulls()).then(|| array.data::<T>().as_ref()),
            }
        }
    }

    /// Returns the lengths of the N dimensions; zeros if the array is empty.
    pub fn shape<const N: usize>(
        &self,
        argument: &'static str,
        hint: &'static str,
    ) -> Result<[usize; N], Error> {
        if self.dimensions.is_empty() {
            return Ok([0; N]);
        }
        self.dimensions[..].try_into().map_err(|_| {
            let problem = format!("number of dimensions must be {N}, not {}", self.dimensions.len());
            Error::argument(argument, problem, hint)
        })
    }

    /// Returns the elements of an array of one dimension.
    pub fn list(&self, argument: &'static str, hint: &'static str) -> Result<&'a [T], Error> {
        let [_] = self.shape(argument, hint)?;
        self.elements(argument, hint)
    }

    /// Returns the elements of an array of two dimensions.
    pub fn table(&self, argument: &'static str, hint: &'static str) -> Result<ArrayView2<'a, T>, Error> {
        let shape: [usize; 2] = self.shape(argument, hint)?;
        ArrayView2::from_shape(shape, self.elements(argument, hint)?)
            .map_err(|_| Error::Internal("the number of elements of an array does not match its dimensions"))
    }

    fn elements(&self, argument: &'static str, hint: &'static str) -> Result<&'a [T], Error> {
        if self.dimensions.is_empty() {
            return Ok(&[]);
        }
        let problem = || Error::argument(argument, "must not contain NULL", hint);
        self.elements.ok_or_else(problem)
    }
}
