//! Information in the cells of a table, to tell how much a change costs its users.
//!
//! A cell tells −log2(p) bits, where p is the share of its column's values that are like it. This is the
//! non-uniform entropy measure (Gionis and Tassa, k-Anonymization with Minimal Loss of Information, IEEE
//! Transactions on Knowledge and Data Engineering 21(2), 2009) for cells that are suppressed: common values are
//! lost at little cost, rare ones at a high one. The values of a column are its attributes, or none of them if a
//! value stands for no attribute. In a column of sets, each attribute is either there or not. NULL tells nothing.

use super::{Attribute, AttributesOfValue, Column, Nulls};
use crate::NULL;
use crate::classes::Classes;

/// Information in the cells of a table, in bits.
#[derive(Debug, Clone, Default)]
pub struct CellInformation {
    /// Information in each attribute, by column.
    present: Vec<Vec<f64>>,
    /// Information in the absence of each attribute, by column.
    absent: Vec<Vec<f64>>,
    total: f64,
}

impl CellInformation {
    /// Measures the rows that `classes` counted. `columns` says which attributes the codes of each column stand
    /// for.
    pub fn new(classes: &Classes, columns: &[Column]) -> Self {
        let mut information = CellInformation::default();
        for (position, column) in columns.iter().enumerate() {
            let mut having = vec![0; column.attributes.len()];
            let (mut rows, mut without) = (0, 0);
            for (class, &size) in classes.sizes().iter().enumerate() {
                let code = classes.codes(class)[position];
                let attributes = column.attributes_of_code(code);
                if code == NULL && !matches!(column.nulls, Nulls::Attribute(_)) {
                    continue;
                }
                rows += size;
                without += if attributes.is_empty() { size } else { 0 };
                for &attribute in attributes {
                    having[attribute as usize] += size;
                }
            }
            information.add(column, &having, rows, without);
        }
        information
    }

    /// Adds a column with `rows` values, given the number of values with each attribute and with none.
    fn add(&mut self, column: &Column, having: &[u64], rows: u64, without: u64) {
        let lacking = |&having: &u64| match &column.attributes_of_value {
            AttributesOfValue::One(_) => without,
            AttributesOfValue::Set(_) => rows - having,
        };
        let bits = |count: u64| match count {
            0 => 0.0,
            count => (rows as f64 / count as f64).log2(),
        };
        let total = |count: u64| count as f64 * bits(count);
        self.total += match &column.attributes_of_value {
            AttributesOfValue::One(_) => {
                having.iter().map(|&count| total(count)).sum::<f64>() + total(without)
            }
            AttributesOfValue::Set(_) => having
                .iter()
                .map(|count| total(*count) + total(lacking(count)))
                .sum(),
        };
        self.present
            .push(having.iter().map(|&count| bits(count)).collect());
        self.absent
            .push(having.iter().map(|count| bits(lacking(count))).collect());
    }

    /// Returns the information that a row loses with this attribute.
    pub fn of_attribute(&self, attribute: Attribute) -> f64 {
        self.present[attribute.column as usize][attribute.index as usize]
    }

    /// Returns the information that a row loses if it gets this attribute although it lacks it. A row whose value
    /// is NULL loses none.
    pub fn of_absence(&self, attribute: Attribute) -> f64 {
        self.absent[attribute.column as usize][attribute.index as usize]
    }

    /// Returns these bits as a share of the information in all cells; 0 if no cell tells anything.
    pub fn share(&self, bits: f64) -> f64 {
        if self.total > 0.0 { bits / self.total } else { 0.0 }
    }
}
