//! Tests of sets of columns: see `disclosure::columns`.

mod formats;
mod singling_out;
mod suda;
mod suggestions;
mod suggestions_languages;
mod tables;
mod unique_combinations;
