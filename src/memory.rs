//! How much memory this backend's Rust code holds, and the budget for it.
//!
//! A failed allocation in Rust aborts the process, and an aborted backend restarts the whole cluster. So
//! large work watches [`check`] and stops with an ERROR long before memory runs out, and a large allocation
//! asks [`require`] first, or [`Control::require`] in the algorithms.

use crate::error::Problem;
use crate::guc;
use disclosure::{Control, MemoryBudget};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with a count of the bytes that are in use.
pub struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged; counting does not allocate or
// unwind.
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

/// Bytes in use by the Rust code of this backend.
pub fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// Bytes that may still be taken.
pub fn left() -> usize {
    guc::max_memory_bytes().saturating_sub(in_use())
}

/// Whether `disclosure.max_memory` has room for so many bytes more.
pub fn require(bytes: usize) -> Result<(), Problem> {
    match bytes > left() {
        true => Err(Problem::OutOfMemory {
            limit: guc::max_memory_bytes(),
        }),
        false => Ok(()),
    }
}

/// Returns a control whose computation asks for room within `disclosure.max_memory`.
pub fn control() -> Control {
    Control::with_memory(MemoryBudget {
        limit: guc::max_memory_bytes(),
        in_use,
    })
}

/// Whether `disclosure.max_memory` still holds.
pub fn check() -> Result<(), Problem> {
    let limit = guc::max_memory_bytes();
    if in_use() > limit {
        return Err(Problem::OutOfMemory { limit });
    }
    Ok(())
}
