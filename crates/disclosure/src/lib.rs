//! Measures of disclosure risk: how much does a table reveal about the people or things in it? This crate has
//! the algorithms, without Postgres.
//!
//! Data comes in as *codes*: every column is dictionary-encoded, equal values share a `u32` code, and
//! [`NULL`] stands for an absent value. An [`Encoder`] assigns the codes. Nothing here reads files, knows SQL
//! or needs `unsafe`. The extension `pg_disclosure` turns tables into codes and answers into rows.
//!
//! ```
//! use disclosure::{classes::Classes, Encoder, Rows};
//!
//! // Four patients and two quasi-identifiers: two patients share their combination with nobody else.
//! let age_groups = Encoder::new().encode_all(["30-39", "30-39", "30-39", "40-49"].map(Some))?;
//! let zips = Encoder::new().encode_all([90210, 90210, 10001, 10001].map(Some))?;
//! let mut classes = Classes::new(2);
//! classes.extend(Rows::new(&[&age_groups, &zips], 4), |_| {})?;
//! assert_eq!(classes.k_anonymity(), Some(1));
//! assert_eq!(classes.sizes(), [2, 1, 1]);
//! # Ok::<(), disclosure::Error>(())
//! ```
//!
//! Long computations take a [`Control`], which limits their memory and lets another thread cancel them and
//! watch their progress. Callers that need none of this pass [`Control::none`].

#![forbid(unsafe_code)]

pub mod assess;
pub mod attack;
#[doc(hidden)]
pub mod byte_format;
pub mod classes;
mod column_profile;
pub mod columns;
mod control;
pub mod cracks;
mod encode;
mod error;
pub mod figures;
pub mod inference;
mod json;
mod label;
pub mod matching;
mod mcmc;
mod parallel;
mod parallel_sort;
pub mod permutation;
pub mod population;
mod rows;
pub mod semantic;
mod sharded;
pub mod spelling;
mod strongly_connected;

pub use column_profile::{ColumnCounts, ColumnProfile};
pub use control::{Control, MemoryBudget};
pub use encode::Encoder;
pub use error::{Error, Result};
pub use label::{DangerByValue, Label, Weights};
/// Re-exported because matrices are passed in as views of this crate's types.
pub use ndarray;
#[doc(hidden)]
pub use parallel_sort::parallel_sort;
pub use rows::Rows;
#[doc(hidden)]
pub use sharded::ShardedTable;

/// Code of an absent value. The codes of values start at 1.
pub const NULL: u32 = 0;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
