//! Creates and drops the triggers of export tables.
//!
//! A statement fires the statement triggers of the table that it names and of no other. So all tables above
//! and below an export table in inheritance and partition trees have the triggers, too. An event trigger adds
//! them to tables that are attached later.

use crate::error::Error;
use crate::guard::export_table::triggers;
use crate::guard::tree::list;
use crate::guard::rule::OnRows;
use crate::guard::{policy, rights};
use crate::pg::call::event_trigger_data;
use crate::pg::query::oids;
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::{self, FunctionCallInfo, NodeTag, Oid};
use pgrx::prelude::*;
use std::cell::Cell;

/// Trigger of an export table.
struct Trigger {
    name: &'static str,
    /// Event that fires the trigger, as CREATE TRIGGER has it before ON.
    event: &'static str,
    what: &'static str,
}

const OF_STATEMENTS: [Trigger; 4] = [
    Trigger {
        name: "disclosure_turn",
        event: "BEFORE INSERT OR UPDATE OR DELETE",
        what: "FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_turn()",
    },
    Trigger {
        name: "disclosure_inserted",
        event: "AFTER INSERT",
        what: "REFERENCING NEW TABLE AS disclosure_new FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_judge()",
    },
    Trigger {
        name: "disclosure_updated",
        event: "AFTER UPDATE",
        what: "REFERENCING NEW TABLE AS disclosure_new OLD TABLE AS disclosure_old FOR EACH STATEMENT \
               EXECUTE FUNCTION disclosure_internal.export_judge()",
    },
    Trigger {
        name: "disclosure_deleted",
        event: "AFTER DELETE",
        what: "REFERENCING OLD TABLE AS disclosure_old FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.export_judge()",
    },
];

/// Trigger that is needed only if a policy drops unsafe rows.
const OF_ROWS: Trigger = Trigger {
    name: "disclosure_collect",
    event: "AFTER INSERT",
    what: "FOR EACH ROW EXECUTE FUNCTION disclosure_internal.export_collect()",
};

/// Creates the triggers that the policies of a table need, on the table and all tables above and below it.
/// Runs as the current user, who must own these tables. Triggers that were disabled are enabled again.
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
    for member in from_the_top(policy::family_of(&[relation])?)? {
        rights::under_own_settings(|| fit(member, also_of_others))?;
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

/// Triggers of the guard that exist on a table.
struct Present {
    /// Quoted schema and name of the table.
    table: String,
    is_ours_to_change: bool,
    /// Triggers that can be dropped by themselves: not those that belong to a trigger of the parent.
    removable: Vec<String>,
    firing: Vec<String>,
    all: Vec<String>,
}

fn present_on(relation: Oid) -> Result<Option<Present>, Error> {
    // Foreign tables are left out, because they cannot have transition tables. Rows inserted into them
    // directly are not judged.
    const QUERY: &str = "
        SELECT format('%I.%I', n.nspname, c.relname), pg_has_role(c.relowner, 'USAGE'),
               coalesce(array_agg(t.tgname::text) FILTER (WHERE t.tgparentid = 0), '{}'),
               coalesce(array_agg(t.tgname::text) FILTER (WHERE t.tgenabled = 'A'), '{}'),
               coalesce(array_agg(t.tgname::text) FILTER (WHERE t.tgname IS NOT NULL), '{}')
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          LEFT JOIN (pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = 'disclosure_internal'::regnamespace)
            ON t.tgrelid = c.oid AND t.tgname LIKE 'disclosure\\_%'
         WHERE c.oid = ANY ($1) AND c.relkind IN ('r', 'p')
         GROUP BY c.oid, n.nspname, c.relname, c.relowner";
    let parameters = Parameters::of_oids(&[relation])?;
    Spi::connect(|_| {
        // SAFETY: SPI is connected, the parameter is an array of OIDs, and the columns are text, boolean and
        // three times text[].
        unsafe {
            let answer = Answer::to(QUERY, &parameters, false)?;
            if answer.rows() == 0 {
                return Ok(None);
            }
            let names = |column| answer.get::<Vec<String>>(0, column).unwrap_or_default();
            Ok(Some(Present {
                table: answer.get(0, 0).ok_or(Error::Internal("a table has no name"))?,
                is_ours_to_change: answer.get(0, 1).unwrap_or(false),
                removable: names(2),
                firing: names(3),
                all: names(4),
            }))
        }
    })
}

fn fit(relation: Oid, also_of_others: bool) -> Result<(), Error> {
    let policies = triggers::policies_of(relation)?;
    let drops = policies.iter().any(|policy| policy.on_rows == Some(OnRows::Drop));
    let Some(present) = present_on(relation)? else {
        return Ok(());
    };
    if !present.is_ours_to_change && !also_of_others {
        return Ok(());
    }
    let table = &present.table;
    let candidates = OF_STATEMENTS.iter().chain([&OF_ROWS]);
    for trigger in candidates {
        let Trigger { name, event, what } = trigger;
        let is_wanted = !policies.is_empty() && (drops || *name != OF_ROWS.name);
        let is_among = |names: &[String]| names.iter().any(|other| other == name);
        if is_wanted {
            if !is_among(&present.all) {
                change(&format!("CREATE TRIGGER {name} {event} ON {table} {what}"))?;
            }
            if !is_among(&present.firing) {
                // ALWAYS, so that the trigger also fires if session_replication_role is replica.
                change(&format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"))?;
            }
        } else if is_among(&present.removable) {
            change(&format!("DROP TRIGGER {name} ON {table}"))?;
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

/// arm_relatives(): event trigger that adds triggers to tables that are attached below an export table.
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
    const QUERY: &str = "
        SELECT DISTINCT d.objid FROM pg_catalog.pg_event_trigger_ddl_commands() d
         WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
           AND d.object_type OPERATOR(pg_catalog.=) 'table'";
    if !policy::all()?.iter().any(|policy| policy.on_rows.is_some()) {
        return Ok(());
    }
    for relation in oids(QUERY, &Parameters::default())? {
        if !triggers::policies_of(relation)?.is_empty() {
            arm(relation)?;
        }
    }
    Ok(())
}
