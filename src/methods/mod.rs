//! One folder per method, under the same name as in `crates/disclosure/src` and `sql/`: its SQL functions, and the
//! readers that only it needs.

mod attack;
mod classes;
mod columns;
mod cracks;
pub mod inference;
mod permutation;
mod semantic;
