//! Arrays of two dimensions as results of SQL functions.

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use std::ffi::c_int;
use std::marker::PhantomData;

/// Array in the memory context of the call. It has two dimensions, or none if it is empty.
pub struct Grid<T> {
    array: pg_sys::Datum,
    elements: PhantomData<T>,
}

/// Type with the same memory layout in a Postgres array as in a Rust slice, and for which all-zero bytes are a
/// valid value.
pub trait Element {
    const OID: pg_sys::Oid;
}

impl Element for f64 {
    const OID: pg_sys::Oid = pg_sys::FLOAT8OID;
}

impl Element for bool {
    const OID: pg_sys::Oid = pg_sys::BOOLOID;
}

/// Part of an array before the elements.
#[repr(C)]
struct Header {
    array: pg_sys::ArrayType,
    lengths: [c_int; 2],
    first_numbers: [c_int; 2],
}

impl<T: Element> Grid<T> {
    fn of_datum(array: pg_sys::Datum) -> Self {
        Grid {
            array,
            elements: PhantomData,
        }
    }

    /// Returns an array of `rows` × `columns` elements, row by row. All are zero or false before `fill`
    /// changes them.
    pub fn new(rows: usize, columns: usize, fill: impl FnOnce(&mut [T])) -> Self {
        let size = rows * columns;
        if size == 0 {
            // SAFETY: the element type is built in, so it exists.
            let empty = unsafe { pg_sys::construct_empty_array(T::OID) };
            return Self::of_datum(pg_sys::Datum::from(empty));
        }
        let bytes = size_of::<Header>() + size * size_of::<T>();
        // SAFETY: palloc0 returns `bytes` zeroed bytes or raises an ERROR, as it does if the array is too
        // large for a value. They are aligned for any type, and the size of the header keeps the elements
        // aligned. A data offset of zero means that there are no NULLs.
        unsafe {
            let header = pg_sys::palloc0(bytes).cast::<Header>();
            pgrx::varlena::set_varsize_4b(header.cast(), bytes as i32);
            (*header).array.ndim = 2;
            (*header).array.elemtype = T::OID;
            (*header).lengths = [rows as c_int, columns as c_int];
            (*header).first_numbers = [1; 2];
            fill(std::slice::from_raw_parts_mut(header.add(1).cast(), size));
            Self::of_datum(pg_sys::Datum::from(header))
        }
    }
}

// SAFETY: the Datum is of the type that is declared below.
unsafe impl<T: Element> BoxRet for Grid<T> {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: by the contract of the function.
        unsafe { fcinfo.return_raw_datum(self.array) }
    }
}

// SAFETY: SQL has one type for arrays of any number of dimensions, so this is the type of `Vec<T>`.
unsafe impl<T> SqlTranslatable for Grid<T>
where
    Vec<T>: SqlTranslatable,
{
    const TYPE_IDENT: &'static str = <Vec<T> as SqlTranslatable>::TYPE_IDENT;
    const TYPE_ORIGIN: TypeOrigin = <Vec<T> as SqlTranslatable>::TYPE_ORIGIN;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = <Vec<T> as SqlTranslatable>::ARGUMENT_SQL;
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = <Vec<T> as SqlTranslatable>::RETURN_SQL;
}
