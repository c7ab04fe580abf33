//! What the catalogue says about relations.

use super::row;
use super::types::ColumnType;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char};

/// Schema and name of a relation, not quoted; `None` if there is none with this OID.
pub fn schema_and_name(oid: pg_sys::Oid) -> Option<(String, String)> {
    // SAFETY: catalogue look-ups that return NULL for an unknown OID, else a string that lives until the
    // current memory context is reset.
    unsafe {
        let text = |name: *const c_char| {
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        let schema = text(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(oid)))?;
        Some((schema, text(pg_sys::get_rel_name(oid))?))
    }
}

/// The columns of a relation, in order.
pub fn columns_of(oid: pg_sys::Oid) -> Vec<ColumnType> {
    // SAFETY: a lock on the relation is held while its descriptor is read, and kept until the end of the
    // transaction, as a SELECT would.
    unsafe {
        let relation = pg_sys::relation_open(oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let columns = row::columns_of((*relation).rd_att);
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        columns
    }
}
