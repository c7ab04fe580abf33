//! pg_disclosure: measures in SQL how much a table reveals about the people or things that it describes.
//!
//! This crate is glue only. Data flows one way: Postgres → [`input`] (through [`encode`]) → plain Rust values
//! → the crate `disclosure`, which does not depend on Postgres → plain Rust values → [`methods`] → rows.

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
mod verdict;

// #[pg_guard] on an extern block expands to paths that begin with crate::ffi.
pub(crate) use pgrx::pg_sys::ffi;

use pgrx::prelude::*;

pgrx::pg_module_magic!(name, version);

// SQL of the extension for cargo-pgrx: the files in sql/, each of which requires the one before it.
// tools/build reads the folder itself.
extension_sql_file!("../sql/00_schema.sql", bootstrap);
extension_sql_file!("../sql/05_own_rows.sql", requires = ["00_schema"]);
extension_sql_file!("../sql/10_labels.sql", requires = ["05_own_rows"]);
extension_sql_file!("../sql/20_columns.sql", requires = ["10_labels"]);
extension_sql_file!("../sql/30_classes.sql", requires = ["20_columns"]);
extension_sql_file!("../sql/35_population.sql", requires = ["30_classes"]);
extension_sql_file!("../sql/40_inference.sql", requires = ["35_population"]);
extension_sql_file!("../sql/50_cracks.sql", requires = ["40_inference"]);
extension_sql_file!("../sql/55_language.sql", requires = ["50_cracks"]);
extension_sql_file!("../sql/60_guard.sql", requires = ["55_language"]);
extension_sql_file!("../sql/65_risk_view.sql", requires = ["60_guard"]);
extension_sql_file!("../sql/66_suggestions.sql", requires = ["65_risk_view"]);
extension_sql_file!("../sql/67_assess.sql", requires = ["66_suggestions"]);
extension_sql_file!("../sql/70_permutation.sql", requires = ["67_assess"]);
extension_sql_file!("../sql/80_attack.sql", requires = ["70_permutation"]);
extension_sql_file!("../sql/90_semantic.sql", requires = ["80_attack"]);

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// check_encoding(): called by the installation script
#[pg_extern(sql = false)]
fn check_encoding() {
    // SAFETY: both read the state of this backend; the name is a static string.
    let encoding = unsafe {
        if pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32 {
            return;
        }
        std::ffi::CStr::from_ptr(pg_sys::GetDatabaseEncodingName())
    };
    let encoding = encoding.to_string_lossy().into_owned();
    error::Error::NotUtf8 { encoding }.raise()
}

#[pg_guard]
extern "C-unwind" fn _PG_init() {
    error::hide_backtraces();
    guc::register();
    label::register_provider();
    guard::copy::hooks::install();
}
