//! Input of tables and views by name. They are read with a SELECT by the calling user, so privileges, row
//! level security, partitions and inheritance have the same effect as in that SELECT.

use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::order::CodedColumn;
use crate::encode::{Codes, Encoded, Sink};
use crate::error::Error;
use crate::pg::catalog::{columns_of, schema_and_name};
use crate::pg::receiver::for_each_row;
use crate::pg::types::{ColumnType, type_name};
use pgrx::pg_sys::{self};
use pgrx::spi::{quote_identifier, quote_qualified_identifier};

/// Relation and those of its columns that are to be read.
pub struct Relation {
    /// Schema and name, quoted.
    name: String,
    columns: Vec<ColumnType>,
    /// What follows the name in FROM: which part of the rows is read; empty for all of them.
    part: String,
}

impl Relation {
    /// Returns a relation with the columns that the caller gave; `None` means all.
    pub fn new(oid: Option<pg_sys::Oid>, columns: Option<Vec<Option<String>>>) -> Result<Self, Error> {
        let mut relation = Self::whole("relation", oid)?;
        if let Some(given) = columns {
            relation.columns = relation.chosen_columns(given)?;
        }
        Ok(relation)
    }

    /// Returns a relation with all its columns. The caller gave its OID as `argument`.
    pub fn whole(argument: &'static str, oid: Option<pg_sys::Oid>) -> Result<Self, Error> {
        let oid = oid.ok_or(Error::null(argument, "Give the name of a table or view."))?;
        // The relation is locked before its name is looked up, because another session may rename or drop it.
        let columns = columns_of(oid);
        let name = qualified_name(argument, oid)?;
        let columns = columns.ok_or_else(|| no_relation(argument, oid))?;
        Ok(Relation {
            name,
            columns,
            part: String::new(),
        })
    }

    /// Returns the relation with only these of its columns.
    pub fn with_columns(self, columns: Vec<ColumnType>) -> Self {
        Relation { columns, ..self }
    }

    /// Returns the relation with only part of its rows, as a clause of SELECT has it that follows the name, such as LIMIT.
    pub fn with_part(self, part: String) -> Self {
        Relation { part, ..self }
    }

    /// Returns a column by its name, which comes from `argument`.
    pub fn column(&self, argument: &'static str, name: &str) -> Result<&ColumnType, Error> {
        let mut columns = self.columns.iter();
        columns
            .find(|column| column.name == name)
            .ok_or_else(|| Error::NoSuchColumn {
                argument,
                relation: self.name.clone(),
                column: name.into(),
            })
    }

    /// Returns the schema and name, quoted.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn width(&self) -> usize {
        self.columns.len()
    }

    pub fn columns(&self) -> &[ColumnType] {
        &self.columns
    }

    /// Encodes every row that the calling user may see.
    pub fn read<S: Sink>(self, sink: S) -> Result<Encoded<S>, Error> {
        self.read_as(self.columns.clone(), sink)
    }

    /// Encodes these columns of every row that the calling user may see. A column that has another type in
    /// the relation is cast.
    pub fn read_as<S: Sink>(&self, columns: Vec<ColumnType>, sink: S) -> Result<Encoded<S>, Error> {
        let dictionaries = columns.iter().cloned().map(Dictionary::new).collect();
        self.read_into(columns, dictionaries, sink)
    }

    /// Encodes columns like [`read_as`](Self::read_as), with these dictionaries, which may have values already.
    pub fn read_into<S: Sink>(
        &self,
        columns: Vec<ColumnType>,
        dictionaries: Vec<Dictionary>,
        sink: S,
    ) -> Result<Encoded<S>, Error> {
        let is_here = |wanted: &ColumnType| {
            let mut columns = self.columns.iter();
            columns.any(|column| column.name == wanted.name && column.oid == wanted.oid)
        };
        let wanted = columns.iter().map(|column| {
            let name = quote_identifier(&column.name);
            match is_here(column) {
                true => name,
                false => format!("{name}::{}", type_name(column.oid)),
            }
        });
        self.read_expressions(wanted.collect(), dictionaries, sink)
    }

    /// Encodes the columns of every row that the calling user may see and, as the last column, an expression. The
    /// dictionary of the expression has its type.
    pub fn read_with<S: Sink>(
        &self,
        expression: String,
        dictionary: Dictionary,
        sink: S,
    ) -> Result<Encoded<S>, Error> {
        let mut wanted: Vec<String> = self
            .columns
            .iter()
            .map(|column| quote_identifier(&column.name))
            .collect();
        wanted.push(expression);
        let mut dictionaries: Vec<Dictionary> = self.columns.iter().cloned().map(Dictionary::new).collect();
        dictionaries.push(dictionary);
        self.read_expressions(wanted, dictionaries, sink)
    }

    /// Encodes these expressions, each with a dictionary of its type, for every row that the calling user may see.
    pub fn read_expressions<S: Sink>(
        &self,
        wanted: Vec<String>,
        dictionaries: Vec<Dictionary>,
        sink: S,
    ) -> Result<Encoded<S>, Error> {
        let query = format!("SELECT {} FROM {} {}", wanted.join(", "), self.name, self.part);
        let types: Vec<pg_sys::Oid> = dictionaries
            .iter()
            .map(|dictionary| dictionary.column().oid)
            .collect();
        let mut encoder = Encoder::with(dictionaries, sink);
        // SAFETY: every row has the types that `encoder` was made for, because `for_each_row` checks them.
        for_each_row(&query, &types, |row| unsafe { encoder.push(row) })?;
        encoder.finish()
    }

    /// Reads these columns like [`read_as`](Self::read_as) and returns them with the code of every row.
    pub fn read_coded(
        &self,
        columns: impl IntoIterator<Item = ColumnType>,
    ) -> Result<Vec<CodedColumn>, Error> {
        let columns = columns.into_iter().collect();
        let Encoded { dictionaries, sink } = self.read_as(columns, Codes::default())?;
        let columns = dictionaries.into_iter().zip(sink.0);
        Ok(columns
            .map(|(dictionary, codes)| CodedColumn { dictionary, codes })
            .collect())
    }

    /// Returns the columns that the caller asked for: at least one, all existing and distinct.
    pub fn chosen_columns(&self, given: Vec<Option<String>>) -> Result<Vec<ColumnType>, Error> {
        let argument = "columns";
        let invalid = |problem: String| {
            Error::argument(
                argument,
                problem,
                "Give an array of distinct column names, or leave the argument out.",
            )
        };
        if given.is_empty() {
            return Err(invalid("must not be empty".into()));
        }
        let mut chosen: Vec<ColumnType> = Vec::with_capacity(given.len());
        for name in given {
            let name = name.ok_or_else(|| invalid("must not contain NULL".into()))?;
            let column = self.column(argument, &name)?;
            if chosen.contains(column) {
                return Err(invalid(format!("\"{name}\" is given twice")));
            }
            chosen.push(column.clone());
        }
        Ok(chosen)
    }
}

fn no_relation(argument: &'static str, oid: pg_sys::Oid) -> Error {
    Error::argument(
        argument,
        format!("there is no relation with OID {}", oid.to_u32()),
        "Give the name of a table or view.",
    )
}

/// Returns the schema and name, quoted, of a relation that has rows; an error for any other relation.
fn qualified_name(argument: &'static str, oid: pg_sys::Oid) -> Result<String, Error> {
    let (schema, name) = schema_and_name(oid).ok_or_else(|| no_relation(argument, oid))?;
    // SAFETY: any OID is accepted.
    let kind = unsafe { pg_sys::get_rel_relkind(oid) } as u8;
    match kind {
        pg_sys::RELKIND_RELATION
        | pg_sys::RELKIND_PARTITIONED_TABLE
        | pg_sys::RELKIND_VIEW
        | pg_sys::RELKIND_MATVIEW
        | pg_sys::RELKIND_FOREIGN_TABLE => Ok(quote_qualified_identifier(schema, name)),
        _ => Err(Error::NotReadable {
            argument,
            relation: name,
        }),
    }
}
