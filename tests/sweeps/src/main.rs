//! The sweeps: every function of the extension, found in the catalogue, is called with the largest numbers
//! (`limits`), is stopped at random moments (`cancel`), is called with random arguments (`random`), and is
//! called on the same rows by other plans (`plans`). Each failure is printed as a line for psql;
//! tests/sweeps/tables.sql makes the tables that the line needs. The same seed makes the same calls.
//! One more sweep (`guard`) calls no functions, but makes exports in two databases that differ in one row;
//! its tables are in tests/sweeps/guard.sql.
//!
//! `sweeps limits|cancel|random|plans|guard [--seed N] [--cases N | --seconds N] [--case N]`, in a database with
//! the extension. tools/test and tools/soak make one.

mod call;
mod cancel;
mod client;
mod guard;
mod limits;
mod plans;
mod process;
mod random;
mod report;
mod session;
mod watch;
mod world;

use client::Client;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use world::World;

/// CPU time that a call may use after it was told to stop. The promise is 0.2 s, but a test must not fail
/// because the machine is busy.
const SLOW: Duration = Duration::from_secs(1);

/// The cases to run.
pub struct Plan {
    /// Seed of all calls.
    pub seed: u64,
    /// Number of doublings from the shortest to the longest delay before a cancel.
    pub doublings: f64,
    first: u64,
    count: Option<u64>,
    end: Instant,
    began: Instant,
}

impl Plan {
    /// Returns the cases to run: a number of them, or as many as there is time for.
    pub fn cases(&self) -> impl Iterator<Item = u64> + '_ {
        (self.first..)
            .enumerate()
            .map_while(|(done, case)| match self.count {
                Some(count) => (done < count as usize).then_some(case),
                None => (Instant::now() < self.end).then_some(case),
            })
    }

    /// Returns the share of the cases that is done.
    pub fn progress(&self, done: u64) -> f64 {
        match self.count {
            Some(count) => done as f64 / count as f64,
            None => self.began.elapsed().as_secs_f64() / (self.end - self.began).as_secs_f64(),
        }
    }
}

struct Options {
    sweep: String,
    seed: u64,
    cases: Option<u64>,
    seconds: Option<u64>,
    case: Option<u64>,
}

fn options() -> Result<Options, String> {
    let usage =
        "usage: sweeps limits|cancel|random|plans|guard [--seed N] [--cases N | --seconds N] [--case N]";
    let mut arguments = std::env::args().skip(1);
    let sweep = arguments.next().ok_or(usage)?;
    let mut options = Options {
        sweep,
        seed: 1,
        cases: None,
        seconds: None,
        case: None,
    };
    while let Some(name) = arguments.next() {
        let number = arguments.next().and_then(|text| text.parse().ok()).ok_or(usage)?;
        match name.as_str() {
            "--seed" => options.seed = number,
            "--cases" => options.cases = Some(number),
            "--seconds" => options.seconds = Some(number),
            "--case" => options.case = Some(number),
            _ => return Err(usage.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the cases that the options ask for, or `default` of them.
fn plan(options: &Options, default: u64) -> Plan {
    let began = Instant::now();
    Plan {
        seed: options.seed,
        doublings: if options.seconds.is_some() { 9.0 } else { 7.0 },
        first: options.case.unwrap_or(0),
        count: match (options.case, options.seconds) {
            (Some(_), _) => Some(1),
            (None, Some(_)) => None,
            (None, None) => Some(options.cases.unwrap_or(default)),
        },
        end: began + Duration::from_secs(options.seconds.unwrap_or(0)),
        began,
    }
}

fn sweep() -> Result<bool, String> {
    let options = options()?;
    let superuser = client::variable("PGUSER")?;
    if options.sweep == "guard" {
        return guard::sweep(&plan(&options, 600), &superuser);
    }
    let world = World::make(&mut Client::connect(&superuser, "")?)?;
    // Number of cases if no option says otherwise, as in `make test`.
    let default = match options.sweep.as_str() {
        "limits" => limits::cases(&world),
        "cancel" => 5 * world.functions.len() as u64,
        "plans" => 4 * world.functions.len() as u64,
        _ => 8_000,
    };
    let plan = plan(&options, default);
    println!(
        "{} functions, {} others cannot be called from SQL",
        world.functions.len(),
        world.not_callable
    );
    match options.sweep.as_str() {
        "limits" => limits::sweep(&world, &plan),
        "cancel" => cancel::sweep(&world, &plan, &superuser),
        "random" => random::sweep(&world, &plan, &superuser),
        "plans" => plans::sweep(&world, &plan, &superuser),
        other => Err(format!("there is no sweep {other}")),
    }
}

fn main() -> ExitCode {
    match sweep() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("sweeps: {problem}");
            ExitCode::FAILURE
        }
    }
}
