//! Runs a call and watches its backend.

use crate::client::{CRASH_ELSEWHERE, Client, Rows, Trouble};
use crate::process;
use std::process::Command;
use std::time::{Duration, Instant};

/// Memory above which a backend is killed, before the machine runs out of memory.
const RUNAWAY_BYTES: u64 = 1 << 30;
/// CPU time above which a backend is killed that was told to stop.
const RUNAWAY_CPU: Duration = Duration::from_secs(60);

/// Time that is added to the limit of a backend that only waits.
const IDLE: Duration = Duration::from_secs(1);
/// Interval at which a backend is examined.
const GLANCE: Duration = Duration::from_millis(5);

/// Outcome of a call, and what was measured.
pub struct Seen {
    /// Answer of the server.
    pub outcome: Result<Rows, Trouble>,
    /// Whether the call was told to stop.
    pub stopped: bool,
    /// Whether the backend was killed, because the machine was in danger.
    pub killed: bool,
    /// CPU time that the backend used between being told to stop and its answer.
    pub cpu_after: Duration,
    /// Most memory that the backend held until then, in bytes.
    pub peak: u64,
}

impl Seen {
    /// Returns the kind of bug that the error shows, `None` if there is no error or if it is the user's.
    pub fn bug(&self) -> Option<String> {
        match &self.outcome {
            // Another test has crashed, and reports that itself.
            Err(Trouble::Lost(Some(error))) if error.code == CRASH_ELSEWHERE => None,
            Err(Trouble::Lost(_)) if !self.killed => Some("connection lost".to_owned()),
            Err(Trouble::Server(error)) if error.code.starts_with("XX") => Some(cause(&error.to_string())),
            _ => None,
        }
    }
}

/// Returns an error message without what differs from call to call, so that errors of the same cause look the
/// same.
fn cause(message: &str) -> String {
    let mut cause: String = message
        .chars()
        .map(|c| if c.is_ascii_digit() { '#' } else { c })
        .collect();
    while cause.contains("##") {
        cause = cause.replace("##", "#");
    }
    cause.chars().take(80).collect()
}

/// Time at which a call that is still running is told to stop.
#[derive(Clone, Copy)]
pub enum Patience {
    /// After this time on the clock, which is when statement_timeout expires.
    Clock(Duration),
    /// After this CPU time of the backend, however busy the machine is.
    Work(Duration),
}

impl Patience {
    /// Returns whether that time has come. `before` is the CPU time of the backend when the call began.
    fn is_over(self, began: Instant, before: Duration, pid: u32) -> bool {
        match self {
            Patience::Clock(limit) => began.elapsed() >= limit,
            Patience::Work(limit) => {
                // A backend that only waits never uses enough CPU time, so the clock ends its call too.
                let worked = process::cpu_time(pid).unwrap_or_default().saturating_sub(before);
                worked >= limit || began.elapsed() >= 20 * limit + IDLE
            }
        }
    }
}

/// Runs a call. If it is still running when the patience is over, `stop` is called to stop the backend. If
/// statement_timeout stops it, `stop` does nothing.
pub fn run(client: &mut Client, sql: &str, patience: Patience, stop: impl FnOnce()) -> Seen {
    let pid = client.pid;
    let mut peak = 0;
    let mut look = |client: &mut Client| {
        let outcome = client.wait(GLANCE);
        peak = process::memory(pid).map_or(0, |memory| memory.peak).max(peak);
        outcome
    };
    let (began, before) = (Instant::now(), process::cpu_time(pid).unwrap_or_default());
    let mut outcome = client.begin(sql).err().map(Err);
    while outcome.is_none() && !patience.is_over(began, before, pid) {
        outcome = look(client);
    }
    if let Some(outcome) = outcome {
        return Seen {
            outcome,
            stopped: false,
            killed: false,
            cpu_after: Duration::ZERO,
            peak,
        };
    }
    stop();
    let before = process::cpu_time(pid).unwrap_or_default();
    let (mut cpu_after, mut killed) = (Duration::ZERO, false);
    loop {
        let outcome = look(client);
        // If the backend is gone, the CPU time last seen counts.
        cpu_after = process::cpu_time(pid).map_or(cpu_after, |cpu| cpu.saturating_sub(before));
        if let Some(outcome) = outcome {
            return Seen {
                outcome,
                stopped: true,
                killed,
                cpu_after,
                peak,
            };
        }
        let held = process::memory(pid).map_or(0, |memory| memory.now);
        if held > RUNAWAY_BYTES || cpu_after > RUNAWAY_CPU {
            kill(pid);
            killed = true;
        }
    }
}

/// Kills a backend, which restarts the server. The user who runs the tests may do that, because the server is
/// theirs.
fn kill(pid: u32) {
    if let Err(error) = Command::new("kill").args(["-KILL", &pid.to_string()]).status() {
        eprintln!("cannot kill {pid}: {error}");
    }
}
