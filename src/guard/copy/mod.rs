//! Exports by COPY … TO and CREATE TABLE AS.

pub mod hooks;
pub mod spool;
