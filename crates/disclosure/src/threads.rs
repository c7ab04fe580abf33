use crate::Result;
use rayon::prelude::*;

/// Do something with each of some items; on several threads where that is worth it, and else without even asking rayon
/// how many there are: a caller with little to do need not have any.
pub(crate) fn map<T: Send, R: Send>(
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
