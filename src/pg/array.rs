//! The elements of an array, looked at where they lie: no list of them is made, and mostly no copy.

use crate::error::Problem;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;
use std::ffi::CStr;

/// Reads the elements of arrays of one type.
pub struct Elements {
    element: ElementType,
    alignment: usize,
    /// Room for an array that is stored unaligned, as short ones are.
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

    /// Hand every element that is not NULL to `each`, for as long as that takes. Integers that are passed by
    /// value are extended with their sign.
    ///
    /// # Safety
    /// A valid array of elements of this type.
    #[inline]
    pub unsafe fn for_each(
        &mut self,
        array: Datum,
        each: impl FnMut(Datum) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
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

    /// # Safety
    /// As above, neither compressed nor stored elsewhere.
    #[inline]
    unsafe fn for_each_of_plain(
        &mut self,
        array: *const pg_sys::varlena,
        each: impl FnMut(Datum) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        // SAFETY: by the contract of the function.
        unsafe {
            let bytes = varlena::varlena_to_byte_slice(array);
            let shape = Shape::of(bytes);
            if self.element.by_value {
                let data = &bytes[shape.data.min(bytes.len())..];
                return for_each_number(data, self.element.length, shape.present, each);
            }
            if varlena::varatt_is_1b(array) {
                // With its full header in front it would be aligned: leave room for that.
                self.aligned.resize((HEADER + bytes.len()).div_ceil(8), 0);
                let start = self.aligned.as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(HEADER), bytes.len());
                return self.for_each_reference(start, &shape, each);
            }
            self.for_each_reference(array.cast(), &shape, each)
        }
    }

    /// # Safety
    /// `array` is the aligned beginning of an array of this shape.
    unsafe fn for_each_reference(
        &self,
        array: *const u8,
        shape: &Shape,
        mut each: impl FnMut(Datum) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
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

/// How many dimensions an array has, and how long the last one is.
///
/// # Safety
/// A valid array, neither compressed nor stored elsewhere.
pub unsafe fn dimensions(array: Datum) -> (usize, usize) {
    // SAFETY: by the contract; short ones are read where they lie.
    let bytes = unsafe { varlena::varlena_to_byte_slice(array.cast_mut_ptr()) };
    let int = |at: usize| match bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(&bytes) => i32::from_ne_bytes(bytes) as usize,
        None => 0,
    };
    // After the number of dimensions, where the data begins, and the type of the elements come the lengths.
    match int(0) {
        0 => (0, 0),
        count => (count, int(8 + 4 * count)),
    }
}

/// The length that a value begins with, where it is not a short one.
const HEADER: usize = pg_sys::VARHDRSZ;

/// Where an array's elements are. NULLs take no room among them.
struct Shape {
    /// Elements that are not NULL.
    present: usize,
    /// Where the first one begins, after the length.
    data: usize,
}

impl Shape {
    /// `bytes` are those after the length: the number of dimensions, where the data begins if there are
    /// NULLs, the type of the elements, the size of every dimension, its lower bound, a bit for every
    /// element that is not NULL if any is, and the elements. They may lie anywhere.
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

#[inline]
fn for_each_number(
    data: &[u8],
    length: i16,
    count: usize,
    mut each: impl FnMut(Datum) -> Result<(), Problem>,
) -> Result<(), Problem> {
    // Postgres passes no other lengths by value.
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

/// The type of an array's elements, and how Postgres stores them in it.
pub struct ElementType {
    pub column: ColumnType,
    pub length: i16,
    pub by_value: bool,
    pub alignment: std::ffi::c_char,
}

impl ElementType {
    /// `None` where values of the column are not arrays.
    pub fn of(array: &ColumnType) -> Option<Self> {
        // SAFETY: a catalogue look-up.
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
        // SAFETY: a catalogue look-up that fills all three.
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

    /// The elements of an array of any dimensions, and which of them are NULL. They live as long as the
    /// array does, and their list as long as the current memory context.
    ///
    /// # Safety
    /// A valid array of elements of this type, neither compressed nor stored elsewhere.
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
