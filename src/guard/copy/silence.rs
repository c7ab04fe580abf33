//! Silence: while a guarded query is planned and run, the client hears the verdict and nothing else.
//!
//! No message of the query reaches the client, its errors are replaced, and it leaves no trace in the counters
//! of `pg_stat_user_tables`. The client is taken away as a destination of messages (`whereToSendOutput`),
//! because `client_min_messages` does not stop INFO, and `emit_log_hook` does not see what the server's log does
//! not get.

use pgrx::pg_sys::panic::CaughtError;
use pgrx::pg_sys::{self, CommandDest};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::panic::AssertUnwindSafe;

/// Error of a guarded query, which the client must not see.
pub struct Withheld {
    pub sqlstate: PgSqlErrorCode,
    pub message: String,
}

impl Withheld {
    /// Returns the error's code and text, for the owner of the relation.
    pub fn reason(&self) -> String {
        // SAFETY: returns a NUL-terminated static buffer, which is copied at once.
        let code = unsafe { CStr::from_ptr(pg_sys::unpack_sql_state(self.sqlstate as i32)) };
        format!("error {}: {}", code.to_string_lossy(), self.message)
    }

    /// Returns whether memory or disk space ran out. A query can be written that needs much of it for some values
    /// only, so such an error tells as much as a refusal, and is counted like one.
    pub fn is_about_resources(&self) -> bool {
        [
            PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            PgSqlErrorCode::ERRCODE_DISK_FULL,
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        ]
        .contains(&self.sqlstate)
    }

    /// Returns the text with which the client gets the error, if it comes from the circumstances and not from
    /// values: the client may try again, or has itself cancelled the query. Postgres' own text may tell a size.
    pub fn circumstance(&self) -> Option<&'static str> {
        CIRCUMSTANCES
            .iter()
            .find(|(code, _)| *code == self.sqlstate)
            .map(|(_, text)| *text)
    }
}

const CIRCUMSTANCES: [(PgSqlErrorCode, &str); 7] = [
    (
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED,
        "the export was cancelled or timed out",
    ),
    (
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        "the export could not be serialized with other transactions",
    ),
    (
        PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED,
        "the export was ended by a deadlock",
    ),
    (
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
        "the export could not obtain a lock in time",
    ),
    (
        PgSqlErrorCode::ERRCODE_DISK_FULL,
        "the export needs more disk space than there is",
    ),
    (
        PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
        "the export needs more memory than it may use",
    ),
    (
        PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        "the export exceeds a configured limit",
    ),
];

/// Takes the client away as a destination of messages until it is dropped.
struct Silent(CommandDest::Type);

impl Silent {
    fn new() -> Self {
        // SAFETY: a variable of this backend, read and set on its main thread.
        unsafe {
            let before = Silent(pg_sys::whereToSendOutput);
            pg_sys::whereToSendOutput = CommandDest::DestNone;
            before
        }
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { pg_sys::whereToSendOutput = self.0 };
    }
}

/// Keeps reads and calls from being counted in the statistics of tables, indexes and functions until it is
/// dropped. The counters of a refused query would tell how many rows it found.
struct Uncounted {
    counts: bool,
    functions: c_int,
}

impl Uncounted {
    fn new() -> Self {
        // SAFETY: a variable of this backend, read and set on its main thread.
        unsafe {
            let before = Uncounted {
                counts: pg_sys::pgstat_track_counts,
                functions: pg_sys::pgstat_track_functions,
            };
            pg_sys::pgstat_track_counts = false;
            pg_sys::pgstat_track_functions = pg_sys::TrackFunctionsLevel::TRACK_FUNC_OFF as c_int;
            before
        }
    }
}

impl Drop for Uncounted {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe {
            pg_sys::pgstat_track_counts = self.counts;
            pg_sys::pgstat_track_functions = self.functions;
        }
    }
}

thread_local! {
    /// State before [`hold`].
    static HELD: Cell<Option<Silent>> = const { Cell::new(None) };
    /// Resource owner of a query that was refused, and `client_min_messages` before.
    static UNRELEASED: Cell<Option<(pg_sys::ResourceOwner, c_int)>> = const { Cell::new(None) };
}

/// Registers the callback of [`hold_until_released`]. Called once, from `_PG_init`.
pub fn install() {
    // SAFETY: the callback has the expected signature, and the library is never unloaded.
    unsafe { pg_sys::RegisterResourceReleaseCallback(Some(released), std::ptr::null_mut()) };
}

/// Sends the client nothing but errors until the resources of the current query are released. The size of its
/// temporary files, which `log_temp_files` reports when the transaction is rolled back, tells how many rows it
/// found.
pub fn hold_until_released() {
    // SAFETY: variables of this backend, read and set on its main thread.
    unsafe {
        if UNRELEASED.get().is_none() {
            UNRELEASED.set(Some((pg_sys::CurrentResourceOwner, pg_sys::client_min_messages)));
        }
        pg_sys::client_min_messages = PgLogLevel::ERROR as c_int;
    }
}

/// Called when a resource owner, which is the current one meanwhile, has released its resources. Every statement
/// of every user calls this.
unsafe extern "C-unwind" fn released(
    phase: pg_sys::ResourceReleasePhase::Type,
    _is_commit: bool,
    _is_top_level: bool,
    _argument: *mut c_void,
) {
    if phase != pg_sys::ResourceReleasePhase::RESOURCE_RELEASE_AFTER_LOCKS {
        return; // files are released in the last phase
    }
    // SAFETY: variables of this backend, read and set on its main thread.
    unsafe {
        if let Some((owner, before)) = UNRELEASED.get()
            && owner == pg_sys::CurrentResourceOwner
        {
            pg_sys::client_min_messages = before;
            UNRELEASED.set(None);
        }
    }
}

/// Stays silent until [`release`]. Between planning and starting, Postgres itself may print the plan with its
/// estimates (`debug_print_plan`, which anyone may set), and at the end auto_explain may print row counts.
///
/// Not while COPY decides where to write to: it takes a missing client for a stand-alone backend.
pub fn hold() {
    let held = HELD.take().unwrap_or_else(Silent::new);
    HELD.set(Some(held));
}

pub fn release() {
    drop(HELD.take());
}

/// Runs `job` in silence and returns its result. Its errors reach the caller as they are.
pub fn quietly<R>(job: impl FnOnce() -> R) -> R {
    let _silent = Silent::new();
    let _uncounted = Uncounted::new();
    job()
}

/// Runs `job` in silence, and returns its result or the error that it raised. It runs in a subtransaction, so
/// that after an error the outcome can be logged.
pub fn withholding<R>(job: impl FnOnce() -> R) -> Result<R, Withheld> {
    // SAFETY: the subtransaction is ended below in every case. Resources belong to the surrounding transaction,
    // because the execution goes on after the subtransaction.
    let (context, owner) = unsafe {
        let before = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
        pg_sys::CurrentResourceOwner = before.1;
        before
    };
    let end = |is_kept: bool| {
        // SAFETY: ends the subtransaction that was begun above, and restores what was current then.
        unsafe {
            match is_kept {
                true => pg_sys::ReleaseCurrentSubTransaction(),
                false => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
            }
            pg_sys::MemoryContextSwitchTo(context);
            pg_sys::CurrentResourceOwner = owner;
        }
    };
    let result = PgTryBuilder::new(AssertUnwindSafe(|| Ok(quietly(job))))
        .catch_others(|cause| {
            let (CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic { ereport: report, .. }) = &cause;
            Err(Withheld {
                sqlstate: report.sql_error_code(),
                message: report.message().to_string(),
            })
        })
        .execute();
    end(result.is_ok());
    result
}
