//! Counts the memory that this backend's Rust code holds, and enforces the budget for it.
//!
//! A failed allocation in Rust aborts the process, and an aborted backend restarts the whole cluster. Long
//! computations therefore call [`check`] regularly and stop with an ERROR long before memory runs out. Before
//! a large allocation they call [`require`], or [`Control::require`] in the algorithms.

use crate::error::Error;
use crate::guc;
use disclosure::{Control, MemoryBudget};
use pgrx::{PgXactCallbackEvent, register_xact_callback};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// System allocator that counts the bytes in use.
pub struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system allocator, and counting neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the function.
        unsafe {
            let memory = System.alloc(layout);
            if !memory.is_null() {
                IN_USE.fetch_add(layout.size(), Relaxed);
            }
            memory
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the function.
        unsafe {
            let memory = System.alloc_zeroed(layout);
            if !memory.is_null() {
                IN_USE.fetch_add(layout.size(), Relaxed);
            }
            memory
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the contract of the function.
        unsafe {
            IN_USE.fetch_sub(layout.size(), Relaxed);
            System.dealloc(memory, layout)
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by the contract of the function.
        unsafe {
            let moved = System.realloc(memory, layout, size);
            if !moved.is_null() {
                IN_USE.fetch_add(size, Relaxed);
                IN_USE.fetch_sub(layout.size(), Relaxed);
            }
            moved
        }
    }
}

/// Returns the number of bytes in use by the Rust code of this backend.
pub fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// Returns the number of bytes that may still be allocated within `disclosure.max_memory`.
pub fn left() -> usize {
    guc::max_memory_bytes().saturating_sub(in_use())
}

/// Returns an error if allocating `bytes` would exceed `disclosure.max_memory`.
pub fn require(bytes: usize) -> Result<(), Error> {
    match bytes > left() {
        true => Err(Error::OutOfMemory {
            limit: guc::max_memory_bytes(),
        }),
        false => Ok(()),
    }
}

/// Returns a control that limits a computation to `disclosure.max_memory`.
pub fn control() -> Control {
    Control::with_memory(MemoryBudget {
        limit: guc::max_memory_bytes(),
        in_use,
    })
}

/// Returns an error if `disclosure.max_memory` is exceeded.
pub fn check() -> Result<(), Error> {
    let limit = guc::max_memory_bytes();
    if in_use() > limit {
        return Err(Error::OutOfMemory { limit });
    }
    Ok(())
}

thread_local! {
    /// Whether memory will be returned when the current transaction ends.
    static RETURNING: Cell<bool> = const { Cell::new(false) };
}

/// Arranges that memory which is free when the current transaction ends goes back to the operating system. The
/// allocator of glibc would keep most of what worker threads have freed, so that a backend would stay as large as its
/// longest computation made it.
pub fn return_after_transaction() {
    if RETURNING.replace(true) {
        return;
    }
    // A transaction that is prepared has ended for this backend.
    for end in [
        PgXactCallbackEvent::Commit,
        PgXactCallbackEvent::Abort,
        PgXactCallbackEvent::Prepare,
    ] {
        register_xact_callback(end, || {
            RETURNING.set(false);
            return_free_memory();
        });
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn return_free_memory() {
    // SAFETY: any thread may call it at any time. It touches free memory only.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn return_free_memory() {}
