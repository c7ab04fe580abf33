//! Creates and drops the triggers of export tables.
//!
//! A statement fires the statement triggers of the table that it names and of no other. So all tables above
//! and below an export table in inheritance and partition trees have the triggers, too. An event trigger adds
//! them to tables that are attached later, and refuses commands that would replace them by others.

use crate::error::Error;
use crate::guard::export_table::own_triggers::{OWN_TRIGGERS, OwnTrigger, Present};
use crate::guard::export_table::{obstacle, triggers};
use crate::guard::rule::OnRows;
use crate::guard::tree::list;
use crate::guard::{policy, rights};
use crate::pg::call::event_trigger_data;
use crate::pg::catalog::name_of;
use crate::pg::query::{Parameters, oids};
use pgrx::pg_sys::{self, FunctionCallInfo, NodeTag, Oid};
use pgrx::prelude::*;
use std::cell::Cell;

/// Creates the triggers that the policies of a table need, on the table and all tables above and below it.
/// Runs as the current user, who must own these tables. Triggers that were disabled are enabled again, and those
/// that only look like the guard's are replaced.
pub fn arm(relation: Oid) -> Result<(), Error> {
    fit_family(relation, true)
}

/// Drops the triggers that no policy needs any more. Triggers on tables of other owners stay, but do nothing.
pub fn disarm(relation: Oid) -> Result<(), Error> {
    fit_family(relation, false)
}

thread_local! {
    /// Whether triggers are being changed. That fires the event trigger, which has nothing to do then.
    static FITTING: Cell<bool> = const { Cell::new(false) };
}

struct Fitted;

impl Drop for Fitted {
    fn drop(&mut self) {
        FITTING.set(false);
    }
}

fn fit_family(relation: Oid, also_of_others: bool) -> Result<(), Error> {
    FITTING.set(true);
    let _fitted = Fitted;
    let family = from_the_top(policy::family_of(&[relation])?)?;
    // A trigger that only looks like ours may be in the way on a partition, so these go first everywhere.
    for step in [remove, add] {
        for &member in &family {
            for present in Present::on(&[member])? {
                if present.is_ours_to_change || also_of_others {
                    rights::under_own_settings(|| step(&present))?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the tables of a family with parents first, because creating a row trigger on a partitioned table
/// creates it on the partitions, too.
fn from_the_top(family: Vec<Oid>) -> Result<Vec<Oid>, Error> {
    const QUERY: &str = "
        WITH RECURSIVE above(member, relation, generation) AS (
            SELECT m, m, 0 FROM unnest($1) m
            UNION ALL SELECT a.member, i.inhparent, a.generation + 1 FROM above a, pg_inherits i WHERE i.inhrelid = a.relation)
        SELECT a.member FROM above a GROUP BY a.member ORDER BY max(a.generation), a.member";
    if family.len() == 1 {
        return Ok(family);
    }
    let parameters = Parameters::of_oids(&family)?;
    rights::as_guard(|| oids(QUERY, &parameters))
}

/// Returns the triggers that the policies of a table need.
fn wanted_on(relation: Oid) -> Result<Vec<&'static OwnTrigger>, Error> {
    let policies = triggers::policies_of(relation)?;
    let drops = policies.iter().any(|policy| policy.on_rows == Some(OnRows::Drop));
    let is_wanted = |trigger: &&OwnTrigger| !policies.is_empty() && (drops || !trigger.is_for_dropping());
    Ok(OWN_TRIGGERS.iter().filter(is_wanted).collect())
}

/// Drops the triggers of a table that no policy needs, and those that only look like ours.
fn remove(present: &Present) -> Result<(), Error> {
    let wanted = wanted_on(present.relation)?;
    let is_unwanted = |name: &&String| !wanted.iter().any(|trigger| trigger.name == **name);
    let unwanted = present.removable.iter().filter(is_unwanted);
    for name in unwanted.chain(&present.forged_removable) {
        change(&format!("DROP TRIGGER {name} ON {}", present.table))?;
    }
    Ok(())
}

/// Creates and enables the triggers of a table that its policies need.
fn add(present: &Present) -> Result<(), Error> {
    let Present { table, .. } = present;
    for trigger in wanted_on(present.relation)? {
        let name = trigger.name;
        let is_among = |names: &[String]| names.iter().any(|other| other == name);
        if !is_among(&present.own) {
            change(&trigger.creation(table))?;
        }
        if !is_among(&present.firing) {
            // ALWAYS, so that the trigger also fires if session_replication_role is replica.
            change(&format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"))?;
        }
    }
    Ok(())
}

fn change(command: &str) -> Result<(), Error> {
    Spi::connect_mut(|client| {
        client
            .update(command, None, &[])
            .map(|_| ())
            .map_err(|_| Error::Internal("a trigger could not be changed"))
    })
}

/// is_armed(relation regclass)
#[pg_extern(sql = false)]
fn is_armed(relation: Oid) -> bool {
    are_armed(relation).unwrap_or_else(Error::raise)
}

/// Returns whether an export table, and all tables above and below it, have the triggers that they need, in the
/// state ENABLE ALWAYS. A foreign table never has.
fn are_armed(relation: Oid) -> Result<bool, Error> {
    let family = policy::family_of(&[relation])?;
    let all = Present::on(&family)?;
    for present in &all {
        let is_firing = |trigger: &&OwnTrigger| present.firing.iter().any(|name| name == trigger.name);
        if !wanted_on(present.relation)?.iter().all(is_firing) {
            return Ok(false);
        }
    }
    Ok(all.len() == family.len())
}

/// arm_relatives(): event trigger that adds triggers to tables that are attached below an export table. Refuses
/// foreign tables there, and triggers on export tables that only look like the guard's.
#[pg_extern(sql = false)]
fn arm_relatives(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call.
    let armed = match unsafe { brings_relatives(fcinfo) } {
        None => Err(Error::NotTheTrigger("arm_relatives")),
        Some(false) => Ok(()),
        Some(true) => arm_changed(),
    };
    armed.unwrap_or_else(Error::raise);
}

/// Returns whether the command may have put a table below another one, or `None` if the function was not
/// called as an event trigger.
///
/// # Safety
/// `fcinfo` is a valid function call.
unsafe fn brings_relatives(fcinfo: FunctionCallInfo) -> Option<bool> {
    // SAFETY: by the contract of the function.
    unsafe {
        let command = (*event_trigger_data(fcinfo)?).parsetree;
        if FITTING.get() {
            return Some(false);
        }
        // Other ALTER TABLE commands are ignored, because pg_restore runs some before and after it creates
        // the triggers itself.
        if (*command).type_ != NodeTag::T_AlterTableStmt {
            return Some(true);
        }
        let commands = (*command.cast::<pg_sys::AlterTableStmt>()).cmds;
        let brings = |command: *mut pg_sys::AlterTableCmd| {
            matches!(
                (*command).subtype,
                pg_sys::AlterTableType::AT_AttachPartition | pg_sys::AlterTableType::AT_AddInherit
            )
        };
        Some(list(commands).into_iter().any(brings))
    }
}

fn arm_changed() -> Result<(), Error> {
    const TABLES: &str = "
        SELECT DISTINCT d.objid FROM pg_event_trigger_ddl_commands() d
         WHERE d.classid = 'pg_class'::regclass AND d.object_type IN ('table', 'foreign table')";
    const WITH_TRIGGERS: &str = "
        SELECT DISTINCT t.tgrelid FROM pg_event_trigger_ddl_commands() d JOIN pg_trigger t ON t.oid = d.objid
         WHERE d.classid = 'pg_trigger'::regclass";
    if !policy::all()?.iter().any(|policy| policy.on_rows.is_some()) {
        return Ok(());
    }
    let listed = |query| {
        rights::under_own_settings(|| rights::under_latest_snapshot(|| oids(query, &Parameters::default())))
    };
    for relation in listed(TABLES)? {
        check_tree(relation)?;
        if !triggers::policies_of(relation)?.is_empty() {
            arm(relation)?;
        }
    }
    for relation in listed(WITH_TRIGGERS)? {
        check_triggers(relation)?;
    }
    Ok(())
}

/// Returns an error if a relation is in the tree of an export table together with a foreign table.
fn check_tree(relation: Oid) -> Result<(), Error> {
    let family = policy::family_of(&[relation])?;
    let Some(problem) = obstacle::foreign_table(&family)? else {
        return Ok(());
    };
    for &member in &family {
        if let Some(policy) = triggers::policies_of(member)?.first() {
            return Err(Error::NotJudgeable {
                relation: name_of(policy.relation),
                problem,
            });
        }
    }
    Ok(())
}

/// Returns an error if an export table has a trigger that only looks like the guard's. A trigger of a
/// partitioned table is also one of its partitions.
fn check_triggers(relation: Oid) -> Result<(), Error> {
    for present in Present::on(&policy::family_of(&[relation])?)? {
        if !wanted_on(present.relation)?.is_empty() {
            present.check()?;
        }
    }
    Ok(())
}
