//! Where a measure function that somebody has written runs, so that it leaves nothing behind and finds nothing of whoever
//! exports.

use crate::error::Problem;
use crate::guard::rights;
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::ffi::CString;
use std::panic::AssertUnwindSafe;

/// Runs `measure` in a subtransaction that is rolled back: what it writes, locks, opens or sets is gone afterwards.
pub fn run<R>(measure: impl FnOnce() -> R) -> R {
    let _hidden = HiddenTemporary::new();
    // SAFETY: reads what is put back below.
    let before = unsafe { (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner) };
    // SAFETY: the subtransaction that is begun here is ended by `roll_back` on both paths.
    let roll_back = move || unsafe {
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        pg_sys::MemoryContextSwitchTo(before.0);
        pg_sys::CurrentResourceOwner = before.1;
    };
    // SAFETY: as above; what `measure` returns is to outlive the subtransaction.
    unsafe {
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
    }
    let result = PgTryBuilder::new(AssertUnwindSafe(measure))
        .catch_others(|cause| {
            roll_back();
            cause.rethrow()
        })
        .execute();
    roll_back();
    result
}

/// While it lives, no name leads to a temporary object of this session, which whoever exports may have made.
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
        // SAFETY: as parallel workers set what their leader has; `drop` puts it back. Nothing can be made meanwhile, because
        // the context is restricted.
        unsafe {
            pg_sys::GetTempNamespaceState(&mut hidden.tables, &mut hidden.toast);
            pg_sys::SetTempNamespaceState(Oid::INVALID, Oid::INVALID);
        }
        hidden
    }
}

impl Drop for HiddenTemporary {
    fn drop(&mut self) {
        // SAFETY: the values that were found.
        unsafe { pg_sys::SetTempNamespaceState(self.tables, self.toast) };
    }
}

/// Whether the session has cursors from which anybody could fetch by their names.
pub fn has_open_cursors() -> Result<bool, Problem> {
    let names = rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected; the column is of type text.
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
        // SAFETY: a look-up by name, which returns NULL if there is none.
        unsafe {
            let portal = pg_sys::GetPortalByName(name.as_ptr());
            !portal.is_null() && (*portal).status == pg_sys::PortalStatus::PORTAL_READY
        }
    };
    Ok(names.into_iter().any(is_ready))
}
