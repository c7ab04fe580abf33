//! Which columns, and which of their values, single people out.
//!
//! All of it works on the classes of a table and not on its rows, and counts people if they are known. Sets of columns
//! are visited by size. A set divides the groups of a smaller one (stripped partitions, as in TANE; Huhtala et al.
//! 1999), and what is already unique is not looked at again.

mod column_sets;
mod groups;
mod lattice;
mod minimal_uniques;
mod suda;
mod table;
mod uniques;

pub use minimal_uniques::{MinimalUniques, Share, UniqueSet, minimal_uniques};
pub use suda::{Suda, UniqueSettings, dis_suda, suda};
pub use uniques::Combination;
