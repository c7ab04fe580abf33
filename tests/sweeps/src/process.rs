//! What the operating system knows about a backend.

use std::fs;
use std::time::Duration;

/// Clock ticks per second in /proc/PID/stat: a constant of Linux for programs.
const TICKS: u64 = 100;

/// Returns the CPU time that all threads of a process have used; `None` if it is gone.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may hold anything.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// What it holds now, apart from files and shared memory.
    pub now: u64,
    /// The most that it ever held.
    pub peak: u64,
}

/// Returns the memory of a process; `None` if it is gone.
pub fn memory(pid: u32) -> Option<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':')
            .trim()
            .trim_end_matches(" kB")
            .parse::<u64>()
            .ok()
            .map(|kilobytes| kilobytes * 1024)
    };
    let now = field("RssAnon")?;
    // Only the peak of the whole is known. Files and shared memory hardly shrink.
    let others = field("RssFile")? + field("RssShmem")?;
    Some(Memory {
        now,
        peak: field("VmHWM")?.saturating_sub(others).max(now),
    })
}
