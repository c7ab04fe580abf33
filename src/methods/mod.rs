//! One folder per method, with the same name as in `crates/disclosure/src` and `sql/`. A folder holds the SQL
//! functions of its method and the readers that only this method needs.

pub mod assess;
mod attack;
pub mod classes;
mod columns;
mod cracks;
pub mod inference;
mod permutation;
mod population;
mod semantic;
