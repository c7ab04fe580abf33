//! pg_disclosure: how much a table gives away about the people or things in it, in SQL.
//!
//! This crate is glue and nothing else. Data flows one way: Postgres → [`input`] (through [`encode`]) → plain Rust values →
//! the crate `disclosure`, which knows no Postgres → plain Rust values → [`methods`] → rows.

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must become a Postgres ERROR, which needs panic = \"unwind\"");

mod args;
mod encode;
mod error;
mod guard;
mod guc;
mod input;
mod label;
mod memory;
mod methods;
mod pg;
#[cfg(feature = "probe")]
mod probe;
mod run;

// #[pg_guard] on an extern block expands to paths that begin with crate::ffi.
pub(crate) use pgrx::pg_sys::ffi;

use pgrx::prelude::*;

pgrx::pg_module_magic!(name, version);

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

#[pg_guard]
extern "C-unwind" fn _PG_init() {
    error::hide_backtraces();
    guc::register();
    label::register_provider();
    guard::copy::hooks::install();
}
