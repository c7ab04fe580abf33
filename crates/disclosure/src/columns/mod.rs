//! Which columns, and which of their values, single people out.
//!
//! All of it works on the classes of a table and not on its rows, and counts people if they are known. Sets of columns
//! are visited by size. A column splits the groups of a smaller set (stripped partitions, as in TANE; Huhtala et al.
//! 1999), and what is already unique is not looked at again.

mod column_risk;
mod column_sets;
pub mod formats;
mod groups;
mod lattice;
mod minimal_uniques;
mod singling_out;
mod suda;
pub mod suggestions;
mod table;
mod unique_combinations;
mod uniques;

pub use column_risk::{ColumnRisk, KnownRisk, column_risk};
pub use column_sets::check_max_columns;
pub use minimal_uniques::{MinimalUniques, Share, UniqueSet, minimal_uniques};
pub use singling_out::{SetFigures, SinglingOut, SinglingOutSettings, singling_out};
pub use suda::{Suda, UniqueSettings, check_fraction, dis_suda, suda};
pub use unique_combinations::unique_combinations;
pub use uniques::Combination;
