//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015): any released column is a permutation of the
//! original column plus noise that changes no rank.
//!
//! Section 2 of the paper defines reverse mapping ([`reverse_map`]), section 4 permuted privacy
//! ([`Release`]), and section 5 an adversary's record linkage ([`link`]) and its comparison with chance
//! ([`plausibility`]).
//!
//! Terms for a sorted column:
//! - The *place* of a value is its number among the distinct values of the column, from 1; equal values share
//!   a place. [`NULL`](crate::NULL) stands for an absent value, which comes after all others.
//! - The *rank* of a record is its number among all records. Ranks are stored as [`HalfRanks`], so that the
//!   mean rank of equal values is a whole number.
//! - The *order* of a column is the list of its records, sorted by their values.
//! - The *scale* of a column has, for each place, the number that the value at this place counts as.
//!
//! A column that is still to be sorted comes in as a [`Sortable`]. A sorted column comes in as its places or,
//! together with its scale, as an [`Ordinal`]. Records are compared by ranks.
//!
//! ```
//! use disclosure::Control;
//! use disclosure::permutation::{Sortable, orders, rank_shifts, reverse_map, sort_key};
//!
//! // Reverse mapping gives every record the original value that has the rank of its released value.
//! let (original, anonymised) = ([10, 20, 30, 40], [25, 11, 44, 29]);
//! let column = |bits| Sortable::Numbers {
//!     bits,
//!     key: |bits| sort_key::of_integer(bits as i64),
//!     absent: &[],
//! };
//! let [before, after] = orders([column(&original), column(&anonymised)], 1, &Control::new())?;
//! let mapped = reverse_map(&before, &after).into_iter().map(|source| original[source as usize]);
//! assert_eq!(mapped.collect::<Vec<u64>>(), [20, 10, 40, 30]);
//! assert_eq!(rank_shifts(&before, &after), [1, 1, 1, 1]);
//! # Ok::<(), disclosure::Error>(())
//! ```

mod calibrate;
mod canonical;
mod chance;
mod column_to_sort;
mod correlation;
mod distribution;
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

pub use calibrate::{Calibration, Candidate, calibrate};
pub use canonical::canonical_order;
pub use chance::{Chance, Finding, Plausibility, plausibility, plausibility_of};
pub use correlation::rank_correlation;
pub use linkage::{Linkage, Match, link};
pub use mapping::{order_of_places, rank_shifts, reverse_map};
pub use marginality::{Marginality, marginality};
pub use microaggregation::{Microaggregation, microaggregate};
pub use ranked_tables::{Hits, RankedTables};
// Public for tests and benchmarks only.
pub use column_to_sort::{Sortable, orders};
pub use distribution::{MEDIAN, PValue, Quantiles, Sample, Shorter};
#[doc(hidden)]
pub use kd_tree::{Found, Marks, Tree};
pub use noise::{Noise, add_noise};
pub use points::{Points, distance};
pub use privacy::{Closest, Permuted, Release};
#[doc(hidden)]
pub use rank::FEW;
pub use rank::{Ties, places, ranks};
pub use ranked_column::{Ordinal, scale_of_released};
pub use shift::{Average, Extent, Shift, Side, shift};
pub use subject::{Demand, Verified};
pub use swap::{RankSwap, rank_swap, swap_records};

/// Twice a rank, or twice the difference of two ranks.
pub type HalfRanks = u32;

/// Returns a rank or a difference of ranks in whole ranks.
pub fn in_ranks(half_ranks: HalfRanks) -> f64 {
    f64::from(half_ranks) / 2.0
}
