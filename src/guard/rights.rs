//! With whose rights, and under which circumstances, the guard works: nothing that the asking user has set
//! or made may change what it sees.

use crate::error::Problem;
use crate::guc::{Pinned, Setting};
use pgrx::pg_sys::{self, Oid};
use std::cell::{Cell, RefCell};

/// Everyone who may be behind a statement: the session, SET ROLE, and a SECURITY DEFINER function.
pub fn everyone_behind() -> [Oid; 3] {
    // SAFETY: read what this backend knows of itself.
    unsafe { [pg_sys::GetSessionUserId(), asking(), pg_sys::GetUserId()] }
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
    is_exempt_role(asking) && (using == asking || is_exempt_role(using))
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
    let execute = pg_sys::ACL_EXECUTE as pg_sys::AclMode;
    #[cfg(any(feature = "pg14", feature = "pg15"))]
    let granted = pg_sys::pg_proc_aclcheck(function, role, execute);
    #[cfg(not(any(feature = "pg14", feature = "pg15")))]
    let granted = pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, role, execute);
    granted == pg_sys::AclResult::ACLCHECK_OK
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
    let owner = super::policy::owner_of(table).ok_or(Problem::Lost)?;
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
    AT_WORK.set(AT_WORK.get() + 1);
    let working = Working;
    let result = job();
    drop((working, pinned));
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

const OWN_SETTINGS: [Setting; 5] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    // Numbers that differ must not look alike, since they may be sent in binary.
    (c"extra_float_digits", c"3"),
    (c"disclosure.budget", c"1min"),
    (c"disclosure.progress", c"off"),
    // pg_dump keeps its session from views that it does not dump; ours are to be read.
    (c"restrict_nonsystem_relation_kind", c""),
];

thread_local! {
    /// How many levels deep.
    static AT_WORK: Cell<u32> = const { Cell::new(0) };
    /// The relations that the measure of an export table, which is running, may read.
    static MEASURED: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
}

/// Runs `job`, which is somebody's own code, so that the guard looks at it again.
pub fn while_not_at_work<R>(job: impl FnOnce() -> R) -> R {
    let resumed = Resumed(AT_WORK.replace(0));
    let result = job();
    drop(resumed);
    result
}

/// Runs `job`, the measure of an export table, which may read these relations.
pub fn while_measuring<R>(relations: &[Oid], job: impl FnOnce() -> R) -> R {
    let measured = Measured(MEASURED.replace(relations.to_vec()));
    let result = job();
    drop(measured);
    result
}

/// Whether a relation is read by its own measure.
pub fn is_being_measured(relation: Oid) -> bool {
    MEASURED.with_borrow(|measured| measured.contains(&relation))
}

/// Puts [`MEASURED`] back.
struct Measured(Vec<Oid>);

impl Drop for Measured {
    fn drop(&mut self) {
        MEASURED.replace(std::mem::take(&mut self.0));
    }
}

/// Puts [`AT_WORK`] back.
struct Resumed(u32);

impl Drop for Resumed {
    fn drop(&mut self) {
        AT_WORK.set(self.0);
    }
}

/// Whether the guard itself runs what is running: it may read what it has to judge.
pub fn is_guard_at_work() -> bool {
    AT_WORK.get() > 0
}

struct Working;

impl Drop for Working {
    fn drop(&mut self) {
        AT_WORK.set(AT_WORK.get() - 1);
    }
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

/// Run `job`, which reads or writes what is the guard's own, whoever asks and whatever he has set.
pub fn as_guard<R>(job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    let owner = super::policy::owner_of_policies()?;
    run_as(owner, false, || under_own_settings(|| under_latest_snapshot(job)))
}
