//! The barrier: while a guarded query is planned or run, functions that do not come with Postgres are refused
//! unless its shape allows them, whoever calls them underneath.
//!
//! The walk over the query's tree already refuses such functions. This is a second barrier, for calls that no
//! tree shows. Postgres asks `needs_fmgr_hook` when it looks a function up, never for functions of its own. The
//! answer is yes only while the barrier is up, because a yes forbids inlining.

use crate::error::Error;
use pgrx::pg_sys::{self, Datum, FmgrHookEventType, FmgrInfo, Oid};
use pgrx::prelude::*;
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

/// Hooks that were set before ours, and that ours call.
struct Before {
    needs: pg_sys::needs_fmgr_hook_type,
    hook: pg_sys::fmgr_hook_type,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

thread_local! {
    static IS_UP: Cell<bool> = const { Cell::new(false) };
    /// Number of running functions that were let in. What they call is their business.
    static LET_IN: Cell<usize> = const { Cell::new(0) };
    /// Functions that the shape of the running export allows.
    static ALLOWED: RefCell<FxHashSet<Oid>> = RefCell::default();
}

/// Installs the hooks. Called once, from `_PG_init`.
pub fn install() {
    // SAFETY: the library is being loaded, on the only thread of the backend.
    unsafe {
        BEFORE.get_or_init(|| Before {
            needs: pg_sys::needs_fmgr_hook,
            hook: pg_sys::fmgr_hook,
        });
        pg_sys::needs_fmgr_hook = Some(needs);
        pg_sys::fmgr_hook = Some(pass);
    }
}

/// State of the barrier, put back when dropped.
struct State {
    is_up: bool,
    let_in: usize,
}

impl State {
    fn change(is_up: bool) -> Self {
        State {
            is_up: IS_UP.replace(is_up),
            let_in: LET_IN.replace(0),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        IS_UP.set(self.is_up);
        LET_IN.set(self.let_in);
    }
}

/// Runs `job` with the barrier up and returns its result. Only `allowed` functions are let in.
pub fn raised<R>(allowed: &FxHashSet<Oid>, job: impl FnOnce() -> R) -> R {
    let before = ALLOWED.replace(allowed.clone());
    let _restore = crate::guard::rights::Undo(|| {
        ALLOWED.replace(before.clone());
    });
    let _state = State::change(true);
    job()
}

/// Runs `job`, which is the guard's own, with the barrier down and returns its result.
pub fn lowered<R>(job: impl FnOnce() -> R) -> R {
    let _state = State::change(false);
    job()
}

/// Returns whether the barrier has to see calls of a function. Neither this function nor [`pass`] contains
/// anything that needs to be dropped, because an ERROR may jump over them.
unsafe extern "C-unwind" fn needs(function: Oid) -> bool {
    let is_users = IS_UP.get() && function.to_u32() >= pg_sys::FirstNormalObjectId;
    // SAFETY: the hook was set by another library, and gets what Postgres passed.
    is_users
        || unsafe {
            BEFORE
                .get()
                .and_then(|before| before.needs)
                .is_some_and(|needs| needs(function))
        }
}

unsafe extern "C-unwind" fn pass(event: FmgrHookEventType::Type, info: *mut FmgrInfo, argument: *mut Datum) {
    // SAFETY: Postgres passes the function that is called. The hook of another library gets the same.
    unsafe {
        let function = (*info).fn_oid;
        if IS_UP.get() && function.to_u32() >= pg_sys::FirstNormalObjectId {
            match event {
                FmgrHookEventType::FHET_START => {
                    if LET_IN.get() == 0 && !is_let_in(function) {
                        refuse();
                    }
                    LET_IN.set(LET_IN.get() + 1);
                }
                _ => LET_IN.set(LET_IN.get().saturating_sub(1)),
            }
        }
        if let Some(hook) = BEFORE.get().and_then(|before| before.hook) {
            hook(event, info, argument);
        }
    }
}

/// Returns whether a function is let in: the shape allows it, it is one of the extension's own, or it is the
/// handler of a foreign-data wrapper or of an access method, which only superusers can create.
#[pg_guard]
unsafe extern "C-unwind" fn is_let_in(function: Oid) -> bool {
    const HANDLERS: [Oid; 3] = [
        pg_sys::FDW_HANDLEROID,
        pg_sys::INDEX_AM_HANDLEROID,
        pg_sys::TABLE_AM_HANDLEROID,
    ];
    // SAFETY: catalogue look-ups, which accept any OID.
    unsafe {
        let is_own = || {
            let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
            extension != Oid::INVALID
                && pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function) == extension
        };
        ALLOWED.with_borrow(|allowed| allowed.contains(&function))
            || HANDLERS.contains(&pg_sys::get_func_rettype(function))
            || is_own()
    }
}

/// The one frame that raises.
#[cold]
#[pg_guard]
unsafe extern "C-unwind" fn refuse() {
    Error::FunctionInExport.raise()
}
