//! Safe wrappers around Postgres, independent of any method.

pub mod array;
pub mod array_in;
pub mod array_out;
pub mod call;
pub mod catalog;
pub mod expression;
pub mod json;
pub mod literal;
pub mod memory_context;
pub mod origin;
pub mod query;
pub mod raised;
pub mod range;
pub mod receiver;
mod references;
pub mod regex;
pub mod row;
pub mod table;
pub mod types;
