//! Records of one table: their values, and what these values count as in comparisons.
//!
//! A record is a number. Its value in a column has a code, a place in the order of the column and, through
//! the scale of the column, a number.

use super::orders::{Meaning, OrderedValues};
use super::value_json::value_json;
use crate::encode::order::CodedColumn;
use crate::error::Problem;
use crate::run;
use disclosure::NULL;
use disclosure::permutation::{Ordinal, Side, canonical_order};
use serde_json::Value;

/// Records of a table, column by column.
pub struct Records {
    pub columns: Vec<CodedColumn>,
    /// Places and scale of every column.
    pub ordinals: Vec<Ordinal>,
    /// Whether the scale of each column has the numbers, dates or timestamps that its values are.
    are_numbers: Vec<bool>,
    /// Keys of the records, if the caller named a key.
    keys: Option<CodedColumn>,
}

/// A column and what its values count as.
pub struct CountedColumn {
    column: CodedColumn,
    ordinal: Ordinal,
    is_number: bool,
}

impl CountedColumn {
    /// Combines a column with the order of its values. If they were ordered together with those of another
    /// column, `code_there` translates a code of this column to the dictionary that was ordered.
    pub fn new(column: CodedColumn, values: &OrderedValues, code_there: impl Fn(u32) -> u32) -> Self {
        let place = |&code: &u32| values.place(code_there(code));
        CountedColumn {
            ordinal: Ordinal {
                places: column.codes.iter().map(place).collect(),
                scale: values.scale.clone(),
            },
            is_number: values.meaning == Meaning::Numbers,
            column,
        }
    }
}

impl Records {
    pub fn new(columns: Vec<CountedColumn>, keys: Option<CodedColumn>) -> Self {
        let are_numbers = columns.iter().map(|column| column.is_number).collect();
        let columns = columns.into_iter().map(|column| (column.column, column.ordinal));
        let (columns, ordinals) = columns.unzip();
        Records {
            columns,
            ordinals,
            are_numbers,
            keys,
        }
    }

    pub fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    pub fn len(&self) -> usize {
        self.ordinals.first().map_or(0, |column| column.places.len())
    }

    /// Returns the places of all records' values, by column.
    pub fn places(&self) -> Vec<&[u32]> {
        self.ordinals.iter().map(|column| &column.places[..]).collect()
    }

    /// Returns every column as one side of a comparison.
    pub fn sides(&self) -> impl Iterator<Item = Side<'_>> {
        let columns = self.ordinals.iter().zip(&self.are_numbers);
        columns.map(|(ordinal, &is_number)| Side {
            places: &ordinal.places,
            numbers: is_number.then_some(&ordinal.scale),
        })
    }

    /// Returns the key of a record as text; `None` if records have no keys.
    pub fn key(&self, record: usize) -> Option<String> {
        let keys = self.keys.as_ref()?;
        keys.dictionary.text(keys.codes[record])
    }

    /// Returns the values of a record as an object, by column name.
    pub fn json(&self, record: usize) -> Value {
        let fields = self.columns.iter().map(|column| {
            let value = value_json(&column.dictionary, column.codes[record]);
            (column.name().to_string(), value)
        });
        Value::Object(fields.collect())
    }

    /// Returns the distinct values of a column whose place is from `first` to `last`, in order.
    pub fn values_between(&self, column: usize, first: u32, last: u32) -> Vec<Value> {
        let CodedColumn { dictionary, codes } = &self.columns[column];
        let places = self.ordinals[column].places.iter().copied();
        let mut found: Vec<(u32, u32)> = places
            .zip(codes.iter().copied())
            .filter(|(place, _)| (first..=last).contains(place))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .map(|(_, code)| value_json(dictionary, code))
            .collect()
    }

    /// Counts the absent values of a column.
    pub fn nulls(&self, column: usize) -> usize {
        let codes = self.columns[column].codes.iter();
        codes.filter(|&&code| code == NULL).count()
    }

    /// Sorts the records by key, then by values.
    pub fn put_in_order(&mut self) -> Result<(), Problem> {
        let keys = self.keys.as_mut().map(CodedColumn::places).transpose()?;
        let columns: Vec<&[u32]> = keys.as_deref().into_iter().chain(self.places()).collect();
        let order = run::long("sorting records", |control| canonical_order(&columns, control))?;
        for ordinal in &mut self.ordinals {
            let place = |&record: &u32| ordinal.places[record as usize];
            ordinal.places = order.iter().map(place).collect();
        }
        for column in self.columns.iter_mut().chain(&mut self.keys) {
            column.arrange(&order);
        }
        Ok(())
    }
}
