//! Failures, each printed as a line that can be pasted into psql.

use std::collections::BTreeMap;

/// The failures of a sweep. Those of the same function and kind are printed once and counted.
pub struct Report {
    sweep: &'static str,
    seed: u64,
    counts: BTreeMap<(String, String), u64>,
}

impl Report {
    /// Begins the report of a sweep.
    pub fn new(sweep: &'static str, seed: u64) -> Report {
        Report {
            sweep,
            seed,
            counts: BTreeMap::new(),
        }
    }

    /// Records that `call` failed as described by `problem`. `kind` distinguishes ways to fail.
    pub fn fail(&mut self, case: u64, function: &str, settings: &str, call: &str, kind: &str, problem: &str) {
        let count = self
            .counts
            .entry((function.to_owned(), kind.to_owned()))
            .or_default();
        *count += 1;
        if *count == 1 {
            println!(
                "{settings} {call}; -- {problem} ({} seed {} case {case})",
                self.sweep, self.seed
            );
        }
    }

    /// Prints how often each function failed, then the closing line. Returns whether nothing failed.
    pub fn close(&self, summary: &str) -> bool {
        for ((function, kind), count) in self.counts.iter().filter(|&(_, &count)| count > 1) {
            println!("{count} times: {function}: {kind}");
        }
        let failures: u64 = self.counts.values().sum();
        println!(
            "sweep/{} seed {}: {summary}; {failures} failures of {} kinds",
            self.sweep,
            self.seed,
            self.counts.len()
        );
        failures == 0
    }
}
