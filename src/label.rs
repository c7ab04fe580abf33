//! SECURITY LABEL FOR disclosure ON COLUMN … IS 'quasi | sensitive | identifier | ignore | likelihood=…
//! danger=…': the provider that checks what is written. Reading labels needs no provider.

use crate::error::Problem;
use disclosure::Label;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::ffi::{CStr, c_char};

pub fn register_provider() {
    // SAFETY: called from _PG_init with a static name and a function that lives as long as the library.
    unsafe { pg_sys::register_label_provider(c"disclosure".as_ptr(), Some(check)) };
}

#[pg_guard]
unsafe extern "C-unwind" fn check(object: *const pg_sys::ObjectAddress, label: *const c_char) {
    // SECURITY LABEL … IS NULL takes a label away.
    if label.is_null() {
        return;
    }
    let is_column = (*object).classId == pg_sys::RelationRelationId && (*object).objectSubId != 0;
    let label = CStr::from_ptr(label).to_string_lossy();
    check_label(is_column, &label).unwrap_or_else(Problem::raise);
    if !is_preloaded() {
        ErrorReport::new(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            "pg_disclosure is not preloaded: other sessions cannot set security labels yet",
            "",
        )
        .set_hint("ALTER DATABASE … SET session_preload_libraries = 'pg_disclosure', or use disclosure.label_column().")
        .report(PgLogLevel::NOTICE);
    }
}

fn check_label(is_column: bool, label: &str) -> Result<(), Problem> {
    if !is_column {
        return Err(Problem::LabelNotOnColumn);
    }
    label.parse::<Label>()?;
    Ok(())
}

/// Whether every new session gets the library before its first statement.
fn is_preloaded() -> bool {
    [
        c"shared_preload_libraries",
        c"session_preload_libraries",
        c"local_preload_libraries",
    ]
    .iter()
    .any(|setting| {
        // SAFETY: a setting that exists in every Postgres; the string lives until the next change of it.
        let libraries = unsafe {
            let libraries = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
            (!libraries.is_null()).then(|| CStr::from_ptr(libraries))
        };
        libraries.is_some_and(|libraries| libraries.to_string_lossy().contains("pg_disclosure"))
    })
}
