use std::sync::{Mutex, PoisonError};

/// Buffers that are too large to be made anew for every part of a search: as many as were ever needed at a time.
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Does a job with a buffer that nobody else is using, or with a new one.
    pub fn lend(&self, new: impl FnOnce() -> T, job: impl FnOnce(&mut T)) {
        let unused = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = unused().pop();
        let mut buffer = buffer.unwrap_or_else(new);
        job(&mut buffer);
        unused().push(buffer);
    }
}
