//! Suggests labels for the columns of a table.

mod facts;

pub use facts::{ColumnFacts, ColumnStatistics, TableFacts, TypeKind};
