//! Names of the types and collations of items.
//!
//! Stored counts refer to the type and collation of their items by name, not by OID, so that they can be
//! dumped, restored and read in another database. Names are qualified and quoted in a way that does not
//! depend on settings.

use crate::error::Error;
use crate::pg::types::{ColumnType, type_name};
use disclosure::byte_format::DamagedBytes;
use disclosure::cracks::{SqlName, StoredCounts};
use pgrx::pg_sys::{self, Datum};
use pgrx::spi::quote_qualified_identifier;
use pgrx::{IntoDatum, direct_function_call_as_datum};
use std::ffi::{CStr, CString};

/// Names of the type and the collation of items. There is a collation only if it makes different texts equal.
#[derive(Clone, PartialEq)]
pub struct ItemNames {
    pub type_name: String,
    pub collation: Option<String>,
}

/// Result of looking up [`ItemNames`] in the catalogue.
pub enum Found {
    Column(ColumnType),
    /// A type that items cannot have, such as an array.
    Other,
    Nothing,
}

impl ItemNames {
    pub fn of_summary(summary: &StoredCounts) -> Self {
        ItemNames {
            type_name: summary.type_name.to_string(),
            collation: summary.collation.as_ref().map(|name| name.to_string()),
        }
    }

    pub fn of_column(column: &ColumnType) -> Self {
        let _unquoted = Unquoted::new();
        ItemNames {
            type_name: type_name(column.oid),
            collation: collation_name(column),
        }
    }

    pub fn look_up(&self) -> Result<Found, Error> {
        let Some(oid) = named("type", &self.type_name, type_in_schema, pg_sys::to_regtype)? else {
            return Ok(Found::Nothing);
        };
        let collation = match &self.collation {
            None => pg_sys::InvalidOid,
            Some(name) => match named("collation", name, collation_in_schema, pg_sys::to_regcollation)? {
                Some(collation) => collation,
                None => return Ok(Found::Nothing),
            },
        };
        let name = String::new();
        let column = ColumnType { name, oid, collation };
        // SAFETY: catalogue look-ups.
        let (kind, is_array) = unsafe {
            let base = column.base_type();
            let is_array = pg_sys::get_element_type(base) != pg_sys::InvalidOid;
            (pg_sys::get_typtype(base) as u8, is_array)
        };
        if is_array || kind == pg_sys::TYPTYPE_PSEUDO {
            return Ok(Found::Other);
        }
        Ok(Found::Column(item_type(&column)?))
    }
}

/// Returns the type of a column's items: the base type of any domain, with the column's collation if it makes
/// different texts equal, otherwise the type's own collation.
pub fn item_type(column: &ColumnType) -> Result<ColumnType, Error> {
    let oid = column.base_type();
    if oid == pg_sys::RECORDOID {
        return Err(Error::argument(
            "items",
            "anonymous rows cannot be items",
            "Cast the rows to a composite type or to text.",
        ));
    }
    // SAFETY: catalogue look-ups.
    let collation = unsafe {
        let given = column.collation;
        if given != pg_sys::InvalidOid && !pg_sys::get_collation_isdeterministic(given) {
            given
        } else {
            pg_sys::get_typcollation(oid)
        }
    };
    let name = String::new();
    Ok(ColumnType { name, oid, collation })
}

/// Guard that turns the setting quote_all_identifiers off while it lives, so that names have quotes only if
/// needed.
struct Unquoted {
    before: bool,
}

impl Unquoted {
    fn new() -> Self {
        // SAFETY: only this thread uses the variable, which belongs to the backend.
        unsafe {
            let before = pg_sys::quote_all_identifiers;
            pg_sys::quote_all_identifiers = false;
            Unquoted { before }
        }
    }
}

impl Drop for Unquoted {
    fn drop(&mut self) {
        // SAFETY: only this thread uses the variable, which belongs to the backend.
        unsafe { pg_sys::quote_all_identifiers = self.before }
    }
}

/// Returns the type of stored items; `None` if only their texts can be compared, because the type or a label
/// of an enum does not exist any more.
pub fn column_of(summary: &StoredCounts) -> Result<Option<ColumnType>, Error> {
    let column = match ItemNames::of_summary(summary).look_up()? {
        Found::Column(column) => column,
        Found::Other | Found::Nothing => return Ok(None),
    };
    // SAFETY: a catalogue look-up.
    let is_enum = unsafe { pg_sys::get_typtype(column.oid) as u8 } == pg_sys::TYPTYPE_ENUM;
    let is_known = |text: &str| has_label(column.oid, text);
    let all_known = !is_enum || summary.items.iter().all(|(text, _)| is_known(text));
    Ok(all_known.then_some(column))
}

/// Returns whether an enum has a label. Labels can be renamed.
fn has_label(oid: pg_sys::Oid, label: &str) -> bool {
    let Ok(label) = CString::new(label) else {
        return false;
    };
    let cache = pg_sys::SysCacheIdentifier::ENUMTYPOIDNAME as i32;
    let (none, key) = (Datum::from(0), Datum::from(label.as_ptr()));
    // SAFETY: a look-up in the catalogue's cache, by keys of the right types. Labels are at most as long as
    // names.
    label.count_bytes() < pg_sys::NAMEDATALEN as usize
        && unsafe { pg_sys::SearchSysCacheExists(cache, oid.into(), key, none, none) }
}

/// Returns whether the texts of a type always mean the same values: it is built in, so that nobody can change
/// it, and its values do not name other objects.
pub fn means_the_same_for_ever(column: &ColumnType) -> bool {
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_typtype(column.oid) } as u8;
    column.oid.to_u32() < pg_sys::FirstGenbkiObjectId
        && kind != pg_sys::TYPTYPE_COMPOSITE
        && !matches!(
            column.oid,
            pg_sys::ACLITEMOID
                | pg_sys::REGCLASSOID
                | pg_sys::REGCOLLATIONOID
                | pg_sys::REGCONFIGOID
                | pg_sys::REGDICTIONARYOID
                | pg_sys::REGNAMESPACEOID
                | pg_sys::REGOPEROID
                | pg_sys::REGOPERATOROID
                | pg_sys::REGPROCOID
                | pg_sys::REGPROCEDUREOID
                | pg_sys::REGROLEOID
                | pg_sys::REGTYPEOID
        )
}

/// Returns the OID of a type or collation; `None` if the name is qualified and does not exist. A name without
/// a schema, as people write it, must exist.
fn named(
    what: &'static str,
    name: &str,
    in_schema: fn(schema: &CStr, name: &CStr) -> pg_sys::Oid,
    on_search_path: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
) -> Result<Option<pg_sys::Oid>, Error> {
    let text = |text: &str| CString::new(text).map_err(|_| DamagedBytes);
    let found = match SqlName::parse(name).ok_or(DamagedBytes)? {
        SqlName::Qualified { schema, name } => in_schema(&text(&schema)?, &text(&name)?),
        SqlName::Words => {
            // SAFETY: these functions take a text.
            let found = unsafe { direct_function_call_as_datum(on_search_path, &[name.into_datum()]) };
            let found = found.ok_or_else(|| Error::NoSuchName {
                what,
                name: name.into(),
            })?;
            pg_sys::Oid::from(found.value() as u32)
        }
    };
    Ok(Some(found).filter(|&found| found != pg_sys::InvalidOid))
}

fn type_in_schema(schema: &CStr, name: &CStr) -> pg_sys::Oid {
    let cache = pg_sys::SysCacheIdentifier::TYPENAMENSP as i32;
    let (column, none) = (pg_sys::Anum_pg_type_oid as i16, Datum::from(0));
    // SAFETY: a look-up by a name and the OID of a schema, which are the keys of this cache.
    unsafe {
        let schema = pg_sys::LookupNamespaceNoError(schema.as_ptr());
        let found = pg_sys::GetSysCacheOid(cache, column, name.as_ptr().into(), schema.into(), none, none);
        let is_defined = found != pg_sys::InvalidOid && pg_sys::get_typisdefined(found);
        if is_defined { found } else { pg_sys::InvalidOid }
    }
}

fn collation_in_schema(schema: &CStr, name: &CStr) -> pg_sys::Oid {
    const ANY_ENCODING: i32 = -1;
    let cache = pg_sys::SysCacheIdentifier::COLLNAMEENCNSP as i32;
    let (column, none) = (pg_sys::Anum_pg_collation_oid as i16, Datum::from(0));
    // SAFETY: plain look-ups of this backend.
    let (schema, encoding) = unsafe {
        let schema = pg_sys::LookupNamespaceNoError(schema.as_ptr());
        (schema, pg_sys::GetDatabaseEncoding())
    };
    [encoding, ANY_ENCODING]
        .into_iter()
        .map(|encoding| {
            let (name, encoding) = (name.as_ptr().into(), encoding.into());
            // SAFETY: a look-up by a name, an encoding and the OID of a schema, which are the keys of this
            // cache.
            unsafe { pg_sys::GetSysCacheOid(cache, column, name, encoding, schema.into(), none) }
        })
        .find(|&found| found != pg_sys::InvalidOid)
        .unwrap_or(pg_sys::InvalidOid)
}

/// Returns the qualified and quoted name of the items' collation if it makes different texts equal.
fn collation_name(items: &ColumnType) -> Option<String> {
    let collation = items.collation;
    // SAFETY: a tuple of the catalogue's cache, released when its names are copied.
    unsafe {
        if collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation) {
            return None;
        }
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::COLLOID as i32, collation.into());
        if tuple.is_null() {
            return None; // dropped since the items were read
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_collation>();
        let text = |name: *const std::ffi::c_char| CStr::from_ptr(name).to_string_lossy().into_owned();
        let name = text((*form).collname.data.as_ptr());
        let schema = pg_sys::get_namespace_name((*form).collnamespace);
        let schema = (!schema.is_null()).then(|| text(schema));
        pg_sys::ReleaseSysCache(tuple);
        schema.map(|schema| quote_qualified_identifier(schema, name))
    }
}
