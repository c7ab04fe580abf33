use crate::Result;
use rayon::prelude::*;

/// Calls `job` for each item and returns the results in order. If `is_worth_it`, the items are shared out to
/// several threads. Otherwise rayon is not called at all, so that a caller with little to do needs no thread
/// pool.
pub(crate) fn map_if<T: Send, R: Send>(
    items: impl IntoParallelIterator<Item = T, Iter: IndexedParallelIterator> + IntoIterator<Item = T>,
    is_worth_it: bool,
    job: impl Fn(T) -> Result<R> + Send + Sync,
) -> Result<Vec<R>> {
    if is_worth_it {
        items.into_par_iter().map(job).collect()
    } else {
        items.into_iter().map(job).collect()
    }
}
