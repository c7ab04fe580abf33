use super::HalfRanks;
use super::rank::{Ties, ranks};
use crate::{Control, Result};

/// Returns Spearman's rank correlation of two columns of the same records; `None` if a column has fewer than
/// two different values. Equal values share their mean rank. All sums are exact.
///
/// This is the paper's measure of disclosure risk (section 2), which compares the original column with the
/// reverse-mapped one: the reverse-mapped column has the ranks of the released column.
pub fn rank_correlation(first: &[u32], second: &[u32], control: &Control) -> Result<Option<f64>> {
    debug_assert_eq!(first.len(), second.len());
    let (first, second) = (
        ranks(first, Ties::Shared, control)?,
        ranks(second, Ties::Shared, control)?,
    );
    Ok(of_ranks(first.iter().copied().zip(second.iter().copied())))
}

/// Returns Pearson's correlation of ranks, whose mean is known.
fn of_ranks(pairs: impl ExactSizeIterator<Item = (HalfRanks, HalfRanks)>) -> Option<f64> {
    let twice_the_mean = pairs.len() as i64 + 1;
    let mut sums = [0i128; 3];
    for (first, second) in pairs {
        let (first, second) = (
            i64::from(first) - twice_the_mean,
            i64::from(second) - twice_the_mean,
        );
        let products = [first * second, first * first, second * second];
        for (sum, product) in sums.iter_mut().zip(products) {
            *sum += i128::from(product);
        }
    }
    let [together, first, second] = sums.map(|sum| sum as f64);
    // The square root of a square is exact, so that two equal columns have a correlation of exactly 1.
    (first > 0.0 && second > 0.0).then(|| together / (first * second).sqrt())
}
