//! The records of one table: what their values are, and what they count as.

use super::orders::{Meaning, RankedValues};
use super::value_json::value_json;
use crate::encode::order::CodedColumn;
use crate::error::Problem;
use crate::run;
use disclosure::NULL;
use disclosure::permutation::{ColumnSide, RankedColumn, canonical_order};
use serde_json::Value;

pub struct Records {
    pub columns: Vec<CodedColumn>,
    /// What the values of every column count as.
    pub ranked_columns: Vec<RankedColumn>,
    /// Whether the values of each column are numbers, dates or timestamps, and counted as such.
    are_numbers: Vec<bool>,
    keys: Option<CodedColumn>,
}

/// A column of records.
pub struct CountedColumn {
    column: CodedColumn,
    ranked: RankedColumn,
    is_number: bool,
}

impl CountedColumn {
    /// A column whose values were put in order, perhaps with those of another one; then `code_there` is what a code
    /// is called in the dictionary of both.
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

    /// The dense ranks of every record in each column.
    pub fn dense_ranks(&self) -> Vec<&[u32]> {
        self.ranked_columns
            .iter()
            .map(|column| &column.dense_ranks[..])
            .collect()
    }

    /// Every column as one side of a comparison.
    pub fn column_sides(&self) -> impl Iterator<Item = ColumnSide<'_>> {
        let columns = self.ranked_columns.iter().zip(&self.are_numbers);
        columns.map(|(ranked, &is_number)| ColumnSide {
            dense_ranks: &ranked.dense_ranks,
            numbers: is_number.then_some(&ranked.scale),
        })
    }

    /// The key of a record as text.
    pub fn key(&self, record: usize) -> Option<String> {
        let keys = self.keys.as_ref()?;
        keys.dictionary.text(keys.codes[record])
    }

    /// The values of a record by column.
    pub fn json(&self, record: usize) -> Value {
        let fields = self.columns.iter().map(|column| {
            let value = value_json(&column.dictionary, column.codes[record]);
            (column.name().to_string(), value)
        });
        Value::Object(fields.collect())
    }

    /// The different values of a column that have a dense rank from `first` to `last`, in order.
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

    /// How many values of a column are absent.
    pub fn nulls(&self, column: usize) -> usize {
        let codes = self.columns[column].codes.iter();
        codes.filter(|&&code| code == NULL).count()
    }

    /// Puts the records in the order of the keys, and then in that of the values.
    pub fn put_in_order(&mut self) -> Result<(), Problem> {
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
