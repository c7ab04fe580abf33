//! A matrix as a SQL function returns it.

use disclosure::attack::Matrix;
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::Array;
use std::ffi::c_int;

/// A float8[], as a rule of two dimensions, in the memory context of the call.
pub struct Square(pg_sys::Datum);

/// What comes before the elements.
#[repr(C)]
struct Header {
    array: pg_sys::ArrayType,
    lengths: [c_int; 2],
    first_numbers: [c_int; 2],
}

impl Square {
    /// The array itself.
    pub fn of_array(array: Array<'_, f64>) -> Self {
        Square(pg_sys::Datum::from(array.into_array_type()))
    }

    pub fn of_matrix(matrix: &Matrix) -> Self {
        Self::with_values(matrix, matrix.weights())
    }

    /// A value for every positive weight, row by row, and zeros elsewhere.
    pub fn with_values(matrix: &Matrix, values: &[f64]) -> Self {
        let size = matrix.size();
        Self::new(size, |elements| {
            for row in 0..size {
                let columns = matrix.row(row).map(|(column, _)| column as usize);
                for (column, &value) in columns.zip(&values[matrix.range(row)]) {
                    elements[row * size + column] = value;
                }
            }
        })
    }

    /// All elements are zero before `fill` changes them.
    fn new(size: usize, fill: impl FnOnce(&mut [f64])) -> Self {
        if size == 0 {
            // SAFETY: an array without dimensions in the current memory context.
            let empty = unsafe { pg_sys::construct_empty_array(pg_sys::FLOAT8OID) };
            return Square(pg_sys::Datum::from(empty));
        }
        let bytes = size_of::<Header>() + size * size * size_of::<f64>();
        // SAFETY: so much zeroed memory or an error, which is also what a matrix too large for a value ends with. It
        // is aligned for any type, and the header's length keeps the elements so. With an offset of zero there are
        // no NULLs.
        unsafe {
            let header = pg_sys::palloc0(bytes).cast::<Header>();
            pgrx::varlena::set_varsize_4b(header.cast(), bytes as i32);
            (*header).array.ndim = 2;
            (*header).array.elemtype = pg_sys::FLOAT8OID;
            (*header).lengths = [size as c_int; 2];
            (*header).first_numbers = [1; 2];
            fill(std::slice::from_raw_parts_mut(header.add(1).cast(), size * size));
            Square(pg_sys::Datum::from(header))
        }
    }
}

// SAFETY: a Datum of the type that is declared below.
unsafe impl BoxRet for Square {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        fcinfo.return_raw_datum(self.0)
    }
}

// SAFETY: it is what a vector of float8 is to SQL, but for its dimensions.
unsafe impl SqlTranslatable for Square {
    const TYPE_IDENT: &'static str = <Vec<f64> as SqlTranslatable>::TYPE_IDENT;
    const TYPE_ORIGIN: TypeOrigin = <Vec<f64> as SqlTranslatable>::TYPE_ORIGIN;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = <Vec<f64> as SqlTranslatable>::ARGUMENT_SQL;
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = <Vec<f64> as SqlTranslatable>::RETURN_SQL;
}
