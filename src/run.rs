//! Long work: threads, interrupts, memory budget, progress.
//!
//! Our threads never touch Postgres and have all signals blocked, so that the backend's own handlers only
//! ever run on its own thread. While they compute, that thread waits, looks at interrupts and memory every
//! [`STEP`], and no error leaves before they have stopped.

use crate::error::Problem;
use crate::{guc, memory};
use disclosure::Control;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// How often the waiting thread looks around. A cancel is obeyed within 0.2 s; this leaves most of that
/// to the computation's own checks.
const STEP: Duration = Duration::from_millis(10);

/// The stack of a worker thread: searches go as deep as rows have attributes. Only what is used takes memory.
const STACK: usize = 64 * 1024 * 1024;

/// How often `disclosure.progress_notices` speaks.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Run `job` on worker threads and wait for it. `what` names the work in progress messages.
pub fn long<R: Send>(
    what: &'static str,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Problem> {
    with_pool(|pool| {
        let control = memory::control();
        let (sender, receiver) = channel();
        // The scope ends when the job has ended, on every path out of it.
        let outcome = pool.in_place_scope(|scope| {
            let control = &control;
            scope.spawn(move |_| {
                // Where nobody waits any more, nobody misses the outcome.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(|| job(control))));
            });
            let _stop = CancelOnDrop(control);
            let mut meter = Meter::new(what);
            loop {
                match receiver.recv_timeout(STEP) {
                    Ok(outcome) => return Ok(outcome),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Problem::Internal("a worker thread ended without an answer"));
                    }
                }
                if end_requested() {
                    control.cancel(); // and raise it below, when the workers have stopped
                } else {
                    pgrx::check_for_interrupts!();
                    memory::check()?;
                    meter.report(control.progress());
                }
            }
        })?;
        pgrx::check_for_interrupts!();
        match outcome {
            Ok(result) => Ok(result?),
            Err(panic) => Err(Problem::Panicked(panic_message(panic.as_ref()))),
        }
    })
}

/// [`long`] where the `size` of the work is beyond `few`. Anything smaller is done here and now, as a window
/// may have very many small partitions; then the job must not use other threads.
pub fn sized<R: Send>(
    what: &'static str,
    size: usize,
    few: usize,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Problem> {
    match size <= few {
        true => Ok(job(&memory::control())?),
        false => long(what, job),
    }
}

/// Lets an error take a job along that it leaves behind.
pub struct CancelOnDrop<'a>(pub &'a Control);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A thread that does `step` with every item it is sent, one after another, while its sender goes on.
pub struct Conveyor<T: Send + 'static, W: Send + 'static> {
    /// `None` once there are no more items.
    items: Option<SyncSender<T>>,
    spare: Receiver<T>,
    /// `None` once it has ended.
    worker: Option<JoinHandle<disclosure::Result<W>>>,
}

impl<T: Send + 'static, W: Send + 'static> Conveyor<T, W> {
    /// Items that may wait: enough to keep both sides busy, few enough to need little memory.
    const WAITING: usize = 8;

    pub fn start(mut worker: W, step: fn(&mut W, &mut T) -> disclosure::Result<()>) -> Result<Self, Problem> {
        let (items, received) = sync_channel::<T>(Self::WAITING);
        let (used, spare) = channel();
        let work = move || {
            for mut item in received {
                step(&mut worker, &mut item)?;
                let _ = used.send(item); // nobody may want it back any more
            }
            Ok(worker)
        };
        let worker = with_signals_blocked(|| Builder::new().name("disclosure".into()).spawn(work))
            .map_err(|error| Problem::NoThreads(error.to_string()))?;
        Ok(Conveyor {
            items: Some(items),
            spare,
            worker: Some(worker),
        })
    }

    /// Waits if too many items are waiting. `false` says that the worker has ended, with an error.
    pub fn send(&mut self, item: T) -> bool {
        self.items.as_ref().is_some_and(|items| items.send(item).is_ok())
    }

    /// As [`send`](Self::send), for items that may take the worker long: interrupts and memory are looked at meanwhile.
    pub fn send_patiently(&mut self, mut item: T) -> Result<bool, Problem> {
        while let Some(items) = &self.items {
            match items.try_send(item) {
                Ok(()) => return Ok(true),
                Err(TrySendError::Disconnected(_)) => break,
                Err(TrySendError::Full(back)) => item = back,
            }
            pause()?;
        }
        Ok(false)
    }

    /// There are no more items: wait until the worker has seen them all, and look at interrupts and memory meanwhile.
    /// Whoever leaves with an error has to see to it that the worker ends soon.
    pub fn wait(&mut self) -> Result<(), Problem> {
        self.items = None;
        while self.worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
            pause()?;
        }
        Ok(())
    }

    /// An item that the worker is done with, to be used again.
    pub fn spare(&mut self) -> Option<T> {
        self.spare.try_recv().ok()
    }

    /// There are no more items: the worker, when it has seen them all.
    pub fn finish(mut self) -> Result<W, Problem> {
        match self.join() {
            Some(Ok(worker)) => Ok(worker?),
            Some(Err(panic)) => Err(Problem::Panicked(panic_message(panic.as_ref()))),
            None => Err(Problem::Internal("rows were pushed after an error")),
        }
    }

    fn join(&mut self) -> Option<std::thread::Result<disclosure::Result<W>>> {
        self.items = None;
        self.worker.take().map(JoinHandle::join)
    }
}

/// Look around, and let others work for a moment that is short beside what they do.
fn pause() -> Result<(), Problem> {
    pgrx::check_for_interrupts!();
    memory::check()?;
    sleep(Duration::from_micros(100));
    Ok(())
}

impl<T: Send + 'static, W: Send + 'static> Drop for Conveyor<T, W> {
    /// On the way out of an error: leave no thread behind, nor what it holds.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// What a loop on the backend's own thread calls for every row it reads.
pub struct Meter {
    what: &'static str,
    rows: u64,
    reported: Instant,
}

impl Meter {
    pub fn new(what: &'static str) -> Self {
        Meter {
            what,
            rows: 0,
            reported: Instant::now(),
        }
    }

    /// Count a row. Every 1,024th looks at interrupts and memory; `true` says that it was one, a good
    /// moment to free what the rows before it left behind.
    pub fn row(&mut self) -> Result<bool, Problem> {
        self.rows += 1;
        if !self.rows.is_multiple_of(1024) {
            return Ok(false);
        }
        pgrx::check_for_interrupts!();
        memory::check()?;
        if self.is_due() {
            notice!("disclosure: {}: {} rows so far", self.what, self.rows);
        }
        Ok(true)
    }

    /// All rows were read.
    pub fn finish(self) {
        if guc::progress_notices() {
            notice!("disclosure: {}: {} rows", self.what, self.rows);
        }
    }

    fn report(&mut self, share: Option<f64>) {
        if let Some(share) = share.filter(|_| self.is_due()) {
            notice!("disclosure: {}: {:.0} % done", self.what, 100.0 * share);
        }
    }

    fn is_due(&mut self) -> bool {
        let due = guc::progress_notices() && self.reported.elapsed() >= REPORT_EVERY;
        if due {
            self.reported = Instant::now();
        }
        due
    }
}

thread_local! {
    /// Built at the first use in a backend, never in `_PG_init`: threads do not survive a fork.
    static POOL: RefCell<Option<rayon::ThreadPool>> = const { RefCell::new(None) };
}

fn with_pool<R>(job: impl FnOnce(&rayon::ThreadPool) -> Result<R, Problem>) -> Result<R, Problem> {
    let wanted = guc::threads();
    // Taken out for the time of the job: an error that leaves `job` drops the pool and joins its threads.
    let pool = match POOL.take() {
        Some(pool) if pool.current_num_threads() == wanted => pool,
        _ => build_pool(wanted)?,
    };
    let result = job(&pool);
    POOL.set(Some(pool));
    result
}

fn build_pool(threads: usize) -> Result<rayon::ThreadPool, Problem> {
    with_signals_blocked(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .thread_name(|number| format!("disclosure-{number}"))
            .build()
    })
    .map_err(|error| Problem::NoThreads(error.to_string()))
}

/// Threads that `start` makes inherit the mask: no signal is ever delivered to them.
fn with_signals_blocked<R>(start: impl FnOnce() -> R) -> R {
    // SAFETY: plain calls on sets that live in this frame; the old mask is restored before returning,
    // and `start` does not unwind (rayon reports failure as a Result).
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let started = start();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        started
    }
}

/// Whether somebody wants this statement, or the whole session, to end.
fn end_requested() -> bool {
    // SAFETY: flags that signal handlers of this very thread set; read, never written.
    unsafe {
        std::ptr::read_volatile(&raw const pg_sys::QueryCancelPending) != 0
            || std::ptr::read_volatile(&raw const pg_sys::ProcDiePending) != 0
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (_, Some(text)) => text.clone(),
        _ => "panic".into(),
    }
}
