//! With whose rights, and under which circumstances, the guard works: nothing that the asking user has set
//! or made may change what it sees.

use crate::error::Problem;
use crate::guard::own_tables;
use crate::guc::{Pinned, Setting};
use crate::pg::catalog;
use pgrx::pg_sys::{self, Oid};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;

/// Why a policy stops that depends on its maker's rights.
pub const NO_LONGER_OWNS: &str = "the role that defined the policy no longer owns the relation";

/// Everyone who may be behind a statement: the session, SET ROLE, a SECURITY DEFINER function, and those with whose rights
/// measure functions run.
pub fn everyone_behind() -> Vec<Oid> {
    // SAFETY: read what this backend knows of itself.
    let mut everyone = unsafe { vec![pg_sys::GetSessionUserId(), asking(), pg_sys::GetUserId()] };
    MEASURING.with_borrow(|measuring| everyone.extend(measuring));
    everyone
}

/// The role that asks: the session's, or the one set by SET ROLE, but never a function's owner, who lends rights to
/// others.
pub fn asking() -> Oid {
    // SAFETY: reads what this backend knows of itself.
    unsafe { pg_sys::GetOuterUserId() }
}

/// Whether this statement may export whatever the policies say. Both the role that asks and the one whose rights are used
/// have to be exempt: else somebody's function, which a superuser, a maintenance job or the guard itself calls, could read
/// for its owner what the owner may not export.
pub fn is_exempt() -> bool {
    let asking = asking();
    // SAFETY: reads what this backend knows of itself.
    let using = unsafe { pg_sys::GetUserId() };
    is_exempt_role(asking)
        && (using == asking || is_exempt_role(using))
        && MEASURING.with_borrow(|measuring| measuring.iter().all(|&role| is_exempt_role(role)))
}

/// Whether a role is exempt: a superuser, or whoever may execute `disclosure.export_freely()`.
fn is_exempt_role(role: Oid) -> bool {
    // SAFETY: catalogue look-ups; an unknown function has no OID.
    unsafe {
        if pg_sys::superuser_arg(role) {
            return true;
        }
        let name = c"disclosure.export_freely";
        let names = pg_sys::stringToQualifiedNameList(
            name.as_ptr(),
            #[cfg(not(any(feature = "pg14", feature = "pg15")))]
            std::ptr::null_mut(),
        );
        let function = pg_sys::LookupFuncName(names, 0, std::ptr::null(), true);
        function != pg_sys::InvalidOid && may_execute(function, role)
    }
}

/// Whether a role may execute a function.
///
/// # Safety
/// A function that exists.
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

/// Run `job` as `user`, who lends nothing to it beyond his rights on objects.
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

/// Run `job` as the owner of a table, who sees all of its rows: as foreign keys do, which work for the table
/// and not for whoever changes it.
pub fn run_for<R>(table: Oid, job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    let owner = catalog::owner_of(table).ok_or(Problem::Internal(
        "the owner of a table of the extension was not found",
    ))?;
    run_with(owner, pg_sys::SECURITY_NOFORCE_RLS, job)
}

fn run_with<R>(user: Oid, flags: u32, job: impl FnOnce() -> R) -> R {
    let flags = (flags | pg_sys::SECURITY_LOCAL_USERID_CHANGE) as i32;
    let mut before = Before {
        user: pg_sys::InvalidOid,
        context: 0,
    };
    // SAFETY: what is changed here is changed back when `before` is dropped, on every path.
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
        // SAFETY: the values that were found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// Run `job` under settings that are the guard's own: no search_path that leads to somebody's operators, no
/// budget so small that an answer is worth nothing.
pub fn under_own_settings<R>(job: impl FnOnce() -> R) -> R {
    let pinned = Pinned::new(&OWN_SETTINGS);
    let result = job();
    drop(pinned);
    result
}

/// Run `job`, which runs what others have made with somebody's rights, under a search_path by which nobody
/// can slip something of his own to it.
pub fn under_safe_path<R>(job: impl FnOnce() -> R) -> R {
    let pinned = Pinned::new(&OWN_SETTINGS[..1]);
    let result = job();
    drop(pinned);
    result
}

const OWN_SETTINGS: [Setting; 6] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    // Numbers that differ must not look alike, since they may be sent in binary.
    (c"extra_float_digits", c"3"),
    (c"disclosure.budget", c"1min"),
    (c"disclosure.progress_notices", c"off"),
    // Names are stored and compared.
    (c"quote_all_identifiers", c"off"),
    // pg_dump keeps its session from views that it does not dump; ours are to be read.
    (c"restrict_nonsystem_relation_kind", c""),
];

thread_local! {
    /// Whether the guard reads or writes what is its own.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
    /// The relations that the measure of an export table, which is running, may read.
    static MEASURED: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// With whose rights measure functions run, the innermost last.
    static MEASURING: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
}

/// Undoes something when it is dropped, also if an error unwinds past it.
pub struct Undo<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Undo<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Whether the guard itself runs what is running, with nobody else's code in it.
pub fn is_guard_at_work() -> bool {
    AT_WORK.get()
}

/// Runs `job`, the measure of an export table, which may read these relations.
pub fn while_measuring<R>(relations: Vec<Oid>, job: impl FnOnce() -> R) -> R {
    let mut before = MEASURED.replace(relations);
    let _undo = Undo(|| drop(MEASURED.replace(std::mem::take(&mut before))));
    job()
}

/// Whether a relation is read by its own measure.
pub fn is_being_measured(relation: Oid) -> bool {
    MEASURED.with_borrow(|measured| measured.contains(&relation))
}

/// Runs `job`, a measure function that somebody has written, as `user` and in a restricted context.
pub fn run_measure<R>(user: Oid, job: impl FnOnce() -> R) -> R {
    MEASURING.with_borrow_mut(|measuring| measuring.push(user));
    let _undo = Undo(|| {
        MEASURING.with_borrow_mut(Vec::pop);
    });
    run_as(user, true, job)
}

/// Whether a measure function that somebody has written is running.
pub fn is_measuring() -> bool {
    MEASURING.with_borrow(|measuring| !measuring.is_empty())
}

/// Who is to be named for what is running: the role that asks, or the one with whose rights a measure function runs.
pub fn responsible() -> Oid {
    let innermost = MEASURING.with_borrow(|measuring| measuring.last().copied());
    innermost.unwrap_or_else(asking)
}

/// Run `job` under a snapshot that is taken now, even in a transaction that otherwise keeps an older one:
/// what others have committed counts. Queries within have to be read-only, else they take another snapshot. A parallel
/// query takes no new snapshot: there it is the one of the statement.
pub fn under_latest_snapshot<R>(job: impl FnOnce() -> R) -> R {
    // SAFETY: reads the state of this backend.
    if unsafe { pg_sys::IsInParallelMode() } {
        return job();
    }
    // SAFETY: pushed here, popped below. If an error passes, the (sub)transaction that it aborts pops it.
    unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
    let result = job();
    // SAFETY: the one that was pushed above.
    unsafe { pg_sys::PopActiveSnapshot() };
    result
}

/// Runs `job`, which reads what is the guard's own, whoever asks and whatever they have set.
pub fn as_guard<R>(job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    as_owner(|| under_latest_snapshot(job))
}

/// Runs `job`, which writes what is the guard's own, because whoever may define a policy or a label need not be allowed to
/// write the tables of these.
pub fn as_owner<R>(job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    let owner = own_tables::owner_of_policies()?;
    run_as(owner, false, || {
        let before = AT_WORK.replace(true);
        let _undo = Undo(|| AT_WORK.set(before));
        under_own_settings(job)
    })
}

/// Returns an error unless the current user owns a relation. Of one that no longer exists, a superuser decides.
pub fn check_owner(relation: Oid) -> Result<(), Problem> {
    // SAFETY: catalogue look-ups.
    let is_owner = unsafe {
        let user = pg_sys::GetUserId();
        match catalog::owner_of(relation) {
            Some(owner) => has_rights_of(user, owner),
            None => pg_sys::superuser_arg(user),
        }
    };
    match is_owner {
        true => Ok(()),
        false => Err(Problem::NotOwner {
            relation: catalog::name_of(relation),
        }),
    }
}

/// Whether `role` may do all that `other` may.
pub fn has_rights_of(role: Oid, other: Oid) -> bool {
    // SAFETY: a catalogue look-up.
    unsafe { pg_sys::has_privs_of_role(role, other) }
}

/// Prepares for a change of the policies or labels of a relation. Raises the error by which Postgres refuses to write in a
/// read-only transaction or on a standby, and waits until nobody else changes them. Others who change tables do not wait.
pub fn begin_change(command: &CStr, relation: Oid) -> Result<(), Problem> {
    // Which part of the relation is locked in our name; export tables take their turns at part 0.
    const POLICIES: u16 = 1;
    let table = own_tables::policies()?;
    // SAFETY: the first two read the state of this backend; the lock is one that nobody else takes.
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
