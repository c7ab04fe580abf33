//! Settings: those of the extension (`disclosure.*`), and [`Pinned`], which fixes settings of Postgres for a
//! while.

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;
use std::ffi::CStr;
use std::time::Duration;

/// `disclosure.threads`: number of worker threads of one computation; 0 means one per core.
///
/// One per core suits a DBA who waits for an answer on an idle machine. It is too many for a busy server, so
/// it can be lowered per session, role or database.
static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);

/// `disclosure.max_memory`: memory that the computations of one backend may hold, in MB.
///
/// The default leaves room for about 10 million distinct rows of six columns, and keeps an innocent call
/// from pushing a server into swap.
static MAX_MEMORY_MB: GucSetting<i32> = GucSetting::<i32>::new(1024);

/// `disclosure.budget`: time limit of a search, in ms; -1 means no limit.
///
/// A search through sets of attributes can take practically forever on an unlucky table. After a minute,
/// bounds are better than no answer.
static BUDGET_MS: GucSetting<i32> = GucSetting::<i32>::new(60_000);

/// `disclosure.progress_notices`: whether NOTICEs report the progress of long computations.
static PROGRESS: GucSetting<bool> = GucSetting::<bool>::new(false);

/// `disclosure.log_queries`: whether the export log contains the texts of queries.
///
/// Off by default, because constants in a query may be data of people, and the owner of a relation reads the
/// log. Only superusers can change it.
static LOG_QUERIES: GucSetting<bool> = GucSetting::<bool>::new(false);

/// `disclosure.exporting`: whether an export is running. Set by the guard, so that parallel workers, which get
/// the settings of their leader, know it.
static EXPORTING: GucSetting<bool> = GucSetting::<bool>::new(false);

/// Returns the number of worker threads, at least 1.
pub fn threads() -> usize {
    match THREADS.get() {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        threads => threads as usize,
    }
}

pub fn max_memory_bytes() -> usize {
    MAX_MEMORY_MB.get() as usize * 1024 * 1024
}

/// Returns the time limit of a search; `None` means no limit.
pub fn budget() -> Option<Duration> {
    u64::try_from(BUDGET_MS.get()).ok().map(Duration::from_millis)
}

pub fn progress_notices() -> bool {
    PROGRESS.get()
}

/// Returns whether this is a parallel worker of an export.
pub fn is_in_worker_of_export() -> bool {
    // SAFETY: only reads a variable of this backend, on its main thread.
    EXPORTING.get() && unsafe { pg_sys::ParallelWorkerNumber } >= 0
}

/// Tells parallel workers that an export is running, until it is dropped.
pub struct Exporting(bool);

impl Exporting {
    pub fn new() -> Self {
        let before = EXPORTING.get();
        if !before {
            set_exporting(c"on");
        }
        Exporting(before)
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        // While an error unwinds, the end of the (sub)transaction restores the setting.
        if !self.0 && !std::thread::panicking() {
            set_exporting(c"off");
        }
    }
}

fn set_exporting(value: &CStr) {
    // SAFETY: the setting exists, and the value is a boolean. Only superusers could set it otherwise.
    unsafe {
        pg_sys::set_config_option(
            c"disclosure.exporting".as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SET,
            true,
            0,
            false,
        );
    }
}

pub fn log_queries() -> bool {
    LOG_QUERIES.get()
}

pub fn register() {
    GucRegistry::define_int_guc(
        c"disclosure.threads",
        c"Worker threads of one computation.",
        c"0 means one per core.",
        &THREADS,
        0,
        256,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"disclosure.max_memory",
        c"Memory that the computations of one backend may hold.",
        c"A computation that would need more is stopped with an error.",
        &MAX_MEMORY_MB,
        1,
        i32::MAX / 1024,
        GucContext::Userset,
        GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"disclosure.budget",
        c"Time after which a search returns bounds instead of exact values.",
        c"-1 means no limit. Reading the data is not counted.",
        &BUDGET_MS,
        -1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_bool_guc(
        c"disclosure.progress_notices",
        c"Reports the progress of long computations as NOTICEs.",
        c"",
        &PROGRESS,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"disclosure.log_queries",
        c"Writes the texts of queries to the export log.",
        c"Otherwise the log contains only their hashes.",
        &LOG_QUERIES,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"disclosure.exporting",
        c"Shows whether an export is running.",
        c"Set by the guard; do not change it.",
        &EXPORTING,
        GucContext::Suset,
        GucFlags::NO_SHOW_ALL | GucFlags::DISALLOW_IN_FILE,
    );
    reserve_prefix();
}

/// Reserves the prefix `disclosure`, so that setting a misspelt `disclosure.*` is an error and does not
/// create a new variable. Postgres 14 only warns of such variables that exist when the library is loaded.
fn reserve_prefix() {
    // SAFETY: called on the main thread from _PG_init with a NUL-terminated static string.
    unsafe {
        #[cfg(feature = "pg14")]
        pg_sys::EmitWarningsOnPlaceholders(c"disclosure".as_ptr());
        #[cfg(not(feature = "pg14"))]
        pg_sys::MarkGUCPrefixReserved(c"disclosure".as_ptr());
    }
}

/// Name and value of a setting.
pub type Setting = (&'static CStr, &'static CStr);

/// Guard that fixes some settings while it lives. Dropping it, also while unwinding from an error, restores
/// all settings, including those that a user's function has changed in the meantime.
pub struct Pinned(i32);

impl Pinned {
    pub fn new(settings: &[Setting]) -> Self {
        // SAFETY: `drop` leaves the nesting level that is entered here.
        let pinned = unsafe { Pinned(pg_sys::NewGUCNestLevel()) };
        for (setting, value) in settings {
            pin(setting, value);
        }
        pinned
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: `new` entered this level. Leaving it also leaves all deeper ones.
        unsafe { pg_sys::AtEOXact_GUC(false, self.0) };
    }
}

/// Sets a setting at the current nesting level. A setting that this version of Postgres lacks is skipped.
fn pin(setting: &CStr, value: &CStr) {
    // SAFETY: the setting exists, the value is valid for it, and both strings are NUL-terminated.
    // GUC_ACTION_SAVE is allowed in parallel workers too.
    unsafe {
        let now = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
        if now.is_null() || CStr::from_ptr(now) == value {
            return;
        }
        pg_sys::set_config_option(
            setting.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}
