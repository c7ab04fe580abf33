//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015): any released column is a permutation of the
//! original column plus noise that changes no rank.
//!
//! Section 2 of the paper defines reverse mapping ([`reverse_map`]), section 4 permuted privacy
//! ([`ReleasedTable`]), and section 5 an adversary's record linkage ([`link`]) and its comparison with chance
//! ([`plausibility`]).
//!
//! Two words describe a sorted column, *order* and *rank*, and ranks come in two kinds, as in SQL:
//! - The *order* of a column is the list of its record numbers, sorted by value, absent values last.
//! - The *rank* of a record is the position of its value in the order, from 1. Equal values get different
//!   ranks or share their mean rank: see [`Ties`]. Ranks are stored as [`HalfRanks`], so that a mean rank is
//!   a whole number.
//! - The *dense rank* of a value (`dense_rank()` in SQL) is its number among the distinct values, from 1, so
//!   that equal values share it. [`NULL`](crate::NULL) stands for an absent value. Two columns may be ranked
//!   together, among the distinct values of both; then some dense ranks do not occur in one of them.
//!
//! Dense ranks are the form in which most columns come in. A column that is still to be sorted comes in as a
//! [`ColumnToSort`]. If differences between values matter, a column comes in as a [`RankedColumn`], which
//! adds its *scale*: the number that the value of each dense rank counts as. Records are compared by ranks.
//!
//! ```
//! use disclosure::Control;
//! use disclosure::permutation::{ColumnToSort, paired_orders, rank_shifts, reverse_map, sort_key};
//!
//! // Reverse mapping gives every record the original value that has the rank of its released value.
//! let (original, released) = ([10, 20, 30, 40], [25, 11, 44, 29]);
//! let column = |bits| ColumnToSort::Numbers {
//!     bits,
//!     key: |bits| sort_key::of_integer(bits as i64),
//!     absent: &[],
//! };
//! let [before, after] = paired_orders([column(&original), column(&released)], 1, &Control::new())?;
//! let mapped = reverse_map(&before, &after).into_iter().map(|source| original[source as usize]);
//! assert_eq!(mapped.collect::<Vec<u64>>(), [20, 10, 40, 30]);
//! assert_eq!(rank_shifts(&before, &after), [1, 1, 1, 1]);
//! # Ok::<(), disclosure::Error>(())
//! ```

mod byte_order;
mod calibrate;
mod canonical;
mod chance;
mod column_to_sort;
mod correlation;
mod distribution;
mod holdout;
mod kd_tree;
mod linkage;
mod mapping;
mod marginality;
mod microaggregation;
mod moments;
mod noise;
mod points;
mod privacy;
mod rank;
mod ranked_column;
mod ranked_tables;
mod shift;
pub mod sort_key;
mod spread;
mod subject;
mod swap;
mod verdict;

pub use byte_order::byte_order;
pub use calibrate::{CalibrationSettings, Candidate, calibrate};
pub use canonical::canonical_order;
pub use chance::{ChanceSettings, Plausibility, plausibility, plausibility_of_linkage, unnoticed_share};
pub use correlation::rank_correlation;
pub use holdout::holdout_points;
pub use linkage::{Linkage, Matches, link};
pub use mapping::{order_by_dense_ranks, rank_shifts, reverse_map};
pub use marginality::{Marginality, marginality};
pub use microaggregation::{MicroaggregationSettings, microaggregate};
pub use ranked_tables::{Assessment, CorrectLinks, RankedTables};
// Public for tests and benchmarks only.
pub use column_to_sort::{ColumnToSort, paired_orders};
pub use distribution::{Distribution, MEDIAN, PValueMethod, Quantiles, ShorterTest};
#[doc(hidden)]
pub use kd_tree::{FoundRecords, KdTree, Marks};
pub use noise::{NoiseSettings, add_noise};
pub use points::{Points, distance};
pub use privacy::{ClosestValues, PermutedPrivacy, ReleasedTable};
#[doc(hidden)]
pub use rank::SMALL_COLUMN;
pub use rank::{Ties, dense_ranks, ranks};
pub use ranked_column::{RankedColumn, scale_of_released};
pub use shift::{AverageShift, ColumnShift, ColumnSide, Extent, column_shift};
pub use subject::{Demand, Verification};
pub use swap::{RankSwapSettings, rank_swap, swap_records};

/// Twice a rank, or twice the difference of two ranks.
pub type HalfRanks = u32;

/// Returns a rank or a difference of ranks in whole ranks.
pub fn in_ranks(half_ranks: HalfRanks) -> f64 {
    f64::from(half_ranks) / 2.0
}
