//! Runs one call and watches its backend meanwhile.

use crate::client::{CRASH_ELSEWHERE, Client, Rows, Trouble};
use crate::process;
use std::process::Command;
use std::time::{Duration, Instant};

/// A backend that holds more than this is killed before the machine runs out of memory.
const RUNAWAY_BYTES: u64 = 1 << 30;
/// So is one that goes on for so long, in CPU time, after it was told to stop.
const RUNAWAY_CPU: Duration = Duration::from_secs(60);

/// How long a backend that does nothing may go on before it is stopped all the same.
const IDLE: Duration = Duration::from_secs(1);
/// How often a backend is looked at.
const GLANCE: Duration = Duration::from_millis(5);

/// What becomes of a call.
pub struct Seen {
    /// What the server answered.
    pub outcome: Result<Rows, Trouble>,
    /// Whether the call had to be stopped.
    pub stopped: bool,
    /// Whether it had to be killed for that, because the machine was in danger.
    pub killed: bool,
    /// The CPU time that the backend used from when it was told to stop until it answered.
    pub cpu_after: Duration,
    /// The most memory that it held until then.
    pub peak: u64,
}

impl Seen {
    /// Returns what kind of bug the error is, if it is one: errors of the user's making are not.
    pub fn bug(&self) -> Option<String> {
        match &self.outcome {
            // Another test has crashed, and says so.
            Err(Trouble::Lost(Some(error))) if error.code == CRASH_ELSEWHERE => None,
            Err(Trouble::Lost(_)) if !self.killed => Some("connection lost".to_owned()),
            Err(Trouble::Server(error)) if error.code.starts_with("XX") => Some(cause(&error.to_string())),
            _ => None,
        }
    }
}

/// Words an error without what differs from call to call, so that errors of one cause look the same.
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

/// When a call that is not over is told to stop.
#[derive(Clone, Copy)]
pub enum Patience {
    /// When this time has passed, which is when statement_timeout comes.
    Clock(Duration),
    /// When the backend has worked for so long, however busy the machine is.
    Work(Duration),
}

impl Patience {
    /// Returns whether it is over, for a backend that began with a CPU time of `before`.
    fn is_over(self, began: Instant, before: Duration, pid: u32) -> bool {
        match self {
            Patience::Clock(limit) => began.elapsed() >= limit,
            Patience::Work(limit) => {
                // One that only waits never has worked enough.
                let worked = process::cpu_time(pid).unwrap_or_default().saturating_sub(before);
                worked >= limit || began.elapsed() >= 20 * limit + IDLE
            }
        }
    }
}

/// Runs a call. If it is not over when the patience is, `stop` tells the backend to stop, or does nothing if
/// statement_timeout does.
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
        // A backend that is gone has used what it had when last seen.
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

/// Ends a backend by force, which restarts the server. Whoever runs the tests may: the server is theirs.
fn kill(pid: u32) {
    if let Err(error) = Command::new("kill").args(["-KILL", &pid.to_string()]).status() {
        eprintln!("cannot kill {pid}: {error}");
    }
}
