//! The three ways in: a window partition, a table, an aggregate.

pub mod aggregate;
pub mod relation;
pub mod window;
