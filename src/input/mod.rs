//! The three ways in which rows come in: as a window partition, as a table or view, or as calls of an
//! aggregate.

pub mod aggregate;
pub mod relation;
pub mod window;
