//! Records of one table: their values, and what these values count as in comparisons.
//!
//! A record is a number. Its value in a column has a code, a dense rank in the order of the column and,
//! through the scale of the column, a number.

use super::orders::{Meaning, RankedValues};
use super::value_json::value_json;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::run;
use disclosure::NULL;
use disclosure::permutation::{ColumnSide, RankedColumn, canonical_order};
use serde_json::Value;

/// Records of a table, column by column.
pub struct Records {
    pub columns: Vec<CodedColumn>,
    /// Dense ranks and scale of every column.
    pub ranked_columns: Vec<RankedColumn>,
    /// Whether the scale of each column has the numbers, dates or timestamps that its values are.
    are_numbers: Vec<bool>,
    /// Keys of the records, if the caller named a key.
    keys: Option<CodedColumn>,
}

/// A column and what its values count as.
pub struct CountedColumn {
    column: CodedColumn,
    ranked: RankedColumn,
    is_number: bool,
}

impl CountedColumn {
    /// Combines a column with the order of its values. If they were ordered together with those of another
    /// column, `code_there` translates a code of this column to the dictionary that was ordered.
    pub fn new(column: CodedColumn, values: &RankedValues, code_there: impl Fn(u32) -> u32) -> Self {
        let dense_rank = |&code: &u32| values.dense_rank(code_there(code));
        CountedColumn {
            ranked: RankedColumn {
                dense_ranks: column.codes.iter().map(dense_rank).collect(),
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
        let columns = columns.into_iter().map(|column| (column.column, column.ranked));
        let (columns, ranked_columns) = columns.unzip();
        Records {
            columns,
            ranked_columns,
            are_numbers,
            keys,
        }
    }

    pub fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    pub fn len(&self) -> usize {
        self.ranked_columns
            .first()
            .map_or(0, |column| column.dense_ranks.len())
    }

    /// Returns the dense ranks of all records' values, by column.
    pub fn dense_ranks(&self) -> Vec<&[u32]> {
        self.ranked_columns
            .iter()
            .map(|column| &column.dense_ranks[..])
            .collect()
    }

    /// Returns every column as one side of a comparison.
    pub fn column_sides(&self) -> impl Iterator<Item = ColumnSide<'_>> {
        let columns = self.ranked_columns.iter().zip(&self.are_numbers);
        columns.map(|(ranked, &is_number)| ColumnSide {
            dense_ranks: &ranked.dense_ranks,
            numbers: is_number.then_some(&ranked.scale),
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

    /// Returns the distinct values of a column whose dense rank is from `first` to `last`, in order.
    pub fn values_between(&self, column: usize, first: u32, last: u32) -> Vec<Value> {
        let CodedColumn { dictionary, codes } = &self.columns[column];
        let dense_ranks = self.ranked_columns[column].dense_ranks.iter().copied();
        let mut found: Vec<(u32, u32)> = dense_ranks
            .zip(codes.iter().copied())
            .filter(|(dense_rank, _)| (first..=last).contains(dense_rank))
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
    pub fn put_in_order(&mut self) -> Result<(), Error> {
        let keys = self.keys.as_mut().map(CodedColumn::dense_ranks).transpose()?;
        let columns: Vec<&[u32]> = keys.as_deref().into_iter().chain(self.dense_ranks()).collect();
        let order = run::long("sorting records", |control| canonical_order(&columns, control))?;
        for ranked in &mut self.ranked_columns {
            let dense_rank = |&record: &u32| ranked.dense_ranks[record as usize];
            ranked.dense_ranks = order.iter().map(dense_rank).collect();
        }
        for column in self.columns.iter_mut().chain(&mut self.keys) {
            column.arrange(&order);
        }
        Ok(())
    }
}
