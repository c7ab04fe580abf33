//! The statement that makes the changes of `remedies`.
//!
//! Rows are found by a primary key or another unique key without NULLs. Without one, they are found by the values of
//! the columns that take part, as text, and as many of the equal rows are changed as are needed: which ones makes
//! no difference to the scores. Literals of single keys and of array elements mean the same in every session.

use crate::encode::dictionary::Dictionary;
use crate::encode::order::ranks_of_codes;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::methods::inference::attributes::Attributes;
use crate::methods::inference::table::RowsToChange;
use crate::pg::catalog::with_heirs;
use crate::pg::literal::pinned;
use crate::pg::memory_context;
use crate::pg::query::{Answer, Parameters};
use crate::pg::types::{ColumnType, equality_operator, type_name};
use disclosure::inference::{Attribute, Change};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_literal};
use std::collections::{BTreeMap, HashMap};

/// Largest number of bytes of a statement. Postgres does not execute one of 1 GB or more.
const LONGEST: usize = 1 << 29;

/// How the rows of a relation are found again.
pub enum Finder {
    /// By one column.
    Key(ColumnType),
    /// By several columns together, as text.
    Keys(String),
    /// By the values of the columns that take part, as text.
    Values(String),
    /// Not at all, because rows of a relation of this kind cannot be found again.
    Nothing,
}

impl Finder {
    /// Returns how the rows of a relation are best found.
    pub fn new(oid: Option<Oid>, relation: &Relation) -> Result<Self, Error> {
        let Some(oid) = oid else {
            return Ok(Finder::Nothing);
        };
        // SAFETY: any OID is accepted.
        let kind = unsafe { pg_sys::get_rel_relkind(oid) } as u8;
        let has_heirs = kind == pg_sys::RELKIND_RELATION && with_heirs(oid).len() > 1;
        if !matches!(kind, pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE) {
            return Ok(Finder::Nothing);
        }
        // A key of a table does not hold for tables that inherit from it.
        let key = if has_heirs { Vec::new() } else { key_of(oid)? };
        let whole = Relation::whole("relation", Some(oid))?;
        Ok(match &key[..] {
            [] => Finder::Values(row_text(relation.columns().iter().map(|column| &column.name[..]))),
            [name] => match whole.column("relation", name)? {
                column if equality_operator(column).is_some() => Finder::Key(column.clone()),
                column => Finder::Keys(row_text([&column.name[..]])),
            },
            names => Finder::Keys(row_text(names.iter().map(String::as_str))),
        })
    }

    /// Returns the expression that finds rows, and an empty dictionary for its values.
    pub fn expression(&self) -> (String, Dictionary) {
        let text = || {
            Dictionary::exact(ColumnType {
                name: "key".into(),
                oid: pg_sys::TEXTOID,
                collation: pg_sys::C_COLLATION_OID,
            })
        };
        match self {
            Finder::Key(column) => (quote_identifier(&column.name), Dictionary::new(column.clone())),
            Finder::Keys(expression) | Finder::Values(expression) => (expression.clone(), text()),
            Finder::Nothing => ("NULL::pg_catalog.text".into(), text()),
        }
    }

    /// Returns SQL that makes these changes, or `None` if there are none, rows cannot be found again, or the SQL would
    /// be too long.
    pub fn statement(
        &self,
        relation: &str,
        rows: &mut RowsToChange,
        changes: &[Change],
    ) -> Result<Option<String>, Error> {
        if changes.is_empty() || matches!(self, Finder::Nothing) {
            return Ok(None);
        }
        let by_cells = keys_by_cells(rows, changes)?;
        let update = |(cells, keys): (&Vec<Attribute>, &Vec<String>)| {
            let set = assignments(&rows.table.attributes, cells, self.prefix());
            self.update(relation, &set, keys)
        };
        let updates: Vec<String> = by_cells.iter().map(update).collect();
        Ok(Some(updates.join("\n")).filter(|statement| statement.len() <= LONGEST))
    }

    /// Returns what stands before a column of the row that is changed. It is needed where other columns are in sight.
    fn prefix(&self) -> &'static str {
        match self {
            Finder::Values(_) => "changed.",
            _ => "",
        }
    }

    fn update(&self, relation: &str, set: &str, keys: &[String]) -> String {
        match self {
            Finder::Key(column) => {
                let operator = equality_operator(column).unwrap_or_default();
                let keys = array_literal(keys);
                format!(
                    "UPDATE {relation} SET {set} WHERE {} {operator} ANY ({keys}::{}[]);",
                    quote_identifier(&column.name),
                    type_name(column.base_type()),
                )
            }
            Finder::Keys(expression) => format!(
                "UPDATE {relation} SET {set} WHERE {expression} OPERATOR(pg_catalog.=) ANY ({}::pg_catalog.text[]);",
                array_literal(keys),
            ),
            Finder::Values(_) | Finder::Nothing => self.update_by_values(relation, set, keys),
        }
    }

    fn update_by_values(&self, relation: &str, set: &str, keys: &[String]) -> String {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
        let wanted: Vec<String> = counts
            .iter()
            .map(|(key, count)| format!("({}, {count})", quote_literal(key)))
            .collect();
        let (expression, _) = self.expression();
        format!(
            "UPDATE {relation} AS changed SET {set}\n  \
             FROM (SELECT found.tableoid AS in_table, found.ctid AS at, {expression} AS row_text, \
             pg_catalog.row_number() OVER (PARTITION BY {expression}) AS copy FROM {relation} AS found) AS present\n  \
             JOIN (VALUES {}) AS wanted (row_text, copies)\n    \
             ON present.row_text OPERATOR(pg_catalog.=) wanted.row_text \
             AND present.copy OPERATOR(pg_catalog.<=) wanted.copies\n \
             WHERE changed.tableoid OPERATOR(pg_catalog.=) present.in_table \
             AND changed.ctid OPERATOR(pg_catalog.=) present.at;",
            wanted.join(", "),
        )
    }
}

/// Returns a row of these columns as text, as SQL.
fn row_text<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(quote_identifier).collect();
    format!("ROW({})::pg_catalog.text", names.join(", "))
}

/// Returns the columns of a unique key without NULLs that the calling user may read; none if there is no such key.
/// The primary key comes first, then the key with the fewest columns.
fn key_of(relation: Oid) -> Result<Vec<String>, Error> {
    const QUERY: &str = "SELECT a.attname::pg_catalog.text \
          FROM (SELECT i.indrelid, i.indkey, i.indnkeyatts FROM pg_catalog.pg_index i \
                 WHERE i.indrelid OPERATOR(pg_catalog.=) $1 AND i.indisunique AND i.indisvalid AND i.indimmediate \
                   AND i.indpred IS NULL AND i.indexprs IS NULL AND NOT EXISTS ( \
                     SELECT FROM pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
                       JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid \
                                                     AND a.attnum OPERATOR(pg_catalog.=) k.number \
                      WHERE k.place OPERATOR(pg_catalog.<=) i.indnkeyatts \
                        AND (NOT a.attnotnull OR NOT pg_catalog.has_column_privilege(i.indrelid, a.attnum, 'SELECT'))) \
                 ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid LIMIT 1) AS i, \
               pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
          JOIN pg_catalog.pg_attribute a ON a.attnum OPERATOR(pg_catalog.=) k.number \
                                        AND a.attrelid OPERATOR(pg_catalog.=) $1 \
         WHERE k.place OPERATOR(pg_catalog.<=) i.indnkeyatts ORDER BY k.place";
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::OIDOID, relation.into());
    Spi::connect(|_| {
        // SAFETY: within Spi::connect, with an OID for an OID; the column is of type text.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            Ok((0..answer.rows()).filter_map(|row| answer.get(row, 0)).collect())
        }
    })
}

/// Returns the keys of the rows to change, by the cells that are blanked in them. Of equal rows, those with the
/// smallest keys are changed, so that the choice does not depend on the order of rows.
fn keys_by_cells(
    rows: &mut RowsToChange,
    changes: &[Change],
) -> Result<BTreeMap<Vec<Attribute>, Vec<String>>, Error> {
    let codes = rows.keys.canonical_codes()?;
    let rank_of_code = ranks_of_codes(&codes);
    let mut ranks_of_row: HashMap<usize, Vec<u32>> =
        changes.iter().map(|change| (change.row, Vec::new())).collect();
    for (&row, &key) in rows.table.distinct_of_row.iter().zip(&rows.key_of_row) {
        if let Some(ranks) = ranks_of_row.get_mut(&(row as usize)) {
            ranks.push(rank_of_code[key as usize]);
        }
    }
    // The smallest rank is to be taken first, from the end.
    ranks_of_row
        .values_mut()
        .for_each(|ranks| ranks.sort_unstable_by(|a, b| b.cmp(a)));
    let mut ranks_by_cells: BTreeMap<Vec<Attribute>, Vec<u32>> = BTreeMap::new();
    for change in changes {
        let mut cells: Vec<Attribute> = change
            .cells
            .iter()
            .filter_map(|cell| cell.attributes.first().copied())
            .map(|attribute| cell_of(&rows.table.attributes, attribute))
            .collect();
        cells.sort_unstable();
        let Some(ranks) = ranks_of_row.get_mut(&change.row) else {
            continue;
        };
        let rest = ranks.len().saturating_sub(change.count as usize);
        ranks_by_cells
            .entry(cells)
            .or_default()
            .extend(ranks.drain(rest..));
    }
    let _pinned = pinned(rows.keys.column().base_type());
    let mut by_cells = BTreeMap::new();
    for (cells, mut ranks) in ranks_by_cells {
        ranks.sort_unstable();
        let keys = memory_context::for_each("writing the statement", 0..ranks.len() as u32, |place| {
            let code = codes[ranks[place as usize] as usize - 1];
            Ok(rows.keys.text(code).unwrap_or_default())
        })?;
        by_cells.insert(cells, keys);
    }
    Ok(by_cells)
}

/// Returns an attribute that stands for the cell: itself if it is an element of an array, else the first attribute
/// of its column, because the whole value becomes NULL.
fn cell_of(attributes: &Attributes, attribute: Attribute) -> Attribute {
    match attributes.element_type(attribute.column) {
        Some(_) => attribute,
        None => Attribute {
            index: 0,
            ..attribute
        },
    }
}

/// Returns what UPDATE sets to blank these cells, which are in the order of their columns. `prefix` stands before a
/// column whose value is read.
fn assignments(attributes: &Attributes, cells: &[Attribute], prefix: &str) -> String {
    let of_column = |cells: &[Attribute]| {
        let column = cells[0].column;
        let name = quote_identifier(attributes.column_name(column));
        let value = match attributes.element_type(column) {
            None => "NULL".into(),
            Some(element_type) => cells.iter().fold(format!("{prefix}{name}"), |array, &cell| {
                let element = quote_literal(attributes.literal(cell));
                format!("pg_catalog.array_remove({array}, {element}::{element_type})")
            }),
        };
        format!("{name} = {value}")
    };
    let set: Vec<String> = cells
        .chunk_by(|a, b| a.column == b.column)
        .map(of_column)
        .collect();
    set.join(", ")
}

/// Returns an array of these texts as a literal of SQL.
fn array_literal(elements: &[String]) -> String {
    let quoted = |element: &String| format!("\"{}\"", element.replace('\\', "\\\\").replace('"', "\\\""));
    let is_plain = |element: &String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        !element.is_empty() && element.bytes().all(is_plain) && !element.eq_ignore_ascii_case("null")
    };
    let elements = elements.iter().map(|element| match is_plain(element) {
        true => element.clone(),
        false => quoted(element),
    });
    quote_literal(format!("{{{}}}", elements.collect::<Vec<_>>().join(",")))
}
