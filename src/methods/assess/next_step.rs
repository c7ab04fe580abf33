//! SQL statements that an assessment proposes.

use crate::error::Error;
use crate::methods::assess::preset::Preset;
use crate::methods::assess::subject::{Subject, SubjectColumn};
use crate::pg::catalog::relation_named;
use disclosure::Label;
use pgrx::spi::{quote_identifier, quote_literal, quote_qualified_identifier};

/// Longest name of a relation, in bytes.
const MAX_NAME: usize = 63;

/// Returns a statement that makes a view without these columns, identifiers and columns without a label; `None` if that
/// would leave out nothing more than these, or everything, or if no name is free.
pub fn without(subject: &Subject, columns: Vec<String>) -> Result<Option<String>, Error> {
    let is_left_out = |column: &SubjectColumn| {
        let is_unlabelled = column.is_unlabelled && !subject.has_suggested_labels;
        columns.contains(&column.column.name) || column.label == Some(Label::Identifier) || is_unlabelled
    };
    let kept = subject.names(|column| !is_left_out(column));
    let kept: Vec<String> = kept.iter().map(quote_identifier).collect();
    if kept.is_empty() || columns.is_empty() {
        return Ok(None);
    }
    let (schema, table) = subject.schema_and_name()?;
    let suffix = match &columns[..] {
        [only] => format!("_without_{only}"),
        several => format!("_without_{}_columns", several.len()),
    };
    let Some(view) = free_name(&schema, &table, &suffix) else {
        return Ok(None);
    };
    Ok(Some(format!(
        "CREATE VIEW {view} AS SELECT {} FROM {};",
        kept.join(", "),
        subject.name()
    )))
}

/// Returns a name for a view that is not taken yet, with its schema; `None` if many are taken.
fn free_name(schema: &str, table: &str, suffix: &str) -> Option<String> {
    const MAX_TRIES: u32 = 100;
    let names = (1..=MAX_TRIES).map(|number| match number {
        1 => shortened(table, suffix, ""),
        _ => shortened(table, suffix, &format!("_{number}")),
    });
    let mut names = names.map(|name| quote_qualified_identifier(schema, &name));
    names.find(|name| relation_named(name).is_none())
}

/// Returns a name with a suffix and a number. As much of the name and the suffix is cut off as is necessary.
fn shortened(name: &str, suffix: &str, number: &str) -> String {
    let cut = |text: &str, length: usize| -> String {
        let end = (0..=length.min(text.len()))
            .rev()
            .find(|&end| text.is_char_boundary(end));
        text[..end.unwrap_or(0)].into()
    };
    let suffix = cut(suffix, MAX_NAME / 2) + number;
    format!("{}{suffix}", cut(name, MAX_NAME - suffix.len()))
}

/// Returns the call that suggests labels and sets them.
pub fn suggest_labels(subject: &Subject) -> String {
    format!(
        "SELECT * FROM disclosure.suggest_labels({}, apply => true);",
        quote_literal(subject.name())
    )
}

/// Returns the call that protects the table by all criteria of a preset; `None` if some cannot be enforced.
pub fn protect(subject: &Subject, preset: &Preset) -> Option<String> {
    preset.unenforceable().next().is_none().then(|| {
        format!(
            "SELECT disclosure.protect({}, preset => {});",
            quote_literal(subject.name()),
            quote_literal(&preset.name)
        )
    })
}
