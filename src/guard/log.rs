//! The export log: which role tried to export, what was measured, and the outcome.
//!
//! A refusal is an ERROR, which rolls back its transaction, but the attempt must stay in the log. So such an
//! entry is written as sequences write theirs: as a frozen row, which is visible to everyone immediately and
//! survives a rollback. Nothing else would have to be rolled back, because the table has no index.

use crate::error::Error;
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

/// Facts about an attempt: names and numbers, never a value of the data or the text of a query.
pub struct Entry<'a> {
    /// Command, e.g. `COPY TO`.
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
    /// Returns the name that is stored in the log.
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
    /// The entry survives a rollback and a crash of the server: for rows that left, and for refusals.
    Always,
    /// The entry belongs to the transaction: for changes that count only if it commits, such as rows inserted
    /// into an export table.
    IfCommitted,
}

/// Writes an entry. On a standby and during a parallel query the table cannot be written, so the server's log
/// gets the same facts.
pub fn write(entry: &Entry, lasting: Lasting) -> Result<(), Error> {
    let attempt = Attempt::new(entry);
    // SAFETY: both only read the state of this backend, on its main thread.
    if unsafe { pg_sys::RecoveryInProgress() || pg_sys::IsInParallelMode() } {
        attempt.tell_server_log();
        return Ok(());
    }
    Table::open()?.insert(&attempt, lasting);
    Ok(())
}

/// Entry with the names of the roles and the current name of the relation.
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
        // SAFETY: both only read variables of this backend, on its main thread.
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

/// Returns the name of a role, or its OID if it was dropped meanwhile.
fn role_name(role: pg_sys::Oid) -> CString {
    // SAFETY: returns NULL for an unknown OID, otherwise a C string in the current memory context, which is
    // copied.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        if name.is_null() {
            CString::new(role.to_u32().to_string()).unwrap_or_default()
        } else {
            CStr::from_ptr(name).into()
        }
    }
}

/// Open relation `disclosure_internal.export_attempt`.
struct Table {
    relation: pg_sys::Relation,
}

impl Table {
    /// Types of the columns, in the order of sql/60_guard.sql and of `insert`. `None` stands for the
    /// extension's own type of references to relations.
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

    /// Maximum number of bytes of a text. Texts are cut so that no row is long enough to be toasted.
    const LONGEST_TEXT: usize = 200;

    fn open() -> Result<Self, Error> {
        let table = own_table(c"export_attempt").ok_or(Error::LogUnusable("the table does not exist"))?;
        // SAFETY: the table was just looked up, and `table_open` raises an error if it is gone. The lock is
        // the one that an INSERT takes.
        unsafe {
            let relation = pg_sys::table_open(table, pg_sys::RowExclusiveLock as LOCKMODE);
            let table = Table { relation };
            table.check()?;
            Ok(table)
        }
    }

    /// Checks that rows can be inserted without the executor. The owner of the table may have altered it.
    fn check(&self) -> Result<(), Error> {
        // SAFETY: an open relation has a tuple descriptor and a row of pg_class.
        unsafe {
            let about = &*(*self.relation).rd_rel;
            if about.relkind as u8 != pg_sys::RELKIND_RELATION || about.relam != pg_sys::HEAP_TABLE_AM_OID {
                return Err(Error::LogUnusable("it is not a plain table"));
            }
            if !pg_sys::RelationGetIndexList(self.relation).is_null() {
                return Err(Error::LogUnusable("the table must not have an index"));
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
                return Err(Error::LogUnusable("the table has unexpected columns"));
            }
        }
        Ok(())
    }

    fn insert(self, attempt: &Attempt, lasting: Lasting) {
        let entry = attempt.entry;
        let text = |text: &str| clipped(text, Self::LONGEST_TEXT).into_datum();
        let (session_role, role) = (name(&attempt.session_role), name(&attempt.role));
        // SAFETY: only reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        // SAFETY: a variable that does not change after the backend has started.
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
            None, // set by a trigger for entries not written by the guard, see sql/60_guard.sql
            None,
        ];
        // SAFETY: `check` has verified the types of the columns, and the names outlive the call.
        unsafe { self.insert_row(values, lasting) };
        self.close(lasting);
    }

    /// Inserts a row.
    ///
    /// # Safety
    /// The values are valid Datums of the types of the table's columns.
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
                // There may be no commit that would flush the entry to disk.
                pg_sys::XLogFlush(pg_sys::XactLastRecEnd);
            }
        }
    }

    /// Closes the table. The lock is released at once, unless the transaction must keep it for a row of its
    /// own.
    fn close(self, lasting: Lasting) {
        let unlocked = match lasting {
            Lasting::Always => pg_sys::RowExclusiveLock,
            Lasting::IfCommitted => pg_sys::NoLock,
        };
        // SAFETY: `open` opened the relation and took this lock, and `self` is consumed.
        unsafe { pg_sys::table_close(self.relation, unlocked as LOCKMODE) };
    }
}

fn name(text: &CStr) -> pg_sys::NameData {
    let mut name = pg_sys::NameData::default();
    // SAFETY: both pointers are valid; the function truncates a text that is too long, and pads the rest.
    unsafe { pg_sys::namestrcpy(&mut name, text.as_ptr()) };
    name
}

/// Returns the longest prefix of a text that has at most `bytes` bytes and ends at a character boundary.
fn clipped(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
