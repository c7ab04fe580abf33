//! Runs long work: worker threads, interrupts, memory budget and progress messages.
//!
//! Worker threads never touch Postgres. All signals are blocked in them, so that the backend's signal
//! handlers run only on the backend's own thread. While the workers compute, that thread waits and checks for
//! interrupts and memory every [`STEP`]. An error leaves this module only after the workers have stopped.

use crate::error::Error;
use crate::{guc, memory};
use disclosure::Control;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Interval at which the waiting thread checks for interrupts and memory. A cancel must take effect within
/// 0.2 s; this interval leaves most of that time to the computation's own checks.
const STEP: Duration = Duration::from_millis(10);

/// Stack size of a worker thread. Searches recurse as deep as a row has attributes. Only the part of the
/// stack that is used takes memory.
const STACK: usize = 64 * 1024 * 1024;

/// Interval between two messages of `disclosure.progress_notices`.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Runs `job` on the worker threads, waits for it and returns its result. `what` names the work in progress
/// messages.
pub fn long<R: Send>(
    what: &'static str,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Error> {
    memory::return_after_transaction();
    with_pool(|pool| {
        let control = memory::control();
        let (sender, receiver) = channel();
        // The scope ends only after the job has ended, on every path out of it.
        let outcome = pool.in_place_scope(|scope| {
            let control = &control;
            scope.spawn(move |_| {
                // The receiver may be gone; ignore the send error.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(|| job(control))));
            });
            let _stop = CancelOnDrop(control);
            let mut meter = Meter::new(what);
            loop {
                match receiver.recv_timeout(STEP) {
                    Ok(outcome) => return Ok(outcome),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Error::Internal("a worker thread ended without a result"));
                    }
                }
                if end_requested() {
                    control.cancel(); // raised below, after the workers have stopped
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
            Err(panic) => Err(Error::Panicked(panic_message(panic.as_ref()))),
        }
    })
}

/// Runs `job` like [`long`] if `size` is above `few`. Smaller work runs at once on the calling thread,
/// because a window may have very many small partitions; the job must then not use other threads.
pub fn sized<R: Send>(
    what: &'static str,
    size: usize,
    few: usize,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Error> {
    match size <= few {
        true => Ok(job(&memory::control())?),
        false => long(what, job),
    }
}

/// Cancels a computation when dropped, for example while unwinding from an error.
pub struct CancelOnDrop<'a>(pub &'a Control);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Worker thread that applies `step` to every item it is sent, one by one, while the sender continues.
pub struct Conveyor<T: Send + 'static, W: Send + 'static> {
    /// `None` once no more items can be sent.
    items: Option<SyncSender<T>>,
    /// Items that the worker has processed.
    spare: Receiver<T>,
    /// `None` once the thread was joined.
    worker: Option<JoinHandle<disclosure::Result<W>>>,
}

impl<T: Send + 'static, W: Send + 'static> Conveyor<T, W> {
    /// Number of items that may wait: enough to keep both sides busy, few enough to need little memory.
    const WAITING: usize = 8;

    /// Starts a thread that calls `step` with `worker` and every item.
    pub fn start(mut worker: W, step: fn(&mut W, &mut T) -> disclosure::Result<()>) -> Result<Self, Error> {
        let (items, received) = sync_channel::<T>(Self::WAITING);
        let (used, spare) = channel();
        let work = move || {
            for mut item in received {
                step(&mut worker, &mut item)?;
                let _ = used.send(item); // the receiver may be gone
            }
            Ok(worker)
        };
        let worker = with_signals_blocked(|| Builder::new().name("disclosure".into()).spawn(work))
            .map_err(|error| Error::NoThreads(error.to_string()))?;
        Ok(Conveyor {
            items: Some(items),
            spare,
            worker: Some(worker),
        })
    }

    /// Sends an item, and waits if too many are waiting. Returns `false` if the worker has ended early;
    /// [`finish`](Self::finish) then returns its error.
    pub fn send(&mut self, item: T) -> bool {
        self.items.as_ref().is_some_and(|items| items.send(item).is_ok())
    }

    /// Sends an item like [`send`](Self::send), but checks for interrupts and memory while it waits. It is
    /// for workers that may take long for one item.
    pub fn send_patiently(&mut self, mut item: T) -> Result<bool, Error> {
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

    /// Closes the queue and waits until the worker has processed all items. Meanwhile checks for interrupts
    /// and memory. A caller that gets an error must make the worker end soon, because dropping the conveyor
    /// waits for it.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.items = None;
        while self.worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
            pause()?;
        }
        Ok(())
    }

    /// Returns an item that the worker has processed, for reuse.
    pub fn spare(&mut self) -> Option<T> {
        self.spare.try_recv().ok()
    }

    /// Closes the queue, waits until the worker has processed all items, and returns the worker.
    pub fn finish(mut self) -> Result<W, Error> {
        match self.join() {
            Some(Ok(worker)) => Ok(worker?),
            Some(Err(panic)) => Err(Error::Panicked(panic_message(panic.as_ref()))),
            None => Err(Error::Internal("rows were pushed after an error")),
        }
    }

    fn join(&mut self) -> Option<std::thread::Result<disclosure::Result<W>>> {
        self.items = None;
        self.worker.take().map(JoinHandle::join)
    }
}

/// Checks for interrupts and memory, then sleeps for a time that is short compared with the work waited for.
fn pause() -> Result<(), Error> {
    pgrx::check_for_interrupts!();
    memory::check()?;
    sleep(Duration::from_micros(100));
    Ok(())
}

impl<T: Send + 'static, W: Send + 'static> Drop for Conveyor<T, W> {
    /// Waits for the thread, for example while unwinding from an error, so that neither the thread nor its
    /// memory is left behind.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// Row counter of a loop on the backend's own thread. It checks for interrupts and memory and reports
/// progress.
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

    /// Counts a row. Every 1,024th call checks for interrupts and memory and returns `true`, which is a good
    /// moment to free the memory that earlier rows have left behind.
    pub fn row(&mut self) -> Result<bool, Error> {
        self.add_rows(1)
    }

    /// Counts rows like [`row`](Self::row), several at once.
    pub fn add_rows(&mut self, rows: u64) -> Result<bool, Error> {
        let before = self.rows / 1024;
        self.rows += rows;
        if self.rows / 1024 == before {
            return Ok(false);
        }
        pgrx::check_for_interrupts!();
        memory::check()?;
        if self.is_due() {
            notice!("disclosure: {}: {} rows so far", self.what, self.rows);
        }
        Ok(true)
    }

    /// Reports the number of rows after all were read, if `disclosure.progress_notices` is on.
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

    /// Returns whether a progress message is due, and if so starts the next interval.
    fn is_due(&mut self) -> bool {
        let due = guc::progress_notices() && self.reported.elapsed() >= REPORT_EVERY;
        if due {
            self.reported = Instant::now();
        }
        due
    }
}

thread_local! {
    /// Built on first use in a backend, never in `_PG_init`, because threads do not survive a fork.
    static POOL: RefCell<Option<rayon::ThreadPool>> = const { RefCell::new(None) };
}

/// Runs `job` with the backend's thread pool, which is replaced if `disclosure.threads` has changed.
fn with_pool<R>(job: impl FnOnce(&rayon::ThreadPool) -> Result<R, Error>) -> Result<R, Error> {
    let wanted = guc::threads();
    // Taken out of the cell while the job runs: an error that unwinds out of `job` drops the pool, which ends
    // its threads.
    let pool = match POOL.take() {
        Some(pool) if pool.current_num_threads() == wanted => pool,
        _ => build_pool(wanted)?,
    };
    let result = job(&pool);
    POOL.set(Some(pool));
    result
}

fn build_pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    with_signals_blocked(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .thread_name(|number| format!("disclosure-{number}"))
            .build()
    })
    .map_err(|error| Error::NoThreads(error.to_string()))
}

/// Runs `start` with all signals blocked and returns its result. Threads that `start` creates inherit the
/// mask, so no signal is ever delivered to them.
fn with_signals_blocked<R>(start: impl FnOnce() -> R) -> R {
    // SAFETY: the signal sets live in this frame. The old mask is always restored, because `start` does not
    // unwind: rayon and `Builder::spawn` report failure as a Result.
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

/// Returns whether a cancel of this statement or the end of the whole session was requested.
fn end_requested() -> bool {
    // SAFETY: the flags are static variables, which only this thread and its signal handlers write. They are
    // only read here.
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
