//! The export guard: policies limit the risk of data that leaves a relation, and the guard refuses exports
//! that exceed a limit.
//!
//! [`policy`] looks up the policies of a relation. [`rule`] defines their measures and limits;
//! [`measure_function`] calls measures that users wrote. [`shape`] accepts the exports that can be judged
//! completely and finds out what leaves, [`copy::spool`] collects the rows that would leave, [`judge`] measures
//! them with the extension's own SQL functions, and [`log`] records the outcome. [`refusals`] counts
//! refusals and locks roles out. [`duties`] decides who may change policies and labels.
//!
//! Rows reach the guard in two ways. [`copy::hooks`] handles COPY … TO and CREATE TABLE AS, if the library is
//! preloaded. [`export_table::triggers`] handles statements that change an export table:
//! [`export_table::install`] creates the triggers, and [`export_table::statement`] measures the changed rows.

pub mod copy;
pub mod duties;
pub mod enforcement;
pub mod export_table;
mod functions;
pub mod judge;
pub mod labels;
pub mod language;
mod ledger;
pub mod log;
pub mod measure_function;
pub mod origin;
mod own_tables;
pub mod policy;
mod protect;
pub mod refusals;
pub mod rights;
pub mod rule;
mod sandbox;
pub mod shape;
pub mod tree;
mod watch;
