//! Cancellation, progress and memory budget of long computations.
//!
//! A computation polls [`Control::check`] every few milliseconds and calls [`Control::require`] before large
//! allocations. The thread that waits for it calls [`Control::cancel`] and reads [`Control::progress`].
//! Atomic accesses are relaxed because no other data is synchronised through them.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Cancellation, progress and memory handle, shared by reference between a long computation and the thread
/// that waits for it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// `None` means no limit.
    memory: Option<MemoryBudget>,
}

/// Memory budget of a computation.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBudget {
    /// Number of bytes that may be in use at a time.
    pub limit: usize,
    /// Returns the number of bytes in use now. May be called from any thread.
    pub in_use: fn() -> usize,
}

/// Shared by all callers that neither cancel nor watch.
static UNCONTROLLED: Control = Control {
    cancelled: AtomicBool::new(false),
    done: AtomicU64::new(0),
    total: AtomicU64::new(0),
    memory: None,
};

impl Control {
    /// Returns a control without a memory limit, for a computation that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a shared control for callers that neither cancel nor watch. Cancelling it has no effect.
    pub fn none() -> &'static Self {
        &UNCONTROLLED
    }

    /// Returns a control for a computation with this memory budget.
    pub fn with_memory(memory: MemoryBudget) -> Self {
        Control {
            memory: Some(memory),
            ..Self::default()
        }
    }

    /// Asks the computation to stop at its next [`check`](Self::check).
    pub fn cancel(&self) {
        self.cancelled.store(!std::ptr::eq(self, &UNCONTROLLED), Relaxed);
    }

    /// Returns [`Error::Cancelled`] once the computation was cancelled. The computation calls this at least
    /// every few milliseconds.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    /// Returns [`Error::OutOfMemory`] unless the budget has room for `count` values of type `T`. Must be
    /// called before any allocation whose size comes from an argument or grows faster than the data: memory
    /// is watched from outside only every few milliseconds, and a failed allocation ends the process.
    pub fn require<T>(&self, count: usize) -> Result<()> {
        let bytes = count.saturating_mul(size_of::<T>());
        match self.memory {
            Some(MemoryBudget { limit, in_use }) if bytes > limit.saturating_sub(in_use()) => {
                Err(Error::OutOfMemory { limit })
            }
            _ => Ok(()),
        }
    }

    /// Starts a stage of the computation: sets its number of steps, in the unit that
    /// [`advance`](Self::advance) counts. Progress starts again at 0.
    pub fn set_total(&self, steps: u64) {
        self.done.store(0, Relaxed);
        self.total.store(steps, Relaxed);
    }

    /// Adds to the number of steps done.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Relaxed);
    }

    /// Returns the share of the steps that is done, between 0 and 1; `None` while the total is not known.
    pub fn progress(&self) -> Option<f64> {
        let total = self.total.load(Relaxed);
        (total > 0).then(|| (self.done.load(Relaxed) as f64 / total as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_share() {
        let control = Control::new();
        assert_eq!(control.progress(), None);
        control.set_total(8);
        control.advance(2);
        assert_eq!(control.progress(), Some(0.25));
        control.advance(100);
        assert_eq!(control.progress(), Some(1.0));
        control.set_total(4);
        control.advance(1);
        assert_eq!(control.progress(), Some(0.25));
    }

    #[test]
    fn cancel_reaches_the_next_check() {
        let control = Control::new();
        assert_eq!(control.check(), Ok(()));
        control.cancel();
        assert_eq!(control.check(), Err(Error::Cancelled));
    }

    #[test]
    fn cancelling_the_shared_control_has_no_effect() {
        Control::none().cancel();
        assert_eq!(Control::none().check(), Ok(()));
    }

    #[test]
    fn memory_is_what_is_left_of_the_limit() {
        let control = Control::with_memory(MemoryBudget {
            limit: 100,
            in_use: || 20,
        });
        assert_eq!(control.require::<u64>(10), Ok(()));
        let refused = Err(Error::OutOfMemory { limit: 100 });
        assert_eq!(control.require::<u64>(11), refused);
        assert_eq!(control.require::<u64>(usize::MAX), refused);
        assert_eq!(Control::new().require::<u64>(usize::MAX), Ok(()));
        let overdrawn = Control::with_memory(MemoryBudget {
            limit: 10,
            in_use: || 20,
        });
        assert_eq!(overdrawn.require::<u8>(1), Err(Error::OutOfMemory { limit: 10 }));
    }
}
