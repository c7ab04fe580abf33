//! Labels: what sets, checks and reads them. `label_column`, `label_weights`, and the provider of security labels.

use crate::args::Args;
use crate::error::Problem;
use crate::guard::rights;
use crate::input::relation::Relation;
use crate::pg::query::{Answer, Parameters};
use disclosure::Label;
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::{Error, quote_identifier};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// label_weights(label text): likelihood and danger
#[pg_extern(sql = false)]
fn label_weights(label: &str) -> Option<Vec<f64>> {
    let label: Result<Label, Problem> = label.parse().map_err(Problem::from);
    let weights = label.unwrap_or_else(Problem::raise).weights()?;
    Some(vec![weights.likelihood, weights.danger])
}

/// label_column(relation regclass, column_name name, label text)
#[pg_extern(sql = false)]
fn label_column(args: Args) {
    set_label(args).unwrap_or_else(Problem::raise);
}

fn set_label(mut args: Args) -> Result<(), Problem> {
    let oid = args.optional("relation");
    let column = args.name("column_name");
    let label: Option<String> = args.optional("label");
    args.end()?;
    let relation = Relation::whole("relation", oid)?;
    let oid = oid.ok_or(Problem::Internal("a relation without OID"))?; // NULL was refused above
    let column = column.ok_or_else(|| Problem::null("column_name", "Give the name of a column."))?;
    relation.column("column_name", &column)?;
    if let Some(label) = &label {
        label.parse::<Label>()?;
    }
    rights::check_owner(oid)?;
    rights::begin_change(c"label_column()", oid)?;
    let is_overruled = rights::as_owner(|| {
        store(oid, &column, label.as_deref()).map_err(|_| Problem::Internal("the label could not be stored"))
    })?;
    if is_overruled {
        notice!(
            "column {} of relation {} has a security label too, which wins",
            quote_identifier(&column),
            relation.name()
        );
    }
    Ok(())
}

/// Replaces the label of a column. Returns whether it has a security label too.
fn store(relation: Oid, column: &str, label: Option<&str>) -> Result<bool, Error> {
    const REMOVE: &str = "DELETE FROM disclosure_internal.column_label l WHERE l.relation::oid = $1 AND l.attribute = $2::name";
    const ADD: &str =
        "INSERT INTO disclosure_internal.column_label (relation, attribute, label) VALUES ($1, $2::name, $3)";
    const IS_OVERRULED: &str = "
        SELECT EXISTS (SELECT FROM disclosure.labels l
                        WHERE l.relation = $1 AND l.column_name = $2::name AND l.source = 'security label')";
    Spi::connect_mut(|client| {
        client.update(REMOVE, None, &[relation.into(), column.into()])?;
        let Some(label) = label else {
            return Ok(false);
        };
        client.update(ADD, None, &[relation.into(), column.into(), label.into()])?;
        let answer = client.select(IS_OVERRULED, None, &[relation.into(), column.into()])?;
        Ok(answer.first().get_one()?.unwrap_or(false))
    })
}

/// The labels of a relation's columns, read as the calling user.
pub fn labels_of(relation: pg_sys::Oid) -> Result<HashMap<String, Label>, Problem> {
    const QUERY: &str = "SELECT l.column_name::pg_catalog.text, l.label FROM disclosure.labels l \
         WHERE l.relation::pg_catalog.oid OPERATOR(pg_catalog.=) $1";
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::OIDOID, relation.into());
    let mut labels = HashMap::new();
    Spi::connect(|_| -> Result<(), Problem> {
        // SAFETY: within Spi::connect, with an OID for an OID; both columns are of type text.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            for row in 0..answer.rows() {
                let text = |column| {
                    answer
                        .value(row, column)
                        .and_then(|value| String::from_datum(value, false))
                };
                if let (Some(column), Some(label)) = (text(0), text(1)) {
                    labels.insert(column, label.parse()?);
                }
            }
        }
        Ok(())
    })?;
    Ok(labels)
}

/// Registers the provider of SECURITY LABEL FOR disclosure ON COLUMN … IS 'quasi | sensitive | identifier | ignore |
/// likelihood=… danger=…', which checks what is written. Reading labels needs no provider.
pub fn register_provider() {
    // SAFETY: called from _PG_init with a static name and a function that lives as long as the library.
    unsafe { pg_sys::register_label_provider(c"disclosure".as_ptr(), Some(check)) };
}

#[pg_guard]
unsafe extern "C-unwind" fn check(object: *const pg_sys::ObjectAddress, label: *const c_char) {
    // SAFETY: Postgres calls it with valid pointers.
    unsafe {
        // SECURITY LABEL … IS NULL takes a label away.
        if label.is_null() {
            return;
        }
        let is_column = (*object).classId == pg_sys::RelationRelationId && (*object).objectSubId != 0;
        let label = CStr::from_ptr(label).to_string_lossy();
        check_label(is_column, &label).unwrap_or_else(Problem::raise);
        if !is_preloaded() {
            ErrorReport::new(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            "pg_disclosure is not preloaded: other sessions cannot set security labels yet",
            "",
        )
        .set_hint("ALTER DATABASE … SET session_preload_libraries = 'pg_disclosure', or use disclosure.label_column().")
        .report(PgLogLevel::NOTICE);
        }
    }
}

fn check_label(is_column: bool, label: &str) -> Result<(), Problem> {
    if !is_column {
        return Err(Problem::LabelNotOnColumn);
    }
    label.parse::<Label>()?;
    Ok(())
}

/// Whether every new session gets the library before its first statement.
fn is_preloaded() -> bool {
    [
        c"shared_preload_libraries",
        c"session_preload_libraries",
        c"local_preload_libraries",
    ]
    .iter()
    .any(|setting| {
        // SAFETY: a setting that exists in every Postgres; the string lives until the next change of it.
        let libraries = unsafe {
            let libraries = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
            (!libraries.is_null()).then(|| CStr::from_ptr(libraries))
        };
        libraries.is_some_and(|libraries| libraries.to_string_lossy().contains("pg_disclosure"))
    })
}
