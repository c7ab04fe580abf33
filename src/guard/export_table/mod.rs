//! Export tables, whose triggers judge the changes of every statement.

mod dropping;
pub mod install;
pub mod obstacle;
mod own_triggers;
pub mod statement;
pub mod triggers;
