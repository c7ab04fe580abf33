//! Every setting of the extension.

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;
use std::time::Duration;

/// `disclosure.threads`: worker threads of one computation; 0 means one per core.
///
/// One per core is right for a DBA who waits for an answer on an idle machine, and rude on a busy
/// server, which is why it can be lowered per session, role or database.
static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);

/// `disclosure.max_memory`: how much a backend's computations may hold, in MB.
///
/// The default leaves room for about 10 million distinct rows of six columns, and keeps an innocent call
/// from pushing a server into swap.
static MAX_MEMORY_MB: GucSetting<i32> = GucSetting::<i32>::new(1024);

/// `disclosure.budget`: how long a search may go on, in ms; -1 means until it is finished.
///
/// Searches through sets of attributes can take for ever on an unlucky table. After a minute, bounds are
/// better than nothing.
static BUDGET_MS: GucSetting<i32> = GucSetting::<i32>::new(60_000);

/// `disclosure.progress`: NOTICEs that say how far a long computation is.
static PROGRESS: GucSetting<bool> = GucSetting::<bool>::new(false);

pub fn threads() -> usize {
    match THREADS.get() {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        threads => threads as usize,
    }
}

pub fn max_memory_bytes() -> usize {
    MAX_MEMORY_MB.get() as usize * 1024 * 1024
}

/// `None` means without limit.
pub fn budget() -> Option<Duration> {
    u64::try_from(BUDGET_MS.get()).ok().map(Duration::from_millis)
}

pub fn progress() -> bool {
    PROGRESS.get()
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
        c"disclosure.progress",
        c"Reports the progress of long computations as NOTICEs.",
        c"",
        &PROGRESS,
        GucContext::Userset,
        GucFlags::default(),
    );
    reserve_prefix();
}

/// A misspelt `disclosure.*` setting is an error, not a new variable.
fn reserve_prefix() {
    // SAFETY: called on the main thread from _PG_init with a NUL-terminated static string.
    unsafe {
        #[cfg(feature = "pg14")]
        pg_sys::EmitWarningsOnPlaceholders(c"disclosure".as_ptr());
        #[cfg(not(feature = "pg14"))]
        pg_sys::MarkGUCPrefixReserved(c"disclosure".as_ptr());
    }
}
