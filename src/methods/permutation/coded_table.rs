//! A table that is read column by column, values as codes.

use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::types::ColumnType;

/// Columns of a table as they were read.
pub struct CodedTable {
    pub columns: Vec<CodedColumn>,
    pub records: usize,
}

impl CodedTable {
    /// Reads these columns, each in the given type.
    pub fn read(relation: &Relation, columns: impl IntoIterator<Item = ColumnType>) -> Result<Self, Error> {
        let columns = relation.read_coded(columns)?;
        let records = columns.first().map_or(0, |column| column.codes.len());
        Ok(CodedTable { columns, records })
    }

    /// Removes the last column and returns it.
    pub fn pop_column(&mut self) -> Result<CodedColumn, Error> {
        self.columns
            .pop()
            .ok_or(Error::Internal("a table without columns was read"))
    }

    /// Keeps only these records, in this order.
    pub fn arrange(&mut self, records: &[u32]) {
        self.columns.iter_mut().for_each(|column| column.arrange(records));
        self.records = records.len();
    }
}
