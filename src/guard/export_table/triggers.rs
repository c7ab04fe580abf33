//! The triggers of export tables: tables with a policy whose `on_rows` says how unsafe rows are treated.
//! [`super::install`] creates the triggers, which judge the table after every statement, whichever role runs
//! it.
//!
//! A statement fires up to three kinds of trigger. `export_turn` waits until no other transaction has
//! uncommitted changes in the table, so that two transactions are never judged at once. `export_collect`
//! notes where inserted rows are stored. `export_judge` measures the table under the latest snapshot, even if
//! the transaction itself sees an older state, and then allows, refuses, warns, or deletes unsafe rows that
//! the statement inserted.

use crate::error::{Change, Error};
use crate::guard::export_table::own_triggers::{COLLECT, JUDGE, TURN};
use crate::guard::export_table::statement::{Batch, Event, Place};
use crate::guard::export_table::{dropping, obstacle, own_triggers, statement};
use crate::guard::judge::Measured;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::own_tables;
use crate::guard::policy::Policy;
use crate::guard::rule::OnRows;
use crate::guard::{judge, policy, rights};
use crate::pg::catalog;
use pgrx::itemptr::item_pointer_to_u64;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, FunctionCallInfo, Oid, TriggerData};
use pgrx::prelude::*;
use pgrx::trigger_support::called_as_trigger;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Returns the policies that make a relation an export table.
pub fn policies_of(relation: Oid) -> Result<Vec<Rc<Policy>>, Error> {
    let mut policies = policy::all()?.of([relation]);
    policies.retain(|policy| policy.on_rows.is_some());
    Ok(policies)
}

/// export_turn(): trigger BEFORE … FOR EACH STATEMENT.
#[pg_extern(sql = false)]
fn export_turn(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call.
    let turn = unsafe { trigger_of(fcinfo, TURN) }.and_then(|trigger| {
        // SAFETY: the trigger is running, so its data and relation are valid.
        take_turn(unsafe { (*(*trigger).tg_relation).rd_id })
    });
    turn.unwrap_or_else(Error::raise);
}

/// export_collect(): trigger AFTER INSERT … FOR EACH ROW.
#[pg_extern(sql = false)]
fn export_collect(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call, and the trigger is running, so its data is valid.
    let collected = unsafe { trigger_of(fcinfo, COLLECT).map(|trigger| collect(&*trigger)) };
    collected.unwrap_or_else(Error::raise);
}

/// export_judge(): trigger AFTER … FOR EACH STATEMENT, with transition tables.
#[pg_extern(sql = false)]
fn export_judge(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call, and the trigger runs until this function returns.
    let batch = unsafe {
        trigger_of(fcinfo, JUDGE)
            .and_then(|trigger| Batch::new(trigger).ok_or(Error::NotTheTrigger("export_judge")))
    };
    batch.and_then(|batch| judge(&batch)).unwrap_or_else(Error::raise);
}

/// Returns the data of the trigger, or an error if the function was not called by a trigger that the guard
/// creates for it.
///
/// # Safety
/// `fcinfo` is a valid function call.
unsafe fn trigger_of(fcinfo: FunctionCallInfo, function: &'static str) -> Result<*mut TriggerData, Error> {
    // SAFETY: by the contract of the function; a call as a trigger has its data as context.
    unsafe {
        if !called_as_trigger(fcinfo) {
            return Err(Error::NotTheTrigger(function));
        }
        let trigger = (*fcinfo).context.cast();
        own_triggers::check_running(trigger, function).map(|()| trigger)
    }
}

/// Waits until no other running transaction has changed the export table, or one that is judged together with
/// it. The turn ends with the transaction.
fn take_turn(relation: Oid) -> Result<(), Error> {
    let policies = policies_of(relation)?;
    if policies.is_empty() {
        return Ok(());
    }
    for policy in &policies {
        // Otherwise Postgres would fail with an error about transition tables.
        if let Some(problem) = obstacle::foreign_table(&policy::family_of(&[policy.relation])?)? {
            return Err(policy.unusable(problem));
        }
    }
    let mut tables: Vec<Oid> = policies.iter().map(|policy| policy.relation).collect();
    tables.sort_by_key(|table| table.to_u32());
    tables.dedup();
    let table_of_policies = own_tables::policies()?;
    // All transactions take the locks in the same order, and only on the top table of a tree. So a
    // transaction that holds the lock of a partition never waits for that of its parent.
    for &table in &tables {
        let is_below = |&other: &Oid| other != table && catalog::with_heirs(other).contains(&table);
        if tables.len() == 1 || !tables.iter().any(is_below) {
            // SAFETY: locks accept any OIDs, and the end of this transaction releases them.
            unsafe {
                pg_sys::LockDatabaseObject(
                    table_of_policies,
                    table,
                    0,
                    pg_sys::ExclusiveLock as pg_sys::LOCKMODE,
                );
            }
        }
    }
    Ok(())
}

/// Identifier of a statement within a transaction.
type Statement = (pg_sys::SubTransactionId, pg_sys::CommandId);

/// Locations of the rows that the running statements have inserted.
#[derive(Default)]
struct Collected {
    transaction: pg_sys::TransactionId,
    rows: HashMap<Statement, Vec<Place>>,
}

thread_local! {
    static COLLECTED: RefCell<Collected> = RefCell::default();
}

/// Returns the statement whose triggers are running, identified by the command of their snapshot.
fn statement() -> Statement {
    // SAFETY: both only read the state of this backend, and a trigger runs with an active snapshot.
    unsafe {
        (
            pg_sys::GetCurrentSubTransactionId(),
            (*pg_sys::GetActiveSnapshot()).curcid,
        )
    }
}

/// Notes where an inserted row is stored.
///
/// # Safety
/// The trigger is running, and is AFTER INSERT … FOR EACH ROW.
unsafe fn collect(trigger: &TriggerData) {
    // SAFETY: by the contract of the function.
    unsafe {
        let place = ((*trigger.tg_relation).rd_id, (*trigger.tg_trigtuple).t_self);
        COLLECTED.with_borrow_mut(|collected| {
            let transaction = pg_sys::GetTopTransactionIdIfAny();
            if collected.transaction != transaction {
                // Discards rows of an earlier transaction, whose statement failed.
                *collected = Collected {
                    transaction,
                    ..Collected::default()
                };
            }
            collected.rows.entry(statement()).or_default().push(place);
        });
    }
}

/// Judges the table after a statement: first by the policies that drop rows, then by those that refuse, and
/// finally by those that warn. So every policy judges what is left in the end.
fn judge(batch: &Batch) -> Result<(), Error> {
    let inserted = match batch.event {
        Event::Insert => COLLECTED.with_borrow_mut(|collected| collected.rows.remove(&statement())),
        _ => None,
    };
    if batch.rows == 0 {
        return Ok(());
    }
    let mut policies = policies_of(batch.relation)?;
    policies.retain(|policy| policy.concerns_us());
    if policies.is_empty() {
        return Ok(());
    }
    // Measure functions that users wrote come last.
    policies.sort_by_key(|policy| policy.measure.is_function());
    // Makes the changes of the statement visible.
    // SAFETY: allowed in a trigger; SPI does the same before a query that writes.
    unsafe { pg_sys::CommandCounterIncrement() };
    let (dropping, others): (Vec<_>, Vec<_>) = policies
        .into_iter()
        .partition(|policy| policy.on_rows == Some(OnRows::Drop) && batch.event == Event::Insert);
    let (warning, refusing): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|policy| policy.on_rows == Some(OnRows::Warn));
    let dropped = drop_unsafe(batch, &dropping, inserted.unwrap_or_default())?;
    let are_fewer = dropped.iter().any(|dropped| dropped.rows > 0);
    for policy in &refusing {
        let measured = measured_for(batch, policy, are_fewer)?;
        if !measured.is_allowed(policy.limit) {
            return refuse(batch, policy, measured);
        }
        record(batch, policy, measured, Outcome::Allowed)?;
    }
    for (policy, Dropped { rows, measured }) in dropping.iter().zip(dropped) {
        let outcome = if rows > 0 {
            Outcome::Dropped
        } else {
            Outcome::Allowed
        };
        let measured = Measured {
            unsafe_rows: Some(rows),
            ..measured
        };
        record(batch, policy, measured, outcome)?;
        if rows > 0 {
            tell_dropped(batch, policy, rows);
        }
    }
    for policy in &warning {
        let measured = measured_for(batch, policy, are_fewer)?;
        if measured.is_allowed(policy.limit) {
            record(batch, policy, measured, Outcome::Allowed)?;
        } else {
            record(batch, policy, measured, Outcome::Warned)?;
            judge::refusal(policy, measured, Change::Warned).warn();
        }
    }
    Ok(())
}

/// Logs the outcome of a statement that passes.
fn record(batch: &Batch, policy: &Policy, measured: Measured, outcome: Outcome) -> Result<(), Error> {
    judge::record(
        batch.event.name(),
        policy,
        Some(measured),
        outcome,
        Lasting::IfCommitted,
    )
}

/// Measures the table for a policy and logs a refusal if that is impossible. All current rows count, not only
/// those that the current user can see.
fn measured_for(batch: &Batch, policy: &Policy, whole: bool) -> Result<Measured, Error> {
    let measured = for_table(policy, || statement::measure(batch, policy, whole));
    judge::or_refused(batch.event.name(), policy, measured)
}

fn for_table<R>(policy: &Policy, job: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    if let Some(problem) = policy.problem_of_table()? {
        return Err(policy.unusable(problem));
    }
    let measured = || rights::while_measuring(policy.own_tables(), job);
    let fresh = || rights::under_own_settings(|| rights::under_latest_snapshot(measured));
    rights::run_for(policy.relation, fresh)
}

/// Effect of a policy that drops unsafe rows.
struct Dropped {
    /// Number of rows that were deleted for the policy.
    rows: i64,
    /// What was measured before.
    measured: Measured,
}

/// Deletes the rows inserted by the statement that break one of the policies, and returns how many for each.
/// Repeats until no such row is left, because a deletion may make other rows unsafe. That ends, because every
/// round deletes a row that the statement has inserted.
fn drop_unsafe(batch: &Batch, policies: &[Rc<Policy>], inserted: Vec<Place>) -> Result<Vec<Dropped>, Error> {
    let (_, command) = statement();
    let mut left: HashSet<(Oid, u64)> = inserted.into_iter().map(key).collect();
    let all = left.len();
    let mut dropped: Vec<Dropped> = Vec::with_capacity(policies.len());
    loop {
        let before = left.len();
        for (place, policy) in policies.iter().enumerate() {
            // The transition table still has the rows that were deleted for another policy.
            let measured = measured_for(batch, policy, left.len() < all)?;
            if place == dropped.len() {
                dropped.push(Dropped { rows: 0, measured });
            }
            if measured.is_allowed(policy.limit) {
                continue;
            }
            let Some(found) = for_table(policy, || statement::unsafe_rows(batch, policy))? else {
                return refuse(batch, policy, measured);
            };
            let (doomed, kept): (Vec<Place>, Vec<Place>) =
                found.into_iter().partition(|&place| left.contains(&key(place)));
            // Rows that were there before stay. Others were changed by the statement or by a trigger that it
            // fired, or were not collected because that trigger is disabled.
            if !dropping::are_older(&kept, command) {
                return refuse(batch, policy, measured);
            }
            dropping::delete(&doomed)?;
            for row in &doomed {
                left.remove(&key(*row));
            }
            dropped[place].rows += doomed.len() as i64;
        }
        if left.len() == before {
            return Ok(dropped);
        }
    }
}

fn key((table, row): Place) -> (Oid, u64) {
    (table, item_pointer_to_u64(row))
}

fn refuse<R>(batch: &Batch, policy: &Policy, measured: Measured) -> Result<R, Error> {
    judge::record(
        batch.event.name(),
        policy,
        Some(measured),
        Outcome::Refused,
        Lasting::Always,
    )?;
    Err(judge::refusal(policy, measured, Change::Refused))
}

fn tell_dropped(batch: &Batch, policy: &Policy, dropped: i64) {
    let message = format!(
        "{dropped} of {} rows left out of {}: {} of {}",
        batch.rows,
        policy.relation_name(),
        policy.measure,
        policy.limit.rule()
    );
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
        .set_detail(format!("Policy {} drops unsafe rows.", policy.number))
        .report(PgLogLevel::NOTICE);
}
