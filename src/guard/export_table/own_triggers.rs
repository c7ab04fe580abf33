//! Definitions of the triggers of export tables, and how to tell them from others.
//!
//! A role with the TRIGGER privilege can create a trigger that has the name of one of ours, or that calls one
//! of our functions, but fires at another time or never. So a trigger counts as ours only if everything that
//! the catalogue says about it agrees with its definition here.

use crate::error::Error;
use crate::guard::rights;
use crate::pg::catalog::name_of;
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::{self, Oid, TriggerData};
use pgrx::prelude::*;
use pgrx::spi::quote_literal;
use std::ffi::{CStr, c_char};

/// Trigger of an export table.
pub struct OwnTrigger {
    pub name: &'static str,
    /// Name of its function in the schema disclosure_internal.
    function: &'static str,
    /// Bits of `pg_trigger.tgtype`: when it fires, for which events, and whether for each row.
    kind: u32,
    /// Names of its transition tables.
    new_table: Option<&'static str>,
    old_table: Option<&'static str>,
}

pub const TURN: &str = "export_turn";
pub const COLLECT: &str = "export_collect";
pub const JUDGE: &str = "export_judge";

const ROW: u32 = pg_sys::TRIGGER_TYPE_ROW;
const BEFORE: u32 = pg_sys::TRIGGER_TYPE_BEFORE;
const INSERT: u32 = pg_sys::TRIGGER_TYPE_INSERT;
const UPDATE: u32 = pg_sys::TRIGGER_TYPE_UPDATE;
const DELETE: u32 = pg_sys::TRIGGER_TYPE_DELETE;
const NEW_TABLE: Option<&str> = Some("disclosure_new");
const OLD_TABLE: Option<&str> = Some("disclosure_old");

const fn trigger(name: &'static str, function: &'static str, kind: u32) -> OwnTrigger {
    OwnTrigger {
        name,
        function,
        kind,
        new_table: None,
        old_table: None,
    }
}

/// All triggers of an export table.
pub const OWN_TRIGGERS: [OwnTrigger; 5] = [
    trigger("disclosure_turn", TURN, BEFORE | INSERT | UPDATE | DELETE),
    OwnTrigger {
        new_table: NEW_TABLE,
        ..trigger("disclosure_inserted", JUDGE, INSERT)
    },
    OwnTrigger {
        new_table: NEW_TABLE,
        old_table: OLD_TABLE,
        ..trigger("disclosure_updated", JUDGE, UPDATE)
    },
    OwnTrigger {
        old_table: OLD_TABLE,
        ..trigger("disclosure_deleted", JUDGE, DELETE)
    },
    trigger("disclosure_collect", COLLECT, INSERT | ROW),
];

impl OwnTrigger {
    /// Returns whether the trigger is needed only if a policy drops unsafe rows.
    pub fn is_for_dropping(&self) -> bool {
        self.function == COLLECT
    }

    /// Returns the command that creates the trigger on a table, whose quoted name is given.
    pub fn creation(&self, table: &str) -> String {
        let has = |bit: u32| self.kind & bit != 0;
        let events = [(INSERT, "INSERT"), (UPDATE, "UPDATE"), (DELETE, "DELETE")];
        let events: Vec<&str> = events
            .iter()
            .filter(|(bit, _)| has(*bit))
            .map(|(_, event)| *event)
            .collect();
        let tables: String = [("NEW", self.new_table), ("OLD", self.old_table)]
            .iter()
            .filter_map(|(which, name)| name.map(|name| format!(" {which} TABLE AS {name}")))
            .collect();
        format!(
            "CREATE TRIGGER {name} {time} {events} ON {table} {referencing}{tables} FOR EACH {each} \
             EXECUTE FUNCTION disclosure_internal.{function}()",
            name = self.name,
            time = if has(BEFORE) { "BEFORE" } else { "AFTER" },
            events = events.join(" OR "),
            referencing = if tables.is_empty() { "" } else { "REFERENCING" },
            each = if has(ROW) { "ROW" } else { "STATEMENT" },
            function = self.function,
        )
    }

    /// Returns the definition as a row of an SQL VALUES list.
    fn as_row(&self) -> String {
        let name = |name: Option<&str>| name.map_or("NULL".into(), quote_literal);
        format!(
            "({}, 'disclosure_internal.{}()'::regprocedure::oid, {}, {}::text, {}::text)",
            quote_literal(self.name),
            self.function,
            self.kind,
            name(self.new_table),
            name(self.old_table),
        )
    }
}

/// Returns an error unless the running trigger is one of ours that calls `function`.
///
/// # Safety
/// `data` is the data of a running trigger.
pub unsafe fn check_running(data: *mut TriggerData, function: &str) -> Result<(), Error> {
    // SAFETY: by the contract of the function; names are NUL-terminated, and those that are missing are NULL.
    unsafe {
        let bytes = |name: *const c_char| (!name.is_null()).then(|| CStr::from_ptr(name).to_bytes());
        let running = &*(*data).tg_trigger;
        let is_plain = running.tgqual.is_null()
            && running.tgnargs == 0
            && running.tgnattr == 0
            && running.tgconstraint == pg_sys::InvalidOid
            && !running.tgdeferrable;
        let is_like = |own: &OwnTrigger| {
            own.function == function
                && bytes(running.tgname) == Some(own.name.as_bytes())
                && running.tgtype as u32 == own.kind
                && bytes(running.tgnewtable) == own.new_table.map(str::as_bytes)
                && bytes(running.tgoldtable) == own.old_table.map(str::as_bytes)
        };
        match is_plain && OWN_TRIGGERS.iter().any(is_like) {
            true => Ok(()),
            false => Err(Error::NotOurTrigger {
                trigger: bytes(running.tgname)
                    .map_or(String::new(), |name| String::from_utf8_lossy(name).into()),
                relation: name_of((*(*data).tg_relation).rd_id),
            }),
        }
    }
}

/// Triggers on a table that are ours, or that have the name or the function of one of ours.
pub struct Present {
    pub relation: Oid,
    /// Quoted schema and name of the table.
    pub table: String,
    pub is_ours_to_change: bool,
    /// Names of our triggers.
    pub own: Vec<String>,
    /// Names of our triggers that fire always.
    pub firing: Vec<String>,
    /// Names of our triggers that can be dropped by themselves: not those that belong to a trigger of the
    /// parent.
    pub removable: Vec<String>,
    /// Names of the other triggers.
    pub forged: Vec<String>,
    /// Quoted names of the other triggers that can be dropped by themselves.
    pub forged_removable: Vec<String>,
}

impl Present {
    /// Returns the triggers on each of the relations that is a table. Foreign tables are left out, because they
    /// cannot have transition tables.
    pub fn on(relations: &[Oid]) -> Result<Vec<Self>, Error> {
        let rows: Vec<String> = OWN_TRIGGERS.iter().map(OwnTrigger::as_row).collect();
        let query = format!(
            "WITH own(name, function, kind, new_table, old_table) AS (VALUES {rows}),
                  claimed AS (
               SELECT t.tgrelid, t.tgname, t.tgenabled = 'A' AS is_firing, t.tgparentid = 0 AS is_removable,
                      own.name IS NOT NULL AS is_own
                 FROM pg_trigger t
                 LEFT JOIN own ON t.tgname::text = own.name AND t.tgfoid = own.function AND t.tgtype = own.kind
                  AND t.tgnewtable::text IS NOT DISTINCT FROM own.new_table
                  AND t.tgoldtable::text IS NOT DISTINCT FROM own.old_table
                  AND t.tgqual IS NULL AND t.tgnargs = 0 AND t.tgattr::text = ''
                  AND t.tgconstraint = 0 AND t.tgconstrrelid = 0 AND t.tgconstrindid = 0
                  AND NOT t.tgdeferrable AND NOT t.tginitdeferred
                WHERE t.tgrelid = ANY ($1)
                  AND (t.tgname::text IN (SELECT o.name FROM own o) OR t.tgfoid IN (SELECT o.function FROM own o)))
             SELECT c.oid, format('%I.%I', n.nspname, c.relname), pg_has_role(c.relowner, 'USAGE'),
                    coalesce(array_agg(t.tgname::text) FILTER (WHERE t.is_own), '{{}}'),
                    coalesce(array_agg(t.tgname::text) FILTER (WHERE t.is_own AND t.is_firing), '{{}}'),
                    coalesce(array_agg(t.tgname::text) FILTER (WHERE t.is_own AND t.is_removable), '{{}}'),
                    coalesce(array_agg(t.tgname::text) FILTER (WHERE NOT t.is_own), '{{}}'),
                    coalesce(array_agg(format('%I', t.tgname)) FILTER (WHERE NOT t.is_own AND t.is_removable), '{{}}')
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN claimed t ON t.tgrelid = c.oid
              WHERE c.oid = ANY ($1) AND c.relkind IN ('r', 'p')
              GROUP BY c.oid, n.nspname, c.relname, c.relowner",
            rows = rows.join(", ")
        );
        let parameters = Parameters::of_oids(relations)?;
        let read = || {
            Spi::connect(|_| {
                // SAFETY: SPI is connected, the parameter is an array of OIDs, and the columns are oid, text,
                // boolean and five times text[].
                unsafe {
                    let answer = Answer::to(&query, &parameters, true)?;
                    let present = |row| {
                        let names = |column| answer.get::<Vec<String>>(row, column).unwrap_or_default();
                        Ok(Present {
                            relation: answer.get(row, 0).ok_or(Error::Internal("a table has no OID"))?,
                            table: answer.get(row, 1).ok_or(Error::Internal("a table has no name"))?,
                            is_ours_to_change: answer.get(row, 2).unwrap_or(false),
                            own: names(3),
                            firing: names(4),
                            removable: names(5),
                            forged: names(6),
                            forged_removable: names(7),
                        })
                    };
                    (0..answer.rows()).map(present).collect()
                }
            })
        };
        // A transaction that keeps an older snapshot must not overlook a trigger.
        rights::under_own_settings(|| rights::under_latest_snapshot(read))
    }

    /// Returns an error if one of the triggers is not ours.
    pub fn check(&self) -> Result<(), Error> {
        match self.forged.first() {
            None => Ok(()),
            Some(trigger) => Err(Error::NotOurTrigger {
                trigger: trigger.clone(),
                relation: self.table.clone(),
            }),
        }
    }
}
