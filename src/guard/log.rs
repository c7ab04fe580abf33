//! The export log: which role tried to export, what counted, what was measured, and the outcome; and who
//! changed policies and labels.

use crate::error::Error;
use crate::guard::ledger::{Ledger, Types, is_writable};
use crate::guard::own_tables::own_table;
use crate::guard::rights;
use crate::guc;
use crate::pg::catalog::schema_and_name;
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::spi::quote_qualified_identifier;
use std::ffi::{CStr, CString, c_int};

pub use crate::guard::ledger::Lasting;

/// Facts about an attempt: names and numbers, never a value of the data. Only `query` and `reason` may contain
/// values, those that the exporting role wrote itself or that an error of its query shows.
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
    /// Columns that counted, with their labels; empty if there are none.
    pub counted: &'a str,
    /// For the owner of the relation: what was measured, or the error of the query.
    pub reason: Option<&'a str>,
    /// Whether the exporting role may see what was measured, which the policy says.
    pub details: bool,
    /// Text of the whole query. The log has its hash, and the text itself if `disclosure.log_queries` is on.
    pub query: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Returns an entry about a change of the policies or labels of a relation; `what` says what has changed.
    pub fn change(kind: &'a str, relation: pg_sys::Oid, what: &'a str) -> Self {
        Entry {
            kind,
            relation,
            policy: None,
            measure: "",
            limit: "",
            measured: None,
            rows: None,
            unsafe_rows: None,
            outcome: Outcome::Changed,
            counted: what,
            reason: None,
            details: false,
            query: None,
        }
    }
}

#[derive(Clone, Copy)]
pub enum Outcome {
    Allowed,
    Refused,
    Dropped,
    Warned,
    Exempt,
    /// The query was cancelled or failed because of the circumstances.
    Failed,
    /// A policy or label was defined, changed or removed.
    Changed,
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
            Outcome::Failed => "failed",
            Outcome::Changed => "changed",
        }
    }
}

/// Writes an entry. On a standby and during a parallel query the table cannot be written, so the server's log
/// gets the same facts.
pub fn write(entry: &Entry, lasting: Lasting) -> Result<(), Error> {
    let attempt = Attempt::new(entry);
    if !is_writable() {
        attempt.tell_server_log();
        return Ok(());
    }
    attempt.insert(lasting)
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
        let (session_role, role) = acting();
        Attempt {
            entry,
            session_role,
            role,
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
            "{}, policy {}, measure {}, limit {}, measured {}, rows {}, unsafe rows {}",
            roles(&self.session_role, &self.role),
            or_unknown(entry.policy),
            entry.measure,
            entry.limit,
            or_unknown(entry.measured),
            or_unknown(entry.rows),
            or_unknown(entry.unsafe_rows),
        );
        write_to_server(message, facts);
    }
}

/// Writes a message to the server's log, with the roles that are responsible.
pub fn tell_server(message: &str) {
    let (session_role, role) = acting();
    write_to_server(format!("disclosure: {message}"), roles(&session_role, &role));
}

fn write_to_server(message: String, detail: String) {
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
        .set_detail(detail)
        .report(PgLogLevel::LOG_SERVER_ONLY);
}

/// Returns the names of the session role and of the role that is responsible for a statement.
fn acting() -> (CString, CString) {
    // SAFETY: only reads a variable of this backend, on its main thread.
    let session_role = unsafe { pg_sys::GetSessionUserId() };
    (role_name(session_role), role_name(rights::responsible()))
}

fn roles(session_role: &CStr, role: &CStr) -> String {
    format!(
        "session role {}, role {}",
        session_role.to_string_lossy(),
        role.to_string_lossy()
    )
}

/// Returns whether there is a log: the extension is installed in this database.
pub fn exists() -> bool {
    own_table(TABLE).is_some()
}

/// Returns the name of a role, or its OID if it was dropped meanwhile.
pub fn role_name(role: pg_sys::Oid) -> CString {
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

const TABLE: &CStr = c"export_attempt";

/// Types of the columns of disclosure_internal.export_attempt, in the order of sql/60_guard.sql and of
/// [`Attempt::insert`].
const TYPES: Types<24> = [
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
    Some(pg_sys::TEXTOID),
    Some(pg_sys::TEXTOID),
    Some(pg_sys::BOOLOID),
    Some(pg_sys::INT8OID),
    Some(pg_sys::TEXTOID),
    Some(pg_sys::TEXTOID),
    Some(pg_sys::INETOID),
    Some(pg_sys::XID8OID),
    Some(pg_sys::NAMEOID),
    Some(pg_sys::TIMESTAMPTZOID),
];

/// Maximum number of bytes of names, of what counted and of the reason, and of a query. All of them together
/// fit on a page, because a row must not be stored anywhere else.
const LONGEST_NAME: usize = 200;
const LONGEST_TEXT: usize = 1_000;
const LONGEST_QUERY: usize = 2_000;

impl Attempt<'_> {
    fn insert(&self, lasting: Lasting) -> Result<(), Error> {
        let table = Ledger::open(TABLE, &TYPES, lasting)?;
        let entry = self.entry;
        let text = |text: &str, longest| {
            let is_given = !text.is_empty();
            is_given.then(|| clipped(text, longest).into_datum()).flatten()
        };
        let short = |given| text(given, LONGEST_NAME);
        let (session_role, role) = (name(&self.session_role), name(&self.role));
        let (query_hash, query) = match entry.query {
            Some(query) => (Some(hash(query)), guc::log_queries().then_some(query)),
            None => (None, None),
        };
        // SAFETY: only reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        // SAFETY: a variable that does not change after the backend has started.
        let process = unsafe { pg_sys::MyProcPid };
        // SAFETY: inserting the row needs a transaction number anyway.
        let transaction = unsafe { pg_sys::GetTopFullTransactionId().value };
        let values: [Option<Datum>; TYPES.len()] = [
            Some(now.into()),
            Some(Datum::from(&raw const session_role)),
            Some(Datum::from(&raw const role)),
            process.into_datum(),
            short(entry.kind),
            Some(entry.relation.into()),
            self.relation_name.as_deref().and_then(short),
            entry.policy.into_datum(),
            short(entry.measure),
            short(entry.limit),
            entry.measured.into_datum(),
            entry.rows.into_datum(),
            entry.unsafe_rows.into_datum(),
            short(entry.outcome.name()),
            text(entry.counted, LONGEST_TEXT),
            entry.reason.and_then(|reason| text(reason, LONGEST_TEXT)),
            entry.details.into_datum(),
            query_hash.into_datum(),
            query.and_then(|query| text(query, LONGEST_QUERY)),
            application_name().as_deref().and_then(short),
            client_address(),
            Some(Datum::from(transaction)),
            None, // set by a trigger for entries not written by the guard, see sql/60_guard.sql
            None,
        ];
        // SAFETY: the values are of the types in `TYPES`, and the names outlive the call.
        unsafe { table.insert(values) };
        table.close();
        Ok(())
    }
}

#[pg_guard]
unsafe extern "C-unwind" {
    fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;
}

/// Returns the 64-bit hash of a text that `hashtextextended(text, 0)` returns in SQL.
fn hash(text: &str) -> i64 {
    // SAFETY: reads exactly the bytes of the text.
    unsafe { hash_bytes_extended(text.as_ptr(), text.len() as c_int, 0) as i64 }
}

/// Returns the setting `application_name` of this session.
fn application_name() -> Option<String> {
    // SAFETY: a variable of this backend that is NULL or a NUL-terminated string, which is copied.
    unsafe {
        let name = pg_sys::application_name;
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// Returns the address of the client, of type inet; `None` if it connected through a socket of the server.
fn client_address() -> Option<Datum> {
    // SAFETY: the function of Postgres takes no arguments and returns inet or NULL.
    unsafe { direct_function_call_as_datum(pg_sys::inet_client_addr, &[]) }
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
