//! `risk_view`: makes a view of a relation that shows the risk of every row beside it.
//!
//! The view is made by one CREATE OR REPLACE VIEW with the rights of the caller. All names in that statement
//! have a schema, so the caller's search_path decides where the view goes if its name has no schema, and
//! nothing else.

use crate::args::{Args, given};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::label::labels_of;
use crate::methods::inference::column_settings::{
    ColumnSettings, NullMeaning, Purpose, notice_unlabelled, settings_by_labels,
};
use crate::pg::catalog::name_of;
use crate::pg::types::ColumnType;
use disclosure::{DangerByValue, Label, Weights};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_literal, quote_qualified_identifier};
use pgrx::{PgTryBuilder, direct_function_call};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ffi::{CStr, CString};

/// The columns that the view adds.
const RISK_COLUMNS: [&CStr; 5] = [
    c"privacy_score",
    c"class_size",
    c"worst_inference",
    c"known_facts",
    c"support",
];

/// risk_view(relation regclass, view_name text, columns name[], labels jsonb, security_invoker boolean)
#[pg_extern(sql = false)]
fn risk_view(args: Args) -> Oid {
    make_view(args).unwrap_or_else(Error::raise)
}

fn make_view(mut args: Args) -> Result<Oid, Error> {
    let oid = args.optional("relation");
    let view_name: Option<String> = args.optional("view_name");
    let columns = args.names("columns");
    let given_labels = args.json("labels")?;
    let security_invoker = args.optional("security_invoker");
    args.end()?;
    let relation = Relation::whole("relation", oid)?;
    let oid = oid.ok_or(Error::Internal("a relation without OID"))?; // NULL was refused above
    let view_name = view_name.ok_or_else(|| Error::null("view_name", NAME_OF_VIEW))?;
    let security_invoker = given("security_invoker", security_invoker)?;
    check_security_invoker(security_invoker)?;
    check_relation(&relation)?;
    let judged = Judged::new(oid, &relation, columns, given_labels)?;
    let view = ViewName::new(&view_name, oid)?;
    let existing = view.existing();
    if let Some(existing) = existing.filter(|&existing| !is_risk_view(existing)) {
        // The view may be there for another reason, such as to hide something. Replacing it would be a
        // surprise.
        return Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE,
            "view_name",
            format!("{} already exists and is not a risk view", name_of(existing)),
            "Give another name, or drop it first.",
        ));
    }
    let statement = judged.statement(&relation, &view.quoted(), security_invoker);
    match existing {
        Some(existing) => replace(&statement, &relation, existing)?,
        None => execute(&statement)?,
    }
    view.existing().ok_or(Error::Internal("the view was not made"))
}

fn check_security_invoker(wanted: bool) -> Result<(), Error> {
    match wanted && cfg!(feature = "pg14") {
        true => Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "security_invoker",
            "needs Postgres 15 or later",
            "Leave it out: the view then reads with the rights of its owner.",
        )),
        false => Ok(()),
    }
}

/// Checks that the view can have all columns of the relation and its own.
fn check_relation(relation: &Relation) -> Result<(), Error> {
    if relation.columns().is_empty() {
        return Err(Error::argument(
            "relation",
            format!("{} has no columns", relation.name()),
            "Give a table or view with columns.",
        ));
    }
    let mut columns = relation.columns().iter();
    let is_taken = |column: &&ColumnType| {
        RISK_COLUMNS
            .iter()
            .any(|name| name.to_bytes() == column.name.as_bytes())
    };
    match columns.find(is_taken) {
        Some(column) => Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN,
            "relation",
            format!("already has a column \"{}\"", column.name),
            "Rename the column, or give a view of the relation in which it has another name.",
        )),
        None => Ok(()),
    }
}

/// The columns and labels that the risk is measured by.
struct Judged {
    /// The columns that take part if the caller chose some. `None`: whole rows of the relation, with all of
    /// their labels.
    chosen: Option<Vec<String>>,
    /// The columns that an adversary may know beforehand: they tell people apart.
    known: Vec<String>,
    /// The columns that identify the person that a row is about.
    person: Vec<String>,
    /// The argument `labels` of `privacy_risk`.
    labels: Option<Value>,
}

impl Judged {
    /// Checks the arguments `columns` and `labels`, and tells the caller about columns without a label.
    fn new(
        oid: Oid,
        relation: &Relation,
        columns: Option<Vec<Option<String>>>,
        given: Option<Value>,
    ) -> Result<Self, Error> {
        let chosen = columns
            .map(|columns| relation.chosen_columns(columns))
            .transpose()?;
        let labels = labels_of(oid)?;
        let settings = settings_by_labels(
            relation.columns(),
            Some(&labels),
            given.as_ref(),
            Purpose::Score(NullMeaning::Absent),
        )?;
        let is_person = |settings: &ColumnSettings| settings.label == Some(Label::Person);
        let is_chosen = |column: &ColumnType| chosen.as_ref().is_none_or(|chosen| chosen.contains(column));
        // In the order of the relation.
        let judged: Vec<(&ColumnType, &ColumnSettings)> = relation
            .columns()
            .iter()
            .zip(&settings)
            .filter(|(column, settings)| is_chosen(column) || is_person(settings))
            .collect();
        notice_unlabelled(Some(oid), judged.iter().copied());
        let is_known = |settings: &ColumnSettings| {
            let weights = settings.weights.as_ref();
            weights.is_some_and(|weights| weights.may_be_known())
        };
        let known = judged.iter().filter(|(_, settings)| is_known(settings));
        let people = judged.iter().filter(|(_, settings)| is_person(settings));
        let name = |(column, _): &(&ColumnType, &ColumnSettings)| column.name.clone();
        Ok(Judged {
            known: known.map(name).collect(),
            person: people.map(name).collect(),
            // A row of the relation brings its labels along; a row of chosen columns needs them as an
            // argument.
            labels: match chosen {
                Some(_) => all_labels(&judged, &labels, given.as_ref()),
                None => given,
            },
            chosen: chosen.as_ref().map(|_| judged.iter().map(name).collect()),
        })
    }

    /// Returns the statement that makes the view.
    fn statement(&self, relation: &Relation, view: &str, security_invoker: bool) -> String {
        let columns = relation.columns().iter();
        let all: Vec<String> = columns.map(|column| column.name.clone()).collect();
        let (judged, lateral) = match &self.chosen {
            None => ("t", String::new()),
            Some(chosen) => (
                "judged",
                format!(", LATERAL (SELECT {}) AS judged", list("t", chosen)),
            ),
        };
        let labels = match &self.labels {
            None => "NULL".to_string(),
            Some(labels) => quote_literal(labels.to_string()),
        };
        let class_size = self.class_size(judged);
        format!(
            "CREATE OR REPLACE VIEW {view} {invoker} AS \
             SELECT {shown}, \
                    (risk.privacy_score).privacy_score, \
                    risk.class_size, \
                    (risk.privacy_score).worst_inference, \
                    (risk.privacy_score).known_facts, \
                    (risk.privacy_score).support \
               FROM (SELECT {read}, \
                            disclosure.privacy_risk({judged}.*, {labels}::pg_catalog.jsonb) OVER () AS privacy_score, \
                            {class_size} OVER () AS class_size \
                       FROM {relation} AS t{lateral}) AS risk",
            invoker = if security_invoker {
                "WITH (security_invoker)"
            } else {
                ""
            },
            shown = list("risk", &all),
            read = list("t", &all),
            relation = relation.name(),
        )
    }
}

impl Judged {
    /// Returns the call that counts the people, or the rows, in the class of a row, without OVER. `judged` is the alias of
    /// the row that is judged.
    fn class_size(&self, judged: &str) -> String {
        match (&self.known[..], &self.person[..]) {
            ([], []) => "pg_catalog.count(*)".into(),
            ([], person) => format!("disclosure.count_people({})", list("t", person)),
            (known, []) => format!("disclosure.class_size(ROW({}))", list("t", known)),
            (known, person) => {
                let names: Vec<String> = known.iter().map(quote_literal).collect();
                let labels = person.iter().map(|name| (name.clone(), Value::from("person")));
                let labels = Value::Object(labels.collect());
                format!(
                    "disclosure_internal.class_size_of_record({judged}.*, ARRAY[{}]::pg_catalog.name[], \
                     {}::pg_catalog.jsonb)",
                    names.join(", "),
                    quote_literal(labels.to_string())
                )
            }
        }
    }
}

/// Returns columns of a relation with this alias, as SQL.
fn list(alias: &str, columns: &[String]) -> String {
    let column = |name: &String| format!("{alias}.{}", quote_identifier(name));
    let columns: Vec<String> = columns.iter().map(column).collect();
    columns.join(", ")
}

/// Returns labels and what the caller gave for these columns, as the argument `labels` takes both; `None` if
/// there is neither.
fn all_labels(
    columns: &[(&ColumnType, &ColumnSettings)],
    labels: &HashMap<String, Label>,
    given: Option<&Value>,
) -> Option<Value> {
    let mut all = Map::new();
    for (column, settings) in columns {
        let label = labels.get(&column.name);
        let given = given.and_then(|given| given.get(&column.name));
        let value = match (given, label) {
            // What is given is added to the label, unless the column takes no part anyway.
            (Some(Value::Object(given)), Some(label)) => match (&settings.weights, label.weights()) {
                (None, _) => Value::String(label.to_string()),
                (Some(_), None) => Value::Object(given.clone()),
                (Some(_), Some(weights)) => with_label(label, weights, given),
            },
            (Some(given), _) => given.clone(),
            (None, Some(label)) => Value::String(label.to_string()),
            (None, None) => continue,
        };
        all.insert(column.name.clone(), value);
    }
    (!all.is_empty()).then_some(Value::Object(all))
}

/// Returns the settings that are given, with those of the label for all others.
fn with_label(label: &Label, weights: Weights, given: &Map<String, Value>) -> Value {
    let mut settings = given.clone();
    let likelihood = number(weights.likelihood);
    settings.entry("likelihood").or_insert(likelihood);
    match (label, settings.get_mut("danger")) {
        (Label::ByValue(by_value), Some(Value::Object(given))) => {
            for (value, danger) in dangers(by_value) {
                given.entry(value).or_insert(danger);
            }
        }
        (Label::ByValue(by_value), None) => {
            settings.insert("danger".into(), Value::Object(dangers(by_value).collect()));
        }
        (_, None) => {
            settings.insert("danger".into(), number(weights.danger));
        }
        (_, Some(_)) => (),
    }
    if label.nulls_are_values() {
        settings.insert("nulls".into(), "value".into());
    }
    Value::Object(settings)
}

/// Returns the dangers of values as the argument `labels` takes them.
fn dangers(by_value: &DangerByValue) -> impl Iterator<Item = (String, Value)> {
    let of_values = by_value.of_values.iter();
    let of_values = of_values.map(|(value, &danger)| (value.clone(), number(danger)));
    of_values.chain([(DangerByValue::OTHERS.into(), number(by_value.of_others))])
}

/// Returns a weight as JSON, without a fraction if it has none, as jsonb prints float8.
fn number(weight: f64) -> Value {
    match weight {
        0.0 | 1.0 => (weight as u32).into(),
        _ => weight.into(),
    }
}

const NAME_OF_VIEW: &str =
    "Give a name, or schema.name, with double quotes around a name that is not in lower case.";

/// Where the view goes.
struct ViewName {
    schema: CString,
    name: CString,
}

impl ViewName {
    /// Reads the argument `view_name`. Without a schema, the view goes where CREATE VIEW would put it.
    fn new(given: &str, relation: Oid) -> Result<Self, Error> {
        let mut parts = identifiers(given)
            .ok_or_else(|| Error::argument("view_name", "is not a valid name of a view", NAME_OF_VIEW))?;
        let name = parts.pop().ok_or(Error::Internal("a name without parts"))?;
        let schema = match parts.pop() {
            Some(schema) => schema,
            None => creation_schema(relation).ok_or_else(|| {
                Error::unusable(
                    PgSqlErrorCode::ERRCODE_INVALID_SCHEMA_NAME,
                    "view_name",
                    "no schema has been selected to create in",
                    "Give schema.name, or set search_path.",
                )
            })?,
        };
        Ok(ViewName { schema, name })
    }

    fn quoted(&self) -> String {
        quote_qualified_identifier(self.schema.to_string_lossy(), self.name.to_string_lossy())
    }

    /// Returns the relation that has this name now.
    fn existing(&self) -> Option<Oid> {
        // SAFETY: strings that live longer than the call; an unknown name has no OID. Postgres does not
        // change them.
        let found = unsafe {
            let range =
                pg_sys::makeRangeVar(self.schema.as_ptr().cast_mut(), self.name.as_ptr().cast_mut(), -1);
            pg_sys::RangeVarGetRelidExtended(
                range,
                pg_sys::NoLock as pg_sys::LOCKMODE,
                pg_sys::RVROption::RVR_MISSING_OK,
                None,
                std::ptr::null_mut(),
            )
        };
        (found != Oid::INVALID).then_some(found)
    }
}

/// Returns the one or two identifiers of a name, as Postgres reads them; `None` if it cannot, or there are
/// more.
fn identifiers(given: &str) -> Option<Vec<CString>> {
    // SAFETY: a function of Postgres with arguments of its types. It may raise an error, after which only an
    // error of our own follows.
    let parse = || unsafe {
        direct_function_call::<Vec<String>>(pg_sys::parse_ident, &[given.into_datum(), true.into_datum()])
    };
    let parts = PgTryBuilder::new(std::panic::AssertUnwindSafe(parse))
        .catch_when(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, |_| None)
        .execute()?;
    let parts = parts.into_iter().map(|part| CString::new(part).ok());
    let parts: Vec<CString> = parts.collect::<Option<_>>()?;
    matches!(parts.len(), 1 | 2).then(|| parts.into_iter().map(truncated).collect())
}

/// Returns an identifier as long as Postgres keeps it.
fn truncated(identifier: CString) -> CString {
    let mut bytes = identifier.into_bytes_with_nul();
    let length = bytes.len() as i32 - 1;
    // SAFETY: a string of that many bytes, of which Postgres at most overwrites one by NUL.
    unsafe { pg_sys::truncate_identifier(bytes.as_mut_ptr().cast(), length, false) };
    let kept = CStr::from_bytes_until_nul(&bytes);
    kept.map(CStr::to_owned).unwrap_or_default()
}

/// Returns the schema of a view of this relation whose name has none; `None` if search_path leads nowhere.
fn creation_schema(relation: Oid) -> Option<CString> {
    // SAFETY: catalogue look-ups; a function without arguments that returns a name, or NULL.
    unsafe {
        match pg_sys::get_rel_persistence(relation) as u8 {
            pg_sys::RELPERSISTENCE_TEMP => Some(c"pg_temp".to_owned()),
            _ => direct_function_call::<&CStr>(pg_sys::current_schema, &[]).map(CStr::to_owned),
        }
    }
}

/// Returns whether a relation is a view with all columns of a risk view.
fn is_risk_view(relation: Oid) -> bool {
    // SAFETY: catalogue look-ups; an unknown column has no number.
    unsafe {
        let kind = pg_sys::get_rel_relkind(relation) as u8;
        let mut columns = RISK_COLUMNS.iter();
        kind == pg_sys::RELKIND_VIEW && columns.all(|name| pg_sys::get_attnum(relation, name.as_ptr()) > 0)
    }
}

/// Replaces a risk view. It keeps its columns; if the relation no longer has these, that is an error.
fn replace(statement: &str, relation: &Relation, existing: Oid) -> Result<(), Error> {
    let problem = format!(
        "the columns of relation {} are not those that view {} was made for",
        relation.name(),
        name_of(existing)
    );
    let changed = || {
        Error::unusable(
            PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
            "view_name",
            problem.clone(),
            "Drop the view, then make it again.",
        )
    };
    // After an error of Postgres, only an error of our own follows.
    PgTryBuilder::new(std::panic::AssertUnwindSafe(|| execute(statement)))
        .catch_when(PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION, |_| {
            Err(changed())
        })
        .execute()
}

/// Runs a statement with the rights of the caller.
fn execute(statement: &str) -> Result<(), Error> {
    Spi::connect_mut(|client| client.update(statement, None, &[]).map(drop))
        .map_err(|_| Error::Internal("the view could not be made"))
}
