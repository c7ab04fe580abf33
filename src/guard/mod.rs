//! The export guard: policies say what may leave a relation, and what breaks them is refused.
//!
//! A policy is looked up ([`policy`]) and says what it demands ([`rule`]), perhaps by a function of somebody's own
//! ([`measure_function`]). What would leave is traced to the columns it is made of
//! ([`lineage`]), collected ([`copy::spool`]), measured by SQL of our own ([`judge`]), and what became of it is
//! logged ([`log`]). Two roads lead here: [`copy::hooks`], for COPY … TO and CREATE TABLE AS, which works only
//! where the library is preloaded; and [`export_table::triggers`], the triggers of export tables, which [`export_table::install`] makes and which
//! look at what a statement has changed ([`export_table::statement`]).

pub mod copy;
pub mod export_table;
mod functions;
pub mod judge;
pub mod lineage;
pub mod log;
pub mod measure_function;
mod own_tables;
pub mod policy;
mod protect;
pub mod rights;
pub mod rule;
mod sandbox;
