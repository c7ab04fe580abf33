//! The export guard: policies say what may leave a relation, and what breaks them is refused.
//!
//! A policy is looked up ([`policy`]) and says what it demands ([`rule`]), perhaps by a function of somebody's own
//! ([`measure_function`]). What would leave is traced to the columns it is made of
//! ([`lineage`]), collected ([`spool`]), measured by SQL of our own ([`judge`]), and what became of it is
//! logged ([`log`]). Two roads lead here: [`hooks`], for COPY … TO and CREATE TABLE AS, which works only
//! where the library is preloaded; and [`rows`], the triggers of export tables, which [`arming`] makes and which
//! look at what a statement has changed ([`batch`]).

pub mod arming;
mod batch;
pub mod hooks;
pub mod judge;
pub mod lineage;
pub mod log;
pub mod measure_function;
pub mod policy;
pub mod rights;
pub mod rows;
pub mod rule;
mod sandbox;
pub mod spool;
