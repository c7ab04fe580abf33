use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Cancellation, progress and memory budget: the handle that a long computation shares with whoever waits
/// for it. Shared by reference between threads.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// `None`: without limit.
    memory: Option<Memory>,
}

/// How much memory a computation may use.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// The bytes that may be in use at a time.
    pub limit: usize,
    /// Returns the bytes that are in use now. May be called by any thread.
    pub in_use: fn() -> usize,
}

/// Shared by all who neither cancel nor watch.
static NONE: Control = Control {
    cancelled: AtomicBool::new(false),
    done: AtomicU64::new(0),
    total: AtomicU64::new(0),
    memory: None,
};

impl Control {
    /// Returns a control for a computation that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a control for callers who neither cancel nor watch. To cancel it does nothing.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// Returns a control for a computation that may use so much memory.
    pub fn with_memory(memory: Memory) -> Self {
        Control {
            memory: Some(memory),
            ..Self::default()
        }
    }

    /// Asks the computation to stop at its next [`check`](Self::check).
    pub fn cancel(&self) {
        self.cancelled.store(!std::ptr::eq(self, &NONE), Relaxed);
    }

    /// To be called by the computation at least every few milliseconds.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    /// Returns an error unless there is room for so many values of a type. To be called before any allocation
    /// whose size comes from an argument or grows faster than the data: memory is watched from outside only
    /// every few milliseconds, and a failed allocation ends the process.
    pub fn require<T>(&self, count: usize) -> Result<()> {
        let bytes = count.saturating_mul(size_of::<T>());
        match self.memory {
            Some(Memory { limit, in_use }) if bytes > limit.saturating_sub(in_use()) => {
                Err(Error::OutOfMemory { limit })
            }
            _ => Ok(()),
        }
    }

    /// Announces how many steps there will be, in whatever unit [`advance`](Self::advance) counts.
    pub fn set_total(&self, steps: u64) {
        self.total.store(steps, Relaxed);
    }

    /// Counts steps as done.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Relaxed);
    }

    /// Returns the share that is done, between 0 and 1; `None` while the total is not known.
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
    }

    #[test]
    fn cancel_reaches_the_next_check() {
        let control = Control::new();
        assert_eq!(control.check(), Ok(()));
        control.cancel();
        assert_eq!(control.check(), Err(Error::Cancelled));
    }

    #[test]
    fn nobody_cancels_what_all_share() {
        Control::none().cancel();
        assert_eq!(Control::none().check(), Ok(()));
    }

    #[test]
    fn memory_is_what_is_left_of_the_limit() {
        let control = Control::with_memory(Memory {
            limit: 100,
            in_use: || 20,
        });
        assert_eq!(control.require::<u64>(10), Ok(()));
        let refused = Err(Error::OutOfMemory { limit: 100 });
        assert_eq!(control.require::<u64>(11), refused);
        assert_eq!(control.require::<u64>(usize::MAX), refused);
        assert_eq!(Control::new().require::<u64>(usize::MAX), Ok(()));
        let overdrawn = Control::with_memory(Memory {
            limit: 10,
            in_use: || 20,
        });
        assert_eq!(overdrawn.require::<u8>(1), Err(Error::OutOfMemory { limit: 10 }));
    }
}
