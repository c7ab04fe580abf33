//! The guard of COPY … TO and CREATE TABLE AS.

mod barrier;
pub mod dry_run;
pub mod export;
pub mod hooks;
mod reading;
pub mod silence;
pub mod spool;
pub mod tally;
