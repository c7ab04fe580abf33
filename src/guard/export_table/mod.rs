//! Export tables: the triggers that judge what a statement has changed.

pub mod install;
pub mod statement;
pub mod triggers;
