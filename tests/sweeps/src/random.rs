//! Calls every function with random arguments of the right types, also with a search path in which an
//! adversary has planted names of pg_catalog.

use crate::call::{Caller, Load};
use crate::client::{Client, Trouble};
use crate::report::Report;
use crate::session::Session;
use crate::watch::Patience;
use crate::world::World;
use crate::{Plan, SLOW, process};
use rand::RngExt;
use std::collections::BTreeMap;
use std::time::Duration;

const PLAIN: &str = "";
const PLANTED: &str = "SET search_path = planted, pg_catalog, public;";
const TIMEOUT: Duration = Duration::from_millis(200);
/// Most memory that a session may gain. Allocators keep freed memory for a while; a leak gains more than
/// this.
const MOST_GROWTH: u64 = 200 << 20;
/// Most memory that the extension itself may gain in a session. What it holds between calls hardly changes.
const MOST_RUST_GROWTH: i64 = 4 << 20;

enum Answer {
    Rows,
    /// An error that may be correct.
    Error(String),
    /// A failure that was already reported, or a timeout, after which nothing more is known.
    Reported,
}

/// A session that lasts as long as the sweep.
struct Lasting {
    session: Session,
    settings: &'static str,
    /// Memory after the first third of the cases.
    early: Option<Held>,
}

#[derive(Clone, Copy)]
struct Held {
    anonymous: u64,
    rust: i64,
}

impl Lasting {
    fn open(world: &World, settings: &'static str) -> Result<Lasting, String> {
        let session = Session::open(&world.role, settings)?;
        Ok(Lasting {
            session,
            settings,
            early: None,
        })
    }

    /// Makes a call and reports any failure.
    fn call(&mut self, report: &mut Report, case: u64, name: &str, call: &str) -> Result<Answer, String> {
        let seen = self
            .session
            .call(call, Some(TIMEOUT), Patience::Clock(TIMEOUT), |_| ())?;
        let settings = format!(
            "{} SET statement_timeout = {};",
            self.settings,
            TIMEOUT.as_millis()
        );
        let mut fail =
            |kind: &str, problem: &str| report.fail(case, name, settings.trim_start(), call, kind, problem);
        if seen.cpu_after > SLOW {
            fail(
                "late",
                &format!(
                    "ended {:.2} s of CPU after the timeout",
                    seen.cpu_after.as_secs_f64()
                ),
            );
        }
        let answer = match &seen.outcome {
            Ok(_) => Answer::Rows,
            // The extension may have changed the SQLSTATE, so the message decides.
            Err(Trouble::Server(error)) if error.message.starts_with("planted ") => {
                fail(
                    &error.message,
                    &format!("{error}, from: {}", error.context.replace('\n', " ")),
                );
                Answer::Reported
            }
            Err(trouble) => match seen.bug() {
                Some(kind) => {
                    fail(&kind, &trouble.to_string());
                    Answer::Reported
                }
                None if trouble.is_timeout() => Answer::Reported,
                None => Answer::Error(trouble.to_string()),
            },
        };
        if !self.session.undo(&seen)? {
            self.early = None;
        }
        Ok(answer)
    }

    /// Returns by how much the session has grown since the first third of the cases, and reports it if that
    /// is too much.
    fn growth(&mut self, report: &mut Report, calls: u64) -> Result<String, String> {
        let late = self.held()?;
        let early = self.early.unwrap_or(late);
        let (grown, rust) = (
            late.anonymous.saturating_sub(early.anonymous),
            late.rust - early.rust,
        );
        let growth = format!("{} MB ({} kB of Rust)", grown >> 20, rust >> 10);
        if grown > MOST_GROWTH || rust > MOST_RUST_GROWTH {
            let problem = format!("the session grew by {growth}");
            report.fail(
                calls,
                "all functions",
                self.settings,
                "SELECT 'all cases until here'",
                "memory",
                &problem,
            );
        }
        Ok(growth)
    }

    fn held(&mut self) -> Result<Held, String> {
        let question = "SELECT probe.memory_in_use()";
        if self.session.client.execute(question).is_err() {
            self.session.reopen()?; // a crash of the other session restarts the server
        }
        let client = &mut self.session.client;
        let rows = client.query(question).map_err(|trouble| trouble.to_string())?;
        let rust = rows[0][0]
            .parse()
            .map_err(|_| "probe.memory_in_use() is no number".to_owned())?;
        let anonymous = process::memory(client.pid).map_or(0, |memory| memory.now);
        Ok(Held { anonymous, rust })
    }
}

/// Makes a call with planted names. If that ends in an error, also makes it without planted names, and
/// reports a failure if it then succeeds.
fn call_both(
    report: &mut Report,
    case: u64,
    name: &str,
    call: &str,
    plain: &mut Lasting,
    trapped: &mut Lasting,
) -> Result<Answer, String> {
    let answer = trapped.call(report, case, name, call)?;
    if let Answer::Error(error) = &answer {
        // A planted name that is found but does not fit causes an error of another kind.
        if let Answer::Rows = plain.call(report, case, name, call)? {
            report.fail(
                case,
                name,
                PLANTED,
                call,
                "planted",
                &format!("only where names are planted: {error}"),
            );
        }
    }
    Ok(answer)
}

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(world: &World, plan: &Plan, superuser: &str) -> Result<bool, String> {
    let planted = Client::connect(superuser, "")?.execute(include_str!("../planted.sql"));
    planted.map_err(|trouble| format!("planted.sql: {trouble}"))?;
    let mut report = Report::new("random", plan.seed);
    let mut sessions = [Lasting::open(world, PLAIN)?, Lasting::open(world, PLANTED)?];
    let mut calls = 0;
    let mut successes: BTreeMap<&str, u64> = world
        .functions
        .iter()
        .map(|f| (f.signature.as_str(), 0))
        .collect();
    for case in plan.cases() {
        let function = &world.functions[case as usize % world.functions.len()];
        // Every other round starts from calls that succeed.
        let load = match case as usize / world.functions.len() % 2 {
            0 => Load::Least,
            _ => Load::Light,
        };
        let mut caller = Caller::new(world, function, load, plan.seed, case);
        let planted = caller.rng().random_bool(0.25);
        let changes = caller.rng().random_range(0..3);
        let call = caller.call(changes);
        calls += 1;
        let [plain, trapped] = &mut sessions;
        let answer = match planted {
            false => plain.call(&mut report, case, &function.signature, &call)?,
            true => call_both(&mut report, case, &function.signature, &call, plain, trapped)?,
        };
        if let Answer::Rows = answer {
            *successes.entry(&function.signature).or_default() += 1;
        }
        if plan.progress(calls) >= 1.0 / 3.0 {
            for session in &mut sessions {
                if session.early.is_none() {
                    session.early = Some(session.held()?);
                }
            }
        }
    }
    let [plain, trapped] = &mut sessions;
    for statement in world.statements() {
        calls += 1;
        call_both(&mut report, 0, &statement, &statement, plain, trapped)?;
    }
    let mut growth = Vec::new();
    for session in &mut sessions {
        growth.push(session.growth(&mut report, calls)?);
    }
    let never: Vec<&str> = successes
        .iter()
        .filter(|&(_, &count)| count == 0)
        .map(|(&function, _)| function)
        .collect();
    if !never.is_empty() {
        println!("never without an error: {}", never.join(", "));
    }
    let answered: u64 = successes.values().sum();
    Ok(report.close(&format!(
        "{calls} calls of {} functions, {answered} without an error, sessions grew by {}",
        world.functions.len(),
        growth.join(" and ")
    )))
}
