//! Comparison of one record with a released table, for the subject of the record.
//!
//! The record is treated as an original table with a single row. Each of its fields is cast to a type in
//! which it can be compared with its column, as in a query.

use super::coded_table::CodedTable;
use super::microdata::{COLUMNS, Microdata, TableArgument};
use super::orders::Orders;
use crate::encode::dictionary::Dictionary;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::pg::row::RowShape;
use crate::pg::types::{ColumnType, Pair, parse, print, read_literal};
use disclosure::NULL;
use pgrx::pg_sys::{self, Datum};

const RECORD: &str = "record";

impl Microdata {
    /// Returns microdata in which the record of a subject is the original table. The fields of the record are
    /// `columns`, in this order.
    ///
    /// # Safety
    /// `subject` must be a valid composite Datum.
    pub unsafe fn of_subject(
        subject: Datum,
        released: TableArgument,
        columns: Option<Vec<Option<String>>>,
        orders: &Orders,
    ) -> Result<Self, Error> {
        let released = released.open()?;
        let columns = columns.ok_or(Error::null(
            COLUMNS,
            "Give the names of the released columns, in the order of the record's fields.",
        ))?;
        let chosen = released.chosen_columns(columns)?;
        orders.check(&chosen)?;
        // SAFETY: by the contract.
        let (fields, pairs) = unsafe {
            let mut shape = RowShape::of_value(subject, pg_sys::CurrentMemoryContext);
            let types = shape.columns();
            let pairs = pairs_of_fields(&types, &chosen)?;
            let values = shape.deform(subject)?;
            let fields = types.iter().zip(values).zip(&pairs);
            let fields = fields.map(|((field, value), pair)| encoded(field, value, &pair.here));
            (fields.collect::<Result<_, Error>>()?, pairs)
        };
        let here = CodedTable {
            columns: fields,
            records: 1,
        };
        let there = CodedTable::read(&released, pairs.into_iter().map(|pair| pair.there))?;
        Self::of_values(here, there, None, orders)
    }
}

/// Returns the types in which the fields of the subject and the chosen columns are compared.
fn pairs_of_fields(fields: &[ColumnType], chosen: &[ColumnType]) -> Result<Vec<Pair>, Error> {
    if fields.len() != chosen.len() {
        return Err(Error::argument(
            RECORD,
            format!(
                "the number of fields is {}, but the number of columns is {}",
                fields.len(),
                chosen.len()
            ),
            "Give a record with one field per column, in the order of the columns.",
        ));
    }
    let pair = |(field, column): (&ColumnType, &ColumnType)| {
        // A field takes the name of its column, and an untyped literal its type as well.
        let oid = match field.oid {
            pg_sys::UNKNOWNOID => column.oid,
            oid => oid,
        };
        let field = ColumnType {
            oid,
            ..column.clone()
        };
        Pair::in_common_type(&field, column).ok_or_else(|| {
            Error::argument(
                RECORD,
                Pair::not_comparable(&column.name),
                "Give every field the type of its column.",
            )
        })
    };
    fields.iter().zip(chosen).map(pair).collect()
}

/// Returns a field as a column of one record, in the type in which it is compared.
///
/// # Safety
/// The value must be a valid Datum of the field's type, unless it is NULL.
unsafe fn encoded(
    field: &ColumnType,
    (value, is_null): (Datum, bool),
    wanted: &ColumnType,
) -> Result<CodedColumn, Error> {
    let mut dictionary = Dictionary::new(wanted.clone());
    let code = if is_null {
        NULL
    } else {
        // SAFETY: by the contract.
        unsafe { dictionary.encode(converted(value, field, wanted)?)? }
    };
    Ok(CodedColumn {
        dictionary,
        codes: vec![code],
    })
}

/// Converts a field of a row to the type in which it is compared, with the cast that a query would use.
///
/// # Safety
/// `value` must be a valid Datum of the field's type.
unsafe fn converted(value: Datum, field: &ColumnType, wanted: &ColumnType) -> Result<Datum, Error> {
    // SAFETY: `value` is valid by the contract, and the function is the one that casts between the two types.
    unsafe {
        if field.oid == pg_sys::UNKNOWNOID {
            return Ok(read_literal(wanted, value));
        }
        let (from, to) = (field.base_type(), wanted.base_type());
        let mut function = pg_sys::InvalidOid;
        let implicit = pg_sys::CoercionContext::COERCION_IMPLICIT;
        match pg_sys::find_coercion_pathway(to, from, implicit, &mut function) {
            pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE => Ok(value),
            pg_sys::CoercionPathType::COERCION_PATH_FUNC if pg_sys::get_func_nargs(function) == 1 => {
                Ok(pg_sys::OidFunctionCall1Coll(function, wanted.collation, value))
            }
            _ => parse(wanted.oid, &print(field.oid, value)),
        }
    }
}
