//! Types of columns and values: their names, their text form, and which of them can be compared.

use crate::error::Error;
use pgrx::pg_sys;
use pgrx::pg_sys::Datum;
use pgrx::spi::quote_identifier;
use std::ffi::{CStr, CString};

/// Name, type and collation of a column, as the encoder needs them.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    pub name: String,
    pub oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl ColumnType {
    /// Returns the same column under another name.
    pub fn named(self, name: &str) -> Self {
        ColumnType {
            name: name.into(),
            ..self
        }
    }

    /// Returns the type under all domains.
    pub fn base_type(&self) -> pg_sys::Oid {
        // SAFETY: any OID is accepted; an unknown one raises an ERROR.
        unsafe { pg_sys::getBaseType(self.oid) }
    }

    /// Returns the relation that describes the columns of a named row type: its table, view or stand-alone
    /// composite type. `None` for any other type and for anonymous rows.
    pub fn relation(&self) -> Option<pg_sys::Oid> {
        // SAFETY: any OID is accepted.
        let relation = unsafe { pg_sys::get_typ_typrelid(self.base_type()) };
        (relation != pg_sys::InvalidOid).then_some(relation)
    }
}

/// Returns whether Postgres would implicitly cast values of one type to another.
pub fn becomes(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // SAFETY: both pointers are to one type, as the count says.
    unsafe { pg_sys::can_coerce_type(1, &from, &to, pg_sys::CoercionContext::COERCION_IMPLICIT) }
}

/// Returns whether the order of a type says how far apart values are: numbers, dates and times, intervals, booleans and
/// enums, but not texts.
pub fn has_distances(oid: pg_sys::Oid) -> bool {
    matches!(type_category(oid), b'N' | b'D' | b'T' | b'B' | b'E')
}

/// Returns the `typcategory` of a type.
pub fn type_category(oid: pg_sys::Oid) -> u8 {
    let (mut category, mut is_preferred) = (0, false);
    // SAFETY: an unknown OID raises an ERROR; both pointers are to variables of their types.
    unsafe { pg_sys::get_type_category_preferred(oid, &mut category, &mut is_preferred) };
    category as u8
}

/// Returns the name of a type, without any modifier, that is the same under any search_path.
pub fn type_name(oid: pg_sys::Oid) -> String {
    // Unqualified names are keywords of SQL, some of which, such as character, imply a length of 1. A given
    // type modifier of -1 makes Postgres avoid those.
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: an unknown OID raises an ERROR; the name is a NUL-terminated string in the current memory
    // context.
    unsafe {
        let name = pg_sys::format_type_extended(oid, -1, flags as pg_sys::bits16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// Returns the equality operator of a column's type, as SQL; `None` if the type has none.
pub fn equality_operator(column: &ColumnType) -> Option<String> {
    // SAFETY: an unknown OID raises an ERROR; entries of the type cache live as long as the backend.
    let operator =
        unsafe { (*pg_sys::lookup_type_cache(column.base_type(), pg_sys::TYPECACHE_EQ_OPR as i32)).eq_opr };
    // SAFETY: a tuple of this cache is a row of pg_operator, and it is released after its contents were
    // copied.
    unsafe {
        let tuple =
            pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::OPEROID as i32, Datum::from(operator));
        if tuple.is_null() {
            return None;
        }
        let found = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_operator>();
        let schema = pg_sys::get_namespace_name(found.oprnamespace);
        let text = |text| CStr::from_ptr(text).to_string_lossy();
        let sql = (!schema.is_null()).then(|| {
            let name = text(found.oprname.data.as_ptr());
            format!("OPERATOR({}.{name})", quote_identifier(text(schema)))
        });
        pg_sys::ReleaseSysCache(tuple);
        sql
    }
}

/// Column of two tables, with the type in which it is read from each.
pub struct Pair {
    pub here: ColumnType,
    pub there: ColumnType,
}

impl Pair {
    /// Returns the column with the types that the tables have.
    pub fn new(here: &ColumnType, there: &ColumnType) -> Self {
        Pair {
            here: here.clone(),
            there: there.clone(),
        }
    }

    /// Returns the column in one type and one collation, so that values of both tables can be compared. This
    /// is the only rule for whether two columns are comparable: they are if they have the same type, or if
    /// Postgres would implicitly cast one type to the other, as it does for `=`. The column's name comes from
    /// `argument`.
    pub fn comparable(argument: &'static str, here: &ColumnType, there: &ColumnType) -> Result<Self, Error> {
        Self::in_common_type(here, there).ok_or_else(|| {
            Error::argument(
                argument,
                Self::not_comparable(&here.name),
                "Give a column whose values are of the same type in both tables.",
            )
        })
    }

    /// Returns the message for a column that is not comparable.
    pub fn not_comparable(column: &str) -> String {
        format!("\"{column}\" cannot be compared: its types differ")
    }

    /// Returns the same pair as [`comparable`](Self::comparable), for callers with an error message of their
    /// own; `None` if the columns are not comparable.
    pub fn in_common_type(here: &ColumnType, there: &ColumnType) -> Option<Self> {
        let mut pair = Pair::new(here, there);
        if here.base_type() != there.base_type() {
            let common = common_type(here.base_type(), there.base_type())?;
            (pair.here.oid, pair.there.oid) = (common, common);
        }
        // The released table, `there`, decides what is equal and what comes first, because its readers know
        // no other collation.
        if there.collation == pg_sys::InvalidOid {
            pair.there.collation = here.collation;
        }
        pair.here.collation = pair.there.collation;
        Some(pair)
    }
}

/// Returns the type in which values of two types are compared: the one to which Postgres would implicitly
/// cast the other, or float8 instead of float4. `None` if there is no such type.
fn common_type(here: pg_sys::Oid, there: pg_sys::Oid) -> Option<pg_sys::Oid> {
    let common = match (becomes(here, there), becomes(there, here)) {
        // All text types can be cast to each other.
        (true, true) => Some(if here == pg_sys::TEXTOID { here } else { there }),
        (true, false) => Some(there),
        (false, true) => Some(here),
        (false, false) => None,
    };
    // float4 has too few digits for integers and numerics.
    common.map(|common| match common {
        pg_sys::FLOAT4OID => pg_sys::FLOAT8OID,
        common => common,
    })
}

/// Returns a value as Postgres prints it.
///
/// # Safety
/// `value` must be a valid Datum of the type.
pub unsafe fn print(oid: pg_sys::Oid, value: Datum) -> String {
    // SAFETY: by the contract of the function.
    unsafe {
        let mut output = pg_sys::InvalidOid;
        let mut is_varlena = false;
        pg_sys::getTypeOutputInfo(oid, &mut output, &mut is_varlena);
        // A NUL-terminated string in the current memory context.
        let printed = pg_sys::OidOutputFunctionCall(output, value);
        let text = CStr::from_ptr(printed).to_string_lossy().into_owned();
        pg_sys::pfree(printed.cast());
        text
    }
}

/// Returns the value that Postgres reads from a text, in the current memory context.
///
/// # Safety
/// The type must exist.
pub unsafe fn parse(oid: pg_sys::Oid, text: &str) -> Result<Datum, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let text = CString::new(text).map_err(|_| Error::Internal("a text contains a NUL character"))?;
        Ok(read_text(oid, &text))
    }
}

/// Returns the value of an untyped literal in ROW(…), read as the type of a column.
///
/// # Safety
/// `literal` must be a Datum of type unknown, which is a C string. The column's type must exist.
pub unsafe fn read_literal(column: &ColumnType, literal: Datum) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe { read_text(column.oid, CStr::from_ptr(literal.cast_mut_ptr())) }
}

/// Calls the input function of a type, which raises an ERROR if the text is not a value of the type.
///
/// # Safety
/// The type must exist.
unsafe fn read_text(oid: pg_sys::Oid, text: &CStr) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe {
        let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(oid, &mut input, &mut parameter);
        pg_sys::OidInputFunctionCall(input, text.as_ptr().cast_mut(), parameter, -1)
    }
}
