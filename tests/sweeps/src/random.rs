//! Calls every function with random arguments of the right types, also where somebody has planted names.

use crate::call::{Caller, Load};
use crate::client::{Client, Trouble};
use crate::report::Report;
use crate::session::Session;
use crate::world::World;
use crate::{process, Plan, SLOW};
use rand::RngExt;
use std::collections::BTreeMap;
use std::time::Duration;

const PLAIN: &str = "";
const PLANTED: &str = "SET search_path = planted, pg_catalog, public;";
const TIMEOUT: Duration = Duration::from_millis(200);
/// Allocators keep what was freed for a while; what grows without end is more than this.
const MOST_GROWTH: u64 = 200 << 20;
/// What the extension itself holds between calls hardly changes.
const MOST_RUST_GROWTH: i64 = 4 << 20;

/// A session that lasts as long as the sweep.
struct Lasting {
    session: Session,
    settings: &'static str,
    /// Its memory after the first third.
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

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(world: &World, plan: &Plan, superuser: &str) -> Result<bool, String> {
    Client::connect(superuser, include_str!("../planted.sql"))?;
    let mut report = Report::new("random", plan.seed);
    let mut sessions = [Lasting::open(world, PLAIN)?, Lasting::open(world, PLANTED)?];
    let (mut calls, mut answered) = (0, 0);
    let mut successes: BTreeMap<&str, u64> = world
        .functions
        .iter()
        .map(|f| (f.signature.as_str(), 0))
        .collect();
    for case in plan.cases() {
        let function = &world.functions[case as usize % world.functions.len()];
        // Every other round starts from what succeeds.
        let load = match case as usize / world.functions.len() % 2 {
            0 => Load::Least,
            _ => Load::Light,
        };
        let mut caller = Caller::new(world, function, load, plan.seed, case);
        let planted = caller.rng().random_bool(0.25);
        let changes = caller.rng().random_range(0..3);
        let call = caller.call(changes);
        let Lasting {
            session,
            settings,
            early,
        } = &mut sessions[usize::from(planted)];
        let seen = session.call(&call, Some(TIMEOUT), TIMEOUT, |_| ())?;
        calls += 1;
        let settings = format!("{settings} SET statement_timeout = {};", TIMEOUT.as_millis());
        let mut fail = |kind: &str, problem: &str| {
            report.fail(
                case,
                &function.signature,
                settings.trim_start(),
                &call,
                kind,
                problem,
            )
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
        match &seen.outcome {
            Ok(_) => {
                answered += 1;
                *successes.entry(&function.signature).or_default() += 1;
            }
            Err(Trouble::Server(error)) if error.code == "TRAP1" => {
                fail(
                    &format!("planted {}", error.message),
                    &format!("{error}, from: {}", error.context.replace('\n', " ")),
                );
            }
            Err(trouble) => {
                if let Some(kind) = seen.bug() {
                    fail(&kind, &trouble.to_string());
                }
            }
        }
        if !session.undo(&seen)? {
            *early = None;
        }
        if plan.progress(calls) >= 1.0 / 3.0 {
            for session in &mut sessions {
                if session.early.is_none() {
                    session.early = Some(session.held()?);
                }
            }
        }
    }
    for session in &mut sessions {
        let late = session.held()?;
        let early = session.early.unwrap_or(late);
        let growth = (
            late.anonymous.saturating_sub(early.anonymous),
            late.rust - early.rust,
        );
        if growth.0 > MOST_GROWTH || growth.1 > MOST_RUST_GROWTH {
            let problem = format!(
                "the session grew by {} MB, {} kB of it held by the extension",
                growth.0 >> 20,
                growth.1 >> 10
            );
            report.fail(
                calls,
                "all",
                session.settings,
                "SELECT 'all cases up to this one'",
                "memory",
                &problem,
            );
        }
    }
    let never: Vec<&str> = successes
        .iter()
        .filter(|(_, &count)| count == 0)
        .map(|(&function, _)| function)
        .collect();
    if !never.is_empty() {
        println!("never without an error: {}", never.join(", "));
    }
    Ok(report.close(&format!(
        "{calls} calls of {} functions, {answered} without an error",
        world.functions.len()
    )))
}
