//! Stops every function at random moments and measures the CPU time that it still uses afterwards.

use crate::call::{Caller, Load};
use crate::client::{Client, Trouble};
use crate::report::Report;
use crate::session::Session;
use crate::watch::Patience;
use crate::world::World;
use crate::{Plan, SLOW};
use rand::RngExt;
use std::collections::BTreeMap;
use std::time::Duration;

const SETTINGS: &str = "SET disclosure.budget = -1; SET disclosure.threads = 2;";
/// CPU time after a cancel that DESIGN.md promises. It is only counted here, because a test must not fail by
/// noise.
const PROMISED: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Cancel,
    Terminate,
    Timeout,
}

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(world: &World, plan: &Plan, superuser: &str) -> Result<bool, String> {
    let mut report = Report::new("cancel", plan.seed);
    let mut session = Session::open(&world.role, SETTINGS)?;
    let mut control = Client::connect(superuser, "")?;
    let (mut calls, mut stopped, mut late) = (0, 0, 0);
    let mut worst: BTreeMap<&str, (Duration, String)> = BTreeMap::new();
    for case in plan.cases() {
        let function = &world.functions[case as usize % world.functions.len()];
        let mut caller = Caller::new(world, function, Load::Heavy, plan.seed, case);
        let call = caller.call(0);
        let way = match caller.rng().random_range(0..10) {
            0 => Way::Terminate,
            1..=4 => Way::Timeout,
            _ => Way::Cancel,
        };
        // Short delays are as likely as long ones, because the first phases of a call are soon over.
        let delay =
            Duration::from_secs_f64(0.004 * 2_f64.powf(caller.rng().random_range(0.0..plan.doublings)));
        let signal = match way {
            Way::Cancel => Some("pg_cancel_backend"),
            Way::Terminate => Some("pg_terminate_backend"),
            Way::Timeout => None,
        };
        let (timeout, patience) = match way {
            Way::Timeout => (Some(delay), Patience::Clock(delay)),
            Way::Cancel | Way::Terminate => (None, Patience::Work(delay)),
        };
        let seen = session.call(&call, timeout, patience, |pid| {
            if let Some(signal) = signal {
                // If the server is gone, the call itself will fail.
                let _ = control.query(&format!("SELECT pg_catalog.{signal}({pid})"));
            }
        })?;
        calls += 1;
        let settings = format!("{SETTINGS} SET statement_timeout = {};", delay.as_millis().max(1));
        let mut fail = |kind: &str, problem: &str| {
            report.fail(case, &function.signature, &settings, &call, kind, problem)
        };
        if seen.stopped {
            stopped += 1;
            late += u64::from(seen.cpu_after > PROMISED);
            let slowest = worst.entry(&function.signature).or_default();
            if seen.cpu_after > slowest.0 {
                *slowest = (seen.cpu_after, format!("{settings} {call};"));
            }
        }
        // The server's clock starts when its process gets to run, which may be late. Until then, two threads
        // may work.
        let allowed = match way {
            Way::Timeout => SLOW + 2 * delay,
            Way::Cancel | Way::Terminate => SLOW,
        };
        if seen.cpu_after > allowed {
            fail(
                "late",
                &format!(
                    "ended {:.2} s of CPU after {}",
                    seen.cpu_after.as_secs_f64(),
                    signal.unwrap_or("the timeout")
                ),
            );
        }
        match &seen.outcome {
            // A terminated backend may end without an error while it sends rows. After a crash, `control` is
            // lost as well.
            Err(Trouble::Lost(error))
                if way == Way::Terminate
                    && error.as_ref().is_none_or(|error| error.code == "57P01")
                    && control.execute("SELECT").is_ok() => {}
            Err(trouble) => {
                if let Some(kind) = seen.bug() {
                    fail(&kind, &trouble.to_string());
                }
            }
            Ok(_) => (),
        }
        if !session.undo(&seen)? && control.execute("SELECT").is_err() {
            control = Client::connect(superuser, "")?;
        }
    }
    let mut worst: Vec<(&str, (Duration, String))> = worst.into_iter().collect();
    worst.sort_by(|a, b| b.1.cmp(&a.1));
    for (_, (cpu, call)) in worst.iter().filter(|(_, (cpu, _))| *cpu > PROMISED) {
        println!("{call} -- more than promised: {:.2} s of CPU", cpu.as_secs_f64());
    }
    let worst = worst
        .iter()
        .take(3)
        .map(|(function, (cpu, _))| format!("{function} {:.2} s", cpu.as_secs_f64()));
    let worst: Vec<String> = worst.collect();
    Ok(report.close(&format!(
        "{calls} calls, {stopped} stopped before they were over, {late} of these took more than 0.2 s of CPU ({:.1} %), worst: {}",
        100.0 * late as f64 / (stopped as f64).max(1.0),
        worst.join(", ")
    )))
}
