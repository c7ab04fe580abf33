//! Hold-out: a relation of people who are not in the released table, whose records serve as the random set with
//! which those of the original table are compared.

use super::coded_table::CodedTable;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::types::{ColumnType, Pair};
use crate::run;
use disclosure::permutation::canonical_order;

/// Name of the argument.
pub const HOLDOUT: &str = "holdout";

/// A hold-out that can be read: its relation, and its columns in the types of the original ones.
pub struct OpenHoldout {
    relation: Relation,
    columns: Vec<ColumnType>,
}

impl OpenHoldout {
    /// Finds the columns of the relation that correspond to those of the original table.
    pub fn new(relation: Relation, original: &[ColumnType]) -> Result<Self, Error> {
        let columns = original.iter().map(|column| {
            let pair = Pair::in_common_type(relation.column(HOLDOUT, &column.name)?, column);
            let of_type = pair.filter(|pair| pair.there.oid == column.oid);
            of_type.map(|pair| pair.here).ok_or_else(|| {
                Error::argument(
                    HOLDOUT,
                    Pair::not_comparable(&column.name),
                    "Give a relation whose columns have the types of the original table's.",
                )
            })
        });
        let columns = columns.collect::<Result<_, Error>>()?;
        Ok(OpenHoldout { relation, columns })
    }

    /// Reads the records. Adds their values to the dictionaries of the original columns and returns their codes
    /// there, by column.
    pub fn read(self, original: &mut [CodedColumn]) -> Result<Vec<Vec<u32>>, Error> {
        let records = CodedTable::read(&self.relation, self.columns)?;
        let columns = records.columns.iter().zip(original).map(|(column, original)| {
            let code_there = original.dictionary.adopt(&column.dictionary)?;
            Ok(column
                .codes
                .iter()
                .map(|&code| code_there[code as usize])
                .collect())
        });
        columns.collect()
    }
}

/// Sorts records, which are given by the dense ranks of their values, column by column. So the results do not
/// depend on the order in which they were read.
pub fn in_order(columns: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, Error> {
    let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let order = run::long("sorting records", |control| canonical_order(&slices, control))?;
    let sorted = |column: &Vec<u32>| order.iter().map(|&record| column[record as usize]).collect();
    Ok(columns.iter().map(sorted).collect())
}
