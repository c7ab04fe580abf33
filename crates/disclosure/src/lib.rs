//! How much does a table give away about the people or things in it? The algorithms, without Postgres.
//!
//! Data comes in as *codes*: every column is dictionary-encoded, equal values share a `u32` code, and
//! [`NULL`] stands for an absent value. Nothing here reads files, knows SQL or needs `unsafe`; the
//! extension `pg_disclosure` is the glue that turns tables into codes and answers into rows.
//!
//! ```
//! use disclosure::{classes::Classes, Rows};
//!
//! // Four patients, two quasi-identifiers: who shares the combination with nobody?
//! let (age_group, zip) = (&[1, 1, 1, 2], &[1, 1, 2, 2]);
//! let mut classes = Classes::new(2);
//! classes.extend(Rows::new(&[age_group, zip], 4), |_| {})?;
//! assert_eq!(classes.k_anonymity(), Some(1));
//! assert_eq!(classes.sizes(), [2, 1, 1]);
//! # Ok::<(), disclosure::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod attack;
pub mod classes;
mod columns;
mod control;
pub mod cracks;
mod error;
pub mod inference;
mod json;
mod label;
pub mod matching;
mod mcmc;
pub mod permutation;
mod rows;
pub mod semantic;
mod sharded;
mod sort;
mod threads;
pub mod wire;

pub use columns::{ColumnCounts, ColumnProfile};
pub use control::{Control, Memory};
pub use error::{Error, Result};
pub use label::{Label, Weights};
/// Matrices come in as views of this crate.
pub use ndarray;
pub use rows::Rows;
pub use sharded::ShardedTable;

/// The code of an absent value. Codes of values start at 1.
pub const NULL: u32 = 0;
