//! What items are, by name: stored counts name the type of their items, and the collation, so that they can be read
//! whatever becomes of the type.

use crate::error::Problem;
use crate::pg::types::{ColumnType, type_name};
use disclosure::byte_format::DamagedBytes;
use disclosure::cracks::{ItemSummary, Name};
use pgrx::pg_sys::{self, Datum};
use pgrx::spi::quote_qualified_identifier;
use pgrx::{IntoDatum, direct_function_call_as_datum};
use std::ffi::{CStr, CString};

/// What the items of a summary are, by name.
#[derive(Clone, PartialEq)]
pub struct ItemNames {
    pub type_name: String,
    pub collation: Option<String>,
}

/// What the names stand for at present.
pub enum Found {
    Column(ColumnType),
    /// Something that items cannot be of.
    Other,
    Nothing,
}

impl ItemNames {
    pub fn of_summary(summary: &ItemSummary) -> Self {
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

    pub fn look_up(&self) -> Result<Found, Problem> {
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

/// What items of a column are: values of the type under all domains, under a collation only where that makes
/// different texts equal.
pub fn item_type(column: &ColumnType) -> Result<ColumnType, Problem> {
    let oid = column.base_type();
    if oid == pg_sys::RECORDOID {
        return Err(Problem::argument(
            "items",
            "rows of no type in particular cannot be kept",
            "Cast them to a composite type, or to text.",
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

/// While this lives, names have quotes only if they need them, whatever quote_all_identifiers says.
struct Unquoted {
    before: bool,
}

impl Unquoted {
    fn new() -> Self {
        // SAFETY: a variable of this backend.
        unsafe {
            let before = pg_sys::quote_all_identifiers;
            pg_sys::quote_all_identifiers = false;
            Unquoted { before }
        }
    }
}

impl Drop for Unquoted {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { pg_sys::quote_all_identifiers = self.before }
    }
}

/// What the items of a stored summary are; `None` where their texts are all that is left.
pub fn column_of(summary: &ItemSummary) -> Result<Option<ColumnType>, Problem> {
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

/// Whether an enum has a label, which may have been renamed.
fn has_label(oid: pg_sys::Oid, label: &str) -> bool {
    let Ok(label) = CString::new(label) else {
        return false;
    };
    let cache = pg_sys::SysCacheIdentifier::ENUMTYPOIDNAME as i32;
    let (none, key) = (Datum::from(0), Datum::from(label.as_ptr()));
    // SAFETY: a look-up in the catalogue's cache, by keys of the right types. No label is longer than a name.
    label.count_bytes() < pg_sys::NAMEDATALEN as usize
        && unsafe { pg_sys::SearchSysCacheExists(cache, oid.into(), key, none, none) }
}

/// Whether texts of a type that nobody can drop or change are read the same way for ever: those of a built-in type
/// whose values do not name something else.
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

/// The OID of what a name means. `None`: it is qualified, and there is no such thing. Names that people write without
/// a schema have to exist.
fn named(
    what: &'static str,
    name: &str,
    in_schema: fn(schema: &CStr, name: &CStr) -> pg_sys::Oid,
    on_search_path: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
) -> Result<Option<pg_sys::Oid>, Problem> {
    let text = |text: &str| CString::new(text).map_err(|_| DamagedBytes);
    let found = match Name::parse(name).ok_or(DamagedBytes)? {
        Name::Qualified { schema, name } => in_schema(&text(&schema)?, &text(&name)?),
        Name::Words => {
            // SAFETY: these functions take a text.
            let found = unsafe { direct_function_call_as_datum(on_search_path, &[name.into_datum()]) };
            let found = found.ok_or_else(|| Problem::NoSuchName {
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
    // SAFETY: a look-up by a name and the OID of a schema, as this cache has them as its keys.
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
            // SAFETY: by a name, an encoding and the OID of a schema, as this cache has them as its keys.
            unsafe { pg_sys::GetSysCacheOid(cache, column, name, encoding, schema.into(), none) }
        })
        .find(|&found| found != pg_sys::InvalidOid)
        .unwrap_or(pg_sys::InvalidOid)
}

/// The name of the items' collation, quoted and the same under any search_path, where it makes different
/// texts equal.
fn collation_name(items: &ColumnType) -> Option<String> {
    let collation = items.collation;
    // SAFETY: a tuple of the catalogue's cache, released when its names are copied.
    unsafe {
        if collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation) {
            return None;
        }
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::COLLOID as i32, collation.into());
        if tuple.is_null() {
            return None; // dropped in this very moment
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
