//! Tables as results of SQL functions. `table_row!` declares the columns once, as the fields of a struct. It
//! forms rows with the row type that sql/ declares for the function.

use crate::error::Error;
use pgrx::callconv::{CallCx, RetAbi};
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::iter::TableIterator;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{AllocatedByRust, PgTupleDesc};

/// Rows of a function that returns a table.
pub struct Table<R: 'static>(TableIterator<'static, R>);

impl<R: TableRow> Table<R> {
    /// Returns these rows, or raises the problem as an ERROR.
    #[track_caller]
    pub fn new(rows: Result<impl IntoIterator<Item = R> + 'static, Error>) -> Self {
        Table(TableIterator::new(rows.unwrap_or_else(Error::raise)))
    }

    /// Returns one row, or raises the problem as an ERROR.
    #[track_caller]
    pub fn once(row: Result<R, Error>) -> Self {
        Self::new(row.map(Some))
    }
}

/// Row of a [`Table`]; `table_row!` implements it.
pub trait TableRow: RetAbi<Item = Self> + 'static {
    /// Names of the columns as Rust writes them, which may begin with `r#`.
    const NAMES: &'static [&'static str];
    /// SQL types of the columns.
    const TYPES: Result<ReturnsRef, ReturnsError>;
}

// SAFETY: every function does what pgrx's own iterator over the same rows does.
unsafe impl<R: TableRow> RetAbi for Table<R> {
    type Item = R;
    type Ret = <TableIterator<'static, R> as RetAbi>::Ret;

    unsafe fn check_fcinfo_and_prepare(fcinfo: FunctionCallInfo) -> CallCx {
        // SAFETY: the contract is passed on, here and in all functions below.
        unsafe { TableIterator::<R>::check_fcinfo_and_prepare(fcinfo) }
    }

    fn to_ret(self) -> Self::Ret {
        self.0.to_ret()
    }

    unsafe fn box_ret_in_fcinfo(fcinfo: FunctionCallInfo, ret: Self::Ret) -> Datum {
        // SAFETY: the contract is passed on.
        unsafe { TableIterator::<R>::box_ret_in_fcinfo(fcinfo, ret) }
    }

    unsafe fn fill_fcinfo_fcx(&self, _fcinfo: FunctionCallInfo) {}

    unsafe fn move_into_fcinfo_fcx(self, fcinfo: FunctionCallInfo) {
        // SAFETY: the contract is passed on.
        unsafe { self.0.move_into_fcinfo_fcx(fcinfo) }
    }

    unsafe fn ret_from_fcinfo_fcx(fcinfo: FunctionCallInfo) -> Self::Ret {
        // SAFETY: the contract is passed on.
        unsafe { TableIterator::<R>::ret_from_fcinfo_fcx(fcinfo) }
    }

    unsafe fn finish_call_fcinfo(fcinfo: FunctionCallInfo) {
        // SAFETY: the contract is passed on.
        unsafe { TableIterator::<R>::finish_call_fcinfo(fcinfo) }
    }
}

// SAFETY: the SQL types are those of the row's fields.
unsafe impl<R: TableRow> SqlTranslatable for Table<R> {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Table<R>);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Err(ArgumentError::Table);
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = R::TYPES;
}

/// Sets the row type of the result, in the call that returns the first row.
///
/// # Safety
/// `fcinfo` must be that of a set-returning function in its first call.
pub unsafe fn describe(fcinfo: FunctionCallInfo, names: &[&str]) {
    // SAFETY: by the contract, fn_extra is the call's FuncCallContext. The descriptor is made in memory that
    // lives as long as that.
    unsafe {
        let call = (*(*fcinfo).flinfo).fn_extra.cast::<pg_sys::FuncCallContext>();
        let before = pg_sys::MemoryContextSwitchTo((*call).multi_call_memory_ctx);
        let (mut descriptor, mut oid) = (std::ptr::null_mut(), pg_sys::InvalidOid);
        pg_sys::get_call_result_type(fcinfo, &mut oid, &mut descriptor);
        (*call).tuple_desc = pg_sys::BlessTupleDesc(descriptor);
        pg_sys::MemoryContextSwitchTo(before);
        if cfg!(feature = "probe") {
            check_names(descriptor, names);
        }
    }
}

/// Raises an ERROR if the columns of `table_row!` are not those that sql/ declares.
///
/// # Safety
/// `descriptor` must be valid.
unsafe fn check_names(descriptor: pg_sys::TupleDesc, names: &[&str]) {
    // SAFETY: by the contract of the function.
    let declared = unsafe { super::row::columns_of(descriptor) };
    let is_same =
        |(column, name): (&super::types::ColumnType, &&str)| column.name == name.trim_start_matches("r#");
    if declared.len() != names.len() || !declared.iter().zip(names).all(is_same) {
        Error::Internal("the columns of a result differ from those that are declared").raise()
    }
}

/// Forms a row of these values and returns it as a Datum.
///
/// # Safety
/// [`describe`] must have been called in the first call of this function, and the values must be of the types
/// that it found.
pub unsafe fn form<const N: usize>(fcinfo: FunctionCallInfo, values: [Option<Datum>; N]) -> Datum {
    let mut nulls = values.map(|value| value.is_none());
    let mut values = values.map(|value| value.unwrap_or(Datum::from(0)));
    // SAFETY: by the contract of the function; both arrays have an element for every column.
    unsafe {
        let call = (*(*fcinfo).flinfo).fn_extra.cast::<pg_sys::FuncCallContext>();
        let tuple = pg_sys::heap_form_tuple((*call).tuple_desc, values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)
    }
}

/// Forms a row of the composite type that a function returns.
///
/// # Safety
/// `fcinfo` must be that of the current call, and the values must have the types of the composite type's columns.
pub unsafe fn composite<const N: usize>(
    fcinfo: FunctionCallInfo,
    values: [Option<Datum>; N],
) -> Result<PgHeapTuple<'static, AllocatedByRust>, Error> {
    let not_declared = Error::Internal("the result type is not the one that was declared");
    // SAFETY: by the contract of the function.
    unsafe {
        let result = pg_sys::get_func_rettype((*(*fcinfo).flinfo).fn_oid);
        let Some(row_type) = PgTupleDesc::for_composite_type_by_oid(result) else {
            return Err(not_declared);
        };
        PgHeapTuple::from_datums(row_type, values).map_err(|_| not_declared)
    }
}

/// Declares a struct whose fields are the columns of a table that a SQL function returns, in the order of
/// their declaration in `sql/`. The function returns a [`Table`] of it. A table with one column is a
/// `SetOfIterator` instead.
///
/// ```ignore
/// table_row! {
///     /// A column and how often its values occur.
///     struct Profile { column_name: String, distinct_values: i64 }
/// }
/// ```
macro_rules! table_row {
    ($(#[$attribute:meta])* $visibility:vis struct $row:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        $(#[$attribute])*
        $visibility struct $row { $(pub $field: $type),+ }

        impl $crate::pg::table::TableRow for $row {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];
            const TYPES: Result<
                ::pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef,
                ::pgrx::pgrx_sql_entity_graph::metadata::ReturnsError,
            > = Ok(::pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef::Table(&[$(
                match ::pgrx::pgrx_sql_entity_graph::metadata::table_item_sql(
                    <$type as ::pgrx::pgrx_sql_entity_graph::metadata::SqlTranslatable>::RETURN_SQL,
                ) {
                    Ok(column) => column,
                    Err(_) => panic!("the type of a column has no name in SQL"),
                }
            ),+]));
        }

        // SAFETY: the row type is found in the first call, and every row is formed with it.
        unsafe impl ::pgrx::callconv::RetAbi for $row {
            type Item = Self;
            type Ret = Self;

            fn to_ret(self) -> Self {
                self
            }

            unsafe fn box_ret_in_fcinfo(
                fcinfo: ::pgrx::pg_sys::FunctionCallInfo,
                row: Self,
            ) -> ::pgrx::pg_sys::Datum {
                let values = [$(::pgrx::IntoDatum::into_datum(row.$field)),+];
                // SAFETY: `fill_fcinfo_fcx` was called before the first row. A test compares the types with
                // sql/.
                unsafe { $crate::pg::table::form(fcinfo, values) }
            }

            unsafe fn move_into_fcinfo_fcx(self, _fcinfo: ::pgrx::pg_sys::FunctionCallInfo) {}

            unsafe fn fill_fcinfo_fcx(&self, fcinfo: ::pgrx::pg_sys::FunctionCallInfo) {
                // SAFETY: the iterator calls it in the first call.
                unsafe {
                    $crate::pg::table::describe(fcinfo, <Self as $crate::pg::table::TableRow>::NAMES)
                }
            }
        }
    };
}
pub(crate) use table_row;
