use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The string between a long computation and whoever waits for it: one side says how far it is, the
/// other may ask it to stop. Shared by reference between threads.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// A computation that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ask the computation to stop at its next [`check`](Self::check).
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// To be called by the computation at least every few milliseconds.
    pub fn check(&self) -> Result<()> {
        match self.cancelled.load(Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Announce how many steps there will be, in whatever unit [`advance`](Self::advance) counts.
    pub fn expect(&self, steps: u64) {
        self.total.store(steps, Relaxed);
    }

    /// Count steps as done.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Relaxed);
    }

    /// The share that is done, between 0 and 1; `None` while the total is not known.
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
        control.expect(8);
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
}
