//! The functions `suggest_labels` and `suggest_labels_in`: labels for columns that have none.
//!
//! The suggestions are made by [`disclosure::columns::suggestions`] from what the catalogues say ([`facts`]), the values
//! ([`sample`]) and the terms of `disclosure.dictionary` ([`dictionary`]). Labels that an inheritance child or a view takes
//! from other relations are suggested and set there, if a whole schema is asked for.

mod dictionary;
mod facts;
mod sample;

use crate::args::Args;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::label;
use crate::pg::query::{self, Parameters};
use crate::pg::table::{Table, table_row};
use disclosure::Label;
use disclosure::columns::suggestions::{SuggestedLabel, Suggestion, suggest};
use facts::{ColumnExtras, RelationFacts, facts_of};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use sample::RowsRead;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};

/// Confidence from which on a suggestion is taken for right.
const LIKELY: f64 = 0.5;

/// The same for the label ignore, which takes a column out of all measures: more than that nothing is known about it.
const LIKELY_HARMLESS: f64 = 0.6;

/// Returns whether a suggestion is taken for right.
pub fn is_likely(suggestion: &Suggestion) -> bool {
    suggestion.confidence
        >= match suggestion.label {
            SuggestedLabel::Ignore => LIKELY_HARMLESS,
            _ => LIKELY,
        }
}

/// Returns the label that a suggestion stands for; `None` if it is not likely, or there is no such label.
pub fn label_of(suggestion: &Suggestion) -> Option<Label> {
    let label = match suggestion.label {
        SuggestedLabel::Identifier => Label::Identifier,
        SuggestedLabel::Quasi => Label::Quasi,
        SuggestedLabel::Sensitive => Label::Sensitive,
        SuggestedLabel::Person => Label::Person,
        SuggestedLabel::Household => Label::Household,
        SuggestedLabel::Weight => Label::Weight,
        SuggestedLabel::Ignore => Label::Ignore,
        SuggestedLabel::Count => return None,
    };
    is_likely(suggestion).then_some(label)
}

/// Returns the suggestions for the columns of a relation, in their order.
pub fn of_relation(relation: Oid) -> Result<Vec<Suggestion>, Error> {
    let suggested = suggestions_of(&[relation], Values::Some, Columns::All)?;
    let columns = suggested.into_iter().flat_map(|relation| relation.columns);
    Ok(columns.map(|column| column.suggestion).collect())
}

/// Which values are read.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    /// None: catalogues and statistics only.
    None,
    /// All values of a small relation, and a sample of those of a larger one.
    Some,
    /// All values.
    All,
}

/// Which columns are judged.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    All,
    /// Those that do not take their labels from other relations. Values of others are not read either.
    WithoutOrigin,
}

/// A relation with suggestions for its columns.
struct SuggestedRelation {
    oid: Oid,
    columns: Vec<SuggestedColumn>,
}

/// A column with its suggestion.
struct SuggestedColumn {
    name: String,
    suggestion: Suggestion,
    /// Label that the column has, of its own or from elsewhere.
    label: Option<Label>,
    /// Whether values of the column were read.
    has_values: bool,
}

/// Returns relations with suggestions for their columns.
fn suggestions_of(
    relations: &[Oid],
    values: Values,
    columns: Columns,
) -> Result<Vec<SuggestedRelation>, Error> {
    let terms = dictionary::usable()?;
    let mut labels = label::labels_of_each(relations)?;
    let suggested = facts_of(relations)?.into_iter().map(|mut relation| {
        pgrx::check_for_interrupts!();
        let is_judged = |extras: &ColumnExtras| columns == Columns::All || !extras.has_origin;
        for extras in &mut relation.columns {
            extras.may_read &= is_judged(extras);
        }
        let read = match values {
            Values::None => RowsRead::Nothing,
            Values::Some => sample::read(&mut relation, false)?,
            Values::All => sample::read(&mut relation, true)?,
        };
        let suggestions = suggest(&relation.table, &terms);
        let labels = labels.remove(&relation.oid).unwrap_or_default();
        Ok(SuggestedRelation {
            oid: relation.oid,
            columns: suggested_columns(relation, suggestions, read, &labels, is_judged),
        })
    });
    suggested.collect()
}

fn suggested_columns(
    relation: RelationFacts,
    suggestions: Vec<Suggestion>,
    read: RowsRead,
    labels: &HashMap<String, Label>,
    is_judged: impl Fn(&ColumnExtras) -> bool,
) -> Vec<SuggestedColumn> {
    let facts = relation.columns.into_iter().zip(relation.table.columns);
    let judged = facts
        .zip(suggestions)
        .filter(|((extras, _), _)| is_judged(extras));
    let columns = judged.map(|((extras, facts), suggestion)| {
        let mut suggestion = match extras.rule {
            Some(rule) => rule.apply(suggestion),
            None => suggestion,
        };
        if let Some(rows) = read.evidence().filter(|_| facts.formats.is_some()) {
            if !suggestion.evidence.is_empty() {
                suggestion.evidence += " ";
            }
            suggestion.evidence += &rows;
        }
        SuggestedColumn {
            label: labels.get(&facts.name).cloned(),
            has_values: facts.formats.is_some_and(|formats| formats.values() > 0),
            name: facts.name,
            suggestion,
        }
    });
    columns.collect()
}

table_row! {
    /// Suggestion for a column of a relation.
    struct ColumnRow {
        column_name: String,
        label: &'static str,
        category: &'static str,
        confidence: f64,
        evidence: String,
        current_label: Option<String>,
    }
}

/// suggest_labels(relation regclass, apply boolean, full_pass boolean)
#[pg_extern(sql = false)]
fn suggest_labels(args: Args) -> Table<ColumnRow> {
    Table::new(column_rows(args))
}

fn column_rows(mut args: Args) -> Result<Vec<ColumnRow>, Error> {
    let relation = args.optional("relation");
    let apply: bool = args.required("apply")?;
    let full_pass: bool = args.required("full_pass")?;
    args.end()?;
    Relation::whole("relation", relation)?;
    let relation = relation.ok_or(Error::Internal("a relation without OID"))?; // NULL was refused above
    if apply {
        label::check_may_label_relation(relation)?;
    }
    let values = if full_pass { Values::All } else { Values::Some };
    let mut suggested = suggestions_of(&[relation], values, Columns::All)?;
    if apply {
        set_labels(c"suggest_labels()", &mut suggested)?;
    }
    let columns = suggested.into_iter().flat_map(|relation| relation.columns);
    let row = |column: SuggestedColumn| ColumnRow {
        column_name: column.name,
        label: column.suggestion.label.name(),
        category: column.suggestion.category.name(),
        confidence: in_hundredths(column.suggestion.confidence),
        evidence: column.suggestion.evidence,
        current_label: column.label.map(|label| label.outline()),
    };
    Ok(columns.map(row).collect())
}

table_row! {
    /// Suggestion for a column of one of several relations.
    struct SchemaRow {
        relation: Oid,
        column_name: String,
        label: &'static str,
        category: &'static str,
        confidence: f64,
        evidence: String,
        current_label: Option<String>,
    }
}

/// suggest_labels_in(schema_name name, apply boolean, full_pass boolean)
#[pg_extern(sql = false)]
fn suggest_labels_in(args: Args) -> Table<SchemaRow> {
    Table::new(schema_rows(args))
}

fn schema_rows(mut args: Args) -> Result<Vec<SchemaRow>, Error> {
    let schema = args.name("schema_name");
    let apply: bool = args.required("apply")?;
    let full_pass: bool = args.required("full_pass")?;
    args.end()?;
    let relations = relations_in(schema.as_deref())?;
    if apply {
        relations
            .iter()
            .try_for_each(|&relation| label::check_may_label_relation(relation))?;
    }
    let order: HashMap<u32, usize> = relations.iter().map(|oid| oid.to_u32()).zip(0..).collect();
    let (read, others) = match full_pass {
        true => trusted(relations)?,
        false => (Vec::new(), relations),
    };
    if full_pass && !others.is_empty() {
        notice!(
            "relations of which no row was read, because reading them may run code of other roles: {}; see disclosure.suggest_labels()",
            others.len()
        );
    }
    let mut suggested = suggestions_of(&read, Values::All, Columns::WithoutOrigin)?;
    suggested.extend(suggestions_of(&others, Values::None, Columns::WithoutOrigin)?);
    suggested.sort_by_key(|relation| order.get(&relation.oid.to_u32()).copied());
    if apply {
        set_labels(c"suggest_labels_in()", &mut suggested)?;
    }
    let rows = suggested.into_iter().flat_map(|relation| {
        let oid = relation.oid;
        relation.columns.into_iter().map(move |column| SchemaRow {
            relation: oid,
            column_name: column.name,
            label: column.suggestion.label.name(),
            category: column.suggestion.category.name(),
            confidence: in_hundredths(column.suggestion.confidence),
            evidence: column.suggestion.evidence,
            current_label: column.label.map(|label| label.outline()),
        })
    });
    Ok(rows.collect())
}

/// Returns a confidence in hundredths: it is an estimate.
fn in_hundredths(confidence: f64) -> f64 {
    (confidence * 100.0).round() / 100.0
}

/// Divides relations into those whose rows can be read without running code of roles other than the caller and superusers,
/// and others. A view, a foreign table or a table with row-level security may run code of its owner. The caller of a function for a
/// whole schema has not chosen to read each of them.
fn trusted(relations: Vec<Oid>) -> Result<(Vec<Oid>, Vec<Oid>), Error> {
    const QUERY: &str = "SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner \
          WHERE c.oid OPERATOR(pg_catalog.=) ANY ($1) \
            AND (r.rolsuper OR r.rolname OPERATOR(pg_catalog.=) CURRENT_USER \
                 OR NOT c.relrowsecurity AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'm']::pg_catalog.\"char\"[]))";
    let mut parameters = Parameters::default();
    let oids = relations.clone().into_datum();
    parameters.add(
        pg_sys::OIDARRAYOID,
        oids.ok_or(Error::Internal("a list without a value"))?,
    );
    let trusted: HashSet<u32> = query::oids(QUERY, &parameters)?
        .into_iter()
        .map(|oid| oid.to_u32())
        .collect();
    Ok(relations
        .into_iter()
        .partition(|oid| trusted.contains(&oid.to_u32())))
}

/// Returns the relations of a schema that can have labels of their own, by name. Partitions are left to their parents.
fn relations_in(schema: Option<&str>) -> Result<Vec<Oid>, Error> {
    const ARGUMENT: &str = "schema_name";
    const QUERY: &str = "SELECT c.oid FROM pg_catalog.pg_class c \
          WHERE c.relnamespace OPERATOR(pg_catalog.=) $1 AND NOT c.relispartition \
            AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'v', 'm', 'f']::pg_catalog.\"char\"[]) \
          ORDER BY c.relname";
    let schema = schema.ok_or_else(|| Error::null(ARGUMENT, "Give the name of a schema."))?;
    let is_reserved = [
        "disclosure",
        "disclosure_internal",
        "disclosure_lab",
        "information_schema",
    ]
    .contains(&schema)
        || schema.starts_with("pg_") && !schema.starts_with("pg_temp");
    if is_reserved {
        return Err(Error::argument(
            ARGUMENT,
            format!("\"{schema}\" has no tables of users"),
            "Give the name of another schema.",
        ));
    }
    // SAFETY: the name is NUL-terminated; a schema that does not exist is InvalidOid.
    let oid = CString::new(schema).map_or(pg_sys::InvalidOid, |name| unsafe {
        pg_sys::get_namespace_oid(name.as_ptr(), true)
    });
    if oid == pg_sys::InvalidOid {
        return Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_INVALID_SCHEMA_NAME,
            ARGUMENT,
            format!("there is no schema \"{schema}\""),
            "Give the name of a schema of this database.",
        ));
    }
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::OIDOID, oid.into());
    query::oids(QUERY, &parameters)
}

/// Why suggestions were not applied, and how many.
#[derive(Default)]
struct NotApplied {
    unlikely: usize,
    counts: usize,
    taken: usize,
    unseen: usize,
}

/// Labels the columns that have no label as suggested, if that is likely, and says how many suggestions were left out.
/// `command` is the function that the user called.
fn set_labels(command: &'static CStr, relations: &mut [SuggestedRelation]) -> Result<(), Error> {
    let mut not_applied = NotApplied::default();
    for relation in relations {
        let chosen = chosen_labels(relation, &mut not_applied);
        if chosen.is_empty() {
            continue;
        }
        let labels: Vec<(String, Option<Label>)> = chosen
            .into_iter()
            .map(|(place, label)| {
                let column = &mut relation.columns[place];
                column.label = Some(label.clone());
                (column.name.clone(), Some(label))
            })
            .collect();
        label::set_labels_of(command, relation.oid, &labels)?;
    }
    let NotApplied {
        unlikely,
        counts,
        taken,
        unseen,
    } = not_applied;
    let reasons = [
        (
            unlikely,
            format!("with a confidence below {LIKELY}, or {LIKELY_HARMLESS} to ignore a column"),
        ),
        (counts, "of the label count, which does not exist yet".into()),
        (taken, "of a label that another column of the relation has".into()),
        (unseen, "to ignore a column of which no value was read".into()),
    ];
    let reasons = reasons.iter().filter(|(number, _)| *number > 0);
    let reasons: Vec<String> = reasons
        .map(|(number, reason)| format!("{number} {reason}"))
        .collect();
    if !reasons.is_empty() {
        notice!("suggestions that were not applied: {}", reasons.join(", "));
    }
    Ok(())
}

/// Returns the positions of the columns that are labelled as suggested, with the labels. Only the most confident
/// suggestion of a weight counts. Columns that say whom a row is about belong together, so none is added to others. A column
/// is ignored only if its values were read, because no measure and no policy looks at it any more.
fn chosen_labels(relation: &SuggestedRelation, not_applied: &mut NotApplied) -> Vec<(usize, Label)> {
    let has = |label: &Label| {
        let mut labels = relation.columns.iter().flat_map(|column| &column.label);
        labels.any(|other| other == label)
    };
    let of_weights =
        relation.columns.iter().enumerate().filter(|(_, column)| {
            column.label.is_none() && label_of(&column.suggestion) == Some(Label::Weight)
        });
    let best_weight = of_weights.rev().max_by(|(_, a), (_, b)| {
        let (a, b) = (a.suggestion.confidence, b.suggestion.confidence);
        a.total_cmp(&b)
    });
    let best_weight = best_weight.map(|(place, _)| place);
    let mut chosen = Vec::new();
    let unlabelled = relation.columns.iter().enumerate();
    for (place, column) in unlabelled.filter(|(_, column)| column.label.is_none()) {
        match label_of(&column.suggestion) {
            None if !is_likely(&column.suggestion) => not_applied.unlikely += 1,
            None => not_applied.counts += 1,
            Some(label @ (Label::Person | Label::Household | Label::Weight)) if has(&label) => {
                not_applied.taken += 1;
            }
            Some(Label::Weight) if best_weight != Some(place) => not_applied.taken += 1,
            Some(Label::Ignore) if !column.has_values => not_applied.unseen += 1,
            Some(label) => chosen.push((place, label)),
        }
    }
    chosen
}
