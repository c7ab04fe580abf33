//! Export tables: tables with a policy that says what becomes of unsafe rows. Triggers, which
//! [`super::arming`] makes, judge what every statement leaves behind, whoever runs it.
//!
//! Two transactions are never judged at once: each waits for its turn before it changes the first row. What
//! counts is what is there when it is judged, also where the transaction itself sees an older state.

use crate::error::{Problem, Way};
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

/// Those of the policies that make a table an export table.
pub fn policies_of(relation: Oid) -> Result<Vec<Rc<Policy>>, Problem> {
    let mut policies = policy::all()?.of([relation]);
    policies.retain(|policy| policy.on_rows.is_some());
    Ok(policies)
}

/// export_turn(): BEFORE … FOR EACH STATEMENT
#[pg_extern(sql = false)]
fn export_turn(fcinfo: FunctionCallInfo) {
    // SAFETY: a call of this function.
    let turn = unsafe { trigger_of(fcinfo) }.and_then(|trigger| {
        // SAFETY: the trigger is running.
        take_turn(unsafe { (*(*trigger).tg_relation).rd_id })
    });
    turn.unwrap_or_else(Problem::raise);
}

/// export_collect(): AFTER INSERT … FOR EACH ROW
#[pg_extern(sql = false)]
fn export_collect(fcinfo: FunctionCallInfo) {
    // SAFETY: a call of this function; the trigger is running.
    let collected = unsafe { trigger_of(fcinfo).and_then(|trigger| collect(&*trigger)) };
    collected.unwrap_or_else(Problem::raise);
}

/// export_judge(): AFTER … FOR EACH STATEMENT, with transition tables
#[pg_extern(sql = false)]
fn export_judge(fcinfo: FunctionCallInfo) {
    // SAFETY: a call of this function; the trigger runs until it returns.
    let batch = unsafe {
        trigger_of(fcinfo)
            .and_then(|trigger| Batch::new(trigger).ok_or(Problem::NotTheTrigger("export_judge")))
    };
    batch
        .and_then(|batch| judge(&batch))
        .unwrap_or_else(Problem::raise);
}

/// # Safety
/// The call of a function.
unsafe fn trigger_of(fcinfo: FunctionCallInfo) -> Result<*mut TriggerData, Problem> {
    // SAFETY: by the contract of the function.
    unsafe {
        match called_as_trigger(fcinfo) {
            true => Ok((*fcinfo).context.cast()),
            false => Err(Problem::NotTheTrigger("a function of export tables")),
        }
    }
}

/// Wait until no other transaction has changed the export table, or one that is judged together with it. The
/// turn ends with the transaction.
fn take_turn(relation: Oid) -> Result<(), Problem> {
    let policies = policies_of(relation)?;
    if policies.is_empty() {
        return Ok(());
    }
    let mut tables: Vec<Oid> = policies.iter().map(|policy| policy.relation).collect();
    tables.sort_by_key(|table| table.to_u32());
    tables.dedup();
    let table_of_policies = own_tables::policies()?;
    // One after the other in the same order everywhere; and of a tree only the top, so that who holds the
    // lock of a part never waits for that of the whole.
    for &table in &tables {
        let is_below = |&other: &Oid| other != table && catalog::with_heirs(other).contains(&table);
        if tables.len() == 1 || !tables.iter().any(is_below) {
            // SAFETY: a lock of this transaction, on an object that nobody else locks.
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

/// A statement within a transaction.
type Statement = (pg_sys::SubTransactionId, pg_sys::CommandId);

/// Where the rows are that statements which are under way have inserted.
#[derive(Default)]
struct Collected {
    transaction: pg_sys::TransactionId,
    rows: HashMap<Statement, Vec<Place>>,
}

thread_local! {
    static COLLECTED: RefCell<Collected> = RefCell::default();
    /// The table from which the guard is dropping rows, and the command that does.
    static DROPPING: Cell<Option<(Oid, pg_sys::CommandId)>> = const { Cell::new(None) };
}

/// The statement whose triggers are running: they run under its snapshot.
fn statement() -> Statement {
    // SAFETY: both read the state of this backend; a trigger runs with an active snapshot.
    unsafe {
        (
            pg_sys::GetCurrentSubTransactionId(),
            (*pg_sys::GetActiveSnapshot()).curcid,
        )
    }
}

/// # Safety
/// A trigger that is running.
unsafe fn collect(trigger: &TriggerData) -> Result<(), Problem> {
    // SAFETY: by the contract of the function.
    unsafe {
        let expected = pg_sys::TRIGGER_EVENT_INSERT | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_AFTER;
        let kinds = pg_sys::TRIGGER_EVENT_OPMASK | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_BEFORE;
        if trigger.tg_event & kinds != expected || trigger.tg_trigtuple.is_null() {
            return Err(Problem::NotTheTrigger("export_collect"));
        }
        let place = ((*trigger.tg_relation).rd_id, (*trigger.tg_trigtuple).t_self);
        COLLECTED.with_borrow_mut(|collected| {
            let transaction = pg_sys::GetTopTransactionIdIfAny();
            if collected.transaction != transaction {
                // What is left of statements that failed.
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

fn judge(batch: &Batch) -> Result<(), Problem> {
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
    // Functions of others come last.
    policies.sort_by_key(|policy| policy.measure.is_function());
    // SAFETY: as SPI does before a query, so that what the statement has changed can be seen.
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

/// What counts is what is there now, and all of it: not what whoever changes the table may see of it.
fn measured_for(batch: &Batch, policy: &Policy, whole: bool) -> Result<Measured, Problem> {
    let measured = for_table(policy, || statement::measure(batch, policy, whole));
    judge::or_refused(batch.event.name(), policy, measured)
}

fn for_table<R>(policy: &Policy, job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    if let Some(problem) = policy.problem_of_table()? {
        return Err(policy.unusable(problem));
    }
    let measured = || rights::while_measuring(policy.own_tables(), job);
    let fresh = || rights::under_own_settings(|| rights::under_latest_snapshot(measured));
    rights::run_for(policy.relation, fresh)
}

/// Take those of the statement's rows out again that break one of the policies; how many they were. Without
/// them others may be unsafe too: so until none is.
fn drop_unsafe(batch: &Batch, policies: &[Rc<Policy>], inserted: Vec<Place>) -> Result<i64, Problem> {
    // Else somebody has switched off the trigger that collects them.
    let are_all_known = inserted.len() as i64 >= batch.rows;
    let mut left: HashSet<(Oid, u64)> = inserted.into_iter().map(key).collect();
    let mut outcome: Vec<(i64, Option<Measured>)> = vec![(0, None); policies.len()];
    loop {
        let before = left.len();
        for (policy, (dropped, first)) in policies.iter().zip(&mut outcome) {
            let measured = measured_for(batch, policy, false)?;
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

fn refuse<R>(batch: &Batch, policy: &Policy, measured: Measured) -> Result<R, Problem> {
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
        "{dropped} of {} rows left out of {}: unsafe by its {}, {}",
        batch.rows,
        policy.relation_name(),
        policy.measure,
        policy.limit.rule()
    );
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
        .set_detail(format!("Policy {}.", policy.number))
        .report(PgLogLevel::NOTICE);
}

/// Delete rows, for their tables. `false` where a trigger of somebody else has kept one.
fn delete(rows: &[Place]) -> Result<bool, Problem> {
    let mut by_table: HashMap<Oid, Vec<pg_sys::ItemPointerData>> = HashMap::new();
    for &(table, row) in rows {
        by_table.entry(table).or_default().push(row);
    }
    for (table, rows) in by_table {
        // Triggers of the table's owner may run, as him: they do not find what the inserting user has made.
        let deleted = rights::run_for(table, || rights::under_safe_path(|| delete_from(table, &rows)))?;
        if deleted != rows.len() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn delete_from(table: Oid, rows: &[pg_sys::ItemPointerData]) -> Result<usize, Problem> {
    let query = format!(
        "DELETE FROM ONLY {} WHERE ctid = ANY ($1)",
        Relation::whole("relation", Some(table))?.name()
    );
    let mut parameters = Parameters::default();
    parameters.add(
        pg_sys::TIDARRAYOID,
        rows.to_vec()
            .into_datum()
            .ok_or(Problem::Internal("an array of numbers could not be made"))?,
    );
    // SAFETY: SPI does so too before the query; the number is that of the next command.
    let command = unsafe {
        pg_sys::CommandCounterIncrement();
        pg_sys::GetCurrentCommandId(false)
    };
    let before = DROPPING.replace(Some((table, command)));
    let _restore = Restore(before);
    Spi::connect(|_| {
        // SAFETY: SPI is connected; an array of tid for an array of tid.
        let answer = unsafe { Answer::to(&query, &parameters, false)? };
        Ok(answer.rows())
    })
}

/// Puts [`DROPPING`] back, however the deletion ends.
struct Restore(Option<(Oid, pg_sys::CommandId)>);

impl Drop for Restore {
    fn drop(&mut self) {
        DROPPING.set(self.0);
    }
}

/// Whether the statement is the guard's own deletion, which is judged when it is done.
fn is_own_dropping(batch: &Batch) -> bool {
    let (_, command) = statement();
    batch.event == Event::Delete && DROPPING.get() == Some((batch.relation, command))
}
