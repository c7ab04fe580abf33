//! Anonymisation as permutation (Domingo-Ferrer and Muralidhar 2015): any anonymised column is the original
//! one, permuted, plus noise that changes no rank.
//!
//! A column comes in as *places*: the place of every record's value in the order of the column's different
//! values, from 1; [`NULL`](crate::NULL) stands for an absent value and comes after all others. Records are
//! compared by ranks, in steps of a half rank, so that the mean rank of equal values is whole.

mod calibrate;
mod canonical;
mod chance;
mod correlation;
mod linkage;
mod mapping;
mod marginality;
mod microaggregation;
mod moments;
mod nearest;
mod noise;
mod ordinal;
mod points;
mod privacy;
mod rank;
mod report;
mod samples;
mod spread;
mod swap;

pub use calibrate::{Candidate, calibrate};
pub use canonical::canonical_order;
pub use chance::{Chance, Plausibility, Verdict, plausibility, plausibility_of};
pub use correlation::rank_correlation;
pub use linkage::{Linkage, Match, link};
pub use mapping::{order_of_places, rank_shifts, reverse_map};
pub use marginality::{Marginality, marginality};
pub use microaggregation::microaggregate;
pub use nearest::{Found, Marks, Tree};
pub use noise::add_noise;
pub use ordinal::Ordinal;
pub use points::{Points, distance};
pub use privacy::{Closest, Permuted, Release};
pub use rank::{FEW, Ties, order, places, ranks};
pub use report::{Average, Extent, Shift, Side, shift};
pub use samples::{PValue, Quantiles, Sample, Shorter};
pub use swap::{rank_swap, swap_records};

/// Steps of a half: twice a rank, or twice the distance of two ranks.
pub type HalfRanks = u32;
