use std::sync::{Mutex, PoisonError};

/// Pool of buffers that are too large to be allocated for every part of a search. It grows to as many buffers
/// as were ever in use at the same time.
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Runs a job with a buffer that no other thread is using, or with a new one if there is none.
    pub fn lend(&self, new: impl FnOnce() -> T, job: impl FnOnce(&mut T)) {
        let unused = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = unused().pop();
        let mut buffer = buffer.unwrap_or_else(new);
        job(&mut buffer);
        unused().push(buffer);
    }
}
