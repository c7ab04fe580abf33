//! The export log: who tried to take data out, what was measured, and what became of it.
//!
//! A refusal is an ERROR, which undoes all that its transaction has done, and yet the attempt must stay on record.
//! So such an entry is written as sequences write theirs: frozen from the start, hence there for everyone and
//! whatever becomes of the transaction. Nothing else would have to be undone, as the table has no index.

use crate::error::Problem;
use crate::guard::own_tables::own_table;
use crate::guard::rights;
use crate::pg::catalog::schema_and_name;
use crate::pg::row::columns_of;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, LOCKMODE};
use pgrx::prelude::*;
use pgrx::spi::quote_qualified_identifier;
use std::ffi::{CStr, CString, c_int};

/// What the log is told of an attempt: names and numbers, never a value of the data nor the text of a query.
pub struct Entry<'a> {
    /// The command, e.g. `COPY TO`.
    pub kind: &'a str,
    pub relation: pg_sys::Oid,
    pub policy: Option<i32>,
    pub measure: &'a str,
    pub limit: &'a str,
    pub measured: Option<f64>,
    pub rows: Option<i64>,
    pub unsafe_rows: Option<i64>,
    pub outcome: Outcome,
}

#[derive(Clone, Copy)]
pub enum Outcome {
    Allowed,
    Refused,
    Dropped,
    Warned,
    Exempt,
}

impl Outcome {
    /// As it is in the log.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Allowed => "allowed",
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
            Outcome::Warned => "warned",
            Outcome::Exempt => "exempt",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Lasting {
    /// Whatever becomes of the transaction, and of the server: for what has left or was refused.
    Always,
    /// For what only counts if the transaction commits, such as rows that came into an export table.
    IfCommitted,
}

/// Write an entry. Where the table cannot be written, on a standby and in the midst of a parallel query, the
/// server's log gets the same facts.
pub fn write(entry: &Entry, lasting: Lasting) -> Result<(), Problem> {
    let attempt = Attempt::new(entry);
    // SAFETY: both read the state of this backend.
    if unsafe { pg_sys::RecoveryInProgress() || pg_sys::IsInParallelMode() } {
        attempt.tell_server_log();
        return Ok(());
    }
    Table::open()?.insert(&attempt, lasting);
    Ok(())
}

/// An entry, and what Postgres knows besides: who it was, and what the relation is called now.
struct Attempt<'a> {
    entry: &'a Entry<'a>,
    session_role: CString,
    role: CString,
    relation_name: Option<String>,
}

impl<'a> Attempt<'a> {
    fn new(entry: &'a Entry) -> Self {
        let relation_name =
            schema_and_name(entry.relation).map(|(schema, name)| quote_qualified_identifier(schema, name));
        // SAFETY: both read variables of this backend.
        let (session_role, role) = unsafe { (pg_sys::GetSessionUserId(), rights::responsible()) };
        Attempt {
            entry,
            session_role: role_name(session_role),
            role: role_name(role),
            relation_name,
        }
    }

    fn tell_server_log(&self) {
        fn or_unknown<T: ToString>(value: Option<T>) -> String {
            value.map_or("unknown".into(), |value| value.to_string())
        }
        let entry = self.entry;
        let message = format!(
            "disclosure: {} of {}: {}",
            entry.kind,
            or_unknown(self.relation_name.as_deref()),
            entry.outcome.name()
        );
        let facts = format!(
            "session role {}, role {}, policy {}, measure {}, limit {}, measured {}, rows {}, unsafe rows {}",
            self.session_role.to_string_lossy(),
            self.role.to_string_lossy(),
            or_unknown(entry.policy),
            entry.measure,
            entry.limit,
            or_unknown(entry.measured),
            or_unknown(entry.rows),
            or_unknown(entry.unsafe_rows),
        );
        ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
            .set_detail(facts)
            .report(PgLogLevel::LOG_SERVER_ONLY);
    }
}

/// The name of a role; its OID if it was dropped meanwhile.
fn role_name(role: pg_sys::Oid) -> CString {
    // SAFETY: a catalogue look-up that returns NULL for an unknown OID, else a string in the current memory
    // context.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        if name.is_null() {
            CString::new(role.to_u32().to_string()).unwrap_or_default()
        } else {
            CStr::from_ptr(name).into()
        }
    }
}

/// disclosure_internal.export_attempt, open.
struct Table {
    relation: pg_sys::Relation,
}

impl Table {
    /// The types of its columns, in the order of sql/60_guard.sql and of `insert`; `None` for that of relations, which is
    /// our own.
    const TYPES: [Option<pg_sys::Oid>; 16] = [
        Some(pg_sys::TIMESTAMPTZOID),
        Some(pg_sys::NAMEOID),
        Some(pg_sys::NAMEOID),
        Some(pg_sys::INT4OID),
        Some(pg_sys::TEXTOID),
        None,
        Some(pg_sys::TEXTOID),
        Some(pg_sys::INT4OID),
        Some(pg_sys::TEXTOID),
        Some(pg_sys::TEXTOID),
        Some(pg_sys::FLOAT8OID),
        Some(pg_sys::INT8OID),
        Some(pg_sys::INT8OID),
        Some(pg_sys::TEXTOID),
        Some(pg_sys::NAMEOID),
        Some(pg_sys::TIMESTAMPTZOID),
    ];

    /// Texts are cut, so that a row is never so long that Postgres would store parts of it elsewhere.
    const LONGEST_TEXT: usize = 200;

    fn open() -> Result<Self, Problem> {
        let table = own_table(c"export_attempt").ok_or(Problem::LogUnusable("the table is not there"))?;
        // SAFETY: a table that exists, locked as it is whenever rows are inserted.
        unsafe {
            let relation = pg_sys::table_open(table, pg_sys::RowExclusiveLock as LOCKMODE);
            let table = Table { relation };
            table.check()?;
            Ok(table)
        }
    }

    /// Whether rows can be put into it past the executor, which is what its owner may have made impossible.
    fn check(&self) -> Result<(), Problem> {
        // SAFETY: an open relation has a descriptor and a row in pg_class.
        unsafe {
            let about = &*(*self.relation).rd_rel;
            if about.relkind as u8 != pg_sys::RELKIND_RELATION || about.relam != pg_sys::HEAP_TABLE_AM_OID {
                return Err(Problem::LogUnusable("it is no plain table any more"));
            }
            if !pg_sys::RelationGetIndexList(self.relation).is_null() {
                return Err(Problem::LogUnusable("the table must not have an index"));
            }
            let descriptor = (*self.relation).rd_att;
            let columns = columns_of(descriptor);
            let is_as_expected = |(column, expected): (&ColumnType, &Option<pg_sys::Oid>)| match expected {
                Some(oid) => column.oid == *oid,
                None => pg_sys::get_typlen(column.oid) as usize == size_of::<pg_sys::Oid>(),
            };
            if (*descriptor).natts as usize != Self::TYPES.len()
                || columns.len() != Self::TYPES.len()
                || !columns.iter().zip(&Self::TYPES).all(is_as_expected)
            {
                return Err(Problem::LogUnusable("the table has other columns than it should"));
            }
        }
        Ok(())
    }

    fn insert(self, attempt: &Attempt, lasting: Lasting) {
        let entry = attempt.entry;
        let text = |text: &str| clipped(text, Self::LONGEST_TEXT).into_datum();
        let (session_role, role) = (name(&attempt.session_role), name(&attempt.role));
        // SAFETY: reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        // SAFETY: set when the backend starts.
        let process = unsafe { pg_sys::MyProcPid };
        let values: [Option<Datum>; Self::TYPES.len()] = [
            Some(now.into()),
            Some(Datum::from(&raw const session_role)),
            Some(Datum::from(&raw const role)),
            process.into_datum(),
            text(entry.kind),
            Some(entry.relation.into()),
            attempt.relation_name.as_deref().and_then(text),
            entry.policy.into_datum(),
            text(entry.measure),
            text(entry.limit),
            entry.measured.into_datum(),
            entry.rows.into_datum(),
            entry.unsafe_rows.into_datum(),
            text(entry.outcome.name()),
            None, // of others' entries, see sql/60_guard.sql
            None,
        ];
        // SAFETY: `check` has seen that these are the columns; the names live until the row was made of them.
        unsafe { self.insert_row(values, lasting) };
        self.close(lasting);
    }

    /// # Safety
    /// Valid Datums of the table's types.
    unsafe fn insert_row(&self, values: [Option<Datum>; Self::TYPES.len()], lasting: Lasting) {
        // SAFETY: by the contract of the function.
        unsafe {
            let mut nulls = values.map(|value| value.is_none());
            let mut values = values.map(|value| value.unwrap_or(Datum::null()));
            let row =
                pg_sys::heap_form_tuple((*self.relation).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            let options = match lasting {
                Lasting::Always => pg_sys::HEAP_INSERT_FROZEN as c_int,
                Lasting::IfCommitted => 0,
            };
            let command = pg_sys::GetCurrentCommandId(true);
            pg_sys::heap_insert(self.relation, row, command, options, std::ptr::null_mut());
            pg_sys::heap_freetuple(row);
            if lasting == Lasting::Always {
                // No commit would see to it that it is on disk.
                pg_sys::XLogFlush(pg_sys::XactLastRecEnd);
            }
        }
    }

    /// A lock that the transaction no longer needs would only be in the way of others.
    fn close(self, lasting: Lasting) {
        let unlocked = match lasting {
            Lasting::Always => pg_sys::RowExclusiveLock,
            Lasting::IfCommitted => pg_sys::NoLock,
        };
        // SAFETY: opened by `open`, with this lock.
        unsafe { pg_sys::table_close(self.relation, unlocked as LOCKMODE) };
    }
}

fn name(text: &CStr) -> pg_sys::NameData {
    let mut name = pg_sys::NameData::default();
    // SAFETY: cuts what is too long, and pads.
    unsafe { pg_sys::namestrcpy(&mut name, text.as_ptr()) };
    name
}

/// At most so many bytes of a text, whole characters.
fn clipped(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
