//! Roles, settings and snapshots under which the guard's queries and measure functions run.
//!
//! Nothing that the exporting user set or created may influence the guard. So it reads its own tables as
//! their owner, under pinned settings and the latest snapshot ([`as_guard`]). Measure functions run with the
//! rights of the role that defined the policy, in a security-restricted context ([`run_measure`]). This
//! module also decides which roles are exempt from policies.

use crate::error::Error;
use crate::guard::copy::silence;
use crate::guard::own_tables;
use crate::guc::{Pinned, Setting};
use crate::pg::catalog;
use pgrx::pg_sys::{self, Oid};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;

/// Reason why a policy that depends on the rights of the role that defined it cannot be judged any more.
pub const NO_LONGER_OWNS: &str = "the role that defined the policy no longer owns the relation";

/// Returns all roles that a statement may act for: the session's role, the one set by SET ROLE, the owner of
/// a running SECURITY DEFINER function, and the roles whose rights running measure functions use.
pub fn everyone_behind() -> Vec<Oid> {
    // SAFETY: only reads variables of this backend, on its main thread.
    let mut everyone = unsafe { vec![pg_sys::GetSessionUserId(), asking(), pg_sys::GetUserId()] };
    MEASURING.with_borrow(|measuring| everyone.extend(measuring));
    everyone
}

/// Returns the role that asks: the session's role, or the one set by SET ROLE. It is never the owner of a
/// SECURITY DEFINER function, which only lends its rights.
pub fn asking() -> Oid {
    // SAFETY: only reads a variable of this backend, on its main thread.
    unsafe { pg_sys::GetOuterUserId() }
}

/// Returns whether the statement is exempt from all policies. Both the role that asks and the role whose
/// rights are used must be exempt. Otherwise a function called by a superuser, a maintenance job or the guard
/// itself could read data that the function's owner may not export.
pub fn is_exempt() -> bool {
    let asking = asking();
    // SAFETY: only reads a variable of this backend, on its main thread.
    let using = unsafe { pg_sys::GetUserId() };
    is_exempt_role(asking)
        && (using == asking || is_exempt_role(using))
        && MEASURING.with_borrow(|measuring| measuring.iter().all(|&role| is_exempt_role(role)))
}

/// Returns whether a role is exempt: it is a superuser or may execute `disclosure.export_freely()`.
fn is_exempt_role(role: Oid) -> bool {
    has_duty(role, c"disclosure.export_freely")
}

/// Returns whether a role may define policies and labels of relations that it does not own: it is a superuser
/// or may execute `disclosure.administer_policies()`.
pub fn may_administer(role: Oid) -> bool {
    has_duty(role, c"disclosure.administer_policies")
}

/// Returns whether a role is a superuser or may execute a function without arguments that stands for a duty.
fn has_duty(role: Oid, name: &CStr) -> bool {
    // SAFETY: the look-ups accept any role, the name is NUL-terminated, and a missing function gives
    // InvalidOid.
    unsafe {
        if pg_sys::superuser_arg(role) {
            return true;
        }
        let names = pg_sys::stringToQualifiedNameList(
            name.as_ptr(),
            #[cfg(not(any(feature = "pg14", feature = "pg15")))]
            std::ptr::null_mut(),
        );
        let function = pg_sys::LookupFuncName(names, 0, std::ptr::null(), true);
        function != pg_sys::InvalidOid && may_execute(function, role)
    }
}

/// Returns whether a role may execute a function.
///
/// # Safety
/// The function exists.
pub unsafe fn may_execute(function: Oid, role: Oid) -> bool {
    // SAFETY: by the contract of the function.
    unsafe {
        let execute = pg_sys::ACL_EXECUTE as pg_sys::AclMode;
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let granted = pg_sys::pg_proc_aclcheck(function, role, execute);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        let granted = pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, role, execute);
        granted == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Runs `job` with the rights of `user`, and in a security-restricted context if `restricted`. Returns its
/// result.
pub fn run_as<R>(user: Oid, restricted: bool, job: impl FnOnce() -> R) -> R {
    run_with(
        user,
        if restricted {
            pg_sys::SECURITY_RESTRICTED_OPERATION
        } else {
            0
        },
        job,
    )
}

/// Runs `job` as the owner of a table, without row security even if that is forced, and returns its result.
/// Foreign keys run their checks in the same way, because they work for the table and not for the current
/// user.
pub fn run_for<R>(table: Oid, job: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let owner = catalog::owner_of(table).ok_or(Error::Internal("the owner of a table was not found"))?;
    run_with(owner, pg_sys::SECURITY_NOFORCE_RLS, job)
}

fn run_with<R>(user: Oid, flags: u32, job: impl FnOnce() -> R) -> R {
    let flags = (flags | pg_sys::SECURITY_LOCAL_USERID_CHANGE) as i32;
    let mut before = Before {
        user: pg_sys::InvalidOid,
        context: 0,
    };
    // SAFETY: both out-parameters are valid, and dropping `before` restores the state on every path.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut before.user, &mut before.context);
        pg_sys::SetUserIdAndSecContext(user, before.context | flags);
    }
    let result = job();
    drop(before);
    result
}

struct Before {
    user: Oid,
    context: i32,
}

impl Drop for Before {
    fn drop(&mut self) {
        // SAFETY: restores the user and the context that `run_with` found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// Runs `job` under the guard's own settings and returns its result. The search_path must not lead to
/// operators that a user created, and the budget must not be so small that the results are useless.
pub fn under_own_settings<R>(job: impl FnOnce() -> R) -> R {
    let pinned = Pinned::new(&OWN_SETTINGS);
    let result = job();
    drop(pinned);
    result
}

/// Runs `job` under a search_path that contains no objects of users, and returns its result. It is for jobs
/// that run triggers or expressions of one role with the rights of another.
pub fn under_safe_path<R>(job: impl FnOnce() -> R) -> R {
    let pinned = Pinned::new(&OWN_SETTINGS[..1]);
    let result = job();
    drop(pinned);
    result
}

const OWN_SETTINGS: [Setting; 6] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    // Numbers that differ must have different texts, because COPY may send them in binary.
    (c"extra_float_digits", c"3"),
    (c"disclosure.budget", c"1min"),
    (c"disclosure.progress_notices", c"off"),
    // Quoted names are stored and compared.
    (c"quote_all_identifiers", c"off"),
    // pg_dump restricts its session to tables that it dumps, but the guard must read its views.
    (c"restrict_nonsystem_relation_kind", c""),
];

thread_local! {
    /// Whether the guard is reading or writing its own tables.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
    /// Relations that the running measure of an export table may read.
    static MEASURED: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// Roles whose rights the running measure functions use, innermost last.
    static MEASURING: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
}

/// Calls a closure when dropped, including while an error unwinds.
pub struct Undo<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Undo<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Returns whether the running query is one of the guard's own, which calls no code of users.
pub fn is_guard_at_work() -> bool {
    AT_WORK.get()
}

/// Runs `job`, the measure of an export table, and returns its result. `job` may read the given relations.
pub fn while_measuring<R>(relations: Vec<Oid>, job: impl FnOnce() -> R) -> R {
    let mut before = MEASURED.replace(relations);
    let _undo = Undo(|| drop(MEASURED.replace(std::mem::take(&mut before))));
    job()
}

/// Returns whether the running measure of an export table may read a relation.
pub fn is_being_measured(relation: Oid) -> bool {
    MEASURED.with_borrow(|measured| measured.contains(&relation))
}

/// Runs `job`, a measure function that a user wrote, as `user` in a security-restricted context. Returns its
/// result.
pub fn run_measure<R>(user: Oid, job: impl FnOnce() -> R) -> R {
    MEASURING.with_borrow_mut(|measuring| measuring.push(user));
    let _undo = Undo(|| {
        MEASURING.with_borrow_mut(Vec::pop);
    });
    run_as(user, true, job)
}

/// Returns whether a measure function that a user wrote is running.
pub fn is_measuring() -> bool {
    MEASURING.with_borrow(|measuring| !measuring.is_empty())
}

/// Returns the role that the log names: the role whose rights the innermost running measure function uses, or
/// the role that asks if none is running.
pub fn responsible() -> Oid {
    let innermost = MEASURING.with_borrow(|measuring| measuring.last().copied());
    innermost.unwrap_or_else(asking)
}

/// Runs `job` under a snapshot taken now, even in a transaction that keeps an older one, and returns its
/// result. So `job` sees what other sessions have committed. Its queries must be read-only, because others
/// take a snapshot of their own. A parallel query cannot take a new snapshot and uses that of its statement.
pub fn under_latest_snapshot<R>(job: impl FnOnce() -> R) -> R {
    // SAFETY: only reads the state of this backend, on its main thread.
    if unsafe { pg_sys::IsInParallelMode() } {
        return job();
    }
    // SAFETY: the snapshot is popped below. If an error is raised, aborting the (sub)transaction pops it.
    unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
    let result = job();
    // SAFETY: the active snapshot is the one pushed above, because `job` leaves the stack balanced.
    unsafe { pg_sys::PopActiveSnapshot() };
    result
}

/// Runs `job`, which reads the guard's own tables, and returns its result. Neither the role that asks nor its
/// settings matter, and no message of it reaches the client.
pub fn as_guard<R>(job: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    silence::quietly(|| as_owner(|| under_latest_snapshot(job)))
}

/// Runs `job`, which writes the guard's own tables, and returns its result. It runs as the owner of the
/// tables, because roles that may define a policy or a label need no privileges on them.
pub fn as_owner<R>(job: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let owner = own_tables::owner_of_policies()?;
    run_as(owner, false, || {
        let before = AT_WORK.replace(true);
        let _undo = Undo(|| AT_WORK.set(before));
        under_own_settings(job)
    })
}

/// Returns an error unless the current user owns a relation, or is a superuser if the relation no longer
/// exists.
pub fn check_owner(relation: Oid) -> Result<(), Error> {
    // SAFETY: reads a variable of this backend; the look-up accepts any role.
    let is_owner = unsafe {
        let user = pg_sys::GetUserId();
        match catalog::owner_of(relation) {
            Some(owner) => has_rights_of(user, owner),
            None => pg_sys::superuser_arg(user),
        }
    };
    match is_owner {
        true => Ok(()),
        false => Err(Error::NotOwner {
            relation: catalog::name_of(relation),
        }),
    }
}

/// Returns whether `role` has all the rights of `other`.
pub fn has_rights_of(role: Oid, other: Oid) -> bool {
    // SAFETY: accepts any OIDs; a role that does not exist is a member of nothing.
    unsafe { pg_sys::has_privs_of_role(role, other) }
}

/// Prepares for a change of the policies or labels of a relation. Raises Postgres' own error in a read-only
/// transaction or on a standby, and waits until no other transaction is changing the same policies or labels.
/// Transactions that change the relation itself do not wait.
pub fn begin_change(command: &CStr, relation: Oid) -> Result<(), Error> {
    // Sub-object number of the lock. Export tables use 0 for their turns.
    const POLICIES: u16 = 1;
    let table = own_tables::policies()?;
    // SAFETY: the command is NUL-terminated. Locks accept any OIDs, and this transaction's end releases them.
    unsafe {
        pg_sys::PreventCommandIfReadOnly(command.as_ptr());
        pg_sys::PreventCommandDuringRecovery(command.as_ptr());
        pg_sys::LockDatabaseObject(
            table,
            relation,
            POLICIES,
            pg_sys::ExclusiveLock as pg_sys::LOCKMODE,
        );
    }
    Ok(())
}
