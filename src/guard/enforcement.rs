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
    if current()? != "off" || !is_first_in_statement("enforcement".into()) {
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

/// enforcement()
#[pg_extern(sql = false)]
fn enforcement() -> String {
    current().unwrap_or_else(Error::raise)
}

/// Returns whether all new sessions load the library (`enforced`), at least those of this database
/// (`advisory`), or not even those (`off`). The answer does not depend on who asks: most users may read neither
/// these settings nor the configuration files, and roles may have settings of their own.
fn current() -> Result<String, Error> {
    // As for a new session, the setting of the database comes before that of all databases.
    const QUERY: &str = r"
        SELECT CASE
                 WHEN current_setting('shared_preload_libraries') ~ '\mpg_disclosure\M' THEN 'enforced'
                 WHEN coalesce(
                        (SELECT c.setting
                           FROM pg_db_role_setting d, unnest(d.setconfig) AS c(setting)
                          WHERE d.setrole = 0 AND c.setting LIKE 'session\_preload\_libraries=%'
                            AND d.setdatabase IN (0, (SELECT b.oid FROM pg_database b WHERE b.datname = current_database()))
                          ORDER BY d.setdatabase DESC LIMIT 1),
                        (SELECT s.setting FROM pg_settings s
                          WHERE s.name = 'session_preload_libraries' AND s.source IN ('configuration file', 'command line')),
                        (SELECT f.setting FROM pg_file_settings f
                          WHERE f.name = 'session_preload_libraries' AND f.applied LIMIT 1)) ~ '\mpg_disclosure\M'
                 THEN 'advisory'
                 ELSE 'off'
               END";
    rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, and the only column has type text.
            let level = unsafe { Answer::to(QUERY, &Parameters::default(), true)?.get(0, 0) };
            level.ok_or(Error::Internal("the settings could not be read"))
        })
    })
}
