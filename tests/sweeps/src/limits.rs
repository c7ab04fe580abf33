//! Calls every function with the largest values of each numeric argument, with little memory and little time.

use crate::call::{Caller, Load, cast};
use crate::report::Report;
use crate::session::Session;
use crate::watch::Patience;
use crate::world::{Argument, Function, World};
use crate::{Plan, SLOW};
use std::time::Duration;

const SETTINGS: &str =
    "SET disclosure.max_memory = '16MB'; SET disclosure.threads = 1; SET disclosure.budget = -1;";
const TIMEOUT: Duration = Duration::from_millis(300);
/// Most memory that a backend may hold: the budget, and several times as much again for Postgres and the
/// allocator.
const MOST_BYTES: u64 = (16 + 112) << 20;

/// Returns the largest values of a numeric argument, the most telling first; none for other types.
fn largest(argument: &Argument) -> Vec<String> {
    let numbers: &[&str] = match argument.kind.name.as_str() {
        "int2" => &["32767"],
        "int4" => &["2147483647", "300000000", "20000000", "-2147483648"],
        "int8" => &["9223372036854775807", "2147483647", "-9223372036854775808"],
        "float4" => &["3e38", "Infinity", "1e-45"],
        "float8" => &["1e308", "Infinity", "5e-324"],
        "numeric" => &["1e1000", "Infinity"],
        "interval" => &["178000000 years", "-178000000 years"],
        _ => &[],
    };
    let write = |number: &&str| match argument.kind.is_array {
        true => cast(&format!("{{{number}}}"), &argument.kind),
        false => cast(number, &argument.kind),
    };
    numbers.iter().map(write).collect()
}

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(world: &World, plan: &Plan) -> Result<bool, String> {
    let targets = targets(world);
    let mut report = Report::new("limits", plan.seed);
    let settings = format!("{SETTINGS} SET statement_timeout = {};", TIMEOUT.as_millis());
    let mut session = Session::open(&world.role, SETTINGS)?;
    let (mut calls, mut timeouts, mut refused, mut worst) = (0, 0, 0, 0);
    for case in plan.cases() {
        let (function, place, value) = &targets[case as usize % targets.len()];
        // First with tables on which the call reaches the algorithm for sure, then with any.
        let load = match case as usize / targets.len() % 2 {
            0 => Load::Least,
            _ => Load::Light,
        };
        let call = Caller::new(world, function, load, plan.seed, case).call_with(*place, value.clone());
        let seen = session.call(&call, Some(TIMEOUT), Patience::Clock(TIMEOUT), |_| ())?;
        calls += 1;
        timeouts += u64::from(seen.stopped);
        worst = worst.max(seen.peak);
        let mut fail = |kind: &str, problem: &str| {
            report.fail(case, &function.signature, &settings, &call, kind, problem)
        };
        if seen.cpu_after > SLOW {
            fail(
                "late",
                &format!(
                    "ended {:.2} s of CPU after the timeout",
                    seen.cpu_after.as_secs_f64()
                ),
            );
        }
        if seen.peak > MOST_BYTES {
            fail("memory", &format!("the backend held {} MB", seen.peak >> 20));
        }
        if let Err(trouble) = &seen.outcome {
            refused += 1;
            if let Some(kind) = seen.bug() {
                fail(&kind, &trouble.to_string());
            }
        }
        // The peak of a backend never falls, so a new one has to take over.
        if session.undo(&seen)? && seen.peak > MOST_BYTES / 2 {
            session.reopen()?;
        }
    }
    Ok(report.close(&format!(
        "{calls} calls, {refused} ended in errors, {timeouts} of them by the timeout, a backend held {} MB at most",
        worst >> 20
    )))
}

/// Returns every numeric argument of every function with each of its largest values.
fn targets(world: &World) -> Vec<(&Function, usize, String)> {
    let places = world
        .functions
        .iter()
        .flat_map(|function| (0..function.arguments.len()).map(move |place| (function, place)));
    let values = places.flat_map(|(function, place)| {
        let values = largest(&function.arguments[place]).into_iter();
        values.map(move |value| (function, place, value))
    });
    values.collect()
}

/// Returns the number of cases after which they repeat, except for what is random in them.
pub fn cases(world: &World) -> u64 {
    2 * targets(world).len() as u64
}
