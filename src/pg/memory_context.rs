//! Scratch memory contexts, for allocations that evaluating, detoasting and comparing values leaves behind.

use crate::error::Error;
use crate::run::Meter;
use pgrx::pg_sys;
use std::marker::PhantomData;
use std::ops::Range;

/// Returns the results of `make` for all numbers, in order. `make` runs in a scratch memory context. `what`
/// names the work in progress messages.
pub fn for_each<T>(
    what: &'static str,
    numbers: Range<u32>,
    mut make: impl FnMut(u32) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let scratch = Scratch::new();
    let _entered = scratch.enter();
    let mut meter = Meter::new(what);
    let mut made = Vec::with_capacity(numbers.len());
    for number in numbers {
        made.push(make(number)?);
        if meter.row()? {
            scratch.reset();
        }
    }
    Ok(made)
}

/// Memory context that is a child of the current one. It is deleted when this value is dropped.
pub struct Scratch(pg_sys::MemoryContext);

/// Guard that keeps the scratch context current while it lives.
pub struct Entered<'a> {
    before: pg_sys::MemoryContext,
    scratch: PhantomData<&'a Scratch>,
}

impl Scratch {
    pub fn new() -> Self {
        // SAFETY: the current context is live and becomes the parent; `drop` deletes the new context.
        Scratch(unsafe {
            pg_sys::AllocSetContextCreateExtended(
                pg_sys::CurrentMemoryContext,
                c"disclosure rows".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        })
    }

    /// Makes the scratch context the current one while the returned guard lives.
    pub fn enter(&self) -> Entered<'_> {
        Entered {
            // SAFETY: the scratch context is live, and `Entered` switches back before it is deleted.
            before: unsafe { pg_sys::MemoryContextSwitchTo(self.0) },
            scratch: PhantomData,
        }
    }

    /// Frees everything that the rows so far have left behind.
    pub fn reset(&self) {
        // SAFETY: nothing that was allocated here outlives the row that needed it.
        unsafe { pg_sys::MemoryContextReset(self.0) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: it is not the current context any more, because `Entered` borrows the `Scratch`.
        unsafe { pg_sys::MemoryContextDelete(self.0) }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // SAFETY: the context that was current before belongs to a caller, so it is still live.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.before);
        }
    }
}
