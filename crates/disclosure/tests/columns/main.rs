//! Tests of sets of columns: see `disclosure::columns`.

mod suda;
mod tables;
