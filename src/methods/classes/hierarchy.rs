//! The argument `hierarchies`: tables that say which groups the values of a column belong to.
//!
//! The first column of such a table has the values, and its further columns have ever coarser groups, as in the files
//! of ARX. Values are compared as text, because a hierarchy is often a file that was loaded as text.

use crate::encode::dictionary::Dictionary;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::catalog::relation_named;
use crate::pg::memory_context;
use disclosure::classes::Hierarchy;
use pgrx::pg_sys::{self, Oid};
use serde_json::Value;
use std::collections::HashMap;

const ARGUMENT: &str = "hierarchies";

const ALLOWED: &str = "Give an object of table names by column name, such as {\"zip\": \"zip_levels\"}.";

/// Tables of hierarchies, by the name of the column that each is for.
pub struct Hierarchies(HashMap<String, Oid>);

impl Hierarchies {
    /// Reads the argument.
    pub fn new(given: Option<Value>) -> Result<Self, Error> {
        let invalid = |problem: String| Error::argument(ARGUMENT, problem, ALLOWED);
        let tables = match given {
            None => return Ok(Hierarchies(HashMap::new())),
            Some(Value::Object(tables)) => tables,
            Some(_) => return Err(invalid("is not a JSON object".into())),
        };
        let table = |(column, table): (String, Value)| {
            let name = table.as_str().filter(|name| !name.contains('\0'));
            let name =
                name.ok_or_else(|| invalid(format!("column \"{column}\": is not the name of a table")))?;
            let found = relation_named(name);
            let table = found
                .ok_or_else(|| invalid(format!("column \"{column}\": relation \"{name}\" does not exist")))?;
            Ok((column, table))
        };
        tables
            .into_iter()
            .map(table)
            .collect::<Result<_, _>>()
            .map(Hierarchies)
    }

    /// Checks that hierarchies are given only for these columns.
    pub fn check_columns(&self, columns: &[String]) -> Result<(), Error> {
        let mut unknown: Vec<&String> = self.0.keys().filter(|name| !columns.contains(name)).collect();
        unknown.sort_unstable();
        match unknown.first() {
            None => Ok(()),
            Some(name) => Err(Error::argument(
                ARGUMENT,
                format!("\"{name}\" is not a sensitive column"),
                ALLOWED,
            )),
        }
    }

    /// Returns the hierarchy of a column's values, NULL included; `None` if there is none.
    pub fn of_column(&self, values: &Dictionary) -> Result<Option<Hierarchy>, Error> {
        let column = &values.column().name;
        let Some(&table) = self.0.get(column) else {
            return Ok(None);
        };
        let relation = Relation::whole(ARGUMENT, Some(table))?;
        let name = relation.name().to_string();
        let invalid = |problem: String| {
            Error::argument(
                ARGUMENT,
                format!("relation {name} {problem}"),
                "Give a table whose first column has every value once, and whose further columns have ever coarser groups.",
            )
        };
        let mut columns = relation.read_coded(relation.columns().to_vec())?.into_iter();
        let first = columns.next().ok_or_else(|| invalid("has no columns".into()))?;
        let levels: Vec<CodedColumn> = columns.collect();
        if levels.is_empty() {
            return Err(invalid("has no column of groups".into()));
        }
        let row_of_text = rows_by_text(&first, &levels)
            .ok_or_else(|| invalid("has a value twice, with different groups".into()))?;
        let codes = 0..values.len() + 1;
        let row_of_code = memory_context::for_each("reading hierarchies", codes, |code| {
            Ok(row_of_text.get(&text_of(values, code)).copied())
        })?;
        let missing = row_of_code.iter().skip(1).filter(|row| row.is_none()).count();
        if missing > 0 {
            return Err(invalid(format!(
                "lacks {missing} of the values of column \"{column}\""
            )));
        }
        let of_level = |level: &CodedColumn| -> Vec<u32> {
            // A NULL that the table does not mention is in the group of all values, if there is one, and otherwise in a
            // group of its own.
            let of_null = match level.dictionary.len() {
                1 => 1,
                groups => groups + 1,
            };
            let group = |row: &Option<usize>| row.map_or(of_null, |row| level.codes[row]);
            row_of_code.iter().map(group).collect()
        };
        let levels: Vec<Vec<u32>> = levels.iter().map(of_level).collect();
        Ok(Some(Hierarchy::new(row_of_code.len(), &levels)?))
    }
}

/// Returns the row of each value by its text; `None` if a value has two rows with different groups.
fn rows_by_text(values: &CodedColumn, levels: &[CodedColumn]) -> Option<HashMap<Option<String>, usize>> {
    let mut rows: HashMap<Option<String>, usize> = HashMap::new();
    for (row, &code) in values.codes.iter().enumerate() {
        let first = *rows.entry(text_of(&values.dictionary, code)).or_insert(row);
        if levels.iter().any(|level| level.codes[first] != level.codes[row]) {
            return None;
        }
    }
    Some(rows)
}

/// Returns a value as text; `None` for NULL. The padding of a character column is no part of the value.
fn text_of(values: &Dictionary, code: u32) -> Option<String> {
    let text = values.text(code)?;
    Some(match values.column().base_type() {
        pg_sys::BPCHAROID => text.trim_end_matches(' ').into(),
        _ => text,
    })
}
