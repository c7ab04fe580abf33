//! Labels: the functions that set them, the provider of security labels, and the one place where measures
//! read them.
//!
//! A column's own label comes from `SECURITY LABEL` or, if there is none, from the table behind
//! `label_column`. A column without a label of its own has the label of the column that it plainly refers to:
//! through views and materialized views, and from the parents of partitions and inheritance children.

use crate::args::{Args, is_first_in_statement};
use crate::error::Error;
use crate::guard::log::{self, Entry, Lasting};
use crate::guard::{duties, enforcement, rights};
use crate::input::relation::Relation;
use crate::pg::origin::{Origins, origins_of};
use crate::pg::query::{Answer, Parameters};
use disclosure::Label;
use pgrx::direct_function_call;
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::rc::Rc;

/// label_weights(label text): likelihood and danger
#[pg_extern(sql = false)]
fn label_weights(label: &str) -> Option<Vec<f64>> {
    let weights = parsed(label).unwrap_or_else(Error::raise).weights()?;
    Some(vec![weights.likelihood, weights.danger])
}

/// canonical_label(label text)
#[pg_extern(sql = false)]
fn canonical_label(label: &str) -> String {
    parsed(label).unwrap_or_else(Error::raise).to_string()
}

fn parsed(label: &str) -> Result<Label, Error> {
    Ok(label.parse()?)
}

/// label_column(relation regclass, column_name name, label text)
#[pg_extern(sql = false)]
fn label_column(args: Args) {
    set_label(args).unwrap_or_else(Error::raise);
}

fn set_label(mut args: Args) -> Result<(), Error> {
    let relation = args.optional("relation");
    let column = args.name("column_name");
    let label: Option<String> = args.optional("label");
    args.end()?;
    let target = Target::new(c"label_column()", "relation", relation)?;
    let column = column.ok_or_else(|| Error::null("column_name", "Give the name of a column."))?;
    target.relation.column("column_name", &column)?;
    let label = label.as_deref().map(parsed).transpose()?;
    target.set(&[(column, label)])
}

/// The arguments of `label_columns`, each with the label that it stands for.
const ARGUMENTS: [(&str, Label); 7] = [
    ("quasi", Label::Quasi),
    ("sensitive", Label::Sensitive),
    ("identifier", Label::Identifier),
    ("person", Label::Person),
    ("household", Label::Household),
    ("ignore", Label::Ignore),
    ("weight", Label::Weight),
];

/// label_columns(relation regclass, quasi name[], sensitive name[], identifier name[], person name[], household name[],
/// ignore name[], weight name[])
#[pg_extern(sql = false)]
fn label_columns(args: Args) -> i32 {
    set_labels(args).unwrap_or_else(Error::raise)
}

fn set_labels(mut args: Args) -> Result<i32, Error> {
    let relation = args.optional("relation");
    let given = ARGUMENTS.map(|(argument, _)| args.names(argument).unwrap_or_default());
    args.end()?;
    let target = Target::new(c"label_columns()", "relation", relation)?;
    let mut labels: Vec<(String, Option<Label>)> = Vec::new();
    let mut argument_of: HashMap<String, &'static str> = HashMap::new();
    for ((argument, label), names) in ARGUMENTS.into_iter().zip(given) {
        let invalid = |problem: String| Error::argument(argument, problem, "Give every column once.");
        for name in names {
            let name = name.ok_or_else(|| {
                Error::argument(
                    argument,
                    "must not contain NULL",
                    "Give an array of column names.",
                )
            })?;
            target.relation.column(argument, &name)?;
            match argument_of.insert(name.clone(), argument) {
                Some(other) if other == argument => {
                    return Err(invalid(format!("\"{name}\" is given twice")));
                }
                Some(other) => return Err(invalid(format!("\"{name}\" is also in {other}"))),
                None => labels.push((name, Some(label.clone()))),
            }
        }
    }
    if labels.is_empty() {
        return Err(Error::argument(
            "label_columns",
            "no columns are given",
            "Give the columns of at least one label, such as quasi => '{age, zip}'.",
        ));
    }
    target.set(&labels)?;
    Ok(labels.len() as i32)
}

/// copy_labels(source regclass, target regclass)
#[pg_extern(sql = false)]
fn copy_labels(args: Args) -> i32 {
    copy(args).unwrap_or_else(Error::raise)
}

fn copy(mut args: Args) -> Result<i32, Error> {
    let source = args.optional("source");
    let target = args.optional("target");
    args.end()?;
    let Target { oid: source, .. } = Target::new(c"copy_labels()", "source", source)?;
    let target = Target::new(c"copy_labels()", "target", target)?;
    let of_source = labels_of(source)?;
    let mut labels = Vec::new();
    let mut others = Vec::new();
    for column in target.relation.columns() {
        match of_source.get(&column.name) {
            Some(label) => labels.push((column.name.clone(), Some(label.clone()))),
            None => others.push(&column.name[..]),
        }
    }
    target.set(&labels)?;
    if !others.is_empty() {
        notice!(
            "{}: {}",
            counted(
                &others,
                target.oid,
                &format!("no labelled counterpart in {}", shown(source))
            ),
            enumerated(&others)
        );
    }
    Ok(labels.len() as i32)
}

/// A relation whose labels are to be set.
struct Target {
    /// The function that sets them.
    command: &'static CStr,
    oid: Oid,
    relation: Relation,
}

impl Target {
    fn new(command: &'static CStr, argument: &'static str, oid: Option<Oid>) -> Result<Self, Error> {
        let relation = Relation::whole(argument, oid)?;
        let oid = oid.ok_or(Error::Internal("a relation without OID"))?; // NULL was refused above
        Ok(Target {
            command,
            oid,
            relation,
        })
    }

    /// Sets the labels of these columns, all of which exist; `None` removes one.
    fn set(&self, labels: &[(String, Option<Label>)]) -> Result<(), Error> {
        duties::check_may_label(self.oid)?;
        rights::begin_change(self.command, self.oid)?;
        if rights::check_owner(self.oid).is_err() {
            self.remove_security_labels(labels);
        }
        let overruled = rights::as_owner(|| {
            store(self.oid, labels).map_err(|_| Error::Internal("the labels could not be stored"))
        })?;
        let changes = labels.iter().map(|(column, label)| match label {
            Some(label) => format!("\"{column}\" {}", label.outline()),
            None => format!("\"{column}\" no label"),
        });
        let changes: Vec<String> = changes.collect();
        log_change(self.oid, &changes.join(", "))?;
        enforcement::remind()?;
        if !overruled.is_empty() {
            notice!(
                "{}, which overrides the new label: {}",
                counted(&overruled, self.oid, "a security label"),
                enumerated(&overruled)
            );
        }
        Ok(())
    }

    /// Removes the security labels of columns. A role that administers policies without owning the relation
    /// cannot do that itself, and they would take precedence over its labels.
    fn remove_security_labels(&self, labels: &[(String, Option<Label>)]) {
        for (column, _) in labels {
            let Ok(column) = CString::new(column.as_str()) else {
                continue; // no column has such a name
            };
            // SAFETY: the strings are NUL-terminated. A label that does not exist is not removed.
            unsafe {
                let object = pg_sys::ObjectAddress {
                    classId: pg_sys::RelationRelationId,
                    objectId: self.oid,
                    objectSubId: pg_sys::get_attnum(self.oid, column.as_ptr()).into(),
                };
                pg_sys::SetSecurityLabel(&object, PROVIDER.as_ptr(), std::ptr::null());
            }
        }
    }
}

/// Writes a change of labels to the export log.
fn log_change(relation: Oid, what: &str) -> Result<(), Error> {
    log::write(&Entry::change("label", relation, what), Lasting::IfCommitted)
}

/// check_may_label(relation oid): raises an error unless the caller may change the labels of the relation.
#[pg_extern(sql = false)]
fn check_may_label(relation: Oid) {
    duties::check_may_label(relation).unwrap_or_else(Error::raise)
}

/// Replaces the labels of columns. Returns those that also have a security label.
fn store(relation: Oid, labels: &[(String, Option<Label>)]) -> Result<Vec<&str>, pgrx::spi::Error> {
    const REMOVE: &str = "DELETE FROM disclosure_internal.column_label l WHERE l.relation::oid = $1 AND l.attribute = $2::name";
    const ADD: &str =
        "INSERT INTO disclosure_internal.column_label (relation, attribute, label) VALUES ($1, $2::name, $3)";
    const IS_OVERRULED: &str = "
        SELECT EXISTS (SELECT FROM disclosure.labels l
                        WHERE l.relation = $1 AND l.column_name = $2::name AND l.source = 'security label')";
    Spi::connect_mut(|client| {
        let mut overruled = Vec::new();
        for (column, label) in labels {
            let column = column.as_str();
            client.update(REMOVE, None, &[relation.into(), column.into()])?;
            let Some(label) = label else {
                continue;
            };
            let label = label.to_string();
            client.update(ADD, None, &[relation.into(), column.into(), label.into()])?;
            let answer = client.select(IS_OVERRULED, None, &[relation.into(), column.into()])?;
            if answer.first().get_one()?.unwrap_or(false) {
                overruled.push(column);
            }
        }
        Ok(overruled)
    })
}

/// Returns the labels of a relation's columns, those that they inherit included, read as the calling user.
pub fn labels_of(relation: Oid) -> Result<HashMap<String, Label>, Error> {
    Followed::default().labels_of(relation).map(Rc::unwrap_or_clone)
}

/// Returns the labels of the columns of several relations like [`labels_of`], with one query for all of their own labels.
pub fn labels_of_each(relations: &[Oid]) -> Result<HashMap<Oid, Rc<Labels>>, Error> {
    let mut own = own_labels_of(relations)?;
    for &relation in relations {
        own.entry(relation).or_default();
    }
    let mut followed = Followed {
        own,
        ..Followed::default()
    };
    let labels = relations
        .iter()
        .map(|&relation| Ok((relation, followed.labels_of(relation)?)));
    labels.collect()
}

/// Returns an error unless the calling user may set labels of a relation.
pub fn check_may_label_relation(relation: Oid) -> Result<(), Error> {
    duties::check_may_label(relation)
}

/// Sets labels of a relation's columns, all of which exist, for `command`, the function that the user called.
pub fn set_labels_of(
    command: &'static CStr,
    relation: Oid,
    labels: &[(String, Option<Label>)],
) -> Result<(), Error> {
    Target::new(command, "relation", Some(relation))?.set(labels)
}

/// labelled_columns(relation oid): the columns that have a label, of their own or from other relations
#[pg_extern(sql = false)]
fn labelled_columns(relation: Oid) -> Vec<String> {
    let labels = labels_of(relation).unwrap_or_else(Error::raise);
    labels.into_keys().collect()
}

/// The labels of a relation's columns, by name.
type Labels = HashMap<String, Label>;

/// Labels of relations that have been followed. Those that are being followed have none yet, so that views
/// which refer to each other do not lead round in a circle.
#[derive(Default)]
struct Followed {
    followed: HashMap<Oid, Rc<Labels>>,
    /// Labels that were set on columns of relations themselves, as far as they have been read.
    own: HashMap<Oid, Labels>,
}

impl Followed {
    fn labels_of(&mut self, relation: Oid) -> Result<Rc<Labels>, Error> {
        // SAFETY: raises an error if the stack is nearly full: views may be nested deeply.
        unsafe { pg_sys::check_stack_depth() };
        pgrx::check_for_interrupts!();
        if let Some(labels) = self.followed.get(&relation) {
            return Ok(Rc::clone(labels));
        }
        self.followed.insert(relation, Rc::default());
        let mut labels = match self.own.remove(&relation) {
            Some(labels) => labels,
            None => own_labels_of(&[relation])?.remove(&relation).unwrap_or_default(),
        };
        match origins_of(relation)? {
            Origins::View(columns) => {
                for (name, origin) in columns {
                    if !labels.contains_key(&name)
                        && let Some(label) = self.labels_of(origin.relation)?.get(&origin.name)
                    {
                        labels.insert(name, label.clone());
                    }
                }
            }
            Origins::Parents(parents) => {
                for parent in parents {
                    for (name, label) in self.labels_of(parent)?.iter() {
                        labels.entry(name.clone()).or_insert_with(|| label.clone());
                    }
                }
            }
        }
        let labels = Rc::new(labels);
        self.followed.insert(relation, Rc::clone(&labels));
        Ok(labels)
    }
}

/// Returns the labels that were set on columns of relations themselves.
fn own_labels_of(relations: &[Oid]) -> Result<HashMap<Oid, Labels>, Error> {
    const QUERY: &str = "SELECT l.relation::pg_catalog.oid, l.column_name::pg_catalog.text, l.label FROM disclosure.labels l \
         WHERE l.relation::pg_catalog.oid OPERATOR(pg_catalog.=) ANY ($1)";
    let parameters = Parameters::of_oids(relations)?;
    let mut labels: HashMap<Oid, Labels> = HashMap::new();
    Spi::connect(|_| -> Result<(), Error> {
        // SAFETY: within Spi::connect, with an array of OIDs; the columns are of type oid, text and text.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            for row in 0..answer.rows() {
                if let (Some(relation), Some(column), Some(label)) = (
                    answer.get(row, 0),
                    answer.get(row, 1),
                    answer.get::<String>(row, 2),
                ) {
                    labels
                        .entry(relation)
                        .or_default()
                        .insert(column, parsed(&label)?);
                }
            }
        }
        Ok(())
    })?;
    Ok(labels)
}

/// Tells the caller, once per statement and relation, that columns which form classes have no label, and so count as
/// known.
pub fn notice_known(relation: Oid, columns: &[&str]) {
    notice(relation, columns, "as known to an adversary");
}

/// Tells the caller, once per statement and relation, that columns which take part in a measure have no label, and so
/// count as known and as dangerous.
pub fn notice_unlabelled(relation: Oid, columns: &[&str]) {
    notice(relation, columns, "as known to an adversary and as dangerous");
}

/// Tells the caller, once per statement and relation, what columns without a label count as. Measure functions that the
/// guard calls say nothing, because the user who exports cannot label columns.
fn notice(relation: Oid, columns: &[&str], as_what: &str) {
    if columns.is_empty() || rights::is_measuring() {
        return;
    }
    if !is_first_in_statement(format!("labels of relation {}", relation.to_u32())) {
        return;
    }
    let (they_count, them) = match columns {
        [_] => ("It counts", "it"),
        _ => ("They count", "them"),
    };
    let message = counted(columns, relation, "no label");
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("{message}: {}", enumerated(columns)),
        "",
    )
    .set_detail(format!("{they_count} {as_what}."))
    .set_hint(format!("Label {them} with disclosure.label_columns()."))
    .report(PgLogLevel::NOTICE);
}

/// Returns the beginning of a sentence about columns, such as "2 columns of relation patients have no label".
fn counted(columns: &[&str], relation: Oid, what: &str) -> String {
    let relation = shown(relation);
    match columns.len() {
        1 => format!("1 column of relation {relation} has {what}"),
        number => format!("{number} columns of relation {relation} have {what}"),
    }
}

/// Returns the name of a relation as `regclass` shows it: without a schema if search_path leads there.
fn shown(relation: Oid) -> String {
    // SAFETY: a function of Postgres with an argument of its type, which returns a C string.
    let name = unsafe { direct_function_call::<&CStr>(pg_sys::regclassout, &[relation.into_datum()]) };
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Tells the caller, once per statement, which columns a call that names none compares. As
/// [`notice_unlabelled`], it says nothing to a user who exports.
pub fn notice_compared(columns: &[&str]) {
    let names: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
    let message = format!("columns: these are compared: {}", names.join(", "));
    if rights::is_measuring() || !is_first_in_statement(message.clone()) {
        return;
    }
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
        .set_hint(
            "Name the columns that an adversary may know, or label the others 'identifier' or 'ignore'.",
        )
        .report(PgLogLevel::NOTICE);
}

/// Returns names in double quotes, the first few of them.
fn enumerated(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(|name| format!("\"{name}\""));
    let shown: Vec<String> = shown.collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Registers the provider of SECURITY LABEL FOR disclosure ON COLUMN … IS '…', which checks what is written.
/// Reading labels needs no provider.
pub fn register_provider() {
    // SAFETY: called from _PG_init with a static name and a function that lives as long as the library.
    unsafe { pg_sys::register_label_provider(PROVIDER.as_ptr(), Some(check)) };
}

const PROVIDER: &CStr = c"disclosure";

/// Checks a security label that is about to be set.
#[pg_guard]
unsafe extern "C-unwind" fn check(object: *const pg_sys::ObjectAddress, label: *const c_char) {
    // SAFETY: Postgres calls it with valid pointers. SECURITY LABEL … IS NULL removes a label.
    let (object, label) = unsafe {
        let label = (!label.is_null()).then(|| CStr::from_ptr(label).to_string_lossy());
        (*object, label)
    };
    check_label(object, label.as_deref()).unwrap_or_else(Error::raise);
    if label.is_some() && !is_preloaded() {
        ErrorReport::new(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            "pg_disclosure is not preloaded: other sessions cannot set security labels yet",
            "",
        )
        .set_hint("Run ALTER DATABASE … SET session_preload_libraries = 'pg_disclosure', or use disclosure.label_column().")
        .report(PgLogLevel::NOTICE);
    }
}

/// Checks that the current user may set a security label, or remove one if it is `None`, and logs the change.
/// Postgres has checked that the user owns the object.
fn check_label(object: pg_sys::ObjectAddress, label: Option<&str>) -> Result<(), Error> {
    let is_column = object.classId == pg_sys::RelationRelationId && object.objectSubId != 0;
    if !is_column {
        return match label {
            Some(_) => Err(Error::LabelNotOnColumn),
            None => Ok(()),
        };
    }
    let label = label.map(parsed).transpose()?;
    if !log::exists() {
        return Ok(()); // the library is loaded, but the extension is not installed
    }
    duties::check_may_label(object.objectId)?;
    // SAFETY: returns NULL if there is no such column, otherwise a C string, which is copied.
    let column = unsafe {
        let name = pg_sys::get_attname(object.objectId, object.objectSubId as i16, true);
        let name = if name.is_null() { c"" } else { CStr::from_ptr(name) };
        name.to_string_lossy().into_owned()
    };
    let label = label.map_or("no security label".into(), |label| {
        format!("security label {}", label.outline())
    });
    log_change(object.objectId, &format!("\"{column}\" {label}"))
}

/// Returns whether every new session loads the library before its first statement.
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
