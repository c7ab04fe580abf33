//! One file per family of SQL functions: each reads input, calls the crate `disclosure`, writes rows.
//! The SQL declarations are in `sql/`, under the same names.

mod classes;
mod columns;
mod counted;
mod cracks;
mod inference;
mod labels;

/// The elements of a name[] argument.
fn names(array: pgrx::Array<'_, &std::ffi::CStr>) -> Vec<Option<String>> {
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    array.iter().map(|name| name.map(text)).collect()
}
