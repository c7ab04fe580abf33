//! The one place where a problem becomes SQLSTATE, message, DETAIL and HINT.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use thiserror::Error;

/// Why a call has no answer. Messages name arguments and objects, never values of the data.
#[derive(Debug, Error)]
pub enum Problem {
    #[error(transparent)]
    Algorithm(#[from] disclosure::Error),

    #[error("{argument}: {problem}")]
    Argument {
        argument: &'static str,
        problem: String,
        hint: &'static str,
    },

    #[error("argument {position}: a literal is not a column")]
    Literal { position: String },

    #[error("{argument}: column \"{column}\" of relation \"{relation}\" does not exist")]
    NoSuchColumn {
        argument: &'static str,
        relation: String,
        column: String,
    },

    #[error("{argument}: \"{relation}\" has no rows to read")]
    NotReadable {
        argument: &'static str,
        relation: String,
    },

    #[error("summary: summaries of items of different types")]
    ItemTypesDiffer,

    #[error("labels of provider \"disclosure\" go on columns only")]
    LabelNotOnColumn,

    #[error("the export log, disclosure.export_attempt, cannot be written: {0}")]
    LogUnusable(&'static str),

    #[error("row: rows of different types in one call")]
    RowTypesDiffer,

    #[error("invalid input for type disclosure.item_counts: {problem}")]
    SummaryText { problem: String },

    #[error("the computation needs more than disclosure.max_memory")]
    OutOfMemory { limit: usize },

    #[error("internal error in a worker thread: {0}")]
    Panicked(String),

    #[error("internal error: rows were pushed after an error")]
    Lost,

    #[error("internal error: the result type is not the one that was declared")]
    ResultType,

    #[error("could not start worker threads: {0}")]
    NoThreads(String),
}

impl Problem {
    fn sqlstate(&self) -> PgSqlErrorCode {
        use disclosure::Error;
        match self {
            Problem::Algorithm(Error::InvalidArgument { .. })
            | Problem::Argument { .. }
            | Problem::Literal { .. } => PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            Problem::Algorithm(Error::TooMany { .. }) => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            Problem::Algorithm(Error::Cancelled) => PgSqlErrorCode::ERRCODE_QUERY_CANCELED,
            Problem::NoSuchColumn { .. } => PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            Problem::NotReadable { .. } | Problem::LabelNotOnColumn => {
                PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE
            }
            Problem::LogUnusable(_) => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Problem::RowTypesDiffer | Problem::ItemTypesDiffer => PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            Problem::SummaryText { .. } => PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
            Problem::OutOfMemory { .. } => PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            Problem::NoThreads(_) => PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
            Problem::Panicked(_) | Problem::Lost | Problem::ResultType => {
                PgSqlErrorCode::ERRCODE_INTERNAL_ERROR
            }
        }
    }

    fn detail(&self) -> Option<String> {
        match self {
            Problem::OutOfMemory { limit } => Some(format!("disclosure.max_memory is {} MB.", limit >> 20)),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Problem::Algorithm(disclosure::Error::InvalidArgument { allowed, .. }) => {
                Some(format!("Allowed: {allowed}."))
            }
            Problem::Algorithm(disclosure::Error::TooMany { .. }) => {
                Some("Take fewer rows or columns; a column labelled 'ignore' takes no part.".into())
            }
            Problem::Argument { hint, .. } => Some((*hint).into()),
            Problem::Literal { .. } => {
                Some("Give columns or one row first; an option such as 'wildcard' comes last.".into())
            }
            Problem::NotReadable { .. } => {
                Some("Give a table, view, materialized view or foreign table.".into())
            }
            Problem::LabelNotOnColumn => Some("SECURITY LABEL FOR disclosure ON COLUMN … IS '…'".into()),
            Problem::LogUnusable(_) => {
                Some("Without a log nothing is let out. Its owner has to undo what was changed.".into())
            }
            Problem::RowTypesDiffer => {
                Some("Build every row from the same columns, in the same order.".into())
            }
            Problem::ItemTypesDiffer => Some(
                "Items are the same only if type and collation are; cast them before they are counted."
                    .into(),
            ),
            Problem::SummaryText { .. } => Some(
                r#"It looks like {"type": "text", "transactions": 2, "items": [["beer", 2], ["wine", 1]]}."#
                    .into(),
            ),
            Problem::OutOfMemory { .. } => {
                Some("Read fewer rows or columns, or raise disclosure.max_memory for this session.".into())
            }
            Problem::NoThreads(_) => Some("Lower disclosure.threads.".into()),
            Problem::Panicked(_) | Problem::Lost | Problem::ResultType => {
                Some("Nothing was changed. Please report this with the call that led to it.".into())
            }
            _ => None,
        }
    }
}

impl Problem {
    /// Leave for SQL: `result.unwrap_or_else(Problem::raise)` is the last thing a SQL function does.
    #[track_caller]
    pub fn raise<T>(self) -> T {
        let mut report = ErrorReport::new(self.sqlstate(), self.to_string(), "");
        if let Some(detail) = self.detail() {
            report = report.set_detail(detail);
        }
        if let Some(hint) = self.hint() {
            report = report.set_hint(hint);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }
}
