//! The tables of the guard's own, and how often what is in them has changed.

use crate::error::Problem;
use crate::pg::catalog::owner_of;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;

thread_local! {
    static CHANGES: Cell<Changes> = const { Cell::new(Changes { policies: 0, families: 0 }) };
    /// The table of policies after so many changes.
    static TABLE: Cell<(Changes, Oid)> =
        const { Cell::new((Changes { policies: 0, families: 0 }, pg_sys::InvalidOid)) };
}

/// How often something has changed on which the policies, or the relations that they concern, depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    pub policies: u64,
    pub families: u64,
}

impl Changes {
    /// Returns how many there were in this session.
    pub fn so_far() -> Self {
        CHANGES.get()
    }

    /// Counts a change of the policies, or else of the relations below and above theirs.
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

/// A table of the guard's own; `None` where the extension is not in this database.
pub fn own_table(name: &CStr) -> Option<Oid> {
    // SAFETY: catalogue look-ups. The last two are slow, and most databases never come to them.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"disclosure_internal".as_ptr(), true);
        let table = pg_sys::get_relname_relid(name.as_ptr(), schema);
        if table == pg_sys::InvalidOid {
            return None;
        }
        // Else it is not ours, but somebody's who wants to read or to decide.
        let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
        let is_ours = extension != pg_sys::InvalidOid
            && pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, table) == extension;
        is_ours.then_some(table)
    }
}

/// Remembers the table of policies until something changes.
pub fn remember(table: Oid) {
    TABLE.set((Changes::so_far(), table));
}

/// Returns the table that was remembered last, perhaps before a change.
pub fn remembered() -> Oid {
    TABLE.get().1
}

/// Returns the table of policies. As long as nothing changes it is the one that is remembered: it cannot go without being
/// announced.
pub fn policies() -> Result<Oid, Problem> {
    let (changes, table) = TABLE.get();
    let known = (changes == Changes::so_far() && table != Oid::INVALID).then_some(table);
    known
        .or_else(|| own_table(c"policy"))
        .ok_or(Problem::Internal("the table of policies was not found"))
}

/// Whose rights it takes to read and write the guard's own tables.
pub fn owner_of_policies() -> Result<Oid, Problem> {
    owner_of(policies()?).ok_or(Problem::Internal("the owner of the policies was not found"))
}
