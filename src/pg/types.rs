//! Types of columns and values: what they are called, how they are written and read, which can be compared.

use crate::error::Problem;
use pgrx::pg_sys;
use pgrx::pg_sys::Datum;
use pgrx::spi::quote_identifier;
use std::ffi::{CStr, CString};

/// What the encoder has to know of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    pub name: String,
    pub oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl ColumnType {
    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        ColumnType {
            name: name.into(),
            ..self
        }
    }

    /// The type under all domains.
    pub fn base_type(&self) -> pg_sys::Oid {
        // SAFETY: a catalogue look-up.
        unsafe { pg_sys::getBaseType(self.oid) }
    }

    /// Where the columns of a named row type are described: its table, view or stand-alone composite type;
    /// `None` for any other type and for anonymous rows.
    pub fn relation(&self) -> Option<pg_sys::Oid> {
        // SAFETY: a catalogue look-up.
        let relation = unsafe { pg_sys::get_typ_typrelid(self.base_type()) };
        (relation != pg_sys::InvalidOid).then_some(relation)
    }
}

/// Whether Postgres would cast values of one type to another by itself.
pub fn becomes(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // SAFETY: catalogue look-ups; one type each.
    unsafe { pg_sys::can_coerce_type(1, &from, &to, pg_sys::CoercionContext::COERCION_IMPLICIT) }
}

/// The name of a type, without any modifier, that is the same under any search_path.
pub fn type_name(oid: pg_sys::Oid) -> String {
    // What is not qualified is a word of SQL, of which some, like character, mean a length of 1.
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: a catalogue look-up; the name is a string in the current memory context.
    unsafe {
        let name = pg_sys::format_type_extended(oid, -1, flags as pg_sys::bits16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// The operator that says whether two values of a column are equal, as SQL; `None` if its type has none.
pub fn equality_operator(column: &ColumnType) -> Option<String> {
    // SAFETY: any OID of a type will do; entries of the type cache live as long as the backend.
    let operator =
        unsafe { (*pg_sys::lookup_type_cache(column.base_type(), pg_sys::TYPECACHE_EQ_OPR as i32)).eq_opr };
    // SAFETY: catalogue look-ups; the tuple is released when what it holds was copied.
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

/// A column of two tables, each with the type in which it is read.
pub struct Pair {
    pub here: ColumnType,
    pub there: ColumnType,
}

impl Pair {
    /// The column as each table has it.
    pub fn new(here: &ColumnType, there: &ColumnType) -> Self {
        Pair {
            here: here.clone(),
            there: there.clone(),
        }
    }

    /// The column in one type and one collation, so that values of both tables can be compared: the only answer to
    /// whether two columns can be. Columns of one type can, and so can those of which Postgres would cast one to the
    /// type of the other by itself, as it does for `=`. The column's name comes from `argument`.
    pub fn comparable(
        argument: &'static str,
        here: &ColumnType,
        there: &ColumnType,
    ) -> Result<Self, Problem> {
        Self::in_common_type(here, there).ok_or_else(|| {
            Problem::argument(
                argument,
                Self::not_comparable(&here.name),
                "Give a column whose values are of the same type in both tables.",
            )
        })
    }

    /// The message for a column that is not comparable.
    pub fn not_comparable(column: &str) -> String {
        format!("\"{column}\" cannot be compared: its types differ")
    }

    /// [`comparable`](Self::comparable) for callers with a message of their own.
    pub fn in_common_type(here: &ColumnType, there: &ColumnType) -> Option<Self> {
        let mut pair = Pair::new(here, there);
        if here.base_type() != there.base_type() {
            let common = common_type(here.base_type(), there.base_type())?;
            (pair.here.oid, pair.there.oid) = (common, common);
        }
        // What is equal, and what comes first, the anonymised table says: its readers know no other.
        if there.collation == pg_sys::InvalidOid {
            pair.there.collation = here.collation;
        }
        pair.here.collation = pair.there.collation;
        Some(pair)
    }
}

/// The one of two types to which Postgres would cast values of the other by itself, or what it compares both as.
fn common_type(here: pg_sys::Oid, there: pg_sys::Oid) -> Option<pg_sys::Oid> {
    let common = match (becomes(here, there), becomes(there, here)) {
        // Texts of all kinds become each other.
        (true, true) => Some(if here == pg_sys::TEXTOID { here } else { there }),
        (true, false) => Some(there),
        (false, true) => Some(here),
        (false, false) => None,
    };
    // It has too few digits for integers and numerics.
    common.map(|common| match common {
        pg_sys::FLOAT4OID => pg_sys::FLOAT8OID,
        common => common,
    })
}

/// A value as Postgres would print it.
///
/// # Safety
/// A valid Datum of the type.
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

/// The value that Postgres would read from a text, in the current memory context.
///
/// # Safety
/// The type exists.
pub unsafe fn parse(oid: pg_sys::Oid, text: &str) -> Result<Datum, Problem> {
    // SAFETY: by the contract of the function.
    unsafe {
        let text = CString::new(text).map_err(|_| Problem::Internal("a text of Postgres contains NUL"))?;
        Ok(read_text(oid, &text))
    }
}

/// [`parse`] for an untyped literal in ROW(…), which becomes a value of a column.
///
/// # Safety
/// A Datum of type unknown, which is a C string.
pub unsafe fn read_literal(column: &ColumnType, literal: Datum) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe { read_text(column.oid, CStr::from_ptr(literal.cast_mut_ptr())) }
}

/// Calls the input function of a type, which raises an ERROR if the text is not one of a value.
///
/// # Safety
/// The type exists.
unsafe fn read_text(oid: pg_sys::Oid, text: &CStr) -> Datum {
    // SAFETY: by the contract of the function.
    unsafe {
        let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(oid, &mut input, &mut parameter);
        pg_sys::OidInputFunctionCall(input, text.as_ptr().cast_mut(), parameter, -1)
    }
}
