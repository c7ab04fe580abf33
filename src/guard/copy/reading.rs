//! Reading protected relations in any other way than by a judged export.
//!
//! Every query of every user is checked twice: when the planner looks a relation up, so that nothing is planned
//! for a relation that may only be read by COPY TO, and when a query starts, because it may have been planned
//! before the policy existed. A query within an export, such as one that a function runs, must not read any
//! protected relation.

use crate::error::Error;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::policy::{self, Policy};
use crate::guard::tree::entries;
use crate::guard::{judge, rights};
use crate::pg::catalog;
use pgrx::pg_sys::{self, Oid, PlannedStmt, QueryDesc};

/// Role of a query, as far as the guard is concerned.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    /// Query within an export of this kind, or an export of this kind that was not judged.
    Hidden(&'static str),
    /// Any other query.
    Free,
}

/// Postgres' own functions, declared without pgrx's wrappers, which would catch every ERROR of every statement.
mod standard {
    unsafe extern "C-unwind" {
        pub fn AcceptInvalidationMessages();
    }
}

/// Returns whether an execution reads nothing that a policy concerns. Every statement of every user calls this,
/// so it avoids the overhead of pgrx. An ERROR jumps over this frame, so it must not contain a value that needs
/// to be dropped.
///
/// # Safety
/// The execution is valid and about to start.
pub unsafe fn is_bystander(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        standard::AcceptInvalidationMessages(); // learn what other sessions have committed
        let planned = (*execution).plannedstmt;
        // What a materialized view reads is not in the plan.
        let is_derived =
            |entry: *mut pg_sys::RangeTblEntry| (*entry).relkind as u8 == pg_sys::RELKIND_MATVIEW;
        policy::are_unconcerned(relations_read(planned))
            && (policy::is_known_empty() || !entries((*planned).rtable).any(is_derived))
    }
}

/// Returns an error if the query must not read one of its relations.
///
/// # Safety
/// The execution is valid.
pub unsafe fn check(execution: *mut QueryDesc, reading: Reading) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if policy::all()?.is_empty() {
            return Ok(());
        }
        let read: Vec<Oid> = relations_read((*execution).plannedstmt).collect();
        check_relations(&read, reading)
    }
}

/// Returns an error if the planner must not look at a relation: it may be read by COPY TO only, and this is
/// something else.
pub fn check_planned(relation: Oid) -> Result<(), Error> {
    match policy::all()?.is_empty() {
        true => Ok(()),
        false => check_relations(&[relation], Reading::Free),
    }
}

/// Returns an error if COPY has opened a protected relation that is not judged.
pub fn check_opened(opened: &[Oid]) -> Result<(), Error> {
    match policy::all()?.is_empty() {
        true => Ok(()),
        false => check_relations(opened, Reading::Hidden("COPY TO")),
    }
}

fn check_relations(read: &[Oid], reading: Reading) -> Result<(), Error> {
    let read: Vec<Oid> = read
        .iter()
        .copied()
        .filter(|&relation| !rights::is_being_measured(relation))
        .collect();
    let found = policy::concerning(&read)?;
    let is_broken = |policy: &Policy| reading != Reading::Free || policy.only_by_copy;
    let is_kept = |policy: &Policy| !policy.concerns_us() || is_foreign_key_of(policy);
    let Some(policy) = found.iter().find(|policy| is_broken(policy) && !is_kept(policy)) else {
        return Ok(());
    };
    if rights::is_exempt() {
        return Ok(());
    }
    let (kind, error) = match reading {
        Reading::Hidden(kind) => (kind, cannot_be_judged(policy)),
        Reading::Free => (
            "SELECT",
            Error::OnlyByCopy {
                relation: policy.relation_name(),
                policy: policy.number,
            },
        ),
    };
    judge::record(kind, policy, None, Outcome::Refused, Lasting::Always)?;
    Err(error)
}

/// Returns the error for an export that reads a protected relation unseen.
pub fn cannot_be_judged(policy: &Policy) -> Error {
    Error::CannotBeJudged {
        relation: policy.relation_name(),
        policy: policy.number,
    }
}

/// Returns whether the query is the check of a foreign key, which runs as the owner of the policy's relation
/// and shows its result to nobody. Triggers fired by a foreign key's action run in the same context, but as
/// the owner of their own table.
fn is_foreign_key_of(policy: &Policy) -> bool {
    // SAFETY: only reads variables of this backend, on its main thread.
    let (is_foreign_key, user) = unsafe { (pg_sys::InNoForceRLSOperation(), pg_sys::GetUserId()) };
    is_foreign_key && catalog::owner_of(policy.relation) == Some(user)
}

/// Returns all relations that a plan reads, regardless of whose privileges are checked.
///
/// # Safety
/// The plan is valid.
unsafe fn relations_read(planned: *mut PlannedStmt) -> impl Iterator<Item = Oid> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let found = entries::<pg_sys::RangeTblEntry>((*planned).rtable);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        let found = entries::<pg_sys::RTEPermissionInfo>((*planned).permInfos);
        found
            .filter(|&entry| (*entry).requiredPerms & pg_sys::ACL_SELECT as pg_sys::AclMode != 0)
            .map(|entry| (*entry).relid)
    }
}

/// Returns whether an execution is a parallel worker's share of one that was checked in its leader. Queries
/// that functions run within a worker are not.
///
/// # Safety
/// The execution is valid.
pub unsafe fn is_part_of_another(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let destination = (*execution).dest;
        pg_sys::ParallelWorkerNumber >= 0
            && !destination.is_null()
            && (*destination).mydest == pg_sys::CommandDest::DestTupleQueue
    }
}

/// Returns whether the rows of an execution go to a COPY or into a new table.
///
/// # Safety
/// The execution is valid.
pub unsafe fn is_bound_out(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let destination = (*execution).dest;
        !destination.is_null()
            && match (*destination).mydest {
                pg_sys::CommandDest::DestCopyOut => true,
                pg_sys::CommandDest::DestIntoRel => !is_materialized_view(destination),
                _ => false,
            }
    }
}

/// First fields of Postgres' private struct `DR_intorel`, the destination for rows of a new table. They are
/// the same in every major version.
#[repr(C)]
struct IntoRelation {
    callbacks: pg_sys::DestReceiver,
    into: *mut pg_sys::IntoClause,
}

/// Returns whether a query fills a new materialized view, which is not an export: exports of the view are
/// judged. Since Postgres 17, CREATE MATERIALIZED VIEW fills it as REFRESH does, with another kind of
/// destination.
///
/// # Safety
/// `destination` is a valid destination of kind DestIntoRel.
unsafe fn is_materialized_view(destination: *mut pg_sys::DestReceiver) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let into = (*destination.cast::<IntoRelation>()).into;
        !into.is_null() && !(*into).viewQuery.is_null()
    }
}
