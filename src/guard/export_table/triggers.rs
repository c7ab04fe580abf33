//! The triggers of export tables: tables with a policy whose `on_rows` says how unsafe rows are treated.
//! [`super::install`] creates the triggers, which judge the table after every statement, whichever role runs
//! it.
//!
//! A statement fires up to three kinds of trigger. `export_turn` waits until no other transaction has
//! uncommitted changes in the table, so that two transactions are never judged at once. `export_collect`
//! notes where inserted rows are stored. `export_judge` measures the table under the latest snapshot, even if
//! the transaction itself sees an older state, and then allows, refuses, warns, or deletes unsafe rows that
//! the statement inserted.

use crate::error::{Error, Way};
use crate::guard::export_table::statement;
use crate::guard::export_table::statement::{Batch, Event, Place};
use crate::guard::judge::Measured;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::own_tables;
use crate::guard::policy::Policy;
use crate::guard::rule::OnRows;
use crate::guard::{judge, policy, rights};
use crate::input::relation::Relation;
use crate::pg::catalog;
use crate::pg::query::{Answer, Parameters};
use pgrx::itemptr::item_pointer_to_u64;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, FunctionCallInfo, Oid, TriggerData};
use pgrx::prelude::*;
use pgrx::trigger_support::called_as_trigger;
use std::cell::{Cell, RefCell};
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
    let turn = unsafe { trigger_of(fcinfo) }.and_then(|trigger| {
        // SAFETY: the trigger is running, so its data and relation are valid.
        take_turn(unsafe { (*(*trigger).tg_relation).rd_id })
    });
    turn.unwrap_or_else(Error::raise);
}

/// export_collect(): trigger AFTER INSERT … FOR EACH ROW.
#[pg_extern(sql = false)]
fn export_collect(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call, and the trigger is running, so its data is valid.
    let collected = unsafe { trigger_of(fcinfo).and_then(|trigger| collect(&*trigger)) };
    collected.unwrap_or_else(Error::raise);
}

/// export_judge(): trigger AFTER … FOR EACH STATEMENT, with transition tables.
#[pg_extern(sql = false)]
fn export_judge(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call, and the trigger runs until this function returns.
    let batch = unsafe {
        trigger_of(fcinfo).and_then(|trigger| Batch::new(trigger).ok_or(Error::NotTheTrigger("export_judge")))
    };
    batch.and_then(|batch| judge(&batch)).unwrap_or_else(Error::raise);
}

/// Returns the data of the trigger, or an error if the function was not called as one.
///
/// # Safety
/// `fcinfo` is a valid function call.
unsafe fn trigger_of(fcinfo: FunctionCallInfo) -> Result<*mut TriggerData, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        match called_as_trigger(fcinfo) {
            true => Ok((*fcinfo).context.cast()),
            false => Err(Error::NotTheTrigger("a function of export tables")),
        }
    }
}

/// Waits until no other running transaction has changed the export table, or one that is judged together with
/// it. The turn ends with the transaction.
fn take_turn(relation: Oid) -> Result<(), Error> {
    let policies = policies_of(relation)?;
    if policies.is_empty() {
        return Ok(());
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
    /// Table from which the guard is deleting unsafe rows, and the command that deletes them.
    static DROPPING: Cell<Option<(Oid, pg_sys::CommandId)>> = const { Cell::new(None) };
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
/// The trigger is running.
unsafe fn collect(trigger: &TriggerData) -> Result<(), Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let expected = pg_sys::TRIGGER_EVENT_INSERT | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_AFTER;
        let kinds = pg_sys::TRIGGER_EVENT_OPMASK | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_BEFORE;
        if trigger.tg_event & kinds != expected || trigger.tg_trigtuple.is_null() {
            return Err(Error::NotTheTrigger("export_collect"));
        }
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
        Ok(())
    }
}

fn judge(batch: &Batch) -> Result<(), Error> {
    if is_own_dropping(batch) {
        return Ok(());
    }
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
    let dropped = drop_unsafe(batch, &dropping, inserted.unwrap_or_default())?;
    for policy in &others {
        let measured = measured_for(batch, policy, dropped > 0)?;
        let (outcome, lasting) = match (measured.is_allowed(policy.limit), policy.on_rows) {
            (true, _) => (Outcome::Allowed, Lasting::IfCommitted),
            (false, Some(OnRows::Warn)) => (Outcome::Warned, Lasting::IfCommitted),
            (false, _) => (Outcome::Refused, Lasting::Always),
        };
        judge::record(batch.event.name(), policy, Some(measured), outcome, lasting)?;
        match outcome {
            Outcome::Refused => return Err(judge::refusal(policy, measured, Way::In)),
            Outcome::Warned => judge::refusal(policy, measured, Way::InAnyhow).warn(),
            _ => (),
        }
    }
    Ok(())
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

/// Deletes the rows inserted by the statement that break one of the policies, and returns their number.
/// Repeats until no such row is left, because a deletion may make other rows unsafe.
fn drop_unsafe(batch: &Batch, policies: &[Rc<Policy>], inserted: Vec<Place>) -> Result<i64, Error> {
    // Otherwise the trigger that collects them was disabled.
    let are_all_known = inserted.len() as i64 >= batch.rows;
    let mut left: HashSet<(Oid, u64)> = inserted.into_iter().map(key).collect();
    let all = left.len();
    let mut outcome: Vec<(i64, Option<Measured>)> = vec![(0, None); policies.len()];
    loop {
        let before = left.len();
        for (policy, (dropped, first)) in policies.iter().zip(&mut outcome) {
            // The transition table still has the rows that were deleted for another policy.
            let measured = measured_for(batch, policy, left.len() < all)?;
            first.get_or_insert(measured);
            if measured.is_allowed(policy.limit) {
                continue;
            }
            let found = for_table(policy, || statement::unsafe_rows(batch, policy))?;
            let Some(found) = found.filter(|_| are_all_known) else {
                return refuse(batch, policy, measured);
            };
            let doomed: Vec<Place> = found
                .into_iter()
                .filter(|&place| left.contains(&key(place)))
                .collect();
            if !delete(&doomed)? {
                return refuse(batch, policy, measured);
            }
            for place in &doomed {
                left.remove(&key(*place));
            }
            *dropped += doomed.len() as i64;
        }
        if left.len() == before {
            break;
        }
    }
    for (policy, (dropped, measured)) in policies.iter().zip(&outcome) {
        let outcome = if *dropped > 0 {
            Outcome::Dropped
        } else {
            Outcome::Allowed
        };
        let measured = measured.map(|measured| Measured {
            unsafe_rows: Some(*dropped),
            ..measured
        });
        judge::record(
            batch.event.name(),
            policy,
            measured,
            outcome,
            Lasting::IfCommitted,
        )?;
        if *dropped > 0 {
            tell_dropped(batch, policy, *dropped);
        }
    }
    Ok(outcome.iter().map(|(dropped, _)| dropped).sum())
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
    Err(judge::refusal(policy, measured, Way::In))
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

/// Deletes rows as the owners of their tables. Returns false if a trigger of a user has kept one of them.
fn delete(rows: &[Place]) -> Result<bool, Error> {
    let mut by_table: HashMap<Oid, Vec<pg_sys::ItemPointerData>> = HashMap::new();
    for &(table, row) in rows {
        by_table.entry(table).or_default().push(row);
    }
    for (table, rows) in by_table {
        // Triggers on the table run as the table's owner. The safe search_path keeps them from finding
        // objects that the inserting user created.
        let deleted = rights::run_for(table, || rights::under_safe_path(|| delete_from(table, &rows)))?;
        if deleted != rows.len() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn delete_from(table: Oid, rows: &[pg_sys::ItemPointerData]) -> Result<usize, Error> {
    let query = format!(
        "DELETE FROM ONLY {} WHERE ctid = ANY ($1)",
        Relation::whole("relation", Some(table))?.name()
    );
    let mut parameters = Parameters::default();
    parameters.add(
        pg_sys::TIDARRAYOID,
        rows.to_vec()
            .into_datum()
            .ok_or(Error::Internal("an array of numbers could not be made"))?,
    );
    // SAFETY: allowed here, because SPI does the same before the query. Its command then has this number.
    let command = unsafe {
        pg_sys::CommandCounterIncrement();
        pg_sys::GetCurrentCommandId(false)
    };
    let before = DROPPING.replace(Some((table, command)));
    let _restore = Restore(before);
    Spi::connect(|_| {
        // SAFETY: SPI is connected, and the parameter is an array of tid, as declared.
        let answer = unsafe { Answer::to(&query, &parameters, false)? };
        Ok(answer.rows())
    })
}

/// Restores [`DROPPING`] when dropped, including while an error unwinds.
struct Restore(Option<(Oid, pg_sys::CommandId)>);

impl Drop for Restore {
    fn drop(&mut self) {
        DROPPING.set(self.0);
    }
}

/// Returns whether the statement is the guard's own deletion. The table is judged again after it.
fn is_own_dropping(batch: &Batch) -> bool {
    let (_, command) = statement();
    batch.event == Event::Delete && DROPPING.get() == Some((batch.relation, command))
}
