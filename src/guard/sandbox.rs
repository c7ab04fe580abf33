//! Sandbox for measure functions that users wrote: they leave no side effects behind, and do not see
//! temporary objects or cursors of the exporting session.

use crate::error::Error;
use crate::guard::rights;
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::ffi::CString;
use std::panic::AssertUnwindSafe;

/// Runs `measure` as [`undone`] does, without the temporary objects of the session. Returns its result.
pub fn run<R>(measure: impl FnOnce() -> R) -> R {
    let _hidden = HiddenTemporary::new();
    undone(measure)
}

/// Runs `job` in a subtransaction, rolls that back, and returns the result. Rows written, locks taken, cursors
/// opened and settings changed by `job` are undone.
pub fn undone<R>(job: impl FnOnce() -> R) -> R {
    // SAFETY: only reads two variables of this backend, on its main thread.
    let before = unsafe { (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner) };
    // SAFETY: called exactly once, on either path, while the subtransaction begun below is the current one.
    let roll_back = move || unsafe {
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        pg_sys::MemoryContextSwitchTo(before.0);
        pg_sys::CurrentResourceOwner = before.1;
    };
    // SAFETY: every path below ends the subtransaction with `roll_back`. The memory context is the caller's,
    // so that the result of `job` outlives the subtransaction.
    unsafe {
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
    }
    let result = PgTryBuilder::new(AssertUnwindSafe(job))
        .catch_others(|cause| {
            roll_back();
            cause.rethrow()
        })
        .execute();
    roll_back();
    result
}

/// Hides the session's temporary objects from name look-up until dropped. The exporting user may have created
/// them to interfere with a measure function.
struct HiddenTemporary {
    tables: Oid,
    toast: Oid,
}

impl HiddenTemporary {
    fn new() -> Self {
        let mut hidden = HiddenTemporary {
            tables: Oid::INVALID,
            toast: Oid::INVALID,
        };
        // SAFETY: parallel workers set this state in the same way, and `drop` restores it. No temporary
        // object can be created meanwhile, because measure functions run in a security-restricted context.
        unsafe {
            pg_sys::GetTempNamespaceState(&mut hidden.tables, &mut hidden.toast);
            pg_sys::SetTempNamespaceState(Oid::INVALID, Oid::INVALID);
        }
        hidden
    }
}

impl Drop for HiddenTemporary {
    fn drop(&mut self) {
        // SAFETY: restores the state that `new` read.
        unsafe { pg_sys::SetTempNamespaceState(self.tables, self.toast) };
    }
}

/// Returns whether the session has open cursors, from which any function can fetch by name.
pub fn has_open_cursors() -> Result<bool, Error> {
    let names = rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, and the column has type text.
            unsafe {
                let answer = Answer::to("SELECT c.name FROM pg_cursors c", &Parameters::default(), true)?;
                let name = |row| answer.get::<String>(row, 0);
                Ok((0..answer.rows()).filter_map(name).collect::<Vec<_>>())
            }
        })
    })?;
    let is_ready = |name: String| {
        let Ok(name) = CString::new(name) else {
            return true;
        };
        // SAFETY: the name is NUL-terminated, and the portal is read only if the look-up found one.
        unsafe {
            let portal = pg_sys::GetPortalByName(name.as_ptr());
            !portal.is_null() && (*portal).status == pg_sys::PortalStatus::PORTAL_READY
        }
    };
    Ok(names.into_iter().any(is_ready))
}
