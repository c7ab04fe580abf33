//! The error type of the extension, and the only place that turns an error into SQLSTATE, message, DETAIL
//! and HINT.
//!
//! A message is lower case, has no full stop, and reads `argument: what is wrong` if it is about an argument.
//! DETAIL and HINT are full sentences.

use disclosure::byte_format::DamagedBytes;
use disclosure::cracks::StoredCountsError;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::borrow::Cow;
use std::ffi::CStr;

/// What happens to a statement that makes an export table unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Refused,
    /// It passes with a warning.
    Warned,
}

/// Reason why a call has no result. Messages name arguments and objects, never values of the data.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Algorithm(disclosure::Error),

    #[error("{argument}: {problem}")]
    Argument {
        argument: &'static str,
        problem: String,
        hint: Cow<'static, str>,
    },

    #[error("{argument}: {problem}")]
    Unusable {
        argument: &'static str,
        problem: String,
        hint: Cow<'static, str>,
        sqlstate: PgSqlErrorCode,
    },

    #[error("argument {position}: must be a column, not a literal")]
    Literal { position: String },

    #[error("{argument}: column \"{column}\" of relation \"{relation}\" does not exist")]
    NoSuchColumn {
        argument: &'static str,
        relation: String,
        column: String,
    },

    #[error("the type of column \"{column}\" has no order, so its values have no ranks")]
    NoOrder { column: String },

    #[error("{argument}: \"{relation}\" has no rows to read")]
    NotReadable {
        argument: &'static str,
        relation: String,
    },

    #[error("counts: must not mix items of different types")]
    ItemTypesDiffer,

    #[error("a relation was changed while it was read")]
    ChangedWhileReading,

    #[error("pg_disclosure needs a database with encoding UTF8")]
    NotUtf8 { encoding: String },

    #[error("labels of provider \"disclosure\" must be on columns")]
    LabelNotOnColumn,

    #[error("disclosure_internal.{} cannot be written: {problem}", table.to_string_lossy())]
    LogUnusable {
        table: &'static CStr,
        problem: &'static str,
    },

    #[error("row: all rows of a call must have the same type")]
    RowTypesDiffer,

    #[error("invalid input for type disclosure.item_counts: {0}")]
    Summary(#[from] StoredCountsError),

    #[error("invalid input for type disclosure.item_counts: {what} \"{name}\" does not exist")]
    NoSuchName { what: &'static str, name: String },

    #[error("counts: must not contain equal items")]
    EqualItems,

    #[error("counts: must not have more than 9223372036854775807 transactions")]
    TooManyTransactions,

    #[error("{what} would take more than {limit}")]
    TooLarge { what: &'static str, limit: &'static str },

    #[error("{argument}: must not be nested more than {limit} levels deep")]
    TooDeep { argument: &'static str, limit: usize },

    #[error("{0}")]
    Damaged(#[from] DamagedBytes),

    #[error("the state of an aggregate comes from another server, database or version")]
    NotLocal,

    #[error("cannot drop column {column}: policy {policy} needs it")]
    ColumnNeeded { column: String, policy: i32 },

    #[error("must be owner of relation {relation}")]
    NotOwner { relation: String },

    #[error("change of {relation} {}: its {measure} is {}, {limit}", change.outcome(), shown(*measured))]
    Unsafe {
        relation: String,
        policy: i32,
        measure: String,
        limit: String,
        measured: Option<f64>,
        rows: i64,
        unsafe_rows: Option<i64>,
        change: Change,
    },

    #[error("reading {relation} refused: policy {policy} allows reading by COPY TO only")]
    OnlyByCopy { relation: String, policy: i32 },

    #[error("export of {relation} refused: policy {policy} cannot be judged for this query")]
    CannotBeJudged { relation: String, policy: i32 },

    #[error("export of {relation} refused: {what} is not allowed in an export of a protected relation")]
    NotInLanguage {
        relation: String,
        what: String,
        place: Option<String>,
        hint: Cow<'static, str>,
    },

    #[error("export of {relation} refused: it does not satisfy its policies")]
    NotSatisfied {
        relation: String,
        /// Policies that apply, whether they are broken or not.
        policies: String,
        /// Columns that count, with their labels.
        counted: String,
        /// What was measured, if the policy lets the exporting role see it.
        details: String,
    },

    #[error("{text}")]
    Circumstance {
        sqlstate: PgSqlErrorCode,
        text: &'static str,
    },

    #[error("a function that does not come with Postgres was called during an export")]
    FunctionInExport,

    #[error(
        "export of {relation} refused: role \"{role}\" is locked out of policy {policy} after {refusals} refusals"
    )]
    LockedOut {
        relation: String,
        policy: i32,
        role: String,
        refusals: i64,
    },

    #[error("export of {relation} refused: it cannot be logged {place}")]
    CannotBeLogged { relation: String, place: &'static str },

    #[error("{what} of {relation} refused: policy {policy} is locked")]
    Locked {
        what: &'static str,
        relation: String,
        policy: i32,
    },

    #[error("policy {policy} of {relation} cannot be judged, so exports are refused: {problem}")]
    UnusablePolicy {
        relation: String,
        policy: i32,
        problem: String,
    },

    #[error("a measure function must not run {command}")]
    CommandInMeasure { command: String },

    #[error("policy {policy}: measure {measure} returned NULL")]
    NothingMeasured { measure: String, policy: i32 },

    #[error("{0} can only be called as a trigger")]
    NotTheTrigger(&'static str),

    #[error("trigger {trigger} on {relation} is not the one that disclosure.protect() creates")]
    NotOurTrigger { trigger: String, relation: String },

    #[error("changes of {relation} could not be judged: {problem}")]
    NotJudgeable { relation: String, problem: String },

    #[error("disclosure_internal.leaving: no such rows are being judged")]
    NotLeaving,

    #[error("the computation needs more than disclosure.max_memory")]
    OutOfMemory { limit: usize },

    #[error("internal error in a worker thread: {0}")]
    Panicked(String),

    #[error("internal error: {0}")]
    Internal(&'static str),

    #[error("could not start worker threads: {0}")]
    NoThreads(String),
}

/// Keeps Rust backtraces out of errors. If RUST_BACKTRACE is set in the server's environment, pgrx adds a
/// backtrace to the DETAIL of every error that passes through one of our functions, where clients can read
/// it.
///
/// Called once, from `_PG_init`.
pub fn hide_backtraces() {
    const SWITCH: &str = "RUST_LIB_BACKTRACE";
    let before = std::env::var_os(SWITCH);
    // SAFETY: `_PG_init` runs before the backend starts any other thread that could access the environment.
    unsafe { std::env::set_var(SWITCH, "0") };
    // The standard library reads the variable only once, here. Other extensions link their own copy of it.
    let _ = std::backtrace::Backtrace::capture();
    // SAFETY: still in `_PG_init`, without other threads.
    unsafe {
        match before {
            Some(value) => std::env::set_var(SWITCH, value),
            None => std::env::remove_var(SWITCH),
        }
    }
}

impl From<disclosure::Error> for Error {
    fn from(error: disclosure::Error) -> Self {
        match error {
            disclosure::Error::OutOfMemory { limit } => Error::OutOfMemory { limit },
            other => Error::Algorithm(other),
        }
    }
}

impl Error {
    /// Returns the error for an argument whose value is not allowed: its name, what is wrong with it, and a
    /// hint about what to give instead.
    pub fn argument(
        argument: &'static str,
        problem: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Error::Argument {
            argument,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// Returns the error for an argument that must not be NULL.
    pub fn null(argument: &'static str, hint: impl Into<Cow<'static, str>>) -> Self {
        Self::argument(argument, "must not be NULL", hint)
    }

    /// Returns the error of an argument that is well formed but cannot be used, for the reason that the
    /// SQLSTATE names.
    pub fn unusable(
        sqlstate: PgSqlErrorCode,
        argument: &'static str,
        problem: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Error::Unusable {
            argument,
            problem: problem.into(),
            hint: hint.into(),
            sqlstate,
        }
    }

    /// Returns the error with the argument's name in SQL. `names` contains pairs of the name in our code and the
    /// name in SQL.
    pub fn renamed(mut self, names: &[(&str, &'static str)]) -> Self {
        if let Error::Algorithm(disclosure::Error::InvalidArgument { argument, .. })
        | Error::Argument { argument, .. }
        | Error::NoSuchColumn { argument, .. } = &mut self
            && let Some((_, in_sql)) = names.iter().find(|(name, _)| name == argument)
        {
            *argument = in_sql;
        }
        self
    }

    /// Returns the error as one about another argument, with a hint that fits that argument.
    pub fn about(self, argument: &'static str, hint: &'static str) -> Self {
        match self {
            Error::Algorithm(disclosure::Error::InvalidArgument { problem, .. }) => {
                Self::argument(argument, problem, hint)
            }
            other => other,
        }
    }

    fn sqlstate(&self) -> PgSqlErrorCode {
        match self {
            Error::Algorithm(
                disclosure::Error::InvalidArgument { .. } | disclosure::Error::UnknownWord { .. },
            )
            | Error::Argument { .. }
            | Error::Literal { .. } => PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            Error::Algorithm(disclosure::Error::Unsupported { .. }) => {
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED
            }
            Error::Unusable { sqlstate, .. } | Error::Circumstance { sqlstate, .. } => *sqlstate,
            Error::Algorithm(disclosure::Error::TooMany { .. }) => {
                PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED
            }
            Error::Algorithm(disclosure::Error::OutOfRange { .. }) => {
                PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
            }
            Error::Algorithm(disclosure::Error::Cancelled) => PgSqlErrorCode::ERRCODE_QUERY_CANCELED,
            Error::NotOwner { .. }
            | Error::LockedOut { .. }
            | Error::CannotBeLogged { .. }
            | Error::Locked { .. }
            | Error::OnlyByCopy { .. }
            | Error::NotInLanguage { .. }
            | Error::NotSatisfied { .. }
            | Error::FunctionInExport
            | Error::CannotBeJudged { .. }
            | Error::CommandInMeasure { .. }
            | Error::UnusablePolicy { .. } => PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            Error::Unsafe {
                change: Change::Refused,
                ..
            } => PgSqlErrorCode::ERRCODE_CHECK_VIOLATION,
            Error::Unsafe {
                change: Change::Warned,
                ..
            } => PgSqlErrorCode::ERRCODE_WARNING,
            Error::ChangedWhileReading => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Error::NotUtf8 { .. } => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            Error::ColumnNeeded { .. } => PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
            Error::NothingMeasured { .. } => PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            Error::NotTheTrigger(_) | Error::NotOurTrigger { .. } => {
                PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED
            }
            Error::NotJudgeable { .. } => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            Error::NotLeaving => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Error::NoSuchColumn { .. } => PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            Error::NoOrder { .. } => PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
            Error::NotReadable { .. } | Error::LabelNotOnColumn => PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            Error::LogUnusable { .. } => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Error::RowTypesDiffer | Error::ItemTypesDiffer => PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            Error::Summary(StoredCountsError::Invalid(_)) | Error::EqualItems => {
                PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION
            }
            Error::Summary(StoredCountsError::Version(_)) | Error::NotLocal => {
                PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION
            }
            Error::Summary(StoredCountsError::Damaged(_)) | Error::Damaged(_) => {
                PgSqlErrorCode::ERRCODE_DATA_CORRUPTED
            }
            Error::NoSuchName { .. } => PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            Error::TooManyTransactions => PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Error::TooLarge { .. } | Error::TooDeep { .. } => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            Error::Algorithm(disclosure::Error::OutOfMemory { .. }) | Error::OutOfMemory { .. } => {
                PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY
            }
            Error::NoThreads(_) => PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
            Error::Panicked(_) | Error::Internal(_) => PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
        }
    }

    fn detail(&self) -> Option<String> {
        match self {
            Error::NotInLanguage { place, .. } => place.clone(),
            Error::NotSatisfied {
                policies,
                counted,
                details,
                ..
            } => {
                let counted = match &counted[..] {
                    "" => "No column counts.".into(),
                    counted => format!("What counts: {counted}."),
                };
                let details = if details.is_empty() {
                    String::new()
                } else {
                    format!(" {details}")
                };
                Some(format!("Policies: {policies}. {counted}{details}"))
            }
            Error::NotUtf8 { encoding } => Some(format!("The encoding of this database is {encoding}.")),
            Error::OutOfMemory { limit } => Some(format!("disclosure.max_memory is {} MB.", limit >> 20)),
            Error::Unsafe {
                policy,
                rows,
                unsafe_rows,
                ..
            } => {
                let found = unsafe_rows.map_or(String::new(), |rows| {
                    let are = if rows == 1 { "rows is" } else { "rows are" };
                    format!(" {rows} of the table's {are} unsafe afterwards.")
                });
                let changed = if *rows == 1 {
                    "1 row".into()
                } else {
                    format!("{rows} rows")
                };
                Some(format!(
                    "Policy {policy}: the statement changes {changed}.{found}"
                ))
            }
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Algorithm(
                disclosure::Error::InvalidArgument { allowed, .. }
                | disclosure::Error::Unsupported { allowed, .. },
            ) => Some(format!("Give {allowed}.")),
            Error::Algorithm(disclosure::Error::UnknownWord { nearest, allowed, .. }) => {
                Some(did_you_mean(*nearest, &format!("Give {allowed}.")))
            }
            Error::Algorithm(disclosure::Error::TooMany { .. }) => {
                Some("Read fewer rows or columns; columns labelled 'ignore' are left out.".into())
            }
            Error::Algorithm(disclosure::Error::OutOfRange { .. }) => {
                Some("disclosure_lab.ln_permanent() returns the logarithm of the permanent, which is always in range.".into())
            }
            Error::Argument { hint, .. } | Error::Unusable { hint, .. } => {
                Some(hint.clone().into_owned())
            }
            Error::Literal { .. } => {
                Some("Give columns or one row first; an option such as 'wildcard' comes last.".into())
            }
            Error::NotReadable { .. } => {
                Some("Give a table, view, materialized view or foreign table.".into())
            }
            Error::LabelNotOnColumn => Some("Use SECURITY LABEL FOR disclosure ON COLUMN … IS '…'.".into()),
            Error::LogUnusable { .. } => {
                Some("Exports are refused without a log. The owner of the table must undo the change.".into())
            }
            Error::RowTypesDiffer => {
                Some("Build every row from the same columns, in the same order.".into())
            }
            Error::ItemTypesDiffer => Some(
                "Items must have the same type and collation; cast them before counting."
                    .into(),
            ),
            Error::Summary(StoredCountsError::Invalid(_)) => Some(
                r#"Give a value such as {"type": "text", "transactions": 2, "items": [["beer", 2], ["wine", 1]]}."#
                    .into(),
            ),
            Error::Summary(StoredCountsError::Version(_)) => {
                Some("It was written by a newer version of pg_disclosure; update the extension.".into())
            }
            Error::NoSuchName { .. } => {
                Some("Give the name of an existing type or collation.".into())
            }
            Error::EqualItems => Some(
                "Give every value once. If the type or collation has changed since the items were counted, \
                 the counts can still be printed."
                    .into(),
            ),
            Error::TooManyTransactions => Some("Merge fewer counts.".into()),
            Error::TooLarge { .. } => Some("Count fewer or shorter items.".into()),
            Error::TooDeep { .. } => {
                Some("Give a jsonb value with fewer levels of lists and objects.".into())
            }
            Error::NotLocal => Some("Aggregate on the server that has the rows, and merge the results.".into()),
            Error::Unsafe { .. } => Some(
                "Leave rows or columns out, make them coarser, or add rows that are like the unsafe ones."
                    .into(),
            ),
            Error::OnlyByCopy { .. } => Some("Use COPY (SELECT …) TO STDOUT.".into()),
            Error::NotInLanguage { hint, .. } => Some(hint.clone().into_owned()),
            Error::NotSatisfied { .. } => Some(
                "Leave columns out, make them coarser, or select more people. The owner of the relation finds what \
                 was measured in disclosure.export_log."
                    .into(),
            ),
            Error::CannotBeJudged { .. } => Some(
                "Read the relation in the exported query itself, not in a function or a prepared statement."
                    .into(),
            ),
            Error::ChangedWhileReading => Some("Run the statement again.".into()),
            // Not a character outside ASCII, because the client expects another encoding.
            Error::NotUtf8 { .. } => {
                Some("Create a database with ENCODING 'UTF8' TEMPLATE template0.".into())
            }
            Error::ColumnNeeded { policy, .. } => {
                Some(format!("Run SELECT disclosure.unprotect_policy({policy}) first."))
            }
            Error::NothingMeasured { .. } => Some("A measure must return a number for every query.".into()),
            Error::OutOfMemory { .. } => {
                Some("Read fewer rows or columns, or raise disclosure.max_memory for this session.".into())
            }
            Error::NoThreads(_) => Some("Lower disclosure.threads.".into()),
            Error::LockedOut { policy, role, .. } => Some(format!(
                "Ask the owner of the relation, who can run SELECT disclosure.unlock({policy}, {}).",
                quoted(role)
            )),
            Error::CannotBeLogged { .. } => {
                Some("Export from the primary server, by a query that is not parallel.".into())
            }
            Error::Locked { .. } => {
                Some("It can be changed by a role that may execute disclosure.administer_policies().".into())
            }
            Error::UnusablePolicy { policy, .. } => Some(format!(
                "The owner of the relation can define the policy again with disclosure.protect(), or remove it with \
                 disclosure.unprotect_policy({policy})."
            )),
            Error::NotOurTrigger { .. } => Some(
                "Give the trigger another name and function. If it is there already, the owner of an export table can call \
                 disclosure.protect() again, which replaces it."
                    .into(),
            ),
            Error::NotJudgeable { .. } => Some(
                "Keep foreign tables out of the tree, or define the policies of the table without on_rows.".into(),
            ),
            Error::Panicked(_) | Error::Internal(_) => {
                Some("Nothing was changed. Please report this with the call that led to it.".into())
            }
            _ => None,
        }
    }
}

impl Error {
    /// Raises the error and does not return. A SQL function ends with
    /// `result.unwrap_or_else(Error::raise)`.
    #[track_caller]
    pub fn raise<T>(self) -> T {
        self.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }

    /// Reports the problem as a WARNING instead of an ERROR.
    #[track_caller]
    pub fn warn(self) {
        self.report(PgLogLevel::WARNING);
    }

    #[track_caller]
    fn report(self, level: PgLogLevel) {
        let mut report = ErrorReport::new(self.sqlstate(), self.to_string(), "");
        if let Some(detail) = self.detail() {
            report = report.set_detail(detail);
        }
        if let Some(hint) = self.hint() {
            report = report.set_hint(hint);
        }
        report.report(level);
    }
}

impl Change {
    /// Returns the part of the message that follows the name of the relation.
    fn outcome(self) -> &'static str {
        match self {
            Change::Refused => "refused",
            Change::Warned => "is unsafe",
        }
    }
}

/// Returns a hint that offers the word that was probably meant, before it says what is allowed.
pub fn did_you_mean(nearest: Option<&str>, allowed: &str) -> String {
    match nearest {
        Some(word) => format!("Did you mean \"{word}\"? {allowed}"),
        None => allowed.into(),
    }
}

/// Returns a text as an SQL literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns a measured value as it appears in a message.
fn shown(measured: Option<f64>) -> String {
    measured.map_or("unknown".into(), |value| value.to_string())
}
