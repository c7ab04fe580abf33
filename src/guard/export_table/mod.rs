//! Export tables, whose triggers judge the changes of every statement.

pub mod install;
pub mod statement;
pub mod triggers;
