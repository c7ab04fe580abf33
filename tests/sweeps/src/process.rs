//! CPU time and memory of a backend, as the operating system reports them.

use std::fs;
use std::time::Duration;

/// Clock ticks per second in /proc/PID/stat, which are constant for user programs on Linux.
const TICKS: u64 = 100;

/// Returns the CPU time that all threads of a process have used; `None` if the process is gone.
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
    /// Memory that it holds now, without files and shared memory.
    pub now: u64,
    /// Most memory that it ever held, without files and shared memory.
    pub peak: u64,
}

/// Returns the memory of a process; `None` if the process is gone.
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
    // The system only reports the peak of all memory. Files and shared memory hardly shrink, so their current
    // size is subtracted.
    let others = field("RssFile")? + field("RssShmem")?;
    Some(Memory {
        now,
        peak: field("VmHWM")?.saturating_sub(others).max(now),
    })
}
