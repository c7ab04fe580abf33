//! Catalogue look-ups about relations.

use super::row;
use super::types::ColumnType;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_qualified_identifier;
use pgrx::{PgTryBuilder, direct_function_call};
use std::ffi::{CStr, CString, c_char};

/// Returns the schema and name of a relation, not quoted; `None` if there is no relation with this OID.
pub fn schema_and_name(oid: pg_sys::Oid) -> Option<(String, String)> {
    // SAFETY: the look-ups return NULL for an unknown OID, else a NUL-terminated string that lives until the
    // current memory context is reset.
    unsafe {
        let text = |name: *const c_char| {
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        let schema = text(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(oid)))?;
        Some((schema, text(pg_sys::get_rel_name(oid))?))
    }
}

/// Returns the columns of a relation, in order; `None` if there is no relation with this OID. Locks the relation
/// until the end of the transaction, as a SELECT would.
pub fn columns_of(oid: pg_sys::Oid) -> Option<Vec<ColumnType>> {
    // SAFETY: the result for an unknown OID is NULL, and the relation is locked while its descriptor is read.
    unsafe {
        let relation = pg_sys::try_relation_open(oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        if relation.is_null() {
            return None;
        }
        let columns = row::columns_of((*relation).rd_att);
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        Some(columns)
    }
}

/// Returns the schema and name of a relation, quoted; its OID if it does not exist.
pub fn name_of(relation: Oid) -> String {
    schema_and_name(relation).map_or_else(
        || format!("relation {}", relation.to_u32()),
        |(schema, name)| quote_qualified_identifier(schema, name),
    )
}

/// Returns the relation with a name as SQL has it, perhaps with a schema and in double quotes; `None` if there is none,
/// or if it is not a valid name.
pub fn relation_named(name: &str) -> Option<Oid> {
    // SAFETY: a function of Postgres with an argument of its type. It may raise an error about the name.
    let find = || unsafe { direct_function_call::<Oid>(pg_sys::to_regclass, &[name.into_datum()]) };
    PgTryBuilder::new(find)
        .catch_when(PgSqlErrorCode::ERRCODE_INVALID_NAME, |_| None)
        .catch_when(PgSqlErrorCode::ERRCODE_SYNTAX_ERROR, |_| None)
        .catch_when(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, |_| None)
        .execute()
}

/// Returns the owner of a relation; `None` if it does not exist.
pub fn owner_of(relation: Oid) -> Option<Oid> {
    // SAFETY: a tuple of this cache is a row of pg_class, and it is released after its owner was copied.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::RELOID as i32,
            pg_sys::Datum::from(relation),
        );
        if tuple.is_null() {
            return None;
        }
        let class = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>();
        let owner = (*class).relowner;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}

/// Returns whether a column of a relation is NOT NULL.
pub fn is_not_null(relation: Oid, column: &str) -> bool {
    of_column(relation, column, |attribute| attribute.attnotnull) == Some(true)
}

/// Returns whether a column of a relation is computed from others, so that it cannot be set.
pub fn is_generated(relation: Oid, column: &str) -> bool {
    of_column(relation, column, |attribute| attribute.attgenerated != 0) == Some(true)
}

/// Returns what `read` finds in the row of pg_attribute of a column; `None` if there is no such column.
fn of_column<T>(
    relation: Oid,
    column: &str,
    read: impl FnOnce(&pg_sys::FormData_pg_attribute) -> T,
) -> Option<T> {
    let column = CString::new(column).ok()?;
    // SAFETY: the name is NUL-terminated. A tuple of this cache is a row of pg_attribute, and it is released after
    // it was read.
    unsafe {
        let tuple = pg_sys::SearchSysCacheAttName(relation, column.as_ptr());
        if tuple.is_null() {
            return None;
        }
        let found = read(&*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_attribute>());
        pg_sys::ReleaseSysCache(tuple);
        Some(found)
    }
}

/// Returns whether a relation is a view, so that its columns are made from those of others.
pub fn is_view(relation: Oid) -> bool {
    // SAFETY: any OID is accepted.
    let kind = unsafe { pg_sys::get_rel_relkind(relation) } as u8;
    matches!(kind, pg_sys::RELKIND_VIEW | pg_sys::RELKIND_MATVIEW)
}

#[pg_guard]
unsafe extern "C-unwind" {
    fn find_all_inheritors(
        parent: Oid,
        lock: pg_sys::LOCKMODE,
        parents: *mut *mut pg_sys::List,
    ) -> *mut pg_sys::List;
}

/// Returns a table and all tables that inherit from it.
pub fn with_heirs(table: Oid) -> Vec<Oid> {
    // SAFETY: the result is a list of OIDs that contains at least the table itself. The lock is the one that
    // reading the tables takes.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let found = find_all_inheritors(table, lock, std::ptr::null_mut());
        let oids = (0..(*found).length as usize).map(|place| (*(*found).elements.add(place)).oid_value);
        oids.collect()
    }
}
