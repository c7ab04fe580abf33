//! Reference implementations of the measures in the crate `disclosure`: slow, but close to the definitions
//! and short enough to compare with the papers.
//!
//! Tests, benches and fuzz targets compare the algorithms with these. Nothing here is fast, limited in memory
//! or cancellable. Nothing calls an algorithm of `disclosure`: only its plain types are used.

#![forbid(unsafe_code)]

pub mod attack;
pub mod classes;
pub mod columns;
pub mod cracks;
pub mod guard;
pub mod inference;
pub mod matching;
pub mod permutation;
pub mod population;
pub mod semantic;
