//! Deletes rows that a statement has just inserted.
//!
//! The rows are deleted as logical replication does it: without planning a query, without checking
//! privileges, and with the rights of the current user, who inserted them. So triggers on the table run with the
//! same rights as those that the INSERT has fired, never with those of the table's owner.

use crate::error::Error;
use crate::guard::export_table::statement::Place;
use crate::guard::rights;
use pgrx::pg_sys::{self, CommandId, Oid};
use std::collections::HashMap;

/// Deletes rows that the current statement has inserted, and makes that visible. Fires only AFTER … FOR EACH ROW
/// triggers and checks foreign keys: see [`super::obstacle`].
pub fn delete(rows: &[Place]) -> Result<(), Error> {
    for (table, rows) in by_table(rows) {
        // SAFETY: the rows were inserted by this transaction, so their table exists.
        unsafe {
            pg_sys::CommandCounterIncrement();
            rights::under_latest_snapshot(|| delete_from(table, rows))?;
            pg_sys::CommandCounterIncrement();
        }
    }
    Ok(())
}

/// Returns whether all rows were written before the command `statement` of this transaction began.
pub fn are_older(rows: &[Place], statement: CommandId) -> bool {
    rights::under_latest_snapshot(|| {
        // SAFETY: the rows were read by this statement, which keeps their tables locked.
        by_table(rows)
            .into_iter()
            .all(|(table, rows)| unsafe { are_older_in(table, rows, statement) })
    })
}

fn by_table(rows: &[Place]) -> HashMap<Oid, Vec<pg_sys::ItemPointerData>> {
    let mut by_table: HashMap<Oid, Vec<pg_sys::ItemPointerData>> = HashMap::new();
    for &(table, row) in rows {
        by_table.entry(table).or_default().push(row);
    }
    by_table
}

/// Deletes rows of one table.
///
/// # Safety
/// The table exists, and the active snapshot sees the rows.
unsafe fn delete_from(table: Oid, rows: Vec<pg_sys::ItemPointerData>) -> Result<(), Error> {
    // SAFETY: the table stays open, and the executor state alive, until the triggers have been fired. If an error
    // is raised, the abort of the transaction releases both.
    unsafe {
        let relation = pg_sys::table_open(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE);
        let state = pg_sys::CreateExecutorState();
        (*state).es_snapshot = pg_sys::GetActiveSnapshot();
        (*state).es_output_cid = pg_sys::GetCurrentCommandId(true);
        let target = pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
        (*target).type_ = pg_sys::NodeTag::T_ResultRelInfo;
        pg_sys::InitResultRelInfo(target, relation, 1, std::ptr::null_mut(), 0);
        // Here the triggers find the table.
        (*state).es_opened_result_relations = pg_sys::lappend(std::ptr::null_mut(), target.cast());
        let triggers = (*target).ri_TrigDesc;
        if !triggers.is_null() && (*triggers).trig_delete_before_row {
            return Err(Error::Internal("a trigger could keep a row that must be deleted"));
        }
        // Only triggers BEFORE DELETE use it.
        let mut recheck = pg_sys::EPQState::default();
        let slot = pg_sys::table_slot_create(relation, &mut (*state).es_tupleTable);
        pg_sys::AfterTriggerBeginQuery();
        for row in rows {
            pg_sys::check_for_interrupts!();
            (*slot).tts_tid = row;
            pg_sys::ExecSimpleRelationDelete(target, state, &mut recheck, slot);
            // The conditions of triggers are evaluated there.
            if !(*state).es_per_tuple_exprcontext.is_null() {
                pg_sys::MemoryContextReset((*(*state).es_per_tuple_exprcontext).ecxt_per_tuple_memory);
            }
        }
        pg_sys::AfterTriggerEndQuery(state);
        pg_sys::ExecResetTupleTable((*state).es_tupleTable, false);
        pg_sys::FreeExecutorState(state);
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
    }
    Ok(())
}

/// Returns whether all rows of a table were written before a command of this transaction began.
///
/// # Safety
/// The table exists and is locked.
unsafe fn are_older_in(table: Oid, rows: Vec<pg_sys::ItemPointerData>, statement: CommandId) -> bool {
    // SAFETY: the table is open while its rows are fetched, and every table access method and slot has these
    // functions.
    unsafe {
        let relation = pg_sys::table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        let slot = pg_sys::table_slot_create(relation, std::ptr::null_mut());
        let attribute = |number: i32| {
            let mut is_null = false;
            let get = (*(*slot).tts_ops).getsysattr?;
            Some(get(slot, number, &mut is_null))
        };
        let is_older = |mut row: pg_sys::ItemPointerData| {
            let fetch = (*(*relation).rd_tableam).tuple_fetch_row_version?;
            if !fetch(relation, &mut row, pg_sys::GetActiveSnapshot(), slot) {
                return Some(false);
            }
            let writer = attribute(pg_sys::MinTransactionIdAttributeNumber)?.value() as u32;
            let command = attribute(pg_sys::MinCommandIdAttributeNumber)?.value() as CommandId;
            let is_ours = pg_sys::TransactionIdIsCurrentTransactionId(writer.into());
            Some(!is_ours || command < statement)
        };
        let are_older = rows.into_iter().all(|row| is_older(row) == Some(true));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        are_older
    }
}
