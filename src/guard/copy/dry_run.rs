//! `check_export`: judges a query as an export without sending its rows.

use crate::error::Error;
use crate::guard::copy::export::{Statement, Verdict, is_seen_by_owner, may_see};
use crate::guard::copy::hooks;
use crate::guard::judge::Measured;
use crate::guard::policy::Policy;
use crate::guard::tree::list;
use crate::guard::{rights, sandbox};
use pgrx::pg_sys::{self, DestReceiver, NodeTag, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use std::ffi::{CString, c_int};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

/// Result of one policy in a dry run, as far as the caller may see it.
pub struct Trial {
    pub policy: Rc<Policy>,
    /// Whether the caller would have to comply with the policy.
    pub applies: bool,
    /// Result of the measure, if the caller may see it.
    pub measured: Option<Measured>,
    /// Whether the policy allows the export; `None` if that was not measured. If the caller may not see more than
    /// the verdict, whether all policies allow it.
    pub is_safe: Option<bool>,
}

/// Runs a query, judges its rows by every policy of the relations that it reads, and undoes what it did. A verdict tells no more than
/// the export itself would, and is logged and counted like one.
pub fn try_out(query: &str) -> Result<Vec<Trial>, Error> {
    let text = CString::new(query).map_err(|_| not_a_query("must not contain a NUL character"))?;
    check_statement(&text)?;
    let statement = Statement {
        kind: "check_export",
        text: query.into(),
        is_dry: true,
    };
    let run = || {
        Spi::connect(|_| {
            let mut nowhere = DestReceiver {
                rStartup: Some(start),
                receiveSlot: Some(receive),
                rShutdown: Some(ignore),
                rDestroy: Some(ignore),
                mydest: pg_sys::CommandDest::DestNone,
            };
            let options = pg_sys::SPIExecuteOptions {
                read_only: true,
                dest: &raw mut nowhere,
                ..Default::default()
            };
            // SAFETY: SPI is connected, and the text, the options and the destination outlive the call.
            unsafe { pg_sys::SPI_execute_extended(text.as_ptr(), &options) };
        });
    };
    let verdicts = hooks::while_exporting(statement, text.as_ptr(), || {
        PgTryBuilder::new(AssertUnwindSafe(|| sandbox::undone(run)))
            .catch_others(|cause| match hooks::is_concluded() {
                true => (), // a query that failed is refused like any other
                false => cause.rethrow(),
            })
            .execute();
    });
    Ok(shown(verdicts))
}

/// Returns what the caller may see of the verdicts.
fn shown(verdicts: Vec<Verdict>) -> Vec<Trial> {
    let is_exempt = rights::is_exempt();
    let applies = |policy: &Policy| !is_exempt && policy.concerns_us();
    let all_safe = verdicts
        .iter()
        .filter(|verdict| applies(&verdict.policy))
        .all(|verdict| verdict.is_safe);
    let policies: Vec<Rc<Policy>> = verdicts.iter().map(|verdict| verdict.policy.clone()).collect();
    let oversees_all = policies.iter().all(|policy| may_see(policy));
    let trial = |verdict: Verdict| {
        let sees_all = oversees_all || verdict.policy.details && is_seen_by_owner(&verdict.policy, &policies);
        let is_known = verdict.measured.is_some() || !verdict.is_safe;
        Trial {
            applies: applies(&verdict.policy),
            measured: verdict.measured.filter(|_| sees_all),
            is_safe: match sees_all {
                true => is_known.then_some(verdict.is_safe),
                false => Some(all_safe),
            },
            policy: verdict.policy,
        }
    };
    verdicts.into_iter().map(trial).collect()
}

/// Checks that a text is one SELECT.
fn check_statement(text: &CString) -> Result<(), Error> {
    // SAFETY: the text is NUL-terminated and outlives the block, and so do the nodes that are parsed from it.
    unsafe {
        match list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr()))[..] {
            [statement] => {
                let select = (*statement).stmt;
                let is_select = (*select).type_ == NodeTag::T_SelectStmt
                    && (*select.cast::<pg_sys::SelectStmt>()).intoClause.is_null();
                match is_select {
                    true => Ok(()),
                    false => Err(not_a_query("must be a SELECT")),
                }
            }
            _ => Err(not_a_query("must be one statement")),
        }
    }
}

fn not_a_query(problem: &str) -> Error {
    Error::argument("query", problem, "Give the text of one SELECT.")
}

#[pg_guard]
unsafe extern "C-unwind" fn start(_receiver: *mut DestReceiver, _operation: c_int, _shape: TupleDesc) {}

#[pg_guard]
unsafe extern "C-unwind" fn receive(_slot: *mut TupleTableSlot, _receiver: *mut DestReceiver) -> bool {
    true
}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_receiver: *mut DestReceiver) {}
