//! Memory for what evaluating, unpacking and comparing values leaves behind.

use crate::error::Problem;
use crate::run::Meter;
use pgrx::pg_sys;
use std::marker::PhantomData;
use std::ops::Range;

/// What `make` makes of every number, in order, with scratch memory as the current one. `what` names the
/// work in progress messages.
pub fn for_each<T>(
    what: &'static str,
    numbers: Range<u32>,
    mut make: impl FnMut(u32) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
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

/// A memory context of its own, a child of the current one; deleted when it is dropped.
pub struct Scratch(pg_sys::MemoryContext);

/// While this lives, the scratch context is the current one.
pub struct Entered<'a> {
    before: pg_sys::MemoryContext,
    scratch: PhantomData<&'a Scratch>,
}

impl Scratch {
    pub fn new() -> Self {
        // SAFETY: plain arguments; `drop` deletes the context.
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

    pub fn enter(&self) -> Entered<'_> {
        Entered {
            // SAFETY: a live context; `Entered` switches back.
            before: unsafe { pg_sys::MemoryContextSwitchTo(self.0) },
            scratch: PhantomData,
        }
    }

    /// Free what the rows so far have left behind.
    pub fn reset(&self) {
        // SAFETY: nothing that was allocated here outlives the row that needed it.
        unsafe { pg_sys::MemoryContextReset(self.0) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: it is not the current context any more, since `Entered` borrows the `Scratch`.
        unsafe { pg_sys::MemoryContextDelete(self.0) }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // SAFETY: the context that was current before is an ancestor of ours and still lives.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.before);
        }
    }
}
