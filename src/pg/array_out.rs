//! An array of two dimensions as a SQL function returns it.

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use std::ffi::c_int;
use std::marker::PhantomData;

/// An array, as a rule of two dimensions, in the memory context of the call.
pub struct Grid<T> {
    array: pg_sys::Datum,
    elements: PhantomData<T>,
}

/// A type whose values lie in an array one after another as Rust has them, zeros being a value.
pub trait Element {
    const OID: pg_sys::Oid;
}

impl Element for f64 {
    const OID: pg_sys::Oid = pg_sys::FLOAT8OID;
}

impl Element for bool {
    const OID: pg_sys::Oid = pg_sys::BOOLOID;
}

/// What comes before the elements.
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

    /// All elements, row by row, are zero or false before `fill` changes them.
    pub fn new(rows: usize, columns: usize, fill: impl FnOnce(&mut [T])) -> Self {
        let size = rows * columns;
        if size == 0 {
            // SAFETY: an array without dimensions in the current memory context.
            let empty = unsafe { pg_sys::construct_empty_array(T::OID) };
            return Self::of_datum(pg_sys::Datum::from(empty));
        }
        let bytes = size_of::<Header>() + size * size_of::<T>();
        // SAFETY: so much zeroed memory or an error, which is also what a matrix too large for a value ends with. It
        // is aligned for any type, and the header's length keeps the elements so. With an offset of zero there are
        // no NULLs.
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

// SAFETY: a Datum of the type that is declared below.
unsafe impl<T: Element> BoxRet for Grid<T> {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: by the contract of the function.
        unsafe { fcinfo.return_raw_datum(self.array) }
    }
}

// SAFETY: it is what a vector is to SQL, but for its dimensions.
unsafe impl<T> SqlTranslatable for Grid<T>
where
    Vec<T>: SqlTranslatable,
{
    const TYPE_IDENT: &'static str = <Vec<T> as SqlTranslatable>::TYPE_IDENT;
    const TYPE_ORIGIN: TypeOrigin = <Vec<T> as SqlTranslatable>::TYPE_ORIGIN;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = <Vec<T> as SqlTranslatable>::ARGUMENT_SQL;
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = <Vec<T> as SqlTranslatable>::RETURN_SQL;
}
