//! The guard's own tables, and counters of the changes after which cached policies are stale.

use crate::error::Error;
use crate::pg::catalog::owner_of;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;

thread_local! {
    static CHANGES: Cell<Changes> = const { Cell::new(Changes { policies: 0, families: 0 }) };
    /// OID of disclosure_internal.policy, with the counters at the time it was looked up.
    static TABLE: Cell<(Changes, Oid)> =
        const { Cell::new((Changes { policies: 0, families: 0 }, pg_sys::InvalidOid)) };
}

/// Counters of changes in this session: of anything that policies depend on, and of the inheritance and
/// partition trees of the relations that policies concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    pub policies: u64,
    pub families: u64,
}

impl Changes {
    /// Returns the current counters of this session.
    pub fn so_far() -> Self {
        CHANGES.get()
    }

    /// Counts a change of the policies if `policies` is true, otherwise a change of a family: the relations
    /// above and below a policy's relation.
    pub fn count(policies: bool) {
        let mut changes = CHANGES.get();
        let counter = if policies {
            &mut changes.policies
        } else {
            &mut changes.families
        };
        *counter = counter.wrapping_add(1);
        CHANGES.set(changes);
    }
}

/// Returns one of the guard's own tables, or `None` if the extension is not installed in this database.
pub fn own_table(name: &CStr) -> Option<Oid> {
    // SAFETY: the names are NUL-terminated, and these look-ups accept any OID, including the invalid one.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"disclosure_internal".as_ptr(), true);
        let table = pg_sys::get_relname_relid(name.as_ptr(), schema);
        if table == pg_sys::InvalidOid {
            return None;
        }
        // Somebody may have created a table of this name to spoof policies or to read the log. This check
        // comes last because it is slow, and most databases have no such table.
        let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
        let is_ours = extension != pg_sys::InvalidOid
            && pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, table) == extension;
        is_ours.then_some(table)
    }
}

/// Caches the OID of the table of policies until something changes.
pub fn remember(table: Oid) {
    TABLE.set((Changes::so_far(), table));
}

/// Returns the cached OID of the table of policies, which may be stale.
pub fn remembered() -> Oid {
    TABLE.get().1
}

/// Returns the table of policies. The cached OID is used as long as no change was counted, because Postgres
/// announces it to every session if the table is dropped.
pub fn policies() -> Result<Oid, Error> {
    let (changes, table) = TABLE.get();
    let known = (changes == Changes::so_far() && table != Oid::INVALID).then_some(table);
    known
        .or_else(|| own_table(c"policy"))
        .ok_or(Error::Internal("the table of policies was not found"))
}

/// Returns the owner of the table of policies, who may read and write the guard's own tables.
pub fn owner_of_policies() -> Result<Oid, Error> {
    owner_of(policies()?).ok_or(Error::Internal("the owner of the policies was not found"))
}
