//! Reads the elements of an array in place: without making a list of them, and mostly without a copy.
//!
//! [`Elements`] walks over the bytes of an array as Postgres stores them. [`ElementType::deconstruct`] lets
//! Postgres take an array apart, for callers that need its NULLs too.

use crate::error::Error;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;
use std::ffi::CStr;

/// Reader of the elements of arrays of one type.
pub struct Elements {
    element: ElementType,
    alignment: usize,
    /// Buffer for an array that is stored unaligned, as short ones are.
    aligned: Vec<u64>,
}

impl Elements {
    pub fn new(element: ElementType) -> Self {
        let alignment = match element.alignment as u8 {
            pg_sys::TYPALIGN_CHAR => 1,
            pg_sys::TYPALIGN_SHORT => 2,
            pg_sys::TYPALIGN_INT => 4,
            _ => 8,
        };
        Elements {
            element,
            alignment,
            aligned: Vec::new(),
        }
    }

    /// Passes every element that is not NULL to `each`, until that returns an error. Integers that are passed
    /// by value are sign-extended.
    ///
    /// # Safety
    /// `array` must be a valid array with elements of this type.
    #[inline]
    pub unsafe fn for_each(
        &mut self,
        array: Datum,
        each: impl FnMut(Datum) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let packed = array.cast_mut_ptr::<pg_sys::varlena>();
            if varlena::varatt_is_1b_e(packed) || varlena::varatt_is_4b_c(packed) {
                let whole = pg_sys::pg_detoast_datum(packed);
                let outcome = self.for_each_of_plain(whole, each);
                pg_sys::pfree(whole.cast());
                return outcome;
            }
            self.for_each_of_plain(packed, each)
        }
    }

    /// Does the same for an array that need not be detoasted.
    ///
    /// # Safety
    /// As for [`for_each`](Self::for_each); the array must be neither compressed nor stored out of line.
    #[inline]
    unsafe fn for_each_of_plain(
        &mut self,
        array: *const pg_sys::varlena,
        each: impl FnMut(Datum) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let bytes = varlena::varlena_to_byte_slice(array);
            let shape = Shape::of(bytes);
            if self.element.by_value {
                let data = &bytes[shape.data.min(bytes.len())..];
                return for_each_number(data, self.element.length, shape.present, each);
            }
            if varlena::varatt_is_1b(array) {
                // With its full header the array would be aligned, so leave room for that.
                self.aligned.resize((HEADER + bytes.len()).div_ceil(8), 0);
                let start = self.aligned.as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(HEADER), bytes.len());
                return self.for_each_reference(start, &shape, each);
            }
            self.for_each_reference(array.cast(), &shape, each)
        }
    }

    /// Passes the elements of a by-reference type to `each`.
    ///
    /// # Safety
    /// `array` must point to the aligned beginning of an array of this shape.
    unsafe fn for_each_reference(
        &self,
        array: *const u8,
        shape: &Shape,
        mut each: impl FnMut(Datum) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let mut offset = HEADER + shape.data;
            for _ in 0..shape.present {
                let element = array.add(offset);
                each(Datum::from(element))?;
                let size = match self.element.length {
                    -1 => varlena::varsize_any(element.cast()),
                    -2 => CStr::from_ptr(element.cast()).count_bytes() + 1,
                    length => length as usize,
                };
                offset = (offset + size).next_multiple_of(self.alignment);
            }
            Ok(())
        }
    }
}

/// Returns the number of dimensions of an array, and the length of the last one.
///
/// # Safety
/// `array` must be a valid array that is neither compressed nor stored out of line.
pub unsafe fn dimensions(array: Datum) -> (usize, usize) {
    // SAFETY: by the contract of the function; arrays with a short header are read in place.
    let bytes = unsafe { varlena::varlena_to_byte_slice(array.cast_mut_ptr()) };
    let int = |at: usize| match bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(&bytes) => i32::from_ne_bytes(bytes) as usize,
        None => 0,
    };
    // The number of dimensions, the offset of the data and the element type come before the lengths.
    match int(0) {
        0 => (0, 0),
        count => (count, int(8 + 4 * count)),
    }
}

/// Size of the length that a value begins with, unless its header is short.
const HEADER: usize = pg_sys::VARHDRSZ;

/// Number and position of an array's elements. NULLs take no space among them.
struct Shape {
    /// Number of elements that are not NULL.
    present: usize,
    /// Offset of the first element from the end of the length.
    data: usize,
}

impl Shape {
    /// Returns the shape of an array from its bytes after the length, which need not be aligned. They are the
    /// number of dimensions, the offset of the data (0 if there are no NULLs), the element type, the lengths
    /// of all dimensions, their lower bounds, a bitmap of the elements that are not NULL (if any is NULL),
    /// and the elements.
    #[inline]
    fn of(bytes: &[u8]) -> Self {
        const SIZES: usize = 12;
        let int = |at: usize| match bytes[at..].first_chunk() {
            Some(&bytes) => i32::from_ne_bytes(bytes) as usize,
            None => 0,
        };
        let dimensions = int(0);
        if dimensions == 0 {
            return Shape { present: 0, data: 0 };
        }
        let elements = (0..dimensions)
            .map(|dimension| int(SIZES + 4 * dimension))
            .product();
        let sizes_end = SIZES + 8 * dimensions;
        match int(4) {
            0 => Shape {
                present: elements,
                data: (HEADER + sizes_end).next_multiple_of(8) - HEADER,
            },
            data => {
                let is_present = |element: &usize| bytes[sizes_end + element / 8] >> (element % 8) & 1 == 1;
                Shape {
                    present: (0..elements).filter(is_present).count(),
                    data: data - HEADER,
                }
            }
        }
    }
}

/// Passes the first `count` elements of a by-value type to `each`, sign-extended.
#[inline]
fn for_each_number(
    data: &[u8],
    length: i16,
    count: usize,
    mut each: impl FnMut(Datum) -> Result<(), Error>,
) -> Result<(), Error> {
    // Postgres passes only values of 1, 2, 4 or 8 bytes by value.
    match length {
        1 => {
            numbers(data, count).try_for_each(|bytes| each(Datum::from(i64::from(i8::from_ne_bytes(bytes)))))
        }
        2 => {
            numbers(data, count).try_for_each(|bytes| each(Datum::from(i64::from(i16::from_ne_bytes(bytes)))))
        }
        4 => {
            numbers(data, count).try_for_each(|bytes| each(Datum::from(i64::from(i32::from_ne_bytes(bytes)))))
        }
        _ => numbers(data, count).try_for_each(|bytes| each(Datum::from(i64::from_ne_bytes(bytes)))),
    }
}

fn numbers<const N: usize>(data: &[u8], count: usize) -> impl Iterator<Item = [u8; N]> + '_ {
    let (numbers, _) = data.as_chunks();
    numbers.iter().take(count).copied()
}

/// Type of an array's elements, and how Postgres stores them in it.
pub struct ElementType {
    pub column: ColumnType,
    pub length: i16,
    pub by_value: bool,
    pub alignment: std::ffi::c_char,
}

impl ElementType {
    /// Returns the element type of a column; `None` if its values are not arrays.
    pub fn of(array: &ColumnType) -> Option<Self> {
        // SAFETY: any OID is accepted.
        let oid = unsafe { pg_sys::get_element_type(array.base_type()) };
        if oid == pg_sys::InvalidOid {
            return None;
        }
        let mut element = ElementType {
            column: ColumnType { oid, ..array.clone() },
            length: 0,
            by_value: false,
            alignment: 0,
        };
        // SAFETY: the element type exists, and the call fills all three.
        unsafe {
            pg_sys::get_typlenbyvalalign(
                oid,
                &mut element.length,
                &mut element.by_value,
                &mut element.alignment,
            );
        }
        Some(element)
    }

    /// Returns the elements of an array of any number of dimensions, and whether each is NULL. The elements
    /// live as long as the array, and the iterator may be used as long as the current memory context lives.
    ///
    /// # Safety
    /// `array` must be a valid array with elements of this type, neither compressed nor stored out of line.
    pub unsafe fn deconstruct<'a>(&self, array: Datum) -> impl Iterator<Item = (Datum, bool)> + 'a {
        // SAFETY: by the contract of the function.
        unsafe {
            let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            pg_sys::deconstruct_array(
                array.cast_mut_ptr(),
                self.column.oid,
                i32::from(self.length),
                self.by_value,
                self.alignment,
                &mut values,
                &mut nulls,
                &mut count,
            );
            (0..count as usize).map(move |number| (*values.add(number), *nulls.add(number)))
        }
    }
}
