//! Whether the guard is active in this database: `enforced`, `advisory` or `off`.

use crate::args::is_first_in_statement;
use crate::error::Error;
use crate::guard::{policy, rights};
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

/// Warns if new sessions do not load the library, because they can export without being guarded.
pub fn warn() -> Result<(), Error> {
    report(PgLogLevel::WARNING, PgSqlErrorCode::ERRCODE_WARNING, "yet")
}

/// Tells the caller of a function of policies or labels if there are policies but new sessions do not load the
/// library. A restore into a new database, for example, loses the setting of the old one.
pub fn remind() -> Result<(), Error> {
    match policy::all()?.is_empty() {
        true => Ok(()),
        false => report(
            PgLogLevel::NOTICE,
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            "though there are policies",
        ),
    }
}

fn report(level: PgLogLevel, sqlstate: PgSqlErrorCode, ending: &str) -> Result<(), Error> {
    if !is_off()? || !is_first_in_statement("enforcement".into()) {
        return Ok(());
    }
    let message = format!("pg_disclosure is not preloaded: COPY TO is not guarded {ending}");
    ErrorReport::new(sqlstate, message, "")
        .set_detail("Only shared_preload_libraries stops hostile users. session_preload_libraries protects honest users from mistakes.")
        .set_hint(
            "Add pg_disclosure to shared_preload_libraries and restart the server, or run ALTER DATABASE … SET \
             session_preload_libraries = 'pg_disclosure', which takes effect in new sessions.",
        )
        .report(level);
    Ok(())
}

/// Returns whether new sessions of this database do not load the library.
fn is_off() -> Result<bool, Error> {
    const QUERY: &str = "SELECT disclosure_internal.enforcement() = 'off'";
    rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, and the only column has type boolean.
            unsafe {
                Ok(Answer::to(QUERY, &Parameters::default(), true)?
                    .get(0, 0)
                    .unwrap_or(true))
            }
        })
    })
}
