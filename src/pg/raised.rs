//! Catching an ERROR of Postgres without changing it.
//!
//! pgrx turns a caught ERROR into a panic, and the panic into another ERROR without the context, the position, the
//! constraint and the table of the original.

use pgrx::pg_sys;

mod standard {
    unsafe extern "C-unwind" {
        pub fn pg_re_throw() -> !;
    }
}

/// Runs `job` and returns whether it raised an ERROR. The caller then has to clean up, without raising an ERROR, and
/// to call [`again`].
///
/// # Safety
/// An ERROR jumps over the frames of `job`, so they must not contain a value that needs to be dropped. `job` does
/// not panic. This is the main thread of a backend.
pub unsafe fn by(job: impl FnOnce()) -> bool {
    // SAFETY: by the contract of the function. The buffer is valid while `job` runs, and Postgres' own variables
    // are put back before it is gone, as PG_TRY does.
    unsafe {
        let before = (pg_sys::PG_exception_stack, pg_sys::error_context_stack);
        let jumped = cee_scape::call_with_sigsetjmp(false, |buffer| {
            pg_sys::PG_exception_stack = std::ptr::from_ref(buffer).cast_mut().cast();
            job();
            0
        });
        (pg_sys::PG_exception_stack, pg_sys::error_context_stack) = before;
        jumped != 0
    }
}

/// Raises the ERROR that was caught, unchanged.
///
/// # Safety
/// [`by`] has returned true, and the frames up to the next handler contain no value that needs to be dropped.
pub unsafe fn again() -> ! {
    // SAFETY: by the contract of the function.
    unsafe { standard::pg_re_throw() }
}
